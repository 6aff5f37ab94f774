//! Sampler messages. Source: facts, `visa-semantics.md` 7, "Surfaces and samplers".

use warploom_guest::divergence::Mask;
use warploom_guest::images::formatted::alpha;
use warploom_guest::images::texture::{self, Level, Request, Texture};
use warploom_guest::images::{Lifter, Record};
use warploom_ir::image::sample::Operation;
use warploom_ir::image::{Kind, at, flag, form};
use warploom_ir::{FloatAttrs, Round, Type, Value};

use super::super::memory::{Item, one_lane};
use super::super::{Cx, Lifted, Unsupported};
use super::{Surface, absent, check, default_sampler, operand, sampler_address, typed};
use crate::instruction::{Instruction, Operand, Raw};
use crate::types::Ty;

/// The operand numbers of a message with a sampler.
///
/// These are channels, texel offsets, sampler, surface, destination and parameters.
#[derive(Clone, Copy)]
struct OperandIndices {
    offsets: usize,
    sampler: Option<usize>,
    surface: usize,
    dst: usize,
    parameters: usize,
}

const CHANNELS: usize = 1;
const SAMPLE: OperandIndices =
    OperandIndices { offsets: 2, sampler: Some(3), surface: 4, dst: 5, parameters: 7 };
const LOAD: OperandIndices =
    OperandIndices { offsets: 2, sampler: None, surface: 3, dst: 4, parameters: 6 };

/// A sampler message while it is being lifted.
struct Message<'i> {
    insn: &'i Instruction,
    places: OperandIndices,
    /// The parameters in registers, in order. Missing parameters are 0.
    parameters: Vec<Value>,
    texture: Texture,
    form: Form,
}

/// The meaning of parameters as coordinates: for each kind of surface, the lanes that have it.
#[derive(Clone, Copy)]
struct Form {
    /// V is not a row: it is a layer, or no coordinate.
    rowless: Mask,
    line_layers: Mask,
    plane_layers: Mask,
    /// R is a slice.
    volume: Mask,
}

impl Form {
    fn of(cx: &mut Cx<'_>, record: &Record) -> Form {
        let mut layers = |kind: Kind| record.field_is(cx, at::FLAGS, flag::FORM, form(kind, true));
        let (line_layers, plane_layers) = (layers(Kind::D1), layers(Kind::D2));
        // The bit above the kind says whether there are layers.
        let kind_bits = (flag::FORM.0, flag::FORM.1 - 1);
        let mut is = |kind: Kind| record.field_is(cx, at::FLAGS, kind_bits, kind as u32);
        let (buffer, line) = (is(Kind::Buffer), is(Kind::D1));
        let rowless = cx.either(buffer, line);
        Form { rowless, line_layers, plane_layers, volume: record.has(cx, flag::VOLUME) }
    }
}

impl<'i> Message<'i> {
    fn new(
        cx: &mut Cx<'_>,
        insn: &'i Instruction,
        places: OperandIndices,
    ) -> Result<Message<'i>, Unsupported> {
        let Some(Operand::Raws(raws)) = insn.operands.get(places.parameters) else {
            return Err(Unsupported);
        };
        let surface = operand(cx, insn, places.surface)?;
        let mut parameters = vec![];
        for &raw in raws {
            if raw != Raw::NULL && cx.routine().ty(raw.variable).size() != 4 {
                return Err(Unsupported);
            }
            parameters.push(cx.raw(raw, 0, Type::I32));
        }
        let sampler = match places.sampler.map(|n| insn.operands.get(n)) {
            None => None,
            Some(Some(&Operand::Sampler(id))) => Some(sampler_address(cx, id)),
            Some(_) => return Err(Unsupported),
        };
        let (record, image) = (surface.record(cx), surface.address(cx));
        let sampler = sampler.unwrap_or_else(|| default_sampler(cx));
        let form = Form::of(cx, &record);
        Ok(Message {
            insn,
            places,
            parameters,
            texture: Texture::new(record, image, sampler),
            form,
        })
    }

    /// Returns a parameter in each lane.
    fn parameter(&self, cx: &mut Cx<'_>, n: usize) -> Value {
        let value = match self.parameters.get(n) {
            Some(&value) => value,
            None => cx.word(0),
        };
        cx.splat(value)
    }

    /// Returns a request for the coordinates from a parameter on. The surface gives their meaning.
    fn request(&self, cx: &mut Cx<'_>, from: usize, fetches: bool) -> Result<Request, Unsupported> {
        let [x, y, z] = [0, 1, 2].map(|n| self.parameter(cx, from + n));
        let zero = cx.word(0);
        let zero = cx.splat(zero);
        let layer = cx.choose(self.form.plane_layers, z, zero);
        let mut layer = cx.choose(self.form.line_layers, y, layer);
        // A parameter that is not a coordinate of the surface has no effect.
        let middle = cx.word(if fetches { 0 } else { 0.5f32.to_bits() });
        let middle = cx.splat(middle);
        let y = cx.choose(self.form.rowless, middle, y);
        let z = cx.choose(self.form.volume, z, zero);
        if !fetches {
            let number = cx.bits_as(layer, Type::F32);
            layer = cx.b.float_to_int(Type::I32, false, Round::Nearest, false, 0, number);
        }
        Ok(Request {
            coords: [Some(x), Some(y), Some(z)],
            layer: Some(layer),
            offset: self.offsets(cx)?,
            misfit: absent(cx, &self.texture.record),
            ..Request::new(self.texture)
        })
    }

    /// Returns the offsets in texels, four bits each. Layers have no offset.
    fn offsets(&self, cx: &mut Cx<'_>) -> Result<[Option<Value>; 3], Unsupported> {
        let bits = match self.insn.operands.get(self.places.offsets) {
            Some(Operand::Immediate { bits, .. }) => *bits as u32,
            Some(Operand::Number(bits)) => *bits,
            _ => return Err(Unsupported),
        };
        if bits & 0xfff == 0 {
            return Ok([None; 3]);
        }
        let field = |from: u32| ((bits >> from << 28) as i32 >> 28) as u32;
        let zero = cx.word(0);
        let zero = cx.splat(zero);
        let mut offset = |from: u32| {
            let offset = cx.word(field(from));
            cx.splat(offset)
        };
        let [x, y, z] = [8, 4, 0].map(&mut offset);
        Ok([x, cx.choose(self.form.rowless, zero, y), cx.choose(self.form.volume, z, zero)]
            .map(Some))
    }

    /// Emits a request, and writes the channels.
    fn ask(
        self,
        cx: &mut Cx<'_>,
        operation: Operation,
        request: impl FnOnce(&mut Cx<'_>, &Self) -> Result<Request, Unsupported>,
    ) -> Lifted {
        let mask = Cx::number(cx, self.insn, CHANNELS)?;
        let mut wrong = None;
        let values = one_lane(cx, |cx| match request(cx, &self) {
            Ok(request) => {
                let mut values = request.ask(cx, operation).0;
                let record = &self.texture.record;
                match operation {
                    Operation::Gather { component: 3 } => {
                        values = values.map(|found| alpha(cx, record, found))
                    }
                    Operation::Gather { .. } => {}
                    _ if mask >> 3 & 1 != 0 => values[3] = alpha(cx, record, values[3]),
                    _ => {}
                }
                values.to_vec()
            }
            Err(problem) => {
                wrong = Some(problem);
                vec![cx.word(0); 4]
            }
        });
        if let Some(problem) = wrong {
            return Err(problem);
        }
        let dst = cx.raw_operand(self.insn, self.places.dst)?;
        // A gather names one component, and gives four texels.
        let mask = if matches!(operation, Operation::Gather { .. }) { 0xf } else { mask };
        write(cx, dst, mask, &values)
    }
}

/// Writes channels, in the size of the destination's elements.
fn write(cx: &mut Cx<'_>, dst: Raw, mask: u32, values: &[Value]) -> Lifted {
    let ty = cx.routine().ty(dst.variable);
    for (n, channel) in typed::channels(mask) {
        let value = values[channel];
        match ty {
            _ if ty.size() == 4 => Item::DWORD.write(cx, dst, n, value),
            Ty::Hf => {
                let number = cx.bits_as(value, Type::F32);
                let half = cx.b.fconvert(Type::F16, FloatAttrs::IEEE, number);
                let half = cx.bits_as(half, Type::I16);
                Item::same(Type::I16).write(cx, dst, n, half);
            }
            Ty::W | Ty::Uw => {
                let half = cx.b.trunc(Type::I16, value);
                Item::same(Type::I16).write(cx, dst, n, half);
            }
            _ => return Err(Unsupported),
        }
    }
    Ok(())
}

/// Lifts a sample of the parameters u, v, r from one on. `set` completes the request.
fn sampled(
    cx: &mut Cx<'_>,
    i: &Instruction,
    from: usize,
    set: impl FnOnce(&mut Cx<'_>, &Message<'_>, &mut Request),
) -> Lifted {
    Message::new(cx, i, SAMPLE)?.ask(cx, Operation::Sample, |cx, message| {
        let mut request = message.request(cx, from, false)?;
        set(cx, message, &mut request);
        Ok(request)
    })
}

/// Lifts `sample_3d` (`sample`): u v r.
pub fn sample_3d(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    sampled(cx, i, 0, |_, _, request| request.level = Level::Neighbours)
}

/// Lifts `sample_b`: bias u v r.
pub fn sample_b(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    sampled(cx, i, 1, |cx, message, request| {
        request.level = Level::Neighbours;
        request.lod = Some(message.parameter(cx, 0));
    })
}

/// Lifts `sample_l`: level u v r.
pub fn sample_l(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    sampled(cx, i, 1, |cx, message, request| request.lod = Some(message.parameter(cx, 0)))
}

/// Lifts `sample_c`: reference u v r.
pub fn sample_c(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    sampled(cx, i, 1, |cx, message, request| {
        request.level = Level::Neighbours;
        request.reference = Some(message.parameter(cx, 0));
    })
}

/// Lifts `sample_d`: u dudx dudy v dvdx dvdy r drdx drdy.
pub fn sample_d(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    let mut message = Message::new(cx, i, SAMPLE)?;
    let zero = cx.word(0);
    message.parameters.resize(9, zero);
    let gradients = [[1, 2], [4, 5], [7, 8]].map(|pair| pair.map(|n| message.parameters[n]));
    message.parameters = [0, 3, 6].map(|n| message.parameters[n]).to_vec();
    message.ask(cx, Operation::Sample, |cx, message| {
        let gradients = gradients.map(|pair| pair.map(|value| cx.splat(value)));
        Ok(Request { level: Level::Gradients(gradients), ..message.request(cx, 0, false)? })
    })
}

/// Lifts `sample_lz`: u v r, at level 0.
pub fn sample_lz(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    sampled(cx, i, 0, |_, _, _| {})
}

/// Lifts `sample_c_lz`: reference u v r, at level 0.
pub fn sample_c_lz(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    sampled(cx, i, 1, |cx, message, request| request.reference = Some(message.parameter(cx, 0)))
}

/// Returns the gather of the component that the message names.
fn gathered(cx: &Cx<'_>, i: &Instruction) -> Result<Operation, Unsupported> {
    match Cx::number(cx, i, CHANNELS)? {
        component @ 0..=3 => Ok(Operation::Gather { component: component as u8 }),
        _ => Err(Unsupported),
    }
}

/// Lifts `sample4` (`gather4`): u v r.
pub fn sample4(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    let operation = gathered(cx, i)?;
    Message::new(cx, i, SAMPLE)?.ask(cx, operation, |cx, message| message.request(cx, 0, false))
}

/// Lifts `sample4_c` (`gather4_c`): reference u v r.
pub fn sample4_c(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    let operation = gathered(cx, i)?;
    Message::new(cx, i, SAMPLE)?.ask(cx, operation, |cx, message| {
        Ok(Request { reference: Some(message.parameter(cx, 0)), ..message.request(cx, 1, false)? })
    })
}

/// Lifts `load_3d` (`ld`): u v level r.
pub fn load_3d(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    let mut message = Message::new(cx, i, LOAD)?;
    let zero = cx.word(0);
    message.parameters.resize(4, zero);
    let level = message.parameters.remove(2);
    message.ask(cx, Operation::Fetch, |cx, message| {
        let lod = cx.splat(level);
        Ok(Request { lod: Some(lod), ..message.request(cx, 0, true)? })
    })
}

/// Lifts `load_lz` (`ld_lz`): u v r.
pub fn load_lz(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    Message::new(cx, i, LOAD)?.ask(cx, Operation::Fetch, |cx, message| message.request(cx, 0, true))
}

/// Lifts `resinfo`: width, height, depth or layers, and levels.
pub fn resinfo(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    let (mask, surface): (u32, Surface) = (Cx::number(cx, i, 0)?, operand(cx, i, 1)?);
    let (lod, dst) = (cx.raw_operand(i, 2)?, cx.raw_operand(i, 3)?);
    let lod = cx.raw(lod, 0, Type::I32);
    let values = one_lane(cx, |cx| {
        let lod = cx.splat(lod);
        let record = surface.record(cx);
        check(cx, &record);
        let [width, height, depth] = texture::sizes(cx, &record, lod);
        // In lines with layers the second number is the number of layers.
        let lines = record.field_is(cx, at::FLAGS, flag::FORM, form(Kind::D1, true));
        let height = cx.choose(lines, depth, height);
        let levels = cx.word(1);
        vec![width, height, depth, cx.splat(levels)]
    });
    write(cx, dst, mask, &values)
}
