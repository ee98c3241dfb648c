"""Describes a published version of a dataset: its files with their digests, what was withdrawn, and the changes since the version
before. Decides what must not be published. Needs the standard library alone."""

from __future__ import annotations

import hashlib
import json
import pathlib
import re
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from typing import Any

from kernelmill.dataset import Dataset
from kernelmill.errors import DatasetError, RequestError

MANIFEST = "PUBLICATION.json"
CHANGELOG = "CHANGELOG.md"
CROISSANT = "croissant.json"
LOCK = "job.lock.yaml"
_HASH_THREADS = 4
_VERSION = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
_NUMBERED = re.compile(r"v(\d+)(?:\.(\d+))?")
_WITHDRAWN = "opt_out"  # a reason of the ledger, and the beginning of others


@dataclass(frozen=True)
class File:
    """A file of a version. Its path is relative to the version, with slashes."""

    path: str
    size: int
    sha256: str


@dataclass(frozen=True)
class Withdrawn:
    """A kernel whose author opted out. It never comes back under this id or with this text."""

    id: str
    sha256: str


@dataclass(frozen=True)
class Publication:
    """A published version. `versions` are the readable ones, this one last. `withdrawn` is what this version and all before it
    withdrew."""

    version: str
    dataset: str
    name: str
    versions: tuple[str, ...]
    withdrawn: tuple[Withdrawn, ...]
    files: tuple[File, ...]

    def to_bytes(self) -> bytes:
        return (json.dumps(asdict(self), indent=1, ensure_ascii=False) + "\n").encode()

    @classmethod
    def from_bytes(cls, content: bytes, where: str) -> Publication:
        """DatasetError: the content was not written by to_bytes."""
        try:
            value = json.loads(content)
            return cls(str(value["version"]), str(value["dataset"]), str(value["name"]), tuple(map(str, value["versions"])),
                       tuple(Withdrawn(**row) for row in value["withdrawn"]), tuple(File(**file) for file in value["files"]))
        except (ValueError, LookupError, TypeError) as error:
            raise DatasetError(f"{where} must be a publication that kernelmill wrote: {error!r}") from error

    def without_changelog(self) -> tuple[str, tuple[File, ...]]:
        """Returns what two publications of the same dataset share, whatever their versions."""
        return self.dataset, tuple(file for file in self.files if file.path != CHANGELOG)


def next_version(previous: Publication | None, patch: bool) -> str:
    """Returns v1, v2 and so on; for a patch v2.1, v2.2. RequestError: the previous version has another form."""
    if previous is None:
        return "v1"
    match = _NUMBERED.fullmatch(previous.version)
    if not match:
        raise RequestError(f"the version before is {previous.version}: set --tag")
    major, minor = int(match[1]), int(match[2] or 0)
    return f"v{major}.{minor + 1}" if patch else f"v{major + 1}"


def check_version(version: str, previous: Publication | None) -> str:
    """RequestError: the version is taken, or no name of a tag and a folder."""
    if not _VERSION.fullmatch(version) or ".." in version or version.endswith((".lock", ".")):
        raise RequestError(f"--tag must be letters, digits, '.', '_' and '-', and begin with a letter or digit: {version!r}")
    if previous and version in previous.versions:
        raise RequestError(f"--tag: {version} is published already")
    return version


# ---------------------------------------------------------------- the files

def repeats_rows(path: str) -> bool:
    """True if the file's texts are also in data/, as Parquet: JSON lines and the training views made of them."""
    return "/" not in path and (path.endswith((".jsonl", ".csv")) or path in ("triton_functions.json", "dataset_info.json"))


def dataset_files(dataset: Dataset, json_lines: bool) -> dict[str, pathlib.Path]:
    """Returns the files to publish, by path. DatasetError: one of them is a link, or would be overwritten."""
    files = {}
    for path in sorted(dataset.folder.rglob("*")):
        name = path.relative_to(dataset.folder).as_posix()
        if path.is_symlink() or not (path.is_file() or path.is_dir()):
            raise DatasetError(f"{path} must be a regular file or a folder")
        if path.is_dir() or not json_lines and repeats_rows(name):
            continue
        if name in (MANIFEST, CHANGELOG, "PUBLISHING.json"):
            raise DatasetError(f"{path}: publish writes this file; publish the folder that kernelmill exported")
        files[name] = path
    return files


_LOCAL = re.compile(r'  (- |  )(path|inductor|git): "?(file:|/)')  # a line of a source


def write_lock(source: pathlib.Path, to: pathlib.Path) -> None:
    """Writes job.lock.yaml with the folders of this machine replaced by the names of their sources. A source is pinned by its hash
    and known by its name, so the file still makes the same dataset, from such folders beside it."""
    text = source.read_text(encoding="utf-8")
    lines, local, in_sources = text.split("\n"), -1, False
    for number, line in enumerate(lines):
        if line and not line.startswith(" "):
            in_sources = line == "sources:"
        if in_sources and line.startswith("  - "):
            local = -1
        if in_sources and _LOCAL.match(line):
            local = number
        elif in_sources and local >= 0 and line.startswith("    name: "):
            lines[local] = f"{lines[local].split(': ', 1)[0]}: {line.split(': ', 1)[1]}"
            local = -1
    to.write_text("\n".join(lines), encoding="utf-8")


def write_croissant(source: pathlib.Path, paths: Iterable[str], to: pathlib.Path) -> None:
    """Writes croissant.json without the files that are not published."""
    published = set(paths)
    croissant = json.loads(source.read_bytes())
    croissant["distribution"] = [entry for entry in croissant["distribution"]
                                 if "contentUrl" not in entry or entry["contentUrl"] in published]
    to.write_text(json.dumps(croissant, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def hash_files(files: Mapping[str, pathlib.Path]) -> tuple[File, ...]:
    """Returns the files with their sizes and digests, by path."""
    def hashed(item: tuple[str, pathlib.Path]) -> File:
        with open(item[1], "rb") as content:
            digest = hashlib.file_digest(content, "sha256") if hasattr(hashlib, "file_digest") else _digest(content)
        return File(item[0], item[1].stat().st_size, digest.hexdigest())

    with ThreadPoolExecutor(_HASH_THREADS) as threads:
        return tuple(threads.map(hashed, sorted(files.items())))


def _digest(content: Any) -> Any:
    """Python 3.10 has no hashlib.file_digest."""
    digest = hashlib.sha256()
    while block := content.read(1 << 20):
        digest.update(block)
    return digest


def check_whole(dataset: Dataset, files: Iterable[File]) -> None:
    """DatasetError: a file is not as the export wrote it; croissant.json has the digests."""
    known = {file.path: file.sha256 for file in files}
    for entry in json.loads((dataset.folder / CROISSANT).read_bytes())["distribution"]:
        path = entry.get("contentUrl")
        if path in known and known[path] != entry["sha256"]:
            raise DatasetError(f"{dataset.folder / path} is not as it was exported: export the dataset again")


# ---------------------------------------------------------------- what must not go out

@dataclass(frozen=True)
class Objection:
    """A reason not to publish. `--allow CHECK` overrides it."""

    check: str
    message: str


CHECKS = ("empty", "gates", "failed", "license", "opt_out", "name", "withdrawn")


def find_objections(dataset: Dataset, previous: Publication | None) -> list[Objection]:
    """Returns the reasons why the dataset must not be published."""
    report = dataset.report
    found = []
    if not report["kernels"]["kept"] and not report["training_files"]["kept"]:
        found.append(Objection("empty", "the dataset has neither a kernel nor a file"))
    elif report["kernels"]["kept"] and not report["splits"].get("train", {}).get("kernels"):
        found.append(Objection("empty", "the split train has no kernels"))
    for name, gate in sorted(report["gates"].items()):
        if not gate["passed"]:
            found.append(Objection("gates", f"gate {name}: {gate['value']}, the bound is {gate['bound']}"))
    failed = [source["repository"] for source in report["sources"] if source["failed"]]
    if failed:
        found.append(Objection("failed", f"{_counted(len(failed), 'source')} failed: {_some(failed)}"))
    missed = [str(one["asked"]) for one in report["unmatched"] if one["what"] == "opt_out"]
    if missed:
        found.append(Objection("opt_out", f"opt_out took nothing out by {_some(missed)}: is it spelled right?"))
    unknown = [name for name in report["licenses"] if "NOASSERTION" in name or name in ("", "NONE")]
    if unknown:
        found.append(Objection("license", f"kernels have no known licence: {_some(unknown)}"))
    if previous and previous.name != dataset.name:
        found.append(Objection("name", f"{previous.version} there is the dataset {previous.name}, not {dataset.name}: is the destination right?"))
    if previous and previous.withdrawn:
        ids, texts = {row.id for row in previous.withdrawn}, {row.sha256 for row in previous.withdrawn}
        back = [str(row["id"]) for row in dataset.ledger.raw()
                if row["fate"] == "kept" and (row["id"] in ids or row["sha256"] in texts)]
        if back:
            found.append(Objection("withdrawn", f"{_counted(len(back), 'kernel')} that an earlier version withdrew came back: "
                                                f"{_some(back)}; keep their entries in opt_out"))
    return found


def _some(names: list[str]) -> str:
    return ", ".join(names[:5]) + (f" and {len(names) - 5} more" if len(names) > 5 else "")


def _counted(number: int, word: str) -> str:
    return f"{number} {word}" if number == 1 else f"{number} {word}s"


# ---------------------------------------------------------------- changes

@dataclass(frozen=True)
class Changes:
    """The output of `kernelmill diff --json`: a summary, and a row for each kernel that changed."""

    summary: Mapping[str, Any]
    kernels: tuple[Mapping[str, Any], ...]

    @classmethod
    def from_lines(cls, text: str) -> Changes:
        rows = [json.loads(line) for line in text.split("\n") if line]
        return cls(rows[0], tuple(rows[1:]))

    def withdrawn(self) -> list[Mapping[str, Any]]:
        """Returns the changes of kernels that the version before has and whose authors opted out: they must not come back."""
        return [row for row in self._opted_out() if row["b"]["reason"] == _WITHDRAWN]

    def carriers(self) -> list[Mapping[str, Any]]:
        """Returns the changes of kernels that left because they carry a withdrawn text. They may come back without it."""
        return [row for row in self._opted_out() if row["b"]["reason"] != _WITHDRAWN]

    def _opted_out(self) -> list[Mapping[str, Any]]:
        return [row for row in self.kernels
                if row["change"] == "went" and row["b"] and str(row["b"]["reason"]).startswith(_WITHDRAWN)]

    def check_patch(self) -> None:
        """RequestError: something else changed than what people opted out of."""
        gone = self._opted_out()
        if not gone:
            raise RequestError("--patch: no kernel of the version before is opted out of")
        others = [f"{row['change']}: {(row['a'] or row['b'])['id']}" for row in self.kernels
                  if row not in gone and row["change"] not in ("fate", "found", "lost")]
        others += [line for key in ("stages", "sources") for line in self.summary[key]]
        others += [line for line in self.summary["settings"] if not _is_opt_out(line)]
        if others:
            raise RequestError(f"--patch: a patch only withdraws, but more changed: {_some(others)}; crawl the job.lock.yaml of the "
                               "version before with the new opt_out, or publish without --patch")


def changelog(publication: Publication, changes: Changes | None, kept: int, before: str) -> str:
    """Returns CHANGELOG.md: this version, above the changelog of the version before. Withdrawn kernels are named by id alone."""
    lines = [f"## {publication.version}", "", f"{_counted(kept, 'kernel')}, dataset `{publication.dataset}`."]
    if changes is not None:
        lines += ["", *_changed(changes)]
    text = "\n".join(["# Changes", "", *lines]).rstrip("\n") + "\n"
    body = before.partition("\n\n")[2]
    return f"{text}\n{body}" if body else text


def _changed(changes: Changes) -> Iterator[str]:
    rows = changes.summary["changes"]
    if not rows and not any(changes.summary[key] for key in ("stages", "sources", "settings")):
        yield "No kernel changed."
    if rows:
        yield from ("| change | kernels | reason |", "|---|---|---|")
        for row in rows:
            yield f"| {row['change']} | {row['kernels']} | {_cell(row['reason'])} |"
        yield ""
    for title, gone in (("Withdrawn, since their authors opted out:", changes.withdrawn()),
                        ("Left out, since their modules have a withdrawn text:", changes.carriers())):
        if gone:
            yield title
            yield ""
            yield from (f"- `{row['a']['id']}`" for row in gone)
            yield ""
    for key in ("sources", "stages", "settings"):
        # An entry of the opt-out list may name a person.
        lines = [line for line in changes.summary[key] if not _is_opt_out(line)]
        if lines:
            yield f"{key.capitalize()}:"
            yield ""
            yield from (f"- `{_cell(line)}`" for line in lines)
            yield ""


def _is_opt_out(setting: str) -> bool:
    return setting.lstrip("+- ").startswith(_WITHDRAWN)


def _cell(text: str) -> str:
    """Returns a text of a job or a repository that cannot break out of its cell or code span."""
    return re.sub(r"[\s\x00-\x1f\x7f]+", " ", text or "").replace("`", "'").replace("|", "\\|")


# ---------------------------------------------------------------- the version before

# The columns that `kernelmill diff` reads.
DIFF_COLUMNS: Mapping[str, tuple[str, ...]] = {
    "ledger": ("id", "of", "sha256", "repository", "path", "json_pointer", "first_line", "dsl", "fate", "reason"),
    "kernels": ("id", "module", "qualname", "license", "checks", "compile"),
}


def diff_files(publication: Publication) -> list[str]:
    """Returns the paths of the published files that `kernelmill diff` needs."""
    folders = tuple(f"data/{table}/" for table in DIFF_COLUMNS)
    return [file.path for file in publication.files if file.path in ("report.json", LOCK) or file.path.startswith(folders)]


def write_diff_lines(folder: pathlib.Path, to: pathlib.Path) -> None:
    """Writes the JSON lines that `kernelmill diff` reads into the folder `to`, from the Parquet files of a version. `kernelmill diff`
    calls it. ImportError: pyarrow is missing."""
    import pyarrow.parquet  # type: ignore[import-not-found, unused-ignore]

    for table, columns in DIFF_COLUMNS.items():
        with open(to / f"{table}.jsonl", "w", encoding="utf-8") as lines:
            for path in sorted((folder / "data" / table).glob("*.parquet"), key=_split_order):
                for batch in pyarrow.parquet.ParquetFile(path).iter_batches(batch_size=1000, columns=list(columns)):
                    lines.writelines(json.dumps(row, ensure_ascii=False) + "\n" for row in batch.to_pylist())


def _split_order(path: pathlib.Path) -> tuple[int, str]:
    """The order of the splits in the ledger does not matter to the diff; that of the files of a split does."""
    return ("train", "validation", "test").index(path.name.split("-")[0]), path.name

