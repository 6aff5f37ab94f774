// A Julia set in half precision (sm_53): a lane has two pixels, side by side, in the halves of its registers, and goes on until both
// have left the circle of radius 2. `out` says after how many rounds each did.
#include <cuda_fp16.h>

extern "C" __global__ void julia(uchar2 *out, int width, int height, float zoom, float re, float im, int rounds)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (2 * x >= width || y >= height)
        return;
    __half2 scale = __float2half2_rn(zoom), real = __float2half2_rn(re), imaginary = __float2half2_rn(im);
    __half2 zr = __hmul2(__floats2half2_rn(2 * x - width / 2, 2 * x + 1 - width / 2), scale);
    __half2 zi = __hmul2(__half2half2(__int2half_rn(y - height / 2)), scale);
    __half2 count = __float2half2_rn(0), limit = __float2half2_rn(4);
    for (int i = 0; i < rounds; i++) {
        __half2 rr = __hmul2(zr, zr), size = __hfma2(zi, zi, rr);
        if (__hbgt2(size, limit))
            break;
        count = __hadd2(count, __hle2(size, limit));
        __half2 difference = __hfma2(__hneg2(zi), zi, rr);
        zi = __hfma2(__hadd2(zr, zr), zi, imaginary);
        zr = __hadd2(difference, real);
    }
    out[y * (width / 2) + x] = make_uchar2(__half2uint_rz(__low2half(count)), __half2uint_rz(__high2half(count)));
}
