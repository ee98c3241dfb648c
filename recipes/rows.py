"""The rows of an exported dataset as training takes them: prompts and completions, gaps in the tokens of a model's family,
conversations. Standard library only."""

import hashlib
import json
import pathlib
from typing import NamedTuple


class FimTokens(NamedTuple):
    """How a family of models was taught to fill a gap: prefix, suffix, middle, in this order."""
    prefix: str
    suffix: str
    middle: str
    end: str  # of the document


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
    """A row of fim.jsonl as a prompt and what fills the gap, without the end of the document."""
    tokens = FIM_TOKENS[family]
    return (f"{tokens.prefix}{row['prefix']}{tokens.suffix}{row['suffix']}{tokens.middle}", row["middle"])


def examples(dataset, view, family="qwen"):
    """The dataset's rows in a view, with `split`: `complete` and `fim` have prompt and completion, `instruct` has messages."""
    dataset = pathlib.Path(dataset)
    for row in read(dataset / ("instruct.jsonl" if view == "instruct" else "fim.jsonl")):
        kept = {"id": row["id"], "split": row["split"]}
        if view == "instruct":
            yield {**kept, "messages": row["messages"]}
        else:
            prompt, completion = gap(row, family) if view == "fim" else (row["prompt"], row["completion"])
            yield {**kept, "prompt": prompt, "completion": completion}


def held_out(identity):
    """One in twenty, by the id alone: of a dataset without splits."""
    return hashlib.sha256(identity.encode()).digest()[0] < 13


def split(rows):
    """(train, held out): by the dataset's splits where it has some (`splits:` in the job file), or else one in twenty
    kernels, which may be like others that are trained on."""
    rows = list(rows)
    if any(row["split"] != "train" for row in rows):
        return ([row for row in rows if row["split"] == "train"],
                [row for row in rows if row["split"] == "validation"] or [row for row in rows if row["split"] == "test"])
    return ([row for row in rows if not held_out(row["id"])], [row for row in rows if held_out(row["id"])])
