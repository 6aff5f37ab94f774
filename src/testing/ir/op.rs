//! The choice of an operation and its operands.

use warploom_ir::function::Value;
use warploom_ir::matrix::Product;
use warploom_ir::names::Named;
use warploom_ir::op::*;
use warploom_ir::register::{Part, Reg};
use warploom_ir::texel::TexelFormat;
use warploom_ir::types::{Type, Window};

use super::{ARRAY_BYTES, Generator, REGISTERS};

/// Bytes of the widest access.
const WIDEST: u32 = 128;

impl Generator<'_> {
    pub(super) fn op(&mut self) {
        let op = match self.below(20) {
            0..=4 => self.integer_op(),
            5..=8 => self.float_op(),
            9 => self.conversion(),
            10 => self.cross_lane(),
            11..=14 => self.register_op(),
            15 => self.indexed_op(),
            16 => self.region_op(),
            17 | 18 if self.once_in(24) => {
                let (image, sampler) =
                    (self.address(Space::Global, 16), self.address(Space::Global, 16));
                let args = std::array::from_fn(|_| self.value(Type::I32));
                let (guard, nomask) = self.maybe_guard();
                let (compare, sparse) = (self.once_in(2), self.once_in(2));
                Op::Sample {
                    operation: self.named(),
                    compare,
                    image,
                    sampler,
                    args,
                    guard,
                    nomask,
                    sparse,
                }
            }
            17 | 18 if self.once_in(24) => self.wide_op(),
            17 | 18 if self.once_in(48) => {
                let args = vec![self.value(Type::I64), self.value(Type::I32)];
                let (guard, nomask) = self.maybe_guard();
                Op::Observe { site: self.below(4), args, guard, nomask }
            }
            17 | 18 if self.once_in(32) => {
                let (a, b) = (self.value(Type::I32), self.value(Type::I32));
                let guard = Some(self.b.icmp(IntCc::Eq, a, b));
                Op::Raise { fault: self.named(), guard, nomask: self.once_in(4) }
            }
            17 | 18 => self.memory_op(),
            _ => self.source_op(),
        };
        let whole = matches!(op, Op::RegionRead { .. });
        let results = self.b.push(op);
        if whole {
            results.iter().for_each(|&value| self.keep_in(Window::all(self.limits.lanes), value));
        } else {
            self.keep(&results);
        }
    }

    /// Returns a wide operation on global memory.
    fn wide_op(&mut self) -> Op {
        let reduced = loop {
            let op: AtomicOp = self.named();
            let ty = self.pick(&[Type::I32, Type::I64, Type::F32, Type::F64, Type::I16, Type::F16]);
            let reduce = WideOp::Reduce { op, ty };
            if reduce.is_valid() {
                break reduce;
            }
        };
        let op = self.pick(&[
            WideOp::Copy,
            WideOp::Zero,
            WideOp::Exchange,
            WideOp::CompareExchange,
            reduced,
        ]);
        let addresses = if matches!(op, WideOp::Copy | WideOp::Reduce { .. }) { 2 } else { 1 };
        let mut args: Vec<Value> =
            (0..addresses).map(|_| self.address(Space::Global, 16)).collect();
        if op.results() == 0 {
            let bytes = 16 * u64::from(self.below(4));
            args.push(self.b.iconst(Type::I64, bytes));
        }
        while args.len() < op.operands() {
            args.push(self.value(Type::I64));
        }
        let (guard, nomask) = self.maybe_guard();
        Op::Wide { op, args, guard, nomask }
    }

    fn named<T: Named>(&mut self) -> T {
        let all = T::NAMES;
        all[self.below(all.len() as u32) as usize].0
    }

    fn source_op(&mut self) -> Op {
        match self.below(5) {
            0 => Op::LaneId,
            1 | 2 => Op::Special(self.named()),
            3 => {
                let ty = self.any_type();
                Op::Splat { a: self.uniform(ty) }
            }
            _ => Op::Fence,
        }
    }

    fn integer_op(&mut self) -> Op {
        let ty = self.int_type();
        match self.below(9) {
            0 => match self.named() {
                op @ (UnaryOp::FNeg | UnaryOp::FAbs) => {
                    let ty = self.float_type();
                    Op::Unary { op, a: self.value(ty) }
                }
                op => Op::Unary { op, a: self.value(ty) },
            },
            1 => {
                let carry = if self.once_in(2) { Some(self.mask()) } else { None };
                Op::AddCarry { a: self.value(ty), b: self.value(ty), carry }
            }
            2 => Op::ICmp { cc: self.named(), a: self.value(ty), b: self.value(ty) },
            3 => {
                let ty = self.any_type();
                Op::Select { mask: self.mask(), a: self.value(ty), b: self.value(ty) }
            }
            4 => {
                let any = if self.once_in(3) { Type::Mask } else { self.any_type() };
                Op::UniformSelect {
                    cond: self.condition(),
                    a: self.uniform(any),
                    b: self.uniform(any),
                }
            }
            5 => Op::Concat { lo: self.value(Type::I32), hi: self.value(Type::I32) },
            6 => self.mask_op(),
            _ => Op::Binary { op: self.named(), a: self.value(ty), b: self.value(ty) },
        }
    }

    fn mask_op(&mut self) -> Op {
        match self.below(4) {
            0 => Op::Unary { op: UnaryOp::Not, a: self.mask() },
            1 => Op::Convert { op: ConvertOp::FromMask, to: Type::I64, a: self.mask() },
            2 => Op::Convert { op: ConvertOp::ToMask, to: Type::Mask, a: self.uniform(Type::I64) },
            _ => {
                let op = self.pick(&[BinaryOp::And, BinaryOp::Or, BinaryOp::Xor]);
                Op::Binary { op, a: self.mask(), b: self.mask() }
            }
        }
    }

    fn attrs(&mut self) -> FloatAttrs {
        let round = if self.once_in(4) { self.named() } else { Round::Nearest };
        FloatAttrs { round, flush: self.once_in(4), saturate: self.once_in(6) }
    }

    fn float_op(&mut self) -> Op {
        let ty = self.float_type();
        let attrs = self.attrs();
        match self.below(8) {
            0 => Op::FUnary { op: self.named(), attrs, a: self.value(ty) },
            1 | 2 => Op::Fma { attrs, a: self.value(ty), b: self.value(ty), c: self.value(ty) },
            3 => Op::FCmp {
                cc: self.named(),
                flush: attrs.flush,
                a: self.value(ty),
                b: self.value(ty),
            },
            4 => {
                let function: SharedFn = self.named();
                Op::Shared { function, a: self.value(function.ty()) }
            }
            _ => Op::FBinary { op: self.named(), attrs, a: self.value(ty), b: self.value(ty) },
        }
    }

    fn conversion(&mut self) -> Op {
        let (int, float) = (self.int_type(), self.float_type());
        let attrs = self.attrs();
        let signed = self.once_in(2);
        match self.below(7) {
            6 => {
                let format = match self.below(4) {
                    0 => self.value(Type::I32),
                    1 => self.uniform(Type::I32),
                    _ => self.texel_format(),
                };
                let a = std::array::from_fn(|_| self.value(Type::I32));
                if signed { Op::Unpack { format, a } } else { Op::Pack { format, a } }
            }
            0 => {
                let (from, to, op) = self.pick(&[
                    (Type::I64, Type::I32, ConvertOp::Trunc),
                    (Type::I32, Type::I8, ConvertOp::Trunc),
                    (Type::I64, Type::I16, ConvertOp::Trunc),
                    (Type::I32, Type::I64, ConvertOp::ZeroExtend),
                    (Type::I8, Type::I32, ConvertOp::ZeroExtend),
                    (Type::I32, Type::I64, ConvertOp::SignExtend),
                    (Type::I16, Type::I64, ConvertOp::SignExtend),
                    (Type::I8, Type::I16, ConvertOp::SignExtend),
                    (Type::I64, Type::I32, ConvertOp::HighHalf),
                ]);
                Op::Convert { op, to, a: self.value(from) }
            }
            1 => {
                let (from, to) = (float, float.as_int());
                let (from, to) = if signed { (from, to) } else { (to, from) };
                Op::Convert { op: ConvertOp::Bitcast, to, a: self.value(from) }
            }
            2 => {
                let others: &[Type] = match float {
                    Type::F16 => &[Type::F32, Type::F64],
                    Type::F32 => &[Type::F16, Type::F64],
                    _ => &[Type::F16, Type::F32],
                };
                Op::FConvert { to: self.pick(others), attrs, a: self.value(float) }
            }
            3 | 4 => Op::IntToFloat { to: float, signed, round: attrs.round, a: self.value(int) },
            _ => {
                let nan = self.pick(&[0, 1 << (int.bits() - 1)]);
                let (round, flush) = (attrs.round, attrs.flush);
                Op::FloatToInt { to: int, signed, round, flush, nan, a: self.value(float) }
            }
        }
    }

    /// Returns a constant for one of the existing formats.
    fn texel_format(&mut self) -> Value {
        const WIDTHS: [[u32; 4]; 10] = [
            [8, 0, 0, 0],
            [8; 4],
            [16, 16, 0, 0],
            [16; 4],
            [32; 4],
            [10, 11, 11, 0],
            [2, 10, 10, 10],
            [5, 6, 5, 0],
            [1, 5, 5, 5],
            [32, 0, 0, 0],
        ];
        let (widths, kind) = (self.pick(&WIDTHS), self.below(11));
        let bits = TexelFormat::widths_only(widths) | kind << 24;
        let format = self.b.iconst(Type::I32, bits.into());
        self.keep(&[format]);
        format
    }

    fn cross_lane(&mut self) -> Op {
        let ty = self.any_type();
        let a = self.varying(ty, Window::all(self.limits.lanes));
        match self.below(8) {
            0 => self.product(),
            1 | 2 => {
                let window = self.b.window();
                Op::LaneScatter {
                    a: self.varying(ty, window),
                    index: self.value(Type::I32),
                    lanes: self.mask(),
                }
            }
            3..6 => Op::LaneGather { a, index: self.value(Type::I32) },
            _ => Op::LaneRead { a, lane: self.uniform(Type::I32) },
        }
    }

    fn product(&mut self) -> Op {
        const PRODUCTS: [&str; 8] = [
            "m16n8k16.f32.f16.f16.f32",
            "m16n8k8.f16.bf16.bf16.f16",
            "m16n8k32.f32.e4m3.e5m2.f32.sparse1",
            "m16n8k8.f32.tf32.tf32.f32",
            "m8n8k4.f64.f64.f64.f64.ru",
            "m16n8k32.s32.s8.u8.s32.sat",
            "m16n8k128.s32.b1.b1.s32.xor",
            "m8n8k4.f32.f16.f16.f16.col.row",
        ];
        let product = Product::from_text(self.pick(&PRODUCTS)).expect("there are these products");
        let whole_warp = Window::all(self.limits.lanes);
        let args = product.operands().map(|ty| self.varying(ty, whole_warp)).collect();
        Op::Product { product, args }
    }

    fn register_op(&mut self) -> Op {
        let index = self.below(REGISTERS);
        let bank = self.below(7) as usize;
        let of_bank = Type::ALL[bank];
        match self.below(8) {
            0 => Op::RfRead { reg: self.banks.lane[bank].reg(index), part: Part::Whole },
            1..=4 => {
                let value = self.value(of_bank);
                let (guard, nomask) = self.maybe_guard();
                Op::RfWrite {
                    reg: self.banks.lane[bank].reg(index),
                    part: Part::Whole,
                    value,
                    guard,
                    nomask,
                }
            }
            5 => {
                let reg = self.banks.uniform[bank].reg(index);
                Op::RfWrite {
                    reg,
                    part: Part::Whole,
                    value: self.uniform(of_bank),
                    guard: None,
                    nomask: false,
                }
            }
            6 => {
                let (reg, part) = self.part(index);
                Op::RfRead { reg, part }
            }
            _ => {
                let (reg, part) = self.part(index);
                let ty = match part {
                    Part::Whole if reg.bank == self.banks.masks => Type::Mask,
                    Part::Whole => Type::I64,
                    Part::Lo | Part::Hi => Type::I32,
                };
                Op::RfWrite { reg, part, value: self.uniform(ty), guard: None, nomask: false }
            }
        }
    }

    /// Returns a mask or uniform `i64` register, or a half of it. Masks have halves if warps have a
    /// lane for each bit.
    fn part(&mut self, index: u32) -> (Reg, Part) {
        if self.once_in(3) {
            return (
                self.banks.uniform[3].reg(index),
                self.pick(&[Part::Whole, Part::Lo, Part::Hi]),
            );
        }
        let parts: &[Part] = if self.limits.lanes == 64 {
            &[Part::Whole, Part::Lo, Part::Hi]
        } else {
            &[Part::Whole]
        };
        (self.banks.masks.reg(index), self.pick(parts))
    }

    fn indexed_op(&mut self) -> Op {
        let first = self.below(REGISTERS);
        let count = self.below(REGISTERS - first) + 1;
        let bank = self.below(7) as usize;
        let ty = Type::ALL[bank];
        match self.below(5) {
            4 if self.once_in(2) => Op::RfGather {
                bank: self.banks.masks,
                first,
                count,
                index: self.uniform(Type::I32),
            },
            4 => {
                let (index, value) = (self.uniform(Type::I32), self.mask());
                Op::RfScatter {
                    bank: self.banks.masks,
                    first,
                    count,
                    index,
                    value,
                    guard: None,
                    nomask: false,
                }
            }
            0 => Op::RfGather {
                bank: self.banks.lane[bank],
                first,
                count,
                index: self.value(Type::I32),
            },
            1 => Op::RfGather {
                bank: self.banks.uniform[bank],
                first,
                count,
                index: self.uniform(Type::I32),
            },
            2 => {
                let (index, value) = (self.value(Type::I32), self.value(ty));
                let (guard, nomask) = self.maybe_guard();
                Op::RfScatter {
                    bank: self.banks.lane[bank],
                    first,
                    count,
                    index,
                    value,
                    guard,
                    nomask,
                }
            }
            _ => {
                let (index, value) = (self.uniform(Type::I32), self.uniform(ty));
                let bank = self.banks.uniform[bank];
                Op::RfScatter { bank, first, count, index, value, guard: None, nomask: false }
            }
        }
    }

    fn region_op(&mut self) -> Op {
        let reg = self.banks.arrays.reg(self.below(REGISTERS));
        let (region, ty) = (self.region(), self.any_type());
        if self.once_in(2) {
            let uniform = self.once_in(4);
            let index = if self.once_in(3) { Some(self.byte_index(uniform)) } else { None };
            return Op::RegionRead { reg, index, region, ty, uniform };
        }
        let index = if self.once_in(3) { Some(self.byte_index(false)) } else { None };
        let value = self.value(ty);
        let (guard, nomask) = self.maybe_guard();
        Op::RegionWrite { reg, index, region, value, guard, nomask }
    }

    /// Returns the index of an indirect region, mostly in the array or not far from it.
    fn byte_index(&mut self, uniform: bool) -> Value {
        let raw = if uniform || self.once_in(3) {
            self.uniform(Type::I32)
        } else {
            self.value(Type::I32)
        };
        if self.once_in(6) {
            return raw;
        }
        let near = self.b.iconst(Type::I32, u64::from(ARRAY_BYTES.next_power_of_two() - 1));
        self.b.and(raw, near)
    }

    /// Returns an address in the space, mostly within its bounds and aligned.
    fn address(&mut self, space: Space, align: u32) -> Value {
        let size = match space {
            Space::Generic | Space::Global => self.limits.buffer_bytes,
            Space::Shared => self.limits.shared_bytes,
            Space::Local => self.limits.local_bytes,
            Space::Const(_) => 1 << 16,
        };
        let raw = if space == Space::Local || !self.once_in(3) {
            let window = self.b.window();
            // Lane numbers make affine addresses.
            if space == Space::Local && self.once_in(3) {
                // A spill slot.
                let slot = self.uniform(Type::I32);
                self.b.splat(slot)
            } else if self.once_in(2) {
                let lane = self.b.lane_id();
                let scale = self.b.iconst(Type::I32, align.into());
                self.b.mul(lane, scale)
            } else {
                self.varying(Type::I32, window)
            }
        } else {
            self.uniform(Type::I32)
        };
        let offset = if self.once_in(24) {
            raw
        } else {
            let within = self.b.iconst(
                Type::I32,
                u64::from((size - WIDEST).next_power_of_two() / 2 - 1) & !u64::from(align - 1),
            );
            self.b.and(raw, within)
        };
        match space {
            Space::Generic | Space::Global => {
                let base = self.b.load_const(0, 0, Type::I64);
                let base = match (space, self.below(4)) {
                    (Space::Generic, 0) => self.b.iconst(Type::I64, 0x100_0000),
                    (Space::Generic, 1) => self.b.iconst(Type::I64, 0x200_0000),
                    _ => base,
                };
                let offset = self.b.zero_extend(Type::I64, offset);
                self.b.add(base, offset)
            }
            Space::Shared | Space::Local | Space::Const(_) => offset,
        }
    }

    fn memory_op(&mut self) -> Op {
        let space =
            self.pick(&[Space::Global, Space::Global, Space::Shared, Space::Local, Space::Generic]);
        let ty = self.any_type();
        match self.below(8) {
            0..=2 => {
                let space = if self.once_in(6) { Space::Const(self.below(3) as u8) } else { space };
                let extend = match (ty, self.below(2)) {
                    (Type::I8 | Type::I16, 0) => Extend::Signed,
                    (Type::I8 | Type::I16, _) => Extend::Unsigned,
                    _ => Extend::None,
                };
                Op::Load { access: self.access(space, ty, false), extend, sparse: self.once_in(6) }
            }
            3..=5 => {
                let access = self.access(space, ty, false);
                let scalar = self.b.ty(access.address).is_uniform();
                let ty = if access.ty == Type::I8 { Type::I32 } else { access.ty };
                let value =
                    |this: &mut Self| if scalar { this.uniform(ty) } else { this.value(ty) };
                let values = (0..access.count).map(|_| value(self)).collect();
                Op::Store { access, values, sparse: self.once_in(6) }
            }
            _ => {
                let space = if space == Space::Local { Space::Shared } else { space };
                let op: AtomicOp = self.named();
                let ty = match op {
                    op if op.is_float() => self.float_type(),
                    op if op.is_of_pairs() => Type::I32,
                    op if op.is_of_brain() => self.pick(&[Type::I16, Type::I32]),
                    AtomicOp::Arrive { .. } | AtomicOp::ArriveCounting => Type::I64,
                    _ => self.pick(&[Type::I32, Type::I32, Type::I64, Type::I16]),
                };
                let access = self.access(space, ty, true);
                let scalar = self.b.ty(access.address).is_uniform();
                let operand =
                    |this: &mut Self| if scalar { this.uniform(ty) } else { this.value(ty) };
                let value = operand(self);
                let compare = if op.has_compare() { Some(operand(self)) } else { None };
                Op::Atomic { access, op, value, compare, sparse: self.once_in(6) }
            }
        }
    }

    fn access(&mut self, space: Space, ty: Type, atomic: bool) -> Access {
        let ty = if space == Space::Local && ty.bytes() > 4 { Type::I32 } else { ty };
        let count = if atomic { 1 } else { self.pick(&[1, 1, 1, 2, 3, 4, 16]) };
        let natural = ty.bytes() as u8;
        let align = if atomic || !self.once_in(6) {
            natural
        } else {
            self.pick(&[1, natural, 2 * natural])
        };
        let address = self.address(space, align.into());
        let offset =
            if self.once_in(3) { i32::from(align) * (self.below(8) as i32 - 2) } else { 0 };
        let (guard, nomask) = self.maybe_guard();
        let nomask = nomask && !self.b.ty(address).is_uniform();
        Access { space, ty, count, align, address, offset, guard, nomask }
    }
}
