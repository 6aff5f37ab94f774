// A sum by shuffles within warps, shared memory within blocks and atomics between them, of integers and of doubles.
#include "check.h"

template <typename T>
__global__ void sum(const T *x, T *total, int n) {
    T own = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) own += x[i];
    for (int step = 16; step > 0; step /= 2) own += __shfl_down_sync(0xffffffff, own, step);
    __shared__ T warps[32];
    if (threadIdx.x % 32 == 0) warps[threadIdx.x / 32] = own;
    __syncthreads();
    if (threadIdx.x < 32) {
        own = threadIdx.x < blockDim.x / 32 ? warps[threadIdx.x] : 0;
        for (int step = 16; step > 0; step /= 2) own += __shfl_down_sync(0xffffffff, own, step);
        if (threadIdx.x == 0) total[blockIdx.x] = own;
    }
}

template <typename T>
size_t check() {
    const int n = 200001, blocks = 12;
    std::vector<T> x(n);
    unsigned state = 7;
    T expected = 0;
    for (T &value : x) value = next_random(state) % 1000, expected += value; // exact in any order
    Buffer<T> dx(x), partial(blocks), total(1);
    sum<<<blocks, 256>>>(dx.device, partial.device, n);
    sum<<<1, 32>>>(partial.device, total.device, blocks);
    CHECK(cudaGetLastError());
    return total.read()[0] != expected;
}

int main() {
    return finish("reduction", check<int>() + check<double>() + check<unsigned>());
}
