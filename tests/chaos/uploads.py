"""Blobs that the tests' own client uploads and reads back."""

import collections
import subprocess

import cluster as clusters
import harness


class Uploader:
    """`chaos_client put` in the background: `count` blobs of `size` bytes, the same for the same seed."""

    def __init__(self, test, store, seed, count, size):
        self.words = [store.address, seed, count, size]
        self.path = test.folder / f"put-{seed}"
        with open(self.path, "wb") as out:
            self.popen = subprocess.Popen([str(w) for w in (harness.BIN / "chaos_client", "put", *self.words)],
                                          stdout=out, stderr=out)
        test.stack.callback(self.end)

    def end(self):
        if self.running():
            self.popen.kill()
        self.popen.wait()

    def running(self):
        return self.popen.poll() is None

    def lines(self):
        return [line.split(" ", 1) for line in self.path.read_text().splitlines(keepends=True)
                if line.endswith("\n")]

    def stored(self):
        """The digests that the store has acknowledged, in order."""
        return [digest for digest, said in self.lines() if said.strip() == "stored"]

    def said(self, word):
        return any(word in said for _, said in self.lines())

    def wait(self):
        status = self.popen.wait(clusters.DEADLINE)
        assert status == 0, self.path.read_text()[-2000:]


def check(words):
    """{digest: what the store says of it, each way of reading}, in the order of upload."""
    done = harness.run(harness.BIN / "chaos_client", "check", *words, timeout=clusters.DEADLINE)
    found = collections.defaultdict(set)
    for line in done.stdout.splitlines():
        digest, verdict = line.split()
        found[digest].add(verdict)
    return found


def verdicts(words):
    """All that the store says of any of them."""
    return set().union(*check(words).values())


def asked(words):
    """The answers of FindMissing about them: FOUND, MISSING or both."""
    done = harness.run(harness.BIN / "chaos_client", "missing", *words, timeout=clusters.DEADLINE)
    return {line.split()[1] for line in done.stdout.splitlines()}
