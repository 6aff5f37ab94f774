//! Runs of manifests.

use std::path::{Path, PathBuf};

use pyo3::prelude::*;
use pyo3::types::PyBytes;
use serde::Serialize;
use warploom_cache::Cache;
use warploom_replay::engine_run::{Checks, EngineRun, RunOptions, report};
use warploom_replay::report::Report;
use warploom_replay::{Launch, Session};

use super::failed;
use super::options::Options;

/// The outcome of a replay, as JSON.
#[derive(Serialize)]
struct Outcome {
    /// `ok`, `fault`, `mismatch`, `difference`, or `finding` of a check.
    outcome: &'static str,
    /// The fault, the first mismatch, the difference or the first finding.
    message: String,
    report: Report,
}

/// An array after a launch: the kind (`buffer`, `surface` or `variable`), the name, the element
/// type, the shape, and the content.
type Named<T> = (&'static str, String, &'static str, Vec<u64>, T);

/// Runs a manifest. Returns the outcome as JSON, and with `arrays` all results.
#[pyfunction]
pub fn replay<'py>(
    py: Python<'py>,
    manifest: PathBuf,
    arch: Option<&str>,
    options: &str,
    arrays: bool,
) -> PyResult<(String, Vec<Named<Bound<'py, PyBytes>>>)> {
    let options = Options::parse(options).map_err(failed)?;
    let arch = arch.map(str::parse).transpose().map_err(failed)?;
    let (json, results) = py.detach(|| {
        let mut launch = Launch::read(&manifest).map_err(failed)?;
        launch.arch = arch.or(launch.arch);
        run(&manifest, &launch, &options, arrays)
    })?;
    let to_python = |(kind, name, dtype, shape, bytes): Named<Vec<u8>>| {
        (kind, name, dtype, shape, PyBytes::new(py, &bytes))
    };
    Ok((json, results.into_iter().map(to_python).collect()))
}

fn run(
    path: &Path,
    launch: &Launch,
    options: &Options,
    arrays: bool,
) -> PyResult<(String, Vec<Named<Vec<u8>>>)> {
    let in_file = |error: warploom::Error| failed(format_args!("{}: {error}", path.display()));
    let cache = Cache::of_environment(|problem| eprintln!("warploom: {problem}"));
    let given = RunOptions {
        threads: options.threads,
        effort: options.effort().map_err(failed)?,
        instruction_limit: options.instruction_limit,
        time_limit: options.time_limit().map_err(failed)?,
        cache: cache.map(|cache| cache as _),
    };
    let start = |&engine| EngineRun::start(Session::new(launch)?, engine, &given, None);
    let runs = options.engine.kinds().iter().map(start).collect::<Result<Vec<_>, _>>();
    let runs = runs.map_err(in_file)?;
    let checks = Checks::of(&runs, launch).map_err(in_file)?;
    let first = &runs[0].first;
    let mismatch = checks.mismatches().next();
    let (mut outcome, mut message) = match (&first.fault, mismatch, checks.difference()) {
        (_, _, Some(difference)) => ("difference", format!("the engines differ: {difference}")),
        (Some(fault), _, None) => ("fault", fault.to_string()),
        (None, Some(mismatch), None) => ("mismatch", mismatch),
        (None, None, None) => ("ok", String::new()),
    };
    let printed = String::from_utf8_lossy(&first.printed.text).into_owned();
    let mut report = Report { printed: Some(printed), ..report(&runs, launch, &checks, vec![]) };
    let results = if arrays { results(launch, &runs[0].session).map_err(in_file)? } else { vec![] };
    let wanted = options.checks().map_err(failed)?;
    if !wanted.is_empty() {
        let findings = runs[0].checked(wanted).map_err(in_file)?.findings;
        if let (Some(finding), "ok") = (findings.first(), outcome) {
            (outcome, message) = ("finding", finding.to_string());
        }
        report.findings = findings.iter().map(Into::into).collect();
    }
    let json = serde_json::to_string(&Outcome { outcome, message, report }).map_err(failed)?;
    Ok((json, results))
}

/// Returns all buffers, surfaces and variables after a launch.
fn results(launch: &Launch, session: &Session<'_>) -> Result<Vec<Named<Vec<u8>>>, warploom::Error> {
    let mut all = vec![];
    for (i, one) in launch.buffers.iter().enumerate() {
        let content = session.buffer(i)?;
        all.push(("buffer", one.name.clone(), one.dtype.name(), one.shape.clone(), content));
    }
    for (i, one) in launch.surfaces.iter().enumerate() {
        let content = session.surface(i)?;
        all.push(("surface", one.name.clone(), one.dtype.name(), one.shape.clone(), content));
    }
    for (i, one) in launch.symbols.iter().enumerate() {
        let array = one.array(session.variable(i)?);
        all.push(("variable", one.name.clone(), array.dtype.name(), array.shape, array.bytes));
    }
    if let (Some(shader), Some(exported)) = (&launch.shader, session.exported()?) {
        for (name, array) in shader.arrays(&exported) {
            all.push(("export", name.to_string(), array.dtype.name(), array.shape, array.bytes));
        }
    }
    Ok(all)
}
