//! What calls pass and give back. Parameters in memory are bytes of the lane's local memory, where caller and callee both find them.

use crate::ir::{Extend, Service, Space, Type, Value};
use crate::isa::ptx::module::{AddressOf, Formal, Function, Operand};
use crate::isa::ptx::types::{Kind, Ty};

use super::context::{Cell, Cx, int_type};
use super::graph::Call;
use super::{Places, driver, service};

/// An argument's place of a service.
const SERVICE_WORD: u32 = 8;

/// Moves arguments to where the callee finds them, those that are not there already.
pub fn pass_arguments(cx: &mut Cx<'_>, call: &Call<'_>, callee: &Function, places: &Places, cells: &[Cell]) {
    for (formal, actual) in callee.inputs.iter().zip(call.arguments) {
        match (*formal, actual) {
            (Formal::Param(_), Operand::Symbol(AddressOf::Variable(_), 0)) => {}
            (Formal::Param(id), actual) => {
                let ty = cx.module.variable(id).ty;
                let value = cx.bits(actual, ty);
                store(cx, places.variable(id), value);
            }
            (Formal::Reg(register, ty), actual) => {
                let cell = cells[register.0 as usize];
                if ty.kind() == Kind::Pred {
                    let value = cx.pred(actual);
                    cx.set_cell_pred(cell, value);
                    continue;
                }
                let value = argument(cx, actual, ty);
                cx.set_cell(cell, ty, value);
            }
        }
    }
}

/// An argument or return value as bits of a type.
fn argument(cx: &mut Cx<'_>, actual: &Operand, ty: Ty) -> Value {
    match *actual {
        Operand::Symbol(AddressOf::Variable(id), 0) => {
            let place = cx.places.variable(id);
            load(cx, place, int_type(ty.bits()))
        }
        _ => cx.bits(actual, ty),
    }
}

/// Moves return values to where the call wants them.
pub fn take_returns(cx: &mut Cx<'_>, call: &Call<'_>, callee: &Function, places: &Places, cells: &[Cell]) {
    for (formal, actual) in callee.outputs.iter().zip(call.returns) {
        match (*formal, actual) {
            (Formal::Param(_), Operand::Symbol(..)) => {}
            (Formal::Param(id), actual) => {
                let ty = cx.module.variable(id).ty;
                let value = load(cx, places.variable(id), int_type(ty.bits()));
                cx.set(actual, ty, value);
            }
            (Formal::Reg(register, ty), actual) => {
                let cell = cells[register.0 as usize];
                if ty.kind() == Kind::Pred {
                    let value = cx.cell_pred(cell);
                    cx.set_pred(actual, value);
                    continue;
                }
                let value = cx.cell_value(cell, ty);
                give(cx, actual, ty, value);
            }
        }
    }
}

fn give(cx: &mut Cx<'_>, actual: &Operand, ty: Ty, value: Value) {
    match *actual {
        Operand::Symbol(AddressOf::Variable(id), _) => {
            let place = cx.places.variable(id);
            store(cx, place, value);
        }
        _ => cx.set(actual, ty, value),
    }
}

/// Puts the arguments of a service where the host finds them.
pub fn ask(cx: &mut Cx<'_>, call: &Call<'_>, service: Service) {
    let end = cx.driver(driver::LOCAL_END, Type::I32);
    for ((actual, &bytes), n) in call.arguments.iter().zip(service::arguments(service)).zip(0..) {
        let value = argument(cx, actual, if bytes == 8 { Ty::B64 } else { Ty::B32 });
        let value = cx.resize(value, Type::I64, false);
        let (low, high) = (cx.b.trunc(Type::I32, value), cx.b.high_half(value));
        let address = cx.b.splat(end);
        let access = cx.b.access(Space::Local, Type::I32, 2, address, (n * SERVICE_WORD) as i32);
        cx.b.store_access(access, &[low, high]);
    }
}

/// Takes what a service has answered.
pub fn take_answer(cx: &mut Cx<'_>, call: &Call<'_>) {
    let bytes = match call.callee {
        &Operand::Symbol(AddressOf::Function(id), _) => {
            service::by_name(&cx.module.function(id).name).map_or(0, service::result)
        }
        _ => 0,
    };
    let Some(actual) = call.returns.first().filter(|_| bytes > 0) else { return };
    let end = cx.driver(driver::LOCAL_END, Type::I32);
    let address = cx.b.splat(end);
    let mut word = |n: i32| cx.b.load(Space::Local, Type::I32, Extend::None, address, 4 * n);
    let low = word(0);
    let (ty, value) = match bytes {
        4 => (Ty::B32, low),
        _ => {
            let high = word(1);
            (Ty::B64, cx.b.concat(low, high))
        }
    };
    give(cx, actual, ty, value);
}

/// Stores 8 to 64 bits at a fixed place of local memory.
fn store(cx: &mut Cx<'_>, place: u64, value: Value) {
    let address = cx.word(place as u32);
    let address = cx.b.splat(address);
    let ty = cx.b.ty(value).ty.as_int();
    let value = cx.cast(ty, value);
    if ty == Type::I64 {
        let (low, high) = (cx.b.trunc(Type::I32, value), cx.b.high_half(value));
        let access = crate::ir::Access { align: 4, ..cx.b.access(Space::Local, Type::I32, 2, address, 0) };
        return cx.b.store_access(access, &[low, high]);
    }
    cx.b.store(Space::Local, ty, address, 0, value);
}

/// Loads as many bits from there.
fn load(cx: &mut Cx<'_>, place: u64, ty: Type) -> Value {
    let address = cx.word(place as u32);
    let address = cx.b.splat(address);
    if ty == Type::I64 {
        let access = crate::ir::Access { align: 4, ..cx.b.access(Space::Local, Type::I32, 2, address, 0) };
        let words = cx.b.load_access(access, Extend::None);
        return cx.b.concat(words[0], words[1]);
    }
    cx.b.load(Space::Local, ty, Extend::None, address, 0)
}
