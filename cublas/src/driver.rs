//! The driver's functions, of warploom's `libcuda.so.1`.

use std::ffi::c_void;
use std::sync::LazyLock;

use libloading::Library;

use crate::{Answer, Status};

type HostFunction = unsafe extern "C" fn(*mut c_void);

struct Driver {
    name: unsafe extern "C" fn(*mut u8, i32, i32) -> u32,
    launch_host: unsafe extern "C" fn(u64, HostFunction, *mut c_void) -> u32,
    synchronize: unsafe extern "C" fn(u64) -> u32,
    is_capturing: unsafe extern "C" fn(u64, *mut u32) -> u32,
    range: unsafe extern "C" fn(*mut u64, *mut usize, u64) -> u32,
    retain: unsafe extern "C" fn(*mut u64, u64) -> u32,
    release: unsafe extern "C" fn(u64) -> u32,
}

/// None: there is no driver library.
static DRIVER: LazyLock<Option<Driver>> = LazyLock::new(|| {
    // SAFETY: the library has no initialisers, and functions of the driver API have these types. It is never closed.
    unsafe {
        let library = Box::leak(Box::new(Library::new("libcuda.so.1").ok()?));
        Some(Driver {
            name: *library.get(b"cuDeviceGetName\0").ok()?,
            launch_host: *library.get(b"cuLaunchHostFunc\0").ok()?,
            synchronize: *library.get(b"cuStreamSynchronize\0").ok()?,
            is_capturing: *library.get(b"cuStreamIsCapturing\0").ok()?,
            range: *library.get(b"cuMemGetAddressRange_v2\0").ok()?,
            retain: *library.get(b"cuMemRetainAllocationHandle\0").ok()?,
            release: *library.get(b"cuMemRelease\0").ok()?,
        })
    }
});

fn driver() -> Answer<&'static Driver> {
    DRIVER.as_ref().ok_or(Status::NotInitialized)
}

/// Checks that the driver is warploom's: with another one device memory is not the host's.
pub fn check() -> Answer {
    let mut name = [0; 32];
    // SAFETY: there is room for so many characters.
    done(unsafe { (driver()?.name)(name.as_mut_ptr(), name.len() as i32, 0) }).map_err(|_| Status::NotInitialized)?;
    if name.starts_with(b"warploom") { Ok(()) } else { Err(Status::NotInitialized) }
}

fn done(answer: u32) -> Answer {
    if answer == 0 { Ok(()) } else { Err(Status::ExecutionFailed) }
}

type Job = Box<dyn Fn() + Send + Sync>;

unsafe extern "C" fn once(job: *mut c_void) {
    // SAFETY: `submit` has given up the box, and a stream calls this one time.
    let job = unsafe { Box::from_raw(job.cast::<Job>()) };
    let _ = std::panic::catch_unwind(std::panic::AssertUnwindSafe(job));
}

unsafe extern "C" fn again(job: *mut c_void) {
    // SAFETY: `submit` has given up the box for good, so that graphs may call this at any time.
    let job = unsafe { &*job.cast::<Job>() };
    let _ = std::panic::catch_unwind(std::panic::AssertUnwindSafe(job));
}

/// Does something in a stream's order. What a graph captures is kept as long as the process is there.
pub fn submit(stream: u64, job: impl Fn() + Send + Sync + 'static) -> Answer {
    let driver = driver()?;
    let mut capturing = 0;
    // SAFETY: the pointer is to a number.
    done(unsafe { (driver.is_capturing)(stream, &mut capturing) })?;
    let job = Box::into_raw(Box::new(Box::new(job) as Job)).cast::<c_void>();
    let function = if capturing == 0 { once } else { again };
    // SAFETY: the function takes what it is given.
    let answer = done(unsafe { (driver.launch_host)(stream, function, job) });
    if answer.is_err() {
        // SAFETY: nobody else has it.
        drop(unsafe { Box::from_raw(job.cast::<Job>()) });
    }
    answer
}

pub fn synchronize(stream: u64) -> Answer {
    // SAFETY: the driver checks the handle.
    done(unsafe { (driver()?.synchronize)(stream) })
}

/// Checks that so many bytes from an address on are device memory at the host's own addresses.
pub fn check_memory(address: u64, bytes: usize) -> Answer {
    let driver = driver()?;
    let (mut base, mut size, mut handle) = (0, 0, 0);
    // SAFETY: the pointers are to numbers.
    unsafe {
        if (driver.range)(&mut base, &mut size, address) != 0 {
            return Err(Status::InvalidValue);
        }
        if (driver.retain)(&mut handle, address) == 0 {
            // What is mapped to addresses that a program has reserved lies elsewhere.
            (driver.release)(handle);
            return Err(Status::NotSupported);
        }
    }
    let room = size as u64 - (address - base);
    if bytes as u64 <= room { Ok(()) } else { Err(Status::InvalidValue) }
}
