#!/usr/bin/env python3
"""Holds #include lines to what CMake declares, so that the include graph stays a DAG that people can read.

usage: check_include_graph.py [ROOT]      prints what is wrong; exit 1 if anything is
       check_include_graph.py --self-test checks the checks on small trees that break them

Every folder is one target (km_library, or km_test_library where tests alone use it), beside its programs
(km_binary, km_program) and tests (km_test). Refused:
  undeclared  a file includes a folder whose target its own target does not name: a .cc needs it in DEPS or
              PRIVATE_DEPS, a header that other folders include needs it in DEPS
  cycle       targets that depend on each other in a ring
  service     a service that includes another's folders, or dataset/; client/, which wires all services into
              one process, includes of them what they have in server/ alone
  upward      a top folder that includes one above it (common, dataset, services, client: low to high); a folder
              of common/, dataset/ or client/ that includes one which their CMakeLists.txt lists after it (tests
              aside); within a service, core/ including adapters/ or server/, or adapters/ including server/
  testing     a km_library or km_binary that needs a km_test_library
  impure      core/ including gRPC, flags or an I/O library
  drawing     a folder of common/, dataset/ or client/ that ARCHITECTURE.md does not list in the order of their
              CMakeLists.txt
  unknown     a source that does not exist, or that no target builds; an include of ours that is no file
"""

import pathlib
import re
import sys
import tempfile

TOPS = ("common", "dataset", "services", "client")  # low to high
OURS = TOPS + ("tests",)
# The targets that generate headers, by how their names begin.
GENERATED = [("kernelmill/v1/rows.pb.h", "rows_proto"), ("kernelmill/v1/", "kernelmill_proto"), ("build/bazel/", "reapi_proto"),
             ("google/bytestream/", "reapi_proto"), ("google/rpc/", "reapi_proto")]
IMPURE = re.compile(r"^(grpc|grpcpp|CLI|rocksdb|git2|curl|archive|prometheus|tree_sitter|yaml-cpp)(/|\.h|_|$)"
                    r"|\.grpc\.pb\.h$")
INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]+["<]([^">]+)[">]', re.MULTILINE)
CALL = re.compile(r"\b(km_library|km_test_library|km_binary|km_program|km_test|km_proto_library)\s*\(([^)]*)\)")
GLOB = re.compile(r"file\s*\(\s*GLOB\s+(\w+)[^)]*?(\S+)\s*\)")
LIBRARIES = ("km_library", "km_test_library")
KEYWORDS = ("SRCS", "DEPS", "PRIVATE_DEPS", "LABELS", "TIMEOUT", "PROTOS", "SERVICES")


class Target:
    def __init__(self, name, kind, folder, args):
        self.name, self.kind, self.folder = name, kind, folder
        self.sources = [f"{folder}/{source}" for source in args["SRCS"]]
        self.public = set(args["DEPS"])
        self.deps = self.public | set(args["PRIVATE_DEPS"])


def parse_call(words):
    args, into = {keyword: [] for keyword in KEYWORDS}, None
    for word in words[1:]:
        if word in KEYWORDS:
            into = word
        elif into:
            args[into].append(word)
    return words[0], args


def read_targets(root):
    targets = {}
    for top in OURS + ("proto",):
        for path in sorted((root / top).rglob("CMakeLists.txt")):
            text = re.sub(r"#[^\n]*", "", path.read_text())
            for variable, pattern in GLOB.findall(text):
                files = sorted(file.relative_to(path.parent).as_posix() for file in path.parent.glob(pattern))
                text = text.replace(f"${{{variable}}}", " ".join(files))
            for kind, body in CALL.findall(text):
                name, args = parse_call(body.split())
                if "$" not in name:  # the functions' own definitions
                    folder = path.parent.relative_to(root).as_posix()
                    targets[name] = Target(name, kind, folder, args)
    return targets


def read_includes(root):
    """{file: [(line, included)]} of every source and header."""
    includes = {}
    for top in OURS:
        for path in sorted((root / top).rglob("*")):
            if path.suffix in (".cc", ".h") and "data" not in path.relative_to(root / top).parts:
                text = path.read_text(encoding="utf-8")
                includes[path.relative_to(root).as_posix()] = [
                    (text.count("\n", 0, match.start()) + 1, match.group(1)) for match in INCLUDE.finditer(text)]
    return includes


def parent_folder(path):
    return path.rpartition("/")[0]


def public_headers(includes):
    """Headers that another folder includes, directly or through headers of their own folder."""
    public = {included for path, rows in includes.items() for _, included in rows
              if included in includes and parent_folder(included) != parent_folder(path)}
    work = list(public)
    while work:
        for _, included in includes[work.pop()]:
            if included in includes and included not in public:
                public.add(included)
                work.append(included)
    return public


class Checker:
    def __init__(self, root):
        self.root = root
        self.targets = read_targets(root)
        self.includes = read_includes(root)
        self.public = public_headers(self.includes)
        self.library = {t.folder: t for t in self.targets.values() if t.kind in LIBRARIES}
        self.tests = {s for t in self.targets.values() if t.kind == "km_test" for s in t.sources}
        self.order = {top: self.listed_folders(root / top / "CMakeLists.txt") for top in TOPS}
        self.owner = {}
        self.problems = []

    @staticmethod
    def listed_folders(path):
        """{folder: its height} of a CMakeLists.txt that lists its folders low to high; empty where it does not."""
        listed = re.search(r"foreach\s*\(\s*folder\s+([^)]*)\)", path.read_text()) if path.exists() else None
        return {name: i for i, name in enumerate(listed.group(1).split() if listed else [])}

    def problem(self, kind, where, text):
        self.problems.append(f"{where}: {kind}: {text}")

    def owners(self):
        """{file: the target that compiles or offers it}."""
        owner = {}
        for target in self.targets.values():
            for source in target.sources:
                if source in self.includes:
                    owner[source] = target
                elif "$" not in source:
                    self.problem("unknown", target.folder, f"{target.name} lists {source}, which does not exist")
        for path in self.includes:
            if path not in owner:
                target = self.header_owner(path, owner) if path.endswith(".h") else None
                if target is None:
                    self.problem("unknown", path, "no target of its folder builds it")
                else:
                    owner[path] = target
        return owner

    def header_owner(self, path, owner):
        """The test, if only tests include the header; else its folder's library, or the target of the source beside it."""
        users = sorted(p for p, rows in self.includes.items() if path in (included for _, included in rows))
        if users and all(user in self.tests for user in users):
            return owner[users[0]]
        folder = parent_folder(path)
        return self.library.get(folder) or self.sole_target(folder) or owner.get(f"{path[:-2]}.cc")

    def sole_target(self, folder):
        """A folder without a library: its headers go with the one program or test there."""
        found = [t for t in self.targets.values() if t.folder == folder]
        return found[0] if len(found) == 1 else None

    def target_of_include(self, where, included):
        for prefix, name in GENERATED:
            if included.startswith(prefix) and included.endswith(".pb.h"):
                return name
        if included.split("/")[0] not in OURS:
            return None
        made = (self.root / f"{included}.in").exists()  # by configure_file
        if included not in self.includes and not made:
            self.problem("unknown", where, f"includes {included}, which does not exist")
            return None
        target = self.library.get(parent_folder(included)) or self.sole_target(parent_folder(included))
        return target.name if target else None

    def is_test(self, path):
        return path in self.owner and self.owner[path].kind == "km_test"

    def check_declared(self, path, line, included, target):
        needed = self.target_of_include(f"{path}:{line}", included)
        if needed is None or needed == target.name:
            return
        strict = target.kind in LIBRARIES and path in self.public
        if needed not in (target.public if strict else target.deps):
            keyword = "DEPS" if strict or target.kind not in LIBRARIES else "DEPS or PRIVATE_DEPS"
            self.problem("undeclared", f"{path}:{line}",
                         f"includes {included}, but {target.name} does not have {needed} in {keyword}")

    def check_layers(self, path, line, included):
        where, here, there = f"{path}:{line}", path.split("/"), included.split("/")
        if here[0] == "services" and len(here) > 2 and here[2] == "core" and not self.is_test(path):
            if IMPURE.search(included):
                self.problem("impure", where, f"core includes {included}")
        if included not in self.includes or here[0] not in TOPS or there[0] not in TOPS:
            return
        if here[0] != there[0]:
            self.check_tops(where, here, there, included)
        elif here[0] == "services":
            self.check_services(where, here, there, included)
        elif not self.is_test(path):
            order = self.order[here[0]]
            if order.get(here[1], len(order)) < order.get(there[1], -1):
                self.problem("upward", where, f"{here[0]}/{here[1]} is below {there[0]}/{there[1]}")

    def check_tops(self, where, here, there, included):
        if TOPS.index(here[0]) < TOPS.index(there[0]):
            self.problem("upward", where, f"{here[0]} includes {included}")
        elif here[0] == "services" and there[0] == "dataset":
            self.problem("service", where, f"a service includes {included}")
        elif here[0] == "client" and there[0] == "services" and there[2] != "server":
            self.problem("service", where, f"client includes {included}")

    def check_services(self, where, here, there, included):
        if here[1] != there[1]:
            self.problem("service", where, f"services/{here[1]} includes {included}")
            return
        height = {"core": 0, "adapters": 1, "server": 2}
        mine, other = (height.get(x[2] if len(x) > 3 else "", 3) for x in (here, there))
        if mine < other and not self.is_test("/".join(here)):
            self.problem("upward", where, f"{here[2]} includes {included}")

    def check_test_libraries(self):
        """Programs and libraries that are built without the tests must not need test libraries."""
        for target in self.targets.values():
            if target.kind not in ("km_library", "km_binary"):
                continue
            for dep in sorted(target.deps & self.targets.keys()):
                if self.targets[dep].kind == "km_test_library":
                    self.problem("testing", target.folder, f"{target.name} needs {dep}, which only tests have")

    def check_cycles(self):
        state = {}  # 1: on the path, 2: done

        def visit(name, path):
            state[name] = 1
            for dep in sorted(self.targets[name].deps & self.targets.keys()):
                if state.get(dep) == 1:
                    ring = path[path.index(dep):] + [dep]
                    self.problem("cycle", self.targets[dep].folder, " -> ".join(ring))
                elif dep not in state:
                    visit(dep, path + [dep])
            state[name] = 2

        for name in sorted(self.targets):
            if name not in state:
                visit(name, [name])

    def check_drawing(self):
        """ARCHITECTURE.md lists the folders of each top folder in the order of its CMakeLists.txt."""
        page = self.root / "ARCHITECTURE.md"
        text = page.read_text(encoding="utf-8") if page.exists() else ""
        for top, order in self.order.items():
            begin = re.search(rf"^{top}/ .*\n", text, re.MULTILINE)
            block = re.match(r"(?:  .*\n)*", text[begin.end():])[0] if begin else ""
            at = 0
            for name in order:
                found = re.compile(rf"(?<=  ){name} +\S").search(block, at)
                if not found:
                    self.problem("drawing", "ARCHITECTURE.md", f"{top}/{name} is not listed, or not in this place")
                    break
                at = found.start()

    def run(self):
        self.owner = self.owners()
        self.check_drawing()
        for path in sorted(self.includes):
            for line, included in self.includes[path]:
                self.check_layers(path, line, included)
                if path in self.owner:
                    self.check_declared(path, line, included, self.owner[path])
        self.check_test_libraries()
        self.check_cycles()
        return self.problems


# ---------------------------------------------------------------- self-test

CLEAN = {
    "ARCHITECTURE.md": "common/   shared:\n  base   low      rpc   high\ndataset/  rows:\n  a   low\n  b   high\nend\n",
    "common/CMakeLists.txt": "foreach(folder base rpc)\nendforeach()",
    "common/base/CMakeLists.txt": "km_library(common_base SRCS a.cc DEPS absl::status)\n"
                                  "km_test(common_base_test SRCS a_test.cc DEPS common_base common_rpc)",
    "common/base/for_test.h": '#include "common/rpc/r.h"\n',
    "common/base/a.h": "#include <string>\n", "common/base/a.cc": '#include "common/base/a.h"\n',
    "common/base/a_test.cc": '#include "common/base/a.h"\n#include "common/base/for_test.h"\n#include "common/rpc/r.h"\n',
    "common/rpc/CMakeLists.txt": "km_library(common_rpc SRCS r.cc DEPS common_base PRIVATE_DEPS kernelmill_proto)",
    "common/rpc/r.h": '#include "common/base/a.h"\n',
    "common/rpc/r.cc": '#include "common/rpc/r.h"\n#include "kernelmill/v1/job.pb.h"\n',
    "services/x/core/CMakeLists.txt": "km_library(x_core SRCS c.cc DEPS common_base)",
    "services/x/core/c.h": '#include "common/base/a.h"\n', "services/x/core/c.cc": '#include "services/x/core/c.h"\n',
    "services/x/server/CMakeLists.txt": "km_library(x_server SRCS s.cc PRIVATE_DEPS x_core)",
    "services/x/server/s.h": "", "services/x/server/s.cc": '#include "services/x/core/c.h"\n',
    "dataset/CMakeLists.txt": "foreach(folder a b)\nendforeach()",
    "dataset/a/CMakeLists.txt": "km_library(dataset_a SRCS a.cc DEPS common_base)",
    "dataset/a/a.h": "", "dataset/a/a.cc": '#include "common/base/a.h"\n',
    "dataset/b/CMakeLists.txt": "km_library(dataset_b SRCS b.cc DEPS dataset_a)",
    "dataset/b/b.h": '#include "dataset/a/a.h"\n', "dataset/b/b.cc": '#include "dataset/b/b.h"\n',
    "client/CMakeLists.txt": "km_binary(kernelmill SRCS main.cc DEPS x_server)",
    "client/main.cc": '#include "services/x/server/s.h"\n',
}
# A change of the clean tree, and the one problem that it must cause.
BROKEN = [
    ("undeclared", {"services/x/server/s.cc": '#include "common/rpc/r.h"\n'}),
    ("undeclared", {"common/rpc/r.cc": '#include "build/bazel/remote/execution/v2/remote_execution.pb.h"\n'}),
    ("undeclared", {"services/x/server/s.h": '#include "services/x/core/c.h"\n'}),  # public, needs DEPS
    ("cycle", {"common/base/CMakeLists.txt": CLEAN["common/base/CMakeLists.txt"].replace("absl::status", "x_core")}),
    ("service", {"services/y/core/CMakeLists.txt": "km_library(y_core SRCS c.cc DEPS x_core)",
                 "services/y/core/c.cc": '#include "services/x/core/c.h"\n'}),
    ("service", {"client/CMakeLists.txt": "km_binary(kernelmill SRCS main.cc DEPS x_core)",
                 "client/main.cc": '#include "services/x/core/c.h"\n'}),
    ("upward", {"common/base/a.cc": '#include "common/rpc/r.h"\n',
                "common/rpc/CMakeLists.txt": "km_library(common_rpc SRCS r.cc DEPS kernelmill_proto)",
                "common/rpc/r.h": "",
                "common/base/CMakeLists.txt": "km_library(common_base SRCS a.cc DEPS common_rpc)\n"
                                              "km_test(common_base_test SRCS a_test.cc DEPS common_base common_rpc)"}),
    ("upward", {"services/x/core/c.cc": '#include "services/x/server/s.h"\n',
                "services/x/core/CMakeLists.txt": "km_library(x_core SRCS c.cc DEPS common_base x_server)",
                "services/x/server/CMakeLists.txt": "km_library(x_server SRCS s.cc)", "services/x/server/s.cc": ""}),
    ("upward", {"dataset/a/a.cc": '#include "dataset/b/b.h"\n',
                "dataset/a/CMakeLists.txt": "km_library(dataset_a SRCS a.cc DEPS common_base dataset_b)",
                "dataset/b/CMakeLists.txt": "km_library(dataset_b SRCS b.cc)", "dataset/b/b.h": ""}),
    ("upward", {"dataset/a/a.cc": '#include "services/x/server/s.h"\n',
                "dataset/a/CMakeLists.txt": "km_library(dataset_a SRCS a.cc DEPS common_base x_server)"}),
    ("service", {"services/x/server/s.cc": '#include "dataset/a/a.h"\n',
                 "services/x/server/CMakeLists.txt": "km_library(x_server SRCS s.cc PRIVATE_DEPS x_core dataset_a)"}),
    ("drawing", {"ARCHITECTURE.md": CLEAN["ARCHITECTURE.md"].replace("  a   low\n  b   high", "  b   high\n  a   low")}),
    ("impure", {"services/x/core/c.cc": "#include <grpcpp/grpcpp.h>\n"}),
    ("unknown", {"services/x/core/c.cc": '#include "common/base/gone.h"\n'}),
    ("testing", {"common/rpc/CMakeLists.txt":
                 CLEAN["common/rpc/CMakeLists.txt"].replace("km_library", "km_test_library"),
                 "services/x/server/CMakeLists.txt": "km_library(x_server SRCS s.cc PRIVATE_DEPS x_core common_rpc)"}),
    ("unknown", {"services/x/core/orphan.cc": ""}),
    ("unknown", {"services/x/core/CMakeLists.txt": "km_library(x_core SRCS c.cc gone.cc DEPS common_base)"}),
]


def find_problems(files):
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder)
        for top in OURS + ("proto",):
            (root / top).mkdir()
        for name, text in files.items():
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_text(text)
        return Checker(root).run()


def self_test():
    failures = [f"the clean tree is refused: {p}" for p in find_problems(CLEAN)]
    for kind, change in BROKEN:
        found = find_problems({**CLEAN, **change})
        if len(found) != 1 or f": {kind}: " not in found[0]:
            failures.append(f"expected one '{kind}' from {sorted(change)}, found {found}")
    for failure in failures:
        print(failure)
    print(f"self-test: {len(BROKEN) + 1} trees, {len(failures)} failures")
    return 1 if failures else 0


def main(argv):
    if argv == ["--self-test"]:
        return self_test()
    if len(argv) > 1 or (argv and argv[0].startswith("-")):
        print(__doc__, file=sys.stderr)
        return 2
    checker = Checker(pathlib.Path(argv[0]) if argv else pathlib.Path(__file__).resolve().parents[1])
    problems = checker.run()
    for problem in problems:
        print(problem)
    print(f"{len(checker.targets)} targets, {len(checker.includes)} files, {len(problems)} problems")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
