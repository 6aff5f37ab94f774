//! Code that is kept between processes.

use std::sync::Arc;

use crate::Effort;
use crate::object::Object;

/// Keeps code of programs.
///
/// # Safety
/// [`Pieces::load`] gives nothing but what [`Pieces::store`] was given for the same text, region and effort, by this process or
/// another one that the user trusts as this one.
pub unsafe trait CodeStore: Send + Sync {
    /// The code of a program. The text has everything that code depends on.
    fn of_program(self: Arc<Self>, text: &str) -> Box<dyn Pieces>;
}

/// The code of one program.
pub trait Pieces: Send + Sync {
    /// The code of a region, if it is there.
    fn load(&self, region: usize, effort: Effort) -> Option<Object>;

    /// Keeps code, if that is possible.
    fn store(&self, region: usize, effort: Effort, object: &Object);

    /// Tells that code which was loaded could not be used.
    fn reject(&self, region: usize, effort: Effort, problem: &str);
}
