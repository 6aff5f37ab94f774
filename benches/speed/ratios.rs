//! The ratios that the project promises, from the medians that criterion left on disk.

use std::path::PathBuf;

/// A ratio of two benchmarks, and the project's promise about it. `ISA` stands for each instruction
/// set in turn.
struct Ratio {
    what: &'static str,
    above: &'static str,
    below: &'static str,
    promise: Promise,
}

enum Promise {
    AtLeast(f64),
    AtMost(f64),
    None,
}

const fn ratio(
    what: &'static str,
    above: &'static str,
    below: &'static str,
    promise: Promise,
) -> Ratio {
    Ratio { what, above, below, promise }
}

const ISAS: [&str; 4] = ["maxwell", "turing", "ptx", "gfx9"];

const RATIOS: [Ratio; 20] = [
    ratio("mandelbrot: plain / JIT", "mandelbrot/plain", "mandelbrot/ISA/1", Promise::AtLeast(2.0)),
    ratio(
        "compute: plain scalar loop / JIT",
        "compute/plain",
        "compute/ISA/1",
        Promise::AtLeast(2.5),
    ),
    ratio(
        "compute: plain vector loop / JIT",
        "compute/plain_vector",
        "compute/ISA/1",
        Promise::None,
    ),
    ratio(
        "compute_f64: plain scalar loop / JIT",
        "compute_f64/plain",
        "compute_f64/ISA/1",
        Promise::AtLeast(1.2),
    ),
    ratio(
        "compute_f64: plain vector loop / JIT",
        "compute_f64/plain_vector",
        "compute_f64/ISA/1",
        Promise::None,
    ),
    ratio("hash: plain scalar loop / JIT", "hash/plain", "hash/ISA/1", Promise::AtLeast(1.2)),
    ratio("hash: plain vector loop / JIT", "hash/plain_vector", "hash/ISA/1", Promise::None),
    ratio(
        "saxpy in blocks of 256: JIT / plain",
        "saxpy/ISA/1",
        "saxpy/plain",
        Promise::AtMost(3.0),
    ),
    ratio(
        "saxpy in blocks of 1024: JIT / plain",
        "saxpy_1024/ISA/1",
        "saxpy_1024/plain",
        Promise::AtMost(3.0),
    ),
    ratio(
        "histogram_shared: JIT / plain",
        "histogram_shared/ISA/1",
        "histogram_shared/plain",
        Promise::AtMost(3.0),
    ),
    ratio(
        "mandelbrot: 1 thread / 2 threads",
        "mandelbrot/ISA/1",
        "mandelbrot/ISA/2",
        Promise::AtLeast(1.8),
    ),
    ratio(
        "nbody of 2,048 bodies: 1 thread / 2 threads",
        "nbody_2048/ISA/1",
        "nbody_2048/ISA/2",
        Promise::AtLeast(1.8),
    ),
    ratio(
        "table, gfx9: plain scalar loop / JIT",
        "table/plain",
        "table/gfx9/1",
        Promise::AtLeast(4.0),
    ),
    ratio(
        "table in a buffer: plain scalar loop / JIT",
        "table/plain",
        "table/gfx9_buffer/1",
        Promise::AtLeast(4.0),
    ),
    ratio(
        "matmul_half: JIT / plain scalar loop",
        "matmul_half/ptx/1",
        "matmul_half/plain",
        Promise::AtMost(10.0),
    ),
    ratio(
        "copy of an image: pitch / global",
        "copy/pitch/1",
        "copy/global/1",
        Promise::AtMost(2.0),
    ),
    ratio(
        "copy of an image: block-linear / global",
        "copy/block_linear/1",
        "copy/global/1",
        Promise::AtMost(3.0),
    ),
    ratio(
        "ATOM with two threads: JIT / plain",
        "counters/atom/2",
        "counters/plain_2",
        Promise::AtMost(1.5),
    ),
    ratio(
        "SUATOM / ATOM with two threads",
        "counters/suatom/2",
        "counters/atom/2",
        Promise::AtMost(1.3),
    ),
    ratio("SUATOM / ATOM with one", "counters/suatom/1", "counters/atom/1", Promise::None),
];

/// Returns the folder where criterion keeps its results.
fn results() -> PathBuf {
    let home = std::env::var_os("CRITERION_HOME").map(PathBuf::from);
    let target = || std::env::var_os("CARGO_TARGET_DIR").map_or("target".into(), PathBuf::from);
    home.unwrap_or_else(|| target().join("criterion"))
}

/// Returns the median time of a benchmark's last measurement, in nanoseconds.
fn median(id: &str) -> Option<f64> {
    let text = std::fs::read_to_string(results().join(id).join("new/estimates.json")).ok()?;
    let estimates: serde_json::Value = serde_json::from_str(&text).ok()?;
    estimates["median"]["point_estimate"].as_f64()
}

/// Prints the results of this run or earlier ones: each target of the named `cases`, then the
/// ratios.
pub fn print(cases: &[(&str, Vec<&str>)]) {
    println!("\n{:<32}{:>12}{:>12}{:>16}", "", "plain / JIT", "2 threads", "interp / JIT");
    for (case, targets) in cases {
        for target in targets {
            let over =
                |above: String| Some(median(&above)? / median(&format!("{case}/{target}/1"))?);
            let two = over(format!("{case}/{target}/2")).map(f64::recip);
            let [plain, interp] =
                [format!("{case}/plain"), format!("{case}/{target}/interp")].map(over);
            if let (Some(plain), Some(two), Some(interp)) = (plain, two, interp) {
                println!(
                    "{:<32}{plain:>12.2}{two:>12.2}{interp:>16.1}",
                    format!("{case}, {target}")
                );
            }
        }
    }
    println!("\nRatios of the medians");
    let (of_isas, others): (Vec<_>, Vec<_>) = RATIOS
        .iter()
        .partition(|ratio| [ratio.above, ratio.below].iter().any(|id| id.contains("ISA")));
    for isa in ISAS {
        println!("{isa}");
        of_isas.iter().for_each(|ratio| ratio.print(isa));
    }
    println!("others");
    others.iter().for_each(|ratio| ratio.print(""));
}

impl Ratio {
    fn print(&self, isa: &str) {
        let median = |id: &str| median(&id.replace("ISA", isa));
        let (Some(above), Some(below)) = (median(self.above), median(self.below)) else { return };
        let ratio = above / below;
        let (kept, promise) = match self.promise {
            Promise::AtLeast(least) => (ratio >= least, format!("promised: at least {least}")),
            Promise::AtMost(most) => (ratio <= most, format!("promised: at most {most}")),
            Promise::None => (true, String::new()),
        };
        println!(
            "  {:<44}{ratio:>8.2}   {promise}{}",
            self.what,
            if kept { "" } else { "   MISSED" }
        );
    }
}
