//! LSC messages ("load/store cache"), of DG2 and later. Facts, `visa.md` 2.

use super::{Line, line, sub};
use crate::lift::{memory, surface};

const UNTYPED: &str = "x E P lsc s r r r r";
const STRIDED: &str = "x E P lsc s r r s r";
const BLOCK: &str = "x E P block r s s s s s s r";
const COUNTER: &str = "x E P counter s r r";
const TYPED: &str = "x E P typed s r r r r r r r";
const TYPED_BLOCK: &str = "x E P typedblock s r s s r";

#[rustfmt::skip]
pub(super) const LINES: &[Line] = &[
    sub("lsc_load", 0x89, 0x00, UNTYPED, "lsc").lift(memory::lsc_load),
    sub("lsc_load_strided", 0x89, 0x01, STRIDED, "lsc").lift(memory::lsc_load_strided),
    sub("lsc_load_quad", 0x89, 0x02, UNTYPED, "lsc").lift(memory::lsc_load_quad),
    sub("lsc_load_block2d", 0x89, 0x03, BLOCK, "lsc").lift(memory::lsc_load_block2d),
    sub("lsc_store", 0x89, 0x04, UNTYPED, "lsc").lift(memory::lsc_store),
    sub("lsc_store_strided", 0x89, 0x05, STRIDED, "lsc").lift(memory::lsc_store_strided),
    sub("lsc_store_quad", 0x89, 0x06, UNTYPED, "lsc").lift(memory::lsc_store_quad),
    sub("lsc_store_block2d", 0x89, 0x07, BLOCK, "lsc").lift(memory::lsc_store_block2d),
    sub("lsc_atomic_iinc", 0x89, 0x08, UNTYPED, "lsc").lift(memory::lsc_atomic),
    sub("lsc_atomic_idec", 0x89, 0x09, UNTYPED, "lsc").lift(memory::lsc_atomic),
    sub("lsc_atomic_load", 0x89, 0x0a, UNTYPED, "lsc").lift(memory::lsc_atomic),
    sub("lsc_atomic_store", 0x89, 0x0b, UNTYPED, "lsc").lift(memory::lsc_atomic),
    sub("lsc_atomic_iadd", 0x89, 0x0c, UNTYPED, "lsc").lift(memory::lsc_atomic),
    sub("lsc_atomic_isub", 0x89, 0x0d, UNTYPED, "lsc").lift(memory::lsc_atomic),
    sub("lsc_atomic_smin", 0x89, 0x0e, UNTYPED, "lsc").lift(memory::lsc_atomic),
    sub("lsc_atomic_smax", 0x89, 0x0f, UNTYPED, "lsc").lift(memory::lsc_atomic),
    sub("lsc_atomic_umin", 0x89, 0x10, UNTYPED, "lsc").lift(memory::lsc_atomic),
    sub("lsc_atomic_umax", 0x89, 0x11, UNTYPED, "lsc").lift(memory::lsc_atomic),
    sub("lsc_atomic_icas", 0x89, 0x12, UNTYPED, "lsc").lift(memory::lsc_atomic),
    sub("lsc_atomic_fadd", 0x89, 0x13, UNTYPED, "lsc").lift(memory::lsc_atomic),
    sub("lsc_atomic_fsub", 0x89, 0x14, UNTYPED, "lsc").lift(memory::lsc_atomic),
    sub("lsc_atomic_fmin", 0x89, 0x15, UNTYPED, "lsc").lift(memory::lsc_atomic),
    sub("lsc_atomic_fmax", 0x89, 0x16, UNTYPED, "lsc").lift(memory::lsc_atomic),
    sub("lsc_atomic_fcas", 0x89, 0x17, UNTYPED, "lsc").lift(memory::lsc_atomic),
    sub("lsc_atomic_and", 0x89, 0x18, UNTYPED, "lsc").lift(memory::lsc_atomic),
    sub("lsc_atomic_or", 0x89, 0x19, UNTYPED, "lsc").lift(memory::lsc_atomic),
    sub("lsc_atomic_xor", 0x89, 0x1a, UNTYPED, "lsc").lift(memory::lsc_atomic),
    sub("lsc_load_status", 0x89, 0x1b, UNTYPED, "lsc").trap(),
    sub("lsc_store_uncompressed", 0x89, 0x1c, UNTYPED, "lsc").trap(),
    sub("lsc_ccs_update", 0x89, 0x1d, UNTYPED, "lsc").trap(),
    sub("lsc_atomic_bfadd", 0x89, 0x21, UNTYPED, "lsc").lift(memory::lsc_atomic),
    sub("lsc_atomic_bfsub", 0x89, 0x22, UNTYPED, "lsc").lift(memory::lsc_atomic),
    sub("lsc_atomic_bfmin", 0x89, 0x23, UNTYPED, "lsc").lift(memory::lsc_atomic),
    sub("lsc_atomic_bfmax", 0x89, 0x24, UNTYPED, "lsc").lift(memory::lsc_atomic),
    sub("lsc_atomic_bfcas", 0x89, 0x25, UNTYPED, "lsc").trap(),
    sub("lsc_apndctr_atomic_add", 0x89, 0x28, COUNTER, "lsc").trap(),
    sub("lsc_apndctr_atomic_sub", 0x89, 0x29, COUNTER, "lsc").trap(),
    sub("lsc_apndctr_atomic_store", 0x89, 0x2a, COUNTER, "lsc").trap(),
    sub("lsc_load_quad", 0x8a, 0x02, TYPED, "lsc").lift(surface::lsc_load_quad_typed),
    sub("lsc_load_block2d", 0x8a, 0x03, TYPED_BLOCK, "lsc").trap(),
    sub("lsc_store_quad", 0x8a, 0x06, TYPED, "lsc").lift(surface::lsc_store_quad_typed),
    sub("lsc_store_block2d", 0x8a, 0x07, TYPED_BLOCK, "lsc").trap(),
    sub("lsc_atomic_iinc", 0x8a, 0x08, TYPED, "lsc").lift(surface::lsc_atomic_typed),
    sub("lsc_atomic_idec", 0x8a, 0x09, TYPED, "lsc").lift(surface::lsc_atomic_typed),
    sub("lsc_atomic_load", 0x8a, 0x0a, TYPED, "lsc").lift(surface::lsc_atomic_typed),
    sub("lsc_atomic_store", 0x8a, 0x0b, TYPED, "lsc").lift(surface::lsc_atomic_typed),
    sub("lsc_atomic_iadd", 0x8a, 0x0c, TYPED, "lsc").lift(surface::lsc_atomic_typed),
    sub("lsc_atomic_isub", 0x8a, 0x0d, TYPED, "lsc").lift(surface::lsc_atomic_typed),
    sub("lsc_atomic_smin", 0x8a, 0x0e, TYPED, "lsc").lift(surface::lsc_atomic_typed),
    sub("lsc_atomic_smax", 0x8a, 0x0f, TYPED, "lsc").lift(surface::lsc_atomic_typed),
    sub("lsc_atomic_umin", 0x8a, 0x10, TYPED, "lsc").lift(surface::lsc_atomic_typed),
    sub("lsc_atomic_umax", 0x8a, 0x11, TYPED, "lsc").lift(surface::lsc_atomic_typed),
    sub("lsc_atomic_icas", 0x8a, 0x12, TYPED, "lsc").lift(surface::lsc_atomic_typed),
    sub("lsc_atomic_fadd", 0x8a, 0x13, TYPED, "lsc").lift(surface::lsc_atomic_typed),
    sub("lsc_atomic_fsub", 0x8a, 0x14, TYPED, "lsc").lift(surface::lsc_atomic_typed),
    sub("lsc_atomic_fmin", 0x8a, 0x15, TYPED, "lsc").lift(surface::lsc_atomic_typed),
    sub("lsc_atomic_fmax", 0x8a, 0x16, TYPED, "lsc").lift(surface::lsc_atomic_typed),
    sub("lsc_atomic_fcas", 0x8a, 0x17, TYPED, "lsc").lift(surface::lsc_atomic_typed),
    sub("lsc_atomic_and", 0x8a, 0x18, TYPED, "lsc").lift(surface::lsc_atomic_typed),
    sub("lsc_atomic_or", 0x8a, 0x19, TYPED, "lsc").lift(surface::lsc_atomic_typed),
    sub("lsc_atomic_xor", 0x8a, 0x1a, TYPED, "lsc").lift(surface::lsc_atomic_typed),
    sub("lsc_load_status", 0x8a, 0x1b, TYPED, "lsc").trap(),
    sub("lsc_read_state_info", 0x8a, 0x1e, TYPED, "lsc").trap(),
    line("lsc_fence", 0x8b, "E P b b b", ".sfid:0 .fop:1 .scope:2").lift(memory::lsc_fence),
];
