//! Determines which lanes of each value are seen by its users, and leaves out work for other lanes.
//!
//! A value written to a register under a mask, or used as the address of a masked access, is seen
//! only in the lanes of that mask. If the seen lanes of a `select` lie within its mask, the
//! `select` equals its first operand. A bit of `a & m` that is seen only inside `m` is the bit of
//! `a`. An operation that sees only lanes of one side of a `select` takes that operand directly,
//! though other operations see the rest of the `select`. Values that no one sees are left out.

mod replay;

use std::borrow::Cow;

use cranelift_entity::SecondaryMap;
use rustc_hash::FxHashMap;
use warploom_ir::{
    Access, BinaryOp, Function, Inst, Op, Reg, Terminator, Value, ValueType, entry_mask, exit_mask,
    table,
};

use super::editor::Editor;
use super::pairs::Pairs;

/// Lanes (or bits of a mask) that are seen.
#[derive(Clone, Copy, Debug)]
enum Seen {
    Nothing,
    /// At most the lanes of these masks.
    Under(Masks),
    All,
}

/// A few masks, all different.
#[derive(Clone, Copy, Debug)]
struct Masks {
    values: [Value; 4],
    count: u8,
}

impl Masks {
    fn iter(&self) -> impl Iterator<Item = Value> {
        self.values[..self.count as usize].iter().copied()
    }

    fn retain(&mut self, keep: impl Fn(Value) -> bool) {
        let mut count = 0;
        for index in 0..self.count as usize {
            if keep(self.values[index]) {
                self.values[count] = self.values[index];
                count += 1;
            }
        }
        self.count = count as u8;
    }

    /// Adds a mask. Returns false if there is no room for it.
    fn add(&mut self, mask: Value) -> bool {
        if self.iter().any(|other| other == mask) {
            return true;
        }
        let Some(place) = self.values.get_mut(self.count as usize) else { return false };
        *place = mask;
        self.count += 1;
        true
    }
}

impl Seen {
    fn under(mask: Value) -> Seen {
        Seen::Under(Masks { values: [mask; 4], count: 1 })
    }

    /// Adds the lanes that are seen as `other`.
    fn union(&mut self, other: Seen, editor: &Editor) {
        let is_subset = |a, b| editor.is_subset(a, b);
        match (&mut *self, other) {
            (Seen::All, _) | (_, Seen::Nothing) => {}
            (Seen::Under(masks), Seen::Under(more)) => {
                let mut adds = |mask: Value| {
                    if masks.add(mask) || masks.iter().any(|known| is_subset(mask, known)) {
                        return true;
                    }
                    // If known masks lie within this mask, or within a conjunct of it, the wider
                    // mask replaces them.
                    let within = |of: Value| masks.iter().any(|known| is_subset(known, of));
                    let Some(wider) = editor.conjuncts(mask).into_iter().find(|&of| within(of))
                    else {
                        return false;
                    };
                    masks.retain(|known| !is_subset(known, wider));
                    masks.add(wider)
                };
                if !more.iter().all(&mut adds) {
                    *self = Seen::All;
                }
            }
            (_, other) => *self = other,
        }
    }
}

/// The lanes that are seen of each value of a block.
pub struct Demand<'a> {
    editor: &'a Editor,
    term: &'a Terminator,
    /// The register of active lanes, and their mask at the block's entry, if it is known.
    active: Reg,
    entered: Option<Value>,
    /// The indices of the writes that are left out, in order.
    dead: Vec<usize>,
    seen: SecondaryMap<Value, Seen>,
    /// The value that may stand in for another.
    alias: SecondaryMap<Value, Option<Value>>,
    /// The operand of a `select` that an instruction, by its index, takes in place of the `select`.
    instead: FxHashMap<(usize, Value), Value>,
}

impl<'a> Demand<'a> {
    pub fn of(editor: &'a Editor, term: &'a Terminator, active: Reg) -> Self {
        Demand::without(editor, term, active, Vec::new())
    }

    /// Determines the seen lanes as if the writes at the indices `dead` were not there.
    fn without(editor: &'a Editor, term: &'a Terminator, active: Reg, dead: Vec<usize>) -> Self {
        let values = editor.values.len();
        let (seen, alias) = (table(values, Seen::Nothing), table(values, None));
        let entered = entry_mask(&editor.insts, active);
        let mut demand = Demand {
            editor,
            term,
            active,
            entered,
            dead,
            seen,
            alias,
            instead: FxHashMap::default(),
        };
        term.for_each_operand(|v| demand.see(v, Seen::All));
        for (index, inst) in editor.insts.iter().enumerate().rev() {
            if !demand.is_dead(index) {
                demand.inst(index, inst);
            }
        }
        demand
    }

    /// Returns the lane registers that the block reads in lanes which may be inactive, as first
    /// registers and counts.
    ///
    /// The contents of inactive lanes of these registers can be seen.
    pub fn exposed(&self, function: &Function) -> Vec<(Reg, u32)> {
        let hidden = |v: Value| match &self.seen[v] {
            Seen::Nothing => true,
            Seen::Under(masks) => self
                .entered
                .is_some_and(|active| masks.iter().all(|m| self.editor.is_subset(m, active))),
            Seen::All => false,
        };
        let mut exposed = Vec::new();
        for inst in &self.editor.insts {
            match inst.op {
                Op::RfRead { reg, .. } if function.is_lane(reg) && !hidden(inst.results[0]) => {
                    exposed.push((reg, 1));
                }
                Op::RfGather { bank, first, count, .. } if !hidden(inst.results[0]) => {
                    exposed.push((bank.reg(first), count));
                }
                _ => {}
            }
        }
        exposed
    }

    /// Returns the block without unseen values and without writes of registers that are not `live`
    /// after it, or `None` if that is the unchanged block.
    ///
    /// `live` is told whether a write affects only lanes that are active at the block's end. If the
    /// block leads to itself, `elsewhere` tells which registers are live at its other successors.
    pub fn prune(
        self,
        live: impl Fn(Reg, bool) -> bool,
        elsewhere: Option<impl Fn(Reg) -> bool>,
    ) -> Option<(Editor, Terminator)> {
        let demand = match elsewhere {
            Some(elsewhere) => self.without_loop(elsewhere),
            None => {
                let at_end = exit_mask(&self.editor.insts, self.active);
                let is_of_active = |guard: Option<Value>| {
                    guard
                        .zip(at_end)
                        .is_some_and(|(guard, at_end)| self.editor.is_subset(guard, at_end))
                };
                let dead = self.editor.dead_writes(|reg, guard| live(reg, is_of_active(guard)));
                if dead.is_empty() {
                    self
                } else {
                    Demand::without(self.editor, self.term, self.active, dead)
                }
            }
        };
        let (words, pairs) = (demand.low_words(), Pairs::of(demand.editor));
        (!demand.keeps_all(&words, &pairs)).then(|| demand.replay(&words, &pairs))
    }

    /// Leaves out the writes that only the block itself reads, in its next round, and only for
    /// values that are as needless.
    fn without_loop(self, elsewhere: impl Fn(Reg) -> bool) -> Self {
        let mut dead = self.editor.dead_writes(|reg, _| elsewhere(reg));
        loop {
            if dead.is_empty() {
                return self;
            }
            let demand = Demand::without(self.editor, self.term, self.active, dead.clone());
            let mut read: Vec<Reg> = Vec::new();
            for inst in &self.editor.insts {
                match inst.op {
                    Op::RfRead { reg, .. } if !demand.is_unseen(inst.results[0]) => read.push(reg),
                    Op::RfGather { bank, first, count, .. } => {
                        read.extend((first..first + count).map(|i| bank.reg(i)))
                    }
                    _ => {}
                }
            }
            let before = dead.len();
            dead.retain(
                |&index| !matches!(self.editor.insts[index].op, Op::RfWrite { reg, .. } if read.contains(&reg)),
            );
            if dead.len() == before {
                return demand;
            }
        }
    }

    /// Notes that an instruction sees some lanes of an operand.
    ///
    /// If the operand is a `select`, and all these lanes are from one side of it, the instruction
    /// takes that side.
    fn take(&mut self, index: usize, operand: Value, seen: Seen) {
        let mut v = operand;
        while let op @ Op::Select { .. } = self.editor.def(v)
            && let Some(other) = self.stand_in(op, &seen)
        {
            v = other;
        }
        if v != operand {
            self.instead.insert((index, operand), v);
        }
        self.see(v, seen);
    }

    /// Returns the operation of an instruction, with the operands that it takes.
    fn taken(&self, index: usize) -> Cow<'a, Op> {
        let op = &self.editor.insts[index].op;
        let is_taken = |v: &Value| self.instead.contains_key(&(index, *v));
        if self.instead.is_empty() || !op.operands().iter().any(is_taken) {
            return Cow::Borrowed(op);
        }
        let mut op = op.clone();
        op.map_operands(|v| self.instead.get(&(index, v)).copied().unwrap_or(v));
        Cow::Owned(op)
    }

    fn is_dead(&self, index: usize) -> bool {
        self.dead.binary_search(&index).is_ok()
    }

    fn see(&mut self, value: Value, seen: Seen) {
        let editor = self.editor;
        self.seen[value].union(seen, editor);
    }

    fn is_mask_op(&self, op: &Op) -> bool {
        matches!(*op, Op::Binary { a, .. } | Op::Unary { a, .. } if self.editor.ty(a) == ValueType::MASK)
    }

    fn inst(&mut self, index: usize, inst: &Inst) {
        let mut seen = Seen::Nothing;
        for result in &inst.results {
            seen.union(self.seen[*result], self.editor);
        }
        if self.is_removable(&inst.op) {
            if matches!(seen, Seen::Nothing) {
                return;
            }
            if let Some(alias) = self.stand_in(&inst.op, &seen) {
                self.alias[inst.results[0]] = Some(alias);
                self.see(alias, seen);
                return;
            }
        }
        if self.under_a_guard(index, &inst.op) {
            return;
        }
        match inst.op {
            Op::LaneGather { a, index } => {
                self.see(a, Seen::All);
                self.see(index, seen);
            }
            Op::LaneScatter { a, index, lanes } => {
                self.see(lanes, Seen::All);
                for v in [a, index] {
                    self.see(v, Seen::under(lanes));
                }
            }
            Op::Product { ref args, .. } => {
                for &arg in args {
                    self.see(arg, Seen::All);
                }
            }
            Op::LaneRead { a, lane } => {
                self.see(a, Seen::All);
                self.see(lane, Seen::All);
            }
            Op::AddCarry { a, b, carry } => {
                for v in [Some(a), Some(b), carry].into_iter().flatten() {
                    let number = self.editor.ty(v).is_uniform() && Some(v) != carry;
                    self.see(v, if number { Seen::All } else { seen });
                }
            }
            Op::Select { mask, a, b } => {
                self.see(mask, seen);
                // Both `seen` and the mask bound the lanes of `a`. The mask says more if it lies
                // within a seen mask, or within a conjunct of one.
                let says_more = |m: Value| {
                    self.editor.conjuncts(m).into_iter().any(|of| self.editor.is_subset(mask, of))
                };
                let within = |m: Value| self.editor.is_subset(m, mask);
                let inside = match &seen {
                    Seen::Under(masks)
                        if masks.iter().all(within) || !masks.iter().any(says_more) =>
                    {
                        seen
                    }
                    _ => Seen::under(mask),
                };
                self.see_number(index, a, inside);
                self.see_number(index, b, seen);
            }
            Op::Binary { op: BinaryOp::And, a, b } if self.is_mask_op(&inst.op) => {
                // One operand matters only where the other has bits. Only one is narrowed: each
                // could lose bits that the other relies on. A compare depends on values of lanes,
                // which have the most to lose.
                let is_compare =
                    |v: Value| matches!(self.editor.def(v), Op::ICmp { .. } | Op::FCmp { .. });
                let is_leaf =
                    |v: Value| matches!(self.editor.def(v), Op::RfRead { .. } | Op::Const { .. });
                let first = is_compare(a) || !is_compare(b) && is_leaf(b);
                let (this, other) = if first { (a, b) } else { (b, a) };
                let narrowed = match &seen {
                    Seen::Under(masks)
                        if !masks.iter().all(|m| self.editor.is_subset(other, m)) =>
                    {
                        seen
                    }
                    _ => Seen::under(other),
                };
                self.see(this, narrowed);
                self.see(other, seen);
            }
            ref op => {
                let lanewise = inst.results.iter().any(|&r| !self.editor.ty(r).is_uniform())
                    || matches!(op, Op::ICmp { .. } | Op::FCmp { .. })
                    || self.is_mask_op(op);
                let seen = if lanewise { seen } else { Seen::All };
                op.for_each_operand(|v| {
                    // A uniform number is one value for all lanes; only masks have lanes to hide.
                    let whole = self.editor.ty(v).is_uniform() && !self.is_mask_op(op);
                    if whole { self.see(v, Seen::All) } else { self.take(index, v, seen) }
                });
            }
        }
    }

    /// Notes the lanes that guarded operations and memory accesses see. Returns false for other
    /// operations.
    fn under_a_guard(&mut self, at: usize, op: &Op) -> bool {
        match *op {
            Op::RfWrite { value, guard: Some(guard), nomask: true, .. } => {
                self.masked(at, &[value], guard)
            }
            Op::RfScatter { value, index, guard: Some(guard), nomask: true, .. } => {
                self.masked(at, &[value, index], guard)
            }
            Op::RegionWrite { index, value, guard: Some(guard), nomask: true, .. } => {
                self.masked(at, &[value], guard);
                self.masked(at, index.as_slice(), guard);
            }
            Op::Sample { image, sampler, ref args, guard: Some(guard), nomask: true, .. } => {
                self.masked(at, &[image, sampler], guard);
                self.masked(at, args, guard);
            }
            Op::Wide { ref args, guard: Some(guard), nomask: true, .. } => {
                self.masked(at, args, guard)
            }
            Op::Load { access, .. } => self.access(at, &access, &[]),
            Op::Store { access, ref values, .. } => self.access(at, &access, values),
            Op::Atomic { access, value, compare, .. } => {
                self.access(at, &access, &[value]);
                if let Some(compare) = compare {
                    let seen = self.seen_by(&access);
                    self.see_number(at, compare, seen);
                }
            }
            _ => return false,
        }
        true
    }

    fn masked(&mut self, at: usize, values: &[Value], guard: Value) {
        self.see(guard, Seen::All);
        for &value in values {
            self.see_number(at, value, Seen::under(guard));
        }
    }

    /// Notes that an operand is seen in `lanes`. Of a uniform value everything is seen: even a mask
    /// is a number there.
    fn see_number(&mut self, at: usize, value: Value, lanes: Seen) {
        match self.editor.ty(value).is_uniform() {
            true => self.see(value, Seen::All),
            false => self.take(at, value, lanes),
        }
    }

    fn access(&mut self, at: usize, access: &Access, values: &[Value]) {
        let seen = self.seen_by(access);
        if let Some(guard) = access.guard {
            self.see(guard, Seen::All);
        }
        for &value in values.iter().chain([&access.address]) {
            self.see_number(at, value, seen);
        }
    }

    /// Returns the lanes that an access sees of its operands. The operands of a scalar access are
    /// numbers, seen as a whole.
    fn seen_by(&self, access: &Access) -> Seen {
        if self.editor.ty(access.address).is_uniform() {
            Seen::All
        } else {
            access.guard.map_or(Seen::All, Seen::under)
        }
    }

    pub fn is_unseen(&self, value: Value) -> bool {
        matches!(self.seen[value], Seen::Nothing)
    }

    /// Whether the contents of a register are seen.
    ///
    /// Of a lane register, only lanes that are active at the block's entry count.
    pub fn is_seen(&self, value: Value, is_lane: bool) -> bool {
        match (&self.seen[value], self.entered) {
            (Seen::Nothing, _) => false,
            (Seen::Under(masks), Some(active)) if is_lane => {
                masks.iter().any(|mask| !self.editor.is_disjoint(mask, active))
            }
            _ => true,
        }
    }
}
