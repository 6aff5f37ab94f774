//! Removes branches over code that has no effect while no lane is active. For lifters whose guests
//! manage the active mask themselves.
//!
//! Compilers put `if no lane is active, skip` around code for which a mask was narrowed. If the
//! skipped code has no effect without active lanes, it may run unconditionally: blocks become
//! longer, and a loop whose body has such branches becomes one block, which engines run far better.
//!
//! Two effects can occur without active lanes, and are guarded. A scalar access gets the branch's
//! condition. A warp-wide register that would change and may be read later keeps its old value by a
//! select. To find whether a register would change, the pass interprets the code with an active
//! mask of 0.

use cranelift_entity::{EntitySet, SecondaryMap};
use rustc_hash::FxHashMap;
use warploom_ir::{
    BankId, BinaryOp, Block, BlockId, CellKind, ConvertOp, Function, Inst, Op, Part, Reg, Space,
    Terminator, Type, UnaryOp, Value, ValueType, Window, table,
};

/// The most operations that may run in vain.
const MAX_SKIPPED: usize = 400;
/// The most operations of a block: engines translate blocks whole.
const MAX_BLOCK: usize = 4000;

/// A set of warp-wide registers, a bit for each.
type Registers = u128;

/// Converts a function in which every jump is known: no jump is indirect, and no block joins
/// another.
pub fn convert(function: &mut Function) {
    let unknown = |block: &Block| {
        let leaves = matches!(block.term, Terminator::Indirect { .. } | Terminator::Service { .. });
        block.indirect_target || block.join.is_some() || leaves
    };
    let Some(cells) = Cells::of(function).filter(|_| !function.blocks.iter().any(unknown)) else {
        return;
    };
    let (mut changed, mut ways) = (true, None);
    let mut liveness = Liveness::of(function);
    while changed {
        changed = false;
        for id in (0..function.blocks.len() as u32).rev().map(BlockId) {
            if skip(function, &cells, &mut liveness, id) {
                (changed, ways) = (true, None);
            } else if let Some(gone) = follow(function, id, &mut ways) {
                changed = true;
                liveness.forget(gone);
            } else {
                continue;
            }
            liveness.forget(id);
        }
    }
    // Copies of these blocks were appended elsewhere, and no block leads to them any more.
    let reachable = Ways::of(function).reachable;
    for id in (0..function.blocks.len() as u32).map(BlockId).filter(|&id| !reachable[id]) {
        function.block_mut(id).clear();
    }
}

/// The numbers of the warp-wide registers.
struct Cells(FxHashMap<Reg, u32>);

impl Cells {
    /// Numbers the warp-wide registers. None: there are more than a set can hold.
    fn of(function: &Function) -> Option<Cells> {
        let mut cells = FxHashMap::default();
        for (bank, number) in function.banks.iter().zip(0..) {
            if matches!(bank.kind, CellKind::Uniform(_) | CellKind::Mask) {
                for index in 0..bank.count {
                    let next = cells.len() as u32;
                    cells.insert(BankId(number).reg(index), next);
                }
            }
        }
        (cells.len() <= Registers::BITS as usize).then_some(Cells(cells))
    }

    fn bit(&self, reg: Reg) -> Registers {
        self.0.get(&reg).map_or(0, |&number| 1 << number)
    }

    fn is_cell(&self, reg: Reg) -> bool {
        self.0.contains_key(&reg)
    }
}

/// How often each block is a target of reachable blocks, and which blocks are reachable.
struct Ways {
    count: SecondaryMap<BlockId, u32>,
    reachable: SecondaryMap<BlockId, bool>,
}

impl Ways {
    fn of(function: &Function) -> Ways {
        let blocks = function.blocks.len();
        let mut ways = Ways { count: table(blocks, 0), reachable: table(blocks, false) };
        for id in reachable(function) {
            ways.reachable[id] = true;
            function.block(id).term.for_each_target(|to| ways.count[to] += 1);
        }
        ways
    }
}

/// Appends the target of a block's jump to the block, if nothing else leads to the target, and
/// returns the target. `ways`, if known, stay right.
fn follow(function: &mut Function, id: BlockId, ways: &mut Option<Ways>) -> Option<BlockId> {
    let Terminator::Jump(to) = function.block(id).term else { return None };
    let fits = function.block(id).insts.len() + function.block(to).insts.len() <= MAX_BLOCK;
    if to == id || !fits {
        return None;
    }
    let ways = ways.get_or_insert_with(|| Ways::of(function));
    if ways.count[to] != 1 || !ways.reachable[id] {
        return None;
    }
    append(function, id, to, None);
    function.block_mut(to).clear();
    // The targets of the cleared block are now targets of the jumping block.
    (ways.count[to], ways.reachable[to]) = (0, false);
    Some(to)
}

/// Returns the blocks that control can reach.
fn reachable(function: &Function) -> Vec<BlockId> {
    let mut seen = EntitySet::with_capacity(function.blocks.len());
    seen.insert(BlockId(0));
    let mut found = vec![BlockId(0)];
    let mut next = 0;
    while next < found.len() {
        function.block(found[next]).term.for_each_target(|to| {
            if seen.insert(to) {
                found.push(to);
            }
        });
        next += 1;
    }
    found
}

/// Appends a copy of a block with its terminator. If there is a condition, scalar accesses of the
/// copy get it.
fn append(function: &mut Function, id: BlockId, other: BlockId, condition: Option<Value>) {
    let (lanes, other) = (function.lanes, function.block(other).clone());
    function.block_mut(id).append(&other, |block, op| {
        if let Some(condition) = condition {
            make_conditional(block, lanes, op, condition);
        }
    });
}

/// Adds a condition to the guard of an access at a uniform address. Constant memory may be read in
/// any case.
fn make_conditional(block: &mut Block, lanes: u8, op: &mut Op, condition: Value) {
    let (Op::Load { access, .. } | Op::Store { access, .. } | Op::Atomic { access, .. }) = op
    else {
        return;
    };
    if !block.ty(access.address).is_uniform() || matches!(access.space, Space::Const(_)) {
        return;
    }
    access.guard = Some(match access.guard {
        None => condition,
        Some(own) => {
            let zero =
                push(block, lanes, Op::Const { ty: Type::Mask, bits: 0 }, &[ValueType::MASK]);
            push(
                block,
                lanes,
                Op::UniformSelect { cond: condition, a: own, b: zero },
                &[ValueType::MASK],
            )
        }
    });
}

/// Removes the branch at the end of a block that skips code while no lane is active.
fn skip(function: &mut Function, cells: &Cells, liveness: &mut Liveness, id: BlockId) -> bool {
    let block = function.block(id);
    let Terminator::Branch { cond, then, otherwise } = block.term else { return false };
    if id.0 == 0 || then == otherwise || last_active(function, block) != Some(cond) {
        return false;
    }
    let Some(path) = path(function, id, then, otherwise) else { return false };
    let Some(changed) = effect(function, cells, &path) else { return false };
    let kept =
        if changed == 0 { 0 } else { changed & liveness.live_in(function, cells, otherwise) };
    let kept: Vec<Reg> =
        cells.0.keys().copied().filter(|&reg| kept & cells.bit(reg) != 0).collect();

    let before: Vec<(Reg, Value)> =
        kept.iter().map(|&reg| (reg, read(function, id, reg))).collect();
    for &other in &path {
        append(function, id, other, Some(cond));
    }
    for (reg, old) in before {
        let new = read(function, id, reg);
        let ty = function.block(id).ty(new);
        let (lanes, block) = (function.lanes, function.block_mut(id));
        let value = push(block, lanes, Op::UniformSelect { cond, a: new, b: old }, &[ty]);
        push(
            block,
            lanes,
            Op::RfWrite { reg, part: Part::Whole, value, guard: None, nomask: false },
            &[],
        );
    }
    function.block_mut(id).term = Terminator::Jump(otherwise);
    true
}

/// Returns the active mask at the end of a block, if the block reads or writes it.
fn last_active(function: &Function, block: &Block) -> Option<Value> {
    block.insts.iter().rev().find_map(|inst| match inst.op {
        Op::RfWrite { reg, part: Part::Whole, value, .. } if reg == function.active => Some(value),
        Op::RfRead { reg, part: Part::Whole } if reg == function.active => Some(inst.results[0]),
        _ => None,
    })
}

/// Returns the blocks from `from` to `to`, if each of them jumps to the next.
fn path(function: &Function, id: BlockId, from: BlockId, to: BlockId) -> Option<Vec<BlockId>> {
    let (mut path, mut at) = (vec![], from);
    let mut length = 0;
    while at != to {
        let block = function.block(at);
        length += block.insts.len();
        let Terminator::Jump(next) = block.term else { return None };
        if at == id || path.contains(&at) || length > MAX_SKIPPED {
            return None;
        }
        path.push(at);
        at = next;
    }
    (function.block(id).insts.len() + length <= MAX_BLOCK).then_some(path)
}

/// The knowledge of a value while no lane is active.
#[derive(Clone, Copy, PartialEq)]
enum Known {
    Constant(u64),
    /// The old content of a register.
    Before(Reg),
    Nothing,
}

/// Returns the registers that code changes while no lane is active. None: the code has effects that
/// a guard cannot prevent.
fn effect(function: &Function, cells: &Cells, path: &[BlockId]) -> Option<Registers> {
    let mut state: FxHashMap<Reg, Known> = FxHashMap::default();
    state.insert(function.active, Known::Constant(0));
    for &id in path {
        let mut known: FxHashMap<Value, Known> = FxHashMap::default();
        for inst in &function.block(id).insts {
            let get = |v: Value| known.get(&v).copied().unwrap_or(Known::Nothing);
            let ones = |v: Value| function.block(id).ty(v).ty.bits_of_lanes(function.lanes);
            let result = match inst.op {
                Op::Const { bits, .. } => Known::Constant(bits),
                Op::RfRead { reg, part: Part::Whole } if cells.is_cell(reg) => {
                    state.get(&reg).copied().unwrap_or(Known::Before(reg))
                }
                Op::Binary { op, a, b } => binary(op, ones(a), get(a), get(b)),
                Op::Unary { op: UnaryOp::Not, a } => match get(a) {
                    Known::Constant(bits) => Known::Constant(!bits & ones(a)),
                    _ => Known::Nothing,
                },
                Op::Convert { op: ConvertOp::FromMask, a, .. } => get(a),
                Op::Convert { op: ConvertOp::ToMask, a, .. } => match get(a) {
                    Known::Constant(bits) => {
                        Known::Constant(bits & Type::Mask.bits_of_lanes(function.lanes))
                    }
                    // With fewer lanes, the conversion may drop bits.
                    Known::Before(_) if function.lanes < 64 => Known::Nothing,
                    known => known,
                },
                Op::RfWrite { reg, part, value, .. } if cells.is_cell(reg) => {
                    state
                        .insert(reg, if part == Part::Whole { get(value) } else { Known::Nothing });
                    continue;
                }
                Op::RfScatter { bank, first, nomask, .. }
                    if nomask || cells.is_cell(bank.reg(first)) =>
                {
                    return None;
                }
                Op::RfWrite { nomask: true, .. } | Op::RegionWrite { nomask: true, .. } => {
                    return None;
                }
                Op::Load { access, .. } | Op::Store { access, .. } | Op::Atomic { access, .. }
                    if access.nomask =>
                {
                    return None;
                }
                _ => Known::Nothing,
            };
            if let [value] = inst.results[..] {
                known.insert(value, result);
            }
        }
    }
    // No lane may be active behind the code either.
    if state.remove(&function.active) != Some(Known::Constant(0)) {
        return None;
    }
    let changed = state.into_iter().filter(|&(reg, known)| known != Known::Before(reg));
    Some(changed.fold(0, |set, (reg, _)| set | cells.bit(reg)))
}

/// Returns the result of an operation on values whose type has the bits `ones`.
fn binary(op: BinaryOp, ones: u64, a: Known, b: Known) -> Known {
    use Known::Constant;
    match (op, a, b) {
        (BinaryOp::And, Constant(0), _) | (BinaryOp::And, _, Constant(0)) => Constant(0),
        (BinaryOp::And, known, Constant(bits)) | (BinaryOp::And, Constant(bits), known)
            if bits == ones =>
        {
            known
        }
        (BinaryOp::Or | BinaryOp::Xor, known, Constant(0))
        | (BinaryOp::Or | BinaryOp::Xor, Constant(0), known) => known,
        (BinaryOp::And | BinaryOp::Or, x, y) if x == y => x,
        _ => Known::Nothing,
    }
}

fn read(function: &mut Function, id: BlockId, reg: Reg) -> Value {
    let ty = match function.bank(reg.bank).kind {
        CellKind::Uniform(ty) => ty,
        _ => Type::Mask,
    };
    let (lanes, block) = (function.lanes, function.block_mut(id));
    push(block, lanes, Op::RfRead { reg, part: Part::Whole }, &[ValueType::uniform(ty)])
}

/// Appends an operation. Returns its only result, or an unused number if it has none.
fn push(block: &mut Block, lanes: u8, op: Op, types: &[ValueType]) -> Value {
    let value = Value(block.values.len() as u32);
    block.values.extend_from_slice(types);
    let pc = block.insts.last().map_or(block.pc, |inst| inst.pc);
    let results = types.iter().map(|_| value).collect();
    block.insts.push(Inst { op, results, window: Window::all(lanes), pc });
    value
}

/// How a block uses warp-wide registers.
#[derive(Clone, Copy)]
struct Use {
    /// Registers that the block may read before it writes them.
    read: Registers,
    written: Registers,
}

/// Liveness of warp-wide registers while blocks change.
struct Liveness {
    uses: SecondaryMap<BlockId, Option<Use>>,
}

impl Liveness {
    fn of(function: &Function) -> Liveness {
        Liveness { uses: table(function.blocks.len(), None) }
    }

    /// Drops the cached uses of a block that was changed.
    fn forget(&mut self, block: BlockId) {
        self.uses[block] = None;
    }

    /// Returns the registers that may be read from a block's start on.
    fn live_in(&mut self, function: &Function, cells: &Cells, at: BlockId) -> Registers {
        let blocks = || (0..function.blocks.len() as u32).rev().map(BlockId);
        for id in blocks() {
            self.uses[id].get_or_insert_with(|| Use::of(function.block(id), cells));
        }
        let mut live: SecondaryMap<BlockId, Registers> = table(function.blocks.len(), 0);
        let mut changed = true;
        while changed {
            changed = false;
            for id in blocks() {
                let mut set = 0;
                function.block(id).term.for_each_target(|to| set |= live[to]);
                if let Some(Use { read, written }) = self.uses[id] {
                    set = set & !written | read;
                }
                changed |= live[id] != set;
                live[id] = set;
            }
        }
        live[at]
    }
}

impl Use {
    fn of(block: &Block, cells: &Cells) -> Use {
        let (mut read, mut written) = (0, 0);
        for inst in &block.insts {
            match inst.op {
                // A write of one half keeps the other half.
                Op::RfWrite { reg, part: Part::Whole, .. } => written |= cells.bit(reg),
                Op::RfRead { reg, .. } => read |= cells.bit(reg) & !written,
                Op::RfGather { bank, first, count, .. } => {
                    let all = (first..first + count)
                        .fold(0, |set, index| set | cells.bit(bank.reg(index)));
                    read |= all & !written;
                }
                _ => {}
            }
        }
        Use { read, written }
    }
}

#[cfg(test)]
mod tests {
    use warploom_ir::verify::verify;
    use warploom_ir::{Function, Op, Terminator, parse};

    use super::convert;

    fn converted(blocks: &str) -> Function {
        let head = "function \"f\" lanes 64 nan 0x7e00 0x7fc00000 0x7ff8000000000000 {\n\
                    bank s: mask x 4\nbank v: lane i32 x 2\nactive s[3]\n";
        let mut function = parse::parse(&format!("{head}\n{blocks}\n}}")).expect("a function");
        verify(&function).expect("a valid one");
        convert(&mut function);
        verify(&function).expect("a valid one");
        function
    }

    /// An `if` in a loop: a single block that jumps to itself remains.
    #[test]
    fn a_loop_becomes_one_block() {
        let function = converted(
            "b0 pc 0x0:\n  jump b1\n\
             b1 pc 0x4 cost 1:\n  v0 = rf.read s[3]\n  v1 = rf.read s[0]\n  v2 = and v0, v1\n  rf.write s[1], v0\n  \
             rf.write s[3], v2\n  branch v2, b2, b3\n\
             b2 pc 0x8 cost 1:\n  v0 = rf.read v[0]\n  rf.write v[1], v0\n  jump b3\n\
             b3 pc 0xc cost 1:\n  v0 = rf.read s[3]\n  v1 = rf.read s[1]\n  v2 = or v0, v1\n  rf.write s[3], v2\n  \
             branch v2, b1, b4\n\
             b4 pc 0x10 cost 1:\n  exit",
        );
        let block = &function.blocks[1];
        assert_eq!((block.cost, block.insts.len()), (3, 11));
        let Terminator::Branch { then, .. } = block.term else { panic!("{function}") };
        assert_eq!(then.0, 1);
    }

    /// A register that is read later keeps its old value; other registers need not. A scalar load
    /// is conditional.
    #[test]
    fn scalars_are_kept() {
        let function = converted(
            "b0 pc 0x0:\n  jump b1\n\
             b1 pc 0x4 cost 1:\n  v0 = rf.read s[3]\n  branch v0, b2, b3\n\
             b2 pc 0x8 cost 1:\n  v0 = rf.read s[0]\n  v1 = from.mask v0\n  v2 = load.global.i64 [v1] align 4\n  \
             v3 = to.mask v2\n  rf.write s[1], v3\n  rf.write s[2], v3\n  jump b3\n\
             b3 pc 0xc cost 1:\n  v0 = rf.read s[1]\n  rf.write s[0], v0\n  exit",
        );
        let block = &function.blocks[0];
        let selects =
            block.insts.iter().filter(|inst| matches!(inst.op, Op::UniformSelect { .. })).count();
        let guarded = block
            .insts
            .iter()
            .any(|inst| matches!(inst.op, Op::Load { access, .. } if access.guard.is_some()));
        assert!(selects == 1 && guarded && block.term == Terminator::Exit, "{function}");
    }

    /// Code with an effect on inactive lanes stays behind the branch.
    #[test]
    fn writes_to_inactive_lanes_stay_behind_the_branch() {
        let function = converted(
            "b0 pc 0x0:\n  jump b1\n\
             b1 pc 0x4 cost 1:\n  v0 = rf.read s[3]\n  branch v0, b2, b3\n\
             b2 pc 0x8 cost 1:\n  v0 = rf.read v[0]\n  rf.write v[1], v0 nomask\n  jump b3\n\
             b3 pc 0xc cost 1:\n  exit",
        );
        assert!(matches!(function.blocks[0].term, Terminator::Branch { .. }), "{function}");
    }
}
