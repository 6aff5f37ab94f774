//! The functions that CUDA's driver provides to device code. A stand-in of a function is lifted as
//! an instruction that asks the host and an instruction that returns.
//!
//! Source: facts, `maxwell.md`, "Launch environment": arguments from R4 on, 64-bit arguments in
//! even pairs, the result in R4.

use warploom_ir::{BankId, BlockBuilder, BlockId, Extend, Service, Space, Type, Value};

/// The size of an argument's place in bytes; then a register's size.
const WORD_BYTES: usize = 8;
const REGISTER_BYTES: usize = 4;
const RESULT: u32 = 4;

/// Returns the first register of each argument, and whether the argument is a pair.
fn arguments(service: Service) -> &'static [(u32, bool)] {
    match service {
        Service::Print => &[(4, true), (6, true)],
        Service::Allocate | Service::Free => &[(4, true)],
        Service::AssertFail => &[(4, true), (6, true), (8, false), (10, true), (12, true)],
        Service::SetConditional => &[(4, true), (6, false)],
    }
}

/// Returns the number of result registers.
fn results(service: Service) -> u32 {
    match service {
        Service::Print => 1,
        Service::Allocate => 2,
        Service::Free | Service::AssertFail | Service::SetConditional => 0,
    }
}

/// Returns the number of registers that a service names: registers 0 to this, exclusive.
pub fn registers(service: Service) -> u32 {
    arguments(service).iter().map(|&(first, _)| first + 2).max().unwrap_or(0)
}

/// The places of arguments and results.
#[derive(Clone, Copy)]
pub struct Frame {
    pub registers: BankId,
    /// The offset in constant bank 0 of the end of a kernel's stack. The host finds arguments behind
    /// that end.
    pub stack_end: u32,
}

impl Frame {
    /// Ends a block with a request to the host. `answered` goes on with the answer.
    pub fn ask(self, b: &mut BlockBuilder<'_>, service: Service, answered: BlockId) {
        let address = self.arguments_at(b);
        for (&(first, pair), place) in arguments(service).iter().zip((0..).step_by(WORD_BYTES)) {
            let low = b.rf_read(self.registers.reg(first));
            let high = if pair {
                b.rf_read(self.registers.reg(first + 1))
            } else {
                b.iconst(Type::I32, 0)
            };
            let access = b.access(Space::Local, Type::I32, 2, address, place);
            b.store_access(access, &[low, high]);
        }
        let lanes = b.read_active();
        b.service(service, lanes, answered);
    }

    /// Reads the answer.
    pub fn take(self, b: &mut BlockBuilder<'_>, service: Service) {
        let address = self.arguments_at(b);
        for (n, place) in (0..results(service)).zip((0..).step_by(REGISTER_BYTES)) {
            let word = b.load(Space::Local, Type::I32, Extend::None, address, place);
            b.rf_write(self.registers.reg(RESULT + n), word);
        }
    }

    /// Returns the address of the arguments in each lane's local memory.
    fn arguments_at(self, b: &mut BlockBuilder<'_>) -> Value {
        let end = b.load_const(0, self.stack_end, Type::I32);
        b.splat(end)
    }
}
