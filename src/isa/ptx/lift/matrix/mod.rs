//! Matrices spread over a warp.
//!
//! Source: facts, `ptx.md` 2.12.

mod fragment;
mod moves;
mod wgmma;
mod wmma;

pub use moves::{ldmatrix, movmatrix, stmatrix};
use smallvec::SmallVec;
use warploom_ir::matrix::{Factor, Order, Product, Storage, Sum};
use warploom_ir::{Space, Type, Value};
pub use wgmma::wgmma;
pub use wmma::{wmma_load, wmma_mma, wmma_store};

use super::context::{Cx, Insn};
use super::float::rounding;
use super::{Lifted, Unsupported};
use crate::module::{Address, Operand};
use crate::table::Form;
use crate::types::Ty;
use crate::word::Word;

/// The registers of a matrix.
type Registers = SmallVec<[Value; 8]>;

/// Returns the rows, columns and depth of `m16n8k16`.
fn shape(form: &Form) -> Result<[u16; 3], Unsupported> {
    let parse = |word: Word| -> Option<[u16; 3]> {
        let (m, rest) = word.text().strip_prefix('m')?.split_once('n')?;
        let (n, k) = rest.split_once('k')?;
        Some([m.parse().ok()?, n.parse().ok()?, k.parse().ok()?])
    };
    form.words.iter().find_map(|&word| parse(word)).ok_or(Unsupported)
}

fn factor(ty: Ty) -> Result<Factor, Unsupported> {
    Ok(match ty {
        Ty::F16 => Factor::F16,
        Ty::Bf16 => Factor::Bf16,
        Ty::Tf32 => Factor::Tf32,
        Ty::E4m3 => Factor::E4m3,
        Ty::E5m2 => Factor::E5m2,
        Ty::F64 => Factor::F64,
        Ty::S8 => Factor::S8,
        Ty::U8 => Factor::U8,
        Ty::S4 => Factor::S4,
        Ty::U4 => Factor::U4,
        Ty::B1 => Factor::B1,
        _ => return Err(Unsupported),
    })
}

fn sum(ty: Ty) -> Result<Sum, Unsupported> {
    Ok(match ty {
        Ty::F16 => Sum::F16,
        Ty::F32 => Sum::F32,
        Ty::S32 => Sum::S32,
        Ty::F64 => Sum::F64,
        _ => return Err(Unsupported),
    })
}

/// Returns the product that the words of a form describe, without the storage of its factors.
fn product(
    form: &Form,
    rows: u16,
    depth: u16,
    factors: [Factor; 2],
    sums: [Sum; 2],
) -> Result<Product, Unsupported> {
    const SCALED: &[Word] = &[
        Word::BlockScale,
        Word::KindMxf8f6f4,
        Word::KindMxf4,
        Word::KindMxf4nvf4,
        Word::KindF8f6f4,
    ];
    if form.one_of(SCALED).is_some() {
        return Err(Unsupported);
    }
    let rows = u8::try_from(rows).map_err(|_| Unsupported)?;
    let mut product = Product::dense(rows, depth, factors, sums);
    // For old forms with `f16` the word has no exact meaning: they may overflow either way.
    product.saturate = form.has(Word::SatFinite) && sums[1] == Sum::S32;
    product.xor = form.has(Word::Xor);
    product.round = rounding(form);
    Ok(product)
}

/// Returns the orders of matrices A and B: the words `row` and `col`, as they come.
fn orders(form: &Form) -> Option<[Order; 2]> {
    let mut orders = form.words.iter().filter_map(|word| match word {
        Word::Row => Some(Order::Row),
        Word::Col => Some(Order::Col),
        _ => None,
    });
    Some([orders.next()?, orders.next()?])
}

/// Returns the registers of an operand that has this many.
fn registers(
    cx: &mut Cx<'_>,
    operand: &Operand,
    count: u16,
    ty: Type,
) -> Result<Registers, Unsupported> {
    let elements = cx.elements(operand);
    if elements.len() != usize::from(count) {
        return Err(Unsupported);
    }
    let ty = if ty == Type::I64 { Ty::B64 } else { Ty::B32 };
    Ok(elements.iter().map(|element| cx.bits(element, ty)).collect())
}

fn set_registers(cx: &mut Cx<'_>, operand: &Operand, values: &[Value]) {
    for (element, &value) in cx.elements(operand).iter().zip(values) {
        let ty = if cx.b.ty(value).ty == Type::I64 { Ty::B64 } else { Ty::B32 };
        cx.set(element, ty, value);
    }
}

/// Lifts `mma`, `mma.sp`: `d = a * b + c`.
pub fn mma(cx: &mut Cx<'_>, insn: &Insn<'_>) -> Lifted {
    let form = insn.form;
    if form.types.len() != 4 {
        return Err(Unsupported);
    }
    let [rows, cols, depth] = shape(form)?;
    let factors = [factor(form.ty(1))?, factor(form.ty(2))?];
    let mut product = product(form, rows, depth, factors, [sum(form.ty(3))?, sum(form.ty(0))?])?;
    let is_sparse = form.has(Word::Sp) || form.has(Word::SpOrdered);
    let orders = orders(form).ok_or(Unsupported)?;
    if is_sparse {
        let Operand::Integer(selector) = *insn.operand(5) else { return Err(Unsupported) };
        product.storage = Storage::Sparse(u8::try_from(selector).map_err(|_| Unsupported)?);
    } else if (rows, depth) == (8, 4) && product.a.bits() == 16 {
        product.storage = Storage::Quad(orders);
    }
    let is_quad = matches!(product.storage, Storage::Quad(_));
    if cols != 8 || !product.is_valid() || !(is_quad || orders == [Order::Row, Order::Col]) {
        return Err(Unsupported);
    }
    let [a, b, c, d] = product.registers();
    if cx.elements(insn.operand(0)).len() != usize::from(d) {
        return Err(Unsupported);
    }
    let mut args = registers(cx, insn.operand(1), a, product.a.register())?;
    args.extend(registers(cx, insn.operand(2), b, product.b.register())?);
    args.extend(registers(cx, insn.operand(3), c, product.c.register())?);
    if is_sparse {
        args.push(cx.bits(insn.operand(4), Ty::B32));
    }
    let results = cx.b.product(product, &args);
    set_registers(cx, insn.operand(0), &results);
    Ok(())
}

/// Returns the IR's space of a form's addresses, and whether they have 64 bits.
fn space(form: &Form) -> (Space, bool) {
    match form.one_of(&[Word::Shared, Word::SharedCta, Word::SharedCluster, Word::Global]) {
        Some(Word::Global) => (Space::Global, true),
        Some(_) => (Space::Shared, false),
        None => (Space::Generic, true),
    }
}

/// Returns an address operand's address in each lane, a constant to add, and its type.
fn address(
    cx: &mut Cx<'_>,
    operand: &Operand,
    wide: bool,
) -> Result<(Value, i32, Type), Unsupported> {
    let Operand::Address(address) = operand else { return Err(Unsupported) };
    let address: &Address = address;
    let (base, offset) = cx.address(address, wide);
    let base = cx.b.splat(base);
    Ok((base, offset, if wide { Type::I64 } else { Type::I32 }))
}
