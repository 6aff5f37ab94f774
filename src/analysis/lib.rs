//! Analyses of functions for the JIT, and the rewriting of functions for it.
//!
//! [`optimize`] rebuilds every block:
//!
//! - Operations of some lanes become operations of all lanes (`windows`).
//! - Registers are read and written once (`ssa`).
//! - Equal operations are shared (`editor`).
//! - Texels of known formats are taken apart (`texels`).
//! - Halves of 64-bit values and 16-bit parts of products are fused (`fuse`, `product`,
//!   `high_product`).
//! - Scaled reciprocal roots, divisions and roots in steps become one operation (`scaled`,
//!   `division`, `wide_division`, `root`).
//! - Denormals are flushed where there may be some (`flush`).
//! - Values that no lane can see are dropped (`demand`, `liveness`), and so are unused words
//!   (`narrow`).
//!
//! `class` says how a value varies over the lanes. `segment` cuts a block into runs that a chunk of
//! lanes may execute by itself. `group` finds the runs that a whole warp may execute at once. The
//! result of `optimize` is ordinary IR with unchanged meaning: the interpreter runs it as well.

mod arrays;
mod bits;
mod bounds;
mod class;
mod compare;
mod demand;
mod division;
mod early;
mod editor;
mod exact;
mod facts;
mod flow;
mod flush;
mod fuse;
mod group;
mod high_product;
mod lanes;
mod liveness;
mod local;
mod long_division;
mod loops;
mod masks;
mod narrow;
mod normal_form;
mod pairs;
mod places;
mod product;
mod root;
mod rules;
mod scaled;
mod segment;
mod ssa;
mod sweep;
mod texels;
pub mod tiled;
mod unroll;
mod visits;
mod wide_division;
mod windows;

use std::sync::Arc;

pub use bounds::{Bound, bound};
pub use class::{
    Choice, Class, Classes, Execution, GridClass, LaunchClass, Launched, LowWord, kept_bits,
    low_word,
};
use demand::Demand;
use editor::Editor;
pub use editor::is_pure;
pub use facts::{Facts, facts};
pub use flow::Flow;
pub use group::{Condition, Group, NEAR, Sources, are_near, groups, keep_to_lanes};
pub use lanes::fixed_lanes;
pub use liveness::Liveness;
use liveness::Numbers;
pub use long_division::shorten_divisions;
pub use loops::in_loops;
pub use masks::Masks;
pub use normal_form::verify_normal_form;
pub use rules::{Firings, RULES, Rule, Rules, UnknownRule, rewrite_function};
pub use segment::{Plan, Step, Support};
pub use sweep::{Inner, Sweep};
pub use tiled::{Tiled, tiled};
pub use unroll::unroll_exchanges;
pub use visits::{visit, visits};
use warploom_ir::verify::{self, VerifyError};
use warploom_ir::{BankId, Block, BlockId, CellKind, Function, Op, Reg, Terminator};

/// A function rebuilt for the engines, with its control flow and liveness.
pub struct Optimized {
    pub function: Function,
    /// How control passes between its blocks.
    pub flow: Flow,
    /// Registers that a fresh warp may read before it writes them.
    pub read_first: Vec<Reg>,
    pub liveness: Liveness,
    /// How often each rule has rewritten something.
    pub firings: Firings,
}

/// The most rounds that drop dead values.
const MAX_ROUNDS: u32 = 4;

/// Returns the function with every block rebuilt, by all rules.
///
/// # Errors
/// The function breaks an invariant.
pub fn optimize(function: &Function) -> Result<Optimized, VerifyError> {
    optimize_by(function, Rules::ALL)
}

/// Returns the function with every block rebuilt, by these rules.
///
/// # Errors
/// The function breaks an invariant.
pub fn optimize_by(function: &Function, rules: Rules) -> Result<Optimized, VerifyError> {
    verify::verify(function)?;
    let function = &*windows::widen(function);
    // Rebuilt blocks keep their successors.
    let flow = Flow::of(function);
    let numbers = Arc::new(Numbers::of(function));
    let mut firings = Firings::default();
    let mut blocks: Vec<(Editor, Terminator)> =
        function.blocks.iter().map(|b| ssa::rebuild(function, b, rules)).collect();
    let read = arrays::read_in(blocks.iter().map(|(editor, _)| &editor.insts[..]));
    for ((editor, term), old) in blocks.iter_mut().zip(&function.blocks) {
        if editor.insts.iter().any(|inst| arrays::is_unread(&inst.op, &read)) {
            editor.insts.retain(|inst| !arrays::is_unread(&inst.op, &read));
            let (insts, values) =
                (std::mem::take(&mut editor.insts), std::mem::take(&mut editor.values));
            firings.add(&editor.firings);
            (*editor, *term) =
                ssa::rebuild(function, &Block { insts, values, term: term.clone(), ..*old }, rules);
        }
    }
    for (index, (_, term)) in blocks.iter_mut().enumerate() {
        // `from`, the index to search from, counts all places, so only dispatchers without it lose
        // places.
        if let Terminator::Dispatch { places, from: None, otherwise } = term {
            places.retain(|&(reg, _)| flow.places.may_hold(index, reg));
            if places.is_empty() {
                *term = Terminator::Jump(*otherwise);
            }
        }
    }
    let mut exposed: Vec<Vec<(Reg, u32)>> = Vec::new();
    // In the first rounds, dead values keep other values alive.
    for _ in 0..MAX_ROUNDS {
        let demands: Vec<Demand> =
            blocks.iter().map(|(editor, term)| Demand::of(editor, term, function.active)).collect();
        exposed = demands.iter().map(|demand| demand.exposed(function)).collect();
        let liveness = Liveness::of(
            function,
            (&flow, &numbers),
            &blocks,
            |i, value, is_lane| demands[i].is_seen(value, is_lane),
            &exposed,
        );
        let pruned = demands.into_iter().zip(0..).map(|(demand, block)| {
            let block = BlockId(block);
            let elsewhere = liveness
                .leads_to_itself(block)
                .then_some(|reg| liveness.live_elsewhere(block, reg));
            let live = |reg, is_of_active| match is_of_active {
                true => liveness.live_active(block, reg),
                false => liveness.live_out(block, reg),
            };
            demand.prune(live, elsewhere)
        });
        let pruned: Vec<Option<(Editor, Terminator)>> = pruned.collect();
        if pruned.iter().all(Option::is_none) {
            break;
        }
        for ((block, pruned), old) in blocks.iter_mut().zip(pruned).zip(&function.blocks) {
            let Some((editor, term)) = pruned else { continue };
            // Only for gathers are registers written in the middle of a block, and read again.
            let rebuilds = gathers(&editor) < gathers(&block.0);
            *block = if rebuilds {
                let Editor { insts, values, firings: fired, .. } = editor;
                firings.add(&fired);
                ssa::rebuild(function, &Block { insts, values, term, ..*old }, rules)
            } else {
                (editor, term)
            };
        }
    }
    for (editor, _) in &mut blocks {
        editor.insts = early::write_early(function, std::mem::take(&mut editor.insts));
    }
    let liveness = Liveness::of(function, (&flow, &numbers), &blocks, |_, _, _| true, &exposed);
    let read_first = registers(function)
        .filter(|&reg| {
            let bytes = matches!(function.bank(reg.bank).kind, CellKind::Bytes(_));
            reg != function.active && (bytes || liveness.live_in(BlockId(0), reg))
        })
        .collect();
    blocks.iter().for_each(|(editor, _)| firings.add(&editor.firings));
    let blocks = function.blocks.iter().zip(blocks);
    let blocks = blocks.map(|(old, (Editor { insts, values, .. }, term))| Block {
        insts,
        values,
        term,
        ..*old
    });
    let blocks = blocks.map(flush::apart).collect();
    let function = Function {
        name: function.name.clone(),
        banks: function.banks.clone(),
        blocks,
        ..*function
    };
    Ok(Optimized { function, flow, read_first, liveness, firings })
}

fn gathers(editor: &Editor) -> usize {
    editor.insts.iter().filter(|inst| matches!(inst.op, Op::RfGather { .. })).count()
}

fn registers(function: &Function) -> impl Iterator<Item = Reg> + '_ {
    let banks = function.banks.iter().enumerate();
    banks.flat_map(|(bank, decl)| (0..decl.count).map(move |index| BankId(bank as u16).reg(index)))
}
