//! Snapshots of a block, which tell whether the block comes back to an earlier state.

use super::barrier::Barriers;
use super::block::Block;
use super::lanes::{LaneBarriers, Lanes};
use super::suspended::{State, Suspended};

/// The state of a block at some time, as far as its warps could observe it. Buffers stay for the
/// next snapshot.
#[derive(Default)]
pub(super) struct Snapshot {
    warps: Vec<Warp>,
    /// Registers, local memory and shared memory, one behind the other.
    bytes: Vec<u8>,
    barriers: Option<(Barriers, LaneBarriers)>,
    /// `Block::released` at that time.
    released: u64,
    extent: Extent,
}

/// The part of a block's state that a snapshot keeps.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum Extent {
    /// The registers of the warp in one slot.
    Warp(usize),
    /// The registers of all warps that are ready. Waiting warps change nothing as long as nothing
    /// releases them.
    #[default]
    Registers,
    /// The registers of all warps, and local and shared memory as well.
    Memory,
}

#[derive(Clone, PartialEq)]
struct Warp {
    state: State,
    resume: u32,
    barrier_result: u32,
    arrived: u32,
    released: u64,
    lanes: Lanes,
    /// Bytes of registers and of local memory that are kept.
    kept: [usize; 2],
}

/// The number of 8-byte words in which nearly equal registers may differ: counters and places of
/// one lane, and masks. A value that all lanes of a warp compute takes more words.
const NEAR: usize = 6;

/// The most bytes that are kept of a block.
const MAX_BYTES: usize = 16 << 20;

impl Warp {
    fn of(warp: &Suspended, kept: [usize; 2]) -> Warp {
        let Suspended { state, resume, barrier_result, arrived, released, .. } = *warp;
        Warp { state, resume, barrier_result, arrived, released, lanes: warp.lanes.clone(), kept }
    }
}

impl Snapshot {
    /// Keeps the current state of a block. Returns false if the state is too large.
    pub(super) fn take(&mut self, block: &Block, extent: Extent) -> bool {
        self.warps.clear();
        self.bytes.clear();
        (self.extent, self.released) = (extent, block.released);
        for warp in of_extent(block, extent) {
            let is_ready = matches!(warp.state, State::Ready { .. });
            let registers =
                if is_ready || extent == Extent::Memory { warp.storage.registers() } else { &[] };
            let local = if extent == Extent::Memory { warp.storage.local() } else { &[] };
            self.warps.push(Warp::of(warp, [registers.len(), local.len()]));
            if self.bytes.len() + registers.len() + local.len() > MAX_BYTES {
                return false;
            }
            self.bytes.extend_from_slice(registers);
            self.bytes.extend_from_slice(local);
        }
        if extent == Extent::Memory {
            self.bytes.extend_from_slice(block.shared_content());
        }
        let (barriers, lane_barriers) = block.barriers();
        let whole = !matches!(extent, Extent::Warp(_));
        self.barriers = whole.then(|| (barriers.clone(), lane_barriers.clone()));
        self.bytes.len() <= MAX_BYTES
    }

    /// Returns whether the block of the snapshot is again in the state of the snapshot.
    pub(super) fn is_of(&self, block: &Block) -> bool {
        let mut left = &self.bytes[..];
        let mut is_next = |bytes: &[u8]| {
            let (next, rest) = left.split_at(bytes.len());
            left = rest;
            next == bytes
        };
        let same = of_extent(block, self.extent).zip(&self.warps).all(|(warp, was)| {
            let [registers, local] = was.kept;
            let (now, memory) = (warp.storage.registers(), warp.storage.local());
            // A register file may have grown.
            *was == Warp::of(warp, was.kept)
                && (registers == 0 || registers == now.len() && is_next(now))
                && (local == 0 || is_next(memory))
        });
        let (barriers, lane_barriers) = block.barriers();
        let are_same = |(a, b): &(Barriers, LaneBarriers)| a == barriers && b == lane_barriers;
        same && self.barriers.as_ref().is_none_or(are_same)
            && !self.lacks_released(block)
            && (self.extent != Extent::Memory || is_next(block.shared_content()))
    }

    /// Returns whether the snapshot's only warp has nearly the registers that it had.
    ///
    /// `None` if the snapshot has all warps, or if the warp would now go on elsewhere or has
    /// another state.
    pub(super) fn is_near(&self, block: &Block) -> Option<bool> {
        let (Extent::Warp(slot), [was]) = (self.extent, &self.warps[..]) else { return None };
        let warp = &block.suspended[slot];
        if (warp.state, warp.resume) != (was.state, was.resume) {
            return None;
        }
        let words = warp.storage.registers().chunks(8).zip(self.bytes.chunks(8));
        Some(words.filter(|(now, before)| now != before).take(NEAR + 1).count() <= NEAR)
    }

    /// Returns whether a barrier has since released warps, of which the snapshot may have kept no
    /// registers.
    pub(super) fn lacks_released(&self, block: &Block) -> bool {
        self.extent == Extent::Registers && self.released != block.released
    }
}

fn of_extent(block: &Block, extent: Extent) -> impl Iterator<Item = &Suspended> {
    let slots = match extent {
        Extent::Warp(slot) => slot..slot + 1,
        Extent::Registers | Extent::Memory => 0..block.suspended.len(),
    };
    block.suspended[slots].iter()
}
