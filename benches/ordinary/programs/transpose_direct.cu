// Transposes a matrix from place to place: lanes read along a row, and write along a column.
extern "C" __global__ void transpose_direct(const float *x, float *out, int width, int height)
{
    int c = blockIdx.x * 16 + threadIdx.x, r = blockIdx.y * 16 + threadIdx.y;
    if (c < width && r < height)
        out[c * height + r] = x[r * width + c];
}
