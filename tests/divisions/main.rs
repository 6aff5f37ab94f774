//! Divisions that compilers build from steps: the interpreter runs the steps, the JIT runs the
//! operation that analysis puts in their place, and the results must agree.
//!
//! The tests also prove that estimates of 2^32 / y are close enough for every y.

mod exact;
mod wide;

use std::sync::Arc;

use warploom_analysis::{LaunchClass, optimize, shorten_divisions};
use warploom_engine::{Effort, Program};
use warploom_interp::Interpreter;
use warploom_ir::division::{Build, Division};
use warploom_ir::{
    BinaryOp, BlockBuilder, CellKind, ConvertOp, Extend, FloatAttrs, FloatBinaryOp, FloatCc,
    FloatUnaryOp, Function, FunctionBuilder, IntCc, NanPolicy, Op, Round, SharedFn, Space, Special,
    Type, UnaryOp, Value,
};
use warploom_runtime::launch::{ConstBank, Engine, LaunchConfig, launch};
use warploom_runtime::memory::{Access, Memory, Placement};

const NAN: NanPolicy = NanPolicy { f16: 0x7e00, f32: 0x7fc0_0000, f64: 0x7ff8 << 48 };
const FIRST: u64 = 0x10_0000_0000;
const SECOND: u64 = 0x20_0000_0000;
const RESULTS: u64 = 0x30_0000_0000;
const BLOCK: u32 = 256;
const LANES: usize = 1 << 16;

type Steps = fn(&mut BlockBuilder<'_>, Value, Value) -> Value;

/// Returns a kernel that stores the steps' result for each lane's two operands.
fn kernel(ty: Type, steps: Steps) -> Function {
    let mut function = FunctionBuilder::new("f", 32, NAN);
    let active = function.bank("m", CellKind::Mask, 1).reg(0);
    function.set_active(active);
    let block = function.new_block(0);
    let mut b = function.at(block);
    let (ctaid, ntid, tid) =
        (b.special(Special::Ctaid(0)), b.special(Special::Ntid(0)), b.special(Special::Tid(0)));
    let first = b.mul(ctaid, ntid);
    let lane = b.add(first, tid);
    let lane = b.zero_extend(Type::I64, lane);
    let size = b.iconst(Type::I64, ty.bytes().into());
    let offset = b.mul(lane, size);
    let place = |b: &mut BlockBuilder<'_>, base: u64| {
        let base = b.iconst(Type::I64, base);
        b.add(offset, base)
    };
    let at = [FIRST, SECOND, RESULTS].map(|base| place(&mut b, base));
    let [x, y] = [at[0], at[1]].map(|at| b.load(Space::Global, ty, Extend::None, at, 0));
    let result = steps(&mut b, x, y);
    b.store(Space::Global, ty, at[2], 0, result);
    b.exit();
    function.finish().unwrap()
}

/// Returns an engine's results.
fn results(engine: &dyn Engine, ty: Type, operands: &[(u64, u64)]) -> Vec<u64> {
    let memory = Memory::default();
    for at in [FIRST, SECOND, RESULTS] {
        memory.alloc_at(Placement::At(at), 8 * operands.len() as u64, Access::READ_WRITE).unwrap();
    }
    let width = ty.bytes() as usize;
    let bytes = |pick: fn(&(u64, u64)) -> u64| -> Vec<u8> {
        operands.iter().flat_map(|pair| pick(pair).to_le_bytes()[..width].to_vec()).collect()
    };
    memory.write(FIRST, &bytes(|pair| pair.0)).unwrap();
    memory.write(SECOND, &bytes(|pair| pair.1)).unwrap();
    let mut config = LaunchConfig::new([operands.len() as u32 / BLOCK, 1, 1], [BLOCK, 1, 1]);
    config.constants[0] = Some(ConstBank::new(&[]).unwrap());
    let outcome = launch(&memory, engine, &config, None).unwrap();
    assert!(outcome.fault.is_none(), "{:?}", outcome.fault);
    let mut bytes = vec![0; width * operands.len()];
    memory.read(RESULTS, &mut bytes).unwrap();
    bytes
        .chunks(width)
        .map(|cell| cell.iter().rev().fold(0, |word, &byte| word << 8 | u64::from(byte)))
        .collect()
}

fn random(state: &mut u64) -> u64 {
    *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    *state ^ *state >> 29
}

/// Returns pairs of operands that are hard for a type's operations, and of random bits.
fn operands(ty: Type) -> Vec<(u64, u64)> {
    let edges: Vec<u64> = match ty {
        Type::F32 => {
            let exponents = [
                0, 1, 2, 23, 24, 62, 63, 64, 103, 104, 125, 126, 127, 128, 150, 190, 191, 192, 251,
                252, 253, 254, 255,
            ];
            let mantissas = [0, 1, 2, 0x3f_ffff, 0x40_0000, 0x40_0001, 0x7f_fffe, 0x7f_ffff];
            exponents.iter().flat_map(|e| mantissas.map(|m| e << 23 | m)).collect()
        }
        Type::F64 => {
            let exponents = [
                0, 1, 2, 52, 53, 54, 127, 128, 129, 254, 255, 894, 895, 1022, 1023, 1024, 1791,
                1792, 2044, 2045, 2046, 2047,
            ];
            let mantissas = [
                0,
                1,
                0x7_ffff_ffff_ffff,
                0x8_0000_0000_0000,
                0xf_ffff_ffff_fffe,
                0xf_ffff_ffff_ffff,
            ];
            exponents.iter().flat_map(|e| mantissas.map(|m| e << 52 | m)).collect()
        }
        _ => (0..32)
            .flat_map(|bit| [(1u64 << bit) - 1, 1 << bit, (1 << bit) + 1, (1 << 32) - (1 << bit)])
            .collect(),
    };
    let sign = if ty.is_float() { 1u64 << (ty.bits() - 1) } else { 0 };
    let mut pairs: Vec<(u64, u64)> = edges
        .iter()
        .enumerate()
        .flat_map(|(i, &x)| edges.iter().map(move |&y| (x | if i % 3 == 0 { sign } else { 0 }, y)))
        .collect();
    let mut state = 5;
    let near = |state: &mut u64| {
        let bits = random(state);
        let small = random(state) % u64::from(ty.bits());
        match ty {
            // Exponents near each other, so that quotients are finite numbers.
            Type::F32 => bits & 0x87ff_ffff | 0x3800_0000,
            Type::F64 => bits & 0x80ff_ffff_ffff_ffff | 0x3f00 << 48,
            _ => (bits & ty.bit_mask()) >> small,
        }
    };
    while pairs.len() < LANES {
        pairs.push((random(&mut state) & ty.bit_mask(), random(&mut state) & ty.bit_mask()));
        pairs.push((near(&mut state), near(&mut state)));
    }
    pairs.truncate(pairs.len() / BLOCK as usize * BLOCK as usize);
    pairs
}

fn check(name: &str, ty: Type, steps: Steps, is_operation: fn(&Op) -> bool) {
    let optimized = optimize(&kernel(ty, steps)).unwrap().function;
    let is_left = |op: &Op| matches!(op, Op::Fma { .. } | Op::Shared { .. });
    assert!(!ops(&optimized).any(is_left), "{name} is not found:\n{optimized}");
    compare(name, ty, steps, is_operation, operands(ty));
}

fn ops(function: &Function) -> impl Iterator<Item = &Op> {
    function.blocks.iter().flat_map(|block| &block.insts).map(|inst| &inst.op)
}

/// Compares the steps with the code that analysis makes of them, which must have the operation.
fn compare(
    name: &str,
    ty: Type,
    steps: Steps,
    is_operation: fn(&Op) -> bool,
    mut operands: Vec<(u64, u64)>,
) {
    let function = kernel(ty, steps);
    let optimized = optimize(&function).unwrap().function;
    assert!(ops(&optimized).any(is_operation), "{name} is not found:\n{optimized}");
    operands.resize(operands.len().next_multiple_of(BLOCK as usize), operands[0]);
    let function = Arc::new(function);
    let expected = results(&Interpreter::new(function.clone()).unwrap(), ty, &operands);
    let program = Program::new(
        &function,
        LaunchClass::of([BLOCK, 1, 1], 32, warploom_cranelift::CHUNK),
        true,
        warploom_cranelift::backend(),
    )
    .unwrap();
    program.compile_all(Effort::Full).unwrap();
    let found = results(&program, ty, &operands);
    for ((pair, found), expected) in operands.iter().zip(found).zip(expected) {
        assert_eq!(found, expected, "{name} of {pair:#x?}: {found:#x}, expected {expected:#x}");
    }
}

fn is_quotient(op: &Op) -> bool {
    matches!(op, Op::FBinary { op: FloatBinaryOp::Div, .. })
}

/// Builds LLVM's steps for AMD's GPUs.
fn float_steps(b: &mut BlockBuilder<'_>, ty: Type, n: Value, d: Value) -> Value {
    let mut steps = Division { b, attrs: FloatAttrs::IEEE, nan: NAN.canonical(ty), ty };
    let ((scaled_d, _), (scaled_n, moved)) = (steps.scale([d, d, n]), steps.scale([n, d, n]));
    let one = steps.number(1.0);
    let minus = steps.b.put(Op::Unary { op: UnaryOp::FNeg, a: scaled_d });
    let (e, r, q) = if ty == Type::F64 {
        let r = steps.quotient(one, scaled_d);
        let r = (0..2).fold(r, |r, _| {
            let e = steps.fma(minus, r, one);
            steps.fma(r, e, r)
        });
        let q = steps.product(scaled_n, r);
        (steps.fma(minus, q, scaled_n), r, q)
    } else {
        let r = steps.b.put(Op::Shared { function: SharedFn::Rcp, a: scaled_d });
        let e = steps.fma(minus, r, one);
        let r = steps.fma(e, r, r);
        // LLVM may swap the factors.
        let q = steps.product(r, scaled_n);
        let e = steps.fma(minus, q, scaled_n);
        let q = steps.fma(e, r, q);
        (steps.fma(minus, q, scaled_n), r, q)
    };
    let quotient = steps.fmas([e, r, q], moved);
    let fixed = steps.fixup([quotient, d, n]);
    b.select(fixed.neither, fixed.nan, fixed.signed)
}

#[test]
fn single_quotients() {
    check("f32", Type::F32, |b, n, d| float_steps(b, Type::F32, n, d), is_quotient);
}

#[test]
fn double_quotients() {
    check("f64", Type::F64, |b, n, d| float_steps(b, Type::F64, n, d), is_quotient);
}

/// Proves that the iterations' reciprocal of an `f32` is the nearest one for every mantissa.
/// Markstein's theorem requires this.
#[test]
fn reciprocals_of_the_iterations_are_rounded_correctly() {
    for mantissa in 0..1 << 23 {
        let d = f32::from_bits(0x3f80_0000 | mantissa);
        let r = 1.0 / d;
        let e = (-d).mul_add(r, 1.0);
        assert_eq!(e.mul_add(r, r), r, "{d:?}");
    }
}

/// Builds an estimate of 2^32 / y, by LLVM's or NVIDIA's steps.
fn estimate(b: &mut BlockBuilder<'_>, y: Value, llvm: bool) -> Value {
    let z = if llvm {
        let float = b.int_to_float(Type::F32, false, Round::Nearest, y);
        let reciprocal = b.shared(SharedFn::Rcp, float);
        let scale = b.iconst(Type::F32, 0x4f7f_fffe);
        let product = b.fmul(FloatAttrs::IEEE, reciprocal, scale);
        b.float_to_int(Type::I32, false, Round::Zero, false, 0, product)
    } else {
        let float = b.int_to_float(Type::F32, false, Round::Up, y);
        let reciprocal = b.shared(SharedFn::Rcp, float);
        let (bits, step) = (b.bitcast(Type::I32, reciprocal), b.iconst(Type::I32, 0x0fff_fffe));
        let scaled = b.add(bits, step);
        let scaled = b.bitcast(Type::F32, scaled);
        b.float_to_int(Type::I32, false, Round::Zero, true, 0, scaled)
    };
    let zero = b.iconst(Type::I32, 0);
    let error = if llvm {
        let minus = b.sub(zero, y);
        b.mul(minus, z)
    } else {
        let product = b.mul(z, y);
        b.sub(zero, product)
    };
    let more = high_product(b, z, error, llvm);
    b.add(z, more)
}

fn high_product(b: &mut BlockBuilder<'_>, x: Value, y: Value, at_once: bool) -> Value {
    if at_once {
        return b.mul_hi_u(x, y);
    }
    let [x, y] = [x, y].map(|v| b.zero_extend(Type::I64, v));
    let product = b.mul(x, y);
    b.put(Op::Convert { op: ConvertOp::HighHalf, to: Type::I32, a: product })
}

/// Builds the quotient and the remainder with their corrections.
fn word_steps(b: &mut BlockBuilder<'_>, x: Value, y: Value, llvm: bool) -> [Value; 2] {
    let z = estimate(b, y, llvm);
    let (mut q, one) = (high_product(b, x, z, llvm), b.iconst(Type::I32, 1));
    let mut r = if llvm {
        let product = b.mul(q, y);
        b.sub(x, product)
    } else {
        let zero = b.iconst(Type::I32, 0);
        let minus = b.sub(zero, q);
        let product = b.mul(minus, y);
        b.add(product, x)
    };
    for _ in 0..2 {
        let is_short = b.icmp(IntCc::GeU, r, y);
        let (more, less) = (b.add(q, one), b.sub(r, y));
        (q, r) = (b.select(is_short, more, q), b.select(is_short, less, r));
    }
    [q, r]
}

fn is_word_quotient(op: &Op) -> bool {
    matches!(op, Op::Binary { op: BinaryOp::DivU | BinaryOp::RemU, .. })
}

#[test]
fn words_by_llvm() {
    check("quotient", Type::I32, |b, x, y| word_steps(b, x, y, true)[0], is_word_quotient);
    check("remainder", Type::I32, |b, x, y| word_steps(b, x, y, true)[1], is_word_quotient);
}

#[test]
fn words_by_nvidia() {
    check("quotient", Type::I32, |b, x, y| word_steps(b, x, y, false)[0], is_word_quotient);
    check("remainder", Type::I32, |b, x, y| word_steps(b, x, y, false)[1], is_word_quotient);
}

/// Builds the steps of Intel's compiler: quotient and remainder by floats rounded toward zero, with
/// one correction.
fn float_word_steps(b: &mut BlockBuilder<'_>, x: Value, y: Value) -> [Value; 2] {
    let cut = FloatAttrs { round: Round::Zero, ..FloatAttrs::IEEE };
    let float =
        |b: &mut BlockBuilder<'_>, v: Value| b.int_to_float(Type::F32, false, Round::Zero, v);
    let word = |b: &mut BlockBuilder<'_>, v: Value| {
        b.float_to_int(Type::I32, false, Round::Zero, false, 0, v)
    };
    let mut parts = |v: Value| {
        let whole = float(b, v);
        let taken = word(b, whole);
        let taken = b.neg(taken);
        let rest = b.add(v, taken);
        (whole, float(b, rest))
    };
    let ((float_y, more_y), (float_x, more_x)) = (parts(y), parts(x));
    let (one, below) = (b.iconst(Type::F32, 0x3f80_0000), b.iconst(Type::F32, 0xb4c0_0000));
    let r = b.fdiv(FloatAttrs::IEEE, one, float_y);
    let r = b.fma(cut, r, below, r);
    let first = b.fmul(cut, float_x, r);
    let first = word(b, first);
    let whole = float(b, first);
    let (minus_y, minus_more) = (b.fneg(float_y), b.fneg(more_y));
    let (rest, more) = (b.fma(cut, minus_y, whole, float_x), b.fma(cut, minus_more, whole, more_x));
    let rest = b.fadd(cut, rest, more);
    let second = b.fmul(cut, r, rest);
    let second = word(b, second);
    let q = b.add(second, first);
    let product = b.mul(q, y);
    let product = b.neg(product);
    let rest = b.add(x, product);
    let (zero, all) = (b.iconst(Type::I32, 0), b.iconst(Type::I32, u32::MAX.into()));
    let (enough, short) = (b.icmp(IntCc::GeU, rest, y), b.icmp(IntCc::LtU, rest, y));
    let (more, less) = (b.select(enough, all, zero), b.select(short, zero, y));
    let (more, less) = (b.neg(more), b.neg(less));
    [b.add(q, more), b.add(rest, less)]
}

#[test]
fn words_by_intel() {
    check("quotient", Type::I32, |b, x, y| float_word_steps(b, x, y)[0], is_word_quotient);
    check("remainder", Type::I32, |b, x, y| float_word_steps(b, x, y)[1], is_word_quotient);
}

/// Builds the root that LLVM makes for AMD's GPUs, with words that hold floats.
fn root_steps(b: &mut BlockBuilder<'_>, x: Value) -> Value {
    let (ieee, flushing) = (FloatAttrs::IEEE, FloatAttrs { flush: true, ..FloatAttrs::IEEE });
    let plain = b.bitcast(Type::I32, x);
    let [small, up, down, zero] =
        [0x0f80_0000, 0x4f80_0000, 0x3780_0000, 0].map(|bits| b.iconst(Type::F32, bits));
    let product = b.fmul(ieee, up, x);
    let product = b.bitcast(Type::I32, product);
    let is_small = b.fcmp(FloatCc::Gt, false, small, x);
    let bits = b.select(is_small, product, plain);
    let scaled = b.bitcast(Type::F32, bits);
    let near = b.funary(FloatUnaryOp::Sqrt, flushing, scaled);
    let near_bits = b.bitcast(Type::I32, near);
    let mut next = |step: u32| {
        let step = b.iconst(Type::I32, step.into());
        let word = b.add(near_bits, step);
        let float = b.bitcast(Type::F32, word);
        let minus = b.fneg(float);
        (word, b.fma(ieee, minus, near, scaled))
    };
    let ((below, error_below), (above, error_above)) = (next(u32::MAX), next(1));
    let too_much = b.fcmp(FloatCc::Ge, false, zero, error_below);
    let root = b.select(too_much, below, near_bits);
    let too_little = b.fcmp(FloatCc::Lt, false, zero, error_above);
    let root = b.select(too_little, above, root);
    let float = b.bitcast(Type::F32, root);
    let less = b.fmul(ieee, down, float);
    let less = b.bitcast(Type::I32, less);
    let root = b.select(is_small, less, root);
    let [magnitude, infinity, none] =
        [0x7fff_ffff, 0x7f80_0000, 0].map(|bits| b.iconst(Type::I32, bits));
    let magnitude = b.and(bits, magnitude);
    let (is_zero, is_infinite) =
        (b.icmp(IntCc::Eq, magnitude, none), b.icmp(IntCc::Eq, bits, infinity));
    let exact = b.or(is_zero, is_infinite);
    let root = b.select(exact, bits, root);
    b.bitcast(Type::F32, root)
}

#[test]
fn roots() {
    let is_root =
        |op: &Op| matches!(op, Op::FUnary { op: FloatUnaryOp::Sqrt, attrs: FloatAttrs::IEEE, .. });
    check("root", Type::F32, |b, x, _| root_steps(b, x), is_root);
}

/// Returns the result of [`root_steps`] for an operand.
fn root(x: f32) -> f32 {
    let is_small = f32::from_bits(0x0f80_0000) > x;
    let scaled = if is_small { x * 2f32.powi(32) } else { x };
    if scaled == 0.0 || scaled == f32::INFINITY {
        return scaled;
    }
    let near = scaled.sqrt();
    let [below, above] =
        [u32::MAX, 1].map(|step| f32::from_bits(near.to_bits().wrapping_add(step)));
    let mut root = near;
    if 0.0 >= (-below).mul_add(near, scaled) {
        root = below;
    }
    if 0.0 < (-above).mul_add(near, scaled) {
        root = above;
    }
    if is_small { root * 2f32.powi(-16) } else { root }
}

#[test]
#[ignore = "tries all 2^32 operands: a minute"]
fn all_roots_are_rounded_correctly() {
    for bits in 0..=u32::MAX {
        let x = f32::from_bits(bits);
        let (found, expected) = (root(x), x.sqrt());
        assert!(
            found.to_bits() == expected.to_bits() || found.is_nan() && expected.is_nan(),
            "{x}: {found}, not {expected}"
        );
    }
}

/// Returns the estimates that [`estimate`] builds in the guest.
fn estimates(y: u32) -> [u32; 2] {
    let reciprocal = |y: f32| 1.0 / y;
    let llvm = (reciprocal(y as f32) * f32::from_bits(0x4f7f_fffe)) as u32;
    let nearest = y as f32;
    let up = if f64::from(nearest) < f64::from(y) { nearest.next_up() } else { nearest };
    let nvidia = f32::from_bits(reciprocal(up).to_bits().wrapping_add(0x0fff_fffe)) as u32;
    [llvm, nvidia].map(|z| {
        z.wrapping_add(((u64::from(z) * u64::from(z.wrapping_mul(y).wrapping_neg())) >> 32) as u32)
    })
}

/// Returns whether `0 <= 2^32 - z y <= 2 y` for both estimates `z`.
///
/// Then the estimated quotient is at most two too small: `x / y - x z / 2^32` is not negative and
/// at most 2 x / 2^32, which is less than 2.
fn is_close(y: u32) -> bool {
    estimates(y).into_iter().all(|z| {
        let rest = (1i64 << 32) - (u64::from(z) * u64::from(y)) as i64;
        (0..=2 * i64::from(y)).contains(&rest)
    })
}

#[test]
fn estimates_are_close() {
    let mut state = 3;
    for y in (1..1 << 16)
        .chain((0..100_000).map(|_| random(&mut state) as u32 | 1))
        .chain((0..1 << 16).map(|y| u32::MAX - y))
    {
        assert!(is_close(y), "{y}");
    }
}

#[test]
#[ignore = "tries all 2^32 operands: a minute"]
fn all_estimates_are_close() {
    for y in 1..=u32::MAX {
        assert!(is_close(y), "{y}");
    }
}

/// Builds Intel's 64-bit division: each round of a loop computes a bit, from bit `first` down, and
/// the rest begins as `begun`. Lane 7 of each warp is not active.
fn bit_by_bit(quotient: bool, first: u64, begun: u64) -> Function {
    let mut function = FunctionBuilder::new("f", 32, NAN);
    let masks = function.bank("m", CellKind::Mask, 2);
    let (active, left) = (masks.reg(0), masks.reg(1));
    function.set_active(active);
    let longs = function.bank("l", CellKind::Lane(Type::I64), 4);
    let [n, d, rest, bits] = [0, 1, 2, 3].map(|index| longs.reg(index));
    let round = function.bank("k", CellKind::Uniform(Type::I32), 1).reg(0);
    let [entry, head, latch, done] = [0, 1, 2, 3].map(|pc| function.new_block(pc));
    for (block, cost) in [(entry, 5), (head, 20), (latch, 2), (done, 3)] {
        function.set_cost(block, cost);
    }
    let place = |b: &mut BlockBuilder<'_>, base: u64| {
        let (ctaid, ntid, tid) =
            (b.special(Special::Ctaid(0)), b.special(Special::Ntid(0)), b.special(Special::Tid(0)));
        let start = b.mul(ctaid, ntid);
        let lane = b.add(start, tid);
        let lane = b.zero_extend(Type::I64, lane);
        let (size, base) = (b.iconst(Type::I64, 8), b.iconst(Type::I64, base));
        let offset = b.mul(lane, size);
        b.add(offset, base)
    };

    let mut b = function.at(entry);
    for (reg, base) in [(n, FIRST), (d, SECOND)] {
        let at = place(&mut b, base);
        let value = b.load(Space::Global, Type::I64, Extend::None, at, 0);
        b.rf_write(reg, value);
    }
    for (reg, value) in [(rest, begun), (bits, 0)] {
        let value = b.iconst(Type::I64, value);
        let value = b.splat(value);
        b.rf_write(reg, value);
    }
    let value = b.iconst(Type::I32, first);
    b.rf_write(round, value);
    let (lane, seven) = (b.lane_id(), b.iconst(Type::I32, 7));
    let some = b.icmp(IntCc::Ne, lane, seven);
    let all = b.rf_read(active);
    let some = b.and(all, some);
    b.rf_write(active, some);
    b.jump(head);

    let mut b = function.at(head);
    let (one, zero) = (b.iconst(Type::I64, 1), b.iconst(Type::I64, 0));
    let before = b.rf_read(rest);
    let moved = b.shl(before, one);
    let number = b.rf_read(round);
    let wide = b.zero_extend(Type::I64, number);
    let (dividend, divisor) = (b.rf_read(n), b.rf_read(d));
    let bit = b.shr_u(dividend, wide);
    let bit = b.and(bit, one);
    let bigger = b.or(moved, bit);
    b.rf_write(rest, bigger);
    let less = b.icmp(IntCc::LtU, bigger, divisor);
    let running = b.rf_read(active);
    if quotient {
        // Lanes with a rest below the divisor wait for the lanes that subtract.
        let waits = b.and(running, less);
        let inverse = b.not(waits);
        let goes = b.and(running, inverse);
        b.rf_write(left, waits);
        b.rf_write(active, goes);
        let (before, divisor) = (b.rf_read(rest), b.rf_read(d));
        let minus = b.neg(divisor);
        let smaller = b.add(before, minus);
        b.rf_write(rest, smaller);
        let (set, old) = (b.shl(one, wide), b.rf_read(bits));
        let new = b.or(set, old);
        b.rf_write(bits, new);
        let waits = b.rf_read(left);
        let both = b.or(goes, waits);
        b.rf_write(active, both);
        let none = b.lanes_of(0);
        b.rf_write(left, none);
    } else {
        let by = b.select(less, zero, divisor);
        let smaller = b.sub(bigger, by);
        b.rf_write(rest, smaller);
    }
    let none = b.iconst(Type::I32, 0);
    let last = b.icmp(IntCc::Eq, number, none);
    let first_lane = b.lanes_of(1);
    let last = b.and(last, first_lane);
    b.branch(last, done, latch);

    let mut b = function.at(latch);
    let (number, minus) = (b.rf_read(round), b.iconst(Type::I32, 0xffff_ffff));
    let next = b.add(number, minus);
    b.rf_write(round, next);
    b.jump(head);

    let mut b = function.at(done);
    let result = b.rf_read(if quotient { bits } else { rest });
    let at = place(&mut b, RESULTS);
    b.store(Space::Global, Type::I64, at, 0, result);
    b.exit();
    function.finish().unwrap()
}

#[test]
fn long_divisions_bit_by_bit() {
    let mut operands = operands(Type::I32);
    operands.truncate(LANES / 8);
    let mut state = 7;
    for (number, (n, d)) in operands.iter_mut().enumerate() {
        let (low, high) = (random(&mut state), random(&mut state));
        match number % 4 {
            0 => (*n, *d) = (low, high >> (number % 64)),
            1 => (*n, *d) = (*n << 32 | *d, *d),
            2 => (*n, *d) = (!*n, !*d >> (number % 7)),
            _ => (*n, *d) = (low >> (number % 64), *d << 32 | high >> 40),
        }
        if number % 50 == 0 {
            *d = 0;
        }
    }
    for quotient in [true, false] {
        for (first, begun) in [(63, 0), (63, 5), (62, 0)] {
            let plain = bit_by_bit(quotient, first, begun);
            let mut short = plain.clone();
            shorten_divisions(&mut short).unwrap();
            assert_eq!(
                short.blocks.len(),
                plain.blocks.len() + 2,
                "the loop is not found:\n{plain}"
            );
            let [plain, short] = [plain, short].map(Arc::new);
            let expected = results(&Interpreter::new(plain).unwrap(), Type::I64, &operands);
            if (first, begun) == (63, 0) {
                for (lane, (&(n, d), &expected)) in operands.iter().zip(&expected).enumerate() {
                    let of_lane = if quotient {
                        n.checked_div(d).unwrap_or(u64::MAX)
                    } else {
                        n.checked_rem(d).unwrap_or(n)
                    };
                    assert_eq!(expected, if lane % 32 == 7 { 0 } else { of_lane });
                }
            }
            let program = Program::new(
                &short,
                LaunchClass::of([BLOCK, 1, 1], 32, warploom_cranelift::CHUNK),
                true,
                warploom_cranelift::backend(),
            )
            .unwrap();
            program.compile_all(Effort::Full).unwrap();
            let interpreter = Interpreter::new(short).unwrap();
            for engine in [&interpreter as &dyn Engine, &program] {
                let found = results(engine, Type::I64, &operands);
                for ((pair, found), expected) in operands.iter().zip(found).zip(&expected) {
                    assert_eq!(
                        found, *expected,
                        "{pair:#x?}, quotient {quotient}, from {first}, {begun}"
                    );
                }
            }
        }
    }
}
