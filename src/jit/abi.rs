//! How JIT code and Rust meet: field offsets, exit codes, and the out-of-line helpers.

use std::mem::offset_of;

use warploom_runtime::warp::WarpContext;

/// An entry of a region: the context and the block to enter at, to an exit code.
pub type Entry = unsafe extern "C" fn(*mut WarpContext, u32) -> u32;

/// Exit code beside `ExitCode`: go on at `WarpContext::resume`, in another region.
pub const CONTINUE: u32 = 64;
/// The same, in code of [`super::Effort::Quick`] up to where that leaves the region: it keeps lanes in lockstep.
pub const CAREFUL: u32 = 65;

macro_rules! offsets {
    ($($name:ident = $($field:ident).+;)*) => {
        $(pub const $name: i32 = offset_of!(WarpContext, $($field).+) as i32;)*
    };
}

offsets! {
    REGISTERS = registers;
    TLB = tlb;
    SHARED = shared;
    SHARED_BYTES = shared_bytes;
    LOCAL = local;
    LOCAL_BYTES = local_bytes;
    SHARED_WINDOW = shared_window;
    LOCAL_WINDOW = local_window;
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
    SCRATCH = scratch;
    REST = rest;
    STRIPS = strips;
}
