// The product of two square matrices, by tiles in shared memory; the plain function is three loops.
#define TILE 16
#ifdef HOST
void matmul(const float *a, const float *b, float *c, int size)
{
    for (int row = 0; row < size; row++)
        for (int column = 0; column < size; column++) {
            float sum = 0.0f;
            for (int k = 0; k < size; k++)
                sum += a[row * size + k] * b[k * size + column];
            c[row * size + column] = sum;
        }
}
#else
extern "C" __global__ void matmul(const float *a, const float *b, float *c, int size)
{
    __shared__ float left[TILE][TILE], right[TILE][TILE];
    int row = blockIdx.y * TILE + threadIdx.y, column = blockIdx.x * TILE + threadIdx.x;
    float sum = 0.0f;
    for (int t = 0; t < size; t += TILE) {
        left[threadIdx.y][threadIdx.x] = a[row * size + t + threadIdx.x];
        right[threadIdx.y][threadIdx.x] = b[(t + threadIdx.y) * size + column];
        __syncthreads();
        for (int k = 0; k < TILE; k++)
            sum += left[threadIdx.y][k] * right[k][threadIdx.x];
        __syncthreads();
    }
    c[row * size + column] = sum;
}
#endif
