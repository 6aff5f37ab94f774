//! The number of blocks that an SM would hold.
//!
//! Source: CUDA C++ Best Practices Guide, "Calculating Occupancy".

use crate::device::WARP;
use crate::driver;
use crate::module::Function;

/// The allocation unit of registers for a warp.
const REGISTER_UNIT: u32 = 256;

/// Returns the number of blocks that an SM holds at once, for `lanes` lanes and `dynamic` bytes of
/// dynamic shared memory.
pub fn blocks(function: &Function, lanes: u32, dynamic: u64) -> u32 {
    let profile = driver::get().profile;
    if lanes == 0 || lanes > function.max_threads() {
        return 0;
    }
    let warps = lanes.div_ceil(WARP);
    let by_threads = profile.threads_per_sm() / (warps * WARP);
    let registers = (function.registers() * WARP).next_multiple_of(REGISTER_UNIT) * warps;
    let by_registers = profile.registers_per_sm() / registers.max(1);
    let unit = u64::from(profile.shared_unit());
    let shared = (function.code().shared_bytes + dynamic + u64::from(profile.shared_reserved()))
        .next_multiple_of(unit);
    let by_shared = match shared {
        0 => u32::MAX,
        shared => u32::try_from(u64::from(profile.shared_per_sm()) / shared).unwrap_or(u32::MAX),
    };
    by_threads.min(by_registers).min(by_shared).min(profile.blocks_per_sm())
}
