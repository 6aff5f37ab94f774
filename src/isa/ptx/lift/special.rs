//! Special registers.
//!
//! Source: facts, `ptx.md` 3. `docs/fidelity.md` has the choices that they leave open.

use warploom_guest::divergence::Mask;
use warploom_ir::{IntCc, Special, Type, Value};

use super::context::Cx;
use super::driver;
use crate::module::{LaneRelation, SpecialRegister};

impl Cx<'_> {
    /// Returns the value of a special register, in its own width.
    pub fn special(&mut self, special: SpecialRegister) -> Value {
        use SpecialRegister as S;
        match special {
            S::Tid(3..)
            | S::Ctaid(3..)
            | S::ClusterId(3..)
            | S::ClusterCtaid(_)
            | S::ClusterCtaRank => self.word(0),
            S::Ntid(3..)
            | S::Nctaid(3..)
            | S::NClusterId(3..)
            | S::ClusterNctaid(_)
            | S::ClusterNctaRank => self.word(1),
            S::Tid(n) => self.b.special(Special::Tid(n)),
            S::Ntid(n) => self.b.special(Special::Ntid(n)),
            S::Ctaid(n) | S::ClusterId(n) => self.b.special(Special::Ctaid(n)),
            S::Nctaid(n) | S::NClusterId(n) => self.b.special(Special::Nctaid(n)),
            S::LaneId => self.b.lane_id(),
            S::WarpId => self.b.special(Special::WarpId),
            S::LaneMask(relation) => self.lane_mask(relation),
            S::Clock64 => self.b.special(Special::Clock),
            S::Clock => {
                let clock = self.b.special(Special::Clock);
                self.b.trunc(Type::I32, clock)
            }
            S::ClockHi => {
                let clock = self.b.special(Special::Clock);
                self.b.high_half(clock)
            }
            S::GlobalTimer => self.nanoseconds(),
            S::GlobalTimerLo => {
                let time = self.nanoseconds();
                self.b.trunc(Type::I32, time)
            }
            S::GlobalTimerHi => {
                let time = self.nanoseconds();
                self.b.high_half(time)
            }
            S::SmId | S::Pm(_) => self.word(0),
            S::NSmId => self.word(driver::PROCESSORS),
            S::NWarpId => self.word(driver::WARPS),
            S::GridId => self.driver(driver::GRID, Type::I64),
            S::Pm64(_) | S::CurrentGraphExec => self.constant(Type::I64, 0),
            S::EnvReg(n) => self.driver(driver::ENVIRONMENT + 4 * u32::from(n), Type::I32),
            S::DynamicSmemSize => self.driver(driver::DYNAMIC_SHARED, Type::I32),
            // The system's part is behind the block's part.
            S::TotalSmemSize | S::ReservedSmem(0 | 3..) => {
                self.driver(driver::TOTAL_SHARED, Type::I32)
            }
            S::AggrSmemSize | S::ReservedSmem(1) => {
                let (total, reserved) = (
                    self.driver(driver::TOTAL_SHARED, Type::I32),
                    self.word(driver::RESERVED_SHARED),
                );
                self.b.add(total, reserved)
            }
            S::ReservedSmem(_) => self.word(driver::RESERVED_SHARED),
            // This is the `i32` behind the predicate: see `is_explicit_cluster`.
            S::IsExplicitCluster => self.driver(driver::EXPLICIT_CLUSTER, Type::I32),
        }
    }

    /// Returns the time in nanoseconds. Time goes on from launch to launch; within a launch, a
    /// nanosecond is one cycle of its clock.
    fn nanoseconds(&mut self) -> Value {
        let (start, clock) =
            (self.driver(driver::START_TIME, Type::I64), self.b.special(Special::Clock));
        self.b.add(start, clock)
    }

    /// Returns %is_explicit_cluster.
    pub fn is_explicit_cluster(&mut self) -> Mask {
        let (is, zero) = (self.driver(driver::EXPLICIT_CLUSTER, Type::I32), self.word(0));
        let (is, zero) = (self.b.splat(is), self.b.splat(zero));
        Mask::Lanes(self.b.icmp(IntCc::Ne, is, zero))
    }

    fn lane_mask(&mut self, relation: LaneRelation) -> Value {
        use LaneRelation as R;
        let (lane, one, ones) = (self.b.lane_id(), self.word(1), self.word(u32::MAX));
        match relation {
            R::Eq => self.b.shl(one, lane),
            R::Ge => self.b.shl(ones, lane),
            R::Lt => {
                let at_least = self.b.shl(ones, lane);
                self.b.not(at_least)
            }
            R::Gt => {
                let shifted = self.b.shl(ones, lane);
                self.b.shl(shifted, one)
            }
            R::Le => {
                let shifted = self.b.shl(ones, lane);
                let above = self.b.shl(shifted, one);
                self.b.not(above)
            }
        }
    }
}
