//! The code of a file as nvdisasm lists it: labels, branch targets, dual issue in braces, aligned
//! columns.
//!
//! Label numbers follow nvdisasm, over all code sections of a file. First come the targets of
//! direct branches in order of their first use. Each indirect branch then takes one number for
//! itself and one for each target. Last, the end of each function takes a number. A place that
//! already has a label keeps it; the number is used up.

mod waits;

use std::collections::HashMap;
use std::fmt::Write;

use warploom_sass::text::Context;

use super::code::{CodeWord, words};
use super::instruction::{BUNDLE_BYTES, WORD_BYTES, past_control};
use super::lift::registers;
use super::table::Opcode;

/// A code section.
#[derive(Clone, Copy, Debug)]
pub struct Section<'a> {
    /// `.text.` and the name of the section's first function.
    pub name: &'a str,
    pub code: &'a [u8],
    /// The alignment in bytes.
    pub align: u64,
    /// The number of registers of a lane.
    pub registers: u32,
    /// The number of barriers of the thread block.
    pub barriers: u32,
    /// Addresses of indirect branches and of instructions that wait for a reconvergence, with their
    /// targets, as the file lists them. An address without targets is an indirect call.
    pub indirect: &'a [(u64, Vec<u64>)],
    /// Addresses of calls and jumps whose target a linker fills in, with the function's name.
    pub external: &'a [(u64, &'a str)],
}

impl<'a> Section<'a> {
    /// Returns the function that the instruction at an address calls or jumps to, if a linker fills
    /// in the target.
    fn external_target(&self, pc: u64) -> Option<&'a str> {
        self.external.iter().find(|(at, _)| *at == pc).map(|(_, name)| *name)
    }
}

/// A function.
#[derive(Clone, Copy, Debug)]
pub struct Symbol<'a> {
    pub name: &'a str,
    /// The index of the function's section.
    pub section: usize,
    /// The offset in bytes from the section's start.
    pub offset: u64,
    /// The size in bytes; 0 if unknown.
    pub size: u64,
    /// `.global` or `.weak`, if other files see the function.
    pub visible: Option<&'static str>,
    /// The function can be launched.
    pub kernel: bool,
}

/// Returns the text of each section. Symbols are in the order of the file.
pub fn listing(sections: &[Section], symbols: &[Symbol], hex: bool) -> Vec<String> {
    let names = Names::new(sections, symbols);
    let mut waits = found_waits(sections, symbols).into_iter().flatten();
    let bodies: Vec<_> = (sections.iter().enumerate())
        .map(|(i, section)| Body::new(i, section, symbols, &names, waits.next().as_ref()))
        .collect();
    let columns = Columns::of(bodies.iter().flat_map(|body| &body.lines));
    let text = |(body, section): (&Body, &Section)| {
        let mut out = header(section);
        body.symbols_at_start(&mut out);
        push_line(&mut out, &format!("{}:", section.name));
        body.print(&columns, hex, &mut out);
        out
    };
    bodies.iter().zip(sections).map(text).collect()
}

/// Returns the targets of leaves in each section, if the sections have leaves but the file lists no
/// targets: files of CUDA 10 and before. None if the analysis fails for any section: nvdisasm then
/// prints no analysis either.
fn found_waits(sections: &[Section], symbols: &[Symbol]) -> Option<Vec<waits::Targets>> {
    if sections.iter().any(|section| !section.indirect.is_empty()) {
        return None;
    }
    let of_section = |(i, section): (usize, &Section)| {
        let starts =
            symbols.iter().filter(|symbol| symbol.section == i).map(|symbol| symbol.offset);
        waits::targets(section.code, starts)
    };
    let waits: Vec<_> = sections.iter().enumerate().map(of_section).collect::<Option<_>>()?;
    waits.iter().any(|targets| !targets.is_empty()).then_some(waits)
}

fn header(section: &Section) -> String {
    let name = section.name;
    let mut out = format!("//--------------------- {name:25} --------------------------\n");
    push_line(&mut out, &format!("\t.section\t{name},\"ax\",@progbits"));
    if section.barriers > 0 {
        push_line(&mut out, &format!("\t.sectionflags\t@\"SHF_BARRIERS={}\"", section.barriers));
    }
    push_line(&mut out, &format!("\t.sectioninfo\t@\"SHI_REGISTERS={}\"", section.registers));
    push_line(&mut out, &format!("\t.align\t{}", section.align));
    out
}

/// The names of places.
struct Names {
    /// Labels of instructions, by section and address.
    labels: HashMap<(usize, u64), String>,
    /// Labels of function ends at which there is no instruction.
    ends: HashMap<(usize, u64), String>,
}

impl Names {
    fn new(sections: &[Section], symbols: &[Symbol]) -> Self {
        let mut names = Names { labels: HashMap::new(), ends: HashMap::new() };
        for symbol in symbols {
            names
                .labels
                .insert((symbol.section, past_control(symbol.offset)), symbol.name.to_owned());
        }
        let mut count = 0;
        let mut number = || {
            count += 1;
            format!(".L_x_{}", count - 1)
        };
        for (i, section) in sections.iter().enumerate() {
            for word in
                words(section.code).filter(|word| section.external_target(word.pc).is_none())
            {
                let Some(target) =
                    word.instruction.and_then(|instruction| instruction.target(word.pc))
                else {
                    continue;
                };
                names.labels.entry((i, target)).or_insert_with(&mut number);
            }
        }
        for (i, section) in sections.iter().enumerate() {
            for (at, targets) in section.indirect {
                let source = pair_start(section.code, past_control(*at));
                for place in std::iter::once(source)
                    .chain(targets.iter().map(|&target| past_control(target)))
                {
                    let label = number();
                    names.labels.entry((i, place)).or_insert(label);
                }
            }
        }
        for symbol in symbols.iter().filter(|symbol| symbol.size > 0) {
            let end = (symbol.section, symbol.offset.saturating_add(symbol.size));
            let label = number();
            if !names.labels.contains_key(&end) {
                names.ends.entry(end).or_insert(label);
            }
        }
        names
    }

    fn label(&self, section: usize, address: u64) -> Option<&str> {
        self.labels.get(&(section, address)).map(String::as_str)
    }

    fn end(&self, section: usize, address: u64) -> Option<&str> {
        self.ends.get(&(section, address)).map(String::as_str)
    }
}

/// Whether the word is issued together with the next word.
fn is_paired(word: &CodeWord) -> bool {
    word.control.stall == 0 && word.control.stay
}

/// Returns the address of the first of two instructions that are issued together, if the
/// instruction at `pc` is the second.
fn pair_start(code: &[u8], pc: u64) -> u64 {
    let previous = match pc % BUNDLE_BYTES {
        WORD_BYTES => pc.wrapping_sub(2 * WORD_BYTES),
        _ => pc.wrapping_sub(WORD_BYTES),
    };
    match super::code::word_at(code, previous) {
        Some(word) if is_paired(&word) => previous,
        _ => pc,
    }
}

/// An instruction as the listing shows it.
struct Line {
    word: CodeWord,
    /// The guard with its blank, or empty.
    guard: String,
    text: String,
    note: String,
    /// The instruction is issued together with the previous instruction.
    second: bool,
    /// No path leads to the instruction: it is printed without the space before the semicolon.
    dead: bool,
}

struct Body<'a> {
    section: usize,
    symbols: &'a [Symbol<'a>],
    names: &'a Names,
    code: &'a [u8],
    lines: Vec<Line>,
}

/// Columns that are common to all lines of a file.
struct Columns {
    /// The column of a note, from the start of the text.
    note: usize,
    /// The column of the encoding, from the start of the line.
    hex: usize,
}

impl Columns {
    fn of<'a>(lines: impl Iterator<Item = &'a Line> + Clone) -> Self {
        let note = lines.clone().map(|line| line.text.len()).max().unwrap_or(0) + 2;
        let notes = lines.filter(|line| !line.note.is_empty());
        let widest = notes
            .map(|line| line.note.len() + if line.second { BRACE_GAP } else { 0 })
            .max()
            .unwrap_or(0);
        Columns { note, hex: TEXT_COLUMN + note + widest + 2 }
    }
}

/// Column of the instruction text; a guard stands before it.
const TEXT_COLUMN: usize = 35;
/// The text before the slot number of an instruction.
const SLOT: &str = "   SLOT ";
/// Blanks between the second of two instructions that are issued together and the brace.
const BRACE_GAP: usize = 8;

/// Names the slots of two instructions that are issued together, if the second writes a register
/// that the first reads or writes.
fn name_slots(first: &mut Line, second: &mut Line) {
    let (Some(a), Some(b)) = (first.word.instruction, second.word.instruction) else { return };
    if !second.second {
        return;
    }
    let ((read, written), (_, changed)) = (registers(&a), registers(&b));
    if changed.meets(read.union(written)) {
        first.text.push_str(&format!("{SLOT}0"));
        second.text.push_str(&format!("{SLOT}1"));
    }
}

impl<'a> Body<'a> {
    fn new(
        index: usize,
        section: &Section<'a>,
        symbols: &'a [Symbol<'a>],
        names: &'a Names,
        waits: Option<&waits::Targets>,
    ) -> Self {
        let label = |address: u64| names.label(index, past_control(address)).map(str::to_owned);
        let (mut dead, mut paired) = (false, false);
        let mut lines: Vec<Line> = words(section.code)
            .map(|word| {
                dead &= names.label(index, word.pc).is_none();
                let external = section.external_target(word.pc);
                let target = |address: u64| external.map(str::to_owned).or_else(|| label(address));
                let context =
                    Context { pc: word.pc, reuse: word.control.reuse, label: Some(&target) };
                let text = word
                    .instruction
                    .map_or_else(|| "illegal".into(), |instruction| instruction.text_in(&context));
                let note =
                    match section.indirect.iter().find(|(at, _)| past_control(*at) == word.pc) {
                        None => match waits
                            .and_then(|waits| waits.get(&word.pc))
                            .and_then(|&target| label(target))
                        {
                            Some(target) if is_indirect(&word) => {
                                format!("(*\"INDIRECT_CALL\",\"TARGET= {target} \"*)")
                            }
                            Some(target) => format!("(*\"TARGET= {target} \"*)"),
                            None => String::new(),
                        },
                        Some((_, targets)) if targets.is_empty() => "(*\"INDIRECT_CALL\"*)".into(),
                        Some((_, targets)) => {
                            let targets: Vec<_> =
                                targets.iter().filter_map(|&target| label(target)).collect();
                            format!("(*\"BRANCH_TARGETS {}\"*)", targets.join(","))
                        }
                    };
                let (guard, text) = match text.split_once(' ').filter(|_| text.starts_with('@')) {
                    Some((guard, text)) => (format!("{guard} "), text.to_owned()),
                    None => (String::new(), text),
                };
                let second = paired;
                paired = !second && is_paired(&word);
                let line = Line { word, guard, text, note, second, dead };
                dead |= leaves(&word);
                line
            })
            .collect();
        // Without the analysis of leaves, nvdisasm does not print the order.
        for second in 1..if waits.is_some() { lines.len() } else { 0 } {
            let (before, behind) = lines.split_at_mut(second);
            name_slots(&mut before[second - 1], &mut behind[0]);
        }
        Body { section: index, symbols, names, code: section.code, lines }
    }

    fn print(&self, columns: &Columns, hex: bool, out: &mut String) {
        let (note_column, hex_column) = (columns.note, columns.hex);
        // The encoding of the second of two instructions: it is on a separate line, after the next
        // label.
        let mut pending: Option<String> = None;
        for line in &self.lines {
            let pc = line.word.pc;
            let bundle = pc - pc % BUNDLE_BYTES;
            if let Some(end) =
                self.names.end(self.section, bundle).filter(|_| pc == bundle + WORD_BYTES)
            {
                push_line(out, &format!("{end}:"));
            }
            if let Some(end) = self.names.end(self.section, pc) {
                push_line(out, &format!("{end}:"));
            }
            self.print_label(pc, out);
            pending.take().inspect(|line| push_line(out, line));
            if hex && pc == bundle + WORD_BYTES {
                let control = super::code::control_at(self.code, bundle).unwrap_or(0);
                push_line(out, &format!("{:hex_column$}/* {control:#018x} */", ""));
            }
            let first = !line.second && is_paired(&line.word);
            let brace = if first { "{" } else { "" };
            let mut row = format!("        /*{pc:04x}*/{brace:>10}{:>9}", line.guard);
            let _ = write!(row, "{:1$}", "", TEXT_COLUMN.saturating_sub(row.len()));
            match line.note.is_empty() {
                true => row.push_str(&line.text),
                false => row.push_str(&format!("{:note_column$}{}", line.text, line.note)),
            }
            let spaced = line.note.is_empty() && !line.dead && !line.text.contains(SLOT);
            let hex_word = format!("/* {:#018x} */", line.word.word);
            if line.second {
                let gap = BRACE_GAP + usize::from(spaced);
                push_line(out, &format!("{row}{:gap$}}}", ""));
                pending = hex.then(|| format!("{:hex_column$}{hex_word}", ""));
            } else {
                row.push_str(if spaced { " ;" } else { ";" });
                push_line(out, &if hex { format!("{row:hex_column$}{hex_word}") } else { row });
            }
        }
        pending.take().inspect(|line| push_line(out, line));
        if let Some(end) = self.names.end(self.section, self.code.len() as u64) {
            push_line(out, &format!("{end}:"));
        }
    }

    /// Writes the directives and labels of functions at the start of the section.
    fn symbols_at_start(&self, out: &mut String) {
        for symbol in self
            .symbols
            .iter()
            .filter(|symbol| symbol.section == self.section && symbol.offset == 0)
        {
            self.directives(symbol, out);
            if symbol.kernel {
                push_line(
                    out,
                    &format!(
                        "        .other          {},@\"STO_CUDA_ENTRY STV_DEFAULT\"",
                        symbol.name
                    ),
                );
            }
            push_line(out, &format!("{}:", symbol.name));
        }
    }

    fn directives(&self, symbol: &Symbol, out: &mut String) {
        let name = symbol.name;
        if let Some(visible) = symbol.visible {
            push_line(out, &format!("        {visible:<16}{name}"));
        }
        push_line(out, &format!("        .type           {name},@function"));
        let end = symbol.offset.saturating_add(symbol.size);
        let end = self
            .names
            .end(self.section, end)
            .or_else(|| self.names.label(self.section, end))
            .unwrap_or(".");
        push_line(out, &format!("        .size           {name},({end} - {name})"));
    }

    /// Writes the labels of an instruction. A function inside the section has its directives there.
    fn print_label(&self, pc: u64, out: &mut String) {
        let symbol = self.symbols.iter().find(|symbol| {
            symbol.section == self.section && symbol.offset > 0 && past_control(symbol.offset) == pc
        });
        if let Some(symbol) = symbol {
            self.directives(symbol, out);
        }
        let is_entry =
            self.symbols.iter().any(|symbol| symbol.section == self.section && symbol.offset == 0);
        if let Some(label) =
            self.names.label(self.section, pc).filter(|_| pc > WORD_BYTES || !is_entry)
        {
            push_line(out, &format!("{label}:"));
        }
    }
}

fn push_line(out: &mut String, line: &str) {
    out.push_str(line);
    out.push('\n');
}

/// Whether the word jumps to an address in a register.
fn is_indirect(word: &CodeWord) -> bool {
    word.instruction
        .is_some_and(|instruction| matches!(instruction.opcode(), Opcode::Brx | Opcode::Jmx))
}

/// Whether control never goes on to the next word.
fn leaves(word: &CodeWord) -> bool {
    let Some(instruction) = word.instruction else { return false };
    let always = instruction.guard().is_true() && instruction.cc_test() == super::field::CcTest::T;
    always
        && matches!(
            instruction.opcode(),
            Opcode::Bra
                | Opcode::Brx
                | Opcode::Jmp
                | Opcode::Jmx
                | Opcode::Exit
                | Opcode::Ret
                | Opcode::Sync
                | Opcode::Brk
                | Opcode::Cont
        )
}
