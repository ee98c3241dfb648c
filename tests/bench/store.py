#!/usr/bin/env python3
"""kernelmill-store against bazel-remote: the same client, the same load, on the same disk, in turns.

usage: store.py [--rounds N] [--connections 1,8,64] [--loads NAME,...] [--folder DIR] [--json FILE]

Prints how the servers were set up, and tables of medians over the rounds. Each round has fresh directories
in --folder (default: a new one beside the build); the servers are stopped and started between storing what
the reads ask for and reading it. A write counts when the server has answered it: both sync it before.
Needs tests/bench/store.sh, which builds store_bench and installs bazel-remote, to have run."""

import argparse
import json
import os
import pathlib
import shutil
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
BIN = pathlib.Path(os.environ.get("KERNELMILL_BIN", ROOT / "build/release/bin"))
PEER = ROOT / "build/peers/bazel-remote"
STORED = {"small": 4096, "large": 16}  # 16 MiB and 256 MiB of each kind
PEER_GIB = 200
CERTIFICATES = ROOT / "build/bench-certificates"

# name: what store_bench is asked for, whether content matters, and operations by connections.
LOADS = {
    "find": ("find", False, {1: 2000, 8: 5000, 64: 5000}),
    "find-half": ("find-half", False, {1: 2000, 8: 5000, 64: 5000}),
    "update": ("update", True, {1: 80, 8: 200, 64: 256}),
    "read": ("read", True, {1: 300, 8: 600, 64: 600}),
    "write": ("write", True, {1: 16, 8: 32, 64: 64}),
    "stream": ("stream", True, {1: 32, 8: 64, 64: 64}),
}
TITLES = {
    "find": "FindMissing, 100 digests, all there", "find-half": "FindMissing, 100 digests, half there",
    "update": "BatchUpdate, 64 x 4 KiB", "read": "BatchRead, 64 x 4 KiB",
    "write": "ByteStream Write, 16 MiB", "stream": "ByteStream Read, 16 MiB",
}


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Server:
    """A store as a process with a folder of its own."""

    def __init__(self, name, folder, command):
        self.name, self.folder, self.command, self.process = name, pathlib.Path(folder) / name, command, None
        self.folder.mkdir(parents=True)
        self.port = free_port()

    def start(self):
        with open(self.folder / "log", "ab") as log:
            self.process = subprocess.Popen(self.command(self.folder, self.port), stdout=log, stderr=log)
        give_up = time.monotonic() + 30
        while True:
            try:
                return socket.create_connection(("127.0.0.1", self.port), 1).close()
            except OSError:
                if self.process.poll() is not None or time.monotonic() > give_up:
                    raise SystemExit(f"{self.name} does not start:\n{(self.folder / 'log').read_text()[-2000:]}")
                time.sleep(0.05)

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(60)

    def cpu(self):
        """Seconds of processor time so far."""
        fields = pathlib.Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def written(self):
        """Bytes sent to the disk so far."""
        for line in pathlib.Path(f"/proc/{self.process.pid}/io").read_text().splitlines():
            if line.startswith("write_bytes:"):
                return int(line.split()[1])
        return 0


def ours(folder, port):
    return [BIN / "kernelmill-store", "--data", folder / "data", "--listen", f"127.0.0.1:{port}", "--metrics", ""]


def bazel_remote(mode):
    def command(folder, port):
        return [PEER, "--dir", folder / "data", "--max_size", str(PEER_GIB), "--storage_mode", mode,
                "--grpc_address", f"127.0.0.1:{port}", "--http_address", f"unix://{folder}/http",
                "--access_log_level", "none"]
    return command


def ours_with_tls(folder, port):
    return ours(folder, port) + identity("store")


def identity(name):
    return ["--tls-ca", CERTIFICATES / "ca.crt", "--tls-cert", CERTIFICATES / f"{name}.crt", "--tls-key",
            CERTIFICATES / f"{name}.key"]


SERVERS = {"ours": ours, "tls": ours_with_tls, "zstd": bazel_remote("zstd"), "plain": bazel_remote("uncompressed")}


def bench(server, load, source, **flags):
    command = [BIN / "store_bench", "--target", f"127.0.0.1:{server.port}", "--load", load]
    for flag, value in flags.items():
        command += [f"--{flag}", str(value)]
    if server.name == "tls":
        command += identity("extractor")
    done = subprocess.run(command + (["--source"] if source else []), capture_output=True, text=True, timeout=580)
    if done.returncode != 0:
        raise SystemExit(f"{server.name}: {load}: {done.stderr}")
    return json.loads(done.stdout)


def settle(servers, seconds=20):
    """Waits until no server does anything in the background, so that none pays for another's work."""
    os.sync()
    give_up = time.monotonic() + seconds
    while time.monotonic() < give_up:
        before = [s.cpu() for s in servers]
        time.sleep(0.25)
        if sum(s.cpu() for s in servers) - sum(before) < 0.02:
            return


def prepare(servers):
    """Stores what is read later, and starts the servers anew."""
    for server in servers:
        server.start()
        for source in (False, True):
            seed = 2 if source else 1
            bench(server, "update", source, seed=seed, operations=STORED["small"] // 64, connections=8)
            bench(server, "write", source, seed=seed, operations=STORED["large"], connections=4)
    settle(servers)
    for server in servers:
        server.stop()
        server.start()
    settle(servers)


def measure(server, servers, load, source, connections, round_number):
    """One load on one server, and what it cost the server, with what it did in the background after."""
    name, _, operations = LOADS[load]
    reads = load not in ("update", "write")
    number = list(LOADS).index(load)
    seed = (2 if source else 1) if reads else 10_000 + round_number * 1000 + number * 100 + connections
    stored = STORED["large" if load == "stream" else "small"]
    cpu, written = server.cpu(), server.written()
    result = bench(server, name, source, seed=seed, operations=operations[connections],
                   connections=connections, stored=stored)
    settle(servers)
    result["server_cpu"] = server.cpu() - cpu
    result["written"] = server.written() - written
    return result


def run_rounds(options, report):
    results = {}
    for round_number in range(options.rounds):
        folder = pathlib.Path(tempfile.mkdtemp(prefix="store-bench-", dir=options.folder))
        servers = [Server(name, folder, SERVERS[name]) for name in SERVERS if name in options.servers]
        try:
            prepare(servers)
            for load in options.loads:
                for source in (False, True) if LOADS[load][1] else (False,):
                    for connections in options.connections:
                        servers = servers[1:] + servers[:1]  # so that the first server changes
                        for server in servers:
                            result = measure(server, servers, load, source, connections, round_number)
                            by_server = results.setdefault((load, source, connections), {})
                            by_server.setdefault(server.name, []).append(result)
            report(f"round {round_number + 1} of {options.rounds} done; clearing away")
        finally:
            for server in servers:
                if server.process and server.process.poll() is None:
                    server.stop()
            shutil.rmtree(folder, ignore_errors=True)
    return results


def median(rows, value):
    return statistics.median(value(row) for row in rows)


def row_of(key, by_server):
    load, source, connections = key
    kind = {False: "random", True: "source"}[source] if LOADS[load][1] else ""
    rate = {s: median(r, lambda m: m["operations"] / m["seconds"]) for s, r in by_server.items()}
    p99 = {s: median(r, lambda m: m["p99"] * 1000) for s, r in by_server.items()}
    cpu = {s: median(r, lambda m: m["server_cpu"] / m["operations"] * 1000) for s, r in by_server.items()}
    mib = {s: median(r, lambda m: m["bytes"] / m["seconds"] / 2**20) for s, r in by_server.items()}
    disk = {s: median(r, lambda m: m["written"] / m["bytes"] if m["bytes"] else 0) for s, r in by_server.items()}
    return {"load": load, "content": kind, "connections": connections, "rate": rate, "mib": mib, "p99": p99,
            "cpu": cpu, "disk": disk}


def ratio(ours_value, theirs, less_is_better=False):
    if not theirs or not ours_value:
        return "-"
    return f"{(theirs / ours_value if less_is_better else ours_value / theirs):.2f}"


def print_table(rows, peers):
    for load in LOADS:
        mine = [r for r in rows if r["load"] == load]
        if not mine:
            continue
        print(f"\n{TITLES[load]}")
        head = ["content", "conns", "ours op/s", "MiB/s", "p99 ms", "cpu ms/op", "disk/byte"]
        for peer in peers:
            head += [f"{peer} op/s", "p99 ms", "cpu ms/op", "disk/byte", "RATIO op/s", "p99 ratio"]
        table = [head]
        for r in mine:
            line = [r["content"], str(r["connections"]), f"{r['rate']['ours']:.1f}", f"{r['mib']['ours']:.0f}",
                    f"{r['p99']['ours']:.1f}", f"{r['cpu']['ours']:.2f}", f"{r['disk']['ours']:.2f}"]
            for peer in peers:
                line += [f"{r['rate'][peer]:.1f}", f"{r['p99'][peer]:.1f}", f"{r['cpu'][peer]:.2f}",
                         f"{r['disk'][peer]:.2f}", ratio(r["rate"]["ours"], r["rate"][peer]),
                         ratio(r["p99"]["ours"], r["p99"][peer], less_is_better=True)]
            table.append(line)
        widths = [max(len(line[i]) for line in table) for i in range(len(head))]
        for line in table:
            print("  ".join(cell.rjust(width) for cell, width in zip(line, widths)))


def print_setting(options):
    mount = subprocess.run(["findmnt", "-no", "SOURCE,FSTYPE", "-T", options.folder], capture_output=True, text=True)
    print(f"ours: kernelmill-store, its defaults, every write synced to disk before its answer\n"
          f"zstd: {PEER.resolve().name}, --storage_mode zstd (its default; zstd in Go)\n"
          f"plain: the same with --storage_mode uncompressed; both --max_size {PEER_GIB} (GiB), access log off; it\n"
          f"  syncs each file before it answers, but not the folder that names it\n"
          f"tls: ours, with mutual TLS on each connection\n"
          f"client: store_bench, one call at a time on each connection, on the same machine; {os.cpu_count()} cores;"
          f" {mount.stdout.strip()}\n"
          f"content: random bytes, or text like source code; medians of {options.rounds} rounds. cpu is the server's"
          f" with what it does in the\n  background after; disk is bytes written to disk for each byte stored."
          f" A RATIO over 1: ours is better")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    names = lambda text: text.split(",")  # noqa: E731
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--connections", type=lambda text: [int(n) for n in text.split(",")], default=[1, 8, 64])
    parser.add_argument("--loads", type=names, default=list(LOADS))
    parser.add_argument("--servers", type=names, default=["ours", "zstd", "plain"])
    parser.add_argument("--folder", default=str(ROOT / "build"))
    parser.add_argument("--json", help="where to leave the rows")
    options = parser.parse_args()
    peers = [PEER] if {"zstd", "plain"} & set(options.servers) else []
    for program in (BIN / "store_bench", BIN / "kernelmill-store", *peers):
        if not program.exists():
            sys.exit(f"store.py: no {program}: run tests/bench/store.sh")
    if "tls" in options.servers:
        subprocess.run([ROOT / "deploy/certs.sh", CERTIFICATES], check=True, stdout=subprocess.DEVNULL)
    print_setting(options)
    results = run_rounds(options, lambda text: print(text, file=sys.stderr, flush=True))
    rows = [row_of(key, by_server) for key, by_server in results.items()]
    print_table(rows, [s for s in options.servers if s != "ours"])
    if options.json:
        pathlib.Path(options.json).write_text(json.dumps(rows, indent=1))


if __name__ == "__main__":
    main()
