//! Types of PTX, as type words name them.

/// The kind of number of a type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// Untyped bits: `.b32`.
    Bits,
    Unsigned,
    Signed,
    Float,
    Pred,
    /// `.texref`, `.samplerref`, `.surfref`.
    Opaque,
}

macro_rules! types {
    ($($(#[$doc:meta])* $name:ident = $text:literal $bits:literal $kind:ident;)*) => {
        /// A type word, without its dot.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum Ty { $($(#[$doc])* $name,)* }

        impl Ty {
            pub const ALL: &'static [Ty] = &[$(Ty::$name,)*];

            pub const fn name(self) -> &'static str {
                match self { $(Ty::$name => $text,)* }
            }

            /// The bits of one value. A packed type counts all elements.
            pub const fn bits(self) -> u32 {
                match self { $(Ty::$name => $bits,)* }
            }

            pub const fn kind(self) -> Kind {
                match self { $(Ty::$name => Kind::$kind,)* }
            }

            pub fn from_name(name: &str) -> Option<Ty> {
                match name { $($text => Some(Ty::$name),)* _ => None }
            }
        }
    };
}

types! {
    B1 = "b1" 1 Bits;
    B8 = "b8" 8 Bits;
    B16 = "b16" 16 Bits;
    B32 = "b32" 32 Bits;
    B64 = "b64" 64 Bits;
    B128 = "b128" 128 Bits;
    U2 = "u2" 2 Unsigned;
    U4 = "u4" 4 Unsigned;
    U8 = "u8" 8 Unsigned;
    U16 = "u16" 16 Unsigned;
    U32 = "u32" 32 Unsigned;
    U64 = "u64" 64 Unsigned;
    S2 = "s2" 2 Signed;
    S4 = "s4" 4 Signed;
    S8 = "s8" 8 Signed;
    S16 = "s16" 16 Signed;
    S32 = "s32" 32 Signed;
    S64 = "s64" 64 Signed;
    U16x2 = "u16x2" 32 Unsigned;
    S16x2 = "s16x2" 32 Signed;
    F16 = "f16" 16 Float;
    F16x2 = "f16x2" 32 Float;
    F32 = "f32" 32 Float;
    F32x2 = "f32x2" 64 Float;
    F64 = "f64" 64 Float;
    Bf16 = "bf16" 16 Float;
    Bf16x2 = "bf16x2" 32 Float;
    Tf32 = "tf32" 32 Float;
    E4m3 = "e4m3" 8 Float;
    E5m2 = "e5m2" 8 Float;
    E3m2 = "e3m2" 8 Float;
    E2m3 = "e2m3" 8 Float;
    E2m1 = "e2m1" 4 Float;
    E4m3x2 = "e4m3x2" 16 Float;
    E5m2x2 = "e5m2x2" 16 Float;
    E3m2x2 = "e3m2x2" 16 Float;
    E2m3x2 = "e2m3x2" 16 Float;
    E2m1x2 = "e2m1x2" 8 Float;
    E4m3x4 = "e4m3x4" 32 Float;
    E5m2x4 = "e5m2x4" 32 Float;
    E3m2x4 = "e3m2x4" 32 Float;
    E2m3x4 = "e2m3x4" 32 Float;
    E2m1x4 = "e2m1x4" 16 Float;
    Ue8m0 = "ue8m0" 8 Float;
    Ue4m3 = "ue4m3" 8 Float;
    Ue8m0x2 = "ue8m0x2" 16 Float;
    Pred = "pred" 1 Pred;
    Texref = "texref" 64 Opaque;
    Samplerref = "samplerref" 64 Opaque;
    Surfref = "surfref" 64 Opaque;
}

impl Ty {
    /// The bytes of a variable of this type.
    pub const fn bytes(self) -> u32 {
        self.bits().div_ceil(8)
    }

    pub const fn is_signed(self) -> bool {
        matches!(self.kind(), Kind::Signed)
    }

    pub const fn is_float(self) -> bool {
        matches!(self.kind(), Kind::Float)
    }

    /// Whether a register may be declared with this type.
    pub const fn is_register(self) -> bool {
        use Ty::*;
        matches!(
            self,
            B8 | B16
                | B32
                | B64
                | B128
                | U8
                | U16
                | U32
                | U64
                | S8
                | S16
                | S32
                | S64
                | F16
                | F16x2
                | F32
                | F64
                | Pred
        )
    }
}

/// A state space.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum StateSpace {
    Reg,
    Const,
    Global,
    Local,
    Shared,
    Param,
    /// Texture space, of PTX before 1.5.
    Tex,
}

impl StateSpace {
    /// Returns the space's word, without the dot.
    pub const fn name(self) -> &'static str {
        match self {
            StateSpace::Reg => "reg",
            StateSpace::Const => "const",
            StateSpace::Global => "global",
            StateSpace::Local => "local",
            StateSpace::Shared => "shared",
            StateSpace::Param => "param",
            StateSpace::Tex => "tex",
        }
    }
}
