"""Rows 11 to 13 of the faults: connections and streams that hang, completions that come twice, late, out of
order or forged, and requests that no client should send. The process that they meet stays within bounds,
and a job that runs meanwhile is not harmed."""

import os
import pathlib
import signal
import socket
import subprocess
import time
import unittest

import cluster as clusters
import harness
import workload

CLIENT = harness.BIN / "chaos_client"
MIB = 1 << 20
# The most that a server may use on top. Each connection is a file, and each unfinished call is a thread. The memory
# is what common/rpc/server.h allows for gRPC's buffers, and half as much for everything else.
MORE_FILES, MORE_THREADS, MORE_BYTES = 1200, 400, 1536 * MIB


def usage(node):
    """(open files, threads, resident bytes) of a process."""
    status = pathlib.Path(f"/proc/{node.popen.pid}/status").read_text()
    fields = dict(line.split(":", 1) for line in status.splitlines())
    files = len(os.listdir(f"/proc/{node.popen.pid}/fd"))
    return files, int(fields["Threads"]), int(fields["VmRSS"].split()[0]) * 1024


class Watched:
    """The most that some processes use while a test runs."""

    def __init__(self, test, nodes):
        self.test, self.before = test, {node: usage(node) for node in nodes}
        self.most = dict(self.before)

    def look(self):
        for node, most in self.most.items():
            self.most[node] = tuple(map(max, most, usage(node)))

    def assert_bounded(self):
        for node, most in self.most.items():
            files, threads, resident = (a - b for a, b in zip(most, self.before[node]))
            what = f"{node.name}: {files} more files, {threads} more threads, {resident >> 20} more MiB"
            print(f"[{what}] ", end="", flush=True)
            self.test.assertLess(files, MORE_FILES, what)
            self.test.assertLess(threads, MORE_THREADS, what)
            self.test.assertLess(resident, MORE_BYTES, what)


class Hanging(workload.ChaosTest):

    def connect(self, node, count, first_bytes):
        """`count` connections that say only this, and then nothing."""
        held = []
        self.stack.callback(lambda: [s.close() for s in held])
        for _ in range(count):
            s = socket.socket()
            s.settimeout(5)
            try:
                s.connect((node.host, node.port))
                s.sendall(first_bytes)
            except OSError:  # refused: that too is a bound
                s.close()
                continue
            held.append(s)
        return held

    def run_job_beside(self, cluster, watched):
        submission = self.submit(cluster)
        self.shim.file_delay_us = 0
        deadline = time.monotonic() + clusters.DEADLINE
        while submission.running() and time.monotonic() < deadline:
            watched.look()
            time.sleep(0.1)
        self.assert_unharmed(submission)
        watched.assert_bounded()

    def test_connections_that_say_nothing_or_little(self):
        preface = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
        with self.cluster() as cluster:
            nodes = (cluster.store, cluster.coordinator)
            watched = Watched(self, nodes)
            for node in nodes:
                for words in (b"", b"P", preface[:20], preface, preface + bytes([0, 0, 6, 4]), b"GET / HTTP/1.1\r\n"):
                    self.connect(node, 100, words)
                    watched.look()
            self.run_job_beside(cluster, watched)

    def test_a_flood_of_connections_that_come_and_go(self):
        with self.cluster() as cluster:
            nodes = (cluster.store, cluster.coordinator)
            watched = Watched(self, nodes)
            submission = self.submit(cluster)
            rounds = 0
            while submission.running() and rounds < 40:
                for node in nodes:
                    for s in self.connect(node, 50, os.urandom(40)):
                        s.close()
                watched.look()
                for node in nodes:  # it lets go of them while more come, however busy the machine is
                    harness.wait_until(lambda n=node: usage(n)[0] < watched.before[n][0] + MORE_FILES // 2,
                                       "files to be closed beside the flood", clusters.DEADLINE)
                rounds += 1
                self.shim.file_delay_us = 0
            self.assert_unharmed(submission)
            watched.assert_bounded()
            for node in nodes:  # and it has let go of them
                harness.wait_until(lambda n=node: usage(n)[0] < watched.before[n][0] + 200, "files to be closed",
                                   clusters.DEADLINE)

    def test_streams_that_stall(self):
        with self.cluster() as cluster:
            watched = Watched(self, (cluster.store,))
            stalled = subprocess.Popen([CLIENT, "stall", cluster.store.address, "300"], stdin=subprocess.PIPE,
                                       stdout=subprocess.PIPE, text=True)
            self.stack.callback(stalled.stdout.close)
            self.stack.callback(stalled.wait)
            self.stack.callback(stalled.stdin.close)
            self.assertEqual(stalled.stdout.readline().strip(), "stalled")
            self.run_job_beside(cluster, watched)


class Completions(workload.ChaosTest):

    def test_completions_lost_repeated_late_and_forged(self):
        with self.cluster(slow_ms=0, lease_ttl=2) as cluster:
            port, = clusters.take_ports(1)
            address = f"127.0.0.1:{port}"
            proxy = subprocess.Popen([CLIENT, "work-proxy", address, cluster.coordinator.address, "12"],
                                     stdout=subprocess.PIPE, text=True)
            self.stack.callback(proxy.stdout.close)
            self.stack.callback(lambda: (proxy.kill(), proxy.wait()))
            self.assertEqual(proxy.stdout.readline().strip(), "serving")
            for worker in cluster.workers():
                worker.end()
                worker.flags[worker.flags.index("--coordinator") + 1] = address
                worker.start()
            self.assert_unharmed(self.submit(cluster))
            proxy.send_signal(signal.SIGTERM)
            said = proxy.stdout.read()
            self.assertEqual(proxy.wait(clusters.DEADLINE), 0, said)
            for what in ("answer lost", "sent twice", "held back", "out of order", "replayed", "forged"):
                self.assertIn(what, said, "it was never tried")
            metrics = cluster.coordinator.metrics()
            stale = [line for line in metrics.splitlines() if 'outcome="stale"' in line]
            self.assertTrue(stale, metrics)


class Hostile(workload.ChaosTest):
    ALLOWED = {"INVALID_ARGUMENT", "RESOURCE_EXHAUSTED"}
    # Requests to which the protocol gives another code.
    ALSO = {"": "OK", "stream read: a negative offset": "OUT_OF_RANGE",
            "stream read: an offset behind its end": "OUT_OF_RANGE"}

    def test_requests_beyond_reason_are_refused_and_a_job_goes_on(self):
        with self.cluster() as cluster:
            nodes = (cluster.store, cluster.coordinator)
            watched = Watched(self, nodes)
            submission = self.submit(cluster)
            done = harness.run(CLIENT, "hostile", cluster.store.address, cluster.coordinator.address,
                               timeout=clusters.DEADLINE)
            watched.look()
            answers = dict(line.split("\t") for line in done.stdout.splitlines())
            self.assertGreater(len(answers), 60)
            wrong = {what: code for what, code in answers.items()
                     if code not in self.ALLOWED and code != self.ALSO.get(what)}
            self.assertEqual(wrong, {})
            self.assert_unharmed(submission)
            watched.assert_bounded()
            self.assertEqual([n.starts for n in nodes], [1, 1])


if __name__ == "__main__":
    unittest.main(verbosity=2)
