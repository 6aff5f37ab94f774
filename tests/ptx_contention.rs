//! Two threads of the host change the same words through PTX atomics, and no change is lost.
//!
//! Each type is contended some 100,000 times, or as often as the variable `WARPLOOM_CONTENTION`
//! says (10,000,000 takes a minute or two).

use warploom::{Arg, EngineKind, LaunchOptions, Program};

const GRID: u32 = 32;
const BLOCK: u32 = 128;
const LANES: u64 = (GRID * BLOCK) as u64;
/// The bytes of the buffer.
const BYTES: usize = 4096;

/// A body that each lane runs in each of `n` rounds, and the expected start of the buffer after
/// them. Before, all bits of the buffer are 0, or all are 1.
///
/// In the body `%a` is the buffer, `%t` the thread in its block, `%c` the block, `%id` the thread
/// in the grid, and `%r` the round. `%v`, of 32 bits, and `%w`, of 64, hold a number that only this
/// lane has, and only in this round. `%one` and `%bone` are a pair of 1 and -1, or in odd lanes -1
/// and 1, of `f16` and `bf16`; `%h0` and `%h2` are their lower halves.
struct Case {
    body: String,
    ones: bool,
    expected: Vec<u64>,
}

fn module(body: &str) -> String {
    format!(
        ".version 8.3\n.target sm_90\n.address_size 64\n\
         .visible .entry k(.param .u64 pa, .param .u32 pn)\n{{\n\
         .reg .b64 %a, %at, %w, %x<8>;\n.reg .b32 %t, %c, %id, %n, %r, %v, %one, %bone, %u<8>;\n.reg .b16 %h<8>;\n.reg .f32 %f;\n.reg .f64 %g;\n\
         .reg .b128 %q<4>;\n.reg .pred %p<4>;\n\
         ld.param.u64 %a, [pa];\nld.param.u32 %n, [pn];\nmov.u32 %t, %tid.x;\nmov.u32 %c, %ctaid.x;\n\
         mad.lo.u32 %id, %c, {BLOCK}, %t;\nand.b32 %u0, %t, 1;\nsetp.eq.u32 %p0, %u0, 0;\n\
         selp.b32 %one, 0xbc003c00, 0x3c00bc00, %p0;\nselp.b32 %bone, 0xbf803f80, 0x3f80bf80, %p0;\n\
         mov.b32 {{%h0, %h1}}, %one;\nmov.b32 {{%h2, %h3}}, %bone;\nmov.f32 %f, 0f3f800000;\nmov.f64 %g, 0d3ff0000000000000;\n\
         mov.b32 %r, 0;\n\
         round:\nmad.lo.u32 %v, %id, %n, %r;\ncvt.u64.u32 %w, %v;\n{body}\n\
         add.u32 %r, %r, 1;\nsetp.lt.u32 %p1, %r, %n;\n@%p1 bra round;\nret;\n}}\n"
    )
}

/// Runs a case with `n` rounds.
fn check(case: &Case, n: u32, engine: EngineKind) {
    let text = module(&case.body);
    let program =
        Program::load(text.as_bytes(), None).unwrap_or_else(|error| panic!("{error}\n{text}"));
    let mut bytes = vec![if case.ones { 0xff } else { 0 }; BYTES];
    let buffer = program.memory().alloc(BYTES as u64, 256).unwrap();
    program.memory().write(buffer, &bytes).unwrap();
    let options =
        LaunchOptions { engine, threads: 2, ..LaunchOptions::new([GRID, 1, 1], [BLOCK, 1, 1]) };
    let outcome = program
        .kernel("k")
        .unwrap()
        .launch(&[Arg::pointer(buffer), Arg::from(n)], &options)
        .unwrap();
    assert!(outcome.fault.is_none(), "{:?}\n{text}", outcome.fault.map(|fault| fault.to_string()));
    program.memory().read(buffer, &mut bytes).unwrap();
    let words = bytes.chunks(8).map(|word| u64::from_le_bytes(word.try_into().unwrap()));
    let found: Vec<u64> = words.take(case.expected.len()).collect();
    assert_eq!(found, case.expected, "{engine}: {}", case.body);
}

/// Returns cases that add, count, exchange and compare integers, and set bits.
fn integers(n: u64) -> Vec<Case> {
    let total = LANES * n;
    let all = |body: &str, expected: Vec<u64>| Case { body: body.into(), ones: false, expected };
    let mut cases = vec![
        all("red.global.add.u32 [%a], 1;", vec![u64::from(total as u32)]),
        all("red.relaxed.sys.global.add.u64 [%a], 0x100000001;", vec![total << 32 | total]),
        all(
            "atom.acq_rel.gpu.add.u32 %u1, [%a], 1; red.max.u32 [%a+8], %u1;",
            vec![total, total - 1],
        ),
        all(
            "atom.add.u64 %x1, [%a], 3; red.max.u64 [%a+8], %x1;",
            vec![3 * total, 3 * (total - 1)],
        ),
        all("red.global.inc.u32 [%a], 999;", vec![total % 1000]),
        all("atom.global.dec.u32 %u1, [%a], 999;", vec![(1000 - total % 1000) % 1000]),
        // A lane takes away what it or another lane added.
        all(
            "red.add.u32 [%a], 1; atom.global.exch.b32 %u1, [%a], 0; red.add.u32 [%a+8], %u1;",
            vec![0, total],
        ),
        all(
            "red.add.u64 [%a], 1; atom.global.exch.b64 %x1, [%a], 0; red.add.u64 [%a+8], %x1;",
            vec![0, total],
        ),
    ];
    for ty in ["u32", "s32", "u64", "s64"] {
        let (value, width) = if ty.ends_with("32") { ("%v", 32) } else { ("%w", 64) };
        let body = format!(
            "red.global.max.{ty} [%a], {value}; not.b{width} %{r}1, {value}; atom.min.{ty} %{r}2, [%a+8], %{r}1;",
            r = if width == 32 { "u" } else { "x" }
        );
        // Zero is greater than any signed complement, and smaller than any unsigned complement.
        let least = if ty.starts_with('s') { !(total - 1) & (u64::MAX >> (64 - width)) } else { 0 };
        cases.push(all(&body, vec![total - 1, least]));
    }
    for (ty, width) in [("b32", 32), ("b64", 64)] {
        let (one, r) = if width == 32 { ("%u", "u32") } else { ("%x", "u64") };
        // Each block owns a bit in each thread's word: other blocks change the word, but not the
        // bit.
        let bit = format!(
            "mov.{r} {one}1, 1; shl.{ty} {one}1, {one}1, %c; mul.wide.u32 %at, %t, 8; add.u64 %at, %a, %at; and.b32 %u7, %r, 1; setp.eq.u32 %p2, %u7, 0;"
        );
        let set = u64::from(u32::MAX);
        cases.push(all(
            &format!("{bit} red.global.or.{ty} [%at], {one}1;"),
            vec![set; BLOCK as usize],
        ));
        // The bits are set after an odd number of rounds.
        cases.push(all(
            &format!("{bit} atom.global.xor.{ty} {one}2, [%at], {one}1;"),
            vec![set * (n % 2); BLOCK as usize],
        ));
        let clear = Case {
            body: format!("{bit} not.{ty} {one}1, {one}1; red.global.and.{ty} [%at], {one}1;"),
            ones: true,
            expected: vec![!set; BLOCK as usize],
        };
        cases.push(clear);
    }
    cases
}

/// Returns cases that add ones, or ones and minus ones if a type cannot hold the sum.
fn floats(n: u64) -> Vec<Case> {
    let total = LANES * n;
    let single = u64::from((total as f32).to_bits());
    let all = |body: &str, expected: u64| Case {
        body: body.into(),
        ones: false,
        expected: vec![expected],
    };
    // All additions cancel, except that the first lane adds once more.
    let halves = |add: &str, expected| {
        all(&format!("{add} or.b32 %u1, %id, %r; setp.eq.u32 %p2, %u1, 0; @%p2 {add}"), expected)
    };
    vec![
        all("red.global.add.f32 [%a], %f;", single),
        all("atom.relaxed.gpu.global.add.f32 %u1, [%a], %f;", single),
        all("red.global.add.f64 [%a], %g;", (total as f64).to_bits()),
        halves("red.global.add.noftz.f16 [%a+2], %h0;", 0x3c00_0000),
        halves("atom.global.add.noftz.f16x2 %u1, [%a], %one;", 0xbc00_3c00),
        halves("red.global.add.noftz.bf16 [%a+2], %h2;", 0x3f80_0000),
        halves("red.global.add.noftz.bf16x2 [%a], %bone;", 0xbf80_3f80),
        all("red.global.add.v2.f32 [%a], {%f, %f};", single << 32 | single),
    ]
}

/// Returns cases that compare and swap until they succeed.
fn swaps(n: u64) -> Vec<Case> {
    let total = LANES * n;
    let one = |body: &str, expected: Vec<u64>| Case { body: body.into(), ones: false, expected };
    let until =
        |load: &str, next: &str, cas: &str| format!("again: {load} {next} {cas} @%p3 bra again;");
    vec![
        // The neighbouring half belongs to no lane.
        one(
            &until(
                "ld.relaxed.gpu.global.u16 %h4, [%a+2];",
                "add.u16 %h5, %h4, 1;",
                "atom.global.cas.b16 %h6, [%a+2], %h4, %h5; setp.ne.u16 %p3, %h6, %h4; @!%p3 red.global.add.u32 [%a+4], 1;",
            ),
            vec![total << 32 | u64::from(total as u16) << 16],
        ),
        one(
            &until(
                "ld.volatile.global.u32 %u1, [%a];",
                "add.u32 %u2, %u1, 1;",
                "atom.global.cas.b32 %u3, [%a], %u1, %u2; setp.ne.u32 %p3, %u3, %u1;",
            ),
            vec![total],
        ),
        one(
            &until(
                "ld.volatile.global.u64 %x1, [%a];",
                "add.u64 %x2, %x1, 0x300000001;",
                "atom.release.gpu.global.cas.b64 %x3, [%a], %x1, %x2; setp.ne.u64 %p3, %x3, %x1;",
            ),
            vec![total * 0x3_0000_0001],
        ),
        one(
            &until(
                "ld.relaxed.gpu.global.b128 %q0, [%a]; mov.b128 {%x0, %x1}, %q0;",
                "add.u64 %x2, %x0, 1; sub.u64 %x3, %x1, 1; mov.b128 %q1, {%x2, %x3};",
                "atom.global.cas.b128 %q2, [%a], %q0, %q1; mov.b128 {%x4, %x5}, %q2; setp.ne.u64 %p3, %x4, %x0;",
            ),
            vec![total, total.wrapping_neg()],
        ),
    ]
}

/// Returns the number of rounds of each lane.
fn rounds() -> u64 {
    let count = std::env::var("WARPLOOM_CONTENTION")
        .map_or(100_000, |text| text.parse().expect("a number"));
    // The number is odd, so that bits that change in each round are set in the end.
    u64::div_ceil(count, LANES) | 1
}

#[test]
fn integers_lose_nothing() {
    integers(rounds()).iter().for_each(|case| check(case, rounds() as u32, EngineKind::Jit));
    integers(3).iter().for_each(|case| check(case, 3, EngineKind::Interp));
}

#[test]
fn floats_lose_nothing() {
    floats(rounds()).iter().for_each(|case| check(case, rounds() as u32, EngineKind::Jit));
    floats(3).iter().for_each(|case| check(case, 3, EngineKind::Interp));
}

/// Swaps run a sixteenth of the rounds, because the lanes of a warp must try in turn.
#[test]
fn compare_and_swap_loses_nothing() {
    let n = rounds().div_ceil(16);
    swaps(n).iter().for_each(|case| check(case, n as u32, EngineKind::Jit));
    swaps(1).iter().for_each(|case| check(case, 1, EngineKind::Interp));
}
