// A step of a solver by alternating directions: each lane walks a row of its own, forward and back.
extern "C" __global__ void adi(const float *a, float *b, float *x, int m, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    for (int j = 1; j < m; j++) {
        x[i * m + j] -= x[i * m + j - 1] * a[i * m + j] / b[i * m + j - 1];
        b[i * m + j] -= a[i * m + j] * a[i * m + j] / b[i * m + j - 1];
    }
    x[i * m + m - 1] /= b[i * m + m - 1];
    for (int j = m - 2; j >= 0; j--)
        x[i * m + j] = (x[i * m + j] - x[i * m + j + 1] * a[i * m + j + 1]) / b[i * m + j];
}
