//! Arithmetic, conversions, matrices.

use super::{Line, line, sub};
use crate::lift::{arithmetic, dots, logic, math, matrix, moves};

/// Source, facts `visa-semantics.md` 3: no document has the hardware's error.
const MATH: &str = "the result is the exact one, rounded once; the hardware's may differ by some units in the last place";
const DOT: &str = "a fused form may round otherwise";

#[rustfmt::skip]
pub(super) const LINES: &[Line] = &[
    line("add",     0x01, "E P D s s",   "").lift(arithmetic::add),
    line("avg",     0x02, "E P D s s",   "").lift(arithmetic::avg),
    line("div",     0x03, "E P D s s",   "").lift(arithmetic::div).approximate(MATH),
    line("dp2",     0x04, "E P D s s",   "").lift(dots::dp2).approximate(DOT),
    line("dp3",     0x05, "E P D s s",   "").lift(dots::dp3).approximate(DOT),
    line("dp4",     0x06, "E P D s s",   "").lift(dots::dp4).approximate(DOT),
    line("dph",     0x07, "E P D s s",   "").lift(dots::dph).approximate(DOT),
    line("exp",     0x08, "E P D s",     "").lift(math::exp).approximate(MATH),
    line("frc",     0x09, "E P D s",     "").lift(math::fraction),
    line("line",    0x0a, "E P D s s",   "").lift(dots::line).approximate(DOT),
    line("log",     0x0b, "E P D s",     "").lift(math::log).approximate(MATH),
    line("mad",     0x0c, "E P D s s s", "").lift(arithmetic::mad),
    line("mulh",    0x0d, "E P D s s",   "").lift(arithmetic::mulh),
    line("lrp",     0x0e, "E P D s s s", "").lift(math::lrp).approximate(DOT),
    line("mod",     0x0f, "E P D s s",   "").lift(arithmetic::modulo),
    line("mul",     0x10, "E P D s s",   "").lift(arithmetic::mul),
    line("pow",     0x11, "E P D s s",   "").lift(math::pow).approximate(MATH),
    line("rndd",    0x12, "E P D s",     "").lift(math::floor),
    line("rndu",    0x13, "E P D s",     "").lift(math::ceil),
    line("rnde",    0x14, "E P D s",     "").lift(math::nearest),
    line("rndz",    0x15, "E P D s",     "").lift(math::truncate),
    line("sad2",    0x16, "E P D s s",   "").lift(dots::sad2),
    line("sin",     0x17, "E P D s",     "").lift(math::sin).approximate(MATH),
    line("cos",     0x18, "E P D s",     "").lift(math::cos).approximate(MATH),
    line("sqrt",    0x19, "E P D s",     "").lift(math::root).approximate(MATH),
    line("rsqrt",   0x1a, "E P D s",     "").lift(math::reciprocal_root).approximate(MATH),
    line("inv",     0x1b, "E P D s",     "").lift(math::inverse).approximate(MATH),
    line("fcvt",    0x1d, "E D s",       "").lift(dots::fcvt),
    line("srnd",    0x1e, "E D s s",     "").lift(dots::srnd),
    line("lzd",     0x1f, "E P D s",     "").lift(logic::lzd),
    sub("min",      0x45, 0, "E x D s s", "").lift(moves::min),
    sub("max",      0x45, 1, "E x D s s", "").lift(moves::max),
    line("addc",    0x49, "E P D D s s", "").lift(arithmetic::addc),
    line("subb",    0x4a, "E P D D s s", "").lift(arithmetic::subb),
    line("sad2add", 0x6a, "E P D s s s", "").lift(dots::sad2add),
    line("plane",   0x6b, "E P D s s",   "").lift(dots::plane).approximate(DOT),
    line("sqrtm",   0x7e, "E P D s",     "").lift(math::root),
    line("divm",    0x7f, "E P D s s",   "").lift(arithmetic::exact_div),
    line("dp4a",    0x82, "E P D s s s", "").lift(dots::dp4a),
    line("add3",    0x84, "E P D s s s", "").lift(arithmetic::add3),
    line("madw",    0x91, "E P D s s s", "").lift(arithmetic::madw),
    line("add3.o",  0x92, "E P D s s s", "").lift(arithmetic::add3_overflow),
    line("invm",    0x9b, "E D D s",     "").lift(math::first_inverse).approximate(MATH),
    line("rsqtm",   0x9c, "E D D s",     "").lift(math::first_root).approximate(MATH),
    line("dpas",    0x83, "E r r r s d", ".dpas:4 E 0 1 2 bare:3").lift(matrix::dpas).approximate(DOT),
    line("dpasw",   0x1c, "E r r r s d", ".dpas:4 E 0 1 2 bare:3").trap(),
    line("tanh",    0x96, "E P D s",     "").trap(),
    line("sigm",    0x97, "E P D s",     "").trap(),
    line("lfsr",    0x98, "E P b D s s", ".lfsr:0 E 1 2 3").trap(),
    line("dnscl",   0x9a, "E P b b b r r r r", ".type:0 .mode:1 .round:2 E 3 4 5 6").trap(),
    line("bdpas",   0x99, "E r r r r s s d", ".dpas:6 E 0 1 2 3 bare:4 bare:5").trap(),
];
