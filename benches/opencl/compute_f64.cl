kernel void dfma_chains(global const double *x, global double *y, int n, int rounds) {
  int i = get_global_id(0);
  if (i >= n)
    return;
  double v = x[i];
  double a = v, b = v + 1.0, c = v + 2.0, d = v + 3.0;
  for (int r = 0; r < rounds; r++) {
    for (int k = 0; k < 4; k++) {
      a = fma(a, 0.75, v);
      b = fma(b, 0.625, v);
      c = fma(c, 0.5, v);
      d = fma(d, 0.375, v);
    }
  }
  y[i] = a + b + (c + d);
}
