//! Loops of one block whose registers stay in machine registers.
//!
//! A block that jumps back to itself and accesses no memory reads its registers once, runs to the
//! end of its loop, and writes the registers. If lanes see each other, all pieces take part in each
//! round. Otherwise a few pieces at a time run the loop to its end. The loop runs at most as many
//! rounds as the budget and the back edges allow. Then the block is entered again, which counts and
//! yields as usual.
//!
//! `find` recognises loops, `enter` has the code before the first round, `round` one round, `leave`
//! the code after the last round.

mod enter;
mod find;
mod leave;
mod round;

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use cranelift_entity::EntitySet;
use warploom_ir::{BlockId, Reg as IrReg, Value};

use super::bits::bits_used_but;
use super::build::registers;
use super::region::Selector;
use super::values::Part;
use crate::asm::{Condition, opcode};
use crate::machine::Reg;

/// The most rounds of one run through a loop: their product with a block's cost must not wrap.
const MOST_ROUNDS: u64 = 1 << 30;
/// The most vectors that a loop keeps in registers: some registers are left for its computations.
const KEPT_VECTORS: usize = 27;
/// The most vectors that rounds carry. With more, a register whose guard varies is not `free`: it
/// would need a second copy.
const MOST_CARRIED: usize = 18;
/// The pieces that run a lane-wise loop together: two pieces hide each other's latency.
const GROUP: usize = 2;

/// A write of lanes: the value, and its guard.
type Written = (Value, Option<Value>);

/// A loop of one block.
struct SelfLoop {
    exit: BlockId,
    cond: Value,
    /// Whether the loop continues if the condition holds, or if it does not hold.
    again_if: bool,
    lanes: BTreeMap<IrReg, Written>,
    /// Registers of masks and of uniform values.
    cells: BTreeMap<IrReg, Value>,
    /// Registers of lanes whose NaNs are made canonical after the loop.
    raw: BTreeSet<IrReg>,
    /// Mask registers that gather the lanes that leave.
    exit_masks: BTreeSet<IrReg>,
    /// Registers that also change in lanes that have left the loop: nothing sees these lanes before
    /// the end. The flag says whether the guard may differ between rounds; if so, the register's
    /// real contents are kept apart.
    free: BTreeMap<IrReg, bool>,
    /// Values that may differ between rounds.
    varies: EntitySet<Value>,
    /// Values that a round must compute.
    needed: EntitySet<Value>,
    /// Whether no lane sees another lane in the loop, which ends when no lane is active.
    lane_wise: bool,
}

/// The state at the start of a round of a group of pieces, in registers.
struct State {
    lanes: BTreeMap<IrReg, Vec<Part>>,
    /// The real contents of free registers whose guards vary.
    kept: BTreeMap<IrReg, Vec<Part>>,
    masks: BTreeMap<IrReg, Vec<Reg>>,
    cells: BTreeMap<IrReg, Reg>,
    /// The number of active lanes, summed over all rounds but the first.
    counted: Reg,
    /// The number of rounds that are left.
    left: Reg,
}

impl SelfLoop {
    /// The flags' condition for another round, after a test of the loop's own condition.
    fn stays(&self) -> Condition {
        if self.again_if { Condition::NotEqual } else { Condition::Equal }
    }
}

impl State {
    /// Lists all registers in the order of a block's parameters.
    fn registers(&self, is_wide: impl Fn(IrReg) -> bool) -> Vec<Reg> {
        let mut all = Vec::new();
        for (&reg, pieces) in self.lanes.iter().chain(&self.kept) {
            all.extend(pieces.iter().flat_map(|part| &part[..1 + usize::from(is_wide(reg))]));
        }
        all.extend(self.masks.values().flatten().chain(self.cells.values()));
        all.extend([self.counted, self.left]);
        all
    }
}

/// The result of the rounds of a group of pieces.
struct Done {
    /// The state after the last round.
    last: State,
    /// The loop's condition after the last round.
    going: Reg,
    pieces: Range<usize>,
}

impl Selector<'_> {
    /// Lowers the block as a loop in registers. Returns false if the block is not a loop in
    /// registers.
    pub fn self_loop(&mut self) -> bool {
        let Some(mut found) = self.find_loop() else { return false };
        self.facts.equal_masks = self.find_unseen_lanes(&mut found);
        self.find_needed(&mut found);
        self.find_lane_masks(&found);
        found.lane_wise &= self.facts.lane_masks[found.cond];
        self.facts.bits_used = bits_used_but(self.facts.block, |reg| found.raw.contains(&reg));
        self.lower_loop(&found);
        true
    }

    fn lower_loop(&mut self, found: &SelfLoop) {
        let allowed = self.allowed_rounds();
        let active = self.prepared.layout().offset(self.function().active);
        let active = self.general_of(opcode::MOV, registers(active));
        self.expect_usual_state(found, active);
        let (all, forms) = (self.group.clone(), self.forms.clone());
        let step = if found.lane_wise { GROUP } else { all.len() };
        let mut groups = Vec::new();
        for start in all.clone().step_by(step) {
            self.group = start..(start + step).min(all.end);
            self.forms = forms.clone();
            let (last, going) = self.rounds(found, allowed);
            self.write_rows(found, &last);
            groups.push(Done { last, going, pieces: self.group.clone() });
        }
        self.group = all;
        self.leave_loop(found, &groups, (allowed, active));
    }

    /// Emits all rounds of a group of pieces. Returns the state after the last round, and the
    /// loop's condition.
    fn rounds(&mut self, found: &SelfLoop, allowed: Reg) -> (State, Reg) {
        let first = self.first_state(found, allowed);
        self.prepare_invariants(found);
        let (head, forms) = (self.body.block(), self.forms.clone());
        let args = first.registers(|reg| self.is_wide_row(reg));
        self.body.jump(head, args);
        let state = self.parameters(head, &first);
        self.body.switch_to(head);
        let (next, going) = self.round(found, &state);

        let (again, exit) = (self.body.block(), self.body.block());
        self.test(going);
        self.body.branch(found.stays(), (again, Vec::new()), (exit, Vec::new()));
        self.body.switch_to(again);
        self.test(next.left);
        let args = next.registers(|reg| self.is_wide_row(reg));
        self.body.branch(Condition::NotEqual, (head, args), (exit, Vec::new()));
        self.body.switch_to(exit);
        self.forms = forms;
        (next, going)
    }
}
