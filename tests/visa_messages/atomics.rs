//! Atomics on memory without a format: one lane acts after another.

use super::{BASE, Message, Random, State, check};

/// Returns a cell's bits as a float: as `bf16` if the operation's name begins with `bf`.
fn float(op: &str, bits: u64, width: u32) -> f64 {
    match width {
        16 if op.starts_with("bf") => half::bf16::from_bits(bits as u16).to_f64(),
        16 => half::f16::from_bits(bits as u16).to_f64(),
        32 => f32::from_bits(bits as u32).into(),
        _ => f64::from_bits(bits),
    }
}

fn bits_of(op: &str, value: f64, width: u32) -> u64 {
    match width {
        16 if op.starts_with("bf") => half::bf16::from_f64(value).to_bits().into(),
        16 => half::f16::from_f64(value).to_bits().into(),
        32 => (value as f32).to_bits().into(),
        _ => value.to_bits(),
    }
}

/// Returns the new value of memory. LSC's exchanges have the sources compare and swap; `cmpxchg` of
/// old messages has swap and compare.
pub(super) fn combine(op: &str, width: u32, old: u64, [first, second]: [u64; 2]) -> u64 {
    let mask = u64::MAX >> (64 - width);
    let signed = |bits: u64| (bits << (64 - width)) as i64 >> (64 - width);
    let float = |bits: u64| float(op, bits, width);
    let new = match op {
        "iadd" | "add" => old.wrapping_add(first),
        "isub" | "sub" => old.wrapping_sub(first),
        "iinc" | "inc" => old.wrapping_add(1),
        "idec" | "dec" | "predec" => old.wrapping_sub(1),
        "umin" | "min" => old.min(first),
        "umax" | "max" => old.max(first),
        "smin" | "minsint" => signed(old).min(signed(first)) as u64,
        "smax" | "maxsint" => signed(old).max(signed(first)) as u64,
        "and" => old & first,
        "or" => old | first,
        "xor" => old ^ first,
        "store" | "xchg" => first,
        "load" => old,
        "icas" if old == first => second,
        "cmpxchg" if old == second => first,
        "fcas" | "fcmpwr" if float(old) == float(first) => second,
        "fadd" | "bfadd" => bits_of(op, float(old) + float(first), width),
        "fsub" | "bfsub" => bits_of(op, float(old) - float(first), width),
        "fmin" | "bfmin" if float(first) < float(old) => first,
        "fmax" | "bfmax" if float(first) > float(old) => first,
        _ => old,
    };
    new & mask
}

/// Returns small numbers, so that some comparisons find equal numbers.
pub(super) fn numbers(random: &mut Random, op: &str, width: u32, count: usize) -> Vec<u64> {
    let number = |random: &mut Random| {
        let small = random.below(5) as i64 - 2;
        match op.starts_with(['f', 'b']) {
            true => bits_of(op, small as f64 * 0.75, width),
            false => small as u64 & (u64::MAX >> (64 - width)),
        }
    };
    (0..count).map(|_| number(random)).collect()
}

/// Runs an atomic. `text` has `#` for the execution mask and size.
fn run(text: &str, op: &str, width: u32, address: usize, relative: bool, seed: u64) {
    let cell = width as usize / 8;
    let register = cell.max(4);
    for (number, (count, first, predicate)) in (0..).zip([(16, 0, ""), (8, 8, "(P1) "), (1, 0, "")])
    {
        let mut random = Random(seed * 1000 + number + 1);
        let mut state = State::random(seed * 10 + number);
        let (active, bits) = (random.next() as u32 | 1, random.next() as u32);
        let put = |bytes: &mut Vec<u8>, size: usize, random: &mut Random| {
            let numbers = numbers(random, op, width, bytes.len() / size);
            for (place, number) in bytes.chunks_exact_mut(size).zip(numbers) {
                // The bits above a narrow source do not count.
                place[..cell].copy_from_slice(&number.to_le_bytes()[..cell]);
            }
        };
        let local = text.contains("slm");
        put(if local { &mut state.local } else { &mut state.memory }, cell, &mut random);
        put(&mut state.first, register, &mut random);
        put(&mut state.second, register, &mut random);
        // There are few places, so that several lanes update one place.
        let places: Vec<usize> = (0..count).map(|_| random.below(6) as usize * cell + 64).collect();
        let base = if relative { 0 } else { BASE };
        state.set_addresses(
            address,
            &places.iter().map(|&place| base + place as u64).collect::<Vec<_>>(),
        );
        let text =
            format!("{predicate}{}", text.replace('#', &format!("(M{}, {count})", first / 4 + 1)));
        let enabled = if predicate.is_empty() { active } else { active & bits };
        let message = Message { platform: "dg2", simd: 16, text: &text, active, predicate: bits };
        check(&message, &state, |state| {
            for (n, &place) in
                places.iter().enumerate().filter(|(n, _)| enabled >> (first as usize + n) & 1 != 0)
            {
                let read = |bytes: &[u8], at: usize| {
                    let mut word = [0; 8];
                    word[..cell].copy_from_slice(&bytes[at..at + cell]);
                    u64::from_le_bytes(word)
                };
                let memory = if local { &mut state.local } else { &mut state.memory };
                let old = read(memory, place);
                let new = combine(
                    op,
                    width,
                    old,
                    [read(&state.first, n * register), read(&state.second, n * register)],
                );
                memory[place..place + cell].copy_from_slice(&new.to_le_bytes()[..cell]);
                if text.contains(" D") {
                    let given = if op == "predec" { new } else { old };
                    state.dst[n * register..(n + 1) * register]
                        .copy_from_slice(&given.to_le_bytes()[..register]);
                }
            }
        });
    }
}

pub(super) const LSC: [&str; 19] = [
    "iinc", "idec", "load", "store", "iadd", "isub", "smin", "smax", "umin", "umax", "icas",
    "fadd", "fsub", "fmin", "fmax", "fcas", "and", "or", "xor",
];
/// The operations on `bf16`.
const BRAIN: [&str; 4] = ["bfadd", "bfsub", "bfmin", "bfmax"];

/// Returns the sources as the text writes them.
pub(super) fn sources(op: &str) -> &'static str {
    match op {
        "iinc" | "idec" | "load" | "inc" | "dec" | "predec" => "%null %null",
        "icas" | "fcas" | "cmpxchg" | "fcmpwr" => "S B",
        _ => "S %null",
    }
}

#[test]
fn lsc() {
    let places = [
        ("ugm", "flat[A]:a64", 8, false),
        ("ugm", "bss(HANDLE)[A]:a32", 4, true),
        ("slm", "flat[A]:a32", 4, true),
    ];
    let mut seed = 1;
    for (number, (sfid, place, address, relative)) in places.into_iter().enumerate() {
        for op in LSC {
            for (data, width) in [("d32", 32), ("d64", 64), ("d16u32", 16)] {
                // One place takes all widths, the other places only 32 bits.
                if number > 0 && width != 32 {
                    continue;
                }
                let dst = if seed % 4 == 0 && op != "load" { "%null" } else { "D" };
                let text = format!("lsc_atomic_{op}.{sfid} # {dst}:{data} {place} {}", sources(op));
                run(&text, op, width, address, relative, seed);
                seed += 1;
            }
        }
        for op in BRAIN {
            let text = format!("lsc_atomic_{op}.{sfid} # D:d16u32 {place} {}", sources(op));
            run(&text, op, 16, address, relative, seed);
            seed += 1;
        }
    }
}

const OLD: [&str; 17] = [
    "add", "sub", "inc", "dec", "min", "max", "xchg", "cmpxchg", "and", "or", "xor", "minsint",
    "maxsint", "predec", "fmax", "fmin", "fcmpwr",
];

#[test]
fn old_messages() {
    let mut seed = 500;
    for op in OLD {
        let raws =
            sources(op).split(' ').map(|name| format!("{name}.0")).collect::<Vec<_>>().join(" ");
        for (suffix, width) in [("", 32), (".16", 16), (".64", 64)] {
            run(&format!("svm_atomic.{op}{suffix} # A.0 D.0 {raws}"), op, width, 8, false, seed);
            if width != 64 {
                run(
                    &format!("dword_atomic.{op}{suffix} # T6 A.0 {raws} D.0"),
                    op,
                    width,
                    4,
                    true,
                    seed + 1,
                );
            }
            seed += 2;
        }
    }
    run("dword_atomic.add # %slm A.0 S.0 %null.0 D.0", "add", 32, 4, true, seed);
}
