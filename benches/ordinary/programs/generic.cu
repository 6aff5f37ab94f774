// A polynomial whose coefficients lie in global, shared or local memory: the function does not know, nor does it care.
__device__ __noinline__ int evaluate(const int *coefficients, int degree, int x)
{
    int value = 0;
    for (int k = degree; k >= 0; k--)
        value = value * x + coefficients[k];
    return value;
}

#define COUNT 16
#ifdef HOST
void generic(const int *coefficients, const int *x, int *out, int n)
{
    for (int i = 0; i < n; i++) {
        int own[COUNT];
        for (int k = 0; k < COUNT; k++)
            own[k] = coefficients[k] ^ i;
        int near[COUNT];
        for (int k = 0; k < COUNT; k++)
            near[k] = coefficients[k] + 1;
        const int *which = x[i] % 3 == 0 ? coefficients : x[i] % 3 == 1 ? near : own;
        out[i] = evaluate(which, COUNT - 1, x[i]) + evaluate(own, COUNT - 1, x[i] + 1);
    }
}
#else
extern "C" __global__ void generic(const int *coefficients, const int *x, int *out, int n)
{
    __shared__ int near[COUNT];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (threadIdx.x < COUNT)
        near[threadIdx.x] = coefficients[threadIdx.x] + 1;
    __syncthreads();
    if (i >= n)
        return;
    int own[COUNT];
    for (int k = 0; k < COUNT; k++)
        own[k] = coefficients[k] ^ i;
    const int *which = x[i] % 3 == 0 ? coefficients : x[i] % 3 == 1 ? near : own;
    out[i] = evaluate(which, COUNT - 1, x[i]) + evaluate(own, COUNT - 1, x[i] + 1);
}
#endif
