// Also compiled for GFX9. Twice a pixel less the mean of its neighbourhood, weighted 1 2 1 in both directions. Past the edges
// the nearest pixel counts. (Oclgrind 21.10 takes a clamp's limits for vectors even where they are not.)
kernel void sharpen(read_only image2d_t in, write_only image2d_t out, int width, int height) {
  const sampler_t nearest = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP_TO_EDGE | CLK_FILTER_NEAREST;
  int2 at = (int2)(get_global_id(0), get_global_id(1));
  if (at.x >= width || at.y >= height)
    return;
  int4 sum = 0;
  for (int dy = -1; dy <= 1; dy++)
    for (int dx = -1; dx <= 1; dx++)
      sum += (2 - (int)abs(dx)) * (2 - (int)abs(dy)) * convert_int4(read_imageui(in, nearest, at + (int2)(dx, dy)));
  int4 p = convert_int4(read_imageui(in, nearest, at));
  int4 sharp = clamp((32 * p - sum + 8) >> 4, (int4)(0), (int4)(255));
  sharp.w = p.w;
  write_imageui(out, at, convert_uint4(sharp));
}
