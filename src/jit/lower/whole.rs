//! A group of steps that the whole warp does at once, if the group's conditions hold: one check for each access, then one
//! chunk after the other without masks. If they do not, the steps are done as any others.

use std::collections::{HashMap, HashSet};

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{Block as ClifBlock, BlockArg, InstBuilder, Value as Clif, types};

use super::super::forms::clif_type;
use super::address::{Distances, Rights, Spaced, evenly, extent};
use super::block::{BlockLowerer, Outgoing};
use super::chunk::{Chunk, Reach, flags};
use super::int;
use crate::analysis::{CHUNK, Class, Condition, Group, Step, Tiled};
use crate::ir::{Access, BinaryOp, ConvertOp, Inst, IntCc, Op, Reg, Special, Type, UnaryOp, Value};

/// What is known while a group is done as a whole.
pub struct Whole<'r> {
    group: &'r Group,
    /// Values that something outside the group's segments uses.
    escapes: HashSet<Value>,
    /// Host address of lane 0 of each access, and the distance from lane to lane.
    hosts: HashMap<usize, (Clif, i64)>,
    /// Of accesses to tiles, host address of lane 0 of every chunk.
    tiles: HashMap<usize, Vec<Clif>>,
    reach: Reach,
    /// In a sweep, lanes of the warps before the current one, `i64`.
    pub(super) lanes_before: Option<Clif>,
}

impl<'r> Whole<'r> {
    pub(super) fn new(group: &'r Group, reach: Reach) -> Whole<'r> {
        Whole {
            group,
            escapes: HashSet::new(),
            hosts: HashMap::new(),
            tiles: HashMap::new(),
            reach,
            lanes_before: None,
        }
    }

    pub fn escapes(&self, v: Value) -> bool {
        self.escapes.contains(&v)
    }
}

impl<'r> BlockLowerer<'_, 'r, '_> {
    pub(super) fn group(&mut self, group: &'r Group) {
        self.scalars_of(group);
        let insts = self.lane_insts(group);
        let slow = self.cold_block();
        let done = self.b.create_block();
        let scalars = self.scalars.clone();
        let reach = Reach::Known(i64::from(self.function.lanes) - 1);
        self.whole = Some(Whole { escapes: self.used_outside(group), ..Whole::new(group, reach) });
        self.steps = group.steps.clone();
        let classes = std::mem::replace(&mut self.classes, self.whole_classes);
        let outgoing = self.outgoing(&insts);
        self.test(group, slow);
        let mut parts = HashMap::new();
        for out in &outgoing {
            if let Some(bits) = self.mask_whole(out.value, &mut parts, slow) {
                self.chunk().shared.masks.insert(out.value, bits);
            }
        }
        self.read_bases_that_are_overwritten(&insts);
        let masks = if self.in_loop || !group.tiled.is_empty() {
            self.chunks_one_by_one(&insts, &outgoing)
        } else {
            self.chunks_in_a_loop(&insts, &outgoing)
        };
        let compared = self.chunk.take().map(|chunk| chunk.shared.masks).unwrap_or_default();
        let all = self.warp_mask() as i64;
        let args: Vec<BlockArg> = outgoing
            .iter()
            .zip(masks)
            .map(|(out, mask)| {
                let whole = match self.settled_mask(out.value) {
                    Some(true) => self.b.ins().iconst(types::I64, all),
                    _ => compared.get(&out.value).copied().unwrap_or(mask),
                };
                BlockArg::Value(self.with_outside(whole, out.outside))
            })
            .collect();
        self.whole = None;
        self.classes = classes;
        self.b.ins().jump(done, &args);

        self.b.switch_to_block(slow);
        self.scalars.clone_from(&scalars);
        for number in group.steps.clone() {
            let raises = |index: usize| matches!(self.block.insts[index].op, Op::Raise { .. });
            match self.plan.steps[number] {
                Step::Segment(_) => self.step(number),
                // That it raises nothing is a condition of the group.
                Step::Scalar(index) if raises(index) => self.step(number),
                _ => {}
            }
        }
        let args: Vec<BlockArg> = outgoing.iter().map(|out| BlockArg::Value(self.scalar(out.value))).collect();
        self.b.ins().jump(done, &args);

        self.b.switch_to_block(done);
        self.scalars = scalars;
        let masks: Vec<Clif> = outgoing.iter().map(|_| self.b.append_block_param(done, types::I64)).collect();
        for (out, mask) in outgoing.iter().zip(masks) {
            self.set_scalar(out.value, mask);
        }
        for &number in &group.after {
            self.step(number);
        }
    }

    /// Loads lane 0 of registers that the group writes: chunks after the first no longer find it in the row.
    fn read_bases_that_are_overwritten(&mut self, insts: &[usize]) {
        let is_written = |read: Reg| {
            insts.iter().any(|&index| matches!(self.block.insts[index].op, Op::RfWrite { reg, .. } if reg == read))
        };
        let reads = self.block.insts.iter().filter_map(|inst| match inst.op {
            Op::RfRead { reg, .. } if is_written(reg) => Some(inst.results[0]),
            _ => None,
        });
        for v in reads.collect::<Vec<_>>() {
            if self.classes.get(v) != Class::Varying {
                self.warp_base(v, None);
            }
        }
    }

    /// Lowers every chunk of a group by itself, which is fastest. Gives the masks that they make, except those that are
    /// known before.
    fn chunks_one_by_one(&mut self, insts: &[usize], outgoing: &[Outgoing]) -> Vec<Clif> {
        let mut masks: Vec<Clif> = outgoing.iter().map(|_| self.b.ins().iconst(types::I64, 0)).collect();
        for number in 0..self.chunk_count() {
            self.enter_chunk(number);
            self.chunk_body(insts);
            masks = self.gather_unknown(outgoing, &masks);
        }
        masks
    }

    /// The same as a loop, for code that runs once.
    fn chunks_in_a_loop(&mut self, insts: &[usize], outgoing: &[Outgoing]) -> Vec<Clif> {
        let (head, done) = (self.b.create_block(), self.b.create_block());
        let index = self.b.append_block_param(head, types::I64);
        let before: Vec<Clif> = outgoing.iter().map(|_| self.b.append_block_param(head, types::I64)).collect();
        let zero = self.b.ins().iconst(types::I64, 0);
        let initial: Vec<BlockArg> = std::iter::repeat_n(BlockArg::Value(zero), outgoing.len() + 1).collect();
        self.b.ins().jump(head, &initial);
        self.b.switch_to_block(head);
        let shared = self.chunk.take().map(|chunk| chunk.shared).unwrap_or_default();
        let chunk = self.new_chunk(index);
        self.chunk = Some(chunk.of_group(shared.clone()));
        self.chunk_body(insts);
        let masks = self.gather_unknown(outgoing, &before);
        let next = self.b.ins().iadd_imm_s(index, 1);
        let args: Vec<BlockArg> = std::iter::once(&next).chain(&masks).map(|&v| BlockArg::Value(v)).collect();
        // What the loop's first round found out holds in the loop only.
        self.chunk = Some(Chunk::first_of_group().of_group(shared));
        let count = self.chunk_count();
        let more = self.b.ins().icmp_imm_u(IntCC::UnsignedLessThan, next, count);
        self.b.ins().brif(more, head, &args, done, &[]);
        self.b.switch_to_block(done);
        masks
    }

    /// Adds the chunk's bits of the masks that are not known before.
    fn gather_unknown(&mut self, outgoing: &[Outgoing], before: &[Clif]) -> Vec<Clif> {
        let masks = outgoing.iter().zip(before);
        masks
            .map(|(out, &before)| {
                if self.is_known(out.value) {
                    return before;
                }
                let bits = self.mask_bits(out.value);
                self.add_chunk_bits(before, bits)
            })
            .collect()
    }

    pub(super) fn enter_chunk(&mut self, number: i64) {
        self.chunk = self.chunk.take().map(|chunk| chunk.in_group(number as u32));
    }

    /// Whether a mask that the group makes is known before its chunks are.
    fn is_known(&mut self, mask: Value) -> bool {
        self.settled_mask(mask).is_some() || self.chunk().shared.masks.contains_key(&mask)
    }

    /// Lowers the scalar steps of a group that come first, unless a sweep did so.
    pub(super) fn scalars_of(&mut self, group: &Group) {
        for number in group.steps.clone() {
            if let Step::Scalar(index) = self.plan.steps[number]
                && !group.after.contains(&number)
                && let Some(result) = self.block.insts[index].results.first()
                && self.scalars[result.0 as usize].is_none()
            {
                self.step(number);
            }
        }
    }

    /// The instructions of a group's segments.
    pub(super) fn lane_insts(&self, group: &Group) -> Vec<usize> {
        let segments = group.steps.clone().filter(|&step| matches!(self.plan.steps[step], Step::Segment(_)));
        segments.flat_map(|step| self.plan.steps[step].insts()).copied().collect()
    }

    fn used_outside(&self, group: &Group) -> HashSet<Value> {
        let mut used = HashSet::new();
        for (number, step) in self.plan.steps.iter().enumerate() {
            if !(group.steps.contains(&number) && matches!(step, Step::Segment(_))) {
                for &index in step.insts() {
                    self.block.insts[index].op.for_each_operand(|v| {
                        used.insert(v);
                    });
                }
            }
        }
        self.block.term.for_each_operand(|v| {
            used.insert(v);
        });
        used
    }

    /// Goes to `slow` unless the group can be done as a whole.
    pub(super) fn test(&mut self, group: &Group, slow: ClifBlock) {
        self.chunk = Some(Chunk::first_of_group());
        for condition in &group.conditions {
            let holds = match *condition {
                Condition::Mask { mask, full } => {
                    let all = self.warp_mask();
                    let mask = self.scalar(mask);
                    let inside = self.b.ins().band_imm_s(mask, all as i64);
                    let wanted = self.b.ins().iconst(types::I64, if full { all as i64 } else { 0 });
                    self.b.ins().icmp(IntCC::Equal, inside, wanted)
                }
                Condition::Compare { cc, a, b } => {
                    let step = self.classes.get(a).stride().expect("a group compares evenly spaced values");
                    let (first, b) = (self.warp_base(a, Some(slow)), self.warp_base(b, Some(slow)));
                    self.holds_in_all_lanes(cc, first, step, b)
                }
                Condition::Aligned { a, low } => {
                    let first = self.warp_base(a, Some(slow));
                    let bits = self.b.ins().band_imm_s(first, low as i64);
                    self.b.ins().icmp_imm_u(IntCC::Equal, bits, 0)
                }
            };
            self.require(holds, slow);
        }
        for &index in &group.accesses {
            let access = *self.access(index);
            if let Some(tiled) = group.tiled.get(&index) {
                let tiles = self.test_tiles(group, &access, tiled, slow);
                self.whole.as_mut().expect("a group is being lowered").tiles.insert(index, tiles);
                continue;
            }
            let step = self.classes.get(access.address).stride().expect("accesses of a group are evenly spaced");
            let same = group.accesses.iter().find(|&&other| same_place(self.access(other), &access));
            if let Some(&first) = same.filter(|&&first| first != index) {
                let host = self.hosts()[&first];
                self.hosts().insert(index, host);
                continue;
            }
            let base = self.warp_base(access.address, Some(slow));
            let first = self.first_address(&access, base);
            let last = self.spread_whole(first, step);
            let place = Spaced { first, last, step };
            let rights = self.rights(group, &access);
            let host = self.host_address(&access, &place, rights, slow);
            self.hosts().insert(index, (host, step));
        }
        for &(a, b) in &group.apart {
            let (at_a, at_b) = (self.host_lanes(a), self.host_lanes(b));
            let apart = self.are_apart(self.access(a), &at_a, self.access(b), &at_b);
            self.require(apart, slow);
        }
    }

    /// Host addresses of lane 0 of every chunk of an access to tiles. Goes to `slow` if one is out of reach.
    fn test_tiles(&mut self, group: &Group, access: &Access, tiled: &Tiled, slow: ClifBlock) -> Vec<Clif> {
        let rights = self.rights(group, access);
        let (_, bytes) = extent(access, &tiled.distances);
        let mut hosts = Vec::new();
        for number in 0..self.chunk_count() {
            self.enter_chunk(number);
            let (root, _) = self.base(tiled.root);
            for &limit in &tiled.limits {
                let fits = self.is_within(limit, (tiled.root, root));
                self.require(fits, slow);
            }
            let first = self.first_lane_of(access.address, (tiled.root, root));
            let first = self.first_address(access, first);
            let last = self.b.ins().iadd_imm_s(first, bytes - i64::from(access.bytes()));
            hosts.push(self.host_address(access, &Spaced { first, last, step: 1 }, rights, slow));
        }
        self.enter_chunk(0);
        hosts
    }

    /// The lanes of an access in host memory, of which several guest pages may share one. Those in tiles lie between these.
    fn host_lanes(&mut self, index: usize) -> Spaced {
        let whole = self.whole.as_ref().expect("a group is being lowered");
        if let Some(tiles) = whole.tiles.get(&index) {
            let (tiles, access) = (tiles.clone(), self.access(index));
            let (_, bytes) = extent(access, &whole.group.tiled[&index].distances);
            let (mut low, mut high) = (tiles[0], tiles[0]);
            for &tile in &tiles[1..] {
                low = self.b.ins().umin(low, tile);
                high = self.b.ins().umax(high, tile);
            }
            let last = self.b.ins().iadd_imm_s(high, bytes - i64::from(access.bytes()));
            return Spaced { first: low, last, step: 1 };
        }
        let (first, step) = self.hosts()[&index];
        let last = self.spread_whole(first, step);
        Spaced { first, last, step }
    }

    fn access(&self, index: usize) -> &'r Access {
        self.block.insts[index].op.access().expect("a memory access")
    }

    pub(super) fn hosts(&mut self) -> &mut HashMap<usize, (Clif, i64)> {
        &mut self.whole.as_mut().expect("a group is being lowered").hosts
    }

    /// What the accesses of a place do together.
    fn rights(&self, group: &Group, access: &Access) -> Rights {
        let mut rights = Rights { read: false, write: false };
        for &index in group.accesses.iter().filter(|&&other| same_place(self.access(other), access)) {
            match self.block.insts[index].op {
                Op::Store { .. } => rights.write = true,
                _ => rights.read = true,
            }
        }
        rights
    }

    /// Whether `first + lane * step`, which must not wrap on the way, compares so in all lanes.
    fn holds_in_all_lanes(&mut self, cc: IntCc, first: Clif, step: i64, b: Clif) -> Clif {
        if step == 0 {
            return self.b.ins().icmp(int::condition(cc), first, b);
        }
        let last = self.spread_whole(first, step);
        let straight = self.is_straight(cc, first, last, step);
        let less = matches!(cc, IntCc::LtS | IntCc::LeS | IntCc::LtU | IntCc::LeU);
        let extreme = if less == (step > 0) { last } else { first };
        let holds = self.b.ins().icmp(int::condition(cc), extreme, b);
        self.b.ins().band(straight, holds)
    }

    /// Whether lanes do not wrap on the way, as numbers of the compare's kind.
    fn is_straight(&mut self, cc: IntCc, first: Clif, last: Clif, step: i64) -> Clif {
        let rising = if cc.is_signed() { IntCc::GtS } else { IntCc::GtU };
        let cc = if step > 0 { rising } else { rising.swapped() };
        self.b.ins().icmp(int::condition(cc), last, first)
    }

    /// Computes a mask for the whole warp at once, if it is made of compares of evenly spaced and equal values, and of
    /// masks that are known; `parts` are those that it has been made of. Goes to `slow` if lanes wrap.
    fn mask_whole(&mut self, mask: Value, parts: &mut HashMap<Value, Option<Clif>>, slow: ClifBlock) -> Option<Clif> {
        if let Some(full) = self.settled_mask(mask) {
            let bits = if full { self.warp_mask() as i64 } else { 0 };
            return Some(self.b.ins().iconst(types::I64, bits));
        }
        if let Some(known) = self.scalars[mask.0 as usize] {
            return Some(known);
        }
        if let Some(&known) = parts.get(&mask) {
            return known;
        }
        let bits = match *self.def_op(mask) {
            Op::ICmp { .. } => self.compare_whole(mask, slow),
            Op::Unary { op: UnaryOp::Not, a } => self.mask_whole(a, parts, slow).map(|a| self.b.ins().bnot(a)),
            Op::Binary { op, a, b } => match (self.mask_whole(a, parts, slow), self.mask_whole(b, parts, slow)) {
                (Some(a), Some(b)) => match op {
                    BinaryOp::And => Some(self.b.ins().band(a, b)),
                    BinaryOp::Or => Some(self.b.ins().bor(a, b)),
                    BinaryOp::Xor => Some(self.b.ins().bxor(a, b)),
                    _ => None,
                },
                _ => None,
            },
            _ => None,
        };
        parts.insert(mask, bits);
        bits
    }

    /// The mask of a compare of evenly spaced and equal values: up to some lane it holds, or from some lane on.
    fn compare_whole(&mut self, mask: Value, slow: ClifBlock) -> Option<Clif> {
        let Op::ICmp { cc, a, b } = *self.def_op(mask) else { return None };
        let (cc, a, b) = self.classes.spaced_compare(cc, a, b)?;
        let lanes = i64::from(self.function.lanes);
        let step = self.classes.get(a).stride().expect("it compares evenly spaced lanes");
        if self.ty(a) != Type::I32 || !step.unsigned_abs().is_power_of_two() {
            return None;
        }
        let (first, limit) = (self.warp_base(a, Some(slow)), self.warp_base(b, Some(slow)));
        let last = self.spread_whole(first, step);
        let straight = self.is_straight(cc, first, last, step);
        self.require(straight, slow);
        let [first, limit] = [first, limit].map(|v| match cc.is_signed() {
            true => self.b.ins().sextend(types::I64, v),
            false => self.b.ins().uextend(types::I64, v),
        });
        // Lanes below `end` are those where the values are less than `limit` (or at most, with it one further); for a
        // falling sequence, those where they are not.
        let (less, or_equal) = match cc {
            IntCc::LtS | IntCc::LtU => (true, false),
            IntCc::LeS | IntCc::LeU => (true, true),
            IntCc::GtS | IntCc::GtU => (false, true),
            _ => (false, false),
        };
        let rising = step > 0;
        let distance = if rising { self.b.ins().isub(limit, first) } else { self.b.ins().isub(first, limit) };
        let round_up = step.abs() - 1 + i64::from(or_equal == rising);
        let end = self.b.ins().iadd_imm_s(distance, round_up);
        let end = self.b.ins().sshr_imm_u(end, i64::from(step.unsigned_abs().trailing_zeros()));
        let (none, most) = (self.b.ins().iconst(types::I64, 0), self.b.ins().iconst(types::I64, lanes));
        let end = self.b.ins().smax(end, none);
        let end = self.b.ins().smin(end, most);
        let all = self.warp_mask() as i64;
        let one = self.b.ins().iconst(types::I64, 1);
        let mut above = self.b.ins().ishl(one, end);
        if lanes == 64 {
            // Host shifts know no 64.
            let whole = self.b.ins().icmp(IntCC::Equal, end, most);
            above = self.b.ins().select(whole, none, above);
        }
        let mut bits = self.b.ins().iadd_imm_s(above, -1);
        if less != rising {
            bits = self.b.ins().bxor_imm_s(bits, all);
        }
        Some(bits)
    }

    /// Whether two accesses touch no byte in common.
    fn are_apart(&mut self, a: &Access, at_a: &Spaced, b: &Access, at_b: &Spaced) -> Clif {
        let (low_a, high_a) = at_a.ends();
        let (low_b, high_b) = at_b.ends();
        let last_a = self.b.ins().iadd_imm_s(high_a, i64::from(a.bytes()) - 1);
        let last_b = self.b.ins().iadd_imm_s(high_b, i64::from(b.bytes()) - 1);
        let before = self.b.ins().icmp(IntCC::UnsignedLessThan, last_a, low_b);
        let behind = self.b.ins().icmp(IntCC::UnsignedLessThan, last_b, low_a);
        self.b.ins().bor(before, behind)
    }

    /// The last of the lanes that are done at once.
    fn spread_whole(&mut self, first: Clif, step: i64) -> Clif {
        let reach = self.reach();
        self.spread(first, step, reach)
    }

    fn reach(&self) -> Reach {
        self.whole.as_ref().expect("a group is being lowered").reach
    }

    /// Lane 0 of a uniform or evenly spaced value. Goes to `slow` if it turns out not to be evenly spaced; without it,
    /// there is no doubt.
    fn warp_base(&mut self, v: Value, slow: Option<ClifBlock>) -> Clif {
        if self.classes.get(v) == Class::Uniform {
            return self.scalar(v);
        }
        if let Some(&base) = self.chunk().shared.bases.get(&v) {
            return base;
        }
        let base = match self.def_op(v) {
            Op::RfRead { reg, .. } => {
                let (clif, offset) = (clif_type(self.ty(v), false), self.layout.offset(*reg) as i32);
                self.b.ins().load(clif, flags(), self.registers, offset)
            }
            // All lanes are active, and where they are it is the first operand: else it would be no evenly spaced value.
            Op::Select { a, .. } => self.warp_base(*a, slow),
            Op::LaneId => self.b.ins().iconst(types::I32, 0),
            Op::Special(Special::Tid(axis)) => self.first_tid(*axis),
            op => {
                let args: Vec<Clif> = op.operands().iter().map(|&v| self.warp_base(v, slow)).collect();
                if let Op::Convert { op: op @ (ConvertOp::SignExtend | ConvertOp::ZeroExtend), a, .. } = *op
                    && let Some(straight) = self.wrap_free(op, a, args[0], self.reach())
                {
                    self.require(straight, slow.expect("only tested values are in doubt"));
                }
                self.base_of(v, &args)
            }
        };
        self.chunk().shared.bases.insert(v, base);
        base
    }

    /// Lane 0 in the chunk of an evenly spaced value, while a group is done as a whole.
    pub(super) fn whole_base(&mut self, v: Value) -> Option<Clif> {
        let Class::Affine { step, exact } = self.classes.get(v) else { return None };
        if self.whole.is_none() || !(exact || self.is_tested(v)) {
            return None;
        }
        if step == 0 {
            return Some(self.warp_base(v, None));
        }
        let first = self.current_base(v, step);
        let reach = self.reach_of_chunk();
        Some(self.spread(first, step, reach))
    }

    /// Lane 0 of the current warp.
    fn current_base(&mut self, v: Value, step: i64) -> Clif {
        let first = self.warp_base(v, None);
        let Some(lanes) = self.whole.as_ref().and_then(|whole| whole.lanes_before) else { return first };
        if let Some(&moved) = self.chunk().shared.moved.get(&v) {
            return moved;
        }
        let moved = self.spread(first, step, Reach::Counted(lanes));
        self.chunk().shared.moved.insert(v, moved);
        moved
    }

    /// Whether a value has been found to be evenly spaced over the warp.
    pub(super) fn is_tested(&self, v: Value) -> bool {
        self.chunk.as_ref().is_some_and(|chunk| chunk.shared.bases.contains_key(&v))
    }

    /// Whether a mask is known to have all lanes, or none.
    pub(super) fn settled_mask(&self, v: Value) -> Option<bool> {
        self.whole.as_ref()?.group.settled.get(&v).copied()
    }

    /// The chunk's first lane, counted from the warp's.
    fn reach_of_chunk(&mut self) -> Reach {
        match self.chunk().known_first_lane() {
            Some(lane) => Reach::Known(lane),
            None => Reach::Counted(self.first_lane()),
        }
    }

    /// The chunk's lanes of an access: host address of the first, constant to add to it, and how far the others are.
    fn host_of(&mut self, index: usize) -> ((Clif, i32), Distances) {
        let whole = self.whole.as_ref().expect("a group is being lowered");
        if let (Some(tiles), Some(lane)) =
            (whole.tiles.get(&index), self.chunk.as_ref().and_then(Chunk::known_first_lane))
        {
            return ((tiles[(lane / i64::from(CHUNK)) as usize], 0), whole.group.tiled[&index].distances);
        }
        let (host, step) = self.hosts()[&index];
        if let Some(lane) = self.chunk().known_first_lane() {
            return ((host, (step * lane) as i32), evenly(step));
        }
        let known = self.chunk().hosts.iter().find(|&&(of, _)| of == (host, step)).map(|&(_, at)| at);
        let at = known.unwrap_or_else(|| {
            let reach = self.reach_of_chunk();
            let at = self.spread(host, step, reach);
            self.chunk().hosts.push(((host, step), at));
            at
        });
        ((at, 0), evenly(step))
    }

    pub(super) fn load_whole(&mut self, index: usize) {
        let inst = &self.block.insts[index];
        let Op::Load { access, extend, .. } = inst.op else { unreachable!() };
        let (host, distances) = self.host_of(index);
        let values = self.load_spaced(&access, extend, host, &distances, self.ty(inst.results[0]));
        for (&value, lanes) in inst.results.iter().zip(values) {
            self.chunk().lanes.insert(value, lanes);
        }
        self.set_resident(inst);
    }

    /// Notes that an access which has been tested met no sparse page.
    fn set_resident(&mut self, inst: &Inst) {
        if let Op::Load { sparse: true, .. } | Op::Store { sparse: true, .. } = inst.op {
            let none = self.b.ins().iconst(types::I64, 0);
            self.set_status(inst, Some(none));
        }
    }

    /// Whether an access has been tested with the group that is done as a whole.
    pub(super) fn is_tested_in_group(&self, index: usize) -> bool {
        self.whole.as_ref().is_some_and(|whole| whole.group.accesses.contains(&index))
    }

    pub(super) fn store_whole(&mut self, index: usize) {
        let inst = &self.block.insts[index];
        let Op::Store { access, ref values, .. } = inst.op else { unreachable!() };
        let values: Vec<_> = values.iter().map(|&v| self.lanes(v)).collect();
        let (host, distances) = self.host_of(index);
        self.store_spaced(&access, &values, host, &distances);
        self.set_resident(inst);
    }
}

/// Whether two accesses have the same addresses and size.
fn same_place(a: &Access, b: &Access) -> bool {
    let place = |access: &Access| (access.space, access.address, access.offset, access.align, access.ty, access.count);
    place(a) == place(b)
}
