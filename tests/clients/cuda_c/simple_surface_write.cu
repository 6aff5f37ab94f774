// A surface object that a kernel writes, and a texture object over the same array that another reads.
#include "check.h"

// clang has no surface functions of its own yet: this is what they come to.
__device__ void write_2d(cudaSurfaceObject_t surface, int x_bytes, int y, unsigned value) {
    asm volatile("sust.b.2d.b32.trap [%0, {%1, %2}], {%3};" ::"l"(surface), "r"(x_bytes), "r"(y), "r"(value) : "memory");
}

__global__ void paint(cudaSurfaceObject_t surface, int width, int height) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < width && y < height) write_2d(surface, x * 4, y, __float_as_uint(1000.0f * y + x));
}

__global__ void mirror(cudaTextureObject_t image, float *out, int width, int height) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < width && y < height) out[y * width + x] = tex2D<float>(image, width - 1 - x + 0.5f, y + 0.5f);
}

int main() {
    const int width = 40, height = 24;
    cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
    cudaArray_t array;
    CHECK(cudaMallocArray(&array, &format, width, height, cudaArraySurfaceLoadStore));
    cudaResourceDesc resource = {};
    resource.resType = cudaResourceTypeArray;
    resource.res.array.array = array;
    cudaSurfaceObject_t surface;
    CHECK(cudaCreateSurfaceObject(&surface, &resource));
    cudaTextureDesc how = {};
    cudaTextureObject_t texture;
    CHECK(cudaCreateTextureObject(&texture, &resource, &how, nullptr));
    Buffer<float> out(width * height);
    dim3 grid((width + 7) / 8, (height + 7) / 8), block(8, 8);
    paint<<<grid, block>>>(surface, width, height);
    mirror<<<grid, block>>>(texture, out.device, width, height);
    CHECK(cudaGetLastError());
    std::vector<float> mirrored = out.read(), painted(width * height);
    CHECK(cudaMemcpy2DFromArray(painted.data(), width * 4, array, 0, 0, width * 4, height, cudaMemcpyDeviceToHost));
    size_t wrong = 0;
    for (int y = 0; y < height; y++)
        for (int x = 0; x < width; x++) {
            wrong += painted[y * width + x] != 1000.0f * y + x;
            wrong += mirrored[y * width + x] != 1000.0f * y + (width - 1 - x);
        }
    CHECK(cudaDestroyTextureObject(texture));
    CHECK(cudaDestroySurfaceObject(surface));
    CHECK(cudaFreeArray(array));
    return finish("simple_surface_write", wrong);
}
