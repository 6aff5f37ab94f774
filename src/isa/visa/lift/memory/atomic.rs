//! Atomic operations of old messages, by their numbers, and of LSC, by their names. Facts,
//! `visa-semantics.md` 7, "Atomics" and "LSC"; seed `intel-typed-atomic.md`.

use warploom_ir::{Access, AtomicOp as Op, Type, Value};

use super::super::Cx;
use super::item::integer;
use crate::words::{Atomic, AtomicOp};

/// The origin of an operand of the IR's operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Operand {
    Src0,
    Src1,
    /// The integer 1.
    One,
    /// The first source with the opposite sign.
    Negated,
}

/// An operation on a cell of memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Operation {
    op: Op,
    /// The type of the cell in memory.
    pub cell: Type,
    value: Operand,
    compare: Option<Operand>,
    /// Whether the operation returns the new value, which is the old value less one.
    gives_new: bool,
}

/// Returns the float type of `bits` bits.
fn float(bits: u32) -> Type {
    match bits {
        16 => Type::F16,
        32 => Type::F32,
        _ => Type::F64,
    }
}

impl Operation {
    fn new(op: Op, cell: Type, value: Operand) -> Operation {
        Operation { op, cell, value, compare: None, gives_new: false }
    }

    /// Returns the operation of a message that is not LSC's.
    ///
    /// It compares with the second source and writes the first. Operations on floats compare with
    /// the first source and write the second.
    pub fn old(atomic: Atomic) -> Operation {
        let bits = u32::from(atomic.bits);
        let (whole, part) = (integer(bits / 8), float(bits));
        let simple = |op| Operation::new(op, whole, Operand::Src0);
        let float = |op| Operation::new(op, part, Operand::Src0);
        let one = |op| Operation::new(op, whole, Operand::One);
        match atomic.op {
            AtomicOp::Add => simple(Op::Add),
            AtomicOp::Sub => simple(Op::Sub),
            AtomicOp::Inc => one(Op::Add),
            AtomicOp::Dec => one(Op::Sub),
            AtomicOp::Min => simple(Op::MinU),
            AtomicOp::Max => simple(Op::MaxU),
            AtomicOp::Xchg => simple(Op::Exchange),
            AtomicOp::Cmpxchg => {
                Operation { compare: Some(Operand::Src1), ..simple(Op::CompareExchange) }
            }
            AtomicOp::And => simple(Op::And),
            AtomicOp::Or => simple(Op::Or),
            AtomicOp::Xor => simple(Op::Xor),
            AtomicOp::Imin => simple(Op::MinS),
            AtomicOp::Imax => simple(Op::MaxS),
            AtomicOp::Predec => Operation { gives_new: true, ..one(Op::Sub) },
            AtomicOp::Fmax => float(Op::FMax),
            AtomicOp::Fmin => float(Op::FMin),
            AtomicOp::Fcmpwr => Operation {
                value: Operand::Src1,
                compare: Some(Operand::Src0),
                ..float(Op::FCompareExchange)
            },
            AtomicOp::Fadd => float(Op::FAdd { flush: false }),
            AtomicOp::Fsub => {
                Operation { value: Operand::Negated, ..float(Op::FAdd { flush: false }) }
            }
        }
    }

    /// Returns the operation of an LSC message, by the name behind `lsc_atomic_`, on `bits` bits.
    ///
    /// Returns None if the name is not an operation on a cell.
    pub fn lsc(name: &str, bits: u32) -> Option<Operation> {
        let (whole, part) = (integer(bits / 8), float(bits));
        let simple = |op| Operation::new(op, whole, Operand::Src0);
        let float = |op| Operation::new(op, part, Operand::Src0);
        let brain = |op| Operation::new(op, Type::I16, Operand::Src0);
        let exchange = |operation| Operation {
            value: Operand::Src1,
            compare: Some(Operand::Src0),
            ..operation
        };
        Some(match name {
            "iinc" => Operation::new(Op::Add, whole, Operand::One),
            "idec" => Operation::new(Op::Sub, whole, Operand::One),
            "store" => simple(Op::Exchange),
            "iadd" => simple(Op::Add),
            "isub" => simple(Op::Sub),
            "smin" => simple(Op::MinS),
            "smax" => simple(Op::MaxS),
            "umin" => simple(Op::MinU),
            "umax" => simple(Op::MaxU),
            "icas" => exchange(simple(Op::CompareExchange)),
            "fadd" => float(Op::FAdd { flush: false }),
            "fsub" => Operation { value: Operand::Negated, ..float(Op::FAdd { flush: false }) },
            "fmin" => float(Op::FMin),
            "fmax" => float(Op::FMax),
            "fcas" => exchange(float(Op::FCompareExchange)),
            "and" => simple(Op::And),
            "or" => simple(Op::Or),
            "xor" => simple(Op::Xor),
            "bfadd" if bits == 16 => brain(Op::BrainFAdd),
            "bfsub" if bits == 16 => Operation { value: Operand::Negated, ..brain(Op::BrainFAdd) },
            "bfmin" if bits == 16 => brain(Op::BrainFMin),
            "bfmax" if bits == 16 => brain(Op::BrainFMax),
            _ => return None,
        })
    }

    pub fn bytes(self) -> u32 {
        self.cell.bytes()
    }

    /// Returns an operand of the IR's operation. Sources are integers of registers, which may be
    /// wider than the cell.
    fn operand(self, cx: &mut Cx<'_>, operand: Operand, sources: [Value; 2]) -> Value {
        let bits = integer(self.bytes());
        let value = match operand {
            Operand::One => return cx.constant(bits, 1),
            Operand::Src0 | Operand::Negated => sources[0],
            Operand::Src1 => sources[1],
        };
        let mut value = if cx.b.ty(value).ty == bits { value } else { cx.b.trunc(bits, value) };
        if operand == Operand::Negated {
            let sign = cx.constant(bits, 1 << (8 * self.bytes() - 1));
            value = cx.b.xor(value, sign);
        }
        if self.cell.is_float() { cx.b.bitcast(self.cell, value) } else { value }
    }

    /// Performs the operation. Returns the message's result, an integer of type `register`.
    ///
    /// The result is 0 in lanes without an access.
    pub fn perform(
        self,
        cx: &mut Cx<'_>,
        access: Access,
        sources: [Value; 2],
        register: Type,
    ) -> Value {
        let value = self.operand(cx, self.value, sources);
        let compare = self.compare.map(|compare| self.operand(cx, compare, sources));
        let access = Access { align: self.bytes() as u8, ..access };
        let old = cx.b.atomic(access, self.op, value, compare);
        let bits = integer(self.bytes());
        let mut old = if self.cell.is_float() { cx.b.bitcast(bits, old) } else { old };
        if self.gives_new {
            let one = cx.constant(bits, 1);
            let new = cx.b.sub(old, one);
            old = match access.guard {
                Some(inside) => {
                    let zero = cx.constant(bits, 0);
                    cx.b.select(inside, new, zero)
                }
                None => new,
            };
        }
        if bits == register { old } else { cx.b.zero_extend(register, old) }
    }
}
