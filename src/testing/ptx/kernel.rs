//! Random kernels as a compiler might write them: divergent branches, loops that lanes leave one by
//! one, jumps by a table, barriers, calls by name and by address, shared, local, constant and
//! global memory, several warps and blocks.
//!
//! Instructions come from the table. At the end every thread stores what it computed.

use arbitrary::{Result, Unstructured};
use warploom_ptx::module::Target;
use warploom_replay::manifest::Arg;

use super::registers::{self, DATA, NUMBER, OUT, OWN, TABLE};
use super::statement::Writer;
use super::{address, images};
use crate::case::{
    Case, Given, MAX_DEPTH, MAX_NODES, OUT_BYTES, OWN_BYTES, buffers, effort, instruction_limit,
    manifest, u32_arg,
};
use crate::maxwell::{SURFACES, TEXTURES, surface, texture};
use crate::program::{Node, Part};

/// A target and a version of PTX.
pub(super) type GpuAndVersion = (u32, Option<char>, (u8, u8));

/// Targets and versions that kernels are written for.
const TARGETS: [GpuAndVersion; 8] = [
    (90, Some('a'), (8, 8)),
    (90, Some('a'), (8, 8)),
    (100, Some('a'), (9, 2)),
    (120, Some('a'), (9, 2)),
    (80, None, (7, 5)),
    (70, None, (6, 3)),
    (61, None, (5, 0)),
    (30, None, (3, 1)),
];
const BLOCKS: [[u32; 3]; 10] = [
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
const MAX_FUNCTIONS: u32 = 2;
/// The most instructions of code without control flow.
const MAX_STRAIGHT: u32 = 48;
/// The predicate that only control flow uses, and the register that a jump by a table counts with.
pub(super) const CONDITION: &str = "%u0";
pub(super) const CHOSEN: &str = "%k7";

/// The place of a node.
#[derive(Clone, Copy, Default)]
struct Scope {
    depth: u8,
    /// Whether not all lanes of a warp need be here.
    divergent: bool,
    /// Whether not all warps of a block need be here.
    apart: bool,
}

impl Scope {
    fn inner(self) -> Scope {
        Scope { depth: self.depth + 1, divergent: true, apart: true }
    }
}

/// Returns a random kernel with its launch, from as many bytes as there are.
pub fn kernel(u: &mut Unstructured<'_>) -> Result<Case> {
    let functions = u.int_in_range(0..=MAX_FUNCTIONS)?;
    case(u, functions, &mut |writer| writer.body(Scope::default()))
}

/// Returns instructions from the table, one after the other.
pub fn straight(u: &mut Unstructured<'_>) -> Result<Case> {
    case(u, 0, &mut |writer| {
        let mut body = Vec::new();
        for _ in 0..MAX_STRAIGHT {
            if writer.u.is_empty() {
                break;
            }
            body.push(writer.statement(false)?);
        }
        Ok(body)
    })
}

fn case(
    u: &mut Unstructured<'_>,
    functions: u32,
    write: &mut dyn FnMut(&mut Writer<'_, '_>) -> Result<Vec<Node>>,
) -> Result<Case> {
    let target = *u.choose(&TARGETS)?;
    let (block, blocks) = (*u.choose(&BLOCKS)?, u.int_in_range(1..=3)?);
    let (independent, effort) = (u.arbitrary()?, effort(u)?);
    let limit = instruction_limit(u)?;
    let (word, seed): (u32, u32) = (u.arbitrary()?, u.arbitrary()?);
    // Targets from sm_90 on have no addresses of 32 bits.
    let narrow = target.0 < 90 && u.ratio(1, 8)?;
    let mut writer = writer(u, target, independent);
    (writer.functions, writer.narrow) = (functions, narrow);
    let given = Given { blocks, block, limit, effort, word, seed };
    of_shape(writer, &given, write)
}

/// Returns a writer without functions.
pub(super) fn writer<'a, 'b>(
    u: &'a mut Unstructured<'b>,
    target: GpuAndVersion,
    independent: bool,
) -> Writer<'a, 'b> {
    let (sm, suffix, version) = target;
    let target = Target { sm, suffix };
    let (labels, nodes, functions, in_function, steady) = (0, MAX_NODES, 0, false, false);
    let narrow = false;
    Writer {
        u,
        target,
        version,
        narrow,
        independent,
        labels,
        nodes,
        functions,
        first_function: 0,
        in_function,
        steady,
    }
}

/// Returns a launch of a kernel with this body and of the writer's functions.
pub(super) fn of_shape(
    mut writer: Writer<'_, '_>,
    given: &Given,
    write: &mut dyn FnMut(&mut Writer<'_, '_>) -> Result<Vec<Node>>,
) -> Result<Case> {
    let &Given { blocks, block, limit, effort, word, seed } = given;
    let (independent, functions) = (writer.independent, writer.functions);
    let threads = block.iter().product::<u32>();
    let head = writer.head()?;
    let body = write(&mut writer)?;
    let wide = writer.is_wide();
    writer.in_function = true;
    let functions =
        (0..functions).map(|function| writer.function(function)).collect::<Result<Vec<_>>>()?;

    let mut manifest = manifest([blocks, 1, 1], block, limit);
    manifest.args = ["out", "table", "own", "data"].map(|name| Arg::Buffer(name.into())).into();
    manifest.args.push(u32_arg(word));
    manifest.buffers = buffers(blocks * threads, seed);
    manifest.surfaces = SURFACES.map(|name| (name.into(), surface(name))).into();
    manifest.textures = TEXTURES.map(|name| (name.into(), texture(name))).into();
    let mut tail = registers::end(wide);
    tail.extend(["ret;".into(), "}".into()]);
    Ok(Case { manifest, head, body, tail, functions, independent, effort, ze_info: None })
}

/// Returns the line before a function's body.
fn signature(function: u32) -> String {
    format!(
        ".func (.param .b32 r0) f{function} (.param .b32 a0, .param .b64 a1, .param .b64 a2, .param .b64 a3)"
    )
}

impl Writer<'_, '_> {
    fn label(&mut self) -> String {
        self.labels += 1;
        format!("L{}", self.labels)
    }

    /// Returns directives, and lines that set pointers and all registers.
    fn head(&mut self) -> Result<Vec<String>> {
        let (major, minor) = self.version;
        let suffix = self.target.suffix.map(String::from).unwrap_or_default();
        let mut lines = vec![
            format!(".version {major}.{minor}"),
            format!(".target sm_{}{suffix}", self.target.sm),
            format!(".address_size {}", if self.narrow { 32 } else { 64 }),
        ];
        lines.extend(address::variables());
        lines.extend(images::variables());
        lines.extend((0..self.functions).map(|function| format!("{};", signature(function))));
        let pointers = [(OUT, "out"), (TABLE, "table"), (OWN, "own"), (DATA, "data")];
        let bits = if self.narrow { "b32" } else { "b64" };
        let parameters: String =
            pointers.iter().map(|(_, name)| format!(".param .{bits} p_{name}, ")).collect();
        lines.push(format!(".visible .entry k ({parameters}.param .b32 p_word) {{"));
        lines.extend(registers::declarations(self.is_wide()));
        lines.extend(address::local());
        for (pointer, name) in pointers {
            if self.narrow {
                lines.push(format!("ld.param.b32 %a0, [p_{name}];"));
                lines.push(format!("cvt.u64.u32 {pointer}, %a0;"));
            } else {
                lines.push(format!("ld.param.b64 {pointer}, [p_{name}];"));
            }
        }
        // The thread's number in its block, and in the grid.
        lines.extend(
            [
                "mov.u32 %a0, %ntid.y;",
                "mov.u32 %a1, %tid.z;",
                "mov.u32 %a2, %tid.y;",
                "mad.lo.u32 %a2, %a0, %a1, %a2;",
                "mov.u32 %a3, %ntid.x;",
                "mov.u32 %a4, %tid.x;",
                "mad.lo.u32 %a2, %a2, %a3, %a4;",
                "mul.lo.u32 %a0, %a0, %a3;",
                "mov.u32 %a1, %ntid.z;",
                "mul.lo.u32 %a0, %a0, %a1;",
                "mov.u32 %a1, %ctaid.x;",
            ]
            .map(Into::into),
        );
        lines.push(format!("mad.lo.u32 {NUMBER}, %a0, %a1, %a2;"));
        for (pointer, bytes) in [(OWN, OWN_BYTES), (OUT, OUT_BYTES)] {
            lines.push(format!("mad.wide.u32 {pointer}, {NUMBER}, {bytes}, {pointer};"));
        }
        lines.extend(self.start()?);
        Ok(lines)
    }

    /// Returns lines that set all registers.
    pub(super) fn start(&mut self) -> Result<Vec<String>> {
        let (wide, ordinary) = (self.is_wide(), self.steady);
        registers::start(self.u, wide, ordinary)
    }

    /// Returns a function. Its result depends on its arguments.
    fn function(&mut self, function: u32) -> Result<Node> {
        self.first_function = function + 1;
        self.nodes += 8;
        let wide = self.is_wide();
        let mut open = vec![format!("{} {{", signature(function))];
        open.extend(registers::declarations(wide));
        open.extend(address::local());
        open.push(format!("ld.param.b32 {NUMBER}, [a0];"));
        open.extend(
            [TABLE, OWN, DATA]
                .iter()
                .zip(1..)
                .map(|(pointer, n)| format!("ld.param.b64 {pointer}, [a{n}];")),
        );
        open.extend(self.start()?);
        let body = self.body(Scope { depth: 1, divergent: true, apart: true })?;
        let close = [
            "xor.b32 %r0, %r0, %r1;",
            "add.u32 %r0, %r0, %r2;",
            "st.param.b32 [r0], %r0;",
            "ret;",
            "}",
        ];
        Ok(Node::around(open, body, close))
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
        match self.u.int_in_range(0..=31)? {
            0 | 1 if nests => self.branch(scope),
            2 if nests => self.choice(scope),
            3 if nests => self.uniform_branch(scope),
            4 | 5 if nests => self.repeat(scope),
            6 if nests && self.version >= (6, 0) => self.table(scope),
            7 if self.u.ratio(1, 6)? => self.early_end(),
            7 | 8 if self.first_function < self.functions => self.call(),
            9 | 10 if !scope.apart => self.barrier(),
            11 if self.version >= (7, 3) => self.alloca(),
            _ => self.statement(scope.divergent),
        }
    }

    /// Returns a line that sets a predicate by a random comparison.
    fn compare(&mut self, to: &str) -> Result<String> {
        let (a, b) = (registers::one(self.u, "r")?, registers::one(self.u, "r")?);
        let f = registers::one(self.u, "f")?;
        Ok(match self.u.int_in_range(0..=4)? {
            0 => format!("setp.lt.u32 {to}, {NUMBER}, {};", self.u.int_in_range(0..=64)?),
            1 => format!("setp.ge.s32 {to}, {a}, {b};"),
            2 => format!("setp.ltu.f32 {to}, {f}, 0f3f800000;"),
            3 => format!("mov.pred {to}, {};", registers::one(self.u, "p")?),
            _ => format!("setp.ne.u32 {to}, {a}, {b};"),
        })
    }

    /// Returns an `if`.
    fn branch(&mut self, scope: Scope) -> Result<Node> {
        let end = self.label();
        let open = [self.compare(CONDITION)?, format!("@{CONDITION} bra {end};")];
        let body = self.body(scope.inner())?;
        Ok(Node::around(open, body, [format!("{end}:")]))
    }

    /// Returns an `if` with `else`.
    fn choice(&mut self, scope: Scope) -> Result<Node> {
        let (other, end) = (self.label(), self.label());
        let open = vec![self.compare(CONDITION)?, format!("@!{CONDITION} bra {other};")];
        let (first, second) = (self.body(scope.inner())?, self.body(scope.inner())?);
        let middle = vec![format!("bra.uni {end};"), format!("{other}:")];
        let close = vec![format!("{end}:")];
        let parts = [
            Part::Lines(open),
            Part::Body(first),
            Part::Lines(middle),
            Part::Body(second),
            Part::Lines(close),
        ];
        Ok(Node(parts.into()))
    }

    /// Returns a branch that all threads take or do not take.
    fn uniform_branch(&mut self, scope: Scope) -> Result<Node> {
        let end = self.label();
        let parameter = if self.in_function { "a0" } else { "p_word" };
        let open = [
            format!("ld.param.b32 %a0, [{parameter}];"),
            format!("setp.lt.u32 {CONDITION}, %a0, {:#x};", self.u.arbitrary::<u32>()?),
            format!("@{CONDITION} bra.uni {end};"),
        ];
        let body = self.body(Scope { depth: scope.depth + 1, ..scope })?;
        Ok(Node::around(open, body, [format!("{end}:")]))
    }

    /// Returns a loop that lanes leave one after the other, some in its middle.
    fn repeat(&mut self, scope: Scope) -> Result<Node> {
        let (again, end) = (self.label(), self.label());
        let counter = format!("%k{}", scope.depth);
        let open = vec![
            format!("and.b32 {counter}, {}, 3;", registers::one(self.u, "r")?),
            format!("{again}:"),
        ];
        let mut parts = vec![Part::Lines(open), Part::Body(self.body(scope.inner())?)];
        if self.u.arbitrary()? {
            parts.push(Part::Lines(vec![
                self.compare(CONDITION)?,
                format!("@{CONDITION} bra {end};"),
            ]));
            parts.push(Part::Body(self.body(scope.inner())?));
        }
        parts.push(Part::Lines(vec![
            format!("sub.s32 {counter}, {counter}, 1;"),
            format!("setp.ge.s32 {CONDITION}, {counter}, 0;"),
            format!("@{CONDITION} bra {again};"),
            format!("{end}:"),
        ]));
        Ok(Node(parts))
    }

    /// Returns a jump to one of a few places.
    fn table(&mut self, scope: Scope) -> Result<Node> {
        let (list, end) = (self.label(), self.label());
        let cases = [(); 4].map(|()| self.label());
        let open = vec![
            format!("{list}: .branchtargets {};", cases.join(", ")),
            format!("and.b32 {CHOSEN}, {}, 3;", registers::one(self.u, "r")?),
            format!("brx.idx {CHOSEN}, {list};"),
        ];
        let mut parts = vec![Part::Lines(open)];
        for case in &cases {
            parts.push(Part::Lines(vec![format!("{case}:")]));
            parts.push(Part::Body(self.body(scope.inner())?));
            // Some cases fall through.
            if self.u.ratio(3, 4)? {
                parts.push(Part::Lines(vec![format!("bra {end};")]));
            }
        }
        parts.push(Part::Lines(vec![format!("{end}:")]));
        Ok(Node(parts))
    }

    /// Returns a call, by name or by address.
    fn call(&mut self) -> Result<Node> {
        let function = self.u.int_in_range(self.first_function..=self.functions - 1)?;
        let (given, taken) = (registers::one(self.u, "r")?, registers::one(self.u, "r")?);
        let mut lines: Vec<String> = vec![
            "{".into(),
            ".param .b32 g0; .param .b64 g1; .param .b64 g2; .param .b64 g3; .param .b32 t0;"
                .into(),
        ];
        lines.push(format!("st.param.b32 [g0], {given};"));
        lines.extend(
            [TABLE, OWN, DATA]
                .iter()
                .zip(1..)
                .map(|(pointer, n)| format!("st.param.b64 [g{n}], {pointer};")),
        );
        if self.u.ratio(1, 3)? {
            let prototype = self.label();
            lines.push(format!(
                "{prototype}: .callprototype (.param .b32 _) _ (.param .b32 _, .param .b64 _, .param .b64 _, .param .b64 _);"
            ));
            lines.push(format!("mov.u64 %x0, f{function};"));
            lines.push(format!("call (t0), %x0, (g0, g1, g2, g3), {prototype};"));
        } else {
            lines.push(format!("call (t0), f{function}, (g0, g1, g2, g3);"));
        }
        lines.extend([format!("ld.param.b32 {taken}, [t0];"), "}".into()]);
        Ok(Node::lines(lines))
    }

    /// Returns a barrier that all threads of a block reach.
    pub(super) fn barrier(&mut self) -> Result<Node> {
        let (d, p, q) = (
            registers::one(self.u, "r")?,
            registers::one(self.u, "p")?,
            registers::one(self.u, "p")?,
        );
        Ok(Node::line(match self.u.int_in_range(0..=5)? {
            0 => format!("bar.red.popc.u32 {d}, 1, {q};"),
            1 => format!("bar.red.and.pred {p}, 2, !{q};"),
            2 => format!("bar.red.or.pred {p}, 0, {q};"),
            3 if self.version >= (6, 0) => "barrier.sync 3;".into(),
            _ => "bar.sync 0;".into(),
        }))
    }

    /// Returns code that allocates memory of a stack, stores to it and loads from it.
    fn alloca(&mut self) -> Result<Node> {
        let (d, r) = (registers::one(self.u, "d")?, registers::one(self.u, "r")?);
        let bytes = self.u.int_in_range(1..=8)? * 8;
        Ok(Node::lines([
            "stacksave.u64 %x0;".into(),
            format!("alloca.u64 %x1, {bytes}, 8;"),
            format!("st.local.b64 [%x1], {d};"),
            format!("ld.local.b32 {r}, [%x1+4];"),
            "stackrestore.u64 %x0;".into(),
        ]))
    }

    /// Ends some threads before other threads.
    fn early_end(&mut self) -> Result<Node> {
        let end = if self.in_function || self.u.arbitrary()? { "exit" } else { "ret" };
        Ok(Node::lines([self.compare(CONDITION)?, format!("@{CONDITION} {end};")]))
    }
}
