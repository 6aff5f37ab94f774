#define TILE 16

kernel void matmul(global const float *a, global const float *b, global float *c, int m, int n, int k) {
  local float tile_a[TILE][TILE];
  local float tile_b[TILE][TILE];
  int tx = get_local_id(0), ty = get_local_id(1);
  int row = get_group_id(1) * TILE + ty, column = get_group_id(0) * TILE + tx;
  float sum = 0.0f;
  for (int base = 0; base < k; base += TILE) {
    tile_a[ty][tx] = row < m && base + tx < k ? a[row * k + base + tx] : 0.0f;
    tile_b[ty][tx] = column < n && base + ty < k ? b[(base + ty) * n + column] : 0.0f;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int i = 0; i < TILE; i++)
      sum = fma(tile_a[ty][i], tile_b[i][tx], sum);
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  if (row < m && column < n)
    c[row * n + column] = sum;
}
