//! The code of a file as data: `warploom disasm --json`.

#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::Serialize;
use warploom_container::{Isa, Module, Modules, SectionId, SectionKind};
use warploom_guest::chip::Chip;

use crate::report::SCHEMA;

/// The code of a file.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct Report {
    /// The version of this form of a report.
    pub schema: u32,
    pub file: String,
    pub modules: Vec<ModuleReport>,
    /// Why code for a GPU cannot be read.
    pub not_read: Vec<String>,
}

#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct ModuleReport {
    /// The instruction set, such as `NVIDIA sm_50 (Maxwell)`.
    pub isa: String,
    /// Machine code. Empty for instruction sets that are text.
    pub sections: Vec<SectionReport>,
    /// PTX, vISA or the IR, line for line.
    pub lines: Vec<String>,
}

#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct SectionReport {
    pub name: String,
    pub functions: Vec<FunctionReport>,
    pub instructions: Vec<InstructionReport>,
}

#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct FunctionReport {
    pub name: String,
    /// The offset of the first instruction in bytes.
    pub offset: u64,
    pub kernel: bool,
}

#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct InstructionReport {
    /// The offset in bytes from the start of the section.
    pub offset: u64,
    /// The encoding as hex digits, the highest byte first.
    pub word: String,
    /// `None`: no instruction has this encoding.
    pub text: Option<String>,
}

/// Returns the report of a file's modules. `function`: only the sections with this function.
pub fn report(file: String, found: &Modules, function: Option<&str>) -> Report {
    let module = |module: &Module| {
        let (sections, texts) = match module.isa {
            Isa::Maxwell { .. } | Isa::Turing { .. } | Isa::Gfx9 { .. } => {
                (sections(module, function), vec![])
            }
            Isa::Ptx { .. } | Isa::Visa { .. } | Isa::Ir => {
                (vec![], super::module_text(module, function, false))
            }
        };
        let lines = texts.iter().flat_map(|text| text.lines()).map(str::to_owned).collect();
        ModuleReport { isa: module.isa.to_string(), sections, lines }
    };
    Report {
        schema: SCHEMA,
        file,
        modules: found.modules.iter().map(module).collect(),
        not_read: found.unreadable.iter().map(ToString::to_string).collect(),
    }
}

/// Returns the sections with machine code, or only those with the function.
pub(super) fn sections(module: &Module, function: Option<&str>) -> Vec<SectionReport> {
    let mut reports = vec![];
    for (section, number) in module.sections.iter().zip(0..) {
        let functions: Vec<FunctionReport> = module
            .functions
            .iter()
            .filter(|one| one.section == SectionId(number))
            .map(|one| FunctionReport {
                name: one.name.clone(),
                offset: one.offset,
                kernel: one.kernel,
            })
            .collect();
        let is_wanted = function.is_none_or(|name| functions.iter().any(|one| one.name == name));
        let instructions = match (section.kind, module.isa) {
            (SectionKind::Code, Isa::Turing { sm }) => turing(&section.data, sm as u8),
            (SectionKind::Code, _) => maxwell(&section.data),
            (SectionKind::Image, Isa::Gfx9 { mach }) => {
                let code = module.hsa.as_ref().map_or(&[][..], |hsa| &hsa.code);
                let ranges = code.iter().cloned();
                ranges.flat_map(|range| gfx9(&section.data, range, mach.chip())).collect()
            }
            _ => continue,
        };
        if is_wanted {
            reports.push(SectionReport { name: section.name.clone(), functions, instructions });
        }
    }
    reports
}

fn turing(code: &[u8], sm: u8) -> Vec<InstructionReport> {
    let words = code.as_chunks::<16>().0.iter().zip((0..).step_by(16));
    words
        .map(|(bytes, offset)| {
            let word = u128::from_le_bytes(*bytes);
            let instruction = warploom_turing::Instruction::decode(word, sm);
            InstructionReport {
                offset,
                word: format!("{word:032x}"),
                text: instruction.map(|one| one.text(offset)),
            }
        })
        .collect()
}

/// Returns the instructions of Maxwell. Each fourth word schedules the three after it.
fn maxwell(code: &[u8]) -> Vec<InstructionReport> {
    let words = code.as_chunks::<8>().0.iter().zip((0..).step_by(8));
    words
        .filter(|(_, offset)| offset % 32 != 0)
        .map(|(bytes, offset)| {
            let word = u64::from_le_bytes(*bytes);
            let instruction = warploom_maxwell::Instruction::decode(word);
            InstructionReport {
                offset,
                word: format!("{word:016x}"),
                text: instruction.map(|one| one.text(offset)),
            }
        })
        .collect()
}

fn gfx9(image: &[u8], range: std::ops::Range<u64>, chip: Chip) -> Vec<InstructionReport> {
    let mut instructions = vec![];
    let end = range.end.min(image.len() as u64);
    let mut offset = range.start;
    while offset + 4 <= end {
        let code = &image[offset as usize..end as usize];
        let instruction = warploom_gfx9::decode(chip, code);
        let bytes = instruction.as_ref().map_or(4, |one| u64::from(one.bytes()));
        let words = code[..bytes as usize].as_chunks::<4>().0.iter();
        let word = words.rev().map(|word| format!("{:08x}", u32::from_le_bytes(*word))).collect();
        let text = instruction.map(|one| chip.named(one.text(offset)));
        instructions.push(InstructionReport { offset, word, text });
        offset += bytes;
    }
    instructions
}
