// A weighted sum of the neighbours of each point on a line: blocks keep their part and its margins in shared memory.
#define PART 256
#define RADIUS 4
#ifdef HOST
void stencil(const float *x, const float *weights, float *out, int n)
{
    for (int i = 0; i < n; i++) {
        float sum = 0.0f;
        for (int k = -RADIUS; k <= RADIUS; k++) {
            int at = i + k;
            sum += weights[k + RADIUS] * (at >= 0 && at < n ? x[at] : 0.0f);
        }
        out[i] = sum;
    }
}
#else
extern "C" __global__ void stencil(const float *x, const float *weights, float *out, int n)
{
    __shared__ float part[PART + 2 * RADIUS];
    int first = blockIdx.x * PART - RADIUS, i = blockIdx.x * PART + threadIdx.x;
    for (int k = threadIdx.x; k < PART + 2 * RADIUS; k += PART) {
        int at = first + k;
        part[k] = at >= 0 && at < n ? x[at] : 0.0f;
    }
    __syncthreads();
    if (i >= n)
        return;
    float sum = 0.0f;
    for (int k = -RADIUS; k <= RADIUS; k++)
        sum += weights[k + RADIUS] * part[threadIdx.x + RADIUS + k];
    out[i] = sum;
}
#endif
