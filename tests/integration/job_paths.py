#!/usr/bin/env python3
"""Counts what the globs of a job file's git sources match today, in local copies of the repositories.

usage: job_paths.py MIRRORS [JOB.yaml]

MIRRORS holds bare repositories as OWNER+NAME/repo; JOB.yaml is deploy/jobs/triton-seeds.yaml by default. Prints
for every glob how many files at HEAD it matches, and in how many of them a kernel may be: counted by kernelmill
itself, in a crawl whose every source is one glob. Exits 1 if a glob matches nothing."""

import json
import pathlib
import sys
import tempfile

import harness
import job_file

FORMER_NAMES = {"triton-lang/triton": "openai/triton"}


def mirror_of(mirrors, name):
    """(bare repository, remark) of the local copy; (None, why not) without one."""
    for known in (name, FORMER_NAMES.get(name)):
        folder = mirrors / known.replace("/", "+", 1) / "repo" if known else None
        if folder and folder.is_dir():
            bare = folder / ".git" if (folder / ".git").is_dir() else folder
            return bare, "" if known == name else f"as {known}"
    return None, "no local copy"


def git(repository, *argv):
    return harness.run("git", "-c", "safe.directory=*", "--git-dir", repository, *argv).stdout.strip()


def crawl_globs(rows, folder):
    """Fills in what kernelmill counted: {"seen", "marked", "kernels"} of each row."""
    sources = "".join(f"  - git: {row['repository']}\n    name: {json.dumps(row['key'])}\n    ref: {row['commit']}\n"
                      f"    include: [{json.dumps(row['glob'])}]\n" for row in rows)
    job = folder / "job.yaml"
    job.write_text("name: paths\nsources:\n" + sources)
    done = harness.crawl(job, folder / "out", folder / "data", check=False, timeout=1800)
    if done.returncode not in (0, 1):
        sys.exit(done.stderr)
    report = json.loads((folder / "out/report.json").read_text())
    counted = {source["repository"]: source for source in report["sources"]}
    for row in rows:
        files, kernels = (counted[row["key"]][what] for what in ("files", "kernels"))
        row.update(seen=files["seen"], marked=files["extracted"], kernels=kernels["found"])


def rows_of(job, mirrors):
    rows = []
    for source in job_file.git_sources(job):
        repository, remark = mirror_of(mirrors, source["name"])
        commit = git(repository, "rev-parse", "HEAD") if repository else ""
        date = git(repository, "log", "-1", "--format=%cs", "HEAD") if repository else ""
        for glob in source["include"] or ["**/*.py", "**/*.ipynb"]:
            rows.append({"name": source["name"], "role": source["role"], "glob": glob, "repository": repository,
                         "commit": commit, "at": f"{commit[:8]} {date} {remark}".strip(),
                         "key": f"{source['name']} {glob}"})
    return rows


def print_table(rows):
    table = [["repository", "glob", "files", "marked", "kernels", "copy"]]
    for row in rows:
        counts = [str(row[k]) for k in ("seen", "marked", "kernels")] if row["repository"] else ["-", "-", "-"]
        table.append([row["name"] + (f" ({row['role']})" if row["role"] else ""), row["glob"], *counts, row["at"]])
    widths = [max(len(line[n]) for line in table) for n in range(len(table[0]))]
    for line in table:
        print("  ".join(cell.rjust(w) if n in (2, 3, 4) else cell.ljust(w)
                        for n, (cell, w) in enumerate(zip(line, widths))).rstrip())


def main():
    mirrors = pathlib.Path(sys.argv[1])
    rows = rows_of(sys.argv[2] if len(sys.argv) > 2 else harness.ROOT / "deploy/jobs/triton-seeds.yaml", mirrors)
    there = [row for row in rows if row["repository"]]
    with tempfile.TemporaryDirectory() as folder:
        crawl_globs(there, pathlib.Path(folder))
    print_table(rows)
    empty = [row["key"] for row in there if not row["seen"]]
    for key in empty:
        print(f"matches nothing: {key}")
    sys.exit(1 if empty else 0)


if __name__ == "__main__":
    main()
