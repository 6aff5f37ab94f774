//! Requests of instructions to textures: operands in consecutive registers.
//!
//! Source: facts, `maxwell-surfaces.md`, section 5; `sass.md`, "Textures and surfaces".

use warploom_guest::divergence::Mask;
use warploom_guest::images::texture::{self, Level, Texture};
use warploom_ir::Value;
use warploom_ir::image::sample::Operation;

use super::{Cx, PT, Unsupported};
use crate::{Reg, Source};

/// Consecutive registers of an operand.
pub struct Vector {
    first: Reg,
    taken: u8,
}

impl Vector {
    /// # Errors
    /// The operand is no register.
    pub fn of(source: Source) -> Result<Vector, Unsupported> {
        Ok(Vector { first: source.reg().ok_or(Unsupported)?, taken: 0 })
    }

    pub fn take(&mut self, cx: &mut Cx<'_>) -> Value {
        let register = cx.after(self.first, self.taken);
        self.taken += 1;
        cx.varying_reg(register)
    }
}

/// The shape that an instruction expects of an image.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dim {
    pub axes: usize,
    pub array: bool,
}

impl Dim {
    pub const D1: Dim = Dim { axes: 1, array: false };
    pub const D2: Dim = Dim { axes: 2, array: false };
    pub const D3: Dim = Dim { axes: 3, array: false };
    pub const CUBE: Dim = Dim::D3;
    pub const ARRAY_D1: Dim = Dim { axes: 1, array: true };
    pub const ARRAY_D2: Dim = Dim { axes: 2, array: true };
    pub const ARRAY_CUBE: Dim = Dim { axes: 3, array: true };

    /// Returns the number of coordinates, the layer included.
    pub fn coordinates(self) -> usize {
        self.axes + usize::from(self.array)
    }
}

/// Bits and distance of packed offsets: four bits each.
pub const NARROW: (u32, u32) = (4, 4);
/// Bits and distance of packed offsets of gathers: six bits, in bytes.
pub const WIDE: (u32, u32) = (6, 8);

/// The request of an instruction to a texture, with the shape that it expects of the image.
pub struct Request {
    pub asked: texture::Request,
    dim: Dim,
}

impl Request {
    pub fn new(texture: Texture, dim: Dim) -> Request {
        Request { asked: texture::Request::new(texture), dim }
    }

    /// Takes layer, then coordinates: their order in the operands.
    pub fn place<'a>(&mut self, cx: &mut Cx<'a>, mut take: impl FnMut(&mut Cx<'a>) -> Value) {
        if self.dim.array {
            let layer = take(cx);
            self.set_layer(cx, layer);
        }
        for axis in 0..self.dim.axes {
            self.asked.coords[axis] = Some(take(cx));
        }
    }

    pub fn set_layer(&mut self, cx: &mut Cx<'_>, layer: Value) {
        let low = cx.int(0xffff);
        self.asked.layer = Some(cx.b.and(layer, low));
    }

    /// Sets packed offsets: each has `bits` bits, `distance` bits from the next.
    pub fn set_offset(&mut self, cx: &mut Cx<'_>, packed: Value, (bits, distance): (u32, u32)) {
        for axis in 0..self.dim.axes {
            self.asked.offset[axis] =
                Some(cx.bit_range(packed, axis as u32 * distance, bits, true));
        }
    }

    /// Sets a layer with offsets above it, as far as the instruction has them.
    pub fn set_packed(&mut self, cx: &mut Cx<'_>, packed: Value, has_offsets: bool) {
        if self.dim.array {
            self.set_layer(cx, packed);
        }
        if has_offsets {
            let offsets = cx.shr(packed, 16);
            self.set_offset(cx, offsets, NARROW);
        }
    }

    /// Takes the derivatives along x and y of each coordinate in turn.
    pub fn gradients<'a>(&mut self, cx: &mut Cx<'a>, mut take: impl FnMut(&mut Cx<'a>) -> Value) {
        let zero = cx.int(0);
        let mut gradients = [[zero; 2]; 3];
        for gradient in gradients.iter_mut().take(self.dim.axes) {
            *gradient = [take(cx), take(cx)];
        }
        self.asked.level = Level::Gradients(gradients);
    }

    /// Emits the request and returns the components. The predicate gets the lanes that met a sparse
    /// page.
    pub fn ask(self, cx: &mut Cx<'_>, status: u8, operation: Operation) -> [Value; 4] {
        let (components, sparse) = self.asked.ask(cx, operation);
        if status != PT {
            cx.set_pred(status, Mask::Lanes(sparse));
        }
        components
    }
}

/// Writes up to four values: the first two to `d` and behind it, further values to `e`.
pub fn write_pairs(cx: &mut Cx<'_>, [d, e]: [Reg; 2], values: &[Value]) {
    for (n, &value) in values.iter().enumerate() {
        let register = cx.after(if n < 2 { d } else { e }, n as u8 % 2);
        cx.set(register, value);
    }
}
