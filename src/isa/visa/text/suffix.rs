//! Words of a mnemonic that represent a number. One rule writes and reads them: the reader looks up
//! the writer's texts.

use std::sync::LazyLock;

use rustc_hash::FxHashMap;

use crate::table::Suffix;
use crate::types::Version;
use crate::words::*;

const MEDIA: [&str; 6] = ["nomod", "modified", "top", "bottom", "top_mod", "bottom_mod"];
const RENDER_TARGET: [(u8, &str); 11] = [
    (2, "<RTI>"),
    (3, "<A>"),
    (4, "<O>"),
    (5, "<Z>"),
    (6, "<ST>"),
    (7, "<LRTW>"),
    (8, "<CPS>"),
    (9, "<PS>"),
    (10, "<CM>"),
    (11, "<SI>"),
    (12, "<NULLRT>"),
];
const LFSR: [&str; 3] = ["b32", "b16v2", "b8v4"];
const DOWNSCALE: [&str; 6] = ["none", "bftoe2m1", "bftoint4", "", "hftoe2m1", "hftoint4"];
const DOWNSCALE_ROUNDING: [&str; 2] = ["srnd", "rne"];
const OUTPUT_FORMATS: [&str; 4] = ["16-full", "16-downsampled", "8-full", "8-downsampled"];

/// Returns the letters of the channels whose bits are set.
pub(super) fn channels(mask: u32, letters: [u8; 4]) -> String {
    letters
        .iter()
        .enumerate()
        .filter(|(bit, _)| mask >> bit & 1 != 0)
        .map(|(_, &letter)| char::from(letter))
        .collect()
}

fn flags(number: u32, names: &[&str]) -> Option<String> {
    let set = names.iter().enumerate().filter(|(bit, _)| number >> bit & 1 != 0);
    (number >> names.len() == 0).then(|| set.map(|(_, name)| *name).collect())
}

fn bits(number: u32, names: &[(u8, &str)]) -> String {
    names.iter().filter(|(bit, _)| number >> bit & 1 != 0).map(|(_, name)| *name).collect()
}

fn one_of<T>(word: Option<T>, name: impl Fn(T) -> &'static str) -> Option<String> {
    word.map(|word| format!(".{}", name(word)))
}

/// Returns the text of a number; None if the suffix cannot represent it.
///
/// A suffix may represent only some bits of a number.
pub(super) fn text(suffix: Suffix, number: u32) -> Option<String> {
    let byte = number as u8;
    Some(match suffix {
        Suffix::Atomic => {
            let atomic = Atomic::from_code(number)?;
            let width = if atomic.bits == 32 { String::new() } else { format!(".{}", atomic.bits) };
            format!(".{}{width}", atomic.op.name())
        }
        Suffix::Channels if number < 16 => format!(".{}", channels(number, CHANNELS)),
        Suffix::MaskedChannels if number < 16 => format!(".{}", channels(!number & 15, CHANNELS)),
        Suffix::Channel => format!(".{}", char::from(*CHANNELS.get(number as usize)?)),
        Suffix::ChannelsAndSize if number < 32 => {
            let lanes = if number >> 4 == 0 { 8 } else { 16 };
            format!(".{} ({lanes})", channels(number & 15, CHANNELS))
        }
        Suffix::ChannelsAndFormat if number < 64 => {
            format!(
                ".{}.{}",
                channels(number & 15, CHANNELS),
                OUTPUT_FORMATS[(number >> 4) as usize]
            )
        }
        Suffix::Relation => {
            one_of(Relation::from_code(byte).filter(|_| number < 256), Relation::name)?
        }
        Suffix::Function if number < 256 => format!(".x{number:x}"),
        Suffix::BlockBytes if number < 3 => format!(".{}", [1, 4, 8][number as usize]),
        Suffix::Count if number < 4 => format!(".{}", 1 << number),
        Suffix::ElementBytes if number < 3 => format!(".{}", 1 << number),
        Suffix::Modified if number < 2 => if number == 1 { ".mod" } else { "" }.into(),
        Suffix::SampleFlags => flags(number, &[".pixel_null_mask", ".cps", ".divS"])?,
        // The compiler's text of a software fence omits the other bits.
        Suffix::Fence if number < 256 && number & 0x80 != 0 => "_sw".into(),
        Suffix::Fence if number < 0x80 => {
            let place = if number & 0x20 != 0 { "_local" } else { "_global" };
            let dot = if number == 0 { "" } else { "." };
            format!("{place}{dot}{}", bits(number, &FENCE_BITS))
        }
        Suffix::FenceSfid => one_of(Sfid::from_code(byte), Sfid::name)?,
        Suffix::FenceOp => one_of(FenceOp::from_code(byte), FenceOp::name)?,
        Suffix::FenceScope => one_of(FenceScope::from_code(byte), FenceScope::name)?,
        Suffix::MediaModifier => format!(".{}", MEDIA.get(number as usize)?),
        Suffix::RenderTarget if number == 0 => String::new(),
        Suffix::RenderTarget if number < 0x2000 && number & 3 == 0 => {
            format!(".{}", bits(number, &RENDER_TARGET))
        }
        Suffix::CallFlags => flags(number, &[".uniform", ".noreturn"])?,
        Suffix::Lfsr => format!(".{}", LFSR.get(number as usize)?),
        Suffix::DownscaleType => {
            format!(".{}", DOWNSCALE.get(number as usize).filter(|name| !name.is_empty())?)
        }
        Suffix::DownscaleMode if number < 4 => format!(".mode{number}"),
        Suffix::DownscaleRounding => format!(".{}", DOWNSCALE_ROUNDING.get(number as usize)?),
        Suffix::Decimal => format!(".{number}"),
        _ => return None,
    })
}

/// Every text of a suffix, with its number.
struct Spellings {
    numbers: FxHashMap<String, u32>,
    longest: usize,
}

static SPELLINGS: LazyLock<Vec<(Suffix, Spellings)>> = LazyLock::new(|| {
    use Suffix::*;
    let all = [
        Atomic,
        Channels,
        MaskedChannels,
        Channel,
        ChannelsAndSize,
        ChannelsAndFormat,
        Relation,
        Function,
        BlockBytes,
        Count,
        ElementBytes,
        Modified,
        SampleFlags,
        Fence,
        FenceSfid,
        FenceOp,
        FenceScope,
        MediaModifier,
        RenderTarget,
        CallFlags,
        Lfsr,
        DownscaleType,
        DownscaleMode,
        DownscaleRounding,
    ];
    all.into_iter().map(|suffix| (suffix, spellings(suffix))).collect()
});

fn spellings(suffix: Suffix) -> Spellings {
    let mut numbers = FxHashMap::default();
    // If two numbers have one text, the lower number is read.
    for number in (0..0x2000).rev() {
        if let Some(text) = text(suffix, number) {
            numbers.insert(text, number);
        }
    }
    if suffix == Suffix::Atomic {
        // The spellings of the documents.
        for (theirs, ours) in [(".imin", AtomicOp::Imin), (".imax", AtomicOp::Imax)] {
            numbers.insert(theirs.into(), ours.code().into());
            numbers.insert(format!("{theirs}.16"), u32::from(ours.code()) | 0x20);
        }
    }
    if suffix == Suffix::Fence {
        numbers.insert("_local".into(), 0x20);
    }
    let longest = numbers.keys().map(String::len).max().unwrap_or(0);
    Spellings { numbers, longest }
}

/// Returns the number that a text begins with, and the length of its spelling.
pub(super) fn read(suffix: Suffix, text: &str, version: Version) -> Option<(u32, usize)> {
    match suffix {
        Suffix::Aligned => return Some(read_aligned(text, version)),
        Suffix::Decimal => {
            let digits = text.strip_prefix('.')?;
            let length = digits.find(|c: char| !c.is_ascii_digit()).unwrap_or(digits.len());
            return Some((digits[..length].parse().ok()?, length + 1));
        }
        Suffix::Matrix => return read_matrix(text),
        _ => {}
    }
    let (_, spellings) = SPELLINGS.iter().find(|(one, _)| *one == suffix)?;
    let ends_here = |length: &usize| {
        let next = text.as_bytes().get(*length);
        text.is_char_boundary(*length)
            && next.is_none_or(|byte| !byte.is_ascii_alphanumeric() && *byte != b'_')
    };
    let mut lengths = (0..=spellings.longest.min(text.len())).rev().filter(ends_here);
    lengths.find_map(|length| Some((*spellings.numbers.get(&text[..length])?, length)))
}

/// Reads bit 7, which means unaligned.
///
/// Old compilers write only unaligned messages, and write no word for them.
fn read_aligned(text: &str, version: Version) -> (u32, usize) {
    for (spelling, number) in [(".aligned", 0), (".unaligned", 0x80)] {
        if text.starts_with(spelling) {
            return (number, spelling.len());
        }
    }
    (if version.is_text_only() { 0 } else { 0x80 }, 0)
}

pub(super) fn aligned(number: u32, version: Version) -> &'static str {
    match (number & 0x80 != 0, version.is_text_only()) {
        (true, true) => ".unaligned",
        (true, false) => "",
        (false, _) => ".aligned",
    }
}

/// Reads `.u8.s8.8.8`: precision of the second and third source, depth and count.
fn read_matrix(text: &str) -> Option<(u32, usize)> {
    let mut words = text.strip_prefix('.')?.split('.');
    let (weights, activations) = (words.next()?, words.next()?);
    let (depth, last) = (words.next()?, words.next()?);
    let count = &last[..last.find(|c: char| !c.is_ascii_digit()).unwrap_or(last.len())];
    let precision = |name: &str| {
        Precision::from_name(&name.to_ascii_lowercase()).map(|one| u32::from(one.code()))
    };
    let number = |text: &str| text.parse::<u8>().ok().map(u32::from);
    let code = precision(weights)?
        | precision(activations)? << 8
        | number(depth)? << 16
        | number(count)? << 24;
    Some((code, weights.len() + activations.len() + depth.len() + count.len() + 4))
}

pub(super) fn matrix(number: u32) -> Option<String> {
    let [weights, activations, depth, count] = number.to_le_bytes();
    let name = |code| Precision::from_code(code).map(Precision::name);
    Some(format!(".{}.{}.{depth}.{count}", name(weights)?, name(activations)?))
}
