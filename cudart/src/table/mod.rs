//! All names that NVIDIA's runtime libraries of CUDA 11.8, 12.9 and 13.5 export.
//!
//! A row has a name, the versions of CUDA that export the name, and a suffix if the library also
//! exports the name with it. The suffix is `ptsz` or `ptds`: there a null stream is the thread's
//! own. A row of [`provided`] or [`graphs`] does not compile if this library does not define the
//! function. A row of [`refused`] defines a function that names itself on standard error, once, and
//! returns "not supported".

mod graphs;
mod provided;
mod refused;

/// A name in the table of exports.
pub struct Row {
    name: &'static str,
    versions: &'static [u8],
    suffix: Option<&'static str>,
}

/// Returns the names that the library of a version (11, 12 or 13) exports, in no order.
pub fn names(version: u8) -> impl Iterator<Item = String> {
    let rows = [provided::ROWS, graphs::ROWS, refused::ROWS]
        .into_iter()
        .flatten()
        .filter(move |row| row.versions.contains(&version));
    rows.flat_map(|row| {
        let with_suffix = row.suffix.map(|suffix| format!("{}_{suffix}", row.name));
        std::iter::once(row.name.to_string()).chain(with_suffix)
    })
}

/// Defines an item in the builds of some versions.
macro_rules! in_versions {
    ([11 12 13] $item:item) => {
        $item
    };
    ([11 12] $item:item) => {
        #[cfg(not(runtime = "13"))]
        $item
    };
    ([12 13] $item:item) => {
        #[cfg(not(runtime = "11"))]
        $item
    };
    ([11] $item:item) => {
        #[cfg(runtime = "11")]
        $item
    };
    ([12] $item:item) => {
        #[cfg(runtime = "12")]
        $item
    };
    ([13] $item:item) => {
        #[cfg(runtime = "13")]
        $item
    };
}

macro_rules! rows {
    ($($name:ident [$($version:tt)+] $($suffix:ident)?;)*) => {
        pub static ROWS: &[super::Row] = &[$(super::Row {
            name: stringify!($name),
            versions: &[$($version),+],
            suffix: [$(Some(stringify!($suffix)),)? None][0],
        },)*];
    };
}

macro_rules! provided_rows {
    ($($name:ident [$($version:tt)+] $($suffix:ident)?;)*) => {
        super::rows! { $($name [$($version)+] $($suffix)?;)* }
        // Checks that the function exists.
        $(super::in_versions! { [$($version)+] const _: *const () = $name as *const (); })*
    };
}

macro_rules! refused_rows {
    ($($name:ident [$($version:tt)+] $($suffix:ident)?;)*) => {
        super::rows! { $($name [$($version)+] $($suffix)?;)* }
        $(super::in_versions! { [$($version)+] const _: () = {
            super::refuse! { function stringify!($name) }
            $(super::refuse! { per_thread concat!(stringify!($name), "_", stringify!($suffix)) })?
        }; })*
    };
}

/// Defines a function that reads no argument, so that a program may pass any arguments.
macro_rules! refuse {
    ($function:ident $name:expr) => {
        #[unsafe(export_name = $name)]
        extern "C" fn $function() -> core::ffi::c_int {
            crate::error::refused(
                const {
                    match core::ffi::CStr::from_bytes_with_nul(concat!($name, "\0").as_bytes()) {
                        Ok(name) => name,
                        Err(_) => panic!("a name has no 0 in it"),
                    }
                },
            )
        }
    };
}

use in_versions;
use provided_rows;
use refuse;
use refused_rows;
use rows;
