"""What a kind of custom resource offers: reading it, asking for facts, and planning its objects."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from dynamo_render.errors import Problem
from dynamo_render.facts import ClusterFacts, FactQuery
from dynamo_render.kube.repair import Repair
from dynamo_render.observed import Observed
from dynamo_render.plans.graph import ResourcePlan
from dynamo_render.profiles import Profile
from dynamo_render.settings import OperatorSettings
from dynamo_render.spec.metadata import Metadata
from dynamo_render.values import Value, frozen


@frozen(kw_only=True)
class Reading(Value):
    """A resource as its classes, with what was wrong with it; *status* is what it carries of its own status.

    Where the schema refuses something, *repair* says what was left out of metadata and spec, for checks that go on.
    """

    metadata: Metadata
    spec: Any
    status: Mapping[str, Any]
    problems: tuple[Problem, ...]
    repair: Repair | None = None

    def visible(self, problems: Iterable[Problem]) -> Iterable[Problem]:
        """Return those of the *problems* found later that are about the resource as it was given."""
        return problems if self.repair is None else self.repair.visible(problems)


@frozen(kw_only=True)
class Inputs(Value):
    """What surrounds a resource while it is planned.

    *judge* says what is wrong with a resource of another kind, for those that make some; *own_only* leaves out what
    children of ours lead to in turn.
    """

    settings: OperatorSettings
    facts: ClusterFacts
    profile: Profile
    observed: Observed
    judge: Callable[[Mapping[str, Any]], Iterable[Problem]] = lambda _resource: ()
    own_only: bool = False


@frozen(kw_only=True)
class Kind(Value):
    """One kind of custom resource.

    *read* structures and checks a resource; *needs* says which facts its plan will ask for; *plan* decides its objects,
    reports problems into the given list, and raises MissingFacts where a fact is needed and not given. *update* says
    what admission refuses about a change from one reading to another by a user, in groups of which it tells the first
    that is not empty.
    """

    read: Callable[[Mapping[str, Any], Profile], Reading]
    needs: Callable[[Reading, Inputs], FactQuery]
    plan: Callable[[Reading, Inputs, list[Problem]], ResourcePlan]
    update: Callable[[Reading, Reading, str], Iterator[tuple[Problem, ...]]] = lambda _old, _new, _user: iter(())
