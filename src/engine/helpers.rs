//! Functions that JIT code calls: accesses that are not inline, instructions left to the
//! interpreter, and shared functions.
//!
//! Code calls a helper through a trampoline that keeps every register, so that a call on an
//! unlikely path costs the likely path nothing. The trampoline keeps the register of a return value
//! too: results and faults go through the context.

use warploom_interp::{Actor, Elements};
use warploom_ir::names::Named;
use warploom_ir::typing::MAX_ELEMENTS;
use warploom_ir::{FloatAttrs, NanPolicy, Round, SharedFn, Space, Type, eval};
use warploom_runtime::memory::Residency;
use warploom_runtime::warp::{ExitCode, WarpContext};

use crate::descriptions::{AccessKind, Descriptions};
use crate::product::product;

/// The most lanes for which code calls a helper at once.
pub const MAX_LANES: usize = 8;
/// Words of `WarpContext::scratch` in which code stages an access: the addresses of [`MAX_LANES`]
/// lanes, then as many lanes of each value or result, then the lanes of an atomic's compare
/// operand. Lanes lie in cells of 4 or 8 bytes, as in the register file.
pub const STAGED_VALUES: usize = MAX_LANES;
pub const STAGED_COMPARE: usize = STAGED_VALUES + MAX_LANES;
/// The word with the position, in its block, of the access whose fault is recorded.
const FAULT_ORDER: usize = 255;
/// The word with the bits of the chunk's lanes that met a sparse page that is not resident. Every
/// access adds its bits.
pub const SPARSE_LANES: usize = 253;
/// Operands of a shared function, [`MAX_LANES`] lanes or a scalar, then its results.
pub const SHARED_LANES: usize = 247;
/// Operands of a fused multiply-add of `f64`: [`MAX_LANES`] lanes of each operand, or scalars at
/// equal distances. The results replace the first operand. The area lies behind an access's values,
/// since an access may need the operation while its values are staged.
pub const FUSED_LANES: usize = STAGED_VALUES + MAX_LANES * MAX_ELEMENTS as usize;
/// The results of [`Helper::Reach`].
pub const REACHED: usize = 251;
pub const REACHED_ADDEND: usize = 252;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Helper {
    /// (context, number of the access, bits of the chunk's lanes, first lane)
    Access,
    /// (context, number of the instruction): interprets an instruction.
    Interpret,
    /// (context, guest address): brings the address's page into the TLB if it is resident.
    Fill,
    /// (context, lowest and highest guest address of a range, [`run_number`]): looks up the range
    /// in host memory. Scratch word [`REACHED`] is 1 if the range is there and contiguous, else 0.
    /// Word [`REACHED_ADDEND`] has the addend from guest to host addresses.
    Reach,
    /// (context, function number, count of lanes, canonical NaN of `f32`): operands of 32 bits in
    /// scratch words from [`SHARED_LANES`] on. Results replace the operands.
    Shared,
    /// (context, [`number`] of the rounding, count of lanes): operands and results in scratch words
    /// from [`FUSED_LANES`] on.
    Fused,
    /// (context, number of the product)
    Product,
}

impl Helper {
    pub const ALL: [Helper; 7] = [
        Helper::Access,
        Helper::Interpret,
        Helper::Fill,
        Helper::Reach,
        Helper::Shared,
        Helper::Fused,
        Helper::Product,
    ];

    /// The symbol by which code calls the helper.
    pub fn name(self) -> &'static str {
        match self {
            Helper::Access => "warploom_access",
            Helper::Interpret => "warploom_interpret",
            Helper::Product => "warploom_product",
            Helper::Fill => "warploom_fill",
            Helper::Reach => "warploom_reach",
            Helper::Shared => "warploom_shared",
            Helper::Fused => "warploom_fused",
        }
    }

    pub fn address(self) -> *const u8 {
        match self {
            Helper::Access => access as *const u8,
            Helper::Interpret => interpret as *const u8,
            Helper::Product => product as *const u8,
            Helper::Fill => fill as *const u8,
            Helper::Reach => reach as *const u8,
            Helper::Shared => shared as *const u8,
            Helper::Fused => fused as *const u8,
        }
    }
}

/// Lanes of a value in the scratch area.
#[derive(Clone, Copy)]
struct Cells {
    word: usize,
    ty: Type,
}

impl Cells {
    fn get(self, scratch: &[u64], lane: usize) -> u64 {
        match self.ty.cell_bytes() {
            8 => scratch[self.word + lane],
            _ => scratch[self.word + lane / 2] >> (lane % 2 * 32) & u64::from(u32::MAX),
        }
    }

    fn set(self, scratch: &mut [u64], lane: usize, bits: u64) {
        match self.ty.cell_bytes() {
            8 => scratch[self.word + lane] = bits,
            _ => {
                let (word, shift) = (&mut scratch[self.word + lane / 2], lane % 2 * 32);
                *word =
                    *word & !(u64::from(u32::MAX) << shift) | (bits & u64::from(u32::MAX)) << shift;
            }
        }
    }
}

/// Performs an access for lanes of a chunk, lowest lane first. Each lane completes its access or
/// faults.
///
/// # Safety
/// `context` is the running warp's context, and nothing else refers to it. The caller is code whose
/// descriptions are installed.
unsafe extern "C" fn access(context: *mut WarpContext, number: u32, bits: u64, first: u64) {
    // SAFETY: the caller's promise.
    let context = unsafe { &mut *context };
    // SAFETY: as above; the calling code keeps its descriptions for the length of the call.
    let desc = &unsafe { Descriptions::of(context) }.accesses[number as usize];
    context.helper_calls += 1;
    let mut elements: Elements = [0; 16];
    let count = usize::from(desc.access.count);
    if let AccessKind::Load { .. } = desc.kind {
        context.engine[STAGED_VALUES..STAGED_VALUES + MAX_LANES * count].fill(0);
    }
    let mut left = bits;
    while left != 0 {
        let lane = left.trailing_zeros() as usize;
        left &= left - 1;
        let cell = Cells { word: 0, ty: desc.address }.get(&context.engine, lane);
        let address = cell.wrapping_add(desc.access.offset as i64 as u64) & desc.address.bit_mask();
        let actor = Actor::Lane(first as u32 + lane as u32);
        let value = |e: usize| Cells { word: STAGED_VALUES + e * MAX_LANES, ty: desc.access.ty };
        let aligned = address.is_multiple_of(u64::from(desc.access.align));
        let outcome = if !aligned {
            Err(warploom_runtime::fault::FaultKind::MisalignedAddress)
        } else {
            if matches!(desc.access.space, Space::Global | Space::Generic) {
                context.fill_tlb(address);
            }
            match desc.kind {
                AccessKind::Load { extend } => {
                    let loaded = warploom_interp::load_elements(
                        context,
                        &desc.access,
                        actor,
                        address,
                        &mut elements,
                    );
                    loaded.inspect(|_| {
                        for (e, &bits) in elements[..count].iter().enumerate() {
                            let bits = warploom_interp::extended(&desc.access, extend, bits);
                            value(e).set(&mut context.engine, lane, bits);
                        }
                    })
                }
                AccessKind::Store => {
                    for (e, element) in elements[..count].iter_mut().enumerate() {
                        *element = value(e).get(&context.engine, lane) & desc.access.ty.bit_mask();
                    }
                    warploom_interp::store_elements(
                        context,
                        &desc.access,
                        actor,
                        address,
                        &elements,
                    )
                }
                AccessKind::Atomic { op } => {
                    let compare = Cells { word: STAGED_COMPARE, ty: desc.access.ty };
                    let operands =
                        [value(0), compare].map(|cells| cells.get(&context.engine, lane));
                    warploom_interp::atomic_element(
                        context,
                        &desc.access,
                        op,
                        desc.nan,
                        actor,
                        address,
                        operands,
                    )
                    .map(|(old, residency)| {
                        value(0).set(&mut context.engine, lane, old);
                        residency
                    })
                }
            }
        };
        if let (Some(run), Ok(Residency::Resident)) = (desc.run, &outcome) {
            context.fill_run(run, address, !matches!(desc.kind, AccessKind::Load { .. }));
        }
        match outcome {
            Ok(residency) => {
                context.engine[SPARSE_LANES] |= u64::from(residency.is_sparse()) << lane
            }
            Err(kind) => {
                let lane = first as u32 + lane as u32;
                let key = (u64::from(desc.order), lane);
                if context.fault.kind == 0
                    || key < (context.engine[FAULT_ORDER], context.fault.lane)
                {
                    context.set_fault(kind, lane, desc.pc, address);
                    context.engine[FAULT_ORDER] = desc.order.into();
                }
                if !desc.keeps_least {
                    return;
                }
            }
        }
    }
}

/// # Safety
/// As [`access`].
unsafe extern "C" fn interpret(context: *mut WarpContext, number: u32) {
    // SAFETY: the caller's promise.
    let context = unsafe { &mut *context };
    // SAFETY: as in `access`.
    let Descriptions { interpreter, interpreted, .. } = unsafe { Descriptions::of(context) };
    let desc = &interpreted[number as usize];
    let (function, layout) = (interpreter.function(), interpreter.layout());
    let range = desc.index..desc.index + 1;
    let outcome = warploom_interp::run_insts(
        function,
        layout,
        context,
        desc.block,
        range,
        &desc.live_in,
        &desc.live_out,
    );
    debug_assert!(
        matches!(outcome, Ok(()) | Err(ExitCode::Fault)),
        "an instruction inside a block can only fault"
    );
}

/// # Safety
/// As [`access`].
unsafe extern "C" fn fill(context: *mut WarpContext, address: u64) {
    // SAFETY: the caller's promise.
    let context = unsafe { &mut *context };
    context.helper_calls += 1;
    context.fill_tlb(address);
}

/// Returns the number of a run of the TLB, for [`Helper::Reach`].
pub fn run_number(run: usize, write: bool) -> i64 {
    (run * 2 + usize::from(write)) as i64
}

/// # Safety
/// As [`access`].
unsafe extern "C" fn reach(context: *mut WarpContext, low: u64, last: u64, number: u64) {
    // SAFETY: the caller's promise.
    let context = unsafe { &mut *context };
    context.helper_calls += 1;
    let addend = context.reach(number as usize / 2, (low, last), number % 2 == 1);
    context.engine[REACHED] = addend.is_some().into();
    context.engine[REACHED_ADDEND] = addend.unwrap_or(0);
}

/// # Safety
/// As [`access`].
unsafe extern "C" fn shared(context: *mut WarpContext, function: u32, lanes: u32, nan: u32) {
    let (function, _) = SharedFn::NAMES[function as usize];
    // SAFETY: the caller's promise.
    let context = unsafe { &mut *context };
    let cells = Cells { word: SHARED_LANES, ty: function.ty() };
    for lane in 0..lanes as usize {
        let operand = cells.get(&context.engine, lane) as u32;
        cells.set(
            &mut context.engine,
            lane,
            warploom_ir::shared::one(function, nan, operand).into(),
        );
    }
}

/// # Safety
/// As [`access`].
unsafe extern "C" fn fused(context: *mut WarpContext, round: u32, lanes: u32) {
    // SAFETY: the caller's promise.
    let context = unsafe { &mut *context };
    context.helper_calls += 1;
    let (round, _) = Round::NAMES[round as usize];
    let attrs = FloatAttrs { round, ..FloatAttrs::IEEE };
    let (x, rest) = context.engine[FUSED_LANES..].split_at_mut(MAX_LANES);
    let (y, rest) = rest.split_at(MAX_LANES);
    let mut results = [0; MAX_LANES];
    let lanes = lanes as usize;
    // The calling code decides the bits of NaN results.
    let nan = NanPolicy { f16: 0x7fff, f32: 0x7fff_ffff, f64: 0x7ff8 << 48 };
    eval::fma(
        Type::F64,
        attrs,
        nan,
        &x[..lanes],
        &y[..lanes],
        &rest[..lanes],
        &mut results[..lanes],
    );
    x[..lanes].copy_from_slice(&results[..lanes]);
}

/// Returns the number that code passes for a shared function or a rounding: its index in the list
/// of names.
pub fn number<T: Named>(member: T) -> u32 {
    T::NAMES.iter().position(|&(one, _)| one == member).expect("all members have names") as u32
}
