kernel void saxpy(int n, float a, global const float *x, global float *y) {
  int i = get_global_id(0);
  if (i < n)
    y[i] = fma(a, x[i], y[i]);
}
