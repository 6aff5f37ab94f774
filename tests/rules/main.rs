//! Tests of analysis's rewriting rules: an input and an output for each rule, and the number of
//! rewritings in compilers' code.
//!
//! `NAME.ir` is a function that the rule `NAME` rewrites; most are reduced from a compiler's code.
//! `NAME.analysed` is the function after analysis. `firings.txt` has the number of rewritings over
//! the corpora. If a compiler spells a sequence in a new way, the numbers differ.
//!
//! `WARPLOOM_BLESS=1 cargo test --test rules` rewrites both files.

#[path = "../support/files.rs"]
mod files;
#[path = "../support/golden.rs"]
mod golden;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::path::Path;

use arbitrary::Unstructured;
use files::files;
use golden::{hold, no_differences};
use warploom_analysis::{Optimized, RULES, Rules, optimize_by, rewrite_function};
use warploom_container::Isa;
use warploom_ir::{Function, parse};
use warploom_testing::compare::{WAYS, any_content, compare, compare_rewritten, one_way};
use warploom_testing::ir::{Random, Source};

/// The compiler of binaries for Turing and later GPUs.
const LATER: &str = "ptxas 13.5";
/// The binaries of one compiler: its name, and the folders and endings of their files.
const CORPORA: [(&str, &[&str], &[&str]); 10] = [
    (
        "ptxas 12.9",
        &["examples", "benches", "tests/fixtures/maxwell", "tests/fixtures/random_sources"],
        &["cubin"],
    ),
    (LATER, &["examples", "benches", "tests/spellings", "tests/fixtures/turing"], &["cubin"]),
    ("NVRTC 12.9", &["examples", "benches", "tests/fixtures/ptx/nvrtc"], &["ptx"]),
    (
        "clang 19",
        &["examples", "benches", "tests/fixtures/gfx9", "tests/fixtures/random_sources"],
        &["hsaco"],
    ),
    ("IGC", &["examples", "benches", "tests/fixtures/visa"], &["zebin"]),
    ("clang PTX", &["tests/fixtures/ptx/clang"], &["ptx"]),
    ("numba", &["tests/fixtures/ptx/numba"], &["ptx"]),
    ("Triton", &["tests/fixtures/ptx/triton"], &["ptx"]),
    ("Rust", &["tests/fixtures/ptx/rust"], &["ptx"]),
    (
        "others",
        &["tests/fixtures/ptx/gcc", "tests/fixtures/ptx/halide", "tests/fixtures/ptx/taichi"],
        &["ptx"],
    ),
];

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Returns the function after analysis and the rules for all engines, and the firings by rule.
fn rewritten(function: &Function, rules: Rules) -> (Optimized, BTreeMap<&'static str, u32>) {
    let mut function = function.clone();
    let mut firings = rewrite_function(&mut function, rules).expect("the function verifies");
    let optimized = optimize_by(&function, rules).expect("the function verifies");
    firings.add(&optimized.firings);
    let firings = firings.iter().collect();
    (optimized, firings)
}

fn input(name: &str) -> Function {
    let path = root().join("tests/rules").join(name).with_extension("ir");
    let text = std::fs::read_to_string(&path)
        .unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    parse::parse(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

#[test]
fn each_rule_rewrites_its_input() {
    let mut differences = Vec::new();
    for (index, rule) in RULES.iter().enumerate() {
        let function = input(rule.name);
        let (with, firings) = rewritten(&function, Rules::ALL);
        assert!(firings.contains_key(rule.name), "{} does not fire: {firings:?}", rule.name);
        let (without, firings) = rewritten(&function, Rules::ALL.without(index));
        assert!(!firings.contains_key(rule.name), "{} fires though it is off", rule.name);
        assert_ne!(with.function, without.function, "{} has no effect", rule.name);
        let path = root().join("tests/rules").join(rule.name).with_extension("analysed");
        differences.extend(hold(&path, &with.function.to_string()));
    }
    no_differences(&differences);
}

/// Proves that analysis and the rules keep results. The interpreter runs the input, and all ways of
/// the JIT run the analysed function. Rules for all engines are compared with their absence.
#[test]
fn rewritten_functions_leave_what_their_inputs_leave() {
    for rule in &RULES {
        let function = input(rule.name);
        let block = [function.lanes.into(), 1, 1];
        for seed in 0..8 {
            let initial = any_content(&function, &mut Random::new(seed));
            compare(&function, block, &initial, WAYS)
                .and_then(|()| compare_rewritten(&function, block, &initial, WAYS))
                .unwrap_or_else(|difference| panic!("{}, seed {seed}: {difference}", rule.name));
        }
    }
}

/// Proves that the rules for all engines keep the results of loops.
#[test]
fn loops_leave_the_same_with_and_without_rules() {
    let mut rewritten = 0;
    for seed in 0..400 {
        let mut random = Random::new(seed);
        let bytes: Vec<u8> = (0..64).map(|_| random.below(256) as u8).collect();
        let function =
            warploom_testing::rewritable(&mut Unstructured::new(&bytes)).expect("enough bytes");
        let initial = any_content(&function, &mut random);
        let fired = compare_rewritten(
            &function,
            [function.lanes.into(), 1, 1],
            &initial,
            one_way(seed as usize),
        )
        .unwrap_or_else(|difference| panic!("seed {seed}: {difference}"));
        rewritten += u32::from(fired);
    }
    assert!((40..360).contains(&rewritten), "{rewritten} of 400 loops are rewritten");
}

/// Returns the number of kernels that translate in a corpus, and their firings by rule.
fn count(name: &str, folders: &[&str], endings: &[&str]) -> (usize, BTreeMap<&'static str, u32>) {
    let (mut kernels, mut counts) = (0, BTreeMap::new());
    for path in folders.iter().flat_map(|folder| files(&root().join(folder), endings)) {
        let bytes =
            std::fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        // Some fixtures are broken on purpose.
        let Ok(program) = warploom::Program::load(&bytes, None) else { continue };
        if matches!(program.module().isa, Isa::Turing { .. }) != (name == LATER) {
            continue;
        }
        let names: BTreeSet<String> =
            program.module().kernels().map(|(_, kernel)| kernel.name.clone()).collect();
        for name in names {
            let Ok(firings) = program.kernel(&name).and_then(|kernel| kernel.firings([256, 1, 1]))
            else {
                continue;
            };
            kernels += 1;
            for (rule, count) in firings.iter() {
                *counts.entry(rule).or_insert(0) += count;
            }
        }
    }
    (kernels, counts)
}

#[test]
fn rules_fire_on_corpora_as_often_as_they_did() {
    let counted = CORPORA.map(|(name, folders, endings)| count(name, folders, endings));
    let mut text = String::from(
        "# Rewritings of each rule over the kernels of each compiler. \
         WARPLOOM_BLESS=1 cargo test --test rules writes it.\n",
    );
    let mut line = |name: &str, cells: &mut dyn Iterator<Item = String>| {
        let cells: String = cells.map(|cell| format!(" {cell:>10}")).collect();
        writeln!(text, "{name:20}{cells}").expect("a string takes all");
    };
    line("# rule", &mut CORPORA.iter().map(|(name, ..)| name.replace(' ', "-")));
    line("kernels", &mut counted.iter().map(|(kernels, _)| kernels.to_string()));
    for rule in &RULES {
        line(
            rule.name,
            &mut counted.iter().map(|(_, counts)| counts.get(rule.name).unwrap_or(&0).to_string()),
        );
    }
    no_differences(hold(&root().join("tests/rules/firings.txt"), &text).as_slice());
}
