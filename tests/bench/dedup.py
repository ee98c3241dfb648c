#!/usr/bin/env python3
"""The deduplicator: recall and speed over real kernels, beside rensa and datasketch; growth; two workers.

usage: dedup.py compare REPOSITORY... | growth [KERNELS...] | workers  [--folder DIR] [--records FILE] [--rounds N] [--processes N]

compare   crawls the repositories (bare ones, or any git URL), or takes the kernels of --records, an exported
          kernels.jsonl; holds the pairs found against brute force; and times each program on one core, from the
          same lists of 64-bit shingle hashes to candidate pairs, with 128 permutations in 32 bands of 4; and with
          every candidate verified by its exact similarity, which the peers leave to their users
growth    processor time per kernel and peak of memory of sign, pair (all partitions), resolve and split (a tenth held out)
          over made kernels: three in ten are near-duplicates; structural duplicates included. With --records, an exported
          kernels.jsonl, they are changed copies of real kernels. Each task is a process, as many at a time as --processes says.
          A million kernels take some 15 GiB of disk
workers   one deduplicator and two, as processes of a cluster (dedup_workers.py)

Needs tests/bench/dedup.sh, which builds the programs and installs the peers, to have run."""

import argparse
import array
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
BIN = pathlib.Path(os.environ.get("KERNELMILL_BIN", ROOT / "build/release/bin"))
PERMUTATIONS, BANDS, ROWS, THRESHOLD = 128, 32, 4, 0.7


def bench(*argv):
    """Runs a command of dedup_bench and returns the JSON that it prints."""
    done = subprocess.run([BIN / "dedup_bench", *map(str, argv)], check=True, stdout=subprocess.PIPE)
    return json.loads(done.stdout)


def crawl(repositories, folder):
    """The kernels of the repositories, as many as there are: whatever their licence, equal ones alone left out."""
    sources = [{"git": r if "://" in r else f"file://{pathlib.Path(r).resolve()}",
                "include": ["**/*.py", "**/*.cu", "**/*.cuh"]} for r in repositories]
    job = folder / "job.yaml"
    job.write_text(json.dumps({"name": "dedup-bench", "sources": sources, "dedup": {"threshold": 1},
                               "licenses": {"allow": ["MIT", "BSD-2-Clause", "BSD-3-Clause", "Apache-2.0", "ISC",
                                                      "NOASSERTION"]}}))
    subprocess.run([BIN / "kernelmill", "crawl", job, "--out", folder / "out", "--data", folder / "data"],
                   stdout=subprocess.DEVNULL, check=True)
    return folder / "out/kernels.jsonl"


def read_sets(path):
    """The shingle hashes that dedup_bench wrote."""
    data, sets, at = pathlib.Path(path).read_bytes(), [], 0
    while at < len(data):
        size = int.from_bytes(data[at:at + 4], "little")
        hashes = array.array("Q")
        hashes.frombytes(data[at + 4:at + 4 + 8 * size])
        sets.append(hashes.tolist())
        at += 4 + 8 * size
    return sets


# Each peer in the way of its manual: signatures, then an index, then a query by each document. Returns what each of
# the two parts took, in seconds of this process's processor time, and each document's candidates.

def rensa_objects(sets):
    import rensa
    start = time.process_time()
    hashes = rensa.RMinHash.from_token_sets([[h.to_bytes(8, "little") for h in s] for s in sets], PERMUTATIONS, 42)
    signed = time.process_time()
    index = rensa.RMinHashLSH(THRESHOLD, PERMUTATIONS, BANDS)
    for key, minhash in enumerate(hashes):
        index.insert(key, minhash)
    found = index.query_all(hashes)
    return signed - start, time.process_time() - signed, found


def rensa_matrix(sets):
    """Its fastest way: hashes as they are, one matrix; answers but whether a document has a duplicate."""
    import rensa
    start = time.process_time()
    matrix = rensa.RMinHash.digest_matrix_from_token_hash_sets(sets, PERMUTATIONS, 42)
    signed = time.process_time()
    rensa.RMinHashLSH(THRESHOLD, PERMUTATIONS, BANDS).query_duplicate_flags_matrix_one_shot(matrix)
    return signed - start, time.process_time() - signed, None


def datasketch(sets):
    from datasketch import MinHash, MinHashLSH
    start = time.process_time()
    hashes = MinHash.bulk([[h & 0xffffffff for h in s] for s in sets], num_perm=PERMUTATIONS, hashfunc=int)
    signed = time.process_time()
    index = MinHashLSH(num_perm=PERMUTATIONS, params=(BANDS, ROWS))
    for key, minhash in enumerate(hashes):
        index.insert(key, minhash)
    found = [index.query(minhash) for minhash in hashes]
    return signed - start, time.process_time() - signed, found


def verify(sets, found):
    """Seconds to hold the candidates against the threshold, as a user of the peers would: with Python's sets."""
    start = time.process_time()
    as_sets = [frozenset(s) for s in sets]
    pairs = 0
    for a, mates in enumerate(found):
        for b in mates:
            if b < a:
                common = len(as_sets[a] & as_sets[b])
                pairs += common >= THRESHOLD * (len(as_sets[a]) + len(as_sets[b]) - common)
    return time.process_time() - start


def compare(args, folder):
    records = args.records or crawl(args.arguments, folder)
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    ours = bench("compare", records, folder / "shingles", "--threshold", THRESHOLD)
    os.environ["RAYON_NUM_THREADS"] = "1"
    sets = read_sets(folder / "shingles")
    count = len(sets)
    shingles = sum(map(len, sets))
    print(f"{count} kernels, {shingles / count:.0f} shingles each; {ours['pairs']} verified pairs")
    for at in ("0.8", "threshold"):
        found, there = ours[f"found_at_{at}"], ours[f"pairs_at_{at}"]
        print(f"recall at {THRESHOLD if at == 'threshold' else at}: {found} of {there} = {found / max(there, 1):.5f}")
    print(f"pairs below the threshold: {ours['invented']}")
    print("us of one processor a document")
    print(f"{'program':28} {'sign':>8} {'pair':>8} {'verify':>8} {'ours is, unverified':>20} {'verified':>10}")

    def line(name, sign, pair, check):
        ratios = [f"{(sign + pair) / (ours['sign_s'] + ours['candidates_s']):.1f} x", "-"]
        if check is not None:
            mine = ours["sign_s"] + ours["candidates_s"] + ours["verify_s"]
            ratios[1] = f"{(sign + pair + check) / mine:.1f} x"
        parts = ["-" if part is None else f"{1e6 * part / count:.2f}" for part in (sign, pair, check)]
        print(f"{name:28} {parts[0]:>8} {parts[1]:>8} {parts[2]:>8} {ratios[0]:>20} {ratios[1]:>10}", flush=True)

    line("kernelmill", ours["sign_s"], ours["candidates_s"], ours["verify_s"])
    for name, peer in (("rensa, objects", rensa_objects), ("rensa, matrix, flags alone", rensa_matrix),
                       ("datasketch", datasketch)):
        sign, pair, found = min((peer(sets) for _ in range(args.rounds)), key=lambda row: row[0] + row[1])
        line(name, sign, pair, None if found is None else verify(sets, found))
    whole = 1e6 * (ours["sign_text_s"] + ours["candidates_s"] + ours["verify_s"]) / count
    print(f"from text, with the other kinds of sets that the sign stage makes: sign {1e6 * ours['sign_text_s'] / count:.1f}, "
          f"sign and verified pairs {whole:.1f} us a kernel")


def growth(args, folder):
    first = {}
    for kernels in [int(k) for k in args.arguments] or [10_000, 100_000, 1_000_000]:
        blobs = folder / "blobs"
        blobs.mkdir()
        row = bench("growth", kernels, blobs, "--processes", args.processes, *(["--records", args.records] if args.records else []))
        shutil.rmtree(blobs)
        each = {stage: 1e6 * seconds / kernels for stage, seconds in row["processor_seconds"].items()}
        first = first or each
        print(f"{kernels} kernels of {row['tokens']:.0f} tokens, microseconds of a processor each: "
              + ", ".join(f"{stage} {t:.1f} ({t / first[stage]:.2f} x the first)" for stage, t in each.items()))
        print(f"    longest task {row['longest']} s, peak {row['peak_mib']} MiB; {row['partitions']} partitions, "
              f"{row['pairs.candidates'] / kernels:.1f} candidates of pair and {row['splits.candidates'] / kernels:.2f} of split each; "
              f"{row['dataset.kept']} kept", flush=True)


def workers(_, folder):
    import dedup_workers
    dedup_workers.workers(folder)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["compare", "growth", "workers"])
    parser.add_argument("arguments", nargs="*")
    parser.add_argument("--records")
    parser.add_argument("--folder")
    parser.add_argument("--processes", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=3)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=args.folder) as folder:
        {"compare": compare, "growth": growth, "workers": workers}[args.what](args, pathlib.Path(folder))


if __name__ == "__main__":
    sys.exit(main())
