// Rays march through spheres until one is hit or they are far away: loops that lanes leave early.
extern "C" __global__ void rays(const float4 *spheres, unsigned *out, int count, int width, int height)
{
    int px = blockIdx.x * blockDim.x + threadIdx.x, py = blockIdx.y;
    if (px >= width)
        return;
    float dx = (px - width * 0.5f) / width, dy = (py - height * 0.5f) / width, dz = 1.0f;
    float scale = 1.0f / sqrtf(dx * dx + dy * dy + dz * dz);
    dx *= scale, dy *= scale, dz *= scale;
    float t = 0.0f;
    unsigned steps = 0, hit = 255;
    while (steps < 64 && t < 40.0f) {
        float nearest = 100.0f, x = dx * t, y = dy * t, z = dz * t;
        int which = 0;
        for (int k = 0; k < count; k++) {
            float4 s = spheres[k];
            float ox = x - s.x, oy = y - s.y, oz = z - s.z;
            float distance = sqrtf(ox * ox + oy * oy + oz * oz) - s.w;
            if (distance < nearest) {
                nearest = distance;
                which = k;
            }
        }
        steps++;
        if (nearest < 0.01f) {
            hit = which;
            break;
        }
        t += nearest;
    }
    out[py * width + px] = hit << 8 | steps;
}
