#!/usr/bin/env python3
"""Writes made repositories of Triton kernels and a job of them, for measuring large datasets.

usage: made_sources.py DIR [--sources 50] [--kernels 20000]

DIR gets a folder a source, each of as many kernels as asked, ten to a file, and job.yaml. A kernel's lines are drawn at random, by its
source and file, so that no two kernels are alike; most have a docstring, and each file a launcher, so that every training view has rows.
"""

import argparse
import multiprocessing
import pathlib
import random
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "integration"))
import harness  # noqa: E402

FUNCTIONS = 10  # a file
OPERATIONS = ["exp", "log", "sqrt", "rsqrt", "abs", "sin", "cos", "sigmoid", "floor", "ceil", "erf", "exp2", "log2"]
OPERATORS = ["+", "-", "*", "/"]
WORDS = ["scale", "shift", "gate", "bias", "norm", "mix", "decay", "blend", "warp", "fold", "clip", "ramp", "pulse", "drift"]


def kernel_text(name, draw, statements=(8, 20)):
    lines = ["", "@triton.jit", f"def {name}(x_ptr, y_ptr, n, BLOCK_SIZE: tl.constexpr):"]
    if draw.random() < 0.7:
        lines.append(f'    """Applies {" then ".join(draw.choices(WORDS, k=6))} to each of n elements."""')
    lines += ["    pid = tl.program_id(0)", "    offsets = pid * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)",
              "    mask = offsets < n", "    v0 = tl.load(x_ptr + offsets, mask=mask)"]
    count = draw.randint(*statements)
    for i in range(1, count):
        a, b = (f"v{draw.randrange(i)}" for _ in range(2))
        lines.append(f"    v{i} = tl.{draw.choice(OPERATIONS)}({a} {draw.choice(OPERATORS)} {draw.randrange(1, 10000)}) "
                     f"{draw.choice(OPERATORS)} {b} * {draw.randrange(1, 10000)}.5")
    return [*lines, f"    tl.store(y_ptr + offsets, v{count - 1}, mask=mask)"]


def write_file(folder, source, number):
    draw = random.Random(f"{source}/{number}")
    names = [f"{draw.choice(WORDS)}_{draw.choice(WORDS)}_{number}_{k}_kernel" for k in range(FUNCTIONS)]
    lines = ["import torch", "import triton", "import triton.language as tl", ""]
    for name in names:
        lines += kernel_text(name, draw)
    lines += ["", "", "def run(x):", "    y = torch.empty_like(x)", f"    {names[0]}[(triton.cdiv(x.numel(), 256),)](x, y, x.numel(), BLOCK_SIZE=256)",
              "    return y", ""]
    (folder / f"kernels_{number:05}.py").write_text("\n".join(lines))


def write_source(arguments):
    root, source, kernels = arguments
    folder = root / f"source_{source:04}"
    folder.mkdir(parents=True)
    (folder / "LICENSE").write_text(harness.MIT_TEXT)
    for number in range(kernels // FUNCTIONS):
        write_file(folder, source, number)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder")
    parser.add_argument("--sources", type=int, default=50)
    parser.add_argument("--kernels", type=int, default=20000, help="of each source")
    options = parser.parse_args()
    root = pathlib.Path(options.folder).resolve()
    with multiprocessing.Pool() as pool:
        pool.map(write_source, [(root, source, options.kernels) for source in range(options.sources)], chunksize=1)
    (root / "job.yaml").write_text("name: made\nsources:\n" + "".join(
        f"  - path: source_{source:04}\n" for source in range(options.sources)))


if __name__ == "__main__":
    main()
