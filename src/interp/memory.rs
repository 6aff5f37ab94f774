//! Memory operations. Lanes act in ascending order, and each lane completes its access or faults.

use warploom_ir::{Access, AtomicOp, Extend, Inst, NanPolicy, Space, Type, Value, Window, eval};
use warploom_runtime::atomics::{self, AtomicKind, AtomicType};
use warploom_runtime::fault::FaultKind;
use warploom_runtime::memory::{self, Residency};
use warploom_runtime::warp::{ExitCode, PAGE_BITS, WarpContext};
use warploom_runtime::window::Target;

use super::exec::{Executor, lanes_of};

/// The actor of an access.
#[derive(Clone, Copy)]
pub enum Actor {
    /// The warp as a whole.
    Scalar,
    Lane(u32),
}

/// The target of an access, after windows and offset.
enum AccessTarget {
    Global(u64),
    /// Checked byte offset in shared memory.
    Shared(usize),
    /// Checked byte offset in the lane's local memory.
    Local(u64, u32),
    Const(u8, u32),
}

/// Elements of an access, zero above their width.
pub type Elements = [u64; 16];

impl Executor<'_, '_> {
    pub fn load(
        &mut self,
        inst: &Inst,
        access: &Access,
        extend: Extend,
        sparse: bool,
    ) -> Result<(), ExitCode> {
        let count = usize::from(access.count);
        let mut sparse_lanes = 0;
        let mut elements = Elements::default();
        self.for_each_actor(inst, access, |this, actor, address| {
            let residency = load_elements(this.context, access, actor, address, &mut elements)?;
            for (result, &bits) in inst.results.iter().zip(&elements[..count]) {
                this.set(*result, actor, extended(access, extend, bits));
            }
            sparse_lanes |= sparse_bits(self.function.lanes, actor, residency);
            Ok(())
        })?;
        self.set_sparse(inst, sparse, sparse_lanes);
        Ok(())
    }

    pub fn store(
        &mut self,
        inst: &Inst,
        access: &Access,
        values: &[Value],
        sparse: bool,
    ) -> Result<(), ExitCode> {
        let mut sparse_lanes = 0;
        let mut elements = Elements::default();
        self.for_each_actor(inst, access, |this, actor, address| {
            for (element, &value) in elements.iter_mut().zip(values) {
                *element = this.get(value, actor) & access.ty.bit_mask();
            }
            let residency = store_elements(this.context, access, actor, address, &elements)?;
            sparse_lanes |= sparse_bits(self.function.lanes, actor, residency);
            Ok(())
        })?;
        self.set_sparse(inst, sparse, sparse_lanes);
        Ok(())
    }

    pub fn atomic(
        &mut self,
        inst: &Inst,
        access: &Access,
        op: AtomicOp,
        value: Value,
        compare: Option<Value>,
        sparse: bool,
    ) -> Result<(), ExitCode> {
        let nan = self.function.nan;
        let mut sparse_lanes = 0;
        self.for_each_actor(inst, access, |this, actor, address| {
            let b = this.get(value, actor);
            let compare = compare.map_or(0, |compare| this.get(compare, actor));
            let (old, residency) =
                atomic_element(this.context, access, op, nan, actor, address, [b, compare])?;
            this.set(inst.results[0], actor, old);
            sparse_lanes |= sparse_bits(self.function.lanes, actor, residency);
            Ok(())
        })?;
        self.set_sparse(inst, sparse, sparse_lanes);
        Ok(())
    }

    /// Calls `f` with every address, lowest lane first, until one faults. Sets results to 0 first.
    fn for_each_actor(
        &mut self,
        inst: &Inst,
        access: &Access,
        mut f: impl FnMut(&mut Self, Actor, u64) -> Result<(), FaultKind>,
    ) -> Result<(), ExitCode> {
        for result in &inst.results {
            self.values.set_uniform(*result, 0);
        }
        let ty = self.ty(access.address);
        let effective =
            |address: u64| address.wrapping_add_signed(access.offset.into()) & ty.ty.bit_mask();
        let mut act = |this: &mut Self, actor, address| {
            let aligned = address % u64::from(access.align) == 0;
            let outcome =
                if aligned { f(this, actor, address) } else { Err(FaultKind::MisalignedAddress) };
            outcome.map_err(|kind| {
                let lane = match actor {
                    Actor::Lane(lane) => lane,
                    Actor::Scalar => this.least_active(),
                };
                this.context.set_fault(kind, lane, inst.pc, address)
            })
        };
        if ty.is_uniform() {
            if access.guard.is_some_and(|guard| self.values.uniform(guard) == 0) {
                return Ok(());
            }
            let address = effective(self.values.uniform(access.address));
            return act(self, Actor::Scalar, address);
        }
        for lane in lanes_of(self.execution_mask(inst.window, access.guard, access.nomask)) {
            let address = effective(self.values.row(access.address)[lane]);
            act(self, Actor::Lane(lane as u32), address)?;
        }
        Ok(())
    }

    fn get(&self, value: Value, actor: Actor) -> u64 {
        match actor {
            Actor::Scalar => self.values.uniform(value),
            Actor::Lane(lane) => self.values.row(value)[lane as usize],
        }
    }

    fn set(&mut self, value: Value, actor: Actor, bits: u64) {
        match actor {
            Actor::Scalar => self.values.set_uniform(value, bits),
            Actor::Lane(lane) => self.values.row_mut(value)[lane as usize] = bits,
        }
    }

    fn set_sparse(&mut self, inst: &Inst, sparse: bool, mask: u64) {
        if let (true, Some(result)) = (sparse, inst.results.last()) {
            self.values.set_uniform(*result, mask);
        }
    }
}

/// Returns the target of an access. Checks the bounds of shared and local memory.
fn place(
    context: &WarpContext,
    access: &Access,
    actor: Actor,
    address: u64,
) -> Result<AccessTarget, FaultKind> {
    let target = match access.space {
        Space::Const(bank) => return Ok(AccessTarget::Const(bank, address as u32)),
        Space::Generic => context.windows().classify(address),
        Space::Global => Target::Global(address),
        Space::Shared => Target::Shared(address as u32),
        Space::Local => Target::Local(address as u32),
    };
    let within = |offset: u32, limit: u64| {
        let inside = u64::from(offset) + u64::from(access.bytes()) <= limit;
        if inside { Ok(offset) } else { Err(FaultKind::AddressOutOfRange) }
    };
    match (target, actor) {
        (Target::Global(address), _) => Ok(AccessTarget::Global(address)),
        (Target::Shared(offset), _) => {
            Ok(AccessTarget::Shared(within(offset, context.shared_bytes())? as usize))
        }
        (Target::Local(offset), Actor::Lane(lane)) => {
            Ok(AccessTarget::Local(within(offset, context.local_bytes())?.into(), lane))
        }
        // The warp as a whole has no local memory.
        (Target::Local(_), Actor::Scalar) => Err(FaultKind::InvalidAddressSpace),
    }
}

/// Loads the elements of one access. The offset is already added to the address, which is aligned.
pub fn load_elements(
    context: &mut WarpContext,
    access: &Access,
    actor: Actor,
    address: u64,
    elements: &mut Elements,
) -> Result<Residency, FaultKind> {
    let size = access.ty.bytes();
    let elements = &mut elements[..usize::from(access.count)];
    match place(context, access, actor, address)? {
        AccessTarget::Global(address) => {
            return load_global(context.memory(), address, size, elements);
        }
        AccessTarget::Shared(offset) => {
            let bytes = &context.shared()[offset..];
            for (element, bytes) in elements.iter_mut().zip(bytes.chunks_exact(size as usize)) {
                *element = get_bytes(bytes);
            }
        }
        AccessTarget::Local(offset, lane) => {
            for (element, at) in elements.iter_mut().zip((offset..).step_by(size as usize)) {
                let mut bytes = [0; 8];
                for_each_local_byte(context, lane, at, size, |i, byte| bytes[i] = *byte);
                *element = u64::from_le_bytes(bytes);
            }
        }
        AccessTarget::Const(bank, offset) => {
            let bytes = context.constant(bank.into());
            for (element, at) in
                elements.iter_mut().zip((u64::from(offset)..).step_by(size as usize))
            {
                // Past the bank, all bytes read as 0.
                let from = bytes.get(at as usize..).unwrap_or_default();
                *element = get_bytes(&from[..from.len().min(size as usize)]);
            }
        }
    }
    Ok(Residency::Resident)
}

/// Stores the elements of one access: all of them, or none on a fault.
pub fn store_elements(
    context: &mut WarpContext,
    access: &Access,
    actor: Actor,
    address: u64,
    elements: &Elements,
) -> Result<Residency, FaultKind> {
    let size = access.ty.bytes();
    let elements = &elements[..usize::from(access.count)];
    match place(context, access, actor, address)? {
        AccessTarget::Global(address) => {
            return store_global(context.memory(), address, size, elements);
        }
        AccessTarget::Shared(offset) => {
            let bytes = &mut context.shared()[offset..];
            for (&element, bytes) in elements.iter().zip(bytes.chunks_exact_mut(size as usize)) {
                put_bytes(bytes, element);
            }
        }
        AccessTarget::Local(offset, lane) => {
            for (&element, at) in elements.iter().zip((offset..).step_by(size as usize)) {
                let bytes = element.to_le_bytes();
                for_each_local_byte(context, lane, at, size, |i, byte| *byte = bytes[i]);
            }
        }
        // The verifier excludes stores to constant memory.
        AccessTarget::Const(..) => return Err(FaultKind::InvalidAddressSpace),
    }
    Ok(Residency::Resident)
}

/// Performs one atomic on the operand and the compare value, and returns the old value.
pub fn atomic_element(
    context: &mut WarpContext,
    access: &Access,
    op: AtomicOp,
    nan: NanPolicy,
    actor: Actor,
    address: u64,
    [b, compare]: [u64; 2],
) -> Result<(u64, Residency), FaultKind> {
    let (ty, kind) = of_runtime(op, access.ty, nan);
    match place(context, access, actor, address)? {
        AccessTarget::Global(address) => context.memory().atomic(address, ty, kind, b, compare),
        AccessTarget::Shared(offset) => {
            // Shared memory belongs to this thread while its block runs.
            let cell = &mut context.shared()[offset..][..access.ty.bytes() as usize];
            let old = get_bytes(cell);
            put_bytes(cell, atomics::compute(ty, kind, old, b, compare));
            Ok((old, Residency::Resident))
        }
        AccessTarget::Local(..) | AccessTarget::Const(..) => Err(FaultKind::InvalidAddressSpace),
    }
}

/// Returns the value that a loaded element becomes.
pub fn extended(access: &Access, extend: Extend, bits: u64) -> u64 {
    match extend {
        Extend::None | Extend::Unsigned => bits,
        Extend::Signed => eval::sign_extend(access.ty, bits) as u64 & Type::I32.bit_mask(),
    }
}

/// Returns the lanes of an access that met a sparse page. A scalar access counts for all `lanes`
/// lanes of the warp.
fn sparse_bits(lanes: u8, actor: Actor, residency: Residency) -> u64 {
    match (actor, residency.is_sparse()) {
        (_, false) => 0,
        (Actor::Lane(lane), true) => 1 << lane,
        (Actor::Scalar, true) => Window::all(lanes).mask(),
    }
}

fn load_global(
    memory: &memory::Memory,
    address: u64,
    size: u32,
    elements: &mut [u64],
) -> Result<Residency, FaultKind> {
    let mut sparse = Residency::Resident;
    for (i, element) in elements.iter_mut().enumerate() {
        let (bits, residency) =
            memory.load(address.wrapping_add(i as u64 * u64::from(size)), size)?;
        *element = bits as u64;
        if residency.is_sparse() {
            sparse = residency;
        }
    }
    Ok(sparse)
}

fn store_global(
    memory: &memory::Memory,
    address: u64,
    size: u32,
    elements: &[u64],
) -> Result<Residency, FaultKind> {
    // Elements together have at most 128 bytes, so only the first and the last page matter. If the
    // last page may be written, the first store decides whether the access faults.
    let last = address.wrapping_add(elements.len() as u64 * u64::from(size)).wrapping_sub(1);
    if last >> PAGE_BITS != address >> PAGE_BITS {
        // The bytes of the elements that lie on that page.
        let bytes = (last & (memory::PAGE_BYTES - 1)) + 1;
        if !memory.permits(last - (bytes - 1), bytes, true) {
            return Err(FaultKind::AddressOutOfRange);
        }
    }
    let mut sparse = Residency::Resident;
    for (i, &element) in elements.iter().enumerate() {
        let residency =
            memory.store(address.wrapping_add(i as u64 * u64::from(size)), size, element.into())?;
        if residency.is_sparse() {
            sparse = residency;
        }
    }
    Ok(sparse)
}

/// Calls `f` for the bytes `at .. at + size` of a lane's local memory, within its bounds.
fn for_each_local_byte(
    context: &mut WarpContext,
    lane: u32,
    at: u64,
    size: u32,
    mut f: impl FnMut(usize, &mut u8),
) {
    for i in 0..size {
        let offset = context.local_offset(lane, at + u64::from(i)) as usize;
        f(i as usize, &mut context.local()[offset]);
    }
}

fn get_bytes(bytes: &[u8]) -> u64 {
    let mut value = [0; 8];
    value[..bytes.len()].copy_from_slice(bytes);
    u64::from_le_bytes(value)
}

fn put_bytes(bytes: &mut [u8], value: u64) {
    bytes.copy_from_slice(&value.to_le_bytes()[..bytes.len()]);
}

/// Returns the runtime's name of an element type.
pub fn atomic_type(ty: Type) -> AtomicType {
    match ty {
        Type::I8 => AtomicType::I8,
        Type::I16 => AtomicType::I16,
        Type::I32 => AtomicType::I32,
        Type::I64 => AtomicType::I64,
        Type::F16 => AtomicType::F16,
        Type::F32 => AtomicType::F32,
        Type::F64 => AtomicType::F64,
        Type::Mask => unreachable!("memory holds no masks: verified"),
    }
}

/// Returns the runtime's names of the cell that an operation acts on, and of the operation.
pub fn of_runtime(op: AtomicOp, ty: Type, nan: NanPolicy) -> (AtomicType, AtomicKind) {
    match ty {
        Type::I16 if op.is_of_brain() => (AtomicType::Bf16, atomic_kind(op, Type::F16, nan)),
        _ if op.is_of_brain() => (AtomicType::Bf16x2, atomic_kind(op, Type::F16, nan)),
        _ if op.is_of_pairs() => (AtomicType::F16x2, atomic_kind(op, Type::F16, nan)),
        ty => (atomic_type(ty), atomic_kind(op, ty, nan)),
    }
}

/// The bits of a NaN of `bf16`.
const BRAIN_NAN: u64 = 0x7fff;

/// Returns the runtime's name of an atomic operation.
pub fn atomic_kind(op: AtomicOp, ty: Type, nan: NanPolicy) -> AtomicKind {
    let nan = nan.canonical(ty);
    match op {
        AtomicOp::Add => AtomicKind::Add,
        AtomicOp::Sub => AtomicKind::Sub,
        AtomicOp::MinS => AtomicKind::MinS,
        AtomicOp::MinU => AtomicKind::MinU,
        AtomicOp::MaxS => AtomicKind::MaxS,
        AtomicOp::MaxU => AtomicKind::MaxU,
        AtomicOp::And => AtomicKind::And,
        AtomicOp::Or => AtomicKind::Or,
        AtomicOp::Xor => AtomicKind::Xor,
        AtomicOp::Exchange => AtomicKind::Exchange,
        AtomicOp::Inc => AtomicKind::Inc,
        AtomicOp::Dec => AtomicKind::Dec,
        AtomicOp::SafeAdd => AtomicKind::SafeAdd,
        AtomicOp::CompareExchange => AtomicKind::CompareExchange,
        AtomicOp::FCompareExchange => AtomicKind::FCompareExchange,
        AtomicOp::ReverseSub => AtomicKind::ReverseSub,
        AtomicOp::MaskedOr => AtomicKind::MaskedOr,
        AtomicOp::Wrap => AtomicKind::Wrap,
        AtomicOp::FAdd { flush } | AtomicOp::PairFAdd { flush } => AtomicKind::FAdd { flush, nan },
        AtomicOp::FMin | AtomicOp::PairFMin => AtomicKind::FMin { nan },
        AtomicOp::FMax | AtomicOp::PairFMax => AtomicKind::FMax { nan },
        AtomicOp::BrainFAdd => AtomicKind::FAdd { flush: false, nan: BRAIN_NAN },
        AtomicOp::BrainFMin => AtomicKind::FMin { nan: BRAIN_NAN },
        AtomicOp::BrainFMax => AtomicKind::FMax { nan: BRAIN_NAN },
        AtomicOp::Arrive { drop } => AtomicKind::Arrive { drop },
        AtomicOp::ArriveCounting => AtomicKind::ArriveCounting,
    }
}
