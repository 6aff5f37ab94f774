//! Attributes: ALD, AST, AL2P, ISBERD, OUT.
//!
//! Source: facts, `graphics.md`, sections 1.3 and 1.7. A word of attribute space is an array with a
//! word for each lane ([`arrays`](crate::arrays)); physical addresses are logical ones.

use warploom_guest::divergence::{Mask, nonzero};
use warploom_guest::header::{ATTRIBUTE_WORDS, attribute};
use warploom_guest::shader::Stage;
use warploom_ir::{Access, Extend, IntCc, Type, Value};

use super::context::{Cx, PT};
use super::flow::{Flow, Lifted, Unsupported};
use crate::arrays::{Array, at, emitted};
use crate::field::{IsberdMode, OutMode};
use crate::{Instruction, Reg};

/// The words that an instruction moves.
#[derive(Clone, Copy)]
enum Words {
    /// From this word on.
    Known(u16),
    /// From the word with this number on; the number differs from lane to lane.
    Indexed(Value),
}

/// Whether bit 31 is set: the instruction moves words of the patch.
fn is_of_patch(i: &Instruction) -> bool {
    i.bits(31, 1) != 0
}

fn words(cx: &mut Cx<'_>, i: &Instruction) -> Result<Words, Unsupported> {
    let operand = i.address().ok_or(Unsupported)?;
    if operand.base.is_zero() {
        return Ok(Words::Known((operand.offset as u32 & 0x3ff) as u16 / 4));
    }
    let (base, offset) = (cx.varying_reg(operand.base), cx.int(operand.offset as u32));
    let address = cx.b.add(base, offset);
    Ok(Words::Indexed(cx.shr(address, 2)))
}

/// Returns the register of the vertex operand, if there is one.
fn vertex(i: &Instruction) -> Result<Option<Reg>, Unsupported> {
    let vertex = i.c().reg().ok_or(Unsupported)?;
    Ok(Some(vertex).filter(|vertex| !vertex.is_zero()))
}

/// Returns the number of the `n`th word, in attribute space.
fn nth(cx: &mut Cx<'_>, first: Value, n: u8) -> Value {
    let (n, last) = (cx.int(n.into()), cx.int(u32::from(ATTRIBUTE_WORDS) - 1));
    let word = cx.b.add(first, n);
    cx.b.and(word, last)
}

/// Returns the address of the `n`th word's array, and the lanes that have an array. None: no lane
/// has one.
fn array(cx: &mut Cx<'_>, of: fn(u16) -> Array, words: Words, n: u8) -> Option<(Value, Mask)> {
    match words {
        Words::Known(first) => {
            let array = of((first + u16::from(n)) % ATTRIBUTE_WORDS);
            let given = cx.shader().is_ok_and(|shader| shader.program.arrays.has(array));
            given.then(|| (cx.told(array.offset(), Type::I64), Mask::Always))
        }
        Words::Indexed(first) => {
            let word = nth(cx, first, n);
            let array = cx.indexed(of(0), word);
            Some((array, Mask::Lanes(nonzero(&mut cx.b, array))))
        }
    }
}

/// Returns the number of the first lane of this lane's patch.
fn first_of_patch(cx: &mut Cx<'_>) -> Value {
    let (number, invocation) = (cx.lane_number(), cx.input(Array::Invocation));
    let invocation = cx.b.zero_extend(Type::I64, invocation);
    cx.b.sub(number, invocation)
}

/// Returns the number of words that an attribute instruction moves.
fn count(i: &Instruction) -> u8 {
    i.attribute_size() as u8 + 1
}

/// Returns the lanes where an `i32` is less than another, unsigned.
fn below(cx: &mut Cx<'_>, value: Value, limit: Value) -> Mask {
    Mask::Lanes(cx.b.icmp(IntCc::LtU, value, limit))
}

pub fn ald(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    let stage = cx.shader()?.program.header.stage();
    let (patch, vertex) = (is_of_patch(i), vertex(i)?);
    let words = words(cx, i)?;
    let tessellation = attribute::TESSELLATION / 4..attribute::TESSELLATION_END / 4;
    let at_coordinates = matches!(words, Words::Known(word) if tessellation.contains(&word));
    match (stage, i.output(), patch) {
        (Stage::Vertex, false, false) if vertex.is_none() => {
            load_inputs(cx, i, Array::Attribute, words, None)
        }
        (Stage::TessControl | Stage::TessEval | Stage::Geometry, false, false) => {
            load_inputs(cx, i, Array::Attribute, words, vertex)
        }
        // Here the operand is the number of the lane.
        (Stage::TessEval, true, false) if at_coordinates => {
            load_inputs(cx, i, Array::Attribute, words, None)
        }
        (Stage::TessEval, false, true) => load_inputs(cx, i, Array::Patch, words, None),
        (Stage::TessControl, true, true) => {
            let number = first_of_patch(cx);
            load(
                cx,
                i,
                Array::PatchOutput,
                words,
                AttributeOwner { number, plane: None, inside: Mask::Always },
            )
        }
        (Stage::TessControl, true, false) if let Some(thread) = vertex => {
            load_thread(cx, i, words, thread)
        }
        (Stage::Vertex | Stage::TessControl | Stage::TessEval, true, false) if vertex.is_none() => {
            let number = cx.lane_number();
            load(
                cx,
                i,
                Array::Output,
                words,
                AttributeOwner { number, plane: None, inside: Mask::Always },
            )
        }
        _ => Err(Unsupported),
    }
}

/// Loads inputs of the lane, or of a vertex of its primitive; 0 if there is no such vertex.
fn load_inputs(
    cx: &mut Cx<'_>,
    i: &Instruction,
    of: fn(u16) -> Array,
    words: Words,
    vertex: Option<Reg>,
) -> Lifted {
    let number = cx.lane_number();
    let mut place = AttributeOwner { number, plane: None, inside: Mask::Always };
    if let Some(vertex) = vertex {
        let (vertex, vertices) = (cx.varying_reg(vertex), cx.told(at::VERTICES, Type::I32));
        place.inside = below(cx, vertex, vertices);
        place.plane = Some(plane(cx, vertex));
    }
    load(cx, i, of, words, place)
}

/// Loads outputs of a thread of the lane's patch; 0 if there is no such thread.
fn load_thread(cx: &mut Cx<'_>, i: &Instruction, words: Words, thread: Reg) -> Lifted {
    let threads = cx.shader()?.program.header.threads();
    let (first, thread, threads) = (first_of_patch(cx), cx.varying_reg(thread), cx.int(threads));
    let inside = below(cx, thread, threads);
    let thread = cx.b.zero_extend(Type::I64, thread);
    let number = cx.b.add(first, thread);
    load(cx, i, Array::Output, words, AttributeOwner { number, plane: None, inside })
}

/// The owner of the words that are accessed.
#[derive(Clone, Copy)]
struct AttributeOwner {
    /// The number of the owning lane.
    number: Value,
    /// The distance to the row of a vertex.
    plane: Option<Value>,
    /// The lanes for which the owner exists.
    inside: Mask,
}

/// Returns the distance from the row of vertex 0 to the row of `vertex`.
fn plane(cx: &mut Cx<'_>, vertex: Value) -> Value {
    let (vertex, stride) = (cx.b.zero_extend(Type::I64, vertex), cx.told(at::STRIDE, Type::I64));
    cx.b.mul(vertex, stride)
}

impl AttributeOwner {
    /// Returns the access to the owner's word in an array, for the lanes that have the array.
    fn access(self, cx: &mut Cx<'_>, (array, given): (Value, Mask)) -> Access {
        let array = self.plane.map_or(array, |plane| cx.b.add(array, plane));
        let address = cx.element(array, self.number);
        let inside = cx.and(self.inside, given);
        cx.word_at(address, inside)
    }
}

fn load(
    cx: &mut Cx<'_>,
    i: &Instruction,
    of: fn(u16) -> Array,
    words: Words,
    place: AttributeOwner,
) -> Lifted {
    for n in 0..count(i) {
        let value = match array(cx, of, words, n) {
            Some(array) => {
                let access = place.access(cx, array);
                cx.b.load_access(access, Extend::None)[0]
            }
            None => match words {
                Words::Known(first) => cx.absent((first + u16::from(n)) % ATTRIBUTE_WORDS),
                Words::Indexed(_) => cx.int(0),
            },
        };
        let register = cx.after(i.d(), n);
        cx.set(register, value);
    }
    Ok(Flow::Next)
}

pub fn ast(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    let shader = cx.shader()?;
    let (stage, patch, vertex) = (shader.program.header.stage(), is_of_patch(i), vertex(i)?);
    let data = i.b().reg().ok_or(Unsupported)?;
    let of: fn(u16) -> Array = if patch { Array::PatchOutput } else { Array::Output };
    let mut place = AttributeOwner { number: cx.lane_number(), plane: None, inside: Mask::Always };
    match (stage, patch, vertex) {
        // Without a handle, the access is to the first vertex.
        (Stage::Vertex | Stage::TessControl | Stage::TessEval | Stage::Geometry, false, None) => {}
        (Stage::TessControl, true, None) => place.number = first_of_patch(cx),
        (Stage::Geometry, false, Some(handle)) => {
            let (handle, most) =
                (cx.varying_reg(handle), cx.int(shader.program.header.max_vertices()));
            place.inside = below(cx, handle, most);
            place.plane = Some(plane(cx, handle));
        }
        _ => return Err(Unsupported),
    }
    let words = words(cx, i)?;
    for n in 0..count(i) {
        let value = cx.nth(data, n);
        if let Some(array) = array(cx, of, words, n) {
            let access = place.access(cx, array);
            cx.b.store_access(access, &[value]);
        }
    }
    Ok(Flow::Next)
}

/// Lifts AL2P: physical addresses equal logical addresses.
pub fn al2p(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    cx.shader()?;
    if i.pd() != PT {
        return Err(Unsupported);
    }
    let (base, offset) = match i.source(crate::Role::A) {
        Some(base) => (cx.raw(base), i.attribute_offset() as u32),
        None => (cx.int(0), i.tag() as u32),
    };
    let offset = cx.int(offset);
    let address = cx.b.add(base, offset);
    cx.set(i.d(), address);
    Ok(Flow::Next)
}

/// Lifts VOTE.VTG: a hint to vertex, tessellation and geometry programs. No lane sees its result.
pub fn vote_vtg(cx: &mut Cx<'_>, _: &Instruction) -> Lifted {
    cx.shader().map(|_| Flow::Next)
}

/// Lifts ISBERD: the handle of an input vertex is its number.
pub fn isberd(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    cx.shader()?;
    if i.isberd_mode() != IsberdMode::None || i.output() || i.skew() {
        return Err(Unsupported);
    }
    let number = cx.raw(i.a());
    cx.set(i.d(), number);
    Ok(Flow::Next)
}

/// Lifts OUT: emits the vertex whose handle is A, or ends the strip; D becomes the handle of the
/// next vertex. Handles are numbers from 0 on. Beyond the header's maximum of vertices nothing is
/// emitted.
pub fn out(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    let shader = cx.shader_of(Stage::Geometry)?;
    let mode = i.out_mode();
    let (emits, cuts) = match mode {
        OutMode::Emit => (true, false),
        OutMode::Cut => (false, true),
        OutMode::EmitThenCut => (true, true),
        OutMode::Reserved => return Err(Unsupported),
    };
    let (handle, stream) = (cx.raw(i.a()), cx.word(i.b()));
    let handle = cx.b.splat(handle);
    let (one, most) = (cx.int(1), cx.int(shader.program.header.max_vertices()));
    let next = cx.b.add(handle, one);
    let inside = below(cx, handle, most);
    if emits {
        let stream = cx.shl(stream, emitted::STREAM_SHIFT);
        let vertex = cx.int(emitted::VERTEX);
        let bits = cx.b.or(stream, vertex);
        mark(cx, handle, bits, inside);
    }
    if cuts {
        let (at, bits) = (if emits { next } else { handle }, cx.int(emitted::CUT));
        // The end of the last strip has a place behind the last vertex.
        let inside = if emits { inside } else { Mask::Lanes(cx.b.icmp(IntCc::LeU, handle, most)) };
        mark(cx, at, bits, inside);
    }
    let result = if emits { cx.select(inside, next, handle) } else { handle };
    cx.set(i.d(), result);
    Ok(Flow::Next)
}

/// Sets bits in the word about a vertex.
fn mark(cx: &mut Cx<'_>, vertex: Value, bits: Value, inside: Mask) {
    let array = (cx.told(Array::Emitted.offset(), Type::I64), Mask::Always);
    let place = AttributeOwner { number: cx.lane_number(), plane: Some(plane(cx, vertex)), inside };
    let access = place.access(cx, array);
    let before = cx.b.load_access(access, Extend::None)[0];
    let after = cx.b.or(before, bits);
    cx.b.store_access(access, &[after]);
}
