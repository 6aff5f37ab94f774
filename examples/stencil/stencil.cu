// Smooths a w x h image in double precision and keeps its edges (Perona and Malik, 1990): `steps` steps of diffusion, in
// which little flows between neighbours that differ much. A cooperative launch: the blocks wait for each other between the
// steps. `now` is the image and in the end the result if `steps` is even; else `next` is. `arrived` is one zero.

static __device__ void wait_for_all_blocks(unsigned *arrived, unsigned all)
{
    __syncthreads();
    if (threadIdx.x == 0) {
        __threadfence();
        atomicAdd(arrived, 1u);
        while (*(volatile unsigned *)arrived < all)
            ;
        __threadfence();
    }
    __syncthreads();
}

static __device__ double flow(double from, double to, double sharpness)
{
    double difference = from - to, s = difference * sharpness;
    return difference / fma(s, s, 1.0);
}

extern "C" __global__ void stencil(double *now, double *next, unsigned char *grey, unsigned *arrived, int w, int h, int steps,
                                   double sharpness, double rate)
{
    int first = blockIdx.x * blockDim.x + threadIdx.x, lanes = gridDim.x * blockDim.x;
    #pragma unroll 1
    for (int step = 1; step <= steps; step++) {
        for (int i = first; i < w * h; i += lanes) {
            int x = i % w, y = i / w;
            double c = now[i];
            double left = flow(x > 0 ? now[i - 1] : c, c, sharpness);
            double right = flow(x < w - 1 ? now[i + 1] : c, c, sharpness);
            double above = flow(y > 0 ? now[i - w] : c, c, sharpness);
            double below = flow(y < h - 1 ? now[i + w] : c, c, sharpness);
            next[i] = fma(rate, (left + right) + (above + below), c);
        }
        wait_for_all_blocks(arrived, step * gridDim.x);
        double *done = next;
        next = now;
        now = done;
    }
    for (int i = first; i < w * h; i += lanes)
        grey[i] = __double2uint_rn(now[i] * 255.0);
}
