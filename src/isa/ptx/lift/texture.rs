//! Textures: tex, tld4, txq.
//!
//! Source: facts, `ptx.md` 2.9 and 6; `maxwell-surfaces.md`, sections 5 and 6.
//! [`sample`](warploom_ir::image::sample) defines the result of a coordinate.

use warploom_guest::bits;
use warploom_guest::divergence::Mask;
use warploom_guest::images::driver::query;
use warploom_guest::images::texture::{Level, Request, Texture, sizes};
use warploom_guest::images::{Table, queried};
use warploom_ir::image::sample::Operation;
use warploom_ir::{FloatAttrs, Type, Value};

use super::context::{Cx, Insn};
use super::image::{Geometry, bracket, check_present, coordinate, handle, image};
use super::{Lifted, Unsupported};
use crate::module::Operand;
use crate::table::Form;
use crate::types::Ty;
use crate::word::Word;

/// Returns the request of an instruction to the texture of `[t, {s,} coordinates]`.
fn request(cx: &mut Cx<'_>, operand: &Operand, geometry: Geometry) -> Result<Request, Unsupported> {
    let (texture, sampler, coordinates) = match bracket(operand)? {
        [texture, coordinates] => (texture, texture, coordinates),
        [texture, sampler, coordinates] => (texture, sampler, coordinates),
        _ => return Err(Unsupported),
    };
    let (texture, record) = image(cx, texture)?;
    let sampler = handle(cx, sampler)?;
    let mut request = Request::new(Texture::of(cx, Some(record), [texture, sampler]));
    request.misfit = geometry.misfit(cx, &request.texture.record);
    // The layer index comes first.
    let first = usize::from(geometry.array);
    if geometry.array {
        request.layer = Some(coordinate(cx, coordinates, 0)?);
    }
    for axis in 0..geometry.axes {
        request.coords[axis] = Some(coordinate(cx, coordinates, first + axis)?);
    }
    Ok(request)
}

/// Takes the operands that may follow: offsets in texels, a vector; and the value that texels are
/// compared with, a scalar.
fn take_options(
    cx: &mut Cx<'_>,
    request: &mut Request,
    geometry: Geometry,
    options: &[Operand],
) -> Result<(), Unsupported> {
    for operand in options {
        match operand {
            Operand::Vector(_) => {
                for axis in 0..geometry.axes {
                    request.offset[axis] = Some(coordinate(cx, operand, axis)?);
                }
            }
            _ => request.reference = Some(coordinate(cx, operand, 0)?),
        }
    }
    Ok(())
}

fn gradients(
    cx: &mut Cx<'_>,
    geometry: Geometry,
    [dx, dy]: [&Operand; 2],
) -> Result<Level, Unsupported> {
    let zero = cx.word(0);
    let mut gradients = [[zero; 2]; 3];
    for (axis, gradient) in gradients.iter_mut().enumerate().take(geometry.axes) {
        *gradient = [coordinate(cx, dx, axis)?, coordinate(cx, dy, axis)?];
    }
    Ok(Level::Gradients(gradients))
}

/// Performs the request, and writes the components and whether all texels were resident.
fn finish(cx: &mut Cx<'_>, insn: &Insn<'_>, request: Request, operation: Operation) -> Lifted {
    let (components, sparse) = request.ask(cx, operation);
    let mut destination = insn.operand(0);
    if let Operand::Pair(pair) = destination {
        let resident = cx.not(Mask::Lanes(sparse));
        cx.set_pred(&pair[1], resident);
        destination = &pair[0];
    }
    let half = |cx: &mut Cx<'_>, component: Value| {
        let component = cx.cast(Type::F32, component);
        let half = cx.b.fconvert(Type::F16, FloatAttrs::IEEE, component);
        cx.cast(Type::I16, half)
    };
    let ty = insn.form.ty(0);
    let values: Vec<Value> = match ty {
        Ty::F16 => components.map(|component| half(cx, component)).to_vec(),
        Ty::F16x2 => components
            .chunks_exact(2)
            .map(|pair| {
                let [low, high] = [pair[0], pair[1]].map(|component| {
                    let half = half(cx, component);
                    cx.b.zero_extend(Type::I32, half)
                });
                let high = bits::shl(cx, high, 16);
                cx.b.or(low, high)
            })
            .collect(),
        _ => components.to_vec(),
    };
    let written = if ty == Ty::F16 { Ty::B16 } else { Ty::B32 };
    for (operand, &value) in cx.elements(destination).iter().zip(&values) {
        cx.set(operand, written, value);
    }
    Ok(())
}

fn fetches(form: &Form) -> bool {
    form.ty(1) == Ty::S32
}

/// Lifts `tex`. Float coordinates are for the sampler; integers are texel indices. Without a level
/// or gradients, the first level counts, as ptxas's code says from sm_75 on.
pub fn tex(cx: &mut Cx<'_>, insn: &Insn<'_>) -> Lifted {
    let form = insn.form;
    let geometry = Geometry::of(form)?;
    let mut request = request(cx, insn.operand(1), geometry)?;
    let mut options = insn.operands.get(2..).unwrap_or_default();
    match form.one_of(&[Word::Base, Word::Level, Word::Grad]) {
        Some(Word::Level) => {
            let (lod, rest) = options.split_first().ok_or(Unsupported)?;
            request.lod = Some(coordinate(cx, lod, 0)?);
            options = rest;
        }
        Some(Word::Grad) => {
            let (gradients_of, rest) = options.split_first_chunk::<2>().ok_or(Unsupported)?;
            let level = gradients(cx, geometry, gradients_of.each_ref())?;
            // Texel indices refer to the first level.
            request.level = if fetches(form) { Level::Given } else { level };
            options = rest;
        }
        _ => {}
    }
    take_options(cx, &mut request, geometry, options)?;
    let operation = if fetches(form) { Operation::FetchAddressed } else { Operation::Sample };
    finish(cx, insn, request, operation)
}

pub fn tld4(cx: &mut Cx<'_>, insn: &Insn<'_>) -> Lifted {
    let form = insn.form;
    let component = match form.one_of(&[Word::Right, Word::Green, Word::Blue, Word::Alpha]) {
        Some(Word::Right) => 0,
        Some(Word::Green) => 1,
        Some(Word::Blue) => 2,
        Some(_) => 3,
        None => return Err(Unsupported),
    };
    let geometry = Geometry::of(form)?;
    let mut request = request(cx, insn.operand(1), geometry)?;
    take_options(cx, &mut request, geometry, insn.operands.get(2..).unwrap_or_default())?;
    finish(cx, insn, request, Operation::Gather { component })
}

/// Returns the table that a query reads and the offset in it, or `None` for sizes, which the
/// image's record has.
fn asked(cx: &Cx<'_>, word: Word) -> Option<(Table, u32)> {
    use query::{sampled, sampler, texture};
    let independent = cx.module.independent_textures;
    let image = |at: u32| {
        (Table::Textures, at + if independent { query::TEXTURE } else { sampled::TEXTURE })
    };
    let of_sampler = |of_texture: u32, apart: u32| match independent {
        true => (Table::Samplers, apart),
        false => (Table::Textures, of_texture),
    };
    Some(match word {
        Word::ChannelDataType => image(texture::DATA_TYPE),
        Word::ChannelOrder => image(texture::ORDER),
        Word::NormalizedCoords => image(texture::NORMALIZED),
        Word::ArraySize => image(texture::LAYERS),
        Word::NumMipmapLevels => image(texture::LEVELS),
        Word::NumSamples => image(texture::SAMPLES),
        Word::MemoryLayout => (Table::Surfaces, query::surface::LINEAR),
        Word::FilterMode => of_sampler(sampled::FILTER, sampler::FILTER),
        Word::AddrMode0 => of_sampler(sampled::ADDRESS, sampler::ADDRESS),
        Word::AddrMode1 => of_sampler(sampled::ADDRESS + 4, sampler::ADDRESS + 4),
        Word::AddrMode2 => of_sampler(sampled::ADDRESS + 8, sampler::ADDRESS + 8),
        Word::ForceUnnormalizedCoords => of_sampler(sampled::UNNORMALIZED, sampler::UNNORMALIZED),
        _ => return None,
    })
}

pub fn txq(cx: &mut Cx<'_>, insn: &Insn<'_>) -> Lifted {
    let form = insn.form;
    let [texture] = bracket(insn.operand(1))? else { return Err(Unsupported) };
    let table = form.words.iter().find_map(|&word| asked(cx, word));
    let axis = [Word::Width, Word::Height, Word::Depth].iter().position(|&word| form.has(word));
    let value = match (table, axis) {
        (Some((Table::Samplers, at)), _) => {
            let handle = handle(cx, texture)?;
            queried(cx, handle, Table::Samplers, at)
        }
        (Some((table, at)), _) => {
            let (handle, record) = image(cx, texture)?;
            check_present(cx, &record);
            queried(cx, handle, table, at)
        }
        (None, Some(axis)) => {
            let (_, record) = image(cx, texture)?;
            check_present(cx, &record);
            let level = if form.has(Word::Level) {
                coordinate(cx, insn.operand(2), 0)?
            } else {
                cx.word(0)
            };
            sizes(cx, &record, level)[axis]
        }
        (None, None) => return Err(Unsupported),
    };
    cx.set(insn.operand(0), Ty::B32, value);
    Ok(())
}
