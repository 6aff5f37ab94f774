// The arithmetic-geometric mean, in double precision: one square root a step.
extern "C" __global__ void agm(const double *x, const double *y, double *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    double a = x[i], g = y[i];
    for (int k = 0; k < 12 && a - g > 1e-15 * a; k++) {
        double mean = (a + g) * 0.5;
        g = sqrt(a * g);
        a = mean;
    }
    out[i] = a;
}
