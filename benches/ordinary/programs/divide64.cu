// Collatz-like walks with quotients and remainders of 64-bit integers.
extern "C" __global__ void divide64(const long long *x, const long long *by, long long *out, int steps, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    long long v = x[i], d = by[i], sum = 0;
    for (int k = 0; k < steps; k++) {
        long long q = v / d, r = v % d;
        sum += q ^ r;
        v = v - q + (r << 20) + k;
        d += 12;
    }
    out[i] = sum;
}
