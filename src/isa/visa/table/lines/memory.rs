//! Memory messages that are not LSC's.

use super::{Line, line, sub};
use crate::lift::{memory, surface};

#[rustfmt::skip]
pub(super) const LINES: &[Line] = &[
    line("oword_ld",           0x35, "b b S s r", ".mod:1 ow:0 2 3 4").lift(memory::oword_ld),
    line("oword_st",           0x36, "b S s r",   "ow:0 1 2 3").lift(memory::oword_st),
    line("oword_ld_unaligned", 0x3c, "b b S s r", ".mod:1 ow:0 2 3 4").lift(memory::oword_ld_unaligned),
    line("gather",             0x39, "b b e S s r r", ".mod:1 .elt:0 E 2 3 4 5").lift(memory::gather),
    line("scatter",            0x3a, "b e S s r r",   ".elt:0 E 1 2 3 4").lift(memory::scatter),
    line("gather4_typed",      0x4b, "E P b S r r r r r", ".ch:0 E 1 2 3 4 5 6").lift(surface::gather4_typed),
    line("scatter4_typed",     0x4c, "E P b S r r r r r", ".ch:0 E 1 2 3 4 5 6").lift(surface::scatter4_typed),
    line("typed_atomic",       0x73, "b E P S r r r r r r r", ".at:0 E 1 2 3 4 5 6 7 8").lift(surface::typed_atomic),
    line("dword_atomic",       0x7d, "b E P S r r r r", ".at:0 E 1 2 3 4 5").lift(memory::dword_atomic),
    line("gather4_scaled",     0x74, "E P b w S s r r", ".ch:0 E 2 3 4 5").lift(memory::gather4_scaled),
    line("scatter4_scaled",    0x75, "E P b w S s r r", ".ch:0 E 2 3 4 5").lift(memory::scatter4_scaled),
    line("gather_scaled",      0x78, "E P b b w S s r r", ".num:1 E 3 4 5 6").lift(memory::gather_scaled),
    line("scatter_scaled",     0x79, "E P b b w S s r r", ".num:1 E 3 4 5 6").lift(memory::scatter_scaled),
    line("qw_gather",          0x86, "E P b S r r", ".num:0 E 1 2 3").lift(memory::qw_gather),
    line("qw_scatter",         0x87, "E P b S r r", ".num:0 E 1 2 3").lift(memory::qw_scatter),
    sub("svm_block_ld",        0x4e, 1, "x b s r", ".al:0 ow:0 1 2").lift(memory::svm_block_ld),
    sub("svm_block_st",        0x4e, 2, "x b s r", ".al:0 ow:0 1 2").lift(memory::svm_block_st),
    sub("svm_gather",          0x4e, 3, "x E P b b r r", ".blk:0 .num:1 E 2 3").lift(memory::svm_gather),
    sub("svm_scatter",         0x4e, 4, "x E P b b r r", ".blk:0 .num:1 E 2 3").lift(memory::svm_scatter),
    sub("svm_atomic",          0x4e, 5, "x E P b r r r r", ".at:0 E 1 4 2 3").lift(memory::svm_atomic),
    sub("svm_gather4scaled",   0x4e, 6, "x E P b w s r r", ".ch:0 E 2 3 4").lift(memory::svm_gather4scaled),
    sub("svm_scatter4scaled",  0x4e, 7, "x E P b w s r r", ".ch:0 E 2 3 4").lift(memory::svm_scatter4scaled),
];
