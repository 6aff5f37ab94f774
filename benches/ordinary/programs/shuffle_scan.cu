// Sums of all numbers up to each one, within rows of 32: by shuffles, or by a loop.
#ifdef HOST
void shuffle_scan(const unsigned *x, unsigned *out, int n)
{
    for (int row = 0; row < n; row += 32) {
        unsigned sum = 0;
        for (int k = row; k < row + 32 && k < n; k++)
            out[k] = sum += x[k];
    }
}
#else
extern "C" __global__ void shuffle_scan(const unsigned *x, unsigned *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x & 31;
    unsigned sum = i < n ? x[i] : 0;
    for (int by = 1; by < 32; by *= 2) {
        unsigned other = __shfl_up_sync(0xffffffff, sum, by);
        if (lane >= by)
            sum += other;
    }
    if (i < n)
        out[i] = sum;
}
#endif
