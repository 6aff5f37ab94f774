use super::*;
use crate::warp::BarrierCounts;

/// Lanes arrive; the warp is called again at `resume`.
fn arrive(
    context: &mut WarpContext,
    kind: BarrierKind,
    (barrier, threads): (u32, u32),
    lanes: u64,
    resume: u32,
) -> ExitCode {
    context.barrier_counts = BarrierCounts::Lanes as u32;
    context.barrier_mask = lanes;
    wait(context, kind, barrier, threads, resume)
}

fn fault_of(engine: &dyn Engine, block: u32) -> Option<Fault> {
    run(engine, &LaunchConfig::new([2, 1, 1], [block, 1, 1])).fault
}

#[test]
fn all_lanes_at_once_are_handed_back_at_once() {
    let engine = chained(8, |context| {
        let all = context.launch_mask;
        assert_eq!(context.barrier_released, if context.resume == 0 { 0 } else { all });
        match context.resume {
            9 => ExitCode::Done,
            round => arrive(context, BarrierKind::Sync, (round % 2, 0), all, round + 1),
        }
    });
    for block in [5, 8, 24, 61] {
        assert_eq!(fault_of(&engine, block), None);
    }
}

#[test]
fn parts_of_warps_arrive_by_themselves() {
    // Two warps have 8 lanes each. Each warp comes with its low half first, then goes on with its
    // other lanes and comes with them. No lane is released before the last half has come.
    let order = Mutex::new(Vec::new());
    let engine = chained(8, |context| match context.resume {
        0 => arrive(context, BarrierKind::Sync, (3, 0), 0x0f, 1),
        1 => {
            assert_eq!(context.barrier_released, 0);
            order.lock().unwrap().push(("half", context.warp));
            arrive(context, BarrierKind::Sync, (3, 0), 0xf0, 2)
        }
        _ => {
            assert_eq!(context.barrier_released, 0xff);
            order.lock().unwrap().push(("all", context.warp));
            ExitCode::Done
        }
    });
    assert_eq!(run(&engine, &LaunchConfig::new([1, 1, 1], [16, 1, 1])).fault, None);
    let mut order = order.lock().unwrap().clone();
    assert_eq!(order[..2], [("half", 0), ("half", 1)]);
    order[2..].sort_unstable();
    assert_eq!(order[2..], [("all", 0), ("all", 1)]);
}

#[test]
fn thread_counts_are_exact() {
    // 11 threads: all of warp 0, three of warp 1, whose other five go on without waiting.
    let engine = chained(8, |context| match (context.warp, context.resume) {
        (0, 0) => arrive(context, BarrierKind::Sync, (1, 11), 0xff, 1),
        (0, _) => {
            assert_eq!(context.barrier_released, 0xff);
            ExitCode::Done
        }
        (_, 0) => arrive(context, BarrierKind::Sync, (1, 11), 0x03, 1),
        (_, 1) => {
            assert_eq!(context.barrier_released, 0, "ten have come");
            arrive(context, BarrierKind::Sync, (1, 11), 0x80, 2)
        }
        _ => {
            assert_eq!(context.barrier_released, 0x83);
            ExitCode::Done
        }
    });
    assert_eq!(fault_of(&engine, 16), None);
}

#[test]
fn lanes_arrive_and_go_on() {
    // Four lanes produce for four lanes of the same warp, which wait first.
    let engine = chained(8, |context| match context.resume {
        0 => arrive(context, BarrierKind::Sync, (15, 8), 0xf0, 1),
        1 => arrive(context, BarrierKind::Arrive, (15, 8), 0x03, 2),
        2 => {
            assert_eq!(context.barrier_released, 0);
            arrive(context, BarrierKind::Arrive, (15, 8), 0x0c, 3)
        }
        _ => {
            assert_eq!(context.barrier_released, 0xf0);
            ExitCode::Done
        }
    });
    assert_eq!(fault_of(&engine, 8), None);
}

#[test]
fn reductions_are_over_lanes_wherever_they_arrive() {
    // 12 lanes in two warps; the predicate is set in lanes 0, 2, 3 of warp 0 and lane 1 of warp 1.
    let predicate = |warp| if warp == 0 { 0x0d } else { 0x02 };
    for (kind, expected) in
        [(BarrierKind::Popcount, 4), (BarrierKind::And, 0), (BarrierKind::Or, 1)]
    {
        let engine = chained(8, |context| match (context.warp, context.resume) {
            (warp, 0) => {
                context.barrier_predicate = predicate(warp);
                arrive(context, kind, (0, 0), 0x06, 1)
            }
            (warp, 1) => {
                assert_eq!(context.barrier_released, 0);
                context.barrier_predicate = predicate(warp);
                let rest = context.launch_mask & !0x06;
                arrive(context, kind, (0, 0), rest, 2)
            }
            _ => {
                assert_eq!(
                    (context.barrier_released, context.barrier_result),
                    (context.launch_mask, expected)
                );
                ExitCode::Done
            }
        });
        assert_eq!(fault_of(&engine, 12), None);
    }
}

#[test]
fn exited_lanes_are_not_waited_for() {
    // Of warp 0, two lanes exit before the others come; of warp 1, two exit after. Warp 2 is done
    // at once.
    let engine = chained(8, |context| match (context.warp, context.resume) {
        (0, 0) => arrive(context, BarrierKind::Exit, (0, 0), 0x03, 1),
        (0, 1) => arrive(context, BarrierKind::Sync, (0, 0), 0xfc, 2),
        (0, _) => {
            assert_eq!(context.barrier_released, 0xfc);
            ExitCode::Done
        }
        (1, 0) => arrive(context, BarrierKind::Sync, (0, 0), 0x3f, 1),
        (1, 1) => {
            assert_eq!(context.barrier_released, 0);
            arrive(context, BarrierKind::Exit, (0, 0), 0xc0, 2)
        }
        (1, _) => {
            assert_eq!(context.barrier_released, 0x3f);
            ExitCode::Done
        }
        _ => ExitCode::Done,
    });
    assert_eq!(fault_of(&engine, 24), None);
}

#[test]
fn barriers_are_handed_back_one_by_one() {
    // Lanes 0 to 3 wait at barrier 1, lanes 4 and 5 at barrier 2. The other lanes count as arrivals
    // there, and complete both barriers, before they ask.
    let engine = chained(8, |context| match context.resume {
        0 => arrive(context, BarrierKind::Or, (1, 6), 0x0f, 1),
        1 => {
            context.barrier_predicate = 0xff;
            arrive(context, BarrierKind::Popcount, (2, 4), 0x30, 2)
        }
        2 => {
            context.barrier_predicate = 0x40;
            arrive(context, BarrierKind::Arrive, (1, 6), 0xc0, 3)
        }
        3 => {
            assert_eq!((context.barrier_released, context.barrier_result), (0x0f, 0));
            arrive(context, BarrierKind::Arrive, (2, 4), 0xc0, 4)
        }
        4 => {
            assert_eq!((context.barrier_released, context.barrier_result), (0x30, 2));
            arrive(context, BarrierKind::Poll, (0, 0), 0, 5)
        }
        _ => {
            assert_eq!(context.barrier_released, 0);
            ExitCode::Done
        }
    });
    assert_eq!(fault_of(&engine, 8), None);
}

#[test]
fn a_warp_waits_for_lanes_of_others() {
    // Warp 0 has lanes that only wait for its lanes at the barrier. Warp 1 yields before it comes.
    let engine = chained(8, |context| match (context.warp, context.resume) {
        (0, 0) => arrive(context, BarrierKind::Sync, (0, 12), 0x0f, 1),
        (0, 1) => arrive(context, BarrierKind::Wait, (0, 0), 0, 2),
        (1, 0..3) => {
            context.resume += 1;
            ExitCode::Yield
        }
        (1, 3) => arrive(context, BarrierKind::Sync, (0, 12), 0xff, 4),
        (warp, _) => {
            assert_eq!(context.barrier_released, if warp == 0 { 0x0f } else { 0xff });
            ExitCode::Done
        }
    });
    assert_eq!(fault_of(&engine, 16), None);
}

#[test]
fn a_stuck_barrier_names_its_lanes() {
    // The lanes of warp 0 wait at two barriers, warp 1 has left.
    let engine = chained(8, |context| match (context.warp, context.resume) {
        (0, 0) => arrive(context, BarrierKind::Sync, (1, 0), 0x0f, 1),
        (0, 1) => arrive(context, BarrierKind::Sync, (2, 16), 0xf0, 2),
        (0, _) => panic!("nobody can go on"),
        _ => ExitCode::Done,
    });
    let fault = fault_of(&engine, 16).unwrap();
    let waiting = [(0x0f, 1, 0x100), (0xf0, 2, 0x200)];
    let waiting = waiting.map(|(lanes, barrier, pc)| Waiting {
        warp: 0,
        lanes: Some(lanes),
        barrier: Some(barrier),
        pc,
    });
    assert_eq!(
        (fault.kind, fault.pc, &fault.waiting[..]),
        (FaultKind::StuckBarrier, 0x100, &waiting[..])
    );
    assert_eq!(
        fault.to_string(),
        "stuck barrier at pc 0x100, block (0, 0, 0), warp 0; lanes 0xf of warp 0 at barrier 1, before pc 0x100; \
         lanes 0xf0 of warp 0 at barrier 2, before pc 0x200"
    );
}

#[test]
fn a_warp_that_waits_for_no_lane_is_stuck() {
    let engine = chained(8, |context| arrive(context, BarrierKind::Wait, (0, 0), 0, 7));
    let fault = fault_of(&engine, 8).unwrap();
    assert_eq!((fault.kind, fault.pc, fault.waiting.len()), (FaultKind::StuckBarrier, 0x700, 0));
}

#[test]
fn lanes_and_warps_of_one_number_do_not_meet() {
    let engine = chained(8, |context| match (context.warp, context.resume) {
        (0, 0) => arrive(context, BarrierKind::Sync, (0, 8), 0xff, 1),
        (1, 0) => wait(context, BarrierKind::Sync, 0, 8, 1),
        _ => ExitCode::Done,
    });
    assert_eq!(fault_of(&engine, 16), None);
}
