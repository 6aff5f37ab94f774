//! Loops of one block whose registers stay in machine registers.
//!
//! A block that jumps back to itself and accesses no memory reads its registers once, runs to the
//! end of its loop, and writes them. Where lanes see each other, all pieces take part in each
//! round. Where they do not, a few pieces at a time run the loop to its end. It runs at most as
//! many rounds as the budget and the back edges allow; then the block is entered again, which
//! counts and yields as usual.
//!
//! `find` says what is such a loop, `enter` has what comes before its first round, `round` one
//! round, `leave` what comes after the last.

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

/// Most rounds of one run through a loop: the product with a block's cost stays far from wrapping.
const MOST_ROUNDS: u64 = 1 << 30;
/// Vectors that a loop keeps in registers, at most: some are left for what it computes.
const KEPT_VECTORS: usize = 27;
/// Vectors that rounds carry, from which on registers are not kept apart from what runs on.
const MOST_CARRIED: usize = 18;
/// Pieces that run such a loop together: two hide what one waits for.
const GROUP: usize = 2;

/// A write of lanes: the value, and where it is written.
type Written = (Value, Option<Value>);

/// The parts of a loop.
struct SelfLoop {
    exit: BlockId,
    cond: Value,
    /// Whether there is another round if the condition holds, or if it does not.
    again_if: bool,
    lanes: BTreeMap<IrReg, Written>,
    /// Registers of masks and of uniform values.
    cells: BTreeMap<IrReg, Value>,
    /// Registers of lanes whose NaNs are made canonical behind the loop.
    raw: BTreeSet<IrReg>,
    /// Registers of masks that gather the lanes that leave.
    exit_masks: BTreeSet<IrReg>,
    /// Registers that run on in lanes which have left: nobody sees these before the end. Of each,
    /// whether the lanes that are written may differ from round to round, so that what they hold is
    /// kept apart.
    free: BTreeMap<IrReg, bool>,
    /// Values that may differ from round to round.
    varies: EntitySet<Value>,
    /// Values that a round is to make.
    needed: EntitySet<Value>,
    /// Whether no lane sees another one in the loop, which ends when no lane is active.
    lane_wise: bool,
}

/// The state with which a round of a group of pieces begins, in registers.
struct State {
    lanes: BTreeMap<IrReg, Vec<Part>>,
    /// Contents of free registers that are written under masks which vary.
    kept: BTreeMap<IrReg, Vec<Part>>,
    masks: BTreeMap<IrReg, Vec<Reg>>,
    cells: BTreeMap<IrReg, Reg>,
    /// Active lanes of all rounds but the first, added up.
    counted: Reg,
    /// Rounds that are left.
    left: Reg,
}

impl SelfLoop {
    /// The condition of the flags for another round, after a test of the loop's own condition.
    fn stays(&self) -> Condition {
        if self.again_if { Condition::NotEqual } else { Condition::Equal }
    }
}

impl State {
    /// All registers, in the order of a block's parameters.
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

/// The outcome of a group of pieces.
struct Done {
    /// The state behind the last round.
    last: State,
    /// The loop's condition then.
    going: Reg,
    pieces: Range<usize>,
}

impl Selector<'_> {
    /// Makes the block a loop in registers, if it is one.
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

    /// All rounds of a group of pieces: the state behind the last one, and the condition that there
    /// is one more.
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
