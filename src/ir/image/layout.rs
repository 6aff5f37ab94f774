//! The placement of texels: consecutive rows, or blocks of GOBs.
//!
//! A GOB ("group of bytes") is 64 bytes by 8 rows. A block is a column of GOBs, in one or more
//! slices. Source: facts, `maxwell-surfaces.md`, section 3; the order of bytes in a GOB is that of
//! Mesa's `nil` and of the Tegra X1.

/// The bytes of a row of a GOB; below, its rows and its bytes.
const GOB_WIDTH: u32 = 64;
const GOB_ROWS: u32 = 8;
pub const GOB_BYTES: u32 = GOB_WIDTH * GOB_ROWS;

/// The height and depth of a block in GOBs: logarithms, 0 to 5.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Blocks {
    pub height: u8,
    pub depth: u8,
}

/// The greatest logarithm of a block's height or depth.
pub const MAX_BLOCK: u8 = 5;

impl Blocks {
    /// Shrinks blocks for a level as the hardware does: to less than twice the height and depth of
    /// the level's content. Section 3.3.
    fn shrunk(self, rows: u32, slices: u32) -> Blocks {
        let least = |log: u8, count: u32| {
            u32::from(log).min(count.max(1).next_power_of_two().ilog2()) as u8
        };
        Blocks {
            height: least(self.height, rows.div_ceil(GOB_ROWS)),
            depth: least(self.depth, slices),
        }
    }

    pub fn bytes(self) -> u32 {
        GOB_BYTES << (self.height + self.depth)
    }

    /// The rows of one slice: a logarithm.
    fn rows(self) -> u32 {
        GOB_ROWS.ilog2() + u32::from(self.height)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Layout {
    /// The bytes from a row to the next.
    Pitch(u32),
    Blocks(Blocks),
}

/// One level of one layer of an image.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Plane {
    pub row_bytes: u32,
    pub rows: u32,
    pub slices: u32,
    /// The layout, with blocks already shrunk.
    pub layout: Layout,
}

impl Plane {
    pub fn new(row_bytes: u32, rows: u32, slices: u32, layout: Layout) -> Plane {
        let layout = match layout {
            Layout::Blocks(blocks) => Layout::Blocks(blocks.shrunk(rows, slices)),
            pitch => pitch,
        };
        Plane { row_bytes, rows, slices, layout }
    }

    /// The bytes from a row, or row of blocks, to the next.
    pub fn row_stride(&self) -> u64 {
        match self.layout {
            Layout::Pitch(pitch) => pitch.into(),
            Layout::Blocks(blocks) => {
                u64::from(self.row_bytes.div_ceil(GOB_WIDTH)) * u64::from(blocks.bytes())
            }
        }
    }

    /// The bytes from a slice, or from the first slice of blocks, to the next.
    pub fn slice_stride(&self) -> u64 {
        match self.layout {
            Layout::Pitch(_) => self.row_stride() * u64::from(self.rows),
            Layout::Blocks(blocks) => {
                self.row_stride()
                    * ((u64::from(self.rows) + (1 << blocks.rows()) - 1) >> blocks.rows())
            }
        }
    }

    /// The bytes of the plane, including padding of blocks.
    pub fn bytes(&self) -> u64 {
        match self.layout {
            Layout::Pitch(_) => self.slice_stride() * u64::from(self.slices),
            Layout::Blocks(blocks) => {
                self.slice_stride() * u64::from(self.slices.div_ceil(1 << blocks.depth))
            }
        }
    }

    /// The offset of byte `x` of row `y` of slice `z`. Sections 3.1 and 3.2.
    pub fn offset(&self, x: u32, y: u32, z: u32) -> u64 {
        let blocks = match self.layout {
            Layout::Pitch(pitch) => {
                return u64::from(z) * self.slice_stride()
                    + u64::from(y) * u64::from(pitch)
                    + u64::from(x);
            }
            Layout::Blocks(blocks) => blocks,
        };
        let (row, slice) = (y >> blocks.rows(), z >> blocks.depth);
        let slice = if slice == 0 { 0 } else { u64::from(slice) * self.slice_stride() };
        let block = slice
            + u64::from(row) * self.row_stride()
            + u64::from(x / GOB_WIDTH) * u64::from(blocks.bytes());
        let gob =
            ((z % (1 << blocks.depth)) << blocks.height) + y % (1 << blocks.rows()) / GOB_ROWS;
        block + u64::from(gob * GOB_BYTES + in_gob(x % GOB_WIDTH, y % GOB_ROWS))
    }

    /// The number of bytes that are contiguous in memory, from each multiple of this number on.
    pub const RUN: u32 = 16;
}

/// The bits of an offset in a GOB, from the highest: x5 y2 y1 x4 y0 x3 x2 x1 x0.
fn in_gob(x: u32, y: u32) -> u32 {
    (x & 15) + ((y & 1) << 4) + ((x & 16) << 1) + ((y & 6) << 5) + ((x & 32) << 3)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn offsets_of_the_documents() {
        // 100 x 100 texels of 4 bytes in blocks of 16 GOBs.
        let plane = Plane::new(400, 100, 1, Layout::Blocks(Blocks { height: 4, depth: 0 }));
        assert_eq!(plane.bytes(), 0xe000);
        let expected = [
            (0, 0, 0),
            (3, 0, 0xc),
            (4, 0, 0x20),
            (7, 1, 0x3c),
            (8, 0, 0x100),
            (0, 2, 0x40),
            (0, 4, 0x80),
            (15, 7, 0x1fc),
            (16, 0, 0x2000),
            (0, 8, 0x200),
            (99, 99, 0xd85c),
        ];
        for (x, y, offset) in expected {
            assert_eq!(plane.offset(4 * x, y, 0), offset, "{x}, {y}");
        }
    }

    #[test]
    fn every_byte_has_its_place() {
        for (height, depth, size) in
            [(0, 0, [65, 9, 1]), (2, 1, [200, 37, 5]), (5, 5, [64, 20, 3]), (1, 2, [1, 1, 9])]
        {
            let [row_bytes, rows, slices] = size;
            let plane =
                Plane::new(row_bytes, rows, slices, Layout::Blocks(Blocks { height, depth }));
            let mut seen = vec![false; plane.bytes() as usize];
            for z in 0..slices {
                for y in 0..rows {
                    for x in 0..row_bytes {
                        let at = plane.offset(x, y, z) as usize;
                        assert!(!std::mem::replace(&mut seen[at], true), "{x}, {y}, {z}");
                    }
                }
            }
        }
    }
}
