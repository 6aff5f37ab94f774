//! Source and result modifiers, which all vector instructions share: signs, output modifiers,
//! clamping, SDWA, DPP and op_sel.

use Ty::{D, H, S};

use super::operands::{Width, check, rows};
use super::reference::{self as r, Mode, Ty};
use super::support::{EXEC, LANES, Probe, State};

#[test]
fn signs() {
    for (ty, text) in [
        (S, "v_add_f32 v0, -v2, |v4|"),
        (H, "v_add_f16 v0, -v2, |v4|"),
        (D, "v_add_f64 v[0:1], -v[2:3], |v[4:5]|"),
    ] {
        check(text, 0x3f0, [ty.into(); 3], ty.into(), &rows([ty; 3], 2), |[a, b, _]| {
            let a = if r::is_nan(ty, a) { a } else { a ^ ty.sign() };
            Mode(0x3f0).add(ty, a, b & !ty.sign())
        });
    }
}

#[test]
fn results_scaled_and_clamped() {
    for (ty, width) in [(S, "f32"), (H, "f16"), (D, "f64")] {
        let operands = if ty == D { "v[0:1], v[2:3], v[4:5]" } else { "v0, v2, v4" };
        for (form, factor, clamp) in [
            (" clamp", 1.0, true),
            (" mul:2", 2.0, false),
            (" clamp mul:4", 4.0, true),
            (" div:2", 0.5, false),
        ] {
            let text = format!("v_mul_{width} {operands}{form}");
            // With denormals or IEEE, there is no output modifier. NaNs clamp to 0 if bit 8 of the
            // mode is set.
            for mode in [0x3f0, 0x100, 0x000, 0x0f0] {
                let m = Mode(mode);
                let scales = m.flushes(ty) && !m.ieee();
                check(&text, mode, [ty.into(); 3], ty.into(), &rows([ty; 3], 2), |[a, b, _]| {
                    let mut x = m.mul(ty, a, b);
                    if scales && factor != 1.0 {
                        x = m.mul(ty, x, ty.of(factor));
                    }
                    match clamp {
                        true if r::is_nan(ty, x) => {
                            if mode & 0x100 != 0 {
                                0
                            } else {
                                x
                            }
                        }
                        true if x & ty.sign() != 0 => 0,
                        true => x.min(ty.of(1.0)),
                        false => x,
                    }
                });
            }
        }
    }
}

#[test]
fn parts_of_registers() {
    let m = Mode(0x3f0);
    let rows: Vec<[u64; 3]> = rows([S; 3], 2);
    let low = |x: u64| x & 0xffff;
    let text = "v_add_f16_sdwa v0, v2, -v4 dst_sel:WORD_1 dst_unused:UNUSED_PAD src0_sel:WORD_1 src1_sel:WORD_0";
    check(text, m.0, [Width::Word; 3], Width::Word, &rows, |[a, b, _]| {
        m.sub(H, a >> 16, low(b)) << 16
    });
    let text = "v_cvt_f32_u32_sdwa v0, v2 dst_sel:DWORD dst_unused:UNUSED_PAD src0_sel:BYTE_2";
    check(text, m.0, [Width::Word; 3], Width::Word, &rows, |[a, ..]| S.of((a >> 16 & 255) as f64));
    let text =
        "v_cvt_f32_i32_sdwa v0, sext(v2) dst_sel:DWORD dst_unused:UNUSED_PAD src0_sel:BYTE_3";
    check(text, m.0, [Width::Word; 3], Width::Word, &rows, |[a, ..]| {
        S.of(f64::from((a >> 24) as u8 as i8))
    });
    let text = "v_mul_f16_sdwa v0, v2, v4 dst_sel:WORD_1 dst_unused:UNUSED_PRESERVE src0_sel:WORD_0 src1_sel:WORD_1";
    let numbered: Vec<[u64; 3]> =
        rows.iter().enumerate().map(|(n, row)| [row[0], row[1], n as u64 % 64]).collect();
    check(text, m.0, [Width::Word; 3], Width::Word, &numbered, |[a, b, lane]| {
        m.mul(H, low(a), b >> 16) << 16 | lane
    });
    // VOP3 selects halves by bits.
    let rows = super::operands::rows([S; 3], 3);
    let numbered: Vec<[u64; 3]> = rows
        .iter()
        .enumerate()
        .map(|(n, row)| [row[0], row[1], row[2] & !63 | (n as u64 % 64)])
        .collect();
    check(
        "v_fma_f16 v0, v2, v4, v6 op_sel:[1,0,1,1]",
        m.0,
        [Width::Word; 3],
        Width::Word,
        &numbered,
        |[a, b, c]| m.fma(H, [a >> 16, low(b), c >> 16]) << 16 | c & 63,
    );
    let text = "v_cmp_lt_f16_sdwa vcc, v2, |v4| src0_sel:WORD_1 src1_sel:WORD_0";
    let probe = Probe::new(&[text], m.0);
    let mut state = State::new();
    for lane in 0..LANES {
        (state.vectors[2][lane], state.vectors[4][lane]) =
            (rows[lane][0] as u32, rows[lane][1] as u32);
    }
    for (engine, after) in probe.run(&state) {
        for lane in 0..LANES {
            let (a, b) = (rows[lane][0] >> 16, rows[lane][1] & 0x7fff);
            assert_eq!(
                after.pair(106) >> lane & 1 != 0,
                r::number(H, a) < r::number(H, b),
                "{engine}, {a:x} {b:x}"
            );
        }
    }
}

/// Each lane reads the lane that its control names, if that lane exists.
#[test]
fn lanes_of_others() {
    let within = |lane: i32, place: i32| (0..16).contains(&place).then_some((lane & !15) + place);
    let controls: [(&str, Box<dyn Fn(i32) -> Option<i32>>); 8] = [
        ("quad_perm:[1,0,3,2]", Box::new(|lane| Some(lane ^ 1))),
        ("row_shl:1", Box::new(move |lane| within(lane, (lane & 15) + 1))),
        ("row_shr:3", Box::new(move |lane| within(lane, (lane & 15) - 3))),
        ("row_ror:5", Box::new(|lane| Some(lane & !15 | (lane - 5) & 15))),
        ("wave_shr:1", Box::new(|lane| (lane > 0).then(|| lane - 1))),
        ("row_mirror", Box::new(|lane| Some(lane ^ 15))),
        ("row_bcast:15", Box::new(|lane| (lane >= 16).then(|| (lane & !15) - 1))),
        ("row_bcast:31", Box::new(|lane| (lane >= 32).then_some(31))),
    ];
    let m = Mode(0x3f0);
    for (control, from) in controls {
        for (masks, row_mask, bank_mask, bound) in [
            (" row_mask:0xf bank_mask:0xf", 15, 15, false),
            (" row_mask:0xf bank_mask:0xf bound_ctrl:0", 15, 15, true),
            (" row_mask:0xa bank_mask:0x5", 10, 5, false),
        ] {
            let text = format!("v_add_f32_dpp v0, v2, v4 {control}{masks}");
            let probe = Probe::new(&[&text], m.0);
            for exec in [u64::MAX, 0xffff_0f0f_1234_fffe] {
                let mut before = State::new();
                for lane in 0..LANES {
                    before.vectors[2][lane] = (lane as f32).to_bits();
                    before.vectors[4][lane] = 1000f32.to_bits();
                }
                before.set_pair(EXEC, exec);
                let mut expected = before.clone();
                for lane in 0..LANES {
                    let source = from(lane as i32).filter(|&source| exec >> source & 1 != 0);
                    let enabled =
                        row_mask >> (lane / 16) & 1 != 0 && bank_mask >> (lane / 4 % 4) & 1 != 0;
                    if exec >> lane & 1 == 0 || !enabled || source.is_none() && !bound {
                        continue;
                    }
                    expected.vectors[0][lane] =
                        (source.map_or(0.0, |source| source as f32) + 1000.0).to_bits();
                }
                for (engine, found) in probe.run(&before) {
                    assert!(
                        found == expected,
                        "{engine}, {text}, {exec:x}: {:x?} for {:x?}",
                        found.vectors[0],
                        expected.vectors[0]
                    );
                }
            }
        }
    }
}
