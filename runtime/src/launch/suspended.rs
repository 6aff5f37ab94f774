//! A suspended warp, and the storage that each running warp has for itself.

use super::config::LaunchError;
use super::lanes::{Lanes, Released};
use super::step::{DONE, Turn, TurnEnd};
use crate::warp::{BarrierKind, LOCAL_PADDING};
use crate::zeroed::Zeroed;

/// The register file and local memory of one warp. Each is an allocation of its own, so that debug
/// builds have a fence between them.
pub(super) struct WarpStorage {
    /// `WarpContext::slot` of the warps that use it.
    slot: u32,
    registers: Zeroed,
    local: Zeroed,
    local_bytes: u64,
    /// Whether a warp has used the local memory, which begins zeroed.
    used: bool,
}

impl WarpStorage {
    /// Allocates the storage of one warp. The sizes are in bytes, for the whole warp.
    pub(super) fn new(
        slot: u32,
        register_bytes: u64,
        local_bytes: u64,
    ) -> Result<WarpStorage, LaunchError> {
        let local = allocate(padded_local_bytes(local_bytes))?;
        Ok(WarpStorage {
            slot,
            registers: allocate(register_bytes)?,
            local,
            local_bytes,
            used: false,
        })
    }

    pub(super) fn register_bytes(&self) -> u64 {
        self.registers.bytes()
    }

    /// Returns the pointers to the storage.
    #[inline]
    pub(super) fn place(&self) -> StoragePointers {
        StoragePointers {
            slot: self.slot,
            registers: self.registers.pointer().as_ptr(),
            register_bytes: self.registers.bytes(),
            local: self.local.pointer().as_ptr(),
        }
    }

    /// The register file.
    pub(super) fn registers(&self) -> &[u8] {
        // SAFETY: the allocation has these bytes, which began as zeros. An engine writes to them
        // while it runs a warp, and none does as long as the scheduler has a reference to the
        // warp's storage.
        unsafe {
            std::slice::from_raw_parts(
                self.registers.pointer().as_ptr(),
                self.registers.bytes() as usize,
            )
        }
    }

    /// The local memory.
    pub(super) fn local(&self) -> &[u8] {
        // SAFETY: as for `registers`.
        unsafe {
            std::slice::from_raw_parts(self.local.pointer().as_ptr(), self.local_bytes as usize)
        }
    }

    /// Makes the register file larger. Its content stays.
    pub(super) fn grow(&mut self, register_bytes: u64) -> Result<(), LaunchError> {
        let larger = allocate(register_bytes.max(self.register_bytes()))?;
        // SAFETY: both allocations have as many bytes as the smaller one, and no warp uses them at
        // the moment.
        unsafe {
            larger
                .pointer()
                .copy_from_nonoverlapping(self.registers.pointer(), self.register_bytes() as usize)
        };
        self.registers = larger;
        Ok(())
    }

    /// Zeroes the local memory for a fresh warp.
    pub(super) fn clear_local(&mut self) {
        if self.used {
            // SAFETY: the allocation has these bytes, and no warp uses it at the moment.
            unsafe { self.local.pointer().as_ptr().write_bytes(0, self.local_bytes as usize) };
        }
        self.used = true;
    }
}

/// The pointers to a warp's storage, as its context has them.
pub(super) struct StoragePointers {
    pub slot: u32,
    pub registers: *mut u8,
    pub register_bytes: u64,
    pub local: *mut u8,
}

/// Returns the bytes that a warp's local memory takes, with padding.
pub(super) fn padded_local_bytes(local_bytes: u64) -> u64 {
    if local_bytes == 0 { 0 } else { local_bytes.saturating_add(LOCAL_PADDING) }
}

/// Allocates memory with the alignment that compiled code needs.
pub(super) fn allocate(bytes: u64) -> Result<Zeroed, LaunchError> {
    Zeroed::new(bytes, 64).ok_or(LaunchError::HostOutOfMemory { bytes })
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum State {
    /// The warp can go on. `yielded`: it gave up its last turn.
    Ready {
        yielded: bool,
    },
    Waiting {
        barrier: u32,
        kind: BarrierKind,
    },
    /// All lanes of the warp wait, or it said that it has nothing to do until some are released.
    WaitingForLanes,
    Done,
}

/// A warp that has a register file of its own: it has waited or yielded, or is expected to.
pub(crate) struct Suspended {
    pub warp: u32,
    pub state: State,
    /// Block number to go on at.
    pub resume: u32,
    pub launch_mask: u64,
    pub barrier_result: u32,
    /// Bit set of the barriers at which the warp has arrived since they were last complete.
    pub arrived: u32,
    pub lanes: Lanes,
    /// The lanes that were last handed back to the warp.
    pub released: u64,
    pub storage: WarpStorage,
}

impl Suspended {
    /// Returns a warp that has not run yet.
    pub(super) fn fresh(warp: u32, launch_mask: u64, storage: WarpStorage) -> Suspended {
        Suspended {
            warp,
            state: State::Ready { yielded: false },
            resume: 0,
            launch_mask,
            barrier_result: 0,
            arrived: 0,
            lanes: Lanes::default(),
            released: 0,
            storage,
        }
    }

    /// Becomes the warp of the same number in a later block. The last block's warp is done.
    pub(super) fn begin_anew(&mut self) {
        self.state = State::Ready { yielded: false };
        (self.resume, self.barrier_result, self.arrived, self.released) = (0, 0, 0, 0);
    }

    pub(super) fn is_done(&self) -> bool {
        self.state == State::Done
    }

    /// Returns the lanes that have neither exited nor wait.
    pub(super) fn free_lanes(&self) -> u64 {
        self.launch_mask & !self.lanes.exited & !self.lanes.waiting()
    }

    /// Notes that the warp is done.
    pub(super) fn finish(&mut self) {
        self.state = State::Done;
        if !self.lanes.are_together() {
            self.lanes = Lanes::default();
        }
    }

    /// Returns the warp's turn, as the first turn of a call.
    pub(super) fn turn(&self) -> Turn {
        let StoragePointers { slot, registers, register_bytes, local } = self.storage.place();
        Turn {
            registers,
            register_bytes,
            local,
            launch_mask: self.launch_mask,
            barrier_released: self.released,
            warp: self.warp,
            slot,
            barrier_result: self.barrier_result,
            end: TurnEnd { resume: if self.is_done() { DONE } else { self.resume }, came: 0 },
        }
    }

    /// Notes that the warp came to a barrier at which all other warps have arrived.
    pub(super) fn come_through(&mut self, released: u64) {
        (self.state, self.released) = (State::Ready { yielded: false }, released);
    }

    /// Hands back the lanes that the next complete barrier has released, if there is one.
    pub(super) fn hand_over(&mut self) {
        let released = self.lanes.take_released().unwrap_or(Released { lanes: 0, result: None });
        self.released = released.lanes;
        self.barrier_result = released.result.unwrap_or(self.barrier_result);
    }
}
