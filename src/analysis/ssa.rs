//! Rebuilds a block so that registers are read once, at their first use, and written once, at the
//! block's end.
//!
//! In between everything is SSA, with every mask explicit: masked operations carry `nomask` and
//! their execution mask as guard. A read after a masked write selects between the written and the
//! old value. The demand pass removes the select where nobody can see the difference.

mod lane_writes;

use cranelift_entity::SecondaryMap;
use cranelift_entity::packed_option::ReservedValue;
use lane_writes::Held;
use rustc_hash::FxHashMap;
use smallvec::smallvec;
use warploom_ir::{
    Access, Block, CellKind, ConvertOp, Function, Inst, Op, Part, Reg, Region, Terminator, Type,
    Value, ValueType, Values, Window, table,
};

use super::arrays::{Arrays, Elements};
use super::editor::Editor;
use super::local::LocalMemory;
use super::rules::Rules;

/// The content of a uniform or mask register.
#[derive(Clone, Copy)]
struct Cell {
    value: Value,
    written: bool,
}

/// The known state of a lane register inside the block.
#[derive(Clone, Copy)]
struct Lane {
    window: Window,
    /// The content at block entry, once read.
    old: Option<Value>,
    /// A pending write: the value, and the mask of the lanes that take it.
    new: Option<(Value, Value)>,
}

struct Ssa<'a> {
    function: &'a Function,
    editor: Editor,
    /// The new number of each old value.
    map: SecondaryMap<Value, Value>,
    cells: FxHashMap<Reg, Cell>,
    lanes: FxHashMap<Reg, Lane>,
    local: LocalMemory,
    arrays: Arrays,
    /// A write by some lanes to an array that is held back, so that writes by more lanes can join
    /// it.
    held: Option<Held>,
}

/// Returns the block in SSA form, with its terminator.
pub fn rebuild(function: &Function, block: &Block, rules: Rules) -> (Editor, Terminator) {
    let mut ssa = Ssa {
        function,
        editor: Editor::new(function.lanes, block.insts.len(), rules),
        map: table(block.values.len(), Value::reserved_value()),
        cells: FxHashMap::default(),
        lanes: FxHashMap::default(),
        local: LocalMemory::default(),
        arrays: Arrays::default(),
        held: None,
    };
    for inst in &block.insts {
        ssa.inst(block, inst);
    }
    ssa.release();
    ssa.editor.pc = block.insts.last().map_or(block.pc, |inst| inst.pc);
    ssa.settle_those(|_| true);
    let mut term = block.term.clone();
    term.map_operands(|v| ssa.editor.current(ssa.map[v]));
    (ssa.editor, term)
}

impl Ssa<'_> {
    fn inst(&mut self, block: &Block, inst: &Inst) {
        self.editor.pc = inst.pc;
        let mut op = inst.op.clone();
        op.map_operands(|v| self.editor.current(self.map[v]));
        let types = inst.types(&block.values);
        if !matches!(op, Op::RfRead { .. } | Op::RfWrite { .. } | Op::RegionWrite { .. })
            && !self.editor.is_pure(&op)
        {
            self.release();
        }
        let results = match op {
            Op::RfRead { reg, part } => smallvec![self.read(reg, part, inst.window)],
            Op::RfWrite { reg, part, value, guard, nomask } => {
                self.write(reg, part, value, guard, nomask, inst.window);
                Values::new()
            }
            Op::RfGather { bank, first, count, .. } | Op::RfScatter { bank, first, count, .. } => {
                self.settle_those(|reg| {
                    reg.bank == bank && (first..first + count).contains(&reg.index)
                });
                let op = self.explicit_mask(op, inst.window);
                self.editor.push(op, inst.window, types)
            }
            Op::RegionRead { .. } => match self.known_elements(&op, inst.window) {
                Some(value) => smallvec![value],
                None => self.editor.push(op, inst.window, types),
            },
            Op::RegionWrite { .. } => {
                let op = self.explicit_mask(op, inst.window);
                self.note_elements(&op, inst.window);
                match self.of_one_lane(&op, inst) {
                    Some(one) => self.hold(one),
                    None => {
                        self.release();
                        self.editor.push(op, inst.window, types);
                    }
                }
                Values::new()
            }
            op if self.editor.is_pure(&op) => self.editor.pure(op, inst.window, types),
            op => {
                // A fault of a scalar access names the least active lane.
                if op.access().is_some_and(|access| self.editor.ty(access.address).is_uniform()) {
                    self.store_cell(self.function.active);
                }
                let op = self.explicit_mask(op, inst.window);
                match op {
                    Op::Raise { guard: Some(guard), .. }
                        if self.editor.constant(guard) == Some(0) =>
                    {
                        Values::new()
                    }
                    Op::Store { ref access, sparse: false, .. } if self.is_of_no_lane(access) => {
                        Values::new()
                    }
                    Op::Load { ref access, sparse: false, .. } if self.is_of_no_lane(access) => {
                        types.iter().map(|&ty| self.zero(ty, inst.window)).collect()
                    }
                    op => match self.local.loaded(&mut self.editor, &op) {
                        Some(values) => values.into(),
                        None => {
                            let results = self.editor.push(op.clone(), inst.window, types);
                            self.local.note(&self.editor, &op, &results);
                            results
                        }
                    },
                }
            }
        };
        for (old, new) in inst.results.iter().zip(results) {
            self.map[*old] = new;
        }
    }

    /// Returns the elements of an array's region, unless it is indirect.
    fn elements(
        &self,
        reg: Reg,
        index: Option<Value>,
        (region, ty): (Region, Type),
        window: Window,
    ) -> Option<Elements> {
        let CellKind::Bytes(length) = self.function.bank(reg.bank).kind else { return None };
        index.is_none().then_some(Elements { reg, region, ty, window, length })
    }

    /// Returns the content of a region, if it is known.
    fn known_elements(&mut self, op: &Op, window: Window) -> Option<Value> {
        let Op::RegionRead { reg, index, region, ty, uniform } = *op else { return None };
        let elements = self.elements(reg, index, (region, ty), window)?;
        self.editor.known_elements(&self.arrays, elements, uniform)
    }

    /// Notes the content of a region after a write.
    fn note_elements(&mut self, op: &Op, window: Window) {
        let Op::RegionWrite { reg, index, region, value, guard, .. } = *op else { return };
        let ty = self.editor.ty(value).ty;
        let Some(elements) = self.elements(reg, index, (region, ty), window) else {
            return self.arrays.forget(reg);
        };
        let mask = guard.and_then(|guard| self.editor.constant(guard));
        let values = mask.and_then(|_| self.editor.fixed_lanes(value));
        self.arrays.write(elements, mask, values.as_deref());
    }

    /// Returns whether no lane executes an access: its guard is the constant 0.
    fn is_of_no_lane(&self, access: &Access) -> bool {
        access.guard.is_some_and(|guard| self.editor.constant(guard) == Some(0))
    }

    fn zero(&mut self, ty: ValueType, window: Window) -> Value {
        let zero = self.editor.iconst(ty.ty, 0);
        self.editor.shaped(zero, ty, window)
    }

    /// Returns the execution mask: `active & window & guard`.
    fn execution_mask(&mut self, guard: Option<Value>, nomask: bool, window: Window) -> Value {
        let lanes = self.editor.lanes_of(window.mask());
        let mut mask = if nomask { lanes } else { self.cell(self.function.active) };
        mask = self.editor.and_mask(mask, lanes);
        if let Some(guard) = guard {
            mask = self.editor.and_mask(mask, guard);
        }
        mask
    }

    /// Returns a masked operation with its execution mask as guard. Other operations stay
    /// unchanged.
    fn explicit_mask(&mut self, mut op: Op, window: Window) -> Op {
        let scalar = match &op {
            Op::Load { access, .. } | Op::Store { access, .. } | Op::Atomic { access, .. } => {
                self.editor.ty(access.address).is_uniform()
            }
            Op::RfScatter { bank, .. } => {
                !matches!(self.function.bank(*bank).kind, CellKind::Lane(_))
            }
            _ => false,
        };
        if scalar {
            return op;
        }
        let (guard, nomask) = match &mut op {
            Op::Load { access: Access { guard, nomask, .. }, .. }
            | Op::Store { access: Access { guard, nomask, .. }, .. }
            | Op::Atomic { access: Access { guard, nomask, .. }, .. }
            | Op::RfScatter { guard, nomask, .. }
            | Op::RegionWrite { guard, nomask, .. }
            | Op::Sample { guard, nomask, .. }
            | Op::Wide { guard, nomask, .. }
            | Op::Observe { guard, nomask, .. }
            | Op::Raise { guard, nomask, .. } => (guard, nomask),
            _ => return op,
        };
        *guard = Some(self.execution_mask(*guard, *nomask, window));
        *nomask = true;
        op
    }

    fn cell_type(&self, reg: Reg) -> Type {
        match self.function.bank(reg.bank).kind {
            CellKind::Lane(ty) | CellKind::Uniform(ty) => ty,
            CellKind::Mask => Type::Mask,
            CellKind::Bytes(_) => unreachable!("a byte array has no cells"),
        }
    }

    /// Returns the whole of a uniform or mask register.
    fn cell(&mut self, reg: Reg) -> Value {
        if let Some(cell) = self.cells.get(&reg) {
            return cell.value;
        }
        let window = self.editor.window();
        let ty = ValueType::uniform(self.cell_type(reg));
        let value = self.editor.push(Op::RfRead { reg, part: Part::Whole }, window, &[ty])[0];
        self.cells.insert(reg, Cell { value, written: false });
        value
    }

    fn read(&mut self, reg: Reg, part: Part, window: Window) -> Value {
        if !self.function.is_lane(reg) {
            let whole = self.cell(reg);
            let half = match part {
                Part::Whole => return whole,
                Part::Lo => ConvertOp::Trunc,
                Part::Hi => ConvertOp::HighHalf,
            };
            let all = self.editor.window();
            let bits = if self.cell_type(reg) == Type::Mask {
                self.editor.convert(ConvertOp::FromMask, Type::I64, whole, all)
            } else {
                whole
            };
            return self.editor.convert(half, Type::I32, bits, all);
        }
        let lane = self.lane(reg, window);
        match lane.new {
            Some((value, mask)) if self.editor.is_all_lanes(mask) => value,
            Some((value, mask)) => {
                let old = self.old(reg, window);
                self.editor.select(mask, value, old, window)
            }
            None => self.old(reg, window),
        }
    }

    /// Returns the register's state for this window. A state for another window is settled first.
    fn lane(&mut self, reg: Reg, window: Window) -> Lane {
        if self.lanes.get(&reg).is_some_and(|lane| lane.window != window) {
            self.settle(reg);
        }
        *self.lanes.entry(reg).or_insert(Lane { window, old: None, new: None })
    }

    fn old(&mut self, reg: Reg, window: Window) -> Value {
        if let Some(value) = self.lanes[&reg].old {
            return value;
        }
        let ty = ValueType::varying(self.cell_type(reg));
        let value = self.editor.push(Op::RfRead { reg, part: Part::Whole }, window, &[ty])[0];
        self.lanes.get_mut(&reg).expect("the state was just looked up").old = Some(value);
        value
    }

    fn write(
        &mut self,
        reg: Reg,
        part: Part,
        value: Value,
        guard: Option<Value>,
        nomask: bool,
        window: Window,
    ) {
        let all = self.editor.window();
        if !self.function.is_lane(reg) {
            let bits = match part {
                Part::Whole => None,
                Part::Lo => {
                    let high = self.read(reg, Part::Hi, all);
                    Some(self.editor.concat(value, high, all))
                }
                Part::Hi => {
                    let low = self.read(reg, Part::Lo, all);
                    Some(self.editor.concat(low, value, all))
                }
            };
            let value = match bits {
                Some(bits) if self.cell_type(reg) == Type::Mask => {
                    self.editor.convert(ConvertOp::ToMask, Type::Mask, bits, all)
                }
                bits => bits.unwrap_or(value),
            };
            self.cells.insert(reg, Cell { value, written: true });
            return;
        }
        let ty = ValueType::varying(self.editor.ty(value).ty);
        let value = self.editor.pure(Op::Splat { a: value }, window, &[ty])[0];
        let mask = self.execution_mask(guard, nomask, window);
        let new = match self.lane(reg, window).new {
            None => (value, mask),
            Some((_, before)) if self.editor.is_subset(before, mask) => (value, mask),
            Some((earlier, before)) => {
                let merged = self.editor.select(mask, value, earlier, window);
                let union = if self.editor.is_subset(mask, before) {
                    before
                } else {
                    self.editor.or_mask(before, mask)
                };
                (merged, union)
            }
        };
        self.lanes.get_mut(&reg).expect("the state was just looked up").new = Some(new);
    }

    /// Writes the pending content of a uniform or mask register to the register file.
    fn store_cell(&mut self, reg: Reg) {
        if let Some(cell) = self.cells.get_mut(&reg)
            && std::mem::take(&mut cell.written)
        {
            let value = cell.value;
            self.write_back(reg, value);
        }
    }

    /// Writes the pending content of a register to the register file, and forgets the register's
    /// known state.
    fn settle(&mut self, reg: Reg) {
        self.store_cell(reg);
        self.cells.remove(&reg);
        if let Some(lane) = self.lanes.remove(&reg)
            && let Some((value, mask)) = lane.new
        {
            self.flush_lane(reg, lane.window, value, mask);
        }
    }

    /// Settles all registers of known state for which `which` holds: cells in order, then lane
    /// registers in order.
    fn settle_those(&mut self, which: impl Fn(Reg) -> bool) {
        let known = self.cells.keys().chain(self.lanes.keys()).copied();
        let mut regs: Vec<Reg> = known.filter(|&reg| which(reg)).collect();
        regs.sort_unstable_by_key(|&reg| (self.function.is_lane(reg), reg));
        regs.into_iter().for_each(|reg| self.settle(reg));
    }

    fn flush_lane(&mut self, reg: Reg, window: Window, value: Value, mask: Value) {
        let value = self.editor.current(value);
        let guard = Some(mask).filter(|&mask| !self.editor.is_all_lanes(mask));
        let op = Op::RfWrite { reg, part: Part::Whole, value, guard, nomask: true };
        self.editor.push(op, window, &[]);
    }

    fn write_back(&mut self, reg: Reg, value: Value) {
        let window = self.editor.window();
        self.editor.push(
            Op::RfWrite { reg, part: Part::Whole, value, guard: None, nomask: false },
            window,
            &[],
        );
    }
}
