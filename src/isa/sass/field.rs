//! The vocabulary of modifiers: names of the bit fields of an instruction other than operands,
//! meanings of their values and the text of each value.
//!
//! A table line places a field by name, as in `{rounding@39}`. The vocabulary gives the width and
//! the text, and the guest's `Instruction` gets a typed accessor of that name. In an encoding that
//! lacks the field, the accessor returns the meaning of value 0 (false, the first variant).

/// How the value of a field is printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Style {
    /// The text of each value; an unlisted value prints as `otherwise` and its decimal number.
    Names { names: &'static [(u8, &'static str)], otherwise: &'static str },
    /// The text of each value behind a prefix, omitted if the value is `usual`.
    Test { prefix: &'static str, names: &'static [(u8, &'static str)], usual: u64 },
    /// A hexadecimal number.
    Hex,
    /// A hexadecimal number as a further operand, omitted if it has this value.
    HexUnless(u64),
    /// A signed hexadecimal number in units of `scale` as a further operand, omitted if it is 0.
    SignedHex { scale: i64 },
    /// Numbers of the set bits in braces, the highest first; omitted if there are none.
    BitSet,
    /// The text of every 2 bits, the highest pair first.
    Swizzle([&'static str; 4]),
    /// The name of a special register.
    SpecialRegister,
}

/// Name, width and text of a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FieldInfo {
    pub name: &'static str,
    /// The width in bits; 0 if each table line states it.
    pub bits: u8,
    pub style: Style,
}

/// Concatenates two lists.
pub const fn joined<const N: usize>(
    first: &[(u8, &'static str)],
    second: &[(u8, &'static str)],
) -> [(u8, &'static str); N] {
    let mut all = [(0, ""); N];
    let mut i = 0;
    while i < N {
        all[i] = if i < first.len() { first[i] } else { second[i - first.len()] };
        i += 1;
    }
    all
}

/// Defines the fields. Each enum is a type, with the fields of that type; a text in brackets
/// replaces the text of a value in one field. In a sparse enum each field has a text for all values
/// without a meaning; the value's number follows the text.
#[macro_export]
macro_rules! vocabulary {
    (
        flags { $($(#[$fdoc:meta])* $flag:ident $ftext:literal;)* }
        enums { $(
            $(#[$edoc:meta])* $ty:ident($bits:literal):
                $($name:ident $([$value:literal $special:literal])*),+
            {
                $($(#[$vdoc:meta])* $variant:ident $text:literal),+ $(,)?
            }
        )* }
        sparse_enums { $(
            $(#[$sdoc:meta])* $sty:ident($sbits:literal):
                $($sname:ident $otherwise:literal $([$svalue:literal $sspecial:literal])*),+
            {
                $($(#[$svdoc:meta])* $svariant:ident = $number_of:literal $stext:literal),+ $(,)?
            }
        )* }
        numbers { $($(#[$ndoc:meta])* $number:ident $style:expr;)* }
        signed_numbers { $($(#[$idoc:meta])* $signed:ident $scale:literal;)* }
    ) => {
        /// A modifier field, named as its accessor of [`Instruction`].
        #[allow(non_camel_case_types, reason = "fields have the names of table lines")]
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[repr(u8)]
        pub enum Field { $($flag,)* $($($name,)+)* $($($sname,)+)* $($number,)* $($signed,)* }

        impl Field {
            pub const ALL: &[Field] = &[
                $(Field::$flag,)* $($(Field::$name,)+)* $($(Field::$sname,)+)*
                $(Field::$number,)* $(Field::$signed,)*
            ];

            /// Name, field and width of all fields.
            pub const LIST: &[(&'static str, Field, u8)] = &[
                $((stringify!($flag), Field::$flag, 1),)*
                $($((stringify!($name), Field::$name, $bits),)+)*
                $($((stringify!($sname), Field::$sname, $sbits),)+)*
                $((stringify!($number), Field::$number, 0),)*
                $((stringify!($signed), Field::$signed, 0),)*
            ];

            pub const fn info(self) -> &'static $crate::FieldInfo {
                match self {
                    $(Field::$flag => &$crate::FieldInfo {
                        name: stringify!($flag),
                        bits: 1,
                        style: $crate::Style::Names {
                            names: &[(0, ""), (1, $ftext)],
                            otherwise: "",
                        },
                    },)*
                    $($(Field::$name => &const {
                        const SPECIAL: &[(u8, &str)] = &[$(($value, $special)),*];
                        const NAMES: [(u8, &str); SPECIAL.len() + $ty::TEXTS.len()] =
                            $crate::field::joined(SPECIAL, $ty::TEXTS);
                        let style = $crate::Style::Names { names: &NAMES, otherwise: "" };
                        $crate::FieldInfo { name: stringify!($name), bits: $bits, style }
                    },)+)*
                    $($(Field::$sname => &const {
                        const SPECIAL: &[(u8, &str)] = &[$(($svalue, $sspecial)),*];
                        const NAMES: [(u8, &str); SPECIAL.len() + $sty::TEXTS.len()] =
                            $crate::field::joined(SPECIAL, $sty::TEXTS);
                        let style = $crate::Style::Names { names: &NAMES, otherwise: $otherwise };
                        $crate::FieldInfo { name: stringify!($sname), bits: $sbits, style }
                    },)+)*
                    $(Field::$number => &$crate::FieldInfo {
                        name: stringify!($number),
                        bits: 0,
                        style: $style,
                    },)*
                    $(Field::$signed => &$crate::FieldInfo {
                        name: stringify!($signed),
                        bits: 0,
                        style: $crate::Style::SignedHex { scale: $scale },
                    },)*
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
                const TEXTS: &'static [(u8, &'static str)] = &[$(($ty::$variant as u8, $text),)+];

                /// Returns the meaning of the field's bits; higher bits are ignored.
                pub const fn from_bits(bits: u64) -> $ty {
                    $ty::VALUES[(bits & ((1 << $bits) - 1)) as usize]
                }
            }
        )*

        $(
            $(#[$sdoc])*
            #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
            pub enum $sty {
                $($(#[$svdoc])* $svariant,)+
                /// Any value without a meaning.
                Reserved,
            }

            impl $sty {
                /// The text of each value that has a meaning.
                const TEXTS: &'static [(u8, &'static str)] = &[$(($number_of, $stext),)+];

                /// Returns the meaning of the field's bits; higher bits are ignored.
                pub const fn from_bits(bits: u64) -> $sty {
                    match bits & ((1 << $sbits) - 1) {
                        $($number_of => $sty::$svariant,)+
                        _ => $sty::Reserved,
                    }
                }
            }
        )*

        impl Instruction {
            $($(#[$fdoc])*
            pub fn $flag(&self) -> bool {
                self.field(Field::$flag).unwrap_or(0) != 0
            })*
            $($(#[doc = concat!("See [`", stringify!($ty), "`].")]
            pub fn $name(&self) -> $ty {
                $ty::from_bits(self.field(Field::$name).unwrap_or(0))
            })+)*
            $($(#[doc = concat!("See [`", stringify!($sty), "`].")]
            pub fn $sname(&self) -> $sty {
                $sty::from_bits(self.field(Field::$sname).unwrap_or(0))
            })+)*
            $($(#[$ndoc])*
            pub fn $number(&self) -> u64 {
                self.field(Field::$number).unwrap_or(0)
            })*
            $($(#[$idoc])*
            pub fn $signed(&self) -> i64 {
                self.signed_field(Field::$signed).unwrap_or(0) * $scale
            })*
        }
    };
}
