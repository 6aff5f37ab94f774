//! What an engine sees of a warp: [`WarpContext`], which JIT code addresses by field offset.

use std::marker::PhantomData;

use crate::fault::FaultRecord;
use crate::launch::Step;

/// Pages in a [`Tlb`].
pub const TLB_ENTRIES: usize = 256;
/// Runs for reading in a [`Tlb`], and for writing.
pub const RUNS: usize = 64;
/// Pages are 64 KiB.
pub const PAGE_BITS: u32 = 16;
pub const PAGE_BYTES: u64 = 1 << PAGE_BITS;
/// Every constant bank is this long, zero-padded, so that a 16-bit offset needs no check.
pub const CONST_BANK_BYTES: usize = 1 << 16;
pub const CONST_BANKS: usize = 33;

/// Words of [`WarpContext::engine`].
pub const ENGINE_WORDS: usize = 1 << 10;

/// Words that code accesses as vectors.
#[repr(C, align(64))]
pub struct Area<const WORDS: usize>(pub [u64; WORDS]);

impl<const WORDS: usize> std::ops::Deref for Area<WORDS> {
    type Target = [u64];

    fn deref(&self) -> &[u64] {
        &self.0
    }
}

impl<const WORDS: usize> std::ops::DerefMut for Area<WORDS> {
    fn deref_mut(&mut self) -> &mut [u64] {
        &mut self.0
    }
}

/// One entry of the software TLB. An address `a` hits for reading if it lies in the page that begins at `read_tag`, for
/// writing if in that at `write_tag`; its host address is then `a + addend` (wrapping). A tag where there is no such page
/// is [`no_page`].
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct TlbEntry {
    pub read_tag: u64,
    pub write_tag: u64,
    pub addend: u64,
    pub padding: u64,
}

/// Pages that follow each other, in guest and in host memory: an access at `a` that lies within `bytes` from `first` on is at
/// the host address `a + addend` (wrapping).
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Run {
    pub first: u64,
    /// 0 if nothing is known yet.
    pub bytes: u64,
    pub addend: u64,
}

impl Run {
    pub const EMPTY: Run = Run { first: 0, bytes: 0, addend: 0 };

    pub const fn holds(&self, address: u64) -> bool {
        address.wrapping_sub(self.first) < self.bytes
    }
}

/// The runs of an instruction, the one that it used last first.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Ways {
    pub runs: [Run; 2],
    /// Accesses that lay in neither.
    pub misses: u64,
    padding: u64,
}

impl Ways {
    pub const EMPTY: Ways = Ways { runs: [Run::EMPTY; 2], misses: 0, padding: 0 };
}

/// What a worker thread knows of host addresses. The pages are direct mapped: the slot of a page number `p` is [`tlb_slot`].
/// Instructions whose lanes are scattered over pages have a run each, or share one with few others.
#[repr(C)]
pub struct Tlb {
    pub entries: [TlbEntry; TLB_ENTRIES],
    pub read_runs: [Ways; RUNS],
    pub write_runs: [Ways; RUNS],
}

impl Tlb {
    pub const EMPTY: Tlb = {
        let mut entries =
            [TlbEntry { read_tag: 0, write_tag: 0, addend: 0, padding: 0 }; TLB_ENTRIES];
        let mut slot = 0;
        while slot < TLB_ENTRIES {
            (entries[slot].read_tag, entries[slot].write_tag) = (no_page(slot), no_page(slot));
            slot += 1;
        }
        Tlb { entries, read_runs: [Ways::EMPTY; RUNS], write_runs: [Ways::EMPTY; RUNS] }
    };
}

/// Slot of a page number: hashed, so that power-of-two strides do not conflict.
pub const fn tlb_slot(page: u64) -> usize {
    ((page ^ (page >> 8)) & (TLB_ENTRIES as u64 - 1)) as usize
}

/// The tag in a slot that stands for no page: that of one which is never looked up there. Its neighbours are not either,
/// so that code which looked up one address may compare others nearby with the tag.
pub const fn no_page(slot: usize) -> u64 {
    ((slot ^ (TLB_ENTRIES / 2)) as u64) << PAGE_BITS
}

/// Why an engine returned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum ExitCode {
    /// The warp is done.
    Done = 0,
    /// Waits at the barrier in `WarpContext::barrier_*`; goes on at `resume`.
    Barrier = 1,
    /// Gave up its turn after a bounded number of back edges; goes on at `resume`.
    Yield = 2,
    /// `fault` says what.
    Fault = 3,
    /// An indirect jump to the pc in `indirect_pc` that the function has no block for.
    UnknownPc = 4,
    /// Asks the host for the service in `WarpContext::service`; goes on at `resume`.
    Service = 5,
    /// Needs a register file of `WarpContext::register_bytes_wanted`; goes on at `resume` with what the smaller one held.
    Grow = 6,
}

impl ExitCode {
    pub const ALL: [ExitCode; 7] = [
        ExitCode::Done,
        ExitCode::Barrier,
        ExitCode::Yield,
        ExitCode::Fault,
        ExitCode::UnknownPc,
        ExitCode::Service,
        ExitCode::Grow,
    ];

    pub fn from_number(number: u32) -> Option<ExitCode> {
        ExitCode::ALL.get(number as usize).copied()
    }
}

/// What a guest asks the host for, as numbers: the functions that CUDA's driver provides to device code.
///
/// The arguments of a lane are 64-bit words in the last [`SERVICE_BYTES`] of its local memory, and the result takes the
/// place of the first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u32)]
pub enum Service {
    /// `vprintf(format, arguments)`, with the generic addresses of both.
    Print = 0,
    /// `malloc(bytes)`
    Allocate = 1,
    /// `free(address)`
    Free = 2,
    /// `__assertfail(expression, file, line, function, bytes of a character)`
    AssertFail = 3,
    /// `cudaGraphSetConditional(handle, value)`: the handle is the address of the value's 32 bits.
    SetConditional = 4,
}

impl Service {
    pub const ALL: [Service; 5] = [
        Service::Print,
        Service::Allocate,
        Service::Free,
        Service::AssertFail,
        Service::SetConditional,
    ];

    pub fn from_number(number: u32) -> Option<Service> {
        Service::ALL.get(number as usize).copied()
    }
}

/// Where a lane's arguments of a [`Service`] are: so many bytes at the end of its local memory.
pub const SERVICE_BYTES: u32 = 64;

/// `WarpContext::barrier_kind` as numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u32)]
pub enum BarrierKind {
    /// Wait until `barrier_threads` have arrived.
    Sync = 0,
    /// Arrive and go on.
    Arrive = 1,
    /// As `Sync`; `barrier_result` is then the number of arriving lanes whose predicate is set, ...
    Popcount = 2,
    /// ... 1 if it is set in all of them, else 0, ...
    And = 3,
    /// ... 1 if it is set in one of them, else 0.
    Or = 4,
    /// Where lanes are counted ([`BarrierCounts::Lanes`]) and no barrier is named: the lanes of `barrier_mask` have exited, ...
    Exit = 5,
    /// ... the warp has nothing to do until lanes of it are released, ...
    Wait = 6,
    /// ... it asks for those that are.
    Poll = 7,
    /// The barrier of a cluster, which is one block, has no number and counts all warps that have not exited: arrive and go on, ...
    ClusterArrive = 8,
    /// ... wait until all have arrived, if not all have since this warp did.
    ClusterWait = 9,
}

impl BarrierKind {
    pub const ALL: [BarrierKind; 10] = [
        BarrierKind::Sync,
        BarrierKind::Arrive,
        BarrierKind::Popcount,
        BarrierKind::And,
        BarrierKind::Or,
        BarrierKind::Exit,
        BarrierKind::Wait,
        BarrierKind::Poll,
        BarrierKind::ClusterArrive,
        BarrierKind::ClusterWait,
    ];

    /// Whether lanes wait for others, and not only tell that they were there.
    pub const fn waits(self) -> bool {
        matches!(
            self,
            BarrierKind::Sync | BarrierKind::Popcount | BarrierKind::And | BarrierKind::Or
        )
    }

    /// Whether it has a result.
    pub const fn reduces(self) -> bool {
        matches!(self, BarrierKind::Popcount | BarrierKind::And | BarrierKind::Or)
    }

    pub fn from_number(number: u32) -> Option<BarrierKind> {
        BarrierKind::ALL.get(number as usize).copied()
    }
}

/// What a barrier counts, `WarpContext::barrier_counts` as numbers. Warps and lanes that come to barriers of one number do not meet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u32)]
pub enum BarrierCounts {
    /// A warp arrives once, whatever lanes are active, and waits as a whole. Thread counts are rounded up to warps.
    Warps = 0,
    /// Each lane of `barrier_mask` arrives and waits by itself, while the warp runs on with others: the engine is called again at
    /// `resume`, with the lanes that have been released in `barrier_released`. When all lanes of the warp wait, the call comes when
    /// some are released. Thread counts are exact; a barrier of all threads does not wait for lanes that have exited
    /// ([`BarrierKind::Exit`], or their warp is done).
    Lanes = 1,
}

/// Named barriers of a block.
pub const BARRIERS: usize = 16;

/// Room behind shared memory: an access in vectors that starts in it stays in the allocation, and lanes that take no part in
/// a store write there.
pub const SHARED_PADDING: u64 = 128;

/// Room behind a warp's local memory, if it has any: a vector of lanes that begins in its last row, and the words of lanes that take
/// no part in a store (32 of a lane, each in a row of 64 lanes), stay in the allocation.
pub const LOCAL_PADDING: u64 = 32 * 64 * 4;

/// State of the running warp. Compiled code reads and writes it by offset ([`offsets`]).
///
/// What pointers and their bounds rest on is the scheduler's: others read it, and only compiled code writes it. A context is valid
/// during a call of the engine only: its lifetime is one that no other context has, so that safe code can neither keep it nor put
/// another in its place:
///
/// ```compile_fail
/// use warploom_runtime::warp::WarpContext;
///
/// fn swap<'a, 'b>(one: &mut WarpContext<'a>, other: &mut WarpContext<'b>) {
///     std::mem::swap(one, other);
/// }
/// ```
#[repr(C)]
pub struct WarpContext<'launch> {
    // Fields that each warp has for its own, in the order of `Turn`'s.
    /// The register file, 64-byte aligned, laid out by the engine's side.
    pub(crate) registers: *mut u8,
    /// Bytes at `registers`.
    pub(crate) register_bytes: u64,
    /// This warp's local memory, word-interleaved: byte `o` of lane `l` lies at
    /// `(o & !3) * lanes + l * 4 + (o & 3)`. Behind it are [`LOCAL_PADDING`] bytes, unless it is empty.
    pub(crate) local: *mut u8,
    /// Lanes of this warp that exist.
    pub(crate) launch_mask: u64,
    /// After a call that ended at a barrier with [`BarrierCounts::Lanes`]: the lanes that the next released barrier hands back, whose
    /// result is `barrier_result`; 0: none so far.
    pub barrier_released: u64,
    /// Index of the warp in its block.
    pub(crate) warp: u32,
    /// No two warps of a launch have the same while both are alive. Less than `LaunchConfig::warp_slots`.
    pub(crate) slot: u32,
    pub barrier_result: u32,
    pub(crate) tlb: *mut Tlb,
    /// The block's shared memory, and behind it [`SHARED_PADDING`] bytes.
    pub(crate) shared: *mut u8,
    pub(crate) shared_bytes: u64,
    /// Per lane; a multiple of 4.
    pub(crate) local_bytes: u64,
    pub(crate) constants: [*const u8; CONST_BANKS],
    /// `tid_table[axis * tid_stride + linear]`: thread index of the lane with this linear index in the block. The table has
    /// room for the last, short warp.
    pub(crate) tid_table: *const u32,
    pub(crate) tid_stride: u64,
    pub(crate) ctaid: [u32; 3],
    pub(crate) ntid: [u32; 3],
    pub(crate) nctaid: [u32; 3],
    /// Chaining: a warp that is done is followed, in the same call and register file, by warp `warp + 1` from block 0
    /// while that is less than `chain_end`. A call that returns for another reason does so with `warp` saying whose
    /// state it is.
    pub(crate) chain_end: u32,
    /// Chaining of blocks: when all warps of a block are done, an engine may go on with the blocks after it along x, whose
    /// `ctaid[0]` is less than `row_end`. Shared memory is not cleared in between. A call returns with `ctaid` saying which
    /// block it came to; those before it are done.
    pub(crate) row_end: u32,
    /// `launch_mask` of the block's last warp; all others have all lanes. The engine updates `launch_mask` when it chains.
    pub(crate) last_launch_mask: u64,
    /// Warps in the block.
    pub(crate) warps: u32,
    /// Lanes of a warp.
    pub(crate) lanes: u32,
    /// Block number to enter at (0 for a fresh warp), and where to resume after a barrier or a yield.
    pub resume: u32,
    pub barrier_kind: u32,
    pub barrier_id: u32,
    /// 0: all threads of the block.
    pub barrier_threads: u32,
    pub barrier_predicate: u64,
    /// Guest instructions counted (by this worker thread), and the same times active lanes; both count a block at its entry.
    pub instructions: u64,
    pub lane_instructions: u64,
    /// An entry that would make `instructions` greater is the fault `BudgetExceeded` at the block's pc, not counted.
    pub instruction_limit: u64,
    /// Backward jumps left before the warp must yield; the scheduler sets it before each call.
    pub back_edges: u64,
    pub indirect_pc: u64,
    pub fault: FaultRecord,
    /// Calls of out-of-line helpers, and instructions that the interpreter executed.
    pub helper_calls: u64,
    pub interp_instructions: u64,
    /// What the engine has in memory during a call: nobody else reads or writes it.
    pub engine: Area<ENGINE_WORDS>,
    /// The thread's view of guest memory, for the slow paths.
    pub(crate) memory: *const crate::memory::Memory,
    /// Lanes that arrive at the barrier. The scheduler sets all bits before each call and ignores bits outside
    /// `launch_mask`; an engine narrows it to the active lanes for the reducing kinds, and where lanes are counted.
    pub barrier_mask: u64,
    /// How many an engine needs that returns [`ExitCode::Grow`].
    pub register_bytes_wanted: u64,
    /// [`Service`] as a number, and the lanes that ask for it.
    pub service: u32,
    pub service_lanes: u64,
    /// Lowest generic address of the 16 MiB shared window and local window (see [`crate::window::Windows`]).
    pub(crate) shared_window: u64,
    pub(crate) local_window: u64,
    /// [`BarrierCounts`] as a number; the scheduler sets [`BarrierCounts::Warps`] before each call.
    pub barrier_counts: u32,
    /// The running warp and the others of its block, if it has been suspended: an engine goes on with the next one
    /// ([`WarpContext::pass_on`]).
    pub(crate) step: Step,
    /// Makes the lifetime invariant.
    pub(crate) launch: PhantomData<fn(&'launch ()) -> &'launch ()>,
}

/// Where compiled code finds the fields of a [`WarpContext`], in bytes.
pub mod offsets {
    use std::mem::offset_of;

    use super::WarpContext;
    use crate::launch::Turn;

    macro_rules! offsets {
        ($($name:ident = $($field:ident).+;)*) => {
            $(pub const $name: i32 = offset_of!(WarpContext<'static>, $($field).+) as i32;)*
        };
    }

    offsets! {
        REGISTERS = registers;
        TLB = tlb;
        SHARED = shared;
        SHARED_BYTES = shared_bytes;
        LOCAL = local;
        LOCAL_BYTES = local_bytes;
        CONSTANTS = constants;
        TID_TABLE = tid_table;
        TID_STRIDE = tid_stride;
        LAUNCH_MASK = launch_mask;
        LAST_LAUNCH_MASK = last_launch_mask;
        CTAID = ctaid;
        NTID = ntid;
        NCTAID = nctaid;
        WARP = warp;
        WARPS = warps;
        CHAIN_END = chain_end;
        ROW_END = row_end;
        RESUME = resume;
        BARRIER_KIND = barrier_kind;
        BARRIER_ID = barrier_id;
        BARRIER_THREADS = barrier_threads;
        BARRIER_PREDICATE = barrier_predicate;
        BARRIER_MASK = barrier_mask;
        BARRIER_RESULT = barrier_result;
        BARRIER_COUNTS = barrier_counts;
        BARRIER_RELEASED = barrier_released;
        SLOT = slot;
        INSTRUCTIONS = instructions;
        LANE_INSTRUCTIONS = lane_instructions;
        INSTRUCTION_LIMIT = instruction_limit;
        BACK_EDGES = back_edges;
        INDIRECT_PC = indirect_pc;
        SERVICE = service;
        SERVICE_LANES = service_lanes;
        FAULT_KIND = fault.kind;
        FAULT_LANE = fault.lane;
        FAULT_PC = fault.pc;
        FAULT_ADDRESS = fault.address;
        SHARED_WINDOW = shared_window;
        LOCAL_WINDOW = local_window;
        ENGINE = engine;
        TURN = step.turn;
        LAST_TURN = step.last;
        TURN_BARRIER = step.barrier;
        TURN_BEGAN = step.turn_began;
        TURN_BACK_EDGES = step.back_edges;
    }

    /// Bytes from a turn to the next in the table that [`TURN`] and [`LAST_TURN`] point into. Its first [`TURN_OWN_BYTES`] are those of
    /// the context from [`REGISTERS`] on.
    pub const TURN_BYTES: i32 = size_of::<Turn>() as i32;
    pub const TURN_OWN_BYTES: i32 = offset_of!(Turn, barrier_result) as i32 + 4;
    /// In a turn, an `i64`: the block to go on at, and in the upper half whether the warp has come to a barrier.
    pub const TURN_END: i32 = offset_of!(Turn, end) as i32;
    /// For a block to go on at: the warp is done.
    pub const TURN_DONE: u32 = crate::launch::DONE;
    /// [`TURN_BARRIER`] if no warp has come to one in this round; else it is the barrier's number.
    pub const NO_BARRIER: u32 = crate::launch::NO_BARRIER;
    pub const TURN_REGISTER_BYTES: i32 = offset_of!(Turn, register_bytes) as i32;

    macro_rules! alike {
        ($($field:ident)*) => {
            $(const _: () = assert!(
                offset_of!(WarpContext<'static>, $field) - offset_of!(WarpContext<'static>, registers)
                    == offset_of!(Turn, $field)
            );)*
        };
    }

    alike! {
        registers register_bytes local launch_mask barrier_released warp slot barrier_result
    }
}
