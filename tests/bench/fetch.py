#!/usr/bin/env python3
"""Fetching a repository: kernelmill against the seeds' sparse clone and a shallow clone, and against the fewest
bytes that could do; and how fetching scales with the number of fetchers.

usage: fetch.py [--rounds N] [--mirrors DIR [--only OWNER/NAME,...]] [--job FILE] [--delays-ms 0,15]
                [--parts fetch,scaling] [--fetchers 1,2,4] [--many N] [--folder DIR] [--json FILE]

Real git over real HTTP on the loopback interface, counted by a proxy (tests/bench/fetch/git_lab.py) that adds
--delays-ms in each direction. --mirrors: bare repositories as DIR/OWNER+NAME/repo, served as scratch copies;
without it, two repositories made by this script. --job gives the files that a job takes of a mirror (default:
deploy/jobs/triton-seeds.yaml); for other mirrors a table in tests/bench/fetch/repositories.py does."""

import argparse
import collections
import json
import os
import pathlib
import shutil
import statistics
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests/bench/fetch"), str(ROOT / "tests/integration")]
import contenders  # noqa: E402
import job_file  # noqa: E402
import repositories  # noqa: E402

STATES = ("cold", "unchanged", "changed")
CONTENDERS = (contenders.Kernelmill, contenders.Sparse, contenders.Shallow)
HOSTS = 8  # for the scaling part: the coordinator calls on one git host at most 4 times at once


def note(text):
    print(text, file=sys.stderr, flush=True)


def difference(before, after):
    return {key: after[key] - before[key] for key in before}


# ---------------------------------------------------------------- one repository at a time

def measure(contender, repository, state, lab):
    """One fetch: {"seconds", "down", "up" (bytes), "connections", "requests"} and what the contender adds."""
    repository.publish(repository.after if state == "changed" else repository.before)
    url = f"{lab.urls[0]}/{repository.path.name}"
    before = lab.counters()
    taken = contender.fetch(repository, state, url)
    return dict(difference(before, lab.counters()), **taken)


def fetch_rounds(served, options, folder):
    """{(delay, repository, state, contender): [measurement]}"""
    results = collections.defaultdict(list)
    for number in range(options.rounds):
        for delay in options.delays_ms:
            with contenders.Lab(folder, delay) as lab:
                for turn in range(len(CONTENDERS)):
                    kind = CONTENDERS[(turn + number) % len(CONTENDERS)]  # so that the first contender changes
                    with kind(folder / f"contender-{kind.name}") as contender:
                        for repository in served:
                            for state in STATES:
                                row = measure(contender, repository, state, lab)
                                results[delay, repository.name, state, kind.name].append(row)
                    note(f"round {number + 1} of {options.rounds}, {delay} ms: {kind.name} done")
    return results


def median(rows, key):
    return statistics.median(row.get(key, 0) for row in rows)


def ratio(one, other):
    return f"{one / other:.2f}" if other else "-"


def fetch_row(delay, repository, state, results):
    """Returns the cells of a row: medians, and ratios; small ratios are in our favour."""
    by_name = {kind.name: results[delay, repository.name, state, kind.name] for kind in CONTENDERS}
    seconds = {name: median(rows, "seconds") for name, rows in by_name.items()}
    down = {name: median(rows, "down") for name, rows in by_name.items()}
    cells = [repository.name, state]
    for name, rows in by_name.items():
        cells += [f"{seconds[name] * 1000:.0f}"]
        cells += [f"{median(rows, 'stages') * 1000:.0f}"] if name == "ours" else []
        cells += [f"{down[name] / 1000:.1f}", f"{median(rows, 'up') / 1000:.1f}",
                  f"{median(rows, 'requests'):.0f}/{median(rows, 'connections'):.0f}"]
    cells += [ratio(seconds["ours"], seconds["sparse"]), ratio(seconds["ours"], seconds["shallow"]),
              ratio(down["ours"], down["sparse"]), ratio(down["ours"], down["shallow"]),
              f"{repository.ideal[state] / 1000:.1f}", ratio(down["ours"], repository.ideal[state])]
    return cells


def print_table(head, rows):
    table = [head] + rows
    widths = [max(len(line[i]) for line in table) for i in range(len(head))]
    for line in table:
        print("  ".join(cell.ljust(w) if i < 2 else cell.rjust(w) for i, (cell, w) in enumerate(zip(line, widths))))


def print_fetches(served, results, options):
    columns = ["ms", "kB down", "up", "req/con"]
    head = ["repository", "state", "ours ms", "stages ms", *columns[1:]]
    for kind in CONTENDERS[1:]:
        head += [f"{kind.name} ms", *columns[1:]]
    head += ["WALL/sparse", "/shallow", "DOWN/sparse", "/shallow", "ideal kB", "DOWN/ideal"]
    for delay in options.delays_ms:
        print(f"\nFetching, {2 * delay} ms a round trip")
        print_table(head, [fetch_row(delay, r, state, results) for r in served for state in STATES])


# ---------------------------------------------------------------- many repositories, more fetchers

def machine_ticks():
    """(busy, all) ticks of all cores since the start of the machine."""
    fields = [int(f) for f in pathlib.Path("/proc/stat").read_text().split("\n", 1)[0].split()[1:9]]
    return sum(fields) - fields[3] - fields[4], sum(fields)


def scale(fetchers, names, lab, folder):
    """Fetches all repositories once with so many fetchers; rate and who used the processor."""
    with contenders.Kernelmill(folder / f"scaling-{fetchers}", fetchers) as ours:
        sources = {name: (f"{lab.urls[n % len(lab.urls)]}/{name}", ["**/*.py"]) for n, name in enumerate(names)}
        before, ticks, served = ours.processor_seconds(), machine_ticks(), lab.counters()["cpu"]
        seconds = ours.fetch_all(sources)["seconds"]
        used = difference(before, ours.processor_seconds())
        busy, all_ticks = (b - a for a, b in zip(ticks, machine_ticks()))
        used["git server"] = lab.counters()["cpu"] - served
    return {"seconds": seconds, "rate": len(names) / seconds, "machine": busy / all_ticks,
            "cores": {role: value / seconds for role, value in used.items()}}


def fullness(row):
    """Names the resource that limits the rate."""
    if row["machine"] > 0.9:
        ours = sum(row["cores"].values()) > os.cpu_count() / 2
        return f"the processor, {max(row['cores'], key=row['cores'].get)} most of all" if ours else \
            "the processor, by others: measure again when the machine is quiet"
    return "nothing: fetchers wait for answers"


def scaling_rounds(options, folder):
    names = repositories.make_many(folder, options.many)
    for name in names:
        repositories.git(folder / name, "config", "uploadpack.allowFilter", "true")
        repositories.git(folder / name, "config", "uploadpack.allowAnySHA1InWant", "true")
    results = collections.defaultdict(list)
    for number in range(options.rounds):
        for delay in options.delays_ms:
            with contenders.Lab(folder, delay, HOSTS) as lab:
                for fetchers in options.fetchers:
                    results[delay, fetchers].append(scale(fetchers, names, lab, folder))
        note(f"round {number + 1} of {options.rounds} of scaling done")
    return results


def print_scaling(results, options):
    print(f"\nFetching {options.many} repositories of 12 files on {HOSTS} hosts, one task at a time each fetcher")
    roles = ("fetcher", "store", "coordinator", "git server")
    head = ["round trip", "fetchers", "repos/s", "TIMES one", *(f"{r}, cores" for r in roles), "machine",
            "what is full"]
    rows = []
    for (delay, fetchers), measured in sorted(results.items()):
        rate = median(measured, "rate")
        middle = min(measured, key=lambda row: abs(row["rate"] - rate))
        alone = median(results[delay, min(options.fetchers)], "rate")
        rows.append([f"{2 * delay} ms", str(fetchers), f"{rate:.1f}", f"{rate / alone:.2f}",
                     *(f"{middle['cores'][r]:.2f}" for r in roles), f"{middle['machine']:.0%}", fullness(middle)])
    print_table(head, rows)


# ---------------------------------------------------------------- all of it

def print_setting(options):
    version = repositories.git(".", "--version").decode().strip()
    print(f"ours: kernelmill-store, -coordinator and -fetcher as processes; from `kernelmill submit` until the fetch\n"
          f"  is accepted; stages: what pin and fetch took of it\n"
          f"sparse: git clone --filter=blob:none --sparse, git sparse-checkout set DIRS, git checkout; then git pull\n"
          f"shallow: git clone --depth 1; then git fetch --depth 1, git reset --hard\n"
          f"server: git http-backend, {version}, HTTP 1.1 kept alive, no bitmaps; all on this machine, "
          f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}\n"
          f"kB: thousands of bytes of HTTP at the proxy; req/con: requests and connections (a new connection costs a\n"
          f"  round trip more); ideal: a pack of exactly the commit, its trees and the wanted blobs that are new,\n"
          f"  made without the other side's objects as delta bases. Medians of {options.rounds} rounds. A ratio\n"
          f"  under 1: ours is better")


def options_of(argv):
    numbers = lambda kind: lambda text: [kind(n) for n in text.split(",")]  # noqa: E731
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--mirrors", type=pathlib.Path)
    parser.add_argument("--only", type=lambda text: text.split(","), default=[])
    parser.add_argument("--job", type=pathlib.Path, default=ROOT / "deploy/jobs/triton-seeds.yaml")
    parser.add_argument("--delays-ms", type=numbers(float), default=[0, 15], help="in each direction")
    parser.add_argument("--parts", type=lambda text: text.split(","), default=["fetch", "scaling"])
    parser.add_argument("--fetchers", type=numbers(int), default=[1, 2, 4])
    parser.add_argument("--many", type=int, default=200)
    parser.add_argument("--folder", default=str(ROOT / "build"))
    parser.add_argument("--json", type=pathlib.Path, help="where to leave every measurement")
    return parser.parse_args(argv)


def repositories_of(options, folder):
    if not options.mirrors:
        return repositories.made(folder)
    includes = {s["name"]: s["include"] for s in job_file.git_sources(options.job)}
    return repositories.mirrors(folder, options.mirrors, includes, options.only)


def main():
    options = options_of(sys.argv[1:])
    folder = pathlib.Path(tempfile.mkdtemp(prefix="fetch-bench-", dir=options.folder))
    left = {}
    try:
        print_setting(options)
        if "fetch" in options.parts:
            served = repositories_of(options, folder)
            results = fetch_rounds(served, options, folder)
            print_fetches(served, results, options)
            left["fetch"] = [dict(zip(("delay_ms", "repository", "state", "contender"), key), rounds=rows)
                             for key, rows in results.items()]
        if "scaling" in options.parts:
            results = scaling_rounds(options, folder)
            print_scaling(results, options)
            left["scaling"] = [dict(zip(("delay_ms", "fetchers"), key), rounds=rows) for key, rows in results.items()]
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    if options.json:
        options.json.write_text(json.dumps(left, indent=1))


if __name__ == "__main__":
    main()
