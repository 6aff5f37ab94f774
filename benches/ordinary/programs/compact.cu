// Moves the positive numbers of each part of 256 to its front, in order: places are found by a scan in shared memory.
#define PART 256
#ifdef HOST
void compact(const int *x, int *out, int *counts, int n)
{
    for (int part = 0; part < n; part += PART) {
        int count = 0;
        for (int k = part; k < part + PART && k < n; k++)
            if (x[k] > 0)
                out[part + count++] = x[k];
        counts[part / PART] = count;
    }
}
#else
extern "C" __global__ void compact(const int *x, int *out, int *counts, int n)
{
    __shared__ int place[PART];
    int i = blockIdx.x * PART + threadIdx.x, lane = threadIdx.x;
    int value = i < n ? x[i] : 0;
    place[lane] = value > 0;
    __syncthreads();
    for (int by = 1; by < PART; by *= 2) {
        int other = lane >= by ? place[lane - by] : 0;
        __syncthreads();
        place[lane] += other;
        __syncthreads();
    }
    if (value > 0)
        out[blockIdx.x * PART + place[lane] - 1] = value;
    if (lane == PART - 1)
        counts[blockIdx.x] = place[lane];
}
#endif
