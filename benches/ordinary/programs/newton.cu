// Newton's method for a root of a cubic, in double precision: one division a step.
extern "C" __global__ void newton(const double *constant, double *root, int steps, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    double x = 2.0;
    for (int k = 0; k < steps; k++) {
        double value = ((x - 1.5) * x + 2.25) * x - constant[i], slope = (3.0 * x - 3.0) * x + 2.25;
        x -= value / slope;
    }
    root[i] = x;
}
