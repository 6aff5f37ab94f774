//! Surfaces and samplers: typed messages (`typed`), what a place in a surface is (`place`), sampler messages (`sample`).
//!
//! What a surface is, its address, bounds and format, are in the tables that all instruction sets share ([`warploom_guest::images`]). Handles name
//! entries of them; so does the binding table. Where code has the handle of an argument, or a known index, the surface may be known when code is
//! made ([`Named`]). Source: facts, `visa-semantics.md` 7; seed `intel-typed-atomic.md`.

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

/// What the tables have besides what all instruction sets have, by its place in the bank of tables.
pub mod tables {
    /// Bits of a handle below the number of the entry that it names.
    pub const HANDLE_SHIFT: u32 = 6;
    /// Guest address of the records of the binding table: 64 bits; and how many there are.
    pub const BOUND: u32 = 64;
    pub const BOUND_COUNT: u32 = 72;
}

/// What code has of a surface whose record may be known when code is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Named {
    /// An index into the binding table.
    Bound(u8),
    /// The handle in the payload, so many bytes behind its start.
    Payload(u32),
}

impl Named {
    /// As a name of a known image.
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

/// A surface as code names it.
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

/// The number of the entry that a handle names.
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

/// The lanes for which there is no surface, as nobody provided one: an access is a fault.
pub fn absent(cx: &mut Cx<'_>, record: &Record) -> Mask {
    let present = record.has(cx, flag::PRESENT);
    cx.others(present)
}

/// Raises that fault.
pub fn check(cx: &mut Cx<'_>, record: &Record) {
    let absent = absent(cx, record);
    raise(cx, LaneFault::InvalidSurface, absent);
}

/// The record of the surface that a variable holds.
pub fn of_variable(cx: &mut Cx<'_>, id: SurfaceId) -> Record {
    variable(cx, id).record(cx)
}

/// The surface that an operand of an LSC message, the `n`th, names.
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

/// The surface that the `n`th operand is.
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

/// Address of the record of the sampler that a variable holds: by its handle, or by its index, of which the first is behind the default one.
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

/// Of the sampler that stands for none.
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
