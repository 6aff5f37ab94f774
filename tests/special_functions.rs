//! Functions that hardware approximates: the JIT's code must equal `ir::shared` bit by bit.

use std::fmt::Write;
use std::sync::Arc;

use warploom_analysis::LaunchClass;
use warploom_engine::{Effort, Program};
use warploom_ir::{SharedFn, parse, shared};
use warploom_runtime::launch::{ConstBank, LaunchConfig, launch};
use warploom_runtime::memory::{Access, Memory, Placement};

const NAN: u32 = 0x7fff_ffff;
const OPERANDS: u64 = 0x10_0000_0000;
const RESULTS: u64 = 0x20_0000_0000;
const BLOCK: u32 = 256;

#[rustfmt::skip]
const FUNCTIONS: [(&str, SharedFn); 16] = [
    ("rcp", SharedFn::Rcp), ("rsq", SharedFn::Rsq), ("rsq.denormal", SharedFn::RsqDenormal), ("sqrt.approx", SharedFn::SqrtApprox),
    ("lg2", SharedFn::Lg2), ("ex2", SharedFn::Ex2), ("sin.turns", SharedFn::SinTurns), ("cos.turns", SharedFn::CosTurns),
    ("rcp.table", SharedFn::TableRcp), ("rsq.table", SharedFn::TableRsq), ("sqrt.table", SharedFn::TableSqrt),
    ("lg2.table", SharedFn::TableLg2), ("ex2.table", SharedFn::TableEx2), ("sin.table", SharedFn::TableSin),
    ("cos.table", SharedFn::TableCos), ("rcp64.high", SharedFn::Rcp64High),
];
const OF_WORDS: [(&str, SharedFn); 2] =
    [("rsq64.high", SharedFn::Rsq64High), ("two.over.pi", SharedFn::TwoOverPi)];

/// Returns a kernel that stores the function of each lane's operand or, if `uniform`, the function
/// of the first lane's operand in each warp of 8.
fn kernel(name: &str, function: SharedFn, uniform: bool) -> String {
    let (ty, lanes) = (function.ty().name(), if uniform { 8 } else { 32 });
    let mut text =
        format!("function \"f\" lanes {lanes} nan 0x7fff {NAN:#x} 0xfff8000000000000 {{\n");
    text += "bank m: mask x 1\nactive m[0]\n\nb0 pc 0 cost 1:\n  v0 = ctaid.x\n  v1 = ntid.x\n  v2 = mul v0, v1\n";
    text += "  v3 = tid.x\n  v4 = add v2, v3\n  v5 = zext.i64 v4\n  v6 = const.i64 2\n  v7 = shl v5, v6\n";
    let _ = write!(
        text,
        "  v8 = const.i64 {OPERANDS:#x}\n  v9 = add v7, v8\n  v10 = const.i64 {RESULTS:#x}\n"
    );
    let _ = write!(text, "  v11 = add v7, v10\n  v12 = load.global.{ty} [v9] align 4\n");
    text += &match uniform {
        true => format!(
            "  v13 = const.i32 0\n  v14 = lane.read v12, v13\n  v15 = {name} v14\n  v16 = splat v15\n"
        ),
        false => format!("  v16 = {name} v12\n"),
    };
    text + &format!("  store.global.{ty} [v11], v16 align 4\n  exit\n}}\n")
}

struct Check {
    memory: Memory,
    lanes: usize,
}

impl Check {
    fn new(lanes: usize) -> Check {
        let memory = Memory::default();
        for at in [OPERANDS, RESULTS] {
            memory.alloc_at(Placement::At(at), 4 * lanes as u64, Access::READ_WRITE).unwrap();
        }
        Check { memory, lanes }
    }

    fn run(&self, program: &Program, operands: &[u32]) -> Vec<u32> {
        let bytes: Vec<u8> = operands.iter().flat_map(|x| x.to_le_bytes()).collect();
        self.memory.write(OPERANDS, &bytes).unwrap();
        let mut config = LaunchConfig::new([self.lanes as u32 / BLOCK, 1, 1], [BLOCK, 1, 1]);
        config.constants[0] = Some(ConstBank::new(&[]).unwrap());
        let outcome = launch(&self.memory, program, &config, None).unwrap();
        assert!(outcome.fault.is_none(), "{:?}", outcome.fault);
        assert_eq!(outcome.counts.interp_instructions, 0);
        let mut bytes = vec![0; 4 * self.lanes];
        self.memory.read(RESULTS, &mut bytes).unwrap();
        bytes.chunks(4).map(|word| u32::from_le_bytes(word.try_into().unwrap())).collect()
    }
}

fn program(name: &str, function: SharedFn, uniform: bool, effort: Effort) -> Program {
    let function = Arc::new(parse::parse(&kernel(name, function, uniform)).unwrap());
    let program = Program::new(
        &function,
        LaunchClass::of([BLOCK, 1, 1], function.lanes.into(), warploom_cranelift::CHUNK),
        true,
        warploom_cranelift::backend(),
    )
    .unwrap();
    program.compile_all(effort).unwrap();
    program
}

fn all() -> impl Iterator<Item = (&'static str, SharedFn)> {
    FUNCTIONS.into_iter().chain(OF_WORDS)
}

/// Returns operands near each place where a function changes (each exponent, whole numbers, the
/// ends of tables' rows), and random operands.
fn operands(count: usize) -> Vec<u32> {
    let mut operands = vec![];
    for exponent in 0..512u32 {
        let first = exponent << 23;
        operands.extend((0..64).flat_map(|row| {
            [first | row << 17, (first | row << 17).wrapping_sub(1), first | row << 17 | 1]
        }));
    }
    let halves = (-300..300).map(|n| n as f32 * 0.25);
    operands
        .extend(halves.flat_map(|x| [x.to_bits().wrapping_sub(1), x.to_bits(), x.to_bits() + 1]));
    operands.extend(0..1300);
    let mut state = 1u32;
    operands.resize_with(count, || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        state ^ state >> 15
    });
    operands
}

#[test]
fn code_has_the_definition() {
    let check = Check::new(1 << 17);
    let operands = operands(check.lanes);
    for (name, function) in all() {
        for (uniform, effort) in
            [(false, Effort::Full), (false, Effort::Quick), (true, Effort::Full)]
        {
            let found = check.run(&program(name, function, uniform, effort), &operands);
            for (n, &found) in found.iter().enumerate() {
                let operand = operands[if uniform { n & !7 } else { n }];
                let expected = shared::one(function, NAN, operand);
                assert_eq!(
                    found, expected,
                    "{name} {operand:#010x} (uniform: {uniform}, {effort:?}): {found:#010x}"
                );
            }
        }
    }
}

/// Compares all operands. Each function takes some minutes.
#[test]
#[ignore = "tries all 2^32 operands"]
fn code_has_the_definition_for_all_operands() {
    let check = Check::new(1 << 20);
    for (name, function) in all() {
        let program = program(name, function, false, Effort::Full);
        for upper in 0..1 << 12 {
            let operands: Vec<u32> = (0..1 << 20).map(|lower| upper << 20 | lower).collect();
            let found = check.run(&program, &operands);
            for (&operand, found) in operands.iter().zip(found) {
                let expected = shared::one(function, NAN, operand);
                assert_eq!(found, expected, "{name} {operand:#010x}: {found:#010x}");
            }
        }
    }
}
