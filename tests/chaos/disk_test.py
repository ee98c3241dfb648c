"""Rows 7 and 8 of the faults: disks that fill up, and disks on which fsync fails, under the store and the
coordinator. They do not acknowledge data that they cannot keep, acknowledged data is still there, and once the disk
works again the job ends as if nothing had happened."""

import json
import time
import unittest

import cluster as clusters
import harness
import lab
import shim as shims
import workload
from uploads import Uploader, check, verdicts

KIB = 1 << 10
EIO = 5


class FullDisk(workload.ChaosTest):
    MEGABYTES = 224

    def disk_of(self, name):
        disk = lab.SmallDisk(self.folder / "cluster" / name, self.MEGABYTES)
        self.stack.callback(disk.close)
        return disk

    def test_a_full_store_refuses_writes_serves_reads_and_recovers(self):
        disk = self.disk_of("store")
        with self.cluster(lease_ttl=5) as cluster:
            early = Uploader(self, cluster.store, 1, 100, 20 * KIB)
            early.wait()
            submission = self.submit(cluster)
            submission.wait_until_done(10)
            disk.fill()
            late = [Uploader(self, cluster.store, seed, 200, 200 * KIB) for seed in (2, 3, 4)]
            harness.wait_until(lambda: all(u.said("RESOURCE_EXHAUSTED") for u in late) or not cluster.store.running(),
                               "writes to be refused", clusters.DEADLINE)
            self.assertTrue(cluster.store.running(), cluster.store.tail())
            self.assertEqual(verdicts(early.words), {"OK"}, "reads do not work while the disk is full")
            self.assertTrue(submission.running(), submission.log.read_text())
            self.assertTrue(cluster.store.running(), cluster.store.tail())
            told = [upload.stored() for upload in late]
            for upload in late:
                upload.end()  # or they would fill what is free again
            disk.free()
            for upload, digests in zip(late, told):
                found = check(upload.words)
                self.assertEqual([d for d in digests if found[d] != {"OK"}], [], "acknowledged, and lost")
                self.assertLessEqual(set().union(*found.values()), {"OK", "NOT_FOUND"})
            again = Uploader(self, cluster.store, 5, 20, 20 * KIB)
            again.wait()
            self.assertEqual(verdicts(again.words), {"OK"})
            self.assert_unharmed(submission)
            self.assertEqual(cluster.store.starts, 1)

    def test_a_job_waits_for_a_full_store_as_long_as_it_takes(self):
        disk = self.disk_of("store")
        with self.cluster(lease_ttl=5, max_attempts=2, slow_ms=150) as cluster:
            submission = self.submit(cluster)
            submission.wait_until_done(6)
            disk.fill()
            # These use up the space that RocksDB has set aside for its log.
            late = [Uploader(self, cluster.store, seed, 200, 200 * KIB) for seed in (2, 3, 4)]
            harness.wait_until(lambda: all(u.said("RESOURCE_EXHAUSTED") for u in late), "writes to be refused",
                               clusters.DEADLINE)
            harness.wait_until(lambda: "waits for the store: " in json.dumps(cluster.status(submission.job) or {})
                               or not submission.running(), "the job to say what it waits for", clusters.DEADLINE)
            self.assertTrue(submission.running(), submission.log.read_text())
            time.sleep(12)  # two attempts at a task are over much sooner
            self.assertFalse((cluster.status(submission.job) or {}).get("failures"))
            for upload in late:
                upload.end()
            disk.free()
            self.assert_unharmed(submission, seconds=240)

    def test_a_store_that_finds_its_disk_full_says_so_and_starts_later(self):
        disk = self.disk_of("store")
        with self.cluster() as cluster:
            upload = Uploader(self, cluster.store, 1, 100, 100 * KIB)
            upload.wait()
            submission = self.submit(cluster)
            submission.wait_until_done(6)
            cluster.store.kill()
            disk.fill()
            cluster.store.spawn()
            time.sleep(1)  # it may serve what it has, or end and say why
            if not cluster.store.running():
                self.assertGreater(cluster.store.popen.returncode, 0, cluster.store.tail())
                self.assertIn("RESOURCE_EXHAUSTED", cluster.store.tail())
            disk.free()
            cluster.store.end()
            cluster.store.start()
            self.assertEqual(verdicts(upload.words), {"OK"})
            self.assert_unharmed(submission)

    def test_a_full_coordinator_loses_nothing_that_it_acknowledged(self):
        disk = self.disk_of("coordinator")
        small = self.workload.write_job("small.yaml", workload.job_text(self.workload.url, range(3, 16), "small"))
        with self.cluster(slow_ms=200) as cluster:
            submission = self.submit(cluster)
            submission.wait_until_done(10)
            disk.fill()
            told, refused = [], None
            deadline = time.monotonic() + clusters.DEADLINE
            while refused is None and time.monotonic() < deadline:
                done = cluster.client("submit", small, check=False)
                if done.returncode == 0:
                    told.append(done.stdout.strip())
                else:
                    refused = done.stderr
                if len(told) > 2000:
                    break
                if len(told) % 20 == 10 and cluster.coordinator.running():
                    # After a restart, the space that it has set aside for its log runs out sooner.
                    cluster.coordinator.kill()
                    cluster.coordinator.spawn()
            self.assertIsNotNone(refused, f"{len(told)} jobs were taken on a full disk")
            if not cluster.coordinator.running():
                self.assertGreater(cluster.coordinator.popen.returncode, 0, cluster.coordinator.tail())
            self.assertRegex(cluster.coordinator.tail(), "RESOURCE_EXHAUSTED|No space left")
            disk.free()
            harness.wait_until(lambda: supervised(cluster.coordinator), "the coordinator", clusters.DEADLINE)
            listed = {line.split()[0] for line in cluster.client("jobs").stdout.splitlines()}
            self.assertEqual([job for job in told if job not in listed], [], "acknowledged, and lost")
            self.assert_unharmed(submission, seconds=240)


class FullDiskOfACrawl(workload.ChaosTest):
    MEGABYTES, PATIENCE = 160, 60  # the crawl's own; it needs some time more to notice and to stop

    def test_a_crawl_ends_with_words_and_goes_on_when_there_is_room(self):
        disk = lab.SmallDisk(self.folder / "data", self.MEGABYTES)
        self.stack.callback(disk.close)
        disk.fill_to(70)  # the store leaves 64 MiB free
        began = time.monotonic()
        done = harness.run(harness.BIN / "kernelmill", "crawl", self.workload.job, "--data", self.folder / "data/d", "--out",
                           self.folder / "out", check=False, timeout=self.PATIENCE + clusters.DEADLINE)
        print(f"\nafter {time.monotonic() - began:.0f} s: {done.returncode} {done.stderr.splitlines()[-1]}", flush=True)
        self.assertNotEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stderr.splitlines()[-1], "--data .* the disk stayed full for a minute: .*disk is full.*make room")
        self.assertFalse((self.folder / "out/kernels.jsonl").exists())
        disk.free()
        harness.run(harness.BIN / "kernelmill", "crawl", self.workload.job, "--data", self.folder / "data/d", "--out",
                    self.folder / "out", timeout=clusters.DEADLINE)
        self.workload.check(self.folder / "out")


class SyncFails(workload.ChaosTest):

    def broken(self, name):
        """A shim for one process alone."""
        shim = shims.Shim(self.folder / f"shim-{name}")
        return shim, lambda cluster: cluster.nodes[name].env.update(shim.env())

    def test_a_store_whose_fsync_fails_acknowledges_nothing_and_stops(self):
        shim, prepare = self.broken("store")
        with self.cluster(prepare=prepare) as cluster:
            early = Uploader(self, cluster.store, 1, 50, 20 * KIB)
            early.wait()
            submission = self.submit(cluster)
            submission.wait_until_done(8)
            shim.sync_errno = EIO
            late = Uploader(self, cluster.store, 2, 50, 20 * KIB)
            harness.wait_until(lambda: shim.syncs_failed > 0, "an fsync that fails", clusters.DEADLINE)
            harness.wait_until(lambda: not cluster.store.running(), "the store to stop", clusters.DEADLINE)
            self.assertGreater(cluster.store.popen.returncode, 0, cluster.store.tail())
            self.assertRegex(cluster.store.tail(), '"level":"error".*(Input/output error|IO error)')
            self.assertEqual(late.stored(), [], "acknowledged without an fsync")
            shim.sync_errno = 0
            cluster.store.start()
            late.wait()
            for upload in (early, late):
                self.assertEqual(verdicts(upload.words), {"OK"})
            self.assert_unharmed(submission)

    def test_a_coordinator_whose_fsync_fails_acknowledges_nothing_and_stops(self):
        shim, prepare = self.broken("coordinator")
        with self.cluster(prepare=prepare) as cluster:
            submission = self.submit(cluster)
            submission.wait_until_done(8)
            shim.sync_errno = EIO
            refused = cluster.client("submit", self.workload.job, check=False)
            self.assertNotEqual(refused.returncode, 0, "acknowledged without an fsync")
            self.assertGreater(shim.syncs_failed, 0)
            harness.wait_until(lambda: not cluster.coordinator.running(), "the coordinator to stop",
                               clusters.DEADLINE)
            self.assertGreater(cluster.coordinator.popen.returncode, 0, cluster.coordinator.tail())
            self.assertRegex(cluster.coordinator.tail(), '"level":"error".*(Input/output error|IO error)')
            shim.sync_errno = 0
            cluster.coordinator.start()
            self.assert_unharmed(submission)


def supervised(node):
    """Returns whether the node serves; starts it again if it has ended, as its supervisor would."""
    if not node.running():
        node.spawn()
    try:
        return node.answers()
    except AssertionError:
        return False


if __name__ == "__main__":
    lab.enter()
    unittest.main(verbosity=2)
