// A histogram counted in shared memory and added to global memory by atomics.
#include "check.h"

__global__ void count(const unsigned char *x, unsigned *bins, int n) {
    __shared__ unsigned own[256];
    own[threadIdx.x] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) atomicAdd(&own[x[i]], 1u);
    __syncthreads();
    atomicAdd(&bins[threadIdx.x], own[threadIdx.x]);
}

int main() {
    const int n = 1 << 18;
    std::vector<unsigned char> x(n);
    std::vector<unsigned> expected(256);
    unsigned state = 5;
    for (auto &value : x) value = next_random(state) & next_random(state) & 0xff, expected[value]++;
    Buffer<unsigned char> dx(x);
    Buffer<unsigned> bins(256);
    CHECK(cudaMemset(bins.device, 0, 256 * sizeof(unsigned)));
    count<<<16, 256>>>(dx.device, bins.device, n);
    CHECK(cudaGetLastError());
    std::vector<unsigned> counts = bins.read();
    size_t wrong = 0;
    for (int i = 0; i < 256; i++) wrong += counts[i] != expected[i];
    return finish("histogram", wrong);
}
