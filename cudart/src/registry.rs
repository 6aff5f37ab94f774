//! The registry of fat binaries, kernels and variables. Compilers fill it through the functions
//! that clang's documentation of offloading calls the registration interface. Each program's
//! constructors call these functions, which load nothing and do not call the driver.
//!
//! A fat binary is loaded as a library of the driver on the first use of its content, and stays
//! where it is in memory.

use std::collections::{HashMap, HashSet};
use std::ffi::{CStr, CString, c_char, c_int, c_uint, c_void};
use std::ptr::null_mut;
use std::sync::{Mutex, PoisonError, RwLock};

use crate::error::{Code, INVALID_DEVICE_FUNCTION, INVALID_SYMBOL, NOT_FOUND, Result};
#[cfg(not(runtime = "11"))]
use crate::types::Uuid;
use crate::types::{DevicePointer, Dim3, Handle};
use crate::{context, driver};

/// A registered fat binary. It is never freed: programs hold its address as their handle.
pub struct Binary {
    /// Address of the compiler's wrapper, or of the fat binary itself. Values come from
    /// [`__cudaRegisterFatBinary`] only.
    wrapper: usize,
    /// The driver's library, or 0 before it is loaded.
    library: Mutex<usize>,
    /// Managed variables whose pointers are not set yet: the address of the program's pointer, and
    /// the name. Entries come from [`__cudaRegisterManagedVar`] only.
    managed: Mutex<Vec<(usize, CString)>>,
}

struct Kernel {
    of: &'static Binary,
    name: CString,
    /// The driver's kernel, after it was looked up.
    found: Option<usize>,
}

/// A registered variable of device code.
#[derive(Clone)]
pub struct Variable {
    of: &'static Binary,
    name: CString,
    /// The size in bytes that the program registered.
    pub bytes: usize,
}

#[derive(Default)]
struct Registry {
    /// Kernels by the address of the host's stub.
    kernels: HashMap<usize, Kernel>,
    /// Variables by the address of the host's shadow.
    variables: HashMap<usize, Variable>,
    /// Kernels of the driver whose handles the program has. It may launch them by handle.
    known: HashSet<usize>,
}

static REGISTRY: RwLock<Option<Registry>> = RwLock::new(None);

fn with<T>(change: impl FnOnce(&mut Registry) -> T) -> T {
    change(REGISTRY.write().unwrap_or_else(PoisonError::into_inner).get_or_insert_default())
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Binary {
    /// Returns the driver's library of this binary, and loads it if it is not loaded.
    pub fn library(&'static self) -> Result<Handle> {
        let mut library = lock(&self.library);
        if *library == 0 {
            const BINARY_IS_PRESERVED: c_int = 1;
            let (mut option, mut value) =
                (BINARY_IS_PRESERVED, std::ptr::without_provenance_mut(1));
            let mut loaded = null_mut();
            context::enter()?;
            // SAFETY: the program keeps the binary until it has taken the registration back, which
            // it does when no call uses the binary. This call uses it. Outputs are this function's.
            unsafe {
                let code = self.wrapper as *const c_void;
                driver::cuLibraryLoadData(
                    &mut loaded,
                    code,
                    null_mut(),
                    null_mut(),
                    0,
                    &mut option,
                    &mut value,
                    1,
                )?;
            }
            *library = loaded as usize;
        }
        let library = *library as Handle;
        self.point_managed(library)?;
        Ok(library)
    }

    /// Writes the addresses of managed variables to the program's pointers.
    fn point_managed(&'static self, library: Handle) -> Result<()> {
        let mut managed = lock(&self.managed);
        for (place, name) in managed.iter() {
            let (mut pointer, mut bytes): (DevicePointer, usize) = (0, 0);
            // SAFETY: outputs are this function's. The place is a pointer variable of the program,
            // which lives as long as the binary is registered.
            unsafe {
                driver::cuLibraryGetManaged(&mut pointer, &mut bytes, library, name.as_ptr())?;
                (*place as *mut DevicePointer).write(pointer);
            }
            // Host code names the variable itself: its address is where the pointer leads.
            let variable = Variable { of: self, name: name.clone(), bytes };
            with(|registry| registry.variables.insert(pointer as usize, variable));
        }
        managed.clear();
        Ok(())
    }
}

/// Returns the driver's kernel for the address of a host's stub, or for the handle of a kernel.
pub fn kernel(stub: *const c_void) -> Result<Handle> {
    let stub = stub as usize;
    {
        let registry = REGISTRY.read().unwrap_or_else(PoisonError::into_inner);
        let registry = registry.as_ref().ok_or(INVALID_DEVICE_FUNCTION)?;
        match registry.kernels.get(&stub) {
            Some(Kernel { found: Some(kernel), .. }) => return Ok(*kernel as Handle),
            None if registry.known.contains(&stub) => return Ok(stub as Handle),
            None => return Err(INVALID_DEVICE_FUNCTION),
            Some(_) => {}
        }
    }
    let (of, name) = with(|registry| {
        registry
            .kernels
            .get(&stub)
            .map(|kernel| (kernel.of, kernel.name.clone()))
            .ok_or(INVALID_DEVICE_FUNCTION)
    })?;
    let mut kernel = null_mut();
    // SAFETY: the library was loaded, and the output is this function's
    unsafe { driver::cuLibraryGetKernel(&mut kernel, of.library()?, name.as_ptr()) }.map_err(
        |code| match code {
            NOT_FOUND => INVALID_DEVICE_FUNCTION,
            other => other,
        },
    )?;
    with(|registry| {
        registry.known.insert(kernel as usize);
        if let Some(entry) = registry.kernels.get_mut(&stub) {
            entry.found = Some(kernel as usize);
        }
    });
    Ok(kernel)
}

/// Returns the stub by which the program knows a kernel of the driver, or the handle if there is no
/// stub.
pub fn stub_of(kernel: Handle) -> *const c_void {
    let found = with(|registry| {
        registry.known.insert(kernel as usize);
        registry
            .kernels
            .iter()
            .find(|(_, entry)| entry.found == Some(kernel as usize))
            .map(|(stub, _)| *stub)
    });
    found.map_or(kernel.cast_const(), |stub| stub as *const c_void)
}

/// Lets the program launch a kernel of the driver by its handle.
#[cfg(not(runtime = "11"))]
pub fn know(kernel: Handle) {
    with(|registry| registry.known.insert(kernel as usize));
}

/// Returns the variable with this shadow on the host.
pub fn variable(shadow: *const c_void) -> Result<Variable> {
    let registry = REGISTRY.read().unwrap_or_else(PoisonError::into_inner);
    registry
        .as_ref()
        .and_then(|registry| registry.variables.get(&(shadow as usize)).cloned())
        .ok_or(INVALID_SYMBOL)
}

impl Variable {
    /// Returns the variable's address in device memory, in the current context.
    pub fn address(&self) -> Result<DevicePointer> {
        context::enter()?;
        let (mut pointer, mut bytes) = (0, 0);
        let library = self.of.library()?;
        // SAFETY: the library was loaded, and the outputs are this function's
        unsafe {
            driver::cuLibraryGetGlobal(&mut pointer, &mut bytes, library, self.name.as_ptr())
        }
        .map_err(|Code(code)| if Code(code) == NOT_FOUND { INVALID_SYMBOL } else { Code(code) })?;
        Ok(pointer)
    }
}

/// Registers a fat binary. Returns the handle by which the program names it.
///
/// # Safety
///
/// The pointer leads to a fat binary or its wrapper. Both stay until [`__cudaUnregisterFatBinary`]
/// has returned for the handle. Other threads end all uses of its kernels and variables before that
/// call.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __cudaRegisterFatBinary(wrapper: *const c_void) -> *mut *mut c_void {
    let binary =
        Binary { wrapper: wrapper as usize, library: Mutex::new(0), managed: Mutex::default() };
    std::ptr::from_ref::<Binary>(Box::leak(Box::new(binary))).cast_mut().cast()
}

/// Ends the registration of a fat binary's content.
#[unsafe(no_mangle)]
pub extern "C" fn __cudaRegisterFatBinaryEnd(_binary: *mut *mut c_void) {}

/// Takes a registration back at the program's exit, or when a library of the program is unloaded.
///
/// # Safety
///
/// The handle came from [`__cudaRegisterFatBinary`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __cudaUnregisterFatBinary(binary: *mut *mut c_void) {
    // SAFETY: the caller's promise
    let Some(binary) = (unsafe { binary_of(binary) }) else { return };
    let of_it = |of: &Binary| std::ptr::eq(of, binary);
    let forgotten = std::panic::catch_unwind(|| {
        with(|registry| {
            let kernels: Vec<usize> =
                registry.kernels.values().filter(|k| of_it(k.of)).filter_map(|k| k.found).collect();
            for kernel in kernels {
                registry.known.remove(&kernel);
            }
            registry.kernels.retain(|_, kernel| !of_it(kernel.of));
            registry.variables.retain(|_, variable| !of_it(variable.of));
        });
        #[cfg(runtime = "11")]
        crate::references::forget(binary);
        // The places of the variables may go with the binary.
        lock(&binary.managed).clear();
        std::mem::take(&mut *lock(&binary.library))
    });
    if let Ok(library @ 1..) = forgotten {
        // SAFETY: the library was loaded, and nobody has its handle any more. At exit the driver
        // may be gone, which does no harm.
        let _ = unsafe { driver::cuLibraryUnload(library as Handle) };
    }
}

/// # Safety
///
/// The handle is null or came from [`__cudaRegisterFatBinary`].
pub unsafe fn binary_of(handle: *mut *mut c_void) -> Option<&'static Binary> {
    // SAFETY: handles are addresses of leaked boxes
    unsafe { handle.cast::<Binary>().as_ref() }
}

/// # Safety
///
/// A name is null or ends with 0.
pub unsafe fn name(of: *const c_char) -> Option<CString> {
    // SAFETY: the caller's promise
    (!of.is_null()).then(|| unsafe { CStr::from_ptr(of) }.to_owned())
}

/// Registers a kernel by the address of the host's function that launches it.
///
/// # Safety
///
/// The handle came from [`__cudaRegisterFatBinary`], and the name ends with 0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __cudaRegisterFunction(
    binary: *mut *mut c_void,
    stub: *const c_char,
    _device_stub: *mut c_char,
    device_name: *const c_char,
    _thread_limit: c_int,
    _thread: *mut c_uint,
    _block: *mut c_uint,
    _block_size: *mut Dim3,
    _grid_size: *mut Dim3,
    _warp_size: *mut c_int,
) {
    // SAFETY: the caller's promise
    if let (Some(of), Some(name)) = (unsafe { binary_of(binary) }, unsafe { name(device_name) }) {
        with(|registry| registry.kernels.insert(stub as usize, Kernel { of, name, found: None }));
    }
}

/// # Safety
///
/// The contract of [`__cudaRegisterVar`].
unsafe fn register_variable(
    binary: *mut *mut c_void,
    shadow: usize,
    device_name: *const c_char,
    bytes: usize,
) {
    // SAFETY: the caller's promise
    if let (Some(of), Some(name)) = (unsafe { binary_of(binary) }, unsafe { name(device_name) }) {
        with(|registry| registry.variables.insert(shadow, Variable { of, name, bytes }));
    }
}

/// Registers a variable of device code by the address of its shadow on the host.
///
/// # Safety
///
/// The handle came from [`__cudaRegisterFatBinary`], and the name ends with 0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __cudaRegisterVar(
    binary: *mut *mut c_void,
    shadow: *mut c_char,
    _device_shadow: *mut c_char,
    device_name: *const c_char,
    _external: c_int,
    bytes: usize,
    _constant: c_int,
    _global: c_int,
) {
    // SAFETY: the caller's promise
    unsafe { register_variable(binary, shadow as usize, device_name, bytes) };
}

/// Registers a managed variable by the address of the host's pointer to it.
///
/// # Safety
///
/// The handle came from [`__cudaRegisterFatBinary`], and the name ends with 0. The pointer variable
/// lives as long as the binary is registered.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __cudaRegisterManagedVar(
    binary: *mut *mut c_void,
    pointer: *mut *mut c_void,
    _device_shadow: *mut c_char,
    device_name: *const c_char,
    _external: c_int,
    bytes: usize,
    _constant: c_int,
    _global: c_int,
) {
    // SAFETY: the caller's promise
    unsafe { register_variable(binary, pointer as usize, device_name, bytes) };
    // SAFETY: the caller's promise
    if let (Some(of), Some(name)) = (unsafe { binary_of(binary) }, unsafe { name(device_name) }) {
        lock(&of.managed).push((pointer as usize, name));
    }
}

/// Ensures that the program's pointers to a binary's managed variables are set.
///
/// # Safety
///
/// The handle came from [`__cudaRegisterFatBinary`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __cudaInitModule(binary: *mut *mut c_void) -> c_char {
    // SAFETY: the caller's promise
    let Some(binary) = (unsafe { binary_of(binary) }) else { return 0 };
    let loaded = crate::error::entry(|| binary.library().map(|_| ()));
    c_char::from(loaded == 0)
}

/// Registers a variable of device code that host code may use directly. This library does not
/// support direct use: the shadow is an ordinary one.
///
/// # Safety
///
/// The contract of [`__cudaRegisterVar`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __cudaRegisterHostVar(
    binary: *mut *mut c_void,
    device_name: *const c_char,
    shadow: *mut c_char,
    bytes: usize,
) {
    // SAFETY: the caller's promise
    unsafe { register_variable(binary, shadow as usize, device_name, bytes) };
}

/// Registers tables of virtual functions for unified pointers, which no device here has.
#[cfg(not(runtime = "11"))]
#[unsafe(no_mangle)]
pub extern "C" fn __cudaRegisterUnifiedTable(
    _uuid: *const Uuid,
    _table: *mut c_void,
) -> *mut c_void {
    null_mut()
}
