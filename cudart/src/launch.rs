//! Launches of kernels.

use std::cell::RefCell;
use std::ffi::{c_int, c_uint, c_void};
use std::ptr::null_mut;

use crate::api::{api, get, put};
use crate::context::{current_device, enter};
use crate::driver;
use crate::error::{Code, INVALID_CONFIGURATION, INVALID_VALUE, MISSING_CONFIGURATION, Result};
use crate::registry::kernel;
use crate::stream::per_thread;
#[cfg(not(runtime = "13"))]
use crate::types::{DeviceLaunch, DriverDeviceLaunch};
use crate::types::{Dim3, Handle, LaunchConfig, RuntimeLaunchConfig, Stream};

/// The values in `<<<...>>>`, from their evaluation to the call of the kernel's stub.
#[derive(Clone, Copy)]
struct Configuration {
    grid: Dim3,
    block: Dim3,
    shared: usize,
    stream: Stream,
}

thread_local! {
    static PUSHED: RefCell<Vec<Configuration>> = const { RefCell::new(Vec::new()) };
}

/// Stores a launch's configuration for the next call of a stub. Returns 0 if the program shall call
/// the stub.
#[unsafe(no_mangle)]
pub extern "C" fn __cudaPushCallConfiguration(
    grid: Dim3,
    block: Dim3,
    shared: usize,
    stream: Stream,
) -> c_uint {
    PUSHED
        .try_with(|pushed| pushed.borrow_mut().push(Configuration { grid, block, shared, stream }))
        .is_err()
        .into()
}

api! {
    /// Takes the configuration that was stored last.
    fn __cudaPopCallConfiguration(grid: *mut Dim3, block: *mut Dim3, shared: *mut usize, stream: *mut Stream) {
        let last = PUSHED.with(|pushed| pushed.borrow_mut().pop()).ok_or(MISSING_CONFIGURATION)?;
        put(grid, last.grid)?;
        put(block, last.block)?;
        put(shared, last.shared)?;
        put(stream, last.stream)
    }
}

/// Tells whether the current device can run a launch of this shape, by its attributes 1 to 7.
fn fits(grid: Dim3, block: Dim3) -> Result<bool> {
    let device = current_device()?;
    let limit = |attribute| {
        let mut value = 0;
        // SAFETY: the output is this function's
        unsafe { driver::cuDeviceGetAttribute(&mut value, attribute, device) }
            .map(|()| value as u64)
    };
    let sizes = [block.x, block.y, block.z, grid.x, grid.y, grid.z].map(u64::from);
    let mut fit = sizes[..3].iter().product::<u64>() <= limit(1)?;
    for (size, attribute) in sizes.into_iter().zip(2..) {
        fit &= size > 0 && size <= limit(attribute)?;
    }
    Ok(fit)
}

/// Replaces `INVALID_VALUE` by the runtime's own code for a launch shape that the device cannot
/// have.
fn explain(code: Code, grid: Dim3, block: Dim3) -> Code {
    if code == INVALID_VALUE && !fits(grid, block).unwrap_or(true) {
        INVALID_CONFIGURATION
    } else {
        code
    }
}

/// # Safety
///
/// The number and the sizes of the arguments equal the kernel's parameters.
unsafe fn launch(
    function: Handle,
    how: Configuration,
    arguments: *mut *mut c_void,
    cooperative: bool,
) -> Result<()> {
    let Configuration { grid, block, shared, stream } = how;
    let shared = c_uint::try_from(shared).map_err(|_| INVALID_VALUE)?;
    // SAFETY: the caller's promise
    let result = unsafe {
        if cooperative {
            driver::cuLaunchCooperativeKernel(
                function, grid.x, grid.y, grid.z, block.x, block.y, block.z, shared, stream,
                arguments,
            )
        } else {
            driver::cuLaunchKernel(
                function,
                grid.x,
                grid.y,
                grid.z,
                block.x,
                block.y,
                block.z,
                shared,
                stream,
                arguments,
                null_mut(),
            )
        }
    };
    result.map_err(|code| explain(code, grid, block))
}

/// # Safety
///
/// The contract of [`launch`].
unsafe fn launch_stub(
    stub: *const c_void,
    how: Configuration,
    arguments: *mut *mut c_void,
    cooperative: bool,
) -> Result<()> {
    enter()?;
    // SAFETY: the caller's promise
    unsafe { launch(kernel(stub)?, how, arguments, cooperative) }
}

/// # Safety
///
/// The contract of [`launch`], and the configuration is null or valid.
unsafe fn launch_with(
    config: *const RuntimeLaunchConfig,
    stub: *const c_void,
    arguments: *mut *mut c_void,
    stream_of: impl FnOnce(Stream) -> Stream,
) -> Result<()> {
    enter()?;
    // SAFETY: the caller's promise
    unsafe {
        let config = get(config)?;
        let passed = driver_config(config, stream_of(config.stream))?;
        driver::cuLaunchKernelEx(&passed, kernel(stub)?, arguments, null_mut())
            .map_err(|code| explain(code, config.grid, config.block))
    }
}

/// Returns the driver's form of a launch's configuration.
pub fn driver_config(config: &RuntimeLaunchConfig, stream: Stream) -> Result<LaunchConfig> {
    Ok(LaunchConfig {
        grid: config.grid,
        block: config.block,
        shared: c_uint::try_from(config.shared).map_err(|_| INVALID_VALUE)?,
        stream,
        attributes: config.attributes,
        attribute_count: config.attribute_count,
    })
}

api! {
    /// Launches the kernel with this stub.
    fn cudaLaunchKernel(
        stub: *const c_void, grid: Dim3, block: Dim3, arguments: *mut *mut c_void, shared: usize, stream: Stream,
    ) / ptsz(stream) {
        launch_stub(stub, Configuration { grid, block, shared, stream }, arguments, false)
    }

    /// Launches a kernel whose blocks may all wait for each other.
    fn cudaLaunchCooperativeKernel(
        stub: *const c_void, grid: Dim3, block: Dim3, arguments: *mut *mut c_void, shared: usize, stream: Stream,
    ) / ptsz(stream) {
        launch_stub(stub, Configuration { grid, block, shared, stream }, arguments, true)
    }

    /// Launches a kernel with attributes.
    fn cudaLaunchKernelExC(config: *const RuntimeLaunchConfig, stub: *const c_void, arguments: *mut *mut c_void) {
        launch_with(config, stub, arguments, |stream| stream)
    }

    /// Launches a kernel with attributes. A null stream in the configuration is the thread's own.
    fn cudaLaunchKernelExC_ptsz(config: *const RuntimeLaunchConfig, stub: *const c_void, arguments: *mut *mut c_void) {
        launch_with(config, stub, arguments, per_thread)
    }

    /// Gets the driver's kernel of a stub. The stub itself calls this once and ignores an error.
    /// Without a kernel the result is the stub, so that each launch reports the error.
    #[cfg(not(runtime = "11"))]
    fn __cudaGetKernel(into: *mut Handle, stub: *const c_void) {
        put(into, stub.cast_mut())?;
        put(into, kernel(stub)?)
    }

    /// Launches the result of [`__cudaGetKernel`].
    #[cfg(not(runtime = "11"))]
    fn __cudaLaunchKernel(
        function: Handle, grid: Dim3, block: Dim3, arguments: *mut *mut c_void, shared: usize, stream: Stream,
    ) / ptsz(stream) {
        launch_stub(function, Configuration { grid, block, shared, stream }, arguments, false)
    }

    /// Launches kernels on several devices, whose blocks may all wait for each other.
    #[cfg(not(runtime = "13"))]
    fn cudaLaunchCooperativeKernelMultiDevice(list: *const DeviceLaunch, count: c_uint, flags: c_uint) {
        enter()?;
        let mut launches = Vec::new();
        for at in 0..count as usize {
            let launch = get(list.wrapping_add(at))?;
            launches.push(DriverDeviceLaunch {
                function: kernel(launch.function)?,
                grid: launch.grid,
                block: launch.block,
                shared: c_uint::try_from(launch.shared).map_err(|_| INVALID_VALUE)?,
                stream: launch.stream,
                parameters: launch.parameters,
            });
        }
        driver::cuLaunchCooperativeKernelMultiDevice(launches.as_mut_ptr(), count, flags)
    }

    /// Does nothing: prepares a `double` for devices without double precision, which do not exist
    /// here.
    #[cfg(not(runtime = "13"))]
    fn cudaSetDoubleForDevice(_value: *mut f64) {
        Ok(())
    }

    /// Does nothing: converts a `double` back for the host, after `cudaSetDoubleForDevice`.
    #[cfg(not(runtime = "13"))]
    fn cudaSetDoubleForHost(_value: *mut f64) {
        Ok(())
    }

    /// Gets the number of blocks of a kernel that a multiprocessor can hold.
    fn cudaOccupancyMaxActiveBlocksPerMultiprocessor(blocks: *mut c_int, stub: *const c_void, block: c_int, shared: usize) {
        occupancy(blocks, stub, block, shared, 0)
    }

    /// Gets the number of blocks of a kernel that a multiprocessor can hold, with flags.
    fn cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
        blocks: *mut c_int, stub: *const c_void, block: c_int, shared: usize, flags: c_uint,
    ) {
        occupancy(blocks, stub, block, shared, flags)
    }
}

/// # Safety
///
/// The pointer is null or valid for a write.
unsafe fn occupancy(
    blocks: *mut c_int,
    stub: *const c_void,
    block: c_int,
    shared: usize,
    flags: c_uint,
) -> Result<()> {
    let function = crate::function::of(stub)?;
    // SAFETY: the caller's promise, and the function is the driver's
    unsafe {
        driver::cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
            blocks, function, block, shared, flags,
        )
    }
}
