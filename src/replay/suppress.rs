//! Findings of checks that a user knows and does not want to see.
//!
//! A file of text: each line has a check (or `*`), a regular expression for the kernel's name, and
//! perhaps one for the place: the line of the source as `FILE:LINE`, the line of the text as
//! `line N`, or the pc as `pc 0x10`. `#` begins a comment.

use std::fmt::Write;
use std::path::Path;

use regex_lite::Regex;
use warploom::{Checks, Finding};

use crate::names::readable;

/// The lines of a file.
#[derive(Debug, Default)]
pub struct Suppressions(Vec<Line>);

#[derive(Debug)]
struct Line {
    /// `None`: all checks.
    check: Option<String>,
    kernel: Regex,
    place: Option<Regex>,
}

impl Suppressions {
    /// Reads a file.
    ///
    /// # Errors
    /// The file cannot be read, or has a wrong line: the message names it.
    pub fn read(path: &Path) -> Result<Suppressions, String> {
        let text = std::fs::read_to_string(path)
            .map_err(|error| format!("{}: cannot be read: {error}", path.display()))?;
        Suppressions::parse(&text)
            .map_err(|(number, problem)| format!("{}:{number}: {problem}", path.display()))
    }

    /// Reads text. An error has the number of a line, from 1 on.
    fn parse(text: &str) -> Result<Suppressions, (usize, String)> {
        let mut lines = vec![];
        for (number, line) in (1..).zip(text.lines()) {
            let line = line.split('#').next().unwrap_or_default().trim();
            if !line.is_empty() {
                lines.push(Line::parse(line).map_err(|problem| (number, problem))?);
            }
        }
        Ok(Suppressions(lines))
    }

    /// Returns whether a finding is not to be seen.
    pub fn cover(&self, finding: &Finding) -> bool {
        self.0.iter().any(|line| line.covers(finding))
    }
}

impl Line {
    fn parse(line: &str) -> Result<Line, String> {
        let mut words = line.splitn(3, char::is_whitespace).map(str::trim);
        let (Some(check), Some(kernel)) = (words.next(), words.next()) else {
            return Err("expected a check, the name of a kernel, and perhaps a place".into());
        };
        let names = Checks::NAMES;
        if check != "*" && !names.contains(&check) {
            return Err(format!("`{check}`: expected `*` or one of {}", names.join(", ")));
        }
        let regex = |text: &str| Regex::new(text).map_err(|error| format!("`{text}`: {error}"));
        Ok(Line {
            check: (check != "*").then(|| check.to_owned()),
            kernel: regex(kernel)?,
            place: words.next().filter(|place| !place.is_empty()).map(regex).transpose()?,
        })
    }

    fn covers(&self, finding: &Finding) -> bool {
        let is_check = self.check.as_ref().is_none_or(|check| check == finding.check());
        let name = &finding.kernel;
        let is_kernel = || {
            self.kernel.is_match(name)
                || readable(&[name]).iter().any(|short| self.kernel.is_match(short))
        };
        let is_place = || self.place.as_ref().is_none_or(|place| place.is_match(&places(finding)));
        is_check && is_kernel() && is_place()
    }
}

/// Returns the names of a finding's place.
fn places(finding: &Finding) -> String {
    let mut text = format!("pc {:#x}", finding.place.pc);
    // Nothing fails that writes to a string.
    if let Some(line) = &finding.place.line {
        let _ = write!(text, " {line}");
    }
    text
}
