//! Memory and registers that HSA's packet processor prepares for a dispatch.
//!
//! Source: AMDGPUUsage, "Kernel Dispatch", "Kernarg Segment", "Private Segment Buffer", "Flat
//! Scratch"; HSA Runtime Specification, `hsa_kernel_dispatch_packet_t`; ROCr's `amd_queue_t`.

use warploom_container::hsaco::{HiddenKind, HsaKernel, UserSgpr};
use warploom_runtime::launch::{ConstBank, LaunchConfig};
use warploom_runtime::memory::{Access, MapError, Page};

use super::super::Prints;
use super::super::print_buffer::PrintBuffer;
use super::{
    Environment, Launching, OBJECT_BYTES, WARP_LANES, apertures, bank, objects, wave_scratch,
};
use crate::Error;
use crate::launch::ArgContent;
use crate::program::Absent;

/// The layout of a dispatch in memory: `hsa_kernel_dispatch_packet_t`, then the part of
/// `amd_queue_t` that code reads, then the kernarg segment.
pub(super) const PACKET_BYTES: usize = 64;
const QUEUE_AT: usize = PACKET_BYTES;
const QUEUE_BYTES: usize = 256;
const KERNARG_AT: usize = QUEUE_AT + QUEUE_BYTES;
/// Fields of `amd_queue_t`: the upper halves of the apertures.
const GROUP_APERTURE: usize = 0x40;
const PRIVATE_APERTURE: usize = 0x44;
/// Alignment of arguments' targets in LDS, if the file does not give it.
const LDS_ALIGN: u32 = 16;
/// Scratch for calls whose depth the compiler could not know, in bytes per lane: ROCr's default.
const DYNAMIC_STACK_BYTES: u32 = 16 << 10;
/// The upper half of the scratch buffer's V#: swizzled. The fourth word: 32-bit unsigned data of
/// all components in elements of 4 bytes, 64 lanes beside each other, each lane at its own number.
const SWIZZLE_ENABLE: u32 = 1 << 31;
const SCRATCH_FORMAT: u32 = 0xfac | 4 << 12 | 4 << 15 | 1 << 19 | 3 << 21 | 1 << 23;
/// Bits of the V# that are equal in every launch: index of the word, mask, and value.
pub(super) const SCRATCH_WORDS: [(u32, u32, u32); 2] =
    [(1, 0xffff << 16, SWIZZLE_ENABLE), (3, u32::MAX, SCRATCH_FORMAT)];

/// A dispatch under construction.
pub(super) struct Dispatch<'a> {
    launch: &'a Launching<'a>,
    hsa: &'a HsaKernel,
    config: LaunchConfig,
    /// Bytes of scratch memory of a wave.
    wave_scratch: u64,
    kernarg: Vec<u8>,
    print: Option<PrintBuffer>,
}

impl<'a> Dispatch<'a> {
    pub fn new(launch: &'a Launching<'a>, hsa: &'a HsaKernel) -> Result<Self, Error> {
        let options = launch.options;
        if hsa.descriptor.float_mode().fp16_overflow {
            return Err(Error::Fp16Overflow { kernel: launch.kernel.name().into() });
        }
        let mut config = launch.config();
        let (kernarg, lds) = arguments(launch, hsa)?;
        config.shared_bytes = lds;
        let mut lane = hsa.descriptor.private_segment_bytes;
        if hsa.uses_dynamic_stack || hsa.descriptor.uses_dynamic_stack() {
            lane = lane.saturating_add(options.stack_bytes.unwrap_or(DYNAMIC_STACK_BYTES));
        }
        let wave_scratch =
            if hsa.descriptor.enable_private_segment() { wave_scratch(lane) } else { 0 };
        config.limit_aside(wave_scratch, WARP_LANES.into());
        let print = print_buffer(launch, hsa)?;
        if print.is_some() {
            // One thread keeps printed lines in the order of their calls.
            config.threads = 1;
        }
        Ok(Dispatch { launch, hsa, config, wave_scratch, kernarg, print })
    }

    /// Allocates and fills memory, and the constant bank from which registers start.
    pub fn environment(mut self) -> Result<Environment, Error> {
        let program = self.launch.kernel.program;
        let mut pages = program.lend((KERNARG_AT + self.kernarg.len()) as u64)?;
        let packet = pages.address;
        let mut held: Vec<u64> = self.print.iter().map(|buffer| buffer.address).collect();
        let scratch_bytes =
            self.wave_scratch.saturating_mul(self.config.warp_slots(WARP_LANES.into()));
        let mut scratch = 0;
        if scratch_bytes > 0 {
            scratch = program.memory().alloc(scratch_bytes, 256)?;
            held.push(scratch);
            // The start of each wave's part has these upper bits too: see `KnownWord`.
            if scratch >> 32 & 0xffff == 0xffff {
                return Err(MapError::NoSpace { bytes: scratch_bytes, align: 256 }.into());
            }
        }
        self.fill_hidden(packet)?;
        let mut bytes = vec![0; KERNARG_AT];
        self.write_packet(&mut bytes, packet);
        bytes.extend_from_slice(&self.kernarg);

        let mut words = bank::start(&self.config, self.wave_scratch, program.data_share()?);
        let mut put = |offset: u32, value: &[u8]| {
            words[offset as usize..][..value.len()].copy_from_slice(value)
        };
        for (sgpr, first) in self.hsa.descriptor.user_sgprs() {
            let at = bank::USER_SGPRS + 4 * first;
            let long = |value: u64| value.to_le_bytes().to_vec();
            let value = match sgpr {
                UserSgpr::PrivateSegmentBuffer => scratch_descriptor(scratch, scratch_bytes),
                UserSgpr::DispatchPtr => long(packet),
                UserSgpr::QueuePtr => long(packet + QUEUE_AT as u64),
                UserSgpr::KernargSegmentPtr => long(packet + KERNARG_AT as u64),
                UserSgpr::DispatchId => long(0),
                UserSgpr::GridWorkgroupCount(axis) => {
                    self.launch.options.grid[usize::from(axis)].to_le_bytes().to_vec()
                }
                UserSgpr::FlatScratchInit => long(scratch),
                UserSgpr::PrivateSegmentSize => {
                    (self.wave_scratch as u32 / u32::from(WARP_LANES)).to_le_bytes().to_vec()
                }
            };
            put(at, &value);
        }
        words.extend_from_slice(&bytes[..PACKET_BYTES]);
        words.extend_from_slice(
            &self.kernarg[..self.hsa.kernarg_bytes.min(bank::MAX_KERNARG) as usize],
        );
        let mut images = Vec::new();
        for (arg, object, place) in objects(self.hsa) {
            if let Some(copy) = self.descriptor(arg) {
                words.resize(place as usize, 0);
                words.extend_from_slice(&copy);
                let word =
                    |i: usize| u32::from_le_bytes(std::array::from_fn(|byte| copy[4 * i + byte]));
                images.push((place, object.shape([0, 1, 2, 3].map(word))));
            }
        }
        pages.fill(self.launch.kernel.program.memory(), bytes)?;
        self.config.constants[0] = Some(ConstBank::new(&words)?);
        let print = self.print.map(|buffer| Box::new(buffer) as Box<dyn Prints>);
        let scratch = if scratch_bytes > 0 { vec![scratch] } else { vec![] };
        Ok(Environment { config: self.config, images, held, scratch, lent: vec![pages], print })
    }

    /// Returns the descriptor that the argument at this offset of the kernarg segment points to, if
    /// it is constant because the guest cannot write there.
    fn descriptor(&self, arg: u32) -> Option<[u8; OBJECT_BYTES as usize]> {
        let pointer = self.kernarg.get(arg as usize..)?.first_chunk()?;
        let (address, memory) = (u64::from_le_bytes(*pointer), self.launch.kernel.program.memory());
        let last = address.checked_add(u64::from(OBJECT_BYTES) - 1)?;
        let may_change =
            |&at: &u64| !matches!(memory.page(at), Page::Resident { access: Access::READ, .. });
        if [address, last].iter().any(may_change) {
            return None;
        }
        let mut copy = [0; OBJECT_BYTES as usize];
        memory.read(address, &mut copy).ok()?;
        Some(copy)
    }

    /// Returns the work-items of the grid per axis.
    fn grid(&self) -> [u32; 3] {
        let options = self.launch.options;
        [0, 1, 2].map(|axis| options.grid[axis].saturating_mul(options.block[axis]))
    }

    fn dimensions(&self) -> u16 {
        let grid = self.grid();
        (1..3).rev().find(|&axis| grid[axis] > 1).map_or(1, |axis| axis as u16 + 1)
    }

    fn write_packet(&self, bytes: &mut [u8], packet: u64) {
        let mut put = |at: usize, value: &[u8]| bytes[at..at + value.len()].copy_from_slice(value);
        // The packet is a kernel dispatch, with fences of the whole system.
        put(0, &0x1502u16.to_le_bytes());
        put(2, &self.dimensions().to_le_bytes());
        for axis in 0..3 {
            put(4 + 2 * axis, &(self.launch.options.block[axis] as u16).to_le_bytes());
            put(12 + 4 * axis, &self.grid()[axis].to_le_bytes());
        }
        put(24, &(self.wave_scratch as u32 / u32::from(WARP_LANES)).to_le_bytes());
        put(28, &self.config.shared_bytes.to_le_bytes());
        put(40, &(packet + KERNARG_AT as u64).to_le_bytes());
        put(QUEUE_AT + GROUP_APERTURE, &((apertures::SHARED >> 32) as u32).to_le_bytes());
        put(QUEUE_AT + PRIVATE_APERTURE, &((apertures::PRIVATE >> 32) as u32).to_le_bytes());
    }

    /// Fills in the arguments that the runtime provides.
    fn fill_hidden(&mut self, packet: u64) -> Result<(), Error> {
        let program = self.launch.kernel.program;
        let options = self.launch.options;
        let dynamic = self.config.shared_bytes - self.hsa.descriptor.group_segment_bytes;
        let dimensions = self.dimensions();
        let print = self.print.as_ref().map_or(0, |buffer| buffer.address);
        for hidden in &self.hsa.hidden {
            let value = match hidden.kind {
                HiddenKind::BlockCount(axis) => u64::from(options.grid[usize::from(axis)]),
                HiddenKind::GroupSize(axis) => u64::from(options.block[usize::from(axis)]),
                HiddenKind::GridDims => dimensions.into(),
                HiddenKind::PrivateBase => apertures::PRIVATE >> 32,
                HiddenKind::SharedBase => apertures::SHARED >> 32,
                HiddenKind::QueuePtr => packet + QUEUE_AT as u64,
                HiddenKind::DynamicLdsSize => dynamic.into(),
                HiddenKind::PrintfBuffer => print,
                HiddenKind::HostcallBuffer => program.absent(Absent::Hostcall)?,
                HiddenKind::HeapV1 => program.absent(Absent::Heap)?,
                HiddenKind::DefaultQueue | HiddenKind::CompletionAction => {
                    program.absent(Absent::Queue)?
                }
                // The grid begins at 0, consists of whole workgroups, and is not part of a
                // multigrid launch.
                HiddenKind::None
                | HiddenKind::GlobalOffset(_)
                | HiddenKind::Remainder(_)
                | HiddenKind::MultigridSyncArg => 0,
            };
            let (at, size) = (hidden.offset as usize, (hidden.size as usize).min(8));
            if let Some(place) = self.kernarg.get_mut(at..at + size) {
                place.copy_from_slice(&value.to_le_bytes()[..size]);
            }
        }
        Ok(())
    }
}

/// Returns the buffer for printed text, if the kernel prints.
fn print_buffer(launch: &Launching<'_>, hsa: &HsaKernel) -> Result<Option<PrintBuffer>, Error> {
    let program = launch.kernel.program;
    let formats = program.module().hsa.as_ref().is_some_and(|module| !module.printf.is_empty());
    if !formats || !hsa.hidden.iter().any(|hidden| hidden.kind == HiddenKind::PrintfBuffer) {
        return Ok(None);
    }
    PrintBuffer::new(program.memory(), launch.options.printf_bytes).map(Some)
}

/// Returns the kernarg segment without hidden arguments, and the LDS of a workgroup in bytes.
fn arguments(launch: &Launching<'_>, hsa: &HsaKernel) -> Result<(Vec<u8>, u32), Error> {
    let static_bytes = hsa.descriptor.group_segment_bytes;
    let mut end = static_bytes;
    let mut contents = Vec::with_capacity(launch.args.len());
    let too_much = |dynamic| Error::SharedMemory {
        total: u64::MAX,
        static_bytes: static_bytes.into(),
        dynamic,
    };
    for (n, arg) in launch.args.iter().enumerate() {
        contents.push(match arg.content() {
            ArgContent::Bytes(bytes) => bytes.clone(),
            ArgContent::Local(bytes) => {
                let align = hsa.args.get(n).map_or(0, |arg| arg.pointee_align).max(LDS_ALIGN);
                let at = end.checked_next_multiple_of(align).ok_or_else(|| too_much(*bytes))?;
                end = at.checked_add(*bytes).ok_or_else(|| too_much(*bytes))?;
                at.to_le_bytes().to_vec()
            }
        });
    }
    let end = end
        .checked_add(launch.options.shared_bytes)
        .ok_or_else(|| too_much(launch.options.shared_bytes))?;
    let mut kernarg = launch.params(&contents)?;
    kernarg.resize(kernarg.len().max(hsa.kernarg_bytes as usize), 0);
    Ok((kernarg, end))
}

/// Returns the V# of scratch memory.
fn scratch_descriptor(address: u64, bytes: u64) -> Vec<u8> {
    let records = u32::try_from(bytes).unwrap_or(u32::MAX);
    let words =
        [address as u32, (address >> 32) as u32 & 0xffff | SWIZZLE_ENABLE, records, SCRATCH_FORMAT];
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}
