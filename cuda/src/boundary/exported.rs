//! The symbols that C links by name.

use std::ffi::c_void;
use std::panic::catch_unwind;
use std::sync::atomic::AtomicPtr;
use std::sync::atomic::Ordering::Relaxed;

use crate::forward;

/// The address of a function of the API, in this library or in the other driver.
#[derive(Clone, Copy)]
pub struct Function(*const c_void);

// SAFETY: nothing reads through the pointer, and it stays valid.
unsafe impl Sync for Function {}
// SAFETY: as above.
unsafe impl Send for Function {}

impl Function {
    /// Wraps the address of a function of the API.
    ///
    /// # Safety
    /// The function lasts as long as the process, and has the type that the API says for its name.
    /// Callers use it under that name only.
    pub const unsafe fn new(address: *const c_void) -> Function {
        Function(address)
    }

    pub fn pointer(self) -> *const c_void {
        self.0
    }

    pub fn address(self) -> u64 {
        self.0.expose_provenance() as u64
    }
}

/// The function that a name of the API leads to: this library's own, unless calls are forwarded.
#[repr(C)]
pub struct Target {
    /// The function to jump to. The field comes first, since the jump reads it at the target's
    /// address.
    function: AtomicPtr<c_void>,
    name: &'static str,
}

impl Target {
    pub const fn new(name: &'static str, own: *const c_void) -> Target {
        Target { function: AtomicPtr::new(own.cast_mut()), name }
    }

    pub fn name(&self) -> &'static str {
        self.name
    }

    /// Makes the name lead to a function. The library calls this when it is loaded, before any call
    /// of the API.
    ///
    /// # Safety
    /// The function has the type that the API says for the name.
    pub unsafe fn lead_to(&self, function: Function) {
        self.function.store(function.0.cast_mut(), Relaxed);
    }
}

extern "C" fn at_load() {
    let _ = catch_unwind(forward::start);
}

/// The initialiser that the dynamic linker calls before any other code can call this library.
#[cfg(target_os = "linux")]
#[used]
// SAFETY: the function takes no arguments and does not unwind, as the section requires.
#[unsafe(link_section = ".init_array")]
static AT_LOAD: extern "C" fn() = at_load;

/// Defines functions of the API.
///
/// In `fn name(..) / per_thread`, the second name is the function with the thread's own default
/// stream.
macro_rules! api {
    ($($(#[$meta:meta])* fn $name:ident $arguments:tt $(/ $per_thread:ident)? $body:block)*) => { $(
        $crate::boundary::define! { call $(#[$meta])* $name $arguments $body }
        $($crate::boundary::define_per_thread! { $per_thread $name $arguments })?
    )* };
}

/// Defines functions that programs may call before `cuInit`.
macro_rules! early_api {
    ($($(#[$meta:meta])* fn $name:ident $arguments:tt $body:block)*) => {
        $($crate::boundary::define! { early_call $(#[$meta])* $name $arguments $body })*
    };
}

macro_rules! define {
    ($call:ident $(#[$meta:meta])* $name:ident ($($arg:ident: $ty:ty),* $(,)?) $body:block) => {
        $(#[$meta])*
        #[allow(clippy::too_many_arguments, reason = "the API says how many there are")]
        #[allow(non_snake_case, reason = "the API's name")]
        pub extern "C" fn $name($($arg: $ty),*) -> u32 {
            $crate::boundary::$call(stringify!($name), || -> $crate::error::Answer { $body })
        }
        $crate::boundary::export! { $name }
    };
}

/// Defines the symbol of a function: a jump to the target of the name.
macro_rules! export {
    ($name:ident) => {
        #[allow(non_snake_case, reason = "the API's name")]
        pub mod $name {
            use $crate::boundary::{Function, Target};

            pub static TARGET: Target =
                Target::new(stringify!($name), super::$name as *const std::ffi::c_void);
            pub const EXPORTED: Function =
                // SAFETY: the name leads to a function of the API's type, and lasts as long as the
                // library.
                unsafe { Function::new($name as *const std::ffi::c_void) };

            // SAFETY: no other library of the process defines the name, or the name is the
            // driver's, whose role this library has. The jump leaves registers and stack as the
            // caller set them. Its target has the type that the API says.
            #[unsafe(no_mangle)]
            #[unsafe(naked)]
            pub extern "C" fn $name() {
                $crate::boundary::jump!(TARGET)
            }
        }
    };
}

#[cfg(target_arch = "x86_64")]
macro_rules! jump {
    ($target:ident) => {
        std::arch::naked_asm!("jmp qword ptr [rip + {target}]", target = sym $target)
    };
}

#[cfg(target_arch = "aarch64")]
macro_rules! jump {
    ($target:ident) => {
        std::arch::naked_asm!("adrp x16, {target}", "ldr x16, [x16, :lo12:{target}]", "br x16", target = sym $target)
    };
}

#[cfg(target_arch = "riscv64")]
macro_rules! jump {
    ($target:ident) => {
        std::arch::naked_asm!(
            "2: auipc t1, %pcrel_hi({target})", "ld t1, %pcrel_lo(2b)(t1)", "jr t1", target = sym $target
        )
    };
}

macro_rules! define_per_thread {
    ($per_thread:ident $name:ident ($($arg:ident: $ty:ty),* $(,)?)) => {
        #[doc = concat!("[`", stringify!($name), "`], where a null stream is the thread's own.")]
        #[allow(clippy::too_many_arguments, reason = "the API says how many there are")]
        #[allow(non_snake_case, reason = "the API's name")]
        pub extern "C" fn $per_thread($($arg: $ty),*) -> u32 {
            $crate::boundary::with_per_thread_stream(true, || $name($($arg),*))
        }
        $crate::boundary::export! { $per_thread }
    };
}

/// Defines a function that is not supported.
macro_rules! define_refused {
    ($name:ident) => {
        // The caller's arguments stay in registers and on the caller's stack.
        #[allow(non_snake_case, reason = "the API's name")]
        extern "C" fn $name() -> u32 {
            $crate::boundary::refused(stringify!($name))
        }
        $crate::boundary::export! { $name }
    };
}

pub(crate) use api;
pub(crate) use define;
pub(crate) use define_per_thread;
pub(crate) use define_refused;
pub(crate) use early_api;
pub(crate) use export;
pub(crate) use jump;
