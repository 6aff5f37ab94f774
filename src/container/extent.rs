//! Where the machine code of a function lies in its file.

use std::ops::Range;

use object::{Object, ObjectSection};

use super::{Function, Isa, Module};

/// Returns the bytes of a file that are a function's code, if the file is a cubin or a code object
/// that is not packed. `module` was read from the file.
pub fn code_in_file(file: &[u8], module: &Module, function: &Function) -> Option<Range<usize>> {
    let elf = object::File::parse(file).ok()?;
    let (section, offset) = match module.isa {
        Isa::Maxwell { .. } | Isa::Turing { .. } => {
            (elf.section_by_name(&module.section(function.section).name)?, function.offset)
        }
        // Offsets of a code object are addresses.
        Isa::Gfx9 { .. } => {
            let has = |section: &object::Section<'_, '_>| {
                let start = section.address();
                (start..start.saturating_add(section.size())).contains(&function.offset)
            };
            let section = elf.sections().find(has)?;
            let offset = function.offset - section.address();
            (section, offset)
        }
        Isa::Ptx { .. } | Isa::Visa { .. } | Isa::Ir => return None,
    };
    let (start, size) = section.file_range()?;
    let rest = size.checked_sub(offset)?;
    let bytes = if function.size == 0 { rest } else { function.size.min(rest) };
    let start = usize::try_from(start.checked_add(offset)?).ok()?;
    let end = start.checked_add(usize::try_from(bytes).ok()?)?;
    (end <= file.len()).then_some(start..end)
}

/// Returns the `.ze_info` of a zebin.
pub fn ze_info(file: &[u8]) -> Option<Vec<u8>> {
    let elf = object::File::parse(file).ok()?;
    let data = elf.section_by_name(".ze_info")?.data().ok()?;
    Some(data.to_vec())
}
