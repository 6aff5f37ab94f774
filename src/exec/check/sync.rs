//! Mistakes at barriers and at statements that wait for lanes of the warp.

use rustc_hash::FxHashMap;

use warploom_ir::BarrierKind;

use super::clock::lanes;
use super::finding::MemoryKind;
use super::watch::{Raw, Reports, Warp};

#[derive(Debug, Default)]
pub struct Sync {
    blocks: FxHashMap<u32, Block>,
}

#[derive(Debug, Default)]
struct Block {
    /// By barrier: the warps that wait there, and the threads that the first of them expects.
    barriers: FxHashMap<u64, (u32, u32)>,
    waits: FxHashMap<u32, u64>,
}

impl Sync {
    /// A warp arrives at a barrier for so many threads.
    pub fn arrive(
        &mut self,
        warp: &Warp,
        (site, kind): (u32, BarrierKind),
        barrier: u64,
        threads: u32,
        reports: &mut Reports,
    ) {
        let block = self.blocks.entry(warp.number).or_default();
        let (waiting, others) = block.barriers.entry(barrier).or_insert((0, threads));
        if *waiting > 0 && *others != threads {
            let place = (site, MemoryKind::Shared, barrier, 0);
            let lane = warp.launch_mask.trailing_zeros();
            reports.note(warp, place, lane, Raw::Threads { here: threads, others: *others });
        }
        if *waiting == 0 {
            *others = threads;
        }
        if !matches!(kind, BarrierKind::Arrive | BarrierKind::ClusterArrive) {
            *waiting += 1;
            block.waits.insert(warp.warp, barrier);
        }
    }

    /// A warp goes on after a barrier.
    pub fn pass(&mut self, warp: &Warp) {
        let Some(block) = self.blocks.get_mut(&warp.number) else { return };
        let Some(barrier) = block.waits.remove(&warp.warp) else { return };
        if let Some((waiting, _)) = block.barriers.get_mut(&barrier) {
            *waiting = waiting.saturating_sub(1);
        }
    }

    /// Lanes come to a statement that waits for the lanes that they name.
    pub fn meet(
        &mut self,
        warp: &Warp,
        site: u32,
        (named, live, active): (&[u64], u64, u64),
        reports: &mut Reports,
    ) {
        let place = (site, MemoryKind::Shared, 0, 0);
        for lane in lanes(active & live) {
            let named = named.get(lane as usize).copied().unwrap_or(0) & u64::from(u32::MAX);
            let exited = named & warp.launch_mask & !live;
            if named >> lane & 1 == 0 {
                reports.note(warp, place, lane, Raw::Unnamed);
            } else if exited != 0 {
                reports.note(warp, place, lane, Raw::Exited(exited));
            }
        }
    }

    /// Lanes meet at a barrier, of which some come from this site.
    pub fn apart(warp: &Warp, site: u32, all: u64, here: u64, reports: &mut Reports) {
        let others = all & !here;
        if here != 0 && others != 0 {
            let place = (site, MemoryKind::Shared, 0, 0);
            reports.note(warp, place, here.trailing_zeros(), Raw::Apart(others));
        }
    }

    pub fn end_block(&mut self, block: u32) {
        self.blocks.remove(&block);
    }
}
