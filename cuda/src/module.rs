//! Modules, libraries and their functions. A library is loaded code; a module is a library in a
//! context.

use std::collections::BTreeMap;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicI32, AtomicU32, AtomicU64};
use std::sync::{Arc, Mutex, OnceLock, PoisonError, RwLock, RwLockReadGuard};

use rustc_hash::FxHashMap;
use warploom::Program;
use warploom_container::{Function as Code, FunctionId};

use crate::error::{Answer, Error};
use crate::handles::Table;
use crate::image::{Failure, Image};
use crate::{driver, texture};

pub static LIBRARIES: Table<Library> = Table::new();
pub static MODULES: Table<Library> = Table::new();
/// Functions and kernels: calls accept either handle for both.
pub static FUNCTIONS: Table<Function> = Table::new();

pub struct Library {
    /// The context that the library ends with; 0: none.
    pub context: u64,
    image: RwLock<Image>,
    /// Whether the loading call has not read the code yet.
    is_lazy: bool,
    program: OnceLock<Result<Arc<Program>, Failure>>,
    /// The handles of functions that a program asked for.
    functions: Mutex<FxHashMap<FunctionId, u64>>,
    /// The handle of the library as a module.
    pub module: OnceLock<u64>,
    /// The descriptor indices of its textures and surfaces, by variable.
    images: Mutex<FxHashMap<String, u32>>,
}

impl Drop for Library {
    fn drop(&mut self) {
        let images = std::mem::take(&mut self.images);
        let images = images.into_inner().unwrap_or_else(PoisonError::into_inner);
        images.into_values().for_each(texture::release);
    }
}

pub struct Function {
    pub handle: u64,
    pub library: Arc<Library>,
    pub program: Arc<Program>,
    pub id: FunctionId,
    /// Settable attributes: dynamic shared memory, its share of the cache, and the preferred cache.
    pub max_dynamic: AtomicU32,
    pub carveout: AtomicI32,
    pub cache: AtomicU32,
    /// The launch parameters set by the old API.
    pub old: Mutex<OldLaunch>,
    /// The nanoseconds of a block in the last launch; 0: there was none.
    pub block_time: AtomicU64,
}

/// A launch in the form that CUDA had before 4.0.
#[derive(Clone, Default)]
pub struct OldLaunch {
    pub block: [u32; 3],
    pub shared: u32,
    pub params: Vec<u8>,
}

impl Library {
    /// Loads an image. If it is a fat binary, the member is read at the first use of its content;
    /// for other images, errors are reported now.
    pub fn load(image: Image, context: u64) -> Result<Arc<Library>, Failure> {
        let is_lazy = image.is_container() && !driver::get().eager;
        let (program, functions, module) = (OnceLock::new(), Mutex::default(), OnceLock::new());
        let images = Mutex::default();
        let image = RwLock::new(image);
        let library =
            Arc::new(Library { context, image, is_lazy, program, functions, module, images });
        if !is_lazy {
            library.program()?;
        }
        Ok(library)
    }

    /// Returns the image that the library was loaded from.
    pub fn source(&self) -> RwLockReadGuard<'_, Image> {
        self.image.read().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn program(&self) -> Result<&Arc<Program>, Failure> {
        let load = || {
            let loaded = self.load_program();
            // The calls that ask for a function have no log.
            if let Some(failure) = loaded.as_ref().err().filter(|_| self.is_lazy) {
                crate::trace::failure(&failure.text);
            }
            loaded
        };
        self.program.get_or_init(load).as_ref().map_err(Clone::clone)
    }

    fn load_program(&self) -> Result<Arc<Program>, Failure> {
        let module = self.source().module()?;
        let program =
            Program::in_memory(module, driver::memory().clone(), |name| self.image_handle(name));
        let with_cache = |mut program: Program| {
            program.set_cache(driver::get().cache.clone().map(|cache| cache as _));
            Arc::new(program)
        };
        program.map(with_cache).map_err(|error| Failure {
            error: match &error {
                warploom::Error::Map(map) => crate::error::of_map(*map),
                _ => Error::CUDA_ERROR_INVALID_IMAGE,
            },
            text: error.to_string(),
        })
    }

    /// Returns the content of a texture or surface variable of this name.
    fn image_handle(&self, name: &str) -> Option<u32> {
        let mut images = self.images.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(&index) = images.get(name) {
            return Some(texture::handle(index, true));
        }
        let index = texture::reserve().ok()?;
        images.insert(name.into(), index);
        Some(texture::handle(index, true))
    }

    /// Returns the contents of all texture and surface variables.
    pub fn image_handles(&self) -> BTreeMap<String, u32> {
        let images = self.images.lock().unwrap_or_else(PoisonError::into_inner);
        images.iter().map(|(name, &index)| (name.clone(), texture::handle(index, true))).collect()
    }

    /// Returns the descriptor index of a texture or surface variable.
    pub fn image(&self, name: &str) -> Option<u32> {
        self.program().ok()?;
        self.images.lock().unwrap_or_else(PoisonError::into_inner).get(name).copied()
    }

    /// Returns the function of this name.
    pub fn function(self: &Arc<Self>, name: &str) -> Result<u64, Error> {
        let id = self.program().map_err(|failure| failure.error)?.module().kernel(name);
        self.handle_of(id.ok_or(Error::CUDA_ERROR_NOT_FOUND)?)
    }

    fn handle_of(self: &Arc<Self>, id: FunctionId) -> Result<u64, Error> {
        let program = self.program().map_err(|failure| failure.error)?;
        let mut functions = self.functions.lock().unwrap_or_else(PoisonError::into_inner);
        Ok(*functions.entry(id).or_insert_with(|| {
            let handle = crate::handles::fresh();
            let function = Function {
                handle,
                library: self.clone(),
                program: program.clone(),
                id,
                max_dynamic: AtomicU32::new(0),
                carveout: AtomicI32::new(-1),
                cache: AtomicU32::new(0),
                old: Mutex::default(),
                block_time: AtomicU64::new(0),
            };
            FUNCTIONS.insert_at(handle, Arc::new(function));
            handle
        }))
    }

    /// Returns all functions that can be launched.
    pub fn all_functions(self: &Arc<Self>) -> Result<Vec<u64>, Error> {
        let program = self.program().map_err(|failure| failure.error)?;
        let ids: Vec<FunctionId> = program.module().kernels().map(|(id, _)| id).collect();
        ids.into_iter().map(|id| self.handle_of(id)).collect()
    }

    /// Returns the address and size of a variable.
    pub fn variable(&self, name: &str) -> Result<(u64, u64), Error> {
        let program = self.program().map_err(|failure| failure.error)?;
        let variable = program.variable(name).map_err(|_| Error::CUDA_ERROR_NOT_FOUND)?;
        Ok((variable.address, variable.size))
    }

    /// Returns the handle of the library as a module of a context.
    pub fn as_module(self: &Arc<Self>) -> u64 {
        *self.module.get_or_init(|| MODULES.insert(self.clone()))
    }

    /// Removes the library's handles. Running launches and graphs keep the rest. The program may
    /// then free an image that it kept.
    fn unload(self: &Arc<Self>) {
        FUNCTIONS.retain(|function| !Arc::ptr_eq(&function.library, self));
        if let Some(&module) = self.module.get() {
            let _ = MODULES.remove(module);
        }
        // Launches and graphs hold the library without a handle, and may need the image.
        let is_needed = Arc::strong_count(self) > 1;
        self.image.write().unwrap_or_else(PoisonError::into_inner).let_go(is_needed);
    }
}

impl Function {
    pub fn code(&self) -> &Code {
        self.program.module().function(self.id)
    }

    /// Returns the 32-bit registers of a lane. PTX has any number, so a compiler's typical number
    /// stands in.
    pub fn registers(&self) -> u32 {
        const OF_PTX: u32 = 32;
        match self.code().registers {
            0 => OF_PTX,
            registers => registers,
        }
    }

    /// Returns the largest block, in lanes.
    pub fn max_threads(&self) -> u32 {
        let said = self.code().max_threads.or(self.code().required_threads);
        let said = said.map_or(crate::device::MAX_BLOCK, |axes| {
            axes.iter().fold(1, |all: u32, &n| all.saturating_mul(n.max(1)))
        });
        let warps = driver::get().profile.registers_per_block()
            / (self.registers() * 32).next_multiple_of(256);
        said.min(warps * crate::device::WARP).min(crate::device::MAX_BLOCK)
    }

    /// Returns the limit of a launch's dynamic shared memory.
    pub fn dynamic_limit(&self) -> u32 {
        let static_bytes = u32::try_from(self.code().shared_bytes).unwrap_or(u32::MAX);
        crate::device::SHARED_PER_BLOCK
            .saturating_sub(static_bytes)
            .max(self.max_dynamic.load(Relaxed))
    }
}

pub fn load_module(image: Image, context: u64) -> Result<u64, Failure> {
    Ok(Library::load(image, context)?.as_module())
}

pub fn unload_module(handle: u64) -> Answer {
    let library = MODULES.get(handle)?;
    if library.context == 0 {
        // The module ends with its library.
        return Err(Error::CUDA_ERROR_NOT_PERMITTED);
    }
    library.unload();
    Ok(())
}

pub fn load_library(image: Image) -> Result<u64, Failure> {
    Ok(LIBRARIES.insert(Library::load(image, 0)?))
}

pub fn unload_library(handle: u64) -> Answer {
    LIBRARIES.remove(handle)?.unload();
    Ok(())
}

/// Unloads the modules of a context that has ended.
pub fn forget(context: u64) {
    for module in MODULES.retain(|library| library.context != context) {
        module.unload();
    }
}
