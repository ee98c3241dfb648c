"""A dataset with tasks, as `kernelmill crawl` makes it of a repository and of evidence. The cases are made here, with numpy as the
reference; the program, the interpreter and the exporter do the rest."""

import hashlib
import json

import harness
import kernels
import numpy
from kernelmill.execution import elements, growth, recipes, replay
from kernelmill.execution.case import Case
from kernelmill.execution.evidence import Evidence
from kernelmill.execution.runner import Bounds

SOURCE = "import torch\n" + kernels.SOURCE + '''

@triton.jit
def softmax_kernel(out_ptr, in_ptr, stride, n_cols, BLOCK: tl.constexpr):
    """Softmax of each row."""
    at = tl.arange(0, BLOCK)
    x = tl.load(in_ptr + tl.program_id(0) * stride + at, mask=at < n_cols, other=-float("inf"))
    x = tl.exp(x - tl.max(x, axis=0))
    tl.store(out_ptr + tl.program_id(0) * n_cols + at, x / tl.sum(x, axis=0), mask=at < n_cols)


def softmax(x):
    out = torch.empty_like(x)
    softmax_kernel[(x.shape[0],)](out, x, x.stride(0), x.shape[1], BLOCK=triton.next_power_of_2(x.shape[1]))
    return out
'''
TESTS = kernels.TESTS + '''

from kernels import softmax


@pytest.mark.parametrize("shape", [(3, 60), (5, 128)])
def test_softmax(shape):
    x = torch.randn(shape, device="cuda")
    torch.testing.assert_close(softmax(x), torch.softmax(x, dim=-1))
'''


def view(name, dtype, storage, shape, strides, offset=0):
    return {"name": name, "tensor": {"dtype": dtype, "shape": list(shape), "strides": list(strides), "offset": offset, "storage": storage}}


def number(name, value):
    return {"name": name, "scalar": {"type": type(value).__name__, "value": value}}


def constexpr(name, value):
    return {"name": name, "constexpr": repr(value)}


def normal(seed, count, dtype="float32"):
    recipe = {"kind": "normal", "dtype": dtype, "seed": seed, "mean": 0.0, "deviation": 1.0}
    return {"bytes": count * elements.size(dtype), "recipe": recipe}


def poison(size):
    return {"bytes": size, "recipe": {"kind": "poison"}}


def values(storage, dtype="float32"):
    return elements.decode(recipes.fill(storage["recipe"], storage["bytes"]), dtype)


class Maker:
    """Makes cases of the kernels of a crawled dataset, in an evidence file."""

    def __init__(self, dataset, evidence):
        self.modules = {row["name"]: row["module"] for row in kernels.rows(dataset)}
        self.evidence = evidence

    def case(self, kernel, arguments, storages, outputs, grid, ragged=True):
        rows = [{"storage": place, "sha256": self.evidence.put(content)} for place, content in outputs.items()]
        case = Case.make(module_sha256=hashlib.sha256(self.modules[kernel].encode()).hexdigest(), kernel=kernel, arguments=arguments,
                         storages=storages, grid=[grid, 1, 1], options={}, environment={}, outputs=rows, ragged=ragged,
                         tolerance={"float32": 2e-4}, origin={"recorded": {}}).check()
        self.evidence.add(case.row)
        return case

    def add(self, n, seed):
        storages = [normal(seed, n), normal(seed + 1, n), poison(4 * n)]
        x, y = (values(each).astype("f4") for each in storages[:2])
        arguments = [view(name, "float32", place, (n,), (1,)) for place, name in enumerate(("x_ptr", "y_ptr", "out_ptr"))]
        return self.case("add_kernel", [*arguments, number("n", n), constexpr("BLOCK", 64)], storages, {2: (x + x + y).tobytes()},
                         -(-n // 64), n % 64 != 0)

    def scale(self, n, seed, content=False):
        """In place; the test of the repository binds no reference for it."""
        storage = normal(seed, n)
        x = values(storage).astype("f4")
        if content:
            storage = {"bytes": 4 * n, "sha256": self.evidence.put(x.tobytes())}
        arguments = [view("x_ptr", "float32", 0, (n,), (1,)), number("n", n), number("factor", 2.5), {"name": "bias_ptr"},
                     constexpr("HAS_BIAS", False), constexpr("BLOCK", 64)]
        return self.case("scale_kernel", arguments, [storage], {0: (x * numpy.float32(2.5)).tobytes()}, -(-n // 64))

    def softmax(self, rows, columns, seed, stride):
        """Adds a case whose rows lie `stride` apart."""
        storages = [poison(4 * rows * columns), normal(seed, rows * stride)]
        x = values(storages[1]).astype("f4").reshape(rows, stride)[:, :columns].astype("f8")
        grown = numpy.exp(x - x.max(axis=1, keepdims=True))
        expected = (grown / grown.sum(axis=1, keepdims=True)).astype("f4")
        arguments = [view("out_ptr", "float32", 0, (rows, columns), (columns, 1)), view("in_ptr", "float32", 1, (rows, columns), (stride, 1)),
                     number("stride", stride), number("n_cols", columns), constexpr("BLOCK", 128)]
        return self.case("softmax_kernel", arguments, storages, {0: expected.tobytes()}, rows)


def make(work, speed=False):
    """Makes a repository, its dataset, evidence, and the dataset of both. Returns the dataset and the evidence file."""
    repository = work / "repository"
    repository.mkdir(parents=True)
    (repository / "kernels.py").write_text(SOURCE)
    (repository / "test_kernels.py").write_text(TESTS)
    (repository / "LICENSE").write_text(harness.MIT_TEXT)
    job = {"name": "executed", "references": True, "sources": [{"path": str(repository), "name": "demo"}]}
    crawl(work, job, "first")
    evidence = Evidence(work / "evidence/evidence.jsonl")
    maker = Maker(work / "first", evidence)
    cases = [maker.add(n, seed) for seed, n in ((1, 100), (5, 300), (9, 128))]
    maker.scale(70, 3)
    maker.scale(90, 4, content=True)
    for seed, (rows, columns, stride) in enumerate(((3, 60, 64), (5, 100, 100), (2, 128, 130)), 20):
        maker.softmax(rows, columns, seed, stride)
    summary = replay.run(work / "first", evidence, replay.Settings(mutants=8, made=0, bounds=Bounds(seconds=20)))
    if speed:
        for case in cases:
            evidence.add({"type": "speed", "module_sha256": case.module_sha256, "kernel": case.kernel, "case": case.id, "device": "cpu",
                          "toolchain": summary.toolchain, "median_us": 2000.0, "spread_us": 10.0, "eager_us": 3000.0})
        way = growth.find_ways(cases[0])[0]
        evidence.add({**next(row for row in evidence.rows("speed") if row["case"] == cases[0].id), "hardware": "a GPU", "median_us": 6000.0,
                      "fills": True, "sizes": "n = 1600", "grown": [{**vars(way), "factor": 16}]})
    evidence.save()
    job["sources"].append({"path": str(work / "evidence"), "role": "evidence"})
    job["evidence"] = {"min_adequacy": 0.3}
    crawl(work, job, "dataset")
    return work / "dataset", work / "evidence/evidence.jsonl"


def crawl(work, job, out):
    (work / f"{out}.json").write_text(json.dumps(job))
    harness.run(harness.BIN / "kernelmill", "crawl", work / f"{out}.json", "--out", work / out, "--data", work / "data")
