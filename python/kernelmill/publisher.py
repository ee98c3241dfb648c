"""Publishes a dataset. The program's command `kernelmill publish` calls this module.

    hf://OWNER/NAME          a Hugging Face Hub      pip install 'kernelmill[hub]'
    s3://BUCKET/FOLDER       S3                      pip install 'kernelmill[s3]'
    gs://BUCKET/FOLDER       Google Cloud Storage    pip install 'kernelmill[gs]'
    file:FOLDER              a folder

Every publication is a new version with a tag, a changelog since the version before, and only the changed files are uploaded. A run
that is interrupted is continued by the same command."""

from __future__ import annotations

import json
import os
import pathlib
import re
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from kernelmill import program, publication as of
from kernelmill.dataset import Dataset, load
from kernelmill.destinations import Destination, Folder, Moved, Progress, Tree, count
from kernelmill.errors import DatasetError, Error, NotPermitted, RequestError, Unreachable
from kernelmill.publication import CHANGELOG, CROISSANT, LOCK, Publication

OBJECTED, WRONG, OUT_OF_REACH = 1, 2, 3  # exit codes, as the program's
_CODES = {OBJECTED: "FAILED_PRECONDITION", WRONG: "INVALID_ARGUMENT", OUT_OF_REACH: "UNAVAILABLE"}


class Objected(Error):
    """The dataset must not be published; `objections` says why."""

    def __init__(self, objections: Sequence[of.Objection]) -> None:
        super().__init__("\n".join(f"{one.message} (--allow {one.check} publishes it anyway)" for one in objections))
        self.objections = tuple(objections)


@dataclass(frozen=True)
class Published:
    """A version that is published. `new` is False if it was before."""

    version: str
    url: str
    dataset: str
    new: bool
    moved: Moved = field(default_factory=Moved)
    withdrawn: tuple[str, ...] = ()


def open_destination(url: str, private: bool = False, discard: bool = False) -> Destination:
    """RequestError: the URL is wrong, or its library is not installed."""
    if match := re.fullmatch(r"hf://([\w.-]+/[\w.-]+)/?", url):
        from kernelmill.hub import Hub

        return Hub(match[1], private)
    if re.fullmatch(r"(s3|gs)://[^/@?#]+(/[^?#]*)?", url):
        from kernelmill.objects import S3, Google

        return Tree(S3(url) if url.startswith("s3:") else Google(url), discard)
    if url.startswith("file:"):
        path = url.removeprefix("file://" if url.startswith("file:///") else "file:")
        if path:
            return Tree(Folder(pathlib.Path(path).absolute()), discard)
    raise RequestError("the destination must be hf://OWNER/NAME, s3://BUCKET/FOLDER, gs://BUCKET/FOLDER or file:FOLDER")


def publish(dataset: str | os.PathLike[str], destination: str, *, version: str | None = None, patch: bool = False,
            delete_older: bool = False, before: str | os.PathLike[str] | None = None, allow: Sequence[str] = (),
            json_lines: bool = False, private: bool = False, discard: bool = False, dry_run: bool = False,
            progress: Progress = lambda done, files: None) -> Published:
    """Publishes an exported folder as a new version; returns the existing one if the newest version is this dataset. `before` is the
    export of the newest version, which is downloaded otherwise. Objected: the dataset must not be published. RequestError,
    DatasetError, NotPermitted, Unreachable."""
    if unknown := sorted(set(allow) - set(of.CHECKS)):
        raise RequestError(f"--allow must be one of {', '.join(of.CHECKS)}: {unknown[0]}")
    opened, place = load(dataset), open_destination(destination, private, discard)
    previous = place.latest()
    objections = [one for one in of.find_objections(opened, previous) if one.check not in allow]
    if objections:
        raise Objected(objections)
    with tempfile.TemporaryDirectory(prefix="kernelmill-publish-") as work:
        made = _Making(opened, place, previous, pathlib.Path(work), json_lines, progress)
        if previous and made.is_published():
            result = Published(previous.version, place.url(previous.version), previous.dataset, False)
            if not dry_run:
                place.finish(previous)
        else:
            name = of.check_version(of.next_version(previous, patch) if version is None else version, previous)
            result = made.publish(name, patch, delete_older, pathlib.Path(before) if before else None, dry_run)
            previous = made.made
        if delete_older and previous and not dry_run:
            place.delete_others(previous)
        return result


class _Making:
    """A version that is being made, in a temporary folder."""

    def __init__(self, dataset: Dataset, place: Destination, previous: Publication | None, work: pathlib.Path, json_lines: bool,
                 progress: Progress) -> None:
        self._dataset, self._place, self._previous, self._work, self._progress = dataset, place, previous, work, progress
        self._paths = of.dataset_files(dataset, json_lines)
        if CROISSANT not in self._paths:
            raise DatasetError(f"{dataset.folder} has no {CROISSANT}: export the dataset again")
        of.check_whole(dataset, of.hash_files({path: file for path, file in self._paths.items() if path.startswith("data/")}))
        of.write_croissant(self._paths[CROISSANT], self._paths, work / CROISSANT)
        self._paths[CROISSANT] = work / CROISSANT
        if LOCK in self._paths:
            of.write_lock(self._paths[LOCK], work / LOCK)
            self._paths[LOCK] = work / LOCK
        self._files = of.hash_files(self._paths)
        self.made: Publication | None = None

    def is_published(self) -> bool:
        return self._previous is not None and self._previous.without_changelog() == (self._dataset.digest, self._files)

    def publish(self, version: str, patch: bool, delete_older: bool, before: pathlib.Path | None, dry_run: bool) -> Published:
        previous = self._previous
        changes = self._changes(before) if previous else None
        if patch and changes is None:
            raise RequestError("--patch: no version is published yet")
        if patch and changes:
            changes.check_patch()
        new = [of.Withdrawn(row["a"]["id"], row["a"]["sha256"]) for row in changes.withdrawn()] if changes else []
        old = previous.withdrawn if previous else ()
        kept = previous.versions if previous and not delete_older else ()
        publication = Publication(version, self._dataset.digest, self._dataset.name, (*kept, version),
                                  tuple(sorted({*old, *new}, key=lambda row: row.id)), self._files)
        self._write_changelog(publication, changes)
        publication = Publication(**{**vars(publication), "files": of.hash_files(self._paths)})
        if dry_run:
            known = {file.sha256 for file in previous.files} if previous else set()
            moved = count((file for file in publication.files if file.sha256 not in known),
                          (file for file in publication.files if file.sha256 in known))
        else:
            moved = self._place.publish(publication, self._paths, previous, self._progress)
            self.made = publication
        withdrawn = tuple(one.id for one in new)
        return Published(version, self._place.url(version), publication.dataset, True, moved, withdrawn)

    def _changes(self, before: pathlib.Path | None) -> of.Changes:
        """Returns what changed since the version before."""
        assert self._previous is not None
        if before is None:
            before = self._work / "before"
            before.mkdir()
            for path in of.diff_files(self._previous):
                self._place.download(self._previous, path, before)
            of.write_diff_lines(before, before)
        elif load(before).digest != self._previous.dataset:
            raise RequestError(f"--before: {before} must be the export of {self._previous.version}, dataset {self._previous.dataset}")
        return of.Changes.from_lines(program.run(["diff", before, self._dataset.folder], fails=(1,)).output)

    def _write_changelog(self, publication: Publication, changes: of.Changes | None) -> None:
        earlier = ""
        if self._previous:
            self._place.download(self._previous, CHANGELOG, self._work / "changelog")
            earlier = (self._work / "changelog" / CHANGELOG).read_text(encoding="utf-8")
        text = of.changelog(publication, changes, int(self._dataset.report["kernels"]["kept"]), earlier)
        self._paths[CHANGELOG] = self._work / CHANGELOG
        self._paths[CHANGELOG].write_text(text, encoding="utf-8")


# ---------------------------------------------------------------- the command

def _text(result: Published, dry_run: bool) -> str:
    if not result.new:
        return f"already published as {result.version}\n{result.url}"
    moved, verb = result.moved, "would be published" if dry_run else "published"
    lines = [f"{result.version} {verb}: {moved.uploaded_files} files, {moved.uploaded_bytes} bytes uploaded; "
             f"{moved.reused_files} files, {moved.reused_bytes} bytes unchanged"]
    if result.withdrawn:
        lines.append(f"withdrawn: {len(result.withdrawn)} kernels")
    return "\n".join([*lines, result.url])


def _show(done: int, files: int) -> None:
    print(f"\ruploaded {done} of {files} files", end="\n" if done == files else "", file=sys.stderr, flush=True)


def scrub(text: str, environment: Mapping[str, str]) -> str:
    """Removes the values of secrets in the environment from a text that a library made."""
    for name, value in environment.items():
        if len(value) >= 6 and re.search(r"TOKEN|SECRET|PASSWORD|CREDENTIAL|ACCESS_KEY|ACCOUNT_KEY", name, re.IGNORECASE):
            text = text.replace(value, "***")
    return text


def command(options: str) -> int:
    """Runs `kernelmill publish` with its options, a JSON object: those of publish(), and `json`. Returns the exit code."""
    arguments = json.loads(options)
    as_json = arguments.pop("json")
    try:
        result = publish(**arguments, progress=_show if sys.stderr.isatty() and not as_json else lambda done, files: None)
    except ImportError as error:
        return _fail(f"{error}: pip install 'kernelmill[hub]', [s3] or [gs] installs what is missing", WRONG, as_json)
    except Error as error:
        code = OBJECTED if isinstance(error, Objected) else OUT_OF_REACH if isinstance(error, Unreachable) else WRONG
        return _fail(str(error), code, as_json)
    print(json.dumps({"type": "published", **asdict(result)}) if as_json else _text(result, arguments["dry_run"]))
    return 0


def _fail(message: str, code: int, as_json: bool) -> int:
    message = scrub(message, os.environ)
    print(json.dumps({"type": "error", "error": message, "code": _CODES[code], "exit": code}) if as_json else f"kernelmill publish: {message}", file=sys.stderr)
    return code

