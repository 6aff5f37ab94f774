// A cooperative launch whose blocks wait for each other in every round, by a counter in global memory; and groups within a block.
#include "check.h"
#include <cooperative_groups.h>

namespace cg = cooperative_groups;

__device__ void wait_for_all(volatile unsigned *arrived, unsigned round) {
    __syncthreads();
    if (threadIdx.x == 0) {
        __threadfence();
        atomicAdd((unsigned *)arrived, 1u);
        while (*arrived < gridDim.x * round) {
        }
        __threadfence();
    }
    __syncthreads();
}

__global__ void diffuse(float *a, float *b, unsigned *arrived, int n, int rounds) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    for (int round = 1; round <= rounds; round++) {
        volatile float *from = round % 2 ? a : b;
        volatile float *to = round % 2 ? b : a;
        float left = from[(i + n - 1) % n], right = from[(i + 1) % n];
        to[i] = 0.5f * from[i] + 0.25f * (left + right);
        wait_for_all(arrived, round);
    }
}

__global__ void sums_of_tiles(const int *x, int *out) {
    cg::thread_block block = cg::this_thread_block();
    auto tile = cg::tiled_partition<8>(block);
    int sum = x[block.group_index().x * block.size() + block.thread_rank()];
    for (int step = tile.size() / 2; step > 0; step /= 2) sum += tile.shfl_down(sum, step);
    if (tile.thread_rank() == 0) out[(block.group_index().x * block.size() + block.thread_rank()) / 8] = sum;
    block.sync();
}

int main() {
    int device = 0, processors = 0, cooperative = 0, fit = 0;
    CHECK(cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device));
    CHECK(cudaDeviceGetAttribute(&cooperative, cudaDevAttrCooperativeLaunch, device));
    CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&fit, diffuse, 64, 0));
    size_t wrong = !cooperative || fit * processors < 4;
    const int blocks = 4, n = blocks * 64, rounds = 20;
    std::vector<float> x(n);
    x[5] = 1024;
    Buffer<float> a(x), b(n);
    Buffer<unsigned> arrived(std::vector<unsigned>(1));
    int count = n, times = rounds;
    void *arguments[] = {&a.device, &b.device, &arrived.device, &count, &times};
    CHECK(cudaLaunchCooperativeKernel((void *)diffuse, dim3(blocks), dim3(64), arguments, 0, nullptr));
    std::vector<float> found = a.read(), next(n);
    for (int round = 0; round < rounds; round++) {
        for (int i = 0; i < n; i++) next[i] = 0.5f * x[i] + 0.25f * (x[(i + n - 1) % n] + x[(i + 1) % n]);
        x = next;
    }
    for (int i = 0; i < n; i++) wrong += std::fabs(found[i] - x[i]) > 1e-3f;

    std::vector<int> numbers(256);
    for (int i = 0; i < 256; i++) numbers[i] = i * i;
    Buffer<int> in(numbers), out(32);
    sums_of_tiles<<<2, 128>>>(in.device, out.device);
    CHECK(cudaGetLastError());
    std::vector<int> sums = out.read();
    for (int tile = 0; tile < 32; tile++) {
        int expected = 0;
        for (int i = 0; i < 8; i++) expected += numbers[tile * 8 + i];
        wrong += sums[tile] != expected;
    }
    return finish("cooperative_groups", wrong);
}
