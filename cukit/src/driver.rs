//! The functions of warploom's driver, `libcuda.so.1`.

use std::ffi::{CString, c_char, c_void};
use std::sync::LazyLock;

use libloading::Library;

use crate::{Answer, Status};

type HostFunction = unsafe extern "C" fn(*mut c_void);

struct Driver {
    name: unsafe extern "C" fn(*mut u8, i32, i32) -> u32,
    launch_host: unsafe extern "C" fn(u64, HostFunction, *mut c_void, HostFunction) -> u32,
    synchronize: unsafe extern "C" fn(u64) -> u32,
    range: unsafe extern "C" fn(*mut u64, *mut usize, u64) -> u32,
    host_address: unsafe extern "C" fn(*mut u64, u64, usize) -> u32,
    written: unsafe extern "C" fn(u64, usize) -> u32,
    link: Linker,
}

struct Linker {
    create: unsafe extern "C" fn(u32, *const c_void, *const c_void, *mut u64) -> u32,
    add: unsafe extern "C" fn(
        u64,
        u32,
        *const u8,
        usize,
        *const c_char,
        u32,
        *const c_void,
        *const c_void,
    ) -> u32,
    complete: unsafe extern "C" fn(u64, *mut *const u8, *mut usize) -> u32,
    destroy: unsafe extern "C" fn(u64) -> u32,
}

/// The driver's functions, or `None` if there is no driver library or it lacks one of them.
static DRIVER: LazyLock<Option<Driver>> = LazyLock::new(|| {
    // SAFETY: the library's initialisers may run in this call. The initialisers of warploom's
    // driver read the environment, and load another driver if it names one. They do not unwind, and
    // call nothing of this library. This thread holds no lock but the lock of `DRIVER`, which they
    // do not know. Whoever puts another library in the driver's place answers for its initialisers.
    // Functions of the driver API have these types. `cuda/src/api` states the types of
    // functions with the prefix `warploom`. The library is never closed.
    unsafe {
        let library = Box::leak(Box::new(Library::new("libcuda.so.1").ok()?));
        Some(Driver {
            name: *library.get(b"cuDeviceGetName\0").ok()?,
            launch_host: *library.get(b"warploomLaunchHostFunc\0").ok()?,
            synchronize: *library.get(b"cuStreamSynchronize\0").ok()?,
            range: *library.get(b"cuMemGetAddressRange_v2\0").ok()?,
            host_address: *library.get(b"warploomHostAddress\0").ok()?,
            written: *library.get(b"warploomMemoryWritten\0").ok()?,
            link: Linker {
                create: *library.get(b"cuLinkCreate_v2\0").ok()?,
                add: *library.get(b"cuLinkAddData_v2\0").ok()?,
                complete: *library.get(b"cuLinkComplete\0").ok()?,
                destroy: *library.get(b"cuLinkDestroy\0").ok()?,
            },
        })
    }
});

fn driver() -> Answer<&'static Driver> {
    DRIVER.as_ref().ok_or(Status::NotInitialized)
}

/// Checks that the driver is warploom's. With another driver device memory is not the host's.
pub fn check() -> Answer {
    let mut name = [0; 32];
    // SAFETY: there is room for `name.len()` characters.
    done(unsafe { (driver()?.name)(name.as_mut_ptr(), name.len() as i32, 0) })
        .map_err(|_| Status::NotInitialized)?;
    if name.starts_with(b"warploom") { Ok(()) } else { Err(Status::NotInitialized) }
}

fn done(answer: u32) -> Answer {
    if answer == 0 { Ok(()) } else { Err(Status::ExecutionFailed) }
}

type Job = Box<dyn Fn() + Send + Sync>;

/// # Safety
/// `submit` has handed `job` over, and `release` has not been called with it.
unsafe extern "C" fn run(job: *mut c_void) {
    // SAFETY: the caller's promise. Several threads may run the job at the same time, since it is
    // `Sync`.
    let job = unsafe { &*job.cast::<Job>() };
    let _ = std::panic::catch_unwind(std::panic::AssertUnwindSafe(job));
}

/// # Safety
/// The contract of [`run`]. Nobody runs the job now or later.
unsafe extern "C" fn release(job: *mut c_void) {
    // SAFETY: the caller's promise: `submit` has given up the box.
    drop(unsafe { Box::from_raw(job.cast::<Job>()) });
}

/// Runs a job in a stream's order. If a graph captures the job, each launch of the graph runs it.
pub fn submit(stream: u64, job: impl Fn() + Send + Sync + 'static) -> Answer {
    let driver = driver()?;
    let job = Box::into_raw(Box::new(Box::new(job) as Job)).cast::<c_void>();
    // SAFETY: if this succeeds, the driver owns the job. It calls `run` as often as the stream or
    // graphs require, and `release` once, when nothing can call `run` any more. This also holds if
    // the stream begins to capture during this call.
    let answer = done(unsafe { (driver.launch_host)(stream, run, job, release) });
    if answer.is_err() {
        // SAFETY: the driver has not taken the job.
        unsafe { release(job) };
    }
    answer
}

pub fn synchronize(stream: u64) -> Answer {
    // SAFETY: the driver checks the handle.
    done(unsafe { (driver()?.synchronize)(stream) })
}

/// Tells the driver that a job writes to memory of the device, for its check of initialisation.
pub fn written(address: u64, bytes: usize) {
    if let Ok(driver) = driver() {
        // SAFETY: the driver only notes the numbers.
        unsafe { (driver.written)(address, bytes) };
    }
}

/// Returns the driver's image of several files, with names: PTX, cubins, and files that contain these.
/// The calling thread needs a context.
pub fn link(files: &[(String, Vec<u8>)]) -> Answer<Vec<u8>> {
    let linker = &driver()?.link;
    let (mut state, none) = (0, std::ptr::null());
    // SAFETY: there are no options, and the pointers are to variables and to the files' bytes.
    unsafe {
        done((linker.create)(0, none, none, &mut state))?;
        let image = link_files(linker, state, files);
        (linker.destroy)(state);
        image
    }
}

/// # Safety
/// `state` is a link of the driver's, which is not complete.
unsafe fn link_files(linker: &Linker, state: u64, files: &[(String, Vec<u8>)]) -> Answer<Vec<u8>> {
    for (name, content) in files {
        let name = CString::new(name.replace('\0', " ")).map_err(|_| Status::InternalError)?;
        let is_text = !content.starts_with(b"\x7fELF");
        let (data, bytes, none) = (content.as_ptr(), content.len(), std::ptr::null());
        // SAFETY: the pointers are valid, there are no options, and the state is the caller's.
        done(unsafe {
            (linker.add)(state, is_text.into(), data, bytes, name.as_ptr(), 0, none, none)
        })?;
    }
    let (mut image, mut bytes) = (std::ptr::null(), 0);
    // SAFETY: the driver sets the image, of so many bytes, which it keeps until the state ends.
    unsafe {
        done((linker.complete)(state, &mut image, &mut bytes))?;
        Ok(std::slice::from_raw_parts(image, bytes).to_vec())
    }
}

/// Checks that `bytes` bytes from an address on are of one allocation of the device's.
pub fn check_memory(address: u64, bytes: usize) -> Answer {
    let (mut base, mut size) = (0, 0);
    // SAFETY: the pointers are to numbers.
    if unsafe { (driver()?.range)(&mut base, &mut size, address) } != 0 {
        return Err(Status::InvalidValue);
    }
    let room = size as u64 - (address - base);
    if bytes as u64 <= room { Ok(()) } else { Err(Status::InvalidValue) }
}

/// Returns the address in the host of memory of the device, of which all bytes can be read and
/// written.
pub fn host_address(address: u64, bytes: usize) -> Answer<u64> {
    let mut host = 0;
    // SAFETY: the pointer is to a number.
    let answer = unsafe { (driver()?.host_address)(&mut host, address, bytes) };
    if answer == 0 { Ok(host) } else { Err(Status::InvalidValue) }
}
