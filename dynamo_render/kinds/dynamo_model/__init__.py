"""DynamoModel: a model or an adapter that running components serve. Specification: controllers-other.md section 3.

A model leads to no objects. `machine` says what a pass over it calls and tells, `rules` what is refused.
"""
