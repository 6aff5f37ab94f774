//! The text form of functions. `parse` reads this form, and it round-trips.
//!
//! ```text
//! function = "function" STRING "lanes" N "nan" BITS BITS BITS    (f16, f32, f64)
//!            "{" bank* "active" reg block* "}"
//! bank     = "bank" NAME ":" kind "x" COUNT
//! kind     = "lane" type | "uniform" type | "mask" | "bytes" N
//! block    = bN ["pc" N] ["cost" N] ["indirect"] ["join" bM] ":"  inst*  terminator
//! inst     = [value {"," value} "="] op ["lanes" FIRST "+" COUNT] ["@" pc]
//! reg      = NAME "[" INDEX "]"
//! access   = "[" value ["+" N | "-" N] "]"
//! masking  = ["guard" value] ["nomask"]
//! ```
//!
//! A line holds one bank, block head, instruction or terminator; `#` starts a comment. The results
//! of a block are `v0, v1, ..` in order. The parser takes any name that starts with `v` for a value
//! and any name that starts with `b` for a block. The window is left out if it is the whole warp.
//! The pc is left out if it equals the pc of the previous instruction (for the first instruction,
//! of the block). Numbers are decimal or `0x` hexadecimal, and floats are their bits. The
//! operations, with `T` one of `i8`, `i16`, `i32`, `i64`, `f16`, `f32` and `f64`, or `mask` in
//! constants:
//!
//! ```text
//! const.T [-]BITS          splat a             lane.id      tid.x  ctaid.y  launch.mask  clock ...
//! neg a                    add a, b            sum, carry = add.carry a, b[, carry]
//! icmp.lt.s a, b           fcmp.ltu[.ftz] a, b select mask, a, b         uniform.select cond, a, b
//! trunc.T a                zext.T a            sext.T a    bitcast.T a  high.half a  concat lo, hi
//! from.mask a              to.mask a
//! fadd[.rz|.rd|.ru][.ftz][.sat] a, b           fma... a, b, c    fsqrt... a    fconvert.T... a
//! int.to.float.T.s[.rz] a  float.to.int.T.u[.rz][.ftz] a nan BITS        rcp a
//! lane.gather a, index     lane.read a, lane
//! rf.read reg              rf.read.lo reg      rf.write[.hi] reg, a masking
//! rf.gather NAME[FIRST; COUNT], index          rf.scatter NAME[FIRST; COUNT], index, a masking
//! region.read.T reg+OFFSET<V;W,H>              region.read.T.uniform ...
//! region.write reg+OFFSET<V;W,H>, a masking
//! load.SPACE.T[.xCOUNT][.signed|.unsigned][.sparse] access align N masking
//! store.SPACE.T[.xCOUNT][.sparse] access, a {, a} align N masking
//! atomic.SPACE.T.add[.sparse] access, a[, compare] align N masking
//! fence
//! ```
//!
//! Spaces are `generic`, `global`, `shared`, `local`, `const0` .. `const31`. Terminators:
//!
//! ```text
//! jump bN                  branch cond, bN, bM                   switch a, 1: bN, 2: bM, else bK
//! indirect a               barrier.popcount[.lanes] id [threads a] [predicate a] resume bN
//! exit                     lanes.exit|wait|poll resume bN                service.print a resume bN
//! dispatch [from a,] reg: bN, reg: bM, else bK
//! trap.guest PC            deadlock reg: PC, reg: PC
//! ```

use std::fmt::{self, Display, Formatter, Write};

use super::function::*;
use super::names::{Named, space_name};
use super::op::*;
use super::register::{Bank, BankId, CellKind, Part, Reg, Region};
use super::types::Window;

impl Display for Function {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let NanPolicy { f16, f32, f64 } = self.nan;
        writeln!(
            f,
            "function {:?} lanes {} nan {f16:#x} {f32:#x} {f64:#x} {{",
            self.name, self.lanes
        )?;
        for Bank { name, kind, count } in &self.banks {
            write!(f, "bank {name}: ")?;
            match kind {
                CellKind::Lane(ty) => write!(f, "lane {}", ty.name())?,
                CellKind::Uniform(ty) => write!(f, "uniform {}", ty.name())?,
                CellKind::Mask => f.write_str("mask")?,
                CellKind::Bytes(bytes) => write!(f, "bytes {bytes}")?,
            }
            writeln!(f, " x {count}")?;
        }
        writeln!(f, "active {}", RegOf(self, self.active))?;
        for (index, block) in self.blocks.iter().enumerate() {
            write_block(f, self, index, block)?;
        }
        f.write_str("}\n")
    }
}

fn write_block(
    f: &mut Formatter<'_>,
    function: &Function,
    index: usize,
    block: &Block,
) -> fmt::Result {
    write!(f, "\nb{index} pc {:#x}", block.pc)?;
    if block.cost != 0 {
        write!(f, " cost {}", block.cost)?;
    }
    if block.indirect_target {
        f.write_str(" indirect")?;
    }
    if let Some(join) = block.join {
        write!(f, " join {}", Name(join))?;
    }
    f.write_str(":\n")?;
    let mut pc = block.pc;
    for inst in &block.insts {
        write!(f, "  {}", InstOf { function, inst })?;
        if inst.pc != pc {
            write!(f, " @{:#x}", inst.pc)?;
            pc = inst.pc;
        }
        f.write_char('\n')?;
    }
    writeln!(f, "  {}", TermOf(function, &block.term))
}

/// One instruction of a function, as in the text form, without its pc.
pub struct InstOf<'a> {
    pub function: &'a Function,
    pub inst: &'a Inst,
}

impl Display for InstOf<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let Inst { op, results, window, .. } = self.inst;
        for (i, result) in results.iter().enumerate() {
            write!(f, "{}{}", if i == 0 { "" } else { ", " }, Name(*result))?;
        }
        if !results.is_empty() {
            f.write_str(" = ")?;
        }
        write_op(f, self.function, op)?;
        if *window != Window::all(self.function.lanes) {
            write!(f, " lanes {}+{}", window.first, window.count)?;
        }
        Ok(())
    }
}

/// A value or block, printed by its name.
struct Name<T>(T);

impl Display for Name<Value> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "v{}", self.0.0)
    }
}

impl Display for Name<BlockId> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "b{}", self.0.0)
    }
}

struct BankOf<'a>(&'a Function, BankId);

impl Display for BankOf<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self.0.banks.get(self.1.0 as usize) {
            Some(bank) => f.write_str(&bank.name),
            None => write!(f, "?{}", self.1.0),
        }
    }
}

struct RegOf<'a>(&'a Function, Reg);

impl Display for RegOf<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{}[{}]", BankOf(self.0, self.1.bank), self.1.index)
    }
}

impl Display for Region {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let Region { offset, vstride, width, hstride } = self;
        write!(f, "+{offset}<{vstride};{width},{hstride}>")
    }
}

impl Display for FloatAttrs {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        // Nearest is the default and is left out.
        if self.round != Round::Nearest {
            write!(f, ".{}", self.round.name_of())?;
        }
        f.write_str(if self.flush { ".ftz" } else { "" })?;
        f.write_str(if self.saturate { ".sat" } else { "" })
    }
}

/// ` a, b, c`
fn write_values(f: &mut Formatter<'_>, values: &[Value]) -> fmt::Result {
    for (i, value) in values.iter().enumerate() {
        write!(f, "{}{}", if i == 0 { " " } else { ", " }, Name(*value))?;
    }
    Ok(())
}

fn write_masking(f: &mut Formatter<'_>, guard: Option<Value>, nomask: bool) -> fmt::Result {
    if let Some(guard) = guard {
        write!(f, " guard {}", Name(guard))?;
    }
    f.write_str(if nomask { " nomask" } else { "" })
}

/// Writes the end of the mnemonic and the address; values, alignment and masking follow.
fn write_access(
    f: &mut Formatter<'_>,
    name: &str,
    access: &Access,
    suffix: &str,
    sparse: bool,
    values: &[Value],
) -> fmt::Result {
    let Access { space, ty, count, align, address, offset, guard, nomask } = *access;
    write!(f, "{name}.{}.{}", space_name(space), ty.name())?;
    if count != 1 {
        write!(f, ".x{count}")?;
    }
    write!(f, "{suffix}{} [{}", if sparse { ".sparse" } else { "" }, Name(address))?;
    if offset != 0 {
        write!(f, "{offset:+}")?;
    }
    f.write_char(']')?;
    for value in values {
        write!(f, ", {}", Name(*value))?;
    }
    write!(f, " align {align}")?;
    write_masking(f, guard, nomask)
}

/// The mnemonic of an operation whose text is only the mnemonic and operands; `None` for other
/// operations.
fn plain_mnemonic(op: &Op) -> Option<String> {
    Some(match *op {
        Op::Splat { .. } => "splat".into(),
        Op::LaneId => "lane.id".into(),
        Op::Special(special) => special.name_of().into(),
        Op::Unary { op, .. } => op.name_of().into(),
        Op::Binary { op, .. } => op.name_of().into(),
        Op::AddCarry { .. } => "add.carry".into(),
        Op::ICmp { cc, .. } => format!("icmp.{}", cc.name_of()),
        Op::FCmp { cc, flush, .. } => {
            format!("fcmp.{}{}", cc.name_of(), if flush { ".ftz" } else { "" })
        }
        Op::Select { .. } => "select".into(),
        Op::UniformSelect { .. } => "uniform.select".into(),
        Op::Convert { op, .. } if op.only_type().is_some() => op.name_of().into(),
        Op::Convert { op, to, .. } => format!("{}.{}", op.name_of(), to.name()),
        Op::Concat { .. } => "concat".into(),
        Op::FUnary { op, attrs, .. } => format!("{}{attrs}", op.name_of()),
        Op::FBinary { op, attrs, .. } => format!("{}{attrs}", op.name_of()),
        Op::Fma { attrs, .. } => format!("fma{attrs}"),
        Op::FConvert { to, attrs, .. } => format!("fconvert.{}{attrs}", to.name()),
        Op::IntToFloat { to, signed, round, .. } => {
            format!(
                "int.to.float.{}.{}{}",
                to.name(),
                sign(signed),
                FloatAttrs { round, ..FloatAttrs::IEEE }
            )
        }
        Op::Shared { function, .. } => function.name_of().into(),
        Op::LaneGather { .. } => "lane.gather".into(),
        Op::LaneRead { .. } => "lane.read".into(),
        Op::LaneScatter { .. } => "lane.scatter".into(),
        Op::Product { product, .. } => format!("product.{product}"),
        Op::Unpack { .. } => "unpack".into(),
        Op::Pack { .. } => "pack".into(),
        Op::Fence => "fence".into(),
        _ => return None,
    })
}

/// The name of a wide operation.
fn wide_mnemonic(op: WideOp) -> String {
    match op {
        WideOp::Copy => "wide.copy".into(),
        WideOp::Zero => "wide.zero".into(),
        WideOp::Exchange => "wide.exchange".into(),
        WideOp::CompareExchange => "wide.cas".into(),
        WideOp::Reduce { op, ty } => format!("wide.reduce.{}.{}", ty.name(), op.name_of()),
    }
}

fn sign(signed: bool) -> &'static str {
    if signed { "s" } else { "u" }
}

fn write_op(f: &mut Formatter<'_>, function: &Function, op: &Op) -> fmt::Result {
    let part = |part| match part {
        Part::Whole => "",
        Part::Lo => ".lo",
        Part::Hi => ".hi",
    };
    match *op {
        Op::Const { ty, bits } => write!(f, "const.{} {bits:#x}", ty.name()),
        Op::FloatToInt { to, signed, round, flush, nan, .. } => {
            let attrs = FloatAttrs { round, flush, saturate: false };
            write!(f, "float.to.int.{}.{}{attrs}", to.name(), sign(signed))?;
            write_values(f, &op.operands())?;
            write!(f, " nan {nan:#x}")
        }
        Op::RfRead { reg, part: p } => write!(f, "rf.read{} {}", part(p), RegOf(function, reg)),
        Op::RfWrite { reg, part: p, value, guard, nomask } => {
            write!(f, "rf.write{} {}, {}", part(p), RegOf(function, reg), Name(value))?;
            write_masking(f, guard, nomask)
        }
        Op::RfGather { bank, first, count, index } => {
            write!(f, "rf.gather {}[{first}; {count}], {}", BankOf(function, bank), Name(index))
        }
        Op::RfScatter { bank, first, count, index, value, guard, nomask } => {
            write!(f, "rf.scatter {}[{first}; {count}], ", BankOf(function, bank))?;
            write!(f, "{}, {}", Name(index), Name(value))?;
            write_masking(f, guard, nomask)
        }
        Op::RegionRead { reg, index, region, ty, uniform } => {
            let uniform = if uniform { ".uniform" } else { "" };
            write!(f, "region.read.{}{uniform} {}", ty.name(), RegOf(function, reg))?;
            write_region(f, index, region)
        }
        Op::RegionWrite { reg, index, region, value, guard, nomask } => {
            write!(f, "region.write {}", RegOf(function, reg))?;
            write_region(f, index, region)?;
            write!(f, ", {}", Name(value))?;
            write_masking(f, guard, nomask)
        }
        Op::Load { ref access, extend, sparse } => {
            let extend = match extend {
                Extend::None => "",
                Extend::Signed => ".signed",
                Extend::Unsigned => ".unsigned",
            };
            write_access(f, "load", access, extend, sparse, &[])
        }
        Op::Store { ref access, ref values, sparse } => {
            write_access(f, "store", access, "", sparse, values)
        }
        Op::Atomic { ref access, op, value, compare, sparse } => {
            let values: Vec<Value> = std::iter::once(value).chain(compare).collect();
            write_access(f, "atomic", access, &format!(".{}", op.name_of()), sparse, &values)
        }
        Op::Sample { operation, compare, image, sampler, args, guard, nomask, sparse } => {
            let suffix = |name: &'static str, holds: bool| if holds { name } else { "" };
            write!(
                f,
                "{}{}{}",
                operation.name_of(),
                suffix(".compare", compare),
                suffix(".sparse", sparse)
            )?;
            let operands: Vec<Value> = [image, sampler].into_iter().chain(args).collect();
            write_values(f, &operands)?;
            write_masking(f, guard, nomask)
        }
        Op::Wide { op, ref args, guard, nomask } => {
            f.write_str(&wide_mnemonic(op))?;
            write_values(f, args)?;
            write_masking(f, guard, nomask)
        }
        Op::Observe { site, ref args, guard, nomask } => {
            write!(f, "observe.{site}")?;
            write_values(f, args)?;
            write_masking(f, guard, nomask)
        }
        Op::Raise { fault, guard, nomask } => {
            write!(f, "raise.{}", fault.name_of())?;
            write_masking(f, guard, nomask)
        }
        _ => {
            f.write_str(&plain_mnemonic(op).unwrap_or_default())?;
            write_values(f, &op.operands())
        }
    }
}

/// Writes `[INDEX]+OFFSET<V;W,H>`, without the first part if the region is not indirect.
fn write_region(f: &mut Formatter<'_>, index: Option<Value>, region: Region) -> fmt::Result {
    if let Some(index) = index {
        write!(f, "[{}]", Name(index))?;
    }
    write!(f, "{region}")
}

/// A terminator, as in the text form.
pub struct TermOf<'a>(pub &'a Function, pub &'a Terminator);

impl Display for TermOf<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self.1 {
            Terminator::Jump(target) => write!(f, "jump {}", Name(*target)),
            Terminator::Branch { cond, then, otherwise } => {
                write!(f, "branch {}, {}, {}", Name(*cond), Name(*then), Name(*otherwise))
            }
            Terminator::Switch { value, cases, default } => {
                write!(f, "switch {}, ", Name(*value))?;
                for (case, target) in cases {
                    write!(f, "{case:#x}: {}, ", Name(*target))?;
                }
                write!(f, "else {}", Name(*default))
            }
            Terminator::Indirect { pc } => write!(f, "indirect {}", Name(*pc)),
            Terminator::Dispatch { places, from, otherwise } => {
                f.write_str("dispatch ")?;
                if let Some(from) = from {
                    write!(f, "from {}, ", Name(*from))?;
                }
                for (reg, target) in places {
                    write!(f, "{}: {}, ", RegOf(self.0, *reg), Name(*target))?;
                }
                write!(f, "else {}", Name(*otherwise))
            }
            Terminator::Lanes { event, resume } => {
                write!(f, "lanes.{} resume {}", event.name_of(), Name(*resume))
            }
            Terminator::Barrier {
                barrier: Barrier { kind, counts, id, threads, predicate },
                resume,
            } => {
                let counts = if *counts == BarrierCounts::Lanes { ".lanes" } else { "" };
                write!(f, "barrier.{}{counts} {}", kind.name_of(), Name(*id))?;
                if let Some(threads) = threads {
                    write!(f, " threads {}", Name(*threads))?;
                }
                if let Some(predicate) = predicate {
                    write!(f, " predicate {}", Name(*predicate))?;
                }
                write!(f, " resume {}", Name(*resume))
            }
            Terminator::Service { service, lanes, resume } => {
                write!(f, "service.{} {} resume {}", service.name_of(), Name(*lanes), Name(*resume))
            }
            Terminator::Exit => f.write_str("exit"),
            Terminator::Trap { kind, pc } => write!(f, "trap.{} {pc:#x}", kind.name_of()),
            Terminator::Deadlock { waiting } => {
                f.write_str("deadlock")?;
                for (i, (reg, pc)) in waiting.iter().enumerate() {
                    write!(
                        f,
                        "{}{}: {pc:#x}",
                        if i == 0 { " " } else { ", " },
                        RegOf(self.0, *reg)
                    )?;
                }
                Ok(())
            }
        }
    }
}
