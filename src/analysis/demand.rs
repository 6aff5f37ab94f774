//! Which lanes of a value anyone can see, and what may be left out because of it.
//!
//! A value written to a register under a mask, or used as the address of a masked access, is seen in the lanes of
//! that mask only. Where the lanes of a `select` that are seen lie within its mask it is its first operand; a bit of
//! `a & m` that is seen only inside `m` is `a`. What no one sees is left out.

use smallvec::SmallVec;

use super::editor::Editor;
use crate::ir::{Access, BinaryOp, CellKind, Function, Op, Reg, Terminator, UnaryOp, Value, ValueType};

/// Lanes (or bits of a mask) that are seen.
#[derive(Clone, Debug)]
enum Seen {
    Nothing,
    /// At most those of these masks.
    Under(SmallVec<[Value; 4]>),
    All,
}

impl Seen {
    fn under(mask: Value) -> Seen {
        Seen::Under(SmallVec::from_slice(&[mask]))
    }

    fn union(&mut self, other: &Seen) {
        match (&mut *self, other) {
            (Seen::All, _) | (_, Seen::Nothing) => {}
            (Seen::Under(masks), Seen::Under(more)) => {
                for mask in more {
                    if !masks.contains(mask) {
                        masks.push(*mask);
                    }
                }
                if masks.len() > 4 {
                    *self = Seen::All;
                }
            }
            (_, other) => *self = other.clone(),
        }
    }
}

struct Demand<'a> {
    editor: &'a Editor,
    seen: Vec<Seen>,
    /// The value that may stand in for another.
    alias: Vec<Option<Value>>,
}

/// The same instructions without what no one sees.
pub fn prune(editor: &Editor, term: &mut Terminator) -> Editor {
    Demand::of(editor, term).replay(term)
}

/// Lane registers that the block reads in lanes which may be inactive: what such lanes hold can be seen.
pub fn exposed(function: &Function, editor: &Editor, term: &Terminator) -> Vec<Reg> {
    let demand = Demand::of(editor, term);
    let active = editor.insts.iter().find_map(|inst| match inst.op {
        Op::RfRead { reg, .. } if reg == function.active => Some(inst.results[0]),
        _ => None,
    });
    let hidden = |v: Value| match &demand.seen[v.0 as usize] {
        Seen::Nothing => true,
        Seen::Under(masks) => active.is_some_and(|active| masks.iter().all(|&m| editor.is_subset(m, active))),
        Seen::All => false,
    };
    let mut exposed = Vec::new();
    for inst in &editor.insts {
        match inst.op {
            Op::RfRead { reg, .. }
                if matches!(function.bank(reg.bank).kind, CellKind::Lane(_)) && !hidden(inst.results[0]) =>
            {
                exposed.push(reg);
            }
            Op::RfGather { bank, first, count, .. } if !hidden(inst.results[0]) => {
                exposed.extend((first..first + count).map(|i| bank.reg(i)));
            }
            _ => {}
        }
    }
    exposed
}

impl<'a> Demand<'a> {
    fn of(editor: &'a Editor, term: &Terminator) -> Self {
        let mut demand =
            Demand { editor, seen: vec![Seen::Nothing; editor.values.len()], alias: vec![None; editor.values.len()] };
        term.for_each_operand(|v| demand.see(v, &Seen::All));
        for index in (0..editor.insts.len()).rev() {
            demand.inst(index);
        }
        demand
    }

    fn see(&mut self, value: Value, seen: &Seen) {
        self.seen[value.0 as usize].union(seen);
    }

    fn is_mask_op(&self, op: &Op) -> bool {
        let mask = |v: Value| self.editor.ty(v) == ValueType::MASK;
        match *op {
            Op::Binary { op: BinaryOp::And | BinaryOp::Or | BinaryOp::Xor, a, b } => mask(a) && mask(b),
            Op::Unary { op: UnaryOp::Not, a } => mask(a),
            _ => false,
        }
    }

    fn inst(&mut self, index: usize) {
        let inst = &self.editor.insts[index];
        let mut seen = Seen::Nothing;
        for result in &inst.results {
            seen.union(&self.seen[result.0 as usize].clone());
        }
        if self.editor.is_pure(&inst.op)
            || matches!(inst.op, Op::RfRead { .. } | Op::RfGather { .. } | Op::RegionRead { .. })
        {
            if matches!(seen, Seen::Nothing) {
                return;
            }
            if let Some(alias) = self.stand_in(&inst.op, &seen) {
                self.alias[inst.results[0].0 as usize] = Some(alias);
                self.see(alias, &seen);
                return;
            }
        }
        match inst.op {
            Op::RfWrite { value, guard: Some(guard), nomask: true, .. } => self.masked(&[value], guard),
            Op::RfScatter { value, index, guard: Some(guard), nomask: true, .. } => self.masked(&[value, index], guard),
            Op::RegionWrite { value, guard: Some(guard), nomask: true, .. } => self.masked(&[value], guard),
            Op::Load { access, .. } => self.access(&access, &[]),
            Op::Store { access, ref values, .. } => self.access(&access, values),
            Op::Atomic { access, value, compare, .. } => {
                self.access(&access, &[value]);
                if let Some(compare) = compare {
                    let masked = access.guard.map_or(Seen::All, Seen::under);
                    self.see(compare, &masked);
                }
            }
            Op::LaneGather { a, index } => {
                self.see(a, &Seen::All);
                self.see(index, &seen);
            }
            Op::LaneRead { a, lane } => {
                self.see(a, &Seen::All);
                self.see(lane, &Seen::All);
            }
            Op::AddCarry { a, b, carry } => {
                for v in [Some(a), Some(b), carry].into_iter().flatten() {
                    let number = self.editor.ty(v).is_uniform() && Some(v) != carry;
                    self.see(v, if number { &Seen::All } else { &seen });
                }
            }
            Op::Select { mask, a, b } => {
                self.see(mask, &seen);
                let inside = if matches!(seen, Seen::All) { Seen::under(mask) } else { seen.clone() };
                self.see(a, &inside);
                self.see(b, &seen);
            }
            Op::Binary { op: BinaryOp::And, a, b } if self.is_mask_op(&inst.op) => {
                for (this, other) in [(a, b), (b, a)] {
                    let narrowed = match &seen {
                        Seen::Under(masks) if !masks.iter().all(|&m| self.editor.is_subset(other, m)) => seen.clone(),
                        _ => Seen::under(other),
                    };
                    self.see(this, &narrowed);
                }
            }
            ref op => {
                let lanewise = inst.results.iter().any(|&r| !self.editor.ty(r).is_uniform())
                    || matches!(op, Op::ICmp { .. } | Op::FCmp { .. })
                    || self.is_mask_op(op);
                let seen = if lanewise { seen } else { Seen::All };
                op.for_each_operand(|v| {
                    // A uniform number is one value for all lanes; only masks have lanes to hide.
                    let whole = self.editor.ty(v).is_uniform() && !self.is_mask_op(op);
                    self.seen[v.0 as usize].union(if whole { &Seen::All } else { &seen });
                });
            }
        }
    }

    fn masked(&mut self, values: &[Value], guard: Value) {
        self.see(guard, &Seen::All);
        for &value in values {
            self.see(value, &Seen::under(guard));
        }
    }

    fn access(&mut self, access: &Access, values: &[Value]) {
        let seen = access.guard.map_or(Seen::All, Seen::under);
        if let Some(guard) = access.guard {
            self.see(guard, &Seen::All);
        }
        for &value in values.iter().chain([&access.address]) {
            self.see(value, &seen);
        }
    }

    /// An operand that equals the result wherever that is seen.
    fn stand_in(&self, op: &Op, seen: &Seen) -> Option<Value> {
        let Seen::Under(masks) = seen else { return None };
        let within = |m: Value| masks.iter().all(|&s| self.editor.is_subset(s, m));
        let outside = |m: Value| masks.iter().all(|&s| self.editor.is_disjoint(m, s));
        match *op {
            Op::Select { mask, a, .. } if within(mask) && !self.editor.ty(a).is_uniform() => Some(a),
            Op::Select { mask, b, .. } if outside(mask) && !self.editor.ty(b).is_uniform() => Some(b),
            Op::Binary { op: BinaryOp::And, a, b } if self.is_mask_op(op) => {
                if within(b) {
                    Some(a)
                } else if within(a) {
                    Some(b)
                } else {
                    None
                }
            }
            Op::Binary { op: BinaryOp::Or, a, b } if self.is_mask_op(op) => {
                if outside(a) {
                    Some(b)
                } else if outside(b) {
                    Some(a)
                } else {
                    None
                }
            }
            _ => None,
        }
    }

    fn replay(&self, term: &mut Terminator) -> Editor {
        let mut out = Editor::new(self.editor.lanes);
        let mut map = vec![Value(u32::MAX); self.editor.values.len()];
        for inst in &self.editor.insts {
            if let [result] = inst.results[..]
                && let Some(alias) = self.alias[result.0 as usize]
            {
                map[result.0 as usize] = map[alias.0 as usize];
                continue;
            }
            let unseen = |v: &Value| matches!(self.seen[v.0 as usize], Seen::Nothing);
            let removable = self.editor.is_pure(&inst.op)
                || matches!(inst.op, Op::RfRead { .. } | Op::RfGather { .. } | Op::RegionRead { .. });
            if removable && inst.results.iter().all(unseen) {
                continue;
            }
            let mut op = inst.op.clone();
            op.map_operands(|v| map[v.0 as usize]);
            out.pc = inst.pc;
            if let (Op::AddCarry { a, b, carry }, true) = (&op, inst.results.get(1).is_some_and(unseen))
                && let Some(sum) = plain_sum(&mut out, *a, *b, *carry, inst.window)
            {
                let wanted = self.editor.ty(inst.results[0]);
                map[inst.results[0].0 as usize] = out.shaped(sum, wanted, inst.window);
                continue;
            }
            let types: Vec<ValueType> = inst.results.iter().map(|&r| self.editor.ty(r)).collect();
            let results =
                if out.is_pure(&op) { out.pure(op, inst.window, &types) } else { out.push(op, inst.window, &types) };
            for (old, new) in inst.results.iter().zip(results) {
                map[old.0 as usize] = new;
            }
        }
        term.map_operands(|v| map[v.0 as usize]);
        out
    }
}

/// An addition whose carry out no one reads, without a carry in or as the difference `a + ~b + 1`.
fn plain_sum(out: &mut Editor, a: Value, b: Value, carry: Option<Value>, window: crate::ir::Window) -> Option<Value> {
    match carry.map(|c| out.constant(c)) {
        None | Some(Some(0)) => Some(out.binary(BinaryOp::Add, a, b, window)),
        Some(Some(u64::MAX)) => {
            let Op::Unary { op: UnaryOp::Not, a: b } = *out.def(b) else { return None };
            Some(out.binary(BinaryOp::Sub, a, b, window))
        }
        _ => None,
    }
}
