// A set of 64-bit keys (none of them 0) in a table of mask + 1 slots, with linear probing: slots without a key are 0.
// A greater key takes a smaller one's slot, and the smaller one moves on. So the table is the same whatever the order of
// the insertions (Shun and Blelloch, Phase-Concurrent Hash Tables for Determinism, 2014).
typedef unsigned long long Key;

// The finaliser of MurmurHash3.
static __device__ Key mix(Key key)
{
    key = (key ^ key >> 33) * 0xff51afd7ed558ccdull;
    key = (key ^ key >> 33) * 0xc4ceb9fe1a85ec53ull;
    return key ^ key >> 33;
}

extern "C" __global__ void hashtable_insert(const Key *keys, Key *table, int n, unsigned mask)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    Key key = keys[i];
    unsigned slot = mix(key) & mask;
    while (key != 0) {
        Key there = *(volatile Key *)&table[slot];
        if (there == key)
            return;
        if (there < key) {
            if (atomicCAS(&table[slot], there, key) != there)
                continue;
            key = there;
        }
        slot = (slot + 1) & mask;
    }
}

// The slot of each key, or -1.
extern "C" __global__ void hashtable_find(const Key *keys, const Key *table, int *slots, int n, unsigned mask)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    Key key = keys[i];
    unsigned slot = mix(key) & mask;
    while (table[slot] > key)
        slot = (slot + 1) & mask;
    slots[i] = table[slot] == key ? (int)slot : -1;
}
