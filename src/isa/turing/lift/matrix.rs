//! Products of matrices, and moves of matrices.
//!
//! Source: `mma`, `ldmatrix` and `movmatrix` of PTX, whose registers these instructions have.

use smallvec::SmallVec;
use warploom_guest::matrix::{Rows, transpose};
use warploom_ir::matrix::{Factor, Product, Storage, Sum};
use warploom_ir::{Space, Type, Value};
use warploom_sass::lift::Cx;
use warploom_sass::{Role, Source};

use super::float::round;
use super::flow::{Flow, Lifted, Unsupported};
use super::memory::address;
use super::operand::set_nth;
use crate::field::{
    BmmaOp, BmmaPopc, BmmaShape, ColumnMajor, DmmaShape, HmmaResult, HmmaShape, HmmaSource, ImmaA,
    ImmaShape, LdsmCount, LdsmMode, MovmMode, QmmaShape, QmmaSource, RowMajor, SparseHmmaShape,
    SparseImmaShape, SparseQmmaShape,
};
use crate::{Field, Instruction};

/// Returns the registers of an operand: words, or pairs of them.
fn registers(
    cx: &mut Cx<'_>,
    source: Source,
    count: u16,
    ty: Type,
) -> Result<SmallVec<[Value; 8]>, Unsupported> {
    let first = source.reg().ok_or(Unsupported)?;
    if source.neg || source.abs {
        return Err(Unsupported);
    }
    let register = |n: u16| {
        let value = if ty == Type::I64 {
            let register = cx.after(first, 2 * n as u8);
            cx.reg_pair(register)
        } else {
            let register = cx.after(first, n as u8);
            cx.reg(register)
        };
        cx.b.splat(value)
    };
    Ok((0..count).map(register).collect())
}

/// Multiplies, with the metadata of a sparse matrix, and writes D.
fn multiply(cx: &mut Cx<'_>, i: &Instruction, product: Product) -> Lifted {
    if !product.is_valid() {
        return Err(Unsupported);
    }
    let [a, b, c, d] = product.registers();
    let mut args = registers(cx, i.a(), a, product.a.register())?;
    args.extend(registers(cx, i.b(), b, product.b.register())?);
    args.extend(registers(cx, i.c(), c, product.c.register())?);
    if matches!(product.storage, Storage::Sparse(_)) {
        let metadata = i.source(Role::E).ok_or(Unsupported)?;
        args.extend(registers(cx, metadata, 1, Type::I32)?);
    }
    let results = cx.b.product(product, &args);
    for (n, &result) in (0..d as u8).zip(&results) {
        if product.d.register() == Type::I64 {
            let (low, high) = (cx.b.trunc(Type::I32, result), cx.b.high_half(result));
            set_nth(cx, i, 2 * n, low);
            set_nth(cx, i, 2 * n + 1, high);
        } else {
            set_nth(cx, i, n, result);
        }
    }
    Ok(Flow::Next)
}

/// Returns the storage of the factors: sparse if the instruction has metadata.
fn storage(i: &Instruction) -> Storage {
    match i.field(Field::sparsity) {
        Some(selector) => Storage::Sparse(selector as u8),
        None => Storage::Dense,
    }
}

pub fn hmma(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    let depth = if storage(i) == Storage::Dense {
        match i.hmma_shape() {
            HmmaShape::M16N8K4 => 4,
            HmmaShape::M16N8K8 => 8,
            HmmaShape::M16N8K16 => 16,
            HmmaShape::Reserved => return Err(Unsupported),
        }
    } else {
        match i.sparse_hmma_shape() {
            SparseHmmaShape::M16N8K8 => 8,
            SparseHmmaShape::M16N8K16 => 16,
            SparseHmmaShape::M16N8K32 => 32,
            SparseHmmaShape::Reserved => return Err(Unsupported),
        }
    };
    let factor = match i.hmma_source() {
        HmmaSource::F16 => Factor::F16,
        HmmaSource::Bf16 => Factor::Bf16,
        HmmaSource::Tf32 => Factor::Tf32,
        HmmaSource::Reserved => return Err(Unsupported),
    };
    let sum = match i.hmma_result() {
        HmmaResult::F16 => Sum::F16,
        HmmaResult::F32 => Sum::F32,
    };
    let mut product = Product::dense(16, depth, [factor; 2], [sum; 2]);
    product.storage = storage(i);
    multiply(cx, i, product)
}

/// Lifts QMMA: factors of 8 bits.
pub fn qmma(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    let depth = if storage(i) == Storage::Dense {
        match i.qmma_shape() {
            QmmaShape::M16N8K16 => 16,
            QmmaShape::M16N8K32 => 32,
            _ => return Err(Unsupported),
        }
    } else {
        match i.sparse_qmma_shape() {
            SparseQmmaShape::M16N8K32 => 32,
            SparseQmmaShape::M16N8K64 => 64,
            _ => return Err(Unsupported),
        }
    };
    let factors = [i.qmma_a(), i.qmma_b()].map(|ty| match ty {
        QmmaSource::E4m3 => Factor::E4m3,
        QmmaSource::E5m2 => Factor::E5m2,
    });
    let sum = match i.qmma_result() {
        HmmaResult::F16 => Sum::F16,
        HmmaResult::F32 => Sum::F32,
    };
    let mut product = Product::dense(16, depth, factors, [sum; 2]);
    product.storage = storage(i);
    if !has_usual_order(i) || !i.ps().is_true() {
        return Err(Unsupported);
    }
    multiply(cx, i, product)
}

fn integer(ty: ImmaA) -> Result<Factor, Unsupported> {
    Ok(match ty {
        ImmaA::U8 => Factor::U8,
        ImmaA::S8 => Factor::S8,
        ImmaA::U4 => Factor::U4,
        ImmaA::S4 => Factor::S4,
        _ => return Err(Unsupported),
    })
}

/// Whether A is stored by rows and B by columns.
fn has_usual_order(i: &Instruction) -> bool {
    i.row() == RowMajor::Row && i.col() == ColumnMajor::Col
}

pub fn imma(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    let (rows, depth) = if storage(i) == Storage::Dense {
        match i.imma_shape() {
            ImmaShape::M8N8K16 => (8, 16),
            ImmaShape::M8N8K32 => (8, 32),
            ImmaShape::M16N8K16 => (16, 16),
            ImmaShape::M16N8K32 => (16, 32),
            ImmaShape::M16N8K64 => (16, 64),
            _ => return Err(Unsupported),
        }
    } else {
        match i.sparse_imma_shape() {
            SparseImmaShape::M16N8K32 => (16, 32),
            SparseImmaShape::M16N8K64 => (16, 64),
            SparseImmaShape::M16N8K128 => (16, 128),
            _ => return Err(Unsupported),
        }
    };
    let factors = [integer(i.imma_a())?, integer(i.imma_b())?];
    let mut product = Product::dense(rows, depth, factors, [Sum::S32; 2]);
    (product.storage, product.saturate) = (storage(i), i.sat());
    if !has_usual_order(i) {
        return Err(Unsupported);
    }
    multiply(cx, i, product)
}

pub fn bmma(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    let (rows, depth) = match i.bmma_shape() {
        BmmaShape::M8N8K128 => (8, 128),
        BmmaShape::M16N8K128 => (16, 128),
        BmmaShape::M16N8K256 => (16, 256),
        BmmaShape::Reserved => return Err(Unsupported),
    };
    let mut product = Product::dense(rows, depth, [Factor::B1; 2], [Sum::S32; 2]);
    product.xor = match i.bmma_op() {
        BmmaOp::Xor => true,
        BmmaOp::And => false,
        _ => return Err(Unsupported),
    };
    if !has_usual_order(i) || i.bmma_popc() != BmmaPopc::Popc {
        return Err(Unsupported);
    }
    multiply(cx, i, product)
}

pub fn dmma(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    if i.dmma_shape() != DmmaShape::M8N8K4 {
        return Err(Unsupported);
    }
    let mut product = Product::dense(8, 4, [Factor::F64; 2], [Sum::F64; 2]);
    product.round = round(i.rounding());
    multiply(cx, i, product)
}

/// Lifts LDSM: matrices from shared memory.
pub fn ldsm(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    let count = match i.ldsm_count() {
        LdsmCount::One => 1,
        LdsmCount::Two => 2,
        LdsmCount::Four => 4,
        LdsmCount::Reserved => return Err(Unsupported),
    };
    let transposed = match i.ldsm_mode() {
        LdsmMode::M88 => false,
        LdsmMode::Mt88 => true,
        _ => return Err(Unsupported),
    };
    let (addresses, offset) = address(cx, i, Space::Shared)?;
    let rows = Rows { space: Space::Shared, addresses, offset, transposed };
    let results: SmallVec<[Value; 4]> = (0..count).map(|matrix| rows.load(cx, matrix)).collect();
    for (n, &result) in (0..).zip(&results) {
        set_nth(cx, i, n, result);
    }
    Ok(Flow::Next)
}

/// Lifts MOVM, which transposes a matrix.
pub fn movm(cx: &mut Cx<'_>, i: &Instruction) -> Lifted {
    if i.movm_mode() != MovmMode::Mt88 {
        return Err(Unsupported);
    }
    let bits = cx.word(i.a());
    let result = transpose(cx, bits);
    set_nth(cx, i, 0, result);
    Ok(Flow::Next)
}
