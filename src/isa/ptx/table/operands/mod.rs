//! Checks operands against a form. Facts, `ptx.md` 1.4 and 1.5.
//!
//! This file visits the operands of a form. [`value`] checks registers and constants, [`address`]
//! addresses. The other modules check instructions whose operands no list describes.

mod address;
mod matrix;
mod moves;
mod texture;
mod value;
mod video;

use super::Form;
use super::signature::{Count, Kind, Rule, Second, Signature, Space, Spec, Type};
use crate::module::{Body, Module, Operand};
use crate::types::{StateSpace, Ty};
use crate::word::Word;

/// The result of checking one operand: its error.
type Checked = Result<(), String>;
/// The result of checking all operands: an error, with the operand's number.
type AllChecked = Result<(), (usize, String)>;

/// The context that operands are checked against.
#[derive(Clone, Copy)]
struct Check<'a> {
    form: &'a Form,
    module: &'a Module,
    body: &'a Body,
}

/// Checks operands against a form. The error names the operand by its number, from 0 on.
pub fn check_operands(
    form: &Form,
    operands: &[Operand],
    module: &Module,
    body: &Body,
) -> AllChecked {
    let check = Check { form, module, body };
    match &form.row.operands {
        Signature::List(specs) => check.list(specs, operands),
        Signature::Rule(rule) => check.rule(*rule, operands),
    }
}

/// Returns a function that adds the operand's number to an error.
fn at(n: usize) -> impl Fn(String) -> (usize, String) {
    move |message| (n, message)
}

impl Form {
    /// Whether a form with these modifiers has an operand of this kind.
    pub fn applies(&self, kind: Kind) -> bool {
        match kind {
            Kind::Policy => self.has(Word::L2CacheHint),
            Kind::ClusterMask => self.has(Word::Multicast),
            Kind::ByteMask => self.has(Word::CpMask),
            Kind::Offsets => {
                self.one_of(&[Word::Im2col, Word::Im2colW, Word::Im2colW128]).is_some()
            }
            Kind::Combined | Kind::CombinedRegister => {
                self.one_of(&[Word::And, Word::Or, Word::Xor]).is_some()
            }
            _ => true,
        }
    }

    /// Returns the type of an operand.
    pub fn operand_type(&self, ty: Type) -> Ty {
        match ty {
            Type::Of(n) => self.ty(n),
            Type::Fixed(ty) => ty,
            Type::Byte => Ty::U32,
            Type::Address => Ty::B64,
            Type::Double => match self.ty(0) {
                Ty::S16 => Ty::S32,
                Ty::U16 => Ty::U32,
                Ty::S32 => Ty::S64,
                _ => Ty::U64,
            },
        }
    }
}

impl Check<'_> {
    fn rule(&self, rule: Rule, operands: &[Operand]) -> AllChecked {
        match rule {
            Rule::Mov => self.mov(operands),
            Rule::Call => self.call(operands),
            Rule::Texture => self.texture(operands),
            Rule::Mma => self.mma(operands),
            Rule::SparseMma => self.sparse_mma(operands),
            Rule::ScaledMma => self.scaled_mma(operands),
            Rule::Wmma => self.wmma(operands),
            Rule::Wgmma => self.wgmma(operands),
            Rule::Video => self.video(operands),
            Rule::VideoMad => self.video_mad(operands),
            Rule::VideoSimd => self.video_simd(operands),
            Rule::Copy => self.copy(operands),
            Rule::Tcgen05 => self.tcgen05(operands),
        }
    }

    /// Checks that the number of operands lies in a range.
    fn count(&self, operands: &[Operand], least: usize, most: usize) -> AllChecked {
        let count = operands.len();
        if (least..=most).contains(&count) {
            return Ok(());
        }
        let takes = if least == most { least.to_string() } else { format!("{least} to {most}") };
        Err((count.min(most), format!("found {count} operands, expected {takes}")))
    }

    fn list(&self, specs: &[Spec], operands: &[Operand]) -> AllChecked {
        let here = |spec: &&Spec| self.form.applies(spec.kind);
        let most = specs.iter().filter(here).count();
        let least = specs.iter().filter(here).filter(|spec| !spec.optional).count();
        self.count(operands, least, most)?;
        let mut extra = operands.len() - least;
        let mut n = 0;
        for spec in specs.iter().filter(here) {
            if spec.optional {
                if extra == 0 {
                    continue;
                }
                extra -= 1;
            }
            self.spec(spec, &operands[n]).map_err(at(n))?;
            n += 1;
        }
        Ok(())
    }

    /// Checks that target and version are at least these.
    fn needs(&self, sm: u32, (major, minor): (u8, u8), what: &str) -> Checked {
        match self.module.target.sm >= sm && self.module.version >= (major, minor) {
            true => Ok(()),
            false => Err(format!("{what} needs sm_{sm} and PTX {major}.{minor}")),
        }
    }

    fn spec(&self, spec: &Spec, operand: &Operand) -> Checked {
        if let Some((sm, version)) = spec.needs {
            self.needs(sm, version, "this operand")?;
        }
        let operand = match (operand, spec.second) {
            (Operand::Pair(_), Second::No) => {
                return Err("found a second destination, which this form does not take".into());
            }
            (Operand::Pair(pair), Second::Required) if pair[1] == Operand::Sink => {
                return Err("found `_`, expected a predicate register behind `|`".into());
            }
            (Operand::Pair(pair), _) => {
                self.predicate_destination(&pair[1])?;
                &pair[0]
            }
            (_, Second::Required) => {
                return Err("found one destination, expected two: `d|p`".into());
            }
            _ => operand,
        };
        let ty = self.form.operand_type(spec.ty);
        match spec.kind {
            Kind::Destination | Kind::Source | Kind::Register => self.values(spec, operand),
            Kind::PredicateDestination => self.predicate_destination(operand),
            Kind::CombinedRegister if matches!(operand, Operand::Integer(_)) => {
                Err("found a constant, expected a predicate register".into())
            }
            Kind::PredicateSource | Kind::Combined | Kind::CombinedRegister => {
                self.predicate_source(operand)
            }
            Kind::Immediate(low, high) => self.immediate(operand, low, high),
            Kind::Address => self.address(operand, self.space()),
            Kind::AddressIn(Space::Shared) => self.address(operand, Some(StateSpace::Shared)),
            Kind::AddressIn(Space::Global) => self.address(operand, Some(StateSpace::Global)),
            Kind::Policy => self.source(operand, Ty::B64, false),
            Kind::ClusterMask | Kind::ByteMask => self.source(operand, Ty::B16, false),
            Kind::Offsets => self.offsets(operand),
            Kind::Tensor => self.tensor(operand),
            Kind::Barrier => self.barrier(operand),
            Kind::Threads => self.threads(operand),
            Kind::Registers => self.register_count(operand),
            Kind::Handle => self.handle(operand),
            Kind::Texel => self.texel(operand),
            Kind::Label => match operand {
                Operand::Label(_) => Ok(()),
                _ => Err("found no label, expected one".into()),
            },
            Kind::BranchTargets => match operand {
                Operand::BranchTargets(_) => Ok(()),
                _ => Err("found no list of branch targets, expected one".into()),
            },
            Kind::Sink if *operand == Operand::Sink => Ok(()),
            Kind::Sink => Err("expected `_`".into()),
            Kind::Converted => match *operand {
                Operand::Special(special) => moves::special_fits(special, ty),
                _ => self.source(operand, ty, spec.wide),
            },
            Kind::Named => match *operand {
                Operand::Symbol(of, _) => self.named(of, self.space()),
                _ => self.source(operand, ty, false),
            },
            Kind::TensorRegisters => self.tensor_registers(operand),
        }
    }

    /// Checks registers or constants, as many as the operand has.
    fn values(&self, spec: &Spec, operand: &Operand) -> Checked {
        let ty = self.form.operand_type(spec.ty);
        let one = |operand: &Operand| match spec.kind {
            Kind::Destination if spec.sink && *operand == Operand::Sink => Ok(()),
            Kind::Source if spec.sink && *operand == Operand::Sink && self.may_skip() => Ok(()),
            Kind::Destination => self.destination(operand, ty, spec.wide),
            Kind::Register => self.register_only(operand, ty, spec.wide),
            _ if spec.ty == Type::Byte => self.byte(operand),
            _ if spec.ty == Type::Address => self.either_width(operand),
            _ => self.source(operand, ty, spec.wide),
        };
        let (count, braces) = match spec.count {
            Count::Fixed(count) => (count, count > 1),
            Count::Vector => (self.form.vector(), self.form.vector() > 1),
            Count::Matrices => (self.form.matrix_registers(), true),
            Count::Fragment => return self.fragment(operand, spec.kind == Kind::Destination),
        };
        match operand {
            // One element may also stand in braces: compilers write `ld.b32 {%r1}, ..`.
            Operand::Vector(all)
                if all.len() == count && (braces || spec.count == Count::Vector) =>
            {
                if spec.sink && all.iter().all(|operand| *operand == Operand::Sink) {
                    return Err("found a vector of sinks alone".into());
                }
                all.iter().try_for_each(one)
            }
            Operand::Vector(all) => Err(format!("found {} elements, expected {count}", all.len())),
            Operand::Sink if spec.sink && spec.kind == Kind::Destination && !self.is_load() => {
                match self.form.row.opcode == "mbarrier.arrive" {
                    true => self.needs(80, (7, 1), "`_`"),
                    false => Ok(()),
                }
            }
            Operand::Sink => Err("found `_`, which this form does not take".into()),
            _ if braces => Err(format!("found no braces, expected {count} elements")),
            _ => one(operand),
        }
    }

    /// Whether a store may leave out elements of the vector.
    fn may_skip(&self) -> bool {
        self.form.vector() == 8 || self.form.vector() == 4 && self.form.ty(0).bits() == 64
    }

    /// Whether the form is a load. A load must write something: only some elements may be sinks.
    fn is_load(&self) -> bool {
        matches!(self.form.row.opcode, "ld" | "ldu" | "suld.b")
    }

    fn call(&self, operands: &[Operand]) -> AllChecked {
        self.count(operands, 3, 4)?;
        match &operands[1] {
            Operand::Register(register) => {
                self.register(*register, Ty::B64, false)
                    .or_else(|_| self.register(*register, Ty::B32, false))
                    .map_err(at(1))?;
                self.count(operands, 4, 4)
            }
            _ => Ok(()),
        }
    }

    /// Checks `cp.async`: the size, then the bytes that the source has, or whether it is ignored.
    fn copy(&self, operands: &[Operand]) -> AllChecked {
        let hint = usize::from(self.form.has(Word::L2CacheHint));
        self.count(operands, 3 + hint, 4 + hint)?;
        self.address(&operands[0], Some(StateSpace::Shared)).map_err(at(0))?;
        self.address(&operands[1], Some(StateSpace::Global)).map_err(at(1))?;
        match operands[2] {
            Operand::Integer(16) => {}
            Operand::Integer(4 | 8) if !self.form.has(Word::Cg) => {}
            _ if self.form.has(Word::Cg) => return Err((2, "expected a size of 16".into())),
            _ => return Err((2, "expected a size of 4, 8 or 16".into())),
        }
        if operands.len() == 4 + hint {
            let ignore = self.predicate_source(&operands[3]).is_ok()
                && !matches!(operands[3], Operand::Integer(_));
            if !ignore {
                self.source(&operands[3], Ty::U32, false).map_err(at(3))?;
            } else if self.module.version < (7, 5) {
                return Err((3, "a predicate needs PTX 7.5".into()));
            }
        }
        match hint {
            1 => self
                .source(&operands[operands.len() - 1], Ty::B64, false)
                .map_err(at(operands.len() - 1)),
            _ => Ok(()),
        }
    }
}
