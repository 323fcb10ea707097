"""Everything that is decided about the pods of one component, layer by layer: the input of `pods.assemble`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dynamo_render.plans.launch import LaunchPlan
from dynamo_render.values import Value, frozen

Json = dict[str, Any]


@frozen(kw_only=True)
class Overrides(Value):
    """What a user says over a base: *content* to merge, *cleared* the keys that an explicit empty value removes.

    With *zeros_win* a given zero replaces the base's value; *probes_replace* says whether a probe replaces the default
    whole.
    """

    content: Json
    cleared: tuple[str, ...] = ()
    zeros_win: bool = True
    probes_replace: bool = True


@frozen(kw_only=True)
class ResourcePlan(Value):
    """Amounts laid over those of the main container, by resource name, and further claims."""

    limits: Mapping[str, str]
    requests: Mapping[str, str]
    claims: tuple[Json, ...] = ()


@frozen(kw_only=True)
class VolumePlan(Value):
    """Mounts as (volume, path) pairs and volumes, both in order; *cache_root* is the engine's compilation cache."""

    mounts: tuple[tuple[str, str], ...] = ()
    volumes: tuple[Json, ...] = ()
    cache_root: str | None = None


@frozen(kw_only=True)
class PodPlan(Value):
    """The pods of one component in every role.

    With *is_shared* several pods are made from the plan, and each of them gets copies of what the plan holds.
    *env* holds plain values by name, *field_env* downward-API paths by name, *component_env* the entries that win over
    the main container's. *account* fills an empty service account; *forced_account* replaces any.
    """

    container: Json
    pod: Json
    probes: Mapping[str, Any]
    env: Mapping[str, str]
    field_env: Mapping[str, str]
    component_env: tuple[Json, ...]
    main_container: Overrides
    pod_overrides: Overrides
    component_probes: Mapping[str, Json]
    resources: ResourcePlan | None
    env_from_secret: str | None
    volumes: VolumePlan
    security_context: Json | None
    account: str | None
    pull_secrets: tuple[str, ...]
    launch: LaunchPlan
    scheduler: str | None = None
    debugger_image: str | None = None
    is_shared: bool = False
