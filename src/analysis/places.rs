//! Finds where lanes may wait: the places of dispatchers ([`Terminator::Dispatch`]) that can have
//! lanes at the end of each block.
//!
//! This is a forward dataflow analysis over the function. No place has lanes at the entry.

use cranelift_entity::EntityRef;
use rustc_hash::FxHashMap;
use warploom_ir::{BinaryOp, Block, Function, Op, Part, Reg, Terminator, table};

use super::bits::Bits;

/// The places of a function. A place is a mask register; its lanes resume in the blocks that
/// dispatchers name.
#[derive(Default)]
pub struct WaitSets {
    numbers: FxHashMap<Reg, usize>,
    /// For each place, the blocks where its lanes resume.
    blocks: Vec<Vec<usize>>,
    /// For each block, the places that may have lanes at its end, before it dispatches. None: the
    /// block is not reached.
    held: Vec<Option<Bits>>,
    /// For each block, the places whose registers it writes.
    written: Vec<Bits>,
}

impl WaitSets {
    /// Analyses a function. `indirect` lists the blocks that indirect jumps may enter.
    pub(super) fn of(function: &Function, indirect: &[usize]) -> WaitSets {
        let mut places = WaitSets::default();
        for block in &function.blocks {
            let Terminator::Dispatch { places: named, .. } = &block.term else { continue };
            for &(reg, at) in named {
                let next = places.numbers.len();
                let place = *places.numbers.entry(reg).or_insert(next);
                places.blocks.resize(places.numbers.len(), Vec::new());
                if !places.blocks[place].contains(&(at.index())) {
                    places.blocks[place].push(at.index());
                }
            }
        }
        if !places.numbers.is_empty() {
            places.follow(function, indirect);
        }
        places
    }

    pub(super) fn number(&self, reg: Reg) -> Option<usize> {
        self.numbers.get(&reg).copied()
    }

    pub(super) fn registers(&self) -> impl Iterator<Item = Reg> + '_ {
        self.numbers.keys().copied()
    }

    /// Returns the blocks in which the lanes of a place resume.
    pub(super) fn blocks(&self, place: usize) -> &[usize] {
        &self.blocks[place]
    }

    /// Returns the places that may have lanes at the end of a block.
    pub(super) fn held(&self, block: usize) -> impl Iterator<Item = usize> + '_ {
        self.held.get(block).and_then(Option::as_ref).into_iter().flat_map(Bits::iter)
    }

    /// Returns whether a block writes the register of a place.
    pub(super) fn writes(&self, block: usize, place: usize) -> bool {
        self.written[block].contains(place)
    }

    /// Returns whether a place may have lanes at the end of a block.
    pub(super) fn may_hold(&self, block: usize, reg: Reg) -> bool {
        let held = self.held.get(block).and_then(Option::as_ref);
        held.is_some_and(|held| self.number(reg).is_some_and(|place| held.contains(place)))
    }

    fn follow(&mut self, function: &Function, indirect: &[usize]) {
        let (blocks, count) = (function.blocks.len(), self.numbers.len());
        self.written = function.blocks.iter().map(|block| self.written_by(block, count)).collect();
        self.held = vec![None; blocks];
        // None: not reached so far.
        let mut entry: Vec<Option<Bits>> = vec![None; blocks];
        entry[0] = Some(Bits::new(count));
        let (mut pending, mut queued) = (vec![0], vec![false; blocks]);
        while let Some(index) = pending.pop() {
            queued[index] = false;
            let mut held = entry[index].clone().expect("a pending block has been reached");
            let block = &function.blocks[index];
            self.pass(block, &mut held);
            self.held[index] = Some(held.clone());
            self.leave(block, held, indirect, &mut |to, held| {
                let more = match &mut entry[to] {
                    Some(known) => known.union(held),
                    unknown => {
                        *unknown = Some(held.clone());
                        true
                    }
                };
                if more && !std::mem::replace(&mut queued[to], true) {
                    pending.push(to);
                }
            });
        }
    }

    fn written_by(&self, block: &Block, count: usize) -> Bits {
        let mut written = Bits::new(count);
        for inst in &block.insts {
            match inst.op {
                Op::RfWrite { reg, .. } => written.extend(self.number(reg).into_iter()),
                Op::RfScatter { bank, first, count, .. } => {
                    written.extend(
                        (first..first + count).filter_map(|index| self.number(bank.reg(index))),
                    );
                }
                _ => {}
            }
        }
        written
    }

    /// Applies the effect of a block's instructions to the set of places that may have lanes.
    fn pass(&self, block: &Block, held: &mut Bits) {
        // For each mask, whether it may have a lane.
        let mut some = table(block.values.len(), true);
        for inst in &block.insts {
            let may = match inst.op {
                Op::Const { bits, .. } => bits != 0,
                Op::RfRead { reg, part: Part::Whole } => {
                    self.number(reg).is_none_or(|place| held.contains(place))
                }
                Op::Binary { op: BinaryOp::And, a, b } => some[a] && some[b],
                Op::Binary { op: BinaryOp::Or | BinaryOp::Xor, a, b } => some[a] || some[b],
                Op::RfWrite { reg, part, value, .. } => {
                    if let Some(place) = self.number(reg) {
                        held.set(place, part != Part::Whole || some[value]);
                    }
                    continue;
                }
                Op::RfScatter { bank, first, count, .. } => {
                    held.extend(
                        (first..first + count).filter_map(|index| self.number(bank.reg(index))),
                    );
                    continue;
                }
                _ => continue,
            };
            inst.results.iter().for_each(|&result| some[result] = may);
        }
    }

    /// Reports to each successor the places that may have lanes on its entry.
    fn leave(
        &self,
        block: &Block,
        mut held: Bits,
        indirect: &[usize],
        each: &mut dyn FnMut(usize, &Bits),
    ) {
        match &block.term {
            Terminator::Indirect { .. } => indirect.iter().for_each(|&to| each(to, &held)),
            Terminator::Dispatch { places, from, otherwise } => {
                for &(reg, to) in places {
                    let place = self.numbers[&reg];
                    if !held.contains(place) {
                        continue;
                    }
                    held.remove(place);
                    each(to.index(), &held);
                    // A later place is chosen only if this place has no lanes, unless the search
                    // begins elsewhere.
                    if from.is_some() {
                        held.insert(place);
                    }
                }
                places.iter().for_each(|(reg, _)| held.remove(self.numbers[reg]));
                each(otherwise.index(), &held);
            }
            term => term.for_each_target(|to| each(to.index(), &held)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::Flow;

    #[test]
    fn places_hold_lanes_from_the_branch_to_the_join() {
        let text = "function \"f\" lanes 8 nan 0 0 0 {
bank m: mask x 4
active m[0]
b0 pc 0x0:
  v0 = rf.read m[0]
  v1 = rf.read m[3]
  v2 = and v0, v1
  rf.write m[1], v2
  branch v2, b1, b2
b1 pc 0x8:
  v0 = rf.read m[2]
  v1 = rf.read m[0]
  v2 = or v0, v1
  rf.write m[2], v2
  dispatch m[1]: b2, m[2]: b3, else b4
b2 pc 0x10:
  v0 = rf.read m[2]
  v1 = rf.read m[0]
  v2 = or v0, v1
  rf.write m[2], v2
  dispatch m[1]: b2, m[2]: b3, else b4
b3 pc 0x18:
  exit
b4 pc 0x20:
  exit
}";
        let function = warploom_ir::parse::parse(text).unwrap();
        warploom_ir::verify::verify(&function).unwrap();
        let flow = Flow::of(&function);
        let held = |block| {
            let mut held: Vec<u32> = flow
                .places
                .registers()
                .filter(|&reg| flow.places.may_hold(block, reg))
                .map(|reg| reg.index)
                .collect();
            held.sort_unstable();
            held
        };
        // The dispatcher of b1 enters b2. The branch enters it too, and then m[1] may hold lanes
        // that b2 runs without.
        assert_eq!([0, 1, 2, 3, 4].map(held), [vec![1], vec![1, 2], vec![1, 2], vec![], vec![]]);
        assert_eq!(flow.successors[1], [2, 3, 4]);
    }
    /// Each mask combines the mask before it in two ways: there are 2^60 paths through all masks.
    #[test]
    fn masks_that_are_made_of_each_other() {
        let mut text = String::from(
            "function \"f\" lanes 8 nan 0 0 0 {
bank m: mask x 2
active m[0]
b0 pc 0:
  v0 = lane.id
  v1 = const.i32 1
  v2 = and v0, v1
  v3 = icmp.eq v2, v1
",
        );
        let mut mask = 3;
        for number in 2..62 {
            let next = mask + 1;
            let [constant, p, q, a, b] = [0, 1, 2, 3, 4].map(|n| next + n);
            text +=
                &format!("  v{constant} = const.i32 {number}\n  v{p} = icmp.eq v0, v{constant}\n");
            text += &format!("  v{q} = icmp.lt.u v0, v{constant}\n  v{a} = or v{mask}, v{p}\n");
            mask = b + 1;
            text += &format!(
                "  v{b} = or v{next_mask}, v{q}\n  v{mask} = and v{a}, v{b}\n",
                next_mask = next - 1
            );
        }
        text += &format!(
            "  rf.write m[1], v{mask}\n  jump b1\nb1 pc 8:\n  dispatch m[1]: b2, else b2\nb2 pc 0x10:\n  exit\n}}"
        );
        let function = warploom_ir::parse::parse(&text).unwrap();
        crate::optimize(&function).unwrap();
    }
}
