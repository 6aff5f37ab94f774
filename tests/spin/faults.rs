//! Launches in which no block can go on, and launches that only look deadlocked.

use warploom::EngineKind;
use warploom_runtime::fault::FaultKind;

use crate::support::{Case, module};

/// Block 0 waits for block 1, and block 1 for block 0.
const BOTH: &str = "
    xor.b32 %r2, %c, 1;
    mul.wide.u32 %d1, %r2, 4;
    add.u64 %d1, %a, %d1;
wait:
    ld.volatile.global.u32 %r1, [%d1];
    setp.eq.u32 %p2, %r1, 0;
    @%p2 bra wait;
    mul.wide.u32 %d1, %c, 4;
    add.u64 %d1, %a, %d1;
    st.volatile.global.u32 [%d1], 1;";

#[test]
fn blocks_that_wait_for_each_other_are_a_deadlock() {
    let line =
        module("sm_80", BOTH).lines().position(|line| line.contains("ld.volatile")).unwrap() + 1;
    for cooperative in [false, true] {
        Case { cooperative, ..Case::new(BOTH, 2, 32) }.check_fault(|fault| {
            let text = fault.to_string();
            assert_eq!(
                (fault.kind(), fault.fault.block, fault.fault.warp),
                (FaultKind::Deadlock, [0; 3], 0),
                "{text}"
            );
            assert!(
                text.contains(&format!("line {line}")) && text.contains("2 blocks wait"),
                "{text}"
            );
        });
    }
}

/// Proves that the fault names the lowest block that waits: block 0 is done.
#[test]
fn a_deadlock_names_the_lowest_block_that_waits() {
    let body = "
    setp.eq.u32 %p1, %c, 0;
    @%p1 ret;
    setp.ne.u32 %p3, %t, 40;
    @%p3 bra done;
wait:
    atom.global.cas.b32 %r1, [%a], 1, 2;
    setp.eq.u32 %p2, %r1, 0;
    @%p2 bra wait;
done:
    bar.sync 0;";
    Case::new(body, 5, 64).check_fault(|fault| {
        let text = fault.to_string();
        assert_eq!(
            (fault.kind(), fault.fault.block, fault.fault.warp),
            (FaultKind::Deadlock, [1, 0, 0], 1),
            "{text}"
        );
        assert!(text.contains("4 blocks wait"), "{text}");
    });
}

/// Proves that a grid barrier deadlocks if block 7 leaves before the other blocks reach
/// `grid.sync()`.
#[test]
fn a_block_that_is_missing_at_a_grid_barrier_is_a_deadlock() {
    let text = include_str!("grid_sync.sm_80.ptx");
    let leave = "{\n.reg .pred %q;\n.reg .b32 %z;\nmov.u32 %z, %ctaid.x;\nsetp.eq.u32 %q, %z, 7;\n@%q ret;\n}\n";
    let (before, after) = text.split_at(text.find("\tld.param").unwrap());
    let text = [before, leave, after].concat();
    let waits = |line: &str| line.contains("ld.acquire");
    let line = text.lines().position(waits).unwrap() + 1;
    Case { text, blocks: 20, lanes: 96, cooperative: true }.check_fault(|fault| {
        let text = fault.to_string();
        assert_eq!((fault.kind(), fault.fault.block), (FaultKind::Deadlock, [0; 3]), "{text}");
        assert!(
            text.contains(&format!("line {line}:")) && text.contains("19 blocks wait"),
            "{text}"
        );
    });
}

#[test]
fn a_single_block_may_be_a_deadlock() {
    Case::new(BOTH, 1, 1)
        .check_fault(|fault| assert_eq!(fault.kind(), FaultKind::Deadlock, "{fault}"));
}

/// Proves that lanes before sm_70 can deadlock: lanes of a warp wait where their paths meet.
#[test]
fn old_lanes_that_wait_for_lanes_are_a_deadlock() {
    let body = "
    setp.ne.u32 %p1, %t, 0;
    @%p1 bra set;
wait:
    ld.volatile.global.u32 %r1, [%a];
    setp.eq.u32 %p2, %r1, 0;
    @%p2 bra wait;
    bra.uni done;
set:
    st.volatile.global.u32 [%a], 5;
done:";
    let fault = |target: &str| {
        let case = Case { text: module(target, body), ..Case::new(body, 1, 2) };
        case.run(EngineKind::Jit, 1, 1).0.fault.map(|fault| fault.kind())
    };
    assert_eq!([fault("sm_60"), fault("sm_70")], [Some(FaultKind::Deadlock), None]);
}

/// Proves that a wait for the clock ends: the loop's registers repeat, but the clock advances.
#[test]
fn a_wait_for_the_clock_ends() {
    let body = "
    mov.u64 %d1, %clock64;
wait:
    mov.u64 %d2, %clock64;
    sub.u64 %d2, %d2, %d1;
    setp.lt.u64 %p1, %d2, 2000000;
    @%p1 bra wait;
    atom.global.add.u32 %r1, [%a], 1;";
    for blocks in [1, 2] {
        Case::new(body, blocks, 1).check(&[blocks]);
    }
}

/// Proves that a loop with a counter in memory ends, though its registers repeat.
#[test]
fn a_count_in_memory_ends() {
    for (space, address) in [("global", "%a+4"), ("shared", "word"), ("local", "slot")] {
        let body = format!(
            "st.{space}.u32 [{address}], 0;
wait:
    ld.volatile.{space}.u32 %r1, [{address}];
    add.u32 %r1, %r1, 1;
    st.volatile.{space}.u32 [{address}], %r1;
    setp.lt.u32 %p1, %r1, 200000;
    @%p1 bra wait;
    st.global.u32 [%a], %r1;"
        )
        .replace("volatile.local", "local");
        Case::new(&body, 1, 1).check(&[200_000]);
    }
}

/// Proves that the launch ends with a block's fault, although other blocks wait for that block.
#[test]
fn a_fault_of_a_block_that_others_wait_for() {
    let body = "
    setp.eq.u32 %p1, %c, 2;
    @%p1 trap;
wait:
    ld.volatile.global.u32 %r1, [%a];
    setp.eq.u32 %p2, %r1, 0;
    @%p2 bra wait;";
    Case::new(body, 4, 32).check_fault(|fault| {
        assert_eq!((fault.kind(), fault.fault.block), (FaultKind::Trap, [2, 0, 0]), "{fault}");
    });
}
