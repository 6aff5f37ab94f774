// Gravity between all pairs of bodies, positions by tiles in shared memory, float4 loads.
#include "check.h"

const int TILE = 128;

__global__ void forces(const float4 *bodies, float4 *accelerations, int n, float softening) {
    __shared__ float4 tile[TILE];
    int i = blockIdx.x * TILE + threadIdx.x;
    float4 own = bodies[i];
    float ax = 0, ay = 0, az = 0;
    for (int start = 0; start < n; start += TILE) {
        tile[threadIdx.x] = bodies[start + threadIdx.x];
        __syncthreads();
        for (int k = 0; k < TILE; k++) {
            float dx = tile[k].x - own.x, dy = tile[k].y - own.y, dz = tile[k].z - own.z;
            float r2 = dx * dx + dy * dy + dz * dz + softening;
            float inverse = rsqrtf(r2);
            float s = tile[k].w * inverse * inverse * inverse;
            ax += dx * s, ay += dy * s, az += dz * s;
        }
        __syncthreads();
    }
    accelerations[i] = make_float4(ax, ay, az, 0);
}

int main() {
    const int n = 512;
    const float softening = 0.01f;
    std::vector<float4> bodies(n);
    unsigned state = 2;
    auto coordinate = [&] { return next_random(state) % 2000 / 1000.0f - 1; };
    for (float4 &body : bodies) body = make_float4(coordinate(), coordinate(), coordinate(), 1 + next_random(state) % 4);
    Buffer<float4> d(bodies), result(n);
    forces<<<n / TILE, TILE>>>(d.device, result.device, n, softening);
    CHECK(cudaGetLastError());
    std::vector<float4> a = result.read();
    size_t wrong = 0;
    for (int i = 0; i < n; i++) {
        double x = 0, y = 0, z = 0, size = 0;
        for (int k = 0; k < n; k++) {
            double dx = bodies[k].x - bodies[i].x, dy = bodies[k].y - bodies[i].y, dz = bodies[k].z - bodies[i].z;
            double r2 = dx * dx + dy * dy + dz * dz + softening, s = bodies[k].w / (r2 * std::sqrt(r2));
            x += dx * s, y += dy * s, z += dz * s, size += std::sqrt(r2) * s;
        }
        wrong += std::fabs(a[i].x - x) + std::fabs(a[i].y - y) + std::fabs(a[i].z - z) > 1e-5 * size;
    }
    return finish("nbody", wrong);
}
