//! Runs the tests in `tests/ir/*.ir` on every engine.
//!
//! A file holds functions in the IR's text form, each followed by its cases:
//!
//! ```text
//! case "what it shows"
//!   grid 1                        # blocks per axis, up to three numbers; 1 if left out
//!   block 32                      # lanes per axis; one warp if left out
//!   shared 256                    # bytes of shared memory
//!   local 64                      # bytes of local memory of a lane
//!   back_edges 4                  # after which a warp yields
//!   limit 1000                    # instructions
//!   const 3 i32 1 2 3             # content of a constant bank
//!   buffer x i32 0..32            # global memory; see below
//!   buffer y readonly i32 1 2 3
//!   sparse s 3 resident 0 2       # pages of 64 KiB, some of them resident
//!   mirror z x                    # the memory of buffer x at another address, too
//!   set r[1] 5 6 7                # before the function starts, in every warp
//!   expect r[2] 0..32             # after its end, in warp 0 of block 0
//!   expect warp 1 r[2] 7
//!   expect x i32 0*32
//!   expect x at 64 i32 1          # from this byte
//!   expect fault address out of range lane 20 pc 0x8 address 0x1000000000
//!   expect message address out of range at pc 0x8, ...   # of the fault, in full
//!   expect instructions 12 lanes 384
//! ```
//!
//! The n-th buffer, sparse range or mirror of a case, from 0, lies at
//! 0x10_0000_0000 + n * 0x10_0000. Unmapped memory follows it. Constant bank 0 holds these
//! addresses, 8 bytes each.
//!
//! Values are numbers, `A..B` (`A..B step S`) or `VALUE*COUNT`. A number of a float type has a `.`
//! or is `inf`; any other number gives the float's bits. A register takes one value for each lane
//! or one value for all lanes; a byte array takes its bytes.
//!
//! Without `expect fault` the launch must end without a fault. A case that neither sets nor expects
//! registers runs the unchanged function. For any other case, blocks around the function load and
//! store its registers.

mod case;
mod edges;
mod regions;
mod run;

use std::panic::catch_unwind;
use std::path::Path;
use std::sync::Arc;

use warploom_analysis::{LaunchClass, optimize, unroll_exchanges};
use warploom_engine::{Effort, Program};
use warploom_interp::Interpreter;
use warploom_ir::Function;
use warploom_runtime::launch::Engine;

/// Makes an engine for launches with this number of lanes in a block.
type MakeEngine = fn(Arc<Function>, [u32; 3]) -> Result<Box<dyn Engine>, String>;

/// Returns the engines under test, by name.
fn engines() -> [(&'static str, MakeEngine); 8] {
    let interp: MakeEngine =
        |function, _| Ok(Box::new(Interpreter::new(function).map_err(|e| e.to_string())?));
    let analysed: MakeEngine = |function, _| {
        let function = Arc::new(optimize(&function).map_err(|e| e.to_string())?.function);
        Ok(Box::new(Interpreter::new(function).map_err(|e| e.to_string())?))
    };
    let quick: MakeEngine = |function, block| make_jit(&function, block, true, Effort::Quick);
    let likely: MakeEngine = |function, block| make_jit(&function, block, true, Effort::Likely);
    let jit: MakeEngine = |function, block| make_jit(&function, block, true, Effort::Full);
    let shared_jit: MakeEngine = |function, block| make_jit(&function, block, false, Effort::Full);
    let unrolled: MakeEngine = |function, _| {
        Ok(Box::new(
            Interpreter::new(with_unrolled_exchanges(&function)).map_err(|e| e.to_string())?,
        ))
    };
    let unrolled_jit: MakeEngine =
        |function, block| make_jit(&with_unrolled_exchanges(&function), block, true, Effort::Full);
    [
        ("interp", interp),
        ("interp after analysis", analysed),
        ("jit, made quickly", quick),
        ("jit, for what is likely", likely),
        ("jit", jit),
        ("jit for several workers", shared_jit),
        ("interp, loops of exchanges unrolled", unrolled),
        ("jit, loops of exchanges unrolled", unrolled_jit),
    ]
}

fn with_unrolled_exchanges(function: &Function) -> Arc<Function> {
    let mut function = function.clone();
    unroll_exchanges(&mut function).expect("the tests of the engines verify it");
    Arc::new(function)
}

fn make_jit(
    function: &Function,
    block: [u32; 3],
    one_worker: bool,
    effort: Effort,
) -> Result<Box<dyn Engine>, String> {
    let launch = LaunchClass::of(block, function.lanes.into(), warploom_cranelift::CHUNK);
    let program = Program::new(function, launch, one_worker, warploom_cranelift::backend())
        .map_err(|e| e.to_string())?;
    program.compile_all(effort).map_err(|e| e.to_string())?;
    Ok(Box::new(program))
}

fn run_file(path: &Path) -> Vec<String> {
    let text = std::fs::read_to_string(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let tests = match case::parse_file(&text) {
        Ok(tests) => tests,
        Err(error) => return vec![format!("{name}: {error}")],
    };
    let mut failures = Vec::new();
    for (function, cases) in &tests {
        for case in cases {
            for (engine, make) in engines() {
                // A panic of one engine must not hide the failures of other engines.
                let outcome = catch_unwind(|| run::run_case(function, case, make));
                if let Err(error) = outcome.unwrap_or_else(|_| Err("it panics".into())) {
                    failures.push(format!(
                        "{name}, `{}`, `{}`, {engine}: {error}",
                        function.name, case.name
                    ));
                }
            }
        }
    }
    failures
}

#[test]
fn every_case_holds_on_every_engine() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/ir");
    let mut paths: Vec<_> = folder.read_dir().unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "ir"));
    paths.sort();
    assert!(!paths.is_empty(), "no tests in {}", folder.display());
    let failures: Vec<String> = paths.iter().flat_map(|path| run_file(path)).collect();
    assert!(failures.is_empty(), "{} failures:\n{}", failures.len(), failures.join("\n"));
}

/// Proves that the harness fails if an expectation is wrong.
#[test]
fn a_wrong_expectation_fails() {
    let text = |value: &str| {
        format!(
            "function \"f\" lanes 4 nan 0 0 0 {{\n bank r: lane i32 x 1\n bank m: mask x 1\n active m[0]\n b0:\n \
             v0 = lane.id\n rf.write r[0], v0\n exit\n}}\ncase \"c\"\n expect r[0] {value}\n"
        )
    };
    let run = |text: &str| {
        let tests = case::parse_file(text).unwrap();
        run::run_case(&tests[0].0, &tests[0].1[0], engines()[0].1)
    };
    assert!(run(&text("0 1 2 3")).is_ok());
    assert!(run(&text("0 1 2 4")).unwrap_err().contains("lane 3"));
}
