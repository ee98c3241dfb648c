"""A GPU that is not there: TorchInductor generates Triton code for it, and nothing is launched.

Dynamo and AOTAutograd trace the model on the processor. Before Inductor lowers a graph, the graph's fake tensors and the devices that
its calls name become those of the GPU. So three things differ from a capture on a GPU:

- Attention is traced as matrix products and a softmax. On a GPU PyTorch takes a flash or memory-efficient kernel, which is no Triton.
- A decomposition or a model that asks for the device sees the processor. A tensor that a model leaves on the processor is on the GPU.
- No kernel is benchmarked: no max-autotune, no coordinate descent, no choice between padded and plain matrix products."""

# mypy: disable-error-code="import-not-found,import-untyped"
from __future__ import annotations

import functools
import types
from typing import Any

# The properties that Inductor asks for, as torch 2.11 reports them.
DEVICES: dict[str, dict[str, Any]] = {
    "h100": {"name": "NVIDIA H100 80GB HBM3", "major": 9, "minor": 0, "multi_processor_count": 132, "total_memory": 85_029_158_912,
             "regs_per_multiprocessor": 65536, "max_threads_per_multi_processor": 2048, "max_threads_per_block": 1024, "warp_size": 32,
             "shared_memory_per_block": 49152, "shared_memory_per_block_optin": 232448, "shared_memory_per_multiprocessor": 233472,
             "L2_cache_size": 52_428_800},
    "a100": {"name": "NVIDIA A100-SXM4-80GB", "major": 8, "minor": 0, "multi_processor_count": 108, "total_memory": 85_097_971_712,
             "regs_per_multiprocessor": 65536, "max_threads_per_multi_processor": 2048, "max_threads_per_block": 1024, "warp_size": 32,
             "shared_memory_per_block": 49152, "shared_memory_per_block_optin": 166912, "shared_memory_per_multiprocessor": 167936,
             "L2_cache_size": 41_943_040}}


def install(name: str) -> None:
    """Makes this process's Inductor generate code for the device. The process must have no GPU, and cannot go back."""
    import torch
    import torch.utils._triton as triton_utilities
    from torch._dynamo.device_interface import CudaInterface

    properties = types.SimpleNamespace(**DEVICES[name])
    capability = (properties.major, properties.minor)
    number = properties.major * 10 + properties.minor

    def get_properties(device: Any = None) -> Any:
        return properties

    # With true, PyTorch makes real tensors on the device.
    torch.cuda.is_available = lambda: False
    torch.cuda.get_device_properties = get_properties
    torch.cuda.get_device_capability = lambda device=None: capability
    torch.cuda.current_device = lambda: 0
    torch.cuda.device_count = lambda: 1
    for owner in (CudaInterface, CudaInterface.Worker):
        owner.get_device_properties = staticmethod(get_properties)
        owner.current_device = staticmethod(lambda: 0)
    interface: Any = CudaInterface
    interface.is_available = staticmethod(lambda: True)
    interface.device_count = staticmethod(lambda: 1)
    interface.get_compute_capability = staticmethod(lambda device=None: number)

    @functools.cache
    def backend() -> Any:
        from triton.backends.compiler import GPUTarget
        from triton.compiler.compiler import make_backend

        return make_backend(GPUTarget("cuda", number, properties.warp_size))

    utilities: Any = triton_utilities
    utilities.has_triton = lambda: True
    utilities.triton_backend = backend
    never_load()


def _refuse(arguments: Any) -> Any:
    raise RuntimeError("the code of a capture is not loaded")


def never_load() -> None:
    """Has Inductor generate code and load none: loading it compiles its kernels for a device."""
    from torch._inductor.graph import GraphLowering

    def generate(self: Any) -> Any:
        code, _ = self.codegen_with_cpp_wrapper() if self.cpp_wrapper else self.codegen()
        if GraphLowering.save_output_code is not None:
            GraphLowering.save_output_code(code.value)
        return types.SimpleNamespace(__file__="/dev/null", call=_refuse, runner=None, recursively_apply_fns=None,
                                     benchmark_compiled_module=None)

    lowering: Any = GraphLowering
    lowering.compile_to_module = generate


def move(module: Any, inputs: Any) -> None:
    """Moves a traced graph and its fake inputs to the device."""
    import torch
    import torch.utils._pytree as pytree
    from torch._subclasses.fake_tensor import FakeTensor

    device = torch.device("cuda", 0)

    def on_device(value: Any) -> Any:
        if isinstance(value, FakeTensor):
            value.fake_device = device
        return device if isinstance(value, torch.device) and value.type == "cpu" else value

    for node in module.graph.nodes:
        pytree.tree_map(on_device, node.meta.get("val"))
        node.args = torch.fx.node.map_aggregate(node.args, on_device)
        node.kwargs = torch.fx.node.map_aggregate(node.kwargs, on_device)
    pytree.tree_map(on_device, inputs)
    module.recompile()
