// Powers modulo an odd 64-bit number, in Montgomery's form: wide products, carries, 64-bit comparisons.
__device__ unsigned long long reduce(unsigned long long high, unsigned long long low, unsigned long long m,
                                     unsigned long long inverse)
{
    unsigned long long q = __umul64hi(low * inverse, m);
    return high >= q ? high - q : high - q + m;
}

__device__ unsigned long long multiply(unsigned long long a, unsigned long long b, unsigned long long m,
                                       unsigned long long inverse)
{
    return reduce(__umul64hi(a, b), a * b, m, inverse);
}

extern "C" __global__ void power64(const unsigned long long *base, const unsigned *exponent, unsigned long long *out,
                                   unsigned long long m, unsigned long long one, unsigned long long inverse, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    unsigned long long power = base[i] % m, result = one;
    for (unsigned e = exponent[i]; e != 0; e >>= 1) {
        if (e & 1)
            result = multiply(result, power, m, inverse);
        power = multiply(power, power, m, inverse);
    }
    out[i] = result;
}
