//! Sampler messages. Facts, `visa-semantics.md` 7, says which are executed.

use super::{Line, line, sub};
use crate::lift::surface;

const SAMPLE: &str = "o E P b aoff M S r pair R";
const LOAD: &str = "o E P b aoff S r pair R";
const GATHER: &str = "o E P b aoff M S r pair R";
const SAMPLE_TEXT: &str = ".flags:0 .ch:1 E _ 2 3 4 5 6 rest:7";
const LOAD_TEXT: &str = ".flags:0 .ch:1 E _ 2 3 4 5 rest:6";
const GATHER_TEXT: &str = ".flags:0 .one:1 E 2 3 4 5 6 rest:7";

#[rustfmt::skip]
pub(super) const LINES: &[Line] = &[
    sub("sample_3d", 0x6d, 0, SAMPLE, SAMPLE_TEXT).lift(surface::sample_3d),
    sub("sample_b", 0x6d, 1, SAMPLE, SAMPLE_TEXT).lift(surface::sample_b),
    sub("sample_l", 0x6d, 2, SAMPLE, SAMPLE_TEXT).lift(surface::sample_l),
    sub("sample_c", 0x6d, 3, SAMPLE, SAMPLE_TEXT).lift(surface::sample_c),
    sub("sample_d", 0x6d, 4, SAMPLE, SAMPLE_TEXT).lift(surface::sample_d),
    sub("sample_b_c", 0x6d, 5, SAMPLE, SAMPLE_TEXT).trap(),
    sub("sample_l_c", 0x6d, 6, SAMPLE, SAMPLE_TEXT).trap(),
    sub("lod", 0x6d, 9, SAMPLE, SAMPLE_TEXT).trap(),
    sub("sample+killpix", 0x6d, 12, SAMPLE, SAMPLE_TEXT).trap(),
    sub("sample_d_c_mlod", 0x6d, 17, SAMPLE, SAMPLE_TEXT).trap(),
    sub("sample_mlod", 0x6d, 18, SAMPLE, SAMPLE_TEXT).trap(),
    sub("sample_c_mlod", 0x6d, 19, SAMPLE, SAMPLE_TEXT).trap(),
    sub("sample_d_c", 0x6d, 20, SAMPLE, SAMPLE_TEXT).trap(),
    sub("sample_lz", 0x6d, 24, SAMPLE, SAMPLE_TEXT).lift(surface::sample_lz),
    sub("sample_c_lz", 0x6d, 25, SAMPLE, SAMPLE_TEXT).lift(surface::sample_c_lz),
    sub("sample_po", 0x6d, 32, SAMPLE, SAMPLE_TEXT).trap(),
    sub("sample_po_b", 0x6d, 33, SAMPLE, SAMPLE_TEXT).trap(),
    sub("sample_po_l", 0x6d, 34, SAMPLE, SAMPLE_TEXT).trap(),
    sub("sample_po_c", 0x6d, 35, SAMPLE, SAMPLE_TEXT).trap(),
    sub("sample_po_d", 0x6d, 36, SAMPLE, SAMPLE_TEXT).trap(),
    sub("sample_po_l_c", 0x6d, 38, SAMPLE, SAMPLE_TEXT).trap(),
    sub("sample_po_lz", 0x6d, 56, SAMPLE, SAMPLE_TEXT).trap(),
    sub("sample_po_c_lz", 0x6d, 57, SAMPLE, SAMPLE_TEXT).trap(),
    sub("sample_po_b_c", 0x6d, 58, SAMPLE, SAMPLE_TEXT).trap(),
    sub("sample_po_d_c", 0x6d, 59, SAMPLE, SAMPLE_TEXT).trap(),
    sub("load_3d", 0x6e, 7, LOAD, LOAD_TEXT).lift(surface::load_3d),
    sub("load_lz", 0x6e, 26, LOAD, LOAD_TEXT).lift(surface::load_lz),
    sub("load_l", 0x6e, 27, LOAD, LOAD_TEXT).trap(),
    sub("load_2dms_w", 0x6e, 28, LOAD, LOAD_TEXT).trap(),
    sub("load_mcs", 0x6e, 29, LOAD, LOAD_TEXT).trap(),
    sub("sample4", 0x6f, 8, GATHER, GATHER_TEXT).lift(surface::sample4),
    sub("sample4_l", 0x6f, 13, GATHER, GATHER_TEXT).trap(),
    sub("sample4_b", 0x6f, 14, GATHER, GATHER_TEXT).trap(),
    sub("sample4_i", 0x6f, 15, GATHER, GATHER_TEXT).trap(),
    sub("sample4_c", 0x6f, 16, GATHER, GATHER_TEXT).lift(surface::sample4_c),
    sub("sample4_po", 0x6f, 17, GATHER, GATHER_TEXT).trap(),
    sub("sample4_po_c", 0x6f, 18, GATHER, GATHER_TEXT).trap(),
    sub("sample4_i_c", 0x6f, 21, GATHER, GATHER_TEXT).trap(),
    sub("sample4_l_c", 0x6f, 23, GATHER, GATHER_TEXT).trap(),
    sub("sample4_po", 0x6f, 40, GATHER, GATHER_TEXT).trap(),
    sub("sample4_po_l", 0x6f, 45, GATHER, GATHER_TEXT).trap(),
    sub("sample4_po_b", 0x6f, 46, GATHER, GATHER_TEXT).trap(),
    sub("sample4_po_i", 0x6f, 47, GATHER, GATHER_TEXT).trap(),
    sub("sample4_po_c", 0x6f, 48, GATHER, GATHER_TEXT).trap(),
    sub("sample4_po_i_c", 0x6f, 53, GATHER, GATHER_TEXT).trap(),
    sub("sample4_po_l_c", 0x6f, 55, GATHER, GATHER_TEXT).trap(),
    sub("resinfo", 0x70, 10, "x E b S r r", ".ch:0 E _ 1 2 3").lift(surface::resinfo),
    sub("sampleinfo", 0x70, 11, "x E b S r", ".ch:0 E _ 1 2").trap(),
    line("sample", 0x40, "b M S r r r r", ".chs:0 1 2 3 4 5 6").trap(),
    line("sample_unorm", 0x41, "b M S s s s s r", ".chf:0 1 2 3 4 5 6 7").trap(),
    line("load", 0x42, "b S r r r r", ".chs:0 1 2 3 4 5").trap(),
    line("avs", 0x43, "b M S s s s s s s s b s b s r", ".ch:0 2 1 3 4 5 6 7 8 9 10 11 12 13 14").trap(),
];
