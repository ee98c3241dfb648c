#include "services/extractor/core/tags/call_kinds.h"

#include <initializer_list>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/match.h"

namespace kernelmill::extractor {
namespace {

using absl::string_view;

struct Entry {
  CallKind kind;
  std::initializer_list<string_view> names;
};

const Entry kEntries[] = {
    {kLoad,
     {"load", "descriptor_load", "_experimental_descriptor_load", "ldg", "__ldg", "buffer_load",
      "ld", "load_tile", "vload", "async_copy_global_to_shared"}},
    {kStore,
     {"store", "descriptor_store", "_experimental_descriptor_store", "buffer_store", "st",
      "store_tile", "swap"}},
    {kDot,
     {"dot",
      "dot_scaled",
      "dot_fma",
      "dot_general",
      "dot_precise_without_tf32",
      "b_dot",
      "safe_dot",
      "async_dot",
      "async_dot_scaled",
      "ragged_dot",
      "matmul",
      "matmul_ogs",
      "einsum",
      "warpgroup_mma",
      "tcgen05_mma",
      "tcgen05_mma_scaled",
      "mma_v2",
      "mfma",
      "mfma_scaled",
      "wmma",
      "wmma_scaled",
      "wgmma",
      "mma",
      "mma_sync",
      "mma16816",
      "@"}},
    {kReduce,
     {"sum",
      "max",
      "min",
      "reduce",
      "argmax",
      "argmin",
      "xor_sum",
      "prod",
      "mean",
      "nanmean",
      "any",
      "all",
      "var",
      "reduce_or",
      "reduce_and",
      "reduce_max",
      "reduce_sum",
      "reduce_by",
      "__shfl_xor_sync",
      "__shfl_down_sync",
      "__shfl_xor",
      "__shfl_down",
      "shfl_xor",
      "shfl_down_sync",
      "__reduce_add_sync",
      "warp_reduce",
      "warp_reduce_sum",
      "warpReduce",
      "warpReduceSum",
      "warpReduceMax",
      "warpReduceAllSum",
      "WarpReduceSum",
      "block_reduce",
      "blockReduce",
      "blockReduceSum",
      "blockReduceMax",
      "BlockReduce",
      "Reduce",
      "Sum"}},
    {kSum, {"sum", "reduce"}},
    {kMax, {"max", "maximum", "fmaxf", "reduce_max"}},
    {kScan,
     {"cumsum", "cumprod", "cummax", "associative_scan", "InclusiveSum", "ExclusiveSum",
      "inclusive_scan", "exclusive_scan"}},
    {kRandomCall,
     {"rand", "randn", "randint", "rand4x", "randn4x", "randint4x", "philox", "curand_uniform",
      "curand_uniform4", "curand4", "curand_init", "prng_random_bits", "stateful_uniform"}},
    {kExp,
     {"exp", "exp2", "fast_expf", "__expf", "expf", "exp2f", "safe_exp", "fast_exp", "exp_approx"}},
    {kRoot, {"rsqrt", "sqrt", "sqrt_rn", "rsqrtf", "sqrtf", "__frsqrt_rn"}},
    {kSelect,
     {"topk", "sort", "argsort", "max", "min", "argmax", "argmin", "maximum", "reduce",
      "associative_scan", "bitonic_merge"}},
    {kAtomicUpdate,
     {"atomic_add", "atomic_max", "atomic_or", "buffer_atomic_add", "atomicAdd", "atomicMax",
      "atomicMin", "atomicInc", "gpuAtomicAdd", "gpuAtomicAddNoReturn", "fastAtomicAdd"}},
    {kCopyCall,
     {"async_copy", "sync_copy", "make_async_copy", "copy_smem_to_gmem", "copy_gmem_to_smem",
      "async_copy_smem_to_gmem"}},
    {kCast,
     {"to",        "cast",        "astype",         "type",     "static_cast", "broadcast_to",
      "broadcast", "expand_dims", "reshape",        "view",     "trans",       "permute",
      "transpose", "squeeze",     "unsqueeze",      "ravel",    "expand",      "flatten",
      "item",      "T",           "convert_layout", "constexpr"}},
    {kPlace, {"program_id",     "num_programs", "axis_index",
              "arange",         "iota",         "broadcasted_iota",
              "cdiv",           "multiple_of",  "max_contiguous",
              "zeros",          "zeros_like",   "ones",
              "ones_like",      "full",         "full_like",
              "make_block_ptr", "advance",      "make_tensor_descriptor",
              "range",          "static_range", "len",
              "float",          "int",          "ds",
              "dslice",         "when",         "static_assert",
              "device_assert",  "assume"}},
};

struct Prefix {
  CallKind kind;
  string_view prefix;
};

const Prefix kPrefixes[] = {
    {kCrossLane, "shfl"},       {kCrossLane, "__shfl"},    {kCrossLane, "ballot"},
    {kCrossLane, "__ballot"},   {kCrossLane, "atomic"},    {kCrossLane, "my_pe"},
    {kCrossLane, "n_pes"},      {kCrossLane, "num_ranks"}, {kCrossLane, "rank"},
    {kCrossLane, "while_loop"}, {kCrossLane, "fori_loop"}, {kCrossLane, "cond"},
};

}  // namespace

uint32_t CallKindsOf(string_view name) {
  static const auto& kinds = *[] {
    auto* by_name = new absl::flat_hash_map<string_view, uint32_t>;
    for (const Entry& entry : kEntries) {
      for (const string_view word : entry.names) (*by_name)[word] |= entry.kind;
    }
    return by_name;
  }();
  const auto found = kinds.find(name);
  uint32_t all = found == kinds.end() ? 0 : found->second;
  for (const Prefix& entry : kPrefixes) {
    if (absl::StartsWith(name, entry.prefix)) all |= entry.kind;
  }
  return all;
}

}  // namespace kernelmill::extractor
