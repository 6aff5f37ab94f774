//! Messages in which each lane has an address: gathers and scatters of all kinds.

use warploom_ir::{Type, Value};

use super::super::Cx;
use super::item::Item;
use super::place::{MessageTarget, Target};
use crate::instruction::Raw;

/// An element of a lane: its offset from the lane's address, in bytes, and its component of the raw
/// operand.
pub type Element = (u32, u32);

/// Returns `count` elements that are consecutive in memory.
pub fn consecutive(item: Item, count: u32) -> Vec<Element> {
    (0..count).map(|n| (n * item.bytes(), n)).collect()
}

/// Returns the dwords of the channels in a mask, lowest bit first.
pub fn channels(mask: u32) -> Vec<Element> {
    (0..4)
        .filter(|channel| mask >> channel & 1 != 0)
        .zip(0..)
        .map(|(channel, n)| (channel * 4, n))
        .collect()
}

/// The most bytes of an access.
const MAX_BYTES: u32 = 16;

/// Splits elements into runs that one access reads or writes.
///
/// The elements of a run are consecutive. If the target bounds each element separately, each run is
/// one element.
fn runs(target: Target, item: Item, elements: &[Element]) -> Vec<&[Element]> {
    let most = if target.is_bounded() { 1 } else { (MAX_BYTES / item.bytes()) as usize };
    let follows = |a: &Element, b: &Element| b.0 == a.0 + item.bytes();
    elements.chunk_by(follows).flat_map(|run| run.chunks(most)).collect()
}

/// Loads elements into a raw operand. Lanes whose address is outside get 0.
pub fn load(cx: &mut Cx<'_>, place: MessageTarget, item: Item, elements: &[Element], dst: Raw) {
    if dst == Raw::NULL {
        // The message is a prefetch.
        return;
    }
    place.target.check(cx);
    for run in runs(place.target, item, elements) {
        let values = place.after(run[0].0).perform(cx, |cx, place| {
            let access = place.access(cx, item.memory, run.len() as u8);
            cx.b.load_access(access, item.extend()).to_vec()
        });
        for (&(_, n), value) in run.iter().zip(values) {
            item.write(cx, dst, n, value);
        }
    }
}

/// Stores elements of a raw operand.
pub fn store(cx: &mut Cx<'_>, place: MessageTarget, item: Item, elements: &[Element], src: Raw) {
    place.target.check(cx);
    for run in runs(place.target, item, elements) {
        let values: Vec<Value> = run.iter().map(|&(_, n)| item.read(cx, src, n)).collect();
        place.after(run[0].0).perform(cx, |cx, place| {
            let access = place.access(cx, item.memory, run.len() as u8);
            cx.b.store_access(access, &values);
            vec![]
        });
    }
}

/// Returns the addresses of lanes: an integer for each lane of a raw operand, times a scale.
pub fn addresses(cx: &mut Cx<'_>, raw: Raw, ty: Type, scale: u32) -> Value {
    let address = cx.raw(raw, 0, ty);
    let address = if ty == Type::I16 { cx.resize(address, Type::I32, false) } else { address };
    if scale <= 1 {
        return address;
    }
    let scale = cx.constant(if ty == Type::I64 { ty } else { Type::I32 }, scale.into());
    cx.b.mul(address, scale)
}
