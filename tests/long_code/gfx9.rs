//! Long GFX9 code.

use warploom_analysis::Flow;
use warploom_gfx9::assemble;
use warploom_gfx9::lift::{Kernel, lift_kernel};
use warploom_ir::Terminator;

use super::{on_small_stack, runs_alike};

/// Lifts code and runs it. The code repeats each text the given number of times.
fn run(texts: &[(&str, usize)]) {
    let code: Vec<u8> = texts.iter().flat_map(|&(text, count)| words(text).repeat(count)).collect();
    on_small_stack(|| {
        runs_alike(&lift_kernel(&Kernel::new("long", &code)).expect("the code is lifted"))
    });
}

fn words(text: &str) -> Vec<u8> {
    text.split(';')
        .flat_map(|text| assemble(text.trim()).unwrap_or_else(|error| panic!("{error}")))
        .collect()
}

#[test]
fn a_hundred_thousand_instructions_in_a_line() {
    run(&[
        ("v_add_u32_e32 v0, v0, v1; v_mul_f32_e32 v1, v0, v1; s_add_u32 s4, s4, s5", 33_000),
        ("s_endpgm", 1),
    ]);
}

#[test]
fn ten_thousand_blocks() {
    run(&[
        ("s_cbranch_scc0 1; v_add_u32_e32 v0, v0, v1; s_add_u32 s4, s4, s5", 10_000),
        ("s_endpgm", 1),
    ]);
}

#[test]
fn a_thousand_nested_loops() {
    // The innermost end comes first. An end has two words and branches back to a head of one word.
    let heads = words("v_add_u32_e32 v0, v0, v1").repeat(1_000);
    let end = |number: usize| {
        let back = 3 * number as i64 + 3;
        words(&format!("s_cmp_lg_u32 s4, s4; s_cbranch_scc1 {}", (-back) as u16))
    };
    let code: Vec<u8> = [heads, (0..1_000).flat_map(end).collect(), words("s_endpgm")].concat();
    on_small_stack(|| {
        runs_alike(&lift_kernel(&Kernel::new("long", &code)).expect("the code is lifted"))
    });
}

#[test]
fn there_are_not_as_many_ways_as_jumps_times_targets() {
    // Each call has its own function, which returns.
    let [call, back] = ["s_call_b64 s[30:31], 99", "s_setpc_b64 s[30:31]"].map(words);
    let code = [call.repeat(100), back.repeat(100)].concat();
    let function = lift_kernel(&Kernel::new("calls", &code)).unwrap();
    let jumps = function
        .blocks
        .iter()
        .filter(|block| matches!(block.term, Terminator::Indirect { .. }))
        .count();
    assert!(jumps > 50 && function.indirect_targets().count() > 50, "{function}");
    let ways: usize = Flow::of(&function).successors.iter().map(Vec::len).sum();
    assert!(ways < 4 * function.blocks.len(), "{ways}");
}
