// Cosine transforms of 8 by 8 numbers, which a lane has in registers as far as there are so many: the rest is spilled.
#define SIZE 8
__device__ void row(float *x, int step)
{
    float s0 = x[0] + x[7 * step], d0 = x[0] - x[7 * step], s1 = x[step] + x[6 * step], d1 = x[step] - x[6 * step];
    float s2 = x[2 * step] + x[5 * step], d2 = x[2 * step] - x[5 * step];
    float s3 = x[3 * step] + x[4 * step], d3 = x[3 * step] - x[4 * step];
    float a = s0 + s3, b = s1 + s2, c = s0 - s3, d = s1 - s2;
    x[0] = 0.35355339f * (a + b);
    x[4 * step] = 0.35355339f * (a - b);
    x[2 * step] = 0.46193977f * c + 0.19134172f * d;
    x[6 * step] = 0.19134172f * c - 0.46193977f * d;
    x[step] = 0.49039264f * d0 + 0.41573481f * d1 + 0.27778512f * d2 + 0.09754516f * d3;
    x[3 * step] = 0.41573481f * d0 - 0.09754516f * d1 - 0.49039264f * d2 - 0.27778512f * d3;
    x[5 * step] = 0.27778512f * d0 - 0.49039264f * d1 + 0.09754516f * d2 + 0.41573481f * d3;
    x[7 * step] = 0.09754516f * d0 - 0.27778512f * d1 + 0.41573481f * d2 - 0.49039264f * d3;
}

extern "C" __global__ void __launch_bounds__(1024) dct(const float *x, float *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float m[SIZE * SIZE];
#pragma unroll
    for (int k = 0; k < SIZE * SIZE; k++)
        m[k] = x[k * n + i];
#pragma unroll
    for (int k = 0; k < SIZE; k++)
        row(m + k * SIZE, 1);
#pragma unroll
    for (int k = 0; k < SIZE; k++)
        row(m + k, SIZE);
#pragma unroll
    for (int k = 0; k < SIZE * SIZE; k++)
        out[k * n + i] = m[k];
}
