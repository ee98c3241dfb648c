"""Bytes per second of our byte-pair encodings and of tiktoken's encode_ordinary, one thread each, on the same
texts, in turns; medians. Both give all ids, which are compared."""

import argparse
import pathlib
import statistics
import sys
import sysconfig
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/peers"))
import tiktokens  # noqa: E402


def read(folder, limit=20_000_000):
    texts, size = [], 0
    for path in sorted(folder.rglob("*.py")):
        raw = path.read_bytes()
        try:
            texts.append(raw.decode())
        except UnicodeDecodeError:
            continue
        size += len(raw)
        if size > limit:
            break
    return texts, size / 1e6


def timed(encoding, texts):
    began = time.perf_counter()
    tokens = [encoding.encode_ordinary(t) for t in texts]
    return tokens, time.perf_counter() - began


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", nargs="?", type=pathlib.Path, default=sysconfig.get_paths()["stdlib"])
    parser.add_argument("--rounds", type=int, default=5)
    args = parser.parse_args()
    texts, megabytes = read(pathlib.Path(args.folder))
    print(f"{len(texts)} files, {megabytes:.1f} MB, {args.rounds} rounds")
    for name in tiktokens.NAMES:
        theirs = tiktokens.encoding(name)
        rounds = []
        for _ in range(args.rounds):
            tokens, seconds = tiktokens.ours(ROOT / "build/release/bin/bpe_encode", name, texts)
            expected, their_seconds = timed(theirs, texts)
            assert tokens == expected, "not the same tokens"
            rounds.append((megabytes / seconds, megabytes / their_seconds))
        mine, other = (statistics.median(column) for column in zip(*rounds))
        print(f"{name}: {mine:.1f} MB/s, tiktoken {other:.1f} MB/s, ratio {mine / other:.2f}")


if __name__ == "__main__":
    main()
