//! NVIDIA Maxwell: constant banks, a stack in local memory, and the functions of CUDA's driver.

mod bank;
pub(super) mod images;
pub(super) mod queries;
mod shader;

use bank::Bank;
use images::Images;
use warploom_container::Code;
use warploom_guest::LiftError;
use warploom_ir::{Function, Service};
use warploom_maxwell::lift::{Kernel, fidelity, lift_kernel, service};
use warploom_maxwell::{WORD_BYTES, code, driver};
use warploom_runtime::launch::ConstBank;
use warploom_runtime::memory::Memory;
use warploom_runtime::window::Windows;

use super::{Environment, Guest, Image, Launching, Lifting, Placed};
use crate::images::{ImageDescription, Texture};
use crate::{Arg, Error, FidelityClass, ImagePool};

/// Stack for calls whose depth the compiler could not know, in bytes per lane: the driver's
/// default.
const CALL_STACK_BYTES: u32 = 1024;
/// Alignment of the stack pointer at the start.
const STACK_ALIGN: u32 = 16;

pub(super) struct Maxwell;

impl Guest for Maxwell {
    fn lifts_from_entry(&self) -> bool {
        true
    }

    fn windows(&self) -> Windows {
        Windows::default()
    }

    fn lift(&self, kernel: &Lifting<'_>) -> Result<Function, LiftError> {
        let code = kernel.code;
        let service = |(at, name): &(u64, String)| Some((*at, service::by_name(name)?));
        let services: Vec<(u64, Service)> = code.undefined.iter().filter_map(service).collect();
        let targets: Vec<u64> =
            code.targets.iter().copied().chain(services.iter().map(|&(at, _)| at)).collect();
        let function = kernel.linked.module().function(kernel.kernel);
        let shader = code.header.map(|header| shader::program(function, header));
        // Banks of a graphics program belong to the launch.
        let constants = if shader.is_none() {
            kernel.linked.bank(kernel.kernel, driver::COMPILED)
        } else {
            &[]
        };
        lift_kernel(&Kernel {
            name: &function.name,
            code: &code.bytes,
            entry: code.entry,
            indirect_targets: &targets,
            services: &services,
            discovered: kernel.discovered,
            images: kernel.images,
            constants,
            driver_words: shader.is_none(),
            shader: shader.as_ref(),
        })
    }

    fn instruction(&self, code: &Code, pc: u64) -> Option<Placed> {
        let at = |pc| code::word_at(&code.bytes, pc);
        // Control words lie between instructions.
        let word = at(pc).or_else(|| at(pc.checked_add(WORD_BYTES)?))?;
        let next = word.pc + WORD_BYTES;
        Some(match word.instruction {
            Some(instruction) => Placed {
                pc: word.pc,
                next,
                text: instruction.text(word.pc),
                mnemonic: instruction.mnemonic(),
                class: fidelity(&instruction, word.pc, code.header.as_ref()).into(),
            },
            None => Placed {
                pc: word.pc,
                next,
                text: format!("illegal word {:#018x}", word.word),
                mnemonic: "illegal".into(),
                class: FidelityClass::Illegal,
            },
        })
    }

    fn provides(&self, name: &str) -> bool {
        service::by_name(name).is_some()
    }

    fn environment(&self, launch: &Launching<'_>) -> Result<Environment, Error> {
        let (kernel, options) = (launch.kernel, launch.options);
        let function = kernel.function();
        if let Some(header) = &function.header {
            return shader::environment(launch, header);
        }
        launch.check_block()?;
        let params = launch.params(&launch.bytes()?)?;
        let shared_bytes = launch.shared_bytes_in_vectors()?;
        let stack_bytes = stack_bytes(launch);
        let program = kernel.program;
        let workspace =
            options.cooperative.then(|| grid_workspace(program.memory())).transpose()?;
        let held = workspace.into_iter().collect();
        let bank = Bank {
            windows: program.memory().windows(),
            block: options.block,
            grid: options.grid,
            stack: stack_bytes,
            workspace: workspace.unwrap_or(0),
            constants: program.linked().addresses().constants,
            dynamic_shared: options.shared_bytes,
            param_base: function.param_base,
            params: &params,
        };
        let mut config = launch.config();
        config.shared_bytes = shared_bytes;
        config.local_bytes = stack_bytes;
        let mut content = bank.content(program.bank(kernel.id, 0)?);
        let images = Images::of_code(launch, &content)?;
        for (at, address) in
            images.iter().flat_map(|images| queries::POINTERS.into_iter().zip(images.queries))
        {
            content[at..at + 8].copy_from_slice(&address.to_le_bytes());
        }
        config.constants[0] = Some(ConstBank::new(&content)?);
        for bank in 1..driver::BANKS {
            let content = program.bank(kernel.id, bank)?;
            if !content.is_empty() {
                config.constants[usize::from(bank)] = Some(ConstBank::new(&content)?);
            }
        }
        let Some(images) = images else {
            return Ok(Environment { config, images: vec![], held, lent: vec![], print: None });
        };
        config.constants[usize::from(warploom_guest::images::driver::BANK)] =
            Some(ConstBank::new(&images.bank)?);
        Ok(Environment {
            config,
            images: images.known,
            held,
            lent: vec![images.records],
            print: None,
        })
    }

    fn image(
        &self,
        memory: &Memory,
        name: &str,
        description: &ImageDescription,
    ) -> Result<Image, Error> {
        images::image(memory, name, description)
    }

    fn image_argument(&self, _: &Memory, number: usize, _: &Image) -> Result<Arg, Error> {
        Ok(Arg::from(u64::from(images::handle(number, false))))
    }

    fn handle(&self, number: usize, sampled: bool) -> Option<u32> {
        Some(images::handle(number, sampled))
    }

    fn driver_symbol(&self, name: &str) -> Option<u64> {
        queries::STRIDE_SYMBOLS.contains(&name).then_some(queries::STRIDE)
    }

    fn image_pool(
        &self,
        memory: &Memory,
        images: &[Image],
        textures: &[Texture],
    ) -> Result<Option<ImagePool>, Error> {
        images::pool(memory, images, textures)
    }

    fn captured_pool(
        &self,
        memory: &Memory,
        headers: &[u8],
        samplers: &[u8],
    ) -> Result<ImagePool, Error> {
        images::put_pool(memory, headers, samplers)
    }
}

/// Allocates memory in which the blocks of a cooperative grid meet. It has two words: its size in
/// bytes, and the barrier of `grid.sync()`, which is 0 when the launch begins. Source:
/// `cooperative_groups/details/driver_abi.h` of CUDA 12.
pub(super) fn grid_workspace(memory: &Memory) -> Result<u64, Error> {
    const WORDS: [u32; 2] = [8, 0];
    let address = memory.alloc(size_of_val(&WORDS) as u64, 8)?;
    memory.write(address, &WORDS[0].to_le_bytes())?;
    Ok(address)
}

/// Returns the local memory of a lane: the bytes that the compiler counted, and a stack if there is
/// anything to call.
fn stack_bytes(launch: &Launching<'_>) -> u32 {
    let (kernel, function) = (launch.kernel, launch.kernel.function());
    let counted = function.stack_bytes.unwrap_or(0).max(function.frame_bytes);
    let (module, linked) = (kernel.program.module(), kernel.program.linked());
    let callable =
        |f: &warploom_container::Function| !f.kernel && linked.shares_code(kernel.id, f.section);
    let calls = function.stack_bytes.is_none() || module.functions.iter().any(callable);
    let stack = launch.options.stack_bytes.unwrap_or(if calls { CALL_STACK_BYTES } else { 0 });
    counted.saturating_add(stack).checked_next_multiple_of(STACK_ALIGN).unwrap_or(u32::MAX)
}
