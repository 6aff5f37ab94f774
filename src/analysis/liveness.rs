//! Finds the registers that a block's successors may still read.
//!
//! Liveness follows a lane's own path. Lanes that wait elsewhere while other lanes run resume at
//! blocks with `indirect_target` or `join`, behind a switch, or where a block makes lanes active
//! that were not active at its entry. The registers that those blocks may read stay live wherever
//! lanes may be waiting for the blocks, since a write of the running lanes says nothing about the
//! waiting lanes. A register that is read in inactive lanes (by a cross-lane operation, say) stays
//! live, too. Lanes wait at a place of a dispatcher only where that place may have lanes
//! ([`WaitSets`](super::places::WaitSets)).

use std::collections::VecDeque;
use std::ops::Range;
use std::sync::Arc;

use cranelift_entity::{EntityRef, PrimaryMap};
use rustc_hash::FxHashMap;
use warploom_ir::{
    BinaryOp, Block, BlockId, CellKind, Defs, Function, Inst, Op, Part, Reg, Terminator, Value,
    entry_mask,
};

use super::bits::Bits;
use super::editor::Editor;
use super::flow::Flow;
use super::masks::Masks;

/// Replaces a word of a set. Returns whether the word changed.
fn replace(word: &mut u64, new: u64) -> bool {
    std::mem::replace(word, new) != new
}

/// Returns, for each block, the blocks that name it.
fn inverse(named: &[Vec<usize>]) -> Vec<Vec<usize>> {
    let mut by = vec![Vec::new(); named.len()];
    for (block, named) in named.iter().enumerate() {
        named.iter().for_each(|&to| by[to].push(block));
    }
    by
}

/// The blocks to be visited, each once.
struct Queue {
    blocks: VecDeque<usize>,
    queued: Vec<bool>,
}

impl Queue {
    /// Creates an empty queue for a function with this number of blocks.
    fn new(blocks: usize) -> Queue {
        Queue { blocks: VecDeque::new(), queued: vec![false; blocks] }
    }

    /// Removes the next block. If no block is left and `all` is set, clears `all` and adds all
    /// blocks again.
    fn pop_or(&mut self, all: &mut bool) -> Option<usize> {
        if self.blocks.is_empty() && std::mem::take(all) {
            self.add_all();
        }
        let block = self.blocks.pop_front()?;
        self.queued[block] = false;
        Some(block)
    }

    fn add(&mut self, block: usize) {
        if !std::mem::replace(&mut self.queued[block], true) {
            self.blocks.push_back(block);
        }
    }

    /// Adds all blocks, the last first: mostly, earlier blocks lead to later ones.
    fn add_all(&mut self) {
        (0..self.queued.len()).rev().for_each(|block| self.add(block));
    }

    /// Adds `new` to the words of these blocks, and adds the blocks whose word changes to the
    /// queue.
    fn tell(&mut self, blocks: &[usize], words: &mut [u64], new: u64) {
        for &block in blocks {
            let word = words[block] | new;
            if replace(&mut words[block], word) {
                self.add(block);
            }
        }
    }
}

/// The registers that a block reads before it writes them, and that it certainly overwrites.
struct Summary {
    uses: Bits,
    /// Registers overwritten in the lanes that are active at the block's entry.
    kills: Bits,
    /// Registers overwritten in the lanes that are active at the block's end.
    kills_at_end: Bits,
    /// The block makes lanes active that were not active at its entry.
    grows: bool,
    /// All lanes that are active at the block's entry are active at its end.
    keeps: bool,
    /// Places that the block may give lanes which were neither active at its entry nor there.
    gives: Vec<usize>,
}

impl Summary {
    fn of_nothing(registers: usize) -> Summary {
        let none = || Bits::new(registers);
        Summary {
            uses: none(),
            kills: none(),
            kills_at_end: none(),
            grows: false,
            keeps: true,
            gives: Vec::new(),
        }
    }

    /// Notes a read of a register that comes before all accesses noted so far.
    fn reads(&mut self, register: usize) {
        self.uses.insert(register);
        self.kills.remove(register);
        self.kills_at_end.remove(register);
    }
}

/// The numbers that registers have in the sets.
#[derive(Debug, PartialEq, Eq)]
pub struct Numbers {
    /// For each bank, the number of its first register, and whether all its registers share that
    /// number because code reads and writes them only by index.
    banks: Vec<(usize, bool)>,
    count: usize,
}

impl Numbers {
    pub fn of(function: &Function) -> Numbers {
        let mut by_index: Vec<bool> =
            function.banks.iter().map(|bank| !matches!(bank.kind, CellKind::Bytes(_))).collect();
        by_index[function.active.bank.index()] = false;
        function.waiting_registers().for_each(|reg| by_index[reg.bank.index()] = false);
        for inst in function.blocks.iter().flat_map(|block| &block.insts) {
            if let Op::RfRead { reg, .. } | Op::RfWrite { reg, .. } = inst.op {
                by_index[reg.bank.index()] = false;
            }
        }
        let mut count = 0;
        let banks = function.banks.iter().zip(by_index).map(|(bank, by_index)| {
            let first = count;
            count += if by_index { 1 } else { bank.count as usize };
            (first, by_index)
        });
        Numbers { banks: banks.collect(), count }
    }

    /// Returns one more than the greatest number.
    pub(super) fn count(&self) -> usize {
        self.count
    }

    pub(super) fn of_register(&self, reg: Reg) -> usize {
        let (first, by_index) = self.banks[reg.bank.index()];
        first + if by_index { 0 } else { reg.index as usize }
    }

    /// Returns the numbers of `count` registers from `reg` on.
    fn of_run(&self, reg: Reg, count: u32) -> Range<usize> {
        let (first, (_, by_index)) = (self.of_register(reg), self.banks[reg.bank.index()]);
        first..first + if by_index { 1 } else { count as usize }
    }
}

pub struct Liveness {
    numbers: Arc<Numbers>,
    live_in: PrimaryMap<BlockId, Bits>,
    live_out: PrimaryMap<BlockId, Bits>,
    /// The registers that lanes active at a block's end may read after it.
    live_active: PrimaryMap<BlockId, Bits>,
    /// For each block that leads to itself, the registers that are live after it on other paths.
    live_elsewhere: PrimaryMap<BlockId, Option<Bits>>,
    /// The registers that lanes not active after the block may read, in it or later.
    live_inactive: PrimaryMap<BlockId, Bits>,
}

impl Liveness {
    /// Computes the liveness of a function's registers.
    ///
    /// `code` is the rebuilt code of the function's blocks, and `numbers` are its registers'
    /// numbers. A read in a block counts if it is `seen` there; a read of a lane register counts if
    /// it is seen in lanes that are active at the block's entry. `exposed` lists the registers that
    /// each block reads in lanes that may be inactive, as first registers and counts.
    pub fn of(
        function: &Function,
        (flow, numbers): (&Flow, &Arc<Numbers>),
        code: &[(Editor, Terminator)],
        seen: impl Fn(usize, Value, bool) -> bool,
        exposed: &[Vec<(Reg, u32)>],
    ) -> Liveness {
        let count = numbers.count;
        let mut always = Bits::new(count);
        always.insert(numbers.of_register(function.active));
        // After the last block comes a block that does nothing (see `Flow::successors`).
        let (blocks, all_blocks) = (function.blocks.len(), flow.successors.len());
        let summaries = (0..blocks).map(|i| {
            summarize(function, flow, &code[i].0, |value, is_lane| seen(i, value, is_lane), numbers)
        });
        let summaries: Vec<Summary> = summaries.chain([Summary::of_nothing(count)]).collect();

        let mut live_in = vec![Bits::new(count); all_blocks];
        let mut live_out = vec![Bits::new(count); all_blocks];
        let mut live_active = vec![Bits::new(count); all_blocks];
        // The registers that lanes active at a block's entry may read from there on.
        let mut own_in = vec![0; all_blocks];
        let mut switched = vec![false; blocks];
        for block in
            function.blocks.iter().filter(|block| matches!(block.term, Terminator::Switch { .. }))
        {
            block.term.for_each_target(|to| switched[to.index()] = true);
        }
        // Blocks where lanes resume that may have waited anywhere.
        let resumes = function.blocks.iter().enumerate().map(|(index, block)| {
            block.indirect_target
                || if block.join.is_some() { flow.join(index).is_none() } else { switched[index] }
        });
        let resumes: Vec<bool> = resumes.chain([false]).collect();
        let jumps_anywhere = |block: &Block| matches!(block.term, Terminator::Indirect { .. });
        // A lane does not come to a join by itself: from the pusher's end on it waits for the join,
        // whatever else runs. `follow`: successors of the lanes that are active at the block's end.
        // `follow_later`: blocks where other lanes of the block resume. `awaited`: blocks that
        // lanes wait for meanwhile.
        let mut follow: Vec<Vec<usize>> = flow.successors.clone();
        let mut follow_later: Vec<Vec<usize>> = vec![Vec::new(); all_blocks];
        let mut awaited: Vec<Vec<usize>> = vec![Vec::new(); blocks];
        for (i, targets) in follow.iter_mut().enumerate() {
            targets.retain(|&to| {
                flow.join(to).is_none()
                    && function.blocks.get(i).is_none_or(|block| leads_on(block, to))
            });
        }
        for join in &flow.joins {
            follow_later[join.pusher].push(join.block);
            join.on_the_way.iter().for_each(|&on| awaited[on].push(join.block));
        }
        // Lanes that a block leads to a place resume in that place's blocks. `to_giver`: blocks
        // that may give the place other lanes, which were waiting before.
        let mut to_giver = vec![Vec::new(); all_blocks];
        for i in 0..blocks {
            for place in flow.places.held(i) {
                let blocks = flow.places.blocks(place);
                awaited[i].extend(blocks);
                if flow.places.writes(i, place) {
                    follow_later[i].extend(blocks);
                }
                if summaries[i].gives.contains(&place) {
                    blocks.iter().for_each(|&block| to_giver[block].push(i));
                }
            }
        }
        // For each block, the registers that lanes inactive in it may read from it on.
        let mut waiting = vec![Bits::new(count); all_blocks];
        let exposed: Vec<Bits> = exposed
            .iter()
            .map(|exposed| {
                let mut set = Bits::new(count);
                exposed.iter().for_each(|&(reg, count)| set.extend(numbers.of_run(reg, count)));
                set
            })
            .chain([Bits::new(count)])
            .collect();
        let mut all = Bits::new(count);
        all.extend(0..count);
        // The registers that the terminators of blocks read.
        let ends = function.blocks.iter().map(|block| {
            let mut set = Bits::new(count);
            set.extend(block.term.registers().into_iter().map(|reg| numbers.of_register(reg)));
            set
        });
        let ends: Vec<Bits> = ends.chain([Bits::new(count)]).collect();
        let [to_follow, to_follow_later, to_successor] =
            [&follow, &follow_later, &flow.successors].map(|to| inverse(to));
        // For each word, the blocks that read its registers themselves. A large function has many
        // words, and few blocks for each word.
        let mut reading = vec![Vec::new(); always.0.len()];
        for (i, summary) in summaries.iter().enumerate().rev() {
            let anything = function.blocks.get(i).is_some_and(jumps_anywhere);
            let words = summary.uses.0.iter().zip(&exposed[i].0).zip(&ends[i].0);
            for (word, ((uses, exposed), end)) in words.enumerate() {
                if uses | exposed | end != 0 || anything {
                    reading[word].push(i);
                }
            }
        }
        let mut queue = Queue::new(all_blocks);
        // Words of sets do not depend on each other. For each word, a block passes new registers to
        // the blocks that lead to it.
        for (word, reading) in reading.iter().enumerate() {
            let [mut outs, mut outs_later, mut inactives] = [(); 3].map(|()| vec![0; all_blocks]);
            own_in.fill(0);
            for &block in reading {
                outs[block] = ends[block].0[word];
                queue.add(block);
            }
            if always.0[word] != 0 {
                queue.add_all();
            }
            // An always-live register concerns every block, so all blocks are visited again for all
            // new ones at once.
            let mut has_grown = false;
            while let Some(i) = queue.pop_or(&mut has_grown) {
                let Summary { uses, kills, kills_at_end, grows, keeps, .. } = &summaries[i];
                let [uses, kills, kills_at_end] =
                    [uses, kills, kills_at_end].map(|set| set.0[word]);
                // Code that is only found when it is reached may read any register, also in lanes
                // that it makes active.
                let anything = function.blocks.get(i).is_some_and(jumps_anywhere);
                let out = outs[i] | if anything { all.0[word] } else { always.0[word] };
                // The block may overwrite a register before other lanes resume, so its writes do
                // not count for these lanes.
                let later =
                    inactives[i] | if *grows || anything { out | outs_later[i] | uses } else { 0 };
                let idle = later | exposed[i].0[word];
                let own = out & !kills_at_end | outs_later[i] & !kills | uses | always.0[word];
                let before = own | idle;
                // Lanes that the block leaves behind wait like other inactive lanes.
                let own = own | if *keeps { 0 } else { idle };
                // The block's own reads come before its end, and do not count after it.
                live_out[i].0[word] = out | outs_later[i] | later;
                live_active[i].0[word] = out | outs_later[i];
                if replace(&mut waiting[i].0[word], idle) {
                    queue.tell(&to_successor[i], &mut inactives, idle);
                }
                if replace(&mut own_in[i], own) {
                    queue.tell(&to_follow[i], &mut outs, own);
                }
                if replace(&mut live_in[i].0[word], before) {
                    queue.tell(&to_follow_later[i], &mut outs_later, before);
                    queue.tell(&to_giver[i], &mut inactives, before);
                }
                let grown = always.0[word] | before;
                has_grown |= resumes[i] && replace(&mut always.0[word], grown);
            }
        }
        for ((out, active), joins) in live_out.iter_mut().zip(&mut live_active).zip(&awaited) {
            for &join in joins {
                out.union(&live_in[join]);
                active.union(&live_in[join]);
            }
        }
        let elsewhere = |i: usize| {
            // Lanes that come back in the block may read any live register.
            let dispatches = matches!(function.blocks[i].term, Terminator::Dispatch { .. });
            if !flow.successors[i].contains(&i)
                || summaries[i].grows
                || dispatches
                || awaited[i].contains(&i)
            {
                return None;
            }
            let mut out = always.clone();
            out.union(&exposed[i]);
            let after = follow[i].iter().chain(&follow_later[i]);
            after.filter(|&&to| to != i).for_each(|&to| _ = out.union(&live_in[to]));
            awaited[i].iter().for_each(|&join| _ = out.union(&live_in[join]));
            flow.successors[i]
                .iter()
                .filter(|&&to| to != i)
                .for_each(|&to| _ = out.union(&waiting[to]));
            Some(out)
        };
        let live_elsewhere = (0..blocks).map(elsewhere).collect();
        let idle = |i: usize| {
            if jumps_anywhere(&function.blocks[i]) {
                return all.clone();
            }
            let mut idle = always.clone();
            // The block may read these registers after it has written them.
            idle.union(&exposed[i]);
            flow.successors[i].iter().for_each(|&to| _ = idle.union(&waiting[to]));
            awaited[i].iter().for_each(|&join| _ = idle.union(&live_in[join]));
            follow_later[i]
                .iter()
                .filter(|&&to| flow.join(to).is_some())
                .for_each(|&join| _ = idle.union(&live_in[join]));
            idle
        };
        let live_inactive = (0..blocks).map(idle).collect();
        Liveness {
            numbers: numbers.clone(),
            live_in: live_in.into(),
            live_out: live_out.into(),
            live_active: live_active.into(),
            live_elsewhere,
            live_inactive,
        }
    }

    /// Whether a block is a loop by itself, in which no lanes come back.
    pub fn leads_to_itself(&self, block: BlockId) -> bool {
        self.live_elsewhere[block].is_some()
    }

    /// Whether a register is live, on other paths, after a block that leads to itself.
    pub fn live_elsewhere(&self, block: BlockId, reg: Reg) -> bool {
        let set = self.live_elsewhere[block].as_ref();
        set.is_some_and(|set| set.contains(self.number(reg)))
    }

    /// Whether a lane that is not active after the block may read a register before writing it.
    pub fn live_inactive(&self, block: BlockId, reg: Reg) -> bool {
        self.live_inactive[block].contains(self.number(reg))
    }

    fn number(&self, reg: Reg) -> usize {
        self.numbers.of_register(reg)
    }

    pub fn live_in(&self, block: BlockId, reg: Reg) -> bool {
        self.live_in[block].contains(self.number(reg))
    }

    pub fn live_out(&self, block: BlockId, reg: Reg) -> bool {
        self.live_out[block].contains(self.number(reg))
    }

    /// Whether a lane that is active at a block's end may read a register after it.
    pub fn live_active(&self, block: BlockId, reg: Reg) -> bool {
        self.live_active[block].contains(self.number(reg))
    }
}

/// Whether the active lanes of a block continue at this successor. The active lanes of a dispatcher
/// continue only at `otherwise`, where no lane waits.
fn leads_on(block: &Block, to: usize) -> bool {
    match block.term {
        Terminator::Dispatch { otherwise, .. } => otherwise.index() == to,
        _ => true,
    }
}

fn summarize(
    function: &Function,
    flow: &Flow,
    code: &Editor,
    seen: impl Fn(Value, bool) -> bool,
    numbers: &Numbers,
) -> Summary {
    let defs = code.defs_as_they_are();
    let masks = Masks::of(function.lanes, &code.insts, &defs);
    let active = entry_mask(&code.insts, function.active);
    let mut summary = Summary::of_nothing(numbers.count);
    let last = code.insts.iter().rev().find_map(|inst| match inst.op {
        Op::RfWrite { reg, value, part, .. } if reg == function.active => Some((value, part)),
        _ => None,
    });
    let at_end = last.map(|(value, _)| value);
    summary.keeps = last.is_none_or(|(value, part)| {
        part == Part::Whole && active.is_some_and(|active| masks.is_subset(active, value))
    });
    let at_end = at_end.or(active);
    for inst in code.insts.iter().rev() {
        match &inst.op {
            Op::RfRead { reg, .. } | Op::RegionRead { reg, .. } => {
                let is_lane = matches!(inst.op, Op::RfRead { .. }) && function.is_lane(*reg);
                if seen(inst.results[0], is_lane) {
                    summary.reads(numbers.of_register(*reg));
                }
            }
            Op::RfGather { bank, first, count, .. } => {
                numbers
                    .of_run(bank.reg(*first), *count)
                    .for_each(|register| summary.reads(register));
            }
            Op::RfWrite { reg, part, value, guard, .. } => {
                if let Some(place) = flow.places.number(*reg) {
                    let (insts, known) = (&code.insts, FxHashMap::default());
                    let mut own =
                        Own { insts, defs: &defs, masks: &masks, active, reg: *reg, known };
                    let own = *part == Part::Whole && own.has(*value);
                    summary.gives.extend((!own).then_some(place));
                }
                if *reg == function.active {
                    summary.grows |= !active.is_some_and(|active| masks.is_subset(*value, active));
                }
                let whole = |lanes: Option<Value>| {
                    let in_all = |guard| lanes.is_some_and(|lanes| masks.is_subset(lanes, guard));
                    *part == Part::Whole && guard.is_none_or(in_all)
                };
                let register = numbers.of_register(*reg);
                if whole(active) {
                    summary.kills.insert(register);
                    summary.uses.remove(register);
                }
                if whole(at_end) {
                    summary.kills_at_end.insert(register);
                }
            }
            Op::RfScatter { bank, first, count, .. } => {
                let written =
                    (*first..first + count).filter_map(|index| flow.places.number(bank.reg(index)));
                summary.gives.extend(written);
            }
            _ => {}
        }
    }
    summary
}

/// Finds masks whose lanes all were active at the block's entry, or wait at the place of this
/// register anyway.
struct Own<'a> {
    insts: &'a [Inst],
    defs: &'a Defs,
    masks: &'a Masks<'a>,
    active: Option<Value>,
    reg: Reg,
    /// The results so far: there are many more paths through definitions than definitions.
    known: FxHashMap<Value, bool>,
}

impl Own<'_> {
    fn has(&mut self, mask: Value) -> bool {
        if let Some(&known) = self.known.get(&mask) {
            return known;
        }
        let has = self.active.is_some_and(|active| self.masks.is_subset(mask, active))
            || match self.insts[self.defs[mask].0].op {
                Op::Const { bits, .. } => bits == 0,
                Op::RfRead { reg: read, part: Part::Whole } => read == self.reg,
                Op::Binary { op: BinaryOp::And, a, b } => self.has(a) || self.has(b),
                Op::Binary { op: BinaryOp::Or | BinaryOp::Xor, a, b } => self.has(a) && self.has(b),
                _ => false,
            };
        self.known.insert(mask, has);
        has
    }
}
