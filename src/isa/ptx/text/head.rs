//! `.version`, `.target`, `.address_size`. Facts, `ptx.md` 1.1.

use super::lexer::Kind;
use super::reader::{Reader, Result};
use crate::module::Target;

/// Versions that exist: the major number, and the last minor number. Minor numbers start at 0.
const VERSIONS: &[(u8, u8)] =
    &[(1, 5), (2, 3), (3, 2), (4, 3), (5, 1), (6, 5), (7, 8), (8, 8), (9, 5)];

/// Targets without a suffix, and the first version that accepts each.
const TARGETS: &[(u32, (u8, u8))] = &[
    (10, (1, 0)),
    (11, (1, 0)),
    (12, (1, 2)),
    (13, (1, 2)),
    (20, (2, 0)),
    (21, (2, 0)),
    (30, (3, 0)),
    (32, (4, 0)),
    (35, (3, 1)),
    (37, (4, 1)),
    (50, (4, 0)),
    (52, (4, 1)),
    (53, (4, 2)),
    (60, (5, 0)),
    (61, (5, 0)),
    (62, (5, 0)),
    (70, (5, 1)),
    (72, (6, 1)),
    (75, (6, 3)),
    (80, (7, 0)),
    (86, (7, 1)),
    (87, (7, 4)),
    (88, (9, 0)),
    (89, (7, 8)),
    (90, (7, 8)),
    (100, (8, 6)),
    (101, (8, 6)),
    (103, (8, 8)),
    (107, (9, 4)),
    (110, (9, 0)),
    (120, (8, 7)),
    (121, (8, 8)),
];

/// Returns the target of a name, and the first version that accepts it.
fn target(name: &str) -> Option<(Target, (u8, u8))> {
    let digits = name.strip_prefix("sm_").or_else(|| name.strip_prefix("compute_"))?;
    let (digits, suffix) = match digits.strip_suffix(['a', 'f']) {
        Some(digits) => (digits, name.chars().next_back()),
        None => (digits, None),
    };
    let &(sm, first) = TARGETS.iter().find(|(sm, _)| sm.to_string() == digits)?;
    let first = match suffix {
        None => first,
        Some('a') if sm == 90 => (8, 0),
        Some('a') if sm > 90 => first,
        Some('f') if sm >= 100 => first.max((8, 8)),
        Some(_) => return None,
    };
    Some((Target { sm, suffix }, first))
}

impl Reader<'_> {
    /// Reads the head of a module. If it fails, the rest of the text is not read.
    pub fn head(&mut self) -> Result<()> {
        if !self.take_word("version") {
            return self.unexpected("`.version`");
        }
        self.version()?;
        if !self.take_word("target") {
            return self.unexpected("`.target`");
        }
        self.target()?;
        while self.take_word("target") {
            self.target()?;
        }
        if self.take_word("address_size") {
            let at = self.token.at;
            self.needs(at, "`.address_size`", 0, (2, 3))?;
            let size = self.literal("32 or 64", 64)?;
            if size != 32 && size != 64 {
                return self.fail(at, format!("found `{size}`, expected 32 or 64"));
            }
            self.module.address_size = size as u8;
            self.module.has_address_size = true;
        }
        Ok(())
    }

    fn version(&mut self) -> Result<()> {
        let parts =
            (self.token.kind == Kind::Decimal).then(|| self.here().split_once('.')).flatten();
        let numbers = parts.and_then(|(major, minor)| {
            Some((major.parse::<u8>().ok()?, minor.parse::<u8>().ok()?))
        });
        let known = numbers.filter(|&(major, minor)| {
            VERSIONS.iter().any(|&(m, last)| m == major && minor <= last)
        });
        // `8.08` is not a version.
        let known = known.filter(|(major, minor)| format!("{major}.{minor}") == self.here());
        match known {
            Some(version) => {
                self.module.version = version;
                self.advance();
                Ok(())
            }
            None => self.unexpected("a version from 1.0 to 9.5"),
        }
    }

    /// Reads the part after `.target`. A second `.target` applies from there on.
    pub fn target(&mut self) -> Result<()> {
        let (name, at) = self.name("a target like `sm_80`")?;
        let Some((target, first)) = target(name) else {
            return self.fail(at, format!("found `{name}`, expected a target like `sm_80`"));
        };
        self.module.target = target;
        if self.module.version < first {
            let (major, minor) = first;
            let found = self.module.version;
            let message =
                format!("{name} needs version {major}.{minor}, this is {}.{}", found.0, found.1);
            return self.fail(at, message);
        }
        // The new target needs its own check of each mnemonic.
        self.forms.clear();
        self.joined.clear();
        self.module.independent_textures = false;
        while self.take(b',') {
            let (option, at) = self.name("an option of the target")?;
            match option {
                "texmode_unified" => {}
                "texmode_independent" => self.module.independent_textures = true,
                "debug" => self.debug = Some(at),
                "map_f64_to_f32" if target.sm < 13 => {}
                "map_f64_to_f32" => {
                    return self.fail(at, "`map_f64_to_f32` is for targets below sm_13");
                }
                _ => {
                    let message = format!("found `{option}`, expected an option of the target");
                    return self.fail(at, message);
                }
            }
        }
        Ok(())
    }
}
