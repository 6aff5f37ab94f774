//! Which bytes of an array make up a vector, and which stretches of 16 bytes contain them.

use smallvec::SmallVec;
use warploom_ir::{Region, Type, Window};

use crate::forms::parts;

/// The number of bytes of a vector.
pub const VECTOR: u32 = 16;

/// For each byte of a vector, the byte of the array that it is read from or written to. `None`
/// reads 0 and is not written.
pub type Picks = [Option<u32>; VECTOR as usize];

/// For each byte of a result, the number of its source byte: the operand of a shuffle.
pub type Order = [Option<u8>; VECTOR as usize];

/// An array as generated code sees it.
#[derive(Clone, Copy)]
pub struct Array {
    /// The array's offset in the register file.
    pub offset: u32,
    pub length: u32,
    /// Bytes up to the next register. This is a multiple of 64, so whole vectors fit into an array
    /// that is not empty.
    pub padded: u32,
}

/// Elements of a direct or indirect region for the lanes of a window.
#[derive(Clone, Copy)]
pub struct Elements {
    pub region: Region,
    pub ty: Type,
    pub window: Window,
}

impl Elements {
    pub fn size(&self) -> u32 {
        self.ty.bytes()
    }

    /// Returns the elements with offsets that count from element 0.
    pub fn at_index(self) -> Self {
        Elements { region: Region { offset: 0, ..self.region }, ..self }
    }

    /// Returns the begin of a lane's element, without the index, if the lane is in the window.
    pub fn of_lane(&self, lane: usize) -> Option<u32> {
        let i =
            self.window.lanes().contains(&lane).then(|| lane - usize::from(self.window.first))?;
        Some(self.region.element(i as u32, self.size()))
    }

    /// Returns the bytes from the array's begin, or from the index, to the end of the last element.
    /// Returns `None` if the number overflows.
    pub fn end(&self) -> Option<u32> {
        let last = self.window.lanes().filter_map(|lane| self.of_lane(lane)).max()?;
        last.checked_add(self.size())
    }

    /// Returns the bytes from each element to the next, if all these distances are equal.
    pub fn step(&self) -> Option<u32> {
        self.end()?;
        let mut at = self.window.lanes().filter_map(|lane| self.of_lane(lane));
        let first = at.next()?;
        let Some(second) = at.next() else { return Some(0) };
        let step = second.checked_sub(first)?;
        let mut expected = second;
        at.all(|at| {
            expected = expected.wrapping_add(step);
            at == expected
        })
        .then_some(step)
    }

    /// Returns the array's bytes that make up one vector of a chunk; only the first `length` bytes
    /// of the array count.
    pub fn picks(&self, chunk: usize, part: usize, length: u32) -> Picks {
        let cell = self.ty.cell_bytes();
        let lanes = VECTOR / cell;
        let first = chunk * lanes as usize * parts(self.ty) + part * lanes as usize;
        std::array::from_fn(|byte| {
            let (lane, byte) = (byte as u32 / cell, byte as u32 % cell);
            let at = self.of_lane(first + lane as usize).filter(|_| byte < self.size())?;
            at.checked_add(byte).filter(|&at| at < length)
        })
    }
}

/// Returns the begins of at most two stretches of 16 bytes that contain all bytes of a vector.
/// Stretches end at or before `end`, which is at least 16.
pub fn stretches(picks: &Picks, end: u32) -> Option<SmallVec<[u32; 2]>> {
    let mut found: SmallVec<[u32; 2]> = SmallVec::new();
    loop {
        let open = |at: &u32| !found.iter().any(|&begin| (begin..begin + VECTOR).contains(at));
        let Some(least) = picks.iter().flatten().copied().filter(open).min() else {
            return Some(found);
        };
        if found.len() == 2 {
            return None;
        }
        found.push(least.min(end - VECTOR));
    }
}

/// Returns whether two bytes of a vector are the same byte of the array.
pub fn overlap(picks: &Picks) -> bool {
    let mut bytes: SmallVec<[u32; 16]> = picks.iter().flatten().copied().collect();
    bytes.sort_unstable();
    bytes.windows(2).any(|pair| pair[0] == pair[1])
}

/// Returns the byte of a stretch for each byte of a vector.
pub fn taken(picks: &Picks, begin: u32) -> Order {
    picks.map(|at| {
        at.and_then(|at| at.checked_sub(begin)).filter(|&at| at < VECTOR).map(|at| at as u8)
    })
}

/// Returns the byte of a vector for each byte of a stretch.
pub fn put(picks: &Picks, begin: u32) -> Order {
    let from = taken(picks, begin);
    std::array::from_fn(|at| {
        from.iter().position(|&byte| byte == Some(at as u8)).map(|byte| byte as u8)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn elements(ty: Type, [offset, vstride, width, hstride]: [u32; 4]) -> Elements {
        let [vstride, width, hstride] = [vstride, width, hstride].map(|x| x as u16);
        Elements {
            region: Region { offset, vstride, width, hstride },
            ty,
            window: Window { first: 0, count: 16 },
        }
    }

    #[test]
    fn rows_of_words() {
        let found = elements(Type::I16, [2, 8, 4, 2]).picks(0, 1, 64);
        // Lanes 4 to 7 begin at 2 + 8 * 2.
        let two = |at| [Some(at), Some(at + 1), None, None];
        assert_eq!(found.to_vec(), [two(18), two(22), two(26), two(30)].concat());
        assert_eq!(stretches(&found, 64).unwrap()[..], [18]);
        assert_eq!(stretches(&found, 32).unwrap()[..], [16]);
        assert_eq!(taken(&found, 16)[4], Some(6));
        assert_eq!(put(&found, 16)[6], Some(4));
        assert!(!overlap(&found));
    }

    #[test]
    fn ends() {
        let packed = elements(Type::I32, [8, 1, 1, 0]);
        assert_eq!((packed.end(), packed.step()), (Some(8 + 64), Some(4)));
        assert_eq!(packed.picks(0, 0, 15)[5..9], [Some(13), Some(14), None, None]);
        let far = elements(Type::I64, [u32::MAX - 8, 1, 1, 0]);
        assert_eq!((far.end(), far.step()), (None, None));
        let scalar = elements(Type::I8, [3, 0, 1, 0]);
        assert_eq!((scalar.end(), scalar.step()), (Some(4), Some(0)));
        assert!(overlap(&scalar.picks(0, 0, 64)));
        assert_eq!(elements(Type::I8, [0, 40, 2, 1]).step(), None);
        let apart = elements(Type::I32, [0, 6, 1, 0]).picks(0, 0, 96);
        assert_eq!(stretches(&apart, 128), None);
    }
}
