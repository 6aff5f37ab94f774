//! Safe views of a [`WarpContext`], for engines that are not machine code.
//!
//! Pointers and what bounds them are fields that only this crate can write: nobody else does, and what is here relies on that.

use std::marker::PhantomData;
use std::ptr;

use crate::fault::{FaultKind, FaultRecord};
use crate::launch::Step;
use crate::memory::Memory;
#[cfg(doc)]
use crate::warp::RUNS;
use crate::warp::{
    Area, BARRIERS, BarrierCounts, BarrierKind, CONST_BANK_BYTES, CONST_BANKS, ENGINE_WORDS,
    ExitCode, Tlb, WarpContext,
};
use crate::window::Windows;

/// What an unset constant bank reads as.
pub(crate) static ZERO_BANK: [u8; CONST_BANK_BYTES] = [0; CONST_BANK_BYTES];

impl<'launch> WarpContext<'launch> {
    /// A context with no memory, no register file and no launch: everything is null, empty or 0, and all constant
    /// banks read 0.
    ///
    /// Only the scheduler makes contexts: an engine that could make one could put it in the place of the scheduler's.
    pub(crate) fn empty() -> Box<WarpContext<'launch>> {
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
            barrier_counts: 0,
            barrier_released: 0,
            step: Step::default(),
            instructions: 0,
            lane_instructions: 0,
            instruction_limit: u64::MAX,
            back_edges: 0,
            indirect_pc: 0,
            fault: FaultRecord::default(),
            helper_calls: 0,
            interp_instructions: 0,
            engine: Area([0; ENGINE_WORDS]),
            memory: ptr::null(),
            barrier_mask: u64::MAX,
            register_bytes: 0,
            register_bytes_wanted: 0,
            service: 0,
            service_lanes: 0,
            shared_window: Windows::default().shared,
            local_window: Windows::default().local,
            launch: PhantomData,
        })
    }

    /// Index of the warp in its block.
    #[inline]
    pub const fn warp(&self) -> u32 {
        self.warp
    }

    /// Warps of the block.
    #[inline]
    pub const fn warps(&self) -> u32 {
        self.warps
    }

    /// Lanes of a warp.
    #[inline]
    pub const fn lanes(&self) -> u32 {
        self.lanes
    }

    /// Lanes of this warp that exist.
    #[inline]
    pub const fn launch_mask(&self) -> u64 {
        self.launch_mask
    }

    /// Coordinates of the block.
    #[inline]
    pub const fn ctaid(&self) -> [u32; 3] {
        self.ctaid
    }

    /// Shape of a block, in lanes.
    #[inline]
    pub const fn ntid(&self) -> [u32; 3] {
        self.ntid
    }

    /// Shape of the grid, in blocks.
    #[inline]
    pub const fn nctaid(&self) -> [u32; 3] {
        self.nctaid
    }

    /// A number below `LaunchConfig::warp_slots` that no other warp of the launch has while this one is alive.
    #[inline]
    pub const fn slot(&self) -> u32 {
        self.slot
    }

    /// The warp up to which a call may chain, in numbers of warps of the block; 0: only this one.
    #[inline]
    pub const fn chain_end(&self) -> u32 {
        self.chain_end
    }

    /// Bytes of the register file.
    #[inline]
    pub const fn register_bytes(&self) -> u64 {
        self.register_bytes
    }

    /// Bytes of the block's shared memory.
    #[inline]
    pub const fn shared_bytes(&self) -> u64 {
        self.shared_bytes
    }

    /// Bytes of a lane's local memory, a multiple of 4.
    #[inline]
    pub const fn local_bytes(&self) -> u64 {
        self.local_bytes
    }

    /// Brings the page of an address into the worker's TLB, if it is resident.
    #[inline]
    pub fn fill_tlb(&mut self, address: u64) {
        let (memory, tlb) = self.memory_and_tlb();
        memory.tlb_fill(tlb, address);
    }

    /// Notes that an access at an address did not go through one of the TLB's runs, less than [`RUNS`]. Mostly the run is that of
    /// the address from then on, if there is one.
    #[inline]
    pub fn fill_run(&mut self, run: usize, address: u64, write: bool) {
        let (memory, tlb) = self.memory_and_tlb();
        let runs = if write { &mut tlb.write_runs } else { &mut tlb.read_runs };
        memory.run_fill(&mut runs[run], address, write);
    }

    /// What leads from the guest addresses `low ..= last` to host addresses, if they lie on pages that follow each other in host
    /// memory too and are readable or, with `write`, both readable and writable. Mostly one of the TLB's runs has them from then on.
    #[inline]
    pub fn reach(&mut self, run: usize, (low, last): (u64, u64), write: bool) -> Option<u64> {
        let (memory, tlb) = self.memory_and_tlb();
        memory.reach(tlb, run, (low, last), write)
    }

    fn memory_and_tlb(&mut self) -> (&Memory, &mut Tlb) {
        assert!(!self.tlb.is_null() && !self.memory.is_null(), "the context has no memory");
        // SAFETY: the scheduler set both and keeps them alive while the context is in use. The TLB is this worker's own, which nothing
        // else refers to; the memory is no part of it.
        unsafe { (&*self.memory, &mut *self.tlb) }
    }

    /// The register file: `register_bytes` long, 64-byte aligned. Uninitialised in the sense of the guest: what an
    /// earlier warp left, until block 0 has run.
    #[inline]
    pub fn registers(&mut self) -> &mut [u8] {
        // SAFETY: the scheduler keeps `register_bytes` initialised bytes alive at `registers` while
        // the context is in use. The result borrows the context, through which alone safe code
        // reaches them, and compiled code does not run while Rust code has the context; `bytes_at`
        // handles null.
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
        assert!(
            axis < 3 && linear < self.tid_stride,
            "no lane {lane} of warp {} on axis {axis}",
            self.warp
        );
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

    /// For engines that do something when a block begins: the call ends with this one.
    pub fn stay_in_block(&mut self) {
        self.row_end = self.ctaid[0] + 1;
    }

    /// The barrier that the warp has come to, and what it counts, if the warp waits there as a whole for all others of the block. Lanes
    /// that wait elsewhere are the scheduler's to know.
    #[inline]
    pub(crate) fn whole_barrier(&self) -> Option<(u32, BarrierCounts)> {
        let is_whole = self.barrier_kind == BarrierKind::Sync as u32 && self.barrier_threads == 0;
        let counts = self.barrier_counts();
        let is_all = counts == BarrierCounts::Warps || self.launch_mask & !self.barrier_mask == 0;
        (is_whole && is_all && self.barrier_id < BARRIERS as u32)
            .then_some((self.barrier_id, counts))
    }

    pub(crate) fn barrier_counts(&self) -> BarrierCounts {
        let lanes = self.barrier_counts == BarrierCounts::Lanes as u32;
        if lanes { BarrierCounts::Lanes } else { BarrierCounts::Warps }
    }
}

/// # Safety
/// A null `pointer`, or one to `length` initialised bytes. For all of `'a` they stay allocated, and
/// only the result refers to them.
#[inline]
unsafe fn bytes_at<'a>(pointer: *mut u8, length: u64) -> &'a mut [u8] {
    if pointer.is_null() {
        return &mut [];
    }
    // SAFETY: the caller's promise.
    unsafe { std::slice::from_raw_parts_mut(pointer, length as usize) }
}
