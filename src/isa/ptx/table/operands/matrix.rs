//! Matrices: the registers of a lane for each fragment. Facts, `ptx.md` 2.12.

use super::{AllChecked, Check, Checked, Form, at};
use crate::module::{Address, Operand};
use crate::types::Ty;
use crate::word::Word;

/// The shape of `m16n8k32`.
#[derive(Clone, Copy)]
struct Shape {
    m: usize,
    n: usize,
    k: usize,
}

/// The number of a fragment's registers, and their type.
type Fragment = (usize, Ty);

impl Form {
    fn shape(&self) -> Shape {
        let numbers = |word: &Word| {
            let (m, rest) = word.text().strip_prefix('m')?.split_once('n')?;
            let (n, k) = rest.split_once('k')?;
            Some(Shape { m: m.parse().ok()?, n: n.parse().ok()?, k: k.parse().ok()? })
        };
        self.words.iter().find_map(numbers).unwrap_or(Shape { m: 16, n: 8, k: 8 })
    }

    /// Returns the bits of an element in a register.
    fn element_bits(&self, ty: Ty) -> usize {
        let padded = self.has(Word::KindF8f6f4) || self.has(Word::KindMxf8f6f4);
        if padded && ty.bits() < 8 { 8 } else { ty.bits() as usize }
    }

    /// Returns a lane's fragment of `elements` elements of a warp.
    fn spread(&self, elements: usize, ty: Ty) -> Fragment {
        match ty {
            Ty::F64 | Ty::F32 | Ty::S32 => (elements / 32, ty),
            _ => ((elements * self.element_bits(ty)).div_ceil(32 * 32), Ty::B32),
        }
    }

    /// Returns the fragments A, B, C and D of `mma`, sparse or not.
    pub fn fragments(&self, sparse: bool) -> [Fragment; 4] {
        let Shape { m, n, k } = self.shape();
        let [d, a, b, c] = [0, 1, 2, 3].map(|n| self.ty(n));
        // These shapes compute four products at once.
        let quad = if m * n * k == 8 * 8 * 4 && a.bits() == 16 { 4 } else { 1 };
        let stored = if sparse { 2 } else { 1 };
        [
            self.spread(quad * m * k / stored, a),
            self.spread(quad * k * n, b),
            self.spread(quad * m * n, c),
            self.spread(quad * m * n, d),
        ]
    }

    /// Returns the number of registers of `ldmatrix` and `stmatrix`.
    pub fn matrix_registers(&self) -> usize {
        let matrices = match self.one_of(&[Word::X1, Word::X2, Word::X4]) {
            Some(Word::X2) => 2,
            Some(Word::X4) => 4,
            _ => 1,
        };
        matrices * if self.has(Word::M16n16) { 2 } else { 1 }
    }

    fn wmma_factor(&self, ty: Ty, first: bool) -> Fragment {
        let Shape { m, n, k } = self.shape();
        match ty {
            // Each element occurs twice, whatever the shape.
            Ty::F16 => (8, Ty::B32),
            Ty::F64 => (1, Ty::F64),
            _ if first => self.spread(m * k, ty),
            _ => self.spread(k * n, ty),
        }
    }

    fn wmma_sum(&self, ty: Ty) -> Fragment {
        let Shape { m, n, .. } = self.shape();
        self.spread(m * n, ty)
    }

    /// Returns the fragment of `wmma.load` and `wmma.store`, which the opcode names.
    pub fn wmma_named(&self) -> Fragment {
        let which = [Word::Alpha, Word::Blue, Word::MatrixC, Word::MatrixD];
        let ty = self.ty(0);
        match self.one_of(&which) {
            Some(Word::Alpha) => self.wmma_factor(ty, true),
            Some(Word::Blue) => self.wmma_factor(ty, false),
            _ => self.wmma_sum(ty),
        }
    }

    /// Returns the fragments A, B, C and D of `wmma.mma`.
    pub fn wmma_fragments(&self) -> [Fragment; 4] {
        let (d, a, b, c) = match self.types[..] {
            [d, c] => (d, Ty::F16, Ty::F16, c),
            _ => (self.ty(0), self.ty(1), self.ty(2), self.ty(3)),
        };
        [self.wmma_factor(a, true), self.wmma_factor(b, false), self.wmma_sum(c), self.wmma_sum(d)]
    }

    /// Returns the fragment D of `wgmma`.
    pub fn wgmma_sum(&self) -> Fragment {
        let Shape { m, n, .. } = self.shape();
        self.spread(m * n / 4, self.ty(0))
    }

    /// Returns the number of metadata sets that a sparse product selects from.
    pub fn selectors(&self) -> u64 {
        let k = self.shape().k;
        let bits_of_row = match self.ty(1) {
            Ty::Tf32 => k * 2,
            ty if ty.bits() == 4 => k / 2,
            _ => k,
        };
        // A lane has 16 bits of each of its rows. Four lanes hold as many sets as fit.
        let lanes = (bits_of_row / 16).clamp(1, 4);
        // ptxas accepts one more set for this form.
        let more = usize::from(k == 32 && self.ty(0) == Ty::F32 && self.ty(1) == Ty::F16);
        (4 / lanes + more) as u64
    }
}

impl Check<'_> {
    /// Checks registers in braces.
    fn registers(&self, operand: &Operand, (count, ty): Fragment, written: bool) -> Checked {
        let one = |operand: &Operand| match written {
            true => self.destination(operand, ty, false),
            false => self.register_only(operand, ty, false),
        };
        match operand {
            Operand::Vector(all) if all.len() == count => all.iter().try_for_each(one),
            Operand::Vector(all) => Err(format!("found {} registers, expected {count}", all.len())),
            alone if count == 1 => one(alone),
            _ => Err(format!("expected {count} registers in braces")),
        }
    }

    fn multiplied(&self, operands: &[Operand], [a, b, c, d]: [Fragment; 4]) -> AllChecked {
        self.registers(&operands[0], d, true).map_err(at(0))?;
        [a, b, c]
            .iter()
            .zip(1..)
            .try_for_each(|(of, n)| self.registers(&operands[n], *of, false).map_err(at(n)))
    }

    pub fn mma(&self, operands: &[Operand]) -> AllChecked {
        self.count(operands, 4, 4)?;
        self.multiplied(operands, self.form.fragments(false))
    }

    /// Checks `mma.sp`: with metadata, and the lanes that have them.
    pub fn sparse_mma(&self, operands: &[Operand]) -> AllChecked {
        self.count(operands, 6, 6)?;
        self.multiplied(operands, self.form.fragments(true))?;
        self.register_only(&operands[4], Ty::B32, false).map_err(at(4))?;
        self.immediate(&operands[5], 0, self.form.selectors() - 1).map_err(at(5))
    }

    /// Checks a scaled `mma`: scales of both factors, each with register, byte and thread.
    pub fn scaled_mma(&self, operands: &[Operand]) -> AllChecked {
        self.count(operands, 8, 8)?;
        self.multiplied(operands, self.form.fragments(false))?;
        [4, 6].into_iter().try_for_each(|n| {
            self.register_only(&operands[n], Ty::B32, false).map_err(at(n))?;
            let pair = match &operands[n + 1] {
                Operand::Vector(all) if all.len() == 2 => all,
                _ => return Err((n + 1, "expected a byte and a thread in braces".into())),
            };
            pair.iter()
                .try_for_each(|operand| self.source(operand, Ty::B16, false))
                .map_err(at(n + 1))
        })
    }

    /// Checks the fragment of `wmma.load` and `wmma.store`, which the opcode names.
    pub fn fragment(&self, operand: &Operand, written: bool) -> Checked {
        self.registers(operand, self.form.wmma_named(), written)
    }

    pub fn wmma(&self, operands: &[Operand]) -> AllChecked {
        self.count(operands, 4, 4)?;
        self.multiplied(operands, self.form.wmma_fragments())
    }

    /// Checks `d, a, b, scale` and, depending on the types, signs and transpositions.
    pub fn wgmma(&self, operands: &[Operand]) -> AllChecked {
        let a = self.form.ty(1);
        let in_registers = matches!(operands.get(1), Some(Operand::Vector(_)));
        let flags = match a.bits() {
            16 if in_registers => 3,
            16 => 4,
            _ if a.is_float() => 2,
            _ => 0,
        };
        self.count(operands, 4 + flags, 4 + flags)?;
        self.registers(&operands[0], self.form.wgmma_sum(), true).map_err(at(0))?;
        match in_registers {
            true => self.registers(&operands[1], (4, Ty::B32), false).map_err(at(1))?,
            false => self.source(&operands[1], Ty::B64, false).map_err(at(1))?,
        }
        self.source(&operands[2], Ty::B64, false).map_err(at(2))?;
        self.predicate_source(&operands[3]).map_err(at(3))?;
        (4..operands.len()).try_for_each(|n| match operands[n] {
            Operand::Integer(0) if n >= 6 => Ok(()),
            Operand::Integer(1) => Ok(()),
            Operand::Integer(u64::MAX) if n < 6 => Ok(()),
            _ if n < 6 => Err((n, "expected 1 or -1".into())),
            _ => Err((n, "expected 0 or 1".into())),
        })
    }

    /// Checks the registers of a load or store of tensor memory.
    pub fn tensor_registers(&self, operand: &Operand) -> Checked {
        let times =
            [Word::X1, Word::X2, Word::X4, Word::X8, Word::X16, Word::X32, Word::X64, Word::X128];
        let times = 1 << times.iter().position(|&word| self.form.has(word)).unwrap_or(0);
        let each = match self.form.one_of(&[Word::Shape16x128b, Word::Shape16x256b]) {
            Some(Word::Shape16x128b) => 2,
            Some(_) => 4,
            None => 1,
        };
        let one = |operand: &Operand| self.register_only(operand, Ty::B32, false);
        match operand {
            Operand::Vector(all) if all.len() == times * each => all.iter().try_for_each(one),
            Operand::Vector(all) => {
                Err(format!("found {} registers, expected {}", all.len(), times * each))
            }
            alone if times * each == 1 => one(alone),
            _ => Err(format!("expected {} registers in braces", times * each)),
        }
    }

    /// Checks `[d], a, b, i{, mask}, p`. A is a descriptor or an address.
    pub fn tcgen05(&self, operands: &[Operand]) -> AllChecked {
        self.count(operands, 5, 6)?;
        self.address(&operands[0], None).map_err(at(0))?;
        match operands[1] {
            Operand::Address(Address { .. }) => self.address(&operands[1], None).map_err(at(1))?,
            _ => self.source(&operands[1], Ty::B64, false).map_err(at(1))?,
        }
        self.source(&operands[2], Ty::B64, false).map_err(at(2))?;
        self.source(&operands[3], Ty::B32, false).map_err(at(3))?;
        let last = operands.len() - 1;
        self.predicate_source(&operands[last]).map_err(at(last))
    }
}
