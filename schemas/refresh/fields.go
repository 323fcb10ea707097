package main

import (
	"encoding/json"
	"fmt"
	"go/ast"
	"reflect"
	"slices"
	"strings"
)

// field is one key of the JSON form of a struct.
type field struct {
	Name        string          `json:"name"`
	Type        string          `json:"type"`
	Emit        string          `json:"emit"`
	Required    bool            `json:"required"`
	Default     json.RawMessage `json:"default"`
	ListType    string          `json:"listType"`
	ListMapKeys []string        `json:"listMapKeys"`
}

// shape says what Go's JSON encoder takes for an empty value of a type.
type shape int

const (
	scalar shape = iota
	collection
	structure
	pointer
)

// resolved is a Go type in the words of the table, with the struct type that must be listed because of it.
type resolved struct {
	text  string
	shape shape
	uses  *typeName
}

// tag is a json struct tag taken apart.
type tag struct {
	name                        string
	inline, omitEmpty, omitZero bool
}

// fieldsOf lists the keys of a struct type in the order its JSON form has them, inlined structs included, and the struct
// types these keys hold.
func (found *catalogue) fieldsOf(name typeName) ([]field, []typeName, error) {
	definition, err := found.definition(name)
	if err != nil {
		return nil, nil, err
	}
	body, isStruct := definition.expression.(*ast.StructType)
	if !isStruct {
		return nil, nil, fmt.Errorf("is not a struct")
	}
	fields, used := []field{}, []typeName{}
	for _, each := range body.Fields.List {
		moreFields, moreUsed, err := found.keysOf(each, definition)
		if err != nil {
			return nil, nil, err
		}
		fields, used = append(fields, moreFields...), append(used, moreUsed...)
	}
	return fields, used, nil
}

// keysOf gives the keys one Go field contributes: none, one, or all of an inlined struct.
func (found *catalogue) keysOf(written *ast.Field, owner declared) ([]field, []typeName, error) {
	parsed := tagOf(written)
	if parsed.name == "-" {
		return nil, nil, nil
	}
	if parsed.inline {
		name, err := named(written.Type, owner)
		if err != nil {
			return nil, nil, err
		}
		return found.fieldsOf(name)
	}
	if parsed.name == "" {
		return nil, nil, fmt.Errorf("a field without a JSON name")
	}
	kind, err := found.resolve(written.Type, owner)
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", parsed.name, err)
	}
	listed, err := describe(parsed, kind, markersOf(written.Doc))
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", parsed.name, err)
	}
	if kind.uses == nil {
		return []field{listed}, nil, nil
	}
	return []field{listed}, []typeName{*kind.uses}, nil
}

func describe(parsed tag, kind resolved, markers []string) (field, error) {
	listed := field{
		Name:        parsed.name,
		Type:        kind.text,
		Emit:        emitOf(parsed, kind.shape),
		Required:    isRequired(parsed, markers),
		Default:     json.RawMessage("null"),
		ListMapKeys: valuesOf(markers, "listMapKey"),
	}
	for _, collection := range []string{"listType", "mapType"} {
		if written := valuesOf(markers, collection); len(written) > 0 {
			listed.ListType = written[0]
		}
	}
	for _, value := range valuesOf(markers, "default") {
		// controller-gen knows no constants: a default given as ref(Constant) never reaches a CRD.
		if strings.HasPrefix(value, "ref(") {
			continue
		}
		if !json.Valid([]byte(value)) {
			return field{}, fmt.Errorf("the default %s is not JSON", value)
		}
		listed.Default = json.RawMessage(value)
	}
	return listed, nil
}

// emitOf says when the encoder writes the key; omitempty never leaves out a struct, omitzero does.
func emitOf(parsed tag, kind shape) string {
	switch {
	case kind == pointer && (parsed.omitEmpty || parsed.omitZero):
		return "if-set"
	case parsed.omitZero:
		return "non-zero"
	case !parsed.omitEmpty || kind == structure:
		return "always"
	case kind == collection:
		return "non-empty"
	default:
		return "non-zero"
	}
}

// isRequired follows controller-gen: explicit markers decide, otherwise a key that may be left out is optional.
func isRequired(parsed tag, markers []string) bool {
	switch {
	case slices.Contains(markers, "kubebuilder:validation:Optional"):
		return false
	case slices.Contains(markers, "kubebuilder:validation:Required"):
		return true
	case slices.Contains(markers, "optional"):
		return false
	case slices.Contains(markers, "required"):
		return true
	default:
		return !parsed.omitEmpty && !parsed.omitZero
	}
}

// resolve puts a Go type expression into the words of the table.
func (found *catalogue) resolve(expression ast.Expr, owner declared) (resolved, error) {
	switch written := expression.(type) {
	case *ast.StarExpr:
		target, err := found.resolve(written.X, owner)
		target.shape = pointer
		return target, err
	case *ast.ArrayType:
		if element, isName := written.Elt.(*ast.Ident); isName && element.Name == "byte" {
			return resolved{text: "bytes", shape: collection}, nil
		}
		return found.resolveItems("[]", written.Elt, owner)
	case *ast.MapType:
		return found.resolveItems("{}", written.Value, owner)
	case *ast.Ident:
		if word, basic := scalars[written.Name]; basic {
			return resolved{text: word, shape: scalar}, nil
		}
	}
	name, err := named(expression, owner)
	if err != nil {
		return resolved{}, err
	}
	return found.resolveNamed(name)
}

func (found *catalogue) resolveItems(prefix string, items ast.Expr, owner declared) (resolved, error) {
	item, err := found.resolve(items, owner)
	return resolved{text: prefix + item.text, shape: collection, uses: item.uses}, err
}

func (found *catalogue) resolveNamed(name typeName) (resolved, error) {
	if word, isSpecial := special[name]; isSpecial {
		return resolved{text: word, shape: structure}, nil
	}
	definition, err := found.definition(name)
	if err != nil {
		return resolved{}, err
	}
	if _, isStruct := definition.expression.(*ast.StructType); isStruct {
		return resolved{text: name.label(), shape: structure, uses: &name}, nil
	}
	return found.resolve(definition.expression, definition)
}

// named finds the full name behind an identifier or a selector such as metav1.Time.
func named(expression ast.Expr, owner declared) (typeName, error) {
	switch written := expression.(type) {
	case *ast.Ident:
		return typeName{owner.name.importPath, written.Name}, nil
	case *ast.SelectorExpr:
		if alias, isName := written.X.(*ast.Ident); isName && owner.imports[alias.Name] != "" {
			return typeName{owner.imports[alias.Name], written.Sel.Name}, nil
		}
	}
	return typeName{}, fmt.Errorf("a type of a form not expected here (%T)", expression)
}

func tagOf(written *ast.Field) tag {
	if written.Tag == nil {
		return tag{}
	}
	parts := strings.Split(reflect.StructTag(strings.Trim(written.Tag.Value, "`")).Get("json"), ",")
	return tag{
		name:      parts[0],
		inline:    slices.Contains(parts[1:], "inline"),
		omitEmpty: slices.Contains(parts[1:], "omitempty"),
		omitZero:  slices.Contains(parts[1:], "omitzero"),
	}
}

// markersOf gives the marker comments in a comment, which may be absent, without their plus sign.
func markersOf(comment *ast.CommentGroup) []string {
	var markers []string
	if comment == nil {
		return markers
	}
	for _, line := range comment.List {
		text := strings.TrimSpace(strings.TrimPrefix(line.Text, "//"))
		if marker, isMarker := strings.CutPrefix(text, "+"); isMarker {
			markers = append(markers, marker)
		}
	}
	return markers
}

// valuesOf gives the values of every marker name=value, in the order written.
func valuesOf(markers []string, name string) []string {
	values := []string{}
	for _, marker := range markers {
		if value, matches := strings.CutPrefix(marker, name+"="); matches {
			values = append(values, value)
		}
	}
	return values
}
