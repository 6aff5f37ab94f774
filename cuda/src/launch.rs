//! Launches: the checks of a request, and the run itself.

use std::ffi::c_void;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

use warploom::{Arg, Checks, INTERPRETED, LaunchOptions, LaunchOutcome};
use warploom_container::{Arch, Param};
use warploom_replay::manifest;

use crate::boundary::{self, Ptr};
use crate::context::Context;
use crate::device::{MAX_BLOCK, MAX_BLOCK_DIM, MAX_GRID};
use crate::error::{Answer, Error, of_fault, of_launch};
use crate::module::Function;
use crate::record::{Before, Machine, Subject};
use crate::{allocations, driver, record, stacks, texture};

/// A kernel with everything that its launch needs.
#[derive(Clone)]
pub struct Launch {
    pub function: Arc<Function>,
    pub grid: [u32; 3],
    pub block: [u32; 3],
    pub shared: u32,
    pub cooperative: bool,
    pub args: Vec<Arg>,
}

/// Keys of the list `extra` of a launch: the end, the parameters, and the address of their size in
/// bytes.
const EXTRA_END: u64 = 0;
const EXTRA_BUFFER: u64 = 1;
const EXTRA_SIZE: u64 = 2;

/// Values of `CUlimit`, and the default stack.
pub const LIMIT_STACK: u32 = 0;
pub const LIMIT_PRINTF: u32 = 1;
pub const LIMIT_HEAP: u32 = 2;
pub const DEFAULT_STACK: u64 = 1024;

/// The nanoseconds of work that are worth waking a thread for.
const WORTH: u64 = 25_000;
/// The assumed nanoseconds of a lane in the first launch of a kernel.
const LANE_TIME: u64 = 40;

impl Launch {
    pub fn new(
        function: &Arc<Function>,
        grid: [u32; 3],
        block: [u32; 3],
        shared: u32,
        args: Vec<Arg>,
    ) -> Launch {
        Launch { function: function.clone(), grid, block, shared, cooperative: false, args }
    }

    /// Checks the launch for errors that the driver reports at once.
    pub fn check(&self) -> Answer {
        let wrong = Err(Error::CUDA_ERROR_INVALID_VALUE);
        let within = |axes: [u32; 3], most: [u32; 3]| {
            axes.iter().zip(most).all(|(&n, most)| (1..=most).contains(&n))
        };
        if !within(self.grid, MAX_GRID) || !within(self.block, MAX_BLOCK_DIM) {
            return wrong;
        }
        let lanes: u32 = self.block.iter().product();
        let code = self.function.code();
        if lanes > MAX_BLOCK || self.shared > self.function.dynamic_limit() {
            return wrong;
        }
        let all = |axes: [u32; 3]| axes.iter().fold(1, |all: u32, &n| all.saturating_mul(n.max(1)));
        if code.required_threads.is_some_and(|shape| shape != self.block) {
            return wrong;
        }
        if code.max_threads.is_some_and(|axes| lanes > all(axes)) {
            return wrong;
        }
        let limit = driver::get().profile.registers_per_block();
        if code.registers > 0
            && lanes.div_ceil(32) * (code.registers * 32).next_multiple_of(256) > limit
        {
            return Err(Error::CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES);
        }
        if self.cooperative {
            let blocks: u64 = self.grid.iter().map(|&n| u64::from(n)).product();
            let resident = crate::occupancy::blocks(&self.function, lanes, self.shared.into());
            if blocks > u64::from(resident) * u64::from(crate::device::Profile::multiprocessors()) {
                return Err(Error::CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE);
            }
        }
        Ok(())
    }

    /// Returns the number of threads that are worth waking.
    fn threads(&self) -> usize {
        let blocks = self.grid.iter().fold(1, |all: u64, &n| all.saturating_mul(n.into()));
        let lanes: u32 = self.block.iter().product();
        let block = match self.function.block_time.load(Relaxed) {
            0 => u64::from(lanes) * LANE_TIME,
            time => time,
        };
        let worth = blocks.saturating_mul(block) / WORTH;
        usize::try_from(worth).unwrap_or(usize::MAX).clamp(1, driver::get().threads)
    }

    fn options(&self, context: &Context) -> LaunchOptions {
        let driver = driver::get();
        let limit = |limit| context.limit(limit).unwrap_or(0);
        let stack = Some(limit(LIMIT_STACK)).filter(|&bytes| bytes != DEFAULT_STACK);
        LaunchOptions {
            shared_bytes: self.shared,
            stack_bytes: stack.map(|bytes| u32::try_from(bytes).unwrap_or(u32::MAX)),
            threads: if self.cooperative { driver.threads } else { self.threads() },
            concurrent: driver.threads > 1,
            engine: driver.engine,
            interpreted: INTERPRETED,
            instruction_limit: driver.instruction_limit,
            time_limit: driver
                .time_limit
                .and_then(|seconds| Duration::try_from_secs_f64(seconds).ok()),
            cooperative: self.cooperative,
            deadlock_after: driver.deadlock_after,
            printf_bytes: usize::try_from(limit(LIMIT_PRINTF)).unwrap_or(usize::MAX),
            heap_bytes: limit(LIMIT_HEAP),
            images: crate::texture::pool(),
            ..LaunchOptions::new(self.grid, self.block)
        }
    }

    /// Runs the kernel. A fault is printed to standard error and ends the context.
    pub fn run(&self, context: &Context) -> Answer {
        let kernel = self.function.program.kernel_of(self.function.id);
        let options = self.options(context);
        let before = self.before(&options);
        let begun = record::begin(&self.function.code().name);
        let launched = match driver::get().checks {
            Some(wanted) => self.checked(&options, wanted),
            None => kernel.launch(&self.args, &options),
        };
        let mut outcome = match launched {
            Ok(outcome) => outcome,
            Err(error) => {
                eprintln!("warploom: {error}");
                let error = of_launch(&error);
                context.fail(error);
                return Err(error);
            }
        };
        if let Some(fault) = &mut outcome.fault {
            fault.compare_with(allocations::known());
        }
        let fault = outcome.fault.as_ref().map(ToString::to_string);
        let took = begun.end(outcome.translate, fault);
        self.learn(&outcome, took, options.threads);
        if let Some(before) = before {
            before.write(
                &self.function.library.source(),
                outcome.fault.is_none(),
                &outcome.printed.text,
            );
        }
        if !outcome.printed.text.is_empty() {
            boundary::print(&outcome.printed.text);
        }
        let Some(fault) = outcome.fault else { return Ok(()) };
        let stacks =
            fault.behind.as_ref().map_or_else(String::new, |found| stacks::text(found.address));
        eprintln!("warploom: {fault}{stacks}");
        let error = of_fault(fault.kind());
        context.fail(error);
        Err(error)
    }

    /// Runs the kernel with checks, and reports each bad instruction once.
    fn checked(
        &self,
        options: &LaunchOptions,
        checks: Checks,
    ) -> Result<LaunchOutcome, warploom::Error> {
        let program = &self.function.program;
        let mut allocations = allocations::for_checks(checks);
        allocations.live.extend(program.allocations().filter(|_| checks.memory));
        let kernel = program.kernel_of(self.function.id);
        let checked = kernel.launch_checked(&self.args, options, checks, &allocations)?;
        checked.findings.iter().for_each(record::found);
        Ok(checked.outcome)
    }

    /// Returns the launch for its manifest, if it is to be captured.
    fn before(&self, options: &LaunchOptions) -> Option<Before<'_, Own>> {
        let choice = driver::get().capture.as_ref()?.choose(&self.function.code().name)?;
        let library = &self.function.library;
        let image_variables = library.image_handles();
        let args: Vec<Vec<u8>> =
            self.args.iter().map(|arg| arg.as_bytes().unwrap_or_default().to_vec()).collect();
        let has_images =
            !image_variables.is_empty() || args.iter().any(|bytes| texture::is_named_in(bytes));
        let subject = Subject {
            arch: library.source().is_container().then(|| Arch::Sm(driver::get().profile.sm)),
            launch: manifest::Launch {
                grid: self.grid,
                block: self.block,
                shared_bytes: self.shared,
                stack_bytes: options.stack_bytes,
                heap_bytes: Some(options.heap_bytes),
                cooperative: self.cooperative,
                instruction_limit: options.instruction_limit,
                time_limit: None,
            },
            args,
            variables: self.variables(),
            images: if has_images { texture::content() } else { None },
            image_variables,
            printf_bytes: Some(options.printf_bytes as u64),
        };
        Before::of(choice, &Own, subject)
    }

    /// Returns the module's variables: name, address, bytes.
    fn variables(&self) -> Vec<(String, u64, u64)> {
        let program = &self.function.program;
        let variable = |name: &str| {
            let variable = program.variable(name).ok().filter(|variable| variable.size > 0)?;
            Some((name.to_string(), variable.address, variable.size))
        };
        record::names(program.module()).into_iter().filter_map(variable).collect()
    }

    fn learn(&self, outcome: &LaunchOutcome, took: Duration, threads: usize) {
        let took = took.saturating_sub(outcome.translate).as_nanos() as u64 * threads as u64;
        self.function.block_time.store((took / outcome.blocks_done.max(1)).max(1), Relaxed);
    }
}

/// The memory of this library.
struct Own;

impl Machine for Own {
    fn find(&self, address: u64) -> Option<(u64, u64)> {
        allocations::find(address).map(|found| (found.address, found.bytes))
    }

    fn read(&self, address: u64, into: &mut [u8]) {
        if driver::memory().read(address, into).is_ok() {
            return;
        }
        for (n, part) in into.chunks_mut(4096).enumerate() {
            let _ = driver::memory().read(address + 4096 * n as u64, part);
        }
    }
}

/// Returns the arguments of a launch from either form of parameters.
pub fn arguments(
    wanted: &[Param],
    params: Ptr<Ptr<u8>>,
    extra: Ptr<Ptr<c_void>>,
) -> Result<Vec<Arg>, Error> {
    if !params.is_null() {
        let arg = |(i, param): (usize, &Param)| {
            params.get_at(i)?.with(param.size as usize, |bytes| Arg::bytes(bytes))
        };
        return wanted.iter().enumerate().map(arg).collect();
    }
    if extra.is_null() {
        return if wanted.is_empty() { Ok(vec![]) } else { Err(Error::CUDA_ERROR_INVALID_VALUE) };
    }
    let (mut buffer, mut size) = (Ptr::<u8>::NULL, 0);
    for i in (0..).step_by(2) {
        let value = |i: usize| extra.get_at(i);
        match value(i)?.address() {
            EXTRA_END => break,
            EXTRA_BUFFER => buffer = value(i + 1)?.cast(),
            EXTRA_SIZE => size = value(i + 1)?.cast::<usize>().get()?,
            _ => return Err(Error::CUDA_ERROR_INVALID_VALUE),
        }
    }
    buffer.with(size, |bytes| from_block(wanted, bytes))?
}

/// Returns the arguments from a block of bytes, at the offset of each parameter.
pub fn from_block(wanted: &[Param], bytes: &[u8]) -> Result<Vec<Arg>, Error> {
    let arg = |param: &Param| {
        let bytes = bytes.get(param.offset as usize..)?.get(..param.size as usize)?;
        Some(Arg::bytes(bytes))
    };
    let args = wanted.iter().map(arg).collect::<Option<Vec<Arg>>>();
    args.ok_or(Error::CUDA_ERROR_INVALID_VALUE)
}
