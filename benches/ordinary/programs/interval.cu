// Horner's rule on intervals: lower bounds are rounded down, upper bounds up.
extern "C" __global__ void interval(const float2 *x, const float *coefficients, float2 *out, int degree, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float2 v = x[i];
    float low = coefficients[degree], high = low;
    for (int k = degree - 1; k >= 0; k--) {
        float a = fminf(fminf(__fmul_rd(low, v.x), __fmul_rd(low, v.y)), fminf(__fmul_rd(high, v.x), __fmul_rd(high, v.y)));
        float b = fmaxf(fmaxf(__fmul_ru(low, v.x), __fmul_ru(low, v.y)), fmaxf(__fmul_ru(high, v.x), __fmul_ru(high, v.y)));
        low = __fadd_rd(a, coefficients[k]);
        high = __fadd_ru(b, coefficients[k]);
    }
    out[i] = make_float2(low, high);
}
