kernel void fma_chains(global const float *x, global float *y, int n, int rounds) {
  int i = get_global_id(0);
  if (i >= n)
    return;
  float v = x[i];
  float a = v, b = v + 1.0f, c = v + 2.0f, d = v + 3.0f;
  for (int r = 0; r < rounds; r++) {
    for (int k = 0; k < 4; k++) {
      a = fma(a, 0.75f, v);
      b = fma(b, 0.625f, v);
      c = fma(c, 0.5f, v);
      d = fma(d, 0.375f, v);
    }
  }
  y[i] = a + b + (c + d);
}
