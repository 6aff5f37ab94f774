//! Complaints of users about checkers of GPU programs, false alarms and missed mistakes, as tests.
//! Each names the complaint: the project and the number of the issue, or the paper.

use warploom::{
    Allocation, Allocations, Arg, Checks, EngineKind, Finding, LaunchOptions, MemoryKind, Mistake,
    Program,
};

/// Numbers in the buffer `out`, which begins as zeros.
const NUMBERS: u64 = 256;

/// Returns PTX with a kernel: its GPU, its shared memory, and its statements. `%t` has the thread,
/// `%b` the block, `%o` the address of the buffer, `%e` the address of the thread's element.
fn kernel(sm: u32, shared: &str, body: &str) -> String {
    format!(
        "
.version 8.3
.target sm_{sm}
.address_size 64
.visible .entry k(.param .u64 out)
{{
    {shared}
    .reg .b32 %t, %b, %n, %r<16>; .reg .f32 %f<4>; .reg .b64 %o, %e, %d<8>; .reg .pred %p<4>;
    ld.param.u64 %o, [out];
    mov.u32 %t, %tid.x;
    mov.u32 %b, %ctaid.x;
    mov.u32 %n, %ntid.x;
    mad.lo.u32 %r15, %b, %n, %t;
    mul.wide.u32 %e, %r15, 4;
    add.u64 %e, %o, %e;
    {body}
    ret;
}}
"
    )
}

/// Returns the findings of all checks, which both engines must agree on.
fn findings(text: &str, blocks: u32, threads: u32) -> Vec<Finding> {
    let on = |engine| {
        let program = Program::load(text.as_bytes(), None).unwrap();
        let memory = program.memory();
        let bytes = 4 * NUMBERS;
        let address = memory.alloc(bytes, 1).unwrap();
        memory.write(address, &vec![0; bytes as usize]).unwrap();
        let out = Allocation { name: "out".into(), address, bytes };
        let allocations = Allocations { live: vec![out], ..Allocations::default() };
        let shape = LaunchOptions::new([blocks, 1, 1], [threads, 1, 1]);
        let options = LaunchOptions { engine, ..shape };
        let kernel = program.only_kernel().unwrap();
        let args = [Arg::pointer(address)];
        let checked = kernel.launch_checked(&args, &options, Checks::ALL, &allocations).unwrap();
        assert_eq!(checked.outcome.fault, None);
        checked.findings
    };
    let [jit, interp] = [EngineKind::Jit, EngineKind::Interp].map(on);
    assert_eq!(jit, interp);
    jit
}

#[track_caller]
fn is_clean(text: &str, blocks: u32, threads: u32) {
    let found = findings(text, blocks, threads);
    assert!(found.is_empty(), "{}", found[0]);
}

#[track_caller]
fn has_race(text: &str, blocks: u32, threads: u32, memory: MemoryKind) {
    let found = findings(text, blocks, threads);
    let is_race =
        |one: &Finding| matches!(one.mistake, Mistake::Race { .. }) && one.memory == memory;
    assert!(found.iter().any(is_race), "{found:?}");
}

/// Oclgrind 210: one item alone stores and loads, in a loop and in branches, and is said to race
/// with items that do nothing.
#[test]
fn one_thread_alone_does_not_race() {
    let body = "
    setp.ne.u32 %p0, %t, 0;
    mov.u32 %r0, 0;
LOOP:
    @%p0 bra NEXT;
    st.shared.u32 [s], %r0;
    ld.shared.u32 %r1, [s];
    st.global.u32 [%o], %r1;
NEXT:
    add.u32 %r0, %r0, 1;
    setp.lt.u32 %p1, %r0, 3;
    @%p1 bra LOOP;
    @%p0 bra DONE;
    ld.shared.u32 %r2, [s];
    st.global.u32 [%o+4], %r2;
DONE:";
    for sm in [50, 80] {
        is_clean(&kernel(sm, ".shared .align 4 .b32 s;", body), 1, 96);
    }
}

/// Oclgrind 159: barriers around accesses to global memory order them in a block; with two blocks,
/// the report that was called a false alarm is right.
#[test]
fn barriers_order_global_memory_in_a_block_only() {
    let body = "
    setp.ne.u32 %p0, %t, 0;
    bar.sync 0;
    ld.global.u32 %r0, [%o];
    bar.sync 0;
    @%p0 bra DONE;
    add.u32 %r0, %r0, 1;
    st.global.u32 [%o], %r0;
DONE:";
    is_clean(&kernel(50, "", body), 1, 96);
    has_race(&kernel(50, "", body), 2, 96, MemoryKind::Global);
}

/// Oclgrind 155: a float is added by a volatile load and compare and swap.
#[test]
fn volatile_loads_do_not_race_with_compare_and_swap() {
    let body = "
    setp.ne.u32 %p0, %t, 0;
    @%p0 bra MET;
    mov.u32 %r0, 0;
    st.shared.u32 [s], %r0;
MET:
    bar.sync 0;
AGAIN:
    ld.volatile.shared.f32 %f0, [s];
    add.f32 %f1, %f0, 0f3f800000;
    mov.b32 %r1, %f0;
    mov.b32 %r2, %f1;
    atom.shared.cas.b32 %r3, [s], %r1, %r2;
    setp.ne.u32 %p1, %r3, %r1;
    @%p1 bra AGAIN;
    bar.sync 0;
    ld.shared.u32 %r4, [s];
    st.global.u32 [%e], %r4;";
    let text = kernel(50, ".shared .align 4 .b32 s;", body);
    is_clean(&text, 2, 96);
    has_race(&text.replace("ld.volatile", "ld"), 2, 96, MemoryKind::Shared);
}

/// Kokkos 6217, gunrock 844: steps within a warp, without barriers, are right where warps run in
/// lock step, and so are steps with barriers of the warp where they do not.
#[test]
fn steps_of_a_warp_need_no_barrier_of_the_block() {
    let steps = |meet: &str| {
        format!(
            "
    shl.b32 %r0, %t, 2;
    mov.u32 %r1, s;
    add.u32 %r0, %r0, %r1;
    st.shared.u32 [%r0], %t;
    setp.ge.u32 %p0, %t, 16;
    {meet}
    @%p0 bra DONE;
    ld.shared.u32 %r2, [%r0+64];
    st.shared.u32 [%r0], %r2;
DONE:
    {meet}
    ld.shared.u32 %r3, [s];
    st.global.u32 [%e], %r3;"
        )
    };
    let shared = ".shared .align 4 .b8 s[128];";
    is_clean(&kernel(50, shared, &steps("")), 2, 32);
    is_clean(&kernel(80, shared, &steps("bar.warp.sync 0xffffffff;")), 2, 32);
    has_race(&kernel(80, shared, &steps("")), 2, 32, MemoryKind::Shared);
}

/// flash-attention, "compute-sanitizer racecheck hazard with cp.async.bulk": one warp copies in bulk
/// to shared memory in a loop, another waits at a barrier in memory.
#[test]
fn bulk_copies_are_ordered_by_their_barrier() {
    let body = "
    setp.ne.u32 %p0, %t, 0;
    @%p0 bra MADE;
    mbarrier.init.shared.b64 [full], 1;
    mbarrier.init.shared.b64 [free], 32;
MADE:
    bar.sync 0;
    mov.u32 %r0, 0;
    setp.ge.u32 %p1, %t, 32;
    cvta.to.global.u64 %d0, %o;
LOOP:
    and.b32 %r1, %r0, 1;
    @%p1 bra USE;
    @%p0 bra NEXT;
    xor.b32 %r2, %r1, 1;
FREE:
    mbarrier.try_wait.parity.shared.b64 %p2, [free], %r2;
    @!%p2 bra FREE;
    mbarrier.arrive.expect_tx.shared.b64 %d1, [full], 128;
    cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [s], [%d0], 128, [full];
    bra NEXT;
USE:
    mbarrier.try_wait.parity.shared.b64 %p2, [full], %r1;
    @!%p2 bra USE;
    sub.u32 %r3, %t, 32;
    shl.b32 %r3, %r3, 2;
    mov.u32 %r4, s;
    add.u32 %r3, %r3, %r4;
    ld.shared.u32 %r5, [%r3];
    mbarrier.arrive.shared.b64 %d1, [free];
NEXT:
    add.u32 %r0, %r0, 1;
    setp.lt.u32 %p3, %r0, 4;
    @%p3 bra LOOP;";
    let shared = ".shared .align 128 .b8 s[128]; .shared .align 8 .b64 full, free;";
    let text = kernel(90, shared, body);
    is_clean(&text, 1, 64);
    // Without the wait for the copy, there is a race. (More rounds would wait for ever.)
    let wait = "mbarrier.try_wait.parity.shared.b64 %p2, [full], %r1;\n    @!%p2 bra USE;";
    assert!(text.contains(wait));
    let text = text.replace(wait, "");
    let text = text.replace("%p3, %r0, 4", "%p3, %r0, 1");
    has_race(&text, 1, 64, MemoryKind::Shared);
}

/// algolocal 67: a simulator with a fixed order of warps gives right results, so that a missing
/// barrier hides; and blocks that it runs one after the other seem ordered.
#[test]
fn the_order_of_warps_and_blocks_here_hides_nothing() {
    let body = "
    shl.b32 %r0, %t, 2;
    mov.u32 %r1, s;
    add.u32 %r0, %r0, %r1;
    st.shared.u32 [%r0], %t;
    mov.u32 %r2, %t;
    setp.lt.u32 %p0, %t, 32;
    @%p0 bra MET;
    ld.shared.u32 %r2, [%r0+-128];
MET:
    st.global.u32 [%e], %r2;";
    has_race(&kernel(50, ".shared .align 4 .b8 s[256];", body), 1, 64, MemoryKind::Shared);
    let body = "
    setp.eq.u32 %p0, %b, 0;
    @%p0 bra FIRST;
    ld.global.u32 %r0, [%o];
    st.global.u32 [%e], %r0;
    bra DONE;
FIRST:
    st.global.u32 [%e], %t;
DONE:";
    has_race(&kernel(50, "", body), 2, 32, MemoryKind::Global);
}

/// Jacobson, Burtscher, Gopalakrishnan, "HiRace" (2024): checkers that look at shared memory only,
/// and do not know scopes.
#[test]
fn scopes_matter_in_global_memory() {
    let count = |scope: &str| format!("red.relaxed.{scope}.global.add.u32 [%o], 1;");
    is_clean(&kernel(70, "", &count("gpu")), 4, 32);
    is_clean(&kernel(70, "", &count("cta")), 1, 96);
    has_race(&kernel(70, "", &count("cta")), 4, 32, MemoryKind::Global);
}

/// CCCL 1903: shared memory is used a second time, without a barrier after the first use.
#[test]
fn shared_memory_that_is_used_again_needs_a_barrier() {
    let body = |between: &str| {
        format!(
            "
    shl.b32 %r0, %t, 2;
    mov.u32 %r1, s;
    add.u32 %r0, %r0, %r1;
    xor.b32 %r2, %t, 32;
    shl.b32 %r2, %r2, 2;
    add.u32 %r2, %r2, %r1;
    st.shared.u32 [%r0], %t;
    bar.sync 0;
    ld.shared.u32 %r3, [%r2];
    {between}
    st.shared.u32 [%r0], %r3;
    bar.sync 0;
    ld.shared.u32 %r4, [%r2];
    st.global.u32 [%e], %r4;"
        )
    };
    let shared = ".shared .align 4 .b8 s[256];";
    is_clean(&kernel(50, shared, &body("bar.sync 0;")), 2, 64);
    has_race(&kernel(50, shared, &body("")), 2, 64, MemoryKind::Shared);
}

/// Futhark 1097: equal values that several threads store are a race by the rules, which users want
/// to know and to leave out (`tests/checks.rs` has files of known findings). A store of equal values
/// to one address counts once for a warp.
#[test]
fn equal_values_are_reported_once_with_a_count() {
    let found = findings(&kernel(50, "", "st.global.u32 [%o], 1;"), 8, 32);
    let [one] = &found[..] else { panic!("{found:?}") };
    assert!(matches!(one.mistake, Mistake::Race { .. }) && one.count == 7, "{one}");
}

/// compute-sanitizer-samples 14: memory that the host has written is no uninitialised memory.
/// cuOpt 348: nor is the padding of a structure that is copied as a whole.
#[test]
fn memory_of_the_host_is_written() {
    let body = "
    ld.global.u32 %r0, [%e];
    st.global.u32 [%e], %r0;";
    is_clean(&kernel(50, "", body), 2, 64);
    let body = |load: &str| {
        format!(
            "
    st.shared.u8 [s], 1;
    st.shared.u32 [s+4], 2;
    .reg .b64 %w;
    ld.shared.{load};
    st.global.u32 [%e], %r0;"
        )
    };
    let shared = ".shared .align 8 .b8 s[8];";
    is_clean(&kernel(50, shared, &body("u64 %w, [s]")), 1, 1);
    is_clean(&kernel(50, shared, &body("u8 %r0, [s]")), 1, 1);
    let found = findings(&kernel(50, shared, &body("u32 %r0, [s]")), 1, 1);
    assert!(matches!(found[..], [Finding { mistake: Mistake::Unwritten, .. }]), "{found:?}");
}
