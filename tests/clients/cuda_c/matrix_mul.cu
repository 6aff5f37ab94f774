// Matrix product by tiles in shared memory, static and dynamic.
#include "check.h"

template <int TILE>
__global__ void product(const float *a, const float *b, float *c, int n) {
    __shared__ float left[TILE][TILE];
    extern __shared__ float right[];
    int row = blockIdx.y * TILE + threadIdx.y, column = blockIdx.x * TILE + threadIdx.x;
    float sum = 0;
    for (int tile = 0; tile < n; tile += TILE) {
        left[threadIdx.y][threadIdx.x] = a[row * n + tile + threadIdx.x];
        right[threadIdx.y * TILE + threadIdx.x] = b[(tile + threadIdx.y) * n + column];
        __syncthreads();
        for (int k = 0; k < TILE; k++) sum += left[threadIdx.y][k] * right[k * TILE + threadIdx.x];
        __syncthreads();
    }
    c[row * n + column] = sum;
}

int main() {
    const int n = 128, tile = 16;
    std::vector<float> a(n * n), b(n * n);
    unsigned state = 1;
    for (float &x : a) x = next_random(state) % 16;
    for (float &x : b) x = next_random(state) % 16;
    Buffer<float> da(a), db(b), dc(n * n);
    dim3 grid(n / tile, n / tile), block(tile, tile);
    product<tile><<<grid, block, tile * tile * sizeof(float)>>>(da.device, db.device, dc.device, n);
    CHECK(cudaGetLastError());
    std::vector<float> c = dc.read();
    size_t wrong = 0;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            float sum = 0; // small integers: exact in any order
            for (int k = 0; k < n; k++) sum += a[i * n + k] * b[k * n + j];
            wrong += c[i * n + j] != sum;
        }
    return finish("matrix_mul", wrong);
}
