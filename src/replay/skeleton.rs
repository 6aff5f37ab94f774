//! A manifest to start from: each argument has a value that runs, with its name and type.

use std::collections::BTreeSet;
use std::fmt::Write;
use std::path::Path;

use warploom_container::{FunctionId, Module};

use crate::Dtype;
use crate::arguments::{self, Argument, Form};

/// The size of a buffer and of a local memory whose size only the user knows, in bytes.
pub const BUFFER_BYTES: u64 = 4096;
const LOCAL_BYTES: u32 = 1024;

/// An image of the manifest.
const SURFACE: &str = "dim = \"2d\"\nsize = [16, 16]\nformat = \"rgba8_unorm\"\n";
const SAMPLING: &str = "filter = \"nearest\", address = \"clamp_to_edge\"";

/// Returns the text of a manifest that launches a kernel of a binary. `binary` is the path as the
/// manifest is to have it, `arch` the GPU whose code is taken.
pub fn manifest(binary: &Path, module: &Module, kernel: FunctionId, arch: Option<&str>) -> String {
    let name = &module.function(kernel).name;
    let mut all = String::new();
    let mut add = |text: String| all += &text;
    // A control character would end the comment.
    let shown = name.replace(char::is_control, "");
    add(format!("# A launch of {shown}, code for {}.\n", module.isa));
    add("# Sizes and contents are to be filled in; docs/manifest.md has all keys.\n".into());
    add(format!("[kernel]\nbinary = {}\nentry = {}\n", quoted(&binary.display()), quoted(name)));
    if let Some(arch) = arch {
        add(format!("arch = {}\n", quoted(&arch)));
    }
    let block = arguments::block(module.function(kernel));
    add(format!("\n[launch]\ngrid = [1, 1, 1]\nblock = {block:?}\n"));

    let mut names = Names::default();
    let mut items = String::new();
    for (argument, number) in arguments::arguments(module, kernel).iter().zip(1..) {
        let item = names.item(argument, number);
        add(format!("\n[[arg]]{}\n{}\n", comment(argument), value(argument, &item)));
        items += &described(argument.form, &item);
    }
    for (variable, form) in arguments::image_variables(module) {
        items += &described(form, variable);
    }
    add(items);
    all
}

/// Returns the options of `warploom run` for the arguments of a kernel, each as KIND=VALUE.
///
/// # Errors
/// Returns the number of an argument, from 1, that only a manifest can describe.
pub fn options(module: &Module, kernel: FunctionId) -> Result<Vec<String>, usize> {
    let option = |(argument, number): (&Argument, usize)| match argument.form {
        Form::Number(dtype) => Ok(format!("{}=0", dtype.name())),
        Form::Buffer(None) => Ok(format!("zeros={BUFFER_BYTES}")),
        Form::Buffer(Some(dtype)) => {
            let elements = BUFFER_BYTES / dtype.bytes() as u64;
            Ok(format!("zeros={}[{elements}]", dtype.name()))
        }
        Form::Local => Ok(format!("local={LOCAL_BYTES}")),
        Form::Bytes(bytes) => Ok(format!("bytes={}", "00".repeat(bytes as usize))),
        Form::Surface | Form::Texture | Form::Sampler => Err(number),
    };
    arguments::arguments(module, kernel).iter().zip(1..).map(option).collect()
}

/// The names of a manifest's items, each once.
#[derive(Default)]
struct Names(BTreeSet<String>);

impl Names {
    /// Returns a name for the item of an argument.
    fn item(&mut self, argument: &Argument, number: usize) -> String {
        let plain = |name: &&String| {
            !name.is_empty()
                && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
        };
        let own = argument.name.as_ref().filter(plain).filter(|name| !self.0.contains(*name));
        let name = own.cloned().unwrap_or_else(|| format!("arg{number}"));
        self.0.insert(name.clone());
        name
    }
}

/// Returns a comment with an argument's name and type.
fn comment(argument: &Argument) -> String {
    match (&argument.name, &argument.type_name) {
        (None, None) => format!("  # {} bytes", argument.size),
        (None, Some(ty)) => format!("  # {ty}"),
        (Some(name), None) => format!("  # {name}, {} bytes", argument.size),
        (Some(name), Some(ty)) => format!("  # {name}: {ty}"),
    }
    // A control character would end the comment.
    .replace(char::is_control, "")
}

/// Returns the key and the value of an `[[arg]]`.
fn value(argument: &Argument, item: &str) -> String {
    match argument.form {
        Form::Number(dtype @ (Dtype::F16 | Dtype::F32 | Dtype::F64)) => {
            format!("{} = 0.0", dtype.name())
        }
        Form::Number(dtype) => format!("{} = 0", dtype.name()),
        Form::Buffer(_) => format!("buffer = \"{item}\""),
        Form::Local => format!("local = {LOCAL_BYTES}"),
        Form::Surface => format!("surface = \"{item}\""),
        Form::Texture => format!("texture = \"{item}\""),
        Form::Sampler => format!("sampler = {{ {SAMPLING} }}"),
        Form::Bytes(bytes) => format!("bytes = \"{}\"", "00".repeat(bytes as usize)),
    }
}

/// Returns the tables of an item.
fn described(form: Form, item: &str) -> String {
    let mut text = String::new();
    let name = quoted(&item);
    let result = match form {
        Form::Buffer(dtype) => write!(
            text,
            "\n[buffer.{item}]\nzeros = {BUFFER_BYTES}  # bytes; or file = \"x.npy\", or values = [1, 2]\n\
             dtype = \"{}\"\n",
            dtype.unwrap_or(Dtype::U8).name()
        ),
        Form::Surface => write!(text, "\n[surface.{name}]\n{SURFACE}"),
        Form::Texture => write!(
            text,
            "\n[surface.{image}]\n{SURFACE}\n[texture.{name}]\nsurface = {image}\n{}\n",
            SAMPLING.replace(", ", "\n"),
            image = quoted(&format!("{item}_image")),
        ),
        Form::Sampler | Form::Number(_) | Form::Local | Form::Bytes(_) => Ok(()),
    };
    result.expect("writing to a string does not fail");
    text
}

/// Returns a string of TOML, which can be a key too.
fn quoted(text: &impl std::fmt::Display) -> String {
    let mut quoted = String::from('"');
    for character in text.to_string().chars() {
        match character {
            '"' | '\\' => quoted.extend(['\\', character]),
            _ if character.is_control() => quoted += &format!("\\u{:04X}", character as u32),
            _ => quoted.push(character),
        }
    }
    quoted + "\""
}
