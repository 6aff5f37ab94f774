//! `.nv.info` attributes: the compiler's facts about functions for the driver.
//!
//! A record is a format byte, an attribute byte and a 16-bit field. The field is the value, or with
//! format 4 the size of the value that follows. Codes: `facts/maxwell.md`, "Launch environment".

use std::collections::HashMap;

use crate::{Error, Function, IndirectBranch, Module, Param, SectionId, SymbolId};

/// The format of a value that follows: its size is in the 16-bit field.
const FORMAT_SIZED: u8 = 4;

mod attr {
    pub const MAX_THREADS: u8 = 0x05;
    pub const PARAM_CBANK: u8 = 0x0a;
    pub const EXTERNS: u8 = 0x0f;
    pub const REQNTID: u8 = 0x10;
    pub const FRAME_SIZE: u8 = 0x11;
    pub const MIN_STACK_SIZE: u8 = 0x12;
    pub const KPARAM_INFO: u8 = 0x17;
    pub const CBANK_PARAM_SIZE: u8 = 0x19;
    pub const EXIT_OFFSETS: u8 = 0x1c;
    pub const CRS_STACK_SIZE: u8 = 0x1e;
    pub const MAX_STACK_SIZE: u8 = 0x23;
    pub const REGCOUNT: u8 = 0x2f;
    pub const INDIRECT_BRANCH_TARGETS: u8 = 0x34;
    /// As `KPARAM_INFO`, for large parameters.
    pub const KPARAM_INFO_2: u8 = 0x45;
}

/// The most bytes of parameters. Source: CUDA C++ Programming Guide, "__global__ Function
/// Parameters".
const MAX_PARAM_BYTES: u32 = 32_764;

/// One `.nv.info` section.
pub(super) struct Attributes {
    pub section: String,
    /// The offset of the section in the file.
    pub at: u64,
    /// The code that the attributes describe; `None`: the whole module.
    pub owner: Option<SectionId>,
    pub data: Vec<u8>,
}

/// One record.
struct Record<'a> {
    section: &'a str,
    /// The offset of the record in the file.
    at: u64,
    attribute: u8,
    short: u16,
    value: &'a [u8],
}

impl Record<'_> {
    fn malformed(&self, expected: &str) -> Error {
        let what = format!(
            "{}: attribute {:#04x} of {} bytes",
            self.section,
            self.attribute,
            self.value.len()
        );
        Error::malformed(self.at, what, expected)
    }

    fn u16(&self, at: usize) -> Result<u16, Error> {
        let bytes = self.value.get(at..at + 2).and_then(|b| b.try_into().ok());
        bytes.map(u16::from_le_bytes).ok_or_else(|| self.malformed("a longer value"))
    }

    fn u32(&self, at: usize) -> Result<u32, Error> {
        let bytes = self.value.get(at..at + 4).and_then(|b| b.try_into().ok());
        bytes.map(u32::from_le_bytes).ok_or_else(|| self.malformed("a longer value"))
    }

    fn words(&self) -> Result<Vec<u32>, Error> {
        (0..self.value.len()).step_by(4).map(|at| self.u32(at)).collect()
    }

    fn shape(&self) -> Result<[u32; 3], Error> {
        Ok([self.u32(0)?, self.u32(4)?, self.u32(8)?])
    }
}

/// Finds the functions that attributes describe.
pub(super) struct Index {
    symbol_of_index: Vec<Option<SymbolId>>,
    function_of_symbol: HashMap<SymbolId, usize>,
    kernels_of_section: HashMap<SectionId, Vec<usize>>,
}

impl Index {
    /// Makes an index. `symbol_of_index` has the module's symbol for each index of the file's
    /// table.
    pub(super) fn new(module: &Module, symbol_of_index: Vec<Option<SymbolId>>) -> Index {
        let mut index = Index {
            symbol_of_index,
            function_of_symbol: HashMap::new(),
            kernels_of_section: HashMap::new(),
        };
        for (i, function) in module.functions.iter().enumerate() {
            index.function_of_symbol.insert(function.symbol, i);
            if function.kernel {
                index.kernels_of_section.entry(function.section).or_default().push(i);
            }
        }
        index
    }

    fn symbol(&self, index: u32) -> Option<SymbolId> {
        self.symbol_of_index.get(index as usize).copied().flatten()
    }

    fn kernels(&self, section: SectionId) -> &[usize] {
        self.kernels_of_section.get(&section).map_or(&[], Vec::as_slice)
    }
}

/// Applies a section of attributes to the module's functions.
pub(super) fn apply(
    module: &mut Module,
    index: &Index,
    attributes: &Attributes,
) -> Result<(), Error> {
    let mut params = Vec::new();
    let mut rest = attributes.data.as_slice();
    while !rest.is_empty() {
        let at = attributes.at + (attributes.data.len() - rest.len()) as u64;
        let section = attributes.section.as_str();
        let &[format, attribute, lo, hi, ..] = rest else {
            return Err(Error::malformed(at, section, "a record of at least 4 bytes"));
        };
        let short = u16::from_le_bytes([lo, hi]);
        let length = if format == FORMAT_SIZED { short as usize } else { 0 };
        let Some(value) = rest.get(4..4 + length) else {
            let what = format!("{section}: attribute {attribute:#04x} of {length} bytes");
            return Err(Error::malformed(
                at,
                what,
                format!("at most the {} bytes left", rest.len() - 4),
            ));
        };
        rest = &rest[4 + length..];
        let record = Record { section, at, attribute, short, value };
        match attributes.owner {
            None => of_module(module, index, &record)?,
            Some(owner) => of_code(module, index, owner, &record, &mut params)?,
        }
    }
    let Some(owner) = attributes.owner else { return Ok(()) };
    let params = in_order(params, attributes)?;
    for &kernel in index.kernels(owner) {
        let function = &mut module.functions[kernel];
        function.params.clone_from(&params);
        let end = params.iter().map(|p| p.offset + p.size).max().unwrap_or(0);
        function.param_bytes = function.param_bytes.max(end);
    }
    Ok(())
}

/// Applies an attribute of the whole module, which names its function by symbol.
fn of_module(module: &mut Module, index: &Index, record: &Record<'_>) -> Result<(), Error> {
    let set: fn(&mut Function, u32) = match record.attribute {
        attr::REGCOUNT => |f, n| f.registers = n,
        attr::FRAME_SIZE => |f, n| f.frame_bytes = n,
        // Relocatable files have the maximum; a linker turns it into the minimum.
        attr::MIN_STACK_SIZE | attr::MAX_STACK_SIZE => {
            |f, n| f.stack_bytes = Some(n).filter(|&n| n != u32::MAX)
        }
        _ => return Ok(()),
    };
    let (symbol, value) = (index.symbol(record.u32(0)?), record.u32(4)?);
    if let Some(&function) = symbol.and_then(|symbol| index.function_of_symbol.get(&symbol)) {
        set(&mut module.functions[function], value);
    }
    Ok(())
}

fn of_code(
    module: &mut Module,
    index: &Index,
    owner: SectionId,
    record: &Record<'_>,
    params: &mut Vec<(u16, Param)>,
) -> Result<(), Error> {
    let size_shift = match record.attribute {
        attr::KPARAM_INFO => Some(18),
        attr::KPARAM_INFO_2 => Some(0),
        _ => None,
    };
    if let Some(shift) = size_shift {
        let param = Param { offset: record.u16(6)?.into(), size: record.u32(8)? >> shift };
        if param.offset.saturating_add(param.size) > MAX_PARAM_BYTES {
            return Err(record.malformed("a parameter that ends within 32,764 bytes"));
        }
        params.push((record.u16(4)?, param));
        return Ok(());
    }
    for &kernel in index.kernels(owner) {
        let function = &mut module.functions[kernel];
        match record.attribute {
            attr::PARAM_CBANK => {
                function.param_base = record.u16(4)?.into();
                function.param_bytes = record.u16(6)?.into();
            }
            attr::CBANK_PARAM_SIZE => function.param_bytes = record.short.into(),
            attr::CRS_STACK_SIZE => function.crs_bytes = record.u32(0)?,
            attr::MAX_THREADS => function.max_threads = Some(record.shape()?),
            attr::REQNTID => function.required_threads = Some(record.shape()?),
            attr::EXIT_OFFSETS => function.exits = record.words()?,
            attr::EXTERNS => {
                let indices = record.words()?;
                function.externs = indices.iter().filter_map(|&i| index.symbol(i)).collect();
            }
            attr::INDIRECT_BRANCH_TARGETS => {
                function.indirect_branches = indirect_branches(record)?
            }
            _ => {}
        }
    }
    Ok(())
}

/// Reads indirect branches.
///
/// A record has the offset of the branch, two 16-bit fields (kind of branch, unused), the number of
/// targets, and the targets.
fn indirect_branches(record: &Record<'_>) -> Result<Vec<IndirectBranch>, Error> {
    let mut branches = Vec::new();
    let mut at = 0;
    while at < record.value.len() {
        let branch = record.u32(at)?;
        let count = record.u32(at + 8)? as usize;
        at += 12;
        if count > (record.value.len() - at) / 4 {
            return Err(record.malformed("as many targets as it announces"));
        }
        let targets = (0..count).map(|i| record.u32(at + 4 * i)).collect::<Result<_, _>>()?;
        branches.push(IndirectBranch { at: branch, targets });
        at += 4 * count;
    }
    Ok(branches)
}

/// Sorts parameters by ordinal: the file lists them in any order.
fn in_order(mut params: Vec<(u16, Param)>, attributes: &Attributes) -> Result<Vec<Param>, Error> {
    params.sort_by_key(|&(ordinal, _)| ordinal);
    if let Some(gap) =
        params.iter().enumerate().find(|(i, (ordinal, _))| *i != usize::from(*ordinal))
    {
        let what = format!("{}: parameter {}", attributes.section, gap.1.0);
        return Err(Error::malformed(
            attributes.at,
            what,
            format!("each ordinal from 0 once, next is {}", gap.0),
        ));
    }
    Ok(params.into_iter().map(|(_, param)| param).collect())
}
