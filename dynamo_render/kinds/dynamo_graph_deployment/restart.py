"""Restarts: how far one has come, and which services carry its stamp. controllers-graph.md section 10."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from dynamo_render.observed import RestartStatus
from dynamo_render.spec.graph import GraphSpec, Restart

_FINAL = ("Completed", "Failed")


def status_of(resource_status: Mapping[str, Any]) -> RestartStatus | None:
    """Return the restart status that a resource carries, or None."""
    restart = resource_status.get("restart")
    if not isinstance(restart, Mapping):
        return None
    in_progress = restart.get("inProgress")
    return RestartStatus(
        observed_id=str(restart.get("observedID") or ""),
        phase=str(restart.get("phase") or ""),
        in_progress=tuple(map(str, in_progress)) if isinstance(in_progress, list) else (),
    )


def next_status(spec: GraphSpec, status: RestartStatus | None, restarted: frozenset[str]) -> RestartStatus | None:
    """Return the restart status of this pass, from the one before and the services that have come back since."""
    restart = spec.restart
    if restart is None or not restart.id:
        return status if status and status.phase in _FINAL else None
    if status and status.observed_id == restart.id and status.phase in _FINAL:
        return status
    is_new = status is None or status.observed_id != restart.id
    in_progress = () if is_new or status is None else status.in_progress
    if _is_parallel(restart):
        return _next_parallel(restart, in_progress or tuple(sorted(spec.services or ())), restarted, is_new=is_new)
    return _next_sequential(restart, _order(spec), in_progress, restarted)


def _next_parallel(
    restart: Restart, candidates: Sequence[str], restarted: frozenset[str], *, is_new: bool
) -> RestartStatus:
    remaining = tuple(name for name in candidates if is_new or name not in restarted)
    if not remaining:
        return RestartStatus(restart.id, "Completed")
    return RestartStatus(restart.id, "Restarting", remaining)


def _next_sequential(
    restart: Restart, order: Sequence[str], in_progress: Sequence[str], restarted: frozenset[str]
) -> RestartStatus:
    if not order:
        return RestartStatus(restart.id, "Completed")
    if not in_progress:
        return RestartStatus(restart.id, "Restarting", (order[0],))
    current = in_progress[0]
    if current in order and current not in restarted:
        return RestartStatus(restart.id, "Restarting", (current,))
    position = order.index(current) if current in order else len(order)
    if position + 1 < len(order):
        return RestartStatus(restart.id, "Restarting", (order[position + 1],))
    return RestartStatus(restart.id, "Completed")


def stamps(spec: GraphSpec, status: RestartStatus | None, live: Mapping[str, str]) -> dict[str, str]:
    """Return the restart annotation of each service: this restart's id where its turn has come, else its *live* one."""
    result = dict(live)
    if status is None:
        return result
    restart = spec.restart
    if restart is None or not restart.id:
        return {**result, **dict.fromkeys(spec.services or (), status.observed_id)} if status.observed_id else result
    if _is_parallel(restart) or (status.observed_id == restart.id and status.phase == "Completed"):
        return {**result, **dict.fromkeys(spec.services or (), restart.id)}
    return {**result, **dict.fromkeys(_reached(_order(spec), status), restart.id)}


def _reached(order: Sequence[str], status: RestartStatus) -> Sequence[str]:
    """Return the services whose turn has come in a sequential restart."""
    if status.phase == "Pending" or not status.in_progress:
        return order[:1]
    positions = [order.index(name) for name in status.in_progress if name in order]
    return order[: max(positions) + 1] if positions else ()


def _is_parallel(restart: Restart) -> bool:
    return restart.strategy is not None and restart.strategy.type == "Parallel"


def _order(spec: GraphSpec) -> Sequence[str]:
    strategy = spec.restart and spec.restart.strategy
    return (strategy and strategy.order) or sorted(spec.services or ())
