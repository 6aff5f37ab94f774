//! Values that instructions run on, and the loop that runs them.

use super::reference::Ty;
use super::support::{LANES, Probe, State};

/// The random number generator Xorshift.
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Random {
        Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    pub fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    fn pick(&mut self, of: &[u64]) -> u64 {
        of[(self.next() >> 33) as usize % of.len()]
    }
}

/// Returns zeros, limits, NaNs, denormals, integers and halves.
pub fn special(ty: Ty) -> Vec<u64> {
    let (infinity, least) = (ty.infinity(), ty.least_normal());
    let mut values = vec![
        0,
        1,
        3,
        least / 2,
        least - 1,
        least,
        least + 1,
        infinity - 1,
        infinity,
        infinity + 1,
        ty.nan() - 1,
        ty.nan(),
        ty.nan() + 5,
    ];
    let numbers =
        [0.5, 1.0, 1.5, 2.0, 2.5, 3.0, 0.75, 0.25, 255.5, 1000.0, 32767.5, 65504.0, 0.49951171875];
    values.extend(numbers.map(|x| ty.of(x)));
    values.extend([ty.of(1.0) - 1, ty.of(1.0) + 1, ty.of(0.5) - 1]);
    if ty != Ty::H {
        values.extend(
            [
                2147483648.0,
                2147483520.0,
                4294967296.0,
                1e10,
                1e-10,
                65520.0,
                65519.0,
                6e-8,
                2.9e-8,
                1e-5,
            ]
            .map(|x| ty.of(x)),
        );
    }
    let negated: Vec<u64> = values.iter().map(|x| x | ty.sign()).collect();
    values.extend(negated);
    values
}

/// Returns rows of operands: all pairs of special values, then random ones, some near each other.
pub fn rows(types: [Ty; 3], arity: usize) -> Vec<[u64; 3]> {
    let special = types.map(special);
    let mut rows = Vec::new();
    match arity {
        1 => rows.extend(special[0].iter().map(|&a| [a, 0, 0])),
        2 => {
            rows.extend(special[0].iter().flat_map(|&a| special[1].iter().map(move |&b| [a, b, 0])))
        }
        _ => {}
    }
    let mut random = Random::new(arity as u64 + 7);
    let mask = |ty: Ty, x: u64| x >> (64 - ty.bits());
    let count = match arity {
        1 | 2 => 64 * 6,
        _ => 64 * 15,
    };
    for n in 0..count {
        let mut row = [0, 1, 2].map(|k| {
            if random.next() >> 62 == 0 {
                random.pick(&special[k])
            } else {
                mask(types[k], random.next())
            }
        });
        if n % 4 == 1 && types[0] == types[1] {
            // The operands have similar size.
            let near = random.next() >> 44 & ((types[0].bits() as u64 * 0x10_0001) >> 3);
            row[1] = row[0].wrapping_add(near) & (types[0].sign() << 1).wrapping_sub(1);
        }
        if n % 4 == 2 {
            let tiny = |ty: Ty, x: u64| x & (ty.least_normal() * 8 - 1) | x & ty.sign();
            row = [0, 1, 2].map(|k| tiny(types[k], row[k]));
        }
        if n % 4 == 3 {
            // The operands are around 1.
            let middle = |ty: Ty, x: u64| {
                (x & (ty.least_normal() * 16 - 1) | x & ty.sign()).wrapping_add(ty.of(0.01))
            };
            row = [0, 1, 2].map(|k| middle(types[k], row[k]));
        }
        rows.push(row);
    }
    rows
}

/// The width of an operand: one register or two, by the number of bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Width {
    /// The low half; the other half of a destination becomes 0.
    Half,
    /// The low half; the other half of a destination keeps its value.
    HalfKept,
    Word,
    Long,
}

impl From<Ty> for Width {
    fn from(ty: Ty) -> Width {
        match ty {
            Ty::H => Width::Half,
            Ty::S => Width::Word,
            Ty::D => Width::Long,
        }
    }
}

fn put(state: &mut State, number: usize, lane: usize, width: Width, bits: u64) {
    match width {
        Width::Long => state.set_long(number, lane, bits),
        Width::Word => state.vectors[number][lane] = bits as u32,
        // The upper half has no meaning.
        Width::Half | Width::HalfKept => state.vectors[number][lane] = bits as u32 | 0x9abc_0000,
    }
}

/// Runs an instruction that writes v0 on operands in v2, v4 and v6, and compares the whole state.
pub fn check(
    text: &str,
    mode: u32,
    widths: [Width; 3],
    dst: Width,
    rows: &[[u64; 3]],
    reference: impl Fn([u64; 3]) -> u64,
) {
    let probe = Probe::new(&[text], mode);
    // The usual mode runs all rows, other modes a part.
    let (first, step) = match rows.len() {
        _ if mode == 0x3f0 => (0, 1),
        0..256 => (0, 1),
        _ => (mode as usize % 3, 5),
    };
    for chunk in rows.chunks(LANES).skip(first).step_by(step) {
        let mut before = State::new();
        for (lane, row) in chunk.iter().enumerate() {
            for (n, (&bits, width)) in row.iter().zip(widths).enumerate() {
                put(&mut before, 2 + 2 * n, lane, width, bits);
            }
        }
        before.set_pair(super::support::EXEC, u64::MAX >> (LANES - chunk.len()));
        let mut expected = before.clone();
        for (lane, &row) in chunk.iter().enumerate() {
            let bits = reference(row);
            match dst {
                Width::Long => expected.set_long(0, lane, bits),
                Width::Word | Width::Half => expected.vectors[0][lane] = bits as u32,
                Width::HalfKept => {
                    let old = expected.vectors[0][lane];
                    expected.vectors[0][lane] = old & 0xffff_0000 | bits as u32;
                }
            }
        }
        for (engine, found) in probe.run(&before) {
            if found == expected {
                continue;
            }
            for (lane, row) in chunk.iter().enumerate() {
                let (f, e) = (found.long(0, lane), expected.long(0, lane));
                assert!(
                    f == e,
                    "{engine}, {text}, mode {mode:#x}, {row:x?}: expected {e:#x}, found {f:#x}"
                );
            }
            panic!("{engine}, {text}, mode {mode:#x}: another register changed");
        }
    }
}
