//! Decides which operations a back end does by itself.

use cranelift_entity::EntityRef;
use warploom_analysis::{Support, is_pure};
use warploom_ir::{Function, Inst, Op, Value, ValueType};
use warploom_runtime::warp::CONST_BANK_BYTES;

/// Returns how the JIT executes an instruction by itself, or that the interpreter has to.
///
/// `constant` gives the values of uniform constants.
pub fn support(
    function: &Function,
    values: &[ValueType],
    constant: &impl Fn(Value) -> Option<u64>,
    inst: &Inst,
) -> Support {
    let uniform = |v: Value| values[v.index()].is_uniform();
    let lane_wise = |yes: bool| if yes { Support::LaneWise } else { Support::None };
    match &inst.op {
        Op::LaneGather { .. } | Op::LaneRead { .. } | Op::LaneScatter { .. } => Support::Warp,
        Op::RfGather { bank, first, .. } | Op::RfScatter { bank, first, .. }
            if function.is_lane(bank.reg(*first)) =>
        {
            Support::Warp
        }
        Op::Product { .. }
        | Op::Unpack { .. }
        | Op::Pack { .. }
        | Op::Sample { .. }
        | Op::Observe { .. }
        | Op::Wide { .. } => Support::None,
        Op::RegionRead { .. } | Op::RegionWrite { .. } => Support::Warp,
        Op::Load { access, .. } => {
            if uniform(access.address) {
                let at = constant(access.address)
                    .map_or(0, |at| (at as u32).wrapping_add(access.offset as u32));
                let inside =
                    u64::from(at) + u64::from(access.ty.bytes()) <= CONST_BANK_BYTES as u64;
                lane_wise(access.count == 1 && inside && is_pure(&inst.op, constant))
            } else {
                Support::LaneWise
            }
        }
        Op::Store { access, .. } | Op::Atomic { access, .. } => lane_wise(!uniform(access.address)),
        Op::Const { .. }
        | Op::Splat { .. }
        | Op::LaneId
        | Op::Special(_)
        | Op::Unary { .. }
        | Op::Binary { .. }
        | Op::AddCarry { .. }
        | Op::ICmp { .. }
        | Op::FCmp { .. }
        | Op::Select { .. }
        | Op::UniformSelect { .. }
        | Op::Convert { .. }
        | Op::Concat { .. }
        | Op::FUnary { .. }
        | Op::FBinary { .. }
        | Op::Fma { .. }
        | Op::FConvert { .. }
        | Op::IntToFloat { .. }
        | Op::FloatToInt { .. }
        | Op::Shared { .. }
        | Op::RfRead { .. }
        | Op::RfWrite { .. }
        | Op::RfGather { .. }
        | Op::RfScatter { .. }
        | Op::Raise { .. }
        | Op::Fence => Support::LaneWise,
    }
}
