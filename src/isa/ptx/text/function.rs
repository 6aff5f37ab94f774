//! Functions: heads, parameters and directives. Facts, `ptx.md` 1.3.

use super::declare::Shape;
use super::lexer::Kind;
use super::names::{Lookup, Named};
use super::reader::{Reader, Result};
use super::toplevel;
use crate::module::{
    Formal, Function, FunctionId, Linkage, Prototype, Register, Variable, VariableId,
};
use crate::types::{Kind as TyKind, StateSpace, Ty};

/// A parameter as it is declared.
#[derive(Clone, Copy)]
pub(super) struct Parameter<'a> {
    pub name: &'a str,
    pub at: u32,
    pub reg: bool,
    pub ty: Ty,
    /// The elements of a register. A vector, with more than 1, counts as so many parameters.
    pub elements: u8,
    pub size: u64,
    pub align: u32,
}

/// The declaration that a parameter list belongs to.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Of {
    Kernel,
    Function,
    /// `.callprototype`, whose names are `_`.
    Prototype,
}

/// The directives between the parameters and the body.
#[derive(Default)]
struct Directives {
    noreturn: bool,
    max_threads: Option<[u32; 3]>,
    required_threads: Option<[u32; 3]>,
    required_cluster: Option<[u32; 3]>,
    explicit_cluster: bool,
}

impl<'a> Reader<'a> {
    /// Reads a function, from behind `.func` or `.entry`.
    pub fn function(&mut self, linkage: Linkage, kernel: bool) -> Result<()> {
        let of = if kernel { Of::Kernel } else { Of::Function };
        let outputs = match !kernel && self.is(b'(') {
            true => self.parameters(Of::Function)?,
            false => vec![],
        };
        let (name, at) = self.new_name()?;
        let inputs = match self.is(b'(') {
            true => self.parameters(of)?,
            false => vec![],
        };
        if kernel {
            self.check_parameter_bytes(name, &inputs, at)?;
        }
        let directives = self.directives(kernel)?;
        let defined = match self.token.kind {
            Kind::Punct(b'{') => true,
            Kind::Punct(b';') => false,
            // Compilers up to CUDA 4.0 omitted the `;` after declarations of device functions.
            Kind::End if !kernel => false,
            Kind::Word if !kernel && !matches!(self.word(), "target" | "version") => false,
            _ => return self.unexpected("`{` or `;`"),
        };
        let head = Head { name, at, kernel, linkage, outputs: &outputs, inputs: &inputs, defined };
        let id = self.declare_function(&head, &directives)?;
        if !defined {
            self.take(b';');
            return Ok(());
        }
        self.body(id, &outputs, &inputs)
    }

    /// Reads parameters in parentheses.
    fn parameters(&mut self, of: Of) -> Result<Vec<Parameter<'a>>> {
        self.expect(b'(', "`(`")?;
        let mut all: Vec<Parameter> = vec![];
        if self.take(b')') {
            return Ok(all);
        }
        loop {
            let parameter = self.parameter(of)?;
            if of != Of::Prototype
                && all.iter().rev().take(64).any(|other| other.name == parameter.name)
            {
                return self.fail(parameter.at, format!("`{}` is declared twice", parameter.name));
            }
            let open = parameter.size == 0;
            all.push(parameter);
            if !open && self.take(b',') {
                continue;
            }
            self.expect(
                b')',
                if open { "`)`: an array without a length is the last" } else { "`,` or `)`" },
            )?;
            return Ok(all);
        }
    }

    fn parameter(&mut self, of: Of) -> Result<Parameter<'a>> {
        let reg = match toplevel::space(self.word()) {
            Some(StateSpace::Param) => false,
            Some(StateSpace::Reg) if of != Of::Kernel => true,
            _ => {
                return self.unexpected(if of == Of::Kernel {
                    "`.param`"
                } else {
                    "`.param` or `.reg`"
                });
            }
        };
        self.advance();
        let at = self.token.at;
        let space = if reg { StateSpace::Reg } else { StateSpace::Param };
        let shape = self.shape(Linkage::Local, space)?;
        if (shape.elements > 1 && !reg) || shape.managed {
            return self.fail(
                at,
                "found a vector, expected a register, a parameter of one element or an array",
            );
        }
        if (reg && !shape.ty.is_register())
            || (shape.ty.kind() == TyKind::Opaque && of != Of::Kernel)
        {
            return self
                .fail(at, format!("`.{}` is no parameter of a device function", shape.ty.name()));
        }
        if self.take_word("ptr") {
            self.pointer()?;
        }
        let (name, at) = match (of, self.token.kind) {
            (Of::Prototype, Kind::Sink) => ("_", self.advance().at),
            _ => self.new_name()?,
        };
        if self.is(b'<') {
            return self.unexpected("a parameter without `<N>`");
        }
        let dimensions = self.dimensions()?;
        if reg && !dimensions.is_empty() {
            return self.fail(at, "registers are no arrays");
        }
        if of == Of::Kernel && dimensions.first() == Some(&0) {
            return self.fail(at, "an array without a length is no parameter of a kernel");
        }
        let size = self.bytes(&Shape { space, ..shape }, &dimensions, at)?;
        Ok(Parameter {
            name,
            at,
            reg,
            ty: shape.ty,
            elements: shape.elements,
            size,
            align: shape.alignment(),
        })
    }

    /// Reads the hint after `.ptr`: a state space and an alignment.
    fn pointer(&mut self) -> Result<()> {
        if matches!(self.word(), "const" | "global" | "local" | "shared") {
            self.advance();
        }
        self.align()?;
        Ok(())
    }

    fn check_parameter_bytes(&mut self, name: &str, inputs: &[Parameter], at: u32) -> Result<()> {
        let limit = if self.module.version < (8, 1) { 4352 } else { 32764 };
        let end = inputs
            .iter()
            .fold(0_u64, |end, input| end.next_multiple_of(input.align.into()) + input.size);
        match end <= limit {
            true => Ok(()),
            false => self.fail(
                at,
                format!("{end} bytes of parameters of `{name}`, a kernel may have {limit}"),
            ),
        }
    }

    fn directives(&mut self, kernel: bool) -> Result<Directives> {
        let mut found = Directives::default();
        loop {
            let at = self.token.at;
            match self.word() {
                "pragma" => {
                    self.pragma()?;
                    continue;
                }
                "noreturn" if !kernel => {
                    self.needs(at, "`.noreturn`", 0, (6, 4))?;
                    self.advance();
                    found.noreturn = true;
                }
                "abi_preserve" | "abi_preserve_control" if !kernel => {
                    self.needs(at, "`.abi_preserve`", 80, (9, 0))?;
                    self.advance();
                    self.literal("a number of registers", u32::MAX.into())?;
                }
                "maxntid" if kernel => found.max_threads = Some(self.axes()?),
                "reqntid" if kernel => found.required_threads = Some(self.axes()?),
                "reqnctapercluster" if kernel => {
                    self.needs(at, "`.reqnctapercluster`", 90, (7, 8))?;
                    found.required_cluster = Some(self.axes()?);
                    found.explicit_cluster = true;
                }
                "explicitcluster" if kernel => {
                    self.needs(at, "`.explicitcluster`", 90, (7, 8))?;
                    self.advance();
                    found.explicit_cluster = true;
                }
                "blocksareclusters" if kernel => {
                    self.needs(at, "`.blocksareclusters`", 90, (9, 0))?;
                    self.advance();
                }
                "maxnctapersm" if self.module.version >= (2, 1) => {
                    return self.fail(at, "`.maxnctapersm` is of versions below 2.1");
                }
                "maxclusterrank" if kernel => {
                    self.needs(at, "`.maxclusterrank`", 90, (7, 8))?;
                    self.advance();
                    self.literal("a number", u32::MAX.into())?;
                }
                "minnctapersm" | "maxnctapersm" | "maxnreg" | "local_maxnreg" if kernel => {
                    self.advance();
                    self.literal("a number", u32::MAX.into())?;
                }
                word if word.is_empty() || toplevel::is_directive(word) => break,
                _ => return self.unexpected("a directive of a function, `{` or `;`"),
            }
            if found.max_threads.is_some() && found.required_threads.is_some() {
                return self.fail(at, "`.maxntid` and `.reqntid` exclude each other");
            }
        }
        Ok(found)
    }

    /// Reads up to three numbers after the directive that stands here.
    fn axes(&mut self) -> Result<[u32; 3]> {
        self.advance();
        let mut axes = [1; 3];
        for (n, axis) in axes.iter_mut().enumerate() {
            if n > 0 && !self.take(b',') {
                break;
            }
            let at = self.token.at;
            *axis = self.literal("a number", u32::MAX.into())? as u32;
            if *axis == 0 {
                return self.fail(at, "found 0, expected a number of at least 1");
            }
        }
        Ok(axes)
    }

    /// Reads `(.param .b32 _) _ (.param .b64 _) [.noreturn];`.
    pub fn prototype(&mut self) -> Result<Prototype> {
        let outputs = match self.is(b'(') {
            true => self.parameters(Of::Prototype)?,
            false => vec![],
        };
        match self.token.kind {
            Kind::Sink => self.advance(),
            _ => return self.unexpected("`_`"),
        };
        let inputs = match self.is(b'(') {
            true => self.parameters(Of::Prototype)?,
            false => vec![],
        };
        let noreturn = self.directives(false)?.noreturn;
        self.semicolon()?;
        let places = |all: Vec<Parameter>| {
            let elements = |one: &Parameter| {
                let elements = usize::from(one.elements);
                std::iter::repeat_n((one.size / elements as u64, one.align), elements)
            };
            all.iter().flat_map(elements).collect()
        };
        Ok(Prototype { inputs: places(inputs), outputs: places(outputs), noreturn })
    }
}

/// The declaration of a function.
struct Head<'h, 'a> {
    name: &'a str,
    at: u32,
    kernel: bool,
    linkage: Linkage,
    outputs: &'h [Parameter<'a>],
    inputs: &'h [Parameter<'a>],
    /// Whether a body follows.
    defined: bool,
}

impl<'a> Reader<'a> {
    /// Adds a function, or joins it with its earlier declaration.
    fn declare_function(
        &mut self,
        head: &Head<'_, 'a>,
        directives: &Directives,
    ) -> Result<FunctionId> {
        let &Head { name, at, .. } = head;
        if head.defined && head.linkage == Linkage::Extern {
            return self.fail(at, format!("`{name}` is `.extern`, and has a body"));
        }
        let id = match self.names.lookup(name) {
            None => self.add_function(head),
            Some(Lookup::Name(Named::Function(id))) => {
                self.join_function(id, head)?;
                id
            }
            Some(_) => {
                return self.fail(at, format!("`{name}` is declared as something else before"));
            }
        };
        let function = &mut self.module.functions[id.0 as usize];
        function.noreturn |= directives.noreturn;
        function.max_threads = directives.max_threads.or(function.max_threads);
        function.required_threads = directives.required_threads.or(function.required_threads);
        function.required_cluster = directives.required_cluster.or(function.required_cluster);
        function.explicit_cluster |= directives.explicit_cluster;
        Ok(id)
    }

    fn add_function(&mut self, head: &Head<'_, 'a>) -> FunctionId {
        let id = FunctionId(self.module.functions.len() as u32);
        let mut registers = 0;
        let [outputs, inputs] = [head.outputs, head.inputs].map(|parameters| {
            let mut formals = vec![];
            for parameter in parameters {
                if parameter.reg {
                    let first = registers;
                    registers += u32::from(parameter.elements);
                    formals
                        .extend((first..registers).map(|n| Formal::Reg(Register(n), parameter.ty)));
                } else {
                    formals.push(Formal::Param(VariableId(self.module.variables.len() as u32)));
                    self.module.variables.push(variable_of(parameter, id));
                }
            }
            formals
        });
        self.module.functions.push(Function {
            name: head.name.to_string(),
            kernel: head.kernel,
            linkage: head.linkage,
            noreturn: false,
            inputs,
            outputs,
            alias: None,
            max_threads: None,
            required_threads: None,
            required_cluster: None,
            explicit_cluster: false,
            body: None,
            at: head.at,
        });
        self.names.declare(head.name, Named::Function(id));
        id
    }

    fn join_function(&mut self, id: FunctionId, head: &Head<'_, 'a>) -> Result<()> {
        let old = self.module.function(id);
        let (name, at) = (head.name, head.at);
        let shape = |parameters: &[Parameter]| -> Vec<(bool, u64)> {
            let elements = |one: &Parameter| {
                let elements = usize::from(one.elements);
                std::iter::repeat_n((one.reg, one.size / elements as u64), elements)
            };
            parameters.iter().flat_map(elements).collect()
        };
        if old.kernel != head.kernel
            || self.module.signature(id) != [shape(head.outputs), shape(head.inputs)]
        {
            return self.fail(at, format!("`{name}` is declared with other parameters before"));
        }
        if head.defined && (old.body.is_some() || old.alias.is_some()) {
            return self.fail(at, format!("`{name}` is defined twice"));
        }
        let linkage = match (old.linkage, head.linkage) {
            (Linkage::Extern, Linkage::Local) if head.defined => {
                return self.fail(
                    at,
                    format!("`{name}` is `.extern` before, and is defined without `.visible`"),
                );
            }
            (old, Linkage::Local | Linkage::Extern) if old != Linkage::Local => old,
            (_, new) => new,
        };
        let function = &mut self.module.functions[id.0 as usize];
        function.linkage = linkage;
        if head.defined {
            function.at = at;
            let formals = function.outputs.iter().chain(&function.inputs);
            let memory = formals.filter_map(|formal| match *formal {
                Formal::Param(variable) => Some(variable),
                Formal::Reg(..) => None,
            });
            let parameters =
                head.outputs.iter().chain(head.inputs).filter(|parameter| !parameter.reg);
            for (variable, parameter) in memory.zip(parameters) {
                self.module.variables[variable.0 as usize] = variable_of(parameter, id);
            }
        }
        Ok(())
    }
}

fn variable_of(parameter: &Parameter, owner: FunctionId) -> Variable {
    Variable {
        name: parameter.name.to_string(),
        space: StateSpace::Param,
        linkage: Linkage::Local,
        ty: parameter.ty,
        size: parameter.size,
        align: parameter.align,
        managed: false,
        initial: None,
        owner: Some(owner),
        at: parameter.at,
    }
}
