//! Proves that every public function of the library rejects functions that break an invariant.

use std::sync::Arc;

use warploom_analysis::{LaunchClass, optimize, shorten_divisions, unroll_exchanges};
use warploom_cranelift::executed::Counting;
use warploom_engine::{Kernel, Program};
use warploom_interp::Interpreter;
use warploom_ir::{BankId, BlockId, Function, Terminator, Value, Window, verify};
use warploom_testing::ir::{Limits, Random, Source, function};

/// Changes a function so that it mostly breaks an invariant.
fn damage(function: &mut Function, source: &mut Random) {
    let block = source.below(function.blocks.len() as u32) as usize;
    let insts = function.blocks[block].insts.len() as u32;
    let inst = source.below(insts.max(1)) as usize;
    let any = source.below(1 << 20);
    match source.below(10) {
        0 => function.banks.truncate(any as usize % function.banks.len()),
        1 => function.banks[any as usize % 15].count = any % 3,
        2 => function.active.bank = BankId(any as u16),
        3 => function.lanes = any as u8,
        4 => function.blocks[block].term = Terminator::Jump(BlockId(any % 8)),
        5 => function.blocks[block].values.truncate(any as usize % 8),
        6 => function.blocks.truncate(block),
        7 if insts > 0 => {
            let broken = |v: Value| Value(v.0.wrapping_add(any % 9).wrapping_sub(4));
            function.blocks[block].insts[inst].op.map_operands(broken);
        }
        8 if insts > 0 => {
            function.blocks[block].insts[inst].window = Window { first: any as u8, count: 8 }
        }
        _ if insts > 0 => {
            function.blocks[block].insts.remove(inst);
        }
        _ => function.blocks.clear(),
    }
}

#[test]
fn a_broken_function_is_an_error_wherever_it_goes() {
    let (mut broken, mut whole) = (0, 0);
    for seed in 0..3_000 {
        let mut source = Random::new(seed);
        let mut function = function(&mut source, Limits::default());
        damage(&mut function, &mut source);
        // A message can show a broken function.
        let text = function.to_string();
        if verify::verify(&function).is_ok() {
            whole += 1;
            continue;
        }
        broken += 1;
        let class = LaunchClass::of([32, 1, 1], 32, warploom_cranelift::CHUNK);
        let function = Arc::new(function);
        assert!(optimize(&function).is_err(), "{text}");
        assert!(shorten_divisions(&mut (*function).clone()).is_err(), "{text}");
        assert!(unroll_exchanges(&mut (*function).clone()).is_err(), "{text}");
        assert!(Interpreter::new(function.clone()).is_err(), "{text}");
        assert!(
            Program::new(&function, class, true, warploom_cranelift::backend()).is_err(),
            "{text}"
        );
        assert!(
            Kernel::new(function.clone(), warploom_cranelift::backend())
                .program([1; 3], [32, 1, 1], 1)
                .is_err(),
            "{text}"
        );
        assert!(Counting::new(&function, class).is_err(), "{text}");
    }
    assert!(broken > 1_500 && whole > 100, "{broken} are broken, {whole} are not");
}
