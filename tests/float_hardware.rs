//! Compares `ir::eval` with the host's float instructions in all four rounding modes, as an
//! independent ground truth. Also tests the JIT's halves and reciprocal roots.
#![cfg(target_arch = "x86_64")]

use std::arch::asm;
use std::sync::Arc;

use warploom_analysis::LaunchClass;
use warploom_engine::{Effort, Program};
use warploom_ir::eval::{self, single};
use warploom_ir::{
    FloatAttrs, FloatBinaryOp, FloatUnaryOp, NanPolicy, Round, SharedFn, Type, parse, shared,
};
use warploom_runtime::launch::{ConstBank, LaunchConfig, launch};
use warploom_runtime::memory::{Access, Memory, Placement};
use warploom_testing::ir::{Random, Source};

const NAN: NanPolicy = NanPolicy { f16: 0x7fff, f32: 0x7fff_ffff, f64: 0xfff8 << 48 };
const ROUNDS: [Round; 4] = [Round::Nearest, Round::Zero, Round::Down, Round::Up];
const CASES: usize = 20_000;

/// Returns the MXCSR that masks all exceptions and has this rounding.
fn mxcsr(round: Round) -> u32 {
    let field = match round {
        Round::Nearest => 0,
        Round::Down => 1,
        Round::Up => 2,
        Round::Zero => 3,
    };
    0x1f80 | field << 13
}

/// Defines a two-operand instruction of the host, `a = a op b`, under a rounding mode.
macro_rules! host {
    ($name:ident, $instruction:literal, $float:ty) => {
        fn $name(round: Round, a: $float, b: $float) -> $float {
            let (mode, usual) = (mxcsr(round), mxcsr(Round::Nearest));
            let mut a = a;
            // SAFETY: The code sets MXCSR back to the value that Rust expects, and touches nothing
            // else.
            unsafe {
                asm!(
                    "ldmxcsr [{mode}]",
                    concat!($instruction, " {a}, {b}"),
                    "ldmxcsr [{usual}]",
                    mode = in(reg) &mode,
                    usual = in(reg) &usual,
                    a = inout(xmm_reg) a,
                    b = in(xmm_reg) b,
                    options(nostack, readonly),
                );
            }
            a
        }
    };
}

host!(addss, "addss", f32);
host!(subss, "subss", f32);
host!(mulss, "mulss", f32);
host!(divss, "divss", f32);
host!(sqrtss, "sqrtss", f32);
host!(addsd, "addsd", f64);
host!(subsd, "subsd", f64);
host!(mulsd, "mulsd", f64);
host!(divsd, "divsd", f64);
host!(sqrtsd, "sqrtsd", f64);

macro_rules! host_fma {
    ($name:ident, $instruction:literal, $float:ty) => {
        fn $name(round: Round, a: $float, b: $float, c: $float) -> $float {
            let (mode, usual) = (mxcsr(round), mxcsr(Round::Nearest));
            let mut sum = c;
            // SAFETY: As above; the caller has checked that the host has FMA.
            unsafe {
                asm!(
                    "ldmxcsr [{mode}]",
                    concat!($instruction, " {sum}, {a}, {b}"),
                    "ldmxcsr [{usual}]",
                    mode = in(reg) &mode,
                    usual = in(reg) &usual,
                    sum = inout(xmm_reg) sum,
                    a = in(xmm_reg) a,
                    b = in(xmm_reg) b,
                    options(nostack, readonly),
                );
            }
            sum
        }
    };
}

host_fma!(vfmadd231ss, "vfmadd231ss", f32);
host_fma!(vfmadd231sd, "vfmadd231sd", f64);

macro_rules! host_convert {
    ($name:ident, $template:literal, $from:ty, $in:ident, $to:ty, $out:ident) => {
        fn $name(round: Round, a: $from) -> $to {
            let (mode, usual) = (mxcsr(round), mxcsr(Round::Nearest));
            let result: $to;
            // SAFETY: As above; the caller has checked that the host has the instruction.
            unsafe {
                asm!(
                    "ldmxcsr [{mode}]",
                    $template,
                    "ldmxcsr [{usual}]",
                    mode = in(reg) &mode,
                    usual = in(reg) &usual,
                    a = in($in) a,
                    result = out($out) result,
                    options(nostack, readonly),
                );
            }
            result
        }
    };
}

host_convert!(cvtsd2ss, "cvtsd2ss {result}, {a}", f64, xmm_reg, f32, xmm_reg);
host_convert!(cvtsi2ss, "cvtsi2ss {result}, {a}", i64, reg, f32, xmm_reg);
host_convert!(cvtsi2sd, "cvtsi2sd {result}, {a}", i64, reg, f64, xmm_reg);
host_convert!(cvtsd2si, "cvtsd2si {result}, {a}", f64, xmm_reg, i64, reg);
host_convert!(roundsd, "roundsd {result}, {a}, 4", f64, xmm_reg, f64, xmm_reg);
// Bit 2 of the immediate selects MXCSR's rounding.
host_convert!(vcvtps2ph, "vcvtps2ph {result}, {a}, 4", f32, xmm_reg, f32, xmm_reg);

/// A generator of bit patterns that are often near a boundary.
struct Numbers(Random);

impl Numbers {
    fn bits(&mut self, ty: Type) -> u64 {
        let mantissa = match ty {
            Type::F16 => 10,
            Type::F32 => 23,
            _ => 52,
        };
        let random = u64::from(self.0.below(u32::MAX)) << 32 | u64::from(self.0.below(u32::MAX));
        let exponents = (1u64 << (ty.bits() - 1 - mantissa)) - 1;
        let fraction_mask = (1u64 << mantissa) - 1;
        let exponent = match self.0.below(6) {
            0 => 0,
            1 => exponents - u64::from(self.0.below(3)),
            2 => 1 + u64::from(self.0.below(2)),
            // Near 1, so that sums cancel and products stay in range.
            3 | 4 => (exponents >> 1) - 8 + u64::from(self.0.below(16)),
            _ => random >> 40 & exponents,
        };
        let fraction = match self.0.below(4) {
            0 => 0,
            1 => fraction_mask - u64::from(self.0.below(3)),
            2 => u64::from(self.0.below(4)),
            _ => random & fraction_mask,
        };
        (random >> 63) << (ty.bits() - 1) | exponent.min(exponents) << mantissa | fraction
    }
}

fn attrs(round: Round) -> FloatAttrs {
    FloatAttrs { round, ..FloatAttrs::IEEE }
}

fn canonical32(x: f32) -> u64 {
    if x.is_nan() { NAN.f32.into() } else { x.to_bits().into() }
}

fn canonical64(x: f64) -> u64 {
    if x.is_nan() { NAN.f64 } else { x.to_bits() }
}

type Host32 = fn(Round, f32, f32) -> f32;
type Host64 = fn(Round, f64, f64) -> f64;

#[test]
fn arithmetic() {
    let ops: [(FloatBinaryOp, Host32, Host64); 4] = [
        (FloatBinaryOp::Add, addss, addsd),
        (FloatBinaryOp::Sub, subss, subsd),
        (FloatBinaryOp::Mul, mulss, mulsd),
        (FloatBinaryOp::Div, divss, divsd),
    ];
    let mut numbers = Numbers(Random::new(1));
    for round in ROUNDS {
        for (op, f32_op, f64_op) in ops {
            for _ in 0..CASES {
                let (a, b) = (numbers.bits(Type::F32), numbers.bits(Type::F32));
                let found =
                    single(|out| eval::fbinary(op, Type::F32, attrs(round), NAN, &[a], &[b], out));
                let expected =
                    canonical32(f32_op(round, f32::from_bits(a as u32), f32::from_bits(b as u32)));
                assert_eq!(found, expected, "{op:?} {round:?} {a:#x} {b:#x}");

                let (a, b) = (numbers.bits(Type::F64), numbers.bits(Type::F64));
                let found =
                    single(|out| eval::fbinary(op, Type::F64, attrs(round), NAN, &[a], &[b], out));
                let expected = canonical64(f64_op(round, f64::from_bits(a), f64::from_bits(b)));
                assert_eq!(found, expected, "{op:?} {round:?} {a:#x} {b:#x}");
            }
        }
    }
}

#[test]
fn square_root() {
    let mut numbers = Numbers(Random::new(2));
    for round in ROUNDS {
        for _ in 0..4 * CASES {
            let a = numbers.bits(Type::F32);
            let found = single(|out| {
                eval::funary(FloatUnaryOp::Sqrt, Type::F32, attrs(round), NAN, &[a], out)
            });
            let expected = canonical32(sqrtss(round, 0.0, f32::from_bits(a as u32)));
            assert_eq!(found, expected, "{round:?} {a:#x}");
            let a = numbers.bits(Type::F64);
            let found = single(|out| {
                eval::funary(FloatUnaryOp::Sqrt, Type::F64, attrs(round), NAN, &[a], out)
            });
            let expected = canonical64(sqrtsd(round, 0.0, f64::from_bits(a)));
            assert_eq!(found, expected, "{round:?} {a:#x}");
        }
    }
}

#[test]
fn fused_multiply_add() {
    if !std::is_x86_feature_detected!("fma") {
        return;
    }
    let mut numbers = Numbers(Random::new(3));
    for round in ROUNDS {
        for i in 0..2 * CASES {
            let [a, b, mut c] = [(); 3].map(|()| numbers.bits(Type::F32));
            if i % 3 == 0 {
                // The sum nearly cancels.
                c = (-(f32::from_bits(a as u32) * f32::from_bits(b as u32))).to_bits().into();
            }
            let found =
                single(|out| eval::fma(Type::F32, attrs(round), NAN, &[a], &[b], &[c], out));
            let [x, y, z] = [a, b, c].map(|bits| f32::from_bits(bits as u32));
            assert_eq!(
                found,
                canonical32(vfmadd231ss(round, x, y, z)),
                "{round:?} {a:#x} {b:#x} {c:#x}"
            );

            let [a, b, mut c] = [(); 3].map(|()| numbers.bits(Type::F64));
            if i % 3 == 0 {
                c = (-(f64::from_bits(a) * f64::from_bits(b))).to_bits();
            }
            let found =
                single(|out| eval::fma(Type::F64, attrs(round), NAN, &[a], &[b], &[c], out));
            let [x, y, z] = [a, b, c].map(f64::from_bits);
            assert_eq!(
                found,
                canonical64(vfmadd231sd(round, x, y, z)),
                "{round:?} {a:#x} {b:#x} {c:#x}"
            );
        }
    }
}

#[test]
fn conversions() {
    let f16c = std::is_x86_feature_detected!("f16c");
    let mut numbers = Numbers(Random::new(4));
    for round in ROUNDS {
        for _ in 0..2 * CASES {
            let wide = numbers.bits(Type::F64);
            let value = f64::from_bits(wide);
            let found =
                single(|out| eval::fconvert(Type::F64, Type::F32, attrs(round), NAN, &[wide], out));
            assert_eq!(found, canonical32(cvtsd2ss(round, value)), "{round:?} {wide:#x}");

            let found = single(|out| {
                eval::funary(FloatUnaryOp::Integral, Type::F64, attrs(round), NAN, &[wide], out)
            });
            assert_eq!(found, canonical64(roundsd(round, value)), "{round:?} {wide:#x}");

            // The host returns the least integer for every value that does not fit.
            if value.abs() < 9e18 {
                let f = |out: &mut [u64]| {
                    eval::float_to_int(Type::F64, Type::I64, true, round, false, 0, &[wide], out);
                };
                assert_eq!(single(f) as i64, cvtsd2si(round, value), "{round:?} {wide:#x}");
            }

            let narrow = numbers.bits(Type::F32);
            if f16c {
                let value = f32::from_bits(narrow as u32);
                let found = single(|out| {
                    eval::fconvert(Type::F32, Type::F16, attrs(round), NAN, &[narrow], out)
                });
                let host = u64::from(vcvtps2ph(round, value).to_bits() & 0xffff);
                let expected = if value.is_nan() { NAN.f16.into() } else { host };
                assert_eq!(found, expected, "{round:?} {narrow:#x}");
            }

            let int = (wide as i64) >> numbers.0.below(64);
            let f = |to, out: &mut [u64]| {
                eval::int_to_float(Type::I64, to, true, round, &[int as u64], out)
            };
            assert_eq!(
                single(|out| f(Type::F32, out)),
                u64::from(cvtsi2ss(round, int).to_bits()),
                "{round:?} {int}"
            );
            assert_eq!(
                single(|out| f(Type::F64, out)),
                cvtsi2sd(round, int).to_bits(),
                "{round:?} {int}"
            );
        }
    }
}

/// y[i] = f(first + i * step), with one lane for each element. FUNCTION stands for instructions
/// that compute v11 from v10.
const KERNEL: &str = r#"
function "function" lanes 32 nan 0x7fff 0x7fffffff 0xfff8000000000000 {
bank m: mask x 1
active m[0]

b0 pc 0 cost 1:
  v0 = ctaid.x
  v1 = ntid.x
  v2 = mul v0, v1
  v3 = tid.x
  v4 = add v2, v3
  v5 = const.i32 0
  v6 = load.const0.i32 [v5+8] align 4
  v7 = load.const0.i32 [v5+12] align 4
  v8 = mul v4, v7
  v9 = add v8, v6
  v10 = bitcast.f32 v9
FUNCTION
  v12 = bitcast.i32 v11
  v13 = load.const0.i64 [v5] align 8
  v14 = zext.i64 v4
  v15 = const.i64 2
  v16 = shl v14, v15
  v17 = add v13, v16
  store.global.i32 [v17], v12 align 4
  exit
}
"#;

/// NVIDIA's sequence for reciprocal roots of denormals.
const SCALED: &str = "
  v20 = fabs v10
  v21 = const.f32 0x800000
  v22 = fcmp.geu v20, v21
  v23 = not v22
  v24 = const.f32 0x4b800000
  v25 = fmul v10, v24
  v26 = bitcast.i32 v25
  v27 = select v23, v26, v9
  v28 = bitcast.f32 v27
  v29 = rsq v28
  v30 = const.f32 0x45800000
  v31 = fmul v29, v30
  v11 = select v23, v31, v29";

/// LLVM's sequence for reciprocal roots of denormals.
const FACTORS: &str = "
  v20 = const.f32 0x800000
  v21 = fcmp.gt v20, v10
  v22 = const.f32 0x4b800000
  v23 = const.f32 0x3f800000
  v24 = select v21, v22, v23
  v25 = fmul v10, v24
  v26 = rsq v25
  v27 = const.f32 0x45800000
  v28 = select v21, v27, v23
  v11 = fmul v26, v28";

/// Compares all mantissas with two exponents (other exponents scale the result), and numbers of all
/// kinds.
#[test]
fn the_jits_reciprocal_roots_are_those_of_the_interpreter() {
    let runs = [(Effort::Full, 0x3f80_0000, 1), (Effort::Full, 0, 256), (Effort::Quick, 255, 256)];
    same_roots("  v11 = rsq v10", SharedFn::Rsq, &runs);
}

/// Compares all denormals, and numbers of all kinds.
#[test]
fn scaled_roots_are_those_of_denormals() {
    let runs = [(Effort::Full, 0, 1), (Effort::Full, 0, 256), (Effort::Quick, 255, 256)];
    for root in ["  v11 = rsq.denormal v10", SCALED, FACTORS] {
        same_roots(root, SharedFn::RsqDenormal, &runs);
    }
    for bits in (0..u32::MAX).step_by(9973) {
        let x = f32::from_bits(bits);
        let small = x.abs() < f32::MIN_POSITIVE;
        let root = |x: f32| f32::from_bits(shared::one(SharedFn::Rsq, NAN.f32, x.to_bits()));
        let scaled = if small { root(x * 2f32.powi(24)) * 2f32.powi(12) } else { root(x) };
        let scaled = if scaled.is_nan() { NAN.f32 } else { scaled.to_bits() };
        assert_eq!(shared::one(SharedFn::RsqDenormal, NAN.f32, bits), scaled, "of {bits:#x}");
    }
}

fn same_roots(root: &str, function: SharedFn, runs: &[(Effort, u32, u32)]) {
    same(root, |x| shared::one(function, NAN.f32, x), runs);
}

/// Compares halves of all kinds, and floats near the range of halves.
#[test]
fn the_jits_halves_are_those_of_the_interpreter() {
    let ieee = FloatAttrs::IEEE;
    let convert = |from, to, x: u32| {
        single(|out| eval::fconvert(from, to, ieee, NAN, &[x.into()], out)) as u32
    };
    let there_and_back = "  v20 = fconvert.f16 v10\n  v11 = fconvert.f32 v20";
    let runs = [
        (Effort::Full, 0, 256),
        (Effort::Full, 0x3300_0000, 1),
        (Effort::Full, 0x3880_0000 - (1 << 22), 1),
    ];
    same(
        there_and_back,
        |x| convert(Type::F16, Type::F32, convert(Type::F32, Type::F16, x)),
        &runs,
    );

    // Three halves from one word.
    let fused = "
  v20 = trunc.i16 v9
  v21 = bitcast.f16 v20
  v22 = const.i32 0x9e3779b1
  v23 = mul v9, v22
  v24 = trunc.i16 v23
  v25 = bitcast.f16 v24
  v26 = const.i32 16
  v27 = shr.u v9, v26
  v28 = trunc.i16 v27
  v29 = bitcast.f16 v28
  v30 = fma v21, v25, v29
  v11 = fconvert.f32 v30";
    let expected = |x: u32| {
        let [a, b, c] =
            [x, x.wrapping_mul(0x9e37_79b1), x >> 16].map(|half| u64::from(half & 0xffff));
        let half = single(|out| eval::fma(Type::F16, ieee, NAN, &[a], &[b], &[c], out));
        convert(Type::F16, Type::F32, half as u32)
    };
    same(
        fused,
        expected,
        &[(Effort::Full, 0, 255), (Effort::Full, 0x9000_0000, 1), (Effort::Quick, 7, 249)],
    );
}

/// Compares the JIT's results with a function, for operands `first + i * step` of each run.
fn same(code: &str, function: impl Fn(u32) -> u32, runs: &[(Effort, u32, u32)]) {
    const COUNT: u32 = 1 << 24;
    const BUFFER: u64 = 0x10_0000_0000;
    const BLOCK: [u32; 3] = [256, 1, 1];
    let kernel = Arc::new(parse::parse(&KERNEL.replace("FUNCTION", code)).unwrap());
    let program = Program::new(
        &kernel,
        LaunchClass::of(BLOCK, 32, warploom_cranelift::CHUNK),
        true,
        warploom_cranelift::backend(),
    )
    .unwrap();
    let memory = Memory::default();
    memory.alloc_at(Placement::At(BUFFER), 4 * u64::from(COUNT), Access::READ_WRITE).unwrap();
    for &(effort, first, step) in runs {
        program.compile_all(effort).unwrap();
        let mut config = LaunchConfig::new([COUNT / BLOCK[0], 1, 1], BLOCK);
        let bank =
            [&BUFFER.to_le_bytes()[..], &u32::to_le_bytes(first), &u32::to_le_bytes(step)].concat();
        config.constants[0] = Some(ConstBank::new(&bank).unwrap());
        let outcome = launch(&memory, &program, &config, None).unwrap();
        assert!(outcome.fault.is_none(), "{:?}", outcome.fault);
        let mut found = vec![0; 4 * COUNT as usize];
        memory.read(BUFFER, &mut found).unwrap();
        for (i, found) in (0..).zip(found.as_chunks().0) {
            let operand = first + i * step;
            let expected = function(operand);
            let found = u32::from_le_bytes(*found);
            assert_eq!(
                found, expected,
                "{effort:?} effort, of {operand:#x}: {found:#x}, expected {expected:#x}"
            );
        }
    }
}
