#include "common/dsl/language.h"

namespace kernelmill::dsl {

Language MakeSycl() {
  return {
      .name = "sycl",
      .title = "SYCL",
      .syntax = code::Language::kC,
      .qualifiers = {.kernel = {}, .device = {"SYCL_EXTERNAL"}},
      // nd_launch and the like are functions of extensions: sycl::ext::oneapi::experimental.
      .takers = {.members = {"parallel_for", "single_task", "parallel_for_work_group"},
                 .functions = {"parallel_for", "single_task", "nd_launch"},
                 .space = "sycl",
                 .items = {"nd_item", "item"}},
      .library = {.header = "sycl/sycl.hpp",
                  .headers = {"sycl/", "CL/sycl"},
                  .spaces = {"sycl", "cl::sycl"},
                  .names = "access access_mode accessor addressof aspect async_handler atomic "
                           "atomic_fence atomic_ref backend bit_cast buffer buffer_allocator "
                           "bundle_state byte context decorated_global_ptr "
                           "decorated_local_ptr decorated_private_ptr default_selector "
                           "default_selector_v cpu_selector cpu_selector_v gpu_selector "
                           "gpu_selector_v accelerator_selector accelerator_selector_v "
                           "host_selector device device_event device_image device_ptr "
                           "device_selector errc event exception exception_list ext "
                           "exclusive_scan_over_group filter_selector global_ptr group "
                           "group_barrier group_broadcast h_item half handler host_accessor "
                           "host_ptr host_sampled_image_accessor id image image_allocator "
                           "inclusive_scan_over_group info interop_handle is_device_copyable "
                           "is_device_copyable_v item joint_all_of joint_any_of "
                           "joint_exclusive_scan joint_inclusive_scan joint_none_of "
                           "joint_reduce all_of_group any_of_group none_of_group "
                           "kernel kernel_bundle kernel_handler kernel_id khr local_accessor "
                           "local_ptr make_ptr malloc malloc_device malloc_host malloc_shared "
                           "aligned_alloc aligned_alloc_device aligned_alloc_host "
                           "aligned_alloc_shared free marray memory_order memory_scope "
                           "multi_ptr address_space_cast nd_item nd_range no_init no_alloc "
                           "noinit opencl permute_group_by_xor platform private_memory "
                           "private_ptr property property_list queue range raw_global_ptr "
                           "raw_local_ptr raw_private_ptr read_only read_only_host_task "
                           "read_write read_write_host_task reduce_over_group reducer "
                           "reduction rounding_mode runtime_error feature_not_supported "
                           "sampled_image sampler select_from_group shift_group_left "
                           "shift_group_right specialization_id stream stream_manipulator "
                           "sub_group sycl_category target unsampled_image usm usm_allocator "
                           "vec write_only write_only_host_task elem constant_ptr errc_for "
                           "get_kernel_bundle get_kernel_id get_native get_pointer_device "
                           "get_pointer_type hex dec oct endl setw setprecision fixed "
                           "scientific plus multiplies minimum maximum bit_and bit_or bit_xor "
                           "logical_and logical_or known_identity known_identity_v "
                           "has_known_identity has_known_identity_v is_group is_group_v "
                           "native half_precision "
                           "abs abs_diff acos acosh acospi add_sat all any as asin asinh asinpi "
                           "atan atan2 atan2pi atanh atanpi bitselect cbrt ceil clamp clz "
                           "copysign cos cosh cospi cross ctz degrees distance dot erf erfc exp "
                           "exp10 exp2 expm1 fabs fast_distance fast_length fast_normalize fdim "
                           "floor fma fmax fmin fmod fract frexp hadd hypot ilogb isequal "
                           "isfinite isgreater isgreaterequal isinf isless islessequal "
                           "islessgreater isnan isnormal isnotequal isordered isunordered ldexp "
                           "length lgamma lgamma_r log log10 log1p log2 logb mad mad24 mad_hi "
                           "mad_sat max maxmag min minmag mix modf mul24 mul_hi nan nextafter "
                           "normalize popcount pow pown powr radians remainder remquo rhadd "
                           "rint rootn rotate round rsqrt select sign signbit sin sincos sinh "
                           "sinpi smoothstep sqrt step sub_sat tan tanh tanpi tgamma trunc "
                           "upsample "
                           "char2 char3 char4 char8 char16 uchar uchar2 uchar3 uchar4 uchar8 "
                           "uchar16 schar short2 short3 short4 short8 short16 ushort ushort2 "
                           "ushort3 ushort4 ushort8 ushort16 int2 int3 int4 int8 int16 uint "
                           "uint2 uint3 uint4 uint8 uint16 long2 long3 long4 long8 long16 "
                           "ulong ulong2 ulong3 ulong4 ulong8 ulong16 longlong ulonglong "
                           "float2 float3 float4 float8 float16 double2 double3 double4 "
                           "double8 double16 half2 half3 half4 half8 half16 mfloat4 mint4",
                  .macros = "SYCL_"},
      .endings = {".cpp", ".cxx", ".cc", ".h", ".hh", ".hpp", ".hxx", ".inl", ".inc"},
      .markers = {"sycl::", "sycl.hpp", "namespace sycl", "nd_item<"},
  };
}

}  // namespace kernelmill::dsl
