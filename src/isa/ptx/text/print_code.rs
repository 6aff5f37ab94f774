//! Bodies of functions as text.

use std::fmt::Write;

use rustc_hash::{FxHashMap, FxHashSet};

use super::special;
use crate::module::{
    Address, AddressOf, Base, Body, Formal, FunctionId, LabelId, Literal, Module, Operand,
    Prototype, Register, Statement, VariableId,
};

/// Calls `name` for each variable and function that the operand names.
pub(crate) fn operand_symbols(operand: &Operand, name: &mut dyn FnMut(AddressOf)) {
    match operand {
        Operand::Symbol(of, _) | Operand::Address(Address { base: Base::Symbol(of), .. }) => {
            name(*of)
        }
        Operand::Vector(all) | Operand::Bracket(all) | Operand::List(all) => {
            all.iter().for_each(|operand| operand_symbols(operand, name));
        }
        Operand::Pair(pair) => pair.iter().for_each(|operand| operand_symbols(operand, name)),
        _ => {}
    }
}

/// Makes names unique in a function and the module.
struct Unique<'t> {
    module: &'t FxHashSet<String>,
    own: FxHashSet<String>,
    /// For each name, how often it occurred before.
    again: FxHashMap<String, u32>,
}

impl Unique<'_> {
    fn name(&mut self, wanted: &str) -> String {
        let wanted = wanted.replace('.', "_");
        let mut name = wanted.clone();
        while self.module.contains(&name) || !self.own.insert(name.clone()) {
            let count = self.again.entry(wanted.clone()).or_insert(0);
            *count += 1;
            name = format!("{wanted}${count}");
        }
        name
    }
}

/// The names of the items of a function.
pub(super) struct Naming<'m> {
    module: &'m Module,
    function: FunctionId,
    variables: FxHashMap<VariableId, String>,
    registers: Vec<String>,
    labels: Vec<String>,
    branch_targets: Vec<String>,
    call_targets: Vec<String>,
    prototypes: Vec<String>,
}

impl<'m> Naming<'m> {
    /// Names the items of a function. `own` are the variables of its body, `taken` the names of the
    /// module.
    pub fn new(
        module: &'m Module,
        id: FunctionId,
        own: &[VariableId],
        taken: &FxHashSet<String>,
    ) -> Naming<'m> {
        let function = module.function(id);
        let mut unique =
            Unique { module: taken, own: FxHashSet::default(), again: FxHashMap::default() };
        let formals = || function.outputs.iter().chain(&function.inputs);
        let params = formals().filter_map(|formal| match *formal {
            Formal::Param(id) => Some(id),
            Formal::Reg(..) => None,
        });
        let variables = params.chain(own.iter().copied());
        let variables = variables.map(|id| (id, unique.name(&module.variable(id).name))).collect();
        let none = Body::default();
        let body = function.body.as_ref().unwrap_or(&none);
        let mut registers: Vec<String> =
            body.registers.iter().map(|decl| unique.name(&decl.name)).collect();
        if function.body.is_none() {
            let count = formals().filter(|formal| matches!(formal, Formal::Reg(..))).count();
            registers = (0..count).map(|n| unique.name(&format!("%r{n}"))).collect();
        }
        let labels = body.labels.iter().map(|label| unique.name(&label.name)).collect();
        let mut numbered = |what: &str, count: usize| {
            (0..count).map(|n| unique.name(&format!("{what}{n}"))).collect()
        };
        Naming {
            module,
            function: id,
            variables,
            registers,
            labels,
            branch_targets: numbered("targets_", body.branch_targets.len()),
            call_targets: numbered("callees_", body.call_targets.len()),
            prototypes: numbered("prototype_", body.prototypes.len()),
        }
    }

    pub fn symbol(&self, of: AddressOf) -> String {
        match of {
            AddressOf::Function(id) => self.module.function(id).name.clone(),
            AddressOf::Variable(id) => match self.variables.get(&id) {
                Some(name) => name.clone(),
                None => self.module.variable(id).name.clone(),
            },
        }
    }

    pub fn register(&self, register: Register) -> &str {
        &self.registers[register.0 as usize]
    }

    fn label(&self, label: LabelId) -> &str {
        &self.labels[label.0 as usize]
    }

    /// Writes everything of the body but its variables.
    pub fn body(&self, out: &mut String) {
        let function = self.module.function(self.function);
        let Some(body) = &function.body else { return };
        let formals = function.outputs.iter().chain(&function.inputs);
        let first = formals.filter(|formal| matches!(formal, Formal::Reg(..))).count();
        let declared: Vec<(&str, &str)> = (body.registers.iter().zip(&self.registers).skip(first))
            .map(|(decl, name)| (decl.ty.name(), name.as_str()))
            .collect();
        for run in declared.chunk_by(|a, b| a.0 == b.0) {
            let names: Vec<&str> = run.iter().map(|&(_, name)| name).collect();
            let _ = writeln!(out, "\t.reg .{} {};", run[0].0, names.join(", "));
        }
        for (list, name) in body.branch_targets.iter().zip(&self.branch_targets) {
            let labels: Vec<&str> = list.iter().map(|&label| self.label(label)).collect();
            let _ = writeln!(out, "\t{name}: .branchtargets {};", labels.join(", "));
        }
        for (list, name) in body.call_targets.iter().zip(&self.call_targets) {
            let functions: Vec<&str> =
                list.iter().map(|&id| self.module.function(id).name.as_str()).collect();
            let _ = writeln!(out, "\t{name}: .calltargets {};", functions.join(", "));
        }
        for (prototype, name) in body.prototypes.iter().zip(&self.prototypes) {
            let _ = writeln!(out, "\t{name}: {}", prototype_text(prototype));
        }
        let mut labels = body.labels.iter().zip(&self.labels).peekable();
        let mut lines = body.lines.iter().peekable();
        let end = body.statements.len() as u32;
        for number in 0..=end {
            while let Some((_, name)) = labels.next_if(|(label, _)| label.statement == number) {
                let _ = writeln!(out, "{name}:");
            }
            if let Some((_, line)) = lines.next_if(|&&(first, _)| first == number) {
                let _ = writeln!(out, "\t.loc {} {} {}", line.file, line.line, line.column);
            }
            if let Some(statement) = body.statements.get(number as usize) {
                let _ = writeln!(out, "\t{};", self.statement(statement));
            }
        }
    }

    fn statement(&self, statement: &Statement) -> String {
        let form = self.module.form(statement.form);
        let mut text = String::new();
        if let Some(guard) = statement.guard {
            let not = if guard.not { "!" } else { "" };
            let _ = write!(text, "@{not}{} ", self.register(guard.register));
        }
        match &form.written {
            Some(written) => text += written,
            None => text += &form.mnemonic(),
        }
        let is_call = form.row.opcode.starts_with("call");
        let is_there = |operand: &&Operand| {
            !(is_call && matches!(operand, Operand::List(all) if all.is_empty()))
        };
        let operands: Vec<String> = statement
            .operands
            .iter()
            .filter(is_there)
            .map(|operand| self.operand(operand))
            .collect();
        if !operands.is_empty() {
            let _ = write!(text, " {}", operands.join(", "));
        }
        text
    }

    fn all(&self, operands: &[Operand]) -> String {
        let texts: Vec<String> = operands.iter().map(|operand| self.operand(operand)).collect();
        texts.join(", ")
    }

    fn operand(&self, operand: &Operand) -> String {
        match operand {
            Operand::Register(register) => self.register(*register).to_string(),
            Operand::Not(register) => format!("!{}", self.register(*register)),
            Operand::Negated(register) => format!("-{}", self.register(*register)),
            Operand::Integer(bits) => (*bits as i64).to_string(),
            Operand::Float(literal) => literal_text(*literal),
            Operand::Special(register) => special::text(*register),
            Operand::Sink => "_".to_string(),
            Operand::Vector(all) => format!("{{{}}}", self.all(all)),
            Operand::Pair(pair) => format!("{}|{}", self.operand(&pair[0]), self.operand(&pair[1])),
            Operand::Address(address) => self.address(address),
            Operand::Bracket(all) => format!("[{}]", self.all(all)),
            Operand::Symbol(of, 0) => self.symbol(*of),
            Operand::Symbol(of, offset) => format!("{}+{offset}", self.symbol(*of)),
            Operand::Label(label) => self.label(*label).to_string(),
            Operand::BranchTargets(n) => self.branch_targets[*n as usize].clone(),
            Operand::CallTargets(n) => self.call_targets[*n as usize].clone(),
            Operand::Prototype(n) => self.prototypes[*n as usize].clone(),
            Operand::Selected { register, negated, selector } => {
                format!("{}{}.{selector}", if *negated { "-" } else { "" }, self.operand(register))
            }
            Operand::List(all) => format!("({})", self.all(all)),
        }
    }

    fn address(&self, address: &Address) -> String {
        let Address { base, offset, index } = *address;
        let base = match base {
            Base::None => return format!("[{offset}]"),
            Base::Register(register) => self.register(register).to_string(),
            Base::Symbol(of) => self.symbol(of),
        };
        match (index.map(|register| self.register(register)), offset) {
            (Some(index), 0) => format!("{base}[{index}]"),
            (Some(index), _) => format!("{base}[{index}+{offset}]"),
            (None, 0) => format!("[{base}]"),
            (None, _) => format!("[{base}+{offset}]"),
        }
    }
}

/// Returns the text of a float literal.
fn literal_text(literal: Literal) -> String {
    match literal {
        Literal::F32(bits) => format!("0f{bits:08X}"),
        Literal::F64(bits) => format!("0d{bits:016X}"),
        Literal::Decimal(value) if value.is_nan() => "(0.0 / 0.0)".to_string(),
        Literal::Decimal(value) if value.is_infinite() => {
            if value > 0.0 { "1e999" } else { "-1e999" }.to_string()
        }
        Literal::Decimal(value) => format!("{value:?}"),
    }
}

fn prototype_text(prototype: &Prototype) -> String {
    let formals = |all: &[(u64, u32)]| {
        let formal = |&(size, align): &(u64, u32)| match size {
            0 => format!(".param .align {align} .b8 _[]"),
            _ => format!(".param .align {align} .b8 _[{size}]"),
        };
        format!("({})", all.iter().map(formal).collect::<Vec<_>>().join(", "))
    };
    let outputs = if prototype.outputs.is_empty() {
        String::new()
    } else {
        formals(&prototype.outputs) + " "
    };
    let noreturn = if prototype.noreturn { " .noreturn" } else { "" };
    format!(".callprototype {outputs}_ {}{noreturn};", formals(&prototype.inputs))
}
