"""Certificates by the machine's own chance and time: the only module that makes keys, with the library for it."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from dynamo_controller.ports import Pair

VALID_DAYS = 365
"""Days for which a certificate and its authority are valid. Specification: operator-config.md section 14.5."""

_BACKDATED = dt.timedelta(minutes=5)
"""How much earlier than now a certificate begins, for servers whose clock is behind."""

LONGEST_NAME = 64
"""Characters of a common name; what clients look at is the list of names, which has no such limit."""

_AUTHORITY = "dynamo-controller webhook"

_SIGNS_CERTIFICATES = x509.KeyUsage(
    digital_signature=False,
    content_commitment=False,
    key_encipherment=False,
    data_encipherment=False,
    key_agreement=False,
    key_cert_sign=True,
    crl_sign=True,
    encipher_only=False,
    decipher_only=False,
)


class SystemAuthority:
    """`dynamo_controller.ports.Authority` with new keys of this machine."""

    def issued(self, names: Sequence[str]) -> Pair:
        """Return a new certificate for *names* by a new authority, whose key is forgotten."""
        start = _now() - _BACKDATED
        end = start + dt.timedelta(days=VALID_DAYS)
        signing, own = ec.generate_private_key(ec.SECP256R1()), ec.generate_private_key(ec.SECP256R1())
        # Authorities that follow each other must not have one name: a bundle may hold two.
        issuer = _named(f"{_AUTHORITY} {x509.random_serial_number():x}"[:LONGEST_NAME])
        authority = (
            _builder(issuer, issuer, signing.public_key(), start, end)
            .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
            .add_extension(_SIGNS_CERTIFICATES, critical=True)
            .add_extension(x509.SubjectKeyIdentifier.from_public_key(signing.public_key()), critical=False)
            .sign(signing, hashes.SHA256())
        )
        certificate = (
            _builder(_named(names[0][:LONGEST_NAME]), issuer, own.public_key(), start, end)
            .add_extension(x509.SubjectAlternativeName([x509.DNSName(name) for name in names]), critical=False)
            .add_extension(x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH]), critical=False)
            .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
            .add_extension(x509.AuthorityKeyIdentifier.from_issuer_public_key(signing.public_key()), critical=False)
            .sign(signing, hashes.SHA256())
        )
        return Pair(_pem(certificate), _key(own), _pem(authority))

    def days_left(self, pair: Pair, names: Sequence[str]) -> float:
        """Return for how many days *pair* can still be used for all of *names*; zero or less when it cannot."""
        try:
            certificate = x509.load_pem_x509_certificate(pair.certificate.encode())
            own = serialization.load_pem_private_key(pair.key.encode(), None)
            authorities = x509.load_pem_x509_certificates(pair.authority.encode())
            listed = certificate.extensions.get_extension_for_class(x509.SubjectAlternativeName)
            for_names = set(listed.value.get_values_for_type(x509.DNSName))
        except (ValueError, TypeError, x509.ExtensionNotFound):
            return 0.0
        fits = own.public_key() == certificate.public_key() and certificate.issuer in [a.subject for a in authorities]
        if not fits or not for_names >= set(names):
            return 0.0
        return (certificate.not_valid_after_utc - _now()) / dt.timedelta(days=1)


def _named(common_name: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, common_name)])


def _builder(
    subject: x509.Name,
    issuer: x509.Name,
    key: ec.EllipticCurvePublicKey,
    start: dt.datetime,
    end: dt.datetime,
) -> x509.CertificateBuilder:
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(key)
        .serial_number(x509.random_serial_number())
        .not_valid_before(start)
        .not_valid_after(end)
    )


def _now() -> dt.datetime:
    return dt.datetime.now(dt.UTC)


def _pem(certificate: x509.Certificate) -> str:
    return certificate.public_bytes(serialization.Encoding.PEM).decode()


def _key(key: ec.EllipticCurvePrivateKey) -> str:
    form, no_password = serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    return key.private_bytes(serialization.Encoding.PEM, form, no_password).decode()
