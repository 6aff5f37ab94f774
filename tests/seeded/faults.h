// One language for OpenCL C and CUDA C++: what the sources of faults.cl use.
#ifdef __CUDACC__
#define KERNEL extern "C" __global__
#define GLOBAL
#define SHARED __shared__
#define IN_SHARED
#define BARRIER() __syncthreads()
#define LOCAL() ((int)threadIdx.x)
#define GROUP() ((int)blockIdx.x)
#define ITEM() ((int)(blockIdx.x * blockDim.x + threadIdx.x))
#define ADD(at, value) atomicAdd((int *)(at), (value))
#define WORD(at) ((volatile int *)(at))
#define STORE_RELEASE(at, value) (__threadfence(), *WORD(at) = (value))
#define ACQUIRE(at) acquire(WORD(at))
#define STORE_RELAXED(at, value) (*WORD(at) = (value))
#define LOAD_RELAXED(at) (*WORD(at))
struct alignas(16) wide {
    int x, y, z, w;
};
__device__ inline int acquire(volatile int *at) {
    int value = *at;
    __threadfence();
    return value;
}
#else
#define KERNEL kernel
#define GLOBAL global
#define SHARED local
#define IN_SHARED local
#define BARRIER() barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE)
#define LOCAL() ((int)get_local_id(0))
#define GROUP() ((int)get_group_id(0))
#define ITEM() ((int)get_global_id(0))
#define ADD(at, value) atomic_add((at), (value))
#ifndef FENCE
#define FENCE() atomic_work_item_fence(CLK_GLOBAL_MEM_FENCE, memory_order_acq_rel, memory_scope_device)
#endif
#define WORD(at) ((volatile global int *)(at))
#define STORE_RELEASE(at, value) (FENCE(), atomic_xchg(WORD(at), (value)))
#define ACQUIRE(at) acquire(WORD(at))
#define STORE_RELAXED(at, value) atomic_xchg(WORD(at), (value))
#define LOAD_RELAXED(at) atomic_add(WORD(at), 0)
#define wide int4
inline int acquire(volatile global int *at) {
    int value = atomic_add(at, 0);
    FENCE();
    return value;
}
#endif
