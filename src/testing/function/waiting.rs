//! Random functions whose lanes wait at places: sections of code in the order of the text. Some or
//! all lanes go forwards and backwards between sections. Lanes wait unless they are first in that
//! order.

use arbitrary::{Result, Unstructured};
use warploom_ir::*;

use super::{Banks, LONGS, MASKS, Pool, WORDS, begin, guarded, operation, prologue, unguarded};

/// The largest number of sections.
const SECTIONS: u64 = 7;

/// The registers and blocks that every section may name.
struct Sections {
    banks: Banks,
    /// For each section, and for the end: the register of waiting lanes, and the block.
    places: Vec<(Reg, BlockId)>,
    /// How often a lane has gone backwards from each section.
    rounds: BankId,
    /// A word computed from the words that lanes read.
    seen: Reg,
    /// The block with nothing but a dispatcher.
    only: BlockId,
}

/// Returns a function for warps of 8, 32 or 64 lanes. Lanes go back from a section a limited number
/// of times.
pub fn waiting(u: &mut Unstructured<'_>) -> Result<Function> {
    let (mut f, banks) = begin(u)?;
    let count = u.int_in_range(1..=SECTIONS)?;
    let waiting = f.bank("w", CellKind::Mask, count as u32 + 1);
    let rounds = f.bank("c", CellKind::Lane(Type::I32), count as u32);
    let seen = f.bank("s", CellKind::Lane(Type::I32), 1).reg(0);
    let entry = f.new_block(0);
    let blocks: Vec<BlockId> = (1..=count + 1).map(|i| f.new_block(8 * i)).collect();
    let only = f.new_block(8 * (count + 2));
    let places =
        blocks.iter().zip(0..).map(|(&block, index)| (waiting.reg(index), block)).collect();
    let all = Sections { banks, places, rounds, seen, only };
    prologue(&mut f.at(entry), &all.banks, blocks[0], u)?;
    for (index, &block) in blocks[..count as usize].iter().enumerate() {
        f.set_cost(block, u.int_in_range(1..=5)?);
        let mut b = f.at(block);
        b.set_pc(8 * (index as u64 + 1));
        section(&mut b, &all, index, u)?;
    }
    end(&mut f.at(blocks[count as usize]), &all.banks, u)?;
    f.at(only).dispatch(all.places.clone(), None, blocks[count as usize]);
    Ok(f.finish().expect("generated operations are well-typed"))
}

/// Ends the function and hides many registers: waiting lanes need only the values that code reads.
fn end(b: &mut BlockBuilder<'_>, banks: &Banks, u: &mut Unstructured<'_>) -> Result<()> {
    b.set_nomask(true);
    let zero = b.iconst(Type::I32, 0);
    for i in 0..WORDS {
        if u.ratio(2, 3)? {
            b.rf_write(banks.words.reg(i), zero);
        }
    }
    let zero = b.iconst(Type::I64, 0);
    for i in 0..LONGS {
        if u.ratio(2, 3)? {
            b.rf_write(banks.longs.reg(i), zero);
        }
    }
    let none = b.lanes_of(0);
    for i in 0..MASKS {
        if u.ratio(1, 2)? {
            b.rf_write(banks.masks.reg(i), none);
        }
    }
    b.exit();
    Ok(())
}

fn section(
    b: &mut BlockBuilder<'_>,
    all: &Sections,
    index: usize,
    u: &mut Unstructured<'_>,
) -> Result<()> {
    let mut pool = Pool::new(b, u)?;
    for _ in 0..u.int_in_range(0..=2)? {
        // The value that is read here is visible in the end.
        let (seen, word, three) = (
            b.rf_read(all.seen),
            b.rf_read(all.banks.words.reg(u.int_in_range(0..=WORDS - 1)?)),
            b.iconst(Type::I32, 3),
        );
        let seen = b.mul(seen, three);
        let seen = b.add(seen, word);
        b.rf_write(all.seen, seen);
    }
    for _ in 0..u.int_in_range(0..=8)? {
        operation(b, &all.banks, &mut pool, u)?;
    }
    if u.arbitrary()? {
        // Waiting lanes must keep their values of these registers.
        if u.ratio(1, 4)? {
            guarded(b, &pool, u)?;
        }
        let value = *u.choose(&pool.words)?;
        for i in 0..WORDS {
            if u.ratio(1, 3)? {
                b.rf_write(all.banks.words.reg(i), value);
            }
        }
        unguarded(b);
    }
    if u.ratio(1, 8)? {
        // Lanes that wait for one section now wait for another section.
        let (one, other) = (u.choose(&all.places)?.0, u.choose(&all.places)?.0);
        let (lanes, before, none) = (b.rf_read(one), b.rf_read(other), b.lanes_of(0));
        b.rf_write(one, none);
        let lanes = b.or(lanes, before);
        b.rf_write(other, lanes);
    }
    let next = index + 1;
    let forward = u.int_in_range(next..=all.places.len() - 1)?;
    match u.int_in_range(0..=7)? {
        0 => {
            // All lanes go on.
            b.jump(all.places[next].1);
            return Ok(());
        }
        1 | 2 => {
            let going = *u.choose(&pool.masks)?;
            let other =
                if u.arbitrary()? { next } else { u.int_in_range(next..=all.places.len() - 1)? };
            part(b, all, going, (forward, other));
        }
        3..=5 => {
            let back = u.int_in_range(0..=index)?;
            let going = again(b, all, index, u)?;
            let to = if u.ratio(1, 4)? { forward } else { next };
            return leave_loop(b, all, going, (back, to), u);
        }
        6 => {
            // Some lanes exit.
            let staying = *u.choose(&pool.masks)?;
            let active = b.read_active();
            let rest = b.and(active, staying);
            b.write_active(rest);
            wait(b, all.places[next].0, rest);
        }
        _ => {
            // All lanes wait, though no lane may be in front of them.
            let active = b.read_active();
            wait(b, all.places[forward].0, active);
        }
    }
    dispatch(b, all, u)
}

/// Makes some lanes wait for one section, and all other lanes for another section.
fn part(b: &mut BlockBuilder<'_>, all: &Sections, going: Value, (to, otherwise): (usize, usize)) {
    let active = b.read_active();
    let taken = b.and(active, going);
    wait(b, all.places[to].0, taken);
    let not = b.not(going);
    let rest = b.and(active, not);
    wait(b, all.places[otherwise].0, rest);
}

/// Adds lanes to the lanes that wait at a place.
fn wait(b: &mut BlockBuilder<'_>, place: Reg, lanes: Value) {
    let before = b.rf_read(place);
    let lanes = b.or(before, lanes);
    b.rf_write(place, lanes);
}

/// Returns the lanes that go back once more from a section. The lane's number limits the rounds.
fn again(
    b: &mut BlockBuilder<'_>,
    all: &Sections,
    index: usize,
    u: &mut Unstructured<'_>,
) -> Result<Value> {
    let reg = all.rounds.reg(index as u32);
    let (count, one) = (b.rf_read(reg), b.iconst(Type::I32, 1));
    let count = b.add(count, one);
    b.rf_write(reg, count);
    let (lane, few) = (b.lane_id(), b.iconst(Type::I32, *u.choose(&[0, 1, 3, 7])?));
    let limit = b.and(lane, few);
    Ok(b.icmp(IntCc::LeU, count, limit))
}

/// Sends lanes back at once, while other lanes wait for the section after the loop; or makes all
/// lanes wait.
fn leave_loop(
    b: &mut BlockBuilder<'_>,
    all: &Sections,
    going: Value,
    (back, to): (usize, usize),
    u: &mut Unstructured<'_>,
) -> Result<()> {
    if u.ratio(1, 3)? {
        part(b, all, going, (back, to));
        return dispatch(b, all, u);
    }
    let active = b.read_active();
    let not = b.not(going);
    let leaving = b.and(active, not);
    wait(b, all.places[to].0, leaving);
    let staying = b.and(active, going);
    b.write_active(staying);
    b.branch(staying, all.places[back].1, all.only);
    Ok(())
}

/// Emits a dispatch that mostly takes the first place, else the first place behind another place.
fn dispatch(b: &mut BlockBuilder<'_>, all: &Sections, u: &mut Unstructured<'_>) -> Result<()> {
    let from = match u.ratio(1, 5)? {
        true => Some(b.iconst(Type::I32, u.int_in_range(0..=SECTIONS + 1)?)),
        false => None,
    };
    let last = all.places[all.places.len() - 1].1;
    b.dispatch(all.places.clone(), from, last);
    Ok(())
}
