"""What a user may write: frozen classes of the custom resources' fields, and reading and writing them as JSON.

The classes hold what the API server would store, field by field; they take no decision. Only plan-time code reads them.
"""
