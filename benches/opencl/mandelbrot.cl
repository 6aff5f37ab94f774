kernel void mandelbrot(global ushort *out, int w, int h, float x0, float y0, float dx, float dy, int limit) {
  int px = get_global_id(0), py = get_global_id(1);
  if (px >= w || py >= h)
    return;
  float cx = fma((float)px, dx, x0), cy = fma((float)py, dy, y0);
  float x = 0.0f, y = 0.0f;
  int n = 0;
  while (n < limit) {
    float yy = y * y;
    if (fma(x, x, yy) > 4.0f)
      break;
    float xy = x * y;
    x = fma(x, x, cx - yy);
    y = fma(2.0f, xy, cy);
    n++;
  }
  out[py * w + px] = n;
}
