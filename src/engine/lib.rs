//! The engine that runs warps in native code.
//!
//! A [`Kernel`] holds the programs made of one function. A [`Program`] is an engine for the
//! runtime: it has regions of blocks, each with code for several efforts (`tier`). A [`Prepared`]
//! function is the result of analysis, and a `plan` has the decisions about one of its blocks. A
//! [`Backend`] makes code of it, an [`Object`](object::Object), which a [`CodeStore`] may keep.
//! `abi` is the interface between code and the engine. `helpers` are the functions that code calls,
//! and `descriptions` tell them about the instructions that they execute. `docs/engine-contract.md`
//! has the rules that code keeps.

pub mod abi;
pub mod backend;
mod deferred;
pub mod descriptions;
mod error;
pub mod exit_masks;
pub mod helpers;
mod kernel;
pub mod object;
pub mod plan;
mod prepared;
mod product;
mod program;
mod store;
mod support;
mod tier;
pub mod tuning;

pub use backend::{Backend, Code, CodeSpace};
pub use deferred::Deferred;
pub use error::JitError;
pub use kernel::Kernel;
pub use prepared::Prepared;
pub use program::Program;
pub use store::{CodeStore, Pieces};
pub use tier::Effort;
pub use tuning::INTERPRETED;
