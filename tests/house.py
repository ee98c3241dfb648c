#!/usr/bin/env python3
"""Measures a C++ tree: sizes of files and functions, headers, comments, phrases that are hard to read.

usage: house.py [ROOT...]     one column for each tree (default: this one), as a Markdown table
       house.py --check       exit 1 if a function of this tree has more than 5 parameters, and names it
       house.py --self-test   check this script

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
MOST_PARAMETERS = 5
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


def functions(source):
    """Yields (head, number of lines with code) of each function that a source defines; the head is all before its opening brace."""
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
                yield words.strip(), sum(bool(line.strip()) for line in code[begin:closes[at] + 1].split("\n"))
                at = closes[at]
                head = at + 1
            else:  # a member's initializer, a table, an enum
                at = closes[at]
        at += 1


def function_lines(source):
    return [lines for _, lines in functions(source)]


PURE_VIRTUAL = re.compile(r"\bvirtual\b[^;{}]*=\s*0\s*;")
PARAMETER_LIST = re.compile(r"((?:[\w~]+::)*(?:\boperator *(?:\(\)|[^\w(]+)|[\w~]+))\s*\(")
NO_FUNCTION = re.compile(r"__attribute__|alignas|explicit|decltype|noexcept|requires")


def parameters(head):
    """Returns (a function's name, the number of its parameters) by its declaration."""
    head = re.sub(r"\btemplate\s*<(?:[^<>]|<(?:[^<>]|<[^<>]*>)*>)*>", "", head)
    start = next((found for found in PARAMETER_LIST.finditer(head)
                  if not NO_FUNCTION.fullmatch(found[1])), None)
    if start is None:
        return "", 0
    depth, count, any_word = 0, 1, False
    for at in range(start.end(), len(head)):
        char = head[at]
        if char == ")" and depth == 0:
            break
        depth += (char in "([{<") - (char in ")]}" or char == ">" and head[at - 1] != "-")
        count += char == "," and depth == 0
        any_word = any_word or not char.isspace()
    return start[1], count if any_word else 0


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


def long_parameter_lists(source):
    """Yields (name, number of parameters) of each function of a source that has too many."""
    heads = [head for head, _ in functions(source)] + PURE_VIRTUAL.findall(blank_out(source))
    for name, count in map(parameters, heads):
        if count > MOST_PARAMETERS:
            yield name, count


def check():
    house = House(pathlib.Path(__file__).resolve().parents[1])
    errors = [f"{file}: {name} has {count} parameters, at most {MOST_PARAMETERS} are allowed: make some of them an options struct"
              for file, text in house.sources.items() for name, count in long_parameter_lists(text)]
    print("\n".join(errors + [f"house.py: {len(house.sources)} files, {len(errors)} errors"]))
    return 1 if errors else 0


def self_test():
    def names(source):
        return [name for name, _ in long_parameter_lists(source)]

    six = "int a, std::map<int, int> b, int c, const F<int(int, int)>& d, int e, int f"
    assert names(f"void Free({six}) {{}}") == ["Free"]
    assert names(f"class C {{ C({six}) : a_(a), b_{{b}} {{}} }};") == ["C"]
    assert names(f"template <typename T, typename U>\nT ns::C::Get(\n{six}) const {{ return {{}}; }}") == ["ns::C::Get"]
    assert names(f"bool operator()({six}) const {{ return true; }}") == ["operator()"]
    assert names(f"struct P {{ virtual void Port({six}) = 0; }};") == ["Port"]
    assert names(f"void Five({six.rsplit(',', 1)[0]}) {{ Free(1, 2, 3, 4, 5, 6); }}") == []
    assert names("void None() {}\nint table[] = {F(1, 2, 3, 4, 5, 6)};\n// void F(int, int, int, int, int, int) {}") == []
    return 0


def main(argv):
    if argv == ["--check"]:
        return check()
    if argv == ["--self-test"]:
        return self_test()
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
