//! AMD GFX9 under HSA: kernarg segment, dispatch packet, scratch memory.

mod dispatch;

use warploom_runtime::window::Windows;

use super::{Environment, Guest, Launching, Lifting, Placed};
use crate::container::hsaco::{HsaKernel, SystemSgpr};
use crate::container::{Code, Function as Kernel};
use crate::exec::{Error, FidelityClass};
use crate::ir::Function;
use crate::isa::LiftError;
use crate::isa::gfx9::lift::{self, Initial, InitialScalar, InitialVector, Mode, apertures};
use crate::isa::gfx9::{Instruction, check, lift::WARP_LANES};
use dispatch::Dispatch;

pub(super) struct Gfx9;

/// Constant bank 0, which the first block of a kernel reads: a word for each user SGPR, then what waves derive theirs from.
mod bank {
    pub const USER_SGPRS: u32 = 0;
    pub const MAX_USER_SGPRS: u32 = 32;
    /// Bytes of scratch memory of a wave.
    pub const WAVE_SCRATCH: u32 = USER_SGPRS + 4 * MAX_USER_SGPRS;
    /// The SGPR after the workgroup's ids.
    pub const WORKGROUP_INFO: u32 = WAVE_SCRATCH + 4;
    pub const BYTES: u32 = WORKGROUP_INFO + 4;
}

impl Guest for Gfx9 {
    fn windows(&self) -> Windows {
        Windows { shared: apertures::SHARED, local: apertures::PRIVATE }
    }

    fn lift(&self, kernel: &Lifting<'_>) -> Result<Function, LiftError> {
        lift::lift_kernel(&to_lift(kernel))
    }

    fn check_waits(&self, kernel: &Lifting<'_>) -> Option<Result<Vec<String>, LiftError>> {
        let words = |hazards: Vec<check::Hazard>| hazards.iter().map(ToString::to_string).collect();
        Some(check::waitcnt(&to_lift(kernel)).map(words))
    }

    fn instruction(&self, code: &Code, pc: u64) -> Option<Placed> {
        let at = usize::try_from(pc.checked_sub(code.base)?).ok()?;
        let rest = code.bytes.get(at..).filter(|rest| rest.len() >= 4 && pc.is_multiple_of(4))?;
        Some(match Instruction::decode(rest) {
            Some(instruction) => Placed {
                pc,
                next: pc + u64::from(instruction.bytes()),
                text: instruction.text(pc),
                mnemonic: instruction.mnemonic(),
                class: instruction.fidelity().into(),
            },
            None => Placed {
                pc,
                next: pc + 4,
                text: format!("illegal word {:#010x}", u32::from_le_bytes([rest[0], rest[1], rest[2], rest[3]])),
                mnemonic: "illegal".into(),
                class: FidelityClass::Illegal,
            },
        })
    }

    fn provides(&self, _: &str) -> bool {
        false
    }

    fn environment(&self, launch: &Launching<'_>) -> Result<Environment, Error> {
        let function = launch.kernel.function();
        let hsa = descriptor(function).ok_or_else(|| Error::NoDescriptor { kernel: function.name.clone() })?;
        launch.check_block()?;
        Dispatch::new(launch, hsa)?.environment()
    }
}

fn to_lift<'a>(kernel: &Lifting<'a>) -> lift::Kernel<'a> {
    let (function, code) = (kernel.linked.module().function(kernel.kernel), kernel.code);
    let hsa = descriptor(function);
    lift::Kernel {
        name: &function.name,
        code: &code.bytes,
        base: code.base,
        entry: code.entry,
        indirect_targets: &code.targets,
        discovered: kernel.discovered,
        vectors: hsa.map_or(256, |hsa| hsa.descriptor.vgprs()),
        mode: Mode::from_bits(hsa.map_or(0, mode_bits)),
        initial: hsa.map(initial).unwrap_or_default(),
        plain: kernel.plain,
    }
}

fn descriptor(function: &Kernel) -> Option<&HsaKernel> {
    function.hsa.as_deref()
}

/// The MODE register at the start.
fn mode_bits(hsa: &HsaKernel) -> u32 {
    // Rounding and denormals lie in bits 12 to 19, clamp and IEEE in bits 21 and 23.
    let rsrc1 = hsa.descriptor.rsrc1;
    rsrc1 >> 12 & 0xff | (rsrc1 >> 21 & 1) << 8 | (rsrc1 >> 23 & 1) << 9
}

/// Registers of a wave when it starts.
fn initial(hsa: &HsaKernel) -> Initial {
    let mut initial = Initial::default();
    let descriptor = &hsa.descriptor;
    for (sgpr, first) in descriptor.user_sgprs() {
        for number in first..first + sgpr.registers() {
            initial.scalars.push((number as u8, InitialScalar::Constant(bank::USER_SGPRS + 4 * number)));
        }
    }
    for (sgpr, number) in descriptor.system_sgprs() {
        let value = match sgpr {
            SystemSgpr::WorkgroupIdX => InitialScalar::Workgroup(0),
            SystemSgpr::WorkgroupIdY => InitialScalar::Workgroup(1),
            SystemSgpr::WorkgroupIdZ => InitialScalar::Workgroup(2),
            SystemSgpr::WorkgroupInfo => InitialScalar::Constant(bank::WORKGROUP_INFO),
            SystemSgpr::ScratchWaveOffset => InitialScalar::ScratchOffset(bank::WAVE_SCRATCH),
        };
        initial.scalars.push((number as u8, value));
    }
    let axes = descriptor.workitem_ids().min(3) as u8;
    initial.vectors.extend((0..axes).map(|axis| (axis, InitialVector::WorkItem(axis))));
    initial
}
