//! Streams.

use std::ffi::c_void;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

use super::require;
use crate::boundary::{Ptr, StreamCallback, api, plain};
use crate::error::{Answer, Error};
use crate::operation::Operation;
use crate::stream::{self, Stream};
use crate::{allocations, context};

/// The highest priority; the lowest is 0.
pub(super) const GREATEST_PRIORITY: i32 = -5;

plain! {
    /// `CUstreamAttrValue`.
    pub struct AttributeValue {
        words: [u64; 8],
    }
}

plain! {
    /// `CUstreamBatchMemOpParams`.
    pub struct MemoryOperation {
        kind: u32,
        padding: u32,
        address: u64,
        value: u64,
        flags: u32,
        rest: u32,
        alias: u64,
        more: u64,
    }
}

const _: () =
    assert!(size_of::<AttributeValue>() == size_of::<cudarc::driver::sys::CUstreamAttrValue>());
const _: () = assert!(
    size_of::<MemoryOperation>() == size_of::<cudarc::driver::sys::CUstreamBatchMemOpParams>()
);

/// Values of `CUstreamBatchMemOpType`.
mod memory_operation {
    pub const WAIT_32: u32 = 1;
    pub const WRITE_32: u32 = 2;
    pub const FLUSH: u32 = 3;
    pub const WAIT_64: u32 = 4;
    pub const WRITE_64: u32 = 5;
    pub const BARRIER: u32 = 6;
}

fn create(out: Ptr<u64>, flags: u32, priority: i32) -> Answer {
    out.required()?;
    require(flags <= 1)?;
    let context = context::current()?;
    out.set(Stream::create(&context, flags, priority.clamp(GREATEST_PRIORITY, 0)))
}

fn value_operation(kind: u32, address: u64, value: u64, flags: u32) -> Result<Operation, Error> {
    use memory_operation as op;
    let (wait, wide) = match kind {
        op::FLUSH | op::BARRIER => return Ok(Operation::Nothing),
        op::WAIT_32 => (true, false),
        op::WRITE_32 => (false, false),
        op::WAIT_64 => (true, true),
        op::WRITE_64 => (false, true),
        _ => return Err(super::INVALID),
    };
    let size = if wide { 8 } else { 4 };
    require(address.is_multiple_of(size) && allocations::is_mapped(address, size))?;
    Ok(if wait {
        Operation::Wait { address, value, wide, how: flags }
    } else {
        Operation::Write { address, value, wide }
    })
}

fn on_value(stream: u64, kind: u32, address: u64, value: u64, flags: u32) -> Answer {
    let (stream, context) = stream::get(stream)?;
    stream.submit(&context, value_operation(kind, address, value, flags)?)
}

/// Makes one operation of several memory operations, in order.
pub(super) fn batch_of(count: u32, operations: Ptr<MemoryOperation>) -> Result<Operation, Error> {
    // NVIDIA's driver accepts no more.
    require(count <= 256)?;
    let all = operations.list(count as usize)?;
    let all = all.iter().map(|op| value_operation(op.kind, op.address, op.value, op.flags));
    let words =
        operations.cast::<u64>().list(count as usize * (size_of::<MemoryOperation>() / 8))?;
    Ok(Operation::Batch {
        operations: Arc::new(all.collect::<Result<_, Error>>()?),
        words: Arc::new(words),
    })
}

fn batch(stream: u64, count: u32, operations: Ptr<MemoryOperation>) -> Answer {
    let (stream, context) = stream::get(stream)?;
    stream.submit(&context, batch_of(count, operations)?)
}

api! {
    fn cuStreamCreate(out: Ptr<u64>, flags: u32) {
        create(out, flags, 0)
    }

    fn cuStreamCreateWithPriority(out: Ptr<u64>, flags: u32, priority: i32) {
        create(out, flags, priority)
    }

    fn cuStreamDestroy(handle: u64) {
        stream::destroy(handle)
    }

    fn cuStreamDestroy_v2(handle: u64) {
        stream::destroy(handle)
    }

    fn cuStreamSynchronize(handle: u64) / cuStreamSynchronize_ptsz {
        let (stream, context) = stream::get(handle)?;
        stream.wait_and(&context, || Ok(()))?;
        context.check()
    }

    fn cuStreamQuery(handle: u64) / cuStreamQuery_ptsz {
        let (stream, context) = stream::get(handle)?;
        if stream.capture().is_some() {
            return Err(Error::CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
        }
        let done = context.lines.is_idle(stream.line);
        context.check()?;
        if done { Ok(()) } else { Err(Error::CUDA_ERROR_NOT_READY) }
    }

    fn cuStreamWaitEvent(handle: u64, event: u64, flags: u32) / cuStreamWaitEvent_ptsz {
        require(flags <= 1)?;
        let (stream, context) = stream::get(handle)?;
        let (event, other) = crate::event::get(event)?;
        stream.wait_for_event(&context, &event, &other)
    }

    fn cuStreamAddCallback(handle: u64, function: StreamCallback, data: Ptr<c_void>, flags: u32) / cuStreamAddCallback_ptsz {
        require(function.is_some() && flags == 0)?;
        let (stream, context) = stream::get(handle)?;
        stream.submit(&context, Operation::Callback { function, stream: handle, data })
    }

    fn cuStreamGetFlags(handle: u64, flags: Ptr<u32>) / cuStreamGetFlags_ptsz {
        flags.set(stream::get(handle)?.0.flags)
    }

    fn cuStreamGetPriority(handle: u64, priority: Ptr<i32>) / cuStreamGetPriority_ptsz {
        priority.set(stream::get(handle)?.0.priority)
    }

    fn cuStreamGetId(handle: u64, id: Ptr<u64>) / cuStreamGetId_ptsz {
        id.set(stream::get(handle)?.0.id)
    }

    fn cuStreamGetCtx(handle: u64, out: Ptr<u64>) / cuStreamGetCtx_ptsz {
        out.set(stream::get(handle)?.1.handle)
    }

    fn cuStreamGetCtx_v2(handle: u64, out: Ptr<u64>, green: Ptr<u64>) / cuStreamGetCtx_v2_ptsz {
        out.set(stream::get(handle)?.1.handle)?;
        green.set_if(0);
        Ok(())
    }

    /// Reports no green context, as there are none.
    fn cuStreamGetGreenCtx(handle: u64, out: Ptr<u64>) {
        stream::get(handle)?;
        out.set(0)
    }

    fn cuStreamGetDevice(handle: u64, device: Ptr<i32>) / cuStreamGetDevice_ptsz {
        stream::get(handle)?;
        device.set(0)
    }

    /// Changes nothing: all streams may use all memory.
    fn cuStreamAttachMemAsync(handle: u64, address: u64, bytes: usize, flags: u32) / cuStreamAttachMemAsync_ptsz {
        require(matches!(flags, 1 | 2 | 4))?;
        stream::get(handle)?;
        let found = allocations::find(address).filter(|found| found.kind == allocations::Kind::Managed);
        let found = found.ok_or(super::INVALID)?;
        require(bytes == 0 || bytes as u64 == found.bytes)
    }

    fn cuStreamCopyAttributes(to: u64, from: u64) / cuStreamCopyAttributes_ptsz {
        let (to, from) = (stream::get(to)?.0, stream::get(from)?.0);
        to.policy.store(from.policy.load(Relaxed), Relaxed);
        Ok(())
    }

    /// Reads an attribute. The access window is not stored, as there is no cache to set; the
    /// synchronization policy is.
    fn cuStreamGetAttribute(handle: u64, attribute: u32, value: Ptr<AttributeValue>) / cuStreamGetAttribute_ptsz {
        let stream = stream::get(handle)?.0;
        let mut found = [0; 8];
        found[0] = match attribute {
            1 | 13 | 14 => 0,
            3 => stream.policy.load(Relaxed),
            8 => u64::from(stream.priority as u32),
            _ => return Err(super::INVALID),
        };
        value.set(AttributeValue { words: found })
    }

    fn cuStreamSetAttribute(handle: u64, attribute: u32, value: Ptr<AttributeValue>) / cuStreamSetAttribute_ptsz {
        let stream = stream::get(handle)?.0;
        let value = value.get()?.words[0];
        match attribute {
            1 | 8 | 13 | 14 => Ok(()),
            3 => {
                stream.policy.store(value & 0xffff_ffff, Relaxed);
                Ok(())
            }
            _ => Err(super::INVALID),
        }
    }

    fn cuStreamWaitValue32(handle: u64, address: u64, value: u32, flags: u32) / cuStreamWaitValue32_ptsz {
        on_value(handle, memory_operation::WAIT_32, address, value.into(), flags)
    }

    fn cuStreamWaitValue32_v2(handle: u64, address: u64, value: u32, flags: u32) / cuStreamWaitValue32_v2_ptsz {
        on_value(handle, memory_operation::WAIT_32, address, value.into(), flags)
    }

    fn cuStreamWaitValue64(handle: u64, address: u64, value: u64, flags: u32) / cuStreamWaitValue64_ptsz {
        on_value(handle, memory_operation::WAIT_64, address, value, flags)
    }

    fn cuStreamWaitValue64_v2(handle: u64, address: u64, value: u64, flags: u32) / cuStreamWaitValue64_v2_ptsz {
        on_value(handle, memory_operation::WAIT_64, address, value, flags)
    }

    fn cuStreamWriteValue32(handle: u64, address: u64, value: u32, flags: u32) / cuStreamWriteValue32_ptsz {
        on_value(handle, memory_operation::WRITE_32, address, value.into(), flags)
    }

    fn cuStreamWriteValue32_v2(handle: u64, address: u64, value: u32, flags: u32) / cuStreamWriteValue32_v2_ptsz {
        on_value(handle, memory_operation::WRITE_32, address, value.into(), flags)
    }

    fn cuStreamWriteValue64(handle: u64, address: u64, value: u64, flags: u32) / cuStreamWriteValue64_ptsz {
        on_value(handle, memory_operation::WRITE_64, address, value, flags)
    }

    fn cuStreamWriteValue64_v2(handle: u64, address: u64, value: u64, flags: u32) / cuStreamWriteValue64_v2_ptsz {
        on_value(handle, memory_operation::WRITE_64, address, value, flags)
    }

    fn cuStreamBatchMemOp(handle: u64, count: u32, operations: Ptr<MemoryOperation>, _flags: u32) / cuStreamBatchMemOp_ptsz {
        batch(handle, count, operations)
    }

    fn cuStreamBatchMemOp_v2(handle: u64, count: u32, operations: Ptr<MemoryOperation>, _flags: u32) / cuStreamBatchMemOp_v2_ptsz {
        batch(handle, count, operations)
    }
}
