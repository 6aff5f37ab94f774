//! NVIDIA PTX: constant banks for parameters and for values that a driver sets.

mod limits;

use std::collections::BTreeSet;

use rustc_hash::FxHashMap;
use warploom_container::ptx::PtxModule;
use warploom_container::{Code, CodePlace, FunctionId, Linked, Module, SymbolId};
use warploom_guest::LiftError;
use warploom_guest::fidelity::Fidelity;
use warploom_ir::Function;
use warploom_ir::image::Shape;
use warploom_ir::image::sampler::{Filter, Sampler, Wrap};
use warploom_ptx::lift::image::variable_name;
use warploom_ptx::lift::{Kernel, Needs, VariableAddresses, driver, lift_kernel};
use warploom_ptx::module::{self as ptx, AddressMode, VariableId};
use warploom_ptx::types::{Kind, Ty};
use warploom_ptx::{layout, table};
use warploom_runtime::launch::ConstBank;
use warploom_runtime::window::Windows;

use super::nvidia::images::{self as pool, Images};
use super::nvidia::queries::Sampled;
use super::nvidia::{self, grid_workspace};
use super::{Environment, Guest, ImageDriver, Launching, Lifting, Placed, Purpose, SourcePlace};
use crate::{Error, FidelityClass};

pub(super) struct Ptx;

/// The most local memory of a lane, as in drivers. The window has more room for it.
const MAX_LOCAL: u64 = 1 << 19;
/// Bytes for frames of recursive functions, if the launch does not give their size.
const DEFAULT_STACK: u32 = 16 << 10;

fn module(linked: &Linked) -> &PtxModule {
    linked.module().ptx.as_deref().expect("a module of PTX has its text")
}

/// Returns the handle of a texture, sampler or surface of the module, or `None` if it is not bound.
fn handle(linked: &Linked, variable: VariableId) -> Option<u64> {
    let ptx = module(linked);
    let symbol = ptx.variables.get(&variable)?;
    linked.addresses().handles.get(symbol).copied().map(u64::from)
}

/// Returns the `.samplerref` variables that define their own sampler.
fn fixed_samplers(module: &ptx::Module) -> impl Iterator<Item = (VariableId, ptx::Sampler)> {
    let variables =
        module.variables.iter().zip(0..).filter(|(variable, _)| variable.ty == Ty::Samplerref);
    variables
        .filter_map(|(variable, id)| Some((VariableId(id), variable.initial.as_ref()?.sampler?)))
}

fn sampler((_, said): (VariableId, ptx::Sampler)) -> Sampler {
    let wrap = said.address_modes.map(|mode| match mode {
        AddressMode::Wrap => Wrap::Repeat,
        AddressMode::Mirror => Wrap::Mirror,
        AddressMode::ClampOgl => Wrap::Clamp,
        AddressMode::ClampToEdge => Wrap::ClampToEdge,
        AddressMode::ClampToBorder => Wrap::Border,
    });
    let filter = if said.linear { Filter::Linear } else { Filter::Point };
    let defaults = Sampler::default();
    Sampler {
        wrap,
        mag: filter,
        min: filter,
        srgb_allowed: true,
        force_unnormalized: said.unnormalized,
        ..defaults
    }
}

/// Returns the addresses of a kernel's variables.
fn places(linked: &Linked, kernel: FunctionId) -> VariableAddresses {
    let ptx = module(linked);
    let mut variables: FxHashMap<VariableId, u64> = FxHashMap::default();
    for (&variable, &symbol) in &ptx.variables {
        let address = match ptx.module.variable(variable).ty.kind() {
            Kind::Opaque => handle(linked, variable),
            _ => linked.address(symbol),
        };
        variables.insert(variable, address.unwrap_or(0));
    }
    variables.extend(ptx.shared.get(&kernel).into_iter().flatten().map(|(&id, &at)| (id, at)));
    if let Some(&function) = ptx.functions.get(&kernel) {
        variables.extend(layout::parameters(&ptx.module, function).0);
    }
    let functions = (ptx.module.functions.iter().zip(0..))
        .map(|(function, id)| (ptx::FunctionId(id), function.at.into()));
    variables.extend(layout::module_locals(&ptx.module).0);
    VariableAddresses::new(variables, functions.collect())
}

/// Passes to `then` the lifter's information about a kernel.
fn with_kernel<T>(
    linked: &Linked,
    kernel: FunctionId,
    (images, observed): (&[(u32, Shape)], bool),
    then: impl FnOnce(&Kernel<'_>) -> T,
) -> T {
    let ptx = module(linked);
    let (function, places) = (ptx.functions[&kernel], places(linked, kernel));
    then(&Kernel {
        module: &ptx.module,
        kernel: function,
        places: &places,
        base: 0,
        images,
        observed,
    })
}

fn needs(linked: &Linked, kernel: FunctionId) -> &Needs {
    module(linked).needs[&kernel]
        .get_or_init(|| with_kernel(linked, kernel, (&[], false), Needs::of))
}

/// Returns the images of a launch, or `None` if the module uses no images.
fn images_of(launch: &Launching<'_>, params: &[u8]) -> Result<Option<Images>, Error> {
    let kernel = launch.kernel;
    let ptx = module(kernel.program.linked());
    let needs = needs(kernel.program.linked(), kernel.id);
    let Some(named) = &needs.images else { return Ok(None) };
    check_bound(launch, named)?;
    let sampled = if ptx.module.independent_textures { Sampled::Apart } else { Sampled::Together };
    let fixed: Vec<Sampler> = fixed_samplers(&ptx.module).map(sampler).collect();
    Ok(Some(Images::new(
        launch,
        &known_handles(launch, needs, named, params),
        &fixed,
        Some(sampled),
    )?))
}

/// Returns the handles that a kernel names, each with its value in this launch.
fn known_handles(
    launch: &Launching<'_>,
    needs: &Needs,
    named: &BTreeSet<VariableId>,
    params: &[u8],
) -> Vec<(u32, u32)> {
    let (id, linked) = (launch.kernel.id, launch.kernel.program.linked());
    let ptx = module(linked);
    let word = |at: u32| {
        let bytes = params.get(at as usize..).and_then(|bytes| bytes.first_chunk());
        (at, u32::from_le_bytes(bytes.copied().unwrap_or_default()))
    };
    let own = layout::parameters(&ptx.module, ptx.functions[&id]).0.into_iter();
    let own = own
        .filter(|&(id, _)| ptx.module.variable(id).ty.kind() == Kind::Opaque)
        .map(|(_, at)| at as u32);
    let named =
        named.iter().filter_map(|&id| Some((variable_name(id), handle(linked, id)? as u32)));
    let mut all: Vec<(u32, u32)> =
        needs.handles.iter().copied().chain(own).map(word).chain(named).collect();
    all.sort_unstable();
    all.dedup();
    all
}

/// Checks that the launch binds every texture, sampler and surface that a kernel names.
fn check_bound(launch: &Launching<'_>, named: &BTreeSet<VariableId>) -> Result<(), Error> {
    let kernel = launch.kernel;
    let linked = kernel.program.linked();
    let ptx = module(linked);
    for &id in named {
        if handle(linked, id).is_none() {
            let variable = ptx.module.variable(id);
            let table = if variable.ty == Ty::Surfref { "surface" } else { "texture" };
            let (kernel, variable, ty) =
                (kernel.function().name.clone(), variable.name.clone(), variable.ty.name());
            return Err(Error::Unbound { kernel, variable, ty, table });
        }
    }
    Ok(())
}

impl Guest for Ptx {
    fn windows(&self) -> Windows {
        Windows::default()
    }

    fn lift(&self, kernel: &Lifting<'_>) -> Result<Function, LiftError> {
        {
            let observed = kernel.purpose == Purpose::Checks;
            with_kernel(kernel.linked, kernel.kernel, (kernel.images, observed), lift_kernel)
        }
    }

    fn instruction(&self, code: &Code, pc: u64) -> Option<Placed> {
        let rest = code.bytes.get(usize::try_from(pc).ok()?..).filter(|rest| !rest.is_empty())?;
        let end =
            rest.iter().position(|&byte| matches!(byte, b';' | b'{' | b'}')).unwrap_or(rest.len());
        let text =
            String::from_utf8_lossy(&rest[..end]).split_whitespace().collect::<Vec<_>>().join(" ");
        let opcode = text.split_whitespace().find(|word| !word.starts_with('@'));
        let mnemonic = opcode.unwrap_or_default().to_owned();
        let next = pc + end as u64 + 1;
        let words: Vec<&str> = mnemonic.split('.').collect();
        let fidelity =
            table::resolve(&words).map_or(Fidelity::Unimplemented, |form| form.row.fidelity);
        Some(Placed { pc, next, text, mnemonic, class: FidelityClass::from(fidelity) })
    }

    fn line(&self, linked: &Linked, place: &CodePlace) -> Option<SourcePlace> {
        let read = &module(linked).module;
        let at = u32::try_from(place.offset).ok()?;
        let place = read.position(at);
        // The function is the last whose name stands before the offset.
        let function =
            read.functions.iter().filter(|function| function.body.is_some() && function.at <= at);
        let body = function.max_by_key(|function| function.at)?.body.as_ref()?;
        let statement =
            body.statements.partition_point(|statement| statement.at <= at).checked_sub(1)?;
        let source = body.source_line(statement as u32).and_then(|place| {
            let (_, file) = read.files.iter().find(|(number, _)| *number == place.file)?;
            Some((file.clone(), place.line))
        });
        Some(SourcePlace { part: place.part, line: Some(place.line), source })
    }

    fn provides(&self, name: &str) -> bool {
        warploom_guest::service::by_name(name).is_some()
    }

    fn environment(&self, launch: &Launching<'_>) -> Result<Environment, Error> {
        let (kernel, options) = (launch.kernel, launch.options);
        launch.check_block()?;
        let read = module(kernel.program.linked());
        let function = read.module.function(read.functions[&kernel.id]);
        limits::check(launch, &read.module, function)?;
        let params = launch.params(&launch.bytes()?)?;
        let program = kernel.program;
        let needs = needs(program.linked(), kernel.id);
        let needed = needs.local;
        let stack =
            options.stack_bytes.unwrap_or(if needed.has_frames { DEFAULT_STACK } else { 0 });
        let frames_end = needed.bytes.min(MAX_LOCAL) as u32;
        let local = frames_end.saturating_add(stack).next_multiple_of(16);
        let mut config = launch.config();
        config.shared_bytes = launch.shared_bytes_in_vectors()?;
        let total_shared = nvidia::total_shared(read.module.target.sm, config.shared_bytes);
        if needs.reserved_shared {
            config.shared_bytes = total_shared.saturating_add(driver::RESERVED_SHARED);
        }
        config.local_bytes = local;
        let windows = program.memory().windows();
        let mut bank = vec![0; driver::BYTES as usize];
        let mut put =
            |at: u32, bytes: &[u8]| bank[at as usize..][..bytes.len()].copy_from_slice(bytes);
        put(driver::SHARED_WINDOW, &windows.shared_address(0).to_le_bytes());
        put(driver::LOCAL_WINDOW, &windows.local_address(0).to_le_bytes());
        put(driver::CONSTANT_COPY, &program.linked().addresses().constants.to_le_bytes());
        put(driver::DYNAMIC_SHARED, &options.shared_bytes.to_le_bytes());
        put(driver::TOTAL_SHARED, &total_shared.to_le_bytes());
        let number = program.count_launch();
        put(driver::GRID, &number.to_le_bytes());
        put(driver::START_TIME, &number.wrapping_mul(driver::LAUNCH_TIME).to_le_bytes());
        put(driver::EXPLICIT_CLUSTER, &u32::from(function.explicit_cluster).to_le_bytes());
        let constants = program.bank(kernel.id, driver::CONSTANTS)?;
        put(driver::PARAM_BYTES, &(params.len() as u32).to_le_bytes());
        put(driver::CONSTANT_BYTES, &(constants.len() as u32).to_le_bytes());
        put(driver::LOCAL_END, &local.to_le_bytes());
        put(driver::FRAMES_END, &frames_end.to_le_bytes());
        let mut held = vec![];
        if options.cooperative {
            let workspace = grid_workspace(program.memory())?;
            put(driver::ENVIRONMENT + 4, &((workspace >> 32) as u32).to_le_bytes());
            put(driver::ENVIRONMENT + 8, &(workspace as u32).to_le_bytes());
            held.push(workspace);
        }
        let images = images_of(launch, &params)?;
        let mut lent = vec![];
        if !params.is_empty() {
            let mut copy = program.lend(params.len() as u64)?;
            copy.fill(program.memory(), params.clone())?;
            put(driver::PARAM_COPY, &copy.address.to_le_bytes());
            lent.push(copy);
        }
        config.constants[usize::from(driver::PARAMS)] = Some(ConstBank::new(&params)?);
        config.constants[usize::from(driver::BANK)] = Some(ConstBank::new(&bank)?);
        if !constants.is_empty() {
            config.constants[usize::from(driver::CONSTANTS)] = Some(ConstBank::new(&constants)?);
        }
        nvidia::environment(config, held, lent, images)
    }

    fn own_handles(&self, module: &Module) -> Vec<(SymbolId, u32)> {
        let Some(ptx) = module.ptx.as_deref() else { return vec![] };
        let symbols = fixed_samplers(&ptx.module).map(|(id, _)| ptx.variables.get(&id).copied());
        symbols
            .enumerate()
            .filter_map(|(number, symbol)| Some((symbol?, pool::fixed_sampler(number))))
            .collect()
    }

    fn images(&self) -> &dyn ImageDriver {
        &pool::Driver
    }
}
