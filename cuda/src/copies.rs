//! Copies and fills.

use std::sync::Arc;

use crate::array::Array;
use crate::boundary::Ptr;
use crate::error::{Answer, Error, of_copy};
use crate::{allocations, driver};

/// One side of a copy.
#[derive(Clone)]
pub enum CopySide {
    /// Memory of the program that is not registered.
    Host(Ptr<u8>),
    Device(u64),
    /// Bytes that were copied from the program beforehand.
    Bytes(Arc<[u8]>),
    /// A level of an array.
    Array(Arc<Array>, u32),
}

/// One side of a copy, with the position where the copy begins and the distances of its rows.
#[derive(Clone)]
pub struct Side {
    pub place: CopySide,
    /// In bytes, rows and slices.
    pub at: [u64; 3],
    /// The bytes from row to row, and the rows from slice to slice; unused for arrays.
    pub pitch: u64,
    pub height: u64,
}

/// A copy of a block of bytes.
#[derive(Clone)]
pub struct Copy {
    pub from: Side,
    pub to: Side,
    /// In bytes, rows and slices.
    pub size: [u64; 3],
}

/// The largest piece of a copy within guest memory.
const PIECE: u64 = 1 << 16;

impl CopySide {
    /// Returns the side for memory of the driver or of the program.
    pub fn of(pointer: Ptr<u8>) -> CopySide {
        CopySide::device(pointer.address()).unwrap_or(CopySide::Host(pointer))
    }

    /// Returns the side for memory of the device, or registered memory.
    pub fn device(address: u64) -> Result<CopySide, Error> {
        let is_known =
            allocations::find(address).is_some() || driver::memory().range_of(address).is_some();
        if is_known { Ok(CopySide::Device(address)) } else { Err(Error::CUDA_ERROR_INVALID_VALUE) }
    }

    /// Returns whether this is memory of the program that may be gone after the call.
    fn is_pageable(&self) -> bool {
        matches!(self, CopySide::Host(pointer) if allocations::find(pointer.address()).is_none())
    }
}

impl Side {
    /// Bytes that follow each other.
    pub fn linear(place: CopySide) -> Side {
        Side { place, at: [0; 3], pitch: 0, height: 0 }
    }

    fn offset(&self, row: u64, slice: u64) -> u64 {
        let rows = (self.at[2] + slice).wrapping_mul(self.height).wrapping_add(self.at[1] + row);
        rows.wrapping_mul(self.pitch).wrapping_add(self.at[0])
    }

    /// Checks that the whole block is within the memory.
    fn check(&self, size: [u64; 3]) -> Answer {
        if let CopySide::Array(array, level) = &self.place {
            return array.check(*level, self.at, size);
        }
        if size[1] > 1 && self.pitch < size[0] {
            return Err(Error::CUDA_ERROR_INVALID_VALUE);
        }
        if let CopySide::Device(address) = self.place {
            let last = self
                .offset(size[1] - 1, size[2] - 1)
                .checked_add(size[0])
                .ok_or(Error::CUDA_ERROR_INVALID_VALUE)?;
            let first = self.offset(0, 0);
            if last < first || !allocations::is_mapped(address.wrapping_add(first), last - first) {
                return Err(Error::CUDA_ERROR_INVALID_VALUE);
            }
        }
        if let CopySide::Host(pointer) = self.place {
            pointer.required()?;
        }
        Ok(())
    }
}

impl Copy {
    /// Bytes that follow each other.
    pub fn linear(from: CopySide, to: CopySide, bytes: u64) -> Copy {
        Copy { from: Side::linear(from), to: Side::linear(to), size: [bytes, 1, 1] }
    }

    pub fn is_empty(&self) -> bool {
        self.size.contains(&0)
    }

    /// Checks that both sides contain the block.
    pub fn check(&self) -> Answer {
        if self.is_empty() {
            return Ok(());
        }
        self.from.check(self.size)?;
        self.to.check(self.size)
    }

    /// Returns whether the program may use the target as soon as the call returns.
    pub fn ends_in_pageable(&self) -> bool {
        self.to.place.is_pageable()
    }

    /// Makes the copy independent of memory that the program may change after the call.
    pub fn ready(self) -> Result<Copy, Error> {
        if !self.from.place.is_pageable() || self.is_empty() {
            return Ok(self);
        }
        let [width, rows, slices] = self.size;
        let mut bytes = Vec::with_capacity((width * rows * slices) as usize);
        let CopySide::Host(pointer) = &self.from.place else { return Ok(self) };
        for slice in 0..slices {
            for row in 0..rows {
                pointer
                    .after(self.from.offset(row, slice))
                    .with(width as usize, |part| bytes.extend_from_slice(part))?;
            }
        }
        let from =
            Side { place: CopySide::Bytes(bytes.into()), at: [0; 3], pitch: width, height: rows };
        Ok(Copy { from, ..self })
    }

    pub fn run(&self) -> Answer {
        if self.is_empty() {
            return Ok(());
        }
        let [mut width, mut rows, mut slices] = self.size;
        let is_array = |side: &Side| matches!(side.place, CopySide::Array(..));
        // Rows without gaps are one row.
        let in_rows = !is_array(&self.from) && !is_array(&self.to);
        if in_rows && rows > 1 && self.from.pitch == width && self.to.pitch == width {
            if slices > 1 && self.from.height == rows && self.to.height == rows {
                (rows, slices) = (rows * slices, 1);
            }
            if slices == 1 {
                (width, rows) = (width * rows, 1);
            }
        }
        for slice in 0..slices {
            for row in 0..rows {
                self.row(row, slice, width)?;
            }
        }
        Ok(())
    }

    fn row(&self, row: u64, slice: u64, bytes: u64) -> Answer {
        let (from, to) = (&self.from, &self.to);
        let memory = driver::memory();
        let source = |side: &Side| side.offset(row, slice);
        let host = |pointer: &Ptr<u8>, side: &Side| pointer.after(source(side));
        let at = |side: &Side| [side.at[0], side.at[1] + row, side.at[2] + slice];
        let length = bytes as usize;
        let write = |bytes: &[u8]| match &to.place {
            CopySide::Host(pointer) => {
                host(pointer, to).put(bytes);
                Ok(())
            }
            CopySide::Device(address) => overwrite(address.wrapping_add(source(to)), bytes),
            CopySide::Array(array, level) => array.write(*level, at(to), bytes),
            CopySide::Bytes(_) => Err(Error::CUDA_ERROR_INVALID_VALUE),
        };
        match &from.place {
            CopySide::Host(pointer) => {
                let start = host(pointer, from);
                if let CopySide::Host(other) = &to.place {
                    // The memory may overlap.
                    let content = start.with(length, <[u8]>::to_vec)?;
                    host(other, to).put(&content);
                    return Ok(());
                }
                start.with(length, write)?
            }
            CopySide::Bytes(content) => {
                let start = source(from) as usize;
                write(content.get(start..start + length).ok_or(Error::CUDA_ERROR_INVALID_VALUE)?)
            }
            CopySide::Array(array, level) => {
                let mut content = vec![0; length];
                array.read(*level, at(from), &mut content)?;
                write(&content)
            }
            CopySide::Device(address) => {
                let start = address.wrapping_add(source(from));
                if let CopySide::Host(pointer) = &to.place {
                    return host(pointer, to)
                        .with_mut(length, |into| memory.read(start, into))?
                        .map_err(of_copy);
                }
                if let CopySide::Device(target) = to.place {
                    return copy_within(start, target.wrapping_add(source(to)), bytes);
                }
                let mut content = vec![0; length];
                memory.read(start, &mut content).map_err(of_copy)?;
                write(&content)
            }
        }
    }
}

/// Copies within guest memory. The ranges may overlap.
fn copy_within(from: u64, to: u64, bytes: u64) -> Answer {
    let memory = driver::memory();
    let mut piece = vec![0; PIECE.min(bytes) as usize];
    let pieces = bytes.div_ceil(PIECE);
    for i in 0..pieces {
        let i = if to > from { pieces - 1 - i } else { i };
        let at = i * PIECE;
        let part = &mut piece[..PIECE.min(bytes - at) as usize];
        memory.read(from + at, part).map_err(of_copy)?;
        memory.overwrite(to + at, part).map_err(of_copy)?;
        if let Some(written) = allocations::written() {
            written.copy(to + at, from + at, part.len() as u64);
        }
    }
    Ok(())
}

/// Writes to guest memory.
fn overwrite(address: u64, content: &[u8]) -> Answer {
    if let Some(written) = allocations::written() {
        written.write(address, content.len() as u64);
    }
    driver::memory().overwrite(address, content).map_err(of_copy)
}

/// A fill of a block of elements with one value.
#[derive(Clone, Copy)]
pub struct Fill {
    pub address: u64,
    /// The bytes from row to row.
    pub pitch: u64,
    pub value: u32,
    /// The bytes of an element: 1, 2 or 4.
    pub element: u64,
    /// The size in elements and rows.
    pub width: u64,
    pub rows: u64,
}

impl Fill {
    pub fn check(&self) -> Answer {
        let wrong = Err(Error::CUDA_ERROR_INVALID_VALUE);
        if self.width == 0 || self.rows == 0 {
            return Ok(());
        }
        let row = self.width.checked_mul(self.element).ok_or(Error::CUDA_ERROR_INVALID_VALUE)?;
        if !self.address.is_multiple_of(self.element) || self.rows > 1 && self.pitch < row {
            return wrong;
        }
        let before =
            (self.rows - 1).checked_mul(self.pitch).and_then(|before| before.checked_add(row));
        let bytes = before.ok_or(Error::CUDA_ERROR_INVALID_VALUE)?;
        CopySide::device(self.address)?;
        if allocations::is_mapped(self.address, bytes) { Ok(()) } else { wrong }
    }

    pub fn run(&self) -> Answer {
        let row = self.width * self.element;
        if row == 0 {
            return Ok(());
        }
        let value = self.value.to_le_bytes();
        let element = &value[..self.element as usize];
        let same = element.iter().all(|&byte| byte == element[0]);
        let pattern = if same { vec![] } else { element.repeat(self.width.min(PIECE) as usize) };
        for i in 0..self.rows {
            let at = self.address + i * self.pitch;
            if pattern.is_empty() {
                if let Some(written) = allocations::written() {
                    written.write(at, row);
                }
                driver::memory().fill(at, row, element[0]).map_err(of_copy)?;
                continue;
            }
            let mut done = 0;
            while done < row {
                let part = &pattern[..(row - done).min(pattern.len() as u64) as usize];
                overwrite(at + done, part)?;
                done += part.len() as u64;
            }
        }
        Ok(())
    }
}
