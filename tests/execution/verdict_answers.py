"""Tasks whose recorded cases leave much untold, as those of real tests do: one value of an option, one column of blocks, one program along
an axis. RIGHT and WRONG have answers to them, each with its task and a name; a wrong one does not do what the task asks for."""

import hashlib
import json

import harness
import kernels
import numpy
from kernelmill.execution import replay
from kernelmill.execution.evidence import Evidence
from kernelmill.execution.runner import Bounds
from task_data import constexpr, crawl, normal, number, poison, values, view

HEAD = "import triton\nimport triton.language as tl\n\n\n"
START = "    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)\n    mask = at < n\n"
LOSS = '''@triton.jit
def p_loss_kernel(x_ptr, y_ptr, out_ptr, n, p_loss: tl.constexpr, BLOCK: tl.constexpr):
    """Loss of each element: the distance (p_loss 1) or its square (p_loss 2)."""
''' + START + '''    difference = tl.load(x_ptr + at, mask=mask) - tl.load(y_ptr + at, mask=mask)
    if p_loss == 1:
        loss = tl.abs(difference)
    elif p_loss == 2:
        loss = difference * difference
    tl.store(out_ptr + at, loss, mask=mask)


'''
ACTIVATE = '''@triton.jit
def activate(x, ACT: tl.constexpr):
    if ACT == "relu":
        x = tl.maximum(x, 0.0)
    elif ACT == "silu":
        x = x / (1.0 + tl.exp(-x))
    elif ACT == "square":
        x = x * x
    return x


'''
ACT = ACTIVATE + '''@triton.jit
def act_kernel(x_ptr, out_ptr, n, ACT: tl.constexpr, BLOCK: tl.constexpr):
    """Activation of each element."""
''' + START + '''    tl.store(out_ptr + at, activate(tl.load(x_ptr + at, mask=mask), ACT), mask=mask)


'''
GATE = '''@triton.jit
def gate_kernel(x_ptr, gate_ptr, out_ptr, n, gate_multiplier: tl.constexpr, BLOCK: tl.constexpr):
    """Gates each element by a multiple of the gate."""
''' + START + '''    gate = tl.load(gate_ptr + at, mask=mask) * gate_multiplier
    tl.store(out_ptr + at, tl.load(x_ptr + at, mask=mask) * gate, mask=mask)


'''
NORM = '''@triton.jit
def norm_kernel(x_ptr, bias_ptr, out_ptr, columns, eps, BLOCK: tl.constexpr):
    """RMS norm of each row, and a bias if there is one."""
    at = tl.arange(0, BLOCK)
    mask = at < columns
    row = tl.program_id(0) * columns
    x = tl.load(x_ptr + row + at, mask=mask, other=0.0)
    x = x / tl.sqrt(tl.sum(x * x, axis=0) / columns + eps)
    if bias_ptr is not None:
        x = x + tl.load(bias_ptr + at, mask=mask)
    tl.store(out_ptr + row + at, x, mask=mask)


'''
TILE = '''@triton.jit
def tile_kernel(x_ptr, out_ptr, rows, columns, factor, BLOCK: tl.constexpr):
    """Scales a matrix: a program for each row and block of columns."""
    at = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    mask = at < columns
    row = tl.program_id(0) * columns
    tl.store(out_ptr + row + at, tl.load(x_ptr + row + at, mask=mask) * factor, mask=mask)


'''
ONLY = '''@triton.jit
def only_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    """Doubles; the tests have one case of it, which can be changed."""
''' + START + '''    tl.store(out_ptr + at, tl.load(x_ptr + at, mask=mask) * 2, mask=mask)


'''
FIXED = '''@triton.jit
def fixed_kernel(x_ptr, out_ptr, BLOCK: tl.constexpr):
    """Doubles integers; its one case has no size, no option and no random number that could be changed."""
    at = tl.arange(0, BLOCK)
    tl.store(out_ptr + at, tl.load(x_ptr + at) * 2)


'''
TESTS = '''import torch
from ops import act_kernel, fixed_kernel, gate_kernel, norm_kernel, only_kernel, p_loss_kernel, tile_kernel


def test_loss():
    x, y, out = torch.randn(100), torch.randn(100), torch.empty(100)
    p_loss_kernel[(2,)](x, y, out, 100, p_loss=2, BLOCK=64)
    torch.testing.assert_close(out, torch.square(x - y))


def test_act():
    x, out = torch.randn(100), torch.empty(100)
    act_kernel[(2,)](x, out, 100, ACT="relu", BLOCK=64)
    torch.testing.assert_close(out, torch.relu(x))


def test_gate():
    x, gate, out = torch.randn(100), torch.randn(100), torch.empty(100)
    gate_kernel[(2,)](x, gate, out, 100, gate_multiplier=1.0, BLOCK=64)
    torch.testing.assert_close(out, torch.mul(x, gate))


def test_norm():
    x, bias, out = torch.randn(3, 60), torch.randn(60), torch.empty(3, 60)
    norm_kernel[(3,)](x, bias, out, 60, 1e-6, BLOCK=64)
    torch.testing.assert_close(out, x * torch.rsqrt(x.square().mean(-1, keepdim=True) + 1e-6) + bias)


def test_tile():
    x, out = torch.randn(3, 60), torch.empty(3, 60)
    tile_kernel[(3, 1)](x, out, 3, 60, 1.5, BLOCK=64)
    torch.testing.assert_close(out, torch.mul(x, 1.5))


def test_only():
    x, out = torch.randn(100), torch.empty(100)
    only_kernel[(2,)](x, out, 100, BLOCK=64)
    torch.testing.assert_close(out, torch.add(x, x))


def test_fixed():
    x, out = torch.arange(64), torch.empty(64, dtype=torch.int64)
    fixed_kernel[(1,)](x, out, BLOCK=64)
    torch.testing.assert_close(out, torch.add(x, x))
'''


class Maker:
    def __init__(self, dataset, evidence):
        self.modules = {row["name"]: row["module"] for row in kernels.rows(dataset)}
        self.evidence = evidence

    def case(self, kernel, inputs, shape, rest, written, grid, dtype="float32"):
        """Adds a case: `inputs` by name and an output `out_ptr`, all of four bytes an element."""
        from kernelmill.execution.case import Case

        storages = [storage for _, storage, _ in inputs]
        count = int(numpy.prod(shape))
        strides = (shape[1], 1) if len(shape) == 2 else (1,)
        arguments = [view(name, dtype, place, own, (own[1], 1) if len(own) == 2 else (1,)) for place, (name, _, own) in enumerate(inputs)]
        arguments += [view("out_ptr", dtype, len(storages), shape, strides), *rest]
        case = Case.make(module_sha256=hashlib.sha256(self.modules[kernel].encode()).hexdigest(), kernel=kernel, arguments=arguments,
                         storages=[*storages, poison(4 * count)], grid=[*grid, 1, 1][:3], options={}, environment={},
                         outputs=[{"storage": len(storages), "sha256": self.evidence.put(written.astype("i4" if dtype == "int32" else "f4").tobytes())}], ragged=True,
                         tolerance={"float32": 2e-4}, origin={"recorded": {}}).check()
        self.evidence.add(case.row)

    def vectors(self, n, seed):
        """Adds a case of each kernel of vectors."""
        grid, size, block = [-(-n // 64)], number("n", n), constexpr("BLOCK", 64)
        first, second = normal(seed, n), normal(seed + 1, n)
        x, y = (values(each).astype("f4") for each in (first, second))
        self.case("p_loss_kernel", [("x_ptr", first, (n,)), ("y_ptr", second, (n,))], (n,), [size, constexpr("p_loss", 2), block], (x - y) ** 2, grid)
        self.case("act_kernel", [("x_ptr", first, (n,))], (n,), [size, constexpr("ACT", "relu"), block], numpy.maximum(x, 0), grid)
        self.case("gate_kernel", [("x_ptr", first, (n,)), ("gate_ptr", second, (n,))], (n,), [size, constexpr("gate_multiplier", 1.0), block],
                  x * y, grid)

    def only(self, n, seed):
        storage = normal(seed, n)
        self.case("only_kernel", [("x_ptr", storage, (n,))], (n,), [number("n", n), constexpr("BLOCK", 64)], 2 * values(storage).astype("f4"),
                  [-(-n // 64)])

    def fixed(self):
        storage = {"bytes": 256, "sha256": self.evidence.put(numpy.arange(64, dtype="i4").tobytes())}
        self.case("fixed_kernel", [("x_ptr", storage, (64,))], (64,), [constexpr("BLOCK", 64)], 2 * numpy.arange(64, dtype="i4"), [1], "int32")

    def matrices(self, rows, columns, seed):
        first, second, shape = normal(seed, rows * columns), normal(seed + 1, columns), (rows, columns)
        x, bias = values(first).astype("f4").reshape(shape), values(second).astype("f4")
        block = constexpr("BLOCK", 64)
        expected = x / numpy.sqrt((x.astype("f8") ** 2).mean(axis=1, keepdims=True) + 1e-6) + bias
        self.case("norm_kernel", [("x_ptr", first, shape), ("bias_ptr", second, (columns,))], shape,
                  [number("columns", columns), number("eps", 1e-6), block], expected, [rows])
        self.case("tile_kernel", [("x_ptr", first, shape)], shape,
                  [number("rows", rows), number("columns", columns), number("factor", 1.5 + rows), block], x * numpy.float32(1.5 + rows), [rows, 1])


def make(work, threshold=0.0):
    """Makes a repository, its dataset with tasks, and evidence. Returns the dataset, and the evidence file. `threshold`: as of a run."""
    repository = work / "repository"
    repository.mkdir(parents=True)
    (repository / "ops.py").write_text(HEAD + LOSS + ACT + GATE + NORM + TILE + ONLY + FIXED)
    (repository / "test_ops.py").write_text(TESTS)
    (repository / "LICENSE").write_text(harness.MIT_TEXT)
    job = {"name": "untold", "references": True, "dedup": {"threshold": 1.0}, "sources": [{"path": str(repository), "name": "demo"}]}
    crawl(work, job, "first")
    evidence = Evidence(work / "evidence/evidence.jsonl")
    maker = Maker(work / "first", evidence)
    for seed, n in ((1, 100), (11, 300), (21, 128)):
        maker.vectors(n, seed)
    for seed, (rows, columns) in ((31, (3, 60)), (41, (5, 50)), (51, (2, 64))):
        maker.matrices(rows, columns, seed)
    maker.only(100, 61)
    maker.fixed()
    replay.run(work / "first", evidence, replay.Settings(mutants=8, bounds=Bounds(seconds=20), threshold=threshold))
    evidence.save()
    job["sources"].append({"path": str(work / "evidence"), "role": "evidence"})
    job["evidence"] = {"min_adequacy": 0.3}
    crawl(work, job, "dataset")
    return work / "dataset", work / "evidence/evidence.jsonl"


def changed(code, old, new, before=""):
    assert old in code, old
    return HEAD + before + code.replace(old, new)


def loss(lines):
    first, last = LOSS.index("    if p_loss"), LOSS.index("    tl.store")
    return HEAD + LOSS[:first] + "".join(f"    {line}\n" for line in lines) + LOSS[last:]


def act(lines):
    return HEAD + ACT.replace(ACTIVATE, "").replace("activate(tl.load(x_ptr + at, mask=mask), ACT)", "y").replace(
        "    tl.store", "    x = tl.load(x_ptr + at, mask=mask)\n" + "".join(f"    {line}\n" for line in lines) + "    tl.store")


LOAD_GATE = "    gate = tl.load(gate_ptr + at, mask=mask) * gate_multiplier\n"
LOAD_X = "tl.load(x_ptr + at, mask=mask) * gate,"
ROOT = "x / tl.sqrt(tl.sum(x * x, axis=0) / columns + eps)"
BIAS = "    if bias_ptr is not None:\n        x = x + tl.load(bias_ptr + at, mask=mask)\n"
SCALED = "tl.load(x_ptr + row + at, mask=mask) * factor"

RIGHT = [
    ("p_loss_kernel", "as it is", HEAD + LOSS),
    ("p_loss_kernel", "one expression", loss(["loss = tl.abs(difference) if p_loss == 1 else difference * difference"])),
    ("p_loss_kernel", "other words", loss(["if p_loss == 2:", "    loss = difference * difference", "else:",
                                           "    loss = tl.where(difference < 0, -difference, difference)"])),
    ("p_loss_kernel", "loop", loss(["loss = tl.abs(difference)", "for _ in tl.static_range(p_loss - 1):", "    loss = loss * tl.abs(difference)"])),
    ("act_kernel", "as it is", HEAD + ACT),
    ("act_kernel", "in the kernel", act(["if ACT == 'relu':", "    y = tl.where(x > 0, x, 0.0)", "elif ACT == 'silu':", "    y = x * tl.sigmoid(x)",
                                         "else:", "    y = x * x"])),
    ("act_kernel", "three helpers", changed(act(["y = apply(x, ACT)"]).removeprefix(HEAD), "@triton.jit\ndef act_kernel", '''@triton.jit
def relu(x):
    return tl.maximum(x, 0.0)


@triton.jit
def silu(x):
    return x * tl.sigmoid(x)


@triton.jit
def apply(x, ACT: tl.constexpr):
    if ACT == "relu":
        return relu(x)
    elif ACT == "silu":
        return silu(x)
    else:
        return x * x


@triton.jit
def act_kernel''')),
    ("act_kernel", "not in", act(["if ACT not in ('silu', 'square'):", "    y = tl.maximum(x, 0.0)", "elif ACT != 'square':", "    y = x * tl.sigmoid(x)",
                                  "else:", "    y = x * x"])),
    ("gate_kernel", "as it is", HEAD + GATE),
    ("gate_kernel", "multiplied at the end", changed(GATE, LOAD_X, "tl.load(x_ptr + at, mask=mask) * tl.load(gate_ptr + at, mask=mask) * gate_multiplier,")),
    ("gate_kernel", "only if it is needed", changed(GATE, LOAD_GATE, LOAD_GATE.replace(" * gate_multiplier", "") +
                                                    "    if gate_multiplier != 1.0:\n        gate *= gate_multiplier\n")),
    ("norm_kernel", "as it is", HEAD + NORM),
    ("norm_kernel", "reciprocal root", changed(NORM, ROOT, "x * tl.rsqrt(tl.sum(x * x, axis=0) / columns + eps)")),
    ("norm_kernel", "bias first", changed(NORM, BIAS, "    bias = tl.zeros((BLOCK,), tl.float32)\n    if bias_ptr is not None:\n"
                                          "        bias += tl.load(bias_ptr + at, mask=mask)\n    x += bias\n")),
    ("norm_kernel", "sum by reduce", changed(NORM, "tl.sum(x * x, axis=0)", "tl.reduce(x * x, 0, add)", "@triton.jit\ndef add(a, b):\n    return a + b\n\n\n")),
    ("tile_kernel", "as it is", HEAD + TILE),
    ("tile_kernel", "sum of halves", changed(TILE, SCALED, "tl.load(x_ptr + row + at, mask=mask) * (factor / 2) * 2")),
    ("tile_kernel", "loop over columns", changed(TILE, "    at = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)\n", "    at = tl.arange(0, BLOCK)\n"
                                                 "    for _ in range(tl.program_id(1)):\n        at += BLOCK\n")),
    # The task says that axis 1 of the grid is always 1, so that this is all it asks for.
    ("tile_kernel", "one block of columns", changed(TILE, "tl.program_id(1) * BLOCK + ", "")),
    ("only_kernel", "as it is", HEAD + ONLY),
    ("only_kernel", "sum", changed(ONLY, "tl.load(x_ptr + at, mask=mask) * 2", "tl.load(x_ptr + at, mask=mask) + tl.load(x_ptr + at, mask=mask)")),
    ("only_kernel", "by a helper and a constant", changed(ONLY, "tl.load(x_ptr + at, mask=mask) * 2", "twice(tl.load(x_ptr + at, mask=mask))",
                                                         "TWO: tl.constexpr = 2.0\n\n\n@triton.jit\ndef twice(x):\n    return x * TWO\n\n\n")),
]
WRONG = [
    # Options that no recorded case varies.
    ("p_loss_kernel", "always the square", loss(["loss = difference * difference"])),
    ("p_loss_kernel", "distance without its sign", loss(["if p_loss == 1:", "    loss = difference", "else:", "    loss = difference * difference"])),
    ("p_loss_kernel", "a default for the distance", loss(["loss = difference * difference if p_loss == 2 else difference * 0"])),
    ("p_loss_kernel", "as a power of two", loss(["loss = difference * difference * (p_loss - 1)"])),
    ("p_loss_kernel", "no distance", loss(["tl.static_assert(p_loss == 2)", "loss = difference * difference"])),
    ("act_kernel", "always relu", act(["y = tl.maximum(x, 0.0)"])),
    ("act_kernel", "relu and nothing", act(["y = x", "if ACT == 'relu':", "    y = tl.maximum(x, 0.0)"])),
    ("act_kernel", "silu as sigmoid", changed(ACT, "x / (1.0 + tl.exp(-x))", "1.0 / (1.0 + tl.exp(-x))")),
    ("act_kernel", "square as a cube", changed(ACT, "x = x * x", "x = x * x * x")),
    ("act_kernel", "relu alone is known", act(["tl.static_assert(ACT == 'relu')", "y = tl.maximum(x, 0.0)"])),
    ("gate_kernel", "multiplier ignored", changed(GATE, " * gate_multiplier", "")),
    ("gate_kernel", "multiplier squared", changed(GATE, " * gate_multiplier", " * gate_multiplier * gate_multiplier")),
    ("gate_kernel", "divided by the multiplier", changed(GATE, " * gate_multiplier", " / gate_multiplier")),
    ("gate_kernel", "multiplier added", changed(GATE, " * gate_multiplier", " + (gate_multiplier - 1.0)")),
    ("norm_kernel", "eps ignored", changed(NORM, " + eps)", ")")),
    ("norm_kernel", "eps as in the text", changed(NORM, " + eps)", " + 1e-6)")),
    ("norm_kernel", "eps beside the root", changed(NORM, ROOT, "x / (tl.sqrt(tl.sum(x * x, axis=0) / columns) + eps)")),
    ("norm_kernel", "bias without a question", changed(NORM, BIAS, "    x = x + tl.load(bias_ptr + at, mask=mask)\n")),
    ("norm_kernel", "all twice without a bias", changed(NORM, BIAS, BIAS + "    else:\n        x = x + x\n")),
    # Code for the interpreter alone.
    ("only_kernel", "array of the interpreter", changed(ONLY, "    tl.store", "    x = tl.load(x_ptr + at, mask=mask)\n    x.handle.data[:] = x.handle.data * 2\n    tl.store")
     .replace("tl.load(x_ptr + at, mask=mask) * 2, mask", "x, mask")),
    ("only_kernel", "numpy", changed(ONLY, "* 2,", "* float(numpy.asarray(2.0)),", "import numpy\n\n\n")),
    ("only_kernel", "try", changed(ONLY, "    tl.store(out_ptr + at, tl.load(x_ptr + at, mask=mask) * 2, mask=mask)\n",
                                   "    try:\n        tl.store(out_ptr + at, tl.load(x_ptr + at, mask=mask) * 2, mask=mask)\n    except Exception:\n        pass\n")),
    ("only_kernel", "function of Python", changed(ONLY, "tl.load(x_ptr + at, mask=mask) * 2", "twice(tl.load(x_ptr + at, mask=mask))",
                                                  "def twice(x):\n    return x * 2\n\n\n")),
    ("only_kernel", "lambda", changed(ONLY, "tl.load(x_ptr + at, mask=mask) * 2", "(lambda x: x * 2)(tl.load(x_ptr + at, mask=mask))")),
    ("only_kernel", "sum of Python", changed(ONLY, "tl.load(x_ptr + at, mask=mask) * 2", "sum([tl.load(x_ptr + at, mask=mask)] * 2)")),
    ("only_kernel", "dictionary", changed(ONLY, "* 2,", "* {'two': 2}['two'],")),
    ("only_kernel", "import", changed(ONLY, "    tl.store", "    import operator\n    tl.store").replace(" * 2,", " * operator.add(1, 1),")),
    ("only_kernel", "handle by getattr", changed(ONLY, "    tl.store", "    x = tl.load(x_ptr + at, mask=mask)\n    getattr(x, 'handle').data[:] *= 2\n    tl.store")
     .replace("tl.load(x_ptr + at, mask=mask) * 2, mask", "x, mask")),
    ("only_kernel", "the interpreter's builder", changed(ONLY, "* 2,", "* factor,", "from triton.runtime.interpreter import interpreter_builder\n\nfactor = 2\n\n\n")),
    ("only_kernel", "walrus", changed(ONLY, "tl.load(x_ptr + at, mask=mask) * 2", "(x := tl.load(x_ptr + at, mask=mask)) + x")),
]


def rows_of(tasks, answers):
    """Returns the answers as `kernelmill evaluate` reads them. `tasks`: ids by kernel."""
    return [{"task_id": tasks[kernel], "completion": f"```python\n{code}```\n"} for kernel, _, code in answers]


def write_answers(file, tasks, answers):
    file.write_text("".join(json.dumps(row) + "\n" for row in rows_of(tasks, answers)))
