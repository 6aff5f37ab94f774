//! Random kernels with known mistakes, of which checks must report all, and nothing else.
//!
//! A kernel is a list of steps with barriers of the block between them. Each step has its own memory,
//! and is right, or has one mistake.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::sync::Arc;

use arbitrary::{Result, Unstructured};
use warploom::{
    Allocation, Allocations, Arg, Checks, EngineKind, Finding, LaunchOptions, Mistake, Program,
    Written,
};

/// A kernel, and what checks must find.
struct Plan {
    blocks: u32,
    /// Threads of a block.
    threads: u32,
    declarations: String,
    code: String,
    buffers: Vec<Buffer>,
    expected: BTreeMap<Place, u64>,
    /// Findings that depend on the order in which warps run.
    tolerated: BTreeSet<Place>,
}

/// A buffer: a parameter of the kernel.
struct Buffer {
    bytes: u64,
    kind: Kind,
}

#[derive(Clone, Copy, PartialEq)]
enum Kind {
    Written,
    /// Nothing has written to it.
    Fresh,
    Freed,
}

/// The check, and the lines of the code: one, or two of a race.
type Place = (&'static str, u32, u32);

/// The header of the code, without the parameters and the declarations.
const REGISTERS: &str = "
    .reg .b32 %r<10>; .reg .b64 %d<10>; .reg .pred %p<4>;
    .reg .b32 %id, %cta, %gid, %lane; .reg .b32 %v<4>; .reg .b16 %h; .reg .b64 %w<2>;
    mov.u32 %id, %tid.x;
    mov.u32 %cta, %ctaid.x;
    mov.u32 %gid, %ntid.x;
    mad.lo.u32 %gid, %gid, %cta, %id;
    and.b32 %lane, %id, 31;
    mov.u32 %v0, 1; mov.u32 %v1, 2; mov.u32 %v2, 3; mov.u32 %v3, 4;
    mov.u16 %h, 5; mov.u64 %w0, 6; mov.u64 %w1, 7;
";

impl Plan {
    fn all(&self) -> u64 {
        u64::from(self.blocks * self.threads)
    }

    /// Adds a line of code, and returns its number in the code.
    fn line(&mut self, text: &str) -> u32 {
        self.code.push_str(text);
        self.code.push('\n');
        self.code.matches('\n').count() as u32
    }

    fn expect(&mut self, check: &'static str, line: u32, count: u64) {
        if count > 0 {
            self.expected.insert((check, line, line), count);
        }
    }

    fn expect_race(&mut self, lines: [u32; 2], races: bool) {
        if races {
            self.expected.insert(("race", lines[0].min(lines[1]), lines[0].max(lines[1])), 0);
        }
    }

    /// Adds a buffer, and loads its address to `%d0`.
    fn buffer(&mut self, bytes: u64, kind: Kind) {
        let number = self.buffers.len();
        self.buffers.push(Buffer { bytes, kind });
        self.line(&format!("ld.param.u64 %d0, [p{number}];"));
    }

    /// Adds shared or local memory, and returns its name.
    fn variable(&mut self, space: &str, bytes: u32) -> String {
        let name = format!("{space}{}", self.declarations.matches('\n').count());
        let _ = writeln!(self.declarations, ".{space} .align 16 .b8 {name}[{bytes}];");
        name
    }

    /// Words of shared memory go from thread to thread.
    fn exchange(&mut self, u: &mut Unstructured<'_>) -> Result<()> {
        let threads = self.threads;
        let distance = u.int_in_range(0..=threads - 1)?;
        let has_barrier = u.ratio(2, 3)?;
        let writers =
            if has_barrier && u.arbitrary()? { u.int_in_range(0..=threads)? } else { threads };
        let name = self.variable("shared", 4 * threads);
        self.line(&format!("mov.u32 %r0, {name}; mad.lo.u32 %r1, %id, 4, %r0;"));
        self.line(&format!("setp.lt.u32 %p0, %id, {writers};"));
        let store = self.line("@%p0 st.shared.u32 [%r1], %id;");
        if has_barrier {
            self.line("bar.sync 0;");
        }
        self.line(&format!("add.u32 %r2, %id, {distance}; rem.u32 %r2, %r2, {threads};"));
        self.line("mad.lo.u32 %r1, %r2, 4, %r0;");
        let load = self.line("ld.shared.u32 %r3, [%r1];");
        if has_barrier {
            let reads_unwritten = |thread: &u32| (thread + distance) % threads >= writers;
            let count = (0..threads).filter(reads_unwritten).count() as u64;
            self.expect("init", load, count * u64::from(self.blocks));
        } else {
            self.expect_race([store, load], distance > 0 && threads > 32);
            self.tolerated.insert(("init", load, load));
        }
        Ok(())
    }

    /// Each thread accesses its own bytes of a buffer, which may be too short or freed.
    fn own(&mut self, u: &mut Unstructured<'_>) -> Result<()> {
        let (bytes, ty, value) = *u.choose(&[
            (1, "u8", "%h"),
            (2, "u16", "%h"),
            (4, "u32", "%v0"),
            (8, "u64", "%w0"),
            (8, "v2.u32", "{%v0, %v1}"),
            (16, "v4.u32", "{%v0, %v1, %v2, %v3}"),
            (16, "v2.u64", "{%w0, %w1}"),
        ])?;
        let stride = bytes * u.int_in_range(1..=3_u64)?;
        let all = self.all();
        let whole = (all - 1) * stride + bytes;
        let size = whole - u.int_in_range(0..=(whole - 1).min(3 * stride))?;
        let kind = if u.ratio(1, 4)? { Kind::Freed } else { Kind::Written };
        self.buffer(size, kind);
        self.line(&format!("mul.wide.u32 %d1, %gid, {stride}; add.u64 %d1, %d0, %d1;"));
        let space = if u.arbitrary()? { ".global" } else { "" };
        let access = self.line(&match u.int_in_range(0..=2)? {
            0 => format!("ld{space}.{ty} {value}, [%d1];"),
            1 => format!("st{space}.{ty} [%d1], {value};"),
            _ if bytes == 4 => format!("red{space}.add.u32 [%d1], 1;"),
            _ => format!("st.volatile{space}.{ty} [%d1], {value};"),
        });
        let count = match kind {
            Kind::Freed => all,
            _ => (0..all).filter(|thread| thread * stride + bytes > size).count() as u64,
        };
        self.expect("memory", access, count);
        Ok(())
    }

    /// Several warps access one word.
    fn word(&mut self, u: &mut Unstructured<'_>) -> Result<()> {
        let every_warp: bool = u.arbitrary()?;
        let id = if every_warp { "%lane" } else { "%id" };
        let (text, is_plain) = *u.choose(&[
            ("red.global.add.u32 [%d0], 1;", false),
            ("atom.global.exch.b32 %r0, [%d0], 1;", false),
            ("st.relaxed.gpu.global.u32 [%d0], 1;", false),
            ("st.global.u32 [%d0], 1;", true),
            ("ld.global.u32 %r0, [%d0];", false),
        ])?;
        self.buffer(4, Kind::Written);
        self.line(&format!("setp.eq.u32 %p0, {id}, 0;"));
        let access = self.line(&format!("@%p0 {text}"));
        let warps = self.blocks * if every_warp { self.threads / 32 } else { 1 };
        self.expect_race([access, access], is_plain && warps > 1);
        Ok(())
    }

    /// The first block leaves a message for the others.
    fn message(&mut self, u: &mut Unstructured<'_>) -> Result<()> {
        let [releases, acquires] = [u.ratio(2, 3)?, u.ratio(2, 3)?];
        let by_fence: bool = u.arbitrary()?;
        self.buffer(128, Kind::Written);
        self.line("setp.eq.u32 %p0, %gid, 0;");
        self.line("setp.eq.u32 %p1, %id, 0; setp.ne.u32 %p2, %cta, 0; and.pred %p1, %p1, %p2;");
        let store = self.line("@%p0 st.global.u32 [%d0], 7;");
        if releases && by_fence {
            self.line("fence.acq_rel.gpu;");
        }
        let order = if releases && !by_fence { "release" } else { "relaxed" };
        self.line(&format!("@%p0 st.{order}.gpu.global.u32 [%d0+64], 1;"));
        let order = if acquires && !by_fence { "acquire" } else { "relaxed" };
        self.line(&format!("@%p1 ld.{order}.gpu.global.u32 %r0, [%d0+64];"));
        if acquires && by_fence {
            self.line("fence.acq_rel.gpu;");
        }
        let load = self.line("@%p1 ld.global.u32 %r0, [%d0];");
        self.expect_race([store, load], self.blocks > 1 && !(releases && acquires));
        Ok(())
    }

    /// Lanes that have parted read what the others write.
    fn lanes(&mut self, u: &mut Unstructured<'_>) -> Result<()> {
        let name = self.variable("shared", 4 * self.threads);
        self.line(&format!("mov.u32 %r0, {name}; mad.lo.u32 %r1, %id, 4, %r0;"));
        self.line("st.shared.u32 [%r1], %id;");
        self.line("bar.sync 0;");
        self.line("setp.ge.u32 %p0, %lane, 16;");
        self.line(&format!("@%p0 bra APART_{name};"));
        let store = self.line("st.shared.u32 [%r1], 7;");
        self.line(&format!("APART_{name}:"));
        let is_synchronized = u.arbitrary()?;
        if is_synchronized {
            self.line("bar.warp.sync 0xffffffff;");
        }
        self.line("xor.b32 %r2, %id, 16; mad.lo.u32 %r1, %r2, 4, %r0;");
        let load = self.line("ld.shared.u32 %r3, [%r1];");
        self.expect_race([store, load], !is_synchronized);
        Ok(())
    }

    /// Some lanes do not name themselves.
    fn mask(&mut self, u: &mut Unstructured<'_>) -> Result<()> {
        let lane = u.int_in_range(0..=63_u32)?;
        self.line(&format!("setp.eq.u32 %p0, %lane, {lane};"));
        self.line(&format!("selp.b32 %r0, {}, 0xffffffff, %p0;", !1_u32.rotate_left(lane)));
        let sync = self.line("bar.warp.sync %r0;");
        let count = if lane < 32 { self.all() / 32 } else { 0 };
        self.expect("sync", sync, count);
        Ok(())
    }

    /// Lanes read words of local memory, of which the first ones are written.
    fn local(&mut self, u: &mut Unstructured<'_>) -> Result<()> {
        let name = self.variable("local", 64);
        let written = u.int_in_range(0..=16_u32)?;
        self.line(&format!("mov.u32 %r0, {name};"));
        for word in 0..written {
            self.line(&format!("st.local.u32 [%r0+{}], %id;", 4 * word));
        }
        self.line("and.b32 %r1, %lane, 15; mad.lo.u32 %r1, %r1, 4, %r0;");
        let load = self.line("ld.local.u32 %r2, [%r1];");
        self.expect("init", load, self.all() / 16 * u64::from(16 - written));
        Ok(())
    }

    /// Threads read their words of a buffer, of which the first ones are written.
    fn fresh(&mut self, u: &mut Unstructured<'_>) -> Result<()> {
        let all = self.all();
        let written = u.int_in_range(0..=all)?;
        self.buffer(4 * all, Kind::Fresh);
        self.line(&format!("setp.lt.u32 %p0, %gid, {written};"));
        self.line("mul.wide.u32 %d1, %gid, 4; add.u64 %d1, %d0, %d1;");
        self.line("@%p0 st.global.u32 [%d1], 1;");
        let access = if u.arbitrary()? {
            self.line("ld.global.u32 %r0, [%d1];")
        } else {
            self.line("atom.global.add.u32 %r0, [%d1], 1;")
        };
        self.expect("init", access, all - written);
        Ok(())
    }

    /// Device code allocates memory.
    fn heap(&mut self, u: &mut Unstructured<'_>) -> Result<()> {
        let (all, bytes) = (self.all(), u.int_in_range(4..=40_u64)?);
        // The room behind the memory, up to a multiple of 16.
        let room = bytes.next_multiple_of(16) - bytes;
        let past = if room > 0 && u.arbitrary()? { u.int_in_range(1..=room)? } else { 0 };
        let (frees_early, frees): (bool, bool) = (u.ratio(1, 4)?, u.ratio(3, 4)?);
        self.line("{ .param .b64 size; .param .b64 memory;");
        self.line(&format!("st.param.b64 [size], {bytes};"));
        let malloc = self.line("call (memory), malloc, (size);");
        self.line("ld.param.b64 %d1, [memory]; }");
        let free = "{ .param .b64 memory; st.param.b64 [memory], %d1; call free, (memory); }";
        if frees_early {
            self.line(free);
        }
        self.line(&format!("add.u64 %d2, %d1, {};", bytes - 1 + past));
        let store = self.line("st.u8 [%d2], %h;");
        if frees && !frees_early {
            self.line(free);
        }
        self.expect("memory", store, if past > 0 || frees_early { all } else { 0 });
        self.expect("memory", malloc, if frees || frees_early { 0 } else { all });
        Ok(())
    }

    fn text(&self) -> (String, u32) {
        let parameter = |i| format!(".param .u64 p{i}");
        let parameters: Vec<String> = (0..self.buffers.len()).map(parameter).collect();
        let head = format!(
            ".version 7.0\n.target sm_80\n.address_size 64\n\
             .extern .func (.param .b64 r) malloc (.param .b64 n);\n\
             .extern .func free (.param .b64 p);\n\
             .visible .entry k({}) {{\n{}{REGISTERS}",
            parameters.join(", "),
            self.declarations
        );
        let before = head.matches('\n').count() as u32;
        (format!("{head}{}ret;\n}}\n", self.code), before)
    }
}

fn plan(u: &mut Unstructured<'_>) -> Result<Plan> {
    let mut plan = Plan {
        blocks: u.int_in_range(1..=3)?,
        threads: 32 * u.int_in_range(1..=4)?,
        declarations: String::new(),
        code: String::new(),
        buffers: vec![],
        expected: BTreeMap::new(),
        tolerated: BTreeSet::new(),
    };
    for _ in 0..u.int_in_range(1..=8)? {
        let step = *u.choose(&[
            Plan::exchange,
            Plan::own,
            Plan::word,
            Plan::message,
            Plan::lanes,
            Plan::mask,
            Plan::local,
            Plan::fresh,
            Plan::heap,
        ])?;
        step(&mut plan, u)?;
        plan.line("bar.sync 0;");
    }
    Ok(plan)
}

/// Runs a kernel with all checks on an engine.
fn findings(plan: &Plan, text: &str, engine: EngineKind) -> Vec<Finding> {
    let program = Program::load(text.as_bytes(), None).unwrap_or_else(|e| panic!("{e}\n{text}"));
    let mut allocations = Allocations::default();
    let (written, mut args) = (Written::default(), vec![]);
    for (number, buffer) in plan.buffers.iter().enumerate() {
        let address = program.memory().alloc(buffer.bytes, 1).expect("memory");
        let one = Allocation { name: format!("p{number}"), address, bytes: buffer.bytes };
        match buffer.kind {
            Kind::Freed => allocations.freed.push(one),
            Kind::Written | Kind::Fresh => allocations.live.push(one),
        }
        if buffer.kind == Kind::Fresh {
            written.allocated(address, buffer.bytes);
        }
        args.push(Arg::pointer(address));
    }
    allocations.written = Some(Arc::new(written));
    let shape = LaunchOptions::new([plan.blocks, 1, 1], [plan.threads, 1, 1]);
    let options = LaunchOptions { engine, heap_bytes: 1 << 20, ..shape };
    let kernel = program.only_kernel().expect("one kernel");
    let checked = kernel.launch_checked(&args, &options, Checks::ALL, &allocations);
    let checked = checked.unwrap_or_else(|e| panic!("{e}\n{text}"));
    assert!(checked.outcome.fault.is_none(), "{:?}\n{text}", checked.outcome.fault);
    checked.findings
}

/// Checks find exactly the mistakes of random kernels, on both engines.
pub fn checks(bytes: &[u8]) {
    let Ok(plan) = plan(&mut Unstructured::new(bytes)) else { return };
    let (text, before) = plan.text();
    let [found, interp] = [EngineKind::Jit, EngineKind::Interp].map(|e| findings(&plan, &text, e));
    assert_eq!(found, interp, "{text}");
    let line = |place: &warploom::CodePlace| {
        place.line.as_ref().and_then(|line| line.line).unwrap_or(0).wrapping_sub(before)
    };
    let mut told = BTreeMap::new();
    for one in &found {
        let here = line(&one.place);
        match &one.mistake {
            Mistake::Race { other, .. } => {
                let there = line(other);
                told.insert(("race", here.min(there), here.max(there)), 0);
            }
            _ => {
                let place = (one.check(), here, here);
                if !plan.tolerated.contains(&place) {
                    told.insert(place, one.count);
                }
            }
        }
    }
    let texts: Vec<String> = found.iter().map(ToString::to_string).collect();
    assert_eq!(told, plan.expected, "{}\n{}\n{text}", texts.join("\n"), before);
}
