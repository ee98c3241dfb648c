#!/usr/bin/env python3
"""usage: healthcheck.py [SERVICE]
Checks that the container's server is up: grpc.health.v1 must answer SERVING for SERVICE (`ready`: it can do its work), or for
the whole server. It is for Docker, which has no gRPC probe, and for Kubernetes with TLS, which the kubelet's gRPC probes do
not support. It writes the one call as HTTP/2 bytes, since the image has no general gRPC client."""

import os
import pathlib
import socket
import ssl
import struct
import sys

SECONDS = 4
PORTS = {"coordinator": 7070, "store": 7071, "fetcher": 7072, "extractor": 7073, "validator": 7074, "deduplicator": 7075,
         "compiler": 7076, "runner": 7077}
PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
DATA, HEADERS, SETTINGS, PING, GOAWAY, RST_STREAM = 0x0, 0x1, 0x4, 0x6, 0x7, 0x3
END_STREAM, END_HEADERS, ACK = 0x1, 0x4, 0x1
SERVING = b"\0\0\0\0\x02\x08\x01"  # HealthCheckResponse{status: SERVING}


def frame(kind, flags, stream, payload=b""):
    return struct.pack(">I", len(payload))[1:] + struct.pack(">BBI", kind, flags, stream) + payload


def header(name, value):
    """A header field as HPACK writes one that it is not to remember: without Huffman's code."""
    return b"\0" + bytes([len(name)]) + name + bytes([len(value)]) + value


def message(service):
    """HealthCheckRequest{service}, not compressed; of the whole server it has no bytes."""
    name = service.encode()
    body = b"\x0a" + bytes([len(name)]) + name if name else b""
    return struct.pack(">BI", 0, len(body)) + body


def request(scheme, service):
    fields = [(b":method", b"POST"), (b":scheme", scheme), (b":path", b"/grpc.health.v1.Health/Check"),
              (b":authority", b"localhost"), (b"te", b"trailers"), (b"content-type", b"application/grpc")]
    block = b"".join(header(name, value) for name, value in fields)
    return (PREFACE + frame(SETTINGS, 0, 0) + frame(HEADERS, END_HEADERS, 1, block)
            + frame(DATA, END_STREAM, 1, message(service)))


def exactly(connection, size):
    data = b""
    while len(data) < size:
        more = connection.recv(size - len(data))
        if not more:
            raise ConnectionError("the server closed the connection")
        data += more
    return data


def ask(connection, scheme, service):
    """The bytes that the server answers."""
    connection.sendall(request(scheme, service))
    answer = b""
    while True:
        head = exactly(connection, 9)
        kind, flags = head[3], head[4]
        payload = exactly(connection, int.from_bytes(head[:3], "big"))
        if kind == DATA:
            answer += payload
        elif kind == SETTINGS and not flags & ACK:
            connection.sendall(frame(SETTINGS, ACK, 0))
        elif kind == PING and not flags & ACK:
            connection.sendall(frame(PING, ACK, 0, payload))
        elif kind in (GOAWAY, RST_STREAM):
            raise ConnectionError("the server refused the call")
        if kind in (DATA, HEADERS) and flags & END_STREAM:
            return answer


def check(port, tls, service=""):
    with socket.create_connection(("127.0.0.1", port), timeout=SECONDS) as plain:
        if not tls:
            return ask(plain, b"http", service)
        # It asks itself, and tells no secret: whose certificate answers does not matter.
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
        context.set_alpn_protocols(["h2"])
        with context.wrap_socket(plain) as connection:
            return ask(connection, b"https", service)


def server():
    """(role, command line) of the one server that runs in a container."""
    for folder in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            words = (folder / "cmdline").read_text(errors="replace").split("\0")
        except OSError:  # it has ended
            continue
        role = os.path.basename(words[0]).removeprefix("kernelmill-")
        if role in PORTS:
            return role, words
    sys.exit("healthcheck.py: no server runs here")


def setting(words, flag, otherwise):
    """Returns a flag's value from the command line, or else from the environment."""
    if flag in words[:-1]:
        return words[words.index(flag) + 1]
    return os.environ.get("KERNELMILL_" + flag[2:].replace("-", "_").upper()) or otherwise


def main():
    service = sys.argv[1] if sys.argv[1:] else ""
    role, words = server()
    port = int(setting(words, "--listen", f":{PORTS[role]}").rpartition(":")[2])
    try:
        answer = check(port, tls=bool(setting(words, "--tls-ca", "")), service=service)
    except OSError as error:
        sys.exit(f"healthcheck.py: {role} at port {port}: {error}")
    if answer != SERVING:
        sys.exit(f"healthcheck.py: {role} at port {port} is not serving" + (f": {service}" if service else ""))


if __name__ == "__main__":
    main()
