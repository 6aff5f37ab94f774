//! Compares every computing PTX instruction of sm_50, and the half instructions of sm_53, in each
//! type and with each modifier, with the PTX ISA.
//!
//! A form is a line of PTX and the Rust function of its result, side by side in the group's file.
//! The line reads `x`, `y`, `z` (the low words of the lane's inputs), `hx`.. (their low halves) and
//! `X`.. (all 64 bits). It writes `hr`, `r`, `R` or the predicate `p`.
//!
//! Each form runs from the text, and from the code that NVIDIA's compiler made of it for sm_50;
//! forms of later GPUs run from the text alone.
//!
//! The lines make up the kernels: [`Group::ptx`] is the text of
//! `tests/fixtures/maxwell/semantics/ptx/NAME.ptx`, from which the cubin beside it was compiled.
//! After a change, with NVIDIA's compiler at hand:
//!
//!     WARPLOOM_WRITE_PTX=1 cargo test --test semantics ptx
//!     nv.py compile -arch sm_50 -o DIR DIR/*.ptx
//!     (or ptxas -arch=sm_50 NAME.ptx -o NAME.sm_50.cubin; half.ptx: sm_53)
//!
//! `gpu.txt.gz` beside the cubins has a checksum of an H200's results for each form where warploom
//! gives the same results, or gives them with the H200's reciprocals. To ask a GPU again,
//! `WARPLOOM_WRITE_RUNS=DIR` writes each group's inputs, and its forms with warploom's checksums,
//! for `tools/gpu/semantics.py`.

mod compare;
mod convert;
mod float;
mod half;
mod integer;
mod later;
mod memory;
mod video;
mod warp;

use std::collections::HashMap;
use std::fmt::Write;
use std::io::Read;
use std::path::Path;

use warploom::{EngineKind, Program, Reciprocals};

use super::{Bench, COUNT, ENGINES, Input, LANES, Random, Same, fixture};

/// The function that computes a form's result in a lane of a warp with these inputs.
type Result = Box<dyn Fn(&[Input], usize) -> u64>;

/// The place and width of a form's result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Width {
    Predicate,
    Bits16,
    Bits32,
    Bits64,
}

impl Width {
    fn mask(self) -> u64 {
        match self {
            Width::Predicate => 1,
            Width::Bits16 => 0xffff,
            Width::Bits32 => 0xffff_ffff,
            Width::Bits64 => u64::MAX,
        }
    }

    fn store(self) -> &'static str {
        match self {
            Width::Predicate => "selp.b32 r, 1, 0, p; st.global.b32 [O",
            Width::Bits16 => "st.global.b16 [O",
            Width::Bits32 => "st.global.b32 [O",
            Width::Bits64 => "st.global.b64 [O",
        }
    }

    fn register(self) -> &'static str {
        match self {
            Width::Predicate | Width::Bits32 => "r",
            Width::Bits16 => "hr",
            Width::Bits64 => "R",
        }
    }
}

/// Returns the registers r, x, y, z of a width.
pub fn registers(bits: u32) -> [&'static str; 4] {
    match bits {
        16 => ["hr", "hx", "hy", "hz"],
        32 => ["r", "x", "y", "z"],
        64 => ["R", "X", "Y", "Z"],
        _ => panic!("no registers of {bits} bits"),
    }
}

pub struct Form {
    ptx: String,
    width: Width,
    same: Same,
    result: Result,
}

/// A file of forms.
pub struct Group {
    /// The PTX version and the architecture that have the forms.
    version: &'static str,
    target: &'static str,
    /// The declarations that the forms need outside of the kernels.
    declarations: &'static str,
    /// Whether the text gives all bits of a GPU's results. It need not reproduce the NaNs of code
    /// that compilers substitute for a form.
    gives_all_bits: bool,
    forms: Vec<Form>,
}

impl Default for Group {
    fn default() -> Group {
        Group {
            version: "7.0",
            target: "sm_50",
            declarations: "",
            gives_all_bits: true,
            forms: Vec::new(),
        }
    }
}

/// The forms per kernel: few, so that a fault hides little and the registers suffice.
const FORMS_PER_KERNEL: usize = 16;

const HEAD: &str = "// Written by tests/semantics/ptx; see there.
";

const START: &str = "(.param .u64 out, .param .u64 xs, .param .u64 ys, .param .u64 zs)
{
    .reg .pred p, q, s;
    .reg .b16 hx, hy, hz, hr, ht, hu;
    .reg .b32 x, y, z, r, t, u, v, w, i;
    .reg .b64 X, Y, Z, R, T, U, V, W, O, I;
    mov.u32 t, %ctaid.x; mov.u32 u, %ntid.x; mov.u32 v, %tid.x; mad.lo.u32 i, t, u, v; mul.wide.u32 I, i, 8;
    ld.param.u64 O, [out]; cvta.to.global.u64 O, O; add.u64 O, O, I;
    ld.param.u64 T, [xs]; cvta.to.global.u64 T, T; add.u64 T, T, I; ld.global.b64 X, [T];
    ld.param.u64 T, [ys]; cvta.to.global.u64 T, T; add.u64 T, T, I; ld.global.b64 Y, [T];
    ld.param.u64 T, [zs]; cvta.to.global.u64 T, T; add.u64 T, T, I; ld.global.b64 Z, [T];
    cvt.u32.u64 x, X; cvt.u32.u64 y, Y; cvt.u32.u64 z, Z;
    cvt.u16.u32 hx, x; cvt.u16.u32 hy, y; cvt.u16.u32 hz, z;
";

impl Group {
    /// Adds a form whose results `same` accepts. A lane may read the inputs of other lanes of its
    /// warp.
    pub fn warp_form(
        &mut self,
        ptx: impl Into<String>,
        width: Width,
        same: Same,
        result: impl Fn(&[Input], usize) -> u64 + 'static,
    ) {
        self.forms.push(Form { ptx: ptx.into(), width, same, result: Box::new(result) });
    }

    pub fn form(
        &mut self,
        ptx: impl Into<String>,
        width: Width,
        same: Same,
        result: impl Fn(u64, u64, u64) -> u64 + 'static,
    ) {
        self.warp_form(ptx, width, same, move |warp, lane| {
            let [x, y, z] = warp[lane];
            result(x, y, z)
        });
    }

    /// Adds a form with a result of `bits` bits.
    pub fn int(
        &mut self,
        bits: u32,
        ptx: impl Into<String>,
        result: impl Fn(u64, u64, u64) -> u64 + 'static,
    ) {
        let width = match bits {
            16 => Width::Bits16,
            32 => Width::Bits32,
            64 => Width::Bits64,
            _ => panic!("no result of {bits} bits"),
        };
        self.form(ptx, width, |found, expected| found == expected, result);
    }

    /// Adds a form that sets `p`.
    pub fn predicate(
        &mut self,
        ptx: impl Into<String>,
        result: impl Fn(u64, u64, u64) -> bool + 'static,
    ) {
        self.form(
            ptx,
            Width::Predicate,
            |found, expected| found == expected,
            move |x, y, z| result(x, y, z).into(),
        );
    }

    fn kernels(&self) -> impl Iterator<Item = (String, &[Form])> {
        self.forms
            .chunks(FORMS_PER_KERNEL)
            .enumerate()
            .map(|(n, forms)| (format!("forms{n}"), forms))
    }

    /// Returns the text of the kernels: a kernel's form n writes the results of all lanes to the
    /// array of results n.
    fn ptx(&self) -> String {
        let mut text = format!(
            "{HEAD}.version {}\n.target {}\n.address_size 64\n{}",
            self.version, self.target, self.declarations
        );
        for (kernel, forms) in self.kernels() {
            let _ = write!(text, "\n.visible .entry {kernel}{START}");
            for (n, Form { ptx, width, .. }) in forms.iter().enumerate() {
                let (store, register, offset) = (width.store(), width.register(), n * COUNT * 8);
                let _ = writeln!(text, "    {ptx} {store}+{offset}], {register};");
            }
            text += "    ret;\n}\n";
        }
        text
    }

    /// Runs all forms from the cubin on random operands from `operand` and on all pairs of `edges`.
    pub fn check(&self, name: &str, operand: fn(&mut Random) -> u64, edges: &[u64]) {
        let (path, ptx) = (fixture(&format!("ptx/{name}.ptx")), self.ptx());
        if std::env::var_os("WARPLOOM_WRITE_PTX").is_some() {
            return std::fs::write(&path, ptx).unwrap_or_else(|error| panic!("{path}: {error}"));
        }
        let compiled =
            std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}"));
        assert!(compiled == ptx, "{path} is not made of these forms: write and compile it");
        let cubin = format!("ptx/{name}.{}.cubin", self.target);
        let mut bench = Bench::new(&cubin, operand, edges, FORMS_PER_KERNEL);
        let mut runs_text = String::new();
        let mut failures = Vec::new();
        // The GPU's checksums that warploom gives alone, and with the GPU's reciprocals.
        let [plain, with_tables] = seen_on_gpu([name, &format!("{name} with tables")]);
        for (kernel, forms) in self.kernels() {
            bench.program.set_reciprocals(Reciprocals::Table).expect("tables");
            let tables = ENGINES.map(|engine| bench.run(&kernel, engine, forms.len()));
            bench.program.set_reciprocals(Reciprocals::Rounded).expect("no tables");
            let runs = ENGINES.map(|engine| (engine, bench.run(&kernel, engine, forms.len())));
            failures.extend(stopped(&kernel, forms, &runs));
            for (n, form) in forms.iter().enumerate() {
                let checksum = |run: &std::result::Result<Vec<u64>, String>| {
                    run.as_ref()
                        .map_or(0, |results| form.checksum(&results[n * COUNT..(n + 1) * COUNT]))
                };
                let sums = [&runs[0].1, &runs[1].1, &tables[0], &tables[1]].map(checksum);
                let _ = writeln!(
                    runs_text,
                    "{kernel}\t{:?}\t{:08x}\t{:08x}\t{}",
                    form.width, sums[0], sums[2], form.ptx
                );
                for (seen, sums) in [(&plain, &sums[..2]), (&with_tables, &sums[2..])] {
                    if seen.get(&form.ptx).is_some_and(|seen| sums.iter().any(|sum| sum != seen)) {
                        failures.push(format!("`{}`: a GPU gave other results", form.ptx));
                    }
                }
                failures.extend(form.failures(&bench.inputs, n, &runs));
            }
        }
        if let Some(folder) = std::env::var_os("WARPLOOM_WRITE_RUNS") {
            let path = |ending: &str| Path::new(&folder).join(format!("{name}.{ending}"));
            let inputs: Vec<u8> = (0..3)
                .flat_map(|k| bench.inputs.iter().flat_map(move |input| input[k].to_le_bytes()))
                .collect();
            std::fs::write(path("inputs"), inputs).expect("inputs");
            std::fs::write(path("forms"), &runs_text).expect("forms");
        }
        for target in LATER {
            failures.extend(self.later_failures(name, target, operand, edges));
        }
        println!(
            "{name}: {} forms, as a GPU has them {} and {}",
            self.forms.len(),
            plain.len(),
            with_tables.len()
        );
        assert!(failures.is_empty(), "{} failures:\n{}", failures.len(), failures.join("\n"));
    }

    /// Runs all forms from the code for a later GPU.
    fn later_failures(
        &self,
        name: &str,
        target: &str,
        operand: fn(&mut Random) -> u64,
        edges: &[u64],
    ) -> Vec<String> {
        let bench = Bench::of(later_program(name, target), operand, edges, FORMS_PER_KERNEL);
        let [seen, _] = seen_on_gpu([name, ""]);
        let mut failures = Vec::new();
        for (kernel, forms) in self.kernels() {
            let runs = ENGINES.map(|engine| (engine, bench.run(&kernel, engine, forms.len())));
            failures.extend(stopped(&kernel, forms, &runs));
            for (n, form) in forms.iter().enumerate() {
                // The compiler builds video instructions of code that differs from the documents
                // where the GPU differs too.
                if name != "video" || seen.contains_key(&form.ptx) {
                    failures.extend(form.failures(&bench.inputs, n, &runs));
                }
            }
        }
        failures.into_iter().map(|failure| format!("{target}: {failure}")).collect()
    }

    /// Runs all forms like [`Self::check`], but from the text.
    pub fn check_text(&self, name: &str, operand: fn(&mut Random) -> u64, edges: &[u64]) {
        let text = self.ptx();
        let program = Program::load(text.as_bytes(), None)
            .unwrap_or_else(|error| panic!("{name}: {error}\n{text}"));
        let bench = Bench::of(program, operand, edges, FORMS_PER_KERNEL);
        let [seen, _] = seen_on_gpu([name, ""]);
        let mut failures = Vec::new();
        for (kernel, forms) in self.kernels() {
            let runs = ENGINES.map(|engine| (engine, bench.run(&kernel, engine, forms.len())));
            failures.extend(stopped(&kernel, forms, &runs));
            for (n, form) in forms.iter().enumerate() {
                failures.extend(form.failures(&bench.inputs, n, &runs));
                let differs = |run: &Run| {
                    let results = run
                        .1
                        .as_ref()
                        .map(|results| form.checksum(&results[n * COUNT..(n + 1) * COUNT]));
                    results.is_ok_and(|sum| seen.get(&form.ptx).is_some_and(|&seen| seen != sum))
                };
                if self.gives_all_bits && runs.iter().any(differs) {
                    failures
                        .push(format!("`{}` from its text: a GPU gave other results", form.ptx));
                }
            }
        }
        assert!(failures.is_empty(), "{} failures:\n{}", failures.len(), failures.join("\n"));
    }
}

/// The GPUs whose code for the forms is in `tests/fixtures/turing/semantics`.
const LATER: [&str; 3] = ["sm_75", "sm_80", "sm_89"];

/// Loads the code of a group for a later GPU.
fn later_program(name: &str, target: &str) -> Program {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/turing/semantics");
    let path = format!("{folder}/{name}.{target}.cubin.gz");
    let file = std::fs::File::open(&path).unwrap_or_else(|error| panic!("{path}: {error}"));
    let mut binary = Vec::new();
    flate2::read::GzDecoder::new(file)
        .read_to_end(&mut binary)
        .unwrap_or_else(|error| panic!("{path}: {error}"));
    Program::load(&binary, None).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// The results of a kernel, or the reason why it has none.
type Run = (EngineKind, std::result::Result<Vec<u64>, String>);

fn stopped<'a>(
    kernel: &'a str,
    forms: &'a [Form],
    runs: &'a [Run],
) -> impl Iterator<Item = String> + 'a {
    let error = move |(engine, run): &'a Run| {
        let error = run.as_ref().err()?;
        Some(format!("{kernel} ({engine}), from `{}` on: {error}", forms[0].ptx))
    };
    runs.iter().filter_map(error)
}

/// Returns the checksum of a GPU's results for each form of the groups, by its text; some forms
/// have none.
fn seen_on_gpu(groups: [&str; 2]) -> [HashMap<String, u32>; 2] {
    let path = fixture("ptx/gpu.txt.gz");
    let file = std::fs::File::open(&path).unwrap_or_else(|error| panic!("{path}: {error}"));
    let mut text = String::new();
    flate2::read::GzDecoder::new(file)
        .read_to_string(&mut text)
        .unwrap_or_else(|error| panic!("{path}: {error}"));
    let line = |line: &str, group: &str| {
        let mut parts = line.splitn(3, '\t');
        let (in_group, sum, form) = (parts.next()?, parts.next()?, parts.next()?);
        (in_group == group)
            .then(|| (form.to_owned(), u32::from_str_radix(sum, 16).expect("a checksum")))
    };
    groups.map(|group| text.lines().filter_map(|text| line(text, group)).collect())
}

impl Form {
    fn checksum(&self, results: &[u64]) -> u32 {
        let bytes: Vec<u8> =
            results.iter().flat_map(|result| (result & self.width.mask()).to_le_bytes()).collect();
        crc32fast::hash(&bytes)
    }

    /// Returns the first wrong result of each run; this form has the results with number `n`.
    fn failures(&self, inputs: &[Input], n: usize, runs: &[Run]) -> Vec<String> {
        let expected: Vec<u64> = (0..COUNT).map(|i| self.expected(inputs, i)).collect();
        let failure = |(engine, run): &Run| {
            let found = &run.as_ref().ok()?[n * COUNT..(n + 1) * COUNT];
            let i =
                (0..COUNT).find(|&i| !(self.same)(found[i] & self.width.mask(), expected[i]))?;
            let ([x, y, z], wanted, found) = (inputs[i], expected[i], found[i] & self.width.mask());
            Some(format!(
                "`{}` ({engine}): of {x:#x}, {y:#x}, {z:#x} expected {wanted:#x}, found {found:#x}",
                self.ptx
            ))
        };
        runs.iter().filter_map(failure).collect()
    }

    fn expected(&self, inputs: &[Input], i: usize) -> u64 {
        let lanes = LANES as usize;
        let first = i / lanes * lanes;
        (self.result)(&inputs[first..first + lanes], i - first) & self.width.mask()
    }
}
