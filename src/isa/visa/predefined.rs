//! Variables and surfaces that exist without a declaration. Facts, `visa.md` 2.

use super::module::SurfaceId;
use super::types::{Ty, Version};

/// A predefined variable.
#[derive(Clone, Copy, Debug)]
pub struct Predefined {
    pub name: &'static str,
    pub ty: Ty,
    /// The number of elements in a platform with registers of 32 bytes.
    pub elements: u32,
}

const fn one(name: &'static str, ty: Ty, elements: u32) -> Predefined {
    Predefined { name, ty, elements }
}

/// The predefined variables by number. Other numbers below [`FIRST_VARIABLE`] do not exist.
pub const VARIABLES: [Predefined; 22] = [
    one("%null", Ty::Ud, 1),
    one("%thread_x", Ty::Uw, 1),
    one("%thread_y", Ty::Uw, 1),
    one("%group_id_x", Ty::Ud, 1),
    one("%group_id_y", Ty::Ud, 1),
    one("%group_id_z", Ty::Ud, 1),
    one("%tsc", Ty::Ud, 5),
    one("%r0", Ty::Ud, 8),
    one("%arg", Ty::Ud, 256),
    one("%retval", Ty::Ud, 96),
    one("%sp", Ty::Uq, 1),
    one("%fp", Ty::Uq, 1),
    one("%hw_id", Ty::Ud, 1),
    one("%sr0", Ty::Ud, 4),
    one("%cr0", Ty::Ud, 1),
    one("%ce0", Ty::Ud, 1),
    one("%dbg0", Ty::Ud, 2),
    one("%color", Ty::Uw, 1),
    one("%impl_arg_buf_ptr", Ty::Uq, 1),
    one("%local_id_buf_ptr", Ty::Uq, 1),
    one("%msg0", Ty::Ud, 3),
    one("%scratchloc", Ty::Uq, 1),
];

/// The number of variables that compilers before version 4.1 know.
pub const OLD_VARIABLES: usize = 20;

/// Returns how many variables a version's compilers know. The text lists them in a comment.
pub fn known(version: Version) -> usize {
    match version {
        version if version.is_text_only() => VARIABLES.len(),
        version if version >= Version::new(4, 1) => OLD_VARIABLES + 1,
        _ => OLD_VARIABLES,
    }
}

/// Shared local memory. Then the surface whose handle is in the variable, and a thread's own
/// memory.
pub const SLM: SurfaceId = SurfaceId(0);
pub const BINDLESS_SURFACE: SurfaceId = SurfaceId(4);
pub const SCRATCH: SurfaceId = SurfaceId(5);

/// The predefined surfaces by number.
pub const SURFACES: [&str; 6] = ["%slm", "T1", "T2", "TSS", "%bss", "%scratch"];

/// The number of the first variable that a routine declares.
pub const FIRST_VARIABLE: u32 = 32;
/// The first predicate and surface that a routine declares. Samplers, addresses and labels begin at
/// 0.
pub const FIRST_PREDICATE: u16 = 1;
pub const FIRST_SURFACE: u8 = SURFACES.len() as u8;
/// The number of the bindless sampler.
pub const BINDLESS_SAMPLER: u8 = 31;
