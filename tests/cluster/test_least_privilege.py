"""Exactly the printed rights: stories of all kinds pass with them, use each of them, and fail without any of them.

What accounts asked for is read from the audit log of the API server.
"""

from __future__ import annotations

import contextlib
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import attrs
import pytest

from dynamo_controller import manifests, permissions
from dynamo_controller.manifests import Installation
from dynamo_controller.permissions import PERMISSIONS, Mode, Permission
from dynamo_render import OperatorSettings
from tests.cluster import bench, installation, privilege_stories, privileges, processes
from tests.cluster.bench import Bench
from tests.cluster.client import Json
from tests.cluster.conftest import require
from tests.cluster.privilege_stories import Team
from tests.cluster.privileges import Audit

LIMIT = 45.0
PAUSE = 0.3
"""Seconds between looks, so that looking does not keep the controller from its work."""

MPI_KEY = {"private.key": "a2V5", "private.key.pub": "a2V5", "authorized_keys": "a2V5", "ssh_config": "a2V5"}


@pytest.fixture(scope="module")
def audited(
    request: pytest.FixtureRequest, bench_logs: Path, definitions: list[Json | str]
) -> Iterator[tuple[Bench, Path]]:
    """An API server that writes down what accounts ask for."""
    require(bench.API_SERVER_PROGRAMS, request.config)
    folder = bench_logs / "audited"
    folder.mkdir()
    options = privileges.audit_options(folder)
    with bench.api_server(folder, [*definitions, privilege_stories.QUEUES], options) as started:
        queue = {"apiVersion": "scheduling.run.ai/v2", "kind": "Queue", "metadata": {"name": "dynamo"}}
        started.client.create(queue)
        yield started, folder / "audit.log"


@attrs.frozen(eq=False)
class Installed:
    """An installation on an audited bench: who it is, and where its stories are played."""

    bench: Bench
    installation: Installation
    folder: Path
    audit: Audit
    team: Team
    port: int

    def granted(self) -> set[privileges.Right]:
        """Return the rights that the printed roles give the controller."""
        roles = [
            content["rules"]
            for content in manifests.objects(self.installation)
            if content["kind"] in {"Role", "ClusterRole"}
            and content["metadata"]["name"] in {manifests.BASE, self.installation.cluster_name}
        ]
        return privileges.rights(rule for rules in roles for rule in rules)

    def unhook(self) -> None:
        """Let nobody be asked any more: who is gone does not answer."""
        path = self.bench.client.path(*installation.HOOKS, self.installation.place.configuration)
        self.bench.client.send("DELETE", path)

    @contextlib.contextmanager
    def running(self) -> Iterator[Path]:
        """Run the program under its account until the block ends; yield its log."""
        more = {
            "health_address": "0",
            "metrics_address": "0",
            "webhook_address": f"localhost:{self.port}",
            "webhook_certificates": str(self.folder),
            "nats_address": "nats://nats:4222",
        }
        settings = installation.settings_file(self.installation, self.folder, **more)
        login = installation.login(self.bench, self.folder, self.installation.namespace)
        words = ["run", "--kubeconfig", str(login), "--settings", str(settings)]
        log = self.folder / "controller.log"
        with (
            log.open("w") as stream,
            subprocess.Popen([sys.executable, "-m", "dynamo_controller", *words], stderr=stream) as program,
        ):
            try:
                yield log
            finally:
                program.send_signal(signal.SIGTERM)
                program.wait(timeout=LIMIT)


def installed(audited: tuple[Bench, Path], mode: Mode, folder: Path) -> Installed:
    """Install the controller and its webhook, and make the namespace of its stories."""
    started, log = audited
    made = Installation(image=installation.IMAGE, mode=mode, namespace=f"least-{mode}")
    installation.installed(started, made)
    (port,) = processes.free_ports(1)
    installation.routed(started, made, port)
    namespace = made.namespace if mode == "namespaced" else "least-team"
    started.ensure_namespaces([namespace])
    metadata = {"name": "mpi-run-ssh-secret", "namespace": made.namespace}
    started.client.apply({"apiVersion": "v1", "kind": "Secret", "metadata": metadata, "data": MPI_KEY})
    user = f"system:serviceaccount:{made.namespace}:{manifests.ACCOUNT}"
    given = {key: value for key, value in made.all_settings().items() if key in OperatorSettings.__annotations__}
    settings = OperatorSettings.from_mapping({**given, "nats_address": "nats://nats:4222"})
    return Installed(started, made, folder, Audit(log, user), Team(started, namespace, settings), port)


def implied(mode: Mode) -> set[privileges.Right]:
    """Return the rights that are no requests of their own."""
    rules = [
        each.rule() for each in PERMISSIONS if each.implied and each.subject == "controller" and mode in each.modes
    ]
    return privileges.rights(rules)


@pytest.fixture(scope="module", params=["cluster", "namespaced"])
def played(
    request: pytest.FixtureRequest, audited: tuple[Bench, Path], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Installed]:
    """An installation whose stories have been played, with a new start of the program in the middle."""
    place = installed(audited, request.param, tmp_path_factory.mktemp(request.param))
    try:
        with place.running() as log:
            _played(privilege_stories.STORIES[:2], place, log)
        spoilt = {"data": {"tls.crt": "", "tls.key": "", "ca.crt": ""}}
        path = place.bench.client.path("v1", "Secret", "webhook-server-cert", place.installation.namespace)
        place.bench.client.send("PATCH", path, spoilt, "application/merge-patch+json")
        with place.running() as log:
            _played(privilege_stories.STORIES[2:], place, log)
        yield place
    finally:
        place.unhook()


def _played(stories: Any, place: Installed, log: Path) -> None:
    words = ('"ready"', '"webhook: certificate loaded"')
    processes.wait_until(lambda: all(each in log.read_text() for each in words), seconds=LIMIT, what="controller")
    for story in stories:
        try:
            story(place.team)
        except processes.BenchError as error:
            error.add_note("".join(log.read_text().splitlines(keepends=True)[-10:]))
            raise


def test_the_stories_pass_without_a_refusal(played: Installed) -> None:
    assert sorted(played.audit.missed()) == []


def test_every_right_was_used(played: Installed) -> None:
    """And so a story fails when one is taken out: nothing else gives it."""
    unused = played.granted() - implied(played.installation.mode) - played.audit.used()
    assert sorted(unused) == []


OWN = [each for each in PERMISSIONS if each.subject == "controller" and "cluster" in each.modes]
WATCHED = [each for each in OWN if {"list", "watch"} <= set(each.verbs) and not each.implied]
OTHERS = [each for each in OWN if each not in WATCHED]


@pytest.fixture(scope="module")
def place(audited: tuple[Bench, Path], tmp_path_factory: pytest.TempPathFactory) -> Iterator[Installed]:
    """An installation for the whole cluster, for stories that fail."""
    made = installed(audited, "cluster", tmp_path_factory.mktemp("without"))
    try:
        yield made
    finally:
        made.unhook()


@contextlib.contextmanager
def without(place: Installed, missing: list[Permission]) -> Iterator[None]:
    """Take rules out of the roles of the controller until the block ends."""
    named = {
        "": (),
        permissions.CONFIGURATION: (place.installation.place.configuration,),
        permissions.COMPONENT_ROLES: tuple(place.installation.roles.values()),
    }
    rules = [each.rule(named[each.only]) for each in missing]
    whole = [each for each in manifests.objects(place.installation) if each["kind"] in {"Role", "ClusterRole"}]
    own = [each for each in whole if each["metadata"]["name"] == manifests.BASE]
    taken = [rule for role in own for rule in role["rules"] if rule in rules]
    assert len(taken) == len(rules)
    for role in own:
        place.bench.client.apply({**role, "rules": [rule for rule in role["rules"] if rule not in rules]})
    try:
        yield
    finally:
        for role in own:
            place.bench.client.apply(role)


def test_whatever_is_watched_is_missed_at_once(place: Installed) -> None:
    """One start without all of these rules: each watch stands for itself."""
    wanted = {frozenset(privileges.rights([each.rule()])) for each in WATCHED}
    since = place.audit.end()
    with without(place, WATCHED), place.running():
        processes.wait_until(
            lambda: all(rights & place.audit.missed(since) for rights in wanted),
            seconds=LIMIT,
            what="refusal of every watch",
        )


@pytest.mark.parametrize("missing", OTHERS, ids=lambda each: f"{each.verbs[0]}-{each.resources[0]}".replace("/", "-"))
def test_without_any_one_of_the_other_rules_something_is_refused(place: Installed, missing: Permission) -> None:
    namespace = f"least-{missing.verbs[0]}-{missing.resources[0]}".replace("/", "-")
    place.bench.ensure_namespaces([namespace])
    team, since = attrs.evolve(place.team, namespace=namespace), place.audit.end()
    rights = privileges.rights([missing.rule()])
    with without(place, [missing]), place.running() as log:

        def is_missed() -> bool:
            privilege_stories.moved_on(team)
            time.sleep(PAUSE)
            if not missing.implied:
                return bool(rights & place.audit.missed(since))
            return any(refusal in log.read_text() for refusal in IMPLIED)

        processes.wait_until(is_missed, seconds=LIMIT, what=f"refusal for want of {sorted(rights)}")
    privilege_stories.cleared(team)


IMPLIED = ("attempting to grant RBAC permissions not currently held", "cannot set blockOwnerDeletion")
"""How the API server refuses where no request of its own is made."""
