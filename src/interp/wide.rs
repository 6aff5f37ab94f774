//! The execution of [`WideOp`]s.

use std::sync::{Mutex, PoisonError};

use warploom_ir::{AtomicOp, Inst, NanPolicy, Type, Value, WideOp};
use warploom_runtime::atomics;
use warploom_runtime::fault::FaultKind;
use warploom_runtime::memory::Memory;
use warploom_runtime::warp::{ExitCode, PAGE_BYTES, WarpContext};
use warploom_runtime::window::Target;

use super::exec::{Executor, lanes_of};
use super::memory::of_runtime;

/// Alignment of addresses and sizes, and the bytes of an exchange.
const UNIT: u64 = 16;

/// The lock that makes exchanges atomic.
static EXCHANGE: Mutex<()> = Mutex::new(());

/// A fault and its address.
type Met = (FaultKind, u64);

/// Bytes that an operation may touch.
#[derive(Clone, Copy)]
enum Range {
    Global(u64),
    /// At an offset in shared memory.
    Shared(usize),
}

impl Executor<'_, '_> {
    pub(super) fn wide(
        &mut self,
        inst: &Inst,
        op: WideOp,
        args: &[Value],
        (guard, nomask): (Option<Value>, bool),
    ) -> Result<(), ExitCode> {
        let mask = self.execution_mask(inst.window, guard, nomask);
        for &result in &inst.results {
            self.values.set_uniform(result, 0);
        }
        for lane in lanes_of(mask) {
            let mut of_lane = [0; 5];
            for (of_lane, &arg) in of_lane.iter_mut().zip(args) {
                *of_lane = self.values.row(arg)[lane];
            }
            let found = perform(self.context, op, of_lane, self.function.nan);
            let found = found
                .map_err(|(kind, at)| self.context.set_fault(kind, lane as u32, inst.pc, at))?;
            for (&result, half) in inst.results.iter().zip(found) {
                self.values.row_mut(result)[lane] = half;
            }
        }
        Ok(())
    }
}

/// Performs an operation for one lane. Returns the old value of an exchange.
fn perform(
    context: &mut WarpContext,
    op: WideOp,
    args: [u64; 5],
    nan: NanPolicy,
) -> Result<[u64; 2], Met> {
    let none = [0; 2];
    match op {
        WideOp::Copy => {
            let [to, from, bytes, ..] = args;
            let (to, from) =
                (range(context, to, bytes, true)?, range(context, from, bytes, false)?);
            in_pieces(bytes, |at, buffer| {
                read(context, from, at, buffer)?;
                write(context, to, at, buffer)
            })?;
            Ok(none)
        }
        WideOp::Zero => {
            let [to, bytes, ..] = args;
            let to = range(context, to, bytes, true)?;
            in_pieces(bytes, |at, buffer| write(context, to, at, buffer))?;
            Ok(none)
        }
        WideOp::Reduce { op, ty } => {
            let [to, from, bytes, ..] = args;
            let (to, from) =
                (range(context, to, bytes, true)?, range(context, from, bytes, false)?);
            in_pieces(bytes, |at, buffer| {
                read(context, from, at, buffer)?;
                reduce(context, (op, ty, nan), (to, at), buffer)
            })?;
            Ok(none)
        }
        WideOp::Exchange | WideOp::CompareExchange => {
            let [address, low, high, compare @ ..] = args;
            let range = range(context, address, UNIT, true)?;
            let _alone = EXCHANGE.lock().unwrap_or_else(PoisonError::into_inner);
            let mut buffer = [0; UNIT as usize];
            read(context, range, 0, &mut buffer)?;
            let old = [bits(&buffer[..8]), bits(&buffer[8..])];
            if op == WideOp::Exchange || old == compare {
                buffer[..8].copy_from_slice(&low.to_le_bytes());
                buffer[8..].copy_from_slice(&high.to_le_bytes());
                write(context, range, 0, &buffer)?;
            }
            Ok(old)
        }
    }
}

/// Checks that bytes may be touched.
fn range(context: &mut WarpContext, address: u64, bytes: u64, writes: bool) -> Result<Range, Met> {
    if !(address | bytes).is_multiple_of(UNIT) {
        return Err((FaultKind::MisalignedAddress, address));
    }
    match context.windows().classify(address) {
        Target::Global(_) => {
            may_touch(context.memory(), address, bytes, writes).map(|()| Range::Global(address))
        }
        Target::Shared(offset) => {
            let limit = context.shared_bytes();
            if u64::from(offset).saturating_add(bytes) > limit {
                let first = u64::from(offset).max(limit);
                return Err((FaultKind::AddressOutOfRange, context.windows().shared | first));
            }
            Ok(Range::Shared(offset as usize))
        }
        Target::Local(_) => Err((FaultKind::InvalidAddressSpace, address)),
    }
}

fn may_touch(memory: &Memory, address: u64, bytes: u64, writes: bool) -> Result<(), Met> {
    let mut at = address;
    let mut left = bytes;
    while left > 0 {
        let step = (PAGE_BYTES - at % PAGE_BYTES).min(left);
        if !memory.permits(at, step, writes) {
            return Err((FaultKind::AddressOutOfRange, at));
        }
        at = at.wrapping_add(step);
        left -= step;
    }
    Ok(())
}

/// Calls `f` for each piece with the number of its first byte, and a buffer of zeros.
fn in_pieces(bytes: u64, mut f: impl FnMut(u64, &mut [u8]) -> Result<(), Met>) -> Result<(), Met> {
    let mut done = 0;
    while done < bytes {
        let mut buffer = [0; WideOp::BUFFER];
        let piece = (bytes - done).min(WideOp::BUFFER as u64);
        f(done, &mut buffer[..piece as usize])?;
        done += piece;
    }
    Ok(())
}

fn read(context: &mut WarpContext, from: Range, at: u64, into: &mut [u8]) -> Result<(), Met> {
    match from {
        Range::Global(address) => {
            let found = context.memory().read(address.wrapping_add(at), into);
            found.map_err(|error| (FaultKind::AddressOutOfRange, error.address))
        }
        Range::Shared(offset) => {
            into.copy_from_slice(&context.shared()[offset + at as usize..][..into.len()]);
            Ok(())
        }
    }
}

fn write(context: &mut WarpContext, to: Range, at: u64, from: &[u8]) -> Result<(), Met> {
    match to {
        Range::Global(address) => {
            let written = context.memory().write(address.wrapping_add(at), from);
            written.map_err(|error| (FaultKind::AddressOutOfRange, error.address))
        }
        Range::Shared(offset) => {
            context.shared()[offset + at as usize..][..from.len()].copy_from_slice(from);
            Ok(())
        }
    }
}

fn reduce(
    context: &mut WarpContext,
    (op, ty, nan): (AtomicOp, Type, NanPolicy),
    (to, at): (Range, u64),
    operands: &[u8],
) -> Result<(), Met> {
    let (cell, kind) = of_runtime(op, ty, nan);
    let size = ty.bytes() as usize;
    for (operand, at) in operands.chunks_exact(size).zip((at..).step_by(size)) {
        let operand = bits(operand);
        match to {
            Range::Global(address) => {
                let address = address.wrapping_add(at);
                context
                    .memory()
                    .atomic(address, cell, kind, operand, 0)
                    .map_err(|kind| (kind, address))?;
            }
            Range::Shared(offset) => {
                let place = &mut context.shared()[offset + at as usize..][..size];
                let new = atomics::compute(cell, kind, bits(place), operand, 0);
                place.copy_from_slice(&new.to_le_bytes()[..size]);
            }
        }
    }
    Ok(())
}

/// Returns up to 8 bytes as a number.
fn bits(bytes: &[u8]) -> u64 {
    bytes.iter().rev().fold(0, |bits, &byte| bits << 8 | u64::from(byte))
}
