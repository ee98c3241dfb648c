"""Captures models as PyTorch beside the Triton kernels that TorchInductor makes of them: `kernelmill capture`."""
