// Which function is applied is read from memory: calls through a table of pointers.
__device__ __noinline__ int twist(int x) { return x * 3 ^ x >> 4; }
__device__ __noinline__ int fold(int x) { return (x & 0xffff) - (x >> 16); }
__device__ __noinline__ int spread(int x) { return x < 0 ? x * 5 + 1 : x * 7 - 2; }
__device__ __noinline__ int swap(int x) { return (int)((unsigned)x << 16 | (unsigned)x >> 16); }

typedef int (*Function)(int);

extern "C" __global__ void functions(const unsigned char *order, const int *x, int *out, int steps, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    Function table[4] = {twist, fold, spread, swap};
    int v = x[i];
    for (int k = 0; k < steps; k++)
        v = table[order[k] & 3](v) + k;
    out[i] = v;
}
