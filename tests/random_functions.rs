//! All engines agree on random functions: memory, registers, counts and faults.
//!
//! `WARPLOOM_SEED` is the first seed, `WARPLOOM_SEEDS` the number of seeds, and `WARPLOOM_WAY` the
//! number of the only way to make code. With one seed, a function that fails is printed. Guest code
//! that fails is reduced and written to the folder `WARPLOOM_REPRODUCERS`.

#[path = "support/variable.rs"]
mod variable;

use std::panic::{AssertUnwindSafe, catch_unwind};

use arbitrary::Unstructured;
use variable::variable;
use warploom_testing::bare::{self, Launch};
use warploom_testing::code::{Code, Isa};
use warploom_testing::compare::{self, BLOCKS, Difference, WAYS, Way, compare};
use warploom_testing::ir::{Random, Source, function};
use warploom_testing::{Elementwise, check, elementwise};

/// Returns the JIT's ways of making code, or only the way that `WARPLOOM_WAY` selects.
fn ways() -> &'static [Way] {
    variable("WARPLOOM_WAY").map_or(WAYS, |number| compare::one_way(number as usize))
}

/// Runs a test with every seed, and reports all seeds that fail.
fn each_seed(count: u64, test: impl Fn(u64) -> Result<(), String>) {
    let (first, count) =
        (variable("WARPLOOM_SEED").unwrap_or(0), variable("WARPLOOM_SEEDS").unwrap_or(count));
    let mut failures = Vec::new();
    for seed in first..first + count {
        // A seed that panics must not hide the failures of other seeds.
        match catch_unwind(AssertUnwindSafe(|| test(seed))) {
            Ok(Ok(())) => {}
            Ok(Err(failure)) => failures.push(format!("seed {seed}: {failure}")),
            Err(_) => failures.push(format!("seed {seed}: it panics")),
        }
    }
    assert!(failures.is_empty(), "{} failures:\n{}", failures.len(), failures.join("\n"));
}

fn seeds(count: u64, test: impl Fn(u64) -> Result<(), Box<Difference>>) {
    each_seed(count, |seed| {
        test(seed).map_err(|difference| {
            let Difference { engine, block, what, function } = &*difference;
            let alone = std::env::var_os("WARPLOOM_SEEDS").is_some_and(|count| count == "1");
            let function = if alone { format!("\n{function}") } else { String::new() };
            format!("{engine}, block {block:?}: {what}{function}")
        })
    });
}

fn bytes(random: &mut Random, count: usize) -> Vec<u8> {
    (0..count).map(|_| random.below(256) as u8).collect()
}

#[test]
fn shapes_that_the_jit_treats_specially() {
    seeds(150, |seed| {
        let mut random = Random::new(seed);
        let bytes = bytes(&mut random, 3000);
        let function =
            warploom_testing::function(&mut Unstructured::new(&bytes)).expect("enough bytes");
        compare(&function, BLOCKS[random.below(BLOCKS.len() as u32) as usize], &[], ways())
    });
}

#[test]
fn lanes_that_wait() {
    seeds(150, |seed| {
        let mut random = Random::new(seed);
        let bytes = bytes(&mut random, 2000);
        let function =
            warploom_testing::waiting(&mut Unstructured::new(&bytes)).expect("enough bytes");
        compare(&function, BLOCKS[random.below(BLOCKS.len() as u32) as usize], &[], ways())
    });
}

#[test]
fn elementwise_kernels_run_bare() {
    seeds(300, |seed| {
        let mut random = Random::new(seed);
        let bytes = bytes(&mut random, 1000);
        let mut u = Unstructured::new(&bytes);
        let Elementwise { function, independent } = elementwise(&mut u).expect("enough bytes");
        let launch = Launch::choose(&mut u).expect("enough bytes");
        bare::compare(&function, &launch, independent, ways())
    });
}

#[test]
fn every_operation() {
    seeds(100, |seed| {
        let mut random = Random::new(seed);
        let lanes = [32, 32, 64, 8, 13][random.below(5) as usize];
        let ops = [4, 12, 30][random.below(3) as usize];
        let function = function(&mut random, compare::limits(lanes, ops));
        compare(&function, BLOCKS[random.below(BLOCKS.len() as u32) as usize], &[], ways())
    });
}

/// Runs code that is made from random bytes; each seed picks one of the sizes.
fn code(
    count: u64,
    sizes: [usize; 3],
    make: impl Fn(&mut Unstructured<'_>) -> arbitrary::Result<Code>,
) {
    let mut instructions = 0;
    let counted = std::cell::RefCell::new(&mut instructions);
    each_seed(count, |seed| {
        let mut random = Random::new(seed);
        let size = sizes[random.below(3) as usize];
        let code = make(&mut Unstructured::new(&bytes(&mut random, size))).expect("code");
        **counted.borrow_mut() += code.instructions();
        check(&code, "code")
    });
    println!("{instructions} instructions");
}

#[test]
fn maxwell_code_from_the_table() {
    code(50, [80, 800, 2000], |u| Code::smart(Isa::Maxwell, u));
}

#[test]
fn turing_code_from_the_table() {
    code(50, [150, 1200, 3000], |u| Code::smart(Isa::Turing, u));
}

#[test]
fn gfx9_code_from_the_table() {
    code(100, [200, 1200, 3000], |u| Code::smart(Isa::Gfx9, u));
}

#[test]
fn any_words_as_code() {
    for isa in [Isa::Maxwell, Isa::Turing, Isa::Gfx9] {
        code(50, [16, 100, 600], |u| Ok(Code::dumb(isa, u.bytes(u.len())?)));
    }
}

#[test]
fn products_and_pairs() {
    code(120, [800; 3], Code::products);
}
