//! Tests *Half Precision Floating Point Instructions* and *Half Precision Comparison Instructions*
//! of the PTX ISA, on sm_53.

use std::cmp::Ordering;

use rustc_apfloat::Float;
use rustc_apfloat::ieee::Half;

use super::compare::{COMBINES, OPS};
use super::float::modified;
use super::{Group, Width, registers};
use crate::float::{F16, bits};
use crate::{Random, Same};

#[test]
fn half() {
    let mut group = Group { target: "sm_53", ..Group::default() };
    for packed in [false, true] {
        let shape = Shape { packed };
        arithmetic(&mut group, shape);
        constants(&mut group, shape);
        comparisons(&mut group, shape);
        signs(&mut group, shape);
    }
    parts(&mut group);
    integers(&mut group);
    group.check("half", operand, &EDGES);
    group.check_text("half", operand, &EDGES);
}

const SIGN: u64 = 0x8000;
const ONE: u64 = 0x3c00;

const HALVES: [u64; 12] =
    [0, SIGN, ONE, 0xbc00, 0x3c01, 1, 0x03ff, 0x8400, 0x7bff, 0x7c00, 0xfc00, 0x7e01];

/// Each half paired with itself, then with another half.
const EDGES: [u64; 24] = {
    let mut edges = [0; 24];
    let mut i = 0;
    while i < 24 {
        let other = if i < 12 { i } else { (i * 5 + 1) % 12 };
        edges[i] = HALVES[i % 12] | HALVES[other] << 16;
        i += 1;
    }
    edges
};

/// Returns two halves, each an edge case, of moderate size or arbitrary.
fn operand(random: &mut Random) -> u64 {
    let half = |bits: u64, kind: u64| match kind % 4 {
        0 => HALVES[bits as usize % HALVES.len()],
        1 => bits & 0x83ff | (11 + (bits >> 16) % 8) << 10,
        2 => bits & 0x87ff,
        _ => bits & 0xffff,
    };
    let (low, high, kinds) = (random.bits(), random.bits(), random.bits());
    half(low, kinds) | half(high, kinds >> 8) << 16
}

/// The operand shape: one half, or two packed halves.
#[derive(Clone, Copy)]
struct Shape {
    packed: bool,
}

/// Accepts a word if both halves are as expected.
const BOTH: Same =
    |found, expected| F16(found & 0xffff, expected & 0xffff) && F16(found >> 16, expected >> 16);

impl Shape {
    fn name(self) -> &'static str {
        if self.packed { "f16x2" } else { "f16" }
    }

    fn bits(self) -> u32 {
        if self.packed { 32 } else { 16 }
    }

    fn registers(self) -> [&'static str; 4] {
        registers(self.bits())
    }

    /// Applies `op` to each half.
    fn each(self, x: u64, y: u64, z: u64, op: impl Fn(u64, u64, u64) -> u64) -> u64 {
        let at =
            |shift: u32| op(x >> shift & 0xffff, y >> shift & 0xffff, z >> shift & 0xffff) & 0xffff;
        if self.packed { at(0) | at(16) << 16 } else { at(0) }
    }

    fn form(self, group: &mut Group, ptx: String, op: impl Fn(u64, u64, u64) -> u64 + 'static) {
        self.whole_form(group, ptx, move |x, y, z| self.each(x, y, z, &op));
    }

    /// Adds a form whose result depends on whole words.
    fn whole_form(
        self,
        group: &mut Group,
        ptx: String,
        result: impl Fn(u64, u64, u64) -> u64 + 'static,
    ) {
        let (width, same) = if self.packed { (Width::Bits32, BOTH) } else { (Width::Bits16, F16) };
        group.form(ptx, width, same, result);
    }
}

fn h(x: u64) -> Half {
    Half::from_bits(x.into())
}

fn flush(x: u64) -> u64 {
    if x & 0x7c00 == 0 { x & SIGN } else { x }
}

fn saturate(x: u64) -> u64 {
    let positive = x & SIGN == 0 && !h(x).is_nan();
    if positive { x.min(ONE) } else { 0 }
}

/// Returns `op` with flushed operands and result, and a saturated result, as the flags say.
fn with_modifiers(
    ftz: bool,
    sat: bool,
    op: impl Fn(Half, Half, Half) -> Half + 'static,
) -> impl Fn(u64, u64, u64) -> u64 {
    modified(ftz.then_some(flush), sat.then_some(saturate), h, op)
}

/// Returns each combination of flush and saturation with its suffix.
fn modifiers() -> impl Iterator<Item = (bool, bool, String)> {
    [(false, false), (false, true), (true, false), (true, true)].into_iter().map(|(ftz, sat)| {
        let names = [(ftz, ".ftz"), (sat, ".sat")]
            .into_iter()
            .filter(|(set, _)| *set)
            .map(|(_, name)| name);
        (ftz, sat, names.collect())
    })
}

fn arithmetic(group: &mut Group, shape: Shape) {
    let ([r, x, y, z], name) = (shape.registers(), shape.name());
    for (ftz, sat, modifiers) in modifiers() {
        for round in ["", ".rn"] {
            let all = format!("{round}{modifiers}.{name}");
            let mut binary = |op_name: &str, op: fn(Half, Half) -> Half| {
                shape.form(
                    group,
                    format!("{op_name}{all} {r}, {x}, {y};"),
                    with_modifiers(ftz, sat, move |x, y, _| op(x, y)),
                );
            };
            binary("add", |x, y| (x + y).value);
            binary("sub", |x, y| (x - y).value);
            binary("mul", |x, y| (x * y).value);
        }
        let all = format!("fma.rn{modifiers}.{name}");
        shape.form(
            group,
            format!("{all} {r}, {x}, {y}, {z};"),
            with_modifiers(ftz, sat, |x, y, z| x.mul_add(y, z).value),
        );
    }
}

/// Adds immediates that fit in 10 bits, and wider ones. A constant that is added to a product is an
/// F32 in a constant bank.
fn constants(group: &mut Group, shape: Shape) {
    let ([r, x, y, _], bits) = (shape.registers(), shape.bits());
    let name = shape.name();
    for (low, high) in [(0x4200u64, 0xc400u64), (0x3555, 0x2e66), (0x0400, 0x8001), (0x7c00, ONE)] {
        let both = if shape.packed { low | high << 16 } else { low };
        let t = if shape.packed { "t" } else { "ht" };
        let constant = format!("mov.b{bits} {t}, {both:#x};");
        for (ftz, sat, modifiers) in modifiers() {
            let mut with = |line: String, op: fn(Half, Half, Half) -> Half| {
                let op = with_modifiers(ftz, sat, op);
                shape.whole_form(group, format!("{constant} {line}"), move |x, y, _| {
                    shape.each(x, y, both, &op)
                });
            };
            with(format!("add{modifiers}.{name} {r}, {x}, {t};"), |x, _, c| (x + c).value);
            with(format!("mul{modifiers}.{name} {r}, {x}, {t};"), |x, _, c| (x * c).value);
            with(format!("fma.rn{modifiers}.{name} {r}, {x}, {t}, {y};"), |x, y, c| {
                x.mul_add(c, y).value
            });
            with(format!("fma.rn{modifiers}.{name} {r}, {x}, {y}, {t};"), |x, y, c| {
                x.mul_add(y, c).value
            });
        }
    }
}

fn order(ftz: bool, x: u64, y: u64) -> Option<Ordering> {
    let [x, y] = [x, y].map(|x| h(if ftz { flush(x) } else { x }));
    x.partial_cmp(&y)
}

fn comparisons(group: &mut Group, shape: Shape) {
    let ([r, x, y, _], name) = (shape.registers(), shape.name());
    /// Collects the predicates of both halves as bits.
    const BITS: &str = "selp.b32 t, 1, 0, p; selp.b32 u, 2, 0, q; or.b32 r, t, u;";
    for (op_name, op) in OPS {
        for ftz in [false, true] {
            let all = format!("{op_name}{}", if ftz { ".ftz" } else { "" });
            let holds = move |x: u64, y: u64| op(order(ftz, x & 0xffff, y & 0xffff));
            let set = format!("set.{all}.{name}.{name} {r}, {x}, {y};");
            shape.form(group, set, move |x, y, _| if holds(x, y) { ONE } else { 0 });
            if shape.packed {
                group.int(32, format!("setp.{all}.f16x2 p|q, x, y; {BITS}"), move |x, y, _| {
                    u64::from(holds(x, y)) | u64::from(holds(x >> 16, y >> 16)) << 1
                });
            } else {
                group.predicate(format!("setp.{all}.f16 p, hx, hy;"), move |x, y, _| holds(x, y));
            }
        }
        let holds = move |x: u64, y: u64| op(order(false, x & 0xffff, y & 0xffff));
        for (combine_name, combine) in COMBINES {
            let with = "setp.ne.b32 s, z, 0;";
            let combined = move |x: u64, y: u64, z: u64| combine(holds(x, y), z as u32 != 0);
            let set = format!("{with} set.{op_name}{combine_name}.{name}.{name} {r}, {x}, {y}, s;");
            shape.whole_form(group, set, move |x, y, z| {
                shape.each(x, y, 0, |x, y, _| if combined(x, y, z) { ONE } else { 0 })
            });
            if shape.packed {
                let setp =
                    format!("{with} setp.{op_name}{combine_name}.f16x2 p|q, x, y, s; {BITS}");
                group.int(32, setp, move |x, y, z| {
                    u64::from(combined(x, y, z)) | u64::from(combined(x >> 16, y >> 16, z)) << 1
                });
            }
        }
    }
}

fn signs(group: &mut Group, shape: Shape) {
    let ([r, x, y, z], name) = (shape.registers(), shape.name());
    for ftz in [false, true] {
        let modifier = if ftz { ".ftz" } else { "" };
        let flushed = move |x: u64| if ftz { flush(x) } else { x };
        shape.form(group, format!("abs{modifier}.{name} {r}, {x};"), move |x, _, _| {
            flushed(x) & !SIGN
        });
        shape.form(group, format!("neg{modifier}.{name} {r}, {x};"), move |x, _, _| {
            flushed(x) ^ SIGN
        });
    }
    let (t, u) = if shape.packed { ("t", "u") } else { ("ht", "hu") };
    let changed = format!("abs.{name} {t}, {x}; neg.{name} {u}, {y};");
    let negative = |x: u64| h(x ^ SIGN);
    let magnitude = |x: u64| h(x & !SIGN);
    shape.form(group, format!("{changed} add.{name} {r}, {t}, {u};"), move |x, y, _| {
        bits((magnitude(x) + negative(y)).value)
    });
    shape.form(group, format!("{changed} mul.{name} {r}, {t}, {u};"), move |x, y, _| {
        bits((magnitude(x) * negative(y)).value)
    });
    shape.form(
        group,
        format!("{changed} neg.{name} {t}, {z}; fma.rn.{name} {r}, {x}, {u}, {t};"),
        move |x, y, z| bits(h(x).mul_add(negative(y), negative(z)).value),
    );
    shape.form(group, format!("{changed} set.lt.{name}.{name} {r}, {t}, {u};"), move |x, y, _| {
        if magnitude(x) < negative(y) { ONE } else { 0 }
    });
}

/// Adds operations on one half of an operand, with results in either half of a register.
fn parts(group: &mut Group) {
    let half = |x: u64, high: bool| h(if high { x >> 16 & 0xffff } else { x & 0xffff });
    let halves = [false, true];
    for (a, b) in halves.into_iter().flat_map(|a| halves.map(|b| (a, b))) {
        let pick = |high: bool, name: &str, register: &str| match high {
            false => format!("mov.b32 {{{register}, _}}, {name};"),
            true => format!("mov.b32 {{_, {register}}}, {name};"),
        };
        let start = format!("{} {}", pick(a, "x", "ht"), pick(b, "y", "hu"));
        for (name, op) in [
            ("add", (|x, y| (x + y).value) as fn(Half, Half) -> Half),
            ("mul", |x, y| (x * y).value),
        ] {
            let of = move |x: u64, y: u64| bits(op(half(x, a), half(y, b)));
            let line = format!("{start} {name}.f16 hr, ht, hu;");
            group.form(line.clone(), Width::Bits16, F16, move |x, y, _| of(x, y));
            group.form(
                format!("{line} mov.b32 r, {{hr, hz}};"),
                Width::Bits32,
                BOTH,
                move |x, y, z| of(x, y) | (z & 0xffff) << 16,
            );
            group.form(
                format!("{line} mov.b32 r, {{hz, hr}};"),
                Width::Bits32,
                BOTH,
                move |x, y, z| z & 0xffff | of(x, y) << 16,
            );
            group.form(
                format!("{line} mov.b32 r, {{hr, hr}}; {name}.f16x2 r, r, z;"),
                Width::Bits32,
                BOTH,
                move |x, y, z| {
                    let both = of(x, y) | of(x, y) << 16;
                    Shape { packed: true }.each(both, z, 0, |x, y, _| bits(op(h(x), h(y))))
                },
            );
        }
    }
}

/// Adds comparisons with integer results, and comparisons of other types.
fn integers(group: &mut Group) {
    for (op_name, op) in OPS {
        for name in ["u32", "s32", "u16", "s16"] {
            let bits = name[1..].parse().expect("a width");
            let [r, ..] = registers(bits);
            group.int(bits, format!("set.{op_name}.{name}.f16 {r}, hx, hy;"), move |x, y, _| {
                if op(order(false, x & 0xffff, y & 0xffff)) { u64::MAX >> (64 - bits) } else { 0 }
            });
        }
    }
}
