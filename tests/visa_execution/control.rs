//! Lanes that part, wait, and meet again; loops, subroutines.

use super::{Case, check};

/// Returns the expected element of `D` in a lane.
type Expect = fn(u32) -> u32;

fn lanes(of: impl Fn(u32) -> u32) -> Vec<u8> {
    (0..16).flat_map(|n| of(n).to_le_bytes()).collect()
}

/// Runs each text as a kernel, with the numbers of the lanes in `A`.
fn run(texts: &[(&str, Expect)]) {
    let mut input = [0; 384];
    for n in 0..16_u32 {
        input[n as usize * 4..][..4].copy_from_slice(&n.to_le_bytes());
    }
    // Labels belong to the kernel, so each case has its own kernel.
    for &(text, expected) in texts {
        check("dg2", 16, 0xffff, &input, &[Case::new(text.into(), &lanes(expected))]);
    }
}

#[test]
fn forward_gotos_and_their_labels() {
    run(&[
        (
            "cmp.lt (M1, 16) P1 Aud(0,0)<1;1,0> 0x5:ud\n(P1) goto (M1, 16) small\nmov (M1, 16) Dud(0,0)<1> 0x64:ud\n\
             goto (M1, 1) both\nsmall:\nmov (M1, 16) Dud(0,0)<1> 0x1:ud\nboth:\nadd (M1, 16) Dud(0,0)<1> Dud(0,0)<1;1,0> Aud(0,0)<1;1,0>",
            |n| if n < 5 { 1 + n } else { 100 + n },
        ),
        (
            // No lane is left, so instructions without a mask are skipped too.
            "mov (M1_NM, 16) Dud(0,0)<1> 0x0:ud\ncmp.lt (M1, 16) P1 Aud(0,0)<1;1,0> 0x20:ud\n(P1) goto (M1, 16) over\n\
             mov (M1_NM, 16) Dud(0,0)<1> 0x7:ud\nover:\nadd (M1, 16) Dud(0,0)<1> Dud(0,0)<1;1,0> 0x3:ud",
            |_| 3,
        ),
        (
            // The earlier label runs first, even if lanes wait for the later label.
            "mov (M1_NM, 16) Dud(0,0)<1> 0x0:ud\nmov (M1_NM, 1) Eud(0,0)<1> 0x0:ud\n\
             cmp.lt (M1, 16) P1 Aud(0,0)<1;1,0> 0x4:ud\n(P1) goto (M1, 16) late\n\
             cmp.lt (M1, 16) P1 Aud(0,0)<1;1,0> 0x8:ud\n(P1) goto (M1, 16) early\n\
             add (M1_NM, 1) Eud(0,0)<1> Eud(0,0)<0;1,0> 0x1:ud\nmov (M1, 16) Dud(0,0)<1> Eud(0,0)<0;1,0>\ngoto (M1, 1) end1\n\
             early:\nadd (M1_NM, 1) Eud(0,0)<1> Eud(0,0)<0;1,0> 0x1:ud\nmov (M1, 16) Dud(0,0)<1> Eud(0,0)<0;1,0>\n\
             late:\nadd (M1_NM, 1) Eud(0,0)<1> Eud(0,0)<0;1,0> 0x1:ud\nmov (M1, 16) Dud(0,0)<1> Eud(0,0)<0;1,0>\n\
             end1:",
            |n| if n < 8 { 3 } else { 1 },
        ),
    ]);
}

#[test]
fn backward_gotos_and_lanes_that_wait_behind_them() {
    run(&[
        (
            "mov (M1, 16) Dud(0,0)<1> 0x0:ud\nloop:\nadd (M1, 16) Dud(0,0)<1> Dud(0,0)<1;1,0> 0x2:ud\n\
             shr (M1, 16) Eud(0,0)<1> Dud(0,0)<1;1,0> 0x1:ud\ncmp.le (M1, 16) P1 Eud(0,0)<1;1,0> Aud(0,0)<1;1,0>\n\
             (P1) goto (M1, 16) loop\nadd (M1, 16) Dud(0,0)<1> Dud(0,0)<1;1,0> 0x64:ud",
            |n| 2 * (n + 1) + 100,
        ),
        (
            // Lanes leave the loop in its middle.
            "mov (M1, 16) Dud(0,0)<1> 0x0:ud\nloop:\ncmp.ge (M1, 16) P1 Dud(0,0)<1;1,0> Aud(0,0)<1;1,0>\n(P1) goto (M1, 16) out\n\
             add (M1, 16) Dud(0,0)<1> Dud(0,0)<1;1,0> 0x1:ud\ngoto (M1, 1) loop\nout:\nmul (M1, 16) Dud(0,0)<1> Dud(0,0)<1;1,0> 0x3:ud",
            |n| n * 3,
        ),
    ]);
}

#[test]
fn subroutines_switches_and_jumps() {
    run(&[
        (
            "mov (M1, 16) Dud(0,0)<1> 0x1:ud\ncall (M1, 16) double\ncmp.lt (M1, 16) P1 Aud(0,0)<1;1,0> 0x6:ud\n\
             (P1) call (M1, 16) double\njmp (M1, 1) behind\ndouble:\nadd (M1, 16) Dud(0,0)<1> Dud(0,0)<1;1,0> Dud(0,0)<1;1,0>\n\
             cmp.eq (M1, 16) P3 Aud(0,0)<1;1,0> 0x2:ud\n(P3) ret (M1, 16)\nadd (M1, 16) Dud(0,0)<1> Dud(0,0)<1;1,0> 0x64:ud\nret (M1, 1)\nbehind:",
            |n| {
                let double = |d: u32| if n == 2 { d * 2 } else { d * 2 + 100 };
                if n < 6 { double(double(1)) } else { double(1) }
            },
        ),
        (
            "mov (M1_NM, 1) Eud(0,0)<1> 0x1:ud\nswitchjmp (M1, 1) Eud(0,0)<0;1,0> (first, second)\n\
             first:\nmov (M1, 16) Dud(0,0)<1> 0x1:ud\njmp (M1, 1) done\nsecond:\nmov (M1, 16) Dud(0,0)<1> 0x2:ud\ndone:",
            |_| 2,
        ),
    ]);
}

/// Instructions that only inform a debugger or caches, or order one thread's accesses, do nothing.
#[test]
fn what_does_nothing() {
    let between = [
        "yield",
        "fence_sw",
        "fence_local",
        "fence_global.ESL1",
        "lsc_fence.ugm.evict.gpu",
        "lsc_fence.slm.none.group",
        "sampler_cache_flush",
        "wait 0x0:ud",
        "FILE \"k.cl\"",
        "LOC 7",
        "lifetime.start E",
        "lifetime.end E",
    ];
    let text: String = between
        .iter()
        .map(|line| format!("{line}\nadd (M1, 16) Dud(0,0)<1> Dud(0,0)<1;1,0> Aud(0,0)<1;1,0>\n"))
        .collect();
    let text = format!("mov (M1, 16) Dud(0,0)<1> 0x5:ud\n{text}");
    let mut input = [0; 384];
    for n in 0..16_u32 {
        input[n as usize * 4..][..4].copy_from_slice(&n.to_le_bytes());
    }
    let count = between.len() as u32;
    check("dg2", 16, 0xffff, &input, &[Case::new(text, &lanes(|n| 5 + count * n))]);
}
