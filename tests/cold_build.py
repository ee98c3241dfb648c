#!/usr/bin/env python3
"""Records what a build from nothing costs, and fails if it costs 1.5 times what tests/cold_build.json says.

usage: cold_build.py [--write] [--jobs N] [--folder FOLDER]
       cold_build.py --self-test

Builds, without a compiler cache:
  the quick start   all that deploy/quickstart.sh builds
  the whole tree    with tests: the precompiled headers and generated code, and each twelfth file, chosen by the hash of its
                    name. The cost of the files is the sample's, times all files / chosen files. Linking is left out.

The cost is processor time, so that other work on the machine counts little. It is divided by the time of a reference text, which
this script compiles before and after, so that a slow machine counts little too.

--write: writes the figures to tests/cold_build.json instead of comparing; run it where nothing else runs. --folder: builds
there, and keeps it. Exit 77: there is no record.
"""

import argparse
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

ROOT = pathlib.Path(__file__).resolve().parents[1]
RECORD = ROOT / "tests/cold_build.json"
LIMIT = 1.5
SHARE = 12
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
    return processor_seconds(["ninja", "-C", folder, f"-j{jobs}"])


def is_chosen(name):
    return int(hashlib.sha256(name.encode()).hexdigest(), 16) % SHARE == 0


def sample_whole_tree(folder, jobs):
    configure(folder, ["-DKERNELMILL_TESTS=ON"])
    outputs = [re.search(r" -o (\S+)", entry["command"])[1]
               for entry in json.loads((folder / "compile_commands.json").read_text(encoding="utf-8"))]
    headers = [name for name in outputs if name.endswith(".pch")]
    objects = [name for name in outputs if not name.endswith(".pch")]
    chosen = [name for name in objects if is_chosen(name)]
    once = processor_seconds(["ninja", "-C", folder, f"-j{jobs}", "proto_headers", *headers])
    sampled = processor_seconds(["ninja", "-C", folder, f"-j{jobs}", *chosen])
    return once + sampled * len(objects) / len(chosen)


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
    chosen = sum(is_chosen(f"services/{number}.cc.o") for number in range(1200))
    assert 70 < chosen < 130, chosen
    assert "-DKERNELMILL_TESTS=OFF" in quick_start_arguments()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--self-test", action="store_true")
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--folder", type=pathlib.Path)
    options = parser.parse_args()
    self_test()
    if options.self_test:
        return
    with tempfile.TemporaryDirectory(prefix="cold-", dir=ROOT / "build") as temporary:
        folder = (options.folder or pathlib.Path(temporary)).resolve()
        folder.mkdir(parents=True, exist_ok=True)
        references = compile_reference(folder)
        measured = {"quick start": build_quick_start(folder / "quickstart", options.jobs),
                    "whole tree": sample_whole_tree(folder / "whole", options.jobs)}
        references += compile_reference(folder)
    reference = statistics.median(references)
    figures = {"reference": round(reference, 2), **{name: round(seconds) for name, seconds in measured.items()}}
    print(f"cold_build.py: seconds of processor: {json.dumps(figures)}; the reference text took {min(references):.2f} to {max(references):.2f}")
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
