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

/// The bits a NaN result of float arithmetic has. `None`: the host's choice is observable (not used by any ISA yet).
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

/// A kernel with all code it can reach.
#[derive(Clone, Debug, PartialEq)]
pub struct Function {
    pub name: String,
    /// Lanes of a warp, 1 to 64.
    pub lanes: u8,
    pub banks: Vec<Bank>,
    /// The mask register that holds the active lanes. At entry it is [`super::op::Special::LaunchMask`]; every other
    /// register is 0.
    pub active: Reg,
    pub nan: NanPolicy,
    /// `blocks[0]` is the entry. Nothing jumps to it: a warp that enters there is a fresh one.
    pub blocks: Vec<Block>,
}

/// A basic block: entered at its start only, left by its terminator only.
#[derive(Clone, Debug, PartialEq)]
pub struct Block {
    /// Address of its first guest instruction, in bytes as faults report it. Several IR blocks may share one.
    pub pc: u64,
    /// Guest instructions that entering this block counts against the budget.
    pub cost: u32,
    /// Whether `Terminator::Indirect` may name this block by its pc. Unique per pc.
    pub indirect_target: bool,
    /// A promise by the lifter: every lane that is active at entry was active at an earlier end of that block, which this
    /// warp executed: a reconvergence point and the block that pushed it. Lane registers that nothing on the way writes
    /// then hold what they held there. Joins are nested: one that is entered on the way belongs to a block that was left
    /// on the way, or to the same block and has a higher number than this one, so that of a block's joins the lowest is
    /// entered last. The interpreter checks the first in debug builds.
    pub join: Option<BlockId>,
    pub insts: Vec<Inst>,
    pub term: Terminator,
    /// Types of this block's values, by number.
    pub values: Vec<ValueType>,
}

/// Results of one instruction.
pub type Values = SmallVec<[Value; 4]>;

/// So many values from number `first` on.
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
    /// In the order that the operation's documentation gives.
    pub results: Values,
    pub window: Window,
    /// Guest instruction that this came from.
    pub pc: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BarrierKind {
    /// Wait until all have arrived.
    Sync,
    /// Arrive and go on.
    Arrive,
    /// As `Sync`, and combine a predicate of all lanes that arrive: count, and, or. `Special::BarrierResult` has it (for
    /// and/or as 0 or 1).
    Popcount,
    And,
    Or,
    /// At the barrier of the cluster, which is one block: arrive and go on. That barrier has no number (`id` says nothing), and counts
    /// warps, all that have not exited.
    ClusterArrive,
    /// There, wait until all have arrived, if not all have since this warp did.
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
    /// Whether the warp arrives and waits, or each active lane by itself. Where lanes do, the warp goes on at once, with those of
    /// [`Special::BarrierReleased`](super::op::Special::BarrierReleased), or, if all of it wait, when some are released.
    pub counts: BarrierCounts,
    /// Uniform `i32`, 0..=15.
    pub id: Value,
    /// Uniform `i32`: threads that complete it, rounded up to warps where these are counted; none or 0: all threads of the block,
    /// but for lanes (or warps) that have exited.
    pub threads: Option<Value>,
    /// Mask, for the reducing kinds.
    pub predicate: Option<Value>,
}

/// What lanes tell the barriers that count them, besides that they arrive.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum LaneEvent {
    /// The active lanes have exited, and others of the warp go on. (The lanes of a warp that is done have anyway.)
    Exit,
    /// The warp has nothing to do until lanes of it are released.
    Wait,
    /// Lanes that have been released are asked for; other warps have their turns before.
    Poll,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TrapKind {
    /// The encoding is not an instruction.
    IllegalInstruction,
    /// An instruction that the table lists as not implemented.
    Unimplemented,
    /// The guest asked for it (BPT.TRAP, s_trap, ...).
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

/// How a block ends. Conditions and selectors are uniform.
#[derive(Clone, Debug, PartialEq)]
pub enum Terminator {
    Jump(BlockId),
    /// `then` if the uniform integer or mask is not 0.
    Branch {
        cond: Value,
        then: BlockId,
        otherwise: BlockId,
    },
    /// By unsigned value.
    Switch {
        value: Value,
        cases: Vec<(u64, BlockId)>,
        default: BlockId,
    },
    /// To the block with [`Block::indirect_target`] at this pc (uniform `i64`). An unknown pc leaves the engine, which
    /// asks for more code or reports an illegal instruction.
    Indirect {
        pc: Value,
    },
    /// To the first place where lanes wait, in the order given: a place is a mask register, which
    /// holds them, and the block where they go on. The lanes become the active ones, and the
    /// register 0. If no lane waits, nothing changes, and `otherwise` is next.
    ///
    /// With `from`, a uniform `i32`, the search begins at the place with this index, goes on after the last with the first,
    /// and ends before it; past the last it is 0.
    Dispatch {
        places: Vec<(Reg, BlockId)>,
        from: Option<Value>,
        otherwise: BlockId,
    },
    /// Barrier of the thread block; the warp goes on at `resume`.
    Barrier {
        barrier: Barrier,
        resume: BlockId,
    },
    /// As a barrier that counts lanes, but none is named.
    Lanes {
        event: LaneEvent,
        resume: BlockId,
    },
    /// The host does something for `lanes` (a mask); the warp goes on at `resume`. Where arguments and results are: see
    /// [`Service`].
    Service {
        service: Service,
        lanes: Value,
        resume: BlockId,
    },
    /// The warp is done.
    Exit,
    /// Fault of the least active lane, at the pc.
    Trap {
        kind: TrapKind,
        pc: u64,
    },
    /// No lane can go on: a fault that names the lanes in these mask registers, and for each register the pc before which they
    /// wait. It is that of the least lane of the first that has any.
    Deadlock {
        waiting: Vec<(Reg, u64)>,
    },
}

impl Function {
    pub fn bank(&self, id: BankId) -> &Bank {
        &self.banks[id.index()]
    }

    /// Whether a register has a cell for each lane.
    pub fn is_lane(&self, reg: Reg) -> bool {
        matches!(self.bank(reg.bank).kind, CellKind::Lane(_))
    }

    /// The blocks that an indirect jump may name, with their pcs.
    pub fn indirect_targets(&self) -> impl Iterator<Item = (u64, BlockId)> {
        let blocks = self.blocks.iter().zip(0..);
        blocks.filter(|(block, _)| block.indirect_target).map(|(block, id)| (block.pc, BlockId(id)))
    }

    /// The registers that terminators read by themselves: mask registers where lanes wait.
    pub fn waiting_registers(&self) -> impl Iterator<Item = Reg> + '_ {
        self.blocks.iter().flat_map(|block| block.term.registers())
    }

    /// Whether code may come to lanes' local memory: what it does not name may be reached by a generic address, or by code that only
    /// an indirect jump finds.
    pub fn reaches_local(&self) -> bool {
        let reaches = |inst: &Inst| {
            inst.op
                .access()
                .is_some_and(|access| matches!(access.space, Space::Local | Space::Generic))
        };
        let unknown = |block: &Block| matches!(block.term, Terminator::Indirect { .. });
        self.blocks.iter().any(|block| unknown(block) || block.insts.iter().any(reaches))
    }

    /// Whether there is a [`Service`] that it may ask for.
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
    /// Types of the results, of the values of the instruction's block: results are numbered one after the other.
    pub fn types<'a>(&self, values: &'a [ValueType]) -> &'a [ValueType] {
        let first = self.results.first().map_or(0, |first| first.index());
        &values[first..first + self.results.len()]
    }

    /// The lanes that the results have, in a function of so many.
    pub fn result_window(&self, lanes: u8) -> Window {
        if matches!(self.op, Op::RegionRead { .. } | Op::Product { .. }) {
            Window::all(lanes)
        } else {
            self.window
        }
    }
}

/// The active mask at the start of a block's instructions, if they read it before they write it; `active` is its register.
pub fn entry_mask(insts: &[Inst], active: Reg) -> Option<Value> {
    insts.iter().take_while(|inst| !may_write(&inst.op, active)).find_map(|inst| match inst.op {
        Op::RfRead { reg, .. } if reg == active => Some(inst.results[0]),
        _ => None,
    })
}

/// The active mask at the end, see [`Block::exit_mask`].
pub fn exit_mask(insts: &[Inst], active: Reg) -> Option<Value> {
    let Some(last) = insts.iter().rev().find(|inst| may_write(&inst.op, active)) else {
        return entry_mask(insts, active);
    };
    match last.op {
        Op::RfWrite { value, part: Part::Whole, .. } => Some(value),
        _ => None,
    }
}

/// Whether an operation writes a cell, or one of its bank that is found by number.
pub fn may_write(op: &Op, cell: Reg) -> bool {
    match *op {
        Op::RfWrite { reg, .. } => reg == cell,
        Op::RfScatter { bank, .. } => bank == cell.bank,
        _ => false,
    }
}

/// The defining instruction of each value, and which of its results it is.
pub type Defs = SecondaryMap<Value, (usize, usize)>;

/// A table with the same entry for each of so many keys.
pub fn table<K: EntityRef, V: Clone>(keys: usize, entry: V) -> SecondaryMap<K, V> {
    let mut table = SecondaryMap::with_default(entry);
    table.resize(keys);
    table
}

/// The defining instruction of each of so many values, and which of its results it is.
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
    /// Appends a copy of another block, whose end becomes this one's. `alter` may change an operation, and append others in front of it.
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

    /// Empties a block to which nothing leads any more.
    pub fn clear(&mut self) {
        (self.insts, self.values, self.term, self.cost) = (vec![], vec![], Terminator::Exit, 0);
    }

    /// The active mask at entry, if the block reads it before it writes it; `active` is its register.
    pub fn entry_mask(&self, active: Reg) -> Option<Value> {
        entry_mask(&self.insts, active)
    }

    /// The active mask at the end, if it is known: as it is written last, or else as it is read.
    pub fn exit_mask(&self, active: Reg) -> Option<Value> {
        exit_mask(&self.insts, active)
    }

    /// The defining instruction of each value, and which of its results it is.
    pub fn defs(&self) -> Defs {
        defs(&self.insts, self.values.len())
    }

    pub fn ty(&self, value: Value) -> ValueType {
        self.values[value.index()]
    }
}
