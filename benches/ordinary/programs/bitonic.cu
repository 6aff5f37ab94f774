// Sorts rows of 256 numbers by a bitonic network in shared memory; the plain function has the same network as loops.
#define ROW 256
#ifdef HOST
void bitonic(int *data, int rows)
{
    for (int r = 0; r < rows; r++) {
        int *row = data + r * ROW;
        for (int size = 2; size <= ROW; size *= 2)
            for (int by = size / 2; by > 0; by /= 2)
                for (int i = 0; i < ROW; i++) {
                    int other = i ^ by;
                    if (other > i && (row[i] > row[other]) == ((i & size) == 0)) {
                        int t = row[i];
                        row[i] = row[other];
                        row[other] = t;
                    }
                }
    }
}
#else
extern "C" __global__ void bitonic(int *data, int rows)
{
    __shared__ int row[ROW];
    int i = threadIdx.x;
    row[i] = data[blockIdx.x * ROW + i];
    __syncthreads();
    for (int size = 2; size <= ROW; size *= 2)
        for (int by = size / 2; by > 0; by /= 2) {
            int other = i ^ by;
            if (other > i && (row[i] > row[other]) == ((i & size) == 0)) {
                int t = row[i];
                row[i] = row[other];
                row[other] = t;
            }
            __syncthreads();
        }
    data[blockIdx.x * ROW + i] = row[i];
}
#endif
