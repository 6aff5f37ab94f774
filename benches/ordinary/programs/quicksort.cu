// Each lane sorts a row of its own in place, by quicksort with a stack of its own.
extern "C" __global__ void quicksort(int *data, int length, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    int *row = data + i * length;
    int begins[16], ends[16], depth = 0;
    begins[0] = 0;
    ends[0] = length - 1;
    while (depth >= 0) {
        int begin = begins[depth], end = ends[depth];
        if (begin >= end) {
            depth--;
            continue;
        }
        int pivot = row[(begin + end) / 2], low = begin, high = end;
        while (low <= high) {
            while (row[low] < pivot)
                low++;
            while (row[high] > pivot)
                high--;
            if (low <= high) {
                int t = row[low];
                row[low++] = row[high];
                row[high--] = t;
            }
        }
        // The shorter part is next, so that the stack stays small.
        if (high - begin < end - low) {
            begins[depth] = low;
            begins[depth + 1] = begin;
            ends[++depth] = high;
        } else {
            ends[depth] = high;
            begins[depth + 1] = low;
            ends[++depth] = end;
        }
    }
}
