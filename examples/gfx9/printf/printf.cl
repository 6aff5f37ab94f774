// Lanes that print, some from divergent code: numbers of all sizes, vectors, strings. The lines of a call come lane by lane.
kernel void lines(uint count) {
  uint item = get_global_id(0);
  if (get_local_id(0) == 0)
    printf("group %u: items from %u\n", (uint)get_group_id(0), item);
  if (item < count && item % 7 == 3) {
    float x = (float)item / 8;
    long product = (long)item * -0x123456789;
    printf("%3u: %f %.3e %ld %#lx %10s\n", item, x, (double)x * 1e10, product, product, "seventh");
    if (item % 3 == 0)
      printf("%5.1v4hlf|%v3d|%v8hhd|%v2lx %c%%\n", (float4)(x, -x, x * x, 0.5f), (int3)(item, -1, 1 << item % 31),
             convert_char8((int8)(item) * (int8)(1, 2, 3, 4, 5, 6, 7, 8)), (ulong2)(product, item), 'a' + item % 26);
  }
}
