//! Frames of units that may call themselves. During a call, local memory keeps the caller's
//! registers in a frame for each activation.

use warploom_ir::{Access, BlockBuilder, Extend, IntCc, Reg, Region, Space, Type, Value, Window};

use super::emit::Shape;
use super::known::bank;
use super::storage::{Cell, RootStorage};

/// A register of a frame, or a part of an array of bytes.
#[derive(Clone, Copy)]
enum Item {
    Lanes(Reg, Type),
    Scalar(Reg, Type),
    Mask(Reg),
    /// So many dwords of an array from a byte on, for each lane.
    Bytes(Reg, u32, u8),
}

/// Returns the registers and arrays that a unit must keep.
fn items(shape: &Shape<'_>, unit: usize) -> Vec<Item> {
    let routine = shape.graph.blocks[shape.graph.units[unit].entry].routine;
    let mut items = vec![];
    for (root, components) in shape.storage.components() {
        let root = shape.roots.get(root);
        if root.routine != Some(routine) {
            continue;
        }
        let mut arrays: Vec<Reg> = vec![];
        for component in components {
            match &component.place {
                RootStorage::Scalars(cells) | RootStorage::Lanes { cells, .. } => {
                    let lanes = matches!(component.place, RootStorage::Lanes { .. });
                    let ty = super::storage::int_type(cells.size);
                    for &cell in &cells.regs {
                        match cell {
                            Cell::File(reg) if lanes => items.push(Item::Lanes(reg, ty)),
                            Cell::File(reg) => items.push(Item::Scalar(reg, ty)),
                            Cell::Block(_) => {}
                        }
                    }
                }
                &RootStorage::Bytes { reg, base } if !arrays.contains(&reg) => {
                    arrays.push(reg);
                    let lanes = u32::from(shape.lanes);
                    let words = root.bytes.div_ceil(4);
                    let parts = (0..words).step_by(usize::from(shape.lanes));
                    items
                        .extend(parts.map(|at| {
                            Item::Bytes(reg, base + at * 4, lanes.min(words - at) as u8)
                        }));
                }
                _ => {}
            }
        }
    }
    items.extend(shape.predicate_registers(routine).map(|reg| match shape.predicate_type(reg) {
        Type::Mask => Item::Mask(reg),
        ty => Item::Scalar(reg, ty),
    }));
    let blocks = (0..).zip(&shape.graph.blocks);
    items.extend(
        blocks
            .filter(|(_, block)| block.routine == routine)
            .map(|(n, _)| Item::Mask(shape.waits.reg(n))),
    );
    items.push(Item::Mask(shape.callers.reg(unit as u32)));
    items.push(Item::Scalar(shape.sites.reg(unit as u32), Type::I32));
    items
}

impl Item {
    /// Returns the number of dwords in each lane.
    fn words(self) -> u32 {
        match self {
            Item::Lanes(_, Type::I64) | Item::Scalar(_, Type::I64) => 2,
            _ => 1,
        }
    }
}

/// Returns the bytes of a unit's frame in each lane.
fn bytes(items: &[Item]) -> u32 {
    items.iter().map(|item| item.words() * 4).sum()
}

/// Returns a mask that is not 0 if there is room for another frame of a unit.
pub fn fits(shape: &Shape<'_>, b: &mut BlockBuilder<'_>, unit: usize) -> Value {
    let stack = b.rf_read(shape.stack);
    let more = b.iconst(Type::I32, bytes(&items(shape, unit)).into());
    let end = b.add(stack, more);
    let limit = b.load_const(bank::PAYLOAD, bank::STACK, Type::I32);
    b.icmp(IntCc::LeU, end, limit)
}

/// Returns an access to a dword of each lane, in the last frame of the stack.
fn access(b: &mut BlockBuilder<'_>, address: Value) -> Access {
    b.set_nomask(true);
    let access = b.access(Space::Local, Type::I32, 1, address, 0);
    b.set_nomask(false);
    access
}

fn each(
    b: &mut BlockBuilder<'_>,
    start: Value,
    items: &[Item],
    mut with: impl FnMut(&mut BlockBuilder<'_>, Item, &[Access]),
) {
    let mut at = 0;
    for &item in items {
        let accesses: Vec<Access> = (0..item.words())
            .map(|n| {
                let offset = b.iconst(Type::I32, (at + n * 4).into());
                let address = b.add(start, offset);
                let address = b.splat(address);
                access(b, address)
            })
            .collect();
        at += item.words() * 4;
        with(b, item, &accesses);
    }
}

/// Spills a unit's registers to a new frame, and clears its masks of waiting lanes.
pub fn save(shape: &Shape<'_>, b: &mut BlockBuilder<'_>, unit: usize) {
    let items = items(shape, unit);
    let stack = b.rf_read(shape.stack);
    each(b, stack, &items, |b, item, accesses| {
        let value = match item {
            Item::Lanes(reg, _) | Item::Scalar(reg, _) => b.rf_read(reg),
            Item::Mask(reg) => {
                let mask = b.rf_read(reg);
                let bits = b.from_mask(mask);
                b.trunc(Type::I32, bits)
            }
            Item::Bytes(reg, at, _) => b.region_read(reg, Region::packed(at), Type::I32),
        };
        let value = b.splat(value);
        let words = match b.ty(value).ty {
            Type::I64 => vec![b.trunc(Type::I32, value), b.high_half(value)],
            Type::I32 => vec![value],
            _ => vec![b.zero_extend(Type::I32, value)],
        };
        for (&access, word) in accesses.iter().zip(words) {
            b.store_access(access, &[word]);
        }
        if let Item::Mask(reg) = item
            && reg.bank == shape.waits
        {
            let none = b.lanes_of(0);
            b.rf_write(reg, none);
        }
    });
    let more = b.iconst(Type::I32, bytes(&items).into());
    let end = b.add(stack, more);
    b.rf_write(shape.stack, end);
}

/// Reloads a unit's registers from the last frame, which must be the unit's, and frees the frame.
pub fn restore(shape: &Shape<'_>, b: &mut BlockBuilder<'_>, unit: usize) {
    let items = items(shape, unit);
    let stack = b.rf_read(shape.stack);
    let less = b.iconst(Type::I32, bytes(&items).into());
    let start = b.sub(stack, less);
    b.rf_write(shape.stack, start);
    let zero = b.iconst(Type::I32, 0);
    each(b, start, &items, |b, item, accesses| {
        let words: Vec<Value> =
            accesses.iter().map(|&access| b.load_access(access, Extend::None)[0]).collect();
        let whole = match words[..] {
            [low, high] => b.concat(low, high),
            _ => words[0],
        };
        b.set_nomask(true);
        match item {
            Item::Lanes(reg, ty) => {
                let value = if ty.bits() < 32 { b.trunc(ty, whole) } else { whole };
                b.rf_write(reg, value);
            }
            Item::Scalar(reg, ty) => {
                let value = b.lane_read(whole, zero);
                let value = if ty.bits() < 32 { b.trunc(ty, value) } else { value };
                b.rf_write(reg, value);
            }
            Item::Mask(reg) => {
                let value = b.lane_read(whole, zero);
                let bits = b.zero_extend(Type::I64, value);
                let mask = b.to_mask(bits);
                b.rf_write(reg, mask);
            }
            Item::Bytes(reg, at, count) => {
                let window = b.window();
                b.set_window(Window { first: 0, count });
                b.region_write(reg, Region::packed(at), whole);
                b.set_window(window);
            }
        }
        b.set_nomask(false);
    });
}
