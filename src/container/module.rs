//! [`Module`]: one GPU binary as its driver sees it, before it has addresses.

use std::collections::BTreeMap;
use std::sync::Arc;

use warploom_guest::header::Header;
use warploom_guest::platform::Platform;

use super::hsaco::{Gfx9, HsaKernel, HsaModule};
use super::ptx::PtxModule;
use super::visa::{VisaKernel, VisaModule};
use super::{Error, Lines, RawKernel, ShaderKernel};

/// The instruction set of a module's code.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Isa {
    /// NVIDIA SASS of the Maxwell generation; `sm` is 50, 52 or 53.
    Maxwell { sm: u32 },
    /// NVIDIA SASS of Turing, Ampere and Ada; `sm` is 75, 80, 86, 87 or 89.
    Turing { sm: u32 },
    /// AMD's machine code of the GFX9 generation ("Vega").
    Gfx9 { mach: Gfx9 },
    /// NVIDIA's virtual instruction set, as text for a GPU of this or a later generation.
    Ptx { sm: u32 },
    /// Intel's virtual instruction set, for GPUs of this generation if the file says the
    /// generation.
    Visa { platform: Option<Platform> },
    /// No instruction set: the IR itself, as text.
    Ir,
}

impl std::fmt::Display for Isa {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Isa::Maxwell { sm } => write!(f, "NVIDIA sm_{sm} (Maxwell)"),
            Isa::Turing { sm } => write!(f, "NVIDIA sm_{sm} ({})", generation(*sm)),
            Isa::Gfx9 { mach } => write!(f, "AMD {mach} (GFX9)"),
            Isa::Ptx { sm } => write!(f, "NVIDIA PTX for sm_{sm}"),
            Isa::Visa { platform: Some(platform) } => write!(f, "Intel vISA for {platform}"),
            Isa::Visa { platform: None } => f.write_str("Intel vISA"),
            Isa::Ir => f.write_str("the IR"),
        }
    }
}

/// Returns the name of a GPU's generation.
fn generation(sm: u32) -> &'static str {
    match sm {
        75 => "Turing",
        80..=88 => "Ampere",
        89 => "Ada",
        _ => "Hopper",
    }
}

/// Index into [`Module::sections`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SectionId(pub usize);
/// Index into [`Module::symbols`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SymbolId(pub usize);
/// Index into [`Module::functions`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FunctionId(pub usize);

/// A GPU binary: sections without addresses, and the symbols, functions and relocations of them.
#[derive(Clone, Debug)]
pub struct Module {
    pub isa: Isa,
    /// Sections that exist at run time: code, constants, memory.
    pub sections: Vec<Section>,
    /// Variables and functions, defined or not, in file order.
    pub symbols: Vec<Symbol>,
    /// Kernels and device functions, in file order.
    pub functions: Vec<Function>,
    pub relocations: Vec<Relocation>,
    /// The data of only AMD's code objects.
    pub hsa: Option<Box<HsaModule>>,
    /// The data of only PTX.
    pub ptx: Option<Arc<PtxModule>>,
    /// The data of only vISA.
    pub visa: Option<Arc<VisaModule>>,
    /// The source lines of machine code.
    pub lines: Lines,
    /// The kernels that cannot be read. None of them is among the functions.
    pub unreadable: Vec<Unreadable>,
}

/// A kernel that cannot be read, and why.
#[derive(Clone, Debug)]
pub struct Unreadable {
    pub name: String,
    pub error: Error,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SectionKind {
    /// Instructions.
    Code,
    /// The initial content of a constant bank, of one code section's kernels or of the whole
    /// module.
    Constant { bank: u8, owner: Option<SectionId> },
    /// Device memory, readable and writable.
    Global,
    /// Static shared memory, of one code section's kernels or of the whole module.
    Shared { owner: Option<SectionId> },
    /// All of a module's code, constants and variables, at fixed distances in guest memory.
    Image,
}

/// Bytes that are loaded together.
#[derive(Clone, Debug)]
pub struct Section {
    pub name: String,
    pub kind: SectionKind,
    /// A power of two, in bytes.
    pub align: u64,
    /// The size at run time in bytes. Bytes after `data` are zero.
    pub size: u64,
    pub data: Vec<u8>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SymbolKind {
    Function,
    /// A variable. Its section says where it is.
    Object,
    /// A whole section.
    Section,
    Texture,
    Surface,
    Sampler,
    /// A kernel's descriptor, see [`super::hsaco::KernelDescriptor`].
    Descriptor,
}

impl SymbolKind {
    /// Tells whether the symbol stands for a handle: of a texture, a sampler or a surface.
    pub fn is_image(self) -> bool {
        matches!(self, SymbolKind::Texture | SymbolKind::Sampler | SymbolKind::Surface)
    }
}

/// The visibility of a symbol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Binding {
    Local,
    Global,
    /// As `Global`, but another module's definition may replace it.
    Weak,
}

#[derive(Clone, Debug)]
pub struct Symbol {
    pub name: String,
    pub kind: SymbolKind,
    /// `None`: the symbol is undefined in this module, or in a section that is not loaded.
    pub section: Option<SectionId>,
    /// The offset in bytes from the section's start.
    pub offset: u64,
    /// The size in bytes.
    pub size: u64,
    pub binding: Binding,
    /// Whether this undefined variable starts where dynamic shared memory starts.
    pub dynamic_shared: bool,
}

/// One kernel parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Param {
    /// The offset in bytes from the start of the parameter block.
    pub offset: u32,
    /// The size in bytes.
    pub size: u32,
}

/// An indirect branch with the targets that the compiler knew, as offsets in the function's
/// section.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IndirectBranch {
    pub at: u32,
    pub targets: Vec<u32>,
}

/// A kernel or a device function.
#[derive(Clone, Debug)]
pub struct Function {
    pub name: String,
    pub symbol: SymbolId,
    pub section: SectionId,
    /// The offset in bytes from the section's start to the first instruction.
    pub offset: u64,
    /// The size in bytes; 0 if the file does not say.
    pub size: u64,
    /// Whether the function can be launched.
    pub kernel: bool,
    /// The parameters in the order of the source.
    pub params: Vec<Param>,
    /// The start of the parameter block in constant bank 0.
    pub param_base: u32,
    /// The size of the parameter block in bytes.
    pub param_bytes: u32,
    /// The 32-bit registers that a lane uses.
    pub registers: u32,
    /// The local memory of this function alone, in bytes per lane.
    pub frame_bytes: u32,
    /// The local memory of this function and its callees, in bytes per lane.
    ///
    /// `None` if recursion or pointers hide it.
    pub stack_bytes: Option<u32>,
    /// The memory of the divergence stack beyond the hardware's part, in bytes per warp.
    pub crs_bytes: u32,
    /// The number of the block's hardware barriers that the function uses.
    pub barriers: u32,
    /// The static shared memory in bytes.
    pub shared_bytes: u64,
    /// The most threads of a block, per axis.
    pub max_threads: Option<[u32; 3]>,
    /// The only block shape that a launch may have.
    pub required_threads: Option<[u32; 3]>,
    /// The names of external functions that the function needs.
    pub externs: Vec<SymbolId>,
    /// The offsets of EXIT instructions in the function's section.
    pub exits: Vec<u32>,
    pub indirect_branches: Vec<IndirectBranch>,
    /// The data of only a kernel of AMD's code objects.
    pub hsa: Option<Box<HsaKernel>>,
    /// The data of only a plain stream of AMD's instructions.
    pub raw: Option<Box<RawKernel>>,
    /// The data of only a shader.
    pub shader: Option<Box<ShaderKernel>>,
    /// The data of only a function of vISA.
    pub visa: Option<Box<VisaKernel>>,
    /// The data of only a graphics program of Maxwell.
    pub header: Option<Box<Header>>,
}

/// The part of an address that a relocation writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Part {
    /// All bits. A number that does not fit is an error.
    Whole,
    /// Bits 0 to 31.
    Low,
    /// Bits 32 to 63.
    High,
    /// The number of words of 4 bytes. A number that does not fit is an error.
    Words,
    /// Bits `8 n` to `8 n + 7`.
    Byte(u8),
}

impl Part {
    /// Returns the number of the lowest bit.
    pub const fn shift(self) -> u32 {
        match self {
            Part::Whole | Part::Low => 0,
            Part::High => 32,
            Part::Words => 2,
            Part::Byte(n) => 8 * n as u32,
        }
    }

    /// Whether the part stands for the whole address.
    pub const fn is_whole(self) -> bool {
        matches!(self, Part::Whole | Part::Words)
    }
}

/// The value that a relocation writes.
///
/// S is the symbol's address, A the addend, P the address of the place. Fields are in the
/// little-endian 32- or 64-bit word at the place; `at` is a field's lowest bit, `bits` its width.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RelocKind {
    /// S + A, where S is an address in the symbol's own space.
    Address { part: Part, at: u8, bits: u8 },
    /// S + A - P.
    PcRelative { part: Part, at: u8, bits: u8 },
    /// S + A, where S is a generic address.
    Generic { part: Part, at: u8, bits: u8 },
    /// The operand c[bank][S + A] of an instruction.
    ///
    /// The word offset has 14 bits, the bank above it 5 bits.
    ConstantOperand { at: u8 },
    /// The operand c[bank][register + S + A] of an instruction.
    ///
    /// The offset in bytes has 16 bits, signed; the bank above it 5 bits.
    ConstantAddress { at: u8 },
    /// The index of a texture, surface or sampler header.
    Header { at: u8, bits: u8 },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Relocation {
    /// The section that is written to.
    pub section: SectionId,
    /// The offset in bytes from the section's start.
    pub offset: u64,
    pub kind: RelocKind,
    /// The format's name of this kind.
    pub name: &'static str,
    pub symbol: SymbolId,
    /// The addend. `None`: the value that is at the place already.
    pub addend: Option<i64>,
}

impl Unreadable {
    pub(super) fn new(name: impl Into<String>, error: impl Into<Error>) -> Unreadable {
        Unreadable { name: name.into(), error: error.into() }
    }
}

impl Function {
    /// Makes a function of which only the place is known.
    pub fn new(
        name: String,
        symbol: SymbolId,
        section: SectionId,
        offset: u64,
        size: u64,
        kernel: bool,
    ) -> Self {
        Function {
            name,
            symbol,
            section,
            offset,
            size,
            kernel,
            params: vec![],
            param_base: 0,
            param_bytes: 0,
            registers: 0,
            frame_bytes: 0,
            stack_bytes: None,
            crs_bytes: 0,
            barriers: 0,
            shared_bytes: 0,
            max_threads: None,
            required_threads: None,
            externs: vec![],
            exits: vec![],
            indirect_branches: vec![],
            hsa: None,
            raw: None,
            shader: None,
            visa: None,
            header: None,
        }
    }
}

impl RelocKind {
    /// Returns the size in bytes of the place that the relocation changes.
    pub const fn bytes(self) -> u64 {
        let last = match self {
            RelocKind::Address { at, bits, .. }
            | RelocKind::PcRelative { at, bits, .. }
            | RelocKind::Generic { at, bits, .. } => at + bits,
            // A handle of texture and sampler is a word.
            RelocKind::Header { .. } => 32,
            RelocKind::ConstantOperand { at } => at + 19,
            RelocKind::ConstantAddress { at } => at + 21,
        };
        (last as u64).div_ceil(8)
    }
}

impl Module {
    /// Returns the bits of an address in memory.
    pub fn address_bits(&self) -> u8 {
        self.ptx.as_ref().map_or(64, |ptx| ptx.address_bits())
    }

    /// Makes a module of these sections, without symbols.
    pub fn new(isa: Isa, sections: Vec<Section>) -> Module {
        let (symbols, functions, relocations) = (vec![], vec![], vec![]);
        Module {
            isa,
            sections,
            symbols,
            functions,
            relocations,
            hsa: None,
            ptx: None,
            visa: None,
            lines: Lines::default(),
            unreadable: vec![],
        }
    }

    /// Returns the module if it has a readable kernel, or no unreadable one.
    ///
    /// # Errors
    ///
    /// Returns the error of the first kernel.
    pub(super) fn readable(mut self) -> Result<Module, Error> {
        let has_kernel = self.kernels().next().is_some();
        if has_kernel || self.unreadable.is_empty() {
            Ok(self)
        } else {
            Err(self.unreadable.swap_remove(0).error)
        }
    }

    /// Returns the reason why the kernel with this name cannot be read.
    pub fn unreadable(&self, name: &str) -> Option<&Error> {
        self.unreadable.iter().find(|kernel| kernel.name == name).map(|kernel| &kernel.error)
    }

    /// Returns the names of all kernels, readable or not.
    pub fn kernel_names(&self) -> impl Iterator<Item = &str> {
        let readable = self.kernels().map(|(_, kernel)| kernel.name.as_str());
        readable.chain(self.unreadable.iter().map(|kernel| kernel.name.as_str()))
    }

    pub fn kernels(&self) -> impl Iterator<Item = (FunctionId, &Function)> {
        self.functions.iter().enumerate().filter(|(_, f)| f.kernel).map(|(i, f)| (FunctionId(i), f))
    }

    /// Returns the kernel with this name.
    pub fn kernel(&self, name: &str) -> Option<FunctionId> {
        self.kernels().find(|(_, f)| f.name == name).map(|(id, _)| id)
    }

    pub fn function(&self, id: FunctionId) -> &Function {
        &self.functions[id.0]
    }

    pub fn section(&self, id: SectionId) -> &Section {
        &self.sections[id.0]
    }

    pub fn symbol(&self, id: SymbolId) -> &Symbol {
        &self.symbols[id.0]
    }

    /// Returns the layout of static shared memory of this code section's kernels.
    pub fn shared_layout(&self, code: SectionId) -> SharedLayout {
        SharedSections::of(self).layout(code)
    }

    /// Returns the variable with this name, if it has a section.
    ///
    /// A variable that other modules see precedes a local one.
    pub fn variable(&self, name: &str) -> Option<SymbolId> {
        let is_it =
            |s: &Symbol| s.name == name && s.kind == SymbolKind::Object && s.section.is_some();
        let found = self.symbols.iter().enumerate().filter(|(_, symbol)| is_it(symbol));
        found.min_by_key(|(_, symbol)| symbol.binding == Binding::Local).map(|(id, _)| SymbolId(id))
    }
}

/// The layout of the static shared memory of a code section's kernels.
///
/// It has the offset of each static shared section, and the end of static shared memory. Sections
/// of the whole module come first.
pub type SharedLayout = (Vec<(SectionId, u64)>, u64);

/// The static shared sections of a module by owner, for layouts of many kernels.
pub struct SharedSections<'a> {
    module: &'a Module,
    of_owner: BTreeMap<Option<SectionId>, Vec<SectionId>>,
}

impl<'a> SharedSections<'a> {
    pub fn of(module: &'a Module) -> SharedSections<'a> {
        let mut of_owner = BTreeMap::<_, Vec<SectionId>>::new();
        for (i, section) in
            module.sections.iter().enumerate().filter(|(_, section)| section.size > 0)
        {
            if let SectionKind::Shared { owner } = section.kind {
                of_owner.entry(owner).or_default().push(SectionId(i));
            }
        }
        SharedSections { module, of_owner }
    }

    /// Returns the code sections that own static shared sections.
    pub fn owners(&self) -> impl Iterator<Item = Option<SectionId>> {
        self.of_owner.keys().copied()
    }

    pub fn layout(&self, code: SectionId) -> SharedLayout {
        let mut layout = Vec::new();
        let mut end = 0_u64;
        for &id in [None, Some(code)].iter().filter_map(|owner| self.of_owner.get(owner)).flatten()
        {
            let section = self.module.section(id);
            let at = end.checked_next_multiple_of(section.align).unwrap_or(u64::MAX);
            layout.push((id, at));
            end = at.saturating_add(section.size);
        }
        (layout, end)
    }
}
