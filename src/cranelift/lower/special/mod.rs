//! Functions that hardware approximates, on the lanes of a chunk. `tables` has the functions of
//! [`warploom_ir::special`], `polynomials` the functions of [`warploom_ir::elementary`]. Both
//! follow the definition operation by operation; host vectors compute each operation as the
//! definition does.

mod polynomials;
mod tables;

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{InstBuilder, Value as Clif, types};
use cranelift_frontend::FunctionBuilder;
use warploom_ir::shared::TWO_OVER_PI_PAIRS;
use warploom_ir::{SharedFn, Type, special};

use super::chunk::flags;
use super::int::constant;
use super::tables::Table;
use super::vector;

const SIGN: u32 = 1 << 31;

/// Emits the function of a chunk's lanes, two vectors of words or floats. NaNs among float results
/// have the bits `nan`.
pub(super) fn lanes(
    b: &mut FunctionBuilder,
    function: SharedFn,
    nan: u32,
    x: [Clif; 2],
) -> [Clif; 2] {
    let nan = if function.ty() == Type::F32 { nan } else { special::NAN };
    let x = x.map(|x| vector::cast(b, types::I32X4, x));
    let mut special = Special { b, nan };
    let result = match function {
        SharedFn::TableEx2 => special.power_by_table(x),
        SharedFn::TableLg2 => special.logarithm_by_table(x),
        SharedFn::TableSin | SharedFn::TableCos => special.turn_by_table(function, x),
        SharedFn::TableRcp
        | SharedFn::TableRsq
        | SharedFn::TableSqrt
        | SharedFn::Rcp64High
        | SharedFn::Rsq64High => special.reciprocal_by_table(function, x),
        SharedFn::Ex2 => special.power(x),
        SharedFn::Lg2 => special.logarithm(x),
        SharedFn::SinTurns | SharedFn::CosTurns => special.turns(function == SharedFn::CosTurns, x),
        SharedFn::TwoOverPi => x.map(|x| special.two_over_pi(x)),
        SharedFn::Rcp | SharedFn::Rsq | SharedFn::RsqDenormal | SharedFn::SqrtApprox => {
            unreachable!("vector by vector: see `element`")
        }
    };
    let ty = if function.ty() == Type::F32 { types::F32X4 } else { types::I32X4 };
    result.map(|x| vector::cast(b, ty, x))
}

/// Emits code for a function on vectors.
struct Special<'a, 'f> {
    b: &'a mut FunctionBuilder<'f>,
    nan: u32,
}

impl Special<'_, '_> {
    fn word(&mut self, bits: u32) -> Clif {
        constant(self.b, Type::I32, bits.into(), true)
    }

    fn double(&mut self, x: f64) -> Clif {
        constant(self.b, Type::F64, x.to_bits(), true)
    }

    /// Keeps the bits of `x` that `mask` has.
    fn bits(&mut self, x: Clif, mask: u32) -> Clif {
        let mask = self.word(mask);
        self.b.ins().band(x, mask)
    }

    fn shifted_down(&mut self, x: Clif, by: u32) -> Clif {
        self.b.ins().ushr_imm_u(x, i64::from(by))
    }

    fn shifted_up(&mut self, x: Clif, by: u32) -> Clif {
        self.b.ins().ishl_imm_u(x, i64::from(by))
    }

    fn plus(&mut self, x: Clif, summand: u32) -> Clif {
        let summand = self.word(summand);
        self.b.ins().iadd(x, summand)
    }

    fn is(&mut self, cc: IntCC, x: Clif, than: u32) -> Clif {
        let than = self.word(than);
        self.b.ins().icmp(cc, x, than)
    }

    /// Returns `value` where the condition holds, else `x`.
    fn unless(&mut self, condition: Clif, value: u32, x: Clif) -> Clif {
        let value = self.word(value);
        vector::blend(self.b, condition, value, x)
    }

    /// Casts words to floats.
    fn floats(&mut self, x: Clif) -> Clif {
        vector::cast(self.b, types::F32X4, x)
    }

    fn words(&mut self, x: Clif) -> Clif {
        vector::cast(self.b, types::I32X4, x)
    }

    /// Converts signed words to two vectors of `f64`.
    fn doubles(&mut self, words: Clif) -> [Clif; 2] {
        [self.b.ins().swiden_low(words), self.b.ins().swiden_high(words)]
            .map(|longs| self.b.ins().fcvt_from_sint(types::F64X2, longs))
    }

    /// Returns the low words of two vectors of 64-bit lanes.
    fn low_words(&mut self, longs: [Clif; 2]) -> Clif {
        let [low, high] = longs.map(|longs| vector::cast(self.b, types::I32X4, longs));
        vector::shuffle_words(self.b, low, high, [0, 2, 4, 6])
    }

    /// Returns bits of 2 / pi, lane by lane.
    fn two_over_pi(&mut self, first: Clif) -> Clif {
        let table = Table::TwoOverPi.in_code(self.b);
        let last = self.b.ins().iconst(types::I32, TWO_OVER_PI_PAIRS.len() as i64 - 1);
        (0..4).fold(first, |result, lane| {
            let first = self.b.ins().extractlane(first, lane);
            let number = self.b.ins().ushr_imm_u(first, 5);
            let number = self.b.ins().umin(number, last);
            let number = self.b.ins().uextend(types::I64, number);
            let at = self.b.ins().ishl_imm_u(number, 3);
            let at = self.b.ins().iadd(table, at);
            let pair = self.b.ins().load(types::I64, flags(), at, 0);
            let skipped = self.b.ins().band_imm_u(first, 31);
            let pair = self.b.ins().ishl(pair, skipped);
            let word = self.b.ins().ushr_imm_u(pair, 32);
            let word = self.b.ins().ireduce(types::I32, word);
            self.b.ins().insertlane(result, word, lane)
        })
    }
}
