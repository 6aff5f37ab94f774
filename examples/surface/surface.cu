// An image filter and a histogram over surfaces, as CUDA's surface functions and PTX's reductions on surfaces compile.
#include <cuda_runtime.h>

// Sharpens: twice a pixel less the mean of its neighbourhood, weighted 1 2 1 in both directions. Past the edges the nearest
// pixel counts.
extern "C" __global__ void sharpen(cudaSurfaceObject_t in, cudaSurfaceObject_t out, int width, int height)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height)
        return;
    int r = 0, g = 0, b = 0;
    for (int dy = -1; dy <= 1; dy++)
        for (int dx = -1; dx <= 1; dx++) {
            int weight = (2 - abs(dx)) * (2 - abs(dy));
            uchar4 p = surf2Dread<uchar4>(in, (x + dx) * 4, y + dy, cudaBoundaryModeClamp);
            r += weight * p.x;
            g += weight * p.y;
            b += weight * p.z;
        }
    uchar4 p = surf2Dread<uchar4>(in, x * 4, y);
    r = min(max((32 * p.x - r + 8) >> 4, 0), 255);
    g = min(max((32 * p.y - g + 8) >> 4, 0), 255);
    b = min(max((32 * p.z - b + 8) >> 4, 0), 255);
    surf2Dwrite(make_uchar4(r, g, b, p.w), out, x * 4, y);
}

// Counts how bright pixels are: one-dimensional bins of 32 bits.
extern "C" __global__ void brightness(cudaSurfaceObject_t image, cudaSurfaceObject_t bins, int width, int height)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height)
        return;
    uchar4 p = surf2Dread<uchar4>(image, x * 4, y);
    int grey = (77 * p.x + 150 * p.y + 29 * p.z + 128) >> 8;
    asm volatile("sured.b.1d.add.u32.trap [%0, {%1}], %2;" ::"l"(bins), "r"(grey * 4), "r"(1) : "memory");
}

// Turns the picture and makes it smaller: sampled linearly between pixels, and over and over past its edges.
extern "C" __global__ void turn(cudaTextureObject_t picture, cudaSurfaceObject_t out, int width, int height, float cosine, float sine)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height)
        return;
    float u = __fadd_rn(__fmul_rn(x, 0.0078125f), -0.625f), v = __fadd_rn(__fmul_rn(y, 0.0078125f), -0.5f);
    float4 p = tex2D<float4>(picture, __fadd_rn(__fmul_rn(u, cosine), -__fmul_rn(v, sine)),
                             __fadd_rn(__fmul_rn(u, sine), __fmul_rn(v, cosine)));
    int r = __float2int_rn(__fmul_rn(p.x, 255.0f)), g = __float2int_rn(__fmul_rn(p.y, 255.0f));
    int b = __float2int_rn(__fmul_rn(p.z, 255.0f)), a = __float2int_rn(__fmul_rn(p.w, 255.0f));
    surf2Dwrite(make_uchar4(r, g, b, a), out, x * 4, y, cudaBoundaryModeZero);
}
