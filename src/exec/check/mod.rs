//! Checks of launches: accesses outside of the allocations that a host knows, races on shared memory,
//! and reads of shared memory that nobody has written.
//!
//! A copy of the kernel checks each access in front of it, by operations of the IR: both engines run
//! the copy as any other function, and other launches pay nothing. The copy stores the first bad
//! access of each place in memory beside the guest's, which changes no result. `emit` appends
//! operations, `memory`, `race` and `init` are the checks, `shared` has what the latter two keep of
//! shared memory.

mod emit;
mod init;
mod memory;
mod race;
mod shared;

use emit::{Emitter, RECORD_BYTES, WORDS};
use memory::{Pages, Table};
use race::Epoch;
use shared::Cells;
use warploom_ir::{Access, Block, Function, Inst, Op, Space};
use warploom_runtime::fault::FaultKind;
use warploom_runtime::launch;
use warploom_runtime::memory::PAGE_BITS;

use super::fault::Fault;
use super::guest::{SourcePlace, instructions};
use super::{Arg, Error, Kernel, LaunchOptions, LaunchOutcome};

/// A launch with checks.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct CheckedLaunch {
    pub outcome: LaunchOutcome,
    pub findings: Vec<Finding>,
    /// The reason why races were not checked, although they should be: a property of the kernel.
    pub no_races: Option<&'static str>,
}

/// The checks of a launch.
#[derive(Clone, Debug, Default)]
pub struct Checks {
    /// Whether accesses to global memory must not pass the end of an allocation, and the
    /// allocations. Memory of no allocation is not checked.
    pub memory: Option<Vec<Allocation>>,
    /// Whether two warps of a block must not access a byte of shared memory without a barrier
    /// between them, unless both read, or both accesses are atomic.
    pub race: bool,
    /// Whether a block must not read bytes of shared memory that it has not written.
    pub init: bool,
}

impl Checks {
    pub fn is_empty(&self) -> bool {
        self.memory.is_none() && !self.race && !self.init
    }
}

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

/// An instruction of a kernel that accesses memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AccessPlace {
    pub kind: AccessKind,
    /// The size of the access.
    pub bytes: u32,
    /// The function that contains the instruction.
    pub function: Option<String>,
    /// The offset of the instruction in its section, as in disassemblies.
    pub pc: u64,
    pub instruction: Option<String>,
    pub line: Option<SourcePlace>,
}

/// The mistake of an access.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Mistake {
    /// It passes the end of this allocation.
    PastEnd(Allocation),
    /// It races with an access of another warp of the block. `None`: several warps read.
    Race { other: AccessPlace, warp: Option<u32> },
    /// It reads shared memory that the block has not written.
    Unwritten,
}

/// Bad accesses of one instruction. The fields describe the first one; with several worker threads,
/// one of them.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Finding {
    pub mistake: Mistake,
    pub place: AccessPlace,
    /// The guest address, or the offset in shared memory.
    pub address: u64,
    pub kernel: String,
    pub block: [u32; 3],
    pub warp: u32,
    pub lane: u32,
    /// How many accesses of lanes were bad.
    pub count: u64,
}

impl Finding {
    /// Returns the name of the check.
    pub const fn check(&self) -> &'static str {
        match self.mistake {
            Mistake::PastEnd(_) => "memory",
            Mistake::Race { .. } => "race",
            Mistake::Unwritten => "init",
        }
    }
}

impl std::fmt::Display for Finding {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Finding { place, address, block, warp, lane, kernel, .. } = self;
        let (kind, bytes) = (place.kind.name(), place.bytes);
        let s = if bytes == 1 { "" } else { "s" };
        match &self.mistake {
            Mistake::PastEnd(allocation) => write!(
                f,
                "{kind} of {bytes} byte{s} at offset {} of `{}`, which has {} bytes",
                address.wrapping_sub(allocation.address),
                allocation.name,
                allocation.bytes
            )?,
            Mistake::Race { .. } => {
                write!(f, "race: {kind} of {bytes} byte{s} at offset {address} of shared memory")?;
            }
            Mistake::Unwritten => write!(
                f,
                "{kind} of {bytes} byte{s} at offset {address} of shared memory, which the block has \
                 not written"
            )?,
        }
        write!(f, ": pc {:#x}, block {block:?}, warp {warp}, lane {lane}", place.pc)?;
        if let Mistake::PastEnd(_) = self.mistake {
            write!(f, ", address {address:#x}")?;
        }
        write!(f, ", in kernel `{kernel}`")?;
        place.rest(f, kernel)?;
        if let Mistake::Race { other, warp } = &self.mistake {
            let other_kind = match other.kind {
                AccessKind::Load => "a load",
                AccessKind::Store => "a store",
                AccessKind::Atomic => "an atomic",
            };
            write!(f, "; with {other_kind} at pc {:#x} by ", other.pc)?;
            match warp {
                Some(warp) => write!(f, "warp {warp}")?,
                None => write!(f, "several warps")?,
            }
            other.rest(f, kernel)?;
            write!(f, ", without a barrier between them")?;
        }
        match self.count {
            1 => Ok(()),
            count => write!(f, " ({count} accesses)"),
        }
    }
}

impl AccessPlace {
    /// Writes function, line and instruction.
    fn rest(&self, f: &mut std::fmt::Formatter<'_>, kernel: &str) -> std::fmt::Result {
        if let Some(function) = self.function.as_ref().filter(|name| *name != kernel) {
            write!(f, ", function `{function}`")?;
        }
        if let Some(line) = &self.line {
            write!(f, ", {line}")?;
        }
        match &self.instruction {
            Some(text) => write!(f, ": {text}"),
            None => Ok(()),
        }
    }
}

/// An access in the code.
struct Site {
    pc: u64,
    kind: AccessKind,
    bytes: u32,
}

/// The checks, as numbers of a site's records.
const MEMORY: u64 = 0;
const RACE: u64 = 1;
const INIT: u64 = 2;
const CHECKS: u64 = 3;

impl Kernel<'_> {
    /// Launches a copy of this kernel that checks its accesses. The outcome is that of a launch.
    ///
    /// # Errors
    /// The launch cannot take place.
    pub fn launch_checked(
        &self,
        args: &[Arg],
        options: &LaunchOptions,
        checks: &Checks,
    ) -> Result<CheckedLaunch, Error> {
        self.in_environment(args, options, |translated, environment| {
            let memory = self.program.memory();
            let mut alloc = |bytes: u64| {
                let address = memory.alloc(bytes.max(8), 16)?;
                environment.held.push(address);
                Ok::<u64, Error>(address)
            };
            let plain = translated.plain()?;
            let sites = sites(&plain);
            // The last record is for barriers.
            let records = alloc(RECORD_BYTES * (CHECKS * sites.len() as u64 + 1))?;
            let lanes = options.block.iter().map(|&axis| u64::from(axis)).product();
            let mut places = Places { records, table: None, race: None, init: None, lanes };
            if let Some(allocations) = &checks.memory {
                let Pages { bits, table } = Pages::of(allocations);
                let address = alloc(table.len() as u64)?;
                memory.write(address, &table)?;
                places.table = Some(Table { address, bits });
            }
            let shared = environment.config.shared_bytes.into();
            let window = memory.windows().shared_address(0);
            // Zeros are the cells of no access.
            let mut cells = |bytes| {
                let (blocks, all) = Cells::room(shared, bytes, options.grid);
                Ok::<Cells, Error>(Cells { address: alloc(all)?, blocks, shared, bytes, window })
            };
            let mut no_races = None;
            if checks.race && shared > 0 {
                let guest = self.program.guest();
                let code = translated.code();
                let placed = plain.blocks.iter().flat_map(|block| {
                    instructions(guest, code, block.pc, block.cost).map(|placed| placed.mnemonic)
                });
                let names: Vec<String> = placed.collect();
                no_races = race::unsupported(&plain, names.iter().map(String::as_str));
                if no_races.is_none() {
                    places.race = Some(cells(race::CELL_BYTES)?);
                }
            }
            if checks.init && shared > 0 {
                places.init = Some(cells(init::CELL_BYTES)?);
            }
            let engine = self.engine(checking(&plain, &sites, &places), options)?;
            let outcome = self.outcome(translated, &*engine, environment, options, None)?;
            let mut words = vec![0; (RECORD_BYTES * (CHECKS * sites.len() as u64 + 1)) as usize];
            memory.read(records, &mut words)?;
            let mut all = words.chunks_exact(RECORD_BYTES as usize).map(|record| {
                let word =
                    |i: usize| u64::from_le_bytes(std::array::from_fn(|byte| record[8 * i + byte]));
                std::array::from_fn::<u64, WORDS, _>(word)
            });
            let mut findings = vec![];
            for site in &sites {
                for (check, words) in (0..CHECKS).zip(&mut all) {
                    if words[0] > 0 {
                        findings.push(self.finding(site, check, &sites, words, checks));
                    }
                }
            }
            if all.next().is_some_and(|[count, ..]| count > 0) {
                no_races = Some(race::PART);
                findings.retain(|one| !matches!(one.mistake, Mistake::Race { .. }));
            }
            Ok(CheckedLaunch { outcome, findings, no_races })
        })
    }

    fn finding(
        &self,
        site: &Site,
        check: u64,
        sites: &[Site],
        words: [u64; WORDS],
        checks: &Checks,
    ) -> Finding {
        let [count, address, lane, x, y, z, warp, word] = words;
        let mistake = match check {
            RACE => {
                let race::Other { site, warp } = race::other(word, warp, site.kind);
                Mistake::Race { other: self.place(&sites[site.min(sites.len() - 1)]), warp }
            }
            INIT => Mistake::Unwritten,
            _ => {
                let page = (address + u64::from(site.bytes) - 1) >> PAGE_BITS;
                let ends_there = |one: &&Allocation| (one.address + one.bytes) >> PAGE_BITS == page;
                let of = checks.memory.iter().flatten().find(ends_there).cloned();
                let unknown = Allocation { name: String::new(), address, bytes: 0 };
                Mistake::PastEnd(of.unwrap_or(unknown))
            }
        };
        Finding {
            mistake,
            place: self.place(site),
            address,
            kernel: self.name().to_owned(),
            block: [x, y, z].map(|index| index as u32),
            warp: warp as u32,
            lane: lane as u32,
            count,
        }
    }

    fn place(&self, site: &Site) -> AccessPlace {
        let fault = launch::Fault {
            kind: FaultKind::AddressOutOfRange,
            pc: site.pc,
            block: [0; 3],
            warp: 0,
            lane: 0,
            address: 0,
            waiting: vec![],
            spinning: 0,
        };
        let Fault { function, offset: pc, instruction, line, .. } =
            Fault::new(fault, None, self.program, self.id);
        AccessPlace { kind: site.kind, bytes: site.bytes, function, pc, instruction, line }
    }
}

/// Guest addresses of the records and of the checks' data. `None`: there is no such check.
struct Places {
    records: u64,
    table: Option<Table>,
    race: Option<Cells>,
    init: Option<Cells>,
    /// The lanes of a block.
    lanes: u64,
}

/// Returns an operation's access to global or shared memory, if it has one.
fn access(op: &Op) -> Option<(&Access, AccessKind)> {
    let (access, kind) = match op {
        Op::Load { access, .. } => (access, AccessKind::Load),
        Op::Store { access, .. } => (access, AccessKind::Store),
        Op::Atomic { access, .. } => (access, AccessKind::Atomic),
        _ => return None,
    };
    let is_checked = matches!(access.space, Space::Global | Space::Generic | Space::Shared);
    is_checked.then_some((access, kind))
}

fn sites(function: &Function) -> Vec<Site> {
    let insts = function.blocks.iter().flat_map(|block| &block.insts);
    let site = |inst: &Inst| {
        let (access, kind) = access(&inst.op)?;
        Some(Site { pc: inst.pc, kind, bytes: access.bytes() })
    };
    insts.filter_map(site).collect()
}

/// Returns the function with a check in front of each access of the sites.
fn checking(function: &Function, sites: &[Site], places: &Places) -> Function {
    let mut function = function.clone();
    let race = places.race.map(|cells| (Epoch::new(&mut function), cells));
    let (lanes, banks) = (function.lanes, function.banks.clone());
    let mut numbers = 0..sites.len() as u64;
    for block in &mut function.blocks {
        let original = std::mem::replace(
            block,
            Block { insts: vec![], values: vec![], cost: 0, ..block.clone() },
        );
        let mut insts = original.insts.iter();
        block.append(&original, |block, op| {
            let (Some(inst), Some((access, kind))) = (insts.next(), access(op)) else { return };
            let Some(site) = numbers.next() else { return };
            let record = |check| places.records + RECORD_BYTES * (CHECKS * site + check);
            let (window, pc) = (inst.window, inst.pc);
            let mut emit = Emitter { lanes, banks: &banks, block, window, pc };
            if let Some(table) = places.table.filter(|_| access.space != Space::Shared) {
                memory::check(&mut emit, access, table, record(MEMORY));
            }
            if let Some((epoch, cells)) = race {
                let checked = race::Checked { access, kind, site, record: record(RACE) };
                race::check(&mut emit, &checked, epoch, cells);
            }
            if let Some(cells) = places.init {
                init::check(&mut emit, (access, kind), record(INIT), cells);
            }
        });
        if let Some((epoch, _)) = race {
            let record = places.records + RECORD_BYTES * CHECKS * sites.len() as u64;
            epoch.advance(block, (lanes, &banks), places.lanes, record);
        }
    }
    function
}
