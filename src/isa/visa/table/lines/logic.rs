//! Logic, shifts, moves, comparisons, state.

use super::{Line, line};

#[rustfmt::skip]
pub(super) const LINES: &[Line] = &[
    line("and",       0x20, "E P D s s",     ""),
    line("or",        0x21, "E P D s s",     ""),
    line("xor",       0x22, "E P D s s",     ""),
    line("not",       0x23, "E P D s",       ""),
    line("shl",       0x24, "E P D s s",     ""),
    line("shr",       0x25, "E P D s s",     ""),
    line("asr",       0x26, "E P D s s",     ""),
    line("cbit",      0x27, "E P D s",       ""),
    line("addr_add",  0x28, "E D & s",       ""),
    line("mov",       0x29, "E P D s",       ""),
    line("sel",       0x2a, "E P D s s",     ""),
    line("setp",      0x2b, "E D s",         ""),
    line("cmp",       0x2c, "E b D s s",     ".rel:0 E 1 2 3"),
    line("movs",      0x2d, "E D s",         ""),
    line("fbl",       0x2e, "E P D s",       ""),
    line("fbh",       0x2f, "E P D s",       ""),
    line("bfe",       0x46, "E P D s s s",   ""),
    line("bfi",       0x47, "E P D s s s s", ""),
    line("bfrev",     0x48, "E P D s",       ""),
    line("rol",       0x80, "E P D s s",     ""),
    line("ror",       0x81, "E P D s s",     ""),
    line("bfn",       0x85, "E P D s s s b", ".x:4 E 0 1 2 3"),
    line("shfl_idx4", 0x95, "E P r s s",     "").trap(),
];
