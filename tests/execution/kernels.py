"""Kernels that the tests of execution run, and a dataset of them as `kernelmill crawl` makes it."""

import json
import pathlib

import harness

SOURCE = '''import triton
import triton.language as tl


@triton.jit
def twice(x):
    return x + x


@triton.jit
def add_kernel(x_ptr, y_ptr, out_ptr, n, BLOCK: tl.constexpr):
    """Adds two vectors, one of them twice."""
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = at < n
    x = tl.load(x_ptr + at, mask=mask)
    y = tl.load(y_ptr + at, mask=mask)
    tl.store(out_ptr + at, twice(x) + y, mask=mask)


@triton.jit
def copy_kernel(x_ptr, out_ptr, n, x_stride, BLOCK: tl.constexpr):
    """Copies a strided vector."""
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = at < n
    tl.store(out_ptr + at, tl.load(x_ptr + at * x_stride, mask=mask), mask=mask)


@triton.jit
def scale_kernel(x_ptr, n, factor, bias_ptr, HAS_BIAS: tl.constexpr, BLOCK: tl.constexpr):
    """Scales a vector in place."""
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = at < n
    x = tl.load(x_ptr + at, mask=mask) * factor
    if HAS_BIAS:
        x += tl.load(bias_ptr + at, mask=mask)
    tl.store(x_ptr + at, x, mask=mask)
'''
TESTS = '''import pytest
import torch
from kernels import add_kernel, copy_kernel, scale_kernel


def launch_add(x, y):
    out = torch.empty_like(x)
    add_kernel[(-(-x.numel() // 64),)](x, y, out, x.numel(), BLOCK=64)
    return out


@pytest.mark.parametrize("n", [64, 100, 300, 512])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float16])
def test_add(n, dtype):
    torch.manual_seed(0)
    x, y = (torch.randn(n, device="cuda", dtype=dtype) for _ in range(2))
    torch.testing.assert_close(launch_add(x, y), 2 * x + y)


def test_add_wrong():
    x = torch.ones(64, device="cuda", dtype=torch.float64)
    assert launch_add(x, x)[0] == 4


@pytest.mark.parametrize("bias", [False, True])
def test_scale(bias):
    x = torch.randn(100, device="cuda")
    expected = x * 1.5 + (1 if bias else 0)
    scale_kernel[(2,)](x, 100, 1.5, torch.ones(100, device="cuda") if bias else None, HAS_BIAS=bias, BLOCK=64)
    torch.testing.assert_close(x, expected)


def test_copy_pointers_are_views():
    base = torch.arange(200, device="cuda", dtype=torch.int64)
    out = torch.empty(50, device="cuda", dtype=torch.int64)
    copy_kernel[(1,)](base[3:], out, 50, 3, BLOCK=64)
    assert (out == base[3::3][:50]).all()
'''


def crawl(work, source=SOURCE):
    """Makes a repository of a source and a dataset of it. Returns both folders."""
    repository, dataset = work / "repository", work / "dataset"
    repository.mkdir(parents=True)
    (repository / "kernels.py").write_text(source)
    (repository / "test_kernels.py").write_text(TESTS)
    (repository / "LICENSE").write_text(harness.MIT_TEXT)
    job = work / "job.json"
    job.write_text(json.dumps({"name": "executed", "sources": [{"path": str(repository), "name": "demo"}]}))
    harness.run(harness.BIN / "kernelmill", "crawl", job, "--out", dataset, "--data", work / "data")
    return repository, dataset


def rows(dataset):
    return [json.loads(line) for line in (pathlib.Path(dataset) / "kernels.jsonl").read_text().splitlines()]
