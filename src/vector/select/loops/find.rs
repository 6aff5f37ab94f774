//! Finds loops in registers, and how they can be lowered.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use cranelift_entity::EntitySet;
use warploom_analysis::Masks;
use warploom_engine::exit_masks::{ExitMasks, Rounds};
use warploom_ir::{CellKind, Op, Reg as IrReg, Special, Terminator, Type, Value};

use super::{GROUP, MOST_CARRIED, SelfLoop, Written};
use crate::select::region::Selector;
use crate::select::values::lane_masks;

impl Selector<'_> {
    /// Returns the block as a loop in registers, if it is a loop.
    pub(super) fn find_loop(&self) -> Option<SelfLoop> {
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
                Op::Load { access, .. } if !self.value_type(access.address).is_uniform() => {
                    return None;
                }
                Op::Store { .. } | Op::Fence | Op::RfGather { .. } | Op::RfScatter { .. } => {
                    return None;
                }
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
        let mut found = SelfLoop {
            exit,
            cond,
            again_if,
            lanes,
            cells,
            raw,
            exit_masks,
            free,
            varies,
            needed,
            lane_wise: false,
        };
        found.raw = self.raw_registers(&found);
        Some(found)
    }

    /// Returns the registers that receive results of float arithmetic, and whose bits no round
    /// uses.
    fn raw_registers(&self, found: &SelfLoop) -> BTreeSet<IrReg> {
        let reads_bits =
            |reg: IrReg| {
                let mut reads =
                    self.facts.block.insts.iter().filter(
                        |inst| matches!(inst.op, Op::RfRead { reg: read, .. } if read == reg),
                    );
                reads.any(|inst| self.facts.bits_used[inst.results[0]])
            };
        let is_raw = |&(&reg, &(value, guard)): &(&IrReg, &Written)| {
            let arithmetic = matches!(
                self.facts.op(self.root(value)),
                Op::FBinary { .. } | Op::Fma { .. } | Op::FUnary { .. }
            );
            arithmetic
                && guard.is_some()
                && !self.value_type(self.root(value)).is_uniform()
                && !reads_bits(reg)
        };
        found.lanes.iter().filter(is_raw).map(|(&reg, _)| reg).collect()
    }

    /// If a round shows nothing of inactive lanes, finds exit masks, which gather the lanes that
    /// leave, and registers that may also change in lanes that have left. Returns masks with
    /// simpler equal masks.
    pub(super) fn find_unseen_lanes(&self, found: &mut SelfLoop) -> HashMap<Value, Value> {
        let (block, function) = (self.facts.block, self.function());
        let Some(active) = block.entry_mask(function.active) else { return HashMap::new() };
        let next = found.cells.get(&function.active).copied();
        let masks = Masks::of(function.lanes, &block.insts, &self.facts.defs);
        let within = |mask: Value| masks.is_subset(mask, active);
        let is_mask_op = |op: &Op| {
            matches!(
                op,
                Op::Binary { .. } | Op::Unary { .. } | Op::RfWrite { .. } | Op::Select { .. }
            )
        };
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
            let rounds =
                Rounds { block, defs: &self.facts.defs, warp_mask: self.warp_mask(), active };
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
        // No other mask is written, and each lane leaves independently.
        let ends_with_lanes = next == Some(found.cond) && found.again_if;
        found.lane_wise = ends_with_lanes && found.cells.len() == exit_masks.len() + 1;
        found.exit_masks = exit_masks;
        let pieces = if found.lane_wise { GROUP.min(self.group.len()) } else { self.group.len() };
        let vectors = |reg: &IrReg| pieces * (1 + usize::from(self.is_wide_row(*reg)));
        let carried: usize = found.lanes.keys().map(vectors).sum();
        let kept: usize =
            found.free.iter().filter(|&(_, &varies)| varies).map(|(reg, _)| vectors(reg)).sum();
        if carried + kept > MOST_CARRIED {
            found.free.retain(|_, varies| !*varies);
        }
        equal_masks
    }

    /// Finds the values that a round must compute.
    pub(super) fn find_needed(&self, found: &mut SelfLoop) {
        let mut next = vec![found.cond];
        for &(value, guard) in found.lanes.values() {
            next.push(value);
            next.extend(guard);
        }
        next.extend(
            found
                .cells
                .iter()
                .filter(|(reg, _)| !found.exit_masks.contains(reg))
                .map(|(_, &value)| value),
        );
        while let Some(v) = next.pop() {
            let v = self.equal_mask(v);
            if found.needed.insert(v) {
                next.extend(self.facts.op(v).operands());
            }
        }
    }

    /// Finds the masks that are made lane by lane, including masks that registers carry between
    /// rounds.
    pub(super) fn find_lane_masks(&mut self, found: &SelfLoop) {
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
}
