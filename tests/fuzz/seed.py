#!/usr/bin/env python3
"""Writes the first inputs of a fuzzer: the repository's test data, each behind the byte that names its kind.

usage: seed.py FOLDER
"""
import hashlib
import pathlib
import sys

# As NameOf in extract_fuzz.cc.
KINDS = {".py": b"\x00", ".cu": b"\x01", ".cuh": b"\x01", ".jinja": b"\x02"}
INDUCTOR = b"\x03"


def main():
    if len(sys.argv) != 2:
        print(__doc__, file=sys.stderr)
        return 2
    folder = pathlib.Path(sys.argv[1])
    for path in sorted((pathlib.Path(__file__).parents[1] / "data").rglob("*")):
        kind = INDUCTOR if path.name == "output_code.py" else KINDS.get(path.suffix)
        if kind is None or not path.is_file():
            continue
        content = kind + path.read_bytes()
        (folder / hashlib.sha1(content).hexdigest()).write_bytes(content)
    return 0


if __name__ == "__main__":
    sys.exit(main())
