//! The barrier of a cluster of one block: threads arrive and wait separately, on both engines.

use warploom::{Arg, EngineKind, LaunchOptions, LaunchOutcome, Program};
use warploom_runtime::fault::FaultKind;

/// Returns a module with one kernel `k(.u64 out)`, whose threads each leave `%result` in their word
/// of the buffer.
///
/// The body has `%t` (the thread's number in the block), `%w` (its warp's number), shared words
/// `s[32]`, and registers `%r`, `%p`.
fn module(body: &str) -> String {
    format!(
        ".version 8.3\n.target sm_90\n.address_size 64\n\
         .visible .entry k(.param .u64 pout)\n{{\n\
         .shared .align 4 .b8 s[128];\n.reg .b64 %out, %at;\n.reg .b32 %t, %w, %result, %r<16>;\n.reg .pred %p<8>;\n\
         ld.param.u64 %out, [pout];\nmov.u32 %t, %tid.x;\nshr.u32 %w, %t, 5;\nmov.b32 %result, 0;\n{body}\n\
         mad.wide.u32 %at, %t, 4, %out;\nst.global.u32 [%at], %result;\nret;\n}}\n"
    )
}

fn launch(body: &str, threads: u32, engine: EngineKind) -> (LaunchOutcome, Vec<u32>) {
    let text = module(body);
    let program =
        Program::load(text.as_bytes(), None).unwrap_or_else(|error| panic!("{error}\n{text}"));
    let mut bytes = vec![0; 4 * threads as usize];
    let out = program.memory().alloc(bytes.len() as u64, 256).unwrap();
    program.memory().write(out, &bytes).unwrap();
    let options = LaunchOptions {
        engine,
        instruction_limit: Some(1_000_000),
        ..LaunchOptions::new([1, 1, 1], [threads, 1, 1])
    };
    let outcome = program.kernel("k").unwrap().launch(&[Arg::pointer(out)], &options).unwrap();
    program.memory().read(out, &mut bytes).unwrap();
    (outcome, bytes.chunks(4).map(|word| u32::from_le_bytes(word.try_into().unwrap())).collect())
}

fn check(body: &str, threads: u32, expected: impl Fn(u32) -> u32) {
    for engine in [EngineKind::Interp, EngineKind::Jit] {
        let (outcome, words) = launch(body, threads, engine);
        assert!(outcome.fault.is_none(), "{engine}: {}", outcome.fault.unwrap());
        assert_eq!(words, (0..threads).map(&expected).collect::<Vec<_>>(), "{engine}");
    }
}

/// In each of ten rounds a warp writes its word, arrives, and after waiting reads the next warp's
/// word. The words alternate, so that no second barrier is needed.
#[test]
fn what_was_written_before_arriving_is_there_after_waiting() {
    let body = "
        mov.b32 %r1, 0;
        again: and.b32 %r2, %r1, 1; mad.lo.u32 %r3, %w, 2, %r2; shl.b32 %r3, %r3, 2; mov.u32 %r4, s; add.u32 %r3, %r4, %r3;
        mad.lo.u32 %r5, %r1, 100, %w; st.shared.u32 [%r3], %r5;
        barrier.cluster.arrive.release.aligned;
        add.u32 %r6, %w, 1; rem.u32 %r6, %r6, 5; mad.lo.u32 %r6, %r6, 2, %r2; shl.b32 %r6, %r6, 2; add.u32 %r6, %r4, %r6;
        barrier.cluster.wait.acquire.aligned;
        ld.shared.u32 %r7, [%r6]; add.u32 %result, %result, %r7;
        add.u32 %r1, %r1, 1; setp.lt.u32 %p1, %r1, 10; @%p1 bra again;";
    check(body, 150, |t| 100 * 45 + 10 * ((t / 32 + 1) % 5));
}

/// The last warp arrives only after all other warps have arrived and gone on.
#[test]
fn who_arrives_does_not_wait() {
    let body = "
        setp.eq.u32 %p1, %w, 3; @%p1 bra last;
        barrier.cluster.arrive;
        and.b32 %r1, %t, 31; setp.eq.u32 %p2, %r1, 0; @%p2 atom.shared.add.u32 %r2, [s], 1;
        bra.uni both;
        last: ld.volatile.shared.u32 %r3, [s]; setp.lt.u32 %p3, %r3, 3; @%p3 bra last;
        st.shared.u32 [s+4], 7;
        barrier.cluster.arrive.relaxed;
        both: barrier.cluster.wait; ld.shared.u32 %result, [s+4];";
    check(body, 128, |_| 7);
}

/// No warp waits for a warp that has exited: one exits before it arrives, one after.
#[test]
fn who_has_exited_has_arrived() {
    let body = "
        setp.eq.u32 %p1, %w, 0; @%p1 exit;
        barrier.cluster.arrive; setp.eq.u32 %p1, %w, 2; @%p1 exit;
        barrier.cluster.wait; barrier.cluster.arrive; barrier.cluster.wait;
        mov.b32 %result, 1;";
    check(body, 128, |t| u32::from(matches!(t / 32, 1 | 3)));
}

/// Lanes of one warp arrive in both arms of a branch, and wait there.
#[test]
fn lanes_in_both_arms_arrive_once() {
    let body = "
        and.b32 %r1, %t, 31; setp.lt.u32 %p1, %r1, 5; @%p1 bra low;
        barrier.cluster.arrive; st.volatile.shared.u32 [s], %w; barrier.cluster.wait; mov.b32 %result, 1; bra.uni done;
        low: barrier.cluster.arrive.relaxed; barrier.cluster.wait.acquire; mov.b32 %result, 2;
        done:";
    check(body, 96, |t| if t % 32 < 5 { 2 } else { 1 });
}

/// The cluster's barrier is no numbered barrier, and threads arrive at it while numbered barriers
/// are in use.
#[test]
fn numbered_barriers_are_others() {
    let body = "
        barrier.cluster.arrive; bar.sync 15; st.shared.u32 [s], 3; bar.sync 0; barrier.cluster.wait;
        ld.shared.u32 %result, [s];";
    check(body, 64, |_| 3);
    for engine in [EngineKind::Interp, EngineKind::Jit] {
        let (outcome, _) =
            launch("mov.b32 %r1, 16; barrier.sync %r1; mov.b32 %result, 1;", 32, engine);
        assert_eq!(outcome.fault.expect("no such barrier").kind(), FaultKind::IllegalInstruction);
    }
}

#[test]
fn warps_that_wait_for_ever_are_a_fault() {
    let body = "
        setp.eq.u32 %p1, %w, 1; @%p1 bra other;
        barrier.cluster.arrive; barrier.cluster.wait; bra.uni done;
        other: bar.sync 1, 64;
        done:";
    let faults = [EngineKind::Interp, EngineKind::Jit].map(|engine| {
        let fault = launch(body, 64, engine).0.fault.expect("nobody can go on");
        assert_eq!(
            (fault.kind(), fault.fault.waiting.len()),
            (FaultKind::StuckBarrier, 2),
            "{fault}"
        );
        fault.to_string()
    });
    assert_eq!(faults[0], faults[1]);
    assert!(faults[0].contains("line "), "{}", faults[0]);
}
