"""Reads the rows of an exported dataset in the forms that training needs: prompts and completions, gaps in the tokens of a
model's family, conversations. Standard library only."""

import hashlib
import json
import pathlib
from typing import NamedTuple


class FimTokens(NamedTuple):
    """The tokens with which a family of models learned to fill a gap: prefix, suffix, middle, in this order."""
    prefix: str
    suffix: str
    middle: str
    end: str  # the token that ends the document


FIM_TOKENS = {
    "starcoder": FimTokens("<fim_prefix>", "<fim_suffix>", "<fim_middle>", "<|endoftext|>"),
    "qwen": FimTokens("<|fim_prefix|>", "<|fim_suffix|>", "<|fim_middle|>", "<|endoftext|>"),
    "deepseek": FimTokens("<｜fim▁begin｜>", "<｜fim▁hole｜>", "<｜fim▁end｜>", "<｜end▁of▁sentence｜>"),
}
VIEWS = ("complete", "fim", "instruct")


def read(file):
    with open(file, encoding="utf-8") as lines:
        for line in lines:
            yield json.loads(line)


def gap(row, family):
    """Returns a row of fim.jsonl as a prompt and its completion, without the token that ends the document."""
    tokens = FIM_TOKENS[family]
    return (f"{tokens.prefix}{row['prefix']}{tokens.suffix}{row['suffix']}{tokens.middle}", row["middle"])


def examples(dataset, view, family="qwen"):
    """Yields the rows of a view, with `split`: `complete` and `fim` have prompt and completion, `instruct` has messages."""
    dataset = pathlib.Path(dataset)
    for row in read(dataset / ("instruct.jsonl" if view == "instruct" else "fim.jsonl")):
        kept = {"id": row["id"], "split": row["split"]}
        if view == "instruct":
            yield {**kept, "messages": row["messages"]}
        else:
            prompt, completion = gap(row, family) if view == "fim" else (row["prompt"], row["completion"])
            yield {**kept, "prompt": prompt, "completion": completion}


def held_out(identity):
    """Selects one in twenty by the id alone; for a dataset without splits. Changes of kernels that are gone have none: they are trained on."""
    return identity is not None and hashlib.sha256(identity.encode()).digest()[0] < 13


def split(rows):
    """Returns (train, held out), by the dataset's splits if it has some (`splits:` in the job file). Otherwise holds out one in
    twenty kernels, which may be similar to kernels in train."""
    rows = list(rows)
    if any(row["split"] != "train" for row in rows):
        return ([row for row in rows if row["split"] == "train"],
                [row for row in rows if row["split"] == "validation"] or [row for row in rows if row["split"] == "test"])
    return ([row for row in rows if not held_out(row["id"])], [row for row in rows if held_out(row["id"])])
