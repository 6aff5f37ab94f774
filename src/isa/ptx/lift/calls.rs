//! Arguments and return values of calls. Parameters in memory are bytes of the lane's local memory,
//! where both caller and callee find them.

use warploom_guest::divergence::Mask;
use warploom_ir::{Access, Extend, Service, Space, Type, Value};

use super::context::{Cell, Cx, int_type};
use super::graph::Call;
use super::{VariableAddresses, driver, service};
use crate::module::{AddressOf, Formal, Function, Operand, VariableId};
use crate::types::{Kind, Ty};

/// Bytes that each argument of a service takes.
const SERVICE_WORD: u32 = 8;

/// A place in the lane's local memory: an address, and a constant to add.
pub type CallSite = (Value, i32);

/// A function at the time of a call.
#[derive(Clone, Copy)]
pub struct Callee<'a> {
    pub function: &'a Function,
    pub places: &'a VariableAddresses,
    /// The cells of the callee's registers.
    pub cells: &'a [Cell],
    /// The start of the callee's frame, if it has its own. Otherwise it is part of the caller's
    /// frame, and parameters in memory stay in the caller's places.
    pub frame: Option<CallSite>,
}

impl Callee<'_> {
    fn place(&self, cx: &mut Cx<'_>, id: VariableId) -> CallSite {
        let place = self.places.variable(id) as u32;
        match self.frame {
            Some((frame, offset)) => (frame, offset.wrapping_add(place as i32)),
            None if self.places.is_in_frame(id) => (cx.frame(), place as i32),
            None => cx.fixed_place(place),
        }
    }
}

/// A value that a call moves.
enum Moved {
    Bits(Value),
    Lanes(Mask),
    Bytes(VariableId),
}

/// Moves arguments to the callee's places, unless they are there already.
pub fn pass_arguments(cx: &mut Cx<'_>, call: &Call<'_>, callee: Callee<'_>) {
    // Read all before writing one: a function that calls itself passes its own parameters on.
    let formals = callee.function.inputs.iter().zip(call.arguments);
    let read: Vec<(Formal, Moved)> = formals
        .map(|(&formal, actual)| {
            let moved = match (formal, actual) {
                (Formal::Param(_), &Operand::Symbol(AddressOf::Variable(id), 0)) => {
                    Moved::Bytes(id)
                }
                (Formal::Param(id), actual) => {
                    Moved::Bits(cx.bits(actual, cx.module.variable(id).ty))
                }
                (Formal::Reg(_, ty), actual) if ty.kind() == Kind::Pred => {
                    Moved::Lanes(cx.pred(actual))
                }
                (Formal::Reg(_, ty), actual) => Moved::Bits(argument(cx, actual, ty)),
            };
            (formal, moved)
        })
        .collect();
    for (formal, moved) in read {
        match (formal, moved) {
            (Formal::Param(id), Moved::Bytes(actual)) if callee.frame.is_some() => {
                let (from, to) = (cx.local_place(actual), callee.place(cx, id));
                let bytes = cx.module.variable(id).size.min(cx.module.variable(actual).size);
                copy(cx, from, to, bytes);
            }
            (Formal::Param(id), Moved::Bits(value)) => {
                let to = callee.place(cx, id);
                store(cx, to, value);
            }
            (Formal::Reg(register, ty), Moved::Bits(value)) => {
                cx.set_cell(callee.cells[register.0 as usize], ty, value);
            }
            (Formal::Reg(register, _), Moved::Lanes(value)) => {
                cx.set_cell_pred(callee.cells[register.0 as usize], value);
            }
            _ => {}
        }
    }
}

/// Returns an argument or return value as bits of a type.
fn argument(cx: &mut Cx<'_>, actual: &Operand, ty: Ty) -> Value {
    match *actual {
        Operand::Symbol(AddressOf::Variable(id), 0) => {
            let place = cx.local_place(id);
            load(cx, place, int_type(ty.bits()))
        }
        _ => cx.bits(actual, ty),
    }
}

/// Return values that are in the callee's registers.
pub struct Given(Vec<Option<Moved>>);

/// Reads the return values, before the caller's registers are restored.
pub fn given(cx: &mut Cx<'_>, callee: Callee<'_>) -> Given {
    let outputs = callee.function.outputs.iter();
    Given(
        outputs
            .map(|formal| match *formal {
                Formal::Param(_) => None,
                Formal::Reg(register, ty) if ty.kind() == Kind::Pred => {
                    Some(Moved::Lanes(cx.cell_pred(callee.cells[register.0 as usize])))
                }
                Formal::Reg(register, ty) => {
                    Some(Moved::Bits(cx.cell_value(callee.cells[register.0 as usize], ty)))
                }
            })
            .collect(),
    )
}

/// Moves return values to the operands of the call.
pub fn take_returns(cx: &mut Cx<'_>, call: &Call<'_>, callee: Callee<'_>, given: Given) {
    for ((formal, actual), moved) in callee.function.outputs.iter().zip(call.returns).zip(given.0) {
        match (*formal, actual, moved) {
            // Without a frame, the value is there already.
            (Formal::Param(id), &Operand::Symbol(AddressOf::Variable(actual), _), _)
                if callee.frame.is_some() =>
            {
                let (from, to) = (callee.place(cx, id), cx.local_place(actual));
                let bytes = cx.module.variable(id).size.min(cx.module.variable(actual).size);
                copy(cx, from, to, bytes);
            }
            (Formal::Param(_), &Operand::Symbol(AddressOf::Variable(_), _), _) => {}
            (Formal::Param(id), actual, _) => {
                let ty = cx.module.variable(id).ty;
                let from = callee.place(cx, id);
                let value = load(cx, from, int_type(ty.bits()));
                cx.set(actual, ty, value);
            }
            (_, actual, Some(Moved::Lanes(value))) => cx.set_pred(actual, value),
            (Formal::Reg(_, ty), actual, Some(Moved::Bits(value))) => give(cx, actual, ty, value),
            _ => {}
        }
    }
}

fn give(cx: &mut Cx<'_>, actual: &Operand, ty: Ty, value: Value) {
    match *actual {
        Operand::Symbol(AddressOf::Variable(id), _) => {
            let place = cx.local_place(id);
            store(cx, place, value);
        }
        _ => cx.set(actual, ty, value),
    }
}

/// Stores the arguments of a service where the host finds them.
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

/// Moves the result of a service to the operand of the call.
pub fn take_answer(cx: &mut Cx<'_>, call: &Call<'_>) {
    let bytes = match call.callee {
        &Operand::Symbol(AddressOf::Function(id), _) => {
            warploom_guest::service::by_name(&cx.module.function(id).name)
                .map_or(0, service::result)
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

/// Stores 8 to 64 bits at a place in local memory.
pub fn store(cx: &mut Cx<'_>, (address, offset): CallSite, value: Value) {
    let ty = cx.b.ty(value).ty.as_int();
    let value = cx.cast(ty, value);
    if ty == Type::I64 {
        let (low, high) = (cx.b.trunc(Type::I32, value), cx.b.high_half(value));
        let access =
            Access { align: 4, ..cx.b.access(Space::Local, Type::I32, 2, address, offset) };
        return cx.b.store_access(access, &[low, high]);
    }
    cx.b.store(Space::Local, ty, address, offset, value);
}

/// Loads the bits of a type from a place in local memory.
pub fn load(cx: &mut Cx<'_>, (address, offset): CallSite, ty: Type) -> Value {
    if ty == Type::I64 {
        let access =
            Access { align: 4, ..cx.b.access(Space::Local, Type::I32, 2, address, offset) };
        let words = cx.b.load_access(access, Extend::None);
        return cx.b.concat(words[0], words[1]);
    }
    cx.b.load(Space::Local, ty, Extend::None, address, offset)
}

/// Copies bytes of local memory between places that are multiples of 4.
fn copy(cx: &mut Cx<'_>, from: CallSite, to: CallSite, bytes: u64) {
    let at = |place: CallSite, n: u64| (place.0, place.1.wrapping_add(n as i32));
    let words = bytes / 4;
    for n in 0..words {
        let value = load(cx, at(from, 4 * n), Type::I32);
        store(cx, at(to, 4 * n), value);
    }
    for n in 4 * words..bytes {
        let value = load(cx, at(from, n), Type::I8);
        store(cx, at(to, n), value);
    }
}
