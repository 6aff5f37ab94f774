// A sum of damped waves, by the fast functions.
extern "C" __global__ void wave(const float4 *waves, float *out, int count, float step, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float t = i * step, sum = 0.0f;
    for (int k = 0; k < count; k++) {
        float4 w = waves[k];
        sum += __fdividef(w.x * __sinf(w.y * t + w.z) + __cosf(w.z * t), 1.0f + __expf(-w.w * t));
    }
    out[i] = sum + __logf(1.0f + t);
}
