"""Stores of destinations.py in buckets: S3 and Google Cloud Storage, each by its client library. Both write an object at once or not at
all, and replace one only if it is still the one that was read."""

from __future__ import annotations

import os
import pathlib
from collections.abc import Callable, Iterable
from typing import Any

from kernelmill.destinations import CHANGED
from kernelmill.errors import Error, NotPermitted, RequestError, Unreachable

_RETRIES = 5
_RETRY_SECONDS = 60


class S3:
    """A bucket of S3 or of a server that speaks its protocol, by obstore. Address and credentials are those of AWS's variables."""

    def __init__(self, url: str) -> None:
        try:
            import obstore  # type: ignore[import-not-found, unused-ignore]
            from obstore import exceptions, store
        except ImportError as error:
            raise RequestError(f"{url} needs obstore: pip install 'kernelmill[s3]'") from error
        self._url, self._obstore, self._exceptions = url.rstrip("/"), obstore, exceptions
        self._store: Any = self._try(url, lambda: store.from_url(url, retry_config={"max_retries": _RETRIES}))

    def _try(self, key: str, call: Callable[[], Any]) -> Any:
        known = self._exceptions
        try:
            return call()
        except FileNotFoundError:
            raise
        except (known.PermissionDeniedError, known.UnauthenticatedError) as error:
            raise NotPermitted(f"{key}: {_first_line(error)}", "PERMISSION_DENIED") from None
        except (known.AlreadyExistsError, known.PreconditionError) as error:
            raise RequestError(CHANGED.format(self.url(key)), "ABORTED") from error
        except known.GenericError as error:
            raise Unreachable(f"{key}: {_first_line(error)}") from None
        except (known.BaseError, OSError, ValueError) as error:
            raise Error(f"{key}: {_first_line(error)}") from None

    def read(self, key: str) -> tuple[bytes, str] | None:
        try:
            found = self._try(key, lambda: self._obstore.get(self._store, key))
        except FileNotFoundError:
            return None
        return bytes(self._try(key, found.bytes)), str(found.meta["e_tag"])

    def write(self, key: str, content: bytes, tag: str | None) -> None:
        mode: Any = "create" if tag is None else {"e_tag": tag}
        self._try(key, lambda: self._obstore.put(self._store, key, content, mode=mode))

    def list(self, prefix: str) -> dict[str, int]:
        pages = self._try(prefix, lambda: list(self._obstore.list(self._store, prefix)))
        return {entry["path"]: entry["size"] for page in pages for entry in page}

    def upload(self, key: str, path: pathlib.Path) -> None:
        self._try(key, lambda: self._obstore.put(self._store, key, path))

    def copy(self, source: str, key: str) -> bool:
        """S3 copies at most 5 GiB at once."""
        try:
            self._try(key, lambda: self._obstore.copy(self._store, source, key))
        except Error:
            return False
        return True

    def download(self, key: str, to: pathlib.Path) -> None:
        try:
            found = self._try(key, lambda: self._obstore.get(self._store, key))
            with open(to, "wb") as file:
                for block in found.stream():
                    file.write(block)
        except FileNotFoundError as error:
            raise Error(f"{self.url(key)} is missing") from error

    def delete(self, keys: Iterable[str]) -> None:
        every = list(keys)
        if every:
            try:
                self._try(every[0], lambda: self._obstore.delete(self._store, every))
            except FileNotFoundError:
                pass  # another run deleted it

    def url(self, key: str) -> str:
        return f"{self._url}/{key}"


class Google:
    """A bucket of Google Cloud Storage, by google-cloud-storage. Credentials are Google's default ones; an emulator is that of
    STORAGE_EMULATOR_HOST."""

    def __init__(self, url: str) -> None:
        try:
            from google.api_core import exceptions  # type: ignore[import-not-found, import-untyped, unused-ignore]
            from google.auth import credentials, exceptions as auth  # type: ignore[import-not-found, import-untyped, unused-ignore]
            from google.cloud import storage  # type: ignore[import-not-found, import-untyped, attr-defined, unused-ignore]
        except ImportError as error:
            raise RequestError(f"{url} needs google-cloud-storage: pip install 'kernelmill[gs]'") from error
        bucket, _, folder = url.removeprefix("gs://").rstrip("/").partition("/")
        self._url, self._prefix = url.rstrip("/"), f"{folder}/" if folder else ""
        self._exceptions, self._auth = exceptions, auth
        emulator: dict[str, Any] = {"project": "emulator", "credentials": credentials.AnonymousCredentials()}
        client = self._try(url, lambda: storage.Client(**emulator if os.environ.get("STORAGE_EMULATOR_HOST") else {}))
        self._bucket: Any = client.bucket(bucket)
        self._retry = storage.retry.DEFAULT_RETRY.with_timeout(_RETRY_SECONDS)

    def _try(self, key: str, call: Callable[[], Any]) -> Any:
        known = self._exceptions
        try:
            return call()
        except known.NotFound as error:
            raise FileNotFoundError(f"{self.url(key)}: {_first_line(error)}") from None
        except (known.Forbidden, known.Unauthorized, self._auth.DefaultCredentialsError) as error:
            raise NotPermitted(f"{key}: {_first_line(error)}", "PERMISSION_DENIED") from None
        except known.PreconditionFailed as error:
            raise RequestError(CHANGED.format(self.url(key)), "ABORTED") from error
        except (known.ServerError, known.RetryError, self._auth.TransportError, OSError) as error:
            raise Unreachable(f"{key}: {_first_line(error)}") from None
        except known.GoogleAPICallError as error:
            raise Error(f"{key}: {_first_line(error)}") from None

    def _blob(self, key: str) -> Any:
        return self._bucket.blob(self._prefix + key)

    def read(self, key: str) -> tuple[bytes, str] | None:
        blob = self._blob(key)
        try:
            content = self._try(key, lambda: blob.download_as_bytes(retry=self._retry))
        except FileNotFoundError:
            return None
        return bytes(content), str(blob.generation)

    def write(self, key: str, content: bytes, tag: str | None) -> None:
        self._try(key, lambda: self._blob(key).upload_from_string(content, if_generation_match=int(tag or 0), retry=self._retry))

    def list(self, prefix: str) -> dict[str, int]:
        begin = self._prefix + (f"{prefix}/" if prefix else "")
        return {blob.name.removeprefix(self._prefix): int(blob.size)
                for blob in self._try(prefix, lambda: list(self._bucket.list_blobs(prefix=begin, retry=self._retry)))}

    def upload(self, key: str, path: pathlib.Path) -> None:
        self._try(key, lambda: self._blob(key).upload_from_filename(str(path), checksum="crc32c", retry=self._retry))

    def copy(self, source: str, key: str) -> bool:
        """A large object is copied by several calls, which go on from the token of the one before."""
        def copy() -> bool:
            token = None
            while True:
                token = self._blob(key).rewrite(self._blob(source), token=token, retry=self._retry)[0]
                if token is None:
                    return True

        try:
            return bool(self._try(key, copy))
        except (Error, FileNotFoundError):
            return False

    def download(self, key: str, to: pathlib.Path) -> None:
        try:
            self._try(key, lambda: self._blob(key).download_to_filename(str(to), retry=self._retry))
        except FileNotFoundError as error:
            raise Error(f"{self.url(key)} is missing") from error

    def delete(self, keys: Iterable[str]) -> None:
        def delete(key: str) -> None:
            try:
                self._try(key, lambda: self._blob(key).delete(retry=self._retry))
            except FileNotFoundError:
                pass  # another run deleted it

        for key in keys:
            delete(key)

    def url(self, key: str) -> str:
        return f"{self._url}/{key}"


def _first_line(error: BaseException) -> str:
    """obstore puts the whole request, with its headers, below the first line."""
    return str(error).split("\n", 1)[0]
