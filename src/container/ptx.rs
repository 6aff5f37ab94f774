//! PTX: text that a driver compiles when it loads it.
//!
//! The code of the module is the text: the address of an instruction is its position in the text.

use std::sync::{Arc, OnceLock};

use rustc_hash::FxHashMap;
use warploom_ptx::layout::{self, References};
use warploom_ptx::lift::{Needs, driver};
use warploom_ptx::module::{self as ptx, AddressOf, InitialAddress, Linkage, VariableId};
use warploom_ptx::types::{StateSpace, Ty};

use super::Error;
use super::module::{
    Binding, Function, FunctionId, Isa, Module, Param, Part, RelocKind, Relocation, Section,
    SectionId, SectionKind, Symbol, SymbolId, SymbolKind,
};
use super::recognise::is_ptx;

/// A module of PTX with the facts that the rest of warploom needs.
#[derive(Clone, Debug)]
pub struct PtxModule {
    pub module: Arc<ptx::Module>,
    /// The symbol of each variable that has a symbol.
    pub variables: FxHashMap<VariableId, SymbolId>,
    /// The PTX function of each function.
    pub functions: FxHashMap<FunctionId, ptx::FunctionId>,
    /// The offsets in shared memory of the variables that a kernel may name.
    pub shared: FxHashMap<FunctionId, FxHashMap<VariableId, u64>>,
    /// The needs of each kernel, computed when it is first launched.
    pub needs: FxHashMap<FunctionId, OnceLock<Needs>>,
}

impl PtxModule {
    /// Returns the bits of an address in memory.
    pub fn address_bits(&self) -> u8 {
        self.module.address_size
    }

    /// Returns whether a GPU takes code for the module's target.
    pub(super) fn runs_on(&self, sm: u32) -> bool {
        self.module.target.runs_on(sm)
    }
}

const CODE: SectionId = SectionId(0);
const GLOBAL: SectionId = SectionId(1);
const CONST: SectionId = SectionId(2);

/// A module under construction.
struct Making {
    module: Module,
    ptx: PtxModule,
}

fn binding(linkage: Linkage) -> Binding {
    match linkage {
        Linkage::Local => Binding::Local,
        Linkage::Weak | Linkage::Common => Binding::Weak,
        Linkage::Visible | Linkage::Extern => Binding::Global,
    }
}

/// Makes the module of a text.
pub(super) fn parse(bytes: &[u8]) -> Result<Module, Error> {
    module(warploom_ptx::read(bytes)?)
}

/// Links several texts to a module. Each text comes with its name for messages.
///
/// # Errors
///
/// A text is no PTX or wrong in itself, which the error names; or the texts do not fit together.
pub fn parse_linked(texts: &[(&str, &[u8])]) -> Result<Module, Error> {
    let read = |&(name, bytes): &(&str, &[u8])| {
        let named = |problem| Error::Linked { name: name.into(), problem: Box::new(problem) };
        if is_ptx(bytes) {
            return Ok(warploom_ptx::read(bytes)
                .map_err(|errors| named(errors.into()))?
                .named(name));
        }
        let found =
            super::recognise(bytes).map_or("no GPU binary".into(), |format| format.to_string());
        Err(named(Error::NotPtx { found }))
    };
    let modules = texts.iter().map(read).collect::<Result<Vec<_>, Error>>()?;
    module(warploom_ptx::link(modules)?)
}

/// Converts a checked module to the form that all binaries have.
pub fn module(read: ptx::Module) -> Result<Module, Error> {
    let read = Arc::new(read);
    let section =
        |name: &str, kind| Section { name: name.into(), kind, align: 256, size: 0, data: vec![] };
    let mut code = section(".text", SectionKind::Code);
    code.data = read.text.as_bytes().to_vec();
    code.size = code.data.len() as u64;
    let sections = vec![
        code,
        section(".global", SectionKind::Global),
        section(".const", SectionKind::Constant { bank: driver::CONSTANTS, owner: None }),
    ];
    let isa = Isa::Ptx { sm: read.target.sm };
    let module = Module::new(isa, sections);
    let ptx = PtxModule {
        module: read.clone(),
        variables: FxHashMap::default(),
        functions: FxHashMap::default(),
        shared: FxHashMap::default(),
        needs: FxHashMap::default(),
    };
    let mut making = Making { module, ptx };
    making.functions(&read);
    for (space, id) in [(StateSpace::Global, GLOBAL), (StateSpace::Const, CONST)] {
        making.variables(&read, space, id)?;
    }
    making.initial_addresses(&read)?;
    let Making { mut module, ptx } = making;
    module.ptx = Some(Arc::new(ptx));
    Ok(module)
}

impl Making {
    fn functions(&mut self, read: &ptx::Module) {
        let references = References::new(read);
        for (function, id) in read.functions.iter().zip(0..) {
            let id = ptx::FunctionId(id);
            let symbol = SymbolId(self.module.symbols.len());
            let size =
                function.body.as_ref().map_or(0, |body| body.end.saturating_sub(function.at));
            self.module.symbols.push(Symbol {
                name: function.name.clone(),
                kind: SymbolKind::Function,
                section: function.body.as_ref().map(|_| CODE),
                offset: function.at.into(),
                size: size.into(),
                binding: binding(function.linkage),
                dynamic_shared: false,
            });
            if function.body.is_none() {
                continue;
            }
            let number = FunctionId(self.module.functions.len());
            let mut made = Function::new(
                function.name.clone(),
                symbol,
                CODE,
                function.at.into(),
                size.into(),
                function.kernel,
            );
            made.max_threads = function.max_threads;
            made.required_threads = function.required_threads;
            if function.kernel {
                let (params, end) = layout::parameters(read, id);
                let size = |id: VariableId| read.variable(id).size;
                made.params = params
                    .iter()
                    .map(|&(id, offset)| Param {
                        offset: offset as u32,
                        size: size(id).min(u64::from(u32::MAX)) as u32,
                    })
                    .collect();
                made.param_bytes = end as u32;
                let (shared, bytes) = references.shared(read, id);
                made.shared_bytes = bytes;
                self.ptx.shared.insert(number, shared);
                self.ptx.needs.insert(number, OnceLock::new());
            }
            self.ptx.functions.insert(number, id);
            self.module.functions.push(made);
        }
    }

    fn variables(
        &mut self,
        read: &ptx::Module,
        space: StateSpace,
        section: SectionId,
    ) -> Result<(), Error> {
        let (places, end) = layout::variables(read, space);
        let limit = if space == StateSpace::Const { 1 << 16 } else { 1 << 40 };
        if end > limit {
            let what = format!("{end} bytes of variables in one space");
            return Err(Error::Unsupported { what, why: format!("there are {limit}") });
        }
        let made = &mut self.module.sections[section.0];
        made.size = end;
        if space == StateSpace::Const {
            // The content of a constant bank includes its zeros.
            made.data.resize(end as usize, 0);
        }
        for &(id, offset) in &places {
            let variable = read.variable(id);
            made.align = made.align.max(variable.align.into());
            if let Some(initial) =
                variable.initial.as_ref().filter(|initial| !initial.bytes.is_empty())
            {
                let range = offset as usize..offset as usize + initial.bytes.len();
                if made.data.len() < range.end {
                    made.data.resize(range.end, 0);
                }
                made.data[range].copy_from_slice(&initial.bytes);
            }
            let kind = match variable.ty {
                Ty::Texref => SymbolKind::Texture,
                Ty::Surfref => SymbolKind::Surface,
                Ty::Samplerref => SymbolKind::Sampler,
                _ => SymbolKind::Object,
            };
            self.ptx.variables.insert(id, SymbolId(self.module.symbols.len()));
            self.module.symbols.push(Symbol {
                name: variable.name.clone(),
                kind,
                section: Some(section),
                offset,
                size: variable.size,
                binding: binding(variable.linkage),
                dynamic_shared: false,
            });
        }
        Ok(())
    }

    /// Adds relocations for addresses in initial contents.
    fn initial_addresses(&mut self, read: &ptx::Module) -> Result<(), Error> {
        for (variable, id) in read.variables.iter().zip(0..) {
            let Some(&symbol) = self.ptx.variables.get(&VariableId(id)) else { continue };
            let (section, start) = {
                let symbol = self.module.symbol(symbol);
                (symbol.section.unwrap_or(GLOBAL), symbol.offset)
            };
            let addresses = variable.initial.as_ref().map_or(&[][..], |initial| &initial.addresses);
            for address in whole_addresses(addresses) {
                let unsupported = |what: &str| Error::Unsupported {
                    what: what.into(),
                    why: format!("it is in the initial content of `{}`", variable.name),
                };
                let of = match address.of {
                    AddressOf::Function(id) => Some(SymbolId(id.0 as usize)),
                    AddressOf::Variable(id) => self.ptx.variables.get(&id).copied(),
                };
                let of = of.ok_or_else(|| {
                    unsupported("the address of a variable that is not in this module")
                })?;
                if address.bits < 32 {
                    return Err(unsupported("a byte of an address without those beside it"));
                }
                let bits = address.bits;
                let kind = match address.generic {
                    // A texture or surface: its handle is written.
                    _ if self.module.symbol(of).kind.is_image() => {
                        RelocKind::Header { at: 0, bits: 32 }
                    }
                    true => RelocKind::Generic { part: Part::Whole, at: 0, bits },
                    false => RelocKind::Address {
                        part: if bits < 64 { Part::Low } else { Part::Whole },
                        at: 0,
                        bits,
                    },
                };
                let offset = start + address.offset;
                let end = (offset + kind.bytes()) as usize;
                let data = &mut self.module.sections[section.0].data;
                if data.len() < end {
                    data.resize(end, 0);
                }
                let addend = Some(address.addend);
                self.module.relocations.push(Relocation {
                    section,
                    offset,
                    kind,
                    name: "address",
                    symbol: of,
                    addend,
                });
            }
        }
        Ok(())
    }
}

/// Joins addresses whose bytes are written separately, as compilers do in packed structures.
///
/// An address has 8 or 4 consecutive bytes, the lowest first.
fn whole_addresses(addresses: &[InitialAddress]) -> Vec<InitialAddress> {
    let mut whole = vec![];
    let mut rest = addresses;
    while let Some(&first) = rest.first() {
        let follows = |(n, byte): (usize, &InitialAddress)| {
            let n = n as u64;
            *byte
                == InitialAddress {
                    offset: first.offset + n,
                    first_bit: 8 * n as u8,
                    bits: 8,
                    ..first
                }
        };
        let bytes =
            rest.iter().take(8).enumerate().take_while(|&(n, byte)| follows((n, byte))).count();
        let taken = match bytes {
            8 => 8,
            4..8 => 4,
            _ => 1,
        };
        whole.push(InitialAddress {
            bits: if taken == 1 { first.bits } else { 8 * taken as u8 },
            ..first
        });
        rest = &rest[taken..];
    }
    whole
}
