//! Graphs: their nodes and edges. `graph_node` handles the operations of nodes.

use std::collections::BTreeMap;
use std::ffi::c_char;
use std::sync::Arc;

use super::{node, require};
use crate::boundary::{Plain, Ptr, api};
use crate::error::{Answer, Error};
use crate::graph::{self, GRAPHS, Graph, Inside, Node};
use crate::handles::number_of;
use crate::operation::Operation;

/// Calls `show` with a node of a graph that is not executable.
pub(super) fn with<R>(
    node: u64,
    show: impl FnOnce(&mut Node) -> Result<R, Error>,
) -> Result<R, Error> {
    let graph = graph::of_node(node)?;
    let mut nodes = graph.lock();
    show(nodes.get_mut(&node).ok_or(super::INVALID)?)
}

/// Writes a list, or only its length if `out` is null.
fn list(all: &[u64], out: Ptr<u64>, count: Ptr<usize>) -> Answer {
    if out.is_null() {
        return count.set(all.len());
    }
    let room = count.get()?;
    for (i, &node) in all.iter().take(room).enumerate() {
        out.set_at(i, node);
    }
    (all.len()..room).for_each(|i| out.set_at(i, 0));
    count.set(all.len().min(room))
}

/// Writes the edges of a graph: pairs of nodes of which the second comes after the first.
fn edges(graph: u64, from: Ptr<u64>, to: Ptr<u64>, count: Ptr<usize>) -> Answer {
    let graph = GRAPHS.get(graph)?;
    let nodes = graph.lock();
    let all = nodes
        .iter()
        .flat_map(|(&node, content)| content.after.iter().map(move |&before| (before, node)));
    let (firsts, seconds): (Vec<u64>, Vec<u64>) = all.unzip();
    if from.is_null() || to.is_null() {
        require(from.is_null() && to.is_null())?;
        return count.set(firsts.len());
    }
    let room = count.get()?;
    list(&firsts, from, count)?;
    count.set(room)?;
    list(&seconds, to, count)
}

fn connect(graph: u64, from: Ptr<u64>, to: Ptr<u64>, count: usize, add: bool) -> Answer {
    let graph = GRAPHS.get(graph)?;
    let pairs: Vec<(u64, u64)> = from.list(count)?.into_iter().zip(to.list(count)?).collect();
    {
        let mut nodes = graph.lock();
        let before = nodes.clone();
        for &(from, to) in &pairs {
            let known = from != to && nodes.contains_key(&from);
            let after = nodes.get_mut(&to).map(|node| &mut node.after).filter(|_| known);
            let fits = after.filter(|after| after.contains(&from) != add);
            let Some(after) = fits else {
                *nodes = before;
                return Err(super::INVALID);
            };
            if add {
                after.push(from);
            } else {
                after.retain(|&node| node != from);
            }
        }
    }
    if add && graph.order().is_none() {
        connect_back(&graph, &pairs);
        return Err(super::INVALID);
    }
    Ok(())
}

fn connect_back(graph: &Graph, pairs: &[(u64, u64)]) {
    let mut nodes = graph.lock();
    for &(from, to) in pairs {
        if let Some(node) = nodes.get_mut(&to) {
            node.after.retain(|&before| before != from);
        }
    }
}

fn before(node: u64, out: Ptr<u64>, count: Ptr<usize>) -> Answer {
    let after = with(node, |node| Ok(node.after.clone()))?;
    list(&after, out, count)
}

fn behind(node: u64, out: Ptr<u64>, count: Ptr<usize>) -> Answer {
    let graph = graph::of_node(node)?;
    let nodes = graph.lock();
    let all: Vec<u64> = nodes
        .iter()
        .filter(|(_, other)| other.after.contains(&node))
        .map(|(&node, _)| node)
        .collect();
    list(&all, out, count)
}

pub(super) fn get<T: Plain>(
    node: u64,
    out: Ptr<T>,
    show: impl FnOnce(&mut Node) -> Result<T, Error>,
) -> Answer {
    out.required()?;
    out.set(with(node, show)?)
}

/// Returns the label of a node for drawings of the graph.
fn label(node: &Node) -> String {
    match &node.operation {
        Operation::Launch(launch) => format!("KERNEL {}", launch.function.code().name),
        Operation::Copy(_) => "MEMCPY".into(),
        Operation::Fill(_) => "MEMSET".into(),
        Operation::Host { .. } | Operation::Callback { .. } => "HOST".into(),
        Operation::Record(..) => "EVENT_RECORD".into(),
        Operation::Await(_) => "EVENT_WAIT".into(),
        Operation::Hold(_) => "MEM_ALLOC".into(),
        Operation::Free(_) => "MEM_FREE".into(),
        Operation::Batch { .. } | Operation::Write { .. } | Operation::Wait { .. } => {
            "BATCH_MEM_OP".into()
        }
        _ => match node.inside {
            Inside::Child(_) => "GRAPH".into(),
            Inside::Bodies(_) => "CONDITIONAL".into(),
            Inside::Nothing => "EMPTY".into(),
        },
    }
}

fn dot(graph: &Graph) -> String {
    let nodes = graph.lock();
    let number: BTreeMap<u64, usize> = nodes.keys().copied().zip(0..).collect();
    let mut text = String::from("digraph dot {\n");
    for (node, content) in &*nodes {
        text += &format!("  n{} [label=\"{}\"];\n", number[node], label(content));
        for before in &content.after {
            text += &format!("  n{} -> n{};\n", number[before], number[node]);
        }
    }
    text + "}\n"
}

api! {
    fn cuGraphCreate(out: Ptr<u64>, flags: u32) {
        out.required()?;
        require(flags == 0)?;
        out.set(GRAPHS.insert(Arc::default()))
    }

    fn cuGraphDestroy(graph: u64) {
        GRAPHS.remove(graph)?.destroy();
        Ok(())
    }

    fn cuGraphClone(out: Ptr<u64>, graph: u64) {
        out.required()?;
        out.set(GRAPHS.insert(node::copied(graph)?))
    }

    fn cuGraphGetNodes(graph: u64, out: Ptr<u64>, count: Ptr<usize>) {
        let graph = GRAPHS.get(graph)?;
        let all: Vec<u64> = graph.lock().keys().copied().collect();
        list(&all, out, count)
    }

    fn cuGraphGetRootNodes(graph: u64, out: Ptr<u64>, count: Ptr<usize>) {
        let graph = GRAPHS.get(graph)?;
        let nodes = graph.lock();
        let all: Vec<u64> = nodes.iter().filter(|(_, node)| node.after.is_empty()).map(|(&node, _)| node).collect();
        list(&all, out, count)
    }

    fn cuGraphGetEdges(graph: u64, from: Ptr<u64>, to: Ptr<u64>, count: Ptr<usize>) {
        edges(graph, from, to, count)
    }

    fn cuGraphGetEdges_v2(graph: u64, from: Ptr<u64>, to: Ptr<u64>, data: Ptr<u64>, count: Ptr<usize>) {
        edges(graph, from, to, count)?;
        no_data(data, count)
    }

    fn cuGraphAddDependencies(graph: u64, from: Ptr<u64>, to: Ptr<u64>, count: usize) {
        connect(graph, from, to, count, true)
    }

    fn cuGraphAddDependencies_v2(graph: u64, from: Ptr<u64>, to: Ptr<u64>, _data: Ptr<u64>, count: usize) {
        connect(graph, from, to, count, true)
    }

    fn cuGraphRemoveDependencies(graph: u64, from: Ptr<u64>, to: Ptr<u64>, count: usize) {
        connect(graph, from, to, count, false)
    }

    fn cuGraphRemoveDependencies_v2(graph: u64, from: Ptr<u64>, to: Ptr<u64>, _data: Ptr<u64>, count: usize) {
        connect(graph, from, to, count, false)
    }

    fn cuGraphNodeGetDependencies(node: u64, out: Ptr<u64>, count: Ptr<usize>) {
        before(node, out, count)
    }

    fn cuGraphNodeGetDependencies_v2(node: u64, out: Ptr<u64>, data: Ptr<u64>, count: Ptr<usize>) {
        before(node, out, count)?;
        no_data(data, count)
    }

    fn cuGraphNodeGetDependentNodes(node: u64, out: Ptr<u64>, count: Ptr<usize>) {
        behind(node, out, count)
    }

    fn cuGraphNodeGetDependentNodes_v2(node: u64, out: Ptr<u64>, data: Ptr<u64>, count: Ptr<usize>) {
        behind(node, out, count)?;
        no_data(data, count)
    }

    fn cuGraphNodeGetType(node: u64, kind: Ptr<u32>) {
        get(node, kind, |node| Ok(node.kind))
    }

    fn cuGraphNodeFindInClone(out: Ptr<u64>, node: u64, clone: u64) {
        out.required()?;
        let clone = GRAPHS.get(clone)?;
        let nodes = clone.lock();
        let found = nodes.iter().find(|(_, content)| content.origin == node);
        out.set(*found.ok_or(super::INVALID)?.0)
    }

    fn cuGraphNodeGetContainingGraph(node: u64, out: Ptr<u64>) {
        out.set(GRAPHS.handle_of(&graph::of_node(node)?).ok_or(super::INVALID)?)
    }

    fn cuGraphDestroyNode(node: u64) {
        graph::of_node(node)?.remove(node)
    }

    fn cuGraphDebugDotPrint(graph: u64, path: Ptr<c_char>, _flags: u32) {
        let text = dot(&*GRAPHS.get(graph)?);
        std::fs::write(path.text()?, text).map_err(|_| Error::CUDA_ERROR_OPERATING_SYSTEM)
    }

    fn cuGraphGetId(graph: u64, id: Ptr<u32>) {
        GRAPHS.get(graph)?;
        id.set(number_of(graph) as u32)
    }

    fn cuGraphNodeGetLocalId(node: u64, id: Ptr<u32>) {
        get(node, id, |_| Ok(number_of(node) as u32))
    }

    fn cuGraphNodeGetToolsId(node: u64, id: Ptr<u64>) {
        get(node, id, |_| Ok(number_of(node)))
    }

    fn cuDeviceGraphMemTrim(device: i32) {
        super::device::check(device)
    }
}

/// Writes empty data for each edge, as edges carry no data.
fn no_data(data: Ptr<u64>, count: Ptr<usize>) -> Answer {
    if !data.is_null() {
        (0..count.get()?).for_each(|i| data.set_at(i, 0));
    }
    Ok(())
}
