"""instruct.jsonl: can a good engineer answer each question from what it shows, and is each answer one question's?"""
import ast
import json
import re
import textwrap

from .dataset import Check, check
from .names import BUILTINS

WORD = re.compile(r"[^\W\d]\w*")
FENCE = re.compile(r"^ {0,3}(`{3,}|~{3,})([^\n]*)$", re.MULTILINE)
# Words of a kernel's name that do not say what it computes.
EMPTY_WORDS = set("kernel kernels triton tl jit cuda gpu device global helper fn func function functions impl main test tests demo example my the a "
                  "an of op ops fwd bwd forward backward fw bw inner outer body run call launch compute block program pid custom fused new old "
                  "optimized fast simple naive base basic generic default template wrapper wrapped tmp temp foo bar baz version ver v do".split())
# Forms of the special tokens of today's models, wider than the program's own list.
SPECIAL = re.compile(r"<\|[\w▁ -]{1,40}\|>|<\uff5c[\w▁ -]{1,40}\uff5c>|\[/?(?:INST|SYSTEM_PROMPT|AVAILABLE_TOOLS|TOOL_CALLS|TOOL_RESULTS)\]"
                     r"|<</?SYS>>|<(?:start|end)_of_turn>|</?(?:s|unk|bos|eos|pad|mask|think|tool_call|tool_response)>"
                     r"|<(?:fim_(?:prefix|middle|suffix|pad)|file_sep|repo_name|filename)>")


def _rows(dataset):
    path = dataset.folder / "instruct.jsonl"
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()] if path.exists() else []


def _question(row):
    return row["messages"][1]["content"]


def _answer(row):
    return row["messages"][-1]["content"]


def _place(row):
    return f"{row.get('change_id') or row['id']} {row['repository']} {row['template']}"


def unfenced(text):
    """The code of an answer that is one fenced block; None for other texts."""
    fences = list(FENCE.finditer(text))
    if not fences or fences[0].start() != 0:
        return None
    return text[fences[0].end() + 1:fences[-1].start()] if len(fences) > 1 else None


def open_fences(text):
    """Returns the code blocks of a Markdown text as (language, content), and whether the last is never closed."""
    blocks, opened, begin, language = [], None, 0, ""
    for fence in FENCE.finditer(text):
        marks, rest = fence[1], fence[2]
        if opened is None:
            if marks[0] == "`" and "`" in rest:
                continue
            opened, begin, language = marks, fence.end() + 1, rest.strip()
        elif marks[0] == opened[0] and len(marks) >= len(opened) and not rest.strip():
            blocks.append((language, text[begin:fence.start()]))
            opened = None
    return blocks, opened is not None


class _Names(ast.NodeVisitor):
    """The names that a function's text binds, reads and calls, and the members of self that it calls."""

    def __init__(self):
        self.bound, self.read, self.called, self.own_calls, self.own = set(), set(), set(), set(), set()

    def visit_Name(self, node):
        (self.read if isinstance(node.ctx, ast.Load) else self.bound).add(node.id)

    def visit_arg(self, node):
        self.bound.add(node.arg)
        self.generic_visit(node)

    def visit_ExceptHandler(self, node):
        self.bound.add(node.name)
        self.generic_visit(node)

    def visit_alias(self, node):
        self.bound.add((node.asname or node.name).split(".")[0])

    def _definition(self, node):
        self.bound.add(node.name)
        self.generic_visit(node)

    visit_FunctionDef = visit_AsyncFunctionDef = visit_ClassDef = _definition

    def visit_Attribute(self, node):
        if isinstance(node.value, ast.Name) and node.value.id in ("self", "cls"):
            self.own.add(node.attr)
        self.generic_visit(node)

    def visit_Call(self, node):
        at = node.func
        while isinstance(at, (ast.Attribute, ast.Subscript)):
            if isinstance(at, ast.Attribute) and isinstance(at.value, ast.Name) and at.value.id in ("self", "cls"):
                self.own_calls.add(at.attr)
            at = at.value
        if isinstance(at, ast.Name):
            self.called.add(at.id)
        self.generic_visit(node)


def names_of(code):
    try:
        tree = ast.parse(textwrap.dedent(code))
    except (SyntaxError, ValueError, RecursionError):
        return None
    names = _Names()
    names.visit(tree)
    return names


def _unnamed(row, calls_only):
    names = names_of(unfenced(_answer(row)) or "")
    if names is None:
        return False
    shown = set(WORD.findall(_question(row)))
    wanted = names.called | {"self." + name for name in names.own_calls} if calls_only else \
        names.read | {"self." + name for name in names.own}
    missing = {name for name in wanted if name not in names.bound and name not in BUILTINS and name.split(".")[-1] not in shown}
    return ", ".join(sorted(missing))


def _guesses(row):
    """Returns true if the answer makes its own data, which a reader of the question cannot guess."""
    try:
        body = ast.parse(textwrap.dedent(unfenced(_answer(row)) or "")).body
    except (SyntaxError, ValueError, RecursionError):
        return False
    function = next((node for node in body if isinstance(node, ast.FunctionDef)), None)
    if function is None:
        return "statements"
    given = function.args.posonlyargs + function.args.args + function.args.kwonlyargs
    if not [arg for arg in given if arg.arg not in ("self", "cls")] and not function.args.vararg and not function.args.kwarg:
        return function.name
    return function.name if function.name.lower().startswith("test") else False


def says_nothing(name):
    words = re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+", name)
    return all(len(word) < 2 or word.isdigit() or word.lower() in EMPTY_WORDS for word in words)


def _ungrounded(row):
    question = _question(row)
    return "\nWhat it does:" not in question and "launched" not in question


def _several(name, rows, key, value):
    """Counts the rows whose key another row has with another value."""
    made = Check(name, len(rows))
    values = {}
    for row in rows:
        values.setdefault(" ".join(key(row).split()), set()).add(" ".join(value(row).split()))
    for row in rows:
        if len(values[" ".join(key(row).split())]) > 1:
            made.add(_place(row))
    return made


def _breaks(row):
    for message in row["messages"]:
        if open_fences(message["content"])[1]:
            return f"{message['role']}: a fence is not closed"
    if row["template"] not in ("document", "review") and unfenced(_answer(row)) != "".join(text for _, text in open_fences(_answer(row))[0]):
        return "the answer is not one block"
    return False


def _unflagged(row):
    flags = row.get("special_tokens")
    found = {match for message in row["messages"] for match in SPECIAL.findall(message["content"])}
    return ", ".join(sorted(found)) if found and not flags else False


def checks(dataset):
    rows = _rows(dataset)
    by_template = {name: [row for row in rows if row["template"] == name] for name in ("write", "complete", "launch", "document")}
    write, launch = by_template["write"], by_template["launch"]
    return [
        check("conversations: launch of a function without parameters, or of a test", launch, _guesses, _place),
        check("conversations: launch calls what the question does not name", launch, lambda row: _unnamed(row, True), _place),
        check("conversations: launch reads a name that the question does not have", launch, lambda row: _unnamed(row, False), _place),
        check("conversations: write without docstring and launcher", write, _ungrounded, _place),
        check("conversations: write by a name that says nothing", write,
              lambda row: says_nothing(dataset.by_id[row["id"]]["name"]), _place),
        _several("conversations: a question with several answers", rows, _question, _answer),
        _several("conversations: an answer of several questions", rows, _answer, _question),
        check("conversations: a fence breaks", rows, _breaks, _place),
        check("conversations: special tokens without a flag", rows, _unflagged, _place),
        check("kernels: special tokens without a flag", dataset.kernels,
              lambda row: SPECIAL.search(row["source"] + row["module"]) and not row.get("special_tokens"),
              lambda row: f"{row['id']} {row['repository']} {row['path']}"),
    ]
