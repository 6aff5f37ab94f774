//! NVIDIA Maxwell: constant banks, a stack in local memory, the functions of CUDA's driver.

use warploom_runtime::launch::ConstBank;
use warploom_runtime::window::Windows;

use super::bank::Bank;
use super::{Environment, Guest, Launching, Lifting, Placed};
use crate::container::{self, Code};
use crate::exec::{Error, FidelityClass};
use crate::ir::{Function, Service};
use crate::isa::LiftError;
use crate::isa::maxwell::lift::{Kernel, lift_kernel, service};
use crate::isa::maxwell::{WORD_BYTES, code};

/// Stack for calls whose depth the compiler could not know, in bytes per lane: the driver's default.
const CALL_STACK_BYTES: u32 = 1024;
/// Alignment of the stack pointer at the start.
const STACK_ALIGN: u32 = 16;
/// Constant banks a kernel may read.
const BANKS: u8 = 18;

pub(super) struct Maxwell;

impl Guest for Maxwell {
    fn windows(&self) -> Windows {
        Windows::default()
    }

    fn lift(&self, kernel: &Lifting<'_>) -> Result<Function, LiftError> {
        let code = kernel.code;
        let service = |(at, name): &(u64, String)| Some((*at, service::by_name(name)?));
        let services: Vec<(u64, Service)> = code.undefined.iter().filter_map(service).collect();
        let targets: Vec<u64> = code.targets.iter().copied().chain(services.iter().map(|&(at, _)| at)).collect();
        lift_kernel(&Kernel {
            name: &kernel.linked.module().function(kernel.kernel).name,
            code: &code.bytes,
            entry: code.entry,
            indirect_targets: &targets,
            services: &services,
            discovered: kernel.discovered,
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
                class: instruction.fidelity().into(),
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
        launch.check_block()?;
        let params = launch.params(&launch.bytes()?)?;
        let shared_bytes = launch.shared_bytes(options.shared_bytes)?;
        let stack_bytes = stack_bytes(launch);
        let program = kernel.program;
        let bank = Bank {
            windows: program.memory().windows(),
            block: options.block,
            grid: options.grid,
            stack: stack_bytes,
            constants: program.linked().addresses().constants,
            dynamic_shared: options.shared_bytes,
            param_base: function.param_base,
            params: &params,
        };
        let mut config = launch.config();
        config.shared_bytes = shared_bytes;
        config.local_bytes = stack_bytes.saturating_add(launch.service_bytes);
        config.constants[0] = Some(ConstBank::new(&bank.content(program.bank(kernel.id, 0)))?);
        for bank in 1..BANKS {
            let content = program.bank(kernel.id, bank);
            if !content.is_empty() {
                config.constants[usize::from(bank)] = Some(ConstBank::new(&content)?);
            }
        }
        Ok(Environment { config, held: vec![], lent: None, print: None })
    }
}

/// Local memory of a lane: what the compiler counted, and a stack if there is anything to call.
fn stack_bytes(launch: &Launching<'_>) -> u32 {
    let (kernel, function) = (launch.kernel, launch.kernel.function());
    let counted = function.stack_bytes.unwrap_or(0).max(function.frame_bytes);
    let (module, linked) = (kernel.program.module(), kernel.program.linked());
    let callable = |f: &container::Function| !f.kernel && linked.shares_code(kernel.id, f.section);
    let calls = function.stack_bytes.is_none() || module.functions.iter().any(callable);
    let stack = launch.options.stack_bytes.unwrap_or(if calls { CALL_STACK_BYTES } else { 0 });
    counted.saturating_add(stack).checked_next_multiple_of(STACK_ALIGN).unwrap_or(u32::MAX)
}
