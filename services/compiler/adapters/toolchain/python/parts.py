"""The best-known part of each target."""

# Multiprocessors, shared memory of a block in bytes, registers of a multiprocessor, memory in bytes.
PARTS = {
    "cuda:80": ("NVIDIA A100-SXM4-80GB", 108, 166912, 65536, 80 << 30),
    "cuda:90": ("NVIDIA H100 80GB HBM3", 132, 232448, 65536, 80 << 30),
    "cuda:100": ("NVIDIA B200", 148, 232448, 65536, 180 << 30),
    "hip:gfx942": ("AMD Instinct MI300X", 304, 65536, 65536, 192 << 30),
    "tpu:v6e": ("TPU v6 lite", 1, 128 << 20, 0, 32 << 30),
}


def shared_bytes(target):
    """Returns the most shared memory that a block may have."""
    return PARTS[target][2]


def capability(target):
    backend, _, arch = target.partition(":")
    return divmod(int(arch), 10) if backend == "cuda" else (9, 4)


class Properties:
    """Device properties, as torch.cuda.get_device_properties returns them."""

    def __init__(self, target):
        name, processors, shared, registers, memory = PARTS[target]
        self.name = name
        self.major, self.minor = capability(target)
        self.multi_processor_count = processors
        self.total_memory = memory
        self.shared_memory_per_block = 49152
        self.shared_memory_per_block_optin = shared
        self.shared_memory_per_multiprocessor = shared
        self.regs_per_multiprocessor = registers
        self.max_threads_per_multi_processor = 2048
        self.warp_size = 32 if target.startswith("cuda:") else 64
        self.gcnArchName = target.partition(":")[2]
