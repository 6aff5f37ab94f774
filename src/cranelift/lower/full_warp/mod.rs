//! A group of steps that the whole warp executes at once if the group's conditions hold. Code
//! checks each access once, and then executes chunk after chunk without masks. If a condition
//! fails, the steps are executed like any other steps.

mod exchange;
mod masks;
mod places;
mod test;
mod values;

use std::collections::{HashMap, HashSet};

use cranelift_codegen::ir::{
    Block as ClifBlock, BlockArg, InstBuilder, StackSlot, StackSlotData, StackSlotKind,
    Value as Clif, types,
};
pub(super) use masks::is_upwards;
use smallvec::SmallVec;
use warploom_analysis::{Class, Group, Step};
use warploom_ir::{Access, Op, Reg, Value};

use super::block::BlockLowerer;
use super::chunk::{Chunk, Reach};
use super::orders::Order;
use super::scope::Mode;
use super::segment::Outgoing;
use crate::CHUNK;
use crate::tuning;

/// A group or strip whose conditions have been tested, so that all of its lanes are active.
pub struct Settled<'r> {
    group: &'r Group,
    /// Values with uses outside the group's segments and exchanges.
    escapes: HashSet<Value>,
    /// The host addresses of tested accesses, by instruction.
    pub(super) hosts: HashMap<usize, Host>,
    /// For a loop over chunks: tables of the addresses of the chunks' lanes 0, by the first address
    /// of the table.
    tables: HashMap<Clif, StackSlot>,
    pub(super) reach: Reach,
}

/// The host addresses of the lanes of an access.
#[derive(Clone)]
pub(super) struct Host {
    /// Lane 0 of the warp, or of every chunk.
    pub firsts: SmallVec<[Clif; 8]>,
    /// The distance from lane to lane, if the lanes are not in tiles.
    pub step: i64,
    /// The number of bytes to add to all of the addresses.
    offset: i32,
}

/// Vectors in host memory that are loaded where they are used.
pub(super) struct InMemory {
    /// The loaded value.
    pub value: Value,
    pub ty: cranelift_codegen::ir::Type,
    pub host: Clif,
    /// The distance from `host` to each vector.
    pub at: SmallVec<[i32; 4]>,
}

impl Host {
    pub(super) fn beginning_at(self, firsts: SmallVec<[Clif; 8]>) -> Host {
        Host { firsts, ..self }
    }
}

impl<'r> Settled<'r> {
    pub(super) fn new(group: &'r Group, reach: Reach) -> Settled<'r> {
        Settled {
            group,
            escapes: HashSet::new(),
            hosts: HashMap::new(),
            tables: HashMap::new(),
            reach,
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
        let classes = self.facts.planned.full_warp_classes();
        let lanes = if classes.span_warp() { u32::from(self.facts.function.lanes) } else { CHUNK };
        let reach = Reach::Known(i64::from(lanes) - 1);
        let settled = Settled { escapes: self.used_outside(group), ..Settled::new(group, reach) };
        let scope = self.scope.inner(group.steps.clone(), classes, Mode::Settled(settled));
        let outgoing = self.inside(scope, |lowerer| {
            let (outgoing, masks) = lowerer.group_at_once(group, &insts, slow);
            let args: Vec<BlockArg> = masks.into_iter().map(BlockArg::Value).collect();
            lowerer.b.ins().jump(done, &args);
            outgoing
        });

        self.b.switch_to_block(slow);
        let leaves = self.facts.repeatable.is_some_and(|steps| group.steps.start <= steps);
        self.note(group.steps.clone(), Order::FullWarp { leaves });
        if leaves {
            self.leave_to_careful_code();
        } else {
            self.on_one_scalar_way(|lowerer| {
                lowerer.steps_one_by_one(group);
                let args: Vec<BlockArg> =
                    outgoing.iter().map(|out| BlockArg::Value(lowerer.scalar(out.value))).collect();
                lowerer.b.ins().jump(done, &args);
            });
        }

        self.b.switch_to_block(done);
        let masks: Vec<Clif> =
            outgoing.iter().map(|_| self.b.append_block_param(done, types::I64)).collect();
        for (out, mask) in outgoing.iter().zip(masks) {
            self.set_scalar(out.value, mask);
        }
        for &number in &group.after {
            self.step(number);
        }
    }

    /// Lowers the group as a whole after its test, which goes to `slow` on failure. Returns the
    /// masks that later steps use.
    fn group_at_once(
        &mut self,
        group: &Group,
        insts: &[usize],
        slow: ClifBlock,
    ) -> (Vec<Outgoing>, Vec<Clif>) {
        let outgoing = self.outgoing(insts);
        self.test(group, slow);
        let mut parts = HashMap::new();
        for out in &outgoing {
            if let Some(bits) = self.mask_full_warp(out.value, &mut parts, slow) {
                self.chunk().shared.masks.insert(out.value, bits);
            }
        }
        if self.scope.classes.span_warp() {
            self.read_bases_that_are_overwritten(insts);
        }
        let one_by_one = insts.len() <= tuning::ONE_BY_ONE / self.facts.chunk_count() as usize;
        let masks = if group.exchanges {
            self.between_exchanges(group, insts, &outgoing)
        } else if self.facts.planned.in_loop && one_by_one {
            self.chunks_one_by_one(insts, &outgoing)
        } else {
            self.chunks_in_a_loop(insts, &outgoing)
        };
        if group.loose {
            self.leave_on_fault();
        }
        let compared = std::mem::take(&mut self.chunk().shared.masks);
        let all = self.facts.warp_mask() as i64;
        let whole =
            outgoing.iter().zip(masks).map(|(out, mask)| match self.settled_mask(out.value) {
                Some(true) => self.b.ins().iconst(types::I64, all),
                _ => compared.get(&out.value).copied().unwrap_or(mask),
            });
        let masks = whole.collect();
        (outgoing, masks)
    }

    /// Lowers the group's segments like segments outside of groups.
    fn steps_one_by_one(&mut self, group: &Group) {
        // As a condition of the group, the fast path assumes that its `Raise` steps raise nothing.
        let raises = |number: usize| match self.facts.planned.plan.steps[number] {
            Step::Scalar(index) => matches!(self.facts.block.insts[index].op, Op::Raise { .. }),
            _ => false,
        };
        let raising: Vec<usize> = group.steps.clone().filter(|&number| raises(number)).collect();
        for number in group.steps.clone() {
            let decides =
                || group.after.contains(&number) && raising.iter().any(|&raise| raise > number);
            if matches!(self.facts.planned.plan.steps[number], Step::Segment(_) | Step::Warp(_))
                || raising.contains(&number)
                || decides()
            {
                self.step(number);
            }
        }
    }

    /// Loads lane 0 of registers that the group writes, as chunks after the first no longer find it
    /// in the row.
    fn read_bases_that_are_overwritten(&mut self, insts: &[usize]) {
        let is_written = |read: Reg| {
            insts
                .iter()
                .any(|&index| matches!(self.facts.block.insts[index].op, Op::RfWrite { reg, .. } if reg == read))
        };
        let reads = self.facts.block.insts.iter().filter_map(|inst| match inst.op {
            Op::RfRead { reg, .. } if is_written(reg) => Some(inst.results[0]),
            _ => None,
        });
        for v in reads.collect::<Vec<_>>() {
            if self.scope.classes.get(v) != Class::Varying {
                self.warp_base(v, None);
            }
        }
    }

    /// Lowers every chunk of a group separately, which gives the fastest code. Returns the masks
    /// that the chunks compute, except masks that are known before.
    fn chunks_one_by_one(&mut self, insts: &[usize], outgoing: &[Outgoing]) -> Vec<Clif> {
        let mut masks: Vec<Clif> =
            outgoing.iter().map(|_| self.b.ins().iconst(types::I64, 0)).collect();
        for number in 0..self.facts.chunk_count() {
            self.enter_chunk(number);
            self.chunk_body(insts);
            masks = self.gather_unknown(outgoing, &masks);
        }
        masks
    }

    /// Lowers the chunks of a group as a loop, for code that runs once or is long. Returns the same
    /// masks as [`Self::chunks_one_by_one`].
    fn chunks_in_a_loop(&mut self, insts: &[usize], outgoing: &[Outgoing]) -> Vec<Clif> {
        self.tabulate_hosts();
        let shared = self.scope.chunk.take().map(|chunk| chunk.shared).unwrap_or_default();
        let none = self.b.ins().iconst(types::I64, 0);
        let masks = self.each_chunk(none, &vec![none; outgoing.len()], |lowerer, before| {
            lowerer.scope.chunk =
                lowerer.scope.chunk.take().map(|chunk| chunk.of_group(shared.clone()));
            lowerer.chunk_body(insts);
            lowerer.gather_unknown(outgoing, before)
        });
        // Facts found in the loop's first round hold only inside the loop.
        self.scope.chunk = Some(Chunk::first_of_group().of_group(shared));
        masks
    }

    /// Stores host addresses that differ between chunks into tables from which a loop loads them.
    fn tabulate_hosts(&mut self) {
        let hosts = self.hosts().values();
        let mut lists: Vec<SmallVec<[Clif; 8]>> =
            hosts.map(|host| host.firsts.clone()).filter(|firsts| firsts.len() > 1).collect();
        lists.sort();
        lists.dedup();
        for firsts in lists {
            let bytes = firsts.len() as u32 * 8;
            let table = self.b.create_sized_stack_slot(StackSlotData::new(
                StackSlotKind::ExplicitSlot,
                bytes,
                3,
            ));
            for (number, &first) in (0..).zip(&firsts) {
                self.b.ins().stack_store(types::I64, first, table, 8 * number);
            }
            self.settled().tables.insert(firsts[0], table);
        }
    }

    /// Adds the chunk's bits to the masks that are not known before.
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

    /// Switches to a chunk of the group, with the bases of evenly spaced values that were tested
    /// for it.
    pub(super) fn enter_chunk(&mut self, number: i64) {
        self.scope.chunk = self.scope.chunk.take().map(|chunk| chunk.in_group(number as u32));
    }

    /// Returns the first `count` chunks, for repeated use by [`Self::in_each`].
    pub(super) fn first_chunks(&mut self, count: i64) -> Vec<Chunk> {
        let shared = &self.chunk().shared;
        (0..count).map(|number| Chunk::numbered(number as u32, shared)).collect()
    }

    /// Runs `body` for each chunk, with the values that the chunk had before.
    pub(super) fn in_each(&mut self, chunks: &mut [Chunk], mut body: impl FnMut(&mut Self, usize)) {
        let mut shared = std::mem::take(&mut self.chunk().shared);
        for (number, chunk) in chunks.iter_mut().enumerate() {
            let own = std::mem::replace(chunk, Chunk::first_of_group());
            self.scope.chunk = Some(own.of_group(shared));
            body(self, number);
            std::mem::swap(chunk, self.chunk());
            shared = std::mem::take(&mut chunk.shared);
        }
        self.scope.chunk = Some(Chunk::first_of_group().of_group(shared));
    }

    /// Lowers a group's scalar steps that come first, unless a sweep has lowered them.
    pub(super) fn scalars_of(&mut self, group: &Group) {
        for number in group.steps.clone() {
            if let Step::Scalar(index) = self.facts.planned.plan.steps[number]
                && !group.after.contains(&number)
                && let Some(result) = self.facts.block.insts[index].results.first()
                && self.scope.scalars[*result].is_none()
            {
                self.step(number);
            }
        }
    }

    /// Returns the instructions of a group's segments.
    pub(super) fn lane_insts(&self, group: &Group) -> Vec<usize> {
        let segments = group
            .steps
            .clone()
            .filter(|&step| matches!(self.facts.planned.plan.steps[step], Step::Segment(_)));
        segments.flat_map(|step| self.facts.planned.plan.steps[step].insts()).copied().collect()
    }

    fn used_outside(&self, group: &Group) -> HashSet<Value> {
        let mut used = HashSet::new();
        for (number, step) in self.facts.planned.plan.steps.iter().enumerate() {
            if !(group.steps.contains(&number) && matches!(step, Step::Segment(_) | Step::Warp(_)))
            {
                for &index in step.insts() {
                    self.facts.block.insts[index].op.for_each_operand(|v| {
                        used.insert(v);
                    });
                }
            }
        }
        self.facts.block.term.for_each_operand(|v| {
            used.insert(v);
        });
        used
    }

    /// Goes to `slow` unless the group can be executed as a whole.
    fn test(&mut self, group: &Group, slow: ClifBlock) {
        self.test_lanes(group, slow);
        self.test_disjoint(group, slow);
    }

    fn access(&self, index: usize) -> &'r Access {
        self.facts.block.insts[index].op.access().expect("a memory access")
    }

    pub(super) fn hosts(&mut self) -> &mut HashMap<usize, Host> {
        &mut self.settled().hosts
    }
}
