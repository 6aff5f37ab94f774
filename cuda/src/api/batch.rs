//! Copies in batches, and copies with attributes that this driver does not need.

use super::copy::{Corner3, block_between, later};
use super::managed::{location, prefetch};
use super::memory::is_location;
use super::require;
use crate::allocations::{self, Kind};
use crate::boundary::{Plain, Ptr, api, plain};
use crate::copies::{Copy, CopySide};
use crate::error::{Answer, Error};
use crate::{array, boundary, context, stream};

plain! {
    /// `CUmemcpyAttributes`: when the source is read, and hints.
    pub struct Attributes {
        order: u32,
        hints: [u32; 4],
        flags: u32,
    }

    /// `CUmemcpy3DOperand`: the kind of operand, and the words of either kind.
    struct Operand {
        kind: u32,
        /// A pointer, or the handle of an array.
        first: Ptr<u8>,
        words: [u64; 3],
    }

    /// `CUDA_MEMCPY3D_BATCH_OP`.
    pub struct Block {
        from: Operand,
        to: Operand,
        /// In elements if an array takes part, else in bytes.
        size: [usize; 3],
        order: u32,
        flags: u32,
    }
}

const _: () =
    assert!(size_of::<Attributes>() == size_of::<cudarc::driver::sys::CUmemcpyAttributes_st>());
const _: () =
    assert!(size_of::<Block>() == size_of::<cudarc::driver::sys::CUDA_MEMCPY3D_BATCH_OP_st>());

/// The values of `CUmemcpySrcAccessOrder`: in stream order, during the call, any order.
const ORDERS: std::ops::RangeInclusive<u32> = 1..=3;
/// Values of `CUmemcpy3DOperandType`.
const POINTER: u32 = 1;
const ARRAY: u32 = 2;

/// Checks that a stream is the program's own: these calls refuse the default streams.
fn own_stream(stream: u64) -> Answer {
    require(stream > 1 || boundary::per_thread_stream())?;
    stream::get(stream).map(|_| ())
}

/// A list with one entry for each run of consecutive operations. `starts` has the number of the
/// first operation of each run.
struct Parts<T> {
    list: Ptr<T>,
    starts: Ptr<usize>,
    number: usize,
}

impl<T: Plain> Parts<T> {
    fn check(&self, count: usize, is_good: impl Fn(T) -> bool) -> Answer {
        require((1..=count).contains(&self.number))?;
        let starts = self.starts.list(self.number)?;
        require(
            starts[0] == 0 && starts.is_sorted_by(|a, b| a < b) && starts[self.number - 1] < count,
        )?;
        require(self.list.list(self.number)?.into_iter().all(is_good))
    }
}

/// Copies between each pair of addresses. Checks the attributes, which change nothing here.
fn pairs(
    to: Ptr<Ptr<u8>>,
    from: Ptr<Ptr<u8>>,
    sizes: Ptr<usize>,
    count: usize,
    attributes: Parts<Attributes>,
    stream: u64,
) -> Answer {
    attributes.check(count, |attributes| ORDERS.contains(&attributes.order))?;
    own_stream(stream)?;
    for i in 0..count {
        let (to, from, bytes) = (to.get_at(i)?, from.get_at(i)?, sizes.get_at(i)?);
        let (to, from) = (to.required()?, from.required()?);
        later(Ok(Copy::linear(CopySide::of(from), CopySide::of(to), bytes as u64)), stream)?;
    }
    Ok(())
}

impl Operand {
    /// Returns the bytes of an element if the operand is an array.
    fn element(&self) -> Result<Option<u64>, Error> {
        if self.kind != ARRAY {
            return Ok(None);
        }
        let described = array::get(self.first.address())?.description;
        Ok(Some(array::format(described.format, described.channels, false, false)?.bytes.into()))
    }

    fn corner(&self, element: u64) -> Result<Corner3, Error> {
        let [a, b, c] = self.words;
        let bytes = |n: u64| n.checked_mul(element).ok_or(super::INVALID);
        match self.kind {
            POINTER => Ok(Corner3::of_pointer(self.first, bytes(a)?, b)),
            ARRAY => Ok(Corner3::of_array(self.first.address(), [bytes(a)?, b, c])),
            _ => Err(super::INVALID),
        }
    }
}

fn block(block: &Block, stream: u64) -> Answer {
    require(ORDERS.contains(&block.order))?;
    let element = block.from.element()?.or(block.to.element()?).unwrap_or(1);
    let [width, height, depth] = block.size.map(|n| n as u64);
    let size = [width.checked_mul(element).ok_or(super::INVALID)?, height, depth];
    later(block_between(block.from.corner(element)?, block.to.corner(element)?, size), stream)
}

fn blocks(blocks: Ptr<Block>, count: usize, flags: u64, stream: u64) -> Answer {
    require(count > 0 && flags == 0)?;
    own_stream(stream)?;
    (0..count).try_for_each(|i| block(&blocks.get_at(i)?, stream))
}

/// Prefetches each range of managed memory to its location. The memory itself stays in place.
fn sent(
    addresses: Ptr<u64>,
    sizes: Ptr<usize>,
    count: usize,
    places: Parts<u64>,
    flags: u64,
    stream: u64,
) -> Answer {
    places.check(count, is_location)?;
    ranges(addresses, sizes, count, flags, stream)?;
    let starts = places.starts.list(places.number)?;
    for i in 0..count {
        let place = starts.partition_point(|&start| start <= i) - 1;
        prefetch(addresses.get_at(i)?, sizes.get_at(i)?, location(places.list.get_at(place)?)?)?;
    }
    Ok(())
}

fn ranges(addresses: Ptr<u64>, sizes: Ptr<usize>, count: usize, flags: u64, stream: u64) -> Answer {
    require(count > 0 && flags == 0)?;
    stream::get(stream)?;
    context::current()?;
    for i in 0..count {
        let (address, bytes) = (addresses.get_at(i)?, sizes.get_at(i)? as u64);
        let found = allocations::find(address)
            .filter(|found| found.kind == Kind::Managed)
            .ok_or(super::INVALID)?;
        require(bytes > 0 && bytes <= found.bytes - (address - found.address))?;
    }
    Ok(())
}

api! {
    fn cuMemcpyBatchAsync(
        to: Ptr<Ptr<u8>>, from: Ptr<Ptr<u8>>, sizes: Ptr<usize>, count: usize, list: Ptr<Attributes>, starts: Ptr<usize>, number: usize,
        failed: Ptr<usize>, stream: u64,
    ) / cuMemcpyBatchAsync_ptsz {
        // The number of the failed copy is not known.
        failed.set_if(usize::MAX);
        pairs(to, from, sizes, count, Parts { list, starts, number }, stream)
    }

    fn cuMemcpyBatchAsync_v2(
        to: Ptr<Ptr<u8>>, from: Ptr<Ptr<u8>>, sizes: Ptr<usize>, count: usize, list: Ptr<Attributes>, starts: Ptr<usize>, number: usize,
        stream: u64,
    ) / cuMemcpyBatchAsync_v2_ptsz {
        pairs(to, from, sizes, count, Parts { list, starts, number }, stream)
    }

    fn cuMemcpy3DBatchAsync(count: usize, list: Ptr<Block>, failed: Ptr<usize>, flags: u64, stream: u64) / cuMemcpy3DBatchAsync_ptsz {
        failed.set_if(usize::MAX);
        blocks(list, count, flags, stream)
    }

    fn cuMemcpy3DBatchAsync_v2(count: usize, list: Ptr<Block>, flags: u64, stream: u64) / cuMemcpy3DBatchAsync_v2_ptsz {
        blocks(list, count, flags, stream)
    }

    fn cuMemcpyWithAttributesAsync(to: Ptr<u8>, from: Ptr<u8>, bytes: usize, attributes: Ptr<Attributes>, stream: u64) / cuMemcpyWithAttributesAsync_ptsz {
        require(ORDERS.contains(&attributes.get()?.order))?;
        later(Ok(Copy::linear(CopySide::of(from), CopySide::of(to), bytes as u64)), stream)
    }

    fn cuMemcpy3DWithAttributesAsync(one: Ptr<Block>, flags: u64, stream: u64) / cuMemcpy3DWithAttributesAsync_ptsz {
        require(flags == 0)?;
        block(&one.get()?, stream)
    }

    fn cuMemPrefetchBatchAsync(
        addresses: Ptr<u64>, sizes: Ptr<usize>, count: usize, list: Ptr<u64>, starts: Ptr<usize>, number: usize, flags: u64, stream: u64,
    ) / cuMemPrefetchBatchAsync_ptsz {
        sent(addresses, sizes, count, Parts { list, starts, number }, flags, stream)
    }

    /// Discarded memory may have any content, also its old content.
    fn cuMemDiscardBatchAsync(addresses: Ptr<u64>, sizes: Ptr<usize>, count: usize, flags: u64, stream: u64) / cuMemDiscardBatchAsync_ptsz {
        ranges(addresses, sizes, count, flags, stream)
    }

    fn cuMemDiscardAndPrefetchBatchAsync(
        addresses: Ptr<u64>, sizes: Ptr<usize>, count: usize, list: Ptr<u64>, starts: Ptr<usize>, number: usize, flags: u64, stream: u64,
    ) / cuMemDiscardAndPrefetchBatchAsync_ptsz {
        sent(addresses, sizes, count, Parts { list, starts, number }, flags, stream)
    }
}
