// C = A * B with A m x k, B k x n, row major, in 16 x 16 tiles that go through shared memory.
// Launch with blocks of 16 x 16; the grid covers n (x) and m (y), rounded up.
#define TILE 16

extern "C" __global__ void matmul(const float *a, const float *b, float *c, int m, int n, int k)
{
    __shared__ float tile_a[TILE][TILE];
    __shared__ float tile_b[TILE][TILE];
    int tx = threadIdx.x, ty = threadIdx.y;
    int row = blockIdx.y * TILE + ty, column = blockIdx.x * TILE + tx;
    float sum = 0.0f;
    for (int base = 0; base < k; base += TILE) {
        tile_a[ty][tx] = row < m && base + tx < k ? a[row * k + base + tx] : 0.0f;
        tile_b[ty][tx] = column < n && base + ty < k ? b[(base + ty) * n + column] : 0.0f;
        __syncthreads();
        for (int i = 0; i < TILE; i++)
            sum = fmaf(tile_a[ty][i], tile_b[i][tx], sum);
        __syncthreads();
    }
    if (row < m && column < n)
        c[row * n + column] = sum;
}
