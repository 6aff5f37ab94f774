//! The loop of one chunk: its carried state, one round, and the values that no round changes.

use std::collections::hash_map::Entry;
use std::collections::{BTreeMap, HashMap, HashSet};

use cranelift_codegen::ir::condcodes::{FloatCC, IntCC};
use cranelift_codegen::ir::{BlockArg, InstBuilder, Value as Clif, types};
use warploom_engine::abi;
use warploom_ir::{BinaryOp, Op, Reg, Type, Value};

use super::super::block::BlockLowerer;
use super::super::chunk::flags;
use super::super::spill::VECTOR;
use super::super::{int, vector};
use super::{Done, RegisterLoop};
use crate::forms::{Lanes, MaskForm, parts};
use crate::tuning;

/// The value that a round writes to a register.
enum New {
    Lanes(Lanes),
    /// The old value plus or minus one. Ones of a mask are -1, so this takes one instruction and no
    /// register for the sum.
    Counted(Count),
}

#[derive(Clone, Copy)]
enum Count {
    Up,
    Down,
}

/// The registers that a loop carries in machine registers.
struct Carried {
    lanes: Vec<(Reg, Type)>,
    masks: Vec<Reg>,
    /// The guards under which the loop writes raw floats. Their lanes are made canonical at the
    /// end.
    raw_guards: Vec<Value>,
}

/// The carried values at the beginning of a round, or after the loop.
struct State {
    lanes: Vec<Lanes>,
    masks: Vec<[Clif; 2]>,
    /// For each guard, the lanes that it has had, in the form of [`vector::mask_bit_pairs`].
    written: Vec<Clif>,
    /// Twice the number of lanes that went on, summed over all rounds.
    went_on: Clif,
    round: Clif,
}

impl Carried {
    fn of(register_loop: &RegisterLoop, lane_type: impl Fn(Reg) -> Type) -> Carried {
        let gathered = |reg: &Reg| register_loop.exit_masks.regs.contains(reg);
        let mut raw_guards: Vec<Value> =
            register_loop.raw.iter().filter_map(|reg| register_loop.lanes[reg].1).collect();
        raw_guards.sort();
        raw_guards.dedup();
        Carried {
            lanes: register_loop.lanes.keys().map(|&reg| (reg, lane_type(reg))).collect(),
            masks: register_loop.masks.keys().copied().filter(|reg| !gathered(reg)).collect(),
            raw_guards,
        }
    }

    /// Returns the state with these values, which are in the order of [`State::values`].
    fn state(&self, values: &[Clif]) -> State {
        let mut values = values.iter().copied();
        let lanes =
            self.lanes.iter().map(|&(_, ty)| values.by_ref().take(parts(ty)).collect()).collect();
        let mut next = || values.next().expect("as many as were carried");
        State {
            lanes,
            masks: self.masks.iter().map(|_| [next(), next()]).collect(),
            written: self.raw_guards.iter().map(|_| next()).collect(),
            went_on: next(),
            round: next(),
        }
    }

    fn lanes_of<'s>(&self, reg: Reg, state: &'s State) -> Option<&'s Lanes> {
        self.lanes.iter().position(|&(lanes, _)| lanes == reg).map(|at| &state.lanes[at])
    }

    fn words_of(&self, reg: Reg, state: &State) -> Option<[Clif; 2]> {
        self.masks.iter().position(|&mask| mask == reg).map(|at| state.masks[at])
    }
}

impl State {
    fn values(&self) -> Vec<Clif> {
        let lanes = self.lanes.iter().flatten().copied();
        let masks = self.masks.iter().flatten().copied();
        lanes
            .chain(masks)
            .chain(self.written.iter().copied())
            .chain([self.went_on, self.round])
            .collect()
    }
}

impl BlockLowerer<'_, '_, '_> {
    /// Emits the loop of one chunk, with at most `rounds` rounds. `old_bits` are the chunk's bits,
    /// before the loop, of the masks that the loop writes.
    pub(super) fn rounds(
        &mut self,
        register_loop: &RegisterLoop,
        old_bits: &[Clif],
        rounds: Clif,
    ) -> Done {
        let old_masks: BTreeMap<Reg, Clif> =
            register_loop.masks.keys().copied().zip(old_bits.iter().copied()).collect();
        let carried = Carried::of(register_loop, |reg| self.lane_type(reg));
        let lanes = carried.lanes.iter().map(|&(reg, _)| self.load_row(reg)).collect();
        let masks =
            carried.masks.iter().map(|reg| vector::mask_words(self.b, old_masks[reg])).collect();
        let zero = self.b.ins().iconst(types::I64, 0);
        let written = vec![zero; carried.raw_guards.len()];
        let start = State { lanes, masks, written, went_on: zero, round: zero }.values();
        self.prepare_invariants(register_loop, &carried.lanes);
        let vectors = start.iter().filter(|&&v| self.b.func.dfg.value_type(v).is_vector()).count();
        self.lay_down_invariants(vectors);

        let head = self.b.create_block();
        let exit = self.b.create_block();
        let tys: Vec<_> = start.iter().map(|&v| self.b.func.dfg.value_type(v)).collect();
        let params: Vec<Clif> = tys.iter().map(|&ty| self.b.append_block_param(head, ty)).collect();
        let results: Vec<Clif> =
            tys.iter().map(|&ty| self.b.append_block_param(exit, ty)).collect();
        let args: Vec<BlockArg> = start.iter().map(|&v| BlockArg::Value(v)).collect();
        self.b.ins().jump(head, &args);
        self.b.switch_to_block(head);
        self.on_one_way(|lowerer| {
            let (next, going) =
                lowerer.chunk_round(register_loop, &carried, &carried.state(&params));
            let room = lowerer.b.ins().icmp(IntCC::UnsignedLessThan, next.round, rounds);
            let more = lowerer.b.ins().select(room, going, zero);
            let args: Vec<BlockArg> = next.values().into_iter().map(BlockArg::Value).collect();
            lowerer.b.ins().brif(more, head, &args, exit, &args);
        });
        self.b.switch_to_block(exit);
        self.carried_loop().laid_down.clear();
        self.leave_rounds(register_loop, &carried, &carried.state(&results), &old_masks)
    }

    /// Emits one round. Returns the state that it carries on, and the lanes that go on.
    fn chunk_round(
        &mut self,
        register_loop: &RegisterLoop,
        carried: &Carried,
        state: &State,
    ) -> (State, Clif) {
        let none = int::constant(self.b, Type::I32, 0, true);
        for inst in &self.facts.block.insts {
            let Op::RfRead { reg, .. } = inst.op else { continue };
            let v = inst.results[0];
            if let Some(lanes) = carried.lanes_of(reg, state) {
                self.chunk().lanes.insert(v, lanes.clone());
            } else if register_loop.exit_masks.regs.contains(&reg) {
                self.chunk()
                    .masks
                    .insert(v, MaskForm { words: Some([none; 2]), ..MaskForm::default() });
            } else if let Some(words) = carried.words_of(reg, state) {
                self.chunk()
                    .masks
                    .insert(v, MaskForm { words: Some(words), ..MaskForm::default() });
            }
        }
        let lanes = self.written_lanes(register_loop, carried, state);
        let masks =
            carried.masks.iter().map(|reg| self.mask_words(register_loop.masks[reg])).collect();
        let going_words = self.mask_words(register_loop.next_active);
        let going = vector::mask_bit_pairs(self.b, going_words);
        let mut written = Vec::new();
        for (&guard, &before) in carried.raw_guards.iter().zip(&state.written) {
            let words = self.mask_words(guard);
            let bits =
                if words == going_words { going } else { vector::mask_bit_pairs(self.b, words) };
            written.push(self.b.ins().bor(before, bits));
        }
        let count = self.b.ins().popcnt(going);
        let went_on = self.b.ins().iadd(state.went_on, count);
        let round = self.b.ins().iadd_imm_s(state.round, 1);
        (State { lanes, masks, written, went_on, round }, going)
    }

    /// Returns the values of lane registers after a round. All new values are computed before any
    /// of them is merged with an old value.
    fn written_lanes(
        &mut self,
        register_loop: &RegisterLoop,
        carried: &Carried,
        state: &State,
    ) -> Vec<Lanes> {
        let mut new_value =
            |&(reg, _): &(Reg, Type)| match self.counts_by(reg, register_loop.lanes[&reg].0) {
                Some(step) => New::Counted(step),
                None => New::Lanes(self.lanes(register_loop.lanes[&reg].0)),
            };
        let new_values: Vec<New> = carried.lanes.iter().map(&mut new_value).collect();
        let mut merged = Vec::new();
        for ((&(reg, ty), new), before) in carried.lanes.iter().zip(&new_values).zip(&state.lanes) {
            let guard = register_loop.lanes[&reg].1.expect("resident writes are guarded");
            merged.push(match new {
                New::Lanes(new) => self.merge(guard, new, before, ty),
                New::Counted(step) => {
                    let masks = self.mask_lanes(guard, ty);
                    let counted = before.iter().zip(masks).map(|(&old, mask)| match step {
                        Count::Up => self.b.ins().isub(old, mask),
                        Count::Down => self.b.ins().iadd(old, mask),
                    });
                    counted.collect()
                }
            });
        }
        merged
    }

    /// Writes the rows back after the last round, and returns the masks.
    fn leave_rounds(
        &mut self,
        register_loop: &RegisterLoop,
        carried: &Carried,
        state: &State,
        old_masks: &BTreeMap<Reg, Clif>,
    ) -> Done {
        for (&(reg, ty), lanes) in carried.lanes.iter().zip(&state.lanes) {
            let mut lanes = lanes.clone();
            if register_loop.raw.contains(&reg) {
                let guard = register_loop.lanes[&reg].1.expect("resident writes are guarded");
                let which =
                    carried.raw_guards.iter().position(|&g| g == guard).expect("listed above");
                let written = vector::words_of_bit_pairs(self.b, state.written[which]);
                for (lane, written) in lanes.iter_mut().zip(written) {
                    *lane = self.canonical_where(written, *lane);
                }
            }
            let offset = self.facts.layout.offset(reg);
            self.store_cells(ty, offset, &lanes);
        }
        let mut masks: BTreeMap<Reg, Clif> = BTreeMap::new();
        for (&reg, &words) in carried.masks.iter().zip(&state.masks) {
            masks.insert(reg, vector::mask_bits(self.b, words));
        }
        let active = self.facts.function.active;
        let (before, after) = (old_masks[&active], masks[&active]);
        let left = self.b.ins().band_not(before, after);
        for &reg in &register_loop.exit_masks.regs {
            masks.insert(reg, self.b.ins().bor(old_masks[&reg], left));
        }
        // The active lanes are the lanes of the first round, and the lanes that went on in each
        // round but the last.
        let went_on = self.b.ins().ushr_imm_u(state.went_on, 1);
        let [first, last] = [before, after].map(|bits| self.b.ins().popcnt(bits));
        let lanes = self.b.ins().iadd(first, went_on);
        let lanes = self.b.ins().isub(lanes, last);
        Done { rounds: state.round, lanes, masks: masks.into_values().collect() }
    }

    /// Returns `Up` if the value is the register plus 1, and `Down` if it is the register minus 1.
    fn counts_by(&self, reg: Reg, value: Value) -> Option<Count> {
        let Op::Binary { op: BinaryOp::Add, a, b } = *self.facts.def_op(value) else { return None };
        let is_read =
            |v: Value| matches!(*self.facts.def_op(v), Op::RfRead { reg: read, .. } if read == reg);
        let step = if is_read(a) { b } else { Some(a).filter(|_| is_read(b))? };
        match self.facts.constant(step)? {
            1 => Some(Count::Up),
            bits if bits == self.facts.ty(value).bit_mask() => Some(Count::Down),
            _ => None,
        }
    }

    /// Computes, before the first round, the values that are equal in every round.
    fn prepare_invariants(&mut self, register_loop: &RegisterLoop, lane_regs: &[(Reg, Type)]) {
        let mut varies: HashSet<Value> = register_loop.carried_scalars.clone();
        for &index in &register_loop.body {
            let inst = &self.facts.block.insts[index];
            let carried = match inst.op {
                Op::RfRead { reg, .. } => lane_regs.iter().any(|&(r, _)| r == reg),
                _ => inst.op.operands().iter().any(|v| varies.contains(v)),
            };
            if carried {
                varies.extend(&inst.results);
                continue;
            }
            for &result in &inst.results {
                if !self.facts.block.ty(result).is_uniform() {
                    self.lanes(result);
                }
            }
        }
        // These are operands that the segment does not make, and constants.
        for &index in &register_loop.body {
            for v in self.facts.block.insts[index].op.operands() {
                if !varies.contains(&v) && !self.is_home(v) && !self.is_mask(v) {
                    self.lanes(v);
                }
            }
        }
    }

    /// Spills values that all rounds need if they and the carried values do not fit into registers.
    /// A host instruction can take an operand from memory, while a carried value would arrive late.
    fn lay_down_invariants(&mut self, carried: usize) {
        let lanes: BTreeMap<Value, Lanes> = self.chunk().lanes.drain().collect();
        let vectors: usize = lanes.values().map(|lanes| lanes.len()).sum();
        if !self.region.effort.is_fast() || carried + vectors <= tuning::KEPT_VECTORS {
            self.chunk().lanes.extend(lanes);
            return;
        }
        let mut places: HashMap<Clif, i32> = HashMap::new();
        for (v, lanes) in lanes {
            if (places.len() + lanes.len()) * VECTOR as usize > abi::SPILL_BYTES {
                self.chunk().lanes.insert(v, lanes);
                continue;
            }
            for &part in &lanes {
                let next = abi::SPILLS + places.len() as i32 * VECTOR as i32;
                if let Entry::Vacant(place) = places.entry(part) {
                    place.insert(next);
                    self.b.ins().store(flags(), part, self.ctx, next);
                }
            }
            self.carried_loop()
                .laid_down
                .insert(v, lanes.iter().map(|part| places[part]).collect());
        }
    }

    /// Makes NaNs canonical in the lanes of a mask.
    fn canonical_where(&mut self, mask: Clif, word: Clif) -> Clif {
        let float = vector::cast(self.b, types::F32X4, word);
        let nan = self.b.ins().fcmp(FloatCC::Unordered, float, float);
        let nan = vector::cast(self.b, types::I32X4, nan);
        let replace = self.b.ins().band(nan, mask);
        let canonical =
            int::constant(self.b, Type::I32, self.facts.function.nan.canonical(Type::F32), true);
        self.b.ins().bitselect(replace, canonical, word)
    }
}
