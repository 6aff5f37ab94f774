//! Whole random kernels of vISA: structured control flow that lanes diverge in, loops that lanes
//! leave one by one, jumps out of several bodies, jumps of whole warps, barriers, subroutines,
//! functions by name and by address, recursion, several warps and blocks.
//!
//! Instructions come from the table. At the end every thread stores what it computed.

use arbitrary::{Result, Unstructured};
use warploom_guest::platform::Platform;
use warploom_replay::manifest::{AddressMode, Arg, Filter, Sampler};

use super::images::{SURFACES, surface};
use super::launch::{PAYLOAD, row, ze_info};
use super::statement::Writer;
use super::variables::{self, CONDITION, with_used};
use crate::case::{
    Case, Given, MAX_DEPTH, MAX_NODES, OUT_BYTES, OWN_BYTES, buffers, effort, instruction_limit,
    manifest, u32_arg,
};
use crate::program::{Node, Part};

/// GPUs, and the lanes of a thread.
const TARGETS: [(Platform, u32); 10] = [
    (Platform::Dg2, 16),
    (Platform::Dg2, 32),
    (Platform::Dg2, 8),
    (Platform::Bmg, 16),
    (Platform::Bmg, 32),
    (Platform::Pvc, 32),
    (Platform::Pvc, 16),
    (Platform::Tgllp, 16),
    (Platform::Tgllp, 32),
    (Platform::Skl, 8),
];
const BLOCKS: [[u32; 3]; 8] =
    [[32, 1, 1], [16, 1, 1], [64, 1, 1], [40, 1, 1], [1, 1, 1], [16, 4, 1], [8, 5, 2], [33, 2, 1]];
const MAX_FUNCTIONS: u32 = 2;
/// The most statements of code without control flow.
const MAX_STRAIGHT: u32 = 40;
/// Choices for the number of operands of which one is any region of any variable; 0: no operand is.
const WILDNESS: [u32; 4] = [0, 32, 32, 6];
/// The most calls of a function to itself.
const RECURSION: u32 = 3;
/// The places of a function's arguments in `%arg`: its value, and the values that it needs to
/// access memory.
const GIVEN: [(&str, u32, bool); 10] = [
    ("V0", 0, true),
    ("OWN", 128, true),
    ("NUMBER", 384, true),
    ("DEPTH", 512, true),
    ("TABLE", 640, false),
    ("DATA", 648, false),
    ("HANDLE", 656, false),
    ("IMAGE", 664, false),
    ("PICTURE", 672, false),
    ("SAMPLER", 680, false),
];

/// The place of a node.
#[derive(Clone, Copy, Default)]
pub struct Scope {
    pub depth: u8,
    /// Whether not all warps of a block, or not all lanes of a warp, need be here.
    pub apart: bool,
}

impl Scope {
    /// Returns the scope of a body in this place.
    pub fn inner(self) -> Scope {
        Scope { depth: self.depth + 1, apart: true }
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
            body.push(writer.statement()?);
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
    let wildness = *u.choose(&WILDNESS)?;
    let mut writer = writer(u, target, independent);
    (writer.wildness, writer.functions) = (wildness, functions);
    let given = Given { blocks, block, limit, effort, word, seed };
    of_shape(writer, target.0, &given, write)
}

/// Returns a writer without functions and without wild operands.
pub(super) fn writer<'a, 'b>(
    u: &'a mut Unstructured<'b>,
    (platform, lanes): (Platform, u32),
    independent: bool,
) -> Writer<'a, 'b> {
    let register = platform.register_bytes();
    let (wildness, labels, nodes, functions, in_function) = (0, 0, MAX_NODES, 0, None);
    Writer {
        u,
        lanes,
        register,
        wildness,
        independent,
        labels,
        nodes,
        functions,
        first_function: 0,
        in_function,
        ends: vec![],
    }
}

/// Returns a launch of a kernel with this body and of the writer's functions.
pub(super) fn of_shape(
    mut writer: Writer<'_, '_>,
    platform: Platform,
    given: &Given,
    write: &mut dyn FnMut(&mut Writer<'_, '_>) -> Result<Vec<Node>>,
) -> Result<Case> {
    let &Given { blocks, block, limit, effort, word, seed } = given;
    let (lanes, register, independent, functions) =
        (writer.lanes, writer.register, writer.independent, writer.functions);
    let head = writer.head(block)?;
    let body = write(&mut writer)?;
    let head = with_used(
        head,
        &[Node::lines(variables::end(lanes)), Node(vec![Part::Body(body.clone())])],
    );
    let functions =
        (0..functions).map(|function| writer.function(function)).collect::<Result<Vec<_>>>()?;

    let threads = block.iter().product::<u32>();
    let mut manifest = manifest([blocks, 1, 1], block, limit);
    manifest.kernel.platform = Some(platform.name().into());
    manifest.kernel.entry = Some("k".into());
    manifest.args = ["out", "table", "own", "data"].map(|name| Arg::Buffer(name.into())).into();
    manifest.args.push(u32_arg(word));
    manifest.args.extend(SURFACES.map(|name| Arg::Surface(name.into())));
    let (filter, address) = (Filter::Linear, AddressMode::Repeat);
    manifest.args.push(Arg::Sampler(Sampler { filter, address, normalized: true }));
    manifest.buffers = buffers(blocks * threads, seed);
    manifest.surfaces = SURFACES.map(|name| (name.into(), surface(name))).into();
    let mut tail = variables::end(lanes);
    tail.push("ret (M1, 1)".into());
    Ok(Case {
        manifest,
        head,
        body,
        tail,
        functions,
        independent,
        effort,
        ze_info: Some(ze_info(lanes, register)),
    })
}

impl Writer<'_, '_> {
    pub(super) fn label(&mut self) -> String {
        self.labels += 1;
        format!("L{}", self.labels)
    }

    /// Returns directives, and lines that set pointers and all variables.
    fn head(&mut self, block: [u32; 3]) -> Result<Vec<String>> {
        let (lanes, register) = (self.lanes, self.register);
        let mut lines = vec![".version 4.2".into(), ".kernel \"k\"".into()];
        lines.extend(variables::declarations(lanes));
        lines.extend(passed());
        let row = row(lanes, register);
        for axis in 0..3 {
            lines.push(format!(".decl ID{axis} v_type=G type=uw num_elts={} align=GRF", row / 2));
            lines.push(format!(".input ID{axis} offset={} size={row}", register + axis * row));
        }
        for (name, at, size) in PAYLOAD {
            if name.starts_with('P') && name != "PICTURE" {
                lines.push(format!(".decl {name} v_type=G type=uq num_elts=1 align=qword"));
            }
            lines.push(format!(".input {name} offset={} size={size}", register + 3 * row + at));
        }
        lines.push(format!(".kernel_attr SimdSize={lanes}"));
        lines.push("or (M1_NM, 1) %cr0(0,0)<1> %cr0(0,0)<0;1,0> 0x4c0:ud".into());
        // The thread's number in its block, and in the grid.
        let [x, y, z] = block;
        let number = format!("(M1, {lanes}) NUMBERud(0,0)<1>");
        let before = "NUMBERud(0,0)<1;1,0>";
        lines.push(format!("mul {number} ID2(0,0)<1;1,0> {y:#x}:uw"));
        lines.push(format!("add {number} {before} ID1(0,0)<1;1,0>"));
        lines.push(format!("mul {number} {before} {x:#x}:uw"));
        lines.push(format!("add {number} {before} ID0(0,0)<1;1,0>"));
        lines.push(format!("mul (M1_NM, 1) CHOSENud(0,0)<1> %r0(0,1)<0;1,0> {:#x}:ud", x * y * z));
        lines.push(format!("add {number} {before} CHOSENud(0,0)<0;1,0>"));
        for (pointer, base, bytes) in [("OWN", "POWN", OWN_BYTES), ("OUT", "POUT", OUT_BYTES)] {
            lines.push(format!(
                "mul (M1, {lanes}) OFFud(0,0)<1> NUMBERud(0,0)<1;1,0> {bytes:#x}:ud"
            ));
            lines.push(format!("mov (M1, {lanes}) {pointer}uq(0,0)<1> OFFud(0,0)<1;1,0>"));
            lines.push(format!(
                "add (M1, {lanes}) {pointer}uq(0,0)<1> {pointer}uq(0,0)<1;1,0> {base}(0,0)<0;1,0>"
            ));
        }
        lines.push(format!("mov (M1, {lanes}) DEPTHud(0,0)<1> {RECURSION:#x}:ud"));
        lines.extend(variables::start(self.u, lanes, register)?);
        Ok(lines)
    }

    /// Returns a function. Its result depends on its arguments.
    fn function(&mut self, function: u32) -> Result<Node> {
        self.first_function = function + 1;
        self.in_function = Some(function);
        self.nodes += 8;
        self.ends.clear();
        let lanes = self.lanes;
        let mut open = vec![".version 4.2".into(), format!(".global_function \"f{function}\"")];
        open.extend(variables::declarations(lanes));
        open.extend(passed());
        open.push(format!(".kernel_attr SimdSize={lanes}"));
        open.push(".kernel_attr ArgSize=22".into());
        open.push(".kernel_attr RetValSize=4".into());
        for (name, _, each) in GIVEN {
            open.push(self.moved(name, &format!("G{name}"), each));
        }
        let rest: Vec<String> = variables::start(self.u, lanes, self.register)?;
        // The function sets its values itself, except for the value that it was given.
        open.extend(rest.into_iter().filter(|line| !line.contains(" V0")));
        let body = self.body(Scope { depth: 1, apart: true })?;
        let close = [
            format!("xor (M1, {lanes}) V0ud(0,0)<1> V0ud(0,0)<1;1,0> V1ud(0,0)<1;1,0>"),
            format!("add (M1, {lanes}) RESULT(0,0)<1> V0ud(0,0)<1;1,0> V2ud(0,0)<1;1,0>"),
            format!("fret (M1, {lanes})"),
        ];
        let close = Node::lines(close);
        let open = with_used(open, &[close.clone(), Node(vec![Part::Body(body.clone())])]);
        Ok(Node(vec![Part::Lines(open), Part::Body(body), Part::Body(vec![close])]))
    }

    /// Returns a move of an argument to or from a function.
    fn moved(&self, to: &str, from: &str, each: bool) -> String {
        let ty = if matches!(
            &to[usize::from(to.starts_with('G'))..],
            "V0" | "NUMBER" | "DEPTH" | "HANDLE"
        ) {
            "ud"
        } else {
            "uq"
        };
        let name = |name: &str| {
            if name.starts_with('G') { name.to_owned() } else { format!("{name}{ty}") }
        };
        let (to, from) = (name(to), name(from));
        match each {
            true => format!("mov (M1, {}) {to}(0,0)<1> {from}(0,0)<1;1,0>", self.lanes),
            false => format!("mov (M1_NM, 1) {to}(0,0)<1> {from}(0,0)<0;1,0>"),
        }
    }

    pub(super) fn body(&mut self, scope: Scope) -> Result<Vec<Node>> {
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
            6 if nests => self.table(scope),
            7 if nests => self.subroutine(scope),
            8 if !self.ends.is_empty() => self.leave(),
            9 if self.u.ratio(1, 6)? && self.in_function.is_none() => self.early_end(),
            9..=11 if self.first_function < self.functions || self.in_function.is_some() => {
                self.call()
            }
            12 | 13 if !scope.apart => self.barrier(),
            _ => self.statement(),
        }
    }

    /// Returns a call, by name or by address, of a function further on or of the function itself.
    fn call(&mut self) -> Result<Node> {
        let lanes = self.lanes;
        let deeper = match self.in_function {
            Some(function) if self.first_function >= self.functions || self.u.arbitrary()? => {
                Some(function)
            }
            _ => None,
        };
        let function = match deeper {
            Some(function) => function,
            None => self.u.int_in_range(self.first_function..=self.functions - 1)?,
        };
        let (given, taken) = (self.u.int_in_range(0..=7_u32)?, self.u.int_in_range(0..=7_u32)?);
        let mut lines: Vec<String> = GIVEN
            .iter()
            .map(|&(name, _, each)| self.moved(&format!("G{name}"), name, each))
            .collect();
        lines.push(format!("mov (M1, {lanes}) GV0(0,0)<1> V{given}ud(0,0)<1;1,0>"));
        let mut close = vec![];
        let mut exec = String::new();
        if deeper.is_some() {
            // Lanes that were deep enough do not call.
            let over = self.label();
            lines
                .push(format!("add (M1, {lanes}) GDEPTH(0,0)<1> DEPTHud(0,0)<1;1,0> 0xffffffff:d"));
            lines.push(format!("cmp.eq (M1, {lanes}) {CONDITION} DEPTHud(0,0)<1;1,0> 0x0:ud"));
            lines.push(self.branches(CONDITION, &over));
            close.push(format!("{over}:"));
        } else if self.u.ratio(1, 4)? {
            lines.push(self.compare(CONDITION)?);
            exec = format!("({CONDITION}) ");
        }
        if self.u.ratio(1, 3)? {
            lines.push(format!("faddr f{function} FUNCTIONuq(0,0)<1>"));
            lines.push(format!("{exec}ifcall (M1, {lanes}) FUNCTIONuq(0,0)<0;1,0> 22 4"));
        } else {
            lines.push(format!("{exec}fcall (M1, {lanes}) f{function} 22 4"));
        }
        lines.push(format!("mov (M1, {lanes}) V{taken}ud(0,0)<1> RESULT(0,0)<1;1,0>"));
        lines.extend(close);
        Ok(Node::lines(lines))
    }
}

/// Returns declarations of values that are passed to functions, and back.
fn passed() -> Vec<String> {
    let alias = |name: &str, bytes: u32, ty: &str, of: &str, at: u32| {
        format!(".decl {name} v_type=G type={ty} num_elts={bytes} align=GRF alias=<{of}, {at}>")
    };
    let given = GIVEN.iter().map(|&(name, at, each)| {
        let ty = if matches!(name, "V0" | "NUMBER" | "DEPTH" | "HANDLE") { "ud" } else { "uq" };
        alias(&format!("G{name}"), if each { 32 } else { 1 }, ty, "%arg", at)
    });
    given.chain([alias("RESULT", 32, "ud", "%retval", 0)]).collect()
}
