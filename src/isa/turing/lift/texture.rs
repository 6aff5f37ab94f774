//! Textures: TEX, TLD, TLD4, TXD, TXQ, TMML.
//!
//! Source: facts, `sass.md`, "Textures and surfaces", and `maxwell-surfaces.md`, sections 5 and 6.
//! [`sample`](warploom_ir::image::sample) defines the result for a coordinate.

use warploom_guest::images::Record;
use warploom_guest::images::driver::HEADER_BITS;
use warploom_guest::images::texture::{Level, Texture, sizes};
use warploom_ir::image::sample::Operation;
use warploom_ir::{FloatAttrs, Round, Type, Value};
use warploom_sass::lift::Cx;
use warploom_sass::lift::texture::{Dim, NARROW, Request, Vector, WIDE, write_pairs};
use warploom_sass::{Reg, Role, Uniform, Value as Operand};

use super::flow::{Flow, Lifted, Unsupported};
use crate::Instruction;
use crate::field::{
    Bindless, FetchLod, Field, GatherOffsets, TexelFormat, TextureDim, TextureLod, TextureQuery,
};

fn dim_of(dim: TextureDim) -> Result<Dim, Unsupported> {
    Ok(match dim {
        TextureDim::D1 => Dim::D1,
        TextureDim::D2 => Dim::D2,
        TextureDim::D3 => Dim::D3,
        TextureDim::Cube => Dim::CUBE,
        TextureDim::ArrayD1 => Dim::ARRAY_D1,
        TextureDim::ArrayD2 => Dim::ARRAY_D2,
        TextureDim::ArrayCube => Dim::ARRAY_CUBE,
        TextureDim::Reserved => return Err(Unsupported),
    })
}

/// The place of a texture's handle.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Handle {
    /// In a register among the operands.
    Register,
    /// A word of a constant bank.
    Bound { bank: u64, word: u64 },
    /// In a uniform register; the index of the sampler is in the one behind it.
    Uniform(Uniform),
}

impl Handle {
    /// # Errors
    /// The handle is two words of a bank, or of no known form.
    fn of(i: &Instruction) -> Result<Handle, Unsupported> {
        if let Some(uniform) = uniform_handle(i)? {
            return Ok(Handle::Uniform(uniform));
        }
        match (i.field(Field::bank), i.field(Field::handle)) {
            (Some(bank), Some(word)) if i.maybe_bindless() == Bindless::Bound => {
                Ok(Handle::Bound { bank, word })
            }
            (None, None) if i.bindless() == Bindless::Bindless => Ok(Handle::Register),
            _ => Err(Unsupported),
        }
    }

    /// Returns the number of operands that are handles.
    fn operands(i: &Instruction) -> Result<usize, Unsupported> {
        Ok(usize::from(Handle::of(i)? == Handle::Register))
    }
}

/// Returns the uniform register that holds the handle, if one does.
///
/// # Errors
/// The instruction adds an index to it.
pub fn uniform_handle(i: &Instruction) -> Result<Option<Uniform>, Unsupported> {
    let Some(source) = i.source(Role::H) else { return Ok(None) };
    match (source.value, i.field(Field::header_index)) {
        (Operand::Uniform(uniform), Some(0)) => Ok(Some(uniform)),
        _ => Err(Unsupported),
    }
}

/// Returns the record of the image of a handle that is word `word` of a constant bank, if the
/// kernel is specialised for it; and the handle.
pub fn bound(cx: &mut Cx<'_>, bank: u64, word: u64) -> (Option<Record>, Value) {
    let offset = word as u32 * 4;
    let known = if bank == 0 { Record::known(cx, offset) } else { None };
    (known, cx.bank(bank as u8, offset as i32, Type::I32))
}

/// The operands in registers: A, then B.
struct Operands {
    a: Vector,
    b: Vector,
    /// The number of operands in A.
    in_a: usize,
    taken: usize,
}

impl Operands {
    /// Returns the operands of an instruction that has `first` operands in A and `rest` in B; with
    /// `.SCR` each has half of them, and A one more of an odd number.
    fn of(i: &Instruction, first: usize, rest: usize) -> Result<Operands, Unsupported> {
        let in_a = if i.scr() { (first + rest).div_ceil(2) } else { first };
        Ok(Operands { a: Vector::of(i.a())?, b: Vector::of(i.b())?, in_a, taken: 0 })
    }

    /// Returns the operands of an instruction with layer and coordinates in A, and in B the handle
    /// and these further operands, as far as it has them.
    fn with_place(i: &Instruction, dim: Dim, further: &[bool]) -> Result<Operands, Unsupported> {
        let further = further.iter().filter(|&&has| has).count();
        Operands::of(i, dim.coordinates(), Handle::operands(i)? + further)
    }

    fn take(&mut self, cx: &mut Cx<'_>) -> Value {
        self.taken += 1;
        if self.taken <= self.in_a { self.a.take(cx) } else { self.b.take(cx) }
    }

    /// Takes the handle, if it is in a register, and returns texture and sampler.
    fn texture(&mut self, cx: &mut Cx<'_>, i: &Instruction) -> Result<Texture, Unsupported> {
        let (known, handle) = match Handle::of(i)? {
            Handle::Register => (None, self.take(cx)),
            Handle::Bound { bank, word } => bound(cx, bank, word),
            Handle::Uniform(uniform) => {
                let next = cx.uniform_after(uniform, 1);
                let (image, sampler) = (cx.uniform(uniform), cx.uniform(next));
                let sampler = cx.shl(sampler, HEADER_BITS);
                return Ok(Texture::of(cx, None, [image, sampler]));
            }
        };
        Ok(Texture::of(cx, known, [handle, handle]))
    }

    /// Takes layer and coordinates, then the handle.
    fn request(
        &mut self,
        cx: &mut Cx<'_>,
        i: &Instruction,
        dim: Dim,
    ) -> Result<Request, Unsupported> {
        let place: Vec<Value> = (0..dim.coordinates()).map(|_| self.take(cx)).collect();
        let texture = self.texture(cx, i)?;
        let mut request = Request::new(texture, dim);
        let mut place = place.into_iter();
        let zero = cx.int(0);
        request.place(cx, |_| place.next().unwrap_or(zero));
        Ok(request)
    }
}

/// Writes the components of the mask: two registers, or two halves each, from D and from E on.
fn write(cx: &mut Cx<'_>, i: &Instruction, components: [Value; 4]) -> Lifted {
    let mask = i.field(Field::component_mask).ok_or(Unsupported)?;
    let chosen = (0..4).filter(|component| mask >> component & 1 != 0);
    let chosen: Vec<Value> = chosen.map(|component| components[component]).collect();
    let round = match i.texel_format() {
        TexelFormat::F32 => {
            write_pairs(cx, [i.d(), i.e()], &chosen);
            return Ok(Flow::Next);
        }
        TexelFormat::F16Rn => Round::Nearest,
        TexelFormat::F16Rz => Round::Zero,
        TexelFormat::Reserved => return Err(Unsupported),
    };
    for (pair, register) in chosen.chunks(2).zip([i.d(), i.e()]) {
        write_halves(cx, register, pair, FloatAttrs { round, ..FloatAttrs::IEEE });
    }
    Ok(Flow::Next)
}

fn write_halves(cx: &mut Cx<'_>, register: Reg, pair: &[Value], attrs: FloatAttrs) {
    let mut word = cx.int(0);
    for (n, &component) in (0..).zip(pair) {
        let component = cx.cast(Type::F32, component);
        let half = cx.b.fconvert(Type::F16, attrs, component);
        let half = cx.low_half(half);
        let half = if n == 0 { half } else { cx.shl(half, 16) };
        word = cx.b.or(word, half);
    }
    cx.set(register, word);
}

/// Returns the source of the level of an instruction without a level: neighbours where the code says
/// that quads are whole. Elsewhere differences are 0.
fn automatic(i: &Instruction) -> Level {
    if i.ndv() { Level::Neighbours } else { Level::Flat }
}

pub fn tex(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    let dim = dim_of(i.texture_dim())?;
    let (level, has_lod) = match i.texture_lod() {
        TextureLod::Auto => (automatic(i), false),
        TextureLod::Zero => (Level::Given, false),
        TextureLod::Bias => (automatic(i), true),
        TextureLod::Level => (Level::Given, true),
        _ => return Err(Unsupported),
    };
    let further = [has_lod, i.offsets(), i.depth_compare()];
    let mut operands = Operands::with_place(i, dim, &further)?;
    let mut request = operands.request(cx, i, dim)?;
    request.asked.level = level;
    if has_lod {
        request.asked.lod = Some(operands.take(cx));
    }
    if i.offsets() {
        let packed = operands.take(cx);
        request.set_offset(cx, packed, NARROW);
    }
    if i.depth_compare() {
        request.asked.reference = Some(operands.take(cx));
    }
    let components = request.ask(cx, i.pd(), Operation::Sample);
    write(cx, i, components)
}

pub fn tld(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    let dim = dim_of(i.fetch_dim())?;
    let has_lod = match i.fetch_lod() {
        FetchLod::Zero => false,
        FetchLod::Level => true,
        FetchLod::Reserved => return Err(Unsupported),
    };
    if i.multisample() || matches!(dim, Dim { axes: 3, array: true }) {
        return Err(Unsupported);
    }
    let operation = if i.coordinate_clamp() { Operation::FetchNearest } else { Operation::Fetch };
    let mut operands = Operands::with_place(i, dim, &[has_lod, i.offsets()])?;
    let mut request = operands.request(cx, i, dim)?;
    if has_lod {
        request.asked.lod = Some(operands.take(cx));
    }
    if i.offsets() {
        let packed = operands.take(cx);
        request.set_offset(cx, packed, NARROW);
    }
    let components = request.ask(cx, i.pd(), operation);
    write(cx, i, components)
}

pub fn tld4(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    let dim = dim_of(i.gather_dim())?;
    let has_offsets = match i.gather_offsets() {
        GatherOffsets::None => false,
        GatherOffsets::Aoffi => true,
        GatherOffsets::Ptp | GatherOffsets::Reserved => return Err(Unsupported),
    };
    let mut operands = Operands::with_place(i, dim, &[has_offsets, i.depth_compare()])?;
    let mut request = operands.request(cx, i, dim)?;
    if has_offsets {
        let packed = operands.take(cx);
        request.set_offset(cx, packed, WIDE);
    }
    if i.depth_compare() {
        request.asked.reference = Some(operands.take(cx));
    }
    let component = i.gather_component() as u8;
    let components = request.ask(cx, i.pd(), Operation::Gather { component });
    write(cx, i, components)
}

/// Lifts TXD: A holds the handle, the coordinates, then the layer with the offsets above it; B the
/// derivatives along x and y of each coordinate in turn.
pub fn txd(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    let dim = dim_of(i.derivative_dim())?;
    if i.lod_clamp() {
        return Err(Unsupported);
    }
    let has_packed = dim.array || i.offsets();
    let first = Handle::operands(i)? + dim.axes + usize::from(has_packed);
    let mut operands = Operands::of(i, first, 2 * dim.axes)?;
    let texture = operands.texture(cx, i)?;
    let mut request = Request::new(texture, dim);
    for axis in 0..dim.axes {
        request.asked.coords[axis] = Some(operands.take(cx));
    }
    if has_packed {
        let packed = operands.take(cx);
        request.set_packed(cx, packed, i.offsets());
    }
    request.gradients(cx, |cx| operands.take(cx));
    let components = request.ask(cx, i.pd(), Operation::Sample);
    write(cx, i, components)
}

/// Lifts TMML: the level of detail that neighbours' coordinates give.
pub fn tmml(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    let dim = dim_of(i.texture_dim())?;
    let mut operands = Operands::with_place(i, dim, &[])?;
    let mut request = operands.request(cx, i, dim)?;
    request.asked.level = automatic(i);
    let components = request.ask(cx, i.pd(), Operation::Level);
    write(cx, i, components)
}

/// Lifts TXQ: width, height, and depth or layers of the level in A.
pub fn txq(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    let mask = i.field(Field::query_mask).ok_or(Unsupported)?;
    if i.texture_query() != TextureQuery::Dimension || mask & 8 != 0 {
        return Err(Unsupported);
    }
    let mut operands = Operands::of(i, 2, 0)?;
    let texture = operands.texture(cx, i)?;
    let level = operands.take(cx);
    let sizes = sizes(cx, &texture.record, level);
    let asked = (0..3).filter(|word| mask >> word & 1 != 0);
    let asked: Vec<Value> = asked.map(|word| sizes[word]).collect();
    write_pairs(cx, [i.d(), i.e()], &asked);
    Ok(Flow::Next)
}
