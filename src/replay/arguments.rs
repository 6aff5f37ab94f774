//! The arguments of a kernel, as far as a binary describes them.
//!
//! AMD's code objects and Intel's binaries have names and types of arguments. PTX has types of
//! numbers. The name of a C++ function has the types of its parameters, in every binary. Other
//! binaries have sizes only: 8 bytes are then taken for the address of a buffer, 4 bytes for an
//! integer.

use warploom_container::hsaco::ValueKind;
use warploom_container::visa::info::{AddressMode, ArgumentKind, PayloadArgument};
use warploom_container::{Function, FunctionId, Module, SymbolKind};
use warploom_ptx::layout;
use warploom_ptx::types::{Kind as PtxKind, Ty};

use crate::Dtype;
use crate::names::{self, parameter_types};

/// The form of an argument.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    Number(Dtype),
    /// The address of a buffer, with the type of its elements.
    Buffer(Option<Dtype>),
    /// Dynamic shared memory.
    Local,
    Surface,
    Texture,
    Sampler,
    /// A structure of so many bytes.
    Bytes(u32),
}

impl Form {
    /// Returns the key that an `[[arg]]` of this form has.
    pub fn name(self) -> &'static str {
        match self {
            Form::Number(dtype) => dtype.name(),
            Form::Buffer(_) => "buffer",
            Form::Local => "local",
            Form::Surface => "surface",
            Form::Texture => "texture",
            Form::Sampler => "sampler",
            Form::Bytes(_) => "bytes",
        }
    }
}

/// An argument of a kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Argument {
    /// The name in the source.
    pub name: Option<String>,
    /// The type in the source, or the type's name in PTX.
    pub type_name: Option<String>,
    /// The size in bytes.
    pub size: u32,
    pub form: Form,
}

/// Returns the arguments of a module's kernel.
pub fn arguments(module: &Module, kernel: FunctionId) -> Vec<Argument> {
    let function = module.function(kernel);
    let mut all: Vec<Argument> = function
        .params
        .iter()
        .map(|param| {
            let form = form_of_size(param.size);
            Argument { name: None, type_name: None, size: param.size, form }
        })
        .collect();
    match (&function.hsa, &function.visa) {
        (Some(hsa), _) => {
            for (argument, found) in all.iter_mut().zip(&hsa.args) {
                argument.name.clone_from(&found.name);
                argument.set_type(found.type_name.as_deref());
                argument.form = match found.kind {
                    ValueKind::GlobalBuffer => argument.buffer(),
                    ValueKind::DynamicSharedPointer => Form::Local,
                    ValueKind::Sampler => Form::Sampler,
                    ValueKind::Image => Form::Surface,
                    ValueKind::ByValue | ValueKind::Pipe | ValueKind::Queue => argument.value(),
                };
            }
        }
        (None, Some(visa)) => {
            let Some(info) = &visa.info else { return all };
            for (argument, number) in all.iter_mut().zip(0..) {
                if let Some(named) = info.args.iter().find(|arg| arg.index == number) {
                    argument.name = Some(named.name.clone());
                    // Behind a semicolon is the size.
                    let name = named.type_name.split(';').next();
                    argument.set_type(name);
                }
                let payload = info.payload.iter().find(|arg| arg.arg_index == Some(number));
                let is = |ty: &str| argument.type_name.as_deref().is_some_and(|t| t.contains(ty));
                argument.form = match payload {
                    _ if is("image") => Form::Surface,
                    _ if is("sampler") => Form::Sampler,
                    Some(found) if is_shared(found) => Form::Local,
                    Some(found) if found.kind == ArgumentKind::ByValue => argument.value(),
                    _ => argument.buffer(),
                };
            }
        }
        (None, None) => {
            of_ptx(module, kernel, &mut all);
            let types = parameter_types(&function.name);
            if let Some(types) = types.filter(|types| types.len() == all.len()) {
                for (argument, name) in all.iter_mut().zip(types) {
                    let image = matches!(argument.form, Form::Surface | Form::Texture);
                    argument.set_type(Some(&name));
                    if !image {
                        argument.form = argument.value();
                    }
                }
            }
        }
    }
    all
}

fn is_shared(found: &PayloadArgument) -> bool {
    found.kind == ArgumentKind::ByPointer && found.address_mode == Some(AddressMode::Slm)
}

/// Adds the names and types that PTX declares.
fn of_ptx(module: &Module, kernel: FunctionId, all: &mut [Argument]) {
    let Some(ptx) = &module.ptx else { return };
    let Some(&function) = ptx.functions.get(&kernel) else { return };
    let (places, _) = layout::parameters(&ptx.module, function);
    for (argument, (id, _)) in all.iter_mut().zip(places) {
        let variable = ptx.module.variable(id);
        let is_made = variable
            .name
            .rsplit_once("param_")
            .is_some_and(|(_, number)| number.bytes().all(|digit| digit.is_ascii_digit()));
        argument.name = Some(variable.name.clone()).filter(|_| !is_made);
        let (ty, bytes) = (variable.ty, u64::from(variable.ty.bytes()));
        argument.type_name = Some(format!(".{}", ty.name())).filter(|_| bytes == variable.size);
        argument.form = match (ty.kind(), bytes == variable.size) {
            (PtxKind::Opaque, _) if ty.name() == "surfref" => Form::Surface,
            (PtxKind::Opaque, _) if ty.name() == "texref" => Form::Texture,
            (PtxKind::Opaque, _) => Form::Sampler,
            (_, true) => form_of_ptx(ty),
            (_, false) => Form::Bytes(argument.size),
        };
    }
}

/// Returns the form of an argument of which PTX has the type. An integer of 64 bits is taken for an
/// address.
fn form_of_ptx(ty: Ty) -> Form {
    let bytes = ty.bytes();
    let signed = ty.kind() == PtxKind::Signed;
    let dtype = match (ty, bytes) {
        (Ty::F16, _) => Dtype::F16,
        (Ty::F32, _) => Dtype::F32,
        (Ty::F64, _) => Dtype::F64,
        (_, 1) if signed => Dtype::I8,
        (_, 2) if signed => Dtype::I16,
        (_, 4) if signed => Dtype::I32,
        _ => return form_of_size(bytes),
    };
    Form::Number(dtype)
}

/// Returns the form of an argument of which only the size is known.
fn form_of_size(bytes: u32) -> Form {
    match bytes {
        1 => Form::Number(Dtype::U8),
        2 => Form::Number(Dtype::U16),
        4 => Form::Number(Dtype::I32),
        8 => Form::Buffer(None),
        _ => Form::Bytes(bytes),
    }
}

impl Argument {
    fn set_type(&mut self, name: Option<&str>) {
        if let Some(name) = name.map(str::trim).filter(|name| !name.is_empty()) {
            self.type_name = Some(name.to_string());
        }
    }

    /// Returns the form of a buffer whose elements have the type that the argument's type names.
    fn buffer(&self) -> Form {
        let name = self.type_name.as_deref().unwrap_or_default();
        Form::Buffer(name.split(['*', '&']).next().and_then(dtype))
    }

    /// Returns the form of an argument of the argument's type, as far as its name is known.
    fn value(&self) -> Form {
        let Some(name) = &self.type_name else { return form_of_size(self.size) };
        if name.contains(['*', '&']) {
            return self.buffer();
        }
        let number = dtype(name).filter(|dtype| dtype.bytes() as u32 == self.size);
        number.map_or_else(|| structure(self.size), Form::Number)
    }
}

/// Returns the form of a value whose type is unknown, but is no address.
fn structure(bytes: u32) -> Form {
    match form_of_size(bytes) {
        Form::Buffer(_) => Form::Number(Dtype::U64),
        form => form,
    }
}

/// Returns the element type that C, C++ or OpenCL names.
fn dtype(name: &str) -> Option<Dtype> {
    let mut words = Vec::new();
    let mut unsigned = false;
    for word in name.split_whitespace() {
        match word {
            "const" | "volatile" | "restrict" | "__restrict__" | "signed" => {}
            "unsigned" => unsigned = true,
            word => words.push(word),
        }
    }
    let signed = |signed, other| Some(if unsigned { other } else { signed });
    match words.join(" ").as_str() {
        "float" => Some(Dtype::F32),
        "double" => Some(Dtype::F64),
        "half" | "__half" | "_Float16" => Some(Dtype::F16),
        "char" | "int8_t" => signed(Dtype::I8, Dtype::U8),
        "short" | "short int" => signed(Dtype::I16, Dtype::U16),
        "int" | "" if unsigned || words.len() == 1 => signed(Dtype::I32, Dtype::U32),
        "long" | "long long" | "long int" => signed(Dtype::I64, Dtype::U64),
        "uchar" | "bool" => Some(Dtype::U8),
        "ushort" => Some(Dtype::U16),
        "uint" => Some(Dtype::U32),
        "ulong" | "size_t" => Some(Dtype::U64),
        _ => None,
    }
}

/// Returns the images and samplers that a module has as variables, with their form.
pub fn image_variables(module: &Module) -> impl Iterator<Item = (&str, Form)> {
    module.symbols.iter().filter_map(|symbol| {
        let form = match symbol.kind {
            SymbolKind::Surface => Form::Surface,
            SymbolKind::Texture => Form::Texture,
            SymbolKind::Sampler => Form::Sampler,
            _ => return None,
        };
        Some((symbol.name.as_str(), form))
    })
}

/// Tells whether a kernel is launched by itself, not as a program of a pipeline or a plain stream.
pub fn is_compute(kernel: &Function) -> bool {
    kernel.header.is_none() && kernel.shader.is_none() && kernel.raw.is_none()
}

/// Returns a kernel's name and arguments as its source may have them.
pub fn signature(module: &Module, kernel: FunctionId) -> String {
    let name = &module.function(kernel).name;
    if let Some(text) = names::demangled(name, false) {
        return text;
    }
    let argument = |argument: Argument| match (argument.name, argument.type_name) {
        (Some(name), Some(ty)) => format!("{ty} {name}"),
        (Some(name), None) => format!("{name}: {} bytes", argument.size),
        (None, Some(ty)) => ty,
        (None, None) => format!("{} bytes", argument.size),
    };
    let all: Vec<String> = arguments(module, kernel).into_iter().map(argument).collect();
    format!("{name}({})", all.join(", "))
}

/// Returns the block shape to start from: the shape that a kernel asks for, or else 256 lanes, and
/// no more than the kernel takes.
pub fn block(function: &Function) -> [u32; 3] {
    const LANES: u32 = 256;
    let most = |most: [u32; 3]| most.iter().fold(1_u32, |lanes, &axis| lanes.saturating_mul(axis));
    let of_amd = function.hsa.as_ref();
    let required = of_amd.and_then(|hsa| hsa.reqd_workgroup_size).or(function.required_threads);
    let flat = of_amd.and_then(|hsa| hsa.max_flat_workgroup_size);
    let most = flat.or(function.max_threads.map(most)).unwrap_or(LANES);
    required.unwrap_or([most.clamp(1, LANES), 1, 1])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_of_sources_are_known() {
        let known = [
            ("float const", Some(Dtype::F32)),
            ("unsigned int", Some(Dtype::U32)),
            ("unsigned", Some(Dtype::U32)),
            ("unsigned long long", Some(Dtype::U64)),
            ("const uchar", Some(Dtype::U8)),
            ("int", Some(Dtype::I32)),
            ("signed char", Some(Dtype::I8)),
            ("float4", None),
            ("", None),
        ];
        for (name, expected) in known {
            assert_eq!(dtype(name), expected, "{name}");
        }
    }

    #[test]
    fn a_value_of_another_size_than_its_type_is_bytes() {
        let argument = |type_name: &str, size| Argument {
            name: None,
            type_name: Some(type_name.into()),
            size,
            form: Form::Bytes(size),
        };
        assert_eq!(argument("int", 4).value(), Form::Number(Dtype::I32));
        assert_eq!(argument("Shape", 8).value(), Form::Number(Dtype::U64));
        assert_eq!(argument("Shape", 24).value(), Form::Bytes(24));
        assert_eq!(argument("float const*", 8).value(), Form::Buffer(Some(Dtype::F32)));
    }
}
