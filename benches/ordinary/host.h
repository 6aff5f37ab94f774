// What a CUDA source needs to be a plain C++ program for the host: lanes are rounds of a loop. A source with `#ifdef HOST` has a plain
// function of its kernel's name there, since its lanes work together.
#pragma once

#include <cfenv>
#include <cmath>
#include <cstddef>
#include <utility>

#define HOST
#define __global__ inline __attribute__((always_inline))
#define __device__ static
#define __constant__ static const
#define __noinline__ __attribute__((noinline))
#define __launch_bounds__(...)

struct Place {
    unsigned x, y, z;
};
static Place threadIdx, blockIdx, blockDim, gridDim;

struct float2 {
    float x, y;
};
struct float4 {
    float x, y, z, w;
};
struct uint4 {
    unsigned x, y, z, w;
};
static inline float2 make_float2(float x, float y) { return {x, y}; }

static inline int min(int a, int b) { return a < b ? a : b; }
static inline int max(int a, int b) { return a > b ? a : b; }

static inline unsigned long long __umul64hi(unsigned long long a, unsigned long long b)
{
    return (unsigned __int128)a * b >> 64;
}

// The fast functions are those of the C library, the nearest that there is. It has some of the names itself.
#define __expf expf
#define __logf logf
#define __sinf sinf
#define __cosf cosf
static inline float __fdividef(float a, float b) { return a / b; }

// The program runs with `Upward`: what is rounded down is the opposite of its opposite that is rounded up.
static inline float __fadd_ru(float a, float b) { return a + b; }
static inline float __fadd_rd(float a, float b) { return -(-a - b); }
static inline float __fmul_ru(float a, float b) { return a * b; }
static inline float __fmul_rd(float a, float b) { return -(-a * b); }

struct Upward {
    Upward() { std::fesetround(FE_UPWARD); }
    ~Upward() { std::fesetround(FE_TONEAREST); }
};

// Calls a plain function, or a kernel for each lane of a launch. Arguments are given as cuLaunchKernel takes them.
template <auto kernel, bool each_lane> struct Launch {
    template <typename... A> static void with(const unsigned *grid, const unsigned *block, A... arguments)
    {
        if (!each_lane)
            return kernel(arguments...);
        gridDim = {grid[0], grid[1], 1};
        blockDim = {block[0], block[1], 1};
        for (blockIdx.y = 0; blockIdx.y < grid[1]; blockIdx.y++)
            for (blockIdx.x = 0; blockIdx.x < grid[0]; blockIdx.x++)
                for (threadIdx.y = 0; threadIdx.y < block[1]; threadIdx.y++)
                    for (threadIdx.x = 0; threadIdx.x < block[0]; threadIdx.x++)
                        kernel(arguments...);
    }

    template <typename... A, std::size_t... I>
    static void take(void (*)(A...), const unsigned *grid, const unsigned *block, void **arguments, std::index_sequence<I...>)
    {
        with<A...>(grid, block, *(A *)arguments[I]...);
    }

    template <typename... A>
    static void run(void (*signature)(A...), const unsigned *grid, const unsigned *block, void **arguments)
    {
        take(signature, grid, block, arguments, std::index_sequence_for<A...>());
    }
};
