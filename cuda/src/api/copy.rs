//! Copies and fills of memory.

use super::require;
use crate::boundary::{Ptr, api, plain};
use crate::copies::{Copy, CopySide, Fill, Side};
use crate::error::{Answer, Error};
use crate::operation::Operation;
use crate::stream;

plain! {
    /// `CUDA_MEMCPY2D`.
    pub struct Rect {
        from: Corner,
        to: Corner,
        width: usize,
        height: usize,
    }

    /// One side of the copy.
    pub struct Corner {
        x: usize,
        y: usize,
        kind: u32,
        host: Ptr<u8>,
        device: Ptr<u8>,
        array: u64,
        pitch: usize,
    }

    /// `CUDA_MEMCPY3D`; with the contexts, `CUDA_MEMCPY3D_PEER`. Pointers are numbers in structures
    /// that this library writes.
    pub struct Block<P = Ptr<u8>> {
        from: Corner3<P>,
        to: Corner3<P>,
        size: [usize; 3],
    }

    /// One side of the copy.
    pub struct Corner3<P = Ptr<u8>> {
        at: [usize; 3],
        level: usize,
        kind: u32,
        host: P,
        device: P,
        array: u64,
        /// Reserved in `CUDA_MEMCPY3D`; the context in `CUDA_MEMCPY3D_PEER`.
        context: u64,
        pitch: usize,
        height: usize,
    }
}

const _: () = assert!(size_of::<Rect>() == size_of::<cudarc::driver::sys::CUDA_MEMCPY2D>());
const _: () = assert!(size_of::<Block<u64>>() == size_of::<cudarc::driver::sys::CUDA_MEMCPY3D>());

/// Values of `CUmemorytype`.
const HOST: u32 = 1;
const DEVICE: u32 = 2;
const ARRAY: u32 = 3;
const UNIFIED: u32 = 4;

fn place(
    kind: u32,
    host: Ptr<u8>,
    device: Ptr<u8>,
    array: u64,
    level: usize,
) -> Result<CopySide, Error> {
    match kind {
        HOST => Ok(CopySide::of(host)),
        DEVICE => CopySide::device(device.address()),
        UNIFIED => Ok(CopySide::of(device)),
        ARRAY => Ok(CopySide::Array(
            crate::array::get(array)?,
            u32::try_from(level).map_err(|_| super::INVALID)?,
        )),
        _ => Err(super::INVALID),
    }
}

impl Corner {
    fn side(&self, width: usize) -> Result<Side, Error> {
        let place = place(self.kind, self.host, self.device, self.array, 0)?;
        let pitch = if self.pitch == 0 { width } else { self.pitch };
        let at = [self.x as u64, self.y as u64, 0];
        Ok(Side { place, at, pitch: pitch as u64, height: 0 })
    }
}

impl Corner3 {
    /// Describes memory whose rows have `pitch` bytes and whose slices have `height` rows. 0 stands
    /// for the copy's own row or slice.
    pub(super) fn of_pointer(pointer: Ptr<u8>, pitch: u64, height: u64) -> Corner3 {
        let (kind, pitch, height) = (UNIFIED, pitch as usize, height as usize);
        Corner3 {
            at: [0; 3],
            level: 0,
            kind,
            host: Ptr::NULL,
            device: pointer,
            array: 0,
            context: 0,
            pitch,
            height,
        }
    }

    /// Describes an array from a position in bytes, rows and slices.
    pub(super) fn of_array(array: u64, at: [u64; 3]) -> Corner3 {
        let at = at.map(|n| n as usize);
        Corner3 {
            at,
            level: 0,
            kind: ARRAY,
            host: Ptr::NULL,
            device: Ptr::NULL,
            array,
            context: 0,
            pitch: 0,
            height: 0,
        }
    }

    fn side(&self, size: [usize; 3]) -> Result<Side, Error> {
        let place = place(self.kind, self.host, self.device, self.array, self.level)?;
        let pitch = if self.pitch == 0 { size[0] } else { self.pitch };
        let height = if self.height == 0 { size[1] } else { self.height };
        Ok(Side {
            place,
            at: self.at.map(|n| n as u64),
            pitch: pitch as u64,
            height: height as u64,
        })
    }
}

fn rect(description: Ptr<Rect>) -> Result<Copy, Error> {
    let rect = description.get()?;
    let size = [rect.width as u64, rect.height as u64, 1];
    if size.contains(&0) {
        return Ok(Copy::linear(CopySide::Device(0), CopySide::Device(0), 0));
    }
    let pitched =
        |corner: &Corner| corner.kind == ARRAY || corner.pitch == 0 || corner.pitch >= rect.width;
    require(pitched(&rect.from) && pitched(&rect.to))?;
    Ok(Copy { from: rect.from.side(rect.width)?, to: rect.to.side(rect.width)?, size })
}

pub(super) fn block(description: Ptr<Block>) -> Result<Copy, Error> {
    let Block { from, to, size } = description.get()?;
    block_between(from, to, size.map(|n| n as u64))
}

/// Makes a copy of a block; `bytes` has its bytes per row, rows and slices.
pub(super) fn block_between(from: Corner3, to: Corner3, bytes: [u64; 3]) -> Result<Copy, Error> {
    if bytes.contains(&0) {
        return Ok(Copy::linear(CopySide::Device(0), CopySide::Device(0), 0));
    }
    let size = bytes.map(|n| n as usize);
    let pitched = |corner: &Corner3| {
        corner.kind == ARRAY
            || (corner.pitch == 0 || corner.pitch >= size[0])
                && (corner.height == 0 || corner.height >= size[1])
    };
    require(pitched(&from) && pitched(&to))?;
    Ok(Copy { from: from.side(size)?, to: to.side(size)?, size: bytes })
}

/// Returns a copy as the C structure.
pub(super) fn block_of(copy: &Copy) -> Result<Block<u64>, Error> {
    let corner = |side: &Side| {
        let (mut kind, mut host, mut device, mut array, mut level) = (DEVICE, 0, 0, 0, 0);
        match &side.place {
            CopySide::Host(pointer) => (kind, host) = (HOST, pointer.address()),
            CopySide::Device(address) if crate::allocations::is_registered(*address) => {
                (kind, host) = (HOST, *address)
            }
            CopySide::Device(address) => device = *address,
            CopySide::Array(of, at) => {
                array = crate::array::ARRAYS.handle_of(of).ok_or(super::INVALID)?;
                (kind, level) = (ARRAY, *at as usize);
            }
            CopySide::Bytes(_) => return Err(super::INVALID),
        }
        let (pitch, height) = (side.pitch as usize, side.height as usize);
        Ok(Corner3 {
            at: side.at.map(|n| n as usize),
            level,
            kind,
            host,
            device,
            array,
            context: 0,
            pitch,
            height,
        })
    };
    Ok(Block {
        from: corner(&copy.from)?,
        to: corner(&copy.to)?,
        size: copy.size.map(|n| n as usize),
    })
}

/// Runs a copy before the call returns.
fn now(copy: Result<Copy, Error>) -> Answer {
    let (stream, context) = stream::get(0)?;
    let copy = copy?;
    copy.check()?;
    stream.wait_and(&context, || copy.run())
}

/// Submits a copy to a stream.
pub(super) fn later(copy: Result<Copy, Error>, stream: u64) -> Answer {
    let (stream, context) = stream::get(stream)?;
    let copy = copy?;
    copy.check()?;
    if copy.is_empty() {
        return Ok(());
    }
    stream.submit(&context, Operation::Copy(Box::new(copy)))
}

fn to_device(to: u64, from: Ptr<u8>, bytes: usize) -> Result<Copy, Error> {
    if bytes == 0 {
        return Ok(Copy::linear(CopySide::Device(0), CopySide::Device(0), 0));
    }
    Ok(Copy::linear(CopySide::of(from.required()?), CopySide::device(to)?, bytes as u64))
}

fn to_host(to: Ptr<u8>, from: u64, bytes: usize) -> Result<Copy, Error> {
    if bytes == 0 {
        return Ok(Copy::linear(CopySide::Device(0), CopySide::Device(0), 0));
    }
    Ok(Copy::linear(CopySide::device(from)?, CopySide::of(to.required()?), bytes as u64))
}

fn on_device(to: u64, from: u64, bytes: usize) -> Result<Copy, Error> {
    if bytes == 0 {
        return Ok(Copy::linear(CopySide::Device(0), CopySide::Device(0), 0));
    }
    Ok(Copy::linear(CopySide::device(from)?, CopySide::device(to)?, bytes as u64))
}

fn anywhere(to: Ptr<u8>, from: Ptr<u8>, bytes: usize) -> Result<Copy, Error> {
    Ok(Copy::linear(CopySide::of(from), CopySide::of(to), bytes as u64))
}

fn in_array(array: u64, offset: usize) -> Result<Side, Error> {
    let place = CopySide::Array(crate::array::get(array)?, 0);
    Ok(Side { place, at: [offset as u64, 0, 0], pitch: 0, height: 0 })
}

fn with_array(
    from: Result<Side, Error>,
    to: Result<Side, Error>,
    bytes: usize,
) -> Result<Copy, Error> {
    Ok(Copy { from: from?, to: to?, size: [bytes as u64, 1, 1] })
}

fn of_host(pointer: Ptr<u8>) -> Result<Side, Error> {
    Ok(Side::linear(CopySide::of(pointer.required()?)))
}

fn of_device(address: u64) -> Result<Side, Error> {
    Ok(Side::linear(CopySide::device(address)?))
}

fn fill(address: u64, pitch: usize, value: u32, element: u64, width: usize, rows: usize) -> Fill {
    Fill { address, pitch: pitch as u64, value, element, width: width as u64, rows: rows as u64 }
}

/// Fills memory in the default stream. The host waits if it can access the memory.
fn fill_now(fill: Fill) -> Answer {
    if !crate::allocations::find(fill.address).is_some_and(|found| found.is_for_host()) {
        return fill_in(fill, 0);
    }
    let (stream, context) = stream::get(0)?;
    fill.check()?;
    stream.wait_and(&context, || fill.run())
}

fn fill_in(fill: Fill, stream: u64) -> Answer {
    let (stream, context) = stream::get(stream)?;
    fill.check()?;
    stream.submit(&context, Operation::Fill(fill))
}

api! {
    fn cuMemcpy(to: Ptr<u8>, from: Ptr<u8>, bytes: usize) / cuMemcpy_ptds {
        now(anywhere(to, from, bytes))
    }

    fn cuMemcpyAsync(to: Ptr<u8>, from: Ptr<u8>, bytes: usize, stream: u64) / cuMemcpyAsync_ptsz {
        later(anywhere(to, from, bytes), stream)
    }

    fn cuMemcpyPeer(to: u64, _to_context: u64, from: u64, _from_context: u64, bytes: usize) / cuMemcpyPeer_ptds {
        now(on_device(to, from, bytes))
    }

    fn cuMemcpyPeerAsync(to: u64, _to_context: u64, from: u64, _from_context: u64, bytes: usize, stream: u64) / cuMemcpyPeerAsync_ptsz {
        later(on_device(to, from, bytes), stream)
    }

    fn cuMemcpyHtoD_v2(to: u64, from: Ptr<u8>, bytes: usize) / cuMemcpyHtoD_v2_ptds {
        now(to_device(to, from, bytes))
    }

    fn cuMemcpyHtoDAsync_v2(to: u64, from: Ptr<u8>, bytes: usize, stream: u64) / cuMemcpyHtoDAsync_v2_ptsz {
        later(to_device(to, from, bytes), stream)
    }

    fn cuMemcpyDtoH_v2(to: Ptr<u8>, from: u64, bytes: usize) / cuMemcpyDtoH_v2_ptds {
        now(to_host(to, from, bytes))
    }

    fn cuMemcpyDtoHAsync_v2(to: Ptr<u8>, from: u64, bytes: usize, stream: u64) / cuMemcpyDtoHAsync_v2_ptsz {
        later(to_host(to, from, bytes), stream)
    }

    fn cuMemcpyDtoD_v2(to: u64, from: u64, bytes: usize) / cuMemcpyDtoD_v2_ptds {
        later(on_device(to, from, bytes), 0)
    }

    fn cuMemcpyDtoDAsync_v2(to: u64, from: u64, bytes: usize, stream: u64) / cuMemcpyDtoDAsync_v2_ptsz {
        later(on_device(to, from, bytes), stream)
    }

    fn cuMemcpyHtoA_v2(array: u64, offset: usize, from: Ptr<u8>, bytes: usize) / cuMemcpyHtoA_v2_ptds {
        now(with_array(of_host(from), in_array(array, offset), bytes))
    }

    fn cuMemcpyHtoAAsync_v2(array: u64, offset: usize, from: Ptr<u8>, bytes: usize, stream: u64) / cuMemcpyHtoAAsync_v2_ptsz {
        later(with_array(of_host(from), in_array(array, offset), bytes), stream)
    }

    fn cuMemcpyAtoH_v2(to: Ptr<u8>, array: u64, offset: usize, bytes: usize) / cuMemcpyAtoH_v2_ptds {
        now(with_array(in_array(array, offset), of_host(to), bytes))
    }

    fn cuMemcpyAtoHAsync_v2(to: Ptr<u8>, array: u64, offset: usize, bytes: usize, stream: u64) / cuMemcpyAtoHAsync_v2_ptsz {
        later(with_array(in_array(array, offset), of_host(to), bytes), stream)
    }

    fn cuMemcpyAtoD_v2(to: u64, array: u64, offset: usize, bytes: usize) / cuMemcpyAtoD_v2_ptds {
        later(with_array(in_array(array, offset), of_device(to), bytes), 0)
    }

    fn cuMemcpyDtoA_v2(array: u64, offset: usize, from: u64, bytes: usize) / cuMemcpyDtoA_v2_ptds {
        later(with_array(of_device(from), in_array(array, offset), bytes), 0)
    }

    fn cuMemcpyAtoA_v2(to: u64, to_offset: usize, from: u64, from_offset: usize, bytes: usize) / cuMemcpyAtoA_v2_ptds {
        later(with_array(in_array(from, from_offset), in_array(to, to_offset), bytes), 0)
    }

    fn cuMemcpy2D_v2(description: Ptr<Rect>) / cuMemcpy2D_v2_ptds {
        now(rect(description))
    }

    fn cuMemcpy2DUnaligned_v2(description: Ptr<Rect>) / cuMemcpy2DUnaligned_v2_ptds {
        now(rect(description))
    }

    fn cuMemcpy2DAsync_v2(description: Ptr<Rect>, stream: u64) / cuMemcpy2DAsync_v2_ptsz {
        later(rect(description), stream)
    }

    fn cuMemcpy3D_v2(description: Ptr<Block>) / cuMemcpy3D_v2_ptds {
        now(block(description))
    }

    fn cuMemcpy3DAsync_v2(description: Ptr<Block>, stream: u64) / cuMemcpy3DAsync_v2_ptsz {
        later(block(description), stream)
    }

    fn cuMemcpy3DPeer(description: Ptr<Block>) / cuMemcpy3DPeer_ptds {
        now(block(description))
    }

    fn cuMemcpy3DPeerAsync(description: Ptr<Block>, stream: u64) / cuMemcpy3DPeerAsync_ptsz {
        later(block(description), stream)
    }

    fn cuMemsetD8_v2(address: u64, value: u8, count: usize) / cuMemsetD8_v2_ptds {
        fill_now(fill(address, 0, value.into(), 1, count, 1))
    }

    fn cuMemsetD16_v2(address: u64, value: u16, count: usize) / cuMemsetD16_v2_ptds {
        fill_now(fill(address, 0, value.into(), 2, count, 1))
    }

    fn cuMemsetD32_v2(address: u64, value: u32, count: usize) / cuMemsetD32_v2_ptds {
        fill_now(fill(address, 0, value, 4, count, 1))
    }

    fn cuMemsetD8Async(address: u64, value: u8, count: usize, stream: u64) / cuMemsetD8Async_ptsz {
        fill_in(fill(address, 0, value.into(), 1, count, 1), stream)
    }

    fn cuMemsetD16Async(address: u64, value: u16, count: usize, stream: u64) / cuMemsetD16Async_ptsz {
        fill_in(fill(address, 0, value.into(), 2, count, 1), stream)
    }

    fn cuMemsetD32Async(address: u64, value: u32, count: usize, stream: u64) / cuMemsetD32Async_ptsz {
        fill_in(fill(address, 0, value, 4, count, 1), stream)
    }

    fn cuMemsetD2D8_v2(address: u64, pitch: usize, value: u8, width: usize, height: usize) / cuMemsetD2D8_v2_ptds {
        fill_now(fill(address, pitch, value.into(), 1, width, height))
    }

    fn cuMemsetD2D16_v2(address: u64, pitch: usize, value: u16, width: usize, height: usize) / cuMemsetD2D16_v2_ptds {
        fill_now(fill(address, pitch, value.into(), 2, width, height))
    }

    fn cuMemsetD2D32_v2(address: u64, pitch: usize, value: u32, width: usize, height: usize) / cuMemsetD2D32_v2_ptds {
        fill_now(fill(address, pitch, value, 4, width, height))
    }

    fn cuMemsetD2D8Async(address: u64, pitch: usize, value: u8, width: usize, height: usize, stream: u64) / cuMemsetD2D8Async_ptsz {
        fill_in(fill(address, pitch, value.into(), 1, width, height), stream)
    }

    fn cuMemsetD2D16Async(address: u64, pitch: usize, value: u16, width: usize, height: usize, stream: u64) / cuMemsetD2D16Async_ptsz {
        fill_in(fill(address, pitch, value.into(), 2, width, height), stream)
    }

    fn cuMemsetD2D32Async(address: u64, pitch: usize, value: u32, width: usize, height: usize, stream: u64) / cuMemsetD2D32Async_ptsz {
        fill_in(fill(address, pitch, value, 4, width, height), stream)
    }
}
