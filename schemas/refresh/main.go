// Command refresh prints, as one JSON document, the fields of the Kubernetes types that Dynamo's custom resources embed.
//
// It reads the source text of k8s.io/api and k8s.io/apimachinery at the versions go.mod names, because what a CRD schema
// requires and defaults is written in comments there and is lost in the compiled types. It decides nothing about Dynamo.
package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"strings"
)

// roots are the types the custom resources embed; everything they refer to is listed with them.
var roots = map[string][]string{
	"k8s.io/api/core/v1": {
		"PodSpec", "Container", "EnvVar", "Probe", "ResourceRequirements", "ResourceClaim", "Toleration",
		"ConfigMapKeySelector", "EphemeralContainer", "LocalObjectReference", "PersistentVolumeClaimSpec",
	},
	"k8s.io/api/autoscaling/v2":            {"HorizontalPodAutoscalerBehavior", "MetricSpec"},
	"k8s.io/apimachinery/pkg/apis/meta/v1": {"Condition", "LabelSelector", "ObjectMeta"},
}

// module is one source of types: its import path, its version and the folder that holds it.
type module struct{ path, version, folder string }

// document is what this command prints.
type document struct {
	Modules []string           `json:"modules"`
	Types   map[string]listing `json:"types"`
}

func main() {
	modules, err := requiredModules("k8s.io/api", "k8s.io/apimachinery")
	if err == nil {
		err = printTypes(modules)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func printTypes(modules []module) error {
	found := catalogue{modules: modules, packages: map[string]goPackage{}}
	table, err := found.closure(roots)
	if err != nil {
		return err
	}
	printed := document{Types: table}
	for _, each := range modules {
		printed.Modules = append(printed.Modules, each.path+" "+each.version)
	}
	return json.NewEncoder(os.Stdout).Encode(printed)
}

// requiredModules asks the go command where the named modules are; they must have been downloaded before.
func requiredModules(paths ...string) ([]module, error) {
	arguments := append([]string{"list", "-m", "-f", "{{.Path}} {{.Version}} {{.Dir}}"}, paths...)
	listed, err := exec.Command("go", arguments...).Output()
	if err != nil {
		return nil, fmt.Errorf("go list -m: %w", err)
	}
	var modules []module
	for line := range strings.Lines(string(listed)) {
		parts := strings.SplitN(strings.TrimSpace(line), " ", 3)
		if len(parts) != 3 {
			return nil, fmt.Errorf("%s has not been downloaded", parts[0])
		}
		modules = append(modules, module{path: parts[0], version: parts[1], folder: parts[2]})
	}
	return modules, nil
}
