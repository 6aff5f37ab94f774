// What a CUDA source needs to be C++ for OpenCL, once opencl.py has named the places of its kernel's arguments.
#pragma once
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#pragma OPENCL EXTENSION __cl_clang_function_pointers : enable

#define __device__ static
#define __constant__ __constant
#define __shared__ __local
#define __noinline__ __attribute__((noinline))
#define __launch_bounds__(...)

// Words of OpenCL's that are names in CUDA.
#define half half_
#define generic generic_
#define constant constant_

#define PLACE(OF) ((uint3)((uint)OF(0), (uint)OF(1), (uint)OF(2)))
#define threadIdx PLACE(get_local_id)
#define blockIdx PLACE(get_group_id)
#define blockDim PLACE(get_local_size)
#define gridDim PLACE(get_num_groups)

#define __syncthreads() work_group_barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE)
#define atomicAdd(AT, BY) atomic_fetch_add_explicit((volatile atomic_uint *)(AT), BY, memory_order_relaxed, memory_scope_device)

// A lane that asks beyond the 32 gets what it gave.
#define LANE get_sub_group_local_id()
#define __shfl_up_sync(ALL, VALUE, BY) sub_group_shuffle(VALUE, LANE < (BY) ? LANE : LANE - (BY))
#define __shfl_down_sync(ALL, VALUE, BY) sub_group_shuffle(VALUE, LANE + (BY) < 32 ? LANE + (BY) : LANE)
#define __shfl_xor_sync(ALL, VALUE, BY) sub_group_shuffle(VALUE, LANE ^ (BY))

#define make_float2(X, Y) ((float2)(X, Y))
#define __umul64hi mul_hi
#define sqrtf sqrt
#define expf exp
#define logf log
#define fabsf fabs
#define fmaxf fmax
#define fminf fmin
#define __expf native_exp
#define __logf native_log
#define __sinf native_sin
#define __cosf native_cos
#define __fdividef native_divide
