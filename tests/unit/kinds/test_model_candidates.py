"""Which pods of EndpointSlices can serve a model: controllers-other.md sections 3.3 and 4.5."""

from __future__ import annotations

from typing import Any

from dynamo_render.kinds.dynamo_model.candidates import Candidate, discovered

Json = dict[str, Any]


def endpoint(*addresses: str, pod: str = "worker-0", kind: str = "Pod") -> Json:
    return {"addresses": list(addresses), "targetRef": {"kind": kind, "name": pod}}


def a_slice(*endpoints: Json, name: str = "dynamo-model-fb68f5a6-x", service: str = "dynamo-model-fb68f5a6") -> Json:
    labels = {"nvidia.com/dynamo-base-model-hash": "fb68f5a6", "kubernetes.io/service-name": service}
    return {"metadata": {"name": name, "labels": labels}, "endpoints": list(endpoints)}


def test_the_worked_example_has_two_candidates() -> None:
    """Section 4.5: a pod that is not ready counts, a node does not."""
    ready = {**endpoint("10.0.1.5"), "conditions": {"ready": True}}
    unready = {**endpoint("10.0.1.6", pod="worker-1"), "conditions": {"ready": False}}
    found = discovered([a_slice(ready, unready, endpoint("10.0.1.7", pod="n", kind="Node"))])
    assert found.candidates == (
        Candidate("http://10.0.1.5:9090", "worker-0"),
        Candidate("http://10.0.1.6:9090", "worker-1"),
    )
    assert found.services == 1


def test_an_endpoint_without_a_target_is_passed_over() -> None:
    assert discovered([a_slice({"addresses": ["10.0.0.1"]})]).candidates == ()


def test_an_endpoint_without_addresses_is_passed_over() -> None:
    assert discovered([a_slice({"addresses": None, "targetRef": {"kind": "Pod", "name": "a"}})]).candidates == ()


def test_an_address_of_version_six_stands_in_brackets() -> None:
    (found,) = discovered([a_slice(endpoint("fd00::1"))]).candidates
    assert found.address == "http://[fd00::1]:9090"


def test_the_port_of_a_slice_plays_no_role() -> None:
    (found,) = discovered([{**a_slice(endpoint("10.0.0.1")), "ports": [{"port": 8000}]}]).candidates
    assert found.address == "http://10.0.0.1:9090"


def test_a_pod_with_two_addresses_is_two_candidates() -> None:
    assert [each.pod for each in discovered([a_slice(endpoint("10.0.0.1", "10.0.0.2"))]).candidates] == ["worker-0"] * 2


def test_a_pod_in_two_slices_is_two_candidates() -> None:
    slices = [a_slice(endpoint("10.0.0.1")), a_slice(endpoint("fd00::1"), name="dynamo-model-fb68f5a6-y")]
    assert len(discovered(slices).candidates) == 2


def test_candidates_stand_in_the_order_of_slice_names() -> None:
    slices = [a_slice(endpoint("10.0.0.2"), name="b"), a_slice(endpoint("10.0.0.1"), name="a")]
    assert [each.address for each in discovered(slices).candidates] == ["http://10.0.0.1:9090", "http://10.0.0.2:9090"]


def test_a_service_counts_once_and_without_usable_endpoints() -> None:
    slices = [a_slice(), a_slice(name="b"), a_slice(name="c", service="other")]
    assert discovered(slices).services == 2


def test_a_slice_without_a_service_name_belongs_to_none() -> None:
    assert discovered([a_slice(endpoint("10.0.0.1"), service="")]).services == 0


def test_no_slices_are_no_candidates() -> None:
    assert (discovered([]).candidates, discovered([]).services) == ((), 0)
