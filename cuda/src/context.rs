//! Contexts, and the current context of each thread.

use std::cell::RefCell;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, AtomicUsize};
use std::sync::{Arc, Mutex, PoisonError};

use crate::error::{Answer, Error};
use crate::handles::{Table, fresh};
use crate::lines::Lines;
use crate::stream::Stream;
use crate::{allocations, array, event, module, stream};

pub static CONTEXTS: Table<Context> = Table::new();

/// The defaults of each `CUlimit`: stack, `printf` text, heap, depth of waits, pending launches, L2
/// granularity, persisting L2.
const LIMITS: [u64; 7] = [1024, 1 << 20, 8 << 20, 2, 2048, 64, 0];

pub struct Context {
    pub handle: u64,
    pub is_primary: bool,
    pub flags: AtomicU32,
    pub lines: Arc<Lines>,
    pub legacy: Arc<Stream>,
    /// The error that all calls answer after a kernel's fault; 0: none.
    fault: AtomicU32,
    limits: [AtomicU64; LIMITS.len()],
    /// The number of capturing streams that are in order with the legacy stream. Work of the legacy
    /// stream is refused meanwhile.
    pub captures: AtomicUsize,
    pub cache_config: AtomicU32,
    pub shared_config: AtomicU32,
    closed: AtomicBool,
}

/// The context that the runtime and several libraries share.
struct Primary {
    /// The handle, which never changes.
    handle: u64,
    count: u32,
    flags: u32,
}

static PRIMARY: Mutex<Primary> = Mutex::new(Primary { handle: 0, count: 0, flags: 0 });

thread_local! {
    /// The context stack of the thread. The last context is current.
    static STACK: RefCell<Vec<u64>> = const { RefCell::new(Vec::new()) };
}

impl Context {
    fn new(handle: u64, flags: u32, is_primary: bool) -> Arc<Context> {
        let lines = Lines::new();
        let legacy = Arc::new(Stream::legacy(handle));
        let context = Arc::new(Context {
            handle,
            is_primary,
            flags: AtomicU32::new(flags),
            lines,
            legacy,
            fault: AtomicU32::new(0),
            limits: LIMITS.map(AtomicU64::new),
            captures: AtomicUsize::new(0),
            cache_config: AtomicU32::new(0),
            shared_config: AtomicU32::new(0),
            closed: AtomicBool::new(false),
        });
        CONTEXTS.insert_at(handle, context.clone());
        crate::record::note(|summary| summary.contexts += 1);
        context
    }

    /// Creates a context of the program, and makes it current.
    pub fn create(flags: u32) -> Arc<Context> {
        let context = Context::new(fresh(), flags, false);
        push(context.handle);
        context
    }

    pub fn limit(&self, limit: u32) -> Option<u64> {
        self.limits.get(limit as usize).map(|limit| limit.load(Relaxed))
    }

    pub fn set_limit(&self, limit: u32, value: u64) -> Answer {
        let limit = self.limits.get(limit as usize).ok_or(Error::CUDA_ERROR_UNSUPPORTED_LIMIT)?;
        limit.store(value, Relaxed);
        Ok(())
    }

    /// Stores a fault, or another error that the context cannot recover from. The first error
    /// stays.
    pub fn fail(&self, error: Error) {
        let _ = self.fault.compare_exchange(0, error as u32, Relaxed, Relaxed);
    }

    /// Returns the context's error, if it has one.
    pub fn check(&self) -> Answer {
        match self.fault.load(Relaxed) {
            0 => Ok(()),
            error => Err(crate::names::error(error).unwrap_or(Error::CUDA_ERROR_UNKNOWN)),
        }
    }

    /// Waits for all work of the context.
    pub fn synchronize(&self) -> Answer {
        self.lines.wait_for_all();
        self.check()
    }

    /// Releases everything that the context has.
    fn close(&self) {
        self.closed.store(true, Relaxed);
        self.lines.wait_for_all();
        let _ = CONTEXTS.remove(self.handle);
        event::forget(self.handle);
        stream::forget(self.handle);
        module::forget(self.handle);
        array::forget(self.handle);
        allocations::forget(self.handle);
    }

    pub fn is_capturing(&self) -> bool {
        self.captures.load(Relaxed) > 0
    }

    pub fn is_closed(&self) -> bool {
        self.closed.load(Relaxed)
    }
}

fn primary() -> std::sync::MutexGuard<'static, Primary> {
    let mut primary = PRIMARY.lock().unwrap_or_else(PoisonError::into_inner);
    if primary.handle == 0 {
        primary.handle = fresh();
    }
    primary
}

/// Retains the primary context, which exists as long as somebody holds it.
pub fn retain_primary() -> u64 {
    let mut primary = primary();
    if CONTEXTS.find(primary.handle).is_none() {
        Context::new(primary.handle, primary.flags, true);
    }
    primary.count += 1;
    primary.handle
}

pub fn release_primary() -> Answer {
    let mut primary = primary();
    primary.count = primary.count.checked_sub(1).ok_or(Error::CUDA_ERROR_INVALID_CONTEXT)?;
    let context = if primary.count == 0 { CONTEXTS.find(primary.handle) } else { None };
    drop(primary);
    if let Some(context) = context {
        context.close();
    }
    Ok(())
}

/// Resets the primary context. Its holders keep holding it.
pub fn reset_primary() -> Answer {
    let (handle, count, flags) = {
        let primary = primary();
        (primary.handle, primary.count, primary.flags)
    };
    if let Some(context) = CONTEXTS.find(handle) {
        context.close();
        if count > 0 {
            Context::new(handle, flags, true);
        }
    }
    Ok(())
}

/// Returns the flags of the primary context, and whether it exists.
pub fn primary_state() -> (u32, bool) {
    let primary = primary();
    (primary.flags, CONTEXTS.find(primary.handle).is_some())
}

pub fn set_primary_flags(flags: u32) {
    let mut primary = primary();
    primary.flags = flags;
    if let Some(context) = CONTEXTS.find(primary.handle) {
        context.flags.store(flags, Relaxed);
    }
}

/// Returns the handle of the thread's current context; 0: none.
pub fn current_handle() -> u64 {
    STACK.with_borrow(|stack| stack.last().copied().unwrap_or(0))
}

/// Returns the thread's current context in any state.
pub fn current_even_failed() -> Result<Arc<Context>, Error> {
    match current_handle() {
        0 => Err(Error::CUDA_ERROR_INVALID_CONTEXT),
        handle => CONTEXTS.find(handle).ok_or(Error::CUDA_ERROR_CONTEXT_IS_DESTROYED),
    }
}

/// Returns the thread's current context, or the error that has ended it.
pub fn current() -> Result<Arc<Context>, Error> {
    let context = current_even_failed()?;
    context.check()?;
    Ok(context)
}

/// Returns the context of a handle.
pub fn get(handle: u64) -> Result<Arc<Context>, Error> {
    CONTEXTS.find(handle).ok_or(Error::CUDA_ERROR_INVALID_CONTEXT)
}

pub fn push(handle: u64) {
    STACK.with_borrow_mut(|stack| stack.push(handle));
}

pub fn pop() -> Result<u64, Error> {
    STACK.with_borrow_mut(Vec::pop).ok_or(Error::CUDA_ERROR_INVALID_CONTEXT)
}

/// Replaces the thread's current context; 0 removes it.
pub fn set_current(handle: u64) {
    STACK.with_borrow_mut(|stack| {
        stack.pop();
        if handle != 0 {
            stack.push(handle);
        }
    });
}

/// Destroys a context that the program created, and removes it from the top of the thread's stack.
pub fn destroy(handle: u64) -> Answer {
    let context = get(handle)?;
    if context.is_primary {
        return Err(Error::CUDA_ERROR_INVALID_CONTEXT);
    }
    context.close();
    if current_handle() == handle {
        pop()?;
    }
    Ok(())
}
