//! Functions, blocks and terminators.

use cranelift_entity::{EntityRef, PrimaryMap, SecondaryMap, entity_impl};
use smallvec::SmallVec;

use super::op::{Op, Space};
use super::register::{Bank, BankId, CellKind, Part, Reg};
use super::types::{Type, ValueType, Window};

/// A value of one block: index into [`Block::values`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Value(pub u32);

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct BlockId(pub u32);

entity_impl!(Value);
entity_impl!(BlockId);

/// The bits that a NaN result of float arithmetic has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NanPolicy {
    pub f16: u16,
    pub f32: u32,
    pub f64: u64,
}

impl NanPolicy {
    pub const fn canonical(self, ty: Type) -> u64 {
        match ty {
            Type::F16 => self.f16 as u64,
            Type::F32 => self.f32 as u64,
            _ => self.f64,
        }
    }
}

/// A kernel with all code that it can reach.
#[derive(Clone, Debug, PartialEq)]
pub struct Function {
    pub name: String,
    /// The lanes of a warp, 1 to 64.
    pub lanes: u8,
    pub banks: Vec<Bank>,
    /// The mask register that holds the active lanes. At entry it is
    /// [`super::op::Special::LaunchMask`]; every other register is 0.
    pub active: Reg,
    pub nan: NanPolicy,
    /// `blocks[0]` is the entry. Nothing jumps to it: a warp that enters there is fresh.
    pub blocks: Vec<Block>,
}

/// A basic block: entered only at its start, left only by its terminator.
#[derive(Clone, Debug, PartialEq)]
pub struct Block {
    /// The address of the block's first guest instruction, in bytes, as faults report it. Several
    /// IR blocks may share an address.
    pub pc: u64,
    /// The guest instructions that entering this block counts against the budget.
    pub cost: u32,
    /// Whether `Terminator::Indirect` may name this block by its pc. At most one block per pc.
    pub indirect_target: bool,
    /// A promise by the lifter about a reconvergence point and the block that pushed it: every lane
    /// that is active at entry was active at an earlier end of the named block, which this warp
    /// executed. Lane registers that nothing on the way writes therefore keep the contents they had
    /// there. Joins are nested. A join that is entered on the way either belongs to a block that
    /// was left on the way, or belongs to the same block and has a higher number than this join. So
    /// the lowest join of a block is entered last. Debug builds of the interpreter check the first
    /// promise.
    pub join: Option<BlockId>,
    pub insts: Vec<Inst>,
    pub term: Terminator,
    /// The types of this block's values, by number.
    pub values: Vec<ValueType>,
}

/// The results of one instruction.
pub type Values = SmallVec<[Value; 4]>;

/// `count` values from number `first` on.
pub fn numbered(first: usize, count: usize) -> Values {
    let number = |i: usize| Value((first + i) as u32);
    match count {
        0..=4 => Values::from_buf_and_len([number(0), number(1), number(2), number(3)], count),
        _ => (0..count).map(number).collect(),
    }
}

#[derive(Clone, Debug, PartialEq)]
pub struct Inst {
    pub op: Op,
    /// The results, in the order of the operation's documentation.
    pub results: Values,
    pub window: Window,
    /// The guest instruction from which this instruction was lifted.
    pub pc: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BarrierKind {
    /// Waits until all have arrived.
    Sync,
    /// Arrives and goes on.
    Arrive,
    /// Like `Sync`, and combines a predicate of all arriving lanes: count, and, or.
    /// `Special::BarrierResult` has the result (for and/or as 0 or 1).
    Popcount,
    And,
    Or,
    /// Arrives at the barrier of the cluster, which is one block, and goes on. This barrier has no
    /// number (`id` is ignored). It counts warps, and waits for all warps that have not exited.
    ClusterArrive,
    /// Waits at the cluster's barrier, unless all have arrived since this warp arrived.
    ClusterWait,
}

impl From<BarrierKind> for warploom_runtime::warp::BarrierKind {
    fn from(kind: BarrierKind) -> Self {
        match kind {
            BarrierKind::Sync => Self::Sync,
            BarrierKind::Arrive => Self::Arrive,
            BarrierKind::Popcount => Self::Popcount,
            BarrierKind::And => Self::And,
            BarrierKind::Or => Self::Or,
            BarrierKind::ClusterArrive => Self::ClusterArrive,
            BarrierKind::ClusterWait => Self::ClusterWait,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Barrier {
    pub kind: BarrierKind,
    /// Whether the warp arrives and waits as a whole, or each active lane by itself. If lanes
    /// arrive, the warp goes on at once with the lanes of
    /// [`Special::BarrierReleased`](super::op::Special::BarrierReleased). If all its lanes wait, it
    /// goes on when some are released.
    pub counts: BarrierCounts,
    /// The number of the barrier: a uniform `i32`, 0..=15.
    pub id: Value,
    /// The threads that complete the barrier: a uniform `i32`, rounded up to warps if it counts
    /// warps. If it is none or 0, all threads of the block complete it, without lanes (or warps)
    /// that have exited.
    pub threads: Option<Value>,
    /// A mask, for the reducing kinds.
    pub predicate: Option<Value>,
}

/// The events, besides arrivals, that lanes report to barriers which count lanes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum LaneEvent {
    /// The active lanes have exited, and other lanes of the warp go on. (Lanes of a finished warp
    /// have exited anyway.)
    Exit,
    /// The warp has nothing to do until some of its lanes are released.
    Wait,
    /// The warp asks for released lanes; other warps take their turns before.
    Poll,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TrapKind {
    /// The encoding is not an instruction.
    IllegalInstruction,
    /// The table lists the instruction as not implemented.
    Unimplemented,
    /// The guest requested the trap (BPT.TRAP, s_trap, ...).
    Guest,
    /// The divergence or call stack is full.
    StackOverflow,
}

impl From<TrapKind> for warploom_runtime::fault::FaultKind {
    fn from(kind: TrapKind) -> Self {
        match kind {
            TrapKind::IllegalInstruction => Self::IllegalInstruction,
            TrapKind::Unimplemented => Self::Unimplemented,
            TrapKind::Guest => Self::Trap,
            TrapKind::StackOverflow => Self::StackOverflow,
        }
    }
}

pub use warploom_runtime::warp::{BarrierCounts, Service};

/// The end of a block. Conditions and selectors are uniform.
#[derive(Clone, Debug, PartialEq)]
pub enum Terminator {
    Jump(BlockId),
    /// Goes to `then` if the uniform integer or mask is not 0.
    Branch {
        cond: Value,
        then: BlockId,
        otherwise: BlockId,
    },
    /// Goes to the block of an unsigned value.
    Switch {
        value: Value,
        cases: Vec<(u64, BlockId)>,
        default: BlockId,
    },
    /// Goes to the block with [`Block::indirect_target`] at this pc (uniform `i64`). An unknown pc
    /// leaves the engine, which asks for more code or reports an illegal instruction.
    Indirect {
        pc: Value,
    },
    /// Goes to the first place in the list where lanes wait. A place is a mask register, which
    /// holds the waiting lanes, and the block where they go on. These lanes become the active
    /// lanes, and the register becomes 0. If no lane waits, nothing changes, and `otherwise` is
    /// next.
    ///
    /// With `from`, a uniform `i32`, the search begins at the place with this index, wraps around
    /// after the last place, and ends before index `from`. An index past the last place counts as
    /// 0.
    Dispatch {
        places: Vec<(Reg, BlockId)>,
        from: Option<Value>,
        otherwise: BlockId,
    },
    /// Applies a barrier of the thread block; the warp goes on at `resume`.
    Barrier {
        barrier: Barrier,
        resume: BlockId,
    },
    /// Acts as a barrier that counts lanes, but names no barrier.
    Lanes {
        event: LaneEvent,
        resume: BlockId,
    },
    /// The host performs a service for `lanes` (a mask); the warp goes on at `resume`. [`Service`]
    /// tells where arguments and results are.
    Service {
        service: Service,
        lanes: Value,
        resume: BlockId,
    },
    /// The warp ends.
    Exit,
    /// Raises a fault of the least active lane, at the pc.
    Trap {
        kind: TrapKind,
        pc: u64,
    },
    /// No lane can go on. The fault names the lanes in these mask registers, and for each register
    /// the pc before which its lanes wait. It is the fault of the least lane in the first register
    /// that has lanes.
    Deadlock {
        waiting: Vec<(Reg, u64)>,
    },
}

impl Function {
    pub fn bank(&self, id: BankId) -> &Bank {
        &self.banks[id.index()]
    }

    /// Returns whether a register has a cell for each lane.
    pub fn is_lane(&self, reg: Reg) -> bool {
        matches!(self.bank(reg.bank).kind, CellKind::Lane(_))
    }

    /// The blocks that an indirect jump may name, with their pcs.
    pub fn indirect_targets(&self) -> impl Iterator<Item = (u64, BlockId)> {
        let blocks = self.blocks.iter().zip(0..);
        blocks.filter(|(block, _)| block.indirect_target).map(|(block, id)| (block.pc, BlockId(id)))
    }

    /// The registers that terminators read implicitly: mask registers where lanes wait.
    pub fn waiting_registers(&self) -> impl Iterator<Item = Reg> + '_ {
        self.blocks.iter().flat_map(|block| block.term.registers())
    }

    /// Returns whether code may access the lanes' local memory. Accesses through generic addresses
    /// count, and so does code that only an indirect jump finds.
    pub fn reaches_local(&self) -> bool {
        let reaches = |inst: &Inst| {
            inst.op
                .access()
                .is_some_and(|access| matches!(access.space, Space::Local | Space::Generic))
        };
        let unknown = |block: &Block| matches!(block.term, Terminator::Indirect { .. });
        self.blocks.iter().any(|block| unknown(block) || block.insts.iter().any(reaches))
    }

    /// Returns whether the function may request a [`Service`].
    pub fn asks_host(&self) -> bool {
        self.blocks.iter().any(|block| matches!(block.term, Terminator::Service { .. }))
    }

    pub fn block(&self, id: BlockId) -> &Block {
        &self.blocks[id.index()]
    }

    pub fn block_mut(&mut self, id: BlockId) -> &mut Block {
        &mut self.blocks[id.index()]
    }
}

impl Inst {
    /// The types of the results, from the types of the block's values: results have consecutive
    /// numbers.
    pub fn types<'a>(&self, values: &'a [ValueType]) -> &'a [ValueType] {
        let first = self.results.first().map_or(0, |first| first.index());
        &values[first..first + self.results.len()]
    }

    /// The lanes of the results, in a function with `lanes` lanes.
    pub fn result_window(&self, lanes: u8) -> Window {
        if matches!(self.op, Op::RegionRead { .. } | Op::Product { .. }) {
            Window::all(lanes)
        } else {
            self.window
        }
    }
}

/// The active mask at the start of a block's instructions, if they read it before they write it.
/// `active` is its register.
pub fn entry_mask(insts: &[Inst], active: Reg) -> Option<Value> {
    insts.iter().take_while(|inst| !may_write(&inst.op, active)).find_map(|inst| match inst.op {
        Op::RfRead { reg, .. } if reg == active => Some(inst.results[0]),
        _ => None,
    })
}

/// The active mask at the end; see [`Block::exit_mask`].
pub fn exit_mask(insts: &[Inst], active: Reg) -> Option<Value> {
    let Some(last) = insts.iter().rev().find(|inst| may_write(&inst.op, active)) else {
        return entry_mask(insts, active);
    };
    match last.op {
        Op::RfWrite { value, part: Part::Whole, .. } => Some(value),
        _ => None,
    }
}

/// Returns whether an operation writes a cell, or a cell of its bank that is found by index.
pub fn may_write(op: &Op, cell: Reg) -> bool {
    match *op {
        Op::RfWrite { reg, .. } => reg == cell,
        Op::RfScatter { bank, .. } => bank == cell.bank,
        _ => false,
    }
}

/// For each value, its defining instruction and its index in the results.
pub type Defs = SecondaryMap<Value, (usize, usize)>;

/// A table with an equal entry for each of `keys` keys.
pub fn table<K: EntityRef, V: Clone>(keys: usize, entry: V) -> SecondaryMap<K, V> {
    let mut table = SecondaryMap::with_default(entry);
    table.resize(keys);
    table
}

/// For each of `values` values, its defining instruction and its index in the results.
pub fn defs(insts: &[Inst], values: usize) -> Defs {
    let mut defs = SecondaryMap::with_capacity(values);
    for (index, inst) in insts.iter().enumerate() {
        for (result, &value) in inst.results.iter().enumerate() {
            defs[value] = (index, result);
        }
    }
    defs
}

impl Block {
    /// Appends a copy of another block, including its terminator. `alter` may change each
    /// operation, and may append operations in front of it.
    pub fn append(&mut self, other: &Block, mut alter: impl FnMut(&mut Block, &mut Op)) {
        let mut copies: PrimaryMap<Value, Value> = PrimaryMap::with_capacity(other.values.len());
        for inst in &other.insts {
            let mut inst = inst.clone();
            inst.op.map_operands(|v| copies[v]);
            alter(self, &mut inst.op);
            for result in &mut inst.results {
                let copy = Value(self.values.len() as u32);
                self.values.push(other.values[result.index()]);
                copies.push(copy);
                *result = copy;
            }
            self.insts.push(inst);
        }
        self.term = other.term.clone();
        self.term.map_operands(|v| copies[v]);
        self.cost += other.cost;
    }

    /// Empties an unreachable block.
    pub fn clear(&mut self) {
        (self.insts, self.values, self.term, self.cost) = (vec![], vec![], Terminator::Exit, 0);
    }

    /// The active mask at entry, if the block reads it before it writes it. `active` is its
    /// register.
    pub fn entry_mask(&self, active: Reg) -> Option<Value> {
        entry_mask(&self.insts, active)
    }

    /// The active mask at the end, if it is known: the value written last, or else the value read.
    pub fn exit_mask(&self, active: Reg) -> Option<Value> {
        exit_mask(&self.insts, active)
    }

    /// For each value, its defining instruction and its index in the results.
    pub fn defs(&self) -> Defs {
        defs(&self.insts, self.values.len())
    }

    pub fn ty(&self, value: Value) -> ValueType {
        self.values[value.index()]
    }
}
