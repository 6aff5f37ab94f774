//! Finds the blocks that are in loops.

use cranelift_entity::PrimaryMap;
use warploom_ir::{Block, BlockId, Function, Terminator};

use super::flow::Flow;

/// Returns, for each block, whether control may come back to it.
///
/// The switch of a reconvergence point is not followed: it leads to everything that has ever
/// diverged. A block that leads to a switch on the way to a join leads to the join instead.
pub fn in_loops(function: &Function, flow: &Flow) -> PrimaryMap<BlockId, bool> {
    let is_switch = |block: &Block| matches!(block.term, Terminator::Switch { .. });
    let dispatches = |block: usize| function.blocks.get(block).is_some_and(is_switch);
    let mut successors = flow.successors.clone();
    successors
        .iter_mut()
        .enumerate()
        .filter(|&(block, _)| dispatches(block))
        .for_each(|(_, to)| to.clear());
    for join in &flow.joins {
        successors[join.pusher].push(join.block);
        let leaves = |&&block: &&usize| flow.successors[block].iter().any(|&to| dispatches(to));
        join.on_the_way.iter().filter(leaves).for_each(|&block| successors[block].push(join.block));
    }
    let mut in_loops = Components::of(&successors);
    in_loops.truncate(function.blocks.len());
    in_loops.into_iter().collect()
}

/// Strongly connected components, by Tarjan's algorithm without recursion: guest code determines
/// the depth.
struct Components<'a> {
    successors: &'a [Vec<usize>],
    /// The order of the first visit, from 1.
    visited: Vec<usize>,
    /// The earliest visited block on the stack that is known to be reached.
    lowest: Vec<usize>,
    on_stack: Vec<bool>,
    stack: Vec<usize>,
    in_loop: Vec<bool>,
}

impl Components<'_> {
    fn of(successors: &[Vec<usize>]) -> Vec<bool> {
        let count = successors.len();
        let mut this = Components {
            successors,
            visited: vec![0; count],
            lowest: vec![0; count],
            on_stack: vec![false; count],
            stack: Vec::new(),
            in_loop: (0..count).map(|block| successors[block].contains(&block)).collect(),
        };
        let mut clock = 0;
        for root in 0..count {
            if this.visited[root] == 0 {
                this.visit(root, &mut clock);
            }
        }
        this.in_loop
    }

    fn visit(&mut self, root: usize, clock: &mut usize) {
        // Blocks being visited, each with the number of successors it has looked at.
        let mut path = vec![(root, 0)];
        while let Some(&mut (block, ref mut looked_at)) = path.last_mut() {
            if *looked_at == 0 && self.visited[block] == 0 {
                *clock += 1;
                (self.visited[block], self.lowest[block]) = (*clock, *clock);
                self.stack.push(block);
                self.on_stack[block] = true;
            }
            if let Some(&to) = self.successors[block].get(*looked_at) {
                *looked_at += 1;
                if self.visited[to] == 0 {
                    path.push((to, 0));
                } else if self.on_stack[to] {
                    self.lowest[block] = self.lowest[block].min(self.visited[to]);
                }
                continue;
            }
            path.pop();
            if let Some(&(from, _)) = path.last() {
                self.lowest[from] = self.lowest[from].min(self.lowest[block]);
            }
            if self.lowest[block] == self.visited[block] {
                let at =
                    self.stack.iter().rposition(|&other| other == block).expect("it was pushed");
                let component = self.stack.split_off(at);
                component.iter().for_each(|&member| self.on_stack[member] = false);
                if component.len() > 1 {
                    component.iter().for_each(|&member| self.in_loop[member] = true);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn loops(edges: &[&[usize]]) -> Vec<usize> {
        let successors: Vec<Vec<usize>> = edges.iter().map(|to| to.to_vec()).collect();
        let in_loop = Components::of(&successors);
        (0..in_loop.len()).filter(|&block| in_loop[block]).collect()
    }

    #[test]
    fn loops_are_found() {
        assert!(loops(&[&[1], &[2], &[]]).is_empty());
        assert_eq!(loops(&[&[1], &[1, 2], &[]]), [1]);
        assert_eq!(loops(&[&[1], &[2, 3], &[1], &[]]), [1, 2]);
        // Two loops with a way from one to the other, and a diamond inside the first.
        assert_eq!(
            loops(&[&[1], &[2, 3], &[4], &[4], &[1, 5], &[6], &[7], &[6, 8], &[]]),
            [1, 2, 3, 4, 6, 7]
        );
        // A way between two blocks that are visited from elsewhere is no loop.
        assert!(loops(&[&[1, 2], &[2], &[]]).is_empty());
    }

    #[test]
    fn loops_go_on_where_lanes_join() {
        let text = "function \"f\" lanes 8 nan 0 0 0 {
bank m: mask x 2
bank site: uniform i32 x 1
active m[0]
b0 pc 0x0:
  jump b1
b1 pc 0x8:
  v0 = rf.read m[1]
  branch v0, b2, b3
b2 pc 0x10:
  jump b3
b3 pc 0x18:
  v0 = rf.read site[0]
  switch v0, 1: b4, else b5
b4 pc 0x20 join b1:
  v0 = rf.read m[1]
  branch v0, b1, b6
b5 pc 0x28 join b0:
  jump b6
b6 pc 0x30:
  exit
}";
        let function = warploom_ir::parse::parse(text).unwrap();
        let found: Vec<bool> =
            in_loops(&function, &Flow::of(&function)).values().copied().collect();
        assert_eq!(found, [false, true, true, false, true, false, false]);
    }
}
