//! Divisions of 64-bit integers in compilers' binaries: the results must equal the host's division;
//! for divisions by 0, the interpreter's result of the steps.
//!
//! The tests also check that first estimates of 2^64 / y are as close as the proof in
//! `analysis::wide_division` needs.

use std::path::Path;

use warploom::{EngineKind, Stage};
use warploom_replay::{Launch, Manifest, Session};

use super::random;

/// Returns dividends and divisors, 0 among them: words, pairs close to powers of 2, and random
/// bits.
fn pairs() -> Vec<(u64, u64)> {
    let edges = [
        0,
        1,
        2,
        3,
        10,
        0xffff_ffff,
        1 << 32,
        (1 << 32) + 1,
        0xffff_ffff_0000_0000,
        1 << 63,
        u64::MAX - 1,
        u64::MAX,
    ];
    let close = (0..64).flat_map(|bit| [(1u64 << bit).wrapping_sub(1), 1 << bit, (1 << bit) + 1]);
    let all: Vec<u64> = edges.into_iter().chain(close).collect();
    let mut pairs: Vec<(u64, u64)> =
        all.iter().flat_map(|&x| all.iter().map(move |&y| (x, y))).collect();
    let mut state = 11;
    for _ in 0..20_000 {
        let [x, y] = [(); 2].map(|()| random(&mut state) >> (random(&mut state) % 64));
        // The quotient changes just below a multiple, and the remainder just above it.
        let near = x.wrapping_mul(y);
        pairs.extend([(x, y), (near.wrapping_sub(1), y), (near, y), (near.wrapping_add(1), y)]);
    }
    pairs
}

/// Returns the two results that a kernel stores, and its code after analysis.
fn run(
    binary: &str,
    kernel: &str,
    pairs: &[(u64, u64)],
    engine: EngineKind,
) -> (Vec<[u64; 2]>, String) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/divisions/wide");
    let list = |pick: fn(&(u64, u64)) -> u64| {
        let values: Vec<_> = pairs.iter().map(|pair| format!("\"{:#x}\"", pick(pair))).collect();
        values.join(", ")
    };
    let (x, y, bytes, count) =
        (list(|pair| pair.0), list(|pair| pair.1), 8 * pairs.len(), pairs.len());
    let text = format!(
        "[kernel]\nbinary = \"{binary}\"\nentry = \"{kernel}\"\n[launch]\ngrid = [{}, 1, 1]\nblock = [128, 1, 1]\n\
         [[arg]]\nbuffer = \"x\"\n[[arg]]\nbuffer = \"y\"\n[[arg]]\nbuffer = \"quotient\"\n[[arg]]\nbuffer = \"remainder\"\n\
         [[arg]]\ni32 = {count}\n[buffer.x]\ndtype = \"u64\"\nvalues = [{x}]\n[buffer.y]\ndtype = \"u64\"\nvalues = [{y}]\n\
         [buffer.quotient]\nzeros = {bytes}\n[buffer.remainder]\nzeros = {bytes}\n",
        count.div_ceil(128)
    );
    let path = folder.join("wide.toml");
    let manifest = Manifest::parse(&text, &path).unwrap();
    let launch = Launch::resolve(manifest, &path).unwrap_or_else(|e| panic!("{binary}: {e}"));
    let session = Session::new(&launch).unwrap();
    let outcome = session.launch(&session.options(engine, 1), None).unwrap();
    assert!(outcome.fault.is_none(), "{binary} {kernel}: {:?}", outcome.fault);
    let index = |name: &str| launch.buffers.iter().position(|buffer| buffer.name == name).unwrap();
    let [quotients, remainders] =
        ["quotient", "remainder"].map(|name| session.buffer(index(name)).unwrap());
    let words = |bytes: &[u8]| -> Vec<u64> {
        bytes.chunks_exact(8).map(|word| u64::from_le_bytes(word.try_into().unwrap())).collect()
    };
    let results =
        words(&quotients).into_iter().zip(words(&remainders)).map(|(q, r)| [q, r]).collect();
    (results, session.dump(Stage::Analysed, None, None).unwrap())
}

#[test]
fn divisions_of_compilers() {
    let pairs = pairs();
    for binary in ["gfx900.hsaco", "cuda11.sm_50.cubin", "cuda12.sm_50.cubin"] {
        for kernel in ["udiv", "urem", "udivrem", "sdiv", "srem", "sdivrem"] {
            let (found, code) = run(binary, kernel, &pairs, EngineKind::Jit);
            let (expected, _) = run(binary, kernel, &pairs, EngineKind::Interp);
            let operation = if kernel.ends_with("div") || kernel.ends_with("divrem") {
                "= div.u "
            } else {
                "= rem.u "
            };
            // The second operation divides words; it runs if the operands fit in words.
            assert_eq!(code.matches(operation).count(), 2, "{binary} {kernel}:\n{code}");
            let signed = kernel.starts_with('s');
            for ((&(x, y), found), expected) in pairs.iter().zip(found).zip(expected) {
                assert_eq!(found, expected, "{binary} {kernel} of {x:#x} by {y:#x}");
                if y == 0 {
                    continue;
                }
                let [q, r] = match signed {
                    true => [
                        (x as i64).wrapping_div(y as i64) as u64,
                        (x as i64).wrapping_rem(y as i64) as u64,
                    ],
                    false => [x / y, x % y],
                };
                let [has_quotient, has_remainder] =
                    ["div", "rem"].map(|part| kernel.contains(part));
                let wanted = [if has_quotient { q } else { 0 }, if has_remainder { r } else { 0 }];
                assert_eq!(found, wanted, "{binary} {kernel} of {x:#x} by {y:#x}");
            }
        }
    }
}

/// Returns the first estimates of 2^64 / y by LLVM and by NVIDIA.
fn estimates(y: u64) -> [u64; 2] {
    let reciprocal = |y: f32| 1.0 / y;
    let (high, low) = ((y >> 32) as u32, y as u32);
    let x = reciprocal(high as f32 * 2f32.powi(32) + low as f32) * f32::from_bits(0x5f7f_fffc);
    let whole = (x * 2f32.powi(-32)).trunc();
    let rest = whole * -2f32.powi(32) + x;
    let llvm = u64::from(whole as u32) << 32 | u64::from(rest as u32);
    let nearest = y as f32;
    let up = if (nearest as u128) < u128::from(y) { nearest.next_up() } else { nearest };
    let nvidia = f32::from_bits(reciprocal(up).to_bits().wrapping_add(0x1fff_fffe)) as u64;
    [llvm, nvidia]
}

/// Returns whether both estimates are at most X = 2^64 / y, and at least X - (X / 2^21 + 1).
fn is_close(y: u64) -> bool {
    estimates(y).into_iter().all(|x| {
        let product = u128::from(x) * u128::from(y);
        product <= 1 << 64 && (1 << 64) - product <= (1 << 43) + u128::from(y)
    })
}

#[test]
fn estimates_of_wide_divisions_are_close() {
    let mut state = 3;
    let small = 1..1 << 16;
    let great = (0..1 << 16).map(|y| u64::MAX - y);
    let any = (0..300_000).map(|_| (random(&mut state) >> (random(&mut state) % 64)).max(1));
    for y in small.chain(great).chain(any) {
        assert!(is_close(y), "{y:#x}");
    }
}

/// Checks all floats of a binade, with integers that round to each from below and from above.
///
/// Other binades differ by a factor, except that low words are rounded separately.
#[test]
fn estimates_by_all_reciprocals_are_close() {
    for mantissa in 1u64 << 23..1 << 24 {
        for shift in [24, 40] {
            let (y, half) = (mantissa << shift, 1u64 << (shift - 1));
            for y in [y - half, y - half + 1, y, y + half - 1, y + (half - 1).saturating_mul(2)] {
                assert!(is_close(y), "{y:#x}");
            }
        }
    }
}
