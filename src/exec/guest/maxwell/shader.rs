//! Launches of graphics programs: the launch's constant banks, and the arrays of its lanes.

use warploom_container::{ExportTarget, Function, Input, ShaderArray, ShaderKernel};
use warploom_guest::header::{Header, attribute};
use warploom_guest::images::driver::BANK;
use warploom_maxwell::arrays::{Array, Arrays, at};
use warploom_maxwell::lift::shader::Program;
use warploom_runtime::launch::ConstBank;
use warploom_runtime::warp::CONST_BANK_BYTES;

use super::super::nvidia::STACK_ALIGN;
use super::super::nvidia::images::Images;
use super::{Environment, Launching, driver};
use crate::Error;

/// Returns the program to lift. Without a launch, all arrays are present.
pub(super) fn program(function: &Function, header: Header) -> Program {
    let Some(shader) = &function.shader else { return Program::of_header(header) };
    let arrays: Arrays = shader.arrays.keys().filter_map(|&array| place(shader, array)).collect();
    Program {
        header,
        arrays,
        vertex_words: shader.attributes as u16,
        texture_bank: shader.texture_bank,
    }
}

/// Returns the name of a launch's array in lifted code, or `None` if lifted code has no use for it.
fn place(shader: &ShaderKernel, array: ShaderArray) -> Option<Array> {
    let word = |address: u32| (address / 4) as u16;
    // Words that are given by address override the lanes' named values.
    let named = |address: u16| {
        let given = shader.arrays.contains_key(&ShaderArray::Attribute(address.into()));
        (!given).then_some(Array::Attribute(address / 4))
    };
    match array {
        ShaderArray::Covered => Some(Array::Covered),
        ShaderArray::Written => Some(Array::Written),
        ShaderArray::Primitive => Some(Array::Primitive),
        ShaderArray::Table => Some(Array::Table),
        ShaderArray::Attribute(address) => Some(Array::Attribute(word(address))),
        ShaderArray::Patch(address) => Some(Array::Patch(word(address))),
        ShaderArray::Input(input, _) => match input {
            Input::X => named(attribute::POSITION),
            Input::Y => named(attribute::POSITION + 4),
            Input::Z => named(attribute::POSITION + 8),
            Input::InverseW => named(attribute::POSITION + 12),
            Input::Front => named(attribute::FRONT),
            Input::VertexId => named(attribute::VERTEX_ID),
            Input::InstanceId => named(attribute::INSTANCE_ID),
            Input::SampleCoverage => Some(Array::Samples),
            Input::SampleIndex => Some(Array::Sample),
            Input::CentroidOffset => Some(Array::Centroid),
            Input::TessU => named(attribute::TESSELLATION),
            Input::TessV => named(attribute::TESSELLATION_V),
            Input::InvocationId => Some(Array::Invocation),
            _ => None,
        },
        ShaderArray::Export(ExportTarget::Colour(target), component) if component < 4 => {
            Some(Array::Target(target, component))
        }
        ShaderArray::Export(ExportTarget::Depth, 0) => Some(Array::Depth),
        ShaderArray::Export(ExportTarget::SampleMask, 0) => Some(Array::SampleMask),
        ShaderArray::Export(ExportTarget::Attribute(address), _) if address < 0x400 => {
            Some(Array::Output(word(address)))
        }
        ShaderArray::Export(ExportTarget::Patch(address), _) if address < 0x400 => {
            Some(Array::PatchOutput(word(address)))
        }
        ShaderArray::Emitted => Some(Array::Emitted),
        ShaderArray::Export(..)
        | ShaderArray::Wave(_)
        | ShaderArray::Lanes(_)
        | ShaderArray::NextVertex
        | ShaderArray::Parameter(_) => None,
    }
}

pub(super) fn environment(launch: &Launching<'_>, header: &Header) -> Result<Environment, Error> {
    let (kernel, options) = (launch.kernel, launch.options);
    let shader = kernel.function().shader.as_ref().ok_or(Error::NoShaders)?;
    let mut config = launch.config();
    config.local_bytes = header.local_bytes().next_multiple_of(STACK_ALIGN);
    let mut handles: &[u8] = &[];
    for (bank, content) in &options.banks {
        if *bank >= driver::BANKS || content.len() > CONST_BANK_BYTES {
            return Err(Error::ShaderBank {
                bank: *bank,
                bytes: content.len(),
                most: CONST_BANK_BYTES,
            });
        }
        config.constants[usize::from(*bank)] = Some(ConstBank::new(content)?);
        if *bank == shader.texture_bank {
            handles = content;
        }
    }
    let images = Images::of_code(launch, handles, super::handles)?;
    let mut told = images.as_ref().map_or_else(Vec::new, |images| images.bank.clone());
    tell(&mut told, shader, &launch.params(&launch.bytes()?)?);
    config.constants[usize::from(BANK)] = Some(ConstBank::new(&told)?);
    let (known, lent) =
        images.map_or_else(Default::default, |images| (images.known, vec![images.records]));
    Ok(Environment { images: known, lent, ..Environment::new(config) })
}

/// Puts the addresses of arrays, which are the parameters, where lifted code finds them.
fn tell(bank: &mut Vec<u8>, shader: &ShaderKernel, params: &[u8]) {
    bank.resize(at::END as usize, 0);
    for (at, number) in
        [(at::LANES, shader.lanes), (at::VERTICES, shader.vertices), (at::STRIDE, shader.stride)]
    {
        bank[at as usize..][..4].copy_from_slice(&number.to_le_bytes());
    }
    for (&array, &param) in &shader.arrays {
        if let Some(array) = place(shader, array) {
            bank[array.offset() as usize..][..8].copy_from_slice(&params[8 * param..][..8]);
        }
    }
}
