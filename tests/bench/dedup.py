#!/usr/bin/env python3
"""The deduplicator: recall and speed over real kernels, beside rensa and datasketch; growth; two workers.

usage: dedup.py compare REPOSITORY... | growth [KERNELS...] | joins [KERNELS...] | workers  [--folder DIR] [--records FILE] [--rounds N] [--copies N] [--processes N] [--beside PROGRAM]

compare   crawls the repositories (bare ones, or any git URL), or takes the kernels of --records, an exported
          kernels.jsonl; holds the pairs found against brute force; and times each program on one core, with 128
          permutations in 32 bands of 4: from the same lists of 64-bit shingle hashes to candidate pairs, to pairs
          verified by their exact similarity, which the peers leave to their users, and to clusters; and the same
          from texts, whose tokens and shingles the peers' users make in Python. --copies N adds N copies of each
          kernel in which some lines are other kernels'
growth    processor time per kernel and peak of memory of sign, pair (all partitions), resolve and split (a tenth held out)
          over made kernels: three in ten are near-duplicates; structural duplicates included. With --records, an exported
          kernels.jsonl, they are changed copies of real kernels. Each task is a process, as many at a time as --processes says.
          A million kernels take some 15 GiB of disk. --beside takes another build's dedup_bench over the same signatures
joins     the two joins of split alone, processor time per kernel of the job and peak of memory: a tenth is indexed as if held out,
          and some thousands of the others look there. A million kernels take half a minute and no disk; --beside as above
workers   one deduplicator and two, as processes of a cluster (dedup_workers.py)

Needs tests/bench/dedup.sh, which builds the programs and installs the peers, to have run."""

import argparse
import array
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
BIN = pathlib.Path(os.environ.get("KERNELMILL_BIN", ROOT / "build/release/bin"))
PERMUTATIONS, BANDS, ROWS, THRESHOLD = 128, 32, 4, 0.7


def bench(*argv, program=BIN / "dedup_bench"):
    """Runs a command of dedup_bench and returns the JSON that it prints."""
    done = subprocess.run([program, *map(str, argv)], check=True, stdout=subprocess.PIPE)
    return json.loads(done.stdout)


def crawl(repositories, folder):
    """The kernels of the repositories, as many as there are: equal ones alone are left out."""
    sources = [{"git": r if "://" in r else f"file://{pathlib.Path(r).resolve()}",
                "include": ["**/*.py", "**/*.cu", "**/*.cuh"]} for r in repositories]
    job = folder / "job.yaml"
    job.write_text(json.dumps({"name": "dedup-bench", "sources": sources, "dedup": {"threshold": 1},
                               "licenses": {"allow": ["MIT", "BSD-2-Clause", "BSD-3-Clause", "Apache-2.0", "ISC"]}}))
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


def texts_of(path):
    with open(path, encoding="utf-8") as lines:
        return [json.loads(line)["source"] for line in lines]


TOKEN = re.compile(r"\w+|[^\w\s]")


def shingles_of(texts):
    """Windows of five tokens, as hashes: what users of the peers write. Returns the seconds and the sets."""
    start = time.process_time()
    sets = []
    for text in texts:
        tokens = TOKEN.findall(text)
        windows = set(zip(*(tokens[i:] for i in range(5)))) or {tuple(tokens)}
        sets.append([hash(window) & 0xffffffffffffffff for window in windows])
    return time.process_time() - start, sets


def with_copies(path, copies, folder):
    """The records, each followed by copies in which up to a tenth of the lines are lines of the next kernel."""
    lines = path.read_text(encoding="utf-8").splitlines()
    sources = [json.loads(line)["source"].split("\n") for line in lines]
    dsls = [json.loads(line)["dsl"] for line in lines]
    made = folder / "copies.jsonl"
    with open(made, "w", encoding="utf-8") as out:
        for i, source in enumerate(sources):
            other = sources[(i + 1) % len(sources)]
            for copy in range(copies + 1):
                mine = list(source)
                for change in range(copy * len(mine) // (10 * max(copies, 1))):
                    mine[(7 * change + copy) % len(mine)] = other[(3 * change + copy) % len(other)]
                out.write(json.dumps({"source": "\n".join(mine), "dsl": dsls[i]}) + "\n")
    return made


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
    """Holds the candidates against the threshold, as a user of the peers would: with Python's sets. Returns the
    seconds and the pairs."""
    start = time.process_time()
    as_sets = [frozenset(s) for s in sets]
    pairs = []
    for a, mates in enumerate(found):
        for b in mates:
            if b < a:
                common = len(as_sets[a] & as_sets[b])
                if common >= THRESHOLD * (len(as_sets[a]) + len(as_sets[b]) - common):
                    pairs.append((b, a))
    return time.process_time() - start, pairs


def cluster(pairs, count):
    """Seconds to join pairs to clusters, and how many have two documents or more."""
    start = time.process_time()
    parents = list(range(count))

    def find(at):
        while parents[at] != at:
            parents[at] = at = parents[parents[at]]
        return at
    for a, b in pairs:
        low, high = sorted((find(a), find(b)))
        parents[high] = low
    sizes = [0] * count
    for at in range(count):
        sizes[find(at)] += 1
    return time.process_time() - start, sum(size > 1 for size in sizes)


def compare(args, folder):
    records = pathlib.Path(args.records) if args.records else crawl(args.arguments, folder)
    if args.copies:
        records = with_copies(records, args.copies, folder)
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    ours = bench("compare", records, folder / "shingles", "--threshold", THRESHOLD)
    os.environ["RAYON_NUM_THREADS"] = "1"
    sets = read_sets(folder / "shingles")
    count = len(sets)
    print(f"{count} kernels, {sum(map(len, sets)) / count:.0f} shingles each; {ours['pairs']} verified pairs, "
          f"{ours['clusters']} clusters of two or more")
    for at in ("0.8", "threshold"):
        found, there = ours[f"found_at_{at}"], ours[f"pairs_at_{at}"]
        print(f"recall at {THRESHOLD if at == 'threshold' else at}: {found} of {there} = {found / max(there, 1):.5f}")
    print(f"pairs below the threshold: {ours['invented']}")
    print("us of one processor a document; ours is so many times as fast, to: candidates, verified pairs, clusters, "
          "clusters from texts")
    print(f"{'program':28} {'text':>8} {'sign':>8} {'pair':>8} {'verify':>8} {'cluster':>8}")
    mine = [ours[key] for key in ("text_s", "sign_s", "candidates_s", "verify_s", "cluster_s")]

    def line(name, parts, clusters, recall=""):
        cells = " ".join("       -" if part is None else f"{1e6 * part / count:8.2f}" for part in parts)
        ratios = [sum(parts[a:b]) / sum(mine[a:b]) if None not in parts[a:b] else None
                  for a, b in ((1, 3), (1, 4), (1, 5), (0, 5))]
        print(f"{name:28} {cells}  {' '.join('     -' if r is None else f'{r:5.1f}x' for r in ratios)}  "
              f"{clusters} clusters{recall}", flush=True)

    line("kernelmill", mine, ours["clusters"])
    text_s, own_sets = min((shingles_of(texts_of(records)) for _ in range(args.rounds)), key=lambda row: row[0])
    del own_sets
    for name, peer in (("rensa, objects", rensa_objects), ("rensa, matrix, flags alone", rensa_matrix),
                       ("datasketch", datasketch)):
        sign, pair, found = min((peer(sets) for _ in range(args.rounds)), key=lambda row: row[0] + row[1])
        if found is None:
            line(name, [text_s, sign, pair, None, None], "-")
            continue
        check, pairs = verify(sets, found)
        join, clusters = cluster(pairs, count)
        there = ours["pairs_at_threshold"]
        line(name, [text_s, sign, pair, check, join], clusters, f", recall {len(pairs) / max(there, 1):.5f}")
    whole = 1e6 * (ours["sign_text_s"] + ours["candidates_s"] + ours["verify_s"]) / count
    print(f"from text, with the other kinds of sets that the sign stage makes: sign {1e6 * ours['sign_text_s'] / count:.1f}, "
          f"sign and verified pairs {whole:.1f} us a kernel")


def programs_of(args):
    return [BIN / "dedup_bench", *([args.beside] if args.beside else [])]


def growth(args, folder):
    first = {}
    for kernels in [int(k) for k in args.arguments] or [10_000, 100_000, 1_000_000]:
        blobs = folder / "blobs"
        blobs.mkdir()
        for program in programs_of(args):
            row = bench("growth", kernels, blobs, "--processes", args.processes, *(["--records", args.records] if args.records else []),
                        *(["--signed"] if program != BIN / "dedup_bench" else []), program=program)
            each = {stage: 1e6 * seconds / kernels for stage, seconds in row["processor_seconds"].items()}
            base = first.setdefault(program, each)
            print(f"{program}: {kernels} kernels of {row['tokens']:.0f} tokens, microseconds of a processor each: "
                  + ", ".join(f"{stage} {t:.1f} ({t / base[stage]:.2f} x the first)" for stage, t in each.items()))
            print(f"    longest task {row['longest']} s, peak {row['peak_mib']} MiB; {row['partitions']} partitions, "
                  f"{row['pairs.candidates'] / kernels:.1f} candidates of pair and {row['splits.candidates'] / kernels:.2f} of split each; "
                  f"{row['dataset.kept']} kept; splits {row['splits'][:12]}", flush=True)
        shutil.rmtree(blobs)


def joins(args, _):
    parts = ["build_alike_us", "probe_alike_us", "build_modules_us", "probe_modules_us"]
    first = {}
    for kernels in [int(k) for k in args.arguments] or [10_000, 100_000, 1_000_000]:
        for program in programs_of(args):
            row = bench("join", kernels, *(["--records", args.records] if args.records else []), program=program)
            each = sum(row[part] for part in parts)
            print(f"{program}: {kernels} kernels, {each:.1f} us each ({each / first.setdefault(program, each):.2f} x the first): "
                  + ", ".join(f"{part[:-3].replace('_', ' ')} {row[part]:.1f}" for part in parts)
                  + f"; {row['candidates']} candidates, {row['found']} alike and {row['contained']} contained of {row['probed']} probes; "
                  f"{row['peak_mib']} MiB", flush=True)


def workers(_, folder):
    import dedup_workers
    dedup_workers.workers(folder)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["compare", "growth", "joins", "workers"])
    parser.add_argument("arguments", nargs="*")
    parser.add_argument("--records")
    parser.add_argument("--folder")
    parser.add_argument("--beside", type=pathlib.Path)
    parser.add_argument("--processes", type=int, default=1)
    parser.add_argument("--copies", type=int, default=0)
    parser.add_argument("--rounds", type=int, default=3)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=args.folder) as folder:
        {"compare": compare, "growth": growth, "joins": joins, "workers": workers}[args.what](args, pathlib.Path(folder))


if __name__ == "__main__":
    sys.exit(main())
