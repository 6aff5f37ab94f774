//! A launch on one engine: what `warploom run` does with it.

use std::path::Path;
use std::time::Duration;

use super::progress::Progress;
use super::run::Options;
use super::{Error, session};
use crate::capture::array::Array;
use crate::capture::{self, Comparison, Expectation, Launch, Tolerance};
use crate::exec::{EngineKind, Executed, Fault, LaunchOptions, LaunchOutcome, Session};

/// What one engine makes of the launch.
pub struct EngineRun<'c> {
    pub engine: EngineKind,
    pub session: Session<'c>,
    pub options: LaunchOptions,
    /// Its results are in the session's memory until the launch is repeated.
    pub first: LaunchOutcome,
    pub translate: Duration,
    pub kernel: Vec<Duration>,
}

impl<'c> EngineRun<'c> {
    /// Launches for the first time.
    pub fn start(options: &Options, launch: &'c Launch, engine: EngineKind) -> Result<EngineRun<'c>, Error> {
        let failed = |e| Error::exec(&launch.path)(e);
        let session = session(launch)?;
        let mut shape = session.options(engine, options.threads.into());
        shape.instruction_limit = options.instruction_limit.or(shape.instruction_limit);
        shape.time_limit = options.time_limit.or(shape.time_limit);
        let bar = Progress::new(format!("{} ({engine})", session.kernel().map_err(failed)?.name()));
        let first = session.launch(&shape, Some(&|done, total| bar.show(done, total))).map_err(failed)?;
        let (translate, kernel) = (first.translate, vec![first.run]);
        Ok(EngineRun { engine, session, options: shape, first, translate, kernel })
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

    /// The buffers and surfaces that have an expectation, against it: what it is, its name, and how it compares.
    pub fn compare<'l>(&self, launch: &'l Launch) -> Result<Vec<(&'static str, &'l str, Comparison)>, Error> {
        let mut all = Vec::new();
        for (i, buffer) in launch.buffers.iter().enumerate() {
            let Some(Expectation { array, tolerance, .. }) = &buffer.expect else { continue };
            let mut comparison = Comparison::default();
            let add = |at: usize, got: &[u8]| {
                comparison.add(got, &array.bytes[at..][..got.len()], array.dtype, *tolerance);
            };
            self.session.read_buffer(i, add).map_err(Error::exec(&launch.path))?;
            all.push(("buffer", buffer.name.as_str(), comparison));
        }
        for (i, surface) in launch.surfaces.iter().enumerate() {
            let Some(Expectation { array, tolerance, .. }) = &surface.expect else { continue };
            let mut comparison = Comparison::default();
            let texels = self.session.surface(i).map_err(Error::exec(&launch.path))?;
            comparison.add(&texels, &array.bytes, array.dtype, *tolerance);
            all.push(("surface", surface.name.as_str(), comparison));
        }
        Ok(all)
    }

    /// Writes what changed; the names of the files.
    pub fn write_buffers(&self, out: &Path, launch: &Launch) -> Result<Vec<String>, Error> {
        let failed = |e| Error::exec(&launch.path)(e);
        let mut names = Vec::new();
        for (i, buffer) in launch.buffers.iter().enumerate() {
            if !self.session.has_changed(i).map_err(failed)? {
                continue;
            }
            let name = format!("{}.npy", buffer.name);
            capture::write::file(&out.join(&name), |into| {
                capture::npy::write_pieces(buffer.dtype, &buffer.shape, into, &mut |sink| {
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
                let image = capture::image::draw(png, &bytes).map_err(Error::Other)?;
                capture::write::file(&out.join(&name), |into| into.write_all(&image))?;
                names.push(name);
            }
        }
        for (i, surface) in launch.surfaces.iter().enumerate() {
            let Some(bytes) = self.session.changed_surface(i).map_err(failed)? else { continue };
            if surface.description.png {
                let name = format!("{}.png", surface.name);
                let image = capture::surface::draw(surface, &bytes).map_err(Error::Other)?;
                capture::write::file(&out.join(&name), |into| into.write_all(&image))?;
                names.push(name);
            }
            let name = format!("{}.npy", surface.name);
            let array = Array { dtype: surface.dtype, shape: surface.shape.clone(), bytes };
            capture::write::array(&out.join(&name), &array)?;
            names.push(name);
        }
        Ok(names)
    }

    /// Runs once more and counts.
    pub fn profile(&self) -> Result<Vec<Executed>, Error> {
        let failed = |e| Error::Other(format!("profile: {e}"));
        self.session.reset().map_err(failed)?;
        self.session.profile(&self.options).map_err(failed)
    }
}

/// The first line in which a text is not as expected.
pub fn printed_difference(found: &[u8], expected: &[u8]) -> Option<String> {
    let (mut found, mut expected) = (found.split_inclusive(|&c| c == b'\n'), expected.split_inclusive(|&c| c == b'\n'));
    let say = |line: Option<&[u8]>| match line {
        Some(line) => format!("`{}`", String::from_utf8_lossy(line).trim_end_matches('\n')),
        None => "no such line".into(),
    };
    (1..).find_map(|number| match (found.next(), expected.next()) {
        (None, None) => Some(None),
        (a, b) if a == b => None,
        (a, b) => Some(Some(format!("line {number}: {}, expected {}", say(a), say(b)))),
    })?
}

/// What two engines disagree about first.
pub fn first_difference(launch: &Launch, a: &EngineRun<'_>, b: &EngineRun<'_>) -> Result<Option<String>, Error> {
    let failed = |e| Error::exec(&launch.path)(e);
    let (name_a, name_b) = (a.engine, b.engine);
    let say = |fault: &Option<Fault>| fault.as_ref().map_or("no fault".into(), Fault::to_string);
    if a.first.fault != b.first.fault {
        return Ok(Some(format!("{name_a}: {}; {name_b}: {}", say(&a.first.fault), say(&b.first.fault))));
    }
    for (i, buffer) in launch.buffers.iter().enumerate() {
        let other = b.session.buffer(i).map_err(failed)?;
        let mut comparison = Comparison::default();
        let add = |at: usize, got: &[u8]| {
            comparison.add(got, &other[at..][..got.len()], buffer.dtype, Tolerance::default());
        };
        a.session.read_buffer(i, add).map_err(failed)?;
        if let Some(first) = &comparison.first {
            return Ok(Some(format!(
                "buffer `{}`: {} of {} elements, first element {}: {name_a} {}, {name_b} {}",
                buffer.name, comparison.mismatches, comparison.elements, first.index, first.got, first.expected
            )));
        }
    }
    for (i, surface) in launch.surfaces.iter().enumerate() {
        let [of_a, of_b] = [a, b].map(|run| run.session.surface(i).map_err(failed));
        let (of_a, of_b) = (of_a?, of_b?);
        if let Some(at) = of_a.iter().zip(&of_b).position(|(a, b)| a != b) {
            let (name, a, b) = (&surface.name, of_a[at], of_b[at]);
            return Ok(Some(format!(
                "surface `{name}`: byte {at} of its texels: {name_a} {a:#04x}, {name_b} {b:#04x}"
            )));
        }
    }
    if let Some(difference) = printed_difference(&a.first.printed.text, &b.first.printed.text) {
        return Ok(Some(format!("printf, {name_a} against {name_b}: {difference}")));
    }
    let counts = |run: &EngineRun<'_>| (run.first.counts.instructions, run.first.counts.lane_instructions);
    // With several workers, how long a warp spins depends on the others; after a fault, on when they noticed.
    let comparable = a.first.fault.is_none() && a.options.threads == 1;
    Ok((comparable && counts(a) != counts(b))
        .then(|| format!("instructions and lane-instructions: {name_a} {:?}, {name_b} {:?}", counts(a), counts(b))))
}
