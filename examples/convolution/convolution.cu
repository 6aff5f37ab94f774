// out[i] = sum of taps[k] * in[i + k - radius] for k from 0 to 2 * radius, where `in` is zero beyond its ends.
// The part that a block reads goes through dynamic shared memory: (blockDim.x + 2 * radius) * 4 bytes.
__constant__ float taps[64];

extern "C" __global__ void convolution(const float *in, float *out, int n, int radius)
{
    extern __shared__ float tile[];
    int i = blockIdx.x * blockDim.x + threadIdx.x, first = blockIdx.x * blockDim.x - radius;
    for (int k = threadIdx.x; k < blockDim.x + 2 * radius; k += blockDim.x) {
        int from = first + k;
        tile[k] = from >= 0 && from < n ? in[from] : 0.0f;
    }
    __syncthreads();
    if (i >= n)
        return;
    float sum = 0.0f;
    for (int k = 0; k <= 2 * radius; k++)
        sum = fmaf(taps[k], tile[threadIdx.x + k], sum);
    out[i] = sum;
}
