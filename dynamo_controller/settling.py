"""Whether an apply would change an object, found out once for each version of it. Spares work, and decides nothing."""

from __future__ import annotations

from dynamo_controller import digest, fields
from dynamo_controller.ports import Object
from dynamo_controller.shell import Shell
from dynamo_controller.store import version


def is_settled(wanted: Object, live: Object, shell: Shell) -> bool:
    """Whether applying *wanted* would leave *live* as it is."""
    uid, found = live["metadata"]["uid"], (version(live), digest.of(wanted))
    if shell.settled.get(uid) == found:
        return True
    if fields.needs_apply(wanted, live):
        return False
    shell.settled[uid] = found
    return True


def note_applied(wanted: Object, stored: Object, shell: Shell) -> None:
    """Remember that *wanted* has led to *stored*: applied again, it would change nothing."""
    shell.settled[stored["metadata"]["uid"]] = version(stored), digest.of(wanted)
