//! [`Linked`]: a module with addresses, its relocations applied.
//!
//! There are four kinds of address: guest memory (chosen by the loader), offsets in a constant
//! bank, offsets in shared memory, and code. Code has an address space of its own, see [`Code`];
//! the code of an image lies in guest memory.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use warploom_guest::header::Header;

use super::Error;
use super::module::{
    Function, FunctionId, Module, Part, RelocKind, Relocation, SectionId, SectionKind,
    SharedSections, Symbol, SymbolId, SymbolKind,
};
use super::visa::VisaModule;

/// The addresses that the loader chose.
#[derive(Clone, Debug, Default)]
pub struct Addresses {
    /// The guest address of each [`SectionKind::Global`] and [`SectionKind::Image`] section.
    pub globals: BTreeMap<SectionId, u64>,
    /// The guest address of a copy of constant bank 3, for generic pointers into it.
    pub constants: u64,
    /// The generic address of offset 0 of shared memory.
    pub shared_window: u64,
    /// The handle of each texture, surface and sampler variable.
    ///
    /// The index of a header is in the low 20 bits, the index of a sampler in the other bits.
    pub handles: BTreeMap<SymbolId, u32>,
    /// The values of symbols that the driver defines.
    pub driver: BTreeMap<SymbolId, u64>,
}

/// Code as one kernel sees it.
///
/// A kernel's own section starts at address 0, so that its addresses match a disassembly. The
/// sections of device functions without a kernel follow, at addresses that are equal for all
/// kernels of the module. An image is code as a whole, at its guest address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Code {
    /// The address of the first byte: 0 except for an image.
    pub base: u64,
    /// Instruction memory from `base` on. Gaps between sections are 0.
    pub bytes: Vec<u8>,
    /// The address of the kernel's first instruction.
    pub entry: u64,
    /// The sorted addresses that indirect branches and calls may reach, as far as the file tells.
    pub targets: Vec<u64>,
    /// Addresses and names of functions that the module does not define.
    pub undefined: Vec<(u64, String)>,
    /// The header of a graphics program of Maxwell.
    pub header: Option<Header>,
    /// The parsed vISA: its binary files cannot be read from the middle.
    pub visa: Option<Arc<VisaModule>>,
}

/// The distance between stand-ins for undefined functions: each call has an address of its own.
const EXTERN_BYTES: u64 = 32;
/// The alignment of device functions and stand-ins.
const CODE_ALIGN: u64 = 0x1000;
/// The alignment of dynamic shared memory in a relocatable file.
const DYNAMIC_SHARED_ALIGN: u64 = 16;
/// The end of code addresses: instructions have 24 to 32 bits for them, signed.
const MAX_CODE: u64 = 1 << 31;

/// The addresses of code sections and undefined functions.
#[derive(Clone, Debug)]
struct CodeLayout {
    /// The address of each section, 0 for sections with a kernel.
    base: BTreeMap<SectionId, u64>,
    externs: BTreeMap<SymbolId, u64>,
}

impl CodeLayout {
    fn new(module: &Module) -> Result<CodeLayout, Error> {
        let with_kernel: BTreeSet<SectionId> = module.kernels().map(|(_, f)| f.section).collect();
        let code =
            || module.sections.iter().enumerate().filter(|(_, s)| s.kind == SectionKind::Code);
        let longest = code()
            .filter(|(i, _)| with_kernel.contains(&SectionId(*i)))
            .map(|(_, s)| s.data.len() as u64);
        let mut next = longest.max().unwrap_or(0).max(1).next_multiple_of(CODE_ALIGN);
        let mut base = BTreeMap::new();
        for (i, section) in code() {
            let id = SectionId(i);
            if with_kernel.contains(&id) {
                base.insert(id, 0);
                continue;
            }
            next = next.next_multiple_of(section.align.max(32));
            base.insert(id, next);
            next += section.data.len() as u64;
        }
        next = next.next_multiple_of(CODE_ALIGN);
        let mut externs = BTreeMap::new();
        // An image reaches undefined functions through addresses in memory: it has no stand-ins.
        let is_image = module.sections.iter().any(|s| s.kind == SectionKind::Image);
        let undefined =
            |s: &Symbol| s.kind == SymbolKind::Function && s.section.is_none() && !is_image;
        for (i, _) in module.symbols.iter().enumerate().filter(|(_, s)| undefined(s)) {
            externs.insert(SymbolId(i), next);
            next += EXTERN_BYTES;
        }
        if next > MAX_CODE {
            let what = format!("{next} bytes of code");
            return Err(Error::Unsupported { what, why: "code addresses have 31 bits".into() });
        }
        Ok(CodeLayout { base, externs })
    }
}

/// A place in code, for messages.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CodePlace {
    /// The function that contains the address, or the name of an undefined function.
    pub function: String,
    /// The function's section. `None` for an undefined function.
    pub section: Option<SectionId>,
    /// Bytes from the start of the function's section, as disassemblers count. 0 for an undefined
    /// function.
    pub offset: u64,
    /// Whether the module does not define the function.
    pub undefined: bool,
}

/// The number of no section: the owner of data of the whole module.
const NO_CODE: SectionId = SectionId(usize::MAX);

/// A module at its place in guest memory.
#[derive(Clone, Debug)]
pub struct Linked {
    module: Arc<Module>,
    addresses: Addresses,
    code: CodeLayout,
    /// The offset in shared memory of each shared section.
    shared: BTreeMap<SectionId, u64>,
    /// The content of sections that relocations change, as long as [`super::Section::data`].
    relocated: BTreeMap<SectionId, Vec<u8>>,
}

impl Linked {
    /// Applies all relocations.
    pub fn new(module: Arc<Module>, addresses: Addresses) -> Result<Linked, Error> {
        let code = CodeLayout::new(&module)?;
        let sections = SharedSections::of(&module);
        let shared = sections
            .owners()
            .flat_map(|owner| sections.layout(owner.unwrap_or(NO_CODE)).0)
            .collect();
        let mut linked = Linked { module, addresses, code, shared, relocated: BTreeMap::new() };
        for i in 0..linked.module.relocations.len() {
            let relocation = linked.module.relocations[i];
            linked.apply(&relocation)?;
        }
        Ok(linked)
    }

    pub fn module(&self) -> &Arc<Module> {
        &self.module
    }

    /// Returns the content of a section, without the zeros that follow it.
    pub fn content(&self, id: SectionId) -> &[u8] {
        self.relocated.get(&id).unwrap_or(&self.module.section(id).data)
    }

    pub fn addresses(&self) -> &Addresses {
        &self.addresses
    }

    /// Returns the section that a kernel sees as this constant bank.
    pub fn bank_section(&self, kernel: FunctionId, bank: u8) -> Option<SectionId> {
        let code = self.module.function(kernel).section;
        let of = |owner| {
            self.module
                .sections
                .iter()
                .position(|s| s.kind == SectionKind::Constant { bank, owner })
        };
        of(Some(code)).or_else(|| of(None)).map(SectionId)
    }

    /// Returns the initial content of a constant bank as a kernel sees it; empty if it has none.
    pub fn bank(&self, kernel: FunctionId, bank: u8) -> &[u8] {
        self.bank_section(kernel, bank).map_or(&[], |id| self.content(id))
    }

    /// Tells whether a kernel can reach the code of this section.
    pub fn shares_code(&self, kernel: FunctionId, section: SectionId) -> bool {
        section == self.module.function(kernel).section
            || self.code.base.get(&section).is_some_and(|&base| base != 0)
    }

    pub fn code(&self, kernel: FunctionId) -> Code {
        let function = self.module.function(kernel);
        if self.is_image(function.section) {
            return self.image_code(function);
        }
        let visible = |id: SectionId| self.shares_code(kernel, id);
        let mut bytes = Vec::new();
        for (&id, &base) in self.code.base.iter().filter(|(id, _)| visible(**id)) {
            let (base, content) = (base as usize, self.content(id));
            if bytes.len() < base + content.len() {
                bytes.resize(base + content.len(), 0);
            }
            bytes[base..base + content.len()].copy_from_slice(content);
        }
        let mut targets = Vec::new();
        for f in self.module.functions.iter().filter(|f| visible(f.section)) {
            let base = self.code.base[&f.section];
            targets.push(base + f.offset);
            targets.extend(
                f.indirect_branches.iter().flat_map(|b| &b.targets).map(|&t| base + u64::from(t)),
            );
        }
        targets.sort_unstable();
        targets.dedup();
        let name = |(&id, &at): (&SymbolId, &u64)| (at, self.module.symbol(id).name.clone());
        let undefined: Vec<_> = self.code.externs.iter().map(name).collect();
        let (base, entry) = (0, self.code.base[&function.section] + function.offset);
        let (header, visa) = (function.header.as_deref().copied(), self.module.visa.clone());
        Code { base, bytes, entry, targets, undefined, header, visa }
    }

    fn is_image(&self, section: SectionId) -> bool {
        self.module.section(section).kind == SectionKind::Image
    }

    /// Returns the guest address of an image; 0 if it has none.
    fn image_base(&self, image: SectionId) -> u64 {
        self.addresses.globals.get(&image).copied().unwrap_or(0)
    }

    /// Returns the code of an image's function.
    fn image_code(&self, function: &Function) -> Code {
        let base = self.image_base(function.section);
        // Kernels are launched, not called: a library has thousands, and no code jumps to them.
        let starts =
            self.module.functions.iter().filter(|f| f.section == function.section && !f.kernel);
        let mut targets: Vec<u64> = starts.map(|f| base.wrapping_add(f.offset)).collect();
        targets.sort_unstable();
        targets.dedup();
        let bytes = self.content(function.section).to_vec();
        let entry = base.wrapping_add(function.offset);
        Code { base, bytes, entry, targets, undefined: vec![], header: None, visa: None }
    }

    /// Returns the function that contains a code address, as this kernel sees code.
    pub fn locate(&self, kernel: FunctionId, pc: u64) -> Option<CodePlace> {
        if let Some((&id, _)) =
            self.code.externs.iter().find(|&(_, &at)| (at..at + EXTERN_BYTES).contains(&pc))
        {
            let function = self.module.symbol(id).name.clone();
            return Some(CodePlace { function, section: None, offset: 0, undefined: true });
        }
        let holds = |id: SectionId, base: u64| {
            self.shares_code(kernel, id)
                && pc.checked_sub(base).is_some_and(|offset| offset < self.content(id).len() as u64)
        };
        let own = self.module.function(kernel).section;
        let image = self.is_image(own).then(|| (own, self.image_base(own)));
        let mut places = self.code.base.iter().map(|(&id, &base)| (id, base)).chain(image);
        let (section, base) = places.find(|&(id, base)| holds(id, base))?;
        let offset = pc - base;
        let starts_before = |f: &&Function| f.section == section && f.offset <= offset;
        let function = self.module.functions.iter().filter(starts_before).max_by_key(|f| f.offset);
        let function = function.map_or(&self.module.section(section).name, |f| &f.name).clone();
        Some(CodePlace { function, section: Some(section), offset, undefined: false })
    }

    /// Returns the address of a symbol in its own space; `None` if the module does not define it.
    pub fn address(&self, symbol: SymbolId) -> Option<u64> {
        let s = self.module.symbol(symbol);
        let Some(section) = s.section else {
            return self.code.externs.get(&symbol).or(self.addresses.driver.get(&symbol)).copied();
        };
        let base = match self.module.section(section).kind {
            SectionKind::Code => *self.code.base.get(&section)?,
            SectionKind::Constant { .. } => 0,
            SectionKind::Global | SectionKind::Image => *self.addresses.globals.get(&section)?,
            SectionKind::Shared { .. } => *self.shared.get(&section)?,
        };
        Some(base.wrapping_add(s.offset))
    }

    /// Returns the generic address of a variable.
    fn generic_address(&self, symbol: SymbolId) -> Option<u64> {
        let address = self.address(symbol)?;
        let kind = self.module.symbol(symbol).section.map(|id| self.module.section(id).kind);
        Some(match kind {
            Some(SectionKind::Constant { .. }) => self.addresses.constants.wrapping_add(address),
            Some(SectionKind::Shared { .. }) => self.addresses.shared_window.wrapping_add(address),
            _ => address,
        })
    }

    fn apply(&mut self, r: &Relocation) -> Result<(), Error> {
        let symbol = self.module.symbol(r.symbol);
        let failed = |problem: String| Error::Relocation {
            place: format!("{}+{:#x}", self.module.section(r.section).name, r.offset),
            kind: r.name,
            symbol: symbol.name.clone(),
            problem,
        };
        let range = r.offset as usize..(r.offset + r.kind.bytes()) as usize;
        let place = self
            .content(r.section)
            .get(range.clone())
            .ok_or_else(|| failed("outside its section".into()))?;
        let mut word = [0; 16];
        word[..place.len()].copy_from_slice(place);
        let word = u128::from_le_bytes(word);
        let undefined = || failed("the symbol is not defined in this module".into());
        let insert = |at: u8, bits: u8, value: u64| {
            let mask = u128::from(u64::MAX >> (64 - bits)) << at;
            word & !mask | (u128::from(value) << at) & mask
        };
        let in_place = |at: u8, bits: u8| (word >> at) as u64 & u64::MAX >> (64 - bits);
        let addend = |part: Part, at: u8, bits: u8| match r.addend {
            Some(a) => a as u64,
            None => in_place(at, bits) << part.shift(),
        };
        let fits = |value: u64, bits: u8| match bits {
            64 => true,
            _ => value >> bits == 0 || (value as i64) >> (bits - 1) == -1,
        };
        let changed = match r.kind {
            RelocKind::Header { at, bits } => match self.addresses.handles.get(&r.symbol) {
                // A texture brings its sampler along if no relocation names one.
                Some(&handle) if at == 0 && !self.has_sampler(r) => insert(0, 32, handle.into()),
                Some(&handle) => insert(at, bits, (handle >> at).into()),
                None => return Ok(()),
            },
            RelocKind::Generic { part, at, bits } => {
                let address = self.generic_address(r.symbol).ok_or_else(undefined)?;
                insert(at, bits, address.wrapping_add(addend(part, at, bits)) >> part.shift())
            }
            RelocKind::Address { part, at, bits } | RelocKind::PcRelative { part, at, bits } => {
                let s = if symbol.dynamic_shared {
                    self.dynamic_shared_start(r.section).ok_or_else(|| {
                        failed(
                            "where dynamic shared memory starts depends on the kernel that calls"
                                .into(),
                        )
                    })?
                } else {
                    self.address(r.symbol).ok_or_else(undefined)?
                };
                let s = match r.kind {
                    RelocKind::PcRelative { .. } => {
                        s.wrapping_sub(self.place(r).ok_or_else(undefined)?)
                    }
                    _ => s,
                };
                let whole = s.wrapping_add(addend(part, at, bits));
                let value = whole >> part.shift();
                if part.is_whole() && !(fits(value, bits) && value << part.shift() == whole) {
                    return Err(failed(format!("{whole:#x} does not fit into {bits} bits")));
                }
                insert(at, bits, value)
            }
            RelocKind::ConstantOperand { at } | RelocKind::ConstantAddress { at } => {
                let kind = symbol.section.map(|id| self.module.section(id).kind);
                let Some(SectionKind::Constant { bank, .. }) = kind else {
                    return Err(failed("expected a variable in a constant bank".into()));
                };
                let indexed = matches!(r.kind, RelocKind::ConstantAddress { .. });
                let (unit, bits, range) =
                    if indexed { (1, 16, -0x8000..0x8000) } else { (4, 14, 0..0x1_0000) };
                let found = in_place(at, bits) as i64;
                let found = if indexed { (found as i16).into() } else { found };
                let offset = (symbol.offset as i64).wrapping_add(r.addend.unwrap_or(found * unit));
                if !range.contains(&offset) || offset % unit != 0 {
                    return Err(failed(format!(
                        "{offset:#x} is not an offset in a bank that the instruction can have"
                    )));
                }
                let offset = (offset / unit) as u64 & ((1 << bits) - 1);
                insert(at, bits + 5, offset | u64::from(bank) << bits)
            }
        };
        let length = range.len();
        let content = self.relocated.entry(r.section);
        let content = content.or_insert_with(|| self.module.section(r.section).data.clone());
        content[range].copy_from_slice(&changed.to_le_bytes()[..length]);
        Ok(())
    }

    /// Tells whether another relocation writes a sampler's index into the word of this relocation.
    fn has_sampler(&self, r: &Relocation) -> bool {
        let sampler = |other: &Relocation| matches!(other.kind, RelocKind::Header { at: 1.., .. });
        let same = |other: &&Relocation| (other.section, other.offset) == (r.section, r.offset);
        self.module.relocations.iter().filter(same).any(sampler)
    }

    /// Returns the guest address that a relocation changes.
    fn place(&self, r: &Relocation) -> Option<u64> {
        Some(self.addresses.globals.get(&r.section)?.wrapping_add(r.offset))
    }

    fn dynamic_shared_start(&self, code: SectionId) -> Option<u64> {
        let has_kernel = self.module.functions.iter().any(|f| f.kernel && f.section == code);
        let end = has_kernel.then(|| self.module.shared_layout(code).1)?;
        end.checked_next_multiple_of(DYNAMIC_SHARED_ALIGN)
    }
}
