"""Faults at random: while jobs run, any process is killed (or all at once), stopped and continued, told to
end, cut off or half deaf; the disks of the store and the coordinator fill up; bits flip in the store's files; clocks
jump; the coordinator becomes that of another release and back; all processes are restarted one by one. The first job
is one that an older release left in the middle, in databases of older formats. After each job its dataset must be
that of a quiet run, and the ledger must add up. Only what a supervisor does by itself mends anything: it restarts
what ended, and repairs a store that says that it is damaged. The sequence of faults follows from the seed; the
moments at which they meet the job do not, quite.

usage: random_loop.py [--seed N] [--minutes M] [--job JOB.yaml [--quiet DATASET]]

--job: a job of real repositories in place of made ones, again and again; --quiet: its dataset, if there is one.
"""

import argparse
import collections
import contextlib
import json
import pathlib
import random
import re
import shutil
import signal
import sys
import time

import cluster as clusters
import damage
import formats
import harness
import lab
import shim as shims
import workload

WORKERS = ("fetcher", "extractor", "extractor", "validator", "deduplicator")
LEASE_TTL = 1.5
DRAIN_SECONDS = 5
KEPT_JOBS = 5  # older ones are deleted, as a user deletes them: a store drops nothing of a dataset that is held
START_SECONDS = 3
FULL_SECONDS = 15  # how long after its disk has room again a process may still end because it had none
RESTART_SECONDS = 0.5  # from one process to the next
JUMP_NS = 3600 * 10**9
MOST_DAMAGED = 1  # how often the store may be damaged during a job, which begins again twice and then fails
WRITTEN_AGAIN = "AssertFalseAndGetStatusForPrevError"
UNREPAIRED = "takes no writes until it is repaired"
DAMAGED = re.compile(rf'"code":"DATA_LOSS"|unfinished repair|{UNREPAIRED}')


def next_release(role):
    return harness.BIN / f"kernelmill-{role}-next"


class HumanNeeded(AssertionError):
    """Something that no supervisor mends."""


class Loop:
    """One long-lived cluster, and job after job on it. Not thread-safe: one fault at a time begins; those
    that last end when their time comes, whatever else has begun."""

    def __init__(self, stack, seed, minutes, make_workload):
        self.random = random.Random(seed)
        self.network = lab.Network()
        self.workload = work = make_workload()  # a quiet run needs the network
        self.folder = self.workload.folder
        self.shim = shims.Shim(self.folder / "shim")
        self.shim.file_delay_us = work.FILE_DELAY_US
        self.disks = {name: lab.SmallDisk(self.folder / f"cluster/{name}", work.DISK_MEGABYTES)
                      for name in ("store", "coordinator")}
        for disk in self.disks.values():
            stack.callback(disk.close)
        self.draining = {}  # node: since when
        self.lives = {}  # node: how much of its log is from earlier lives
        self.cluster = stack.enter_context(
            clusters.ChaosCluster(self.folder / "cluster", LEASE_TTL, self.shim, self.network.place))
        # Jobs follow each other for hours: without a limit a repair would have no room in the end.
        self.cluster.store.flags += ["--limit-bytes", str(work.LIMIT_MEGABYTES << 20)]
        self.cluster.coordinator.flags += ["--store", self.cluster.store.address]  # it releases the hold of the old job
        for role in WORKERS:
            self.cluster.add_worker(role)
        # Workers of both releases side by side; each gets tasks while the coordinator is of its own.
        self.cluster.add_worker("extractor", "extractor-next", program=next_release("extractor"))
        old = stack.enter_context(contextlib.ExitStack())
        self.found = old.enter_context(formats.unpacked(self.folder / "cluster"))
        self.old = old
        for node in self.cluster.nodes.values():
            node.flags += ["--drain-seconds", DRAIN_SECONDS]
            self.spawn(node)
        for node in self.cluster.nodes.values():
            harness.wait_until(node.answers, f"{node.name} to listen", clusters.DEADLINE)
        self.counts = collections.Counter()
        self.ended = []  # jobs, the oldest first
        self.pending = []  # (moment, what ends then)
        self.full_until = {}  # node: when its disk had room again
        self.jobs = self.lost = self.differing = self.human = 0
        self.damaged = 0  # how often in this job
        self.now = self.cluster.coordinator.program
        self.began = time.monotonic()
        self.until = self.began + 60 * minutes

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
        self.spawn(target)

    def kill_all(self, target, seconds):
        for node in self.cluster.nodes.values():
            if node.running():
                node.signal(signal.SIGKILL)
        for node in self.cluster.nodes.values():
            node.popen.wait()
            self.spawn(node)
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

    def flip_bits(self, target, seconds):
        """Damages tables and blob files of the stopped store, and now and then its log or list of files."""
        if self.damaged >= MOST_DAMAGED:
            return "kill -9" if self.kill(self.cluster.store, seconds) is None else None
        self.damaged += 1
        store = self.cluster.store
        store.kill()
        kinds = self.random.choice([(".sst",), (".blob",), (".sst", ".blob"), (".log",)])
        files = [f for f in damage.files(store.flags[1], *kinds) if f.parent == store.flags[1] and f.stat().st_size > 0]
        for file in self.random.sample(files, min(len(files), self.random.randint(1, 3))):
            size = damage.content_end(file) if file.suffix == ".log" else file.stat().st_size
            for _ in range(self.random.randint(1, 4)):
                if size:
                    damage.flip(file, self.random.randrange(size), self.random.randrange(8))
        self.spawn(store)
        return f"flipped bits: {' '.join(kinds)}"

    def jump(self, target, seconds):
        self.shim.clock_offset_ns = self.random.choice([-JUMP_NS, 0, JUMP_NS])

    def change_release(self, target, seconds):
        """The coordinator's next life is of the other release: it plans the job again."""
        coordinator = self.cluster.coordinator
        other = next_release("coordinator")
        coordinator.kill()
        coordinator.program = self.now if coordinator.program == other else other
        self.spawn(coordinator)
        return f"another release: {'now' if coordinator.program == self.now else 'next'}"

    def restart_all(self, target, seconds):
        """As an upgrade does: one by one, each told to end, with the job running and other faults beside it."""
        for turn, node in enumerate(self.cluster.nodes.values()):
            self.later(turn * RESTART_SECONDS, lambda n=node: n.running() and self.terminate(n, 0))

    FAULTS = {"kill -9": kill, "kill -9 of all at once": kill_all, "SIGSTOP, SIGCONT": stop,
              "SIGTERM, restart": terminate, "partition": partition, "one way only": deafen,
              "30 % loss": lose, "full disk": fill, "flipped bits": flip_bits, "clock jump": jump,
              "another release": change_release, "restart of all, one by one": restart_all}

    def later(self, seconds, end):
        self.pending.append((time.monotonic() + seconds, end))

    def end_due(self, all_of_them=False):
        now = time.monotonic()
        due = [end for moment, end in self.pending if all_of_them or moment <= now]
        self.pending = [] if all_of_them else [p for p in self.pending if p[0] > now]
        for end in due:
            end()

    # -- what a supervisor does

    def spawn(self, node):
        self.draining.pop(node.name, None)
        self.lives[node.name] = len(node.log.read_bytes()) if node.log.exists() else 0
        node.spawn()

    def last_life(self, node):
        """Returns the log of the node since it was started."""
        return node.log.read_bytes()[self.lives[node.name]:].decode(errors="replace")

    def repair(self, node):
        """A unit that finds the store damaged repairs it, and removes the old files."""
        done = harness.run(*node.prefix, harness.BIN / "kernelmill-store", "repair", "--data", node.flags[1], check=False)
        full = "RESOURCE_EXHAUSTED" in done.stderr or "No space left" in done.stderr
        if done.returncode not in (0, 1) or full:
            if not full:
                raise HumanNeeded(f"repair exited {done.returncode}: {done.stdout}{done.stderr}")
            return False
        for old in node.flags[1].glob("damaged-*"):
            shutil.rmtree(old)
        self.counts["repair of the store"] += 1
        self.say(f"repaired: {done.stdout.strip().splitlines()[-2:]}")
        return True

    def revive(self):
        """Starts again what has ended. A process may end by itself only where its disk was full."""
        for node in self.cluster.nodes.values():
            if node is self.cluster.store and node.running() and UNREPAIRED in self.last_life(node):
                node.kill()  # not ready, and says why: a unit stops and repairs it
                self.counts["the store finds a damaged table"] += 1
            if node.running():
                told = self.draining.get(node.name)
                # Stopped meanwhile: the time to drain counts from when it runs again.
                if told is not None and time.monotonic() > told + DRAIN_SECONDS + 60:
                    raise AssertionError(f"{node.name} does not end on SIGTERM: {node.tail()}")
                continue
            status, told = node.popen.returncode, self.draining.pop(node.name, None)
            until = self.full_until.get(node.name, 0) + FULL_SECONDS
            # On a busy machine a process takes long to open its database, and longer to end.
            full = time.monotonic() < until or (node.spawned < until and "No space left" in self.last_life(node))
            # A signal that came before the program had begun to look for signals.
            early = told is not None and status == -signal.SIGTERM and told < node.spawned + START_SECONDS
            if node is self.cluster.store and DAMAGED.search(self.last_life(node)):
                if self.repair(node):
                    self.spawn(node)
                continue
            # Debian builds RocksDB with assertions: one fails if a log is written again after a disk was full.
            asserted = full and status == -signal.SIGABRT and WRITTEN_AGAIN in self.last_life(node)
            self.counts["RocksDB's assertion on a full disk"] += asserted
            if not early and not asserted and (status < 0 or not full and (told is None or status != 0)):
                raise HumanNeeded(f"{node.name} ended with {status}, {'on SIGTERM' if told else 'by itself'}: "
                                  f"{node.tail()}")
            if told is None:
                self.counts[f"restart after an error: {node.name}"] += 1
                time.sleep(0.2)
            self.spawn(node)

    # -- jobs

    def new_job(self):
        """A job with kernels that no job before it had, and its dataset from a quiet run."""
        self.jobs += 1
        self.damaged = 0
        self.workload.renew(salt=self.jobs)

    def run_job(self):
        self.new_job()
        out = self.folder / f"out-{self.jobs}"
        submission = self.cluster.submit(self.workload.job, out, f"submit-{self.jobs}")
        faults = 0
        try:
            while submission.running() and faults < self.workload.FAULTS_PER_JOB and time.monotonic() < self.until:
                time.sleep(self.random.uniform(*self.workload.PAUSE_SECONDS))
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
            harness.wait_until(ended, "the job to end", self.workload.JOB_SECONDS, pause=0.1)
        except HumanNeeded:
            raise
        except AssertionError as error:
            raise HumanNeeded(f"{error}: {self.cluster.status(submission.job)}") from None

    def await_all(self):
        for node in self.cluster.nodes.values():
            harness.wait_until(lambda n=node: self.revive() or n.running() and self.answers(n), f"{node.name} to be back",
                               clusters.DEADLINE)

    @staticmethod
    def answers(node):
        try:
            return node.answers()
        except AssertionError:  # it has just ended: revive() says whether it may
            return False

    def run_again(self, submission):
        """As a script around the client: the store lost a part of the dataset, and the client says `retry`."""
        self.counts["retry, for a dataset that lost a part"] += 1
        self.await_all()
        self.cluster.client("retry", submission.job, "--wait", "--out", submission.out, "--reconnect-seconds", 60,
                            timeout=self.workload.JOB_SECONDS)

    def check(self, submission):
        """The client may have given up on a store that was away while it exported: then we export."""
        self.await_all()
        status = self.cluster.status(submission.job)
        if status is None:
            self.lost += 1
            raise AssertionError("the coordinator does not know a job that it acknowledged")
        if submission.popen.returncode != 0:
            said = submission.log.read_text()
            self.say(f"the client said {submission.popen.returncode}: {said[-300:].strip()}")
            if "kernelmill retry" in said[-1000:]:
                self.run_again(submission)
            else:
                self.counts["client gave up, exported anew"] += 1
                done = self.cluster.client("export", submission.job, "--out", submission.out, check=False)
                if done.returncode != 0:
                    if "kernelmill retry" not in done.stderr:
                        raise HumanNeeded(done.stderr)
                    self.run_again(submission)
            status = self.cluster.status(submission.job)
        workload.check_status(status)
        self.check_dataset(submission)
        self.ended.append(submission)
        if len(self.ended) > KEPT_JOBS:
            old = self.ended.pop(0)
            self.cluster.client("delete", old.job)
            shutil.rmtree(old.out)

    def check_dataset(self, submission):
        stages = json.loads((submission.out / "report.json").read_text())["stages"]
        of_next = int(stages["extract"]) == 1000
        try:
            if of_next:  # its own dataset: the same rows, under another version
                workload.check_ledger(submission.out)
                assert workload.rows(submission.out) == workload.rows(self.workload.quiet), "other rows"
                self.counts["jobs that ended under the next release"] += 1
            else:
                self.workload.check(submission.out)
        except AssertionError:
            self.differing += 1
            raise
        self.say(f"job {submission.job}: the dataset is that of a quiet run{', by its rows' if of_next else ''}")

    def end_old_job(self):
        """The job that the older release left in the middle, in databases that were upgraded at the start."""
        self.jobs += 1
        middle, _ = self.found["jobs"]
        for node in (self.cluster.store, self.cluster.coordinator):
            assert "upgrading the database" in node.tail(10**6), f"{node.name} had nothing to upgrade"
            self.counts["upgrade of an older format"] += 1
        self.cluster.client("watch", middle)
        out = self.folder / "out-old"
        self.cluster.client("export", middle, "--out", out)
        expected = formats.crawl_digest(self.folder, "middle")
        self.old.close()
        if harness.dataset_digest(out) != expected:
            self.differing += 1
            raise AssertionError(f"dataset {harness.dataset_digest(out)}, of a quiet run {expected}")
        self.say(f"job {middle}: the dataset is that of a quiet run, {expected}")

    def say(self, text):
        print(f"{time.monotonic() - self.began:8.2f} {text}", flush=True)

    def table(self):
        rows = [("jobs", self.jobs), *sorted(self.counts.items()), ("lost", self.lost), ("differing", self.differing),
                ("human needed", self.human)]
        width = max(len(what) for what, _ in rows)
        print("\n".join(f"{what:{width}}  {count:6}" for what, count in rows))
        kills = sum(n for what, n in self.counts.items() if what == "kill -9")
        kills += self.counts["kill -9 of all at once"] * len(self.cluster.nodes)
        print(f"{kills} processes killed, {self.jobs} jobs, {self.lost} lost, {self.differing} differing, "
              f"human needed: {self.human}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(1 << 32))
    parser.add_argument("--minutes", type=float, default=1)
    parser.add_argument("--job", type=pathlib.Path)
    parser.add_argument("--quiet", type=pathlib.Path)
    flags = parser.parse_args()
    sys.argv += ["--seed", str(flags.seed)]  # the namespaces' program has the same
    lab.enter()
    print(f"seed {flags.seed}: replay with --seed {flags.seed}", flush=True)
    with contextlib.ExitStack() as stack:
        def make_workload():
            if flags.job:
                return workload.RealWorkload(stack, flags.job, flags.quiet)
            return workload.Workload(stack, "0.0.0.0", lab.HUB)

        loop = Loop(stack, flags.seed, flags.minutes, make_workload)
        try:
            loop.end_old_job()
            while time.monotonic() < loop.until:
                loop.run_job()
        except BaseException:
            loop.human += loop.lost + loop.differing == 0 and not isinstance(sys.exc_info()[1], KeyboardInterrupt)
            loop.table()
            keep = pathlib.Path(f"/tmp/kernelmill-chaos-{flags.seed}")
            keep.mkdir(exist_ok=True)
            for log in (loop.folder / "cluster").glob("*.log"):
                (keep / log.name).write_bytes(log.read_bytes())
            prefix, _ = loop.cluster.place("client")
            said = harness.run(*prefix, harness.BIN / "kernelmill", "store", "stat", "--store", loop.cluster.store.address, check=False)
            print(said.stdout, flush=True)
            print(f"FAILED with seed {flags.seed}; logs in {keep}", flush=True)
            raise
        loop.table()


if __name__ == "__main__":
    sys.exit(main())
