//! Lanes of PTX that part, meet, wait for each other and call, on both engines.

use warploom::{Arg, EngineKind, Fault, LaunchOptions, Program};
use warploom_runtime::fault::FaultKind;

const ENGINES: [EngineKind; 2] = [EngineKind::Interp, EngineKind::Jit];

/// Returns a module with one kernel `k(.u64 out)`, whose threads each leave `%result` in their word
/// of the buffer.
///
/// The body has `%t` (the thread's number in the block), `%lane`, `%out` (the buffer), and
/// registers `%r`, `%d`, `%p`.
fn module(target: &str, before: &str, body: &str) -> String {
    format!(
        ".version 8.3\n.target {target}\n.address_size 64\n{before}\n\
         .visible .entry k(.param .u64 pout)\n{{\n\
         .reg .b64 %out, %at, %d<16>;\n.reg .b32 %t, %lane, %result, %r<32>;\n.reg .pred %p<8>;\n\
         ld.param.u64 %out, [pout];\nmov.u32 %t, %tid.x;\nmov.u32 %lane, %laneid;\nmov.b32 %result, 0;\n{body}\n\
         mad.wide.u32 %at, %t, 4, %out;\nst.global.u32 [%at], %result;\nret;\n}}\n"
    )
}

fn launch(text: &str, lanes: u32, engine: EngineKind, stack: u32) -> Result<Vec<u32>, Box<Fault>> {
    let program =
        Program::load(text.as_bytes(), None).unwrap_or_else(|error| panic!("{error}\n{text}"));
    // All threads share the words behind the threads' own words.
    let mut bytes = vec![0; 4 * (lanes as usize + 32)];
    let out = program.memory().alloc(bytes.len() as u64, 256).unwrap();
    program.memory().write(out, &bytes).unwrap();
    let options = LaunchOptions {
        engine,
        stack_bytes: Some(stack),
        instruction_limit: Some(50_000_000),
        ..LaunchOptions::new([1, 1, 1], [lanes, 1, 1])
    };
    let outcome = program.kernel("k").unwrap().launch(&[Arg::pointer(out)], &options).unwrap();
    if let Some(fault) = outcome.fault {
        return Err(Box::new(fault));
    }
    program.memory().read(out, &mut bytes).unwrap();
    Ok(bytes.chunks(4).map(|word| u32::from_le_bytes(word.try_into().unwrap())).collect())
}

/// Returns the words of all threads.
fn run(text: &str, lanes: u32) -> Vec<u32> {
    let [a, b] = ENGINES.map(|engine| {
        let words = launch(text, lanes, engine, 1 << 15);
        let mut words = words.unwrap_or_else(|fault| panic!("{engine}: {fault}\n{text}"));
        words.truncate(lanes as usize);
        words
    });
    assert_eq!(a, b, "the engines differ\n{text}");
    a
}

fn fault(text: &str, lanes: u32, stack: u32) -> Box<Fault> {
    let [a, b] = ENGINES.map(|engine| launch(text, lanes, engine, stack).expect_err("a fault"));
    assert_eq!(a.to_string(), b.to_string());
    a
}

fn each(lanes: u32, of: impl Fn(u32) -> u32) -> Vec<u32> {
    (0..lanes).map(of).collect()
}

#[test]
fn a_lock_goes_from_lane_to_lane() {
    let body = "
        mov.u64 %d1, lock; mov.u64 %d2, sum;
        again: atom.global.cas.b32 %r1, [%d1], 0, 1; setp.ne.u32 %p1, %r1, 0; @%p1 bra again;
        ld.volatile.global.u32 %result, [%d2]; add.u32 %r2, %result, 1; st.volatile.global.u32 [%d2], %r2;
        membar.gl; atom.global.exch.b32 %r3, [%d1], 0;";
    let mut found = run(&module("sm_70", ".global .u32 lock; .global .u32 sum;", body), 96);
    found.sort_unstable();
    assert_eq!(found, each(96, |n| n));
}

#[test]
fn lanes_take_turns_from_the_last_to_the_first() {
    let body = "
        mov.u64 %d1, turn; sub.u32 %r1, 31, %lane;
        wait: ld.relaxed.gpu.global.u32 %result, [%d1]; setp.ne.u32 %p1, %result, %r1; @%p1 bra wait;
        add.u32 %r2, %result, 1; st.relaxed.gpu.global.u32 [%d1], %r2;";
    assert_eq!(run(&module("sm_80", ".global .u32 turn;", body), 32), each(32, |lane| 31 - lane));
}

/// Even lanes wait in the first arm for a flag that odd lanes write in the second arm.
#[test]
fn arms_wait_for_each_other() {
    let body = "
        mov.u64 %d1, flag; and.b32 %r1, %lane, 1; setp.eq.u32 %p1, %r1, 1; @%p1 bra odd;
        wait: ld.acquire.gpu.global.u32 %r2, [%d1]; setp.lt.u32 %p2, %r2, 16; @%p2 bra wait;
        mov.u32 %result, 5; bra.uni done;
        odd: atom.global.add.u32 %r3, [%d1], 1; mov.u32 %result, 7;
        done:";
    let text = module("sm_70", ".global .u32 flag;", body);
    assert_eq!(run(&text, 32), each(32, |lane| if lane % 2 == 0 { 5 } else { 7 }));
}

#[test]
fn shuffles_in_both_arms_are_one() {
    let body = "
        and.b32 %r1, %lane, 1; setp.eq.u32 %p1, %r1, 1; mul.lo.u32 %r2, %lane, 10; @%p1 bra odd;
        shfl.sync.bfly.b32 %result, %r2, 1, 31, -1; add.u32 %result, %result, 1000; bra.uni done;
        odd: add.u32 %r3, %r2, 5; shfl.sync.bfly.b32 %result|%p2, %r3, 1, 31, -1;
        @%p2 add.u32 %result, %result, 2000;
        done:";
    let expected = each(32, |lane| match lane % 2 {
        0 => (lane + 1) * 10 + 5 + 1000,
        _ => (lane - 1) * 10 + 2000,
    });
    assert_eq!(run(&module("sm_70", "", body), 32), expected);
}

/// An arm has several shuffles in a row, and other lanes reach it later. Each shuffle needs values
/// of these other lanes.
#[test]
fn sums_over_the_warp_in_divergent_code() {
    let body = "
        mov.u32 %r1, %lane; setp.lt.u32 %p1, %lane, 7; @%p1 bra first;
        add.u32 %r1, %r1, 100; bra.uni second;
        first: add.u32 %r1, %r1, 1;
        shfl.sync.bfly.b32 %r2, %r1, 16, 31, -1; add.u32 %r1, %r1, %r2;
        shfl.sync.bfly.b32 %r2, %r1, 8, 31, -1; add.u32 %r1, %r1, %r2;
        @!%p1 bra done;
        shfl.sync.bfly.b32 %r2, %r1, 4, 31, -1; add.u32 %r1, %r1, %r2;
        bra.uni last;
        second:
        shfl.sync.bfly.b32 %r2, %r1, 16, 31, -1; add.u32 %r1, %r1, %r2;
        shfl.sync.bfly.b32 %r2, %r1, 8, 31, -1; add.u32 %r1, %r1, %r2;
        shfl.sync.bfly.b32 %r2, %r1, 4, 31, -1; add.u32 %r1, %r1, %r2;
        last: shfl.sync.bfly.b32 %r2, %r1, 2, 31, -1; add.u32 %r1, %r1, %r2;
        shfl.sync.bfly.b32 %r2, %r1, 1, 31, -1; add.u32 %result, %r1, %r2;
        done:";
    let sum =
        (0..7).map(|lane| lane + 1).sum::<u32>() + (7..32).map(|lane| lane + 100).sum::<u32>();
    assert_eq!(run(&module("sm_70", "", body), 32), each(32, |_| sum));
}

#[test]
fn votes_matches_and_reductions_in_both_arms() {
    let body = "
        setp.lt.u32 %p1, %lane, 11; and.b32 %r1, %lane, 3; setp.eq.u32 %p2, %r1, 0; @%p1 bra low;
        vote.sync.ballot.b32 %r2, %p2, -1; match.any.sync.b32 %r3, %r1, -1; redux.sync.add.u32 %r4, %lane, -1;
        bra.uni done;
        low: vote.sync.ballot.b32 %r2, !%p2, -1; match.any.sync.b32 %r3, 1, -1; redux.sync.add.u32 %r4, %r1, -1;
        done: xor.b32 %r2, %r2, %r3; xor.b32 %result, %r2, %r4;";
    let ballot = (0..32)
        .filter(|&lane| (lane % 4 == 0) != (lane < 11))
        .fold(0, |mask, lane| mask | 1_u32 << lane);
    let value = |lane: u32| if lane < 11 { 1 } else { lane % 4 };
    let sum: u32 = (0..32).map(|lane| if lane < 11 { lane % 4 } else { lane }).sum();
    let alike = |lane| {
        (0..32)
            .filter(|&other| value(other) == value(lane))
            .fold(0, |mask, other| mask | 1_u32 << other)
    };
    assert_eq!(run(&module("sm_80", "", body), 32), each(32, |lane| ballot ^ alike(lane) ^ sum));
}

/// Lanes that name different masks do not meet.
#[test]
fn masks_keep_lanes_apart() {
    let body = "
        setp.lt.u32 %p1, %lane, 16; selp.b32 %r1, 0xffff, 0xffff0000, %p1; and.b32 %r2, %lane, 1; setp.eq.u32 %p2, %r2, 1;
        @%p2 bra odd;
        vote.sync.ballot.b32 %result, 1, %r1; bra.uni done;
        odd: vote.sync.ballot.b32 %result, 0, %r1;
        done:";
    assert_eq!(
        run(&module("sm_70", "", body), 32),
        each(32, |lane| if lane < 16 { 0x5555 } else { 0x5555_0000 })
    );
}

/// Lanes that have exited are not waited for.
#[test]
fn who_has_exited_is_not_missed() {
    let body = "
        mad.wide.u32 %at, %t, 4, %out; setp.ge.u32 %p1, %lane, 20; @%p1 st.global.u32 [%at], 77; @%p1 exit;
        setp.lt.u32 %p2, %lane, 4; @%p2 bra low;
        shfl.sync.idx.b32 %result, %lane, 2, 31, -1; bra.uni done;
        low: add.u32 %r1, %lane, 40; shfl.sync.idx.b32 %result, %r1, 19, 31, -1;
        done:";
    let expected = each(32, |lane| match lane {
        0..4 => 19,
        4..20 => 42,
        _ => 77,
    });
    assert_eq!(run(&module("sm_70", "", body), 32), expected);
}

#[test]
fn barriers_in_both_arms_are_one() {
    let before = ".shared .align 4 .b8 tile[1024];";
    let body = "
        mov.u32 %r1, tile; mad.lo.u32 %r2, %t, 4, %r1; and.b32 %r3, %lane, 1; setp.eq.u32 %p1, %r3, 1;
        xor.b32 %r4, %t, 33; mad.lo.u32 %r4, %r4, 4, %r1; @%p1 bra odd;
        st.shared.u32 [%r2], %t; bar.sync 0; ld.shared.u32 %result, [%r4]; bra.uni done;
        odd: add.u32 %r5, %t, 500; st.shared.u32 [%r2], %r5; barrier.sync 0; ld.shared.u32 %result, [%r4];
        done:";
    let expected = each(128, |t| (t ^ 33) + if t % 2 == 0 { 500 } else { 0 });
    assert_eq!(run(&module("sm_70", before, body), 128), expected);
}

#[test]
fn reductions_of_the_block_in_divergent_code() {
    let body = "
        setp.lt.u32 %p1, %t, 40; and.b32 %r1, %t, 7; setp.eq.u32 %p2, %r1, 0; @%p1 bra low;
        barrier.red.popc.u32 %result, 1, %p2; bra.uni done;
        low: barrier.red.popc.u32 %result, 1, !%p2;
        done:";
    let count = (0..96).filter(|&t| (t % 8 == 0) != (t < 40)).count() as u32;
    assert_eq!(run(&module("sm_70", "", body), 96), each(96, |_| count));
}

/// A warp counts as a whole warp even if some of its lanes have exited.
#[test]
fn numbered_barriers_count_warps() {
    let body = "
        setp.eq.u32 %p1, %t, 70; @%p1 exit; setp.lt.u32 %p1, %lane, 3; @%p1 bra few;
        barrier.sync 2, 96; mov.u32 %result, 1; bra.uni done;
        few: barrier.sync 2, 96; mov.u32 %result, 2;
        done:";
    let expected = each(90, |t| match t {
        70 => 0,
        _ if t % 32 < 3 => 2,
        _ => 1,
    });
    assert_eq!(run(&module("sm_70", "", body), 90), expected);
}

const FACTORIAL: &str = "
    .func (.param .b32 r) f(.param .b32 n);
    .func (.param .b32 r) f(.param .b32 n) {
        .reg .b32 %n, %m, %r; .reg .pred %p;
        ld.param.u32 %n, [n]; setp.le.u32 %p, %n, 1; @%p bra one;
        sub.u32 %m, %n, 1;
        { .param .b32 a; .param .b32 b; st.param.b32 [a], %m; call.uni (b), f, (a); ld.param.b32 %r, [b]; }
        mul.lo.u32 %r, %r, %n; st.param.b32 [r], %r; ret;
        one: st.param.b32 [r], 1; ret;
    }";

#[test]
fn recursion_of_different_depth() {
    let body = "
        { .param .b32 a; .param .b32 b; st.param.b32 [a], %lane; call (b), f, (a); ld.param.b32 %result, [b]; }";
    let factorial = |n: u32| (1..=n).fold(1_u32, u32::wrapping_mul);
    for target in ["sm_50", "sm_70"] {
        assert_eq!(run(&module(target, FACTORIAL, body), 64), each(64, |t| factorial(t % 32)));
    }
}

#[test]
fn recursion_without_end_is_a_fault() {
    let body = "
        { .param .b32 a; .param .b32 b; st.param.b32 [a], -1; call (b), f, (a); ld.param.b32 %result, [b]; }";
    let fault = fault(&module("sm_70", FACTORIAL, body), 32, 4096);
    assert_eq!(fault.kind(), FaultKind::StackOverflow);
    assert!(fault.to_string().contains("line "), "{fault}");
}

/// A function calls itself twice, with registers of the caller live over both calls, register
/// parameters, and a local array in each frame.
#[test]
fn functions_that_call_themselves_twice() {
    let before = "
        .func (.reg .b32 %r) fib(.reg .b32 %n) {
            .local .align 4 .b8 mine[16]; .reg .b32 %m, %k, %a; .reg .pred %p;
            setp.lt.u32 %p, %n, 2; @!%p bra more; mov.u32 %r, %n; ret;
            more: st.local.u32 [mine+8], %n; sub.u32 %m, %n, 1; sub.u32 %k, %n, 2;
            call (%a), fib, (%m); call (%r), fib, (%k);
            add.u32 %r, %r, %a; ld.local.u32 %m, [mine+8]; setp.ne.u32 %p, %m, %n; @%p add.u32 %r, %r, 100000;
            ret;
        }";
    let body = "and.b32 %r1, %lane, 7; add.u32 %r1, %r1, 2; call (%result), fib, (%r1);";
    let fibonacci = |n: u32| (0..n).fold((0, 1), |(a, b), _| (b, a + b)).0;
    assert_eq!(run(&module("sm_80", before, body), 32), each(32, |lane| fibonacci(lane % 8 + 2)));
}

/// Functions call each other, with live predicates and live 64-bit values.
#[test]
fn functions_that_call_each_other() {
    let before = "
        .func (.param .b64 r) odd(.param .b64 n);
        .func (.param .b64 r) even(.param .b64 n) {
            .reg .b64 %n, %m, %r; .reg .pred %p, %q;
            ld.param.u64 %n, [n]; setp.eq.u64 %p, %n, 0; setp.gt.u64 %q, %n, 4; @%p bra none; sub.u64 %m, %n, 1;
            { .param .b64 a; .param .b64 b; st.param.b64 [a], %m; call (b), odd, (a); ld.param.b64 %r, [b]; }
            @%q add.u64 %r, %r, 2; add.u64 %r, %r, 10; st.param.b64 [r], %r; ret;
            none: st.param.b64 [r], 3; ret;
        }
        .func (.param .b64 r) odd(.param .b64 n) {
            .reg .b64 %n, %m, %r; .reg .pred %p;
            ld.param.u64 %n, [n]; setp.eq.u64 %p, %n, 0; @%p bra none; sub.u64 %m, %n, 1;
            { .param .b64 a; .param .b64 b; st.param.b64 [a], %m; call (b), even, (a); ld.param.b64 %r, [b]; }
            add.u64 %r, %r, %n; st.param.b64 [r], %r; ret;
            none: st.param.b64 [r], 4; ret;
        }";
    let body = "
        cvt.u64.u32 %d1, %lane;
        { .param .b64 a; .param .b64 b; st.param.b64 [a], %d1; call (b), even, (a); ld.param.b64 %d2, [b]; }
        cvt.u32.u64 %result, %d2;";
    fn even(n: u32) -> u32 {
        if n == 0 { 3 } else { odd(n - 1) + if n > 4 { 12 } else { 10 } }
    }
    fn odd(n: u32) -> u32 {
        if n == 0 { 4 } else { even(n - 1) + n }
    }
    assert_eq!(run(&module("sm_70", before, body), 32), each(32, even));
}

const TABLE: &str = "
    .func (.param .b32 r) f0(.param .b32 n) { .reg .b32 %n; ld.param.u32 %n, [n]; add.u32 %n, %n, 1; st.param.b32 [r], %n; ret; }
    .func (.param .b32 r) f1(.param .b32 n) { .reg .b32 %n; ld.param.u32 %n, [n]; mul.lo.u32 %n, %n, 3; st.param.b32 [r], %n; ret; }
    .func (.param .b32 r) f2(.param .b32 n) {
        .reg .b32 %n; .reg .pred %p; ld.param.u32 %n, [n]; setp.gt.u32 %p, %n, 20; @%p bra big; st.param.b32 [r], 9; ret;
        big: st.param.b32 [r], %n; ret;
    }
    .global .align 8 .u64 table[3] = {f0, f1, f2};";

const THROUGH_TABLE: &str = "
    mov.u64 %d1, table; mad.wide.u32 %d1, %r1, 8, %d1; ld.global.u64 %d2, [%d1];
    { .param .b32 a; .param .b32 b; st.param.b32 [a], %lane;
      p: .callprototype (.param .b32 _) _ (.param .b32 _);
      call (b), %d2, (a), p; ld.param.b32 %result, [b]; }";

#[test]
fn calls_through_a_table() {
    let text = module("sm_70", TABLE, &format!("rem.u32 %r1, %lane, 3; {THROUGH_TABLE}"));
    let expected = each(32, |lane| match lane % 3 {
        0 => lane + 1,
        1 => lane * 3,
        _ if lane > 20 => lane,
        _ => 9,
    });
    assert_eq!(run(&text, 32), expected);
}

#[test]
fn a_call_of_no_function_is_a_fault() {
    let body = THROUGH_TABLE.replace("ld.global.u64 %d2, [%d1];", "mov.u64 %d2, 12;");
    let fault = fault(&module("sm_70", TABLE, &format!("mov.u32 %r1, 0; {body}")), 32, 0);
    assert_eq!(fault.kind(), FaultKind::IllegalInstruction);
}

/// A loop has two entries.
#[test]
fn irreducible_loops() {
    let body = "
        mov.u32 %r1, %lane; and.b32 %r2, %lane, 1; setp.eq.u32 %p1, %r2, 1; @%p1 bra b;
        a: add.u32 %result, %result, 3; add.u32 %r1, %r1, 1; setp.gt.u32 %p2, %r1, 40; @%p2 bra done;
        b: add.u32 %result, %result, 5; add.u32 %r1, %r1, 2; setp.le.u32 %p2, %r1, 40; @%p2 bra a;
        done:";
    let expected = each(32, |lane| {
        let (mut x, mut sum, mut at_a) = (lane, 0, lane % 2 == 0);
        loop {
            if at_a {
                (sum, x) = (sum + 3, x + 1);
                if x > 40 {
                    return sum;
                }
            }
            (sum, x) = (sum + 5, x + 2);
            if x > 40 {
                return sum;
            }
            at_a = true;
        }
    });
    for target in ["sm_50", "sm_80"] {
        assert_eq!(run(&module(target, "", body), 32), expected);
    }
}

/// Lanes leave a loop one by one and meet behind it.
#[test]
fn who_leaves_a_loop_waits_behind_it() {
    let body = "
        mov.u32 %r1, 0;
        again: add.u32 %r1, %r1, 1; setp.le.u32 %p1, %r1, %lane; @%p1 bra again;
        activemask.b32 %r2; popc.b32 %result, %r2; mad.lo.u32 %result, %r1, 100, %result;";
    assert_eq!(run(&module("sm_70", "", body), 32), each(32, |lane| (lane + 1) * 100 + 32));
}

#[test]
fn a_table_of_branches() {
    let body = "
        t: .branchtargets A, B, C;
        and.b32 %r1, %lane, 3; brx.idx %r1, t;
        A: mov.u32 %result, 10; bra.uni done;
        B: mov.u32 %result, 20; bra.uni done;
        C: mov.u32 %result, 30;
        done: add.u32 %result, %result, %lane;";
    let expected = each(32, |lane| lane + [10, 20, 30, 30][lane as usize % 4]);
    assert_eq!(run(&module("sm_70", "", body), 32), expected);
}

/// With this many ways, each lane may wait anywhere. In a warp that keeps together, lanes may wait
/// from the first statement of the kernel on.
#[test]
fn a_large_table_of_branches() {
    const WAYS: u32 = 600;
    let labels = (0..WAYS).map(|n| format!("way{n}")).collect::<Vec<_>>().join(", ");
    let mut body =
        format!("mul.lo.u32 %r1, %lane, 18; T: .branchtargets {labels};\nbrx.idx %r1, T;\n");
    for n in 0..WAYS {
        body += &format!("way{n}: add.u32 %result, %result, {n}; bra done;\n");
    }
    body += "done: bar.sync 0; add.u32 %result, %result, 1;";
    for target in ["sm_60", "sm_70"] {
        assert_eq!(run(&module(target, "", &body), 64), each(64, |t| t % 32 * 18 + 1), "{target}");
    }
}

/// Before sm_70 the lanes of a warp keep together: lanes do not wait for the other arm.
#[test]
fn old_warps_do_not_wait() {
    let body = "
        setp.lt.u32 %p1, %lane, 16; @%p1 bra low;
        vote.ballot.b32 %result, 1; bra.uni done;
        low: vote.ballot.b32 %result, 1;
        done:";
    let text = module("sm_50", "", body);
    assert_eq!(run(&text, 32), each(32, |lane| if lane < 16 { 0xffff } else { 0xffff_0000 }));
}

#[test]
fn a_deadlock_names_lanes_and_lines() {
    let body = "
        setp.lt.u32 %p1, %lane, 12; @%p1 bra low;
        shfl.sync.idx.b32 %result, %lane, 0, 31, -1; bra.uni done;
        low: bar.sync 0;
        done:";
    let fault = fault(&module("sm_70", "", body), 32, 0);
    assert_eq!(fault.kind(), FaultKind::Deadlock);
    let text = fault.to_string();
    assert!(text.contains("0xfff") && text.contains("line "), "{text}");
    assert_eq!(fault.fault.waiting.len(), 2, "{text}");
}

/// An unimplemented instruction is no fault for lanes that do not reach it.
#[test]
fn a_guard_keeps_from_what_is_not_executed() {
    let text = |limit: u32| {
        let body = format!(
            "setp.gt.u32 %p1, %lane, {limit}; mov.u64 %d1, g; @%p1 tensormap.replace.tile.global_address.global.b1024.b64 [%d1], %d1;
             mov.u32 %result, 4;"
        );
        module("sm_90a", ".global .align 128 .b8 g[128];", &body)
    };
    assert_eq!(run(&text(31), 32), each(32, |_| 4));
    let fault = fault(&text(30), 32, 0);
    assert_eq!((fault.kind(), fault.fault.lane), (FaultKind::Unimplemented, 31));
}

/// Lanes wait at a place between a branch and the place where the lanes that stay go on.
#[test]
fn a_place_between_is_not_passed_by() {
    let body = "
        and.b32 %r1, %lane, 1; setp.eq.u32 %p1, %r1, 1;
        again: @%p1 bra odd; bra.uni low;
        odd: call f; setp.ge.u32 %p2, %lane, 0; @%p2 bra skip; atom.global.or.b32 %r2, [%out], 1;
        skip: @%p3 bra join; selp.u32 %r3, 1, 0, %p3;
        low: add.u32 %result, %result, 1;
        join: @%p4 bra again;
        bar.sync 0;";
    assert_eq!(run(&module("sm_70", ".func f() { ret; }", body), 32), each(32, |_| 1));
}

/// With so many loops that wait for other lanes, each lane may wait anywhere.
#[test]
fn a_hundred_locks() {
    let mut body = String::from("mov.u64 %d1, lock; mov.u64 %d2, sum;\n");
    for n in 0..100 {
        body += &format!(
            "and.b32 %r1, %lane, {}; setp.eq.u32 %p1, %r1, 0; @%p1 bra other{n};
             again{n}: atom.global.cas.b32 %r1, [%d1], 0, 1; setp.ne.u32 %p1, %r1, 0; @%p1 bra again{n};
             ld.volatile.global.u32 %r2, [%d2]; add.u32 %r2, %r2, 1; st.volatile.global.u32 [%d2], %r2;
             membar.gl; atom.global.exch.b32 %r3, [%d1], 0; bra.uni done{n};
             other{n}: add.u32 %result, %result, 1;
             done{n}: bar.warp.sync -1; shfl.sync.bfly.b32 %r4, %result, 1, 31, -1; max.u32 %result, %result, %r4;\n",
            n % 8 + 1
        );
    }
    body +=
        "bar.sync 0; ld.volatile.global.u32 %r2, [%d2]; mad.lo.u32 %result, %r2, 1000, %result;";
    let text = module("sm_70", ".global .u32 lock; .global .u32 sum;", &body);
    let mut own = [0_u32; 64];
    let mut sum = 0;
    for n in 0..100 {
        let before = own;
        for (t, own) in own.iter_mut().enumerate() {
            if (t as u32 % 32) & (n % 8 + 1) == 0 { *own = before[t] + 1 } else { sum += 1 }
        }
        let after = own;
        own.iter_mut().enumerate().for_each(|(t, own)| *own = after[t].max(after[t ^ 1]));
    }
    assert_eq!(run(&text, 64), each(64, |t| sum * 1000 + own[t as usize]));
}

/// A sum with a known carry is used later, without its carry. Its operands count up with the lane
/// and may overflow.
#[test]
fn a_sum_with_a_known_carry_is_used_later() {
    let body = "
        mov.b64 %d1, 0x23; mul.wide.u32 %d2, %t, 0x763ba456; mov.b64 %d3, -1; sub.cc.s64 %d4, %d3, %d1;
        madc.lo.cc.s64 %d2, %d2, %d1, 0x33; mad.wide.u32 %d5, %t, 8, %out;
        st.global.b64 [%d5+1024], %d4; st.global.b64 [%d5+512], %d2; cvt.u32.u64 %result, %d2;";
    let text = module("sm_70", "", body)
        .replace("mov.u32 %lane, %laneid;", "mov.u32 %lane, %laneid; mov.u64 %out, big;");
    let text = text.replace(".visible .entry", ".global .align 8 .b8 big[4096];\n.visible .entry");
    let text = text.replace(
        "mad.wide.u32 %at, %t, 4, %out;",
        "ld.param.u64 %out, [pout]; mad.wide.u32 %at, %t, 4, %out;",
    );
    let expected = each(32, |t| (u64::from(t) * 0x763b_a456 * 0x23 + 0x34) as u32);
    assert_eq!(run(&text, 32), expected);
}
