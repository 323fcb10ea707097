"""Kubernetes without Dynamo: names, quantities, text, types. Nothing here knows a component or a profile."""
