//! Register allocation.

use regalloc2::{MachineEnv, Output, PReg, PRegSet, RegClass, RegallocOptions};

use super::body::Function;
use super::{GENERAL, MASK, VECTOR};

/// General registers that are taken: the stack pointer, the frame pointer, and the registers of
/// [`super::emit`] for the register file and the context.
const TAKEN: [usize; 4] = [4, 5, 14, 15];

fn registers(class: RegClass, numbers: impl Iterator<Item = usize>) -> PRegSet {
    numbers.map(|number| PReg::new(number, class)).collect()
}

fn environment() -> MachineEnv {
    let general = registers(GENERAL, (0..16).filter(|number| !TAKEN.contains(number)));
    let vectors = registers(VECTOR, 0..32);
    // In most instructions, mask 0 means no mask.
    let masks = registers(MASK, 1..8);
    MachineEnv {
        preferred_regs_by_class: [general, vectors, masks],
        non_preferred_regs_by_class: [PRegSet::empty(); 3],
        scratch_by_class: [None; 3],
        fixed_stack_slots: Vec::new(),
    }
}

/// Assigns a place to each virtual register. With debug assertions, regalloc2's checker proves the
/// result.
///
/// # Errors
/// The function is not in SSA form, or an instruction has more operands than there are registers.
pub fn allocate(function: &Function) -> Result<Output, String> {
    let environment = environment();
    let checked = cfg!(debug_assertions);
    let options = RegallocOptions { validate_ssa: checked, ..RegallocOptions::default() };
    let output =
        regalloc2::run(function, &environment, &options).map_err(|error| format!("{error:?}"))?;
    if checked {
        let mut checker = regalloc2::checker::Checker::new(function, &environment);
        checker.prepare(&output);
        checker.run().map_err(|errors| format!("the allocation is wrong: {errors:?}"))?;
    }
    Ok(output)
}
