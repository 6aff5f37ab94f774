//! [`EngineRun`]: a captured launch on one engine. [`Checks`]: the comparisons of its results.

use std::sync::Arc;
use std::time::Duration;

use warploom::{CheckedLaunch, EngineKind, Error, Executed, LaunchOptions, LaunchOutcome};
use warploom_engine::{CodeStore, Effort};
use warploom_runtime::fault::FaultKind;
use warploom_runtime::launch::Counts;

use crate::compare::line_difference;
use crate::report::{ExpectReport, FaultReport, Report, SCHEMA, SteadyReport};
use crate::{Comparison, Expectation, Launch, Overrun, Run, Session, first_difference};

/// Options of a run that a manifest does not have, or that replace those of the manifest.
#[derive(Clone)]
pub struct RunOptions {
    /// Worker threads.
    pub threads: usize,
    pub effort: Effort,
    pub instruction_limit: Option<u64>,
    pub time_limit: Option<Duration>,
    /// Where the JIT keeps compiled code.
    pub cache: Option<Arc<dyn CodeStore>>,
}

impl Default for RunOptions {
    fn default() -> RunOptions {
        RunOptions {
            threads: 1,
            effort: Effort::Quick,
            instruction_limit: None,
            time_limit: None,
            cache: None,
        }
    }
}

/// Shows the number of finished parts and the number of all parts.
pub type Progress<'p> = &'p dyn Fn(u64, u64);

/// An engine's session of a launch, and its results.
pub struct EngineRun<'c> {
    pub engine: EngineKind,
    pub session: Session<'c>,
    pub options: LaunchOptions,
    /// The first launch's outcome. Its results are in the session's memory until the launch is
    /// repeated.
    pub first: LaunchOutcome,
    pub translate: Duration,
    pub kernel: Vec<Duration>,
}

impl<'c> EngineRun<'c> {
    /// Launches for the first time.
    ///
    /// # Errors
    /// The launch cannot take place.
    pub fn start(
        mut session: Session<'c>,
        engine: EngineKind,
        options: &RunOptions,
        progress: Option<Progress<'_>>,
    ) -> Result<EngineRun<'c>, Error> {
        if engine == EngineKind::Jit {
            session.set_cache(options.cache.clone());
        }
        let mut shape = session.options(engine, options.threads);
        shape.effort = options.effort;
        shape.instruction_limit = options.instruction_limit.or(shape.instruction_limit);
        shape.time_limit = options.time_limit.or(shape.time_limit);
        let first = session.launch(&shape, progress)?;
        let (translate, kernel) = (first.translate, vec![first.run]);
        Ok(EngineRun { engine, session, options: shape, first, translate, kernel })
    }

    /// Returns the first launch in a form that can be compared with another engine's.
    pub fn as_run(&self) -> Run<'_, 'c> {
        Run { session: &self.session, options: &self.options, outcome: &self.first }
    }

    /// Launches again until there are `launches` in all, each from the initial memory.
    ///
    /// # Errors
    /// A launch cannot take place.
    pub fn repeat(&mut self, launches: u32, progress: Progress<'_>) -> Result<(), Error> {
        for launch in 1..launches {
            if self.first.fault.is_some() {
                break;
            }
            self.session.reset()?;
            let outcome = self.session.launch(&self.options, None)?;
            self.kernel.push(outcome.run);
            self.translate += outcome.translate;
            progress(launch.into(), launches.into());
        }
        Ok(())
    }

    /// Counts the second half of a launch's instructions, except the last tenth.
    ///
    /// It subtracts a launch that stops after half of the instructions from a launch that stops
    /// after nine tenths. Both ends are left out because helpers find memory when code first
    /// reaches it, and because warps with few lanes come last.
    ///
    /// # Errors
    /// A launch cannot take place.
    pub fn steady(&self) -> Result<SteadyReport, Error> {
        let launch = |limit| {
            self.session.reset()?;
            let options = LaunchOptions { instruction_limit: Some(limit), ..self.options.clone() };
            self.session.launch(&options, None).map(|outcome| outcome.counts)
        };
        let all = self.first.counts.instructions;
        let (early, late) = (launch(all / 2)?, launch(all / 10 * 9)?);
        let between = |of: fn(&Counts) -> u64| of(&late).saturating_sub(of(&early));
        Ok(SteadyReport {
            instructions: between(|counts| counts.instructions),
            helper_calls: between(|counts| counts.helper_calls),
            interp_instructions: between(|counts| counts.interp_instructions),
        })
    }

    /// Runs once more and checks accesses: [`Session::checked`].
    ///
    /// # Errors
    /// The launch cannot take place.
    pub fn checked(&self, checks: warploom::Checks) -> Result<CheckedLaunch, Error> {
        self.session.reset()?;
        self.session.checked(&self.options, checks)
    }

    /// Runs once more and counts executed instructions.
    ///
    /// # Errors
    /// The launch cannot take place.
    pub fn profile(&self) -> Result<Vec<Executed>, Error> {
        self.session.reset()?;
        self.session.profile(&self.options)
    }
}

/// A result beside its expectation.
#[derive(Clone, Debug)]
pub struct Compared<'l> {
    /// `buffer`, `surface`, `variable` or `export`.
    pub kind: &'static str,
    pub name: &'l str,
    pub comparison: Comparison,
}

/// The outcome of comparing two engines.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Agreement {
    /// Only one engine ran.
    OneEngine,
    /// A limit stopped an engine at a point that the other engine need not stop at.
    Stopped,
    Agree,
    /// The first difference.
    Differ(String),
}

/// The comparisons of the results of one or two engines.
#[derive(Clone, Debug)]
pub struct Checks<'l> {
    /// None after a fault.
    pub compared: Vec<Compared<'l>>,
    /// The first difference between the printed text and the expected text. The outer `None`: there
    /// is no expected text, or there was a fault.
    pub printed: Option<Option<String>>,
    pub engines: Agreement,
    /// Buffers that the first engine has stored behind.
    pub overruns: Vec<Overrun<'l>>,
}

impl<'l> Checks<'l> {
    /// Compares the results of the first engine with the expectations, and both engines.
    ///
    /// # Errors
    /// The results cannot be read.
    pub fn of(runs: &[EngineRun<'l>], launch: &'l Launch) -> Result<Checks<'l>, Error> {
        let first = &runs[0].first;
        let (compared, printed) = match &first.fault {
            Some(_) => (vec![], None),
            None => {
                let expected = launch.printf.expect.as_ref();
                let compare = |text: &Vec<u8>| line_difference(&first.printed.text, text);
                (compare_with_expected(&runs[0].session, launch)?, expected.map(compare))
            }
        };
        let (engines, overruns) = (agreement(runs)?, runs[0].session.overruns()?);
        Ok(Checks { compared, printed, engines, overruns })
    }

    /// Returns the results that are not as expected, as text.
    pub fn mismatches(&self) -> impl Iterator<Item = String> {
        let wrong = self.compared.iter().filter(|one| one.comparison.mismatches > 0);
        let text =
            |Compared { kind, name, comparison }: &_| format!("{kind} `{name}`: {comparison}");
        let printed = self.printed.iter().flatten();
        wrong.map(text).chain(printed.map(|difference| format!("printf: {difference}")))
    }

    /// Returns the difference between the engines.
    pub fn difference(&self) -> Option<&str> {
        match &self.engines {
            Agreement::Differ(difference) => Some(difference),
            Agreement::OneEngine | Agreement::Stopped | Agreement::Agree => None,
        }
    }
}

fn agreement(runs: &[EngineRun<'_>]) -> Result<Agreement, Error> {
    let [a, b] = runs else { return Ok(Agreement::OneEngine) };
    // Runs do not stop at equal points at a time limit, or with several threads at an instruction
    // limit.
    let is_stopped = |run: &EngineRun<'_>| match run.first.fault.as_ref().map(|fault| fault.kind())
    {
        Some(FaultKind::TimeExceeded) => true,
        Some(FaultKind::BudgetExceeded) => run.options.threads > 1,
        _ => false,
    };
    if is_stopped(a) || is_stopped(b) {
        return Ok(Agreement::Stopped);
    }
    let difference = first_difference(&a.as_run(), &b.as_run())?;
    Ok(difference.map_or(Agreement::Agree, Agreement::Differ))
}

/// Returns the report of one or two engines' runs of a launch. `executed` are the instructions of
/// [`EngineRun::profile`].
pub fn report(
    runs: &[EngineRun<'_>],
    launch: &Launch,
    checks: &Checks<'_>,
    executed: Vec<Executed>,
) -> Report {
    let run = &runs[0];
    let counts = run.first.counts;
    Report {
        schema: SCHEMA,
        manifest: launch.path.display().to_string(),
        kernel: run.session.kernel().map_or(String::new(), |k| k.name().to_string()),
        engine: if runs.len() == 2 { "both" } else { run.engine.name() },
        threads: run.options.threads,
        grid: run.options.grid,
        block: run.options.block,
        translate_ns: run.translate.as_nanos() as u64,
        found_in_cache: run.first.found_in_cache,
        kernel_ns: run.kernel.iter().map(|d| d.as_nanos() as u64).collect(),
        instructions: counts.instructions,
        lane_instructions: counts.lane_instructions,
        helper_calls: counts.helper_calls,
        interp_instructions: counts.interp_instructions,
        steady: None,
        blocks_done: run.first.blocks_done,
        printed: None,
        printed_bytes: run.first.printed.text.len(),
        prints_dropped: run.first.printed.dropped,
        uncompiled: run.first.uncompiled.clone(),
        rules: run.first.firings.iter().collect(),
        faults: run.first.fault.iter().map(FaultReport::from).collect(),
        fidelity: executed.into_iter().map(Into::into).collect(),
        expect: checks.compared.iter().map(ExpectReport::of).collect(),
        difference: checks.difference().map(str::to_owned),
        engines_agree: match checks.engines {
            Agreement::Agree => Some(true),
            Agreement::Differ(_) => Some(false),
            Agreement::OneEngine | Agreement::Stopped => None,
        },
        overruns: checks.overruns.iter().map(ToString::to_string).collect(),
        findings: vec![],
    }
}

/// Compares buffers, surfaces, variables and exports with their expectations.
///
/// # Errors
/// The results cannot be read.
pub fn compare_with_expected<'l>(
    session: &Session<'_>,
    launch: &'l Launch,
) -> Result<Vec<Compared<'l>>, Error> {
    let mut all = Vec::new();
    for (i, buffer) in launch.buffers.iter().enumerate() {
        let Some(Expectation { array, tolerance, .. }) = &buffer.expect else { continue };
        let mut comparison = Comparison::default();
        let add = |at: usize, got: &[u8]| {
            comparison.add(got, &array.bytes[at..][..got.len()], array.dtype, *tolerance);
        };
        session.read_buffer(i, add)?;
        all.push(Compared { kind: "buffer", name: &buffer.name, comparison });
    }
    for (i, surface) in launch.surfaces.iter().enumerate() {
        let Some(Expectation { array, tolerance, .. }) = &surface.expect else { continue };
        let texels = session.surface(i)?;
        let comparison = crate::compare(&texels, array, *tolerance);
        all.push(Compared { kind: "surface", name: &surface.name, comparison });
    }
    for (i, symbol) in launch.symbols.iter().enumerate() {
        let Some(Expectation { array, tolerance, .. }) = &symbol.expect else { continue };
        let content = session.variable(i)?;
        let comparison = crate::compare(&content[..array.bytes.len()], array, *tolerance);
        all.push(Compared { kind: "variable", name: &symbol.name, comparison });
    }
    if let (Some(shader), Some(exported)) = (&launch.shader, session.exported()?) {
        all.extend(shader.compare(&exported).into_iter().map(|(name, comparison)| Compared {
            kind: "export",
            name,
            comparison,
        }));
    }
    Ok(all)
}
