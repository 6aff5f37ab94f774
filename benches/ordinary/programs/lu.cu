// Matrices of 16 by 16 become a lower and an upper one, a block each, in shared memory.
#define SIZE 16
#ifdef HOST
void lu(float *x, int n)
{
    for (int b = 0; b < n; b++) {
        float(*m)[SIZE] = (float(*)[SIZE])(x + b * SIZE * SIZE);
        for (int p = 0; p < SIZE; p++)
            for (int r = p + 1; r < SIZE; r++) {
                m[r][p] /= m[p][p];
                for (int c = p + 1; c < SIZE; c++)
                    m[r][c] -= m[r][p] * m[p][c];
            }
    }
}
#else
extern "C" __global__ void lu(float *x, int n)
{
    __shared__ float m[SIZE][SIZE];
    int lane = threadIdx.x, base = blockIdx.x * SIZE * SIZE;
    for (int r = 0; r < SIZE; r++)
        m[r][lane] = x[base + r * SIZE + lane];
    __syncthreads();
    for (int p = 0; p < SIZE - 1; p++) {
        // The column below the pivot, a row a lane.
        if (lane > p) {
            for (int k = 0; k < p; k++)
                m[lane][p] -= m[lane][k] * m[k][p];
            m[lane][p] /= m[p][p];
        }
        __syncthreads();
        // The row below the pivot, a column a lane.
        if (lane > p)
            for (int k = 0; k <= p; k++)
                m[p + 1][lane] -= m[p + 1][k] * m[k][lane];
        __syncthreads();
    }
    for (int r = 0; r < SIZE; r++)
        x[base + r * SIZE + lane] = m[r][lane];
}
#endif
