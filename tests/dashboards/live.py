#!/usr/bin/env python3
"""Every panel and every alert, against a real cluster, a real Prometheus and a crawl with faults.
usage: live.py [--for TIME] [--json FILE] [FAULT...]

Runs jobs, then the faults of faults.py, or those of these names alone. Prints each panel with the number of series that it returned, and
each alert with its fault and the seconds from that on. --for: how long an expression has to hold, in the place of what each rule
says ("5s"); without it, all faults take two hours.
Exit 1: a panel returned an error, or no data (error panels: whose metric does not exist), or an alert did not fire.
Needs root (a small disk is mounted), and Debian's prometheus."""

import argparse
import contextlib
import json
import pathlib
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "chaos"), str(HERE.parent / "integration")]

import definitions  # noqa: E402

import faults  # noqa: E402
import harness  # noqa: E402

# Panels of events that need not occur in a run: their expressions must be valid, but may give no series.
MAY_BE_EMPTY = ("Errors", "Errors by stage", "Leases lost", "Blobs that failed", "Evictions", "Refused by a limit",
                "Calls that failed", "Errors by method", "Requests that failed", "Left alone", "Found")


def series_of(prometheus, expression, minutes):
    """Counts the series with data that the panel's expression gave in the last minutes."""
    for name, value in (("$__rate_interval", "1m"), ("$__range", "30m"), ("${stage:regex}", ".*"), ("$stage", ".*"),
                        ("$role", ".*"), ("$host", ".*")):
        expression = expression.replace(name, value)
    now = time.time()
    data = prometheus.get("query_range", query=expression, start=now - 60 * minutes, end=now, step=5)
    return sum(any(value != "NaN" for _, value in series["values"]) for series in data["result"])


def check_panels(prometheus, minutes):
    """Returns [(dashboard, panel, series, problem)]."""
    rows = []
    for dashboard in definitions.dashboards():
        for panel in definitions.panels(dashboard):
            problem, found = "", 0
            for target in panel["targets"]:
                try:
                    found += series_of(prometheus, target["expr"], minutes)
                except ValueError as error:
                    problem = str(error)
            if not found and not problem and panel["title"] not in MAY_BE_EMPTY:
                problem = "no data"
            rows.append((dashboard["title"], panel["title"], found, problem))
    return rows


def make_repositories(folder):
    (folder / "git").mkdir()
    for name, files in (("many", 60), ("more", 40)):
        harness.write_many_kernels(folder / name, files, 3)
        harness.make_repository(folder / name, folder / f"git/{name}.git")


def report(rows, fired, wanted):
    """Prints the results; returns True if no panel has a problem and every wanted alert fired."""
    for dashboard, panel, found, problem in rows:
        print(f"{dashboard:30} {panel:34} {found:4}  {problem}")
    for alert, (fault, seconds) in fired.items():
        expected = wanted.get(alert)
        print(f"{alert:20} {seconds:5.0f} s  {fault}{'' if fault == expected else f' (expected: {expected})'}")
    missing = sorted(set(wanted) - set(fired))
    problems = sum(bool(row[3]) for row in rows)
    print(f"{len(rows)} panels, {problems} with a problem; {len(fired)} of {len(wanted)} alerts fired; "
          f"did not fire: {', '.join(missing) or 'none'}")
    return not missing and not problems


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--for", dest="patience", help="in the place of what each rule says")
    parser.add_argument("--json", help="where to leave the rows")
    parser.add_argument("faults", nargs="*", help="names of faults.py")
    options = parser.parse_args()
    wanted = {alert: what for fault, steps in faults.FAULTS if not options.faults or fault.__name__ in options.faults
              for what, alerts in steps for alert in alerts}
    if not options.faults:
        assert set(wanted) == {rule["alert"] for rule in definitions.rules("alert")}, "alerts and faults differ"
    with contextlib.ExitStack() as stack:
        folder = pathlib.Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="kernelmill-live-")))
        make_repositories(folder)
        run = faults.Run(stack, folder, options.patience)
        faults.provoke(run, options.faults)
        rows = check_panels(run.prometheus, (time.monotonic() - run.began) / 60 + 1)
        good = report(rows, run.fired, wanted)
        if options.json:
            pathlib.Path(options.json).write_text(json.dumps({"panels": rows, "alerts": run.fired}, indent=1))
        sys.exit(not good)


if __name__ == "__main__":
    main()
