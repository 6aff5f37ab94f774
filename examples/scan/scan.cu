// Inclusive prefix sums of 32-bit integers, one lane an element.

// Scan of the block: by shuffles within each warp, then over the warps' totals. Any block size up to 1024.
static __device__ unsigned scan_of_block(unsigned v)
{
    __shared__ unsigned totals[32];
    int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
    for (int step = 1; step < 32; step <<= 1) {
        unsigned lower = __shfl_up_sync(~0u, v, step);
        if (lane >= step)
            v += lower;
    }
    if (lane == 31 || threadIdx.x == blockDim.x - 1)
        totals[warp] = v;
    __syncthreads();
    for (int i = 0; i < warp; i++)
        v += totals[i];
    return v;
}

// Every block scans its own part, and leaves the part's sum in `sums`.
extern "C" __global__ void scan_blocks(const unsigned *in, unsigned *out, unsigned *sums, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned v = scan_of_block(i < n ? in[i] : 0);
    if (i < n)
        out[i] = v;
    if (threadIdx.x == blockDim.x - 1)
        sums[blockIdx.x] = v;
}

// The whole array in one launch: a block takes a ticket, scans its part, waits for the sum of all parts before it, and
// hands the sum on. `ticket` is one zero; `ready` and `prefix` have one zero per block.
extern "C" __global__ void scan_chained(const unsigned *in, unsigned *out, unsigned *ticket, volatile unsigned *ready,
                                        volatile unsigned *prefix, int n)
{
    __shared__ unsigned part, before;
    if (threadIdx.x == 0)
        part = atomicAdd(ticket, 1u);
    __syncthreads();
    int i = part * blockDim.x + threadIdx.x;
    unsigned v = scan_of_block(i < n ? in[i] : 0);
    if (threadIdx.x == blockDim.x - 1) {
        unsigned sum = 0;
        if (part > 0) {
            while (!ready[part - 1])
                ;
            __threadfence();
            sum = prefix[part - 1];
        }
        before = sum;
        prefix[part] = sum + v;
        __threadfence();
        ready[part] = 1;
    }
    __syncthreads();
    if (i < n)
        out[i] = before + v;
}
