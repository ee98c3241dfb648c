"""Evidence that travels: which cases go first where room is scarce, and archives in parts."""

import json
import pathlib
import tarfile
import tempfile
import zlib

from kernelmill.execution.evidence import Evidence, tensors_of

MIB = 1 << 20
CASES = 8  # the most of a kernel
NAMES = ("recorded", "scored", "timed")  # the archives of `record`, `score` and `time`


def place_of(row):
    return (row["module_sha256"], row["kernel"])


def group_cases(evidence):
    """Returns {(module, kernel): its rows of cases}."""
    kernels = {}
    for row in evidence.rows("case"):
        kernels.setdefault(place_of(row), []).append(row)
    return kernels


def choose(evidence, kernels, referenced, room):
    """Returns the cases of these kernels that fit into so many bytes: the smallest case of each kernel first, then a ragged one of each,
    then others. In each turn, kernels whose module has a reference come before others."""
    packed = {}

    def weigh(digest):
        if digest not in packed:
            packed[digest] = len(zlib.compress(evidence.get(digest), 1)) + 200
        return packed[digest]

    order = []
    for place, rows in kernels.items():
        sized = sorted((sum(map(weigh, set(tensors_of(row)))), row["id"], row) for row in rows)
        ragged = [each for each in sized[1:] if each[2]["ragged"]][:1]
        turns = [*sized[:1], *ragged, *(each for each in sized[1:] if each not in ragged)][:CASES]
        order += [(turn, place[0] not in referenced, *each) for turn, each in enumerate(turns)]
    chosen, used, seen = [], 0, set()
    for *_, row in sorted(order, key=lambda each: each[:4]):
        new = set(tensors_of(row)) - seen
        cost = sum(packed[each] for each in new) + len(json.dumps(row)) // 4
        if used + cost <= room:
            used += cost
            seen |= new
            chosen.append(row)
    return chosen


def copy_cases(source, rows, file):
    """Returns an evidence file with these cases, their tensors, and what is known of them."""
    new, ids = Evidence(file), {row["id"] for row in rows}
    for row in rows:
        new.add(row)
        for digest in tensors_of(row):
            new.put(source.get(digest))
    for row in source.rows("result"):
        if row["case"] in ids:
            new.add(row)
    new.save()
    return new


def write_parts(out, name, folder, part_bytes):
    """Writes what a folder holds as OUT/NAME.tar.gz.00, .01 and so on. Returns how many bytes they have."""
    out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryFile() as whole:
        with tarfile.open(fileobj=whole, mode="w:gz", compresslevel=6) as archive:
            archive.add(folder, arcname=name)
        size = whole.tell()
        whole.seek(0)
        for number in range(-(-size // part_bytes)):
            (out / f"{name}.tar.gz.{number:02}").write_bytes(whole.read(part_bytes))
    return size


def merge(evidence, folders):
    """Adds what `record` and `score` wrote into these folders to an evidence file."""
    merged = Evidence(evidence)
    for folder in folders:
        for name in NAMES:
            parts = sorted(pathlib.Path(folder).glob(f"{name}.tar.gz.*"))
            with tempfile.TemporaryDirectory() as work, tempfile.TemporaryFile() as whole:
                for part in parts:
                    whole.write(part.read_bytes())
                whole.seek(0)
                if parts:
                    with tarfile.open(fileobj=whole, mode="r:gz") as archive:
                        archive.extractall(work, filter="data")
                    merged.merge(Evidence(f"{work}/{name}/evidence.jsonl"))
    merged.save()
    kernels = group_cases(merged)
    scores = [row["score"] for row in merged.rows("adequacy") if row["score"] is not None]
    print(f"{evidence}: {sum(map(len, kernels.values()))} cases of {len(kernels)} kernels, {len(scores)} scores")
