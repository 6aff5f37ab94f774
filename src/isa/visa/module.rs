//! [`Module`]: vISA that was read from text or from the binary form. Names are resolved, and
//! opcodes are rows of the table.

use rustc_hash::FxHashMap;
use warploom_guest::platform::Platform;

pub use super::instruction::*;
use super::predefined::{self, FIRST_PREDICATE, FIRST_SURFACE, FIRST_VARIABLE};
use super::types::{Align, Ty, Version};

/// Kernels and functions that were compiled together.
#[derive(Clone, Debug, Default)]
pub struct Module {
    pub routines: Vec<Routine>,
    /// None if the form does not name the platform, and the caller did not.
    pub platform: Option<Platform>,
    /// Functions whose address is in data. Only files with more than the code have data.
    pub in_data: Vec<String>,
}

/// The number of a variable. Numbers below [`FIRST_VARIABLE`] are predefined; 0 is `%null`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct VariableId(pub u32);
/// The number of a predicate, from 1 on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct PredicateId(pub u16);
/// Index into [`Routine::addresses`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct AddressId(pub u16);
/// The number of a surface. Numbers below [`FIRST_SURFACE`] are predefined.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SurfaceId(pub u8);
/// Index into [`Routine::samplers`], or [`predefined::BINDLESS_SAMPLER`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SamplerId(pub u8);
/// Index into [`Routine::labels`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct LabelId(pub u16);

impl VariableId {
    pub const NULL: VariableId = VariableId(0);
}

/// A kernel or a function that is compiled by itself.
#[derive(Clone, Debug)]
pub struct Routine {
    pub name: String,
    /// Whether it is a kernel; otherwise it is a function of stack calls.
    pub kernel: bool,
    pub version: Version,
    /// `.funcdecl`: the functions that are compiled with a kernel.
    pub declared: Vec<String>,
    /// The variables from [`FIRST_VARIABLE`] on.
    pub variables: Vec<Variable>,
    pub addresses: Vec<Named>,
    /// The predicates from [`FIRST_PREDICATE`] on.
    pub predicates: Vec<Named>,
    pub samplers: Vec<Named>,
    /// The surfaces from [`FIRST_SURFACE`] on.
    pub surfaces: Vec<Named>,
    pub labels: Vec<Label>,
    pub inputs: Vec<Input>,
    pub attributes: Vec<Attribute>,
    pub code: Vec<Instruction>,
    /// The options in a comment that ends the text.
    pub build_options: Option<String>,
    /// The parts that only the binary form has.
    pub binary: Option<BinaryParts>,
}

/// Parts of the binary form that have no meaning for execution.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct BinaryParts {
    /// All strings, in order.
    pub strings: Vec<String>,
    /// The numbers of registers that the arguments and the result of a function take.
    pub stack_registers: (u8, u8),
    /// The offset of the routine's code, in bytes from the start of the file.
    pub code_at: u32,
}

/// A variable: consecutive elements in a row of bytes.
#[derive(Clone, Debug, PartialEq)]
pub struct Variable {
    pub name: String,
    pub ty: Ty,
    pub elements: u32,
    pub align: Align,
    /// The variable of which this variable is an alias, and its first byte there.
    pub alias: Option<(VariableId, u32)>,
    pub attributes: Vec<Attribute>,
}

impl Variable {
    pub fn bytes(&self) -> u64 {
        u64::from(self.elements) * u64::from(self.ty.size())
    }
}

/// Names of a routine's variables. All names differ, because text tells variables apart by names
/// only.
#[derive(Default)]
pub(crate) struct UniqueNames {
    /// Every name that a variable has received so far, with the number of its uses.
    given: FxHashMap<String, u32>,
}

impl UniqueNames {
    /// Returns the name, or a similar name if a variable already has it.
    pub fn of(&mut self, name: &str) -> String {
        let mut unique = name.to_string();
        while self.given.contains_key(&unique) {
            let uses = self.given.entry(name.to_string()).or_insert(1);
            unique = format!("{name}${uses}");
            *uses += 1;
        }
        self.given.insert(unique.clone(), 1);
        unique
    }
}

/// An address variable, a predicate, a sampler or a surface.
#[derive(Clone, Debug, PartialEq)]
pub struct Named {
    pub name: String,
    pub elements: u32,
    pub attributes: Vec<Attribute>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Label {
    pub name: String,
    /// The kind: 0 for a block, 1 for a subroutine, other numbers as in the binary form.
    pub kind: u8,
    pub attributes: Vec<Attribute>,
}

impl Label {
    pub const BLOCK: u8 = 0;
    pub const SUBROUTINE: u8 = 1;
}

/// A value that a kernel starts with: bytes of the payload.
#[derive(Clone, Debug, PartialEq)]
pub struct Input {
    pub of: InputOf,
    /// The kind in `.implicit_...`: 1 LOCAL_SIZE, 2 GROUP_COUNT, 3 LOCAL_ID, 16 PSEUDO_INPUT; 0 if
    /// explicit.
    pub implicit: u8,
    /// The offset in bytes from the start of `%r0`.
    pub offset: i32,
    /// The size in bytes.
    pub size: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InputOf {
    Variable(VariableId),
    Sampler(SamplerId),
    Surface(SurfaceId),
}

/// An attribute, for example `SimdSize=16`.
#[derive(Clone, Debug, PartialEq)]
pub struct Attribute {
    pub name: String,
    pub value: Value,
    /// The bytes of a number in the binary form. 0 means as few as it takes.
    pub bytes: u8,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// The attribute has no value.
    Flag,
    Integer(i32),
    Text(String),
}

impl Routine {
    pub fn new(name: String, kernel: bool, version: Version) -> Routine {
        Routine {
            name,
            kernel,
            version,
            declared: vec![],
            variables: vec![],
            addresses: vec![],
            predicates: vec![],
            samplers: vec![],
            surfaces: vec![],
            labels: vec![],
            inputs: vec![],
            attributes: vec![],
            code: vec![],
            build_options: None,
            binary: None,
        }
    }

    /// Returns a declared variable; None if it is predefined.
    pub fn variable(&self, id: VariableId) -> Option<&Variable> {
        self.variables.get(id.0.checked_sub(FIRST_VARIABLE)? as usize)
    }

    pub fn variable_exists(&self, id: VariableId) -> bool {
        predefined::VARIABLES.get(id.0 as usize).is_some() || self.variable(id).is_some()
    }

    /// Returns the type of a variable's elements.
    pub fn ty(&self, id: VariableId) -> Ty {
        let predefined = || predefined::VARIABLES.get(id.0 as usize).map(|one| one.ty);
        self.variable(id).map(|one| one.ty).or_else(predefined).unwrap_or(Ty::Ud)
    }

    pub fn predicate(&self, id: PredicateId) -> Option<&Named> {
        self.predicates.get(id.0.checked_sub(FIRST_PREDICATE)? as usize)
    }

    /// Returns a declared surface; None if it is predefined.
    pub fn surface(&self, id: SurfaceId) -> Option<&Named> {
        self.surfaces.get(id.0.checked_sub(FIRST_SURFACE)? as usize)
    }

    /// Returns the number of an attribute, for example of `SimdSize`.
    pub fn attribute(&self, name: &str) -> Option<i32> {
        self.attributes.iter().find(|one| one.name == name).and_then(|one| match one.value {
            Value::Flag => Some(1),
            Value::Integer(number) => Some(number),
            Value::Text(_) => None,
        })
    }

    /// Returns the lanes of a thread; 1 if the routine does not state them.
    pub fn simd_size(&self) -> u32 {
        self.attribute("SimdSize").and_then(|size| u32::try_from(size).ok()).unwrap_or(1)
    }
}

impl Module {
    pub fn routine(&self, name: &str) -> Option<&Routine> {
        self.routines.iter().find(|one| one.name == name)
    }

    /// Returns the bytes of a register: the platform's, or else the size that the text implies.
    /// Facts, `visa.md` 3.
    pub fn register_bytes(&self) -> u32 {
        if let Some(platform) = self.platform {
            return platform.register_bytes();
        }
        let wide = |routine: &Routine| {
            let first = routine.inputs.iter().map(|input| input.offset).min();
            let r0 = |one: &Variable| {
                one.alias == Some((VariableId(7), 0)) && one.align == Align::Word32
            };
            routine.variables.iter().any(r0)
                || first.is_some_and(|offset| offset >= 64 && offset % 64 == 0)
        };
        if self.routines.iter().any(wide) { 64 } else { 32 }
    }
}
