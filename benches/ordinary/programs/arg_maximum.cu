// Where the greatest number of each part of 256 is: two values go through shared memory, the first of equal ones wins.
#define PART 256
#ifdef HOST
void arg_maximum(const float *x, int *out, int n)
{
    for (int part = 0; part < n; part += PART) {
        int best = part;
        for (int k = part + 1; k < part + PART && k < n; k++)
            if (x[k] > x[best])
                best = k;
        out[part / PART] = best;
    }
}
#else
extern "C" __global__ void arg_maximum(const float *x, int *out, int n)
{
    __shared__ float value[PART];
    __shared__ int place[PART];
    int i = blockIdx.x * PART + threadIdx.x, lane = threadIdx.x;
    value[lane] = i < n ? x[i] : -1e30f;
    place[lane] = i;
    __syncthreads();
    for (int half = PART / 2; half > 0; half /= 2) {
        if (lane < half) {
            float other = value[lane + half];
            int where = place[lane + half];
            if (other > value[lane] || (other == value[lane] && where < place[lane])) {
                value[lane] = other;
                place[lane] = where;
            }
        }
        __syncthreads();
    }
    if (lane == 0)
        out[blockIdx.x] = place[0];
}
#endif
