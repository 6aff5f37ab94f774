//! Handles of a library: numbers that stand for values.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::memory::Out;
use crate::{Answer, Status};

/// The values of handles, by their numbers from 1 on.
pub struct Handles<T>(Mutex<Values<T>>);

struct Values<T> {
    by_number: BTreeMap<u64, T>,
    last: u64,
}

impl<T> Handles<T> {
    #[allow(clippy::new_without_default, reason = "statics need a constant")]
    pub const fn new() -> Handles<T> {
        Handles(Mutex::new(Values { by_number: BTreeMap::new(), last: 0 }))
    }

    fn lock(&self) -> MutexGuard<'_, Values<T>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Makes a handle for a value. A null pointer gets none.
    pub fn create<H: TryFrom<u64>>(&self, out: Out<H>, value: T) -> Answer {
        let mut values = self.lock();
        values.last += 1;
        let number = values.last;
        out.set(H::try_from(number).map_err(|_| Status::InternalError)?)?;
        values.by_number.insert(number, value);
        Ok(())
    }

    pub fn destroy(&self, handle: u64) -> Answer {
        self.lock().by_number.remove(&handle).map(|_| ()).ok_or(Status::InvalidHandle)
    }

    /// Calls `with` for the value of a handle.
    pub fn with<R>(&self, handle: u64, with: impl FnOnce(&mut T) -> R) -> Answer<R> {
        self.lock().by_number.get_mut(&handle).map(with).ok_or(Status::InvalidHandle)
    }
}
