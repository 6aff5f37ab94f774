//! `--check hazards`: code that uses a register before its scheduling protects it.
//!
//! Hardware does not wait for a register by itself. An instruction of fixed latency is done after
//! some cycles, which the stall counts of the instructions behind it must fill (`latency.rs`). An
//! instruction of variable latency releases a scoreboard when its results are there, and may
//! release another when it has read its operands; an instruction that uses the registers must wait
//! for the scoreboard. The lifter gives each instruction its effect at once, so that code without
//! protection runs here.
//!
//! Source: facts, `sass.md`, "Scheduling".

mod latency;

use std::collections::{BTreeMap, BTreeSet};

use rustc_hash::FxHashSet;
use warploom_guest::LiftError;
use warploom_sass::lift::Touched;

use crate::lift::graph::{Graph, Trial};
use crate::lift::{Kernel, check_entry};
use crate::{Field, Instruction, Opcode, WORD_BYTES};
use latency::{Latency, latency};

/// The number of scoreboards.
const SCOREBOARDS: u8 = 6;

/// Results and reads of a register or a predicate that hardware may not have done yet.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
struct InFlight {
    /// Scoreboards that tell when it has its result, one bit each, and an instruction that writes
    /// it.
    writes: u8,
    writer: u64,
    /// By scoreboard that tells when its value has been read: an instruction that reads it.
    reads: [Option<Reader>; SCOREBOARDS as usize],
    /// Cycles since a result of fixed latency was issued, its latency, and the instruction.
    passed: u32,
    latency: Latency,
    fixed: u64,
}

/// An instruction that reads a register some time after its issue.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Reader {
    pc: u64,
    /// Its scoreboard for results: they come after it has read its operands.
    done: u8,
    has_guard: bool,
}

impl InFlight {
    /// Waits for scoreboards.
    fn wait(&mut self, waited: u8) {
        self.writes &= !waited;
        for (board, reader) in self.reads.iter_mut().enumerate() {
            reader.take_if(|reader| waited & (1 << board | reader.done) != 0);
        }
    }

    fn is_over(&self) -> bool {
        self.writes == 0
            && self.reads.iter().all(Option::is_none)
            && self.passed >= self.latency.longest()
    }

    fn join(&mut self, other: &InFlight) {
        if other.writes & !self.writes != 0 {
            (self.writes, self.writer) = (self.writes | other.writes, other.writer);
        }
        for (reader, other) in self.reads.iter_mut().zip(other.reads) {
            // A reader that only its own scoreboard ends is the one to wait for.
            if reader.is_none_or(|held| held.done != 0 && other.is_some_and(|one| one.done == 0)) {
                *reader = other.or(*reader);
            }
        }
        // Of two results, the one that is to come later.
        let left = |flight: &InFlight| flight.latency.longest().saturating_sub(flight.passed);
        if left(other) > left(self) {
            (self.passed, self.latency, self.fixed) = (other.passed, other.latency, other.fixed);
        }
    }
}

/// The registers and predicates in flight, by their number in [`Touched`].
type State = BTreeMap<u16, InFlight>;

/// Lists the uses of registers that are not protected, as text.
///
/// # Errors
/// The entry is outside the code.
pub fn report(kernel: &Kernel<'_>) -> Result<Vec<String>, LiftError> {
    check_entry(kernel)?;
    let graph = Graph::new(kernel, &FxHashSet::default());
    let mut trial = Trial::new();
    let mut touched: BTreeMap<u64, Touched> = BTreeMap::new();
    let mut begin: BTreeMap<usize, State> = BTreeMap::from([(0, State::new())]);
    let mut work = BTreeSet::from([0]);
    let mut found: BTreeMap<(u64, u16), String> = BTreeMap::new();
    while let Some(number) = work.pop_first() {
        let node = &graph.nodes[number];
        let mut state = begin[&number].clone();
        for pc in (0..u64::from(node.cost)).map(|n| node.pc.wrapping_add(n * WORD_BYTES)) {
            let Some(insn) = kernel.instruction(pc) else { continue };
            let touched = touched.entry(pc).or_insert_with(|| trial.touched(&insn, pc));
            for (place, problem) in step(&mut state, (&insn, kernel.model), pc, touched) {
                found.entry((pc, place)).or_insert(problem);
            }
        }
        for next in graph.successors(number) {
            let is_new = !begin.contains_key(&next);
            let held = begin.entry(next).or_default();
            let before = held.clone();
            for (&place, flight) in &state {
                held.entry(place).or_default().join(flight);
            }
            if is_new || before != *held {
                work.insert(next);
            }
        }
    }
    let text = |pc: u64| kernel.instruction(pc).map_or_else(String::new, |insn| insn.text(pc));
    let line = |((pc, _), problem): ((u64, u16), String)| {
        format!("at pc {pc:#x}: `{}` {problem}", text(pc))
    };
    Ok(found.into_iter().map(line).collect())
}

/// Executes one instruction: returns the places that it uses too early, each with the reason.
fn step(
    state: &mut State,
    (insn, model): (&Instruction, u8),
    pc: u64,
    touched: &Touched,
) -> Vec<(u16, String)> {
    let control = insn.control();
    let waited = control.wait_mask | waits_for(insn);
    state.values_mut().for_each(|flight| flight.wait(waited));
    let guard = Touched::guard(insn.guard());
    let has_guard = !insn.guard().is_true();
    let mut problems = vec![];
    for place in touched.reads() {
        let Some(flight) = state.get(&place) else { continue };
        let name = Touched::name(place);
        if flight.writes != 0 {
            let (board, writer) = (flight.writes.trailing_zeros(), flight.writer);
            problems.push((
                place,
                format!("reads {name} before scoreboard {board} of {writer:#x} is waited for"),
            ));
            continue;
        }
        let needed = flight.latency.of(place, Some(place) == guard);
        if flight.passed < needed {
            let (cycles, writer) = (needed - flight.passed, flight.fixed);
            let problem = format!("reads {name} {cycles} cycles before {writer:#x} has written it");
            problems.push((place, problem));
        }
    }
    // Accesses of memory read their operands and give their results in order.
    let in_order = is_access(insn.opcode());
    for place in touched.writes().filter(|_| !in_order) {
        let Some(flight) = state.get(&place) else { continue };
        let name = Touched::name(place);
        // Of two instructions with guards perhaps only one is executed.
        let mut readers = flight.reads.iter().enumerate();
        let early = readers.find_map(|(board, reader)| {
            Some((board, reader.filter(|reader| !(has_guard && reader.has_guard))?))
        });
        if let Some((board, Reader { pc: reader, .. })) = early {
            let when = format!("before scoreboard {board} of {reader:#x} says that it is read");
            problems.push((place, format!("writes {name} {when}")));
        } else if flight.writes != 0 && !has_guard {
            let (board, writer) = (flight.writes.trailing_zeros(), flight.writer);
            let when = format!("before scoreboard {board} of {writer:#x} is waited for");
            problems.push((place, format!("writes {name} {when}")));
        }
    }
    for place in touched.writes() {
        let flight = state.entry(place).or_default();
        if control.write_barrier < SCOREBOARDS {
            (flight.writes, flight.writer) = (1 << control.write_barrier, pc);
            flight.latency = Latency::default();
        } else {
            (flight.passed, flight.fixed) = (0, pc);
            flight.latency = latency(insn.opcode(), model);
            flight.writes = 0;
        }
    }
    if control.read_barrier < SCOREBOARDS {
        let done = if control.write_barrier < SCOREBOARDS { 1 << control.write_barrier } else { 0 };
        for place in touched.reads().filter(|&place| Touched::is_general(place)) {
            let reads = &mut state.entry(place).or_default().reads;
            reads[usize::from(control.read_barrier)] = Some(Reader { pc, done, has_guard });
        }
    }
    let passed = u32::from(control.stall).max(1);
    for flight in state.values_mut() {
        flight.passed = flight.passed.saturating_add(passed);
    }
    state.retain(|_, flight| !flight.is_over());
    problems
}

/// Returns the scoreboards that DEPBAR waits for. A count that need not be 0 is taken for 0: results
/// of one kind come in order, and the code knows which it needs.
fn waits_for(insn: &Instruction) -> u8 {
    if insn.opcode() != Opcode::Depbar {
        return 0;
    }
    let named = match insn.field(Field::scoreboard) {
        Some(number @ 0..6) => 1 << number,
        _ => 0,
    };
    insn.field(Field::scoreboard_mask).unwrap_or(0) as u8 | named
}

/// Whether an instruction goes through the unit for memory.
fn is_access(opcode: Opcode) -> bool {
    use Opcode::{
        Atom, AtomCas, Atomg, AtomgCas, Atoms, AtomsCas, Ld, Ldg, Ldl, Lds, Ldsm, Suatom,
        SuatomCas, Suld,
    };
    matches!(
        opcode,
        Ld | Ldg
            | Ldl
            | Lds
            | Ldsm
            | Atom
            | AtomCas
            | Atomg
            | AtomgCas
            | Atoms
            | AtomsCas
            | Suld
            | Suatom
            | SuatomCas
    )
}
