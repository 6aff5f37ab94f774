//! Random functions are the same on all engines: memory, registers, counts and faults.
//!
//! `WARPLOOM_SEED` is the first seed, `WARPLOOM_SEEDS` how many there are; a single one that fails is printed whole.

use std::panic::{AssertUnwindSafe, catch_unwind};

use arbitrary::Unstructured;
use warploom::generate::bare::{self, Launch};
use warploom::generate::compare::{self, BLOCKS, Difference, compare};
use warploom::generate::{self, Elementwise, elementwise, maxwell_code, maxwell_registers, products};
use warploom::ir::generate::{Random, Source, function};
use warploom::isa::maxwell::lift::{Kernel, lift_kernel};

fn seeds(count: u64, test: impl Fn(u64) -> Result<(), Box<Difference>>) {
    let variable = |name: &str| std::env::var(name).ok().and_then(|text| text.parse::<u64>().ok());
    let (first, count) = (variable("WARPLOOM_SEED").unwrap_or(0), variable("WARPLOOM_SEEDS").unwrap_or(count));
    let mut failures = Vec::new();
    for seed in first..first + count {
        // So that one seed that panics does not hide the rest.
        match catch_unwind(AssertUnwindSafe(|| test(seed))) {
            Ok(Ok(())) => {}
            Ok(Err(difference)) if count == 1 => failures.push(format!("seed {seed}, {difference}")),
            Ok(Err(difference)) => {
                let Difference { engine, block, what, .. } = &*difference;
                failures.push(format!("seed {seed}, {engine}, block {block:?}: {what}"));
            }
            Err(_) => failures.push(format!("seed {seed}: it panics")),
        }
    }
    assert!(failures.is_empty(), "{} failures:\n{}", failures.len(), failures.join("\n"));
}

fn bytes(random: &mut Random, count: usize) -> Vec<u8> {
    (0..count).map(|_| random.below(256) as u8).collect()
}

#[test]
fn shapes_that_the_jit_treats_specially() {
    seeds(300, |seed| {
        let mut random = Random::new(seed);
        let bytes = bytes(&mut random, 3000);
        let function = generate::function(&mut Unstructured::new(&bytes)).expect("enough bytes");
        compare(&function, BLOCKS[random.below(BLOCKS.len() as u32) as usize], &[])
    });
}

#[test]
fn elementwise_kernels_run_bare() {
    seeds(600, |seed| {
        let mut random = Random::new(seed);
        let bytes = bytes(&mut random, 1000);
        let mut u = Unstructured::new(&bytes);
        let Elementwise { function, independent } = elementwise(&mut u).expect("enough bytes");
        let launch = Launch::choose(&mut u).expect("enough bytes");
        bare::compare(&function, &launch, independent)
    });
}

#[test]
fn every_operation() {
    seeds(200, |seed| {
        let mut random = Random::new(seed);
        let lanes = [32, 32, 64, 8, 13][random.below(5) as usize];
        let ops = [4, 12, 30][random.below(3) as usize];
        let function = function(&mut random, compare::limits(lanes, ops));
        compare(&function, BLOCKS[random.below(BLOCKS.len() as u32) as usize], &[])
    });
}

#[test]
fn maxwell_code_from_the_table() {
    seeds(100, |seed| {
        let mut random = Random::new(seed);
        let words = [40, 400, 1000][random.below(3) as usize];
        let code = maxwell_code(&mut Unstructured::new(&bytes(&mut random, words))).expect("code");
        maxwell(&mut random, &code)
    });
}

#[test]
fn products_and_pairs() {
    seeds(250, |seed| {
        let mut random = Random::new(seed);
        let code = products(&mut Unstructured::new(&bytes(&mut random, 400))).expect("code");
        maxwell(&mut random, &code)
    });
}

/// Lifts code and runs it on random registers.
fn maxwell(random: &mut Random, code: &[u8]) -> Result<(), Box<Difference>> {
    let kernel = Kernel::new("random", code, 8);
    let function = lift_kernel(&kernel).unwrap_or_else(|error| panic!("{error}"));
    let registers = bytes(random, 4096);
    let registers = maxwell_registers(&function, &mut Unstructured::new(&registers)).expect("registers");
    compare(&function, BLOCKS[random.below(BLOCKS.len() as u32) as usize], &registers)
}
