//! Yields, spin-waits and cooperative launches.

use super::*;

/// Spins `back_edges` times, then yields and goes on at `resume`. Returns true when `ready`.
fn spin(
    context: &mut WarpContext,
    resume: u32,
    ready: impl Fn(&mut WarpContext) -> bool,
) -> Option<ExitCode> {
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
    // Warp w waits for warp w + 1. The last warp waits for none.
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
    // Of 8 warps, warps 2 and 5 yield once. The other warps run as chains.
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
    let resumed = [(2, 0, 1), (5, 0, 1)];
    assert_eq!(*trace.lock().unwrap(), fresh.chain(resumed).collect::<Vec<_>>());
}

/// Warps ask for more registers, some in their first turn and some later. The content of their
/// registers stays, as does local memory.
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
        // A later warp of the block has the registers of an earlier warp.
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
    let (blocks, lanes) = if cfg!(miri) { (2, 128) } else { (20, 1024) };
    for threads in [1, 2] {
        let mut config = LaunchConfig::new([blocks, 1, 1], [lanes, 1, 1]);
        config.threads = threads;
        assert_eq!(run(&engine, &config).blocks_done, u64::from(blocks));
    }
}

/// Blocks that wait for each other through global memory: a ring in both directions.
#[test]
fn cooperative_blocks_wait_for_each_other() {
    let many = if cfg!(miri) { 3 } else { 37 };
    for (threads, blocks) in [(1, 2), (1, many), (2, 2), (2, many), (3, 4)] {
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
                        [1, blocks - 1].iter().all(|step| {
                            flag(context.memory(), (block + step) % blocks) >= u128::from(round)
                        })
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

/// Block `b` waits for block `b + 1`, without cooperation.
#[test]
#[cfg_attr(miri, ignore = "many turns")]
fn a_block_is_set_aside_that_waits_for_a_later_one() {
    let memory = Memory::default();
    let flags = memory.alloc(4 * 40, 4).unwrap();
    let engine = chained(32, |context| {
        let block = u64::from(context.ctaid[0]);
        let is_last = context.ctaid[0] + 1 == context.nctaid[0];
        let mark = block as u8 ^ context.warp as u8;
        if context.resume == 0 {
            context.registers().fill(mark);
            context.local().fill(mark);
            let warp = context.warp as usize;
            context.shared()[warp] = mark;
        }
        let next = |context: &mut WarpContext| {
            context.memory().load(flags + 4 * block + 4, 4).unwrap().0 != 0
        };
        if !is_last && let Some(code) = spin(context, 1, next) {
            return code;
        }
        // The block's state is as it was before others ran.
        let warp = context.warp as usize;
        assert_eq!(context.shared()[warp], mark);
        assert!(context.registers().iter().all(|&byte| byte == mark));
        assert!(context.local().iter().all(|&byte| byte == mark));
        if context.warp == 2 {
            context.memory().store(flags + 4 * block, 4, 1).unwrap();
        }
        ExitCode::Done
    });
    for (threads, blocks) in [(1, 2), (1, 40), (2, 40), (3, 7)] {
        let mut config = LaunchConfig::new([blocks, 1, 1], [96, 1, 1]);
        (config.shared_bytes, config.local_bytes, config.threads) = (4, 16, threads);
        config.time_limit = Some(Duration::from_secs(60));
        memory.fill(flags, 4 * 40, 0).unwrap();
        let outcome = launch(&memory, &engine, &config, None).unwrap();
        assert_eq!((outcome.blocks_done, outcome.fault), (u64::from(blocks), None));
    }
}

/// Returns an engine whose blocks wait until a word is not 0. Block `setter` sets the word instead.
fn waiting_for(flag: u64, setter: u32) -> Toy<impl Fn(&mut WarpContext) -> ExitCode + Sync> {
    chained(32, move |context| {
        if context.ctaid[0] == setter {
            context.memory().store(flag, 4, 1).unwrap();
            return ExitCode::Done;
        }
        spin(context, 3, |context| context.memory().load(flag, 4).unwrap().0 != 0)
            .unwrap_or(ExitCode::Done)
    })
}

#[test]
#[cfg_attr(miri, ignore = "many turns")]
fn blocks_are_set_aside_as_far_as_memory_allows() {
    let memory = Memory::default();
    let flag = memory.alloc(4, 4).unwrap();
    let mut config = LaunchConfig::new([50, 1, 1], [32, 1, 1]);
    for (threads, aside, setter, ends) in
        [(1, 9, 9, true), (1, 9, 10, false), (1, 0, 1, false), (2, 4, 3, true)]
    {
        (config.threads, config.aside_blocks) = (threads, aside);
        memory.fill(flag, 4, 0).unwrap();
        let fault = launch(&memory, &waiting_for(flag, setter), &config, None).unwrap().fault;
        assert_eq!(fault.as_ref().map(|fault| fault.kind), (!ends).then_some(FaultKind::Deadlock));
        assert_eq!(fault.map_or(aside + 1, |fault| fault.spinning), aside + 1);
    }
    // There is enough host memory for some blocks only.
    config.shared_bytes = 1 << 20;
    (config.threads, config.aside_blocks, config.max_resident_bytes) = (1, u64::MAX, 8 << 20);
    memory.fill(flag, 4, 0).unwrap();
    let fault = launch(&memory, &waiting_for(flag, 20), &config, None).unwrap().fault.unwrap();
    assert_eq!((fault.kind, fault.spinning), (FaultKind::Deadlock, 7));
}

#[test]
#[cfg_attr(miri, ignore = "many turns")]
fn a_deadlock_of_blocks_names_the_lowest() {
    for (threads, cooperative) in [(1, false), (2, false), (3, false), (1, true), (2, true)] {
        let memory = Memory::default();
        let flag = memory.alloc(4, 4).unwrap();
        let mut config = LaunchConfig::new([7, 1, 1], [32, 1, 1]);
        (config.threads, config.cooperative) = (threads, cooperative);
        let fault = launch(&memory, &waiting_for(flag, 9), &config, None).unwrap().fault.unwrap();
        assert_eq!(
            (fault.kind, fault.block, fault.pc, fault.spinning),
            (FaultKind::Deadlock, [0; 3], 0x300, 7)
        );
        let text = fault.to_string();
        assert!(text.contains("7 blocks wait"), "{text}");
    }
}

/// The host sets the word while the launch waits.
#[test]
#[cfg_attr(miri, ignore = "limits of time")]
fn a_launch_that_waits_for_others_is_no_deadlock_at_once() {
    for threads in [1, 2] {
        let memory = Memory::default();
        let flag = memory.alloc(4, 4).unwrap();
        let mut config = LaunchConfig::new([3, 1, 1], [32, 1, 1]);
        (config.threads, config.deadlock_after) = (threads, Duration::from_secs(60));
        let outcome = std::thread::scope(|scope| {
            scope.spawn(|| {
                std::thread::sleep(Duration::from_millis(100));
                memory.store(flag, 4, 1).unwrap();
            });
            launch(&memory, &waiting_for(flag, 9), &config, None).unwrap()
        });
        assert_eq!((outcome.blocks_done, outcome.fault), (3, None));
        // Nobody sets the word.
        memory.fill(flag, 4, 0).unwrap();
        config.deadlock_after = Duration::from_millis(50);
        let fault = launch(&memory, &waiting_for(flag, 9), &config, None).unwrap().fault.unwrap();
        assert_eq!(fault.kind, FaultKind::Deadlock);
    }
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
        assert_eq!(
            (fault.kind, fault.block, fault.waiting.len()),
            (FaultKind::StuckBarrier, [3, 0, 0], 2)
        );
    }
}

#[test]
fn one_worker_does_the_same_each_time() {
    let trace = || {
        let trace = Mutex::new(Vec::new());
        let engine = chained(32, |context| {
            let step = u64::from(context.resume);
            trace.lock().unwrap().push((context.ctaid[0], context.warp, step, context.back_edges));
            let random =
                (step * 7 + u64::from(context.warp) * 13 + u64::from(context.ctaid[0]) * 5) % 11;
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

/// A bug in an engine ends the launch. The blocks that wait for the lost block do not hang.
#[test]
fn a_panic_in_one_worker_ends_the_others() {
    let mut config = LaunchConfig::new([2, 1, 1], [32, 1, 1]);
    (config.cooperative, config.threads) = (true, 2);
    let engine = chained(
        32,
        |context| if context.ctaid[0] == 1 { panic!("a bug") } else { ExitCode::Yield },
    );
    let result = std::panic::catch_unwind(|| run(&engine, &config));
    assert!(result.is_err());
}
