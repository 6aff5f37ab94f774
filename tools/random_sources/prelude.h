// What random programs (program.py) are made of, for CUDA, for HIP, for OpenCL (as C++) and for the host, so that each operation has one meaning:
// integers wrap, shifts are taken modulo the width, dividing by 0 gives the dividend, conversions to integers saturate, and of a
// NaN only that it is one can be seen.
typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef signed char i8;
typedef short i16;
typedef int i32;
#if defined(__OPENCL_CPP_VERSION__)
typedef unsigned long u64;
typedef long i64;
#else
typedef unsigned long long u64;
typedef long long i64;
#endif
typedef float f32;
typedef double f64;

// ---- Host, HIP, CUDA

#if defined(HOST)
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>
#define INLINE static inline
#define NOINLINE static __attribute__((noinline))
#define CONSTANT static const
#elif defined(__HIP__)
#define __global__ __attribute__((global))
#define __device__ __attribute__((device))
#define __shared__ __attribute__((shared))
#define INLINE static __device__ inline __attribute__((always_inline))
#define NOINLINE static __device__ __attribute__((noinline))
#define CONSTANT static __attribute__((constant)) const
#elif defined(__OPENCL_CPP_VERSION__)
#pragma OPENCL EXTENSION cl_khr_fp16 : enable
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#pragma OPENCL EXTENSION __cl_clang_function_pointers : enable
#pragma OPENCL EXTENSION cl_khr_int64_base_atomics : enable
#pragma OPENCL EXTENSION cl_khr_int64_extended_atomics : enable
#define __shared__ __local
// Programs have a field of this name.
#define global global_number
#define INLINE static inline __attribute__((always_inline))
#define NOINLINE static __attribute__((noinline))
#define CONSTANT __constant const
#else
#include <cuda_fp16.h>
#define INLINE static __device__ __forceinline__
#define NOINLINE static __device__ __noinline__
#define CONSTANT static __constant__ const
#endif

#if defined(HOST) || defined(__HIP__)
typedef _Float16 f16;
#define FLOAT_OF(T, WORD, ABS, FMA, SQRT, FLOOR, CEIL, TRUNC, RINT)                                                \
  INLINE WORD word(T x) { return __builtin_bit_cast(WORD, x); }                                                              \
  INLINE T add(T a, T b) { return a + b; }                                                                                   \
  INLINE T sub(T a, T b) { return a - b; }                                                                                   \
  INLINE T mul(T a, T b) { return a * b; }                                                                                   \
  INLINE T neg(T a) { return -a; }                                                                                           \
  INLINE T absolute(T a) { return ABS; }                                                                                     \
  INLINE T fused(T a, T b, T c) { return FMA; }                                                                              \
  INLINE T root(T a) { return SQRT; }                                                                                        \
  INLINE T down(T a) { return FLOOR; }                                                                                       \
  INLINE T up(T a) { return CEIL; }                                                                                          \
  INLINE T toward_zero(T a) { return TRUNC; }                                                                                \
  INLINE T nearest(T a) { return RINT; }
FLOAT_OF(f32, u32, __builtin_fabsf(a), __builtin_fmaf(a, b, c), __builtin_sqrtf(a), __builtin_floorf(a),
         __builtin_ceilf(a), __builtin_truncf(a), __builtin_rintf(a))
FLOAT_OF(f64, u64, __builtin_fabs(a), __builtin_fma(a, b, c), __builtin_sqrt(a), __builtin_floor(a),
         __builtin_ceil(a), __builtin_trunc(a), __builtin_rint(a))
// A half's product is exact in f32, and its square root and quotient are right when they are rounded twice; its fused form is not.
FLOAT_OF(f16, u16, (f16)__builtin_fabsf((f32)a), (f16)((f16)(a * b) + c), (f16)__builtin_sqrtf((f32)a), (f16)__builtin_floorf((f32)a),
         (f16)__builtin_ceilf((f32)a), (f16)__builtin_truncf((f32)a), (f16)__builtin_rintf((f32)a))
INLINE f32 raw_float(u32 x) { return __builtin_bit_cast(f32, x); }
INLINE f64 raw_float(u64 x) { return __builtin_bit_cast(f64, x); }
INLINE f16 raw_float(u16 x) { return __builtin_bit_cast(f16, x); }
INLINE f32 quotient(f32 a, f32 b) { return a / b; }
INLINE f64 quotient(f64 a, f64 b) { return a / b; }
INLINE u32 count_ones(u32 x) { return __builtin_popcount(x); }
INLINE u32 count_ones(u64 x) { return __builtin_popcountll(x); }
INLINE u32 leading_zeros(u32 x) { return x ? __builtin_clz(x) : 32; }
INLINE u32 leading_zeros(u64 x) { return x ? __builtin_clzll(x) : 64; }
INLINE u32 first_one(u32 x) { return __builtin_ffs(x); }
INLINE u32 first_one(u64 x) { return __builtin_ffsll(x); }
INLINE u32 reversed(u32 x) { return __builtin_bitreverse32(x); }
INLINE u64 reversed(u64 x) { return __builtin_bitreverse64(x); }
INLINE u64 mul_high(u64 a, u64 b) { return (u64)((unsigned __int128)a * b >> 64); }
INLINE i64 mul_high(i64 a, i64 b) { return (i64)((__int128)a * b >> 64); }
INLINE f32 to_f32(f16 x) { return (f32)x; }
INLINE f64 to_f64(f16 x) { return (f64)x; }
INLINE f16 to_f16(f32 x) { return (f16)x; }
#elif defined(__OPENCL_CPP_VERSION__)
typedef half f16;
// IGC 1.0.12504 loses the sign of a zero that it rounds a double to.
#define FLOAT_OF(T, WORD, BITS, FROM, FMA, SQRT)                                                                             \
  INLINE WORD word(T x) { return BITS(x); }                                                                                  \
  INLINE T raw_float(WORD x) { return FROM(x); }                                                                             \
  INLINE T add(T a, T b) { return a + b; }                                                                                   \
  INLINE T sub(T a, T b) { return a - b; }                                                                                   \
  INLINE T mul(T a, T b) { return a * b; }                                                                                   \
  INLINE T neg(T a) { return -a; }                                                                                           \
  INLINE T absolute(T a) { return fabs(a); }                                                                                 \
  INLINE T fused(T a, T b, T c) { return FMA; }                                                                              \
  INLINE T root(T a) { return SQRT; }                                                                                        \
  INLINE T down(T a) { return copysign(floor(a), a); }                                                                       \
  INLINE T up(T a) { return copysign(ceil(a), a); }                                                                          \
  INLINE T toward_zero(T a) { return copysign(trunc(a), a); }                                                                \
  INLINE T nearest(T a) { return copysign(rint(a), a); }
FLOAT_OF(f32, u32, as_uint, as_float, fma(a, b, c), sqrt(a))
FLOAT_OF(f64, u64, as_ulong, as_double, fma(a, b, c), sqrt(a))
FLOAT_OF(f16, u16, as_ushort, as_half, (f16)((f16)(a * b) + c), (f16)sqrt((f32)a))
INLINE f32 quotient(f32 a, f32 b) { return a / b; }
INLINE f64 quotient(f64 a, f64 b) { return a / b; }
INLINE u32 count_ones(u32 x) { return popcount(x); }
INLINE u32 count_ones(u64 x) { return (u32)popcount(x); }
INLINE u32 leading_zeros(u32 x) { return clz(x); }
INLINE u32 leading_zeros(u64 x) { return (u32)clz(x); }
INLINE u32 first_one(u32 x) { return x ? ctz(x) + 1u : 0u; }
INLINE u32 first_one(u64 x) { return x ? (u32)ctz(x) + 1u : 0u; }
INLINE u32 reversed(u32 x) {
  x = (x >> 1 & 0x55555555u) | (x & 0x55555555u) << 1;
  x = (x >> 2 & 0x33333333u) | (x & 0x33333333u) << 2;
  x = (x >> 4 & 0x0f0f0f0fu) | (x & 0x0f0f0f0fu) << 4;
  x = (x >> 8 & 0x00ff00ffu) | (x & 0x00ff00ffu) << 8;
  return x >> 16 | x << 16;
}
INLINE u64 reversed(u64 x) { return (u64)reversed((u32)x) << 32 | reversed((u32)(x >> 32)); }
INLINE u64 mul_high(u64 a, u64 b) { return mul_hi(a, b); }
INLINE i64 mul_high(i64 a, i64 b) { return mul_hi(a, b); }
INLINE f32 to_f32(f16 x) { return (f32)x; }
INLINE f64 to_f64(f16 x) { return (f64)x; }
INLINE f16 to_f16(f32 x) { return (f16)x; }
#else
typedef __half f16;
#define FLOAT_OF(T, WORD, BITS, FROM, ADD, SUB, MUL, NEG, ABS, FMA, SQRT, FLOOR, CEIL, TRUNC, RINT)                          \
  INLINE WORD word(T x) { return BITS(x); }                                                                                  \
  INLINE T raw_float(WORD x) { return FROM(x); }                                                                             \
  INLINE T add(T a, T b) { return ADD; }                                                                                     \
  INLINE T sub(T a, T b) { return SUB; }                                                                                     \
  INLINE T mul(T a, T b) { return MUL; }                                                                                     \
  INLINE T neg(T a) { return NEG; }                                                                                          \
  INLINE T absolute(T a) { return ABS(a); }                                                                                  \
  INLINE T fused(T a, T b, T c) { return FMA; }                                                                              \
  INLINE T root(T a) { return SQRT(a); }                                                                                     \
  INLINE T down(T a) { return FLOOR(a); }                                                                                    \
  INLINE T up(T a) { return CEIL(a); }                                                                                       \
  INLINE T toward_zero(T a) { return TRUNC(a); }                                                                             \
  INLINE T nearest(T a) { return RINT(a); }
FLOAT_OF(f32, u32, __float_as_uint, __uint_as_float, a + b, a - b, a * b, -a, fabsf, fmaf(a, b, c), sqrtf, floorf, ceilf, truncf, rintf)
FLOAT_OF(f64, u64, __double_as_longlong, __longlong_as_double, a + b, a - b, a * b, -a, fabs, fma(a, b, c), sqrt, floor, ceil, trunc, rint)
INLINE f16 half_root(f16 a) { return __float2half_rn(sqrtf(__half2float(a))); }
FLOAT_OF(f16, u16, __half_as_ushort, __ushort_as_half, __hadd_rn(a, b), __hsub_rn(a, b), __hmul_rn(a, b), __hneg(a), __habs,
         __hadd_rn(__hmul_rn(a, b), c), half_root, hfloor, hceil, htrunc, hrint)
INLINE f32 quotient(f32 a, f32 b) { return a / b; }
INLINE f64 quotient(f64 a, f64 b) { return a / b; }
INLINE u32 count_ones(u32 x) { return __popc(x); }
INLINE u32 count_ones(u64 x) { return __popcll(x); }
INLINE u32 leading_zeros(u32 x) { return __clz(x); }
INLINE u32 leading_zeros(u64 x) { return __clzll(x); }
INLINE u32 first_one(u32 x) { return __ffs(x); }
INLINE u32 first_one(u64 x) { return __ffsll(x); }
INLINE u32 reversed(u32 x) { return __brev(x); }
INLINE u64 reversed(u64 x) { return __brevll(x); }
INLINE u64 mul_high(u64 a, u64 b) { return __umul64hi(a, b); }
INLINE i64 mul_high(i64 a, i64 b) { return __mul64hi(a, b); }
INLINE f32 to_f32(f16 x) { return __half2float(x); }
INLINE f64 to_f64(f16 x) { return __half2float(x); }
INLINE f16 to_f16(f32 x) { return __float2half_rn(x); }
#endif

// Atomics, barriers, and what 32 lanes tell each other, who all take part.
#if defined(HOST)
// One lane after the other: what lanes do to a word must not depend on their order.
#define ATOMIC(NAME, NEW)                                                                                                    \
  template <class T> INLINE T atomic_##NAME(T *at, T b) {                                                                    \
    T a = *at;                                                                                                               \
    *at = (T)(NEW);                                                                                                          \
    return a;                                                                                                                \
  }
ATOMIC(add, a + b) ATOMIC(max, a > b ? a : b) ATOMIC(min, a < b ? a : b)
ATOMIC(and, a & b) ATOMIC(or, a | b) ATOMIC(xor, a ^ b) ATOMIC(exchange, b)
template <class T> INLINE T atomic_swap_if(T *at, T expected, T b) {
  T a = *at;
  if (a == expected)
    *at = b;
  return a;
}
#elif defined(__HIP__)
#define ATOMIC(NAME, OP)                                                                                                     \
  template <class T> INLINE T atomic_##NAME(T *at, T b) { return __hip_atomic_##OP(at, b, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT); }
ATOMIC(add, fetch_add) ATOMIC(max, fetch_max) ATOMIC(min, fetch_min)
ATOMIC(and, fetch_and) ATOMIC(or, fetch_or) ATOMIC(xor, fetch_xor) ATOMIC(exchange, exchange)
template <class T> INLINE T atomic_swap_if(T *at, T expected, T b) {
  __hip_atomic_compare_exchange_strong(at, &expected, b, __ATOMIC_RELAXED, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
  return expected;
}
INLINE void barrier() {
  __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
  __builtin_amdgcn_s_barrier();
  __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
}
#define THREAD(AXIS) __builtin_amdgcn_workitem_id_##AXIS()
#define BLOCK(AXIS) __builtin_amdgcn_workgroup_id_##AXIS()
INLINE u32 lane() { return __builtin_amdgcn_mbcnt_hi(~0u, __builtin_amdgcn_mbcnt_lo(~0u, 0u)); }
INLINE u32 from_lane(u32 value, u32 from) { return __builtin_amdgcn_ds_bpermute((lane() & 32u | from & 31u) << 2, value); }
INLINE u32 votes(bool vote) { return (u32)(__builtin_amdgcn_ballot_w64(vote) >> (lane() & 32u)); }
#elif defined(__OPENCL_CPP_VERSION__)
#define ATOMIC(T, OF, NAME, OP)                                                                                              \
  INLINE T atomic_##NAME(T *at, T b) {                                                                                       \
    return atomic_##OP##_explicit((volatile OF *)at, b, memory_order_relaxed, memory_scope_device);                         \
  }
#define ATOMICS(T, OF)                                                                                                       \
  ATOMIC(T, OF, add, fetch_add) ATOMIC(T, OF, max, fetch_max) ATOMIC(T, OF, min, fetch_min) ATOMIC(T, OF, and, fetch_and)     \
  ATOMIC(T, OF, or, fetch_or) ATOMIC(T, OF, xor, fetch_xor) ATOMIC(T, OF, exchange, exchange)                               \
  INLINE T atomic_swap_if(T *at, T expected, T b) {                                                                          \
    atomic_compare_exchange_strong_explicit((volatile OF *)at, &expected, b, memory_order_relaxed, memory_order_relaxed,     \
                                            memory_scope_device);                                                           \
    return expected;                                                                                                         \
  }
ATOMICS(u32, atomic_uint)
ATOMICS(i32, atomic_int)
ATOMICS(u64, atomic_ulong)
INLINE void barrier() { work_group_barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE); }
#define AXIS_x 0
#define AXIS_y 1
#define AXIS_z 2
#define THREAD(AXIS) ((u32)get_local_id(AXIS_##AXIS))
#define BLOCK(AXIS) ((u32)get_group_id(AXIS_##AXIS))
// A thread has 8, 16 or 32 lanes, as the compiler likes: lanes tell each other through local memory.
INLINE u32 given(u32 *words, u32 value, u32 from) {
  const u32 number = (u32)get_local_linear_id();
  barrier();
  words[number] = value;
  barrier();
  return words[(number & ~31u) | (from & 31u)];
}
INLINE u32 votes_of(u32 *words, bool vote) {
  u32 votes = 0;
  for (u32 from = 0; from < 32u; from++)
    votes |= given(words, (u32)vote, from) << from;
  return votes;
}
#define from_lane(VALUE, FROM) given(exchanged, VALUE, FROM)
#define votes(VOTE) votes_of(exchanged, VOTE)
#else
#define ATOMIC(NAME, OP)                                                                                                     \
  template <class T> INLINE T atomic_##NAME(T *at, T b) { return OP(at, b); }
ATOMIC(add, atomicAdd) ATOMIC(max, atomicMax) ATOMIC(min, atomicMin)
ATOMIC(and, atomicAnd) ATOMIC(or, atomicOr) ATOMIC(xor, atomicXor) ATOMIC(exchange, atomicExch)
template <class T> INLINE T atomic_swap_if(T *at, T expected, T b) { return atomicCAS(at, expected, b); }
INLINE void barrier() { __syncthreads(); }
#define THREAD(AXIS) threadIdx.AXIS
#define BLOCK(AXIS) blockIdx.AXIS
INLINE u32 from_lane(u32 value, u32 from) { return __shfl_sync(~0u, value, from & 31u); }
INLINE u32 votes(bool vote) { return __ballot_sync(~0u, vote); }
#endif

// The kernel itself: what it is, its name (`kernel` is a word of OpenCL's), where its arguments point to, and what 32 lanes need to tell each other.
#if defined(__OPENCL_CPP_VERSION__)
#define KERNEL(NAME) __kernel void random_##NAME
#define GLOBAL __global
#define EXCHANGED(LANES) __local u32 exchanged[LANES];
#else
#define KERNEL(NAME) extern "C" __global__ void NAME
#define GLOBAL
#define EXCHANGED(LANES)
#endif

#if defined(HOST)
#define UNROLL(N)
#else
#define PRAGMA(TEXT) _Pragma(#TEXT)
#define UNROLL(N) PRAGMA(unroll N)
#endif

// ---- For all

struct __attribute__((aligned(16))) Words {
  u32 x, y, z, w;
};

// clang 19 takes the quotient of a u64 that was extended by its sign for one of 32 bits, if it sees that.
template <class T> INLINE T hidden(T x) { return x; }
#if defined(__HIP__)
INLINE u64 hidden(u64 x) {
  asm("" : "+v"(x));
  return x;
}
#endif

// T wraps as W does.
#define INTEGER(T, W)                                                                                                        \
  INLINE T add(T a, T b) { return (T)((W)a + (W)b); }                                                                        \
  INLINE T sub(T a, T b) { return (T)((W)a - (W)b); }                                                                        \
  INLINE T mul(T a, T b) { return (T)((W)a * (W)b); }                                                                        \
  INLINE T bit_and(T a, T b) { return (T)(a & b); }                                                                          \
  INLINE T bit_or(T a, T b) { return (T)(a | b); }                                                                           \
  INLINE T bit_xor(T a, T b) { return (T)(a ^ b); }                                                                          \
  INLINE T bit_clear(T a, T b) { return (T)(a & ~b); }                                                                       \
  INLINE T left(T a, T b) { return (T)((W)a << (b & (8 * sizeof(T) - 1))); }                                                 \
  INLINE T right(T a, T b) { return (T)(a >> (b & (8 * sizeof(T) - 1))); }                                                   \
  INLINE bool is_minus_one(T a) { return (T)-1 < (T)0 && a == (T)-1; }                                                       \
  INLINE T quotient(T a, T b) { return b == 0 ? a : is_minus_one(b) ? (T)(0 - (W)a) : (T)(hidden(a) / b); }                          \
  INLINE T remainder_of(T a, T b) { return b == 0 ? a : is_minus_one(b) ? (T)0 : (T)(hidden(a) % b); }                               \
  INLINE T least(T a, T b) { return a < b ? a : b; }                                                                         \
  INLINE T greatest(T a, T b) { return a > b ? a : b; }                                                                      \
  INLINE T neg(T a) { return (T)(0 - (W)a); }                                                                                \
  INLINE T complement(T a) { return (T)~a; }                                                                                 \
  INLINE T absolute(T a) { return a < (T)0 ? neg(a) : a; }                                                                   \
  INLINE T distance(T a, T b) { return a < b ? sub(b, a) : sub(a, b); }                                                      \
  INLINE T mul_add(T a, T b, T c) { return (T)((W)a * (W)b + (W)c); }                                                        \
  INLINE T field(T a, T at, T count) {                                                                                       \
    return (T)(((W)a >> (at & (8 * sizeof(T) - 1))) & (((W)1 << (count & (8 * sizeof(T) - 1))) - 1));                        \
  }                                                                                                                          \
  INLINE T merge(T mask, T a, T b) { return (T)((mask & a) | (~mask & b)); }
INTEGER(u8, u32)
INTEGER(i8, u32)
INTEGER(u16, u32)
INTEGER(i16, u32)
INTEGER(u32, u32)
INTEGER(i32, u32)
INTEGER(u64, u64)
INTEGER(i64, u64)

#define ROTATED(T)                                                                                                           \
  INLINE T rotated(T a, T b) {                                                                                               \
    u32 by = (u32)b & (8 * sizeof(T) - 1);                                                                                   \
    return (T)(a << by | a >> (-by & (8 * sizeof(T) - 1)));                                                                  \
  }
ROTATED(u8)
ROTATED(u16)
ROTATED(u32)
ROTATED(u64)

INLINE u32 mul_high(u32 a, u32 b) { return (u32)((u64)a * b >> 32); }
INLINE i32 mul_high(i32 a, i32 b) { return (i32)((i64)a * b >> 32); }
INLINE u32 funnel(u32 high, u32 low, u32 by) { return (u32)((((u64)high << 32) | low) >> (by & 31)); }
INLINE i32 sum_of_difference(i32 a, i32 b, i32 c) { return add(distance(a, b), c); }
INLINE i32 half_product(i32 a, i32 b, i32 c) { return (i32)((u32)((i16)a * (i16)b) + (u32)c); }
INLINE i32 byte_product(i32 a, i32 b, i32 c) { return (i32)((u32)((u8)a * (u8)(b >> 8)) + (u32)c); }
INLINE i32 sign_extended(i32 a, i32 bits) { return (i32)((u32)a << (bits & 31)) >> (bits & 31); }
INLINE u32 saturating(u32 a, u32 b) { return a + b < a ? ~0u : a + b; }
INLINE u32 bytes_of(u32 a, u32 b, u32 which) {
  u64 all = (u64)b << 32 | a;
  u32 result = 0;
  for (u32 i = 0; i < 4; i++)
    result |= (u32)(all >> 8 * (which >> 4 * i & 7) & 255) << 8 * i;
  return result;
}

#define FLOAT(T, WORD, NAN_WORD)                                                                                             \
  INLINE bool is_nan(T a) { return a != a; }                                                                                 \
  INLINE WORD bits(T a) { return is_nan(a) ? (WORD)NAN_WORD : word(a); }                                                     \
  INLINE T seen(T a) { return raw_float(bits(a)); }                                                                          \
  INLINE T from_bits(WORD a) { return seen(raw_float(a)); }                                                                  \
  INLINE T with_sign(T a, T b) {                                                                                             \
    WORD sign = (WORD)((WORD)1 << (8 * sizeof(T) - 1));                                                                      \
    return from_bits((WORD)((word(a) & ~sign) | (bits(b) & sign)));                                                          \
  }                                                                                                                          \
  INLINE T unit(T a) { return a > (T)0.0f ? (a < (T)1.0f ? a : (T)1.0f) : (T)0.0f; }
FLOAT(f32, u32, 0x7fc00000u)
FLOAT(f64, u64, 0x7ff8000000000000ul)
FLOAT(f16, u16, 0x7e00u)
INLINE f16 quotient(f16 a, f16 b) { return to_f16(quotient(to_f32(a), to_f32(b))); }

// Which zero is less than the other is not fixed: the sum with 0 is the positive one.
#if defined(HOST)
#define EXTREMES(T)                                                                                                          \
  INLINE T least(T a, T b) { return (is_nan(a) ? b : is_nan(b) ? a : a < b ? a : b) + (T)0; }                                \
  INLINE T greatest(T a, T b) { return (is_nan(a) ? b : is_nan(b) ? a : a > b ? a : b) + (T)0; }
EXTREMES(f32)
EXTREMES(f64)
#elif defined(__OPENCL_CPP_VERSION__)
INLINE f32 least(f32 a, f32 b) { return fmin(a, b) + 0.0f; }
INLINE f64 least(f64 a, f64 b) { return fmin(a, b) + 0.0; }
INLINE f32 greatest(f32 a, f32 b) { return fmax(a, b) + 0.0f; }
INLINE f64 greatest(f64 a, f64 b) { return fmax(a, b) + 0.0; }
#elif defined(__HIP__)
INLINE f32 least(f32 a, f32 b) { return __builtin_fminf(a, b) + 0.0f; }
INLINE f64 least(f64 a, f64 b) { return __builtin_fmin(a, b) + 0.0; }
INLINE f32 greatest(f32 a, f32 b) { return __builtin_fmaxf(a, b) + 0.0f; }
INLINE f64 greatest(f64 a, f64 b) { return __builtin_fmax(a, b) + 0.0; }
#else
INLINE f32 least(f32 a, f32 b) { return fminf(a, b) + 0.0f; }
INLINE f64 least(f64 a, f64 b) { return fmin(a, b) + 0.0; }
INLINE f32 greatest(f32 a, f32 b) { return fmaxf(a, b) + 0.0f; }
INLINE f64 greatest(f64 a, f64 b) { return fmax(a, b) + 0.0; }
#endif
INLINE f16 least(f16 a, f16 b) { return to_f16(least(to_f32(a), to_f32(b))); }
INLINE f16 greatest(f16 a, f16 b) { return to_f16(greatest(to_f32(a), to_f32(b))); }

// To T: `LOW` and all below gives MIN, `HIGH` and all above MAX.
#define TO_INTEGER(F, T, LOW, HIGH, MIN, MAX)                                                                                \
  INLINE T to_##T(F x) { return is_nan(x) ? (T)0 : x >= (F)HIGH ? (T)MAX : x <= (F)LOW ? (T)MIN : (T)x; }
#define TO_INTEGERS(F)                                                                                                       \
  TO_INTEGER(F, u8, -1, 256, 0, 255)                                                                                         \
  TO_INTEGER(F, i8, -129, 128, -128, 127)                                                                                    \
  TO_INTEGER(F, u16, -1, 65536, 0, 65535)                                                                                    \
  TO_INTEGER(F, i16, -32769, 32768, -32768, 32767)                                                                           \
  TO_INTEGER(F, u32, -1, 4294967296.0, 0, 0xffffffffu)                                                                       \
  TO_INTEGER(F, i32, -2147483648.0, 2147483648.0, (-2147483647 - 1), 2147483647)                                             \
  TO_INTEGER(F, u64, -1, 18446744073709551616.0, 0, ~0ul)                                                                   \
  TO_INTEGER(F, i64, -9223372036854775808.0, 9223372036854775808.0, (-9223372036854775807l - 1), 9223372036854775807l)
TO_INTEGERS(f32)
TO_INTEGERS(f64)
#define FROM_HALF(T)                                                                                                         \
  INLINE T to_##T(f16 x) { return to_##T(to_f32(x)); }
FROM_HALF(u8) FROM_HALF(i8) FROM_HALF(u16) FROM_HALF(i16) FROM_HALF(u32) FROM_HALF(i32) FROM_HALF(u64) FROM_HALF(i64)
INLINE f32 to_f32(f64 x) { return (f32)x; }
INLINE f64 to_f64(f32 x) { return (f64)x; }
INLINE f16 to_f16(f64 x) { return to_f16((f32)x); }
#define FROM_INTEGER(T)                                                                                                      \
  INLINE f32 to_f32(T x) { return (f32)x; }                                                                                  \
  INLINE f64 to_f64(T x) { return (f64)x; }                                                                                  \
  INLINE f16 to_f16(T x) { return to_f16((f32)x); }
FROM_INTEGER(u8) FROM_INTEGER(i8) FROM_INTEGER(u16) FROM_INTEGER(i16)
FROM_INTEGER(u32) FROM_INTEGER(i32) FROM_INTEGER(u64) FROM_INTEGER(i64)
