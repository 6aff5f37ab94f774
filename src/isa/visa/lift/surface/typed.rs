//! Typed messages: texels by coordinates.
//!
//! Source: seed `intel-typed-atomic.md`, which is followed to the letter; facts,
//! `visa-semantics.md` 7, "TYPED_ATOMIC" and "Surfaces and samplers".

use warploom_guest::divergence::Mask;
use warploom_guest::images::formatted::{self, texels_of};
use warploom_guest::images::{Lifter, Record, raise};
use warploom_ir::{LaneFault, Type, Value};

use super::super::memory::{Item, Operation, one_lane, operation, said};
use super::super::{Cx, Lifted, Unsupported};
use super::place::Coordinates;
use super::{Surface, operand};
use crate::instruction::{Instruction, Raw};
use crate::words::Atomic;

/// Returns the channels of a mask, each with its number among the mask's channels.
pub(super) fn channels(mask: u32) -> impl Iterator<Item = (u32, usize)> {
    (0..).zip((0..4).filter(move |channel| mask >> channel & 1 != 0))
}

/// The surface and coordinates of a typed message.
struct Message {
    record: Record,
    coordinates: Coordinates,
}

impl Message {
    /// Returns a message that is not LSC's.
    ///
    /// Operand `from` is the surface; U, V, R and the level of detail follow.
    fn old(cx: &mut Cx<'_>, i: &Instruction, from: usize) -> Result<Message, Unsupported> {
        let surface = operand(cx, i, from)?;
        Message::new(cx, i, surface, from + 1, [0; 3])
    }

    fn lsc(cx: &mut Cx<'_>, i: &Instruction) -> Result<Message, Unsupported> {
        let lsc = said(i)?;
        let record = super::of_lsc(cx, i, 1, lsc)?;
        let coordinates = coordinates(cx, i, 3, lsc.offsets)?;
        Ok(Message { record, coordinates })
    }

    fn new(
        cx: &mut Cx<'_>,
        i: &Instruction,
        surface: Surface,
        from: usize,
        offsets: [i32; 3],
    ) -> Result<Message, Unsupported> {
        let record = surface.record(cx);
        Ok(Message { record, coordinates: coordinates(cx, i, from, offsets)? })
    }

    /// Loads channels into a raw operand. Channels that the format lacks are 0; alpha is then 1.
    fn load(self, cx: &mut Cx<'_>, mask: u32, dst: Raw) {
        if dst == Raw::NULL {
            return;
        }
        let values = one_lane(cx, |cx| {
            let place = self.coordinates.place(cx, self.record);
            let texel =
                formatted::load(cx, &place, |cx, access, extend| cx.b.load_access(access, extend));
            channels(mask).map(|(_, channel)| texel[channel]).collect()
        });
        for ((n, _), value) in channels(mask).zip(values) {
            Item::DWORD.write(cx, dst, n, value);
        }
    }

    fn store(self, cx: &mut Cx<'_>, mask: u32, src: Raw) {
        let given: Vec<(usize, Value)> =
            channels(mask).map(|(n, channel)| (channel, Item::DWORD.read(cx, src, n))).collect();
        one_lane(cx, |cx| {
            let place = self.coordinates.place(cx, self.record);
            let given: Vec<(usize, Value)> =
                given.iter().map(|&(n, value)| (n, cx.splat(value))).collect();
            formatted::store(cx, &place, &given);
            vec![]
        });
    }

    /// Performs an atomic operation on the bits of a texel, whatever its format.
    ///
    /// A texel whose size differs from the operation's is a fault.
    fn atomic(
        self,
        cx: &mut Cx<'_>,
        operation: Operation,
        item: Item,
        sources: [Raw; 2],
        dst: Raw,
    ) {
        let sources = sources.map(|source| item.read(cx, source, 0));
        let register = if item == Item::QWORD { Type::I64 } else { Type::I32 };
        let old = one_lane(cx, |cx| {
            let place = self.coordinates.place(cx, self.record);
            let fits = texels_of(cx, &self.record, operation.bytes().ilog2());
            let others = cx.others(fits);
            raise(cx, LaneFault::InvalidSurface, others);
            let access = place.access(cx, operation.cell, 1, Mask::Always);
            vec![operation.perform(cx, access, sources, register)]
        });
        cx.set_raw(dst, 0, old[0]);
    }
}

fn coordinates(
    cx: &mut Cx<'_>,
    i: &Instruction,
    from: usize,
    offsets: [i32; 3],
) -> Result<Coordinates, Unsupported> {
    let mut raws = [Raw::NULL; 4];
    for (n, raw) in raws.iter_mut().enumerate() {
        *raw = cx.raw_operand(i, from + n)?;
    }
    Ok(Coordinates::read(cx, raws, offsets))
}

pub fn gather4_typed(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    let (mask, dst) = (Cx::number(cx, i, 0)?, cx.raw_operand(i, 6)?);
    Message::old(cx, i, 1)?.load(cx, mask, dst);
    Ok(())
}

pub fn scatter4_typed(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    let (mask, src) = (Cx::number(cx, i, 0)?, cx.raw_operand(i, 6)?);
    Message::old(cx, i, 1)?.store(cx, mask, src);
    Ok(())
}

/// Lifts `TYPED_ATOMIC`.
pub fn typed_atomic(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    let atomic = Atomic::from_code(Cx::number(cx, i, 0)?).ok_or(Unsupported)?;
    let item = if atomic.bits == 64 { Item::QWORD } else { Item::DWORD };
    let (sources, dst) = ([cx.raw_operand(i, 6)?, cx.raw_operand(i, 7)?], cx.raw_operand(i, 8)?);
    Message::old(cx, i, 1)?.atomic(cx, Operation::old(atomic), item, sources, dst);
    Ok(())
}

pub fn lsc_load_quad_typed(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    let (mask, dst) = (said(i)?.channels, cx.raw_operand(i, 2)?);
    Message::lsc(cx, i)?.load(cx, mask.into(), dst);
    Ok(())
}

pub fn lsc_store_quad_typed(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    let (mask, src) = (said(i)?.channels, cx.raw_operand(i, 7)?);
    Message::lsc(cx, i)?.store(cx, mask.into(), src);
    Ok(())
}

/// Lifts all LSC atomics on texels.
pub fn lsc_atomic_typed(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    let dst = cx.raw_operand(i, 2)?;
    if i.row.name == "lsc_atomic_load" {
        // Loads the bits of a texel of one component.
        Message::lsc(cx, i)?.load(cx, 1, dst);
        return Ok(());
    }
    let (operation, item) = operation(i)?;
    let sources = [cx.raw_operand(i, 7)?, cx.raw_operand(i, 8)?];
    Message::lsc(cx, i)?.atomic(cx, operation, item, sources, dst);
    Ok(())
}
