//! Merges writes to an array by one lane each, at an index of the lane's own, into one write.
//!
//! Where a destination has one address, Intel's compiler stores the values of lanes in as many
//! instructions as there are lanes.

use warploom_ir::{BinaryOp, Inst, Op, Reg, Region, Value, Window};

use super::Ssa;

/// A write to an array that is held back: no later operation could have seen it yet. Each of its
/// lanes writes its own value at its own index.
#[derive(Clone, Copy, PartialEq)]
pub(super) struct Held {
    reg: Reg,
    region: Region,
    index: Value,
    value: Value,
    window: Window,
    /// A mask that limits `lanes`. None: all of `lanes` write.
    mask: Option<Value>,
    lanes: u64,
    pc: u64,
}

impl Ssa<'_> {
    /// Returns the write of an operation by which one lane alone writes its own value at its own
    /// index.
    ///
    /// Value and index are read from that lane of two varying values. Compilers write so, lane by
    /// lane, where a destination has one address.
    pub(super) fn of_one_lane(&self, op: &Op, inst: &Inst) -> Option<Held> {
        let Op::RegionWrite { reg, index: Some(index), region, value, guard: Some(guard), .. } =
            *op
        else {
            return None;
        };
        let constant = |v: Value| self.editor.constant(v);
        let (mask, lanes) = match (constant(guard), self.editor.def(guard)) {
            (Some(lanes), _) => (None, lanes),
            (None, &Op::Binary { op: BinaryOp::And, a, b }) => match (constant(a), constant(b)) {
                (Some(lanes), _) => (Some(b), lanes),
                (_, Some(lanes)) => (Some(a), lanes),
                _ => return None,
            },
            _ => return None,
        };
        let lanes = lanes & inst.window.mask();
        let number = lanes.is_power_of_two().then(|| u64::from(lanes.trailing_zeros()))?;
        let of_lane = |v: Value| match *self.editor.def(v) {
            Op::LaneRead { a, lane }
                if constant(lane) == Some(number) && !self.editor.ty(a).is_uniform() =>
            {
                Some(a)
            }
            _ => None,
        };
        let (index, value) = (of_lane(index)?, of_lane(value)?);
        Some(Held { reg, region, index, value, window: inst.window, mask, lanes, pc: inst.pc })
    }

    /// Holds a write back.
    ///
    /// The write joins the held write if both are parts of one write, in ascending order of lanes.
    /// Otherwise the held write is released first.
    pub(super) fn hold(&mut self, one: Held) {
        match &mut self.held {
            Some(held)
                if (Held { lanes: one.lanes, pc: one.pc, ..*held }) == one
                    && held.lanes < one.lanes =>
            {
                held.lanes |= one.lanes;
            }
            _ => {
                self.release();
                self.held = Some(one);
            }
        }
    }

    /// Emits the held write, if there is one.
    pub(super) fn release(&mut self) {
        let Some(Held { reg, region, index, value, window, mask, lanes, pc }) = self.held.take()
        else {
            return;
        };
        let now = std::mem::replace(&mut self.editor.pc, pc);
        let [index, value] = [index, value].map(|v| self.editor.current(v));
        let mut guard = self.editor.lanes_of(lanes);
        if let Some(mask) = mask {
            guard = self.editor.and_mask(mask, guard);
        }
        let op = Op::RegionWrite {
            reg,
            index: Some(index),
            region,
            value,
            guard: Some(guard),
            nomask: true,
        };
        self.editor.push(op, window, &[]);
        self.editor.pc = now;
    }
}
