kernel void histogram_global(global const uchar *data, global uint *bins, int n) {
  for (int i = get_global_id(0); i < n; i += get_global_size(0))
    atomic_inc(&bins[data[i]]);
}
