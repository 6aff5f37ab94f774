//! Accesses of two warps to a byte of shared memory without a barrier between them, at least one a
//! write, not both atomic.
//!
//! Each byte of shared memory has two words in global memory: the block and the epoch of the last
//! access, and who reads and writes in that epoch. The epoch is the number of barriers that a lane
//! has arrived at. Blocks share words by turns; another block's words count as empty.

use warploom_ir::{
    Access, Bank, BankId, BarrierKind, BinaryOp, Block, CellKind, Extend, Function, IntCc, Op,
    Part, Reg, Special, Terminator, Type, Value, Window,
};

use super::AccessKind;
use super::emit::Emitter;
use super::shared::{Cells, Found};

/// The bytes of the words of one byte.
pub const CELL_BYTES: u64 = 16;

/// The second word: the reader, a warp's number from 1 on or [`MANY`], and the writer in a byte each;
/// then the reader's and the writer's site.
const WRITER: u64 = 8;
const READER_SITE: u64 = 16;
const WRITER_SITE: u64 = 40;
/// All writes of the epoch were atomic.
const ATOMIC: u64 = 1 << 63;
const SITES: u64 = 1 << 23;
pub const MANY: u64 = 0xff;

/// The register with the epoch of each lane.
#[derive(Clone, Copy)]
pub struct Epoch(Reg);

/// The beginnings of the names of instructions that order accesses by a barrier in shared memory.
const BARRIERS_IN_MEMORY: [&str; 5] =
    ["mbarrier", "cp.async.mbarrier", "ATOMS.ARRIVE", "ARRIVES", "SYNCS"];

/// The reason why races of a kernel with a barrier of a part of the block cannot be checked.
pub const PART: &str = "a barrier of a part of the block";

/// The reason why races of a kernel with these instructions cannot be checked.
pub fn unsupported<'n>(
    function: &Function,
    mut mnemonics: impl Iterator<Item = &'n str>,
) -> Option<&'static str> {
    let arrives = function.blocks.iter().any(|block| match &block.term {
        Terminator::Barrier { barrier, .. } => barrier.kind == BarrierKind::Arrive,
        _ => false,
    });
    if arrives {
        return Some("a barrier at which warps arrive without waiting");
    }
    let is_barrier = |name: &str| BARRIERS_IN_MEMORY.iter().any(|start| name.starts_with(start));
    mnemonics.any(is_barrier).then_some("a barrier in shared memory")
}

impl Epoch {
    /// Returns the register, which the function gets.
    pub fn new(function: &mut Function) -> Epoch {
        let bank = BankId(function.banks.len() as u16);
        let kind = CellKind::Lane(Type::I32);
        function.banks.push(Bank { name: "check_epoch".into(), kind, count: 1 });
        Epoch(Reg { bank, index: 0 })
    }

    /// Begins a new epoch at the end of a block, if that is a barrier. If it is one of a part of
    /// the `threads` of a block, this stores to the record at an address.
    pub fn advance(
        self,
        block: &mut Block,
        (lanes, banks): (u8, &[Bank]),
        threads: u64,
        record: u64,
    ) {
        let Terminator::Barrier { barrier, .. } = block.term else { return };
        let (window, pc) = (Window::all(lanes), block.pc);
        let mut emit = Emitter { lanes, banks, block, window, pc };
        if let Some(given) = barrier.threads {
            let given = emit.wide(given);
            let given = emit.varying(given);
            let (none, all) = (emit.splat(0), emit.splat(threads));
            let counts = emit.compare(IntCc::Ne, given, none);
            let few = emit.compare(IntCc::LtU, given, all);
            let part = emit.and(counts, few);
            emit.report(record, part, none, none);
        }
        let before = emit.push(Op::RfRead { reg: self.0, part: Part::Whole });
        let one = emit.push(Op::Const { ty: Type::I32, bits: 1 });
        let value = emit.push(Op::Binary { op: BinaryOp::Add, a: before, b: one });
        let write =
            Op::RfWrite { reg: self.0, part: Part::Whole, value, guard: None, nomask: false };
        emit.pushed(write);
    }
}

/// An access of a site, which has a number.
pub struct Checked<'a> {
    pub access: &'a Access,
    pub kind: AccessKind,
    pub site: u64,
    pub record: u64,
}

/// Appends the check of an access to shared memory.
pub fn check(emit: &mut Emitter<'_>, checked: &Checked<'_>, epoch: Epoch, cells: Cells) {
    let Checked { access, kind, site, record } = *checked;
    let Some(found) = cells.find(emit, access) else { return };
    let Found { address, guard, number, .. } = found;
    let high = emit.with(BinaryOp::Shl, number, 32);
    let high = emit.varying(high);
    let now = emit.push(Op::RfRead { reg: epoch.0, part: Part::Whole });
    let now = emit.wide(now);
    // No access has the key 0.
    let now = emit.with(BinaryOp::Add, now, 1);
    let key = emit.or(high, now);
    let warp = emit.push(Op::Special(Special::WarpId));
    let warp = emit.wide(warp);
    let me = emit.with(BinaryOp::Add, warp, 1);
    let me = emit.varying(me);
    let mut at = Cell { key, me, kind, site: site % SITES, found: None };
    for words in found.words(access, CELL_BYTES) {
        let before = emit.pushed(Op::Load { access: words, extend: Extend::None, sparse: false });
        let mut values = vec![];
        for pair in before.chunks_exact(2) {
            values.extend([key, at.next(emit, pair[0], pair[1])]);
        }
        emit.pushed(Op::Store { access: words, values, sparse: false });
    }
    if let Some((bad, word)) = at.found {
        let bad = emit.and(bad, guard);
        emit.report(record, bad, address, word);
    }
}

/// The state of an access while its bytes are checked.
struct Cell {
    key: Value,
    me: Value,
    kind: AccessKind,
    site: u64,
    /// The lanes with a race, and the second word of a racing byte.
    found: Option<(Value, Value)>,
}

impl Cell {
    /// Returns a byte's second word after the access, from its words before.
    fn next(&mut self, emit: &mut Emitter<'_>, key: Value, word: Value) -> Value {
        let zero = emit.splat(0);
        let is_now = emit.compare(IntCc::Eq, key, self.key);
        let word = emit.select(is_now, word, zero);
        let reader = emit.with(BinaryOp::And, word, 0xff);
        let writer = emit.with(BinaryOp::ShrU, word, WRITER);
        let writer = emit.with(BinaryOp::And, writer, 0xff);
        let other = |emit: &mut Emitter<'_>, who| {
            let is_there = emit.compare(IntCc::Ne, who, zero);
            let is_other = emit.compare(IntCc::Ne, who, self.me);
            emit.and(is_there, is_other)
        };
        let mut bad = other(emit, writer);
        let flag = emit.with(BinaryOp::And, word, ATOMIC);
        let is_plain = emit.compare(IntCc::Eq, flag, zero);
        if self.kind == AccessKind::Atomic {
            bad = emit.and(bad, is_plain);
        }
        let read = other(emit, reader);
        let after = if self.kind == AccessKind::Load {
            // Another reader makes many.
            let many = emit.splat(MANY);
            let reader = emit.select(read, many, self.me);
            let kept = emit.with(BinaryOp::And, word, !(0xff | (SITES - 1) << READER_SITE));
            let site = emit.splat(self.site << READER_SITE);
            let after = emit.or(kept, reader);
            emit.or(after, site)
        } else {
            bad = emit.or(bad, read);
            let kept = emit.with(BinaryOp::And, word, 0xff | (SITES - 1) << READER_SITE);
            let me = emit.with(BinaryOp::Shl, self.me, WRITER);
            let site = emit.splat(self.site << WRITER_SITE);
            let after = emit.or(kept, me);
            let after = emit.or(after, site);
            if self.kind == AccessKind::Atomic {
                // A plain write of this epoch stays one.
                let wrote = emit.compare(IntCc::Ne, writer, zero);
                let wrote_plainly = emit.and(wrote, is_plain);
                let atomic = emit.splat(ATOMIC);
                let flag = emit.select(wrote_plainly, zero, atomic);
                emit.or(after, flag)
            } else {
                after
            }
        };
        self.found = Some(match self.found {
            None => (bad, word),
            Some((earlier, first)) => (emit.or(earlier, bad), emit.select(earlier, first, word)),
        });
        after
    }
}

/// The other access of a race.
pub struct Other {
    pub site: usize,
    /// `None` if several warps read.
    pub warp: Option<u32>,
}

/// Returns the other access of a race, from the second word and the warp of the access that met it.
pub fn other(word: u64, warp: u64, kind: AccessKind) -> Other {
    let [reader, writer] = [word & 0xff, word >> WRITER & 0xff];
    let is_atomic = kind == AccessKind::Atomic && word & ATOMIC != 0;
    let by_writer = writer != 0 && writer != warp + 1 && !is_atomic;
    let (who, at) = if by_writer { (writer, WRITER_SITE) } else { (reader, READER_SITE) };
    let warp = (who != MANY && who > 0).then(|| who as u32 - 1);
    Other { site: (word >> at & (SITES - 1)) as usize, warp }
}
