//! Declarations of variables and registers. Facts, `ptx.md` 1.3.

use super::lexer::Kind;
use super::names::{Family, Lookup, Named};
use super::reader::{Reader, Result};
use super::special;
use crate::module::{FunctionId, Initial, Linkage, Variable, VariableId};
use crate::types::{Kind as TyKind, StateSpace, Ty};

/// The limit of an array's dimensions.
const MAX_DIMENSIONS: usize = 32;
/// The limit of an alignment, in bytes.
pub(super) const MAX_ALIGN: u64 = 1 << 16;

/// The words of a declaration in front of its names.
#[derive(Clone, Copy, Debug)]
pub(super) struct Shape {
    pub space: StateSpace,
    pub linkage: Linkage,
    pub managed: bool,
    pub align: Option<u32>,
    /// The elements of a vector: 1, 2 or 4.
    pub elements: u8,
    pub ty: Ty,
}

impl Shape {
    fn natural(&self) -> u32 {
        self.ty.bytes() * u32::from(self.elements)
    }

    pub fn alignment(&self) -> u32 {
        self.align.unwrap_or(self.natural())
    }
}

/// Returns the limit of a variable's bytes in a space.
fn limit(space: StateSpace) -> u64 {
    match space {
        StateSpace::Global => 1 << 40,
        _ => 1 << 24,
    }
}

impl<'a> Reader<'a> {
    /// Reads `.attribute(..)`, `.align`, the vector and the type.
    pub fn shape(&mut self, linkage: Linkage, space: StateSpace) -> Result<Shape> {
        let managed = self.take_word("attribute");
        if managed {
            self.attributes()?;
        }
        let align = self.align()?;
        let elements = match self.word() {
            "v2" => 2,
            "v4" => 4,
            _ => 1,
        };
        if elements > 1 {
            self.advance();
        }
        let at = self.token.at;
        let Some(ty) = Ty::from_name(self.word()).filter(|&ty| is_declared(ty)) else {
            return self.unexpected("the type of a variable");
        };
        self.advance();
        if ty == Ty::B128 {
            self.needs(at, "`.b128`", 70, (8, 3))?;
        }
        if u32::from(elements) * ty.bits() > 128
            || (elements > 1 && matches!(ty.kind(), TyKind::Pred | TyKind::Opaque))
        {
            return self.fail(at, format!("there are no vectors of {elements} `.{}`", ty.name()));
        }
        match (ty.kind(), space) {
            (TyKind::Pred, StateSpace::Reg) => {}
            (TyKind::Pred, _) => return self.fail(at, "`.pred` is for registers alone"),
            (TyKind::Opaque, StateSpace::Global | StateSpace::Param) => {}
            (TyKind::Opaque, _) => {
                return self.fail(at, format!("`.{}` is for `.global` and `.param`", ty.name()));
            }
            _ => {}
        }
        Ok(Shape { space, linkage, managed, align, elements, ty })
    }

    /// Reads `.align N`, if it is there.
    pub fn align(&mut self) -> Result<Option<u32>> {
        if !self.take_word("align") {
            return Ok(None);
        }
        let at = self.token.at;
        let align = self.literal("an alignment", MAX_ALIGN)?;
        match align.is_power_of_two() {
            true => Ok(Some(align as u32)),
            false => self.fail(at, format!("found the alignment {align}, expected a power of two")),
        }
    }

    /// Reads `(.managed)`.
    fn attributes(&mut self) -> Result<()> {
        self.expect(b'(', "`(`")?;
        loop {
            match self.word() {
                "managed" => {}
                "unified" => {
                    return self.fail(self.token.at, "`.unified` needs code that is linked later");
                }
                _ => return self.unexpected("`.managed`"),
            }
            self.advance();
            if !self.take(b',') {
                break;
            }
        }
        self.expect(b')', "`)`")
    }

    /// Reads variables of the module, from behind the state space.
    pub fn module_variables(&mut self, linkage: Linkage, space: StateSpace) -> Result<()> {
        let at = self.token.at;
        let version = self.module.version;
        match space {
            StateSpace::Reg if version < (3, 0) && linkage == Linkage::Local => {
                return self.module_registers();
            }
            StateSpace::Local if version < (3, 0) => {}
            StateSpace::Reg | StateSpace::Local | StateSpace::Param => {
                return self
                    .fail(at, "registers, local variables and parameters stand in functions");
            }
            StateSpace::Tex if version >= (1, 5) => {
                return self.fail(at, "`.tex` is of versions below 1.5");
            }
            _ => {}
        }
        if linkage == Linkage::Common && space != StateSpace::Global {
            return self.fail(at, "`.common` is for `.global`");
        }
        self.variables(linkage, space, None)
    }

    /// Reads variables of any space but that of registers, up to the `;`.
    pub fn variables(
        &mut self,
        linkage: Linkage,
        space: StateSpace,
        owner: Option<FunctionId>,
    ) -> Result<()> {
        if space == StateSpace::Const && self.is(b'[') {
            if self.module.version >= (2, 2) {
                return self.fail(self.token.at, "banks of `.const` are of versions below 2.2");
            }
            self.advance();
            self.literal("the number of a bank", 10)?;
            self.expect(b']', "`]`")?;
        }
        let mut shape = self.shape(linkage, space)?;
        if space == StateSpace::Tex {
            // Since 1.5 a texture reference is declared like this.
            shape = Shape { space: StateSpace::Global, ty: Ty::Texref, elements: 1, ..shape };
        }
        loop {
            self.variable(&shape, owner)?;
            if !self.take(b',') {
                return self.semicolon();
            }
        }
    }

    fn variable(&mut self, shape: &Shape, owner: Option<FunctionId>) -> Result<()> {
        let (name, at) = self.new_name()?;
        let count = self.count()?;
        let mut dimensions = self.dimensions()?;
        let initial = match self.take(b'=') {
            true => Some(self.initial(shape, &mut dimensions, at)?),
            false => None,
        };
        let size = self.size(shape, &dimensions, at)?;
        let of = |name: String| Variable {
            name,
            space: shape.space,
            linkage: shape.linkage,
            ty: shape.ty,
            size,
            align: shape.alignment(),
            managed: shape.managed,
            initial: initial.clone(),
            owner,
            at,
        };
        let Some(count) = count else { return self.declare_variable(name, of(name.to_string())) };
        if initial.is_some() {
            return self.fail(at, "variables by `<N>` have no initial content");
        }
        self.spend_names(at, count)?;
        let first = VariableId(self.module.variables.len() as u32);
        for number in 0..count {
            self.push_variable(of(format!("{name}{number}")))?;
        }
        match self.names.declare_family(name, Family::Variables(first), count) {
            true => Ok(()),
            false => self.fail(at, format!("`{name}<N>` are declared twice")),
        }
    }

    /// Reads `<count>` behind a name.
    pub fn count(&mut self) -> Result<Option<u64>> {
        if !self.take(b'<') {
            return Ok(None);
        }
        let count = self.literal("how many there are", u32::MAX.into())?;
        self.expect(b'>', "`>`")?;
        Ok(Some(count))
    }

    /// Reads dimensions like `[4][2]`. `[]`, which only the first may be, gives 0.
    pub fn dimensions(&mut self) -> Result<Vec<u64>> {
        let mut dimensions = vec![];
        while self.is(b'[') {
            let at = self.advance().at;
            if dimensions.len() == MAX_DIMENSIONS {
                return self.fail(at, format!("more than {MAX_DIMENSIONS} dimensions"));
            }
            if dimensions.is_empty() && self.take(b']') {
                dimensions.push(0);
                continue;
            }
            let at = self.token.at;
            let length = self.literal("the length of an array", u64::MAX)?;
            if length == 0 {
                return self.fail(at, "found an array of length 0, expected one of at least 1");
            }
            dimensions.push(length);
            self.expect(b']', "`]`")?;
        }
        Ok(dimensions)
    }

    /// Returns the bytes of a variable; 0 for `x[]`.
    fn size(&mut self, shape: &Shape, dimensions: &[u64], at: u32) -> Result<u64> {
        if dimensions.first() == Some(&0) && shape.linkage != Linkage::Extern {
            return self
                .fail(at, "an array without a length is `.extern` or has an initial content");
        }
        self.bytes(shape, dimensions, at)
    }

    pub fn bytes(&mut self, shape: &Shape, dimensions: &[u64], at: u32) -> Result<u64> {
        let size = dimensions
            .iter()
            .try_fold(u64::from(shape.natural()), |size, &length| size.checked_mul(length));
        let limit = limit(shape.space);
        match size.filter(|&size| size <= limit) {
            Some(size) => Ok(size),
            None => self.fail(at, format!("a variable of more than {limit} bytes")),
        }
    }

    /// Reads a name that is declared here.
    pub fn new_name(&mut self) -> Result<(&'a str, u32)> {
        let (name, at) = self.name("a name")?;
        if name == "WARP_SZ" || special::by_name(name).is_some() {
            return self.fail(at, format!("`{name}` may not be declared"));
        }
        Ok((name, at))
    }

    fn push_variable(&mut self, variable: Variable) -> Result<VariableId> {
        if self.names.declared_here(&variable.name).is_some() {
            return self.fail(variable.at, format!("`{}` is declared twice", variable.name));
        }
        let id = VariableId(self.module.variables.len() as u32);
        self.module.variables.push(variable);
        Ok(id)
    }

    /// Declares a variable, or joins it with its `.extern` declaration.
    fn declare_variable(&mut self, name: &'a str, variable: Variable) -> Result<()> {
        let at = variable.at;
        if let (Linkage::Extern, Some(_)) = (variable.linkage, &variable.initial) {
            return self.fail(at, format!("`{name}` is `.extern`, and has an initial content"));
        }
        let earlier = self.names.declared_here(name);
        let Some(Lookup::Name(Named::Variable(id))) = earlier else {
            let id = self.push_variable(variable)?;
            self.names.declare(name, Named::Variable(id));
            return Ok(());
        };
        let old = &mut self.module.variables[id.0 as usize];
        let external = |linkage| linkage == Linkage::Extern;
        let may_join = match (old.linkage, variable.linkage) {
            (a, b) if external(a) && external(b) => true,
            (a, b) => (external(a) || external(b)) && a != Linkage::Local && b != Linkage::Local,
        };
        if !may_join {
            return self.fail(at, format!("`{name}` is declared twice"));
        }
        if old.space != variable.space || old.ty != variable.ty {
            return self
                .fail(at, format!("`{name}` is declared with another type or state space before"));
        }
        if external(old.linkage) {
            *old = variable;
        }
        Ok(())
    }

    /// Reads registers, from behind `.reg` up to the `;`.
    pub fn registers(&mut self) -> Result<()> {
        let at = self.token.at;
        let shape = self.shape(Linkage::Local, StateSpace::Reg)?;
        if !shape.ty.is_register() || shape.managed {
            return self.fail(at, format!("there are no registers of `.{}`", shape.ty.name()));
        }
        loop {
            let (name, at) = self.new_name()?;
            if self.names.declared_here(name).is_some() {
                return self.fail(at, format!("`{name}` is declared twice"));
            }
            match self.count()? {
                Some(count) => {
                    let family = self.code.family(name, shape.ty, shape.elements);
                    if !self.names.declare_family(name, Family::Registers(family), count) {
                        return self.fail(at, format!("registers `{name}<N>` are declared twice"));
                    }
                }
                None => {
                    let first = self.code.register(name, shape.ty, shape.elements);
                    self.names.declare(name, Named::Register(first, shape.elements));
                }
            }
            if matches!(self.token.kind, Kind::Punct(b'[' | b'=')) {
                return self
                    .unexpected("`,` or `;`: registers are no arrays and have no initial content");
            }
            if !self.take(b',') {
                return self.semicolon();
            }
        }
    }

    /// Pads the initial content to a length.
    pub fn grow(&mut self, initial: &mut Initial, end: u64, at: u32) -> Result<()> {
        let more = end.saturating_sub(initial.bytes.len() as u64);
        match self.budget.initial.checked_sub(more) {
            Some(left) => self.budget.initial = left,
            None => {
                return self
                    .fail(at, "an initial content of many zeros, more than the text may ask for");
            }
        }
        if more > 0 {
            initial.bytes.resize(end as usize, 0);
        }
        Ok(())
    }
}

/// Whether a variable, parameter or register may be declared with a type.
fn is_declared(ty: Ty) -> bool {
    ty.is_register() || ty.kind() == TyKind::Opaque
}
