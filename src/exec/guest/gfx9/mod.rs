//! AMD GFX9: kernels under HSA (`dispatch`: kernarg segment, dispatch packet, scratch memory),
//! plain instruction streams (`raw`), and images (`image`).

mod dispatch;
mod image;
mod raw;

use dispatch::Dispatch;
use warploom_container::Code;
use warploom_container::hsaco::{FloatMode, HsaKernel, SystemSgpr, UserSgpr, ValueKind};
use warploom_gfx9::check;
use warploom_gfx9::lift::{
    self, ConstantMemory, Initial, InitialScalar, InitialVector, KnownWord, Mode, OBJECT_BYTES,
    Object, WARP_LANES, apertures,
};
use warploom_guest::LiftError;
use warploom_guest::chip::Chip;
use warploom_ir::Function;
use warploom_runtime::launch::LaunchConfig;
use warploom_runtime::memory::Memory;
use warploom_runtime::warp::CONST_BANK_BYTES;
use warploom_runtime::window::Windows;

use super::{Environment, Guest, Image, ImageDriver, Launching, Lifting, Placed, Purpose};
use crate::Error;
use crate::images::{self as given, ImageDescription, Sampler};

/// The guest for code of a chip.
pub(super) struct Gfx9(Chip);

/// Returns the guest of a GPU.
pub(super) fn of(chip: Chip) -> &'static dyn Guest {
    match chip {
        Chip::Any => &Gfx9(Chip::Any),
        Chip::Gfx900 => &Gfx9(Chip::Gfx900),
        Chip::Gfx904 => &Gfx9(Chip::Gfx904),
        Chip::Gfx906 => &Gfx9(Chip::Gfx906),
        Chip::Generic => &Gfx9(Chip::Generic),
    }
}

/// Constant bank 0, which the first block of a kernel reads: a word for each user SGPR, then the
/// words from which waves derive their registers.
mod bank {
    pub const USER_SGPRS: u32 = 0;
    pub const MAX_USER_SGPRS: u32 = 32;
    /// Bytes of scratch memory of a wave.
    pub const WAVE_SCRATCH: u32 = USER_SGPRS + 4 * MAX_USER_SGPRS;
    /// The SGPR after the workgroup's ids.
    pub const WORKGROUP_INFO: u32 = WAVE_SCRATCH + 4;
    /// Address of the global data share.
    pub const DATA_SHARE: u32 = (WORKGROUP_INFO + 4).next_multiple_of(8);
    /// Bytes that all launches have: a multiple of 8.
    pub const BYTES: u32 = DATA_SHARE + 8;
    /// Copies of memory that stays unchanged: the dispatch packet, then as much of the kernarg
    /// segment as there is room for.
    pub const PACKET: u32 = BYTES;
    pub const KERNARG: u32 = PACKET + super::dispatch::PACKET_BYTES as u32;
    pub const MAX_KERNARG: u32 = (1 << 16) - KERNARG;
    /// Parameters of a plain instruction stream, which has no user SGPRs in the words above.
    pub const PARAMS: u32 = BYTES;

    /// Returns the part of a launch's bank that all launches have. `wave_scratch`: bytes of scratch
    /// memory of a wave; `data_share`: address of the global data share.
    pub fn start(config: &super::LaunchConfig, wave_scratch: u64, data_share: u64) -> Vec<u8> {
        let lanes: u32 = config.block.iter().fold(1, |lanes, &axis| lanes.saturating_mul(axis));
        let waves = lanes.div_ceil(super::WARP_LANES.into());
        let mut content = vec![0; BYTES as usize];
        let mut put =
            |at: u32, word: u32| content[at as usize..][..4].copy_from_slice(&word.to_le_bytes());
        put(WAVE_SCRATCH, wave_scratch as u32);
        put(WORKGROUP_INFO, waves & 0x3f);
        put(DATA_SHARE, data_share as u32);
        put(DATA_SHARE + 4, (data_share >> 32) as u32);
        content
    }
}

/// The scratch of a lane is a multiple of this, since the hardware allots scratch to waves in units
/// of 1,024 bytes.
const SCRATCH_ALIGN: u32 = 16;

/// Returns the scratch bytes of a wave whose lanes have `lane` bytes each.
fn wave_scratch(lane: u32) -> u64 {
    u64::from(lane).next_multiple_of(SCRATCH_ALIGN.into()) * u64::from(WARP_LANES)
}

impl Guest for Gfx9 {
    fn lifts_from_entry(&self) -> bool {
        true
    }

    fn windows(&self) -> Windows {
        Windows { shared: apertures::SHARED, local: apertures::PRIVATE }
    }

    fn lift(&self, kernel: &Lifting<'_>) -> Result<Function, LiftError> {
        lift::lift_kernel(&self.to_lift(kernel))
    }

    fn check_waits(&self, kernel: &Lifting<'_>) -> Option<Result<Vec<String>, LiftError>> {
        Some(check::report(&self.to_lift(kernel)))
    }

    fn instruction(&self, code: &Code, pc: u64) -> Option<Placed> {
        let at = usize::try_from(pc.checked_sub(code.base)?).ok()?;
        let rest = code.bytes.get(at..).filter(|rest| rest.len() >= 4 && pc.is_multiple_of(4))?;
        Some(match warploom_gfx9::decode(self.0, rest) {
            Some(instruction) => Placed {
                pc,
                next: pc + u64::from(instruction.bytes()),
                text: self.0.named(instruction.text(pc)),
                mnemonic: self.0.named(instruction.mnemonic()),
                class: instruction.fidelity().into(),
            },
            None => {
                let word = u32::from_le_bytes([rest[0], rest[1], rest[2], rest[3]]);
                Placed::illegal(pc, pc + 4, word, 8)
            }
        })
    }

    fn provides(&self, _: &str) -> bool {
        false
    }

    fn environment(&self, launch: &Launching<'_>) -> Result<Environment, Error> {
        let function = launch.kernel.function();
        launch.check_block()?;
        match (&function.hsa, &function.raw) {
            (Some(hsa), _) => Dispatch::new(launch, hsa)?.environment(),
            (None, Some(raw)) => raw::environment(launch, raw),
            (None, None) => Err(Error::NoDescriptor { kernel: function.name.clone() }),
        }
    }

    fn images(&self) -> &dyn ImageDriver {
        self
    }
}

impl ImageDriver for Gfx9 {
    fn image(
        &self,
        memory: &Memory,
        name: &str,
        description: &ImageDescription,
    ) -> Result<Image, Error> {
        image::image(memory, name, description)
    }

    fn has_descriptors(&self) -> bool {
        true
    }

    fn sampler_descriptor(&self, texture: &given::Sampling) -> Result<[u32; 4], String> {
        image::texture_sampler(texture)
    }

    fn sampler(&self, sampler: Sampler) -> Option<Vec<u32>> {
        Some(image::sampler(sampler))
    }
}

impl Gfx9 {
    fn to_lift<'a>(&self, kernel: &Lifting<'a>) -> lift::Kernel<'a> {
        let (function, code) = (kernel.linked.module().function(kernel.kernel), kernel.code);
        let (vectors, mode, mut initial) = match (&function.hsa, &function.raw) {
            (Some(hsa), _) => (hsa.descriptor.vgprs(), hsa.descriptor.float_mode(), initial(hsa)),
            (None, Some(raw)) => (raw.vgprs, raw.mode, raw::initial(raw, function)),
            (None, None) => (256, FloatMode::default(), Initial::default()),
        };
        initial.data_share = Some(bank::DATA_SHARE);
        for (arg, _, copy) in function.hsa.as_deref().into_iter().flat_map(objects) {
            if kernel.images.iter().any(|&(place, _)| place == copy) {
                initial.constants.push(ConstantMemory {
                    pointer: bank::KERNARG + arg,
                    offset: copy,
                    bytes: OBJECT_BYTES,
                });
            }
        }
        lift::Kernel {
            name: &function.name,
            code: &code.bytes,
            base: code.base,
            entry: code.entry,
            indirect_targets: &code.targets,
            discovered: kernel.discovered,
            vectors,
            mode: Mode::from_bits(mode_bits(mode)),
            initial,
            objects: kernel.images,
            chip: self.0,
            plain: kernel.purpose != Purpose::Launches,
            observed: kernel.purpose == Purpose::Checks,
        }
    }
}

/// Returns the arguments of a kernel that point to descriptors: their offsets in the kernarg
/// segment, the kinds of descriptors, and the offsets of copies in the bank, behind the copy of the
/// segment.
fn objects(hsa: &HsaKernel) -> impl Iterator<Item = (u32, Object, u32)> {
    let start = (bank::KERNARG + hsa.kernarg_bytes.min(bank::MAX_KERNARG)).next_multiple_of(8);
    let places = (start..=CONST_BANK_BYTES as u32 - OBJECT_BYTES).step_by(OBJECT_BYTES as usize);
    let objects = hsa.args.iter().filter_map(|arg| match arg.kind {
        ValueKind::Image => Some((arg.offset, Object::Image)),
        ValueKind::Sampler => Some((arg.offset, Object::Sampler)),
        _ => None,
    });
    objects.zip(places).map(|((offset, object), place)| (offset, object, place))
}

/// Returns the MODE register at the start.
fn mode_bits(mode: FloatMode) -> u32 {
    let fields = [mode.round_32, mode.round_64_16, mode.denorm_32, mode.denorm_64_16];
    let fields = fields.iter().rev().fold(0, |bits, &field| bits << 2 | u32::from(field & 3));
    fields | u32::from(mode.dx10_clamp) << 8 | u32::from(mode.ieee) << 9
}

/// Returns the value that the hardware puts into an SGPR behind the user SGPRs.
fn system_sgpr(sgpr: SystemSgpr) -> InitialScalar {
    match sgpr {
        SystemSgpr::WorkgroupIdX => InitialScalar::Workgroup(0),
        SystemSgpr::WorkgroupIdY => InitialScalar::Workgroup(1),
        SystemSgpr::WorkgroupIdZ => InitialScalar::Workgroup(2),
        SystemSgpr::WorkgroupInfo => InitialScalar::WorkgroupInfo(bank::WORKGROUP_INFO),
        SystemSgpr::ScratchWaveOffset => InitialScalar::ScratchOffset(bank::WAVE_SCRATCH),
    }
}

/// Returns the registers of a wave when it starts, under HSA.
fn initial(hsa: &HsaKernel) -> Initial {
    let mut initial = Initial::default();
    let descriptor = &hsa.descriptor;
    for (sgpr, first) in descriptor.user_sgprs() {
        for number in first..first + sgpr.registers() {
            initial
                .scalars
                .push((number as u8, InitialScalar::Constant(bank::USER_SGPRS + 4 * number)));
        }
        if sgpr == UserSgpr::PrivateSegmentBuffer {
            let words = dispatch::SCRATCH_WORDS.into_iter();
            initial.words.extend(words.map(|(word, mask, bits)| KnownWord {
                offset: bank::USER_SGPRS + 4 * (first + word),
                mask,
                bits,
            }));
        }
    }
    let mut keep = |pointer: UserSgpr, offset: u32, bytes: u32| {
        let first =
            descriptor.user_sgprs().find_map(|(sgpr, first)| (sgpr == pointer).then_some(first));
        if let Some(first) = first {
            initial.constants.push(ConstantMemory {
                pointer: bank::USER_SGPRS + 4 * first,
                offset,
                bytes,
            });
        }
    };
    keep(UserSgpr::DispatchPtr, bank::PACKET, bank::KERNARG - bank::PACKET);
    keep(UserSgpr::KernargSegmentPtr, bank::KERNARG, hsa.kernarg_bytes.min(bank::MAX_KERNARG));
    for (sgpr, number) in descriptor.system_sgprs() {
        initial.scalars.push((number as u8, system_sgpr(sgpr)));
    }
    let axes = descriptor.workitem_ids().min(3) as u8;
    initial.vectors.extend((0..axes).map(|axis| (axis, InitialVector::WorkItem(axis))));
    initial
}
