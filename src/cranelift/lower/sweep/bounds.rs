//! The number of lanes of a strip for which compares hold.

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{InstBuilder, Value as Clif, types};
use warploom_analysis::{Condition, Inner, Sweep};
use warploom_ir::{IntCc, Value};

use super::super::block::BlockLowerer;
use super::super::chunk::Reach;
use super::super::full_warp::is_upwards;
use super::super::int;
use super::{LANES, Spaced, Strip};

impl<'r> BlockLowerer<'_, 'r, '_> {
    /// Reduces `lanes` to the number of lanes for which ordered compares hold, where that can be
    /// told. It uses only compares that are equal in all strips. These lanes must still be tested:
    /// this function does not check whether numbers wrap.
    pub(super) fn shortened(&mut self, sweep: &'r Sweep, mut lanes: Clif) -> Clif {
        let thread = self.first_thread();
        self.begin_strip(
            sweep,
            Strip { spaced: Spaced::All, ..Strip::at(thread) },
            Reach::Known(0),
        );
        for condition in &sweep.group.conditions {
            let Condition::Compare { cc, a, b } = *condition else { continue };
            let step =
                self.scope.classes.get(a).stride().expect("a group compares evenly spaced values");
            let ends = is_upwards(cc) == (step > 0) && step.unsigned_abs().is_power_of_two();
            if !ends || [a, b].iter().any(|&v| sweep.depends_on_strip(v)) {
                continue;
            }
            let [first, limit] = [a, b].map(|v| self.warp_base(v, None));
            let fit = self.lanes_while(cc, step, (first, limit));
            lanes = self.b.ins().smin(lanes, fit);
        }
        // From here on no value is taken to be evenly spaced without a test.
        self.begin_strip(sweep, Strip::at(thread), Reach::Known(0));
        lanes
    }

    /// Finds where `chunks` chunks may begin such that all their lanes take part in all loads.
    /// Returns the first such lane, and how many lanes from there may be the first lane.
    pub(super) fn inner_lanes(&mut self, inner: &Inner, lanes: Clif, chunks: i64) -> [Clif; 2] {
        let none = self.b.ins().iconst(types::I64, 0);
        let (mut from, mut to) = (none, lanes);
        for condition in &inner.conditions {
            let holds = match *condition {
                Condition::Mask { mask, full } => {
                    let mask = self.scalar(mask);
                    self.b.ins().icmp_imm_u(
                        if full { IntCC::NotEqual } else { IntCC::Equal },
                        mask,
                        0,
                    )
                }
                Condition::Compare { cc, a, b } => {
                    let words = [a, b].map(|v| self.warp_base(v, None));
                    self.narrow_to(cc, self.stride_of(a), words, lanes, [&mut from, &mut to])
                }
                Condition::Below { base, offsets: (least, greatest), limit } => {
                    let words = [base, limit].map(|v| self.warp_base(v, None));
                    let [low, high] = [least, greatest]
                        .map(|offset| self.b.ins().iadd_imm_s(words[0], i64::from(offset)));
                    // The range between the offsets wraps in no lane if it does not wrap in the
                    // first lane and the lanes do not wrap either.
                    let whole = self.b.ins().icmp(IntCC::UnsignedLessThanOrEqual, low, high);
                    let bounds = [&mut from, &mut to];
                    let holds = self.narrow_to(
                        IntCc::LtU,
                        self.stride_of(base),
                        [high, words[1]],
                        lanes,
                        bounds,
                    );
                    self.b.ins().band(whole, holds)
                }
                Condition::Aligned { .. } => unreachable!("no condition of lanes that take part"),
            };
            to = self.b.ins().select(holds, to, none);
        }
        // The lanes of the last chunks cannot be first lanes.
        let most = self.b.ins().isub(to, from);
        let most = self.b.ins().iadd_imm_s(most, 1 - LANES * chunks);
        [from, self.b.ins().smax(most, none)]
    }

    fn stride_of(&self, v: Value) -> i64 {
        self.scope.classes.get(v).stride().expect("a group compares evenly spaced values")
    }

    /// Moves the first or the last lane to where a compare holds. In lane 0 it compares
    /// `first` with `limit`, and `first` grows by `step` per lane. Returns whether the compare
    /// surely holds between these lanes.
    fn narrow_to(
        &mut self,
        cc: IntCc,
        step: i64,
        [first, limit]: [Clif; 2],
        lanes: Clif,
        [from, to]: [&mut Clif; 2],
    ) -> Clif {
        if step == 0 {
            return self.b.ins().icmp(int::condition(cc), first, limit);
        }
        if is_upwards(cc) == (step > 0) {
            let end = self.lanes_while(cc, step, (first, limit));
            *to = self.b.ins().smin(*to, end);
        } else {
            let start = self.lanes_while(cc.inverse(), step, (first, limit));
            *from = self.b.ins().smax(*from, start);
        }
        self.runs_straight(cc, first, step, lanes)
    }

    /// Returns whether values of `lanes` lanes do not wrap, as numbers of the compare's kind.
    pub(super) fn runs_straight(&mut self, cc: IntCc, first: Clif, step: i64, lanes: Clif) -> Clif {
        let reach = self.b.ins().iadd_imm_s(lanes, -1);
        let last = self.spread(first, step, Reach::Counted(reach));
        self.is_straight(cc, first, last, step)
    }
}
