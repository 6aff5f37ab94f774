//! The driver that calls are forwarded to.
//!
//! All `unsafe` code of forwarding is here: it calls that driver's functions, which have the types
//! of the API.

use std::ffi::{CStr, OsStr, c_char, c_void};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::OnceLock;

use libloading::os::unix::{Library, RTLD_LOCAL, RTLD_NOW};
use rustc_hash::FxHashMap;

use crate::boundary::{Function, Ptr, Target};
use crate::error::Error;

/// Calls a function of the driver, and returns the number of its error. Only this module and the
/// functions of [`watch`] use it.
macro_rules! real {
    ($name:ident($($arg:expr => $ty:ty),* $(,)?)) => {
        match $crate::forward::real::symbol(stringify!($name)) {
            None => $crate::error::Error::CUDA_ERROR_NOT_SUPPORTED as u32,
            Some(function) => {
                // SAFETY: the API says that the function of this name has this type, with `u32` for
                // an enum.
                let function: unsafe extern "C" fn($($ty),*) -> u32 = unsafe { std::mem::transmute(function.pointer()) };
                // SAFETY: the arguments are a program's, passed on unchanged, or ours with our own
                // memory behind each pointer.
                unsafe { function($($arg),*) }
            }
        }
    };
}

static REAL: OnceLock<Library> = OnceLock::new();

/// Makes the other driver find its own names first, else it would find this library's names.
#[cfg(target_env = "gnu")]
const OWN_NAMES_FIRST: i32 = libc::RTLD_DEEPBIND;
#[cfg(not(target_env = "gnu"))]
const OWN_NAMES_FIRST: i32 = 0;

/// Returns whether the path is that of the library that contains this code.
pub fn is_this_library(path: &Path) -> bool {
    let file = |path: &Path| std::fs::metadata(path).ok().map(|file| (file.dev(), file.ino()));
    let mut info = libc::Dl_info {
        dli_fname: std::ptr::null(),
        dli_fbase: std::ptr::null_mut(),
        dli_sname: std::ptr::null(),
        dli_saddr: std::ptr::null_mut(),
    };
    // SAFETY: the call looks up an address and fills the structure in.
    let found = unsafe { libc::dladdr(is_this_library as *const c_void, &mut info) } != 0
        && !info.dli_fname.is_null();
    if !found {
        return false;
    }
    // SAFETY: this is the dynamic linker's name of the library, which lasts as long as the library
    // is loaded.
    let here = Path::new(OsStr::from_bytes(unsafe { CStr::from_ptr(info.dli_fname) }.to_bytes()));
    file(here).is_some() && file(here) == file(path)
}

/// Loads the driver for the lifetime of the process.
pub fn open(path: &Path) -> Result<(), String> {
    // SAFETY: the library's initialisers run in this call. Our own initialiser makes the call
    // (`boundary::exported::at_load`) and holds no lock of ours, so an initialiser may call this
    // library as any program may. The user asks for this library as the process's driver, and is
    // responsible for its initialisers.
    let library = unsafe { Library::open(Some(path), RTLD_NOW | RTLD_LOCAL | OWN_NAMES_FIRST) };
    let library = library.map_err(|error| error.to_string())?;
    REAL.get_or_init(|| library);
    Ok(())
}

/// Returns the driver's function of a name.
pub fn symbol(name: &str) -> Option<Function> {
    // SAFETY: the type is that of an address.
    let symbol = unsafe { REAL.get()?.get::<*const c_void>(name.as_bytes()) };
    let address = symbol.ok().map(|symbol| *symbol).filter(|address| !address.is_null())?;
    // SAFETY: the library is never closed, and a driver's function of a name of the API has the
    // API's type.
    Some(unsafe { Function::new(address) })
}

/// A function that watches calls of a function of the API.
pub struct Watcher {
    pub name: &'static str,
    function: Function,
}

impl Watcher {
    /// Makes the watcher of a function of the API.
    ///
    /// # Safety
    /// The function lasts, and has the type that the API says for the name.
    pub const unsafe fn new(name: &'static str, function: *const c_void) -> Watcher {
        // SAFETY: the caller's promise.
        Watcher { name, function: unsafe { Function::new(function) } }
    }
}

/// The function behind names that the other driver does not have.
extern "C" fn absent() -> u32 {
    Error::CUDA_ERROR_NOT_SUPPORTED as u32
}

/// Makes names lead to their watchers, or else to the driver's functions.
pub fn lead(
    names: impl Iterator<Item = &'static Target>,
    watchers: impl Iterator<Item = &'static Watcher>,
) {
    let watchers: FxHashMap<&str, Function> =
        watchers.map(|watcher| (watcher.name, watcher.function)).collect();
    for target in names {
        let there = symbol(target.name());
        let watcher = watchers.get(target.name()).copied().filter(|_| there.is_some());
        // SAFETY: `absent` uses no arguments, so callers may pass any, and returns an error's
        // number as all functions of the API do.
        let absent = unsafe { Function::new(absent as *const c_void) };
        // SAFETY: all three functions have the type that the API says for this name.
        unsafe { target.lead_to(watcher.or(there).unwrap_or(absent)) };
    }
}

/// Returns an attribute of the first device; 0: there is none.
pub fn device_attribute(which: u32) -> i32 {
    let mut value = 0_i32;
    real!(cuDeviceGetAttribute(&mut value => *mut i32, which => u32, 0 => i32));
    value
}

/// Returns a limit of the current context.
pub fn limit(which: u32) -> Option<u64> {
    let mut value = 0_usize;
    let answer = real!(cuCtxGetLimit(&mut value => *mut usize, which => u32));
    (answer == 0).then_some(value as u64)
}

/// Waits for all work of the current context. Returns whether the work has succeeded.
pub fn synchronize() -> bool {
    real!(cuCtxSynchronize()) == 0
}

/// Returns the name of a function.
pub fn function_name(function: u64) -> Option<String> {
    let mut name = Ptr::<c_char>::NULL;
    let answer = real!(cuFuncGetName(&mut name => *mut Ptr<c_char>, function => u64));
    if answer == 0 { name.text().ok() } else { None }
}

/// Returns the module of a library in the current context.
pub fn module_of(library: u64) -> Option<u64> {
    let mut module = 0_u64;
    let answer = real!(cuLibraryGetModule(&mut module => *mut u64, library => u64));
    (answer == 0).then_some(module)
}

/// Returns the address and bytes of a module's variable.
pub fn variable(module: u64, name: &CStr) -> Option<(u64, u64)> {
    let (mut address, mut bytes) = (0_u64, 0_usize);
    let answer = real!(cuModuleGetGlobal_v2(
        &mut address => *mut u64, &mut bytes => *mut usize, module => u64, name.as_ptr() => *const c_char,
    ));
    (answer == 0).then_some((address, bytes as u64))
}

/// Reads device memory. `into` stays unchanged if the driver cannot read, for example because its
/// context is gone.
pub fn read(address: u64, into: &mut [u8]) {
    real!(cuMemcpyDtoH_v2(into.as_mut_ptr() => *mut u8, address => u64, into.len() => usize));
}

/// Runs a watched call. Panics do not unwind out of it.
pub fn watched(body: impl FnOnce() -> u32) -> u32 {
    catch_unwind(AssertUnwindSafe(body)).unwrap_or(Error::CUDA_ERROR_UNKNOWN as u32)
}

/// Defines watchers of functions, and the list of them.
///
/// In `fn name(..) / per_thread |real| body`, the body calls `real` once, which forwards the call.
macro_rules! watch {
    ($list:ident: $($(#[$meta:meta])* fn $name:ident $arguments:tt $(/ $per_thread:ident)? |$real:ident| $body:block)*) => {
        $(
            $crate::forward::real::watch_one! { $(#[$meta])* $name $arguments $real $body }
            $($crate::forward::real::watch_one! { $per_thread $arguments $real $body })?
        )*

        pub static $list: &[$crate::forward::real::Watcher] = &[$(
            $crate::forward::real::watcher!($name),
            $($crate::forward::real::watcher!($per_thread),)?
        )*];
    };
}

macro_rules! watcher {
    ($name:ident) => {
        // SAFETY: `watch_one` defines the function with the arguments of the API's function of this
        // name. It lasts as long as the library.
        unsafe {
            $crate::forward::real::Watcher::new(stringify!($name), $name as *const std::ffi::c_void)
        }
    };
}

macro_rules! watch_one {
    ($(#[$meta:meta])* $name:ident ($($arg:ident: $ty:ty),* $(,)?) $real:ident $body:block) => {
        $(#[$meta])*
        #[allow(clippy::too_many_arguments, reason = "the API says how many there are")]
        #[allow(non_snake_case, reason = "the API's name")]
        extern "C" fn $name($($arg: $ty),*) -> u32 {
            $crate::forward::real::watched(|| {
                let $real = || $crate::forward::real::real!($name($($arg => $ty),*));
                $body
            })
        }
    };
}

pub(crate) use real;
pub(crate) use watch;
pub(crate) use watch_one;
pub(crate) use watcher;
