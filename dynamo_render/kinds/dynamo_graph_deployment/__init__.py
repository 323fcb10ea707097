"""DynamoGraphDeployment: a graph of components. Specification: api.md section 3, rendering.md."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dynamo_render.kinds.contract import Kind, Reading
from dynamo_render.kinds.dynamo_graph_deployment import plan, rules, update_rules
from dynamo_render.kinds.shared import envelope
from dynamo_render.profiles import Profile
from dynamo_render.spec.graph import GraphSpec


def _read(resource: Mapping[str, Any], profile: Profile) -> Reading:
    return envelope.read(resource, profile, GraphSpec, rules.problems)


KIND = Kind(read=_read, needs=plan.needed, plan=plan.planned, update=update_rules.groups)
