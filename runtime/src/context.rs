//! Safe views of a [`WarpContext`], for engines that are not machine code.
//!
//! Only this crate can write the pointers of a context and their bounds. The unsafe code here
//! relies on that.

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

/// The content of an unset constant bank.
pub(crate) static ZERO_BANK: [u8; CONST_BANK_BYTES] = [0; CONST_BANK_BYTES];

impl<'launch> WarpContext<'launch> {
    /// Returns a context with no memory, no register file and no launch.
    ///
    /// Pointers are null and counts are 0. There is no instruction limit, the windows are the
    /// defaults, and all constant banks read 0.
    ///
    /// Only the scheduler makes contexts: an engine that could make a context could substitute it
    /// for the scheduler's context.
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
            observer: None,
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

    /// A number below `LaunchConfig::warp_slots` that no other warp of the launch has while this
    /// warp is alive.
    #[inline]
    pub const fn slot(&self) -> u32 {
        self.slot
    }

    /// Returns the warp index of the block before which a chain of the call ends, or 0 if the call
    /// runs only this warp.
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

    /// Brings the page of an address into the worker's TLB, if the page is resident.
    #[inline]
    pub fn fill_tlb(&mut self, address: u64) {
        let (memory, tlb) = self.memory_and_tlb();
        memory.tlb_fill(tlb, address);
    }

    /// Notes that an access at `address` was not in run `run` of the TLB, less than [`RUNS`].
    ///
    /// Afterwards the TLB's run mostly is the run around the address, if there is one.
    #[inline]
    pub fn fill_run(&mut self, run: usize, address: u64, write: bool) {
        let (memory, tlb) = self.memory_and_tlb();
        let runs = if write { &mut tlb.write_runs } else { &mut tlb.read_runs };
        memory.run_fill(&mut runs[run], address, write);
    }

    /// Returns the addend from the guest addresses `low ..= last` to host addresses, if they have
    /// one.
    ///
    /// The pages of the addresses must follow each other in host memory too, and must be readable
    /// or, with `write`, both readable and writable. Afterwards one of the TLB's runs mostly holds
    /// the addresses.
    #[inline]
    pub fn reach(&mut self, run: usize, (low, last): (u64, u64), write: bool) -> Option<u64> {
        let (memory, tlb) = self.memory_and_tlb();
        memory.reach(tlb, run, (low, last), write)
    }

    fn memory_and_tlb(&mut self) -> (&Memory, &mut Tlb) {
        assert!(!self.tlb.is_null() && !self.memory.is_null(), "the context has no memory");
        // SAFETY: the scheduler set both pointers and keeps their targets alive while the context
        // is in use. The TLB belongs to this worker, and nothing else refers to it. The memory is
        // no part of the TLB.
        unsafe { (&*self.memory, &mut *self.tlb) }
    }

    /// The register file: `register_bytes` long, 64-byte aligned.
    ///
    /// For the guest its content is uninitialised: it holds an earlier warp's values until block 0
    /// has run.
    #[inline]
    pub fn registers(&mut self) -> &mut [u8] {
        // SAFETY: the scheduler keeps `register_bytes` initialised bytes alive at `registers` while
        // the context is in use. Safe code reaches the bytes only through the context, which the
        // result borrows. Compiled code does not run while Rust code has the context. `bytes_at`
        // handles null.
        unsafe { bytes_at(self.registers, self.register_bytes) }
    }

    /// The block's shared memory: `shared_bytes` long.
    #[inline]
    pub fn shared(&mut self) -> &mut [u8] {
        // SAFETY: as for `registers`; the block's warps run one after the other on this thread.
        unsafe { bytes_at(self.shared, self.shared_bytes) }
    }

    /// The warp's local memory: `local_bytes * lanes` long, interleaved (see
    /// [`WarpContext::local_offset`]).
    #[inline]
    pub fn local(&mut self) -> &mut [u8] {
        // SAFETY: as for `registers`.
        unsafe { bytes_at(self.local, self.local_bytes * u64::from(self.lanes)) }
    }

    /// Returns the index in [`WarpContext::local`] of byte `offset` of a lane's local memory.
    ///
    /// The bytes of an aligned word are contiguous.
    #[inline]
    pub const fn local_offset(&self, lane: u32, offset: u64) -> u64 {
        (offset & !3) * self.lanes as u64 + lane as u64 * 4 + (offset & 3)
    }

    /// Constant bank `bank`, less than [`CONST_BANKS`].
    #[inline]
    pub fn constant(&self, bank: usize) -> &[u8; CONST_BANK_BYTES] {
        // SAFETY: each entry points to a whole bank that outlives the context's use and is never
        // written.
        unsafe { &*self.constants[bank].cast() }
    }

    /// Returns the thread index in the block, on `axis` 0..=2, of lane `lane` of this warp.
    ///
    /// The index is also defined for lanes of the last warp that do not exist.
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

    /// The launch's guest memory. Panics if the context has no memory.
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

    /// Writes the fault record, and returns the exit code that the engine has to return.
    #[cold]
    pub fn set_fault(&mut self, kind: FaultKind, lane: u32, pc: u64, address: u64) -> ExitCode {
        self.fault = FaultRecord { kind: kind as u32, lane, pc, address };
        ExitCode::Fault
    }

    /// Goes on to the next warp of the chain. Returns false at the end of the chain.
    ///
    /// Afterwards `warp`, `launch_mask` and `resume` are the fresh warp's.
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

    /// Makes the call end with the current block, for engines that do work when a block begins.
    pub fn stay_in_block(&mut self) {
        self.row_end = self.ctaid[0] + 1;
    }

    /// Returns the barrier and the units that it counts, if the whole warp waits there for all
    /// other warps of the block.
    ///
    /// Only the scheduler knows the lanes that wait elsewhere.
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

/// Returns the bytes at `pointer`, or an empty slice if it is null.
///
/// # Safety
/// `pointer` is null, or points to `length` initialised bytes. For all of `'a` the bytes stay
/// allocated, and only the result refers to them.
#[inline]
unsafe fn bytes_at<'a>(pointer: *mut u8, length: u64) -> &'a mut [u8] {
    if pointer.is_null() {
        return &mut [];
    }
    // SAFETY: the caller's promise.
    unsafe { std::slice::from_raw_parts_mut(pointer, length as usize) }
}
