//! Tests, from the text alone, forms that only later GPUs have, results that PTX leaves open and
//! warploom defines, guards, and addresses.

use super::compare::{COMBINES, OPS};
use super::integer::{INTS, Int};
use super::{Group, registers};
use crate::integer::{EDGES, lop3, operand};

#[test]
fn later() {
    let declarations = ".shared .align 8 .b32 in_shared[8];\n.const .align 8 .b32 in_const[8] = {1, 2, 3, 4};\n\
                        .global .align 8 .b32 in_global[8];\n";
    let mut group = Group { version: "8.3", target: "sm_90", declarations, ..Group::default() };
    open_results(&mut group);
    packed(&mut group);
    logic(&mut group);
    masks(&mut group);
    products(&mut group);
    wide_moves(&mut group);
    halves(&mut group);
    guards(&mut group);
    addresses(&mut group);
    group.check_text("later", operand, &EDGES);
}

#[test]
fn newest() {
    let mut group = Group { version: "9.2", target: "sm_120a", ..Group::default() };
    let u32 = INTS[2];
    group.int(32, "add.sat.u32 r, x, y;", move |x, y, _| u32.clamp(u32.of(x) + u32.of(y)) as u64);
    for ty in [INTS[0], INTS[1]] {
        group.int(32, format!("add.sat.{}x2 r, x, y;", ty.name), move |x, y, _| {
            of_halves(x, y, |x, y| ty.clamp(ty.of(x) + ty.of(y)) as u64)
        });
    }
    group.check_text("newest", operand, &EDGES);
}

fn of_halves(x: u64, y: u64, operation: impl Fn(u64, u64) -> u64) -> u64 {
    let half = |n: u32| (operation(x >> n & 0xffff, y >> n & 0xffff) & 0xffff) << n;
    half(0) | half(16)
}

/// Adds quotients by 0 and out of range, and fields past the highest bit.
fn open_results(group: &mut Group) {
    for ty in INTS {
        let (bits, name, [r, x, y, _]) = (ty.bits, ty.name, registers(ty.bits));
        group.int(bits, format!("div.{name} {r}, {x}, {y};"), move |x, y, _| {
            if ty.of(y) == 0 { u64::MAX } else { (ty.of(x) / ty.of(y)) as u64 }
        });
        group.int(bits, format!("rem.{name} {r}, {x}, {y};"), move |x, y, _| {
            if ty.of(y) == 0 { u64::MAX } else { (ty.of(x) % ty.of(y)) as u64 }
        });
        group.int(bits, format!("div.{name} {r}, {x}, 7;"), move |x, _, _| (ty.of(x) / 7) as u64);
        group.int(bits, format!("rem.{name} {r}, {x}, 7;"), move |x, _, _| (ty.of(x) % 7) as u64);
        if bits > 16 {
            let past = move |x: u64| if ty.signed && ty.of(x) < 0 { u64::MAX } else { 0 };
            group.int(bits, format!("bfe.{name} {r}, {x}, 70, 8;"), move |x, _, _| past(x));
            group.int(bits, format!("bfe.{name} {r}, {x}, 70, 0;"), |_, _, _| 0);
        }
    }
}

fn packed(group: &mut Group) {
    let s32 = INTS[3];
    type Op = fn(i128, i128) -> i128;
    let operations: [(&str, Op); 3] =
        [("add", |x, y| x + y), ("min", |x, y| x.min(y)), ("max", |x, y| x.max(y))];
    for (name, operation) in operations {
        for ty in [INTS[0], INTS[1]] {
            group.int(32, format!("{name}.{}x2 r, x, y;", ty.name), move |x, y, _| {
                of_halves(x, y, |x, y| operation(ty.of(x), ty.of(y)) as u64)
            });
        }
    }
    for (name, operation) in operations.into_iter().skip(1) {
        let s16 = INTS[1];
        group.int(32, format!("{name}.relu.s16x2 r, x, y;"), move |x, y, _| {
            of_halves(x, y, |x, y| operation(s16.of(x), s16.of(y)).max(0) as u64)
        });
        group.int(32, format!("{name}.relu.s32 r, x, y;"), move |x, y, _| {
            operation(s32.of(x), s32.of(y)).max(0) as u64
        });
    }
}

fn logic(group: &mut Group) {
    let result = "selp.b32 t, 1, 0, p; and.b32 r, r, 0xfffffffe; or.b32 r, r, t;";
    for (name, combine) in &COMBINES[..2] {
        for lut in [0x80u8, 0x96, 0xfe, 0xca] {
            let truth = move |x: u64, y: u64, z: u64| {
                combine(lop3(lut, x, y, z) as u32 != 0, (x as i32) < y as i32)
            };
            let form =
                format!("setp.lt.s32 q, x, y; lop3{name}.b32 r|p, x, y, z, {lut:#x}, q; {result}");
            group.int(32, form, move |x, y, z| lop3(lut, x, y, z) & !1 | u64::from(truth(x, y, z)));
            let form = format!("setp.lt.s32 q, x, y; lop3{name}.b32 _|p, x, y, z, {lut:#x}, q;");
            group.predicate(form, truth);
        }
    }
}

/// Returns `len` ones from bit `pos` on, in 64 bits: all counts are at most 64.
fn ones(pos: u64, len: u64) -> u64 {
    if pos > 31 || len == 0 { 0 } else { u64::MAX >> (64 - len.min(32)) << pos }
}

fn extended(ty: Int, x: u64, len: u64) -> u64 {
    match len {
        0 => 0,
        32.. => x,
        _ => Int { bits: len as u32, ..ty }.of(x) as u64,
    }
}

fn masks(group: &mut Group) {
    let counts = ["y", "t", "0", "5", "31", "32", "33", "255"];
    let count = |text: &str, y: u64| match text {
        "y" => y & 0xffff_ffff,
        "t" => y & 63,
        number => number.parse().expect("a number"),
    };
    for text in counts {
        for wrap in [false, true] {
            let mode = if wrap { "wrap" } else { "clamp" };
            let limited = move |n: u64| if wrap { n & 31 } else { n };
            group.int(
                32,
                format!("and.b32 t, y, 63; bmsk.{mode}.b32 r, x, {text};"),
                move |x, y, _| ones(limited(x & 0xffff_ffff), limited(count(text, y))),
            );
            group.int(
                32,
                format!("and.b32 t, y, 63; and.b32 u, x, 63; bmsk.{mode}.b32 r, u, {text};"),
                move |x, y, _| ones(limited(x & 63), limited(count(text, y))),
            );
            for ty in [INTS[2], INTS[3]] {
                group.int(
                    32,
                    format!("and.b32 t, y, 63; szext.{mode}.{} r, x, {text};", ty.name),
                    move |x, y, _| extended(ty, x, limited(count(text, y))),
                );
            }
        }
    }
}

fn products(group: &mut Group) {
    let part = |signed, bits| Int { name: "", bits, signed };
    for (a, a_signed) in [("u32", false), ("s32", true)] {
        for (b, b_signed) in [("u32", false), ("s32", true)] {
            let (half, byte_a, byte_b) = (part(a_signed, 16), part(a_signed, 8), part(b_signed, 8));
            group.int(32, format!("dp4a.{a}.{b} r, x, y, z;"), move |x, y, z| {
                let sum: i128 =
                    (0..4).map(|n| byte_a.of(x >> (8 * n)) * byte_b.of(y >> (8 * n))).sum();
                (sum + i128::from(z)) as u64
            });
            for (mode, first) in [("lo", 0), ("hi", 16)] {
                group.int(32, format!("dp2a.{mode}.{a}.{b} r, x, y, z;"), move |x, y, z| {
                    let sum: i128 = (0..2)
                        .map(|n| half.of(x >> (16 * n)) * byte_b.of(y >> (first + 8 * n)))
                        .sum();
                    (sum + i128::from(z)) as u64
                });
            }
        }
    }
}

fn wide_moves(group: &mut Group) {
    let pack = "{ .reg .b128 b, c; mov.b128 b, {X, Y}; mov.b128 c, b;";
    group.int(64, format!("{pack} mov.b128 {{T, R}}, c; }}"), |_, y, _| y);
    group.int(64, format!("{pack} mov.b128 {{R, T}}, c; }}"), |x, _, _| x);
    group.int(32, format!("{pack} mov.b128 {{t, u, v, r}}, c; }}"), |_, y, _| y >> 32);
    group.int(32, format!("{pack} mov.b128 {{t, r, u, v}}, c; }}"), |x, _, _| x >> 32);
    group.int(64, "{ .reg .b128 b; mov.b128 b, {x, y, z, x}; mov.b128 {T, R}, b; }", |x, _, z| {
        x << 32 | z & 0xffff_ffff
    });
    group.int(
        32,
        "{ .reg .v2 .b32 a, b; mov.b64 {a.x, a.y}, X; mov.v2.b32 b, a; mov.b32 r, b.y; }",
        |x, _, _| x >> 32,
    );
    group.int(32, "mov.b64 {_, r}, X;", |x, _, _| x >> 32);
    group.int(64, "mov.b64 R, {x, 7};", |x, _, _| 7 << 32 | x & 0xffff_ffff);
}

/// Returns the number that 16 bits of a float format encode.
fn half(bfloat: bool, bits: u64) -> f64 {
    if bfloat {
        return f32::from_bits((bits as u32 & 0xffff) << 16).into();
    }
    let (exponent, mantissa) = (bits >> 10 & 0x1f, (bits & 0x3ff) as f64);
    let magnitude = match exponent {
        0 => mantissa * 2f64.powi(-24),
        0x1f if mantissa == 0.0 => f64::INFINITY,
        0x1f => f64::NAN,
        _ => (1024.0 + mantissa) * 2f64.powi(exponent as i32 - 25),
    };
    if bits >> 15 & 1 != 0 { -magnitude } else { magnitude }
}

/// Adds comparisons of halves.
fn halves(group: &mut Group) {
    for (name, bfloat) in [("f16", false), ("bf16", true)] {
        let one = if bfloat { 0x3f80 } else { 0x3c00 };
        for (op_name, op) in OPS {
            let holds = move |x: u64, y: u64| op(half(bfloat, x).partial_cmp(&half(bfloat, y)));
            let both = "selp.b32 t, 1, 0, p; selp.b32 u, 2, 0, q; or.b32 r, t, u;";
            let pair = |low: bool, high: bool| u64::from(low) | u64::from(high) << 1;
            group.int(32, format!("setp.{op_name}.{name} p|q, hx, hy; {both}"), move |x, y, _| {
                pair(holds(x, y), !holds(x, y))
            });
            group.int(32, format!("setp.{op_name}.{name}x2 p|q, x, y; {both}"), move |x, y, _| {
                pair(holds(x, y), holds(x >> 16, y >> 16))
            });
            for to in ["u16", "s16"] {
                group.int(16, format!("set.{op_name}.{to}.{name} hr, hx, hy;"), move |x, y, _| {
                    if holds(x, y) { 0xffff } else { 0 }
                });
            }
            group.int(16, format!("set.{op_name}.{name}.{name} hr, hx, hy;"), move |x, y, _| {
                if holds(x, y) { one } else { 0 }
            });
            group.int(32, format!("set.{op_name}.u32.{name} r, hx, hy;"), move |x, y, _| {
                if holds(x, y) { 0xffff_ffff } else { 0 }
            });
            for (to, truth) in [("u32".to_string(), 0xffff), (format!("{name}x2"), one)] {
                group.int(32, format!("set.{op_name}.{to}.{name}x2 r, x, y;"), move |x, y, _| {
                    of_halves(x, y, |x, y| if holds(x, y) { truth } else { 0 })
                });
            }
        }
        let (s32, u64) = (INTS[3], INTS[4]);
        group.int(
            16,
            format!("setp.lt.s32 p, y, z; set.ge.or.{name}.s32 hr, x, y, p;"),
            move |x, y, z| {
                if s32.of(x) >= s32.of(y) || s32.of(y) < s32.of(z) { one } else { 0 }
            },
        );
        group.int(16, format!("set.lo.{name}.u64 hr, X, Y;"), move |x, y, _| {
            if u64.of(x) < u64.of(y) { one } else { 0 }
        });
    }
}

/// Adds guarded instructions: where the guard fails, the destination keeps its value.
fn guards(group: &mut Group) {
    let lanes = "setp.lt.s32 q, x, y;";
    let holds = |x: u64, y: u64| (x as i32) < y as i32;
    group.int(32, format!("{lanes} mov.b32 r, z; @q add.s32 r, x, y;"), move |x, y, z| {
        if holds(x, y) { x.wrapping_add(y) } else { z }
    });
    group.int(64, format!("{lanes} mov.b64 R, Z; @!q mov.b64 R, {{x, y}};"), move |x, y, z| {
        if holds(x, y) { z } else { y << 32 | x & 0xffff_ffff }
    });
    group.predicate(
        format!("{lanes} setp.eq.b32 p, y, z; @q setp.gt.u32 p, x, z;"),
        move |x, y, z| {
            if holds(x, y) { x as u32 > z as u32 } else { y as u32 == z as u32 }
        },
    );
    let chain = "add.cc.u32 t, x, y; @q add.cc.u32 u, y, z; addc.u32 r, 0, 0;";
    group.int(32, format!("{lanes} {chain}"), move |x, y, z| {
        let carries = |a: u64, b: u64| ((a & 0xffff_ffff) + (b & 0xffff_ffff)) >> 32;
        if holds(x, y) { carries(y, z) } else { carries(x, y) }
    });
    group.int(
        32,
        format!("{lanes} mov.b32 t, z; @q mov.b64 {{t, u}}, Y; mov.b32 r, t;"),
        move |x, y, z| {
            if holds(x, y) { y } else { z }
        },
    );
}

/// Adds generic addresses and tests of the windows that hold them.
fn addresses(group: &mut Group) {
    let spaces = ["global", "shared", "local", "const", "param::entry"];
    let variables = ["in_global", "in_shared", "in_local", "in_const", "xs"];
    for (space, variable) in spaces.into_iter().zip(variables) {
        let declared = if space == "local" { ".local .align 8 .b32 in_local[8];" } else { "" };
        let generic = format!("{{ {declared} mov.u64 T, {variable}; cvta.{space}.u64 U, T;");
        group.int(
            64,
            format!("{generic} cvta.to.{space}.u64 V, U; sub.u64 R, V, T; }}"),
            |_, _, _| 0,
        );
        for asked in spaces {
            // Parameters are a part of global memory.
            let expected = asked == space || (asked == "global" && space == "param::entry");
            group
                .predicate(format!("{generic} isspacep.{asked} p, U; }}"), move |_, _, _| expected);
        }
    }
    group.predicate(
        "{ mov.u64 T, in_shared; cvta.shared.u64 U, T; cvta.shared.u64 V, in_shared; setp.eq.u64 p, U, V; }",
        |_, _, _| true,
    );
    group.predicate("mov.b64 T, 0; isspacep.shared::cluster p, T;", |_, _, _| false);
    group.int(32, "{ cvta.const.u64 T, in_const; ld.u32 r, [T+8]; }", |_, _, _| 3);
    group.int(
        64,
        "{ mov.u64 T, ys; cvta.param.u64 T, T; ld.param.u64 U, [ys]; ld.u64 V, [T]; sub.u64 R, U, V; }",
        |_, _, _| 0,
    );
    group.int(
        32,
        "mov.u32 r, %laneid; mov.u32 t, %lanemask_lt; popc.b32 t, t; sub.u32 r, r, t;",
        |_, _, _| 0,
    );
}
