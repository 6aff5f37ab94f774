//! vISA: it is read and listed, but not executed yet.

use warploom_runtime::window::Windows;

use super::{Environment, Guest, Launching, Lifting, Placed};
use crate::container::Code;
use crate::exec::Error;
use crate::ir::Function;
use crate::isa::LiftError;

pub(super) struct Visa;

impl Guest for Visa {
    fn windows(&self) -> Windows {
        Windows::default()
    }

    fn lift(&self, kernel: &Lifting<'_>) -> Result<Function, LiftError> {
        let function = kernel.linked.module().function(kernel.kernel);
        Err(LiftError::NotLifted { kernel: function.name.clone() })
    }

    fn instruction(&self, _: &Code, _: u64) -> Option<Placed> {
        None
    }

    fn provides(&self, _: &str) -> bool {
        false
    }

    fn environment(&self, launch: &Launching<'_>) -> Result<Environment, Error> {
        Ok(Environment { config: launch.config(), images: vec![], held: vec![], lent: None, print: None })
    }
}
