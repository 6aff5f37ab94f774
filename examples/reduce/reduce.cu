// Sum and maximum of an array, by shuffles within a warp, then through shared memory within the block.
// `partial` gets one float sum per block (the order of additions is fixed), `maximum` is updated by an atomic.
// Any block size up to 1024: lanes past the end of a short last warp are never read.
extern "C" __global__ void reduce(const float *x, float *partial, int *maximum, int n)
{
    __shared__ float sums[32];
    __shared__ int maxima[32];
    int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
    int warps = (blockDim.x + 31) >> 5;
    float sum = 0.0f;
    int high = (int)0x80000000;
    #pragma unroll 1
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        float v = x[i];
        sum += v;
        high = max(high, __float2int_rn(v));
    }
    int lanes = min(32, (int)blockDim.x - warp * 32);
    for (int step = 16; step > 0; step >>= 1) {
        float other = __shfl_down_sync(~0u, sum, step);
        int other_high = __shfl_down_sync(~0u, high, step);
        if (lane + step < lanes) {
            sum += other;
            high = max(high, other_high);
        }
    }
    if (lane == 0) {
        sums[warp] = sum;
        maxima[warp] = high;
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        #pragma unroll 1
        for (int i = 1; i < warps; i++) {
            sum += sums[i];
            high = max(high, maxima[i]);
        }
        partial[blockIdx.x] = sum;
        atomicMax(maximum, high);
    }
}
