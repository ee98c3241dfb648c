#!/usr/bin/env python3
"""Holds the documentation to the tree that it describes.

usage: check_docs.py [ROOT]      prints what is wrong; exit 1 if anything is
       check_docs.py --self-test checks the checks on a small tree that breaks them

Checks of each Markdown file:
  link     a relative link, or an #anchor of one, that leads nowhere
  path     a path of the repository in backticks (common/..., services/..., and so on) that is not there
  file     a file of C++ or proto in backticks that ends no path here
  command  `kernelmill SUBCOMMAND` that the client does not have
  flag     `--flag` below docs/ that no program of ours has
  missing  a folder of common/, dataset/, services/ and client/ that ARCHITECTURE.md does not name
  message  an error message that docs/troubleshooting.md lists, and no program prints; ... stands for what varies
  length   a README.md of more than 120 lines
"""

import os
import pathlib
import re
import sys
import tempfile

README_LINES = 120
CODE_TOPS = ("common", "dataset", "services", "client")
TOPS = "common|dataset|services|client|tests|deploy|proto|docs|examples|cmake"
FENCE = re.compile(r"^(```|~~~).*?^\1\s*$", re.MULTILINE | re.DOTALL)
CODE = re.compile(r"(`+)(.+?)\1(?!`)", re.DOTALL)
LINK = re.compile(r"\[[^\]\[]*\]\(([^()\s]+)\)")
PATH = re.compile(rf"(?:{TOPS})/[\w./*{{}},-]*")
FILE = re.compile(r"[\w/]+\.(?:h|cc|proto)")
# In a command line and in prose alike; not in "the kernelmill program", nor "kernelmill.v1".
COMMAND = re.compile(r"(?<![\w/-])(?:[\w./-]*/)?kernelmill ((?:store )?[a-z]+(?:-[a-z]+)*)\b")
FLAG = re.compile(r"(?<![\w-])--([a-z][a-z-]+)")
# A string literal; adjacent ones make one.
LITERAL = re.compile(r'"((?:[^"\\\n]|\\.)*)"')
SKIPPED_FOLDERS = {".git", ".cache", "build", "quickstart-out", "node_modules"}


def markdown_files(root):
    found = []
    for folder, folders, files in os.walk(root):
        folders[:] = [name for name in folders if name not in SKIPPED_FOLDERS]
        found += [pathlib.Path(folder) / name for name in files if name.endswith(".md")]
    return sorted(found)


def make_anchor(heading):
    """Returns the anchor of a heading as GitHub makes it: lower case, blanks to dashes, punctuation dropped."""
    text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).replace("`", "")
    return re.sub(r"[^\w\- ]", "", text.strip().lower()).replace(" ", "-")


def anchors(path):
    text = FENCE.sub("", path.read_text(encoding="utf-8"))
    return {make_anchor(line.lstrip("#")) for line in text.splitlines() if line.startswith("#")}


def sources(root, *tops):
    """The text of our C++, and of our scripts, without copies of what is generated."""
    for top in tops:
        for path in sorted((root / top).rglob("*")):
            if path.suffix in (".cc", ".h", ".py", ".sh") and path.is_file():
                yield path.read_text(encoding="utf-8", errors="replace")


def literals(text):
    """Returns the string literals of a source; adjacent ones are joined."""
    joined = re.sub(r'"\s*\n?\s*"', "", text)
    return "\n".join(match[1].replace('\\"', '"').replace("\\\\", "\\") for match in LITERAL.finditer(joined))


class Checker:
    def __init__(self, root):
        self.root = root
        self.problems = []
        programs = list(sources(root, *CODE_TOPS))
        self.words = set(LITERAL.findall("\n".join(programs)))
        scripts = list(sources(root, "tests", "deploy", "python"))
        self.flags = {flag for text in programs + scripts for flag in FLAG.findall(text)}
        self.files = [f"/{path.relative_to(root).as_posix()}" for top in (*CODE_TOPS, "tests", "proto")
                      for path in (root / top).rglob("*") if path.suffix in (".h", ".cc", ".proto")]
        self.messages = "\n".join(literals(text) for text in programs + list(sources(root, "deploy")))

    def problem(self, kind, path, what):
        self.problems.append(f"{path.relative_to(self.root)}: {kind}: {what}")

    def check_links(self, path, text):
        for target in LINK.findall(CODE.sub("", text)):
            if re.match(r"[a-z]+:", target):
                continue
            name, _, anchor = target.partition("#")
            there = (path.parent / name).resolve() if name else path
            if not there.exists():
                self.problem("link", path, f"{target} leads nowhere")
            elif anchor and there.suffix == ".md" and anchor not in anchors(there):
                self.problem("link", path, f"{target}: no such heading")

    def check_paths(self, path, spans):
        for span in spans:
            for word in span.split():
                found = PATH.match(word)
                if not found or re.search(r"/[A-Z]+(/|$)", found[0]):  # dataset/JOB: the reader's own
                    continue
                name = found[0].rstrip("/.,")
                if re.search(r"[*{}]", name):
                    if not any(True for choice in expand(name) for _ in self.root.glob(choice)):
                        self.problem("path", path, f"{name} matches nothing")
                elif not (self.root / name).exists():
                    self.problem("path", path, f"{name} is not there")

    def check_files(self, path, spans):
        for span in spans:
            if not FILE.fullmatch(span) or PATH.match(span):
                continue
            if not any(name.endswith(f"/{span}") for name in self.files):
                self.problem("file", path, f"{span} is not there")

    def check_commands(self, path, spans):
        for command in {match for span in spans for match in COMMAND.findall(span)}:
            if command.split()[-1] not in self.words:
                self.problem("command", path, f"kernelmill {command} is no command")

    def check_flags(self, path, spans):
        for flag in sorted({flag for span in spans for flag in FLAG.findall(span) if "kernelmill" in span or span[0] == "-"}):
            if flag not in self.flags:
                self.problem("flag", path, f"--{flag} is no flag of ours")

    def check_messages(self, path):
        for line in path.read_text(encoding="utf-8").splitlines():
            cells = re.match(r"\| (`[^|]*) \|", line)
            for message in CODE.findall(cells[1]) if cells else []:
                parts = [part.strip(" :") for part in message[1].split("...")]
                for part in parts:
                    if part and part not in self.messages:
                        self.problem("message", path, f"no program says: {part}")

    def check_complete(self):
        folders = {path.parent.name for top in CODE_TOPS
                   for path in (self.root / top).glob("*/CMakeLists.txt")}
        self.check_named("ARCHITECTURE.md", folders)

    def check_named(self, page, words):
        path = self.root / page
        text = path.read_text(encoding="utf-8") if path.exists() else ""
        for word in sorted(words):
            if not re.search(rf"(?<![\w-]){re.escape(word)}(?![\w-])", text):
                self.problem("missing", path, f"{word} is not explained")

    def run(self):
        for path in markdown_files(self.root):
            text = path.read_text(encoding="utf-8")
            prose = FENCE.sub("", text)
            inline = [span for _, span in CODE.findall(prose)]
            fenced = [line for block in FENCE.finditer(text) for line in block[0].splitlines()[1:-1]]
            self.check_links(path, prose)
            self.check_paths(path, inline + fenced)
            self.check_files(path, inline)
            self.check_commands(path, inline + fenced)
            if path.is_relative_to(self.root / "docs"):
                self.check_flags(path, inline + fenced)
        readme = self.root / "README.md"
        lines = len(readme.read_text(encoding="utf-8").splitlines())
        if lines > README_LINES:
            self.problem("length", readme, f"{lines} lines; at most {README_LINES}")
        troubleshooting = self.root / "docs/troubleshooting.md"
        if troubleshooting.exists():
            self.check_messages(troubleshooting)
        self.check_complete()
        return self.problems


def expand(glob):
    """['a/x', 'b/x'] of '{a,b}/x'."""
    inner = re.search(r"\{([^{}]*)\}", glob)
    if not inner:
        return [glob]
    return [g for choice in inner[1].split(",") for g in expand(glob[:inner.start()] + choice + glob[inner.end():])]


def self_test():
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder)
        for name in ("docs", "client", "common", "tests", "deploy"):
            (root / name).mkdir(parents=True)
        (root / "client/main.cc").write_text('Add("crawl", "a job "\n    "here is gone"); add_flag("--out", "x");')
        (root / "common/base").mkdir()
        (root / "common/base/CMakeLists.txt").touch()
        (root / "docs/good.md").write_text("# Two words\n`{client,services}/*.cc`, `kernelmill crawl`, [a](good.md#two-words)\n")
        (root / "docs/bad.md").write_text("[a](none.md) [b](good.md#none) `common/none.h` `none.h` `kernelmill sing` `--none`\n"
                                          "```sh\nkernelmill dance\n```\n")
        (root / "docs/troubleshooting.md").write_text("| message | remedy |\n| `a job here ... gone` | |\n| `never said` | |\n")
        (root / "README.md").write_text("x\n" * (README_LINES + 1))
        problems = Checker(root).run()
        kinds = sorted(problem.split(": ")[1] for problem in problems)
        expected = sorted(["link", "link", "path", "file", "command", "command", "flag", "message", "length",
                           "missing"])
        if kinds != expected:
            print("\n".join(problems), f"self-test: {kinds} are not {expected}", sep="\n", file=sys.stderr)
            return 1
    return 0


def main():
    if sys.argv[1:] == ["--self-test"]:
        return self_test()
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).resolve().parents[1])
    problems = Checker(root.resolve()).run()
    print("\n".join(problems) if problems else "the documentation is of this tree")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
