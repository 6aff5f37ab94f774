//! Mask registers that gather the lanes that leave a loop.
//!
//! If lanes leave a loop at different places, the loop keeps the lanes that left in a mask
//! register, so that all lanes resume behind the loop. LLVM makes such loops for GFX9. If a round
//! changes the register in no other way, the register holds after any number of rounds its initial
//! lanes and the lanes that were active at first and no longer are. The loop then need not carry
//! the register.
//!
//! This is true if the register has no active lane at first, which code tests before the loop. The
//! register then has no active lane in any round. Each read may be replaced by 0, since only active
//! lanes are written.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use warploom_analysis::visit;
use warploom_ir::{BinaryOp, Block, Defs, Op, Reg, UnaryOp, Value};

/// The result of [`Rounds::exit_masks`].
#[derive(Default)]
pub struct ExitMasks {
    pub regs: BTreeSet<Reg>,
    /// Simpler values that equal masks if the registers are 0. The read of one register stands for
    /// 0.
    pub equal: HashMap<Value, Value>,
}

/// A block that is a loop of its own.
pub struct Rounds<'r> {
    pub block: &'r Block,
    pub defs: &'r Defs,
    /// All lanes of the warp as a mask.
    pub warp_mask: u64,
    /// The register of the active mask, its value before a round, and its value after the round.
    pub active: (Reg, Value, Value),
}

/// The truth tables, in 64 bits, of independent masks.
const ATOMS: [u64; 6] = [
    0xaaaa_aaaa_aaaa_aaaa,
    0xcccc_cccc_cccc_cccc,
    0xf0f0_f0f0_f0f0_f0f0,
    0xff00_ff00_ff00_ff00,
    0xffff_0000_ffff_0000,
    0xffff_ffff_0000_0000,
];

/// The most masks that are looked at.
const MOST_MASKS: usize = 200;

/// Masks as functions of unknown masks.
#[derive(Default)]
struct Truth {
    tables: HashMap<Value, u64>,
    atoms: usize,
    looked_at: usize,
}

impl Rounds<'_> {
    /// Finds the registers that gather the lanes that leave the loop, among `masks`, which a round
    /// writes.
    pub fn exit_masks(&self, masks: &BTreeMap<Reg, Value>) -> ExitMasks {
        let mut exit_masks = ExitMasks::default();
        let (active_reg, active, next_active) = self.active;
        let reads = self.block.insts.iter().filter_map(|inst| match inst.op {
            Op::RfRead { reg, .. } if reg != active_reg => Some((reg, inst.results[0])),
            _ => None,
        });
        for (reg, read) in reads {
            if masks.get(&reg).is_some_and(|&value| self.gathers(read, value, active, next_active))
            {
                exit_masks.regs.insert(reg);
                exit_masks.equal.insert(read, read);
            }
        }
        self.add_equal(&mut exit_masks.equal);
        exit_masks
    }

    fn op(&self, v: Value) -> &Op {
        &self.block.insts[self.defs[v].0].op
    }

    /// Returns whether a round only adds the lanes that leave in it to a mask, provided that no
    /// lane of the mask is active before the round.
    fn gathers(&self, read: Value, value: Value, active: Value, next_active: Value) -> bool {
        let mut truth = Truth::default();
        let mut table = |mask| self.truth(&mut truth, mask);
        let tables =
            (|| Some([table(read)?, table(active)?, table(next_active)?, table(value)?]))();
        let Some([before, active, next_active, after]) = tables else { return false };
        let may_be = !(before & active);
        (after ^ (before | (active & !next_active))) & may_be == 0
    }

    /// Returns the truth table of a mask, or `None` if the mask depends on too many masks.
    fn truth(&self, truth: &mut Truth, mask: Value) -> Option<u64> {
        visit();
        if let Some(&table) = truth.tables.get(&mask) {
            return Some(table);
        }
        truth.looked_at += 1;
        if truth.looked_at > MOST_MASKS {
            return None;
        }
        let table = match *self.op(mask) {
            Op::Const { bits: 0, .. } => 0,
            Op::Const { bits, .. } if bits == self.warp_mask => u64::MAX,
            Op::Unary { op: UnaryOp::Not, a } => !self.truth(truth, a)?,
            Op::Binary { op: op @ (BinaryOp::And | BinaryOp::Or | BinaryOp::Xor), a, b } => {
                let (a, b) = (self.truth(truth, a)?, self.truth(truth, b)?);
                match op {
                    BinaryOp::And => a & b,
                    BinaryOp::Or => a | b,
                    _ => a ^ b,
                }
            }
            _ => {
                truth.atoms += 1;
                *ATOMS.get(truth.atoms - 1)?
            }
        };
        truth.tables.insert(mask, table);
        Some(table)
    }

    /// Adds masks that known zeros simplify.
    fn add_equal(&self, equal: &mut HashMap<Value, Value>) {
        let Some(&zero) = equal.values().next() else { return };
        equal.values_mut().for_each(|value| *value = zero);
        for inst in &self.block.insts {
            let of = |v: Value| equal.get(&v).copied().unwrap_or(v);
            let is_ones = |v: Value| matches!(*self.op(v), Op::Unary { op: UnaryOp::Not, a } if of(a) == zero);
            let by = match inst.op {
                Op::Binary { op: BinaryOp::And, a, b } if of(a) == zero || of(b) == zero => zero,
                Op::Binary { op: BinaryOp::And, a, b } if is_ones(b) => of(a),
                Op::Binary { op: BinaryOp::And, a, b } if is_ones(a) => of(b),
                Op::Binary { op: BinaryOp::Or | BinaryOp::Xor, a, b } if of(b) == zero => of(a),
                Op::Binary { op: BinaryOp::Or | BinaryOp::Xor, a, b } if of(a) == zero => of(b),
                _ => continue,
            };
            equal.insert(inst.results[0], by);
        }
        equal.remove(&zero);
    }
}
