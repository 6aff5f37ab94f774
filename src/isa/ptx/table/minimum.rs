//! The targets and versions that have a form.

use std::fmt::{self, Display};
use std::sync::LazyLock;

use smallvec::SmallVec;

use super::Form;
use super::pattern::Modifier;
use crate::module::Target;

/// Alternatives, each of a lowest target and a lowest version on that target.
///
/// A target with a suffix has all forms of the plain target. A form that needs `sm_90a` exists on
/// that target alone. A form that needs `sm_100f` exists there, and on later targets of the same
/// ten with a suffix (facts, `ptx.md` 1.1).
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Minimum {
    lowest: SmallVec<[(Target, (u8, u8)); 1]>,
    /// The target and version from which on the form no longer exists.
    until: Option<(u32, (u8, u8))>,
}

struct Name(Target);

impl Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "sm_{}", self.0.sm)?;
        self.0.suffix.map_or(Ok(()), |suffix| write!(f, "{suffix}"))
    }
}

impl Minimum {
    /// Parses `20 2.0`, `90a 8.0|100a 8.6`, or `20 2.0 until 70 6.4`.
    pub fn parse(text: &str) -> Minimum {
        let one = |text: &str| {
            let (target, version) = text.split_once(' ')?;
            let (major, minor) = version.split_once('.')?;
            let digits = target.trim_end_matches(['a', 'f']);
            let suffix = target[digits.len()..].chars().next();
            Some((
                Target { sm: digits.parse().ok()?, suffix },
                (major.parse().ok()?, minor.parse().ok()?),
            ))
        };
        let place = |text: &str| one(text).unwrap_or_else(|| panic!("minimum `{text}`"));
        let (text, until) =
            text.split_once(" until ").map_or((text, None), |(text, until)| (text, Some(until)));
        let until = until.map(place).map(|(target, version)| (target.sm, version));
        Minimum { lowest: text.split('|').map(place).collect(), until }
    }

    /// Checks a target and version. The error says what is needed: "needs sm_80".
    pub fn check(&self, target: Target, version: (u8, u8)) -> Result<(), String> {
        if let Some((sm, end)) = self.until.filter(|&(sm, end)| target.sm >= sm && version >= end) {
            return Err(format!("is no more from sm_{sm} and PTX {}.{} on", end.0, end.1));
        }
        let mut older = None;
        for &(lowest, from) in &self.lowest {
            if !has(target, lowest) {
                continue;
            }
            if version >= from {
                return Ok(());
            }
            older.get_or_insert(from);
        }
        if let Some((major, minor)) = older {
            return Err(format!("needs PTX {major}.{minor}"));
        }
        let names: Vec<String> =
            self.lowest.iter().map(|&(lowest, _)| Name(lowest).to_string()).collect();
        Err(format!("needs {}, not {}", names.join(" or "), Name(target)))
    }
}

/// The opcodes that a rule applies to.
enum Of {
    All,
    Only(&'static [&'static str]),
    AllBut(&'static [&'static str]),
}

const ATOMICS: Of = Of::Only(&["atom", "red"]);

/// The minima of modifiers, alone or together. A form's own minimum applies in addition.
const MODIFIERS: &[(&str, &str, Of)] = &[
    ("ftz", "10 1.4", Of::All),
    ("param", "20 2.0", Of::Only(&["st"])),
    ("ca", "20 2.0", Of::All),
    ("cg", "20 2.0", Of::All),
    ("cs", "20 2.0", Of::All),
    ("lu", "20 2.0", Of::All),
    ("cv", "20 2.0", Of::All),
    ("wb", "20 2.0", Of::All),
    ("wt", "20 2.0", Of::All),
    ("approx", "10 1.4", Of::All),
    ("full", "10 1.4", Of::All),
    ("shared::cta", "20 7.8", Of::AllBut(&["cp.async"])),
    ("shared::cluster", "90 7.8", Of::All),
    ("param::entry", "20 8.3", Of::All),
    ("param::func", "20 8.3", Of::All),
    ("shared", "12 1.2", ATOMICS),
    ("b64", "12 1.2", ATOMICS),
    ("u64", "12 1.2", ATOMICS),
    ("shared b64", "20 2.0", ATOMICS),
    ("shared u64", "20 2.0", ATOMICS),
    ("add f32", "20 2.0", ATOMICS),
    ("sys b128", "70 8.4", Of::All),
    ("volatile", "10 1.1", Of::All),
    ("cta", "60 5.0", ATOMICS),
    ("gpu", "60 5.0", ATOMICS),
    ("sys", "60 5.0", ATOMICS),
    ("cluster", "90 7.8", Of::All),
    ("weak", "70 5.1", Of::All),
    ("relaxed", "70 5.1", Of::All),
    ("acquire", "70 5.1", Of::All),
    ("release", "70 5.1", Of::All),
    ("acq_rel", "70 5.1", Of::All),
    ("L1::evict_normal", "70 7.4", Of::All),
    ("L1::evict_unchanged", "70 7.4", Of::All),
    ("L1::evict_first", "70 7.4", Of::All),
    ("L1::evict_last", "70 7.4", Of::All),
    ("L1::no_allocate", "70 7.4", Of::All),
    ("L2::64B", "75 7.4", Of::All),
    ("L2::128B", "75 7.4", Of::All),
    ("L2::256B", "80 7.4", Of::All),
    ("L2::cache_hint", "80 7.4", Of::All),
    ("b128", "70 8.3", Of::All),
];

/// Modifiers that a form has all of, their minimum, and the opcodes of the rule.
type Need = (SmallVec<[Modifier; 2]>, Minimum, &'static Of);

static OF_MODIFIERS: LazyLock<Vec<Need>> = LazyLock::new(|| {
    let entry = |(texts, minimum, of): &'static (&str, &str, Of)| {
        let modifiers = texts.split(' ').map(Modifier::from_text).collect::<Option<_>>()?;
        Some((modifiers, Minimum::parse(minimum), of))
    };
    MODIFIERS.iter().filter_map(entry).collect()
});

static GENERIC: LazyLock<Minimum> = LazyLock::new(|| Minimum::parse("20 2.0"));

/// Whether a form has a generic address.
fn is_generic(form: &Form) -> bool {
    let name = form.row.opcode.split('.').next().unwrap_or_default();
    matches!(name, "ld" | "st" | "atom" | "red") && form.space().is_none()
}

/// Checks that a target and version have all modifiers of a form.
pub fn check_modifiers(form: &Form, target: Target, version: (u8, u8)) -> Result<(), String> {
    let has = |modifier: &Modifier| match modifier {
        Modifier::Word(word) => form.has(*word),
        Modifier::Type(ty) => form.types.contains(ty),
    };
    let speaks = |of: &Of| match of {
        Of::All => true,
        Of::Only(all) => all.contains(&form.row.opcode),
        Of::AllBut(all) => !all.contains(&form.row.opcode),
    };
    if is_generic(form) {
        GENERIC.check(target, version)?;
    }
    let rules =
        OF_MODIFIERS.iter().filter(|(modifiers, _, of)| modifiers.iter().all(has) && speaks(of));
    rules.into_iter().try_for_each(|(_, minimum, _)| minimum.check(target, version))
}

fn has(target: Target, lowest: Target) -> bool {
    match lowest.suffix {
        None => target.sm >= lowest.sm,
        Some('f') => {
            target.suffix.is_some() && target.sm >= lowest.sm && target.sm / 10 == lowest.sm / 10
        }
        Some(_) => target == lowest,
    }
}
