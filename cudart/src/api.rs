//! How an entry point is written.

/// Defines entry points of the C API. Bodies have type `Result<()>`; what they return and how they end is [`crate::error::entry`]'s.
///
/// A name after a `/` is that of the same function for programs whose default stream is one of each thread (`_ptsz`): the last
/// parameter is a stream then, and 0 means another one.
macro_rules! api {
    ($(#[$doc:meta])* fn $name:ident / $per_thread:ident($($arg:ident: $t:ty),* ; $stream:ident) $body:block $($rest:tt)*) => {
        $(#[$doc])*
        #[allow(unused_unsafe, reason = "bodies may do nothing that is unsafe")]
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name($($arg: $t,)* $stream: $crate::types::Stream) -> core::ffi::c_int {
            // SAFETY: the caller keeps the contract of the C function: pointers are null, which is tested, or valid for what the
            // documentation says is read and written through them.
            $crate::error::entry(|| unsafe { $body })
        }
        $(#[$doc])*
        #[allow(unused_unsafe, reason = "bodies may do nothing that is unsafe")]
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $per_thread($($arg: $t,)* $stream: $crate::types::Stream) -> core::ffi::c_int {
            let $stream = $crate::stream::per_thread($stream);
            // SAFETY: as above
            $crate::error::entry(|| unsafe { $body })
        }
        api! { $($rest)* }
    };
    ($(#[$doc:meta])* fn $name:ident($($arg:ident: $t:ty),* $(,)?) $body:block $($rest:tt)*) => {
        $(#[$doc])*
        #[allow(unused_unsafe, reason = "bodies may do nothing that is unsafe")]
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name($($arg: $t),*) -> core::ffi::c_int {
            // SAFETY: the caller keeps the contract of the C function: pointers are null, which is tested, or valid for what the
            // documentation says is read and written through them.
            $crate::error::entry(|| unsafe { $body })
        }
        api! { $($rest)* }
    };
    () => {};
}

/// Writes a result through a pointer of the caller's, which may not be null.
///
/// # Safety
///
/// The pointer is null or valid for writes.
pub unsafe fn put<T>(into: *mut T, value: T) -> crate::error::Result<()> {
    if into.is_null() {
        return Err(crate::error::INVALID_VALUE);
    }
    // SAFETY: not null, and the caller's promise
    unsafe { into.write(value) };
    Ok(())
}

/// What a pointer of the caller's leads to, which may not be null.
///
/// # Safety
///
/// The pointer is null or valid for reads while the result is used.
pub unsafe fn get<'a, T>(from: *const T) -> crate::error::Result<&'a T> {
    // SAFETY: the caller's promise
    unsafe { from.as_ref() }.ok_or(crate::error::INVALID_VALUE)
}
