#!/usr/bin/env python3
"""Records what a build from nothing costs, and fails if it costs 1.5 times what tests/cold_build.json says.

usage: cold_build.py [--write] [--jobs N] [--folder FOLDER]
       cold_build.py --quick-start [--jobs N] [--folder FOLDER]
       cold_build.py --self-test

Compiles a part of the quick start (deploy/quickstart.sh) and of the whole tree with tests, without a compiler cache: all precompiled
headers, and each twelfth and each 72nd object, chosen by the hash of its name. The cost of the objects is the sample's, times all objects /
chosen objects. Linking is left out. The other objects of the quick start are only checked: a library's files are one text there, and two
of them may define one name.

The cost is processor time, so that other work on the machine counts little. It is divided by the time of a reference text, which
this script compiles before and after, so that a slow machine counts little too.

--quick-start: builds the whole quick start, and prints its time on the clock and of the processor. --write: writes the figures to
tests/cold_build.json instead of comparing. --folder: builds there, and keeps it. Exit 77: there is no record.
"""

import argparse
import concurrent.futures
import hashlib
import json
import os
import pathlib
import re
import resource
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[1]
RECORD = ROOT / "tests/cold_build.json"
LIMIT = 1.5
GENERATED = ["proto_headers", "common/version/kernelmill_version.h"]
SHARES = {"quick start": 12, "whole tree": 72}  # one object of so many is compiled
REFERENCE_RUNS = 3  # before, and as many after

# Costs the compiler what the project's code does: the standard library's headers, templates, strings, optimization.
REFERENCE = """
#include <algorithm>
#include <filesystem>
#include <functional>
#include <iostream>
#include <map>
#include <memory>
#include <regex>
#include <sstream>
#include <string>
#include <unordered_map>
#include <vector>

template <int n>
struct Table {
  std::map<std::string, std::vector<std::pair<int, std::string>>> sorted;
  std::unordered_map<std::string, std::function<std::string(const std::string&)>> made;
  std::string Read(const std::string& text) {
    std::string out;
    for (const auto& [name, entries] : sorted) {
      const int wanted = n + int(name.size());
      if (std::any_of(entries.begin(), entries.end(), [wanted](const auto& entry) { return entry.first == wanted; })) {
        out += made[name](text) + std::to_string(n);
      }
    }
    std::regex words("[a-z]+" + std::to_string(n));
    return std::regex_replace(out, words, std::filesystem::path(text).filename().string());
  }
};

std::string Run(const std::string& text) {
  return Table<1>().Read(text) + Table<2>().Read(text) + Table<3>().Read(text) + Table<4>().Read(text);
}
"""


def processor_seconds(command, cwd=ROOT):
    """Runs a command; the processor time of it and of all that it started."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run([str(word) for word in command], cwd=cwd, capture_output=True, text=True, check=False,
                          env={**os.environ, "CCACHE_DISABLE": "1"})
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode != 0:
        sys.exit(f"cold_build.py: {' '.join(map(str, command[:6]))}: exit code {done.returncode}\n{(done.stdout + done.stderr)[-4000:]}")
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def compile_reference(folder):
    text = folder / "reference.cc"
    text.write_text(REFERENCE, encoding="utf-8")
    command = ["clang++", "-std=c++20", "-O2", "-c", text, "-o", folder / "reference.o"]
    return [processor_seconds(command) for _ in range(REFERENCE_RUNS)]


def configure(folder, arguments):
    # Otherwise mold returns before its child has ended, whose time is then not counted.
    processor_seconds(["cmake", "--preset", "release", "-B", folder, *arguments, "-DCCACHE=OFF", "-DCMAKE_EXE_LINKER_FLAGS=-fuse-ld=mold -Wl,--no-fork"])


def quick_start_arguments():
    """The arguments that deploy/quickstart.sh gives to deploy/build.sh."""
    script = (ROOT / "deploy/quickstart.sh").read_text(encoding="utf-8")
    return re.search(r"^deploy/build\.sh release (.*)$", script, re.MULTILINE)[1].split()


def build_quick_start(folder, jobs):
    configure(folder, quick_start_arguments())
    begin = time.monotonic()
    seconds = processor_seconds(["ninja", "-C", folder, f"-j{jobs}"])
    print(f"cold_build.py: the quick start took {time.monotonic() - begin:.0f} s, and {seconds:.0f} s of processor")


def is_chosen(name, share):
    return int(hashlib.sha256(name.encode()).hexdigest(), 16) % share == 0


def sample(folder, arguments, share, jobs):
    """The cost of all objects by that of some, and the commands of the others."""
    configure(folder, arguments)
    commands = {re.search(r" -o (\S+)", entry["command"])[1]: entry["command"]
                for entry in json.loads((folder / "compile_commands.json").read_text(encoding="utf-8"))}
    headers = [name for name in commands if name.endswith(".pch")]
    objects = [name for name in commands if not name.endswith(".pch")]
    chosen = [name for name in objects if is_chosen(name, share)]
    once = processor_seconds(["ninja", "-C", folder, f"-j{jobs}", *GENERATED, *headers])
    sampled = processor_seconds(["ninja", "-C", folder, f"-j{jobs}", *chosen])
    return once + sampled * len(objects) / len(chosen), [commands[name] for name in objects if name not in chosen]


def find_clashes(folder, commands, jobs):
    """Returns the errors of the texts of many files that the compiler refuses."""
    def check(command):
        words = re.sub(r" -o \S+", "", command).split()
        return subprocess.run([*words, "-fsyntax-only"], cwd=folder, capture_output=True, text=True, check=False, env={**os.environ, "CCACHE_DISABLE": "1"})
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        done = list(pool.map(check, [command for command in commands if "/Unity/" in command]))
    return [one.stderr[-2000:] for one in done if one.returncode != 0]


def find_excess(recorded, measured, reference):
    """Sentences on what costs too much."""
    found = []
    for name, seconds in measured.items():
        expected = recorded[name] * reference / recorded["reference"]
        if seconds > LIMIT * expected:
            found.append(f"{name}: {seconds:.0f} s of processor, {seconds / expected:.2f} times the {expected:.0f} s that "
                         f"tests/cold_build.json means on this machine; at most {LIMIT}")
    return found


def self_test():
    recorded = {"reference": 2.0, "quick start": 600.0, "whole tree": 1200.0}
    assert not find_excess(recorded, {"quick start": 899.0, "whole tree": 100.0}, 2.0)
    assert len(find_excess(recorded, {"quick start": 901.0, "whole tree": 1801.0}, 2.0)) == 2
    assert not find_excess(recorded, {"quick start": 1790.0}, 4.0), "a machine of half the speed"
    assert find_excess(recorded, {"quick start": 460.0}, 1.0), "a machine of twice the speed"
    chosen = sum(is_chosen(f"services/{number}.cc.o", 12) for number in range(1200))
    assert 70 < chosen < 130, chosen
    assert "-DKERNELMILL_TESTS=OFF" in quick_start_arguments()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--self-test", action="store_true")
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--quick-start", action="store_true")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--folder", type=pathlib.Path)
    options = parser.parse_args()
    self_test()
    if options.self_test:
        return
    with tempfile.TemporaryDirectory(prefix="cold-", dir=ROOT / "build") as temporary:
        folder = (options.folder or pathlib.Path(temporary)).resolve()
        folder.mkdir(parents=True, exist_ok=True)
        if options.quick_start:
            build_quick_start(folder, options.jobs)
            return
        references = compile_reference(folder)
        quick_start, others = sample(folder / "quickstart", quick_start_arguments(), SHARES["quick start"], options.jobs)
        whole_tree, _ = sample(folder / "whole", ["-DKERNELMILL_TESTS=ON"], SHARES["whole tree"], options.jobs)
        measured = {"quick start": quick_start, "whole tree": whole_tree}
        references += compile_reference(folder)
        clashes = find_clashes(folder / "quickstart", others, options.jobs)
    reference = statistics.median(references)
    figures = {"reference": round(reference, 2), **{name: round(seconds) for name, seconds in measured.items()}}
    print(f"cold_build.py: seconds of processor: {json.dumps(figures)}; the reference text took {min(references):.2f} to {max(references):.2f}")
    for clash in clashes:
        print(clash)
    if clashes:
        sys.exit(f"cold_build.py: {len(clashes)} libraries cannot be compiled as one text")
    if options.write:
        RECORD.write_text(json.dumps(figures, indent=1) + "\n", encoding="utf-8")
        return
    if not RECORD.exists():
        print("cold_build.py: skipped: there is no tests/cold_build.json to compare with; --write makes it")
        sys.exit(77)
    found = find_excess(json.loads(RECORD.read_text(encoding="utf-8")), measured, reference)
    for sentence in found:
        print(sentence)
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
