"""Faults at random: while jobs run, any process is killed (or all at once), stopped and continued, told to
end, cut off or half deaf, and the disks of the store and the coordinator fill up. After each job its
dataset must be that of a quiet run, and the ledger must add up. The sequence of faults follows from the
seed; the moments at which they meet the job do not, quite.

usage: random_loop.py [--seed N] [--minutes M]
"""

import argparse
import collections
import contextlib
import pathlib
import random
import signal
import sys
import time

import cluster as clusters
import harness
import lab
import shim as shims
import workload

WORKERS = ("fetcher", "extractor", "extractor", "validator", "deduplicator")
LEASE_TTL = 1.5
DRAIN_SECONDS = 5
DISK_MEGABYTES = 192
FAULTS_PER_JOB = 12
START_SECONDS = 3
FULL_SECONDS = 15  # how long after its disk has room again a process may still end because it had none
JOB_SECONDS = 180  # for a job to end once the faults are over


class Loop:
    """One long-lived cluster, and job after job on it. Not thread-safe: one fault at a time begins; those
    that last end when their time comes, whatever else has begun."""

    def __init__(self, stack, seed):
        self.random = random.Random(seed)
        self.network = lab.Network()
        self.workload = workload.Workload(stack, "0.0.0.0", lab.HUB)
        self.folder = self.workload.folder
        self.shim = shims.Shim(self.folder / "shim")
        self.shim.file_delay_us = 15_000
        self.disks = {name: lab.SmallDisk(self.folder / f"cluster/{name}", DISK_MEGABYTES)
                      for name in ("store", "coordinator")}
        for disk in self.disks.values():
            stack.callback(disk.close)
        self.cluster = stack.enter_context(
            clusters.ChaosCluster(self.folder / "cluster", LEASE_TTL, self.shim, self.network.place))
        for role in WORKERS:
            self.cluster.add_worker(role)
        for node in self.cluster.nodes.values():
            node.flags += ["--drain-seconds", DRAIN_SECONDS]
            node.spawn()
        for node in self.cluster.nodes.values():
            harness.wait_until(node.answers, f"{node.name} to listen", clusters.DEADLINE)
        self.counts = collections.Counter()
        self.pending = []  # (moment, what ends then)
        self.draining = {}  # node: since when
        self.full_until = {}  # node: when its disk had room again
        self.jobs = 0
        self.began = time.monotonic()

    # -- faults

    def strike(self):
        kind = self.random.choice(list(self.FAULTS))
        target = self.random.choice(list(self.cluster.nodes.values()))
        seconds = self.random.uniform(0.1, 2 * LEASE_TTL)
        self.say(f"{kind} {target.name} {seconds:.2f} s")
        done = self.FAULTS[kind](self, target, seconds)
        self.counts[done or kind] += 1

    def kill(self, target, seconds):
        target.kill()
        target.spawn()

    def kill_all(self, target, seconds):
        for node in self.cluster.nodes.values():
            if node.running():
                node.signal(signal.SIGKILL)
        for node in self.cluster.nodes.values():
            node.popen.wait()
            node.spawn()
        self.draining.clear()

    def stop(self, target, seconds):
        target.signal(signal.SIGSTOP)
        self.later(seconds, lambda popen=target.popen: popen.poll() is None and popen.send_signal(signal.SIGCONT))

    def terminate(self, target, seconds):
        target.signal(signal.SIGCONT)
        target.signal(signal.SIGTERM)
        self.draining[target.name] = time.monotonic()

    def partition(self, target, seconds):
        other = self.random.choice([n for n in self.cluster.nodes.values() if n is not target])
        self.network.cut(target.name, other.name)
        self.later(seconds, lambda: self.network.heal(target.name, other.name))

    def deafen(self, target, seconds):
        for name in self.cluster.nodes:
            if name != target.name:
                self.network.deafen(target.name, name)
        self.later(seconds, lambda: self.network.heal(target.name))

    def lose(self, target, seconds):
        self.network.lose(target.name, 0.3)
        self.later(seconds, lambda: self.network.heal(target.name))

    def fill(self, target, seconds):
        name = target.name if target.name in self.disks else "store"
        self.disks[name].fill()
        self.full_until[name] = time.monotonic() + seconds
        self.later(seconds, self.disks[name].free)
        return f"full disk: {name}"

    FAULTS = {"kill -9": kill, "kill -9 of all at once": kill_all, "SIGSTOP, SIGCONT": stop,
              "SIGTERM, restart": terminate, "partition": partition, "one way only": deafen,
              "30 % loss": lose, "full disk": fill}

    def later(self, seconds, end):
        self.pending.append((time.monotonic() + seconds, end))

    def end_due(self, all_of_them=False):
        now = time.monotonic()
        due = [end for moment, end in self.pending if all_of_them or moment <= now]
        self.pending = [] if all_of_them else [p for p in self.pending if p[0] > now]
        for end in due:
            end()

    # -- what a supervisor does

    def revive(self):
        """Starts again what has ended. A process may end by itself only where its disk was full."""
        for node in self.cluster.nodes.values():
            if node.running():
                told = self.draining.get(node.name)
                # Stopped meanwhile: the time to drain counts from when it runs again.
                if told is not None and time.monotonic() > told + DRAIN_SECONDS + 60:
                    raise AssertionError(f"{node.name} does not end on SIGTERM: {node.tail()}")
                continue
            status, told = node.popen.returncode, self.draining.pop(node.name, None)
            full = time.monotonic() < self.full_until.get(node.name, 0) + FULL_SECONDS
            # A signal that came before the program had begun to look for signals.
            early = told is not None and status == -signal.SIGTERM and told < node.spawned + START_SECONDS
            if not early and (status < 0 or not full and (told is None or status != 0)):
                raise AssertionError(f"{node.name} ended with {status}, {'on SIGTERM' if told else 'by itself'}: "
                                     f"{node.tail()}")
            if told is None:
                self.counts[f"restart after an error: {node.name}"] += 1
                time.sleep(0.2)
            node.spawn()

    # -- jobs

    def new_job(self):
        """A job with kernels that no job before it had, and its dataset from a quiet run."""
        self.jobs += 1
        self.workload.renew(salt=self.jobs)

    def run_job(self):
        self.new_job()
        out = self.folder / f"out-{self.jobs}"
        submission = self.cluster.submit(self.workload.job, out, f"submit-{self.jobs}")
        faults = 0
        try:
            while submission.running() and faults < FAULTS_PER_JOB:
                time.sleep(self.random.uniform(0.02, 0.6))
                self.end_due()
                self.revive()
                self.strike()
                faults += 1
            self.calm()
            self.await_end(submission)
        finally:
            submission.abandon()
        self.check(submission)

    def calm(self):
        self.end_due(all_of_them=True)
        for name in self.cluster.nodes:
            self.network.heal(name)

    def await_end(self, submission):
        def ended():
            self.revive()
            return not submission.running()
        try:
            harness.wait_until(ended, "the job to end", JOB_SECONDS, pause=0.1)
        except AssertionError as error:
            raise AssertionError(f"{error}: {self.cluster.status(submission.job)}") from None

    def check(self, submission):
        """The client may have given up on a store that was away while it exported: then we export."""
        for node in self.cluster.nodes.values():
            harness.wait_until(lambda n=node: self.revive() or n.answers(), f"{node.name} to be back",
                               clusters.DEADLINE)
        status = self.cluster.status(submission.job)
        assert status is not None, "the coordinator does not know a job that it acknowledged"
        workload.check_status(status)
        if submission.popen.returncode != 0:
            self.say(f"the client said {submission.popen.returncode}: {submission.log.read_text()[-300:].strip()}")
            self.counts["client gave up, exported anew"] += 1
            self.cluster.client("export", submission.job, "--out", submission.out)
        self.workload.check(submission.out)
        self.say(f"job {submission.job}: the dataset is that of a quiet run")

    def say(self, text):
        print(f"{time.monotonic() - self.began:8.2f} {text}", flush=True)

    def table(self):
        rows = [("jobs, each with the dataset of a quiet run", self.jobs), *sorted(self.counts.items())]
        width = max(len(what) for what, _ in rows)
        print("\n".join(f"{what:{width}}  {count:6}" for what, count in rows))
        kills = sum(n for what, n in self.counts.items() if what == "kill -9")
        kills += self.counts["kill -9 of all at once"] * len(self.cluster.nodes)
        print(f"{kills} processes killed, {self.jobs} jobs, 0 lost")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(1 << 32))
    parser.add_argument("--minutes", type=float, default=1)
    flags = parser.parse_args()
    sys.argv = [sys.argv[0], "--seed", str(flags.seed), "--minutes", str(flags.minutes)]
    lab.enter()
    print(f"seed {flags.seed}: replay with --seed {flags.seed}", flush=True)
    with contextlib.ExitStack() as stack:
        loop = Loop(stack, flags.seed)
        try:
            until = time.monotonic() + 60 * flags.minutes
            while time.monotonic() < until:
                loop.run_job()
        except BaseException:
            keep = pathlib.Path(f"/tmp/kernelmill-chaos-{flags.seed}")
            keep.mkdir(exist_ok=True)
            for log in (loop.folder / "cluster").glob("*.log"):
                (keep / log.name).write_bytes(log.read_bytes())
            print(f"FAILED with seed {flags.seed}; logs in {keep}", flush=True)
            raise
        loop.table()


if __name__ == "__main__":
    sys.exit(main())
