// Sums of all numbers before each one, within rows of 512: a tree of sums in shared memory, up and down, or a loop.
#define ROW 512
#ifdef HOST
void blelloch(const unsigned *x, unsigned *out, int n)
{
    for (int row = 0; row < n; row += ROW) {
        unsigned sum = 0;
        for (int k = row; k < row + ROW && k < n; k++) {
            out[k] = sum;
            sum += x[k];
        }
    }
}
#else
extern "C" __global__ void blelloch(const unsigned *x, unsigned *out, int n)
{
    __shared__ unsigned sums[ROW];
    int base = blockIdx.x * ROW, lane = threadIdx.x, by = 1;
    for (int k = lane; k < ROW; k += ROW / 2)
        sums[k] = base + k < n ? x[base + k] : 0;
    for (int pairs = ROW / 2; pairs > 0; pairs /= 2) {
        __syncthreads();
        if (lane < pairs)
            sums[by * (2 * lane + 2) - 1] += sums[by * (2 * lane + 1) - 1];
        by *= 2;
    }
    if (lane == 0)
        sums[ROW - 1] = 0;
    for (int pairs = 1; pairs < ROW; pairs *= 2) {
        by /= 2;
        __syncthreads();
        if (lane < pairs) {
            unsigned left = sums[by * (2 * lane + 1) - 1];
            sums[by * (2 * lane + 1) - 1] = sums[by * (2 * lane + 2) - 1];
            sums[by * (2 * lane + 2) - 1] += left;
        }
    }
    __syncthreads();
    for (int k = lane; k < ROW; k += ROW / 2)
        if (base + k < n)
            out[base + k] = sums[k];
}
#endif
