//! Places in the text of a module, which may be several texts that were linked.

use warploom_guest::errors::line_column;

use super::module::{Formal, FunctionId, Module};

/// A text that a module was read from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part {
    /// The name that messages use. `None` if the text is alone in its module and has no name.
    pub name: Option<String>,
    /// The byte offset of this text in the text of the module.
    pub start: u32,
}

impl Part {
    /// Returns the parts of a module that was read from one text without a name.
    pub fn whole() -> Vec<Part> {
        vec![Part { name: None, start: 0 }]
    }
}

/// A place in a text, counted from 1.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Position {
    /// The name of the text, if it has one.
    pub part: Option<String>,
    pub line: u32,
    pub column: u32,
}

impl std::fmt::Display for Position {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if let Some(part) = &self.part {
            write!(f, "{part}:")?;
        }
        write!(f, "{}:{}", self.line, self.column)
    }
}

/// For each of several parameters: whether it is in a register, and its size in bytes.
pub type Shapes = Vec<(bool, u64)>;

impl Module {
    /// Returns the module with a name for its text.
    pub fn named(mut self, name: &str) -> Module {
        for part in &mut self.parts {
            part.name = Some(name.into());
        }
        self
    }

    /// Returns the place of a byte offset of the text, in the part that holds it.
    pub fn position(&self, at: u32) -> Position {
        let part = self
            .parts
            .partition_point(|part| part.start <= at)
            .checked_sub(1)
            .map(|n| &self.parts[n]);
        let start = part.map_or(0, |part| part.start as usize);
        let end = (at as usize).min(self.text.len());
        let before = self.text.as_bytes().get(start..end).unwrap_or_default();
        let (line, column) = line_column(before);
        Position { part: part.and_then(|part| part.name.clone()), line, column }
    }

    /// Returns the line and column of a byte offset in its part, counted from 1.
    pub fn line_column(&self, at: u32) -> (u32, u32) {
        let Position { line, column, .. } = self.position(at);
        (line, column)
    }

    /// Returns the shapes of a function's return values, and of its parameters.
    pub fn signature(&self, function: FunctionId) -> [Shapes; 2] {
        let shape = |formal: &Formal| match *formal {
            Formal::Param(id) => (false, self.variable(id).size),
            Formal::Reg(_, ty) => (true, ty.bytes().into()),
        };
        let function = self.function(function);
        [&function.outputs, &function.inputs].map(|formals| formals.iter().map(shape).collect())
    }
}
