//! One method for each operation. Masked operations take the builder's guard and `nomask`.

use super::super::function::LaneEvent;
use super::super::image::sample::Operation;
use super::super::matrix::Product;
use super::super::observe::BLOCK_FENCE;
use super::super::op::*;
use super::super::register::{BankId, Part, Reg, Region};
use super::super::types::Type;
use super::{Barrier, BlockBuilder, BlockId, Service, Terminator, TrapKind, Value, Values};

macro_rules! unary {
    ($($(#[$doc:meta])* $name:ident => $op:ident;)*) => {$(
        $(#[$doc])*
        pub fn $name(&mut self, a: Value) -> Value {
            self.unary(UnaryOp::$op, a)
        }
    )*};
}

macro_rules! binary {
    ($($(#[$doc:meta])* $name:ident => $op:ident;)*) => {$(
        $(#[$doc])*
        pub fn $name(&mut self, a: Value, b: Value) -> Value {
            self.binary(BinaryOp::$op, a, b)
        }
    )*};
}

macro_rules! float_binary {
    ($($name:ident => $op:ident;)*) => {$(
        pub fn $name(&mut self, attrs: FloatAttrs, a: Value, b: Value) -> Value {
            self.fbinary(FloatBinaryOp::$op, attrs, a, b)
        }
    )*};
}

macro_rules! convert {
    ($($(#[$doc:meta])* $name:ident => $op:ident;)*) => {$(
        $(#[$doc])*
        pub fn $name(&mut self, to: Type, a: Value) -> Value {
            self.push1(Op::Convert { op: ConvertOp::$op, to, a })
        }
    )*};
}

/// Values.
impl BlockBuilder<'_> {
    /// A uniform constant with the low bits of `bits`; for floats, `bits` is the bit pattern.
    pub fn iconst(&mut self, ty: Type, bits: u64) -> Value {
        let lanes = self.builder.function.lanes;
        self.push1(Op::Const { ty, bits: bits & ty.bits_of_lanes(lanes) })
    }

    /// The mask of the lanes in `bits`, without lanes that the warp does not have.
    pub fn lanes_of(&mut self, bits: u64) -> Value {
        self.iconst(Type::Mask, bits)
    }

    pub fn f32const(&mut self, value: f32) -> Value {
        self.iconst(Type::F32, value.to_bits().into())
    }

    pub fn f64const(&mut self, value: f64) -> Value {
        self.iconst(Type::F64, value.to_bits())
    }

    /// The value itself if it is varying, else a varying copy of it.
    pub fn splat(&mut self, a: Value) -> Value {
        if self.is_uniform(a) { self.push1(Op::Splat { a }) } else { a }
    }

    pub fn lane_id(&mut self) -> Value {
        self.push1(Op::LaneId)
    }

    pub fn special(&mut self, special: Special) -> Value {
        self.push1(Op::Special(special))
    }

    pub fn unary(&mut self, op: UnaryOp, a: Value) -> Value {
        self.push1(Op::Unary { op, a })
    }

    pub fn binary(&mut self, op: BinaryOp, a: Value, b: Value) -> Value {
        self.push1(Op::Binary { op, a, b })
    }

    unary! {
        not => Not;
        neg => Neg;
        abs => Abs;
        popcnt => Popcnt;
        clz => Clz;
        ctz => Ctz;
        bit_reverse => BitReverse;
        fneg => FNeg;
        fabs => FAbs;
    }

    binary! {
        add => Add;
        sub => Sub;
        mul => Mul;
        mul_hi_s => MulHiS;
        mul_hi_u => MulHiU;
        div_s => DivS;
        div_u => DivU;
        rem_s => RemS;
        rem_u => RemU;
        and => And;
        or => Or;
        xor => Xor;
        shl => Shl;
        shr_u => ShrU;
        shr_s => ShrS;
        rotl => RotL;
        min_s => MinS;
        min_u => MinU;
        max_s => MaxS;
        max_u => MaxU;
    }

    /// The sum and the carry-out mask.
    pub fn add_carry(&mut self, a: Value, b: Value, carry: Option<Value>) -> (Value, Value) {
        let results = self.push(Op::AddCarry { a, b, carry });
        (results[0], results[1])
    }

    pub fn icmp(&mut self, cc: IntCc, a: Value, b: Value) -> Value {
        self.push1(Op::ICmp { cc, a, b })
    }

    pub fn fcmp(&mut self, cc: FloatCc, flush: bool, a: Value, b: Value) -> Value {
        self.push1(Op::FCmp { cc, a, b, flush })
    }

    pub fn select(&mut self, mask: Value, a: Value, b: Value) -> Value {
        self.push1(Op::Select { mask, a, b })
    }

    pub fn uniform_select(&mut self, cond: Value, a: Value, b: Value) -> Value {
        self.push1(Op::UniformSelect { cond, a, b })
    }

    convert! {
        trunc => Trunc;
        zero_extend => ZeroExtend;
        sign_extend => SignExtend;
        bitcast => Bitcast;
    }

    /// The high `i32` of an `i64`.
    pub fn high_half(&mut self, a: Value) -> Value {
        self.push1(Op::Convert { op: ConvertOp::HighHalf, to: Type::I32, a })
    }

    /// The bits of a mask as a uniform `i64`.
    pub fn from_mask(&mut self, a: Value) -> Value {
        self.push1(Op::Convert { op: ConvertOp::FromMask, to: Type::I64, a })
    }

    /// A uniform `i64` as a mask, without its bits past the last lane.
    pub fn to_mask(&mut self, a: Value) -> Value {
        self.push1(Op::Convert { op: ConvertOp::ToMask, to: Type::Mask, a })
    }

    pub fn concat(&mut self, lo: Value, hi: Value) -> Value {
        self.push1(Op::Concat { lo, hi })
    }
}

/// Floats.
impl BlockBuilder<'_> {
    pub fn funary(&mut self, op: FloatUnaryOp, attrs: FloatAttrs, a: Value) -> Value {
        self.push1(Op::FUnary { op, attrs, a })
    }

    pub fn fbinary(&mut self, op: FloatBinaryOp, attrs: FloatAttrs, a: Value, b: Value) -> Value {
        self.push1(Op::FBinary { op, attrs, a, b })
    }

    float_binary! {
        fadd => Add;
        fsub => Sub;
        fmul => Mul;
        fdiv => Div;
        fmin => Min;
        fmax => Max;
    }

    pub fn fma(&mut self, attrs: FloatAttrs, a: Value, b: Value, c: Value) -> Value {
        self.push1(Op::Fma { attrs, a, b, c })
    }

    pub fn fconvert(&mut self, to: Type, attrs: FloatAttrs, a: Value) -> Value {
        self.push1(Op::FConvert { to, attrs, a })
    }

    pub fn int_to_float(&mut self, to: Type, signed: bool, round: Round, a: Value) -> Value {
        self.push1(Op::IntToFloat { to, signed, round, a })
    }

    /// Converts to an integer. `nan` is the result for a NaN.
    pub fn float_to_int(
        &mut self,
        to: Type,
        signed: bool,
        round: Round,
        flush: bool,
        nan: u64,
        a: Value,
    ) -> Value {
        self.push1(Op::FloatToInt { to, signed, round, flush, nan, a })
    }

    pub fn shared(&mut self, function: SharedFn, a: Value) -> Value {
        self.push1(Op::Shared { function, a })
    }
}

/// Lanes and registers.
impl BlockBuilder<'_> {
    pub fn lane_gather(&mut self, a: Value, index: Value) -> Value {
        self.push1(Op::LaneGather { a, index })
    }

    /// Scatters `a` by lane index. `lanes` is the mask of the source lanes.
    pub fn lane_scatter(&mut self, a: Value, index: Value, lanes: Value) -> Value {
        self.push1(Op::LaneScatter { a, index, lanes })
    }

    /// The components of a texel of the format whose number is `format`.
    pub fn unpack(&mut self, format: Value, a: [Value; 4]) -> [Value; 4] {
        let results = self.push(Op::Unpack { format, a });
        std::array::from_fn(|i| results[i])
    }

    /// The words of a texel of the format whose number is `format`.
    pub fn pack(&mut self, format: Value, a: [Value; 4]) -> [Value; 4] {
        let results = self.push(Op::Pack { format, a });
        std::array::from_fn(|i| results[i])
    }

    /// The registers of the product's result D.
    pub fn product(&mut self, product: Product, args: &[Value]) -> Values {
        self.push(Op::Product { product, args: args.to_vec() })
    }

    pub fn lane_read(&mut self, a: Value, lane: Value) -> Value {
        self.push1(Op::LaneRead { a, lane })
    }

    pub fn rf_read(&mut self, reg: Reg) -> Value {
        self.rf_read_part(reg, Part::Whole)
    }

    pub fn rf_read_part(&mut self, reg: Reg, part: Part) -> Value {
        self.push1(Op::RfRead { reg, part })
    }

    pub fn rf_write(&mut self, reg: Reg, value: Value) {
        self.rf_write_part(reg, Part::Whole, value);
    }

    pub fn rf_write_part(&mut self, reg: Reg, part: Part, value: Value) {
        let (guard, nomask) = self.masking_of_bank(reg.bank);
        self.push(Op::RfWrite { reg, part, value, guard, nomask });
    }

    /// Register `first + index`, with `index < count`.
    pub fn rf_gather(&mut self, bank: BankId, first: u32, count: u32, index: Value) -> Value {
        self.push1(Op::RfGather { bank, first, count, index })
    }

    pub fn rf_scatter(&mut self, bank: BankId, first: u32, count: u32, index: Value, value: Value) {
        let (guard, nomask) = self.masking_of_bank(bank);
        self.push(Op::RfScatter { bank, first, count, index, value, guard, nomask });
    }

    pub fn region_read(&mut self, reg: Reg, region: Region, ty: Type) -> Value {
        self.push1(Op::RegionRead { reg, index: None, region, ty, uniform: false })
    }

    /// Reads element 0 as a uniform value.
    pub fn region_read_uniform(&mut self, reg: Reg, region: Region, ty: Type) -> Value {
        self.push1(Op::RegionRead { reg, index: None, region, ty, uniform: true })
    }

    pub fn region_write(&mut self, reg: Reg, region: Region, value: Value) {
        let (guard, nomask) = (self.guard, self.nomask);
        self.push(Op::RegionWrite { reg, index: None, region, value, guard, nomask });
    }

    /// Reads the region `index` bytes further on, lane by lane.
    pub fn region_read_at(&mut self, reg: Reg, index: Value, region: Region, ty: Type) -> Value {
        self.push1(Op::RegionRead { reg, index: Some(index), region, ty, uniform: false })
    }

    /// Writes the region `index` bytes further on, lane by lane.
    pub fn region_write_at(&mut self, reg: Reg, index: Value, region: Region, value: Value) {
        let (guard, nomask) = (self.guard, self.nomask);
        self.push(Op::RegionWrite { reg, index: Some(index), region, value, guard, nomask });
    }

    /// The mask register of the active lanes.
    pub fn read_active(&mut self) -> Value {
        let active = self.builder.function.active;
        self.rf_read(active)
    }

    pub fn write_active(&mut self, mask: Value) {
        let active = self.builder.function.active;
        self.rf_write(active, mask);
    }

    fn masking_of_bank(&self, bank: BankId) -> (Option<Value>, bool) {
        use super::CellKind::{Mask, Uniform};
        match self.builder.function.banks.get(bank.0 as usize).map(|bank| bank.kind) {
            Some(Uniform(_) | Mask) => (None, false),
            _ => (self.guard, self.nomask),
        }
    }
}

/// Memory. Accesses come from [`BlockBuilder::access`] or are made by hand.
impl BlockBuilder<'_> {
    /// Loads one element, naturally aligned.
    pub fn load(
        &mut self,
        space: Space,
        ty: Type,
        extend: Extend,
        address: Value,
        offset: i32,
    ) -> Value {
        let access = self.access(space, ty, 1, address, offset);
        self.load_access(access, extend)[0]
    }

    pub fn load_access(&mut self, access: Access, extend: Extend) -> Values {
        self.push(Op::Load { access, extend, sparse: false })
    }

    /// Loads elements. Also returns the lanes that met a sparse non-resident page.
    pub fn load_sparse(&mut self, access: Access, extend: Extend) -> (Values, Value) {
        let mut values = self.push(Op::Load { access, extend, sparse: true });
        let lanes = values.pop().expect("a sparse load says where it was one");
        (values, lanes)
    }

    /// Stores one element, naturally aligned.
    pub fn store(&mut self, space: Space, ty: Type, address: Value, offset: i32, value: Value) {
        let access = self.access(space, ty, 1, address, offset);
        self.store_access(access, &[value]);
    }

    pub fn store_access(&mut self, access: Access, values: &[Value]) {
        self.push(Op::Store { access, values: values.to_vec(), sparse: false });
    }

    /// The uniform value at a fixed offset of a constant bank.
    pub fn load_const(&mut self, bank: u8, offset: u32, ty: Type) -> Value {
        let address = self.iconst(Type::I32, offset.into());
        self.load(Space::Const(bank), ty, Extend::None, address, 0)
    }

    /// Performs an atomic and returns the old value.
    pub fn atomic(
        &mut self,
        access: Access,
        op: AtomicOp,
        value: Value,
        compare: Option<Value>,
    ) -> Value {
        self.push1(Op::Atomic { access, op, value, compare, sparse: false })
    }

    /// Performs an atomic. Returns the old value and the lanes that met a sparse non-resident page.
    pub fn atomic_sparse(
        &mut self,
        access: Access,
        op: AtomicOp,
        value: Value,
        compare: Option<Value>,
    ) -> (Value, Value) {
        let results = self.push(Op::Atomic { access, op, value, compare, sparse: true });
        (results[0], results[1])
    }

    /// Samples, fetches or gathers in the active lanes of `guard`. Returns the components and the
    /// lanes that met a sparse page.
    pub fn sample(
        &mut self,
        operation: Operation,
        compare: bool,
        [image, sampler]: [Value; 2],
        args: [Value; 15],
    ) -> ([Value; 4], Value) {
        let (guard, nomask) = (self.guard, self.nomask);
        let results = self.push(Op::Sample {
            operation,
            compare,
            image,
            sampler,
            args,
            guard,
            nomask,
            sparse: true,
        });
        (std::array::from_fn(|i| results[i]), results[4])
    }

    /// Performs a wide operation in the active lanes of `guard`, and returns its results.
    pub fn wide(&mut self, op: WideOp, args: &[Value]) -> Values {
        let (guard, nomask) = (self.guard, self.nomask);
        self.push(Op::Wide { op, args: args.to_vec(), guard, nomask })
    }

    /// Raises a fault in the least active lane of `lanes`, if there is one. The builder's guard
    /// does not matter.
    pub fn raise(&mut self, fault: LaneFault, lanes: Value) {
        self.push(Op::Raise { fault, guard: Some(lanes), nomask: self.nomask });
    }

    /// Tells an observer of a site of [`observe`](crate::observe), if the function is observed.
    pub fn observe(&mut self, site: u32, args: &[Value]) {
        if self.builder.observed {
            let args = args.to_vec();
            self.push(Op::Observe { site, args, guard: None, nomask: true });
        }
    }

    /// Tells an observer of a fence for the threads of the block, which engines need not execute.
    pub fn observe_fence(&mut self) {
        if self.builder.observed {
            let active = self.read_active();
            self.observe(BLOCK_FENCE, &[active]);
        }
    }

    pub fn fence(&mut self) {
        self.push(Op::Fence);
    }
}

/// Terminators.
impl BlockBuilder<'_> {
    pub fn jump(&mut self, target: BlockId) {
        self.terminate(Terminator::Jump(target));
    }

    /// Goes to `then` if `cond`, a uniform integer or a mask, is not 0.
    pub fn branch(&mut self, cond: Value, then: BlockId, otherwise: BlockId) {
        self.terminate(Terminator::Branch { cond, then, otherwise });
    }

    pub fn switch(&mut self, value: Value, cases: Vec<(u64, BlockId)>, default: BlockId) {
        self.terminate(Terminator::Switch { value, cases, default });
    }

    pub fn indirect(&mut self, pc: Value) {
        self.terminate(Terminator::Indirect { pc });
    }

    pub fn barrier(&mut self, barrier: Barrier, resume: BlockId) {
        self.terminate(Terminator::Barrier { barrier, resume });
    }

    /// Goes to the first place where lanes wait. The search begins at index `from`.
    pub fn dispatch(
        &mut self,
        places: Vec<(Reg, BlockId)>,
        from: Option<Value>,
        otherwise: BlockId,
    ) {
        self.terminate(Terminator::Dispatch { places, from, otherwise });
    }

    pub fn lanes(&mut self, event: LaneEvent, resume: BlockId) {
        self.terminate(Terminator::Lanes { event, resume });
    }

    /// Ends in a deadlock: no lane in these registers can go on. Each register comes with the pc
    /// before which its lanes wait.
    pub fn deadlock(&mut self, waiting: Vec<(Reg, u64)>) {
        self.terminate(Terminator::Deadlock { waiting });
    }

    pub fn service(&mut self, service: Service, lanes: Value, resume: BlockId) {
        self.terminate(Terminator::Service { service, lanes, resume });
    }

    pub fn exit(&mut self) {
        self.terminate(Terminator::Exit);
    }

    /// Traps at the current pc.
    pub fn trap(&mut self, kind: TrapKind) {
        let pc = self.pc;
        self.terminate(Terminator::Trap { kind, pc });
    }
}
