"""Draws figs/*.png from the ANALYSIS.json of an export: python3 -m kernelmill.figures DIR.

Needs matplotlib (pip install 'kernelmill[figures]'), and no network. The same ANALYSIS.json and the same matplotlib give the
same bytes.
"""

from __future__ import annotations

import argparse
import json
import pathlib
import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.axes import Axes  # type: ignore[import-not-found, unused-ignore]
    from matplotlib.figure import Figure  # type: ignore[import-not-found, unused-ignore]

_ROWS = 25  # bars of a figure at most; ANALYSIS.json has the rest
_FOUND = "#b8c4d6"
_KEPT = "#2b6cb0"
_LOST = {"kept": _KEPT, "duplicate": "#dd8a3e", "rejected": "#a0aec0", "contaminated": "#c53030"}


def _short(name: str) -> str:
    """Shortens a name to fit beside a bar: a repository without its host, at most 40 characters."""
    if name.startswith("https://"):
        name = name.removeprefix("https://").split("/", 1)[-1]
    # A dollar sign would begin a formula.
    name = name.replace("$", r"\$")
    return name if len(name) <= 40 else name[:39] + "…"


def _canvas(rows: int, title: str) -> tuple[Figure, Axes]:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9, 1.4 + 0.28 * max(rows, 4)), layout="constrained")
    axes = figure.add_subplot()
    axes.set_title(title, loc="left")
    axes.spines[["top", "right"]].set_visible(False)
    return figure, axes


def _found_and_kept(title: str, tallies: list[dict[str, Any]]) -> Figure:
    """Draws, for each name, a bar of the kernels found and over it a bar of the kernels kept."""
    shown = tallies[:_ROWS]
    more = len(tallies) - len(shown)
    figure, axes = _canvas(len(shown), title + (f" (the first {_ROWS} of {len(tallies)})" if more else ""))
    places = range(len(shown))
    axes.barh(places, [tally["found"] for tally in shown], color=_FOUND, label="found")
    kept = axes.barh(places, [tally["kept"] for tally in shown], color=_KEPT, label="kept")
    axes.bar_label(kept, padding=3, fontsize=8)
    axes.set_yticks(places, [_short(tally["name"]) for tally in shown])
    axes.invert_yaxis()
    axes.set_xlabel("kernels")
    axes.legend(frameon=False)
    return figure


def _fates(analysis: dict[str, Any]) -> Figure:
    """Draws the fates of the kernels found."""
    rows = [("kept", "", analysis["kernels"]["kept"])]
    rows += [(lost["fate"], lost["reason"], lost["kernels"]) for lost in analysis["lost"]]
    figure, axes = _canvas(len(rows), f"What became of {analysis['kernels']['found']:,} kernels")
    bars = axes.barh(range(len(rows)), [row[2] for row in rows], color=[_LOST.get(row[0], _FOUND) for row in rows])
    axes.bar_label(bars, padding=3, fontsize=8)
    axes.set_yticks(range(len(rows)), [f"{fate}: {reason}" if reason else fate for fate, reason, _ in rows])
    axes.invert_yaxis()
    axes.set_xlabel("kernels")
    return figure


def _checks(analysis: dict[str, Any]) -> Figure:
    """Draws, for each check, the share of kernels that pass; the base is the kernels that the check applies to."""
    checks = [check for check in analysis["checks"] if check["found"]["share"] is not None]
    figure, axes = _canvas(2 * len(checks), "Checks: share that passes")
    for offset, side, color in ((-0.2, "found", _FOUND), (0.2, "kept", _KEPT)):
        shares = [100 * (check[side]["share"] or 0) for check in checks]
        bars = axes.barh([place + offset for place in range(len(checks))], shares, height=0.4, color=color, label=side)
        axes.bar_label(bars, fmt="%.0f %%", padding=3, fontsize=8)
    axes.set_yticks(range(len(checks)), [check["name"] for check in checks])
    axes.set_xlim(0, 110)
    axes.invert_yaxis()
    axes.set_xlabel("%")
    axes.legend(frameon=False, loc="lower right")
    return figure


def _tokens(analysis: dict[str, Any]) -> Figure:
    """Draws the lengths of the kept kernels."""
    bins = analysis["sizes"]["tokens"]["histogram"]
    figure, axes = _canvas(12, "Length of the kept kernels")
    bars = axes.bar(range(len(bins)), [entry["kernels"] for entry in bins], color=_KEPT, width=0.9)
    axes.bar_label(bars, padding=2, fontsize=8)
    axes.set_xticks(range(len(bins)), [f"{entry['from']}–{entry['below'] - 1}" for entry in bins], rotation=45, ha="right")
    axes.set_xlabel("tokens of cl100k_base")
    axes.set_ylabel("kernels")
    return figure


def figures(analysis: dict[str, Any]) -> dict[str, Figure]:
    """Returns the figures of an ANALYSIS.json by the name of their file; empty for a dataset without kernels."""
    if analysis["kernels"]["found"] == 0:
        return {}
    by = analysis["by"]
    return {
        "fates": _fates(analysis),
        "checks": _checks(analysis),
        "tokens": _tokens(analysis),
        "repositories": _found_and_kept("Kernels by repository", by["repository"]),
        "categories": _found_and_kept("Kernels by category", by["category"]),
        "operations": _found_and_kept("Kernels by operation", by["tag"]),
        "languages": _found_and_kept("Kernels by language", by["dsl"]),
        "features": _found_and_kept("Kernels by feature", by["feature"]),
        "licenses": _found_and_kept("Kernels by licence", by["license"]),
    }


def draw(export: str | pathlib.Path) -> list[pathlib.Path]:
    """Draws the figures of an export into its folder figs; returns the files, sorted by name."""
    folder = pathlib.Path(export)
    analysis = json.loads((folder / "ANALYSIS.json").read_text(encoding="utf-8"))
    figs = folder / "figs"
    figs.mkdir(exist_ok=True)
    written = []
    for name, figure in sorted(figures(analysis).items()):
        path = figs / f"{name}.png"
        # Leaves out matplotlib's version, so that the bytes depend on the picture alone.
        figure.savefig(path, dpi=120, metadata={"Software": None})
        written.append(path)
    return written


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python3 -m kernelmill.figures", description="Draws figs/*.png of an export.")
    parser.add_argument("export", help="the folder that has ANALYSIS.json")
    try:
        for path in draw(parser.parse_args(arguments).export):
            print(path)
    except ImportError:
        print("kernelmill.figures: needs matplotlib: pip install 'kernelmill[figures]'", file=sys.stderr)
        return 2
    except OSError as error:
        print(f"kernelmill.figures: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
