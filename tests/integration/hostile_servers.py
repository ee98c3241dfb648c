"""Git servers that do not keep to the protocol, and wheels that no honest tool would write."""

import gzip
import io
import threading
import zipfile

import harness

FLOOD_BYTES = 64 << 20  # more than the 16 MiB of refs that a fetcher listens to


def packet(content):
    """A line of git's protocol."""
    return b"%04x" % (len(content) + 4) + content


class FaultyGit(harness.GitHandler):
    """A git server that at /FAULT/NAME.git serves NAME.git with that fault; `server.paths` has every path that was
    asked for, `server.released` ends what is held up, `server.sent` are the objects of canned packs that went out."""

    def do_GET(self):
        self.server.paths.append(self.path)
        fault, _, rest = self.path[1:].partition("/")
        self.fault = getattr(self, "spoil_" + fault.replace("-", "_"), None)
        if self.fault:
            self.path = "/" + rest
        answer = getattr(self, "answer_" + fault.replace("-", "_"), None)
        return answer() if answer else self.serve(self.body())

    do_POST = do_GET

    def reply(self, head, content):
        if self.fault and b"packfile\n" in content:
            return self.fault(head, content)
        super().reply(head, content)

    # -- in the middle of a pack

    def spoil_truncated(self, head, content):
        self.wfile.write(head + content[:len(content) // 2])

    def spoil_flipped(self, head, content):
        middle = content.index(b"PACK") + (len(content) - content.index(b"PACK")) // 2
        self.wfile.write(head + content[:middle] + bytes([content[middle] ^ 0xff]) + content[middle + 1:])

    def spoil_checksum(self, head, content):
        self.wfile.write(head + content[:-10] + bytes([content[-10] ^ 1]) + content[-9:])  # before the final 0000

    def spoil_stalled(self, head, content):
        self.wfile.write(head + content[:len(content) // 2])
        self.wfile.flush()
        self.server.released.wait(120)

    # -- instead of an answer

    def answer_canned(self):
        """Answers a request for one of `server.canned`, {object: pack}, with that pack, and others as usual."""
        self.path = self.path.removeprefix("/canned")
        body = self.body()
        text = gzip.decompress(body) if self.headers.get("Content-Encoding") == "gzip" else body
        oid = next((oid for oid in self.server.canned if b"want " + oid.encode() in text), None)
        if oid is None:
            return self.serve(body)
        self.server.sent.add(oid)
        pack = self.server.canned[oid]
        self.say("200 OK", "application/x-git-upload-pack-result",
                 packet(b"packfile\n") + packet(b"\1" + pack) + b"0000")

    def answer_silent(self):
        self.server.released.wait(120)

    def answer_dumb(self):
        self.say("200 OK", "text/plain", b"0" * 40 + b"\trefs/heads/main\n")

    def answer_page(self):
        self.say("200 OK", "text/html", b"<html>Log in first</html>")

    def answer_broken(self):
        self.say("503 Service Unavailable", "text/plain", b"later")

    def answer_login(self):
        self.say("401 Unauthorized", "text/plain", b"who are you?", "WWW-Authenticate: Basic realm=x")

    def answer_old(self):
        """Speaks version 0 of git's protocol alone, as servers before 2018 do."""
        self.path = self.path.removeprefix("/old")
        del self.headers["Git-Protocol"]
        return self.serve(self.body())

    def answer_signin(self):
        self.say("302 Found", "text/html", b"", f"Location: {self.server.url}/users/sign_in")

    def answer_circle(self):
        self.say("302 Found", "text/plain", b"", f"Location: {self.path}")

    def answer_flood(self):
        """More refs than anyone has."""
        if self.command == "GET":
            self.path = self.path.removeprefix("/flood")
            return self.serve(b"")
        self.wfile.write(b"HTTP/1.0 200 OK\r\nContent-Type: application/x-git-upload-pack-result\r\n\r\n")
        line = b"%s refs/heads/main\n" % (b"a" * 40)
        block = (b"%04x" % (len(line) + 4) + line) * 4096
        try:
            for _ in range(FLOOD_BYTES // len(block)):
                self.wfile.write(block)
        except OSError:
            pass  # the client has closed the connection

    def say(self, status, kind, body, *headers):
        head = "\r\n".join([f"HTTP/1.0 {status}", f"Content-Type: {kind}", *headers, "", ""])
        self.wfile.write(head.encode() + body)


def faulty_git_server(folder, **kwargs):
    return harness.git_server(folder, FaultyGit, paths=[], canned={}, sent=set(), released=threading.Event(), **kwargs)


# ---------------------------------------------------------------- wheels

INFO = "bad_kernels-1.0.dist-info"


def wheel(folder, members, name="bad_kernels"):
    """Writes a wheel of [(name or ZipInfo, bytes)], as they are given; returns its path."""
    about = [(f"{INFO}/METADATA", b"Metadata-Version: 2.4\nName: bad-kernels\nVersion: 1.0\nLicense-Expression: MIT\n"),
             (f"{INFO}/WHEEL", b"Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n"),
             (f"{INFO}/licenses/LICENSE", harness.MIT_TEXT.encode())]
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", zipfile.ZIP_DEFLATED) as archive:
        for member, content in members + about:
            archive.writestr(member, content)
    path = folder / f"{name}-1.0-py3-none-any.whl"
    path.write_bytes(data.getvalue())
    return path


def link(name, target):
    """A member that is a symbolic link."""
    info = zipfile.ZipInfo(name)
    info.create_system = 3
    info.external_attr = 0o120777 << 16
    return info, target.encode()
