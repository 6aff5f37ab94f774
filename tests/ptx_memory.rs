//! Memory of PTX on both engines: loads and stores, atomics, barriers in memory, copies, the stack.

use half::{bf16, f16};
use warploom::{Arg, EngineKind, LaunchOptions, LaunchOutcome, Program};
use warploom_runtime::fault::FaultKind;

const ENGINES: [EngineKind; 2] = [EngineKind::Interp, EngineKind::Jit];

/// Returns a module with one kernel `k(.u64 in, .u64 out)`. Its body finds the addresses in `%in`
/// and `%out`, and the thread in `%t` (and as 64 bits in `%tl`).
fn module(before: &str, body: &str) -> String {
    format!(
        ".version 8.3\n.target sm_90\n.address_size 64\n{before}\n\
         .visible .entry k(.param .u64 pin, .param .u64 pout)\n{{\n\
         .reg .b64 %in, %out, %tl, %a<8>, %d<16>;\n.reg .b32 %t, %r<32>;\n.reg .b16 %h<16>;\n.reg .b8 %c<4>;\n\
         .reg .b128 %q<4>;\n.reg .f32 %f<16>;\n.reg .f64 %g<8>;\n.reg .pred %p<8>;\n\
         ld.param.u64 %in, [pin];\nld.param.u64 %out, [pout];\nmov.u32 %t, %tid.x;\ncvt.u64.u32 %tl, %t;\n{body}\nret;\n}}\n"
    )
}

struct Ran {
    input: Vec<u8>,
    output: Vec<u8>,
    outcome: LaunchOutcome,
}

fn options(engine: EngineKind, lanes: u32) -> LaunchOptions {
    LaunchOptions { engine, threads: 2, ..LaunchOptions::new([1, 1, 1], [lanes, 1, 1]) }
}

fn launch(text: &str, lanes: u32, engine: EngineKind, input: &[u8], output: usize) -> Ran {
    let program =
        Program::load(text.as_bytes(), None).unwrap_or_else(|error| panic!("{error}\n{text}"));
    let buffer = |bytes: &[u8]| {
        let address = program.memory().alloc(bytes.len().max(1) as u64, 256).unwrap();
        program.memory().write(address, bytes).unwrap();
        address
    };
    let (from, to) = (buffer(input), buffer(&vec![0; output]));
    let kernel = program.kernel("k").unwrap();
    let outcome =
        kernel.launch(&[Arg::pointer(from), Arg::pointer(to)], &options(engine, lanes)).unwrap();
    let (mut after, mut found) = (vec![0; input.len()], vec![0; output]);
    program.memory().read(from, &mut after).unwrap();
    program.memory().read(to, &mut found).unwrap();
    Ran { input: after, output: found, outcome }
}

/// Runs on both engines without a fault, and returns the input and output afterwards.
fn run(text: &str, lanes: u32, input: &[u8], output: usize) -> (Vec<u8>, Vec<u8>) {
    let [a, b] = ENGINES.map(|engine| {
        let ran = launch(text, lanes, engine, input, output);
        assert!(
            ran.outcome.fault.is_none(),
            "{engine}: {:?}\n{text}",
            ran.outcome.fault.map(|fault| fault.to_string())
        );
        (ran.input, ran.output)
    });
    assert_eq!(a, b, "the engines differ\n{text}");
    a
}

/// In ptxas 12.9 the index of an address in square brackets counts bytes. The index of a value
/// counts elements of the scalar type.
#[test]
fn an_index_behind_a_variable_counts_elements_in_mov() {
    let variables = ".global .align 16 .b8 bytes[16];\n.global .align 4 .b32 words[16];\n\
                     .global .align 16 .v4 .f32 vectors[4];\n.global .align 8 .b64 rows[4][8];";
    let names = ["bytes", "words", "vectors", "rows"];
    let one = |(i, name): (usize, &&str)| {
        format!(
            "mov.u64 %d1, {name}[3];\nmov.u64 %d2, {name};\nsub.u64 %d1, %d1, %d2;\nst.global.u64 [%out+{}], %d1;\n",
            8 * i
        )
    };
    let body: String = names.iter().enumerate().map(one).collect();
    let (_, found) = run(&module(variables, &body), 1, &[0], 8 * names.len());
    let found: Vec<u64> =
        found.chunks(8).map(|word| u64::from_le_bytes(word.try_into().unwrap())).collect();
    assert_eq!(found, [3, 12, 12, 24]);
}

fn fault(text: &str, input: &[u8], output: usize) -> FaultKind {
    let [a, b] = ENGINES.map(|engine| {
        let outcome = launch(text, 32, engine, input, output).outcome;
        outcome.fault.unwrap_or_else(|| panic!("{engine}: no fault\n{text}")).kind()
    });
    assert_eq!(a, b);
    a
}

fn words64(bytes: &[u8]) -> Vec<u64> {
    bytes.chunks(8).map(|word| u64::from_le_bytes(word.try_into().unwrap())).collect()
}

fn words32(bytes: &[u8]) -> Vec<u32> {
    bytes.chunks(4).map(|word| u32::from_le_bytes(word.try_into().unwrap())).collect()
}

fn bytes(count: usize) -> Vec<u8> {
    let mut state = 0x2545_f491_4f6c_dd1d_u64;
    (0..count)
        .map(|_| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            (state >> 24) as u8
        })
        .collect()
}

/// Extends the low bits of a value as a type extends them.
fn extended(ty: &str, bits: u64) -> u64 {
    let width: u32 = ty[1..].parse().unwrap();
    let shift = 64 - width;
    if ty.starts_with('s') {
        ((bits << shift) as i64 >> shift) as u64
    } else {
        bits << shift >> shift
    }
}

#[test]
fn every_type_in_every_space() {
    let input = bytes(32 * 8);
    for ty in ["b8", "u8", "s8", "b16", "u16", "s16", "b32", "u32", "s32", "b64", "u64", "s64"] {
        let size = ty[1..].parse::<usize>().unwrap() / 8;
        let expected: Vec<u64> =
            words64(&input).into_iter().map(|bits| extended(ty, bits)).collect();
        for (space, declare, at, wide) in [
            ("global", "", "", true),
            ("", "", "", true),
            (
                "shared",
                ".shared .align 8 .b8 memory[256];",
                "mov.u64 %a1, memory; add.u64 %a1, %a1, %a0;",
                false,
            ),
            (
                "local",
                ".local .align 8 .b8 memory[256];",
                "mov.u64 %a1, memory; add.u64 %a1, %a1, %a0;",
                false,
            ),
        ] {
            let dot = if space.is_empty() { String::new() } else { format!(".{space}") };
            let through = if wide {
                "add.u64 %a1, %in, %a0;".to_owned()
            } else {
                format!(
                    "{declare}\n{at}\nadd.u64 %a2, %in, %a0; ld.global.{ty} %d0, [%a2]; st{dot}.{ty} [%a1+0], %d0;"
                )
            };
            let body = format!(
                "shl.b64 %a0, %tl, 3;\n{through}\nld{dot}.{ty} %d1, [%a1];\nadd.u64 %a3, %out, %a0;\nst.global.b64 [%a3], %d1;"
            );
            let (_, output) = run(&module("", &body), 32, &input, 256);
            assert_eq!(words64(&output), expected, "{ty} in `{space}`, {size} bytes");
        }
    }
}

#[test]
fn constants_at_fixed_and_other_addresses() {
    let before = ".const .align 8 .u32 c[32] = {5, 6, 7, 8};\n.global .u32 g[4] = {1, 2, 3, 4};\n.const .u64 where = generic(g);";
    let body = "mov.u64 %a0, c; shl.b64 %a1, %tl, 2; add.u64 %a0, %a0, %a1; ld.const.u32 %r0, [%a0];\n\
                ld.const.u32 %r1, [c+8]; ld.const.u64 %a2, [where]; ld.u32 %r2, [%a2+12]; ld.u32 %r3, [g+4];\n\
                add.u32 %r0, %r0, %r1; add.u32 %r0, %r0, %r2; add.u32 %r0, %r0, %r3;\n\
                add.u64 %a3, %out, %a1; st.global.u32 [%a3], %r0;";
    let (_, output) = run(&module(before, body), 32, &[], 128);
    let first = [5, 6, 7, 8];
    let expected: Vec<u32> = (0..32).map(|n| first.get(n).unwrap_or(&0) + 7 + 4 + 2).collect();
    assert_eq!(words32(&output), expected);
}

#[test]
fn vectors_and_128_bits() {
    let input = bytes(32 * 16);
    for (load, store) in [
        ("ld.global.v4.u32 {%r0,%r1,%r2,%r3}, [%a1]", "st.global.v4.u32 [%a2], {%r0,%r1,%r2,%r3}"),
        ("ld.global.v2.u64 {%d0,%d1}, [%a1]", "st.v2.b64 [%a2], {%d0,%d1}"),
        ("ld.global.b128 %q0, [%a1]", "st.global.b128 [%a2], %q0"),
        (
            "ld.relaxed.gpu.global.v2.f64 {%g0,%g1}, [%a1]",
            "st.release.sys.global.v2.f64 [%a2], {%g0,%g1}",
        ),
        (
            "ld.global.v4.u8 {%r0,%r1,%r2,%r3}, [%a1]; ld.volatile.global.u32 %r4, [%a1+4]; ld.acquire.gpu.global.b64 %d0, [%a1+8]",
            "st.v4.u8 [%a2], {%r0,%r1,%r2,%r3}; st.volatile.global.u32 [%a2+4], %r4; st.relaxed.cta.global.b64 [%a2+8], %d0",
        ),
        (
            ".local .align 16 .b8 l[16]; ld.b128 %q0, [%a1]; st.local.v2.u64 [l], {%d4,%d5}; mov.b128 {%d2,%d3}, %q0; st.local.v2.u64 [l], {%d2,%d3}; ld.local.v4.b32 {%r0,%r1,%r2,%r3}, [l]",
            "st.global.v4.b32 [%a2], {%r0,%r1,%r2,%r3}",
        ),
    ] {
        let body = format!(
            "shl.b64 %a0, %tl, 4; add.u64 %a1, %in, %a0; add.u64 %a2, %out, %a0;\n{load};\n{store};"
        );
        let (_, output) = run(&module("", &body), 32, &input, 512);
        assert_eq!(output, input, "{load}");
    }
}

#[test]
fn accesses_are_aligned_to_all_of_their_bytes() {
    for access in [
        "ld.global.v2.u32 {%r0,%r1}, [%a0]",
        "st.v4.u8 [%a0+2], {%r0,%r1,%r2,%r3}",
        "atom.global.add.u32 %r0, [%a0+2], 1",
    ] {
        let body = format!("add.u64 %a0, %in, 4;\n{access};");
        assert_eq!(
            fault(&module("", &body), &[0; 64], 0),
            FaultKind::MisalignedAddress,
            "{access}"
        );
    }
}

#[test]
fn call_parameters_are_bytes() {
    let before = ".func (.param .align 8 .b8 result[8]) f(.param .b32 a, .param .align 8 .b8 s[12])\n{\n.reg .b32 %r<8>; .reg .b64 %a;\n\
                  ld.param.u16 %r0, [a]; ld.param.u8 %r1, [a+3]; mov.u64 %a, s; ld.local.u32 %r2, [%a+8]; ld.param.v2.u32 {%r3,%r4}, [s];\n\
                  add.u32 %r0, %r0, %r1; add.u32 %r0, %r0, %r3; add.u32 %r4, %r4, %r2;\n\
                  st.param.v2.b32 [result], {%r0,%r4};\nret;\n}";
    let body = "{ .param .b32 x; .param .align 8 .b8 y[12]; .param .align 8 .b8 z[8];\n\
                st.param.b8 [x], %t; st.param.b8 [x+1], 1; st.param.b8 [x+2], 77; st.param.b8 [x+3], 9;\n\
                st.param.v2.b32 [y], {100, 200}; st.param.b32 [y+8], %t;\ncall (z), f, (x, y);\nld.param.b64 %d0, [z]; }\n\
                shl.b64 %a0, %tl, 3; add.u64 %a0, %out, %a0; st.global.u64 [%a0], %d0;";
    let (_, output) = run(&module(before, body), 40, &[], 320);
    let expected: Vec<u32> = (0..40).flat_map(|t| [t + 256 + 9 + 100, 200 + t]).collect();
    assert_eq!(words32(&output), expected);
}

/// Returns the value that an atomic stores.
fn updated(op: &str, ty: &str, m: u64, b: u64) -> u64 {
    let bits: u32 = ty[1..].parse().unwrap_or(32);
    let mask = u64::MAX >> (64 - bits);
    let (sm, sb) =
        (extended(&format!("s{bits}"), m) as i64, extended(&format!("s{bits}"), b) as i64);
    let signed = ty.starts_with('s');
    mask & match op {
        "add" => m.wrapping_add(b),
        "min" if signed => sm.min(sb) as u64,
        "max" if signed => sm.max(sb) as u64,
        "min" => m.min(b),
        "max" => m.max(b),
        "and" => m & b,
        "or" => m | b,
        "xor" => m ^ b,
        "exch" => b,
        "inc" => {
            if m >= b {
                0
            } else {
                m + 1
            }
        }
        "dec" => {
            if m == 0 || m > b {
                b
            } else {
                m - 1
            }
        }
        _ => unreachable!(),
    }
}

#[test]
fn integer_atomics_return_what_was_there() {
    let forms = [
        ("add", "u32"),
        ("add", "s32"),
        ("add", "u64"),
        ("min", "u32"),
        ("min", "s32"),
        ("max", "u64"),
        ("max", "s64"),
        ("min", "s64"),
        ("and", "b32"),
        ("or", "b64"),
        ("xor", "b32"),
        ("xor", "b64"),
        ("exch", "b32"),
        ("exch", "b64"),
        ("inc", "u32"),
        ("dec", "u32"),
    ];
    let input = bytes(32 * 8);
    for (op, ty) in forms {
        let size = ty[1..].parse::<usize>().unwrap() / 8;
        for space in ["global", "shared", "generic"] {
            let (declare, dot, address) = match space {
                "global" => ("", ".global", "mov.u64 %a3, %out;"),
                "generic" => ("", "", "mov.u64 %a3, %out;"),
                _ => (".shared .align 8 .b8 s[64];", ".shared", "mov.u64 %a3, s;"),
            };
            let init =
                if space == "shared" { "@%p0 st.shared.u64 [%a3], 0; bar.sync 0;" } else { "" };
            let give = if space == "shared" {
                "bar.sync 0; @%p0 ld.shared.u64 %d3, [%a3]; add.u64 %a6, %out, %a4; @%p0 st.global.u64 [%a6], %d3;"
            } else {
                ""
            };
            let value = if size == 8 { "%d0" } else { "%r0" };
            let body = format!(
                "{declare}\nshl.b64 %a0, %tl, 3; add.u64 %a1, %in, %a0; ld.global.u{bits} {value}, [%a1];\n{address}\n\
                 and.b64 %a4, %tl, 3; shl.b64 %a4, %a4, 3; add.u64 %a3, %a3, %a4; setp.lt.u64 %p0, %tl, 4;\n{init}\n\
                 atom{dot}.{op}.{ty} {old}, [%a3], {value};\nadd.u64 %a5, %out, %a0; st.global.u{bits} [%a5+64], {old};\n{give}",
                bits = 8 * size,
                old = if size == 8 { "%d1" } else { "%r1" },
            );
            let (_, output) = run(&module("", &body), 32, &input, 64 + 256);
            let mask = u64::MAX >> (64 - 8 * size);
            let mut cells = [0_u64; 4];
            let values = words64(&input);
            let olds: Vec<u64> = (0..32)
                .map(|lane| {
                    let old = cells[lane % 4];
                    cells[lane % 4] = updated(op, ty, old, values[lane] & mask);
                    old
                })
                .collect();
            let found = words64(&output);
            assert_eq!(found[..4], cells, "{op}.{ty} in {space}");
            assert_eq!(found[8..], olds, "{op}.{ty} in {space}");
        }
    }
}

#[test]
fn compare_and_swap_of_16_to_128_bits() {
    // Lane n replaces n by n + 1, also in cells at odd places.
    for (space, at) in [(".global", "%out"), ("", "%out")] {
        let body = format!(
            "mov.b64 %d0, 0; mov.b64 {{%r0,%r1}}, %tl; cvt.u16.u32 %h0, %t; add.u16 %h1, %h0, 1; add.u32 %r2, %t, 1; add.u64 %d1, %tl, 1;\n\
             atom{space}.cas.b16 %h2, [{at}+6], %h0, %h1; atom{space}.cas.b32 %r3, [{at}+8], %t, %r2; atom.cas.b64 %d2, [{at}+16], %tl, %d1;\n\
             mov.b128 %q0, {{%tl,%d0}}; mov.b128 %q1, {{%d1,%d0}}; atom{space}.cas.b128 %q2, [{at}+32], %q0, %q1;\n\
             mov.b128 {{%d3,%d4}}, %q2; cvt.u64.u16 %d5, %h2; cvt.u64.u32 %d6, %r3; add.u64 %d5, %d5, %d6; add.u64 %d5, %d5, %d2; add.u64 %d5, %d5, %d3;\n\
             atom{space}.exch.b128 %q3, [{at}+48], %q1; mov.b128 {{%d7,%d8}}, %q3; add.u64 %d5, %d5, %d7;\n\
             shl.b64 %a0, %tl, 3; add.u64 %a0, %out, %a0; st.global.u64 [%a0+64], %d5;"
        );
        let (_, output) = run(&module("", &body), 32, &[], 64 + 256);
        let found = words64(&output);
        assert_eq!(found[..8], [32 << 48, 32, 32, 0, 32, 0, 32, 0]);
        assert_eq!(found[8..], (0..32).map(|n| 5 * n).collect::<Vec<u64>>());
    }
}

#[test]
fn atomics_of_floats() {
    // The lanes add up their numbers, and vectors of their numbers.
    let body = "cvt.rn.f32.u32 %f0, %t; cvt.rn.f64.u32 %g0, %t; atom.global.add.f32 %f1, [%out], %f0; red.add.f64 [%out+8], %g0;\n\
                cvt.rn.f16.f32 %h0, %f0; mov.b32 %r0, {%h0,%h0}; red.global.add.noftz.f16x2 [%out+16], %r0; atom.add.noftz.f16 %h1, [%out+22], %h0;\n\
                cvt.rn.bf16.f32 %h2, %f0; mov.b32 %r1, {%h2,%h2}; red.add.noftz.bf16 [%out+24], %h2; atom.global.add.noftz.bf16x2 %r2, [%out+28], %r1;\n\
                atom.global.add.v4.f32 {%f2,%f3,%f4,%f5}, [%out+32], {%f0,%f0,%f0,%f0};\n\
                red.global.max.noftz.v2.bf16x2 [%out+48], {%r1,%r1}; red.global.min.noftz.v4.f16 [%out+56], {%h0,%h0,%h0,%h0};\n\
                shl.b64 %a0, %tl, 2; add.u64 %a0, %out, %a0; st.global.f32 [%a0+64], %f1;";
    let (_, output) = run(&module("", body), 32, &[], 64 + 128);
    let sums: Vec<f32> = (0..32).map(|n| (0..n).sum::<u32>() as f32).collect();
    let found: Vec<f32> = words32(&output[64..]).into_iter().map(f32::from_bits).collect();
    assert_eq!(found, sums);
    let brain =
        (0..32).fold(bf16::ZERO, |sum, n| bf16::from_f32(sum.to_f32() + n as f32)).to_bits();
    let half = f16::from_f32(496.0).to_bits();
    let halves: Vec<u16> =
        output[..64].chunks(2).map(|half| u16::from_le_bytes(half.try_into().unwrap())).collect();
    assert_eq!(f32::from_bits(words32(&output)[0]), 496.0);
    assert_eq!(f64::from_bits(words64(&output)[1]), 496.0);
    assert_eq!(halves[8..16], [half, half, 0, half, brain, 0, brain, brain]);
    assert_eq!(words32(&output)[8..12], [496.0_f32.to_bits(); 4]);
    assert_eq!(halves[24..28], [bf16::from_f32(31.0).to_bits(); 4]);
    assert_eq!(halves[28..32], [0; 4]);
}

#[test]
fn denormal_sums_are_flushed_in_global_memory_only() {
    let body = ".shared .align 4 .b32 s; mov.f32 %f0, 0f00000001; mov.u64 %a0, s; cvta.shared.u64 %a1, %a0;\n\
                setp.eq.u32 %p0, %t, 0; @%p0 st.shared.u32 [s], 0; bar.sync 0;\n\
                @%p0 red.shared.add.f32 [s], %f0; @%p0 red.add.f32 [%a1], %f0; @%p0 red.add.f32 [%out], %f0; @%p0 red.global.add.f32 [%out], %f0;\n\
                ld.shared.u32 %r0, [s]; @%p0 st.global.u32 [%out+4], %r0;";
    let (_, output) = run(&module("", body), 32, &[], 8);
    assert_eq!(words32(&output), [0, 2]);
}

#[test]
fn fences_and_strong_accesses_pass_messages_between_warps() {
    let body = ".shared .align 4 .b32 flag; .shared .align 4 .b32 data; setp.eq.u32 %p0, %t, 0; @%p0 st.shared.u32 [flag], 0; bar.sync 0;\n\
                setp.ge.u32 %p1, %t, 32; @%p1 bra GIVE;\n\
                WAIT: ld.acquire.cta.shared.u32 %r0, [flag]; nanosleep.u32 20; setp.eq.u32 %p2, %r0, 0; @%p2 bra WAIT;\n\
                ld.shared.u32 %r1, [data]; shl.b64 %a0, %tl, 2; add.u64 %a0, %out, %a0; st.global.u32 [%a0], %r1; bra DONE;\n\
                GIVE: setp.eq.u32 %p3, %t, 32; @%p3 st.shared.u32 [data], 42; fence.acq_rel.cta; membar.gl; fence.sc.sys;\n\
                @%p3 st.release.cta.shared.u32 [flag], 1;\nDONE:";
    let (_, output) = run(&module("", body), 64, &[], 128);
    assert_eq!(words32(&output), [42; 32]);
}

#[test]
fn barriers_in_memory_hand_over_in_phases() {
    // Warp 0 produces numbers and warp 1 adds them up, over 5 phases of two barriers.
    let body = ".shared .align 8 .b64 full; .shared .align 8 .b64 empty; .shared .align 16 .b32 data[32];\n\
        setp.eq.u32 %p0, %t, 0; @%p0 mbarrier.init.shared.b64 [full], 32; @%p0 mbarrier.init.shared.b64 [empty], 32; bar.sync 0;\n\
        and.b32 %r0, %t, 31; mul.wide.u32 %a0, %r0, 4; mov.u64 %a1, data; add.u64 %a1, %a1, %a0; mov.u32 %r1, 0; mov.u32 %r2, 0;\n\
        setp.ge.u32 %p1, %t, 32;\n\
        LOOP: and.b32 %r3, %r1, 1; @%p1 bra TAKE;\n\
        xor.b32 %r4, %r3, 1;\nFREE: mbarrier.try_wait.parity.shared.b64 %p2, [empty], %r4; @!%p2 bra FREE;\n\
        mad.lo.u32 %r5, %r1, 100, %r0; st.shared.u32 [%a1], %r5; mbarrier.arrive.shared.b64 %d0, [full]; bra NEXT;\n\
        TAKE: mbarrier.test_wait.parity.acquire.cta.shared::cta.b64 %p2, [full], %r3; @!%p2 bra TAKE;\n\
        ld.shared.u32 %r6, [%a1]; add.u32 %r2, %r2, %r6; mbarrier.arrive.release.cta.shared::cta.b64 %d0, [empty];\n\
        NEXT: add.u32 %r1, %r1, 1; setp.lt.u32 %p3, %r1, 5; @%p3 bra LOOP;\n\
        add.u64 %a2, %out, %a0; @%p1 st.global.u32 [%a2], %r2;";
    let (_, output) = run(&module("", body), 64, &[], 128);
    assert_eq!(words32(&output), (0..32).map(|n| 1000 + 5 * n).collect::<Vec<u32>>());
}

#[test]
fn states_counts_and_drops_of_barriers() {
    // One lane runs, and each step notes a number.
    let mut body = String::from(
        ".shared .align 8 .b64 b; mov.u64 %a0, %out; setp.eq.u32 %p7, %t, 0; @!%p7 bra END; mbarrier.init.shared.b64 [b], 3;\n",
    );
    let mut note = |code: &str, predicate: bool| {
        let number = if predicate { "selp.u32 %r9, 1, 0, %p0;" } else { "" };
        body += &format!("{code} {number} st.global.u32 [%a0], %r9; add.u64 %a0, %a0, 4;\n");
    };
    note("mbarrier.test_wait.parity.shared.b64 %p0, [b], 1;", true);
    note("mbarrier.test_wait.parity.shared.b64 %p0, [b], 0;", true);
    note("mbarrier.arrive.shared.b64 %d0, [b]; mbarrier.pending_count.b64 %r9, %d0;", false);
    note("mbarrier.test_wait.shared.b64 %p0, [b], %d0;", true);
    note("mbarrier.arrive_drop.shared.b64 %d1, [b]; mbarrier.pending_count.b64 %r9, %d1;", false);
    // The barrier first awaits bytes.
    note(
        "mbarrier.arrive.expect_tx.shared.b64 %d2, [b], 48; mbarrier.test_wait.shared.b64 %p0, [b], %d0;",
        true,
    );
    note(
        "mbarrier.complete_tx.shared.b64 [b], 16; mbarrier.try_wait.shared.b64 %p0, [b], %d0;",
        true,
    );
    note(
        "mbarrier.complete_tx.shared.b64 [b], 32; mbarrier.test_wait.shared.b64 %p0, [b], %d0;",
        true,
    );
    // The barrier expects two arrivals from now on.
    note(
        "mbarrier.arrive.noComplete.shared.b64 %d3, [b], 1; mbarrier.pending_count.b64 %r9, %d3;",
        false,
    );
    note("mbarrier.test_wait.parity.shared.b64 %p0, [b], 1;", true);
    note(
        "mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [b], 4; mbarrier.arrive.shared::cluster.b64 _, [b]; mbarrier.test_wait.shared.b64 %p0, [b], %d3;",
        true,
    );
    note(
        "cp.async.mbarrier.arrive.shared.b64 [b]; mbarrier.test_wait.shared.b64 %p0, [b], %d3;",
        true,
    );
    note(
        "mov.u64 %a1, b; cvta.shared.u64 %a1, %a1; mbarrier.complete_tx.b64 [%a1], 4; mov.u32 %r9, 9;",
        false,
    );
    body += "mbarrier.inval.shared.b64 [b];\nEND:";
    let (_, output) = run(&module("", &body), 32, &[], 4 * 13);
    assert_eq!(words32(&output), [1, 0, 3, 0, 2, 0, 0, 1, 2, 0, 0, 0, 9]);
}

#[test]
fn copies_of_4_to_16_bytes_fill_with_zeros() {
    let input = bytes(32 * 16);
    for size in [4_usize, 8, 16] {
        for (more, taken) in
            [("", None), (", %r1", Some(0)), (", 0", Some(-1)), (", %p0", Some(-2))]
        {
            let (kind, taken) = ((if size == 16 { "cg" } else { "ca" }), taken);
            let body = format!(
                ".shared .align 16 .b8 s[512]; shl.b64 %a0, %tl, 4; add.u64 %a1, %in, %a0; mov.u64 %a2, s; add.u64 %a2, %a2, %a0;\n\
                 rem.u32 %r1, %t, 18; and.b32 %r2, %t, 1; setp.eq.u32 %p0, %r2, 1; st.shared.v2.u64 [%a2], {{-1,-1}};\n\
                 cp.async.{kind}.shared.global [%a2], [%a1], {size}{more}; cp.async.commit_group; cp.async.wait_group 0; cp.async.wait_all;\n\
                 ld.shared.v2.u64 {{%d0,%d1}}, [%a2]; add.u64 %a3, %out, %a0; st.global.v2.u64 [%a3], {{%d0,%d1}};"
            );
            let (_, output) = run(&module("", &body), 32, &input, 512);
            for lane in 0..32 {
                let taken = match taken {
                    None => size,
                    Some(0) => (lane % 18).min(size),
                    Some(-1) => 0,
                    Some(_) => {
                        if lane % 2 == 1 {
                            0
                        } else {
                            size
                        }
                    }
                };
                let mut expected = [0xff; 16];
                expected[..size].fill(0);
                expected[..taken].copy_from_slice(&input[16 * lane..][..taken]);
                assert_eq!(output[16 * lane..][..16], expected, "lane {lane}: {size}{more}");
            }
        }
    }
}

#[test]
fn bulk_copies_and_reductions() {
    let input = bytes(8192);
    let body = ".shared .align 128 .b8 s[8192]; .shared .align 8 .b64 b; setp.eq.u32 %p0, %t, 0; @%p0 mbarrier.init.shared.b64 [b], 1; bar.sync 0;\n\
        mov.u32 %r0, 8192; mov.u32 %r1, 4096; mov.u64 %a0, s; add.u64 %a1, %a0, 4096; add.u64 %a2, %out, 8192;\n\
        @%p0 mbarrier.arrive.expect_tx.shared.b64 %d0, [b], 8192;\n\
        @%p0 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%a0], [%in], %r0, [b];\n\
        WAIT: mbarrier.try_wait.parity.shared.b64 %p1, [b], 0; @!%p1 bra WAIT;\n\
        @%p0 cp.async.bulk.global.shared::cta.bulk_group [%out], [%a0], %r0; cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;\n\
        @%p0 cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [%a2], [%a0], 4096; @%p0 cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [%a2], [%a1], %r1;";
    let (_, output) = run(&module("", body), 64, &input, 8192 + 4096);
    assert_eq!(output[..8192], input);
    let words = words32(&input);
    let sums: Vec<u32> = (0..1024).map(|n| words[n].wrapping_add(words[n + 1024])).collect();
    assert_eq!(words32(&output[8192..]), sums);
    let body = ".shared .align 128 .b8 s[64]; mov.u64 %a0, s; cp.async.bulk.global.shared::cta.bulk_group [%out], [%a0], 24;";
    assert_eq!(fault(&module("", body), &[], 64), FaultKind::MisalignedAddress);
    let body = ".shared .align 128 .b8 s[64]; mov.u64 %a0, s; cp.async.bulk.global.shared::cta.bulk_group [%out], [%a0], 4096;";
    assert_eq!(fault(&module("", body), &[], 4096), FaultKind::AddressOutOfRange);
}

#[test]
fn the_stack_is_put_back_when_a_function_returns() {
    let before = ".func (.reg .u32 r) f(.reg .u32 n)\n{\n.reg .u64 %p, %q; .reg .u32 %a, %b;\n\
                  alloca.u64 %p, 1024, 16; alloca.u64 %q, 64; st.local.u32 [%p], n; st.local.u32 [%q+60], 5; stacksave.u64 %q; ld.local.u32 %a, [%p];\n\
                  stackrestore.u64 %q; add.u32 r, %a, 1; ret;\n}";
    let body = "mov.u32 %r0, %t; mov.u32 %r1, 0;\nLOOP: call (%r0), f, (%r0); add.u32 %r1, %r1, 1; setp.lt.u32 %p0, %r1, 100; @%p0 bra LOOP;\n\
                shl.b64 %a0, %tl, 2; add.u64 %a0, %out, %a0; st.global.u32 [%a0], %r0;";
    let (_, output) = run(&module(before, body), 32, &[], 128);
    assert_eq!(words32(&output), (100..132).collect::<Vec<u32>>());
    let over = "alloca.u64 %d0, 0x10000000; st.local.u32 [%d0], 1;";
    assert_eq!(fault(&module("", over), &[], 0), FaultKind::StackOverflow);
}

#[test]
fn a_cluster_of_one_block() {
    let body = ".shared .align 16 .b32 s[32]; .shared .align 8 .b64 b; setp.eq.u32 %p0, %t, 0; @%p0 mbarrier.init.shared.b64 [b], 1; bar.sync 0;\n\
        mov.u32 %r0, s; mapa.shared::cluster.u32 %r1, %r0, 0; mov.u32 %r2, b; getctarank.shared::cluster.u32 %r3, %r1; shl.b32 %r4, %t, 2; add.u32 %r1, %r1, %r4;\n\
        @%p0 mbarrier.arrive.expect_tx.shared.b64 %d0, [b], 128;\n\
        st.async.shared::cluster.mbarrier::complete_tx::bytes.u32 [%r1], %t, [%r2];\n\
        WAIT: mbarrier.try_wait.parity.shared.b64 %p1, [b], 0; @!%p1 bra WAIT;\n\
        ld.shared::cluster.u32 %r5, [%r1]; add.u32 %r5, %r5, %r3; cvt.u64.u32 %a1, %r4; add.u64 %a0, %out, %a1; st.global.u32 [%a0], %r5;";
    let (_, output) = run(&module("", body), 32, &[], 128);
    assert_eq!(words32(&output), (0..32).collect::<Vec<u32>>());
}
