// Sums of all numbers up to each one, within rows of 256: by shuffles, whose totals go through shared memory, or by a loop.
#define ROW 256
#ifdef HOST
void block_scan(const unsigned *x, unsigned *out, int n)
{
    for (int row = 0; row < n; row += ROW) {
        unsigned sum = 0;
        for (int k = row; k < row + ROW && k < n; k++)
            out[k] = sum += x[k];
    }
}
#else
extern "C" __global__ void block_scan(const unsigned *x, unsigned *out, int n)
{
    __shared__ unsigned totals[ROW / 32];
    int i = blockIdx.x * ROW + threadIdx.x, lane = threadIdx.x % 32, part = threadIdx.x / 32;
    unsigned sum = i < n ? x[i] : 0;
    for (int by = 1; by < 32; by *= 2) {
        unsigned other = __shfl_up_sync(0xffffffff, sum, by);
        if (lane >= by)
            sum += other;
    }
    if (lane == 31)
        totals[part] = sum;
    __syncthreads();
    if (part == 0) {
        unsigned total = lane < ROW / 32 ? totals[lane] : 0;
        for (int by = 1; by < ROW / 32; by *= 2) {
            unsigned other = __shfl_up_sync(0xffffffff, total, by);
            if (lane >= by)
                total += other;
        }
        if (lane < ROW / 32)
            totals[lane] = total;
    }
    __syncthreads();
    if (part > 0)
        sum += totals[part - 1];
    if (i < n)
        out[i] = sum;
}
#endif
