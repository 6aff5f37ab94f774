//! `amd_kernel_code_t`: the structure before a kernel's code in code objects of versions 1 and 2,
//! instead of a descriptor.
//!
//! Source: AMDGPUUsage of LLVM 4 to 14, "Kernel Dispatch", "amd_kernel_code_t"; ROCr's
//! `amd_hsa_kernel_code.h`.

use super::KernelDescriptor;

/// The size in the file.
pub(super) const BYTES: usize = 256;

/// `code_properties`: SGPRs that are set up, as in a descriptor, with three more.
///
/// GFX9 ignores an element size of scratch memory other than four bytes (`PRIVATE_ELEMENT_SIZE`).
const SGPRS: u32 = 0x3ff;
const IS_PTR64: u32 = 19;
const IS_DYNAMIC_CALLSTACK: u32 = 20;
/// The `amd_machine_kind` of AMD's GPUs.
const MACHINE_KIND: u16 = 1;
const WAVE_LANES_LOG2: u8 = 6;

/// Converts the fields to a descriptor's. The entry offset also counts from the structure.
///
/// # Errors
/// Returns the wrong item and the expected item.
pub(super) fn decode(bytes: &[u8; BYTES]) -> Result<KernelDescriptor, (String, &'static str)> {
    let word =
        |at: usize| u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]]);
    let half = |at: usize| u16::from_le_bytes([bytes[at], bytes[at + 1]]);
    let long = |at: usize| u64::from(word(at)) | u64::from(word(at + 4)) << 32;
    if word(0) != 1 || half(8) != MACHINE_KIND {
        return Err((
            format!("version {}.{} for machine kind {}", word(0), word(4), half(8)),
            "version 1 for kind 1",
        ));
    }
    if bytes[103] != WAVE_LANES_LOG2 {
        return Err((format!("waves of 2^{} lanes", bytes[103]), "2^6, as GFX9 has"));
    }
    let properties = word(56);
    let flag = |at: u32| properties >> at & 1;
    if flag(IS_PTR64) == 0 {
        return Err(("addresses of 32 bits".into(), "64"));
    }
    let kernarg =
        u32::try_from(long(72)).ok().filter(|&bytes| bytes <= super::metadata::MAX_KERNARG_BYTES);
    Ok(KernelDescriptor {
        group_segment_bytes: word(64),
        private_segment_bytes: word(60),
        kernarg_bytes: kernarg.ok_or_else(|| {
            (format!("a kernarg segment of {} bytes", long(72)), "at most 64 KiB")
        })?,
        entry_offset: long(16) as i64,
        rsrc1: word(48),
        rsrc2: word(52),
        rsrc3: 0,
        properties: (properties & SGPRS | flag(IS_DYNAMIC_CALLSTACK) << 11) as u16,
        kernarg_preload: 0,
    })
}
