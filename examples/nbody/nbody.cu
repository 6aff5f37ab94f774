// One step of gravity between n bodies, all pairs, in tiles of blockDim.x bodies that go through dynamic shared memory
// (blockDim.x * 16 bytes). Positions are x, y, z, mass. After the step every body adds one to its pixel of `image`.
extern "C" __global__ void nbody(const float4 *position, const float4 *velocity, float4 *position_out, float4 *velocity_out,
                                 unsigned *image, int n, float dt, float softening2, int w, int h, float pixels_per_unit)
{
    extern __shared__ float4 tile[];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float4 zero = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
    float4 p = i < n ? position[i] : zero;
    float ax = 0.0f, ay = 0.0f, az = 0.0f;
    for (int base = 0; base < n; base += blockDim.x) {
        int j = base + threadIdx.x;
        tile[threadIdx.x] = j < n ? position[j] : zero;
        __syncthreads();
        for (int k = 0; k < blockDim.x; k++) {
            float4 q = tile[k];
            float x = q.x - p.x, y = q.y - p.y, z = q.z - p.z;
            float inverse = rsqrtf(fmaf(x, x, fmaf(y, y, fmaf(z, z, softening2))));
            float pull = q.w * inverse * inverse * inverse;
            ax = fmaf(x, pull, ax);
            ay = fmaf(y, pull, ay);
            az = fmaf(z, pull, az);
        }
        __syncthreads();
    }
    if (i >= n)
        return;
    float4 v = velocity[i];
    v.x = fmaf(ax, dt, v.x);
    v.y = fmaf(ay, dt, v.y);
    v.z = fmaf(az, dt, v.z);
    p.x = fmaf(v.x, dt, p.x);
    p.y = fmaf(v.y, dt, p.y);
    p.z = fmaf(v.z, dt, p.z);
    position_out[i] = p;
    velocity_out[i] = v;
    int px = __float2int_rd(fmaf(p.x, pixels_per_unit, 0.5f * w));
    int py = __float2int_rd(fmaf(p.y, pixels_per_unit, 0.5f * h));
    if (px >= 0 && px < w && py >= 0 && py < h)
        atomicAdd(&image[py * w + px], 1u);
}
