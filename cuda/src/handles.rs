//! Handles: numbers that are never used again, so that stale handles are recognised.

use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use rustc_hash::FxHashMap;

use crate::error::Error;

/// The next handle. Small numbers are special streams, and no handle looks like an aligned pointer
/// of a program.
static NEXT: AtomicU64 = AtomicU64::new(0x0011_0008);

/// Returns a number that no handle has had.
pub fn fresh() -> u64 {
    NEXT.fetch_add(16, Relaxed)
}

/// Returns the sequence number of a handle, which is unique.
pub fn number_of(handle: u64) -> u64 {
    handle >> 4
}

/// Objects by their handles.
pub struct Table<T>(RwLock<Option<FxHashMap<u64, Arc<T>>>>);

impl<T> Table<T> {
    pub const fn new() -> Table<T> {
        Table(RwLock::new(None))
    }

    fn read(&self) -> RwLockReadGuard<'_, Option<FxHashMap<u64, Arc<T>>>> {
        self.0.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> RwLockWriteGuard<'_, Option<FxHashMap<u64, Arc<T>>>> {
        self.0.write().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn insert(&self, thing: Arc<T>) -> u64 {
        let handle = fresh();
        self.insert_at(handle, thing);
        handle
    }

    pub fn insert_at(&self, handle: u64, thing: Arc<T>) {
        self.write().get_or_insert_default().insert(handle, thing);
    }

    pub fn find(&self, handle: u64) -> Option<Arc<T>> {
        self.read().as_ref()?.get(&handle).cloned()
    }

    /// Returns the object of a handle, or the error for an invalid handle.
    pub fn get(&self, handle: u64) -> Result<Arc<T>, Error> {
        self.find(handle).ok_or(Error::CUDA_ERROR_INVALID_HANDLE)
    }

    /// Returns the handle of an object.
    pub fn handle_of(&self, thing: &Arc<T>) -> Option<u64> {
        let map = self.read();
        map.as_ref()?.iter().find(|(_, other)| Arc::ptr_eq(thing, other)).map(|(&handle, _)| handle)
    }

    pub fn remove(&self, handle: u64) -> Result<Arc<T>, Error> {
        self.write()
            .as_mut()
            .and_then(|map| map.remove(&handle))
            .ok_or(Error::CUDA_ERROR_INVALID_HANDLE)
    }

    /// Returns all objects.
    pub fn all(&self) -> Vec<Arc<T>> {
        self.read().iter().flat_map(FxHashMap::values).cloned().collect()
    }

    /// Removes and returns the objects that `keep` refuses.
    pub fn retain(&self, keep: impl Fn(&T) -> bool) -> Vec<Arc<T>> {
        let mut map = self.write();
        let gone = map.iter_mut().flat_map(|map| map.extract_if(|_, thing| !keep(thing)));
        gone.map(|(_, thing)| thing).collect()
    }
}
