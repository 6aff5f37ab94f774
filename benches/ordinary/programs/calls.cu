// A random walk whose steps are functions that are not inlined.
__device__ __noinline__ unsigned next(unsigned state) { return state * 1664525u + 1013904223u; }

__device__ __noinline__ int turn(unsigned state, int direction)
{
    return (state >> 28) < 3 ? direction + 1 : (state >> 28) > 12 ? direction - 1 : direction;
}

__device__ __noinline__ int advance(int x, int direction, int by) { return direction & 1 ? x : x + (direction & 2 ? -by : by); }

extern "C" __global__ void calls(const unsigned *seeds, int *out, int steps, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    unsigned state = seeds[i];
    int x = 0, y = 0, direction = 0;
    for (int k = 0; k < steps; k++) {
        state = next(state);
        direction = turn(state, direction);
        x = advance(x, direction, 1 + (state >> 8 & 3));
        y = advance(y, direction + 1, 1);
    }
    out[i] = x * 65536 + y;
}
