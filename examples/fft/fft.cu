// Fourier transform of 1024 complex numbers, radix 2, in shared memory: one row a block, any block size.
// roots[k] is exp(-2 pi i k / 1024) for k below 512, from a table, so that the result is determined bit by bit.
#define N 1024

extern "C" __global__ void fft(const float2 *in, float2 *out, const float2 *roots)
{
    __shared__ float2 x[N];
    in += blockIdx.x * N;
    out += blockIdx.x * N;
    for (int i = threadIdx.x; i < N; i += blockDim.x)
        x[__brev(i) >> 22] = in[i];
    for (int half = 1; half < N; half <<= 1) {
        __syncthreads();
        for (int k = threadIdx.x; k < N / 2; k += blockDim.x) {
            int within = k & (half - 1);
            int i = 2 * k - within, j = i + half;
            float2 w = roots[within * (N / 2 / half)], a = x[i], b = x[j];
            float re = fmaf(b.x, w.x, -(b.y * w.y)), im = fmaf(b.x, w.y, b.y * w.x);
            x[i] = make_float2(a.x + re, a.y + im);
            x[j] = make_float2(a.x - re, a.y - im);
        }
    }
    __syncthreads();
    for (int i = threadIdx.x; i < N; i += blockDim.x)
        out[i] = x[i];
}
