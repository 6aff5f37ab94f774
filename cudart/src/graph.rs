//! Graphs of operations: their nodes, which node comes after which, and the objects that graphs
//! keep for a program. Nodes' parameters are in `graph_node`. Graphs that can be launched are in
//! `exec`.

use std::ffi::{c_char, c_int, c_uint, c_void};

use crate::api::api;
use crate::context::enter;
use crate::driver;
use crate::types::{Handle, HostFunction};

api! {
    /// A new graph.
    fn cudaGraphCreate(graph: *mut Handle, flags: c_uint) {
        enter()?;
        driver::cuGraphCreate(graph, flags)
    }

    /// Destroys a graph.
    fn cudaGraphDestroy(graph: Handle) {
        driver::cuGraphDestroy(graph)
    }

    /// A copy of a graph.
    fn cudaGraphClone(clone: *mut Handle, graph: Handle) {
        driver::cuGraphClone(clone, graph)
    }

    /// A graph's nodes.
    fn cudaGraphGetNodes(graph: Handle, nodes: *mut Handle, count: *mut usize) {
        driver::cuGraphGetNodes(graph, nodes, count)
    }

    /// A graph's nodes that wait for no other.
    fn cudaGraphGetRootNodes(graph: Handle, nodes: *mut Handle, count: *mut usize) {
        driver::cuGraphGetRootNodes(graph, nodes, count)
    }

    /// What a node is. The kinds have the driver's numbers.
    fn cudaGraphNodeGetType(node: Handle, kind: *mut c_int) {
        driver::cuGraphNodeGetType(node, kind)
    }

    /// The node of a copied graph that was made from a node of the original.
    fn cudaGraphNodeFindInClone(found: *mut Handle, original: Handle, clone: Handle) {
        driver::cuGraphNodeFindInClone(found, original, clone)
    }

    /// Removes a node.
    fn cudaGraphDestroyNode(node: Handle) {
        driver::cuGraphDestroyNode(node)
    }

    /// Writes a graph as a drawing's source.
    fn cudaGraphDebugDotPrint(graph: Handle, path: *const c_char, flags: c_uint) {
        driver::cuGraphDebugDotPrint(graph, path, flags)
    }

    /// An object of the program's that graphs can keep. `destroy` is called when nobody holds it.
    fn cudaUserObjectCreate(object: *mut Handle, data: *mut c_void, destroy: HostFunction, count: c_uint, flags: c_uint) {
        enter()?;
        driver::cuUserObjectCreate(object, data, destroy, count, flags)
    }

    /// Holds an object so many times more.
    fn cudaUserObjectRetain(object: Handle, count: c_uint) {
        driver::cuUserObjectRetain(object, count)
    }

    /// Lets go of an object so many times.
    fn cudaUserObjectRelease(object: Handle, count: c_uint) {
        driver::cuUserObjectRelease(object, count)
    }

    /// Has a graph hold an object.
    fn cudaGraphRetainUserObject(graph: Handle, object: Handle, count: c_uint, flags: c_uint) {
        driver::cuGraphRetainUserObject(graph, object, count, flags)
    }

    /// Has a graph let go of an object.
    fn cudaGraphReleaseUserObject(graph: Handle, object: Handle, count: c_uint) {
        driver::cuGraphReleaseUserObject(graph, object, count)
    }
}

#[cfg(runtime = "13")]
api! {
    /// A number that no other graph has.
    fn cudaGraphGetId(graph: Handle, id: *mut c_uint) {
        driver::cuGraphGetId(graph, id)
    }

    /// The graph that a node is in.
    fn cudaGraphNodeGetContainingGraph(node: Handle, graph: *mut Handle) {
        driver::cuGraphNodeGetContainingGraph(node, graph)
    }

    /// A number that no other node of the graph has.
    fn cudaGraphNodeGetLocalId(node: Handle, id: *mut c_uint) {
        driver::cuGraphNodeGetLocalId(node, id)
    }

    /// A number that no other node has.
    fn cudaGraphNodeGetToolsId(node: Handle, id: *mut std::ffi::c_ulonglong) {
        driver::cuGraphNodeGetToolsId(node, id)
    }
}

#[cfg(not(runtime = "13"))]
api! {
    /// Which nodes wait for which.
    fn cudaGraphGetEdges(graph: Handle, from: *mut Handle, to: *mut Handle, count: *mut usize) {
        driver::cuGraphGetEdges(graph, from, to, count)
    }

    /// What a node waits for.
    fn cudaGraphNodeGetDependencies(node: Handle, nodes: *mut Handle, count: *mut usize) {
        driver::cuGraphNodeGetDependencies(node, nodes, count)
    }

    /// What waits for a node.
    fn cudaGraphNodeGetDependentNodes(node: Handle, nodes: *mut Handle, count: *mut usize) {
        driver::cuGraphNodeGetDependentNodes(node, nodes, count)
    }

    /// Lets nodes wait for others.
    fn cudaGraphAddDependencies(graph: Handle, from: *const Handle, to: *const Handle, count: usize) {
        driver::cuGraphAddDependencies(graph, from, to, count)
    }

    /// Takes that back.
    fn cudaGraphRemoveDependencies(graph: Handle, from: *const Handle, to: *const Handle, count: usize) {
        driver::cuGraphRemoveDependencies(graph, from, to, count)
    }
}

/// Defines functions with data of edges, which have other names in CUDA 12 than in CUDA 13.
#[cfg(not(runtime = "11"))]
macro_rules! with_edges {
    ($edges:ident $before:ident $behind:ident $add:ident $remove:ident) => {
        api! {
            /// Which nodes wait for which, with the edges' data.
            fn $edges(graph: Handle, from: *mut Handle, to: *mut Handle, edges: *mut c_void, count: *mut usize) {
                driver::cuGraphGetEdges_v2(graph, from, to, edges, count)
            }

            /// The nodes that a node waits for, with the edges' data.
            fn $before(node: Handle, nodes: *mut Handle, edges: *mut c_void, count: *mut usize) {
                driver::cuGraphNodeGetDependencies_v2(node, nodes, edges, count)
            }

            /// The nodes that wait for a node, with the edges' data.
            fn $behind(node: Handle, nodes: *mut Handle, edges: *mut c_void, count: *mut usize) {
                driver::cuGraphNodeGetDependentNodes_v2(node, nodes, edges, count)
            }

            /// Lets nodes wait for others, with the edges' data.
            fn $add(graph: Handle, from: *const Handle, to: *const Handle, edges: *const c_void, count: usize) {
                driver::cuGraphAddDependencies_v2(graph, from, to, edges, count)
            }

            /// Takes that back.
            fn $remove(graph: Handle, from: *const Handle, to: *const Handle, edges: *const c_void, count: usize) {
                driver::cuGraphRemoveDependencies_v2(graph, from, to, edges, count)
            }
        }
    };
}

#[cfg(runtime = "12")]
with_edges! {
    cudaGraphGetEdges_v2 cudaGraphNodeGetDependencies_v2 cudaGraphNodeGetDependentNodes_v2
    cudaGraphAddDependencies_v2 cudaGraphRemoveDependencies_v2
}
#[cfg(runtime = "13")]
with_edges! {
    cudaGraphGetEdges cudaGraphNodeGetDependencies cudaGraphNodeGetDependentNodes
    cudaGraphAddDependencies cudaGraphRemoveDependencies
}
