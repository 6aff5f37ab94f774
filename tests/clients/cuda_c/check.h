// What all programs share: errors end the program, and the result is one line.
#pragma once
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

#define CHECK(call)                                                                                                   \
    do {                                                                                                              \
        cudaError_t error_ = (call);                                                                                  \
        if (error_ != cudaSuccess) {                                                                                  \
            fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, cudaGetErrorName(error_), cudaGetErrorString(error_)); \
            exit(1);                                                                                                  \
        }                                                                                                             \
    } while (0)

// A device's copy of a host's numbers.
template <typename T>
struct Buffer {
    T *device = nullptr;
    size_t count;
    explicit Buffer(size_t n) : count(n) { CHECK(cudaMalloc(&device, n * sizeof(T))); }
    explicit Buffer(const std::vector<T> &host) : Buffer(host.size()) {
        CHECK(cudaMemcpy(device, host.data(), count * sizeof(T), cudaMemcpyHostToDevice));
    }
    ~Buffer() { cudaFree(device); }
    std::vector<T> read() const {
        std::vector<T> host(count);
        CHECK(cudaMemcpy(host.data(), device, count * sizeof(T), cudaMemcpyDeviceToHost));
        return host;
    }
};

// Ends the program: 0 if nothing was wrong.
inline int finish(const char *name, size_t wrong) {
    printf("%s: %s\n", name, wrong == 0 ? "ok" : "wrong");
    return wrong != 0;
}

// Numbers that look random, the same everywhere.
inline unsigned next_random(unsigned &state) {
    state = state * 1664525u + 1013904223u;
    return state >> 8;
}
