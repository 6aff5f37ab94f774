//! Control flow and barriers: the effects that instructions ask for.

use warploom_guest::divergence::Mask;
use warploom_ir::{Barrier, BarrierCounts, BarrierKind, IntCc, Special, TrapKind, Type, Value};
use warploom_sass::lift::Cx;
use warploom_sass::{Pred, Role, Source};

use super::emit::of_first_lane;
use super::flow::{Flow, Lifted, Unsupported};
use crate::field::{BarrierReduction, BarrierRegister, BranchConvergence, BreakpointKind};
use crate::{Field, Instruction, Opcode, WORD_BYTES};

/// Lifts NOP, and instructions that only schedule, wait for scoreboards or hint to caches.
pub fn nop(_: &mut Cx<'_>, _: &Instruction) -> Lifted {
    Ok(Flow::Next)
}

fn target(cx: &Cx<'_>, i: &Instruction) -> Result<u64, Unsupported> {
    i.raw_target(cx.pc).ok_or(Unsupported)
}

/// Lifts BRA and JMP. A target in constant memory is not executed.
pub fn bra(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    let asks = i.source(Role::A).is_some();
    if i.source(Role::B).is_some() || asks && votes(i).is_none() {
        return Err(Unsupported);
    }
    Ok(Flow::Branch(target(cx, i)?))
}

/// Whether a branch that asks a uniform register is taken if the lanes of its guard are those of
/// the register, or if they are not.
fn votes(i: &Instruction) -> Option<bool> {
    match i.branch_vote() {
        BranchConvergence::Convergent => Some(true),
        BranchConvergence::Divergent => Some(false),
        _ => None,
    }
}

/// Whether only some of the active lanes may follow an instruction: by its guard, a predicate, or
/// a vote.
pub fn is_conditional(i: &Instruction) -> bool {
    !i.guard().is_true() || conditions(i).any(|pred| !pred.is_true()) || asks(i).is_some()
}

/// Returns the predicates besides the guard that choose the lanes of an instruction of control.
pub fn conditions(i: &Instruction) -> impl Iterator<Item = Pred> + use<> {
    let is_control = matches!(
        i.opcode(),
        Opcode::Bra
            | Opcode::Brx
            | Opcode::Brxu
            | Opcode::Jmp
            | Opcode::Jmx
            | Opcode::Jmxu
            | Opcode::Call
            | Opcode::Ret
            | Opcode::Exit
            | Opcode::Kill
            | Opcode::Bssy
            | Opcode::Bsync
            | Opcode::Break
            | Opcode::Yield
            | Opcode::Warpsync
            | Opcode::Nanosleep
    );
    [i.ps(), i.predicate(Role::Pa)].into_iter().filter(move |_| is_control)
}

/// Returns the uniform register that a branch compares the lanes of its guard with.
fn asks(i: &Instruction) -> Option<Source> {
    i.source(Role::A).filter(|_| matches!(i.opcode(), Opcode::Bra | Opcode::Jmp))
}

/// Returns the lanes that follow an instruction, among the active lanes.
pub fn followers(cx: &mut Cx<'_>, i: &Instruction) -> Mask {
    let mut lanes = cx.guard();
    for pred in conditions(i) {
        let pred = cx.pred(pred);
        lanes = cx.and(lanes, pred);
    }
    let Some(asked) = asks(i) else { return lanes };
    let active = Mask::Lanes(cx.active());
    let lanes = cx.and(lanes, active);
    let lanes = super::warp::ballot(cx, lanes);
    let asked = cx.word(asked);
    let asked = of_first_lane(cx, asked);
    let same = cx.b.icmp(IntCc::Eq, lanes, asked);
    let same = Mask::Lanes(same);
    if votes(i) == Some(true) { same } else { cx.not(same) }
}

/// Returns the active lanes for which the guard and the condition of an instruction hold.
fn taking(cx: &mut Cx<'_>, i: &Instruction) -> Mask {
    let (lanes, active) = (followers(cx, i), Mask::Lanes(cx.active()));
    cx.and(lanes, active)
}

/// Returns the registers of convergence that an operand names.
fn convergence(cx: &Cx<'_>, number: u64) -> Option<warploom_ir::Reg> {
    Some(cx.banks.convergence?.reg(number as u32))
}

/// Returns the number of the register of convergence that E names.
fn named(i: &Instruction) -> Result<u64, Unsupported> {
    i.source(Role::E).and_then(|source| source.imm()).ok_or(Unsupported)
}

/// Lifts BSSY: a register of convergence gets the active lanes, which meet at the BSYNC.
pub fn bssy(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    let number = named(i)?;
    if let Some(register) = convergence(cx, number) {
        let (guard, taking) = (cx.guard(), taking(cx, i));
        if taking == Mask::Never {
            return Ok(Flow::Next);
        }
        let lanes = super::warp::ballot(cx, taking);
        cx.set_guard(taking);
        cx.b.rf_write(register, lanes);
        cx.set_guard(guard);
    }
    Ok(Flow::Next)
}

/// Lifts BSYNC: waits for the lanes of a register of convergence.
pub fn bsync(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    let number = named(i)?;
    match convergence(cx, number) {
        Some(register) => Ok(Flow::Converge(number as u8, cx.b.rf_read(register))),
        None => Ok(Flow::Next),
    }
}

/// Lanes that leave a register of convergence.
pub struct Leaving {
    pub register: u8,
    /// The lanes whose copies of the register change: the lanes that the first leaving lane's copy
    /// names. In a function that has saved the register, it names other lanes.
    pub participants: Value,
    /// All other lanes than those that leave, as a word.
    pub staying: Value,
}

impl Leaving {
    /// Returns the lanes that leave at a BREAK. `None`: nothing reads the register.
    pub fn at(cx: &mut Cx<'_>, i: &Instruction) -> Result<Option<Leaving>, Unsupported> {
        let number = named(i)?;
        let Some(register) = convergence(cx, number) else { return Ok(None) };
        let lanes = taking(cx, i);
        let lanes = super::warp::ballot(cx, lanes);
        let staying = cx.b.not(lanes);
        let own = cx.b.rf_read(register);
        let participants = of_first_lane(cx, own);
        let participants = cx.b.zero_extend(Type::I64, participants);
        let participants = cx.b.to_mask(participants);
        Ok(Some(Leaving { register: number as u8, participants, staying }))
    }

    /// Removes the lanes from what a register holds in some of the participants, `None`: in all.
    pub fn remove(&self, cx: &mut Cx<'_>, from: warploom_ir::Reg, wanted: Option<Value>) {
        let guard = cx.b.guard();
        cx.b.set_guard(None);
        cx.b.set_nomask(true);
        let before = cx.b.rf_read(from);
        let after = cx.b.and(before, self.staying);
        let lanes = match wanted {
            Some(wanted) => cx.b.and(wanted, self.participants),
            None => self.participants,
        };
        let after = cx.b.select(lanes, after, before);
        cx.b.rf_write(from, after);
        cx.b.set_nomask(false);
        cx.b.set_guard(guard);
    }
}

/// Lifts BREAK: the executing lanes leave a register of convergence, of which each lane has a copy.
pub fn break_(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    if let Some(leaving) = Leaving::at(cx, i)?
        && let Some(register) = convergence(cx, leaving.register.into())
    {
        leaving.remove(cx, register, None);
    }
    Ok(Flow::Next)
}

/// Lifts BMOV from a register of convergence.
pub fn bmov_from(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    let number = i.field(Field::barrier_register).ok_or(Unsupported)?;
    let to_convergence = i.source(Role::E).is_some();
    if i.barrier_register() == BarrierRegister::Mactive {
        let lanes = Mask::Lanes(cx.executing());
        let lanes = super::warp::ballot(cx, lanes);
        if to_convergence {
            let to = convergence(cx, named(i)?).ok_or(Unsupported)?;
            cx.b.rf_write(to, lanes);
        } else {
            cx.set(i.d(), lanes);
        }
        return Ok(Flow::Next);
    }
    if number >= u64::from(super::CONVERGENCE_REGISTERS) {
        return Err(Unsupported);
    }
    let Some(register) = convergence(cx, number) else { return Err(Unsupported) };
    let value = cx.b.rf_read(register);
    if to_convergence {
        let to = convergence(cx, named(i)?).ok_or(Unsupported)?;
        cx.b.rf_write(to, value);
    } else {
        cx.set(i.d(), value);
    }
    if i.clear() {
        let zero = cx.int(0);
        cx.b.rf_write(register, zero);
    }
    Ok(Flow::Next)
}

/// Makes other lanes of the launched warp active, even lanes that wait or have exited, until the
/// code names the lanes before: their registers take part in what quads compute.
fn activate(cx: &mut Cx<'_>, lanes: Value, whole_quads: bool) -> Lifted {
    // An activation by only some lanes has no meaning.
    if cx.guard() != Mask::Always {
        return Err(Unsupported);
    }
    let lanes = of_first_lane(cx, lanes);
    let mut lanes = cx.b.zero_extend(Type::I64, lanes);
    if whole_quads {
        for distance in [1, 2] {
            let distance = cx.constant(Type::I64, distance);
            let shifted = cx.b.shr_u(lanes, distance);
            lanes = cx.b.or(lanes, shifted);
        }
        let firsts = cx.constant(Type::I64, 0x1111_1111);
        let quads = cx.b.and(lanes, firsts);
        let quad = cx.constant(Type::I64, 15);
        lanes = cx.b.mul(quads, quad);
    }
    let lanes = cx.b.to_mask(lanes);
    let launched = cx.b.special(Special::LaunchMask);
    let lanes = cx.b.and(lanes, launched);
    cx.settle();
    cx.set_active(lanes);
    Ok(Flow::Next)
}

/// Lifts BMOV to a register of convergence, or to the active lanes.
pub fn bmov_to(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    let number = i.field(Field::barrier_register).ok_or(Unsupported)?;
    if i.barrier_register() == BarrierRegister::Mactive {
        let from = convergence(cx, named(i)?).ok_or(Unsupported)?;
        let lanes = cx.b.rf_read(from);
        return activate(cx, lanes, i.pquad());
    }
    if number >= u64::from(super::CONVERGENCE_REGISTERS) || i.pquad() {
        return Err(Unsupported);
    }
    let register = convergence(cx, number).ok_or(Unsupported)?;
    let value = match i.source(Role::E) {
        Some(_) => {
            let from = convergence(cx, named(i)?).ok_or(Unsupported)?;
            cx.b.rf_read(from)
        }
        None => cx.word(i.b()),
    };
    cx.b.rf_write(register, value);
    Ok(Flow::Next)
}

/// Returns the address of a pair of registers plus an offset.
fn address(cx: &mut Cx<'_>, source: Source, offset: u64) -> Value {
    let register = cx.wide(source);
    let offset = cx.constant(Type::I64, offset);
    let address = cx.b.add(register, offset);
    cx.b.splat(address)
}

/// Lifts BRX and BRXU: to Ra + offset + the next address.
pub fn brx(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    let offset = (i.code_offset() as u64).wrapping_add(cx.pc).wrapping_add(WORD_BYTES);
    Ok(Flow::Indirect(address(cx, i.a(), offset)))
}

/// Lifts JMX and JMXU: to the absolute address Ra + offset.
pub fn jmx(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    Ok(Flow::Indirect(address(cx, i.a(), i.code_offset() as u64)))
}

/// Lifts CALL. The code before it has put the return address into registers.
pub fn call(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    let offset = match i.field(Field::code_offset) {
        Some(_) => Some(i.code_offset() as u64),
        None => i.raw_target(cx.pc),
    };
    match (i.source(Role::A), i.source(Role::B), offset) {
        (None, None, Some(target)) => Ok(Flow::Call(target)),
        (Some(a), None, Some(offset)) => Ok(Flow::CallIndirect(address(cx, a, offset))),
        (None, Some(b), _) => Ok(Flow::CallIndirect(address(cx, b, 0))),
        _ => Err(Unsupported),
    }
}

/// Lifts RET: to the address in a pair of registers, which counts from the target.
pub fn ret(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    let offset = target(cx, i)?;
    Ok(Flow::Return(address(cx, i.a(), offset)))
}

pub fn exit(_: &mut Cx<'_>, _: &Instruction) -> Lifted {
    Ok(Flow::Exit)
}

/// Lifts BPT.TRAP; other kinds are for debuggers.
pub fn bpt(_: &mut Cx<'_>, i: &Instruction) -> Lifted {
    match i.breakpoint_kind() {
        BreakpointKind::Trap => Ok(Flow::Trap(TrapKind::Guest)),
        _ => Err(Unsupported),
    }
}

/// Lifts WARPSYNC: waits for the lanes of a mask.
pub fn warpsync(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    Ok(Flow::Meet(cx.word(i.b())))
}

/// Returns an operand of a barrier as one number for the warp: the number of the first lane.
fn operand(cx: &mut Cx<'_>, source: Source) -> Value {
    if let Some(imm) = source.imm() {
        return cx.int(imm as u32);
    }
    let value = cx.raw(source);
    of_first_lane(cx, value)
}

/// Returns the number of a barrier, and the number of its threads.
fn numbers(cx: &mut Cx<'_>, i: &Instruction) -> (Value, Option<Value>) {
    // The number is a field, or a register; the count then is C.
    let (id, count) = match i.field(Field::barrier) {
        Some(number) => (cx.int(number as u32), i.source(Role::B)),
        None => {
            let id = operand(cx, i.b());
            (id, i.source(Role::C))
        }
    };
    let bound = cx.int(15);
    let id = cx.b.and(id, bound);
    // A count of 0, or none, means all threads of the block.
    let counted = count.filter(|threads| {
        threads.imm() != Some(0) && !threads.reg().is_some_and(|reg| reg.is_zero())
    });
    let threads = counted.map(|threads| operand(cx, threads));
    (id, threads)
}

fn barrier(
    cx: &mut Cx<'_>,
    i: &Instruction,
    kind: BarrierKind,
    predicate: Option<Value>,
) -> Lifted {
    let (id, threads) = numbers(cx, i);
    Ok(Flow::Barrier(Barrier { kind, counts: BarrierCounts::Warps, id, threads, predicate }))
}

/// Lifts BAR in all forms but `.SCAN`.
pub fn bar(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    let format = i.row.format;
    if format.starts_with("BAR.RED") {
        let kind = match i.barrier_reduction() {
            BarrierReduction::Popc => BarrierKind::Popcount,
            BarrierReduction::And => BarrierKind::And,
            BarrierReduction::Or => BarrierKind::Or,
            BarrierReduction::Reserved => return Err(Unsupported),
        };
        let (choice, lanes) = (cx.pred(i.ps()), Mask::Lanes(cx.executing()));
        let predicate = cx.and(lanes, choice).value(&mut cx.b);
        return barrier(cx, i, kind, Some(predicate));
    }
    if format.starts_with("BAR.ARV") {
        return barrier(cx, i, BarrierKind::Arrive, None);
    }
    if format.starts_with("BAR.SYNCALL") || format.starts_with("BAR.SCAN") {
        return Err(Unsupported);
    }
    barrier(cx, i, BarrierKind::Sync, None)
}
