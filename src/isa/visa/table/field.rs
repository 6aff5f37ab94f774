//! The fields behind an opcode in the binary form.

/// A field of an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Field {
    /// Execution size and mask, a byte.
    Exec,
    /// The execution size and mask of old messages, a byte. Only three sizes exist.
    OldExec,
    /// Predicate, a word.
    Predicate,
    /// The sub-opcode, a byte.
    Sub,
    /// The sub-opcode and flags of a sampler message, a word, or a byte before version 4.0.
    SampleOp,
    /// A vector operand that is written. An instruction's first destination has its saturation.
    Destination,
    /// A vector operand that is read.
    Source,
    /// The address of a variable, or an address variable.
    AddressOf,
    Raw,
    /// A counted list of raw operands, up to the end.
    Raws,
    /// The raw operands that the mode of a render target write requires.
    RenderTarget,
    /// The resource that is paired with a sampler's result. Only texts since version 4.2 have it.
    Paired,
    /// Texel offsets of a sampler message: a source, or a word before version 3.4.
    TexelOffsets,
    /// The mask of a `wait`, which version 3.0 does not have.
    WaitMask,
    /// The unit that receives a raw message, a byte since version 3.6.
    Ffid,
    /// A number that only the text has. It is 0 in the binary form.
    TextOnly,
    Byte,
    Word,
    Dword,
    Surface,
    Sampler,
    Label,
    /// The count of the labels.
    LabelCount,
    Labels,
    /// The index of a string.
    Name,
    /// The description of an LSC message.
    ///
    /// The variants are for an untyped message, a typed message, an untyped block, a typed block
    /// and an append counter.
    Lsc,
    LscTyped,
    LscBlock,
    LscTypedBlock,
    LscCounter,
    /// The operand of a `lifetime`: its properties, and the variable.
    Lifetime,
}

impl Field {
    /// Returns the field of a letter in a line of the table.
    pub(super) fn from_letter(letter: &str) -> Field {
        match letter {
            "E" => Field::Exec,
            "e" => Field::OldExec,
            "P" => Field::Predicate,
            "x" => Field::Sub,
            "o" => Field::SampleOp,
            "D" => Field::Destination,
            "s" => Field::Source,
            "&" => Field::AddressOf,
            "r" => Field::Raw,
            "R" => Field::Raws,
            "rt" => Field::RenderTarget,
            "pair" => Field::Paired,
            "aoff" => Field::TexelOffsets,
            "wait" => Field::WaitMask,
            "ffid" => Field::Ffid,
            "t" => Field::TextOnly,
            "b" => Field::Byte,
            "w" => Field::Word,
            "d" => Field::Dword,
            "S" => Field::Surface,
            "M" => Field::Sampler,
            "L" => Field::Label,
            "#L" => Field::LabelCount,
            "Ls" => Field::Labels,
            "n" => Field::Name,
            "lsc" => Field::Lsc,
            "typed" => Field::LscTyped,
            "block" => Field::LscBlock,
            "typedblock" => Field::LscTypedBlock,
            "counter" => Field::LscCounter,
            "life" => Field::Lifetime,
            _ => unreachable!("the table has a field `{letter}`"),
        }
    }

    /// Returns whether the field is an operand of the instruction.
    pub fn is_operand(self) -> bool {
        !matches!(
            self,
            Field::Exec | Field::OldExec | Field::Predicate | Field::Sub | Field::LabelCount
        )
    }
}
