"""Identity, place, ledger, launchers and parameters of the records."""
import collections
import hashlib
import re

from .dataset import Check, check, counted, place_of

POINTER_NAME = re.compile(r"(^|_)ptrs?($|_)|_ptr\d*$", re.IGNORECASE)


def _hash(record):
    """The hash is of the file's bytes; a redacted source and one that is not UTF-8 have others."""
    if "\ufffd" in record["source"] or any(s["redacted"] for s in record["quality"]["sensitive"]):
        return None
    return hashlib.sha256(record["source"].encode()).hexdigest() != record["sha256"]


def _lines(record):
    text = record["source"]
    count = text.count("\n") + (not text.endswith("\n"))
    return count != record["last_line"] - record["first_line"] + 1


def _ids(rows):
    made = Check("record: id stands twice", len(rows))
    for key, count in collections.Counter(row["id"] for row in rows).items():
        if count > 1:
            made.add(key)
    return made


def _kept(dataset):
    made = Check("ledger: kept and not among the kernels, or the reverse", len(dataset.ledger))
    kept = {row["id"] for row in dataset.ledger if row["fate"] == "kept"}
    for key in sorted(kept ^ set(dataset.by_id)):
        made.add(key)
    return made


def _sums(dataset):
    made = Check("report: sums do not add up", 1)
    kernels = dataset.report["kernels"]
    if kernels["found"] != sum(kernels[fate] for fate in ("kept", "rejected", "duplicate", "contaminated")):
        made.add(str({key: kernels[key] for key in ("found", "kept", "rejected", "duplicate", "contaminated")}))
    return made


def _unexplained(row):
    return row["fate"] == "duplicate" and not (row["of"] and row["preferred_by"])


def _missed_pointers(record):
    missed = [p["name"] for p in record["parameters"] if p["role"] == "other" and POINTER_NAME.search(p["name"] or "")]
    return ", ".join(missed)


def _untyped(record):
    return not record["parameters"] or any(not p["annotation"] for p in record["parameters"])


def checks(dataset):
    rows, launched = dataset.kernels, [row for row in dataset.kernels if row["role"] == "kernel"]
    tuned = [row for row in rows if row["autotune"]]
    made = [
        check("record: sha256 is not the source's", rows, _hash, place_of),
        check("record: lines do not fit the source", rows, _lines, place_of),
        _ids(rows), _kept(dataset), _sums(dataset),
        check("ledger: a kernel without a name", dataset.ledger, lambda row: not row["name"], place_of),
        check("ledger: a duplicate without its original, or a preference", dataset.ledger, _unexplained, place_of),
        check("parameters: named a pointer, role other", rows, _missed_pointers, place_of, wrong=False),
        check("parameters: of CUDA without a type", [row for row in dataset.cuda() if "()" not in row["signature"]],
              _untyped, place_of, wrong=False),
        check("autotune: configurations not resolved", tuned, lambda row: not row["autotune"]["resolved"], place_of,
              wrong=False),
    ]
    for dsl in sorted({row["dsl"] for row in launched}):
        made.append(check(f"launcher: none, of launched {dsl} kernels", [row for row in launched if row["dsl"] == dsl],
                          lambda row: row["launcher"] is None, place_of, wrong=False))
    made += counted("fate", [f"{row['fate']} {(row['reason'] or '').split(':')[0]}".strip() for row in dataset.ledger],
                    len(dataset.ledger))
    return made
