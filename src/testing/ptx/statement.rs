//! One instruction from the table, with operands as the table has them.

use std::sync::LazyLock;

use arbitrary::{Result, Unstructured};
use warploom_ptx::module::Target;
use warploom_ptx::table::signature::{Count, Kind, Second, Signature, Space, Spec, Type};
use warploom_ptx::table::{Form, available, random};
use warploom_ptx::types::{StateSpace, Ty};
use warploom_ptx::word::Word;

use super::address::Access;
use super::registers::{self, MEMBERS, constant, of_type};
use crate::program::Node;

/// Names of control flow, and of instructions that wait for all threads of a block.
const CAREFUL: [&str; 12] = [
    "bra",
    "brx",
    "call",
    "ret",
    "exit",
    "trap",
    "brkpt",
    "alloca",
    "stacksave",
    "stackrestore",
    "bar",
    "barrier",
];

/// Opcodes that can stand anywhere.
pub(super) static ANYWHERE: LazyLock<Vec<&'static str>> = LazyLock::new(|| {
    let is_careful = |opcode: &&str| {
        let name = opcode.split('.').next().unwrap_or_default();
        CAREFUL.contains(&name) && *opcode != "bar.warp.sync"
    };
    random::executed().filter(|opcode| !is_careful(opcode)).collect()
});

/// Special registers whose content depends on the launch or the thread.
const SPECIAL: [&str; 14] = [
    "%tid.x",
    "%tid.y",
    "%ntid.x",
    "%ctaid.x",
    "%nctaid.x",
    "%laneid",
    "%warpid",
    "%lanemask_eq",
    "%lanemask_le",
    "%lanemask_lt",
    "%lanemask_ge",
    "%lanemask_gt",
    "%clock",
    "%envreg3",
];
/// The number of special registers, from the first on, that have 16 bits, too.
const SHORT: usize = 5;

pub struct Writer<'a, 'b> {
    pub u: &'a mut Unstructured<'b>,
    pub target: Target,
    pub version: (u8, u8),
    /// Whether addresses have 32 bits.
    pub narrow: bool,
    /// Whether blocks leave each other's memory alone.
    pub independent: bool,
    pub labels: u32,
    pub nodes: u32,
    /// The end of the numbers of functions that can still be called. They start at
    /// `first_function`, behind the function that is being written.
    pub functions: u32,
    pub first_function: u32,
    pub in_function: bool,
    /// Whether nothing is to fault.
    pub steady: bool,
}

/// Whether lanes of a warp work together.
pub fn is_of_warp(opcode: &str) -> bool {
    let name = opcode.split('.').next().unwrap_or_default();
    matches!(name, "shfl" | "vote" | "match" | "redux" | "elect") || opcode == "bar.warp.sync"
}

impl Writer<'_, '_> {
    /// Whether target and version have registers of 128 bits.
    pub fn is_wide(&self) -> bool {
        self.target.sm >= 70 && self.version >= (8, 3)
    }

    /// Returns a statement with the code that computes its addresses. In a divergent place, only
    /// the lanes that are there work together.
    pub fn statement(&mut self, divergent: bool) -> Result<Node> {
        for _ in 0..6 {
            let opcode = *self.u.choose(&ANYWHERE)?;
            if let Some(node) = self.of_opcode(opcode, divergent)? {
                return Ok(node);
            }
        }
        Ok(Node::line("add.u32 %r0, %r0, 1;"))
    }

    /// Returns a statement of this opcode, or none if the drawn form cannot be written.
    pub fn of_opcode(&mut self, opcode: &str, divergent: bool) -> Result<Option<Node>> {
        let mut below = |end: usize| self.u.int_in_range(0..=end - 1);
        let Some((mnemonic, form)) = random::draw(opcode, &mut below)? else { return Ok(None) };
        if available(&form, self.target, self.version).is_err() {
            return Ok(None);
        }
        // Forms with these words are in lines that are executed, but are not executed themselves. A
        // launch should mostly not end there.
        if form.one_of(&[Word::CpMask, Word::Oob, Word::Rs]).is_some()
            && (self.steady || self.u.ratio(7, 8)?)
        {
            return Ok(None);
        }
        let mut lines = Vec::new();
        let Some(operands) = self.operands(&form, divergent, &mut lines)? else { return Ok(None) };
        let guard = match self.u.ratio(1, 8)? && !is_of_warp(form.row.opcode) {
            true => format!(
                "@{}{} ",
                if self.u.arbitrary()? { "!" } else { "" },
                registers::one(self.u, "p")?
            ),
            false => String::new(),
        };
        let space = if operands.is_empty() { "" } else { " " };
        lines.push(format!("{guard}{mnemonic}{space}{};", operands.join(", ")));
        Ok(Some(Node::lines(lines)))
    }

    fn operands(
        &mut self,
        form: &Form,
        divergent: bool,
        lines: &mut Vec<String>,
    ) -> Result<Option<Vec<String>>> {
        let specs = match form.operands() {
            Signature::List(specs) => specs,
            Signature::Rule(rule) => return self.by_rule(*rule, form, lines),
        };
        let mut operands = Vec::new();
        let mut addresses = 0;
        let (mut optional_left, last) = (true, specs.len().saturating_sub(1));
        for (n, spec) in specs.iter().enumerate() {
            if !form.applies(spec.kind) {
                continue;
            }
            let has = spec
                .needs
                .is_none_or(|(sm, version)| self.target.sm >= sm && self.version >= version);
            // Optional operands that are present come before missing ones.
            if spec.optional && !(optional_left && has && self.u.arbitrary()?) {
                optional_left = false;
                continue;
            }
            let members = is_of_warp(form.row.opcode) && n == last && (form.has(Word::Sync));
            let operand = match spec.kind {
                _ if members => self.members(divergent, lines)?,
                Kind::Address | Kind::AddressIn(_) => {
                    let access = Access::of(form);
                    let space = match spec.kind {
                        Kind::AddressIn(Space::Shared) if access.shared => form.space(),
                        Kind::AddressIn(Space::Shared) => Some(StateSpace::Shared),
                        Kind::AddressIn(Space::Global) => Some(StateSpace::Global),
                        _ => form.space(),
                    };
                    addresses += 1;
                    if addresses > 3 {
                        return Ok(None);
                    }
                    self.address(space, access, addresses - 1, lines)?
                }
                Kind::Handle => self.handle(form)?,
                Kind::Texel => self.texel(form, lines)?,
                _ => self.operand(form, spec)?,
            };
            let Some(operand) = operand else { return Ok(None) };
            operands.push(operand);
        }
        Ok(Some(operands))
    }

    /// Returns the lanes of a warp that work together.
    fn members(&mut self, divergent: bool, lines: &mut Vec<String>) -> Result<Option<String>> {
        if !divergent {
            return Ok(Some("-1".into()));
        }
        if self.version < (6, 2) {
            return Ok(None);
        }
        lines.push(format!("activemask.b32 {MEMBERS};"));
        Ok(Some(MEMBERS.into()))
    }

    fn operand(&mut self, form: &Form, spec: &Spec) -> Result<Option<String>> {
        let Some(first) = self.first(form, spec)? else { return Ok(None) };
        let second = match spec.second {
            Second::No => return Ok(Some(first)),
            Second::Optional if self.u.arbitrary()? => return Ok(Some(first)),
            Second::Optional if self.u.ratio(1, 4)? => "_".into(),
            Second::Optional | Second::Required => registers::one(self.u, "p")?,
        };
        Ok(Some(format!("{first}|{second}")))
    }

    fn first(&mut self, form: &Form, spec: &Spec) -> Result<Option<String>> {
        let ty = form.operand_type(spec.ty);
        Ok(match spec.kind {
            Kind::Source if let Some(size) = self.size(form, spec)? => Some(size),
            Kind::Destination | Kind::Source | Kind::Register => return self.values(form, spec),
            Kind::PredicateDestination => Some(registers::one(self.u, "p")?),
            Kind::PredicateSource | Kind::Combined | Kind::CombinedRegister => {
                Some(self.predicate(spec.kind)?)
            }
            Kind::Immediate(low, high) => Some(self.immediate(form, low, high)?.to_string()),
            Kind::Policy => return of_type(self.u, Ty::B64, false),
            Kind::ClusterMask | Kind::ByteMask => return of_type(self.u, Ty::B16, false),
            Kind::Registers => Some((24 + 8 * self.u.int_in_range(0..=29_u32)?).to_string()),
            Kind::Sink => Some("_".into()),
            Kind::Converted
                if self.u.ratio(1, 8)? && ty.kind() != warploom_ptx::types::Kind::Float =>
            {
                return self.special(ty);
            }
            Kind::Converted => return self.source(ty, spec.wide),
            Kind::Named if self.u.arbitrary()? && form.space() == Some(StateSpace::Shared) => {
                Some("sh".into())
            }
            Kind::Named => return self.source(ty, false),
            _ => None,
        })
    }

    /// Returns a size of memory or a rank of a block, which not every number is.
    fn size(&mut self, form: &Form, spec: &Spec) -> Result<Option<String>> {
        let opcode = form.row.opcode;
        let size: &[u32] = match spec.ty {
            Type::Fixed(Ty::U32) if opcode.contains("async.bulk") => &[16, 32],
            Type::Fixed(Ty::U64) if opcode == "st.bulk" => &[8, 16, 32],
            Type::Fixed(Ty::U32) if opcode == "mapa" => &[0, 0, 0, 1],
            Type::Fixed(Ty::U32) if opcode == "mbarrier.init" => &[1, 2, 64],
            Type::Fixed(Ty::U32) if opcode.starts_with("wmma") => &[16],
            _ if opcode == "nanosleep" => &[20],
            _ => return Ok(None),
        };
        Ok(Some(self.u.choose(size)?.to_string()))
    }

    pub fn predicate(&mut self, kind: Kind) -> Result<String> {
        Ok(match self.u.int_in_range(0..=7)? {
            0 if kind != Kind::CombinedRegister => self.u.int_in_range(0..=1)?.to_string(),
            1 | 2 => format!("!{}", registers::one(self.u, "p")?),
            _ => registers::one(self.u, "p")?,
        })
    }

    fn immediate(&mut self, form: &Form, low: u64, high: u64) -> Result<u64> {
        if high == u64::MAX {
            return self.u.int_in_range(0..=255);
        }
        if form.row.opcode.contains("wait_group") {
            return self.u.int_in_range(0..=3);
        }
        self.u.int_in_range(low..=high)
    }

    /// Returns a special register of a type.
    pub fn special(&mut self, ty: Ty) -> Result<Option<String>> {
        Ok(match ty.bits() {
            32 => Some((*self.u.choose(&SPECIAL)?).to_owned()),
            16 => Some((*self.u.choose(&SPECIAL[..SHORT])?).to_owned()),
            64 => Some("%clock64".to_owned()),
            _ => None,
        })
    }

    /// Returns a register or a constant.
    pub fn source(&mut self, ty: Ty, wide: bool) -> Result<Option<String>> {
        if self.u.ratio(1, 4)? {
            let value = constant(self.u, ty)?;
            if value.is_some() {
                return Ok(value);
            }
        }
        of_type(self.u, ty, wide)
    }

    fn values(&mut self, form: &Form, spec: &Spec) -> Result<Option<String>> {
        let ty = form.operand_type(spec.ty);
        let (count, ty, braces) = match spec.count {
            Count::Fixed(count) => (count, ty, count > 1),
            Count::Vector => (form.vector(), ty, form.vector() > 1),
            Count::Matrices => (form.matrix_registers(), ty, true),
            Count::Fragment => {
                let (count, ty) = form.wmma_named();
                (count, ty, true)
            }
        };
        let mut all = Vec::with_capacity(count);
        for n in 0..count {
            let is_sink =
                spec.sink && spec.kind == Kind::Destination && n > 0 && self.u.ratio(1, 8)?;
            let one = match spec.kind {
                _ if is_sink => Some("_".into()),
                Kind::Source if spec.ty == Type::Byte && self.u.arbitrary()? => {
                    Some(self.u.int_in_range(0..=255)?.to_string())
                }
                Kind::Source if !matches!(spec.ty, Type::Address | Type::Byte) => {
                    self.source(ty, spec.wide)?
                }
                _ => of_type(self.u, ty, spec.wide)?,
            };
            let Some(one) = one else { return Ok(None) };
            all.push(one);
        }
        Ok(Some(if braces { format!("{{{}}}", all.join(", ")) } else { all.swap_remove(0) }))
    }
}
