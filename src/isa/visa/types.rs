//! Types, alignments, regions and masks. Facts, `visa.md` 2 and `visa-semantics.md` 1.

/// Defines an enumeration whose members have a number in the binary form and a spelling in the
/// text.
macro_rules! coded {
    ($(#[$meta:meta])* $name:ident { $($(#[$doc:meta])* $member:ident = $code:literal $text:literal,)* }) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum $name { $($(#[$doc])* $member,)* }

        impl $name {
            pub const ALL: &[$name] = &[$($name::$member,)*];

            /// Returns the number in the binary form.
            pub const fn code(self) -> u8 {
                match self { $($name::$member => $code,)* }
            }

            /// Returns the spelling in the text.
            pub const fn name(self) -> &'static str {
                match self { $($name::$member => $text,)* }
            }

            pub fn from_code(code: u8) -> Option<$name> {
                $name::ALL.iter().copied().find(|one| one.code() == code)
            }

            pub fn from_name(name: &str) -> Option<$name> {
                $name::ALL.iter().copied().find(|one| one.name() == name)
            }
        }
    };
}
pub(crate) use coded;

coded! {
    /// The type of an element.
    Ty {
        Ud = 0 "ud",
        D = 1 "d",
        Uw = 2 "uw",
        W = 3 "w",
        Ub = 4 "ub",
        B = 5 "b",
        Df = 6 "df",
        F = 7 "f",
        /// Eight signed nibbles.
        V = 8 "v",
        /// Four floats of 8 bits.
        Vf = 9 "vf",
        Bool = 10 "bool",
        Uq = 11 "uq",
        /// Eight unsigned nibbles.
        Uv = 12 "uv",
        Q = 13 "q",
        Hf = 14 "hf",
        Bf = 15 "bf",
        Tf32 = 16 "tf32",
        Hf8 = 17 "hf8",
        Bf8 = 18 "bf8",
        E2m1 = 19 "e2m1",
    }
}

impl Ty {
    /// Returns the bytes of an element.
    pub const fn size(self) -> u32 {
        match self {
            Ty::Ub | Ty::B | Ty::Bool | Ty::Hf8 | Ty::Bf8 | Ty::E2m1 => 1,
            Ty::Uw | Ty::W | Ty::Hf | Ty::Bf => 2,
            Ty::Ud | Ty::D | Ty::F | Ty::V | Ty::Vf | Ty::Uv | Ty::Tf32 => 4,
            Ty::Df | Ty::Uq | Ty::Q => 8,
        }
    }
}

coded! {
    /// The alignment of a variable; `Grf` is the size of a register.
    Align {
        Byte = 0 "byte",
        Word = 1 "word",
        Dword = 2 "dword",
        Qword = 3 "qword",
        Oword = 4 "oword",
        Grf = 5 "GRF",
        Grf2 = 6 "GRFx2",
        /// 32 bytes.
        Hword = 7 "hword",
        /// 64 bytes.
        Word32 = 8 "wordx32",
        /// 128 bytes.
        Word64 = 9 "wordx64",
    }
}

/// A version of the format, for example 3.6 or 4.0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Version {
    pub major: u8,
    pub minor: u8,
}

impl Version {
    pub const fn new(major: u8, minor: u8) -> Version {
        Version { major, minor }
    }

    /// Returns whether the version exists only as text.
    ///
    /// Its text names the resource that is paired with a sampler message's result, and ends in
    /// comments on the platform.
    pub fn is_text_only(self) -> bool {
        self == Version::new(4, 2) || self.major > 4
    }
}

impl std::fmt::Display for Version {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}.{}", self.major, self.minor)
    }
}

/// The strides and width of an operand, in elements. Each is 0, 1, 2, 4, 8, 16 or 32, or absent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Region {
    /// None in a destination, and in `r[A0(0),0]<1,0>`, where every row has its own address.
    pub vertical: Option<u8>,
    /// None in a destination.
    pub width: Option<u8>,
    pub horizontal: Option<u8>,
}

/// Returns the number of a stride in the binary form.
fn stride_code(stride: Option<u8>) -> u16 {
    match stride {
        None => 0,
        Some(0) => 1,
        Some(stride) => stride.trailing_zeros() as u16 + 2,
    }
}

fn stride(code: u16) -> Option<Option<u8>> {
    match code {
        0 => Some(None),
        1 => Some(Some(0)),
        2..=7 => Some(Some(1 << (code - 2))),
        _ => None,
    }
}

impl Region {
    /// `<0;1,0>`
    pub const SCALAR: Region = Region { vertical: Some(0), width: Some(1), horizontal: Some(0) };

    /// Returns the region of a destination: `<1>`.
    pub const fn destination(horizontal: u8) -> Region {
        Region { vertical: None, width: None, horizontal: Some(horizontal) }
    }

    pub fn code(self) -> u16 {
        stride_code(self.vertical)
            | stride_code(self.width) << 4
            | stride_code(self.horizontal) << 8
    }

    /// Returns a region by its number; None if a stride does not exist.
    pub fn from_code(code: u16) -> Option<Region> {
        if code >> 12 != 0 {
            return None;
        }
        Some(Region {
            vertical: stride(code & 15)?,
            width: stride(code >> 4 & 15)?,
            horizontal: stride(code >> 8 & 15)?,
        })
    }

    /// Returns whether a number may be a stride or a width.
    pub fn is_stride(number: u64) -> bool {
        number == 0 || number <= 32 && number.is_power_of_two()
    }
}

/// The lanes of an instruction: `size` lanes from `offset` on, active or not if `no_mask`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Exec {
    /// The number of lanes: 1, 2, 4, 8, 16 or 32.
    pub size: u8,
    /// The first lane: 0, 4 .. 28, for `M1` to `M8`.
    pub offset: u8,
    /// `_NM`: inactive lanes take part, too.
    pub no_mask: bool,
}

impl Exec {
    pub fn code(self) -> u8 {
        self.size.trailing_zeros() as u8 | (self.offset / 4) << 4 | u8::from(self.no_mask) << 7
    }

    /// Returns the lanes of a number. Version 3.0 has one number for `NoMask`, which begins at lane
    /// 0.
    pub fn from_code(code: u8, version: Version) -> Option<Exec> {
        let (size, mask) = (code & 15, code >> 4);
        if size > 5 {
            return None;
        }
        let (number, no_mask) = match version {
            Version { major: 3, minor: 0 } => match mask {
                8 => (0, true),
                0..=7 => (mask, false),
                _ => return None,
            },
            _ => (mask & 7, mask >= 8),
        };
        Some(Exec { size: 1 << size, offset: number * 4, no_mask })
    }
}

impl std::fmt::Display for Exec {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let no_mask = if self.no_mask { "_NM" } else { "" };
        write!(f, "(M{}{no_mask}, {})", self.offset / 4 + 1, self.size)
    }
}
