// Half precision for the CUDA sources of the examples, see cuda.h.
#pragma once

typedef _Float16 __half;
INLINE float __half2float(__half x) { return x; }
INLINE __half __float2half_rn(float x) { return (__half)x; }
