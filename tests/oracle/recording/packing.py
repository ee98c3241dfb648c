"""Makes what travels to the machine that records.

    sources.tar.gz  kernels.jsonl, src/OWNER+NAME, and the files that settings.json puts beside the packages
    queue.jsonl     the tasks, in their order
    referenced.txt  the modules with a reference, by their SHA-256
    wheels/         if asked for: packages that the machine may lack
    bundle.tar.gz   if asked for: the kernels and cases that `score` is to score"""

import collections
import io
import json
import os
import pathlib
import re
import shutil
import tarfile
import tempfile

from kernelmill.execution import bundle
from kernelmill.execution.evidence import Evidence
from kernelmill.execution.rows import FILE, read_kernels
from results import choose, copy_cases, group_cases, place_of
from tasks import SETTINGS, make_tasks, read_tests, sort_tasks

# These folders are large, and tests of Triton kernels rarely need them.
KEEP = r"^(?!(.*/)?(docs?|examples?|website|notebooks?|\.github|autotest|csrc|3rdparty|cutlass|images|studio)/)"
TEXTS = (".toml", ".cfg", ".ini", ".json", ".yaml", ".yml", ".txt")
MOST_TEXT, MOST_CODE = 200_000, 1_500_000


def find_sources(repository, root, tests):
    """Yields the files of a checkout that travel."""
    keep = re.compile(SETTINGS.get(repository, {}).get("keep", KEEP))
    for folder, folders, files in os.walk(root):
        folders[:] = sorted(each for each in folders if each != ".git")
        for name in sorted(files):
            file = pathlib.Path(folder, name)
            path = file.relative_to(root).as_posix()
            most = MOST_CODE if name.endswith(".py") else MOST_TEXT if name.endswith(TEXTS) or name == "VERSION" else 0
            if (path in tests or keep.search(path)) and file.is_file() and not file.is_symlink() and file.stat().st_size <= most:
                yield path


def pack(options):
    folder, checkouts = pathlib.Path(options.folder), pathlib.Path(options.checkouts)
    folder.mkdir(parents=True)
    kernels = {each.row["id"]: each for each in read_kernels(options.dataset)
               if not options.repository or each.row["repository"] in options.repository}
    evidence = Evidence(options.evidence) if options.evidence else None
    places = {key: (each.module_sha256, each.name) for key, each in kernels.items()}
    wanted = set(places.values())
    recorded = {place: rows for place, rows in group_cases(evidence).items() if place in wanted} if evidence else {}
    known = {key for key, place in places.items() if place in recorded}
    tests = read_tests(options.dataset, kernels)
    repositories = collections.Counter(each.row["repository"] for each in kernels.values())
    tasks = []
    for name in sorted(repositories):
        root = checkouts / name.replace("/", "+")
        own = make_tasks(name, root, tests[name], known) if root.is_dir() else []
        reached = set().union(*tests[name].values())
        print(f"{name}: {repositories[name]} kernels, tests reach {len(reached)}, {len(reached & known)} have cases; {len(own)} tasks"
              + ("" if root.is_dir() else "; no checkout"))
        tasks += own
    write_lines(folder / "queue.jsonl", map(json.dumps, sort_tasks(tasks)))
    referenced = {places[key][0] for files in tests.values() for each in files.values() for key, has in each.items() if has}
    write_lines(folder / "referenced.txt", sorted(referenced))
    pack_sources(folder / "sources.tar.gz", checkouts, tasks, tests, [each.row for each in kernels.values()])
    if options.wheels:
        shutil.copytree(options.wheels, folder / "wheels")
    if evidence:
        pack_unscored(options, evidence, recorded, referenced)


def write_lines(file, lines):
    file.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")


def pack_sources(file, checkouts, tasks, tests, rows):
    wanted = {task["repository"].replace("/", "+") for task in tasks}
    wanted |= {path.split("/")[1] for task in tasks for path in task.get("paths", []) if path.startswith("../")}
    with tarfile.open(file, "w:gz", compresslevel=9) as archive:
        def add(name, data):
            entry = tarfile.TarInfo(name)
            entry.size, entry.mode = len(data), 0o644
            archive.addfile(entry, io.BytesIO(data))

        add(FILE, "".join(json.dumps(row) + "\n" for row in rows).encode())
        for name in sorted(wanted):
            repository = name.replace("+", "/", 1)
            for path in find_sources(repository, checkouts / name, tests[repository]):
                add(f"src/{name}/{path}", (checkouts / name / path).read_bytes())
            for path, text in SETTINGS.get(repository, {}).get("site", {}).items():
                add(f"site/{path}", text.encode())
    print(f"{file}: {file.stat().st_size >> 20} MiB, {len(wanted)} repositories, {len(tasks)} tasks")


def pack_unscored(options, evidence, kernels, referenced):
    """Packs the cases of kernels that have no score, for `score`."""
    scored = {place_of(row) for row in evidence.rows("adequacy")}
    kernels = {place: rows for place, rows in kernels.items() if place not in scored}
    rows = choose(evidence, kernels, referenced, options.most_mib << 20)
    with tempfile.TemporaryDirectory() as work:
        part = copy_cases(evidence, rows, pathlib.Path(work) / bundle.EVIDENCE)
        file = pathlib.Path(options.folder) / "bundle.tar.gz"
        count = bundle.pack(options.dataset, part, file)
    print(f"{file}: {file.stat().st_size >> 20} MiB, {len(rows)} cases of {count} of {len(kernels)} kernels without a score")
