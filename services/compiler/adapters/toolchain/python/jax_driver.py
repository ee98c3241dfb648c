"""The driver of JAX's toolchains: makes the report of a kernel in Pallas.

For each target of the job it forks A (jax_frontend.py), which loads the module and lowers the kernel with a try's arguments, and for each
try B, which verifies the kernel's module in Mosaic's IR and measures it. A module may hand out another module than its kernel's, since it
runs in A; but what B says of that module is true. Nothing is compiled further: that needs the libraries of the device.
"""
import base64
import hashlib
import json
import math
import re

from jax._src.interpreters import mlir
from jax._src.lib import tpu as mosaic
from jax._src.lib.mlir import ir

from kernelmill_harness import children, jax_frontend, messages, module_report, reports


_BITS = {"bf16": 16, "index": 32}
_MEMORY = re.compile(r"memref<((?:\d+x)*)([a-z]+\d*)\w*, .*#tpu.memory_space<vmem>>")


def kernel_report(job):
    return module_report.kernel_report(job, jax_frontend.main, try_report)


def try_report(loader, job, target, i, _made):
    loader.ask({"try": i})
    said = loader.answer()
    if "died" in said:
        return reports.died(said, "frontend")
    if not isinstance(said.get("ir"), str):
        return module_report.refusal(said)
    left = max(1, math.ceil(job["max_seconds"] - loader.seconds()))
    report = children.call(lambda: measure(said["ir"], job["keep"]), left, job["max_seconds"], reports.REPORT_BYTES)
    if "died" in report:
        return reports.died(report, "passes")
    if report["status"] == "ok":
        report["constexprs"] = job["tries"][i]["constexprs"]
    return report


def find(operation, name):
    """Yields the operations of a name within one."""
    for region in operation.regions:
        for block in region.blocks:
            for each in block.operations:
                if each.operation.name == name:
                    yield each.operation
                yield from find(each.operation, name)


def body_of(call):
    """Returns the serialized module of a kernel: of a TPU's in JSON, of a GPU's in an attribute. None of other calls."""
    attributes = call.attributes
    name = ir.StringAttr(attributes["call_target_name"]).value
    if name == "tpu_custom_call":
        return base64.b64decode(json.loads(ir.StringAttr(attributes["backend_config"]).value)["custom_call_config"]["body"])
    return ir.StringAttr(attributes["mhlo.backend_config"]["module"]).value_bytes if name == "mosaic_gpu_v2" else None


def shared_memory(module):
    """Returns the bytes that a GPU's kernel asks for as it is launched; of a TPU's the vector memory of its operands' windows and of its
    scratch, each once."""
    launch = next(find(module.operation, "stable_mosaic_gpu.gpu.launch"), None)
    if launch is not None:
        return ir.IntegerAttr(launch.operands[len(launch.operands) - 1].owner.attributes["value"]).value
    total = 0
    for argument in next(iter(module.body.operations)).regions[0].blocks[0].arguments:
        memory = _MEMORY.fullmatch(str(argument.type))
        if memory is not None:
            sizes = [int(size) for size in memory[1].split("x") if size]
            total += math.prod(sizes) * _BITS.get(memory[2], int(re.sub(r"\D", "", memory[2]) or 32)) // 8
    return total


def measure(text, keep):
    """Verifies the module of a try, and measures its kernel. Returns the report, as JSON objects."""
    with mlir.make_ir_context() as context, ir.Location.unknown():
        context.allow_unregistered_dialects = True
        mosaic.register_dialect(context)
        try:
            module = ir.Module.parse(text)
            bodies = [body for body in map(body_of, find(module.operation, "stablehlo.custom_call")) if body is not None]
            if len(bodies) != 1:
                return {"status": "error", "stage": "frontend", "message": f"the call has {len(bodies)} kernels of Mosaic", "line": 0}
            kernel = ir.Module.parse(bodies[0])
            kernel.operation.verify()
        except ir.MLIRError as error:
            return {"status": "error", "stage": "passes", "message": messages.clean(messages.format_exception(error)), "line": 0}
        forms = [("stablehlo", module.operation.get_asm(enable_debug_info=False)), ("mosaic", kernel.operation.get_asm(enable_debug_info=False))]
        return {
            "status": "ok", "registers": 0, "spill_bytes": 0, "instructions": 0, "shared_bytes": shared_memory(kernel),
            "forms": [[form, len(value.encode()), hashlib.sha256(value.encode()).hexdigest()] for form, value in forms],
            "kept": [[form, value] for form, value in forms if form in keep],
        }
