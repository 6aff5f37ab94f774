//! `%cr0`: rounding toward zero, up and down is exact, and ends where the kernel switches it off.

use super::{Case, check};

/// Rounds an exact `f64` to `f32`: toward zero (`up` none), up or down.
fn directed(exact: f64, up: Option<bool>) -> f32 {
    let near = exact as f32;
    let wide = f64::from(near);
    let smaller = |value: f32| if value > 0.0 { value.next_down() } else { value.next_up() };
    match up {
        None if wide.abs() > exact.abs() => smaller(near),
        Some(true) if wide < exact => near.next_up(),
        Some(false) if wide > exact => near.next_down(),
        _ => near,
    }
}

#[test]
fn modes_of_rounding() {
    let (a, b) = (
        [1.0_f32, -1.1, 3.3, 1.0e-3, 7.0e7, -2.5, 0.1, 9.9],
        [3.0_f32, 0.7, -1.3, 1.0e3, 0.9, 1.0e-9, 0.2, -0.3],
    );
    let mut input = [0; 384];
    for n in 0..8 {
        input[n * 4..][..4].copy_from_slice(&a[n].to_le_bytes());
        input[128 + n * 4..][..4].copy_from_slice(&b[n].to_le_bytes());
    }
    let mut cases = vec![];
    for (bits, up) in [(0x30, None), (0x10, Some(true)), (0x20, Some(false))] {
        for (op, exact) in [("add", (|a, b| a + b) as fn(f64, f64) -> f64), ("mul", |a, b| a * b)] {
            let result = |n: usize| directed(exact(a[n].into(), b[n].into()), up);
            let text = format!(
                "xor (M1_NM, 1) %cr0(0,0)<1> %cr0(0,0)<0;1,0> {bits:#x}:ud\n\
                 {op} (M1, 8) Df(0,0)<1> Af(0,0)<1;1,0> Bf(0,0)<1;1,0>\n\
                 xor (M1_NM, 1) %cr0(0,0)<1> %cr0(0,0)<0;1,0> {bits:#x}:ud\n\
                 {op} (M1, 8) Df(1,0)<1> Af(0,0)<1;1,0> Bf(0,0)<1;1,0>"
            );
            let nearest =
                (0..8).flat_map(|n| (exact(a[n].into(), b[n].into()) as f32).to_le_bytes());
            let expected: Vec<u8> =
                (0..8).flat_map(|n| result(n).to_le_bytes()).chain(nearest).collect();
            cases.push(Case::new(text, &expected));
        }
    }
    let product = |n: usize| directed(f64::from(a[n]).mul_add(f64::from(b[n]), 0.0), None);
    let text = "xor (M1_NM, 1) %cr0(0,0)<1> %cr0(0,0)<0;1,0> 0x30:ud\n\
                mad (M1, 8) Df(0,0)<1> Af(0,0)<1;1,0> Bf(0,0)<1;1,0> 0x0:f\n\
                mov (M1, 8) Df(1,0)<1> 0x7ffffff:d\nmov (M1, 8) Dd(2,0)<1> %cr0(0,0)<0;1,0>\n\
                xor (M1_NM, 1) %cr0(0,0)<1> %cr0(0,0)<0;1,0> 0x30:ud";
    let mut expected: Vec<u8> = (0..8).flat_map(|n| product(n).to_le_bytes()).collect();
    expected.extend((0..8).flat_map(|_| 134_217_720.0_f32.to_le_bytes()));
    expected.extend((0..8).flat_map(|_| 0x4f0_u32.to_le_bytes()));
    cases.push(Case::new(text.into(), &expected));
    check("dg2", 8, 0xff, &input, &cases);
}
