//! A lane's scratch memory, by the address in flat_scratch.
//!
//! Source: LLVM, "User Guide for AMDGPU Backend", "Private segment": from the wave's base, word k
//! of lane l is at `(64 k + l) * 4`.

use warploom_ir::{Space, Type, Value};

use super::context::Cx;
use super::vector_memory::Item;
use crate::Operand;

/// The pair flat_scratch, which holds the address of the wave's scratch memory.
const FLAT_SCRATCH: u8 = 102;

/// The distance in bytes between two words of a lane.
const APART: i32 = 4 * 64;

/// The place where lanes access scratch memory.
pub struct Scratch {
    /// The guest address of the first element.
    address: Value,
}

impl Scratch {
    /// Returns the place at `offset + immediate` of the lane's memory, modulo 2^32.
    pub fn new(cx: &mut Cx<'_>, offset: Value, immediate: i32) -> Scratch {
        let immediate = cx.int(immediate as u32);
        let offset = cx.b.add(offset, immediate);
        let (word, byte) = (cx.and_bits(offset, 0xffff_fffc), cx.and_bits(offset, 3));
        let word = cx.b.zero_extend(Type::I64, word);
        let word = cx.shl(word, 6);
        let lane = cx.b.lane_id();
        let lane = cx.shl(lane, 2);
        let within = cx.b.or(lane, byte);
        let within = cx.b.zero_extend(Type::I64, within);
        let base = cx.scalar_pair(Operand::Scalar(FLAT_SCRATCH));
        let row = cx.b.add(base, word);
        Scratch { address: cx.b.add(row, within) }
    }

    /// Splits an item into words, with the offset of each.
    fn parts(item: Item) -> impl Iterator<Item = (Item, i32)> {
        let part = if let Item::Words(_) = item { Item::Words(1) } else { item };
        (0..item.elements()).map(move |i| (part, i32::from(i) * APART))
    }

    /// Loads in the lanes of the guard; other lanes get 0.
    pub fn load(&self, cx: &mut Cx<'_>, item: Item, guard: Option<Value>) -> Vec<Value> {
        Self::parts(item)
            .map(|(part, offset)| {
                let access = part.access(Space::Global, self.address, offset, guard);
                cx.b.load_access(access, part.extend())[0]
            })
            .collect()
    }

    pub fn store(&self, cx: &mut Cx<'_>, item: Item, guard: Option<Value>, values: &[Value]) {
        for ((part, offset), &value) in Self::parts(item).zip(values) {
            cx.b.store_access(part.access(Space::Global, self.address, offset, guard), &[value]);
        }
    }
}
