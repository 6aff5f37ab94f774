//! The driver of NVIDIA's guests: images, and memory that launches need.

pub(super) mod images;
pub(super) mod queries;

use images::Images;
use warploom_container::Code;
use warploom_guest::images::driver;
use warploom_guest::service;
use warploom_ir::Service;
use warploom_runtime::launch::{ConstBank, LaunchConfig};
use warploom_runtime::memory::Memory;

use super::{Environment, Launching};
use crate::program::ReadOnly;
use crate::{Error, Kernel};

/// Stack for calls whose depth the compiler could not know, in bytes per lane: the driver's
/// default.
const CALL_STACK_BYTES: u32 = 1024;
/// Alignment of the stack pointer at the start.
pub const STACK_ALIGN: u32 = 16;

/// Returns the shared memory that a block with `bytes` bytes takes (`%total_smem_size`): a multiple
/// of the GPU's unit.
pub(super) fn total_shared(sm: u32, bytes: u32) -> u32 {
    let unit = if sm < 80 { 256 } else { 128 };
    bytes.checked_next_multiple_of(unit).unwrap_or(u32::MAX)
}

/// Allocates memory in which the blocks of a cooperative grid meet. It has two words: its size in
/// bytes, and the barrier of `grid.sync()`, which is 0 when the launch begins. Source:
/// `cooperative_groups/details/driver_abi.h` of CUDA 12.
pub(super) fn grid_workspace(memory: &Memory) -> Result<u64, Error> {
    const WORDS: [u32; 2] = [8, 0];
    let address = memory.alloc(size_of_val(&WORDS) as u64, 8)?;
    memory.write(address, &WORDS[0].to_le_bytes())?;
    Ok(address)
}

/// Returns the stand-ins of undefined functions that the driver provides, with their addresses.
pub(super) fn services(code: &Code) -> Vec<(u64, Service)> {
    let service = |(at, name): &(u64, String)| Some((*at, service::by_name(name)?));
    code.undefined.iter().filter_map(service).collect()
}

/// Puts the constant banks below `count`: bank 0 with this content, the others as the compiler made
/// them.
pub(super) fn put_banks(
    config: &mut LaunchConfig,
    kernel: &Kernel<'_>,
    first: &[u8],
    count: u8,
) -> Result<(), Error> {
    config.constants[0] = Some(ConstBank::new(first)?);
    for bank in 1..count {
        let content = kernel.program.bank(kernel.id, bank)?;
        if !content.is_empty() {
            config.constants[usize::from(bank)] = Some(ConstBank::new(&content)?);
        }
    }
    Ok(())
}

/// Returns the local memory of a lane: the bytes that the compiler counted, and a stack if there is
/// anything to call.
pub(super) fn stack_bytes(launch: &Launching<'_>) -> u32 {
    let (kernel, function) = (launch.kernel, launch.kernel.function());
    let counted = function.stack_bytes.unwrap_or(0).max(function.frame_bytes);
    let (module, linked) = (kernel.program.module(), kernel.program.linked());
    let callable =
        |f: &warploom_container::Function| !f.kernel && linked.shares_code(kernel.id, f.section);
    let calls = function.stack_bytes.is_none() || module.functions.iter().any(callable);
    let stack = launch.options.stack_bytes.unwrap_or(if calls { CALL_STACK_BYTES } else { 0 });
    counted.saturating_add(stack).checked_next_multiple_of(STACK_ALIGN).unwrap_or(u32::MAX)
}

/// Returns the environment of a launch with these images. `held` and `lent`: memory of the launch.
pub(super) fn environment(
    mut config: LaunchConfig,
    held: Vec<u64>,
    mut lent: Vec<ReadOnly>,
    images: Option<Images>,
) -> Result<Environment, Error> {
    let Some(images) = images else {
        return Ok(Environment { held, lent, ..Environment::new(config) });
    };
    config.constants[usize::from(driver::BANK)] = Some(ConstBank::new(&images.bank)?);
    lent.push(images.records);
    Ok(Environment { images: images.known, held, lent, ..Environment::new(config) })
}
