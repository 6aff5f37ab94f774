// Sorts 48 numbers an item in an array of its own, which lies in scratch memory: every index is of the lane.
#define N 48

kernel void insertion(global const int *in, global int *out, uint items) {
  uint item = get_global_id(0);
  if (item >= items)
    return;
  int keys[N];
#pragma unroll 1
  for (uint i = 0; i < N; i++)
    keys[i] = in[item * N + i];
#pragma unroll 1
  for (int i = 1; i < N; i++) {
    int key = keys[i], j = i - 1;
#pragma unroll 1
    while (j >= 0 && keys[j] > key) {
      keys[j + 1] = keys[j];
      j--;
    }
    keys[j + 1] = key;
  }
#pragma unroll 1
  for (uint i = 0; i < N; i++)
    out[item * N + i] = keys[i];
}
