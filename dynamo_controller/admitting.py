"""The webhook at work: its handlers on a port, with a certificate that is kept current. Wiring only."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable
from pathlib import Path

from dynamo_controller import webhook
from dynamo_controller.adapters.authority import SystemAuthority
from dynamo_controller.adapters.certificate_files import CertificateFiles
from dynamo_controller.adapters.serving import serving
from dynamo_controller.admission import Surroundings
from dynamo_controller.certificates import Certificates, Keeper, Place
from dynamo_controller.manager import Outside
from dynamo_controller.ports import Address
from dynamo_controller.settings import ControllerSettings
from dynamo_controller.webhook import Told


@contextlib.asynccontextmanager
async def admitting(
    own: ControllerSettings, around: Surroundings, outside: Outside, told: Told
) -> AsyncIterator[Callable[[], bool]]:
    """Answer reviews until the block ends, if that is wanted; yield what says whether they can be answered now.

    Raises CannotListen.
    """
    address = Address.parsed(own.webhook_address)
    if address is None:
        yield lambda: True
        return
    files = CertificateFiles(Path(own.webhook_certificates))
    certificates = Certificates(files, _keeper(own, outside), outside.clock, outside.log)
    handlers = webhook.handlers(around, outside.clock, told)
    # Without a certificate every connection fails, and then the API server refuses: nothing slips through.
    async with serving("webhook", address, handlers, outside.log, files.context):
        keeping = asyncio.create_task(certificates.run())
        try:
            yield lambda: files.is_loaded
        finally:
            keeping.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await keeping


def _keeper(own: ControllerSettings, outside: Outside) -> Keeper | None:
    if not own.webhook_secret:
        return None
    namespace, _, secret = own.webhook_secret.partition("/")
    place = Place(namespace, secret, own.webhook_service, own.webhook_configuration)
    return Keeper(place, outside.cluster, SystemAuthority())
