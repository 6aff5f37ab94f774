//! Host instructions per guest instruction, held against `golden.txt`, so that a slowdown shows in a diff.
//!
//! What is counted is code, not time: a group that does a warp at once has four times the instructions of a loop over its
//! chunks, and is faster. So a change of `golden.txt` wants a reason; `WARPLOOM_BLESS=1 cargo test --test code_size` makes
//! it.

#![cfg(target_arch = "x86_64")]

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::{Path, PathBuf};

use warploom::analysis::LaunchClass;
use warploom::exec::{self, Stage};
use warploom::ir::{Function, parse, verify};
use warploom::jit::{self, size};

/// File and kernel.
const KERNELS: [(&str, &str); 8] = [
    ("examples/saxpy/saxpy", "saxpy"),
    ("examples/histogram/histogram", "histogram_shared"),
    ("examples/mandelbrot/mandelbrot", "mandelbrot"),
    ("examples/nbody/nbody", "nbody"),
    ("examples/matmul/matmul", "matmul"),
    ("examples/reduce/reduce", "reduce"),
    ("examples/scan/scan", "scan_blocks"),
    ("benches/fixtures/fma", "fma_chains"),
];

const CLASSES: [(&str, LaunchClass); 3] =
    [("line", LaunchClass::Line), ("warp", LaunchClass::Warp), ("any", LaunchClass::Any)];

/// What code may grow by without a word, as a factor; and shrink by, before the numbers have to follow.
const MOST: f64 = 1.03;
const LEAST: f64 = 0.90;

const HEADER: &str = "\
# Code for one worker, on x86-64 with AVX2 and FMA. Instructions: guest, host on the likely path, host in all; then those on
# the likely path per guest instruction. Written by WARPLOOM_BLESS=1 cargo test --test code_size
";

/// Guest, likely and all host instructions, by name.
type Sizes = BTreeMap<String, [u64; 3]>;

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn golden_path() -> PathBuf {
    root().join("tests/code_size/golden.txt")
}

fn kernel(file: &str, name: &str) -> Function {
    let path = root().join(file).with_extension("sm_50.cubin");
    let bytes = std::fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let program = exec::Program::load(&bytes, Some(name)).expect("a module");
    let text = program.kernel(name).and_then(|kernel| kernel.dump(Stage::Ir, [256, 1, 1])).expect("its IR");
    parse::parse(&text).expect("IR that prints parses")
}

/// The functions of `shapes.ir`.
fn shapes() -> Vec<Function> {
    let text = std::fs::read_to_string(root().join("tests/code_size/shapes.ir")).expect("shapes.ir");
    let mut rest = text.as_str();
    let mut functions = Vec::new();
    while let Some(start) = rest.find("function ") {
        let (function, behind) =
            parse::parse_prefix(&rest[start..]).unwrap_or_else(|error| panic!("shapes.ir: {error}"));
        verify::verify(&function).unwrap_or_else(|error| panic!("{}: {error}", function.name));
        functions.push(function);
        rest = behind;
    }
    functions
}

fn measure(function: &Function, launch: LaunchClass) -> [u64; 3] {
    let program =
        jit::Program::new(function, launch, true).unwrap_or_else(|error| panic!("{}: {error}", function.name));
    let size = size::of(&program).unwrap_or_else(|error| panic!("{}: {error}", function.name));
    [size.guest, size.likely as u64, size.all as u64]
}

fn sizes() -> Sizes {
    let kernels = KERNELS.iter().map(|&(file, name)| kernel(file, name));
    let mut sizes = Sizes::new();
    for function in kernels.chain(shapes()) {
        for (class, launch) in CLASSES {
            let name = format!("{}, {class}", function.name);
            assert!(sizes.insert(name, measure(&function, launch)).is_none(), "{} is there twice", function.name);
        }
    }
    sizes
}

fn print(sizes: &Sizes) -> String {
    let mut out = HEADER.to_string();
    for (name, [guest, likely, all]) in sizes {
        let ratio = *likely as f64 / *guest as f64;
        writeln!(out, "{name:40} {guest:6} {likely:6} {all:6} {ratio:7.2}").expect("a string takes all");
    }
    out
}

fn parse_golden(text: &str) -> Sizes {
    let lines = text.lines().filter(|line| !line.starts_with('#') && !line.trim().is_empty());
    let parse = |line: &str| {
        let words: Vec<&str> = line.split_whitespace().collect();
        let (name, numbers) = words.split_at_checked(words.len() - 4)?;
        let number = |at: usize| numbers[at].parse().ok();
        Some((name.join(" "), [number(0)?, number(1)?, number(2)?]))
    };
    lines.map(|line| parse(line).unwrap_or_else(|| panic!("golden.txt: `{line}`"))).collect()
}

/// What is not as it was.
fn changes(golden: &Sizes, found: &Sizes) -> Vec<String> {
    let mut changes = Vec::new();
    for (name, [guest, likely, all]) in found {
        let Some([old_guest, old_likely, old_all]) = golden.get(name) else {
            changes.push(format!("{name} is new"));
            continue;
        };
        if guest != old_guest {
            changes.push(format!("{name}: {guest} guest instructions, were {old_guest}"));
        }
        for (what, new, old) in [("on the likely path", likely, old_likely), ("in all", all, old_all)] {
            let factor = *new as f64 / *old as f64;
            if !(LEAST..=MOST).contains(&factor) {
                let percent = (factor - 1.0) * 100.0;
                changes.push(format!("{name}: {new} host instructions {what}, were {old} ({percent:+.1} %)"));
            }
        }
    }
    changes.extend(golden.keys().filter(|name| !found.contains_key(*name)).map(|name| format!("{name} is gone")));
    changes
}

#[test]
fn code_is_as_large_as_it_was() {
    let found = sizes();
    if std::env::var("WARPLOOM_BLESS").is_ok_and(|bless| bless == "1") {
        std::fs::write(golden_path(), print(&found)).expect("golden.txt can be written");
        return;
    }
    let golden = parse_golden(&std::fs::read_to_string(golden_path()).expect("golden.txt"));
    let changes = changes(&golden, &found);
    assert!(
        changes.is_empty(),
        "{} changes:\n{}\nIf that is as it should be: WARPLOOM_BLESS=1 cargo test --test code_size",
        changes.len(),
        changes.join("\n")
    );
}

/// A comparison that cannot fail would show nothing.
#[test]
fn growth_shows() {
    let sizes = |likely, all| Sizes::from([("a loop, line".to_string(), [10, likely, all])]);
    let golden = parse_golden(&print(&sizes(100, 200)));
    assert_eq!(golden, sizes(100, 200));
    assert_eq!(changes(&golden, &sizes(102, 205)), Vec::<String>::new());
    assert_eq!(changes(&golden, &sizes(104, 200)).len(), 1);
    assert_eq!(changes(&golden, &sizes(100, 210)).len(), 1);
    assert_eq!(changes(&golden, &sizes(80, 200)).len(), 1);
    assert_eq!(changes(&golden, &Sizes::new()), ["a loop, line is gone"]);
    assert_eq!(changes(&Sizes::new(), &golden), ["a loop, line is new"]);
}
