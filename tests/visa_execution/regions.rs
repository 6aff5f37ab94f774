//! Sources and destinations of all shapes and sizes in one and two registers, against a model of
//! bytes.

use super::{Case, DST, STRIDE, check, pattern};

/// The strides from row to row.
const VERTICAL: [usize; 7] = [0, 1, 2, 4, 8, 16, 32];
const SIZES: [(&str, usize); 4] = [("ub", 1), ("uw", 2), ("ud", 4), ("uq", 8)];

/// Returns the place of element `n`, in elements.
fn element(n: usize, [vertical, width, horizontal]: [usize; 3]) -> usize {
    n / width * vertical + n % width * horizontal
}

fn register(platform: &str) -> usize {
    if platform == "pvc" { 64 } else { 32 }
}

/// Returns cases for all regions that begin at an element of one register and end by the end of the
/// next register, including regions that no hardware takes.
fn sources(platform: &'static str, mask: u32, exec: &str, count: usize) -> Vec<Case> {
    let (input, register) = (pattern(), register(platform));
    let mut cases = vec![];
    for (ty, size) in SIZES.into_iter().filter(|(_, size)| count * size <= STRIDE) {
        for vertical in VERTICAL {
            for width in [1, 2, 4, 8, 16].into_iter().filter(|&width| width <= count) {
                for (horizontal, column) in [0, 1, 2, 4]
                    .into_iter()
                    .flat_map(|stride| (0..register / size).map(move |column| (stride, column)))
                {
                    let region = [vertical, width, horizontal];
                    let place = |n: usize| (column + element(n, region)) * size;
                    if (0..count).any(|n| place(n) + size > 2 * register) {
                        continue;
                    }
                    let text = format!(
                        "mov ({exec}, {count}) D{ty}(0,0)<1> A{ty}(0,{column})<{vertical};{width},{horizontal}>"
                    );
                    let mut expected = vec![DST; STRIDE];
                    for n in (0..count).filter(|n| mask >> n & 1 != 0) {
                        expected[n * size..][..size].copy_from_slice(&input[place(n)..][..size]);
                    }
                    cases.push(Case::new(text, &expected));
                }
            }
        }
    }
    cases
}

/// Returns some of the cases. If `WARPLOOM_REGIONS` is set, returns all cases, which take minutes.
fn chosen(cases: &[Case]) -> Vec<&[Case]> {
    let every = if std::env::var_os("WARPLOOM_REGIONS").is_some() { 1 } else { 13 };
    // The JIT compiles kernels of this size quickly.
    cases.chunks(48).step_by(every).collect()
}

#[test]
fn sources_are_where_their_regions_say() {
    for (platform, exec, mask) in
        [("dg2", "M1_NM", 0xffff), ("dg2", "M1", 0xb3a5), ("pvc", "M1_NM", 0xffff)]
    {
        for count in [8, 16] {
            let all = sources(platform, mask, exec, count);
            assert!(all.len() > 3000, "{} shapes", all.len());
            for cases in chosen(&all) {
                check(platform, 16, if exec == "M1" { mask } else { 0x1 }, &pattern(), cases);
            }
        }
    }
}

#[test]
fn elements_of_few_lanes_are_scalars() {
    for platform in ["dg2", "pvc"] {
        for count in [1, 2, 4] {
            for cases in chosen(&sources(platform, 0xf, "M1_NM", count)) {
                check(platform, 16, 1, &pattern(), cases);
            }
        }
    }
}

#[test]
fn destinations_are_where_their_strides_say() {
    let input = pattern();
    let mut cases = vec![];
    for (exec, count, lanes) in [("M1_NM", 16, 0xffff), ("M1", 16, 0x5aa7), ("M1", 8, 0x5aa7)] {
        for (ty, size) in SIZES {
            for stride in [1, 2, 4] {
                for column in 0..32 / size {
                    let start = column * size;
                    if start + ((count - 1) * stride + 1) * size > STRIDE {
                        continue;
                    }
                    let mut expected = vec![DST; STRIDE];
                    for n in (0..count).filter(|n| lanes >> n & 1 != 0) {
                        expected[start + n * stride * size..][..size]
                            .copy_from_slice(&input[n * size..][..size]);
                    }
                    let text = format!(
                        "mov ({exec}, {count}) D{ty}(0,{column})<{stride}> A{ty}(0,0)<1;1,0>"
                    );
                    cases.push(Case::new(text, &expected));
                }
            }
        }
    }
    for cases in cases.chunks(64) {
        check("dg2", 16, 0x5aa7, &input, cases);
    }
}

/// The upper half of a warp, and an instruction whose source and destination overlap.
#[test]
fn windows_and_overlaps() {
    let input = pattern();
    let words = |from: usize, count: usize| input[from * 4..(from + count) * 4].to_vec();
    let mut upper = vec![DST; STRIDE];
    for n in (0..16).filter(|n| 0x9c0f_u32 >> n & 1 != 0) {
        upper[n * 4..][..4].copy_from_slice(&words(n, 1));
    }
    let upper = Case::new("mov (M5, 16) Dud(0,0)<1> Aud(0,0)<1;1,0>".into(), &upper);
    let text =
        "mov (M1_NM, 32) Dud(0,0)<1> Aud(0,0)<1;1,0>\nmov (M1_NM, 16) Dud(0,1)<1> Dud(0,0)<1;1,0>";
    let mut expected = words(0, 32);
    expected.copy_within(0..16 * 4, 4);
    check("dg2", 32, 0x9c0f_0001, &input, &[upper, Case::new(text.into(), &expected)]);
}

/// Each lane has an address, or each row has one.
#[test]
fn indirect_regions() {
    let input = pattern();
    let mut reversed = vec![DST; STRIDE];
    for n in 0..16 {
        reversed[n * 4..][..4].copy_from_slice(&input[(15 - n) * 4..][..4]);
    }
    let make = "mov (M1_NM, 8) Ew(0,0)<1> 0x76543210:v\nadd (M1_NM, 8) Ew(0,8)<1> Ew(0,0)<1;1,0> 0x8:w\n\
                mul (M1_NM, 16) Euw(0,0)<1> Euw(0,0)<1;1,0> 0x4:uw\nadd (M1_NM, 16) Euw(0,0)<1> (-)Euw(0,0)<1;1,0> 0x3c:uw\n";
    let lanes = format!(
        "{make}mov (M1_NM, 16) X(0)<16> 0x0:uw\naddr_add (M1_NM, 16) X(0)<16> &A[0] Euw(0,0)<1;1,0>\nmov (M1_NM, 16) Dud(0,0)<1> r[X(0),0]<1,0>:ud"
    );
    let single =
        "addr_add (M1_NM, 1) X(0)<1> &A[4] 0x8:uw\nmov (M1_NM, 16) Dud(0,0)<1> r[X(0),4]<1;1,0>:ud";
    // A destination has one address.
    let mut moved = vec![DST; STRIDE];
    moved[20..84].copy_from_slice(&input[..64]);
    let to = "addr_add (M1_NM, 1) X(0)<1> &D[16] 0x0:uw\nmov (M1_NM, 16) r[X(0),4]<1>:ud Aud(0,0)<1;1,0>";
    let cases = [
        Case::new(lanes, &reversed),
        Case::new(single.into(), &input[16..80]),
        Case::new(to.into(), &moved),
    ];
    check("dg2", 16, 1, &input, &cases);
}

/// Lanes pick elements of a row of all lanes, so the row becomes a register of lanes. Both halves
/// of the warp use one address variable in turn.
#[test]
fn lanes_pick_elements_of_a_row() {
    let input = pattern();
    // The indices of elements, some of them past the row's end.
    let index = |n: usize| usize::from(input[128 + 2 * n]) & 0x3f;
    let active = 0xf3c9_5aa7_u32;
    for (mask, exec) in [(u32::MAX, ""), (active, ""), (active, "_NM")] {
        let picked = |n: usize| -> Option<[u8; 4]> {
            let from = index(n);
            // Inactive lanes of a register that was never written hold 0.
            let here = from < 32 && (exec == "_NM" || mask >> from & 1 != 0);
            let word = if here { input[from * 4..][..4].try_into().unwrap() } else { [0; 4] };
            (exec == "_NM" || mask >> n & 1 != 0).then_some(word)
        };
        let half = |lanes: &str, row: usize, from: usize| {
            format!(
                "addr_add ({lanes}{exec}, 16) X(0)<1> &ROW[0] Euw({from},0)<1;1,0>\nmov ({lanes}{exec}, 16) Dud({row},0)<1> r[X(0),0]<1,0>:ud\n"
            )
        };
        let text = format!(
            "and (M1_NM, 32) Euw(0,0)<1> Buw(0,0)<1;1,0> 0x3f:uw\nmul (M1_NM, 32) Euw(0,0)<1> Euw(0,0)<1;1,0> 0x4:uw\n\
             mov (M1{exec}, 32) ROW(0,0)<1> Aud(0,0)<1;1,0>\n{}{}",
            half("M1", 0, 0),
            half("M5", 2, 1)
        );
        let mut expected = vec![DST; STRIDE];
        for n in 0..32 {
            if let Some(word) = picked(n) {
                expected[n * 4..][..4].copy_from_slice(&word);
            }
        }
        // One element serves all lanes.
        let one =
            if exec == "_NM" || mask >> 5 & 1 != 0 { input[20..24].to_vec() } else { vec![0; 4] };
        let single = format!(
            "mov (M1{exec}, 32) ROW(0,0)<1> Aud(0,0)<1;1,0>\naddr_add (M1_NM, 1) X(0)<1> &ROW[4] 0xc:uw\n\
             mov (M1_NM, 1) Dud(0,0)<1> r[X(0),4]<0;1,0>:ud"
        );
        check("dg2", 32, mask, &input, &[Case::new(text, &expected)]);
        check("dg2", 32, mask, &input, &[Case::new(single, &one)]);
    }
}
