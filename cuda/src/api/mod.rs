//! The functions of the API, one file per family, and the table of their names.

mod array;
mod batch;
mod capture;
mod conditional;
mod context;
mod copy;
mod device;
mod event;
mod exec;
mod function;
mod graph;
mod graph_node;
mod init;
pub(crate) mod launch;
pub(crate) mod library;
mod link;
mod managed;
mod memory;
mod memory_node;
pub(crate) mod module;
mod node;
mod pointer;
mod pool;
mod stream;
pub(crate) mod table;
mod texture;
pub(crate) mod user;
mod virtual_memory;

pub use array::*;
pub use batch::*;
pub use capture::*;
pub use conditional::*;
pub use context::*;
pub use copy::*;
pub use device::*;
pub use event::*;
pub use exec::*;
pub use function::*;
pub use graph::*;
pub use graph_node::*;
pub use init::*;
pub use launch::*;
pub use library::*;
pub use link::*;
pub use managed::*;
pub use memory::*;
pub use module::*;
pub use pointer::*;
pub use pool::*;
pub use stream::*;
pub use texture::*;
pub use user::*;
pub use virtual_memory::*;

use crate::error::Error;

const INVALID: Error = Error::CUDA_ERROR_INVALID_VALUE;

/// Returns `INVALID` unless a condition on the arguments holds.
fn require(condition: bool) -> Result<(), Error> {
    if condition { Ok(()) } else { Err(INVALID) }
}
