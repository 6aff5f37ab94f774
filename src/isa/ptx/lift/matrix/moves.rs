//! Moves of matrices of 8 x 8 elements of 16 bits between registers and memory. Lane 4 g + t holds
//! elements 2 t and 2 t + 1 of row g.

use warploom_guest::divergence::Mask;
use warploom_ir::{Access, Extend, IntCc, Space, Type, Value};

use super::super::context::{Cx, Insn};
use super::super::convert::pack;
use super::super::half::halves;
use super::super::{Lifted, Unsupported};
use super::{address, set_registers, space};
use crate::module::Operand;
use crate::types::Ty;
use crate::word::Word;

/// Returns the numbers g and t of a lane 4 g + t.
pub fn lane_parts(cx: &mut Cx<'_>) -> [Value; 2] {
    let (lane, two, three) = (cx.b.lane_id(), cx.word(2), cx.word(3));
    [cx.b.shr_u(lane, two), cx.b.and(lane, three)]
}

fn matrices(insn: &Insn<'_>) -> Result<u32, Unsupported> {
    let form = insn.form;
    if !form.has(Word::M8n8) || form.ty(0) != Ty::B16 {
        return Err(Unsupported);
    }
    match form.one_of(&[Word::X1, Word::X2, Word::X4]).ok_or(Unsupported)? {
        Word::X1 => Ok(1),
        Word::X2 => Ok(2),
        _ => Ok(4),
    }
}

/// Rows of a matrix in memory: lane 8 j + i has the address of row i of matrix j.
struct Rows {
    space: Space,
    addresses: Value,
    offset: i32,
    ty: Type,
    trans: bool,
}

impl Rows {
    fn of(cx: &mut Cx<'_>, insn: &Insn<'_>, operand: &Operand) -> Result<Rows, Unsupported> {
        let (space, wide) = space(insn.form);
        let (addresses, offset, ty) = address(cx, operand, wide)?;
        Ok(Rows { space, addresses, offset, ty, trans: insn.form.has(Word::Trans) })
    }

    /// Returns the access of a lane's part of a matrix: of row `row + add`, from byte `byte` on.
    fn part(
        &self,
        cx: &mut Cx<'_>,
        matrix: u32,
        row: Value,
        add: u32,
        byte: Value,
        ty: Type,
    ) -> Access {
        let first = cx.word(8 * matrix + add);
        let index = cx.b.add(row, first);
        let address = cx.b.lane_gather(self.addresses, index);
        let byte = cx.resize(byte, self.ty, false);
        let address = cx.b.add(address, byte);
        cx.b.access(self.space, ty, 1, address, self.offset)
    }

    /// Returns the accesses of the two halves of a transposed element, or of the word of another
    /// element.
    fn parts(&self, cx: &mut Cx<'_>, matrix: u32) -> Vec<Access> {
        let [g, t] = lane_parts(cx);
        let (one, two) = (cx.word(1), cx.word(2));
        if self.trans {
            let (row, byte) = (cx.b.shl(t, one), cx.b.shl(g, one));
            return [0, 1].map(|add| self.part(cx, matrix, row, add, byte, Type::I16)).into();
        }
        let byte = cx.b.shl(t, two);
        vec![self.part(cx, matrix, g, 0, byte, Type::I32)]
    }
}

pub fn ldmatrix(cx: &mut Cx<'_>, insn: &Insn<'_>) -> Lifted {
    let count = matrices(insn)?;
    if cx.elements(insn.operand(0)).len() != count as usize {
        return Err(Unsupported);
    }
    let rows = Rows::of(cx, insn, insn.operand(1))?;
    let mut results = Vec::new();
    for matrix in 0..count {
        let parts = rows.parts(cx, matrix);
        let loaded: Vec<Value> =
            parts.into_iter().map(|access| cx.b.load_access(access, Extend::None)[0]).collect();
        results.push(match loaded[..] {
            [low, high] => pack(cx, low, high),
            _ => loaded[0],
        });
    }
    set_registers(cx, insn.operand(0), &results);
    Ok(())
}

pub fn stmatrix(cx: &mut Cx<'_>, insn: &Insn<'_>) -> Lifted {
    let count = matrices(insn)?;
    let sources = cx.elements(insn.operand(1));
    if sources.len() != count as usize {
        return Err(Unsupported);
    }
    let rows = Rows::of(cx, insn, insn.operand(0))?;
    for (matrix, source) in (0..).zip(sources) {
        let bits = cx.bits(source, Ty::B32);
        let values = if rows.trans { halves(cx, bits).to_vec() } else { vec![bits] };
        for (access, value) in rows.parts(cx, matrix).into_iter().zip(values) {
            cx.b.store_access(access, &[value]);
        }
    }
    Ok(())
}

/// Lifts `movmatrix`, which transposes a matrix: elements 2 t and 2 t + 1 of column g are in lanes
/// 8 t + g / 2 and four further on.
pub fn movmatrix(cx: &mut Cx<'_>, insn: &Insn<'_>) -> Lifted {
    if !insn.form.has(Word::M8n8) || !insn.form.has(Word::Trans) || insn.form.ty(0) != Ty::B16 {
        return Err(Unsupported);
    }
    let bits = cx.bits(insn.operand(1), Ty::B32);
    let bits = cx.b.splat(bits);
    let [g, t] = lane_parts(cx);
    let (none, one, three) = (cx.word(0), cx.word(1), cx.word(3));
    let (first, within) = (cx.b.shl(t, three), cx.b.shr_u(g, one));
    let first = cx.b.add(first, within);
    let odd = cx.b.and(g, one);
    let odd = Mask::Lanes(cx.b.icmp(IntCc::Ne, odd, none));
    let [low, high] = [0, 4].map(|distance| {
        let distance = cx.word(distance);
        let lane = cx.b.add(first, distance);
        let word = cx.b.lane_gather(bits, lane);
        let [even, uneven] = halves(cx, word);
        cx.select(odd, uneven, even)
    });
    let result = pack(cx, low, high);
    cx.set(insn.operand(0), Ty::B32, result);
    Ok(())
}
