//! Compares small functions after analysis, and the likely path of their fast code, with committed
//! texts.
//!
//! `NAME.ir` is a function; each fast path and each class of operation has a function.
//! `NAME.analysed` is the function after analysis. `counts.txt` has the calls, loads and stores on
//! the likely path, by function, in all and in loops. `orders.txt` has the orders of each
//! function's steps, and the reasons that keep loops in memory. The folder `tiny` has five
//! functions, with the CLIF text of their quick code.
//!
//! `WARPLOOM_BLESS=1 cargo test --test lower` rewrites all these texts. `tests/ir` runs the
//! functions.

mod code;
#[path = "../support/golden.rs"]
mod golden;

use std::collections::BTreeSet;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use code::Counts;
use golden::{hold, no_differences};
use warploom_analysis::LaunchClass;
use warploom_cranelift::{Target, dump};
use warploom_engine::{Effort, Program};
use warploom_ir::{Function, Op, Reg, parse};
use warploom_testing::instrument::{Buffers, instrument};

/// The host to compile for. It is fixed, so that all machines produce equal texts.
const TARGET: &str = "x86_64-unknown-linux-gnu,x86-64-v3";
/// The least number of functions.
const LEAST: usize = 40;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/lower")
}

/// Returns the functions of a folder, in the order of their names.
fn functions(folder: &Path) -> Vec<(PathBuf, Arc<Function>)> {
    let listed = std::fs::read_dir(folder).expect("the folder");
    let mut paths: Vec<PathBuf> = listed.map(|entry| entry.expect("a file").path()).collect();
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "ir"));
    paths.sort();
    let read = |path: PathBuf| {
        let text = std::fs::read_to_string(&path).expect("a function");
        let function =
            parse::parse(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        (path, Arc::new(with_effects(function)))
    };
    paths.into_iter().map(read).collect()
}

/// Returns the function. If it has no effect besides registers, stores at its end keep the
/// registers that it writes, because nothing else reads them.
fn with_effects(function: Function) -> Function {
    let insts = || function.blocks.iter().flat_map(|block| &block.insts);
    if insts()
        .any(|inst| matches!(inst.op, Op::Store { .. } | Op::Atomic { .. } | Op::Raise { .. }))
    {
        return function;
    }
    let mut written: BTreeSet<Reg> = BTreeSet::new();
    for inst in insts() {
        match inst.op {
            Op::RfWrite { reg, .. } | Op::RegionWrite { reg, .. } => drop(written.insert(reg)),
            Op::RfScatter { bank, first, count, .. } => {
                written.extend((first..first + count).map(|index| bank.reg(index)));
            }
            _ => {}
        }
    }
    let read = written.into_iter().filter(|&reg| reg != function.active).collect();
    instrument(&function, &Buffers { input: 0, set: Vec::new(), output: 0x20_0000_0000, read })
}

/// Returns the CLIF of a function.
fn clif(program: &Program, effort: Effort) -> String {
    dump::clif(program, effort, &Target::named(TARGET).expect("a host"))
}

fn program(function: &Arc<Function>) -> Program {
    Program::new(function, LaunchClass::Line, true, warploom_cranelift::backend())
        .expect("a program")
}

#[test]
fn analysis_makes_of_functions_what_it_made() {
    let functions = functions(&folder());
    assert!(functions.len() >= LEAST, "{} functions", functions.len());
    let held = functions.iter().filter_map(|(path, function)| {
        hold(&path.with_extension("analysed"), &program(function).function().to_string())
    });
    no_differences(&held.collect::<Vec<_>>());
}

#[test]
fn likely_paths_have_the_calls_loads_and_stores_that_they_had() {
    let mut text =
        "# Calls, loads and stores on the likely path; then those in loops of the function.\n"
            .to_string();
    let mut problems = Vec::new();
    for (path, function) in functions(&folder()) {
        let name = path.file_stem().expect("a name").to_string_lossy().into_owned();
        let [all, in_loops] = code::counts(&clif(&program(&function), Effort::Full));
        let Counts { calls, loads, stores } = all;
        writeln!(
            text,
            "{name:60} {calls:3} {loads:4} {stores:4} {:6} {:4} {:4}",
            in_loops.calls, in_loops.loads, in_loops.stores
        )
        .expect("a string takes all");
        if calls > 0 {
            problems.push(format!("{name} calls a helper on its likely path"));
        }
    }
    problems.extend(hold(&folder().join("counts.txt"), &text));
    no_differences(&problems);
}

#[test]
fn steps_have_the_orders_that_they_had() {
    let target = Target::named(TARGET).expect("a host");
    let mut text = String::new();
    for (path, function) in functions(&folder()) {
        writeln!(text, "{}", path.file_stem().expect("a name").display()).expect("a string");
        let plan = dump::plan(&program(&function), Effort::Full, &target);
        let mut block = "";
        for line in plan.lines() {
            if line.starts_with('b') {
                (block, _) = line.split_once(':').expect("a block has a number");
            } else if line.starts_with("    step") {
                writeln!(text, "    {block}, {}", line.trim_start()).expect("a string");
            }
        }
    }
    for order in ["loop in registers", "scalarized loop", "full warps", "strips", "one by one"] {
        assert!(text.contains(order), "no function has the order {order:?}");
    }
    no_differences(&Vec::from_iter(hold(&folder().join("orders.txt"), &text)));
}

#[test]
fn tiny_functions_have_the_code_that_they_had() {
    let functions = functions(&folder().join("tiny"));
    assert_eq!(functions.len(), 5);
    let held = functions.iter().filter_map(|(path, function)| {
        hold(&path.with_extension("clif"), &clif(&program(function), Effort::Quick))
    });
    no_differences(&held.collect::<Vec<_>>());
}
