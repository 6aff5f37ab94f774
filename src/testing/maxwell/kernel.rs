//! Random kernels as a compiler might write them: structured control flow that lanes diverge in,
//! barriers, calls, all kinds of memory, atomics, surfaces, textures, printed text, the heap,
//! several warps and blocks.
//!
//! Instructions come from the table. Only branch targets and addresses are chosen with care. At the
//! end every thread stores what it computed.

mod accesses;
pub mod loops;
mod pixels;
mod primitives;

use std::sync::LazyLock;

use arbitrary::{Result, Unstructured};
use primitives::Shape;
use warploom_ir::TrapKind;
use warploom_maxwell::field::{Field, TextureDim};
use warploom_maxwell::row::{Location, Memory};
use warploom_maxwell::{Instruction, Opcode, Role, Row, table};
use warploom_replay::Manifest;
use warploom_replay::graphics::Stage;
use warploom_replay::manifest::{
    AddressMode, AddressModes, Arg, Dim, Filter, Layout, Surface, Texture,
};

use super::words::{ROWS, RZ, set, traps};
use crate::case::{
    Case, DATA_BYTES, MAX_DEPTH, MAX_NODES, OUT_BYTES, OWN_BYTES, buffers, bytes, effort,
    instruction_limit, manifest, u32_arg, zeros,
};
use crate::format::FORMATS;
use crate::program::{Node, Part};

/// The number of registers that instructions compute with: R0 to R15.
const VALUES: u64 = 16;
/// The index of the thread in its block.
const THREAD: u64 = 16;
/// The index of the thread in the grid.
const ELEMENT: u64 = 17;
/// A pair with an address that was just computed.
const ADDRESS: u64 = 18;
/// A pair with the address of the thread's own memory.
const OWN: u64 = 20;
/// A loop's counter, with one more for each loop around it.
const COUNTER: u64 = 22;
/// Coordinates in a surface or texture: two registers.
const COORDINATES: u64 = 28;
const HANDLE: u64 = 30;
const TEMPORARY: u64 = 31;
/// The guards that are always true and never true.
const PT: u64 = 7;
const NOT_PT: u64 = 15;

/// Parameters in constant bank 0: pointers to the results of threads, to data that is only read, to
/// each thread's own memory, to data that all threads change, and to counters; a word, a float, the
/// handles of surfaces; a pointer to formats; handles of textures.
const OUT: u64 = 0x140;
const TABLE: u64 = 0x148;
const OWNED: u64 = 0x150;
const SHARED_DATA: u64 = 0x158;
const COUNTERS: u64 = 0x160;
const WORD: u64 = 0x168;
const FLOAT: u64 = 0x16c;
const SURFACE: u64 = 0x170;
pub(crate) const SURFACES: [&str; 3] = ["pitch", "tiled", "picture"];
const FORMATS_AT: u64 = 0x188;
/// Textures of the picture.
const TEXTURE: u64 = 0x190;
pub(crate) const TEXTURES: [&str; 2] = ["nearest", "linear"];
/// The register in which the driver's functions take a pointer or a size, and leave a pointer.
const ARGUMENT: u64 = 4;

/// The places in constant bank 0 of the lowest generic addresses of shared and of local memory, and
/// the distance between these addresses.
const SHARED_WINDOW: u64 = 0x0;
const LOCAL_WINDOW: u64 = 0x4;
const LOCAL_BEHIND_SHARED: u64 = 0x100_0000;

const SHARED_BYTES: u32 = 1024;
const LOCAL_BYTES: u32 = 256;

/// The rows that can stand anywhere, because they change registers only.
static PLAIN: LazyLock<Vec<&'static Row>> =
    LazyLock::new(|| rows(|opcode| Family::of(opcode) == Family::Plain));

fn rows(wanted: impl Fn(Opcode) -> bool) -> Vec<&'static Row> {
    ROWS.iter().copied().filter(|row| wanted(row.opcode)).collect()
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Family {
    Plain,
    Global,
    Shared,
    Surface,
    Texture,
    /// Control flow, and instructions that are made with care or not at all.
    Other,
}

impl Family {
    fn of(opcode: Opcode) -> Family {
        use Opcode::*;
        match opcode {
            Ld | Ldg | LdgSparse | St | Stg | Atom | AtomCas | AtomSparse | AtomCasSparse | Red => {
                Family::Global
            }
            Lds | Sts | Atoms | AtomsCas => Family::Shared,
            opcode if opcode.is_surface_access() => Family::Surface,
            opcode if opcode.is_texture_access() => Family::Texture,
            Bra | Jmp | Brx | Jmx | Cal | Jcal | Pret | Ssy | Pbk | Pcnt | Sync | Brk | Cont
            | Ret | Exit | Kil | Sam | Ram | Bpt | BarArv | BarRed | BarSync | BarSyncall
            | BarScan | Ldl | Stl | Ldc | AtomSafeAdd | AtomSafeAddSparse | Txa | Cctl | Cctll
            | Cctlt | Ald | Ast | Al2p | Ipa | Isberd | Pixld | Out | VoteVtg => Family::Other,
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
}

struct Writer<'a, 'b> {
    u: &'a mut Unstructured<'b>,
    /// Whether blocks leave each other's memory alone.
    independent: bool,
    labels: u32,
    nodes: u32,
    /// The end of the numbers of functions that can still be called. They start at
    /// `first_function`, behind the function that is being written.
    functions: u32,
    first_function: u32,
    /// The stage, if the program is a shader.
    stage: Option<Stage>,
    /// The only row of all instructions, if there is one. Then no instruction is to fault.
    only: Option<&'static Row>,
}

/// The place of a node.
#[derive(Clone, Copy, Default)]
struct Scope {
    depth: u8,
    loops: u8,
    /// Whether the node is in a loop of this function.
    in_loop: bool,
    in_continuable: bool,
    /// Whether not all lanes of a warp need be here.
    divergent: bool,
}

/// Sizes of blocks.
pub(crate) const BLOCKS: [[u32; 3]; 10] = [
    [32, 1, 1],
    [64, 1, 1],
    [96, 1, 1],
    [128, 1, 1],
    [40, 1, 1],
    [1, 1, 1],
    [16, 4, 1],
    [8, 5, 2],
    [256, 1, 1],
    [33, 2, 1],
];

/// Returns a random kernel with its launch, from as many bytes as there are.
pub fn kernel(u: &mut Unstructured<'_>) -> Result<Case> {
    program(u, None)
}

/// Returns a random fragment program with its launch.
pub fn fragment(u: &mut Unstructured<'_>) -> Result<Case> {
    program(u, Some(Lanes::Pixels))
}

/// Returns a random tessellation or geometry program with its launch.
pub fn primitives(u: &mut Unstructured<'_>) -> Result<Case> {
    let shape = Shape::choose(u)?;
    program(u, Some(Lanes::Threads(shape)))
}

/// The meaning of a shader's lanes.
#[derive(Clone, Copy)]
enum Lanes {
    Pixels,
    Threads(Shape),
}

impl Lanes {
    fn stage(self) -> Stage {
        match self {
            Lanes::Pixels => Stage::Fragment,
            Lanes::Threads(shape) => shape.stage,
        }
    }
}

fn program(u: &mut Unstructured<'_>, shader: Option<Lanes>) -> Result<Case> {
    let (block, blocks) = match shader {
        Some(Lanes::Pixels) => ([4 * u.int_in_range(1..=40)?, 1, 1], 1),
        Some(Lanes::Threads(shape)) => ([shape.lanes(), 1, 1], 1),
        None => (*u.choose(&BLOCKS)?, u.int_in_range(1..=3)?),
    };
    let (independent, effort) = (u.arbitrary()?, effort(u)?);
    let limit = instruction_limit(u)?;
    let (word, float, seed): (u32, u32, u32) = (u.arbitrary()?, u.arbitrary()?, u.arbitrary()?);
    let count = u.int_in_range(0..=2)?;
    let stage = shader.map(Lanes::stage);
    let mut writer = Writer {
        u,
        independent,
        labels: 0,
        nodes: MAX_NODES,
        functions: count,
        first_function: 0,
        stage,
        only: None,
    };
    let mut head = match shader {
        Some(Lanes::Pixels) => pixels::head(),
        Some(Lanes::Threads(shape)) => shape.head(),
        None => directives(),
    };
    head.extend(writer.start(false)?);
    let body = writer.body(Scope::default())?;
    let mut functions = Vec::new();
    for function in 0..count {
        writer.first_function = function + 1;
        writer.nodes += 8;
        let scope = Scope { depth: 1, divergent: true, ..Scope::default() };
        let inner = writer.body(scope)?;
        let open = [format!(".Lfunction{function}:")];
        functions.push(Node::around(open, inner, ["RET"]));
    }

    let mut manifest = launch(blocks, block, limit, [word, float], seed);
    match shader {
        Some(Lanes::Pixels) => pixels::manifest(writer.u, block[0], [word, float], &mut manifest)?,
        Some(Lanes::Threads(shape)) => shape.manifest(writer.u, [word, float], &mut manifest)?,
        None => {}
    }
    Ok(Case { manifest, head, body, tail: end(), functions, independent, effort, ze_info: None })
}

/// Returns a launch of a kernel that takes these numbers.
pub(crate) fn launch(
    blocks: u32,
    block: [u32; 3],
    limit: u64,
    [word, float]: [u32; 2],
    seed: u32,
) -> Manifest {
    let mut manifest = manifest([blocks, 1, 1], block, limit);
    manifest.args =
        ["out", "table", "own", "data", "counters"].map(|name| Arg::Buffer(name.into())).into();
    manifest.args.extend([u32_arg(word), u32_arg(float)]);
    manifest.args.extend(SURFACES.map(|name| Arg::Surface(name.into())));
    manifest.args.push(Arg::Buffer("formats".into()));
    manifest.buffers = buffers(blocks * block.iter().product::<u32>(), seed);
    manifest.buffers.insert("counters".into(), zeros(DATA_BYTES.into()));
    manifest.buffers.insert("formats".into(), bytes(FORMATS));
    manifest.args.extend(TEXTURES.map(|name| Arg::Texture(name.into())));
    manifest.surfaces = SURFACES.map(|name| (name.into(), surface(name))).into();
    manifest.textures = TEXTURES.map(|name| (name.into(), texture(name))).into();
    manifest
}

/// Returns the first lines of kernels, up to the numbers of their threads.
fn directives() -> Vec<String> {
    let mut lines: Vec<String> = [".target sm_50", ".kernel random"].map(Into::into).into();
    let params = [8; 5].iter().chain(&[4, 4]).chain(&[8; SURFACES.len() + 1 + TEXTURES.len()]);
    lines.extend(params.map(|bytes| format!(".param {bytes}")));
    lines.extend([format!(".shared {SHARED_BYTES}"), format!(".local {LOCAL_BYTES}")]);
    let numbers = [
        "S2R R0, SR_TID.X",
        "S2R R1, SR_TID.Y",
        "S2R R2, SR_TID.Z",
        "S2R R3, SR_CTAID.X",
        "MOV R4, c[0x0][0x8]",
        "MOV R5, c[0x0][0xc]",
        "MOV R6, c[0x0][0x10]",
        "XMAD R7, R2, R5, R1",
        "XMAD R16, R7, R4, R0",
        "XMAD R8, R4, R5, RZ",
        "XMAD R8, R8, R6, RZ",
        "XMAD R17, R3, R8, R16",
    ];
    lines.extend(numbers.map(Into::into));
    lines
}

/// Returns an image of the launches of random kernels.
pub(crate) fn surface(name: &str) -> Surface {
    Surface {
        dim: Dim::D2,
        size: [32, 16, 1],
        levels: 1,
        format: if name == "picture" { "rgba8_unorm".into() } else { "r32_uint".into() },
        layout: if name == "pitch" { Layout::Pitch } else { Layout::BlockLinear },
        block_height: None,
        block_depth: None,
        resident: None,
        file: None,
        expect: None,
        rtol: None,
        atol: None,
        png: false,
    }
}

/// Returns a texture of the picture. Without stores, samples show zeros and the values beyond the
/// picture's edges.
pub(crate) fn texture(name: &str) -> Texture {
    let linear = name == "linear";
    Texture {
        surface: "picture".into(),
        filter: if linear { Filter::Linear } else { Filter::Nearest },
        address: AddressModes(
            [if linear { AddressMode::ClampToBorder } else { AddressMode::MirroredRepeat }; 3],
        ),
        normalized: !linear,
        mip_filter: None,
        compare: linear.then(|| "less".into()),
        border: [1.0, 0.5, -2.0, 3.0],
        lod_bias: 0.0,
        min_lod: None,
        max_lod: None,
    }
}

/// Returns a jump through a register to a label behind it. The code there is found when a warp
/// jumps.
pub(crate) fn indirect_jump(register: u64, label: &str) -> [String; 3] {
    [format!("MOV R{register}, RZ"), format!("JMX R{register} {label}"), format!("{label}:")]
}

/// Returns the lines that store all values and predicates.
fn end() -> Vec<String> {
    let mut lines = vec![
        format!("P2R R{TEMPORARY}, PR, RZ, 0x7f"),
        format!("SHL R{ADDRESS}, R{ELEMENT}, {:#x}", OUT_BYTES.trailing_zeros()),
    ];
    lines.extend(plus_parameter(ADDRESS, OUT));
    lines.extend(
        (0..VALUES)
            .step_by(4)
            .map(|value| format!("STG.E.128 [R{ADDRESS}+{:#x}], R{value}", 4 * value)),
    );
    lines.push(format!("STG.E [R{ADDRESS}+{:#x}], R{TEMPORARY}", 4 * VALUES));
    lines.push("EXIT".into());
    // `[R18+0x0]` is printed without an offset.
    lines.into_iter().map(|line| line.replace("+0x0]", "]")).collect()
}

/// Returns lines that turn an offset in the first register of a pair into an address.
fn plus_parameter(pair: u64, parameter: u64) -> [String; 2] {
    let (high, next) = (pair + 1, parameter + 4);
    [
        format!("IADD R{pair}.CC, R{pair}, c[0x0][{parameter:#x}]"),
        format!("IADD.X R{high}, RZ, c[0x0][{next:#x}]"),
    ]
}

impl Writer<'_, '_> {
    fn label(&mut self) -> String {
        self.labels += 1;
        format!(".L{}", self.labels)
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
        let mut lines = vec![format!("SHL R{OWN}, R{ELEMENT}, {:#x}", OWN_BYTES.trailing_zeros())];
        lines.extend(plus_parameter(OWN, OWNED));
        for value in 0..VALUES {
            let kind = if ordinary { 5 } else { self.u.int_in_range(0..=5)? };
            lines.push(match kind {
                0 => format!("MOV R{value}, R{THREAD}"),
                1 => format!("SHL R{value}, R{ELEMENT}, {:#x}", self.u.int_in_range(1..=20)?),
                2 => format!("MOV R{value}, c[0x0][{WORD:#x}]"),
                3 => format!("MOV R{value}, c[0x0][{FLOAT:#x}]"),
                4 => format!("MOV32I R{value}, {:#x}", self.u.arbitrary::<u32>()?),
                _ => format!("I2F.F32.U32 R{value}, R{THREAD}"),
            });
        }
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
        let nests = scope.depth < MAX_DEPTH;
        if let Some(stage) = self.stage
            && self.u.ratio(1, 4)?
        {
            return self.of_stage(stage);
        }
        let number = self.u.int_in_range(0..=31)?;
        // Shaders have no block to wait for, and no shared memory. Drivers of graphics have no
        // functions.
        if let (Some(stage), 10 | 11 | 18 | 19 | 23) = (self.stage, number) {
            return self.of_stage(stage);
        }
        match number {
            0 | 1 if nests => self.choice(scope, false),
            2 if nests => self.choice(scope, true),
            3 if nests => self.uniform_branch(scope),
            4 | 5 if nests => self.repeat(scope),
            6 if self.first_function < self.functions => {
                let function = self.u.int_in_range(self.first_function..=self.functions - 1)?;
                Ok(Node::line(format!("CAL .Lfunction{function}")))
            }
            7 if scope.in_loop => self.guarded("BRK"),
            8 if scope.in_continuable => self.guarded("CONT"),
            9 if self.u.ratio(1, 6)? => self.guarded("EXIT"),
            10 | 11 if !scope.divergent => self.barrier(),
            12 | 13 => self.compare(),
            14..=17 => self.global(),
            18 | 19 => self.shared(),
            20 => self.local(),
            21 | 22 => self.surface(),
            23 => self.driver(),
            24 => self.texture(),
            25 if self.u.ratio(1, 4)? => self.grow(),
            _ => self.plain(),
        }
    }

    /// Returns a node that only shaders of a stage have.
    fn of_stage(&mut self, stage: Stage) -> Result<Node> {
        if stage == Stage::Fragment { self.pixels() } else { self.primitives(stage) }
    }

    fn guard(&mut self) -> Result<String> {
        Ok(format!(
            "@{}P{}",
            if self.u.arbitrary()? { "!" } else { "" },
            self.u.int_in_range(0..=5)?
        ))
    }

    fn guarded(&mut self, what: &str) -> Result<Node> {
        Ok(Node::line(format!("{} {what}", self.guard()?)))
    }

    /// Returns an `if`, with or without `else`.
    fn choice(&mut self, scope: Scope, other: bool) -> Result<Node> {
        let inner = Scope { depth: scope.depth + 1, divergent: true, ..scope };
        let (guard, end) = (self.guard()?, self.label());
        if !other {
            // Lanes that skip the body wait at the end, like all other lanes.
            let open = [format!("SSY {end}"), format!("{guard} SYNC")];
            let close = ["SYNC".into(), format!("{end}:")];
            return Ok(Node::around(open, self.body(inner)?, close));
        }
        let otherwise = self.label();
        let open = [format!("SSY {end}"), format!("{guard} BRA {otherwise}")];
        let (first, second) = (self.body(inner)?, self.body(inner)?);
        Ok(Node(vec![
            Part::from_lines(open),
            Part::Body(first),
            Part::from_lines(["SYNC".into(), format!("{otherwise}:")]),
            Part::Body(second),
            Part::from_lines(["SYNC".into(), format!("{end}:")]),
        ]))
    }

    /// Returns an `if` that all lanes of the launch agree about.
    fn uniform_branch(&mut self, scope: Scope) -> Result<Node> {
        let (end, word) = (self.label(), self.u.arbitrary::<u32>()? >> 13);
        let open = [
            format!("MOV R{TEMPORARY}, c[0x0][{WORD:#x}]"),
            format!("ISETP.LT.U32.AND P6, PT, R{TEMPORARY}, {word:#x}, PT"),
            format!("@P6 BRA {end}"),
        ];
        let body = self.body(Scope { depth: scope.depth + 1, ..scope })?;
        Ok(Node::around(open, body, [format!("{end}:")]))
    }

    /// Returns a loop that lanes may leave one by one, with or without a place to continue at.
    fn repeat(&mut self, scope: Scope) -> Result<Node> {
        let counter = COUNTER + u64::from(scope.loops);
        let (top, next, end) = (self.label(), self.label(), self.label());
        let alike = self.u.ratio(1, 3)?;
        let continuable = self.u.arbitrary()?;
        let count = match alike {
            true => format!("MOV32I R{counter}, {:#x}", self.u.int_in_range(0..=4)?),
            false => format!("LOP32I.AND R{counter}, R{}, 0x3", self.value()?),
        };
        let mut open = vec![count, format!("PBK {end}"), format!("{top}:")];
        if continuable {
            open.push(format!("PCNT {next}"));
        }
        let inner = Scope {
            depth: scope.depth + 1,
            loops: scope.loops + 1,
            in_loop: true,
            in_continuable: continuable,
            // Lanes that leave or continue are away for the rest of the body.
            divergent: true,
        };
        let mut close = Vec::new();
        if continuable {
            close.extend(["CONT".into(), format!("{next}:")]);
        }
        close.extend([
            format!("IADD32I R{counter}, R{counter}, -0x1"),
            format!("ISETP.LT.AND P6, PT, R{counter}, RZ, PT"),
            "@P6 BRK".into(),
            format!("BRA {top}"),
            format!("{end}:"),
        ]);
        Ok(Node::around(open, self.body(inner)?, close))
    }

    /// Returns a jump to the code behind it, which nobody knows before the jump.
    fn grow(&mut self) -> Result<Node> {
        Ok(Node::lines(indirect_jump(TEMPORARY, &self.label())))
    }

    fn barrier(&mut self) -> Result<Node> {
        Ok(Node::line(match self.u.int_in_range(0..=2)? {
            0 => format!(
                "BAR.RED.{} 0x0, P{}",
                self.u.choose(&["POPC", "AND", "OR"])?,
                self.u.int_in_range(0..=5)?
            ),
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
        Ok(Node::line(self.instruction(
            &PLAIN,
            Addressing { base: TEMPORARY, offset: 0 },
            false,
        )?))
    }

    /// Returns an instruction of one of these rows, with any modifiers. Modifiers with a fault are
    /// rare.
    fn instruction(
        &mut self,
        rows: &[&'static Row],
        place: Addressing,
        extended: bool,
    ) -> Result<String> {
        const TRIES: u32 = 12;
        let careful = self.only.is_some() || self.u.ratio(39, 40)?;
        for _ in 0..TRIES {
            let row = match self.only {
                Some(row) => row,
                None => *self.u.choose(rows)?,
            };
            let mut word: u64 = self.u.arbitrary()?;
            // The guard, if there is one. An instruction behind !PT never runs.
            if self.u.ratio(3, 4)? || word >> 16 & 0xf == NOT_PT {
                set(&mut word, 16, 4, PT);
            }
            let family = Family::of(row.opcode);
            let (surface, image) =
                (family == Family::Surface, matches!(family, Family::Surface | Family::Texture));
            for slot in row.fields().filter(|_| family == Family::Texture) {
                match slot.field {
                    Field::handle => set(&mut word, slot.lo, slot.bits, place.offset),
                    Field::texture_dim => set(&mut word, slot.lo, slot.bits, TextureDim::D2 as u64),
                    _ => {}
                }
            }
            for slot in row.operands() {
                match slot.location {
                    Location::Register { lo } if image && slot.role == Role::A => {
                        set(&mut word, lo, 8, place.base)
                    }
                    Location::Register { lo } if surface && slot.role == Role::C => {
                        set(&mut word, lo, 8, HANDLE)
                    }
                    Location::Short { lo, width, .. } if surface && slot.role == Role::C => {
                        set(&mut word, lo, width, place.offset);
                    }
                    Location::Register { lo } => {
                        let register = self.register(row, slot.role)?;
                        set(&mut word, lo, 8, register);
                    }
                    // Constants are parameters of the launch.
                    Location::Constant { offset, width, scale, bank, .. } => {
                        let parameter = self.u.int_in_range(OUT / 4..=FLOAT / 4)? * 4;
                        set(&mut word, bank, 5, 0);
                        set(&mut word, offset, width, parameter / u64::from(scale));
                    }
                    Location::Memory(Memory { base: Some(base), offset, width, scale, .. }) => {
                        set(&mut word, base, 8, place.base);
                        if width > 0 {
                            set(&mut word, offset, width, place.offset / u64::from(scale.max(1)));
                        }
                    }
                    Location::ConstMemory { bank, base, offset, width, .. } => {
                        set(&mut word, bank, 5, 0);
                        set(&mut word, base, 8, place.base);
                        set(&mut word, offset, width, place.offset);
                    }
                    _ => {}
                }
            }
            let word = table::word(row, word);
            let Some(instruction) = Instruction::decode(word) else { continue };
            // 32-bit addresses lead to no data.
            let short = extended && !instruction.mnemonic().split('.').any(|part| part == "E");
            if instruction.row.opcode != row.opcode || short {
                continue;
            }
            let (mnemonic, text) = (instruction.mnemonic(), instruction.text(8));
            // The images of the launch have two axes, and a handle is where the code can know it.
            let fits = text.contains("2D") && !text.contains("ARRAY") || row.opcode == Opcode::Txq;
            let other_image = image && !(fits && mnemonic.split('.').all(|part| part != "B"));
            let faults = traps(word, |_| true) || other_image || mnemonic.contains(".TRAP");
            let wanted = !traps(word, |kind| kind == TrapKind::Unimplemented);
            if wanted && !(careful && faults) {
                return Ok(text);
            }
        }
        Ok("NOP".into())
    }

    /// Returns the register that is written or read. Loads have room for four registers.
    fn register(&mut self, row: &Row, role: Role) -> Result<u64> {
        let wide = Family::of(row.opcode) != Family::Plain;
        if role != Role::D && self.u.ratio(1, 12)? {
            return Ok(RZ);
        }
        let value = self.value()?;
        // TEXS has the second coordinate in this operand.
        let second =
            Family::of(row.opcode) == Family::Texture && role == Role::B && self.u.arbitrary()?;
        Ok(match role {
            _ if second => COORDINATES + 1,
            _ if wide => value & !3,
            // A value that must be ordinary shares no pair with other registers.
            _ if role == Role::D || self.only.is_some() => value & !1,
            _ => value,
        })
    }
}
