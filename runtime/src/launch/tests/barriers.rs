use super::*;

/// Warps write, wait, and read the values of all other warps, many times over.
#[test]
fn whole_block_barriers_order_the_warps() {
    for lanes in [8, 32, 64] {
        for block in if cfg!(miri) { [1, 31, 64, 70, 100] } else { [1, 31, 64, 200, 1024] } {
            let mut config = LaunchConfig::new([3, 1, 1], [block, 1, 1]);
            config.shared_bytes = 1024;
            let engine = chained(lanes, |context| {
                let (warp, warps) = (context.warp as usize, context.warps as usize);
                let round = context.resume;
                if round == 0 {
                    *counter(context) = 0;
                }
                assert_eq!(u32::from(*counter(context)), round);
                if round % 2 == 1 {
                    let wrote = &context.shared()[..warps];
                    assert!(wrote.iter().all(|&byte| u32::from(byte) == round));
                } else {
                    context.shared()[warp] = round as u8 + 1;
                }
                *counter(context) += 1;
                if round == 9 {
                    ExitCode::Done
                } else {
                    wait(context, BarrierKind::Sync, round % 3, 0, round + 1)
                }
            });
            assert_eq!(run(&engine, &config), Outcome { blocks_done: 3, ..Outcome::default() });
        }
    }
}

#[test]
fn reductions_count_the_lanes_that_arrive() {
    let config = LaunchConfig::new([2, 1, 1], [72, 1, 1]);
    // Of 72 lanes, those with an even number have a true predicate, then all, then none, then all
    // but lane 70. At last only the active lanes 0..4 of each warp arrive, all true.
    let predicates: [fn(u64) -> bool; 4] = [|i| i % 2 == 0, |_| true, |_| false, |i| i != 70];
    let expect = [[36, 0, 1], [72, 1, 1], [0, 0, 0], [71, 0, 1], [12, 1, 1]];
    let kinds = [BarrierKind::Popcount, BarrierKind::And, BarrierKind::Or];
    let engine = chained(32, |context| {
        let step = context.resume as usize;
        if step > 0 {
            assert_eq!(
                context.barrier_result,
                expect[(step - 1) / 3][(step - 1) % 3],
                "after barrier {}",
                step - 1
            );
        }
        if step == 15 {
            return ExitCode::Done;
        }
        match predicates.get(step / 3) {
            Some(predicate) => {
                let lane = |i: u64| u64::from(context.warp) * 32 + i;
                context.barrier_predicate =
                    (0..32).map(|i| u64::from(predicate(lane(i))) << i).sum();
            }
            None => {
                context.barrier_predicate = 0xf;
                context.barrier_mask = 0xf;
            }
        }
        wait(context, kinds[step % 3], 5, 0, step as u32 + 1)
    });
    assert_eq!(run(&engine, &config).fault, None);
}

/// Producers arrive and go on, consumers wait; two pairs of warps on two barriers.
#[test]
fn arrivals_with_thread_counts() {
    let mut config = LaunchConfig::new([4, 1, 1], [128, 1, 1]);
    config.shared_bytes = 4;
    let engine = chained(32, |context| {
        let pair = context.warp / 2;
        match (context.warp % 2, context.resume) {
            // Consumers start first, and twice.
            (0, 0) => wait(context, BarrierKind::Sync, pair, 64, 1),
            (0, 1) => {
                assert_eq!(context.shared()[pair as usize], 1);
                wait(context, BarrierKind::Sync, pair, 64, 2)
            }
            (0, _) => {
                assert_eq!(context.shared()[pair as usize], 2);
                ExitCode::Done
            }
            (_, 0) => {
                context.shared()[pair as usize] = 1;
                wait(context, BarrierKind::Arrive, pair, 64, 1)
            }
            // Gives the consumer time to take the first before the second.
            (_, 1) => {
                context.resume = 2;
                ExitCode::Yield
            }
            (_, 2) => {
                context.shared()[pair as usize] = 2;
                wait(context, BarrierKind::Arrive, pair, 64, 3)
            }
            _ => ExitCode::Done,
        }
    });
    assert_eq!(run(&engine, &config), Outcome { blocks_done: 4, ..Outcome::default() });
}

#[test]
fn thread_counts_are_rounded_up_to_warps() {
    let engine = chained(32, |context| match (context.warp, context.resume) {
        (2, 0) => ExitCode::Done,
        (_, 0) => wait(context, BarrierKind::Sync, 1, 33, 1),
        _ => ExitCode::Done,
    });
    assert_eq!(run(&engine, &LaunchConfig::new([1, 1, 1], [96, 1, 1])).fault, None);
}

#[test]
fn exited_warps_are_counted_out_of_whole_block_barriers() {
    // Warps 0, 2, ... leave before the others arrive (the first ones) or after (the warp that
    // yields first).
    for block in [64, 96, if cfg!(miri) { 192 } else { 512 }] {
        let engine = chained(32, |context| match (context.warp, context.resume) {
            (4, 0) => {
                context.resume = 7;
                ExitCode::Yield
            }
            (warp, 0) if warp % 2 == 1 => wait(context, BarrierKind::Sync, 0, 0, 1),
            (_, 1) => wait(context, BarrierKind::Sync, 15, block, 2),
            _ => ExitCode::Done,
        });
        assert_eq!(run(&engine, &LaunchConfig::new([2, 1, 1], [block, 1, 1])).blocks_done, 2);
    }
}

#[test]
fn a_warp_that_arrived_and_left_counts_once() {
    // Of 3 warps, warp 0 arrives without waiting and exits; 1 waits; 2 must still come.
    let config = LaunchConfig::new([1, 1, 1], [96, 1, 1]);
    let order = Mutex::new(Vec::new());
    let engine = chained(32, |context| match (context.warp, context.resume) {
        (0, 0) => wait(context, BarrierKind::Arrive, 0, 0, 1),
        (1, 0) => wait(context, BarrierKind::Sync, 0, 0, 1),
        (2, 0..4) => {
            context.resume += 1;
            ExitCode::Yield
        }
        (2, 4) => {
            order.lock().unwrap().push(2);
            wait(context, BarrierKind::Sync, 0, 0, 5)
        }
        (warp, _) => {
            order.lock().unwrap().push(warp);
            ExitCode::Done
        }
    });
    assert_eq!(run(&engine, &config).fault, None);
    assert_eq!(*order.lock().unwrap(), [0, 2, 1, 2]);
}

/// Each cluster is one block of two warps. The second warp goes on before the first waits, and
/// comes by again before the first waits.
#[test]
fn arriving_at_the_clusters_barrier_is_not_waiting() {
    let mut config = LaunchConfig::new([2, 1, 1], [64, 1, 1]);
    config.shared_bytes = 8;
    let engine = chained(32, |context| {
        let (warp, step) = (context.warp as usize, context.resume);
        let [arrive, wait_for] = [BarrierKind::ClusterArrive, BarrierKind::ClusterWait];
        match (warp, step) {
            // A warp that has not arrived does not wait.
            (_, 0) => wait(context, wait_for, 99, 0, 1),
            (_, 1 | 3) => {
                context.shared()[warp] += 1;
                wait(context, arrive, 99, 0, step + 1)
            }
            // The first warp lets the other do all of this before it looks.
            (0, 2) if context.shared()[1] < 2 => {
                context.resume = 2;
                ExitCode::Yield
            }
            (_, 2 | 4) => wait(context, wait_for, 99, 0, step + 1),
            (0, 5) => {
                assert_eq!(context.shared()[..2], [2, 2]);
                ExitCode::Done
            }
            _ => ExitCode::Done,
        }
    });
    assert_eq!(run(&engine, &config), Outcome { blocks_done: 2, ..Outcome::default() });
}

#[test]
fn a_stuck_barrier_names_who_waits_where() {
    let engine = chained(32, |context| match (context.warp, context.resume) {
        (0, 0) => ExitCode::Done,
        (3, 0) => wait(context, BarrierKind::Sync, 2, 64, 9),
        (_, 0) => wait(context, BarrierKind::Sync, 1, 0, 4),
        _ => panic!("nobody can go on"),
    });
    let fault = run(&engine, &LaunchConfig::new([1, 1, 1], [128, 1, 1])).fault.unwrap();
    let waiting = [(1, 1, 0x400), (2, 1, 0x400), (3, 2, 0x900)];
    let waiting = waiting
        .map(|(warp, barrier, pc)| Waiting { warp, lanes: None, barrier: Some(barrier), pc })
        .to_vec();
    assert_eq!(
        fault,
        Fault {
            kind: FaultKind::StuckBarrier,
            pc: 0x400,
            block: [0; 3],
            warp: 1,
            lane: 0,
            address: 0,
            waiting,
            spinning: 0,
        }
    );
    assert_eq!(
        fault.to_string(),
        "stuck barrier at pc 0x400, block (0, 0, 0), warp 1; warps 1 to 2 at barrier 1, before pc 0x400; \
         warp 3 at barrier 2, before pc 0x900"
    );
}

#[test]
fn a_count_that_exited_warps_cannot_reach_is_stuck() {
    let engine = chained(32, |context| match context.warp {
        0 => wait(context, BarrierKind::Sync, 0, 64, 1),
        _ => ExitCode::Done,
    });
    let fault = run(&engine, &LaunchConfig::new([1, 1, 1], [96, 1, 1])).fault.unwrap();
    assert_eq!((fault.kind, fault.waiting.len()), (FaultKind::StuckBarrier, 1));
}

#[test]
fn a_barrier_number_past_15_is_illegal() {
    let engine = chained(32, |context| wait(context, BarrierKind::Sync, 16, 0, 3));
    let fault = run(&engine, &LaunchConfig::new([1, 1, 1], [32, 1, 1])).fault.unwrap();
    assert_eq!((fault.kind, fault.pc), (FaultKind::IllegalInstruction, 0x300));
}

/// An engine may go on with the next warp at a barrier. It runs the warps in the order of an engine
/// that is called for each, in fewer calls.
#[test]
fn warps_pass_their_turns_on() {
    let config = LaunchConfig::new([2, 1, 1], [200, 1, 1]);
    let [(each, many), (passed, few)] = [false, true].map(|passes| {
        let (order, calls) = (Mutex::new(Vec::new()), AtomicU64::new(0));
        let run_warp = |context: &mut WarpContext| {
            calls.fetch_add(1, SeqCst);
            loop {
                let (warp, round) = (context.warp, context.resume);
                if round == 0 {
                    *counter(context) = 0;
                }
                assert_eq!(u32::from(*counter(context)), round, "warp {warp}");
                *counter(context) += 1;
                // A turn that counts nothing is not passed on.
                context.instructions += u64::from(round != 6);
                order.lock().unwrap().push((context.ctaid(), warp, round));
                let (last, kind) = match (warp, round) {
                    (_, 9) | (2, 4) => (true, BarrierKind::Sync),
                    // Not all warps come to the same barrier.
                    (1, 7) => (false, BarrierKind::Arrive),
                    _ => (false, BarrierKind::Sync),
                };
                if last {
                    if context.chain() {
                        continue;
                    }
                    return ExitCode::Done;
                }
                let code = wait(context, kind, round % 3, 0, round + 1);
                if !passes || !context.pass_on(code) {
                    return code;
                }
            }
        };
        let outcome = run(&Toy { lanes: 32, run: run_warp }, &config);
        assert_eq!((outcome.blocks_done, outcome.fault), (2, None));
        (order.into_inner().unwrap(), calls.into_inner())
    });
    assert_eq!(each, passed);
    assert!(few < many, "{few} calls, {many}");
}
