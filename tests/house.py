#!/usr/bin/env python3
"""Measures a C++ tree: sizes of files and functions, headers, comments, phrases that are hard to read. A report, not a test.

usage: house.py [ROOT...]     one column for each tree (default: this one), as a Markdown table

Production files are .cc, .cpp, .h and .hpp files whose path does not say test, fake, fuzz, example or third_party.
A header's users are the production files that include it, without the source of its own name.
A function's lines are those with code, from its signature to its closing brace.
"""

import collections
import os
import pathlib
import re
import statistics
import sys

import check_english

SOURCES = (".cc", ".cpp")
HEADERS = (".h", ".hpp")
NOT_PRODUCTION = re.compile(r"(^|[/_.-])(tests?|testing|fakes?|fuzz(ing|er)?|third_party|examples?)([/_.-]|$)")
SHORT_HEADER = 40
LONG_FUNCTION = 60
INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]+["<]([^">]+)[">]', re.MULTILINE)


def production_files(root):
    for folder, folders, files in os.walk(root):
        folders[:] = sorted(name for name in folders if name not in check_english.SKIPPED_FOLDERS)
        for name in sorted(files):
            path = pathlib.Path(folder, name)
            relative = path.relative_to(root).as_posix()
            if path.suffix in SOURCES + HEADERS and not NOT_PRODUCTION.search(relative):
                yield relative


def blank_out(source):
    """The source with comments, literals and preprocessor lines as blanks, so that its braces are those of code."""
    code = check_english.C_TOKEN.sub(lambda token: re.sub(r"[^\n]", " ", token[0]), source)
    return re.sub(r"^[ \t]*#(?:[^\n\\]|\\.|\\\n)*", lambda line: re.sub(r"[^\n]", " ", line[0]), code, flags=re.MULTILINE)


def matching_braces(code):
    """{where a brace opens: where it closes}; None if they do not match, as with a brace in each branch of an #if."""
    opened, closes = [], {}
    for match in re.finditer(r"[{}]", code):
        if match[0] == "{":
            opened.append(match.start())
        elif not opened:
            return None
        else:
            closes[opened.pop()] = match.start()
    return None if opened else closes


SCOPE = re.compile(r"\b(?:namespace|extern)\b|\b(?:class|struct|union)\b[^()]*$")


def function_lines(source):
    """Yields the number of lines with code of each function that a source defines."""
    code = blank_out(source)
    closes = matching_braces(code)
    if closes is None:
        return
    at, head = 0, 0  # `head`: where the declaration that `at` is in begins
    while at < len(code):
        if code[at] in ";}":
            head = at + 1
        elif code[at] == "{":
            words = code[head:at]
            after = code[closes[at] + 1:closes[at] + 200].lstrip()[:1]
            if SCOPE.search(words) and "=" not in re.sub(r"<[^<>]*>", "", words):
                head = at + 1
            elif ")" in words and after not in (",", "{") and not re.search(r"=\s*$", words):
                begin = head + len(words) - len(words.lstrip())
                yield sum(bool(line.strip()) for line in code[begin:closes[at] + 1].split("\n"))
                at = closes[at]
                head = at + 1
            else:  # a member's initializer, a table, an enum
                at = closes[at]
        at += 1


class House:
    def __init__(self, root):
        self.root = pathlib.Path(root)
        self.sources = {name: (self.root / name).read_text(encoding="utf-8", errors="replace")
                        for name in production_files(self.root)}
        self.lines = {name: text.count("\n") for name, text in self.sources.items()}

    def headers(self):
        return [name for name in self.sources if name.endswith(HEADERS)]

    def users(self):
        """{header: production files that include it, without its own source}."""
        by_suffix = collections.defaultdict(set)
        for name in self.headers():
            parts = name.split("/")
            for i in range(len(parts)):
                by_suffix["/".join(parts[i:])].add(name)
        users = {name: set() for name in self.headers()}
        for name, text in self.sources.items():
            for included in INCLUDE.findall(text):
                for header in self.resolve(name, included, by_suffix):
                    if header != name and os.path.splitext(header)[0].split("/")[-1] != os.path.splitext(name)[0].split("/")[-1]:
                        users[header].add(name)
        return users

    @staticmethod
    def resolve(name, included, by_suffix):
        beside = os.path.normpath(os.path.join(os.path.dirname(name), included))
        found = by_suffix.get(included, set())
        return [beside] if beside in found else sorted(found)[:1]

    def comment_share(self):
        """Returns the lines of sources, not headers, that are a comment, as a percentage of those that are not empty."""
        lines = comments = 0
        for name, text in self.sources.items():
            if name.endswith(SOURCES):
                code = check_english.C_TOKEN.sub(
                    lambda token: re.sub(r"[^\n]", "\x01" if token["comment"] else "x", token[0]), text)
                rows = [line for line in code.split("\n") if line.strip()]
                lines += len(rows)
                comments += sum(not line.replace("\x01", "").strip() for line in rows)
        return 100 * comments / lines if lines else 0

    def english(self):
        counter = check_english.Counter()
        for name in self.sources:
            counter.add(self.root / name)
        return counter.finish()

    def folders(self):
        """(production files, folder), the fullest first."""
        count = collections.Counter(os.path.dirname(name) or "." for name in self.sources)
        return sorted(((n, name) for name, n in count.items()), reverse=True)


def percent(part, whole):
    return f"{100 * part / whole:.0f} %" if whole else "-"


def measure(root):
    """{row: cell} of one tree."""
    house = House(root)
    lines = sorted(house.lines.values())
    headers = house.headers()
    users = house.users()
    short = [name for name in headers if house.lines[name] < SHORT_HEADER]
    alone = [name for name in headers if len(users[name]) == 1]
    functions = sorted(n for text in house.sources.values() for n in function_lines(text))
    english = house.english()
    folders = house.folders()

    def p90(values):
        return values[int(0.9 * (len(values) - 1))] if values else 0

    def rate(phrase):
        places = len(english.places[phrase, "comment"])
        return f"{places} ({1000 * places / max(1, english.comment_lines):.1f})"

    rows = {
        "production files; lines": f"{len(lines):,}; {sum(lines):,}",
        "file lines: median, p90, max": f"{statistics.median(lines):.0f}, {p90(lines)}, {lines[-1]}",
        f"headers; under {SHORT_HEADER} lines": f"{len(headers)}; {percent(len(short), len(headers))}",
        "headers with one user": percent(len(alone), len(headers)),
        f"headers under {SHORT_HEADER} lines with one user": percent(len(set(short) & set(alone)), len(headers)),
        "comment lines in .cc": f"{house.comment_share():.1f} %",
        "functions: median, p90 lines": f"{statistics.median(functions):.0f}, {p90(functions)}",
        f"functions over {LONG_FUNCTION} lines": f"{sum(n > LONG_FUNCTION for n in functions)} of {len(functions):,}",
        "fullest folders": ", ".join(f"{name} {n}" for n, name in folders[:3]),
        "folders over 25 files": str(sum(n > 25 for n, _ in folders)),
        "comment lines": f"{english.comment_lines:,}",
    }
    for phrase in check_english.BUDGETS:
        rows[f"{phrase} (of 1,000 comment lines)" if phrase != "XOf()" else "functions named XOf()"] = (
            rate(phrase) if phrase != "XOf()" else str(len(english.places[phrase, "comment"])))
    return rows


def main(argv):
    if any(word.startswith("-") for word in argv):
        print(__doc__, file=sys.stderr)
        return 2
    roots = argv or [pathlib.Path(__file__).resolve().parents[1]]
    columns = [measure(root) for root in roots]
    names = [pathlib.Path(root).resolve().name for root in roots]
    print("| | " + " | ".join(names) + " |\n|---|" + "---|" * len(names))
    for row in columns[0]:
        print(f"| {row} | " + " | ".join(column[row] for column in columns) + " |")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
