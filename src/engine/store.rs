//! Code that is kept between processes.

use std::sync::Arc;

use crate::Effort;
use crate::object::Object;

/// Keeps code of programs.
///
/// # Safety
/// [`Pieces::load`] returns only an object that [`Pieces::store`] was given for an equal text,
/// region and effort, by this process or by another process that the user trusts as much.
pub unsafe trait CodeStore: Send + Sync {
    /// Returns the code of a program. The text has everything that code depends on.
    fn of_program(self: Arc<Self>, text: &str) -> Box<dyn Pieces>;
}

/// The code of one program.
pub trait Pieces: Send + Sync {
    /// Returns the code of a region, if it is there.
    fn load(&self, region: usize, effort: Effort) -> Option<Object>;

    /// Keeps code, if that is possible.
    fn store(&self, region: usize, effort: Effort, object: &Object);

    /// Reports that loaded code could not be used.
    fn reject(&self, region: usize, effort: Effort, problem: &str);
}
