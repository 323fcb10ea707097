from __future__ import annotations

from dynamo_render.backends.none import BACKEND
from dynamo_render.plans.launch import Addressing, LaunchPlan

ADDRESSING = Addressing(
    leader="leader", hosts=("leader", "worker"), rank="1", rank_in_sum="1", needs_shell=False, waits_for_names=False
)
PLAN = LaunchPlan(backend="none", nodes=2, addressing=ADDRESSING)
CONTAINER = {"name": "main", "args": ["./run"], "livenessProbe": {"tcpSocket": {"port": 1}}}


def test_the_container_stays_as_it_is_in_every_role() -> None:
    assert [BACKEND.launched(PLAN, role, CONTAINER) for role in ("main", "leader", "worker")] == [CONTAINER] * 3


def test_no_probe_is_dropped_and_no_volume_added() -> None:
    assert (BACKEND.drops_probes(PLAN, "worker", CONTAINER), BACKEND.volumes(PLAN)) == ((), ())
