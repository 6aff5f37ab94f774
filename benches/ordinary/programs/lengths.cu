// Lengths of random walks in the plane: one square root of floats a step.
extern "C" __global__ void lengths(const float2 *points, float *out, int window, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float length = 0.0f;
    float2 last = points[i];
    for (int k = 1; k <= window; k++) {
        float2 next = points[i + k];
        float dx = next.x - last.x, dy = next.y - last.y;
        length += sqrtf(dx * dx + dy * dy);
        last = next;
    }
    out[i] = length;
}
