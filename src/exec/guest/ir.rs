//! A function of the IR alone, without instruction set and driver.

use warploom_container::Code;
use warploom_guest::LiftError;
use warploom_ir::{Function, parse};
use warploom_runtime::launch::ConstBank;
use warploom_runtime::window::Windows;

use super::{Environment, Guest, Launching, Lifting, Placed};
use crate::Error;

pub(super) struct Ir;

impl Guest for Ir {
    fn windows(&self) -> Windows {
        Windows::default()
    }

    fn lift(&self, kernel: &Lifting<'_>) -> Result<Function, LiftError> {
        let function = kernel.linked.module().function(kernel.kernel);
        let text = String::from_utf8_lossy(kernel.linked.content(function.section));
        parse::parse(&text)
            .map_err(|error| LiftError::Text { kernel: function.name.clone(), error })
    }

    fn instruction(&self, _: &Code, _: u64) -> Option<Placed> {
        None
    }

    fn provides(&self, _: &str) -> bool {
        false
    }

    /// Prepares a launch. Constant bank 0 holds the arguments, each at a multiple of its size;
    /// local memory is the launch's stack.
    fn environment(&self, launch: &Launching<'_>) -> Result<Environment, Error> {
        let mut bank: Vec<u8> = Vec::new();
        for argument in launch.bytes()? {
            let align = argument.len().next_power_of_two().min(8);
            bank.resize(bank.len().next_multiple_of(align), 0);
            bank.extend(argument);
        }
        let mut config = launch.config();
        config.shared_bytes = launch.shared_bytes(launch.options.shared_bytes)?;
        config.local_bytes = launch.options.stack_bytes.unwrap_or(0);
        config.constants[0] = Some(ConstBank::new(&bank)?);
        Ok(Environment::new(config))
    }
}
