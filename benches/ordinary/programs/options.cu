// Prices of options by Black and Scholes: roots, logarithms, exponentials and divisions of floats.
__device__ float normal(float d)
{
    float k = 1.0f / (1.0f + 0.2316419f * fabsf(d));
    float tail = 0.39894228f * expf(-0.5f * d * d) *
                 (k * (0.31938153f + k * (-0.356563782f + k * (1.781477937f + k * (-1.821255978f + k * 1.330274429f)))));
    return d > 0.0f ? 1.0f - tail : tail;
}

extern "C" __global__ void options(const float *price, const float *strike, const float *years, float *call, float *put,
                                   float rate, float volatility, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float root = sqrtf(years[i]);
    float d1 = (logf(price[i] / strike[i]) + (rate + 0.5f * volatility * volatility) * years[i]) / (volatility * root);
    float d2 = d1 - volatility * root;
    float discount = expf(-rate * years[i]), first = normal(d1), second = normal(d2);
    call[i] = price[i] * first - strike[i] * discount * second;
    put[i] = strike[i] * discount * (1.0f - second) - price[i] * (1.0f - first);
}
