"""What every account may do, and why: the one table from which the manifests and docs/controller/rbac.md come.

A rule that no story needs fails a test on a real cluster, and so does a story that needs a rule that is not here.
Specification: operator-config.md sections 8.4 and 9.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Literal

import attrs

from dynamo_render.values import Value

Json = dict[str, Any]

Mode = Literal["cluster", "namespaced"]
Subject = Literal["controller", "planner", "epp", "profiling"]
Scope = Literal["resources", "cluster", "lead"]

BOTH: tuple[Mode, ...] = ("cluster", "namespaced")
CLUSTER: tuple[Mode, ...] = ("cluster",)
NAMESPACED: tuple[Mode, ...] = ("namespaced",)

OURS = "nvidia.com"
CONFIGURATION, COMPONENT_ROLES = "CONFIGURATION", "COMPONENT_ROLES"
"""Stand for names that an installation decides: of the webhook configuration, and of the roles of components."""

READ = ("get", "list", "watch")
FOLLOW = ("list", "watch")
KEEP = ("get", "list", "watch", "create", "patch", "delete")
EVERYTHING = ("get", "list", "watch", "create", "update", "patch", "delete")


@attrs.frozen(kw_only=True, eq=False, repr=False)
class Permission(Value):
    """One rule: *subject* may do *verbs* to *resources* of *group*, in *scope* and *modes*, for a *reason*.

    The scope is where resources are kept in place (all namespaces, or one), the whole cluster for kinds without
    namespaces, or the namespace of the Lease by which one of several controllers leads. With *only*, the rule is about
    the objects of these names. A rule that is *implied* is never a request of its own: Kubernetes asks for it when
    something else is written. One *for_webhook* is left out where there is none, or where somebody else makes its
    certificate.
    """

    subject: Subject = "controller"
    group: str
    resources: tuple[str, ...]
    verbs: tuple[str, ...]
    reason: str
    scope: Scope = "resources"
    modes: tuple[Mode, ...] = BOTH
    only: str = ""
    implied: bool = False
    for_webhook: bool = False

    def rule(self, names: Iterable[str] = ()) -> Json:
        """Return the rule of a role, about objects of these *names* only if there are some."""
        about: Json = {"apiGroups": [self.group], "resources": list(self.resources), "verbs": list(self.verbs)}
        return {**about, "resourceNames": list(names)} if names else about


def _kept(group: str, resources: str, reason: str, **more: Any) -> Permission:
    return Permission(group=group, resources=tuple(resources.split()), verbs=KEEP, reason=reason, **more)


_OWN_KINDS = (
    Permission(
        group=OURS,
        resources=("dynamographdeployments",),
        verbs=("get", "list", "watch", "create", "patch"),
        reason="keeps graphs in place, makes those of requests; writes the count of a scaling adapter, takes off the "
        "old finalizer",
    ),
    Permission(
        group=OURS,
        resources=("dynamocomponentdeployments", "dynamographdeploymentscalingadapters"),
        verbs=("list", "watch", "create", "patch", "delete"),
        reason="made for the services of graphs, and kept in place",
    ),
    Permission(
        group=OURS,
        resources=("dynamomodels",),
        verbs=("list", "watch", "patch"),
        reason="loads adapters into pods; holds a model until they are taken out again",
    ),
    Permission(
        group=OURS,
        resources=("dynamographdeploymentrequests",),
        verbs=("list", "watch", "patch"),
        reason="profiles and deploys models; notes in annotations what it goes on from",
    ),
    Permission(
        group=OURS,
        resources=(
            "dynamographdeployments/status",
            "dynamocomponentdeployments/status",
            "dynamographdeploymentscalingadapters/status",
            "dynamomodels/status",
            "dynamographdeploymentrequests/status",
        ),
        verbs=("patch",),
        reason="tells what has become of a resource",
    ),
    Permission(
        group=OURS,
        resources=(
            "dynamographdeployments/finalizers",
            "dynamocomponentdeployments/finalizers",
            "dynamographdeploymentrequests/finalizers",
        ),
        verbs=("update",),
        reason="owner references that hold up a deletion; asked for by clusters that enforce this (OpenShift)",
        implied=True,
    ),
)

_CHILDREN = (
    _kept("apps", "deployments", "pods of a component on one node"),
    Permission(
        group="batch",
        resources=("jobs",),
        verbs=("get", "list", "watch", "create", "delete"),
        reason="profiling of models for requests; takes away what an earlier request of the same name has left",
    ),
    Permission(group="", resources=("pods",), verbs=("list",), reason="why a profiling Job has failed"),
    _kept("", "services", "names of components, of their pods, and of models"),
    _kept("", "configmaps", "configuration of endpoint pickers; what profiling leaves and is made of it"),
    _kept("", "serviceaccounts", "accounts of pods for discovery, planner, endpoint picker and profiling"),
    _kept("rbac.authorization.k8s.io", "roles rolebindings", "what those accounts may do"),
    Permission(
        group="",
        resources=("persistentvolumeclaims",),
        verbs=("get", "list", "watch", "create", "patch"),
        reason="claims of graphs; never deleted",
    ),
    _kept("networking.k8s.io", "ingresses", "ways in from outside"),
    _kept("networking.istio.io", "virtualservices", "the same with Istio"),
    _kept("grove.io", "podcliquesets", "pods of a graph on Grove"),
    Permission(
        group="grove.io",
        resources=("podcliques", "podcliquescalinggroups"),
        verbs=FOLLOW,
        reason="readiness on Grove",
    ),
    Permission(
        group="grove.io",
        resources=("podcliques/scale", "podcliquescalinggroups/scale"),
        verbs=("patch",),
        reason="counts on Grove",
    ),
    _kept("leaderworkerset.x-k8s.io", "leaderworkersets", "pods of a component on several nodes, without Grove"),
    _kept("scheduling.volcano.sh", "podgroups", "the same: pods that are scheduled together"),
    _kept("inference.networking.k8s.io", "inferencepools", "pools of endpoint pickers"),
)

_FACTS = (
    Permission(
        group="",
        resources=("secrets",),
        verbs=("get", "list", "watch", "create", "patch"),
        reason="which pull secret serves which registry (credentials are not kept); copies of the MPI key; the "
        "certificate of the webhook",
    ),
    Permission(
        group="apiextensions.k8s.io",
        resources=("customresourcedefinitions",),
        verbs=FOLLOW,
        reason="notices add-ons that come and go",
        scope="cluster",
    ),
    Permission(
        group="scheduling.run.ai",
        resources=("queues",),
        verbs=("list",),
        reason="whether the queue of a graph exists",
        scope="cluster",
    ),
    Permission(
        group="rbac.authorization.k8s.io",
        resources=("clusterroles",),
        verbs=("get",),
        reason="whether the roles for planner, endpoint picker and profiling exist",
        scope="cluster",
        modes=CLUSTER,
        only=COMPONENT_ROLES,
    ),
)

_IMPLIED = (
    Permission(
        group="",
        resources=("endpoints",),
        verbs=READ,
        reason="goes into the discovery Role of a graph: whoever grants it must have it",
        implied=True,
    ),
    Permission(
        group="discovery.k8s.io",
        resources=("endpointslices",),
        verbs=FOLLOW,
        reason="pods that serve a model, into which adapters are loaded; and as above",
    ),
    Permission(
        group="discovery.k8s.io",
        resources=("endpointslices",),
        verbs=("get",),
        reason="as above",
        implied=True,
    ),
    Permission(
        group=OURS,
        resources=("dynamoworkermetadatas",),
        verbs=EVERYTHING,
        reason="as above",
        implied=True,
    ),
    Permission(
        group="rbac.authorization.k8s.io",
        resources=("clusterroles",),
        verbs=("bind",),
        reason="binds the accounts of planner, endpoint picker and profiling to rights that it does not have itself",
        scope="cluster",
        modes=CLUSTER,
        only=COMPONENT_ROLES,
        implied=True,
    ),
)

_ITSELF = (
    Permission(
        group="",
        resources=("events",),
        verbs=("get", "create", "patch"),
        reason="tells users what happened, and counts what happens again",
    ),
    Permission(
        group="coordination.k8s.io",
        resources=("leases",),
        verbs=("get", "create", "patch"),
        reason="one of several controllers leads; in one namespace also the Lease that marks it as taken",
        scope="lead",
    ),
    Permission(
        group="coordination.k8s.io",
        resources=("leases",),
        verbs=FOLLOW,
        reason="keeps away from namespaces that another controller has marked",
        modes=CLUSTER,
    ),
    Permission(
        group="coordination.k8s.io",
        resources=("leases",),
        verbs=("delete",),
        reason="gives up the mark when it stops",
        modes=NAMESPACED,
    ),
    Permission(
        group="admissionregistration.k8s.io",
        resources=("validatingwebhookconfigurations",),
        verbs=("get", "patch"),
        reason="tells the API server whom to trust",
        scope="cluster",
        only=CONFIGURATION,
        for_webhook=True,
    ),
)

_PLANNER = (
    Permission(
        subject="planner",
        group=OURS,
        resources=("dynamocomponentdeployments", "dynamographdeployments"),
        verbs=("get", "list", "create", "update", "patch"),
        reason="reads graphs and changes their counts",
    ),
    Permission(
        subject="planner",
        group=OURS,
        resources=("dynamographdeploymentscalingadapters/scale",),
        verbs=("patch",),
        reason="scales services that have an adapter",
    ),
    Permission(
        subject="planner",
        group="discovery.k8s.io",
        resources=("endpointslices",),
        verbs=READ,
        reason="finds workers",
    ),
    Permission(
        subject="planner",
        group=OURS,
        resources=("dynamoworkermetadatas",),
        verbs=EVERYTHING,
        reason="registers, as every process of the runtime does",
    ),
)

_EPP = (
    Permission(
        subject="epp",
        group="inference.networking.x-k8s.io",
        resources=("inferencepools", "inferenceobjectives", "inferencemodelrewrites"),
        verbs=READ,
        reason="what it picks endpoints for",
    ),
    Permission(
        subject="epp",
        group="inference.networking.k8s.io",
        resources=("inferencepools",),
        verbs=READ,
        reason="as above",
    ),
    Permission(subject="epp", group="", resources=("pods",), verbs=READ, reason="endpoints to pick from"),
    Permission(
        subject="epp", group="discovery.k8s.io", resources=("endpointslices",), verbs=READ, reason="finds workers"
    ),
    Permission(
        subject="epp",
        group=OURS,
        resources=("dynamoworkermetadatas",),
        verbs=EVERYTHING,
        reason="registers, as every process of the runtime does",
    ),
)

_PROFILING = (
    Permission(
        subject="profiling",
        group="",
        resources=("configmaps",),
        verbs=("get", "create", "update", "patch", "delete"),
        reason="writes its results",
    ),
    Permission(
        subject="profiling",
        group=OURS,
        resources=("dynamographdeploymentrequests",),
        verbs=("get",),
        reason="owner of the results",
    ),
    Permission(
        subject="profiling",
        group=OURS,
        resources=("dynamographdeployments",),
        verbs=("get", "list", "watch", "create", "delete"),
        reason="deploys what it measures",
    ),
    Permission(
        subject="profiling",
        group="",
        resources=("pods",),
        verbs=("get", "list", "create", "delete"),
        reason="follows what it measures",
    ),
    Permission(subject="profiling", group="", resources=("pods/log",), verbs=("get",), reason="as above"),
    Permission(
        subject="profiling",
        group="",
        resources=("nodes",),
        verbs=READ,
        reason="discovery of GPUs; works for requests in the controller's own namespace only",
        scope="cluster",
        modes=CLUSTER,
    ),
)

PERMISSIONS: tuple[Permission, ...] = (
    *_OWN_KINDS,
    *_CHILDREN,
    *_FACTS,
    *_IMPLIED,
    *_ITSELF,
    *_PLANNER,
    *_EPP,
    *_PROFILING,
)
"""Everything that anybody may do."""


def of(subject: Subject, mode: Mode, scope: Scope) -> Iterator[Permission]:
    """Yield the permissions of one account, of one scope, in one mode."""
    for each in PERMISSIONS:
        if each.subject == subject and mode in each.modes and each.scope == scope:
            yield each
