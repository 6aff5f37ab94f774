//! Reads the parts around the code: the file's header and the tables of routines.

use warploom_guest::platform::Platform;

use super::operand::Operands;
use super::stream::Stream;
use super::{BinaryError, MAGIC, code, is_known};
use crate::module::*;
use crate::predefined::{FIRST_SURFACE, FIRST_VARIABLE};
use crate::types::{Align, Ty, Version};

/// A file whose routines are read separately.
#[derive(Clone, Debug)]
pub struct Read {
    pub platform: Option<Platform>,
    /// The routines in the order of the file. An unreadable routine has its name and error.
    pub routines: Vec<Result<Routine, (String, BinaryError)>>,
}

/// Reads a file.
///
/// # Errors
///
/// Returns the first error, with its offset and what was expected there. Some files of 2022 are
/// refused because their writer lost operands.
pub fn read(bytes: &[u8]) -> Result<Module, BinaryError> {
    let Read { platform, routines } = read_each(bytes)?;
    let routines = routines.into_iter().map(|routine| routine.map_err(|(_, error)| error));
    Ok(Module { platform, routines: routines.collect::<Result<_, _>>()?, in_data: vec![] })
}

/// Reads a file, each routine separately, so that routines may be unreadable.
///
/// # Errors
///
/// Returns an error of the file's own tables.
pub fn read_each(bytes: &[u8]) -> Result<Read, BinaryError> {
    let mut stream = Stream::new(bytes, Version::new(0, 0));
    if stream.take(4, "the magic number")? != MAGIC {
        return Err(BinaryError::new(0, "the magic number, expected `CISA`"));
    }
    let version = Version::new(stream.byte("the version")?, stream.byte("the version")?);
    if !is_known(version) {
        let what = format!(
            "version {version}, expected 3.0 to 3.8, 4.0, 4.1 or 4.8, of which there are binary files"
        );
        return Err(BinaryError::new(4, what));
    }
    stream.version = version;
    let mut heads = vec![];
    for _ in 0..stream.word("the number of kernels")? {
        heads.push(head(&mut stream, true)?);
    }
    let at = stream.at;
    if stream.word("the number of file variables")? != 0 {
        return Err(BinaryError::new(at, "file variables, expected none"));
    }
    for _ in 0..stream.word("the number of functions")? {
        heads.push(head(&mut stream, false)?);
    }
    let total: u64 = heads.iter().map(|head| u64::from(head.size)).sum();
    if total > bytes.len() as u64 {
        return Err(stream.error(format!(
            "routines of {total:#x} bytes in all, expected up to the file's {:#x}",
            bytes.len()
        )));
    }
    let platform = heads.iter().find_map(|head| head.platform);
    let mut read = Read { platform, routines: vec![] };
    let functions: Vec<String> =
        heads.iter().filter(|head| !head.kernel).map(|head| head.name.clone()).collect();
    for head in heads {
        let end = (head.offset as usize).saturating_add(head.size as usize);
        let name = head.name.clone();
        let mut part = stream.part(head.offset as usize, end)?;
        let mut routine = routine(&mut part, head).map_err(|error| (name, corrupt(version, error)));
        if let Ok(routine) = &mut routine
            && routine.kernel
        {
            routine.declared.clone_from(&functions);
        }
        read.routines.push(routine);
    }
    Ok(read)
}

/// Adds the likely cause to an error in a file of version 4.1.
///
/// For some months, compilers wrote version 4.1 without the last operands: facts, `visa.md` 1.
fn corrupt(version: Version, error: BinaryError) -> BinaryError {
    if version != Version::new(4, 1) {
        return error;
    }
    let reason = "files of version 4.1 that Intel's compiler 1.0.12198 to 1.0.13063 wrote (autumn 2022) lack operands and cannot be read";
    BinaryError { what: format!("{} ({reason})", error.what), ..error }
}

/// The number of Gen9 in the table of appended machine code.
const SKYLAKE: u8 = 5;

/// The place of a routine in the file.
struct Head {
    name: String,
    kernel: bool,
    offset: u32,
    size: u32,
    /// The platform of appended machine code for the routine.
    platform: Option<Platform>,
}

fn head(stream: &mut Stream<'_>, kernel: bool) -> Result<Head, BinaryError> {
    if !kernel {
        stream.byte("a function's linkage")?;
    }
    let wide = stream.version >= Version::new(3, 7);
    let length = if wide {
        stream.word("a name's length")?.into()
    } else {
        stream.byte("a name's length")?.into()
    };
    let at = stream.at;
    let name = stream.take(length, "a name")?;
    let name = String::from_utf8(name.to_vec())
        .map_err(|_| BinaryError::new(at, "a name that is no text"))?;
    let (offset, size) = (stream.dword("a routine's offset")?, stream.dword("a routine's size")?);
    if kernel {
        stream.dword("the offset of the inputs")?;
    }
    let at = stream.at;
    if (stream.word("relocations")?, stream.word("relocations")?) != (0, 0) {
        return Err(BinaryError::new(at, "relocations, expected none"));
    }
    let mut platform = None;
    if kernel {
        for _ in 0..stream.byte("the number of binaries")? {
            let binary = stream.take(9, "the place of a binary")?;
            platform = platform.or((binary[0] == SKYLAKE).then_some(Platform::Skl));
        }
    }
    Ok(Head { name, kernel, offset, size, platform })
}

/// The tables of a routine while they are being read.
struct Tables<'s, 'a> {
    stream: &'s mut Stream<'a>,
    strings: Vec<String>,
}

fn routine(stream: &mut Stream<'_>, head: Head) -> Result<Routine, BinaryError> {
    let start = stream.at;
    let count = stream.index("the number of strings")?;
    if count as usize > stream.left() {
        return Err(stream.error(format!("{count} strings in {} bytes", stream.left())));
    }
    let strings = (0..count).map(|_| stream.string("a string")).collect::<Result<Vec<_>, _>>()?;
    let mut tables = Tables { stream, strings };
    tables.name("the routine's name")?;
    let mut routine = Routine::new(head.name, head.kernel, tables.stream.version);
    tables.variables(&mut routine)?;
    let count = tables.stream.word("the number of address variables")?;
    routine.addresses = tables.named(count.into())?;
    let count = tables.stream.word("the number of predicates")?;
    routine.predicates = tables.named(count.into())?;
    tables.labels(&mut routine)?;
    let count = tables.stream.byte("the number of samplers")?;
    routine.samplers = tables.named(count.into())?;
    let at = tables.stream.at;
    let count = tables.stream.byte("the number of surfaces")?;
    if count > u8::MAX - FIRST_SURFACE {
        return Err(BinaryError::new(
            at,
            format!("{count} surfaces, expected up to {}", u8::MAX - FIRST_SURFACE),
        ));
    }
    routine.surfaces = tables.named(count.into())?;
    let at = tables.stream.at;
    if tables.stream.byte("the number of VME variables")? != 0 {
        return Err(BinaryError::new(at, "VME variables, expected none"));
    }
    if routine.kernel {
        tables.inputs(&mut routine)?;
    }
    let at = tables.stream.at;
    let (size, entry) =
        (tables.stream.dword("the size of the code")?, tables.stream.dword("the entry")?);
    let mut stack_registers = (0, 0);
    if !routine.kernel {
        stack_registers =
            (tables.stream.byte("argument registers")?, tables.stream.byte("result registers")?);
    }
    let count = tables.stream.word("the number of attributes")?;
    routine.attributes = tables.attributes(count.into())?;
    let code_at = tables.stream.at;
    if entry as usize != code_at - start || size as usize != tables.stream.left() {
        let what = format!(
            "{size:#x} bytes of code from {entry:#x} on, expected {:#x} from {:#x} on",
            tables.stream.left(),
            code_at - start
        );
        return Err(BinaryError::new(at, what));
    }
    let strings = tables.strings;
    routine.binary = Some(BinaryParts { strings, stack_registers, code_at: code_at as u32 });
    let mut instructions = vec![];
    let operands = Operands { routine: &routine };
    while !stream.is_at_end() {
        instructions.push(code::instruction(stream, &operands)?);
    }
    routine.code = instructions;
    Ok(routine)
}

impl Tables<'_, '_> {
    fn name(&mut self, what: &str) -> Result<String, BinaryError> {
        let at = self.stream.at;
        let index = self.stream.index(what)?;
        let known = self.strings.get(index as usize).cloned();
        known.ok_or_else(|| {
            BinaryError::new(at, format!("string {index}, expected one of {}", self.strings.len()))
        })
    }

    fn variables(&mut self, routine: &mut Routine) -> Result<(), BinaryError> {
        let count = self.stream.index("the number of variables")?;
        let mut names = UniqueNames::default();
        for number in 0..count {
            let name = names.of(&self.name("a variable's name")?);
            let at = self.stream.at;
            let props = self.stream.peek().unwrap_or(0);
            let ty = Ty::from_code(props & 15);
            let align = Align::from_code(props >> 4);
            self.stream.byte("a variable's type")?;
            let (Some(ty), Some(align)) = (ty, align) else {
                return Err(BinaryError::new(
                    at,
                    format!("type and alignment {props:#04x}, which are none"),
                ));
            };
            let elements = self.stream.word("a variable's size")?;
            let at = self.stream.at;
            let alias = self.stream.index("an alias")?;
            let offset = self.stream.word("an alias's offset")?;
            if alias >= FIRST_VARIABLE + number {
                return Err(BinaryError::new(
                    at,
                    format!("an alias of variable {alias}, expected one before it"),
                ));
            }
            let at = self.stream.at;
            if self.stream.byte("an alias's scope")? != 0 {
                return Err(BinaryError::new(at, "an alias of a file variable, expected none"));
            }
            let attributes = self.byte_attributes()?;
            let alias = (alias != 0).then_some((VariableId(alias), offset.into()));
            routine.variables.push(Variable {
                name,
                ty,
                elements: elements.into(),
                align,
                alias,
                attributes,
            });
        }
        Ok(())
    }

    fn named(&mut self, count: usize) -> Result<Vec<Named>, BinaryError> {
        let mut all = vec![];
        for _ in 0..count {
            let name = self.name("a name")?;
            let elements = self.stream.word("a number of elements")?;
            all.push(Named {
                name,
                elements: elements.into(),
                attributes: self.byte_attributes()?,
            });
        }
        Ok(all)
    }

    fn labels(&mut self, routine: &mut Routine) -> Result<(), BinaryError> {
        for _ in 0..self.stream.word("the number of labels")? {
            let name = self.name("a label's name")?;
            let kind = self.stream.byte("a label's kind")?;
            routine.labels.push(Label { name, kind, attributes: self.byte_attributes()? });
        }
        Ok(())
    }

    fn inputs(&mut self, routine: &mut Routine) -> Result<(), BinaryError> {
        let count = match self.stream.version < Version::new(3, 5) {
            true => self.stream.byte("the number of inputs")?.into(),
            false => self.stream.dword("the number of inputs")?,
        };
        for _ in 0..count {
            let at = self.stream.at;
            let kind = self.stream.byte("an input")?;
            let id = self.stream.index("an input")?;
            let unknown = || {
                BinaryError::new(
                    at,
                    format!("an input of kind {kind:#04x} and number {id}, which is not declared"),
                )
            };
            let of = match (kind & 7, u8::try_from(id)) {
                (0, _) if routine.variable_exists(VariableId(id)) => {
                    InputOf::Variable(VariableId(id))
                }
                (1, Ok(id)) => InputOf::Sampler(SamplerId(id)),
                (2, Ok(id)) => InputOf::Surface(SurfaceId(id)),
                _ => return Err(unknown()),
            };
            let offset = self.stream.word("an input's offset")? as i16;
            let size = self.stream.word("an input's size")?;
            routine.inputs.push(Input {
                of,
                implicit: kind >> 3,
                offset: offset.into(),
                size: size.into(),
            });
        }
        Ok(())
    }

    fn byte_attributes(&mut self) -> Result<Vec<Attribute>, BinaryError> {
        let count = self.stream.byte("the number of attributes")?;
        self.attributes(count.into())
    }

    fn attributes(&mut self, count: usize) -> Result<Vec<Attribute>, BinaryError> {
        let mut all = vec![];
        for _ in 0..count {
            let name = self.name("an attribute's name")?;
            let length = self.stream.byte("an attribute's length")?;
            let bytes = self.stream.take(length.into(), "an attribute")?;
            let value = match bytes {
                _ if is_text(&name) => Value::Text(String::from_utf8_lossy(bytes).into_owned()),
                [] => Value::Flag,
                &[byte] => Value::Integer((byte as i8).into()),
                &[a, b] => Value::Integer(i16::from_le_bytes([a, b]).into()),
                &[a, b, c, d] => Value::Integer(i32::from_le_bytes([a, b, c, d])),
                _ => Value::Text(String::from_utf8_lossy(bytes).into_owned()),
            };
            all.push(Attribute { name, value, bytes: length });
        }
        Ok(all)
    }
}

/// Returns whether an attribute is text.
fn is_text(name: &str) -> bool {
    matches!(name, "OutputAsmPath" | "AsmName")
}
