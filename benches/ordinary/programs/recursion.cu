// The number of ways to give change, by recursion.
__device__ __noinline__ int ways(const int *coins, int kinds, int amount)
{
    if (amount == 0)
        return 1;
    if (amount < 0 || kinds == 0)
        return 0;
    return ways(coins, kinds - 1, amount) + ways(coins, kinds, amount - coins[kinds - 1]);
}

extern "C" __global__ void recursion(const int *coins, const int *amounts, int *out, int kinds, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    out[i] = ways(coins, kinds, amounts[i]);
}
