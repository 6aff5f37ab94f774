// Sorts segments of an array, one lane a segment, by a function that calls itself. Segment i is from starts[i] to
// starts[i + 1]. Lanes part where they compare, and each is at a depth of its own.

static __device__ __noinline__ void quicksort(float *low, float *high)
{
    if (low >= high)
        return;
    float pivot = low[(high - low) / 2];
    float *i = low, *j = high;
    while (i <= j) {
        while (*i < pivot)
            i++;
        while (*j > pivot)
            j--;
        if (i <= j) {
            float t = *i;
            *i++ = *j;
            *j-- = t;
        }
    }
    quicksort(low, j);
    quicksort(i, high);
}

extern "C" __global__ void quicksort_segments(float *data, const int *starts, int segments)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < segments)
        quicksort(data + starts[i], data + starts[i + 1] - 1);
}
