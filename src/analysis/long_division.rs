//! Replaces all rounds but the last of a division bit by bit by one quotient.
//!
//! Where hardware divides words at most, Intel's compiler divides 64-bit integers in a loop. Round
//! `k`, from 63 down to 0, shifts bit `k` of the dividend `n` into the rest. If the rest is not
//! less than the divisor `d`, the round subtracts `d` from it and sets bit `k` of the quotient:
//!
//! ```text
//! rest = rest << 1 | (n >> k & 1)
//! if rest >= d { rest -= d; quotient |= 1 << k }
//! ```
//!
//! Before round `k` the rest is `(n >> k + 1) mod d`, if it was 0 before round 63. The bits set so
//! far are those of the quotient `(n >> k + 1) / d`, moved up by `k + 1`. No bits are lost on the
//! way: the compared value is at most `n >> k`. A division by 0 sets all bits, and its rest is
//! `n >> k + 1`. So the state before the last round is known without the rounds before it, and the
//! loop begins at its last round. The loop stays unchanged, and so does all that its last round
//! leaves in other registers.
//!
//! A block in front of the loop tests facts that the loop does not show: the rest is 0, `k` is 63,
//! and the compared divisor is the subtracted one. Omitted rounds are charged to the budget like
//! executed ones. As the budget is charged at once, this is done before engines see a function.

use std::cell::Cell;

use rustc_hash::{FxHashMap, FxHashSet};
use warploom_ir::verify::{self, VerifyError};
use warploom_ir::{
    BinaryOp, Block, BlockId, CellKind, ConvertOp, Function, IntCc, Op, Part, Reg, Terminator,
    Type, UnaryOp, Value, ValueType,
};

use super::editor::Editor;
use super::rules::Rules;
use super::ssa;
use super::visits::visit;

/// The number of rounds of a 64-bit division that are left out.
const ROUNDS: u32 = 63;
/// The most operations of a round.
const MAX_INSTS: usize = 200;
/// The most masks visited to analyse a round.
const MOST_MASKS: u32 = 10_000;

/// Makes loops that divide bit by bit begin at their last round. Returns the number of these loops.
///
/// # Errors
/// The function breaks an invariant.
pub fn shorten_divisions(function: &mut Function) -> Result<u32, VerifyError> {
    verify::verify(function)?;
    let mut count = 0;
    for latch in 0..function.blocks.len() {
        let Terminator::Jump(head) = function.blocks[latch].term else { continue };
        let latch = BlockId(latch as u32);
        let Some(found) = Loop::find(function, head, latch) else { continue };
        let first = BlockId(function.blocks.len() as u32);
        let shortcut = BlockId(first.0 + 1);
        let blocks = [found.test(function, shortcut), found.shortcut(function)];
        for (block, number) in function.blocks.iter_mut().zip(0..) {
            if number != latch.0 {
                block.term.map_targets(|target| if target == head { first } else { target });
            }
        }
        function.blocks.extend(blocks);
        count += 1;
    }
    Ok(count)
}

/// A loop of two blocks that divides.
struct Loop {
    head: BlockId,
    /// The cost of all omitted rounds, which the shortcut charges.
    cost: u32,
    body: Editor,
    rest: Reg,
    quotient: Option<Reg>,
    /// The register that counts rounds down to 0.
    number: Reg,
    dividend: Value,
    /// The value that the rest is compared with, and the value that is subtracted from it.
    divisors: [Value; 2],
}

impl Loop {
    fn find(function: &Function, head: BlockId, latch: BlockId) -> Option<Loop> {
        let Terminator::Branch { then, otherwise, .. } = function.block(head).term else {
            return None;
        };
        let size = function.block(head).insts.len() + function.block(latch).insts.len();
        if (then == latch) == (otherwise == latch)
            || head == latch
            || size > MAX_INSTS
            || head.0 == 0
        {
            return None;
        }
        let compares = |op: &Op| matches!(op, Op::ICmp { .. });
        if !function.block(head).insts.iter().any(|inst| compares(&inst.op))
            || !is_entered_plainly(function, head, latch)
        {
            return None;
        }
        let [(body, term), (end, _)] =
            [head, latch].map(|block| ssa::rebuild(function, function.block(block), Rules::ALL));
        let Terminator::Branch { cond, .. } = term else { return None };
        let number = counted_down(&end, function)?;
        if !leaves_at_zero(&body, cond, number, otherwise == latch) || !is_plain(&body) {
            return None;
        }
        let active = body.insts.iter().find_map(|inst| match inst.op {
            Op::RfRead { reg, .. } if reg == function.active => Some(inst.results[0]),
            _ => None,
        })?;
        let compares = body.insts.iter().filter_map(|inst| match inst.op {
            Op::ICmp { cc, a, b } => match cc {
                IntCc::LtU | IntCc::GeU => Some((a, b)),
                IntCc::GtU | IntCc::LeU => Some((b, a)),
                _ => None,
            },
            _ => None,
        });
        let compares: Vec<(Value, Value)> = compares.collect();
        let seen = |v: Value| seen(&body, active, v);
        let round = |(bigger, divisor)| {
            let (bigger, divisor, left) = (seen(bigger), seen(divisor), Cell::new(MOST_MASKS));
            Round { body: &body, function, active, number, bigger, divisor, left }.state()
        };
        let state = compares.into_iter().find_map(round)?;
        let State { rest, quotient, dividend, divisors } = state;
        let cost = function
            .block(head)
            .cost
            .checked_add(function.block(latch).cost)?
            .checked_mul(ROUNDS)?;
        Some(Loop { head, cost, body, rest, quotient, number, dividend, divisors })
    }

    /// Returns the block in front of the loop.
    fn test(&self, function: &Function, shortcut: BlockId) -> Block {
        let mut e = self.editor(function);
        let window = e.window();
        let (rest, number, active) = (
            read(&mut e, function, self.rest),
            read(&mut e, function, self.number),
            read(&mut e, function, function.active),
        );
        let [.., compared, subtracted] = self.operands(&mut e, function);
        let (zero, first) = (e.iconst(Type::I64, 0), e.iconst(Type::I32, ROUNDS.into()));
        let mut compare = |cc, a, b| e.pure(Op::ICmp { cc, a, b }, window, &[ValueType::MASK])[0];
        let (is_first, begun, differ) = (
            compare(IntCc::Eq, number, first),
            compare(IntCc::Ne, rest, zero),
            compare(IntCc::Ne, compared, subtracted),
        );
        let other = e.or_mask(begun, differ);
        let other = e.and_mask(other, active);
        let other = e.convert(ConvertOp::FromMask, Type::I64, other, window);
        let none =
            e.pure(Op::ICmp { cc: IntCc::Eq, a: other, b: zero }, window, &[ValueType::MASK])[0];
        let cond = e.and_mask(none, is_first);
        self.block(
            function,
            e,
            0,
            Terminator::Branch { cond, then: shortcut, otherwise: self.head },
        )
    }

    /// Returns the block that leads to the last round.
    fn shortcut(&self, function: &Function) -> Block {
        let mut e = self.editor(function);
        let window = e.window();
        let [dividend, divisor, _] = self.operands(&mut e, function);
        let one = e.iconst(Type::I64, 1);
        let upper = e.binary(BinaryOp::ShrU, dividend, one, window);
        let quotient = e.binary(BinaryOp::DivU, upper, divisor, window);
        let product = e.binary(BinaryOp::Mul, quotient, divisor, window);
        let rest = e.binary(BinaryOp::Sub, upper, product, window);
        let mut writes = vec![(self.rest, rest)];
        if let Some(reg) = self.quotient {
            let old = read(&mut e, function, reg);
            let bits = e.binary(BinaryOp::Shl, quotient, one, window);
            writes.push((reg, e.binary(BinaryOp::Or, old, bits, window)));
        }
        for (reg, value) in writes {
            let value = e.shaped(value, ValueType::varying(Type::I64), window);
            e.push(
                Op::RfWrite { reg, part: Part::Whole, value, guard: None, nomask: false },
                window,
                &[],
            );
        }
        let value = e.iconst(Type::I32, 0);
        e.push(
            Op::RfWrite { reg: self.number, part: Part::Whole, value, guard: None, nomask: false },
            window,
            &[],
        );
        self.block(function, e, self.cost, Terminator::Jump(self.head))
    }

    fn editor(&self, function: &Function) -> Editor {
        let mut editor = Editor::new(function.lanes, self.body.insts.len(), Rules::ALL);
        editor.pc = function.block(self.head).pc;
        editor
    }

    fn block(&self, function: &Function, editor: Editor, cost: u32, term: Terminator) -> Block {
        let pc = function.block(self.head).pc;
        Block {
            pc,
            cost,
            indirect_target: false,
            join: None,
            insts: editor.insts,
            term,
            values: editor.values,
        }
    }

    /// Returns the dividend and the divisors, recomputed in another block.
    fn operands(&self, into: &mut Editor, function: &Function) -> [Value; 3] {
        let wanted = [self.dividend, self.divisors[0], self.divisors[1]];
        let needed = leaves(&self.body, &wanted);
        let mut made: FxHashMap<Value, Value> = FxHashMap::default();
        for inst in
            self.body.insts.iter().filter(|inst| inst.results.iter().any(|v| needed.contains(v)))
        {
            let mut op = inst.op.clone();
            op.map_operands(|v| made[&v]);
            let results = match op {
                Op::RfRead { reg, .. } => smallvec::smallvec![read(into, function, reg)],
                op => into.pure(op, inst.window, inst.types(&self.body.values)),
            };
            made.extend(inst.results.iter().copied().zip(results));
        }
        wanted.map(|v| made[&v])
    }
}

/// Returns these values and all values that they are computed from.
fn leaves(body: &Editor, of: &[Value]) -> FxHashSet<Value> {
    let (mut found, mut open) = (FxHashSet::default(), of.to_vec());
    while let Some(v) = open.pop() {
        if found.insert(v) {
            open.extend(body.def(v).operands());
        }
    }
    found
}

/// Returns a register's value at the block's start. All writes must follow the read.
fn read(e: &mut Editor, function: &Function, reg: Reg) -> Value {
    let before =
        e.insts.iter().find(|inst| matches!(inst.op, Op::RfRead { reg: of, .. } if of == reg));
    if let Some(inst) = before {
        return inst.results[0];
    }
    let ty = match function.bank(reg.bank).kind {
        CellKind::Lane(ty) => ValueType::varying(ty),
        CellKind::Uniform(ty) => ValueType::uniform(ty),
        CellKind::Mask => ValueType::MASK,
        CellKind::Bytes(_) => unreachable!("a byte array has no cells"),
    };
    let window = e.window();
    e.push(Op::RfRead { reg, part: Part::Whole }, window, &[ty])[0]
}

/// Whether only jumps and branches lead to a loop's head, and only the head to its latch.
fn is_entered_plainly(function: &Function, head: BlockId, latch: BlockId) -> bool {
    let plain = |block: &Block| !block.indirect_target && block.join.is_none();
    let mut good = plain(function.block(head)) && plain(function.block(latch)) && latch.0 != 0;
    for (block, number) in function.blocks.iter().zip(0..) {
        let is_plain = matches!(block.term, Terminator::Jump(_) | Terminator::Branch { .. });
        block.term.for_each_target(|target| {
            good &= target != head || is_plain;
            good &= target != latch || number == head.0;
        });
        good &= block.join != Some(head) && block.join != Some(latch);
    }
    good
}

/// Returns the register that a block counts down, if the block does nothing else.
fn counted_down(block: &Editor, function: &Function) -> Option<Reg> {
    let mut writes = block
        .insts
        .iter()
        .filter(|inst| !block.is_pure(&inst.op) && !matches!(inst.op, Op::RfRead { .. }));
    let write = writes.next().filter(|_| writes.next().is_none())?;
    let Op::RfWrite { reg, part: Part::Whole, value, .. } = write.op else { return None };
    if function.bank(reg.bank).kind != CellKind::Uniform(Type::I32) {
        return None;
    }
    let Op::Binary { op, a, b } = *block.def(value) else { return None };
    let by = match op {
        BinaryOp::Add => Type::I32.bit_mask(),
        BinaryOp::Sub => 1,
        _ => return None,
    };
    (is_read(block, a, reg) && block.constant(b) == Some(by)).then_some(reg)
}

fn is_read(block: &Editor, v: Value, of: Reg) -> bool {
    matches!(*block.def(v), Op::RfRead { reg, .. } if reg == of)
}

/// Returns the value of `v` in active lanes: a register written for them is read through a choice.
fn seen(body: &Editor, active: Value, mut v: Value) -> Value {
    while let Op::Select { mask, a, .. } = *body.def(v)
        && mask == active
    {
        v = a;
    }
    v
}

/// Whether a condition, if it is `when_true`, says that a register is 0.
fn leaves_at_zero(body: &Editor, cond: Value, number: Reg, when_true: bool) -> bool {
    // A compare of uniform values has all lanes or none.
    let compare = match *body.def(cond) {
        Op::Binary { op: BinaryOp::And, a, b }
            if body.constant(b).is_some_and(|bits| bits != 0) =>
        {
            a
        }
        _ => cond,
    };
    let Op::ICmp { cc, a, b } = *body.def(compare) else { return false };
    let is_zero = is_read(body, a, number) && body.constant(b) == Some(0);
    is_zero && cc == if when_true { IntCc::Eq } else { IntCc::Ne }
}

/// Whether a block computes with registers alone, in all lanes, and without values that change by
/// themselves.
fn is_plain(body: &Editor) -> bool {
    let window = body.window();
    body.insts.iter().all(|inst| {
        let plain = matches!(inst.op, Op::RfRead { .. } | Op::RfWrite { part: Part::Whole, .. });
        inst.window == window
            && (plain || body.is_pure(&inst.op) && !matches!(inst.op, Op::Special(_)))
    })
}

/// A round, with the compare that it is assumed to begin with.
struct Round<'a> {
    body: &'a Editor,
    function: &'a Function,
    active: Value,
    number: Reg,
    /// The rest with the bit of the dividend.
    bigger: Value,
    divisor: Value,
    /// How many masks may still be visited. Masks share parts, so there are many more paths through
    /// masks than masks.
    left: Cell<u32>,
}

/// The registers that rounds pass on, and the operands of the division.
struct State {
    rest: Reg,
    quotient: Option<Reg>,
    dividend: Value,
    divisors: [Value; 2],
}

impl Round<'_> {
    fn seen(&self, v: Value) -> Value {
        seen(self.body, self.active, v)
    }

    fn state(&self) -> Option<State> {
        let (rest, dividend) = self.with_bit()?;
        let (mut quotient, mut subtracted) = (None, None);
        let writes = || {
            self.body.insts.iter().filter_map(|inst| match inst.op {
                Op::RfWrite { reg, value, guard, .. } => Some((reg, value, guard)),
                _ => None,
            })
        };
        let reads: FxHashSet<Reg> = self
            .body
            .insts
            .iter()
            .filter_map(|inst| match inst.op {
                Op::RfRead { reg, .. } => Some(reg),
                _ => None,
            })
            .collect();
        for (reg, value, guard) in writes() {
            if reg == rest {
                self.is_of_active(guard).then_some(())?;
                let after = |less| self.less(self.written(reg, value, guard, less)?, less);
                if after(true)?.is_some() || subtracted.is_some() {
                    return None;
                }
                subtracted = Some(after(false)??);
            } else if reg == self.function.active {
                self.is_active(value).then_some(())?;
            } else if reg == self.number {
                return None;
            } else if !reads.contains(&reg) {
                // The last round writes the register anew.
                (!self.function.is_lane(reg) || guard.is_some_and(|guard| self.is_active(guard)))
                    .then_some(())?;
            } else if quotient.is_none() && self.is_quotient(reg, value, guard) {
                quotient = Some(reg);
            } else {
                return None;
            }
        }
        let divisors = [self.divisor, subtracted?];
        let changed: FxHashSet<Reg> = writes().map(|(reg, ..)| reg).chain([self.number]).collect();
        let fixed = |v: &Value| !matches!(self.body.def(*v), Op::RfRead { reg, .. } if changed.contains(reg));
        let operands = [dividend, divisors[0], divisors[1]];
        leaves(self.body, &operands).iter().all(fixed).then_some(State {
            rest,
            quotient,
            dividend,
            divisors,
        })
    }

    /// Returns the register of the rest, and the dividend whose bit is shifted into it.
    fn with_bit(&self) -> Option<(Reg, Value)> {
        let Op::Binary { op: BinaryOp::Or, a, b } = *self.body.def(self.bigger) else {
            return None;
        };
        let moved = |v: Value| match *self.body.def(v) {
            Op::Binary { op: BinaryOp::Shl, a, b } if self.body.constant(b) == Some(1) => {
                match *self.body.def(self.seen(a)) {
                    Op::RfRead { reg, .. }
                        if self.function.bank(reg.bank).kind == CellKind::Lane(Type::I64) =>
                    {
                        Some(reg)
                    }
                    _ => None,
                }
            }
            _ => None,
        };
        let bit = |v: Value| {
            let Op::Binary { op: BinaryOp::And, a, b } = *self.body.def(v) else { return None };
            let Op::Binary { op: BinaryOp::ShrU, a: dividend, b: by } = *self.body.def(a) else {
                return None;
            };
            (self.body.constant(b) == Some(1) && self.is_number(by)).then_some(self.seen(dividend))
        };
        let of = |x, y| Some((moved(x)?, bit(y)?));
        of(a, b).or_else(|| of(b, a))
    }

    /// Whether a value is the number of the round, if that number is less than 64.
    fn is_number(&self, v: Value) -> bool {
        match *self.body.def(v) {
            Op::RfRead { reg, .. } => reg == self.number,
            Op::Convert { op: warploom_ir::ConvertOp::ZeroExtend, a, .. } => self.is_number(a),
            Op::Binary { op: BinaryOp::And, a, b } => {
                self.body.constant(b).is_some_and(|bits| bits & 63 == 63) && self.is_number(a)
            }
            _ => false,
        }
    }

    /// Whether a mask has an active lane whose compare yields `less`; `None` if that is not known.
    fn holds(&self, mask: Value, less: bool) -> Option<bool> {
        visit();
        if mask == self.active {
            return Some(true);
        }
        self.left.set(self.left.get().checked_sub(1)?);
        match *self.body.def(mask) {
            Op::ICmp { cc, a, b } => {
                let (a, b, wanted) = (self.seen(a), self.seen(b), (self.bigger, self.divisor));
                match cc {
                    IntCc::LtU if (a, b) == wanted => Some(less),
                    IntCc::GtU if (b, a) == wanted => Some(less),
                    IntCc::GeU if (a, b) == wanted => Some(!less),
                    IntCc::LeU if (b, a) == wanted => Some(!less),
                    _ => None,
                }
            }
            Op::Unary { op: UnaryOp::Not, a } => self.holds(a, less).map(|holds| !holds),
            Op::Binary { op: BinaryOp::And, a, b } => {
                Some(self.holds(a, less)? & self.holds(b, less)?)
            }
            Op::Binary { op: BinaryOp::Or, a, b } => {
                Some(self.holds(a, less)? | self.holds(b, less)?)
            }
            _ => None,
        }
    }

    /// Whether a write leaves inactive lanes alone.
    fn is_of_active(&self, guard: Option<Value>) -> bool {
        guard.is_some_and(|guard| self.body.is_subset(guard, self.active))
    }

    /// Whether a mask has exactly the active lanes.
    fn is_active(&self, mask: Value) -> bool {
        self.is_of_active(Some(mask))
            && [true, false].iter().all(|&less| self.holds(mask, less) == Some(true))
    }

    /// Returns the value that choices select in a lane whose compare yields `less`.
    fn chosen(&self, v: Value, less: bool) -> Option<Value> {
        match *self.body.def(v) {
            Op::Select { mask, a, b } => {
                self.chosen(if self.holds(mask, less)? { a } else { b }, less)
            }
            Op::Splat { a } => Some(a),
            _ => Some(v),
        }
    }

    /// Returns a register's value in an active lane after a write; `None` if that is not known.
    fn written(&self, reg: Reg, value: Value, guard: Option<Value>, less: bool) -> Option<Value> {
        if self.holds(guard?, less)? {
            return self.chosen(value, less);
        }
        self.body
            .insts
            .iter()
            .find(|inst| matches!(inst.op, Op::RfRead { reg: of, .. } if of == reg))
            .map(|inst| inst.results[0])
    }

    /// Returns the value that was subtracted from the rest with its bit to make `v`.
    ///
    /// Returns `Some(None)` if nothing was subtracted, and `None` if `v` is no such value.
    fn less(&self, v: Value, less: bool) -> Option<Option<Value>> {
        if v == self.bigger {
            return Some(None);
        }
        let is_bigger = |v: Value| self.seen(v) == self.bigger;
        let by = match *self.body.def(v) {
            Op::Binary { op: BinaryOp::Sub, a, b } if is_bigger(a) => b,
            Op::Binary { op: BinaryOp::Add, a, b } => {
                let other = match (is_bigger(a), is_bigger(b)) {
                    (true, _) => b,
                    (false, true) => a,
                    (false, false) => return None,
                };
                let Op::Unary { op: UnaryOp::Neg, a } = *self.body.def(other) else { return None };
                a
            }
            _ => return None,
        };
        let by = self.chosen(by, less)?;
        Some((self.body.constant(by) != Some(0)).then_some(by))
    }

    /// Whether a write sets the round's bit where the rest is not less, and nothing elsewhere.
    fn is_quotient(&self, reg: Reg, value: Value, guard: Option<Value>) -> bool {
        if self.function.bank(reg.bank).kind != CellKind::Lane(Type::I64)
            || !self.is_of_active(guard)
        {
            return false;
        }
        let is_old = |v: Value| is_read(self.body, self.seen(v), reg);
        let is_bit = |v: Value| match *self.body.def(v) {
            Op::Binary { op: BinaryOp::Shl, a, b } => {
                self.body.constant(a) == Some(1) && self.is_number(b)
            }
            _ => false,
        };
        let kept = self.written(reg, value, guard, true).is_some_and(is_old);
        let set = self.written(reg, value, guard, false).is_some_and(|v| match *self.body.def(v) {
            Op::Binary { op: BinaryOp::Or, a, b } => {
                is_old(a) && is_bit(b) || is_old(b) && is_bit(a)
            }
            _ => false,
        });
        kept && set
    }
}
