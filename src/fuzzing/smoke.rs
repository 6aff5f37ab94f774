//! A short run of every target on stable Rust: the project's own files, the same with a few changes, and pseudo-random
//! bytes. It shows that the targets work; finding more is the fuzzer's.

use warploom_testing::ir::{Random, Source};

use super::prepare::{random, seeds};

/// The input with a few bytes changed, or cut short.
fn change(source: &mut Random, input: &[u8]) -> Vec<u8> {
    let mut changed = input.to_vec();
    let length = changed.len() as u32;
    for _ in 0..=source.below(4) {
        match source.below(4) {
            0 => changed.truncate(source.below(length + 1) as usize),
            1 => changed
                .insert(source.below(changed.len() as u32 + 1) as usize, source.below(128) as u8),
            _ if !changed.is_empty() => {
                let at = source.below(changed.len() as u32) as usize;
                changed[at] ^= 1 << source.below(8);
            }
            _ => {}
        }
    }
    changed
}

/// Runs a target on its seeds as they are, and on so many changed and random ones.
fn run(target: fn(&[u8]), name: &str, count: u32, bytes: u32) {
    let inputs = seeds(name);
    inputs.iter().for_each(|input| target(input));
    let mut source = Random::new(1);
    for _ in 0..count {
        let input = &inputs[source.below(inputs.len() as u32) as usize];
        target(&change(&mut source, input));
        let length = source.below(bytes);
        target(&random(&mut source, length));
    }
}

macro_rules! smoke {
    ($($target:ident $count:literal $bytes:literal)*) => {$(
        #[test]
        fn $target() {
            run(super::$target, stringify!($target), $count, $bytes);
        }
    )*};
}

smoke! {
    array 200 200
    assembly 100 200
    cache 200 200
    checks 40 400
    container 200 200
    cuda_api 30 1000
    decode_gfx9 500 256
    decode_maxwell 100 256
    decode_turing 100 256
    decode_visa 300 400
    diff_dumb_gfx9 10 400
    diff_dumb_maxwell 10 400
    diff_dumb_turing 10 400
    diff_ir 30 2000
    diff_smart_gfx9 5 1000
    diff_smart_maxwell 5 1000
    diff_smart_ptx 5 1000
    diff_smart_turing 5 1000
    diff_smart_visa 5 1000
    diff_smarter_gfx9 10 2000
    diff_smarter_maxwell 10 2000
    diff_smarter_ptx 10 2000
    diff_smarter_turing 10 2000
    diff_smarter_visa 10 2000
    guest_boundary 20 1000
    ir_text 100 200
    manifest 400 200
    ptx_text 100 200
}
