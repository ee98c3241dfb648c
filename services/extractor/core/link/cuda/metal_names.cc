#include "services/extractor/core/link/cuda/metal_names.h"

#include <algorithm>
#include <iterator>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/match.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"

namespace kernelmill::extractor::cuda {
namespace {

using absl::string_view;
using Names = absl::flat_hash_set<string_view>;

Names Split(string_view names) { return absl::StrSplit(names, ' ', absl::SkipEmpty()); }

// Names that need no library, also the words of attributes, which look like names.
const Names& BuiltIn() {
  static const auto& names = *new Names(Split(
      "kernel vertex fragment device constant threadgroup thread threadgroup_imageblock ray_data "
      "object_data half bfloat uchar ushort uint ulong size_t ptrdiff_t int8_t int16_t int32_t "
      "int64_t uint8_t uint16_t uint32_t uint64_t main metal "
      "buffer texture sampler stage_in position host_name function_constant id color attribute "
      "max_total_threads_per_threadgroup thread_position_in_grid threads_per_grid "
      "thread_position_in_threadgroup threads_per_threadgroup threadgroup_position_in_grid "
      "threadgroups_per_grid thread_index_in_threadgroup thread_index_in_simdgroup "
      "thread_index_in_quadgroup simdgroup_index_in_threadgroup quadgroup_index_in_threadgroup "
      "threads_per_simdgroup thread_execution_width simdgroups_per_threadgroup "
      "dispatch_threads_per_threadgroup dispatch_simdgroups_per_threadgroup grid_size grid_origin "
      "vertex_id instance_id user flat clang loop unroll always_inline noinline visible stitchable "
      "maybe_unused nodiscard fallthrough _Pragma pragma"));
  return names;
}

// Names in namespace metal. Functions of its namespaces precise and fast have the same names.
const Names& Library() {
  static const auto& names = *new Names(Split(
      "abs absdiff acos acosh add_sat addsub all any asin asinh as_type atan atan2 atanh "
      "ceil clamp clz copysign cos cosh cospi cross ctz determinant distance distance_squared dot "
      "divide exp exp10 exp2 extract_bits fabs faceforward fast fdim floor fma fmax fmax3 fmedian3 "
      "fmin fmin3 fmod fract frexp hadd ilogb insert_bits isfinite isinf isnan isnormal isordered "
      "isunordered ldexp length length_squared log log10 log2 mad24 mad_hi mad_sat madhi max max3 "
      "median3 min min3 mix mul24 mul_hi mulhi modf nextafter normalize not pow powr popcount "
      "precise reduce_and reflect refract reverse_bits rhadd rint rotate round rsqrt saturate "
      "select "
      "sign signbit sin sincos sinh sinpi smoothstep sqrt step sub_sat tan tanh tanpi transpose "
      "trunc pack_float_to_unorm4x8 unpack_unorm4x8_to_float pack_float_to_snorm4x8 "
      "numeric_limits vec matrix array array_ref tensor packed_vec "
      "is_same is_same_v is_integral is_integral_v is_floating_point is_floating_point_v is_signed "
      "is_signed_v is_unsigned is_unsigned_v is_scalar is_void is_const is_pointer is_convertible "
      "is_convertible_v is_enum is_arithmetic is_arithmetic_v is_empty is_class is_base_of "
      "enable_if enable_if_t conditional conditional_t integral_constant bool_constant true_type "
      "false_type remove_reference remove_reference_t remove_const remove_cv remove_cv_t "
      "remove_volatile add_const decay decay_t declval void_t make_unsigned make_unsigned_t "
      "make_signed make_signed_t disjunction conjunction negation index_sequence "
      "make_index_sequence "
      "integer_sequence make_integer_sequence is_function_constant_defined underlying_type_t "
      "common_type common_type_t "
      "atomic atomic_int atomic_uint atomic_bool atomic_float atomic_ulong memory_order "
      "memory_order_relaxed thread_scope atomic_load_explicit atomic_store_explicit "
      "atomic_exchange_explicit atomic_compare_exchange_weak_explicit atomic_fetch_add_explicit "
      "atomic_fetch_sub_explicit atomic_fetch_and_explicit atomic_fetch_or_explicit "
      "atomic_fetch_xor_explicit atomic_fetch_max_explicit atomic_fetch_min_explicit "
      "atomic_max_explicit atomic_min_explicit atomic_thread_fence "
      "threadgroup_barrier simdgroup_barrier mem_flags mem_none mem_device mem_threadgroup "
      "simd_active_threads_mask simd_all simd_any simd_and simd_or simd_xor simd_ballot "
      "simd_broadcast simd_broadcast_first simd_is_first simd_is_helper_thread simd_max simd_min "
      "simd_sum simd_product simd_prefix_exclusive_sum simd_prefix_inclusive_sum "
      "simd_prefix_exclusive_product simd_prefix_inclusive_product simd_shuffle simd_shuffle_up "
      "simd_shuffle_down simd_shuffle_xor simd_shuffle_rotate_up simd_shuffle_rotate_down "
      "simd_shuffle_and_fill_up simd_shuffle_and_fill_down simd_vote quad_all quad_any quad_max "
      "quad_min quad_sum quad_product quad_broadcast quad_shuffle quad_shuffle_up "
      "quad_shuffle_down quad_shuffle_xor simdgroup_matrix simdgroup_float8x8 simdgroup_half8x8 "
      "simdgroup_bfloat8x8 simdgroup_load simdgroup_store simdgroup_multiply "
      "simdgroup_multiply_accumulate make_filled_simdgroup_matrix simdgroup_event "
      "simdgroup_async_copy texture1d texture2d texture3d texture2d_array texture_buffer sampler "
      "access coord address filter "
      "METAL_FUNC INFINITY NAN HUGE_VALF MAXFLOAT MAXHALF M_PI_F M_PI_2_F M_PI_4_F M_1_PI_F "
      "M_2_PI_F M_E_F "
      "M_LN2_F M_LN10_F M_LOG2E_F M_LOG10E_F M_SQRT2_F M_SQRT1_2_F M_2_SQRTPI_F M_PI_H M_E_H "
      "M_SQRT2_H M_SQRT1_2_H M_2_SQRTPI_H FLT_MAX FLT_MIN FLT_EPSILON HALF_MAX HALF_MIN INT_MAX "
      "INT_MIN UINT_MAX CHAR_BIT SHRT_MAX LONG_MAX ULONG_MAX"));
  return names;
}

// Returns whether the name is a vector's or a matrix's: float4, packed_half3, float4x4.
bool IsVector(string_view name) {
  static const auto& elements =
      *new Names(Split("bool char uchar short ushort int uint long ulong half bfloat float"));
  const auto is_size = [](char c) { return c >= '2' && c <= '4'; };
  absl::ConsumePrefix(&name, "packed_");
  if (name.size() < 2 || !is_size(name.back())) return false;
  name.remove_suffix(1);
  if (name.size() > 2 && name.back() == 'x' && is_size(name[name.size() - 2])) {
    name.remove_suffix(2);
  }
  return elements.contains(name);
}

}  // namespace

// Macros of the library, such as INFINITY, are in no namespace.
KnownName LookUpMetal(string_view path) {
  if (absl::StartsWith(path, "__")) return {KnownName::kBuiltIn, "", ""};
  if (!absl::ConsumePrefix(&path, "metal::")) {
    if (BuiltIn().contains(path) || IsVector(path)) return {KnownName::kBuiltIn, "", ""};
    const bool is_macro =
        std::none_of(path.begin(), path.end(), [](char c) { return c >= 'a' && c <= 'z'; });
    if (!is_macro && path != "as_type") return {};
  }
  const string_view name = path.substr(0, path.find(':'));
  if (Library().contains(name)) return {KnownName::kHeader, "metal_stdlib", ""};
  return {};
}

}  // namespace kernelmill::extractor::cuda
