"""The device that a kernel's module sees while it is loaded: the target's, on a machine without one.

Modules ask at import which device they run on, to choose configurations and branches. They see the best-known part of each
target (parts.py). They cannot launch kernels on it.
"""
from triton.backends.compiler import GPUTarget

from kernelmill_harness import parts

def gpu_target(target):
    """Returns Triton's target for "cuda:90" or "hip:gfx942"."""
    backend, _, arch = target.partition(":")
    if backend == "cuda":
        return GPUTarget("cuda", int(arch), 32)
    return GPUTarget("hip", arch, 64)


class Utils:
    def __init__(self, target):
        self._properties = parts.Properties(target)

    def get_device_properties(self, _device):
        p = self._properties
        return {
            "max_shared_mem": p.shared_memory_per_block_optin,
            "max_num_regs": p.regs_per_multiprocessor,
            "multiprocessor_count": p.multi_processor_count,
            "warpSize": p.warp_size,
            "sm_clock_rate": 1_500_000,
            "mem_clock_rate": 1_500_000,
            "mem_bus_width": 5120,
            "arch": p.gcnArchName,
        }


class Driver:
    """A replacement of triton.runtime.driver.active."""

    def __init__(self, target):
        self._target = gpu_target(target)
        self._capability = parts.capability(target)
        self.utils = Utils(target)

    @staticmethod
    def is_active():
        return True

    def get_current_target(self):
        return self._target

    def get_current_device(self):
        return 0

    def set_current_device(self, _device):
        pass

    def get_current_stream(self, _device=None):
        return 0

    def get_device_capability(self, _device=None):
        return self._capability

    def get_device_interface(self):
        import torch
        return torch.cuda

    def get_active_torch_device(self):
        import torch
        return torch.device("cuda", 0)

    def get_benchmarker(self):
        def refuse(*_, **__):
            raise RuntimeError("there is no device to measure on")
        return refuse

    def get_empty_cache_for_benchmark(self):
        raise RuntimeError("there is no device to measure on")

    def clear_cache(self, _cache):
        pass


def pretend(target):
    """Makes `target` the device that Triton finds."""
    from triton.runtime.driver import driver
    driver.set_active(Driver(target))
