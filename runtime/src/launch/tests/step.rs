//! Warps that go in step, in the engine's call or in a call for each turn. The tests compare them
//! with warps that never go in step, because turns that count nothing are not passed on.

use super::*;
use crate::warp::BarrierCounts;

#[derive(Clone, Copy, Debug, PartialEq)]
enum Mode {
    Apart,
    Returns,
    PassesOn,
}

const MODES: [Mode; 3] = [Mode::Apart, Mode::Returns, Mode::PassesOn];

/// The values with which a turn began: block, warp, round, back edges, lanes released, result.
type Turn = (u32, u32, u32, u64, u64, u32);

/// The outcome of a launch, the turns in their order, and the calls of the engine.
struct Ran {
    outcome: Outcome,
    turns: Vec<Turn>,
    calls: u64,
}

/// Runs warps whose turns `turn` determines, for a block's number. `resume` is the round.
///
/// Each turn counts one instruction, unless the warps are to stay apart. Then each block is a
/// launch, too.
fn in_mode(
    mode: Mode,
    config: &LaunchConfig,
    turn: impl Fn(&mut WarpContext, u32) -> ExitCode + Sync,
) -> Ran {
    let (turns, calls) = (Mutex::new(Vec::new()), AtomicU64::new(0));
    let run_from = |first: u32, config: &LaunchConfig| {
        let run_warp = |context: &mut WarpContext| {
            calls.fetch_add(1, SeqCst);
            loop {
                let block = first + context.ctaid()[0];
                let (warp, round) = (context.warp(), context.resume);
                let began = (
                    block,
                    warp,
                    round,
                    context.back_edges,
                    context.barrier_released,
                    context.barrier_result,
                );
                let code = turn(context, block);
                if code == ExitCode::Grow {
                    return code;
                }
                turns.lock().unwrap().push(began);
                context.instructions += u64::from(mode != Mode::Apart);
                let chained = code == ExitCode::Done && context.chain();
                if !chained && (mode != Mode::PassesOn || !context.pass_on(code)) {
                    return code;
                }
            }
        };
        run(&Toy { lanes: 32, run: run_warp }, config)
    };
    let mut outcome = Outcome::default();
    if mode == Mode::Apart {
        let one = LaunchConfig { grid: [1, 1, 1], ..config.clone() };
        for block in 0..config.grid[0] {
            let Outcome { fault, blocks_done, .. } = run_from(block, &one);
            outcome.blocks_done += blocks_done;
            outcome.fault = fault.map(|fault| Fault { block: [block, 0, 0], ..fault });
            if outcome.fault.is_some() {
                break;
            }
        }
    } else {
        outcome = run_from(0, config);
    }
    Ran { outcome, turns: turns.into_inner().unwrap(), calls: calls.into_inner() }
}

fn assert_same(some: &[Turn], others: &[Turn]) {
    let differs = some.iter().zip(others).position(|(one, other)| one != other);
    assert_eq!(differs.map(|turn| (some[turn], others[turn])), None, "turn {differs:?}");
    assert_eq!(some.len(), others.len());
}

fn go_on(context: &mut WarpContext) -> ExitCode {
    context.resume += 1;
    ExitCode::Yield
}

/// Events of all kinds come between warps in step, at random, in blocks of all sizes.
#[test]
fn warps_in_step_have_their_turns_in_the_order_of_those_apart() {
    for seed in 0..rounds(400) {
        let mut config = LaunchConfig::new([6, 1, 1], [1 + (seed * 37 % 200) as u32, 1, 1]);
        (config.local_bytes, config.shared_bytes) = (if seed % 3 == 0 { 16 } else { 0 }, 8);
        // Warps apart count nothing, and would be probed at other times whether they repeat a
        // state.
        config.instruction_limit = Some(u64::MAX);
        let random = |context: &WarpContext, block: u32, what: u64| {
            [seed, block.into(), u64::from(context.warp()), context.resume.into(), what]
                .iter()
                .fold(0, |hash: u64, &part| {
                    (hash ^ part).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29)
                })
        };
        let often = [40, 200, 1000][seed as usize % 3];
        let turn = |context: &mut WarpContext, block: u32| {
            let round = context.resume;
            let wanted = 256 * (1 + random(context, block, 1) % 3);
            if context.register_bytes() < wanted {
                context.register_bytes_wanted = wanted;
                return ExitCode::Grow;
            }
            if round == 0 {
                *counter(context) = 0;
                assert!(context.local().iter().all(|&byte| byte == 0));
                assert!(context.warp() > 0 || context.shared().iter().all(|&byte| byte == 0));
            }
            assert_eq!(u32::from(*counter(context)), round, "warp {}", context.warp());
            *counter(context) += 1;
            context.local().fill(round as u8 + 1);
            context.shared().fill(1);
            let all = context.launch_mask();
            if round == 20 {
                return ExitCode::Done;
            }
            match random(context, block, 2) % often {
                0 | 1 => ExitCode::Done,
                2 | 3 => go_on(context),
                4 => wait(context, BarrierKind::Arrive, 9, 0, round + 1),
                5 => {
                    (context.barrier_counts, context.barrier_mask) =
                        (BarrierCounts::Lanes as u32, all & 3);
                    wait(context, BarrierKind::Exit, 0, 0, round + 1)
                }
                6 if round.is_multiple_of(4) => wait(context, BarrierKind::Sync, 8, 32, round + 1),
                // All warps of the round have this event in common.
                _ => match seed.wrapping_mul(7).wrapping_add(u64::from(round)) % 9 {
                    0 => {
                        context.barrier_predicate = random(context, block, 3);
                        wait(context, BarrierKind::Popcount, 2, 0, round + 1)
                    }
                    1 | 2 => {
                        (context.barrier_counts, context.barrier_mask) =
                            (BarrierCounts::Lanes as u32, all);
                        wait(context, BarrierKind::Sync, 0, 0, round + 1)
                    }
                    other => wait(context, BarrierKind::Sync, other as u32 % 2, 0, round + 1),
                },
            }
        };
        let [apart, returned, passed] = MODES.map(|mode| in_mode(mode, &config, turn));
        for in_step in [&returned, &passed] {
            assert_eq!(
                (&in_step.outcome.fault, in_step.outcome.blocks_done),
                (&apart.outcome.fault, apart.outcome.blocks_done),
                "seed {seed}"
            );
            assert_same(&in_step.turns, &apart.turns);
            assert_eq!(in_step.outcome.counts.instructions, in_step.turns.len() as u64);
        }
        assert!(passed.calls <= returned.calls);
    }
}

/// Once a block has shown that its warps meet, each later block is a single call, whatever barriers
/// its warps come to and whichever of them leave.
#[test]
fn blocks_that_meet_are_single_calls() {
    let sizes: &[u32] = if cfg!(miri) { &[1, 3] } else { &[1, 2, 7, 32] };
    for &warps in sizes {
        let config = LaunchConfig::new([11, 1, 1], [32 * warps - 5, 1, 1]);
        let leaves = |context: &mut WarpContext, _: u32| match context.resume {
            round if round == 3 + context.warp() => ExitCode::Done,
            round => wait(context, BarrierKind::Sync, round % 3, 0, round + 1),
        };
        let [apart, returned, passed] = MODES.map(|mode| in_mode(mode, &config, leaves));
        assert_eq!((passed.outcome.blocks_done, &passed.outcome.fault), (11, &None));
        assert_same(&apart.turns, &returned.turns);
        assert_same(&apart.turns, &passed.turns);
        // The first block's warps have a call each. The warps that come to its first barrier have
        // calls, too; the first of them goes by it.
        let first = passed.turns.iter().filter(|turn| turn.0 == 0).count() as u64;
        assert!(
            (11..=10 + first).contains(&passed.calls),
            "{} calls for {warps} warps",
            passed.calls
        );
        assert!(
            passed.calls <= 11 + 2 * u64::from(warps),
            "{} calls for {warps} warps",
            passed.calls
        );
    }
}

/// A block may be unlike the block before it: its warps do not meet, or do.
#[test]
fn blocks_may_be_unlike_those_before_them() {
    let mut config = LaunchConfig::new([40, 1, 1], [96, 1, 1]);
    config.shared_bytes = 4;
    let some_meet = |context: &mut WarpContext, block: u32| {
        let warp = context.warp() as u8;
        let before = context.shared()[0];
        match (block * 13 % 10, context.resume) {
            (0..4, _) => {
                assert_eq!(before, warp);
                context.shared()[0] += 1;
                ExitCode::Done
            }
            (_, 0) => {
                assert_eq!(before, warp);
                context.shared()[0] += 1;
                wait(context, BarrierKind::Sync, 0, 0, 1)
            }
            _ => {
                assert_eq!(before, 3);
                ExitCode::Done
            }
        }
    };
    let [apart, returned, passed] = MODES.map(|mode| in_mode(mode, &config, some_meet));
    assert_eq!((passed.outcome.blocks_done, &passed.outcome.fault), (40, &None));
    assert_same(&apart.turns, &returned.turns);
    assert_same(&apart.turns, &passed.turns);
}

#[test]
fn a_fault_within_a_round_is_that_warp_s() {
    let config = LaunchConfig::new([3, 1, 1], [160, 1, 1]);
    let faults =
        |context: &mut WarpContext, block: u32| match (block, context.resume, context.warp()) {
            (2, 7, 3) => context.set_fault(FaultKind::AddressOutOfRange, 5, 0x70, 0x1234),
            (_, 9, _) => ExitCode::Done,
            (_, round, _) => wait(context, BarrierKind::Sync, 0, 0, round + 1),
        };
    for mode in MODES {
        let Ran { outcome, turns, .. } = in_mode(mode, &config, faults);
        let fault = outcome.fault.unwrap();
        assert_eq!(
            (fault.kind, fault.block, fault.warp, fault.lane),
            (FaultKind::AddressOutOfRange, [2, 0, 0], 3, 5)
        );
        assert_eq!((fault.pc, fault.address, outcome.blocks_done), (0x70, 0x1234, 2));
        // The warps before it have had their turns, the warps after it have not.
        assert_eq!(turns.len(), 2 * 5 * 10 + 5 * 7 + 4);
    }
}

#[test]
fn warps_that_come_to_different_barriers_of_a_round_are_stuck() {
    let config = LaunchConfig::new([2, 1, 1], [160, 1, 1]);
    let parts =
        |context: &mut WarpContext, block: u32| match (block, context.resume, context.warp()) {
            (1, 6, 1) => ExitCode::Done,
            (1, 6, 3..) => wait(context, BarrierKind::Sync, 4, 0, 7),
            (0, 9, _) => ExitCode::Done,
            (_, round, _) => wait(context, BarrierKind::Sync, round % 2, 0, round + 1),
        };
    for mode in MODES {
        let fault = in_mode(mode, &config, parts).outcome.fault.unwrap();
        let waiting: Vec<_> =
            fault.waiting.iter().map(|one| (one.warp, one.barrier, one.pc)).collect();
        assert_eq!((fault.kind, fault.block), (FaultKind::StuckBarrier, [1, 0, 0]));
        let expected =
            [(0, 0), (2, 0), (3, 4), (4, 4)].map(|(warp, barrier)| (warp, Some(barrier), 0x700));
        assert_eq!(waiting, expected);
    }
}

#[test]
#[cfg_attr(miri, ignore = "limits of time")]
fn endless_rounds_end_at_either_limit() {
    for (passes, threads) in [(false, 1), (true, 1), (true, 2)] {
        let mut config = LaunchConfig::new([4, 1, 1], [96, 1, 1]);
        config.threads = threads;
        let engine = |cost: u64, rest: Duration| Toy {
            lanes: 32,
            run: move |context: &mut WarpContext| loop {
                if context.instructions + cost > context.instruction_limit {
                    return context.set_fault(FaultKind::BudgetExceeded, 0, 0x40, 0);
                }
                context.instructions += cost;
                tick(context);
                std::thread::sleep(rest);
                let code = wait(context, BarrierKind::Sync, 0, 0, 1);
                if !passes || !context.pass_on(code) {
                    return code;
                }
            },
        };
        config.instruction_limit = Some(1_000_000);
        let outcome = run(&engine(3, Duration::ZERO), &config);
        assert_eq!(outcome.fault.unwrap().kind, FaultKind::BudgetExceeded);
        assert!((999_998..=1_000_000 * threads as u64).contains(&outcome.counts.instructions));

        // Rounds of few instructions may take long.
        config.instruction_limit = None;
        config.time_limit = Some(Duration::from_millis(30));
        for rest in [Duration::ZERO, Duration::from_millis(1)] {
            let start = std::time::Instant::now();
            let fault = run(&engine(1, rest), &config).fault.unwrap();
            assert_eq!((fault.kind, fault.pc), (FaultKind::TimeExceeded, 0x100));
            assert!(start.elapsed() < Duration::from_secs(5));
        }
    }
}

/// Blocks of a cooperative launch that wait for each other go round with barriers, not back edges.
/// The other blocks have their turns soon.
#[test]
fn blocks_in_step_let_others_have_their_turns() {
    let memory = Memory::default();
    let flag = memory.alloc(4, 4).unwrap();
    let mut config = LaunchConfig::new([2, 1, 1], [64, 1, 1]);
    config.cooperative = true;
    let polls = AtomicU64::new(0);
    let engine = Toy {
        lanes: 32,
        run: |context: &mut WarpContext| {
            loop {
                context.instructions += 1;
                let set = context.memory().load(flag, 4).unwrap().0 != 0;
                let round = context.resume;
                let code = match context.ctaid()[0] {
                    0 if set && round > 0 => ExitCode::Done,
                    0 => {
                        polls.fetch_add(1, SeqCst);
                        wait(context, BarrierKind::Sync, 0, 0, 1)
                    }
                    // The other block sets it in its fifth round.
                    _ if round == 5 => {
                        context.memory().store(flag, 4, 1).unwrap();
                        ExitCode::Done
                    }
                    _ => wait(context, BarrierKind::Sync, 0, 0, round + 1),
                };
                if !context.pass_on(code) {
                    return code;
                }
            }
        },
    };
    let outcome = launch(&memory, &engine, &config, None).unwrap();
    assert_eq!((outcome.blocks_done, outcome.fault), (2, None));
    assert!(polls.into_inner() <= 2 * 6, "block 0 polls once for each round of block 1");
}
