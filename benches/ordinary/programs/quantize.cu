// Floats become integers of 4 bits and the remaining error goes to the next: conversions both ways.
extern "C" __global__ void quantize(const float *x, unsigned *out, float scale, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float error = 0.0f;
    unsigned packed = 0;
    for (int k = 0; k < 8; k++) {
        float value = x[8 * i + k] * scale + error;
        int level = (int)(value + 0.5f);
        level = level < 0 ? 0 : level > 15 ? 15 : level;
        error = value - (float)level;
        packed |= (unsigned)level << 4 * k;
    }
    out[i] = packed;
}
