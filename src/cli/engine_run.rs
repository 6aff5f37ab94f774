//! A launch on one engine, with the actions of `warploom run`.

use std::path::Path;
use std::time::Duration;

use warploom::{EngineKind, Executed, LaunchOptions, LaunchOutcome};
use warploom_replay::array::Array;
use warploom_replay::{Comparison, Dtype, Expectation, Launch, Run, Session};
use warploom_runtime::launch::Counts;

use super::progress::Progress;
use super::report::SteadyReport;
use super::run::Options;
use super::{Error, session};

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
    pub fn start(
        options: &Options,
        launch: &'c Launch,
        engine: EngineKind,
    ) -> Result<EngineRun<'c>, Error> {
        let failed = |e| Error::exec(&launch.path)(e);
        let mut session = session(launch)?;
        if engine == EngineKind::Jit {
            session.set_cache(super::cache::of_environment().map(|cache| cache as _));
        }
        let mut shape = session.options(engine, options.threads.into());
        shape.effort = options.effort;
        shape.instruction_limit = options.instruction_limit.or(shape.instruction_limit);
        shape.time_limit = options.time_limit.or(shape.time_limit);
        let bar = Progress::new(format!("{} ({engine})", session.kernel().map_err(failed)?.name()));
        let first =
            session.launch(&shape, Some(&|done, total| bar.show(done, total))).map_err(failed)?;
        let (translate, kernel) = (first.translate, vec![first.run]);
        Ok(EngineRun { engine, session, options: shape, first, translate, kernel })
    }

    /// Returns the first launch in a form that can be compared with another engine's.
    pub fn as_run(&self) -> Run<'_, 'c> {
        Run { session: &self.session, options: &self.options, outcome: &self.first }
    }

    /// Launches again until there are `launches` in all.
    pub fn repeat(&mut self, launches: u32) -> Result<(), Error> {
        let failed = |e| Error::Other(format!("a repeated launch: {e}"));
        let bar = Progress::new(format!("{} launches ({})", launches, self.engine));
        for launch in 1..launches {
            if self.first.fault.is_some() {
                break;
            }
            self.session.reset().map_err(failed)?;
            let outcome = self.session.launch(&self.options, None).map_err(failed)?;
            self.kernel.push(outcome.run);
            self.translate += outcome.translate;
            bar.show(launch.into(), launches.into());
        }
        Ok(())
    }

    /// Writes changed buffers, surfaces, variables and exports. Returns the names of the files.
    pub fn write_buffers(&self, out: &Path, launch: &Launch) -> Result<Vec<String>, Error> {
        let failed = |e| Error::exec(&launch.path)(e);
        let mut names = Vec::new();
        for (i, buffer) in launch.buffers.iter().enumerate() {
            if !self.session.has_changed(i).map_err(failed)? {
                continue;
            }
            let name = format!("{}.npy", buffer.name);
            warploom_replay::write::file(&out.join(&name), |into| {
                warploom_replay::npy::write_pieces(buffer.dtype, &buffer.shape, into, &mut |sink| {
                    let mut result = Ok(());
                    let write = |_: usize, piece: &[u8]| {
                        if result.is_ok() {
                            result = sink(piece);
                        }
                    };
                    self.session.read_buffer(i, write).map_err(std::io::Error::other)?;
                    result
                })
            })?;
            names.push(name);
            if let Some(png) = &buffer.png {
                let name = format!("{}.png", buffer.name);
                let bytes = self.session.buffer(i).map_err(failed)?;
                let image = warploom_replay::image::draw(png, &bytes).map_err(Error::Other)?;
                warploom_replay::write::file(&out.join(&name), |into| into.write_all(&image))?;
                names.push(name);
            }
        }
        for (i, surface) in launch.surfaces.iter().enumerate() {
            let Some(bytes) = self.session.changed_surface(i).map_err(failed)? else { continue };
            if surface.description.png {
                let name = format!("{}.png", surface.name);
                let image =
                    warploom_replay::surface::draw(surface, &bytes).map_err(Error::Other)?;
                warploom_replay::write::file(&out.join(&name), |into| into.write_all(&image))?;
                names.push(name);
            }
            let name = format!("{}.npy", surface.name);
            let array = Array { dtype: surface.dtype, shape: surface.shape.clone(), bytes };
            warploom_replay::write::array(&out.join(&name), &array)?;
            names.push(name);
        }
        for (i, symbol) in launch.symbols.iter().enumerate() {
            let Some(bytes) = self.session.changed_variable(i).map_err(failed)? else { continue };
            let name = format!("{}.npy", symbol.name);
            // The size of a variable need not be a multiple of the element's.
            let dtype = Some(symbol.dtype)
                .filter(|dtype| bytes.len() % dtype.bytes() == 0)
                .unwrap_or(Dtype::U8);
            warploom_replay::write::array(&out.join(&name), &Array::flat(dtype, bytes))?;
            names.push(name);
        }
        if let (Some(shader), Some(exported)) =
            (&launch.shader, self.session.exported().map_err(failed)?)
        {
            for (name, array) in shader.arrays(&exported) {
                let name = format!("{name}.npy");
                warploom_replay::write::array(&out.join(&name), &array)?;
                names.push(name);
            }
            if let Some(picture) = shader.picture {
                let name = format!("{}.png", shader.colour_name());
                let image = shader.draw(picture, &exported).map_err(Error::Other)?;
                warploom_replay::write::file(&out.join(&name), |into| into.write_all(&image))?;
                names.push(name);
            }
        }
        Ok(names)
    }

    /// Counts the second half of a launch's instructions, except the last tenth.
    ///
    /// It subtracts a launch that stops after half of the instructions from a launch that stops
    /// after nine tenths. Both ends are left out because helpers find memory when code first
    /// reaches it, and because warps with few lanes come last.
    pub fn steady(&self) -> Result<SteadyReport, Error> {
        let failed = |e| Error::Other(format!("a launch of which a part is counted: {e}"));
        let launch = |limit| {
            self.session.reset()?;
            let options = LaunchOptions { instruction_limit: Some(limit), ..self.options.clone() };
            self.session.launch(&options, None).map(|outcome| outcome.counts)
        };
        let all = self.first.counts.instructions;
        let (early, late) =
            (launch(all / 2).map_err(failed)?, launch(all / 10 * 9).map_err(failed)?);
        let between = |of: fn(&Counts) -> u64| of(&late).saturating_sub(of(&early));
        Ok(SteadyReport {
            instructions: between(|counts| counts.instructions),
            helper_calls: between(|counts| counts.helper_calls),
            interp_instructions: between(|counts| counts.interp_instructions),
        })
    }

    /// Runs once more and counts executed instructions.
    pub fn profile(&self) -> Result<Vec<Executed>, Error> {
        let failed = |e| Error::Other(format!("profile: {e}"));
        self.session.reset().map_err(failed)?;
        self.session.profile(&self.options).map_err(failed)
    }
}

/// Compares buffers, surfaces, variables and exports with their expectations.
///
/// Returns the kind, the name and the comparison of each.
pub fn compare_with_expected<'l>(
    session: &Session<'_>,
    launch: &'l Launch,
) -> Result<Vec<(&'static str, &'l str, Comparison)>, Error> {
    let mut all = Vec::new();
    for (i, buffer) in launch.buffers.iter().enumerate() {
        let Some(Expectation { array, tolerance, .. }) = &buffer.expect else { continue };
        let mut comparison = Comparison::default();
        let add = |at: usize, got: &[u8]| {
            comparison.add(got, &array.bytes[at..][..got.len()], array.dtype, *tolerance);
        };
        session.read_buffer(i, add).map_err(Error::exec(&launch.path))?;
        all.push(("buffer", buffer.name.as_str(), comparison));
    }
    for (i, surface) in launch.surfaces.iter().enumerate() {
        let Some(Expectation { array, tolerance, .. }) = &surface.expect else { continue };
        let texels = session.surface(i).map_err(Error::exec(&launch.path))?;
        let comparison = warploom_replay::compare(&texels, array, *tolerance);
        all.push(("surface", surface.name.as_str(), comparison));
    }
    for (i, symbol) in launch.symbols.iter().enumerate() {
        let Some(Expectation { array, tolerance, .. }) = &symbol.expect else { continue };
        let content = session.variable(i).map_err(Error::exec(&launch.path))?;
        let comparison = warploom_replay::compare(&content[..array.bytes.len()], array, *tolerance);
        all.push(("variable", symbol.name.as_str(), comparison));
    }
    if let (Some(shader), Some(exported)) =
        (&launch.shader, session.exported().map_err(Error::exec(&launch.path))?)
    {
        all.extend(
            shader
                .compare(&exported)
                .into_iter()
                .map(|(name, comparison)| ("export", name, comparison)),
        );
    }
    Ok(all)
}
