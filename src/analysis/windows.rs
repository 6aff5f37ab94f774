//! Lane windows: widens operations on some lanes to operations on all lanes.
//!
//! Nobody sees the results of an operation without effect outside its window, so the operation may
//! run on all lanes. Masks that it makes are cut to the window, and masked operations carry the
//! window as a mask. Only byte regions keep their window, which tells which lane has element 0.

use std::borrow::Cow;

use cranelift_entity::{EntityRef, PrimaryMap};
use warploom_ir::{
    Access, Bank, BinaryOp, Block, CellKind, Function, Inst, Op, Reg, Type, Value, ValueType,
    Values, Window, numbered,
};

/// Returns the function without windows, except for the windows of byte regions.
pub fn widen(function: &Function) -> Cow<'_, Function> {
    let all = Window::all(function.lanes);
    if function
        .blocks
        .iter()
        .flat_map(|block| &block.insts)
        .all(|inst| inst.window == all || keeps(&inst.op))
    {
        return Cow::Borrowed(function);
    }
    let mut function = function.clone();
    for block in &mut function.blocks {
        widen_block(&function.banks, all, block);
    }
    Cow::Owned(function)
}

/// Returns whether an operation keeps its window.
fn keeps(op: &Op) -> bool {
    matches!(op, Op::RegionRead { uniform: false, .. } | Op::RegionWrite { .. })
}

fn widen_block(banks: &[Bank], all: Window, block: &mut Block) {
    let mut wide = Widener {
        banks,
        all,
        insts: Vec::new(),
        values: Vec::new(),
        map: PrimaryMap::new(),
        pc: block.pc,
    };
    for inst in std::mem::take(&mut block.insts) {
        wide.pc = inst.pc;
        wide.inst(inst, &block.values);
    }
    block.term.map_operands(|v| wide.map[v]);
    (block.insts, block.values) = (wide.insts, wide.values);
}

/// A block under construction.
struct Widener<'a> {
    banks: &'a [Bank],
    all: Window,
    insts: Vec<Inst>,
    values: Vec<ValueType>,
    /// The new number of each old value.
    map: PrimaryMap<Value, Value>,
    pc: u64,
}

impl Widener<'_> {
    fn push(&mut self, op: Op, types: &[ValueType], window: Window) -> Values {
        let results = numbered(self.values.len(), types.len());
        self.values.extend_from_slice(types);
        self.insts.push(Inst { op, results: results.clone(), window, pc: self.pc });
        results
    }

    fn inst(&mut self, inst: Inst, old: &[ValueType]) {
        let (window, types) = (inst.window, inst.types(old));
        let mut op = inst.op;
        op.map_operands(|v| self.map[v]);
        let results = if window == self.all || keeps(&op) {
            self.push(op, types, window)
        } else {
            self.mask(&mut op, window);
            let cut = self.made_mask(&op, types);
            let mut results = self.push(op, types, self.all);
            if let Some(made) = cut {
                results[made] = self.cut(results[made], window);
            }
            results
        };
        self.map.extend(results);
    }

    /// Restricts the operand that selects an operation's lanes to the window.
    fn mask(&mut self, op: &mut Op, window: Window) {
        match op {
            Op::LaneScatter { lanes, .. } => *lanes = self.cut(*lanes, window),
            Op::Load { access, .. } | Op::Store { access, .. } | Op::Atomic { access, .. } => {
                let Access { address, guard, .. } = access;
                if !self.values[address.index()].is_uniform() {
                    *guard = Some(self.cut_guard(*guard, window));
                }
            }
            Op::RfWrite { reg: Reg { bank, .. }, guard, .. }
            | Op::RfScatter { bank, guard, .. } => {
                if matches!(self.banks[bank.index()].kind, CellKind::Lane(_)) {
                    *guard = Some(self.cut_guard(*guard, window));
                }
            }
            Op::Sample { guard, .. }
            | Op::Wide { guard, .. }
            | Op::Observe { guard, .. }
            | Op::Raise { guard, .. } => *guard = Some(self.cut_guard(*guard, window)),
            _ => {}
        }
    }

    fn cut_guard(&mut self, guard: Option<Value>, window: Window) -> Value {
        match guard {
            Some(guard) => self.cut(guard, window),
            None => self.lanes_of(window),
        }
    }

    /// Returns a mask without its bits outside a window.
    fn cut(&mut self, mask: Value, window: Window) -> Value {
        let lanes = self.lanes_of(window);
        self.push(Op::Binary { op: BinaryOp::And, a: mask, b: lanes }, &[ValueType::MASK], self.all)
            [0]
    }

    fn lanes_of(&mut self, window: Window) -> Value {
        self.push(Op::Const { ty: Type::Mask, bits: window.mask() }, &[ValueType::MASK], self.all)
            [0]
    }

    /// Returns the index of the result that is a mask with bits only in the operation's window.
    fn made_mask(&self, op: &Op, types: &[ValueType]) -> Option<usize> {
        let made = match op {
            Op::ICmp { .. } | Op::FCmp { .. } => 0,
            Op::AddCarry { .. } => 1,
            _ => return None,
        };
        let varies = |v: Value| !self.values[v.index()].is_uniform();
        // With uniform operands, the mask is one truth value for all lanes.
        (!types[0].is_uniform() || op.operands().into_iter().any(varies)).then_some(made)
    }
}
