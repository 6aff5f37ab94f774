#define BLOCK 256

kernel void nbody(global const float4 *position, global const float4 *velocity, global float4 *position_out,
                  global float4 *velocity_out, global uint *image, int n, float dt, float softening2, int w, int h,
                  float pixels_per_unit) {
  local float4 tile[BLOCK];
  int item = get_local_id(0), i = get_global_id(0);
  float4 p = i < n ? position[i] : 0.0f;
  float ax = 0.0f, ay = 0.0f, az = 0.0f;
  for (int base = 0; base < n; base += BLOCK) {
    int j = base + item;
    tile[item] = j < n ? position[j] : 0.0f;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int k = 0; k < BLOCK; k++) {
      float4 q = tile[k];
      float x = q.x - p.x, y = q.y - p.y, z = q.z - p.z;
      float inverse = native_rsqrt(fma(x, x, fma(y, y, fma(z, z, softening2))));
      float pull = q.w * inverse * inverse * inverse;
      ax = fma(x, pull, ax);
      ay = fma(y, pull, ay);
      az = fma(z, pull, az);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  if (i >= n)
    return;
  float4 v = velocity[i];
  v.x = fma(ax, dt, v.x);
  v.y = fma(ay, dt, v.y);
  v.z = fma(az, dt, v.z);
  p.x = fma(v.x, dt, p.x);
  p.y = fma(v.y, dt, p.y);
  p.z = fma(v.z, dt, p.z);
  position_out[i] = p;
  velocity_out[i] = v;
  int px = convert_int_rtn(fma(p.x, pixels_per_unit, 0.5f * w));
  int py = convert_int_rtn(fma(p.y, pixels_per_unit, 0.5f * h));
  if (px >= 0 && px < w && py >= 0 && py < h)
    atomic_inc(&image[py * w + px]);
}
