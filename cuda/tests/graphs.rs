//! Graphs whose nodes allocate memory, write values or wait for values; and advice for managed
//! memory.

mod support;

use std::ffi::c_void;

use support::{ADD, Driver, call, ok, param};

/// A kernel with local variables.
const LOCAL: &[u8] = b"
.version 6.0
.target sm_50
.address_size 64
.visible .entry local() {
    .local .align 4 .b8 room[48];
    .local .align 8 .b8 more_room[16];
    ret;
}
";

const NOT_SUPPORTED: u32 = 801;
const INVALID: u32 = 1;

/// Returns `CUDA_MEM_ALLOC_NODE_PARAMS` for device memory. Words 13 and 14 are the number of bytes
/// and the address.
fn allocation(bytes: u64) -> [u64; 15] {
    let mut words = [0; 15];
    // Pinned memory of device 0.
    words[0] = 1;
    words[1] = 1;
    words[13] = bytes;
    words
}

struct Graph<'a> {
    driver: &'a Driver,
    graph: u64,
}

impl Graph<'_> {
    fn new(driver: &Driver) -> Graph<'_> {
        let mut graph = 0;
        ok!(driver, cuGraphCreate(&mut graph => *mut u64, 0 => u32));
        Graph { driver, graph }
    }

    fn allocate(&self, bytes: u64) -> (u64, u64) {
        let (mut node, mut words) = (0, allocation(bytes));
        ok!(self.driver, cuGraphAddMemAllocNode(
            &mut node => *mut u64, self.graph => u64, std::ptr::null() => *const u64, 0 => usize, words.as_mut_ptr() => *mut u64,
        ));
        (node, words[14])
    }

    /// Adds a node that sets 32 numbers to one value.
    fn fill(&self, after: u64, address: u64, value: u32) -> u64 {
        let (mut node, mut context) = (0_u64, 0_u64);
        ok!(self.driver, cuCtxGetCurrent(&mut context => *mut u64));
        let params = [address, 0, u64::from(value) | 4 << 32, 32, 1];
        ok!(self.driver, cuGraphAddMemsetNode(
            &mut node => *mut u64, self.graph => u64, &after => *const u64, 1 => usize, params.as_ptr() => *const u64, context => u64,
        ));
        node
    }

    fn launch(&self, after: u64, function: u64, params: &[*const c_void]) -> u64 {
        let mut node = 0;
        let params =
            [function, 1 | 1 << 32, 1 | 32 << 32, 1 | 1 << 32, 0, params.as_ptr() as u64, 0];
        ok!(self.driver, cuGraphAddKernelNode(
            &mut node => *mut u64, self.graph => u64, &after => *const u64, 1 => usize, params.as_ptr() => *const u64,
        ));
        node
    }

    fn copy(&self, after: u64, from: u64, to: u64, bytes: u64) -> u64 {
        let (mut node, mut context) = (0_u64, 0_u64);
        ok!(self.driver, cuCtxGetCurrent(&mut context => *mut u64));
        // `CUDA_MEMCPY3D` from device memory to device memory.
        let mut params = [0_u64; 25];
        (params[4], params[6], params[15], params[17]) = (2, from, 2, to);
        (params[22], params[23], params[24]) = (bytes, 1, 1);
        ok!(self.driver, cuGraphAddMemcpyNode(
            &mut node => *mut u64, self.graph => u64, &after => *const u64, 1 => usize, params.as_ptr() => *const u64, context => u64,
        ));
        node
    }

    fn free(&self, after: u64, address: u64) -> u32 {
        let mut node = 0_u64;
        call!(self.driver, cuGraphAddMemFreeNode(
            &mut node => *mut u64, self.graph => u64, &after => *const u64, 1 => usize, address => u64,
        ))
    }

    fn run(&self, times: usize) {
        let mut exec = 0_u64;
        ok!(self.driver, cuGraphInstantiateWithFlags(&mut exec => *mut u64, self.graph => u64, 0 => u64));
        for _ in 0..times {
            ok!(self.driver, cuGraphLaunch(exec => u64, 0 => u64));
        }
        ok!(self.driver, cuCtxSynchronize());
        ok!(self.driver, cuGraphExecDestroy(exec => u64));
    }

    fn destroy(self) {
        ok!(self.driver, cuGraphDestroy(self.graph => u64));
    }
}

fn used_by_graphs(driver: &Driver) -> u64 {
    let mut used = 0;
    ok!(driver, cuDeviceGetGraphMemAttribute(0 => i32, 0 => u32, &mut used => *mut u64));
    used
}

fn graphs_have_memory_of_their_own(driver: &Driver) {
    let (_, more) = driver.load(ADD.as_bytes(), "add");
    let result = driver.alloc(128);
    let graph = Graph::new(driver);
    let (node, address) = graph.allocate(128);
    assert_ne!(address, 0);
    assert_eq!(used_by_graphs(driver), 128);
    let filled = graph.fill(node, address, 40);
    let added = graph.launch(filled, more, &[param(&address), param(&2_u32)]);
    let copied = graph.copy(added, address, result, 128);
    assert_eq!(graph.free(copied, address), 0);
    assert_eq!(graph.free(copied, address), INVALID, "it is freed already");
    assert_eq!(graph.free(copied, result), INVALID, "it is not of a graph");
    graph.run(3);
    assert_eq!(driver.words(result, 32), [42; 32]);

    let mut kind = 0_u32;
    ok!(driver, cuGraphNodeGetType(node => u64, &mut kind => *mut u32));
    assert_eq!(kind, 10);
    let mut shown = [0_u64; 15];
    ok!(driver, cuGraphMemAllocNodeGetParams(node => u64, shown.as_mut_ptr() => *mut u64));
    assert_eq!((shown[13], shown[14]), (128, address));
    let mut clone = 0_u64;
    assert_eq!(
        call!(driver, cuGraphClone(&mut clone => *mut u64, graph.graph => u64)),
        NOT_SUPPORTED
    );
    graph.destroy();
    assert_eq!(used_by_graphs(driver), 0);

    // A stream allocates memory while it captures.
    let (mut stream, mut address, mut captured) = (0_u64, 0_u64, 0_u64);
    ok!(driver, cuStreamCreate(&mut stream => *mut u64, 1 => u32));
    ok!(driver, cuStreamBeginCapture_v2(stream => u64, 0 => u32));
    ok!(driver, cuMemAllocAsync(&mut address => *mut u64, 128 => usize, stream => u64));
    ok!(driver, cuMemsetD32Async(address => u64, 7 => u32, 32 => usize, stream => u64));
    assert_eq!(driver.launch(more, 1, 32, stream, &[param(&address), param(&4_u32)]), 0);
    ok!(driver, cuMemcpyDtoDAsync_v2(result => u64, address => u64, 128 => usize, stream => u64));
    ok!(driver, cuMemFreeAsync(address => u64, stream => u64));
    ok!(driver, cuStreamEndCapture(stream => u64, &mut captured => *mut u64));
    let graph = Graph { driver, graph: captured };
    graph.run(2);
    assert_eq!(driver.words(result, 32), [11; 32]);
    graph.destroy();
    assert_eq!(used_by_graphs(driver), 0);

    // The memory stays after its graph is gone, until it is freed.
    let graph = Graph::new(driver);
    let (_, address) = graph.allocate(128);
    graph.run(1);
    graph.destroy();
    assert_eq!(used_by_graphs(driver), 128);
    ok!(driver, cuMemsetD32_v2(address => u64, 9 => u32, 32 => usize));
    assert_eq!(driver.words(address, 32), [9; 32]);
    ok!(driver, cuMemFreeAsync(address => u64, stream => u64));
    ok!(driver, cuStreamSynchronize(stream => u64));
    assert_eq!(used_by_graphs(driver), 0);
    assert_eq!(call!(driver, cuMemFree_v2(address => u64)), INVALID, "it is freed already");

    // Freeing memory while its graph goes is no error, in either order.
    for _ in 0..100 {
        let graph = Graph::new(driver);
        let (_, address) = graph.allocate(128);
        ok!(driver, cuMemFreeAsync(address => u64, stream => u64));
        graph.destroy();
    }
    ok!(driver, cuStreamSynchronize(stream => u64));
}

fn nodes_write_values_and_wait_for_them(driver: &Driver) {
    let memory = driver.alloc(16);
    driver.upload(memory, &[0; 16]);
    // Write 5 to the first word; wait until it is 5; write a wide value behind it.
    let operations: [u64; 18] =
        [2, memory, 5, 0, 0, 0, 1, memory, 5, 1, 0, 0, 5, memory + 8, 0x1_0000_0002, 0, 0, 0];
    let mut context = 0_u64;
    ok!(driver, cuCtxGetCurrent(&mut context => *mut u64));
    let params = |count: u64| [context, count, operations.as_ptr() as u64, 0];
    let graph = Graph::new(driver);
    let mut node = 0_u64;
    ok!(driver, cuGraphAddBatchMemOpNode(
        &mut node => *mut u64, graph.graph => u64, std::ptr::null() => *const u64, 0 => usize, params(3).as_ptr() => *const u64,
    ));
    graph.run(1);
    assert_eq!(driver.words(memory, 4), [5, 0, 2, 1]);
    let mut shown = [0_u64; 4];
    ok!(driver, cuGraphBatchMemOpNodeGetParams(node => u64, shown.as_mut_ptr() => *mut u64));
    assert_eq!(shown[1] as u32, 3);
    // SAFETY: the driver says that three structures of six words are there.
    let words = unsafe { std::slice::from_raw_parts(shown[2] as *const u64, 18) };
    assert_eq!(words, operations);
    ok!(driver, cuGraphBatchMemOpNodeSetParams(node => u64, params(1).as_ptr() => *const u64));
    driver.upload(memory, &[0; 16]);
    graph.run(1);
    assert_eq!(driver.words(memory, 4), [5, 0, 0, 0]);
    graph.destroy();
}

fn advice_is_told_again(driver: &Driver) {
    let mut address = 0_u64;
    ok!(driver, cuMemAllocManaged(&mut address => *mut u64, 1 << 20 => usize, 1 => u32));
    let attribute = |which: u32, bytes: usize| {
        let mut value = 99_i32;
        ok!(driver, cuMemRangeGetAttribute(
            (&raw mut value).cast() => *mut c_void, 4 => usize, which => u32, address => u64, bytes => usize,
        ));
        value
    };
    let (half, all) = (1 << 19, 1 << 20);
    assert_eq!([1, 2, 4].map(|which| attribute(which, all)), [0, -2, -2]);
    ok!(driver, cuMemAdvise(address => u64, half => usize, 1 => u32, 0 => i32));
    ok!(driver, cuMemAdvise(address => u64, all => usize, 3 => u32, -1 => i32));
    ok!(driver, cuMemPrefetchAsync(address => u64, half => usize, 0 => i32, 0 => u64));
    assert_eq!([1, 2, 4].map(|which| attribute(which, half)), [1, -1, 0]);
    assert_eq!([1, 2, 4].map(|which| attribute(which, all)), [0, -1, -2]);
    ok!(driver, cuMemAdvise(address => u64, all => usize, 5 => u32, 0 => i32));
    let mut devices = [99_i32; 2];
    let mut mostly = 99_i32;
    let data = [devices.as_mut_ptr().cast::<c_void>(), (&raw mut mostly).cast()];
    ok!(driver, cuMemRangeGetAttributes(
        data.as_ptr() => *const *mut c_void, [8_usize, 4].as_ptr() => *const usize, [3_u32, 1].as_ptr() => *const u32, 2 => usize,
        address => u64, half => usize,
    ));
    assert_eq!((devices, mostly), ([0, -2], 1));
    let device = driver.alloc(64);
    assert_eq!(
        call!(driver, cuMemRangeGetAttribute(
            data[0] => *mut c_void, 4 => usize, 1 => u32, device => u64, 64 => usize,
        )),
        INVALID,
        "it is not managed"
    );
    ok!(driver, cuMemFree_v2(address => u64));
}

#[test]
fn graphs_allocate_and_write_values() {
    let driver = Driver::get("sm_80");
    graphs_have_memory_of_their_own(driver);
    nodes_write_values_and_wait_for_them(driver);
    advice_is_told_again(driver);

    let (_, function) = driver.load(LOCAL, "local");
    let mut local = 0_i32;
    ok!(driver, cuFuncGetAttribute(&mut local => *mut i32, 3 => u32, function => u64));
    assert_eq!(local, 64, "the variables of the kernel");
}
