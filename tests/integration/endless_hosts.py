"""A host whose answers never end: refs, messages and packs of git over smart HTTP and as a git daemon, pages and wheels
of a package index. It sends as fast as it can, or at a pace."""

import contextlib
import hashlib
import json
import socketserver
import threading
import time

import harness

COMMIT = b"c0ffee" + b"0" * 34
REF = COMMIT + b" HEAD"
CAPABILITIES = b"side-band-64k ofs-delta shallow filter no-progress allow-reachable-sha1-in-want agent=git/endless"
BLOCK = 60_000
UNHURRIED = 1000  # bytes a second
HASH = hashlib.sha256(b"a wheel").hexdigest()


def packet(content):
    """A line of git's protocol."""
    return b"%04x" % (len(content) + 4) + content


SHALLOW = packet(b"shallow-info\n") + packet(b"shallow " + COMMIT) + b"0001"


def refs():
    """Packets of refs, the same ones over and over: making others would take longer than to read them."""
    block = b"".join(packet(COMMIT + b" refs/heads/main-%d\n" % number) for number in range(20_000))
    while True:
        yield block


def messages():
    """Progress, in the second band."""
    while True:
        yield packet(b"\2" + b"Counting objects: " + b"9" * 900 + b"\r")


def pack():
    """A pack in the first band, whose only blob has a terabyte that is not compressed."""
    head = b"PACK\0\0\0\2\0\0\0\1" + bytes([0xb0] + [0x80] * 4 + [0x40])
    yield packet(b"\1" + head + b"\x78\x01")
    stored = b"\0" + BLOCK.to_bytes(2, "little") + (BLOCK ^ 0xffff).to_bytes(2, "little") + b"#" * BLOCK
    while True:
        yield packet(b"\1" + stored)


def page():
    """Files of a package index, in JSON."""
    yield b'{"meta": {"api-version": "1.0"}, "files": [0'
    while True:
        yield b', {"filename": "a-1.0-py3-none-any.whl", "url": "x"}' * 100


def wheel():
    while True:
        yield b"PK\3\4" + b"\0" * BLOCK


class Flow:
    """Writes to a connection and keeps to a pace."""

    def __init__(self, write, pace):
        self.write, self.pace = write, pace

    def send(self, blocks):
        """Sends until the other side has gone."""
        begun, sent, piece = time.monotonic(), 0, 4096 if not self.pace else max(1, self.pace // 10)
        for block in blocks:
            for at in range(0, len(block), piece if self.pace else len(block)):
                part = block[at:at + piece] if self.pace else block
                self.write(part)
                sent += len(part)
                if self.pace:
                    time.sleep(max(0, sent / self.pace - (time.monotonic() - begun)))


@contextlib.contextmanager
def timed(server, attack):
    """Notes how long a connection with an endless answer was held."""
    begun = time.monotonic()
    try:
        yield
    except OSError:
        pass  # the other side has had enough
    finally:
        with server.lock:
            server.held.setdefault(attack, []).append(time.monotonic() - begun)


class EndlessHttp(harness.SourceHandler):
    """At /PACE/ATTACK/...; a pace of 0 is as fast as it goes."""

    def begin(self, kind, status=200):
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.end_headers()

    def endless(self, blocks, before=b""):
        with timed(self.server, f"http {self.attack} {self.pace}"):
            self.wfile.write(before)
            Flow(self.wfile.write, int(self.pace)).send(blocks)

    def do_GET(self):
        _, self.pace, self.attack, rest = self.path.split("/", 3)
        {"page": self.index, "wheel": self.index}.get(self.attack, self.git)(rest, self.body())

    do_POST = do_GET

    def index(self, rest, _):
        if rest.endswith(".whl"):
            self.begin("application/octet-stream")
            return self.endless(wheel())
        self.begin("application/vnd.pypi.simple.v1+json")
        if self.attack == "page":
            return self.endless(page())
        name = rest.strip("/").split("/")[-1]
        files = [{"filename": f"{name}-1.0-py3-none-any.whl", "url": f"{name}-1.0-py3-none-any.whl", "hashes": {"sha256": HASH}}]
        self.wfile.write(json.dumps({"meta": {"api-version": "1.0"}, "name": name, "files": files}).encode())

    def git(self, rest, body):
        if rest.endswith("/info/refs?service=git-upload-pack"):  # by the git program alone: an old server
            self.begin("application/x-git-upload-pack-advertisement")
            self.wfile.write(packet(b"# service=git-upload-pack\n") + b"0000" + packet(REF + b"\0" + CAPABILITIES + b"\n"))
            if self.attack == "old-refs":
                return self.endless(refs())
            return self.wfile.write(b"0000")
        if self.attack.startswith("old-") and b"command=" in body[:40]:
            return self.begin("text/plain")  # does not understand version 2
        self.begin("application/x-git-upload-pack-result")
        if b"command=ls-refs" in body[:40]:
            if self.attack == "refs":
                return self.endless(refs())
            return self.wfile.write(packet(REF + b"\n") + b"0000")
        before = SHALLOW + packet(b"packfile\n")
        if b"command=fetch" not in body[:40]:  # git itself, which was offered version 0
            before = packet(b"shallow " + COMMIT) + b"0000"
            if b"done" not in body:  # the first of two rounds
                return self.wfile.write(before)
            before += packet(b"NAK\n")
        if "refs" in self.attack:  # a client that went another way to the refs gets no gigabytes
            self.pace = str(UNHURRIED)
        return self.endless(messages() if "progress" in self.attack else pack(), before)


class EndlessGit(socketserver.StreamRequestHandler):
    """A git daemon: git://host/PACE/ATTACK/..."""

    def read(self):
        """A packet; None for a flush or the end."""
        length = int(self.rfile.read(4) or b"0", 16)
        return self.rfile.read(length - 4) if length > 4 else None

    def handle(self):
        request = self.read() or b""
        _, self.pace, self.attack, _ = request.split(b" ", 1)[1].split(b"\0")[0].decode().split("/", 3)
        try:
            (self.version_2 if b"version=2" in request and not self.attack.startswith("old-") else self.version_0)()
        except OSError:
            pass

    def endless(self, blocks):
        with timed(self.server, f"git {self.attack} {self.pace}"):
            Flow(self.wfile.write, int(self.pace)).send(blocks)

    def send_pack(self):
        self.endless(messages() if "progress" in self.attack else pack())

    def version_0(self):
        self.wfile.write(packet(REF + b"\0" + CAPABILITIES + b"\n"))
        if "refs" in self.attack:
            return self.endless(refs())
        self.wfile.write(b"0000")
        wants = 0
        while (line := self.read()) is not None:
            wants += line.startswith(b"want ")
        if not wants:
            return None
        self.wfile.write(packet(b"shallow " + COMMIT) + b"0000")
        while (line := self.read()) is not None and not line.startswith(b"done"):
            pass
        self.wfile.write(packet(b"NAK\n"))
        return self.send_pack()

    def version_2(self):
        for line in (b"version 2\n", b"agent=git/endless\n", b"ls-refs\n", b"fetch=shallow filter\n", b"object-format=sha1\n"):
            self.wfile.write(packet(line))
        self.wfile.write(b"0000")
        while (command := self.read()) is not None:
            while self.read() is not None:
                pass  # a delimiter, too, is no packet
            if command.startswith(b"command=ls-refs"):
                while self.read() is not None:
                    pass
                if self.attack == "refs":
                    return self.endless(refs())
                self.wfile.write(packet(REF + b"\n") + b"0000")
                continue
            while self.read() is not None:
                pass
            self.wfile.write(SHALLOW + packet(b"packfile\n"))
            return self.send_pack()
        return None


class _Server(socketserver.ThreadingMixIn, socketserver.TCPServer):
    daemon_threads = True
    allow_reuse_address = True
    request_queue_size = 64


@contextlib.contextmanager
def endless_host():
    """Both servers; yields an object with the URLs `.http` and `.git`, and `.held`: {attack: [seconds that an endless
    answer was listened to]}."""
    lock, held = threading.Lock(), {}
    servers = []
    for handler in (EndlessHttp, EndlessGit):
        server = _Server(("127.0.0.1", 0), handler)
        server.lock, server.held = lock, held
        threading.Thread(target=server.serve_forever, daemon=True).start()
        servers.append(server)

    class Host:
        http = f"http://127.0.0.1:{servers[0].server_address[1]}"
        git = f"git://127.0.0.1:{servers[1].server_address[1]}"
    Host.held = held
    try:
        yield Host
    finally:
        for server in servers:
            server.shutdown()
            server.server_close()
