//! The engine's view of a warp: [`WarpContext`], which JIT code addresses by field offset.

use std::marker::PhantomData;

use crate::fault::FaultRecord;
use crate::launch::Step;
use crate::observe::Observer;

/// Pages in a [`Tlb`].
pub const TLB_ENTRIES: usize = 256;
/// The number of [`Ways`] for reading in a [`Tlb`], and of [`Ways`] for writing.
pub const RUNS: usize = 64;
/// Binary logarithm of the page size: pages are 64 KiB.
pub const PAGE_BITS: u32 = 16;
pub const PAGE_BYTES: u64 = 1 << PAGE_BITS;
/// The length of every constant bank. Banks are zero-padded, so that a 16-bit offset needs no
/// check.
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

/// An entry of the software TLB.
///
/// An address `a` hits for reading if it lies in the page that begins at `read_tag`, and for
/// writing if it lies in the page at `write_tag`. Its host address is then `a + addend` (wrapping).
/// A tag that stands for no page is [`no_page`].
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct TlbEntry {
    pub read_tag: u64,
    pub write_tag: u64,
    pub addend: u64,
    pub padding: u64,
}

/// Pages that follow each other in guest and in host memory.
///
/// An access at `a`, within the `bytes` bytes from `first` on, is at the host address `a + addend`
/// (wrapping).
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Run {
    pub first: u64,
    /// 0 if no run is known yet.
    pub bytes: u64,
    pub addend: u64,
}

impl Run {
    pub const EMPTY: Run = Run { first: 0, bytes: 0, addend: 0 };

    pub const fn holds(&self, address: u64) -> bool {
        address.wrapping_sub(self.first) < self.bytes
    }
}

/// The runs of an instruction, beginning with the run that it used last.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Ways {
    pub runs: [Run; 2],
    /// The number of accesses that lay in neither run.
    pub misses: u64,
    padding: u64,
}

impl Ways {
    pub const EMPTY: Ways = Ways { runs: [Run::EMPTY; 2], misses: 0, padding: 0 };
}

/// A worker thread's cache of host addresses.
///
/// The pages are direct mapped: [`tlb_slot`] gives the slot of a page number. An instruction whose
/// lanes are scattered over pages has [`Ways`] of its own, or shares them with few other
/// instructions.
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

/// Returns the slot of a page number, hashed so that power-of-two strides do not conflict.
pub const fn tlb_slot(page: u64) -> usize {
    ((page ^ (page >> 8)) & (TLB_ENTRIES as u64 - 1)) as usize
}

/// Returns the tag that stands for no page in a slot: a page that is never looked up in the slot.
///
/// The page's neighbours are not looked up in the slot either. So code that looked up one address
/// may compare nearby addresses with the tag.
pub const fn no_page(slot: usize) -> u64 {
    ((slot ^ (TLB_ENTRIES / 2)) as u64) << PAGE_BITS
}

/// Why an engine returned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum ExitCode {
    /// The warp is done.
    Done = 0,
    /// The warp waits at the barrier in `WarpContext::barrier_*`, and goes on at `resume`.
    Barrier = 1,
    /// The warp gave up its turn after a bounded number of back edges, and goes on at `resume`.
    Yield = 2,
    /// The warp faulted. `WarpContext::fault` holds the record.
    Fault = 3,
    /// The warp jumped indirectly to the pc in `indirect_pc`, for which the function has no block.
    UnknownPc = 4,
    /// The warp asks the host for the service in `WarpContext::service`, and goes on at `resume`.
    Service = 5,
    /// The warp needs a register file of `WarpContext::register_bytes_wanted` bytes. It goes on at
    /// `resume` with the content of the smaller file.
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

/// The functions that CUDA's driver provides to device code, as numbers.
///
/// A lane's arguments are 64-bit words in the last [`SERVICE_BYTES`] of its local memory. The
/// result overwrites the first argument.
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

/// The number of bytes at the end of a lane's local memory for its arguments of a [`Service`].
pub const SERVICE_BYTES: u32 = 64;

/// The operations on barriers: `WarpContext::barrier_kind` as numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u32)]
pub enum BarrierKind {
    /// Wait until `barrier_threads` threads have arrived.
    Sync = 0,
    /// Arrive and go on.
    Arrive = 1,
    /// As `Sync`. `barrier_result` becomes the number of arriving lanes whose predicate is set.
    Popcount = 2,
    /// As `Sync`. `barrier_result` becomes 1 if the predicate is set in all arriving lanes, else 0.
    And = 3,
    /// As `Sync`. `barrier_result` becomes 1 if the predicate is set in an arriving lane, else 0.
    Or = 4,
    /// The lanes of `barrier_mask` have exited. For [`BarrierCounts::Lanes`]; names no barrier.
    Exit = 5,
    /// The warp has nothing to do until lanes of it are released. As `Exit`, names no barrier.
    Wait = 6,
    /// The warp asks for its released lanes. As `Exit`, names no barrier.
    Poll = 7,
    /// Arrive at the barrier of a cluster, and go on.
    ///
    /// A cluster is one block. Its barrier has no number and counts all warps that have not exited.
    ClusterArrive = 8,
    /// Wait at the barrier of a cluster, unless all warps have arrived since this warp arrived.
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

    /// Returns whether lanes that arrive also wait for others.
    pub const fn waits(self) -> bool {
        matches!(
            self,
            BarrierKind::Sync | BarrierKind::Popcount | BarrierKind::And | BarrierKind::Or
        )
    }

    /// Returns whether the operation has a result.
    pub const fn reduces(self) -> bool {
        matches!(self, BarrierKind::Popcount | BarrierKind::And | BarrierKind::Or)
    }

    pub fn from_number(number: u32) -> Option<BarrierKind> {
        BarrierKind::ALL.get(number as usize).copied()
    }
}

/// The units that a barrier counts: `WarpContext::barrier_counts` as numbers.
///
/// A barrier that counts warps and a barrier that counts lanes are distinct even if their numbers
/// are equal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u32)]
pub enum BarrierCounts {
    /// A warp arrives once, whatever lanes are active, and waits as a whole. Thread counts are
    /// rounded up to warps.
    Warps = 0,
    /// Each lane of `barrier_mask` arrives and waits by itself, while the warp runs on with its
    /// other lanes.
    ///
    /// The engine is called again at `resume`, with the released lanes in `barrier_released`. When
    /// all lanes of the warp wait, the call comes when some are released. Thread counts are exact.
    /// A barrier of all threads does not wait for lanes that have exited ([`BarrierKind::Exit`], or
    /// their warp is done).
    Lanes = 1,
}

/// The number of named barriers of a block.
pub const BARRIERS: usize = 16;

/// Bytes of padding behind shared memory.
///
/// A vector access that starts in shared memory stays in the allocation. Inactive lanes of a store
/// write to the padding.
pub const SHARED_PADDING: u64 = 128;

/// Bytes of padding behind a warp's local memory, if it has any.
///
/// A vector of lanes that begins in the last row stays in the allocation. So do the words of
/// inactive lanes of a store (32 of a lane, each in a row of 64 lanes).
pub const LOCAL_PADDING: u64 = 32 * 64 * 4;

/// The state of the running warp. Compiled code reads and writes it by offset ([`offsets`]).
///
/// The scheduler answers for the pointers and their bounds. Other code only reads these fields,
/// except compiled code, which also writes them. A context is valid only during a call of the
/// engine. No other context has its lifetime, so safe code can neither keep it nor swap it for
/// another context:
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
    // The fields that each warp has for itself, in the order of the fields of `Turn`.
    /// The register file, 64-byte aligned. The engine decides its layout.
    pub(crate) registers: *mut u8,
    /// Bytes at `registers`.
    pub(crate) register_bytes: u64,
    /// This warp's local memory, word-interleaved: byte `o` of lane `l` lies at `(o & !3) * lanes +
    /// l * 4 + (o & 3)`. Behind it are [`LOCAL_PADDING`] bytes, unless it is empty.
    pub(crate) local: *mut u8,
    /// Lanes of this warp that exist.
    pub(crate) launch_mask: u64,
    /// The lanes that the next released barrier hands back, with `barrier_result` as their result;
    /// 0 if there are none so far.
    ///
    /// Valid after a call that ended at a barrier with [`BarrierCounts::Lanes`].
    pub barrier_released: u64,
    /// Index of the warp in its block.
    pub(crate) warp: u32,
    /// A number less than `LaunchConfig::warp_slots` that no two warps of a launch share while both
    /// are alive.
    pub(crate) slot: u32,
    pub barrier_result: u32,
    pub(crate) tlb: *mut Tlb,
    /// The block's shared memory, and behind it [`SHARED_PADDING`] bytes.
    pub(crate) shared: *mut u8,
    pub(crate) shared_bytes: u64,
    /// Bytes of a lane's local memory, a multiple of 4.
    pub(crate) local_bytes: u64,
    pub(crate) constants: [*const u8; CONST_BANKS],
    /// `tid_table[axis * tid_stride + linear]` is the thread index of the lane with this linear
    /// index in the block. The table has room for the last, short warp.
    pub(crate) tid_table: *const u32,
    pub(crate) tid_stride: u64,
    pub(crate) ctaid: [u32; 3],
    pub(crate) ntid: [u32; 3],
    pub(crate) nctaid: [u32; 3],
    /// The warp index at which the chain ends.
    ///
    /// When a warp is done, warp `warp + 1` follows from block 0, in the same call and register
    /// file, if that index is less than `chain_end`. If the call returns for another reason, `warp`
    /// is the warp whose state the context has.
    pub(crate) chain_end: u32,
    /// The `ctaid[0]` at which the chain of blocks ends.
    ///
    /// When all warps of a block are done, an engine may go on with the blocks after it along x
    /// whose `ctaid[0]` is less than `row_end`. Shared memory is not cleared in between. When the
    /// call returns, `ctaid` is the block that the engine reached; the blocks before it are done.
    pub(crate) row_end: u32,
    /// `launch_mask` of the block's last warp. All other warps have all lanes. The engine updates
    /// `launch_mask` when it chains.
    pub(crate) last_launch_mask: u64,
    /// Warps in the block.
    pub(crate) warps: u32,
    /// Lanes of a warp.
    pub(crate) lanes: u32,
    /// The number of the block to enter at: 0 for a fresh warp, else where to resume after a
    /// barrier or a yield.
    pub resume: u32,
    pub barrier_kind: u32,
    pub barrier_id: u32,
    /// The threads that the barrier awaits; 0 stands for all threads of the block.
    pub barrier_threads: u32,
    pub barrier_predicate: u64,
    /// Guest instructions that this worker thread counted. `lane_instructions` counts each once per
    /// active lane. Both count a block at its entry.
    pub instructions: u64,
    pub lane_instructions: u64,
    /// The limit of `instructions`. The entry of a block that would exceed the limit is the fault
    /// `BudgetExceeded` at the block's pc, and is not counted.
    pub instruction_limit: u64,
    /// Backward jumps left before the warp must yield; the scheduler sets it before each call.
    pub back_edges: u64,
    pub indirect_pc: u64,
    pub fault: FaultRecord,
    /// Calls of out-of-line helpers, and instructions that the interpreter executed.
    pub helper_calls: u64,
    pub interp_instructions: u64,
    /// The engine's memory during a call. Nothing else reads or writes it.
    pub engine: Area<ENGINE_WORDS>,
    /// The thread's view of guest memory, for the slow paths.
    pub(crate) memory: *const crate::memory::Memory,
    /// Lanes that arrive at the barrier.
    ///
    /// The scheduler sets all bits before each call and ignores bits outside `launch_mask`. An
    /// engine narrows the mask to the active lanes for the reducing kinds, and for barriers that
    /// count lanes.
    pub barrier_mask: u64,
    /// The bytes of registers that an engine needs when it returns [`ExitCode::Grow`].
    pub register_bytes_wanted: u64,
    /// The requested [`Service`] as a number. The lanes of `service_lanes` request it.
    pub service: u32,
    pub service_lanes: u64,
    /// Lowest generic address of the 16 MiB shared window and local window (see
    /// [`crate::window::Windows`]).
    pub(crate) shared_window: u64,
    pub(crate) local_window: u64,
    /// [`BarrierCounts`] as a number; the scheduler sets [`BarrierCounts::Warps`] before each call.
    pub barrier_counts: u32,
    /// The suspended warps of the running warp's block, if the running warp is one of them. An
    /// engine goes on with the next warp ([`WarpContext::pass_on`]).
    pub(crate) step: Step,
    pub(crate) observer: Option<&'launch dyn Observer>,
    /// Makes the lifetime invariant.
    pub(crate) launch: PhantomData<fn(&'launch ()) -> &'launch ()>,
}

/// The byte offsets at which compiled code finds the fields of a [`WarpContext`].
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

    /// Bytes from a turn to the next turn in the table that [`TURN`] and [`LAST_TURN`] point into.
    ///
    /// The first [`TURN_OWN_BYTES`] of a turn have the layout of the context's bytes from
    /// [`REGISTERS`] on.
    pub const TURN_BYTES: i32 = size_of::<Turn>() as i32;
    pub const TURN_OWN_BYTES: i32 = offset_of!(Turn, barrier_result) as i32 + 4;
    /// The offset in a turn of an `i64`: its lower half is the block to go on at, its upper half
    /// says whether the warp has come to a barrier.
    pub const TURN_END: i32 = offset_of!(Turn, end) as i32;
    /// The block to go on at of a warp that is done.
    pub const TURN_DONE: u32 = crate::launch::DONE;
    /// The value at [`TURN_BARRIER`] if no warp has come to a barrier in this round. Else the value
    /// is the barrier's number.
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
