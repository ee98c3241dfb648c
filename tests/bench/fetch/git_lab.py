#!/usr/bin/env python3
"""A git server on the loopback interface, and proxies before it that add distance and count.

usage: git_lab.py FOLDER [--delay-ms N] [--hosts N]

Serves the bare repositories below FOLDER over smart HTTP 1.1 with git http-backend. Prints one line of JSON:
the URLs at which it answers, one for each host (127.0.0.1, 127.0.0.2, ...). Each is a TCP proxy that hands on
every chunk --delay-ms later, in either direction, and lets a new connection wait for one round trip more, as
a handshake would; it limits no bandwidth. Reads lines from standard input: at each it prints its counters so
far as one line of JSON; it ends when standard input does."""

import argparse
import asyncio
import http.server
import json
import os
import pathlib
import resource
import subprocess
import sys
import threading

CHUNK = 256 << 10  # bytes


class Counters:
    """The traffic so far: bytes of the application in either direction, connections and requests."""

    def __init__(self):
        self.down = self.up = self.connections = self.requests = 0

    def snapshot(self):
        cpu = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
        return dict(vars(self), cpu=sum(c.ru_utime + c.ru_stime for c in cpu))


class GitHandler(http.server.BaseHTTPRequestHandler):
    """Streams every request through git http-backend, as a web server's CGI would; connections stay open."""
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def log_message(self, *_):
        pass

    def _environment(self):
        path, _, query = self.path.partition("?")
        return dict(os.environ, GIT_PROJECT_ROOT=str(self.server.folder), GIT_HTTP_EXPORT_ALL="1", PATH_INFO=path,
                    QUERY_STRING=query, REQUEST_METHOD=self.command, REMOTE_ADDR="127.0.0.1",
                    CONTENT_TYPE=self.headers.get("Content-Type", ""),
                    GIT_PROTOCOL=self.headers.get("Git-Protocol", ""),
                    HTTP_CONTENT_ENCODING=self.headers.get("Content-Encoding", ""),
                    GIT_CONFIG_COUNT="1", GIT_CONFIG_KEY_0="safe.directory", GIT_CONFIG_VALUE_0="*")

    def _body(self):
        if self.headers.get("Transfer-Encoding", "").lower() != "chunked":
            return self.rfile.read(int(self.headers.get("Content-Length") or 0))
        body = b""
        while size := int(self.rfile.readline().strip() or b"0", 16):
            body += self.rfile.read(size)
            self.rfile.readline()
        self.rfile.readline()
        return body

    def _send_head(self, backend):
        """Turns the CGI's header lines into a reply's; returns whether there was one."""
        status, headers = 200, []
        while line := backend.stdout.readline().strip():
            name, _, value = line.decode().partition(": ")
            if name.lower() == "status":
                status = int(value.split()[0])
            else:
                headers.append((name, value))
        self.send_response(status)
        for name, value in headers + [("Transfer-Encoding", "chunked")]:
            self.send_header(name, value)
        self.end_headers()

    def _serve(self):
        self.server.counters.requests += 1
        body = self._body()
        with subprocess.Popen(["git", "http-backend"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                              stderr=subprocess.DEVNULL, env=self._environment()) as backend:
            threading.Thread(target=self._feed, args=(backend.stdin, body), daemon=True).start()
            self._send_head(backend)
            while data := backend.stdout.read1(CHUNK):
                self.wfile.write(b"%x\r\n" % len(data) + data + b"\r\n")
            self.wfile.write(b"0\r\n\r\n")

    @staticmethod
    def _feed(pipe, body):
        try:
            with pipe:
                pipe.write(body)
        except BrokenPipeError:
            pass

    do_GET = do_POST = _serve


class Proxy:
    """Hands on what clients and the server at `port` say to each other, `delay` seconds later."""

    def __init__(self, port, delay, counters):
        self.port, self.delay, self.counters = port, delay, counters

    async def serve(self, reader, writer):
        self.counters.connections += 1
        to_server, from_server = None, None
        try:
            from_server, to_server = await asyncio.open_connection("127.0.0.1", self.port)
            await asyncio.gather(self._pump(reader, to_server, "up", 2 * self.delay),
                                 self._pump(from_server, writer, "down", 0))
        except (ConnectionError, asyncio.CancelledError):
            pass
        finally:
            for end in (writer, to_server):
                if end:
                    end.close()

    async def _pump(self, reader, writer, direction, handshake):
        """`handshake`: seconds that the first chunk waits longer."""
        chunks, clock = asyncio.Queue(), asyncio.get_running_loop().time
        sender = asyncio.create_task(self._send(chunks, writer))
        opened = clock() + handshake
        while True:
            data = await reader.read(CHUNK)
            setattr(self.counters, direction, getattr(self.counters, direction) + len(data))
            chunks.put_nowait((max(clock(), opened) + self.delay, data))
            if not data:
                break
        await sender

    async def _send(self, chunks, writer):
        clock = asyncio.get_running_loop().time
        while True:
            due, data = await chunks.get()
            if due > clock():
                await asyncio.sleep(due - clock())
            if not data:
                break
            writer.write(data)
            await writer.drain()
        if writer.can_write_eof():
            writer.write_eof()


def start_server(folder, counters):
    """The git server, in threads of its own; returns its port."""
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), GitHandler)
    server.daemon_threads = True
    server.request_queue_size = 128
    server.folder, server.counters = folder, counters
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server.server_address[1]


async def answer_questions(counters):
    loop = asyncio.get_running_loop()
    while await loop.run_in_executor(None, sys.stdin.readline):
        print(json.dumps(counters.snapshot()), flush=True)


async def run(options):
    counters = Counters()
    proxy = Proxy(start_server(options.folder.resolve(), counters), options.delay_ms / 1000, counters)
    urls = []
    for host in (f"127.0.0.{n + 1}" for n in range(options.hosts)):
        listener = await asyncio.start_server(proxy.serve, host, 0, limit=CHUNK, backlog=128)
        urls.append(f"http://{host}:{listener.sockets[0].getsockname()[1]}")
    print(json.dumps(urls), flush=True)
    await answer_questions(counters)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--delay-ms", type=float, default=0, help="in each direction")
    parser.add_argument("--hosts", type=int, default=1)
    asyncio.run(run(parser.parse_args()))
    os._exit(0)  # threads of connections that are still open are not waited for


if __name__ == "__main__":
    main()
