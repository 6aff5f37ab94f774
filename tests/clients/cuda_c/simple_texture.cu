// A texture object over an array: linear filter, wrapped normalised coordinates; and one over linear memory.
#include "check.h"

__global__ void rotate(cudaTextureObject_t image, float *out, int width, int height, float angle) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height) return;
    float u = x / (float)width - 0.5f, v = y / (float)height - 0.5f;
    out[y * width + x] = tex2D<float>(image, u * cosf(angle) - v * sinf(angle) + 0.5f, v * cosf(angle) + u * sinf(angle) + 0.5f);
}

__global__ void fetch(cudaTextureObject_t table, const int *at, float *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = tex1Dfetch<float>(table, at[i]);
}

int main() {
    const int width = 64, height = 32;
    std::vector<float> image(width * height);
    unsigned state = 9;
    for (float &x : image) x = next_random(state) % 256;
    cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
    cudaArray_t array;
    CHECK(cudaMallocArray(&array, &format, width, height));
    CHECK(cudaMemcpy2DToArray(array, 0, 0, image.data(), width * 4, width * 4, height, cudaMemcpyHostToDevice));
    cudaResourceDesc resource = {};
    resource.resType = cudaResourceTypeArray;
    resource.res.array.array = array;
    cudaTextureDesc how = {};
    how.addressMode[0] = how.addressMode[1] = cudaAddressModeWrap;
    how.filterMode = cudaFilterModeLinear;
    how.normalizedCoords = 1;
    cudaTextureObject_t texture;
    CHECK(cudaCreateTextureObject(&texture, &resource, &how, nullptr));

    Buffer<float> out(width * height);
    const float angle = 0.5f;
    rotate<<<dim3(width / 16, height / 16), dim3(16, 16)>>>(texture, out.device, width, height, angle);
    CHECK(cudaGetLastError());
    std::vector<float> found = out.read();
    size_t wrong = 0;
    for (int y = 0; y < height; y++)
        for (int x = 0; x < width; x++) {
            double u = x / (double)width - 0.5, v = y / (double)height - 0.5;
            double tx = (u * cos(angle) - v * sin(angle) + 0.5) * width - 0.5, ty = (v * cos(angle) + u * sin(angle) + 0.5) * height - 0.5;
            double fx = tx - floor(tx), fy = ty - floor(ty);
            auto texel = [&](double i, double j) { return image[((int)j % height + height) % height * width + ((int)i % width + width) % width]; };
            double i = floor(tx), j = floor(ty);
            double value = (1 - fy) * ((1 - fx) * texel(i, j) + fx * texel(i + 1, j)) + fy * ((1 - fx) * texel(i, j + 1) + fx * texel(i + 1, j + 1));
            wrong += fabs(found[y * width + x] - value) > 2.5; // weights have 8 bits of fraction
        }
    CHECK(cudaDestroyTextureObject(texture));
    CHECK(cudaFreeArray(array));

    std::vector<int> at(100);
    for (int &i : at) i = next_random(state) % image.size();
    Buffer<float> linear(image), fetched(at.size());
    Buffer<int> dat(at);
    cudaResourceDesc of_memory = {};
    of_memory.resType = cudaResourceTypeLinear;
    of_memory.res.linear.devPtr = linear.device;
    of_memory.res.linear.desc = format;
    of_memory.res.linear.sizeInBytes = image.size() * 4;
    cudaTextureDesc plain = {};
    CHECK(cudaCreateTextureObject(&texture, &of_memory, &plain, nullptr));
    fetch<<<1, 128>>>(texture, dat.device, fetched.device, at.size());
    CHECK(cudaGetLastError());
    std::vector<float> values = fetched.read();
    for (size_t i = 0; i < at.size(); i++) wrong += values[i] != image[at[i]];
    return finish("simple_texture", wrong);
}
