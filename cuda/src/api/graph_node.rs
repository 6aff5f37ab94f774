//! Nodes of graphs: adding, reading and changing each kind.

use super::copy::Block;
use super::graph::{get, with};
use super::launch::COOPERATIVE;
use super::memory_node::{self, Allocate, Batch};
use super::node::{self, Header, Host, Kernel, Kernel2, Made, Memset};
use super::require;
use crate::boundary::{Ptr, api};
use crate::error::{Answer, Error};
use crate::graph::{GRAPHS, Inside, Node};

fn add(
    out: Ptr<u64>,
    graph: u64,
    after: Ptr<u64>,
    count: usize,
    made: Result<Made, Error>,
) -> Answer {
    out.required()?;
    let graph = GRAPHS.get(graph)?;
    let made = made?;
    let node = graph.add(made.operation, made.kind, after.list(count)?)?;
    if let Some(node) = graph.lock().get_mut(&node) {
        node.inside = made.inside;
    }
    out.set(node)
}

pub(super) fn put(node: &mut Node, made: Made) -> Answer {
    require(node.kind == made.kind)?;
    node.operation = made.operation;
    node.inside = made.inside;
    Ok(())
}

fn set(node: u64, made: Result<Made, Error>) -> Answer {
    let made = made?;
    with(node, |node| put(node, made))
}

api! {
    fn cuGraphAddEmptyNode(out: Ptr<u64>, graph: u64, after: Ptr<u64>, count: usize) {
        add(out, graph, after, count, Ok(node::empty()))
    }

    fn cuGraphAddKernelNode(out: Ptr<u64>, graph: u64, after: Ptr<u64>, count: usize, params: Ptr<Kernel>) {
        add(out, graph, after, count, node::kernel(params, 0))
    }

    fn cuGraphAddKernelNode_v2(out: Ptr<u64>, graph: u64, after: Ptr<u64>, count: usize, params: Ptr<Kernel2>) {
        add(out, graph, after, count, node::kernel2(params))
    }

    fn cuGraphAddMemcpyNode(out: Ptr<u64>, graph: u64, after: Ptr<u64>, count: usize, params: Ptr<Block>, _context: u64) {
        add(out, graph, after, count, node::memcpy(params))
    }

    fn cuGraphAddMemsetNode(out: Ptr<u64>, graph: u64, after: Ptr<u64>, count: usize, params: Ptr<Memset>, _context: u64) {
        add(out, graph, after, count, node::memset(params))
    }

    fn cuGraphAddHostNode(out: Ptr<u64>, graph: u64, after: Ptr<u64>, count: usize, params: Ptr<Host>) {
        add(out, graph, after, count, node::host(params))
    }

    fn cuGraphAddChildGraphNode(out: Ptr<u64>, graph: u64, after: Ptr<u64>, count: usize, child: u64) {
        add(out, graph, after, count, node::child(child))
    }

    fn cuGraphAddEventRecordNode(out: Ptr<u64>, graph: u64, after: Ptr<u64>, count: usize, event: u64) {
        add(out, graph, after, count, node::record(event))
    }

    fn cuGraphAddEventWaitNode(out: Ptr<u64>, graph: u64, after: Ptr<u64>, count: usize, event: u64) {
        add(out, graph, after, count, node::wait(event))
    }

    fn cuGraphAddBatchMemOpNode(out: Ptr<u64>, graph: u64, after: Ptr<u64>, count: usize, params: Ptr<Batch>) {
        add(out, graph, after, count, memory_node::batch(params))
    }

    fn cuGraphAddMemAllocNode(out: Ptr<u64>, graph: u64, after: Ptr<u64>, count: usize, params: Ptr<Allocate>) {
        add(out, graph, after, count, memory_node::allocate(params))
    }

    fn cuGraphAddMemFreeNode(out: Ptr<u64>, graph: u64, after: Ptr<u64>, count: usize, address: u64) {
        add(out, graph, after, count, memory_node::free(graph, address))
    }

    fn cuGraphAddNode(out: Ptr<u64>, graph: u64, after: Ptr<u64>, count: usize, params: Ptr<Header>) {
        add(out, graph, after, count, node::any(graph, params))
    }

    fn cuGraphAddNode_v2(out: Ptr<u64>, graph: u64, after: Ptr<u64>, _data: Ptr<u64>, count: usize, params: Ptr<Header>) {
        add(out, graph, after, count, node::any(graph, params))
    }

    fn cuGraphAddNode_v3(out: Ptr<u64>, graph: u64, after: Ptr<u64>, _data: Ptr<u64>, count: usize, params: Ptr<Header>) {
        add(out, graph, after, count, node::any(graph, params))
    }

    fn cuGraphKernelNodeGetParams(node: u64, params: Ptr<Kernel<u64>>) {
        get(node, params, node::kernel_of)
    }

    fn cuGraphKernelNodeGetParams_v2(node: u64, params: Ptr<Kernel2<u64>>) {
        get(node, params, node::kernel2_of)
    }

    fn cuGraphMemcpyNodeGetParams(node: u64, params: Ptr<Block<u64>>) {
        get(node, params, |node| node::memcpy_of(node))
    }

    fn cuGraphMemsetNodeGetParams(node: u64, params: Ptr<Memset>) {
        get(node, params, |node| node::memset_of(node))
    }

    fn cuGraphHostNodeGetParams(node: u64, params: Ptr<Host>) {
        get(node, params, |node| node::host_of(node))
    }

    fn cuGraphBatchMemOpNodeGetParams(node: u64, params: Ptr<Batch<u64>>) {
        get(node, params, memory_node::batch_of)
    }

    fn cuGraphMemAllocNodeGetParams(node: u64, params: Ptr<Allocate>) {
        get(node, params, |node| memory_node::allocate_of(node))
    }

    fn cuGraphMemFreeNodeGetParams(node: u64, address: Ptr<u64>) {
        get(node, address, |node| memory_node::free_of(node))
    }

    fn cuGraphEventRecordNodeGetEvent(node: u64, event: Ptr<u64>) {
        get(node, event, |node| node::event_of(node))
    }

    fn cuGraphEventWaitNodeGetEvent(node: u64, event: Ptr<u64>) {
        get(node, event, |node| node::event_of(node))
    }

    fn cuGraphChildGraphNodeGetGraph(node: u64, out: Ptr<u64>) {
        out.required()?;
        let child = with(node, |node| match &node.inside {
            Inside::Child(child) => Ok(child.clone()),
            _ => Err(super::INVALID),
        })?;
        // The child graph gets a handle when a program first asks for it.
        out.set(GRAPHS.handle_of(&child).unwrap_or_else(|| GRAPHS.insert(child)))
    }

    fn cuGraphKernelNodeSetParams(node: u64, params: Ptr<Kernel>) {
        set(node, node::kernel(params, 0))
    }

    fn cuGraphKernelNodeSetParams_v2(node: u64, params: Ptr<Kernel2>) {
        set(node, node::kernel2(params))
    }

    fn cuGraphMemcpyNodeSetParams(node: u64, params: Ptr<Block>) {
        set(node, node::memcpy(params))
    }

    fn cuGraphMemsetNodeSetParams(node: u64, params: Ptr<Memset>) {
        set(node, node::memset(params))
    }

    fn cuGraphHostNodeSetParams(node: u64, params: Ptr<Host>) {
        set(node, node::host(params))
    }

    fn cuGraphEventRecordNodeSetEvent(node: u64, event: u64) {
        set(node, node::record(event))
    }

    fn cuGraphEventWaitNodeSetEvent(node: u64, event: u64) {
        set(node, node::wait(event))
    }

    fn cuGraphBatchMemOpNodeSetParams(node: u64, params: Ptr<Batch>) {
        set(node, memory_node::batch(params))
    }

    fn cuGraphNodeSetParams(node: u64, params: Ptr<Header>) {
        set(node, node::changed(params))
    }

    fn cuGraphNodeSetParams_v2(node: u64, params: Ptr<Header>) {
        set(node, node::changed(params))
    }

    fn cuGraphNodeGetParams(node: u64, params: Ptr<Header>) {
        params.required()?;
        with(node, |node| node::show(node, params))
    }

    fn cuGraphKernelNodeCopyAttributes(to: u64, from: u64) {
        let cooperative = with(from, |node| node::is_cooperative(node))?;
        with(to, |node| node::set_cooperative(node, cooperative))
    }

    /// Sets whether blocks may wait for each other. Other attributes only concern speed and are
    /// ignored.
    fn cuGraphKernelNodeSetAttribute(node: u64, attribute: u32, value: Ptr<[u64; 8]>) {
        let value = value.get()?;
        with(node, |node| {
            let cooperative = node::is_cooperative(node)?;
            node::set_cooperative(node, if attribute == COOPERATIVE { value[0] as u32 != 0 } else { cooperative })
        })
    }

    fn cuGraphKernelNodeGetAttribute(node: u64, attribute: u32, value: Ptr<[u64; 8]>) {
        value.required()?;
        let cooperative = with(node, |node| node::is_cooperative(node))?;
        let mut found = [0; 8];
        found[0] = u64::from(cooperative && attribute == COOPERATIVE);
        value.set(found)
    }
}
