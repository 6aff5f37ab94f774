//! Instructions of the fixed pipeline, of media and of raw messages, which only decode and print.
//! Facts, `visa.md` 2, and the compiler's reader of binaries.

use super::{Line, line, sub};
use crate::lift::memory;

const RAW_SENDS: &str = "x E P b b b ffid s s r r r";
const RAW_SENDS_TEXT: &str = ".n:3 .n:0 .n:1 .n:2 E 4 5 6 7 8";
const RAW_SEND: &str = "x E P d b b s r r";
const RAW_SEND_TEXT: &str = "E hex:0 1 2 3 4 5";

#[rustfmt::skip]
pub(super) const LINES: &[Line] = &[
    line("media_ld",  0x37, "b S b b b s s r", ".media:0 _ pair:3 1 2 5 6 7").lift(memory::media_ld),
    line("media_st",  0x38, "b S b b b s s r", ".media:0 _ pair:3 1 2 5 6 7").lift(memory::media_st),
    sub("raw_send",        0x5d, 0, RAW_SEND, RAW_SEND_TEXT).trap(),
    sub("raw_sendc",       0x5d, 1, RAW_SEND, RAW_SEND_TEXT).trap(),
    sub("raw_sends",       0x7a, 0, RAW_SENDS, RAW_SENDS_TEXT).trap(),
    sub("raw_sendsc",      0x7a, 1, RAW_SENDS, RAW_SENDS_TEXT).trap(),
    sub("raw_sends_eot",   0x7a, 2, RAW_SENDS, RAW_SENDS_TEXT).trap(),
    sub("raw_sendsc_eot",  0x7a, 3, RAW_SENDS, RAW_SENDS_TEXT).trap(),
    line("rt_write",  0x71, "E P w S rt", ".rt:0 E 1 rest:2").trap(),
    line("urb_write", 0x72, "E P b r w r r r", "E 0 2 1 3 4 5").trap(),
    line("vme_ime",   0x54, "b b r r S r r r r", "pair:0 4 2 3 5 6 7 8").trap(),
    line("vme_sic",   0x55, "r r S r", "2 0 1 3").trap(),
    line("vme_fbr",   0x56, "r r S s s s r", "_ triple:3 2 0 1 6").trap(),
    line("vme_idm",   0x57, "r r S r", "2 0 1 3").trap(),
    sub("va.convolve",     0x44, 1, "x M S s s b r", "1 0 2 3 4 5").trap(),
    sub("va.minmax",       0x44, 2, "x S s s s r", "").trap(),
    sub("va.minmaxfilter", 0x44, 3, "x M S s s b b s r", "1 0 2 3 4 5 6 7").trap(),
    sub("va.erode",        0x44, 4, "x M S s s b r", "1 0 2 3 4 5").trap(),
    sub("va.dilate",       0x44, 5, "x M S s s b r", "1 0 2 3 4 5").trap(),
    sub("va.boolcentroid", 0x44, 6, "x S s s s s r", "").trap(),
    sub("va.centroid",     0x44, 7, "x S s s s r", "").trap(),
    sub("va_skl_plus.convolve_1d_v", 0x4d, 8, "x M S s s b r", "1 0 2 3 4 5").trap(),
    sub("va_skl_plus.convolve_1d_h", 0x4d, 9, "x M S s s b r", "1 0 2 3 4 5").trap(),
    sub("va_skl_plus.convolve_1pixel", 0x4d, 10, "x M S s s b r r", "1 0 2 3 4 5 6").trap(),
    sub("va_skl_plus.floodfill", 0x4d, 11, "x b r s s s r", "").trap(),
    sub("va_skl_plus.lbpcreation", 0x4d, 12, "x S s s b r", "").trap(),
    sub("va_skl_plus.lbpcorrelation", 0x4d, 13, "x S s s s r", "").trap(),
    sub("va_skl_plus.correlationsearch", 0x4d, 15, "x S s s s s s s s s r", "").trap(),
    sub("va_skl_plus.hdc_convolve_2d", 0x4d, 16, "x M S s s b S s s", "1 0 2 3 4 5 6 7").trap(),
    sub("va_skl_plus.hdc_minmaxfilter", 0x4d, 17, "x M S s s b b S s s", "1 0 2 3 4 5 6 7 8").trap(),
    sub("va_skl_plus.hdc_erode", 0x4d, 18, "x M S s s S s s", "1 0 2 3 4 5 6").trap(),
    sub("va_skl_plus.hdc_dilate", 0x4d, 19, "x M S s s S s s", "1 0 2 3 4 5 6").trap(),
    sub("va_skl_plus.hdc_lbpcorrelation", 0x4d, 20, "x S s s s S s s", "").trap(),
    sub("va_skl_plus.hdc_lbpcreation", 0x4d, 21, "x S s s b S s s", "").trap(),
    sub("va_skl_plus.hdc_convolve_1d_h", 0x4d, 22, "x M S s s b S s s", "1 0 2 3 4 5 6 7").trap(),
    sub("va_skl_plus.hdc_convolve_1d_v", 0x4d, 23, "x M S s s b S s s", "1 0 2 3 4 5 6 7").trap(),
    sub("va_skl_plus.hdc_convolve_1pixel", 0x4d, 24, "x M S s s b r S s s", "1 0 2 3 4 5 6 7 8").trap(),
];
