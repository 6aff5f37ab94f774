//! The code of a kernel and of the routines that it calls, cut into blocks.

use rustc_hash::{FxHashMap, FxHashSet};
use warploom_guest::cut_long_blocks;

use crate::instruction::{Instruction, Operand};
use crate::module::{LabelId, Module};

/// Consecutive instructions of a routine. Blocks are numbered in text order.
#[derive(Debug)]
pub struct Block {
    /// Index into [`Graph::routines`].
    pub routine: usize,
    /// The instructions before the end: from `first` on, up to but excluding `last`.
    pub first: u32,
    pub last: u32,
    pub end: End,
    pub unit: usize,
    /// Whether control may continue to the next block.
    goes_on: bool,
}

/// The end of a block. Instructions are indices into the routine's code; targets are blocks.
#[derive(Clone, Debug)]
pub enum End {
    /// Control continues to the next block.
    Next,
    /// The last block: no more code follows.
    Last,
    /// Lanes branch; if the instruction has one element, the whole warp does.
    Goto {
        insn: u32,
        target: usize,
    },
    Switch {
        targets: Vec<usize>,
    },
    Call {
        unit: usize,
    },
    /// A call of a function by its address.
    CallIndirect,
    Return {
        insn: u32,
    },
    /// A barrier of the thread group.
    Barrier,
    /// The target does not exist.
    Broken,
}

/// Code that is called and returns: the kernel, a function or a subroutine.
#[derive(Debug)]
pub struct Unit {
    pub entry: usize,
    /// Whether the unit is the kernel itself.
    pub kernel: bool,
    /// A number that is common to units which call each other in a circle.
    circle: usize,
}

#[derive(Debug, Default)]
pub struct Graph {
    /// Indices into the module's routines; the kernel's routine is the first.
    pub routines: Vec<usize>,
    pub blocks: Vec<Block>,
    pub units: Vec<Unit>,
    /// Functions whose address is taken or in data, by name, with their units.
    pub addressed: Vec<(String, usize)>,
    /// Whether some unit may call itself, directly or through other units.
    recursive: bool,
}

impl Graph {
    pub fn new(module: &Module, kernel: usize) -> Graph {
        let mut graph = Graph::default();
        let routines = reachable(module, kernel);
        let names: FxHashMap<&str, usize> = routines
            .iter()
            .enumerate()
            .map(|(n, &index)| (module.routines[index].name.as_str(), n))
            .collect();
        // Units are first the routines in their order, then the subroutines.
        graph.units =
            (0..routines.len()).map(|n| Unit { entry: 0, kernel: n == 0, circle: 0 }).collect();
        for (n, &index) in routines.iter().enumerate() {
            graph.units[n].entry = graph.blocks.len();
            graph.add(module, n, index, &names);
        }
        let code = routines.iter().flat_map(|&index| &module.routines[index].code);
        let mut seen = FxHashSet::default();
        let in_code = code
            .filter(|insn| insn.row.name == "faddr")
            .filter_map(|insn| name(insn.operands.first()?));
        for name in in_code.chain(&module.in_data) {
            if let Some(&unit) = names.get(name.as_str())
                && seen.insert(name)
            {
                graph.addressed.push((name.clone(), unit));
            }
        }
        graph.routines = routines;
        graph.find_recursion();
        graph
    }

    /// Adds a routine.
    fn add(
        &mut self,
        module: &Module,
        number: usize,
        index: usize,
        names: &FxHashMap<&str, usize>,
    ) {
        let routine = &module.routines[index];
        let base = self.blocks.len();
        let at: FxHashMap<LabelId, u32> =
            (0..).zip(&routine.code).filter_map(|(n, insn)| Some((label(insn)?, n))).collect();
        let mut starts = vec![0_u32];
        for (n, insn) in (0..).zip(&routine.code) {
            starts.extend(targets(insn).filter_map(|target| at.get(&target).copied()));
            if ends(insn) {
                starts.push(n + 1);
            }
        }
        let count = routine.code.len() as u32;
        starts.retain(|&start| start < count);
        starts.sort_unstable();
        starts.dedup();
        cut_long_blocks(&mut starts, count);
        let block_at = |n: u32| base + starts.partition_point(|&start| start <= n) - 1;
        let block_of = |label: LabelId| at.get(&label).map(|&n| block_at(n));
        // Subroutines are the targets of calls within the routine.
        let mut subroutines: FxHashMap<usize, usize> = FxHashMap::default();
        for insn in routine.code.iter().filter(|insn| insn.row.name == "call") {
            if let Some(entry) = targets(insn).next().and_then(block_of) {
                let units = &mut self.units;
                subroutines.entry(entry).or_insert_with(|| {
                    units.push(Unit { entry, kernel: false, circle: 0 });
                    units.len() - 1
                });
            }
        }
        for (n, &first) in starts.iter().enumerate() {
            let next = starts.get(n + 1).copied().unwrap_or(count);
            let end = next
                .checked_sub(1)
                .filter(|&last| last >= first && ends(&routine.code[last as usize]));
            let block = match end {
                Some(insn) => {
                    let found =
                        end_of(&routine.code[insn as usize], insn, &block_of, &subroutines, names);
                    let one = &routine.code[insn as usize];
                    let goes_on = one.predicate.is_some()
                        || !matches!(found, End::Goto { .. } | End::Return { .. });
                    Block { routine: number, first, last: insn, end: found, unit: number, goes_on }
                }
                None => {
                    let end = if next == count { End::Last } else { End::Next };
                    Block { routine: number, first, last: next, end, unit: number, goes_on: true }
                }
            };
            self.blocks.push(block);
        }
        // Blocks that control reaches only from a subroutine belong to the subroutine.
        let mut seen = vec![false; self.blocks.len() - base];
        let mut units: Vec<(usize, usize)> =
            subroutines.into_iter().map(|(entry, unit)| (unit, entry)).collect();
        units.sort_unstable();
        units.insert(0, (number, base));
        for (unit, entry) in units {
            let mut next = vec![entry];
            while let Some(block) = next.pop() {
                if self.blocks.len() > block && !std::mem::replace(&mut seen[block - base], true) {
                    self.blocks[block].unit = unit;
                    next.extend(self.follows(block));
                }
            }
        }
        if starts.is_empty() {
            self.blocks.push(Block {
                routine: number,
                first: 0,
                last: 0,
                end: End::Last,
                unit: number,
                goes_on: false,
            });
        }
    }

    /// Returns the blocks of the unit that control reaches from a block.
    fn follows(&self, block: usize) -> Vec<usize> {
        let mut all: Vec<usize> = match &self.blocks[block].end {
            End::Last | End::Broken => return vec![],
            End::Goto { target, .. } => vec![*target],
            End::Switch { targets } => return targets.clone(),
            _ => vec![],
        };
        // The code behind an unconditional branch or return may belong to another unit.
        if self.blocks[block].goes_on {
            all.extend(self.next(block));
        }
        all
    }

    /// Returns the block behind a block in the text, if there is one.
    pub fn next(&self, block: usize) -> Option<usize> {
        let routine = self.blocks[block].routine;
        (block + 1 < self.blocks.len() && self.blocks[block + 1].routine == routine)
            .then_some(block + 1)
    }

    /// Returns the units that a block may call.
    pub fn callees(&self, block: usize) -> Vec<usize> {
        match self.blocks[block].end {
            End::Call { unit, .. } => vec![unit],
            End::CallIndirect => self.addressed.iter().map(|&(_, unit)| unit).collect(),
            _ => vec![],
        }
    }

    /// Returns whether a unit that `caller` calls may call `caller` in turn.
    pub fn calls_back(&self, unit: usize, caller: usize) -> bool {
        self.units[unit].circle == self.units[caller].circle
    }

    /// Returns whether some unit may call itself, directly or through other units.
    pub fn is_recursive(&self) -> bool {
        self.recursive
    }

    fn find_recursion(&mut self) {
        let mut calls: Vec<Vec<usize>> = vec![vec![]; self.units.len()];
        for block in 0..self.blocks.len() {
            let unit = self.blocks[block].unit;
            calls[unit].extend(self.callees(block));
        }
        let circles = circles(&calls);
        for (number, unit) in self.units.iter_mut().enumerate() {
            unit.circle = circles[number];
        }
        let mut sizes = vec![0_usize; self.units.len()];
        circles.iter().for_each(|&circle| sizes[circle] += 1);
        let calls_itself = |unit: usize| calls[unit].contains(&unit);
        self.recursive =
            (0..self.units.len()).any(|unit| sizes[circles[unit]] > 1 || calls_itself(unit));
    }
}

/// Returns a number for each node of a graph. Nodes that lead to each other have equal numbers.
///
/// This is Tarjan's algorithm.
fn circles(edges: &[Vec<usize>]) -> Vec<usize> {
    const UNSEEN: usize = usize::MAX;
    let count = edges.len();
    // The time when each node was met, and the earliest time of the open nodes that it leads to.
    let (mut met, mut low, mut circle) =
        (vec![UNSEEN; count], vec![UNSEEN; count], vec![UNSEEN; count]);
    let (mut time, mut open, mut found) = (0, vec![], 0);
    for start in 0..count {
        // The nodes on the path, each with the number of its next edge.
        let mut way = if met[start] == UNSEEN { vec![(start, 0)] } else { vec![] };
        while let Some(&mut (node, ref mut next)) = way.last_mut() {
            if *next == 0 {
                (met[node], low[node]) = (time, time);
                time += 1;
                open.push(node);
            }
            let edge = edges[node].get(*next).copied();
            *next += 1;
            match edge {
                Some(to) if met[to] == UNSEEN => way.push((to, 0)),
                Some(to) if circle[to] == UNSEEN => low[node] = low[node].min(met[to]),
                Some(_) => {}
                None => {
                    way.pop();
                    if let Some(&(before, _)) = way.last() {
                        low[before] = low[before].min(low[node]);
                    }
                    if low[node] == met[node] {
                        while let Some(member) = open.pop() {
                            circle[member] = found;
                            if member == node {
                                break;
                            }
                        }
                        found += 1;
                    }
                }
            }
        }
    }
    circle
}

fn name(operand: &Operand) -> Option<&String> {
    match operand {
        Operand::Name(name) => Some(name),
        _ => None,
    }
}

/// Returns the routines that the kernel may call, with the kernel first.
fn reachable(module: &Module, kernel: usize) -> Vec<usize> {
    let by_name: FxHashMap<&str, usize> = module
        .routines
        .iter()
        .enumerate()
        .filter(|(_, one)| !one.kernel)
        .map(|(n, one)| (one.name.as_str(), n))
        .collect();
    let (mut found, mut seen) = (vec![kernel], FxHashSet::default());
    let mut at = 0;
    while let Some(&index) = found.get(at) {
        let mut find = |name: &String| {
            if let Some(&other) = by_name.get(name.as_str())
                && seen.insert(other)
            {
                found.push(other);
            }
        };
        for insn in &module.routines[index].code {
            match insn.row.name {
                "fcall" | "faddr" => insn.operands.iter().filter_map(name).for_each(&mut find),
                "ifcall" => module.in_data.iter().for_each(&mut find),
                _ => {}
            }
        }
        at += 1;
    }
    found
}

/// Returns the label that an instruction defines.
fn label(insn: &Instruction) -> Option<LabelId> {
    match (insn.row.name, insn.operands.first()) {
        ("label" | "subroutine", Some(Operand::Label(id))) => Some(*id),
        _ => None,
    }
}

/// Returns the labels that an instruction branches to.
fn targets(insn: &Instruction) -> impl Iterator<Item = LabelId> + '_ {
    let goes = label(insn).is_none();
    let of = |operand: &Operand| match operand {
        Operand::Label(id) => vec![*id],
        Operand::Labels(ids) => ids.clone(),
        _ => vec![],
    };
    insn.operands.iter().filter(move |_| goes).flat_map(of)
}

/// Returns whether an instruction ends a block.
fn ends(insn: &Instruction) -> bool {
    matches!(
        insn.row.name,
        "goto"
            | "jmp"
            | "switchjmp"
            | "call"
            | "fcall"
            | "ifcall"
            | "ret"
            | "fret"
            | "barrier"
            | "sbarrier.wait"
            | "nbarrier.signal"
            | "nbarrier.wait"
    )
}

fn end_of(
    insn: &Instruction,
    at: u32,
    block_of: &impl Fn(LabelId) -> Option<usize>,
    subroutines: &FxHashMap<usize, usize>,
    names: &FxHashMap<&str, usize>,
) -> End {
    let target = || targets(insn).next().and_then(block_of);
    let broken = End::Broken;
    match insn.row.name {
        "goto" | "jmp" => target().map_or(broken, |target| End::Goto { insn: at, target }),
        "switchjmp" => {
            let all: Option<Vec<usize>> = targets(insn).map(block_of).collect();
            all.map_or(broken, |targets| End::Switch { targets })
        }
        "call" => {
            let unit = target().and_then(|entry| subroutines.get(&entry).copied());
            unit.map_or(broken, |unit| End::Call { unit })
        }
        "fcall" => {
            let name = insn.operands.iter().find_map(|operand| match operand {
                Operand::Name(name) => names.get(name.as_str()).copied(),
                _ => None,
            });
            name.map_or(broken, |unit| End::Call { unit })
        }
        "ifcall" => End::CallIndirect,
        "ret" | "fret" => End::Return { insn: at },
        _ => End::Barrier,
    }
}

#[cfg(test)]
mod tests {
    use super::circles;

    #[test]
    fn nodes_that_lead_to_each_other_share_a_number() {
        // 0 leads to a circle of 1, 2 and 3, and to 4, which leads to itself; 5 leads into the
        // circle.
        let edges = [vec![1, 4], vec![2], vec![3, 4], vec![1], vec![4], vec![2]];
        let found = circles(&edges);
        let alike = |a: usize, b: usize| found[a] == found[b];
        assert!(alike(1, 2) && alike(2, 3), "{found:?}");
        for (a, b) in [(0, 1), (0, 4), (1, 4), (5, 0), (5, 1), (5, 4)] {
            assert!(!alike(a, b), "{a} and {b}: {found:?}");
        }
        // Compares with the nodes that each node reaches, for all graphs of four nodes with up to
        // two edges each.
        for number in 0..1_u64 << 16 {
            let edge = |node: usize, k: usize| (number >> (4 * node + 2 * k) & 3) as usize;
            let edges: Vec<Vec<usize>> =
                (0..4).map(|node| vec![edge(node, 0), edge(node, 1)]).collect();
            let mut reach = [[false; 4]; 4];
            (0..4).for_each(|node| edges[node].iter().for_each(|&to| reach[node][to] = true));
            for (k, a, b) in (0..64).map(|n| (n >> 4, n >> 2 & 3, n & 3)) {
                reach[a][b] |= reach[a][k] && reach[k][b];
            }
            let found = circles(&edges);
            for (a, b) in (0..16).map(|n| (n >> 2, n & 3)).filter(|(a, b)| a != b) {
                assert_eq!(
                    found[a] == found[b],
                    reach[a][b] && reach[b][a],
                    "{edges:?}: {found:?}"
                );
            }
        }
    }
}
