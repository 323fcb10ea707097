"""Service accounts with what they may do: planner, endpoint picker, discovery, profiling. rendering.md 23.4, 23.5."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from dynamo_render.components import epp, planner
from dynamo_render.errors import Problem
from dynamo_render.facts import FactQuery
from dynamo_render.kube.manifest import Manifest, framed
from dynamo_render.pods import accounts
from dynamo_render.satellites.contract import Graph, GraphSatellite, RequestSatellite
from dynamo_render.values import Value, frozen

RBAC = "rbac.authorization.k8s.io"

DISCOVERY_RULES: tuple[Mapping[str, Sequence[str]], ...] = (
    {"apiGroups": [""], "resources": ["endpoints"], "verbs": ["get", "list", "watch"]},
    {"apiGroups": ["discovery.k8s.io"], "resources": ["endpointslices"], "verbs": ["get", "list", "watch"]},
    {
        "apiGroups": ["nvidia.com"],
        "resources": ["dynamoworkermetadatas"],
        "verbs": ["create", "get", "list", "watch", "update", "patch", "delete"],
    },
)


@frozen(kw_only=True)
class AccessPlan(Value):
    """An account and its binding: to the Role made of *rules*, or without rules to the ClusterRole *cluster_role*."""

    account: str
    namespace: str
    rules: tuple[Mapping[str, Sequence[str]], ...] = ()
    cluster_role: str = ""


def _discovery(graph: Graph) -> Iterable[AccessPlan]:
    if graph.scope.discovery == "kubernetes":
        account = accounts.discovery_account(graph.scope)
        yield AccessPlan(account=account, namespace=graph.scope.namespace, rules=DISCOVERY_RULES)


def _has(graph: Graph, component_type: str) -> bool:
    return any(component.component_type == component_type for component in graph.components)


def _planner(graph: Graph) -> Iterable[AccessPlan]:
    wanted = _has(graph, "planner") or not graph.scope.profile.access_only_where_used
    return _cluster_access(graph, planner.ACCOUNT, "planner_cluster_role", wanted=wanted)


def _epp(graph: Graph) -> Iterable[AccessPlan]:
    return _cluster_access(graph, epp.ACCOUNT, "epp_cluster_role", wanted=_has(graph, "epp"))


def _cluster_access(graph: Graph, account: str, setting: str, *, wanted: bool) -> Iterable[AccessPlan]:
    """Yield the access of *account* in cluster-wide mode; warn of an unset role, refuse one that is not there."""
    scope = graph.scope
    if not wanted or scope.settings.restricted_namespace:
        return
    role = getattr(scope.settings, setting)
    known = scope.facts.cluster_roles
    if not role:
        message = f"{account} and its binding are left out: the setting {setting} is empty"
        hint = f"set {setting}, or restricted_namespace where accounts are managed elsewhere"
        scope.problems.append(Problem("access/role-not-set", (), message, hint, "warning"))
    elif known is not None and role not in known:
        message = f'the cluster role "{role}" that {account} is bound to does not exist'
        scope.problems.append(Problem("CTL-13", (), message, f"create it or change the setting {setting}"))
    else:
        yield AccessPlan(account=account, namespace=scope.namespace, cluster_role=role)


def _needed_roles(graph: Graph) -> FactQuery:
    settings = graph.scope.settings
    roles = {settings.planner_cluster_role, settings.epp_cluster_role if _has(graph, "epp") else ""} - {""}
    return FactQuery() if settings.restricted_namespace else FactQuery(cluster_roles=frozenset(roles))


def _build(plan: AccessPlan) -> tuple[Manifest, ...]:
    labels = {
        "app.kubernetes.io/managed-by": "dynamo-operator",
        "app.kubernetes.io/component": "rbac",
        "app.kubernetes.io/name": plan.account,
    }

    def frame(api_version: str, kind: str, name: str, **content: Any) -> Manifest:
        return framed(api_version, kind, name, plan.namespace, labels=labels, **content)

    role = {"apiGroup": RBAC, "kind": "ClusterRole", "name": plan.cluster_role}
    objects = [frame("v1", "ServiceAccount", plan.account)]
    if plan.rules:
        role = {"apiGroup": RBAC, "kind": "Role", "name": f"{plan.account}-role"}
        rules = [{key: list(words) for key, words in rule.items()} for rule in plan.rules]
        objects.append(frame(f"{RBAC}/v1", "Role", role["name"], rules=rules))
    subject = {"kind": "ServiceAccount", "name": plan.account, "namespace": plan.namespace}
    objects.append(frame(f"{RBAC}/v1", "RoleBinding", f"{plan.account}-binding", subjects=[subject], roleRef=role))
    return tuple(objects)


DISCOVERY_ACCESS = GraphSatellite(planned=_discovery, build=_build)
PLANNER_ACCESS = GraphSatellite(planned=_planner, build=_build, owned=False, needs=_needed_roles)
EPP_ACCESS = GraphSatellite(planned=_epp, build=_build, owned=False)
PROFILING_ACCESS = RequestSatellite(build=_build)
