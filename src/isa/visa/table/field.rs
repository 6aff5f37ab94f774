//! What stands behind an opcode in the binary form.

/// One field.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Field {
    /// Execution size and mask, a byte.
    Exec,
    /// The old messages' execution size and mask, a byte, of three sizes.
    OldExec,
    /// Predicate, a word.
    Predicate,
    /// The sub-opcode, a byte.
    Sub,
    /// The sub-opcode and flags of a sampler message, a word, or a byte before version 4.0.
    SampleOp,
    /// A vector operand that is written. The first of an instruction has the saturation.
    Destination,
    /// A vector operand that is read.
    Source,
    /// The address of a variable, or an address variable.
    AddressOf,
    Raw,
    /// A counted list of raw operands, to the end.
    Raws,
    /// What raw operands the mode of a render target write asks for.
    RenderTarget,
    /// The resource that is paired with a sampler's result: in the text from version 4.2 on alone.
    Paired,
    /// Texel offsets of a sampler message: a source, or a word before version 3.4.
    TexelOffsets,
    /// The mask of a `wait`, which version 3.0 does not have.
    WaitMask,
    /// Who a raw message is for, a byte since version 3.6.
    Ffid,
    /// What only the text says: a number that is 0 in the binary form.
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
    /// Of an untyped LSC message, of a typed one, of an untyped and a typed block, and of an append counter.
    Lsc,
    LscTyped,
    LscBlock,
    LscTypedBlock,
    LscCounter,
    /// `lifetime`: what it says, and the variable.
    Lifetime,
}

impl Field {
    /// By its letter in a line of the table.
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

    /// Whether it is one of the instruction's operands.
    pub fn is_operand(self) -> bool {
        !matches!(
            self,
            Field::Exec | Field::OldExec | Field::Predicate | Field::Sub | Field::LabelCount
        )
    }
}
