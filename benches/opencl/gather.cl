kernel void gather(global const float *x, global const uint *from, global float *y, int n) {
  int i = get_global_id(0);
  if (i < n)
    y[i] = x[from[i]];
}
