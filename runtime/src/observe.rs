//! Observers of launches.

use std::panic::RefUnwindSafe;

use crate::warp::WarpContext;

/// A warp is at a site of its code.
#[derive(Clone, Copy, Debug)]
pub struct Event<'a> {
    /// The number of the site.
    pub site: u32,
    /// The lanes that execute it.
    pub lanes: u64,
    /// The operands, lane by lane. Uniform operands have their value in each lane.
    pub args: &'a [&'a [u64]],
}

/// Hears of the events of a launch, warp by warp in the order of execution.
pub trait Observer: std::fmt::Debug + Send + Sync + RefUnwindSafe {
    /// The context's warp comes to an event.
    fn observe(&self, context: &WarpContext<'_>, event: &Event<'_>);
}

impl WarpContext<'_> {
    /// Tells the launch's observer, if there is one, of an event.
    pub fn observe(&self, event: &Event<'_>) {
        if let Some(observer) = self.observer {
            observer.observe(self, event);
        }
    }
}
