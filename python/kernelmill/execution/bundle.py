"""A bundle: the part of a dataset that has cases, the cases, and this code, in one archive for a machine with a GPU.

    tar xf bundle.tar.gz; PYTHONPATH=bundle python3 -m kernelmill.execution.command run bundle --device cuda:90

It comes back as its evidence.jsonl and evidence/, which `kernelmill run DATASET --merge` adds."""

from __future__ import annotations

import io
import json
import os
import pathlib
import tarfile
from collections.abc import Sequence

from kernelmill.execution import harness
from kernelmill.execution.case import Row
from kernelmill.execution.evidence import Evidence, tensors_of
from kernelmill.execution.rows import FILE, read_kernels

EVIDENCE, REFERENCES, HISTORY = "evidence.jsonl", "references.jsonl", "history.jsonl"


def pack(dataset: str | os.PathLike[str], evidence: Evidence, out: str | os.PathLike[str], changes: Sequence[Row] = ()) -> int:
    """Writes a bundle, with rows of history.jsonl. Returns the number of its kernels."""
    wanted = {(case.module_sha256, case.kernel) for case in evidence.cases()}
    rows = [each.row for each in read_kernels(dataset) if (each.module_sha256, each.name) in wanted]
    with tarfile.open(out, "w:gz", compresslevel=9) as archive:
        _add(archive, FILE, "".join(json.dumps(row) + "\n" for row in rows).encode())
        if changes:
            _add(archive, HISTORY, "".join(json.dumps(row) + "\n" for row in changes).encode())
        _add(archive, REFERENCES, _references(pathlib.Path(dataset) / REFERENCES, {str(row["id"]) for row in rows}))
        evidence.save()
        for number, file in enumerate(evidence.files()):
            _add(archive, EVIDENCE if number == 0 else f"evidence-{number:04}.jsonl", file.read_bytes())
        for digest in sorted({digest for row in evidence.rows("case") for digest in tensors_of(row)}):
            _add(archive, f"evidence/{digest}", evidence.get(digest))
        pack_code(archive)
    return len(rows)


def _references(file: pathlib.Path, kernels: set[str]) -> bytes:
    """Returns the lines of these kernels; none if the dataset has no references."""
    if not file.exists():
        return b""
    return b"".join(line for line in file.read_bytes().splitlines(keepends=True) if json.loads(line)["kernel_id"] in kernels)


def pack_code(archive: tarfile.TarFile) -> None:
    """Adds this package and the harness, as the wheel has them."""
    for name in ("__init__.py", "errors.py", "_version.py"):
        if (harness.PACKAGE / name).exists():
            _add(archive, f"kernelmill/{name}", (harness.PACKAGE / name).read_bytes())
    for name in ("execution", "tasks"):
        for file in sorted((harness.PACKAGE / name).glob("*.py")):
            _add(archive, f"kernelmill/{name}/{file.name}", file.read_bytes())
    for folder in harness.folders():
        for file in sorted(folder.glob("*.py")):
            _add(archive, f"kernelmill/harness/{file.name}", file.read_bytes())


def _add(archive: tarfile.TarFile, name: str, data: bytes) -> None:
    entry = tarfile.TarInfo(f"bundle/{name}")
    entry.size, entry.mode = len(data), 0o644
    archive.addfile(entry, io.BytesIO(data))
