#include "services/deduplicator/core/computation/computation.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/string_view.h"

namespace kernelmill::deduplicator {
namespace {

using absl::string_view;
using Pair = std::vector<std::string>;

std::vector<uint64_t> OfPython(string_view source) {
  return FindComputation(source, code::Language::kPython, "kernel").hashes;
}

std::vector<uint64_t> OfCuda(string_view source) {
  return FindComputation(source, code::Language::kC, "kernel").hashes;
}

// A kernel that stores `value`, a formula of x and y.
std::string Elementwise(string_view value) {
  return absl::StrReplaceAll(R"py(
@triton.jit
def kernel(x_ptr, y_ptr, out_ptr, n, alpha, eps, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offs < n
    x = tl.load(x_ptr + offs, mask=mask)
    y = tl.load(y_ptr + offs, mask=mask)
    tl.store(out_ptr + offs, VALUE, mask=mask)
)py",
                             {{"VALUE", value}});
}

// A kernel over rows: each has the formula `value` of x, a row.
std::string Row(string_view value) {
  return absl::StrReplaceAll(R"py(
@triton.jit
def kernel(x_ptr, out_ptr, stride, n, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    cols = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * stride + cols, mask=cols < n, other=0.0)
    tl.store(out_ptr + row, VALUE)
)py",
                             {{"VALUE", value}});
}

std::string Attention(string_view mask, string_view accumulator = "tl.float32") {
  return absl::StrReplaceAll(R"py(
@triton.jit
def kernel(Q, K, V, Out, stride, N, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, D: tl.constexpr):
    start = tl.program_id(0)
    offs_m = start * BLOCK_M + tl.arange(0, BLOCK_M)
    offs_n = tl.arange(0, BLOCK_N)
    offs_d = tl.arange(0, D)
    q = tl.load(Q + offs_m[:, None] * stride + offs_d[None, :])
    acc = tl.zeros([BLOCK_M, D], dtype=ACCUMULATOR)
    for begin in range(0, N, BLOCK_N):
        k = tl.load(K + (begin + offs_n)[None, :] * stride + offs_d[:, None])
        v = tl.load(V + (begin + offs_n)[:, None] * stride + offs_d[None, :])
        s = tl.dot(q, k)
        s = tl.where(MASK, s, float("-inf"))
        acc += tl.dot(tl.exp(s), v)
    tl.store(Out + offs_m[:, None] * stride + offs_d[None, :], acc)
)py",
                             {{"MASK", mask}, {"ACCUMULATOR", accumulator}});
}

std::string Cuda(string_view value) {
  return absl::StrReplaceAll(R"c(
__global__ void kernel(const float* __restrict__ x, const float* __restrict__ y, float* out, int n,
                       float eps) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    float a = x[i];
    float b = y[i];
    out[i] = VALUE;
  }
}
)c",
                             {{"VALUE", value}});
}

std::string CudaSum(string_view type, string_view step) {
  return absl::StrReplaceAll(R"c(
__global__ void kernel(const float* x, float* out, int n) {
  __shared__ TYPE tile[256];
  TYPE sum = 0;
  for (int i = threadIdx.x; i < n; i += blockDim.x) {
    STEP
  }
  tile[threadIdx.x] = sum;
  __syncthreads();
  for (int s = blockDim.x / 2; s > 0; s >>= 1) {
    if (threadIdx.x < s) tile[threadIdx.x] += tile[threadIdx.x + s];
    __syncthreads();
  }
  if (threadIdx.x == 0) out[blockIdx.x] = tile[0];
}
)c",
                             {{"TYPE", type}, {"STEP", step}});
}

TEST(ComputationTest, OperatorsTellKernelsApart) {
  const std::vector<std::string> values = {"x",
                                           "x + y",
                                           "x - y",
                                           "y - x",
                                           "x * y",
                                           "x / y",
                                           "y / x",
                                           "x + x",
                                           "x * x",
                                           "x + 1",
                                           "x + 2",
                                           "x * 10",
                                           "x * 2 + y",
                                           "x + x * y",
                                           "(x + y) / 2",
                                           "tl.maximum(x, y)",
                                           "tl.minimum(x, y)",
                                           "tl.exp(x)",
                                           "tl.exp2(x)",
                                           "-x",
                                           "x // y",
                                           "x % y",
                                           "x & y",
                                           "x | y",
                                           "tl.where(x < y, x, y)",
                                           "tl.where(x <= y, x, y)",
                                           "tl.where(x > y, x, y)",
                                           "tl.where(x < y, y, x)",
                                           "tl.where(x < 0, x, y)",
                                           "x * alpha",
                                           "x - alpha",
                                           "alpha - x",
                                           "1 / tl.sqrt(x + eps)",
                                           "1 / (tl.sqrt(x) + eps)",
                                           "x * tl.sigmoid(y)",
                                           "tl.sigmoid(x) * y",
                                           "x.to(tl.float16) * y"};
  for (size_t i = 0; i < values.size(); ++i) {
    ASSERT_FALSE(OfPython(Elementwise(values[i])).empty()) << values[i];
    for (size_t j = 0; j < i; ++j) {
      EXPECT_NE(OfPython(Elementwise(values[i])), OfPython(Elementwise(values[j])))
          << values[i] << " and " << values[j];
    }
  }
}

TEST(ComputationTest, ReductionsAndTheirAxesTellKernelsApart) {
  const std::vector<std::string> values = {
      "tl.sum(x, axis=0)",     "tl.sum(x, axis=1)",    "tl.max(x, axis=0)",   "tl.min(x, axis=0)",
      "tl.sum(x, axis=0) / n", "tl.argmax(x, axis=0)", "tl.cumsum(x, axis=0)"};
  for (size_t i = 0; i < values.size(); ++i) {
    for (size_t j = 0; j < i; ++j) {
      EXPECT_NE(OfPython(Row(values[i])), OfPython(Row(values[j])))
          << values[i] << " and " << values[j];
    }
  }
}

TEST(ComputationTest, DirectionOfACausalMaskCounts) {
  const std::string causal = Attention("offs_m[:, None] >= (begin + offs_n)[None, :]");
  EXPECT_NE(OfPython(causal), OfPython(Attention("offs_m[:, None] <= (begin + offs_n)[None, :]")));
  EXPECT_NE(OfPython(causal), OfPython(Attention("offs_m[:, None] > (begin + offs_n)[None, :]")));
  EXPECT_EQ(OfPython(causal), OfPython(Attention("(begin + offs_n)[None, :] <= offs_m[:, None]")));
}

TEST(ComputationTest, TypeOfAnAccumulatorCounts) {
  const string_view mask = "offs_m[:, None] >= (begin + offs_n)[None, :]";
  EXPECT_NE(OfPython(Attention(mask)), OfPython(Attention(mask, "tl.float16")));
  EXPECT_NE(OfCuda(CudaSum("float", "sum += x[i];")), OfCuda(CudaSum("double", "sum += x[i];")));
}

TEST(ComputationTest, CudaOperatorsTellKernelsApart) {
  const std::vector<std::string> values = {"a",
                                           "a + b",
                                           "a - b",
                                           "b - a",
                                           "a * b",
                                           "a / b",
                                           "b / a",
                                           "a + 1.0f",
                                           "a + 2.0f",
                                           "fmaxf(a, b)",
                                           "fminf(a, b)",
                                           "expf(a)",
                                           "exp2f(a)",
                                           "a > b ? a : b",
                                           "a >= b ? a : b",
                                           "a < b ? a : b",
                                           "a > 0.f ? a : 0.f",
                                           "rsqrtf(a + eps)",
                                           "1.0f / (sqrtf(a) + eps)",
                                           "(int)a * b",
                                           "-a",
                                           "a * a",
                                           "a + a"};
  for (size_t i = 0; i < values.size(); ++i) {
    ASSERT_FALSE(OfCuda(Cuda(values[i])).empty()) << values[i];
    for (size_t j = 0; j < i; ++j) {
      EXPECT_NE(OfCuda(Cuda(values[i])), OfCuda(Cuda(values[j])))
          << values[i] << " and " << values[j];
    }
  }
}

TEST(ComputationTest, CudaReductionsTellKernelsApart) {
  const std::vector<std::string> steps = {"sum += x[i];",
                                          "sum -= x[i];",
                                          "sum += x[i] * x[i];",
                                          "sum = fmaxf(sum, x[i]);",
                                          "sum = fminf(sum, x[i]);",
                                          "if (x[i] > 0) sum += x[i];",
                                          "if (x[i] < 0) sum += x[i];"};
  for (size_t i = 0; i < steps.size(); ++i) {
    for (size_t j = 0; j < i; ++j) {
      EXPECT_NE(OfCuda(CudaSum("float", steps[i])), OfCuda(CudaSum("float", steps[j])))
          << steps[i] << " and " << steps[j];
    }
  }
}

TEST(ComputationTest, DirectionOfACausalLoopCounts) {
  const auto scan = [](string_view loop) {
    return absl::StrReplaceAll(R"c(
__global__ void kernel(const float* x, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float sum = 0;
  for (LOOP) sum += x[j];
  out[i] = sum;
}
)c",
                               {{"LOOP", loop}});
  };
  EXPECT_NE(OfCuda(scan("int j = 0; j <= i; ++j")), OfCuda(scan("int j = n - 1; j >= i; --j")));
  EXPECT_NE(OfCuda(scan("int j = 0; j <= i; ++j")), OfCuda(scan("int j = 0; j < i; ++j")));
  EXPECT_EQ(OfCuda(scan("int j = 0; j < n; ++j")), OfCuda(scan("int j = 0; j != n; j += 1")));
  const auto rows = [](string_view range) {
    return absl::StrCat(
        "@triton.jit\ndef kernel(x, o, n, B: tl.constexpr):\n"
        "    i = tl.program_id(0)\n    s = 0.0\n    for j in range(",
        range, "):\n        s += tl.load(x + j)\n    tl.store(o + i, s)\n");
  };
  EXPECT_NE(OfPython(rows("0, i + 1")), OfPython(rows("i, n")));
  EXPECT_EQ(OfPython(rows("0, n")), OfPython(rows("0, n, B")));
}

TEST(ComputationTest, PositionsThatAreStoredAreData) {
  EXPECT_NE(OfPython(Elementwise("offs + 1")), OfPython(Elementwise("offs + 2")));
  EXPECT_NE(OfPython(Elementwise("x * (offs + 1)")), OfPython(Elementwise("x * (offs + 2)")));
  EXPECT_NE(OfCuda(Cuda("i * 2")), OfCuda(Cuda("i * 3")));
}

TEST(ComputationTest, TypesOfVariablesCount) {
  const auto sum = [](string_view type, string_view value) {
    return absl::StrCat("__global__ void kernel(const float* x, float* y) {", type, " a", value,
                        "; a = a + x[1]; y[0] = a; }");
  };
  EXPECT_NE(OfCuda(sum("double", " = x[0]")), OfCuda(sum("float", " = x[0]")));
  EXPECT_NE(OfCuda(sum("half", " = 0")), OfCuda(sum("float", " = 0")));
  EXPECT_EQ(OfCuda(sum("float", " = x[0]")), OfCuda(sum("const float", " = x[0]")));
  const string_view array =
      "__global__ void kernel(const float* x, float* y) { TYPE a[2];"
      " a[0] = 0; a[0] += x[1]; y[0] = a[0]; }";
  EXPECT_NE(OfCuda(absl::StrReplaceAll(array, {{"TYPE", "float"}})),
            OfCuda(absl::StrReplaceAll(array, {{"TYPE", "double"}})));
}

// A scan that keeps its state in an array; `step` updates s, which names an element of it.
std::string CudaScan(string_view step) {
  return absl::StrReplaceAll(R"c(
__global__ void kernel(const float* k, const float* w, float* out, int n) {
  float state[4] = {0};
  for (int t = 0; t < n; ++t) {
    for (int j = 0; j < 4; ++j) {
      STEP
    }
    out[t] = state[0];
  }
}
)c",
                             {{"STEP", step}});
}

TEST(ComputationTest, ChangesThroughAReferenceCount) {
  const auto decay = [](string_view factor) {
    return CudaScan(absl::StrCat("float& s = state[j]; s = s * ", factor, " + k[t];"));
  };
  const auto decay_in_fours = [](string_view factor) {
    return CudaScan(
        absl::StrCat("float4& s = (float4&)(state[j]); s.x = s.x * ", factor, " + k[t];"));
  };
  ASSERT_FALSE(OfCuda(decay("w[t]")).empty());
  EXPECT_NE(OfCuda(decay("w[t]")), OfCuda(decay("expf(w[t])")));
  EXPECT_NE(OfCuda(decay_in_fours("w[t]")), OfCuda(decay_in_fours("expf(w[t])")));
  EXPECT_EQ(OfCuda(decay("w[t]")), OfCuda(CudaScan("state[j] = state[j] * w[t] + k[t];")));
  const auto store = [](string_view value) {
    return absl::StrCat("__global__ void kernel(const float* x, float* y) { float& out = y[0];",
                        " out = x[0]", value, "; }");
  };
  EXPECT_EQ(OfCuda(store(" * 2")),
            OfCuda("__global__ void kernel(const float* x, float* y) { y[0] = x[0] * 2; }"));
  EXPECT_NE(OfCuda(store(" * 2")), OfCuda(store(" * 3")));
}

TEST(ComputationTest, ADeclarationHidesAReference) {
  const auto last = [](string_view type) {
    return absl::StrCat("__global__ void kernel(const float* x, float* y) { float sum = x[0];",
                        " { float& s = sum; s = s * 2; } { ", type,
                        " s = sum; s = x[1]; } y[0] = sum; }");
  };
  EXPECT_EQ(OfCuda(last("float")),
            OfCuda("__global__ void kernel(const float* x, float* y) { y[0] = x[0] * 2; }"));
  EXPECT_NE(OfCuda(last("float")), OfCuda(last("float&")));
}

TEST(ComputationTest, ChangesThroughThePointerToAVariableCount) {
  const auto add = [](string_view pointer, string_view op) {
    return absl::StrReplaceAll(R"c(
__global__ void kernel(const float4* x, const float* y, float4* out) {
  float4 value = x[threadIdx.x];
  float* part = POINTER;
  for (int i = 0; i < 4; ++i) part[i] = part[i] OP y[i];
  out[threadIdx.x] = value;
}
)c",
                               {{"POINTER", pointer}, {"OP", op}});
  };
  const string_view cast = "(float*)(&value)";
  ASSERT_FALSE(OfCuda(add(cast, "+")).empty());
  EXPECT_NE(OfCuda(add(cast, "+")), OfCuda(add(cast, "*")));
  EXPECT_EQ(OfCuda(add(cast, "+")), OfCuda(add("reinterpret_cast<float*>(&value)", "+")));
}

TEST(ComputationTest, CachedLoadsAreLoads) {
  EXPECT_EQ(OfCuda(Cuda("__ldg(&x[i]) * b")), OfCuda(Cuda("a * b")));
  EXPECT_EQ(OfCuda(Cuda("__ldcs(&x[i]) * b")), OfCuda(Cuda("a * b")));
  const auto guarded = [](string_view condition) {
    return absl::StrCat("__global__ void kernel(const float* x, const int* m, float* y) {",
                        " int i = threadIdx.x; if (", condition, ") y[i] = x[i]; }");
  };
  EXPECT_NE(OfCuda(guarded("__ldg(&m[i]) > 0")), OfCuda(guarded("__ldg(&m[i]) < 0")));
  EXPECT_EQ(OfCuda(guarded("__ldg(&m[i]) > 0")), OfCuda(guarded("m[i] > 0")));
}

TEST(ComputationTest, ConversionsByACallAreCasts) {
  EXPECT_EQ(OfCuda(Cuda("__half2float(x[i]) * b")), OfCuda(Cuda("a * b")));
  EXPECT_EQ(OfCuda(Cuda("__bfloat162float(__ldg(&x[i])) * b")), OfCuda(Cuda("a * b")));
  EXPECT_EQ(OfCuda(Cuda("__float2half(a * b)")), OfCuda(Cuda("a * b")));
  EXPECT_EQ(OfCuda(Cuda("__float2half_rn(a) * b")), OfCuda(Cuda("(half)a * b")));
  EXPECT_NE(OfCuda(Cuda("__float2half(a) * b")), OfCuda(Cuda("a * b")));
  EXPECT_NE(OfCuda(Cuda("__half2float(a * b) + a")), OfCuda(Cuda("a * b + a")));
}

TEST(ComputationTest, TwoPartsOfOneTensorAreToldApart) {
  EXPECT_NE(OfPython(Elementwise("tl.load(x_ptr + offs) - tl.load(x_ptr + offs + n)")),
            OfPython(Elementwise("tl.load(x_ptr + offs + n) - tl.load(x_ptr + offs)")));
}

TEST(ComputationTest, NamesOrderAndCommentsDoNotCount) {
  EXPECT_EQ(OfPython(Elementwise("x - y * alpha")), OfPython(R"py(
@triton.autotune(configs=[triton.Config({"SIZE": 128})], key=["count"])
@triton.jit
def subtract(a, b, result, count, unused, scale, SIZE: tl.constexpr = 64):
    """Subtracts."""
    where = tl.program_id(axis=0) * SIZE
    at = where + tl.arange(0, SIZE)  # the elements
    second = tl.load(b + at, mask=at < count, other=0.0)
    first = tl.load(a + at, at < count)
    product = scale * second
    difference = first - product
    tl.store(result + at, difference.to(result.dtype.element_ty), mask=at < count)
)py"));
}

TEST(ComputationTest, CommutativeOperandsAreOne) {
  EXPECT_EQ(OfPython(Elementwise("x + y + alpha")), OfPython(Elementwise("alpha + (y + x)")));
  EXPECT_EQ(OfPython(Elementwise("tl.maximum(x, y)")), OfPython(Elementwise("tl.maximum(y, x)")));
  EXPECT_EQ(OfPython(Elementwise("tl.where(x < y, 1.0, 0)")),
            OfPython(Elementwise("tl.where(y > x, 1, 0.0)")));
  EXPECT_EQ(OfCuda(Cuda("a * b + eps")), OfCuda(Cuda("eps + b * a")));
}

TEST(ComputationTest, AddressesAndBoundsDoNotCount) {
  EXPECT_EQ(OfCuda(Cuda("a + b")), OfCuda(R"c(
template <int kThreads>
__global__ void __launch_bounds__(256) kernel(float const* left, float const* right, float* sum,
                                              size_t count, float unused) {
  const size_t step = gridDim.x * blockDim.x;
  for (size_t k = threadIdx.x + blockIdx.x * kThreads; k < count; k += step) {
    sum[k] = left[k] + right[k];
  }
}
)c"));
}

TEST(ComputationTest, AccumulatorOfADotIsASum) {
  const string_view mask = "offs_m[:, None] >= (begin + offs_n)[None, :]";
  const std::string added = Attention(mask);
  const std::string handed = absl::StrReplaceAll(
      added, {{"acc += tl.dot(tl.exp(s), v)", "acc = tl.dot(tl.exp(s), v, acc)"}});
  ASSERT_NE(added, handed);
  EXPECT_EQ(OfPython(added), OfPython(handed));
}

TEST(ComputationTest, MethodsAreFollowed) {
  EXPECT_FALSE(OfPython("    @triton.jit\n    def kernel(x):\n        return x + 1\n").empty());
}

TEST(ComputationTest, TextThatCannotBeFollowedHasNone) {
  EXPECT_TRUE(OfPython("").empty());
  EXPECT_TRUE(OfPython("x = 1\n").empty());
  EXPECT_TRUE(OfPython("def kernel(:\n").empty());
  EXPECT_TRUE(OfCuda("__global__ void other(float* x) { x[0] = 1; }").empty());
  EXPECT_TRUE(OfCuda("__global__ void kernel(float* x) { x[0] = 1;").empty());
}

// Each loop is run twice, so that loops in loops are what costs most.
TEST(ComputationTest, HostileTextEnds) {
  std::string loops = "__global__ void kernel(float* x) { float a = 0;";
  for (int i = 0; i < 100; ++i) absl::StrAppend(&loops, "for (;;) {");
  absl::StrAppend(&loops, "a = a + a;", std::string(100, '}'), " x[0] = a; }");
  EXPECT_TRUE(OfCuda(loops).empty());
  std::string sums = "@triton.jit\ndef kernel(x, o):\n    a = tl.load(x)\n";
  for (int i = 0; i < 1000; ++i) absl::StrAppend(&sums, "    a = a + a * a\n");
  absl::StrAppend(&sums, "    tl.store(o, a)\n");
  EXPECT_FALSE(OfPython(sums).empty());
  OfCuda(
      absl::StrCat("__global__ void kernel(float* x) { x[0] = ", std::string(100000, '('), "; }"));
  OfCuda(absl::StrCat("__global__ void kernel(float* x) { ", std::string(100000, '{'),
                      std::string(100000, '}'), "}"));
  OfCuda("__global__ void kernel(float* x) { float& a = a; a = a + a; x[0] = a; }");
  OfCuda(
      "__global__ void kernel(float* x) {"
      " float& a = b; float& b = a; a = b[a]; b.x = a[b]; f(&a); x[0] = a; }");
  std::string references = "__global__ void kernel(float* x) { float a0 = x[0];";
  for (int i = 1; i < 100; ++i) {
    absl::StrAppend(&references, "float& a", i, " = a", i - 1, "[a", i - 1, "[a", i - 1, "]];");
  }
  OfCuda(absl::StrCat(references, " a99 = a98; x[0] = a99; }"));
}

}  // namespace
}  // namespace kernelmill::deduplicator
