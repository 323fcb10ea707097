"""The webhook's certificate: made, kept, trusted, replaced in time, and loaded again by the server."""

from __future__ import annotations

import base64
import ssl
import stat
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from dynamo_controller.adapters.authority import SystemAuthority
from dynamo_controller.adapters.certificate_files import CertificateFiles
from dynamo_controller.certificates import Certificates, Keeper, Place
from dynamo_controller.ports import Clock, Cluster, ClusterError, Kind, Pair
from tests.fakes.clock import FakeClock
from tests.fakes.cluster import FakeCluster
from tests.fakes.stage import RecordingLog

Json = dict[str, Any]
PLACE = Place("team", "webhook-server-cert", "hook", "hooks")
HOOKS = Kind("admissionregistration.k8s.io/v1", "ValidatingWebhookConfiguration")
END = "-----END CERTIFICATE-----\n"


class NumberingAuthority:
    """Issues texts with a number; *left* says for how many days each is good."""

    def __init__(self) -> None:
        self.issues = 0
        self.left: dict[str, float] = {}

    def issued(self, names: Sequence[str]) -> Pair:
        self.issues += 1
        number = f"{self.issues}"
        self.left[number] = 365.0
        assert names[0] == "hook.team.svc"
        return Pair(number, f"key {number}", f"authority {number}{END}")

    def days_left(self, pair: Pair, names: Sequence[str]) -> float:
        assert names[0] == "hook.team.svc"
        return self.left.get(pair.certificate, 0.0)


def configuration(**client: str) -> Json:
    service = {"name": "hook", "namespace": "team", "path": "/"}
    hooks = [{"name": name, "clientConfig": {"service": service, **client}} for name in ("a.kb.io", "b.kb.io")]
    frame = {"apiVersion": HOOKS.api_version, "kind": HOOKS.kind, "metadata": {"name": "hooks", "namespace": ""}}
    return {**frame, "webhooks": hooks}


def trusted(cluster: FakeCluster) -> list[str]:
    hooks = cluster.find(HOOKS.kind, "hooks", "")["webhooks"]
    return [base64.b64decode(hook["clientConfig"].get("caBundle", "")).decode() for hook in hooks]


def secret(cluster: FakeCluster) -> Json:
    data = cluster.find("Secret", "webhook-server-cert")["data"]
    return {name: base64.b64decode(text).decode() for name, text in data.items()}


def kept(cluster: Cluster) -> Keeper:
    return Keeper(PLACE, cluster, NumberingAuthority())


async def test_the_first_certificate_is_stored_and_trusted() -> None:
    cluster = FakeCluster()
    cluster.put(configuration())
    pair = await kept(cluster).kept()
    assert secret(cluster) == {"tls.crt": "1", "tls.key": "key 1", "ca.crt": f"authority 1{END}"}
    assert trusted(cluster) == [f"authority 1{END}"] * 2
    assert pair.certificate == "1"


async def test_the_rest_of_the_configuration_stays_as_its_user_wrote_it() -> None:
    cluster = FakeCluster()
    cluster.put(configuration())
    await kept(cluster).kept()
    hooks = cluster.find(HOOKS.kind, "hooks", "")["webhooks"]
    assert [hook["clientConfig"]["service"]["name"] for hook in hooks] == ["hook", "hook"]


async def test_a_certificate_that_is_good_is_left_alone() -> None:
    cluster, keeper = FakeCluster(), None
    cluster.put(configuration())
    keeper = kept(cluster)
    await keeper.kept()
    cluster.writes.clear()
    assert (await keeper.kept()).certificate == "1"
    assert cluster.writes == []


async def test_a_second_process_finds_the_certificate_of_the_first() -> None:
    cluster, authority = FakeCluster(), NumberingAuthority()
    cluster.put(configuration())
    await Keeper(PLACE, cluster, authority).kept()
    assert (await Keeper(PLACE, cluster, authority).kept()).certificate == "1"


async def test_a_certificate_is_replaced_thirty_days_before_its_end() -> None:
    cluster, authority = FakeCluster(), NumberingAuthority()
    cluster.put(configuration())
    keeper = Keeper(PLACE, cluster, authority)
    await keeper.kept()
    authority.left["1"] = 29.9
    assert (await keeper.kept()).certificate == "2"
    assert secret(cluster)["tls.crt"] == "2"


async def test_after_a_replacement_the_authority_before_is_still_trusted() -> None:
    """Another instance shows the certificate before until it has looked."""
    cluster, authority = FakeCluster(), NumberingAuthority()
    cluster.put(configuration())
    keeper = Keeper(PLACE, cluster, authority)
    for _ in range(3):
        await keeper.kept()
        authority.left[f"{authority.issues}"] = 10.0
    assert trusted(cluster) == [f"authority 3{END}authority 2{END}"] * 2


async def test_a_secret_that_makes_no_sense_is_replaced() -> None:
    cluster = FakeCluster()
    cluster.put(configuration())
    metadata = {"name": "webhook-server-cert", "namespace": "team"}
    cluster.put({"apiVersion": "v1", "kind": "Secret", "metadata": metadata, "data": {"tls.crt": "?"}})
    await kept(cluster).kept()
    assert secret(cluster)["tls.crt"] == "1"


async def test_a_configuration_that_was_replaced_is_told_again() -> None:
    cluster = FakeCluster()
    live = cluster.put(configuration())
    keeper = kept(cluster)
    await keeper.kept()
    cluster.remove(live)
    cluster.put(configuration(caBundle="dGhlaXJz"))
    await keeper.kept()
    assert trusted(cluster) == [f"authority 1{END}"] * 2


async def test_without_a_configuration_none_is_made() -> None:
    cluster = FakeCluster()
    await kept(cluster).kept()
    assert cluster.names(HOOKS.kind) == []


# What servers and clients make of real certificates


def test_a_new_certificate_is_good_for_a_year_and_for_its_names_only() -> None:
    authority = SystemAuthority()
    pair = authority.issued(PLACE.names)
    assert 364 < authority.days_left(pair, PLACE.names) <= 365
    assert authority.days_left(pair, ["other.team.svc"]) == 0.0


@pytest.mark.parametrize("part", ["certificate", "key", "authority"])
def test_parts_of_two_certificates_are_none(part: str) -> None:
    authority = SystemAuthority()
    pair, other = authority.issued(PLACE.names), authority.issued(PLACE.names)
    texts = {name: getattr(pair, name) for name in ("certificate", "key", "authority")}
    assert authority.days_left(Pair(**{**texts, part: getattr(other, part)}), PLACE.names) == 0.0
    assert authority.days_left(Pair(**{**texts, part: "nonsense"}), PLACE.names) == 0.0


def hello(files: CertificateFiles, authority: str, name: str) -> None:
    """Let a client that trusts *authority* greet a server with *files*; raise ssl.SSLError where it turns away."""
    client = ssl.create_default_context(cadata=authority)
    to_server, to_client = ssl.MemoryBIO(), ssl.MemoryBIO()
    asking = client.wrap_bio(to_client, to_server, server_hostname=name)
    answering = files.context.wrap_bio(to_server, to_client, server_side=True)
    for _ in range(4):
        for side in (asking, answering):
            try:
                side.do_handshake()
            except ssl.SSLWantReadError:
                continue
    assert asking.version() is not None


@pytest.fixture
def files(tmp_path: Path) -> CertificateFiles:
    return CertificateFiles(tmp_path)


def test_a_client_that_trusts_the_authority_accepts_the_server(files: CertificateFiles) -> None:
    pair = SystemAuthority().issued(PLACE.names)
    files.write(pair.certificate, pair.key)
    assert files.reload()
    hello(files, pair.authority, "hook.team.svc")
    with pytest.raises(ssl.SSLCertVerificationError):
        hello(files, pair.authority, "other.team.svc")


def test_changed_files_are_shown_to_the_next_client(files: CertificateFiles) -> None:
    authority = SystemAuthority()
    first, second = authority.issued(PLACE.names), authority.issued(PLACE.names)
    files.write(first.certificate, first.key)
    files.reload()
    files.write(second.certificate, second.key)
    assert files.reload()
    hello(files, second.authority, "hook.team.svc")
    with pytest.raises(ssl.SSLCertVerificationError):
        hello(files, first.authority, "hook.team.svc")


def test_unchanged_files_are_not_loaded_again(files: CertificateFiles) -> None:
    pair = SystemAuthority().issued(PLACE.names)
    files.write(pair.certificate, pair.key)
    assert files.reload()
    assert not files.reload()


def test_files_that_do_not_fit_leave_the_certificate_in_use(files: CertificateFiles) -> None:
    """A folder may be half written."""
    authority = SystemAuthority()
    first, second = authority.issued(PLACE.names), authority.issued(PLACE.names)
    files.write(first.certificate, first.key)
    files.reload()
    files.write(second.certificate, first.key)
    with pytest.raises(OSError, match=r"(?i)mismatch"):
        files.reload()
    hello(files, first.authority, "hook.team.svc")


def test_the_key_is_for_its_user_only(files: CertificateFiles, tmp_path: Path) -> None:
    files.write("certificate", "key")
    assert stat.S_IMODE((tmp_path / "tls.key").stat().st_mode) == 0o600


def refreshing(files: CertificateFiles, keeper: Keeper | None, clock: Clock) -> tuple[Certificates, RecordingLog]:
    log = RecordingLog()
    return Certificates(files, keeper, clock, log), log


async def test_missing_files_are_told_once_and_found_when_they_come(files: CertificateFiles) -> None:
    certificates, log = refreshing(files, None, FakeClock())
    await certificates.refresh()
    await certificates.refresh()
    assert [level for level, _ in log.lines] == ["warning"]
    assert not files.is_loaded
    pair = SystemAuthority().issued(PLACE.names)
    files.write(pair.certificate, pair.key)
    await certificates.refresh()
    assert files.is_loaded
    assert log.lines[-1] == ("info", "webhook: certificate loaded")


async def test_a_kept_certificate_reaches_the_server(files: CertificateFiles) -> None:
    cluster = FakeCluster()
    cluster.put(configuration())
    certificates, _log = refreshing(files, Keeper(PLACE, cluster, SystemAuthority()), FakeClock())
    await certificates.refresh()
    hello(files, trusted(cluster)[0], "hook.team.svc")


async def test_a_new_certificate_is_shown_one_look_after_it_was_announced(files: CertificateFiles) -> None:
    """API servers hear of a new authority a little later than whoever told it."""
    cluster, clock, authority = FakeCluster(), FakeClock(), SystemAuthority()
    cluster.put(configuration())
    certificates, _log = refreshing(files, Keeper(PLACE, cluster, authority), clock)
    await certificates.refresh()
    before = trusted(cluster)[0]
    cluster.remove(cluster.find("Secret", "webhook-server-cert"))
    clock.advance(60.0)
    await certificates.refresh()
    hello(files, before, "hook.team.svc")
    clock.advance(10.0)
    await certificates.refresh()
    hello(files, trusted(cluster)[0], "hook.team.svc")
    assert trusted(cluster)[0] != before


class RefusingCluster(FakeCluster):
    """Lets nobody read Secrets."""

    async def get(self, kind: Kind, namespace: str, name: str) -> Json | None:
        raise ClusterError(403, "Forbidden", f'cannot get resource "{kind.kind}" in {namespace} called {name}')


async def test_a_cluster_that_refuses_is_told_and_the_server_goes_on(files: CertificateFiles) -> None:
    pair = SystemAuthority().issued(PLACE.names)
    files.write(pair.certificate, pair.key)
    files.reload()
    certificates, log = refreshing(files, kept(RefusingCluster()), FakeClock())
    await certificates.refresh()
    await certificates.refresh()
    assert [message for _, message in log.lines] == [
        'webhook: the certificate cannot be kept: cannot get resource "Secret" in team called webhook-server-cert'
    ]
    assert files.is_loaded
