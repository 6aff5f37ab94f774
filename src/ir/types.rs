//! Types and shapes of values.

/// The type of a value, or of one lane's element of it.
///
/// `I8`, `I16` and `F16` are zero-extended in 32-bit cells wherever a value is stored per lane.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Type {
    I8,
    I16,
    I32,
    I64,
    F16,
    F32,
    F64,
    /// One bit per lane, bit `i` for lane `i`. Bits from the function's number of lanes on are 0. A
    /// mask is neither an integer nor a float, always uniform, and never an element of lanes,
    /// memory or byte arrays.
    Mask,
}

impl Type {
    /// The types of elements: all but [`Type::Mask`].
    pub const ALL: [Type; 7] =
        [Type::I8, Type::I16, Type::I32, Type::I64, Type::F16, Type::F32, Type::F64];

    /// Width in bits.
    pub const fn bits(self) -> u32 {
        match self {
            Type::I8 => 8,
            Type::I16 | Type::F16 => 16,
            Type::I32 | Type::F32 => 32,
            Type::I64 | Type::F64 | Type::Mask => 64,
        }
    }

    /// Width in memory, in bytes.
    pub const fn bytes(self) -> u32 {
        self.bits() / 8
    }

    /// Width of one lane's cell in the register file, in bytes: 4 or 8.
    pub const fn cell_bytes(self) -> u32 {
        if self.bits() == 64 { 8 } else { 4 }
    }

    pub const fn is_float(self) -> bool {
        matches!(self, Type::F16 | Type::F32 | Type::F64)
    }

    pub const fn is_int(self) -> bool {
        matches!(self, Type::I8 | Type::I16 | Type::I32 | Type::I64)
    }

    /// All bits that a value of this type may have set in a function of `lanes` lanes.
    pub const fn bits_of_lanes(self, lanes: u8) -> u64 {
        if matches!(self, Type::Mask) { Window::all(lanes).mask() } else { self.bit_mask() }
    }

    /// All bits of this type's width.
    pub const fn bit_mask(self) -> u64 {
        u64::MAX >> (64 - self.bits())
    }

    /// The integer type of equal width.
    pub const fn as_int(self) -> Type {
        match self.bits() {
            8 => Type::I8,
            16 => Type::I16,
            32 => Type::I32,
            _ => Type::I64,
        }
    }

    pub const fn name(self) -> &'static str {
        match self {
            Type::I8 => "i8",
            Type::I16 => "i16",
            Type::I32 => "i32",
            Type::I64 => "i64",
            Type::F16 => "f16",
            Type::F32 => "f32",
            Type::F64 => "f64",
            Type::Mask => "mask",
        }
    }
}

/// One value for the warp, or one for each lane.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Shape {
    Uniform,
    Varying,
}

impl Shape {
    /// The shape of a lane-wise operation on operands of these shapes.
    pub const fn join(self, other: Shape) -> Shape {
        match (self, other) {
            (Shape::Uniform, Shape::Uniform) => Shape::Uniform,
            _ => Shape::Varying,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ValueType {
    pub ty: Type,
    pub shape: Shape,
}

impl ValueType {
    pub const MASK: ValueType = ValueType::uniform(Type::Mask);

    pub const fn uniform(ty: Type) -> Self {
        ValueType { ty, shape: Shape::Uniform }
    }

    pub const fn varying(ty: Type) -> Self {
        ValueType { ty, shape: Shape::Varying }
    }

    pub const fn is_uniform(self) -> bool {
        matches!(self.shape, Shape::Uniform)
    }
}

impl std::fmt::Display for ValueType {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let shape = if self.is_uniform() { "uniform" } else { "varying" };
        write!(f, "{shape} {}", self.ty.name())
    }
}

/// The lanes on which an operation acts: `first .. first + count`, in absolute lane numbers.
///
/// A varying value has elements only in its window; the windows of an operation's operands contain
/// its own window.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Window {
    pub first: u8,
    pub count: u8,
}

impl Window {
    pub const fn all(lanes: u8) -> Self {
        Window { first: 0, count: lanes }
    }

    /// One bit for each lane of the window.
    pub const fn mask(self) -> u64 {
        if self.count == 0 {
            return 0;
        }
        (u64::MAX >> (64 - self.count as u32)) << self.first
    }

    /// Returns whether the window has all lanes of another window.
    pub const fn contains(self, other: Window) -> bool {
        self.mask() & other.mask() == other.mask()
    }

    pub fn lanes(self) -> std::ops::Range<usize> {
        self.first as usize..self.first as usize + self.count as usize
    }
}
