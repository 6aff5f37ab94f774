//! What is loaded into the driver that calls are forwarded to, and which of its functions are which.

use std::ffi::{c_char, c_void};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use rustc_hash::FxHashMap;
use warploom::container::Module;

use super::capture;
use super::real::{real, watch};
use crate::api::library::LibraryOptions;
use crate::api::module::file;
use crate::boundary::Ptr;
use crate::error::Error;
use crate::image::Image;

/// A module or a library.
pub struct Loaded {
    handle: u64,
    is_library: bool,
    /// Or why it is not known what it was loaded from.
    image: Result<Image, Error>,
    modules: OnceLock<Result<Vec<Module>, String>>,
}

/// A kernel that somebody has asked for.
#[derive(Clone)]
pub struct Kernel {
    pub loaded: Arc<Loaded>,
    pub name: String,
}

/// By their handles.
#[derive(Default)]
struct Known {
    loaded: FxHashMap<u64, Arc<Loaded>>,
    kernels: FxHashMap<u64, Kernel>,
}

static KNOWN: Mutex<Option<Known>> = Mutex::new(None);

fn known() -> MutexGuard<'static, Option<Known>> {
    KNOWN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The kernel that a handle stands for.
pub fn kernel(handle: u64) -> Option<Kernel> {
    known().as_ref()?.kernels.get(&handle).cloned()
}

impl Loaded {
    /// What it was loaded from, and the module in that which has the kernel.
    pub fn code(&self, kernel: &str) -> Result<(&Image, &Module), String> {
        let image = self.image.as_ref().map_err(|error| format!("its image cannot be read ({error:?})"))?;
        let read = || {
            let failed = |failure: crate::image::Failure| {
                format!("{}; a program can be told to hand PTX to the driver", failure.text.trim_end())
            };
            image.modules(None).map_err(failed)
        };
        let modules = self.modules.get_or_init(read).as_ref().map_err(Clone::clone)?;
        let module = modules.iter().find(|module| module.kernel(kernel).is_some());
        Ok((image, module.ok_or("no module of its image that can be executed here has it")?))
    }

    /// Address and bytes of a variable.
    pub fn variable(&self, name: &str) -> Option<(u64, u64)> {
        let mut module = self.handle;
        if self.is_library && real!(cuLibraryGetModule(&mut module => *mut u64, self.handle => u64)) != 0 {
            return None;
        }
        let name = std::ffi::CString::new(name).ok()?;
        let (mut address, mut bytes) = (0_u64, 0_usize);
        let answer = real!(cuModuleGetGlobal_v2(
            &mut address => *mut u64, &mut bytes => *mut usize, module => u64, name.as_ptr() => *const c_char,
        ));
        (answer == 0 && bytes > 0).then_some((address, bytes as u64))
    }
}

/// Enters what a call has loaded.
fn loaded(answer: u32, out: Ptr<u64>, is_library: bool, image: impl FnOnce() -> Result<Image, Error>) -> u32 {
    if answer == 0
        && capture().is_some()
        && let Ok(handle) = out.get()
    {
        let loaded = Arc::new(Loaded { handle, is_library, image: image(), modules: OnceLock::new() });
        known().get_or_insert_default().loaded.insert(handle, loaded);
    }
    answer
}

/// A module or a library goes, with its kernels.
fn unloaded(answer: u32, handle: u64) -> u32 {
    if answer == 0
        && let Some(known) = known().as_mut()
        && let Some(gone) = known.loaded.remove(&handle)
    {
        known.kernels.retain(|_, kernel| !Arc::ptr_eq(&kernel.loaded, &gone));
    }
    answer
}

/// Enters a kernel that a call has found in a module or a library.
fn found(answer: u32, out: Ptr<u64>, of: u64, name: Ptr<c_char>) -> u32 {
    if answer == 0
        && let Some(known) = known().as_mut()
        && let Some(loaded) = known.loaded.get(&of)
        && let (Ok(handle), Ok(name)) = (out.get(), name.text())
    {
        let kernel = Kernel { loaded: loaded.clone(), name };
        known.kernels.insert(handle, kernel);
    }
    answer
}

/// The same of all kernels, whose names the driver is asked for.
fn found_all(answer: u32, out: Ptr<u64>, count: u32, of: u64) -> u32 {
    for i in (0..count as usize).filter(|_| answer == 0) {
        let mut name = Ptr::NULL;
        let handle = out.get_at(i).unwrap_or(0);
        if handle != 0 && real!(cuFuncGetName(&mut name => *mut Ptr<c_char>, handle => u64)) == 0 {
            found(answer, Ptr::of_numbers(&[handle]), of, name);
        }
    }
    answer
}

/// Enters another handle of something known.
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
        loaded(real(), out, false, || Ok(Image::Copied(file(name)?)))
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
        loaded(real(), out, true, || Ok(Image::Copied(file(name)?)))
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
