//! The driver that calls are forwarded to. All `unsafe` of forwarding is here: it calls that driver's functions, which have the types of
//! the API.

use std::ffi::{CStr, OsStr, c_void};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::OnceLock;

use libloading::os::unix::{Library, RTLD_LOCAL, RTLD_NOW};

use crate::boundary::Function;
use crate::error::Error;

static REAL: OnceLock<Library> = OnceLock::new();

/// Its own names come first for it, else it would find ours.
#[cfg(target_env = "gnu")]
const OWN_NAMES_FIRST: i32 = libc::RTLD_DEEPBIND;
#[cfg(not(target_env = "gnu"))]
const OWN_NAMES_FIRST: i32 = 0;

/// Whether the path is that of the library that this code is in.
pub fn is_this_library(path: &Path) -> bool {
    let file = |path: &Path| std::fs::metadata(path).ok().map(|file| (file.dev(), file.ino()));
    let mut info = libc::Dl_info {
        dli_fname: std::ptr::null(),
        dli_fbase: std::ptr::null_mut(),
        dli_sname: std::ptr::null(),
        dli_saddr: std::ptr::null_mut(),
    };
    // SAFETY: it looks an address up, and fills the structure in.
    let found = unsafe { libc::dladdr(is_this_library as *const c_void, &mut info) } != 0 && !info.dli_fname.is_null();
    if !found {
        return false;
    }
    // SAFETY: the dynamic linker's name of the library, which lasts as long as that is loaded.
    let here = Path::new(OsStr::from_bytes(unsafe { CStr::from_ptr(info.dli_fname) }.to_bytes()));
    file(here).is_some() && file(here) == file(path)
}

/// Loads it, for as long as the process lives.
pub fn open(path: &Path) -> Result<(), String> {
    // SAFETY: the user asks for this library to be loaded as the process's driver.
    let library = unsafe { Library::open(Some(path), RTLD_NOW | RTLD_LOCAL | OWN_NAMES_FIRST) };
    let library = library.map_err(|error| error.to_string())?;
    REAL.get_or_init(|| library);
    Ok(())
}

/// Its function of a name.
pub fn symbol(name: &str) -> Option<Function> {
    // SAFETY: the type is that of an address.
    let symbol = unsafe { REAL.get()?.get::<*const c_void>(name.as_bytes()) };
    symbol.ok().map(|symbol| Function(*symbol)).filter(|function| !function.0.is_null())
}

/// One call that is watched: nothing unwinds out of it.
pub fn watched(body: impl FnOnce() -> u32) -> u32 {
    catch_unwind(AssertUnwindSafe(body)).unwrap_or(Error::CUDA_ERROR_UNKNOWN as u32)
}

/// Calls a function of it. The answer is an error's number.
macro_rules! real {
    ($name:ident($($arg:expr => $ty:ty),* $(,)?)) => {
        match $crate::forward::real::symbol(stringify!($name)) {
            None => $crate::error::Error::CUDA_ERROR_NOT_SUPPORTED as u32,
            Some(function) => {
                // SAFETY: the API says that the function of this name has this type, with `u32` for an enum.
                let function: unsafe extern "C" fn($($ty),*) -> u32 = unsafe { std::mem::transmute(function.0) };
                // SAFETY: the arguments are a program's, passed on as they are, or ours with memory of ours behind each pointer.
                unsafe { function($($arg),*) }
            }
        }
    };
}

/// Defines what watches functions, and the list of them. `fn name(..) / per_thread |real| body`: the body calls `real` once, which hands the
/// call over.
macro_rules! watch {
    ($list:ident: $($(#[$meta:meta])* fn $name:ident $arguments:tt $(/ $per_thread:ident)? |$real:ident| $body:block)*) => {
        $(
            $crate::forward::real::watch_one! { $(#[$meta])* $name $arguments $real $body }
            $($crate::forward::real::watch_one! { $per_thread $arguments $real $body })?
        )*

        pub static $list: &[(&str, $crate::boundary::Function)] = &[$(
            (stringify!($name), $crate::boundary::Function($name as *const std::ffi::c_void)),
            $((stringify!($per_thread), $crate::boundary::Function($per_thread as *const std::ffi::c_void)),)?
        )*];
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

pub(crate) use {real, watch, watch_one};
