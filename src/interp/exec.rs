//! The execution of one operation.

use smallvec::SmallVec;
use warploom_ir::eval::{self, Output};
use warploom_ir::matrix::{self, Product};
use warploom_ir::texel::{self, TexelFormat};
use warploom_ir::{
    BankId, Block, CellKind, Function, Inst, LaneFault, Op, Part, Reg, RegLayout, Shape, Special,
    Type, Value, ValueType, Window,
};
use warploom_runtime::fault::FaultKind;
use warploom_runtime::observe::Event;
use warploom_runtime::warp::{ExitCode, WarpContext};

use super::Slot;
use super::values::Values;

/// The state of one call.
pub struct Executor<'a, 'launch> {
    pub function: &'a Function,
    pub layout: &'a RegLayout,
    pub context: &'a mut WarpContext<'launch>,
    pub values: &'a mut Values,
    types: &'a [ValueType],
}

impl<'a, 'launch> Executor<'a, 'launch> {
    pub fn new(
        function: &'a Function,
        layout: &'a RegLayout,
        context: &'a mut WarpContext<'launch>,
        values: &'a mut Values,
    ) -> Self {
        Executor { function, layout, context, values, types: &[] }
    }

    /// Prepares for instructions of this block.
    pub fn enter(&mut self, block: &'a Block) {
        self.types = &block.values;
        self.values.reset(self.function.lanes, block.values.len());
    }

    /// Sets the state of a fresh warp: all registers are 0, except the active mask.
    pub fn reset_registers(&mut self) {
        let active = self.layout.offset(self.function.active);
        let bytes = self.layout.bytes() as usize;
        let launched = self.context.launch_mask();
        self.context.registers()[..bytes].fill(0);
        self.write_cell(active, 8, launched);
    }

    pub fn active(&mut self) -> u64 {
        let offset = self.layout.offset(self.function.active);
        self.read_cell(offset, 8)
    }

    /// Returns a mask register.
    pub fn mask(&mut self, reg: Reg) -> u64 {
        self.read_cell(self.layout.offset(reg), 8)
    }

    pub fn set_mask(&mut self, reg: Reg, lanes: u64) {
        self.write_cell(self.layout.offset(reg), 8, lanes);
    }

    /// Returns the lane that faults of the whole warp name.
    pub fn least_active(&mut self) -> u32 {
        let active = self.active();
        if active == 0 { 0 } else { active.trailing_zeros() }
    }

    /// Returns the lanes that a masked operation acts on.
    pub fn execution_mask(&mut self, window: Window, guard: Option<Value>, nomask: bool) -> u64 {
        let active = if nomask { u64::MAX } else { self.active() };
        active & window.mask() & guard.map_or(u64::MAX, |guard| self.values.uniform(guard))
    }

    pub fn ty(&self, value: Value) -> ValueType {
        self.types[value.0 as usize]
    }

    /// Loads a value from its slot.
    pub fn fill(&mut self, slot: Slot) {
        let ValueType { ty, shape } = self.ty(slot.value);
        match shape {
            Shape::Varying => {
                self.read_row(slot.value, slot.offset, ty, Window::all(self.function.lanes))
            }
            Shape::Uniform => {
                let bits = self.read_cell(slot.offset, 8) & ty.bit_mask();
                self.values.set_uniform(slot.value, bits);
            }
        }
    }

    /// Stores a value to its slot.
    pub fn spill(&mut self, slot: Slot) {
        let ValueType { ty, shape } = self.ty(slot.value);
        match shape {
            Shape::Varying => {
                self.write_row(slot.value, slot.offset, ty, Window::all(self.function.lanes).mask())
            }
            Shape::Uniform => self.write_cell(slot.offset, 8, self.values.uniform(slot.value)),
        }
    }

    /// Executes one instruction. An error is [`ExitCode::Fault`], with the record in the context.
    pub fn execute(&mut self, inst: &Inst) -> Result<(), ExitCode> {
        let window = inst.window;
        match inst.op {
            Op::LaneId => {
                for (lane, out) in self.values.row_mut(inst.results[0]).iter_mut().enumerate() {
                    *out = lane as u64;
                }
            }
            Op::Special(special) => self.special(special, inst.results[0]),
            Op::LaneGather { a, index } => {
                let lanes = u64::from(self.function.lanes);
                let (operands, out) = self.values.split(inst.results[0], window);
                let a = operands.window(a, Window::all(self.function.lanes));
                for (out, &index) in out.iter_mut().zip(operands.window(index, window)) {
                    *out = a[(index % lanes) as usize];
                }
            }
            Op::LaneScatter { a, index, lanes } => {
                let count = u64::from(self.function.lanes);
                let giving = self.values.uniform(lanes) & window.mask();
                let (operands, out) =
                    self.values.split(inst.results[0], Window::all(self.function.lanes));
                out.fill(0);
                let rows = [a, index].map(|v| operands.window(v, Window::all(self.function.lanes)));
                for lane in lanes_of(giving) {
                    out[(rows[1][lane] % count) as usize] = rows[0][lane];
                }
            }
            Op::Product { product, ref args } => self.product(inst, &product, args),
            Op::Unpack { format, a } => self.texels(inst, format, a, texel::unpack),
            Op::Pack { format, a } => self.texels(inst, format, a, texel::pack),
            Op::LaneRead { a, lane } => {
                let lane = self.values.uniform(lane) % u64::from(self.function.lanes);
                let bits = self.values.row(a)[lane as usize];
                self.values.set_uniform(inst.results[0], bits);
            }
            Op::RfRead { reg, part } => self.rf_read(inst.results[0], reg, part, window),
            Op::RfWrite { reg, part, value, guard, nomask } => {
                let offset = self.layout.offset(reg);
                match (self.function.bank(reg.bank).kind, part) {
                    (CellKind::Lane(ty), _) => {
                        let mask = self.execution_mask(window, guard, nomask);
                        self.write_row(value, offset, ty, mask);
                    }
                    (_, Part::Whole) => self.write_cell(offset, 8, self.values.uniform(value)),
                    (_, Part::Lo) => self.write_cell(offset, 4, self.values.uniform(value)),
                    (_, Part::Hi) => self.write_cell(offset + 4, 4, self.values.uniform(value)),
                }
            }
            Op::RfGather { bank, first, count, index } => {
                self.rf_gather(inst.results[0], window, bank, first, count, index);
            }
            Op::RfScatter { bank, first, count, index, value, guard, nomask } => {
                match self.function.bank(bank).kind {
                    CellKind::Lane(ty) => {
                        let mask = self.execution_mask(window, guard, nomask);
                        for lane in lanes_of(mask) {
                            let index = self.values.row(index)[lane];
                            if index < count.into() {
                                let offset = self.lane_cell(bank, first, index, ty, lane);
                                self.write_cell(
                                    offset,
                                    ty.cell_bytes(),
                                    self.values.row(value)[lane],
                                );
                            }
                        }
                    }
                    // The verifier excludes scatters to a byte array.
                    CellKind::Uniform(_) | CellKind::Mask | CellKind::Bytes(_) => {
                        let index = self.values.uniform(index);
                        if index < count.into() {
                            let offset = self.layout.offset(bank.reg(first + index as u32));
                            self.write_cell(offset, 8, self.values.uniform(value));
                        }
                    }
                }
            }
            Op::RegionRead { .. } => self.region_read(inst),
            Op::RegionWrite { .. } => self.region_write(inst),
            Op::Load { ref access, extend, sparse } => self.load(inst, access, extend, sparse)?,
            Op::Store { ref access, ref values, sparse } => {
                self.store(inst, access, values, sparse)?
            }
            Op::Atomic { ref access, op, value, compare, sparse } => {
                self.atomic(inst, access, op, value, compare, sparse)?;
            }
            Op::Wide { op, ref args, guard, nomask } => {
                self.wide(inst, op, args, (guard, nomask))?
            }
            Op::Observe { site, ref args, guard, nomask } => {
                let lanes = self.execution_mask(window, guard, nomask);
                if lanes != 0 {
                    let args: SmallVec<[&[u64]; 4]> =
                        args.iter().map(|&arg| self.values.row(arg)).collect();
                    self.context.observe(&Event { site, lanes, args: &args });
                }
            }
            Op::Sample { .. } => self.sample(inst)?,
            Op::Raise { fault, guard, nomask } => {
                let mask = self.execution_mask(window, guard, nomask);
                if mask != 0 {
                    let kind = match fault {
                        LaneFault::Misaligned => FaultKind::MisalignedAddress,
                        LaneFault::SurfaceOutOfRange => FaultKind::SurfaceOutOfRange,
                        LaneFault::InvalidSurface => FaultKind::InvalidSurface,
                        LaneFault::Unimplemented => FaultKind::Unimplemented,
                        LaneFault::IllegalInstruction => FaultKind::IllegalInstruction,
                        LaneFault::StackOverflow => FaultKind::StackOverflow,
                    };
                    return Err(self.context.set_fault(kind, mask.trailing_zeros(), inst.pc, 0));
                }
            }
            Op::Fence => std::sync::atomic::fence(std::sync::atomic::Ordering::SeqCst),
            _ => self.lanewise(inst),
        }
        Ok(())
    }

    fn product(&mut self, inst: &Inst, product: &Product, args: &[Value]) {
        let register = |&arg| {
            let mut register = [0; matrix::LANES];
            register.iter_mut().zip(self.values.row(arg)).for_each(|(lane, &bits)| *lane = bits);
            register
        };
        let args: SmallVec<[matrix::Row<u64>; 16]> = args.iter().map(register).collect();
        let registers = matrix::evaluate(product, self.function.nan, &args);
        for (&result, register) in inst.results.iter().zip(&registers) {
            let row = self.values.row_mut(result);
            row.fill(0);
            for (lane, &bits) in row.iter_mut().zip(register) {
                *lane = bits;
            }
        }
    }

    /// Computes four results of four operands, lane by lane.
    fn texels(
        &mut self,
        inst: &Inst,
        format: Value,
        a: [Value; 4],
        convert: fn(TexelFormat, [u32; 4]) -> [u32; 4],
    ) {
        let uniform = self.ty(inst.results[0]).is_uniform();
        let lanes = if uniform { 0..1 } else { inst.window.lanes() };
        for lane in lanes {
            let format = TexelFormat(self.values.row(format)[lane] as u32);
            let results = convert(format, a.map(|a| self.values.row(a)[lane] as u32));
            for (&value, bits) in inst.results.iter().zip(results) {
                if uniform {
                    self.values.set_uniform(value, bits.into());
                } else {
                    self.values.row_mut(value)[lane] = bits.into();
                }
            }
        }
    }

    /// Executes an operation that `eval` defines.
    fn lanewise(&mut self, inst: &Inst) {
        let operands = inst.operands();
        let result = inst.results[0];
        let varying = [result].iter().chain(&operands).any(|value| !self.ty(*value).is_uniform());
        let window = if varying { inst.window } else { Window { first: 0, count: 1 } };
        let ty = operands.first().map_or(Type::I64, |a| self.ty(*a).ty);

        let (rows, out) = self.values.split(result, window);
        let mut args: [&[u64]; 3] = [&[]; 3];
        for (arg, &operand) in args.iter_mut().zip(&operands) {
            *arg = rows.window(operand, window);
        }
        let args = &args[..operands.len()];
        let output = {
            let Function { nan, lanes, .. } = *self.function;
            eval::lanewise(&inst.op, ty, nan, (lanes, window.first.into()), args, out)
        };
        // `execute` has handled all other operations.
        let output = output.unwrap_or(Output::Row);

        // A relation or carry of uniform operands holds for all lanes or for none.
        let all = Window::all(self.function.lanes).mask();
        let widen = |mask: u64| if varying || mask == 0 { mask } else { all };
        match output {
            Output::Row => {}
            Output::Mask(mask) => return self.values.set_uniform(result, widen(mask)),
            Output::RowAndMask(mask) => self.values.set_uniform(inst.results[1], widen(mask)),
        }
        if !varying {
            let bits = self.values.uniform(result);
            self.values.set_uniform(result, bits);
        }
    }

    fn special(&mut self, special: Special, result: Value) {
        let context = &*self.context;
        let bits = match special {
            Special::Tid(axis) => {
                for (lane, out) in self.values.row_mut(result).iter_mut().enumerate() {
                    *out = context.tid(axis.into(), lane as u32).into();
                }
                return;
            }
            Special::Ctaid(axis) => context.ctaid()[usize::from(axis)].into(),
            Special::Ntid(axis) => context.ntid()[usize::from(axis)].into(),
            Special::Nctaid(axis) => context.nctaid()[usize::from(axis)].into(),
            Special::WarpId => context.warp().into(),
            Special::WarpSlot => context.slot().into(),
            Special::LaunchMask => context.launch_mask(),
            Special::Clock => context.instructions,
            Special::BarrierResult => context.barrier_result.into(),
            Special::BarrierReleased => context.barrier_released,
            Special::SharedBytes => context.shared_bytes() & u64::from(u32::MAX),
        };
        self.values.set_uniform(result, bits);
    }
}

/// The register file.
impl Executor<'_, '_> {
    /// Reads a cell of 4 or 8 bytes.
    fn read_cell(&mut self, offset: u32, bytes: u32) -> u64 {
        let registers = self.context.registers();
        let at = offset as usize;
        let mut cell = [0; 8];
        cell[..bytes as usize].copy_from_slice(&registers[at..at + bytes as usize]);
        u64::from_le_bytes(cell)
    }

    fn write_cell(&mut self, offset: u32, bytes: u32, bits: u64) {
        let at = offset as usize;
        self.context.registers()[at..at + bytes as usize]
            .copy_from_slice(&bits.to_le_bytes()[..bytes as usize]);
    }

    /// Reads the window of a lane row.
    fn read_row(&mut self, result: Value, offset: u32, ty: Type, window: Window) {
        let cell = ty.cell_bytes() as usize;
        let row = &self.context.registers()[offset as usize + window.first as usize * cell..];
        let out = &mut self.values.row_mut(result)[window.lanes()];
        let mask = ty.bit_mask();
        if cell == 8 {
            for (out, cell) in out.iter_mut().zip(row.as_chunks::<8>().0) {
                *out = u64::from_le_bytes(*cell);
            }
        } else {
            for (out, cell) in out.iter_mut().zip(row.as_chunks::<4>().0) {
                *out = u64::from(u32::from_le_bytes(*cell)) & mask;
            }
        }
    }

    /// Writes the lanes of `mask` to a lane row.
    fn write_row(&mut self, value: Value, offset: u32, ty: Type, mask: u64) {
        let row = &mut self.context.registers()[offset as usize..];
        let values = self.values.row(value);
        if ty.cell_bytes() == 8 {
            for ((lane, cell), &value) in
                row.as_chunks_mut::<8>().0.iter_mut().enumerate().zip(values)
            {
                if mask >> lane & 1 != 0 {
                    *cell = value.to_le_bytes();
                }
            }
        } else {
            for ((lane, cell), &value) in
                row.as_chunks_mut::<4>().0.iter_mut().enumerate().zip(values)
            {
                if mask >> lane & 1 != 0 {
                    *cell = (value as u32).to_le_bytes();
                }
            }
        }
    }

    fn rf_read(&mut self, result: Value, reg: Reg, part: Part, window: Window) {
        let offset = self.layout.offset(reg);
        let bits = match (self.function.bank(reg.bank).kind, part) {
            (CellKind::Lane(ty), _) => return self.read_row(result, offset, ty, window),
            (_, Part::Whole) => self.read_cell(offset, 8),
            (_, Part::Lo) => self.read_cell(offset, 4),
            (_, Part::Hi) => self.read_cell(offset + 4, 4),
        };
        self.values.set_uniform(result, bits);
    }

    fn lane_cell(&self, bank: BankId, first: u32, index: u64, ty: Type, lane: usize) -> u32 {
        self.layout.offset(bank.reg(first + index as u32)) + lane as u32 * ty.cell_bytes()
    }

    fn rf_gather(
        &mut self,
        result: Value,
        window: Window,
        bank: BankId,
        first: u32,
        count: u32,
        index: Value,
    ) {
        let CellKind::Lane(ty) = self.function.bank(bank).kind else {
            let index = self.values.uniform(index);
            let offset = |index| self.layout.offset(bank.reg(first + index));
            let bits =
                if index < count.into() { self.read_cell(offset(index as u32), 8) } else { 0 };
            return self.values.set_uniform(result, bits);
        };
        for lane in window.lanes() {
            let index = self.values.row(index)[lane];
            let bits = if index < count.into() {
                let offset = self.lane_cell(bank, first, index, ty, lane);
                self.read_cell(offset, ty.cell_bytes())
            } else {
                0
            };
            self.values.row_mut(result)[lane] = bits;
        }
    }
}

/// Returns the set lanes, in ascending order.
pub fn lanes_of(mut mask: u64) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let lane = mask.trailing_zeros();
        mask &= mask.wrapping_sub(1);
        (lane < 64).then_some(lane as usize)
    })
}
