// A sparse matrix times a vector: 32 lanes share a row, and shuffles add up their sums.
#ifdef HOST
void csr_rows(const int *first, const int *column, const float *value, const float *x, float *y, int n)
{
    for (int row = 0; row < n; row++) {
        float sum = 0;
        for (int k = first[row]; k < first[row + 1]; k++)
            sum += value[k] * x[column[k]];
        y[row] = sum;
    }
}
#else
extern "C" __global__ void csr_rows(const int *first, const int *column, const float *value, const float *x, float *y, int n)
{
    int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    if (row >= n)
        return;
    float sum = 0;
    for (int k = first[row] + lane; k < first[row + 1]; k += 32)
        sum += value[k] * x[column[k]];
    for (int by = 16; by > 0; by /= 2)
        sum += __shfl_down_sync(0xffffffff, sum, by);
    if (lane == 0)
        y[row] = sum;
}
#endif
