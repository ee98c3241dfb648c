"""Rows 4 to 6 of the faults: the store killed in the middle of writes; torn and damaged logs, table files
and blob files, of the store and of the coordinator. Acknowledged data is there, damaged data is
reported, and no wrong byte is ever served."""

import collections
import pathlib
import random
import signal
import unittest

import cluster as clusters
import damage
import harness
import workload
from uploads import Uploader, asked, check, verdicts

KIB, MIB = 1 << 10, 1 << 20


class Store(workload.ChaosTest):

    def test_a_store_killed_in_the_middle_of_uploads_keeps_what_it_acknowledged(self):
        with self.cluster(slow_ms=400) as cluster:  # the job outlasts the kills: its export has less patience
            submission = self.submit(cluster)
            uploads = [Uploader(self, cluster.store, 1, 60, 6 * MIB), Uploader(self, cluster.store, 2, 3000, 8 * KIB)]
            kills = 0
            while kills < 4 and (kills == 0 or uploads[0].running()):
                before = [len(u.stored()) for u in uploads]
                harness.wait_until(lambda b=before: all(not u.running() or len(u.stored()) > n
                                                        for u, n in zip(uploads, b)), "uploads", clusters.DEADLINE)
                if not uploads[0].running():
                    self.assertGreater(kills, 0, "the uploads were over before the kills")
                    break
                cluster.store.kill()
                kills += 1
                acknowledged = [u.stored() for u in uploads]
                cluster.store.start()
                for upload, digests in zip(uploads, acknowledged):
                    found = check(upload.words)
                    self.assertEqual([d for d in digests if found[d] != {"OK"}], [], "acknowledged, and lost")
                    self.assertLessEqual(set().union(*found.values()), {"OK", "NOT_FOUND"}, "half visible")
            for upload in uploads:
                upload.wait()
                self.assertEqual(verdicts(upload.words), {"OK"})
            self.assert_unharmed(submission)

    def stopped_store(self, *uploads):
        """A store that was killed after it had acknowledged all of these (seed, count, size)."""
        made = self.stack.enter_context(clusters.ChaosCluster(self.folder / "cluster", shim=self.shim))
        store = made.store.start()
        words = []
        for seed, count, size in uploads:
            upload = Uploader(self, store, seed, count, size)
            upload.wait()
            words.append(upload.words)
        store.kill()
        return store, words

    def test_a_torn_log_loses_nothing_that_was_acknowledged(self):
        store, words = self.stopped_store((1, 50, 2 * KIB), (2, 20, 100 * KIB))
        damage.tear(damage.newest_log(store.flags[1]))
        store.start()
        for blobs in words:
            self.assertEqual(verdicts(blobs), {"OK"})

    def test_a_log_that_lacks_its_end_loses_its_last_record_alone(self):
        store, (blobs,) = self.stopped_store((1, 50, 2 * KIB))
        damage.cut(damage.newest_log(store.flags[1]), 7)
        store.start()
        found = check(blobs)
        self.assertEqual([v for v in list(found.values())[:-1] if v != {"OK"}], [])
        self.assertIn(list(found.values())[-1], ({"OK"}, {"NOT_FOUND"}))

    def test_a_flipped_bit_in_the_log_is_refused_and_named(self):
        store, (blobs,) = self.stopped_store((1, 50, 2 * KIB))
        log = damage.newest_log(store.flags[1])
        middle = damage.content_end(log) // 2
        damage.flip(log, middle)
        assert_refuses(self, store)
        damage.flip(log, middle)  # the operator has put the right file back
        store.start()
        self.assertEqual(verdicts(blobs), {"OK"})

    def test_flipped_bits_in_tables_and_blob_files_never_give_wrong_bytes(self):
        uploads = (1, 60, 1 * KIB), (2, 40, 100 * KIB), (3, 2, 4 * MIB)
        store, words = self.stopped_store(*uploads)
        for _ in range(2):  # a restart moves the log's content to tables and blob files
            store.start()
            store.terminate()
        files = damage.files(store.flags[1], ".sst", ".blob")
        self.assertTrue(any(f.suffix == ".sst" for f in files) and any(f.suffix == ".blob" for f in files), files)
        rng, seen, refused = random.Random(6), collections.Counter(), 0
        for file in files[:6]:
            at = sorted(rng.randrange(file.stat().st_size) for _ in range(4))
            for place in at:
                damage.flip(file, place, place % 8)
            store.spawn()
            if comes_up(store):
                for blobs in words:
                    seen.update(v for vs in check(blobs).values() for v in vs)
                store.kill()
            else:
                refused += 1
                self.assertRegex(store.tail(), "DATA_LOSS|damaged")
            for place in at:
                damage.flip(file, place, place % 8)
        self.assertLessEqual(set(seen), {"OK", "DATA_LOSS"}, seen)
        self.assertGreater(seen["DATA_LOSS"], 0, f"no damage was met: no test; {refused} refused")
        store.start()
        for blobs in words:
            self.assertLessEqual(verdicts(blobs), {"OK", "DATA_LOSS"}, "damage is remembered")
        for upload, blobs in zip(uploads, words):
            Uploader(self, store, *upload).wait()
            self.assertEqual(verdicts(blobs), {"OK"}, "a new upload mends")


class Repair(workload.ChaosTest):
    """A store that is too damaged to serve, or has lost what jobs need: one command, and the job is whole again."""

    def finished_job(self):
        cluster = self.cluster(slow_ms=0)
        submission = self.submit(cluster)
        self.assert_unharmed(submission)
        return cluster, submission

    def flush(self, store):
        """Moves the log's content to tables and blob files."""
        store.terminate()
        for _ in range(2):
            store.start()
            store.terminate()

    def heals(self, cluster, submission, code=1):
        """Repairs the stopped store, starts it and exports the job, whose lost parts are made again."""
        folder = cluster.store.flags[1]
        done = harness.run(harness.BIN / "kernelmill-store", "repair", "--data", folder, check=False)
        print(f"\n{done.stdout}", flush=True)
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        self.assertRegex(done.stdout, r"(?m)^lost blobs: \d+;")
        cluster.store.start()
        out = self.folder / "healed"
        cluster.client("retry", submission.job, "--wait", "--out", out, timeout=clusters.DEADLINE * 2)
        self.workload.check(out)

    def test_a_table_without_its_end(self):
        cluster, submission = self.finished_job()
        self.flush(cluster.store)
        for table in damage.files(cluster.store.flags[1], ".sst")[:2]:
            damage.shorten(table, 10)
        assert_refuses(self, cluster.store)
        self.heals(cluster, submission)

    def test_a_flipped_bit_in_the_log(self):
        cluster, submission = self.finished_job()
        cluster.store.kill()
        log = damage.newest_log(cluster.store.flags[1])
        damage.flip(log, damage.content_end(log) // 2)
        assert_refuses(self, cluster.store)
        self.heals(cluster, submission)

    def test_a_lost_current_file(self):
        cluster, submission = self.finished_job()
        cluster.store.kill()
        (pathlib.Path(cluster.store.flags[1]) / "CURRENT").unlink()
        assert_refuses(self, cluster.store)
        self.heals(cluster, submission)

    def test_a_whole_store_is_left_whole(self):
        cluster, submission = self.finished_job()
        self.flush(cluster.store)
        self.heals(cluster, submission, code=0)

    def test_a_running_store_is_not_touched(self):
        cluster, _ = self.finished_job()
        done = harness.run(harness.BIN / "kernelmill-store", "repair", "--data", cluster.store.flags[1], check=False)
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertIn("stop the store first", done.stderr)

    def test_flipped_bits_in_a_dataset_need_nobody(self):
        """The export finds them, and the client runs the job again by itself."""
        cluster, submission = self.finished_job()
        self.flush(cluster.store)
        for file in damage.files(cluster.store.flags[1], ".blob"):
            for at in range(1000, file.stat().st_size, 4096):
                damage.flip(file, at)
        cluster.store.start()
        out = self.folder / "healed"
        done = cluster.client("retry", submission.job, "--wait", "--out", out, timeout=clusters.DEADLINE * 2, check=False)
        self.assertEqual(done.returncode, 0, done.stderr + str(cluster.status(submission.job)))
        self.assertIn("the store lost a part of its dataset", done.stderr, "no damage was met: no test")
        self.workload.check(out)

    def test_a_cut_blob_file_needs_no_repair(self):
        """Clients hear that its blobs are missing, and put them again."""
        cluster, submission = self.finished_job()
        upload = Uploader(self, cluster.store, 7, 40, 100 * KIB)
        upload.wait()
        self.flush(cluster.store)
        for file in damage.files(cluster.store.flags[1], ".blob"):
            damage.shorten(file, file.stat().st_size // 2)
        cluster.store.start()
        self.assertIn("MISSING", asked(upload.words), "FindMissing says that they are there")
        Uploader(self, cluster.store, 7, 40, 100 * KIB).wait()
        self.assertEqual(verdicts(upload.words), {"OK"})
        out = self.folder / "healed"
        cluster.client("retry", submission.job, "--wait", "--out", out, timeout=clusters.DEADLINE * 2)
        self.workload.check(out)


class Coordinator(workload.ChaosTest):

    def in_mid_job(self):
        cluster = self.cluster()
        submission = self.submit(cluster)
        submission.wait_until_done(10)
        cluster.coordinator.kill()
        return cluster, submission, cluster.coordinator.flags[1]

    def test_a_torn_log_loses_nothing_that_was_acknowledged(self):
        cluster, submission, data = self.in_mid_job()
        damage.tear(damage.newest_log(data))
        cluster.coordinator.start()
        self.assert_unharmed(submission)

    def test_a_log_that_lacks_its_end_costs_one_task_done_again(self):
        cluster, submission, data = self.in_mid_job()
        damage.cut(damage.newest_log(data), 7)
        cluster.coordinator.start()
        self.assert_unharmed(submission)

    def test_a_flipped_bit_in_the_log_is_refused_and_named(self):
        cluster, submission, data = self.in_mid_job()
        log = damage.newest_log(data)
        middle = damage.content_end(log) // 2
        damage.flip(log, middle)
        assert_refuses(self, cluster.coordinator)
        damage.flip(log, middle)
        cluster.coordinator.start()
        self.assert_unharmed(submission)

    def test_flipped_bits_in_a_table_never_change_the_job(self):
        cluster, submission, data = self.in_mid_job()
        self.shim.file_delay_us = 3_000_000  # nothing much ends meanwhile
        cluster.coordinator.start()
        cluster.coordinator.kill()
        table, size = [(f, f.stat().st_size) for f in damage.files(data, ".sst")][0]
        refused = 0
        for at in (size // 7, size // 3, size // 2):
            damage.flip(table, at)
            cluster.coordinator.spawn()
            if comes_up(cluster.coordinator):
                cluster.coordinator.kill()
            else:
                refused += 1
                self.assertRegex(cluster.coordinator.tail(), "DATA_LOSS|damaged")
            damage.flip(table, at)
        self.assertGreater(refused, 0, "no damage was met: no test")
        cluster.coordinator.start()
        self.assert_unharmed(submission)


def comes_up(node):
    """Returns True once the node serves, or False once it has refused to serve and has ended."""
    def settled():
        try:
            return "up" if node.answers() else None
        except AssertionError:
            return "down"
    return harness.wait_until(settled, f"{node.name} to serve or to end", clusters.DEADLINE) == "up"


def assert_refuses(test, node):
    node.spawn()
    test.assertFalse(comes_up(node), f"{node.name} serves a damaged database")
    test.assertNotEqual(node.popen.returncode, 0)
    test.assertGreater(node.popen.returncode, 0, f"{node.name} crashed: {node.tail()}")
    test.assertNotEqual(node.popen.returncode, -signal.SIGABRT)
    test.assertRegex(node.tail(), "refusing to start")
    test.assertIn(str(node.flags[1]), node.tail(), "the message does not name the folder")


if __name__ == "__main__":
    unittest.main(verbosity=2)
