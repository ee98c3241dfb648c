#!/usr/bin/env python3
"""Checks that every file of the programs is compiled with optimization.

usage: check_optimized.py BUILD_DIR

A program holds one copy of each template's instance, and the linker takes the first that it meets. When the files that parse
flags were compiled with -O0, all of each program ran with their std::string, and an export took a tenth longer.
"""

import json
import pathlib
import re
import sys

TESTS = re.compile(r"(^|/)tests/|_test\.dir/|_testing\.dir/|km_test_headers|_fuzzer\.dir/")


def find_unoptimized(commands):
    """The files of programs whose last -O flag is -O0, or that have none."""
    found = []
    for command in commands:
        output = re.search(r" -o (\S+)", command["command"])
        if output and TESTS.search(output[1]):
            continue
        levels = re.findall(r" -O(\S*)", command["command"])
        if not levels or levels[-1] == "0":
            found.append(command["file"])
    return found


def self_test():
    found = find_unoptimized([
        {"file": "slow.cc", "command": "clang++ -O2 -O0 -o client/x.dir/slow.cc.o -c slow.cc"},
        {"file": "none.cc", "command": "clang++ -o client/x.dir/none.cc.o -c none.cc"},
        {"file": "fast.cc", "command": "clang++ -O2 -o client/x.dir/fast.cc.o -c fast.cc"},
        {"file": "x_test.cc", "command": "clang++ -O2 -O0 -o client/CMakeFiles/x_test.dir/x_test.cc.o -c x_test.cc"},
    ])
    assert found == ["slow.cc", "none.cc"], found


def main():
    self_test()
    build = pathlib.Path(sys.argv[1])
    if "CMAKE_BUILD_TYPE:STRING=RelWithDebInfo" not in (build / "CMakeCache.txt").read_text():
        print("check_optimized.py: skipped: not a release build")
        sys.exit(77)
    commands = json.loads((build / "compile_commands.json").read_text())
    found = find_unoptimized(commands)
    for file in found:
        print(f"{file}: compiled without optimization, in a program")
    print(f"check_optimized.py: {len(commands)} commands, {len(found)} without optimization")
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
