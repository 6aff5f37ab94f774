//! Code before the first round of a loop.

use std::collections::BTreeMap;

use cranelift_entity::SecondaryMap;
use warploom_engine::abi;
use warploom_ir::{Op, Reg as IrReg, Type, Value, table};

use super::{KEPT_VECTORS, MOST_ROUNDS, SelfLoop, State};
use crate::asm::{Condition, opcode};
use crate::machine::{Block, MASK, Reg, Rm};
use crate::select::build::{context, registers};
use crate::select::region::Selector;
use crate::select::values::Part;

impl Selector<'_> {
    /// Returns the number of rounds that the budget and the back edges allow. Raises the budget's
    /// fault if no round fits. Returns 1 if the budget may end before the back edges do.
    pub(super) fn allowed_rounds(&mut self) -> Reg {
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

    /// Bails out to careful code if an active lane has left the loop before, or if a register has a
    /// NaN that is not the function's, and may keep this NaN.
    pub(super) fn expect_usual_state(&mut self, found: &SelfLoop, active: Reg) {
        let careful = self.body.cold_block();
        let mut gathered: Option<Reg> = None;
        for &reg in &found.exit_masks {
            let place = registers(self.prepared.layout().offset(reg));
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
            for piece in self.group.clone() {
                for &vector in
                    self.read_row(*reg, piece).iter().take(1 + usize::from(ty == Type::F64))
                {
                    let other = self.unusual_nans(ty, vector);
                    unusual = Some(
                        unusual.map_or(other, |unusual| self.mask(opcode::KORW, unusual, other)),
                    );
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

    /// Returns the state at the start of the first round.
    pub(super) fn first_state(&mut self, found: &SelfLoop, allowed: Reg) -> State {
        let group = self.group.clone();
        let lanes = found.lanes.keys();
        let lanes = lanes
            .map(|&reg| (reg, group.clone().map(|piece| self.read_row(reg, piece)).collect()))
            .collect();
        let (mut masks, mut cells) = (BTreeMap::new(), BTreeMap::new());
        for (&reg, &value) in found.cells.iter().filter(|(reg, _)| !found.exit_masks.contains(reg))
        {
            let offset = self.prepared.layout().offset(reg);
            let number = self.general_of(Self::cell_opcode(self.cell_type(reg)), registers(offset));
            if self.facts.lane_masks[value] {
                masks.insert(reg, self.masks_of_number(number)[group.clone()].to_vec());
            } else {
                cells.insert(reg, number);
            }
        }
        let lanes: BTreeMap<IrReg, Vec<Part>> = lanes;
        let kept = lanes.iter().filter(|(reg, _)| found.free.get(reg) == Some(&true));
        let kept = kept.map(|(&reg, pieces)| (reg, pieces.clone())).collect();
        State { lanes, kept, masks, cells, counted: self.number(0), left: allowed }
    }

    /// Adds parameters for a state to the loop's block.
    pub(super) fn parameters(&mut self, head: Block, like: &State) -> State {
        let mut vectors = |rows: &BTreeMap<IrReg, Vec<Part>>| -> BTreeMap<IrReg, Vec<Part>> {
            let rows = rows.iter().map(|(&reg, pieces)| {
                let wide = self.is_wide_row(reg);
                let param =
                    |_: &Part| self.each_part(wide, |selector, _| selector.vector_param(head));
                (reg, pieces.iter().map(param).collect())
            });
            rows.collect()
        };
        let (lanes, kept) = (vectors(&like.lanes), vectors(&like.kept));
        let mut all = |masks: &Vec<Reg>| -> Vec<Reg> {
            masks.iter().map(|_| self.body.param(head, MASK)).collect()
        };
        let masks = like.masks.iter().map(|(&reg, masks)| (reg, all(masks))).collect();
        let cells: Vec<IrReg> = like.cells.keys().copied().collect();
        let cells = cells.into_iter().map(|reg| (reg, self.general_param(head))).collect();
        State {
            lanes,
            kept,
            masks,
            cells,
            counted: self.general_param(head),
            left: self.general_param(head),
        }
    }

    /// Computes the values that are equal in all rounds, and loads the values that rounds need into
    /// registers.
    pub(super) fn prepare_invariants(&mut self, found: &SelfLoop) {
        let block = self.facts.block;
        let is_write = |index: usize| matches!(block.insts[index].op, Op::RfWrite { .. });
        let varies =
            |index: usize| block.insts[index].results.iter().any(|&v| found.varies.contains(v));
        self.operations(|index| !is_write(index) && !varies(index));
        let mut wanted: Vec<Value> = Vec::new();
        for (index, inst) in block.insts.iter().enumerate() {
            let needed = inst.results.iter().any(|&v| found.needed.contains(v));
            let lanes = varies(index) && needed && self.is_of_lanes(inst) || is_write(index);
            if lanes {
                wanted
                    .extend(inst.op.operands().into_iter().filter(|&v| !found.varies.contains(v)));
            }
        }
        let rows = found
            .lanes
            .keys()
            .chain(found.free.iter().filter(|&(_, &varies)| varies).map(|(reg, _)| reg));
        let mut kept: usize = rows.map(|&reg| self.vectors(self.is_wide_row(reg))).sum();
        let mut seen: SecondaryMap<Value, bool> = table(block.values.len(), false);
        let mut constants = Vec::new();
        for v in wanted {
            let root = self.equal_mask(self.root(v));
            if found.varies.contains(root) || std::mem::replace(&mut seen[root], true) {
                continue;
            }
            if self.ty(root) == Type::Mask {
                self.mask_lanes(root, self.group.start);
            } else if self.constant(root).is_some() {
                constants.push(v);
            } else {
                self.lanes(root, self.group.start);
                let uniform = self.value_type(root).is_uniform();
                kept += if uniform { 1 } else { self.vectors(self.is_wide(root)) };
            }
        }
        for v in constants.into_iter().take(KEPT_VECTORS.saturating_sub(kept)) {
            self.lanes(v, self.group.start);
        }
    }

    /// The number of vectors of a varying value.
    fn vectors(&self, wide: bool) -> usize {
        self.group.len() * (1 + usize::from(wide))
    }
}
