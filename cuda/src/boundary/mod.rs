//! The boundary to C: calls from C, and accesses to memory of C programs. It has all `unsafe` code
//! of the library, except that of forwarding.
//!
//! `exported` has the names that C links.
//!
//! The contract is the driver API's: a pointer that a caller passes is null or valid for the use
//! that the function's documentation describes. Functions outside this module see these pointers as
//! [`Ptr`], and functions of the caller as [`HostFn`] and its kin. Only C makes these values.
//! Handles and addresses are numbers, which nothing here uses as pointers.

mod exported;

use std::cell::Cell;
use std::ffi::{CStr, c_char, c_void};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;

pub use exported::{Function, Target};
pub(crate) use exported::{
    api, define, define_per_thread, define_refused, early_api, export, jump,
};

use crate::error::{Answer, Error};
use crate::{driver, trace};

/// A pointer of the caller to one or several `T`.
///
/// A `Ptr` comes from C, as an argument or from memory that another `Ptr` points to. No function
/// makes one from a number. Callers of [`Ptr::cast`] and [`Ptr::after`] must stay within the memory
/// that the API documents for the argument. Callers are also responsible for the number of
/// elements.
#[repr(transparent)]
pub struct Ptr<T>(*mut T);

impl<T> Clone for Ptr<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Ptr<T> {}

// SAFETY: the caller is responsible for the memory. The documentation of asynchronous calls allows
// accesses from other threads.
unsafe impl<T> Send for Ptr<T> {}
// SAFETY: as above.
unsafe impl<T> Sync for Ptr<T> {}

/// Types of which every bit pattern is a valid value.
///
/// # Safety
/// Every bit pattern is a value of the type, and the type has C's layout.
pub unsafe trait Plain: Copy {}

/// Defines C structures. The definition compiles only if all fields are [`Plain`].
macro_rules! plain {
    ($(
        $(#[$meta:meta])*
        $vis:vis struct $name:ident $(<$P:ident = $default:ty>)? { $($(#[$field_meta:meta])* $field_vis:vis $field:ident: $ty:ty),* $(,)? }
    )*) => { $(
        $(#[$meta])*
        #[repr(C)]
        #[derive(Clone, Copy)]
        $vis struct $name $(<$P = $default>)? { $($(#[$field_meta])* $field_vis $field: $ty,)* }

        // SAFETY: the structure has C's layout. The bounds ensure that every bit pattern is a value
        // of each field.
        unsafe impl $(<$P: $crate::boundary::Plain>)? $crate::boundary::Plain for $name $(<$P>)?
        where $($ty: $crate::boundary::Plain,)* {}
    )* };
}
pub(crate) use plain;

macro_rules! plain_numbers {
    ($($t:ty),*) => { $(
        // SAFETY: every bit pattern is a number.
        unsafe impl Plain for $t {}
    )* };
}
plain_numbers!(u8, i8, u16, u32, i32, u64, i64, usize, f32);

// SAFETY: every bit pattern is a value of the elements.
unsafe impl<T: Plain, const N: usize> Plain for [T; N] {}

// SAFETY: every bit pattern is a raw pointer, as long as nothing uses it.
unsafe impl<T> Plain for Ptr<T> {}

/// A function of the caller, or null. It comes from C like a [`Ptr`].
#[repr(transparent)]
#[derive(Clone, Copy)]
pub struct HostFn(Option<unsafe extern "C" fn(*mut c_void)>);

/// A stream callback of the caller; like [`HostFn`].
#[repr(transparent)]
#[derive(Clone, Copy)]
pub struct StreamCallback(Option<unsafe extern "C" fn(u64, u32, *mut c_void)>);

/// A function of the caller that returns the shared memory of a block; like [`HostFn`].
#[repr(transparent)]
#[derive(Clone, Copy)]
pub struct SharedSize(Option<unsafe extern "C" fn(i32) -> usize>);

// SAFETY: a null pointer is `None`, and any other value is a function pointer until it is called.
unsafe impl Plain for HostFn {}

impl HostFn {
    pub fn is_some(self) -> bool {
        self.0.is_some()
    }
}

impl StreamCallback {
    pub fn is_some(self) -> bool {
        self.0.is_some()
    }
}

/// Returns the address of memory of this library, for the caller to read.
pub fn address_of<T>(items: &[T]) -> u64 {
    items.as_ptr().expose_provenance() as u64
}

impl<T> Ptr<T> {
    pub const NULL: Ptr<T> = Ptr(std::ptr::null_mut());

    pub fn is_null(self) -> bool {
        self.0.is_null()
    }

    /// Returns the pointer. Null is an error.
    pub fn required(self) -> Result<Self, Error> {
        if self.is_null() { Err(Error::CUDA_ERROR_INVALID_VALUE) } else { Ok(self) }
    }

    pub fn address(self) -> u64 {
        self.0.expose_provenance() as u64
    }

    /// Returns the pointer moved by `bytes`. Null stays null.
    pub fn after(self, bytes: u64) -> Ptr<T> {
        if self.is_null() { self } else { Ptr(self.0.wrapping_byte_add(bytes as usize)) }
    }

    pub fn cast<U>(self) -> Ptr<U> {
        Ptr(self.0.cast())
    }
}

impl<T: Plain> Ptr<T> {
    /// Writes a value. Null is an error.
    pub fn set(self, value: T) -> Answer {
        self.required()?.set_if(value);
        Ok(())
    }

    /// Writes a value, unless the pointer is null.
    pub fn set_if(self, value: T) {
        if !self.is_null() {
            // SAFETY: the contract of the boundary. The write may be unaligned.
            unsafe { self.0.write_unaligned(value) }
        }
    }

    /// Writes the `i`th value, unless the pointer is null.
    pub fn set_at(self, i: usize, value: T) {
        if !self.is_null() {
            // SAFETY: as above. Callers ensure that the element exists.
            unsafe { self.0.wrapping_add(i).write_unaligned(value) }
        }
    }

    pub fn get(self) -> Result<T, Error> {
        self.get_at(0)
    }

    pub fn get_at(self, i: usize) -> Result<T, Error> {
        // SAFETY: the contract of the boundary, and every bit pattern is a `T`.
        Ok(unsafe { self.required()?.0.wrapping_add(i).read_unaligned() })
    }

    /// Reads `count` values. Null is an error unless `count` is 0.
    pub fn list(self, count: usize) -> Result<Vec<T>, Error> {
        (0..count).map(|i| self.get_at(i)).collect()
    }
}

impl Ptr<c_char> {
    /// Returns the text up to its terminating 0. Replaces invalid UTF-8.
    pub fn text(self) -> Result<String, Error> {
        // SAFETY: the contract of the boundary: a string ends with a 0.
        let text = unsafe { CStr::from_ptr(self.required()?.0) };
        Ok(text.to_string_lossy().into_owned())
    }

    /// Writes as much of a text as fits into `room` bytes with its terminating 0.
    pub fn put_text(self, text: &str, room: usize) {
        let Some(most) = room.checked_sub(1).filter(|_| !self.is_null()) else { return };
        let length = text.len().min(most);
        self.cast::<u8>().put(&text.as_bytes()[..length]);
        self.cast::<u8>().set_at(length, 0);
    }
}

impl Ptr<u8> {
    pub fn put(self, bytes: &[u8]) {
        if !self.is_null() {
            // SAFETY: the contract of the boundary.
            unsafe { self.0.copy_from(bytes.as_ptr(), bytes.len()) }
        }
    }

    /// Calls `show` with bytes of the caller.
    pub fn with<R>(self, bytes: usize, show: impl FnOnce(&[u8]) -> R) -> Result<R, Error> {
        if bytes == 0 {
            return Ok(show(&[]));
        }
        // SAFETY: the contract of the boundary: nobody writes the bytes meanwhile.
        Ok(show(unsafe { std::slice::from_raw_parts(self.required()?.0, bytes) }))
    }

    /// Calls `show` with bytes of the caller, for writing.
    pub fn with_mut<R>(self, bytes: usize, show: impl FnOnce(&mut [u8]) -> R) -> Result<R, Error> {
        if bytes == 0 {
            return Ok(show(&mut []));
        }
        // SAFETY: the contract of the boundary: nobody else accesses the bytes meanwhile.
        Ok(show(unsafe { std::slice::from_raw_parts_mut(self.required()?.0, bytes) }))
    }

    /// Keeps a pointer to bytes that the caller does not change before it unloads the image.
    pub fn keep(self, bytes: usize) -> Result<Kept, Error> {
        Ok(Kept { pointer: self.required()?, bytes })
    }
}

/// Bytes of the caller. The holder drops this before the call that unloads the image returns.
pub struct Kept {
    pointer: Ptr<u8>,
    bytes: usize,
}

impl Kept {
    pub fn bytes(&self) -> &[u8] {
        // SAFETY: by the contract of the calls that keep a pointer, nobody writes the bytes before
        // the image is unloaded, and the holder drops this value before then.
        unsafe { std::slice::from_raw_parts(self.pointer.0, self.bytes) }
    }
}

thread_local! {
    /// Whether a null stream means the thread's own.
    static PER_THREAD: Cell<bool> = const { Cell::new(false) };
    /// Whether the thread runs a function of the caller, which must not call the driver.
    static IN_CALLBACK: Cell<bool> = const { Cell::new(false) };
}

/// Returns whether a null stream means the thread's own in the thread's current call.
pub fn per_thread_stream() -> bool {
    PER_THREAD.get()
}

/// Calls a function with another meaning of the null stream.
pub fn with_per_thread_stream<R>(per_thread: bool, call: impl FnOnce() -> R) -> R {
    let before = PER_THREAD.replace(per_thread);
    let result = call();
    PER_THREAD.set(before);
    result
}

/// Whether this process is a fork of a process that had called `cuInit`.
static FORKED: AtomicBool = AtomicBool::new(false);

extern "C" fn forked() {
    FORKED.store(true, Relaxed);
}

/// Returns whether this process is a fork of a process that had a driver.
pub fn is_forked() -> bool {
    FORKED.load(Relaxed)
}

/// Marks processes that are forked from now on as having no driver.
pub fn watch_forks() {
    // SAFETY: the handler only stores to an atomic.
    let _ = unsafe { libc::pthread_atfork(None, None, Some(forked)) };
}

extern "C" fn leave_summary() {
    // A forked child has done nothing itself.
    if !FORKED.load(Relaxed) {
        let _ = catch_unwind(crate::record::end);
    }
}

/// Has the process write its summary when it exits.
pub fn at_exit() {
    // SAFETY: the handler does not unwind, and the library is never unloaded.
    let _ = unsafe { libc::atexit(leave_summary) };
}

/// Runs a call of the API. Panics do not unwind out of it.
pub fn call(name: &'static str, body: impl FnOnce() -> Answer) -> u32 {
    if IN_CALLBACK.get() {
        return Error::CUDA_ERROR_NOT_PERMITTED as u32;
    }
    if is_forked() || !driver::is_ready() {
        return Error::CUDA_ERROR_NOT_INITIALIZED as u32;
    }
    early_call(name, body)
}

/// Runs a call that may come before `cuInit`.
pub fn early_call(name: &'static str, body: impl FnOnce() -> Answer) -> u32 {
    let begun = trace::begin();
    let answer = catch_unwind(AssertUnwindSafe(body)).unwrap_or(Err(Error::CUDA_ERROR_UNKNOWN));
    trace::call(name, answer, begun);
    answer.err().unwrap_or(Error::CUDA_SUCCESS) as u32
}

/// Answers a call of an unsupported function.
pub fn refused(name: &'static str) -> u32 {
    early_call(name, || {
        trace::refused(name);
        Err(Error::CUDA_ERROR_NOT_SUPPORTED)
    })
}

/// Calls a function of the caller, which must not call the driver.
pub fn call_host(function: HostFn, data: Ptr<c_void>) {
    let Some(function) = function.0 else { return };
    let before = IN_CALLBACK.replace(true);
    // SAFETY: the caller passed the function to be called with this data.
    unsafe { function(data.0) };
    IN_CALLBACK.set(before);
}

/// Calls a stream callback of the caller with the stream and its status.
pub fn call_stream_callback(function: StreamCallback, stream: u64, status: u32, data: Ptr<c_void>) {
    let Some(function) = function.0 else { return };
    let before = IN_CALLBACK.replace(true);
    // SAFETY: as above.
    unsafe { function(stream, status, data.0) };
    IN_CALLBACK.set(before);
}

/// Asks the caller for the dynamic shared memory of blocks of this size.
pub fn ask_shared_size(function: SharedSize, block: i32) -> Option<usize> {
    // SAFETY: as above.
    function.0.map(|function| unsafe { function(block) })
}

unsafe extern "C" {
    static stdout: *mut libc::FILE;
}

/// Writes to the C library's standard output, in order with what the program prints.
pub fn print(text: &[u8]) {
    // SAFETY: the C library's stream is open, and locks itself.
    unsafe { libc::fwrite(text.as_ptr().cast(), 1, text.len(), stdout) };
}

/// Maps memory of the caller at its own address.
pub fn map_registered(
    memory: &warploom_runtime::memory::Memory,
    pointer: Ptr<c_void>,
    bytes: u64,
) -> Answer {
    let host =
        std::ptr::NonNull::new(pointer.0.cast::<u8>()).ok_or(Error::CUDA_ERROR_INVALID_VALUE)?;
    // SAFETY: the program keeps registered memory until a call that unregisters it or ends the
    // context has returned. These calls return after `unmap_bytes` (`allocations::release`), which
    // waits for launches and copies. This library calls `Memory::load`, `store` and `atomic` in
    // launches only.
    let mapped = unsafe { memory.map_bytes(host, bytes) };
    mapped.map_err(|_| Error::CUDA_ERROR_INVALID_VALUE)
}

/// Data of the caller for a host function. Dropping this calls `release` with the data, once.
pub struct Owned {
    data: Ptr<c_void>,
    release: HostFn,
    /// Whether the caller has the data back, so that `release` is not called.
    is_returned: AtomicBool,
}

impl Owned {
    pub fn new(data: Ptr<c_void>, release: HostFn) -> Owned {
        Owned { data, release, is_returned: AtomicBool::new(false) }
    }

    /// Returns the data to the caller. No host function has it.
    pub fn give_back(&self) {
        self.is_returned.store(true, Relaxed);
    }
}

impl Drop for Owned {
    fn drop(&mut self) {
        if !*self.is_returned.get_mut() {
            call_host(self.release, self.data);
        }
    }
}
