// Iterations of z*z + c: loops of different lengths in the lanes of a warp, in double precision.
#include "check.h"

__host__ __device__ int iterations(double cx, double cy, int most) {
    double x = 0, y = 0;
    int i = 0;
    while (i < most) {
        double xx = x * x, yy = y * y;
        if (xx + yy > 4) break;
        y = 2 * x * y;
        y = y + cy;
        x = xx - yy;
        x = x + cx;
        i++;
    }
    return i;
}

__global__ void draw(int *image, int width, int height, int most) {
    int column = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
    if (column < width && row < height)
        image[row * width + column] = iterations(-2 + column * (3.0 / 256), -1 + row * (2.0 / 128), most);
}

int main() {
    const int width = 250, height = 123, most = 200;
    Buffer<int> image(width * height);
    draw<<<dim3((width + 31) / 32, (height + 7) / 8), dim3(32, 8)>>>(image.device, width, height, most);
    CHECK(cudaGetLastError());
    std::vector<int> found = image.read();
    // Fused multiply-adds may count differently at the border of the set.
    size_t different = 0;
    for (int row = 0; row < height; row++)
        for (int column = 0; column < width; column++)
            different += found[row * width + column] != iterations(-2 + column * (3.0 / 256), -1 + row * (2.0 / 128), most);
    return finish("mandelbrot", different > found.size() / 200);
}
