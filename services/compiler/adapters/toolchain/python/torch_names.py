"""The names of torch that modules read while they are loaded, for absent.Finder."""
import importlib.util

from kernelmill_harness.absent import AbsentClass
from kernelmill_harness.parts import PARTS, Properties, capability

VERSION = "2.9.0"
# The names of torch's types, with their size in bytes.
DTYPES = {
    "float64": 8, "float32": 4, "float16": 2, "bfloat16": 2, "float8_e4m3fn": 1, "float8_e5m2": 1, "float8_e4m3fnuz": 1,
    "float8_e5m2fnuz": 1, "float8_e8m0fnu": 1, "float4_e2m1fn_x2": 1, "int64": 8, "int32": 4, "int16": 2, "int8": 1,
    "uint64": 8, "uint32": 4, "uint16": 2, "uint8": 1, "bool": 1, "complex64": 8, "complex128": 16,
}
ALIASES = {"double": "float64", "float": "float32", "half": "float16", "long": "int64", "int": "int32", "short": "int16"}


class Tensor(AbsentClass):
    """A class for annotations of jit functions. Heuristics ask its objects for their type and their sizes: `size` in each of
    `ndim` dimensions."""
    ndim = 4

    def __init__(self, dtype=None, size=1024, *_, **__):
        self.dtype = dtype
        self.shape = (size,) * self.ndim
        self.device = device("cuda", 0)
        self.is_cuda = True
        self.requires_grad = False

    def size(self, dim=None):
        return self.shape if dim is None else self.shape[dim]

    def stride(self, dim=None):
        strides = tuple(self.shape[0] ** i for i in reversed(range(self.ndim)))
        return strides if dim is None else strides[dim]

    def dim(self):
        return self.ndim

    def numel(self):
        return self.shape[0] ** self.ndim

    def element_size(self):
        return self.dtype.itemsize

    def is_contiguous(self, *_, **__):
        return True

    def data_ptr(self):
        return 1 << 40  # as aligned as those of torch's allocator


class dtype:
    def __init__(self, name, size):
        self._name = name
        self.itemsize = size
        self.is_floating_point = name.startswith(("float", "bfloat"))
        self.is_complex = name.startswith("complex")
        self.is_signed = name != "bool" and not name.startswith("uint")

    def __repr__(self):
        return f"torch.{self._name}"


class device:
    def __init__(self, type="cuda", index=None):
        self.type, _, number = str(type).partition(":")
        self.index = int(number) if number else index

    def __repr__(self):
        return f"device(type='{self.type}')"


class finfo:
    """torch.finfo, for the floating types that constants use."""
    _VALUES = {  # bits, largest, smallest normal, difference of 1 to the next
        "float64": (64, 1.7976931348623157e308, 2.2250738585072014e-308, 2.220446049250313e-16),
        "float32": (32, 3.4028234663852886e38, 1.1754943508222875e-38, 1.1920928955078125e-07),
        "float16": (16, 65504.0, 6.103515625e-05, 0.0009765625),
        "bfloat16": (16, 3.3895313892515355e38, 1.1754943508222875e-38, 0.0078125),
        "float8_e4m3fn": (8, 448.0, 0.015625, 0.125),
        "float8_e5m2": (8, 57344.0, 6.103515625e-05, 0.25),
        "float8_e4m3fnuz": (8, 240.0, 0.0078125, 0.125),
        "float8_e5m2fnuz": (8, 57344.0, 3.0517578125e-05, 0.25),
    }

    def __init__(self, type):
        self.bits, self.max, self.tiny, self.eps = self._VALUES[type._name]
        self.min, self.smallest_normal, self.dtype = -self.max, self.tiny, type._name


class iinfo:
    def __init__(self, type):
        self.bits = type.itemsize * 8
        self.min = -(1 << (self.bits - 1)) if type.is_signed else 0
        self.max = (1 << (self.bits - 1 if type.is_signed else self.bits)) - 1
        self.dtype = type._name


def names(target):
    """Returns {module: {name: value}} of torch on a machine with the target's device."""
    hip = target.startswith("hip:")
    dtypes = {name: dtype(name, size) for name, size in DTYPES.items()}
    dtypes.update({alias: dtypes[name] for alias, name in ALIASES.items()})
    properties = Properties(target)
    version = {"__version__": VERSION, "cuda": None if hip else "12.8", "hip": "6.4" if hip else None, "git_version": ""}
    cuda = {
        "is_available": lambda: True,
        "device_count": lambda: 1,
        "current_device": lambda: 0,
        "get_device_name": lambda device=None: PARTS[target][0],
        "get_device_capability": lambda device=None: capability(target),
        "get_device_properties": lambda device=None: properties,
        "is_bf16_supported": lambda *_, **__: True,
    }
    return {
        "torch": {**dtypes, "__version__": VERSION, "Tensor": Tensor, "dtype": dtype, "device": device, "finfo": finfo, "iinfo": iinfo,
                  "inf": float("inf"), "nan": float("nan"), "pi": 3.141592653589793, "e": 2.718281828459045},
        "torch.version": version,
        "torch.cuda": cuda,
        "torch._inductor.runtime.triton_helpers": {"math": _triton_math()} if importlib.util.find_spec("triton") else {},
        "torch.utils._triton": {name: lambda *_: True for name in ("has_triton", "has_triton_package")},
    }


def _triton_math():
    import triton.language
    return triton.language.math
