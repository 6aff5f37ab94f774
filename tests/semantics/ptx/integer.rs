//! Tests *Integer Arithmetic*, *Extended-Precision Integer Arithmetic* and *Logic and Shift* of the
//! PTX ISA, and `prmt` and `mov` of vectors.

use super::{Group, registers};
use crate::integer::{EDGES, bfe, bfi, lop3, operand, prmt, prmt_mode};

#[test]
fn integer() {
    let mut group = Group::default();
    arithmetic(&mut group);
    products(&mut group);
    divisions(&mut group);
    chains(&mut group);
    bits(&mut group);
    logic(&mut group);
    shifts(&mut group);
    bytes(&mut group);
    group.check("integer", operand, &EDGES);
    group.check_text("integer", operand, &EDGES);
}

/// A PTX integer type.
#[derive(Clone, Copy, PartialEq)]
pub struct Int {
    pub name: &'static str,
    pub bits: u32,
    pub signed: bool,
}

const fn int(name: &'static str, bits: u32, signed: bool) -> Int {
    Int { name, bits, signed }
}

pub const INTS: [Int; 6] = [
    int("u16", 16, false),
    int("s16", 16, true),
    int("u32", 32, false),
    int("s32", 32, true),
    int("u64", 64, false),
    int("s64", 64, true),
];
const WORDS: [Int; 2] = [INTS[2], INTS[3]];

pub fn signed() -> impl Iterator<Item = Int> {
    INTS.into_iter().filter(|ty| ty.signed)
}

impl Int {
    /// Returns the number that the low bits of `value` encode.
    pub fn of(self, value: u64) -> i128 {
        let value = value & (u64::MAX >> (64 - self.bits));
        if self.signed && value >> (self.bits - 1) != 0 {
            i128::from(value) - (1 << self.bits)
        } else {
            value.into()
        }
    }

    pub fn least(self) -> i128 {
        if self.signed { -1 << (self.bits - 1) } else { 0 }
    }

    pub fn most(self) -> i128 {
        if self.signed { (1 << (self.bits - 1)) - 1 } else { (1 << self.bits) - 1 }
    }

    pub fn clamp(self, value: i128) -> i128 {
        value.clamp(self.least(), self.most())
    }

    /// Returns the high half of a product.
    fn high(self, x: u64, y: u64) -> i128 {
        if self.signed {
            (self.of(x) * self.of(y)) >> self.bits
        } else {
            ((self.of(x) as u128 * self.of(y) as u128) >> self.bits) as i128
        }
    }

    fn low(self, x: u64, y: u64) -> i128 {
        self.of(x).wrapping_mul(self.of(y))
    }
}

fn arithmetic(group: &mut Group) {
    for ty in INTS {
        let (bits, name, [r, x, y, _]) = (ty.bits, ty.name, registers(ty.bits));
        group.int(bits, format!("add.{name} {r}, {x}, {y};"), |x, y, _| x.wrapping_add(y));
        group.int(bits, format!("sub.{name} {r}, {x}, {y};"), |x, y, _| x.wrapping_sub(y));
        for imm in [5, 0x7fff, 0x12345, 0x7654_3210, 0x80000]
            .into_iter()
            .filter(|&imm| bits > 16 || imm < 0x8000)
        {
            group.int(bits, format!("add.{name} {r}, {x}, {imm};"), move |x, _, _| {
                x.wrapping_add(imm)
            });
            group.int(bits, format!("sub.{name} {r}, {imm}, {x};"), move |x, _, _| {
                imm.wrapping_sub(x)
            });
        }
        group.int(bits, format!("min.{name} {r}, {x}, {y};"), move |x, y, _| {
            ty.of(x).min(ty.of(y)) as u64
        });
        group.int(bits, format!("max.{name} {r}, {x}, {y};"), move |x, y, _| {
            ty.of(x).max(ty.of(y)) as u64
        });
        group
            .int(bits, format!("min.{name} {r}, {x}, 77;"), move |x, _, _| ty.of(x).min(77) as u64);
        group
            .int(bits, format!("max.{name} {r}, {x}, 77;"), move |x, _, _| ty.of(x).max(77) as u64);
        let [_, _, _, z] = registers(bits);
        group.int(bits, format!("sad.{name} {r}, {x}, {y}, {z};"), move |x, y, z| {
            (i128::from(z) + (ty.of(x) - ty.of(y)).abs()) as u64
        });
    }
    for ty in signed() {
        let (bits, name, [r, x, _, _]) = (ty.bits, ty.name, registers(ty.bits));
        group.int(bits, format!("abs.{name} {r}, {x};"), move |x, _, _| {
            ty.of(x).unsigned_abs() as u64
        });
        group.int(bits, format!("neg.{name} {r}, {x};"), |x, _, _| x.wrapping_neg());
    }
    let s32 = INTS[3];
    group.int(32, "add.sat.s32 r, x, y;", move |x, y, _| s32.clamp(s32.of(x) + s32.of(y)) as u64);
    group.int(32, "sub.sat.s32 r, x, y;", move |x, y, _| s32.clamp(s32.of(x) - s32.of(y)) as u64);
    group.int(32, "add.sat.s32 r, x, 0x7000000;", move |x, _, _| {
        s32.clamp(s32.of(x) + 0x700_0000) as u64
    });
    // Scaled additions and three-operand additions are separate instructions.
    group.int(32, "shl.b32 t, x, 7; add.s32 r, t, y;", |x, y, _| (x << 7).wrapping_add(y));
    group.int(32, "shl.b32 t, x, 3; sub.s32 r, y, t;", |x, y, _| y.wrapping_sub(x << 3));
    group.int(32, "shl.b32 t, x, 3; sub.s32 r, t, y;", |x, y, _| (x << 3).wrapping_sub(y));
    group.int(32, "shl.b32 t, x, 5; add.s32 r, t, 0x654321;", |x, _, _| {
        (x << 5).wrapping_add(0x65_4321)
    });
    group.int(64, "mul.wide.s32 T, x, 4; add.s64 R, T, Y;", |x, y, _| {
        ((x as i32 as i64) << 2).wrapping_add(y as i64) as u64
    });
    group.int(64, "shl.b64 T, X, 6; add.s64 R, T, Y;", |x, y, _| (x << 6).wrapping_add(y));
    group.int(32, "add.s32 t, x, y; add.s32 r, t, z;", |x, y, z| x.wrapping_add(y).wrapping_add(z));
    group.int(32, "sub.s32 t, x, y; sub.s32 r, t, z;", |x, y, z| x.wrapping_sub(y).wrapping_sub(z));
    group.int(64, "sub.s64 T, X, Y; add.s64 R, T, Z;", |x, y, z| x.wrapping_sub(y).wrapping_add(z));
}

fn products(group: &mut Group) {
    for ty in INTS {
        let (bits, name, [r, x, y, z]) = (ty.bits, ty.name, registers(ty.bits));
        group
            .int(bits, format!("mul.lo.{name} {r}, {x}, {y};"), move |x, y, _| ty.low(x, y) as u64);
        group.int(bits, format!("mul.hi.{name} {r}, {x}, {y};"), move |x, y, _| {
            ty.high(x, y) as u64
        });
        group.int(bits, format!("mad.lo.{name} {r}, {x}, {y}, {z};"), move |x, y, z| {
            (ty.low(x, y) as u64).wrapping_add(z)
        });
        group.int(bits, format!("mad.hi.{name} {r}, {x}, {y}, {z};"), move |x, y, z| {
            (ty.high(x, y) as u64).wrapping_add(z)
        });
        for imm in [10, 0x3ff, 0x1234_5679, 0x7fff_8001]
            .into_iter()
            .filter(|&imm| bits > 16 || imm < 0x8000)
        {
            group.int(bits, format!("mul.lo.{name} {r}, {x}, {imm};"), move |x, _, _| {
                ty.low(x, imm) as u64
            });
            group.int(bits, format!("mul.hi.{name} {r}, {x}, {imm};"), move |x, _, _| {
                ty.high(x, imm) as u64
            });
        }
        if bits < 64 {
            let ([wide, _, _, addend], [_, x, y, _]) = (registers(bits * 2), registers(bits));
            group.int(bits * 2, format!("mul.wide.{name} {wide}, {x}, {y};"), move |x, y, _| {
                ty.low(x, y) as u64
            });
            group.int(bits * 2, format!("mul.wide.{name} {wide}, {x}, 1001;"), move |x, _, _| {
                ty.low(x, 1001) as u64
            });
            group.int(
                bits * 2,
                format!("mad.wide.{name} {wide}, {x}, {y}, {addend};"),
                move |x, y, z| (ty.low(x, y) as u64).wrapping_add(z),
            );
        }
    }
    let s32 = INTS[3];
    group.int(32, "mad.hi.sat.s32 r, x, y, z;", move |x, y, z| {
        s32.clamp(s32.high(x, y) + s32.of(z)) as u64
    });
    for ty in WORDS {
        let low = Int { bits: 24, ..ty };
        let name = ty.name;
        let product = move |x, y| low.of(x) * low.of(y);
        group.int(32, format!("mul24.lo.{name} r, x, y;"), move |x, y, _| product(x, y) as u64);
        group.int(32, format!("mul24.hi.{name} r, x, y;"), move |x, y, _| {
            (product(x, y) >> 16) as u64
        });
        group.int(32, format!("mad24.lo.{name} r, x, y, z;"), move |x, y, z| {
            (product(x, y) as u64).wrapping_add(z)
        });
        group.int(32, format!("mad24.hi.{name} r, x, y, z;"), move |x, y, z| {
            ((product(x, y) >> 16) as u64).wrapping_add(z)
        });
    }
    group.int(32, "mad24.hi.sat.s32 r, x, y, z;", move |x, y, z| {
        let low = Int { bits: 24, ..s32 };
        s32.clamp(((low.of(x) * low.of(y)) >> 16) + s32.of(z)) as u64
    });
}

/// Adds divisions by nonzero divisors: PTX leaves division by 0 open.
fn divisions(group: &mut Group) {
    for ty in INTS {
        let (bits, name, [r, x, y, _]) = (ty.bits, ty.name, registers(ty.bits));
        let t = ["ht", "t", "T"][bits as usize / 32];
        // Dividing the least number by -1 overflows.
        let (divisor, odd): (_, fn(u64) -> u64) = if ty.signed {
            (format!("or.b{bits} {t}, {y}, 1; and.b{bits} {t}, {t}, -3;"), |y| (y | 1) & !2)
        } else {
            (format!("or.b{bits} {t}, {y}, 1;"), |y| y | 1)
        };
        group.int(bits, format!("{divisor} div.{name} {r}, {x}, {t};"), move |x, y, _| {
            (ty.of(x) / ty.of(odd(y))) as u64
        });
        group.int(bits, format!("{divisor} rem.{name} {r}, {x}, {t};"), move |x, y, _| {
            (ty.of(x) % ty.of(odd(y))) as u64
        });
        for imm in [3, 7, 10, 64, 641, 32767] {
            group.int(bits, format!("div.{name} {r}, {x}, {imm};"), move |x, _, _| {
                (ty.of(x) / imm) as u64
            });
            group.int(bits, format!("rem.{name} {r}, {x}, {imm};"), move |x, _, _| {
                (ty.of(x) % imm) as u64
            });
        }
    }
}

/// Adds carry chains over numbers of several words.
fn chains(group: &mut Group) {
    let wide = |x: u64, y: u64| u128::from(x) | u128::from(y) << 64;
    for (s, t) in [("u32", "u64"), ("s32", "s64")] {
        // 96 bits: the words of X and Y, and z.
        let split = "mov.b64 {t, u}, X; mov.b64 {v, w}, Y;";
        for (op, carry) in [("add", "addc"), ("sub", "subc")] {
            let (sums, minus) = (op == "add", op == "sub");
            let sum = move |x: u64, y: u64, z: u64| {
                // z:X +- x:Y
                let (a, b) = (
                    u128::from(z & 0xffff_ffff) << 64 | u128::from(x),
                    u128::from(x & 0xffff_ffff) << 64 | u128::from(y),
                );
                if minus { a.wrapping_sub(b) } else { a.wrapping_add(b) }
            };
            let chain = format!("{split} {op}.cc.{s} t, t, v; {carry}.cc.{s} u, u, w;");
            group.int(64, format!("{chain} mov.b64 R, {{t, u}};"), move |x, y, z| {
                sum(x, y, z) as u64
            });
            group.int(32, format!("{chain} {carry}.{s} r, z, x;"), move |x, y, z| {
                (sum(x, y, z) >> 64) as u64
            });
            group.int(32, format!("{op}.cc.{s} t, x, y; {carry}.{s} r, 0, 0;"), move |x, y, _| {
                let (x, y) = (x & 0xffff_ffff, y & 0xffff_ffff);
                if sums { (x + y) >> 32 } else { u64::from(x < y).wrapping_neg() }
            });
            group.int(64, format!("{op}.cc.{t} T, X, Y; {carry}.{t} R, Z, X;"), move |x, y, z| {
                let (a, b) = (wide(x, z), wide(y, x));
                ((if minus { a.wrapping_sub(b) } else { a.wrapping_add(b) }) >> 64) as u64
            });
            group.int(
                64,
                format!("{op}.cc.{t} T, X, Y; {carry}.cc.{t} U, Z, X; {carry}.{t} R, Y, Z;"),
                move |x, y, z| {
                    let (_, first) =
                        if minus { x.overflowing_sub(y) } else { x.overflowing_add(y) };
                    let second = if minus {
                        i128::from(z) - i128::from(x) - i128::from(first) < 0
                    } else {
                        u128::from(z) + u128::from(x) + u128::from(first) > u128::from(u64::MAX)
                    };
                    if minus {
                        y.wrapping_sub(z).wrapping_sub(second.into())
                    } else {
                        y.wrapping_add(z).wrapping_add(second.into())
                    }
                },
            );
        }
    }
    for ty in WORDS {
        let name = ty.name;
        // Adds the carry out of a product and sum's low word, and a high word that takes it.
        let low = move |x, y, z: u64| (ty.low(x, y) as u64 & 0xffff_ffff) + (z & 0xffff_ffff);
        group.int(32, format!("mad.lo.cc.{name} t, x, y, z; addc.u32 r, 0, 0;"), move |x, y, z| {
            low(x, y, z) >> 32
        });
        group.int(32, format!("mad.lo.cc.{name} r, x, y, z;"), low);
        group.int(
            32,
            format!("mad.lo.cc.{name} t, x, y, z; madc.hi.{name} r, x, y, z;"),
            move |x, y, z| (ty.high(x, y) as u64).wrapping_add(z).wrapping_add(low(x, y, z) >> 32),
        );
        group.int(
            32,
            format!("mad.lo.cc.{name} t, x, y, z; madc.lo.{name} r, x, z, y;"),
            move |x, y, z| (ty.low(x, z) as u64).wrapping_add(y).wrapping_add(low(x, y, z) >> 32),
        );
        group.int(32, format!("mad.hi.cc.{name} t, x, y, z; addc.u32 r, t, 0;"), move |x, y, z| {
            let sum = (ty.high(x, y) as u64 & 0xffff_ffff) + (z & 0xffff_ffff);
            (sum & 0xffff_ffff) + (sum >> 32)
        });
        group.int(
            32,
            format!("mad.lo.cc.{name} t, x, y, z; madc.hi.cc.{name} u, x, y, z; addc.u32 r, 0, 0;"),
            move |x, y, z| {
                let high = ty.high(x, y) as u64 & 0xffff_ffff;
                (high + (z & 0xffff_ffff) + (low(x, y, z) >> 32)) >> 32
            },
        );
        group.int(
            32,
            format!("mad.lo.cc.{name} t, x, y, z; madc.lo.cc.{name} u, x, z, y; addc.u32 r, 0, 0;"),
            move |x, y, z| {
                let next = ty.low(x, z) as u64 & 0xffff_ffff;
                (next + (y & 0xffff_ffff) + (low(x, y, z) >> 32)) >> 32
            },
        );
    }
    // 64 x 64 = 128 bits, as compilers write it for big numbers.
    let product = "mov.b64 {t, u}, X; mov.b64 {v, w}, Y; .reg .b32 p0, p1, p2, p3; \
                   mul.lo.u32 p0, t, v; mul.hi.u32 p1, t, v; \
                   mad.lo.cc.u32 p1, t, w, p1; madc.hi.u32 p2, t, w, 0; \
                   mad.lo.cc.u32 p1, u, v, p1; madc.hi.cc.u32 p2, u, v, p2; madc.hi.u32 p3, u, w, 0; \
                   mad.lo.cc.u32 p2, u, w, p2; addc.u32 p3, p3, 0;";
    group.int(64, format!("{{ {product} mov.b64 R, {{p0, p1}}; }}"), |x, y, _| x.wrapping_mul(y));
    group.int(64, format!("{{ {product} mov.b64 R, {{p2, p3}}; }}"), |x, y, _| {
        ((u128::from(x) * u128::from(y)) >> 64) as u64
    });
    for name in ["u64", "s64"] {
        let ty = INTS.into_iter().find(|ty| ty.name == name).expect("a type");
        group.int(
            64,
            format!("mad.lo.cc.{name} T, X, Y, Z; madc.hi.{name} R, X, Y, Z;"),
            move |x, y, z| {
                let carry = (ty.low(x, y) as u64).overflowing_add(z).1;
                (ty.high(x, y) as u64).wrapping_add(z).wrapping_add(carry.into())
            },
        );
    }
}

/// Returns the index of the highest bit that differs from the sign, or -1.
fn leading(ty: Int, x: u64) -> i128 {
    let value = ty.of(x);
    let value = if value < 0 { !value } else { value };
    if value == 0 { -1 } else { value.ilog2().into() }
}

fn bits(group: &mut Group) {
    for ty in [32, 64] {
        let [_, x, _, _] = registers(ty);
        let mask = u64::MAX >> (64 - ty);
        group.int(32, format!("popc.b{ty} r, {x};"), move |x, _, _| (x & mask).count_ones().into());
        group.int(32, format!("clz.b{ty} r, {x};"), move |x, _, _| {
            u64::from((x & mask).leading_zeros() - (64 - ty))
        });
        let [r, x, y, _] = registers(ty);
        group
            .int(ty, format!("brev.b{ty} {r}, {x};"), move |x, _, _| x.reverse_bits() >> (64 - ty));
        let of = |lens: u64| (lens as u32 & 0xff, lens as u32 >> 8 & 0xff);
        let fields = "and.b32 t, z, 0xff; bfe.u32 u, z, 8, 8;";
        group.int(ty, format!("{fields} bfi.b{ty} {r}, {x}, {y}, t, u;"), move |x, y, z| {
            let (pos, len) = of(z);
            if ty == 32 { bfi(x as u32, y as u32, pos, len).into() } else { bfi64(x, y, pos, len) }
        });
        for (pos, len) in [(0, 5), (3, 17), (31, 1), (20, 12), (7, 0), (40, 8)] {
            group.int(ty, format!("bfi.b{ty} {r}, {x}, {y}, {pos}, {len};"), move |x, y, _| {
                if ty == 32 {
                    bfi(x as u32, y as u32, pos, len).into()
                } else {
                    bfi64(x, y, pos, len)
                }
            });
        }
    }
    for ty in INTS.into_iter().filter(|ty| ty.bits > 16) {
        let (bits, name, [r, x, _, _]) = (ty.bits, ty.name, registers(ty.bits));
        group.int(32, format!("bfind.{name} r, {x};"), move |x, _, _| leading(ty, x) as u64);
        group.int(32, format!("bfind.shiftamt.{name} r, {x};"), move |x, _, _| {
            let index = leading(ty, x);
            if index < 0 { u64::MAX } else { (i128::from(bits) - 1 - index) as u64 }
        });
        let extract = move |x: u64, pos: u32, len: u32| {
            if bits == 32 {
                bfe(x as u32, pos, len, ty.signed).into()
            } else {
                bfe64(x, pos, len, ty.signed)
            }
        };
        group.int(
            bits,
            format!("and.b32 t, y, 0xff; and.b32 u, z, 0xff; bfe.{name} {r}, {x}, t, u;"),
            move |x, y, z| extract(x, y as u32 & 0xff, z as u32 & 0xff),
        );
        group.int(
            bits,
            format!("and.b32 t, y, 63; and.b32 u, z, 63; bfe.{name} {r}, {x}, t, u;"),
            move |x, y, z| extract(x, y as u32 & 63, z as u32 & 63),
        );
        // Skips positions past the top: for a constant one, ptxas 12.9 gives -1 for any operand.
        let constants = [(0, 5), (3, 17), (31, 1), (24, 8), (20, 16), (7, 0), (33, 9)];
        for (pos, len) in constants.into_iter().filter(|&(pos, _)| pos < bits) {
            group.int(bits, format!("bfe.{name} {r}, {x}, {pos}, {len};"), move |x, _, _| {
                extract(x, pos, len)
            });
        }
    }
    group.int(32, "and.b32 t, y, 31; bfe.s32 u, z, 0, 6; fns.b32 r, x, t, u;", |x, y, z| {
        find_nth(x as u32, y as u32 & 31, ((z as i32) << 26 >> 26).into())
    });
}

/// Returns the result of PTX `fns`: the position of a set bit relative to `base`, or -1. `offset` 1
/// is the first set bit from `base` up, -1 the first one down, 0 the bit `base` itself.
fn find_nth(mask: u32, base: u32, offset: i64) -> u64 {
    let set = |&bit: &u32| mask >> bit & 1 != 0;
    let count = offset.unsigned_abs() as usize;
    let found = match offset {
        0 => Some(base).filter(set),
        1.. => (base..32).filter(set).nth(count - 1),
        _ => (0..=base).rev().filter(set).nth(count - 1),
    };
    found.map_or(u64::MAX, u64::from)
}

fn bfi64(a: u64, b: u64, pos: u32, len: u32) -> u64 {
    (0..len)
        .take_while(|i| pos + i <= 63)
        .fold(b, |result, i| result & !(1 << (pos + i)) | (a >> i & 1) << (pos + i))
}

fn bfe64(a: u64, pos: u32, len: u32, signed: bool) -> u64 {
    let sign_at = (pos + len).saturating_sub(1).min(63);
    let sign = u64::from(signed && len > 0 && a >> sign_at & 1 != 0);
    (0..64).fold(0, |result, i| {
        let bit = if i < len && pos + i <= 63 { a >> (pos + i) & 1 } else { sign };
        result | bit << i
    })
}

fn logic(group: &mut Group) {
    type Op = fn(u64, u64) -> u64;
    let ops: [(&str, Op); 3] = [("and", |x, y| x & y), ("or", |x, y| x | y), ("xor", |x, y| x ^ y)];
    for bits in [16, 32, 64] {
        let [r, x, y, z] = registers(bits);
        for (name, op) in ops {
            group.int(bits, format!("{name}.b{bits} {r}, {x}, {y};"), move |x, y, _| op(x, y));
            for imm in [0x11, 0x7f3c, 0x1234_5678, 0xfff0_0000]
                .into_iter()
                .filter(|&imm| bits > 16 || imm < 0x8000)
            {
                group.int(bits, format!("{name}.b{bits} {r}, {x}, {imm};"), move |x, _, _| {
                    op(x, imm)
                });
            }
            // Complements are operand modifiers.
            group.int(
                bits,
                format!("not.b{bits} {r}, {y}; {name}.b{bits} {r}, {x}, {r};"),
                move |x, y, _| op(x, !y),
            );
            group.int(
                bits,
                format!("{name}.b{bits} {r}, {x}, {y}; not.b{bits} {r}, {r};"),
                move |x, y, _| !op(x, y),
            );
            group.int(
                bits,
                format!("{name}.b{bits} {r}, {x}, {y}; xor.b{bits} {r}, {r}, {z};"),
                move |x, y, z| op(x, y) ^ z,
            );
        }
        let mask = u64::MAX >> (64 - bits);
        group.int(bits, format!("not.b{bits} {r}, {x};"), |x, _, _| !x);
        group.int(bits, format!("cnot.b{bits} {r}, {x};"), move |x, _, _| u64::from(x & mask == 0));
    }
    let predicates = "setp.lt.s32 p, x, y; setp.eq.b32 q, y, z;";
    let (p, q) = (|x: u64, y: u64| (x as i32) < y as i32, |y: u64, z: u64| y as u32 == z as u32);
    group.predicate(format!("{predicates} and.pred p, p, q;"), move |x, y, z| p(x, y) & q(y, z));
    group.predicate(format!("{predicates} or.pred p, p, q;"), move |x, y, z| p(x, y) | q(y, z));
    group.predicate(format!("{predicates} xor.pred p, p, q;"), move |x, y, z| p(x, y) ^ q(y, z));
    group.predicate(format!("{predicates} not.pred p, p; and.pred p, p, q;"), move |x, y, z| {
        !p(x, y) & q(y, z)
    });
    group.predicate("setp.lt.s32 p, x, y; mov.pred q, p; not.pred p, q;", move |x, y, _| !p(x, y));
    for lut in 0..=255 {
        group.int(32, format!("lop3.b32 r, x, y, z, {lut:#04x};"), move |x, y, z| {
            lop3(lut, x, y, z)
        });
    }
    for lut in [0x96u8, 0xe8, 0x1b, 0x40, 0xd2] {
        group.int(32, format!("lop3.b32 r, x, 0x12345678, z, {lut:#04x};"), move |x, _, z| {
            lop3(lut, x, 0x1234_5678, z)
        });
        group.int(32, format!("lop3.b32 r, x, y, 0x77, {lut:#04x};"), move |x, y, _| {
            lop3(lut, x, y, 0x77)
        });
    }
}

fn shifts(group: &mut Group) {
    for ty in INTS {
        let (bits, name, [r, x, _, _]) = (ty.bits, ty.name, registers(ty.bits));
        let shl = move |x: u64, n: u64| if n < bits.into() { x << n } else { 0 };
        let shr = move |x: u64, n: u64| (ty.of(x) >> n.min(100)) as u64;
        for (count, of) in [("y", u64::MAX), ("t", 63), ("t", 31)] {
            let prepare = if count == "t" { format!("and.b32 t, y, {of};") } else { String::new() };
            let count_of = move |y: u64| y & of & 0xffff_ffff;
            if !ty.signed {
                group.int(
                    bits,
                    format!("{prepare} shl.b{bits} {r}, {x}, {count};"),
                    move |x, y, _| shl(x, count_of(y)),
                );
                group.int(
                    bits,
                    format!("{prepare} shr.b{bits} {r}, {x}, {count};"),
                    move |x, y, _| shr(x, count_of(y)),
                );
            }
            group.int(bits, format!("{prepare} shr.{name} {r}, {x}, {count};"), move |x, y, _| {
                shr(x, count_of(y))
            });
        }
        for count in [0, 1, 9, 15, 16, 31, 32, 33, 45, 63, 64, 200] {
            if !ty.signed {
                group.int(bits, format!("shl.b{bits} {r}, {x}, {count};"), move |x, _, _| {
                    shl(x, count)
                });
            }
            group.int(bits, format!("shr.{name} {r}, {x}, {count};"), move |x, _, _| shr(x, count));
        }
    }
    // Shifts b:a and keeps the high or the low word.
    let pair = |a: u64, b: u64| (b & 0xffff_ffff) << 32 | a & 0xffff_ffff;
    for wrap in [false, true] {
        let mode = if wrap { "wrap" } else { "clamp" };
        let count_of = move |n: u64| if wrap { n & 31 } else { (n & 0xffff_ffff).min(32) };
        let left = move |a, b, n| (pair(a, b) << count_of(n)) >> 32;
        let right = move |a, b, n| pair(a, b) >> count_of(n);
        group.int(32, format!("shf.l.{mode}.b32 r, x, y, z;"), left);
        group.int(32, format!("shf.r.{mode}.b32 r, x, y, z;"), right);
        group.int(32, format!("and.b32 t, z, 63; shf.l.{mode}.b32 r, x, y, t;"), move |x, y, z| {
            left(x, y, z & 63)
        });
        group.int(32, format!("and.b32 t, z, 63; shf.r.{mode}.b32 r, x, y, t;"), move |x, y, z| {
            right(x, y, z & 63)
        });
        group.int(32, format!("and.b32 t, z, 63; shf.l.{mode}.b32 r, x, x, t;"), move |x, _, z| {
            left(x, x, z & 63)
        });
        for count in [0, 1, 13, 31, 32, 33] {
            group.int(32, format!("shf.l.{mode}.b32 r, x, y, {count};"), move |x, y, _| {
                left(x, y, count)
            });
            group.int(32, format!("shf.r.{mode}.b32 r, x, y, {count};"), move |x, y, _| {
                right(x, y, count)
            });
        }
    }
}

fn bytes(group: &mut Group) {
    group.int(32, "prmt.b32 r, x, y, z;", |x, y, z| prmt(x as u32, y as u32, z as u32).into());
    for selector in [0x3210, 0x0123, 0x7531, 0x5410, 0x7632, 0x4321, 0x9c5b, 0x8888, 0x0004, 0xfedc]
    {
        group.int(32, format!("prmt.b32 r, x, y, {selector:#x};"), move |x, y, _| {
            prmt(x as u32, y as u32, selector).into()
        });
    }
    type Index = fn(u32, u32) -> u32;
    let modes: [(&str, Index); 6] = [
        ("f4e", |n, i| n + i),
        ("b4e", |n, i| n.wrapping_sub(i) & 7),
        ("rc8", |n, _| n),
        ("ecl", |n, i| n.max(i)),
        ("ecr", |n, i| n.min(i)),
        ("rc16", |n, i| (n & 1) * 2 + (i & 1)),
    ];
    for (mode, index) in modes {
        group.int(32, format!("prmt.b32.{mode} r, x, y, z;"), move |x, y, z| {
            prmt_mode(x, y, z, index)
        });
        for n in 0..4 {
            group.int(32, format!("prmt.b32.{mode} r, x, y, {n};"), move |x, y, _| {
                prmt_mode(x, y, n, index)
            });
        }
    }
    // Packs and unpacks vectors of halves and words.
    group.int(32, "mov.b32 r, {hy, hx};", |x, y, _| (x & 0xffff) << 16 | y & 0xffff);
    group.int(64, "mov.b64 R, {y, x};", |x, y, _| x << 32 | y & 0xffff_ffff);
    group.int(64, "mov.b64 R, {hy, hx, hz, hy};", |x, y, z| {
        (y & 0xffff) << 48 | (z & 0xffff) << 32 | (x & 0xffff) << 16 | y & 0xffff
    });
    group.int(16, "mov.b32 {ht, hr}, x;", |x, _, _| x >> 16);
    group.int(32, "mov.b64 {t, r}, X;", |x, _, _| x >> 32);
    group.int(16, "{ .reg .b16 a, b; mov.b64 {a, b, hr, ht}, X; }", |x, _, _| x >> 32);
    group.int(16, "{ .reg .b8 a, b; mov.b16 {a, b}, hx; cvt.u16.u8 hr, b; }", |x, _, _| {
        x >> 8 & 0xff
    });
    group.int(16, "{ .reg .b8 a, b; mov.b16 {a, b}, hx; mov.b16 hr, {b, a}; }", |x, _, _| {
        (x & 0xff) << 8 | x >> 8 & 0xff
    });
    group.int(
        32,
        "{ .reg .b8 a, b, c, d; mov.b32 {a, b, c, d}, x; mov.b32 r, {d, c, b, a}; }",
        |x, _, _| (x as u32).swap_bytes().into(),
    );
}
