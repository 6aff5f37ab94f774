kernel void histogram_shared(global const uchar *data, global uint *bins, int n) {
  local uint counts[256];
  for (int i = get_local_id(0); i < 256; i += get_local_size(0))
    counts[i] = 0;
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int i = get_global_id(0); i < n; i += get_global_size(0))
    atomic_inc(&counts[data[i]]);
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int i = get_local_id(0); i < 256; i += get_local_size(0))
    if (counts[i])
      atomic_add(&bins[i], counts[i]);
}
