"""A resource with all that surrounds it, ready to be rendered: what the laws are about."""

from __future__ import annotations

from functools import cache
from typing import Any

import attrs
from hypothesis import strategies as st

from dynamo_render import ClusterFacts, InvalidFacts, Observed, OperatorSettings, Rendered, pipeline, records, render
from tests.strategies import graphs, surroundings

Json = dict[str, Any]

PROFILE = "0.9"
SHIPPED = "0.9-shipped"


@attrs.frozen(eq=False)
class Situation:
    """The arguments of one render as plain mappings, so that they can be written down, shuffled and compared."""

    resource: Json
    settings: Json
    facts: Json
    observed: Json

    def rendered(self) -> Rendered:
        """Return the render of these arguments; raises what `render` raises."""
        return render(
            self.resource,
            settings=OperatorSettings.from_mapping(self.settings),
            facts=ClusterFacts.from_mapping(self.facts),
            observed=self.live_state(),
        )

    def built(self) -> list[Json]:
        """Return every object that a step of the plan builds, also those that an earlier step built already."""
        operator = OperatorSettings.from_mapping(self.settings)
        around = pipeline.inputs_of(operator, ClusterFacts.from_mapping(self.facts), self.live_state())
        kind = pipeline.kind_of(self.resource)
        plan = kind.plan(kind.read(self.resource, around.profile), around, [])
        return [made for step in plan.steps for made in pipeline.objects_of(step)]

    def live_state(self) -> Observed:
        """Return the observed state as the library takes it."""
        return records.structured(Observed, self.observed, InvalidFacts)

    def with_resource(self, resource: Json) -> Situation:
        """Return the same surroundings around another resource."""
        return attrs.evolve(self, resource=resource)

    @property
    def is_documented(self) -> bool:
        """Whether the profile is the documented one."""
        return bool(self.settings["profile"] == PROFILE)

    @property
    def namespace(self) -> str:
        """The namespace of the resource."""
        return str(self.resource["metadata"].get("namespace", "default"))


@st.composite
def _around(draw: st.DrawFn, resource: Json, profile: str) -> Situation:
    return Situation(
        resource=resource,
        settings=draw(surroundings.settings(profile=profile)),
        facts=draw(surroundings.facts(resource)),
        observed=draw(surroundings.observed(resource)),
    )


@cache
def graph_situations(profile: str = PROFILE, *, related: bool = False) -> st.SearchStrategy[Situation]:
    """Return graphs in clusters that can run them; for the shipped profile also graphs that only it accepts.

    With *related* the computed names of the services may meet.
    """
    wide = profile != PROFILE
    return graphs.graphs(wide=wide, related=related).flatmap(lambda resource: _around(resource, profile))


@cache
def component_situations(profile: str = PROFILE) -> st.SearchStrategy[Situation]:
    """Return component deployments in clusters that can run them."""
    wide = profile != PROFILE
    return graphs.component_deployments(wide=wide).flatmap(lambda resource: _around(resource, profile))


@cache
def situations(profile: str = PROFILE) -> st.SearchStrategy[Situation]:
    """Return graphs and component deployments in clusters that can run them."""
    return graph_situations(profile) | component_situations(profile)
