"""What the API server is told about the custom resources: their kinds, definitions and schemas, and what it stores.

Everything is derived from the classes of `spec` and the embedded types of `kube`; no schema is written by hand.
Rendering does not need this room, and nothing that renders imports it.
"""
