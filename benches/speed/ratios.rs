//! The ratios that the project promises, from the medians that criterion left on disk.

use std::path::PathBuf;

/// What is divided by what, and what the project promises of it. `ISA` stands for each instruction set in turn.
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

const fn ratio(what: &'static str, above: &'static str, below: &'static str, promise: Promise) -> Ratio {
    Ratio { what, above, below, promise }
}

const ISAS: [&str; 2] = ["maxwell", "gfx9"];

const RATIOS: [Ratio; 27] = [
    ratio("mandelbrot: plain / JIT", "mandelbrot/plain", "mandelbrot/ISA/1", Promise::AtLeast(2.0)),
    ratio("fma: plain scalar loop / JIT", "fma/plain", "fma/ISA/1", Promise::AtLeast(2.5)),
    ratio("fma: plain vector loop / JIT", "fma/plain_vector", "fma/ISA/1", Promise::None),
    ratio("dfma: plain scalar loop / JIT", "dfma/plain", "dfma/ISA/1", Promise::AtLeast(1.2)),
    ratio("dfma: plain vector loop / JIT", "dfma/plain_vector", "dfma/ISA/1", Promise::None),
    ratio("mix: plain scalar loop / JIT", "mix/plain", "mix/ISA/1", Promise::AtLeast(1.2)),
    ratio("mix: plain vector loop / JIT", "mix/plain_vector", "mix/ISA/1", Promise::None),
    ratio("saxpy in cache: JIT / plain", "saxpy/ISA/1", "saxpy/plain", Promise::AtMost(3.0)),
    ratio("saxpy, blocks of 256: JIT / plain", "saxpy_256/ISA/1", "saxpy_256/plain", Promise::AtMost(3.0)),
    ratio("histogram: JIT / plain", "histogram/ISA/1", "histogram/plain", Promise::AtMost(3.0)),
    ratio("nbody: plain / JIT", "nbody/plain", "nbody/ISA/1", Promise::None),
    ratio("table: plain scalar loop / JIT", "table/plain", "table/ISA/1", Promise::AtLeast(4.0)),
    ratio("table in a buffer: plain loop / JIT", "table/plain", "table/ISA_buffer/1", Promise::AtLeast(4.0)),
    ratio("mandelbrot: 1 thread / 2 threads", "mandelbrot/ISA/1", "mandelbrot/ISA/2", Promise::AtLeast(1.8)),
    ratio("nbody: 1 thread / 2 threads", "nbody/ISA/1", "nbody/ISA/2", Promise::AtLeast(1.8)),
    ratio("copy of an image: pitch / global", "copy/pitch/1", "copy/global/1", Promise::AtMost(2.0)),
    ratio("copy of an image: block-linear / global", "copy/block_linear/1", "copy/global/1", Promise::AtMost(3.0)),
    ratio("copy of an array: JIT / plain", "copy/global/1", "copy/plain", Promise::None),
    ratio("ATOM with two threads: JIT / plain", "atomics/atom/2", "atomics/plain_2", Promise::AtMost(1.5)),
    ratio("SUATOM / ATOM with two threads", "atomics/suatom/2", "atomics/atom/2", Promise::AtMost(1.3)),
    ratio("SUATOM / ATOM with one", "atomics/suatom/1", "atomics/atom/1", Promise::None),
    ratio("mandelbrot: interpreter / JIT", "mandelbrot/ISA/interp", "mandelbrot/ISA/1", Promise::None),
    ratio("fma: interpreter / JIT", "fma/ISA/interp", "fma/ISA/1", Promise::None),
    ratio("dfma: interpreter / JIT", "dfma/ISA/interp", "dfma/ISA/1", Promise::None),
    ratio("mix: interpreter / JIT", "mix/ISA/interp", "mix/ISA/1", Promise::None),
    ratio("histogram: interpreter / JIT", "histogram/ISA/interp", "histogram/ISA/1", Promise::None),
    ratio("nbody: interpreter / JIT", "nbody/ISA/interp", "nbody/ISA/1", Promise::None),
];

/// Where criterion keeps its results.
fn results() -> PathBuf {
    let home = std::env::var_os("CRITERION_HOME").map(PathBuf::from);
    let target = || std::env::var_os("CARGO_TARGET_DIR").map_or("target".into(), PathBuf::from);
    home.unwrap_or_else(|| target().join("criterion"))
}

/// Median time of the last measurement of a benchmark, in nanoseconds.
fn median(id: &str) -> Option<f64> {
    let text = std::fs::read_to_string(results().join(id).join("new/estimates.json")).ok()?;
    let estimates: serde_json::Value = serde_json::from_str(&text).ok()?;
    estimates["median"]["point_estimate"].as_f64()
}

/// Prints all ratios whose benchmarks have been measured, in this run or an earlier one.
pub fn print() {
    println!("\nRatios of the medians");
    let (of_isas, others): (Vec<_>, Vec<_>) =
        RATIOS.iter().partition(|ratio| [ratio.above, ratio.below].iter().any(|id| id.contains("ISA")));
    for isa in ISAS {
        println!("{isa}");
        of_isas.iter().for_each(|ratio| ratio.print(isa));
    }
    println!("surfaces and atomics, maxwell");
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
        println!("  {:<44}{ratio:>8.2}   {promise}{}", self.what, if kept { "" } else { "   MISSED" });
    }
}
