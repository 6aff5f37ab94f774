//! For how many lanes of a strip compares hold.

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{InstBuilder, Value as Clif, types};

use super::super::block::BlockLowerer;
use super::super::chunk::Reach;
use super::super::int;
use super::{LANES, Spaced, Strip};
use crate::analysis::{Condition, Inner, Sweep};
use crate::ir::IntCc;

impl<'r> BlockLowerer<'_, 'r, '_> {
    /// So many lanes of the strip, or those for which ordered compares hold that are the same for all strips, if it can be told.
    /// They are still to be tested: whether numbers wrap is not asked here.
    pub(super) fn shortened(&mut self, sweep: &'r Sweep, mut lanes: Clif) -> Clif {
        let thread = self.first_thread();
        self.begin_strip(sweep, Strip { spaced: Spaced::All, ..Strip::at(thread) }, Reach::Known(0));
        for condition in &sweep.group.conditions {
            let Condition::Compare { cc, a, b } = *condition else { continue };
            let step = self.classes.get(a).stride().expect("a group compares evenly spaced values");
            let ends = is_upwards(cc) == (step > 0) && step.unsigned_abs().is_power_of_two();
            if !ends || [a, b].iter().any(|&v| sweep.depends_on_strip(v)) {
                continue;
            }
            let [first, limit] = [a, b].map(|v| self.warp_base(v, None));
            let fit = self.lanes_while(cc, step, (first, limit));
            lanes = self.b.ins().smin(lanes, fit);
        }
        // What was taken to be evenly spaced is forgotten.
        self.begin_strip(sweep, Strip::at(thread), Reach::Known(0));
        lanes
    }

    /// The first lane from which so many chunks may begin of which all lanes take part in all loads, and how many lanes may be the
    /// first of such.
    pub(super) fn inner_lanes(&mut self, inner: &Inner, lanes: Clif, chunks: i64) -> [Clif; 2] {
        let none = self.b.ins().iconst(types::I64, 0);
        let (mut from, mut to) = (none, lanes);
        for condition in &inner.conditions {
            let holds = match *condition {
                Condition::Mask { mask, full } => {
                    let mask = self.scalar(mask);
                    let warp = self.warp_mask() as i64;
                    let inside = self.b.ins().band_imm_s(mask, warp);
                    self.b.ins().icmp_imm_u(if full { IntCC::NotEqual } else { IntCC::Equal }, inside, 0)
                }
                Condition::Compare { cc, a, b } => {
                    let step = self.classes.get(a).stride().expect("a group compares evenly spaced values");
                    let [first, limit] = [a, b].map(|v| self.warp_base(v, None));
                    if step == 0 {
                        self.b.ins().icmp(int::condition(cc), first, limit)
                    } else if is_upwards(cc) == (step > 0) {
                        let end = self.lanes_while(cc, step, (first, limit));
                        to = self.b.ins().smin(to, end);
                        self.runs_straight(cc, first, step, lanes)
                    } else {
                        let start = self.lanes_while(cc.inverse(), step, (first, limit));
                        from = self.b.ins().smax(from, start);
                        self.runs_straight(cc, first, step, lanes)
                    }
                }
                Condition::Below { .. } | Condition::Aligned { .. } => {
                    unreachable!("no condition of lanes that take part")
                }
            };
            to = self.b.ins().select(holds, to, none);
        }
        // Those of the last chunks are not the first of any.
        let most = self.b.ins().isub(to, from);
        let most = self.b.ins().iadd_imm_s(most, 1 - LANES * chunks);
        [from, self.b.ins().smax(most, none)]
    }

    /// Whether so many lanes do not wrap, as numbers of the compare's kind.
    pub(super) fn runs_straight(&mut self, cc: IntCc, first: Clif, step: i64, lanes: Clif) -> Clif {
        let reach = self.b.ins().iadd_imm_s(lanes, -1);
        let last = self.spread(first, step, Reach::Counted(reach));
        self.is_straight(cc, first, last, step)
    }

    /// How many lanes there are from lane 0 on in which a compare holds of words that go up, or down, so far from lane to lane that it does
    /// not from some lane on. They do not wrap.
    pub(super) fn lanes_while(&mut self, cc: IntCc, step: i64, words: (Clif, Clif)) -> Clif {
        let [first, limit] = [words.0, words.1].map(|v| match (self.b.func.dfg.value_type(v), cc.is_signed()) {
            (types::I64, _) => v,
            (_, true) => self.b.ins().sextend(types::I64, v),
            (_, false) => self.b.ins().uextend(types::I64, v),
        });
        let or_equal = matches!(cc, IntCc::LeS | IntCc::LeU | IntCc::GeS | IntCc::GeU);
        let distance = if step > 0 { self.b.ins().isub(limit, first) } else { self.b.ins().isub(first, limit) };
        let distance = self.b.ins().iadd_imm_s(distance, step.abs() - 1 + i64::from(or_equal));
        let count = self.b.ins().sshr_imm_u(distance, i64::from(step.unsigned_abs().trailing_zeros()));
        let none = self.b.ins().iconst(types::I64, 0);
        self.b.ins().smax(count, none)
    }
}

/// Whether a compare that holds for a number does for lower ones.
fn is_upwards(cc: IntCc) -> bool {
    matches!(cc, IntCc::LtS | IntCc::LeS | IntCc::LtU | IntCc::LeU)
}
