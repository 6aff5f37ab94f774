kernel void bitonic(global int *data, int n) {
  local int keys[1024];
  global int *row = data + get_group_id(0) * n;
  int size = 1;
  while (size < n)
    size <<= 1;
  for (int i = get_local_id(0); i < size; i += get_local_size(0))
    keys[i] = i < n ? row[i] : 0x7fffffff;
  for (int run = 2; run <= size; run <<= 1)
    for (int step = run >> 1; step > 0; step >>= 1) {
      barrier(CLK_LOCAL_MEM_FENCE);
      for (int pair = get_local_id(0); pair < size / 2; pair += get_local_size(0)) {
        int i = 2 * pair - (pair & (step - 1)), j = i + step;
        int a = keys[i], b = keys[j];
        bool up = (i & run) == 0;
        if (up ? a > b : a < b) {
          keys[i] = b;
          keys[j] = a;
        }
      }
    }
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int i = get_local_id(0); i < n; i += get_local_size(0))
    row[i] = keys[i];
}
