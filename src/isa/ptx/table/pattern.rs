//! Patterns of modifiers: `{.ftz}{.sat}.(f32|f64)`.
//!
//! `.word` is required, and `{.word}` is optional; `.(a|b)` and `{.a|b}` are alternatives.
//! Alternatives may continue: `{.volatile|relaxed.(cta|gpu)}`. `.<name>` is a set of [`SETS`].
//!
//! The order of a pattern's words has no meaning, except for types, layouts and spaces of copies:
//! their order is that of the mnemonic. An optional part is always taken if it can be.

use smallvec::SmallVec;

use super::sets::SETS;
use crate::types::Ty;
use crate::word::Word;

/// A word of a mnemonic.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Modifier {
    Word(Word),
    Type(Ty),
}

impl Modifier {
    pub fn from_text(text: &str) -> Option<Modifier> {
        Ty::from_name(text)
            .map(Modifier::Type)
            .or_else(|| Word::from_text(text).map(Modifier::Word))
    }
}

/// A part of a pattern. A sequence of parts is a pattern.
#[derive(Clone, Debug, PartialEq)]
enum Part {
    One(Modifier),
    Any(Vec<Vec<Part>>),
    Optional(Vec<Vec<Part>>),
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Pattern(Vec<Part>);

/// The words of a mnemonic that a pattern has taken so far.
#[derive(Clone, Debug, Default)]
struct State {
    /// A bit for each word that is taken.
    taken: u32,
    types: usize,
    words: SmallVec<[Word; 6]>,
}

impl Pattern {
    /// Parses a pattern. Patterns are part of the program, so an error in one is a bug, which the
    /// tests of the table find.
    pub fn parse(text: &str) -> Pattern {
        let mut rest = text;
        let parts = sequence(&mut rest);
        assert!(rest.is_empty(), "pattern `{text}`: `{rest}` is left");
        Pattern(parts)
    }

    /// Returns the mnemonic's words in the order of the pattern, if the pattern takes all words and
    /// all types.
    pub fn matches(&self, words: &[Word], types: &[Ty]) -> Option<SmallVec<[Word; 6]>> {
        let all = u32::MAX.checked_shr(32 - words.len() as u32).unwrap_or(0);
        let states = follow(&self.0, State::default(), words, types);
        states
            .into_iter()
            .find(|state| state.taken == all && state.types == types.len())
            .map(|state| state.words)
    }

    pub fn mentions(&self, modifier: Modifier) -> bool {
        fn among(parts: &[Part], modifier: Modifier) -> bool {
            parts.iter().any(|part| match part {
                Part::One(one) => *one == modifier,
                Part::Any(all) | Part::Optional(all) => {
                    all.iter().any(|parts| among(parts, modifier))
                }
            })
        }
        among(&self.0, modifier)
    }

    /// Whether a mnemonic without a type cannot match.
    pub fn needs_type(&self) -> bool {
        fn needs(parts: &[Part]) -> bool {
            parts.iter().any(|part| match part {
                Part::One(one) => matches!(one, Modifier::Type(_)),
                Part::Any(all) => all.iter().all(|parts| needs(parts)),
                Part::Optional(_) => false,
            })
        }
        needs(&self.0)
    }

    /// Draws a sequence of words that the pattern matches. `below` draws numbers below its
    /// argument, which is not 0.
    pub fn draw<E>(
        &self,
        below: &mut dyn FnMut(usize) -> Result<usize, E>,
    ) -> Result<Vec<Modifier>, E> {
        fn add<E>(
            parts: &[Part],
            below: &mut dyn FnMut(usize) -> Result<usize, E>,
            drawn: &mut Vec<Modifier>,
        ) -> Result<(), E> {
            for part in parts {
                match part {
                    Part::One(one) => drawn.push(*one),
                    Part::Any(all) => add(&all[below(all.len())?], below, drawn)?,
                    Part::Optional(all) if below(2)? == 1 => {
                        add(&all[below(all.len())?], below, drawn)?
                    }
                    Part::Optional(_) => {}
                }
            }
            Ok(())
        }
        let mut drawn = Vec::new();
        add(&self.0, below, &mut drawn)?;
        Ok(drawn)
    }

    /// Returns all sequences of words that the pattern matches; for the words that belong to an
    /// opcode.
    pub fn sequences(&self) -> Vec<Vec<Modifier>> {
        fn all(parts: &[Part]) -> Vec<Vec<Modifier>> {
            parts.iter().fold(vec![Vec::new()], |before, part| {
                let here: Vec<Vec<Modifier>> = match part {
                    Part::One(one) => vec![vec![*one]],
                    Part::Any(of) => of.iter().flat_map(|parts| all(parts)).collect(),
                    Part::Optional(of) => std::iter::once(Vec::new())
                        .chain(of.iter().flat_map(|parts| all(parts)))
                        .collect(),
                };
                before
                    .iter()
                    .flat_map(|start| here.iter().map(move |end| [&start[..], &end[..]].concat()))
                    .collect()
            })
        }
        all(&self.0)
    }
}

fn follow(parts: &[Part], state: State, words: &[Word], types: &[Ty]) -> SmallVec<[State; 4]> {
    let mut states = SmallVec::from_iter([state]);
    for part in parts {
        let mut next = SmallVec::new();
        for state in states {
            step(part, state, words, types, &mut next);
        }
        states = next;
    }
    states
}

fn step(
    part: &Part,
    mut state: State,
    words: &[Word],
    types: &[Ty],
    found: &mut SmallVec<[State; 4]>,
) {
    match part {
        Part::One(Modifier::Type(ty)) => {
            if types.get(state.types) == Some(ty) {
                state.types += 1;
                found.push(state);
            }
        }
        Part::One(Modifier::Word(word)) => {
            let left = |&n: &usize| {
                state.taken >> n & 1 == 0 && (words[n] == *word || same_order(words[n], *word))
            };
            if let Some(n) = (0..words.len()).find(left).filter(|&n| words[n] == *word) {
                state.taken |= 1 << n;
                state.words.push(*word);
                found.push(state);
            }
        }
        Part::Any(all) => {
            // Alternatives of words alone take the first word written: `row.col` and `col.row`
            // differ.
            if let Some(n) = first_written(all, &state, words) {
                state.taken |= 1 << n;
                state.words.push(words[n]);
                return found.push(state);
            }
            all.iter().for_each(|parts| found.extend(follow(parts, state.clone(), words, types)));
        }
        Part::Optional(all) => {
            let before = found.len();
            all.iter().for_each(|parts| found.extend(follow(parts, state.clone(), words, types)));
            if found.len() == before {
                found.push(state);
            }
        }
    }
}

/// Whether the order of two words has a meaning: layouts, and the spaces of a copy.
fn same_order(a: Word, b: Word) -> bool {
    let layout = |word| matches!(word, Word::Row | Word::Col);
    let space =
        |word| matches!(word, Word::Global | Word::Shared | Word::SharedCta | Word::SharedCluster);
    layout(a) && layout(b) || space(a) && space(b)
}

/// Returns the first remaining word of a mnemonic that is among the alternatives, if each
/// alternative is a word alone.
fn first_written(all: &[Vec<Part>], state: &State, words: &[Word]) -> Option<usize> {
    let only_words = all.iter().all(|parts| matches!(parts[..], [Part::One(Modifier::Word(_))]));
    let among = |word: Word| all.iter().any(|parts| parts[..] == [Part::One(Modifier::Word(word))]);
    let left = |&n: &usize| state.taken >> n & 1 == 0 && among(words[n]);
    if only_words { (0..words.len()).find(left) } else { None }
}

fn sequence(rest: &mut &str) -> Vec<Part> {
    let mut parts = Vec::new();
    loop {
        if let Some(after) = rest.strip_prefix('{') {
            *rest = after.strip_prefix('.').unwrap_or(after);
            parts.push(Part::Optional(alternatives(rest, '}')));
        } else if let Some(after) = rest.strip_prefix('.') {
            *rest = after;
            parts.push(atom(rest));
        } else {
            return parts;
        }
    }
}

fn atom(rest: &mut &str) -> Part {
    if let Some(after) = rest.strip_prefix('(') {
        *rest = after;
        return Part::Any(alternatives(rest, ')'));
    }
    if let Some(after) = rest.strip_prefix('<') {
        let (name, after) =
            after.split_once('>').unwrap_or_else(|| panic!("pattern: no `>` after `{after}`"));
        *rest = after;
        let set =
            SETS.iter().find(|set| set.0 == name).unwrap_or_else(|| panic!("no set `{name}`"));
        let mut text = set.1;
        return Part::Any(alternatives(&mut text, '\0'));
    }
    let end = rest
        .find(|c: char| !(c.is_ascii_alphanumeric() || c == '_' || c == ':'))
        .unwrap_or(rest.len());
    let (word, after) = rest.split_at(end);
    *rest = after;
    Part::One(Modifier::from_text(word).unwrap_or_else(|| panic!("pattern: no word `{word}`")))
}

fn alternatives(rest: &mut &str, close: char) -> Vec<Vec<Part>> {
    let mut all = Vec::new();
    loop {
        let first = atom(rest);
        match (first, sequence(rest)) {
            (Part::Any(of), after) if after.is_empty() => all.extend(of),
            (first, after) => all.push([vec![first], after].concat()),
        }
        if let Some(after) = rest.strip_prefix('|') {
            *rest = after;
        } else if close == '\0' {
            assert!(rest.is_empty(), "set: `{rest}` is left");
            return all;
        } else {
            *rest = rest
                .strip_prefix(close)
                .unwrap_or_else(|| panic!("pattern: no `{close}` before `{rest}`"));
            return all;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn matched(pattern: &str, mnemonic: &str) -> Option<String> {
        let modifiers: Vec<Modifier> =
            mnemonic.split('.').map(|word| Modifier::from_text(word).unwrap()).collect();
        let words: Vec<Word> = modifiers
            .iter()
            .filter_map(|m| if let Modifier::Word(word) = m { Some(*word) } else { None })
            .collect();
        let types: Vec<Ty> = modifiers
            .iter()
            .filter_map(|m| if let Modifier::Type(ty) = m { Some(*ty) } else { None })
            .collect();
        let words = Pattern::parse(pattern).matches(&words, &types)?;
        Some(words.iter().map(|word| word.text()).collect::<Vec<_>>().join("."))
    }

    #[test]
    fn words_come_in_any_order_and_types_in_theirs() {
        let pattern = "{.rn|rz}{.ftz}.(f32|f64).(s32|u32)";
        assert_eq!(matched(pattern, "f32.ftz.u32.rz").as_deref(), Some("rz.ftz"));
        assert_eq!(matched(pattern, "u32.f32"), None);
        assert_eq!(matched(pattern, "rn.rz.f32.s32"), None);
        assert_eq!(matched(pattern, "ftz.ftz.f32.s32"), None);
        assert_eq!(matched(pattern, "f32.s32.s32"), None);
        assert_eq!(matched(pattern, "f32"), None);
    }

    #[test]
    fn alternatives_go_on() {
        let pattern = "{.volatile|relaxed.(cta|gpu)|weak{.ca}}.f32";
        assert!(matched(pattern, "f32").is_some());
        assert!(matched(pattern, "gpu.relaxed.f32").is_some());
        assert!(matched(pattern, "weak.ca.f32").is_some());
        assert!(matched(pattern, "relaxed.f32").is_none());
        assert!(matched(pattern, "volatile.cta.f32").is_none());
    }
}
