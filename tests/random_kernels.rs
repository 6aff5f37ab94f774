//! Random kernels of every instruction set give equal results on all engines, and attacks on guest
//! memory's boundary fail. The tests run the fuzz targets `diff_smarter` and `guest_boundary` from
//! fixed seeds.
//!
//! `WARPLOOM_SEED` is the first seed, `WARPLOOM_SEEDS` the number of seeds; `.ci/nightly` takes new
//! seeds. A kernel that fails is reduced and written to the folder `WARPLOOM_REPRODUCERS`, for
//! `warploom run --engine both`.

#[path = "support/variable.rs"]
mod variable;

use arbitrary::Unstructured;
use variable::variable;
use warploom_testing::ir::{Random, Source};
use warploom_testing::loops::long;
use warploom_testing::{Attack, Case, check, gfx9, maxwell, ptx, turing, visa};

/// Runs kernels from `count` seeds. With the default number of seeds, warps must execute at least
/// `least.0` instructions and print at least `least.1` bytes, and fewer than half of the launches
/// may fault.
fn kernels(
    name: &str,
    count: u64,
    least: (u64, usize),
    kernel: fn(&mut Unstructured<'_>) -> arbitrary::Result<Case>,
) {
    let (first, count) =
        (variable("WARPLOOM_SEED").unwrap_or(0), variable("WARPLOOM_SEEDS").unwrap_or(count));
    let (mut instructions, mut printed, mut faults, mut failures) = (0, 0, 0, Vec::new());
    for seed in first..first + count {
        let mut random = Random::new(seed);
        let bytes: Vec<u8> = (0..700).map(|_| random.below(256) as u8).collect();
        let case = kernel(&mut Unstructured::new(&bytes)).expect("enough bytes");
        match check(&case, name) {
            Ok(ran) => {
                instructions += ran.instructions;
                printed += ran.printed;
                faults += u64::from(ran.faults);
                assert_eq!(ran.uncompiled, 0, "seed {seed}: regions without code");
            }
            Err(failure) => failures.push(format!("seed {seed}: {failure}")),
        }
    }
    println!(
        "{name}: {count} kernels, {instructions} instructions, {printed} bytes printed, {faults} launches end with a fault"
    );
    assert!(failures.is_empty(), "{} failures:\n{}", failures.len(), failures.join("\n"));
    let all = variable("WARPLOOM_SEEDS").is_none();
    assert!(
        !all || instructions >= least.0 && printed >= least.1 && faults < count / 2,
        "too little is executed"
    );
}

#[test]
fn maxwell_kernels() {
    kernels("maxwell", 150, (15_000, 750), maxwell::kernel);
}

#[test]
fn maxwell_fragment_programs() {
    kernels("maxwell_fragment", 75, (3_750, 0), maxwell::fragment);
}

#[test]
fn maxwell_programs_of_primitives() {
    kernels("maxwell_primitives", 37, (1_875, 0), maxwell::primitives);
}

#[test]
fn turing_kernels() {
    kernels("turing", 100, (10_000, 500), turing::kernel);
}

#[test]
fn gfx9_kernels() {
    kernels("gfx9", 150, (15_000, 0), gfx9::kernel);
}

#[test]
fn gfx9_fragment_programs() {
    kernels("gfx9_fragment", 75, (3_750, 0), gfx9::fragment);
}

#[test]
fn gfx9_programs_of_primitives() {
    kernels("gfx9_primitives", 37, (1_875, 0), gfx9::primitives);
}

#[test]
fn ptx_kernels() {
    kernels("ptx", 100, (10_000, 0), ptx::kernel);
}

#[test]
fn ptx_instructions() {
    kernels("ptx_straight", 100, (10_000, 0), ptx::straight);
}

#[test]
fn visa_kernels() {
    kernels("visa", 100, (10_000, 0), visa::kernel);
}

#[test]
fn visa_instructions() {
    kernels("visa_straight", 100, (10_000, 0), visa::straight);
}

#[test]
fn long_kernels() {
    kernels("maxwell_long", 8, (10_000, 0), |u| long(&maxwell::GUEST, u));
    kernels("turing_long", 8, (10_000, 0), |u| long(&turing::GUEST, u));
    kernels("gfx9_long", 8, (4_000, 0), |u| long(&gfx9::GUEST, u));
    kernels("ptx_long", 8, (10_000, 0), |u| long(&ptx::GUEST, u));
    kernels("visa_long", 8, (10_000, 0), |u| long(&visa::GUEST, u));
}

#[test]
fn attacks_do_not_succeed() {
    let (first, count) =
        (variable("WARPLOOM_SEED").unwrap_or(0), variable("WARPLOOM_SEEDS").unwrap_or(100));
    let mut failures = Vec::new();
    for seed in first..first + count {
        let mut random = Random::new(seed);
        let bytes: Vec<u8> = (0..2000).map(|_| random.below(256) as u8).collect();
        let attack = Attack::choose(&mut Unstructured::new(&bytes)).expect("enough bytes");
        if let Err(failure) = check(&attack, "attack") {
            failures.push(format!("seed {seed}: {failure}"));
        }
    }
    assert!(failures.is_empty(), "{} failures:\n{}", failures.len(), failures.join("\n"));
}
