//! The vocabulary of modifiers: what the bit fields of an instruction besides its operands are called, what their
//! values mean and how each value is printed.
//!
//! A table line places a field by name, as in `{rounding@39}`. The vocabulary gives the width and the text, and
//! [`Instruction`] gets a typed accessor of the same name, which reads the field's value 0 (false, the first variant)
//! in an encoding that lacks it.

use super::instruction::Instruction;

/// How the value of a field is printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Style {
    /// The text of each value.
    Names(&'static [&'static str]),
    /// A hexadecimal number.
    Hex,
    /// A hexadecimal number as a further operand, left out if it is this value.
    HexUnless(u64),
    /// The name of a special register.
    SpecialRegister,
}

/// Name, width and text of a [`Field`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FieldInfo {
    pub name: &'static str,
    /// Width in bits; 0 if each table line says it.
    pub bits: u8,
    pub style: Style,
}

macro_rules! vocabulary {
    (
        flags { $($(#[$fdoc:meta])* $flag:ident $ftext:literal;)* }
        enums { $($(#[$edoc:meta])* $ty:ident($bits:literal): $($name:ident),+ { $($(#[$vdoc:meta])* $variant:ident $text:literal),+ $(,)? })* }
        numbers { $($(#[$ndoc:meta])* $number:ident $style:expr;)* }
    ) => {
        /// A modifier field, named as its accessor of [`Instruction`].
        #[allow(non_camel_case_types, reason = "a field has the name that table lines and accessors use")]
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[repr(u8)]
        pub enum Field { $($flag,)* $($($name,)+)* $($number,)* }

        impl Field {
            pub const ALL: &[Field] = &[$(Field::$flag,)* $($(Field::$name,)+)* $(Field::$number,)*];

            pub const fn info(self) -> &'static FieldInfo {
                match self {
                    $(Field::$flag => &FieldInfo { name: stringify!($flag), bits: 1, style: Style::Names(&["", $ftext]) },)*
                    $($(Field::$name => &FieldInfo { name: stringify!($name), bits: $bits, style: Style::Names($ty::TEXTS) },)+)*
                    $(Field::$number => &FieldInfo { name: stringify!($number), bits: 0, style: $style },)*
                }
            }
        }

        $(
            $(#[$edoc])*
            #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
            pub enum $ty { $($(#[$vdoc])* $variant,)+ }

            impl $ty {
                /// The variant of each value of the field.
                const VALUES: [$ty; 1 << $bits] = [$($ty::$variant,)+];
                /// The text of each value of the field.
                const TEXTS: &'static [&'static str] = &[$($text,)+];

                /// The meaning of the field's bits; higher ones are ignored.
                pub const fn from_bits(bits: u64) -> $ty {
                    $ty::VALUES[(bits & ((1 << $bits) - 1)) as usize]
                }
            }
        )*

        impl Instruction {
            $($(#[$fdoc])* pub fn $flag(&self) -> bool { self.field(Field::$flag).unwrap_or(0) != 0 })*
            $($(#[doc = concat!("See [`", stringify!($ty), "`].")] pub fn $name(&self) -> $ty { $ty::from_bits(self.field(Field::$name).unwrap_or(0)) })+)*
            $($(#[$ndoc])* pub fn $number(&self) -> u64 { self.field(Field::$number).unwrap_or(0) })*
        }
    };
}

vocabulary! {
    flags {
        /// Adds the carry, or tests further words, of the CC register.
        x ".X";
        /// Clamps an integer result to its type's range, a float result to [0, 1].
        sat ".SAT";
        /// Writes the CC register.
        cc ".CC";
        /// Shift counts wrap at the width.
        wrap ".W";
        /// 64-bit addresses.
        extended ".E";
        /// XMAD: shifts the product left by 16.
        psl ".PSL";
        /// XMAD: puts the low half of B in the high half of the result.
        mrg ".MRG";
        /// SHR, BFE: reverses the bits of A first.
        brev ".BREV";
        /// BRA, JMP: a promise that the branch is uniform. No effect.
        uniform ".U";
        /// BRA, JMP: only within the limit of the program. No effect.
        limit ".LMT";
    }
    enums {
        /// Rounding of a float result.
        Rounding(2): rounding { Nearest "", Down ".RM", Up ".RP", Zero ".RZ" }
        /// Denormals of F32: kept, flushed, or flushed with 0 * x = 0.
        Flush(2): flush { Keep "", Ftz ".FTZ", Fmz ".FMZ", Reserved ".INVALIDFMZ3" }
        /// Denormals of F32: kept or flushed.
        Ftz(1): ftz { Keep "", Flush ".FTZ" }
        /// Scaling of an FMUL product.
        Scale(3): scale { None "", D2 ".D2", D4 ".D4", D8 ".D8", M8 ".M8", M4 ".M4", M2 ".M2", Reserved ".INVALIDSCALE37" }
        /// Signedness of the operands of an integer operation.
        Sign(1): sign { Unsigned ".U32", Signed "" }
        /// A comparison of integers.
        IntCompare(3): int_compare { False ".F", Lt ".LT", Eq ".EQ", Le ".LE", Gt ".GT", Ne ".NE", Ge ".GE", True ".T" }
        /// A comparison of floats; those with `U` are true if an operand is NaN.
        FloatCompare(4): float_compare {
            False ".F", Lt ".LT", Eq ".EQ", Le ".LE", Gt ".GT", Ne ".NE", Ge ".GE", Num ".NUM",
            Nan ".NAN", Ltu ".LTU", Equ ".EQU", Leu ".LEU", Gtu ".GTU", Neu ".NEU", Geu ".GEU", True ".T",
        }
        /// How a predicate is combined with another.
        BoolOp(2): bool_op, bool_op2 { And ".AND", Or ".OR", Xor ".XOR", Reserved ".INVALIDBOP3" }
        /// Bitwise operation of LOP and LOP32I.
        LogicOp(2): logic_op { And ".AND", Or ".OR", Xor ".XOR", PassB ".PASS_B" }
        /// Size and extension of what a memory instruction moves.
        MemSize(3): mem_size { U8 ".U8", S8 ".S8", U16 ".U16", S16 ".S16", B32 "", B64 ".64", B128 ".128", U128 ".U.128" }
        /// Size of what a global or local store moves.
        StoreSize(3): store_size { U8 ".U8", S8 ".S8", U16 ".U16", S16 ".S16", B32 "", B64 ".64", B128 ".128", Reserved ".INVALIDSIZE7" }
        /// Cache hint of a load.
        LoadCache(2): load_cache { Default "", Cg ".CG", Ci ".CI", Cv ".CV" }
        /// Cache hint of a store.
        StoreCache(2): store_cache { Default "", Cg ".CG", Cs ".CS", Wt ".WT" }
        /// Signs of the two factors of XMAD.
        XmadSigns(2): xmad_signs { U16U16 "", S16U16 ".S16.U16", U16S16 ".U16.S16", S16S16 ".S16.S16" }
        /// What XMAD adds.
        XmadMode(3): xmad_mode {
            /// C.
            None "",
            /// The low half of C.
            Clo ".CLO",
            /// The high half of C.
            Chi ".CHI",
            /// C less a correction for signed high products.
            Csfu ".CSFU",
            /// C + (B << 16).
            Cbcc ".CBCC",
            Reserved5 ".???5", Reserved6 ".???6", Reserved7 ".???7",
        }
        /// A test of the CC register.
        CcTest(5): cc_test {
            F "CC.F", Lt "CC.LT", Eq "CC.EQ", Le "CC.LE", Gt "CC.GT", Ne "CC.NE", Ge "CC.GE", Num "CC.NUM",
            Nan "CC.NAN", Ltu "CC.LTU", Equ "CC.EQU", Leu "CC.LEU", Gtu "CC.GTU", Neu "CC.NEU", Geu "CC.GEU", T "",
            Off "CC.OFF", Lo "CC.LO", Sff "CC.SFF", Ls "CC.LS", Hi "CC.HI", Sft "CC.SFT", Hs "CC.HS", Oft "CC.OFT",
            CsmTa "CC.CSM_TA", CsmTr "CC.CSM_TR", CsmMx "CC.CSM_MX", FcsmTa "CC.FCSM_TA", FcsmTr "CC.FCSM_TR",
            FcsmMx "CC.FCSM_MX", Rle "CC.RLE", Rgt "CC.RGT",
        }
        /// Type of an integer operand or result of a conversion.
        IntFormat(3): dst_int, src_int {
            U8 ".U8", U16 ".U16", U32 ".U32", U64 ".U64", S8 ".S8", S16 ".S16", S32 ".S32", S64 ".S64",
        }
        /// Type of a float operand or result of a conversion.
        FloatFormat(2): dst_float, src_float { Reserved ".INVALIDFPSRC0", F16 ".F16", F32 ".F32", F64 ".F64" }
    }
    numbers {
        /// Shift count of ISCADD and LEA.
        shift Style::Hex;
        /// Bytes of the result that MOV writes.
        byte_mask Style::HexUnless(0xf);
        /// Number of a special register, see [`super::special::SpecialRegister`].
        special_register Style::SpecialRegister;
    }
}
