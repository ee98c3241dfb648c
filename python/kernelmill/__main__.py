"""Replaces this process with the program: the one that the wheel carries, or else the one in PATH. Called as a server
(kernelmill-store and so on), with the wheel's."""

from __future__ import annotations

import os
import shutil
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


MISSING = ("the program kernelmill is missing: pip install of a clone installs the module alone; build the program with "
           "deploy/quickstart.sh and add its folder, build/release/bin, to PATH, or name the program with KERNELMILL_PROGRAM, or install "
           "the wheel of a release")


def find_program() -> str | None:
    """Returns the path of the program: KERNELMILL_PROGRAM, the wheel's, or the one in PATH; None if all are missing."""
    named = os.environ.get("KERNELMILL_PROGRAM")
    if named or os.path.exists(PROGRAM):
        return named or PROGRAM
    found = shutil.which("kernelmill")
    # A script of a damaged wheel would start itself again and again.
    return None if found and os.path.realpath(found) == os.path.realpath(sys.argv[0]) else found


def main() -> None:
    called = os.path.basename(sys.argv[0])
    name = called if called.startswith("kernelmill-") else "kernelmill"
    program = find_program() if name == "kernelmill" else os.path.join(os.path.dirname(PROGRAM), name)
    if program is None:
        sys.exit(f"kernelmill: {MISSING}")
    try:
        os.execve(program, [name, *sys.argv[1:]], environment())
    except OSError as error:
        sys.exit(f"{name}: {program}: {error.strerror}")


if __name__ == "__main__":
    main()
