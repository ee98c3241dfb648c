"""CUDA records: modules that are closed over what the repository has, parameters, launchers."""
import re

from .dataset import Check, check, place_of

CONDITIONAL = re.compile(r"^[ \t]*#[ \t]*(if|ifdef|ifndef|endif)\b", re.MULTILINE)


def _alone(record):
    """Checks whether a record is called self-contained with unresolved names, or not self-contained without any."""
    return record["self_contained"] == bool(record.get("unresolved_names")) and record["form"] != "template"


def _lacks_kernel(record):
    name = record["name"].rsplit("::", 1)[-1]
    return name.replace(" ", "") not in record["module"].replace(" ", "")


def _conditionals(record):
    depth = 0
    for word in CONDITIONAL.findall(record["module"]):
        depth += -1 if word == "endif" else 1
        if depth < 0:
            return "an #endif too many"
    return depth and "an #if without its end"


def _repeated(rows):
    """Counts the lines of modules beyond the first time that a repository's modules have them."""
    made = Check("cuda: lines of modules that another module has too", 0, wrong=False)
    seen = set()
    for row in rows:
        for line in filter(str.strip, row["module"].split("\n")):
            made.of += 1
            if (row["repository"], line) in seen:
                made.count += 1
            seen.add((row["repository"], line))
    return made


def checks(dataset):
    rows = dataset.cuda()
    return [
        check("cuda: module without the kernel", rows, _lacks_kernel, place_of),
        check("cuda: standing alone and unresolved names contradict", rows, _alone, place_of),
        check("cuda: conditionals of the module do not fit", rows, _conditionals, place_of),
        check("cuda: module is the source alone", rows, lambda row: row["module"].strip() == row["source"].strip(), place_of,
              wrong=False),
        _repeated(rows),
        check("cuda: does not stand alone", rows, lambda row: not row["self_contained"], place_of, wrong=False),
        check("cuda: a syntax error lies in it", rows, lambda row: row["checks"]["parses"] not in (True, "pass"), place_of,
              wrong=False),
    ]
