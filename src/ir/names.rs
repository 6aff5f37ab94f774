//! Names of the small enumerations in the text form, for both printing and parsing.

use super::function::{BarrierKind, LaneEvent, Service, TrapKind};
use super::image::sample::Operation;
use super::op::*;
use super::types::Type;

/// An enumeration whose members have names.
pub trait Named: Sized + Copy + PartialEq + 'static {
    /// Every member with its name.
    const NAMES: &'static [(Self, &'static str)];

    fn name_of(self) -> &'static str {
        Self::NAMES.iter().find(|(member, _)| *member == self).map_or("?", |(_, name)| name)
    }

    fn from_name(name: &str) -> Option<Self> {
        Self::NAMES.iter().find(|(_, known)| *known == name).map(|(member, _)| *member)
    }
}

macro_rules! names {
    ($($type:ident { $($member:expr => $name:expr,)* })*) => {$(
        impl Named for $type {
            const NAMES: &'static [(Self, &'static str)] = &[$(($member, $name),)*];
        }
    )*};
}

names! {
    Type {
        Type::I8 => Type::I8.name(),
        Type::I16 => Type::I16.name(),
        Type::I32 => Type::I32.name(),
        Type::I64 => Type::I64.name(),
        Type::F16 => Type::F16.name(),
        Type::F32 => Type::F32.name(),
        Type::F64 => Type::F64.name(),
        Type::Mask => Type::Mask.name(),
    }
    UnaryOp {
        UnaryOp::Not => "not",
        UnaryOp::Neg => "neg",
        UnaryOp::Abs => "abs",
        UnaryOp::Popcnt => "popcnt",
        UnaryOp::Clz => "clz",
        UnaryOp::Ctz => "ctz",
        UnaryOp::BitReverse => "bit.reverse",
        UnaryOp::FNeg => "fneg",
        UnaryOp::FAbs => "fabs",
    }
    BinaryOp {
        BinaryOp::Add => "add",
        BinaryOp::Sub => "sub",
        BinaryOp::Mul => "mul",
        BinaryOp::MulHiS => "mulhi.s",
        BinaryOp::MulHiU => "mulhi.u",
        BinaryOp::DivS => "div.s",
        BinaryOp::DivU => "div.u",
        BinaryOp::RemS => "rem.s",
        BinaryOp::RemU => "rem.u",
        BinaryOp::And => "and",
        BinaryOp::Or => "or",
        BinaryOp::Xor => "xor",
        BinaryOp::Shl => "shl",
        BinaryOp::ShrU => "shr.u",
        BinaryOp::ShrS => "shr.s",
        BinaryOp::RotL => "rotl",
        BinaryOp::MinS => "min.s",
        BinaryOp::MinU => "min.u",
        BinaryOp::MaxS => "max.s",
        BinaryOp::MaxU => "max.u",
    }
    IntCc {
        IntCc::Eq => "eq",
        IntCc::Ne => "ne",
        IntCc::LtS => "lt.s",
        IntCc::LeS => "le.s",
        IntCc::GtS => "gt.s",
        IntCc::GeS => "ge.s",
        IntCc::LtU => "lt.u",
        IntCc::LeU => "le.u",
        IntCc::GtU => "gt.u",
        IntCc::GeU => "ge.u",
    }
    FloatCc {
        FloatCc::Eq => "eq",
        FloatCc::Ne => "ne",
        FloatCc::Lt => "lt",
        FloatCc::Le => "le",
        FloatCc::Gt => "gt",
        FloatCc::Ge => "ge",
        FloatCc::EqU => "equ",
        FloatCc::NeU => "neu",
        FloatCc::LtU => "ltu",
        FloatCc::LeU => "leu",
        FloatCc::GtU => "gtu",
        FloatCc::GeU => "geu",
        FloatCc::Num => "num",
        FloatCc::Nan => "nan",
    }
    FloatUnaryOp {
        FloatUnaryOp::Sqrt => "fsqrt",
        FloatUnaryOp::Integral => "fint",
        FloatUnaryOp::Copy => "fcopy",
    }
    FloatBinaryOp {
        FloatBinaryOp::Add => "fadd",
        FloatBinaryOp::Sub => "fsub",
        FloatBinaryOp::Mul => "fmul",
        FloatBinaryOp::Div => "fdiv",
        FloatBinaryOp::Min => "fmin",
        FloatBinaryOp::Max => "fmax",
    }
    Round {
        Round::Nearest => "rn",
        Round::Zero => "rz",
        Round::Down => "rd",
        Round::Up => "ru",
    }
    ConvertOp {
        ConvertOp::Trunc => "trunc",
        ConvertOp::ZeroExtend => "zext",
        ConvertOp::SignExtend => "sext",
        ConvertOp::Bitcast => "bitcast",
        ConvertOp::HighHalf => "high.half",
        ConvertOp::FromMask => "from.mask",
        ConvertOp::ToMask => "to.mask",
    }
    SharedFn {
        SharedFn::Rcp => "rcp",
        SharedFn::Rsq => "rsq",
        SharedFn::RsqDenormal => "rsq.denormal",
        SharedFn::SqrtApprox => "sqrt.approx",
        SharedFn::Lg2 => "lg2",
        SharedFn::Ex2 => "ex2",
        SharedFn::TableRcp => "rcp.table",
        SharedFn::TableRsq => "rsq.table",
        SharedFn::TableSqrt => "sqrt.table",
        SharedFn::TableLg2 => "lg2.table",
        SharedFn::TableEx2 => "ex2.table",
        SharedFn::TableSin => "sin.table",
        SharedFn::TableCos => "cos.table",
        SharedFn::Rcp64High => "rcp64.high",
        SharedFn::Rsq64High => "rsq64.high",
        SharedFn::SinTurns => "sin.turns",
        SharedFn::CosTurns => "cos.turns",
        SharedFn::TwoOverPi => "two.over.pi",
    }
    Special {
        Special::Tid(0) => "tid.x",
        Special::Tid(1) => "tid.y",
        Special::Tid(2) => "tid.z",
        Special::Ctaid(0) => "ctaid.x",
        Special::Ctaid(1) => "ctaid.y",
        Special::Ctaid(2) => "ctaid.z",
        Special::Ntid(0) => "ntid.x",
        Special::Ntid(1) => "ntid.y",
        Special::Ntid(2) => "ntid.z",
        Special::Nctaid(0) => "nctaid.x",
        Special::Nctaid(1) => "nctaid.y",
        Special::Nctaid(2) => "nctaid.z",
        Special::WarpId => "warp.id",
        Special::WarpSlot => "warp.slot",
        Special::LaunchMask => "launch.mask",
        Special::Clock => "clock",
        Special::BarrierResult => "barrier.result",
        Special::BarrierReleased => "barrier.released",
        Special::SharedBytes => "shared.bytes",
    }
    AtomicOp {
        AtomicOp::Add => "add",
        AtomicOp::Sub => "sub",
        AtomicOp::MinS => "min.s",
        AtomicOp::MinU => "min.u",
        AtomicOp::MaxS => "max.s",
        AtomicOp::MaxU => "max.u",
        AtomicOp::And => "and",
        AtomicOp::Or => "or",
        AtomicOp::Xor => "xor",
        AtomicOp::Exchange => "exchange",
        AtomicOp::Inc => "inc",
        AtomicOp::Dec => "dec",
        AtomicOp::SafeAdd => "safe.add",
        AtomicOp::CompareExchange => "cas",
        AtomicOp::FCompareExchange => "fcas",
        AtomicOp::ReverseSub => "reverse.sub",
        AtomicOp::MaskedOr => "masked.or",
        AtomicOp::Wrap => "wrap",
        AtomicOp::FAdd { flush: false } => "fadd",
        AtomicOp::FAdd { flush: true } => "fadd.ftz",
        AtomicOp::FMin => "fmin",
        AtomicOp::FMax => "fmax",
        AtomicOp::PairFAdd { flush: false } => "pair.fadd",
        AtomicOp::PairFAdd { flush: true } => "pair.fadd.ftz",
        AtomicOp::PairFMin => "pair.fmin",
        AtomicOp::PairFMax => "pair.fmax",
        AtomicOp::BrainFAdd => "brain.fadd",
        AtomicOp::BrainFMin => "brain.fmin",
        AtomicOp::BrainFMax => "brain.fmax",
        AtomicOp::Arrive { drop: false } => "arrive",
        AtomicOp::Arrive { drop: true } => "arrive.drop",
        AtomicOp::ArriveCounting => "arrive.counting",
    }
    Operation {
        Operation::Sample => "sample",
        Operation::SampleGradients => "sample.gradients",
        Operation::Level => "sample.level",
        Operation::Fetch => "fetch",
        Operation::FetchNearest => "fetch.nearest",
        Operation::FetchAddressed => "fetch.addressed",
        Operation::Gather { component: 0 } => "gather.r",
        Operation::Gather { component: 1 } => "gather.g",
        Operation::Gather { component: 2 } => "gather.b",
        Operation::Gather { component: 3 } => "gather.a",
    }
    LaneFault {
        LaneFault::Misaligned => "misaligned",
        LaneFault::SurfaceOutOfRange => "surface.out.of.range",
        LaneFault::InvalidSurface => "invalid.surface",
        LaneFault::Unimplemented => "unimplemented",
        LaneFault::IllegalInstruction => "illegal.instruction",
        LaneFault::StackOverflow => "stack.overflow",
    }
    BarrierKind {
        BarrierKind::Sync => "sync",
        BarrierKind::Arrive => "arrive",
        BarrierKind::Popcount => "popcount",
        BarrierKind::And => "and",
        BarrierKind::Or => "or",
        BarrierKind::ClusterArrive => "cluster_arrive",
        BarrierKind::ClusterWait => "cluster_wait",
    }
    LaneEvent {
        LaneEvent::Exit => "exit",
        LaneEvent::Wait => "wait",
        LaneEvent::Poll => "poll",
    }
    TrapKind {
        TrapKind::IllegalInstruction => "illegal",
        TrapKind::Unimplemented => "unimplemented",
        TrapKind::Guest => "guest",
        TrapKind::StackOverflow => "stack.overflow",
    }
    Service {
        Service::Print => "print",
        Service::Allocate => "allocate",
        Service::Free => "free",
        Service::AssertFail => "assert.fail",
        Service::SetConditional => "set.conditional",
    }
}

/// The name of a space; the number of a constant bank is part of it.
pub(crate) fn space_name(space: Space) -> String {
    match space {
        Space::Generic => "generic".into(),
        Space::Global => "global".into(),
        Space::Shared => "shared".into(),
        Space::Local => "local".into(),
        Space::Const(bank) => format!("const{bank}"),
    }
}

pub(crate) fn space_from_name(name: &str) -> Option<Space> {
    match name {
        "generic" => Some(Space::Generic),
        "global" => Some(Space::Global),
        "shared" => Some(Space::Shared),
        "local" => Some(Space::Local),
        _ => name.strip_prefix("const")?.parse().ok().map(Space::Const),
    }
}
