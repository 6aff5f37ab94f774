// What the CUDA source does by shuffles goes through local memory here, in the same order of additions.
#define BLOCK 256
#define WARP 32

kernel void reduce(global const float *x, global float *partial, global int *maximum, int n) {
  local float sums[BLOCK];
  local int maxima[BLOCK];
  int item = get_local_id(0), lane = item % WARP;
  float sum = 0.0f;
  int high = INT_MIN;
  for (int i = get_global_id(0); i < n; i += get_global_size(0)) {
    float v = x[i];
    sum += v;
    high = max(high, convert_int_rte(v));
  }
  sums[item] = sum;
  maxima[item] = high;
  for (int step = WARP / 2; step > 0; step >>= 1) {
    barrier(CLK_LOCAL_MEM_FENCE);
    if (lane < step) {
      sums[item] += sums[item + step];
      maxima[item] = max(maxima[item], maxima[item + step]);
    }
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  if (item == 0) {
    for (int i = WARP; i < BLOCK; i += WARP) {
      sums[0] += sums[i];
      maxima[0] = max(maxima[0], maxima[i]);
    }
    partial[get_group_id(0)] = sums[0];
    atomic_max(maximum, maxima[0]);
  }
}
