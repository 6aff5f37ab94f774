//! Captured Maxwell graphics programs: the module, and the inputs of lanes that the header asks
//! for.

use std::collections::BTreeSet;

use warploom::Error;
use warploom_container::{Module, Param, ShaderArray, Stage};

use super::shader::{self, ADDRESS_BYTES};
use crate::graphics::Input;
use crate::raw::BinaryFormat;
use crate::{Launch, Shader};

/// Returns the module of a launch, and the launch's lanes with interpolated attributes.
pub(super) fn shader(
    launch: &Launch,
    given: &Shader,
    format: BinaryFormat,
) -> Result<(Module, Shader), Error> {
    let name = launch.binary_path.file_stem().map(|name| name.to_string_lossy());
    let name = name.as_deref().unwrap_or("shader");
    let program = |binary: &[u8]| match (format, &launch.header) {
        (BinaryFormat::MaxwellSph, None) => Ok(warploom_container::sph::with_header(name, binary)?),
        (BinaryFormat::MaxwellSph, Some(_)) => Err(Error::ShaderHeader { given: true }),
        (_, Some(header)) => Ok(warploom_container::sph::without_header(name, binary, header)?),
        (_, None) => Err(Error::ShaderHeader { given: false }),
    };
    let mut module = program(&launch.binary)?;
    if let Some(first) = &launch.vertex_a {
        module = warploom_container::sph::joined(&program(first)?, module)?;
    }
    let function = &mut module.functions[0];
    let Some(header) = function.header.as_deref().copied() else { return Err(Error::NoShaders) };
    if header.stage() != given.stage {
        return Err(Error::ShaderStage {
            manifest: given.stage.name(),
            header: header.stage().name(),
        });
    }
    if let Some(of) = &given.of_primitives {
        let has = [
            ("threads", of.threads, header.threads().max(1)),
            ("max_vertices", of.max_vertices, header.max_vertices()),
        ];
        let asked = match given.stage {
            Stage::TessControl => &has[..1],
            Stage::Geometry => &has[..],
            _ => &[],
        };
        if let Some((key, manifest, header)) =
            asked.iter().find(|(_, manifest, header)| manifest != header)
        {
            let problem = format!("primitives.{key} is {manifest}: the header says {header}");
            return Err(Error::ShaderInput { problem });
        }
    }
    let mut lanes = given.clone();
    // Maxwell programs do not read GFX9's form.
    lanes.parameters = None;
    if let Some(front) = lanes.inputs.get_mut(&Input::Front) {
        front.words.iter_mut().filter(|word| **word != 0).for_each(|word| *word = u32::MAX);
    }
    lanes
        .interpolate(|address| header.input(address))
        .map_err(|problem| Error::ShaderInput { problem })?;
    let mut kernel = shader::kernel(&lanes, None, &BTreeSet::new(), 0);
    kernel.texture_bank = launch.texture_bank;
    let offsets = (0..kernel.arrays.len() as u32).map(|n| n * ADDRESS_BYTES);
    function.params = offsets.map(|offset| Param { offset, size: ADDRESS_BYTES }).collect();
    if lanes.covered.iter().all(|&covered| covered) {
        // No lane needs a test: all are covered.
        kernel.arrays.remove(&ShaderArray::Covered);
    }
    function.shader = Some(Box::new(kernel));
    Ok((module, lanes))
}
