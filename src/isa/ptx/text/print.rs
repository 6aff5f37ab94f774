//! Writes a module as text that reads back as the same module. Places, comments, hints and scopes
//! of the original text are lost; names that occur twice in a function get numbers.

use std::fmt::Write;

use rustc_hash::FxHashSet;

use super::print_code::{Naming, operand_symbols};
use crate::module::{
    AddressOf, Formal, Function, FunctionId, Initial, InitialAddress, Linkage, Module, Sampler,
    Variable, VariableId,
};
use crate::types::{Kind, Ty};

/// Returns the text of a module.
pub fn print(module: &Module) -> String {
    let mut printer = Printer::new(module);
    printer.head();
    printer.items();
    for function in &module.functions {
        if let Some(of) = function.alias {
            let _ =
                writeln!(printer.out, ".alias {}, {};", function.name, module.function(of).name);
        }
    }
    for (number, name) in &module.files {
        let _ = writeln!(printer.out, ".file {number} \"{name}\"");
    }
    printer.out
}

/// The numbers of declarations that a body needs in front of it.
#[derive(Clone, Copy, Default)]
struct Needs {
    /// The number of functions that must be declared.
    functions: usize,
    variables: usize,
}

/// The state of printing. Functions and variables are written in an order that restores their
/// numbers.
struct Printer<'m> {
    module: &'m Module,
    out: String,
    /// Names of the module.
    taken: FxHashSet<String>,
    /// Variables of each function's body; their numbers are consecutive.
    own: Vec<Vec<VariableId>>,
    needs: Vec<Needs>,
    /// The number of functions that are declared so far: the first ones.
    declared: usize,
    defined: Vec<bool>,
    /// The number of variables that are declared so far: the first ones.
    variables: usize,
}

fn is_formal(function: &Function, id: VariableId) -> bool {
    function.inputs.iter().chain(&function.outputs).any(|&formal| formal == Formal::Param(id))
}

fn needs(module: &Module, function: &Function, own: &[VariableId]) -> Needs {
    let mut needs = Needs::default();
    let mut name = |of: AddressOf| match of {
        AddressOf::Function(id) => needs.functions = needs.functions.max(id.0 as usize + 1),
        AddressOf::Variable(id) if module.variable(id).owner.is_none() => {
            needs.variables = needs.variables.max(id.0 as usize + 1);
        }
        AddressOf::Variable(_) => {}
    };
    if let Some(body) = &function.body {
        for statement in &body.statements {
            statement.operands.iter().for_each(|operand| operand_symbols(operand, &mut name));
        }
        body.call_targets.iter().flatten().for_each(|&id| name(AddressOf::Function(id)));
    }
    for &id in own {
        let addresses = module.variable(id).initial.iter().flat_map(|initial| &initial.addresses);
        addresses.for_each(|address| name(address.of));
    }
    needs
}

impl<'m> Printer<'m> {
    fn new(module: &'m Module) -> Printer<'m> {
        let mut taken: FxHashSet<String> =
            module.functions.iter().map(|function| function.name.clone()).collect();
        let mut own = vec![vec![]; module.functions.len()];
        for (variable, id) in module.variables.iter().zip(0..) {
            let id = VariableId(id);
            match variable.owner {
                None => {
                    taken.insert(variable.name.clone());
                }
                Some(owner) if is_formal(module.function(owner), id) => {}
                Some(owner) => own[owner.0 as usize].push(id),
            }
        }
        let needs = module
            .functions
            .iter()
            .zip(&own)
            .map(|(function, own)| needs(module, function, own))
            .collect();
        let defined = vec![false; module.functions.len()];
        Printer {
            module,
            out: String::new(),
            taken,
            own,
            needs,
            declared: 0,
            defined,
            variables: 0,
        }
    }

    fn head(&mut self) {
        let module = self.module;
        let (major, minor) = module.version;
        let _ = writeln!(self.out, ".version {major}.{minor}");
        let _ = write!(self.out, ".target sm_{}", module.target.sm);
        self.out.extend(module.target.suffix);
        if module.independent_textures {
            self.out += ", texmode_independent";
        }
        self.out += "\n";
        if module.has_address_size {
            let _ = writeln!(self.out, ".address_size {}", module.address_size);
        }
        self.out += "\n";
    }

    fn items(&mut self) {
        while let Some(variable) = self.module.variables.get(self.variables) {
            let id = VariableId(self.variables as u32);
            match variable.owner {
                None => {
                    for address in variable.initial.iter().flat_map(|initial| &initial.addresses) {
                        if let AddressOf::Function(of) = address.of {
                            self.declare(of.0 as usize + 1);
                        }
                    }
                    self.variables += 1;
                    let name = |of: AddressOf| symbol(self.module, of);
                    self.out += &variable_text(variable, &variable.name, &name);
                    self.out.push('\n');
                }
                Some(owner) => {
                    let number = owner.0 as usize;
                    self.declare(number + 1);
                    if !is_formal(self.module.function(owner), id) && !self.defined[number] {
                        self.define(number);
                    }
                }
            }
        }
        self.declare(self.module.functions.len());
        for number in 0..self.module.functions.len() {
            if self.module.functions[number].body.is_some() && !self.defined[number] {
                self.define(number);
            }
        }
    }

    /// Declares functions until there are `count`, and defines functions whose needs are met.
    fn declare(&mut self, count: usize) {
        while self.declared < count {
            let number = self.declared;
            let function = &self.module.functions[number];
            let params = |formals: &[Formal]| {
                formals.iter().filter(|formal| matches!(formal, Formal::Param(_))).count()
            };
            let after = self.variables + params(&function.inputs) + params(&function.outputs);
            let own = self.own[number].first();
            let in_order = own.is_none_or(|first| first.0 as usize == after);
            let Needs { functions, variables } = self.needs[number];
            self.declared += 1;
            self.variables = after;
            if function.body.is_some() && in_order && functions <= number + 1 && variables <= after
            {
                self.define(number);
            } else {
                self.function_head(number);
                self.out += ";\n\n";
            }
        }
    }

    fn define(&mut self, number: usize) {
        self.declare(self.needs[number].functions);
        self.defined[number] = true;
        self.variables += self.own[number].len();
        let naming = self.function_head(number);
        self.out += "\n{\n";
        for &id in &self.own[number] {
            let name = |of: AddressOf| naming.symbol(of);
            let text = variable_text(
                self.module.variable(id),
                &naming.symbol(AddressOf::Variable(id)),
                &name,
            );
            let _ = writeln!(self.out, "\t{text}");
        }
        naming.body(&mut self.out);
        self.out += "}\n\n";
    }

    fn function_head(&mut self, number: usize) -> Naming<'m> {
        let module = self.module;
        let function = &module.functions[number];
        let naming = Naming::new(module, FunctionId(number as u32), &self.own[number], &self.taken);
        let formals = |formals: &[Formal]| {
            let texts: Vec<String> =
                formals.iter().map(|&formal| formal_text(module, &naming, formal)).collect();
            format!("({})", texts.join(", "))
        };
        self.out += linkage(function.linkage);
        self.out += if function.kernel { ".entry " } else { ".func " };
        if !function.outputs.is_empty() {
            let _ = write!(self.out, "{} ", formals(&function.outputs));
        }
        let _ = write!(self.out, "{}{}", function.name, formals(&function.inputs));
        if function.noreturn {
            self.out += " .noreturn";
        }
        let axes = [
            ("maxntid", function.max_threads),
            ("reqntid", function.required_threads),
            ("reqnctapercluster", function.required_cluster),
        ];
        for (name, axes) in axes {
            if let Some([x, y, z]) = axes {
                let _ = write!(self.out, " .{name} {x}, {y}, {z}");
            }
        }
        if function.explicit_cluster && function.required_cluster.is_none() {
            self.out += " .explicitcluster";
        }
        naming
    }
}

fn symbol(module: &Module, of: AddressOf) -> String {
    match of {
        AddressOf::Variable(id) => module.variable(id).name.clone(),
        AddressOf::Function(id) => module.function(id).name.clone(),
    }
}

fn linkage(linkage: Linkage) -> &'static str {
    match linkage {
        Linkage::Local => "",
        Linkage::Visible => ".visible ",
        Linkage::Weak => ".weak ",
        Linkage::Extern => ".extern ",
        Linkage::Common => ".common ",
    }
}

/// Returns `.align 8 .b8 name[16]`.
fn shape(ty: Ty, size: u64, align: u32, name: &str) -> String {
    let mut text = String::new();
    if align != ty.bytes() {
        let _ = write!(text, ".align {align} ");
    }
    let _ = write!(text, ".{} {name}", ty.name());
    match size / u64::from(ty.bytes()) {
        0 => text += "[]",
        1 => {}
        count => {
            let _ = write!(text, "[{count}]");
        }
    }
    text
}

fn formal_text(module: &Module, naming: &Naming, formal: Formal) -> String {
    match formal {
        Formal::Param(id) => {
            let variable = module.variable(id);
            let name = naming.symbol(AddressOf::Variable(id));
            format!(".param {}", shape(variable.ty, variable.size, variable.align, &name))
        }
        Formal::Reg(register, ty) => format!(".reg .{} {}", ty.name(), naming.register(register)),
    }
}

/// Returns a declaration, with its `;`.
fn variable_text(variable: &Variable, name: &str, symbol: &dyn Fn(AddressOf) -> String) -> String {
    let mut text = format!("{}.{} ", linkage(variable.linkage), variable.space.name());
    if variable.managed {
        text += ".attribute(.managed) ";
    }
    text += &shape(variable.ty, variable.size, variable.align, name);
    if let Some(initial) = &variable.initial {
        text += " = ";
        text += &match &initial.sampler {
            Some(sampler) => sampler_text(sampler),
            None => initial_text(variable, initial, symbol),
        };
    }
    text + ";"
}

fn initial_text(
    variable: &Variable,
    initial: &Initial,
    symbol: &dyn Fn(AddressOf) -> String,
) -> String {
    let width = variable.ty.bytes() as usize;
    let mut addresses = initial.addresses.iter().peekable();
    let mut element = |(n, bytes): (usize, &[u8])| {
        let offset = (n * width) as u64;
        if let Some(address) = addresses.next_if(|address| address.offset == offset) {
            return address_text(address, symbol);
        }
        let mut value = [0; 8];
        value[..width.min(8)].copy_from_slice(&bytes[..width.min(8)]);
        let value = u64::from_le_bytes(value);
        match (variable.ty.kind(), width) {
            (Kind::Float, 4) => format!("0f{value:08X}"),
            (Kind::Float, _) => format!("0d{value:016X}"),
            _ => value.to_string(),
        }
    };
    let elements: Vec<String> =
        initial.bytes.chunks_exact(width).enumerate().map(&mut element).collect();
    match variable.size == width as u64 && elements.len() == 1 {
        true => elements.concat(),
        false => format!("{{{}}}", elements.join(", ")),
    }
}

fn address_text(address: &InitialAddress, symbol: &dyn Fn(AddressOf) -> String) -> String {
    let mut text = symbol(address.of);
    if address.generic {
        text = format!("generic({text})");
    }
    if address.addend != 0 {
        let _ = write!(text, "+{}", address.addend);
    }
    match address.bits {
        8 => format!("{:#x}({text})", 0xff_u64 << address.first_bit),
        _ => text,
    }
}

fn sampler_text(sampler: &Sampler) -> String {
    let [x, y, z] = sampler.address_modes.map(|mode| mode.name());
    let filter = if sampler.linear { "linear" } else { "nearest" };
    let coordinates = u8::from(sampler.unnormalized);
    format!(
        "{{ addr_mode_0 = {x}, addr_mode_1 = {y}, addr_mode_2 = {z}, filter_mode = {filter}, \
         force_unnormalized_coords = {coordinates} }}"
    )
}
