//! Exchanges and votes of a warp.

use crate::{Kernel, LANES, Random, Words};

fn run(body: &str, inputs: usize, outputs: usize, input: &Words) -> Words {
    Kernel { target: "sm_100a", inputs, outputs, body }.run(input)
}

/// Returns the lane that a shuffle reads, if the lane is in range.
fn source(mode: &str, lane: i32, b: u32, c: u32) -> Option<i32> {
    let (b, clamp, segment) = ((b & 31) as i32, (c & 31) as i32, (c >> 8 & 31) as i32);
    let (first, last) = (lane & segment, lane & segment | clamp & !segment & 31);
    let (from, ok) = match mode {
        "up" => (lane - b, lane - b >= last),
        "down" => (lane + b, lane + b <= last),
        "bfly" => (lane ^ b, lane ^ b <= last),
        _ => {
            let from = first | b & !segment & 31;
            (from, from <= last)
        }
    };
    ok.then_some(from)
}

#[test]
fn shuffles() {
    let mut random = Random(1);
    for mode in ["up", "down", "bfly", "idx"] {
        for control in ["31", "0", "0x1c1f", "0x181f", "0x1c00", "%i2"] {
            for (target, step) in [("sm_100a", "%i1"), ("sm_100a", "5"), ("sm_61", "%i1")] {
                let sync = if target == "sm_61" { ("", "") } else { (".sync", ", -1") };
                let body = format!(
                    "shfl{}.{mode}.b32 %o0|%p0, %i0, {step}, {control}{};\nselp.u32 %o1, 1, 0, %p0;",
                    sync.0, sync.1
                );
                let input: Words = (0..LANES)
                    .map(|_| vec![random.word(), random.below(64), random.below(0x2000)])
                    .collect();
                let out = Kernel { target, inputs: 3, outputs: 2, body: &body }.run(&input);
                for lane in 0..LANES {
                    let step = if step == "5" { 5 } else { input[lane][1] };
                    let control = match control.strip_prefix("0x") {
                        Some(hex) => u32::from_str_radix(hex, 16).unwrap(),
                        None => control.parse().unwrap_or(input[lane][2]),
                    };
                    let from = source(mode, lane as i32, step, control);
                    let expected =
                        [input[from.unwrap_or(lane as i32) as usize][0], from.is_some().into()];
                    assert_eq!(out[lane], expected, "{body} in lane {lane}");
                }
            }
        }
    }
}

/// The lanes that execute with a guard.
const GUARDED: u32 = 0x5a5a_f00f;

#[test]
fn votes_and_masks() {
    let mut random = Random(2);
    for choices in [0, u32::MAX, 1 << 4, GUARDED, random.word(), random.word()] {
        let body = "setp.ne.u32 %p0, %i0, 0;\nsetp.ne.u32 %p1, %i1, 0;\n\
                    @%p1 vote.sync.ballot.b32 %o0, %p0, 0x5a5af00f;\n\
                    @%p1 vote.sync.any.pred %p2, %p0, 0x5a5af00f;\n@%p1 selp.u32 %o1, 1, 2, %p2;\n\
                    @%p1 vote.sync.all.pred %p2, %p0, 0x5a5af00f;\n@%p1 selp.u32 %o2, 1, 2, %p2;\n\
                    @%p1 vote.sync.uni.pred %p2, !%p0, 0x5a5af00f;\n@%p1 selp.u32 %o3, 1, 2, %p2;\n\
                    @%p1 activemask.b32 %o4;\n@%p1 elect.sync %o5|%p3, 0x5a5af00f;\n@%p1 selp.u32 %o6, 1, 2, %p3;";
        let bit = |mask: u32, lane: usize| mask >> lane & 1;
        let input = (0..LANES).map(|lane| vec![bit(choices, lane), bit(GUARDED, lane)]).collect();
        let out = run(body, 2, 7, &input);
        let (yes, no) = (choices & GUARDED, !choices & GUARDED);
        let truth = |truth: bool| if truth { 1 } else { 2 };
        let first = GUARDED.trailing_zeros();
        for (lane, out) in out.iter().enumerate() {
            let votes =
                [yes, truth(yes != 0), truth(no == 0), truth(yes == 0 || no == 0), GUARDED, first];
            let expected = [&votes[..], &[truth(lane as u32 == first)]].concat();
            let expected = if bit(GUARDED, lane) == 1 { expected } else { vec![0; 7] };
            assert_eq!(*out, expected, "choices {choices:#x}, lane {lane}");
        }
    }
}

/// Returns masks of each lane's group, for groups of arbitrary lanes.
fn groups() -> Vec<[u32; LANES]> {
    let mut random = Random(3);
    let mut all = vec![[u32::MAX; LANES]];
    for count in [2, 3, 7] {
        let group: Vec<u32> = (0..LANES).map(|_| random.below(count)).collect();
        let mask = |of: u32| {
            (0..LANES).filter(|&lane| group[lane] == of).fold(0, |mask, lane| mask | 1 << lane)
        };
        all.push(std::array::from_fn(|lane| mask(group[lane])));
    }
    all
}

fn members(mask: u32) -> impl Iterator<Item = usize> {
    (0..LANES).filter(move |lane| mask >> lane & 1 == 1)
}

#[test]
fn matches() {
    let mut random = Random(4);
    for masks in groups() {
        for values in [1, 2, 5] {
            let value: Vec<u32> = (0..LANES).map(|_| random.below(values)).collect();
            let input: Words = (0..LANES).map(|lane| vec![value[lane], masks[lane]]).collect();
            let body = "match.any.sync.b32 %o0, %i0, %i1;\nmov.b64 %l0, {%i1, %i0};\n\
                        match.any.sync.b64 %o1, %l0, %i1;\nmatch.all.sync.b32 %o2|%p0, %i0, %i1;\n\
                        selp.u32 %o3, 1, 0, %p0;\nmatch.all.sync.b64 %o4, %l0, %i1;";
            let out = run(body, 2, 5, &input);
            for lane in 0..LANES {
                let mask = masks[lane];
                let alike = members(mask)
                    .filter(|&other| value[other] == value[lane])
                    .fold(0, |m, l| m | 1 << l);
                let same = alike == mask;
                let all = if same { mask } else { 0 };
                assert_eq!(
                    out[lane],
                    [alike, alike, all, same.into(), all],
                    "lane {lane}, {mask:#x}"
                );
            }
        }
    }
}

#[test]
fn reductions() {
    let mut random = Random(5);
    type Combine = fn(u32, u32) -> u32;
    let operations: [(&str, Combine); 8] = [
        ("add.s32", |a, b| a.wrapping_add(b)),
        ("add.u32", |a, b| a.wrapping_add(b)),
        ("min.s32", |a, b| (a as i32).min(b as i32) as u32),
        ("max.u32", |a, b| a.max(b)),
        ("min.u32", |a, b| a.min(b)),
        ("and.b32", |a, b| a & b),
        ("or.b32", |a, b| a | b),
        ("xor.b32", |a, b| a ^ b),
    ];
    for masks in groups() {
        let input: Words = (0..LANES).map(|lane| vec![random.word(), masks[lane]]).collect();
        for (name, combine) in operations {
            let out = run(&format!("redux.sync.{name} %o0, %i0, %i1;"), 2, 1, &input);
            for lane in 0..LANES {
                let expected =
                    members(masks[lane]).map(|other| input[other][0]).reduce(combine).unwrap();
                assert_eq!(out[lane][0], expected, "{name}, lane {lane} of {:#x}", masks[lane]);
            }
        }
    }
}

#[test]
fn reductions_of_floats() {
    let mut random = Random(6);
    for nan in [false, true] {
        let mut value: Vec<f32> = (0..LANES).map(|_| random.word() as f32 / 1e9 - 2.0).collect();
        if nan {
            value[9] = f32::NAN;
        }
        let input: Words = value.iter().map(|value| vec![value.to_bits()]).collect();
        let body = "redux.sync.min.f32 %o0, %i0, -1;\nredux.sync.max.abs.f32 %o1, %i0, -1;\n\
                    redux.sync.max.NaN.f32 %o2, %i0, -1;\nredux.sync.min.abs.NaN.f32 %o3, %i0, -1;";
        let out = run(body, 1, 4, &input);
        let fold = |f: fn(f32, f32) -> f32, abs: bool| {
            value
                .iter()
                .filter(|x| !x.is_nan())
                .map(|x| if abs { x.abs() } else { *x })
                .reduce(f)
                .unwrap()
                .to_bits()
        };
        let or_nan = |bits| if nan { 0x7fff_ffff } else { bits };
        let expected = [
            fold(f32::min, false),
            fold(f32::max, true),
            or_nan(fold(f32::max, false)),
            or_nan(fold(f32::min, true)),
        ];
        assert!(out.iter().all(|lane| lane[..] == expected), "{out:x?}, {expected:x?}");
    }
}
