//! NVIDIA Turing, Ampere and Ada: constant banks, a stack in local memory, and the functions of
//! CUDA's driver.

use warploom_container::{Code, Module, Symbol};
use warploom_guest::{LiftError, service};
use warploom_ir::Function;
use warploom_runtime::window::Windows;
use warploom_sass::lift::context::{BANKS, COMPILED};
use warploom_turing::check;
use warploom_turing::driver::{RESERVED_SHARED, word};
use warploom_turing::field::Field;
use warploom_turing::lift::{Kernel, fidelity, lift_kernel};
use warploom_turing::{Instruction, WORD_BYTES, word_at};

use super::nvidia::images::{Driver, Images};
use super::nvidia::{self, grid_workspace, queries, stack_bytes};
use super::{Environment, Guest, ImageDriver, Launching, Lifting, Placed, Purpose};
use crate::Error;

/// Code of `system_calls.ptx` for each generation.
const SYSTEM_CALLS: [&[u8]; 2] =
    [include_bytes!("system_calls.sm_75.cubin"), include_bytes!("system_calls.sm_80.cubin")];
/// The beginning of the names of its functions.
const SYSTEM_CALL: &str = "__cuda_syscall_CGS_";

pub(super) struct Turing {
    /// The number of the GPU's model, as 75 in `sm_75`.
    pub model: u8,
}

/// Returns the guest of a model.
pub(super) fn of(sm: u32) -> &'static Turing {
    match sm {
        75 => &Turing { model: 75 },
        80 => &Turing { model: 80 },
        86 | 87 => &Turing { model: 86 },
        89 => &Turing { model: 89 },
        _ => &Turing { model: 90 },
    }
}

impl Guest for Turing {
    fn lifts_from_entry(&self) -> bool {
        true
    }

    fn windows(&self) -> Windows {
        Windows::default()
    }

    fn lift(&self, kernel: &Lifting<'_>) -> Result<Function, LiftError> {
        self.to_lift(kernel, lift_kernel)
    }

    fn check_waits(&self, kernel: &Lifting<'_>) -> Option<Result<Vec<String>, LiftError>> {
        Some(self.to_lift(kernel, check::report))
    }

    fn instruction(&self, code: &Code, pc: u64) -> Option<Placed> {
        let word = word_at(&code.bytes, pc)?;
        let next = pc + WORD_BYTES;
        Some(match Instruction::decode(word, self.model) {
            Some(instruction) => Placed {
                pc,
                next,
                text: instruction.text(pc),
                mnemonic: instruction.mnemonic(),
                class: fidelity(&instruction, pc).into(),
            },
            None => Placed::illegal(pc, next, word, 32),
        })
    }

    fn provides(&self, name: &str) -> bool {
        service::by_name(name).is_some()
    }

    fn environment(&self, launch: &Launching<'_>) -> Result<Environment, Error> {
        let (kernel, options) = (launch.kernel, launch.options);
        launch.check_block()?;
        let params = launch.params(&launch.bytes()?)?;
        let program = kernel.program;
        let workspace =
            options.cooperative.then(|| grid_workspace(program.memory())).transpose()?;
        let mut config = launch.config();
        config.shared_bytes = launch.shared_bytes_in_vectors()?;
        config.local_bytes = stack_bytes(launch);
        let mut content = bank(launch, &params, workspace.unwrap_or(0), config.local_bytes)?;
        let reserves = program.reserves_shared(kernel.id, |code| names_reserved(code, self.model));
        if self.model >= 80 && reserves {
            let own = nvidia::total_shared(self.model.into(), config.shared_bytes);
            config.shared_bytes = own.saturating_add(RESERVED_SHARED);
            for (at, value) in [
                (word::RESERVED_BYTES, RESERVED_SHARED),
                (word::RESERVED_END, config.shared_bytes),
                (word::RESERVED_SECOND, own),
            ] {
                content[at as usize..][..4].copy_from_slice(&value.to_le_bytes());
            }
        }
        let find = |code: &Code| handles(code, self.model);
        let images = Images::of_code(launch, &content, find)?;
        if let Some(images) = &images {
            images.put_queries(&mut content, word::QUERIES);
        }
        nvidia::put_banks(&mut config, kernel, &content, BANKS)?;
        let held = workspace.into_iter().collect();
        nvidia::environment(config, held, vec![], images)
    }

    fn images(&self) -> &dyn ImageDriver {
        &Driver
    }

    fn complete(&self, module: Module) -> Result<Module, Error> {
        let calls =
            |symbol: &Symbol| symbol.section.is_none() && symbol.name.starts_with(SYSTEM_CALL);
        if !module.symbols.iter().any(calls) {
            return Ok(module);
        }
        let code = SYSTEM_CALLS[usize::from(self.model >= 80)];
        let own = warploom_container::cubin::parse(code)?;
        Ok(warploom_container::merge([("the program", module), ("the driver", own)])?)
    }

    fn driver_symbol(&self, name: &str) -> Option<u64> {
        queries::symbol(name)
    }
}

impl Turing {
    /// Calls a function with the kernel in the form that lifting takes.
    fn to_lift<T>(&self, kernel: &Lifting<'_>, then: impl FnOnce(&Kernel<'_>) -> T) -> T {
        let code = kernel.code;
        let services = nvidia::services(code);
        let function = kernel.linked.module().function(kernel.kernel);
        // Kernels are launched, not called.
        let targets: Vec<u64> =
            code.targets.iter().copied().filter(|&target| target != code.entry).collect();
        then(&Kernel {
            name: &function.name,
            model: self.model,
            code: &code.bytes,
            entry: code.entry,
            targets: &targets,
            services: &services,
            images: kernel.images,
            constants: kernel.linked.bank(kernel.kernel, COMPILED),
            observed: kernel.purpose == Purpose::Checks,
        })
    }
}

/// Returns the byte offsets in bank 0 of the handles that instructions name, or `None` if no
/// instruction uses an image.
fn handles(code: &Code, model: u8) -> Option<Vec<u32>> {
    let words = (0..).map_while(|n| word_at(&code.bytes, n * WORD_BYTES));
    let uses = |word| {
        let instruction = Instruction::decode(word, model)?;
        instruction.opcode().uses_images().then_some(instruction)
    };
    let mut uses = words.filter_map(uses).peekable();
    uses.peek()?;
    let handle = |instruction: Instruction| {
        let word = instruction.field(Field::handle)?;
        (instruction.field(Field::bank) == Some(0)).then_some(word as u32 * 4)
    };
    Some(uses.filter_map(handle).collect())
}

/// Whether code names the system's part of shared memory.
fn names_reserved(code: &Code, model: u8) -> bool {
    let operands = [word::RESERVED_BYTES, word::RESERVED_END, word::RESERVED_SECOND]
        .map(|at| format!("c[0x0][{at:#x}]"));
    let mut words = (0..).map_while(|n| word_at(&code.bytes, n * WORD_BYTES));
    words.any(|word| {
        let text = Instruction::decode(word, model).map(|instruction| instruction.text(0));
        text.is_some_and(|text| operands.iter().any(|operand| text.contains(operand)))
    })
}

/// Returns constant bank 0.
fn bank(
    launch: &Launching<'_>,
    params: &[u8],
    workspace: u64,
    stack: u32,
) -> Result<Vec<u8>, Error> {
    let (kernel, options) = (launch.kernel, launch.options);
    let (program, function) = (kernel.program, kernel.function());
    let param_base = function.param_base.max(word::FIRST_PARAM);
    let mut content = program.bank(kernel.id, 0)?;
    let end = param_base as usize + params.len();
    content.resize(content.len().max(end), 0);
    let mut put =
        |at: u32, bytes: &[u8]| content[at as usize..][..bytes.len()].copy_from_slice(bytes);
    for (axis, (block, grid)) in (0..).zip(options.block.iter().zip(&options.grid)) {
        put(word::NTID + 4 * axis, &block.to_le_bytes());
        put(word::NCTAID + 4 * axis, &grid.to_le_bytes());
    }
    let windows = program.memory().windows();
    put(word::SHARED_WINDOW, &windows.shared.to_le_bytes());
    put(word::LOCAL_WINDOW, &windows.local.to_le_bytes());
    put(word::STACK, &stack.to_le_bytes());
    put(word::DYNAMIC_SHARED, &options.shared_bytes.to_le_bytes());
    put(word::CONSTANTS, &program.linked().addresses().constants.to_le_bytes());
    put(word::WORKSPACE, &((workspace >> 32) as u32).to_le_bytes());
    put(word::WORKSPACE + 4, &(workspace as u32).to_le_bytes());
    put(word::MULTIPROCESSORS, &1_u32.to_le_bytes());
    put(param_base, params);
    Ok(content)
}
