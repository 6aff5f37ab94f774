//! A plain instruction stream: the kernel's parameters have the initial state of its waves.

use std::collections::BTreeMap;

use warploom_container::{
    ExportTarget, Function, Parameter, RawKernel, ScalarStart, ShaderArray, Stage, VectorStart,
};
use warploom_gfx9::lift::graphics::{Emitted, Shader, WordSource};
use warploom_gfx9::lift::{Initial, InitialScalar, InitialVector};
use warploom_runtime::launch::ConstBank;

use super::{Environment, Launching, bank, system_sgpr, wave_scratch};
use crate::Error;

/// Returns the registers of a wave when it starts.
pub(super) fn initial(raw: &RawKernel, function: &Function) -> Initial {
    let mut initial = Initial::default();
    // The offsets in the bank of a parameter's words.
    let words = |param: usize| {
        let (offset, size) =
            function.params.get(param).map_or((0, 0), |param| (param.offset, param.size));
        (0..size / 4).map(move |word| bank::PARAMS + offset + 4 * word)
    };
    for &(first, start) in &raw.sgpr {
        match start {
            ScalarStart::Param(param) => {
                initial.scalars.extend((first..).zip(words(param).map(InitialScalar::Constant)));
            }
            ScalarStart::Warps(param) => {
                initial
                    .scalars
                    .extend(words(param).next().map(|at| (first, InitialScalar::Warps(at))));
            }
            ScalarStart::System(sgpr) => initial.scalars.push((first, system_sgpr(sgpr))),
        }
    }
    for &(first, start) in &raw.vgpr {
        match start {
            VectorStart::Param(param) => {
                initial
                    .vectors
                    .extend((first..=u8::MAX).zip(words(param).map(InitialVector::Constant)));
            }
            VectorStart::Lanes(param) => {
                initial
                    .vectors
                    .extend(words(param).next().map(|at| (first, InitialVector::Array(at))));
            }
            VectorStart::Row(param) => {
                initial
                    .vectors
                    .extend(words(param).next().map(|at| (first, InitialVector::Row(at))));
            }
            VectorStart::WorkItemId(axis) => {
                initial.vectors.push((first, InitialVector::WorkItem(axis)))
            }
        }
    }
    initial.shader = function.shader.as_ref().map(|kernel| {
        let place = |array| kernel.arrays.get(&array).and_then(|&param| words(param).next());
        let export = |array: &ShaderArray| match *array {
            ShaderArray::Export(target, component) => {
                Some(((target_number(target)?, component), place(*array)?))
            }
            _ => None,
        };
        let row = |array: &ShaderArray| match *array {
            ShaderArray::Parameter(parameter) => Some((parameter, WordSource::Row(place(*array)?))),
            _ => None,
        };
        let mut parameters: BTreeMap<_, _> = kernel.arrays.keys().filter_map(row).collect();
        let uniform =
            kernel.parameters.into_iter().flat_map(|param| Parameter::all().zip(words(param)));
        parameters.extend(uniform.map(|(parameter, at)| (parameter, WordSource::Word(at))));
        Shader {
            fragment: kernel.stage == Stage::Fragment,
            slot_bytes: kernel.slot_bytes,
            covered: place(ShaderArray::Covered),
            written: place(ShaderArray::Written),
            attributes: kernel.attributes,
            parameters,
            exports: kernel.arrays.keys().filter_map(export).collect(),
            emitted: place(ShaderArray::Emitted).zip(place(ShaderArray::NextVertex)).map(
                |(rows, next)| Emitted {
                    rows,
                    stride: kernel.stride,
                    most: kernel.max_vertices,
                    next,
                },
            ),
        }
    });
    initial
}

/// Returns the number of a target in the instruction.
fn target_number(target: ExportTarget) -> Option<u8> {
    match target {
        ExportTarget::Colour(number) => Some(number),
        ExportTarget::Depth => Some(8),
        ExportTarget::Position(number) => Some(12 + number),
        ExportTarget::Parameter(number) => Some(32 + number),
        ExportTarget::SampleMask
        | ExportTarget::Attribute(_)
        | ExportTarget::Patch(_)
        | ExportTarget::Emitted => None,
    }
}

pub(super) fn environment(launch: &Launching<'_>, raw: &RawKernel) -> Result<Environment, Error> {
    let mut config = launch.config();
    config.shared_bytes = launch.shared_bytes(launch.options.shared_bytes)?;
    let mut content =
        bank::start(&config, wave_scratch(raw.scratch_bytes), launch.kernel.program.data_share()?);
    content.extend(launch.params(&launch.bytes()?)?);
    config.constants[0] = Some(ConstBank::new(&content)?);
    Ok(Environment::new(config))
}
