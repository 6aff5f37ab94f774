//! Nodes of graphs through the structure for all kinds, conditional nodes among them.

mod support;

use support::{
    ADD, COUNT, Dim3, KernelNode, Memset, Runtime, address, call, launch_of_add, ok, param,
};

const INVALID_DEVICE_FUNCTION: i32 = 98;

fn runtime() -> &'static Runtime {
    let runtime = Runtime::get();
    runtime.register_kernels();
    runtime
}

/// Makes a `cudaGraphNodeParams` in which a part of the union is set.
fn parameters(kind: u64, union: &[u64]) -> [u64; 32] {
    let mut parameters = [0; 32];
    parameters[0] = kind;
    parameters[2..2 + union.len()].copy_from_slice(union);
    parameters
}

fn add_any(r: &Runtime, graph: u64, after: &[u64], parameters: &mut [u64; 32]) -> u64 {
    let mut node = 0;
    ok!(r, cudaGraphAddNode(
        &mut node => *mut u64, graph => u64, after.as_ptr() => *const u64, 0 => u64, after.len() => usize,
        parameters.as_mut_ptr() => *mut u64,
    ));
    node
}

/// Returns a structure's words.
fn words_of<T: Copy, const N: usize>(value: T) -> [u64; N] {
    assert_eq!(size_of::<T>(), 8 * N);
    let mut words = [0; N];
    // SAFETY: the tests' structures are numbers and have `8 * N` bytes.
    unsafe { std::ptr::from_mut(&mut words).cast::<T>().write(value) };
    words
}

const KERNEL: u64 = 0;
const MEMCPY: u64 = 1;
const MEMSET: u64 = 2;
const CONDITIONAL: u64 = 13;

#[test]
fn nodes_of_any_kind_are_added_shown_and_changed() {
    let r = runtime();
    let (graph, words, more, result) = (r.graph(), r.alloc(64), 2_u32, [0_u32; 64]);
    let fill =
        Memset { to: words, value: 9, element: 4, width: 64, height: 1, ..Memset::default() };
    let zero = add_any(r, graph, &[], &mut parameters(MEMSET, &words_of::<_, 5>(fill)));
    let node = launch_of_add(&words, &more);
    let kernel = add_any(r, graph, &[zero], &mut parameters(KERNEL, &words_of::<_, 7>(node)));
    // Flags and context, then `cudaMemcpy3DParms`.
    let mut copy = [0; 22];
    (copy[2 + 4], copy[2 + 5]) = (words, 256);
    (copy[2 + 12], copy[2 + 13]) = (address(&result), 256);
    (copy[2 + 16], copy[2 + 17], copy[2 + 18], copy[2 + 19]) = (256, 1, 1, 2);
    let back = add_any(r, graph, &[kernel], &mut parameters(MEMCPY, &copy));
    r.run(r.instantiate(graph));
    // SAFETY: the copy has written the array behind the compiler's back.
    assert_eq!(unsafe { (&raw const result).read_volatile() }, [11; 64]);

    let mut shown = [0_u64; 32];
    ok!(r, cudaGraphNodeGetParams(kernel => u64, shown.as_mut_ptr() => *mut u64));
    assert_eq!((shown[0], shown[2], shown[3]), (KERNEL, address(&ADD), 1 | 1 << 32));
    ok!(r, cudaGraphNodeGetParams(back => u64, shown.as_mut_ptr() => *mut u64));
    assert_eq!(
        (shown[0], shown[4 + 4], shown[4 + 12], shown[4 + 16]),
        (MEMCPY, words, address(&result), 256)
    );
    ok!(r, cudaGraphNodeSetParams(back => u64, shown.as_mut_ptr() => *mut u64));
    let fill = Memset { value: 30, ..fill };
    let exec = r.instantiate(graph);
    let mut fill = parameters(MEMSET, &words_of::<_, 5>(fill));
    ok!(r, cudaGraphExecNodeSetParams(exec => u64, zero => u64, fill.as_mut_ptr() => *mut u64));
    r.run(exec);
    // SAFETY: as above.
    assert_eq!(unsafe { (&raw const result).read_volatile() }, [32; 64]);

    // A kernel by the driver's handle, and an address of no kernel.
    let mut handle = 0_u64;
    ok!(r, cudaGetKernel(&mut handle => *mut u64, address(&ADD) => u64));
    let mut by_handle =
        parameters(KERNEL, &words_of::<_, 7>(KernelNode { function: handle, ..node }));
    by_handle[2 + 8] = 2;
    add_any(r, graph, &[], &mut by_handle);
    let mut none =
        parameters(KERNEL, &words_of::<_, 7>(KernelNode { function: address(&none_at()), ..node }));
    assert_eq!(
        call!(r, cudaGraphAddNode(
            &mut handle => *mut u64, graph => u64, 0 => u64, 0 => u64, 0 => usize, none.as_mut_ptr() => *mut u64,
        )),
        INVALID_DEVICE_FUNCTION
    );
}

fn none_at() -> u8 {
    0
}

#[test]
fn a_condition_repeats_a_graph() {
    let r = runtime();
    let (graph, number, sum) = (r.graph(), r.alloc(1), r.alloc(64));
    ok!(r, cudaMemset(number => u64, 4 => i32, 1 => usize));
    ok!(r, cudaStreamSynchronize(0 => u64));
    let mut handle = 0_u64;
    ok!(r, cudaGraphConditionalHandleCreate(&mut handle => *mut u64, graph => u64, 1 => u32, 1 => u32));
    // The condition's handle, `while` with one graph, and the word that receives the graph's
    // address.
    let mut condition = parameters(CONDITIONAL, &[handle, 1 | 1 << 32, 0, 0]);
    add_any(r, graph, &[], &mut condition);
    // SAFETY: the runtime has written the address of one handle.
    let body = unsafe { *(condition[2 + 2] as *const u64) };
    let more = 10_u32;
    let node = launch_of_add(&sum, &more);
    let added = add_any(r, body, &[], &mut parameters(KERNEL, &words_of::<_, 7>(node)));
    let count = [param(&handle), param(&number)];
    let one = KernelNode {
        function: address(&COUNT),
        block: Dim3(1, 1, 1),
        parameters: address(&count),
        ..node
    };
    add_any(r, body, &[added], &mut parameters(KERNEL, &words_of::<_, 7>(one)));
    r.run(r.instantiate(graph));
    assert_eq!((r.words(sum, 1), r.words(number, 1)), (vec![40], vec![0]));
}
