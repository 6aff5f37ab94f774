// A continued fraction for tan(x), from its end: one division of floats a step.
extern "C" __global__ void fraction(const float *x, float *out, int terms, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float square = x[i] * x[i], value = 2 * terms + 1;
    for (int k = terms - 1; k >= 0; k--)
        value = (2 * k + 1) - square / value;
    out[i] = x[i] / value;
}
