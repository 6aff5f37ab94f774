//! Vector registers, and the sources and destinations of vector instructions with their modifiers.

use warploom_ir::{FloatUnaryOp, IntCc, Type, Value};

use super::context::Cx;
use super::scalars::{M0, float_constant};
use crate::row::Modifiers;
use crate::{DppControl, DstUnused, Encoding, Instruction, Operand, Sel, Source};

impl Cx<'_> {
    /// Returns a vector register. A register that does not exist reads as v0.
    pub fn vector(&mut self, number: u8) -> Value {
        let number = if u32::from(number) < self.vectors { number } else { 0 };
        if let Some(&bits) = self.constant_vectors.and_then(|constants| constants.get(&number)) {
            let constant = self.int(bits);
            return self.b.splat(constant);
        }
        let cell = self.banks.vectors.reg(number.into());
        self.b.rf_read(cell)
    }

    /// Returns two vector registers as an `i64`.
    pub fn vector_pair(&mut self, number: u8) -> Value {
        let (low, high) = (self.vector(number), self.vector(number.wrapping_add(1)));
        self.b.concat(low, high)
    }

    /// Writes a vector register in active lanes. The value has 32 bits, of any type.
    pub fn set_vector(&mut self, number: u8, value: Value) {
        if u32::from(number) < self.vectors {
            let value = self.cast(Type::I32, value);
            let cell = self.banks.vectors.reg(number.into());
            self.b.rf_write(cell, value);
        }
    }

    /// Returns the indexed number of a vector register as source `n` (3: the destination), if m0
    /// indexes that operand.
    fn index_of(&mut self, n: usize, number: u8) -> Option<Value> {
        if self.relative >> n & 1 == 0 {
            return None;
        }
        let (m0, number) = (self.scalar(Operand::Scalar(M0)), self.int(number.into()));
        let index = self.and_bits(m0, 0xff);
        Some(self.b.add(index, number))
    }

    /// Returns a vector register as source `n` (3: the destination) of an instruction of the vector
    /// unit.
    pub fn vector_of(&mut self, n: usize, number: u8) -> Value {
        let Some(index) = self.index_of(n, number) else { return self.vector(number) };
        let (count, zero) = (self.int(self.vectors), self.int(0));
        let exists = self.b.icmp(IntCc::LtU, index, count);
        let index = self.b.uniform_select(exists, index, zero);
        self.b.rf_gather(self.banks.vectors, 0, self.vectors, index)
    }

    /// Returns two vector registers as an `i64`, each read by [`Cx::vector_of`].
    pub fn vector_pair_of(&mut self, n: usize, number: u8) -> Value {
        let (low, high) = (self.vector_of(n, number), self.vector_of(n, number.wrapping_add(1)));
        self.b.concat(low, high)
    }

    /// Writes a vector register that is the destination of an instruction of the vector unit.
    pub fn set_destination(&mut self, number: u8, value: Value) {
        let Some(index) = self.index_of(3, number) else { return self.set_vector(number, value) };
        let value = self.cast(Type::I32, value);
        self.b.rf_scatter(self.banks.vectors, 0, self.vectors, index, value);
    }

    /// Writes a 64-bit value to two vector registers.
    pub fn set_vector_pair(&mut self, number: u8, value: Value) {
        let value = self.cast(Type::I64, value);
        let (low, high) = (self.b.trunc(Type::I32, value), self.b.high_half(value));
        self.set_vector(number, low);
        if let Some(number) = number.checked_add(1) {
            self.set_vector(number, high);
        }
    }

    /// Returns the 32 bits of source `n`, without modifiers.
    fn operand(&mut self, n: usize, operand: Operand) -> Value {
        match operand {
            Operand::Vector(number) => self.vector_of(n, number),
            other => self.scalar(other),
        }
    }

    /// Returns word `part` of a source of more than two words that is no constant.
    pub fn part_of(&mut self, i: &Instruction, n: usize, part: u8) -> Value {
        match i.src(n).operand {
            Operand::Vector(number) => self.vector_of(n, number.wrapping_add(part)),
            Operand::Scalar(number) => self.scalar(Operand::Scalar(number.wrapping_add(part))),
            other => self.scalar(other),
        }
    }

    /// Writes a result of several words to consecutive vector registers.
    pub fn set_parts(&mut self, i: &Instruction, parts: &[Value]) {
        if let Operand::Vector(first) = i.dst() {
            for (&part, n) in parts.iter().zip(0..) {
                self.set_destination(first.wrapping_add(n), part);
            }
        }
    }

    /// Returns the 32 bits of a source as the operation gets them, without the modifiers of floats.
    ///
    /// DPP exchanges lanes, SDWA chooses and extends a part, and `op_sel` chooses a half.
    fn chosen(&mut self, i: &Instruction, n: usize) -> Value {
        let source = i.src(n);
        let half = source.ty.is_half();
        let mut value = match source.operand {
            Operand::Float(number) if half => self.int(float_constant(number, Type::F16) as u32),
            operand => self.operand(n, operand),
        };
        if n == 0
            && let Some(dpp) = i.dpp()
        {
            value = self.exchanged(value, &dpp);
        }
        if source.op_sel {
            value = self.shr(value, 16);
        }
        self.selected(value, source)
    }

    /// Returns the part of a value that SDWA chooses.
    fn selected(&mut self, value: Value, source: Source) -> Value {
        let (lo, bits) = match source.sel {
            Sel::Dword => return value,
            Sel::Byte0 => (0, 8),
            Sel::Byte1 => (8, 8),
            Sel::Byte2 => (16, 8),
            Sel::Byte3 => (24, 8),
            Sel::Word0 => (0, 16),
            Sel::Word1 => (16, 16),
        };
        let value = if lo == 0 { value } else { self.shr(value, lo) };
        self.low_bits(value, bits, source.sext)
    }

    /// Returns an integer source of 32 bits. The upper half of a 16-bit source means nothing.
    pub fn word(&mut self, i: &Instruction, n: usize) -> Value {
        self.chosen(i, n)
    }

    /// Returns an integer source of 16 bits, extended.
    pub fn half_word(&mut self, i: &Instruction, n: usize, signed: bool) -> Value {
        let value = self.chosen(i, n);
        self.low_bits(value, 16, signed)
    }

    /// Returns the 64 bits of a source, without modifiers.
    pub fn long_word(&mut self, i: &Instruction, n: usize) -> Value {
        let source = i.src(n);
        match source.operand {
            Operand::Vector(number) => self.vector_pair_of(n, number),
            Operand::Literal(bits) => self.long(source.ty.literal(bits)),
            other => self.scalar_pair(other),
        }
    }

    pub fn f32(&mut self, i: &Instruction, n: usize) -> Value {
        let bits = self.chosen(i, n);
        let value = self.cast(Type::F32, bits);
        self.signs(i.src(n), value)
    }

    pub fn f16(&mut self, i: &Instruction, n: usize) -> Value {
        let bits = self.chosen(i, n);
        let value = self.b.trunc(Type::I16, bits);
        let value = self.cast(Type::F16, value);
        self.signs(i.src(n), value)
    }

    /// Returns a half of a register as an `f16`.
    pub fn f16_of(&mut self, i: &Instruction, n: usize, high: bool) -> Value {
        let source = i.src(n);
        let word = self.operand(n, source.operand);
        let word = if high { self.shr(word, 16) } else { word };
        let value = self.b.trunc(Type::I16, word);
        let value = self.cast(Type::F16, value);
        self.signs(source, value)
    }

    pub fn f64(&mut self, i: &Instruction, n: usize) -> Value {
        let bits = self.long_word(i, n);
        let value = self.cast(Type::F64, bits);
        self.signs(i.src(n), value)
    }

    /// Applies the absolute value and negation to a float.
    fn signs(&mut self, source: Source, mut value: Value) -> Value {
        if source.abs {
            value = self.b.fabs(value);
        }
        if source.neg {
            value = self.b.fneg(value);
        }
        value
    }

    /// Writes the 32-bit result of an integer instruction.
    pub fn set_word(&mut self, i: &Instruction, value: Value) {
        let value = self.cast(Type::I32, value);
        match i.dst() {
            Operand::Vector(number) => self.set_part(i, number, value, 32),
            scalar => self.set_scalar(scalar, value),
        }
    }

    /// Writes a 16-bit result, whose upper half means nothing.
    ///
    /// The encoding decides about the register's other half.
    pub fn set_half_word(&mut self, i: &Instruction, value: Value) {
        let Operand::Vector(number) = i.dst() else { return };
        if i.sdwa().is_some() {
            return self.set_part(i, number, value, 16);
        }
        // Instructions that VOP3 has added keep the other half. Instructions that VOP3 shares with
        // older encodings clear it.
        if i.encoding() != Encoding::Vop3 || !i.row().has(Modifiers::OP_SEL) {
            let value = self.low_bits(value, 16, false);
            return self.guarded(i, |cx| cx.set_destination(number, value));
        }
        let old = self.vector_of(3, number);
        let merged = if i.op_sel() & 8 != 0 {
            let (low, high) = (self.low_bits(old, 16, false), self.shl(value, 16));
            self.b.or(low, high)
        } else {
            let (low, high) = (self.low_bits(value, 16, false), self.and_bits(old, 0xffff_0000));
            self.b.or(low, high)
        };
        self.guarded(i, |cx| cx.set_destination(number, merged));
    }

    /// Writes a 64-bit result.
    pub fn set_long_word(&mut self, i: &Instruction, value: Value) {
        match i.dst() {
            Operand::Vector(number) => {
                let value = self.cast(Type::I64, value);
                let (low, high) = (self.b.trunc(Type::I32, value), self.b.high_half(value));
                self.guarded(i, |cx| {
                    cx.set_destination(number, low);
                    cx.set_destination(number.wrapping_add(1), high);
                });
            }
            scalar => {
                let value = self.cast(Type::I64, value);
                self.set_scalar_pair(scalar, value);
            }
        }
    }

    /// Writes an `f32` result with output modifier and clamp.
    pub fn set_f32(&mut self, i: &Instruction, value: Value) {
        let value = self.float_result(i, value);
        self.set_word(i, value);
    }

    pub fn set_f16(&mut self, i: &Instruction, value: Value) {
        let value = self.float_result(i, value);
        let value = self.cast(Type::I16, value);
        let value = self.b.zero_extend(Type::I32, value);
        self.set_half_word(i, value);
    }

    pub fn set_f64(&mut self, i: &Instruction, value: Value) {
        let value = self.float_result(i, value);
        self.set_long_word(i, value);
    }

    /// Applies `omod` and `clamp`.
    pub fn float_result(&mut self, i: &Instruction, mut value: Value) -> Value {
        let ty = self.b.ty(value).ty;
        // mul:2, mul:4, div:2
        let scale = [None, Some(244), Some(246), Some(240)][usize::from(i.omod() & 3)];
        if let Some(number) = scale.filter(|_| self.mode.scales(ty)) {
            let scale = self.b.iconst(ty, float_constant(number, ty));
            value = self.b.fmul(self.mode.attrs(ty), value, scale);
        }
        if i.clamp() {
            value = self.clamped(value);
        }
        value
    }

    /// Clamps a float to [0, 1].
    pub fn clamped(&mut self, value: Value) -> Value {
        let ty = self.b.ty(value).ty;
        let attrs = warploom_ir::FloatAttrs { saturate: true, ..self.mode.attrs(ty) };
        let clamped = self.b.funary(FloatUnaryOp::Copy, attrs, value);
        if self.mode.clamps_nan() {
            return clamped;
        }
        let nan = self.b.fcmp(warploom_ir::FloatCc::Nan, false, value, value);
        self.b.select(nan, value, clamped)
    }

    /// Writes a result of `bits` bits to a register, or to the part of it that SDWA chooses.
    fn set_part(&mut self, i: &Instruction, number: u8, value: Value, bits: u32) {
        let Some(sdwa) = i.sdwa() else {
            return self.guarded(i, |cx| cx.set_destination(number, value));
        };
        let (lo, width) = match sdwa.dst_sel {
            Sel::Dword => {
                let value = self.low_bits(value, bits, false);
                return self.set_destination(number, value);
            }
            Sel::Byte0 => (0, 8),
            Sel::Byte1 => (8, 8),
            Sel::Byte2 => (16, 8),
            Sel::Byte3 => (24, 8),
            Sel::Word0 => (0, 16),
            Sel::Word1 => (16, 16),
        };
        let mask = ((1u64 << width) - 1) << lo;
        let result = match sdwa.dst_unused {
            DstUnused::Pad => {
                let part = self.low_bits(value, width, false);
                self.shl(part, lo)
            }
            DstUnused::Sext => {
                let part = self.low_bits(value, width, true);
                self.shl(part, lo)
            }
            DstUnused::Preserve => {
                let part = self.low_bits(value, width, false);
                let part = self.shl(part, lo);
                let old = self.vector_of(3, number);
                let rest = self.and_bits(old, !mask & 0xffff_ffff);
                self.b.or(rest, part)
            }
        };
        self.set_destination(number, result);
    }

    /// Runs `write` under the guard of an instruction with DPP.
    pub fn guarded(&mut self, i: &Instruction, write: impl FnOnce(&mut Self)) {
        let guard = self.dpp_guard(i);
        self.b.set_guard(guard);
        write(self);
        self.b.set_guard(None);
    }

    /// Returns the lanes that an instruction with DPP writes. `None`: all lanes.
    pub fn dpp_guard(&mut self, i: &Instruction) -> Option<Value> {
        let dpp = i.dpp()?;
        let mut lanes = 0u64;
        for lane in 0..64 {
            let (row, bank) = (lane / 16, lane / 4 % 4);
            lanes |= u64::from(dpp.row_mask >> row & dpp.bank_mask >> bank & 1) << lane;
        }
        let mut guard = (lanes != u64::MAX).then(|| self.lanes(lanes));
        if !dpp.bound_ctrl {
            // Lanes without a source keep their values.
            let valid = self.valid_sources(dpp.control);
            guard = Some(guard.map_or(valid, |guard| self.b.and(guard, valid)));
        }
        guard
    }

    /// Returns the lanes whose source lane exists and is active.
    fn valid_sources(&mut self, control: DppControl) -> Value {
        let exec = self.exec();
        let (sources, exist) = sources(control);
        let index = self.lane_table(&sources);
        // This is bit `index` of the active mask.
        let zero = self.int(0);
        let exec = self.b.from_mask(exec);
        let low = self.b.trunc(Type::I32, exec);
        let high = self.b.high_half(exec);
        let upper = self.and_bits(index, 32);
        let upper = self.b.icmp(IntCc::Ne, upper, zero);
        let half = self.b.select(upper, high, low);
        let place = self.and_bits(index, 31);
        let bit = self.b.shr_u(half, place);
        let bit = self.and_bits(bit, 1);
        let active = self.b.icmp(IntCc::Ne, bit, zero);
        let exist = self.lanes(exist);
        self.b.and(active, exist)
    }

    /// Gives lane `i` the value of the lane that DPP names.
    ///
    /// With `bound_ctrl`, lanes without a source get 0.
    fn exchanged(&mut self, value: Value, dpp: &crate::Dpp) -> Value {
        let (lanes, _) = sources(dpp.control);
        let index = self.lane_table(&lanes);
        let value = self.b.splat(value);
        let gathered = self.b.lane_gather(value, index);
        if !dpp.bound_ctrl {
            return gathered;
        }
        let valid = self.valid_sources(dpp.control);
        let zero = self.int(0);
        self.b.select(valid, gathered, zero)
    }

    /// Returns a varying `i32` with a given number, less than 64, in each lane.
    pub fn lane_table(&mut self, table: &[u8; 64]) -> Value {
        let lane = self.b.lane_id();
        let step = i64::from(table[0]);
        if (0..64).all(|lane| i64::from(table[lane]) == (lane as i64 + step) & 63) {
            let offset = self.int(step as u32);
            let sum = self.b.add(lane, offset);
            return self.and_bits(sum, 63);
        }
        // Each bit of the numbers is a constant mask of lanes.
        let mut result = self.int(0);
        for bit in 0..6 {
            let lanes =
                (0..64).fold(0u64, |lanes, lane| lanes | u64::from(table[lane] >> bit & 1) << lane);
            if lanes != 0 {
                let (lanes, set, clear) = (self.lanes(lanes), self.int(1 << bit), self.int(0));
                let part = self.b.select(lanes, set, clear);
                result = self.b.or(result, part);
            }
        }
        self.b.splat(result)
    }
}

/// Returns the source lane of each lane, and the lanes that have a source.
///
/// Source: "Vega" Instruction Set Architecture, "Data Parallel Primitives".
fn sources(control: DppControl) -> ([u8; 64], u64) {
    let mut table = [0; 64];
    let mut exist = 0;
    for lane in 0..64i32 {
        let (row, place) = (lane & !15, lane & 15);
        let within = |place: i32| (0..16).contains(&place).then_some(row + place);
        let whole = |lane: i32| (0..64).contains(&lane).then_some(lane);
        let source = match control {
            DppControl::QuadPerm(quad) => Some(lane & !3 | i32::from(quad[(lane & 3) as usize])),
            DppControl::RowShl(n) => within(place + i32::from(n)),
            DppControl::RowShr(n) => within(place - i32::from(n)),
            DppControl::RowRor(n) => Some(row + ((place - i32::from(n)) & 15)),
            DppControl::WaveShl => whole(lane + 1),
            DppControl::WaveShr => whole(lane - 1),
            DppControl::WaveRol => Some((lane + 1) & 63),
            DppControl::WaveRor => Some((lane - 1) & 63),
            DppControl::RowMirror => Some(row + 15 - place),
            DppControl::RowHalfMirror => Some(lane ^ 7),
            // The last lane of a row goes to the next row.
            DppControl::RowBcast15 => (row > 0).then(|| row - 1),
            // Lane 31 goes to rows 2 and 3.
            DppControl::RowBcast31 => (row >= 32).then_some(31),
        };
        table[lane as usize] = source.unwrap_or(lane) as u8;
        exist |= u64::from(source.is_some()) << lane;
    }
    (table, exist)
}
