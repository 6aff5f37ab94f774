//! SDWA (parts of registers), DPP (lanes of other lanes), registers that m0 numbers, and moves
//! between lanes and scalar registers.

use super::operands::Random;
use super::support::{EXEC, LANES, M0, Probe, State};

/// Returns a state of random words with the given lanes active.
fn random_state(seed: u64, exec: u64) -> State {
    let mut random = Random::new(seed);
    let mut state = State::new();
    for row in state.vectors.iter_mut().take(12) {
        row.fill_with(|| (random.next() >> 32) as u32);
    }
    state.set_pair(EXEC, exec);
    state
}

fn run(texts: &[&str], before: &State, expected: &State) {
    for (engine, found) in Probe::new(texts, 0x3f0).run(before) {
        for lane in 0..LANES {
            for n in 0..12 {
                let (f, e) = (found.vectors[n][lane], expected.vectors[n][lane]);
                assert!(f == e, "{engine}, {texts:?}, lane {lane}: v{n} is {f:#x}, not {e:#x}");
            }
        }
        assert!(found == *expected, "{engine}, {texts:?}: a scalar register is wrong");
    }
}

const PARTS: [(&str, u32, u32); 7] = [
    ("BYTE_0", 0, 8),
    ("BYTE_1", 8, 8),
    ("BYTE_2", 16, 8),
    ("BYTE_3", 24, 8),
    ("WORD_0", 0, 16),
    ("WORD_1", 16, 16),
    ("DWORD", 0, 32),
];

fn part(x: u32, (_, lo, bits): (&str, u32, u32), signed: bool) -> u32 {
    let top = x << (32 - lo - bits);
    if signed { (top as i32 >> (32 - bits)) as u32 } else { top >> (32 - bits) }
}

#[test]
fn parts_of_operands() {
    for (n, to) in PARTS.into_iter().enumerate() {
        for (k, unused) in ["UNUSED_PAD", "UNUSED_SEXT", "UNUSED_PRESERVE"].into_iter().enumerate()
        {
            let (x, y) = (PARTS[(2 * n + k) % 7], PARTS[(3 * n + 2 * k + 1) % 7]);
            let signed = (n + k) % 2 != 0;
            let first = if signed { "sext(v2)" } else { "v2" };
            let text = format!(
                "v_add_u32_sdwa v0, {first}, v4 dst_sel:{} dst_unused:{unused} src0_sel:{} src1_sel:{}",
                to.0, x.0, y.0
            );
            let before = random_state(n as u64, 0xffff_0f0f_1234_fffe);
            let mut expected = before.clone();
            for lane in (0..LANES).filter(|lane| before.pair(EXEC) >> lane & 1 != 0) {
                let (a, b) = (before.vectors[2][lane], before.vectors[4][lane]);
                let sum = part(a, x, signed).wrapping_add(part(b, y, false));
                let (_, lo, bits) = to;
                let mask = u32::MAX >> (32 - bits) << lo;
                expected.vectors[0][lane] = match unused {
                    "UNUSED_PAD" => part(sum, (to.0, 0, bits), false) << lo,
                    "UNUSED_SEXT" => part(sum, (to.0, 0, bits), true) << lo,
                    _ => before.vectors[0][lane] & !mask | sum << lo & mask,
                };
            }
            run(&[&text], &before, &expected);
        }
    }
}

#[test]
fn lanes_of_others() {
    let controls: [(&str, fn(usize) -> Option<usize>); 6] = [
        ("wave_shl:1", |lane| (lane < 63).then_some(lane + 1)),
        ("wave_rol:1", |lane| Some((lane + 1) % 64)),
        ("wave_ror:1", |lane| Some((lane + 63) % 64)),
        ("row_half_mirror", |lane| Some(lane & !7 | (7 - lane % 8))),
        ("row_shl:15", |lane| (lane % 16 == 0).then_some(lane + 15)),
        ("quad_perm:[3,3,0,1]", |lane| Some(lane & !3 | [3, 3, 0, 1][lane % 4])),
    ];
    for (n, (control, from)) in controls.into_iter().enumerate() {
        for (row_mask, bank_mask, bound) in [(15, 15, false), (5, 14, true)] {
            let suffix = if bound { " bound_ctrl:0" } else { "" };
            let text = format!(
                "v_add_co_u32_dpp v0, vcc, v2, v4 {control} row_mask:{row_mask:#x} bank_mask:{bank_mask:#x}{suffix}"
            );
            let before =
                random_state(n as u64 + 50, if bound { 0xffff_ffff_1234_fffe } else { u64::MAX });
            let mut expected = before.clone();
            let exec = before.pair(EXEC);
            let mut carries = before.pair(super::support::VCC) & exec;
            for lane in (0..LANES).filter(|lane| exec >> lane & 1 != 0) {
                let source = from(lane).filter(|&source| exec >> source & 1 != 0);
                let enabled =
                    row_mask >> (lane / 16) & 1 != 0 && bank_mask >> (lane / 4 % 4) & 1 != 0;
                if !enabled || source.is_none() && !bound {
                    continue;
                }
                let x = source.map_or(0, |source| before.vectors[2][source]);
                let (sum, carry) = x.overflowing_add(before.vectors[4][lane]);
                expected.vectors[0][lane] = sum;
                carries = carries & !(1 << lane) | u64::from(carry) << lane;
            }
            expected.set_pair(super::support::VCC, carries);
            run(&[&text], &before, &expected);
        }
    }
}

#[test]
fn lanes_and_scalars() {
    for exec in [u64::MAX, 0xff00, 1 << 63, 0] {
        let before = random_state(7, exec);
        let mut expected = before.clone();
        // If no lane is active, the instruction reads lane 0.
        expected.scalars[0] = before.vectors[2][exec.trailing_zeros() as usize % 64];
        run(&["v_readfirstlane_b32 s0, v2"], &before, &expected);
        for lane in [0u32, 31, 32, 63, 64 + 5] {
            let mut before = before.clone();
            before.scalars[4] = lane;
            let lane = lane as usize % 64;
            let mut expected = before.clone();
            expected.scalars[0] = before.vectors[2][lane];
            run(&["v_readlane_b32 s0, v2, s4"], &before, &expected);
            before.scalars[M0] = before.scalars[4];
            let mut expected = before.clone();
            expected.vectors[0][lane] = before.scalars[2];
            run(&["v_writelane_b32 v0, s2, m0"], &before, &expected);
        }
    }
}

/// If a register that m0 numbers does not exist, v0 is read and nothing is written.
#[test]
fn registers_by_number() {
    let off = "s_set_gpr_idx_off";
    for index in [0u32, 1, 5, 30, 255] {
        let of =
            |number: usize| Some(number + index as usize).filter(|&n| n < super::support::VECTORS);
        let mut before = random_state(index.into(), 0xffff_0f0f_1234_fffe);
        before.scalars[2] = 0xabcd_ef00 | index;
        before.scalars[M0] = 0x1234_5678;
        let cases: [(&str, &str, u32); 5] = [
            ("s_set_gpr_idx_on s2, gpr_idx(SRC0)", "v_add_u32 v0, v2, v4", 1),
            ("s_set_gpr_idx_on s2, gpr_idx(SRC1)", "v_add_u32 v0, v2, v4", 2),
            ("s_set_gpr_idx_on s2, gpr_idx(SRC2)", "v_add3_u32 v0, v2, v4, v6", 4),
            ("s_set_gpr_idx_on s2, gpr_idx(DST)", "v_add_u32 v0, v2, v4", 8),
            ("s_set_gpr_idx_on s2, gpr_idx(SRC0,DST)", "v_add_u32 v0, v2, v4", 9),
        ];
        for (on, text, bits) in cases {
            let mut expected = before.clone();
            expected.scalars[M0] = 0x1234_0600 | bits << 12 | index;
            for lane in (0..LANES).filter(|lane| before.pair(EXEC) >> lane & 1 != 0) {
                let read = |n: usize, number: usize| {
                    let indexed = bits >> n & 1 != 0;
                    before.vectors[if indexed { of(number).unwrap_or(0) } else { number }][lane]
                };
                let mut sum = read(0, 2).wrapping_add(read(1, 4));
                if text.starts_with("v_add3") {
                    sum = sum.wrapping_add(read(2, 6));
                }
                if let Some(to) = if bits & 8 != 0 { of(0) } else { Some(0) } {
                    expected.vectors[to][lane] = sum;
                }
            }
            // The last instruction makes the probe compare more registers.
            run(&[on, text, off, "v_mov_b32 v31, v31"], &before, &expected);
        }
    }
}

/// Changing the index, and the operands that it applies to, has an effect only while indexing is
/// on.
#[test]
fn changing_indices() {
    let mut before = random_state(3, u64::MAX);
    (before.scalars[2], before.scalars[3], before.scalars[M0]) = (1, 3, 0);
    let texts = [
        "s_set_gpr_idx_mode gpr_idx(SRC0)",
        "v_mov_b32 v0, v2",
        "s_set_gpr_idx_on s2, gpr_idx(SRC0)",
        "v_mov_b32 v1, v2",
        "s_set_gpr_idx_idx s3",
        "v_mov_b32 v10, v2",
        "s_set_gpr_idx_mode gpr_idx(DST)",
        "v_mov_b32 v6, v2",
        "s_set_gpr_idx_off",
        "v_mov_b32 v7, v2",
    ];
    let mut expected = before.clone();
    expected.scalars[M0] = 0x8003;
    let v = before.vectors;
    expected.vectors[0] = v[2];
    expected.vectors[1] = v[3];
    expected.vectors[10] = v[5];
    expected.vectors[9] = v[2];
    expected.vectors[7] = v[2];
    run(&texts, &before, &expected);
}
