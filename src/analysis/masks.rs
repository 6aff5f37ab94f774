//! Lane masks: proofs from their definitions, and simplification to equal masks.

use smallvec::SmallVec;
use warploom_ir::{BinaryOp, Defs, Inst, Op, UnaryOp, Value, ValueType, Window};

use super::editor::Editor;
use super::visits::visit;

/// Proves relations between the bits of a block's masks from their definitions.
pub struct Masks<'a> {
    /// All lanes of a warp.
    all: u64,
    insts: &'a [Inst],
    defs: &'a Defs,
}

/// Returns whether a mask of `lanes` lanes has all lanes or none.
pub fn is_all_or_none(mask: u64, lanes: u8) -> bool {
    mask == 0 || mask == Window::all(lanes).mask()
}

impl<'a> Masks<'a> {
    /// Returns the masks of a block of a function whose warps have `lanes` lanes.
    pub fn of(lanes: u8, insts: &'a [Inst], defs: &'a Defs) -> Self {
        Masks { all: Window::all(lanes).mask(), insts, defs }
    }

    fn def(&self, value: Value) -> &Op {
        &self.insts[self.defs[value].0].op
    }

    fn constant(&self, value: Value) -> Option<u64> {
        match self.def(value) {
            Op::Const { bits, .. } => Some(*bits),
            _ => None,
        }
    }

    /// Returns whether every bit of mask `a` is proven to be set in mask `b`.
    pub fn is_subset(&self, a: Value, b: Value) -> bool {
        Proof { masks: self, steps: MAX_STEPS }.is_subset(a, b)
    }

    /// Returns whether masks `a` and `b` are proven to share no bit.
    pub fn is_disjoint(&self, a: Value, b: Value) -> bool {
        let mut proof = Proof { masks: self, steps: MAX_STEPS };
        proof.excludes(a, b) || proof.excludes(b, a)
    }
}

/// The most steps of a proof. A bound is needed: definitions share parts, so the paths through them
/// far outnumber the definitions.
const MAX_STEPS: u32 = 100;

struct Proof<'a> {
    masks: &'a Masks<'a>,
    steps: u32,
}

impl Proof<'_> {
    fn is_subset(&mut self, a: Value, b: Value) -> bool {
        visit();
        let masks = self.masks;
        let constants = (masks.constant(a), masks.constant(b));
        if a == b || constants.0 == Some(0) || constants.1 == Some(masks.all) {
            return true;
        }
        if let (Some(a), Some(b)) = constants {
            return a & !b == 0;
        }
        if self.steps == 0 {
            return false;
        }
        self.steps -= 1;
        if let Op::Binary { op: BinaryOp::Or, a: x, b: y } = *masks.def(b)
            && (self.is_subset(a, x) || self.is_subset(a, y))
        {
            return true;
        }
        match *masks.def(a) {
            Op::Binary { op: BinaryOp::And, a: x, b: y } => {
                self.is_subset(x, b) || self.is_subset(y, b)
            }
            Op::Binary { op: BinaryOp::Or | BinaryOp::Xor, a: x, b: y } => {
                self.is_subset(x, b) && self.is_subset(y, b)
            }
            _ => false,
        }
    }

    fn excludes(&mut self, a: Value, b: Value) -> bool {
        visit();
        if self.steps == 0 {
            return false;
        }
        self.steps -= 1;
        match *self.masks.def(a) {
            Op::Unary { op: UnaryOp::Not, a: x } => self.is_subset(b, x),
            Op::Binary { op: BinaryOp::And, a: x, b: y } => {
                self.excludes(x, b) || self.excludes(y, b)
            }
            _ => self.masks.constant(a) == Some(0),
        }
    }
}

/// The most masks that [`Editor::conjuncts`] returns.
const MAX_CONJUNCTS: usize = 7;

/// The number of lanes of a GFX9 warp.
const INVERTS_MASKS: u8 = 64;

impl Editor {
    pub(super) fn not_mask(&mut self, a: Value) -> Value {
        let window = self.window();
        self.pure(Op::Unary { op: UnaryOp::Not, a }, window, &[ValueType::MASK])[0]
    }

    /// Returns whether a mask is a constant that has all lanes.
    pub(super) fn is_all_lanes(&self, mask: Value) -> bool {
        self.constant(mask) == Some(self.window().mask())
    }

    fn inverted(&self, mask: Value) -> Option<Value> {
        match *self.def(mask) {
            Op::Unary { op: UnaryOp::Not, a } => Some(a),
            _ => None,
        }
    }

    /// Returns `x` and `y` if a mask is `x & ~y`.
    fn difference(&self, mask: Value) -> Option<(Value, Value)> {
        let (a, b) = self.matches_binary(mask, BinaryOp::And)?;
        match (self.inverted(a), self.inverted(b)) {
            (_, Some(y)) => Some((a, y)),
            (Some(y), None) => Some((b, y)),
            _ => None,
        }
    }

    /// Returns the mask and masks whose conjunction it is, narrow masks first. A long list is
    /// incomplete.
    pub(super) fn conjuncts(&self, mask: Value) -> SmallVec<[Value; 8]> {
        let mut all = SmallVec::from_slice(&[mask]);
        let mut at = 0;
        while let Some(&mask) = all.get(at)
            && all.len() < MAX_CONJUNCTS
        {
            if let Some((a, b)) = self.matches_binary(mask, BinaryOp::And) {
                all.extend([a, b]);
            }
            at += 1;
        }
        all
    }

    /// Finds an existing compare whose lanes are exactly the complement of this compare's lanes.
    ///
    /// Only code whose guest itself inverts masks of lanes (GFX9) gets it. In code of narrower
    /// warps, a complement would hide the compare from the rules that recognise divisions.
    pub(super) fn inverted_compare(&self, op: &Op, window: Window) -> Option<Value> {
        let inverse = match *op {
            Op::ICmp { cc, a, b } => Op::ICmp { cc: cc.inverse(), a, b },
            Op::FCmp { cc, flush, a, b } => Op::FCmp { cc: cc.inverse(), flush, a, b },
            _ => return None,
        };
        if self.lanes == INVERTS_MASKS && window == self.window() {
            self.find(&inverse, window)
        } else {
            None
        }
    }

    /// Simplifies `a & b`.
    pub(super) fn simplify_mask_and(&mut self, a: Value, b: Value) -> Option<Value> {
        if self.is_subset(a, b) {
            return Some(a);
        }
        if self.is_subset(b, a) {
            return Some(b);
        }
        if self.is_disjoint(a, b) {
            return Some(self.lanes_of(0));
        }
        self.simplify_difference(a, b)
            .or_else(|| self.simplify_difference(b, a))
            .or_else(|| self.simplify_part(a, b))
            .or_else(|| self.simplify_part(b, a))
    }

    /// Simplifies `a & (x | y)` to `a & y` if `a` and `x` share no bit.
    fn simplify_part(&mut self, a: Value, b: Value) -> Option<Value> {
        let (x, y) = self.matches_binary(b, BinaryOp::Or)?;
        let rest = if self.is_disjoint(a, x) {
            y
        } else if self.is_disjoint(a, y) {
            x
        } else {
            return None;
        };
        Some(self.and_mask(a, rest))
    }

    /// Simplifies `a & ~(a & ~x | y)` to `a & x & ~y`, and `a & ~(a & ~x)` to `a & x`.
    ///
    /// Guests compute these masks when some lanes of `a` have left and the rest go on.
    fn simplify_difference(&mut self, a: Value, b: Value) -> Option<Value> {
        let gone = self.inverted(b)?;
        let stays = |of: Value| self.difference(of).filter(|&(from, _)| from == a).map(|(_, x)| x);
        if let Some(x) = stays(gone) {
            return Some(self.and_mask(a, x));
        }
        let (first, second) = self.matches_binary(gone, BinaryOp::Or)?;
        let (x, y) = match (stays(first), stays(second)) {
            (Some(x), _) => (x, second),
            (None, Some(x)) => (x, first),
            _ => return None,
        };
        let (stay, others) = (self.and_mask(a, x), self.not_mask(y));
        Some(self.and_mask(stay, others))
    }

    /// Simplifies `a | b`.
    pub(super) fn simplify_mask_or(&mut self, a: Value, b: Value) -> Option<Value> {
        if self.is_subset(a, b) {
            return Some(b);
        }
        if self.is_subset(b, a) {
            return Some(a);
        }
        self.simplify_union(a, b).or_else(|| self.simplify_union(b, a))
    }

    /// Simplifies unions of the lanes of a branch's sides.
    ///
    /// - `e & ~c | e & c`, the lanes of both sides, is `e`.
    /// - `e & ~c | c` is `e` if `c` is a subset of `e`.
    /// - `e & ~c | c & ~x` is `e & ~(c & x)` if `c` is a subset of `e`: the lanes that did not
    ///   reach the second of two conditions, and the lanes that failed it.
    fn simplify_union(&mut self, a: Value, b: Value) -> Option<Value> {
        let (e, c) = self.difference(a)?;
        if b == c && self.is_subset(c, e) {
            return Some(e);
        }
        if self
            .matches_binary(b, BinaryOp::And)
            .is_some_and(|sides| sides == (e, c) || sides == (c, e))
        {
            return Some(e);
        }
        let (from, x) = self.difference(b)?;
        if from != c || !self.is_subset(c, e) {
            return None;
        }
        let swapped = self.find(&Op::Binary { op: BinaryOp::And, a: x, b: c }, self.window());
        let both = swapped.unwrap_or_else(|| self.and_mask(c, x));
        let others = self.not_mask(both);
        Some(self.and_mask(e, others))
    }
}

#[cfg(test)]
mod tests {
    use warploom_ir::{BankId, Part};

    use super::super::rules::Rules;
    use super::*;

    /// The truth tables of six registers: a bit for each of the 64 combinations.
    const TABLES: [u64; 6] = [
        0xaaaa_aaaa_aaaa_aaaa,
        0xcccc_cccc_cccc_cccc,
        0xf0f0_f0f0_f0f0_f0f0,
        0xff00_ff00_ff00_ff00,
        0xffff_0000_ffff_0000,
        0xffff_ffff_0000_0000,
    ];

    fn table(editor: &Editor, mask: Value) -> u64 {
        match *editor.def(mask) {
            Op::RfRead { reg, .. } => TABLES[reg.index as usize],
            Op::Const { bits, .. } => bits,
            Op::Unary { op: UnaryOp::Not, a } => !table(editor, a),
            Op::Binary { op: BinaryOp::And, a, b } => table(editor, a) & table(editor, b),
            Op::Binary { op: BinaryOp::Or, a, b } => table(editor, a) | table(editor, b),
            ref op => panic!("{op:?}"),
        }
    }

    /// Simplified random masks keep their truth tables, and every proof about them is true.
    #[test]
    fn simpler_masks_are_equal() {
        let mut state = 1_u64;
        let mut random = |below: usize| {
            state = state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
            (state >> 33) as usize % below
        };
        let (mut proven, mut smaller) = (0, 0);
        for _ in 0..3_000 {
            let mut editor = Editor::new(64, 64, Rules::ALL);
            let registers = 3 + random(4) as u32;
            let mut masks: Vec<(Value, u64)> = Vec::new();
            for index in 0..registers {
                let op = Op::RfRead { reg: BankId(0).reg(index), part: Part::Whole };
                masks.push((
                    editor.push(op, Window::all(64), &[ValueType::MASK])[0],
                    TABLES[index as usize],
                ));
            }
            for _ in 0..24 {
                let ((a, x), (b, y)) = (masks[random(masks.len())], masks[random(masks.len())]);
                let before = editor.insts.len();
                let (mask, expected) = match random(3) {
                    0 => (editor.not_mask(a), !x),
                    1 => (editor.and_mask(a, b), x & y),
                    _ => (editor.or_mask(a, b), x | y),
                };
                assert_eq!(table(&editor, mask), expected, "{:?}", editor.insts);
                smaller += usize::from(editor.insts.len() == before);
                if editor.is_subset(a, b) {
                    assert_eq!(x & !y, 0);
                    proven += 1;
                }
                if editor.is_disjoint(a, b) {
                    assert_eq!(x & y, 0);
                    proven += 1;
                }
                masks.push((mask, expected));
            }
        }
        assert!(proven > 1_000 && smaller > 1_000, "{proven} proven, {smaller} simplified");
    }
}
