// A transposed matrix times a vector, a column a lane.
extern "C" __global__ void atax(const float *a, const float *x, float *y, int m, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    y[i] = 0;
    for (int j = 0; j < m; j++)
        y[i] += a[j * n + i] * x[j];
}
