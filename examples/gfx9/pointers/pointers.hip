// Functions called through a table of addresses, which the loader fills in; a pointer to a variable; generic pointers, that is
// addresses whose memory (LDS, scratch or global) only the lane knows.
typedef int (*Function)(int, const int *);
__device__ int factor = 3;
__device__ int *const pointer = &factor;

static __device__ __noinline__ int add(int x, const int *p) { return x + *p; }
static __device__ __noinline__ int multiply(int x, const int *p) { return x * *p - factor; }
static __device__ __noinline__ int mask(int x, const int *p) { return (x & ~*p) * *pointer; }
__device__ Function functions[3] = {add, multiply, mask};

extern "C" __global__ void pointers(const int *in, int *out, int n)
{
    __shared__ int here[256];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    here[threadIdx.x] = i * 7;
    int own[4] = {i, i + 1, i ^ 5, -i};
    __syncthreads();
    if (i >= n)
        return;
    const int *p = in[i] % 3 == 0 ? &here[(threadIdx.x + 1) % blockDim.x] : in[i] % 3 == 1 ? &own[in[i] & 3] : &in[i];
    out[i] = functions[in[i] % 5 % 3](in[i], p);
}
