//! Reads CLIF text, and counts calls, loads and stores of blocks that are not cold.

use std::collections::{HashMap, HashSet};

/// The instruction counts of some blocks.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Counts {
    pub calls: usize,
    pub loads: usize,
    pub stores: usize,
}

#[derive(Default)]
struct Block {
    counts: Counts,
    is_cold: bool,
    to: Vec<String>,
}

/// Returns the counts over all regions: first of the likely path, then of its blocks in loops of
/// the function. The loop over warps does not count as a loop.
pub fn counts(clif: &str) -> [Counts; 2] {
    let mut all = [Counts::default(); 2];
    for region in clif.split("; region ").skip(1) {
        let blocks = blocks(region);
        let likely = |name: &String| blocks.get(name).is_some_and(|block| !block.is_cold);
        // The second block is the head of the loop over warps.
        let leads = |name: &str| {
            let to = blocks[name].to.iter();
            to.filter(|to| likely(to) && *to != "block1").cloned().collect::<Vec<_>>()
        };
        for (name, block) in blocks.iter().filter(|(name, _)| likely(name)) {
            all[0].add(block.counts);
            let (mut seen, mut open) = (HashSet::new(), leads(name));
            while let Some(next) = open.pop() {
                if seen.insert(next.clone()) {
                    open.extend(leads(&next));
                }
            }
            if seen.contains(name) {
                all[1].add(block.counts);
            }
        }
    }
    all
}

impl Counts {
    fn add(&mut self, other: Counts) {
        self.calls += other.calls;
        self.loads += other.loads;
        self.stores += other.stores;
    }
}

fn blocks(region: &str) -> HashMap<String, Block> {
    let mut blocks: HashMap<String, Block> = HashMap::new();
    let mut name = String::new();
    for line in region.lines() {
        if line.starts_with("block") {
            name = word(line).to_string();
            blocks.entry(name.clone()).or_default().is_cold = line.ends_with("cold:");
            continue;
        }
        let Some(block) = blocks.get_mut(&name) else { continue };
        let operation = line.split(" = ").last().unwrap_or(line).trim_start();
        let opcode = operation.split([' ', '.']).next().unwrap_or_default();
        match opcode {
            "call" | "call_indirect" => block.counts.calls += 1,
            "jump" | "brif" | "br_table" => {
                let targets =
                    operation.match_indices("block").map(|(at, _)| word(&operation[at..]));
                block.to.extend(targets.map(str::to_string));
            }
            _ if opcode.contains("load") => block.counts.loads += 1,
            _ if opcode.contains("store") => block.counts.stores += 1,
            _ => {}
        }
    }
    blocks
}

/// Returns the letters and digits at the start.
fn word(text: &str) -> &str {
    &text[..text.find(|c: char| !c.is_alphanumeric()).unwrap_or(text.len())]
}

#[test]
fn loops_and_cold_blocks_are_found() {
    let text = "\
; region 0: blocks [0]
function u0:0() {
block0:
    jump block1

block1:
    v1 = load.i32 v0
    jump block2

block2:
    v2 = load.i32 v0+4
    call fn0(v2)
    brif v2, block2, block3(v2)

block3(v3: i32):
    store v3, v0
    brif v3, block1, block4

block4 cold:
    call fn1()
    jump block2
}
";
    let in_loop = Counts { calls: 1, loads: 1, stores: 0 };
    assert_eq!(counts(text), [Counts { loads: 2, stores: 1, ..in_loop }, in_loop]);
}
