// How often each of 64 values is in each part: counted in shared memory.
#define BINS 64
#ifdef HOST
void block_histogram(const unsigned char *x, unsigned *out, int part, int n)
{
    for (int first = 0; first < n; first += part) {
        unsigned count[BINS] = {};
        for (int k = first; k < first + part && k < n; k++)
            count[x[k] & (BINS - 1)]++;
        for (int k = 0; k < BINS; k++)
            out[first / part * BINS + k] = count[k];
    }
}
#else
extern "C" __global__ void block_histogram(const unsigned char *x, unsigned *out, int part, int n)
{
    __shared__ unsigned count[BINS];
    for (int k = threadIdx.x; k < BINS; k += blockDim.x)
        count[k] = 0;
    __syncthreads();
    int first = blockIdx.x * part, end = min(first + part, n);
    for (int k = first + threadIdx.x; k < end; k += blockDim.x)
        atomicAdd(&count[x[k] & (BINS - 1)], 1u);
    __syncthreads();
    for (int k = threadIdx.x; k < BINS; k += blockDim.x)
        out[blockIdx.x * BINS + k] = count[k];
}
#endif
