//! Which blocks are in loops.

use super::flow::Flow;
use crate::ir::{Block, Function, Terminator};

/// Of each block, whether control may come back to it. What a reconvergence point dispatches to is not followed: it
/// leads to everything that has ever diverged, and loops come back without it.
pub fn in_loops(function: &Function, flow: &Flow) -> Vec<bool> {
    let dispatches = |block: &Block| matches!(block.term, Terminator::Switch { .. });
    let successors = function.blocks.iter().zip(&flow.successors);
    let successors: Vec<Vec<usize>> =
        successors.map(|(block, to)| if dispatches(block) { Vec::new() } else { to.clone() }).collect();
    Components::of(&successors)
}

/// Strongly connected components, by Tarjan's algorithm without recursion: guest code decides how deep it goes.
struct Components<'a> {
    successors: &'a [Vec<usize>],
    /// Order of the first visit, from 1.
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
                let at = self.stack.iter().rposition(|&other| other == block).expect("it was pushed");
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
        assert_eq!(loops(&[&[1], &[2, 3], &[4], &[4], &[1, 5], &[6], &[7], &[6, 8], &[]]), [1, 2, 3, 4, 6, 7]);
        // A way between two blocks that are visited from elsewhere is no loop.
        assert!(loops(&[&[1, 2], &[2], &[]]).is_empty());
    }
}
