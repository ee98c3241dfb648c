"""fim_sft.csv: would a person train on these rows?"""
import ast
import collections
import hashlib
import re
import textwrap

from .dataset import Check, check
from .names import comment_words, imported, parses, read_names, undefined

COLUMNS = ["prompt", "completion", "id", "license", "weight", "category", "split"]


def _place(row):
    return f"{row.get('id', '')} {row['prompt'][-60:]!r}"


def _joined(row):
    return row["prompt"] + row["completion"]


def _undefined(row, dataset):
    names = undefined(_joined(row))
    if not names:
        return None
    record = dataset.by_id.get(row.get("id"), {})
    known = {entry["name"].split(".")[0] for entry in record.get("unresolved_names", [])}
    return ", ".join(sorted(names - comment_words(row["prompt"]) - known))


def _unused(row):
    text = _joined(row)
    if not parses(text):
        return None
    return ", ".join(sorted(imported(text) - read_names(text) - {"*", "annotations"}))


def _trivial(row):
    """Finds a completion without statements, or with one that only passes, raises, or returns or names a value; else None."""
    try:
        body = ast.parse(textwrap.dedent(row["completion"])).body
    except (SyntaxError, ValueError):
        try:
            body = ast.parse("def f():\n" + row["completion"]).body[0].body
        except (SyntaxError, ValueError, AttributeError):
            return None
    if len(body) != 1:
        return None if body else "nothing"
    if isinstance(body[0], (ast.Pass, ast.Raise)):
        return "one statement"
    value = body[0].value if isinstance(body[0], (ast.Return, ast.Expr)) else None
    simple = value is None or isinstance(value, (ast.Constant, ast.Name))
    return "one statement" if isinstance(body[0], (ast.Return, ast.Expr)) and simple else None


def _bad_end(row):
    prompt = row["prompt"]
    if not prompt.endswith("\n"):
        return "no line end"
    last = prompt.rstrip("\n").rsplit("\n", 1)[-1]
    if last.strip() == "" or prompt.endswith("\n\n"):
        return "blank line"
    if last.lstrip().startswith("@"):
        return "decorator"
    return "trailing blanks" if last != last.rstrip() else None


def _normalized(text):
    text = re.sub(r"[ \t]+", " ", text.replace("\r\n", "\n").strip())
    return re.sub(r"\n{3,}", "\n\n", text)


def _repeats(rows):
    made = Check("fim: repeats another row", len(rows))
    seen = collections.Counter()
    for row in rows:
        text = _normalized(row["prompt"]) + "|||" + _normalized(row["completion"])
        digest = hashlib.sha1(text.encode()).hexdigest()
        if seen[digest]:
            made.add(_place(row))
        seen[digest] += 1
    return made


def _columns(dataset):
    made = Check("fim: columns are not " + ",".join(COLUMNS), 1)
    if dataset.fim_columns != COLUMNS:
        made.add(",".join(dataset.fim_columns))
    return made


def _foreign(row, dataset):
    record = dataset.by_id.get(row.get("id"))
    if record is None:
        return "no such kernel"
    return None if row["license"] == record["license"]["expression"] else "another licence"


def checks(dataset):
    rows = dataset.fim
    return [
        check("fim: prompt + completion does not parse", rows, lambda row: not parses(_joined(row)), _place),
        check("fim: uses a name of neither prompt nor completion", rows, lambda row: _undefined(row, dataset), _place),
        check("fim: imports what it does not use", rows, _unused, _place),
        check("fim: prompt does not end at the body's first line", rows, _bad_end, _place),
        check("fim: carriage returns", rows, lambda row: "\r" in _joined(row), _place),
        check("fim: completion is trivial", rows, _trivial, _place),
        _repeats(rows),
        check("fim: row is not of its kernel", rows, lambda row: _foreign(row, dataset), _place),
        _columns(dataset),
    ]
