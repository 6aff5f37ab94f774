// Sums of decimal digits in a base that only the launch knows: quotients and remainders of 32-bit integers.
extern "C" __global__ void digits(const unsigned *x, unsigned *out, unsigned base, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    unsigned sum = 0;
    for (unsigned v = x[i]; v != 0; v /= base)
        sum += v % base;
    out[i] = sum;
}
