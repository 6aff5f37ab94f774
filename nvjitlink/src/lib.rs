//! `libnvJitLink.so.12` and `.so.13` for GPUs whose machine code warploom does not run: hands PTX on to
//! warploom's CUDA driver, in place of a cubin.
//!
//! The driver checks and links the texts when the result is loaded. LTO-IR is refused; programs then
//! compile to PTX. Other inputs are handed on as they are.

#![allow(non_snake_case, reason = "the names are the C API's")]

use std::ffi::c_int;

use warploom_cukit::handles::Handles;
use warploom_cukit::memory::{Out, Pointer};
use warploom_cukit::{Problem, Status, driver};

/// The errors of `nvJitLinkResult`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Error {
    MissingArch = 2,
    InvalidInput = 3,
    Internal = 6,
    UnrecognizedInput = 8,
    NullInput = 10,
    LtoNotEnabled = 18,
}

impl Problem for Error {
    const INTERNAL: Error = Error::Internal;
}

impl From<Status> for Error {
    fn from(status: Status) -> Error {
        if status == Status::InvalidHandle { Error::InvalidInput } else { Error::NullInput }
    }
}

fn code(error: Error) -> u32 {
    error as u32
}

/// The release of the API: major and minor number. Below 12.3, numba and cuda.core take the driver's
/// linker, and make PTX in place of LTO-IR.
const VERSION: [u32; 2] = [12, 2];

/// Kinds of inputs.
const LTO_IR: u32 = 3;
const KINDS: [u32; 8] = [1, 2, 3, 4, 5, 6, 7, 10];

/// A link.
#[derive(Default)]
struct Link {
    inputs: Vec<(String, Vec<u8>)>,
    result: Option<Vec<u8>>,
    log: String,
}

static LINKS: Handles<Link> = Handles::new();

/// Calls `with` for a link.
fn of<T>(handle: u64, with: impl FnOnce(&mut Link) -> Result<T, Error>) -> Result<T, Error> {
    LINKS.with(handle, with)?
}

fn add(handle: u64, kind: u32, name: Option<String>, content: Vec<u8>) -> Result<(), Error> {
    of(handle, |link| {
        if kind == LTO_IR {
            link.log = "warploom links PTX, not LTO-IR: compile without -lto".into();
            return Err(Error::LtoNotEnabled);
        }
        if !KINDS.contains(&kind) || content.is_empty() {
            return Err(Error::UnrecognizedInput);
        }
        link.inputs.push((name.unwrap_or_else(|| "input".into()), content));
        Ok(())
    })
}

/// Returns what a finished link has made.
fn result(handle: u64) -> Result<Vec<u8>, Error> {
    of(handle, |link| link.result.clone().ok_or(Error::InvalidInput))
}

fn log(handle: u64) -> Result<Vec<u8>, Error> {
    of(handle, |link| Ok([link.log.as_bytes(), &[0]].concat()))
}

fn create(out: Out<u64>, count: u32, options: Pointer) -> Result<(), Error> {
    let options = options.pointers(count as usize).unwrap_or_default();
    let options: Vec<String> = options.into_iter().filter_map(Pointer::text).collect();
    let is_arch = |option: &String| option.trim_start_matches('-').starts_with("arch=");
    if !options.iter().any(is_arch) {
        return Err(Error::MissingArch);
    }
    Ok(LINKS.create(out, Link::default())?)
}

fn destroy(handle: Pointer) -> Result<(), Error> {
    let wanted = handle.bytes(8).ok_or(Error::NullInput)?;
    let number = u64::from_ne_bytes(*wanted.first_chunk().ok_or(Error::Internal)?);
    LINKS.destroy(number)?;
    Ok(handle.put(&[0; 8])?)
}

fn complete(handle: u64) -> Result<(), Error> {
    of(handle, |link| {
        let content = match &link.inputs[..] {
            [] => {
                link.log = "nothing is linked".into();
                return Err(Error::InvalidInput);
            }
            // The driver needs the end of a text.
            [(_, content)] => [&content[..], &[0]].concat(),
            inputs => driver::link(inputs).map_err(|_| {
                link.log = "the driver does not link the inputs".into();
                Error::InvalidInput
            })?,
        };
        link.result = Some(content);
        Ok(())
    })
}

/// Defines the functions of the API, by a name for each release whose headers programs include.
macro_rules! functions {
    ($($module:ident $release:literal)*) => { $(
        mod $module {
            use super::*;

            functions! { @ concat!("__nvJitLink"), concat!("_", $release) }
        }
    )* };
    (@ $start:expr, $end:expr) => {
        functions! { @@ $start, $end,
            "Create" create_it(out: Out<u64>, count: u32, options: Pointer) { create(out, count, options) }
            "Destroy" destroy_it(handle: Pointer) { destroy(handle) }
            "AddData" add_data(handle: u64, kind: c_int, data: Pointer, bytes: usize, name: Pointer) {
                add(handle, kind as u32, name.text(), data.bytes(bytes).ok_or(Error::NullInput)?)
            }
            "AddFile" add_file(handle: u64, kind: c_int, name: Pointer) {
                let name = name.text().ok_or(Error::NullInput)?;
                let content = std::fs::read(&name).map_err(|_| Error::InvalidInput)?;
                add(handle, kind as u32, Some(name), content)
            }
            "Complete" complete_it(handle: u64) { complete(handle) }
            "GetLinkedCubinSize" cubin_size(handle: u64, out: Out<usize>) { Ok(out.set(result(handle)?.len())?) }
            "GetLinkedCubin" cubin(handle: u64, out: Pointer) { Ok(out.put(&result(handle)?)?) }
            "GetLinkedPtxSize" ptx_size(handle: u64, out: Out<usize>) { Ok(out.set(result(handle)?.len())?) }
            "GetLinkedPtx" ptx(handle: u64, out: Pointer) { Ok(out.put(&result(handle)?)?) }
            "GetLinkedLTOIRSize" lto_size(_handle: u64, _out: Out<usize>) { Err(Error::LtoNotEnabled) }
            "GetLinkedLTOIR" lto(_handle: u64, _out: Pointer) { Err(Error::LtoNotEnabled) }
            "GetErrorLogSize" error_size(handle: u64, out: Out<usize>) { Ok(out.set(log(handle)?.len())?) }
            "GetErrorLog" error_log(handle: u64, out: Pointer) { Ok(out.put(&log(handle)?)?) }
            "GetInfoLogSize" info_size(handle: u64, out: Out<usize>) { of(handle, |_| Ok(()))?; Ok(out.set(1)?) }
            "GetInfoLog" info_log(handle: u64, out: Pointer) { of(handle, |_| Ok(()))?; Ok(out.put(&[0])?) }
        }
    };
    (@@ $start:expr, $end:expr, $($name:literal $function:ident($($arg:ident: $ty:ty),*) $body:block)*) => { $(
        #[doc = concat!("`nvJitLink", $name, "`, as NVIDIA's documentation has it.")]
        ///
        /// # Safety
        /// Pointers are null, or valid for the reads and writes that the documentation states.
        // SAFETY: no other library of the process defines the name, or the other library is
        // NVIDIA's, which this library replaces.
        #[unsafe(export_name = concat!($start, $name, $end))]
        pub unsafe extern "C" fn $function($($arg: $ty),*) -> u32 {
            warploom_cukit::call(code, || $body)
        }
    )* };
}

mod plain {
    use super::*;

    functions! { @ "nvJitLink", "" }
}

functions! {
    v12_0 "12_0" v12_1 "12_1" v12_2 "12_2" v12_3 "12_3" v12_4 "12_4" v12_5 "12_5" v12_6 "12_6"
    v12_7 "12_7" v12_8 "12_8" v12_9 "12_9"
    v13_0 "13_0" v13_1 "13_1" v13_2 "13_2" v13_3 "13_3" v13_4 "13_4" v13_5 "13_5"
}

/// `nvJitLinkVersion`
///
/// # Safety
/// Pointers are null, or valid for writes.
// SAFETY: as for the other functions.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nvJitLinkVersion(major: Out<u32>, minor: Out<u32>) -> u32 {
    warploom_cukit::call(code, || {
        major.set(VERSION[0])?;
        Ok(minor.set(VERSION[1])?)
    })
}
