// The greatest worth of things that a bag holds: the best of each weight so far is in a local array.
#define BAG 48
extern "C" __global__ void knapsack(const int *weight, const int *worth, int *out, int things, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    int best[BAG + 1];
    for (int c = 0; c <= BAG; c++)
        best[c] = 0;
    for (int k = 0; k < things; k++) {
        int heavy = weight[k * n + i], dear = worth[k * n + i];
        for (int c = BAG; c >= heavy; c--)
            best[c] = max(best[c], best[c - heavy] + dear);
    }
    out[i] = best[BAG];
}
