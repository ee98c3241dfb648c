#!/usr/bin/env python3
"""usage: plot_losses.py OUT.png LOSSES.jsonl...

Draws the losses that trl/qlora.py wrote: of the batches that are trained on, and of what is held out. Needs matplotlib."""

import json
import pathlib
import sys

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__.splitlines()[0])
    files = sys.argv[2:]
    figure, axes = plt.subplots(1, len(files), figsize=(4.2 * len(files), 3.2), squeeze=False, layout="constrained")
    for axis, file in zip(axes[0], files):
        with open(file, encoding="utf-8") as lines:
            entries = [json.loads(line) for line in lines]
        for key, label in (("loss", "trained on"), ("eval_loss", "held out")):
            points = [(entry["step"], entry[key]) for entry in entries if key in entry]
            axis.plot(*zip(*points), label=label, marker="o" if key == "eval_loss" else None, markersize=3)
        axis.set(title=pathlib.Path(file).stem, xlabel="step", ylabel="loss, nats a token", ylim=(0, None))
        axis.legend()
        axis.grid(alpha=0.3)
    figure.savefig(sys.argv[1], dpi=110, metadata={"Software": None})


if __name__ == "__main__":
    main()
