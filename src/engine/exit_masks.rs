//! Mask registers that gather the lanes that leave a loop in registers.
//!
//! Loops that lanes leave at different places keep those that left in a mask register, so that all come back behind the
//! loop: LLVM makes such code for GFX9. Where a round does nothing else to the register, it holds after any number of rounds what it
//! held before them and the lanes that were active and no longer are. So the loop need not carry it. That is true if it has no
//! active lane at first, as code tests before the loop; then it has none in any round, and is 0 wherever it is read, since only
//! active lanes are written.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use warploom_analysis::visit;
use warploom_ir::{BinaryOp, Block, Defs, Op, Reg, UnaryOp, Value};

/// The result of [`Rounds::exit_masks`].
#[derive(Default)]
pub struct ExitMasks {
    pub regs: BTreeSet<Reg>,
    /// Simpler values that masks equal, with 0 for the registers. A register's read stands for 0.
    pub equal: HashMap<Value, Value>,
}

/// A block that is a loop.
pub struct Rounds<'r> {
    pub block: &'r Block,
    pub defs: &'r Defs,
    /// All lanes of the warp as a mask.
    pub warp_mask: u64,
    /// The register of the active mask, what it holds before a round, and after it.
    pub active: (Reg, Value, Value),
}

/// Masks that truth tables of 64 bits can be made of.
const ATOMS: [u64; 6] = [
    0xaaaa_aaaa_aaaa_aaaa,
    0xcccc_cccc_cccc_cccc,
    0xf0f0_f0f0_f0f0_f0f0,
    0xff00_ff00_ff00_ff00,
    0xffff_0000_ffff_0000,
    0xffff_ffff_0000_0000,
];

/// Masks that are looked at.
const MOST_MASKS: usize = 200;

/// Masks as functions of others that nothing is known of.
#[derive(Default)]
struct Truth {
    tables: HashMap<Value, u64>,
    atoms: usize,
    looked_at: usize,
}

impl Rounds<'_> {
    /// The registers that gather what leaves the loop, among masks that a round writes.
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

    /// Whether a round adds nothing to a mask but the lanes that leave in it, if none of it is active before.
    fn gathers(&self, read: Value, value: Value, active: Value, next_active: Value) -> bool {
        let mut truth = Truth::default();
        let mut table = |mask| self.truth(&mut truth, mask);
        let tables =
            (|| Some([table(read)?, table(active)?, table(next_active)?, table(value)?]))();
        let Some([before, active, next_active, after]) = tables else { return false };
        let may_be = !(before & active);
        (after ^ (before | (active & !next_active))) & may_be == 0
    }

    /// None: it depends on too many masks.
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

    /// Adds masks that are made of known zeros.
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
