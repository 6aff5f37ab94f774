// Each block sorts one row of n integers (n at most 1024) by a bitonic network in shared memory. Any block size: a lane
// takes every blockDim.x-th pair.
extern "C" __global__ void bitonic(int *data, int n)
{
    __shared__ int keys[1024];
    int *row = data + blockIdx.x * n;
    int size = 1;
    while (size < n)
        size <<= 1;
    for (int i = threadIdx.x; i < size; i += blockDim.x)
        keys[i] = i < n ? row[i] : 0x7fffffff;
    for (int run = 2; run <= size; run <<= 1)
        for (int step = run >> 1; step > 0; step >>= 1) {
            __syncthreads();
            for (int pair = threadIdx.x; pair < size / 2; pair += blockDim.x) {
                int i = 2 * pair - (pair & (step - 1)), j = i + step;
                int a = keys[i], b = keys[j];
                bool up = (i & run) == 0;
                if (up ? a > b : a < b) {
                    keys[i] = b;
                    keys[j] = a;
                }
            }
        }
    __syncthreads();
    for (int i = threadIdx.x; i < n; i += blockDim.x)
        row[i] = keys[i];
}
