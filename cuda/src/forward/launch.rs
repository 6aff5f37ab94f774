//! Launches of the driver that calls are forwarded to.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::c_void;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use warploom_replay::manifest;

use super::memory::Forwarded;
use super::modules::{self, Kernel};
use super::real::{self, limit, watch};
use super::{capture, unseen};
use crate::api::launch::Config;
use crate::boundary::Ptr;
use crate::launch::{DEFAULT_STACK, LIMIT_HEAP, LIMIT_PRINTF, LIMIT_STACK, arguments};
use crate::record::{self, Before, Choice, Subject};

/// The number of stream captures in progress. Calls must not wait meanwhile.
static CAPTURING: AtomicU64 = AtomicU64::new(0);
/// The handles of textures and surfaces.
static IMAGES: Mutex<BTreeSet<u64>> = Mutex::new(BTreeSet::new());

struct Shape {
    grid: [u32; 3],
    block: [u32; 3],
    shared: u32,
    cooperative: bool,
}

/// Values of `CUdevice_attribute`.
const MAJOR: u32 = 75;
const MINOR: u32 = 76;

/// Returns the kind of GPU of the first device.
pub fn device() -> String {
    format!("sm_{}{}", real::device_attribute(MAJOR), real::device_attribute(MINOR))
}

/// Runs a launch, and writes it if it is to be captured.
fn launch(
    kernel: u64,
    shape: &Shape,
    params: Ptr<Ptr<u8>>,
    extra: Ptr<Ptr<c_void>>,
    real: impl FnOnce() -> u32,
) -> u32 {
    let Some(settings) = capture() else { return real() };
    let Some(kernel) = modules::kernel(kernel) else {
        unseen("launches of kernels whose modules were loaded out of sight".into());
        return real();
    };
    let choice = settings.choose(&kernel.name);
    let before = choice.and_then(|choice| before(choice, &kernel, shape, params, extra));
    let begun = record::begin(&kernel.name);
    let answer = real();
    if answer == 0 {
        let succeeded = before.is_none() || real::synchronize();
        begun.end(Duration::ZERO, None);
        if let Some(before) = before
            && let Ok(image) = &kernel.loaded.image
        {
            // The kernel's output goes to the program's own output.
            before.write(image, succeeded, b"");
        }
    }
    answer
}

fn before(
    choice: Choice,
    kernel: &Kernel,
    shape: &Shape,
    params: Ptr<Ptr<u8>>,
    extra: Ptr<Ptr<c_void>>,
) -> Option<Before<'static, Forwarded>> {
    match subject(&choice, kernel, shape, params, extra) {
        Ok(subject) => Before::of(choice, &Forwarded, subject),
        Err(why) => {
            choice.cannot(why);
            None
        }
    }
}

fn subject(
    choice: &Choice,
    kernel: &Kernel,
    shape: &Shape,
    params: Ptr<Ptr<u8>>,
    extra: Ptr<Ptr<c_void>>,
) -> Result<Subject, String> {
    if CAPTURING.load(Relaxed) > 0 {
        return Err("a stream was being captured into a graph".into());
    }
    let module = kernel.loaded.code(&kernel.name)?;
    let function = module
        .kernel(&kernel.name)
        .map(|id| module.function(id))
        .ok_or("it is not in its module")?;
    let args =
        arguments(&function.params, params, extra).map_err(|_| "its parameters are not there")?;
    let args: Vec<Vec<u8>> =
        args.iter().map(|arg| arg.as_bytes().unwrap_or_default().to_vec()).collect();
    if module.symbols.iter().any(|symbol| symbol.kind.is_image()) {
        return Err("its module has references of textures or surfaces".into());
    }
    let images = IMAGES.lock().unwrap_or_else(PoisonError::into_inner);
    let words = || args.iter().flat_map(|bytes| bytes.chunks_exact(8));
    if let Some(word) = words()
        .map(|word| u64::from_le_bytes(word.try_into().expect("eight bytes")))
        .find(|word| images.contains(word))
    {
        choice.cannot(format_args!(
            "the texture or surface {word:#x}, if that is what is meant, is left out"
        ));
    }
    if !real::synchronize() {
        return Err("work before it has failed".into());
    }
    let variable = |name: &str| {
        kernel.loaded.variable(name).map(|(address, bytes)| (name.to_string(), address, bytes))
    };
    Ok(Subject {
        arch: None,
        launch: manifest::Launch {
            grid: shape.grid,
            block: shape.block,
            shared_bytes: shape.shared,
            stack_bytes: limit(LIMIT_STACK)
                .filter(|&bytes| bytes != DEFAULT_STACK)
                .and_then(|bytes| bytes.try_into().ok()),
            heap_bytes: limit(LIMIT_HEAP),
            cooperative: shape.cooperative,
            instruction_limit: None,
            time_limit: None,
        },
        args,
        variables: record::names(module).into_iter().filter_map(variable).collect(),
        images: None,
        image_variables: BTreeMap::new(),
        printf_bytes: limit(LIMIT_PRINTF),
    })
}

/// Counts a stream capture that a call has begun or ended, and returns the call's answer.
fn capturing(answer: u32, change: i64) -> u32 {
    if answer == 0 {
        let _ = CAPTURING.fetch_update(Relaxed, Relaxed, |count| count.checked_add_signed(change));
    }
    answer
}

fn image_made(answer: u32, out: Ptr<u64>) -> u32 {
    if answer == 0
        && let Ok(handle) = out.get()
    {
        IMAGES.lock().unwrap_or_else(PoisonError::into_inner).insert(handle);
    }
    answer
}

fn image_gone(answer: u32, handle: u64) -> u32 {
    if answer == 0 {
        IMAGES.lock().unwrap_or_else(PoisonError::into_inner).remove(&handle);
    }
    answer
}

watch! { WATCHED:
    fn cuLaunchKernel(
        function: u64, grid_x: u32, grid_y: u32, grid_z: u32, block_x: u32, block_y: u32, block_z: u32,
        shared: u32, stream: u64, params: Ptr<Ptr<u8>>, extra: Ptr<Ptr<c_void>>,
    ) / cuLaunchKernel_ptsz |real| {
        let (grid, block) = ([grid_x, grid_y, grid_z], [block_x, block_y, block_z]);
        launch(function, &Shape { grid, block, shared, cooperative: false }, params, extra, real)
    }

    fn cuLaunchKernelEx(
        config: Ptr<Config>, function: u64, params: Ptr<Ptr<u8>>, extra: Ptr<Ptr<c_void>>,
    ) / cuLaunchKernelEx_ptsz |real| {
        let Ok(config) = config.get() else { return real() };
        let cooperative = config.is_cooperative();
        let shape = Shape { grid: config.grid, block: config.block, shared: config.shared, cooperative };
        launch(function, &shape, params, extra, real)
    }

    fn cuLaunchCooperativeKernel(
        function: u64, grid_x: u32, grid_y: u32, grid_z: u32, block_x: u32, block_y: u32, block_z: u32,
        shared: u32, stream: u64, params: Ptr<Ptr<u8>>,
    ) / cuLaunchCooperativeKernel_ptsz |real| {
        let (grid, block) = ([grid_x, grid_y, grid_z], [block_x, block_y, block_z]);
        launch(function, &Shape { grid, block, shared, cooperative: true }, params, Ptr::NULL, real)
    }

    fn cuGraphLaunch(graph: u64, stream: u64) / cuGraphLaunch_ptsz |real| {
        unseen("launches of graphs".into());
        real()
    }

    fn cuLaunchCooperativeKernelMultiDevice(list: Ptr<u8>, count: u32, flags: u32) |real| {
        unseen("launches on several devices".into());
        real()
    }

    fn cuLaunch(function: u64) |real| {
        unseen("launches by cuLaunch, of CUDA 3".into());
        real()
    }

    fn cuLaunchGrid(function: u64, width: i32, height: i32) |real| {
        unseen("launches by cuLaunchGrid, of CUDA 3".into());
        real()
    }

    fn cuLaunchGridAsync(function: u64, width: i32, height: i32, stream: u64) |real| {
        unseen("launches by cuLaunchGridAsync, of CUDA 3".into());
        real()
    }

    fn cuStreamBeginCapture(stream: u64) / cuStreamBeginCapture_ptsz |real| {
        capturing(real(), 1)
    }

    fn cuStreamBeginCapture_v2(stream: u64, mode: u32) / cuStreamBeginCapture_v2_ptsz |real| {
        capturing(real(), 1)
    }

    fn cuStreamBeginCaptureToGraph(
        stream: u64, graph: u64, nodes: Ptr<u64>, edges: Ptr<c_void>, count: usize, mode: u32,
    ) / cuStreamBeginCaptureToGraph_ptsz |real| {
        capturing(real(), 1)
    }

    fn cuStreamEndCapture(stream: u64, graph: Ptr<u64>) / cuStreamEndCapture_ptsz |real| {
        capturing(real(), -1)
    }

    fn cuTexObjectCreate(out: Ptr<u64>, resource: Ptr<c_void>, reading: Ptr<c_void>, view: Ptr<c_void>) |real| {
        image_made(real(), out)
    }

    fn cuTexObjectDestroy(texture: u64) |real| {
        image_gone(real(), texture)
    }

    fn cuSurfObjectCreate(out: Ptr<u64>, resource: Ptr<c_void>) |real| {
        image_made(real(), out)
    }

    fn cuSurfObjectDestroy(surface: u64) |real| {
        image_gone(real(), surface)
    }
}
