//! Compares loops of one block by the vector back end with the interpreter: lanes leave at
//! different times, masks gather them, registers keep NaNs, and turns and budgets end within a
//! loop.

use arbitrary::Unstructured;
use warploom_analysis::LaunchClass;
use warploom_engine::Program;
use warploom_ir::parse::parse;
use warploom_ir::{BankId, BlockId, Function};
use warploom_testing::compare::{Initial, WAYS, compare};
use warploom_testing::ir::{Random, Source};

/// The way in which lanes leave the loop.
#[derive(Clone, Copy, Debug)]
enum Leave {
    /// Lanes leave one by one, and a mask register gathers them.
    Gathered,
    /// Lanes leave one by one into a mask register; lanes that the register already holds leave,
    /// too.
    Barred,
    /// Lanes leave one by one, and the loop also writes a mask register that holds more lanes.
    Seen,
    /// All active lanes stay until one of them leaves.
    Together,
}

/// Returns a loop that multiplies and adds floats, and counts up to each lane's own limit.
fn text(lanes: u32, wide: bool, leave: Leave, cost: u32) -> String {
    let (int, float) = if wide { ("i64", "f64") } else { ("i32", "f32") };
    let end = match leave {
        Leave::Gathered => "  v16 = or v15, v14\n  rf.write m[0], v16\n  rf.write active[0], v12\n  branch v12, b1, b2",
        Leave::Barred => {
            "  v17 = not v15\n  v18 = and v12, v17\n  v16 = or v15, v14\n  rf.write m[0], v16\n  rf.write active[0], v18
  branch v18, b1, b2"
        }
        Leave::Seen => "  v16 = xor v15, v10\n  rf.write m[0], v16\n  rf.write active[0], v12\n  branch v12, b1, b2",
        Leave::Together => "  rf.write m[0], v14\n  branch v14, b2, b1",
    };
    format!(
        "function \"loop\" lanes {lanes} nan 0x7fff 0x7fffffff 0xfff8000000000000 {{
bank x: lane {int} x 2
bank n: lane i32 x 2
bank m: mask x 1
bank active: mask x 1
active active[0]

b0 pc 0x0 cost 1:
  jump b1

b1 pc 0x8 cost {cost}:
  v0 = rf.read x[0]
  v1 = bitcast.{float} v0
  v2 = rf.read x[1]
  v3 = bitcast.{float} v2
  v4 = fma v1, v3, v1
  v5 = bitcast.{int} v4
  v6 = rf.read n[0]
  v7 = const.i32 0x1
  v8 = add v6, v7
  v9 = rf.read n[1]
  v10 = icmp.lt.s v8, v9
  v11 = rf.read active[0]
  v12 = and v11, v10
  v13 = not v10
  v14 = and v11, v13
  v15 = rf.read m[0]
  rf.write x[0], v5
  rf.write n[0], v8
{end}

b2 pc 0x10 cost 1:
  exit
}}
"
    )
}

/// Returns initial registers: floats, some of them NaNs with bits that arithmetic does not give;
/// limits; and a mask.
fn initial(random: &mut Random, wide: bool, mask: u64) -> Vec<Initial> {
    let floats = |random: &mut Random| -> Vec<u64> {
        let float = |random: &mut Random| {
            let number = random.below(64) as f64 / 16.0 - 2.0;
            match (random.below(8), wide) {
                (0, false) => 0x7fc0_0000 | u64::from(random.below(1 << 20)),
                (0, true) => 0x7ff8 << 48 | u64::from(random.below(1 << 20)),
                (_, false) => (number as f32).to_bits().into(),
                (_, true) => number.to_bits(),
            }
        };
        (0..64).map(|_| float(random)).collect()
    };
    let counts =
        |random: &mut Random, limit: u32| (0..64).map(|_| random.below(limit).into()).collect();
    let (x, n) = (BankId(0), BankId(1));
    vec![
        (x.reg(0), floats(random)),
        (x.reg(1), floats(random)),
        (n.reg(0), counts(random, 2)),
        (n.reg(1), counts(random, 14)),
        (BankId(2).reg(0), vec![mask]),
    ]
}

/// Compares the vector back end's way with the interpreter.
fn compare_by_vectors(function: &Function, initial: &[Initial]) {
    let ways = &WAYS[WAYS.len() - 1..];
    if let Err(difference) = compare(function, [48, 2, 1], initial, ways) {
        panic!("{}: {}\n{function}", difference.engine, difference.what);
    }
}

/// Proves that vectors run enough blocks. Otherwise the fifth way of the diff targets would compare
/// only Cranelift's code.
#[test]
fn blocks_of_random_functions_are_made_by_vectors() {
    if !warploom_vector::is_supported() {
        println!("skipped: this host has no AVX-512");
        return;
    }
    let (mut blocks, mut made) = (0, 0);
    for seed in 0..200 {
        let mut random = Random::new(seed);
        let bytes: Vec<u8> = (0..3000).map(|_| random.below(256) as u8).collect();
        let function =
            warploom_testing::function(&mut Unstructured::new(&bytes)).expect("enough bytes");
        let launch = LaunchClass::of([64, 1, 1], function.lanes.into(), warploom_cranelift::CHUNK);
        let Ok(program) =
            Program::in_small_regions(&function, launch, true, warploom_vector::backend())
        else {
            continue;
        };
        blocks += program.regions().len();
        let makes =
            |&region: &&[BlockId]| warploom_vector::left_out(program.prepared(), region).is_none();
        made += program.regions().filter(makes).count();
    }
    println!("{made} of {blocks} blocks");
    assert!(4 * made > blocks, "{made} of {blocks} blocks");
}

#[test]
fn lanes_leave_loops_at_different_times() {
    if !warploom_vector::is_supported() {
        println!("skipped: this host has no AVX-512");
        return;
    }
    let mut random = Random::new(54);
    for lanes in [16, 32, 64] {
        for wide in [false, true] {
            for leave in [Leave::Gathered, Leave::Barred, Leave::Seen, Leave::Together] {
                // With the highest cost, the budget pays for a few rounds only.
                for cost in [1, 7, 90] {
                    let function = parse(&text(lanes, wide, leave, cost)).expect("a function");
                    let launch = LaunchClass::of([48, 2, 1], lanes, warploom_cranelift::CHUNK);
                    let program = Program::in_small_regions(
                        &function,
                        launch,
                        true,
                        warploom_vector::backend(),
                    );
                    let program = program.expect("a program");
                    for region in program.regions() {
                        let left_out = warploom_vector::left_out(program.prepared(), region);
                        assert_eq!(left_out, None, "{lanes} lanes, {leave:?}");
                    }
                    for round in 0..12 {
                        // In most rounds, no lane has left before.
                        let mask = if round % 3 == 2 {
                            u64::MAX >> (64 - lanes) & 0x5a5a_f00f_3c3c_9669
                        } else {
                            0
                        };
                        compare_by_vectors(&function, &initial(&mut random, wide, mask));
                    }
                }
            }
        }
    }
}
