//go:build tools

// Package tools names the command that tests/cluster/binaries.py builds from this module, so that go.sum covers it.
package tools

import _ "sigs.k8s.io/kwok/cmd/kwok"
