"""What a cluster would refuse later, and what users want to be told: checks of a validation, never of a render.

Each module knows one subject: it takes components as their users wrote them, or rendered objects, and yields problems.
It must not plan, build or change anything.
"""
