"""A folder with a certificate and its key, as a TLS server uses it: loaded again when the files change.

The only module that reads and writes certificate files.
"""

from __future__ import annotations

import ssl
from pathlib import Path

CERTIFICATE, KEY = "tls.crt", "tls.key"

_Content = tuple[bytes, bytes]


class CertificateFiles:
    """The certificate in a *folder*; files that cannot be used leave what is in use alone."""

    def __init__(self, folder: Path) -> None:
        """Read nothing yet."""
        self._folder = folder
        self._loaded: _Content | None = None
        self.context = _new_context()

    @property
    def is_loaded(self) -> bool:
        """Whether there is a certificate to serve with."""
        return self._loaded is not None

    def reload(self) -> bool:
        """Use what the files hold now, and return whether that is something else than before.

        Connections that are open stay as they are. Raises OSError, and its `ssl.SSLError`, for what cannot be used.
        """
        content = self._read()
        if content == self._loaded:
            return False
        # A pair that does not fit would leave the context with half of it: tried elsewhere first.
        self._load_into(_new_context())
        self._load_into(self.context)
        self._loaded = content
        return True

    def write(self, certificate: str, key: str) -> None:
        """Put a certificate into the folder; the key can be read by this user only."""
        for name, text in ((KEY, key), (CERTIFICATE, certificate)):
            path = self._folder / name
            unfinished = path.with_suffix(".new")
            unfinished.unlink(missing_ok=True)
            unfinished.touch(mode=0o600)
            unfinished.write_text(text, "utf-8")
            unfinished.replace(path)

    def _read(self) -> _Content:
        return (self._folder / CERTIFICATE).read_bytes(), (self._folder / KEY).read_bytes()

    def _load_into(self, context: ssl.SSLContext) -> None:
        # Without the word, a key with a password would ask for it on the terminal.
        context.load_cert_chain(self._folder / CERTIFICATE, self._folder / KEY, password="")


def _new_context() -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    return context
