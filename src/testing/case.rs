//! Whole launches of random code, run like a user's launches.

use std::collections::BTreeMap;
use std::path::Path;

use arbitrary::{Result as Choice, Unstructured};
use warploom::{Effort, EngineKind, LaunchOptions};
use warploom_replay::manifest::{Arg, Buffer, Kernel, Launch as Shape};
use warploom_replay::{Dtype, Launch, Manifest, Run, Session, first_difference};
use warploom_runtime::launch::Counts;

use super::check::{Failure, Reproducer, Subject};
use super::program::{self, Node, print, print_line};

/// A launch of assembly.
#[derive(Clone, Debug)]
pub struct Case {
    pub manifest: Manifest,
    /// Directives, and instructions that set up registers.
    pub head: Vec<String>,
    pub body: Vec<Node>,
    /// Instructions that store registers, and the end.
    pub tail: Vec<String>,
    /// Functions behind the end.
    pub functions: Vec<Node>,
    /// Whether the results do not depend on the order of the launch's blocks.
    pub independent: bool,
    /// The effort of the JIT's code for one worker.
    pub effort: Effort,
    /// The `.ze_info` of vISA.
    pub ze_info: Option<String>,
}

/// The input of a kernel's launch.
pub(super) struct Given {
    pub blocks: u32,
    pub block: [u32; 3],
    /// The limit of instructions.
    pub limit: u64,
    pub effort: Effort,
    /// A number that the kernel reads.
    pub word: u32,
    /// The seed of the buffers' content.
    pub seed: u32,
}

/// The outcome of a launch, which was equal on all engines.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Ran {
    pub instructions: u64,
    pub faults: bool,
    /// Bytes of printed text.
    pub printed: usize,
    /// Regions that the JIT could not compile.
    pub uncompiled: usize,
}

/// Worker threads of launches whose blocks are independent.
const WORKERS: usize = 2;

/// Parts of the names of instructions and registers that read the clock. The clock counts the work
/// of a worker, so it shows a block's share in a launch of several workers.
const CLOCKS: [&str; 5] = ["CLOCK", "GLOBALTIMER", "s_memtime", "s_memrealtime", "%clock"];

/// Instructions that access addresses of all lanes of a warp. Lanes that a short warp lacks have
/// arbitrary addresses, maybe in another block's memory.
const OF_ALL_LANES: [&str; 2] = ["ldmatrix", "stmatrix"];

impl Case {
    pub fn text(&self) -> String {
        let mut text = String::new();
        self.head.iter().for_each(|line| print_line(line, &mut text));
        print(&self.body, &mut text);
        self.tail.iter().for_each(|line| print_line(line, &mut text));
        print(&self.functions, &mut text);
        text
    }

    /// Returns the case with the lines of head and tail that are `kept`, directives, and the end.
    fn with_lines(&self, kept: &[bool]) -> Case {
        let (head, tail) = kept.split_at(self.head.len());
        let stays =
            |(line, &kept): (&String, &bool)| (kept || line.starts_with('.')).then(|| line.clone());
        let head = self.head.iter().zip(head).filter_map(stays).collect();
        let end = self.tail.last().cloned();
        let tail =
            self.tail.iter().zip(tail).take(self.tail.len().saturating_sub(1)).filter_map(stays);
        Case { head, tail: tail.chain(end).collect(), ..self.clone() }
    }
}

impl Case {
    fn launch(&self) -> Result<Launch, Failure> {
        let launch = Launch::with_binary(
            self.manifest.clone(),
            Path::new("case.toml"),
            self.text().into_bytes(),
        );
        let mut launch = launch.map_err(Failure::invalid)?;
        launch.ze_info = self.ze_info.clone().map(String::into_bytes);
        Ok(launch)
    }

    /// Returns the counts of the JIT's code of this effort, with one worker. A fault is a failure.
    ///
    /// # Errors
    /// The error or fault that keeps the launch from its end.
    pub fn counts(&self) -> Result<Counts, Failure> {
        let launch = self.launch()?;
        let session = Session::new(&launch).map_err(Failure::invalid)?;
        let options = LaunchOptions { effort: self.effort, ..session.options(EngineKind::Jit, 1) };
        let outcome = session.launch(&options, None).map_err(Failure::invalid)?;
        match outcome.fault {
            Some(fault) => Err(Failure::invalid(fault.to_string())),
            None => Ok(outcome.counts),
        }
    }
}

impl Subject for Case {
    type Outcome = Ran;

    /// Compares the JIT with the interpreter: with the case's effort, with quick code that is
    /// interpreted at first, and, if the blocks are independent, with another effort and several
    /// workers.
    fn run(&self) -> Result<Ran, Failure> {
        let text = self.text();
        let reads_clock = CLOCKS.iter().any(|name| text.contains(name));
        let launch = self.launch()?;
        let session = || Session::new(&launch).map_err(Failure::invalid);
        let reference = session()?;
        let options = reference.options(EngineKind::Interp, 1);
        let outcome = reference.launch(&options, None).map_err(Failure::invalid)?;
        let expected = Run { session: &reference, options: &options, outcome: &outcome };
        // The text that finds no room depends on the order in which blocks print.
        let fits = outcome.printed.dropped == 0;
        let is_short = !self.manifest.launch.block.iter().product::<u32>().is_multiple_of(32);
        let strays = is_short && OF_ALL_LANES.iter().any(|name| text.contains(name));
        let independent =
            self.independent && !reads_clock && !strays && fits && outcome.fault.is_none();
        let several = independent.then_some((self.effort.other(), WORKERS, 0));
        let mut uncompiled = 0;
        for (effort, workers, interpreted) in
            [(self.effort, 1, 0), (Effort::Quick, 1, 1)].into_iter().chain(several)
        {
            let other = session()?;
            let options =
                LaunchOptions { effort, interpreted, ..other.options(EngineKind::Jit, workers) };
            let outcome = other.launch(&options, None).map_err(Failure::invalid)?;
            uncompiled += outcome.uncompiled.len();
            let found = Run { session: &other, options: &options, outcome: &outcome };
            if let Some(what) = first_difference(&found, &expected).map_err(Failure::invalid)? {
                return Err(Failure::Difference(format!(
                    "with --effort {} --threads {workers}: {what}",
                    effort.name()
                )));
            }
        }
        Ok(Ran {
            instructions: outcome.counts.instructions,
            faults: outcome.fault.is_some(),
            printed: outcome.printed.text.len(),
            uncompiled,
        })
    }

    fn reduced(&self, fails: &dyn Fn(&Case) -> bool) -> Case {
        let with = |body: &[Node]| Case { body: body.to_vec(), ..self.clone() };
        let case = with(&program::reduce(&self.body, &mut |body| fails(&with(body))));
        let with = |functions: &[Node]| Case { functions: functions.to_vec(), ..case.clone() };
        let case =
            with(&program::reduce(&case.functions, &mut |functions| fails(&with(functions))));
        let smaller = [[1, 1, 1], [32, 1, 1], [64, 1, 1]].map(|block| {
            let mut smaller = case.clone();
            (smaller.manifest.launch.grid, smaller.manifest.launch.block) = ([1; 3], block);
            smaller
        });
        let case = smaller.into_iter().find(|smaller| fails(smaller)).unwrap_or(case);
        let lines = case.head.len() + case.tail.len();
        case.with_lines(&program::subset(lines, &mut |kept| fails(&case.with_lines(kept))))
    }

    fn reproducer(&self) -> Option<Reproducer> {
        Some(Reproducer {
            manifest: self.manifest.clone(),
            text: self.text(),
            ze_info: self.ze_info.clone(),
        })
    }
}

/// Returns the parts of a manifest that all random launches have.
pub(super) fn manifest(grid: [u32; 3], block: [u32; 3], instruction_limit: u64) -> Manifest {
    Manifest {
        kernel: Kernel { binary: "case.s".into(), ..Kernel::default() },
        launch: Shape {
            grid,
            block,
            shared_bytes: 0,
            stack_bytes: None,
            heap_bytes: None,
            cooperative: false,
            instruction_limit: Some(instruction_limit),
            time_limit: None,
        },
        ..Manifest::default()
    }
}

/// Bytes that a thread of a random kernel leaves, and bytes of its own memory.
pub(super) const OUT_BYTES: u32 = 128;
pub(super) const OWN_BYTES: u32 = 64;
/// Bytes of a table that is only read, and of data that all threads change.
pub(super) const DATA_BYTES: u32 = 1024;
/// The most nodes of a kernel, and their greatest depth.
pub(super) const MAX_NODES: u32 = 60;
pub(super) const MAX_DEPTH: u8 = 4;
const INSTRUCTIONS: u64 = 20_000;

/// Returns the buffers of random kernels.
pub(super) fn buffers(threads: u32, seed: u32) -> BTreeMap<String, Buffer> {
    let content = |seed: u32| {
        words((0..DATA_BYTES / 4).map(move |i| (i ^ seed).wrapping_mul(0x9e37_79b9) >> (i % 24)))
    };
    let each = |bytes: u32| zeros(u64::from(threads) * u64::from(bytes));
    let buffers = [
        ("out", each(OUT_BYTES)),
        ("table", content(seed)),
        ("own", each(OWN_BYTES)),
        ("data", content(!seed)),
    ];
    buffers.map(|(name, buffer)| (name.into(), buffer)).into()
}

/// Returns the number of instructions after which a random kernel is stopped. Most kernels end long
/// before.
pub(super) fn instruction_limit(u: &mut Unstructured<'_>) -> Choice<u64> {
    if u.ratio(1, 8)? { u.int_in_range(0..=500) } else { Ok(INSTRUCTIONS) }
}

/// Returns any effort.
pub(super) fn effort(u: &mut Unstructured<'_>) -> Choice<Effort> {
    Ok(*u.choose(&Effort::ALL)?)
}

/// Returns a buffer of these words.
fn words(words: impl IntoIterator<Item = u32>) -> Buffer {
    let values = words.into_iter().map(|word| toml::Value::Integer(word.into())).collect();
    Buffer { values: Some(values), dtype: Some(Dtype::U32), ..Buffer::default() }
}

/// Returns a buffer of these bytes, in whole words.
pub(super) fn bytes(content: &[u8]) -> Buffer {
    let byte = |chunk: &[u8], i: usize| u32::from(chunk.get(i).copied().unwrap_or(0)) << (8 * i);
    words(content.chunks(4).map(|chunk| (0..4).map(|i| byte(chunk, i)).sum()))
}

/// Returns a buffer of zeros, which is compared in words.
pub(super) fn zeros(bytes: u64) -> Buffer {
    Buffer { zeros: Some(bytes), dtype: Some(Dtype::U32), ..Buffer::default() }
}

pub(super) fn u32_arg(value: u32) -> Arg {
    Arg::Number(Dtype::U32, toml::Value::Integer(value.into()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::maxwell;

    #[test]
    fn of_what_sets_up_and_stores_only_what_is_needed_stays() {
        let bytes: Vec<u8> =
            (0..500_u32).map(|i| (i.wrapping_mul(0x9e37_79b9) >> 11) as u8).collect();
        let case = maxwell::kernel(&mut Unstructured::new(&bytes)).unwrap();
        let needed = ["S2R R1, SR_TID.Y", "P2R R31, PR, RZ, 0x7f"];
        let reduced = case.reduced(&|case| needed.iter().all(|line| case.text().contains(line)));
        let text = reduced.text();
        let lines: Vec<&str> =
            text.lines().map(str::trim).filter(|line| !line.starts_with('.')).collect();
        assert_eq!(lines, [needed[0], needed[1], "EXIT"]);
        assert!(text.starts_with(".target sm_50"), "{text}");
    }
}
