//! Registers of random PTX: their names, first values, and stores at the end.

use arbitrary::{Result, Unstructured};
use warploom_ptx::types::{Kind, Ty};

/// Letter, type and number of the registers that instructions compute with.
const COMPUTED: [(&str, &str, u32); 7] = [
    ("r", "b32", 8),
    ("d", "b64", 4),
    ("f", "f32", 4),
    ("e", "f64", 2),
    ("h", "b16", 8),
    ("c", "b8", 4),
    ("p", "pred", 4),
];
/// The number of 128-bit registers, if the target has them.
const WIDE: u32 = 2;
/// Registers for addresses of 32 and of 64 bits, pointers, counters of loops, predicates of control
/// flow, members, and the number of the thread.
const OTHERS: [(&str, &str, u32); 7] = [
    ("a", "b32", 8),
    ("x", "b64", 8),
    ("b", "b64", 4),
    ("k", "b32", 8),
    ("u", "pred", 2),
    ("m", "b32", 2),
    ("n", "b32", 1),
];

/// Registers of pointers: to a table that is only read, to data that all threads change, to a
/// thread's own memory, and to its results.
pub const TABLE: &str = "%b0";
pub const DATA: &str = "%b1";
pub const OWN: &str = "%b2";
pub const OUT: &str = "%b3";
/// The number of the thread, or a function's argument.
pub const NUMBER: &str = "%n0";
pub const MEMBERS: &str = "%m0";

pub fn declarations(wide: bool) -> Vec<String> {
    let all = COMPUTED.iter().chain(&OTHERS).copied().chain(wide.then_some(("q", "b128", WIDE)));
    all.map(|(letter, ty, count)| format!(".reg .{ty} %{letter}<{count}>;")).collect()
}

pub fn one(u: &mut Unstructured<'_>, letter: &str) -> Result<String> {
    let count = COMPUTED.iter().find(|of| of.0 == letter).map_or(WIDE, |of| of.2);
    Ok(format!("%{letter}{}", u.int_in_range(0..=count - 1)?))
}

/// Returns a register for an operand of a type, maybe a wider register, or none if no register
/// fits.
pub fn of_type(u: &mut Unstructured<'_>, ty: Ty, wider: bool) -> Result<Option<String>> {
    let usual = match ty {
        Ty::Pred => "p",
        Ty::F32 | Ty::F64 if u.ratio(3, 4)? => {
            if ty == Ty::F32 {
                "f"
            } else {
                "e"
            }
        }
        _ => match ty.bits() {
            8 => "c",
            16 => "h",
            32 if ty.kind() == Kind::Bits && u.ratio(1, 8)? => "f",
            32 => "r",
            64 => "d",
            128 => "q",
            _ => return Ok(None),
        },
    };
    let plain = ty.kind() != Kind::Float || ty == Ty::F16 || ty == Ty::F32;
    let letter = match ty.bits() {
        8 | 16 if wider && plain && u.ratio(1, 2)? => *u.choose(&["r", "d"])?,
        32 if wider && plain && u.ratio(1, 4)? => "d",
        _ => usual,
    };
    one(u, letter).map(Some)
}

/// Returns a constant of a type, or none if the type has no constants.
pub fn constant(u: &mut Unstructured<'_>, ty: Ty) -> Result<Option<String>> {
    const FLOATS: [f64; 12] = [
        0.0,
        -0.0,
        1.0,
        -1.5,
        0.1,
        1e30,
        -1e-40,
        65504.0,
        f64::INFINITY,
        f64::NAN,
        2147483648.0,
        4.9e-324,
    ];
    let float = |value: f64, bits: u32| match bits {
        32 => format!("0f{:08x}", (value as f32).to_bits()),
        _ => format!("0d{:016x}", value.to_bits()),
    };
    Ok(Some(match ty.kind() {
        Kind::Float if !matches!(ty, Ty::F32 | Ty::F64) => return Ok(None),
        Kind::Float => float(*u.choose(&FLOATS)?, ty.bits()),
        Kind::Pred | Kind::Opaque => return Ok(None),
        _ if matches!(ty, Ty::U16x2 | Ty::S16x2) => return Ok(None),
        Kind::Bits if matches!(ty.bits(), 32 | 64) && u.ratio(1, 8)? => {
            float(*u.choose(&FLOATS)?, ty.bits())
        }
        Kind::Signed if u.arbitrary()? => {
            format!("-{}", u.int_in_range(1..=1_u32 << (ty.bits() - 1).min(20))?)
        }
        _ => {
            let mask = u64::MAX >> (64 - ty.bits().min(64));
            let value = match u.int_in_range(0..=3)? {
                0 => u.int_in_range(0..=64_u64)?,
                1 => 1 << u.int_in_range(0..=63)?,
                2 => u64::MAX,
                _ => u.arbitrary()?,
            };
            let signed = ty.kind() == Kind::Signed;
            format!("{:#x}", value & if signed { mask >> 1 } else { mask })
        }
    }))
}

/// Returns lines that set all registers, from the number of the thread and the table. If
/// `ordinary`, numbers have usual sizes only.
pub fn start(u: &mut Unstructured<'_>, wide: bool, ordinary: bool) -> Result<Vec<String>> {
    let mut lines = vec![format!("mul.lo.u32 %a7, {NUMBER}, 8;"), "and.b32 %a7, %a7, 1016;".into()];
    lines.push("cvt.u64.u32 %x7, %a7;".into());
    lines.push(format!("add.u64 %x7, %x7, {TABLE};"));
    for (letter, ty, count) in COMPUTED {
        for n in 0..count {
            let register = format!("%{letter}{n}");
            let kind = if ordinary && letter != "p" { 2 } else { u.int_in_range(0..=3)? };
            lines.push(match (letter, kind) {
                ("p", bit) => {
                    format!("setp.gt.u32 {register}, %r{}, {:#x};", n + 1, 1_u32 << (8 * bit))
                }
                ("c" | "h", _) => {
                    format!("cvt.u{}.u32 {register}, %r{n};", if letter == "c" { 8 } else { 16 })
                }
                (_, 0) => {
                    let ty = Ty::from_name(ty).unwrap_or(Ty::B32);
                    let value = constant(u, ty)?.unwrap_or_default();
                    format!("mov.{} {register}, {value};", ty.name())
                }
                (_, 1) => {
                    let at = u.int_in_range(0..=1_u32)? * 8;
                    // The second of two words of the table is equal for all threads.
                    let at = if at > 0 { format!("{TABLE}+{at}") } else { "%x7".into() };
                    format!("ld.global.{ty} {register}, [{at}];")
                }
                ("r" | "d", _) if ordinary => {
                    let opcode = if letter == "r" { "mul.lo.u32" } else { "mul.wide.u32" };
                    format!("{opcode} {register}, {NUMBER}, {};", 2 * n + 1)
                }
                ("r", _) => {
                    format!("mul.lo.u32 {register}, {NUMBER}, {:#x};", u.arbitrary::<u32>()?)
                }
                ("d", _) => {
                    format!("mul.wide.u32 {register}, {NUMBER}, {:#x};", u.arbitrary::<u32>()?)
                }
                (_, _) => format!("cvt.rn.{ty}.s32 {register}, %r{n};"),
            });
        }
    }
    if wide {
        lines.extend((0..WIDE).map(|n| format!("mov.b128 %q{n}, {{%d{n}, %d{}}};", n + 1)));
    }
    Ok(lines)
}

/// Returns the lines that store all registers.
pub fn end(wide: bool) -> Vec<String> {
    let mut lines = vec![];
    let mut at = 0;
    for (letter, ty, count) in COMPUTED {
        let bytes = Ty::from_name(ty).map_or(0, Ty::bytes);
        for n in (0..count).filter(|_| letter != "p") {
            lines.push(format!("st.global.{ty} [{OUT}+{at}], %{letter}{n};"));
            at += bytes;
        }
    }
    for n in 0..4 {
        lines.push(format!("selp.b32 %a0, 1, 0, %p{n};"));
        lines.push(format!("st.global.b8 [{OUT}+{at}], %a0;"));
        at += 1;
    }
    if wide {
        for n in 0..WIDE {
            lines.push(format!("mov.b128 {{%x0, %x1}}, %q{n};"));
            lines.push("xor.b64 %x0, %x0, %x1;".into());
            lines.push(format!("st.global.b32 [{OUT}+{at}], %x0;"));
            at += 4;
        }
    }
    lines
}
