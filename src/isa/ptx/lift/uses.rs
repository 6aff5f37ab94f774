//! Which registers a statement reads and writes.

use rustc_hash::FxHashSet;

use crate::module::{Address, Base, Module, Operand, Register, SpecialRegister, Statement};
use crate::table::Form;
use crate::word::Word;

/// Whether the opcode is a barrier of the block, or of the cluster (one block), at which warps or
/// lanes wait.
pub fn is_barrier(opcode: &str) -> bool {
    let mut words = opcode.split('.');
    let first = words.next();
    matches!(first, Some("bar" | "barrier")) && !words.any(|word| word == "warp")
}

/// Whether all lanes of the warp must execute a barrier together.
pub fn is_aligned(form: &Form) -> bool {
    let name = form.row.opcode;
    is_barrier(name) && (!name.starts_with("barrier") || form.has(Word::Aligned))
}

/// Whether lanes that the statement names wait for each other, in the warp and not in the block.
pub fn is_meeting(module: &Module, statement: &Statement) -> bool {
    let form = module.form(statement.form);
    let name = form.row.opcode.split('.').next().unwrap_or_default();
    let of_warp = matches!(name, "shfl" | "vote" | "match" | "redux" | "elect");
    (of_warp && form.has(Word::Sync)) || form.row.opcode == "bar.warp.sync"
}

/// Whether the statement reads a clock or the time.
pub fn reads_clock(statement: &Statement) -> bool {
    use SpecialRegister as S;
    let is_clock = |operand: &Operand| match operand {
        Operand::Special(special) => {
            matches!(
                special,
                S::Clock
                    | S::ClockHi
                    | S::Clock64
                    | S::GlobalTimer
                    | S::GlobalTimerLo
                    | S::GlobalTimerHi
            )
        }
        _ => false,
    };
    statement.operands.iter().any(is_clock)
}

/// Whether a loop with the statement may wait for other lanes to act. `decides` says whether a
/// register may affect where lanes go.
pub fn may_spin(
    module: &Module,
    statement: &Statement,
    decides: &dyn Fn(Register) -> bool,
) -> bool {
    let form = module.form(statement.form);
    let name = form.row.opcode.split('.').next().unwrap_or_default();
    let result_decides = || {
        let mut any = false;
        if let Some(result) = statement.operands.first() {
            in_operand(result, true, &mut |register, _| any |= decides(register));
        }
        any
    };
    match name {
        "ld" => {
            form.one_of(&[Word::Volatile, Word::Relaxed, Word::Acquire, Word::Mmio]).is_some()
                && result_decides()
        }
        "atom" => result_decides(),
        "nanosleep" => true,
        "mbarrier" => form.row.opcode.contains("_wait"),
        _ => false,
    }
}

/// Opcodes, without their further words, whose first operand is no destination.
const NO_DESTINATION: &[&str] = &[
    "st",
    "red",
    "bra",
    "brx",
    "call",
    "ret",
    "exit",
    "trap",
    "brkpt",
    "membar",
    "fence",
    "prefetch",
    "prefetchu",
    "discard",
    "applypriority",
    "cp",
    "sust",
    "sured",
    "stmatrix",
    "nanosleep",
    "pmevent",
    "stackrestore",
    "setmaxnreg",
    "griddepcontrol",
    "bar",
    "barrier",
];

pub fn has_destination(module: &Module, statement: &Statement) -> bool {
    let form = module.form(statement.form);
    let opcode = form.row.opcode;
    let name = opcode.split('.').next().unwrap_or_default();
    if matches!(name, "bar" | "barrier") {
        return form.has(Word::Red);
    }
    if opcode.starts_with("wmma.store") {
        return false;
    }
    !NO_DESTINATION.contains(&name)
}

/// Returns the registers whose values may affect where lanes go: registers that jumps, calls and
/// returns read; registers that are stored, as they may be loaded again; and registers that any of
/// these depend on.
pub fn deciding(module: &Module, statements: &[Statement]) -> FxHashSet<Register> {
    let mut deciding = FxHashSet::default();
    loop {
        let before = deciding.len();
        for statement in statements.iter().rev() {
            let opcode = module.form(statement.form).row.opcode;
            let (mut read, mut decides) = (Vec::new(), false);
            each(module, statement, &mut |register, written| match written {
                true => decides |= deciding.contains(&register),
                false => read.push(register),
            });
            match opcode.split('.').next().unwrap_or_default() {
                "bra" | "brx" | "call" | "ret" | "exit" | "trap" => decides = true,
                "st" => {
                    let values = &statement.operands[1.min(statement.operands.len())..];
                    values.iter().for_each(|value| {
                        in_operand(value, false, &mut |register, _| {
                            deciding.insert(register);
                        })
                    });
                }
                _ => {}
            }
            if decides {
                deciding.extend(read);
            }
        }
        if deciding.len() == before {
            return deciding;
        }
    }
}

/// Calls `found` for each register that the statement names, with whether it is written. Sources
/// come before destinations.
pub fn each(module: &Module, statement: &Statement, found: &mut dyn FnMut(Register, bool)) {
    let destination = has_destination(module, statement);
    if let Some(guard) = statement.guard {
        found(guard.register, false);
    }
    for (n, operand) in statement.operands.iter().enumerate() {
        if !(destination && n == 0) {
            in_operand(operand, false, found);
        }
    }
    if let (true, Some(operand)) = (destination, statement.operands.first()) {
        in_operand(operand, true, found);
    }
}

fn in_operand(operand: &Operand, written: bool, found: &mut dyn FnMut(Register, bool)) {
    match operand {
        Operand::Register(register) => found(*register, written),
        Operand::Not(register) | Operand::Negated(register) => found(*register, false),
        Operand::Vector(all) | Operand::Bracket(all) | Operand::List(all) => {
            all.iter().for_each(|operand| in_operand(operand, written, found));
        }
        Operand::Pair(pair) => pair.iter().for_each(|operand| in_operand(operand, written, found)),
        Operand::Selected { register, .. } => {
            // A selected destination keeps the register's other bytes.
            in_operand(register, false, found);
            in_operand(register, written, found);
        }
        Operand::Address(Address { base, index, .. }) => {
            if let Base::Register(register) = base {
                found(*register, false);
            }
            if let Some(register) = index {
                found(*register, false);
            }
        }
        Operand::Integer(_)
        | Operand::Float(_)
        | Operand::Special(_)
        | Operand::Sink
        | Operand::Symbol(..)
        | Operand::Label(_)
        | Operand::BranchTargets(_)
        | Operand::CallTargets(_)
        | Operand::Prototype(_) => {}
    }
}
