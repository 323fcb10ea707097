"""What the admission webhook answers: an AdmissionReview in, an AdmissionReview out. Specification: api.md section 9.

Pure: no server and no cluster here. The rules are the core's (`dynamo_render.validation.admission`); this module knows
the envelope that carries a resource to them, and who is let through without being asked.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import attrs

from dynamo_controller.ports import Json, Object
from dynamo_render import ClusterFacts, OperatorSettings, Problem
from dynamo_render.errors import field_path
from dynamo_render.schemas import kinds
from dynamo_render.schemas.kinds import CustomKind
from dynamo_render.validation import admission
from dynamo_render.values import Value

REVIEW_VERSION, REVIEW_KIND = "admission.k8s.io/v1", "AdmissionReview"
OPERATIONS = ("CREATE", "UPDATE")
"""What the webhook is asked about. A deletion is always allowed, so nobody needs to ask."""

DENIED = 403

REVIEWED: tuple[CustomKind, ...] = (
    kinds.COMPONENT_DEPLOYMENT,
    kinds.GRAPH_DEPLOYMENT,
    kinds.MODEL,
    kinds.GRAPH_DEPLOYMENT_REQUEST,
)
"""The kinds with a webhook, in the order of the webhook configuration; a scaling adapter has none."""


def path_of(kind: CustomKind) -> str:
    """Return the path under which the webhook of *kind* is asked."""
    return f"/validate-{kinds.GROUP.replace('.', '-')}-{kinds.VERSION}-{kind.singular}"


PATHS: Mapping[str, CustomKind] = {path_of(kind): kind for kind in REVIEWED}


class NoReview(Exception):
    """What came is no AdmissionReview that can be answered; the message says why."""


@attrs.frozen(kw_only=True, eq=False)
class Surroundings:
    """What an answer depends on beside the review: *settings*, the API *groups* served now, namespaces *excluded*."""

    settings: OperatorSettings
    groups: Callable[[], frozenset[str]] = frozenset
    is_excluded: Callable[[str], bool] = lambda _namespace: False


@attrs.frozen(kw_only=True, eq=False, repr=False)
class Request(Value):
    """One question: whether *user* may store *resource*, in place of *old* if it is an update."""

    uid: str
    operation: str
    namespace: str
    user: str
    resource: Object
    old: Object | None


@attrs.frozen(kw_only=True, eq=False, repr=False)
class Verdict(Value):
    """The answer to one request: whether it *is_allowed*, why not, and what its user is warned of."""

    is_allowed: bool = True
    message: str = ""
    warnings: tuple[str, ...] = ()

    def as_review(self, request: Request) -> Json:
        """Return the review that carries this verdict back."""
        response: Json = {"uid": request.uid, "allowed": self.is_allowed}
        if not self.is_allowed:
            response["status"] = {"code": DENIED, "reason": "Forbidden", "message": self.message}
        if self.warnings:
            response["warnings"] = list(self.warnings)
        return {"apiVersion": REVIEW_VERSION, "kind": REVIEW_KIND, "response": response}


def request_of(review: object, kind: CustomKind) -> Request:
    """Return the question in a *review* that came on the path of *kind*. Raises NoReview."""
    if not isinstance(review, Mapping):
        raise NoReview(f"the body must be an {REVIEW_KIND}, not {_sort(review)}")
    if (review.get("apiVersion"), review.get("kind")) != (REVIEW_VERSION, REVIEW_KIND):
        told = f"{review.get('apiVersion')} {review.get('kind')}"
        raise NoReview(f"the body must be an {REVIEW_KIND} of {REVIEW_VERSION}, not {told}")
    content = _mapping(review, "request")
    asked = _mapping(content, "kind", "request.")
    named = tuple(asked.get(part) for part in ("group", "version", "kind"))
    if named != (kinds.GROUP, kinds.VERSION, kind.name):
        told = "/".join(str(part) for part in named)
        raise NoReview(f"request.kind: this path is for {kinds.GROUP}/{kinds.VERSION}/{kind.name}, not {told}")
    operation = _text(content, "operation")
    old = content.get("oldObject")
    return Request(
        uid=_text(content, "uid"),
        operation=operation,
        namespace=str(content.get("namespace") or ""),
        user=str(_mapping(content, "userInfo", "request.").get("username") or ""),
        resource=_resource(content, "object") if operation in OPERATIONS else {},
        old=_resource(content, "oldObject") if operation == "UPDATE" and old is not None else None,
    )


def verdict(request: Request, around: Surroundings) -> Verdict:
    """Return whether the resource may be stored. Whoever is let through unasked gets no warnings."""
    if request.operation not in OPERATIONS or around.is_excluded(request.namespace):
        return Verdict()
    if request.old is not None and request.resource["metadata"].get("deletionTimestamp"):
        # Only finalizers are about to go, and a resource that has become invalid must be able to go too.
        return Verdict()
    facts = ClusterFacts(api_groups=around.groups())
    problems = admission(request.resource, settings=around.settings, facts=facts, old=request.old, user=request.user)
    refusals = [problem for problem in problems if problem.severity == "error"]
    warnings = tuple(_lines(problem for problem in problems if problem.severity == "warning"))
    return Verdict(is_allowed=not refusals, message="\n".join(_lines(refusals)), warnings=warnings)


def _lines(problems: Iterable[Problem]) -> list[str]:
    """Return each problem as one line: the field, what is wrong, what to do. Headers carry warnings: no line breaks."""
    told = []
    for problem in problems:
        where = field_path(problem.path)
        text = f"{where}: {problem.message}" if where else problem.message
        told.append(" ".join(f"{text} ({problem.hint})".split() if problem.hint else text.split()))
    return told


def _resource(content: Object, name: str) -> Object:
    resource = _mapping(content, name, "request.")
    _mapping(resource, "metadata", f"request.{name}.")
    return resource


def _mapping(holder: Object, name: str, above: str = "") -> Object:
    value: Any = holder.get(name)
    if not isinstance(value, Mapping):
        raise NoReview(f"{above}{name}: must be an object, not {_sort(value)}")
    return value


def _text(content: Object, name: str) -> str:
    value = content.get(name)
    if not isinstance(value, str) or not value:
        raise NoReview(f"request.{name}: must be a text that is not empty, not {_sort(value)}")
    return value


def _sort(value: object) -> str:
    """Return what JSON calls the type of *value*."""
    if value is None:
        return "null"
    if value == "":
        return "an empty text"
    names = {bool: "a truth value", int: "a number", float: "a number", str: "a text", list: "a list"}
    return names.get(type(value), "an object")
