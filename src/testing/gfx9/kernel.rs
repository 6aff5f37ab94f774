//! Random kernels as a compiler might write them: control flow that keeps lanes in scalar
//! registers, loops that lanes leave one by one, barriers, calls, LDS, scalar memory, scratch
//! memory, buffers, images, atomics, several waves and workgroups.
//!
//! Instructions come from the table. Only branch targets and addresses are chosen with care. At the
//! end every work-item stores what it computed.

mod accesses;
pub mod loops;
mod pixels;
mod primitives;

use std::sync::LazyLock;

use arbitrary::{Result, Unstructured};
use primitives::Shape;
use warploom_container::hsaco::FloatMode;
use warploom_gfx9::lift::WARP_LANES;
use warploom_gfx9::{Encoding, Row};
use warploom_replay::Dtype;
use warploom_replay::graphics::Stage;
use warploom_replay::raw::{BinaryFormat, BufferDescriptor, Builtin, Raw, Register, Value};

use super::images;
use super::words::{
    IMAGE, OFFSET, POINTERS, RESOURCE, SAMPLER, SCALARS, SCRATCH_OFFSET, VECTORS, instruction, rows,
};
use crate::case::{
    Case, MAX_DEPTH, MAX_NODES, OUT_BYTES, buffers, effort, instruction_limit, manifest, zeros,
};
use crate::program::{Node, Part};

/// Pointers besides [`POINTERS`], which lead to a table that is only read and to data that all
/// work-items change.
const OUT: u8 = 8;
const OWN: u8 = 10;
const WORKGROUP: u8 = 16;
/// A word that is uniform in the whole launch.
const WORD: u8 = 18;
const TEMPORARY: u8 = 28;
/// The start of scratch memory, and the offset of a wave's part of it.
const SCRATCH: u8 = 30;
const WAVE_OFFSET: u8 = 32;
/// Pairs with the return addresses of the functions, one pair for each function.
const RETURN: u8 = 34;
/// A pair with the target of a jump.
const JUMP: u8 = 68;
/// Pairs that keep lanes, one for each depth. Each function has pairs of its own.
const KEPT: u8 = 40;
const FUNCTIONS_KEPT: [u8; MAX_FUNCTIONS as usize] = [70, 80];
/// The index of the work-item in its workgroup, and in the grid.
const ITEM: u8 = 16;
const ELEMENT: u8 = 22;
const VECTOR_TEMPORARY: u8 = 23;
/// A loop's counter, with one more for each depth. Each function has counters of its own.
const COUNTER: u8 = 24;
const FUNCTIONS_COUNTER: [u8; MAX_FUNCTIONS as usize] = [32, 36];
const VGPRS: u32 = 40;

const MAX_FUNCTIONS: u8 = 2;
const WAVE_LANES: u32 = WARP_LANES as u32;
const LDS_BYTES: u32 = 1024;
/// Bytes of scratch memory of a lane.
const SCRATCH_BYTES: u32 = 256;

/// Parts of the names of instructions that disturb control flow, or need state that is not set up.
const CAREFUL: [&str; 14] = [
    "cmpx",
    "saveexec",
    "wrexec",
    "setpc",
    "swappc",
    "getpc",
    "call",
    "rfe",
    "cbranch",
    "setreg",
    "set_gpr_idx",
    "movrel",
    "interp",
    "getreg",
];

static VECTOR: LazyLock<Vec<&'static Row>> = LazyLock::new(|| of(Encoding::is_vector));
static SCALAR: LazyLock<Vec<&'static Row>> = LazyLock::new(|| {
    of(|e| matches!(e, Encoding::Sop1 | Encoding::Sop2 | Encoding::Sopc | Encoding::Sopk))
});

fn of(wanted: impl Fn(Encoding) -> bool) -> Vec<&'static Row> {
    let is_careful = |row: &Row| CAREFUL.iter().any(|part| row.mnemonic.contains(part));
    rows(|row| wanted(row.places[0].format.encoding()) && !is_careful(row))
}

struct Writer<'a, 'b> {
    u: &'a mut Unstructured<'b>,
    /// Whether workgroups leave each other's memory alone.
    independent: bool,
    labels: u32,
    nodes: u32,
    /// The end of the numbers of functions that can still be called. They start at
    /// `first_function`, behind the function that is being written.
    functions: u8,
    first_function: u8,
    /// The stage, if the program is a shader.
    stage: Option<Stage>,
    /// The only row of all instructions, if there is one. Then no instruction is to fault.
    only: Option<&'static Row>,
}

/// The place of a node.
#[derive(Clone, Copy)]
struct Scope {
    depth: u8,
    /// Whether not all waves of a workgroup need be here.
    divergent: bool,
    /// The registers of depth 0.
    kept: u8,
    counter: u8,
}

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

fn register(first: u8, value: Value) -> Register {
    Register { first: first.into(), value }
}

fn program(u: &mut Unstructured<'_>, shader: Option<Lanes>) -> Result<Case> {
    const BLOCKS: [[u32; 3]; 10] = [
        [64, 1, 1],
        [128, 1, 1],
        [192, 1, 1],
        [256, 1, 1],
        [100, 1, 1],
        [37, 1, 1],
        [1, 1, 1],
        [16, 8, 1],
        [8, 5, 3],
        [65, 2, 1],
    ];
    let (block, blocks) = match shader {
        Some(Lanes::Pixels) => ([4 * u.int_in_range(1..=40)?, 1, 1], 1),
        Some(Lanes::Threads(shape)) => ([shape.lanes(), 1, 1], 1),
        None => (*u.choose(&BLOCKS)?, u.int_in_range(1..=3)?),
    };
    let (independent, effort) = (u.arbitrary()?, effort(u)?);
    let limit = instruction_limit(u)?;
    let lanes = block.iter().product::<u32>();
    let (word, seed): (u32, u32) = (u.arbitrary()?, u.arbitrary()?);
    let mode = mode(u)?;
    let count = u.int_in_range(0..=MAX_FUNCTIONS)?;
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
    let mut head = vec![".target gfx900".to_owned()];
    if let Some(Lanes::Threads(shape)) = shader {
        head.extend(shape.start());
    }
    head.extend(writer.start(block, lanes, false)?);
    if let Some(Lanes::Pixels) = shader {
        head.extend(pixels::start());
    }
    let body = writer.body(Scope { depth: 0, divergent: false, kept: KEPT, counter: COUNTER })?;
    let mut functions = Vec::new();
    for function in 0..count {
        writer.first_function = function + 1;
        writer.nodes += 8;
        let number = usize::from(function);
        let (kept, counter) = (FUNCTIONS_KEPT[number], FUNCTIONS_COUNTER[number]);
        let inner = writer.body(Scope { depth: 1, divergent: true, kept, counter })?;
        let open = [format!(".Lfunction{function}:")];
        let close = [format!("s_setpc_b64 {}", returns(function))];
        functions.push(Node::around(open, inner, close));
    }

    let mut manifest = manifest([blocks, 1, 1], block, limit);
    manifest.kernel.format = Some(BinaryFormat::Gfx9Raw);
    let (mut sgpr, scratch_bytes) = registers(&mut writer, word)?;
    if shader.is_none() {
        sgpr.push(register(WORKGROUP, Value::Builtin(Builtin::WorkgroupIdX)));
    }
    let axes = [Builtin::ThreadIdX, Builtin::ThreadIdY, Builtin::ThreadIdZ];
    let vgpr = (0..).zip(axes).map(|(first, axis)| register(first, Value::Builtin(axis)));
    let vgpr = match shader {
        Some(Lanes::Pixels) => pixels::registers(lanes, &mut sgpr),
        Some(Lanes::Threads(shape)) => shape.registers(&mut sgpr),
        None => vgpr.collect(),
    };
    match shader {
        Some(Lanes::Pixels) => pixels::manifest(writer.u, lanes, &mut manifest)?,
        Some(Lanes::Threads(shape)) => shape.manifest(writer.u, &mut manifest)?,
        None => {}
    }
    manifest.buffers = buffers(blocks * lanes, seed);
    if scratch_bytes > 0 {
        let waves = match shader {
            Some(Lanes::Threads(shape)) => shape.waves(WAVE_LANES),
            _ => lanes.div_ceil(WAVE_LANES),
        };
        let bytes = waves * WAVE_LANES * SCRATCH_BYTES;
        manifest.buffers.insert("scratch".into(), zeros(bytes.into()));
    }
    manifest.raw =
        Some(Raw { entry: 0, vgprs: VGPRS, lds_bytes: LDS_BYTES, scratch_bytes, mode, sgpr, vgpr });
    let mut tail = end();
    let more = match shader {
        Some(Lanes::Pixels) => pixels::end(),
        Some(Lanes::Threads(shape)) => shape.end(),
        None => Vec::new(),
    };
    let last = tail.len() - 1;
    tail.splice(last..last, more);
    Ok(Case { manifest, head, body, tail, functions, independent, effort, ze_info: None })
}

/// Returns the initial content of scalar registers, besides the number of the workgroup, and the
/// bytes of a lane's scratch memory.
fn registers(writer: &mut Writer<'_, '_>, word: u32) -> Result<(Vec<Register>, u32)> {
    let independent = writer.independent;
    let resource = BufferDescriptor {
        buffer: if independent { "table" } else { "data" }.into(),
        offset: 0,
        stride: if writer.u.arbitrary()? { 0 } else { 16 },
        num_records: None,
        swizzle: false,
        word3: *writer.u.choose(&[0x0002_7fac, 0x0002_4fac, 0x0002_afac, 0x0002_5204])?,
    };
    let mut sgpr = vec![
        register(POINTERS[0], Value::Address("table".into())),
        register(POINTERS[1], Value::Address("data".into())),
        register(OUT, Value::Address("out".into())),
        register(OWN, Value::Address("own".into())),
        register(RESOURCE, Value::BufferDescriptor(resource)),
        register(WORD, Value::Number(Dtype::U32, i64::from(word).into())),
    ];
    // The old content of a wave's scratch memory depends on the worker that ran the wave.
    if independent {
        return Ok((sgpr, 0));
    }
    sgpr.push(register(SCRATCH, Value::Address("scratch".into())));
    sgpr.push(register(WAVE_OFFSET, Value::Builtin(Builtin::ScratchWaveOffset)));
    Ok((sgpr, SCRATCH_BYTES))
}

/// Returns the pair with a function's return address.
fn returns(function: u8) -> String {
    let first = RETURN + 2 * function;
    format!("s[{first}:{}]", first + 1)
}

fn mode(u: &mut Unstructured<'_>) -> Result<FloatMode> {
    let usual = u.ratio(2, 3)?;
    let mut field = |usual_value: u8| if usual { Ok(usual_value) } else { u.int_in_range(0..=3) };
    let (round_32, round_64_16, denorm_32, denorm_64_16) =
        (field(0)?, field(0)?, field(3)?, field(3)?);
    Ok(FloatMode {
        round_32,
        round_64_16,
        denorm_32,
        denorm_64_16,
        dx10_clamp: usual || u.arbitrary()?,
        ieee: usual || u.arbitrary()?,
        ..FloatMode::default()
    })
}

/// Returns the lines that store all values.
fn end() -> Vec<String> {
    let shift = OUT_BYTES.trailing_zeros();
    let mut lines = vec![format!("v_lshlrev_b32_e32 v{OFFSET}, {shift}, v{ELEMENT}")];
    let offset = |at: u32| if at == 0 { String::new() } else { format!(" offset:{}", 4 * at) };
    let store = |value: String, at: u32| {
        format!("global_store_dword v{OFFSET}, {value}, s[{OUT}:{}]{}", OUT + 1, offset(at))
    };
    lines.extend((0..VECTORS).map(|value| store(format!("v{value}"), value.into())));
    let scalars =
        SCALARS.map(|number| format!("s{number}")).chain(["vcc_lo".into(), "vcc_hi".into()]);
    for (scalar, at) in scalars.zip(u32::from(VECTORS)..) {
        lines.push(format!("v_mov_b32_e32 v{VECTOR_TEMPORARY}, {scalar}"));
        lines.push(store(format!("v{VECTOR_TEMPORARY}"), at));
    }
    lines.push("s_endpgm".into());
    lines
}

impl Writer<'_, '_> {
    fn label(&mut self) -> String {
        self.labels += 1;
        format!(".L{}", self.labels)
    }

    fn vector(&mut self) -> Result<u8> {
        self.u.int_in_range(0..=VECTORS - 1)
    }

    /// Returns a number that only has a hex form. It is no inline constant, because no inline
    /// constant has bit 16 without bit 17.
    fn literal(&mut self) -> Result<u32> {
        Ok((self.u.arbitrary::<u32>()? | 1 << 16) & !(1 << 17))
    }

    fn scalar(&mut self) -> Result<u8> {
        self.u.int_in_range(SCALARS.start..=SCALARS.end - 1)
    }

    /// Returns true once in `once_in` times, and never where nothing is to fault.
    fn seldom(&mut self, once_in: u8) -> Result<bool> {
        Ok(self.only.is_none() && self.u.ratio(1, once_in)?)
    }

    /// Returns lines that set indices, addresses and all values. If `ordinary`, vector values are
    /// only floats of usual size.
    fn start(&mut self, block: [u32; 3], lanes: u32, ordinary: bool) -> Result<Vec<String>> {
        let mut lines = vec![
            format!("s_movk_i32 s{TEMPORARY}, {:#x}", block[0]),
            format!("v_mad_u32_u24 v{ITEM}, v1, s{TEMPORARY}, v0"),
            format!("s_movk_i32 s{TEMPORARY}, {:#x}", block[0] * block[1]),
            format!("v_mad_u32_u24 v{ITEM}, v2, s{TEMPORARY}, v{ITEM}"),
            format!("s_mulk_i32 s{WORKGROUP}, {lanes:#x}"),
            format!("v_add_u32_e32 v{ELEMENT}, s{WORKGROUP}, v{ITEM}"),
        ];
        if !self.independent {
            lines.push(format!("s_add_u32 flat_scratch_lo, s{SCRATCH}, s{WAVE_OFFSET}"));
            lines.push(format!("s_addc_u32 flat_scratch_hi, s{}, 0", SCRATCH + 1));
            lines.push(format!("s_movk_i32 s{SCRATCH_OFFSET}, 0x10"));
        }
        lines.extend(self.values(ordinary)?);
        lines.extend(self.descriptors()?);
        Ok(lines)
    }

    /// Returns lines that set all values.
    fn values(&mut self, ordinary: bool) -> Result<Vec<String>> {
        let mut lines = vec![];
        for value in 0..VECTORS {
            let kind = if ordinary { 5 } else { self.u.int_in_range(0..=5)? };
            lines.push(match kind {
                0 => format!("v_mov_b32_e32 v{value}, v{ITEM}"),
                1 => format!(
                    "v_lshlrev_b32_e32 v{value}, {}, v{ELEMENT}",
                    self.u.int_in_range(1..=20)?
                ),
                2 => format!("v_mov_b32_e32 v{value}, s{WORD}"),
                3 => format!("v_mov_b32_e32 v{value}, {:#x}", self.literal()?),
                4 => format!("v_mul_lo_u32 v{value}, v{ITEM}, v{ITEM}"),
                _ => format!("v_cvt_f32_u32_e32 v{value}, v{ITEM}"),
            });
        }
        for scalar in SCALARS {
            let kind = if ordinary { 1 } else { self.u.int_in_range(0..=2)? };
            lines.push(match kind {
                0 => format!("s_mov_b32 s{scalar}, s{WORD}"),
                1 => format!("s_mov_b32 s{scalar}, {}", self.u.int_in_range(0..=64)?),
                _ => format!("s_mov_b32 s{scalar}, {:#x}", self.literal()?),
            });
        }
        Ok(lines)
    }

    /// Returns lines that set the descriptors of an image of the data and of its sampler.
    fn descriptors(&mut self) -> Result<Vec<String>> {
        let pointer = if self.independent { POINTERS[0] } else { POINTERS[1] };
        let (image, other, sampler) =
            (images::image(self.u)?, images::image(self.u)?, images::sampler(self.u)?);
        let mut lines = vec![
            format!("s_lshr_b64 s[{IMAGE}:{}], s[{pointer}:{}], 8", IMAGE + 1, pointer + 1),
            format!("s_or_b32 s{}, s{}, {:#x}", IMAGE + 1, IMAGE + 1, image[1]),
        ];
        for (register, &word) in (IMAGE + 2..).zip(&image[2..]).chain((SAMPLER..).zip(&sampler)) {
            lines.push(match word {
                0 => format!("s_mov_b32 s{register}, 0"),
                _ => format!("s_mov_b32 s{register}, {word:#x}"),
            });
        }
        if self.u.arbitrary()? {
            // Then the code does not tell the kind of the image.
            lines.push(format!("s_cmp_lt_u32 s{WORD}, {:#x}", self.literal()?));
            lines.push(format!("s_cmov_b32 s{}, {:#x}", IMAGE + 3, other[3]));
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
            return if stage == Stage::Fragment {
                self.pixels(scope)
            } else {
                self.primitives(stage)
            };
        }
        match self.u.int_in_range(0..=33)? {
            0 | 1 if nests => self.branch(scope),
            2 if nests => self.choice(scope),
            3 if nests => self.uniform_branch(scope),
            4 | 5 if nests => self.repeat(scope),
            6 if self.u.ratio(1, 6)? => self.early_end(),
            6 if self.first_function < self.functions => {
                let function = self.u.int_in_range(self.first_function..=self.functions - 1)?;
                Ok(Node::line(format!("s_call_b64 {}, .Lfunction{function}", returns(function))))
            }
            7 | 8 if !scope.divergent => Ok(Node::line("s_barrier")),
            9 | 10 => Ok(Node::lines(self.compare()?)),
            11..=13 => self.global(),
            14 | 15 => self.lds(),
            16 | 17 => self.buffer(),
            18 | 19 => self.scalar_memory(),
            20..=23 => self.instruction(&SCALAR),
            24 | 25 => self.image(),
            26 if !self.independent && self.u.arbitrary()? => self.scratch(),
            26 => self.flat(),
            27 if self.u.ratio(1, 4)? => Ok(Self::grow()),
            _ => self.instruction(&VECTOR),
        }
    }

    fn instruction(&mut self, rows: &[&'static Row]) -> Result<Node> {
        Ok(Node::line(self.text(rows)?))
    }

    fn text(&mut self, rows: &[&'static Row]) -> Result<String> {
        let only = self.only.map(|row| [row]);
        let rows = only.as_ref().map_or(rows, |row| &row[..]);
        Ok(instruction(self.u, rows, false)?
            .map_or("s_nop 0".into(), |instruction| instruction.text(0)))
    }

    /// Sets vcc to the lanes of a random compare.
    fn compare(&mut self) -> Result<Vec<String>> {
        let what = *self
            .u
            .choose(&["lt_u32", "gt_i32", "eq_u32", "ne_u32", "le_i32", "lt_f32", "nge_f32"])?;
        let (a, b, few) = (self.vector()?, self.vector()?, self.u.int_in_range(0..=64)?);
        Ok(vec![match self.u.int_in_range(0..=2)? {
            0 => format!("v_cmp_{what}_e32 vcc, {few}, v{ITEM}"),
            1 => format!("v_cmp_{what}_e32 vcc, {few}, v{a}"),
            _ => format!("v_cmp_{what}_e32 vcc, v{a}, v{b}"),
        }])
    }

    fn kept(scope: Scope) -> String {
        let first = scope.kept + 2 * scope.depth;
        format!("s[{first}:{}]", first + 1)
    }

    fn inner(scope: Scope) -> Scope {
        Scope { depth: scope.depth + 1, divergent: true, ..scope }
    }

    /// Returns an `if`.
    fn branch(&mut self, scope: Scope) -> Result<Node> {
        let (kept, end) = (Self::kept(scope), self.label());
        let mut open = self.compare()?;
        open.push(format!("s_and_saveexec_b64 {kept}, vcc"));
        if self.u.ratio(2, 3)? {
            open.push(format!("s_cbranch_execz {end}"));
        }
        let body = self.body(Self::inner(scope))?;
        let mut close = vec![format!("{end}:"), format!("s_or_b64 exec, exec, {kept}")];
        // The code behind is often a block of its own.
        if self.u.ratio(1, 3)? {
            let next = self.label();
            close.extend([format!("s_branch {next}"), format!("{next}:")]);
        }
        Ok(Node::around(open, body, close))
    }

    /// Returns an `if` with `else`.
    fn choice(&mut self, scope: Scope) -> Result<Node> {
        let (kept, other, end) = (Self::kept(scope), self.label(), self.label());
        let mut open = self.compare()?;
        open.extend([
            format!("s_and_saveexec_b64 {kept}, vcc"),
            format!("s_xor_b64 {kept}, exec, {kept}"),
        ]);
        if self.u.ratio(2, 3)? {
            open.push(format!("s_cbranch_execz {other}"));
        }
        let mut middle = vec![
            format!("{other}:"),
            format!("s_or_saveexec_b64 {kept}, {kept}"),
            format!("s_xor_b64 exec, exec, {kept}"),
        ];
        if self.u.ratio(2, 3)? {
            middle.push(format!("s_cbranch_execz {end}"));
        }
        let (first, second) = (self.body(Self::inner(scope))?, self.body(Self::inner(scope))?);
        let close = vec![format!("{end}:"), format!("s_or_b64 exec, exec, {kept}")];
        let parts = [
            Part::Lines(open),
            Part::Body(first),
            Part::Lines(middle),
            Part::Body(second),
            Part::Lines(close),
        ];
        Ok(Node(parts.into()))
    }

    /// Returns a loop that lanes leave one after the other, some in its middle.
    fn repeat(&mut self, scope: Scope) -> Result<Node> {
        let (gone, again) = (Self::kept(scope), self.label());
        let (count, limit) = (scope.counter + scope.depth, self.vector()?);
        let open = vec![
            format!("v_and_b32_e32 v{count}, 3, v{limit}"),
            format!("s_mov_b64 {gone}, 0"),
            format!("{again}:"),
        ];
        let mut parts = vec![Part::Lines(open), Part::Body(self.body(Self::inner(scope))?)];
        let leave = [
            format!("v_add_u32_e32 v{count}, -1, v{count}"),
            format!("v_cmp_gt_i32_e32 vcc, 0, v{count}"),
            format!("s_or_b64 {gone}, vcc, {gone}"),
            format!("s_andn2_b64 exec, exec, {gone}"),
            format!("s_cbranch_execnz {again}"),
        ];
        let end = format!("s_or_b64 exec, exec, {gone}");
        if self.u.arbitrary()? {
            let middle = self.label();
            let mut lines = self.compare()?;
            lines.extend([
                "s_and_b64 vcc, exec, vcc".into(),
                format!("s_or_b64 {gone}, vcc, {gone}"),
                format!("s_andn2_b64 exec, exec, {gone}"),
                format!("s_cbranch_execz {middle}"),
            ]);
            parts.extend([Part::Lines(lines), Part::Body(self.body(Self::inner(scope))?)]);
            parts.push(Part::from_lines(leave.into_iter().chain([format!("{middle}:"), end])));
        } else {
            parts.push(Part::from_lines(leave.into_iter().chain([end])));
        }
        Ok(Node(parts))
    }

    /// Returns a branch that all lanes of a wave take or do not take. If the word decides, all
    /// waves agree.
    fn uniform_branch(&mut self, scope: Scope) -> Result<Node> {
        let (a, b, end) = (self.scalar()?, self.scalar()?, self.label());
        let (same, scc) = (self.u.arbitrary()?, self.u.int_in_range(0..=1)?);
        let test = match same {
            true => format!("s_cmp_lt_u32 s{WORD}, {:#x}", self.literal()?),
            false => format!("s_cmp_lt_u32 s{a}, s{b}"),
        };
        let open = [test, format!("s_cbranch_scc{scc} {end}")];
        let inner = Scope { depth: scope.depth + 1, divergent: scope.divergent || !same, ..scope };
        let body = self.body(inner)?;
        Ok(Node::around(open, body, [format!("{end}:")]))
    }

    /// Returns a jump to the code behind it. Nobody knows the target before the jump, because the
    /// lifter does not follow the number in the register.
    fn grow() -> Node {
        let (pair, high) = (format!("s[{JUMP}:{}]", JUMP + 1), JUMP + 1);
        // Three instructions of 4 bytes lie between the address and the code behind the jump.
        Node::lines([
            format!("s_movk_i32 s{TEMPORARY}, 0xc"),
            format!("s_getpc_b64 {pair}"),
            format!("s_add_u32 s{JUMP}, s{JUMP}, s{TEMPORARY}"),
            format!("s_addc_u32 s{high}, s{high}, 0"),
            format!("s_setpc_b64 {pair}"),
        ])
    }

    /// Ends some waves before other waves.
    fn early_end(&mut self) -> Result<Node> {
        let (a, b, next) = (self.scalar()?, self.scalar()?, self.label());
        let lines = [
            format!("s_cmp_eq_u32 s{a}, s{b}"),
            format!("s_cbranch_scc0 {next}"),
            "s_endpgm".into(),
            format!("{next}:"),
        ];
        Ok(Node::lines(lines))
    }
}
