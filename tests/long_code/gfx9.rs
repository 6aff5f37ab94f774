//! GFX9 code.

use warploom::isa::gfx9::assemble;
use warploom::isa::gfx9::lift::{Kernel, lift_kernel};

use super::{on_small_stack, runs_alike};

/// Lifts code and runs it. Each text stands there so many times.
fn run(texts: &[(&str, usize)]) {
    let code: Vec<u8> = texts.iter().flat_map(|&(text, count)| words(text).repeat(count)).collect();
    on_small_stack(|| runs_alike(&lift_kernel(&Kernel::new("long", &code)).expect("the code is lifted")));
}

fn words(text: &str) -> Vec<u8> {
    text.split(';').flat_map(|text| assemble(text.trim()).unwrap_or_else(|error| panic!("{error}"))).collect()
}

#[test]
fn a_hundred_thousand_instructions_in_a_line() {
    run(&[("v_add_u32_e32 v0, v0, v1; v_mul_f32_e32 v1, v0, v1; s_add_u32 s4, s4, s5", 33_000), ("s_endpgm", 1)]);
}

#[test]
fn ten_thousand_blocks() {
    run(&[("s_cbranch_scc0 1; v_add_u32_e32 v0, v0, v1; s_add_u32 s4, s4, s5", 10_000), ("s_endpgm", 1)]);
}

#[test]
fn a_thousand_nested_loops() {
    // Ends are two words each, and lead back to heads of one word: the innermost end comes first.
    let heads = words("v_add_u32_e32 v0, v0, v1").repeat(1_000);
    let end = |number: usize| {
        let back = 3 * number as i64 + 3;
        words(&format!("s_cmp_lg_u32 s4, s4; s_cbranch_scc1 {}", (-back) as u16))
    };
    let code: Vec<u8> = [heads, (0..1_000).flat_map(end).collect(), words("s_endpgm")].concat();
    on_small_stack(|| runs_alike(&lift_kernel(&Kernel::new("long", &code)).expect("the code is lifted")));
}
