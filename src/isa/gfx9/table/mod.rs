//! The instruction table: one file per family and one line per instruction.
//!
//! [`super::notation`] explains the notation. Decoder, accessors, disassembler, assembler and
//! random words are derived from the table. The families below are complete; [`Opcode`] is gathered
//! from them.

use std::sync::LazyLock;

use rustc_hash::FxHashMap;

use super::row::{Encoding, Format, Row};

/// Defines a family: `static ROWS` and a macro of the family's name that passes its opcodes on.
macro_rules! family {
    (($d:tt) $family:ident { $(
        $(#[$doc:meta])* $opcode:ident $fidelity:tt $signature:literal { $(
            $format:ident $op:literal $(- $without:ident)*
        )+ }
    )* }) => {
        pub static ROWS: &[$crate::row::Row] = &[$(
            $crate::row::Row {
                opcode: $crate::table::Opcode::$opcode,
                fidelity: fidelity!($fidelity),
                lift: lift!($fidelity),
                mnemonic: const { $crate::notation::mnemonic($signature) },
                operands: &const {
                    $crate::notation::slots::<{ $crate::notation::slot_count($signature) }>($signature)
                },
                modifiers: const { $crate::notation::modifiers($signature) },
                places: &const { [$($crate::row::OpcodeNumber {
                    format: $crate::notation::format(stringify!($format)),
                    op: $op,
                    without: $crate::notation::without(&[$(stringify!($without)),*]),
                }),+] },
            },
        )*];

        hand_on! { ($d) $family $([$(#[$doc])* $opcode])* }
    };
}

#[macro_use]
mod ds;
#[macro_use]
mod ds_access;
#[macro_use]
mod ds_return;
#[macro_use]
mod ds_src2;
#[macro_use]
mod exp;
#[macro_use]
mod flat;
#[macro_use]
mod global;
#[macro_use]
mod interp;
#[macro_use]
mod mimg_gather;
#[macro_use]
mod mimg_load;
#[macro_use]
mod mimg_sample;
#[macro_use]
mod mtbuf;
#[macro_use]
mod mubuf;
#[macro_use]
mod mubuf_atomic;
#[macro_use]
mod scratch;
#[macro_use]
mod smem;
#[macro_use]
mod smem_atomic;
#[macro_use]
mod sop1;
#[macro_use]
mod sop2;
#[macro_use]
mod sopc;
#[macro_use]
mod sopk;
#[macro_use]
mod sopp;
#[macro_use]
mod vop1;
#[macro_use]
mod vop2;
#[macro_use]
mod vop3_float;
#[macro_use]
mod vop3_int;
#[macro_use]
mod vop3_other;
#[macro_use]
mod vop3p;
#[macro_use]
mod vopc_class;
#[macro_use]
mod vopc_float;
#[macro_use]
mod vopc_int;
#[macro_use]
mod vopc_x_float;
#[macro_use]
mod vopc_x_int;

gather! { families
    sop2 sopk sop1 sopc sopp smem smem_atomic vop2 vop1 vopc_class vopc_float
    vopc_x_float vopc_int vopc_x_int vop3_float vop3_int vop3_other vop3p interp ds ds_return ds_src2
    ds_access flat global scratch mubuf mubuf_atomic mtbuf mimg_load mimg_sample mimg_gather exp
}

/// Returns all rows, family by family.
pub fn rows() -> impl Iterator<Item = &'static Row> {
    FAMILIES.iter().copied().flatten()
}

/// The rows by encoding, name space and opcode number.
static INDEX: LazyLock<FxHashMap<(Encoding, Format, u16), &'static Row>> =
    LazyLock::new(|| rows().flat_map(|row| row.forms().map(move |form| (form, row))).collect());

/// Returns the row of an opcode number.
pub fn lookup(encoding: Encoding, format: Format, op: u16) -> Option<&'static Row> {
    INDEX.get(&(encoding, format, op)).copied()
}
