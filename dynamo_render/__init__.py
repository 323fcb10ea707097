"""Render Dynamo custom resources to Kubernetes objects, without a cluster."""
