//! Registers and memory that a driver prepares for a launch. Facts, `visa-semantics.md` 8, and
//! `visa.md` 4.

mod implicit;

use warploom_container::visa::info::{
    AddressMode, AddressSpace, ArgumentKind, KernelInfo, PayloadArgument,
};
use warploom_guest::images;
use warploom_guest::platform::Platform;
use warploom_runtime::launch::{ConstBank, LaunchConfig};
use warploom_runtime::memory::Memory;
use warploom_visa::lift::{LocalIds, Payload, bank, has_frames};

use super::super::{Environment, Launching, Prints};
use super::images::{Bound, Tables};
use super::print::PrintBuffer;
use super::{kernel, module, platform};
use crate::launch::ArgContent;
use crate::{Arg, Error};

/// Bytes of a lane for frames of recursive functions, if the launch does not give their size.
const DEFAULT_STACK: u32 = 16 << 10;

/// The most lanes of a block, whose local ids have 16 bits.
const MAX_LANES: u64 = 1 << 16;

/// The most bytes of an implicit argument that is 0.
const ZEROS: u32 = 16;

/// Types of images that a surface of a manifest can be.
const IMAGES: [&str; 10] = [
    "image_buffer",
    "image_1d",
    "image_1d_array",
    "image_2d",
    "image_2d_array",
    "image_2d_depth",
    "image_2d_array_depth",
    "image_2d_media",
    "image_2d_media_block",
    "image_3d",
];

/// The parts of the payload, in bytes counted from `%r0` on.
struct Layout {
    register: u32,
    per_thread: u32,
    inline: u32,
}

impl Layout {
    fn new(info: &KernelInfo, platform: Platform) -> Layout {
        let ends = info.per_thread.iter().map(|arg| arg.offset.saturating_add(arg.size));
        let per_thread = ends.max().unwrap_or(0);
        Layout {
            register: platform.register_bytes(),
            per_thread,
            inline: info.env.inline_data_payload_size,
        }
    }

    /// Returns the place of an entry of the cross-thread payload.
    fn place(&self, offset: u32) -> u32 {
        let start = self.register.saturating_add(self.per_thread);
        let beyond = match offset.checked_sub(self.inline) {
            Some(rest) if self.inline > 0 => {
                self.inline.next_multiple_of(self.register).saturating_add(rest)
            }
            _ => offset,
        };
        start.saturating_add(beyond)
    }
}

/// Returns the private memory of a thread, in bytes.
fn private_bytes(info: &KernelInfo) -> u64 {
    let buffers = info
        .memory_buffers
        .iter()
        .filter(|buffer| buffer.ty != "scratch" && buffer.usage == "private_space");
    let lanes = u64::from(info.env.simd_size.max(1));
    let bytes =
        buffers.map(|buffer| buffer.size.saturating_mul(if buffer.per_lane { lanes } else { 1 }));
    bytes.sum::<u64>().max(info.env.private_size)
}

/// Returns the scratch memory of a thread, in bytes.
fn scratch_bytes(info: &KernelInfo) -> u64 {
    let lanes = u64::from(info.env.simd_size.max(1));
    let buffers = info.memory_buffers.iter().filter(|buffer| buffer.ty == "scratch");
    buffers.map(|buffer| buffer.size.saturating_mul(if buffer.per_lane { lanes } else { 1 })).sum()
}

/// Returns the lifter's information about the payload.
pub fn layout(info: &KernelInfo, platform: Platform) -> Payload {
    let layout = Layout::new(info, platform);
    let ids = info.per_thread.iter().find(|arg| arg.kind == ArgumentKind::LocalId);
    let row = if info.env.simd_size == 32 || layout.register == 64 { 64 } else { 32 };
    let local_ids = ids.map(|arg| LocalIds {
        start: layout.register + arg.offset,
        row,
        axes: (arg.size / row).min(3),
    });
    let base = info.payload.iter().find(|arg| arg.kind == ArgumentKind::PrivateBase);
    let private = base.map(|arg| {
        (layout.place(arg.offset), u32::try_from(private_bytes(info)).unwrap_or(u32::MAX))
    });
    // The grid begins at 0, and buffers begin at their addresses.
    let is_zero = |kind: &ArgumentKind| {
        matches!(kind, ArgumentKind::GlobalIdOffset | ArgumentKind::BufferOffset)
    };
    let zeros = info.payload.iter().filter(|arg| is_zero(&arg.kind)).map(|arg| {
        let start = layout.place(arg.offset);
        start..start.saturating_add(arg.size.min(ZEROS))
    });
    Payload { local_ids, order: info.walk_order, private, zeros: zeros.collect() }
}

/// A launch under construction.
struct Dispatch<'a> {
    launch: &'a Launching<'a>,
    info: &'a KernelInfo,
    layout: Layout,
    payload: Vec<u8>,
    tables: Tables,
    held: Vec<u64>,
    scratch: Vec<u64>,
    print: Option<PrintBuffer>,
    /// Bytes of shared local memory.
    shared: u32,
    /// The handle of each argument that has one.
    handles: Vec<Option<u32>>,
}

/// Checks a launch and prepares the environment of the kernel.
pub fn environment(launch: &Launching<'_>) -> Result<Environment, Error> {
    let (function, linked) = (launch.kernel.function(), launch.kernel.program.linked());
    launch.check_block()?;
    let Some(info) = &kernel(function).info else {
        return Err(Error::NoDescriptor { kernel: function.name.clone() });
    };
    let block = launch.options.block;
    if block.iter().map(|&size| u64::from(size)).fold(1, u64::saturating_mul) > MAX_LANES {
        return Err(Error::BlockBound { kernel: function.name.clone(), block, limit: MAX_LANES });
    }
    let (expected, given) = (info.arguments() as usize, launch.args.len());
    if expected != given {
        return Err(Error::ArgumentCount { kernel: function.name.clone(), expected, given });
    }
    let layout = Layout::new(info, platform(module(linked)));
    let static_bytes = u32::try_from(info.env.slm_size).unwrap_or(u32::MAX);
    let mut dispatch = Dispatch {
        launch,
        info,
        layout,
        payload: vec![],
        tables: Tables::new(launch)?,
        held: vec![],
        scratch: vec![],
        print: None,
        shared: static_bytes,
        handles: vec![None; given],
    };
    if let Some(other) = info.per_thread.iter().find(|arg| arg.kind != ArgumentKind::LocalId) {
        return Err(dispatch.not_provided(other));
    }
    dispatch.samplers()?;
    dispatch.surfaces()?;
    dispatch.arguments()?;
    dispatch.finish()
}

impl Dispatch<'_> {
    fn memory(&self) -> &Memory {
        self.launch.kernel.program.memory()
    }

    /// Puts bytes into the payload.
    fn put(&mut self, arg: &PayloadArgument, bytes: &[u8]) {
        let at = self.layout.place(arg.offset) as usize;
        let size = (arg.size as usize).min(bytes.len());
        let end = at + size;
        // The end of the dispatch reports bytes that have no place in the bank.
        if end > bank::DRIVER as usize {
            return self.payload.resize(bank::DRIVER as usize + 1, 0);
        }
        if self.payload.len() < end {
            self.payload.resize(end, 0);
        }
        self.payload[at..end].copy_from_slice(&bytes[..size]);
    }

    fn bytes_of(&self, number: usize) -> &[u8] {
        match self.launch.args.get(number).map(|arg| arg.content()) {
            Some(ArgContent::Bytes(bytes)) => bytes,
            _ => &[],
        }
    }

    /// Returns the handle of an argument: an image's own handle, or a new handle of a sampler or a
    /// buffer.
    fn handle(&mut self, number: usize, space: Option<AddressSpace>) -> Result<u32, Error> {
        if let Some(handle) = self.handles.get(number).copied().flatten() {
            return Ok(handle);
        }
        let word =
            self.bytes_of(number).first_chunk().map_or(0, |bytes| u64::from_le_bytes(*bytes));
        let handle = match space {
            Some(AddressSpace::Image) => word as u32,
            Some(AddressSpace::Sampler) => self.tables.add_sampler_at(self.launch, word)?,
            _ => {
                // For a plain address, only the pages are known.
                let pages =
                    || self.memory().range_of(word).map_or(0, |(base, bytes)| base + bytes - word);
                let bytes =
                    self.launch.args.get(number).and_then(Arg::extent).unwrap_or_else(pages);
                self.tables.add_buffer(word, bytes)
            }
        };
        if let Some(known) = self.handles.get_mut(number) {
            *known = Some(handle);
        }
        Ok(handle)
    }

    /// Binds the samplers that have an index. They come before samplers that only have a handle.
    fn samplers(&mut self) -> Result<(), Error> {
        let info = self.info;
        let index =
            |index: u32| u8::try_from(index).map_err(|_| self.too_large("the table of samplers"));
        let mut all = vec![];
        for said in &info.samplers {
            all.push((index(said.index)?, Bound::Inline(said)));
        }
        for arg in
            info.payload.iter().filter(|arg| arg.address_space == Some(AddressSpace::Sampler))
        {
            if let (Some(number), Some(AddressMode::Stateful)) =
                (arg.sampler_index, arg.address_mode)
            {
                let bytes = self.bytes_of(arg.arg_index.unwrap_or(u32::MAX) as usize);
                let address = bytes.first_chunk().map_or(0, |bytes| u64::from_le_bytes(*bytes));
                all.push((index(number)?, Bound::At(address)));
            }
        }
        all.into_iter().try_for_each(|(index, of)| self.tables.bind_sampler(self.launch, index, of))
    }

    /// Binds the surfaces of the binding table.
    fn surfaces(&mut self) -> Result<(), Error> {
        for &(number, index) in &self.info.binding_table {
            let index = u8::try_from(index).map_err(|_| self.too_large("the binding table"))?;
            let of = |arg: &&PayloadArgument| arg.arg_index == Some(number);
            let space = self.info.payload.iter().filter(of).find_map(|arg| arg.address_space);
            let handle = self.handle(number as usize, space)?;
            self.tables.bind(index, handle);
        }
        Ok(())
    }

    fn too_large(&self, what: &'static str) -> Error {
        Error::Payload { kernel: self.launch.kernel.name().into(), what }
    }

    fn arguments(&mut self) -> Result<(), Error> {
        let info = self.info;
        let mut local = vec![None; self.handles.len()];
        for arg in &info.payload {
            let number = arg.arg_index.unwrap_or(u32::MAX) as usize;
            match (&arg.kind, arg.address_mode) {
                (ArgumentKind::ByValue, _) => {
                    let bytes = self.bytes_of(number);
                    let start = (arg.source_offset as usize).min(bytes.len());
                    let bytes = bytes[start..].to_vec();
                    if bytes.len() < arg.size as usize {
                        let given = self.bytes_of(number).len();
                        return Err(self.wrong_size(number, arg, given));
                    }
                    self.put(arg, &bytes);
                }
                (ArgumentKind::ByPointer, Some(AddressMode::Slm)) => {
                    let offset = match local.get(number).copied().flatten() {
                        Some(offset) => offset,
                        None => self.local(number, arg)?,
                    };
                    if let Some(known) = local.get_mut(number) {
                        *known = Some(offset);
                    }
                    self.put(arg, &u64::from(offset).to_le_bytes());
                }
                (ArgumentKind::InlineSampler, _) => {
                    let said =
                        info.samplers.iter().find(|said| Some(said.index) == arg.sampler_index);
                    let said = said.ok_or_else(|| self.not_provided(arg))?;
                    let handle = self.tables.add_inline_sampler(said);
                    self.put(arg, &u64::from(handle).to_le_bytes());
                }
                (ArgumentKind::ByPointer, _)
                    if arg.image_type.as_deref().is_some_and(|ty| !IMAGES.contains(&ty)) =>
                {
                    return Err(self.not_provided(arg));
                }
                (ArgumentKind::ByPointer, Some(AddressMode::Bindless)) => {
                    let handle = self.handle(number, arg.address_space)?;
                    self.tables.know(self.layout.place(arg.offset), handle);
                    self.put(arg, &u64::from(handle).to_le_bytes());
                }
                (ArgumentKind::ByPointer, _) | (ArgumentKind::BufferAddress, _) => {
                    let bytes = self.bytes_of(number).to_vec();
                    if bytes.len() != 8 {
                        return Err(self.wrong_size(number, arg, bytes.len()));
                    }
                    self.put(arg, &bytes);
                }
                _ => self.implicit(arg)?,
            }
        }
        Ok(())
    }

    fn wrong_size(&self, number: usize, arg: &PayloadArgument, given: usize) -> Error {
        let kernel = self.launch.kernel.function().name.clone();
        let expected = arg.source_offset.saturating_add(arg.size);
        Error::ArgumentSize { kernel, number: number + 1, offset: arg.offset, expected, given }
    }

    /// Allocates shared local memory for an argument, and returns the offset.
    fn local(&mut self, number: usize, arg: &PayloadArgument) -> Result<u32, Error> {
        let Some(ArgContent::Local(bytes)) = self.launch.args.get(number).map(|arg| arg.content())
        else {
            return Err(self.wrong_size(number, arg, self.bytes_of(number).len()));
        };
        let static_bytes = self.info.env.slm_size;
        let too_much = || Error::SharedMemory { total: u64::MAX, static_bytes, dynamic: *bytes };
        let align = arg.slm_alignment.max(16);
        let at = self.shared.div_ceil(align).checked_mul(align).ok_or_else(too_much)?;
        self.shared = at.checked_add(*bytes).ok_or_else(too_much)?;
        Ok(at)
    }

    /// Returns the local id of a lane of a group, by the lane's number.
    fn local_id(&self, mut number: u64, axis: u8) -> u16 {
        for of in self.info.walk_order {
            let size = u64::from(self.launch.options.block[usize::from(of)]);
            if of == axis {
                return (number % size) as u16;
            }
            number /= size;
        }
        0
    }

    /// Returns the number of warps that may be alive at once.
    fn slots(&self) -> u64 {
        self.config().warp_slots(self.info.env.simd_size.max(1))
    }

    /// Returns the launch's configuration. Few blocks may be alive beside the blocks that run at
    /// once, since memory by warp slot is allocated for all of them.
    fn config(&self) -> LaunchConfig {
        let mut config = self.launch.config();
        let bytes = scratch_bytes(self.info).saturating_add(private_bytes(self.info));
        config.limit_aside(bytes, self.info.env.simd_size.max(1));
        config
    }

    fn alloc(&mut self, bytes: u64) -> Result<u64, Error> {
        let address = self.memory().alloc(bytes.max(1), 4096)?;
        self.held.push(address);
        Ok(address)
    }

    fn finish(mut self) -> Result<Environment, Error> {
        if self.payload.len() > bank::DRIVER as usize {
            return Err(self.too_large("the payload"));
        }
        let scratch = scratch_bytes(self.info);
        let mut driver = vec![0; 20];
        if scratch > 0 {
            let base = self.alloc(scratch.saturating_mul(self.slots()))?;
            self.scratch.push(base);
            driver[..8].copy_from_slice(&base.to_le_bytes());
            driver[8..16].copy_from_slice(&scratch.to_le_bytes());
        }
        let (function, linked) =
            (self.launch.kernel.function(), self.launch.kernel.program.linked());
        let has_frames = has_frames(&module(linked).module, kernel(function).routine);
        let stack =
            self.launch.options.stack_bytes.unwrap_or(if has_frames { DEFAULT_STACK } else { 0 });
        driver[16..].copy_from_slice(&stack.to_le_bytes());
        let mut bytes = std::mem::take(&mut self.payload);
        bytes.resize(bank::DRIVER as usize, 0);
        bytes.extend(driver);
        let mut config = self.config();
        config.local_bytes = stack;
        if self.print.is_some() {
            // One thread keeps printed lines in the order of their calls.
            config.threads = 1;
        }
        let dynamic = self.launch.options.shared_bytes;
        config.shared_bytes = self.shared.checked_add(dynamic).ok_or(Error::SharedMemory {
            total: u64::MAX,
            static_bytes: self.info.env.slm_size,
            dynamic,
        })?;
        config.constants[usize::from(bank::PAYLOAD)] = Some(ConstBank::new(&bytes)?);
        let images = self.tables.finish(self.launch)?;
        config.constants[usize::from(images::driver::BANK)] = Some(ConstBank::new(&images.bank)?);
        let print = self.print.map(|buffer| Box::new(buffer) as Box<dyn Prints>);
        Ok(Environment {
            config,
            images: images.known,
            held: self.held,
            scratch: self.scratch,
            lent: vec![images.records],
            print,
        })
    }
}
