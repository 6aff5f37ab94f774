//! The blocks and warps that run, and the contents of their contexts.

use super::*;

#[test]
fn every_block_runs_once_in_order_on_one_thread() {
    for threads in [1, 2, 3] {
        let mut config = LaunchConfig::new([5, 3, 2], [40, 1, 1]);
        config.threads = threads;
        let seen = Mutex::new(Vec::new());
        let engine = chained(32, |context| {
            if context.warp == 0 {
                assert_eq!(context.launch_mask, 0xffff_ffff);
                seen.lock().unwrap().push(context.ctaid);
            } else {
                assert_eq!((context.warp, context.launch_mask), (1, 0xff));
            }
            assert_eq!((context.nctaid, context.ntid, context.warps), ([5, 3, 2], [40, 1, 1], 2));
            context.instructions += 3;
            context.lane_instructions += 3 * u64::from(context.launch_mask.count_ones());
            context.helper_calls += 1;
            context.interp_instructions += 2;
            ExitCode::Done
        });
        let outcome = run(&engine, &config);
        let counts = Counts {
            instructions: 180,
            lane_instructions: 30 * 120,
            helper_calls: 60,
            interp_instructions: 120,
        };
        assert_eq!(outcome, Outcome { counts, blocks_done: 30, ..Outcome::default() });
        let mut order: Vec<u64> =
            seen.lock().unwrap().iter().map(|&ctaid| linear(&config, ctaid)).collect();
        if threads > 1 {
            order.sort();
        }
        assert_eq!(order, (0..30).collect::<Vec<_>>());
    }
}

#[test]
fn one_call_runs_all_warps_of_a_block_unless_local_memory_is_used() {
    for (local_bytes, calls_per_block) in [(0, 1), (20, 4)] {
        let mut config = LaunchConfig::new([7, 1, 1], [128, 1, 1]);
        config.local_bytes = local_bytes;
        let calls = AtomicU64::new(0);
        let engine = Toy {
            lanes: 32,
            run: |context: &mut WarpContext| {
                calls.fetch_add(1, SeqCst);
                while context.chain() {}
                ExitCode::Done
            },
        };
        assert_eq!(run(&engine, &config).blocks_done, 7);
        assert_eq!(calls.load(SeqCst), 7 * calls_per_block);
    }
}

#[test]
fn thread_indices_of_any_block_shape() {
    for block in [[1, 1, 1], [1024, 1, 1], [3, 5, 7], [16, 16, 1], [1, 1, 64], [33, 2, 1]] {
        for lanes in [1, 8, 32, 64] {
            let engine = chained(lanes, |context| {
                for lane in 0..context.lanes {
                    let linear = context.warp * context.lanes + lane;
                    let exists = linear < block[0] * block[1] * block[2];
                    assert_eq!(exists, context.launch_mask >> lane & 1 != 0);
                    let tid = [0, 1, 2].map(|axis| context.tid(axis, lane));
                    assert_eq!(linear, tid[0] + block[0] * (tid[1] + block[1] * tid[2]));
                    assert_eq!((0..3).all(|axis| tid[axis] < block[axis]), exists);
                }
                ExitCode::Done
            });
            assert_eq!(run(&engine, &LaunchConfig::new([1, 1, 1], block)).fault, None);
        }
    }
}

#[test]
fn shared_memory_is_zero_for_each_block_and_local_memory_for_each_warp() {
    let mut config = LaunchConfig::new([9, 1, 1], [96, 1, 1]);
    config.shared_bytes = 100;
    config.local_bytes = 20;
    let engine = chained(32, |context| {
        if context.resume == 0 {
            assert_eq!(
                (context.shared().len(), context.local_bytes, context.local().len()),
                (100, 32, 32 * 32)
            );
            assert!(context.local().iter().all(|&byte| byte == 0));
            if context.warp == 0 {
                assert!(context.shared().iter().all(|&byte| byte == 0));
            }
            let warp = context.warp as u8 + 1;
            context.shared()[warp as usize - 1] = warp;
            context.local().fill(warp);
            context.registers().fill(warp);
            return wait(context, BarrierKind::Sync, 0, 0, 1);
        }
        let warp = context.warp as u8 + 1;
        assert_eq!(context.shared()[..4], [1, 2, 3, 0]);
        assert!(context.local().iter().chain(&[warp]).all(|&byte| byte == warp));
        assert!(context.registers().iter().all(|&byte| byte == warp));
        context.shared().fill(0xff);
        context.shared()[..3].copy_from_slice(&[1, 2, 3]);
        if context.warp < 2 {
            context.shared()[3] = 0;
        }
        ExitCode::Done
    });
    let outcome = run(&engine, &config);
    assert_eq!((outcome.blocks_done, outcome.fault), (9, None));
}

#[test]
fn local_memory_is_interleaved_by_words() {
    let mut context = WarpContext::empty();
    context.lanes = 32;
    assert_eq!([0, 3, 4, 9].map(|offset| context.local_offset(2, offset)), [8, 11, 136, 265]);
}

#[test]
fn constants_and_windows_reach_the_engine() {
    let mut config = LaunchConfig::new([1, 1, 1], [1, 1, 1]);
    config.constants[3] = Some(ConstBank::new(&[1, 2, 3]).unwrap());
    let engine = chained(32, |context| {
        assert_eq!(context.constant(3)[..5], [1, 2, 3, 0, 0]);
        assert_eq!(context.constant(31)[65535], 0);
        assert_eq!(context.windows(), context.memory().windows());
        ExitCode::Done
    });
    assert_eq!(run(&engine, &config).fault, None);
    assert_eq!(
        ConstBank::new(&[0; 65537]).unwrap_err(),
        LaunchError::ConstBankTooLong { bytes: 65537 }
    );
}

#[test]
fn a_released_range_stays_until_the_launch_ends() {
    let mut memory = Memory::default();
    let at = memory.alloc(1 << 16, 1).unwrap();
    let engine = chained(32, |context| {
        context.memory().release_later(at).unwrap();
        assert!(context.memory().release_later(at).is_err());
        assert_eq!(context.memory().range_of(at), None);
        assert_eq!(context.memory().load(at, 4), Ok((0, Residency::Resident)));
        let grown = context.memory().alloc(4, 1).unwrap();
        context.memory().store(grown, 4, 7).unwrap();
        ExitCode::Done
    });
    launch(&memory, &engine, &LaunchConfig::new([1, 1, 1], [1, 1, 1]), None).unwrap();
    assert_eq!(memory.load(at, 4), Err(FaultKind::AddressOutOfRange));
    assert_eq!(memory.bytes_in_use(), 2 << 16);
    memory.reclaim();
    assert_eq!(memory.bytes_in_use(), 1 << 16);
}

#[test]
fn progress_is_told() {
    let calls = Mutex::new(Vec::new());
    let engine = chained(32, |_| {
        std::thread::sleep(Duration::from_millis(3));
        ExitCode::Done
    });
    let told = |done, total| calls.lock().unwrap().push((done, total));
    launch(&Memory::default(), &engine, &LaunchConfig::new([64, 1, 1], [1, 1, 1]), Some(&told))
        .unwrap();
    let calls = calls.into_inner().unwrap();
    assert!(
        !calls.is_empty()
            && calls.is_sorted()
            && calls.iter().all(|&(done, total)| done <= 64 && total == 64)
    );
}

#[test]
fn senseless_launches_are_refused() {
    let engine = chained(32, |_| ExitCode::Done);
    let refuse = |change: &dyn Fn(&mut LaunchConfig)| {
        let mut config = LaunchConfig::new([1, 1, 1], [32, 1, 1]);
        change(&mut config);
        launch(&Memory::default(), &engine, &config, None).unwrap_err()
    };
    assert!(matches!(refuse(&|c| c.grid[1] = 0), LaunchError::Empty { .. }));
    assert!(matches!(refuse(&|c| c.block[2] = 0), LaunchError::Empty { .. }));
    assert!(matches!(refuse(&|c| c.grid[0] = 1 << 31), LaunchError::GridTooLarge { .. }));
    assert!(matches!(refuse(&|c| c.grid[2] = 65536), LaunchError::GridTooLarge { .. }));
    assert!(matches!(
        refuse(&|c| c.block = [32, 33, 1]),
        LaunchError::BlockTooLarge { lanes: 1056, .. }
    ));
    assert!(matches!(refuse(&|c| c.block = [u32::MAX; 3]), LaunchError::BlockTooLarge { .. }));
    assert!(matches!(
        refuse(&|c| c.shared_bytes = (1 << 24) + 1),
        LaunchError::WindowExceeded { .. }
    ));
    let local = |c: &mut LaunchConfig| (c.block[0], c.local_bytes) = (1024, 1 << 24);
    assert!(matches!(refuse(&local), LaunchError::ResidentTooLarge { blocks: 1, .. }));
    assert!(matches!(refuse(&|c| c.threads = 0), LaunchError::BadThreads { threads: 0 }));
    let whole =
        |c: &mut LaunchConfig| (c.grid, c.cooperative) = ([i32::MAX as u32, 65535, 65535], true);
    assert!(matches!(refuse(&whole), LaunchError::ResidentTooLarge { .. }));
    let config = LaunchConfig::new([1, 1, 1], [32, 1, 1]);
    for lanes in [0, 65] {
        let error = launch(&Memory::default(), &chained(lanes, |_| ExitCode::Done), &config, None)
            .unwrap_err();
        assert_eq!(error, LaunchError::BadLanes { lanes });
    }
}

#[test]
fn a_grid_of_2_to_the_31_minus_1_stops_at_its_fault() {
    let config = LaunchConfig::new([i32::MAX as u32, 65535, 65535], [1, 1, 1]);
    let engine = chained(32, |context| {
        if context.ctaid[0] == 1000 {
            context.set_fault(FaultKind::Trap, 0, 8, 0)
        } else {
            ExitCode::Done
        }
    });
    let outcome = run(&engine, &config);
    assert_eq!(outcome.blocks_done, 1000);
    assert_eq!(outcome.fault.unwrap().block, [1000, 0, 0]);
}
