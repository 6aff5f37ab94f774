//! The order of events: within a warp, between warps, and when lanes leave.

use warploom_runtime::fault::FaultKind;

use crate::draw::Draw;
use crate::reference::{Shape, WARP};
use crate::support::Case;

const ONE_WARP: Shape = Shape { grid: 1, block: WARP };

#[test]
fn shift_within_a_warp_through_shared_memory() {
    for block in [32, 64, 256] {
        let data = Draw::new(block as u64).vec(block, Draw::u32);
        let mut out = vec![];
        for warp in data.chunks(WARP) {
            let mut s = [0u32; 64];
            s[..WARP].copy_from_slice(warp);
            for _ in 0..3 {
                s.copy_within(0..WARP, 8);
            }
            out.extend(s);
        }
        Case::behaviour("shift", "shift")
            .shape(Shape { grid: 1, block })
            .input(&data)
            .output(&out)
            .check();
    }
}

#[test]
fn prefix_sums_of_a_warp_without_a_barrier() {
    for block in [1, 31, 32, 33, 100, 256] {
        let data = Draw::new(block as u64).vec(block, Draw::u32);
        let out = crate::reference::scan_blocks(&data, WARP);
        Case::behaviour("warp_scan", "warp_scan")
            .shape(Shape { grid: 1, block })
            .input(&data)
            .output(&out)
            .check();
    }
}

#[test]
fn unrolled_stores_that_alias_across_lanes() {
    let mut shifted = vec![0u32; 39];
    let mut same = vec![0u32; 36];
    let mut chain: Vec<u32> = (0..40).map(|i| i * i + 5).collect();
    let before = chain.clone();
    for k in 0..8 {
        for t in 0..WARP {
            shifted[t + k] = (t * 100 + k) as u32;
            same[(t >> 2) + ((4 * k) & 28)] = (t * 100 + k) as u32;
        }
        let old = chain.clone();
        for t in 0..WARP {
            chain[t + 1] = old[t].wrapping_mul(3).wrapping_add(k as u32);
        }
    }
    Case::behaviour("alias", "alias_shifted").shape(ONE_WARP).output(&shifted).check();
    Case::behaviour("alias", "alias_same").shape(ONE_WARP).output(&same).check();
    Case::behaviour("alias", "alias_chain").shape(ONE_WARP).inout(&before, &chain).check();
    Case::behaviour("alias", "alias_chain_shared").shape(ONE_WARP).inout(&before, &chain).check();
}

#[test]
fn atomics_return_in_lane_order() {
    for block in [1, 5, 31, 32] {
        let (mut sum, mut last, mut chain, mut shared) =
            ([7u32; 4], [9u32; 4], [100u32; 4], [100u32; 4]);
        let mut old: [Vec<u32>; 4] = Default::default();
        for t in 0..block as u32 {
            let word = t as usize & 3;
            let compare = 100 + (t >> 2);
            let new = if chain[word] == compare { compare + 1 } else { chain[word] };
            let steps = [(&mut sum, t + 1), (&mut last, 0), (&mut chain, 0), (&mut shared, t + 1)];
            for ((words, add), old) in steps.into_iter().zip(&mut old) {
                old.push(words[word]);
                words[word] += add;
            }
            last[word] = t + 1;
            chain[word] = new;
        }
        Case::behaviour("atomic_order", "atomic_order")
            .shape(Shape { grid: 1, block })
            .inout(&[7u32; 4], &sum)
            .inout(&[9u32; 4], &last)
            .inout(&[100u32; 4], &chain)
            .output(&old[0])
            .output(&old[1])
            .output(&old[2])
            .output(&old[3])
            .check();
    }
}

#[test]
fn lanes_that_exit_inside_nested_divergence() {
    for block in [1, 3, 8, 17, 31, 32, 33, 64, 100, 1024] {
        let shape = Shape { grid: 2, block };
        let (mut out, mut met) = (vec![0u32; shape.lanes()], vec![0u32; shape.lanes()]);
        for b in 0..shape.grid {
            for (first, lanes) in shape.warps() {
                let leaves_first = |t: usize| t & 7 == 7;
                let leaves_loop = |t: usize| t & 1 == 1 && !leaves_first(t) && t > 17;
                let stays = |t: &usize| !leaves_first(*t) && !leaves_loop(*t);
                let mask = |lanes: &mut dyn Iterator<Item = usize>| {
                    lanes.fold(0u32, |mask, t| mask | 1 << t)
                };
                let odd = mask(&mut (0..lanes).filter(|t| t & 1 == 1).filter(stays)).count_ones();
                let all = mask(&mut (0..lanes).filter(stays));
                for t in 0..lanes {
                    let i = b * block + first + t;
                    if leaves_first(t) || leaves_loop(t) {
                        out[i] = if leaves_first(t) { 1 } else { 2 };
                        continue;
                    }
                    met[i] = all;
                    out[i] = if t & 1 == 0 {
                        30
                    } else {
                        let v = if t & 2 == 0 { 20u32 } else { 10 };
                        let v = (0..t as u32).fold(v, |v, k| v.wrapping_mul(3).wrapping_add(k));
                        v.wrapping_add(odd << 24)
                    };
                }
            }
        }
        Case::behaviour("nested_exit", "nested_exit")
            .shape(shape)
            .output(&out)
            .output(&met)
            .check();
    }
}

#[test]
fn a_warp_that_spins_on_another_warp_of_its_block() {
    let shape = Shape { grid: 1, block: 64 };
    Case::behaviour("spin", "spin_shared").shape(shape).output(&[7u32; WARP]).spins().check();
    Case::behaviour("spin", "spin_global")
        .shape(shape)
        .inout(&[0u32], &[7u32])
        .output(&[7u32; WARP])
        .spins()
        .check();
}

#[test]
fn a_lock_that_warps_take_in_turn() {
    for (grid, block) in [(1, 32), (1, 1024), (5, 96)] {
        let warps = (grid * block / WARP) as u32;
        Case::behaviour("spin", "spin_lock")
            .shape(Shape { grid, block })
            .inout(&[0u32], &[0])
            .inout(&[0u32], &[warps])
            .spins()
            .check();
    }
}

#[test]
fn blocks_of_a_cooperative_launch_wait_for_each_other() {
    for (grid, block) in [(2, 1), (2, 64), (7, 33), (40, 5)] {
        let shape = Shape { grid, block };
        let values: Vec<u32> = (0..grid as u32).map(|b| b * 10 + 1).collect();
        let out: Vec<u32> = (0..shape.lanes())
            .map(|i| values[(i / block + 1) % grid] + (i % block) as u32)
            .collect();
        Case::behaviour("cooperative", "meet")
            .shape(shape)
            .cooperative()
            .inout(&[0u32], &[grid as u32])
            .output(&values)
            .output(&out)
            .spins()
            .check();
    }
}

/// `cg::this_grid().sync()` works through the workspace that the driver provides. Each case
/// launches twice, since each launch begins anew.
#[test]
fn a_cooperative_grid_synchronises() {
    for (grid, block) in [([2, 1, 1], 1), ([5, 1, 1], 32), ([3, 2, 2], 33), ([40, 1, 1], 5)] {
        let n = grid.iter().product::<u32>() as usize * block;
        let before: Vec<u32> = (0..n as u32).map(|i| i.wrapping_mul(0x9e37_79b9)).collect();
        for times in [0, 1, 5] {
            let mut values = before.clone();
            for _ in 0..times {
                let old = values.clone();
                for (i, value) in values.iter_mut().enumerate() {
                    *value = old[(i + 1) % n].wrapping_mul(3).wrapping_add(old[(i + n - 1) % n]);
                }
            }
            Case::behaviour("grid_sync", "rounds")
                .grid(grid)
                .block([block as u32, 1, 1])
                .cooperative()
                .inout(&before, &values)
                .output(&vec![1u32; n])
                .value(times)
                .spins()
                .check();
        }
    }
}

/// Without a workspace there is no grid barrier: the compiler's code traps.
#[test]
fn another_grid_does_not_synchronise() {
    Case::behaviour("grid_sync", "rounds")
        .grid([2, 1, 1])
        .block([32, 1, 1])
        .any(256)
        .any(256)
        .value(1)
        .check_fault(|fault| assert_eq!(fault.kind(), FaultKind::Trap, "{fault}"));
}

#[test]
fn a_warp_that_ended_is_not_waited_for() {
    let mut out = vec![0u32; 100];
    out[..WARP].fill(1);
    Case::behaviour("stuck", "barrier_after_exit")
        .shape(Shape { grid: 1, block: 100 })
        .output(&out)
        .check();
}
