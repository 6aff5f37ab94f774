//! Checks that engines may trust a function.
//!
//! The invariants:
//!
//!  1. A warp has 1 to 64 lanes. There is at least one block.
//!  2. Bank names are identifiers (a letter or `_`, then letters, digits, `_`) and unique.
//!  3. The active register exists and is a mask. Banks of lanes and of uniform values hold integers
//!     and floats.
//!  4. Block 0, the entry, has no predecessor: no terminator, join or indirect jump names it.
//!  5. Every block that a terminator or join names exists. A block does not join itself.
//!  6. Indirect targets have distinct pcs.
//!  7. The results of a block's instructions are numbered 0, 1, 2, ... in the order of their
//!     definition, and the block has no other values. Operands are defined before they are used.
//!  8. Operations are well-typed: operand types and shapes, masks, registers and their parts,
//!     indexed ranges, regions, access sizes and alignments, guards as `typing` demands. Results
//!     have the types that `typing` gives. No operation gives a mask with bits past the last lane,
//!     if its operands have none.
//!  9. A window has at least one lane and lies in the warp.
//! 10. The varying operands of an operation have the lanes of its window. `a` of a cross-lane
//!     operation has the lanes of the whole warp.
//! 11. The condition of a branch is a uniform integer or a mask, the selector of a switch a uniform
//!     integer. The cases of a switch are distinct. The pc of an indirect jump is a uniform `i64`.
//! 12. A barrier's id and thread count are uniform `i32`. Reducing barriers, and only these, have a
//!     predicate, which is a mask.
//! 13. The places of a dispatcher are distinct mask registers, and so are the registers of a
//!     deadlock. None is the active register. The index where a search begins is a uniform `i32`.
//!     The block of a place joins nothing.

use std::collections::HashSet;

use super::function::{
    BarrierCounts, BarrierKind, Block, BlockId, Function, Inst, Terminator, Value,
};
use super::layout::{LayoutError, RegLayout};
use super::op::Op;
use super::register::{CellKind, Reg};
use super::types::{Type, ValueType, Window};
use super::typing::{CONDITION, Env, TypeError, is_condition, op_types};

/// A broken invariant and its location.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("function `{function}`{place}: {problem}")]
pub struct VerifyError {
    pub function: String,
    pub place: Location,
    pub problem: Problem,
}

/// A location in a function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Location {
    Function,
    Block { block: u32, pc: u64 },
    Inst { block: u32, inst: usize, pc: u64 },
    Terminator { block: u32, pc: u64 },
}

impl std::fmt::Display for Location {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Location::Function => Ok(()),
            Location::Block { block, pc } => write!(f, ", block b{block} (pc {pc:#x})"),
            Location::Inst { block, inst, pc } => {
                write!(f, ", block b{block}, instruction {inst} (pc {pc:#x})")
            }
            Location::Terminator { block, pc } => {
                write!(f, ", block b{block} (pc {pc:#x}), terminator")
            }
        }
    }
}

#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Problem {
    #[error("a warp has 1 to 64 lanes, not {0}")]
    Lanes(u8),
    #[error("a function has at least one block")]
    NoBlock,
    #[error("`{0}` is not an identifier, as a bank's name must be")]
    BankName(String),
    #[error("two banks are named `{0}`")]
    BankTwice(String),
    #[error(
        "bank `{0}` must hold integers or floats in its cells; a bank of masks is of kind `mask`"
    )]
    CellsOfMasks(String),
    #[error(transparent)]
    Layout(#[from] LayoutError),
    #[error("the active register must be an existing register of a mask bank")]
    Active,
    #[error("the entry must not be the target of anything")]
    EntryIsTarget,
    #[error("there is no block b{}", .0.0)]
    NoSuchBlock(BlockId),
    #[error("a block does not join itself")]
    JoinsItself,
    #[error("another indirect target has the same pc")]
    IndirectTwice,
    #[error("results are numbered in the order of definition: expected v{expected}, found v{}", .found.0)]
    Order { expected: usize, found: Value },
    #[error("the instruction has {found} results, expected {expected}")]
    ResultCount { expected: usize, found: usize },
    #[error("v{} must be {expected}, but is declared {found}", .value.0)]
    ResultType { value: Value, expected: ValueType, found: ValueType },
    #[error("the block has {found} instructions; at most {MAX_INSTS} are supported")]
    Length { found: usize },
    #[error("the block declares {declared} values, but its instructions define {defined}")]
    ValueCount { declared: usize, defined: usize },
    #[error(transparent)]
    Type(#[from] TypeError),
    #[error("the window {}+{} must have a lane and lie in the warp", .0.first, .0.count)]
    Window(Window),
    #[error(
        "operand v{} must have the lanes {}+{}, but has {}+{}",
        .value.0, .expected.first, .expected.count, .found.first, .found.count
    )]
    OperandWindow { value: Value, expected: Window, found: Window },
    #[error("{what} must be {expected}, but v{} is {found}", .value.0)]
    TerminatorOperand { what: &'static str, expected: &'static str, value: Value, found: ValueType },
    #[error("{what} v{} is not defined", .value.0)]
    TerminatorUndefined { what: &'static str, value: Value },
    #[error("case {0:#x} occurs twice")]
    CaseTwice(u64),
    #[error("a reducing barrier and no other has a predicate")]
    Predicate,
    #[error("the barrier of the cluster counts warps, all of them")]
    ClusterBarrier,
    #[error("lanes wait in distinct mask registers, other than the active one: {}[{}] is not", .0, .1)]
    WaitingRegister(String, u32),
    #[error("lanes that wait for b{}, a place, join nothing", .0.0)]
    PlaceJoins(BlockId),
}

/// The most instructions of a block: engines keep all values of a block at once.
const MAX_INSTS: usize = 1 << 20;

/// The most errors that [`verify_all`] returns.
pub const MAX_ERRORS: usize = 100;

/// Checks all invariants.
///
/// # Errors
/// The first broken invariant. [`verify_all`] returns more.
pub fn verify(function: &Function) -> Result<(), VerifyError> {
    check(function).next().map_or(Ok(()), Err)
}

/// Returns the broken invariants, up to [`MAX_ERRORS`]: of the function, else of each block, of the
/// first wrong instruction of each block, and of each terminator. Instructions behind a wrong one
/// are not checked, because its results may have no types.
pub fn verify_all(function: &Function) -> Vec<VerifyError> {
    check(function).take(MAX_ERRORS).collect()
}

/// The broken invariants, each found when it is asked for.
fn check(function: &Function) -> impl Iterator<Item = VerifyError> {
    let of_function = verify_function(function).err();
    let blocks = if of_function.is_none() { &function.blocks[..] } else { &[] };
    let mut pcs = HashSet::new();
    let of_blocks = blocks.iter().zip(0..).flat_map(move |(block, index)| {
        let place = Location::Block { block: index, pc: block.pc };
        let is_twice = block.indirect_target && !pcs.insert(block.pc);
        let of_block = verify_block(function, index, block).err().map(|problem| (place, problem));
        let of_insts = verify_insts(function, index, block).err();
        // The terminator may use a value that a wrong instruction does not define.
        let of_term =
            if of_insts.is_none() { verify_terminator(function, block).err() } else { None };
        let term = Location::Terminator { block: index, pc: block.pc };
        let twice = is_twice.then_some((place, Problem::IndirectTwice));
        let of_term = of_term.map(|problem| (term, problem));
        [of_block, twice, of_insts, of_term].into_iter().flatten()
    });
    let of_function = of_function.map(|problem| (Location::Function, problem));
    of_function.into_iter().chain(of_blocks).map(|(place, problem)| VerifyError {
        function: function.name.clone(),
        place,
        problem,
    })
}

fn verify_function(function: &Function) -> Result<(), Problem> {
    if !(1..=64).contains(&function.lanes) {
        return Err(Problem::Lanes(function.lanes));
    }
    if function.blocks.is_empty() {
        return Err(Problem::NoBlock);
    }
    let mut names = HashSet::new();
    for bank in &function.banks {
        if !is_identifier(&bank.name) {
            return Err(Problem::BankName(bank.name.clone()));
        }
        if !names.insert(&bank.name) {
            return Err(Problem::BankTwice(bank.name.clone()));
        }
        if matches!(bank.kind, CellKind::Lane(Type::Mask) | CellKind::Uniform(Type::Mask)) {
            return Err(Problem::CellsOfMasks(bank.name.clone()));
        }
    }
    RegLayout::new(function)?;
    match function.banks.get(function.active.bank.0 as usize) {
        Some(bank) if bank.kind == CellKind::Mask && function.active.index < bank.count => Ok(()),
        _ => Err(Problem::Active),
    }
}

/// Returns whether the text form can use a name.
pub(super) fn is_identifier(name: &str) -> bool {
    let mut chars = name.chars();
    chars.next().is_some_and(|c| c.is_ascii_alphabetic() || c == '_')
        && chars.all(|c| c.is_ascii_alphanumeric() || c == '_')
}

fn verify_block(function: &Function, index: u32, block: &Block) -> Result<(), Problem> {
    if index == 0 && block.indirect_target {
        return Err(Problem::EntryIsTarget);
    }
    if let Some(join) = block.join {
        if index == 0 {
            return Err(Problem::EntryIsTarget);
        }
        if join.0 == index {
            return Err(Problem::JoinsItself);
        }
        if join.0 as usize >= function.blocks.len() {
            return Err(Problem::NoSuchBlock(join));
        }
    }
    Ok(())
}

fn verify_insts(function: &Function, index: u32, block: &Block) -> Result<(), (Location, Problem)> {
    if block.insts.len() > MAX_INSTS {
        return Err((
            Location::Block { block: index, pc: block.pc },
            Problem::Length { found: block.insts.len() },
        ));
    }
    // The window of each value defined so far.
    let mut windows = Vec::with_capacity(block.values.len());
    for (i, inst) in block.insts.iter().enumerate() {
        verify_inst(function, block, inst, &mut windows)
            .map_err(|problem| (Location::Inst { block: index, inst: i, pc: inst.pc }, problem))?;
    }
    if windows.len() != block.values.len() {
        let problem = Problem::ValueCount { declared: block.values.len(), defined: windows.len() };
        return Err((Location::Block { block: index, pc: block.pc }, problem));
    }
    Ok(())
}

fn verify_inst(
    function: &Function,
    block: &Block,
    inst: &Inst,
    windows: &mut Vec<Window>,
) -> Result<(), Problem> {
    let window = inst.window;
    if window.count == 0
        || u32::from(window.first) + u32::from(window.count) > function.lanes.into()
    {
        return Err(Problem::Window(window));
    }
    let defined = &block.values[..windows.len().min(block.values.len())];
    let types =
        op_types(&inst.op, Env { lanes: function.lanes, banks: &function.banks, values: defined })?;

    let mut result = Ok(());
    inst.for_each_operand(|value| {
        let expected = match inst.op {
            Op::LaneGather { a, .. } | Op::LaneRead { a, .. } if a == value => {
                Window::all(function.lanes)
            }
            Op::Product { .. } => Window::all(function.lanes),
            _ => window,
        };
        let found = windows[value.0 as usize];
        if !block.ty(value).is_uniform() && !found.contains(expected) && result.is_ok() {
            result = Err(Problem::OperandWindow { value, expected, found });
        }
    });
    result?;

    if types.len() != inst.results.len() {
        return Err(Problem::ResultCount { expected: types.len(), found: inst.results.len() });
    }
    for (&value, expected) in inst.results.iter().zip(types) {
        if value.0 as usize != windows.len() {
            return Err(Problem::Order { expected: windows.len(), found: value });
        }
        match block.values.get(value.0 as usize) {
            None => {
                return Err(Problem::ValueCount {
                    declared: block.values.len(),
                    defined: windows.len() + 1,
                });
            }
            Some(&found) if found != expected => {
                return Err(Problem::ResultType { value, expected, found });
            }
            Some(_) => windows.push(inst.result_window(function.lanes)),
        }
    }
    Ok(())
}

/// Checks the registers in which lanes wait.
fn verify_waiting(function: &Function, block: &Block) -> Result<(), Problem> {
    let mut seen = HashSet::from([function.active]);
    for reg in block.term.registers() {
        let bank = function.banks.get(reg.bank.0 as usize);
        let is_mask =
            bank.is_some_and(|bank| bank.kind == CellKind::Mask && reg.index < bank.count);
        if !is_mask || !seen.insert(reg) {
            let name = bank.map_or_else(String::new, |bank| bank.name.clone());
            return Err(Problem::WaitingRegister(name, reg.index));
        }
    }
    Ok(())
}

fn verify_terminator(function: &Function, block: &Block) -> Result<(), Problem> {
    let operand = |what, value: Value, expected, holds: fn(ValueType) -> bool| {
        let found = *block
            .values
            .get(value.0 as usize)
            .ok_or(Problem::TerminatorUndefined { what, value })?;
        if holds(found) {
            Ok(())
        } else {
            Err(Problem::TerminatorOperand { what, expected, value, found })
        }
    };
    let integer = |t: ValueType| t.is_uniform() && t.ty.is_int();
    let i32 = |t: ValueType| t == ValueType::uniform(Type::I32);
    let i64 = |t: ValueType| t == ValueType::uniform(Type::I64);
    let mask = |t: ValueType| t == ValueType::MASK;
    match &block.term {
        Terminator::Jump(_)
        | Terminator::Lanes { .. }
        | Terminator::Exit
        | Terminator::Trap { .. } => {}
        Terminator::Dispatch { places, from, .. } => {
            verify_waiting(function, block)?;
            if let Some(from) = from {
                operand("the index to search from", *from, "a uniform i32", i32)?;
            }
            let joins = |&&(_, place): &&(Reg, BlockId)| {
                function.blocks.get(place.0 as usize).is_some_and(|block| block.join.is_some())
            };
            if let Some(&(_, place)) = places.iter().find(joins) {
                return Err(Problem::PlaceJoins(place));
            }
        }
        Terminator::Deadlock { .. } => verify_waiting(function, block)?,
        Terminator::Branch { cond, .. } => {
            operand("the condition", *cond, CONDITION, is_condition)?
        }
        Terminator::Switch { value, cases, .. } => {
            operand("the selector", *value, "a uniform integer", integer)?;
            let mut seen = HashSet::new();
            if let Some((case, _)) = cases.iter().find(|(case, _)| !seen.insert(*case)) {
                return Err(Problem::CaseTwice(*case));
            }
        }
        Terminator::Indirect { pc } => operand("the pc", *pc, "a uniform i64", i64)?,
        Terminator::Service { lanes, .. } => operand("the lanes", *lanes, "a mask", mask)?,
        Terminator::Barrier { barrier, .. } => {
            operand("the barrier's id", barrier.id, "a uniform i32", i32)?;
            if let Some(threads) = barrier.threads {
                operand("the barrier's thread count", threads, "a uniform i32", i32)?;
            }
            let reducing =
                matches!(barrier.kind, BarrierKind::Popcount | BarrierKind::And | BarrierKind::Or);
            if reducing != barrier.predicate.is_some() {
                return Err(Problem::Predicate);
            }
            let of_cluster =
                matches!(barrier.kind, BarrierKind::ClusterArrive | BarrierKind::ClusterWait);
            if of_cluster && (barrier.counts == BarrierCounts::Lanes || barrier.threads.is_some()) {
                return Err(Problem::ClusterBarrier);
            }
            if let Some(predicate) = barrier.predicate {
                operand("the barrier's predicate", predicate, "a mask", mask)?;
            }
        }
    }
    let mut result = Ok(());
    block.term.for_each_target(|target| {
        if target.0 == 0 {
            result = Err(Problem::EntryIsTarget);
        } else if target.0 as usize >= function.blocks.len() {
            result = Err(Problem::NoSuchBlock(target));
        }
    });
    result
}
