//! Captured launches: the manifest, the arrays it names, what is expected of them, and what is written after a launch.
//!
//! `manifest` is the TOML file, field by field, `raw` its part for plain instruction streams, `graphics` that for shaders; `resolve`, `content` and `registers` read
//! what they name into a [`Launch`]; `array` and `npy` are
//! arrays and their files; `compare` holds results against expectations; `image` draws a buffer; `surface` reads and draws images; `read` and `write` are for
//! files, which are written whole or not at all. Nothing here runs anything or knows a GPU.

pub mod array;
pub mod compare;
mod content;
mod error;
pub mod graphics;
pub mod image;
pub mod manifest;
pub mod npy;
pub mod raw;
pub mod read;
mod registers;
pub mod resolve;
mod session;
pub mod summary;
pub mod surface;
pub mod write;

pub use array::{Array, Dtype};
pub use compare::{Comparison, Tolerance, compare};
pub use error::Error;
pub use graphics::Shader;
pub use manifest::Manifest;
pub use registers::{Placed, RawDescriptor, RawLaunch, RawValue};
pub use resolve::{
    ArgValue, Buffer, ConstantBank, Content, Expectation, ImagePool, Launch, Sparse, Symbol,
    Texture,
};
pub use session::{Run, Session, first_difference};
pub use surface::Surface;
