//! Plain instruction streams: a captured stream as a module, and arguments for its start registers.

use std::collections::BTreeSet;
use std::sync::Arc;

use warploom::{Arg, Error};
use warploom_container::hsaco::{Gfx9, SystemSgpr};
use warploom_container::{
    Binding, Function, Isa, Module, Param, Parameter, RawKernel, ScalarStart, Section, SectionId,
    SectionKind, ShaderArray, Symbol, SymbolId, SymbolKind, VectorStart,
};
use warploom_gfx9::Instruction;
use warploom_gfx9::lift::graphics;
use warploom_runtime::memory::{Access, HostBuffer, Memory, Placement};

use super::shader::{self, ADDRESS_BYTES, Arrays};
use crate::raw::Builtin;
use crate::{Placed, RawLaunch, RawValue, Shader};

/// The alignment of code (`COMPUTE_PGM_LO` leaves out 8 bits).
const CODE_ALIGN: u64 = 256;

/// Makes a module of the stream. Its only kernel is called `name`.
///
/// The kernel's parameters are the register values that are equal in all blocks. So one translation
/// serves all launches: see [`args`].
pub(super) fn module(
    name: &str,
    code: &[u8],
    mach: Gfx9,
    raw: &RawLaunch,
    shader: Option<&Shader>,
) -> Module {
    let mut params = Vec::new();
    let mut end = 0_u32;
    let mut param = |value: &RawValue| {
        let (size, align) = match value {
            RawValue::Lanes(_) => (ADDRESS_BYTES, ADDRESS_BYTES),
            value => (4 * value.length() as u32, 4),
        };
        let offset = end.next_multiple_of(align);
        end = offset + size;
        params.push(Param { offset, size });
        params.len() - 1
    };
    // The arrays of a shader are the first parameters.
    let read = interpolated(code);
    let mut kernel = shader.map(|shader| shader::kernel(shader, Some(raw), &read, 0));
    let arrays = kernel.iter().flat_map(|kernel| kernel.arrays.values());
    arrays.for_each(|_| _ = param(&RawValue::Lanes(vec![])));
    if let (Some(kernel), Some(words)) = (&mut kernel, shader.and_then(Shader::uniform_parameters))
    {
        kernel.parameters = Some(param(&RawValue::Words(words.to_vec())));
    }
    let array = |array| kernel.as_ref().and_then(|kernel| kernel.arrays.get(&array).copied());
    let mut sgpr = Vec::new();
    for (first, value) in &raw.sgpr {
        let start = match value {
            RawValue::Wave(input) => array(ShaderArray::Wave(*input)).map(ScalarStart::Warps),
            RawValue::Builtin(builtin) => system(*builtin).map(ScalarStart::System),
            value => Some(ScalarStart::Param(param(value))),
        };
        sgpr.extend(start.map(|start| (*first as u8, start)));
    }
    let mut vgpr = Vec::new();
    for (first, value) in &raw.vgpr {
        let first = *first as u8;
        if let RawValue::Input(input) = value {
            let components =
                (0..input.components() as u8).filter_map(|i| array(ShaderArray::Input(*input, i)));
            vgpr.extend((first..).zip(components.map(VectorStart::Row)));
            continue;
        }
        let start = match value {
            RawValue::Builtin(builtin) => axis(*builtin).map(VectorStart::WorkItemId),
            RawValue::Lanes(_) => match array(ShaderArray::Lanes(first)) {
                Some(row) => Some(VectorStart::Row(row)),
                None => Some(VectorStart::Lanes(param(value))),
            },
            value => Some(VectorStart::Param(param(value))),
        };
        vgpr.extend(start.map(|start| (first, start)));
    }
    let (entry, size) = (u64::from(raw.entry), code.len() as u64);
    let mut function = Function::new(
        name.into(),
        SymbolId(0),
        SectionId(0),
        entry,
        size.saturating_sub(entry),
        true,
    );
    function.params = params;
    function.param_bytes = end;
    function.registers = raw.vgprs;
    function.shared_bytes = raw.lds_bytes.into();
    let (vgprs, scratch_bytes, mode) = (raw.vgprs, raw.scratch_bytes, raw.mode);
    function.shader = kernel.map(Box::new);
    function.raw = Some(Box::new(RawKernel { vgprs, scratch_bytes, mode, sgpr, vgpr }));
    let symbol = Symbol {
        name: name.into(),
        kind: SymbolKind::Function,
        section: Some(SectionId(0)),
        offset: entry,
        size: function.size,
        binding: Binding::Global,
        dynamic_shared: false,
    };
    let stream = Section {
        name: "stream".into(),
        kind: SectionKind::Image,
        align: CODE_ALIGN,
        size,
        data: code.to_vec(),
    };
    Module {
        symbols: vec![symbol],
        functions: vec![function],
        ..Module::new(Isa::Gfx9 { mach }, vec![stream])
    }
}

/// Returns the arguments for the parameters of [`module`].
///
/// Words that differ between lanes go to `memory`, in pages that the guest can only read.
pub(super) fn args(
    raw: &RawLaunch,
    memory: &Memory,
    placed: &impl Placed,
    shader: Option<(&Shader, &Arrays)>,
) -> Result<Vec<Arg>, Error> {
    let bytes =
        |words: &[u32]| words.iter().flat_map(|word| word.to_le_bytes()).collect::<Vec<u8>>();
    let mut args = shader.map_or_else(Vec::new, |(_, arrays)| arrays.args());
    if let Some(words) = shader.and_then(|(shader, _)| shader.uniform_parameters()) {
        args.push(Arg::bytes(bytes(words)));
    }
    for (_, value) in raw.sgpr.iter().chain(&raw.vgpr) {
        if let RawValue::Lanes(words) = value {
            if shader.is_some() {
                continue;
            }
            let buffer = Arc::new(HostBuffer::from_bytes(&bytes(words))?);
            args.push(Arg::pointer(memory.map_host(Placement::ANYWHERE, buffer, Access::READ)?));
        } else if let Some(words) = value.words(placed) {
            args.push(Arg::bytes(bytes(&words)));
        }
    }
    Ok(args)
}

/// Returns the parameters that code may interpolate. An instruction may begin at any word.
pub(super) fn interpolated(code: &[u8]) -> BTreeSet<Parameter> {
    let at = |i: usize| Instruction::decode(&code[4 * i..]);
    (0..code.len() / 4)
        .filter_map(at)
        .flat_map(|instruction| graphics::parameters(&instruction))
        .collect()
}

/// Returns the system value of an SGPR.
fn system(builtin: Builtin) -> Option<SystemSgpr> {
    match builtin {
        Builtin::WorkgroupIdX => Some(SystemSgpr::WorkgroupIdX),
        Builtin::WorkgroupIdY => Some(SystemSgpr::WorkgroupIdY),
        Builtin::WorkgroupIdZ => Some(SystemSgpr::WorkgroupIdZ),
        Builtin::WorkgroupInfo => Some(SystemSgpr::WorkgroupInfo),
        Builtin::ScratchWaveOffset => Some(SystemSgpr::ScratchWaveOffset),
        Builtin::ThreadIdX | Builtin::ThreadIdY | Builtin::ThreadIdZ => None,
    }
}

/// Returns the axis whose thread index a VGPR has.
fn axis(builtin: Builtin) -> Option<u8> {
    match builtin {
        Builtin::ThreadIdX => Some(0),
        Builtin::ThreadIdY => Some(1),
        Builtin::ThreadIdZ => Some(2),
        _ => None,
    }
}
