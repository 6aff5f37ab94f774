//! User objects: data of a program that graphs keep alive.

use std::ffi::c_void;
use std::sync::{Arc, Mutex, PoisonError};

use super::require;
use crate::boundary::{self, HostFn, Ptr, api};
use crate::error::{Answer, Error};
use crate::graph::GRAPHS;
use crate::handles::Table;

/// A user object: its number of references, and the function to call when none is left.
pub(crate) struct UserObject {
    count: Mutex<u64>,
    destroy: HostFn,
    data: Ptr<c_void>,
}

static OBJECTS: Table<UserObject> = Table::new();

/// Values of `CUuserObject_flags` and `CUuserObjectRetain_flags`.
const NO_DESTRUCTOR_SYNC: u32 = 1;
const MOVE: u32 = 1;

pub(crate) fn retain(object: u64, count: u32) -> Answer {
    let object = OBJECTS.get(object)?;
    let mut held = object.count.lock().unwrap_or_else(PoisonError::into_inner);
    // Another thread may have dropped the last reference and be about to destroy the object.
    require(*held > 0)?;
    *held += u64::from(count);
    Ok(())
}

/// Drops `count` references of an object. Destroys the object if none is left.
pub(crate) fn release(handle: u64, count: u64) -> Answer {
    let object = OBJECTS.get(handle)?;
    let left = {
        let mut held = object.count.lock().unwrap_or_else(PoisonError::into_inner);
        *held = held.checked_sub(count).ok_or(Error::CUDA_ERROR_INVALID_VALUE)?;
        *held
    };
    if left == 0 {
        OBJECTS.remove(handle)?;
        boundary::call_host(object.destroy, object.data);
    }
    Ok(())
}

api! {
    fn cuUserObjectCreate(out: Ptr<u64>, data: Ptr<c_void>, destroy: HostFn, count: u32, flags: u32) {
        out.required()?;
        require(destroy.is_some() && count > 0 && flags == NO_DESTRUCTOR_SYNC)?;
        out.set(OBJECTS.insert(Arc::new(UserObject { count: Mutex::new(count.into()), destroy, data })))
    }

    fn cuUserObjectRetain(object: u64, count: u32) {
        require(count > 0)?;
        retain(object, count)
    }

    fn cuUserObjectRelease(object: u64, count: u32) {
        require(count > 0)?;
        release(object, count.into())
    }

    fn cuGraphRetainUserObject(graph: u64, object: u64, count: u32, flags: u32) {
        require(count > 0 && flags <= MOVE)?;
        let graph = GRAPHS.get(graph)?;
        if flags & MOVE == 0 {
            retain(object, count)?;
        } else {
            OBJECTS.get(object)?;
        }
        graph.hold(object, count.into());
        Ok(())
    }

    fn cuGraphReleaseUserObject(graph: u64, object: u64, count: u32) {
        require(count > 0)?;
        GRAPHS.get(graph)?.let_go(object, count.into())?;
        release(object, count.into())
    }
}
