//! Functions that Cranelift calls where a host has no instruction: fused multiply-adds without FMA,
//! roundings without SSE4.1, shuffles without SSSE3.

use cranelift_codegen::ir::LibCall;

/// Returns the symbol under which code finds a function.
pub fn name(call: LibCall) -> String {
    format!("warploom_{call:?}")
}

/// Returns the number of a function, if there is a symbol for it.
pub fn number(call: LibCall) -> Option<u32> {
    FUNCTIONS.iter().position(|(provided, _)| *provided == call).map(|number| number as u32)
}

/// Returns the function with a number.
pub fn numbered(number: u32) -> Option<LibCall> {
    FUNCTIONS.get(number as usize).map(|&(call, _)| call)
}

/// Returns all symbols.
pub fn symbols() -> impl Iterator<Item = (String, *const u8)> {
    FUNCTIONS.iter().map(|&(call, function)| (name(call), function()))
}

/// Returns the address of a function; addresses are not constants.
type Address = fn() -> *const u8;

static FUNCTIONS: &[(LibCall, Address)] = &[
    (LibCall::CeilF32, || ceil_f32 as *const u8),
    (LibCall::CeilF64, || ceil_f64 as *const u8),
    (LibCall::FloorF32, || floor_f32 as *const u8),
    (LibCall::FloorF64, || floor_f64 as *const u8),
    (LibCall::TruncF32, || trunc_f32 as *const u8),
    (LibCall::TruncF64, || trunc_f64 as *const u8),
    (LibCall::NearestF32, || nearest_f32 as *const u8),
    (LibCall::NearestF64, || nearest_f64 as *const u8),
    (LibCall::FmaF32, || fma_f32 as *const u8),
    (LibCall::FmaF64, || fma_f64 as *const u8),
    #[cfg(target_arch = "x86_64")]
    (LibCall::X86Pshufb, || pshufb as *const u8),
];

/// Defines functions of floats, each by a method of Rust.
macro_rules! functions {
    ($($name:ident($first:ident $(, $more:ident)*: $ty:ident) = $method:ident;)*) => {
        $(extern "C" fn $name($first: $ty $(, $more: $ty)*) -> $ty {
            $first.$method($($more),*)
        })*
    };
}

functions! {
    ceil_f32(x: f32) = ceil;
    ceil_f64(x: f64) = ceil;
    floor_f32(x: f32) = floor;
    floor_f64(x: f64) = floor;
    trunc_f32(x: f32) = trunc;
    trunc_f64(x: f64) = trunc;
    nearest_f32(x: f32) = round_ties_even;
    nearest_f64(x: f64) = round_ties_even;
    fma_f32(x, y, z: f32) = mul_add;
    fma_f64(x, y, z: f64) = mul_add;
}

/// Selects bytes of `bytes`: each byte of the result has the index in the low four bits of a
/// number, or is 0 if the number's high bit is set.
#[cfg(target_arch = "x86_64")]
#[expect(improper_ctypes_definitions, reason = "code passes vectors in registers, as this does")]
extern "C" fn pshufb(
    bytes: std::arch::x86_64::__m128i,
    numbers: std::arch::x86_64::__m128i,
) -> std::arch::x86_64::__m128i {
    // SAFETY: both types have 16 bytes, all of whose values are valid.
    let [bytes, numbers]: [[u8; 16]; 2] = unsafe { std::mem::transmute([bytes, numbers]) };
    let chosen =
        numbers.map(|number| if number & 0x80 != 0 { 0 } else { bytes[usize::from(number & 15)] });
    // SAFETY: both types have 16 bytes, all of whose values are valid.
    unsafe { std::mem::transmute(chosen) }
}
