//go:build tools

// This file keeps the requirements alive through `go mod tidy`: the generator parses these packages as text and never
// compiles them.
package main

import (
	_ "k8s.io/api/autoscaling/v2"
	_ "k8s.io/api/core/v1"
	_ "k8s.io/apimachinery/pkg/apis/meta/v1"
)
