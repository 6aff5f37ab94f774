//! Links several modules into one, as the linker of a driver does: [`link`].
//!
//! Source: facts, `ptx.md` 1.3 and 4. Where they leave a choice, this linker does the following:
//! - It takes the newest version and the highest target; each text was checked by its own. A module
//!   for sm_70 or later makes lanes of all functions independent.
//! - `.common` gives way to a `.visible` definition, and `.weak` gives way to both. Of several
//!   `.weak` definitions the first is taken.
//! - Kernels have names for the host: kernels without a linkage word count as `.visible`.
//! - An array of bytes may be declared for any type of the same size, as compilers declare
//!   structures.

mod renumber;
mod symbols;

use std::fmt;

use renumber::Numbers;
use rustc_hash::FxHashMap;
use warploom_guest::errors::one_a_line;

use super::module::{AddressOf, FormId, FunctionId, Module, Target, VariableId};
use super::parts::{Part, Position};
use super::types::Ty;
use super::word::Word;

/// One error of linking.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LinkError {
    /// The place of the error; `None` if it concerns modules as a whole.
    pub at: Option<Position>,
    /// The message. It names the other places of the error.
    pub message: String,
}

impl fmt::Display for LinkError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(at) = &self.at {
            write!(f, "{at}: ")?;
        }
        f.write_str(&self.message)
    }
}

/// Why modules were not linked: the first 20 errors.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LinkErrors {
    pub errors: Vec<LinkError>,
}

impl fmt::Display for LinkErrors {
    /// Writes one `module:line:column: message` a line.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        one_a_line(f, &self.errors)
    }
}

impl std::error::Error for LinkErrors {}

impl LinkErrors {
    fn of(message: String) -> LinkErrors {
        LinkErrors { errors: vec![LinkError { at: None, message }] }
    }
}

/// Links several modules into one.
///
/// The text of the result is all texts one after the other; [`Module::position`] finds the text
/// that holds a place. Functions that a driver provides stay undefined, as do functions that
/// nothing names.
///
/// # Errors
///
/// Names that are defined twice or nowhere, or that do not match their declaration; modules that
/// are incompatible.
pub fn link(mut modules: Vec<Module>) -> Result<Module, LinkErrors> {
    if modules.len() < 2 {
        return modules
            .pop()
            .ok_or_else(|| LinkErrors::of("found no module, expected one at least".into()));
    }
    check_heads(&modules)?;
    let starts = starts(&modules)?;
    for (module, number) in modules.iter_mut().zip(1..) {
        for part in module.parts.iter_mut().filter(|part| part.name.is_none()) {
            part.name = Some(format!("module {number}"));
        }
    }
    let resolved = symbols::resolve(&modules)?;
    let mut linked = empty(&modules, &starts);
    let mut forms = Forms::default();
    for (number, (module, &start)) in modules.iter().zip(&starts).enumerate() {
        let files = linked.files.len() as u32;
        let numbers = Numbers {
            functions: &resolved.functions[number],
            variables: &resolved.variables[number],
            forms: &forms.add(module, &mut linked),
            start,
            files: &module
                .files
                .iter()
                .zip(files + 1..)
                .map(|(&(old, _), new)| (old, new))
                .collect(),
        };
        linked.files.extend(
            module.files.iter().zip(files + 1..).map(|((_, name), new)| (new, name.clone())),
        );
        for (variable, id) in module.variables.iter().zip(0..) {
            if resolved.is_kept(number, AddressOf::Variable(VariableId(id))) {
                linked.variables.push(numbers.variable(variable));
            }
        }
        for (function, id) in module.functions.iter().zip(0..) {
            if resolved.is_kept(number, AddressOf::Function(FunctionId(id))) {
                linked.functions.push(numbers.function(function));
            }
        }
    }
    for (id, align) in resolved.aligned {
        let variable = &mut linked.variables[id.0 as usize];
        variable.align = variable.align.max(align);
    }
    Ok(linked)
}

/// Checks the properties that all modules must agree on.
fn check_heads(modules: &[Module]) -> Result<(), LinkErrors> {
    let name = |n: usize| {
        let name = modules[n].parts.first().and_then(|part| part.name.clone());
        name.unwrap_or_else(|| format!("module {}", n + 1))
    };
    let first = &modules[0];
    for (module, n) in modules.iter().zip(0..) {
        if module.address_size != first.address_size {
            let (a, b) = (first.address_size, module.address_size);
            let message = format!("{} has addresses of {a} bits, {} of {b}", name(0), name(n));
            return Err(LinkErrors::of(message));
        }
        if module.independent_textures != first.independent_textures {
            let mode = |module: &Module| {
                if module.independent_textures { "independent" } else { "unified" }
            };
            let (a, b) = (mode(first), mode(module));
            let message = format!("{} has textures of mode {a}, {} of mode {b}", name(0), name(n));
            return Err(LinkErrors::of(message));
        }
    }
    Ok(())
}

/// Returns where each text begins: at the start of a line.
fn starts(modules: &[Module]) -> Result<Vec<u32>, LinkErrors> {
    let mut end = 0_u64;
    let mut starts = vec![];
    for module in modules {
        starts.push(end as u32);
        end += module.text.len() as u64 + 1;
        if end >= u64::from(u32::MAX) {
            return Err(LinkErrors::of(format!(
                "{end} bytes of text, more than a module may have"
            )));
        }
    }
    Ok(starts)
}

/// Returns a module with all texts and no items.
fn empty(modules: &[Module], starts: &[u32]) -> Module {
    let mut text = String::new();
    let mut parts = vec![];
    for (module, start) in modules.iter().zip(starts) {
        text += &module.text;
        text.push('\n');
        parts.extend(
            module
                .parts
                .iter()
                .map(|part| Part { name: part.name.clone(), start: start + part.start }),
        );
    }
    let highest =
        modules.iter().map(|module| module.target).max_by_key(|target| (target.sm, target.suffix));
    Module {
        text: text.into(),
        parts,
        version: modules.iter().map(|module| module.version).max().unwrap_or_default(),
        target: highest.unwrap_or(Target { sm: 0, suffix: None }),
        address_size: modules[0].address_size,
        has_address_size: modules[0].has_address_size,
        independent_textures: modules[0].independent_textures,
        variables: vec![],
        functions: vec![],
        forms: vec![],
        files: vec![],
    }
}

/// Forms that the linked module already has.
#[derive(Default)]
struct Forms {
    known: FxHashMap<(&'static str, Vec<Word>, Vec<Ty>), FormId>,
}

impl Forms {
    /// Adds the forms of a module, and returns their numbers in the linked module.
    fn add(&mut self, module: &Module, linked: &mut Module) -> Vec<FormId> {
        let mut add = |form: &super::table::Form| {
            let key = (form.row.opcode, form.words.to_vec(), form.types.to_vec());
            *self.known.entry(key).or_insert_with(|| {
                // The linked module's target and version may lack the mnemonic as it is written.
                linked.forms.push(super::table::Form { written: None, ..form.clone() });
                FormId(linked.forms.len() as u32 - 1)
            })
        };
        module.forms.iter().map(&mut add).collect()
    }
}
