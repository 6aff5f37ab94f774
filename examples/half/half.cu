// Blends two pictures with a high range of brightness, kept as halves, and makes it lighter by `gain`: `mask` says how much
// of the second one is taken. Arithmetic is in single precision. `grey` is what a screen would show.
#include <cuda_fp16.h>

extern "C" __global__ void blend(const __half *a, const __half *b, const __half *mask, __half *out, unsigned char *grey, int n,
                                 float gain)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float x = __half2float(a[i]), y = __half2float(b[i]);
    float light = fmaf(__half2float(mask[i]), y - x, x) * gain;
    out[i] = __float2half_rn(light);
    grey[i] = __float2uint_rn(255.0f - 255.0f / (1.0f + light));
}
