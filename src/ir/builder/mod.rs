//! Builders of functions: [`FunctionBuilder`] holds the function, [`BlockBuilder`] appends to one
//! of its blocks at a time.
//!
//! Result types come from [`op_types`]. [`FunctionBuilder::finish`] reports the first ill-typed
//! operation, so that a lifter need not check every step. Whatever is appended after this operation
//! is meaningless.

mod ops;

use super::function::*;
use super::op::{Access, Op, Space};
use super::register::{Bank, BankId, CellKind, Reg};
use super::types::{Type, Window};
use super::typing::{Env, TypeError, op_types};

/// The reason why a function could not be built: a defect of the lifter.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum BuildError {
    #[error(
        "block {block}, instruction {inst} (guest pc {pc:#x}): {error}; the operation is {op:?}"
    )]
    Type { block: u32, inst: usize, pc: u64, op: Box<Op>, error: TypeError },
    #[error("block {block} (guest pc {pc:#x}) has no terminator")]
    Unterminated { block: u32, pc: u64 },
    #[error("the function has no active mask register: call `set_active`")]
    NoActive,
    #[error("the function has no block")]
    NoBlock,
}

/// A function that is being built.
#[derive(Debug)]
pub struct FunctionBuilder {
    function: Function,
    active: Option<Reg>,
    terminated: Vec<bool>,
    error: Option<BuildError>,
    observed: bool,
}

impl FunctionBuilder {
    /// Starts a function. `lanes` is the width of a warp, 1 to 64.
    pub fn new(name: impl Into<String>, lanes: u8, nan: NanPolicy) -> Self {
        let active = BankId(0).reg(0);
        FunctionBuilder {
            function: Function {
                name: name.into(),
                lanes,
                banks: Vec::new(),
                active,
                nan,
                blocks: Vec::new(),
            },
            active: None,
            terminated: Vec::new(),
            error: None,
            observed: false,
        }
    }

    /// Declares a bank; its registers are `id.reg(0) .. id.reg(count)`.
    pub fn bank(&mut self, name: impl Into<String>, kind: CellKind, count: u32) -> BankId {
        self.function.banks.push(Bank { name: name.into(), kind, count });
        BankId((self.function.banks.len() - 1) as u16)
    }

    /// Sets the number of registers of a bank, before any is used.
    pub fn set_count(&mut self, bank: BankId, count: u32) {
        self.function.banks[usize::from(bank.0)].count = count;
    }

    /// Sets the mask register that holds the active lanes.
    pub fn set_active(&mut self, active: Reg) {
        self.active = Some(active);
        self.function.active = active;
    }

    /// Whether [`BlockBuilder::observe`] appends operations.
    pub fn set_observed(&mut self, observed: bool) {
        self.observed = observed;
    }

    /// Adds an empty block without a terminator. The first block is the entry; nothing may jump to
    /// it.
    pub fn new_block(&mut self, pc: u64) -> BlockId {
        self.function.blocks.push(Block {
            pc,
            cost: 0,
            indirect_target: false,
            join: None,
            insts: Vec::new(),
            term: Terminator::Exit,
            values: Vec::new(),
        });
        self.terminated.push(false);
        BlockId((self.function.blocks.len() - 1) as u32)
    }

    pub fn set_indirect_target(&mut self, block: BlockId, is_target: bool) {
        self.function.blocks[block.0 as usize].indirect_target = is_target;
    }

    pub fn set_join(&mut self, block: BlockId, join: Option<BlockId>) {
        self.function.blocks[block.0 as usize].join = join;
    }

    pub fn set_cost(&mut self, block: BlockId, cost: u32) {
        self.function.blocks[block.0 as usize].cost = cost;
    }

    /// Removes the instructions and values of `block`.
    pub fn clear(&mut self, block: BlockId) {
        let Block { insts, values, .. } = &mut self.function.blocks[block.0 as usize];
        insts.clear();
        values.clear();
    }

    /// Returns a cursor at the end of `block`. The guest pc starts as the block's.
    pub fn at(&mut self, block: BlockId) -> BlockBuilder<'_> {
        let pc = self.function.block(block).pc;
        let window = Window::all(self.function.lanes);
        BlockBuilder { builder: self, block, pc, window, guard: None, nomask: false }
    }

    pub fn is_terminated(&self, block: BlockId) -> bool {
        self.terminated[block.0 as usize]
    }

    /// The function as built so far.
    pub fn function(&self) -> &Function {
        &self.function
    }

    /// Returns the function. It is well-typed; `verify::verify` checks properties of the whole
    /// function.
    pub fn finish(self) -> Result<Function, BuildError> {
        if let Some(error) = self.error {
            return Err(error);
        }
        if self.active.is_none() {
            return Err(BuildError::NoActive);
        }
        if self.function.blocks.is_empty() {
            return Err(BuildError::NoBlock);
        }
        if let Some(index) = self.terminated.iter().position(|done| !done) {
            return Err(BuildError::Unterminated {
                block: index as u32,
                pc: self.function.blocks[index].pc,
            });
        }
        Ok(self.function)
    }
}

/// A cursor at the end of a block. The pc, window, guard and `nomask` that are set here apply to
/// all operations appended later.
pub struct BlockBuilder<'a> {
    builder: &'a mut FunctionBuilder,
    block: BlockId,
    pc: u64,
    window: Window,
    guard: Option<Value>,
    nomask: bool,
}

impl BlockBuilder<'_> {
    pub fn block(&self) -> BlockId {
        self.block
    }

    /// The function's builder, to declare banks and blocks.
    pub fn function(&mut self) -> &mut FunctionBuilder {
        self.builder
    }

    /// Moves to the end of another block. Pc, window and `nomask` stay; the guard is removed,
    /// because guards are values of their block.
    pub fn switch_to(&mut self, block: BlockId) {
        self.block = block;
        self.guard = None;
    }

    pub fn pc(&self) -> u64 {
        self.pc
    }

    pub fn set_pc(&mut self, pc: u64) {
        self.pc = pc;
    }

    pub fn window(&self) -> Window {
        self.window
    }

    pub fn set_window(&mut self, window: Window) {
        self.window = window;
    }

    pub fn guard(&self) -> Option<Value> {
        self.guard
    }

    /// Sets the guard of the masked operations that follow. Unmasked operations (uniform registers
    /// and accesses) ignore it.
    pub fn set_guard(&mut self, guard: Option<Value>) {
        self.guard = guard;
    }

    pub fn set_nomask(&mut self, nomask: bool) {
        self.nomask = nomask;
    }

    /// The type of a value of this block; a mask if the value does not exist.
    pub fn ty(&self, value: Value) -> super::types::ValueType {
        let values = &self.builder.function.block(self.block).values;
        values.get(value.0 as usize).copied().unwrap_or(super::types::ValueType::MASK)
    }

    /// The bits of a constant value.
    pub fn constant(&self, value: Value) -> Option<u64> {
        let insts = &self.builder.function.block(self.block).insts;
        // Results are numbered in order, and most requests are for new values.
        let before = |results: &[Value]| results.first().is_some_and(|first| first.0 < value.0);
        let newest = insts.iter().rev().take_while(|inst| !before(&inst.results));
        newest.into_iter().find(|inst| inst.results.first() == Some(&value)).and_then(|inst| {
            match inst.op {
                Op::Const { bits, .. } => Some(bits),
                Op::Splat { a } => self.constant(a),
                _ => None,
            }
        })
    }

    fn is_uniform(&self, value: Value) -> bool {
        self.ty(value).is_uniform()
    }

    /// Appends an operation as it is, and returns its results in order.
    pub fn push(&mut self, op: Op) -> Values {
        let function = &mut self.builder.function;
        let block = &mut function.blocks[self.block.0 as usize];
        match op_types(
            &op,
            Env { lanes: function.lanes, banks: &function.banks, values: &block.values },
        ) {
            Ok(types) => {
                let first = block.values.len();
                block.values.extend_from_slice(&types);
                let results = numbered(first, types.len());
                block.insts.push(Inst { op, results, window: self.window, pc: self.pc });
                numbered(first, types.len())
            }
            Err(error) => {
                let (pc, inst, op) = (self.pc, block.insts.len(), Box::new(op));
                let error = BuildError::Type { block: self.block.0, inst, pc, op, error };
                self.builder.error.get_or_insert(error);
                // The most results of any operation, so that a caller which indexes them does not
                // panic.
                (0..MOST_RESULTS).map(|_| Value(u32::MAX)).collect()
            }
        }
    }

    fn push1(&mut self, op: Op) -> Value {
        self.push(op)[0]
    }

    /// Makes an access, with the current guard if it is masked. Its alignment is the natural
    /// alignment of all its elements together, or of one element if their size is no power of two.
    pub fn access(&self, space: Space, ty: Type, count: u8, address: Value, offset: i32) -> Access {
        let (guard, nomask) =
            if self.is_uniform(address) { (None, false) } else { (self.guard, self.nomask) };
        let bytes = ty.bytes() * u32::from(count);
        let align = if bytes.is_power_of_two() { bytes } else { ty.bytes() } as u8;
        Access { space, ty, count, align, address, offset, guard, nomask }
    }

    /// Ends the block.
    pub fn terminate(&mut self, term: Terminator) {
        self.builder.function.blocks[self.block.0 as usize].term = term;
        self.builder.terminated[self.block.0 as usize] = true;
    }
}

/// 16 elements and the sparse mask.
const MOST_RESULTS: usize = 17;

impl super::division::Build for BlockBuilder<'_> {
    fn put(&mut self, op: Op) -> Value {
        self.push1(op)
    }
}
