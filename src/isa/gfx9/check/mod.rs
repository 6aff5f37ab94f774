//! Finds uses of memory results before the `s_waitcnt` that makes the uses safe.
//!
//! Here results are available at once; on hardware they are not.
//!
//! The source for scalar memory is the seed, section 7.3: results arrive in any order, so only
//! `lgkmcnt(0)` helps. The sources for other memory, and for the operations that each counter
//! counts, are LLVM's AMDGPUUsage and the Vega ISA guide, "Manually inserted wait states" and
//! "S_WAITCNT". LDS returns in order (`lgkmcnt`). Vector memory returns in order too (`vmcnt`,
//! which also counts stores). Flat memory counts in both counters and returns in any order.
//!
//! The check is a forward data flow over the blocks of a kernel. Its state is the set of operations
//! that may be outstanding, on any path.

mod registers;

use std::collections::{BTreeMap, BTreeSet};

use registers::{Register, Registers, Transfer};
use warploom_guest::LiftError;

use super::Instruction;
use super::lift::Kernel;
use super::lift::program::{CodePoint, Program};
use super::row::{Encoding, Format};
use super::table::Opcode;

/// An instruction that executes too early.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hazard {
    pub pc: u64,
    pub text: String,
    pub register: String,
    /// The address of the instruction whose result, or whose source, the register is.
    pub pending_pc: u64,
    pub pending_text: String,
    /// Whether the instruction overwrites a source.
    pub source: bool,
}

impl std::fmt::Display for Hazard {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Hazard { pc, text, register, pending_pc, pending_text, source } = self;
        let what = if *source { "overwrites a source of" } else { "does not wait for" };
        write!(f, "{pc:#x}: `{text}` {what} `{pending_text}` at {pending_pc:#x} ({register})")
    }
}

/// The condition for the end of an outstanding operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Order {
    /// At most as many operations of its kind are outstanding as were issued after it.
    InOrder,
    /// No operation of its counter is outstanding.
    Any,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Counter {
    Vector,
    Lgkm,
}

/// A register that waits for the instruction at an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Pending {
    register: Register,
    pc: u64,
    counter: Counter,
    order: Order,
    /// Whether the register is a source; later instructions may read a source.
    source: bool,
}

/// The largest number of later operations that a state counts.
const MOST: u8 = 63;

/// The registers that may be outstanding.
///
/// Each has the least number, over all paths, of operations of its kind that were issued after it.
#[derive(Clone, Debug, Default, PartialEq)]
struct State(BTreeMap<Pending, u8>);

impl State {
    /// Adds the registers that are outstanding on another path; returns whether anything changed.
    fn join(&mut self, other: &State) -> bool {
        let before = self.clone();
        for (&pending, &later) in &other.0 {
            let mine = self.0.entry(pending).or_insert(later);
            *mine = later.min(*mine);
        }
        *self != before
    }

    fn wait(&mut self, counter: Counter, most: u8) {
        self.0.retain(|pending, later| {
            let done = most <= if pending.order == Order::InOrder { *later } else { 0 };
            pending.counter != counter || !done
        });
    }

    fn issue(
        &mut self,
        pc: u64,
        counter: Counter,
        order: Order,
        results: &[Register],
        sources: &[Register],
    ) {
        if order == Order::InOrder {
            let same = |pending: &Pending| (pending.counter, pending.order) == (counter, order);
            self.0
                .iter_mut()
                .filter(|(pending, _)| same(pending))
                .for_each(|(_, later)| *later = MOST.min(*later + 1));
        }
        for (registers, source) in [(results, false), (sources, true)] {
            self.0.extend(
                registers
                    .iter()
                    .map(|&register| (Pending { register, pc, counter, order, source }, 0)),
            );
        }
    }

    /// Applies the effect of an instruction to the state.
    fn step(&mut self, pc: u64, insn: &Instruction, registers: &Registers) {
        if insn.opcode() == Opcode::SWaitcnt {
            let bits = insn.simm16() as u16;
            self.wait(Counter::Vector, (bits & 15 | bits >> 14 << 4) as u8);
            self.wait(Counter::Lgkm, (bits >> 8 & 15) as u8);
        }
        for (counter, order) in counted(insn) {
            // Scalar stores and atomics read their sources late. Loads do not, as long as nothing
            // is replayed.
            let late = insn.encoding() == Encoding::Smem && Transfer::of(insn) != Transfer::Load;
            let sources: &[Register] = if late { &registers.read } else { &[] };
            self.issue(pc, counter, order, &registers.written, sources);
        }
    }

    /// Returns a register for which an instruction should have waited.
    fn hazard(&self, insn: &Instruction, registers: &Registers) -> Option<Pending> {
        let own = counted(insn);
        let conflicts = |pending: &&Pending| {
            let read = !pending.source && registers.read.contains(&pending.register);
            // Operations that return in order overwrite in order.
            let ordered =
                pending.order == Order::InOrder && own == [(pending.counter, pending.order)];
            read || !ordered && registers.written.contains(&pending.register)
        };
        self.0.keys().find(conflicts).copied()
    }
}

/// Returns the counters that count an instruction.
fn counted(insn: &Instruction) -> Vec<(Counter, Order)> {
    match insn.encoding() {
        // Cache control has no operands.
        _ if insn.row().operands.is_empty() => vec![],
        Encoding::Smem => vec![(Counter::Lgkm, Order::Any)],
        Encoding::Ds => vec![(Counter::Lgkm, Order::InOrder)],
        Encoding::Flat if insn.format() == Format::Flat => {
            vec![(Counter::Vector, Order::Any), (Counter::Lgkm, Order::Any)]
        }
        Encoding::Flat | Encoding::Mubuf | Encoding::Mtbuf | Encoding::Mimg => {
            vec![(Counter::Vector, Order::InOrder)]
        }
        _ => vec![],
    }
}

/// Returns the instructions of a kernel that execute too early, by address, each with one register.
///
/// They use or overwrite a result, or overwrite a source of a scalar store or atomic, too early.
///
/// # Errors
/// The entry is outside the code.
pub fn waitcnt(kernel: &Kernel<'_>) -> Result<Vec<Hazard>, LiftError> {
    Ok(hazards(kernel, &Program::new(kernel)?))
}

/// Returns the text of all findings in a kernel.
///
/// # Errors
/// The entry is outside the code.
pub fn report(kernel: &Kernel<'_>) -> Result<Vec<String>, LiftError> {
    let program = Program::new(kernel)?;
    let early = hazards(kernel, &program).into_iter().map(|hazard| hazard.to_string());
    Ok(early.chain(negative_offsets(&program)).collect())
}

fn hazards(kernel: &Kernel<'_>, program: &Program) -> Vec<Hazard> {
    let indirect: Vec<CodePoint> = program.indirect.iter().map(|&pc| (pc, kernel.mode)).collect();
    let mut begin: BTreeMap<CodePoint, State> =
        BTreeMap::from([((kernel.entry, kernel.mode), State::default())]);
    let mut work: BTreeSet<CodePoint> = begin.keys().copied().collect();
    let mut texts: BTreeMap<u64, Instruction> = BTreeMap::new();
    let mut found: BTreeMap<u64, Pending> = BTreeMap::new();
    while let Some(place) = work.pop_first() {
        let Some(block) = program.blocks.get(&place) else { continue };
        let mut state = begin[&place].clone();
        for (pc, step) in &block.steps {
            let Some(insn) = step.insn else { continue };
            let registers = Registers::of(&insn);
            texts.insert(*pc, insn);
            // The set of outstanding registers only grows from round to round, so a finding stays
            // true.
            if let Some(pending) = state.hazard(&insn, &registers) {
                found.entry(*pc).or_insert(pending);
            }
            state.step(*pc, &insn, &registers);
        }
        let indirect = if block.jumps_indirectly() { &indirect[..] } else { &[] };
        for next in block.successors().chain(indirect.iter().copied()) {
            let new = !begin.contains_key(&next);
            if begin.entry(next).or_default().join(&state) || new {
                work.insert(next);
            }
        }
    }
    let text = |pc: u64| texts.get(&pc).map_or(String::new(), |insn| insn.text(pc));
    let hazard = |(pc, pending): (u64, Pending)| Hazard {
        pc,
        text: text(pc),
        register: registers::name(pending.register),
        pending_pc: pending.pc,
        pending_text: text(pending.pc),
        source: pending.source,
    };
    found.into_iter().map(hazard).collect()
}

/// Returns the text of the scalar memory instructions whose offset is, or may be, negative.
///
/// The offset may be negative if a register is added to a negative constant. The access is then not
/// defined (the seed, section 7.2).
fn negative_offsets(program: &Program) -> Vec<String> {
    let steps = program.blocks.values().flat_map(|block| &block.steps);
    let found: BTreeMap<u64, Instruction> = steps
        .filter_map(|(pc, step)| Some((*pc, step.insn?)))
        .filter(|(_, insn)| insn.encoding() == Encoding::Smem && !insn.row().operands.is_empty())
        .filter(|(_, insn)| insn.smem().offset < 0)
        .collect();
    let words = |(pc, insn): (u64, Instruction)| {
        let what = if insn.smem().soffset.is_none() {
            "has a negative offset"
        } else {
            "may have a negative offset"
        };
        format!("{pc:#x}: `{}` {what}", insn.text(pc))
    };
    found.into_iter().map(words).collect()
}
