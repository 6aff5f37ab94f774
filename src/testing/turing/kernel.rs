//! Random kernels as a compiler might write them: structured control flow that lanes diverge in,
//! barriers, calls, all kinds of memory, atomics, surfaces, textures, printed text, the heap,
//! several warps and blocks.
//!
//! Instructions come from the table. Only branch targets and addresses are chosen with care. At the
//! end every thread stores what it computed.

mod accesses;
pub mod loops;

use std::sync::LazyLock;

use arbitrary::{Result, Unstructured};
use warploom_ir::TrapKind;
use warploom_sass::Role;
use warploom_sass::row::{Location, Memory};
use warploom_turing::field::{Field, TextureDim};
use warploom_turing::table::Row;
use warploom_turing::{Instruction, Opcode};

use super::words::{RZ, SCHEDULING, URZ, implemented, set, traps};
use crate::case::{Case, MAX_DEPTH, MAX_NODES, OUT_BYTES, OWN_BYTES, effort, instruction_limit};
use crate::maxwell::{BLOCKS, SURFACES, TEXTURES, launch};
use crate::program::{Node, Part};

/// The GPUs that kernels are for.
const MODELS: [u8; 4] = [75, 80, 86, 89];

/// The number of registers that instructions compute with: R0 to R15.
const VALUES: u64 = 16;
/// The number of uniform registers that instructions compute with.
const UNIFORMS: u64 = 8;
/// The index of the thread in its block.
const THREAD: u64 = 16;
/// The index of the thread in the grid.
const ELEMENT: u64 = 17;
/// A pair with an address that was just computed.
const ADDRESS: u64 = 18;
/// A pair with the address to which a function of the driver returns.
const RETURN: u64 = 20;
/// A loop's counter, with one more for each loop around it.
const COUNTER: u64 = 22;
/// A pair with the address of the thread's own memory.
const OWN: u64 = 26;
/// Coordinates in a surface or texture: two registers.
const COORDINATES: u64 = 28;
const HANDLE: u64 = 30;
const TEMPORARY: u64 = 31;
/// The guards that are always true and never true.
const PT: u64 = 7;
const NOT_PT: u128 = 15;
/// The copies of convergence barriers, one register each.
const COPIES: u64 = 32;
/// Pairs with the addresses to which functions return.
const CALLERS: u64 = 48;
/// A pair of uniform registers that holds 16.
const UNIFORM_OFFSET: u64 = 12;
/// The predicate that control flow and addresses are computed with.
const OWN_PREDICATE: &str = "P6";

/// Parameters in constant bank 0: pointers to the results of threads, to data that is only read, to
/// each thread's own memory, to data that all threads change, and to counters; a word, a float, the
/// handles of surfaces; a pointer to formats; handles of textures.
const OUT: u64 = 0x160;
const TABLE: u64 = 0x168;
const OWNED: u64 = 0x170;
const SHARED_DATA: u64 = 0x178;
const COUNTERS: u64 = 0x180;
const WORD: u64 = 0x188;
const FLOAT: u64 = 0x18c;
const SURFACE: u64 = 0x190;
const FORMATS_AT: u64 = 0x1a8;
const TEXTURE: u64 = 0x1b0;
/// The register in which the driver's functions take a pointer or a size, and leave a pointer.
const ARGUMENT: u64 = 4;

/// The places in constant bank 0 of the lowest generic addresses of shared and of local memory: 64
/// bits each.
const SHARED_WINDOW: u64 = 0x18;
const LOCAL_WINDOW: u64 = 0x20;

/// Indices are below these numbers of bytes. There is room for a uniform offset behind them.
const SHARED_BYTES: u32 = 1024;
const LOCAL_BYTES: u32 = 256;
const ROOM: u32 = 16;

/// The convergence barriers: the kernel's, and those of each function.
const BARRIERS: [std::ops::Range<u8>; 3] = [0..8, 8..12, 12..16];

/// Rows for each of [`MODELS`].
type Rows = [Vec<&'static Row>; MODELS.len()];

/// The rows that can stand anywhere, because they change registers only.
static PLAIN: LazyLock<Rows> = LazyLock::new(|| rows(|opcode| Family::of(opcode) == Family::Plain));

fn rows(wanted: impl Fn(Opcode) -> bool) -> Rows {
    MODELS.map(|model| implemented(model).filter(|row| wanted(row.opcode)).collect())
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Family {
    Plain,
    /// Products of matrices: operands are vectors of registers.
    Matrix,
    Global,
    Shared,
    /// From global to shared memory.
    Copy,
    Surface,
    Texture,
    /// Control flow, and instructions that are made with care or not at all.
    Other,
}

impl Family {
    fn of(opcode: Opcode) -> Family {
        use Opcode::*;
        match opcode {
            Ld | Ldg | St | Stg | Atom | AtomCas | Atomg | AtomgCas | Red | Qspc => Family::Global,
            Lds | Sts | Atoms | AtomsPopcInc | AtomsArrive | AtomsCas | Arrives | Ldsm => {
                Family::Shared
            }
            Ldgsts => Family::Copy,
            Hmma | Imma | Bmma | Dmma => Family::Matrix,
            Suld | Sust | Suatom | SuatomCas | Sured => Family::Surface,
            Tex | Tld | Tld4 | Txd | Tmml | Txq => Family::Texture,
            Bra | Brx | Brxu | Jmp | Jmx | Jmxu | Call | Ret | Exit | Bssy | Bsync | Break
            | Warpsync | BmovFrom | BmovTo | Bpt | Bar | Ldl | Stl | Ldc => Family::Other,
            _ => Family::Plain,
        }
    }
}

/// How an instruction addresses memory.
#[derive(Clone, Copy)]
struct Addressing {
    base: u64,
    /// The offset of the lowest address.
    offset: u64,
    /// The number of bits by which the text of a shared address shifts the base.
    shift: u64,
    /// Whether there is room for a uniform offset.
    has_room: bool,
    /// The register with the address that a copy loads from.
    loaded: u64,
}

impl Addressing {
    const fn at(base: u64) -> Addressing {
        Addressing { base, offset: 0, shift: 0, has_room: false, loaded: RZ }
    }
}

struct Writer<'a, 'b> {
    u: &'a mut Unstructured<'b>,
    /// The index of the GPU in [`MODELS`].
    target: usize,
    /// Whether blocks leave each other's memory alone.
    independent: bool,
    labels: u32,
    nodes: u32,
    /// The end of the numbers of functions that can still be called. They start at
    /// `first_function`, behind the function that is being written.
    functions: u32,
    first_function: u32,
    /// The only row of all instructions, if there is one. Then no instruction is to fault.
    only: Option<&'static Row>,
}

/// The place of a node.
#[derive(Clone, Copy, Default)]
struct Scope {
    depth: u8,
    loops: u8,
    /// Whether not all lanes of a warp need be here.
    divergent: bool,
    /// The next convergence barrier, and the end of the function's barriers.
    barrier: u8,
    barriers_end: u8,
    /// The loop of this function around the node.
    around: Option<Loop>,
}

/// A loop: the numbers of labels and barriers where lanes wait that have left it, and that continue
/// it.
#[derive(Clone, Copy)]
struct Loop {
    end: (u32, u8),
    next: Option<(u32, u8)>,
}

/// Returns a random kernel with its launch, from as many bytes as there are.
pub fn kernel(u: &mut Unstructured<'_>) -> Result<Case> {
    let (block, blocks) = (*u.choose(&BLOCKS)?, u.int_in_range(1..=3)?);
    let (independent, effort) = (u.arbitrary()?, effort(u)?);
    let limit = instruction_limit(u)?;
    let (word, float, seed): (u32, u32, u32) = (u.arbitrary()?, u.arbitrary()?, u.arbitrary()?);
    let target = u.choose_index(MODELS.len())?;
    let count = u.int_in_range(0..=2)?;
    let mut writer = Writer {
        u,
        target,
        independent,
        labels: 0,
        nodes: MAX_NODES,
        functions: count,
        first_function: 0,
        only: None,
    };
    let of_function = |index: usize| Scope {
        barrier: BARRIERS[index].start,
        barriers_end: BARRIERS[index].end,
        ..Scope::default()
    };
    let mut head = writer.directives();
    head.extend(writer.start(false)?);
    let body = writer.body(of_function(0))?;
    let mut functions = Vec::new();
    for function in 0..count {
        writer.first_function = function + 1;
        writer.nodes += 8;
        let scope = of_function(function as usize + 1);
        let inner = writer.body(Scope { depth: 1, divergent: true, ..scope })?;
        let open = [format!(".Lfunction{function}:")];
        let close = [format!("RET.REL.NODEC R{} 0x0", caller(function))];
        functions.push(Node::around(open, inner, close));
    }
    let tail = writer.end();
    let manifest = launch(blocks, block, limit, [word, float], seed);
    Ok(Case { manifest, head, body, tail, functions, independent, effort, ze_info: None })
}

/// Returns the first register of the pair with the address to which a function returns.
fn caller(function: u32) -> u64 {
    CALLERS + 2 * u64::from(function)
}

/// Returns lines that turn an offset in the first register of a pair into an address.
fn plus_parameter(pair: u64, parameter: u64) -> [String; 2] {
    let (high, next) = (pair + 1, parameter + 4);
    [
        format!("IADD3 R{pair}, {OWN_PREDICATE}, R{pair}, c[0x0][{parameter:#x}], RZ"),
        format!("IMAD.X R{high}, RZ, RZ, c[0x0][{next:#x}], {OWN_PREDICATE}"),
    ]
}

fn shifted_left(to: u64, from: u64, bits: u32) -> String {
    format!("SHF.L.U32 R{to}, R{from}, {bits:#x}, RZ")
}

fn masked(to: u64, from: u64, mask: u32) -> String {
    format!("LOP3.LUT R{to}, R{from}, {mask:#x}, RZ, 0xc0, !PT")
}

impl Writer<'_, '_> {
    fn model(&self) -> u8 {
        MODELS[self.target]
    }

    /// Returns a store of registers, of which the first is named, to global memory.
    fn store(&self, bits: &str, offset: u64, register: u64) -> String {
        let offset = if offset == 0 { String::new() } else { format!("+{offset:#x}") };
        match self.model() {
            75 => format!("STG.E{bits}.SYS [R{ADDRESS}{offset}], R{register}"),
            _ => format!("STG.E{bits} [R{ADDRESS}.64{offset}], R{register}"),
        }
    }

    /// Returns the first lines of kernels, up to the numbers of their threads.
    fn directives(&self) -> Vec<String> {
        let mut lines = vec![format!(".target sm_{}", self.model()), ".kernel random".into()];
        let params = [8; 5].iter().chain(&[4, 4]).chain(&[8; SURFACES.len() + 1 + TEXTURES.len()]);
        lines.extend(params.map(|bytes| format!(".param {bytes}")));
        lines.push(format!(".shared {}", SHARED_BYTES + ROOM));
        lines.push(format!(".local {}", LOCAL_BYTES + ROOM));
        let numbers = [
            "S2R R0, SR_TID.X",
            "S2R R1, SR_TID.Y",
            "S2R R2, SR_TID.Z",
            "S2R R3, SR_CTAID.X",
            "IMAD R7, R2, c[0x0][0x4], R1",
            "IMAD R16, R7, c[0x0][0x0], R0",
            "MOV R8, c[0x0][0x0]",
            "IMAD R8, R8, c[0x0][0x4], RZ",
            "IMAD R8, R8, c[0x0][0x8], RZ",
            "IMAD R17, R3, R8, R16",
        ];
        lines.extend(numbers.map(Into::into));
        lines
    }

    /// Returns the lines that store all values and predicates.
    fn end(&self) -> Vec<String> {
        let mut lines = vec![
            format!("P2R R{TEMPORARY}, PR, RZ, 0x7f"),
            shifted_left(ADDRESS, ELEMENT, OUT_BYTES.trailing_zeros()),
        ];
        lines.extend(plus_parameter(ADDRESS, OUT));
        let fours = (0..VALUES).step_by(4);
        lines.extend(fours.map(|value| self.store(".128", 4 * value, value)));
        lines.push(self.store("", 4 * VALUES, TEMPORARY));
        for first in (0..UNIFORMS).step_by(4) {
            lines.extend((0..4).map(|n| format!("MOV R{n}, UR{}", first + n)));
            lines.push(self.store(".128", 4 * VALUES + 16 + 4 * first, 0));
        }
        lines.push("EXIT".into());
        lines
    }

    fn label(&mut self) -> u32 {
        self.labels += 1;
        self.labels
    }

    fn value(&mut self) -> Result<u64> {
        self.u.int_in_range(0..=VALUES - 1)
    }

    /// Returns true once in `once_in` times, and never where nothing is to fault.
    fn seldom(&mut self, once_in: u8) -> Result<bool> {
        Ok(self.only.is_none() && self.u.ratio(1, once_in)?)
    }

    /// Returns lines that set addresses and all values. If `ordinary`, values are only floats of
    /// usual size.
    fn start(&mut self, ordinary: bool) -> Result<Vec<String>> {
        let mut lines = vec![shifted_left(OWN, ELEMENT, OWN_BYTES.trailing_zeros())];
        lines.extend(plus_parameter(OWN, OWNED));
        for value in 0..VALUES {
            let kind = if ordinary { 5 } else { self.u.int_in_range(0..=5)? };
            lines.push(match kind {
                0 => format!("MOV R{value}, R{THREAD}"),
                1 => shifted_left(value, ELEMENT, self.u.int_in_range(1..=20)?),
                2 => format!("MOV R{value}, c[0x0][{WORD:#x}]"),
                3 => format!("MOV R{value}, c[0x0][{FLOAT:#x}]"),
                4 => format!("MOV R{value}, {:#x}", self.u.arbitrary::<u32>()?),
                _ => format!("I2F.U32 R{value}, R{THREAD}"),
            });
        }
        for uniform in 0..UNIFORMS {
            let number = if ordinary { 0x3f80_0000 } else { self.u.arbitrary::<u32>()? };
            lines.push(format!("UMOV UR{uniform}, {number:#x}"));
        }
        lines.push(format!("UMOV UR{UNIFORM_OFFSET}, 0x10"));
        lines.push(format!("UMOV UR{}, 0x0", UNIFORM_OFFSET + 1));
        Ok(lines)
    }

    fn body(&mut self, scope: Scope) -> Result<Vec<Node>> {
        let mut body = Vec::new();
        let most = if scope.depth == 0 { MAX_NODES } else { 6 };
        for _ in 0..most {
            if self.nodes == 0 || self.u.is_empty() {
                break;
            }
            self.nodes -= 1;
            body.push(self.node(scope)?);
        }
        Ok(body)
    }

    fn node(&mut self, scope: Scope) -> Result<Node> {
        let nests = scope.depth < MAX_DEPTH && scope.barrier + 2 <= scope.barriers_end;
        match self.u.int_in_range(0..=31)? {
            0 | 1 if nests => self.choice(scope, false),
            2 if nests => self.choice(scope, true),
            3 if nests => self.uniform_branch(scope),
            4 | 5 if nests => self.repeat(scope),
            6 if self.first_function < self.functions => self.call(),
            7 if let Some(around) = scope.around => self.leave(scope, around.end),
            8 if let Some(next) = scope.around.and_then(|around| around.next) => {
                self.leave(scope, next)
            }
            9 if self.u.ratio(1, 6)? => {
                let guard = self.guard()?;
                Ok(Node::line(format!("{guard} EXIT")))
            }
            10 | 11 if !scope.divergent => self.barrier(),
            12 | 13 => self.compare(),
            14..=17 => self.global(),
            18 | 19 => self.shared(),
            20 => self.local(),
            21 | 22 => self.surface(),
            23 => self.driver(),
            24 => self.texture(),
            25 if self.u.ratio(1, 4)? => self.grow(),
            26 => self.matrices(),
            27 => self.copy(),
            _ => self.plain(),
        }
    }

    fn guard(&mut self) -> Result<String> {
        Ok(format!(
            "@{}P{}",
            if self.u.arbitrary()? { "!" } else { "" },
            self.u.int_in_range(0..=5)?
        ))
    }

    /// Returns an `if`, with or without `else`. The barrier's lanes may move to a register
    /// meanwhile, as where a compiler has too few barriers.
    fn choice(&mut self, scope: Scope, other: bool) -> Result<Node> {
        let barrier = scope.barrier;
        let inner =
            Scope { depth: scope.depth + 1, divergent: true, barrier: barrier + 1, ..scope };
        let (guard, end) = (self.guard()?, self.label());
        let copy = COPIES + u64::from(barrier);
        let moves = scope.around.is_none() && self.u.ratio(1, 4)?;
        let (away, back) = match moves {
            true => (
                vec![format!("BMOV.32.CLEAR R{copy}, B{barrier}")],
                vec![format!("BMOV.32 B{barrier}, R{copy}")],
            ),
            false => (vec![], vec![]),
        };
        let mut open = vec![format!("BSSY B{barrier}, .L{end}")];
        open.extend(away);
        let mut close = vec![format!(".L{end}:")];
        close.extend(back);
        close.push(format!("BSYNC B{barrier}"));
        if !other {
            open.push(format!("{guard} BRA .L{end}"));
            return Ok(Node::around(open, self.body(inner)?, close));
        }
        let otherwise = self.label();
        open.push(format!("{guard} BRA .L{otherwise}"));
        let (first, second) = (self.body(inner)?, self.body(inner)?);
        Ok(Node(vec![
            Part::from_lines(open),
            Part::Body(first),
            Part::from_lines([format!("BRA .L{end}"), format!(".L{otherwise}:")]),
            Part::Body(second),
            Part::from_lines(close),
        ]))
    }

    /// Returns an `if` that all lanes of the launch agree about.
    fn uniform_branch(&mut self, scope: Scope) -> Result<Node> {
        let (end, word) = (self.label(), self.u.arbitrary::<u32>()? >> 13);
        let open = [
            format!("MOV R{TEMPORARY}, c[0x0][{WORD:#x}]"),
            format!("ISETP.LT.U32.AND {OWN_PREDICATE}, PT, R{TEMPORARY}, {word:#x}, PT"),
            format!("@{OWN_PREDICATE} BRA .L{end}"),
        ];
        let body = self.body(Scope { depth: scope.depth + 1, ..scope })?;
        Ok(Node::around(open, body, [format!(".L{end}:")]))
    }

    /// Returns a loop that lanes may leave one by one, with or without a place to continue at.
    fn repeat(&mut self, scope: Scope) -> Result<Node> {
        let counter = COUNTER + u64::from(scope.loops);
        let (top, next, end) = (self.label(), self.label(), self.label());
        let alike = self.u.ratio(1, 3)?;
        let continuable = self.u.arbitrary()?;
        let count = match alike {
            true => format!("MOV R{counter}, {:#x}", self.u.int_in_range(0..=4)?),
            false => masked(counter, self.value()?, 0x3),
        };
        let (leaving, continuing) = (scope.barrier, scope.barrier + 1);
        let mut open = vec![count, format!("BSSY B{leaving}, .L{end}"), format!(".L{top}:")];
        let mut close = Vec::new();
        if continuable {
            open.push(format!("BSSY B{continuing}, .L{next}"));
            close.extend([format!(".L{next}:"), format!("BSYNC B{continuing}")]);
        }
        let inner = Scope {
            depth: scope.depth + 1,
            loops: scope.loops + 1,
            // Lanes that leave or continue are away for the rest of the body.
            divergent: true,
            barrier: scope.barrier + 1 + u8::from(continuable),
            around: Some(Loop {
                end: (end, leaving),
                next: continuable.then_some((next, continuing)),
            }),
            ..scope
        };
        close.extend([
            format!("IADD3 R{counter}, R{counter}, -0x1, RZ"),
            format!("ISETP.GE.AND {OWN_PREDICATE}, PT, R{counter}, RZ, PT"),
            format!("@{OWN_PREDICATE} BRA .L{top}"),
            format!(".L{end}:"),
            format!("BSYNC B{leaving}"),
        ]);
        Ok(Node::around(open, self.body(inner)?, close))
    }

    /// Returns a branch of some lanes to a label where they wait for a barrier. They leave the
    /// barriers inside.
    fn leave(&mut self, scope: Scope, (label, barrier): (u32, u8)) -> Result<Node> {
        let guard = self.guard()?;
        let inside = (barrier + 1..scope.barrier).rev().map(|inside| format!("BREAK B{inside}"));
        let branch = format!("BRA .L{label}");
        Ok(Node::lines(inside.chain([branch]).map(|line| format!("{guard} {line}"))))
    }

    fn call(&mut self) -> Result<Node> {
        let function = self.u.int_in_range(self.first_function..=self.functions - 1)?;
        let (behind, caller) = (self.label(), caller(function));
        Ok(Node::lines([
            format!("MOV R{caller}, .L{behind}"),
            format!("MOV R{}, RZ", caller + 1),
            format!("CALL.REL.NOINC .Lfunction{function}"),
            format!(".L{behind}:"),
        ]))
    }

    /// Returns a jump through a register to a label behind it. The code there is found when a warp
    /// jumps.
    fn grow(&mut self) -> Result<Node> {
        let label = self.label();
        Ok(Node::lines([
            format!("MOV R{HANDLE}, .L{label}"),
            format!("MOV R{}, RZ", HANDLE + 1),
            format!("JMX R{HANDLE}"),
            format!(".L{label}:"),
        ]))
    }

    fn barrier(&mut self) -> Result<Node> {
        Ok(Node::line(match self.u.int_in_range(0..=3)? {
            0 => format!(
                "BAR.RED.{} 0x0, P{}",
                self.u.choose(&["POPC", "AND", "OR"])?,
                self.u.int_in_range(0..=5)?
            ),
            1 => "WARPSYNC 0xffffffff".into(),
            _ => format!("BAR.SYNC {:#x}", self.u.int_in_range(0..=3)?),
        }))
    }

    /// Returns a compare that sets a predicate in some lanes.
    fn compare(&mut self) -> Result<Node> {
        let (p, a) = (self.u.int_in_range(0..=5)?, self.value()?);
        let test = *self.u.choose(&["LT", "GE", "EQ", "NE"])?;
        Ok(Node::line(match self.u.int_in_range(0..=2)? {
            0 => format!(
                "ISETP.{test}.U32.AND P{p}, PT, R{THREAD}, {:#x}, PT",
                self.u.int_in_range(1..=70)?
            ),
            1 => format!("ISETP.{test}.U32.AND P{p}, PT, R{a}, R{}, PT", self.value()?),
            _ => format!("FSETP.{test}.AND P{p}, PT, R{a}, R{}, PT", self.value()?),
        }))
    }

    fn plain(&mut self) -> Result<Node> {
        Ok(Node::line(self.instruction(&PLAIN, Addressing::at(TEMPORARY))?))
    }

    fn matrices(&mut self) -> Result<Node> {
        static MATRICES: LazyLock<Rows> =
            LazyLock::new(|| rows(|opcode| Family::of(opcode) == Family::Matrix));
        Ok(Node::line(self.instruction(&MATRICES, Addressing::at(TEMPORARY))?))
    }

    /// Returns an instruction of one of these rows, with any modifiers, that accesses memory at
    /// `place`. Modifiers with a fault are rare.
    fn instruction(&mut self, rows: &Rows, place: Addressing) -> Result<String> {
        const TRIES: u32 = 12;
        let careful = self.only.is_some() || self.u.ratio(39, 40)?;
        for _ in 0..TRIES {
            let row = match self.only {
                Some(row) => row,
                None => *self.u.choose(&rows[self.target])?,
            };
            if place.shift > 0 && !has_factor(row) {
                continue;
            }
            let word = self.word(row, place)?;
            let Some(instruction) = Instruction::decode(word, self.model()) else { continue };
            if !std::ptr::eq(instruction.row, row) || !fits(&instruction) {
                continue;
            }
            let may = |wanted: fn(TrapKind) -> bool| traps(word, self.model(), wanted);
            let faults = instruction.mnemonic().contains(".TRAP") || may(|_| true);
            let unwanted = careful && faults || may(|kind| kind == TrapKind::Unimplemented);
            if !unwanted {
                return Ok(instruction.text(0));
            }
        }
        Ok("NOP".into())
    }

    /// Returns a word of a row.
    fn word(&mut self, row: &Row, place: Addressing) -> Result<u128> {
        let family = Family::of(row.opcode);
        let mut word: u128 = self.u.arbitrary()?;
        word &= !SCHEDULING;
        // The guard, if there is one. An instruction behind !PT never runs.
        if self.u.ratio(3, 4)? || word >> 12 & 0xf == NOT_PT {
            set(&mut word, 12, 4, PT);
        }
        for slot in row.fields() {
            let value = match slot.field {
                Field::bank => 0,
                Field::handle => place.offset / 4,
                Field::texture_dim
                | Field::fetch_dim
                | Field::gather_dim
                | Field::derivative_dim => TextureDim::D2 as u64,
                _ => continue,
            };
            set(&mut word, slot.lo, slot.bits, value);
        }
        for slot in row.operands() {
            if family == Family::Matrix {
                // Products with modified factors are not executed.
                let modifiers = slot.attributes.neg.into_iter().chain(slot.attributes.abs);
                modifiers.for_each(|bit| set(&mut word, bit, 1, 0));
            }
            match slot.location {
                Location::Register { lo } if family == Family::Texture && slot.role == Role::A => {
                    set(&mut word, lo, 8, place.base);
                }
                Location::Register { lo } if family == Family::Surface && slot.role == Role::C => {
                    set(&mut word, lo, 8, HANDLE);
                }
                Location::Register { lo } => {
                    let register = self.register(row, slot.role)?;
                    set(&mut word, lo, 8, register);
                }
                Location::Uniform { lo } => {
                    let uniform = self.uniform(slot.role)?;
                    set(&mut word, lo, 6, uniform);
                }
                // Constants are parameters of the launch.
                Location::Constant { offset, width, scale, bank, descriptor: None } => {
                    let parameter = self.parameter()?;
                    set(&mut word, bank, 5, 0);
                    set(&mut word, offset, width, parameter / u64::from(scale));
                }
                Location::Memory(memory) => {
                    let loaded = Addressing::at(place.loaded);
                    let place = if slot.role == Role::G { loaded } else { place };
                    self.set_address(&mut word, memory, place, row.opcode)?;
                }
                Location::ConstMemory { bank, base, offset, width, uniform_base, .. } => {
                    set(&mut word, bank, 5, 0);
                    if uniform_base {
                        let parameter = self.parameter()?;
                        set(&mut word, base, 6, URZ);
                        set(&mut word, offset, width, parameter);
                    } else {
                        set(&mut word, base, 8, place.base);
                        set(&mut word, offset, width, place.offset);
                    }
                }
                _ => {}
            }
        }
        Ok(row.word(word))
    }

    /// Returns the offset in constant bank 0 of some of the launch's numbers.
    fn parameter(&mut self) -> Result<u64> {
        Ok(self.u.int_in_range(OUT / 4..=FLOAT / 4)? * 4)
    }

    fn set_address(
        &mut self,
        word: &mut u128,
        memory: Memory,
        place: Addressing,
        opcode: Opcode,
    ) -> Result<()> {
        let Memory { base, offset, width, uniform, factor, wide, descriptor, .. } = memory;
        if opcode == Opcode::Uldc {
            let parameter = self.parameter()?;
            set(word, offset, width, parameter);
        } else {
            set(word, offset, width, place.offset);
        }
        if let Some(base) = base {
            set(word, base, 8, place.base);
        }
        if let Some(uniform) = uniform {
            let added = place.has_room && self.u.arbitrary()?;
            set(word, uniform, 6, if added { UNIFORM_OFFSET } else { URZ });
        }
        if let Some(descriptor) = descriptor {
            set(word, descriptor, 6, UNIFORM_OFFSET);
        }
        if let Some(factor) = factor {
            set(word, factor, 2, place.shift.saturating_sub(1));
        }
        if let Some(wide) = wide {
            set(word, wide, 1, 1);
        }
        Ok(())
    }

    /// Returns the register that is written or read. Loads and matrices have room for four
    /// registers.
    fn register(&mut self, row: &Row, role: Role) -> Result<u64> {
        let family = Family::of(row.opcode);
        if role != Role::D && self.u.ratio(1, 12)? {
            return Ok(RZ);
        }
        let value = self.value()?;
        // With .SCR this operand has the second coordinate.
        let second = family == Family::Texture && role == Role::B && self.u.arbitrary()?;
        Ok(match role {
            _ if second => COORDINATES + 1,
            _ if family != Family::Plain => value & !3,
            // A value that must be ordinary shares no pair with other registers.
            _ if role == Role::D || self.only.is_some() => value & !1,
            _ => value,
        })
    }

    fn uniform(&mut self, role: Role) -> Result<u64> {
        if role != Role::D && self.u.ratio(1, 12)? {
            return Ok(URZ);
        }
        let value = self.u.int_in_range(0..=UNIFORMS - 1)?;
        Ok(if role == Role::D { value & !1 } else { value })
    }
}

/// Whether the address of a row can shift its register.
fn has_factor(row: &Row) -> bool {
    let shifts = |location| matches!(location, Location::Memory(Memory { factor: Some(_), .. }));
    row.operands().any(|slot| shifts(slot.location))
}

/// Whether an instruction has 64-bit addresses where memory is global, and an image of the launch
/// where it has one.
fn fits(instruction: &Instruction) -> bool {
    let mnemonic = instruction.mnemonic();
    let has = |wanted: &str| mnemonic.split('.').any(|part| part == wanted);
    match Family::of(instruction.opcode()) {
        Family::Global => has("E"),
        Family::Surface | Family::Texture => {
            // The handle is where the code can know it, and the image has two axes.
            let elsewhere = has("B") || instruction.source(Role::H).is_some();
            let two_axes = instruction.text(0).contains("2D") && !mnemonic.contains("ARRAY");
            !elsewhere && (two_axes || instruction.opcode() == Opcode::Txq)
        }
        _ => true,
    }
}
