//! The JIT's roundings other than to nearest must equal `ir::eval` bit by bit, for edge cases and
//! random operands. `float_hardware.rs` compares `ir::eval` with the host's rounding modes.
//!
//! Guest code must also stay native for these roundings.

mod guests;
mod operands;
#[path = "../support/variable.rs"]
mod variable;

use std::fmt::Write;
use std::sync::Arc;

use operands::Operands;
use warploom_analysis::LaunchClass;
use warploom_engine::{Effort, Program};
use warploom_ir::{NanPolicy, Op, Type, eval, parse};
use warploom_runtime::launch::{ConstBank, LaunchConfig, launch};
use warploom_runtime::memory::{Access, Memory, Placement};

const NAN: NanPolicy = NanPolicy { f16: 0x7fff, f32: 0x7fff_ffff, f64: 0xfff8 << 48 };
const OPERANDS: u64 = 0x10_0000_0000;
const RESULTS: u64 = 0x20_0000_0000;
/// The distance between buffers.
const STEP: u64 = 0x100_0000;
const BLOCK: [u32; 3] = [256, 1, 1];
/// The number of lanes of each launch.
const LANES: usize = 1 << 14;
/// The numbers of the kernel's values for the first operand and the first result.
const FIRST_OPERAND: u32 = 20;
const FIRST_RESULT: u32 = 100;

/// Operations on operands `a`, `b` and `c`, each of one type.
struct Table {
    operands: Vec<Type>,
    /// Operations, each with the type of its result.
    operations: Vec<(String, Type)>,
}

fn directed(name: &str) -> Vec<String> {
    let rounds = [".rz", ".rd", ".ru"].iter();
    rounds
        .flat_map(|round| {
            ["", ".ftz", ".sat", ".ftz.sat"].map(|others| format!("{name}{round}{others}"))
        })
        .collect()
}

/// Returns a kernel that stores the result of each operation for each lane. Each lane computes its
/// own result or, if `uniform`, a warp of 8 computes one from its first lane's operands.
fn kernel(table: &Table, uniform: bool) -> String {
    let mut text =
        String::from(if uniform { "function \"f\" lanes 8" } else { "function \"f\" lanes 32" });
    text += " nan 0x7fff 0x7fffffff 0xfff8000000000000 {\nbank m: mask x 1\nactive m[0]\n\nb0 pc 0 cost 1:\n";
    text += "  v0 = ctaid.x\n  v1 = ntid.x\n  v2 = mul v0, v1\n  v3 = tid.x\n  v4 = add v2, v3\n  v5 = const.i32 0\n";
    text += "  v6 = zext.i64 v4\n";
    let mut next = 1000;
    let mut place = |text: &mut String, base: u64, ty: Type| {
        let v = next;
        next += 4;
        write!(text, "  v{v} = const.i64 {}\n  v{} = mul v6, v{v}\n", ty.bytes(), v + 1).unwrap();
        write!(
            text,
            "  v{} = const.i64 {base:#x}\n  v{} = add v{}, v{}\n",
            v + 2,
            v + 3,
            v + 1,
            v + 2
        )
        .unwrap();
        v + 3
    };
    for (i, &ty) in (0..).zip(&table.operands) {
        let at = place(&mut text, OPERANDS + u64::from(i) * STEP, ty);
        let (name, bytes) = (ty.name(), ty.bytes());
        let operand = FIRST_OPERAND + i;
        let loaded = if uniform { operand + 10 } else { operand };
        writeln!(text, "  v{loaded} = load.global.{name} [v{at}] align {bytes}").unwrap();
        if uniform {
            writeln!(text, "  v{operand} = lane.read v{loaded}, v5").unwrap();
        }
    }
    for (i, (operation, ty)) in (0..).zip(&table.operations) {
        let result = FIRST_RESULT + i;
        let count = table.operands.len() as u32;
        let operands: Vec<String> =
            (FIRST_OPERAND..FIRST_OPERAND + count).map(|v| format!("v{v}")).collect();
        let (mnemonic, rest) = operation.split_once(' ').unwrap_or((operation, ""));
        // A table of unary operations has one operand.
        let taken = if mnemonic.starts_with("fma") { 3 } else { count.min(2) } as usize;
        writeln!(text, "  v{result} = {mnemonic} {} {rest}", operands[..taken].join(", ")).unwrap();
        let at = place(&mut text, RESULTS + u64::from(i) * STEP, *ty);
        let stored = if uniform {
            writeln!(text, "  v{} = splat v{result}", at + 5000).unwrap();
            at + 5000
        } else {
            result
        };
        writeln!(text, "  store.global.{} [v{at}], v{stored} align {}", ty.name(), ty.bytes())
            .unwrap();
    }
    text + "  exit\n}\n"
}

fn cells(memory: &Memory, at: u64, ty: Type, count: usize) -> Vec<u64> {
    let width = ty.bytes() as usize;
    let mut bytes = vec![0; count * width];
    memory.read(at, &mut bytes).unwrap();
    let word = |cell: &[u8]| cell.iter().rev().fold(0, |word, &byte| word << 8 | u64::from(byte));
    bytes.chunks(width).map(word).collect()
}

/// Compares all operations with their definition, over the operands of `launches` launches.
fn check(table: &Table, launches: u64) {
    let memory = Memory::default();
    for i in 0..table.operands.len() as u64 {
        memory
            .alloc_at(Placement::At(OPERANDS + i * STEP), 8 * LANES as u64, Access::READ_WRITE)
            .unwrap();
    }
    for i in 0..table.operations.len() as u64 {
        memory
            .alloc_at(Placement::At(RESULTS + i * STEP), 8 * LANES as u64, Access::READ_WRITE)
            .unwrap();
    }
    let mut operands = Operands::new(&table.operands);
    let rows: Vec<Vec<Vec<u64>>> = (0..launches).map(|_| operands.rows(LANES)).collect();
    let mut failures = vec![];
    for (uniform, effort) in
        [(false, Effort::Full), (false, Effort::Quick), (true, Effort::Full), (true, Effort::Quick)]
    {
        let text = kernel(table, uniform);
        let function =
            Arc::new(parse::parse(&text).unwrap_or_else(|error| panic!("{error}\n{text}")));
        let program = Program::new(
            &function,
            LaunchClass::of(BLOCK, function.lanes.into(), warploom_cranelift::CHUNK),
            true,
            warploom_cranelift::backend(),
        )
        .unwrap();
        program.compile_all(effort).unwrap();
        // The operations in the kernel's order.
        let ops = function.blocks[0].insts.iter().map(|inst| &inst.op).filter(|op| is_float(op));
        let ops: Vec<&Op> = ops.collect();
        for rows in &rows {
            for (i, (row, ty)) in (0..).zip(rows.iter().zip(&table.operands)) {
                let bytes: Vec<u8> = row
                    .iter()
                    .flat_map(|x| x.to_le_bytes()[..ty.bytes() as usize].to_vec())
                    .collect();
                memory.write(OPERANDS + i * STEP, &bytes).unwrap();
            }
            let mut config = LaunchConfig::new([(LANES / BLOCK[0] as usize) as u32, 1, 1], BLOCK);
            config.constants[0] = Some(ConstBank::new(&[]).unwrap());
            let outcome = launch(&memory, &program, &config, None).unwrap();
            assert!(outcome.fault.is_none(), "{:?}", outcome.fault);
            assert_eq!(outcome.counts.interp_instructions, 0);
            for (i, (operation, ty)) in (0..).zip(&table.operations) {
                let found = cells(&memory, RESULTS + i * STEP, *ty, LANES);
                let failure = difference(ops[i as usize], table, rows, uniform, &found);
                failures.extend(failure.map(|failure| {
                    format!("{operation} of {failure} (uniform: {uniform}, {effort:?})")
                }));
            }
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

fn is_float(op: &Op) -> bool {
    let converts =
        matches!(op, Op::FConvert { .. } | Op::IntToFloat { .. } | Op::FloatToInt { .. });
    converts || matches!(op, Op::FUnary { .. } | Op::FBinary { .. } | Op::Fma { .. })
}

/// Returns the first lane with a wrong result, and its operands.
fn difference(
    op: &Op,
    table: &Table,
    rows: &[Vec<u64>],
    uniform: bool,
    found: &[u64],
) -> Option<String> {
    let args: Vec<&[u64]> = rows.iter().take(op.operands().len()).map(|row| &row[..]).collect();
    let mut expected = vec![0; LANES];
    eval::lanewise(op, table.operands[0], NAN, (64, 0), &args, &mut expected)
        .expect("a lane-wise operation");
    let of = |lane: usize| if uniform { lane / 8 * 8 } else { lane };
    let lane = (0..LANES).find(|&lane| found[lane] != expected[of(lane)])?;
    let operands: Vec<String> = args.iter().map(|row| format!("{:#x}", row[of(lane)])).collect();
    Some(format!("{}: {:#x}, expected {:#x}", operands.join(", "), found[lane], expected[of(lane)]))
}

fn arithmetic(ty: Type, launches: u64) {
    let binary = ["fadd", "fsub", "fmul", "fdiv"].into_iter().flat_map(directed);
    check(
        &Table { operands: vec![ty; 2], operations: binary.map(|op| (op, ty)).collect() },
        launches,
    );
    check(
        &Table {
            operands: vec![ty; 3],
            operations: directed("fma").into_iter().map(|op| (op, ty)).collect(),
        },
        launches,
    );
    let unary = ["fsqrt", "fint", "fcopy"].into_iter().flat_map(directed);
    check(&Table { operands: vec![ty], operations: unary.map(|op| (op, ty)).collect() }, launches);
}

#[test]
fn arithmetic_of_singles() {
    arithmetic(Type::F32, 8);
}

#[test]
fn arithmetic_of_doubles() {
    arithmetic(Type::F64, 8);
}

#[test]
fn arithmetic_of_halves() {
    arithmetic(Type::F16, 4);
}

#[test]
fn conversions_between_floats() {
    const FLOATS: [Type; 3] = [Type::F16, Type::F32, Type::F64];
    for from in FLOATS {
        let nearest =
            |to: Type| ["", ".ftz"].map(|attributes| format!("fconvert.{}{attributes}", to.name()));
        let all = |to: Type| {
            directed(&format!("fconvert.{}", to.name()))
                .into_iter()
                .chain(nearest(to))
                .map(move |op| (op, to))
        };
        let operations = FLOATS.into_iter().filter(|&to| to != from).flat_map(all).collect();
        check(&Table { operands: vec![from], operations }, 4);
    }
}

#[test]
fn conversions_of_integers() {
    const INTS: [Type; 4] = [Type::I8, Type::I16, Type::I32, Type::I64];
    const FLOATS: [Type; 3] = [Type::F16, Type::F32, Type::F64];
    const ROUNDS: [&str; 4] = ["", ".rz", ".rd", ".ru"];
    for int in INTS {
        let mut operations = vec![];
        for float in FLOATS {
            for (sign, round) in
                ["s", "u"].into_iter().flat_map(|sign| ROUNDS.map(|round| (sign, round)))
            {
                operations.push((format!("int.to.float.{}.{sign}{round}", float.name()), float));
            }
        }
        check(&Table { operands: vec![int], operations }, 2);
    }
    for float in FLOATS {
        let mut operations = vec![];
        for int in INTS {
            for (sign, round) in
                ["s", "u"].into_iter().flat_map(|sign| ROUNDS.map(|round| (sign, round)))
            {
                let ftz = if round == ".rd" { ".ftz" } else { "" };
                for nan in [0, 1u64 << (int.bits() - 1)] {
                    operations.push((
                        format!("float.to.int.{}.{sign}{round}{ftz} nan {nan:#x}", int.name()),
                        int,
                    ));
                }
            }
        }
        check(&Table { operands: vec![float], operations }, 2);
    }
}
