//! Executable graphs.

use std::ffi::c_char;
use std::sync::Arc;

use super::copy::Block;
use super::graph_node::put;
use super::memory_node::{self, Batch};
use super::node::{self, Header, Host, Kernel, Kernel2, Made, Memset};
use super::require;
use crate::boundary::{Ptr, api, plain};
use crate::error::{Answer, Error};
use crate::graph::{EXECS, Exec, GRAPHS};
use crate::operation::Operation;
use crate::stream;

plain! {
    /// `CUDA_GRAPH_INSTANTIATE_PARAMS`.
    pub struct Instantiation {
        flags: u64,
        stream: u64,
        node: u64,
        result: u32,
    }

    /// `CUgraphExecUpdateResultInfo`.
    pub struct Updated {
        result: u32,
        node: u64,
        from: u64,
    }
}

const _: () = assert!(
    size_of::<Instantiation>() == size_of::<cudarc::driver::sys::CUDA_GRAPH_INSTANTIATE_PARAMS>()
);
const _: () =
    assert!(size_of::<Updated>() == size_of::<cudarc::driver::sys::CUgraphExecUpdateResultInfo>());

/// A value of `CUgraphExecUpdateResult`: the graphs have different shapes.
const TOPOLOGY_CHANGED: u32 = 2;

fn set_in(exec: u64, node: u64, made: Result<Made, Error>) -> Answer {
    let (exec, made) = (EXECS.get(exec)?, made?);
    exec.change(node, |node| put(node, made))
}

fn instantiate(out: Ptr<u64>, graph: u64, flags: u64) -> Answer {
    out.required()?;
    // The flags: free allocations on launch, upload, launch from the device, priorities of nodes.
    require(flags & !0xf == 0)?;
    const DEVICE_LAUNCH: u64 = 4;
    if flags & DEVICE_LAUNCH != 0 {
        return Err(Error::CUDA_ERROR_NOT_SUPPORTED);
    }
    let exec = Exec::new(&*GRAPHS.get(graph)?, flags)?;
    out.set(EXECS.insert(Arc::new(exec)))
}

api! {
    fn cuGraphInstantiate(out: Ptr<u64>, graph: u64, node: Ptr<u64>, log: Ptr<c_char>, room: usize) {
        node.set_if(0);
        log.put_text("", room);
        instantiate(out, graph, 0)
    }

    fn cuGraphInstantiate_v2(out: Ptr<u64>, graph: u64, node: Ptr<u64>, log: Ptr<c_char>, room: usize) {
        node.set_if(0);
        log.put_text("", room);
        instantiate(out, graph, 0)
    }

    fn cuGraphInstantiateWithFlags(out: Ptr<u64>, graph: u64, flags: u64) {
        instantiate(out, graph, flags)
    }

    fn cuGraphInstantiateWithParams(out: Ptr<u64>, graph: u64, params: Ptr<Instantiation>) / cuGraphInstantiateWithParams_ptsz {
        let asked = params.get()?;
        let answer = instantiate(out, graph, asked.flags);
        params.set(Instantiation { node: 0, result: u32::from(answer.is_err()), ..asked })?;
        answer
    }

    fn cuGraphUpload(exec: u64, stream: u64) / cuGraphUpload_ptsz {
        EXECS.get(exec)?;
        stream::get(stream).map(|_| ())
    }

    fn cuGraphLaunch(exec: u64, stream: u64) / cuGraphLaunch_ptsz {
        let plan = EXECS.get(exec)?.plan();
        let (stream, context) = stream::get(stream)?;
        stream.submit(&context, Operation::Graph(plan))
    }

    fn cuGraphExecDestroy(exec: u64) {
        EXECS.remove(exec).map(|_| ())
    }

    fn cuGraphExecGetId(exec: u64, id: Ptr<u32>) {
        EXECS.get(exec)?;
        id.set(crate::handles::number_of(exec) as u32)
    }

    fn cuGraphExecGetFlags(exec: u64, flags: Ptr<u64>) {
        flags.set(EXECS.get(exec)?.flags)
    }

    fn cuGraphExecUpdate(exec: u64, graph: u64, node: Ptr<u64>, result: Ptr<u32>) {
        let updated = EXECS.get(exec)?.update(&*GRAPHS.get(graph)?)?;
        node.set_if(0);
        result.set_if(if updated { 0 } else { TOPOLOGY_CHANGED });
        if updated { Ok(()) } else { Err(Error::CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE) }
    }

    fn cuGraphExecUpdate_v2(exec: u64, graph: u64, info: Ptr<Updated>) {
        info.required()?;
        let updated = EXECS.get(exec)?.update(&*GRAPHS.get(graph)?)?;
        info.set(Updated { result: if updated { 0 } else { TOPOLOGY_CHANGED }, node: 0, from: 0 })?;
        if updated { Ok(()) } else { Err(Error::CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE) }
    }

    fn cuGraphExecKernelNodeSetParams(exec: u64, node: u64, params: Ptr<Kernel>) {
        set_in(exec, node, node::kernel(params, 0))
    }

    fn cuGraphExecKernelNodeSetParams_v2(exec: u64, node: u64, params: Ptr<Kernel2>) {
        set_in(exec, node, node::kernel2(params))
    }

    fn cuGraphExecMemcpyNodeSetParams(exec: u64, node: u64, params: Ptr<Block>, _context: u64) {
        set_in(exec, node, node::memcpy(params))
    }

    fn cuGraphExecMemsetNodeSetParams(exec: u64, node: u64, params: Ptr<Memset>, _context: u64) {
        set_in(exec, node, node::memset(params))
    }

    fn cuGraphExecHostNodeSetParams(exec: u64, node: u64, params: Ptr<Host>) {
        set_in(exec, node, node::host(params))
    }

    fn cuGraphExecChildGraphNodeSetParams(exec: u64, node: u64, child: u64) {
        set_in(exec, node, node::child(child))
    }

    fn cuGraphExecEventRecordNodeSetEvent(exec: u64, node: u64, event: u64) {
        set_in(exec, node, node::record(event))
    }

    fn cuGraphExecEventWaitNodeSetEvent(exec: u64, node: u64, event: u64) {
        set_in(exec, node, node::wait(event))
    }

    fn cuGraphExecNodeSetParams(exec: u64, node: u64, params: Ptr<Header>) {
        set_in(exec, node, node::changed(params))
    }

    fn cuGraphExecBatchMemOpNodeSetParams(exec: u64, node: u64, params: Ptr<Batch>) {
        set_in(exec, node, memory_node::batch(params))
    }

    fn cuGraphNodeSetEnabled(exec: u64, node: u64, enabled: u32) {
        EXECS.get(exec)?.change(node, |node| {
            node.enabled = enabled != 0;
            Ok(())
        })
    }

    fn cuGraphNodeGetEnabled(exec: u64, node: u64, enabled: Ptr<u32>) {
        enabled.set(EXECS.get(exec)?.node(node, |node| node.enabled.into())?)
    }
}
