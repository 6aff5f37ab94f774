// Vector addition with a scale in constant memory, and managed memory that the host fills.
#include "check.h"

__constant__ float scale;

__global__ void add(const float *a, const float *b, float *c, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) c[i] = scale * a[i] + b[i];
}

int main() {
    const int n = 100003;
    float *a, *b, *c;
    CHECK(cudaMallocManaged(&a, n * sizeof(float)));
    CHECK(cudaMallocManaged(&b, n * sizeof(float)));
    CHECK(cudaMallocManaged(&c, n * sizeof(float)));
    for (int i = 0; i < n; i++) a[i] = i, b[i] = 2 * i;
    const float two = 2;
    CHECK(cudaMemcpyToSymbol(scale, &two, sizeof two));
    add<<<(n + 255) / 256, 256>>>(a, b, c, n);
    CHECK(cudaGetLastError());
    CHECK(cudaDeviceSynchronize());
    size_t wrong = 0;
    for (int i = 0; i < n; i++) wrong += c[i] != 4.0f * i;
    float back = 0;
    CHECK(cudaMemcpyFromSymbol(&back, scale, sizeof back));
    wrong += back != two;
    CHECK(cudaFree(a));
    CHECK(cudaFree(b));
    CHECK(cudaFree(c));
    return finish("vector_add", wrong);
}
