#!/usr/bin/env python3
"""Counts phrases that make comments, messages and documentation hard to read, and fails if there are more than BUDGETS allows.

usage: check_english.py            checks this tree; prints the places of each phrase that is over its budget, then exits 1
       check_english.py --lower    lowers the budgets in this script to what the tree has
       check_english.py PATH...    prints every place in these files and folders, then the counts
       check_english.py --self-test

Three kinds of text are counted apart:
  comment  comments of C++, proto, TypeScript, shell and Python, and Python's docstrings; names of functions
  message  string literals of three words or more: errors, help, logs
  docs     Markdown, without its code blocks
A function's name is counted once, however often it is called.
"""

import bisect
import collections
import contextlib
import io
import os
import pathlib
import re
import sys
import tempfile
import tokenize

# The beginning of a sentence: the start of a comment, message, paragraph, list item or table cell in any case; after a full stop only
# with a capital.
OPENERS = "Of|What|Whether|Where|Who|Whose|Whom"
OPENING = re.compile(rf"(?:\A|\n[ \t]*[-*|][ \t]+)\**(?i:({OPENERS}))\b(?!['-])|[.!?][)\"]?\s+({OPENERS})\b(?!['-])")

# phrase: (its pattern, and how often it may occur in comments, in messages, in docs). Lower a number when the tree has fewer.
BUDGETS = {
    "opens with Of, What, Who": (OPENING, 13, 98, 76),
    "is none": (re.compile(r"\b(?:is|are|was|were|be) none\b"), 2, 5, 0),
    "of which": (re.compile(r"\bof (?:which|whose)\b"), 1, 0, 4),
    "whom": (re.compile(r"\bwhom\b"), 0, 0, 1),
    "whoever": (re.compile(r"\b[Ww]ho(?:so)?ever\b"), 0, 1, 1),
    "nobody": (re.compile(r"\b[Nn]obody\b"), 0, 8, 2),
    "but for": (re.compile(r"\b(?:but for|nothing but)\b"), 0, 2, 2),
    "is another of": (re.compile(r"\b(?:is|are) another(?: one)?(?: of)?\b"), 0, 2, 0),
    "stands": (re.compile(r"\b(?:[Ss]tands?|stood)\b(?!-)(?! for\b)"), 3, 12, 11),
    "XOf()": (None, 4, 0, 0),
}
# Names of functions that end in Of and say what they do.
PLAIN_OF = re.compile(r"(?:All|Any|None|Index|Prefix|Suffix|Part|Subset|Superset|Instance|Out|Size|Offset|Align)Of$|^(?:Is|Has|Ends)\w*Of$|^Of$")
CALLED_OF = re.compile(r"\b([A-Za-z]\w*Of)\s*\(")

SKIPPED_FOLDERS = {".git", ".cache", "build", "quickstart-out", "node_modules", "third_party", "__pycache__"}
# Written elsewhere, and copied here; or the test's own data.
COPIED = re.compile(r"(^|/)(proto/build|proto/google|tests/data|tests/\w+/data)/|check_english\.py$"
                    r"|python/kernelmill/records\.py$"  # made of rows.proto
                    r"|docs/reference/\w+\.md$")  # made of the tree
C_LIKE = {".cc", ".h", ".cpp", ".hpp", ".proto", ".ts"}
SUFFIXES = C_LIKE | {".py", ".sh", ".md"}

C_TOKEN = re.compile(
    r'(?P<comment>//[^\n]*|/\*.*?\*/)|(?P<raw>R"(?P<mark>[^()\\\s"]*)\(.*?\)(?P=mark)")'
    r'|(?P<text>"(?:[^"\\\n]|\\.)*")|(?P<char>(?<!\w)\'(?:[^\'\\\n]|\\.)*\')|(?P<include>^[ \t]*#[ \t]*include[^\n]*)', re.DOTALL | re.MULTILINE)
SHELL_TOKEN = re.compile(r"(?P<comment>(?<![^\s;])#[^\n]*)|(?P<text>\"(?:[^\"\\]|\\.)*\"|'[^']*')|\\.")
FENCE = re.compile(r"^[ \t]*(```|~~~).*?^[ \t]*\1[ \t]*$", re.MULTILINE | re.DOTALL)


class Text:
    """A comment, message or paragraph: its words, and the line of each."""

    def __init__(self, kind):
        self.kind = kind
        self.starts, self.lines, self.words = [], [], ""

    def add(self, line, words):
        self.starts.append(len(self.words))
        self.lines.append(line)
        self.words += words

    def line_at(self, offset):
        return self.lines[max(0, bisect.bisect_right(self.starts, offset) - 1)]


class Collector:
    """Joins the comments of neighbouring lines and the literals of neighbouring lines, and keeps the finished texts."""

    def __init__(self):
        self.texts = []
        self.comment_lines = 0
        self.open = None  # (the comment that may go on, its last line, its column)
        self.message = None  # (the literal that may go on, where it ends)

    def comment(self, line, column, words):
        rows = words.split("\n")
        self.comment_lines += len(rows)
        if not any(row.strip() for row in rows):
            self.open = None
            return
        if not (self.open and self.open[1] == line - 1 and self.open[2] == column):
            self.texts.append(Text("comment"))
        for i, row in enumerate(rows):
            self.texts[-1].add(line + i, ("\n" if self.texts[-1].words else "") + row)
        self.open = (self.texts[-1], line + len(rows) - 1, column)

    def literal(self, line, words):
        if len(re.findall(r"[A-Za-z]{2,}", words)) >= 3 and " " in words.strip():
            text = Text("message")
            for i, row in enumerate(words.split("\n")):
                text.add(line + i, ("\n" if i else "") + row)
            self.texts.append(text)


def read_c(source, collector):
    literal, begin, end = "", 0, 0  # literals side by side are one

    def flush():
        if literal:
            collector.literal(source.count("\n", 0, begin) + 1, literal)

    for match in C_TOKEN.finditer(source):
        if match["text"]:
            words = match["text"][1:-1].replace("\\n", " ").replace('\\"', '"')
            if literal and not source[end:match.start()].strip():
                literal += words
            else:
                flush()
                literal, begin = words, match.start()
            end = match.end()
        elif match["comment"]:
            words = match["comment"]
            line = source.count("\n", 0, match.start()) + 1
            column = match.start() - source.rfind("\n", 0, match.start())
            rows = words.removesuffix("*/").split("\n")
            rows[0] = re.sub(r"^/[/*]+[!<]?", "", rows[0])
            rows[1:] = [re.sub(r"^\s*\*?", "", row) for row in rows[1:]]
            collector.comment(line, column, "\n".join(row.strip() if i == 0 else row for i, row in enumerate(rows)))
    flush()


def read_python(source, collector):
    try:
        tokens = list(tokenize.generate_tokens(io.StringIO(source).readline))
    except (tokenize.TokenError, IndentationError, SyntaxError):
        return
    before, literal, begin = None, "", 0
    for token in tokens:
        if token.type == tokenize.COMMENT:
            if not token.string.startswith("#!"):
                collector.comment(token.start[0], token.start[1], token.string.lstrip("#").strip())
            continue
        if token.type == tokenize.STRING:
            opened = re.match(r"(?i)([rbuf]*)(\"\"\"|'''|\"|')", token.string)
            words = token.string[opened.end():-len(opened[2])]
            if before in (None, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT):
                for i, row in enumerate(words.split("\n")):
                    collector.comment(token.start[0] + i, token.start[1], row.strip())
            elif len(opened[2]) == 1 and "r" not in opened[1].lower():
                literal, begin = literal + words, begin or token.start[0]
        elif token.type not in (tokenize.NL, tokenize.COMMENT):
            if literal:
                collector.literal(begin, literal)
            literal, begin = "", 0
        if token.type not in (tokenize.NL, tokenize.COMMENT):
            before = token.type


def read_shell(source, collector):
    for match in SHELL_TOKEN.finditer(source):
        line = source.count("\n", 0, match.start()) + 1
        if match["comment"] and not match["comment"].startswith("#!"):
            collector.comment(line, match.start() - source.rfind("\n", 0, match.start()), match["comment"].lstrip("#").strip())
        elif match["text"]:
            collector.literal(line, match["text"][1:-1])


def read_markdown(source, collector):
    """One text for each paragraph, heading, list item and table cell."""
    source = FENCE.sub(lambda block: re.sub(r"[^\n]", " ", block[0]), source)
    source = re.sub(r"(`+)(.+?)\1(?!`)", lambda span: re.sub(r"[^\n]", "`", span[0]), source, flags=re.DOTALL)
    text = None
    for number, row in enumerate(source.split("\n"), 1):
        if row.lstrip().startswith("|"):
            for cell in row.strip().strip("|").split("|"):
                collector.texts.append(Text("docs"))
                collector.texts[-1].add(number, cell.strip())
            text = None
            continue
        item = re.match(r"\s*(?:[-*+]|\d+\.|#+)\s+", row)
        if not row.strip():
            text = None
            continue
        if item or text is None:
            text = Text("docs")
            collector.texts.append(text)
            text.add(number, row[item.end():] if item else row.strip())
        else:
            text.add(number, "\n" + row.strip())


def read(path):
    source = path.read_text(encoding="utf-8", errors="replace")
    collector = Collector()
    if path.suffix == ".py":
        read_python(source, collector)
    elif path.suffix == ".sh":
        read_shell(source, collector)
    elif path.suffix == ".md":
        read_markdown(source, collector)
    else:
        read_c(source, collector)
    return source, collector


def files_of_interest(paths):
    for path in paths:
        if path.is_file():
            yield path
            continue
        for folder, folders, files in os.walk(path):
            folders[:] = sorted(name for name in folders if name not in SKIPPED_FOLDERS)
            for name in sorted(files):
                found = pathlib.Path(folder) / name
                if found.suffix in SUFFIXES and not COPIED.search(found.as_posix()):
                    yield found


class Counter:
    def __init__(self):
        self.places = collections.defaultdict(list)  # (phrase, kind): ["file:line: words"]
        self.comment_lines = 0
        self.functions = {}  # name: its place; a header's before a source's
        self.patterns = {phrase: row[0] for phrase, row in BUDGETS.items() if row[0]}

    def add(self, path):
        source, collector = read(path)
        self.comment_lines += collector.comment_lines
        for text in collector.texts:
            for phrase, pattern in self.patterns.items():
                for match in pattern.finditer(text.words):
                    at = max(match.start(group) for group in range(len(match.groups()) + 1))
                    around = text.words[max(0, at - 30):at + 50].replace("\n", " ").strip()
                    self.places[phrase, text.kind].append(f"{path}:{text.line_at(at)}: {around}")
        if path.suffix in C_LIKE - {".proto"}:
            code = C_TOKEN.sub(lambda token: re.sub(r"[^\n]", " ", token[0]), source)
            for match in CALLED_OF.finditer(code):
                if not PLAIN_OF.search(match[1]) and (match[1] not in self.functions or
                                                      (path.suffix == ".h" and ".h:" not in self.functions[match[1]])):
                    self.functions[match[1]] = f"{path}:{code.count(chr(10), 0, match.start()) + 1}"

    def finish(self):
        self.places["XOf()", "comment"] = [f"{place}: {name}" for name, place in sorted(self.functions.items())]
        return self


def count(paths):
    counter = Counter()
    for path in files_of_interest(paths):
        counter.add(path)
    return counter.finish()


KINDS = ("comment", "message", "docs")


def report(counter):
    for phrase in BUDGETS:
        for kind in KINDS:
            for place in counter.places[phrase, kind]:
                print(f"{place}   [{phrase}]")
    print(f"\n{'':26}" + "".join(f"{kind:>9}" for kind in KINDS))
    for phrase in BUDGETS:
        print(f"{phrase:26}" + "".join(f"{len(counter.places[phrase, kind]):9}" for kind in KINDS))
    sums = [sum(len(counter.places[phrase, kind]) for phrase in BUDGETS) for kind in KINDS]
    print(f"{'all':26}" + "".join(f"{n:9}" for n in sums) + f"     ({counter.comment_lines} comment lines)")


def check(counter, budgets):
    """Prints the phrases that are over their budgets, with their places; returns how many there are."""
    over = 0
    for phrase, (_, *allowed) in budgets.items():
        for kind, budget in zip(KINDS, allowed):
            places = counter.places[phrase, kind]
            if len(places) > budget:
                over += 1
                print(f"{phrase}: {len(places)} in {kind}, budget {budget}:", *places, sep="\n  ")
            elif len(places) < budget:
                print(f"{phrase}: {len(places)} in {kind}, below its budget of {budget}: lower it in check_english.py")
    return over


SELF_TEST = {
    # file: (its text, {(phrase, kind): the lines where it has to be found})
    "a.cc": ("""// Returns what it finds. What is more, of two it
// takes the first. Of three, none: there is none.
int NameOf(int x);  // of a row
/* Whether it
   stands. A stand-in stands for something. */
const char* kError = "the row is "
                     "none of these";
const char* kText = R"(Who asks what stands here)";
bool IsPartOf(int), AllOf(int);  int y = NameOf(1);
""", {("opens with Of, What, Who", "comment"): [1, 2, 3, 4], ("is none", "comment"): [2], ("is none", "message"): [6],
      ("stands", "comment"): [5], ("XOf()", "comment"): [3]}),
    "b.py": ('''def f():
    """Nobody calls it.

    Whose it is."""
    x = "who reads this"  # but for one
    return None  # is None
''', {("nobody", "comment"): [2], ("opens with Of, What, Who", "comment"): [4], ("opens with Of, What, Who", "message"): [5],
        ("but for", "comment"): [5]}),
    "c.sh": ("#!/bin/sh\n# Whoever runs it\necho \"of whom is it\" ${#x} # where\n",
             {("whoever", "comment"): [2], ("opens with Of, What, Who", "message"): [3], ("whom", "message"): [3],
              ("opens with Of, What, Who", "comment"): [3]}),
    "d.md": ("""# What is it

The parts, two of which are here,
are another's. `is none`

| who types | of a part |
|---|---|

- Where it stands
```
Of code
```
""", {("opens with Of, What, Who", "docs"): [1, 6, 6, 9], ("of which", "docs"): [3], ("is another of", "docs"): [4], ("stands", "docs"): [9]}),
}


def lower(counter, script):
    """Writes budgets that are above the counts anew, into the table of this script."""
    text = script.read_text(encoding="utf-8")
    for phrase, (_, *allowed) in BUDGETS.items():
        budgets = [min(budget, len(counter.places[phrase, kind])) for kind, budget in zip(KINDS, allowed)]
        text = re.sub(rf'(?m)^(    "{re.escape(phrase)}": \(.*?)\d+, \d+, \d+\),$',
                      lambda row: f"{row[1]}{', '.join(map(str, budgets))}),", text)
    script.write_text(text, encoding="utf-8")


def self_test():
    failures = []
    with tempfile.TemporaryDirectory() as folder:
        for name, (text, expected) in SELF_TEST.items():
            path = pathlib.Path(folder, name)
            path.write_text(text)
            counter = count([path])
            found = {key: [int(place.removeprefix(f"{path}:").split(":")[0]) for place in places]
                     for key, places in counter.places.items() if places}
            if found != expected:
                failures.append(f"{name}: found {found}, expected {expected}")
        whole = count([pathlib.Path(folder)])
        with contextlib.redirect_stdout(io.StringIO()) as printed:
            over = check(whole, {"stands": (None, 1, 0, 0), "nobody": (None, 1, 0, 0), "whom": (None, 0, 2, 0)})
        if over != 1 or "stands: 1 in docs, budget 0:\n" not in printed.getvalue() or "lower it" not in printed.getvalue():
            failures.append(f"check: {over} over: {printed.getvalue()}")
    print(*failures, f"self-test: {len(failures)} failures", sep="\n")
    return 1 if failures else 0


def main(argv):
    if argv == ["--self-test"]:
        return self_test()
    if any(word.startswith("-") for word in argv) and argv != ["--lower"]:
        print(__doc__, file=sys.stderr)
        return 2
    if argv == ["--lower"]:
        lower(count([pathlib.Path(__file__).resolve().parents[1]]), pathlib.Path(__file__))
        return 0
    if argv:
        report(count([pathlib.Path(path) for path in argv]))
        return 0
    over = check(count([pathlib.Path(__file__).resolve().parents[1]]), BUDGETS)
    print(f"{over} phrases are over their budgets")
    return 1 if over else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
