//! The smallest launch, and the smallest code of a kernel, that still show a fault or a difference of
//! the engines.
//!
//! `code` takes the code apart: lines of a text, or instructions of machine code, which become NOPs.
//! Pieces go as long as the launch shows the same, large ones first (delta debugging). The grid, the
//! block, arguments and buffers become small likewise.

mod code;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use code::Code;
use warploom::{EngineKind, LaunchOptions};
use warploom_engine::{Backend, Effort};

use crate::fuzz::{FuzzError, Layout};
use crate::session::{Run, first_difference};
use crate::{Error, Launch, Manifest, Session, write};

/// How to reduce.
pub struct Options {
    /// The folder for the reduced launch.
    pub out: PathBuf,
    /// The time after which the best launch so far is the result.
    pub time: Option<Duration>,
    /// The back end of the JIT that is tested, if it is not the usual one.
    pub backend: Option<Arc<dyn Backend>>,
}

/// A reduced launch.
#[derive(Clone, Debug)]
pub struct Reduced {
    pub manifest: PathBuf,
    /// The fault or difference that it shows, in words.
    pub shows: String,
    /// Lines or instructions, at first and at last.
    pub units: (usize, usize),
    /// The instructions that are left, if the code is machine code, as offsets in the kernel's code.
    pub left: Option<Vec<usize>>,
    /// The number of launches that were tried.
    pub tries: u64,
}

#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReduceError {
    #[error(transparent)]
    Manifest(#[from] Error),
    #[error(transparent)]
    Launch(#[from] warploom::Error),
    #[error(
        "the launch ends without a fault, and the engines agree: there is nothing to reduce to"
    )]
    NothingShown,
    #[error("{0}")]
    Code(String),
}

/// The outcome that a launch shows, and that a reduced launch must show too.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Shown {
    /// A fault's name, and the instruction's mnemonic.
    Fault(&'static str, Option<String>),
    Difference,
}

/// A candidate executes at most so many times the instructions of the launch.
const LONGER: u64 = 4;
const LEAST_LIMIT: u64 = 100_000;

/// A launch that shows what the first one shows.
#[derive(Clone)]
struct Candidate {
    manifest: Manifest,
    /// The bytes of arguments and buffers.
    input: Vec<u8>,
    /// Units of the code that are left.
    kept: Vec<bool>,
}

struct Reducer<'a> {
    path: &'a Path,
    code: Code,
    layout: Option<Layout>,
    shown: Shown,
    limit: u64,
    backend: Option<Arc<dyn Backend>>,
    end: Option<Instant>,
    tries: u64,
}

/// Reduces the launch of a manifest. `show` is called now and then with the units that are left; it
/// returns false to stop.
pub fn reduce(
    manifest: &Manifest,
    path: &Path,
    options: &Options,
    mut show: impl FnMut(usize) -> bool,
) -> Result<Reduced, ReduceError> {
    let launch = Launch::resolve(manifest.clone(), path)?;
    let code = Code::of(&launch).map_err(ReduceError::Code)?;
    let layout = match Layout::of(&launch, &Default::default()) {
        Ok(layout) => Some(layout),
        Err(FuzzError::NothingToChange) => None,
        Err(error) => return Err(ReduceError::Code(error.to_string())),
    };
    let mut manifest = manifest.clone();
    code.describe(&mut manifest);
    let first = Candidate {
        input: layout.as_ref().map_or(vec![], |layout| layout.own(&launch)),
        kept: vec![true; code.units()],
        manifest,
    };
    let mut reducer = Reducer {
        path,
        code,
        layout,
        shown: Shown::Difference,
        limit: u64::MAX,
        backend: options.backend.clone(),
        end: options.time.map(|time| Instant::now() + time),
        tries: 0,
    };
    let (shown, instructions) = reducer.run(&first)?.ok_or(ReduceError::NothingShown)?;
    reducer.limit = instructions.saturating_mul(LONGER).max(LEAST_LIMIT);
    reducer.shown = shown;

    let mut best = first;
    let before = best.kept.len();
    loop {
        let size = |best: &Candidate| {
            let nonzero = best.input.iter().filter(|&&byte| byte != 0).count();
            (best.left(), best.manifest.launch.grid, best.manifest.launch.block, nonzero)
        };
        let at_first = size(&best);
        reducer.shape(&mut best);
        reducer.input(&mut best);
        let goes_on = reducer.units(&mut best, &mut show);
        if !goes_on || size(&best) == at_first || reducer.is_over() {
            break;
        }
    }
    let binary = reducer.code.binary(&best.kept);
    let mut launch = reducer.launch(&best, binary)?;
    launch.binary_path = PathBuf::from(reducer.code.file_name());
    let ze_info = reducer.code.write_beside(&options.out)?;
    let out = match &reducer.layout {
        Some(layout) => layout.write(&best.manifest, &launch, &best.input, &options.out)?,
        None => {
            std::fs::create_dir_all(&options.out)
                .map_err(|e| Error::io(&options.out, "made a folder", e))?;
            let binary = options.out.join(&launch.binary_path);
            write::file(&binary, |into| into.write_all(&launch.binary))?;
            let path = options.out.join("launch.toml");
            let mut manifest = best.manifest.clone();
            manifest.kernel.binary.clone_from(&launch.binary_path);
            write::manifest(&path, &manifest)?;
            path
        }
    };
    if ze_info.is_some() {
        let mut manifest = Manifest::read(&out)?;
        manifest.kernel.ze_info = ze_info;
        write::manifest(&out, &manifest)?;
    }
    let shows = match &reducer.shown {
        Shown::Fault(kind, Some(mnemonic)) => format!("{kind} at {mnemonic}"),
        Shown::Fault(kind, None) => (*kind).to_string(),
        Shown::Difference => "a difference of the engines".into(),
    };
    Ok(Reduced {
        manifest: out,
        shows,
        units: (before, best.left()),
        left: reducer.code.offsets(&best.kept),
        tries: reducer.tries,
    })
}

impl Candidate {
    /// Returns the number of units that are left.
    fn left(&self) -> usize {
        self.kept.iter().filter(|kept| **kept).count()
    }
}

impl Reducer<'_> {
    fn is_over(&self) -> bool {
        self.end.is_some_and(|end| Instant::now() >= end)
    }

    fn launch(&self, candidate: &Candidate, binary: Vec<u8>) -> Result<Launch, Error> {
        let mut launch = Launch::with_binary(candidate.manifest.clone(), self.path, binary)?;
        self.code.complete(&mut launch);
        Ok(launch)
    }

    /// Runs a candidate. Returns what it shows, and the number of instructions.
    fn run(&mut self, candidate: &Candidate) -> Result<Option<(Shown, u64)>, ReduceError> {
        self.tries += 1;
        let launch = self.launch(candidate, self.code.binary(&candidate.kept))?;
        let session = || -> Result<Session<'_>, ReduceError> {
            let mut session = Session::new(&launch)?;
            if let Some(layout) = &self.layout {
                layout.set(&mut session, &candidate.input);
                session.reset()?;
            }
            Ok(session)
        };
        let of_fault = |fault: &warploom::Fault| {
            let mnemonic = fault.instruction.as_deref().map(mnemonic);
            Shown::Fault(fault.kind().name(), mnemonic)
        };
        let interp = session()?;
        let mut options = interp.options(EngineKind::Interp, 1);
        options.instruction_limit =
            Some(options.instruction_limit.unwrap_or(u64::MAX).min(self.limit));
        let by_interp = interp.launch(&options, None)?;
        let instructions = by_interp.counts.instructions;
        let fault = by_interp.fault.as_ref().map(of_fault);
        // Faults of both engines are equal, unless the engines differ.
        if matches!(self.shown, Shown::Fault(..)) {
            return Ok(fault.map(|fault| (fault, instructions)));
        }
        for effort in [Effort::Full, Effort::Quick] {
            let mut jit = session()?;
            if let Some(backend) = &self.backend {
                jit.set_backend(backend.clone());
            }
            let compiled = LaunchOptions { engine: EngineKind::Jit, effort, ..options.clone() };
            let by_jit = jit.launch(&compiled, None)?;
            let difference = first_difference(
                &Run { session: &jit, options: &compiled, outcome: &by_jit },
                &Run { session: &interp, options: &options, outcome: &by_interp },
            )?;
            if difference.is_some() {
                return Ok(Some((Shown::Difference, instructions)));
            }
        }
        Ok(fault.map(|fault| (fault, instructions)))
    }

    /// Returns whether a candidate shows what the first launch shows.
    fn shows(&mut self, candidate: &Candidate) -> bool {
        !self.is_over()
            && self
                .run(candidate)
                .is_ok_and(|shown| shown.is_some_and(|(shown, _)| shown == self.shown))
    }

    /// Takes a change if the launch then still shows the same.
    fn attempt(&mut self, best: &mut Candidate, change: impl FnOnce(&mut Candidate)) -> bool {
        let mut candidate = best.clone();
        change(&mut candidate);
        let holds = self.shows(&candidate);
        if holds {
            *best = candidate;
        }
        holds
    }

    /// Makes the grid and the block smaller.
    fn shape(&mut self, best: &mut Candidate) {
        for axis in 0..3 {
            for of_grid in [true, false] {
                let read = |candidate: &Candidate| {
                    let launch = &candidate.manifest.launch;
                    (if of_grid { launch.grid } else { launch.block })[axis]
                };
                let set = |candidate: &mut Candidate, size| {
                    let launch = &mut candidate.manifest.launch;
                    (if of_grid { &mut launch.grid } else { &mut launch.block })[axis] = size;
                };
                if read(best) > 1 && self.attempt(best, |candidate| set(candidate, 1)) {
                    continue;
                }
                let mut step = read(best) / 2;
                while step > 0 {
                    let size = read(best);
                    if size <= step || !self.attempt(best, |candidate| set(candidate, size - step))
                    {
                        step /= 2;
                    }
                }
            }
        }
    }

    /// Puts zeros into arguments and buffers.
    fn input(&mut self, best: &mut Candidate) {
        let mut piece = best.input.len().next_power_of_two();
        while piece > 0 && !best.input.is_empty() {
            for at in (0..best.input.len()).step_by(piece) {
                let end = best.input.len().min(at + piece);
                if best.input[at..end].iter().any(|&byte| byte != 0) {
                    self.attempt(best, |candidate| candidate.input[at..end].fill(0));
                }
                if self.is_over() {
                    return;
                }
            }
            // The last bytes of a number matter less than the time.
            piece = if piece > 4 { piece / 2 } else { 0 };
        }
    }

    /// Removes units of the code. Returns whether it is to go on.
    fn units(&mut self, best: &mut Candidate, show: &mut impl FnMut(usize) -> bool) -> bool {
        let mut piece = best.left().div_ceil(2);
        while piece > 0 {
            let mut changed = false;
            let mut at = 0;
            loop {
                let left: Vec<usize> = (0..best.kept.len()).filter(|&i| best.kept[i]).collect();
                if at >= left.len() {
                    break;
                }
                let going = &left[at..left.len().min(at + piece)];
                if self.attempt(best, |candidate| {
                    going.iter().for_each(|&unit| candidate.kept[unit] = false);
                }) {
                    changed = true;
                } else {
                    at += piece;
                }
                if self.is_over() || !show(best.left()) {
                    return false;
                }
            }
            piece = match (piece, changed) {
                (1, true) => 1,
                _ => piece / 2,
            };
        }
        true
    }
}

/// Returns the mnemonic of an instruction's text. A guard may stand before it.
fn mnemonic(text: &str) -> String {
    let guards = usize::from(text.starts_with(['@', '(']));
    text.split_whitespace().nth(guards).unwrap_or_default().to_owned()
}
