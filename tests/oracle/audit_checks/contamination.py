"""Runs of 13 tokens in common with a benchmark, by brute force and with CPython's own tokenizer."""
import io
import json
import tokenize

from .dataset import Check, place_of

RUN = 13
LIMIT = 0.5
LEAST_RUNS = 20  # shorter texts have runs that say nothing: a signature, a mask
_SPACE = {tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENCODING,
          tokenize.ENDMARKER}


def tokens(text):
    """Lexical tokens as far as the text can be read."""
    found = []
    try:
        for token in tokenize.generate_tokens(io.StringIO(text).readline):
            if token.type not in _SPACE:
                found.append(token.string)
    except (tokenize.TokenError, SyntaxError):
        pass
    return found


def runs(text):
    words = tokens(text)
    return {tuple(words[i:i + RUN]) for i in range(len(words) - RUN + 1)}


def _python_strings(value):
    """Strings of a JSON value that hold Triton code."""
    if isinstance(value, str):
        if "triton" in value and "def " in value:
            yield value
    elif isinstance(value, dict):
        for inner in value.values():
            yield from _python_strings(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _python_strings(inner)


def _texts(path):
    data = path.read_text(encoding="utf-8", errors="replace")
    if path.suffix == ".jsonl":
        for line in data.splitlines():
            try:
                yield from _python_strings(json.loads(line))
            except ValueError:
                continue
    elif path.suffix == ".json":
        try:
            yield from _python_strings(json.loads(data))
        except ValueError:
            return
    elif "triton" in data:
        yield data


def _functions(text):
    """Lines of each jit function of a text, found by its decorator: from there to the next line at its column."""
    lines = text.splitlines(keepends=True)
    for i, line in enumerate(lines):
        if not line.lstrip().startswith("@triton.jit"):
            continue
        column = len(line) - len(line.lstrip())
        end = i + 1
        while end < len(lines) and lines[end].strip()[:1] in ("@", "#", ""):
            end += 1
        # The signature may close at the function's own column: ") -> None:" or "):".
        end += 1
        while end < len(lines) and (not lines[end].strip() or len(lines[end]) - len(lines[end].lstrip()) > column
                                    or lines[end].lstrip()[0] in ")#"):
            end += 1
        yield "".join(lines[i:end])


class Holdouts:
    """The jit functions of folders that a dataset was to keep out."""

    def __init__(self, folders):
        self.functions = {}  # runs of a function by the function's own tokens: a copy counts once
        for folder in folders:
            for path in sorted(p for p in folder.rglob("*") if p.suffix in (".py", ".json", ".jsonl") and p.is_file()):
                for text in _texts(path):
                    for function in _functions(text):
                        found = frozenset(runs(function))
                        if len(found) >= LEAST_RUNS:
                            self.functions[found] = path.name
        self.by_run = {}
        for number, found in enumerate(self.functions):
            for run in found:
                self.by_run.setdefault(run, []).append(number)
        self.sizes = [len(found) for found in self.functions]

    def shares(self, text):
        """The largest share of one function's runs that the text has; and of the text's runs that functions have."""
        own = runs(text)
        met, covered = {}, 0
        for run in own:
            numbers = self.by_run.get(run, ())
            covered += bool(numbers)
            for number in numbers:
                met[number] = met.get(number, 0) + 1
        forward = max((count / self.sizes[number] for number, count in met.items()), default=0)
        return forward, covered / len(own) if len(own) >= LEAST_RUNS else 0


def _texts_of(record):
    launcher = record["launcher"]
    return {"source": record["source"], "module": record["module"],
            "launcher": (launcher or {}).get("text") or ""}


def checks(dataset, folders):
    holdouts = Holdouts(folders)
    rows = dataset.python()
    made = {}
    for text in ("source", "module", "launcher"):
        made[text, 0] = Check(f"contamination: {text} has {LIMIT:.0%} of a benchmark's kernel", len(rows))
        made[text, 1] = Check(f"contamination: {LIMIT:.0%} of {text} is of a benchmark's kernels", len(rows), wrong=False)
    for record in rows:
        for name, text in _texts_of(record).items():
            for way, share in enumerate(holdouts.shares(text)):
                if share >= LIMIT:
                    made[name, way].add(f"{place_of(record)}: {share:.2f}")
    return list(made.values())
