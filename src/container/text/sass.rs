//! Assembly for Maxwell, and for Turing, Ampere and Ada.

use rustc_hash::FxHashMap;
use warploom_maxwell::{BUNDLE_BYTES, WORD_BYTES};
use warploom_sass::AssembleError;

use super::{Line, NAMED, STAGE, Source, UNNAMED, module, named, stage, symbol_of};
use crate::cubin::reloc;
use crate::module::{Function, Isa, Module, Param, Relocation, SectionId, SymbolId};
use crate::{Error, sph};

/// The most bytes of a kernel's parameters and of its memory.
const MAX_BYTES: u32 = 1 << 16;
/// The instructions of a Maxwell bundle, after its control word.
const BUNDLE: usize = 3;

/// The code of some GPUs.
struct Form {
    isa: Isa,
    /// Returns the address of an instruction by its number.
    pc: fn(usize) -> u64,
    /// The start of a kernel's parameters in constant bank 0.
    param_base: u32,
    /// The instructions that reach an external function by its name, and the number of the
    /// relocation type that gives them its address.
    calls: (&'static [&'static str], u32),
}

/// Maxwell. The relocation type is R_CUDA_ABS32_20.
const MAXWELL: Form = Form {
    isa: Isa::Maxwell { sm: 50 },
    pc: maxwell_pc,
    param_base: 0x140,
    calls: (&["JCAL", "JMP"], 42),
};

impl Source<'_> {
    pub(super) fn maxwell(&self) -> Result<Module, Error> {
        self.sass(&MAXWELL, |text, number, code| {
            let word = warploom_maxwell::assemble(text, maxwell_pc(number))?;
            if number.is_multiple_of(BUNDLE) {
                code.extend([0; WORD_BYTES as usize]);
            }
            code.extend(word.to_le_bytes());
            Ok(())
        })
    }

    /// Makes the module of a text for Turing, Ampere or Ada. `model` is the GPU's number.
    #[cfg(feature = "turing")]
    pub(super) fn turing(&self, model: u8) -> Result<Module, Error> {
        use warploom_turing::{Turing, driver};
        const fn pc(number: usize) -> u64 {
            number as u64 * warploom_turing::WORD_BYTES
        }
        // The relocation type is R_CUDA_ABS47_34.
        let form = Form {
            isa: Isa::Turing { sm: model.into() },
            pc,
            param_base: driver::word::FIRST_PARAM,
            calls: (&["CALL.ABS.NOINC", "JMP"], 58),
        };
        self.sass(&form, |text, number, code| {
            let word = warploom_sass::assemble::<Turing>(text, pc(number), model)?;
            code.extend(word.to_le_bytes());
            Ok(())
        })
    }

    /// Makes the module of a text. `push` appends the instruction with a text and a number.
    fn sass(
        &self,
        form: &Form,
        push: impl Fn(&str, usize, &mut Vec<u8>) -> Result<(), AssembleError>,
    ) -> Result<Module, Error> {
        let (mut code, mut externs) = (Vec::new(), Externs::default());
        for (number, line) in self.instructions.iter().enumerate() {
            let text = match named(&line.text) {
                None if line.text.contains(NAMED.0) => {
                    return Err(line.wrong(format!("expected `(NAME) in `{}`", line.text)));
                }
                Some(named) if !self.labels.contains_key(named.1) => {
                    externs.without_name(line, named, form, number)?
                }
                _ => self.with_target(line, |target| Ok(format!("{:#x}", (form.pc)(target))))?,
            };
            push(&text, number, &mut code).map_err(|e| line.wrong(e.to_string()))?;
        }
        let size = code.len() as u64;
        let mut function = Function::new(UNNAMED.into(), SymbolId(0), SectionId(0), 0, size, true);
        function.param_base = form.param_base;
        function.stack_bytes = Some(0);
        let mut param_bytes = 0_u32;
        let mut header = self.stage()?;
        for line in self.directives.iter().filter(|line| !line.text.starts_with(STAGE)) {
            let (name, value) =
                line.text.split_once(char::is_whitespace).unwrap_or((&line.text, ""));
            let value = value.trim();
            if let Some(header) = &mut header
                && stage::directive(header, name, value).map_err(|problem| line.wrong(problem))?
            {
                continue;
            }
            let bytes = |least| {
                let bytes = value.parse().ok().filter(|bytes| (least..=MAX_BYTES).contains(bytes));
                bytes.ok_or_else(|| {
                    line.wrong(format!("`{value}`: expected {least} to {MAX_BYTES} bytes"))
                })
            };
            match name {
                ".kernel" if !value.is_empty() => function.name = value.into(),
                ".kernel" => return Err(line.wrong("expected a name")),
                ".shared" | ".param" if header.is_some() => {
                    return Err(line.wrong(format!("`{name}`: a graphics program has none")));
                }
                ".shared" => function.shared_bytes = bytes(0)?.into(),
                ".local" => function.stack_bytes = Some(bytes(0)?),
                ".param" => {
                    let size = bytes(1)?;
                    let offset = param_bytes.next_multiple_of(size.next_power_of_two().min(8));
                    param_bytes = Some(offset + size)
                        .filter(|&end| end <= MAX_BYTES - form.param_base)
                        .ok_or_else(|| {
                            line.wrong(format!(
                                "expected at most {} bytes of parameters",
                                MAX_BYTES - form.param_base
                            ))
                        })?;
                    function.params.push(Param { offset, size });
                }
                _ => {
                    return Err(line.wrong(format!(
                        "`{name}`: expected .kernel, .param, .shared, .local, .stage or a label"
                    )));
                }
            }
        }
        if let Some(header) = header {
            let name =
                if function.name == UNNAMED { header.stage().name() } else { &function.name };
            return Ok(sph::assembled(name, header, code));
        }
        function.param_bytes = param_bytes;
        function.externs = (1..=externs.names.len()).map(SymbolId).collect();
        let mut module = module(form.isa, code, function);
        module.symbols.extend(externs.names.iter().map(|&name| symbol_of(name.into(), None, 0)));
        module.relocations = externs.calls;
        Ok(module)
    }
}

/// The functions that a text names without defining them.
#[derive(Default)]
struct Externs<'a> {
    names: Vec<&'a str>,
    symbols: FxHashMap<&'a str, SymbolId>,
    calls: Vec<Relocation>,
}

impl<'a> Externs<'a> {
    /// Returns the line with 0 for the name of an external function, and records its relocation.
    fn without_name(
        &mut self,
        line: &Line<'_>,
        (before, name, after): (&str, &'a str, &str),
        form: &Form,
        number: usize,
    ) -> Result<String, Error> {
        let operation = before.split_whitespace().find(|word| !word.starts_with('@'));
        let (calls, kind) = form.calls;
        if !operation.is_some_and(|operation| calls.contains(&operation)) {
            return Err(line.wrong(format!(
                "`{}`: only {} reach a function by its name",
                line.text,
                calls.join(" and ")
            )));
        }
        // Symbols of external functions follow the kernel's own symbol.
        let next = SymbolId(1 + self.names.len());
        let symbol = *self.symbols.entry(name).or_insert(next);
        if symbol == next {
            self.names.push(name);
        }
        let (kind, name) = reloc::kind(kind).expect("a type of the table");
        self.calls.push(Relocation {
            section: SectionId(0),
            offset: (form.pc)(number),
            kind,
            name,
            symbol,
            addend: None,
        });
        Ok(format!("{before}0x0{after}"))
    }
}

const fn maxwell_pc(number: usize) -> u64 {
    (number / BUNDLE) as u64 * BUNDLE_BYTES + (number % BUNDLE + 1) as u64 * WORD_BYTES
}
