//! The functions that CUDA's driver provides to device code. Their stand-ins are lifted as an instruction that asks the host
//! and one that returns.
//!
//! Source: facts, `maxwell.md`, "Launch environment": arguments from R4 on, 64-bit ones in even pairs, the result in R4.

use warploom_ir::{BlockBuilder, BlockId, Extend, Service, Space, Type, Value};

use super::context::Banks;

/// Offset in constant bank 0 at which a kernel finds the end of its stack; behind that is where the host finds arguments.
pub const STACK_END: u32 = crate::driver::word::STACK;
/// An argument's place, and a register's.
const WORD_BYTES: usize = 8;
const REGISTER_BYTES: usize = 4;
const RESULT: u32 = 4;

/// The service that an undefined function of this name is.
pub fn by_name(name: &str) -> Option<Service> {
    match name {
        "vprintf" => Some(Service::Print),
        "malloc" => Some(Service::Allocate),
        "free" => Some(Service::Free),
        "__assertfail" => Some(Service::AssertFail),
        "cudaGraphSetConditional" => Some(Service::SetConditional),
        _ => None,
    }
}

/// First registers of the arguments, and whether each is a pair.
fn arguments(service: Service) -> &'static [(u32, bool)] {
    match service {
        Service::Print => &[(4, true), (6, true)],
        Service::Allocate | Service::Free => &[(4, true)],
        Service::AssertFail => &[(4, true), (6, true), (8, false), (10, true), (12, true)],
        Service::SetConditional => &[(4, true), (6, false)],
    }
}

/// Registers of the result.
fn results(service: Service) -> u32 {
    match service {
        Service::Print => 1,
        Service::Allocate => 2,
        Service::Free | Service::AssertFail | Service::SetConditional => 0,
    }
}

/// Registers 0 to this, exclusive, are named.
pub fn registers(service: Service) -> u32 {
    arguments(service).iter().map(|&(first, _)| first + 2).max().unwrap_or(0)
}

/// Ends a block with the question. `answered` then goes on with the answer.
pub fn ask(b: &mut BlockBuilder<'_>, banks: Banks, service: Service, answered: BlockId) {
    let address = arguments_at(b);
    for (&(first, pair), place) in arguments(service).iter().zip((0..).step_by(WORD_BYTES)) {
        let low = b.rf_read(banks.registers.reg(first));
        let high =
            if pair { b.rf_read(banks.registers.reg(first + 1)) } else { b.iconst(Type::I32, 0) };
        let access = b.access(Space::Local, Type::I32, 2, address, place);
        b.store_access(access, &[low, high]);
    }
    let lanes = b.read_active();
    b.service(service, lanes, answered);
}

/// Reads the answer.
pub fn take(b: &mut BlockBuilder<'_>, banks: Banks, service: Service) {
    let address = arguments_at(b);
    for (n, place) in (0..results(service)).zip((0..).step_by(REGISTER_BYTES)) {
        let word = b.load(Space::Local, Type::I32, Extend::None, address, place);
        b.rf_write(banks.registers.reg(RESULT + n), word);
    }
}

/// In each lane's local memory.
fn arguments_at(b: &mut BlockBuilder<'_>) -> Value {
    let end = b.load_const(0, STACK_END, Type::I32);
    b.splat(end)
}
