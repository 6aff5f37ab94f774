//! Facts about devices that the CUDA driver library reports.

use std::ffi::{CStr, CString, c_int, c_void};
use std::sync::OnceLock;

/// Returns the address of the driver's function with this name, if there is one.
fn find(name: &str) -> Option<*mut c_void> {
    static LIBRARY: OnceLock<usize> = OnceLock::new();
    let library = *LIBRARY.get_or_init(|| {
        // SAFETY: the name ends with 0. The library's initialisers may run in this call. The
        // initialisers of warploom's driver read the environment, and load another driver if it
        // names one. They do not unwind, and call nothing of this library. This thread holds no
        // lock but the lock of `LIBRARY`, which they do not know. Whoever puts another library in
        // the driver's place answers for its initialisers.
        unsafe {
            libc::dlopen(c"libcuda.so.1".as_ptr(), libc::RTLD_NOW | libc::RTLD_LOCAL) as usize
        }
    });
    let name = CString::new(name).ok()?;
    if library == 0 {
        return None;
    }
    // SAFETY: the library stays loaded, since nobody closes it, and the name ends with 0
    let found = unsafe { libc::dlsym(library as *mut c_void, name.as_ptr()) };
    (!found.is_null()).then_some(found)
}

macro_rules! call {
    ($name:ident($($arg:expr => $t:ty),*)) => {
        find(stringify!($name)).is_some_and(|address| {
            // SAFETY: the documented function of this name has this signature
            let function: unsafe extern "C" fn($($t),*) -> c_int = unsafe { std::mem::transmute(address) };
            // SAFETY: outputs are the caller's variables, and have the stated sizes
            unsafe { function($($arg),*) == 0 }
        })
    };
}

/// Returns the number of devices, if there is a driver.
pub fn device_count() -> Option<c_int> {
    let mut count = 0;
    (call!(cuInit(0 => u32)) && call!(cuDeviceGetCount(&mut count => *mut c_int))).then_some(count)
}

/// Returns the version of CUDA that the driver has.
pub fn version() -> Option<c_int> {
    let mut version = 0;
    call!(cuDriverGetVersion(&mut version => *mut c_int)).then_some(version)
}

/// Returns a device's name.
pub fn name(device: c_int) -> Option<String> {
    let mut text = [0_u8; 96];
    let got = call!(cuDeviceGetName(text.as_mut_ptr() => *mut u8, text.len() as c_int => c_int, device => c_int));
    let text = CStr::from_bytes_until_nul(&text).ok().filter(|_| got)?;
    Some(text.to_string_lossy().into_owned())
}

/// Returns a device's identification, such as `GPU-01234567-89ab-cdef-0123-456789abcdef`.
pub fn uuid(device: c_int) -> Option<String> {
    let mut bytes = [0u8; 16];
    let got = call!(cuDeviceGetUuid(bytes.as_mut_ptr() => *mut u8, device => c_int));
    got.then(|| {
        let hex: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
        format!(
            "GPU-{}-{}-{}-{}-{}",
            &hex[..8],
            &hex[8..12],
            &hex[12..16],
            &hex[16..20],
            &hex[20..]
        )
    })
}

fn attribute(number: c_int, device: c_int) -> Option<c_int> {
    let mut value = 0;
    call!(cuDeviceGetAttribute(&mut value => *mut c_int, number => c_int, device => c_int))
        .then_some(value)
}

/// Returns a device's compute capability.
pub fn compute_capability(device: c_int) -> Option<(c_int, c_int)> {
    Some((attribute(75, device)?, attribute(76, device)?))
}

/// Returns the free and the total bytes of a device. All bytes are free if the thread has no
/// context.
pub fn memory(device: c_int) -> Option<(u64, u64)> {
    let (mut free, mut total) = (0usize, 0usize);
    if call!(cuMemGetInfo_v2(&mut free => *mut usize, &mut total => *mut usize)) {
        return Some((free as u64, total as u64));
    }
    call!(cuDeviceTotalMem_v2(&mut total => *mut usize, device => c_int))
        .then_some((total as u64, total as u64))
}
