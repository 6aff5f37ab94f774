// Work in several streams with events between them, pinned memory, functions of the host in a stream, and a graph that was captured.
#include "check.h"
#include <atomic>

__global__ void fill(int *x, int value, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] = value + i;
}

__global__ void accumulate(int *x, const int *y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] += y[i];
}

static std::atomic<int> called;

static void CUDART_CB count_call(void *by) {
    called += *(int *)by;
}

int main() {
    const int n = 5000, blocks = (n + 127) / 128;
    int *host;
    CHECK(cudaHostAlloc(&host, n * sizeof(int), cudaHostAllocDefault));
    Buffer<int> a(n), b(n);
    cudaStream_t first, second;
    CHECK(cudaStreamCreate(&first));
    CHECK(cudaStreamCreateWithFlags(&second, cudaStreamNonBlocking));
    cudaEvent_t start, filled, end;
    CHECK(cudaEventCreate(&start));
    CHECK(cudaEventCreateWithFlags(&filled, cudaEventDisableTiming));
    CHECK(cudaEventCreate(&end));

    CHECK(cudaEventRecord(start, first));
    fill<<<blocks, 128, 0, first>>>(a.device, 10, n);
    fill<<<blocks, 128, 0, second>>>(b.device, 100, n);
    CHECK(cudaEventRecord(filled, second));
    CHECK(cudaStreamWaitEvent(first, filled, 0));
    accumulate<<<blocks, 128, 0, first>>>(a.device, b.device, n);
    CHECK(cudaMemcpyAsync(host, a.device, n * sizeof(int), cudaMemcpyDeviceToHost, first));
    int by = 3;
    CHECK(cudaLaunchHostFunc(first, count_call, &by));
    CHECK(cudaEventRecord(end, first));
    CHECK(cudaEventSynchronize(end));
    CHECK(cudaStreamQuery(first));
    size_t wrong = called != 3;
    for (int i = 0; i < n; i++) wrong += host[i] != 110 + 2 * i;
    float milliseconds = -1;
    CHECK(cudaEventElapsedTime(&milliseconds, start, end));
    wrong += !(milliseconds > 0);
    wrong += cudaEventElapsedTime(&milliseconds, start, filled) != cudaErrorInvalidResourceHandle;
    wrong += cudaGetLastError() != cudaErrorInvalidResourceHandle || cudaGetLastError() != cudaSuccess;

    cudaGraph_t graph;
    cudaGraphExec_t launchable;
    CHECK(cudaStreamBeginCapture(first, cudaStreamCaptureModeGlobal));
    accumulate<<<blocks, 128, 0, first>>>(a.device, b.device, n);
    accumulate<<<blocks, 128, 0, first>>>(a.device, b.device, n);
    CHECK(cudaStreamEndCapture(first, &graph));
    CHECK(cudaGraphInstantiateWithFlags(&launchable, graph, 0));
    for (int i = 0; i < 3; i++) CHECK(cudaGraphLaunch(launchable, first));
    CHECK(cudaStreamSynchronize(first));
    std::vector<int> x = a.read();
    for (int i = 0; i < n; i++) wrong += x[i] != 110 + 2 * i + 6 * (100 + i);
    CHECK(cudaGraphExecDestroy(launchable));
    CHECK(cudaGraphDestroy(graph));
    CHECK(cudaStreamDestroy(first));
    CHECK(cudaStreamDestroy(second));
    CHECK(cudaFreeHost(host));
    return finish("streams_events", wrong);
}
