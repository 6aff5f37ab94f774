// Sums of all numbers up to each one, within rows of 256: in shared memory, or by a loop.
#define ROW 256
#ifdef HOST
void shared_scan(const unsigned *x, unsigned *out, int n)
{
    for (int row = 0; row < n; row += ROW) {
        unsigned sum = 0;
        for (int k = row; k < row + ROW && k < n; k++)
            out[k] = sum += x[k];
    }
}
#else
extern "C" __global__ void shared_scan(const unsigned *x, unsigned *out, int n)
{
    __shared__ unsigned sums[ROW];
    int i = blockIdx.x * ROW + threadIdx.x, lane = threadIdx.x;
    sums[lane] = i < n ? x[i] : 0;
    __syncthreads();
    for (int by = 1; by < ROW; by *= 2) {
        unsigned other = lane >= by ? sums[lane - by] : 0;
        __syncthreads();
        sums[lane] += other;
        __syncthreads();
    }
    if (i < n)
        out[i] = sums[lane];
}
#endif
