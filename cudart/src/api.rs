//! Macros that define entry points of the C API, and helpers for their pointers.

/// Defines entry points of the C API, whose names are rows of [`crate::table`]. Bodies have type
/// `Result<()>`. [`crate::error::entry`] runs a body and makes the entry point's result.
///
/// `/ ptsz(stream)` after the parameters defines a second entry point whose name ends in `_ptsz`,
/// for programs with a default stream per thread: there a null `stream` is the thread's own.
/// `/ ptds(when)` defines a second entry point whose name ends in `_ptds`, for calls that return
/// when their work is done. The body gets a [`crate::stream::When`] with the name in parentheses,
/// which follows the thread's own default stream in the `_ptds` function.
macro_rules! api {
    ($($(#[$meta:meta])* fn $name:ident $arguments:tt $(/ $kind:ident($variable:ident))? $body:block)*) => {
        $($crate::api::define! { [$(#[$meta])*] $name $arguments [$($kind $variable)?] $body })*
    };
}

macro_rules! define {
    ([$($meta:tt)*] $name:ident ($($arg:ident: $t:ty),* $(,)?) [] $body:block) => {
        $($meta)*
        #[allow(unused_unsafe, reason = "bodies may do nothing that is unsafe")]
        #[allow(clippy::too_many_arguments, reason = "the API says how many there are")]
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name($($arg: $t),*) -> core::ffi::c_int {
            // SAFETY: the caller keeps the contract of the C function: pointers are null, which is
            // tested, or valid for the reads and writes that the documentation states.
            $crate::error::entry(|| unsafe { $body })
        }
    };
    ([$($meta:tt)*] $name:ident ($($arg:ident: $t:ty),* $(,)?) [ptsz $stream:ident] $body:block) => {
        $crate::api::define! { [$($meta)*] $name ($($arg: $t),*) [] $body }
        $crate::api::per_thread! { [$($meta)*] $name "_ptsz" ($($arg: $t),*) {
            let $stream = $crate::stream::per_thread($stream);
            $body
        }}
    };
    ([$($meta:tt)*] $name:ident ($($arg:ident: $t:ty),* $(,)?) [ptds $when:ident] $body:block) => {
        $crate::api::define! { [$($meta)*] $name ($($arg: $t),*) [] {
            let $when = $crate::stream::When::Now;
            $body
        }}
        $crate::api::per_thread! { [$($meta)*] $name "_ptds" ($($arg: $t),*) {
            let $when = $crate::stream::When::After($crate::stream::PER_THREAD);
            $body
        }}
    };
}

/// Defines an entry point whose name has a suffix.
macro_rules! per_thread {
    ([$($meta:tt)*] $name:ident $suffix:literal ($($arg:ident: $t:ty),*) $body:block) => {
        $($meta)*
        const _: () = {
            #[allow(unused_unsafe, reason = "bodies may do nothing that is unsafe")]
            #[allow(clippy::too_many_arguments, reason = "the API says how many there are")]
            #[unsafe(export_name = concat!(stringify!($name), $suffix))]
            unsafe extern "C" fn per_thread($($arg: $t),*) -> core::ffi::c_int {
                // SAFETY: as for the function without the suffix
                $crate::error::entry(|| unsafe { $body })
            }
        };
    };
}

pub(crate) use api;
pub(crate) use define;
pub(crate) use per_thread;

/// Checks that the caller's pointer is not null, before the result for it is made.
pub fn required<T>(into: *mut T) -> crate::error::Result<()> {
    if into.is_null() { Err(crate::error::INVALID_VALUE) } else { Ok(()) }
}

/// Writes a result through the caller's pointer, which may not be null.
///
/// # Safety
///
/// The pointer is null or valid for writes.
pub unsafe fn put<T>(into: *mut T, value: T) -> crate::error::Result<()> {
    required(into)?;
    // SAFETY: the pointer is not null, and the caller promises the rest
    unsafe { into.write(value) };
    Ok(())
}

/// Returns a reference through the caller's pointer, which may not be null.
///
/// # Safety
///
/// The pointer is null or valid for reads while the result is used.
pub unsafe fn get<'a, T>(from: *const T) -> crate::error::Result<&'a T> {
    // SAFETY: the caller's promise
    unsafe { from.as_ref() }.ok_or(crate::error::INVALID_VALUE)
}
