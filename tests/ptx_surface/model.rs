//! A model of surfaces as NVIDIA's text describes them: rows of bytes in slices or layers.

/// The name of a surface's shape in an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Geometry {
    D1,
    D2,
    D3,
    A1d,
    A2d,
}

impl Geometry {
    pub fn word(self) -> &'static str {
        match self {
            Geometry::D1 => "1d",
            Geometry::D2 => "2d",
            Geometry::D3 => "3d",
            Geometry::A1d => "a1d",
            Geometry::A2d => "a2d",
        }
    }

    /// Returns the coordinate vector: a layer's index comes first, and a fourth element is ignored.
    pub fn operand(self, x: &str, y: &str, z: &str, ignored: &str) -> String {
        match self {
            Geometry::D1 => format!("{{{x}}}"),
            Geometry::D2 => format!("{{{x}, {y}}}"),
            Geometry::D3 => format!("{{{x}, {y}, {z}, {ignored}}}"),
            Geometry::A1d => format!("{{{z}, {x}}}"),
            Geometry::A2d => format!("{{{z}, {x}, {y}, {ignored}}}"),
        }
    }
}

/// The behaviour of accesses out of range.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Beyond {
    Trap,
    Clamp,
    Zero,
}

/// The place of an access: x is in bytes.
#[derive(Clone, Copy, Debug)]
pub struct Place {
    pub x: i64,
    pub y: i64,
    pub z: i64,
    pub bytes: u32,
}

/// A surface's bytes, row by row.
#[derive(Clone, Debug)]
pub struct Model {
    pub row_bytes: u32,
    pub rows: u32,
    pub slices: u32,
    pub bytes: Vec<u8>,
}

impl Model {
    /// Returns the bytes that an access reaches, or `None` if it reaches no bytes.
    fn at(&self, place: Place, beyond: Beyond) -> Option<std::ops::Range<usize>> {
        let Place { x, y, z, bytes } = place;
        let (width, bytes) = (i64::from(self.row_bytes), i64::from(bytes));
        let inside = |i: i64, size: u32| (0..i64::from(size)).contains(&i);
        let fits = x >= 0 && x + bytes <= width && inside(y, self.rows) && inside(z, self.slices);
        let (x, y, z) = match beyond {
            _ if fits => (x, y, z),
            Beyond::Trap => panic!("the test is to be in range: {place:?}"),
            Beyond::Zero => return None,
            // The access moves to the nearest place that fits its size.
            Beyond::Clamp if bytes > width => return None,
            Beyond::Clamp => {
                let last = (width - bytes) / bytes * bytes;
                (
                    x.clamp(0, last),
                    y.clamp(0, i64::from(self.rows) - 1),
                    z.clamp(0, i64::from(self.slices) - 1),
                )
            }
        };
        let start = ((z * i64::from(self.rows) + y) * width + x) as usize;
        Some(start..start + bytes as usize)
    }

    pub fn load(&self, place: Place, beyond: Beyond) -> Vec<u8> {
        self.at(place, beyond)
            .map_or(vec![0; place.bytes as usize], |range| self.bytes[range].to_vec())
    }

    pub fn store(&mut self, place: Place, beyond: Beyond, bytes: &[u8]) {
        self.change(place, beyond, |old| old.copy_from_slice(bytes));
    }

    pub fn change(&mut self, place: Place, beyond: Beyond, change: impl FnOnce(&mut [u8])) {
        if let Some(range) = self.at(place, beyond) {
            change(&mut self.bytes[range]);
        }
    }
}
