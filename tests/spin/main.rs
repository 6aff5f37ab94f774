//! Blocks that wait for each other in loops.

mod faults;
mod guests;
mod support;

use std::time::{Duration, Instant};

use support::{Case, ENGINES};
use warploom::EngineKind;

/// Block 0 waits for the word that block 1 stores.
const TWO: &str = "
    setp.ne.u32 %p1, %c, 0;
    @%p1 bra set;
wait:
    ld.volatile.global.u32 %r1, [%a];
    setp.eq.u32 %p2, %r1, 0;
    @%p2 bra wait;
    add.u32 %r1, %r1, 1;
    st.global.u32 [%a+4], %r1;
    ret;
set:
    st.volatile.global.u32 [%a], 7;";

/// Block `c` waits for the word of block `c + 1`, and stores that word plus 1. The code traps if
/// registers, shared memory or local memory change during the wait.
const CHAIN: &str = "
    mad.lo.u32 %r4, %c, 1000, %t;
    mov.u64 %d3, slot;
    st.local.u32 [%d3+4], %r4;
    setp.ne.u32 %p3, %t, 0;
    @%p3 bra entered;
    st.shared.u32 [word], %c;
entered:
    bar.sync 0;
    mul.wide.u32 %d1, %c, 4;
    add.u64 %d1, %a, %d1;
    mov.u32 %r2, 0;
    add.u32 %r3, %c, 1;
    setp.eq.u32 %p1, %r3, %n;
    @%p1 bra last;
wait:
    ld.volatile.global.u32 %r2, [%d1+4];
    setp.eq.u32 %p2, %r2, 0;
    @%p2 bra wait;
last:
    bar.sync 0;
    ld.shared.u32 %r5, [word];
    ld.local.u32 %r6, [%d3+4];
    mad.lo.u32 %r7, %r5, 1000, %t;
    setp.eq.u32 %p1, %r6, %r7;
    @!%p1 trap;
    setp.ne.u32 %p1, %r4, %r7;
    @%p1 trap;
    add.u32 %r2, %r2, 1;
    @%p3 ret;
    st.volatile.global.u32 [%d1], %r2;";

/// Every block waits three times for all blocks. After each wait it adds its neighbour's number to
/// its own number.
const GRID_BARRIER: &str = "
    mul.wide.u32 %d1, %c, 4;
    add.u64 %d1, %a, %d1;
    add.u32 %r1, %c, 1;
    rem.u32 %r1, %r1, %n;
    mul.wide.u32 %d2, %r1, 4;
    add.u64 %d2, %a, %d2;
    setp.eq.u32 %p3, %t, 0;
    mov.u32 %r5, %c;
    mov.u32 %r6, 0;
round:
    @%p3 st.global.u32 [%d1+256], %r5;
    bar.sync 0;
    add.u32 %r6, %r6, 1;
    mul.lo.u32 %r7, %r6, %n;
    @!%p3 bra arrived;
    membar.gl;
    atom.global.add.u32 %r2, [%a], 1;
poll:
    atom.global.or.b32 %r2, [%a], 0;
    setp.lt.u32 %p1, %r2, %r7;
    @%p1 bra poll;
arrived:
    bar.sync 0;
    ld.volatile.global.u32 %r3, [%d2+256];
    add.u32 %r5, %r5, %r3;
    mul.lo.u32 %r7, %r7, 2;
    @!%p3 bra left;
    atom.global.add.u32 %r2, [%a+4], 1;
    mul.lo.u32 %r7, %r6, %n;
leave:
    ld.volatile.global.u32 %r2, [%a+4];
    setp.lt.u32 %p1, %r2, %r7;
    @%p1 bra leave;
left:
    bar.sync 0;
    setp.lt.u32 %p1, %r6, 3;
    @%p1 bra round;
    @%p3 st.global.u32 [%d1+256], %r5;";

#[test]
fn a_block_waits_for_a_later_one() {
    Case::new(TWO, 2, 1).check(&[7, 8]);
    Case::new(TWO, 40, 96).check(&[7, 8]);
}

#[test]
fn blocks_wait_in_a_chain_in_the_worst_order() {
    let expected: Vec<u32> = (1..=64).rev().collect();
    Case::new(CHAIN, 64, 1).check(&expected);
    // The interpreter is slow.
    let few = &expected[48..];
    Case::new(CHAIN, 16, 64).check(few);
    Case { cooperative: true, ..Case::new(CHAIN, 16, 64) }.check(few);
}

#[test]
fn a_chain_takes_little_time() {
    let began = Instant::now();
    let (outcome, _) = Case::new(CHAIN, 64, 32).run(EngineKind::Jit, 1, 64);
    assert_eq!((outcome.blocks_done, outcome.spun, outcome.fault), (64, true, None));
    assert!(began.elapsed() < Duration::from_secs(5), "{:?}", began.elapsed());
}

#[test]
fn blocks_meet_by_atomics() {
    for (blocks, lanes) in [(2, 32), (24, 80)] {
        let n = blocks as usize;
        let mut values: Vec<u32> = (0..blocks).collect();
        for _ in 0..3 {
            let old = values.clone();
            (0..n).for_each(|i| values[i] = old[i].wrapping_add(old[(i + 1) % n]));
        }
        let mut expected = vec![0; 64 + n];
        (expected[0], expected[1]) = (3 * blocks, 3 * blocks);
        expected[64..].copy_from_slice(&values);
        Case::new(GRID_BARRIER, blocks, lanes).check(&expected);
    }
}

/// Proves that a block can wait in a loop with barriers: one thread reads the flag, and all threads
/// of the block meet at a barrier in each round.
#[test]
fn a_block_waits_with_barriers_in_the_loop() {
    let body = "
    setp.ne.u32 %p3, %t, 0;
    setp.ne.u32 %p1, %c, 0;
    @%p1 bra set;
wait:
    @%p3 bra looked;
    ld.volatile.global.u32 %r1, [%a];
    st.shared.u32 [word], %r1;
looked:
    bar.sync 0;
    ld.shared.u32 %r1, [word];
    bar.sync 0;
    setp.eq.u32 %p2, %r1, 0;
    @%p2 bra wait;
    atom.global.add.u32 %r1, [%a+4], %r1;
    ret;
set:
    st.volatile.global.u32 [%a], 3;";
    Case::new(body, 2, 128).check(&[3, 3 * 128]);
}

/// Proves that the launch sets a waiting block aside even if the block counts, so that no state
/// repeats.
#[test]
fn a_block_that_counts_while_it_waits_is_set_aside_at_last() {
    let body = "
    mov.u32 %r3, 0;
    setp.ne.u32 %p1, %c, 0;
    @%p1 bra set;
wait:
    add.u32 %r3, %r3, 1;
    ld.volatile.global.u32 %r1, [%a];
    setp.eq.u32 %p2, %r1, 0;
    @%p2 bra wait;
    setp.gt.u32 %p2, %r3, 1000;
    selp.u32 %r3, 1, 0, %p2;
    st.global.u32 [%a+4], %r3;
    ret;
set:
    st.volatile.global.u32 [%a], 7;";
    let (outcome, found) = Case::new(body, 2, 1).run(EngineKind::Jit, 1, 2);
    assert_eq!((outcome.fault, found), (None, vec![7, 1]));
}

/// Proves that blocks which draw numbers do not count as waiting. Between two back edges a lane
/// only draws a number, and its registers keep nothing of it.
#[test]
fn blocks_that_share_work_out_do_not_wait() {
    let body = "
next:
    atom.global.add.u32 %r1, [%a], 1;
    setp.ge.u32 %p1, %r1, 300000;
    @%p1 ret;
    atom.global.add.u32 %r1, [%a+4], %r1;
    bra next;";
    let sum = (0..300_000u64).sum::<u64>() as u32;
    for engine in ENGINES {
        for blocks in [1, 6] {
            let (outcome, found) = Case::new(body, blocks, 32).run(engine, 1, 2);
            assert_eq!(
                (outcome.fault, found),
                (None, vec![300_000 + 32 * blocks, sum]),
                "{engine}"
            );
        }
    }
}

/// Proves that warps and lanes can wait: warp `w` for warp `w + 1`, and lane 0 of a warp for lane
/// 1.
#[test]
fn warps_and_lanes_wait_for_each_other() {
    let warps = "
    setp.ge.u32 %p1, %t, 96;
    @%p1 bra ready;
    shr.u32 %r2, %t, 5;
    mul.wide.u32 %d1, %r2, 4;
    add.u64 %d1, %a, %d1;
wait:
    ld.volatile.global.u32 %r1, [%d1+4];
    setp.eq.u32 %p2, %r1, 0;
    @%p2 bra wait;
    bra.uni store;
ready:
    shr.u32 %r2, %t, 5;
    mul.wide.u32 %d1, %r2, 4;
    add.u64 %d1, %a, %d1;
    mov.u32 %r1, 0;
store:
    add.u32 %r1, %r1, 1;
    st.volatile.global.u32 [%d1], %r1;";
    Case::new(warps, 1, 128).check(&[4, 3, 2, 1]);
    let lanes = "
    setp.ne.u32 %p1, %t, 0;
    @%p1 bra set;
wait:
    ld.volatile.global.u32 %r1, [%a];
    setp.eq.u32 %p2, %r1, 0;
    @%p2 bra wait;
    st.global.u32 [%a+4], %r1;
    bra.uni done;
set:
    st.volatile.global.u32 [%a], 5;
done:";
    Case::new(lanes, 1, 2).check(&[5, 5]);
}

/// Proves that `cooperative_groups::this_grid().sync()`, as nvcc compiles it (`grid_sync.cu`),
/// works with more blocks than workers.
#[test]
fn a_cooperative_grid_meets() {
    for (blocks, lanes) in [(2, 32), (20, 96)] {
        let n = (blocks * lanes) as usize;
        let mut values: Vec<u32> = (0..n as u32).collect();
        let mut before = values.clone();
        for _ in 0..5 {
            before.copy_from_slice(&values);
            for (i, value) in values.iter_mut().enumerate() {
                *value = before[(i + 1) % n].wrapping_mul(3).wrapping_add(before[(i + n - 1) % n]);
            }
        }
        // The fifth round writes to the second half.
        let expected = [before, values].concat();
        Case { text: include_str!("grid_sync.sm_80.ptx").into(), blocks, lanes, cooperative: true }
            .check(&expected);
    }
}
