//! Lines as the disassembler lists them.

use std::borrow::Cow;

/// Directives of a listing that assembly does not need: the section, and the size of a function in
/// it.
const OF_A_LISTING: [&str; 9] = [
    ".section",
    ".sectionflags",
    ".sectioninfo",
    ".align",
    ".global",
    ".weak",
    ".type",
    ".size",
    ".other",
];

/// Returns the part of a listing's line that assembly needs.
///
/// It removes the address and encoding (in `/* */`), the braces around two instructions that are
/// issued together, and the targets of an indirect branch (in `(* *)`). It also removes other parts
/// of control words: the operands that hardware is to keep, the order of two instructions that are
/// issued together, and the phase of a texture access.
pub(super) fn statement(line: &str) -> Cow<'_, str> {
    let mut text = Cow::Borrowed(line.trim());
    for (open, close) in [("/*", "*/"), ("(*", "*)")] {
        while let Some((before, rest)) = text.split_once(open) {
            let Some((_, after)) = rest.split_once(close) else { break };
            text = Cow::Owned(format!("{} {}", before.trim(), after.trim()));
        }
    }
    if let Some((before, after)) = text.split_once("   SLOT ") {
        // The number is 0 or 1.
        text = Cow::Owned(format!("{before}{}", after.get(1..).unwrap_or_default()));
    }
    if text.contains(".reuse") {
        text = Cow::Owned(text.replace(".reuse", ""));
    }
    let bare = text.trim();
    // The braces around a set of scoreboards have no blanks.
    let bare = bare.strip_prefix('{').filter(|rest| rest.starts_with(' ')).unwrap_or(bare);
    let bare = bare.strip_suffix('}').filter(|rest| rest.ends_with(' ')).unwrap_or(bare).trim();
    let bare = bare.strip_suffix(';').unwrap_or(bare).trim();
    match without_phase(bare) {
        Some(text) => Cow::Owned(text),
        None if bare.len() == line.len() => Cow::Borrowed(line),
        None => Cow::Owned(bare.to_owned()),
    }
}

/// Removes the phase of a texture access: the control word has it too.
fn without_phase(text: &str) -> Option<String> {
    let mnemonic = text
        .split_whitespace()
        .find(|word| !word.starts_with('@'))
        .filter(|word| word.starts_with('T'))?;
    let short = [".T", ".P"].into_iter().find_map(|phase| mnemonic.strip_suffix(phase))?;
    Some(text.replacen(mnemonic, short, 1))
}

/// Tells whether a directive is only for listings.
pub(super) fn is_ignored(directive: &str) -> bool {
    directive.split_whitespace().next().is_some_and(|name| OF_A_LISTING.contains(&name))
}
