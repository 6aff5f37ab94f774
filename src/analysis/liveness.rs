//! Which registers a block's successors may still read.
//!
//! Liveness is that of a lane's own path. Lanes that wait elsewhere while others run resume at blocks with
//! `indirect_target` or `join`, behind a switch, or where a block makes lanes active that were not at its entry; what
//! those blocks may read stays live wherever lanes may be waiting for them, since a write of the running lanes says nothing
//! about the waiting ones. So does a register that is read in inactive lanes (by a cross-lane operation, say).
//! Lanes that wait at a place of a dispatcher do so where that place may have lanes ([`Places`](super::places::Places)).

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

/// Replaces a word of a set; whether it was another.
fn replace(word: &mut u64, new: u64) -> bool {
    std::mem::replace(word, new) != new
}

/// The blocks that a block is named by.
fn inverse(named: &[Vec<usize>]) -> Vec<Vec<usize>> {
    let mut by = vec![Vec::new(); named.len()];
    for (block, named) in named.iter().enumerate() {
        named.iter().for_each(|&to| by[to].push(block));
    }
    by
}

/// Blocks that are to be looked at, each once.
struct Queue {
    blocks: VecDeque<usize>,
    queued: Vec<bool>,
}

impl Queue {
    /// Of a function with so many blocks.
    fn new(blocks: usize) -> Queue {
        Queue { blocks: VecDeque::new(), queued: vec![false; blocks] }
    }

    /// If none is left and `all` is set, it is all of them once more.
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

    /// The last ones first: mostly others lead to them.
    fn add_all(&mut self) {
        (0..self.queued.len()).rev().for_each(|block| self.add(block));
    }

    /// Adds `new` to the words of these blocks, and those to the queue of which it changes the word.
    fn tell(&mut self, blocks: &[usize], words: &mut [u64], new: u64) {
        for &block in blocks {
            let word = words[block] | new;
            if replace(&mut words[block], word) {
                self.add(block);
            }
        }
    }
}

/// What a block reads before it writes, and what it certainly overwrites.
struct Summary {
    uses: Bits,
    /// In the lanes that are active at its entry.
    kills: Bits,
    /// In those that are active at its end.
    kills_at_end: Bits,
    /// It makes lanes active that were not at its entry.
    grows: bool,
    /// All lanes that are active at its entry are at its end.
    keeps: bool,
    /// Places that it may give lanes which were neither active at its entry nor there.
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

    /// It reads a register, before all that is known of it.
    fn reads(&mut self, register: usize) {
        self.uses.insert(register);
        self.kills.remove(register);
        self.kills_at_end.remove(register);
    }
}

/// Numbers of registers.
pub struct Numbers {
    /// Of each bank, that of its first register, and whether that is the number of all, which are only read and written by index.
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

    fn of_register(&self, reg: Reg) -> usize {
        let (first, by_index) = self.banks[reg.bank.index()];
        first + if by_index { 0 } else { reg.index as usize }
    }

    /// Of so many registers from one on.
    fn of_run(&self, reg: Reg, count: u32) -> Range<usize> {
        let (first, (_, by_index)) = (self.of_register(reg), self.banks[reg.bank.index()]);
        first..first + if by_index { 1 } else { count as usize }
    }
}

pub struct Liveness {
    numbers: Arc<Numbers>,
    live_in: PrimaryMap<BlockId, Bits>,
    live_out: PrimaryMap<BlockId, Bits>,
    /// What of that lanes may read that are active at a block's end.
    live_active: PrimaryMap<BlockId, Bits>,
    /// Of blocks that lead to themselves, what is live after them but for that.
    live_elsewhere: PrimaryMap<BlockId, Option<Bits>>,
    /// What lanes may read that are not active after the block, in it or later.
    live_inactive: PrimaryMap<BlockId, Bits>,
}

impl Liveness {
    /// `code` is that of the function's blocks, whose registers have these numbers, rebuilt; what a block reads counts if it is
    /// `seen` there; if it is of a lane register, in lanes that are active at the block's entry. `exposed` are the registers that each block
    /// reads in lanes that may be inactive, by firsts and counts.
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
        // Behind the last block there is one that does nothing (see `Flow::successors`).
        let (blocks, all_blocks) = (function.blocks.len(), flow.successors.len());
        let summaries = (0..blocks).map(|i| {
            summarize(function, flow, &code[i].0, |value, is_lane| seen(i, value, is_lane), numbers)
        });
        let summaries: Vec<Summary> = summaries.chain([Summary::of_nothing(count)]).collect();

        let mut live_in = vec![Bits::new(count); all_blocks];
        let mut live_out = vec![Bits::new(count); all_blocks];
        let mut live_active = vec![Bits::new(count); all_blocks];
        // What lanes that are active at a block's entry may read from there on.
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
        // A lane does not come to a join by itself: from the pusher's end on it waits for it, whatever else runs. `follow`
        // is where the lanes go on that are active at a block's end, `later` where others of the block do, `awaited` what waits meanwhile.
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
        // Lanes that come to wait at a place go on there from the block that leads them to it; `to_giver`: from a block that gives
        // it others, these were waiting before.
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
        // What lanes may read, from each block on, that are not active in it.
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
        // What the ends of blocks read.
        let ends = function.blocks.iter().map(|block| {
            let mut set = Bits::new(count);
            set.extend(block.term.registers().into_iter().map(|reg| numbers.of_register(reg)));
            set
        });
        let ends: Vec<Bits> = ends.chain([Bits::new(count)]).collect();
        let [to_follow, to_follow_later, to_successor] =
            [&follow, &follow_later, &flow.successors].map(|to| inverse(to));
        // The blocks that read something of each word by themselves. A large function has many words, and few blocks for each.
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
        // Words of sets do not depend on each other. Of each, a block tells those that lead to it what is new in it.
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
            // What is always live concerns every block: they are told of all that is new together.
            let mut has_grown = false;
            while let Some(i) = queue.pop_or(&mut has_grown) {
                let Summary { uses, kills, kills_at_end, grows, keeps, .. } = &summaries[i];
                let [uses, kills, kills_at_end] =
                    [uses, kills, kills_at_end].map(|set| set.0[word]);
                // Code that is only found when it is reached may read anything, also in lanes that it makes active.
                let anything = function.blocks.get(i).is_some_and(jumps_anywhere);
                let out = outs[i] | if anything { all.0[word] } else { always.0[word] };
                // What it overwrites it may overwrite before the others resume.
                let later =
                    inactives[i] | if *grows || anything { out | outs_later[i] | uses } else { 0 };
                let idle = later | exposed[i].0[word];
                let own = out & !kills_at_end | outs_later[i] & !kills | uses | always.0[word];
                let before = own | idle;
                // Lanes that it leaves behind wait as others do.
                let own = own | if *keeps { 0 } else { idle };
                // What the block itself reads is there before its end.
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
            // Lanes that come back in it may read anything that is live.
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
            // It may do so after it has written.
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

    /// Whether a block is a loop by itself in which no lanes come back.
    pub fn leads_to_itself(&self, block: BlockId) -> bool {
        self.live_elsewhere[block].is_some()
    }

    /// Whether a register is live after a block that leads to itself, but for that.
    pub fn live_elsewhere(&self, block: BlockId, reg: Reg) -> bool {
        let set = self.live_elsewhere[block].as_ref();
        set.is_some_and(|set| set.contains(self.number(reg)))
    }

    /// Whether a lane that is not active after the block may read a register before it has written it.
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

/// Whether the active lanes of a block go on at this successor. Those of a dispatcher do only where no lane waits.
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

/// Which masks have only lanes that were active at the block's entry, or wait at the place that has this register anyway.
struct Own<'a> {
    insts: &'a [Inst],
    defs: &'a Defs,
    masks: &'a Masks<'a>,
    active: Option<Value>,
    reg: Reg,
    /// What has been found out: the ways through definitions are many more than the definitions are.
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
