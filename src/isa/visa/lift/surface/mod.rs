//! Surfaces and samplers: typed messages (`typed`), places in a surface (`place`), sampler messages
//! (`sample`).
//!
//! The tables that all instruction sets share have the address, bounds and format of a surface
//! ([`warploom_guest::images`]). Handles and the binding table name entries of the tables. If code
//! has an argument's handle or a known index, the surface may be known at lift time ([`Named`]).
//! Source: facts, `visa-semantics.md` 7; seed `intel-typed-atomic.md`.

mod place;
mod sample;
mod typed;

pub use sample::*;
pub use typed::*;
use warploom_guest::divergence::Mask;
use warploom_guest::images::{self, Lifter, Record, Records, driver, raise};
use warploom_ir::image::{RECORD_BYTES, Shape, flag, sampler};
use warploom_ir::{LaneFault, Type, Value};

use super::{Cx, Unsupported};
use crate::instruction::{Instruction, Lsc, Operand};
use crate::module::{SamplerId, SurfaceId};
use crate::predefined;
use crate::words::AddressModel;

/// The additions of vISA to the shared tables, by their places in the bank of tables.
pub mod tables {
    /// The number of bits below the entry's number in a handle.
    pub const HANDLE_SHIFT: u32 = 6;
    /// The 64-bit guest address of the binding table's records; then the number of records.
    pub const BOUND: u32 = 64;
    pub const BOUND_COUNT: u32 = 72;
}

/// The name in code of a surface whose record may be known at lift time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Named {
    /// An index into the binding table.
    Bound(u8),
    /// A handle in the payload, by its offset in bytes.
    Payload(u32),
}

impl Named {
    /// Returns the number that names a known image.
    pub fn number(self) -> u32 {
        match self {
            Named::Bound(index) => 1 << 31 | u32::from(index),
            Named::Payload(at) => at,
        }
    }
}

impl<'a> Lifter<'a> for Cx<'a> {
    fn guard(&self) -> Mask {
        self.b.guard().map_or(Mask::Always, Mask::Lanes)
    }

    fn executing(&mut self) -> Value {
        self.enabled()
    }

    fn driver_word(&mut self, bank: u8, offset: u32, ty: Type) -> Value {
        self.b.load_const(bank, offset, ty)
    }

    fn images(&self) -> &'a [(u32, Shape)] {
        self.kernel.images
    }

    fn records(&mut self) -> &mut Records {
        &mut self.records
    }
}

/// A surface by its name in code.
#[derive(Clone, Copy)]
struct Surface {
    named: Option<Named>,
    /// A uniform `i32`: a handle, or an index into the binding table.
    value: Value,
    bound: bool,
}

impl Surface {
    fn address(self, cx: &mut Cx<'_>) -> Value {
        if self.bound {
            return images::entry(
                cx,
                self.value,
                (tables::BOUND, tables::BOUND_COUNT),
                RECORD_BYTES,
            );
        }
        let index = numbered(cx, self.value);
        images::entry(cx, index, (driver::at::RECORDS, driver::at::HEADERS), RECORD_BYTES)
    }

    fn record(self, cx: &mut Cx<'_>) -> Record {
        match self.named.and_then(|named| Record::known(cx, named.number())) {
            Some(known) => known,
            None => Record::At(self.address(cx)),
        }
    }
}

/// Returns the number of the entry that a handle names.
fn numbered(cx: &mut Cx<'_>, handle: Value) -> Value {
    let shift = cx.word(tables::HANDLE_SHIFT);
    cx.b.shr_u(handle, shift)
}

fn named(cx: &Cx<'_>, value: Value, bound: bool) -> Option<Named> {
    if !bound {
        return cx.payload_of(value).map(Named::Payload);
    }
    cx.b.constant(value).and_then(|index| u8::try_from(index).ok()).map(Named::Bound)
}

fn variable(cx: &mut Cx<'_>, id: SurfaceId) -> Surface {
    let value = cx.surface(id);
    let bound = id != predefined::BINDLESS_SURFACE;
    Surface { named: named(cx, value, bound), value, bound }
}

/// Returns the lanes whose surface was not provided. Their access is a fault.
pub fn absent(cx: &mut Cx<'_>, record: &Record) -> Mask {
    let present = record.has(cx, flag::PRESENT);
    cx.others(present)
}

/// Raises a fault in lanes whose surface was not provided.
pub fn check(cx: &mut Cx<'_>, record: &Record) {
    let absent = absent(cx, record);
    raise(cx, LaneFault::InvalidSurface, absent);
}

/// Returns the record of the surface that a variable holds.
pub fn of_variable(cx: &mut Cx<'_>, id: SurfaceId) -> Record {
    variable(cx, id).record(cx)
}

/// Returns the record of the surface that the `n`th operand of an LSC message names.
pub fn of_lsc(
    cx: &mut Cx<'_>,
    i: &Instruction,
    n: usize,
    lsc: &Lsc,
) -> Result<Record, Unsupported> {
    if lsc.surface_index != 0 {
        return Err(Unsupported);
    }
    let value = cx.scalar(i, n, Type::I32)?;
    let bound = lsc.model == AddressModel::Bti;
    Ok(Surface { named: named(cx, value, bound), value, bound }.record(cx))
}

/// Returns the surface of the `n`th operand.
fn operand(cx: &mut Cx<'_>, i: &Instruction, n: usize) -> Result<Surface, Unsupported> {
    match i.operands.get(n) {
        Some(&Operand::Surface(id))
            if id.0 >= predefined::FIRST_SURFACE || id == predefined::BINDLESS_SURFACE =>
        {
            Ok(variable(cx, id))
        }
        _ => Err(Unsupported),
    }
}

/// Returns the address of the record of the sampler that a variable holds.
///
/// The variable holds a handle or an index. The first index is the entry behind the default
/// sampler.
fn sampler_address(cx: &mut Cx<'_>, id: SamplerId) -> Value {
    let value = cx.sampler(id);
    let number = if Cx::is_bindless(id) {
        numbered(cx, value)
    } else {
        let one = cx.word(1);
        cx.b.add(value, one)
    };
    numbered_sampler(cx, number)
}

/// Returns the address of the default sampler, which stands for a missing sampler.
fn default_sampler(cx: &mut Cx<'_>) -> Value {
    let number = cx.word(0);
    numbered_sampler(cx, number)
}

fn numbered_sampler(cx: &mut Cx<'_>, number: Value) -> Value {
    images::entry(
        cx,
        number,
        (driver::at::SAMPLERS, driver::at::SAMPLER_COUNT),
        sampler::RECORD_BYTES,
    )
}
