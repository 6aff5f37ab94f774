// The median of a window: insertion sort in a local array.
#define WINDOW 25
extern "C" __global__ void insertion(const int *x, int *median, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    int sorted[WINDOW];
    for (int k = 0; k < WINDOW; k++) {
        int value = x[i + k], at = k;
        while (at > 0 && sorted[at - 1] > value) {
            sorted[at] = sorted[at - 1];
            at--;
        }
        sorted[at] = value;
    }
    median[i] = sorted[WINDOW / 2];
}
