//! Unrolls loops that exchange lanes at a distance that each round changes, so that each exchange
//! is between known lanes.
//!
//! Reductions and scans of a warp double or halve the distance in each round. Not all compilers
//! unroll them. To find the number of rounds, the pass evaluates the loop with the registers whose
//! values are known at its entry.

use cranelift_entity::PrimaryMap;
use rustc_hash::FxHashMap;
use warploom_ir::verify::{self, VerifyError};
use warploom_ir::{
    Block, BlockId, CellKind, Function, Op, Part, Reg, Terminator, Type, Value, eval, may_write,
};

use super::rules::Rules;
use super::ssa;

/// The most blocks of a loop, and the most rounds of a loop.
const MAX_BLOCKS: usize = 6;
const MAX_ROUNDS: usize = 16;
/// The most operations of the block that receives the rounds.
const MAX_INSTS: usize = 1500;

/// Unrolls the loops into the blocks from which they are entered, and returns the number of these
/// loops.
///
/// Counts of instructions stay unchanged, except for the place where a limit ends a launch.
///
/// # Errors
/// The function breaks an invariant.
pub fn unroll_exchanges(function: &mut Function) -> Result<u32, VerifyError> {
    verify::verify(function)?;
    let mut count = 0;
    if !function.blocks.iter().any(exchanges) {
        return Ok(0);
    }
    let mut ways = Ways::of(function);
    for head in (0..function.blocks.len() as u32).map(BlockId) {
        let Some((before, body)) = find(function, &ways, head) else { continue };
        let Some((rounds, exit)) = unrolled(function, before, &body) else { continue };
        for id in rounds {
            let block = function.block(id).clone();
            function.block_mut(before).append(&block, |_, _| {});
        }
        function.block_mut(before).term = Terminator::Jump(exit);
        for &id in &body {
            function.block_mut(id).clear();
        }
        ways = Ways::of(function);
        count += 1;
    }
    Ok(count)
}

/// Returns whether an operation exchanges lanes. Products do not count: they are left as they are.
fn is_exchange(op: &Op) -> bool {
    op.traits().cross_lane && !matches!(op, Op::Product { .. })
}

fn exchanges(block: &Block) -> bool {
    block.insts.iter().any(|inst| is_exchange(&inst.op))
}

/// Returns the only block that enters a loop, and the loop's blocks in order: each block but the
/// first is reached only from the block before it.
fn find(function: &Function, ways: &Ways, head: BlockId) -> Option<(BlockId, Vec<BlockId>)> {
    let body = around(function, ways, head, &mut vec![head])?;
    let exchanges =
        body.iter().any(|&id| function.block(id).insts.iter().any(|inst| is_exchange(&inst.op)));
    if !exchanges
        || body.iter().any(|&id| {
            function.block(id).insts.iter().any(|inst| may_write(&inst.op, function.active))
        })
    {
        return None;
    }
    let before = match ways.to[head][..] {
        [a, b] if Some(&a) == body.last() => b,
        [a, b] if Some(&b) == body.last() => a,
        _ => return None,
    };
    (function.block(before).term == Terminator::Jump(head) && !body.contains(&before))
        .then_some((before, body))
}

/// Returns the blocks of a path that begins with `path` and leads back to `head`.
fn around(
    function: &Function,
    ways: &Ways,
    head: BlockId,
    path: &mut Vec<BlockId>,
) -> Option<Vec<BlockId>> {
    let last = *path.last().expect("a path begins somewhere");
    let block = function.block(last);
    let targets = match block.term {
        Terminator::Jump(to) => [to, to],
        Terminator::Branch { then, otherwise, .. } => [then, otherwise],
        _ => return None,
    };
    if last.0 == 0 || block.indirect_target || block.join.is_some() || path.len() > MAX_BLOCKS {
        return None;
    }
    if ways.is_joined[last] {
        return None;
    }
    if targets.contains(&head) {
        return Some(path.clone());
    }
    targets.into_iter().find_map(|to| {
        if path.contains(&to) || ways.to[to] != [last] {
            return None;
        }
        path.push(to);
        let found = around(function, ways, head, path);
        path.pop();
        found
    })
}

/// The ways in which control reaches blocks.
struct Ways {
    /// For each block, its predecessors. Each predecessor is listed once for each edge.
    to: PrimaryMap<BlockId, Vec<BlockId>>,
    /// For each block, whether some block joins the lanes that left it.
    is_joined: PrimaryMap<BlockId, bool>,
}

impl Ways {
    fn of(function: &Function) -> Ways {
        let mut to: PrimaryMap<BlockId, Vec<BlockId>> =
            function.blocks.iter().map(|_| Vec::new()).collect();
        let mut is_joined: PrimaryMap<BlockId, bool> =
            function.blocks.iter().map(|_| false).collect();
        for (block, id) in function.blocks.iter().zip(0..) {
            block.term.for_each_target(|target| to[target].push(BlockId(id)));
            if let Some(join) = block.join {
                is_joined[join] = true;
            }
        }
        Ways { to, is_joined }
    }
}

/// Returns the blocks that run when a loop is entered from a block, in order, and the block after
/// them.
fn unrolled(
    function: &Function,
    before: BlockId,
    body: &[BlockId],
) -> Option<(Vec<BlockId>, BlockId)> {
    let entered = function.block(before);
    if !keeps_active(function, entered) {
        return None;
    }
    let mut known = Known::default();
    known.go_through(function, entered);
    let (mut blocks, mut insts) = (Vec::new(), entered.insts.len());
    for _ in 0..MAX_ROUNDS {
        for (at, &id) in body.iter().enumerate() {
            let block = function.block(id);
            insts += block.insts.len();
            if insts > MAX_INSTS {
                return None;
            }
            blocks.push(id);
            let values = known.go_through(function, block);
            let next = body[(at + 1) % body.len()];
            let to = match block.term {
                Terminator::Branch { cond, then, otherwise } => {
                    if *values.get(&cond)? != 0 {
                        then
                    } else {
                        otherwise
                    }
                }
                _ => next,
            };
            if to != next {
                return Some((blocks, to));
            }
        }
    }
    None
}

/// Returns whether the lanes active at the end of a block are the lanes active at its entry.
fn keeps_active(function: &Function, block: &Block) -> bool {
    if !block.insts.iter().any(|inst| may_write(&inst.op, function.active)) {
        return true;
    }
    let (rebuilt, _) = ssa::rebuild(function, block, Rules::ALL);
    rebuilt.insts.iter().all(|inst| match inst.op {
        Op::RfWrite { reg, value, .. } if reg == function.active => {
            matches!(rebuilt.def(value), Op::RfRead { reg, .. } if *reg == function.active)
        }
        ref op => !may_write(op, function.active),
    })
}

/// The known contents of registers that have one value for the warp.
#[derive(Default)]
struct Known(FxHashMap<Reg, u64>);

impl Known {
    /// Evaluates a block, and returns its values that are known.
    fn go_through(&mut self, function: &Function, block: &Block) -> FxHashMap<Value, u64> {
        let mut values = FxHashMap::default();
        for inst in &block.insts {
            match inst.op {
                Op::RfRead { reg, part: Part::Whole } => {
                    if let (Some(&bits), false) = (self.0.get(&reg), function.is_lane(reg)) {
                        values.insert(inst.results[0], bits);
                    }
                }
                Op::RfWrite { reg, part, value, guard, .. } => {
                    let uniform = matches!(function.bank(reg.bank).kind, CellKind::Uniform(_));
                    match values
                        .get(&value)
                        .filter(|_| uniform && part == Part::Whole && guard.is_none())
                    {
                        Some(&bits) => self.0.insert(reg, bits),
                        None => self.0.remove(&reg),
                    };
                }
                Op::RfScatter { bank, .. } => self.0.retain(|reg, _| reg.bank != bank),
                ref op => {
                    if let Some(bits) = computed(function, block, op, &values) {
                        values.insert(inst.results[0], bits);
                    }
                }
            }
        }
        values
    }
}

/// Returns the only result of an operation whose operands are uniform and known.
fn computed(
    function: &Function,
    block: &Block,
    op: &Op,
    values: &FxHashMap<Value, u64>,
) -> Option<u64> {
    if matches!(op, Op::AddCarry { .. } | Op::Select { .. }) {
        return None;
    }
    let operands = op.operands();
    if !operands.iter().all(|&v| block.ty(v).is_uniform()) {
        return None;
    }
    let known: Option<Vec<[u64; 1]>> =
        operands.iter().map(|v| values.get(v).map(|&bits| [bits])).collect();
    let known = known?;
    let args: Vec<&[u64]> = known.iter().map(|bits| &bits[..]).collect();
    let ty = operands.first().map(|&v| block.ty(v).ty).or(if let Op::Const { ty, .. } = op {
        Some(*ty)
    } else {
        None
    })?;
    let mut out = [0];
    match eval::lanewise(op, ty, function.nan, (function.lanes, 0), &args, &mut out)? {
        eval::Output::Row => Some(out[0]),
        // A compare of uniform values gives all lanes or none.
        eval::Output::Mask(mask) => {
            Some(if mask & 1 != 0 { Type::Mask.bits_of_lanes(function.lanes) } else { 0 })
        }
        eval::Output::RowAndMask(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use warploom_ir::parse;

    use super::*;

    /// Returns block 0's terminator and cost after unrolling, with a distance that begins with
    /// `first` and a limit of `last`.
    fn entered(first: &str, last: &str) -> (Terminator, u32) {
        let text = format!(
            "function \"f\" lanes 8 nan 0 0 0 {{\nbank active: mask x 1\nbank r: lane i32 x 1\nbank s: uniform i32 x 2\nactive active[0]\n\n\
             b0 cost 2:\n  v0 = {first}\n  rf.write s[0], v0\n  jump b1\n\
             b1 cost 3:\n  v0 = rf.read s[0]\n  v1 = rf.read r[0]\n  v2 = lane.id\n  v3 = xor v2, v0\n  v4 = lane.gather v1, v3\n  \
             rf.write r[0], v4\n  v5 = const.i32 1\n  v6 = shl v0, v5\n  rf.write s[0], v6\n  v7 = {last}\n  v8 = icmp.lt.u v6, v7\n  \
             branch v8, b1, b2\nb2:\n  exit\n}}\n"
        );
        let mut function = parse::parse(&text).unwrap_or_else(|error| panic!("{error}"));
        unroll_exchanges(&mut function).unwrap();
        (function.blocks[0].term.clone(), function.blocks[0].cost)
    }

    #[test]
    fn a_loop_whose_rounds_are_known() {
        assert_eq!(
            entered("const.i32 1", "const.i32 8"),
            (Terminator::Jump(BlockId(2)), 2 + 3 * 3)
        );
    }

    #[test]
    fn loops_whose_rounds_are_not_known_or_many() {
        let stays = (Terminator::Jump(BlockId(1)), 2);
        assert_eq!(entered("rf.read s[1]", "const.i32 8"), stays);
        assert_eq!(entered("const.i32 1", "rf.read s[1]"), stays);
        assert_eq!(entered("const.i32 1", "const.i32 0x100000"), stays);
    }
}
