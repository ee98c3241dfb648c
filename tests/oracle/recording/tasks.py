"""The tasks of `record`: some test files of a repository, which one process runs. references.jsonl says which tests reach a kernel."""

import collections
import json
import pathlib
import re

SETTINGS = json.loads((pathlib.Path(__file__).parent / "settings.json").read_text(encoding="utf-8"))
COST = (15, 6, 5)  # seconds of a process, of a file of tests, and of a kernel
FILL, MOST_FILES = 60, 12  # the seconds and files of a task
LONGEST = 110  # a task costs no more: it is ended
UNREAD = ("no_test", "not_read", "benchmark")  # rows of references.jsonl that name no test to run


def read_tests(dataset, kernels):
    """Returns {repository: {file of tests: {id of a kernel: whether the test has a reference}}}."""
    tests = collections.defaultdict(lambda: collections.defaultdict(dict))
    with open(pathlib.Path(dataset) / "references.jsonl", encoding="utf-8") as lines:
        for row in map(json.loads, lines):
            test = row["test"]
            if row["kernel_id"] in kernels and test and row["status"] not in UNREAD and test["path"].endswith(".py"):
                own = SETTINGS.get(row["repository"], {})
                if not re.search(own.get("without", "^$"), test["path"]):
                    file = tests[row["repository"]][test["path"]]
                    file[row["kernel_id"]] = file.get(row["kernel_id"], False) or row["status"] == "reference"
    return tests


def order_files(files, known):
    """Returns [(file, number of new kernels, number of all)], the file that adds most first. A kernel with a reference counts for three."""
    left, covered, order = dict(files), set(known), []

    def gain(path):
        return sum(3 if referenced else 1 for kernel, referenced in left[path].items() if kernel not in covered) / (1 + 0.02 * len(left[path]))

    while left:
        best = max(sorted(left), key=gain)
        kernels = left.pop(best)
        order.append((best, len(kernels.keys() - covered), len(kernels)))
        covered |= kernels.keys()
    return order


def find_extra(root, files, patterns):
    """Returns files of tests whose kernels the dataset does not know."""
    paths = {path.relative_to(root).as_posix() for each in patterns for path in root.glob(each)}
    return [(path, 0, 0) for path in sorted(paths - files.keys())]


def make_tasks(repository, root, files, known):
    """Returns the tasks of a repository. `turn` 0: each file adds a kernel; 1: none does. `known`: kernels that have cases."""
    own = SETTINGS.get(repository, {})
    start, per_file, per_kernel = own.get("cost", COST)
    order = order_files(files, known)
    turns = [[each for each in order if each[1]], [each for each in order if not each[1]] + find_extra(root, files, own.get("extra", []))]
    tasks = []
    for turn, group in enumerate(turns):
        task, cost = None, 0
        for path, new, count in group:
            more = per_file + per_kernel * (max(1, count) * 0.6 if turn else new)
            if task is None or cost + more > FILL or len(task["tests"]) >= own.get("most_files", MOST_FILES):
                task, cost = {"repository": repository, "tests": [], "turn": turn, "new": 0,
                              **{key: own[key] for key in ("paths", "env", "arguments") if key in own}}, 0
                tasks.append(task)
            cost += more
            task["tests"].append(path)
            task["new"] += new
            task["cost"] = start + cost
    return tasks


def sort_tasks(tasks):
    """Returns the tasks that add kernels first, the most kernels for their cost before others."""
    return sorted(tasks, key=lambda task: (task["turn"], -task["new"] / min(task["cost"], LONGEST)))
