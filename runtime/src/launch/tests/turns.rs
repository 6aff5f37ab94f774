//! Yields, spin-waits and cooperative launches.

use super::*;

/// A spin-wait: `back_edges` times, then a yield that goes on at `resume`. True when `ready`.
fn spin(context: &mut WarpContext, resume: u32, ready: impl Fn(&mut WarpContext) -> bool) -> Option<ExitCode> {
    for _ in 0..context.back_edges {
        if ready(context) {
            return None;
        }
    }
    context.resume = resume;
    Some(ExitCode::Yield)
}

#[test]
fn a_warp_may_spin_on_what_a_later_warp_writes() {
    let mut config = LaunchConfig::new([5, 1, 1], [128, 1, 1]);
    config.shared_bytes = 4;
    // Warp w waits for warp w + 1; the last one for nobody.
    let engine = chained(32, |context| {
        let warp = context.warp as usize;
        if warp < 3
            && let Some(code) = spin(context, 1, |context| context.shared()[warp + 1] != 0)
        {
            return code;
        }
        context.shared()[warp] = 1;
        ExitCode::Done
    });
    assert_eq!(run(&engine, &config), Outcome { blocks_done: 5, ..Outcome::default() });
}

#[test]
fn a_chain_goes_on_after_a_warp_that_is_suspended() {
    // Of 8 warps 2 and 5 yield once; the rest run as chains.
    let trace = Mutex::new(Vec::new());
    let engine = chained(32, |context| {
        trace.lock().unwrap().push((context.warp, context.chain_end, context.resume));
        if matches!(context.warp, 2 | 5) && context.resume == 0 {
            context.resume = 1;
            return ExitCode::Yield;
        }
        ExitCode::Done
    });
    assert_eq!(run(&engine, &LaunchConfig::new([1, 1, 1], [256, 1, 1])).blocks_done, 1);
    let fresh = (0..8).map(|warp| (warp, 8, 0));
    let resumed = [(2, 3, 1), (5, 6, 1)];
    assert_eq!(*trace.lock().unwrap(), fresh.chain(resumed).collect::<Vec<_>>());
}

/// Warps ask for more registers, some in their first turn and some later: what they held stays, as does local memory.
#[test]
fn a_register_file_grows() {
    let engine = chained(32, |context| {
        let wanted = 256 * (2 + u64::from(context.warp));
        if context.register_bytes < wanted {
            let mark = context.warp as u8 + 1;
            if context.resume == 0 {
                context.registers().fill(mark);
                context.local().fill(mark);
            }
            if context.resume == 0 && mark.is_multiple_of(2) {
                context.resume = 1;
                return ExitCode::Yield;
            }
            context.resume = 2;
            context.register_bytes_wanted = wanted;
            return ExitCode::Grow;
        }
        // A later warp of the block has what an earlier one left.
        if context.resume == 2 {
            let mark = context.warp as u8 + 1;
            assert!(context.registers()[..256].iter().all(|&byte| byte == mark));
            assert!(context.local().iter().all(|&byte| byte == mark));
        }
        context.registers().fill(0xff);
        ExitCode::Done
    });
    let mut config = LaunchConfig::new([3, 1, 1], [128, 1, 1]);
    config.local_bytes = 64;
    assert_eq!(run(&engine, &config).blocks_done, 3);
}

#[test]
fn a_register_file_grows_up_to_the_launch_s_limit() {
    let engine = chained(32, |context| {
        context.register_bytes_wanted = 2 * context.register_bytes;
        ExitCode::Grow
    });
    let mut config = LaunchConfig::new([1, 1, 1], [32, 1, 1]);
    config.max_resident_bytes = 1 << 20;
    let error = launch(&Memory::default(), &engine, &config, None).expect_err("no end of it");
    assert!(matches!(error, LaunchError::ResidentTooLarge { limit: 1_048_576, .. }), "{error}");
}

#[test]
fn a_suspended_warp_keeps_its_registers() {
    let engine = chained(32, |context| {
        let mark = context.warp as u8 ^ context.ctaid[0] as u8;
        if context.resume == 0 {
            context.registers().fill(mark);
        }
        assert!(context.registers().iter().all(|&byte| byte == mark));
        // Warp w yields w times.
        if context.resume == context.warp {
            return ExitCode::Done;
        }
        context.resume += 1;
        ExitCode::Yield
    });
    for threads in [1, 2] {
        let mut config = LaunchConfig::new([20, 1, 1], [1024, 1, 1]);
        config.threads = threads;
        assert_eq!(run(&engine, &config).blocks_done, 20);
    }
}

/// Blocks that wait for each other through global memory: a ring in both directions.
#[test]
fn cooperative_blocks_wait_for_each_other() {
    for (threads, blocks) in [(1, 2), (1, 37), (2, 2), (2, 37), (3, 4)] {
        let memory = Memory::default();
        let flags = memory.alloc(4 * blocks, 4).unwrap();
        let mut config = LaunchConfig::new([blocks as u32, 1, 1], [64, 1, 1]);
        (config.cooperative, config.threads) = (true, threads);
        let flag = |memory: &Memory, block: u64| memory.load(flags + 4 * block, 4).unwrap().0;
        let engine = chained(32, |context| {
            let block = u64::from(context.ctaid[0]);
            if context.resume == 0 {
                return wait(context, BarrierKind::Sync, 0, 0, 1);
            }
            for round in 1..=3 {
                if context.resume == 2 * round - 1 {
                    context.memory().store(flags + 4 * block, 4, u128::from(round)).unwrap();
                    context.resume = 2 * round;
                }
                if context.resume == 2 * round {
                    let all = |context: &mut WarpContext| {
                        [1, blocks - 1]
                            .iter()
                            .all(|step| flag(context.memory(), (block + step) % blocks) >= u128::from(round))
                    };
                    if let Some(code) = spin(context, 2 * round, all) {
                        return code;
                    }
                    context.resume = 2 * round + 1;
                }
            }
            ExitCode::Done
        });
        let outcome = launch(&memory, &engine, &config, None).unwrap();
        assert_eq!((outcome.blocks_done, outcome.fault), (blocks, None));
    }
}

#[test]
fn without_cooperation_waiting_blocks_meet_the_time_limit() {
    let memory = Memory::default();
    let flag = memory.alloc(4, 4).unwrap();
    let mut config = LaunchConfig::new([2, 1, 1], [32, 1, 1]);
    config.time_limit = Some(Duration::from_millis(20));
    let engine = chained(32, |context| {
        if context.ctaid[0] == 1 {
            context.memory().store(flag, 4, 1).unwrap();
            return ExitCode::Done;
        }
        spin(context, 0, |context| context.memory().load(flag, 4).unwrap().0 != 0).unwrap_or(ExitCode::Done)
    });
    let run = |config: &LaunchConfig| {
        memory.fill(flag, 4, 0).unwrap();
        launch(&memory, &engine, config, None).unwrap().fault.map(|fault| fault.kind)
    };
    assert_eq!(run(&config), Some(FaultKind::TimeExceeded));
    config.time_limit = None;
    config.cooperative = true;
    assert_eq!(run(&config), None);
}

#[test]
fn a_cooperative_launch_ends_at_a_fault_and_at_a_stuck_block() {
    for threads in [1, 2] {
        let mut config = LaunchConfig::new([6, 1, 1], [64, 1, 1]);
        (config.cooperative, config.threads) = (true, threads);
        let engine = chained(32, |context| match (context.ctaid[0], context.warp) {
            // Block 3 is stuck, and all others wait for it.
            (3, warp) => wait(context, BarrierKind::Sync, warp, 0, 1),
            _ => {
                context.resume = 5;
                ExitCode::Yield
            }
        });
        let fault = run(&engine, &config).fault.unwrap();
        assert_eq!((fault.kind, fault.block, fault.waiting.len()), (FaultKind::StuckBarrier, [3, 0, 0], 2));
    }
}

#[test]
fn one_worker_does_the_same_each_time() {
    let trace = || {
        let trace = Mutex::new(Vec::new());
        let engine = chained(32, |context| {
            let step = u64::from(context.resume);
            trace.lock().unwrap().push((context.ctaid[0], context.warp, step, context.back_edges));
            let random = (step * 7 + u64::from(context.warp) * 13 + u64::from(context.ctaid[0]) * 5) % 11;
            context.resume += 1;
            match random {
                0 => ExitCode::Done,
                1..4 => wait(context, BarrierKind::Sync, 0, 0, step as u32 + 1),
                _ => ExitCode::Yield,
            }
        });
        let outcome = run(&engine, &LaunchConfig::new([50, 1, 1], [256, 1, 1]));
        assert_eq!(outcome.blocks_done, 50);
        trace.lock().unwrap().clone()
    };
    assert_eq!(trace(), trace());
}

/// A bug in an engine ends the launch; the blocks that wait for the lost one do not hang.
#[test]
fn a_panic_in_one_worker_ends_the_others() {
    let mut config = LaunchConfig::new([2, 1, 1], [32, 1, 1]);
    (config.cooperative, config.threads) = (true, 2);
    let engine = chained(32, |context| if context.ctaid[0] == 1 { panic!("a bug") } else { ExitCode::Yield });
    let result = std::panic::catch_unwind(|| run(&engine, &config));
    assert!(result.is_err());
}
