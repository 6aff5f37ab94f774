//! Random functions for property tests and fuzzers: valid by construction, and runnable.
//!
//! A function expects the launch environment of [`Limits`]. It may fault and may loop for ever, so
//! it runs with an instruction limit. Faults and the limit are equal on every engine. Choices come
//! from a [`Source`], so that a fuzzer's bytes steer them.

mod op;

use warploom_ir::builder::{BlockBuilder, FunctionBuilder};
use warploom_ir::function::*;
use warploom_ir::register::{BankId, CellKind, Region};
use warploom_ir::types::{Type, ValueType, Window};

/// A source of choices.
pub trait Source {
    /// Returns a number less than `bound`, which is not 0.
    fn below(&mut self, bound: u32) -> u32;
}

/// Pseudo-random numbers (xorshift64*).
#[derive(Clone, Debug)]
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Self {
        Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }
}

impl Source for Random {
    fn below(&mut self, bound: u32) -> u32 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (((self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 32) * u64::from(bound)) >> 32) as u32
    }
}

/// A fuzzer's bytes, then zeros when they are used up.
#[derive(Clone, Debug)]
pub struct Bytes<'a>(pub &'a [u8]);

impl Source for Bytes<'_> {
    fn below(&mut self, bound: u32) -> u32 {
        let length = self.0.len().min(if bound <= 0x100 { 1 } else { 4 });
        let (taken, rest) = self.0.split_at(length);
        self.0 = rest;
        taken.iter().fold(0, |value, &byte| value << 8 | u32::from(byte)) % bound
    }
}

/// The size of a function, and its environment: constant bank 0 starts with the address of a
/// buffer.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    pub lanes: u8,
    /// The number of blocks besides the entry, at least 1.
    pub blocks: u32,
    /// The most operations chosen for a block. Each may bring a few operations for its operands.
    pub ops: u32,
    /// Sizes of the buffer and of shared and local memory, powers of two, at least 256.
    pub buffer_bytes: u32,
    pub shared_bytes: u32,
    pub local_bytes: u32,
}

impl Default for Limits {
    fn default() -> Self {
        Limits {
            lanes: 32,
            blocks: 4,
            ops: 20,
            buffer_bytes: 4096,
            shared_bytes: 1024,
            local_bytes: 256,
        }
    }
}

/// The number of registers of each bank.
const REGISTERS: u32 = 4;
/// Bytes of a byte-array register.
const ARRAY_BYTES: u32 = 96;

/// Returns a random function. Its banks are `r<type>` of lane registers and `u<type>` of uniform
/// registers for each type, `m` of masks (the last mask is the active mask), and `x` of byte
/// arrays.
pub fn function(source: &mut dyn Source, limits: Limits) -> Function {
    let nan = NanPolicy { f16: 0x7fff, f32: 0x7fff_ffff, f64: 0xfff8 << 48 };
    let mut f = FunctionBuilder::new("random", limits.lanes, nan);
    let lane_banks =
        Type::ALL.map(|ty| f.bank(format!("r{}", ty.name()), CellKind::Lane(ty), REGISTERS));
    let uniform_banks =
        Type::ALL.map(|ty| f.bank(format!("u{}", ty.name()), CellKind::Uniform(ty), REGISTERS));
    let masks = f.bank("m", CellKind::Mask, REGISTERS);
    let arrays = f.bank("x", CellKind::Bytes(ARRAY_BYTES), REGISTERS);
    f.set_active(masks.reg(REGISTERS - 1));
    for block in 0..=limits.blocks {
        let id = f.new_block(u64::from(block) * 0x100);
        f.set_cost(id, 1 + source.below(5));
        f.set_indirect_target(id, block != 0 && source.below(4) == 0);
    }
    let banks = Banks { lane: lane_banks, uniform: uniform_banks, masks, arrays };
    for block in 0..=limits.blocks {
        let mut generator = Generator {
            source: &mut *source,
            limits,
            banks,
            b: f.at(BlockId(block)),
            pool: Vec::new(),
        };
        generator.block();
    }
    match f.finish() {
        Ok(function) => function,
        Err(error) => unreachable!("the generator's operations are well-typed: {error}"),
    }
}

#[derive(Clone, Copy)]
struct Banks {
    /// In the order of [`Type::ALL`].
    lane: [BankId; 7],
    uniform: [BankId; 7],
    masks: BankId,
    arrays: BankId,
}

struct Generator<'a> {
    source: &'a mut dyn Source,
    limits: Limits,
    banks: Banks,
    b: BlockBuilder<'a>,
    /// Values of this block with their types and windows.
    pool: Vec<(Value, ValueType, Window)>,
}

impl Generator<'_> {
    fn below(&mut self, bound: u32) -> u32 {
        self.source.below(bound)
    }

    /// Returns true once in `n` times.
    fn once_in(&mut self, n: u32) -> bool {
        self.below(n) == 0
    }

    fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len() as u32) as usize]
    }

    fn block(&mut self) {
        for _ in 0..self.below(self.limits.ops + 1) {
            if self.once_in(4) {
                let pc = self.b.pc() + 8;
                self.b.set_pc(pc);
            }
            let window = self.window();
            self.b.set_window(window);
            self.op();
        }
        self.b.set_window(Window::all(self.limits.lanes));
        self.terminator();
    }

    /// Returns mostly the whole warp or a half, sometimes any window.
    fn window(&mut self) -> Window {
        let lanes = u32::from(self.limits.lanes);
        let (first, count) = match self.below(12) {
            0 if lanes > 1 => (0, lanes / 2),
            1 if lanes > 1 => (lanes / 2, lanes - lanes / 2),
            2 => {
                let first = self.below(lanes);
                (first, 1 + self.below(lanes - first))
            }
            _ => (0, lanes),
        };
        Window { first: first as u8, count: count as u8 }
    }

    /// Enters results into the pool.
    fn keep(&mut self, values: &[Value]) {
        for &value in values {
            self.keep_in(self.b.window(), value);
        }
    }

    fn keep_in(&mut self, window: Window, value: Value) {
        self.pool.push((value, self.b.ty(value), window));
    }

    fn int_type(&mut self) -> Type {
        self.pick(&[Type::I32, Type::I32, Type::I64, Type::I8, Type::I16])
    }

    fn float_type(&mut self) -> Type {
        self.pick(&[Type::F32, Type::F32, Type::F64, Type::F16])
    }

    fn any_type(&mut self) -> Type {
        self.pick(&Type::ALL)
    }

    /// Returns a value of this type that an operation in the current window may use.
    fn value(&mut self, ty: Type) -> Value {
        let window = self.b.window();
        self.value_where(ty, |t, w| t.is_uniform() || w.contains(window))
    }

    fn uniform(&mut self, ty: Type) -> Value {
        self.value_where(ty, |t, _| t.is_uniform())
    }

    fn varying(&mut self, ty: Type, window: Window) -> Value {
        let before = self.b.window();
        self.b.set_window(window);
        let value = self.value_where(ty, |t, w| !t.is_uniform() && w.contains(window));
        let value = if self.b.ty(value).is_uniform() { self.b.splat(value) } else { value };
        self.b.set_window(before);
        value
    }

    /// Returns a value from the pool, a register or a constant. The value is uniform if `fits`
    /// wants it so, as masks are.
    fn value_where(&mut self, ty: Type, fits: impl Fn(ValueType, Window) -> bool) -> Value {
        let window = self.b.window();
        let candidates: Vec<Value> = self
            .pool
            .iter()
            .filter(|(_, t, w)| t.ty == ty && fits(*t, *w))
            .map(|(value, ..)| *value)
            .collect();
        if !candidates.is_empty() && !self.once_in(4) {
            // Late values are preferred, so that chains get long.
            let late = candidates.len().min(6);
            return self.pick(&candidates[candidates.len() - late..]);
        }
        let bank = Type::ALL.iter().position(|t| *t == ty);
        let index = self.below(REGISTERS);
        let value = match (self.below(3), bank) {
            (0, Some(bank)) if fits(ValueType::varying(ty), window) => {
                self.b.rf_read(self.banks.lane[bank].reg(index))
            }
            (1, Some(bank)) => self.b.rf_read(self.banks.uniform[bank].reg(index)),
            (1, None) => self.b.rf_read(self.banks.masks.reg(index)),
            _ => {
                let bits = self.constant(ty);
                self.b.iconst(ty, bits)
            }
        };
        self.keep(&[value]);
        value
    }

    /// Returns bits that are often special.
    fn constant(&mut self, ty: Type) -> u64 {
        let sign = 1u64 << (ty.bits() - 1);
        let random = u64::from(self.below(u32::MAX)) << 32 | u64::from(self.below(u32::MAX));
        let special = match ty {
            Type::F16 => {
                [0, sign, 0x3c00, 0xbc00, 0x7c00, 0xfc00, 0x7e01, 0x7c01, 1, 0x03ff, 0x0400, 0x7bff]
            }
            Type::F32 => [
                0,
                sign,
                0x3f80_0000,
                0xbf80_0000,
                0x7f80_0000,
                0xff80_0000,
                0x7fc0_0001,
                0x7f80_0001,
                1,
                0x007f_ffff,
                0x0080_0000,
                0x7f7f_ffff,
            ],
            Type::F64 => [
                0,
                sign,
                0x3ff << 52,
                0xbff << 52,
                0x7ff << 52,
                0xfff << 52,
                0x7ff8_0000_0000_0001,
                0x7ff0_0000_0000_0001,
                1,
                (1 << 52) - 1,
                1 << 52,
                (0x7ff << 52) - 1,
            ],
            _ => [0, 1, 2, 3, 4, 8, 31, 32, sign, sign - 1, u64::MAX, u64::from(ty.bits())],
        };
        let small = u64::from(self.below(64));
        let special = self.pick(&special);
        self.pick(&[random, special, special, small])
    }

    fn mask(&mut self) -> Value {
        self.uniform(Type::Mask)
    }

    /// Returns a mask or a number.
    fn condition(&mut self) -> Value {
        let ty = if self.once_in(2) { Type::Mask } else { self.int_type() };
        self.uniform(ty)
    }

    fn maybe_guard(&mut self) -> (Option<Value>, bool) {
        let guard = if self.once_in(3) { Some(self.mask()) } else { None };
        (guard, self.once_in(6))
    }

    fn region(&mut self) -> Region {
        if self.once_in(2) {
            return Region::packed(self.below(ARRAY_BYTES));
        }
        Region {
            offset: self.below(ARRAY_BYTES + 8),
            vstride: self.below(20) as u16,
            width: 1 + self.below(16) as u16,
            hstride: self.below(4) as u16,
        }
    }

    fn terminator(&mut self) {
        let block = self.b.block();
        let targets = self.limits.blocks;
        let target = |this: &mut Self| {
            // Targets are mostly forwards.
            let forwards = targets - block.0.min(targets - 1);
            let any = this.once_in(4);
            let first = if any { 1 } else { targets + 1 - forwards };
            BlockId(first + this.below(targets + 1 - first))
        };
        match self.below(14) {
            0 | 1 => {
                let target = target(self);
                self.b.jump(target);
            }
            2..=5 => {
                let cond = self.condition();
                let (then, otherwise) = (target(self), target(self));
                self.b.branch(cond, then, otherwise);
            }
            6 => {
                let value = self.uniform(Type::I32);
                let cases =
                    (0..self.below(4)).map(|case| (u64::from(case), target(self))).collect();
                let default = target(self);
                self.b.switch(value, cases, default);
            }
            7 => {
                let pc = (1 + self.below(targets)) * 0x100;
                let pc = self.b.iconst(Type::I64, pc.into());
                self.b.indirect(pc);
            }
            8 => {
                let kind = self.pick(&[
                    BarrierKind::Sync,
                    BarrierKind::Arrive,
                    BarrierKind::Popcount,
                    BarrierKind::And,
                    BarrierKind::Or,
                    BarrierKind::ClusterArrive,
                    BarrierKind::ClusterWait,
                ]);
                let id = self.below(16);
                let id = self.b.iconst(Type::I32, id.into());
                let threads = match kind {
                    BarrierKind::Arrive => Some(self.b.iconst(Type::I32, self.limits.lanes.into())),
                    _ => None,
                };
                let reduces =
                    matches!(kind, BarrierKind::Popcount | BarrierKind::And | BarrierKind::Or);
                let of_cluster =
                    matches!(kind, BarrierKind::ClusterArrive | BarrierKind::ClusterWait);
                let predicate = if reduces { Some(self.mask()) } else { None };
                let resume = target(self);
                let counts = if !of_cluster && self.once_in(3) {
                    BarrierCounts::Lanes
                } else {
                    BarrierCounts::Warps
                };
                self.b.barrier(Barrier { kind, counts, id, threads, predicate }, resume);
            }
            9 | 10 => {
                let places =
                    (0..REGISTERS - 1).filter(|_| self.below(3) != 0).collect::<Vec<u32>>();
                let places = places
                    .into_iter()
                    .map(|index| (self.banks.masks.reg(index), target(self)))
                    .collect();
                let from = if self.once_in(3) { Some(self.uniform(Type::I32)) } else { None };
                let otherwise = target(self);
                self.b.dispatch(places, from, otherwise);
            }
            11 if self.once_in(3) => {
                let event = self.pick(&[
                    LaneEvent::Exit,
                    LaneEvent::Wait,
                    LaneEvent::Poll,
                    LaneEvent::Poll,
                ]);
                let resume = target(self);
                self.b.lanes(event, resume);
            }
            11 if self.once_in(2) => {
                let waiting = (0..REGISTERS - 1)
                    .map(|index| (self.banks.masks.reg(index), u64::from(0x10 * index)));
                self.b.deadlock(waiting.collect());
            }
            12 if self.once_in(3) => {
                let kind = self.pick(&[
                    TrapKind::IllegalInstruction,
                    TrapKind::Unimplemented,
                    TrapKind::Guest,
                    TrapKind::StackOverflow,
                ]);
                self.b.trap(kind);
            }
            _ => self.b.exit(),
        }
    }
}
