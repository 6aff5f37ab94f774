// Bitonic sort: in shared memory where a block's part suffices, else a step for each launch.
#include "check.h"
#include <algorithm>

const unsigned BLOCK = 256;

__device__ void order(unsigned &a, unsigned &b, bool up) {
    if ((a > b) == up) {
        unsigned kept = a;
        a = b;
        b = kept;
    }
}

__global__ void step(unsigned *x, unsigned size, unsigned stride) {
    unsigned at = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned low = 2 * at - (at & (stride - 1));
    order(x[low], x[low + stride], (low & size) == 0);
}

__global__ void steps(unsigned *x, unsigned size, unsigned stride) {
    __shared__ unsigned part[2 * BLOCK];
    unsigned base = blockIdx.x * 2 * BLOCK;
    part[threadIdx.x] = x[base + threadIdx.x];
    part[threadIdx.x + BLOCK] = x[base + threadIdx.x + BLOCK];
    for (; stride > 0; stride /= 2) {
        __syncthreads();
        unsigned low = 2 * threadIdx.x - (threadIdx.x & (stride - 1));
        order(part[low], part[low + stride], ((base + low) & size) == 0);
    }
    __syncthreads();
    x[base + threadIdx.x] = part[threadIdx.x];
    x[base + threadIdx.x + BLOCK] = part[threadIdx.x + BLOCK];
}

int main() {
    const unsigned n = 1 << 14;
    std::vector<unsigned> x(n);
    unsigned state = 11;
    for (unsigned &value : x) value = next_random(state);
    Buffer<unsigned> dx(x);
    for (unsigned size = 2; size <= n; size *= 2) {
        unsigned stride = size / 2;
        for (; stride > BLOCK; stride /= 2) step<<<n / 2 / BLOCK, BLOCK>>>(dx.device, size, stride);
        steps<<<n / 2 / BLOCK, BLOCK>>>(dx.device, size, stride);
    }
    CHECK(cudaGetLastError());
    std::sort(x.begin(), x.end());
    return finish("sorting_networks", dx.read() != x);
}
