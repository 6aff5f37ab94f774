//! `warploom inspect --json`

use schemars::JsonSchema;
use serde::Serialize;
use warploom_container::{Binding, Function, FunctionId, Module, Modules, SymbolKind};
use warploom_replay::arguments::{self, Form};
use warploom_replay::report::SCHEMA;

/// The content of a file with GPU code.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Report {
    /// The version of this form of a report.
    pub schema: u32,
    pub file: String,
    /// The format of the file, such as `NVIDIA cubin`.
    pub format: Option<String>,
    pub modules: Vec<ModuleReport>,
    /// Why code for a GPU cannot be read.
    pub not_read: Vec<String>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub struct ModuleReport {
    /// The instruction set, such as `NVIDIA sm_50 (Maxwell)`.
    pub isa: String,
    pub kernels: Vec<KernelReport>,
    pub functions: Vec<FunctionReport>,
    pub symbols: Vec<SymbolReport>,
    /// Kernels that cannot be read, and why.
    pub unreadable: Vec<UnreadableReport>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub struct KernelReport {
    pub name: String,
    /// The name and the types of the arguments as a source may have them.
    pub signature: String,
    /// False for programs of a pipeline and for plain streams.
    pub compute: bool,
    pub code_bytes: u64,
    /// The 32-bit registers of a lane.
    pub registers: u32,
    /// The static shared memory of a block.
    pub shared_bytes: u64,
    /// The local memory of a lane; `None` if calls hide it.
    pub stack_bytes: Option<u32>,
    /// The block shape that the kernel asks for.
    pub required_block: Option<[u32; 3]>,
    /// The most lanes of a block per axis.
    pub most_lanes: Option<[u32; 3]>,
    pub arguments: Vec<ArgumentReport>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub struct ArgumentReport {
    pub name: Option<String>,
    /// The type in the source.
    #[serde(rename = "type")]
    pub type_name: Option<String>,
    pub bytes: u32,
    /// The form that an `[[arg]]` has: a number's type, `buffer`, `local`, `surface`, `texture`,
    /// `sampler` or `bytes`. It is a guess where the binary has sizes only.
    pub form: &'static str,
    /// The type of a buffer's elements.
    pub elements: Option<&'static str>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub struct FunctionReport {
    pub name: String,
    pub code_bytes: u64,
}

#[derive(Debug, Serialize, JsonSchema)]
pub struct SymbolReport {
    pub name: String,
    pub kind: &'static str,
    pub bytes: u64,
    /// `local`, `global` or `weak`.
    pub binding: &'static str,
    pub defined: bool,
}

#[derive(Debug, Serialize, JsonSchema)]
pub struct UnreadableReport {
    pub name: String,
    pub error: String,
}

/// Returns the report of a file's modules.
pub(super) fn report(file: String, format: Option<String>, found: &Modules) -> Report {
    Report {
        schema: SCHEMA,
        file,
        format,
        modules: found.modules.iter().map(module).collect(),
        not_read: found.unreadable.iter().map(ToString::to_string).collect(),
    }
}

fn module(module: &Module) -> ModuleReport {
    let functions = module.functions.iter().filter(|function| !function.kernel);
    let unreadable = module.unreadable.iter();
    ModuleReport {
        isa: module.isa.to_string(),
        kernels: module.kernels().map(|(id, function)| kernel(module, id, function)).collect(),
        functions: functions
            .map(|one| FunctionReport { name: one.name.clone(), code_bytes: one.size })
            .collect(),
        symbols: module
            .symbols
            .iter()
            .map(|symbol| SymbolReport {
                name: symbol.name.clone(),
                kind: kind(symbol.kind),
                bytes: symbol.size,
                binding: binding(symbol.binding),
                defined: symbol.section.is_some(),
            })
            .collect(),
        unreadable: unreadable
            .map(|one| UnreadableReport { name: one.name.clone(), error: one.error.to_string() })
            .collect(),
    }
}

fn kernel(module: &Module, id: FunctionId, function: &Function) -> KernelReport {
    KernelReport {
        name: function.name.clone(),
        signature: arguments::signature(module, id),
        compute: arguments::is_compute(function),
        code_bytes: function.size,
        registers: function.registers,
        shared_bytes: function.shared_bytes,
        stack_bytes: function.stack_bytes,
        required_block: function.required_threads,
        most_lanes: function.max_threads,
        arguments: arguments::arguments(module, id).into_iter().map(argument).collect(),
    }
}

fn argument(argument: arguments::Argument) -> ArgumentReport {
    let elements = match argument.form {
        Form::Buffer(dtype) => dtype.map(|dtype| dtype.name()),
        _ => None,
    };
    ArgumentReport {
        form: argument.form.name(),
        name: argument.name,
        type_name: argument.type_name,
        bytes: argument.size,
        elements,
    }
}

fn kind(kind: SymbolKind) -> &'static str {
    match kind {
        SymbolKind::Function => "function",
        SymbolKind::Object => "object",
        SymbolKind::Section => "section",
        SymbolKind::Texture => "texture",
        SymbolKind::Surface => "surface",
        SymbolKind::Sampler => "sampler",
        SymbolKind::Descriptor => "descriptor",
    }
}

fn binding(binding: Binding) -> &'static str {
    match binding {
        Binding::Local => "local",
        Binding::Global => "global",
        Binding::Weak => "weak",
    }
}
