//! Conditional nodes of graphs, whose conditions kernels set.

mod support;

use std::ffi::c_void;

use support::{ADD, Driver, call, ok, param};

/// `set` sets a condition. `count` decrements a number in memory, and sets the condition to the
/// rest.
const KERNELS: &[u8] = b"
.version 6.0
.target sm_50
.address_size 64
.extern .func cudaGraphSetConditional(.param .b64 handle, .param .b32 value);
.visible .entry set(.param .u64 condition, .param .u32 value) {
    .reg .u64 %c;
    .reg .u32 %v;
    ld.param.u64 %c, [condition];
    ld.param.u32 %v, [value];
    { .param .b64 a; .param .b32 b; st.param.b64 [a], %c; st.param.b32 [b], %v; call cudaGraphSetConditional, (a, b); }
    ret;
}
.visible .entry count(.param .u64 condition, .param .u64 number) {
    .reg .u64 %c, %n;
    .reg .u32 %v;
    ld.param.u64 %c, [condition];
    ld.param.u64 %n, [number];
    ld.global.u32 %v, [%n];
    sub.u32 %v, %v, 1;
    st.global.u32 [%n], %v;
    { .param .b64 a; .param .b32 b; st.param.b64 [a], %c; st.param.b32 [b], %v; call cudaGraphSetConditional, (a, b); }
    ret;
}
";

const IF: u32 = 0;
const WHILE: u32 = 1;
const SWITCH: u32 = 2;
const CONDITIONAL: u32 = 13;
const INVALID: u32 = 1;
const NOT_SUPPORTED: u32 = 801;

struct Kernels {
    driver: &'static Driver,
    set: u64,
    count: u64,
    add: u64,
}

impl Kernels {
    fn graph(&self) -> u64 {
        let mut graph = 0;
        ok!(self.driver, cuGraphCreate(&mut graph => *mut u64, 0 => u32));
        graph
    }

    /// Creates a condition of a graph. Each start of the graph sets it to `first`; without `first`
    /// it keeps its value.
    fn condition(&self, graph: u64, first: Option<u32>) -> u64 {
        let mut handle = 0;
        ok!(self.driver, cuGraphConditionalHandleCreate(
            &mut handle => *mut u64, graph => u64, 0 => u64, first.unwrap_or(0) => u32, u32::from(first.is_some()) => u32,
        ));
        handle
    }

    /// Adds a kernel node of one lane after other nodes.
    fn launch(&self, graph: u64, after: &[u64], function: u64, params: &[*const c_void]) -> u64 {
        let mut node = 0;
        let params =
            [function, 1 | 1 << 32, 1 | 1 << 32, 1 | 1 << 32, 0, params.as_ptr() as u64, 0];
        ok!(self.driver, cuGraphAddKernelNode(
            &mut node => *mut u64, graph => u64, after.as_ptr() => *const u64, after.len() => usize, params.as_ptr() => *const u64,
        ));
        node
    }

    fn conditional(
        &self,
        graph: u64,
        after: &[u64],
        handle: u64,
        how: u32,
        count: u32,
    ) -> Result<(u64, Vec<u64>), u32> {
        let mut node = 0_u64;
        // `CUgraphNodeParams`: the kind, then handle, type and size, the graphs, the context.
        let mut params = [0_u64; 32];
        (params[0], params[2], params[3]) =
            (CONDITIONAL.into(), handle, u64::from(how) | u64::from(count) << 32);
        let answer = call!(self.driver, cuGraphAddNode(
            &mut node => *mut u64, graph => u64, after.as_ptr() => *const u64, after.len() => usize, params.as_mut_ptr() => *mut u64,
        ));
        if answer != 0 {
            return Err(answer);
        }
        // SAFETY: the driver says that `count` handles are there.
        let graphs = unsafe { std::slice::from_raw_parts(params[4] as *const u64, count as usize) };
        Ok((node, graphs.to_vec()))
    }

    fn adds(&self, graph: u64, after: &[u64], at: u64, more: u32) -> u64 {
        self.launch(graph, after, self.add, &[param(&at), param(&more)])
    }

    fn run(&self, graph: u64, times: usize) {
        let (mut exec, mut stream) = (0_u64, 0_u64);
        ok!(self.driver, cuGraphInstantiateWithFlags(&mut exec => *mut u64, graph => u64, 0 => u64));
        ok!(self.driver, cuStreamCreate(&mut stream => *mut u64, 1 => u32));
        for _ in 0..times {
            ok!(self.driver, cuGraphLaunch(exec => u64, stream => u64));
        }
        ok!(self.driver, cuStreamSynchronize(stream => u64));
        ok!(self.driver, cuStreamDestroy_v2(stream => u64));
        ok!(self.driver, cuGraphExecDestroy(exec => u64));
    }

    fn numbers(&self, values: [u32; 4]) -> u64 {
        let memory = self.driver.alloc(16);
        let bytes: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
        self.driver.upload(memory, &bytes);
        memory
    }
}

/// A condition that a kernel sets chooses a graph.
fn chosen(k: &Kernels, how: u32, graphs: u32, value: u32) -> Vec<u32> {
    let found = k.numbers([0; 4]);
    let graph = k.graph();
    let handle = k.condition(graph, None);
    let set = k.launch(graph, &[], k.set, &[param(&handle), param(&value)]);
    let (node, bodies) = k.conditional(graph, &[set], handle, how, graphs).unwrap();
    for (i, &body) in bodies.iter().enumerate() {
        k.adds(body, &[], found + 4 * i as u64, 1);
    }
    k.adds(graph, &[node], found + 12, 1);
    k.run(graph, 2);
    ok!(k.driver, cuGraphDestroy(graph => u64));
    k.driver.words(found, 4)
}

fn a_value_chooses(k: &Kernels) {
    assert_eq!(chosen(k, IF, 1, 7), [2, 0, 0, 2]);
    assert_eq!(chosen(k, IF, 1, 0), [0, 0, 0, 2]);
    assert_eq!(chosen(k, IF, 2, 1), [2, 0, 0, 2]);
    assert_eq!(chosen(k, IF, 2, 0), [0, 2, 0, 2]);
    assert_eq!(chosen(k, SWITCH, 3, 0), [2, 0, 0, 2]);
    assert_eq!(chosen(k, SWITCH, 3, 2), [0, 0, 2, 2]);
    assert_eq!(chosen(k, SWITCH, 3, 3), [0, 0, 0, 2], "no graph has this number");
}

/// An outer loop runs five rounds, each with an inner loop that ends after its first round, and a
/// choice that is always taken.
fn loops_nest(k: &Kernels) {
    let found = k.numbers([5, 0, 0, 0]);
    let graph = k.graph();
    let outer = k.condition(graph, Some(1));
    let (_, bodies) = k.conditional(graph, &[], outer, WHILE, 1).unwrap();
    let count = k.launch(bodies[0], &[], k.count, &[param(&outer), param(&found)]);
    let inner = k.condition(bodies[0], Some(1));
    let (node, inner_bodies) = k.conditional(bodies[0], &[count], inner, WHILE, 1).unwrap();
    let added = k.adds(inner_bodies[0], &[], found + 4, 1);
    k.launch(inner_bodies[0], &[added], k.set, &[param(&inner), param(&0_u32)]);
    let always = k.condition(bodies[0], Some(9));
    let (_, choice) = k.conditional(bodies[0], &[node], always, IF, 1).unwrap();
    k.adds(choice[0], &[], found + 8, 10);
    k.run(graph, 1);
    assert_eq!(k.driver.words(found, 4), [0, 5, 50, 0]);
    ok!(k.driver, cuGraphDestroy(graph => u64));
    let mut nodes = 0_usize;
    assert_ne!(
        call!(k.driver, cuGraphGetNodes(bodies[0] => u64, std::ptr::null_mut() => *mut u64, &mut nodes => *mut usize)),
        0
    );
}

fn what_is_wrong_is_refused(k: &Kernels) {
    let (graph, other) = (k.graph(), k.graph());
    let handle = k.condition(graph, Some(0));
    let wrong =
        |graph, handle, how, count| k.conditional(graph, &[], handle, how, count).unwrap_err();
    assert_eq!(wrong(graph, handle, IF, 3), INVALID);
    assert_eq!(wrong(graph, handle, WHILE, 2), INVALID);
    assert_eq!(wrong(graph, handle, SWITCH, 0), INVALID);
    assert_eq!(wrong(graph, handle, 3, 1), INVALID);
    assert_eq!(wrong(graph, handle + 4, IF, 1), INVALID);
    assert_eq!(wrong(other, handle, IF, 1), INVALID, "it is another graph's");
    let (node, bodies) = k.conditional(graph, &[], handle, IF, 1).unwrap();
    assert_eq!(wrong(graph, handle, IF, 1), INVALID, "a node has it");

    let mut kind = 0_u32;
    ok!(k.driver, cuGraphNodeGetType(node => u64, &mut kind => *mut u32));
    assert_eq!(kind, CONDITIONAL);
    let mut shown = [0_u64; 32];
    ok!(k.driver, cuGraphNodeGetParams(node => u64, shown.as_mut_ptr() => *mut u64));
    assert_eq!(
        (shown[0], shown[2], shown[3]),
        (CONDITIONAL.into(), handle, u64::from(IF) | 1 << 32)
    );
    // SAFETY: as above.
    assert_eq!(unsafe { *(shown[4] as *const u64) }, bodies[0]);
    let mut clone = 0_u64;
    assert_eq!(call!(k.driver, cuGraphClone(&mut clone => *mut u64, graph => u64)), NOT_SUPPORTED);
    for graph in [graph, other] {
        ok!(k.driver, cuGraphDestroy(graph => u64));
    }
}

/// A stream captures into a graph of a conditional node.
fn a_body_is_captured(k: &Kernels) {
    let found = k.numbers([3, 0, 0, 0]);
    let graph = k.graph();
    let handle = k.condition(graph, Some(1));
    let (_, bodies) = k.conditional(graph, &[], handle, WHILE, 1).unwrap();
    let (mut stream, mut captured, none) = (0_u64, 0_u64, std::ptr::null::<u64>());
    ok!(k.driver, cuStreamCreate(&mut stream => *mut u64, 1 => u32));
    ok!(k.driver, cuStreamBeginCaptureToGraph(
        stream => u64, bodies[0] => u64, none => *const u64, none => *const u64, 0 => usize, 0 => u32,
    ));
    assert_eq!(k.driver.launch(k.add, 1, 1, stream, &[param(&(found + 4)), param(&2_u32)]), 0);
    assert_eq!(k.driver.launch(k.count, 1, 1, stream, &[param(&handle), param(&found)]), 0);
    ok!(k.driver, cuStreamEndCapture(stream => u64, &mut captured => *mut u64));
    assert_eq!(captured, bodies[0]);
    // A program that has the graph need not ask for its handle.
    ok!(k.driver, cuStreamBeginCaptureToGraph(
        stream => u64, bodies[0] => u64, none => *const u64, none => *const u64, 0 => usize, 0 => u32,
    ));
    assert_eq!(k.driver.launch(k.add, 1, 1, stream, &[param(&(found + 4)), param(&2_u32)]), 0);
    ok!(k.driver, cuStreamEndCapture(stream => u64, none => *const u64));
    k.run(graph, 1);
    assert_eq!(k.driver.words(found, 2), [0, 12]);
    ok!(k.driver, cuGraphDestroy(graph => u64));
}

#[test]
fn graphs_run_as_values_say() {
    let driver = Driver::get("sm_80");
    let (module, set) = driver.load(KERNELS, "set");
    let mut count = 0_u64;
    ok!(driver, cuModuleGetFunction(&mut count => *mut u64, module => u64, c"count".as_ptr() => *const i8));
    let (_, add) = driver.load(ADD.as_bytes(), "add");
    let k = Kernels { driver, set, count, add };
    a_value_chooses(&k);
    loops_nest(&k);
    what_is_wrong_is_refused(&k);
    a_body_is_captured(&k);
}
