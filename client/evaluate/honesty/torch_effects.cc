#include "client/evaluate/honesty/torch_effects.h"

#include <cstddef>
#include <iterator>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/match.h"
#include "common/base/text.h"

namespace kernelmill::client {
namespace {

using NameSet = absl::flat_hash_set<absl::string_view>;

constexpr absl::string_view kNumbers[] = {"size",
                                          "stride",
                                          "numel",
                                          "dim",
                                          "ndimension",
                                          "nelement",
                                          "element_size",
                                          "is_contiguous",
                                          "get_device",
                                          "storage_offset",
                                          "is_floating_point",
                                          "is_complex",
                                          "is_tensor",
                                          "untyped_storage",
                                          "nbytes",
                                          "register_hook",
                                          "retain_grad",
                                          "is_nonzero",
                                          "__len__",
                                          "backward",
                                          "is_pinned",
                                          "is_meta",
                                          "is_sparse"};

constexpr absl::string_view kAllocations[] = {"empty",
                                              "empty_like",
                                              "empty_strided",
                                              "zeros",
                                              "zeros_like",
                                              "ones",
                                              "ones_like",
                                              "full",
                                              "full_like",
                                              "rand",
                                              "rand_like",
                                              "randn",
                                              "randn_like",
                                              "randint",
                                              "randint_like",
                                              "randperm",
                                              "arange",
                                              "linspace",
                                              "logspace",
                                              "eye",
                                              "tensor",
                                              "scalar_tensor",
                                              "Tensor",
                                              "new_empty",
                                              "new_zeros",
                                              "new_ones",
                                              "new_full",
                                              "new_tensor",
                                              "new_empty_strided",
                                              "FloatTensor",
                                              "IntTensor",
                                              "LongTensor",
                                              "HalfTensor",
                                              "Parameter",
                                              "Buffer",
                                              "_empty_strided_cuda",
                                              "_empty_affine_quantized",
                                              "empty_quantized"};

constexpr absl::string_view kMoves[] = {"item",
                                        "tolist",
                                        "view",
                                        "reshape",
                                        "permute",
                                        "transpose",
                                        "t",
                                        "contiguous",
                                        "clone",
                                        "to",
                                        "float",
                                        "half",
                                        "bfloat16",
                                        "double",
                                        "int",
                                        "long",
                                        "short",
                                        "char",
                                        "byte",
                                        "bool",
                                        "type",
                                        "type_as",
                                        "cpu",
                                        "cuda",
                                        "detach",
                                        "requires_grad_",
                                        "unsqueeze",
                                        "squeeze",
                                        "flatten",
                                        "unflatten",
                                        "ravel",
                                        "chunk",
                                        "split",
                                        "split_with_sizes",
                                        "tensor_split",
                                        "unbind",
                                        "movedim",
                                        "moveaxis",
                                        "swapaxes",
                                        "swapdims",
                                        "narrow",
                                        "select",
                                        "view_as",
                                        "reshape_as",
                                        "expand",
                                        "expand_as",
                                        "broadcast_to",
                                        "broadcast_tensors",
                                        "repeat",
                                        "tile",
                                        "cat",
                                        "concat",
                                        "concatenate",
                                        "stack",
                                        "hstack",
                                        "vstack",
                                        "dstack",
                                        "squeeze_",
                                        "unsqueeze_",
                                        "as_strided",
                                        "as_tensor",
                                        "asarray",
                                        "from_numpy",
                                        "numpy",
                                        "unfold",
                                        "diagonal",
                                        "index_select",
                                        "gather",
                                        "take_along_dim",
                                        "roll",
                                        "flip",
                                        "pad",
                                        "atleast_1d",
                                        "atleast_2d",
                                        "atleast_3d",
                                        "adjoint",
                                        "view_as_real",
                                        "view_as_complex",
                                        "real",
                                        "imag",
                                        "pin_memory",
                                        "share_memory_",
                                        "resize_",
                                        "resize_as_",
                                        "t_",
                                        "transpose_",
                                        "swapdims_",
                                        "detach_",
                                        "is_shared",
                                        "rename",
                                        "align_to",
                                        "to_dense",
                                        "to_padded_tensor",
                                        "values",
                                        "offsets",
                                        "record_stream",
                                        "T",
                                        "requires_grad",
                                        "_reinterpret_tensor",
                                        "checkpoint",
                                        "from_dlpack",
                                        "to_local",
                                        "full_tensor",
                                        "wait",
                                        "expand_dims",
                                        "rearrange",
                                        "repeat_interleave",
                                        "mark_dirty",
                                        "mark_non_differentiable",
                                        "enumerate",
                                        "reversed",
                                        "list",
                                        "tuple",
                                        "zip",
                                        "sorted",
                                        "dict",
                                        "cast",
                                        "identity",
                                        "nan_to_num_",
                                        "make_dual",
                                        "mT",
                                        "tril_indices",
                                        "data_ptr"};

constexpr absl::string_view kLaunchOptions[] = {
    // Triton
    "num_warps", "num_stages", "num_ctas", "maxnreg", "grid", "warmup", "debug", "stream", "device",
    "device_type", "enable_fp_fusion", "launch_cooperative_grid", "launch_pdl", "cluster_dims",
    "ptx_version", "ptx_options", "ir_override", "supported_fp8_dtypes", "deprecated_fp8_dtypes",
    "deprecated_fp8_dot_operand_dtypes", "default_dot_input_precision",
    "allowed_dot_input_precisions", "max_num_imprecise_acc_default", "extern_libs", "backend_name",
    "sanitize_overflow", "arch", "instrumentation_mode", "allow_fp8e4nv", "allow_fp8e4b15",
    "optimize_epilogue", "enable_warp_specialization", "enable_persistent", "num_consumer_groups",
    "num_buffers_warp_spec", "reg_dec_producer", "reg_inc_consumer", "min_dot_size", "noinline",
    "do_not_specialize", "pre_hook", "bin", "signature",
    // AMD
    "waves_per_eu", "matrix_instr_nonkdim", "kpack", "schedule_hint", "instruction_sched_variant",
    "allow_flush_denorm", "warp_size", "matrix_core_version",
    // others
    "multibuffer", "enable_auto_bind_sub_block", "threads_per_warp", "grf_mode", "bottleneck",
    "force_simt_only", "isCloseUnrollControl", "isCloseOffsetAnalysis", "is_use_mask_zero",
    "buffer_size_limit", "isCloseVectorization", "isCloseInterleave", "isOpenLdStMem",
    "limit_auto_multi_buffer_only_for_local_buffer", "set_workspace_multibuffer",
    "tile_mix_vector_loop", "tile_mix_cube_loop", "enable_hivm_auto_cv_balance", "unit_flag",
    "sync_solver", "inject_barrier_all"};

// Returns a set that lives as long as the program.
template <size_t size>
const NameSet& MakeNames(const absl::string_view (&names)[size]) {
  return *new NameSet(std::begin(names), std::end(names));
}

// Parts of torch that are not operations on tensors.
bool IsSetting(absl::string_view name) {
  static constexpr absl::string_view kPrefixes[] = {"torch.cuda.",
                                                    "torch.device",
                                                    "torch.backends.",
                                                    "torch.finfo",
                                                    "torch.iinfo",
                                                    "torch.Size",
                                                    "torch.version.",
                                                    "torch.distributed.",
                                                    "torch.no_grad",
                                                    "torch.enable_grad",
                                                    "torch.is_",
                                                    "torch.get_",
                                                    "torch.set_",
                                                    "torch.manual_seed",
                                                    "torch.autograd.",
                                                    "torch.compiler.",
                                                    "torch._dynamo.",
                                                    "torch._inductor.",
                                                    "torch.library.",
                                                    "torch.amp.",
                                                    "torch.autocast",
                                                    "torch._check",
                                                    "torch.profiler.",
                                                    "torch.xpu.",
                                                    "torch.npu.",
                                                    "torch.jit.",
                                                    "torch.compile",
                                                    "torch.promote_types",
                                                    "torch.result_type",
                                                    "torch.can_cast",
                                                    "torch.broadcast_shapes",
                                                    "torch.Generator",
                                                    "torch.inference_mode",
                                                    "torch.dtype",
                                                    "torch.utils.",
                                                    "torch.testing.",
                                                    "torch.accelerator.",
                                                    "torch.fx.",
                                                    "torch.use_deterministic",
                                                    "torch._library.",
                                                    "torch.nn.init.",
                                                    "torch.random."};
  for (const absl::string_view prefix : kPrefixes) {
    if (absl::StartsWith(name, prefix)) return true;
  }
  return false;
}

}  // namespace

// In-place methods end with an underscore.
TorchEffect GetMethodEffect(absl::string_view method) {
  static const auto& numbers = MakeNames(kNumbers);
  static const auto& allocations = MakeNames(kAllocations);
  static const auto& moves = MakeNames(kMoves);
  if (numbers.contains(method)) return TorchEffect::kNothing;
  if (allocations.contains(method)) return TorchEffect::kAllocates;
  if (moves.contains(method)) return TorchEffect::kMoves;
  static const auto& overwrites =
      *new NameSet{"copy_",    "set_",    "zero_",        "fill_",     "normal_",
                   "uniform_", "random_", "exponential_", "bernoulli_"};
  if (overwrites.contains(method)) return TorchEffect::kOverwrites;
  const bool updates = absl::EndsWith(method, "_") && !absl::EndsWith(method, "__");
  return updates ? TorchEffect::kUpdates : TorchEffect::kComputes;
}

TorchEffect GetFunctionEffect(absl::string_view resolved) {
  if (IsSetting(resolved)) return TorchEffect::kNothing;
  return GetMethodEffect(LastPart(resolved));
}

bool IsOtherLibrary(absl::string_view resolved) {
  static const auto& names =
      *new NameSet{"flash_attn",   "xformers",     "apex",     "flashinfer", "cupy",
                   "numpy",        "scipy",        "jax",      "deep_gemm",  "cutlass",
                   "torchvision",  "transformers", "operator", "numba",      "sgl_kernel",
                   "bitsandbytes", "liger_kernel", "fla",      "vllm",       "einops"};
  const absl::string_view package = resolved.substr(0, resolved.find('.'));
  return names.contains(package) && GetMethodEffect(LastPart(resolved)) == TorchEffect::kComputes;
}

bool IsLaunchOption(absl::string_view keyword) {
  static const auto& names = MakeNames(kLaunchOptions);
  return names.contains(keyword);
}

}  // namespace kernelmill::client
