use super::*;

#[test]
fn the_lowest_faulting_block_is_reported_and_those_below_complete() {
    for threads in [1, 2, 4] {
        for _ in 0..crate::rounds(20) {
            let mut config = LaunchConfig::new([100, 2, 1], [64, 1, 1]);
            config.threads = threads;
            let finished = Mutex::new(BTreeSet::new());
            let engine = chained(32, |context| {
                let index = linear(&config, context.ctaid);
                // The lowest block with a fault takes its time, in several turns.
                if index < 141 && context.resume < 20 {
                    context.resume += 1;
                    std::thread::yield_now();
                    return ExitCode::Yield;
                }
                if index >= 140 && context.warp == 1 {
                    return context.set_fault(FaultKind::AddressOutOfRange, 20, index, 0x1234);
                }
                if context.warp == 1 {
                    finished.lock().unwrap().insert(index);
                }
                ExitCode::Done
            });
            let outcome = run(&engine, &config);
            let fault = outcome.fault.unwrap();
            assert_eq!((fault.kind, fault.block), (FaultKind::AddressOutOfRange, [40, 1, 0]));
            assert_eq!((fault.warp, fault.lane, fault.pc, fault.address), (1, 20, 140, 0x1234));
            assert_eq!(*finished.lock().unwrap(), (0..140).collect());
            assert_eq!(outcome.blocks_done, 140);
        }
    }
}

#[test]
fn messages_say_what_matters() {
    let engine =
        chained(32, |context| context.set_fault(FaultKind::MisalignedAddress, 3, 0x58, 0x1002));
    let fault = run(&engine, &LaunchConfig::new([2, 1, 1], [32, 1, 1])).fault.unwrap();
    let text = "misaligned address at pc 0x58, block (0, 0, 0), warp 0, lane 3, address 0x1002";
    assert_eq!(fault.to_string(), text);
    for kind in FaultKind::ALL {
        assert_eq!(FaultKind::from_number(kind as u32), Some(kind));
    }
    assert_eq!(FaultKind::from_number(0), None);
}

#[test]
fn an_unknown_pc_is_an_illegal_instruction() {
    let engine = chained(32, |context| {
        context.indirect_pc = 0x7000;
        ExitCode::UnknownPc
    });
    let fault = run(&engine, &LaunchConfig::new([2, 1, 1], [32, 1, 1])).fault.unwrap();
    assert_eq!((fault.kind, fault.pc), (FaultKind::IllegalInstruction, 0x7000));
}

/// Counts as engines do: an entry that would exceed the limit faults and is not counted.
fn spend(context: &mut WarpContext, cost: u64) -> Option<ExitCode> {
    if context.instructions + cost > context.instruction_limit {
        return Some(context.set_fault(FaultKind::BudgetExceeded, 0, 0x40, 0));
    }
    context.instructions += cost;
    None
}

#[test]
fn the_instruction_limit_is_exact_on_one_worker() {
    for (limit, blocks_done) in [(1000, 100), (999, 99), (15, 1), (5, 0)] {
        let mut config = LaunchConfig::new([100, 1, 1], [32, 1, 1]);
        config.instruction_limit = Some(limit);
        let engine = chained(32, |context| spend(context, 10).unwrap_or(ExitCode::Done));
        let outcome = run(&engine, &config);
        assert_eq!(
            (outcome.blocks_done, outcome.counts.instructions),
            (blocks_done, 10 * blocks_done)
        );
        let kind = outcome.fault.map(|fault| (fault.kind, fault.pc));
        assert_eq!(kind, (blocks_done < 100).then_some((FaultKind::BudgetExceeded, 0x40)));
    }
}

#[test]
#[cfg_attr(miri, ignore = "limits of time")]
fn an_endless_loop_ends_at_either_limit() {
    for threads in [1, 2] {
        for cooperative in [false, true] {
            let mut config = LaunchConfig::new([4, 1, 1], [64, 1, 1]);
            (config.threads, config.cooperative) = (threads, cooperative);
            let engine = chained(32, |context| {
                tick(context);
                for _ in 0..context.back_edges {
                    if let Some(code) = spend(context, 3) {
                        return code;
                    }
                }
                context.resume = 2;
                ExitCode::Yield
            });
            config.instruction_limit = Some(3_000_000);
            let outcome = run(&engine, &config);
            assert_eq!(outcome.fault.unwrap().kind, FaultKind::BudgetExceeded);
            assert!(outcome.counts.instructions <= 3_000_000 * threads as u64);

            config.instruction_limit = None;
            config.time_limit = Some(Duration::from_millis(30));
            let start = std::time::Instant::now();
            let fault = run(&engine, &config).fault.unwrap();
            assert_eq!(
                (fault.kind, fault.pc, fault.waiting.len()),
                (FaultKind::TimeExceeded, 0x200, 0)
            );
            assert!(start.elapsed() < Duration::from_secs(10));
        }
    }
}

#[test]
#[cfg_attr(miri, ignore = "limits of time")]
fn an_endless_loop_of_blocks_that_count_for_nothing_ends_at_either_limit() {
    for (code, warps) in
        [(ExitCode::Yield, 1), (ExitCode::Yield, 2), (ExitCode::Barrier, 1), (ExitCode::Barrier, 2)]
    {
        let mut config = LaunchConfig::new([4, 1, 1], [32 * warps, 1, 1]);
        let engine = chained(32, |context| {
            tick(context);
            if code == ExitCode::Barrier {
                return wait(context, BarrierKind::Sync, 0, 32 * warps, 2);
            }
            context.resume = 2;
            code
        });
        config.instruction_limit = Some(100_000);
        let fault = run(&engine, &config).fault.unwrap();
        assert_eq!((fault.kind, fault.pc), (FaultKind::BudgetExceeded, 0x200));

        config.instruction_limit = None;
        config.time_limit = Some(Duration::from_millis(30));
        let fault = run(&engine, &config).fault.unwrap();
        assert_eq!((fault.kind, fault.pc), (FaultKind::TimeExceeded, 0x200));
    }
}

#[test]
#[cfg_attr(miri, ignore = "limits of time")]
fn the_time_limit_also_ends_many_short_blocks() {
    let mut config = LaunchConfig::new([i32::MAX as u32, 1, 1], [32, 1, 1]);
    config.time_limit = Some(Duration::from_millis(20));
    for threads in [1, 2] {
        config.threads = threads;
        let outcome = run(&chained(32, |_| ExitCode::Done), &config);
        let fault = outcome.fault.unwrap();
        assert_eq!(fault.kind, FaultKind::TimeExceeded);
        assert!(outcome.blocks_done >= u64::from(fault.block[0]) && outcome.blocks_done > 1000);
    }
}

#[test]
fn the_time_limit_also_ends_blocks_of_a_cooperative_launch_that_end_in_their_first_turn() {
    let mut config = LaunchConfig::new([2000, 1, 1], [32, 1, 1]);
    (config.cooperative, config.time_limit) = (true, Some(Duration::from_millis(20)));
    let engine = chained(32, |_| {
        std::thread::sleep(Duration::from_millis(1));
        ExitCode::Done
    });
    for threads in [1, 2] {
        config.threads = threads;
        let outcome = run(&engine, &config);
        assert_eq!(outcome.fault.unwrap().kind, FaultKind::TimeExceeded);
        assert!(outcome.blocks_done < 1000);
    }
}
