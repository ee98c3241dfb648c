"""Counts the tokens of an export with any tokenizer.json, and packs its texts into sequences of one length:

    python3 -m kernelmill.tokens DIR --tokenizer tokenizer.json [--pack 4096 --end '<|endoftext|>']

Needs the library tokenizers (pip install 'kernelmill[tokens]'), and no network. Everything is written to DIR/tokens:

tokens.json             how many rows and tokens each config has in each split, and what was packed
CONFIG-SPLIT-4096.npy   for numpy.load: uint32, one packed sequence a row

A config's texts are the modules of kernels, prompt and completion of fim, the text of files. They are packed in the order of
the file, or of a phase of the job's mix (--phase NAME), the end token behind each, cut wherever a sequence is full; what is left
at the end and does not fill one is dropped, and counted. Conversations of instruct are counted, each message by itself, and not
packed: their template is the model's.
"""

from __future__ import annotations

import argparse
import array
import hashlib
import json
import pathlib
import struct
import sys
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from kernelmill.errors import Error
from kernelmill.tables import open_rows

if TYPE_CHECKING:
    from tokenizers import Tokenizer  # type: ignore[import-not-found, unused-ignore]

_BATCH = 256
_CONFIGS = ("kernels", "fim", "instruct", "files")


class TokensError(ValueError):
    """The request cannot be met; the message says why."""


def texts(config: str, row: dict[str, Any]) -> list[str]:
    """Returns the texts of a row that a model reads."""
    if config == "kernels":
        return [row["module"] or row["source"]]
    if config == "fim":
        return [row["prompt"] + row["completion"]]
    if config == "files":
        return [row["text"]]
    return [message["content"] for message in row["messages"]]


def _rows(export: pathlib.Path, config: str) -> Iterator[dict[str, Any]]:
    """Iterates over the rows of a config, if the dataset has some."""
    rows = json.loads((export / "report.json").read_text(encoding="utf-8")).get("rows", {})
    for _, row in open_rows(export / f"{config}.jsonl", empty=rows.get(config) == 0).rows():
        yield row


def _encode(tokenizer: Tokenizer, batch: list[str]) -> Iterator[list[int]]:
    for encoding in tokenizer.encode_batch_fast(batch, add_special_tokens=False):
        yield encoding.ids


def count(export: pathlib.Path, tokenizer: Tokenizer) -> list[dict[str, Any]]:
    """Counts the rows and tokens of each config in each split."""
    counts: dict[tuple[str, str], list[int]] = {}
    for config in _CONFIGS:
        splits: list[str] = []
        batch: list[str] = []

        def flush() -> None:
            for split, ids in zip(splits, _encode(tokenizer, batch)):
                counts.setdefault((config, split), [0, 0])[1] += len(ids)
            splits.clear()
            batch.clear()

        for row in _rows(export, config):
            counts.setdefault((config, row["split"]), [0, 0])[0] += 1
            for text in texts(config, row):
                splits.append(row["split"])
                batch.append(text)
            if len(batch) >= _BATCH:
                flush()
        flush()
    return [{"config": config, "split": split, "rows": rows, "tokens": tokens}
            for (config, split), (rows, tokens) in sorted(counts.items())]


class _Offsets:
    """Random access to the lines of a file by number; holds offsets in memory, not the file."""

    def __init__(self, path: pathlib.Path) -> None:
        self._file = open(path, "rb")
        self._begins = array.array("Q", [0])
        for line in self._file:
            self._begins.append(self._begins[-1] + len(line))

    def row(self, number: int) -> dict[str, Any]:
        self._file.seek(self._begins[number])
        row: dict[str, Any] = json.loads(self._file.readline())
        return row

    def close(self) -> None:
        self._file.close()


def _phase_texts(export: pathlib.Path, name: str) -> Iterator[str]:
    """Iterates over the texts of a phase of the mix, in the phase's order."""
    mix = json.loads((export / "mix.json").read_text(encoding="utf-8"))
    found = [phase for phase in mix["phases"] if phase["name"] == name]
    if not found:
        raise TokensError(f"mix.json has no phase {name}")
    configs = [part["config"] for part in found[0]["parts"]]
    if "instruct" in configs:
        raise TokensError(f"phase {name} draws from instruct, whose conversations are not packed")
    missing = [config for config in sorted(set(configs)) if config and not (export / f"{config}.jsonl").is_file()]
    if missing:
        raise TokensError(f"phase {name} reads {missing[0]}.jsonl, which is missing: `kernelmill publish --json-lines` publishes it")
    files = {config: _Offsets(export / f"{config}.jsonl") for config in set(configs) if config}
    try:
        with open(export / found[0]["index"], "rb") as index:
            index.seek(8)
            (head,) = struct.unpack("<H", index.read(2))
            index.seek(10 + head)
            while pair := index.read(8):
                part, line = struct.unpack("<II", pair)
                yield from texts(configs[part], files[configs[part]].row(line))
    finally:
        for file in files.values():
            file.close()


def _split_texts(export: pathlib.Path, config: str, split: str) -> Iterator[str]:
    for row in _rows(export, config):
        if row["split"] == split:
            yield from texts(config, row)


def _batches(source: Iterable[str]) -> Iterator[list[str]]:
    batch: list[str] = []
    for text in source:
        batch.append(text)
        if len(batch) == _BATCH:
            yield batch
            batch = []
    if batch:
        yield batch


def npy_head(rows: int, columns: int) -> bytes:
    """Returns the header of a .npy file (version 1.0) that holds an array of uint32."""
    dictionary = f"{{'descr': '<u4', 'fortran_order': False, 'shape': ({rows}, {columns}), }}".encode()
    # The header has the same size for any number of rows, so that pack() can overwrite it when it knows the number.
    dictionary = dictionary.ljust(117) + b"\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(dictionary)) + dictionary


def pack(source: Iterable[str], tokenizer: Tokenizer, length: int, end: int, path: pathlib.Path) -> dict[str, Any]:
    """Packs texts into sequences of `length` tokens; returns the number of sequences and of dropped tokens."""
    sequences = 0
    rest = array.array("I")
    with open(path, "wb") as out:
        out.write(npy_head(0, length))
        for batch in _batches(source):
            for ids in _encode(tokenizer, batch):
                rest.extend(ids)
                rest.append(end)
            whole = len(rest) // length
            if whole:
                written = rest[: whole * length]
                if sys.byteorder == "big":
                    written.byteswap()
                out.write(written.tobytes())
                rest = rest[whole * length:]
                sequences += whole
        out.seek(0)
        out.write(npy_head(sequences, length))
    return {"file": path.name, "length": length, "sequences": sequences, "dropped_tokens": len(rest)}


def _load(path: pathlib.Path) -> Tokenizer:
    from tokenizers import Tokenizer

    try:
        return Tokenizer.from_file(str(path))
    except Exception as error:  # the library raises Exception itself
        raise TokensError(f"{path}: {error}") from error


def run(export: str | pathlib.Path, tokenizer: str | pathlib.Path, *, length: int = 0, end: str = "",
        phase: str = "") -> dict[str, Any]:
    """Writes DIR/tokens, and returns the content of tokens.json."""
    folder = pathlib.Path(export)
    loaded = _load(pathlib.Path(tokenizer))
    out = folder / "tokens"
    out.mkdir(exist_ok=True)
    result: dict[str, Any] = {
        "generator": "kernelmill", "schema": 1,
        "dataset": json.loads((folder / "report.json").read_text(encoding="utf-8"))["dataset"],
        "tokenizer_sha256": hashlib.sha256(pathlib.Path(tokenizer).read_bytes()).hexdigest(),
        "vocabulary": loaded.get_vocab_size(), "counts": count(folder, loaded), "packed": []}
    if length:
        end_token = loaded.token_to_id(end)
        if end_token is None:
            raise TokensError(f"the tokenizer has no token {end!r}: --end names what stands behind each text")
        if phase:
            jobs = [(f"phase-{phase}", _phase_texts(folder, phase))]
        else:
            jobs = [(f"{row['config']}-{row['split']}", _split_texts(folder, row["config"], row["split"]))
                    for row in result["counts"] if row["config"] != "instruct"]
        for name, source in jobs:
            result["packed"].append(pack(source, loaded, length, end_token, out / f"{name}-{length}.npy"))
    (out / "tokens.json").write_text(json.dumps(result, indent=2, sort_keys=True) + "\n", encoding="utf-8")
    return result


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python3 -m kernelmill.tokens", description="Counts and packs an export's tokens.")
    parser.add_argument("export", help="the folder of the dataset")
    parser.add_argument("--tokenizer", required=True, help="a tokenizer.json, as the library tokenizers reads it")
    parser.add_argument("--pack", type=int, default=0, metavar="LENGTH", help="pack the texts into sequences of so many tokens")
    parser.add_argument("--end", default="", metavar="TOKEN", help="the token behind each text")
    parser.add_argument("--phase", default="", metavar="NAME", help="pack in the order of this phase of the job's mix")
    options = parser.parse_args(arguments)
    if options.pack < 0 or (options.pack and not options.end) or (options.phase and not options.pack):
        parser.error("--pack takes a length above 0, and needs --end; --phase needs --pack")
    try:
        result = run(options.export, options.tokenizer, length=options.pack, end=options.end, phase=options.phase)
    except ImportError:
        print("kernelmill.tokens: needs tokenizers: pip install 'kernelmill[tokens]'", file=sys.stderr)
        return 2
    except (OSError, Error, TokensError) as error:
        print(f"kernelmill.tokens: {error}", file=sys.stderr)
        return 2
    for row in result["counts"]:
        print(f"{row['config']:10} {row['split']:10} {row['rows']:9,} rows {row['tokens']:13,} tokens")
    for packed in result["packed"]:
        print(f"{packed['file']}: {packed['sequences']:,} sequences, {packed['dropped_tokens']} tokens dropped")
    return 0


if __name__ == "__main__":
    sys.exit(main())
