kernel void heat(global const double *now, global double *next, int w, int h, double rate) {
  int x = get_global_id(0), y = get_global_id(1);
  if (x >= w || y >= h)
    return;
  int i = y * w + x;
  double c = now[i];
  if (x > 0 && x < w - 1 && y > 0 && y < h - 1)
    c = fma(rate, fma(-4.0, c, (now[i - 1] + now[i + 1]) + (now[i - w] + now[i + w])), c);
  next[i] = c;
}
