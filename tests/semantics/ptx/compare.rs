//! Tests *Comparison and Selection* of the PTX ISA, and `testp`.

use std::cmp::Ordering;

use super::integer::{INTS, Int};
use super::{Group, registers};
use crate::{float, integer};

#[test]
fn compare_integers() {
    let mut group = Group::default();
    for ty in INTS {
        for (name, op) in &OPS[..6] {
            comparison(&mut group, name, ty.name, Type::Int(ty), *op);
        }
        if !ty.signed {
            for (name, of) in [("lo", 2), ("ls", 3), ("hi", 4), ("hs", 5)] {
                comparison(&mut group, name, ty.name, Type::Int(ty), OPS[of].1);
            }
            for (name, op) in &OPS[..2] {
                comparison(&mut group, name, &format!("b{}", ty.bits), Type::Int(ty), *op);
            }
        }
        let [_, x, _, _] = registers(ty.bits);
        for imm in [0, 1, 77, 0x7fff] {
            for (name, op) in &OPS[..6] {
                group.predicate(
                    format!("setp.{name}.{} p, {x}, {imm};", ty.name),
                    move |x, _, _| op(Some(ty.of(x).cmp(&imm))),
                );
            }
        }
    }
    // Compilers select by the sign of a 32-bit number in this form.
    group.int(
        32,
        "shr.s32 t, x, 31; and.b32 r, t, y;",
        |x, y, _| if (x as i32) < 0 { y } else { 0 },
    );
    select(&mut group);
    group.check("compare_integers", integer::operand, &integer::EDGES);
    group.check_text("compare_integers", integer::operand, &integer::EDGES);
}

#[test]
fn compare_floats() {
    let mut group = Group::default();
    for (name, ty) in [("f32", Type::Single), ("ftz.f32", Type::Flushed), ("f64", Type::Double)] {
        for (op_name, op) in OPS {
            comparison(&mut group, op_name, name, ty, op);
        }
        for (op_name, op) in OPS {
            let (x, imm, value) = match ty {
                Type::Double => ("X", "0d3FF8000000000000", 1.5f64.to_bits()),
                _ => ("x", "0f3FC00000", 1.5f32.to_bits().into()),
            };
            group.predicate(format!("setp.{op_name}.{name} p, {x}, {imm};"), move |x, _, _| {
                op(ty.compare(x, value))
            });
            let (magnitude, t, mask) = match ty {
                Type::Double => ("abs.f64 T, X; neg.f64 U, Y;", "T, U", 1 << 63),
                _ => ("abs.f32 t, x; neg.f32 u, y;", "t, u", 0x8000_0000),
            };
            group
                .predicate(format!("{magnitude} setp.{op_name}.{name} p, {t};"), move |x, y, _| {
                    op(ty.compare(x & !mask, y ^ mask))
                });
        }
    }
    for name in ["b16", "u16", "s16", "b32", "u32", "s32", "f32", "b64", "u64", "s64", "f64"] {
        let bits = name[1..].parse().expect("a width");
        let [r, x, y, _] = registers(bits);
        for (ftz, ty) in [("", Type::Single), (".ftz", Type::Flushed)] {
            group.int(bits, format!("slct{ftz}.{name}.f32 {r}, {x}, {y}, z;"), move |x, y, z| {
                if ty.compare(z, 0).is_some_and(Ordering::is_ge) { x } else { y }
            });
        }
    }
    test_property(&mut group);
    group.check("compare_floats", float::operand, &float::EDGES);
    group.check_text("compare_floats", float::operand, &float::EDGES);
}

#[derive(Clone, Copy)]
enum Type {
    Int(Int),
    Single,
    /// Floats whose denormals compare as zeros.
    Flushed,
    Double,
}

impl Type {
    fn bits(self) -> u32 {
        match self {
            Type::Int(ty) => ty.bits,
            Type::Single | Type::Flushed => 32,
            Type::Double => 64,
        }
    }

    fn compare(self, x: u64, y: u64) -> Option<Ordering> {
        match self {
            Type::Int(ty) => Some(ty.of(x).cmp(&ty.of(y))),
            Type::Single => float::f(x).partial_cmp(&float::f(y)),
            Type::Flushed => float::f(float::flush(x)).partial_cmp(&float::f(float::flush(y))),
            Type::Double => float::d(x).partial_cmp(&float::d(y)),
        }
    }
}

/// The function that tells whether a relation holds for an order; `None` if an operand is NaN.
type Op = fn(Option<Ordering>) -> bool;

pub const OPS: [(&str, Op); 14] = [
    ("eq", |order| order.is_some_and(Ordering::is_eq)),
    ("ne", |order| order.is_some_and(Ordering::is_ne)),
    ("lt", |order| order.is_some_and(Ordering::is_lt)),
    ("le", |order| order.is_some_and(Ordering::is_le)),
    ("gt", |order| order.is_some_and(Ordering::is_gt)),
    ("ge", |order| order.is_some_and(Ordering::is_ge)),
    ("equ", |order| order.is_none_or(Ordering::is_eq)),
    ("neu", |order| order.is_none_or(Ordering::is_ne)),
    ("ltu", |order| order.is_none_or(Ordering::is_lt)),
    ("leu", |order| order.is_none_or(Ordering::is_le)),
    ("gtu", |order| order.is_none_or(Ordering::is_gt)),
    ("geu", |order| order.is_none_or(Ordering::is_ge)),
    ("num", |order| order.is_some()),
    ("nan", |order| order.is_none()),
];

type Combine = fn(bool, bool) -> bool;

/// The operators that combine a comparison with a third operand.
pub const COMBINES: [(&str, Combine); 3] =
    [(".and", |a, b| a & b), (".or", |a, b| a | b), (".xor", |a, b| a ^ b)];

/// Adds `setp` and `set`, alone and combined with a third operand.
fn comparison(group: &mut Group, op_name: &str, type_name: &str, ty: Type, op: Op) {
    let [_, x, y, _] = registers(ty.bits());
    let holds = move |x, y| op(ty.compare(x, y));
    // The third operand.
    const WITH: &str = "setp.lt.s32 s, y, z;";
    fn with(y: u64, z: u64, not: bool) -> bool {
        ((y as i32) < z as i32) != not
    }
    group.predicate(format!("setp.{op_name}.{type_name} p, {x}, {y};"), move |x, y, _| holds(x, y));
    group.predicate(
        format!("setp.{op_name}.{type_name} p|q, {x}, {y}; mov.pred p, q;"),
        move |x, y, _| !holds(x, y),
    );
    for (combine_name, combine) in COMBINES {
        for not in [false, true] {
            let third = if not { "!s" } else { "s" };
            let instruction =
                format!("{WITH} setp.{op_name}{combine_name}.{type_name} p|q, {x}, {y}, {third};");
            let both = "selp.b32 t, 1, 0, p; selp.b32 u, 2, 0, q; or.b32 r, t, u;";
            group.int(32, format!("{instruction} {both}"), move |x, y, z| {
                let (holds, with) = (holds(x, y), with(y, z, not));
                u64::from(combine(holds, with)) | u64::from(combine(!holds, with)) << 1
            });
        }
    }
    for (result, truth) in
        [("u32", 0xffff_ffff), ("s32", 0xffff_ffff), ("f32", u64::from(1f32.to_bits()))]
    {
        // The flush precedes the result's type: `set.lt.ftz.u32.f32`.
        let (ftz, source) = type_name
            .split_once('.')
            .map_or((String::new(), type_name), |(ftz, ty)| (format!(".{ftz}"), ty));
        let number = move |holds: bool| if holds { truth } else { 0 };
        group.int(
            32,
            format!("set.{op_name}{ftz}.{result}.{source} r, {x}, {y};"),
            move |x, y, _| number(holds(x, y)),
        );
        for (combine_name, combine) in COMBINES {
            let not = result == "s32";
            let third = if not { "!s" } else { "s" };
            let ptx = format!(
                "{WITH} set.{op_name}{combine_name}{ftz}.{result}.{source} r, {x}, {y}, {third};"
            );
            group.int(32, ptx, move |x, y, z| number(combine(holds(x, y), with(y, z, not))));
        }
    }
}

/// Adds `selp` and `slct`.
fn select(group: &mut Group) {
    for name in ["b16", "u16", "s16", "b32", "u32", "s32", "f32", "b64", "u64", "s64", "f64"] {
        let bits = name[1..].parse().expect("a width");
        let [r, x, y, _] = registers(bits);
        group.int(
            bits,
            format!("setp.lt.s32 p, y, z; selp.{name} {r}, {x}, {y}, p;"),
            |x, y, z| {
                if (y as i32) < z as i32 { x } else { y }
            },
        );
        group.int(bits, format!("slct.{name}.s32 {r}, {x}, {y}, z;"), |x, y, z| {
            if z as i32 >= 0 { x } else { y }
        });
    }
    group.int(32, "setp.lt.s32 p, y, z; selp.b32 r, x, 0x1234567, p;", |x, y, z| {
        if (y as i32) < z as i32 { x } else { 0x123_4567 }
    });
    group.int(32, "slct.s32.s32 r, x, 99, z;", |x, _, z| if z as i32 >= 0 { x } else { 99 });
}

fn test_property(group: &mut Group) {
    type Tests = [(&'static str, fn(f32) -> bool, fn(f64) -> bool); 6];
    const TESTS: Tests = [
        ("finite", f32::is_finite, f64::is_finite),
        ("infinite", f32::is_infinite, f64::is_infinite),
        ("number", |x| !x.is_nan(), |x| !x.is_nan()),
        ("notanumber", f32::is_nan, f64::is_nan),
        // Normal numbers are not subnormal, NaN or infinite; zero counts as normal.
        ("normal", |x| x.is_normal() || x == 0.0, |x| x.is_normal() || x == 0.0),
        ("subnormal", f32::is_subnormal, f64::is_subnormal),
    ];
    for (name, single, double) in TESTS {
        group.predicate(format!("testp.{name}.f32 p, x;"), move |x, _, _| single(float::f(x)));
        group.predicate(format!("testp.{name}.f64 p, X;"), move |x, _, _| double(float::d(x)));
    }
}
