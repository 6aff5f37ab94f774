//! The text of an instruction, behind its predicate and name.

/// A part of the text. Numbers are operand numbers, from 0 on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Item {
    /// A word that represents an operand, joined to the name.
    Suffix(Suffix, usize),
    /// ` (M1, 16)`
    Exec,
    /// An additional blank.
    Gap,
    /// A blank and an operand.
    Operand(usize),
    /// An operand without its region.
    Bare(usize),
    /// This operand and all later operands.
    Rest(usize),
    /// ` (4)`: the number of owords.
    Owords(usize),
    /// `(8,4)`: this operand and the next operand.
    Pair(usize),
    /// This operand and the next two operands, in parentheses.
    Triple(usize),
    /// ` 0x1f`
    Hex(usize),
    /// ` (L1, L2)`
    Labels(usize),
    /// The text of an LSC message behind its name.
    Lsc,
    /// ` T6 ..` of a lifetime.
    Lifetime(usize),
}

/// The form of a number as a word of the name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Suffix {
    /// `.cmpxchg.16`
    Atomic,
    /// `.RGBA`
    Channels,
    /// `.RGBA`, where set bits mean absent channels.
    MaskedChannels,
    /// A single channel.
    Channel,
    /// `.RGB (16)`: channels and lanes of the old sampler messages.
    ChannelsAndSize,
    /// `.RGBA.16-full`
    ChannelsAndFormat,
    /// `.lt`
    Relation,
    /// `.x96`
    Function,
    /// `.4`: bytes of a block.
    BlockBytes,
    /// `.8`: a number whose log2 the operand has.
    Count,
    /// `.4`: bytes of an element, whose log2 the operand has.
    ElementBytes,
    /// `.mod`, or nothing.
    Modified,
    /// `.pixel_null_mask`, `.cps`, `.divS`
    SampleFlags,
    /// `.unaligned`
    Aligned,
    /// `.u8.s8.8.8`
    Matrix,
    /// `_global.E`, `_sw`
    Fence,
    FenceSfid,
    FenceOp,
    FenceScope,
    /// `.top`
    MediaModifier,
    /// `.<RTI><A>`
    RenderTarget,
    /// `.uniform`, `.noreturn`
    CallFlags,
    /// `.b32`
    Lfsr,
    /// `.bftoe2m1`
    DownscaleType,
    /// `.mode0`
    DownscaleMode,
    /// `.rne`
    DownscaleRounding,
    /// `.3`
    Decimal,
}

impl Item {
    /// Returns the item of a word in a line of the table: `E`, `2`, `.at:0`.
    pub(super) fn from_word(word: &str) -> Item {
        let (kind, number) = word.split_once(':').unwrap_or((word, "0"));
        let Ok(number) = number.parse() else { unreachable!("the table has `{word}`") };
        let suffix = |suffix| Item::Suffix(suffix, number);
        match kind {
            "E" => Item::Exec,
            "_" => Item::Gap,
            "bare" => Item::Bare(number),
            "rest" => Item::Rest(number),
            "ow" => Item::Owords(number),
            "pair" => Item::Pair(number),
            "triple" => Item::Triple(number),
            "hex" => Item::Hex(number),
            "labels" => Item::Labels(number),
            "lsc" => Item::Lsc,
            "life" => Item::Lifetime(number),
            ".at" => suffix(Suffix::Atomic),
            ".ch" => suffix(Suffix::Channels),
            ".mask" => suffix(Suffix::MaskedChannels),
            ".one" => suffix(Suffix::Channel),
            ".chs" => suffix(Suffix::ChannelsAndSize),
            ".chf" => suffix(Suffix::ChannelsAndFormat),
            ".rel" => suffix(Suffix::Relation),
            ".x" => suffix(Suffix::Function),
            ".blk" => suffix(Suffix::BlockBytes),
            ".num" => suffix(Suffix::Count),
            ".elt" => suffix(Suffix::ElementBytes),
            ".mod" => suffix(Suffix::Modified),
            ".flags" => suffix(Suffix::SampleFlags),
            ".al" => suffix(Suffix::Aligned),
            ".dpas" => suffix(Suffix::Matrix),
            ".fence" => suffix(Suffix::Fence),
            ".sfid" => suffix(Suffix::FenceSfid),
            ".fop" => suffix(Suffix::FenceOp),
            ".scope" => suffix(Suffix::FenceScope),
            ".media" => suffix(Suffix::MediaModifier),
            ".rt" => suffix(Suffix::RenderTarget),
            ".call" => suffix(Suffix::CallFlags),
            ".lfsr" => suffix(Suffix::Lfsr),
            ".type" => suffix(Suffix::DownscaleType),
            ".mode" => suffix(Suffix::DownscaleMode),
            ".round" => suffix(Suffix::DownscaleRounding),
            ".n" => suffix(Suffix::Decimal),
            _ => match kind.parse() {
                Ok(number) => Item::Operand(number),
                Err(_) => unreachable!("the table has `{word}`"),
            },
        }
    }
}
