//! NVIDIA Maxwell: constant banks, a stack in local memory, and the functions of CUDA's driver.

mod bank;
mod shader;

use bank::Bank;
use warploom_container::Code;
use warploom_guest::{LiftError, service};
use warploom_ir::Function;
use warploom_maxwell::field::Field;
use warploom_maxwell::lift::{Kernel, fidelity, lift_kernel};
use warploom_maxwell::{WORD_BYTES, code, driver};
use warploom_runtime::window::Windows;

use super::nvidia::images::{Driver, Images};
use super::nvidia::{self, grid_workspace, queries, stack_bytes};
use super::{Environment, Guest, ImageDriver, Launching, Lifting, Placed, Purpose};
use crate::Error;

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
        let services = nvidia::services(code);
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
            observed: kernel.purpose == Purpose::Checks,
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
            None => Placed::illegal(word.pc, next, word.word, 16),
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
        let images = Images::of_code(launch, &content, handles)?;
        if let Some(images) = &images {
            images.put_queries(&mut content, driver::word::QUERIES);
        }
        nvidia::put_banks(&mut config, kernel, &content, driver::BANKS)?;
        nvidia::environment(config, held, vec![], images)
    }

    fn images(&self) -> &dyn ImageDriver {
        &Driver
    }

    fn driver_symbol(&self, name: &str) -> Option<u64> {
        queries::symbol(name)
    }
}

/// Returns the byte offsets in bank 0 of the handles that instructions name, or `None` if no
/// instruction uses an image.
fn handles(code: &Code) -> Option<Vec<u32>> {
    let mut handles = Vec::new();
    let mut used = false;
    for word in code::words(&code.bytes) {
        let Some(instruction) = word.instruction else { continue };
        let opcode = instruction.opcode();
        let word = if opcode.is_surface_access() {
            instruction.c().imm()
        } else if opcode.is_texture_access() {
            instruction.field(Field::handle)
        } else {
            continue;
        };
        used = true;
        handles.extend(word.map(|word| word as u32 * 4));
    }
    used.then_some(handles)
}
