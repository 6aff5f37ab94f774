// Transposes a matrix by tiles in shared memory.
#define TILE 16
#ifdef HOST
void transpose(const float *x, float *out, int width, int height)
{
    for (int r = 0; r < height; r++)
        for (int c = 0; c < width; c++)
            out[c * height + r] = x[r * width + c];
}
#else
extern "C" __global__ void transpose(const float *x, float *out, int width, int height)
{
    __shared__ float tile[TILE][TILE + 1];
    int c = blockIdx.x * TILE + threadIdx.x, r = blockIdx.y * TILE + threadIdx.y;
    if (c < width && r < height)
        tile[threadIdx.y][threadIdx.x] = x[r * width + c];
    __syncthreads();
    c = blockIdx.y * TILE + threadIdx.x;
    r = blockIdx.x * TILE + threadIdx.y;
    if (c < height && r < width)
        out[r * height + c] = tile[threadIdx.x][threadIdx.y];
}
#endif
