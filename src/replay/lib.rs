//! Captured launches: the manifest, its arrays, the expectations, and the files written after a
//! launch.
//!
//! `manifest` is the TOML file, field by field, `raw` its part for plain instruction streams,
//! `graphics` its part for shaders. `resolve`, `content` and `registers` read everything that
//! the manifest names into a [`Launch`]. `array` and `npy` are arrays and their files;
//! `compare` compares results with expectations; `image` draws a buffer; `surface` reads and
//! draws images. `engine_run` runs a launch on an engine and checks the results, `report` is
//! the outcome as data. `listing` has the code of a binary as text. `read` and `write` access
//! files; `write` writes a file whole or not at all. `arguments` is what a binary says of a
//! kernel's arguments, `skeleton` a manifest to start from. `fuzz` looks for inputs of a launch
//! that end in a fault or a difference of engines, and `reduce` makes launch and code small.
//! `suppress` are findings of checks that nobody wants to see.

pub mod arguments;
pub mod array;
pub mod compare;
mod content;
pub mod engine_run;
mod error;
pub mod fuzz;
pub mod graphics;
pub mod image;
pub mod listing;
pub mod manifest;
mod names;
pub mod npy;
pub mod raw;
pub mod read;
pub mod reduce;
mod registers;
pub mod report;
pub mod resolve;
#[cfg(feature = "schema")]
pub mod schema;
mod session;
pub mod skeleton;
pub mod summary;
mod suppress;
pub mod surface;
pub mod write;

pub use array::{Array, Dtype};
pub use compare::{Comparison, Tolerance, compare};
pub use error::Error;
pub use graphics::Shader;
pub use manifest::Manifest;
pub use names::readable;
pub use registers::{Placed, RawDescriptor, RawLaunch, RawValue};
pub use resolve::{
    ArgValue, Buffer, ConstantBank, Content, Expectation, ImagePool, Launch, Sparse, Symbol,
    Texture,
};
pub use session::{Overrun, Run, Session, first_difference};
pub use suppress::Suppressions;
pub use surface::Surface;
