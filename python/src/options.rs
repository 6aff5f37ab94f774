//! The options of launches and replays, as JSON.

use std::time::Duration;

use serde::Deserialize;
use warploom::{Checks, EngineKind, LaunchOptions};
use warploom_engine::Effort;

#[derive(Clone, Copy, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub enum Engine {
    Jit,
    Interp,
    Both,
}

impl Engine {
    pub fn kinds(self) -> &'static [EngineKind] {
        match self {
            Engine::Jit => &[EngineKind::Jit],
            Engine::Interp => &[EngineKind::Interp],
            Engine::Both => &[EngineKind::Jit, EngineKind::Interp],
        }
    }
}

/// Options that launches and replays share. A field that is absent has the default of
/// [`LaunchOptions`] or of the manifest.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Options {
    pub engine: Engine,
    pub threads: usize,
    pub effort: String,
    pub instruction_limit: Option<u64>,
    /// In seconds.
    pub time_limit: Option<f64>,
    #[serde(default)]
    pub shared_bytes: u32,
    pub stack_bytes: Option<u32>,
    pub heap_bytes: Option<u64>,
    pub printf_bytes: Option<usize>,
    #[serde(default)]
    pub cooperative: bool,
    #[serde(default)]
    check: Vec<String>,
}

/// The most worker threads, as for the command.
const MOST_THREADS: usize = 1024;

impl Options {
    /// Reads options.
    ///
    /// # Errors
    /// A value is of another type or out of range.
    pub fn parse(json: &str) -> Result<Options, String> {
        let options: Options = serde_json::from_str(json).map_err(|e| format!("options: {e}"))?;
        if !(1..=MOST_THREADS).contains(&options.threads) {
            return Err(format!("{} threads: expected 1 to {MOST_THREADS}", options.threads));
        }
        options.effort()?;
        options.checks()?;
        options.time_limit()?;
        Ok(options)
    }

    /// Returns the checks of accesses.
    pub fn checks(&self) -> Result<Checks, String> {
        if self.check.is_empty() {
            return Ok(Checks::default());
        }
        let names = Checks::NAMES.join(", ");
        let wanted = Checks::named(&self.check.join(","));
        wanted.ok_or_else(|| format!("check {:?}: expected some of {names}", self.check))
    }

    pub fn effort(&self) -> Result<Effort, String> {
        let found = Effort::ALL.into_iter().find(|effort| effort.name() == self.effort);
        found.ok_or_else(|| {
            let names = Effort::ALL.map(Effort::name).join(", ");
            format!("effort `{}`: expected one of {names}", self.effort)
        })
    }

    pub fn time_limit(&self) -> Result<Option<Duration>, String> {
        let wrong = |seconds| format!("time limit {seconds}: expected more than 0 seconds");
        let limit = |seconds| {
            let limit = Duration::try_from_secs_f64(seconds).ok().filter(|limit| !limit.is_zero());
            limit.ok_or_else(|| wrong(seconds))
        };
        self.time_limit.map(limit).transpose()
    }

    /// Returns the options of a launch on one engine.
    pub fn of_launch(&self, grid: [u32; 3], block: [u32; 3]) -> Result<LaunchOptions, String> {
        let &[engine] = self.engine.kinds() else {
            return Err("engine `both`: a launch runs on jit or interp; replay takes both".into());
        };
        let defaults = LaunchOptions::new(grid, block);
        Ok(LaunchOptions {
            engine,
            threads: self.threads,
            effort: self.effort()?,
            instruction_limit: self.instruction_limit,
            time_limit: self.time_limit()?,
            shared_bytes: self.shared_bytes,
            stack_bytes: self.stack_bytes,
            heap_bytes: self.heap_bytes.unwrap_or(defaults.heap_bytes),
            printf_bytes: self.printf_bytes.unwrap_or(defaults.printf_bytes),
            cooperative: self.cooperative,
            ..defaults
        })
    }
}
