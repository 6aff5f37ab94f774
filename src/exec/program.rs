//! [`Program`]: a module in guest memory.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock};

use warploom_container::{
    Addresses, Arch, FunctionId, Isa, Linked, Module, Modules, RelocKind, SectionId, SectionKind,
    Symbol, SymbolId, SymbolKind,
};
use warploom_engine::{Backend, CodeStore};
use warploom_ir::image::Shape;
use warploom_ir::special::Reciprocals;
use warploom_runtime::memory::{Access, Memory, MemoryConfig, PAGE_BYTES, Placement, Unbound};

use super::guest::{self, Guest, KnownImages};
use super::services::Heap;
use super::translate::{Settings, Translated};
use super::{Allocation, Error, lock};

/// A module loaded into memory, which several modules may share. Translations of its kernels are
/// kept as long as the program lives.
///
/// Constant bank 3, where `__constant__` variables live, is in guest memory, for generic pointers.
/// Launches begin with a copy.
pub struct Program {
    linked: Arc<Linked>,
    memory: Arc<Memory>,
    reciprocals: Reciprocals,
    backend: Arc<dyn Backend>,
    cache: Option<Arc<dyn CodeStore>>,
    /// By kernel and the images for which it is specialised.
    translated: Mutex<BTreeMap<(FunctionId, KnownImages), Arc<Translated>>>,
    /// Offsets of words of constant bank 0 that kernels use as handles of images, in bytes. `None`
    /// if the kernel uses no images.
    handles: Mutex<BTreeMap<FunctionId, Option<Arc<[u32]>>>>,
    /// The kernels that name the system's part of shared memory, as far as a launch asked.
    reserved: Mutex<BTreeMap<FunctionId, bool>>,
    heap: Mutex<Option<Arc<Heap>>>,
    /// Pages that no launch uses at the moment.
    idle: Mutex<Vec<ReadOnly>>,
    /// The address of facilities that a driver would provide and this library does not.
    absent: OnceLock<u64>,
    /// Memory that all launches share.
    data_share: OnceLock<u64>,
    /// The number of launches of kernels that ask for their number.
    launches: AtomicU64,
}

/// Whole pages that the guest can read but not write. Launches reuse them.
pub(super) struct ReadOnly {
    pub address: u64,
    bytes: u64,
    /// The number of leading bytes that may not be 0.
    used: usize,
}

impl ReadOnly {
    /// Puts bytes at the start, and zeros behind them.
    pub fn fill(&mut self, memory: &Memory, mut bytes: Vec<u8>) -> Result<(), Error> {
        let used = bytes.len();
        bytes.resize(used.max(self.used), 0);
        self.used = used;
        Ok(memory.overwrite(self.address, &bytes)?)
    }
}

/// Facilities that kernels can ask a driver for and that warploom does not provide.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Absent {
    Hostcall,
    Heap,
    Queue,
}

impl Absent {
    const ALL: [Absent; 3] = [Absent::Hostcall, Absent::Heap, Absent::Queue];
    /// Bytes of address space for each facility.
    const BYTES: u64 = PAGE_BYTES / 4;

    /// Returns the text for messages.
    pub fn name(self) -> &'static str {
        match self {
            Absent::Hostcall => "hostcalls are not provided (HIP's printf and assert need them)",
            Absent::Heap => "the heap of device code is not provided (malloc and free need it)",
            Absent::Queue => "launches by device code are not provided (enqueue_kernel needs them)",
        }
    }
}

/// A kernel of a program.
#[derive(Clone, Copy)]
pub struct Kernel<'p> {
    pub(super) program: &'p Program,
    pub(super) id: FunctionId,
}

/// A `__device__` or `__constant__` variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Variable {
    /// The guest address.
    pub address: u64,
    /// The size in bytes.
    pub size: u64,
    /// Whether the variable is in constant memory, which guest code can only read.
    pub constant: bool,
}

/// The size of the range that m0 can address: a start and a size of 16 bits each.
const DATA_SHARE_BYTES: u64 = 1 << 17;

/// Fewer bytes than this between two variables are padding.
const MOST_PADDING: u64 = 16;

/// The bank that `__constant__` variables live in.
const CONSTANT_VARIABLES: u8 = 3;

/// Returns the placement of memory that code of a module may address.
pub(super) fn place(module: &Module, align: u64) -> Placement {
    match module.address_bits() {
        32 => Placement::Low { align },
        _ => Placement::Anywhere { align },
    }
}

impl Program {
    /// Loads a GPU binary. If a file holds several modules, the module that defines `kernel` is
    /// loaded.
    pub fn load(bytes: &[u8], kernel: Option<&str>) -> Result<Program, Error> {
        Program::load_for(bytes, kernel, None)
    }

    /// Loads a GPU binary as [`Program::load`] does. From code for several GPUs, it takes the code
    /// that the driver of `arch` would take.
    pub fn load_for(
        bytes: &[u8],
        kernel: Option<&str>,
        arch: Option<Arch>,
    ) -> Result<Program, Error> {
        Program::new(read_module(bytes, kernel, arch)?, MemoryConfig::default())
    }

    /// Loads a module into new memory, with the windows that the module's driver chooses.
    pub fn new(module: Module, config: MemoryConfig) -> Result<Program, Error> {
        let memory =
            Memory::new(MemoryConfig { windows: guest::of(module.isa).windows(), ..config })?;
        Program::in_memory(module, Arc::new(memory), |_| None)
    }

    /// Loads a module into existing memory, which must have the windows of the module's driver.
    /// `handle` returns the values of the module's variables for images and samplers, by name.
    pub fn in_memory(
        module: Module,
        memory: Arc<Memory>,
        handle: impl Fn(&str) -> Option<u32>,
    ) -> Result<Program, Error> {
        Arch::check(&module)?;
        let mut addresses =
            Addresses { shared_window: memory.windows().shared_address(0), ..Addresses::default() };
        let guest = guest::of(module.isa);
        let module = guest.complete(module)?;
        for (i, symbol) in module.symbols.iter().enumerate() {
            if let Some(value) =
                guest.driver_symbol(&symbol.name).filter(|_| symbol.section.is_none())
            {
                addresses.driver.insert(SymbolId(i), value);
            }
        }
        for r in module.relocations.iter().filter(|r| matches!(r.kind, RelocKind::Header { .. })) {
            if let Some(handle) = handle(&module.symbol(r.symbol).name) {
                addresses.handles.insert(r.symbol, handle);
            }
        }
        // Names in PTX stand for the handles themselves.
        let symbols = module.symbols.iter().enumerate().filter(|_| module.ptx.is_some());
        for (i, symbol) in symbols.filter(|(_, symbol)| symbol.kind.is_image()) {
            if let Some(handle) = handle(&symbol.name) {
                addresses.handles.insert(SymbolId(i), handle);
            }
        }
        for (symbol, handle) in guest.own_handles(&module) {
            addresses.handles.entry(symbol).or_insert(handle);
        }
        for (i, section) in module.sections.iter().enumerate() {
            if matches!(section.kind, SectionKind::Global | SectionKind::Image) && section.size > 0
            {
                let place = place(&module, section.align);
                addresses.globals.insert(
                    SectionId(i),
                    memory.alloc_at(place, section.size, Access::READ_WRITE)?,
                );
            }
        }
        let bytes = module
            .sections
            .iter()
            .filter(|s| holds_constants(s.kind))
            .map(|s| s.size)
            .max()
            .unwrap_or(0);
        if bytes > 0 {
            addresses.constants = memory.alloc_at(place(&module, 1), bytes, Access::READ)?;
        }
        let linked = Arc::new(Linked::new(Arc::new(module), addresses)?);
        let program = Program {
            linked,
            memory,
            reciprocals: Reciprocals::default(),
            backend: super::backend(),
            cache: None,
            translated: Mutex::default(),
            handles: Mutex::default(),
            reserved: Mutex::default(),
            heap: Mutex::default(),
            idle: Mutex::default(),
            absent: OnceLock::new(),
            data_share: OnceLock::new(),
            launches: AtomicU64::new(0),
        };
        program.reset()?;
        Ok(program)
    }

    /// Resets the module's variables to their values after loading, empties the heap of device
    /// code, and counts launches anew. Other allocations stay unchanged.
    pub fn reset(&self) -> Result<(), Error> {
        self.launches.store(0, Ordering::Relaxed);
        if let Some(heap) = &*lock(&self.heap) {
            heap.reset(&self.memory)?;
        }
        for (&id, &address) in &self.linked.addresses().globals {
            let (section, content) = (self.module().section(id), self.linked.content(id));
            self.memory.write(address, content)?;
            let content = content.len() as u64;
            self.memory.fill(address + content, section.size.saturating_sub(content), 0)?;
        }
        for (i, section) in self.module().sections.iter().enumerate() {
            if holds_constants(section.kind) {
                let mut content = self.linked.content(SectionId(i)).to_vec();
                content.resize(usize::try_from(section.size).unwrap_or(0).max(content.len()), 0);
                self.memory.overwrite(self.linked.addresses().constants, &content)?;
            }
        }
        Ok(())
    }

    /// Returns the memory of the module's variables, each by itself. A section with data that no
    /// symbol names is one allocation, with the name of its last variable.
    pub fn allocations(&self) -> impl Iterator<Item = Allocation> {
        self.linked.addresses().globals.iter().flat_map(|(&id, &address)| {
            let section = self.module().section(id);
            let is_variable = |symbol: &&Symbol| {
                (symbol.section, symbol.kind) == (Some(id), SymbolKind::Object) && symbol.size > 0
            };
            let mut symbols: Vec<&Symbol> =
                self.module().symbols.iter().filter(is_variable).collect();
            symbols.sort_by_key(|symbol| symbol.offset);
            let ends = symbols.iter().map(|one| one.offset.saturating_add(one.size));
            let starts = symbols.iter().map(|one| one.offset).chain([section.size]);
            let is_padding = |(end, start): (u64, u64)| {
                start.checked_sub(end).is_some_and(|gap| gap < MOST_PADDING)
            };
            let has_gaps = !std::iter::once(0).chain(ends).zip(starts).all(is_padding);
            if has_gaps || symbols.is_empty() {
                let name = symbols.last().map_or(&section.name, |symbol| &symbol.name).clone();
                return vec![Allocation { name, address, bytes: section.size }];
            }
            let of = |symbol: &&Symbol| Allocation {
                name: symbol.name.clone(),
                address: address + symbol.offset,
                bytes: symbol.size,
            };
            symbols.iter().map(of).collect()
        })
    }

    /// Returns the number of a launch, from 1 on.
    pub(super) fn count_launch(&self) -> u64 {
        self.launches.fetch_add(1, Ordering::Relaxed) + 1
    }

    /// Lends pages with room for so many bytes.
    pub(super) fn lend(&self, bytes: u64) -> Result<ReadOnly, Error> {
        let bytes = bytes.next_multiple_of(PAGE_BYTES);
        let mut idle = lock(&self.idle);
        if let Some(at) = idle.iter().position(|pages| pages.bytes == bytes) {
            return Ok(idle.swap_remove(at));
        }
        let address = self.memory.alloc_at(Placement::ANYWHERE, bytes, Access::READ)?;
        Ok(ReadOnly { address, bytes, used: 0 })
    }

    /// Returns the address of memory beside a chip's own that all launches share (GFX9's GDS).
    pub(super) fn data_share(&self) -> Result<u64, Error> {
        made_once(&self.data_share, || Ok(self.memory.alloc(DATA_SHARE_BYTES, DATA_SHARE_BYTES)?))
    }

    /// Returns an address for an absent facility. Accesses there fault, and the fault names the
    /// facility.
    pub(super) fn absent(&self, thing: Absent) -> Result<u64, Error> {
        let reserve =
            || Ok(self.memory.reserve(Placement::ANYWHERE, PAGE_BYTES, Unbound::Faults)?);
        let start = made_once(&self.absent, reserve)?;
        Ok(start + thing as u64 * Absent::BYTES)
    }

    /// Returns the absent facility that a faulting address belongs to.
    pub(super) fn absent_at(&self, address: u64) -> Option<Absent> {
        let offset = address.checked_sub(*self.absent.get()?)?;
        Absent::ALL.into_iter().find(|&thing| offset / Absent::BYTES == thing as u64)
    }

    /// Takes back lent pages.
    pub(super) fn give_back(&self, pages: ReadOnly) {
        lock(&self.idle).push(pages);
    }

    /// Returns memory with the windows of a module's driver, for [`Program::in_memory`].
    ///
    /// # Errors
    /// The host has no address space for it.
    pub fn memory_for(module: &Module) -> Result<Memory, Error> {
        let windows = guest::of(module.isa).windows();
        Ok(Memory::new(MemoryConfig { windows, ..MemoryConfig::default() })?)
    }

    /// Returns the placement of memory that code of the module may address.
    pub fn place(&self) -> Placement {
        place(self.module(), 1)
    }

    pub fn module(&self) -> &Module {
        self.linked.module()
    }

    pub(super) fn guest(&self) -> &'static dyn Guest {
        guest::of(self.module().isa)
    }

    pub fn linked(&self) -> &Linked {
        &self.linked
    }

    /// Returns the guest memory: allocate, write and read buffers there.
    pub fn memory(&self) -> &Memory {
        &self.memory
    }

    pub fn kernel(&self, name: &str) -> Result<Kernel<'_>, Error> {
        let module = self.module();
        if let Some(id) = module.kernel(name) {
            return Ok(Kernel { program: self, id });
        }
        Err(match module.unreadable(name) {
            Some(error) => Error::Unreadable { name: name.into(), source: error.clone() },
            None => Error::NoSuchKernel { name: name.into(), names: names_of(module) },
        })
    }

    /// Returns the kernel with this number in the module.
    pub fn kernel_of(&self, id: FunctionId) -> Kernel<'_> {
        Kernel { program: self, id }
    }

    /// Returns the module's only kernel.
    pub fn only_kernel(&self) -> Result<Kernel<'_>, Error> {
        let module = self.module();
        match (module.kernels().next(), module.kernel_names().count()) {
            (Some((id, _)), 1) => Ok(Kernel { program: self, id }),
            (None, 0) => Err(Error::NoKernels),
            _ => Err(Error::SeveralKernels { names: names_of(module) }),
        }
    }

    pub fn variable(&self, name: &str) -> Result<Variable, Error> {
        let module = self.module();
        let Some(symbol) = module.variable(name) else {
            let variables = module.symbols.iter().filter(|s| module.variable(&s.name).is_some());
            let names = variables.map(|s| s.name.clone()).collect();
            return Err(Error::NoSuchVariable { name: name.into(), names });
        };
        let s = module.symbol(symbol);
        let constant = s.section.is_some_and(|id| holds_constants(module.section(id).kind));
        let constants = self.linked.addresses().constants;
        let address =
            if constant { Some(constants + s.offset) } else { self.linked.address(symbol) };
        let address =
            address.ok_or_else(|| Error::NoSuchVariable { name: name.into(), names: vec![] })?;
        Ok(Variable { address, size: s.size, constant })
    }

    /// Returns the content of a variable.
    pub fn read_variable(&self, name: &str) -> Result<Vec<u8>, Error> {
        let variable = self.variable(name)?;
        let mut content = vec![0; usize::try_from(variable.size).unwrap_or(0)];
        self.memory.read(variable.address, &mut content)?;
        Ok(content)
    }

    /// Sets the content of a variable from its start; the rest of it stays unchanged.
    pub fn write_variable(&self, name: &str, bytes: &[u8]) -> Result<(), Error> {
        let variable = self.variable(name)?;
        if bytes.len() as u64 > variable.size {
            let (name, bytes, size) = (name.into(), bytes.len() as u64, variable.size);
            return Err(Error::VariableSize { name, bytes, size });
        }
        Ok(self.memory.overwrite(variable.address, bytes)?)
    }

    /// Returns the handles of images that a kernel uses. The first call for a kernel finds them.
    pub(super) fn handles(
        &self,
        kernel: FunctionId,
        find: impl FnOnce(&warploom_container::Code) -> Option<Vec<u32>>,
    ) -> Option<Arc<[u32]>> {
        let mut all = lock(&self.handles);
        all.entry(kernel).or_insert_with(|| find(&self.linked.code(kernel)).map(Arc::from)).clone()
    }

    /// Returns whether a kernel names the system's part of shared memory. The first call for a
    /// kernel looks at its code.
    pub(super) fn reserves_shared(
        &self,
        kernel: FunctionId,
        find: impl FnOnce(&warploom_container::Code) -> bool,
    ) -> bool {
        let mut all = lock(&self.reserved);
        *all.entry(kernel).or_insert_with(|| find(&self.linked.code(kernel)))
    }

    /// Returns the content of a constant bank as a kernel sees it now.
    pub(super) fn bank(&self, kernel: FunctionId, bank: u8) -> Result<Vec<u8>, Error> {
        let Some(section) = self.linked.bank_section(kernel, bank) else { return Ok(vec![]) };
        let mut content = self.linked.content(section).to_vec();
        if holds_constants(self.module().section(section).kind) {
            content.resize(usize::try_from(self.module().section(section).size).unwrap_or(0), 0);
            self.memory.read(self.linked.addresses().constants, &mut content)?;
        }
        Ok(content)
    }

    /// Returns the heap of device code. Makes it with this size if there is none yet.
    pub(super) fn heap(&self, bytes: u64) -> Result<Arc<Heap>, Error> {
        let mut heap = lock(&self.heap);
        if let Some(heap) = &*heap {
            return Ok(heap.clone());
        }
        let made = Arc::new(Heap::new(&self.memory, bytes)?);
        *heap = Some(made.clone());
        Ok(made)
    }

    /// Chooses the results of approximate reciprocals, for all kernels.
    ///
    /// # Errors
    /// The reciprocals of this instruction set have no tables.
    pub fn set_reciprocals(&mut self, reciprocals: Reciprocals) -> Result<(), Error> {
        if reciprocals == Reciprocals::Table && !matches!(self.module().isa, Isa::Maxwell { .. }) {
            return Err(Error::NoTables);
        }
        self.reciprocals = reciprocals;
        lock(&self.translated).clear();
        Ok(())
    }

    /// Makes another back end compile all code that is translated from now on.
    pub fn set_backend(&mut self, backend: Arc<dyn Backend>) {
        self.backend = backend;
        lock(&self.translated).clear();
    }

    /// Keeps compiled code of all kernels in this store from now on.
    pub fn set_cache(&mut self, cache: Option<Arc<dyn CodeStore>>) {
        self.cache = cache;
        lock(&self.translated).clear();
    }

    pub(super) fn translated(
        &self,
        kernel: FunctionId,
        images: &[(u32, Shape)],
    ) -> Result<Arc<Translated>, Error> {
        let mut all = lock(&self.translated);
        Ok(match all.entry((kernel, images.to_vec())) {
            Entry::Occupied(entry) => entry.get().clone(),
            Entry::Vacant(entry) => {
                let name = &self.module().function(kernel).name;
                tracing::debug!(kernel = %name, ?images, "translates a kernel");
                let settings = Settings {
                    images: images.to_vec(),
                    reciprocals: self.reciprocals,
                    backend: self.backend.clone(),
                    cache: self.cache.clone(),
                };
                let translated = Arc::new(Translated::new(self.linked.clone(), kernel, settings)?);
                entry.insert(translated).clone()
            }
        })
    }
}

/// Returns whether `__constant__` variables live in a section of this kind.
fn holds_constants(kind: SectionKind) -> bool {
    matches!(kind, SectionKind::Constant { bank: CONSTANT_VARIABLES, .. })
}

/// Releases the program's memory, since the guest memory may outlive the program.
impl Drop for Program {
    fn drop(&mut self) {
        let addresses = self.linked.addresses();
        let idle = lock(&self.idle).drain(..).map(|pages| pages.address).collect::<Vec<_>>();
        let once =
            [&self.absent, &self.data_share].into_iter().filter_map(|place| place.get().copied());
        let constants = Some(addresses.constants).filter(|&address| address != 0);
        let heap = lock(&self.heap).as_ref().map(|heap| heap.start());
        for address in
            addresses.globals.values().copied().chain(idle).chain(once).chain(constants).chain(heap)
        {
            // An absent allocation need not be released.
            let _ = self.memory.release_later(address);
        }
    }
}

/// Returns an address. The first call makes it.
fn made_once(
    address: &OnceLock<u64>,
    make: impl FnOnce() -> Result<u64, Error>,
) -> Result<u64, Error> {
    if let Some(&address) = address.get() {
        return Ok(address);
    }
    let made = make()?;
    Ok(*address.get_or_init(|| made))
}

/// Returns the module of a GPU binary that has the kernel, or the only module with kernels.
pub fn read_module(
    bytes: &[u8],
    kernel: Option<&str>,
    arch: Option<Arch>,
) -> Result<Module, Error> {
    select(warploom_container::read_for(bytes, arch)?, kernel)
}

fn names_of(module: &Module) -> Vec<String> {
    module.kernel_names().map(str::to_owned).collect()
}

/// Returns the module that defines a kernel, or without a name the only module that has kernels.
fn select(found: Modules, kernel: Option<&str>) -> Result<Module, Error> {
    let Modules { modules, mut unreadable } = found;
    let names: Vec<String> = modules.iter().flat_map(names_of).collect();
    let reason =
        kernel.and_then(|name| modules.iter().find_map(|module| module.unreadable(name)).cloned());
    let mut fitting: Vec<Module> = match kernel {
        Some(name) => modules.into_iter().filter(|m| m.kernel(name).is_some()).collect(),
        None => modules.into_iter().filter(|m| m.kernel_names().next().is_some()).collect(),
    };
    match (kernel, fitting.len(), reason) {
        (None, 2.., _) => Err(Error::SeveralKernels { names }),
        (_, 1.., _) => Ok(fitting.swap_remove(0)),
        (Some(name), 0, Some(source)) => Err(Error::Unreadable { name: name.into(), source }),
        // The kernel may be in a member that cannot be read.
        _ if !unreadable.is_empty() => Err(unreadable.swap_remove(0).into()),
        _ if names.is_empty() => Err(Error::NoKernels),
        (name, _, _) => Err(Error::NoSuchKernel { name: name.unwrap_or_default().into(), names }),
    }
}
