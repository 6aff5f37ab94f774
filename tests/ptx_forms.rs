//! The instruction table against the statements that ptxas takes, and against the mnemonics of real
//! programs. The header of the list, `ptx/ptx-forms.txt.gz`, explains it.

use std::collections::{BTreeMap, HashMap};
use std::io::Read;

use warploom_ptx::module::Target;
use warploom_ptx::table;
use warploom_ptx::text::print;

fn forms() -> String {
    let packed = include_bytes!("ptx/ptx-forms.txt.gz");
    let mut text = String::new();
    flate2::read::GzDecoder::new(&packed[..]).read_to_string(&mut text).unwrap();
    text
}

struct Line<'a> {
    accept: bool,
    /// `None`: no target has the statement.
    target: Option<Target>,
    version: (u8, u8),
    statement: &'a str,
}

fn target(name: &str) -> Target {
    let name = name.strip_prefix("sm_").unwrap();
    let digits = name.trim_end_matches('a');
    Target { sm: digits.parse().unwrap(), suffix: name[digits.len()..].chars().next() }
}

/// Returns a line of the list, or `None` if the line says nothing about the text.
fn line(line: &str) -> Option<Line<'_>> {
    let mut columns = line.split('\t');
    let (verdict, place, statement) = (columns.next()?, columns.next()?, columns.next()?);
    let (place, version) = place.split_once('/')?;
    let (major, minor) = version.split_once('.')?;
    let target = match place {
        "codegen" | "wrongcode" => return None,
        "any" | "crash" => None,
        name => Some(target(name)),
    };
    Some(Line {
        accept: verdict == "accept",
        target,
        version: (major.parse().ok()?, minor.parse().ok()?),
        statement,
    })
}

/// Returns the opcode name of a statement, without a guard.
fn opcode(statement: &str) -> &str {
    let statement = match statement.strip_prefix('@') {
        Some(rest) => rest.split_once(' ').unwrap_or_default().1,
        None => statement,
    };
    let end = statement.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_'));
    &statement[..end.unwrap_or(statement.len())]
}

/// Returns a module with the statement and the declarations that the list's header puts around it.
fn module(statement: &str, target: Target, (major, minor): (u8, u8)) -> String {
    let suffix = target.suffix.map(String::from).unwrap_or_default();
    let size = if (major, minor) >= (2, 3) { ".address_size 64\n" } else { "" };
    let wide = if (major, minor) >= (8, 3) && target.sm >= 70 { ".reg .b128 %q<8>;" } else { "" };
    let names = |name: &str| statement.contains(name);
    let mut lists = String::new();
    if names("ts;") {
        lists += "ts: .branchtargets L1, L2;\n";
    }
    if names("pr;") {
        lists += "pr: .callprototype (.param .b32 _) _ (.param .b32 _);\n";
    }
    if names("ct;") {
        lists += "ct: .calltargets fnp;\n";
    }
    format!(
        ".version {major}.{minor}\n.target sm_{sm}{suffix}\n{size}
.global .align 16 .b8 g[256]; .const .align 16 .b8 c[256]; .shared .align 16 .b8 s[256];
.global .surfref surf; .global .texref tex;
.func (.reg .b32 r0) fn (.reg .b32 a0) {{ mov.b32 r0, a0; ret; }}
.func fn2 (.reg .b32 a0) {{ ret; }}
.func fn0 {{ ret; }}
.func (.param .b32 r0) fnp (.param .b32 a0) {{ ret; }}
.entry k (.param .align 16 .b8 pp[256]) {{
.reg .b32 %r<64>; .reg .f32 %f<64>; .reg .b64 %rd<32>; .reg .f64 %fd<32>; .reg .pred %p<8>; .reg .b16 %h<32>; .reg .b8 %c<8>; {wide}
.local .align 16 .b8 l[256];
.param .b32 pa0; .param .b32 pr0;
{lists}L1:
{statement}
L2: ret;
}}
",
        sm = target.sm
    )
}

fn verdict(statement: &str, target: Target, version: (u8, u8)) -> Result<(), String> {
    let text = module(statement, target, version);
    let read = warploom_ptx::read(text.as_bytes())
        .map_err(|errors| errors.to_string().replace('\n', " "))?;
    // A statement that is taken prints, and its printed text is taken again.
    let printed = print(&read);
    let again = warploom_ptx::read(printed.as_bytes())
        .unwrap_or_else(|errors| panic!("{statement}\n{errors}\n{printed}"));
    assert_eq!(printed, print(&again));
    Ok(())
}

#[test]
fn what_stands_around_statements_is_legal() {
    for version in [(2, 0), (2, 3), (3, 0), (6, 0), (8, 8)] {
        verdict("", target(if version < (3, 0) { "sm_20" } else { "sm_30" }), version).unwrap();
    }
}

#[test]
fn mnemonics_of_programs_resolve() {
    let text = include_str!("ptx/ptx-mnemonics.txt");
    let wrong: Vec<String> = text
        .lines()
        .filter_map(|line| line.split_whitespace().nth(1))
        .filter_map(|mnemonic| table::resolve(&mnemonic.split('.').collect::<Vec<_>>()).err())
        .collect();
    assert!(wrong.is_empty(), "{} mnemonics: {wrong:#?}", wrong.len());
}

/// Disagreements by opcode, and by whether ptxas takes the statement.
#[derive(Default)]
struct Disagreements(BTreeMap<(String, bool), Vec<String>>);

impl Disagreements {
    /// Asks about one statement, and notes only a disagreement.
    fn ask(&mut self, statement: &str, accept: bool, target: Target, version: (u8, u8)) {
        let verdict = verdict(statement, target, version);
        if verdict.is_ok() == accept {
            return;
        }
        let suffix = target.suffix.map(String::from).unwrap_or_default();
        let (sm, (major, minor)) = (target.sm, version);
        let text = format!(
            "sm_{sm}{suffix} {major}.{minor}: {statement} {}",
            verdict.err().unwrap_or_default()
        );
        self.0.entry((opcode(statement).to_owned(), accept)).or_default().push(text);
    }

    fn assert_none(&self) {
        for ((opcode, accept), all) in &self.0 {
            println!("{opcode}: {} {}", all.len(), if *accept { "refused" } else { "taken" });
            all.iter().take(20).for_each(|line| println!("    {line}"));
        }
        assert!(self.0.is_empty());
    }
}

#[test]
fn statements_have_the_verdicts_of_ptxas() {
    let text = forms();
    let mut disagreements = Disagreements::default();
    for of in text.lines().filter(|line| !line.starts_with('#')).filter_map(line) {
        let targets = match of.target {
            Some(target) => vec![target],
            None => ["sm_90a", "sm_100a", "sm_120a"].map(target).to_vec(),
        };
        for target in targets {
            disagreements.ask(of.statement, of.accept, target, of.version);
        }
    }
    disagreements.assert_none();
}

/// Later targets and versions take a statement that a target takes, unless a line of the list says
/// otherwise.
#[test]
fn accepted_statements_stay_legal() {
    let text = forms();
    let lines: Vec<Line> =
        text.lines().filter(|line| !line.starts_with('#')).filter_map(line).collect();
    let mut refused: HashMap<&str, Vec<&Line>> = HashMap::new();
    for of in lines.iter().filter(|of| !of.accept) {
        refused.entry(of.statement).or_default().push(of);
    }
    let ends = |of: &Line, target: Target| {
        let later =
            |by: &&Line| by.version > of.version && by.target.is_none_or(|by| by.sm >= target.sm);
        refused.get(of.statement).is_some_and(|all| all.iter().any(later))
    };
    let mut disagreements = Disagreements::default();
    for of in lines.iter().filter(|of| of.accept && of.version <= (8, 8)) {
        match of.target {
            Some(lowest) if lowest.suffix.is_none() && !ends(of, lowest) => {
                disagreements.ask(of.statement, true, target("sm_120"), (8, 8));
            }
            _ => {}
        }
    }
    disagreements.assert_none();
}
