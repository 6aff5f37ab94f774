//! `wmma`: matrices that a warp loads, multiplies and stores as a whole.

use warploom_ir::matrix::{ElementPosition, Factor, Linear, Order};
use warploom_ir::{Access, Extend, Space, Type, Value};

use super::super::context::{Cx, Insn};
use super::super::{Lifted, Unsupported};
use super::fragment::{self, Matrix, Tiling};
use super::{address, factor, product, set_registers, shape, space, sum};
use crate::module::Operand;
use crate::table::Form;
use crate::types::Ty;
use crate::word::Word;
use warploom_guest::matrix::lane_parts;

/// A matrix in memory and in registers.
struct Stored {
    space: Space,
    base: Value,
    offset: i32,
    /// The type of addresses.
    ty: Type,
    matrix: Matrix,
    order: Order,
    /// Bytes from one row (column) to the next.
    stride: Value,
    registers: Vec<Vec<ElementPosition>>,
}

/// Returns the matrix that a form loads or stores.
fn matrix(form: &Form) -> Result<Matrix, Unsupported> {
    let ty = form.ty(0);
    match form
        .one_of(&[Word::Alpha, Word::Blue, Word::MatrixC, Word::MatrixD])
        .ok_or(Unsupported)?
    {
        Word::Alpha => Ok(Matrix::A(factor(ty)?)),
        Word::Blue => Ok(Matrix::B(factor(ty)?)),
        _ => Ok(Matrix::C(sum(ty)?)),
    }
}

impl Stored {
    /// Reads the operands: the address, and the stride in elements if there is one.
    fn of(
        cx: &mut Cx<'_>,
        insn: &Insn<'_>,
        at: &Operand,
        stride: Option<&Operand>,
    ) -> Result<Stored, Unsupported> {
        let form = insn.form;
        let (matrix, shape) = (matrix(form)?, shape(form)?);
        let order = if form.has(Word::Col) { Order::Col } else { Order::Row };
        let [m, n, k] = shape;
        let registers = fragment::registers(Tiling::of(shape).ok_or(Unsupported)?, k, matrix);
        let along_row = match matrix {
            Matrix::A(_) => order == Order::Row,
            Matrix::B(_) => order == Order::Col,
            Matrix::C(_) => true,
        };
        // Elements of less than a byte lie along the depth.
        if matrix.bits() < 8 && !along_row {
            return Err(Unsupported);
        }
        let (space, wide) = space(form);
        let (base, offset, ty) = address(cx, at, wide)?;
        let (rows, cols) = match matrix {
            Matrix::A(_) => (m, k),
            Matrix::B(_) => (k, n),
            Matrix::C(_) => (m, n),
        };
        let tight = if order == Order::Row { cols } else { rows };
        let stride = match stride {
            Some(stride) => cx.bits(stride, Ty::U32),
            None => cx.word(tight.into()),
        };
        let stride = cx.resize(stride, ty, false);
        let stride = bytes(cx, stride, ty, matrix.bits());
        Ok(Stored { space, base, offset, ty, matrix, order, stride, registers })
    }

    /// Whether the elements of a register are adjacent in memory.
    fn is_contiguous(&self, places: &[ElementPosition]) -> bool {
        let along = |place: &ElementPosition| {
            if self.order == Order::Row { (place.row, place.col) } else { (place.col, place.row) }
        };
        places.windows(2).all(|pair| {
            let ((a, first), (b, next)) = (along(&pair[0]), along(&pair[1]));
            a == b && next == Linear { add: first.add + 1, ..first }
        })
    }

    fn access(&self, cx: &mut Cx<'_>, place: ElementPosition, ty: Type) -> Access {
        let (major, minor) =
            if self.order == Order::Row { (place.row, place.col) } else { (place.col, place.row) };
        let (major, minor) = (self.number(cx, major), self.number(cx, minor));
        let major = cx.b.mul(major, self.stride);
        let minor = bytes(cx, minor, self.ty, self.matrix.bits());
        let address = cx.b.add(self.base, major);
        let address = cx.b.add(address, minor);
        cx.b.access(self.space, ty, 1, address, self.offset)
    }

    /// Returns a number that depends on the lane, in the type of addresses.
    fn number(&self, cx: &mut Cx<'_>, linear: Linear) -> Value {
        let mut result = cx.word(linear.add.into());
        let [g, t] = lane_parts(cx);
        for (part, factor) in [(g, linear.g), (t, linear.t)] {
            if factor != 0 {
                let factor = cx.word(factor.into());
                let product = cx.b.mul(part, factor);
                result = cx.b.add(result, product);
            }
        }
        cx.resize(result, self.ty, false)
    }

    /// Returns the type of an element in memory.
    fn element(&self) -> Type {
        super::super::context::int_type(self.matrix.bits())
    }

    /// Returns the type of a register.
    fn register(&self) -> Type {
        if self.matrix.bits() == 64 { Type::I64 } else { Type::I32 }
    }

    fn load(&self, cx: &mut Cx<'_>, places: &[ElementPosition]) -> Value {
        if self.is_contiguous(places) {
            let access = self.access(cx, places[0], self.register());
            return cx.b.load_access(access, Extend::None)[0];
        }
        let mut result = cx.word(0);
        for (e, &place) in (0..).zip(places) {
            let access = self.access(cx, place, self.element());
            let element = cx.b.load_access(access, Extend::None)[0];
            let element = cx.resize(element, Type::I32, false);
            let count = cx.word(e * self.matrix.bits());
            let element = cx.b.shl(element, count);
            result = cx.b.or(result, element);
        }
        result
    }

    fn store(&self, cx: &mut Cx<'_>, places: &[ElementPosition], register: Value) {
        if self.is_contiguous(places) {
            let access = self.access(cx, places[0], self.register());
            return cx.b.store_access(access, &[register]);
        }
        for (e, &place) in (0..).zip(places) {
            let access = self.access(cx, place, self.element());
            let count = cx.word(e * self.matrix.bits());
            let element = cx.b.shr_u(register, count);
            let element = cx.resize(element, self.element(), false);
            cx.b.store_access(access, &[element]);
        }
    }
}

/// Converts a number of elements to bytes.
fn bytes(cx: &mut Cx<'_>, elements: Value, ty: Type, bits: u32) -> Value {
    let shift = |by: u32| by.trailing_zeros().into();
    if bits < 8 {
        let count = cx.constant(ty, shift(8 / bits));
        cx.b.shr_u(elements, count)
    } else {
        let count = cx.constant(ty, shift(bits / 8));
        cx.b.shl(elements, count)
    }
}

/// Whether an operand has the registers of a matrix. `f16` factors always have 8, which repeat if
/// the matrix has fewer.
fn fits(matrix: Matrix, registers: usize, found: usize) -> bool {
    let repeats = matches!(matrix, Matrix::A(Factor::F16) | Matrix::B(Factor::F16));
    if repeats { found == 8 && 8 % registers == 0 } else { found == registers }
}

pub fn wmma_load(cx: &mut Cx<'_>, insn: &Insn<'_>) -> Lifted {
    let stored = Stored::of(cx, insn, insn.operand(1), insn.operands.get(2))?;
    let count = cx.elements(insn.operand(0)).len();
    if !fits(stored.matrix, stored.registers.len(), count) {
        return Err(Unsupported);
    }
    let loaded: Vec<Value> =
        stored.registers.iter().map(|places| stored.load(cx, places)).collect();
    let values: Vec<Value> = (0..count).map(|r| loaded[r % loaded.len()]).collect();
    set_registers(cx, insn.operand(0), &values);
    Ok(())
}

pub fn wmma_store(cx: &mut Cx<'_>, insn: &Insn<'_>) -> Lifted {
    let stored = Stored::of(cx, insn, insn.operand(0), insn.operands.get(2))?;
    let values =
        super::registers(cx, insn.operand(1), stored.registers.len() as u16, stored.register())?;
    for (places, &value) in stored.registers.iter().zip(&values) {
        stored.store(cx, places, value);
    }
    Ok(())
}

/// Returns the types of D, A, B and C. Forms of `f16` name only the types of D and C.
fn types(form: &Form) -> Result<[Ty; 4], Unsupported> {
    match form.types[..] {
        [d, c] => Ok([d, Ty::F16, Ty::F16, c]),
        [d, a, b, c] => Ok([d, a, b, c]),
        _ => Err(Unsupported),
    }
}

pub fn wmma_mma(cx: &mut Cx<'_>, insn: &Insn<'_>) -> Lifted {
    let form = insn.form;
    let shape = shape(form)?;
    let [d, a, b, c] = types(form)?;
    let (tiling, depth) = (Tiling::of(shape).ok_or(Unsupported)?, shape[2]);
    let (a, b, c, d) = (factor(a)?, factor(b)?, sum(c)?, sum(d)?);
    let factors = if tiling == Tiling::Transposed { [b, a] } else { [a, b] };
    let product = product(form, tiling.rows().into(), depth, factors, [c, d])?;
    if !product.is_valid() {
        return Err(Unsupported);
    }
    let mut sources = Vec::new();
    for (n, matrix) in (1..).zip([Matrix::A(a), Matrix::B(b), Matrix::C(c)]) {
        let count = fragment::registers(tiling, depth, matrix).len();
        let found = cx.elements(insn.operand(n)).len();
        if !fits(matrix, count, found) {
            return Err(Unsupported);
        }
        let ty = if matrix.bits() == 64 { Type::I64 } else { Type::I32 };
        let mut values = super::registers(cx, insn.operand(n), found as u16, ty)?;
        values.truncate(count);
        sources.push(values);
    }
    if cx.elements(insn.operand(0)).len() != fragment::registers(tiling, depth, Matrix::C(d)).len()
    {
        return Err(Unsupported);
    }
    if tiling == Tiling::Transposed {
        sources.swap(0, 1);
    }
    let counts = product.registers().map(usize::from);
    let mut results = Vec::new();
    for tile in 0..tiling.count() {
        let mut args = Vec::new();
        for (values, count) in sources.iter().zip(counts) {
            // A factor that both products share has no second part.
            let first = if values.len() == count { 0 } else { tile * count };
            args.extend_from_slice(&values[first..first + count]);
        }
        results.extend(cx.b.product(product, &args));
    }
    set_registers(cx, insn.operand(0), &results);
    Ok(())
}
