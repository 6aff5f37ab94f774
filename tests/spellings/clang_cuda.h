// What kernels.cu uses, for clang's CUDA without NVIDIA's headers.
#pragma once

#define __global__ __attribute__((global))
#define __device__ __attribute__((device))
#define __shared__ __attribute__((shared))
#define __syncthreads() __nvvm_bar_sync(0)

#define AXES(NAME, REGISTER)                                                                                           \
  struct NAME##_t {                                                                                                    \
    struct X_t {                                                                                                       \
      __device__ operator unsigned() const { return __nvvm_read_ptx_sreg_##REGISTER##_x(); }                           \
    } x;                                                                                                               \
    struct Y_t {                                                                                                       \
      __device__ operator unsigned() const { return __nvvm_read_ptx_sreg_##REGISTER##_y(); }                           \
    } y;                                                                                                               \
  };                                                                                                                   \
  static const __device__ NAME##_t NAME = {}

AXES(threadIdx, tid);
AXES(blockIdx, ctaid);
AXES(blockDim, ntid);
AXES(gridDim, nctaid);
