"""Headers for NVRTC, which has none of C++'s and C's: nvcc takes those of the host's compiler.

C++'s come from libcu++ (cuda::std), whose wheel is one of the toolchain's, under C++'s own names. Headers of things that a kernel
cannot use (streams, strings, containers) are empty, so that a kernel that does use them misses a member of std.
"""

STD = "namespace std { using namespace cuda::std; }\n"

# Each includes cuda/std/NAME.
_LIBCUDACXX = ("array atomic bit chrono complex concepts cstddef cstdint cstdlib ctime functional initializer_list iterator limits "
               "memory numeric optional ratio span tuple type_traits utility variant").split()

_EMPTY = ("any bitset cassert cctype cerrno cinttypes condition_variable csignal cstdio cstring deque filesystem forward_list "
          "fstream future iomanip ios iosfwd iostream istream list locale map mutex new numbers ostream queue random regex set "
          "shared_mutex sstream stack streambuf string string_view system_error thread typeindex typeinfo unordered_map "
          "unordered_set vector assert.h errno.h inttypes.h math.h memory.h stdio.h stdlib.h string.h strings.h sys/types.h time.h "
          "unistd.h").split()

# nvcc includes these before every file. Only the part that kernels use is here. NVRTC compiles for the device alone, so that
# functions for both sides are for the device.
_BEFORE = """
#undef __host__
#define __host__
#include <cuda/std/climits>
#include <cuda/std/cstddef>
#include <cuda/std/cstdint>
namespace std {
using namespace cuda::std;
using ::ptrdiff_t;
using ::size_t;
template <class A, class R> struct unary_function { using argument_type = A; using result_type = R; };
template <class A, class B, class R> struct binary_function {
  using first_argument_type = A; using second_argument_type = B; using result_type = R;
};
}
using nullptr_t = decltype(nullptr);
typedef unsigned int uint;
typedef unsigned short ushort;
typedef unsigned long ulong;
#define __builtin_clz(x) __clz(static_cast<int>(x))
#define __builtin_ctz(x) (__ffs(static_cast<int>(x)) - 1)
#define __builtin_popcount(x) __popc(x)
#define HUGE_VAL __builtin_bit_cast(double, 0x7ff0000000000000ll)
#define HUGE_VALF __builtin_bit_cast(float, 0x7f800000)
#define INFINITY __builtin_bit_cast(float, 0x7f800000)
#define NAN __builtin_bit_cast(float, 0x7fffffff)
#define M_E 2.7182818284590452354
#define M_LOG2E 1.4426950408889634074
#define M_LOG10E 0.43429448190325182765
#define M_LN2 0.69314718055994530942
#define M_LN10 2.30258509299404568402
#define M_PI 3.14159265358979323846
#define M_PI_2 1.57079632679489661923
#define M_PI_4 0.78539816339744830962
#define M_1_PI 0.31830988618379067154
#define M_2_PI 0.63661977236758134308
#define M_2_SQRTPI 1.12837916709551257390
#define M_SQRT2 1.41421356237309504880
#define M_SQRT1_2 0.70710678118654752440
"""

_FLOAT = """
#define FLT_RADIX 2
#define FLT_MANT_DIG 24
#define FLT_DIG 6
#define FLT_MIN 1.17549435e-38F
#define FLT_MAX 3.40282347e+38F
#define FLT_EPSILON 1.19209290e-7F
#define FLT_MIN_EXP (-125)
#define FLT_MAX_EXP 128
#define FLT_MIN_10_EXP (-37)
#define FLT_MAX_10_EXP 38
#define DBL_MANT_DIG 53
#define DBL_DIG 15
#define DBL_MIN 2.2250738585072014e-308
#define DBL_MAX 1.7976931348623157e+308
#define DBL_EPSILON 2.2204460492503131e-16
#define DBL_MIN_EXP (-1021)
#define DBL_MAX_EXP 1024
#define DBL_MIN_10_EXP (-307)
#define DBL_MAX_10_EXP 308
"""

# libcu++ has no <algorithm> of its own.
_ALGORITHM = """
#include <cuda/std/utility>
namespace std {
using namespace cuda::std;
template <class T> constexpr __device__ const T& min(const T& a, const T& b) { return b < a ? b : a; }
template <class T> constexpr __device__ const T& max(const T& a, const T& b) { return a < b ? b : a; }
template <class T, class C> constexpr __device__ const T& min(const T& a, const T& b, C less) { return less(b, a) ? b : a; }
template <class T, class C> constexpr __device__ const T& max(const T& a, const T& b, C less) { return less(a, b) ? b : a; }
template <class T> constexpr __device__ const T& clamp(const T& v, const T& lo, const T& hi) {
  return v < lo ? lo : hi < v ? hi : v;
}
template <class I, class T> constexpr __device__ void fill(I i, I end, const T& v) { for (; i != end; ++i) *i = v; }
template <class I, class N, class T> constexpr __device__ I fill_n(I i, N n, const T& v) {
  for (; n > 0; --n, ++i) *i = v;
  return i;
}
template <class I, class O> constexpr __device__ O copy(I i, I end, O o) {
  for (; i != end; ++i, ++o) *o = *i;
  return o;
}
}
"""

# Functions of the host throw these (nvrtc.thrown).
_STDEXCEPT = "namespace std {\nstruct exception {};\n" + "".join(
    f"struct {name} : exception {{ template <class... A> __device__ {name}(const A&...) {{}} }};\n"
    for name in ("bad_alloc", "domain_error", "invalid_argument", "length_error", "logic_error", "out_of_range", "overflow_error",
                 "range_error", "runtime_error", "underflow_error")) + "}\n"

BEFORE = "kernelmill_before.h"  # the name under which NVRTC includes it first


def headers():
    """Returns {name: text}."""
    texts = {BEFORE: _BEFORE, "algorithm": _ALGORITHM, "cfloat": _FLOAT, "float.h": _FLOAT, "cmath": "#include <cuda/std/cmath>\n" + STD,
             "climits": "#include <cuda/std/climits>\n", "limits.h": "#include <cuda/std/climits>\n",
             "stddef.h": "#include <cuda/std/cstddef>\n", "stdint.h": "#include <cuda/std/cstdint>\n", "stdexcept": _STDEXCEPT, "exception": "#include <stdexcept>\n"}
    texts.update({name: f"#include <cuda/std/{name}>\n{STD}" for name in _LIBCUDACXX})
    texts.update({name: STD for name in _EMPTY})
    return {name: "#pragma once\n" + text for name, text in texts.items()}
