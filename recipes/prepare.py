#!/usr/bin/env python3
"""usage: prepare.py DATASET OUT [--fim FAMILY]

Writes what torchtune, axolotl and LLaMA-Factory read: OUT/{train,heldout}.jsonl, the conversations, and
OUT/fim_{train,heldout}.jsonl, gaps as plain `text` in the tokens of a family of models: starcoder, qwen (default) or
deepseek. Standard library only."""

import argparse
import json
import pathlib

import rows


def write(path, records):
    with open(path, "w", encoding="utf-8") as out:
        for record in records:
            out.write(json.dumps(record, ensure_ascii=False) + "\n")
    print(f"{path}: {len(records)} rows")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[2])
    parser.add_argument("dataset", type=pathlib.Path)
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("--fim", choices=sorted(rows.FIM_TOKENS), default="qwen")
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    end = rows.FIM_TOKENS[options.fim].end
    for name, part in zip(("train", "heldout"), rows.split(rows.examples(options.dataset, "instruct"))):
        write(options.out / f"{name}.jsonl", [{"messages": row["messages"]} for row in part])
    for name, part in zip(("train", "heldout"), rows.split(rows.examples(options.dataset, "fim", options.fim))):
        write(options.out / f"fim_{name}.jsonl", [{"text": row["prompt"] + row["completion"] + end} for row in part])


if __name__ == "__main__":
    main()
