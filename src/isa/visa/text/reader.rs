//! Reads a text, line by line.

use rustc_hash::FxHashMap;
use warploom_guest::errors::line_column;
use warploom_guest::platform::Platform;

use super::cursor::Cursor;
use super::error::{ReadError, ReadErrors, Result, Wrong};
use super::lines;
use crate::module::*;
use crate::predefined::{self, BINDLESS_SAMPLER, FIRST_SURFACE};
use crate::table;
use crate::types::Version;

/// The object that a name stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Name {
    Variable(VariableId),
    Address(AddressId),
    Predicate(PredicateId),
    Sampler(SamplerId),
    Surface(SurfaceId),
}

/// The names of a routine. Names of an inner scope hide outer names until it ends.
#[derive(Default)]
pub(super) struct Names {
    known: FxHashMap<String, Name>,
    /// The unique names of variables, since another scope may declare a name too.
    pub unique: UniqueNames,
    /// The names that each open scope hides, with their outer objects.
    scopes: Vec<FxHashMap<String, Option<Name>>>,
}

impl Names {
    /// Declares a name in the innermost scope.
    pub fn declare(&mut self, name: &str, of: Name) {
        let hidden = self.known.insert(name.to_string(), of);
        if let Some(scope) = self.scopes.last_mut() {
            scope.entry(name.to_string()).or_insert(hidden);
        }
    }

    /// Returns the object that the innermost scope declares by a name.
    pub fn in_scope(&self, name: &str) -> Option<Name> {
        let here = self.scopes.last().is_none_or(|scope| scope.contains_key(name));
        self.known.get(name).copied().filter(|_| here)
    }

    fn leave(&mut self) -> Option<()> {
        for (name, hidden) in self.scopes.pop()? {
            match hidden {
                Some(of) => self.known.insert(name, of),
                None => self.known.remove(&name),
            };
        }
        Some(())
    }

    /// Returns the declared or predefined object of a name.
    pub fn find(&self, name: &str) -> Option<Name> {
        self.known.get(name).copied().or_else(|| predefined_name(name))
    }
}

fn predefined_name(name: &str) -> Option<Name> {
    if let Some(number) = predefined::VARIABLES.iter().position(|one| one.name == name) {
        return Some(Name::Variable(VariableId(number as u32)));
    }
    if let Some(number) = predefined::SURFACES.iter().position(|&one| one == name) {
        return Some(Name::Surface(SurfaceId(number as u8)));
    }
    let number = || name.get(1..)?.parse::<u8>().ok();
    match (name.as_bytes().first()?, number()?) {
        (b'V', number) if usize::from(number) < predefined::VARIABLES.len() => {
            Some(Name::Variable(VariableId(number.into())))
        }
        (b'T', number) if number < FIRST_SURFACE => Some(Name::Surface(SurfaceId(number))),
        (b'S', BINDLESS_SAMPLER) => Some(Name::Sampler(SamplerId(BINDLESS_SAMPLER))),
        _ => None,
    }
}

/// The deepest nesting of scopes.
const MAX_SCOPES: usize = 1 << 10;

/// A routine that cannot be read.
#[derive(Clone, Debug)]
pub struct Unreadable {
    pub name: String,
    pub kernel: bool,
    pub errors: ReadErrors,
}

/// A text whose routines are read separately.
#[derive(Clone, Debug)]
pub struct Read {
    /// The platform that a comment at the end names.
    pub platform: Option<Platform>,
    /// The routines in the order of the text.
    pub routines: Vec<std::result::Result<Routine, Unreadable>>,
}

/// The state of the reader: the routine that is being read, and the position.
pub(super) struct Reader {
    routines: Vec<std::result::Result<Routine, Unreadable>>,
    /// The errors of the routine.
    errors: ReadErrors,
    pub version: Version,
    pub routine: Option<Routine>,
    pub names: Names,
    pub labels: FxHashMap<String, LabelId>,
    /// Whether each label is defined, and the place of its first use.
    label_places: Vec<(bool, u32, usize)>,
    /// The name in a `.function`, which may follow as a label.
    pub function: Option<String>,
    /// The line, from 1 on.
    pub line: u32,
    /// The offset of the line, in bytes from the text's start.
    pub line_at: u32,
}

/// Reads a text. A comment at its end may name the platform.
///
/// # Errors
///
/// Returns the first 20 errors, with their places.
pub fn read(text: &[u8]) -> std::result::Result<Module, ReadErrors> {
    let Read { platform, routines } = read_each(text)?;
    let routines =
        routines.into_iter().map(|routine| routine.map_err(|unreadable| unreadable.errors));
    Ok(Module {
        platform,
        routines: routines.collect::<std::result::Result<_, _>>()?,
        in_data: vec![],
    })
}

/// Reads a text, each routine separately, so that routines may be unreadable.
///
/// # Errors
///
/// Returns the errors outside of routines.
pub fn read_each(text: &[u8]) -> std::result::Result<Read, ReadErrors> {
    let whole = |line: u32, message: String| ReadErrors {
        errors: vec![ReadError { line, column: 1, message }],
    };
    // Bytes behind a byte 0 are padding.
    let text = &text[..text.iter().position(|&byte| byte == 0).unwrap_or(text.len())];
    if text.len() > 1 << 30 {
        return Err(whole(1, format!("{} bytes of text, more than a module may have", text.len())));
    }
    let lines =
        lines::without_comments(text).ok_or_else(|| whole(1, "a comment without an end".into()))?;
    let clean = std::str::from_utf8(&lines.text).map_err(|error| {
        let before = &lines.text[..error.valid_up_to()];
        whole(line_column(before).0, "bytes that are no text".into())
    })?;
    let mut reader = Reader {
        routines: vec![],
        errors: ReadErrors::default(),
        version: Version::new(0, 0),
        routine: None,
        names: Names::default(),
        labels: FxHashMap::default(),
        label_places: vec![],
        function: None,
        line: 0,
        line_at: 0,
    };
    let mut starts = vec![];
    for (number, line) in clean.split('\n').enumerate() {
        if reader.errors.is_full() && !starts_routine(line) {
            continue;
        }
        reader.line = number as u32 + 1;
        let routines = reader.begun();
        reader.line_at = (line.as_ptr().addr() - clean.as_ptr().addr()) as u32;
        if let Err(wrong) = reader.line(line) {
            reader.error(number as u32 + 1, wrong);
        }
        if reader.routine.is_none() && !reader.errors.errors.is_empty() {
            return Err(reader.errors);
        }
        if reader.begun() > routines {
            starts.push(number);
        }
    }
    reader.end_routine();
    if reader.routines.is_empty() {
        return Err(whole(1, "found no routine, expected `.kernel` or `.global_function`".into()));
    }
    let platform = lines.platforms.iter().find_map(|(_, name)| Platform::from_comment(name));
    let mut read = Read { platform, routines: reader.routines };
    for (line, options) in lines.options {
        let of = starts.partition_point(|&start| start <= line);
        if let Some(Ok(routine)) = of.checked_sub(1).and_then(|of| read.routines.get_mut(of)) {
            routine.build_options = Some(options);
        }
    }
    Ok(read)
}

/// Returns whether a line is a directive that begins a routine.
fn starts_routine(line: &str) -> bool {
    let word = line.trim_start().split([' ', '\t']).next();
    matches!(word, Some(".version" | ".kernel" | ".global_function"))
}

impl Reader {
    fn error(&mut self, line: u32, wrong: Wrong) {
        if !self.errors.is_full() {
            self.errors.errors.push(ReadError {
                line,
                column: wrong.at as u32 + 1,
                message: wrong.message,
            });
        }
    }

    /// Returns the number of routines, with the routine that is being read.
    fn begun(&self) -> usize {
        self.routines.len() + usize::from(self.routine.is_some())
    }

    fn line(&mut self, line: &str) -> Result<()> {
        let mut cursor = Cursor::new(line);
        while !cursor.is_at_end() {
            match cursor.next() {
                b'{' => {
                    cursor.expect("{")?;
                    if self.names.scopes.len() >= MAX_SCOPES {
                        return Err(cursor.wrong("scopes that nest too deep"));
                    }
                    self.names.scopes.push(FxHashMap::default());
                }
                b'}' => {
                    let place = cursor;
                    cursor.expect("}")?;
                    self.names
                        .leave()
                        .ok_or_else(|| place.wrong("found `}`, expected an open scope"))?;
                }
                b'.' => return self.directive(&mut cursor),
                _ if self.takes_label(&mut cursor)? => {}
                _ => return self.statement(&mut cursor),
            }
        }
        Ok(())
    }

    /// Takes a label, `name:`, if it is next.
    fn takes_label(&mut self, cursor: &mut Cursor<'_>) -> Result<bool> {
        let Some((name, rest)) = cursor.label_and_rest() else { return Ok(false) };
        if !rest.starts_with(':') {
            return Ok(false);
        }
        let place = *cursor;
        cursor.at += name.len() + 1;
        // The `.function` directive before it is already the instruction.
        if self.function.take().as_deref() != Some(name) {
            self.define(&place, name, false)?;
        }
        Ok(true)
    }

    /// Defines a label here, of a subroutine or a plain label.
    pub fn define(&mut self, place: &Cursor<'_>, name: &str, is_subroutine: bool) -> Result<()> {
        let id = self.label(place, name)?;
        let defined = &mut self.label_places[usize::from(id.0)].0;
        if std::mem::replace(defined, true) {
            return Err(place.wrong(format!("label `{name}` is defined a second time")));
        }
        let at = self.line_at + place.at as u32;
        let routine = self.current(place)?;
        if is_subroutine {
            routine.labels[usize::from(id.0)].kind = Label::SUBROUTINE;
        }
        let code = if is_subroutine { SUBROUTINE } else { LABEL };
        let row = table::find(code, None).ok_or_else(|| place.wrong("a label"))?;
        let operands = [Operand::Label(id)].into_iter().collect();
        routine.code.push(Instruction {
            row,
            at,
            exec: None,
            predicate: None,
            saturate: false,
            operands,
        });
        Ok(())
    }

    /// Returns the label of a name, which may be defined later.
    pub fn label(&mut self, place: &Cursor<'_>, name: &str) -> Result<LabelId> {
        if let Some(&id) = self.labels.get(name) {
            return Ok(id);
        }
        let line = self.line;
        let routine = self.current(place)?;
        let id = u16::try_from(routine.labels.len()).map(LabelId);
        let id = id.map_err(|_| place.wrong("more labels than a routine may have"))?;
        routine.labels.push(Label {
            name: name.to_string(),
            kind: Label::BLOCK,
            attributes: vec![],
        });
        self.label_places.push((false, line, place.at));
        self.labels.insert(name.to_string(), id);
        Ok(id)
    }

    pub fn current(&mut self, place: &Cursor<'_>) -> Result<&mut Routine> {
        self.routine
            .as_mut()
            .ok_or_else(|| place.wrong("outside of a routine, expected `.kernel` before"))
    }

    /// Begins a routine.
    pub fn begin(&mut self, name: String, kernel: bool) {
        self.end_routine();
        self.routine = Some(Routine::new(name, kernel, self.version));
    }

    fn end_routine(&mut self) {
        let Some(routine) = self.routine.take() else { return };
        if !self.names.scopes.is_empty() {
            let message = format!("routine `{}` ends in a scope", routine.name);
            self.error(self.line, Wrong::new(0, message));
        }
        let places = std::mem::take(&mut self.label_places);
        for (&(defined, line, at), label) in places.iter().zip(&routine.labels) {
            if !defined {
                self.error(line, Wrong::new(at, format!("label `{}` is not defined", label.name)));
            }
        }
        self.names = Names::default();
        self.labels.clear();
        self.function = None;
        let errors = std::mem::take(&mut self.errors);
        self.routines.push(match errors.errors.is_empty() {
            true => Ok(routine),
            false => Err(Unreadable { name: routine.name, kernel: routine.kernel, errors }),
        });
    }
}

const SUBROUTINE: u8 = 0x30;
const LABEL: u8 = 0x31;
