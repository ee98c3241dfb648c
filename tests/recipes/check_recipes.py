#!/usr/bin/env python3
"""Checks the recipes of CONTRIBUTING.md ("How to add ...") against the tree, name by name.

usage: check_recipes.py [ROOT]      prints what is wrong; exit 1 if anything is
       check_recipes.py --self-test

A recipe is a heading of the third level with numbered steps. Checks of each word in backticks:
  path      a file or folder has to exist: from the root, or in the folder of the path before it; X_test.cc may be new
  program   build/release/FOLDER/TARGET: FOLDER's CMakeLists.txt has to define TARGET
  variable  KERNELMILL_X has to be read by some source
  test      x_test has to be a test of CMake
  name      a type, function, table or field has to occur in the files that its step names, or in a file of the same stem; after the
            steps, anywhere in our sources
A step that names a file and no name says that only the file matters. A recipe without steps is refused.
"""

import pathlib
import re
import sys
import tempfile

CODE = re.compile(r"`([^`]+)`")
HEADING = re.compile(r"^## How to add.*?\n(.*?)(?=^## |\Z)", re.MULTILINE | re.DOTALL)
PATH = re.compile(r"[\w.*-]+(?:/[\w.*-]+)+/?|[\w-]+\.(?:cc|h|proto|py|txt|md|sh|cmake)")
NAME = re.compile(r"~?[A-Za-z_]\w*(?:(?:::|\.)[A-Za-z_]\w*)*(?:\(\))?")
TOPS = ("common", "dataset", "services", "client", "proto", "tests", "deploy", "docs", "cmake")
# Words that are values of data, not names of code.
DATA = {"null"}


class Recipes:
    def __init__(self, root):
        self.root = root
        self.problems = []
        self.texts = {}  # file: its text
        self.checked = 0

    def read(self, path):
        if path not in self.texts:
            self.texts[path] = path.read_text(encoding="utf-8", errors="replace")
        return self.texts[path]

    def sources(self, folder):
        return [path for path in sorted(folder.rglob("*"))
                if path.suffix in (".cc", ".h", ".proto", ".py", ".txt", ".cmake") and "build" not in path.parts]

    def all_sources(self):
        return [path for top in TOPS if (self.root / top).is_dir() for path in self.sources(self.root / top)]

    def problem(self, recipe, text):
        self.problems.append(f"{recipe}: {text}")

    def resolve(self, word, before):
        """Returns the files or folders that a path means: from the root, or beside a path before it."""
        places = [self.root, *(path if path.is_dir() else path.parent for path in before)]
        for place in places:
            if "*" in word:
                if found := sorted(place.glob(word.rstrip("/"))):
                    return found
            elif (place / word).exists():
                return [place / word]
        return []

    def check_path(self, recipe, word, before):
        if match := re.fullmatch(r"build/\w+/(.+)/(\w+)", word):
            lists = self.root / match[1] / "CMakeLists.txt"
            if not lists.exists() or not re.search(rf"km_\w+\(\s*{match[2]}\b", self.read(lists)):
                self.problem(recipe, f"{word}: {match[1]}/CMakeLists.txt does not define {match[2]}")
            return []
        found = self.resolve(word, before)
        if not found:
            self.problem(recipe, f"{word} does not exist")
        return found

    def files_of(self, paths):
        """Returns the files that a step names, with those of the same stem beside them."""
        files = set()
        for path in paths:
            files |= set(self.sources(path)) if path.is_dir() else {path, *path.parent.glob(f"{path.stem}.*")}
        return sorted(files)

    def check_name(self, recipe, word, files, place):
        last = re.split(r"::|\.", word.removesuffix("()"))[-1]
        if last in DATA or last.isupper() and len(last) < 3:
            return
        if word.startswith("KERNELMILL_"):
            files, place = self.all_sources(), "our sources"
        elif last.endswith("_test"):
            files = [path for path in self.all_sources() if path.name == "CMakeLists.txt"]
            place = "CMake's tests"
        self.checked += 1
        if not any(re.search(rf"(?<!\w){re.escape(last)}(?!\w)", self.read(path)) for path in files if path.is_file()):
            self.problem(recipe, f"{word} is not in {place}")

    def words(self, text):
        """(paths, names) of a text's code spans, in order."""
        paths, names = [], []
        for span in CODE.findall(text):
            for part in re.split(r"[\s,]+", re.sub(r"=\S*", "", span)):
                if PATH.fullmatch(part):
                    paths.append(part)
                elif NAME.fullmatch(part) and re.fullmatch(NAME.pattern + r"(?:=\S*)?", span.split()[0]):
                    names.append(part)
        return paths, names

    def check_recipe(self, title, body):
        steps = re.split(r"^\d+\. ", re.split(r"\n\n(?!\d+\. )", body[body.find("\n1. ") + 1:])[0], flags=re.MULTILINE)[1:] \
            if "\n1. " in body else []
        if not steps:
            self.problem(title, "has no numbered steps")
            return
        before = []
        for step in re.split(r"^\d+\. ", body, flags=re.MULTILINE):
            step, _, rest = step.partition("\n\n")
            paths, names = self.words(step)
            here = []
            for word in paths:
                self.checked += 1
                here += self.check_path(title, word, here + before)
            files = self.files_of(here)
            for word in names:
                self.check_name(title, word, files or self.all_sources(),
                                ", ".join(str(path.relative_to(self.root)) for path in here) or "our sources")
            before = here or before
            paths, names = self.words(rest)
            for word in paths:
                self.checked += 1
                self.check_path(title, word, before)
            for word in names:
                self.check_name(title, word, self.all_sources(), "our sources")

    def run(self):
        page = self.root / "CONTRIBUTING.md"
        section = HEADING.search(self.read(page))
        recipes = re.split(r"^### ", section[1], flags=re.MULTILINE)[1:] if section else []
        if not recipes:
            self.problem("CONTRIBUTING.md", "has no recipes below \"How to add ...\"")
        for recipe in recipes:
            title, _, body = recipe.partition("\n")
            self.check_recipe(title.strip(), "\n" + body)
        return self.problems


PAGE = """# Contributing

## How to add ...

### a check

1. `proto/kernel.proto`: a field in `Checks`.
2. `common/checks.cc`: `CheckAll` sets it; `{function}` is its table. The test is `checks_test.cc`.
3. `{folder}`: for it.

Then `KERNELMILL_WRITE=1 build/release/common/{program}`, which `{test}` asks for.

### a dream

{steps}
"""
GOOD = {"function": "Exempt", "folder": "common/", "program": "checks_test", "test": "docs_test", "steps": "1. `proto/*.proto`"}


def self_test():
    failures = []
    broken = [({}, 0), ({"function": "Gone"}, 1), ({"folder": "common/gone"}, 1), ({"program": "gone_test"}, 1), ({"test": "gone_test"}, 1),
              ({"steps": "Think."}, 1), ({"steps": "1. `proto/*.txt`"}, 1)]
    for change, expected in broken:
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            for name, text in {"CONTRIBUTING.md": PAGE.format(**{**GOOD, **change}), "proto/kernel.proto": "message Checks {}",
                               "common/checks.cc": 'getenv("KERNELMILL_WRITE");', "common/checks.h": "int CheckAll();\nint Exempt();",
                               "common/checks_test.cc": "", "common/CMakeLists.txt": "km_test(checks_test)\nadd_test(docs_test)"}.items():
                (root / name).parent.mkdir(exist_ok=True)
                (root / name).write_text(text)
            problems = Recipes(root).run()
            if len(problems) != expected:
                failures.append(f"{change}: expected {expected} problems, found {problems}")
    print(*failures, f"self-test: {len(broken)} trees, {len(failures)} failures", sep="\n")
    return 1 if failures else 0


def main(argv):
    if argv == ["--self-test"]:
        return self_test()
    recipes = Recipes(pathlib.Path(argv[0] if argv else pathlib.Path(__file__).resolve().parents[2]).resolve())
    problems = recipes.run()
    print(*problems, f"{recipes.checked} names, {len(problems)} problems", sep="\n")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
