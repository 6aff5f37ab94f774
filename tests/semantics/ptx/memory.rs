//! Tests `ld`, `st`, `atom` and `red` of the PTX ISA with each type, vector, cache operator and
//! state space, on memory that belongs to the lane.

use super::{Group, Width};
use crate::float::{F32, flush, s};
use crate::integer::{EDGES, operand};
use crate::{Same, float};

/// Declares 16 bytes for each lane of the launch.
const DECLARATIONS: &str = ".global .align 16 .b8 scratch[32768];\n";

#[test]
fn memory() {
    let mut group = Group { declarations: DECLARATIONS, ..Group::default() };
    for space in SPACES {
        loads(&mut group, space);
        stores(&mut group, space);
        if space.name != ".local" {
            atomics(&mut group, space);
        }
    }
    group.check("memory", operand, &EDGES);
    group.check_text("memory", operand, &EDGES);
}

/// A state space, and the code that puts the address of the lane's memory into T.
#[derive(Clone, Copy)]
struct Space {
    /// The suffix that instructions have.
    name: &'static str,
    place: &'static str,
    loads: &'static [&'static str],
    stores: &'static [&'static str],
}

const LOADS: &[&str] = &["", ".ca", ".cg", ".cs", ".lu", ".cv", ".volatile"];
const STORES: &[&str] = &["", ".wb", ".cg", ".cs", ".wt", ".volatile"];
const IN_SHARED: &str = ".shared .align 16 .b8 place[512]; .reg .b32 l; mov.u32 l, %laneid; mov.u64 T, place; shl.b32 l, l, 4; \
                         cvt.u64.u32 U, l; add.u64 T, T, U;";
const IN_GLOBAL: &str = "mov.u64 T, scratch; shl.b64 U, I, 1; add.u64 T, T, U;";

const SPACES: [Space; 5] = [
    Space { name: ".global", place: IN_GLOBAL, loads: LOADS, stores: STORES },
    Space {
        name: ".shared",
        place: IN_SHARED,
        loads: &["", ".volatile"],
        stores: &["", ".volatile"],
    },
    Space {
        name: ".local",
        place: ".local .align 16 .b8 place[64]; .reg .b32 l; mov.u32 l, %nctaid.y; shl.b32 l, l, 4; mov.u64 T, place; cvt.u64.u32 U, l; add.u64 T, T, U;",
        loads: LOADS,
        stores: STORES,
    },
    // Generic addresses.
    Space {
        name: "",
        place: "mov.u64 T, scratch; shl.b64 U, I, 1; add.u64 T, T, U; cvta.global.u64 T, T;",
        loads: LOADS,
        stores: STORES,
    },
    Space { name: "", place: "", loads: &[""], stores: &[""] },
];

impl Space {
    /// Returns the modifier that keeps the compiler from changing accesses. Local memory has none:
    /// an address that the compiler does not know must do.
    fn volatile(self) -> &'static str {
        if self.name == ".local" { "" } else { ".volatile" }
    }

    fn place(self) -> String {
        if self.place.is_empty() {
            format!("{IN_SHARED} cvta.shared.u64 T, T;")
        } else {
            self.place.to_owned()
        }
    }
}

/// The elements: name, bits, and whether their sign extends them.
const ELEMENTS: [(&str, u32, bool); 8] = [
    ("u8", 8, false),
    ("s8", 8, true),
    ("b8", 8, false),
    ("u16", 16, false),
    ("s16", 16, true),
    ("b32", 32, false),
    ("f32", 32, false),
    ("b64", 64, false),
];

/// Returns `bits` bits of the 16 bytes Y:X, from byte `at` on.
fn element(x: u64, y: u64, at: u32, bits: u32, signed: bool) -> u64 {
    let value = ((u128::from(y) << 64 | u128::from(x)) >> (at * 8)) as u64;
    if signed {
        ((value << (64 - bits)) as i64 >> (64 - bits)) as u64
    } else {
        value << (64 - bits) >> (64 - bits)
    }
}

fn loads(group: &mut Group, space: Space) {
    let (name, volatile, place) = (space.name, space.volatile(), space.place());
    let both = format!("{{ {place} st{volatile}{name}.v2.b64 [T], {{X, Y}};");
    let caches = space.loads.iter().copied().chain((name == ".global").then_some(".nc"));
    for cache in caches {
        // `.nc` and `.volatile` have their own order: `ld.global.nc`, `ld.volatile.global`.
        let load = match cache {
            ".volatile" => format!("ld{volatile}{name}"),
            ".nc" => format!("ld{name}.nc"),
            _ => format!("ld{name}{cache}"),
        };
        for (ty, bits, signed) in ELEMENTS {
            let (width, register) = if bits == 64 { (64, "R") } else { (32, "r") };
            // Each cache operator has one scalar and one vector form per type.
            let few = !cache.is_empty();
            for at in [0, bits / 8].into_iter().skip(few.into()) {
                let ptx = format!("{both} {load}.{ty} {register}, [T+{at}]; }}");
                group.int(width, ptx, move |x, y, _| element(x, y, at, bits, signed));
            }
            let count = if bits == 64 { 2 } else { 4 };
            for count in [2, count].into_iter().skip(few.into()) {
                let results: Vec<String> = (0..count).map(|n| format!("e{n}")).collect();
                let registers = results.join(", ");
                let last = count - 1;
                let ptx = format!(
                    "{both} .reg .b{width} {registers}; {load}.v{count}.{ty} {{{registers}}}, [T]; \
                     shl.b{width} e0, e0, 1; xor.b{width} {register}, e0, e{last}; }}"
                );
                group.int(width, ptx, move |x, y, _| {
                    element(x, y, 0, bits, signed) << 1
                        ^ element(x, y, last * bits / 8, bits, signed)
                });
            }
        }
    }
}

fn stores(group: &mut Group, space: Space) {
    let (name, volatile, place) = (space.name, space.volatile(), space.place());
    for cache in space.stores {
        let store = if *cache == ".volatile" {
            format!("st{volatile}{name}")
        } else {
            format!("st{name}{cache}")
        };
        for (ty, bits, _) in ELEMENTS {
            let register = if bits == 64 { "Z" } else { "z" };
            let put = move |memory: u128, at: u32, z: u64| {
                let mask = u128::from(u64::MAX >> (64 - bits)) << (at * 8);
                memory & !mask | u128::from(z) << (at * 8) & mask
            };
            let before = format!("{{ {place} st{volatile}{name}.v2.b64 [T], {{X, Y}};");
            // Mixes both words of the result, because the expected values of the two words differ.
            let after = format!(
                "ld{volatile}{name}.v2.b64 {{R, V}}, [T]; shl.b64 R, R, 1; xor.b64 R, R, V; }}"
            );
            let mixed = |memory: u128| (memory as u64) << 1 ^ (memory >> 64) as u64;
            let few = !cache.is_empty();
            for at in [0, bits / 8].into_iter().skip(few.into()) {
                let ptx = format!("{before} {store}.{ty} [T+{at}], {register}; {after}");
                group.int(64, ptx, move |x, y, z| {
                    mixed(put(u128::from(y) << 64 | u128::from(x), at, z))
                });
            }
            for count in [2, if bits == 64 { 2 } else { 4 }].into_iter().skip(few.into()) {
                let other = if bits == 64 { "X" } else { "x" };
                let values = [register, other, other, register][..count].join(", ");
                let ptx = format!("{before} {store}.v{count}.{ty} [T], {{{values}}}; {after}");
                group.int(64, ptx, move |x, y, z| {
                    let memory = u128::from(y) << 64 | u128::from(x);
                    mixed(
                        [z, x, x, z][..count]
                            .iter()
                            .zip(0..)
                            .fold(memory, |memory, (&value, n)| put(memory, n * bits / 8, value)),
                    )
                });
            }
        }
    }
}

/// The function that computes the new value from the memory's value (first) and an operand.
type Op = fn(u64, u64) -> u64;

fn signed32(op: fn(i32, i32) -> i32, m: u64, b: u64) -> u64 {
    op(m as i32, b as i32) as u32 as u64
}

fn signed64(op: fn(i64, i64) -> i64, m: u64, b: u64) -> u64 {
    op(m as i64, b as i64) as u64
}

const ATOMICS: [(&str, u32, Op); 22] = [
    ("add.u32", 32, |m, b| m.wrapping_add(b)),
    ("add.s32", 32, |m, b| m.wrapping_add(b)),
    ("add.u64", 64, |m, b| m.wrapping_add(b)),
    ("min.u32", 32, |m, b| m.min(b)),
    ("max.u32", 32, |m, b| m.max(b)),
    ("min.s32", 32, |m, b| signed32(i32::min, m, b)),
    ("max.s32", 32, |m, b| signed32(i32::max, m, b)),
    ("min.u64", 64, |m, b| m.min(b)),
    ("max.u64", 64, |m, b| m.max(b)),
    ("min.s64", 64, |m, b| signed64(i64::min, m, b)),
    ("max.s64", 64, |m, b| signed64(i64::max, m, b)),
    ("and.b32", 32, |m, b| m & b),
    ("or.b32", 32, |m, b| m | b),
    ("xor.b32", 32, |m, b| m ^ b),
    ("and.b64", 64, |m, b| m & b),
    ("or.b64", 64, |m, b| m | b),
    ("xor.b64", 64, |m, b| m ^ b),
    ("inc.u32", 32, |m, b| if m >= b { 0 } else { m + 1 }),
    ("dec.u32", 32, |m, b| if m == 0 || m > b { b } else { m - 1 }),
    ("exch.b32", 32, |_, b| b),
    ("exch.b64", 64, |_, b| b),
    ("add.f32", 32, |m, b| float::bits((s(m) + s(b)).value)),
];

fn atomics(group: &mut Group, space: Space) {
    let (name, volatile, place) = (space.name, space.volatile(), space.place());
    for (op_name, bits, op) in ATOMICS {
        let (r, x, y, width) = if bits == 64 {
            ("R", "X", "Y", Width::Bits64)
        } else {
            ("r", "x", "y", Width::Bits32)
        };
        let mask = u64::MAX >> (64 - bits);
        let float = op_name == "add.f32";
        let same: Same = if float { F32 } else { |found, expected| found == expected };
        // PTX: atomic sums flush in global memory, and do not flush in shared memory.
        let op = move |m: u64, b: u64| {
            let flushed = float && !space.place.is_empty() && space.name != ".shared";
            if flushed { flush(op(flush(m), flush(b))) } else { op(m & mask, b & mask) }
        };
        let before = format!("{{ {place} st{volatile}{name}.b{bits} [T], {x};");
        let after = format!("ld{volatile}{name}.b{bits} {r}, [T]; }}");
        // One form gives the returned value, another the value left in memory.
        let ptx = format!("{before} atom{name}.{op_name} {r}, [T], {y}; }}");
        group.form(ptx, width, same, move |x, _, _| x);
        let unused = if bits == 64 { "U" } else { "u" };
        group.form(
            format!("{before} atom{name}.{op_name} {unused}, [T], {y}; {after}"),
            width,
            same,
            move |x, y, _| op(x, y),
        );
        if !op_name.starts_with("exch") {
            group.form(
                format!("{before} red{name}.{op_name} [T], {y}; {after}"),
                width,
                same,
                move |x, y, _| op(x, y),
            );
        }
    }
    for bits in [32, 64] {
        let (r, u, x, y, z) =
            if bits == 64 { ("R", "U", "X", "Y", "Z") } else { ("r", "u", "x", "y", "z") };
        let mask = u64::MAX >> (64 - bits);
        let before = format!("{{ {place} st{volatile}{name}.b{bits} [T], {x};");
        // The comparison holds in half of the lanes: it uses x itself where bit 0 of z is set.
        let compare =
            format!("and.b32 t, z, 1; setp.ne.u32 q, t, 0; selp.b{bits} {u}, {x}, {y}, q;");
        let swap = format!("{before} {compare} atom{name}.cas.b{bits} {r}, [T], {u}, {z};");
        group.int(bits, format!("{swap} }}"), |x, _, _| x);
        group.int(
            bits,
            format!("{swap} ld{volatile}{name}.b{bits} {r}, [T]; }}"),
            move |x, y, z| {
                let compare = if z & 1 != 0 { x } else { y };
                if x & mask == compare & mask { z } else { x }
            },
        );
    }
    for level in ["cta", "gl", "sys"] {
        let ptx = format!(
            "{{ {place} st{name}.b32 [T], x; membar.{level}; ld{volatile}{name}.b32 r, [T]; }}"
        );
        group.int(32, ptx, |x, _, _| x);
    }
}
