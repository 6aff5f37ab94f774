//! Fuzzing of one launch: other arguments and contents of buffers, with the kernel's blocks and
//! conditions as feedback.
//!
//! An input has the bytes of all arguments that are numbers or structures, and of all buffers.
//! `input` lays it out and writes findings, `mutate` changes inputs. An input runs on a copy of the
//! kernel that counts how often each point is reached; an input with new counts joins the corpus. A fault, a store past the end of a buffer and a difference of the engines
//! are findings. A finding is brought as near to the launch's own input as it stays one.

mod input;
mod mutate;

use std::collections::{BTreeSet, HashSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

pub(crate) use input::Layout;
use mutate::Mutator;
use warploom::{Counted, EngineKind, Fault, LaunchOptions};
use warploom_engine::{Backend, Effort};
use warploom_runtime::fault::FaultKind;

use crate::session::{Run, first_difference};
use crate::{Error, Launch, Manifest, Session, write};

/// The limits and folders of a fuzzing run.
#[derive(Clone)]
pub struct Options {
    pub seed: u64,
    /// The end: a time, a number of inputs, or both.
    pub time: Option<Duration>,
    pub inputs: Option<u64>,
    /// The end: so many findings.
    pub findings: usize,
    /// Names of buffers, and numbers of arguments from 1, that keep the launch's content.
    pub keep: BTreeSet<String>,
    /// The folder of inputs, which are read first. New ones are added.
    pub corpus: Option<PathBuf>,
    /// The folder of findings: a folder each, with a manifest.
    pub out: PathBuf,
    /// The back end of the JIT that is tested, if it is not the usual one.
    pub backend: Option<Arc<dyn Backend>>,
}

/// The kind of a finding. One finding of each is kept.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// A fault, by its name and the offset of its pc.
    Fault(&'static str, u64),
    /// A store past the end of a buffer, which the granularity of memory hides.
    Overrun(String),
    /// Both engines have different results.
    Difference,
}

/// An input that the kernel or an engine does not take well.
#[derive(Clone, Debug)]
pub struct Finding {
    pub kind: Kind,
    pub message: String,
    /// The manifest of a launch that shows it.
    pub manifest: PathBuf,
    /// The number of bytes that differ from the launch's own input.
    pub changed: usize,
}

/// The sums of a run so far.
#[derive(Clone, Debug, Default)]
pub struct Progress {
    pub inputs: u64,
    pub corpus: usize,
    /// Points that were reached, and all points: ends of blocks, and conditions that hold in a lane.
    pub points: (usize, usize),
    /// Pairs of a point and how often it was reached, in powers of 2.
    pub features: usize,
    pub findings: Vec<Finding>,
}

#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FuzzError {
    #[error(transparent)]
    Manifest(#[from] Error),
    #[error(transparent)]
    Launch(#[from] warploom::Error),
    #[error(
        "there is nothing to change: the launch has no numbers and no buffers, or all are kept"
    )]
    NothingToChange,
    #[error("`{name}` is no buffer and no argument with a number: there is {known}")]
    NoSuchPart { name: String, known: String },
    #[error("the launch itself shows a finding: {0}")]
    AtOnce(String),
}

/// One input in `COMPARED` runs on both engines, even without new counts.
const COMPARED: u64 = 32;
/// An input may execute so many times the instructions of the launch's own input.
const LONGER: u64 = 64;
const LEAST_LIMIT: u64 = 1 << 20;
/// Tries to bring a finding nearer to the launch's input.
const TRIES: usize = 2000;

/// A feature: a point, and the binary logarithm of how often it was reached.
type Feature = (u32, u8);

struct Fuzzer<'c> {
    layout: Layout,
    /// The session of the copy that counts. Its counters are in guest memory, where a stray access
    /// finds them, so that this session shows nothing by itself.
    counting: Session<'c>,
    jit: Session<'c>,
    interp: Session<'c>,
    counted: Counted,
    options: LaunchOptions,
    /// The number of inputs that ran on both engines. Each has another effort than the one before.
    compared: usize,
    features: HashSet<Feature>,
    reached: HashSet<u32>,
    corpus: Vec<Vec<u8>>,
}

/// Fuzzes the launch of a manifest. `show` is called now and then with what was done so far; it
/// returns false to stop.
pub fn fuzz(
    manifest: &Manifest,
    path: &Path,
    options: &Options,
    mut show: impl FnMut(&Progress) -> bool,
) -> Result<Progress, FuzzError> {
    let launch = Launch::resolve(manifest.clone(), path)?;
    let layout = Layout::of(&launch, &options.keep)?;
    let mut fuzzer = Fuzzer::new(&launch, layout, options)?;
    let own = fuzzer.layout.own(&launch);
    let mut progress = Progress::default();
    progress.points.1 = fuzzer.counted.points();
    if let Some((_, message)) = fuzzer.finding(&own, true)? {
        return Err(FuzzError::AtOnce(message));
    }
    let mut mutator = Mutator::new(options.seed, &fuzzer.layout, fuzzer.counted.constants());
    let mut waiting = vec![own.clone()];
    waiting.extend(fuzzer.layout.read_corpus(options.corpus.as_deref())?);
    let start = Instant::now();
    loop {
        let over = options.time.is_some_and(|time| start.elapsed() >= time)
            || options.inputs.is_some_and(|inputs| progress.inputs >= inputs)
            || progress.findings.len() >= options.findings;
        if over {
            break;
        }
        let input = waiting.pop().unwrap_or_else(|| mutator.next(&fuzzer.layout, &fuzzer.corpus));
        progress.inputs += 1;
        let (mut found, is_new) = fuzzer.explore(&input)?;
        let is_known = |kind: &Kind| progress.findings.iter().any(|earlier| earlier.kind == *kind);
        found = found.filter(|(kind, _)| !is_known(kind));
        if found.is_some() || progress.inputs % COMPARED == 0 {
            found = fuzzer.finding(&input, true)?;
        }
        if let Some((kind, message)) = found.filter(|(kind, _)| !is_known(kind)) {
            let input = fuzzer.nearest(&own, input.clone(), &kind)?;
            let message = fuzzer.finding(&input, true)?.map_or(message, |(_, message)| message);
            let number = progress.findings.len() + 1;
            let folder = options.out.join(format!("finding-{number}"));
            let manifest = fuzzer.layout.write(manifest, &launch, &input, &folder)?;
            let changed = own.iter().zip(&input).filter(|(a, b)| a != b).count();
            progress.findings.push(Finding { kind, message, manifest, changed });
        }
        if is_new {
            if let Some(corpus) = &options.corpus {
                fuzzer.layout.write_input(corpus, &input)?;
            }
            fuzzer.corpus.push(input);
        }
        progress.corpus = fuzzer.corpus.len();
        progress.features = fuzzer.features.len();
        progress.points.0 = fuzzer.reached.len();
        if !show(&progress) {
            break;
        }
    }
    Ok(progress)
}

/// Removes inputs from a corpus that reach nothing which shorter or earlier ones do not reach.
/// Returns the numbers of inputs before and after.
pub fn minimize(
    manifest: &Manifest,
    path: &Path,
    options: &Options,
) -> Result<(usize, usize), FuzzError> {
    let launch = Launch::resolve(manifest.clone(), path)?;
    let layout = Layout::of(&launch, &options.keep)?;
    let mut fuzzer = Fuzzer::new(&launch, layout, options)?;
    let own = fuzzer.layout.own(&launch);
    let mut inputs = fuzzer.layout.read_corpus(options.corpus.as_deref())?;
    let before = inputs.len();
    let differs = |input: &Vec<u8>| own.iter().zip(input).filter(|(a, b)| a != b).count();
    inputs.sort_by_key(differs);
    fuzzer.explore(&own)?;
    let mut kept = vec![];
    for input in inputs {
        if fuzzer.explore(&input)?.1 {
            kept.push(input);
        }
    }
    let after = kept.len();
    if let Some(corpus) = &options.corpus {
        fuzzer.layout.replace_corpus(corpus, &kept)?;
    }
    Ok((before, after))
}

impl<'c> Fuzzer<'c> {
    fn new(launch: &'c Launch, layout: Layout, options: &Options) -> Result<Fuzzer<'c>, FuzzError> {
        let [mut jit, mut counting] = [Session::new(launch)?, Session::new(launch)?];
        for session in [&mut jit, &mut counting] {
            if let Some(backend) = &options.backend {
                session.set_backend(backend.clone());
            }
        }
        let interp = Session::new(launch)?;
        let mut shape = jit.options(EngineKind::Jit, 1);
        if shape.instruction_limit.is_none() {
            let first = jit.launch(&shape, None)?.counts.instructions;
            shape.instruction_limit = Some(first.saturating_mul(LONGER).max(LEAST_LIMIT));
        }
        let counted = counting.counted(&shape)?;
        Ok(Fuzzer {
            layout,
            counting,
            jit,
            interp,
            counted,
            options: shape,
            compared: 0,
            features: HashSet::new(),
            reached: HashSet::new(),
            corpus: vec![],
        })
    }

    /// Runs an input on the copy of the kernel that counts. Returns what is wrong, and whether the
    /// input reaches something new, which is new no more.
    fn explore(&mut self, input: &[u8]) -> Result<(Option<(Kind, String)>, bool), FuzzError> {
        self.layout.set(&mut self.counting, input);
        self.counting.reset()?;
        let launch = self.counting.launch_counted(&self.counted, &self.options)?;
        let mut is_new = false;
        for (point, count) in (0..).zip(launch.points).filter(|(_, count)| *count > 0) {
            self.reached.insert(point);
            is_new |= self.features.insert((point, count.ilog2() as u8));
        }
        Ok((wrong(&self.counting, launch.fault.as_ref())?, is_new))
    }

    /// Runs an input, with `compare` on both engines, and returns what is wrong.
    fn finding(
        &mut self,
        input: &[u8],
        compare: bool,
    ) -> Result<Option<(Kind, String)>, FuzzError> {
        self.layout.set(&mut self.jit, input);
        self.jit.reset()?;
        let mut options = self.options.clone();
        if compare {
            options.effort = Effort::ALL[self.compared % Effort::ALL.len()];
            self.compared += 1;
        }
        let jit = self.jit.launch(&options, None)?;
        if compare {
            self.layout.set(&mut self.interp, input);
            self.interp.reset()?;
            let interpreted = LaunchOptions { engine: EngineKind::Interp, ..options.clone() };
            let interp = self.interp.launch(&interpreted, None)?;
            let run = |session, options, outcome| Run { session, options, outcome };
            let difference = first_difference(
                &run(&self.jit, &options, &jit),
                &run(&self.interp, &interpreted, &interp),
            )?;
            if let Some(difference) = difference {
                return Ok(Some((Kind::Difference, format!("the engines differ: {difference}"))));
            }
        }
        wrong(&self.jit, jit.fault.as_ref())
    }

    /// Returns an input that shows the same finding, with as few changes to the launch's own input
    /// as were found.
    fn nearest(
        &mut self,
        own: &[u8],
        mut input: Vec<u8>,
        kind: &Kind,
    ) -> Result<Vec<u8>, FuzzError> {
        let mut tries = 0;
        let mut piece = input.len().next_power_of_two();
        while piece > 0 && tries < TRIES {
            for at in (0..input.len()).step_by(piece) {
                let end = input.len().min(at + piece);
                if input[at..end] == own[at..end] || tries >= TRIES {
                    continue;
                }
                tries += 1;
                let mut nearer = input.clone();
                nearer[at..end].copy_from_slice(&own[at..end]);
                let found = self.finding(&nearer, *kind == Kind::Difference)?;
                if found.is_some_and(|(found, _)| found == *kind) {
                    input = nearer;
                }
            }
            piece /= 2;
        }
        Ok(input)
    }
}

/// Returns what is wrong with the last launch of a session by itself.
fn wrong(
    session: &Session<'_>,
    fault: Option<&Fault>,
) -> Result<Option<(Kind, String)>, FuzzError> {
    if let Some(fault) = fault {
        // A long run is no finding: a loop over a larger number makes one.
        if matches!(fault.kind(), FaultKind::BudgetExceeded | FaultKind::TimeExceeded) {
            return Ok(None);
        }
        let kind = Kind::Fault(fault.kind().name(), fault.offset);
        return Ok(Some((kind, fault.to_string())));
    }
    let first = session.overruns()?.into_iter().next();
    Ok(first.map(|found| (Kind::Overrun(found.buffer.into()), found.to_string())))
}

/// Writes the bytes of a file in a folder that is made if it is not there.
fn write_file(folder: &Path, name: &str, bytes: &[u8]) -> Result<PathBuf, Error> {
    std::fs::create_dir_all(folder).map_err(|e| Error::io(folder, "made a folder", e))?;
    let path = folder.join(name);
    write::file(&path, |into| into.write_all(bytes))?;
    Ok(path)
}
