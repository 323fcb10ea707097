"""The user's own pod and main container: extraPodSpec over the component type's base. rendering.md sections 5 and 9."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dynamo_render.kube import merge
from dynamo_render.kube.schema_nodes import Struct
from dynamo_render.plans.pod import Overrides
from dynamo_render.scope import ComponentScope
from dynamo_render.spec.component import CONTAINER, POD_SPEC, without_zeros

Json = dict[str, Any]

_PROBES = ("livenessProbe", "readinessProbe")
_LAID_ELSEWHERE = "env"
_NEVER_EMPTY = ("name", "env")


def planned_container(scope: ComponentScope) -> Overrides:
    """Return what the user says about the main container."""
    return _overrides(scope, CONTAINER, scope.spec.main_container)


def planned_pod(scope: ComponentScope) -> Overrides:
    """Return what the user says about the pod beside its main container."""
    return _overrides(scope, POD_SPEC, scope.spec.pod)


def _overrides(scope: ComponentScope, struct: Struct, content: Mapping[str, Any]) -> Overrides:
    kept = without_zeros(struct, content)
    profile = scope.profile
    cleared: tuple[str, ...] = ()
    if profile.explicit_zero_overrides and len(kept) < len(content):
        cleared = tuple(key for key in content if key not in kept and key not in _NEVER_EMPTY)
    return Overrides(
        content=kept,
        cleared=cleared,
        zeros_win=profile.explicit_zero_overrides,
        probes_replace=profile.user_probe_replaces_default,
    )


def merged(base: Json, user: Overrides) -> Json:
    """Return *base* with the user's content over it; env has its own layer, a startup probe replaces whole."""
    content = dict(user.content)
    content.pop(_LAID_ELSEWHERE, None)
    if user.zeros_win:
        result = merge.replaced(base, content, user.cleared)
    else:
        startup = content.pop("startupProbe", None)
        result = merge.overlaid(base, content)
        if startup is not None:
            result["startupProbe"] = startup
    if user.probes_replace:
        result.update({name: content[name] for name in _PROBES if name in content})
    return result
