/* Softmax over rows.
 *
 * A launch that only a comment shows: __global__ void comment() {}
 */
#include "reduce.cuh"

#define CEIL_DIV(a, b) (((a) + (b) - 1) / (b))
#define DISPATCH(type, ...)       \
  switch (type) {                 \
    case kFloat: __VA_ARGS__();   \
  }

namespace ops {
namespace {

constexpr int kThreads = 256;
__device__ float table[] = {1.f, 2.f};
const char* const kHelp = "__global__ void string() { }";

#if defined(USE_ROCM)
__device__ float fast_exp(float x) { return __expf(x); }
#else
__device__ float fast_exp(float x) {
  return exp2f(x * 1.44269504f);
}
#endif

}  // namespace

template <typename T, int kBlock>
__global__ void __launch_bounds__(kBlock, 2)
softmax_rows(const T* __restrict__ in, T* __restrict__ out, const int rows, const int columns) {
  extern __shared__ unsigned char raw[];
  for (int row = blockIdx.x; row < rows; row += gridDim.x) {
    float sum = 0.f;
    for (int i = threadIdx.x; i < columns; i += kBlock) {
      sum += fast_exp(static_cast<float>(in[row * columns + i]));
    }
    sum = warp_reduce<float, Sum>(sum);
    for (int i = threadIdx.x; i < columns; i += kBlock) {
      out[row * columns + i] = T(fast_exp(static_cast<float>(in[row * columns + i])) / sum);
    }
  }
}

extern "C" __global__ void scale_in_place(float* x, float by, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] *= by;
}

void softmax(const Tensor& in, Tensor& out, cudaStream_t stream) {
  DISPATCH(in.dtype(), [&] {
    const dim3 grid(CEIL_DIV(in.rows(), 4));
    softmax_rows<scalar_t, kThreads><<<grid, kThreads, 0, stream>>>(
        in.data<scalar_t>(), out.data<scalar_t>(), in.rows(), in.columns());
  });
  scale_in_place<<<CEIL_DIV(in.size(), kThreads), kThreads, 0, stream>>>(out.data<float>(), 1.f, 1);
}

}  // namespace ops
