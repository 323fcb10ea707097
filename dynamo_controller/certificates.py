"""The certificate of the webhook: loaded again when it changes and, where nobody else does, made and kept in a Secret.

Specification: operator-config.md section 14.5. How certificates are made, and where servers find them, is not known
here.
"""

from __future__ import annotations

import base64
import binascii
from typing import NamedTuple

import attrs

from dynamo_controller.ports import (
    Authority,
    CertificateStore,
    Clock,
    Cluster,
    ClusterError,
    Json,
    Kind,
    Log,
    Object,
    Pair,
)

SECRET = Kind("v1", "Secret")
CONFIGURATION = Kind("admissionregistration.k8s.io/v1", "ValidatingWebhookConfiguration")

POLL_SECONDS = 10.0
"""Between looks at the files. Specification: operator-config.md section 14.2."""

KEEP_SECONDS = 60.0
"""Between looks at the Secret and the configuration."""

RENEW_DAYS = 30.0
"""A certificate that is valid for less is replaced. Specification: operator-config.md section 14.5."""

_CERTIFICATE, _KEY, _AUTHORITY = "tls.crt", "tls.key", "ca.crt"
_END = "-----END CERTIFICATE-----\n"


class Place(NamedTuple):
    """What a certificate of our own is about: a Secret, the Service in front of the webhook, its configuration."""

    namespace: str
    secret: str
    service: str
    configuration: str

    @property
    def names(self) -> tuple[str, ...]:
        """The names by which the webhook is called."""
        inside = f"{self.service}.{self.namespace}"
        return (f"{inside}.svc", f"{inside}.svc.cluster.local", inside, self.service)


@attrs.frozen(eq=False)
class Keeper:
    """Keeps a certificate of our own in a Secret, and the authority that signed it in the webhook configuration."""

    place: Place
    cluster: Cluster
    authority: Authority

    async def kept(self) -> Pair:
        """Return the certificate to serve with; it is new where there was none, or none for long. Raises ClusterError.

        Whoever asks the webhook trusts a new authority before a server shows its certificate, and the one before it
        until the next.
        """
        place = self.place
        stored = await self.cluster.get(SECRET, place.namespace, place.secret)
        pair = _pair(stored) if stored is not None else None
        left = self.authority.days_left(pair, place.names) if pair is not None else 0.0
        if pair is None or left < RENEW_DAYS:
            fresh = self.authority.issued(place.names)
            if pair is not None and left > 0:
                fresh = attrs.evolve(fresh, authority=fresh.authority + pair.authority.partition(_END)[0] + _END)
            await self._trust(fresh)
            await self._store(fresh, stored)
            return fresh
        await self._trust(pair)
        return pair

    async def _store(self, pair: Pair, stored: Object | None) -> None:
        texts = {_CERTIFICATE: pair.certificate, _KEY: pair.key, _AUTHORITY: pair.authority}
        data = {name: base64.b64encode(text.encode()).decode() for name, text in texts.items()}
        if stored is not None:
            await self.cluster.merge(stored, {"data": data})
            return
        metadata = {"name": self.place.secret, "namespace": self.place.namespace}
        frame = {"apiVersion": SECRET.api_version, "kind": SECRET.kind, "metadata": metadata}
        await self.cluster.create({**frame, "type": "Opaque", "data": data})

    async def _trust(self, pair: Pair) -> None:
        """Let the configuration trust who has signed *pair*; without a configuration nobody asks the webhook."""
        live = await self.cluster.get(CONFIGURATION, "", self.place.configuration)
        bundle = base64.b64encode(pair.authority.encode()).decode()
        hooks = (live or {}).get("webhooks") or ()
        if live is None or all(hook["clientConfig"].get("caBundle") == bundle for hook in hooks):
            return
        # The uid keeps the apply from making a configuration where somebody has just deleted it.
        metadata = {"name": self.place.configuration, "uid": live["metadata"]["uid"]}
        wanted: Json = {"apiVersion": CONFIGURATION.api_version, "kind": CONFIGURATION.kind, "metadata": metadata}
        wanted["webhooks"] = [{"name": hook["name"], "clientConfig": {"caBundle": bundle}} for hook in hooks]
        await self.cluster.apply(wanted, force=True)


@attrs.define(eq=False)
class Certificates:
    """The certificate that the webhook shows: what *store* holds, put there by a *keeper* if there is one."""

    store: CertificateStore
    keeper: Keeper | None
    clock: Clock
    log: Log
    _looked_at: float | None = None
    _announced: Pair | None = None
    _shown: Pair | None = None
    _complaint: str = ""

    async def run(self) -> None:
        """Keep the certificate current until cancelled; trouble is told, and tried again."""
        while True:
            await self.refresh()
            # Until there is a certificate nothing can be answered, and it may come any moment.
            await self.clock.sleep(POLL_SECONDS if self.store.is_loaded else 1.0)

    async def refresh(self) -> None:
        """Look once."""
        try:
            await self._keep()
            if self.store.reload():
                self.log.write("info", "webhook: certificate loaded")
        except ClusterError as error:
            self._complain(f"webhook: the certificate cannot be kept: {error}")
        except OSError as error:
            self._complain(f"webhook: no usable certificate: {error}")
        else:
            self._complaint = ""

    async def _keep(self) -> None:
        now = self.clock.monotonic()
        if self.keeper is None or (self._looked_at is not None and now - self._looked_at < KEEP_SECONDS):
            return
        pair = await self.keeper.kept()
        if self.store.is_loaded and pair not in (self._shown, self._announced):
            # Every API server hears of the new authority in its own time: shown at the next look.
            self._announced = pair
            return
        self.store.write(pair.certificate, pair.key)
        self._shown, self._looked_at = pair, now

    def _complain(self, message: str) -> None:
        """Tell the same trouble once, not every second."""
        if message != self._complaint:
            self.log.write("warning", message)
        self._complaint = message


def _pair(secret: Object) -> Pair | None:
    """Return the certificate in a Secret, or None where something is missing."""
    data = secret.get("data") or {}
    try:
        texts = [base64.b64decode(data[name], validate=True).decode() for name in (_CERTIFICATE, _KEY, _AUTHORITY)]
    except (KeyError, TypeError, ValueError, binascii.Error):
        return None
    return Pair(*texts)
