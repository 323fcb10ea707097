"""Pods: what is decided about them (`plan`) and how the decisions are laid over each other (`assemble`).

Each further module owns one subject of a pod: what it plans and what it lays down.
"""
