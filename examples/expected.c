// The examples' work as plain loops for the host: what warploom's results are compared with. make.py compiles and calls it.
// No arithmetic is left to the compiler (-ffp-contract=off): each fmaf is one rounding, the order is that of the kernels.
#include <math.h>
#include <stdint.h>
#include <string.h>

void saxpy(int n, float a, const float *x, float *y)
{
    for (int i = 0; i < n; i++)
        y[i] = fmaf(a, x[i], y[i]);
}

// The padding of the last tile adds 0 * 0 to the sum, which changes nothing but a negative zero; it is added here too.
void matmul(const float *a, const float *b, float *c, int m, int n, int k)
{
    int padded = (k + 15) / 16 * 16;
    for (int row = 0; row < m; row++)
        for (int column = 0; column < n; column++) {
            float sum = 0.0f;
            for (int i = 0; i < padded; i++)
                sum = i < k ? fmaf(a[row * k + i], b[i * n + column], sum) : fmaf(0.0f, 0.0f, sum);
            c[row * n + column] = sum;
        }
}

// `block` lanes take every (grid * block)th element; 32 lanes add up in a tree, the warps one after the other.
void reduce(const float *x, float *partial, int32_t *maximum, int n, int grid, int block)
{
    for (int i = 0; i < n; i++)
        if ((int)rintf(x[i]) > *maximum)
            *maximum = (int)rintf(x[i]);
    for (int b = 0; b < grid; b++) {
        float lane[1024];
        for (int t = 0; t < block; t++) {
            lane[t] = 0.0f;
            for (int i = b * block + t; i < n; i += grid * block)
                lane[t] += x[i];
        }
        float total = 0.0f;
        for (int first = 0; first < block; first += 32) {
            int lanes = block - first < 32 ? block - first : 32;
            for (int step = 16; step > 0; step >>= 1)
                for (int t = 0; t + step < lanes; t++)
                    lane[first + t] += lane[first + t + step];
            total = first == 0 ? lane[0] : total + lane[first];
        }
        partial[b] = total;
    }
}

void mandelbrot(uint16_t *out, int w, int h, float x0, float y0, float dx, float dy, int limit)
{
    for (int py = 0; py < h; py++)
        for (int px = 0; px < w; px++) {
            float cx = fmaf((float)px, dx, x0), cy = fmaf((float)py, dy, y0), x = 0.0f, y = 0.0f;
            int n = 0;
            for (; n < limit; n++) {
                float yy = y * y;
                if (fmaf(x, x, yy) > 4.0f)
                    break;
                float xy = x * y;
                x = fmaf(x, x, cx - yy);
                y = fmaf(2.0f, xy, cy);
            }
            out[py * w + px] = n;
        }
}

// Also returns the least distance, in pixels, of a body to the border of its pixel. 1 / sqrt in double and rounded once is
// the nearest float; a GPU's approximation is within 2 ulp of it.
float nbody(const float *position, const float *velocity, float *position_out, float *velocity_out, uint32_t *image, int n,
            float dt, float softening2, int w, int h, float pixels_per_unit)
{
    float margin = 1.0f;
    for (int i = 0; i < n; i++) {
        const float *p = position + 4 * i;
        float a[3] = {0.0f, 0.0f, 0.0f};
        for (int j = 0; j < n; j++) {
            const float *q = position + 4 * j;
            float x = q[0] - p[0], y = q[1] - p[1], z = q[2] - p[2];
            float square = fmaf(x, x, fmaf(y, y, fmaf(z, z, softening2)));
            float inverse = (float)(1.0 / sqrt((double)square));
            float pull = q[3] * inverse * inverse * inverse;
            a[0] = fmaf(x, pull, a[0]);
            a[1] = fmaf(y, pull, a[1]);
            a[2] = fmaf(z, pull, a[2]);
        }
        float *po = position_out + 4 * i, *vo = velocity_out + 4 * i;
        for (int k = 0; k < 3; k++) {
            vo[k] = fmaf(a[k], dt, velocity[4 * i + k]);
            po[k] = fmaf(vo[k], dt, p[k]);
        }
        vo[3] = velocity[4 * i + 3];
        po[3] = p[3];
        float fx = fmaf(po[0], pixels_per_unit, 0.5f * w), fy = fmaf(po[1], pixels_per_unit, 0.5f * h);
        float tx = fabsf(fx - rintf(fx)), ty = fabsf(fy - rintf(fy));
        margin = fminf(margin, fminf(tx, ty));
        int px = (int)floorf(fx), py = (int)floorf(fy);
        if (px >= 0 && px < w && py >= 0 && py < h)
            image[py * w + px]++;
    }
    return margin;
}

static double flow(double from, double to, double sharpness)
{
    double difference = from - to, s = difference * sharpness;
    return difference / fma(s, s, 1.0);
}

void stencil(const double *now, double *next, int w, int h, double sharpness, double rate)
{
    for (int y = 0; y < h; y++)
        for (int x = 0; x < w; x++) {
            int i = y * w + x;
            double c = now[i];
            double left = flow(now[x > 0 ? i - 1 : i], c, sharpness);
            double right = flow(now[x < w - 1 ? i + 1 : i], c, sharpness);
            double above = flow(now[y > 0 ? i - w : i], c, sharpness);
            double below = flow(now[y < h - 1 ? i + w : i], c, sharpness);
            next[i] = fma(rate, (left + right) + (above + below), c);
        }
}

void convolution(const float *taps, const float *in, float *out, int n, int radius)
{
    for (int i = 0; i < n; i++) {
        float sum = 0.0f;
        for (int k = 0; k <= 2 * radius; k++) {
            int from = i + k - radius;
            sum = fmaf(taps[k], from >= 0 && from < n ? in[from] : 0.0f, sum);
        }
        out[i] = sum;
    }
}

// In place; x is in the order of reversed bits, real and imaginary parts in turn.
void fft(float *x, const float *roots, int n)
{
    for (int half = 1; half < n; half *= 2)
        for (int first = 0; first < n; first += 2 * half)
            for (int k = 0; k < half; k++) {
                float *a = x + 2 * (first + k), *b = a + 2 * half;
                const float *w = roots + 2 * k * (n / 2 / half);
                float re = fmaf(b[0], w[0], -(b[1] * w[1])), im = fmaf(b[0], w[1], b[1] * w[0]);
                b[0] = a[0] - re;
                b[1] = a[1] - im;
                a[0] += re;
                a[1] += im;
            }
}

void blend(const float *a, const float *b, const float *mask, float *light, uint8_t *grey, int n, float gain)
{
    for (int i = 0; i < n; i++) {
        light[i] = fmaf(mask[i], b[i] - a[i], a[i]) * gain;
        grey[i] = (uint8_t)rintf(255.0f - 255.0f / (1.0f + light[i]));
    }
}
