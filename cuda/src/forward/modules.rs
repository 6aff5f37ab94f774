//! The modules loaded into the driver that calls are forwarded to, and their kernels.

use std::ffi::{c_char, c_void};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use rustc_hash::FxHashMap;
use warploom_container::Module;

use super::capture;
use super::real::{self, watch};
use crate::api::library::LibraryOptions;
use crate::api::module::file;
use crate::boundary::Ptr;
use crate::error::Error;
use crate::image::Image;

/// A module or a library.
pub struct Loaded {
    handle: u64,
    is_library: bool,
    /// The loaded image, or the error that hides it.
    pub image: Result<Image, Error>,
    modules: OnceLock<Result<Vec<Module>, String>>,
}

/// A kernel that a program has asked for.
#[derive(Clone)]
pub struct Kernel {
    pub loaded: Arc<Loaded>,
    pub name: String,
}

/// Loaded modules and kernels, by handle.
#[derive(Default)]
struct Known {
    loaded: FxHashMap<u64, Arc<Loaded>>,
    kernels: FxHashMap<u64, Kernel>,
}

static KNOWN: Mutex<Option<Known>> = Mutex::new(None);

fn known() -> MutexGuard<'static, Option<Known>> {
    KNOWN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Returns the kernel of a handle.
pub fn kernel(handle: u64) -> Option<Kernel> {
    known().as_ref()?.kernels.get(&handle).cloned()
}

impl Loaded {
    /// Returns the module of the image that has the kernel.
    pub fn code(&self, kernel: &str) -> Result<&Module, String> {
        let image =
            self.image.as_ref().map_err(|error| format!("its image cannot be read ({error:?})"))?;
        let read = || {
            let failed = |failure: crate::image::Failure| {
                format!(
                    "{}; a program can be told to hand PTX to the driver",
                    failure.text.trim_end()
                )
            };
            image.modules(None).map_err(failed)
        };
        let modules = self.modules.get_or_init(read).as_ref().map_err(Clone::clone)?;
        let module = modules.iter().find(|module| module.kernel(kernel).is_some());
        module.ok_or_else(|| "no module of its image that can be executed here has it".into())
    }

    /// Returns the address and bytes of a variable.
    pub fn variable(&self, name: &str) -> Option<(u64, u64)> {
        let module = if self.is_library { real::module_of(self.handle)? } else { self.handle };
        let name = std::ffi::CString::new(name).ok()?;
        real::variable(module, &name).filter(|&(_, bytes)| bytes > 0)
    }
}

/// Enters the module or library that a call has loaded.
fn loaded(
    answer: u32,
    out: Ptr<u64>,
    is_library: bool,
    image: impl FnOnce() -> Result<Image, Error>,
) -> u32 {
    if answer == 0
        && capture().is_some()
        && let Ok(handle) = out.get()
    {
        let loaded =
            Arc::new(Loaded { handle, is_library, image: image(), modules: OnceLock::new() });
        known().get_or_insert_default().loaded.insert(handle, loaded);
    }
    answer
}

/// Removes a module or a library and its kernels.
fn unloaded(answer: u32, handle: u64) -> u32 {
    if answer == 0
        && let Some(known) = known().as_mut()
        && let Some(gone) = known.loaded.remove(&handle)
    {
        // The image may have a handle as a library and another as a module.
        known.loaded.retain(|_, loaded| !Arc::ptr_eq(loaded, &gone));
        known.kernels.retain(|_, kernel| !Arc::ptr_eq(&kernel.loaded, &gone));
    }
    answer
}

/// Enters a kernel of a module or a library.
fn enter(handle: u64, of: u64, name: String) {
    if let Some(known) = known().as_mut()
        && let Some(loaded) = known.loaded.get(&of)
    {
        let kernel = Kernel { loaded: loaded.clone(), name };
        known.kernels.insert(handle, kernel);
    }
}

/// Enters a kernel that a call has found.
fn found(answer: u32, out: Ptr<u64>, of: u64, name: Ptr<c_char>) -> u32 {
    if answer == 0
        && let (Ok(handle), Ok(name)) = (out.get(), name.text())
    {
        enter(handle, of, name);
    }
    answer
}

/// Enters all kernels that a call has found. Asks the driver for their names.
fn found_all(answer: u32, out: Ptr<u64>, count: u32, of: u64) -> u32 {
    for i in (0..count as usize).filter(|_| answer == 0) {
        if let Some(handle) = out.get_at(i).ok().filter(|&handle| handle != 0)
            && let Some(name) = real::function_name(handle)
        {
            enter(handle, of, name);
        }
    }
    answer
}

/// Enters another handle of a known module, library or kernel.
fn same(answer: u32, out: Ptr<u64>, of: u64) -> u32 {
    if answer == 0
        && let Some(known) = known().as_mut()
        && let Ok(handle) = out.get()
    {
        if let Some(loaded) = known.loaded.get(&of).cloned() {
            known.loaded.insert(handle, loaded);
        } else if let Some(kernel) = known.kernels.get(&of).cloned() {
            known.kernels.insert(handle, kernel);
        }
    }
    answer
}

watch! { WATCHED:
    fn cuModuleLoad(out: Ptr<u64>, name: Ptr<c_char>) |real| {
        loaded(real(), out, false, || Ok(file(name)?.into()))
    }

    fn cuModuleLoadData(out: Ptr<u64>, image: Ptr<u8>) |real| {
        loaded(real(), out, false, || Image::at(image, false))
    }

    fn cuModuleLoadDataEx(out: Ptr<u64>, image: Ptr<u8>, count: u32, options: Ptr<u32>, values: Ptr<Ptr<c_void>>) |real| {
        loaded(real(), out, false, || Image::at(image, false))
    }

    fn cuModuleLoadFatBinary(out: Ptr<u64>, image: Ptr<u8>) |real| {
        loaded(real(), out, false, || Image::at(image, false))
    }

    fn cuLibraryLoadData(
        out: Ptr<u64>, image: Ptr<u8>, jit: Ptr<u32>, jit_values: Ptr<Ptr<c_void>>, jit_count: u32,
        options: Ptr<u32>, values: Ptr<Ptr<c_void>>, count: u32,
    ) |real| {
        let lasting = || LibraryOptions { count, names: options, values }.keeps_image().unwrap_or(false);
        loaded(real(), out, true, || Image::at(image, lasting()))
    }

    fn cuLibraryLoadFromFile(
        out: Ptr<u64>, name: Ptr<c_char>, jit: Ptr<u32>, jit_values: Ptr<Ptr<c_void>>, jit_count: u32,
        options: Ptr<u32>, values: Ptr<Ptr<c_void>>, count: u32,
    ) |real| {
        loaded(real(), out, true, || Ok(file(name)?.into()))
    }

    fn cuModuleUnload(module: u64) |real| {
        unloaded(real(), module)
    }

    fn cuLibraryUnload(library: u64) |real| {
        unloaded(real(), library)
    }

    fn cuLibraryGetModule(out: Ptr<u64>, library: u64) |real| {
        same(real(), out, library)
    }

    fn cuModuleGetFunction(out: Ptr<u64>, module: u64, name: Ptr<c_char>) |real| {
        found(real(), out, module, name)
    }

    fn cuLibraryGetKernel(out: Ptr<u64>, library: u64, name: Ptr<c_char>) |real| {
        found(real(), out, library, name)
    }

    fn cuModuleEnumerateFunctions(out: Ptr<u64>, count: u32, module: u64) |real| {
        found_all(real(), out, count, module)
    }

    fn cuLibraryEnumerateKernels(out: Ptr<u64>, count: u32, library: u64) |real| {
        found_all(real(), out, count, library)
    }

    fn cuKernelGetFunction(out: Ptr<u64>, kernel: u64) |real| {
        same(real(), out, kernel)
    }
}
