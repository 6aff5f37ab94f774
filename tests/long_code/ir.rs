//! Chains of the IR's operations, on every engine.

use arbitrary::Unstructured;
use warploom_analysis::{LaunchClass, visits};
use warploom_engine::{Effort, Program};
use warploom_ir::parse::parse;
use warploom_ir::{
    BankId, BlockBuilder, BlockId, CellKind, Function, FunctionBuilder, IntCc, NanPolicy, Type,
};
use warploom_testing::chain::{LINKS, chain, name};
use warploom_testing::compare::{WAYS, compare};

use super::{on_small_stack, runs_alike};

/// The bytes that a chain begins with.
const SEED: [u8; 64] = [0x5b; 64];

/// Runs a chain of these links on the interpreter, and after analysis with the given ways of the
/// JIT.
fn run(links: &[usize], rounds: u32, ways: &[usize]) {
    on_small_stack(|| {
        let function =
            chain(links, rounds, &mut Unstructured::new(&SEED)).expect("there are bytes enough");
        for &way in ways {
            let way = std::slice::from_ref(&WAYS[way]);
            if let Err(difference) = compare(&function, [48, 1, 1], &[], way) {
                let names: Vec<&str> = links.iter().map(|&link| name(link)).collect();
                panic!("{names:?}: {}, {}", difference.engine, difference.what);
            }
        }
    });
}

/// Runs each link alone, and each link with the next one.
#[test]
fn chains_of_one_link_and_of_two() {
    for link in 0..LINKS {
        run(&[link], 1_000, &[0, 2]);
        run(&[link, (link + 1) % LINKS], 300, &[2]);
    }
}

/// Runs a chain of 10,000 links of all kinds.
#[test]
fn a_chain_of_all_links() {
    let all: Vec<usize> = (0..LINKS).collect();
    run(&all, 10_000 / LINKS as u32, &[0, 2]);
}

/// Proves that searches visit no more operations for each further round than for earlier rounds.
#[test]
fn searches_grow_as_chains_do() {
    let visited = |links: &[usize], rounds: u32| {
        let function =
            chain(links, rounds, &mut Unstructured::new(&SEED)).expect("there are bytes enough");
        let before = visits();
        let class = LaunchClass::of([64, 1, 1], function.lanes.into(), warploom_cranelift::CHUNK);
        let program = Program::new(&function, class, true, warploom_cranelift::backend())
            .expect("a function that verifies");
        program.compile_all(Effort::Full).expect("code is made");
        (visits() - before, function.blocks[1].insts.len() as u64)
    };
    let alone = (0..LINKS).map(|link| vec![link]);
    let mut looked = 0;
    for links in
        alone.chain((0..LINKS).map(|link| vec![link, (link + 1) % LINKS, (link + 17) % LINKS]))
    {
        let [(few, _), (more, _), (most, operations)] =
            [100, 200, 400].map(|rounds| visited(&links, rounds));
        let names: Vec<&str> = links.iter().map(|&link| name(link)).collect();
        // Searches of the first rounds end sooner, since little code precedes them. Some patterns
        // are given up.
        let allowed = (2 * more).max(more + 2 * more.saturating_sub(few)) + 200;
        assert!(
            most <= allowed,
            "{names:?}: {few}, {more} and {most} visits for 100, 200 and 400 rounds"
        );
        assert!(most <= 500 * operations, "{names:?}: {most} visits for {operations} operations");
        looked += most;
    }
    assert!(looked > 100_000, "searches count what they look at");
}

/// Returns a function of `count` blocks. Each block adds to a register, counts its rounds, and ends
/// with `end`.
fn blocks(count: u32, end: impl Fn(&mut BlockBuilder<'_>, &[BlockId], usize)) -> Function {
    let mut f = FunctionBuilder::new(
        "blocks",
        32,
        NanPolicy { f16: 0x7fff, f32: 0x7fff_ffff, f64: 0xfff8 << 48 },
    );
    let active = f.bank("active", CellKind::Mask, 1).reg(0);
    f.set_active(active);
    let words = f.bank("r", CellKind::Lane(Type::I32), 2);
    let rounds = f.bank("n", CellKind::Uniform(Type::I32), count);
    let ids: Vec<BlockId> = (0..count).map(|number| f.new_block(8 * u64::from(number))).collect();
    for (index, &id) in ids.iter().enumerate() {
        f.set_cost(id, 1);
        let mut b = f.at(id);
        let (word, lane) = (b.rf_read(words.reg(0)), b.lane_id());
        let sum = b.add(word, lane);
        b.rf_write(words.reg(0), sum);
        let round = b.rf_read(rounds.reg(index as u32));
        let one = b.iconst(Type::I32, 1);
        let next = b.add(round, one);
        b.rf_write(rounds.reg(index as u32), next);
        end(&mut b, &ids, index);
    }
    f.finish().expect("a function")
}

/// Checks that the interpreter, analysis and compiled code agree on a function, and that its text
/// reads back as the function.
fn runs_and_prints(function: &Function) {
    on_small_stack(|| {
        let text = function.to_string();
        assert!(
            parse(&text).expect("what is printed can be read") == *function,
            "the text is another function"
        );
        runs_alike(function);
    });
}

#[test]
fn a_hundred_thousand_operations_in_a_line() {
    let sum = (0..LINKS).find(|&link| name(link) == "sum of words").expect("a link");
    let product = (0..LINKS).find(|&link| name(link) == "product of words").expect("a link");
    runs_and_prints(
        &chain(&[sum, product], 50_000, &mut Unstructured::new(&SEED))
            .expect("there are bytes enough"),
    );
}

#[test]
fn ten_thousand_blocks() {
    // Some blocks branch past the next block.
    runs_and_prints(&blocks(10_000, |b, ids, index| match &ids[index + 1..] {
        [] => b.exit(),
        [next] => b.jump(*next),
        [next, second, ..] => {
            let word = b.rf_read(BankId(2).reg(index as u32));
            let bit = b.iconst(Type::I32, index as u64 & 1);
            let odd = b.and(word, bit);
            b.branch(odd, *second, *next);
        }
    }));
}

#[test]
fn a_thousand_nested_loops() {
    // The first half of the blocks are heads, the second half their ends, innermost first. Each
    // loop runs twice.
    let count = 2_000;
    runs_and_prints(&blocks(count, |b, ids, index| match index.checked_sub(count as usize / 2) {
        None => b.jump(ids[index + 1]),
        Some(number) => {
            let round = b.rf_read(BankId(2).reg(index as u32));
            let two = b.iconst(Type::I32, 2);
            let again = b.icmp(IntCc::LtU, round, two);
            match ids.get(index + 1) {
                Some(&next) if number + 1 < count as usize / 2 => {
                    b.branch(again, ids[count as usize / 2 - 1 - number], next)
                }
                _ => b.exit(),
            }
        }
    }));
}
