"""Answers that do their work by kernels, in the forms that people and models write: HONEST has a name and the answer of each."""

from cheating_answers import GRID, HEAD, HOST, KERNEL, LAUNCH, LAUNCH_IN, answer, module

AUTOTUNED = '''\
@triton.autotune(configs=[triton.Config({"BLOCK": 128}, num_warps=4), triton.Config({"BLOCK": 256}, num_warps=8)], key=["n"])
''' + KERNEL
HEURISTIC = '@triton.heuristics({"BLOCK": lambda args: triton.next_power_of_2(args["n"])})\n' + KERNEL
MATMUL = '''\
@triton.jit
def matmul_kernel(a_ptr, b_ptr, c_ptr, M, N, K, stride_am, stride_ak, stride_bk, stride_bn, stride_cs, stride_cm, stride_cn,
                  SPLIT: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    rm = tl.program_id(0) * BM + tl.arange(0, BM)
    rn = tl.program_id(1) * BN + tl.arange(0, BN)
    rk = tl.program_id(2) * BK + tl.arange(0, BK)
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for k in range(0, tl.cdiv(K, BK * SPLIT)):
        a = tl.load(a_ptr + rm[:, None] * stride_am + rk[None, :] * stride_ak, mask=(rm[:, None] < M) & (rk[None, :] < K), other=0.0)
        b = tl.load(b_ptr + rk[:, None] * stride_bk + rn[None, :] * stride_bn, mask=(rk[:, None] < K) & (rn[None, :] < N), other=0.0)
        acc += tl.dot(a, b)
        rk += BK * SPLIT
    c_ptrs = c_ptr + tl.program_id(2) * stride_cs + rm[:, None] * stride_cm + rn[None, :] * stride_cn
    tl.store(c_ptrs, acc, mask=(rm[:, None] < M) & (rn[None, :] < N))


'''
SPLIT_K = '''\
def matmul(a, b, split=4):
    M, K = a.shape
    _, N = b.shape
    partial = torch.empty((split, M, N), device=a.device, dtype=torch.float32)
    grid = lambda meta: (triton.cdiv(M, meta["BM"]), triton.cdiv(N, meta["BN"]), split)
    matmul_kernel[grid](a, b, partial, M, N, K, a.stride(0), a.stride(1), b.stride(0), b.stride(1), *partial.stride(), SPLIT=split,
                        BM=64, BN=64, BK=32)
    return partial.sum(dim=0).to(a.dtype)
'''
AUTOGRAD = '''\
class Double(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        x = x.contiguous()
        out = torch.empty_like(x)
        double_kernel[(triton.cdiv(x.numel(), 256),)](x, out, x.numel(), BLOCK=256)
        ctx.save_for_backward(x)
        return out

    @staticmethod
    def backward(ctx, grad):
        (x,) = ctx.saved_tensors
        dx = torch.empty_like(grad)
        double_kernel[(triton.cdiv(grad.numel(), 256),)](grad, dx, grad.numel(), BLOCK=256)
        return dx


'''
INPLACE = KERNEL.replace("out_ptr + at", "x_ptr + at").replace("out_ptr, ", "")
TWO = KERNEL + KERNEL.replace("double", "triple").replace("x * 2", "x * 3")
STATISTICS = '''\
@triton.jit
def norm_kernel(x_ptr, w_ptr, y_ptr, mean_ptr, rstd_ptr, n, eps, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    at = tl.arange(0, BLOCK)
    mask = at < n
    x = tl.load(x_ptr + row * n + at, mask=mask, other=0.0).to(tl.float32)
    mean = tl.sum(x, axis=0) / n
    diff = tl.where(mask, x - mean, 0.0)
    rstd = 1 / tl.sqrt(tl.sum(diff * diff, axis=0) / n + eps)
    tl.store(mean_ptr + row, mean)
    tl.store(rstd_ptr + row, rstd)
    tl.store(y_ptr + row * n + at, diff * rstd * tl.load(w_ptr + at, mask=mask), mask=mask)


'''
DESCRIPTOR = '''\
@triton.jit
def tile_kernel(x_ptr, y_ptr, M, N, BM: tl.constexpr, BN: tl.constexpr):
    x = tl.make_tensor_descriptor(x_ptr, shape=[M, N], strides=[N, 1], block_shape=[BM, BN])
    y = tl.make_tensor_descriptor(y_ptr, shape=[M, N], strides=[N, 1], block_shape=[BM, BN])
    at = [tl.program_id(0) * BM, tl.program_id(1) * BN]
    y.store(at, tl.exp(x.load(at)))


'''
BLOCKS = '''\
@triton.jit
def block_kernel(x_ptr, y_ptr, M, N, BM: tl.constexpr, BN: tl.constexpr):
    x_block = tl.make_block_ptr(x_ptr, (M, N), (N, 1), (tl.program_id(0) * BM, 0), (BM, BN), (1, 0))
    y_block = tl.make_block_ptr(y_ptr, (M, N), (N, 1), (tl.program_id(0) * BM, 0), (BM, BN), (1, 0))
    for _ in range(0, tl.cdiv(N, BN)):
        tl.store(y_block, tl.exp(tl.load(x_block)))
        x_block = tl.advance(x_block, (0, BN))
        y_block = tl.advance(y_block, (0, BN))


'''
HELPER = '''\
@triton.jit
def write(ptr, at, value, n):
    tl.store(ptr + at, value, mask=at < n)


''' + KERNEL.replace("tl.store(out_ptr + at, x * 2, mask=at < n)", "write(out_ptr, at, x * 2, n)")
ATOMIC = '''\
@triton.jit
def sum_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.atomic_add(out_ptr, tl.sum(tl.load(x_ptr + at, mask=at < n, other=0.0)))


'''
RUN = "    double_kernel[grid](x, out, x.numel(), BLOCK=256)\n    return out\n"
START = "def double(x):\n    out = torch.empty_like(x)\n"

MUCH_OF_TRITON = '''\
SCALE: tl.constexpr = 2.0
await_count = 3


@triton.jit
def add(a, b):
    return a + b


@triton.constexpr_function
def half_of(block):
    return block // 2


@triton.jit
def double_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    """Doubles; try this, del that: `handle` is a word here."""
    tl.static_assert(BLOCK % 2 == 0, f"BLOCK is {BLOCK}")
    handle = tl.program_id(0)
    at = handle * BLOCK + tl.arange(0, BLOCK)
    x, dtype = tl.load(x_ptr + at, mask=at < n), getattr(x_ptr.dtype, "element_ty")
    scale: tl.constexpr = math.pi / math.pi * SCALE
    for step in tl.static_range(2):
        for _ in tl.range(0, 1, num_stages=2):
            if step == 0:
                x = x * scale
            else:
                pass
    if len(x.shape) == 1 and isinstance(BLOCK, int):
        x += 0 * tl.reduce(x, 0, add) + min(0, half_of(BLOCK)) * 0
    assert n > 0, "empty"
    tl.store(out_ptr + at, x.to(dtype), mask=(at < n) & (not False))


'''
EXTERN = '''\
@core.extern
def twice(x, _semantic=None):
    return core.extern_elementwise("lib", "", [x], {(core.dtype("fp32"),): ("twice", core.dtype("fp32"))}, is_pure=True,
                                   _semantic=_semantic)


@core.builtin
def raw(x, _semantic=None):
    return tl.tensor(_semantic.builder.create_fneg(x.handle), x.type)


'''
HONEST = [
    ("plain", answer(HOST)),
    ("grid lambda", answer(START + "    grid = lambda meta: (triton.cdiv(x.numel(), meta['BLOCK']),)\n" + RUN)),
    ("grid function", answer(START + "    def grid(meta):\n        return (triton.cdiv(x.numel(), meta['BLOCK']),)\n" + RUN)),
    ("grid of a list", answer(START + "    n = x.numel()\n    double_kernel[triton.cdiv(n, 256),](x, out, n, BLOCK=256, num_warps=4, num_stages=2)\n"
                              "    return out\n")),
    ("keywords", answer(START + f"    double_kernel[{GRID}](x_ptr=x, out_ptr=out, n=x.numel(), BLOCK=256)\n    return out\n")),
    ("arguments in a list", answer(START + f"    arguments = [x, out, x.numel()]\n    double_kernel[{GRID}](*arguments, BLOCK=256)\n    return out\n")),
    ("options in a dictionary", answer(START + f"    options = dict(BLOCK=256, num_warps=8)\n    double_kernel[{GRID}](x, out, x.numel(), **options)\n"
                                       "    return out\n")),
    ("autotuned", HEAD + AUTOTUNED + START + f"    double_kernel[lambda meta: (triton.cdiv(x.numel(), meta['BLOCK']),)](x, out, x.numel())\n    return out\n"),
    ("autotuned by a function", HEAD + "def configs():\n    return [triton.Config({'BLOCK': b}, num_warps=w) for b in (128, 256) for w in (4, 8)]\n\n\n" +
     AUTOTUNED.replace('[triton.Config({"BLOCK": 128}, num_warps=4), triton.Config({"BLOCK": 256}, num_warps=8)]', "configs()") + START +
     "    grid = lambda meta: (triton.cdiv(x.numel(), meta['BLOCK']),)\n    double_kernel[grid](x, out, x.numel())\n    return out\n"),
    ("heuristics", HEAD + HEURISTIC + START + "    double_kernel[(1,)](x, out, x.numel())\n    return out\n"),
    ("autograd function", answer(AUTOGRAD + "def double(x):\n    return Double.apply(x)\n")),
    ("autograd function by a name", answer(AUTOGRAD + "double = Double.apply\n")),
    ("autograd function in a module", answer(AUTOGRAD + "class ModelNew(torch.nn.Module):\n    def forward(self, x):\n        return Double.apply(x)\n")),
    ("module", module(LAUNCH_IN + "        return out\n")),
    ("module with a parameter", HEAD + STATISTICS + "class ModelNew(torch.nn.Module):\n    def __init__(self, size, eps=1e-5):\n        super().__init__()\n"
     "        self.weight = torch.nn.Parameter(torch.ones(size))\n        self.eps = eps\n\n    def forward(self, x):\n"
     "        rows = x.reshape(-1, x.shape[-1])\n        y = torch.empty_like(rows)\n        mean = torch.empty(rows.shape[0], device=x.device)\n"
     "        rstd = torch.empty_like(mean)\n        norm_kernel[(rows.shape[0],)](rows, self.weight, y, mean, rstd, rows.shape[1], self.eps,\n"
     "                                      BLOCK=triton.next_power_of_2(rows.shape[1]))\n        return y.view_as(x)\n"),
    ("module of a function", answer(HOST + "\n\nclass ModelNew(torch.nn.Module):\n    def forward(self, x):\n        return double(x)\n")),
    ("module that adapts a layer", module(LAUNCH_IN.replace("empty_like(x)", "empty_like(x)") + "        return self.linear(out)\n",
                                          "        self.linear = torch.nn.Linear(8, 8)\n\n")),
    ("several results", HEAD + STATISTICS + "def layer_norm(x, weight, eps=1e-5):\n    rows, n = x.shape\n    y = torch.empty_like(x)\n"
     "    mean = x.new_empty(rows)\n    rstd = x.new_empty(rows)\n    norm_kernel[(rows,)](x, weight, y, mean, rstd, n, eps, triton.next_power_of_2(n))\n"
     "    return y, mean, rstd\n"),
    ("results in a dictionary", answer(START + f"    double_kernel[{GRID}](x, out, x.numel(), BLOCK=256)\n    return {{'out': out, 'n': x.numel()}}\n")),
    ("several kernels", HEAD + TWO + START + f"    again = torch.empty_like(x)\n    double_kernel[{GRID}](x, out, x.numel(), BLOCK=256)\n"
     f"    triple_kernel[{GRID}](out, again, x.numel(), BLOCK=256)\n    return again\n"),
    ("one of several kernels", HEAD + TWO + "def multiply(x, factor):\n    out = torch.empty_like(x)\n"
     "    kernel = double_kernel if factor == 2 else triple_kernel\n"
     f"    kernel[{GRID}](x, out, x.numel(), BLOCK=256)\n    return out\n"),
    ("kernels in a dictionary", HEAD + TWO + "KERNELS = {2: double_kernel, 3: triple_kernel}\n\n\ndef multiply(x, factor):\n    out = torch.empty_like(x)\n"
     f"    KERNELS[factor][{GRID}](x, out, x.numel(), BLOCK=256)\n    return out\n"),
    ("kernel as an argument", answer("def launch(kernel, x, out):\n"
                                     f"    kernel[{GRID}](x, out, x.numel(), BLOCK=256)\n\n\n" + START + "    launch(double_kernel, x, out)\n    return out\n")),
    ("launch kept in a name", answer(START + f"    launch = double_kernel[{GRID}]\n    launch(x, out, x.numel(), BLOCK=256)\n    return out\n")),
    ("run", answer(START + f"    double_kernel.run(x, out, x.numel(), BLOCK=256, grid={GRID}, warmup=False)\n    return out\n")),
    ("warmup and launch", answer(START + "    double_kernel.warmup(x, out, x.numel(), BLOCK=256, grid=(1,))\n"
                                 f"    double_kernel[{GRID}](x, out, x.numel(), BLOCK=256)\n    return out\n")),
    ("compiled kernel", answer(START + "    compiled = double_kernel.warmup(x, out, x.numel(), BLOCK=256, grid=(1,))\n"
                               f"    compiled[{GRID}](x, out, x.numel())\n    return out\n")),
    ("helper functions", answer("def prepare(x):\n    return x.contiguous(), torch.empty_like(x)\n\n\ndef launch(x, out):\n"
                                f"    double_kernel[{GRID}](x, out, x.numel(), BLOCK=256)\n    return out\n\n\n"
                                "def double(x):\n    x, out = prepare(x)\n    return launch(x, out)\n")),
    ("helper found by name", answer(HOST.replace("def double(x)", "def run(x)") + "\n\ndef double(x):\n    return globals()['run'](x)\n")),
    ("launches one after another", answer("import functools\n\n\n" + HOST.replace("def double(x)", "def run(x)") +
                                          "\n\ndef double(x):\n    return functools.reduce(lambda y, f: f(y), [run, run], x)\n")),
    ("a class's call", answer("class Double(torch.nn.Module):\n    def forward(self, x):\n" + HOST.partition("\n")[2].replace("    ", "        ") +
                              "\n\nclass ModelNew(torch.nn.Module):\n    def forward(self, x):\n        return Double.__call__(Double(), x)\n")),
    ("helper of the kernel", HEAD + HELPER + HOST),
    ("in place", HEAD + INPLACE + f"def double_(x):\n    double_kernel[{GRID}](x, x.numel(), BLOCK=256)\n    return x\n"),
    ("in place without a result", HEAD + INPLACE + f"def double_(x):\n    double_kernel[{GRID}](x, x.numel(), BLOCK=256)\n"),
    ("output given", answer(f"def double(x, out=None):\n    if out is None:\n        out = torch.empty_like(x)\n"
                            f"    double_kernel[{GRID}](x, out, x.numel(), BLOCK=256)\n    return out\n")),
    ("view and cast of the result", answer("def double(x):\n    flat = x.reshape(-1).float()\n    out = torch.empty_like(flat)\n"
                                           f"    double_kernel[{GRID}](flat, out, flat.numel(), BLOCK=256)\n"
                                           "    return out.view(x.shape).to(x.dtype)\n")),
    ("split-K", HEAD + MATMUL + SPLIT_K),
    ("sum by atomics", HEAD + ATOMIC + f"def total(x):\n    out = torch.zeros(1, device=x.device)\n    sum_kernel[{GRID}](x, out, x.numel(), BLOCK=256)\n"
     "    return out[0]\n"),
    ("mean after a sum", HEAD + ATOMIC + f"def mean(x):\n    out = torch.zeros(1, device=x.device)\n    sum_kernel[{GRID}](x, out, x.numel(), BLOCK=256)\n"
     "    return out / x.numel()\n"),
    ("descriptors", HEAD + DESCRIPTOR + "def exp(x):\n    y = torch.empty_like(x)\n    M, N = x.shape\n"
     "    tile_kernel[(triton.cdiv(M, 64), triton.cdiv(N, 64))](x, y, M, N, BM=64, BN=64)\n    return y\n"),
    ("descriptors by functions", HEAD + DESCRIPTOR.replace("y.store(at, tl.exp(x.load(at)))",
                                                           "tl.store_tensor_descriptor(y, at, tl.exp(tl.load_tensor_descriptor(x, at)))") +
     "def exp(x):\n    y = torch.empty_like(x)\n    M, N = x.shape\n"
     "    tile_kernel[(triton.cdiv(M, 64), triton.cdiv(N, 64))](x, y, M, N, BM=64, BN=64)\n    return y\n"),
    ("host descriptors", "from triton.tools.tensor_descriptor import TensorDescriptor\n" + HEAD + DESCRIPTOR.replace("x_ptr, y_ptr", "x, y")
     .replace("    x = tl.make_tensor_descriptor(x, shape=[M, N], strides=[N, 1], block_shape=[BM, BN])\n", "")
     .replace("    x = tl.make_tensor_descriptor(x_ptr, shape=[M, N], strides=[N, 1], block_shape=[BM, BN])\n", "")
     .replace("    y = tl.make_tensor_descriptor(y_ptr, shape=[M, N], strides=[N, 1], block_shape=[BM, BN])\n", "") +
     "def exp(x):\n    y = torch.empty_like(x)\n    M, N = x.shape\n    x_desc = TensorDescriptor.from_tensor(x, [64, 64])\n"
     "    y_desc = TensorDescriptor.from_tensor(y, [64, 64])\n    tile_kernel[(triton.cdiv(M, 64), triton.cdiv(N, 64))](x_desc, y_desc, M, N, 64, 64)\n"
     "    return y\n"),
    ("block pointers", HEAD + BLOCKS + "def exp(x):\n    y = torch.empty_like(x)\n    M, N = x.shape\n"
     "    block_kernel[(triton.cdiv(M, 64),)](x, y, M, N, BM=64, BN=64)\n    return y\n"),
    ("fallback for the CPU", answer("def double(x):\n    if not x.is_cuda:\n        return x * 2\n" + LAUNCH + "    return out\n")),
    ("fallback for empty input", answer("def double(x):\n    if x.numel() == 0:\n        return x.clone()\n" + LAUNCH + "    return out\n")),
    ("fallback for large rows", answer("def double(x):\n    if x.shape[-1] > 65536:\n        return torch.mul(x, 2)\n" + LAUNCH + "    return out\n")),
    ("checks of the input", answer("def double(x):\n    if not x.is_contiguous():\n        raise ValueError('x must be contiguous')\n"
                                   "    assert x.is_cuda and x.dtype in (torch.float16, torch.float32)\n" + LAUNCH + "    return out\n")),
    ("check of the device", answer("def double(x):\n    if x.device.type != 'cuda':\n        raise ValueError('x must be on a GPU')\n" + LAUNCH + "    return out\n")),
    ("check of a scalar", answer("def double(x):\n    if isinstance(x, torch.Tensor) and x.dim() != 0:\n        raise ValueError('x must be a scalar')\n"
                                 "    x = torch.as_tensor(x)\n" + LAUNCH + "    return out\n")),
    ("check for another vendor's device", answer("def double(x):\n    if x.device.type not in ('cuda',) and x.device.type != 'musa':\n        return x * 2\n" + LAUNCH +
                                                 "    return out\n")),
    ("device of another vendor", answer("def double(x):\n    if x.device.type != 'musa':\n        return x * 2\n" + LAUNCH + "    return out\n")),
    ("flag for a result", answer("def double(x, wanted=False):\n    if not wanted:\n        return None\n" + LAUNCH + "    return out\n")),
    ("device guard", answer(START + "    with torch.cuda.device(x.device):\n"
                            f"        double_kernel[{GRID}](x, out, x.numel(), BLOCK=256)\n    return out\n")),
    ("error with a hint", answer("def double(x):\n    try:\n" + LAUNCH_IN + "    except RuntimeError as error:\n"
                                 "        raise RuntimeError('double needs a GPU') from error\n    return out\n")),
    ("import that may fail", "try:\n    import numpy as np\nexcept ImportError:\n    np = None\n" + answer(HOST)),
    ("loop of launches", answer(START + "    for i in range(x.shape[0]):\n        double_kernel[(triton.cdiv(x[i].numel(), 256),)](x[i], out[i], x[i].numel(), BLOCK=256)\n"
                                "    return out\n")),
    ("results in a list", answer("def double_all(xs):\n    outs = []\n    for x in xs:\n        out = torch.empty_like(x)\n"
                                 f"        double_kernel[{GRID}](x, out, x.numel(), BLOCK=256)\n        outs.append(out)\n    return torch.stack(outs)\n")),
    ("cache of settings", answer("SETTINGS = {}\n\n\ndef find_block(n):\n    if n not in SETTINGS:\n        SETTINGS[n] = min(1024, triton.next_power_of_2(n))\n"
                                 "    return SETTINGS[n]\n\n\n" + START + f"    double_kernel[{GRID}](x, out, x.numel(), BLOCK=find_block(x.numel()))\n    return out\n")),
    ("lru_cache of settings", "import functools\n" + answer("@functools.lru_cache(maxsize=None)\ndef count_sms(device):\n"
                                                             "    return torch.cuda.get_device_properties(device).multi_processor_count\n\n\n" + START +
                                                             "    double_kernel[(count_sms(0),)](x, out, x.numel(), BLOCK=256)\n    return out\n")),
    ("workspace kept", module("        if self.out is None or self.out.shape != x.shape:\n            self.out = torch.empty_like(x)\n"
                              f"        double_kernel[{GRID}](x, self.out, x.numel(), BLOCK=256)\n        return self.out\n", "        self.out = None\n\n")),
    ("custom operator", answer('@torch.library.custom_op("answers::double", mutates_args=())\ndef double_op(x: torch.Tensor) -> torch.Tensor:\n' + LAUNCH +
                               "    return out\n\n\n@double_op.register_fake\ndef _(x):\n    return torch.empty_like(x)\n\n\n"
                               "def double(x):\n    return torch.ops.answers.double(x)\n")),
    ("compiled", answer("@torch.compile\n" + HOST)),
    ("own decorator", "import functools\n" + answer("def contiguous(function):\n    @functools.wraps(function)\n    def run(*args):\n"
                                                   "        return function(*[a.contiguous() for a in args])\n    return run\n\n\n@contiguous\n" + HOST)),
    ("own decorator of a method", "import functools\n" + answer("def contiguous(function):\n    @functools.wraps(function)\n    def run(ctx, *args, **kwargs):\n"
                                                               "        return function(ctx, *[a.contiguous() for a in args], **kwargs)\n    return run\n\n\n" +
                                                               AUTOGRAD.replace("    def forward", "    @contiguous\n    def forward") +
                                                               "def double(x):\n    return Double.apply(x)\n")),
    ("class handed to a library", answer(AUTOGRAD + "class Doubled(torch.nn.Module):\n    def forward(self, x):\n        return Double.apply(x)\n\n\n"
                                         "def register(registry):\n    registry.layer = Doubled\n")),
    ("configurations by loops", HEAD + "def configs():\n    made = []\n    for a in (64, 128):\n        for w in (4, 8):\n            for s in (2, 3):\n"
     "                for c in (1, 2):\n                    for m in (0, 1):\n                        for k in (0, 1):\n                            for g in (1, 8):\n"
     "                                for z in (1, 2):\n                                    for y in (1, 2):\n"
     "                                        made.append(triton.Config({'BLOCK': a * y * g * z * k * m * c * s}, num_warps=w))\n    return made\n\n\n" +
     AUTOTUNED.replace('[triton.Config({"BLOCK": 128}, num_warps=4), triton.Config({"BLOCK": 256}, num_warps=8)]', "configs()") + START +
     "    grid = lambda meta: (triton.cdiv(x.numel(), meta['BLOCK']),)\n    double_kernel[grid](x, out, x.numel())\n    return out\n"),
    ("counts by atomics", HEAD + ATOMIC.replace("tl.atomic_add(out_ptr, tl.sum(tl.load(x_ptr + at, mask=at < n, other=0.0)))",
                                                "tl.atomic_add(out_ptr + tl.load(x_ptr + at, mask=at < n, other=0), 1, mask=at < n)").replace("sum_", "count_") +
     "def bincount(x, size):\n    out = torch.zeros(size, device=x.device, dtype=torch.int32)\n"
     f"    count_kernel[{GRID}](x, out, x.numel(), BLOCK=256)\n    return out\n"),
    ("marks where the data says", HEAD + KERNEL.replace("tl.store(out_ptr + at, x * 2, mask=at < n)", "tl.store(out_ptr + x, float('-inf'), mask=at < n)") + HOST),
    ("number from the device", HEAD + ATOMIC + "def total(x):\n    out = torch.zeros(1, device=x.device)\n"
     f"    sum_kernel[{GRID}](x, out, x.numel(), BLOCK=256)\n    return float(out.item())\n"),
    ("factory of kernels", HEAD + "def make_kernel():\n" + "".join(f"    {line}\n" if line else "\n" for line in KERNEL.rstrip().splitlines()) +
     "    return double_kernel\n\n\n" + START + f"    make_kernel()[{GRID}](x, out, x.numel(), BLOCK=256)\n    return out\n"),
    ("class without torch's base", answer("class Doubler:\n    def __init__(self, block=256):\n        self.block = block\n\n    def __call__(self, x):\n"
                                          f"        out = torch.empty_like(x)\n        double_kernel[{GRID}](x, out, x.numel(), BLOCK=self.block)\n        return out\n")),
    ("reference and test beside it", answer(HOST + "\n\ndef reference(x):\n    return torch.mul(x, 2)\n\n\ndef test_double():\n    x = torch.randn(100, device='cuda')\n"
                                            "    torch.testing.assert_close(double(x), reference(x))\n\n\nif __name__ == '__main__':\n    test_double()\n")),
    ("norms before the kernel", answer("def scale(x):\n    largest = x.abs().max()\n    y = x / largest\n    out = torch.empty_like(y)\n"
                                       f"    double_kernel[{GRID}](y, out, y.numel(), BLOCK=256)\n    return out, largest\n")),
    ("constant kernel for a fill", HEAD + KERNEL.replace("    x = tl.load(x_ptr + at, mask=at < n)\n", "").replace("x_ptr, ", "").replace("x * 2", "1.0")
     .replace("double", "ones") + "def ones_like(x):\n    out = torch.empty_like(x)\n"
     f"    ones_kernel[{GRID}](out, x.numel(), BLOCK=256)\n    return out\n"),
    ("zeros before the sum", HEAD + KERNEL.replace("    x = tl.load(x_ptr + at, mask=at < n)\n", "").replace("x_ptr, ", "").replace("x * 2", "0.0")
     .replace("double", "clear") + ATOMIC + "def total(x):\n    out = torch.empty(1, device=x.device)\n    clear_kernel[(1,)](out, 1, BLOCK=1)\n"
     f"    sum_kernel[{GRID}](x, out, x.numel(), BLOCK=256)\n    return out\n"),
    ("matrix by a transposed view", HEAD + MATMUL + SPLIT_K.replace("def matmul(a, b, split=4):", "def linear(a, w, split=1):\n    b = w.t()")),
    ("named tuple", "from typing import NamedTuple\n" + answer("class Result(NamedTuple):\n    out: torch.Tensor\n    size: int\n\n\n" + START +
                                                              f"    double_kernel[{GRID}](x, out, x.numel(), BLOCK=256)\n    return Result(out, x.numel())\n")),
    ("much of Triton", HEAD.replace("import torch\n", "import math\n\nimport torch\n", 1) + MUCH_OF_TRITON + HOST),
    ("functions of the compiler", "from triton.language import core\n" + answer(HOST, EXTERN + KERNEL.replace("x * 2", "raw(raw(twice(x)))"))),
    ("Python for the host alone", answer("def blocks(n):\n    try:\n        return {'BLOCK': max(16, sum([n]))}['BLOCK']\n    except KeyError:\n        raise\n\n\n" + HOST,
                                         imports="import numpy as np\n")),
]
