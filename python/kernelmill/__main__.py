"""Replaces this process with the program that the wheel carries."""

from __future__ import annotations

import os
import sys

PROGRAM = os.path.join(os.path.dirname(os.path.abspath(__file__)), "bin", "kernelmill")

# The wheel's TLS library comes from Debian: it reads this file of certificates, unless one of these variables is set.
DEBIAN_CERTIFICATES = "/etc/ssl/certs/ca-certificates.crt"
CERTIFICATE_VARIABLES = ("CURL_CA_BUNDLE", "SSL_CERT_FILE", "PIP_CERT", "REQUESTS_CA_BUNDLE")


def python_certificates() -> str | None:
    """Returns the file of certificates that this Python trusts, or else the one that pip trusts; None if both are missing."""
    import ssl

    file = ssl.get_default_verify_paths().cafile
    if file:
        return file
    for module in ("certifi", "pip._vendor.certifi"):
        try:
            file = str(__import__(module, fromlist=["where"]).where())
        except (ImportError, OSError):
            continue
        if os.path.exists(file):
            return file
    return None


def environment() -> dict[str, str]:
    """Returns an environment in which the program finds certificates and this Python, and asks its pip for the package index."""
    env = dict(os.environ)
    env.setdefault("KERNELMILL_PYTHON", sys.executable)
    if not any(env.get(name) for name in CERTIFICATE_VARIABLES) and not os.path.exists(DEBIAN_CERTIFICATES):
        certificates = python_certificates()
        if certificates:
            env["SSL_CERT_FILE"] = certificates
    if sys.prefix != sys.base_prefix and env.get("VIRTUAL_ENV") != sys.prefix:
        # Sets what `activate` sets: the user called venv/bin/kernelmill without it.
        env["VIRTUAL_ENV"] = sys.prefix
        env["PATH"] = os.path.join(sys.prefix, "bin") + os.pathsep + env.get("PATH", os.defpath)
    return env


def main() -> None:
    try:
        os.execve(PROGRAM, ["kernelmill", *sys.argv[1:]], environment())
    except OSError as error:
        sys.exit(f"kernelmill: {PROGRAM}: {error.strerror}")


if __name__ == "__main__":
    main()
