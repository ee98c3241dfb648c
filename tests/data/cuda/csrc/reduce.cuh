// Reductions of a warp and of a block.
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cuda_runtime.h>

#define DEVICE_INLINE __device__ __forceinline__

namespace ops {

template <typename T>
struct Sum {
  static constexpr T identity = T{0};

  __device__ __forceinline__ Sum(int lane) : lane_(lane), weights_{1, 2} {}

  // Adds { and } up.
  __device__ T operator()(const T& a, const T& b) const { return a + b; }

  int lane_;
  int weights_[2];
};

template <typename T, template <typename> class Reduce, int kWidth = (32 > 16 ? 32 : 16)>
__device__ T warp_reduce(T value) {
  const Reduce<T> reduce(threadIdx.x % kWidth);
#pragma unroll
  for (int offset = kWidth >> 1; offset > 0; offset >>= 1) {
    value = reduce(value, __shfl_xor_sync(0xffff'ffffu, value, offset));
  }
  return value;
}

__device__ float declared_only(float x);

}  // namespace ops
