// Iterations until z = z^2 + c leaves the circle of radius 2, at most `limit`, for every pixel of a w x h image.
// The arithmetic is written as fmaf and in a fixed order, so that the result is determined bit by bit.
extern "C" __global__ void mandelbrot(unsigned short *out, int w, int h, float x0, float y0, float dx, float dy, int limit)
{
    int px = blockIdx.x * blockDim.x + threadIdx.x;
    int py = blockIdx.y * blockDim.y + threadIdx.y;
    if (px >= w || py >= h)
        return;
    float cx = fmaf((float)px, dx, x0), cy = fmaf((float)py, dy, y0);
    float x = 0.0f, y = 0.0f;
    int n = 0;
    while (n < limit) {
        float yy = y * y;
        if (fmaf(x, x, yy) > 4.0f)
            break;
        float xy = x * y;
        x = fmaf(x, x, cx - yy);
        y = fmaf(2.0f, xy, cy);
        n++;
    }
    out[py * w + px] = n;
}
