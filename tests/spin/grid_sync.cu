// Rounds of a sum of neighbours, with a barrier of the whole grid after each.
// nvcc -ptx -arch=sm_80 -o grid_sync.sm_80.ptx grid_sync.cu
#include <cooperative_groups.h>

extern "C" __global__ void k(unsigned *a)
{
    cooperative_groups::grid_group grid = cooperative_groups::this_grid();
    unsigned n = grid.size(), i = grid.thread_rank();
    unsigned *from = a, *to = a + n;
    from[i] = i;
    grid.sync();
    for (int round = 0; round < 5; round++) {
        to[i] = 3 * from[(i + 1) % n] + from[(i + n - 1) % n];
        grid.sync();
        unsigned *other = from;
        from = to;
        to = other;
    }
}
