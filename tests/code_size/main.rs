//! Compares host instructions per guest instruction with committed numbers, so that a slowdown
//! shows in a diff.
//!
//! `golden.txt` counts the instructions of the code itself: a group has four times the instructions
//! of a loop over chunks, and is faster. `executed.txt` counts the instructions that the kernels of
//! `benches/suite` execute. Neither measures time.
//!
//! A change needs a reason. `WARPLOOM_BLESS=1 cargo test --test code_size` writes the new numbers.

#![cfg(target_arch = "x86_64")]

#[path = "../../benches/suite/mod.rs"]
#[allow(dead_code, reason = "shared with the benchmarks, which use more of it")]
mod suite;

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::Path;

use warploom::Stage;
use warploom_analysis::LaunchClass;
use warploom_cranelift::size;
use warploom_ir::{Function, parse, verify};

/// Files, each with the name of a kernel.
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

/// Factors by which code may grow or shrink before the committed numbers must change.
const MOST: f64 = 1.03;
const LEAST: f64 = 0.90;

/// A file of committed numbers.
struct Golden {
    file: &'static str,
    header: &'static str,
    /// The meaning of the second and the third number.
    columns: [&'static str; 2],
}

const CODE: Golden = Golden {
    file: "golden.txt",
    header: "\
# Code for one worker, on x86-64 with AVX2 and FMA. Instructions: guest, host on the likely path, host in all; then those on
# the likely path per guest instruction. Written by WARPLOOM_BLESS=1 cargo test --test code_size
",
    columns: ["host instructions on the likely path", "host instructions in all"],
};

const EXECUTED: Golden = Golden {
    file: "executed.txt",
    header: "\
# What one thread executes of each kernel of benches/suite, in its small size, on x86-64 with AVX2 and FMA. Instructions of warps;
# host instructions of the code, and calls of helpers, whose instructions are not in it; host per guest instruction, for 32
# lanes (maxwell) or 64 (gfx9). Written by WARPLOOM_BLESS=1 cargo test --test code_size
",
    columns: ["host instructions", "calls of helpers"],
};

/// Guest instructions and two further counts, by name.
type Sizes = BTreeMap<String, [u64; 3]>;

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn kernel(file: &str, name: &str) -> Function {
    let path = root().join(file).with_extension("sm_50.cubin");
    let bytes = std::fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let program = warploom::Program::load(&bytes, Some(name)).expect("a module");
    let text = program
        .kernel(name)
        .and_then(|kernel| kernel.dump(Stage::Ir, [256, 1, 1], None))
        .expect("its IR");
    parse::parse(&text).expect("IR that prints parses")
}

/// Returns the functions of `shapes.ir`.
fn shapes() -> Vec<Function> {
    let text =
        std::fs::read_to_string(root().join("tests/code_size/shapes.ir")).expect("shapes.ir");
    let mut rest = text.as_str();
    let mut functions = Vec::new();
    while let Some(start) = rest.find("function ") {
        let (function, behind) = parse::parse_prefix(&rest[start..])
            .unwrap_or_else(|error| panic!("shapes.ir: {error}"));
        verify::verify(&function).unwrap_or_else(|error| panic!("{}: {error}", function.name));
        functions.push(function);
        rest = behind;
    }
    functions
}

fn measure(function: &Function, launch: LaunchClass) -> [u64; 3] {
    let program =
        warploom_engine::Program::new(function, launch, true, warploom_cranelift::backend())
            .unwrap_or_else(|error| panic!("{}: {error}", function.name));
    let size = size::of(&program).unwrap_or_else(|error| panic!("{}: {error}", function.name));
    [size.guest, size.likely as u64, size.all as u64]
}

fn sizes() -> Sizes {
    let kernels = KERNELS.iter().map(|&(file, name)| kernel(file, name));
    let mut sizes = Sizes::new();
    for function in kernels.chain(shapes()) {
        for (class, launch) in CLASSES {
            let name = format!("{}, {class}", function.name);
            assert!(
                sizes.insert(name, measure(&function, launch)).is_none(),
                "{} is there twice",
                function.name
            );
        }
    }
    sizes
}

/// Returns the counts of instructions that the suite's kernels execute.
fn executed() -> Sizes {
    let folder = tempfile::tempdir().expect("a folder");
    let mut sizes = Sizes::new();
    for mut case in suite::cases(suite::Size::Small) {
        let at = case.write(folder.path());
        for target in &case.targets {
            let ready = suite::Ready::read(&at.join(target.name).with_extension("toml"));
            let (host, counts) = ready.host_instructions();
            ready.check();
            sizes.insert(
                format!("{}, {}", case.name, target.name),
                [counts.instructions, host, counts.helper_calls],
            );
        }
    }
    sizes
}

impl Golden {
    fn print(&self, sizes: &Sizes) -> String {
        let mut out = self.header.to_string();
        for (name, [guest, first, second]) in sizes {
            let ratio = *first as f64 / *guest as f64;
            writeln!(out, "{name:40} {guest:8} {first:10} {second:8} {ratio:7.2}")
                .expect("a string takes all");
        }
        out
    }

    fn parse(&self, text: &str) -> Sizes {
        let lines = text.lines().filter(|line| !line.starts_with('#') && !line.trim().is_empty());
        let parse = |line: &str| {
            let words: Vec<&str> = line.split_whitespace().collect();
            let (name, numbers) = words.split_at_checked(words.len() - 4)?;
            let number = |at: usize| numbers[at].parse().ok();
            Some((name.join(" "), [number(0)?, number(1)?, number(2)?]))
        };
        lines.map(|line| parse(line).unwrap_or_else(|| panic!("{}: `{line}`", self.file))).collect()
    }

    /// Returns a message for each new or missing name, each changed guest count, and each number
    /// outside the factors.
    fn changes(&self, golden: &Sizes, found: &Sizes) -> Vec<String> {
        let mut changes = Vec::new();
        for (name, [guest, found @ ..]) in found {
            let Some([old_guest, old @ ..]) = golden.get(name) else {
                changes.push(format!("{name} is new"));
                continue;
            };
            if guest != old_guest {
                changes.push(format!("{name}: {guest} guest instructions, were {old_guest}"));
            }
            for ((what, new), old) in self.columns.iter().zip(found).zip(old) {
                let factor = *new as f64 / *old as f64;
                if new != old && !(LEAST..=MOST).contains(&factor) {
                    let percent = (factor - 1.0) * 100.0;
                    changes.push(format!("{name}: {new} {what}, were {old} ({percent:+.1} %)"));
                }
            }
        }
        changes.extend(
            golden
                .keys()
                .filter(|name| !found.contains_key(*name))
                .map(|name| format!("{name} is gone")),
        );
        changes
    }

    /// Writes the file if `WARPLOOM_BLESS` is 1. Otherwise panics if [`Golden::changes`] is
    /// not empty.
    fn hold(&self, found: &Sizes) {
        let path = root().join("tests/code_size").join(self.file);
        if std::env::var("WARPLOOM_BLESS").is_ok_and(|bless| bless == "1") {
            std::fs::write(path, self.print(found))
                .unwrap_or_else(|error| panic!("{}: {error}", self.file));
            return;
        }
        let golden =
            std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", self.file));
        let changes = self.changes(&self.parse(&golden), found);
        assert!(
            changes.is_empty(),
            "{} changes:\n{}\nIf that is as it should be: WARPLOOM_BLESS=1 cargo test --test code_size",
            changes.len(),
            changes.join("\n")
        );
    }
}

#[test]
fn code_is_as_large_as_it_was() {
    CODE.hold(&sizes());
}

#[test]
fn as_much_is_executed_as_was() {
    EXECUTED.hold(&executed());
}

/// Proves that the comparison reports growth: a comparison that cannot fail would prove nothing.
#[test]
fn growth_shows() {
    let sizes = |likely, all| Sizes::from([("a loop, line".to_string(), [10, likely, all])]);
    let changes = |found| CODE.changes(&CODE.parse(&CODE.print(&sizes(100, 200))), &found);
    assert_eq!(changes(sizes(100, 200)), Vec::<String>::new());
    assert_eq!(changes(sizes(102, 205)), Vec::<String>::new());
    assert_eq!(changes(sizes(104, 200)).len(), 1);
    assert_eq!(changes(sizes(100, 210)).len(), 1);
    assert_eq!(changes(sizes(80, 200)).len(), 1);
    assert_eq!(changes(Sizes::new()), ["a loop, line is gone"]);
    assert_eq!(CODE.changes(&Sizes::new(), &sizes(100, 200)), ["a loop, line is new"]);
    assert_eq!(CODE.changes(&sizes(100, 0), &sizes(100, 0)), Vec::<String>::new());
    assert_eq!(CODE.changes(&sizes(100, 0), &sizes(100, 1)).len(), 1);
}

/// Returns a chain of predicates. Each level uses the previous level's predicate in three ways.
fn chain_of_masks(levels: usize) -> Function {
    let mut text = String::from(
        "function \"chain of masks\" lanes 32 nan 0x7fff 0x7fffffff 0xfff8000000000000 {
         bank r: lane i32 x 2
         bank p: mask x 1
         bank active: mask x 1
         active active[0]
         b0 pc 0x8:
         vp0 = rf.read p[0]
         vactive = rf.read active[0]
         vzero = const.i32 0\n",
    );
    for (level, next) in (0..levels).zip(1..) {
        let line = |line: &str| {
            line.replace('#', &level.to_string()).replace('+', &next.to_string()) + "\n"
        };
        text.extend(
            [
                "vidle# = not vp#",
                "vx# = rf.read r[0]",
                "vy# = rf.read r[1]",
                "vsum# = add vx#, vy#",
                "rf.write r[0], vsum# guard vidle#",
                "vequal# = icmp.eq vsum#, vzero",
                "vnew# = and vactive, vidle#",
                "vtaken# = and vequal#, vnew#",
                "vold# = not vnew#",
                "vkept# = and vp#, vold#",
                "vp+ = or vtaken#, vkept#",
            ]
            .map(line),
        );
    }
    text.extend([format!("rf.write p[0], vp{levels}\njump b1\nb1:\ntrap.illegal 0x8\n}}\n")]);
    let function = parse::parse(&text).unwrap_or_else(|error| panic!("{error}:\n{text}"));
    verify::verify(&function).unwrap_or_else(|error| panic!("{error}:\n{text}"));
    function
}

#[test]
fn code_grows_with_the_length_of_a_chain_of_masks() {
    let all = |levels: usize| measure(&chain_of_masks(levels), LaunchClass::Any)[2];
    assert!(all(16) < 3 * all(8), "{} host instructions for 16 levels, {} for 8", all(16), all(8));
}
