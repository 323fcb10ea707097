"""Everything that an installation needs in a cluster, as objects in the order in which they are applied.

Decides names and packaging; who may do what stands in `permissions`. Specification: operator-config.md sections 8.4, 14
and 15. Pure: no cluster and no file here.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from typing import Any, Literal

import attrs

from dynamo_controller import admission, permissions
from dynamo_controller.certificates import CONFIGURATION as WEBHOOK_CONFIGURATION
from dynamo_controller.certificates import Place
from dynamo_controller.permissions import Mode, Scope, Subject
from dynamo_render import write_documents
from dynamo_render.schemas import definition, kinds
from dynamo_render.values import Value

Json = dict[str, Any]
Certificates = Literal["own", "cert-manager", "external"]

BASE = "dynamo-controller"
ACCOUNT = f"{BASE}-dynamo-operator-controller-manager"
"""Names that end like this, and those of planners, may change counts that an adapter holds: api.md section 9.5."""

HEALTH_PORT, METRICS_PORT, WEBHOOK_PORT = 8081, 8080, 9443
USER = 65532
SETTINGS_FOLDER, SETTINGS_FILE = "/etc/dynamo-controller", "settings.yaml"
CERTIFICATES_FOLDER = "/var/run/dynamo-controller/certificates"
STOP_SECONDS = 45
"""For the end of a pod: passes that run may take 30 s."""

RBAC = "rbac.authorization.k8s.io"
COMPONENT_ACCOUNTS: Mapping[Subject, tuple[str, str, str]] = {
    "planner": ("planner-serviceaccount", "planner-role", "planner-binding"),
    "epp": ("epp-serviceaccount", "epp-role", "epp-binding"),
    "profiling": ("dgdr-profiling-job", "dgdr-profiling-job", "dgdr-profiling-job"),
}
"""Account, Role and RoleBinding of components where the controller does not make them: in one namespace."""

_ROLE_SUFFIXES: Mapping[Subject, str] = {"planner": "planner", "epp": "epp", "profiling": "dgdr-profiling"}


@attrs.frozen(kw_only=True, eq=False, repr=False)
class Installation(Value):
    """What is installed: *mode* says whether for all namespaces or for its own only, *settings* what else is set."""

    namespace: str = "dynamo-system"
    mode: Mode = "cluster"
    image: str
    has_webhook: bool = True
    certificates: Certificates = "own"
    authority: str = ""
    replicas: int = 2
    settings: Mapping[str, Any] = attrs.field(factory=dict)

    @property
    def cluster_name(self) -> str:
        """The name of objects without a namespace; several installations for one namespace each do not meet."""
        return BASE if self.mode == "cluster" else f"{BASE}-{self.namespace}"

    @property
    def place(self) -> Place:
        """The webhook's certificate and what belongs to it."""
        return Place(self.namespace, "webhook-server-cert", f"{BASE}-webhook", self.cluster_name)

    @property
    def lead_namespace(self) -> str:
        """Where the Lease of the leader is: for a whole cluster, where the released operator has its own.

        Both take the same Lease, so that never both write.
        """
        return "kube-system" if self.mode == "cluster" else self.namespace

    @property
    def roles(self) -> dict[Subject, str]:
        """The names of the cluster roles of components, which there are in cluster mode only."""
        if self.mode != "cluster":
            return {}
        return {subject: f"{self.cluster_name}-{suffix}" for subject, suffix in _ROLE_SUFFIXES.items()}

    def decided(self) -> dict[str, Any]:
        """Return all settings that follow from the rest of the installation, also those that stay unset."""
        place, makes_certificate = self.place, self.has_webhook and self.certificates == "own"
        return {
            "restricted_namespace": self.namespace if self.mode == "namespaced" else "",
            "planner_cluster_role": self.roles.get("planner", ""),
            "epp_cluster_role": self.roles.get("epp", ""),
            "profiling_cluster_role": self.roles.get("profiling", ""),
            "health_address": f":{HEALTH_PORT}",
            "metrics_address": f":{METRICS_PORT}",
            "leader_elect": True,
            "leader_election_namespace": self.lead_namespace,
            "webhook_address": f":{WEBHOOK_PORT}" if self.has_webhook else "",
            "webhook_certificates": CERTIFICATES_FOLDER if self.has_webhook else "",
            "webhook_secret": f"{place.namespace}/{place.secret}" if makes_certificate else "",
            "webhook_service": place.service if makes_certificate else "",
            "webhook_configuration": place.configuration if makes_certificate else "",
        }

    def all_settings(self) -> dict[str, Any]:
        """Return the content of the settings file."""
        decided = {key: value for key, value in self.decided().items() if value}
        return {"mpi_ssh_secret_namespace": self.namespace, **self.settings, **decided}


def definitions() -> Iterator[Json]:
    """Yield the definitions of all kinds."""
    for kind in kinds.KINDS.values():
        yield definition.custom_resource_definition(kind)


def objects(installation: Installation) -> Iterator[Json]:
    """Yield everything, what others need before them."""
    yield from definitions()
    yield {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": installation.namespace}}
    yield _object(installation, "v1", "ServiceAccount", ACCOUNT)
    yield from _own_access(installation)
    yield from _component_access(installation)
    yield _object(installation, "v1", "ConfigMap", BASE, data={SETTINGS_FILE: _settings_text(installation)})
    if installation.has_webhook:
        yield _service(installation, installation.place.service, "webhook", 443, WEBHOOK_PORT)
        yield from _issued_certificate(installation)
    yield _service(installation, f"{BASE}-metrics", "metrics", METRICS_PORT, METRICS_PORT)
    yield _deployment(installation)
    if installation.has_webhook:
        yield _webhook_configuration(installation)


def _own_access(installation: Installation) -> Iterator[Json]:
    """Yield the controller's rights: a ClusterRole for what concerns the whole cluster, a Role for what does not."""
    subject = {"kind": "ServiceAccount", "name": ACCOUNT, "namespace": installation.namespace}
    wide: tuple[Scope, ...] = ("resources", "cluster") if installation.mode == "cluster" else ("cluster",)
    near: tuple[Scope, ...] = ("lead",) if installation.mode == "cluster" else ("resources", "lead")
    cluster_rules = [rule for scope in wide for rule in _rules(installation, "controller", scope)]
    near_rules = [rule for scope in near for rule in _rules(installation, "controller", scope)]
    name = installation.cluster_name
    yield from _bound(installation, "Cluster", name, name, cluster_rules, subject)
    lead = attrs.evolve(installation, namespace=installation.lead_namespace)
    yield from _bound(lead, "", BASE, BASE, near_rules, subject)


def _component_access(installation: Installation) -> Iterator[Json]:
    """Yield the roles of components and, in one namespace, the accounts that the controller does not make there."""
    for subject, (account, role, binding) in COMPONENT_ACCOUNTS.items():
        bound_to = {"kind": "ServiceAccount", "name": account, "namespace": installation.namespace}
        near = list(_rules(installation, subject, "resources"))
        if installation.mode == "cluster":
            name = installation.roles[subject]
            yield _object(installation, f"{RBAC}/v1", "ClusterRole", name, rules=near)
            wide = list(_rules(installation, subject, "cluster"))
            yield from _bound(installation, "Cluster", f"{name}-cluster", f"{name}-cluster", wide, bound_to)
        else:
            yield _object(installation, "v1", "ServiceAccount", account)
            yield from _bound(installation, "", role, binding, near, bound_to)


def _bound(
    installation: Installation, sort: str, role: str, binding: str, rules: list[Json], subject: Json
) -> Iterator[Json]:
    if not rules:
        return
    yield _object(installation, f"{RBAC}/v1", f"{sort}Role", role, rules=rules)
    refers = {"apiGroup": RBAC, "kind": f"{sort}Role", "name": role}
    yield _object(installation, f"{RBAC}/v1", f"{sort}RoleBinding", binding, roleRef=refers, subjects=[subject])


def _rules(installation: Installation, subject: Subject, scope: Scope) -> Iterator[Json]:
    names = {
        "": (),
        permissions.CONFIGURATION: (installation.place.configuration,),
        permissions.COMPONENT_ROLES: tuple(installation.roles.values()),
    }
    makes_certificate = installation.has_webhook and installation.certificates == "own"
    for each in permissions.of(subject, installation.mode, scope):
        if makes_certificate or not each.for_webhook:
            yield each.rule(names[each.only])


def _service(installation: Installation, name: str, port_name: str, port: int, target: int) -> Json:
    ports = [{"name": port_name, "port": port, "targetPort": target, "protocol": "TCP"}]
    return _object(installation, "v1", "Service", name, spec={"selector": _selected(), "ports": ports})


def _deployment(installation: Installation) -> Json:
    digest = hashlib.sha256(_settings_text(installation).encode()).hexdigest()[:16]
    template = {
        # A ConfigMap that changes restarts nothing by itself.
        "metadata": {"labels": _labels(), "annotations": {f"{BASE}/settings": digest}},
        "spec": _pod(installation),
    }
    spec = {"replicas": installation.replicas, "selector": {"matchLabels": _selected()}, "template": template}
    return _object(installation, "apps/v1", "Deployment", BASE, spec=spec)


def _pod(installation: Installation) -> Json:
    spread = {
        "maxSkew": 1,
        "topologyKey": "kubernetes.io/hostname",
        "whenUnsatisfiable": "ScheduleAnyway",
        "labelSelector": {"matchLabels": _selected()},
    }
    return {
        "serviceAccountName": ACCOUNT,
        "terminationGracePeriodSeconds": STOP_SECONDS,
        "securityContext": {
            "runAsNonRoot": True,
            "runAsUser": USER,
            "runAsGroup": USER,
            "fsGroup": USER,
            "seccompProfile": {"type": "RuntimeDefault"},
        },
        "topologySpreadConstraints": [spread],
        "containers": [_container(installation)],
        "volumes": list(_volumes(installation)),
    }


def _container(installation: Installation) -> Json:
    ports = [("metrics", METRICS_PORT), ("health", HEALTH_PORT)]
    mounts: list[Json] = [{"name": "settings", "mountPath": SETTINGS_FOLDER, "readOnly": True}]
    if installation.has_webhook:
        ports.append(("webhook", WEBHOOK_PORT))
        mount: Json = {"name": "certificates", "mountPath": CERTIFICATES_FOLDER}
        mounts.append(mount if installation.certificates == "own" else {**mount, "readOnly": True})
    return {
        "name": "controller",
        "image": installation.image,
        "command": ["dynamo-controller"],
        "args": ["run", "--settings", f"{SETTINGS_FOLDER}/{SETTINGS_FILE}"],
        "ports": [{"name": name, "containerPort": port, "protocol": "TCP"} for name, port in ports],
        "livenessProbe": _probe("/healthz", delay=15, period=20),
        "readinessProbe": _probe("/readyz", delay=2, period=5),
        "resources": {"requests": {"cpu": "100m", "memory": "256Mi"}, "limits": {"memory": "1Gi"}},
        "securityContext": {
            "allowPrivilegeEscalation": False,
            "readOnlyRootFilesystem": True,
            "capabilities": {"drop": ["ALL"]},
        },
        "volumeMounts": mounts,
    }


def _probe(path: str, *, delay: int, period: int) -> Json:
    return {"httpGet": {"path": path, "port": "health"}, "initialDelaySeconds": delay, "periodSeconds": period}


def _volumes(installation: Installation) -> Iterator[Json]:
    yield {"name": "settings", "configMap": {"name": BASE}}
    if not installation.has_webhook:
        return
    if installation.certificates == "own":
        # In memory: a private key has no place on a disk.
        yield {"name": "certificates", "emptyDir": {"medium": "Memory", "sizeLimit": "1Mi"}}
    else:
        yield {"name": "certificates", "secret": {"secretName": installation.place.secret}}


def _issued_certificate(installation: Installation) -> Iterator[Json]:
    """Yield what cert-manager is asked for, if it is."""
    if installation.certificates != "cert-manager":
        return
    place, api = installation.place, "cert-manager.io/v1"
    yield _object(installation, api, "Issuer", f"{BASE}-self-signed", spec={"selfSigned": {}})
    names = [name for name in place.names if name.endswith((".svc", ".svc.cluster.local"))]
    spec = {
        "secretName": place.secret,
        "dnsNames": names,
        "duration": "8760h",
        "renewBefore": "720h",
        "issuerRef": {"kind": "Issuer", "name": f"{BASE}-self-signed"},
    }
    yield _object(installation, api, "Certificate", f"{BASE}-webhook", spec=spec)


def _webhook_configuration(installation: Installation) -> Json:
    """Return who is asked before a resource is stored. Specification: operator-config.md section 14.3."""
    place = installation.place
    client: Json = {"service": {"name": place.service, "namespace": place.namespace}}
    only = {"matchLabels": {"kubernetes.io/metadata.name": installation.namespace}}
    hooks = []
    for path, kind in admission.PATHS.items():
        hook: Json = {
            "name": f"v{kind.singular}.kb.io",
            "admissionReviewVersions": ["v1"],
            "clientConfig": {"service": {**client["service"], "path": path}},
            "failurePolicy": "Fail",
            "rules": [_asked_about(kind.plural)],
            "sideEffects": "None",
            "timeoutSeconds": 10,
        }
        if installation.mode == "namespaced":
            hook["namespaceSelector"] = only
        if installation.certificates == "external":
            hook["clientConfig"]["caBundle"] = installation.authority
        hooks.append(hook)
    made = _object(installation, WEBHOOK_CONFIGURATION.api_version, WEBHOOK_CONFIGURATION.kind, place.configuration)
    if installation.certificates == "cert-manager":
        made["metadata"]["annotations"] = {"cert-manager.io/inject-ca-from": f"{installation.namespace}/{BASE}-webhook"}
    return {**made, "webhooks": hooks}


def _asked_about(plural: str) -> Json:
    return {
        "apiGroups": [kinds.GROUP],
        "apiVersions": [kinds.VERSION],
        "operations": list(admission.OPERATIONS),
        "resources": [plural],
    }


def _settings_text(installation: Installation) -> str:
    return write_documents([installation.all_settings()])


def _object(installation: Installation, api_version: str, kind: str, name: str, **content: Any) -> Json:
    metadata: Json = {"name": name}
    if not kind.startswith(("Cluster", "Validating")):
        metadata["namespace"] = installation.namespace
    return {"apiVersion": api_version, "kind": kind, "metadata": {**metadata, "labels": _labels()}, **content}


def _labels() -> Json:
    return {**_selected(), "app.kubernetes.io/part-of": "dynamo"}


def _selected() -> Json:
    return {"app.kubernetes.io/name": BASE}
