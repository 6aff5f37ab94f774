//! Writes files for [`super::file`] to read, without machine code.

use rustc_hash::FxHashMap;

use super::stream::Sink;
use super::{MAGIC, is_known, write_code as code};
use crate::module::*;
use crate::predefined;
use crate::types::Version;

/// The reason why a module or routine has no binary form.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum WriteError {
    #[error("version {version} has no binary form")]
    Version { version: Version },
    #[error(
        "routine `{routine}`, instruction {number}: `{name}` has no binary form in version {version} as it is here"
    )]
    Instruction { routine: String, number: usize, name: &'static str, version: Version },
    #[error("routine `{routine}`: {what} does not fit the binary form")]
    Table { routine: String, what: &'static str },
}

/// The strings of a routine with their indices.
struct Strings {
    list: Vec<String>,
    index: FxHashMap<String, u32>,
}

impl Strings {
    fn new(routine: &Routine) -> Strings {
        let list = routine.binary.as_ref().map_or(vec![], |binary| binary.strings.clone());
        let mut index = FxHashMap::default();
        for (name, at) in list.iter().zip(0..) {
            index.entry(name.clone()).or_insert(at);
        }
        Strings { list, index }
    }

    fn index(&mut self, name: &str) -> u32 {
        *self.index.entry(name.to_string()).or_insert_with(|| {
            self.list.push(name.to_string());
            self.list.len() as u32 - 1
        })
    }
}

/// Returns the file of a module, whose routines must all be of one version.
pub fn write(module: &Module) -> Result<Vec<u8>, WriteError> {
    let version = module.routines.first().map_or(Version::new(4, 1), |routine| routine.version);
    if !is_known(version) {
        return Err(WriteError::Version { version });
    }
    let mut bodies = vec![];
    for routine in &module.routines {
        if routine.version != version {
            return Err(WriteError::Version { version: routine.version });
        }
        bodies.push(self::routine(routine)?);
    }
    let kernels: Vec<_> =
        module.routines.iter().zip(&bodies).filter(|(routine, _)| routine.kernel).collect();
    let functions: Vec<_> =
        module.routines.iter().zip(&bodies).filter(|(routine, _)| !routine.kernel).collect();
    // The offsets in the head do not change its length.
    let head = |first: u32| head(version, &kernels, &functions, first);
    let length = head(0)?.len() as u32;
    let mut file = head(length)?;
    for (_, body) in kernels.iter().chain(&functions) {
        file.extend(&body.bytes);
    }
    Ok(file)
}

/// Returns the code of a routine.
pub fn write_code(routine: &Routine) -> Result<Vec<u8>, WriteError> {
    let mut strings = Strings::new(routine);
    instructions(routine, &mut strings)
}

fn instructions(routine: &Routine, strings: &mut Strings) -> Result<Vec<u8>, WriteError> {
    let mut sink = Sink::new(routine.version);
    for (number, one) in routine.code.iter().enumerate() {
        let written = code::instruction(&mut sink, routine, one, &mut |name| strings.index(name));
        written.ok_or_else(|| WriteError::Instruction {
            routine: routine.name.clone(),
            number,
            name: one.row.name,
            version: routine.version,
        })?;
    }
    Ok(sink.bytes)
}

struct Body {
    bytes: Vec<u8>,
    /// The offset of the count of the inputs.
    inputs: u32,
}

fn head(
    version: Version,
    kernels: &[(&Routine, &Body)],
    functions: &[(&Routine, &Body)],
    first: u32,
) -> Result<Vec<u8>, WriteError> {
    let mut sink = Sink::new(version);
    sink.bytes.extend(MAGIC);
    sink.byte(version.major);
    sink.byte(version.minor);
    let mut offset = first;
    for list in [kernels, functions] {
        let kernel = std::ptr::eq(list, kernels);
        sink.word(list.len() as u16);
        for (routine, body) in list {
            if !routine.kernel {
                sink.byte(1);
            }
            let too_long = || WriteError::Table { routine: routine.name.clone(), what: "the name" };
            if version >= Version::new(3, 7) {
                sink.word(u16::try_from(routine.name.len()).map_err(|_| too_long())?);
            } else {
                sink.byte(u8::try_from(routine.name.len()).map_err(|_| too_long())?);
            }
            sink.bytes.extend(routine.name.as_bytes());
            sink.dword(offset);
            sink.dword(body.bytes.len() as u32);
            if routine.kernel {
                sink.dword(offset + body.inputs);
            }
            sink.dword(0);
            if routine.kernel {
                sink.byte(0);
            }
            offset += body.bytes.len() as u32;
        }
        if kernel {
            // No file variables.
            sink.word(0);
        }
    }
    Ok(sink.bytes)
}

fn routine(routine: &Routine) -> Result<Body, WriteError> {
    let mut strings = Strings::new(routine);
    strings.index(&routine.name);
    if routine.binary.is_none() {
        let predefined =
            predefined::VARIABLES.iter().take(predefined::OLD_VARIABLES).map(|one| one.name);
        predefined.chain(predefined::SURFACES).for_each(|name| _ = strings.index(name));
    }
    let code = instructions(routine, &mut strings)?;
    let mut body = Sink::new(routine.version);
    let mut inputs = 0;
    let written = tables(&mut body, routine, &mut strings, &code, &mut inputs);
    written.map_err(|what| WriteError::Table { routine: routine.name.clone(), what })?;
    let mut all = Sink::new(routine.version);
    all.index(strings.list.len() as u32)
        .ok_or(WriteError::Table { routine: routine.name.clone(), what: "strings" })?;
    for string in &strings.list {
        all.bytes.extend(string.as_bytes());
        all.byte(0);
    }
    let inputs = all.bytes.len() as u32 + inputs;
    all.bytes.extend(&body.bytes);
    // The entry is the last number that depends on the strings.
    let entry = (all.bytes.len() - code.len()) as u32;
    let at = all.bytes.len() - body.bytes.len() + entry_place(&body.bytes, routine, &code);
    all.bytes[at..at + 4].copy_from_slice(&entry.to_le_bytes());
    Ok(Body { bytes: all.bytes, inputs })
}

/// Returns the offset of the entry in the tables: before the attributes.
fn entry_place(body: &[u8], routine: &Routine, code: &[u8]) -> usize {
    let index = if super::has_wide_indices(routine.version) { 4 } else { 2 };
    let attributes: usize = routine.attributes.iter().map(|one| index + 1 + value(one).len()).sum();
    let registers = if routine.kernel { 0 } else { 2 };
    body.len() - code.len() - attributes - 2 - registers - 4
}

type Written = Result<(), &'static str>;

/// Writes all tables behind the strings, with 0 for the entry.
fn tables(
    sink: &mut Sink,
    routine: &Routine,
    strings: &mut Strings,
    code: &[u8],
    inputs: &mut u32,
) -> Written {
    let word = |number: u32, what: &'static str| u16::try_from(number).map_err(|_| what);
    let byte = |number: usize, what: &'static str| u8::try_from(number).map_err(|_| what);
    let name = strings.index(&routine.name);
    sink.index(name).ok_or("strings")?;
    sink.index(routine.variables.len() as u32).ok_or("variables")?;
    for variable in &routine.variables {
        let name = strings.index(&variable.name);
        sink.index(name).ok_or("strings")?;
        let ty = Some(variable.ty.code()).filter(|&ty| ty < 16).ok_or("a variable's type")?;
        sink.byte(ty | variable.align.code() << 4);
        sink.word(word(variable.elements, "a variable's size")?);
        let (alias, offset) = variable.alias.unwrap_or((VariableId::NULL, 0));
        sink.index(alias.0).ok_or("variables")?;
        sink.word(word(offset, "an alias's offset")?);
        sink.byte(0);
        sink.byte(byte(variable.attributes.len(), "attributes")?);
        attributes(sink, strings, &variable.attributes)?;
    }
    sink.word(word(routine.addresses.len() as u32, "address variables")?);
    named(sink, strings, &routine.addresses)?;
    sink.word(word(routine.predicates.len() as u32, "predicates")?);
    named(sink, strings, &routine.predicates)?;
    sink.word(word(routine.labels.len() as u32, "labels")?);
    for label in &routine.labels {
        let name = strings.index(&label.name);
        sink.index(name).ok_or("strings")?;
        sink.byte(label.kind);
        sink.byte(byte(label.attributes.len(), "attributes")?);
        attributes(sink, strings, &label.attributes)?;
    }
    sink.byte(byte(routine.samplers.len(), "samplers")?);
    named(sink, strings, &routine.samplers)?;
    sink.byte(byte(routine.surfaces.len(), "surfaces")?);
    named(sink, strings, &routine.surfaces)?;
    sink.byte(0);
    if routine.kernel {
        *inputs = sink.bytes.len() as u32;
        write_inputs(sink, routine)?;
    }
    sink.dword(code.len() as u32);
    sink.dword(0);
    if !routine.kernel {
        let registers = |name| {
            routine.attribute(name).and_then(|number| u8::try_from(number).ok()).unwrap_or(0)
        };
        let from_attributes = (registers("ArgSize"), registers("RetValSize"));
        let (arguments, result) =
            routine.binary.as_ref().map_or(from_attributes, |binary| binary.stack_registers);
        sink.byte(arguments);
        sink.byte(result);
    }
    sink.word(word(routine.attributes.len() as u32, "attributes")?);
    attributes(sink, strings, &routine.attributes)?;
    sink.bytes.extend(code);
    Ok(())
}

fn write_inputs(sink: &mut Sink, routine: &Routine) -> Written {
    let count = routine.inputs.len();
    match routine.version < Version::new(3, 5) {
        true => sink.byte(u8::try_from(count).map_err(|_| "inputs")?),
        false => sink.dword(count as u32),
    }
    for input in &routine.inputs {
        let (class, id) = match input.of {
            InputOf::Variable(id) => (0, id.0),
            InputOf::Sampler(id) => (1, id.0.into()),
            InputOf::Surface(id) => (2, id.0.into()),
        };
        sink.byte(class | input.implicit << 3);
        sink.index(id).ok_or("variables")?;
        sink.word(i16::try_from(input.offset).map_err(|_| "an input's offset")? as u16);
        sink.word(u16::try_from(input.size).map_err(|_| "an input's size")?);
    }
    Ok(())
}

fn named(sink: &mut Sink, strings: &mut Strings, all: &[Named]) -> Written {
    for one in all {
        let name = strings.index(&one.name);
        sink.index(name).ok_or("strings")?;
        sink.word(u16::try_from(one.elements).map_err(|_| "a number of elements")?);
        sink.byte(u8::try_from(one.attributes.len()).map_err(|_| "attributes")?);
        attributes(sink, strings, &one.attributes)?;
    }
    Ok(())
}

fn attributes(sink: &mut Sink, strings: &mut Strings, all: &[Attribute]) -> Written {
    for one in all {
        let name = strings.index(&one.name);
        sink.index(name).ok_or("strings")?;
        let bytes = value(one);
        sink.byte(u8::try_from(bytes.len()).map_err(|_| "an attribute")?);
        sink.bytes.extend(bytes);
    }
    Ok(())
}

/// Returns an attribute's bytes.
///
/// A number takes as few bytes as it can, unless it was read from more.
fn value(attribute: &Attribute) -> Vec<u8> {
    match &attribute.value {
        Value::Flag => vec![],
        Value::Text(text) => text.as_bytes().to_vec(),
        &Value::Integer(number) => {
            let least = match (i8::try_from(number), i16::try_from(number)) {
                (Ok(_), _) => 1,
                (_, Ok(_)) => 2,
                _ => 4,
            };
            number.to_le_bytes()[..usize::from(attribute.bytes.clamp(least, 4))].to_vec()
        }
    }
}
