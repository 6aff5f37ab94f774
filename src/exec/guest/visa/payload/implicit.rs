//! Implicit arguments from the driver: the shape of the launch, the driver's buffers, and
//! properties of images. Facts, `visa-semantics.md` 8.

use warploom_container::SectionId;
use warploom_container::visa::info::{AddressMode, ArgumentKind, PayloadArgument};

use super::super::print::PrintBuffer;
use super::{Dispatch, ZEROS, private_bytes};
use crate::Error;

/// Bytes of the implicit buffer of functions that are called through the stack.
const IMPLICIT_BYTES: usize = 112;

/// The argument for a workaround of the compiler, which corrects coordinates at edges. Filters here
/// need no correction.
const SNAP_WORKAROUND: &str = "sampler_snap_wa";

impl Dispatch<'_> {
    /// Returns the error that a kernel asks for something that warploom does not provide.
    pub(super) fn not_provided(&self, arg: &PayloadArgument) -> Error {
        let of = arg.image_type.as_ref().map_or(String::new(), |ty| format!(", {ty}"));
        let mode =
            arg.address_mode.map_or(String::new(), |mode| format!(", addrmode {}", mode.name()));
        let what = format!("`{}` of {} bytes{mode}{of}", arg.kind.name(), arg.size);
        Error::NotProvided { kernel: self.launch.kernel.name().into(), what, offset: arg.offset }
    }

    /// Gives a kernel a buffer of the driver: its address, a handle, or an index into the binding
    /// table.
    fn buffer(&mut self, arg: &PayloadArgument, (address, bytes): (u64, u64)) -> Result<(), Error> {
        if let Some(index) = arg.bti {
            let index = u8::try_from(index).map_err(|_| self.too_large("the binding table"))?;
            let handle = self.surface(address, bytes);
            self.tables.bind(index, handle);
        }
        match (arg.address_mode, arg.size) {
            (None | Some(AddressMode::Stateless), 8) => self.put(arg, &address.to_le_bytes()),
            (Some(AddressMode::Bindless), 4 | 8) => {
                let handle = self.surface(address, bytes);
                self.tables.know(self.layout.place(arg.offset), handle);
                self.put(arg, &u64::from(handle).to_le_bytes());
            }
            (None | Some(AddressMode::Stateless | AddressMode::Stateful), 0)
                if arg.bti.is_some() => {}
            _ => return Err(self.not_provided(arg)),
        }
        Ok(())
    }

    /// Returns the handle of a buffer of the driver, or the handle of no surface if there is no
    /// buffer.
    fn surface(&mut self, address: u64, bytes: u64) -> u32 {
        if (address, bytes) == (0, 0) { 0 } else { self.tables.add_buffer(address, bytes) }
    }

    pub(super) fn implicit(&mut self, arg: &PayloadArgument) -> Result<(), Error> {
        let options = self.launch.options;
        let triple = |values: [u32; 3]| {
            values.iter().flat_map(|value| value.to_le_bytes()).collect::<Vec<u8>>()
        };
        let (grid, block) = (options.grid, options.block);
        let global = [0, 1, 2].map(|axis: usize| grid[axis].wrapping_mul(block[axis]));
        let bytes = match arg.kind {
            ArgumentKind::LocalSize | ArgumentKind::EnqueuedLocalSize => triple(block),
            ArgumentKind::GlobalSize => triple(global),
            ArgumentKind::GroupCount => triple(grid),
            ArgumentKind::WorkDimensions => {
                let used = (0..3).rev().find(|&axis| global[axis] > 1).unwrap_or(0) as u32;
                (used + 1).to_le_bytes().to_vec()
            }
            ArgumentKind::ConstBase => return self.buffer(arg, self.section(".data.const")),
            ArgumentKind::GlobalBase => return self.buffer(arg, self.section(".data.global")),
            ArgumentKind::PrivateBase
                if arg.address_mode.is_none_or(|mode| mode == AddressMode::Stateless) =>
            {
                let bytes = private_bytes(self.info).saturating_mul(self.slots());
                let address = self.alloc(bytes)?;
                self.scratch.push(address);
                return self.buffer(arg, (address, bytes));
            }
            ArgumentKind::PrintfBuffer => {
                let buffer = self.print_buffer()?;
                return self.buffer(arg, buffer);
            }
            ArgumentKind::ImplicitArgBuffer => {
                let address = self.implicit_buffer()?;
                return self.buffer(arg, (address, IMPLICIT_BYTES as u64));
            }
            ArgumentKind::Other(ref name) => self.of_image(arg, name)?.to_le_bytes().to_vec(),
            // These arguments are 0 in every launch ([`layout`]).
            ArgumentKind::GlobalIdOffset | ArgumentKind::BufferOffset => {
                vec![0; arg.size.min(ZEROS) as usize]
            }
            ArgumentKind::PrivateBase
            | ArgumentKind::AssertBuffer
            | ArgumentKind::SyncBuffer
            | ArgumentKind::LocalId
            | ArgumentKind::ByValue
            | ArgumentKind::ByPointer
            | ArgumentKind::BufferAddress
            | ArgumentKind::InlineSampler => return Err(self.not_provided(arg)),
        };
        self.put(arg, &bytes);
        Ok(())
    }

    /// Returns a property of an argument's image, or of samplers.
    fn of_image(&self, arg: &PayloadArgument, name: &str) -> Result<u32, Error> {
        if name == SNAP_WORKAROUND {
            return Ok(0);
        }
        let number = arg.arg_index.unwrap_or(u32::MAX) as usize;
        let handle =
            self.bytes_of(number).first_chunk().map_or(0, |bytes| u32::from_le_bytes(*bytes));
        let image = self.tables.image(handle).ok_or_else(|| self.not_provided(arg))?;
        Ok(match name {
            "image_width" => image.size[0],
            "image_height" => image.size[1],
            "image_depth" => image.size[2],
            "image_array_size" => image.layers,
            "image_num_mip_levels" => image.levels.into(),
            _ => return Err(self.not_provided(arg)),
        })
    }

    /// Returns the address and bytes of the buffer for printed text.
    fn print_buffer(&mut self) -> Result<(u64, u64), Error> {
        if let Some(buffer) = &self.print {
            return Ok((buffer.address, buffer.bytes()));
        }
        let buffer = PrintBuffer::new(self.memory(), self.launch.options.printf_bytes)?;
        self.held.push(buffer.address);
        let buffer = self.print.insert(buffer);
        Ok((buffer.address, buffer.bytes()))
    }

    /// Makes the implicit buffer of functions that are called through the stack: the shape of the
    /// launch, buffers, and the local ids of all threads of a group. Returns its address.
    fn implicit_buffer(&mut self) -> Result<u64, Error> {
        let (grid, block) = (self.launch.options.grid, self.launch.options.block);
        let simd = self.info.env.simd_size.max(1);
        let row = if simd == 32 || self.layout.register == 64 { 32 } else { 16 };
        let count: u64 = block.iter().map(|&size| u64::from(size)).product();
        let mut ids: Vec<u8> = vec![];
        for thread in 0..count.div_ceil(simd.into()) {
            for axis in 0..3 {
                ids.extend((0..row).flat_map(|lane| {
                    self.local_id(thread * u64::from(simd) + lane, axis).to_le_bytes()
                }));
            }
        }
        let table = self.alloc(ids.len() as u64)?;
        self.memory().write(table, &ids)?;
        let (printf, _) = self.print_buffer()?;
        let axes = (1..3)
            .rev()
            .find(|&axis| grid[axis].saturating_mul(block[axis]) > 1)
            .map_or(1, |axis| axis + 1);
        let mut bytes = vec![IMPLICIT_BYTES as u8, 0, axes as u8, simd as u8];
        bytes.extend(block.iter().flat_map(|size| size.to_le_bytes()));
        bytes.extend(
            (0..3).flat_map(|axis| (u64::from(grid[axis]) * u64::from(block[axis])).to_le_bytes()),
        );
        bytes.extend(printf.to_le_bytes());
        bytes.extend([0; 24]);
        bytes.extend(table.to_le_bytes());
        bytes.extend(grid.iter().flat_map(|size| size.to_le_bytes()));
        bytes.resize(IMPLICIT_BYTES, 0);
        let address = self.alloc(bytes.len() as u64)?;
        self.memory().write(address, &bytes)?;
        Ok(address)
    }

    /// Returns the address and bytes of the section with this name, or zeros if there is no
    /// section.
    fn section(&self, name: &str) -> (u64, u64) {
        let linked = self.launch.kernel.program.linked();
        let index = linked.module().sections.iter().position(|section| section.name == name);
        let place = |index: usize| {
            let address = linked.addresses().globals.get(&SectionId(index)).copied()?;
            Some((address, linked.module().sections[index].size))
        };
        index.and_then(place).unwrap_or((0, 0))
    }
}
