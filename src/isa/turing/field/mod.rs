//! The vocabulary of modifiers, see [`warploom_sass::field`].

mod vocabulary;

pub use vocabulary::*;
