//! The lifter from Maxwell code to IR.
//!
//! [`lift_kernel`] finds the code that a kernel can reach (`program`), cuts it into blocks and
//! emits each block (`emit`, `ends`). The table names the lift function of every instruction; each
//! family has a file. `stack` implements divergence. An instruction that is not in the table, or
//! not implemented, becomes a trap at its place.
//!
//! # Registers of a function
//!
//! - `r`: the general registers (`Lane(I32)`)
//! - `p`: P0 to P6
//! - `cc`: the bits Z S C O and a private second carry (`flags`)
//! - `active`: the active mask
//! - `split`: passes a mask to the helper blocks of a branch
//! - `suspended`: the lanes between SAM and RAM
//! - the registers of the stack
//!
//! A kernel without an indirect jump declares only the registers that it uses. With an indirect
//! jump, the declarations do not depend on the known code, and the stack holds addresses, not
//! numbers of blocks. So `lift_kernel` with more `discovered` entries gives a function in which a
//! running warp can go on.
//!
//! # Shapes that analysis may rely on
//!
//! - Flags are values within a block, so a carry chain is `(lo, c) = AddCarry(a, b, none)`,
//!   `(hi, _) = AddCarry(x, y, c)`. A difference is `AddCarry(a, Not(b), all lanes)`, then
//!   `AddCarry(x, Not(y), c)`. The sums go through `r` registers.
//! - A half of a register is `And(x, 0xffff)`, `ShrU(x, 16)`, or signed `ShrS(Shl(x, 16), 16)`,
//!   `ShrS(x, 16)`. XMAD is `Add(p, c)` with p = `Mul(half, half)`, for `.PSL` `Shl(p, 16)`; c for
//!   `.CBCC` is `Add(C, Shl(B, 16))`; `.MRG` gives `Or(And(r, 0xffff), Shl(B, 16))`. A 32-bit
//!   product is the triple
//!   `t = XMAD a, b, c; u = XMAD.MRG a, b.H1, 0; XMAD.PSL.CBCC a.H1, u.H1, t`.
//! - A 64-bit address is `Concat(r[n], r[n+1])` with a constant offset in the access.
//! - A loop whose lanes leave one by one, `@!P BRA top; SYNC`, ends in `Branch(active, top, pop)`.
//!   A loop that all lanes are expected to leave together ends in `Branch(rest, part, top)`, with
//!   `rest` the lanes that leave.

mod cc;
mod context;
mod emit;
mod ends;
mod fidelity;
mod flow;
mod liveness;
mod program;
mod registers;
pub mod shader;
mod stack;

// The instructions, family by family.
pub mod add;
pub mod atomic;
pub mod attribute;
pub mod barrier;
pub mod bits;
pub mod compare;
pub mod control;
pub mod convert;
pub mod double;
pub mod float;
pub mod float_compare;
pub mod half;
pub mod logic;
pub mod memory;
pub mod moves;
pub mod multiply;
pub mod pixel;
pub mod predicate;
pub mod shift;
pub mod surface;
pub mod texture;
pub mod transcendental;
pub mod video;
pub mod warp;

pub use context::KnownImages;
use context::{Banks, Cx};
use emit::Emitter;
pub use fidelity::fidelity;
use flow::{Flow, Leave, Lifted};
pub use program::executes;
use program::{End, Program};
pub use registers::{RegisterSet, registers};
use shader::Shader;
use stack::Stack;
use warploom_guest::LiftError;
use warploom_guest::shader::Stage;
use warploom_ir::{CellKind, Function, FunctionBuilder, NanPolicy, Service, Type};
use warploom_sass::lift::{self, Flag, FlagBanks};

use super::{Instruction, past_control};

/// Lifts one instruction: emits its operations and returns where control goes.
pub type Lift = fn(&mut Cx<'_>, &Instruction) -> Lifted;

pub const WARP_LANES: u8 = 32;

/// The NaN that operations produce. Source: facts, `maxwell-semantics.md` 3 and 4.
pub const NAN: NanPolicy = NanPolicy { f16: 0x7fff, f32: 0x7fff_ffff, f64: 0xfff8_0000_0000_0000 };

/// The most registers of a lane.
const REGISTERS: u32 = 255;
/// The entries of the divergence stack where recursion or pointers hide the number needed.
const DEEP_STACK: u32 = 1024;
/// The most entries that branches need: each branch splits off at least one lane.
const BRANCH_ENTRIES: u32 = WARP_LANES as u32;
/// The most entries without recursion.
const SHALLOW_STACK: u32 = 256;

/// The kernel to lift, and the facts that its lifting may rely on.
#[derive(Clone, Copy, Debug)]
pub struct Kernel<'a> {
    pub name: &'a str,
    /// The code from address 0 on.
    pub code: &'a [u8],
    /// The address of the first instruction. Like every address below, it may be the address of the
    /// control word before the instruction.
    pub entry: u64,
    /// Targets of indirect jumps that the file states.
    pub indirect_targets: &'a [u64],
    /// Stand-ins of undefined functions that the host provides, with their addresses.
    pub services: &'a [(u64, Service)],
    /// Further targets of indirect jumps that execution found, in the order of discovery.
    pub discovered: &'a [u64],
    /// Images whose handles the launch knows; the code is specialised for them.
    pub images: KnownImages<'a>,
    /// The compiler's content of constant bank 2. No launch changes it: it is part of the code.
    pub constants: &'a [u8],
    /// Constant bank 0 begins with the driver's words ([`word`](super::driver::word)): the block's
    /// size there equals the launch's.
    pub driver_words: bool,
    /// The graphics program; none for a compute kernel.
    pub shader: Option<&'a shader::Program>,
    /// Whether the code tells observers what operations do not show.
    pub observed: bool,
}

impl<'a> Kernel<'a> {
    /// Describes a kernel whose code has no further indirect targets.
    pub fn new(name: &'a str, code: &'a [u8], entry: u64) -> Kernel<'a> {
        Kernel {
            name,
            code,
            entry,
            indirect_targets: &[],
            services: &[],
            discovered: &[],
            images: &[],
            constants: &[],
            driver_words: false,
            shader: None,
            observed: false,
        }
    }
}

/// Lifts a kernel with all code that it can reach.
///
/// # Errors
/// The entry is outside the code, or a lift function built an ill-typed operation.
pub fn lift_kernel(kernel: &Kernel<'_>) -> Result<Function, LiftError> {
    let entry_pc = past_control(kernel.entry);
    if super::code::word_at(kernel.code, entry_pc).is_none() {
        let (name, entry, len) = (kernel.name.to_owned(), kernel.entry, kernel.code.len());
        return Err(LiftError::NoEntry { kernel: name, entry, len });
    }
    let mut program = Program::new(kernel);
    program.explore(entry_pc);
    let open = program.has_indirect();
    let discovered = if open { kernel.discovered } else { &[] };
    for &pc in discovered {
        program.explore(past_control(pc));
    }

    if let Some((pc, insn, problem)) = program.missing() {
        let (kernel, text, problem) = (kernel.name.to_owned(), insn.text(pc), problem.to_owned());
        return Err(LiftError::NotGiven { kernel, pc, text, problem });
    }
    let mut function = FunctionBuilder::new(kernel.name, WARP_LANES, NAN);
    let registers = if open { REGISTERS } else { program.registers() };
    let registers =
        registers.max(kernel.shader.map_or(0, |shader| shader::registers(&shader.header)));
    let banks = declare(&mut function, registers, kernel.shader);
    let active = function.bank("active", CellKind::Mask, 1).reg(0);
    function.set_active(active);
    function.set_observed(kernel.observed);
    let split = function.bank("split", CellKind::Mask, 1).reg(0);
    let entry = function.new_block(entry_pc);
    let pushes = open || program.pushes();
    let depth = match program.entries() {
        _ if open || program.recursive() => DEEP_STACK,
        entries => (entries + BRANCH_ENTRIES).min(SHALLOW_STACK),
    };
    let leaves = |leave| {
        open || program
            .has(|&flow| flow == Flow::Leave(leave) || flow == Flow::Kill && leave == Leave::Exit)
    };
    let stack = pushes.then(|| Stack::new(&mut function, depth, entry_pc, leaves));
    let pop = match &stack {
        Some(stack) => stack.pop(),
        None => {
            let done = function.new_block(entry_pc);
            function.at(done).exit();
            done
        }
    };

    let activates = open || program.has(|flow| matches!(flow, Flow::Activate(_)));
    let suspended = activates.then(|| function.bank("suspended", CellKind::Mask, 1).reg(0));
    let mut emitter = Emitter::new(&program, function, banks, stack, pop, split, suspended);
    // An `End::Do` needs an active lane, and a graphics program may begin with none.
    let needs_lanes =
        kernel.shader.is_some() && matches!(program.blocks[&entry_pc].end, End::Do { .. });
    if open || needs_lanes || program.is_target(entry_pc) {
        // Nothing may jump to the entry block.
        emitter.enter(entry, entry_pc);
    } else {
        emitter.claim(entry_pc, entry);
    }
    emitter.drain();
    if open {
        for pc in program.indirect_targets().chain(discovered.iter().map(|&pc| past_control(pc))) {
            let block = emitter.block_at(pc);
            emitter.function.set_indirect_target(block, true);
            emitter.drain();
        }
    }
    emitter.finish().map_err(|error| LiftError::Build { kernel: kernel.name.to_owned(), error })
}

fn declare(
    function: &mut FunctionBuilder,
    registers: u32,
    shader: Option<&shader::Program>,
) -> Banks {
    let registers = function.bank("r", CellKind::Lane(Type::I32), registers);
    let predicates = function.bank("p", CellKind::Mask, Flag::PREDICATES as u32);
    let others = function.bank("cc", CellKind::Mask, Flag::CC_BITS as u32);
    let mut mask = |name| function.bank(name, CellKind::Mask, 1).reg(0);
    let shader = shader.map(|&program| Shader {
        program,
        helpers: (program.header.stage() == Stage::Fragment).then(|| mask("helpers")),
        begun: mask("begun"),
    });
    let flags = FlagBanks { predicates, others };
    Banks { common: lift::Banks { registers, uniform: None, convergence: None, flags }, shader }
}

/// Declares the registers for the trial run of instructions.
fn declare_scratch(function: &mut FunctionBuilder, shader: Option<&shader::Program>) -> Banks {
    let active = function.bank("active", CellKind::Mask, 1).reg(0);
    function.set_active(active);
    declare(function, REGISTERS, shader)
}
