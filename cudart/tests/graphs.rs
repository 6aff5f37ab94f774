//! Graphs of the runtime: queries and changes of nodes, memory, symbols, captures, objects of the
//! program. `graph_nodes` tests nodes of any kind.

mod support;

use std::ffi::c_void;
use std::sync::atomic::AtomicU32;
use std::sync::atomic::Ordering::SeqCst;

use support::{
    ADD, DEVICE_TO_HOST, Dim3, HOST_TO_DEVICE, KernelNode, Memset, Runtime, SYMBOL, address, call,
    launch_of_add, ok, param,
};

const INVALID_VALUE: i32 = 1;

fn runtime() -> &'static Runtime {
    let runtime = Runtime::get();
    runtime.register_kernels();
    runtime
}

/// A graph that fills 64 words with zeros, adds a number, and copies them to the host.
struct Chain {
    graph: u64,
    zero: u64,
    kernel: u64,
    back: u64,
    words: u64,
    fill: Memset,
    result: Box<[u32; 64]>,
}

fn chain(r: &Runtime) -> Chain {
    let (graph, words, mut result) = (r.graph(), r.alloc(64), Box::new([77; 64]));
    let fill = Memset { to: words, element: 4, width: 64, height: 1, ..Memset::default() };
    let (mut zero, mut kernel, mut back) = (0, 0, 0);
    ok!(r, cudaGraphAddMemsetNode(&mut zero => *mut u64, graph => u64, 0 => u64, 0 => usize, &fill => *const Memset));
    let more = 5_u32;
    let node = launch_of_add(&words, &more);
    ok!(r, cudaGraphAddKernelNode(&mut kernel => *mut u64, graph => u64, &zero => *const u64, 1 => usize, &node => *const KernelNode));
    ok!(r, cudaGraphAddMemcpyNode1D(
        &mut back => *mut u64, graph => u64, &kernel => *const u64, 1 => usize, result.as_mut_ptr() => *mut u32, words => u64,
        256 => usize, DEVICE_TO_HOST => i32,
    ));
    Chain { graph, zero, kernel, back, words, fill, result }
}

#[test]
fn nodes_say_what_they_do() {
    let (r, c) = (runtime(), chain(runtime()));
    let mut told = KernelNode::default();
    ok!(r, cudaGraphKernelNodeGetParams(c.kernel => u64, &mut told => *mut KernelNode));
    assert_eq!(
        (told.function, told.grid, told.block),
        (address(&ADD), Dim3(1, 1, 1), Dim3(64, 1, 1))
    );
    // SAFETY: the graph returns the parameters. The second one is the number.
    assert_eq!(unsafe { **(told.parameters as *const *const u32).add(1) }, 5);
    let mut filled = Memset::default();
    ok!(r, cudaGraphMemsetNodeGetParams(c.zero => u64, &mut filled => *mut Memset));
    assert_eq!(filled, c.fill);
    // `cudaMemcpy3DParms`: array, place and pointer of the source, then of the target, size, kind.
    let mut copied = [0_u64; 20];
    ok!(r, cudaGraphMemcpyNodeGetParams(c.back => u64, copied.as_mut_ptr() => *mut u64));
    let target = address(&c.result[0]);
    assert_eq!((copied[4], copied[12]), (c.words, target));
    assert_eq!((&copied[16..19], copied[19] as i32), (&[256, 1, 1][..], DEVICE_TO_HOST));
    // A node accepts the parameters that it returned.
    ok!(r, cudaGraphMemcpyNodeSetParams(c.back => u64, copied.as_ptr() => *const u64));
    ok!(r, cudaGraphKernelNodeSetParams(c.kernel => u64, &told => *const KernelNode));
    r.run(r.instantiate(c.graph));
    assert_eq!(*c.result, [5; 64]);

    let (mut copy, mut found, mut kind) = (0_u64, 0_u64, 9);
    ok!(r, cudaGraphClone(&mut copy => *mut u64, c.graph => u64));
    ok!(r, cudaGraphNodeFindInClone(&mut found => *mut u64, c.kernel => u64, copy => u64));
    ok!(r, cudaGraphNodeGetType(found => u64, &mut kind => *mut i32));
    assert!(found != c.kernel && kind == 0);
}

#[test]
fn graphs_that_can_be_launched_are_changed() {
    let (r, mut c) = (runtime(), chain(runtime()));
    let exec = r.instantiate(c.graph);
    let mut enabled = 7;
    ok!(r, cudaGraphNodeSetEnabled(exec => u64, c.kernel => u64, 0 => u32));
    ok!(r, cudaGraphNodeGetEnabled(exec => u64, c.kernel => u64, &mut enabled => *mut u32));
    r.run(exec);
    assert_eq!((*c.result, enabled), ([0; 64], 0));
    ok!(r, cudaGraphNodeSetEnabled(exec => u64, c.kernel => u64, 1 => u32));
    c.fill.value = 3;
    ok!(r, cudaGraphExecMemsetNodeSetParams(exec => u64, c.zero => u64, &c.fill => *const Memset));
    let target = c.result[1..].as_mut_ptr();
    ok!(r, cudaGraphExecMemcpyNodeSetParams1D(
        exec => u64, c.back => u64, target => *mut u32, c.words => u64, 252 => usize, DEVICE_TO_HOST => i32,
    ));
    r.run(exec);
    assert_eq!((c.result[0], c.result[1], c.result[63]), (0, 8, 8));
    let more = 40_u32;
    let node = launch_of_add(&c.words, &more);
    ok!(r, cudaGraphExecKernelNodeSetParams(exec => u64, c.kernel => u64, &node => *const KernelNode));
    r.run(exec);
    assert_eq!(c.result[1], 43);
}

#[test]
fn symbols_are_copied_by_nodes() {
    let r = runtime();
    let (graph, values, mut read) = (r.graph(), [1_u32, 2, 3, 4], [0_u32; 2]);
    let (mut to, mut from) = (0_u64, 0_u64);
    ok!(r, cudaGraphAddMemcpyNodeToSymbol(
        &mut to => *mut u64, graph => u64, 0 => u64, 0 => usize, address(&SYMBOL) => u64, values.as_ptr() => *const u32, 16 => usize,
        0 => usize, HOST_TO_DEVICE => i32,
    ));
    ok!(r, cudaGraphAddMemcpyNodeFromSymbol(
        &mut from => *mut u64, graph => u64, &to => *const u64, 1 => usize, read.as_mut_ptr() => *mut u32, address(&SYMBOL) => u64,
        8 => usize, 8 => usize, DEVICE_TO_HOST => i32,
    ));
    let exec = r.instantiate(graph);
    r.run(exec);
    assert_eq!(read, [3, 4]);
    ok!(r, cudaGraphExecMemcpyNodeSetParamsFromSymbol(
        exec => u64, from => u64, read.as_mut_ptr() => *mut u32, address(&SYMBOL) => u64, 8 => usize, 4 => usize, DEVICE_TO_HOST => i32,
    ));
    r.run(exec);
    assert_eq!(read, [2, 3]);
    // The range ends behind the variable's end.
    assert_eq!(
        call!(r, cudaGraphMemcpyNodeSetParamsToSymbol(
            to => u64, address(&SYMBOL) => u64, values.as_ptr() => *const u32, 8 => usize, 12 => usize, HOST_TO_DEVICE => i32,
        )),
        INVALID_VALUE
    );
}

#[test]
fn memory_is_allocated_and_freed_by_nodes() {
    let r = runtime();
    let (graph, mut node, mut freed) = (r.graph(), 0_u64, 0_u64);
    // `cudaMemAllocNodeParams`: pinned memory of device 0, 256 bytes.
    let mut block = [0_u64; 15];
    (block[0], block[1], block[13]) = (1, 1, 256);
    ok!(r, cudaGraphAddMemAllocNode(&mut node => *mut u64, graph => u64, 0 => u64, 0 => usize, block.as_mut_ptr() => *mut u64));
    let pointer = block[14];
    assert_ne!(pointer, 0);
    let fill =
        Memset { to: pointer, value: 6, element: 4, width: 64, height: 1, ..Memset::default() };
    let (mut set, mut last) = (0_u64, 0_u64);
    ok!(r, cudaGraphAddMemsetNode(&mut set => *mut u64, graph => u64, &node => *const u64, 1 => usize, &fill => *const Memset));
    let mut result = [0_u32; 64];
    ok!(r, cudaGraphAddMemcpyNode1D(
        &mut last => *mut u64, graph => u64, &set => *const u64, 1 => usize, result.as_mut_ptr() => *mut u32, pointer => u64,
        256 => usize, DEVICE_TO_HOST => i32,
    ));
    ok!(r, cudaGraphAddMemFreeNode(&mut freed => *mut u64, graph => u64, &last => *const u64, 1 => usize, pointer => u64));
    let (mut shown, mut shown_free) = ([0_u64; 15], 0_u64);
    ok!(r, cudaGraphMemAllocNodeGetParams(node => u64, shown.as_mut_ptr() => *mut u64));
    ok!(r, cudaGraphMemFreeNodeGetParams(freed => u64, &mut shown_free => *mut u64));
    assert_eq!((shown[13], shown[14], shown_free), (256, pointer, pointer));
    r.run(r.instantiate(graph));
    assert_eq!(result, [6; 64]);
}

unsafe extern "C" fn add_one(count: *mut c_void) {
    // SAFETY: the tests pass the address of an `AtomicU32`.
    unsafe { &*count.cast::<AtomicU32>() }.fetch_add(1, SeqCst);
}

#[test]
fn host_functions_events_children_and_objects() {
    let r = runtime();
    let (calls, gone) = (AtomicU32::new(0), AtomicU32::new(0));
    let (graph, mut node, mut event) = (r.graph(), 0_u64, 0_u64);
    let host: [u64; 2] = [add_one as *const () as u64, address(&calls)];
    ok!(r, cudaGraphAddHostNode(&mut node => *mut u64, graph => u64, 0 => u64, 0 => usize, host.as_ptr() => *const u64));
    let mut shown = [0_u64; 2];
    ok!(r, cudaGraphHostNodeGetParams(node => u64, shown.as_mut_ptr() => *mut u64));
    assert_eq!(shown, host);
    let (mut record, mut found) = (0_u64, 0_u64);
    ok!(r, cudaEventCreate(&mut event => *mut u64));
    ok!(r, cudaGraphAddEventRecordNode(&mut record => *mut u64, graph => u64, &node => *const u64, 1 => usize, event => u64));
    ok!(r, cudaGraphEventRecordNodeGetEvent(record => u64, &mut found => *mut u64));
    assert_eq!(found, event);

    let (outer, mut child, mut inner, mut count) = (r.graph(), 0_u64, 0_u64, 0_usize);
    ok!(r, cudaGraphAddChildGraphNode(&mut child => *mut u64, outer => u64, 0 => u64, 0 => usize, graph => u64));
    ok!(r, cudaGraphChildGraphNodeGetGraph(child => u64, &mut inner => *mut u64));
    ok!(r, cudaGraphGetNodes(inner => u64, 0 => u64, &mut count => *mut usize));
    assert_eq!(count, 2);

    let mut object = 0_u64;
    ok!(r, cudaUserObjectCreate(
        &mut object => *mut u64, &raw const gone => *const AtomicU32, add_one => unsafe extern "C" fn(*mut c_void), 1 => u32, 1 => u32,
    ));
    // The graph takes over the program's reference.
    ok!(r, cudaGraphRetainUserObject(outer => u64, object => u64, 1 => u32, 1 => u32));
    // `cudaGraphInstantiateParams`: no flags, no stream; the call writes a node and a result there.
    let (mut how, mut exec) = ([0_u64, 0, 9, 9], 0_u64);
    ok!(r, cudaGraphInstantiateWithParams(&mut exec => *mut u64, outer => u64, how.as_mut_ptr() => *mut u64));
    assert_eq!(how[2..], [0, 0]);
    r.run(exec);
    ok!(r, cudaEventQuery(event => u64));
    assert_eq!(calls.load(SeqCst), 1);
    ok!(r, cudaGraphDestroy(outer => u64));
    assert_eq!(gone.load(SeqCst), 0, "the graph that can be launched has it still");
    ok!(r, cudaGraphExecDestroy(exec => u64));
    assert_eq!(gone.load(SeqCst), 1);
}

#[test]
fn edges_have_data() {
    let (r, c) = (runtime(), chain(runtime()));
    let (mut from, mut to, mut data, mut count) = ([0_u64; 4], [0_u64; 4], [!0_u64; 4], 4_usize);
    ok!(r, cudaGraphGetEdges(
        c.graph => u64, from.as_mut_ptr() => *mut u64, to.as_mut_ptr() => *mut u64, data.as_mut_ptr() => *mut u64, &mut count => *mut usize,
    ));
    assert_eq!((count, data[..2].to_vec()), (2, vec![0, 0]));
    let edges: Vec<_> = from.into_iter().zip(to).take(2).collect();
    assert!(edges.contains(&(c.zero, c.kernel)) && edges.contains(&(c.kernel, c.back)));
    ok!(r, cudaGraphAddDependencies(
        c.graph => u64, &c.zero => *const u64, &c.back => *const u64, &0 => *const u64, 1 => usize,
    ));
    let mut before = [0_u64; 4];
    count = 4;
    ok!(r, cudaGraphNodeGetDependencies(
        c.back => u64, before.as_mut_ptr() => *mut u64, data.as_mut_ptr() => *mut u64, &mut count => *mut usize,
    ));
    assert_eq!(count, 2);
}

#[test]
fn a_stream_is_recorded_into_a_graph_that_is_there() {
    let (r, c) = (runtime(), chain(runtime()));
    let (stream, more) = (r.stream(), 100_u32);
    const GLOBAL: i32 = 0;
    ok!(r, cudaStreamBeginCaptureToGraph(
        stream => u64, c.graph => u64, &c.zero => *const u64, 0 => u64, 1 => usize, GLOBAL => i32,
    ));
    assert_eq!(r.launch(address(&ADD), 64, &[param(&c.words), param(&more)], stream), 0);
    let (mut status, mut id, mut graph, mut nodes, mut edges, mut count) =
        (0, 0_u64, 0_u64, 0_u64, 1_u64, 0_usize);
    ok!(r, cudaStreamGetCaptureInfo(
        stream => u64, &mut status => *mut i32, &mut id => *mut u64, &mut graph => *mut u64, &mut nodes => *mut u64,
        &mut edges => *mut u64, &mut count => *mut usize,
    ));
    assert_eq!((status, graph, count), (1, c.graph, 1));
    // From here on calls are captured as nodes that wait for the first node alone.
    const SET: u32 = 1;
    ok!(r, cudaStreamUpdateCaptureDependencies(
        stream => u64, &c.zero => *const u64, 0 => u64, 1 => usize, SET => u32,
    ));
    assert_eq!(r.launch(address(&ADD), 64, &[param(&c.words), param(&more)], stream), 0);
    let (mut made, mut all, mut behind) = (0_u64, 0_usize, 0_usize);
    ok!(r, cudaStreamEndCapture(stream => u64, &mut made => *mut u64));
    ok!(r, cudaGraphGetNodes(made => u64, 0 => u64, &mut all => *mut usize));
    ok!(r, cudaGraphNodeGetDependentNodes(c.zero => u64, 0 => u64, 0 => u64, &mut behind => *mut usize));
    assert_eq!((made, all, behind), (c.graph, 5, 3));
}

#[test]
fn attributes_of_launches_are_kept() {
    let (r, c, d) = (runtime(), chain(runtime()), chain(runtime()));
    const COOPERATIVE: i32 = 2;
    let mut value = [0_u64; 8];
    value[0] = 1;
    ok!(r, cudaGraphKernelNodeSetAttribute(c.kernel => u64, COOPERATIVE => i32, value.as_ptr() => *const u64));
    ok!(r, cudaGraphKernelNodeCopyAttributes(d.kernel => u64, c.kernel => u64));
    value[0] = 0;
    ok!(r, cudaGraphKernelNodeGetAttribute(d.kernel => u64, COOPERATIVE => i32, value.as_mut_ptr() => *mut u64));
    assert_eq!(value[0], 1);
}
