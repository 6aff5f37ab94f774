//! Loads, stores and hints.
//!
//! Source: facts, `ptx.md` 1.4, 1.5, 2.7 and 4. Cache hints have no effect.

use warploom_ir::{Access, Extend, Space, Type, Value, WideOp};
use warploom_runtime::window::WINDOW_BYTES;

use super::context::{Cx, Insn, int_type};
use super::{Lifted, Unsupported, driver};
use crate::module::{Address, AddressOf, Base, Formal, Function, Operand, VariableId};
use crate::table::Form;
use crate::types::{StateSpace, Ty};
use crate::word::Word;

/// The target of an access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AccessTarget {
    /// A varying address, and a constant to add to it.
    Memory { space: Space, address: Value, offset: i32 },
    /// A fixed offset in a constant bank.
    Bank(u8, u32),
}

/// Elements that an access moves, each of an integer type of the IR.
#[derive(Clone, Copy)]
struct Elements {
    ty: Type,
    /// The elements of the access; `per_value` make up one value of PTX.
    count: usize,
    per_value: usize,
}

impl Elements {
    fn new(ty: Ty, values: usize, space: Space) -> Elements {
        let widest = if space == Space::Local { 32 } else { 64 };
        let per_value = (ty.bits() / widest).max(1) as usize;
        Elements { ty: int_type(ty.bits().min(widest)), count: values * per_value, per_value }
    }
}

/// Returns the address of an operand, if it is an address operand.
pub fn address_of(operand: &Operand) -> Option<&Address> {
    match operand {
        Operand::Address(address) => Some(address),
        Operand::Bracket(inner) => inner.first().and_then(address_of),
        _ => None,
    }
}

/// Returns the state space that a form names, or else that of the address. `None` is generic.
fn state_space(cx: &Cx<'_>, form: &Form, address: &Address) -> Option<StateSpace> {
    use Word as W;
    let named = form.one_of(&[
        W::Global,
        W::Shared,
        W::SharedCta,
        W::SharedCluster,
        W::Local,
        W::Const,
        W::Param,
        W::ParamEntry,
        W::ParamFunc,
    ]);
    match named {
        Some(W::Global) => Some(StateSpace::Global),
        Some(W::Shared | W::SharedCta | W::SharedCluster) => Some(StateSpace::Shared),
        Some(W::Local) => Some(StateSpace::Local),
        Some(W::Const) => Some(StateSpace::Const),
        Some(_) => Some(StateSpace::Param),
        None => cx.named_space(address),
    }
}

/// Whether parameters at this address are the kernel's; others are in local memory.
fn of_kernel(cx: &Cx<'_>, form: &Form, address: &Address) -> bool {
    let is_formal = |id: VariableId| {
        let owner = cx.module.variable(id).owner.map(|owner| cx.module.function(owner));
        owner.is_some_and(|owner| owner.kernel && owner.inputs.contains(&Formal::Param(id)))
    };
    match address.base {
        Base::Symbol(AddressOf::Variable(id)) => is_formal(id),
        _ if form.has(Word::ParamFunc) => false,
        _ if form.has(Word::ParamEntry) => true,
        _ => {
            let here = |function: &&Function| {
                function.body.as_ref().is_some_and(|body| std::ptr::eq(body, cx.body()))
            };
            cx.module.functions.iter().find(here).is_some_and(|function| function.kernel)
        }
    }
}

/// Returns the address if it is known and the same in all lanes.
fn fixed(cx: &Cx<'_>, address: &Address) -> Option<u64> {
    match (address.base, address.index) {
        (Base::Symbol(AddressOf::Variable(id)), None) => {
            Some(cx.places.variable(id).wrapping_add(address.offset as u64))
        }
        _ => None,
    }
}

/// Returns an address in a space of the IR, varying: a uniform address would make the access one
/// for the whole warp.
pub fn in_space(cx: &mut Cx<'_>, space: Space, address: &Address) -> AccessTarget {
    let wide = matches!(space, Space::Generic | Space::Global);
    let (base, offset) = cx.address(address, wide);
    let address = cx.b.splat(base);
    AccessTarget::Memory { space, address, offset }
}

/// Returns the target of an instruction's address.
pub fn place(cx: &mut Cx<'_>, form: &Form, address: &Address) -> AccessTarget {
    let bank = match state_space(cx, form, address) {
        None => return in_space(cx, Space::Generic, address),
        Some(StateSpace::Global) => return in_space(cx, Space::Global, address),
        Some(StateSpace::Shared) => return in_space(cx, Space::Shared, address),
        Some(StateSpace::Const) => driver::CONSTANTS,
        Some(StateSpace::Param) if of_kernel(cx, form, address) => driver::PARAMS,
        Some(_) => return in_space(cx, Space::Local, address),
    };
    match fixed(cx, address) {
        Some(at) => AccessTarget::Bank(bank, at as u32),
        None => in_space(cx, Space::Const(bank), address),
    }
}

/// Returns an access of elements under the guard, aligned to all its bytes. Parameters are bytes:
/// an access at a fixed address of theirs has that address's alignment.
fn access(
    cx: &mut Cx<'_>,
    form: &Form,
    written: &Address,
    what: Elements,
    place: AccessTarget,
) -> Option<Access> {
    let AccessTarget::Memory { space, address, offset } = place else { return None };
    let access = cx.b.access(space, what.ty, what.count as u8, address, offset);
    let params = state_space(cx, form, written) == Some(StateSpace::Param);
    let at = fixed(cx, written).filter(|_| params);
    let align = at.map_or(access.align, |at| access.align.min(1 << at.trailing_zeros().min(7)));
    Some(Access { align, ..access })
}

/// Checks that a form's type can be moved.
fn check(form: &Form) -> Result<(Ty, usize), Unsupported> {
    let (ty, values) = (form.ty(0), form.vector());
    let moved =
        ty.bits() >= 8 && !matches!(ty, Ty::Pred | Ty::Texref | Ty::Samplerref | Ty::Surfref);
    // Facts, `ptx.md` 2.7: `.v8` of narrow types is refused.
    let wide = values < 8 || ty.bits() == 32;
    if moved && wide && values as u32 * ty.bits() <= 256 {
        Ok((ty, values))
    } else {
        Err(Unsupported)
    }
}

/// Whether an access orders data that other threads see, so that it needs a fence. Warps of a block
/// share a host thread, and a cluster has one block.
pub fn fences(form: &Form, order: &[Word]) -> bool {
    form.one_of(order).is_some() && form.one_of(&[Word::Cta, Word::Cluster]).is_none()
}

/// Loads the values of a form, each as one or more elements. Narrow elements are extended to `i32`.
fn load(cx: &mut Cx<'_>, form: &Form, address: &Address, (ty, values): (Ty, usize)) -> Vec<Value> {
    let place = place(cx, form, address);
    let space = match place {
        AccessTarget::Memory { space, .. } => space,
        AccessTarget::Bank(bank, _) => Space::Const(bank),
    };
    let what = Elements::new(ty, values, space);
    let extend = match (what.ty.bits(), ty.is_signed()) {
        (32.., _) => Extend::None,
        (_, true) => Extend::Signed,
        (_, false) => Extend::Unsigned,
    };
    let loaded = match (place, access(cx, form, address, what, place)) {
        (_, Some(access)) => cx.b.load_access(access, extend).to_vec(),
        (AccessTarget::Bank(bank, at), None) => {
            let each = (0..what.count as u32).map(|n| at.wrapping_add(n * what.ty.bytes()));
            each.map(|at| cx.constant_bank(bank, at, what.ty)).collect()
        }
        (AccessTarget::Memory { .. }, None) => vec![],
    };
    loaded.chunks(what.per_value).flat_map(|value| words_to_64(cx, value, ty)).collect()
}

/// Joins elements of 32 bits into halves of 64 bits, where a value has several elements.
fn words_to_64(cx: &mut Cx<'_>, elements: &[Value], ty: Ty) -> Vec<Value> {
    if ty.bits() < 64 || cx.b.ty(elements[0]).ty == Type::I64 {
        return elements.to_vec();
    }
    elements.chunks(2).map(|pair| cx.b.concat(pair[0], pair[1])).collect()
}

/// Lifts `ld`.
pub fn ld(cx: &mut Cx<'_>, insn: &Insn<'_>) -> Lifted {
    let form = insn.form;
    let (ty, values) = check(form)?;
    let address = address_of(insn.operand(1)).ok_or(Unsupported)?;
    let destinations = cx.elements(insn.operand(0));
    if destinations.len() != values {
        return Err(Unsupported);
    }
    let loaded = load(cx, form, address, (ty, values));
    if fences(form, &[Word::Acquire]) {
        cx.b.fence();
    }
    for (value, destination) in
        loaded.chunks(if ty.bits() == 128 { 2 } else { 1 }).zip(destinations)
    {
        match *value {
            [low, high] => cx.set128(destination, [low, high]),
            _ => cx.set(destination, ty, value[0]),
        }
    }
    Ok(())
}

/// Lifts `ldu` as a load.
pub fn ldu(cx: &mut Cx<'_>, insn: &Insn<'_>) -> Lifted {
    ld(cx, insn)
}

/// Returns the elements of a value to store.
fn parts(cx: &mut Cx<'_>, operand: &Operand, ty: Ty, element: Type) -> Vec<Value> {
    let halves = match ty.bits() {
        128 => cx.bits128(operand).to_vec(),
        _ => vec![cx.bits(operand, ty)],
    };
    if ty.bits() < 64 || element == Type::I64 {
        return halves;
    }
    halves
        .into_iter()
        .flat_map(|half| [cx.b.trunc(Type::I32, half), cx.b.high_half(half)])
        .collect()
}

/// Lifts `st`.
pub fn st(cx: &mut Cx<'_>, insn: &Insn<'_>) -> Lifted {
    store(cx, insn.form, insn.operand(0), insn.operand(1))
}

/// Stores the values of a form.
pub fn store(cx: &mut Cx<'_>, form: &Form, address: &Operand, sources: &Operand) -> Lifted {
    let (ty, values) = check(form)?;
    let address = address_of(address).ok_or(Unsupported)?;
    let sources = cx.elements(sources);
    if sources.len() != values {
        return Err(Unsupported);
    }
    let place = place(cx, form, address);
    let AccessTarget::Memory { space, .. } = place else { return Err(Unsupported) };
    if matches!(space, Space::Const(_)) {
        return Err(Unsupported);
    }
    let what = Elements::new(ty, values, space);
    let Some(access) = access(cx, form, address, what, place) else { return Err(Unsupported) };
    let elements: Vec<Option<Vec<Value>>> = sources
        .iter()
        .map(|source| (*source != Operand::Sink).then(|| parts(cx, source, ty, what.ty)))
        .collect();
    if fences(form, &[Word::Release]) {
        cx.b.fence();
    }
    if elements.iter().all(Option::is_some) {
        let all: Vec<Value> = elements.into_iter().flatten().flatten().collect();
        cx.b.store_access(access, &all);
        return Ok(());
    }
    // Omitted elements keep their bytes; the alignment is that of the whole access.
    for (n, value) in (0..).zip(elements) {
        let Some(value) = value else { continue };
        let offset = access.offset.wrapping_add(n * ty.bytes() as i32);
        let align = access.align.min(ty.bytes() as u8);
        cx.b.store_access(Access { count: what.per_value as u8, offset, align, ..access }, &value);
    }
    Ok(())
}

/// Lifts `createpolicy`. Any value will do, as no cache policy has an effect.
pub fn createpolicy(cx: &mut Cx<'_>, insn: &Insn<'_>) -> Lifted {
    let policy = cx.constant(Type::I64, 0);
    cx.set(insn.operand(0), Ty::B64, policy);
    Ok(())
}

/// Lifts `st.bulk`: sets bytes to zero.
pub fn st_bulk(cx: &mut Cx<'_>, insn: &Insn<'_>) -> Lifted {
    let address = address_of(insn.operand(0)).ok_or(Unsupported)?;
    let place = place(cx, insn.form, address);
    let to = generic(cx, place).ok_or(Unsupported)?;
    let bytes = cx.bits(insn.operand(1), Ty::B64);
    cx.b.wide(WideOp::Zero, &[to, bytes]);
    Ok(())
}

/// Returns the generic address, an `i64`, of a target in global or shared memory or of a generic
/// target.
pub fn generic(cx: &mut Cx<'_>, place: AccessTarget) -> Option<Value> {
    let AccessTarget::Memory { space, address, offset } = place else { return None };
    match space {
        Space::Generic | Space::Global => {
            let offset = cx.constant(Type::I64, i64::from(offset) as u64);
            Some(cx.b.add(address, offset))
        }
        Space::Shared => {
            let offset = cx.word(offset as u32);
            let address = cx.b.add(address, offset);
            // Addresses past the window are past shared memory, too.
            let last = cx.word((WINDOW_BYTES - 1) as u32);
            let address = cx.b.min_u(address, last);
            let window = cx.driver(driver::SHARED_WINDOW, Type::I64);
            let address = cx.resize(address, Type::I64, false);
            Some(cx.b.or(window, address))
        }
        Space::Local | Space::Const(_) => None,
    }
}
