#!/usr/bin/env python3
"""Measures the words of harmless licence text (residue_words.cc) on licence files that they were not made on.

usage: license_residue.py false-alarms --scan bin/license_scan --seed SEED [--count 150] PLACE...
       license_residue.py misses --scan bin/license_scan [--riders tests/oracle/license_riders.txt] PLACE...

A PLACE is a file, a folder or a bare git repository; its files that are named like licences are read, each text once.
`false-alarms` draws --count of those that have a text of the SPDX list, in the order of a hash of the seed and the text,
and prints each that is more than licences of the list: somebody has to read whether its words are harmless.
`misses` puts each sentence of the riders' file, one a line, before, after and into a few of the permissive texts that it
finds, and prints each result that a policy of permissive licences would admit; exit 1 if there is one.
"""

import argparse
import collections
import hashlib
import json
import pathlib
import re
import subprocess
import sys
import tempfile

NAME = re.compile(r"^(licen[sc]e|copying|unlicense)", re.IGNORECASE)
NO_NAME = re.compile(r"\.(py|pyi|pyc|json|ya?ml|toml|js|ts|sh|cfg|cc|cpp|c|h|html|ipynb|xml|go|mjs|cjs|rs|svg|css|png)$", re.IGNORECASE)
PERMISSIVE = {"MIT", "BSD-2-Clause", "BSD-3-Clause", "Apache-2.0", "ISC"}


def texts_in(place):
    """The licence files of a place by name, each text once."""
    place = pathlib.Path(place)
    if (place / "HEAD").exists():
        def git(*args):
            return subprocess.run(["git", "-C", str(place), *args], check=True, capture_output=True).stdout
        for entry in git("ls-tree", "-r", "-z", "HEAD").decode("utf-8", "surrogateescape").split("\0"):
            if entry.startswith("100") and is_license(entry.split("\t", 1)[1]):
                facts, path = entry.split("\t", 1)
                yield f"{place.parent.name}/{path}", git("cat-file", "blob", facts.split()[2])
        return
    for path in [place] if place.is_file() else sorted(place.rglob("*")):
        if path.is_file() and is_license(path.name):
            yield str(path), path.read_bytes()


def is_license(path):
    name = path.rpartition("/")[2]
    return NAME.match(name) and not NO_NAME.search(name)


def unique_texts(places):
    seen = {}
    for place in places:
        for name, text in texts_in(place):
            seen.setdefault(hashlib.sha256(b" ".join(text.split())).hexdigest(), (name, text))
    return list(seen.values())


def ask(scan, texts):
    """The answers of license_scan for each text as a LICENSE file."""
    with tempfile.TemporaryDirectory() as folder:
        for number, text in enumerate(texts):
            pathlib.Path(folder, f"LICENSE-{number}x").write_bytes(text)
        names = "".join(f"LICENSE-{number}x\n" for number in range(len(texts)))
        done = subprocess.run([scan, folder], input=names, text=True, check=True, capture_output=True)
    return [json.loads(line) for line in done.stdout.splitlines()]


def false_alarms(args):
    texts = sorted(unique_texts(args.places), key=lambda one: hashlib.sha256(args.seed.encode() + one[1]).digest())
    answers = ask(args.scan, [text for _, text in texts])
    # A text of the list is in it, whatever else is.
    drawn = [(name, answer) for (name, _), answer in zip(texts, answers) if 'rule: "text"' in answer["evidence"]][:args.count]
    flagged = 0
    for name, answer in drawn:
        if answer["expression"] and "LicenseRef" not in answer["expression"]:
            continue
        flagged += 1
        units = re.findall(r'rule: "(?:residue|phrase)"(?: expression: "[^"]*")? text: "((?:[^"\\]|\\.)*)"', answer["evidence"])
        print(f"{name}\n  {answer['expression'] or 'NOASSERTION'}")
        for unit in units:
            print(f"    {unit[:180]}")
    print(f"{len(drawn)} of {len(texts)} texts drawn; {flagged} are more than licences of the list")
    return 0


def riders_in(path):
    return [line for line in pathlib.Path(path).read_text().splitlines() if line and not line.startswith("#")]


def put(text, rider, where):
    if where == "before":
        return rider + "\n\n" + text
    if where == "after":
        return text.rstrip() + "\n\n" + rider + "\n"
    paragraphs = re.split(r"\n\s*\n", text)
    middle = max(1, len(paragraphs) // 2)
    return "\n\n".join(paragraphs[:middle] + [rider] + paragraphs[middle:])


def misses(args):
    texts = unique_texts(args.places)
    plain = collections.OrderedDict()
    for (_, text), answer in zip(texts, ask(args.scan, [text for _, text in texts])):
        if answer["expression"] in PERMISSIVE:
            plain.setdefault(answer["expression"], text.decode("utf-8", "replace"))
    cases = [(license, rider, where) for license in sorted(plain) for rider in riders_in(args.riders)
             for where in ("before", "after", "inside")]
    answers = ask(args.scan, [put(plain[license], rider, where).encode() for license, rider, where in cases])
    missed = 0
    for (license, rider, where), answer in zip(cases, answers):
        terms = set(re.findall(r"[\w.-]+", answer["expression"])) - {"AND", "OR", "WITH"}
        if terms and terms <= PERMISSIVE:
            missed += 1
            print(f"{license} {where}: {rider}\n  {answer['expression']}")
    print(f"{len(cases)} files of {len(riders_in(args.riders))} sentences and {len(plain)} texts: {missed} missed")
    return 1 if missed or not cases else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(required=True)
    for name, run in (("false-alarms", false_alarms), ("misses", misses)):
        command = commands.add_parser(name)
        command.add_argument("--scan", required=True)
        command.add_argument("places", nargs="+")
        command.set_defaults(run=run)
        if run is false_alarms:
            command.add_argument("--seed", required=True)
            command.add_argument("--count", type=int, default=150)
        else:
            command.add_argument("--riders", default=pathlib.Path(__file__).with_name("license_riders.txt"))
    args = parser.parse_args()
    return args.run(args)


if __name__ == "__main__":
    sys.exit(main())
