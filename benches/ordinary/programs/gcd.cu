// Greatest common divisors by Euclid's algorithm: remainders of 32-bit integers.
extern "C" __global__ void gcd(const unsigned *a, const unsigned *b, unsigned *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    unsigned x = a[i], y = b[i];
    while (y != 0) {
        unsigned rest = x % y;
        x = y;
        y = rest;
    }
    out[i] = x;
}
