"""Two deduplicators beside one, as processes: dedup.py workers.

A store, a coordinator and the other workers take a job of synthetic kernels to where nothing is left but to sign,
pair and resolve them. Then the deduplicators start, one slot and, as far as there are any, one core each, and the
time until the job is done is taken. Each processor's share is printed with it: where store, coordinator and
deduplicators together want more cores than the machine has, the wall clock shows that and not how the work divides;
`by work` is what cores to spare would give: one deduplicator's processor time over that of the busier one of two."""

import os
import pathlib
import random
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "integration"))
import harness  # noqa: E402

FILES, PER_FILE = 400, 50
TICK = os.sysconf("SC_CLK_TCK")


def write_kernels(folder):
    """Writes 20,000 kernels of some 500 tokens; every tenth has a near-duplicate in another file."""
    rng = random.Random(1)
    folder.mkdir()
    (folder / "LICENSE").write_text(harness.MIT_TEXT)

    def body():
        return [f"    v{rng.randrange(64)} = ops.apply_{rng.randrange(400)}(v{rng.randrange(64)}) + "
                f"v{rng.randrange(64)} * {rng.randrange(1024)}" for _ in range(38)]

    shared = [body() for _ in range(FILES * PER_FILE // 10)]
    for f in range(FILES):
        lines = ["import triton", "import triton.language as tl", ""]
        for k in range(PER_FILE):
            number = f * PER_FILE + k
            statements = list(shared[number * 7 % len(shared)]) if number % 5 == 0 else body()
            statements[rng.randrange(38)] = f"    v0 = v1 + {number}"
            lines += ["", "@triton.jit", f"def kernel_{number}(p0, p1, n, BLOCK: tl.constexpr):",
                      "    v1 = tl.load(p0 + tl.arange(0, BLOCK), mask=tl.arange(0, BLOCK) < n)", *statements,
                      "    tl.store(p1 + tl.arange(0, BLOCK), v1)"]
        (folder / f"kernels_{f:04}.py").write_text("\n".join(lines) + "\n")


def processor_seconds(process):
    fields = pathlib.Path(f"/proc/{process.popen.pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / TICK


def stages_of(cluster):
    job = cluster.jobs()[0]
    return job, {stage["stage"]: {k: int(v) for k, v in stage.items() if k != "stage"} for stage in job["stages"]}


def ready_to_sign(cluster):
    _, stages = stages_of(cluster)
    sign, validate = stages.get("sign", {}), stages.get("validate", {})
    return sign.get("total", 0) > 0 and stages["link"].get("done") == stages["link"]["total"] and \
        validate.get("done", 0) == validate["total"] == sign["total"]


def measure(folder, job, deduplicators):
    with harness.Cluster(folder, lease_ttl=10) as cluster:
        others = [cluster.start_worker(role) for role in ("fetcher", "extractor", "validator")]
        cluster.client("submit", job)
        harness.wait_until(lambda: ready_to_sign(cluster), "all but the deduplicators' work", 1200, 0.5)
        for worker in others:
            worker.stop()
        served = [cluster.store, cluster.coordinator]
        before = [processor_seconds(p) for p in served]
        start = time.monotonic()
        workers = [cluster.start_worker("deduplicator", "--slots", 1) for _ in range(deduplicators)]
        cores = sorted(os.sched_getaffinity(0))
        for worker, core in zip(workers, cores):
            os.sched_setaffinity(worker.popen.pid, {core})
        harness.wait_until(lambda: stages_of(cluster)[0]["state"] == "done", "the job's end", 1200, 0.05)
        wall = time.monotonic() - start
        return wall, [processor_seconds(w) for w in workers], \
            [processor_seconds(p) - b for p, b in zip(served, before)]


def workers(folder):
    write_kernels(folder / "kernels")
    job = folder / "job.yaml"
    job.write_text(f"name: workers\nsources:\n  - path: {folder / 'kernels'}\ndedup: {{structural: true}}\n")
    kernels = FILES * PER_FILE
    rows = []
    for count in (1, 2):
        wall, mine, served = measure(folder / f"cluster-{count}", job, count)
        rows.append((wall, mine))
        print(f"{count} deduplicators: {wall:.2f} s, {kernels / wall:.0f} kernels/s; processor seconds: deduplicators "
              f"{', '.join(f'{s:.2f}' for s in mine)}, store {served[0]:.2f}, coordinator {served[1]:.2f}; "
              f"{(sum(mine) + sum(served)) / wall:.2f} cores of {len(os.sched_getaffinity(0))} busy with it", flush=True)
    (one, [alone]), (two, shares) = rows
    print(f"two beside one: {one / two:.2f} x by the clock, {alone / max(shares):.2f} x by work")
