//! Reads directives.

use super::cursor::Cursor;
use super::error::Result;
use super::reader::{Name, Reader};
use crate::module::*;
use crate::predefined::{FIRST_PREDICATE, FIRST_SURFACE, FIRST_VARIABLE};
use crate::types::{Align, Ty, Version};

/// The most elements of a variable.
const MAX_ELEMENTS: i64 = 1 << 16;
/// The most variables of a routine.
const MAX_VARIABLES: usize = 1 << 24;

/// The properties in a `.decl`.
#[derive(Default)]
struct Declared {
    kind: Option<u8>,
    ty: Option<Ty>,
    elements: Option<u32>,
    align: Option<Align>,
    alias: Option<(VariableId, u32)>,
    text: Option<String>,
    attributes: Vec<Attribute>,
}

impl Reader {
    pub fn directive(&mut self, cursor: &mut Cursor<'_>) -> Result<()> {
        let place = *cursor;
        cursor.expect(".")?;
        let word = cursor.name("a directive")?;
        match word {
            "version" => {
                let major = cursor.number_below(256, "a version")? as u8;
                cursor.expect(".")?;
                let minor = cursor.number_below(256, "a version")? as u8;
                if !(3..=4).contains(&major) {
                    return Err(
                        place.wrong(format!("version {major}.{minor}, expected 3.0 to 4.2"))
                    );
                }
                self.version = Version::new(major, minor);
            }
            "kernel" | "global_function" => {
                let name = cursor.name_or_quoted("the routine's name")?;
                if self.version.major == 0 {
                    return Err(place.wrong("found no version, expected `.version` before"));
                }
                self.begin(name, word == "kernel");
            }
            "funcdecl" => {
                let name = cursor.name_or_quoted("a function's name")?;
                self.current(&place)?.declared.push(name);
            }
            "function" => {
                let name = cursor.label("a function's name")?;
                self.define(&place, &name, true)?;
                self.function = Some(name);
            }
            "decl" => self.declaration(cursor)?,
            "input" => self.input(cursor, 0)?,
            "kernel_attr" => {
                let attribute = attribute(cursor)?;
                self.current(&place)?.attributes.push(attribute);
            }
            _ => match word.strip_prefix("implicit_") {
                Some(kind) => {
                    let kind = match kind {
                        "LOCAL_SIZE" => 1,
                        "GROUP_COUNT" => 2,
                        "LOCAL_ID" => 3,
                        "PSEUDO_INPUT" => 16,
                        _ => match kind.strip_prefix("UNDEFINED_").map(str::parse::<u8>) {
                            Some(Ok(number @ 1..32)) => number,
                            _ => {
                                return Err(
                                    place.wrong(format!("implicit input `{kind}`, which is none"))
                                );
                            }
                        },
                    };
                    self.input(cursor, kind)?;
                }
                None => return Err(place.wrong(format!("directive `.{word}`, which is none"))),
            },
        }
        match cursor.is_at_end() {
            true => Ok(()),
            false => Err(cursor.expected("the line's end")),
        }
    }

    fn declaration(&mut self, cursor: &mut Cursor<'_>) -> Result<()> {
        cursor.blanks();
        let place = *cursor;
        let name = cursor.name("a name")?;
        let mut declared = Declared::default();
        while !cursor.is_at_end() {
            let key_place = *cursor;
            let key = cursor.name("a property")?;
            cursor.expect("=")?;
            match key {
                "v_type" => declared.kind = Some(cursor.name("a kind of variable")?.as_bytes()[0]),
                "type" => declared.ty = Some(cursor.ty()?),
                "num_elts" => {
                    let count = cursor.expression()?;
                    if !(0..MAX_ELEMENTS).contains(&count) {
                        return Err(key_place.wrong(format!(
                            "{count} elements, expected fewer than {MAX_ELEMENTS}"
                        )));
                    }
                    declared.elements = Some(count as u32);
                }
                "align" => declared.align = Some(align(cursor)?),
                "alias" => declared.alias = Some(self.alias(cursor)?),
                "attrs" => declared.attributes = attributes(cursor)?,
                "v_name" | "name" => declared.text = Some(cursor.name_or_quoted("a name")?),
                _ => return Err(key_place.wrong(format!("property `{key}`, which is none"))),
            }
        }
        self.declare(&place, name, declared)
    }

    /// Adds a variable.
    ///
    /// A name that its scope declares again stands for the variable of the first declaration. The
    /// compiler's text has inline assembly without its scopes, and no two of these variables are
    /// live at once. The variable gets the most elements of all its declarations.
    fn declare(&mut self, place: &Cursor<'_>, name: &str, declared: Declared) -> Result<()> {
        let missing = |what: &str| place.wrong(format!("`{name}` has no `{what}`"));
        let elements = declared.elements.ok_or_else(|| missing("num_elts"))?;
        let kind = declared.kind.ok_or_else(|| missing("v_type"))?;
        let ty = match kind {
            b'G' => declared.ty.ok_or_else(|| missing("type"))?,
            _ => Ty::Ud,
        };
        let align = declared.align.unwrap_or(Align::Byte);
        let (alias, attributes) = (declared.alias, declared.attributes);
        self.current(place)?;
        let before = self.names.in_scope(name);
        let own = match before {
            Some(_) => String::new(),
            None => self.names.unique.of(name),
        };
        let routine = self.current(place)?;
        let again = || {
            let other = "with another type, alias or attributes, so that the text does not say which one code means";
            place.wrong(format!("`{name}` is declared a second time {other}"))
        };
        let full = || place.wrong("more variables than a routine may have");
        let text = declared.text.clone();
        let named = Named {
            name: text.unwrap_or_else(|| own.clone()),
            elements,
            attributes: attributes.clone(),
        };
        let merged = |known: Option<&mut Named>| match known {
            Some(known) if known.attributes == named.attributes => {
                known.elements = known.elements.max(elements);
                Ok(())
            }
            _ => Err(again()),
        };
        let id = match (kind, before) {
            (b'G', Some(Name::Variable(id))) => {
                let known =
                    id.0.checked_sub(FIRST_VARIABLE)
                        .and_then(|at| routine.variables.get_mut(at as usize));
                let known = known.ok_or_else(again)?;
                if (known.ty, known.alias, &known.attributes) != (ty, alias, &attributes) {
                    return Err(again());
                }
                known.elements = known.elements.max(elements);
                if known.align.code() < align.code() {
                    known.align = align;
                }
                return Ok(());
            }
            (b'A', Some(Name::Address(id))) => {
                return merged(routine.addresses.get_mut(usize::from(id.0)));
            }
            (b'P', Some(Name::Predicate(id))) => {
                return merged(routine.predicates.get_mut(usize::from(id.0 - FIRST_PREDICATE)));
            }
            (b'S', Some(Name::Sampler(id))) => {
                return merged(routine.samplers.get_mut(usize::from(id.0)));
            }
            (b'T', Some(Name::Surface(id))) => {
                return merged(routine.surfaces.get_mut(usize::from(id.0 - FIRST_SURFACE)));
            }
            (b'G' | b'A' | b'P' | b'S' | b'T', Some(_)) => return Err(again()),
            (b'G', None) => {
                if routine.variables.len() >= MAX_VARIABLES {
                    return Err(full());
                }
                let id = VariableId(routine.variables.len() as u32 + FIRST_VARIABLE);
                routine.variables.push(Variable {
                    name: own,
                    ty,
                    elements,
                    align,
                    alias,
                    attributes,
                });
                Name::Variable(id)
            }
            (b'A', None) => {
                let id = u16::try_from(routine.addresses.len()).map_err(|_| full())?;
                routine.addresses.push(named);
                Name::Address(AddressId(id))
            }
            (b'P', None) => {
                let id = routine.predicates.len() as u64 + u64::from(FIRST_PREDICATE);
                let id = u16::try_from(id).ok().filter(|&id| id < 1 << 12).ok_or_else(full)?;
                routine.predicates.push(named);
                Name::Predicate(PredicateId(id))
            }
            (b'S', None) => {
                let id = u8::try_from(routine.samplers.len()).map_err(|_| full())?;
                routine.samplers.push(named);
                Name::Sampler(SamplerId(id))
            }
            (b'T', None) => {
                let id = u8::try_from(routine.surfaces.len() + usize::from(FIRST_SURFACE))
                    .map_err(|_| full())?;
                routine.surfaces.push(named);
                Name::Surface(SurfaceId(id))
            }
            _ => {
                return Err(place.wrong(format!(
                    "a variable of kind `{}`, expected G, A, P, S or T",
                    char::from(kind)
                )));
            }
        };
        self.names.declare(name, id);
        Ok(())
    }

    /// Reads an alias: `<V32, 8>`.
    fn alias(&self, cursor: &mut Cursor<'_>) -> Result<(VariableId, u32)> {
        cursor.expect("<")?;
        cursor.blanks();
        let place = *cursor;
        let name = cursor.name("a variable")?;
        let Some(Name::Variable(id)) = self.names.find(name) else {
            return Err(place.wrong(format!("`{name}` is no variable")));
        };
        cursor.expect(",")?;
        let offset = cursor.number_below(1 << 24, "an offset")?;
        cursor.expect(">")?;
        Ok((id, offset as u32))
    }

    fn input(&mut self, cursor: &mut Cursor<'_>, implicit: u8) -> Result<()> {
        cursor.blanks();
        let place = *cursor;
        let name = cursor.name("a variable")?;
        let of = match self.names.find(name) {
            Some(Name::Variable(id)) => InputOf::Variable(id),
            Some(Name::Sampler(id)) => InputOf::Sampler(id),
            Some(Name::Surface(id)) => InputOf::Surface(id),
            _ => return Err(place.wrong(format!("`{name}` is no variable, sampler or surface"))),
        };
        let (mut offset, mut size) = (0, None);
        while !cursor.is_at_end() {
            let key_place = *cursor;
            let key = cursor.name("a property")?;
            cursor.expect("=")?;
            let number = cursor.expression()?;
            match (key, u32::try_from(number)) {
                ("offset", _) if i32::try_from(number).is_ok() => offset = number as i32,
                ("size", Ok(number)) => size = Some(number),
                _ => {
                    return Err(
                        key_place.wrong(format!("`{key}={number}`, expected `offset` or `size`"))
                    );
                }
            }
        }
        let size = size.ok_or_else(|| place.wrong(format!("input `{name}` has no `size`")))?;
        self.current(&place)?.inputs.push(Input { of, implicit, offset, size });
        Ok(())
    }
}

fn align(cursor: &mut Cursor<'_>) -> Result<Align> {
    cursor.blanks();
    let place = *cursor;
    let word = |cursor: &mut Cursor<'_>| {
        let length = cursor
            .rest()
            .bytes()
            .position(|byte| !super::cursor::is_word(byte))
            .unwrap_or(cursor.rest().len());
        let word = cursor.rest()[..length].to_string();
        cursor.at += length;
        word
    };
    let word = word(cursor);
    let known = match word.as_str() {
        "2GRF" | "2_GRF" => Some(Align::Grf2),
        "32word" | "64" => Some(Align::Word32),
        "64word" | "128" => Some(Align::Word64),
        "1" => Some(Align::Byte),
        "2" => Some(Align::Word),
        "4" => Some(Align::Dword),
        "8" => Some(Align::Qword),
        "16" => Some(Align::Oword),
        "32" => Some(Align::Hword),
        _ => Align::from_name(&word),
    };
    known.ok_or_else(|| place.expected("an alignment"))
}

/// Reads attributes: `{SimdSize=8, Input}`.
fn attributes(cursor: &mut Cursor<'_>) -> Result<Vec<Attribute>> {
    cursor.expect("{")?;
    let mut all = vec![attribute(cursor)?];
    while cursor.takes(",") {
        all.push(attribute(cursor)?);
    }
    cursor.expect("}")?;
    Ok(all)
}

/// Reads an attribute: `SimdSize=8`, `Target="3d"`, `NoBarrier`.
fn attribute(cursor: &mut Cursor<'_>) -> Result<Attribute> {
    let name = cursor.name("an attribute")?.to_string();
    if !cursor.takes("=") || cursor.is_at_end() {
        return Ok(Attribute { name, value: Value::Flag, bytes: 0 });
    }
    if cursor.next() == b'"' {
        let text = cursor.quoted()?;
        let value = match text.to_ascii_lowercase().as_str() {
            "cm" if name == "Target" => Value::Integer(0),
            "3d" if name == "Target" => Value::Integer(1),
            _ => Value::Text(text),
        };
        return Ok(Attribute { name, value, bytes: 0 });
    }
    let place = *cursor;
    let number = cursor.expression()?;
    let number =
        i32::try_from(number).map_err(|_| place.wrong(format!("attribute `{name}={number}`")))?;
    Ok(Attribute { name, value: Value::Integer(number), bytes: 0 })
}
