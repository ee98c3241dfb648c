#!/usr/bin/env python3
"""usage: judge_queries.py DATASET SITE [--queries FILE] [--all]

Asks a catalog's site the questions of queries.json in a Chromium, and counts those whose first three kernels have a right one.
A question says what is right of a kernel, as regular expressions without case:
  name, path, code, language   of the kernel's own name (or its launcher's), its path, its source, its language
  any, not_path, not_name      of name and path together; of what must not match
  part                         `forward` or `backward`, by tag and name; else forward, unless the question says otherwise
What is not asked for makes a kernel wrong: a helper, a test, one vendor's hardware but NVIDIA's, AMD's and Google's, and in its
name quantization, experts, a cache and the like. Prints the questions that failed (--all: every one)."""

import argparse
import json
import pathlib
import re
import sys

import catalog_site

SHOWN = 3


UNASKED = ("quant", "fp8", "fp4", "int8", "int4", "a8w8", "moe", "lora", "jagged", "sparse", "all_?reduce|all_?gather|reduce_?scatter",
           "dual", "cache", "dropout", "paged", "decod", "lamport", "add.?(rms|layer|norm)", "split")
TARGETS = ("nvidia", "generic", "amd", "tpu")
BACKWARD = re.compile(r"bwd|backward|grad|(^|_)d[qkvxw]", re.IGNORECASE)


def matches(pattern, text):
    return re.search(pattern, text, re.IGNORECASE) is not None


def is_right(question, row):
    if row["kind"] in ("helper", "test") or row["role"] == "device" or row["target"] not in TARGETS:
        return False
    name = f"{row['qualname']} {(row['launcher'] or {}).get('qualname') or ''}"
    texts = {"name": name, "path": row["path"], "code": row["source"], "language": row["dsl"], "any": f"{name} {row['path']}"}
    for key, text in texts.items():
        if not matches(question.get(key, ""), text) or (f"not_{key}" in question and matches(question[f"not_{key}"], text)):
            return False
    asked = " ".join(question.values())
    if any(matches(word, row["qualname"].split("::")[-1]) and not matches(word, asked) for word in UNASKED):
        return False
    part = question.get("part") or ("any" if BACKWARD.search(question["query"]) else "forward")
    return part in ("any", "backward" if "backward" in row["tags"] or BACKWARD.search(name) else "forward")


def ask(page, home, query):
    page.goto("about:blank")
    page.goto(f"{home}#q={query.replace(' ', '+')}")
    catalog_site.wait(page, "document.documentElement.dataset.shown === (location.hash || '#')", 60)
    catalog_site.wait(page, "![...document.querySelectorAll('#results li')].some(row => row.textContent.trim() === '')", 60)
    links = page.locator("#results a.kernel").evaluate_all("links => links.slice(0, 3).map(link => link.getAttribute('href'))")
    return [pathlib.PurePosixPath(link).stem for link in links]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("dataset", type=pathlib.Path)
    parser.add_argument("site", type=pathlib.Path)
    parser.add_argument("--queries", type=pathlib.Path, default=pathlib.Path(__file__).with_name("queries.json"))
    parser.add_argument("--all", action="store_true")
    options = parser.parse_args()
    rows = {row["id"]: row for row in map(json.loads, (options.dataset / "kernels.jsonl").open())}
    questions = json.loads(options.queries.read_text())
    right = 0
    with catalog_site.browser() as browser:
        page = browser.new_page()
        for question in questions:
            first = [rows[kernel] for kernel in ask(page, (options.site / "index.html").resolve().as_uri(), question["query"])]
            found = [is_right(question, row) for row in first]
            right += any(found)
            if options.all or not any(found):
                possible = sum(is_right(question, row) for row in rows.values())
                print(f"{'right' if any(found) else 'WRONG'}  {question['query']}   ({possible} kernels would be right)")
                for row, good in zip(first, found):
                    print(f"    {'+' if good else '-'} {row['repository']} {row['path']}:{row['first_line']} {row['qualname']} {row['kind']} {row['tags']}")
    print(f"{right} of {len(questions)} questions have a right kernel among the first {SHOWN}")
    return 0 if right >= 0.9 * len(questions) else 1


if __name__ == "__main__":
    sys.exit(main())
