//! Launches that a driver refuses.
//!
//! Source: facts, `ptx.md` 1.3, 2.15, 4. The shared memory of a block is in NVIDIA's tables of
//! compute capabilities.

use warploom_ptx::module as ptx;

use super::super::Launching;
use crate::Error;

const KIB: u64 = 1 << 10;
/// The most static shared memory of a kernel, on all targets.
const STATIC_SHARED: u64 = 48 * KIB;
const LANES: u64 = 1024;
/// The most lanes along each axis of a block.
const AXES: [u32; 3] = [1024, 1024, 64];

/// Returns the most shared memory of a block in bytes, static and dynamic.
fn shared_limit(sm: u32) -> u64 {
    let kib = match sm {
        // Targets below sm_50 run on any later chip, of which the first have this much.
        ..70 => 48,
        70..75 => 96,
        75..80 => 64,
        86 | 89 => 99,
        80..90 => 163,
        90..120 => 227,
        _ => 99,
    };
    kib * KIB
}

/// Checks block, cluster and shared memory of a launch.
pub(super) fn check(
    launch: &Launching<'_>,
    module: &ptx::Module,
    function: &ptx::Function,
) -> Result<(), Error> {
    let (block, target) = (launch.options.block, module.target);
    let refused = |given: String, limit: String| {
        let suffix = target.suffix.map_or(String::new(), String::from);
        let target = format!("sm_{}{suffix}", target.sm);
        Err(Error::TargetLimit { kernel: function.name.clone(), given, target, limit })
    };
    let lanes = block.iter().fold(1_u64, |all, &axis| all.saturating_mul(axis.into()));
    if lanes > LANES {
        return refused(format!("{lanes} lanes of a block of {block:?}"), format!("{LANES}"));
    }
    for ((axis, limit), name) in block.into_iter().zip(AXES).zip(["x", "y", "z"]) {
        if axis > limit {
            return refused(format!("{axis} lanes along {name}"), format!("{limit}"));
        }
    }
    if let Some(cluster) = function.required_cluster.filter(|&cluster| cluster != [1; 3]) {
        return Err(Error::Cluster { kernel: function.name.clone(), cluster });
    }
    let (static_bytes, dynamic) =
        (launch.kernel.function().shared_bytes, launch.options.shared_bytes);
    if static_bytes > STATIC_SHARED {
        return refused(
            format!("{static_bytes} bytes of static shared memory"),
            format!("{STATIC_SHARED}"),
        );
    }
    let (total, limit) = (static_bytes.saturating_add(dynamic.into()), shared_limit(target.sm));
    if total > limit {
        let given =
            format!("{total} bytes of shared memory ({static_bytes} static, {dynamic} dynamic)");
        return refused(given, format!("{limit}"));
    }
    Ok(())
}
