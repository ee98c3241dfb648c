#include "services/extractor/core/link/cuda/known_names.h"

#include <cstddef>
#include <initializer_list>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "common/dsl/names.h"
#include "services/extractor/core/link/cuda/metal_names.h"

namespace kernelmill::extractor::cuda {
namespace {

using absl::string_view;
using Table = absl::flat_hash_map<string_view, string_view>;  // name to header

// A header and the names that it declares.
struct HeaderNames {
  string_view header;
  string_view names;  // separated by blanks
};

// If a name is in two rows, the first one counts.
Table MakeTable(std::initializer_list<HeaderNames> rows) {
  Table table;
  for (const HeaderNames& row : rows) {
    for (const string_view name : absl::StrSplit(row.names, ' ', absl::SkipEmpty())) {
      table.emplace(name, row.header);
    }
  }
  return table;
}

// Names outside all namespaces. An empty header means that nvcc and hipcc need none.
const Table& GlobalNames() {
  static const auto& table = *new Table(MakeTable({
      {"",
       "threadIdx blockIdx blockDim gridDim warpSize dim3 uint3 NULL size_t ptrdiff_t ssize_t uint "
       "uchar ushort ulong clock_t time_t "
       "abs labs llabs fabs fabsf min max fminf fmaxf fmin fmax umin umax llmin llmax ullmin "
       "ullmax "
       "fdim fdimf fma fmaf fmod fmodf remainder remainderf remquo remquof modf modff frexp frexpf "
       "ldexp ldexpf scalbn scalbnf scalbln logb logbf ilogb ilogbf copysign copysignf nextafter "
       "nextafterf nan nanf "
       "sqrt sqrtf rsqrt rsqrtf cbrt cbrtf rcbrt rcbrtf hypot hypotf rhypot rhypotf norm3d norm3df "
       "norm4d normf norm exp expf exp2 exp2f exp10 exp10f expm1 expm1f log logf log2 log2f log10 "
       "log10f log1p log1pf pow powf powi powif sin sinf cos cosf tan tanf asin asinf acos acosf "
       "atan atanf atan2 atan2f sinh sinhf cosh coshf tanh tanhf asinh asinhf acosh acoshf atanh "
       "atanhf sincos sincosf sinpi sinpif cospi cospif sincospi sincospif erf erff erfc erfcf "
       "erfinv erfinvf erfcinv erfcinvf erfcx erfcxf normcdf normcdff normcdfinv normcdfinvf "
       "tgamma tgammaf lgamma lgammaf j0 j0f j1 j1f y0 y0f y1 y1f cyl_bessel_i0f cyl_bessel_i1f "
       "ceil ceilf floor floorf round roundf rint rintf nearbyint nearbyintf trunc truncf lround "
       "lroundf llround llroundf lrint lrintf llrint llrintf signbit isnan isinf isfinite "
       "saturate memcpy memset memmove malloc free exit abort clock clock64 wall_clock64 "
       "globaltimer "
       "asm main typeof alloca va_list offsetof operator_new "
       "cudaStream_t CUstream tex1D tex1Dfetch tex2D tex3D surf2Dread surf2Dwrite texture surface "
       "pragma unroll nullptr_t _Float16 _Pragma"},
      {"cstdint",
       "int8_t int16_t int32_t int64_t uint8_t uint16_t uint32_t uint64_t intptr_t uintptr_t "
       "intmax_t uintmax_t int_fast8_t int_fast16_t int_fast32_t uint_fast8_t uint_fast16_t "
       "uint_fast32_t INT8_MIN INT8_MAX INT16_MIN INT16_MAX INT32_MIN INT32_MAX INT64_MIN "
       "INT64_MAX "
       "UINT32_C UINT64_C INT32_C INT64_C UINT8_MAX UINT16_MAX UINT32_MAX UINT64_MAX SIZE_MAX"},
      {"climits",
       "CHAR_BIT CHAR_MAX CHAR_MIN SCHAR_MAX SCHAR_MIN UCHAR_MAX SHRT_MAX SHRT_MIN USHRT_MAX "
       "INT_MAX INT_MIN UINT_MAX LONG_MAX LONG_MIN ULONG_MAX LLONG_MAX LLONG_MIN ULLONG_MAX"},
      {"cfloat", "FLT_MAX FLT_MIN FLT_EPSILON DBL_MAX DBL_MIN DBL_EPSILON FLT_DIG FLT_MANT_DIG"},
      {"cmath",
       "INFINITY NAN HUGE_VAL HUGE_VALF M_PI M_E M_LN2 M_LN10 M_LOG2E M_LOG10E M_SQRT2 M_SQRT1_2 "
       "M_PI_2 M_PI_4 M_1_PI M_2_PI M_2_SQRTPI isnormal"},
      {"math_constants.h",
       "CUDART_INF_F CUDART_INF CUDART_NAN_F CUDART_NAN CUDART_PI_F CUDART_PI CUDART_L2E_F "
       "CUDART_LN2_F CUDART_MAX_NORMAL_F CUDART_MIN_DENORM_F CUDART_NEG_ZERO_F CUDART_ZERO_F "
       "CUDART_ONE_F CUDART_SQRT_TWO_F CUDART_SQRT_HALF_F"},
      {"cassert", "assert"},
      {"cstdio", "printf fprintf snprintf sprintf puts fflush stderr stdout stdin perror"},
      {"cstdlib", "atoi atof rand srand getenv EXIT_FAILURE EXIT_SUCCESS"},
      {"cstring", "strlen strcmp strncmp strcpy memcmp"},
      {"cuda_fp16.h",
       "make_half2 half half2 nv_half nv_half2 hceil hfloor hrint htrunc hsqrt hrsqrt hrcp hlog "
       "hlog2 hlog10 "
       "hexp hexp2 hexp10 hcos hsin htanh h2ceil h2floor h2rint h2trunc h2sqrt h2rsqrt h2rcp h2log "
       "h2log2 h2log10 h2exp h2exp2 h2exp10 h2cos h2sin h2tanh"},
      {"cuda_bf16.h", "nv_bfloat16 nv_bfloat162 __bfloat162"},
      {"cuComplex.h",
       "cuComplex cuFloatComplex cuDoubleComplex cuCmul cuCmulf cuCadd cuCaddf cuCsub "
       "cuCabs cuCabsf cuCreal cuCrealf cuCimag cuCimagf cuConj cuConjf "
       "make_cuComplex make_cuFloatComplex make_cuDoubleComplex"},
      {"cuda.h", "CUDA_VERSION CUtensorMap CUdeviceptr CUresult CUfunction CUmodule CUcontext"},
      {"cuda_pipeline.h", "__pipeline_memcpy_async __pipeline_commit __pipeline_wait_prior"},
  }));
  return table;
}

// Names in namespace std.
const Table& StandardNames() {
  static const auto& table = *new Table(MakeTable({
      {"algorithm",
       "max min clamp sort stable_sort fill fill_n copy copy_n any_of all_of none_of "
       "find find_if count transform reverse lower_bound upper_bound max_element "
       "min_element minmax swap_ranges unique remove_if for_each"},
      {"utility",
       "pair make_pair move forward swap exchange declval index_sequence "
       "make_index_sequence integer_sequence make_integer_sequence index_sequence_for "
       "in_place"},
      {"type_traits",
       "integral_constant bool_constant true_type false_type void_t enable_if "
       "enable_if_t conditional conditional_t decay decay_t conjunction disjunction "
       "negation underlying_type underlying_type_t common_type common_type_t "
       "make_unsigned make_unsigned_t make_signed make_signed_t invoke_result "
       "invoke_result_t result_of aligned_storage alignment_of rank extent "
       "conjunction_v disjunction_v negation_v type_identity"},
      {"limits", "numeric_limits"},
      {"cstdint",
       "int8_t int16_t int32_t int64_t uint8_t uint16_t uint32_t uint64_t intptr_t "
       "uintptr_t"},
      {"cstddef", "size_t ptrdiff_t nullptr_t byte max_align_t"},
      {"cmath",
       "abs fabs exp exp2 expm1 log log2 log10 log1p sqrt cbrt pow sin cos tan asin acos "
       "atan atan2 sinh cosh tanh asinh acosh atanh erf erfc tgamma lgamma ceil floor round "
       "trunc rint nearbyint fmod fma fmax fmin isnan isinf isfinite signbit copysign "
       "ldexp frexp hypot lround llround rsqrt"},
      {"array", "array"},
      {"tuple",
       "tuple make_tuple tie get tuple_size tuple_element tuple_element_t forward_as_tuple "
       "apply ignore tuple_cat"},
      {"string", "string to_string stoi stof"},
      {"string_view", "string_view"},
      {"vector", "vector"},
      {"functional",
       "function plus minus multiplies divides less greater equal_to bind ref cref "
       "bit_and bit_or bit_xor hash"},
      {"memory", "unique_ptr shared_ptr make_unique make_shared addressof"},
      {"optional", "optional nullopt make_optional"},
      {"variant", "variant visit monostate"},
      {"initializer_list", "initializer_list"},
      {"iterator", "begin end size data distance next prev iterator_traits back_inserter"},
      {"numeric", "accumulate iota gcd lcm reduce"},
      {"bit", "bit_cast popcount countl_zero countr_zero"},
      {"complex", "complex real imag conj norm polar"},
      {"iostream", "cout cerr endl ostream"},
      {"sstream", "stringstream ostringstream"},
      {"stdexcept", "runtime_error invalid_argument logic_error out_of_range"},
      {"cstring", "memcpy memset memcmp"},
      {"cstdio", "printf fprintf snprintf"},
      {"map", "map"},
      {"unordered_map", "unordered_map"},
      {"set", "set"},
      {"mutex", "mutex lock_guard unique_lock"},
      {"atomic", "atomic memory_order_relaxed"},
      {"chrono", "chrono"},
      {"random", "mt19937 random_device uniform_real_distribution normal_distribution"},
      {"concepts", "integral floating_point same_as convertible_to"},
  }));
  return table;
}

// Names in namespace cooperative_groups that cooperative_groups.h lacks. Their headers include it.
const Table& GroupNames() {
  static const auto& table = *new Table(MakeTable({
      {"cooperative_groups/reduce.h",
       "reduce reduce_update_async reduce_store_async plus less greater bit_and bit_xor bit_or"},
      {"cooperative_groups/scan.h",
       "inclusive_scan exclusive_scan inclusive_scan_update exclusive_scan_update"},
      {"cooperative_groups/memcpy_async.h", "memcpy_async wait wait_prior"},
  }));
  return table;
}

// camelCase with that prefix: cudaMemcpyAsync, CUdevice.
bool IsApiName(string_view name, string_view prefix) {
  return absl::StartsWith(name, prefix) && name.size() > prefix.size() &&
         absl::ascii_isupper(static_cast<unsigned char>(name[prefix.size()]));
}

KnownName Header(string_view header) {
  if (header.empty()) return {KnownName::kBuiltIn, "", ""};
  return {KnownName::kHeader, header, ""};
}

bool ContainsAny(string_view text, std::initializer_list<string_view> parts) {
  for (const string_view part : parts) {
    if (absl::StrContains(text, part)) return true;
  }
  return false;
}

// Names that begin with two underscores are the implementation's.
KnownName Reserved(string_view name) {
  if (absl::StartsWith(name, "__hip_") || absl::StartsWith(name, "__HIP_")) return Header("");
  if (ContainsAny(name, {"nv_fp4", "_to_fp4", "nv_cvt_fp4"})) return Header("cuda_fp4.h");
  if (ContainsAny(name, {"nv_fp8", "nv_cvt_"}) || absl::StartsWith(name, "__NV_")) {
    return Header("cuda_fp8.h");
  }
  if (ContainsAny(name, {"bfloat16", "bfloat162", "nv_bfloat"})) return Header("cuda_bf16.h");
  if (ContainsAny(name, {"half"})) return Header("cuda_fp16.h");
  static const auto& arithmetic = *new absl::flat_hash_set<string_view>{
      "add", "sub", "mul", "div",   "fma",   "neg", "abs", "max", "min", "eq",  "ne",  "le",
      "ge",  "lt",  "gt",  "isnan", "isinf", "equ", "neu", "leu", "geu", "ltu", "gtu", "cmadd"};
  string_view operation = name;
  if (absl::ConsumePrefix(&operation, "__h") || absl::ConsumePrefix(&operation, "__hb")) {
    operation = operation.substr(0, operation.find('_'));
    absl::ConsumeSuffix(&operation, "2");
    if (arithmetic.contains(operation)) return Header("cuda_fp16.h");
  }
  if (absl::StartsWith(name, "__low2") || absl::StartsWith(name, "__high2") ||
      absl::StartsWith(name, "__lows2") || absl::StartsWith(name, "__highs2")) {
    return Header("cuda_fp16.h");
  }
  if (absl::StartsWith(name, "__pipeline_")) return Header("cuda_pipeline.h");
  return Header("");
}

// The names and the headers of a package.
struct Package {
  string_view prefix;   // prefix of names: "at::" or "AT_"
  string_view headers;  // prefix of its headers' paths
};

// The first row that matches counts. A prefix that ends with "::" also stands for the namespace
// itself.
constexpr Package kPackages[] = {
    {"at::", "ATen/"},
    {"c10::", "c10/"},
    {"torch::", "torch/"},
    {"caffe2::", "caffe2/"},
    {"cub::", "cub/"},
    {"thrust::", "thrust/"},
    {"cutlass::", "cutlass/"},
    {"cute::", "cute/"},
    {"hipcub::", "hipcub/"},
    {"rocprim::", "rocprim/"},
    {"pybind11::", "pybind11/"},
    {"py::", "pybind11/"},
    {"ck::", "ck/"},
    {"ck_tile::", "ck_tile/"},
    {"raft::", "raft/"},
    {"AT_", "ATen/"},
    {"C10_", "c10/"},
    {"TORCH_", "torch/"},
    {"CUTLASS_", "cutlass/"},
    {"CUTE_", "cute/"},
    {"CUB_", "cub/"},
    {"THRUST_", "thrust/"},
    {"PYBIND11_", "pybind11/"},
    {"CUDA_KERNEL_LOOP", "ATen/"},
    {"CUDA_KERNEL_ASSERT", "c10/"},
    {"gpuAtomic", "ATen/"},
    {"THC", "THC/"},
    {"ATEN_", "ATen/"},
    {"Tensor", "torch/"},
    {"gpuAtomicAdd", "ATen/"},
    {"fastAtomicAdd", "ATen/"},
};

KnownName FindPackage(string_view path) {
  for (const Package& package : kPackages) {
    string_view space = package.prefix;
    const bool itself = absl::ConsumeSuffix(&space, "::") && path == space;
    const bool whole = package.prefix == "Tensor";
    if (itself || (whole ? path == package.prefix : absl::StartsWith(path, package.prefix)))
      return {KnownName::kPackage, "", package.headers};
  }
  return {};
}

// Looks up a name with namespaces. Names of std that the table lacks are assumed to need no header,
// except type traits, which their prefixes tell.
KnownName Qualified(string_view path) {
  if (absl::StartsWith(path, "__")) return Header("");
  if (absl::ConsumePrefix(&path, "std::")) {
    const string_view name = path.substr(0, path.find(':'));
    const auto found = StandardNames().find(name);
    if (found != StandardNames().end()) return Header(found->second);
    const bool trait = absl::StartsWith(name, "is_") || absl::StartsWith(name, "remove_") ||
                       absl::StartsWith(name, "add_") || absl::StartsWith(name, "has_");
    return Header(trait ? "type_traits" : "");
  }
  if (absl::ConsumePrefix(&path, "cooperative_groups::")) {
    const auto found = GroupNames().find(path.substr(0, path.find(':')));
    return Header(found == GroupNames().end() ? "cooperative_groups.h" : found->second);
  }
  if (absl::StartsWith(path, "nvcuda::wmma")) return Header("mma.h");
  if (absl::StartsWith(path, "nvcuda::")) return Header("");
  if (absl::StartsWith(path, "cuda::std::")) return Header("cuda/std/type_traits");
  if (absl::StartsWith(path, "cuda::barrier")) return Header("cuda/barrier");
  if (absl::StartsWith(path, "cuda::pipeline")) return Header("cuda/pipeline");
  if (absl::StartsWith(path, "cuda::atomic")) return Header("cuda/atomic");
  if (absl::StartsWith(path, "cuda::")) return Header("");
  return FindPackage(path);
}

// Looks up a name without namespaces: reserved names first, then the table, then families of names
// by their prefixes.
KnownName Plain(string_view name) {
  if (absl::StartsWith(name, "__")) return Reserved(name);
  const auto found = GlobalNames().find(name);
  if (found != GlobalNames().end()) return Header(found->second);
  if (!FindVectorType(name).empty()) return Header("");
  if (IsApiName(name, "atomic") || IsApiName(name, "cuda") || IsApiName(name, "hip")) {
    return Header("");
  }
  if (IsApiName(name, "cublas")) return Header("cublas_v2.h");
  if (IsApiName(name, "curand") || absl::StartsWith(name, "curand_")) {
    return Header("curand_kernel.h");
  }
  if (absl::StartsWith(name, "hip_bfloat16")) return Header("");
  if (name == "std" || name == "cuda" || name == "nvcuda") return Header("");
  if (name == "cooperative_groups") return Header("cooperative_groups.h");
  return FindPackage(name);
}

// Looks up a name in the namespace of a library, the namespace itself, or a macro of it.
KnownName LookUpInLibrary(string_view path, const dsl::Library& library) {
  const KnownName found = {KnownName::kHeader, library.header, ""};
  if (!library.macros.empty() && absl::StartsWith(path, library.macros)) return found;
  for (const string_view space : library.spaces) {
    string_view name = path;
    if (!absl::ConsumePrefix(&name, space)) continue;
    if (name.empty()) return found;
    if (!absl::ConsumePrefix(&name, "::")) continue;
    name = name.substr(0, name.find(':'));
    for (const string_view known : absl::StrSplit(library.names, ' ')) {
      if (known == name) return found;
    }
  }
  return {};
}

}  // namespace

string_view FindVectorType(string_view name) {
  static const auto& types = *new absl::flat_hash_set<string_view>{
      "char", "uchar", "short",    "ushort",    "int",   "uint",
      "long", "ulong", "longlong", "ulonglong", "float", "double"};
  absl::ConsumePrefix(&name, "make_");
  if (name.empty() || name.back() < '1' || name.back() > '4') return "";
  return types.contains(name.substr(0, name.size() - 1)) ? name : "";
}

KnownName LookUpKnown(absl::string_view path) {
  return absl::StrContains(path, "::") ? Qualified(path) : Plain(path);
}

// Metal has types and attributes of its own, and none of C++'s standard library.
KnownName LookUpKnown(absl::string_view path, const dsl::Language& language) {
  if (!language.qualifiers.kernel.empty() && language.name != dsl::kCuda) return LookUpMetal(path);
  const KnownName own = LookUpInLibrary(path, language.library);
  return own.kind == KnownName::kUnknown ? LookUpKnown(path) : own;
}

bool IsPackageHeader(absl::string_view path) {
  for (const Package& package : kPackages) {
    if (absl::StartsWith(path, package.headers)) return true;
  }
  return false;
}

// PyTorch's three packages include one another, and so do CUTLASS and CuTe: a name of one may come
// from a header of another.
bool IsHeaderOf(absl::string_view path, absl::string_view package) {
  if (package == "ATen/" || package == "c10/" || package == "torch/") {
    return absl::StartsWith(path, "ATen/") || absl::StartsWith(path, "c10/") ||
           absl::StartsWith(path, "torch/");
  }
  if (package == "cutlass/" || package == "cute/") {
    return absl::StartsWith(path, "cutlass/") || absl::StartsWith(path, "cute/");
  }
  return absl::StartsWith(path, package);
}

}  // namespace kernelmill::extractor::cuda
