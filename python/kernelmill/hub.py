"""Publishes versions of a dataset to a Hugging Face Hub (hf://owner/name), by huggingface_hub. A version is a commit of `main` with a
tag of its name; PUBLICATION.json in it has its files.

The basic idea: large files go up first, and the Hub keeps them by their digest, so that an interrupted run does not send them again.
Then one commit changes everything at once, and the tag comes last; the next run adds it if this one is interrupted. The Hub's address
and token are those of huggingface_hub (HF_ENDPOINT, HF_TOKEN, `hf auth login`)."""

from __future__ import annotations

import pathlib
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from kernelmill.destinations import Moved, Progress, count
from kernelmill.errors import Error, NotPermitted, RequestError, Unreachable
from kernelmill.publication import MANIFEST, File, Publication

_BATCH = 16  # files between two requests; what is up then is up
T = TypeVar("T")


class Hub:
    """A Destination in a dataset repository."""

    def __init__(self, repository: str, private: bool) -> None:
        try:
            import huggingface_hub  # type: ignore[import-not-found, unused-ignore]
            from huggingface_hub import errors, utils
        except ImportError as error:
            raise RequestError(f"hf://{repository} needs huggingface_hub: pip install 'kernelmill[hub]'") from error
        utils.disable_progress_bars()
        self._repository, self._private, self._library, self._errors = repository, private, huggingface_hub, errors
        self._api: Any = huggingface_hub.HfApi(library_name="kernelmill")
        self._names = {"repo_id": repository, "repo_type": "dataset"}
        self._main: str | None = None  # the commit of the branch

    def _call(self, call: Callable[..., T], **arguments: Any) -> T:
        """Calls the Hub, with the repository's name. Missing repositories, revisions and files are the caller's."""
        known = self._errors
        try:
            return call(**self._names, **arguments)
        except (known.GatedRepoError, known.DisabledRepoError) as error:
            raise NotPermitted(self._message(error), "PERMISSION_DENIED") from None
        except (known.RepositoryNotFoundError, known.RevisionNotFoundError, known.EntryNotFoundError):
            raise
        except known.HfHubHTTPError as error:
            status = error.response.status_code
            if status in (401, 403):
                raise NotPermitted(self._message(error), "PERMISSION_DENIED") from None
            if status in (409, 412):
                raise RequestError(f"{self.url('main')}: another publisher changed it meanwhile; publish again", "ABORTED") from None
            raise (Unreachable if status >= 500 else Error)(self._message(error)) from None
        except known.HFValidationError as error:
            raise RequestError(self._message(error)) from None
        except (known.HfHubHTTPError.__bases__[0], OSError) as error:  # the HTTP library's
            raise Unreachable(self._message(error)) from None

    def _message(self, error: BaseException) -> str:
        return f"hf://{self._repository}: {' '.join(str(error).split())}"

    def latest(self) -> Publication | None:
        known = self._errors
        try:
            self._main = str(self._call(self._api.repo_info, revision="main").sha)
            path = self._call(self._api.hf_hub_download, filename=MANIFEST, revision=self._main)
        except (known.RepositoryNotFoundError, known.RevisionNotFoundError, known.EntryNotFoundError):
            return None
        return Publication.from_bytes(pathlib.Path(path).read_bytes(), f"{self.url('main')}: {MANIFEST}")

    def download(self, publication: Publication, path: str, to: pathlib.Path) -> None:
        self._call(self._api.hf_hub_download, filename=path, revision=publication.version, local_dir=to)

    def publish(self, publication: Publication, paths: Mapping[str, pathlib.Path], previous: Publication | None,
                progress: Progress) -> Moved:
        if self._main is None:
            self._call(self._api.create_repo, private=self._private or None)
        there = {file.path: file.sha256 for file in previous.files} if previous else {}
        new = [file for file in publication.files if there.get(file.path) != file.sha256]
        self._commit(publication, new, paths, set(there) - {file.path for file in publication.files}, progress)
        self.finish(publication)
        known = {*there.values()}
        uploaded = [file for file in new if file.sha256 not in known]
        return count(uploaded, set(publication.files) - set(uploaded))

    def finish(self, publication: Publication) -> None:
        self._call(self._api.create_tag, tag=publication.version, revision=self._main, exist_ok=True)

    def _commit(self, publication: Publication, new: list[File], paths: Mapping[str, pathlib.Path], gone: set[str],
                progress: Progress) -> None:
        add, remove = self._library.CommitOperationAdd, self._library.CommitOperationDelete
        additions = [add(path_in_repo=file.path, path_or_fileobj=paths[file.path]) for file in new]
        for begin in range(0, len(additions), _BATCH):
            self._call(self._api.preupload_lfs_files, additions=additions[begin:begin + _BATCH], free_memory=False)
            progress(min(begin + _BATCH, len(additions)), len(additions))
        manifest = add(path_in_repo=MANIFEST, path_or_fileobj=publication.to_bytes())
        made = self._call(self._api.create_commit, operations=[*additions, manifest, *(remove(path_in_repo=path) for path in sorted(gone))],
                          commit_message=f"{publication.version}: dataset {publication.dataset}", parent_commit=self._main)
        self._main = str(made.oid)

    def delete_others(self, kept: Publication) -> None:
        """Deletes all other tags, the history of `main`, and the large files that the kept version lacks."""
        for tag in self._call(self._api.list_repo_refs).tags:
            if tag.name != kept.version:
                self._call(self._api.delete_tag, tag=tag.name)
        self._call(self._api.super_squash_history, branch="main", commit_message=f"{kept.version}: dataset {kept.dataset}")
        # The tag still names a commit with the history.
        self._call(self._api.delete_tag, tag=kept.version)
        self._call(self._api.create_tag, tag=kept.version, revision="main")
        digests = {file.sha256 for file in kept.files}
        old = [file for file in self._call(self._api.list_lfs_files) if file.file_oid not in digests]
        self._call(self._api.permanently_delete_lfs_files, lfs_files=old)

    def url(self, version: str) -> str:
        return f"hf://{self._repository}@{version}"
