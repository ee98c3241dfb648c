"""Finds by brute force what every exported text has in common with benchmarks (exported_overlap.py)."""
import exported_overlap

from .dataset import Check

LIMIT = exported_overlap.LIMIT


def holdouts_of(repositories):
    """The holdouts' texts; each repository is GIT_DIR[:FOLDER]."""
    holdouts = exported_overlap.Holdouts()
    for repository in repositories:
        git_dir, _, folder = repository.partition(":")
        for text in exported_overlap.holdout_texts(git_dir, folder):
            holdouts.add(*text)
    return holdouts


def checks(folder, repositories):
    holdouts, made = holdouts_of(repositories), {}

    def check_of(rule, kind):
        what = f"{kind} has half of a benchmark's text" if rule == "overlap" else f"half of {kind} is a benchmark's"
        return made.setdefault((kind, rule), Check(f"contamination: {what}", 0))

    for kind, place, text, is_c, is_source in exported_overlap.exported_texts(folder):
        (overlap, item), contained = holdouts.shares(text, is_c, is_source)
        for rule, share in (("overlap", overlap), ("contained", contained)):
            check = check_of(rule, kind)
            check.of += 1
            if share >= LIMIT:
                check.add(f"{place}: {share:.2f} {item}")
    return list(made.values())
