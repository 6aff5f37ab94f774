// Where the greatest number of each row of 32 is: a value and its place go by shuffles; the first of equal ones wins.
#ifdef HOST
void arg_butterfly(const float *x, int *out, int n)
{
    for (int row = 0; row < n; row += 32) {
        int best = row;
        for (int k = row + 1; k < row + 32; k++)
            if (x[k] > x[best])
                best = k;
        out[row / 32] = best;
    }
}
#else
extern "C" __global__ void arg_butterfly(const float *x, int *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, place = i;
    float value = i < n ? x[i] : 0;
    for (int by = 16; by > 0; by /= 2) {
        float other = __shfl_xor_sync(0xffffffff, value, by);
        int where = __shfl_xor_sync(0xffffffff, place, by);
        if (other > value || (other == value && where < place)) {
            value = other;
            place = where;
        }
    }
    if (i < n && threadIdx.x % 32 == 0)
        out[i / 32] = place;
}
#endif
