//! Bodies of functions: scopes, labels, declarations and instructions. Facts, `ptx.md` 1.3 and 1.4.

use std::borrow::Cow;

use super::code::{Code, LabelUse};
use super::function::Parameter;
use super::lexer::{Kind, Token};
use super::names::Named;
use super::reader::{Reader, Result};
use super::toplevel;
use crate::module::{
    Address, AddressOf, Base, FormId, Formal, FunctionId, Guard, LabelId, Linkage, Operand,
    Operands, SourceLine, Statement, VariableId,
};
use crate::table;
use crate::types::{StateSpace, Ty};

/// The limit of the nesting of scopes.
const MAX_DEPTH: u32 = 4096;

impl<'a> Reader<'a> {
    /// Reads the body of a function, from its `{` on.
    pub fn body(
        &mut self,
        id: FunctionId,
        outputs: &[Parameter<'a>],
        inputs: &[Parameter<'a>],
    ) -> Result<()> {
        self.code.begin();
        self.names.open();
        self.code.open();
        let function = self.module.function(id);
        let memory = |formal: &Formal| match *formal {
            Formal::Param(variable) => Some(variable),
            Formal::Reg(..) => None,
        };
        let memory: Vec<VariableId> =
            function.outputs.iter().chain(&function.inputs).filter_map(memory).collect();
        let mut memory = memory.into_iter().peekable();
        for parameter in outputs.iter().chain(inputs) {
            let elements = parameter.elements;
            let named = match memory.next_if(|_| !parameter.reg) {
                Some(variable) => Named::Variable(variable),
                None => Named::Register(
                    self.code.register(parameter.name, parameter.ty, elements),
                    elements,
                ),
            };
            if self.names.declared_here(parameter.name).is_some() {
                self.errors.push(parameter.at, format!("`{}` is declared twice", parameter.name));
            }
            self.names.declare(parameter.name, named);
        }
        let start = self.token.at;
        self.advance();
        let depth = self.names.depth();
        self.open_scope();
        while self.names.depth() > depth {
            if self.token.kind == Kind::End {
                while self.names.depth() >= depth {
                    self.close_scope();
                }
                return self.fail(start, "found the end of the text, expected the `}` of this `{`");
            }
            if self.errors.is_full() {
                return Err(super::reader::Fail);
            }
            self.code.body.end = self.token.at;
            let start = self.token.at;
            if self.line(id).is_err() {
                let open = self.recover_statement(start);
                for _ in 0..open.min(MAX_DEPTH.saturating_sub(self.names.depth())) {
                    self.open_scope();
                }
            }
        }
        self.close_scope();
        self.check_labels();
        self.module.functions[id.0 as usize].body = Some(std::mem::take(&mut self.code.body));
        Ok(())
    }

    fn open_scope(&mut self) {
        self.names.open();
        self.code.open();
    }

    fn close_scope(&mut self) {
        self.names.close();
        self.code.close();
    }

    /// Reads a brace, a label, a directive or an instruction.
    fn line(&mut self, function: FunctionId) -> Result<()> {
        self.code.begin_line();
        match self.token.kind {
            Kind::Name => {
                let token = self.advance();
                match self.take(b':') {
                    true => self.labelled(token),
                    false => self.instruction(token.at, None, token),
                }
            }
            Kind::Punct(b'@') => self.guarded(),
            Kind::Word => self.directive(function),
            Kind::Punct(b'{') => {
                if self.names.depth() >= MAX_DEPTH {
                    let at = self.token.at;
                    self.skip_braces();
                    self.errors.push(at, format!("more than {MAX_DEPTH} scopes within scopes"));
                    return Ok(());
                }
                self.advance();
                self.open_scope();
                Ok(())
            }
            Kind::Punct(b'}') => {
                self.advance();
                self.close_scope();
                Ok(())
            }
            _ => self.unexpected("an instruction, a directive, a label or `}`"),
        }
    }

    /// Reads the part after `name:`.
    fn labelled(&mut self, token: Token) -> Result<()> {
        let (name, at) = (self.slice(token), token.at);
        let list = match self.word() {
            "branchtargets" => Self::branch_targets,
            "calltargets" => Self::call_targets,
            "callprototype" => Self::call_prototype,
            _ => return self.label(name, at),
        };
        self.advance();
        if self.names.declared_here(name).is_some() {
            return self.fail(at, format!("`{name}` is declared twice"));
        }
        let named = list(self)?;
        self.names.declare(name, named);
        Ok(())
    }

    /// Reads `A, B, N<5>;`.
    fn branch_targets(&mut self) -> Result<Named> {
        let list = self.code.body.branch_targets.len() as u32;
        self.code.body.branch_targets.push(vec![]);
        loop {
            let (name, at) = self.name("a label")?;
            match self.count()? {
                None => self.branch_target(list, name.into(), at),
                Some(count) => {
                    self.spend_names(at, count)?;
                    (0..count).for_each(|number| {
                        self.branch_target(list, format!("{name}{number}").into(), at)
                    });
                }
            }
            if !self.take(b',') {
                self.semicolon()?;
                return Ok(Named::BranchTargets(list));
            }
        }
    }

    fn branch_target(&mut self, list: u32, name: Cow<'a, str>, at: u32) {
        let targets = &mut self.code.body.branch_targets[list as usize];
        let place = LabelUse::Target(list, targets.len() as u32);
        targets.push(LabelId(u32::MAX));
        self.code.name_label(name, at, place);
    }

    /// Reads `f, g;`.
    fn call_targets(&mut self) -> Result<Named> {
        let mut all = vec![];
        loop {
            all.push(self.declared_function()?.0);
            if !self.take(b',') {
                break;
            }
        }
        self.semicolon()?;
        self.code.body.call_targets.push(all);
        Ok(Named::CallTargets(self.code.body.call_targets.len() as u32 - 1))
    }

    fn call_prototype(&mut self) -> Result<Named> {
        let prototype = self.prototype()?;
        self.code.body.prototypes.push(prototype);
        Ok(Named::Prototype(self.code.body.prototypes.len() as u32 - 1))
    }

    fn directive(&mut self, function: FunctionId) -> Result<()> {
        match self.word() {
            "pragma" => self.pragma(),
            "loc" => self.source_line(),
            "reg" => {
                self.advance();
                self.registers()
            }
            "param" if self.module.version < (1, 4) && self.module.function(function).kernel => {
                self.advance();
                self.old_parameters(function)
            }
            word => match toplevel::space(word) {
                Some(space) if space != StateSpace::Tex => {
                    self.advance();
                    self.variables(Linkage::Local, space, Some(function))
                }
                _ => self.unexpected("a directive of a body"),
            },
        }
    }

    /// Reads parameters that the body of a kernel declares (before PTX 1.4), from behind `.param`.
    fn old_parameters(&mut self, kernel: FunctionId) -> Result<()> {
        let first = self.module.variables.len() as u32;
        self.variables(Linkage::Local, StateSpace::Param, Some(kernel))?;
        let end = self.module.variables.len() as u32;
        let formals = (first..end).map(|id| Formal::Param(VariableId(id)));
        self.module.functions[kernel.0 as usize].inputs.extend(formals);
        Ok(())
    }

    /// Reads `.loc f l c[, function_name LABEL[+n], inlined_at f l c]`.
    fn source_line(&mut self) -> Result<()> {
        self.advance();
        let file = self.literal("the number of a file", u32::MAX.into())? as u32;
        let line = self.literal("a line", u32::MAX.into())? as u32;
        let column = self.literal("a column", u32::MAX.into())? as u32;
        while self.take(b',') {
            match self.name("`function_name` or `inlined_at`")? {
                ("function_name", _) => {
                    self.name("a label of a debug section")?;
                    if self.take(b'+') {
                        self.literal("an offset", u64::MAX)?;
                    }
                }
                ("inlined_at", _) => {
                    for what in ["the number of a file", "a line", "a column"] {
                        self.literal(what, u32::MAX.into())?;
                    }
                }
                (name, at) => {
                    return self.fail(
                        at,
                        format!("found `{name}`, expected `function_name` or `inlined_at`"),
                    );
                }
            }
        }
        let lines = &mut self.code.body.lines;
        let statement = self.code.body.statements.len() as u32;
        let here = SourceLine { file, line, column };
        match lines.last_mut() {
            Some(last) if last.0 == statement => last.1 = here,
            _ => lines.push((statement, here)),
        }
        Ok(())
    }

    /// Reads `@p` or `@!p`, and the instruction.
    fn guarded(&mut self) -> Result<()> {
        let at = self.advance().at;
        if self.is(b'@') && self.module.version < (2, 0) {
            self.lexer.skip_line();
            self.advance();
            return Ok(());
        }
        let not = self.take(b'!');
        let register_at = self.token.at;
        let register = self.scalar_register("a predicate register")?;
        if self.code.body.registers[register.0 as usize].ty != Ty::Pred {
            return self.fail(register_at, "found another register, expected a predicate register");
        }
        match self.token.kind {
            Kind::Name => {
                let token = self.advance();
                self.instruction(at, Some(Guard { register, not }), token)
            }
            _ => self.unexpected("an instruction"),
        }
    }

    /// Reads an instruction, after its opcode.
    fn instruction(&mut self, at: u32, guard: Option<Guard>, opcode: Token) -> Result<()> {
        self.code.words.clear();
        let name = self.slice(opcode);
        self.code.words.push(name);
        let mut end = opcode.end;
        while self.token.kind == Kind::Word {
            self.code.words.push(self.word());
            end = self.advance().end;
        }
        if self.token.kind == Kind::Bad {
            return self.unexpected("a modifier or an operand");
        }
        let form = self.form(opcode.at, end)?;
        let mut operands = Operands::new();
        self.code.places.clear();
        match name {
            "call" => {
                self.call(&mut operands)?;
                self.check_call(&operands)?;
            }
            "bra" => {
                let (name, at) = self.name("a label")?;
                self.code.places.push(at);
                let place = LabelUse::Operand(self.code.body.statements.len() as u32, 0);
                self.code.name_label(name.into(), at, place);
                operands.push(Operand::Label(LabelId(u32::MAX)));
            }
            _ if self.is(b';') => {}
            _ => loop {
                self.code.places.push(self.token.at);
                operands.push(self.operand()?);
                if !self.take(b',') {
                    break;
                }
            },
        }
        let known = &self.module.forms[form.0 as usize];
        // Statements that operands add begin at the place of the instruction.
        let Code { body, sums, line_start, .. } = &mut self.code;
        body.statements[*line_start..].iter_mut().for_each(|statement| statement.at = at);
        if let Some(&Operand::Register(result)) = operands.first()
            && known.first_is_destination()
            && sums.contains(&result)
        {
            let place = self.code.places[0];
            return self.fail(place, "found a sum, expected a register for the result");
        }
        if self.module.version < (1, 2)
            && let Some(address) = operands.get_mut(match name {
                "ld" => 1,
                "st" => 0,
                _ => usize::MAX,
            })
        {
            with_brackets(address);
        }
        // Keep the statement even if its end fails: the labels that it names are pending.
        let wrong = table::check_operands(known, &operands, &self.module, &self.code.body);
        if name == "mov" {
            operands.iter_mut().for_each(|operand| self.element_address(operand));
        }
        self.code.body.statements.push(Statement { at, guard, form, operands });
        if let Err((n, message)) = wrong {
            let place = self.code.places.get(n).copied().unwrap_or(opcode.at);
            return self.fail(
                place,
                format!(
                    "operand {} of `{}`: {message}",
                    n + 1,
                    &self.text[opcode.at as usize..end as usize]
                ),
            );
        }
        self.store_module_registers(at)?;
        self.semicolon()
    }

    /// Turns `var[4]` as a value into the address of the fifth element. Unlike in an address, the
    /// index counts elements of the scalar type.
    fn element_address(&self, operand: &mut Operand) {
        if let Operand::Address(Address { base: Base::Symbol(of), offset, index: None }) = *operand
        {
            let bytes = match of {
                AddressOf::Variable(id) => self.module.variable(id).ty.bytes(),
                AddressOf::Function(_) => 1,
            };
            *operand = Operand::Symbol(of, offset.wrapping_mul(bytes.into()));
        }
    }

    /// Returns the form of the mnemonic in `words`, which stands between two places.
    fn form(&mut self, at: u32, end: u32) -> Result<FormId> {
        let written = &self.text[at as usize..end as usize];
        if let Some(&form) = self.forms.get(written) {
            return Ok(form);
        }
        let words = std::mem::take(&mut self.code.words);
        let found = self.form_of(&words, at);
        self.code.words = words;
        let id = found?;
        self.forms.insert(written, id);
        Ok(id)
    }

    /// Returns the form of a mnemonic from its words.
    pub fn form_of(&mut self, words: &[&str], at: u32) -> Result<FormId> {
        let joined = words.join(".");
        if let Some(&id) = self.joined.get(&joined) {
            return Ok(id);
        }
        let (target, version) = (self.module.target, self.module.version);
        let found = table::resolve(words).and_then(|form| {
            table::available(&form, target, version)?;
            Ok(form.meant(target, version))
        });
        match found {
            Ok(form) => {
                let id = FormId(self.module.forms.len() as u32);
                self.module.forms.push(form);
                self.joined.insert(joined, id);
                Ok(id)
            }
            Err(message) => self.fail(at, message),
        }
    }
}

/// Makes an address of an operand: PTX 1.0 and 1.1 may omit its brackets.
fn with_brackets(operand: &mut Operand) {
    let (base, offset) = match *operand {
        Operand::Register(register) => (Base::Register(register), 0),
        Operand::Symbol(of, offset) => (Base::Symbol(of), offset),
        _ => return,
    };
    *operand = Operand::Address(Address { base, offset, index: None });
}
