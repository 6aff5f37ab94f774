//! Safe views of a [`WarpContext`], for engines that are not machine code.
//!
//! The pointer and length fields of a context are public because compiled code addresses them by offset. They
//! belong to the scheduler: nobody else writes them, and what is here relies on that.

use crate::fault::{FaultKind, FaultRecord};
use crate::memory::Memory;
use crate::warp::{Area, CONST_BANK_BYTES, CONST_BANKS, ExitCode, REST_BYTES, STRIP_WORDS, WarpContext};
use crate::window::Windows;
use std::ptr;

/// What an unset constant bank reads as.
pub(crate) static ZERO_BANK: [u8; CONST_BANK_BYTES] = [0; CONST_BANK_BYTES];

impl WarpContext {
    /// A context with no memory, no register file and no launch: everything is null, empty or 0, and all constant
    /// banks read 0.
    pub fn empty() -> Box<WarpContext> {
        Box::new(WarpContext {
            registers: ptr::null_mut(),
            tlb: ptr::null_mut(),
            shared: ptr::null_mut(),
            shared_bytes: 0,
            local: ptr::null_mut(),
            local_bytes: 0,
            constants: [ZERO_BANK.as_ptr(); CONST_BANKS],
            tid_table: ptr::null(),
            tid_stride: 0,
            launch_mask: 0,
            ctaid: [0; 3],
            ntid: [0; 3],
            nctaid: [0; 3],
            warp: 0,
            slot: 0,
            chain_end: 0,
            row_end: 0,
            last_launch_mask: 0,
            warps: 0,
            lanes: 0,
            resume: 0,
            barrier_kind: 0,
            barrier_id: 0,
            barrier_threads: 0,
            barrier_predicate: 0,
            barrier_result: 0,
            instructions: 0,
            lane_instructions: 0,
            instruction_limit: u64::MAX,
            back_edges: 0,
            indirect_pc: 0,
            fault: FaultRecord::default(),
            helper_calls: 0,
            interp_instructions: 0,
            scratch: Area([0; 256]),
            rest: Area([0; REST_BYTES / 8]),
            strips: Area([0; STRIP_WORDS]),
            memory: ptr::null(),
            barrier_mask: u64::MAX,
            register_bytes: 0,
            register_bytes_wanted: 0,
            service: 0,
            service_lanes: 0,
            shared_window: Windows::default().shared,
            local_window: Windows::default().local,
        })
    }

    /// The register file: `register_bytes` long, 64-byte aligned. Uninitialised in the sense of the guest: what an
    /// earlier warp left, until block 0 has run.
    #[inline]
    pub fn registers(&mut self) -> &mut [u8] {
        // SAFETY: the scheduler keeps `register_bytes` initialised bytes alive at `registers` while the context is
        // in use, and nothing else refers to them meanwhile; `bytes_at` handles null.
        unsafe { bytes_at(self.registers, self.register_bytes) }
    }

    /// The block's shared memory: `shared_bytes` long.
    #[inline]
    pub fn shared(&mut self) -> &mut [u8] {
        // SAFETY: as for `registers`; the block's warps run one after the other on this thread.
        unsafe { bytes_at(self.shared, self.shared_bytes) }
    }

    /// The warp's local memory: `local_bytes * lanes` long, interleaved (see [`WarpContext::local_offset`]).
    #[inline]
    pub fn local(&mut self) -> &mut [u8] {
        // SAFETY: as for `registers`.
        unsafe { bytes_at(self.local, self.local_bytes * u64::from(self.lanes)) }
    }

    /// Where byte `offset` of a lane's local memory lies in [`WarpContext::local`]. An aligned word is contiguous.
    #[inline]
    pub const fn local_offset(&self, lane: u32, offset: u64) -> u64 {
        (offset & !3) * self.lanes as u64 + lane as u64 * 4 + (offset & 3)
    }

    /// Constant bank `bank`, less than [`CONST_BANKS`].
    #[inline]
    pub fn constant(&self, bank: usize) -> &[u8; CONST_BANK_BYTES] {
        // SAFETY: each entry points to a whole bank that outlives the context's use and is never written.
        unsafe { &*self.constants[bank].cast() }
    }

    /// Index in the block, on `axis` 0..=2, of lane `lane` of this warp. Also defined for lanes of the last warp that
    /// do not exist.
    #[inline]
    pub fn tid(&self, axis: usize, lane: u32) -> u32 {
        let linear = u64::from(self.warp) * u64::from(self.lanes) + u64::from(lane);
        assert!(axis < 3 && linear < self.tid_stride, "no lane {lane} of warp {} on axis {axis}", self.warp);
        // SAFETY: the table has three rows of `tid_stride` entries.
        unsafe { *self.tid_table.add(axis * self.tid_stride as usize + linear as usize) }
    }

    /// The launch's guest memory. Panics on a context without one.
    #[inline]
    pub fn memory(&self) -> &Memory {
        assert!(!self.memory.is_null(), "the context has no memory");
        // SAFETY: not null, so the scheduler set it to a memory that outlives the launch.
        unsafe { &*self.memory }
    }

    /// The windows of the generic address space.
    #[inline]
    pub const fn windows(&self) -> Windows {
        Windows { shared: self.shared_window, local: self.local_window }
    }

    /// Leaves the fault record. Returns what the engine returns then.
    #[cold]
    pub fn set_fault(&mut self, kind: FaultKind, lane: u32, pc: u64, address: u64) -> ExitCode {
        self.fault = FaultRecord { kind: kind as u32, lane, pc, address };
        ExitCode::Fault
    }

    /// Goes on to the next warp of the chain: `warp`, `launch_mask` and `resume` are then the fresh warp's. False at
    /// the end of the chain.
    #[inline]
    pub fn chain(&mut self) -> bool {
        if self.warp + 1 >= self.chain_end {
            return false;
        }
        self.warp += 1;
        self.resume = 0;
        if self.warp + 1 == self.warps {
            self.launch_mask = self.last_launch_mask;
        }
        true
    }
}

/// # Safety
/// `length` initialised bytes at `pointer` that only the result refers to, or a null `pointer`.
#[inline]
unsafe fn bytes_at<'a>(pointer: *mut u8, length: u64) -> &'a mut [u8] {
    if pointer.is_null() {
        return &mut [];
    }
    // SAFETY: the caller's promise.
    unsafe { std::slice::from_raw_parts_mut(pointer, length as usize) }
}
