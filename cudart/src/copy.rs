//! Copies and fills. Copies of anything but a plain range use the driver's three-dimensional copy.

use std::ffi::{c_int, c_void};
use std::ptr::null_mut;

use crate::api::{api, get};
use crate::array::{element_bytes, extent_of};
use crate::driver;
use crate::error::{INVALID_MEMCPY_DIRECTION, INVALID_VALUE, Result};
use crate::stream::When;
use crate::types::{
    Copy3D, DevicePointer, Extent, Handle, Memcpy3D, Memcpy3DPeer, PitchedPointer, Position, Side,
    Stream,
};

/// `cudaMemcpyKind`; a copy within the host is 0.
pub const HOST_TO_DEVICE: c_int = 1;
pub const DEVICE_TO_HOST: c_int = 2;
pub const DEVICE_TO_DEVICE: c_int = 3;
pub const DEFAULT: c_int = 4;

/// `CUmemorytype`
const HOST: c_int = 1;
const DEVICE: c_int = 2;
const UNIFIED: c_int = 4;

/// Returns the kinds of the source's and of the target's memory. The driver finds the kinds of
/// unified addresses.
fn memory_types(kind: c_int) -> Result<(c_int, c_int)> {
    match kind {
        0 => Ok((HOST, HOST)),
        HOST_TO_DEVICE => Ok((HOST, DEVICE)),
        DEVICE_TO_HOST => Ok((DEVICE, HOST)),
        DEVICE_TO_DEVICE => Ok((DEVICE, DEVICE)),
        DEFAULT => Ok((UNIFIED, UNIFIED)),
        _ => Err(INVALID_MEMCPY_DIRECTION),
    }
}

/// Describes a side of a copy that lies in memory.
fn in_memory(kind: c_int, pointer: *mut c_void, pitch: usize, rows: usize, at: Position) -> Side {
    Side {
        x_bytes: at.x,
        y: at.y,
        z: at.z,
        level: 0,
        kind,
        host: pointer,
        device: pointer as DevicePointer,
        array: null_mut(),
        reserved: null_mut(),
        pitch,
        rows,
    }
}

/// Describes a side of a copy that lies in an array; `x` is in bytes.
fn in_array(array: Handle, at: Position) -> Side {
    const ARRAY: c_int = 3;
    Side { array, ..in_memory(ARRAY, null_mut(), 0, 0, at) }
}

const START: Position = Position { x: 0, y: 0, z: 0 };

/// # Safety
///
/// The sides' memory is valid for the copy.
unsafe fn box_of(copy: Copy3D, when: When) -> Result<()> {
    if copy.width == 0 || copy.height == 0 || copy.depth == 0 {
        return Ok(());
    }
    // SAFETY: the caller's promise
    when.run(
        || unsafe { driver::cuMemcpy3D_v2(&copy) },
        |stream| unsafe { driver::cuMemcpy3DAsync_v2(&copy, stream) },
    )
}

/// Copies a range of bytes.
///
/// # Safety
///
/// Both pointers are valid for `bytes` bytes.
pub unsafe fn linear(
    to: *mut c_void,
    from: *const c_void,
    bytes: usize,
    kind: c_int,
    when: When,
) -> Result<()> {
    memory_types(kind)?;
    if bytes == 0 {
        return Ok(());
    }
    let (target, source) = (to as DevicePointer, from as DevicePointer);
    // SAFETY: the caller's promise
    when.run(
        || unsafe {
            match kind {
                HOST_TO_DEVICE => driver::cuMemcpyHtoD_v2(target, from, bytes),
                DEVICE_TO_HOST => driver::cuMemcpyDtoH_v2(to, source, bytes),
                DEVICE_TO_DEVICE => driver::cuMemcpyDtoD_v2(target, source, bytes),
                _ => driver::cuMemcpy(target, source, bytes),
            }
        },
        |stream| unsafe {
            match kind {
                HOST_TO_DEVICE => driver::cuMemcpyHtoDAsync_v2(target, from, bytes, stream),
                DEVICE_TO_HOST => driver::cuMemcpyDtoHAsync_v2(to, source, bytes, stream),
                DEVICE_TO_DEVICE => driver::cuMemcpyDtoDAsync_v2(target, source, bytes, stream),
                _ => driver::cuMemcpyAsync(target, source, bytes, stream),
            }
        },
    )
}

/// Rows in memory.
struct Rows {
    pointer: *mut c_void,
    pitch: usize,
}

/// # Safety
///
/// Both pointers are valid for `height` rows of `width` bytes.
unsafe fn rows(
    to: Rows,
    from: Rows,
    width: usize,
    height: usize,
    kind: c_int,
    when: When,
) -> Result<()> {
    let (source, target) = memory_types(kind)?;
    if height > 1 && (to.pitch < width || from.pitch < width) {
        return Err(crate::error::Code(12)); // cudaErrorInvalidPitchValue
    }
    let from = in_memory(source, from.pointer, from.pitch, height, START);
    let to = in_memory(target, to.pointer, to.pitch, height, START);
    // SAFETY: the caller's promise
    unsafe { box_of(Copy3D { from, to, width, height, depth: 1 }, when) }
}

/// A place in an array: bytes and rows from its start.
#[derive(Clone, Copy)]
struct Place {
    array: Handle,
    x: usize,
    y: usize,
}

impl Place {
    fn side(self) -> Side {
        in_array(self.array, Position { x: self.x, y: self.y, z: 0 })
    }
}

/// The direction of a copy of rows: from memory to an array, or from an array to memory.
enum Direction {
    Into(Place, Rows),
    OutOf(Rows, Place),
}

/// # Safety
///
/// The memory is valid for `height` rows of `width` bytes.
unsafe fn array_rows(
    way: Direction,
    width: usize,
    height: usize,
    kind: c_int,
    when: When,
) -> Result<()> {
    let (source, target) = memory_types(kind)?;
    let (from, to) = match way {
        Direction::Into(place, rows) => {
            (in_memory(source, rows.pointer, rows.pitch, height, START), place.side())
        }
        Direction::OutOf(rows, place) => {
            (place.side(), in_memory(target, rows.pointer, rows.pitch, height, START))
        }
    };
    // SAFETY: the caller's promise
    unsafe { box_of(Copy3D { from, to, width, height, depth: 1 }, when) }
}

/// Copies a range of bytes into an array or out of an array. The range starts at a place in the
/// array and continues through its rows.
///
/// # Safety
///
/// The memory is valid for `bytes` bytes.
unsafe fn array_range(
    place: Place,
    memory: *mut c_void,
    into: bool,
    bytes: usize,
    kind: c_int,
    when: When,
) -> Result<()> {
    let row = extent_of(place.array)?.width * element_bytes(place.array)?;
    if place.x > row || row == 0 {
        return Err(INVALID_VALUE);
    }
    let (mut place, mut done) = (place, 0);
    while done < bytes {
        let left = bytes - done;
        let (width, height) = if place.x == 0 && left >= row {
            (row, left / row)
        } else {
            (left.min(row - place.x), 1)
        };
        let rows = Rows { pointer: memory.wrapping_byte_add(done), pitch: width };
        let way = if into { Direction::Into(place, rows) } else { Direction::OutOf(rows, place) };
        // SAFETY: the rows are a part of the range that the caller vouches for
        unsafe { array_rows(way, width, height, kind, when)? };
        done += width * height;
        place = Place { x: 0, y: place.y + height, ..place };
    }
    Ok(())
}

/// Returns the driver's description of a copy of a box.
pub fn described(parameters: &Memcpy3D) -> Result<Copy3D> {
    let (source, target) = memory_types(parameters.kind)?;
    let element = match [parameters.from_array, parameters.to_array]
        .into_iter()
        .find(|array| !array.is_null())
    {
        Some(array) => element_bytes(array)?,
        None => 1,
    };
    let side = |array: Handle, memory: &PitchedPointer, at: Position, kind| {
        if array.is_null() {
            in_memory(kind, memory.pointer, memory.pitch, memory.height, at)
        } else {
            in_array(array, Position { x: at.x * element, ..at })
        }
    };
    Ok(Copy3D {
        from: side(parameters.from_array, &parameters.from, parameters.from_position, source),
        to: side(parameters.to_array, &parameters.to, parameters.to_position, target),
        width: parameters.extent.width.checked_mul(element).ok_or(INVALID_VALUE)?,
        height: parameters.extent.height,
        depth: parameters.extent.depth,
    })
}

/// Returns the runtime's description of a copy that the driver describes.
pub fn shown(copy: &Copy3D) -> Result<Memcpy3D> {
    let element = match [copy.from.array, copy.to.array].into_iter().find(|array| !array.is_null())
    {
        Some(array) => element_bytes(array)?,
        None => 1,
    };
    let position = |side: &Side| {
        let element = if side.array.is_null() { 1 } else { element };
        Position { x: side.x_bytes / element, y: side.y, z: side.z }
    };
    let memory = |side: &Side| PitchedPointer {
        pointer: if side.kind == HOST { side.host } else { side.device as *mut c_void },
        pitch: side.pitch,
        width: side.pitch,
        height: side.rows,
    };
    let kind = match (copy.from.kind, copy.to.kind) {
        (UNIFIED, _) | (_, UNIFIED) => DEFAULT,
        (HOST, HOST) => 0,
        (HOST, _) => HOST_TO_DEVICE,
        (_, HOST) => DEVICE_TO_HOST,
        _ => DEVICE_TO_DEVICE,
    };
    Ok(Memcpy3D {
        from_array: copy.from.array,
        from_position: position(&copy.from),
        from: memory(&copy.from),
        to_array: copy.to.array,
        to_position: position(&copy.to),
        to: memory(&copy.to),
        extent: Extent { width: copy.width / element, height: copy.height, depth: copy.depth },
        kind,
    })
}

/// Returns the driver's description of a copy of a range.
pub fn described_range(
    to: *mut c_void,
    from: *const c_void,
    bytes: usize,
    kind: c_int,
) -> Result<Copy3D> {
    let (source, target) = memory_types(kind)?;
    Ok(Copy3D {
        from: in_memory(source, from.cast_mut(), bytes, 1, START),
        to: in_memory(target, to, bytes, 1, START),
        width: bytes,
        height: 1,
        depth: 1,
    })
}

/// Copies a box between devices. The driver finds the devices by the addresses.
///
/// # Safety
///
/// The contract of `cudaMemcpy3D`.
unsafe fn peer_volume(parameters: &Memcpy3DPeer, when: When) -> Result<()> {
    let same = Memcpy3D {
        from_array: parameters.from_array,
        from_position: parameters.from_position,
        from: parameters.from,
        to_array: parameters.to_array,
        to_position: parameters.to_position,
        to: parameters.to,
        extent: parameters.extent,
        kind: DEFAULT,
    };
    // SAFETY: the caller's promise
    unsafe { box_of(described(&same)?, when) }
}

/// # Safety
///
/// The memory is valid for `depth` slices of `height` rows of `width` bytes.
unsafe fn fill(to: PitchedPointer, value: c_int, extent: Extent, when: When) -> Result<()> {
    let value = value as u8; // the documentation: converted to unsigned char
    let Extent { width, height, depth } = extent;
    if width == 0 || height == 0 || depth == 0 {
        return Ok(());
    }
    for slice in 0..depth {
        let start = (to.pointer as DevicePointer) + (slice * to.pitch * to.height) as DevicePointer;
        let of_one_row = height == 1;
        when.run(
            // SAFETY: the caller's promise
            || unsafe {
                if of_one_row {
                    driver::cuMemsetD8_v2(start, value, width)
                } else {
                    driver::cuMemsetD2D8_v2(start, to.pitch, value, width, height)
                }
            },
            // SAFETY: the caller's promise
            |stream| unsafe {
                if of_one_row {
                    driver::cuMemsetD8Async(start, value, width, stream)
                } else {
                    driver::cuMemsetD2D8Async(start, to.pitch, value, width, height, stream)
                }
            },
        )?;
    }
    Ok(())
}

/// # Safety
///
/// The memory is valid for `bytes` bytes.
unsafe fn fill_range(pointer: *mut c_void, value: c_int, bytes: usize, when: When) -> Result<()> {
    let to = PitchedPointer { pointer, pitch: bytes, width: bytes, height: 1 };
    // SAFETY: the caller's promise
    unsafe { fill(to, value, Extent { width: bytes, height: 1, depth: 1 }, when) }
}

/// # Safety
///
/// The memory is valid for `height` rows of `width` bytes.
unsafe fn fill_rows(
    pointer: *mut c_void,
    pitch: usize,
    value: c_int,
    width: usize,
    height: usize,
    when: When,
) -> Result<()> {
    let to = PitchedPointer { pointer, pitch, width, height };
    // SAFETY: the caller's promise
    unsafe { fill(to, value, Extent { width, height, depth: 1 }, when) }
}

/// Defines a copy or a fill that returns when it is done, and its variant in a stream.
macro_rules! copies {
    ($(#[$doc:meta] fn $now:ident, $queued:ident($($arg:ident: $t:ty),*) |$when:ident| $body:expr;)*) => {
        api! {$(
            #[$doc]
            fn $now($($arg: $t),*) / ptds($when) {
                $body
            }
            #[$doc]
            fn $queued($($arg: $t,)* stream: Stream) / ptsz(stream) {
                let $when = When::In(stream);
                $body
            }
        )*}
    };
}

copies! {
    /// Copies a range.
    fn cudaMemcpy, cudaMemcpyAsync(
        dst: *mut c_void, src: *const c_void, count: usize, kind: c_int
    ) |when| linear(dst, src, count, kind, when);

    /// Copies rows.
    fn cudaMemcpy2D, cudaMemcpy2DAsync(
        dst: *mut c_void, dpitch: usize, src: *const c_void, spitch: usize, width: usize, height: usize, kind: c_int
    ) |when| rows(
        Rows { pointer: dst, pitch: dpitch }, Rows { pointer: src.cast_mut(), pitch: spitch }, width, height, kind, when
    );

    /// Copies rows into an array.
    fn cudaMemcpy2DToArray, cudaMemcpy2DToArrayAsync(
        array: Handle, x: usize, y: usize, src: *const c_void, pitch: usize, width: usize, height: usize, kind: c_int
    ) |when| array_rows(
        Direction::Into(Place { array, x, y }, Rows { pointer: src.cast_mut(), pitch }), width, height, kind, when
    );

    /// Copies rows out of an array.
    fn cudaMemcpy2DFromArray, cudaMemcpy2DFromArrayAsync(
        dst: *mut c_void, pitch: usize, array: Handle, x: usize, y: usize, width: usize, height: usize, kind: c_int
    ) |when| array_rows(
        Direction::OutOf(Rows { pointer: dst, pitch }, Place { array, x, y }), width, height, kind, when
    );

    /// Copies a range into an array.
    fn cudaMemcpyToArray, cudaMemcpyToArrayAsync(
        array: Handle, x: usize, y: usize, src: *const c_void, count: usize, kind: c_int
    ) |when| array_range(Place { array, x, y }, src.cast_mut(), true, count, kind, when);

    /// Copies a range out of an array.
    fn cudaMemcpyFromArray, cudaMemcpyFromArrayAsync(
        dst: *mut c_void, array: Handle, x: usize, y: usize, count: usize, kind: c_int
    ) |when| array_range(Place { array, x, y }, dst, false, count, kind, when);

    /// Copies a box.
    fn cudaMemcpy3D, cudaMemcpy3DAsync(
        parameters: *const Memcpy3D
    ) |when| box_of(described(get(parameters)?)?, when);

    /// Copies a box between devices.
    fn cudaMemcpy3DPeer, cudaMemcpy3DPeerAsync(
        parameters: *const Memcpy3DPeer
    ) |when| peer_volume(get(parameters)?, when);

    /// Fills a range with a byte.
    fn cudaMemset, cudaMemsetAsync(
        pointer: *mut c_void, value: c_int, count: usize
    ) |when| fill_range(pointer, value, count, when);

    /// Fills rows with a byte.
    fn cudaMemset2D, cudaMemset2DAsync(
        pointer: *mut c_void, pitch: usize, value: c_int, width: usize, height: usize
    ) |when| fill_rows(pointer, pitch, value, width, height, when);

    /// Fills a box with a byte.
    fn cudaMemset3D, cudaMemset3DAsync(
        to: PitchedPointer, value: c_int, extent: Extent
    ) |when| fill(to, value, extent, when);
}

/// Copies rows between arrays.
///
/// # Safety
///
/// The arrays are the driver's.
unsafe fn between(to: Place, from: Place, width: usize, height: usize, when: When) -> Result<()> {
    // SAFETY: the driver checks arrays
    unsafe { box_of(Copy3D { from: from.side(), to: to.side(), width, height, depth: 1 }, when) }
}

api! {
    /// Copies a range between devices.
    fn cudaMemcpyPeer(dst: *mut c_void, _dst_device: c_int, src: *const c_void, _src_device: c_int, count: usize) {
        linear(dst, src, count, DEFAULT, When::Now)
    }

    /// Copies a range between devices, in a stream.
    fn cudaMemcpyPeerAsync(
        dst: *mut c_void, _dst_device: c_int, src: *const c_void, _src_device: c_int, count: usize, stream: Stream,
    ) {
        linear(dst, src, count, DEFAULT, When::In(stream))
    }

    /// Copies rows between arrays.
    fn cudaMemcpy2DArrayToArray(
        dst: Handle, to_x: usize, to_y: usize, src: Handle, x: usize, y: usize, width: usize, height: usize, _kind: c_int,
    ) / ptds(when) {
        between(Place { array: dst, x: to_x, y: to_y }, Place { array: src, x, y }, width, height, when)
    }

    /// Copies a range of one row between arrays.
    fn cudaMemcpyArrayToArray(
        dst: Handle, to_x: usize, to_y: usize, src: Handle, x: usize, y: usize, count: usize, _kind: c_int,
    ) / ptds(when) {
        between(Place { array: dst, x: to_x, y: to_y }, Place { array: src, x, y }, count, 1, when)
    }
}
