#!/usr/bin/env python3
"""Makes an export of made kernels, as the catalog's tests and benchmark read it: no repository's code is in it.

usage: made_dataset.py FOLDER KERNELS      the same kernels each time; KERNELS: how many
"""

import hashlib
import json
import pathlib
import random
import sys

# Operation, words of names, what its code calls.
OPERATIONS = [
    (["softmax"], ["softmax", "row_softmax", "online_softmax"], ["exp", "max", "sum"]),
    (["norm", "layer_norm"], ["layer_norm_fwd", "LayerNormKernel", "fused_layer_norm"], ["sum", "sqrt", "rsqrt"]),
    (["norm", "rms_norm"], ["rms_norm", "rmsnorm_fwd", "fused_rms_norm"], ["sum", "rsqrt"]),
    (["matmul"], ["matmul", "gemm_kernel", "persistent_matmul"], ["dot", "zeros", "cdiv"]),
    (["matmul", "quantization"], ["w4a16_gemm", "int8_matmul", "fp8_scaled_mm"], ["dot", "zeros", "cdiv"]),
    (["attention", "softmax"], ["flash_attention", "attn_fwd", "paged_attention"], ["dot", "exp2", "max", "trans"]),
    (["rope"], ["rotary_embedding", "rope_kernel"], ["cos", "sin", "where"]),
    (["activation", "elementwise"], ["gelu", "silu_and_mul", "swiglu"], ["sigmoid", "exp", "where"]),
    (["loss", "cross_entropy"], ["cross_entropy", "fused_linear_cross_entropy"], ["log", "exp", "max"]),
    (["reduction"], ["sum_kernel", "argmax_rows"], ["sum", "reduce"]),
    (["scan"], ["cumsum", "selective_scan"], ["associative_scan", "cumsum"]),
    (["embedding", "gather"], ["embedding_lookup", "gather_rows"], ["where"]),
    (["moe", "matmul"], ["fused_moe", "moe_align_block"], ["dot", "atomic_add"]),
    (["dropout", "random"], ["seeded_dropout", "philox_dropout"], ["rand", "where"]),
    ([], ["copy_tiles", "misc_kernel"], ["arange"]),
]
FEATURES = ["masks", "dot", "atomics", "block_pointers", "tensor_descriptors", "inline_asm", "layouts", "loops", "autotune", "reductions"]
LICENCES = ["MIT"] * 5 + ["Apache-2.0"] * 5 + ["BSD-3-Clause"] * 3 + ["Apache-2.0 WITH LLVM-exception", "MIT OR Apache-2.0", "NOASSERTION"]
LANGUAGES = ["triton"] * 8 + ["cuda"] * 3 + ["gluon", "pallas"]
TARGETS = [("triton-3.5", "sm90"), ("triton-3.5", "sm80"), ("triton-3.2", "sm90"), ("triton-3.5", "gfx942")]
ONSETS = "b c d f g h k l m n p r s t v z br cl dr fl gr pl st tr".split()
VOWELS = "a e i o u ai eo".split()

# Names that an attacker could give a kernel, its file, its repository.
HOSTILE = [
    {"qualname": "</script><script>window.hacked=1</script>", "path": "a/</title><script>window.hacked=1</script>.py"},
    {"qualname": "<img src=x onerror=window.hacked=1>", "repository": "evil/<b onmouseover=window.hacked=1>bold</b>"},
    {"qualname": "quotes\"'><svg onload=window.hacked=1>", "path": "it's/\"quoted\"/&amp;.py"},
    {"qualname": "turned_\u202eyp.lenrek\u202c", "path": "zero\u200bwidth/\u2067isolated\u2069.py"},
    {"qualname": "bell\u0007_\u001b[31mred", "tags": ["../../escape", "<i>tag</i>", "softmax"]},
    {"qualname": "__proto__", "features": ["constructor", "__proto__"], "repository": "__proto__"},
    {"qualname": "javascript:window.hacked=1", "repository": "javascript:window.hacked=1", "docstring": "${window.hacked=1} {{7*7}}"},
]


def words_of(rng, count):
    """Returns `count` made-up words."""
    return ["".join(rng.choice(ONSETS) + rng.choice(VOWELS) for _ in range(rng.randint(2, 4))) for _ in range(count)]


def code(rng, name, calls, rare):
    arguments = [f"{rng.choice(rare)}_ptr" for _ in range(3)] + [f"stride_{rng.choice('mnk')}{i}" for i in range(2)]
    lines = ["@triton.jit", f"def {name}({', '.join(arguments)}, n_elements, BLOCK_SIZE: tl.constexpr):"]
    lines.append("    pid = tl.program_id(axis=0)")
    lines.append("    offsets = pid * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)")
    lines.append("    mask = offsets < n_elements")
    for i in range(rng.randint(4, 40)):
        value = rng.choice(rare)
        match rng.randint(0, 3):
            case 0:
                lines.append(f"    {value} = tl.load({rng.choice(arguments)} + offsets, mask=mask, other=0.0)")
            case 1:
                lines.append(f"    {value}_{i} = tl.{rng.choice(calls)}({rng.choice(rare)}, axis=0)  # the {rng.choice(rare)} of a row")
            case 2:
                lines.append(f"    if n_elements > {rng.randint(1, 4096)}:\n        {value} += {rng.choice(rare)} * {rng.random():.3f}")
            case 3:
                lines.append(f"    {value} = tl.where(mask, {rng.choice(rare)}, 0.0).to(tl.float32)")
    lines.append(f"    tl.store({arguments[0]} + offsets, {rng.choice(rare)}, mask=mask)")
    return "\n".join(lines) + "\n"


def row(rng, number, repository, vocabulary):
    tags, names, calls = rng.choice(OPERATIONS)
    backward = rng.random() < 0.25
    rare = [vocabulary[min(int(rng.paretovariate(0.6)) - 1, len(vocabulary) - 1)] for _ in range(14)]
    name = rng.choice(names) + (f"_{rng.choice(rare)}" if rng.random() < 0.6 else "") + ("_bwd" if backward else "")
    source = code(rng, name, calls, rare)
    first = rng.randint(1, 400)
    language = rng.choice(LANGUAGES)
    score = round(rng.betavariate(5, 2), 3)
    path = f"{rng.choice(['ops', 'kernels', 'src/triton', 'layers'])}/{rng.choice(names).lower()}.{'cu' if language == 'cuda' else 'py'}"
    digest = hashlib.sha256(source.encode()).hexdigest()
    docstring = f"{name.replace('_', ' ')} of the {rng.choice(rare)}, in blocks." if rng.random() < 0.5 else None
    compiled = [{"toolchain": toolchain, "target": target, "status": rng.choice(["ok", "ok", "error"])} for toolchain, target in TARGETS]
    return {
        "id": hashlib.sha256(f"{number}".encode()).hexdigest()[:32], "repository": repository, "repository_url": f"https://example.org/{repository}",
        "commit": "c0ffee" + "0" * 34, "url": f"https://example.org/{repository}/blob/c0ffee/{path}#L{first}", "path": path,
        "first_line": first, "last_line": first + source.count("\n") - 1, "json_pointer": None, "sha256": digest, "dsl": language,
        "role": "kernel", "form": "decorated", "found_by": "triton.jit", "applied_by": None, "name": name, "qualname": name,
        "category": "ops", "source_tier": 1, "weight": 1.0, "split": "train", "cluster": None, "duplicates": [],
        "source": source, "module": "import triton\nimport triton.language as tl\n\n\n" + source, "signature": source.split("\n")[1],
        "docstring": docstring, "decorators": ["@triton.jit"], "calls": [f"triton.language.{call}" for call in calls],
        "self_contained": rng.random() < 0.7, "unresolved_names": [], "parameters": [], "autotune": None, "heuristics": None,
        "launcher": {"path": f"tests/test_{path.split('/')[-1]}", "qualname": "test_it", "first_line": 1, "last_line": 3, "count": 1,
                     "text": f"def test_it():\n    {name}[(1,)](x)\n"} if rng.random() < 0.2 else None,
        "requires_triton": ">=3.0.0", "requires_triton_path": "setup.py", "tags": tags + (["backward"] if backward else []),
        "tag_rules": [{"name": tag, "rule": f"name:{tag}"} for tag in tags], "features": sorted(rng.sample(FEATURES, rng.randint(0, 4))),
        "tokens": {"cl100k_base": len(source) // 3, "o200k_base": len(source) // 3},
        "license": {"expression": rng.choice(LICENCES), "evidence": "file:LICENSE", "confidence": 0.98, "vendored": None,
                    "copyrights": ["Copyright (c) 2026 Nobody"], "notices": [], "found": [], "adapted_from": []},
        "checks": {"has_bounds_masking": "pass", "has_docstring": "pass" if docstring else "fail"}, "check_reasons": [],
        "quality": {"score": score, "tier": 1 if score >= 0.8 else 2 if score >= 0.5 else 3, "loads": 1, "masked_loads": 1, "stores": 1,
                    "masked_stores": 1, "comment_ratio": 0.1, "generated": None},
        "kind": "operation", "target": "generic", "compile": {"results": compiled} if rng.random() < 0.4 else None,
    }


def rows(kernels):
    rng = random.Random(18)
    vocabulary = words_of(rng, 20000)
    repository = ""
    left = 0
    for number in range(kernels):
        if left == 0:
            repository, left = f"{rng.choice(vocabulary)}/{rng.choice(vocabulary)}-{rng.choice(['kernels', 'attention', 'llm', 'ops'])}", rng.randint(5, 300)
        left -= 1
        yield row(rng, number, repository, vocabulary)
    for number, hostile in enumerate(HOSTILE):
        made = row(rng, kernels + number, "evil/repository", vocabulary) | {"name": hostile["qualname"]} | hostile
        made["source"] = f"# {hostile['qualname']}\n# </script><script>window.hacked=1</script> \u202e\n" + made["source"]
        made["module"] = made["source"]
        made["last_line"] += 2
        yield made


def write(folder, kernels):
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    for name in ("ledger.jsonl", "notices.jsonl"):  # every dataset has them
        (folder / name).write_text("")
    with open(folder / "kernels.jsonl", "w", encoding="utf-8") as file:
        for made in rows(kernels):
            file.write(json.dumps(made, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    write(sys.argv[1], int(sys.argv[2]))
