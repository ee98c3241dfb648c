#!/usr/bin/env python3
"""The deduplicator: recall and speed over real kernels, beside rensa and datasketch; growth; two workers.

usage: dedup.py compare REPOSITORY... | growth [KERNELS...]  [--folder DIR] [--records FILE] [--rounds N]

compare   crawls the repositories (bare ones, or any git URL), or takes the kernels of --records, an exported
          kernels.jsonl; holds the pairs found against brute force; and times sign + pair on one core for each
          program, from the same shingle hashes, with 128 permutations in 32 bands of 4
growth    time per kernel and peak of memory of sign, pair and resolve over synthetic kernels, structural
          duplicates included

Needs tests/bench/dedup.sh, which builds the programs and installs the peers, to have run."""

import argparse
import array
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
BIN = pathlib.Path(os.environ.get("KERNELMILL_BIN", ROOT / "build/release/bin"))
PERMUTATIONS, BANDS, ROWS, THRESHOLD = 128, 32, 4, 0.7


def bench(*argv):
    """What a command of dedup_bench prints."""
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


# Each peer in the way of its manual: signatures, then an index, then a query by each document. Returns seconds of
# both parts. Neither verifies its candidates.

def rensa_objects(sets):
    import rensa
    start = time.perf_counter()
    hashes = rensa.RMinHash.from_token_sets([[h.to_bytes(8, "little") for h in s] for s in sets], PERMUTATIONS, 42)
    signed = time.perf_counter()
    index = rensa.RMinHashLSH(THRESHOLD, PERMUTATIONS, BANDS)
    for key, minhash in enumerate(hashes):
        index.insert(key, minhash)
    index.query_all(hashes)
    return signed - start, time.perf_counter() - signed


def rensa_matrix(sets):
    """Its fastest way: hashes as they are, one matrix; answers but whether a document has a duplicate."""
    import rensa
    start = time.perf_counter()
    matrix = rensa.RMinHash.digest_matrix_from_token_hash_sets(sets, PERMUTATIONS, 42)
    signed = time.perf_counter()
    rensa.RMinHashLSH(THRESHOLD, PERMUTATIONS, BANDS).query_duplicate_flags_matrix_one_shot(matrix)
    return signed - start, time.perf_counter() - signed


def datasketch(sets):
    from datasketch import MinHash, MinHashLSH
    start = time.perf_counter()
    hashes = MinHash.bulk([[h & 0xffffffff for h in s] for s in sets], num_perm=PERMUTATIONS, hashfunc=int)
    signed = time.perf_counter()
    index = MinHashLSH(num_perm=PERMUTATIONS, params=(BANDS, ROWS))
    for key, minhash in enumerate(hashes):
        index.insert(key, minhash)
    for minhash in hashes:
        index.query(minhash)
    return signed - start, time.perf_counter() - signed


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
    rate = count / (ours["sign_s"] + ours["pair_s"])
    print(f"{'program':28} {'sign s':>9} {'pair s':>9} {'documents/s':>12} {'ours / it':>10}")
    print(f"{'kernelmill, verified':28} {ours['sign_s']:9.4f} {ours['pair_s']:9.4f} {rate:12.0f} {1:10.2f}")
    for name, peer in (("rensa, objects", rensa_objects), ("rensa, matrix, flags alone", rensa_matrix),
                       ("datasketch", datasketch)):
        sign, pair = min((peer(sets) for _ in range(args.rounds)), key=sum)
        print(f"{name:28} {sign:9.4f} {pair:9.4f} {count / (sign + pair):12.0f} "
              f"{rate * (sign + pair) / count:10.2f}")
    print(f"kernelmill's whole sign stage, from text, three kinds of sets: {count / ours['sign_text_s']:.0f} kernels/s")


def growth(args, folder):
    rows = []
    for kernels in [int(k) for k in args.arguments] or [10_000, 1_000_000]:
        row = bench("growth", kernels, folder)
        total = sum(row["seconds"].values())
        rows.append(1e6 * total / kernels)
        print(f"{kernels} kernels, {row['partitions']} partitions: {total:.1f} s, {rows[-1]:.1f} us a kernel "
              f"({', '.join(f'{s} {1e6 * t / kernels:.1f}' for s, t in row['seconds'].items())}), "
              f"peak {row['peak_mib']} MiB, {row['pairs']} near pairs, {row['dataset.kept']} kept", flush=True)
    print(f"time a kernel, last over first: {rows[-1] / rows[0]:.2f}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["compare", "growth"])
    parser.add_argument("arguments", nargs="*")
    parser.add_argument("--records")
    parser.add_argument("--folder")
    parser.add_argument("--rounds", type=int, default=3)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=args.folder) as folder:
        {"compare": compare, "growth": growth}[args.what](args, pathlib.Path(folder))


if __name__ == "__main__":
    sys.exit(main())
