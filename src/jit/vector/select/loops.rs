//! Loops of one block whose registers stay in machine registers.
//!
//! A block that jumps back to itself and accesses no memory reads its registers once, runs to the end of its loop, and
//! writes them. All pieces take part in each round, so lanes are in lockstep. The loop runs at most as many rounds as
//! the budget and the back edges allow; then the block is entered again, which counts and yields as usual.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use cranelift_entity::{EntitySet, SecondaryMap};

use super::bits::bits_used_but;
use super::build::{context, registers};
use super::region::Selector;
use super::values::{Part, lane_masks};
use crate::analysis::Masks;
use crate::ir::{BlockId, CellKind, Op, Reg as IrReg, Special, Terminator, Type, Value, table};
use crate::jit::abi;
use crate::jit::exit_masks::{ExitMasks, Rounds};
use crate::jit::vector::asm::Condition;
use crate::jit::vector::asm::opcode;
use crate::jit::vector::machine::{Block, MASK, Reg, Rm};

/// Most rounds of one run through a loop: the product with a block's cost stays far from wrapping.
const MOST_ROUNDS: u64 = 1 << 30;
/// Vectors that a loop keeps in registers, at most: some are left for what it computes.
const KEPT_VECTORS: usize = 27;
/// Vectors that rounds carry, from which on registers are not kept apart from what runs on.
const MOST_CARRIED: usize = 18;

/// A write of lanes: the value, and where it is written.
type Written = (Value, Option<Value>);

/// What a loop consists of.
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
    /// Registers that run on in lanes which have left: nobody sees these before the end. Of each, whether the lanes that
    /// are written may differ from round to round, so that what they hold is kept apart.
    free: BTreeMap<IrReg, bool>,
    /// Values that may differ from round to round.
    varies: EntitySet<Value>,
    /// Values that a round is to make.
    needed: EntitySet<Value>,
}

/// What a round begins with, in registers.
struct State {
    lanes: BTreeMap<IrReg, Vec<Part>>,
    /// What free registers hold where they are written under masks that vary.
    kept: BTreeMap<IrReg, Vec<Part>>,
    masks: BTreeMap<IrReg, Vec<Reg>>,
    cells: BTreeMap<IrReg, Reg>,
    /// Active lanes of all rounds but the first, added up.
    counted: Reg,
    /// Rounds that are left.
    left: Reg,
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

impl Selector<'_> {
    /// Makes the block a loop in registers, if it is one.
    pub fn self_loop(&mut self) -> bool {
        let Some(mut found) = self.find_loop() else { return false };
        self.lower_loop(&mut found);
        true
    }

    fn find_loop(&self) -> Option<SelfLoop> {
        let (id, block) = (self.facts.id, self.facts.block);
        let Terminator::Branch { cond, then, otherwise } = block.term else { return None };
        let again_if = then == id;
        if again_if == (otherwise == id) || block.cost == 0 || id.0 == 0 {
            return None;
        }
        let exit = if again_if { otherwise } else { then };
        let (mut lanes, mut cells) = (BTreeMap::new(), BTreeMap::new());
        for inst in &block.insts {
            match inst.op {
                Op::RfWrite { reg, value, guard, .. } => {
                    let twice = match self.function().bank(reg.bank).kind {
                        CellKind::Lane(_) => lanes.insert(reg, (value, guard)).is_some(),
                        _ => cells.insert(reg, value).is_some(),
                    };
                    if twice {
                        return None;
                    }
                }
                Op::Load { access, .. } if !self.value_type(access.address).is_uniform() => return None,
                Op::Store { .. } | Op::Fence | Op::RfGather { .. } | Op::RfScatter { .. } => return None,
                Op::Special(Special::Clock) => return None,
                _ => {}
            }
        }
        let mut varies: EntitySet<Value> = EntitySet::new();
        for inst in &block.insts {
            let carried = match inst.op {
                Op::RfRead { reg, .. } => lanes.contains_key(&reg) || cells.contains_key(&reg),
                _ => inst.op.operands().iter().any(|&v| varies.contains(v)),
            };
            if carried {
                inst.results.iter().for_each(|&v| {
                    varies.insert(v);
                });
            }
        }
        let (exit_masks, raw, free) = (BTreeSet::new(), BTreeSet::new(), BTreeMap::new());
        let needed = EntitySet::new();
        let mut found = SelfLoop { exit, cond, again_if, lanes, cells, raw, exit_masks, free, varies, needed };
        found.raw = self.raw_registers(&found);
        Some(found)
    }

    /// Registers that are written with results of float arithmetic, and of which a round uses no bits.
    fn raw_registers(&self, found: &SelfLoop) -> BTreeSet<IrReg> {
        let reads_bits = |reg: IrReg| {
            let mut reads = self.facts.block.insts.iter().filter(|inst| matches!(inst.op, Op::RfRead { reg: read, .. } if read == reg));
            reads.any(|inst| self.facts.bits_used[inst.results[0]])
        };
        let is_raw = |&(&reg, &(value, guard)): &(&IrReg, &Written)| {
            let arithmetic = matches!(
                self.facts.op(self.root(value)),
                Op::FBinary { .. } | Op::Fma { .. } | Op::FUnary { .. }
            );
            arithmetic && guard.is_some() && !self.value_type(self.root(value)).is_uniform() && !reads_bits(reg)
        };
        found.lanes.iter().filter(is_raw).map(|(&reg, _)| reg).collect()
    }

    fn lower_loop(&mut self, found: &mut SelfLoop) {
        self.facts.equal_masks = self.find_unseen_lanes(found);
        self.find_needed(found);
        let found = &*found;
        self.find_lane_masks(found);
        let raw = |reg: IrReg| found.raw.contains(&reg);
        self.facts.bits_used = bits_used_but(self.facts.block, raw);
        let allowed = self.allowed_rounds();
        let active = self.program.layout().offset(self.function().active);
        let active = self.general_of(opcode::MOV, registers(active));
        let first = self.first_state(found, allowed);
        self.expect_usual_state(found, &first, active);
        self.prepare_invariants(found);
        let (head, forms) = (self.body.block(), self.forms.clone());
        let wide = |selector: &Self, reg| selector.is_wide_row(reg);
        let args = first.registers(|reg| wide(self, reg));
        self.body.jump(head, args);
        let state = self.parameters(head, &first);
        self.body.switch_to(head);
        let (next, going) = self.round(found, &state);

        let (again, exit) = (self.body.block(), self.body.block());
        let stays = if found.again_if { Condition::NotEqual } else { Condition::Equal };
        self.test(going);
        self.body.branch(stays, (again, Vec::new()), (exit, Vec::new()));
        self.body.switch_to(again);
        self.test(next.left);
        let args = next.registers(|reg| wide(self, reg));
        self.body.branch(Condition::NotEqual, (head, args), (exit, Vec::new()));
        self.body.switch_to(exit);
        self.forms = forms;
        self.leave_loop(found, &next, (allowed, active, going));
    }

    /// Finds mask registers that gather the lanes that leave, and registers that may run on in them, if a round shows
    /// nothing of lanes that are not active.
    fn find_unseen_lanes(&self, found: &mut SelfLoop) -> HashMap<Value, Value> {
        let (block, function) = (self.facts.block, self.function());
        let Some(active) = block.entry_mask(function.active) else { return HashMap::new() };
        let next = found.cells.get(&function.active).copied();
        let masks = Masks::of(function.lanes, &block.insts, &self.facts.defs);
        let within = |mask: Value| masks.is_subset(mask, active);
        let is_mask_op =
            |op: &Op| matches!(op, Op::Binary { .. } | Op::Unary { .. } | Op::RfWrite { .. } | Op::Select { .. });
        let lane_wise = block.insts.iter().all(|inst| {
            let varies = |&v: &Value| self.ty(v) == Type::Mask && found.varies.contains(v);
            is_mask_op(&inst.op) || !inst.op.operands().iter().any(varies)
        });
        let guarded = found.lanes.values().all(|&(_, guard)| guard.is_some_and(within));
        let condition = self.ty(found.cond) != Type::Mask || within(found.cond);
        if !lane_wise || !guarded || !condition || !next.is_none_or(within) {
            return HashMap::new();
        }
        let mut equal_masks = HashMap::new();
        let mut exit_masks = BTreeSet::new();
        if let Some(next) = next.filter(|&next| next == found.cond && found.again_if) {
            let active = (function.active, active, next);
            let rounds = Rounds { block, defs: &self.facts.defs, warp_mask: self.warp_mask(), active };
            ExitMasks { regs: exit_masks, equal: equal_masks } = rounds.exit_masks(&found.cells);
        }
        let seen = |(reg, &value): (&IrReg, &Value)| {
            self.ty(value) == Type::Mask && !exit_masks.contains(reg) && !within(value)
        };
        if found.cells.iter().any(seen) {
            return HashMap::new();
        }
        let is_written = |guard: Value| masks.is_subset(next.unwrap_or(active), guard);
        let free = found.lanes.iter().filter_map(|(&reg, &(_, guard))| {
            let guard = guard.filter(|&guard| is_written(guard))?;
            Some((reg, found.varies.contains(guard)))
        });
        found.free = free.collect();
        found.exit_masks = exit_masks;
        let vectors = |reg: &IrReg| self.vectors(self.is_wide_row(*reg));
        let carried: usize = found.lanes.keys().map(vectors).sum();
        let kept: usize = found.free.iter().filter(|&(_, &varies)| varies).map(|(reg, _)| vectors(reg)).sum();
        if carried + kept > MOST_CARRIED {
            found.free.retain(|_, varies| !*varies);
        }
        equal_masks
    }

    /// Finds the values that a round is to make.
    fn find_needed(&self, found: &mut SelfLoop) {
        let mut next = vec![found.cond];
        for (_, &(value, guard)) in &found.lanes {
            next.push(value);
            next.extend(guard);
        }
        next.extend(found.cells.iter().filter(|(reg, _)| !found.exit_masks.contains(reg)).map(|(_, &value)| value));
        while let Some(v) = next.pop() {
            let v = self.equal_mask(v);
            if found.needed.insert(v) {
                next.extend(self.facts.op(v).operands());
            }
        }
    }

    /// Has careful code do the loop where a lane is active that has left it, or where a register has a NaN that is not
    /// the function's, and may keep it.
    fn expect_usual_state(&mut self, found: &SelfLoop, first: &State, active: Reg) {
        let careful = self.body.cold_block();
        let mut gathered: Option<Reg> = None;
        for &reg in &found.exit_masks {
            let place = registers(self.program.layout().offset(reg));
            gathered = Some(match gathered {
                Some(gathered) => self.general(opcode::OR, gathered, place),
                None => self.general_of(opcode::MOV, place),
            });
        }
        if let Some(gathered) = gathered {
            let both = self.general(opcode::AND, gathered, Rm::Reg(active));
            self.test(both);
            self.require(Condition::Equal, careful);
        }
        let mut unusual: Option<Reg> = None;
        for reg in &found.raw {
            let ty = self.ty(self.root(found.lanes[reg].0));
            for part in &first.lanes[reg] {
                for &vector in part.iter().take(1 + usize::from(ty == Type::F64)) {
                    let other = self.unusual_nans(ty, vector);
                    unusual = Some(unusual.map_or(other, |unusual| self.mask(opcode::KORW, unusual, other)));
                }
            }
        }
        if let Some(unusual) = unusual {
            self.kortest(unusual);
            self.require(Condition::Equal, careful);
        }
        let go = self.suspend();
        self.body.switch_to(careful);
        self.resume_at(self.facts.id);
        self.leave(abi::CAREFUL);
        self.resume_in(go);
    }

    /// Which masks are made lane by lane, also those that registers carry from round to round.
    fn find_lane_masks(&mut self, found: &SelfLoop) {
        let mut carried: BTreeSet<IrReg> = BTreeSet::new();
        loop {
            let masks = lane_masks(self.facts.block, |reg| carried.contains(&reg));
            let gathers = |reg: &IrReg| found.exit_masks.contains(reg);
            let cells = found.cells.iter().filter(|&(reg, &v)| masks[v] && !gathers(reg));
            let next: BTreeSet<IrReg> = cells.map(|(&reg, _)| reg).collect();
            if next == carried {
                self.facts.lane_masks = masks;
                return;
            }
            carried = next;
        }
    }

    /// Rounds that the budget and the back edges allow, at least one: else the budget's fault is raised. It is one where
    /// the budget may end before the back edges do.
    fn allowed_rounds(&mut self) -> Reg {
        let cost = self.facts.block.cost;
        let before = self.general_of(opcode::MOV, context(abi::INSTRUCTIONS));
        let after = self.plus(before, cost as i32);
        self.leave_over_budget(after);
        let one = self.number(1);
        let most = self.number(MOST_ROUNDS);
        let edges = self.general_of(opcode::MOV, context(abi::BACK_EDGES));
        self.cmp(edges, Rm::Reg(most));
        let edges = self.choose(Condition::Less, edges, most);
        self.cmp(edges, Rm::Reg(one));
        let edges = self.choose(Condition::Greater, edges, one);
        let limit = self.general_of(opcode::MOV, context(abi::INSTRUCTION_LIMIT));
        let room = self.general(opcode::SUB, limit, Rm::Reg(before));
        let price = self.times(Rm::Reg(edges), cost.into());
        self.cmp(price, Rm::Reg(room));
        self.choose(Condition::BelowOrEqual, edges, one)
    }

    /// What the first round begins with.
    fn first_state(&mut self, found: &SelfLoop, allowed: Reg) -> State {
        let pieces = self.pieces();
        let lanes = found.lanes.keys();
        let lanes = lanes.map(|&reg| (reg, (0..pieces).map(|piece| self.read_row(reg, piece)).collect())).collect();
        let (mut masks, mut cells) = (BTreeMap::new(), BTreeMap::new());
        for (&reg, &value) in found.cells.iter().filter(|(reg, _)| !found.exit_masks.contains(reg)) {
            let offset = self.program.layout().offset(reg);
            let number = self.general_of(Self::cell_opcode(self.cell_type(reg)), registers(offset));
            if self.facts.lane_masks[value] {
                masks.insert(reg, self.masks_of_number(number));
            } else {
                cells.insert(reg, number);
            }
        }
        let lanes: BTreeMap<IrReg, Vec<Part>> = lanes;
        let kept = lanes.iter().filter(|(reg, _)| found.free.get(reg) == Some(&true));
        let kept = kept.map(|(&reg, pieces)| (reg, pieces.clone())).collect();
        State { lanes, kept, masks, cells, counted: self.number(0), left: allowed }
    }

    /// Parameters of the loop's block for a state.
    fn parameters(&mut self, head: Block, like: &State) -> State {
        let mut vectors = |rows: &BTreeMap<IrReg, Vec<Part>>| -> BTreeMap<IrReg, Vec<Part>> {
            let rows = rows.iter().map(|(&reg, pieces)| {
                let wide = self.is_wide_row(reg);
                let param = |_: &Part| self.each_part(wide, |selector, _| selector.vector_param(head));
                (reg, pieces.iter().map(param).collect())
            });
            rows.collect()
        };
        let (lanes, kept) = (vectors(&like.lanes), vectors(&like.kept));
        let mut all = |masks: &Vec<Reg>| -> Vec<Reg> { masks.iter().map(|_| self.body.param(head, MASK)).collect() };
        let masks = like.masks.iter().map(|(&reg, masks)| (reg, all(masks))).collect();
        let cells: Vec<IrReg> = like.cells.keys().copied().collect();
        let cells = cells.into_iter().map(|reg| (reg, self.general_param(head))).collect();
        State { lanes, kept, masks, cells, counted: self.general_param(head), left: self.general_param(head) }
    }

    /// Computes what is the same in all rounds, and has what rounds need of it be in registers.
    fn prepare_invariants(&mut self, found: &SelfLoop) {
        let block = self.facts.block;
        let is_write = |index: usize| matches!(block.insts[index].op, Op::RfWrite { .. });
        let varies = |index: usize| block.insts[index].results.iter().any(|&v| found.varies.contains(v));
        self.operations(|index| !is_write(index) && !varies(index));
        let mut wanted: Vec<Value> = Vec::new();
        for (index, inst) in block.insts.iter().enumerate() {
            let needed = inst.results.iter().any(|&v| found.needed.contains(v));
            let lanes = varies(index) && needed && self.is_of_lanes(inst) || is_write(index);
            if lanes {
                wanted.extend(inst.op.operands().into_iter().filter(|&v| !found.varies.contains(v)));
            }
        }
        let rows = found.lanes.keys().chain(found.free.iter().filter(|&(_, &varies)| varies).map(|(reg, _)| reg));
        let mut kept: usize = rows.map(|&reg| self.vectors(self.is_wide_row(reg))).sum();
        let mut seen: SecondaryMap<Value, bool> = table(block.values.len(), false);
        let mut constants = Vec::new();
        for v in wanted {
            let root = self.equal_mask(self.root(v));
            if found.varies.contains(root) {
                continue;
            }
            if std::mem::replace(&mut seen[root], true) {
                continue;
            }
            if self.ty(root) == Type::Mask {
                self.mask_lanes(root, 0);
            } else if self.constant(root).is_some() {
                constants.push(v);
            } else {
                self.lanes(root, 0);
                let uniform = self.value_type(root).is_uniform();
                kept += if uniform { 1 } else { self.vectors(self.is_wide(root)) };
            }
        }
        for v in constants.into_iter().take(KEPT_VECTORS.saturating_sub(kept)) {
            self.lanes(v, 0);
        }
    }

    /// Vectors of a value that varies.
    fn vectors(&self, wide: bool) -> usize {
        self.pieces() * (1 + usize::from(wide))
    }

    /// One round: what the next one begins with, and the condition that there is one.
    fn round(&mut self, found: &SelfLoop, state: &State) -> (State, Reg) {
        let block = self.facts.block;
        let none = self.number(0);
        for inst in &block.insts {
            let Op::RfRead { reg, .. } = inst.op else { continue };
            let form = self.forms.of(inst.results[0]);
            if let Some(pieces) = state.lanes.get(&reg) {
                pieces.iter().enumerate().for_each(|(piece, &part)| form.lanes[piece] = Some(part));
            } else if let Some(masks) = state.masks.get(&reg) {
                masks.iter().enumerate().for_each(|(piece, &mask)| form.masks[piece] = Some(mask));
            } else if let Some(&cell) = state.cells.get(&reg) {
                form.scalar = Some(cell);
            } else if found.exit_masks.contains(&reg) {
                form.scalar = Some(none);
            }
        }
        let wanted = |&v: &Value| found.varies.contains(v) && found.needed.contains(v);
        self.operations(|index| block.insts[index].results.iter().any(wanted));
        let (mut lanes, mut kept) = (BTreeMap::new(), BTreeMap::new());
        for (&reg, &(value, guard)) in &found.lanes {
            let wide = self.is_wide_row(reg);
            let mut merge = |old: &[Part]| -> Vec<Part> {
                (0..self.pieces()).map(|piece| self.merged(wide, value, guard, old[piece], piece)).collect()
            };
            if let Some(old) = state.kept.get(&reg) {
                kept.insert(reg, merge(old));
            }
            let next = match found.free.get(&reg) {
                Some(_) => (0..self.pieces()).map(|piece| self.lanes(value, piece)).collect(),
                None => merge(&state.lanes[&reg]),
            };
            lanes.insert(reg, next);
        }
        let mut masks = BTreeMap::new();
        for &reg in state.masks.keys() {
            let mask = found.cells[&reg];
            masks.insert(reg, (0..self.pieces()).map(|piece| self.mask_lanes(mask, piece)).collect());
        }
        let mut cells = BTreeMap::new();
        for &reg in state.cells.keys() {
            cells.insert(reg, self.scalar(found.cells[&reg]));
        }
        let going = self.scalar(found.cond);
        let mut counted = state.counted;
        if let Some(&active) = found.cells.get(&self.function().active) {
            let active = self.mask_number(active);
            let lanes = self.general_of(opcode::POPCNT, Rm::Reg(active));
            counted = self.general(opcode::ADD, counted, Rm::Reg(lanes));
        }
        let left = self.plus(state.left, -1);
        (State { lanes, kept, masks, cells, counted, left }, going)
    }

    /// What a register holds of a piece after a write.
    fn merged(&mut self, wide: bool, value: Value, guard: Option<Value>, old: Part, piece: usize) -> Part {
        let new = self.lanes(value, piece);
        let Some(guard) = guard.filter(|&guard| self.constant(guard) != Some(self.warp_mask())) else { return new };
        let mask = self.mask_lanes(guard, piece);
        self.each_part(wide, |selector, part| {
            let mask = if wide { selector.part_mask(mask, part) } else { mask };
            selector.blend(wide, mask, Rm::Reg(new[part]), old[part])
        })
    }

    /// Writes the registers, counts the rounds, and goes on.
    fn leave_loop(&mut self, found: &SelfLoop, last: &State, (allowed, active, going): (Reg, Reg, Reg)) {
        let cost = i64::from(self.facts.block.cost);
        for (&reg, &(value, guard)) in &found.lanes {
            let pieces = last.kept.get(&reg).unwrap_or(&last.lanes[&reg]);
            let guard = guard.filter(|_| found.free.get(&reg) == Some(&false));
            for (piece, &part) in pieces.iter().enumerate() {
                let part = if found.raw.contains(&reg) { self.mended(value, part) } else { part };
                let mask = guard.map(|guard| self.mask_lanes(guard, piece));
                self.store_row(reg, part, mask, piece);
            }
        }
        let mut after = active;
        for (&reg, masks) in &last.masks {
            let number = self.number_of_masks(masks);
            self.store(opcode::MOV_STORE, number, registers(self.program.layout().offset(reg)));
            if reg == self.function().active {
                after = number;
            }
        }
        for (&reg, &cell) in &last.cells {
            self.store(opcode::MOV_STORE, cell, registers(self.program.layout().offset(reg)));
            if reg == self.function().active {
                after = cell;
            }
        }
        if !found.exit_masks.is_empty() {
            let stays = self.general_imm(opcode::NOT, after, 0);
            let left = self.general(opcode::AND, stays, Rm::Reg(active));
            for &reg in &found.exit_masks {
                let place = registers(self.program.layout().offset(reg));
                let gathered = self.general_of(opcode::MOV, place);
                let gathered = self.general(opcode::OR, gathered, Rm::Reg(left));
                self.store(opcode::MOV_STORE, gathered, place);
            }
        }
        let rounds = self.general(opcode::SUB, allowed, Rm::Reg(last.left));
        let executed = self.times(Rm::Reg(rounds), cost);
        let executed = self.general(opcode::ADD, executed, context(abi::INSTRUCTIONS));
        self.store(opcode::MOV_STORE, executed, context(abi::INSTRUCTIONS));
        // Active are the lanes of the first round, and those that went on, but for the last time.
        let first = self.general_of(opcode::POPCNT, Rm::Reg(active));
        let lanes = if found.cells.contains_key(&self.function().active) {
            let beyond = self.general_of(opcode::POPCNT, Rm::Reg(after));
            let lanes = self.general(opcode::ADD, first, Rm::Reg(last.counted));
            self.general(opcode::SUB, lanes, Rm::Reg(beyond))
        } else {
            self.general(opcode::IMUL, first, Rm::Reg(rounds))
        };
        self.count_lanes(lanes);
        // All back edges but the one that `go` may take.
        let edges = self.general_of(opcode::MOV, context(abi::BACK_EDGES));
        let edges = self.general(opcode::SUB, edges, Rm::Reg(rounds));
        let edges = self.plus(edges, 1);
        self.store(opcode::MOV_STORE, edges, context(abi::BACK_EDGES));
        self.test(going);
        let stays = if found.again_if { Condition::NotEqual } else { Condition::Equal };
        self.ways(stays, self.facts.id, found.exit);
    }

    /// Lanes with canonical NaNs. No lane that rounds did not write has another NaN.
    fn mended(&mut self, value: Value, part: Part) -> Part {
        let ty = self.ty(self.root(value));
        self.each_part(ty == Type::F64, |selector, half| selector.canonical(ty, part[half]))
    }
}
