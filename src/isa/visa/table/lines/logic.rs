//! Logic, shifts, moves, comparisons, state.

use super::{Line, line};
use crate::lift::{logic, moves};

#[rustfmt::skip]
pub(super) const LINES: &[Line] = &[
    line("and",       0x20, "E P D s s",     "").lift(logic::and),
    line("or",        0x21, "E P D s s",     "").lift(logic::or),
    line("xor",       0x22, "E P D s s",     "").lift(logic::xor),
    line("not",       0x23, "E P D s",       "").lift(logic::not),
    line("shl",       0x24, "E P D s s",     "").lift(logic::shl),
    line("shr",       0x25, "E P D s s",     "").lift(logic::shr),
    line("asr",       0x26, "E P D s s",     "").lift(logic::asr),
    line("cbit",      0x27, "E P D s",       "").lift(logic::cbit),
    line("addr_add",  0x28, "E D & s",       "").lift(moves::addr_add),
    line("mov",       0x29, "E P D s",       "").lift(moves::mov),
    line("sel",       0x2a, "E P D s s",     "").lift(moves::sel),
    line("setp",      0x2b, "E D s",         "").lift(moves::setp),
    line("cmp",       0x2c, "E b D s s",     ".rel:0 E 1 2 3").lift(moves::cmp),
    line("movs",      0x2d, "E D s",         "").lift(moves::movs),
    line("fbl",       0x2e, "E P D s",       "").lift(logic::fbl),
    line("fbh",       0x2f, "E P D s",       "").lift(logic::fbh),
    line("bfe",       0x46, "E P D s s s",   "").lift(logic::bfe),
    line("bfi",       0x47, "E P D s s s s", "").lift(logic::bfi),
    line("bfrev",     0x48, "E P D s",       "").lift(logic::bfrev),
    line("rol",       0x80, "E P D s s",     "").lift(logic::rol),
    line("ror",       0x81, "E P D s s",     "").lift(logic::ror),
    line("bfn",       0x85, "E P D s s s b", ".x:4 E 0 1 2 3").lift(logic::bfn),
    line("shfl_idx4", 0x95, "E P r s s",     "").trap(),
];
