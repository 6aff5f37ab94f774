// Prefix sums: blocks by themselves, then their totals, then both together.
#include "check.h"

const int BLOCK = 256;

__global__ void scan_block(const unsigned *x, unsigned *y, unsigned *totals, int n) {
    __shared__ unsigned sums[2][BLOCK];
    int i = blockIdx.x * BLOCK + threadIdx.x, from = 0;
    sums[0][threadIdx.x] = i < n ? x[i] : 0;
    for (int step = 1; step < BLOCK; step *= 2, from ^= 1) {
        __syncthreads();
        unsigned other = threadIdx.x >= step ? sums[from][threadIdx.x - step] : 0;
        sums[from ^ 1][threadIdx.x] = sums[from][threadIdx.x] + other;
    }
    __syncthreads();
    if (i < n) y[i] = sums[from][threadIdx.x];
    if (threadIdx.x == BLOCK - 1 && totals) totals[blockIdx.x] = sums[from][threadIdx.x];
}

__global__ void add_totals(unsigned *y, const unsigned *totals, int n) {
    int i = blockIdx.x * BLOCK + threadIdx.x;
    if (i < n && blockIdx.x > 0) y[i] += totals[blockIdx.x - 1];
}

int main() {
    const int n = 60001, blocks = (n + BLOCK - 1) / BLOCK;
    std::vector<unsigned> x(n);
    unsigned state = 3;
    for (unsigned &value : x) value = next_random(state);
    Buffer<unsigned> dx(x), dy(n), totals(blocks), scanned(blocks);
    scan_block<<<blocks, BLOCK>>>(dx.device, dy.device, totals.device, n);
    scan_block<<<1, BLOCK>>>(totals.device, scanned.device, nullptr, blocks);
    add_totals<<<blocks, BLOCK>>>(dy.device, scanned.device, n);
    CHECK(cudaGetLastError());
    std::vector<unsigned> y = dy.read();
    size_t wrong = 0;
    unsigned sum = 0;
    for (int i = 0; i < n; i++) sum += x[i], wrong += y[i] != sum;
    return finish("scan", wrong);
}
