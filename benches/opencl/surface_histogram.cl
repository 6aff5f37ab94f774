// Also compiled for GFX9. OpenCL has no atomic operations on images: the counters are a buffer.
kernel void brightness(read_only image2d_t image, global uint *bins, int width, int height) {
  const sampler_t nearest = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_NONE | CLK_FILTER_NEAREST;
  int2 at = (int2)(get_global_id(0), get_global_id(1));
  if (at.x >= width || at.y >= height)
    return;
  uint4 p = read_imageui(image, nearest, at);
  atomic_inc(&bins[(77 * p.x + 150 * p.y + 29 * p.z + 128) >> 8]);
}
