//! The order in which places get their turn.
//!
//! The order of nodes is topological except for back edges. The nodes of each loop are contiguous,
//! and precede all nodes that the loop leaves to. Lanes that part at a branch are together again,
//! at the latest, where all ways from it meet: the ways lie before that node in the order, and the
//! next place with lanes is always the first.

/// Returns the position of each node in the order. Nodes that node 0 does not reach come last.
/// `successors` has the successors of each node.
pub fn positions(successors: &[Vec<usize>]) -> Vec<u32> {
    let count = successors.len();
    let mut positions = vec![u32::MAX; count];
    let mut next = 0;
    // Sets of nodes that are still to be ordered, the first on top. The header of a loop's nodes is
    // placed already.
    let (first, others): (Vec<usize>, Vec<usize>) = {
        let reached = reached(successors);
        (0..count).partition(|&node| reached[node])
    };
    let mut work: Vec<Vec<usize>> = vec![others, first];
    let mut member = vec![0_u32; count];
    let mut set = 0;
    while let Some(nodes) = work.pop() {
        if let [node] = nodes[..] {
            positions[node] = next;
            next += 1;
            continue;
        }
        set += 1;
        for &node in &nodes {
            member[node] = set;
        }
        let mut components = components(&nodes, successors, &member, set);
        if components.len() == 1 && components[0].len() > 1 {
            // A loop: without its header it falls apart.
            let all = components.remove(0);
            let header = header(&all, successors, &member, set);
            positions[header] = next;
            next += 1;
            work.push(all.into_iter().filter(|&node| node != header).collect());
            continue;
        }
        // The last component is on top of the work, and is done first.
        work.extend(components);
    }
    positions
}

/// Whether node 0 reaches each node.
fn reached(successors: &[Vec<usize>]) -> Vec<bool> {
    let mut reached = vec![false; successors.len()];
    let mut work = Vec::from_iter((!successors.is_empty()).then_some(0));
    while let Some(node) = work.pop() {
        if !std::mem::replace(&mut reached[node], true) {
            work.extend(&successors[node]);
        }
    }
    reached
}

/// Returns the header of a loop: the first node, in the order of the text, that is entered from
/// outside.
fn header(nodes: &[usize], successors: &[Vec<usize>], member: &[u32], set: u32) -> usize {
    let mut entered: Option<usize> = None;
    for (from, to) in successors.iter().enumerate() {
        if member[from] != set {
            for &node in to.iter().filter(|&&node| member[node] == set) {
                entered = Some(entered.map_or(node, |before| before.min(node)));
            }
        }
    }
    entered.or_else(|| nodes.iter().copied().min()).unwrap_or(0)
}

/// Returns the strongly connected components of some nodes, each after all that it leads to
/// (Tarjan).
fn components(
    nodes: &[usize],
    successors: &[Vec<usize>],
    member: &[u32],
    set: u32,
) -> Vec<Vec<usize>> {
    let count = successors.len();
    let (mut index, mut low) = (vec![u32::MAX; count], vec![0_u32; count]);
    let mut on_stack = vec![false; count];
    let (mut stack, mut found, mut counter) = (Vec::new(), Vec::new(), 0);
    // Nodes that the first node does not reach are found before it, and so come after it.
    for &root in nodes.iter().rev() {
        if index[root] != u32::MAX {
            continue;
        }
        let mut calls = vec![(root, 0)];
        while let Some(&mut (node, ref mut next)) = calls.last_mut() {
            if *next == 0 {
                (index[node], low[node]) = (counter, counter);
                counter += 1;
                stack.push(node);
                on_stack[node] = true;
            }
            // Later successors first, so that earlier successors come first in reverse.
            let targets = &successors[node];
            let target = targets.len().checked_sub(*next + 1).map(|at| targets[at]);
            *next += 1;
            match target {
                Some(target) if member[target] != set => {}
                Some(target) if index[target] == u32::MAX => calls.push((target, 0)),
                Some(target) if on_stack[target] => low[node] = low[node].min(index[target]),
                Some(_) => {}
                None => {
                    calls.pop();
                    if let Some(&(caller, _)) = calls.last() {
                        low[caller] = low[caller].min(low[node]);
                    }
                    if low[node] == index[node] {
                        let at = stack.iter().rposition(|&other| other == node).unwrap_or(0);
                        let component = stack.split_off(at);
                        component.iter().for_each(|&node| on_stack[node] = false);
                        found.push(component);
                    }
                }
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loops_come_before_what_they_leave_to() {
        // 0 -> 1; 1 -> 2 or 3; 2 -> 1 (loop 1 2); 3 is the exit.
        let order = positions(&[vec![1], vec![3, 2], vec![1], vec![]]);
        assert_eq!(order, [0, 1, 2, 3]);
    }

    #[test]
    fn what_is_not_reached_comes_last() {
        let positions = positions(&[vec![2], vec![], vec![], vec![2]]);
        assert_eq!(positions[0], 0);
        assert_eq!(positions[2], 1);
    }

    #[test]
    fn joins_come_after_both_arms() {
        let order = positions(&[vec![1, 2], vec![3], vec![3], vec![]]);
        assert!(order[3] > order[1] && order[3] > order[2], "{order:?}");
    }

    #[test]
    fn a_loop_with_two_entries_is_ordered() {
        let order = positions(&[vec![1, 2], vec![2, 3], vec![1], vec![]]);
        assert_eq!(order[0], 0);
        assert_eq!(order[3], 3);
    }
}
