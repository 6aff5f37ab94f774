//! The contents of registers when a kernel begins.

use std::cell::RefCell;

use warploom_ir::{BlockId, FunctionBuilder, Region, Type, Value, Window};

use super::Cx;
use super::emit::Shape;
use super::known::{self, R0_ROOT};
use super::mode::Mode;
use super::storage::{Cell, Component, Input, RootStorage, int_type};
use super::survey::Survey;
use super::variables::{Kernel, RootId, Roots};
use crate::module::InputOf;

/// Returns the bytes of variables that the payload has.
pub fn inputs(kernel: &Kernel<'_>, roots: &Roots) -> Vec<Input> {
    let routine = &kernel.module.routines[kernel.routine];
    let input = |input: &crate::module::Input| {
        let InputOf::Variable(id) = input.of else { return None };
        let (root, start) = roots.variable(0, id);
        Some(Input { root, start, at: u32::try_from(input.offset).ok()?, size: input.size })
    };
    let mut all: Vec<Input> = routine.inputs.iter().filter_map(input).collect();
    // Merges parts that follow each other both in a root and in the payload.
    all.sort_by_key(|input| (input.root, input.start));
    all.dedup_by(|next, before| {
        let follows = next.root == before.root
            && next.start == before.start.saturating_add(before.size)
            && next.at == before.at.saturating_add(before.size);
        if follows {
            before.size += next.size;
        }
        follows
    });
    all
}

/// Emits the entry: initial values of registers, then a jump to the first node.
pub fn emit(shape: &Shape<'_>, function: &mut FunctionBuilder, survey: Option<&RefCell<Survey>>) {
    let inputs = inputs(shape.kernel, shape.roots);
    let mut cx = Cx::new(function.at(BlockId(0)), shape, survey, (0, u32::MAX), Mode::default());
    for (root, component) in &shape.storage.initial {
        begin(&mut cx, *root, component, &inputs);
    }
    match shape.blocks.first() {
        Some(&BlockId(0)) => {}
        first => cx.b.jump(first.copied().unwrap_or(shape.done)),
    }
}

fn begin(cx: &mut Cx<'_>, root: RootId, component: &Component, inputs: &[Input]) {
    let hardware = known::is_hardware(root) || root == R0_ROOT;
    let ranges: Vec<(u32, u32, i64)> = if hardware {
        vec![(component.start, component.end, 0)]
    } else {
        let mine = inputs.iter().filter(|input| input.root == root);
        let range = |input: &Input| {
            let (start, end) =
                (component.start.max(input.start), component.end.min(input.start + input.size));
            (start < end).then_some((start, end, i64::from(input.at) - i64::from(input.start)))
        };
        mine.filter_map(range).collect()
    };
    for (start, end, shift) in ranges {
        let given = |cx: &mut Cx<'_>, at: u32, ty: Type| {
            if hardware {
                return cx.read_words(at, ty, |cx, at| cx.hardware(root, at));
            }
            cx.read_words((i64::from(at) + shift) as u32, ty, Cx::payload)
        };
        match component.place {
            RootStorage::Scalars(ref cells) => {
                let ty = int_type(cells.size);
                for (n, &cell) in (0..).zip(&cells.regs) {
                    let at = cells.first + n * cells.size;
                    if let Cell::File(reg) = cell
                        && at < end
                        && at + cells.size > start
                    {
                        let value = given(cx, at, ty);
                        cx.b.rf_write(reg, value);
                    }
                }
            }
            RootStorage::Bytes { reg, base } => bytes(cx, reg, base, (start, end, shift), given),
            _ => {}
        }
    }
}

/// Fills a part of an array with dwords, and with words of local ids.
fn bytes(
    cx: &mut Cx<'_>,
    reg: warploom_ir::Reg,
    base: u32,
    (start, end, shift): (u32, u32, i64),
    given: impl Fn(&mut Cx<'_>, u32, Type) -> Value,
) {
    let ids = cx.kernel.payload.local_ids;
    cx.b.set_nomask(true);
    let mut at = start;
    while at < end {
        let place = i64::from(at) + shift;
        let row = ids.and_then(|ids| {
            let within = u32::try_from(place).ok()?.checked_sub(ids.start)?;
            (within < ids.row * ids.axes).then_some((
                within / ids.row,
                within % ids.row / 2,
                ids.row,
            ))
        });
        let Some((axis, lane, row)) = row else {
            let ty = int_type(if end - at >= 4 { 4 } else { 1 });
            let value = given(cx, at, ty);
            cx.b.set_window(Window { first: 0, count: 1 });
            cx.b.region_write(reg, Region::packed(base.wrapping_add(at)), value);
            at += ty.bytes();
            continue;
        };
        let left = ((row / 2 - lane).min((end - at).div_ceil(2))) as u8;
        let count = u32::from(cx.lanes()).saturating_sub(lane).min(left.into()) as u8;
        if count > 0 {
            let lanes = cx.lanes();
            cx.b.set_window(Window::all(lanes));
            let id = cx.local_id(axis as u8);
            let id = cx.b.trunc(Type::I16, id);
            cx.b.set_window(Window { first: lane as u8, count });
            cx.b.region_write(reg, Region::packed(base.wrapping_add(at)), id);
        }
        at += u32::from(left.max(1)) * 2;
    }
    let lanes = cx.lanes();
    cx.b.set_window(Window::all(lanes));
    cx.b.set_nomask(false);
}
