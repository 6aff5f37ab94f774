//! Runs a loop over each form of each opcode in all guests' tables that can stand in a loop. The
//! loop's code calls no helper and interprets nothing, except for the forms of `exceptions.txt`.
//!
//! A form is a mnemonic with its modifiers and types, the kinds of its operands, and the way its
//! address is computed. Instructions are drawn from the tables; an instruction of a form met
//! earlier is skipped.
//!
//! A loop holds some dozens of different forms. If a loop calls fewer helpers than it has rounds,
//! no form calls a helper in each round. Otherwise each form runs alone, in loops of some rounds
//! and of twice as many rounds.
//!
//! A test takes every third form, and all forms that may call helpers. `WARPLOOM_FORMS=1` takes all
//! forms, and prints results during the run, and the forms that cannot be run.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use arbitrary::Unstructured;
use warploom_testing::ir::{Random, Source};
use warploom_testing::loops::{GUESTS, Guest};
use warploom_testing::program::{Node, print};
use warploom_testing::{Case, check};

const ROUNDS: u32 = 32;
/// The number of instructions in a loop.
const TOGETHER: usize = 32;
/// One loop of this many is compared with the interpreter.
const COMPARED: usize = 12;
/// The number of random draws from a row; each draw is for the next target.
const DRAWS: usize = 24;
/// Returns the highest number of forms of a mnemonic. vISA's mnemonics have no types.
fn most_forms(guest: &Guest) -> usize {
    if guest.name == "visa" { 20 } else { 3 }
}

/// The highest percentage of all forms that may be rare exceptions, for which one helper call does
/// not handle a whole warp.
const EXCEPTIONS_PERCENT: usize = 2;

/// Forms that may call helpers.
struct Exception {
    /// The start of the mnemonic and, after a `*`, a part of the form.
    prefix: &'static str,
    /// True if one helper call handles a whole warp.
    warp_at_once: bool,
    reason: &'static str,
}

impl Exception {
    fn has(&self, form: &str) -> bool {
        match self.prefix.split_once('*') {
            Some((mnemonic, part)) => form.starts_with(mnemonic) && form.contains(part),
            None => form.starts_with(self.prefix),
        }
    }
}

/// Returns a guest's exceptions. A line has a guest name, the start of mnemonics, `warp` or `rare`,
/// and a reason.
fn exceptions(guest: &str) -> Vec<Exception> {
    let lines = include_str!("exceptions.txt")
        .lines()
        .filter(|line| !line.is_empty() && !line.starts_with('#'));
    let columns = lines.map(|line| {
        let mut columns = line.splitn(4, ' ');
        [(); 4].map(|()| {
            columns.next().unwrap_or_else(|| panic!("{line}: guest, prefix, kind, reason"))
        })
    });
    let of_guest = columns.filter(|columns| columns[0] == guest);
    of_guest
        .map(|[_, prefix, kind, reason]| {
            assert!(matches!(kind, "warp" | "rare"), "{prefix}: {kind}");
            Exception { prefix, warp_at_once: kind == "warp", reason }
        })
        .collect()
}

/// Returns the instruction of a line, without its guard.
fn statement(line: &str) -> &str {
    match line.starts_with(['@', '(']) {
        true => line.split_once(' ').map_or(line, |(_, rest)| rest),
        false => line,
    }
}

fn mnemonic(line: &str) -> &str {
    statement(line).split(' ').next().unwrap_or_default().trim_end_matches(';')
}

/// Returns the kinds of operands: numbers become `n`, and registers lose their numbers. Text in
/// angle brackets (vISA's regions) stays.
fn kinds(operands: &str) -> String {
    let mut kinds = String::new();
    let mut rest = operands;
    while let Some(first) = rest.chars().next() {
        let end = match first {
            '<' => rest.find('>').unwrap_or(rest.len()),
            _ => rest
                .find(|c: char| !c.is_ascii_alphanumeric())
                .unwrap_or(rest.len())
                .max(first.len_utf8()),
        };
        let (word, behind) = rest.split_at(end);
        match first {
            '0'..='9' => kinds.push('n'),
            '<' => kinds += word,
            _ => kinds.extend(word.chars().filter(|c| !c.is_ascii_digit())),
        }
        rest = behind;
    }
    kinds
}

/// Whether all forms are tested, and results are printed.
fn tells() -> bool {
    std::env::var_os("WARPLOOM_FORMS").is_some()
}

/// One of this many forms is tested.
const SHARE: usize = 3;

fn text(node: &Node) -> String {
    let mut text = String::new();
    print(std::slice::from_ref(node), &mut text);
    text
}

fn form(node: &Node) -> String {
    let text = text(node);
    let lines: Vec<&str> = text.lines().map(str::trim).collect();
    let last = statement(node.last_line());
    let operands = last.split_once(' ').map_or("", |(_, operands)| operands);
    let before =
        lines.iter().take(lines.len() - 1).map(|line| mnemonic(line)).collect::<Vec<_>>().join(",");
    format!("{} {}  [{before}]", mnemonic(last), kinds(operands))
}

fn seeded<T>(seed: u64, draw: impl FnOnce(&mut Unstructured<'_>) -> arbitrary::Result<T>) -> T {
    let mut random = Random::new(seed);
    let bytes: Vec<u8> = (0..600).map(|_| random.below(256) as u8).collect();
    draw(&mut Unstructured::new(&bytes)).expect("bytes that are used up are zeros")
}

/// A form, with one instruction of it.
#[derive(Clone)]
struct Drawn {
    form: String,
    node: Node,
}

impl Drawn {
    fn mnemonic(&self) -> &str {
        mnemonic(self.node.last_line())
    }
}

/// The result of running a form.
enum Found {
    Native,
    /// The number of helper calls in each round of a warp.
    Calls(f64),
    Fails(String),
}

/// Returns the forms of each target.
fn forms(guest: &Guest) -> Vec<Vec<Drawn>> {
    let mut met = BTreeSet::new();
    let mut of_mnemonic: BTreeMap<String, usize> = BTreeMap::new();
    let mut forms = vec![vec![]; guest.targets];
    for row in 0..(guest.rows)() {
        for draw in 0..DRAWS {
            let (target, seed) = ((row + draw) % guest.targets, (row << 16 | draw) as u64);
            let Some(node) = seeded(seed, |u| (guest.instruction)(u, target, row)) else {
                continue;
            };
            let drawn = Drawn { form: form(&node), node };
            let count = of_mnemonic.entry(drawn.mnemonic().to_owned()).or_default();
            if *count < most_forms(guest) && met.insert(drawn.form.clone()) {
                *count += 1;
                forms[target].push(drawn);
            }
        }
    }
    forms
}

struct Sweep<'a> {
    guest: &'a Guest,
    target: usize,
}

impl Sweep<'_> {
    fn looped(&self, nodes: &[Node], rounds: u32, again: bool) -> Case {
        seeded(7, |u| (self.guest.looped)(u, self.target, nodes.to_vec(), rounds, again))
    }

    /// Returns whether none of the instructions calls a helper in each round.
    fn are_native(&self, nodes: &[Node]) -> bool {
        let counts = self.looped(nodes, ROUNDS, false).counts();
        counts.is_ok_and(|counts| {
            counts.helper_calls < ROUNDS.into() && counts.interp_instructions == 0
        })
    }

    fn alone(&self, drawn: &Drawn) -> Found {
        let node = std::slice::from_ref(&drawn.node);
        let of = |rounds| self.looped(node, rounds, true).counts();
        let (once, twice) = match (of(ROUNDS), of(2 * ROUNDS)) {
            (Ok(once), Ok(twice)) => (once, twice),
            (Err(failure), _) | (_, Err(failure)) => return Found::Fails(failure.to_string()),
        };
        let interpreted = twice.interp_instructions.saturating_sub(once.interp_instructions);
        let calls = twice.helper_calls.saturating_sub(once.helper_calls).max(interpreted);
        match calls < u64::from(ROUNDS) / 4 {
            true => Found::Native,
            false => {
                Found::Calls(calls as f64 / f64::from(ROUNDS * (self.guest.warps)(self.target)))
            }
        }
    }
}

/// The results of a guest's forms.
#[derive(Default)]
struct Tally {
    forms: usize,
    native: usize,
    excepted: usize,
    /// Messages by mnemonic.
    fails: BTreeMap<String, Vec<String>>,
    calling: BTreeMap<String, Vec<(f64, Drawn)>>,
    problems: Vec<String>,
    /// Whether some form of an exception does call helpers.
    needed: BTreeMap<&'static str, bool>,
}

impl Tally {
    fn alone(&mut self, sweep: &Sweep<'_>, drawn: &Drawn) {
        let mnemonic = drawn.mnemonic().to_owned();
        let found = sweep.alone(drawn);
        if let (Found::Calls(calls), true) = (&found, tells()) {
            eprintln!("{calls:.2} {}\n{}", drawn.form, text(&drawn.node));
        }
        match found {
            Found::Native => self.native += 1,
            Found::Calls(calls) => {
                self.calling.entry(mnemonic).or_default().push((calls, drawn.clone()))
            }
            Found::Fails(why) => self.fails.entry(mnemonic).or_default().push(why),
        }
    }

    fn sweep(&mut self, sweep: &Sweep<'_>, forms: Vec<Drawn>, exceptions: &[Exception]) {
        let is_excepted = |drawn: &Drawn| exceptions.iter().any(|e| e.has(&drawn.form));
        let (excepted, others): (Vec<Drawn>, Vec<Drawn>) = forms.into_iter().partition(is_excepted);
        let share = if tells() { 1 } else { SHARE };
        let others: Vec<Drawn> = others.into_iter().step_by(share).collect();
        self.forms += excepted.len() + others.len();
        self.excepted += excepted.len();
        for (number, together) in others.chunks(TOGETHER).enumerate() {
            if tells() && number % 10 == 0 {
                eprintln!(
                    "target {}: {} of {} forms",
                    sweep.target,
                    number * TOGETHER,
                    others.len()
                );
            }
            let nodes: Vec<Node> = together.iter().map(|drawn| drawn.node.clone()).collect();
            if number % COMPARED == 0 {
                self.problems.extend(check(&sweep.looped(&nodes, 3, false), "forms").err());
            }
            match sweep.are_native(&nodes) {
                true => self.native += nodes.len(),
                false => together.iter().for_each(|drawn| self.alone(sweep, drawn)),
            }
        }
        for exception in exceptions {
            self.check_exception(sweep, exception, &excepted);
        }
    }

    /// Checks that some forms of an exception call helpers, and that they call no more than the
    /// exception says.
    fn check_exception(&mut self, sweep: &Sweep<'_>, exception: &Exception, excepted: &[Drawn]) {
        const TRIED: usize = 12;
        // A gather with a bias samples once for each texel; a gather of a cube, once for each face.
        const SAMPLES: f64 = 6.01;
        let of_it: Vec<&Drawn> =
            excepted.iter().filter(|drawn| exception.has(&drawn.form)).collect();
        let is_needed = self.needed.entry(exception.prefix).or_default();
        for drawn in of_it.iter().step_by(of_it.len().div_ceil(TRIED).max(1)) {
            if let Found::Calls(calls) = sweep.alone(drawn) {
                *is_needed = true;
                if exception.warp_at_once && calls > SAMPLES {
                    self.problems.push(format!("{}: {calls:.2} calls for a warp", drawn.form));
                }
                break;
            }
        }
    }

    fn report(mut self, guest: &Guest, exceptions: &[Exception]) {
        let fails: usize = self.fails.values().map(Vec::len).sum();
        let calling: usize = self.calling.values().map(Vec::len).sum();
        println!(
            "{}: {} forms, {} native, {} exceptions, {fails} cannot be run, {calling} call helpers",
            guest.name, self.forms, self.native, self.excepted
        );
        exceptions.iter().for_each(|e| println!("  {} {}", e.prefix, e.reason));
        if tells() {
            for (mnemonic, why) in &self.fails {
                println!("  {mnemonic}: {} cannot be run: {}", why.len(), why[0]);
            }
        }
        for (mnemonic, forms) in &self.calling {
            let (calls, drawn) = forms.iter().max_by(|a, b| a.0.total_cmp(&b.0)).expect("a form");
            let (count, form, text) = (forms.len(), &drawn.form, text(&drawn.node));
            self.problems.push(format!(
                "{mnemonic}: {count} forms call helpers, up to {calls:.2} times for a warp: {form}\n{text}"
            ));
        }
        let problems = &self.problems;
        assert!(
            problems.is_empty(),
            "{}: {} problems:\n{}",
            guest.name,
            problems.len(),
            problems.join("\n")
        );
        assert!(fails * 100 <= self.forms * 3, "too many cannot be run");
    }
}

fn forms_are_native(name: &str) {
    let guest = GUESTS.iter().find(|guest| guest.name == name).expect("a guest");
    let exceptions = exceptions(name);
    let mut tally = Tally::default();
    for (target, forms) in forms(guest).into_iter().enumerate() {
        tally.sweep(&Sweep { guest, target }, forms, &exceptions);
    }
    tally.needed.retain(|_, is_needed| !*is_needed);
    tally.problems.extend(tally.needed.keys().map(|prefix| {
        format!("{prefix}: it is no exception, for none of its forms calls helpers")
    }));
    tally.report(guest, &exceptions);
}

#[test]
fn maxwell_forms_are_native() {
    forms_are_native("maxwell");
}

#[test]
fn gfx9_forms_are_native() {
    forms_are_native("gfx9");
}

#[test]
fn turing_forms_are_native() {
    forms_are_native("turing");
}

#[test]
fn ptx_forms_are_native() {
    forms_are_native("ptx");
}

#[test]
fn visa_forms_are_native() {
    forms_are_native("visa");
}

/// Proves that rare exceptions (without one helper call per warp) are few, and that real code has
/// none. The lists of mnemonics in real code are not committed.
#[test]
fn exceptions_are_few_and_not_in_real_code() {
    for guest in &GUESTS {
        let exceptions = exceptions(guest.name);
        let rare: Vec<&Exception> =
            exceptions.iter().filter(|exception| !exception.warp_at_once).collect();
        let forms: Vec<Drawn> = forms(guest).into_iter().flatten().collect();
        let is_rare = |form: &str| rare.iter().any(|exception| exception.has(form));
        let count = forms.iter().filter(|drawn| is_rare(&drawn.form)).count();
        println!("{}: {count} of {} forms are rare exceptions", guest.name, forms.len());
        assert!(
            count * 100 <= forms.len() * EXCEPTIONS_PERCENT,
            "{}: {count} of {} forms",
            guest.name,
            forms.len()
        );
        let list =
            format!("{}/shared/data/{}-mnemonics.txt", env!("CARGO_MANIFEST_DIR"), guest.name);
        let Ok(list) = std::fs::read_to_string(Path::new(&list)) else {
            println!("{}: there is no {list}", guest.name);
            continue;
        };
        // A mnemonic has letters: counts stand before or after it.
        let words = list
            .split_whitespace()
            .filter(|word| word.contains(char::is_alphabetic) && !word.contains('='));
        let real: Vec<&str> = words.filter(|word| is_rare(word)).collect();
        assert!(real.is_empty(), "{}: in real code: {}", guest.name, real.join(" "));
    }
}
