//! Registers whose value is the same wherever they are read, and made again there: parameters of the kernel, thread indices and the like,
//! constants. What is the same in all lanes stays so in every block then.

use rustc_hash::FxHashMap;

use crate::ir::Type;
use crate::isa::ptx::module::{
    Address, AddressOf, Base, Body, Formal, Function, FunctionId, Module, Operand, Register, SpecialRegister, Statement,
};
use crate::isa::ptx::types::{Kind, Ty};
use crate::isa::ptx::word::Word;

use super::graph::Call;
use super::{Places, uses};

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Known {
    /// Bytes from the start of the kernel's parameters.
    Parameter(u64, Type),
    Special(SpecialRegister),
    Constant(u64),
    /// What another register is; not among those that are given.
    Copy(Register),
}

impl Known {
    /// The name of a handle of an image that it may be.
    pub fn handle(self) -> Option<u32> {
        match self {
            Known::Parameter(at, Type::I64) => u32::try_from(at).ok(),
            _ => None,
        }
    }
}

/// What is known of the registers of each function.
pub type KnownOf = FxHashMap<FunctionId, Vec<Option<Known>>>;

/// Of each register of a function, if it is written once, by a statement without a guard. `places` has the offsets of the kernel's
/// parameters.
pub fn known(module: &Module, function: FunctionId, places: &Places) -> Vec<Option<Known>> {
    let function = module.function(function);
    let Some(body) = &function.body else { return vec![] };
    let mut writes = vec![0_u32; body.registers.len()];
    for formal in function.inputs.iter().chain(&function.outputs) {
        if let Formal::Reg(register, _) = *formal {
            writes[register.0 as usize] += 1;
        }
    }
    let mut found = vec![None; body.registers.len()];
    for statement in &body.statements {
        let mut count = |register: Register| writes[register.0 as usize] += 1;
        if let Some(call) = Call::of(statement) {
            call.returns.iter().for_each(|operand| {
                if let Operand::Register(register) = *operand {
                    count(register);
                }
            });
        }
        uses::each(module, statement, &mut |register, written| {
            if written {
                count(register);
            }
        });
        if let (None, Some(&Operand::Register(register))) = (statement.guard, statement.operands.first()) {
            found[register.0 as usize] = of(module, function, body, statement, register, places);
        }
    }
    found.iter_mut().zip(writes).for_each(|(found, writes)| *found = found.filter(|_| writes == 1));
    let known = |mut one: Option<Known>| {
        // Copies of copies are few.
        for _ in 0..4 {
            match one {
                Some(Known::Copy(from)) => one = found[from.0 as usize],
                _ => return one,
            }
        }
        None
    };
    found.iter().map(|&one| known(one)).collect()
}

fn of(
    module: &Module,
    function: &Function,
    body: &Body,
    statement: &Statement,
    register: Register,
    places: &Places,
) -> Option<Known> {
    let form = module.form(statement.form);
    let declared = body.registers[register.0 as usize].ty;
    let bits = declared.bits();
    if declared.kind() == Kind::Pred || !matches!(bits, 32 | 64) {
        return None;
    }
    let ty = if bits == 32 { Type::I32 } else { Type::I64 };
    let source = statement.operands.get(1)?;
    match (form.row.opcode, source) {
        ("ld", &Operand::Address(Address { base: Base::Symbol(AddressOf::Variable(id)), offset, index: None }))
            if function.kernel && form.has(Word::Param) && form.ty(0).bits() == bits && form.vector() == 1 =>
        {
            let is_formal = function.inputs.contains(&Formal::Param(id));
            let inside = offset >= 0 && offset as u64 + u64::from(bits / 8) <= module.variable(id).size;
            (is_formal && inside).then(|| Known::Parameter(places.variable(id) + offset as u64, ty))
        }
        ("mov", &Operand::Special(special)) if bits == 32 => {
            use SpecialRegister as S;
            let fixed = matches!(special, S::Tid(_) | S::Ntid(_) | S::Ctaid(_) | S::Nctaid(_) | S::LaneId);
            fixed.then_some(Known::Special(special))
        }
        ("mov", &Operand::Integer(value))
            if matches!(form.ty(0), Ty::B32 | Ty::U32 | Ty::S32 | Ty::B64 | Ty::U64 | Ty::S64) =>
        {
            Some(Known::Constant(value))
        }
        // Global addresses are generic ones.
        ("cvta.to" | "cvta", &Operand::Register(from)) if form.has(Word::Global) && form.ty(0).bits() == bits => {
            (body.registers[from.0 as usize].ty.bits() == bits).then_some(Known::Copy(from))
        }
        _ => None,
    }
}
