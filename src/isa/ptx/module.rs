//! [`Module`]: a PTX module that was read and checked, or several modules that were linked. Names
//! are resolved, and forms are entries of the table.

use std::sync::Arc;

use smallvec::SmallVec;

use super::parts::Part;
use super::table::Form;
use super::types::{StateSpace, Ty};

/// Index into [`Module::variables`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct VariableId(pub u32);
/// Index into [`Module::functions`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FunctionId(pub u32);
/// Index into [`Module::forms`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FormId(pub u32);
/// Index into [`Body::registers`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Register(pub u32);
/// Index into [`Body::labels`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct LabelId(pub u32);

/// `.target`: a GPU. `sm_90a` is 90 with the suffix `a`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Target {
    pub sm: u32,
    pub suffix: Option<char>,
}

impl Target {
    /// Returns whether a GPU takes code for this target: a later GPU, with the suffix `a` only this
    /// GPU, and with `f` this and later GPUs of the family.
    pub fn runs_on(self, sm: u32) -> bool {
        match self.suffix {
            Some('a') => sm == self.sm,
            Some(_) => sm >= self.sm && sm / 10 == self.sm / 10,
            None => sm >= self.sm,
        }
    }
}

/// A module. Its items are in the order of the text, or of the texts.
#[derive(Clone, Debug)]
pub struct Module {
    /// The text that the module was read from, or all texts one after the other. Places are byte
    /// offsets in this text.
    pub text: Arc<str>,
    /// The texts, in ascending order of their starts.
    pub parts: Vec<Part>,
    /// `.version`: major and minor.
    pub version: (u8, u8),
    pub target: Target,
    /// `.address_size`: 32 or 64.
    pub address_size: u8,
    /// Whether the text has `.address_size`. Before PTX 2.3 it cannot, and addresses may still have
    /// 64 bits.
    pub has_address_size: bool,
    /// `texmode_independent`.
    pub independent_textures: bool,
    /// The variables of the module and of all functions.
    pub variables: Vec<Variable>,
    pub functions: Vec<Function>,
    /// Each distinct mnemonic once.
    pub forms: Vec<Form>,
    /// `.file`: number and name.
    pub files: Vec<(u32, String)>,
}

/// The visibility of a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Linkage {
    /// Visible in this module alone.
    Local,
    Visible,
    Weak,
    /// Defined elsewhere.
    Extern,
    /// `.common`: the largest definition among all modules wins.
    Common,
}

/// A variable or a parameter, but not a register.
#[derive(Clone, Debug)]
pub struct Variable {
    pub name: String,
    pub space: StateSpace,
    pub linkage: Linkage,
    /// The type of an element.
    pub ty: Ty,
    /// Size in bytes; 0 for `x[]`, whose size the launch sets.
    pub size: u64,
    /// Alignment in bytes, a power of two.
    pub align: u32,
    /// `.attribute(.managed)`
    pub managed: bool,
    pub initial: Option<Initial>,
    /// The function that declares the variable in its body or as a parameter.
    pub owner: Option<FunctionId>,
    /// The place of the declaration.
    pub at: u32,
}

/// The initial content of a variable. Bytes past `bytes` are 0.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Initial {
    pub bytes: Vec<u8>,
    pub addresses: Vec<InitialAddress>,
    /// The sampler of a `.samplerref` or `.texref`, which has no bytes.
    pub sampler: Option<Sampler>,
}

/// How a texture is sampled: `{ addr_mode_0 = wrap, filter_mode = linear }`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sampler {
    /// Along x, y and z.
    pub address_modes: [AddressMode; 3],
    /// `filter_mode = linear`; otherwise the nearest texel.
    pub linear: bool,
    /// `force_unnormalized_coords`
    pub unnormalized: bool,
}

/// `addr_mode_0` to `addr_mode_2`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum AddressMode {
    #[default]
    Wrap,
    Mirror,
    ClampOgl,
    ClampToEdge,
    ClampToBorder,
}

impl AddressMode {
    pub const ALL: [AddressMode; 5] = [
        AddressMode::Wrap,
        AddressMode::Mirror,
        AddressMode::ClampOgl,
        AddressMode::ClampToEdge,
        AddressMode::ClampToBorder,
    ];

    pub const fn name(self) -> &'static str {
        match self {
            AddressMode::Wrap => "wrap",
            AddressMode::Mirror => "mirror",
            AddressMode::ClampOgl => "clamp_ogl",
            AddressMode::ClampToEdge => "clamp_to_edge",
            AddressMode::ClampToBorder => "clamp_to_border",
        }
    }

    pub fn from_name(name: &str) -> Option<AddressMode> {
        AddressMode::ALL.into_iter().find(|mode| mode.name() == name)
    }
}

/// An address in an initial content.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InitialAddress {
    /// Bytes from the start of the variable.
    pub offset: u64,
    pub of: AddressOf,
    /// `generic(x)`; otherwise the offset in the space of the named item.
    pub generic: bool,
    pub addend: i64,
    /// The bits of the address that are stored: the lowest bit, and the count in `bits`.
    /// `0xff00(x)` is bits 8 to 15; a whole address has 0 and 32 or 64.
    pub first_bit: u8,
    pub bits: u8,
}

/// An item that has an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum AddressOf {
    Variable(VariableId),
    Function(FunctionId),
}

/// A kernel or a device function.
#[derive(Clone, Debug)]
pub struct Function {
    pub name: String,
    /// `.entry`
    pub kernel: bool,
    pub linkage: Linkage,
    /// `.noreturn`
    pub noreturn: bool,
    pub inputs: Vec<Formal>,
    /// Return values of a device function.
    pub outputs: Vec<Formal>,
    /// The function that `.alias` makes this one a name of.
    pub alias: Option<FunctionId>,
    /// `.maxntid`, `.reqntid`: missing axes are 1.
    pub max_threads: Option<[u32; 3]>,
    pub required_threads: Option<[u32; 3]>,
    /// `.reqnctapercluster`
    pub required_cluster: Option<[u32; 3]>,
    /// `.explicitcluster` or `.reqnctapercluster`: the launch has clusters.
    pub explicit_cluster: bool,
    /// `None` if the function is only declared.
    pub body: Option<Body>,
    /// The place of the name.
    pub at: u32,
}

/// A parameter or return value of a function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Formal {
    Param(VariableId),
    /// `.reg`: a register of the body.
    Reg(Register, Ty),
}

/// The statements of a function.
#[derive(Clone, Debug, Default)]
pub struct Body {
    /// A vector register `.v4 .f32 %v` becomes four consecutive registers.
    pub registers: Vec<RegisterDecl>,
    pub statements: Vec<Statement>,
    pub labels: Vec<Label>,
    /// `.branchtargets`
    pub branch_targets: Vec<Vec<LabelId>>,
    /// `.calltargets`
    pub call_targets: Vec<Vec<FunctionId>>,
    /// `.callprototype`
    pub prototypes: Vec<Prototype>,
    /// `.loc`: source lines, each from the statement with this number on, in ascending order.
    pub lines: Vec<(u32, SourceLine)>,
    /// The place of the closing brace.
    pub end: u32,
}

#[derive(Clone, Debug)]
pub struct RegisterDecl {
    pub name: String,
    pub ty: Ty,
}

#[derive(Clone, Debug)]
pub struct Label {
    pub name: String,
    /// The number of the next statement; at the end of the body, the number of all statements.
    pub statement: u32,
}

/// Sizes and alignments in bytes of the parameters and return values of a `.callprototype`.
#[derive(Clone, Debug, Default)]
pub struct Prototype {
    pub inputs: Vec<(u64, u32)>,
    pub outputs: Vec<(u64, u32)>,
    pub noreturn: bool,
}

/// `.loc`: a file by its number in [`Module::files`], line and column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SourceLine {
    pub file: u32,
    pub line: u32,
    pub column: u32,
}

/// One instruction.
#[derive(Clone, Debug)]
pub struct Statement {
    /// Byte offset in the module's text of the guard or opcode.
    pub at: u32,
    pub guard: Option<Guard>,
    pub form: FormId,
    pub operands: Operands,
}

pub type Operands = SmallVec<[Operand; 4]>;

/// `@p` or `@!p`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Guard {
    pub register: Register,
    pub not: bool,
}

/// An operand as it is written. Operands are those of the form's pattern, in order; operands that
/// the form omits are absent.
#[derive(Clone, Debug, PartialEq)]
pub enum Operand {
    Register(Register),
    /// `!p`
    Not(Register),
    /// An integer constant (its low bits), or the bits of a float literal in its written format.
    Integer(u64),
    /// A float in decimal or hexadecimal digits.
    Float(Literal),
    Special(SpecialRegister),
    /// `_`
    Sink,
    /// `{a, b}`, or the elements of a vector register.
    Vector(Vec<Operand>),
    /// `p|q`: two destinations.
    Pair(Box<[Operand; 2]>),
    /// `[base + offset]`, or `base[offset]` with both in bytes.
    Address(Address),
    /// `[a, {x, y}]`, `[tex, sampler, {x, y}]`: the operands between the brackets.
    Bracket(Vec<Operand>),
    /// The address of a variable or function in its space, with an offset in bytes.
    Symbol(AddressOf, i64),
    Label(LabelId),
    /// Index into [`Body::branch_targets`].
    BranchTargets(u32),
    /// Index into [`Body::call_targets`].
    CallTargets(u32),
    /// Index into [`Body::prototypes`].
    Prototype(u32),
    /// `-a` of `vmad`.
    Negated(Register),
    /// `a.h1`, `a.b3210`: a register with the selector of a video instruction.
    Selected {
        register: Box<Operand>,
        negated: bool,
        selector: &'static str,
    },
    /// `(a, b)` of a call.
    List(Vec<Operand>),
}

/// A float literal.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Literal {
    /// `0f3f800000`
    F32(u32),
    /// `0d3ff0000000000000`
    F64(u64),
    Decimal(f64),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Address {
    pub base: Base,
    /// The bytes added to the base, or to `index`.
    pub offset: i64,
    /// `x[register]`
    pub index: Option<Register>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Base {
    None,
    Register(Register),
    Symbol(AddressOf),
}

/// A special register, with its component if the register is a vector.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SpecialRegister {
    Tid(u8),
    Ntid(u8),
    Ctaid(u8),
    Nctaid(u8),
    LaneId,
    WarpId,
    NWarpId,
    SmId,
    NSmId,
    GridId,
    /// %lanemask_eq, le, lt, ge, gt
    LaneMask(LaneRelation),
    Clock,
    ClockHi,
    Clock64,
    /// Nanoseconds: all bits, the low word, and the high word.
    GlobalTimer,
    GlobalTimerLo,
    GlobalTimerHi,
    /// A performance counter of 32 bits.
    Pm(u8),
    Pm64(u8),
    EnvReg(u8),
    DynamicSmemSize,
    TotalSmemSize,
    AggrSmemSize,
    /// begin, end, cap, 0, 1
    ReservedSmem(u8),
    IsExplicitCluster,
    ClusterId(u8),
    NClusterId(u8),
    ClusterCtaid(u8),
    ClusterNctaid(u8),
    ClusterCtaRank,
    ClusterNctaRank,
    CurrentGraphExec,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum LaneRelation {
    Eq,
    Le,
    Lt,
    Ge,
    Gt,
}

impl Module {
    pub fn form(&self, id: FormId) -> &Form {
        &self.forms[id.0 as usize]
    }

    pub fn variable(&self, id: VariableId) -> &Variable {
        &self.variables[id.0 as usize]
    }

    pub fn function(&self, id: FunctionId) -> &Function {
        &self.functions[id.0 as usize]
    }

    /// Returns the bytes of a function's local variables, for one lane.
    pub fn local_bytes(&self, id: FunctionId) -> u64 {
        let local = |variable: &&Variable| {
            variable.space == StateSpace::Local && variable.owner == Some(id)
        };
        self.variables.iter().filter(local).map(|variable| variable.size).sum()
    }
}

impl Body {
    /// Returns the source line of a statement.
    pub fn source_line(&self, statement: u32) -> Option<SourceLine> {
        let after = self.lines.partition_point(|&(first, _)| first <= statement);
        Some(self.lines[after.checked_sub(1)?].1)
    }
}
