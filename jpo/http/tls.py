"""TLS certificates: checks of the files before any request, and explanations of failed handshakes.

OpenSSL's reasons are recognised, not repeated.
"""

import ssl
from functools import partial
from pathlib import Path

from jpo.errors import UsageError
from jpo.files.reading import beginning


def check_files(ca_file: Path | None, client_cert: tuple[Path, Path] | None) -> None:
    """Check that OpenSSL can load the authorities to trust, and our own certificate with its key; UsageError JPO-E114 if not."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    remedy = "name PEM files, and a key without a password"
    for file in (ca_file, *(client_cert or ())):
        if file:  # OpenSSL would wait for the writer of a pipe
            beginning(file, 1, partial(UsageError, str(file), remedy=remedy, code="JPO-E114"))
    try:
        if ca_file:
            context.load_verify_locations(ca_file)
    except OSError as error:  # ssl.SSLError is one
        raise UsageError(str(ca_file), f"ca_file cannot be used: {_why_not_loaded(error)}", remedy, code="JPO-E114") from error
    try:
        if client_cert:
            context.load_cert_chain(*client_cert, password=_no_password)
    except (OSError, ValueError) as error:
        files = " and ".join(dict.fromkeys(map(str, client_cert or ())))
        finding = f"client certificate cannot be used: {_why_not_loaded(error)}"
        raise UsageError(files, finding, remedy, code="JPO-E114") from error


def _no_password() -> str:
    """Called for an encrypted key: OpenSSL would ask on the terminal, and a CI job would wait for ever."""
    raise ValueError("the key is encrypted")


def _why_not_loaded(error: OSError | ValueError) -> str:
    if "KEY_VALUES_MISMATCH" in str(error):
        return "the key belongs to another certificate"
    if isinstance(error, ssl.SSLError):
        return "OpenSSL finds no certificate or key in it"
    return str(error.strerror if isinstance(error, OSError) else error)


def why_refused(text: str) -> tuple[str, str]:
    """Finding and remedy for a connection that OpenSSL gave up with this text."""
    if "UNKNOWN_CA" in text:  # an alert of the server
        return "the server does not trust our client certificate", "have cert_file signed by an authority which the server trusts"
    if "CERTIFICATE_REQUIRED" in text or "HANDSHAKE_FAILURE" in text or "BAD_CERTIFICATE" in text:
        return "the server asks for a client certificate", "set cert_file and key_file"
    if "EOF" in text:  # all that is seen of TLS 1.3's alert when the server hangs up at once
        return "the server ended the TLS connection", "set cert_file and key_file if it asks for a client certificate"
    if "has expired" in text:
        return "certificate is not trusted (it has expired)", "renew the server's certificate"
    if "mismatch" in text:
        return "certificate is not trusted (it names another host)", "write the host name which the certificate names"
    if "CERTIFICATE_VERIFY" in text:
        return "certificate is not trusted", "set ca_file to the server's certificate authority; is it https?"
    return "TLS handshake failed", "set ca_file to the server's certificate authority; is it https?"
