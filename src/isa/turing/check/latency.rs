//! The cycles from the issue of an instruction of fixed latency to the issue of one that may use its
//! result.
//!
//! Source: facts, `sass.md`, "Scheduling": the least distances in code of ptxas. An instruction
//! that is not listed has a variable latency, or its latency is not known.

use warploom_sass::lift::Touched;

use crate::Opcode;

/// How soon results may be used, in cycles.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Latency {
    pub register: u32,
    /// A predicate as an operand.
    pub predicate: u32,
    /// A predicate as a guard.
    pub guard: u32,
}

impl Latency {
    /// Returns the cycles after which all uses are right.
    pub fn longest(self) -> u32 {
        self.register.max(self.predicate).max(self.guard)
    }

    /// Returns the latency of a register or predicate as a guard, or else as an operand.
    pub fn of(self, place: u16, as_guard: bool) -> u32 {
        match (Touched::is_register(place), as_guard) {
            (true, _) => self.register,
            (false, true) => self.guard,
            (false, false) => self.predicate,
        }
    }
}

/// Returns the latency of an instruction for a GPU's model; 0 if it is not known.
pub fn latency(opcode: Opcode, model: u8) -> Latency {
    use Opcode::{
        Cs2r, F2fp, Fadd, Ffma, Fmnmx, Fmul, Fsel, Fsetp, Hadd2, Hset2, Hsetp2, Iabs, Iadd3, Imad,
        ImadWide, Imnmx, Isetp, Lea, Lop3, Mov, Plop3, Prmt, Sel, Shf, Uiadd3, Uimad, Uisetp, Ulea,
        Ulop3, Uprmt, Usel, Ushf,
    };
    // The first column is Turing, the second are later models.
    let by_model = |turing: u32, later: u32| if model == 75 { turing } else { later };
    let guard = by_model(12, 13);
    match opcode {
        Iadd3 | Lop3 | Shf | Sel | Mov | Prmt | Iabs | Imnmx | Lea | Fadd | Fmul | Ffma | Fmnmx
        | Fsel | Fsetp | Isetp | Plop3 | Imad | ImadWide | F2fp => {
            Latency { register: 4, predicate: 4, guard }
        }
        Hadd2 | Hset2 | Hsetp2 => {
            Latency { register: by_model(8, 4), predicate: by_model(8, 4), guard }
        }
        Cs2r => Latency { register: 5, ..Latency::default() },
        Uiadd3 | Uimad | Ulea | Ulop3 | Uprmt | Usel | Ushf | Uisetp => {
            Latency { register: 4, predicate: 4, guard: 11 }
        }
        _ => Latency::default(),
    }
}
