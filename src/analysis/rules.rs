//! The rewriting rules: every pattern of a compiler that analysis recognises is a line of
//! [`RULES`].
//!
//! A rule gets an operation that is about to join a block, and returns a value that equals its
//! result. Constant folding and algebraic identities are not rules: `editor/simplify.rs` has them.
//! Passes over whole blocks that match no compiler's sequence (`ssa`, `demand`, `flush`) are not
//! rules either.
//!
//! - `WARPLOOM_RULES=-exact_quotient,-word_quotient` switches rules off in a process,
//!   `WARPLOOM_RULES=none` all of them.
//! - `--report` counts the rewritings of each rule.
//! - `tests/rules` has an input and an output for each rule, and the counts over the corpora.
//! - Debug builds check the operations that a rule adds, and the type of the value that it returns.

use std::fmt;
use std::sync::LazyLock;

use smallvec::SmallVec;
use warploom_ir::typing::{Env, op_types};
use warploom_ir::verify::VerifyError;
use warploom_ir::{BinaryOp, FloatBinaryOp, Function, Op, Type, Value, ValueType, Values, Window};

use super::editor::Editor;
use super::long_division::shorten_divisions;
use super::unroll::unroll_exchanges;

/// The environment variable that switches rules off.
pub const VARIABLE: &str = "WARPLOOM_RULES";

/// A rewriting rule.
#[non_exhaustive]
pub struct Rule {
    pub name: &'static str,
    /// The code that the rule recognises, and the operation that takes its place.
    pub rewrites: &'static str,
    action: Action,
}

/// How a rule is applied.
enum Action {
    /// Applied to each operation with one of these heads, before the operation joins its block.
    Value(&'static [Head], fn(&mut Editor, &Op, Window) -> Option<Value>),
    /// Applied to each operation with this head that has several results.
    Values(Head, fn(&mut Editor, &Op, Window) -> Option<Values>),
    /// Applied to each sum with a carry in, by its index, after it has joined its block. The rule
    /// replaces results.
    Appended(fn(&mut Editor, usize, Window) -> Option<()>),
    /// Applied by the pass over the demanded lanes, which looks at whole blocks.
    Demand,
    /// Applied to the function that all engines run, before anything else. The rule returns the
    /// number of rewritings.
    Function,
}

/// The kinds of operations that rules look at.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Head {
    /// A 64-bit value made of two words.
    Pair,
    /// A sum of words.
    Sum,
    /// A difference of words.
    Difference,
    /// An exclusive or of masks.
    Exclusive,
    /// A union of masks.
    Union,
    Compare,
    Choice,
    FloatProduct,
    MultiplyAdd,
    Unpack,
    Pack,
}

impl Head {
    fn of(op: &Op, ty: impl Fn(Value) -> Type) -> Option<Head> {
        Some(match *op {
            Op::Concat { .. } => Head::Pair,
            Op::Binary { op: BinaryOp::Add, a, .. } if ty(a) == Type::I32 => Head::Sum,
            Op::Binary { op: BinaryOp::Sub, a, .. } if ty(a) == Type::I32 => Head::Difference,
            Op::Binary { op: BinaryOp::Xor, a, .. } if ty(a) == Type::Mask => Head::Exclusive,
            Op::Binary { op: BinaryOp::Or, a, .. } if ty(a) == Type::Mask => Head::Union,
            Op::ICmp { .. } => Head::Compare,
            Op::Select { .. } => Head::Choice,
            Op::FBinary { op: FloatBinaryOp::Mul, .. } => Head::FloatProduct,
            Op::Fma { .. } => Head::MultiplyAdd,
            Op::Unpack { .. } => Head::Unpack,
            Op::Pack { .. } => Head::Pack,
            _ => return None,
        })
    }
}

/// Returns the low and the high word of a pair.
fn words(op: &Op) -> Option<(Value, Value)> {
    match *op {
        Op::Concat { lo, hi } => Some((lo, hi)),
        _ => None,
    }
}

fn operands(op: &Op) -> Option<(Value, Value)> {
    match *op {
        Op::Binary { a, b, .. } => Some((a, b)),
        _ => None,
    }
}

fn choice(op: &Op) -> Option<(Value, Value, Value)> {
    match *op {
        Op::Select { mask, a, b } => Some((mask, a, b)),
        _ => None,
    }
}

/// All rules, in the order in which they are tried.
pub static RULES: [Rule; RULE_COUNT] = [
    Rule {
        name: "pair_sum",
        rewrites: "`add.cc`, `addc`; `IADD.CC`, `IADD.X`; `v_add_co`, `v_addc_co`: a 64-bit sum",
        action: Action::Value(&[Head::Pair], |editor, op, window| {
            let (lo, hi) = words(op)?;
            editor.fuse_carry_chain(lo, hi, window)
        }),
    },
    Rule {
        name: "pair_difference",
        rewrites: "`sub.cc`, `subc`, lifted as `a + ~b + 1`, `a + ~b + carry`: a 64-bit difference",
        action: Action::Value(&[Head::Pair], |editor, op, window| {
            let (lo, hi) = words(op)?;
            editor.fuse_subtract_chain(lo, hi, window)
        }),
    },
    Rule {
        name: "whole_product",
        rewrites: "`mul.lo`, and `mul.hi` plus products of low and high words: a 64-bit product",
        action: Action::Value(&[Head::Pair], |editor, op, window| {
            let (lo, hi) = words(op)?;
            editor.fuse_whole_product(lo, hi, window)
        }),
    },
    Rule {
        name: "scalar_pair_sum",
        rewrites: "`s_add_u32` and `s_addc_u32`, lifted as sums of 64 bits: one 64-bit sum",
        action: Action::Value(&[Head::Pair], |editor, op, window| {
            let (lo, hi) = words(op)?;
            editor.fuse_wide_sums(lo, hi, window)
        }),
    },
    Rule {
        name: "sign_extension",
        rewrites: "a word and its sign, `x >> 31`: the word extended to 64 bits",
        action: Action::Value(&[Head::Pair], |editor, op, window| {
            let (lo, hi) = words(op)?;
            editor.fuse_sign(lo, hi, window)
        }),
    },
    Rule {
        name: "shifted_word",
        rewrites: "`x << k` and `x >> 32 - k` or a funnel shift: a 64-bit value shifted left",
        action: Action::Value(&[Head::Pair], |editor, op, window| {
            let (lo, hi) = words(op)?;
            editor.fuse_shift(lo, hi, window)
        }),
    },
    Rule {
        name: "funnel_shift",
        rewrites: "`shf` and a shift, or two `shf`: a 64-bit value shifted or rotated",
        action: Action::Value(&[Head::Pair], |editor, op, window| {
            let (lo, hi) = words(op)?;
            editor.fuse_funnels(lo, hi, window)
        }),
    },
    Rule {
        name: "pair_bits",
        rewrites: "a bitwise operation on both words of 64-bit values: the operation on the values",
        action: Action::Value(&[Head::Pair], |editor, op, window| {
            let (lo, hi) = words(op)?;
            editor.fuse_bitwise(lo, hi, window)
        }),
    },
    Rule {
        name: "pair_choice",
        rewrites: "two selects of words under one mask: a select of 64-bit values",
        action: Action::Value(&[Head::Pair], |editor, op, window| {
            let (lo, hi) = words(op)?;
            editor.fuse_choice(lo, hi, window)
        }),
    },
    Rule {
        name: "xmad_low",
        rewrites: "three `XMAD` of Maxwell: the low word of a product, plus a word",
        action: Action::Value(&[Head::Sum], |editor, op, window| {
            let (p, q) = operands(op)?;
            editor.fuse_low_word(p, q, window)
        }),
    },
    Rule {
        name: "xmad_high",
        rewrites: "four `XMAD` of Maxwell and `IADD3.RS`: the high word of a product, plus a word",
        action: Action::Value(&[Head::Sum], |editor, op, window| {
            let (p, q) = operands(op)?;
            editor.fuse_high_word(p, q, window)
        }),
    },
    Rule {
        name: "xmad_cross",
        rewrites: "a high word plus products of low and high words: a word of a 64-bit product",
        action: Action::Value(&[Head::Sum], |editor, op, window| {
            let (p, q) = operands(op)?;
            editor.fuse_cross(p, q, window).or_else(|| editor.fuse_cross(q, p, window))
        }),
    },
    Rule {
        name: "division_by_floats",
        rewrites: "a quotient of words that Intel's compiler estimates twice in floats: a division",
        action: Action::Value(&[Head::Sum, Head::Difference], |editor, op, window| match *op {
            Op::Binary { op, a, b } => editor.corrected_quotient(op, a, b, window),
            _ => None,
        }),
    },
    Rule {
        name: "less_by_signs",
        rewrites: "`negative ^ overflow` of a difference (`ISETP.X`): a signed 64-bit compare",
        action: Action::Value(&[Head::Exclusive], |editor, op, window| {
            let (a, b) = operands(op)?;
            editor.compare_of_signs(a, b, window)
        }),
    },
    Rule {
        name: "less_or_equal",
        rewrites: "a 64-bit `<` or a difference of 0: a 64-bit `<=`",
        action: Action::Value(&[Head::Union], |editor, op, window| {
            let (a, b) = operands(op)?;
            editor.compare_or_equal(a, b, window).or_else(|| editor.compare_or_equal(b, a, window))
        }),
    },
    Rule {
        name: "compare_word_by_word",
        rewrites: "upper words in order, or equal and low words in order: a 64-bit compare",
        action: Action::Value(&[Head::Union], |editor, op, window| {
            let (a, b) = operands(op)?;
            editor
                .compare_word_by_word(a, b, window)
                .or_else(|| editor.compare_word_by_word(b, a, window))
        }),
    },
    Rule {
        name: "compare_by_words",
        rewrites: "compares of low and of high words, chosen by lane (LLVM): a 64-bit compare",
        action: Action::Value(&[Head::Compare], |editor, op, window| {
            editor.compare_of_choice(op, window)
        }),
    },
    Rule {
        name: "scaled_root",
        rewrites: "a reciprocal root with small operands scaled up: a root that takes denormals",
        action: Action::Value(&[Head::Choice, Head::FloatProduct], |editor, op, window| {
            editor.root_of_scaled(op, window)
        }),
    },
    Rule {
        name: "division_by_zero",
        rewrites: "a choice of all ones where a divisor is 0: the division, which gives all ones",
        action: Action::Value(&[Head::Choice], |editor, op, _| {
            let (mask, a, b) = choice(op)?;
            editor.is_by_zero(mask, a, b).then_some(b)
        }),
    },
    Rule {
        name: "float_division",
        rewrites: "`v_div_scale`, iterations, `v_div_fmas`, `v_div_fixup`: a division of floats",
        action: Action::Value(&[Head::Choice], |editor, op, window| {
            let (mask, a, b) =
                choice(op).filter(|&(.., b)| matches!(editor.ty(b).ty, Type::F32 | Type::F64))?;
            editor.float_quotient((mask, a, b), window)
        }),
    },
    Rule {
        name: "word_remainder",
        rewrites: "a remainder by an estimate of 2^32 / y and two corrections: a remainder",
        action: Action::Value(&[Head::Choice], |editor, op, window| {
            let (mask, a, b) = choice(op).filter(|&(.., b)| editor.ty(b).ty == Type::I32)?;
            editor.word_remainder((mask, a, b), window)
        }),
    },
    Rule {
        name: "word_quotient",
        rewrites: "a quotient of words by an estimate of 2^32 / y and two corrections: a division",
        action: Action::Value(&[Head::Choice], |editor, op, window| {
            let (mask, a, b) = choice(op).filter(|&(.., b)| editor.ty(b).ty == Type::I32)?;
            editor.word_quotient((mask, a, b), window)
        }),
    },
    Rule {
        name: "root_by_steps",
        rewrites: "`v_sqrt_f32`, scaled and corrected by a unit in the last place (LLVM): a root",
        action: Action::Value(&[Head::Choice], |editor, op, window| {
            editor.root_of_steps(op, window)
        }),
    },
    Rule {
        name: "wide_division",
        rewrites: "an estimate of 2^64 / y, two steps, two corrections: a 64-bit division",
        action: Action::Value(&[Head::Choice], |editor, op, window| {
            editor.wide_division_of_steps(op, window)
        }),
    },
    Rule {
        name: "exact_quotient",
        rewrites: "the last step of NVIDIA's float division: a division where operands are moderate",
        action: Action::Value(&[Head::MultiplyAdd], |editor, op, window| {
            editor.exact_quotient(op, window)
        }),
    },
    Rule {
        name: "exact_root",
        rewrites: "the last step of NVIDIA's root of doubles: a root where the operand is moderate",
        action: Action::Value(&[Head::MultiplyAdd], |editor, op, window| {
            editor.exact_root(op, window)
        }),
    },
    Rule {
        name: "texel_unpack",
        rewrites: "a conversion from texels of a known format: shifts, masks and floats",
        action: Action::Values(Head::Unpack, |editor, op, window| editor.texels(op, window)),
    },
    Rule {
        name: "texel_pack",
        rewrites: "a conversion to texels of a known format: shifts, masks and floats",
        action: Action::Values(Head::Pack, |editor, op, window| editor.texels(op, window)),
    },
    Rule {
        name: "carry_compare",
        rewrites: "the carry out of a difference of pairs: a 64-bit `>=`",
        action: Action::Appended(|editor, at, window| {
            let carry = editor.insts[at].results[1];
            let compare = editor.compare_of_carry(at, window)?;
            editor.replace(carry, compare);
            Some(())
        }),
    },
    Rule {
        name: "high_product",
        rewrites: "columns of words of products, with carries: the high half of a 64-bit product",
        action: Action::Appended(|editor, at, window| editor.fuse_high_product(at, window)),
    },
    Rule {
        name: "low_words",
        rewrites: "64-bit arithmetic of which only the low words are used: 32-bit arithmetic",
        action: Action::Demand,
    },
    Rule {
        name: "pair_access",
        rewrites: "a load or store of words that are halves of 64-bit values: of the values",
        action: Action::Demand,
    },
    Rule {
        name: "long_division",
        rewrites: "a loop that divides bit by bit: a division",
        action: Action::Function,
    },
    Rule {
        name: "unroll_exchanges",
        rewrites: "a loop that exchanges lanes at changing distances: its rounds in straight code",
        action: Action::Function,
    },
];

/// The number of rules.
const RULE_COUNT: usize = 34;

/// Indices in [`RULES`] of the rules that passes apply by themselves.
pub(super) const LOW_WORDS: usize = 30;
pub(super) const PAIR_ACCESS: usize = 31;
const LONG_DIVISION: usize = 32;
const UNROLL_EXCHANGES: usize = 33;

/// The indices of the rules for values, by head.
static BY_HEAD: LazyLock<Vec<(Head, Vec<usize>)>> = LazyLock::new(|| {
    let mut by_head: Vec<(Head, Vec<usize>)> = Vec::new();
    for (index, rule) in RULES.iter().enumerate() {
        let Action::Value(heads, _) = rule.action else { continue };
        for &head in heads {
            match by_head.iter_mut().find(|(known, _)| *known == head) {
                Some((_, rules)) => rules.push(index),
                None => by_head.push((head, vec![index])),
            }
        }
    }
    by_head
});

/// A set of rules that analysis applies.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Rules(u64);

/// The error for a name in a list of rules that no rule has.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{name}` in {VARIABLE} is no rule: expected `-NAME,-NAME,...` or `none`, with names among {}",
    names()
)]
pub struct UnknownRule {
    pub name: String,
}

fn names() -> String {
    RULES.iter().map(|rule| rule.name).collect::<Vec<_>>().join(", ")
}

impl Rules {
    pub const ALL: Rules = Rules(u64::MAX >> (64 - RULE_COUNT));
    pub const NONE: Rules = Rules(0);

    /// Returns the rules that the environment variable leaves on. A process reads the variable
    /// once.
    ///
    /// # Errors
    /// The variable names something that is no rule.
    pub fn of_environment() -> Result<Rules, UnknownRule> {
        static RULES: LazyLock<Result<Rules, UnknownRule>> =
            LazyLock::new(|| match std::env::var_os(VARIABLE) {
                Some(text) => text.to_string_lossy().parse(),
                None => Ok(Rules::ALL),
            });
        RULES.clone()
    }

    /// Returns the set without one rule, given by its index in [`RULES`].
    pub fn without(self, index: usize) -> Rules {
        Rules(self.0 & !(1 << index))
    }

    pub(super) fn has(self, index: usize) -> bool {
        self.0 >> index & 1 != 0
    }
}

impl std::str::FromStr for Rules {
    type Err = UnknownRule;

    fn from_str(text: &str) -> Result<Rules, UnknownRule> {
        let words = text.split(',').map(str::trim).filter(|word| !word.is_empty());
        words.into_iter().try_fold(Rules::ALL, |rules, word| {
            if word == "none" {
                return Ok(Rules::NONE);
            }
            let named = word
                .strip_prefix('-')
                .and_then(|name| RULES.iter().position(|rule| rule.name == name));
            named.map(|index| rules.without(index)).ok_or_else(|| UnknownRule { name: word.into() })
        })
    }
}

/// The number of rewritings by each rule.
#[derive(Clone, PartialEq, Eq)]
pub struct Firings([u32; RULE_COUNT]);

impl Default for Firings {
    fn default() -> Self {
        Firings([0; RULE_COUNT])
    }
}

impl fmt::Debug for Firings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self.iter()).finish()
    }
}

impl Firings {
    /// Returns the names of the rules that have rewritten something, and how often.
    pub fn iter(&self) -> impl Iterator<Item = (&'static str, u32)> + '_ {
        RULES
            .iter()
            .zip(self.0)
            .filter(|&(_, count)| count > 0)
            .map(|(rule, count)| (rule.name, count))
    }

    pub fn add(&mut self, other: &Firings) {
        self.0.iter_mut().zip(other.0).for_each(|(count, more)| *count += more);
    }

    pub(super) fn note(&mut self, index: usize) {
        self.0[index] += 1;
    }
}

/// Applies the rules that change a function for all engines.
///
/// # Errors
/// The function breaks an invariant.
pub fn rewrite_function(function: &mut Function, rules: Rules) -> Result<Firings, VerifyError> {
    let mut firings = Firings::default();
    if rules.has(LONG_DIVISION) {
        firings.0[LONG_DIVISION] = shorten_divisions(function)?;
    }
    if rules.has(UNROLL_EXCHANGES) {
        firings.0[UNROLL_EXCHANGES] = unroll_exchanges(function)?;
    }
    Ok(firings)
}

impl Editor {
    /// Applies the first rule that recognises an operation, and returns its value.
    pub(super) fn rewrite(&mut self, op: &Op, window: Window) -> Option<Value> {
        let head = self.head(op)?;
        let (_, rules) = BY_HEAD.iter().find(|(known, _)| *known == head)?;
        rules.iter().find_map(|&index| {
            let Action::Value(_, rewrite) = RULES[index].action else {
                unreachable!("BY_HEAD has no other rules")
            };
            let before = self.insts.len();
            if !self.rules.has(index) {
                return None;
            }
            let value = rewrite(self, op, window)?;
            self.fired(index, before);
            self.check_result(index, op, 0, value);
            Some(value)
        })
    }

    /// Applies the rule that recognises an operation with several results, and returns its values.
    pub(super) fn rewrite_all(&mut self, op: &Op, window: Window) -> Option<Values> {
        let head = self.head(op).filter(|head| matches!(head, Head::Unpack | Head::Pack))?;
        let is_of = |rule: &Rule| matches!(rule.action, Action::Values(of, _) if of == head);
        let index = RULES.iter().position(is_of).filter(|&index| self.rules.has(index))?;
        let Action::Values(_, rewrite) = RULES[index].action else { return None };
        let before = self.insts.len();
        let values = rewrite(self, op, window)?;
        self.fired(index, before);
        values
            .iter()
            .enumerate()
            .for_each(|(result, &value)| self.check_result(index, op, result, value));
        Some(values)
    }

    /// Applies rules to an appended sum with a carry in.
    pub(super) fn rewrite_appended(&mut self, at: usize, window: Window) {
        for (index, rule) in RULES.iter().enumerate() {
            let Action::Appended(rewrite) = rule.action else { continue };
            let before = self.insts.len();
            if self.rules.has(index) && rewrite(self, at, window).is_some() {
                self.fired(index, before);
            }
        }
    }

    fn head(&self, op: &Op) -> Option<Head> {
        Head::of(op, |v| self.ty(v).ty)
    }

    /// Counts a rewriting by a rule. `before` is the number of instructions before the rewriting.
    fn fired(&mut self, index: usize, before: usize) {
        self.firings.note(index);
        if cfg!(debug_assertions) {
            self.check_added(index, before);
        }
    }

    /// Checks that the instructions from `before` on are well-typed.
    fn check_added(&self, index: usize, before: usize) {
        for inst in &self.insts[before..] {
            let defined = inst.results.first().map_or(self.values.len(), |first| first.0 as usize);
            let env = Env { lanes: self.lanes, banks: &[], values: &self.values[..defined] };
            let types: SmallVec<[ValueType; 4]> =
                inst.results.iter().map(|&v| self.ty(v)).collect();
            let expected = op_types(&inst.op, env);
            let name = RULES[index].name;
            assert_eq!(expected.as_ref(), Ok(&types), "rule {name} makes {:?}", inst.op);
        }
    }

    /// Checks in debug builds that a value has the type of a result of an operation. The value may
    /// be uniform where the result varies.
    fn check_result(&self, index: usize, op: &Op, result: usize, value: Value) {
        if cfg!(debug_assertions) {
            let name = RULES[index].name;
            let env = Env { lanes: self.lanes, banks: &[], values: &self.values };
            let types = op_types(op, env)
                .unwrap_or_else(|error| panic!("rule {name} gets {op:?}: {error}"));
            assert_eq!(
                self.ty(value).ty,
                types[result].ty,
                "rule {name} gives another type for {op:?}"
            );
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_of_passes_have_their_names() {
        let named = [LOW_WORDS, PAIR_ACCESS, LONG_DIVISION, UNROLL_EXCHANGES]
            .map(|index| RULES[index].name);
        assert_eq!(named, ["low_words", "pair_access", "long_division", "unroll_exchanges"]);
    }

    #[test]
    fn lists_of_rules_are_read() {
        assert_eq!("".parse(), Ok(Rules::ALL));
        assert_eq!("none".parse(), Ok(Rules::NONE));
        let rules: Rules = "-pair_sum, -low_words".parse().unwrap();
        assert!(!rules.has(0) && rules.has(1) && !rules.has(LOW_WORDS));
        let error = "-pair_sum,wide".parse::<Rules>().unwrap_err().to_string();
        assert!(
            error.contains("`wide` in WARPLOOM_RULES is no rule")
                && error.contains("wide_division"),
            "{error}"
        );
    }
}
