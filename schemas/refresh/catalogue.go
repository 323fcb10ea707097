package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// typeName says which Go type is meant, wherever it is written.
type typeName struct{ importPath, name string }

// declared is the definition of a named type, the imports of the file it stands in, and its marker comments.
type declared struct {
	name       typeName
	expression ast.Expr
	imports    map[string]string
	markers    []string
}

// goPackage holds the named types of one package.
type goPackage map[string]declared

// catalogue finds named types in the source of a few modules; a package is parsed when it is first asked for.
type catalogue struct {
	modules  []module
	packages map[string]goPackage
}

// special are the types with a JSON form of their own; the listing stops at them.
var special = map[typeName]string{
	{"k8s.io/apimachinery/pkg/api/resource", "Quantity"}:   "quantity",
	{"k8s.io/apimachinery/pkg/util/intstr", "IntOrString"}: "int-or-string",
	{"k8s.io/apimachinery/pkg/apis/meta/v1", "Time"}:       "time",
	{"k8s.io/apimachinery/pkg/apis/meta/v1", "MicroTime"}:  "time",
	{"k8s.io/apimachinery/pkg/apis/meta/v1", "FieldsV1"}:   "any",
	{"k8s.io/apimachinery/pkg/runtime", "RawExtension"}:    "any",
}

// scalars gives our word for each basic Go type the API uses.
var scalars = map[string]string{
	"string": "string", "bool": "boolean", "int32": "int32", "int64": "int64", "float64": "number",
}

// label is the name of a struct type in the table, such as core/v1.Container.
func (name typeName) label() string {
	version := path.Base(name.importPath)
	group := path.Base(path.Dir(name.importPath))
	return group + "/" + version + "." + name.name
}

// listing is one struct type of the table: its fields, and whether an apply replaces it as a whole.
type listing struct {
	Fields []field `json:"fields"`
	Atomic bool    `json:"atomic"`
}

// closure lists the root types and every struct type reachable from them, by label.
func (found *catalogue) closure(roots map[string][]string) (map[string]listing, error) {
	var waiting []typeName
	for importPath, names := range roots {
		for _, name := range names {
			waiting = append(waiting, typeName{importPath, name})
		}
	}
	table := map[string]listing{}
	for len(waiting) > 0 {
		next := waiting[0]
		waiting = waiting[1:]
		if _, done := table[next.label()]; done {
			continue
		}
		fields, used, err := found.fieldsOf(next)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", next.label(), err)
		}
		definition, err := found.definition(next)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", next.label(), err)
		}
		table[next.label()] = listing{fields, slices.Contains(definition.markers, "structType=atomic")}
		waiting = append(waiting, used...)
	}
	return table, nil
}

// definition finds the declaration behind a name.
func (found *catalogue) definition(name typeName) (declared, error) {
	known, parsed := found.packages[name.importPath]
	if !parsed {
		var err error
		if known, err = found.parsedPackage(name.importPath); err != nil {
			return declared{}, err
		}
		found.packages[name.importPath] = known
	}
	definition, exists := known[name.name]
	if !exists {
		return declared{}, fmt.Errorf("no type %s in %s", name.name, name.importPath)
	}
	return definition, nil
}

func (found *catalogue) parsedPackage(importPath string) (goPackage, error) {
	folder, err := found.folder(importPath)
	if err != nil {
		return nil, err
	}
	names, err := filepath.Glob(filepath.Join(folder, "*.go"))
	if err != nil {
		return nil, err
	}
	types := goPackage{}
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ParseComments)
		if err != nil {
			return nil, err
		}
		addTypes(types, importPath, file)
	}
	return types, nil
}

func (found *catalogue) folder(importPath string) (string, error) {
	for _, each := range found.modules {
		if rest, inside := strings.CutPrefix(importPath, each.path+"/"); inside {
			return filepath.Join(each.folder, filepath.FromSlash(rest)), nil
		}
	}
	return "", fmt.Errorf("%s belongs to none of the modules read here", importPath)
}

func addTypes(types goPackage, importPath string, file *ast.File) {
	imports := importsOf(file)
	for _, declaration := range file.Decls {
		general, isGeneral := declaration.(*ast.GenDecl)
		if !isGeneral || general.Tok != token.TYPE {
			continue
		}
		for _, each := range general.Specs {
			spec := each.(*ast.TypeSpec)
			name := typeName{importPath, spec.Name.Name}
			comment := spec.Doc
			if comment == nil {
				comment = general.Doc
			}
			markers := markersOf(comment)
			types[spec.Name.Name] = declared{name: name, expression: spec.Type, imports: imports, markers: markers}
		}
	}
}

// importsOf maps the names a file uses for its imports to their paths.
func importsOf(file *ast.File) map[string]string {
	imports := map[string]string{}
	for _, each := range file.Imports {
		importPath := strings.Trim(each.Path.Value, `"`)
		if each.Name != nil {
			imports[each.Name.Name] = importPath
		} else {
			imports[path.Base(importPath)] = importPath
		}
	}
	return imports
}
