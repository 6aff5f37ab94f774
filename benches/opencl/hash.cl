kernel void mix(global const ulong *x, global ulong *y, int n, int rounds) {
  int i = get_global_id(0);
  if (i >= n)
    return;
  ulong z = x[i];
  for (int r = 0; r < rounds; r++) {
    z += 0x9e3779b97f4a7c15ul;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ul;
    z = (z ^ z >> 27) * 0x94d049bb133111ebul;
    z ^= z >> 31;
  }
  y[i] = z;
}
