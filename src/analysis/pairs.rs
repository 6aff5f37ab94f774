//! Turns accesses to pairs of words that are 64-bit values into accesses to 64-bit values.
//!
//! 32-bit code loads a `double` or a pointer into two registers. A 64-bit access avoids splitting a
//! vector and joining its parts again.

use warploom_ir::{Access, ConvertOp, Extend, Inst, Op, Space, Type, Value, ValueType, Window};

use super::editor::Editor;
use super::rules::PAIR_ACCESS;

/// For each instruction of a block, whether it is an access that can be 64 bits wide.
pub struct Pairs(Vec<bool>);

impl Pairs {
    pub fn of(editor: &Editor) -> Pairs {
        let mut pairs = Pairs(vec![false; editor.insts.len()]);
        if !editor.rules.has(PAIR_ACCESS) {
            return pairs;
        }
        // For each load, a bit set of the pairs of results that are used as 64-bit values.
        let mut used = vec![0u16; editor.insts.len()];
        for (index, inst) in editor.insts.iter().enumerate() {
            match inst.op {
                Op::Concat { lo, hi } => {
                    let ((at, element), (other, next)) = (editor.def_at(lo), editor.def_at(hi));
                    if at == other
                        && element % 2 == 0
                        && next == element + 1
                        && may_pair(editor, &editor.insts[at])
                    {
                        used[at] |= 1 << (element / 2);
                        let all = editor.insts[at].results.len() / 2;
                        pairs.0[at] = used[at].count_ones() as usize == all;
                    }
                }
                Op::Store { ref values, .. } => {
                    pairs.0[index] = may_pair(editor, inst)
                        && values.chunks(2).all(|pair| editor.are_halves(pair[0], pair[1]));
                }
                _ => {}
            }
        }
        pairs
    }

    pub fn any(&self) -> bool {
        self.0.contains(&true)
    }

    pub fn contains(&self, index: usize) -> bool {
        self.0[index]
    }
}

/// Returns whether an access is to pairs of words of lanes, in a space where 64-bit accesses are as
/// fast. (Local memory interleaves the words of lanes.)
fn may_pair(editor: &Editor, inst: &Inst) -> bool {
    let access = match inst.op {
        Op::Load { access, extend: Extend::None, sparse: false } => access,
        Op::Store { access, sparse: false, .. } => access,
        _ => return false,
    };
    access.ty == Type::I32
        && access.count.is_multiple_of(2)
        && matches!(access.space, Space::Global | Space::Generic | Space::Shared)
        && !editor.ty(access.address).is_uniform()
}

/// Emits an access as a 64-bit access and returns the words that it loads; none if the operands do
/// not allow it.
pub fn pair(out: &mut Editor, op: &Op, window: Window) -> Option<Vec<Value>> {
    let wide = |access: &Access| Access { ty: Type::I64, count: access.count / 2, ..*access };
    match *op {
        Op::Load { ref access, extend, sparse } => {
            let access = wide(access);
            let types = vec![ValueType::varying(Type::I64); access.count.into()];
            let loaded = out.push(Op::Load { access, extend, sparse }, window, &types);
            let mut words = Vec::with_capacity(2 * loaded.len());
            for value in loaded {
                words.push(out.convert(ConvertOp::Trunc, Type::I32, value, window));
                words.push(out.convert(ConvertOp::HighHalf, Type::I32, value, window));
            }
            Some(words)
        }
        Op::Store { ref access, ref values, sparse } => {
            if !values.chunks(2).all(|pair| out.are_halves(pair[0], pair[1])) {
                return None;
            }
            let values =
                values.chunks(2).map(|pair| out.concat(pair[0], pair[1], window)).collect();
            out.push(Op::Store { access: wide(access), values, sparse }, window, &[]);
            Some(Vec::new())
        }
        _ => None,
    }
}
