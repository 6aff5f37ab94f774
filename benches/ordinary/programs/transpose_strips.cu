// Transposes a matrix by tiles of 32 by 32 in shared memory, of which a lane has four numbers.
#define TILE 32
#define ROWS 8
#ifdef HOST
void transpose_strips(const float *x, float *out, int width, int height)
{
    for (int r = 0; r < height; r++)
        for (int c = 0; c < width; c++)
            out[c * height + r] = x[r * width + c];
}
#else
extern "C" __global__ void transpose_strips(const float *x, float *out, int width, int height)
{
    __shared__ float tile[TILE][TILE + 1];
    int c = blockIdx.x * TILE + threadIdx.x, r = blockIdx.y * TILE + threadIdx.y;
    for (int k = 0; k < TILE; k += ROWS)
        if (c < width && r + k < height)
            tile[threadIdx.y + k][threadIdx.x] = x[(r + k) * width + c];
    __syncthreads();
    c = blockIdx.y * TILE + threadIdx.x;
    r = blockIdx.x * TILE + threadIdx.y;
    for (int k = 0; k < TILE; k += ROWS)
        if (c < height && r + k < width)
            out[(r + k) * height + c] = tile[threadIdx.x][threadIdx.y + k];
}
#endif
