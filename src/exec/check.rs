//! Checks of launches: accesses outside of the allocations that a host knows.
//!
//! A copy of the kernel checks each access in front of it, by operations of the IR: both engines run
//! the copy as any other function, and other launches pay nothing. The copy finds the allocation of
//! an address in a hash table of pages, and stores the first bad access of each place in memory
//! beside the guest's. Neither changes a result.

use warploom_ir::typing::{Env, op_types};
use warploom_ir::{
    Access, AtomicOp, Bank, BinaryOp, Block, ConvertOp, Extend, Function, Inst, IntCc, Op, Space,
    Special, Type, Value, Values, Window, numbered,
};
use warploom_runtime::fault::FaultKind;
use warploom_runtime::launch;
use warploom_runtime::memory::{PAGE_BITS, PAGE_BYTES};

use super::fault::Fault;
use super::guest::SourcePlace;
use super::{Arg, Error, Kernel, LaunchOptions, LaunchOutcome};

/// An allocation: guest memory of so many bytes, which begins with a page. Bytes between its end and
/// the end of its last page belong to no allocation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Allocation {
    pub name: String,
    pub address: u64,
    pub bytes: u64,
}

/// The kinds of accesses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AccessKind {
    Load,
    Store,
    Atomic,
}

impl AccessKind {
    pub const fn name(self) -> &'static str {
        match self {
            AccessKind::Load => "load",
            AccessKind::Store => "store",
            AccessKind::Atomic => "atomic",
        }
    }
}

/// Bad accesses of one instruction. The fields describe the first one; with several worker threads,
/// one of them.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Finding {
    pub kind: AccessKind,
    /// The size of the access, and its address.
    pub bytes: u32,
    pub address: u64,
    /// The allocation, of which the access passes the end.
    pub allocation: Allocation,
    pub kernel: String,
    /// The function that contains the instruction.
    pub function: Option<String>,
    /// The offset of the instruction in its section, as in disassemblies.
    pub pc: u64,
    pub instruction: Option<String>,
    pub line: Option<SourcePlace>,
    pub block: [u32; 3],
    pub warp: u32,
    pub lane: u32,
    /// How many accesses of lanes were bad.
    pub count: u64,
}

impl std::fmt::Display for Finding {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Finding { kind, bytes, address, allocation, .. } = self;
        let offset = address - allocation.address;
        write!(
            f,
            "{} of {bytes} byte{} at offset {offset} of `{}`, which has {} bytes: pc {:#x}, block \
             {:?}, warp {}, lane {}, address {address:#x}, in kernel `{}`",
            kind.name(),
            if *bytes == 1 { "" } else { "s" },
            allocation.name,
            allocation.bytes,
            self.pc,
            self.block,
            self.warp,
            self.lane,
            self.kernel
        )?;
        if let Some(function) = self.function.as_ref().filter(|name| **name != self.kernel) {
            write!(f, ", function `{function}`")?;
        }
        if let Some(line) = &self.line {
            write!(f, ", {line}")?;
        }
        if let Some(text) = &self.instruction {
            write!(f, ": {text}")?;
        }
        match self.count {
            1 => Ok(()),
            count => write!(f, " ({count} accesses)"),
        }
    }
}

/// An access in the code.
struct Site {
    pc: u64,
    kind: AccessKind,
    bytes: u32,
}

/// The words of eight bytes of a site's record: the count of bad accesses; then of the first one the
/// address, the lane, the block's three indices and the warp.
const WORDS: u64 = 7;

impl Kernel<'_> {
    /// Launches a copy of this kernel that checks its accesses to global memory. The outcome is that
    /// of a launch. Also returns the accesses past the ends of allocations.
    ///
    /// An access far past an end meets no page, and is a fault. Memory of no allocation is not
    /// checked.
    ///
    /// # Errors
    /// The launch cannot take place.
    pub fn launch_checked(
        &self,
        args: &[Arg],
        options: &LaunchOptions,
        allocations: &[Allocation],
    ) -> Result<(LaunchOutcome, Vec<Finding>), Error> {
        self.in_environment(args, options, |translated, environment| {
            let memory = self.program.memory();
            let plain = translated.plain()?;
            let (bits, table) = pages(allocations);
            let hashed = memory.alloc(table.len() as u64, 16)?;
            environment.held.push(hashed);
            memory.write(hashed, &table)?;
            let sites = sites(&plain);
            let records = memory.alloc((8 * WORDS * sites.len() as u64).max(8), 8)?;
            environment.held.push(records);
            let places = Places { table: hashed, bits, records };
            let engine = self.engine(checking(&plain, &places), options)?;
            let outcome = self.outcome(translated, &*engine, environment, options, None)?;
            let mut words = vec![0; 8 * WORDS as usize * sites.len()];
            memory.read(records, &mut words)?;
            let mut findings = vec![];
            for (site, record) in sites.iter().zip(words.chunks_exact(8 * WORDS as usize)) {
                let word =
                    |i: usize| u64::from_le_bytes(std::array::from_fn(|byte| record[8 * i + byte]));
                if word(0) > 0 {
                    findings.push(self.finding(
                        site,
                        &[0, 1, 2, 3, 4, 5, 6].map(word),
                        allocations,
                    ));
                }
            }
            Ok((outcome, findings))
        })
    }

    fn finding(&self, site: &Site, words: &[u64; 7], allocations: &[Allocation]) -> Finding {
        let &[count, address, lane, x, y, z, warp] = words;
        let fault = launch::Fault {
            kind: FaultKind::AddressOutOfRange,
            pc: site.pc,
            block: [x, y, z].map(|index| index as u32),
            warp: warp as u32,
            lane: lane as u32,
            address,
            waiting: vec![],
            spinning: 0,
        };
        let Fault { kernel, function, offset, instruction, line, .. } =
            Fault::new(fault, None, self.program, self.id);
        let last = address + u64::from(site.bytes) - 1;
        let holds = |one: &&Allocation| one.address >> PAGE_BITS <= last >> PAGE_BITS;
        let allocation = allocations.iter().filter(holds).max_by_key(|one| one.address);
        Finding {
            kind: site.kind,
            bytes: site.bytes,
            address,
            allocation: allocation.cloned().unwrap_or_else(|| Allocation {
                name: String::new(),
                address,
                bytes: 0,
            }),
            kernel,
            function,
            pc: offset,
            instruction,
            line,
            block: [x, y, z].map(|index| index as u32),
            warp: warp as u32,
            lane: lane as u32,
            count,
        }
    }
}

/// The factor of the hash of a page's number.
const HASH: u64 = 0x9e37_79b9_7f4a_7c15;

/// Returns a hash table of the last page of each allocation that ends within a page, and the number
/// of bits of a hash. An entry is the number of the page and the address of the end. No two pages
/// have a hash in common.
fn pages(allocations: &[Allocation]) -> (u32, Vec<u8>) {
    let ends = allocations.iter().map(|one| one.address + one.bytes);
    let ends: Vec<u64> = ends.filter(|end| !end.is_multiple_of(PAGE_BYTES)).collect();
    let mut bits = usize::BITS - ends.len().leading_zeros() + 1;
    loop {
        let mut table = vec![[u64::MAX, 0]; 1 << bits];
        let fits = ends.iter().all(|&end| {
            let page = end >> PAGE_BITS;
            let entry = &mut table[(page.wrapping_mul(HASH) >> (64 - bits)) as usize];
            let is_free = entry[0] == u64::MAX;
            *entry = [page, end];
            is_free
        });
        // Two allocations in one page would be a mistake of the host's. The larger end counts.
        if fits || bits >= 24 {
            return (bits, table.iter().flatten().flat_map(|word| word.to_le_bytes()).collect());
        }
        bits += 1;
    }
}

/// Guest addresses of the table and of the records, and the number of bits of a hash.
struct Places {
    table: u64,
    bits: u32,
    records: u64,
}

/// Returns an operation's access to global memory, if it has one.
fn access(op: &Op) -> Option<(&Access, AccessKind)> {
    let (access, kind) = match op {
        Op::Load { access, .. } => (access, AccessKind::Load),
        Op::Store { access, .. } => (access, AccessKind::Store),
        Op::Atomic { access, .. } => (access, AccessKind::Atomic),
        _ => return None,
    };
    matches!(access.space, Space::Global | Space::Generic).then_some((access, kind))
}

fn sites(function: &Function) -> Vec<Site> {
    let insts = function.blocks.iter().flat_map(|block| &block.insts);
    let site = |inst: &Inst| {
        let (access, kind) = access(&inst.op)?;
        Some(Site { pc: inst.pc, kind, bytes: access.bytes() })
    };
    insts.filter_map(site).collect()
}

/// Returns the function with a check in front of each access of [`sites`].
fn checking(function: &Function, places: &Places) -> Function {
    let (lanes, banks) = (function.lanes, &function.banks);
    let mut record = places.records;
    let checked = |block: &Block| {
        let mut copy = Block { insts: vec![], values: vec![], cost: 0, ..block.clone() };
        let mut insts = block.insts.iter();
        copy.append(block, |block, op| {
            let Some(inst) = insts.next() else { return };
            if let Some((access, _)) = access(op) {
                let mut check = Check { lanes, banks, block, window: inst.window, pc: inst.pc };
                check.access(access, places, record);
                record += 8 * WORDS;
            }
        });
        copy
    };
    let blocks = function.blocks.iter().map(checked).collect();
    Function { blocks, ..function.clone() }
}

/// Appends operations to a block.
struct Check<'b> {
    lanes: u8,
    banks: &'b [Bank],
    block: &'b mut Block,
    window: Window,
    pc: u64,
}

impl Check<'_> {
    /// Appends the check of an access, which stores to the record at an address.
    fn access(&mut self, access: &Access, places: &Places, record: u64) {
        let mut address = access.address;
        if self.block.values[address.0 as usize].is_uniform() {
            address = self.push(Op::Splat { a: address });
        }
        if access.offset != 0 {
            address = self.with(BinaryOp::Add, address, i64::from(access.offset) as u64);
        }
        let last = self.with(BinaryOp::Add, address, u64::from(access.bytes()) - 1);
        let page = self.with(BinaryOp::ShrU, last, PAGE_BITS.into());
        let hash = self.with(BinaryOp::Mul, page, HASH);
        let hash = self.with(BinaryOp::ShrU, hash, u64::from(64 - places.bits));
        let entry = self.with(BinaryOp::Shl, hash, 4);
        let entry = self.with(BinaryOp::Add, entry, places.table);
        let global = |address, count| Access {
            space: Space::Global,
            ty: Type::I64,
            count,
            align: 8,
            address,
            offset: 0,
            guard: access.guard,
            nomask: access.nomask,
        };
        let found = Op::Load { access: global(entry, 2), extend: Extend::None, sparse: false };
        let [tag, end] = self.pushed(found)[..] else { return };
        let known = self.push(Op::ICmp { cc: IntCc::Eq, a: tag, b: page });
        let past = self.push(Op::ICmp { cc: IntCc::GeU, a: last, b: end });
        let mut bad = self.push(Op::Binary { op: BinaryOp::And, a: known, b: past });
        if let Some(guard) = access.guard {
            bad = self.push(Op::Binary { op: BinaryOp::And, a: bad, b: guard });
        }
        let start = self.constant(record);
        let start = self.push(Op::Splat { a: start });
        let guarded = |guard| Access { guard: Some(guard), ..global(start, 1) };
        let one = self.constant(1);
        let one = self.push(Op::Splat { a: one });
        let count = Op::Atomic {
            access: guarded(bad),
            op: AtomicOp::Add,
            value: one,
            compare: None,
            sparse: false,
        };
        let before = self.push(count);
        let zero = self.constant(0);
        let zero = self.push(Op::Splat { a: zero });
        let first = self.push(Op::ICmp { cc: IntCc::Eq, a: before, b: zero });
        let first = self.push(Op::Binary { op: BinaryOp::And, a: first, b: bad });
        let lane = self.push(Op::LaneId);
        let [x, y, z] = [0, 1, 2].map(|axis| self.push(Op::Special(Special::Ctaid(axis))));
        let warp = self.push(Op::Special(Special::WarpId));
        let mut values = vec![address];
        for value in [lane, x, y, z, warp] {
            let wide = Op::Convert { op: ConvertOp::ZeroExtend, to: Type::I64, a: value };
            values.push(self.push(wide));
        }
        for (value, offset) in values.into_iter().zip((8..).step_by(8)) {
            let access = Access { offset, ..guarded(first) };
            self.pushed(Op::Store { access, values: vec![value], sparse: false });
        }
    }

    fn constant(&mut self, bits: u64) -> Value {
        self.push(Op::Const { ty: Type::I64, bits })
    }

    fn with(&mut self, op: BinaryOp, a: Value, bits: u64) -> Value {
        let b = self.constant(bits);
        self.push(Op::Binary { op, a, b })
    }

    /// Appends an operation with one result.
    fn push(&mut self, op: Op) -> Value {
        self.pushed(op)[0]
    }

    fn pushed(&mut self, op: Op) -> Values {
        let env = Env { lanes: self.lanes, banks: self.banks, values: &self.block.values };
        let types = op_types(&op, env).unwrap_or_default();
        let first = self.block.values.len();
        let results = numbered(first, types.len());
        self.block.values.extend(types);
        let inst = Inst { op, results: results.clone(), window: self.window, pc: self.pc };
        self.block.insts.push(inst);
        results
    }
}
