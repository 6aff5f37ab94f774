//! Long Maxwell code.

use warploom_maxwell::assemble;
use warploom_maxwell::lift::{Kernel, lift_kernel};

use super::{on_small_stack, runs_alike};

/// Returns the address of the instruction with this number. Three instructions share a control
/// word.
fn address(number: usize) -> u64 {
    let (bundle, place) = (number as u64 / 3, number as u64 % 3);
    32 * bundle + 8 + 8 * place
}

/// Lifts instructions and runs them. Equal texts that name no address are assembled once.
fn run(texts: &[String]) {
    let mut known = std::collections::HashMap::new();
    let mut words: Vec<u64> = Vec::new();
    for (number, text) in texts.iter().enumerate() {
        let at = address(number);
        let word = || assemble(text, at).unwrap_or_else(|error| panic!("{error}"));
        words.push(if text.contains("0x") {
            word()
        } else {
            *known.entry(text.clone()).or_insert_with(word)
        });
    }
    let code: Vec<u8> = words
        .chunks(3)
        .flat_map(|bundle| [&[0], bundle].concat())
        .flat_map(u64::to_le_bytes)
        .collect();
    on_small_stack(|| {
        runs_alike(&lift_kernel(&Kernel::new("long", &code, 8)).expect("the code is lifted"))
    });
}

#[test]
fn a_hundred_thousand_instructions_in_a_line() {
    let line =
        (0..50_000).flat_map(|_| ["FFMA R0, R0, R1, R2", "IADD R3, R3, R0"]).map(String::from);
    run(&line.chain(["EXIT".into()]).collect::<Vec<_>>());
}

#[test]
fn ten_thousand_blocks() {
    // Every other branch skips the next branch.
    let branch = |number: usize| match number % 2 {
        0 => format!("@P0 BRA {:#x}", address(number + 3)),
        _ => "IADD R3, R3, R0".into(),
    };
    let end = ["EXIT", "EXIT", "EXIT", "EXIT"].map(String::from);
    run(&(0..20_000).map(branch).chain(end).collect::<Vec<_>>());
}

#[test]
fn a_thousand_nested_loops() {
    let heads = (0..1_000).map(|_| "IADD R3, R3, R0".to_owned());
    let ends = (0..1_000).map(|number| format!("@P0 BRA {:#x}", address(999 - number)));
    run(&heads.chain(ends).chain(["EXIT".into()]).collect::<Vec<_>>());
}

#[test]
fn a_thousand_nested_joins() {
    // The innermost join comes first.
    let opens = (0..1_000).map(|number| format!("SSY {:#x}", address(2_001 - number)));
    let part = [format!("@P0 BRA {:#x}", address(1_002)), "NOP".into()];
    let ends = (0..1_000).map(|_| "SYNC".to_owned());
    run(&opens.chain(part).chain(ends).chain(["EXIT".into()]).collect::<Vec<_>>());
}
