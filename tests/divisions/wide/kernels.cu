// Divisions of 64-bit integers. Compiled by Debian's clang 19 as the other HIP kernels are, and by NVRTC and ptxas of CUDA 11.8 and 12:
//   clang-19 -x hip --offload-arch=gfx900 -nogpuinc -nogpulib --cuda-device-only --no-gpu-bundle-output -I examples/gfx9/include
//     -include cuda.h -ffp-contract=off -mcode-object-version=5 -O2 kernels.cu -o gfx900.hsaco
//   nvrtc --gpu-architecture=compute_50, then ptxas -arch=sm_50
#define KERNEL(name, type, ...)                                                                                       \
    extern "C" __global__ void name(const type *x, const type *y, type *quotient, type *remainder, int n)             \
    {                                                                                                                 \
        int i = blockIdx.x * blockDim.x + threadIdx.x;                                                                \
        if (i >= n)                                                                                                   \
            return;                                                                                                   \
        type a = x[i], b = y[i];                                                                                      \
        __VA_ARGS__;                                                                                                  \
    }

KERNEL(udiv, unsigned long long, quotient[i] = a / b)
KERNEL(urem, unsigned long long, remainder[i] = a % b)
KERNEL(udivrem, unsigned long long, quotient[i] = a / b; remainder[i] = a % b)
KERNEL(sdiv, long long, quotient[i] = a / b)
KERNEL(srem, long long, remainder[i] = a % b)
KERNEL(sdivrem, long long, quotient[i] = a / b; remainder[i] = a % b)
