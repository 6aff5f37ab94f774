// Sums of an array by a tree in dynamic LDS, which is an argument of the kernel. Any workgroup size.
kernel void tree(global const uint *in, global uint *sums, uint n, local uint *part, local uint *maxima, global uint *high) {
  uint lane = get_local_id(0), sum = 0, most = 0;
  for (uint i = get_global_id(0); i < n; i += get_global_size(0)) {
    sum += in[i];
    most = max(most, in[i]);
  }
  part[lane] = sum;
  maxima[lane] = most;
  barrier(CLK_LOCAL_MEM_FENCE);
  for (uint left = get_local_size(0); left > 1;) {
    uint half_way = (left + 1) / 2;
    if (lane + half_way < left) {
      part[lane] += part[lane + half_way];
      maxima[lane] = max(maxima[lane], maxima[lane + half_way]);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    left = half_way;
  }
  if (lane == 0) {
    sums[get_group_id(0)] = part[0];
    high[get_group_id(0)] = maxima[0];
  }
}
