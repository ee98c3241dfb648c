#!/usr/bin/env python3
"""Measures the bytes that clients send to publish a dataset, the next version of it, and the same again.

usage: publish.py FIRST SECOND [PUBLISH_FLAG...]

FIRST and SECOND are exported folders. They are published to a local S3 server and a local Hub (tests/peers/publish_test.py). For a table of
docs/measurements.md: `made_sources.py made --sources 31 --kernels 400`, a crawl of all sources, and one of all but source_0015."""

import pathlib
import sys

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parents[1] / "peers")]
import publish_test  # noqa: E402


def measure(destination, folders, flags):
    """Returns the bytes sent for each folder, published one after the other."""
    case = destination("setUp")
    case.setUp()
    try:
        sent = []
        for folder in folders:
            before = case.received()
            case.publish(folder, *flags)
            sent.append(case.received() - before)
        return sent
    finally:
        case.doCleanups()


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__.splitlines()[2])
    first, second = map(pathlib.Path, sys.argv[1:3])
    publish_test.datasets = {}
    for destination in (publish_test.ToS3, publish_test.ToTheHub):
        sent = measure(destination, (first, second, second), sys.argv[3:])
        print(f"{destination.__name__}: first {sent[0]:,}, second {sent[1]:,} ({sent[1] / sent[0]:.0%}), again {sent[2]:,} bytes")


if __name__ == "__main__":
    main()
