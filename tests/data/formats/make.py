#!/usr/bin/env python3
"""Makes the databases of a release as data for tests, by the programs of that release.

usage: KERNELMILL_BIN=FOLDER make.py NAME

Writes NAME.tar.xz and NAME.json beside this program: a store and a coordinator with a job that is done and a job whose files
are fetched and not extracted, as a kill -9 leaves them; the sources of both; and what a test is to find. NAME says the formats,
as in store2-coordinator2."""

import json
import pathlib
import shutil
import sys
import tarfile
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[1] / "chaos"))
import cluster as clusters  # noqa: E402
import harness  # noqa: E402

# The sources' place is in the job: tests put them there again.
PLACE = pathlib.Path("/tmp/kernelmill-formats")


def write_job(name, folder):
    job = PLACE / f"{name}.yaml"
    job.write_text(f"name: {name}\nsources:\n  - path: ./{folder}\n    name: {folder}\n")
    return job


def make(name, work):
    done, middle = (write_job(job, folder) for job, folder in (("done", "first"), ("middle", "second")))
    with clusters.ChaosCluster(work) as cluster:
        cluster.coordinator.flags += ["--store", cluster.store.address]  # for holds
        cluster.start()
        cluster.client("submit", done, "--wait", "--out", work / "out")
        cluster.workers("extractor")[0].terminate()  # the second job waits for one
        for node in (cluster.store, cluster.coordinator):
            node.terminate()
            node.start()  # moves what is in the log to tables and blob files
        job = cluster.client("submit", middle).stdout.strip()

        def fetched():
            rows = (cluster.status(job) or {}).get("stages", [])
            return any(row["stage"] == "extract" and int(row["total"]) > int(row["done"]) for row in rows)
        harness.wait_until(fetched, "the second job's files")
        rows = [json.loads(line) for line in cluster.client("jobs", "--json").stdout.splitlines()]
        found = {"jobs": [row["job"] for row in rows], "dataset": harness.dataset_digest(work / "out")}
        stat = json.loads(harness.run(harness.BIN / "kernelmill", "store", "stat", "--json", "--store",
                                      cluster.store.address).stdout)
        found |= {key: int(stat[key]) for key in ("blobs", "action_results")}
        for node in (cluster.store, cluster.coordinator):
            node.kill()
    (HERE / f"{name}.json").write_text(json.dumps(found, indent=2) + "\n")
    with tarfile.open(HERE / f"{name}.tar.xz", "w:xz", preset=9) as tar:
        for part in ("store", "coordinator"):
            tar.add(work / part, part)
        tar.add(PLACE, "sources")


def main():
    PLACE.mkdir()
    try:
        for index, folder in enumerate(("first", "second")):
            harness.write_many_kernels(PLACE / folder, 3, 1)
            for path in (PLACE / folder).glob("*.py"):
                path.write_text(path.read_text().replace("SCALE_", f"SCALE_{index}_"))
        with tempfile.TemporaryDirectory() as work:
            make(sys.argv[1], pathlib.Path(work))
    finally:
        shutil.rmtree(PLACE)


if __name__ == "__main__":
    main()
