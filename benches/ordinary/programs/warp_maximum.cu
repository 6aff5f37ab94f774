// The greatest number of each row of 32, by shuffles.
#ifdef HOST
void warp_maximum(const int *x, int *out, int n)
{
    for (int row = 0; row < n; row += 32) {
        int greatest = x[row];
        for (int k = row + 1; k < row + 32; k++)
            greatest = max(greatest, x[k]);
        out[row / 32] = greatest;
    }
}
#else
extern "C" __global__ void warp_maximum(const int *x, int *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int greatest = i < n ? x[i] : x[0];
    for (int by = 16; by > 0; by /= 2)
        greatest = max(greatest, __shfl_down_sync(0xffffffff, greatest, by));
    if (i < n && threadIdx.x % 32 == 0)
        out[i / 32] = greatest;
}
#endif
