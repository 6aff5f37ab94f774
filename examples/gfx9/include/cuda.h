// What the CUDA sources of the examples use, for clang's HIP: they compile for AMD GPUs as they are.
#pragma once

#define __global__ __attribute__((global))
#define __device__ __attribute__((device))
#define __constant__ __attribute__((constant))
#define __shared__ __attribute__((shared))
#define __noinline__ __attribute__((noinline))
#define __launch_bounds__(LANES) __attribute__((launch_bounds(LANES)))
#define INLINE static __device__ inline __attribute__((always_inline))

// As hip_runtime.h has it: a variable whose members are read from registers.
#define AXES(NAME, X, Y, Z)                                                                                            \
  struct NAME##_t {                                                                                                    \
    struct X_t {                                                                                                       \
      __device__ operator unsigned() const { return X; }                                                               \
    } x;                                                                                                               \
    struct Y_t {                                                                                                       \
      __device__ operator unsigned() const { return Y; }                                                               \
    } y;                                                                                                               \
    struct Z_t {                                                                                                       \
      __device__ operator unsigned() const { return Z; }                                                               \
    } z;                                                                                                               \
  };                                                                                                                   \
  static const __device__ NAME##_t NAME = {}

// The launch's blocks come first among the hidden arguments.
#define BLOCK_COUNT(AXIS) ((const unsigned *)__builtin_amdgcn_implicitarg_ptr())[AXIS]
AXES(threadIdx, __builtin_amdgcn_workitem_id_x(), __builtin_amdgcn_workitem_id_y(), __builtin_amdgcn_workitem_id_z());
AXES(blockIdx, __builtin_amdgcn_workgroup_id_x(), __builtin_amdgcn_workgroup_id_y(), __builtin_amdgcn_workgroup_id_z());
AXES(blockDim, __builtin_amdgcn_workgroup_size_x(), __builtin_amdgcn_workgroup_size_y(),
     __builtin_amdgcn_workgroup_size_z());
AXES(gridDim, BLOCK_COUNT(0), BLOCK_COUNT(1), BLOCK_COUNT(2));

INLINE void __syncthreads() {
  __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
  __builtin_amdgcn_s_barrier();
  __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
}
INLINE void __threadfence() { __builtin_amdgcn_fence(__ATOMIC_SEQ_CST, "agent"); }

template <typename T> INLINE T atomicAdd(T *at, T value) {
  return __hip_atomic_fetch_add(at, value, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
}
template <typename T> INLINE T atomicMax(T *at, T value) {
  return __hip_atomic_fetch_max(at, value, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
}
template <typename T> INLINE T atomicCAS(T *at, T expected, T value) {
  __hip_atomic_compare_exchange_strong(at, &expected, value, __ATOMIC_RELAXED, __ATOMIC_RELAXED,
                                       __HIP_MEMORY_SCOPE_AGENT);
  return expected;
}

// Shuffles are among 32 lanes, as the sources count on: half a wave.
INLINE unsigned lane() { return __builtin_amdgcn_mbcnt_hi(~0u, __builtin_amdgcn_mbcnt_lo(~0u, 0u)); }
INLINE int shuffle(int value, unsigned from) {
  return __builtin_amdgcn_ds_bpermute(((from & 63) >> 5 == lane() >> 5 ? from : lane()) << 2, value);
}
INLINE int __shfl_down_sync(unsigned, int value, unsigned by) { return shuffle(value, lane() + by); }
INLINE float __shfl_down_sync(unsigned, float value, unsigned by) {
  return __builtin_bit_cast(float, shuffle(__builtin_bit_cast(int, value), lane() + by));
}
INLINE int __shfl_xor_sync(unsigned, int value, unsigned by) { return shuffle(value, lane() ^ by); }
INLINE float __shfl_xor_sync(unsigned, float value, unsigned by) {
  return __builtin_bit_cast(float, shuffle(__builtin_bit_cast(int, value), lane() ^ by));
}
INLINE unsigned __shfl_up_sync(unsigned, unsigned value, unsigned by) { return shuffle(value, lane() - by); }

INLINE float fmaf(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
INLINE double fma(double a, double b, double c) { return __builtin_fma(a, b, c); }
INLINE float sqrtf(float x) { return __builtin_sqrtf(x); }
INLINE double sqrt(double x) { return __builtin_sqrt(x); }
INLINE float fabsf(float x) { return __builtin_fabsf(x); }
INLINE float expf(float x) { return __builtin_expf(x); }
INLINE float logf(float x) { return __builtin_logf(x); }
INLINE float __expf(float x) { return __builtin_amdgcn_exp2f(x * 1.44269504f); }
INLINE float __logf(float x) { return __builtin_amdgcn_logf(x) * 0.693147181f; }
INLINE float __sinf(float x) { return __builtin_amdgcn_sinf(x * 0.159154943f); }
INLINE float __cosf(float x) { return __builtin_amdgcn_cosf(x * 0.159154943f); }
INLINE float __fdividef(float a, float b) { return a * __builtin_amdgcn_rcpf(b); }
INLINE float rsqrtf(float x) { return __builtin_amdgcn_rsqf(x); }
INLINE int max(int a, int b) { return a > b ? a : b; }
INLINE int min(int a, int b) { return a < b ? a : b; }
INLINE unsigned min(unsigned a, unsigned b) { return a < b ? a : b; }
INLINE float fmaxf(float a, float b) { return __builtin_fmaxf(a, b); }
INLINE unsigned long long __umul64hi(unsigned long long a, unsigned long long b) {
  return (unsigned __int128)a * b >> 64;
}
// The mode says how is rounded: 1 up, 2 down.
#define ROUNDED(NAME, MODE, INSTRUCTION)                                                                               \
  INLINE float NAME(float a, float b) {                                                                                \
    float result;                                                                                                      \
    asm volatile("s_setreg_imm32_b32 hwreg(HW_REG_MODE, 0, 2), " #MODE "\n" INSTRUCTION " %0, %1, %2\n"                \
                 "s_setreg_imm32_b32 hwreg(HW_REG_MODE, 0, 2), 0"                                                      \
                 : "=v"(result)                                                                                        \
                 : "v"(a), "v"(b));                                                                                    \
    return result;                                                                                                     \
  }
ROUNDED(__fadd_ru, 1, "v_add_f32")
ROUNDED(__fadd_rd, 2, "v_add_f32")
ROUNDED(__fmul_ru, 1, "v_mul_f32")
ROUNDED(__fmul_rd, 2, "v_mul_f32")
INLINE float fminf(float a, float b) { return __builtin_fminf(a, b); }
// Nothing is contracted: each is one operation.
INLINE float __fmaf_rn(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
INLINE float __fmul_rn(float a, float b) { return a * b; }
INLINE float __fadd_rn(float a, float b) { return a + b; }
INLINE float __uint2float_rn(unsigned x) { return (float)x; }
INLINE unsigned __float_as_uint(float x) { return __builtin_bit_cast(unsigned, x); }
INLINE unsigned __brev(unsigned x) { return __builtin_bitreverse32(x); }
INLINE int __float2int_rn(float x) { return (int)__builtin_rintf(x); }
INLINE int __float2int_rd(float x) { return (int)__builtin_floorf(x); }
// Saturates, as the conversion instruction does.
INLINE unsigned __float2uint_rn(float x) { return (unsigned)__builtin_fmaxf(__builtin_rintf(x), 0.0f); }
INLINE unsigned __double2uint_rn(double x) { return (unsigned)__builtin_rint(x); }

typedef float float2 __attribute__((ext_vector_type(2)));
typedef float float4 __attribute__((ext_vector_type(4)));
typedef unsigned uint4 __attribute__((ext_vector_type(4)));
INLINE float2 make_float2(float x, float y) { return float2{x, y}; }
INLINE float4 make_float4(float x, float y, float z, float w) { return float4{x, y, z, w}; }
