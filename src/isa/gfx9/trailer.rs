//! The words behind the operands of an instruction, for the disassembler and the assembler.

use smallvec::SmallVec;

use super::row::{Encoding, Format, Modifiers, Role, Row};

/// A word behind the operands of an instruction; `lo` is the lowest of its bits.
///
/// The word is printed unless its bits have the usual value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trailer {
    /// The name.
    Flag { name: &'static str, bit: u8 },
    /// `name:` and a number.
    Decimal { name: &'static str, lo: u8, bits: u8, signed: bool },
    /// `name:` and a hexadecimal number.
    Hex { name: &'static str, lo: u8, bits: u8, always: bool },
    /// `name:` and a word for each value; always printed.
    Word { name: &'static str, lo: u8, bits: u8, words: &'static [&'static str] },
    /// A word for each value; an empty word is not printed.
    Bare { lo: u8, bits: u8, words: &'static [&'static str] },
    /// `name:[0,1]`: `count` single bits, each usually `usual`.
    Bits { name: &'static str, bits: [u8; 4], count: u8, usual: bool },
    /// The lane from which source 0 comes.
    DppControl,
    /// `offset:` and a pattern.
    Swizzle,
    /// Data and number format of MTBUF.
    BufferFormat,
}

pub type Trailers = SmallVec<[Trailer; 10]>;

const fn flag(name: &'static str, bit: u8) -> Trailer {
    Trailer::Flag { name, bit }
}

const OMOD: &[&str] = &["", "mul:2", "mul:4", "div:2"];
const SELS: &[&str] = &["BYTE_0", "BYTE_1", "BYTE_2", "BYTE_3", "WORD_0", "WORD_1", "DWORD"];
const UNUSED: &[&str] = &["UNUSED_PAD", "UNUSED_SEXT", "UNUSED_PRESERVE"];

const fn sel(name: &'static str, lo: u8) -> Trailer {
    Trailer::Word { name, lo, bits: 3, words: SELS }
}

const fn offset(name: &'static str, lo: u8, bits: u8, signed: bool) -> Trailer {
    Trailer::Decimal { name, lo, bits, signed }
}

/// Returns the words behind the operands of an instruction, in their order.
pub fn trailers(encoding: Encoding, format: Format, row: &Row) -> Trailers {
    let mut out = Trailers::new();
    let mut when = |condition: bool, trailers: &[Trailer]| {
        if condition {
            out.extend_from_slice(trailers);
        }
    };
    let has = |modifier| row.has(modifier);
    let role = |role| row.slot(role).is_some();
    match encoding {
        Encoding::Vop3 => {
            let count = if role(Role::Src2) { 4 } else { 3 };
            let bits = if count == 4 { [11, 12, 13, 14] } else { [11, 12, 14, 0] };
            when(has(Modifiers::HIGH), &[flag("high", 40)]);
            when(
                has(Modifiers::OP_SEL),
                &[Trailer::Bits { name: "op_sel", bits, count, usual: false }],
            );
            when(has(Modifiers::CLAMP), &[flag("clamp", 15)]);
            when(has(Modifiers::OMOD), &[Trailer::Bare { lo: 59, bits: 2, words: OMOD }]);
        }
        Encoding::Vop3p => {
            let count = if role(Role::Src2) { 3 } else { 2 };
            let (mix, bits) = (has(Modifiers::MIX), |name, bits, usual| Trailer::Bits {
                name,
                bits,
                count,
                usual,
            });
            when(
                true,
                &[bits("op_sel", [11, 12, 13, 0], false), bits("op_sel_hi", [59, 60, 14, 0], !mix)],
            );
            when(
                !mix,
                &[bits("neg_lo", [61, 62, 63, 0], false), bits("neg_hi", [8, 9, 10, 0], false)],
            );
            when(true, &[flag("clamp", 15)]);
        }
        Encoding::Sdwa => {
            let vdst = role(Role::Vdst);
            when(vdst, &[flag("clamp", 45), Trailer::Bare { lo: 46, bits: 2, words: OMOD }]);
            when(
                vdst,
                &[
                    sel("dst_sel", 40),
                    Trailer::Word { name: "dst_unused", lo: 43, bits: 2, words: UNUSED },
                ],
            );
            when(role(Role::Src0), &[sel("src0_sel", 48)]);
            when(role(Role::Src1), &[sel("src1_sel", 56)]);
        }
        Encoding::Dpp => {
            let mask = |name, lo| Trailer::Hex { name, lo, bits: 4, always: true };
            when(
                true,
                &[
                    Trailer::DppControl,
                    mask("row_mask", 60),
                    mask("bank_mask", 56),
                    flag("bound_ctrl:1", 51),
                ],
            );
        }
        Encoding::Smem => when(has(Modifiers::GLC), &[flag("glc", 16)]),
        Encoding::Ds => {
            when(has(Modifiers::OFFSET), &[offset("offset", 0, 16, false)]);
            when(
                has(Modifiers::OFFSETS),
                &[offset("offset0", 0, 8, false), offset("offset1", 8, 8, false)],
            );
            when(has(Modifiers::SWIZZLE), &[Trailer::Swizzle]);
            when(has(Modifiers::GDS) || has(Modifiers::GDS_ONLY), &[flag("gds", 16)]);
        }
        Encoding::Flat => {
            when(
                true,
                &[
                    offset("offset", 0, 13, format != Format::Flat),
                    flag("glc", 16),
                    flag("slc", 17),
                ],
            );
            when(has(Modifiers::LDS), &[flag("lds", 13)]);
        }
        Encoding::Mubuf if role(Role::Srsrc) => {
            when(true, &[flag("idxen", 13), flag("offen", 12), offset("offset", 0, 12, false)]);
            when(true, &[flag("glc", 14), flag("slc", 17)]);
            when(has(Modifiers::TFE), &[flag("tfe", 55)]);
            when(has(Modifiers::LDS) || has(Modifiers::LDS_ONLY), &[flag("lds", 16)]);
        }
        Encoding::Mtbuf => {
            when(true, &[Trailer::BufferFormat, flag("idxen", 13), flag("offen", 12)]);
            when(true, &[offset("offset", 0, 12, false), flag("glc", 14), flag("slc", 54)]);
        }
        Encoding::Mimg => {
            when(true, &[Trailer::Hex { name: "dmask", lo: 8, bits: 4, always: false }]);
            when(true, &[flag("unorm", 12), flag("glc", 13), flag("slc", 25), flag("a16", 15)]);
            when(true, &[flag("tfe", 16), flag("lwe", 17), flag("da", 14)]);
            when(has(Modifiers::D16), &[flag("d16", 63)]);
        }
        Encoding::Exp => when(true, &[flag("done", 11), flag("compr", 10), flag("vm", 12)]),
        _ => {}
    }
    out
}
