"""usage: recording pack DATASET CHECKOUTS FOLDER [--repository NAME]... [--wheels FOLDER] [--evidence FILE] [--most-mib N]
       recording record FOLDER OUT [--device cuda:90] [--processes N] [--seconds N] [--work FOLDER] [--most-mib N] [--part-mib N]
                        [--unsafe-no-container]
       recording score FOLDER OUT [--device cuda:90] [--gpu-workers N] [--interpreter-workers N] [--share N] [--seconds N]
                       [--work FOLDER] [--part-mib N] [--unsafe-no-sandbox]
       recording time BUNDLE OUT [--device cuda:90] [--processes N] [--seconds N] [--work FOLDER] [--part-mib N] [--unsafe-no-sandbox]
       recording merge EVIDENCE OUT...

Records and scores the kernels of many repositories by their own tests, within minutes, on a machine with several GPUs. This folder is the
program: `python3 tests/oracle/recording pack ...`.

`pack` makes all that travels. DATASET: made of job.yaml by `kernelmill crawl`. CHECKOUTS/OWNER+NAME: its repositories, at the same commits.
--repository: only this one. --wheels: wheels of packages that the machine may lack. --evidence: the cases so far; then
tests of other kernels come first, and the cases of kernels without a score travel too.

`record` runs the tests, in a clone of kernelmill on the machine, whose Python has torch, Triton and pytest. They run code of strangers:
--unsafe-no-container is for a machine that holds nothing else. `score` replays and scores the cases that `record` left in --work, or else
those in FOLDER. It may end 35 seconds late. Both write archives to OUT, in parts of --part-mib, with what each process printed. Cases
beyond --most-mib stay behind, the largest of each kernel first.

`time` measures the speed of the kernels of a bundle, which `kernelmill run DATASET --bundle` made. Each GPU times its share of them, one
at a time.

`merge` adds these archives to an evidence file, for `kernelmill run` and for the source of a job with `role: evidence`.

settings.json has the facts of single repositories. `keep`: the files that travel, a regular expression. `without`: tests that do not run.
`extra`: further tests. `paths`: folders of packages. `env`, and `arguments` of pytest. `site`: files beside the installed packages.
`cost`, `most_files`: as in tasks.py."""

import argparse
import pathlib
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3] / "python"))
import packing  # noqa: E402
import recorder  # noqa: E402
import results  # noqa: E402
import scorer  # noqa: E402
import timer  # noqa: E402
from kernelmill.errors import Error  # noqa: E402


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    pack = commands.add_parser("pack")
    for name in ("dataset", "checkouts", "folder"):
        pack.add_argument(name)
    pack.add_argument("--repository", action="append", default=[])
    pack.add_argument("--wheels", default="")
    pack.add_argument("--evidence", default="")
    record, score, time = (commands.add_parser(name) for name in ("record", "score", "time"))
    for command, source, seconds in ((record, "folder", 470), (score, "folder", 320), (time, "bundle", 500)):
        command.add_argument(source)
        command.add_argument("out")
        command.add_argument("--device", default="cuda:90")
        command.add_argument("--seconds", type=int, default=seconds)
        command.add_argument("--work", default=f"{tempfile.gettempdir()}/kernelmill-recording")
        command.add_argument("--part-mib", type=int, default=15)
    record.add_argument("--processes", type=int, default=60)
    record.add_argument("--unsafe-no-container", action="store_true")
    for command in (pack, record):
        command.add_argument("--most-mib", type=int, default=58)
    score.add_argument("--gpu-workers", type=int, default=7, help="for each GPU")
    score.add_argument("--interpreter-workers", type=int, default=32)
    score.add_argument("--share", type=float, default=0.65, help="the share of modules whose small kernels the interpreter runs")
    time.add_argument("--processes", type=int, default=12, help="for each GPU")
    for command in (score, time):
        command.add_argument("--unsafe-no-sandbox", action="store_true")
    merge = commands.add_parser("merge")
    merge.add_argument("evidence")
    merge.add_argument("out", nargs="+")
    options = parser.parse_args()
    run = {"pack": packing.pack, "record": recorder.record, "score": scorer.score, "time": timer.measure,
           "merge": lambda given: results.merge(given.evidence, given.out)}
    try:
        run[options.command](options)
    except Error as error:
        sys.exit(str(error))


if __name__ == "__main__":
    main()
