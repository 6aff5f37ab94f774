//! Functions: attributes, parameters, occupancy.

use std::ffi::CString;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Arc, LazyLock, Mutex, PoisonError};

use rustc_hash::FxHashMap;

use super::device::check;
use super::require;
use crate::boundary::{self, Ptr, SharedSize, api};
use crate::device::{MAX_BLOCK, Profile, WARP};
use crate::error::{Answer, Error};
use crate::module::{FUNCTIONS, Function};
use crate::{context, driver, occupancy};

/// Values of `CUfunction_attribute`.
mod attribute {
    pub const MAX_THREADS: u32 = 0;
    pub const SHARED: u32 = 1;
    pub const CONSTANTS: u32 = 2;
    pub const LOCAL: u32 = 3;
    pub const REGISTERS: u32 = 4;
    pub const PTX_VERSION: u32 = 5;
    pub const BINARY_VERSION: u32 = 6;
    pub const CACHE_MODE: u32 = 7;
    pub const MAX_DYNAMIC: u32 = 8;
    pub const CARVEOUT: u32 = 9;
    pub const CLUSTER_MUST_BE_SET: u32 = 10;
    pub const LAST: u32 = 15;
}

fn get(function: &Function, attribute: u32) -> Result<i32, Error> {
    use warploom_container::SectionKind;
    let code = function.code();
    let module = function.program.module();
    let constants = || {
        let sizes = module
            .sections
            .iter()
            .filter(|section| matches!(section.kind, SectionKind::Constant { bank: 3, .. }));
        sizes.map(|section| section.size).sum::<u64>()
    };
    let version = i32::try_from(driver::get().profile.sm).unwrap_or(0);
    let number = |n: u64| i32::try_from(n).unwrap_or(i32::MAX);
    Ok(match attribute {
        attribute::MAX_THREADS => number(function.max_threads().into()),
        attribute::SHARED => number(code.shared_bytes),
        attribute::CONSTANTS => number(constants()),
        attribute::LOCAL => number(local(function)),
        attribute::REGISTERS => number(function.registers().into()),
        attribute::PTX_VERSION => version_of(function).unwrap_or(version),
        attribute::BINARY_VERSION => version,
        attribute::CACHE_MODE => 0,
        attribute::MAX_DYNAMIC => number(function.dynamic_limit().into()),
        attribute::CARVEOUT => function.carveout.load(Relaxed),
        attribute::CLUSTER_MUST_BE_SET..=attribute::LAST => 0,
        _ => return Err(super::INVALID),
    })
}

/// Returns the bytes of local memory of a lane. For PTX, only the kernel's variables count; a
/// compiler would add its spills.
fn local(function: &Function) -> u64 {
    let code = function.code();
    let of_ptx = function.program.module().ptx.as_ref().and_then(|ptx| {
        let kernel = ptx.functions.get(&function.id)?;
        Some(ptx.module.local_bytes(*kernel))
    });
    of_ptx.unwrap_or_else(|| code.stack_bytes.unwrap_or(0).max(code.frame_bytes).into())
}

/// Returns the compute capability that a module's code or PTX targets.
fn version_of(function: &Function) -> Option<i32> {
    use warploom_container::Isa;
    match function.program.module().isa {
        Isa::Ptx { sm } | Isa::Maxwell { sm } | Isa::Turing { sm } => i32::try_from(sm).ok(),
        _ => None,
    }
}

fn set(function: &Function, attribute: u32, value: i32) -> Answer {
    match attribute {
        attribute::MAX_DYNAMIC => {
            let value = u32::try_from(value).map_err(|_| super::INVALID)?;
            let most = driver::get().profile.shared_opt_in();
            require(u64::from(value) + function.code().shared_bytes <= u64::from(most))?;
            function.max_dynamic.store(value, Relaxed);
            Ok(())
        }
        attribute::CARVEOUT => {
            require((-1..=100).contains(&value))?;
            function.carveout.store(value, Relaxed);
            Ok(())
        }
        // Clusters always have one block.
        attribute::CLUSTER_MUST_BE_SET..=attribute::LAST => require((0..=1).contains(&value)),
        _ => Err(super::INVALID),
    }
}

/// Names that calls have returned. Programs keep the pointers, so the names last.
static NAMES: LazyLock<Mutex<FxHashMap<String, Arc<CString>>>> = LazyLock::new(Mutex::default);

fn name(out: Ptr<u64>, function: u64) -> Answer {
    out.required()?;
    // NVIDIA's driver distinguishes a null function from an invalid one here.
    require(function != 0)?;
    let function = FUNCTIONS.get(function)?;
    let name = &function.code().name;
    let mut names = NAMES.lock().unwrap_or_else(PoisonError::into_inner);
    let make = || Arc::new(CString::new(name.as_str()).unwrap_or_default());
    out.set(boundary::address_of(
        names.entry(name.clone()).or_insert_with(make).as_bytes_with_nul(),
    ))
}

fn param(function: u64, index: usize, offset: Ptr<usize>, size: Ptr<usize>) -> Answer {
    offset.required()?;
    let function = FUNCTIONS.get(function)?;
    let param = function.code().params.get(index).ok_or(super::INVALID)?;
    offset.set(param.offset as usize)?;
    size.set_if(param.size as usize);
    Ok(())
}

fn count_params(function: u64, count: Ptr<usize>) -> Answer {
    count.set(FUNCTIONS.get(function)?.code().params.len())
}

fn max_blocks(out: Ptr<i32>, function: u64, lanes: i32, dynamic: usize) -> Answer {
    out.required()?;
    require(lanes > 0)?;
    let function = FUNCTIONS.get(function)?;
    out.set(occupancy::blocks(&function, lanes as u32, dynamic as u64) as i32)
}

/// Writes the block size that keeps the most threads on an SM, and the number of blocks that all
/// SMs hold at that size.
fn best_block(
    grid: Ptr<i32>,
    block: Ptr<i32>,
    function: u64,
    size: SharedSize,
    dynamic: usize,
    limit: i32,
) -> Answer {
    grid.required()?;
    block.required()?;
    let function = FUNCTIONS.get(function)?;
    let most = function.max_threads().min(if limit > 0 { limit as u32 } else { MAX_BLOCK });
    let mut best = (0, 0, 0);
    let mut lanes = most.next_multiple_of(WARP);
    while lanes > 0 {
        let size_of_block = lanes.min(most);
        let dynamic = boundary::ask_shared_size(size, size_of_block as i32).unwrap_or(dynamic);
        let blocks = occupancy::blocks(&function, size_of_block, dynamic as u64);
        if blocks * size_of_block > best.0 {
            best = (blocks * size_of_block, size_of_block, blocks);
        }
        lanes -= WARP;
    }
    block.set(best.1 as i32)?;
    grid.set((best.2 * Profile::multiprocessors()) as i32)
}

api! {
    fn cuFuncGetAttribute(value: Ptr<i32>, attribute: u32, function: u64) {
        value.required()?;
        value.set(get(&*FUNCTIONS.get(function)?, attribute)?)
    }

    fn cuFuncSetAttribute(function: u64, attribute: u32, value: i32) {
        set(&*FUNCTIONS.get(function)?, attribute, value)
    }

    fn cuKernelGetAttribute(value: Ptr<i32>, attribute: u32, kernel: u64, device: i32) {
        value.required()?;
        check(device)?;
        value.set(get(&*FUNCTIONS.get(kernel)?, attribute)?)
    }

    fn cuKernelSetAttribute(attribute: u32, value: i32, kernel: u64, device: i32) {
        check(device)?;
        set(&*FUNCTIONS.get(kernel)?, attribute, value)
    }

    fn cuFuncSetCacheConfig(function: u64, config: u32) {
        require(config <= 3)?;
        FUNCTIONS.get(function)?.cache.store(config, Relaxed);
        Ok(())
    }

    fn cuKernelSetCacheConfig(kernel: u64, config: u32, device: i32) {
        require(config <= 3)?;
        check(device)?;
        FUNCTIONS.get(kernel)?.cache.store(config, Relaxed);
        Ok(())
    }

    fn cuFuncSetSharedMemConfig(function: u64, config: u32) {
        require(config <= 2)?;
        FUNCTIONS.get(function).map(|_| ())
    }

    fn cuFuncGetName(out: Ptr<u64>, function: u64) {
        name(out, function)
    }

    fn cuKernelGetName(out: Ptr<u64>, kernel: u64) {
        name(out, kernel)
    }

    fn cuFuncGetParamInfo(function: u64, index: usize, offset: Ptr<usize>, size: Ptr<usize>) {
        param(function, index, offset, size)
    }

    fn cuKernelGetParamInfo(kernel: u64, index: usize, offset: Ptr<usize>, size: Ptr<usize>) {
        context::current()?;
        param(kernel, index, offset, size)
    }

    fn cuFuncGetParamCount(function: u64, count: Ptr<usize>) {
        count_params(function, count)
    }

    fn cuKernelGetParamCount(kernel: u64, count: Ptr<usize>) {
        count_params(kernel, count)
    }

    fn cuFuncIsLoaded(state: Ptr<u32>, function: u64) {
        FUNCTIONS.get(function)?;
        state.set(1)
    }

    fn cuFuncLoad(function: u64) {
        FUNCTIONS.get(function).map(|_| ())
    }

    fn cuOccupancyMaxActiveBlocksPerMultiprocessor(count: Ptr<i32>, function: u64, lanes: i32, dynamic: usize) {
        max_blocks(count, function, lanes, dynamic)
    }

    fn cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(count: Ptr<i32>, function: u64, lanes: i32, dynamic: usize, flags: u32) {
        require(flags <= 1)?;
        max_blocks(count, function, lanes, dynamic)
    }

    fn cuOccupancyMaxPotentialBlockSize(grid: Ptr<i32>, block: Ptr<i32>, function: u64, size: SharedSize, dynamic: usize, limit: i32) {
        best_block(grid, block, function, size, dynamic, limit)
    }

    fn cuOccupancyMaxPotentialBlockSizeWithFlags(grid: Ptr<i32>, block: Ptr<i32>, function: u64, size: SharedSize, dynamic: usize, limit: i32, flags: u32) {
        require(flags <= 1)?;
        best_block(grid, block, function, size, dynamic, limit)
    }

    fn cuOccupancyAvailableDynamicSMemPerBlock(bytes: Ptr<usize>, function: u64, blocks: i32, lanes: i32) {
        bytes.required()?;
        require(blocks > 0 && lanes > 0)?;
        let (function, profile) = (FUNCTIONS.get(function)?, driver::get().profile);
        let each = (profile.shared_per_sm() / blocks as u32) & !(profile.shared_unit() - 1);
        let each = each.saturating_sub(profile.shared_reserved()).min(profile.shared_opt_in());
        bytes.set(u64::from(each).saturating_sub(function.code().shared_bytes) as usize)
    }

    fn cuOccupancyMaxPotentialClusterSize(size: Ptr<i32>, function: u64, config: Ptr<u8>) {
        config.required()?;
        FUNCTIONS.get(function)?;
        size.set(1)
    }

    fn cuOccupancyMaxActiveClusters(count: Ptr<i32>, function: u64, config: Ptr<super::launch::Config>) {
        count.required()?;
        let (function, config) = (FUNCTIONS.get(function)?, config.get()?);
        let blocks = occupancy::blocks(&function, config.lanes(), config.shared.into());
        count.set((blocks * Profile::multiprocessors()) as i32)
    }
}
