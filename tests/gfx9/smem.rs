//! SMEM on the wave's own state: loads from the state give the old values of registers.

use super::support::{Probe, STATE, State};

/// Returns a state in which s[2:3] is the state's address and s[4:7] a buffer of the scalar
/// registers.
fn before() -> State {
    let mut state = State::new();
    state.set_pair(2, STATE);
    state.set_pair(4, STATE);
    state.set_pair(6, 512);
    state
}

fn run(texts: &[&str], expected: &State) {
    for (engine, found) in Probe::new(texts, 0x3f0).run(&before()) {
        for n in 0..32 {
            let (f, e) = (found.scalars[n], expected.scalars[n]);
            assert!(f == e, "{engine}, {texts:?}: s{n} is {f:#x}, not {e:#x}");
        }
        assert!(found == *expected, "{engine}, {texts:?}: another register changed");
    }
}

const BASES: [(&str, &str); 3] =
    [("s_", "s[2:3]"), ("s_buffer_", "s[4:7]"), ("s_scratch_", "s[2:3]")];

/// Returns the registers from `first` on.
fn registers(first: usize, words: usize) -> String {
    if words == 1 { format!("s{first}") } else { format!("s[{first}:{}]", first + words - 1) }
}

#[test]
fn loads_and_stores() {
    for (family, base) in BASES {
        for words in [1, 2, 4, 8, 16] {
            let suffix = if words == 1 { String::new() } else { format!("x{words}") };
            if family == "s_scratch_" && words > 4 {
                continue;
            }
            let mut expected = before();
            expected.scalars.copy_within(8..8 + words, 16);
            let load = |offset| {
                format!("{family}load_dword{suffix} {}, {base}, {offset}", registers(16, words))
            };
            run(&[&load("0x20")], &expected);
            if words > 4 {
                continue;
            }
            // s8 and up are stored in unused memory, and loaded from it.
            let store =
                format!("{family}store_dword{suffix} {}, {base}, 0x100", registers(8, words));
            expected.scalars.copy_within(8..8 + words, 64);
            run(&[&store, &load("0x100")], &expected);
        }
    }
}

#[test]
fn atomics() {
    type Op = fn(u64, u64, u32) -> u64;
    let ops: [(&str, Op); 13] = [
        ("swap", |_, data, _| data),
        ("cmpswap", |old, _, _| old),
        ("add", |old, data, _| old.wrapping_add(data)),
        ("sub", |old, data, _| old.wrapping_sub(data)),
        ("smin", |old, data, bits| {
            if (old as i64) << (64 - bits) < (data as i64) << (64 - bits) { old } else { data }
        }),
        ("umin", |old, data, _| old.min(data)),
        ("smax", |old, data, bits| {
            if (old as i64) << (64 - bits) > (data as i64) << (64 - bits) { old } else { data }
        }),
        ("umax", |old, data, _| old.max(data)),
        ("and", |old, data, _| old & data),
        ("or", |old, data, _| old | data),
        ("xor", |old, data, _| old ^ data),
        ("inc", |old, data, _| if old >= data { 0 } else { old + 1 }),
        ("dec", |old, data, _| if old == 0 || old > data { data } else { old - 1 }),
    ];
    for (family, base) in &BASES[..2] {
        for (name, op) in ops {
            for words in [1, 2] {
                let suffix = if words == 2 { "_x2" } else { "" };
                let data = registers(16, if name == "cmpswap" { 2 * words } else { words });
                let atomic = format!("{family}atomic_{name}{suffix} {data}, {base}, 0x20 glc");
                let load = format!(
                    "s_load_dword{} {}, s[2:3], 0x20",
                    &suffix.replace('_', ""),
                    registers(24, words)
                );
                let mut expected = before();
                let of = |n: usize| {
                    if words == 2 { expected.pair(n) } else { expected.scalars[n].into() }
                };
                let (old, new) = (of(8), op(of(8), of(16), 32 * words as u32));
                // The compared value differs from the value in memory.
                for (first, bits) in [(16, old), (24, new)] {
                    expected.scalars[first] = bits as u32;
                    if words == 2 {
                        expected.scalars[first + 1] = (bits >> 32) as u32;
                    }
                }
                run(&[&atomic, &load], &expected);
            }
        }
    }
}

/// Cache instructions do nothing.
#[test]
fn caches() {
    let texts = [
        "s_dcache_inv",
        "s_dcache_wb",
        "s_dcache_inv_vol",
        "s_dcache_wb_vol",
        "s_dcache_discard s[2:3], 0x50",
        "s_dcache_discard_x2 s[2:3], 0x50",
        "s_atc_probe 0, s[2:3], 0x50",
        "s_atc_probe_buffer 0, s[4:7], 0x50",
    ];
    run(&texts, &before());
    // Clocks do not go back.
    for clock in ["s_memtime", "s_memrealtime"] {
        let texts = [format!("{clock} s[0:1]"), format!("{clock} s[8:9]")];
        for (engine, found) in
            Probe::new(&texts.each_ref().map(String::as_str), 0x3f0).run(&before())
        {
            assert!(found.pair(0) <= found.pair(8), "{engine}, {clock}");
        }
    }
}
