//! Compares the results of two launches of one captured launch.

use warploom::{Error, Fault, LaunchOptions, LaunchOutcome};

use super::Session;
use crate::compare::line_difference;
use crate::{Comparison, Dtype, Tolerance};

/// A finished launch. Its results are in the session's memory.
#[derive(Clone, Copy)]
pub struct Run<'r, 'c> {
    pub session: &'r Session<'c>,
    pub options: &'r LaunchOptions,
    pub outcome: &'r LaunchOutcome,
}

/// Returns the first difference between two launches of one manifest.
///
/// It compares faults, buffers, surfaces, variables that the manifest names, exports, printed text
/// and counts.
pub fn first_difference(a: &Run<'_, '_>, b: &Run<'_, '_>) -> Result<Option<String>, Error> {
    let (name_a, name_b) = (a.options.engine, b.options.engine);
    let say = |fault: &Option<Fault>| fault.as_ref().map_or("no fault".into(), Fault::to_string);
    if a.outcome.fault != b.outcome.fault {
        return Ok(Some(format!(
            "{name_a}: {}; {name_b}: {}",
            say(&a.outcome.fault),
            say(&b.outcome.fault)
        )));
    }
    let launch = a.session.captured();
    for (i, buffer) in launch.buffers.iter().enumerate() {
        let mut comparison = Comparison::default();
        a.session.read_buffer_beside(b.session, i, |of_a, of_b| {
            comparison.add(of_a, of_b, buffer.dtype, Tolerance::default());
        })?;
        if let Some(first) = &comparison.first {
            return Ok(Some(format!(
                "buffer `{}`: {} of {} elements, first element {}: {name_a} {}, {name_b} {}",
                buffer.name,
                comparison.mismatches,
                comparison.elements,
                first.index,
                first.got,
                first.expected
            )));
        }
    }
    for (i, surface) in launch.surfaces.iter().enumerate() {
        let (of_a, of_b) = (a.session.surface(i)?, b.session.surface(i)?);
        if let Some(at) = of_a.iter().zip(&of_b).position(|(a, b)| a != b) {
            let (name, a, b) = (&surface.name, of_a[at], of_b[at]);
            return Ok(Some(format!(
                "surface `{name}`: byte {at} of its texels: {name_a} {a:#04x}, {name_b} {b:#04x}"
            )));
        }
    }
    for (i, symbol) in launch.symbols.iter().enumerate() {
        let mut comparison = Comparison::default();
        comparison.add(
            &a.session.variable(i)?,
            &b.session.variable(i)?,
            Dtype::U8,
            Tolerance::default(),
        );
        if let Some(first) = &comparison.first {
            let (name, at) = (&symbol.name, first.index);
            return Ok(Some(format!(
                "variable `{name}`: byte {at}: {name_a} {}, {name_b} {}",
                first.got, first.expected
            )));
        }
    }
    if let (Some(of_a), Some(of_b), Some(shader)) =
        (a.session.exported()?, b.session.exported()?, &launch.shader)
    {
        if let Some(row) = of_a.emitted.iter().zip(&of_b.emitted).position(|(a, b)| a != b) {
            let (a, b) = (&of_a.emitted[row], &of_b.emitted[row]);
            return Ok(Some(format!(
                "vertices that thread {row} emits: {name_a} {a:x?}, {name_b} {b:x?}"
            )));
        }
        if let Some(lane) = of_a.kept.iter().zip(&of_b.kept).position(|(a, b)| a != b) {
            let (a, b) = (of_a.kept[lane], of_b.kept[lane]);
            return Ok(Some(format!("lane {lane} is kept: {name_a} {a}, {name_b} {b}")));
        }
        for ((target, a), b) in shader.exports.iter().zip(&of_a.targets).zip(&of_b.targets) {
            if let Some(lane) = a.iter().zip(b).position(|(a, b)| a != b) {
                let (name, a, b) = (&target.name, &a[lane], &b[lane]);
                return Ok(Some(format!(
                    "export `{name}`, lane {lane}: {name_a} {a:x?}, {name_b} {b:x?}"
                )));
            }
        }
    }
    if let Some(difference) = line_difference(&a.outcome.printed.text, &b.outcome.printed.text) {
        return Ok(Some(format!("printf, {name_a} against {name_b}: {difference}")));
    }
    let counts =
        |run: &Run<'_, '_>| (run.outcome.counts.instructions, run.outcome.counts.lane_instructions);
    // With several workers, other warps determine how long a warp spins. After a fault, counts
    // depend on when the other workers notice it. How long a block waits for another block depends
    // on the engine.
    let alone = a.options.threads == 1 && b.options.threads == 1;
    let comparable = alone && a.outcome.fault.is_none() && !a.outcome.spun && !b.outcome.spun;
    Ok((comparable && counts(a) != counts(b)).then(|| {
        format!(
            "instructions and lane-instructions: {name_a} {:?}, {name_b} {:?}",
            counts(a),
            counts(b)
        )
    }))
}
