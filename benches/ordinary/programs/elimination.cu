// Elimination in 12 by 12 matrices modulo a prime, all of it in registers as far as there are so many: the rest is spilled.
#define SIZE 12
#define PRIME 32749u
extern "C" __global__ void __launch_bounds__(1024) elimination(const unsigned short *x, unsigned *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    unsigned m[SIZE][SIZE];
#pragma unroll
    for (int r = 0; r < SIZE; r++)
#pragma unroll
        for (int c = 0; c < SIZE; c++)
            m[r][c] = x[(r * SIZE + c) * n + i] % PRIME;
    unsigned product = 1;
    // Without divisions: every row below is multiplied by the pivot.
#pragma unroll
    for (int p = 0; p < SIZE; p++) {
        unsigned pivot = m[p][p];
        product = product * pivot % PRIME;
#pragma unroll
        for (int r = p + 1; r < SIZE; r++) {
            unsigned factor = m[r][p];
#pragma unroll
            for (int c = p + 1; c < SIZE; c++)
                m[r][c] = (m[r][c] * pivot + (PRIME - m[p][c]) * factor) % PRIME;
        }
    }
    out[i] = product;
}
