//! The EXEC mask, branches and hardware registers.

use super::support::{EXEC, Probe, State, VCC};

#[test]
fn exec_masks() {
    type Combined = fn(u64, u64) -> u64;
    let cases: [(&str, Combined); 10] = [
        ("and", |s, exec| s & exec),
        ("or", |s, exec| s | exec),
        ("xor", |s, exec| s ^ exec),
        ("andn2", |s, exec| s & !exec),
        ("orn2", |s, exec| s | !exec),
        ("nand", |s, exec| !(s & exec)),
        ("nor", |s, exec| !(s | exec)),
        ("xnor", |s, exec| !(s ^ exec)),
        ("andn1", |s, exec| !s & exec),
        ("orn1", |s, exec| !s | exec),
    ];
    let wrexec: [(&str, Combined); 2] =
        [("andn1", |s, exec| !s & exec), ("andn2", |s, exec| s & !exec)];
    let save = cases
        .map(|(name, combined)| (format!("s_{name}_saveexec_b64 s[0:1], s[2:3]"), combined, true));
    let write = wrexec
        .map(|(name, combined)| (format!("s_{name}_wrexec_b64 s[0:1], s[2:3]"), combined, false));
    for (text, combined, saves) in save.into_iter().chain(write) {
        let probe = Probe::new(&[&text], 0x3f0);
        for exec in [u64::MAX, 0, 0x1234_5678_9abc_def0] {
            for source in [u64::MAX, 0, 0x1234_5678_9abc_def0, !0x1234_5678_9abc_def0, 1 << 63] {
                let mut before = State::new();
                before.set_pair(2, source);
                before.set_pair(EXEC, exec);
                let mut expected = before.clone();
                let result = combined(source, exec);
                expected.set_pair(EXEC, result);
                expected.set_pair(0, if saves { exec } else { result });
                expected.scc = result != 0;
                for (engine, found) in probe.run(&before) {
                    assert!(
                        found == expected,
                        "{engine}, {text}, {source:x}, {exec:x}: {:x} for {result:x}",
                        found.pair(EXEC)
                    );
                }
            }
        }
    }
}

#[test]
fn branches() {
    type Taken = fn(&State) -> bool;
    let cases: [(&str, Taken); 7] = [
        ("s_branch 1", |_| true),
        ("s_cbranch_scc0 1", |state| !state.scc),
        ("s_cbranch_scc1 1", |state| state.scc),
        ("s_cbranch_vccz 1", |state| state.pair(VCC) == 0),
        ("s_cbranch_vccnz 1", |state| state.pair(VCC) != 0),
        ("s_cbranch_execz 1", |state| state.pair(EXEC) == 0),
        ("s_cbranch_execnz 1", |state| state.pair(EXEC) != 0),
    ];
    for (text, taken) in cases {
        let probe = Probe::new(&[text, "s_movk_i32 s0, 31"], 0x3f0);
        for (scc, vcc, exec) in
            [(false, 0, 0), (true, 1 << 40, 1 << 63), (true, 0, u64::MAX), (false, 1, 1)]
        {
            let mut before = State::new();
            before.scc = scc;
            before.set_pair(VCC, vcc);
            before.set_pair(EXEC, exec);
            let mut expected = before.clone();
            if !taken(&before) {
                expected.scalars[0] = 31;
            }
            for (engine, found) in probe.run(&before) {
                assert!(found == expected, "{engine}, {text}, {scc}, {vcc:x}, {exec:x}");
            }
        }
    }
}

/// Waits and hints do nothing here.
#[test]
fn waits_and_hints() {
    let texts = [
        "s_nop 0",
        "s_waitcnt vmcnt(0)",
        "s_sleep 1",
        "s_setprio 1",
        "s_icache_inv",
        "s_ttracedata",
        "s_incperflevel 1",
        "s_decperflevel 1",
        "s_wakeup",
        "s_sendmsg sendmsg(MSG_INTERRUPT)",
        "s_sethalt 0",
        "s_cbranch_cdbgsys 1",
        "s_cbranch_cdbguser 1",
        "s_cbranch_cdbgsys_or_user 1",
        "s_cbranch_cdbgsys_and_user 1",
        "v_nop",
        "v_clrexcp",
        "s_barrier",
        "s_setreg_b32 hwreg(HW_REG_TRAPSTS, 0, 9), s2",
    ];
    let before = State::new();
    for (engine, found) in Probe::new(&texts, 0x3f0).run(&before) {
        assert!(found == before, "{engine}");
    }
    for end in [
        "s_endpgm",
        "s_endpgm_saved",
        "s_endpgm_ordered_ps_done",
        "s_sendmsghalt sendmsg(MSG_INTERRUPT)",
    ] {
        for (engine, found) in Probe::new(&[end, "s_movk_i32 s0, 31"], 0x3f0).run(&before) {
            assert!(found == before, "{engine}, {end}");
        }
    }
}

#[test]
fn hardware_registers() {
    let cases: [(&[&str], u32); 6] = [
        (&["s_getreg_b32 s0, hwreg(HW_REG_MODE)"], 0x3f0),
        (&["s_getreg_b32 s0, hwreg(HW_REG_MODE, 4, 4)"], 15),
        (
            &[
                "s_setreg_imm32_b32 hwreg(HW_REG_MODE, 4, 2), 1",
                "s_getreg_b32 s0, hwreg(HW_REG_MODE)",
            ],
            0x3d0,
        ),
        (&["s_set_gpr_idx_on s2, gpr_idx(SRC0)", "s_getreg_b32 s0, hwreg(HW_REG_MODE, 27, 1)"], 1),
        (&["s_getreg_b32 s0, hwreg(HW_REG_STATUS, 0, 1)"], 1),
        // VCC is 0, EXEC is not.
        (&["s_getreg_b32 s0, hwreg(HW_REG_STATUS, 9, 2)"], 2),
    ];
    for (texts, wanted) in cases {
        let mut before = State::new();
        before.scc = true;
        before.set_pair(VCC, 0);
        for (engine, found) in Probe::new(texts, 0x3f0).run(&before) {
            assert!(
                found.scalars[0] == wanted,
                "{engine}, {texts:?}: {:x} for {wanted:x}",
                found.scalars[0]
            );
        }
    }
}

/// `s_getpc` gives the address of the next instruction, and later code runs in the mode that
/// `s_setreg` sets.
#[test]
fn addresses_and_modes() {
    for (engine, found) in Probe::new(&["s_nop 0", "s_getpc_b64 s[0:1]"], 0x3f0).run(&State::new())
    {
        assert_eq!(found.pair(0), 8, "{engine}");
    }
    let mut before = State::new();
    before.vectors[2][0] = 1;
    before.vectors[4][0] = 0x8000_0000;
    for (flushes, wanted) in [("0", 0), ("3", 1)] {
        let set = format!("s_setreg_imm32_b32 hwreg(HW_REG_MODE, 4, 2), {flushes}");
        for (engine, found) in Probe::new(&[&set, "v_add_f32 v0, v2, v4"], 0x3f0).run(&before) {
            assert_eq!(found.vectors[0][0], wanted, "{engine}, {set}");
        }
    }
}
