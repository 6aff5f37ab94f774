//! Graphs of operations: their nodes, the dependencies of nodes, and the program's objects that
//! graphs keep. The module `graph_node` has nodes' parameters. The module `exec` has executable
//! graphs.

use std::ffi::{c_char, c_int, c_uint, c_void};

use crate::api::api;
use crate::context::enter;
use crate::driver;
use crate::types::{Handle, HostFunction};

api! {
    /// Makes a graph.
    fn cudaGraphCreate(graph: *mut Handle, flags: c_uint) {
        enter()?;
        driver::cuGraphCreate(graph, flags)
    }

    /// Destroys a graph.
    fn cudaGraphDestroy(graph: Handle) {
        driver::cuGraphDestroy(graph)
    }

    /// Makes a copy of a graph.
    fn cudaGraphClone(clone: *mut Handle, graph: Handle) {
        driver::cuGraphClone(clone, graph)
    }

    /// Gets a graph's nodes.
    fn cudaGraphGetNodes(graph: Handle, nodes: *mut Handle, count: *mut usize) {
        driver::cuGraphGetNodes(graph, nodes, count)
    }

    /// Gets a graph's nodes without dependencies.
    fn cudaGraphGetRootNodes(graph: Handle, nodes: *mut Handle, count: *mut usize) {
        driver::cuGraphGetRootNodes(graph, nodes, count)
    }

    /// Gets the kind of a node. Kinds have the driver's numbers.
    fn cudaGraphNodeGetType(node: Handle, kind: *mut c_int) {
        driver::cuGraphNodeGetType(node, kind)
    }

    /// Finds the node of a copied graph that was made from a node of the original.
    fn cudaGraphNodeFindInClone(found: *mut Handle, original: Handle, clone: Handle) {
        driver::cuGraphNodeFindInClone(found, original, clone)
    }

    /// Removes a node.
    fn cudaGraphDestroyNode(node: Handle) {
        driver::cuGraphDestroyNode(node)
    }

    /// Writes a graph to a file in the DOT language.
    fn cudaGraphDebugDotPrint(graph: Handle, path: *const c_char, flags: c_uint) {
        driver::cuGraphDebugDotPrint(graph, path, flags)
    }

    /// Makes an object of the program's that graphs can keep. `destroy` is called when nobody holds
    /// it.
    fn cudaUserObjectCreate(object: *mut Handle, data: *mut c_void, destroy: HostFunction, count: c_uint, flags: c_uint) {
        enter()?;
        driver::cuUserObjectCreate(object, data, destroy, count, flags)
    }

    /// Takes `count` more references to an object.
    fn cudaUserObjectRetain(object: Handle, count: c_uint) {
        driver::cuUserObjectRetain(object, count)
    }

    /// Releases `count` references to an object.
    fn cudaUserObjectRelease(object: Handle, count: c_uint) {
        driver::cuUserObjectRelease(object, count)
    }

    /// Makes a graph hold an object.
    fn cudaGraphRetainUserObject(graph: Handle, object: Handle, count: c_uint, flags: c_uint) {
        driver::cuGraphRetainUserObject(graph, object, count, flags)
    }

    /// Makes a graph release an object.
    fn cudaGraphReleaseUserObject(graph: Handle, object: Handle, count: c_uint) {
        driver::cuGraphReleaseUserObject(graph, object, count)
    }
}

#[cfg(runtime = "13")]
api! {
    /// Gets a number that no other graph has.
    fn cudaGraphGetId(graph: Handle, id: *mut c_uint) {
        driver::cuGraphGetId(graph, id)
    }

    /// Gets the graph that contains a node.
    fn cudaGraphNodeGetContainingGraph(node: Handle, graph: *mut Handle) {
        driver::cuGraphNodeGetContainingGraph(node, graph)
    }

    /// Gets a number that no other node of the graph has.
    fn cudaGraphNodeGetLocalId(node: Handle, id: *mut c_uint) {
        driver::cuGraphNodeGetLocalId(node, id)
    }

    /// Gets a number that no other node has.
    fn cudaGraphNodeGetToolsId(node: Handle, id: *mut std::ffi::c_ulonglong) {
        driver::cuGraphNodeGetToolsId(node, id)
    }
}

#[cfg(not(runtime = "13"))]
api! {
    /// Gets a graph's dependencies, as pairs of nodes.
    fn cudaGraphGetEdges(graph: Handle, from: *mut Handle, to: *mut Handle, count: *mut usize) {
        driver::cuGraphGetEdges(graph, from, to, count)
    }

    /// Gets the nodes that a node waits for.
    fn cudaGraphNodeGetDependencies(node: Handle, nodes: *mut Handle, count: *mut usize) {
        driver::cuGraphNodeGetDependencies(node, nodes, count)
    }

    /// Gets the nodes that wait for a node.
    fn cudaGraphNodeGetDependentNodes(node: Handle, nodes: *mut Handle, count: *mut usize) {
        driver::cuGraphNodeGetDependentNodes(node, nodes, count)
    }

    /// Adds dependencies between nodes.
    fn cudaGraphAddDependencies(graph: Handle, from: *const Handle, to: *const Handle, count: usize) {
        driver::cuGraphAddDependencies(graph, from, to, count)
    }

    /// Removes dependencies between nodes.
    fn cudaGraphRemoveDependencies(graph: Handle, from: *const Handle, to: *const Handle, count: usize) {
        driver::cuGraphRemoveDependencies(graph, from, to, count)
    }
}

/// Defines functions with data of edges. Their names differ between CUDA 12 and CUDA 13.
#[cfg(not(runtime = "11"))]
macro_rules! with_edges {
    ($edges:ident $before:ident $behind:ident $add:ident $remove:ident) => {
        api! {
            /// Gets a graph's dependencies, as pairs of nodes, with the edges' data.
            fn $edges(graph: Handle, from: *mut Handle, to: *mut Handle, edges: *mut c_void, count: *mut usize) {
                driver::cuGraphGetEdges_v2(graph, from, to, edges, count)
            }

            /// Gets the nodes that a node waits for, with the edges' data.
            fn $before(node: Handle, nodes: *mut Handle, edges: *mut c_void, count: *mut usize) {
                driver::cuGraphNodeGetDependencies_v2(node, nodes, edges, count)
            }

            /// Gets the nodes that wait for a node, with the edges' data.
            fn $behind(node: Handle, nodes: *mut Handle, edges: *mut c_void, count: *mut usize) {
                driver::cuGraphNodeGetDependentNodes_v2(node, nodes, edges, count)
            }

            /// Adds dependencies between nodes, with the edges' data.
            fn $add(graph: Handle, from: *const Handle, to: *const Handle, edges: *const c_void, count: usize) {
                driver::cuGraphAddDependencies_v2(graph, from, to, edges, count)
            }

            /// Removes dependencies between nodes.
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
