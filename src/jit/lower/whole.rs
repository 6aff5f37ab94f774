//! A group of steps that the whole warp does at once, if the group's conditions hold: one check for each access, then one
//! chunk after the other without masks. If they do not, the steps are done as any others.

use std::collections::{HashMap, HashSet};

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{
    Block as ClifBlock, BlockArg, InstBuilder, StackSlot, StackSlotData, StackSlotKind, Value as Clif, types,
};
use smallvec::SmallVec;

use super::super::forms::clif_type;
use super::address::{Distances, NEAR, Range, Rights, evenly, extent};
use super::block::{BlockLowerer, Outgoing};
use super::chunk::{Chunk, Reach, flags};
use super::int;
use super::vector;
use crate::analysis::{CHUNK, Class, Condition, Group, Step, Tiled, keep_to_lanes};
use crate::ir::{Access, BinaryOp, Inst, IntCc, Op, Reg, Special, Type, UnaryOp, Value};

/// Instructions of a group, times its chunks, that are lowered for every chunk by itself.
const ONE_BY_ONE: usize = 320;

/// What is known while a group is done as a whole.
pub struct Whole<'r> {
    group: &'r Group,
    /// Values that something outside the group's segments uses.
    escapes: HashSet<Value>,
    /// Where the accesses are that have been tested.
    pub(super) hosts: HashMap<usize, Host>,
    /// For a loop over chunks, lists of the addresses of their lanes 0, by the first in the list.
    tables: HashMap<Clif, StackSlot>,
    reach: Reach,
    /// In a sweep, lanes of the warps before the current one, `i64`.
    pub(super) lanes_before: Option<Clif>,
}

/// Where the lanes of an access are in host memory.
#[derive(Clone)]
pub(super) struct Host {
    /// Lane 0 of the warp, or of every chunk.
    pub firsts: SmallVec<[Clif; 8]>,
    /// The distance from lane to lane, if they are not in tiles.
    pub step: i64,
    /// To be added to all of them.
    offset: i32,
}

impl<'r> Whole<'r> {
    pub(super) fn new(group: &'r Group, reach: Reach) -> Whole<'r> {
        Whole {
            group,
            escapes: HashSet::new(),
            hosts: HashMap::new(),
            tables: HashMap::new(),
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
        let lanes = if self.whole_classes.span_warp() { u32::from(self.function.lanes) } else { CHUNK };
        let reach = Reach::Known(i64::from(lanes) - 1);
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
        if self.classes.span_warp() {
            self.read_bases_that_are_overwritten(&insts);
        }
        let masks = if self.in_loop && insts.len() <= ONE_BY_ONE / self.chunk_count() as usize {
            self.chunks_one_by_one(&insts, &outgoing)
        } else {
            self.chunks_in_a_loop(&insts, &outgoing)
        };
        if group.loose {
            self.leave_on_fault();
        }
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

    /// The same as a loop, for code that runs once or is long.
    fn chunks_in_a_loop(&mut self, insts: &[usize], outgoing: &[Outgoing]) -> Vec<Clif> {
        self.tabulate_hosts();
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

    /// Puts host addresses that each chunk has its own of where a loop finds them.
    fn tabulate_hosts(&mut self) {
        let hosts = self.hosts().values();
        let mut lists: Vec<SmallVec<[Clif; 8]>> =
            hosts.map(|host| host.firsts.clone()).filter(|firsts| firsts.len() > 1).collect();
        lists.sort();
        lists.dedup();
        for firsts in lists {
            let bytes = firsts.len() as u32 * 8;
            let table = self.b.create_sized_stack_slot(StackSlotData::new(StackSlotKind::ExplicitSlot, bytes, 3));
            for (number, &first) in (0..).zip(&firsts) {
                self.b.ins().stack_store(types::I64, first, table, 8 * number);
            }
            self.whole.as_mut().expect("a group is being lowered").tables.insert(firsts[0], table);
        }
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

    /// Turns to a chunk of the group; its evenly spaced values that were tested are known.
    pub(super) fn enter_chunk(&mut self, number: i64) {
        self.chunk = self.chunk.take().map(|chunk| chunk.in_group(number as u32));
    }

    /// Lane 0 of a uniform or evenly spaced value: of the warp if lanes are evenly spaced over all of it, else of every chunk.
    /// Goes to `slow` if it turns out not to be evenly spaced.
    fn first_lanes(&mut self, v: Value, slow: ClifBlock) -> SmallVec<[Clif; 8]> {
        if self.classes.span_warp() {
            return SmallVec::from_elem(self.warp_base(v, Some(slow)), 1);
        }
        let mut firsts = SmallVec::new();
        for number in 0..self.chunk_count() {
            self.enter_chunk(number);
            let (first, doubt) = self.base(v);
            if let Some(holds) = doubt {
                self.require(holds, slow);
                self.chunk().bases.insert(v, (first, None));
            }
            self.chunk().keep_bases();
            firsts.push(first);
        }
        self.enter_chunk(0);
        firsts
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
            match *condition {
                Condition::Mask { mask, full } => {
                    let all = self.warp_mask();
                    let mask = self.scalar(mask);
                    let inside = self.b.ins().band_imm_s(mask, all as i64);
                    let wanted = self.b.ins().iconst(types::I64, if full { all as i64 } else { 0 });
                    let holds = self.b.ins().icmp(IntCC::Equal, inside, wanted);
                    self.require(holds, slow);
                }
                Condition::Compare { cc, a, b } => {
                    let step = self.classes.get(a).stride().expect("a group compares evenly spaced values");
                    let (firsts, others) = (self.first_lanes(a, slow), self.first_lanes(b, slow));
                    for (first, b) in firsts.into_iter().zip(others) {
                        let holds = self.holds_in_all_lanes(cc, first, step, b);
                        self.require(holds, slow);
                    }
                }
                Condition::Below { base, offsets: (least, greatest), limit } => {
                    let step = self.classes.get(base).stride().expect("a group compares evenly spaced values");
                    let (firsts, limits) = (self.first_lanes(base, slow), self.first_lanes(limit, slow));
                    for (first, limit) in firsts.into_iter().zip(limits) {
                        let last = self.spread_whole(first, step);
                        let (low, high) = if step < 0 { (last, first) } else { (first, last) };
                        let low = int::plus(self.b, low, least.into());
                        let high = int::plus(self.b, high, greatest.into());
                        let below = self.b.ins().icmp(IntCC::UnsignedLessThan, high, limit);
                        self.require(below, slow);
                        if step != 0 || least != greatest {
                            let straight = self.b.ins().icmp(IntCC::UnsignedLessThanOrEqual, low, high);
                            self.require(straight, slow);
                        }
                    }
                }
                Condition::Aligned { a, low } => {
                    let firsts = self.first_lanes(a, slow);
                    let bits = self.any_bits(&firsts);
                    let bits = self.b.ins().band_imm_s(bits, low as i64);
                    let holds = self.b.ins().icmp_imm_u(IntCC::Equal, bits, 0);
                    self.require(holds, slow);
                }
            }
        }
        for &index in &group.accesses {
            if let Some(tiled) = group.tiled.get(&index) {
                self.test_tiles(group, index, tiled, slow);
            } else if !self.hosts().contains_key(&index) {
                self.test_spaced(group, index, slow);
            }
        }
        for &(a, b) in &group.apart {
            let (one, other) = (self.access(a), self.access(b));
            let spaced = !group.tiled.contains_key(&a) && one.address == other.address;
            let apart = if spaced && keep_to_lanes(one, other, self.hosts()[&a].step) {
                self.chunks_follow(a)
            } else {
                let (at_a, at_b) = (self.host_range(a), self.host_range(b));
                self.are_apart(&at_a, &at_b)
            };
            self.require(apart, slow);
        }
    }

    /// Tests an access, and with it those nearby.
    fn test_spaced(&mut self, group: &Group, index: usize, slow: ClifBlock) {
        let access = *self.access(index);
        let step = self.classes.get(access.address).stride().expect("accesses of a group are evenly spaced");
        let near = |&other: &usize| !group.tiled.contains_key(&other) && are_near(self.access(other), &access);
        let near: Vec<usize> = group.accesses.iter().copied().filter(near).collect();
        let lowest = near.iter().map(|&other| self.access(other).offset).min().unwrap_or(access.offset);
        let end = |other: usize| i64::from(self.access(other).offset - lowest) + i64::from(self.access(other).bytes());
        let bytes = near.iter().map(|&other| end(other)).max().unwrap_or(access.bytes().into());
        let rights = self.rights(&near);
        let first = Access { offset: lowest, ..access };
        let firsts: SmallVec<[Clif; 8]> =
            self.first_lanes(access.address, slow).into_iter().map(|base| self.first_address(&first, base)).collect();
        let range = self.range(&firsts, step, bytes);
        let run = self.region.next_run();
        let addend = self.host_addend(&access, &range, (run, rights), slow);
        let firsts: SmallVec<[Clif; 8]> = firsts.into_iter().map(|first| self.b.ins().iadd(first, addend)).collect();
        for other in near {
            let offset = self.access(other).offset - lowest;
            self.hosts().insert(other, Host { firsts: firsts.clone(), step, offset });
        }
    }

    /// Tests an access to tiles.
    fn test_tiles(&mut self, group: &Group, index: usize, tiled: &Tiled, slow: ClifBlock) {
        let access = self.access(index);
        let same: Vec<usize> =
            group.accesses.iter().copied().filter(|&other| same_place(self.access(other), access)).collect();
        let rights = self.rights(&same);
        let (_, bytes) = extent(access, &tiled.distances);
        let run = self.region.next_run();
        let mut firsts = SmallVec::new();
        for number in 0..self.chunk_count() {
            self.enter_chunk(number);
            let (root, _) = self.base(tiled.root);
            for &limit in &tiled.limits {
                let fits = self.is_within(limit, (tiled.root, root));
                self.require(fits, slow);
            }
            let first = self.first_lane_of(access.address, (tiled.root, root));
            let first = self.first_address(access, first);
            let range = self.range(&[first], 0, bytes);
            let addend = self.host_addend(access, &range, (run, rights), slow);
            firsts.push(self.b.ins().iadd(first, addend));
        }
        self.enter_chunk(0);
        self.hosts().insert(index, Host { firsts, step: 0, offset: 0 });
    }

    /// The host memory in which an access lies. Several guest pages may share it.
    fn host_range(&mut self, index: usize) -> Range {
        let access = self.access(index);
        let host = self.hosts()[&index].clone();
        let firsts: SmallVec<[Clif; 8]> =
            host.firsts.into_iter().map(|first| int::plus(self.b, first, host.offset.into())).collect();
        let whole = self.whole.as_ref().expect("a group is being lowered");
        let bytes =
            whole.group.tiled.get(&index).map_or(access.bytes().into(), |tiled| extent(access, &tiled.distances).1);
        self.range(&firsts, host.step, bytes)
    }

    /// What accesses touch whose lanes 0 these are and whose others are as far apart, so many bytes from each.
    fn range(&mut self, firsts: &[Clif], step: i64, bytes: i64) -> Range {
        let (mut low, mut high) = (firsts[0], firsts[0]);
        for &first in &firsts[1..] {
            low = self.b.ins().umin(low, first);
            high = self.b.ins().umax(high, first);
        }
        match step {
            0 => {}
            ..0 => low = self.spread_whole(low, step),
            1.. => high = self.spread_whole(high, step),
        }
        Range { low, last: int::plus(self.b, high, bytes - 1), bits: self.any_bits(firsts), falls: step < 0 }
    }

    /// The bits that one of them has.
    fn any_bits(&mut self, values: &[Clif]) -> Clif {
        let mut bits = values[0];
        for &value in &values[1..] {
            bits = self.b.ins().bor(bits, value);
        }
        bits
    }

    /// Whether each chunk of an access ends before the next one begins, in the order in which lanes follow each other.
    fn chunks_follow(&mut self, index: usize) -> Clif {
        let Host { firsts, step, .. } = self.hosts()[&index].clone();
        let mut follow = self.b.ins().iconst(types::I8, 1);
        for pair in firsts.windows(2) {
            let end = self.b.ins().iadd_imm_s(pair[0], step * i64::from(CHUNK));
            let cc = if step < 0 { IntCC::UnsignedLessThanOrEqual } else { IntCC::UnsignedGreaterThanOrEqual };
            let behind = self.b.ins().icmp(cc, pair[1], end);
            follow = self.b.ins().band(follow, behind);
        }
        follow
    }

    fn access(&self, index: usize) -> &'r Access {
        self.block.insts[index].op.access().expect("a memory access")
    }

    pub(super) fn hosts(&mut self) -> &mut HashMap<usize, Host> {
        &mut self.whole.as_mut().expect("a group is being lowered").hosts
    }

    /// What accesses do together.
    fn rights(&self, accesses: &[usize]) -> Rights {
        let mut rights = Rights { read: false, write: false };
        for &index in accesses {
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
        if !self.classes.span_warp() {
            return None;
        }
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

    /// Whether two ranges have no byte in common.
    fn are_apart(&mut self, a: &Range, b: &Range) -> Clif {
        let before = self.b.ins().icmp(IntCC::UnsignedLessThan, a.last, b.low);
        let behind = self.b.ins().icmp(IntCC::UnsignedLessThan, b.last, a.low);
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
            Op::LaneId => self.b.ins().iconst(types::I32, 0),
            Op::Special(Special::Tid(axis)) => self.first_tid(*axis),
            op => {
                let base = self.first_of(v, &mut |lowerer, operand| match (op, lowerer.classes.get(operand)) {
                    (Op::Concat { .. }, Class::Varying) => {
                        let (word, same) = lowerer.same_in_warp(operand);
                        lowerer.require(same, slow.expect("only tested values are in doubt"));
                        word
                    }
                    _ => lowerer.warp_base(operand, slow),
                });
                if let Some((extension, a)) = self.extended(v) {
                    let first = self.warp_base(a, slow);
                    if let Some(straight) = self.wrap_free(extension, a, first, self.reach()) {
                        self.require(straight, slow.expect("only tested values are in doubt"));
                    }
                }
                base
            }
        };
        self.chunk().shared.bases.insert(v, base);
        base
    }

    /// Lane 0 of a varying word, and whether all lanes have the same one.
    fn same_in_warp(&mut self, v: Value) -> (Clif, Clif) {
        let (mut first, mut all) = (None, None);
        for number in 0..self.chunk_count() {
            self.enter_chunk(number);
            let lanes = self.lanes(v);
            let first = *first.get_or_insert_with(|| vector::first_lane(self.b, lanes[0]));
            let same = self.are_spaced(&lanes, first, 0);
            all = Some(all.map_or(same, |all| self.b.ins().band(all, same)));
        }
        self.enter_chunk(0);
        let word = self.b.ins().extractlane(first.expect("a warp has chunks"), 0);
        (word, all.expect("a warp has chunks"))
    }

    /// Lane 0 in the chunk of an evenly spaced value, while a group is done as a whole.
    pub(super) fn whole_base(&mut self, v: Value) -> Option<Clif> {
        let Class::Affine { step, exact } = self.classes.get(v) else { return None };
        if self.whole.is_none() || !self.classes.span_warp() || !(exact || self.is_tested(v)) {
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

    /// Whether a value has been found to be evenly spaced, over the warp or in the chunk.
    pub(super) fn is_tested(&self, v: Value) -> bool {
        let tested = |chunk: &Chunk| {
            chunk.shared.bases.contains_key(&v) || chunk.bases.get(&v).is_some_and(|(_, doubt)| doubt.is_none())
        };
        self.chunk.as_ref().is_some_and(tested)
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
        let Host { firsts, step, offset } = self.hosts()[&index].clone();
        let whole = self.whole.as_ref().expect("a group is being lowered");
        let distances = whole.group.tiled.get(&index).map_or(evenly(step), |tiled| tiled.distances);
        if let Some(lane) = self.chunk().known_first_lane() {
            return match firsts[..] {
                [first] => ((first, offset + (step * lane) as i32), distances),
                _ => ((firsts[(lane / i64::from(CHUNK)) as usize], offset), distances),
            };
        }
        let start = (firsts[0], step);
        let known = self.chunk().hosts.iter().find(|&&(of, _)| of == start).map(|&(_, at)| at);
        let at = known.unwrap_or_else(|| {
            let table = self.whole.as_ref().and_then(|whole| whole.tables.get(&start.0).copied());
            let at = match table {
                Some(table) => {
                    // A chunk has as many lanes as an entry has bytes.
                    let lane = self.first_lane();
                    let table = self.b.ins().stack_addr(types::I64, table, 0);
                    let entry = self.b.ins().iadd(table, lane);
                    self.b.ins().load(types::I64, flags(), entry, 0)
                }
                None => {
                    let reach = self.reach_of_chunk();
                    self.spread(start.0, step, reach)
                }
            };
            self.chunk().hosts.push((start, at));
            at
        });
        ((at, offset), distances)
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

/// Whether two accesses are tested as one: both are aligned if one is, and they are so close that a run rarely ends between
/// them.
fn are_near(a: &Access, b: &Access) -> bool {
    let kind = |access: &Access| (access.space, access.address, access.align);
    let distance = i64::from(a.offset.abs_diff(b.offset));
    kind(a) == kind(b) && distance < NEAR && distance % i64::from(a.align.max(1)) == 0
}

/// Whether two accesses have the same addresses and size.
fn same_place(a: &Access, b: &Access) -> bool {
    let place = |access: &Access| (access.space, access.address, access.offset, access.align, access.ty, access.count);
    place(a) == place(b)
}
