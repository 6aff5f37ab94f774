//! The lifter's output for real kernels: shapes that the engines need for speed, and the growth of
//! a kernel whose indirect jumps find more code.

use std::time::Instant;

use warploom::Program;
use warploom_ir::{Block, BlockId, Function, Op, Terminator, TrapKind};
use warploom_maxwell::lift::{Kernel, lift_kernel};

fn with_code<R>(file: &str, kernel: &str, run: impl FnOnce(&Kernel<'_>) -> R) -> R {
    let path = format!("{}/{file}", env!("CARGO_MANIFEST_DIR"));
    let binary = std::fs::read(&path).unwrap_or_else(|error| panic!("{path}: {error}"));
    let program =
        Program::load(&binary, Some(kernel)).unwrap_or_else(|error| panic!("{path}: {error}"));
    let id =
        program.module().kernel(kernel).unwrap_or_else(|| panic!("{path}: no kernel {kernel}"));
    let code = program.linked().code(id);
    let indirect_targets = &code.targets;
    run(&Kernel {
        name: kernel,
        code: &code.bytes,
        entry: code.entry,
        indirect_targets,
        services: &[],
        discovered: &[],
        images: &[],
        constants: &[],
        driver_words: true,
        shader: None,
        observed: false,
    })
}

fn lift(file: &str, kernel: &str) -> Function {
    with_code(file, kernel, |kernel| {
        let function = lift_kernel(kernel).unwrap_or_else(|error| panic!("{error}"));
        warploom_ir::verify::verify(&function).unwrap_or_else(|error| panic!("{error}"));
        function
    })
}

/// Returns the blocks that branch to themselves.
fn loops(function: &Function) -> Vec<&Block> {
    let is_loop = |(i, block): &(usize, &Block)| match block.term {
        Terminator::Branch { then, otherwise, .. } => {
            [then, otherwise].contains(&BlockId(*i as u32))
        }
        _ => false,
    };
    function.blocks.iter().enumerate().filter(is_loop).map(|(_, block)| block).collect()
}

/// A loop that lanes leave one by one is one block, even if some lanes leave in its middle. The
/// block writes no predicate register.
#[test]
fn a_loop_is_one_block() {
    let mandel = lift("tests/fixtures/maxwell/kernels/mandel.sm_50.cubin", "mandel");
    let [inner] = loops(&mandel)[..] else { panic!("mandel:\n{mandel}") };
    assert_eq!((inner.pc, inner.cost), (0x138, 17));
    let writes_flag =
        |op: &Op| matches!(op, Op::RfWrite { reg, .. } if mandel.bank(reg.bank).name == "p");
    assert!(!inner.insts.iter().any(|inst| writes_flag(&inst.op)), "{mandel}");

    let reduce = lift("tests/fixtures/maxwell/kernels/reduce.sm_50.cubin", "reduce");
    assert_eq!(loops(&reduce).iter().map(|block| block.pc).collect::<Vec<_>>(), [0x88]);
}

/// saxpy pushes nothing, so it has no stack and two blocks: the body and the end.
#[test]
fn a_kernel_without_divergence_has_no_stack() {
    let saxpy = lift("tests/fixtures/maxwell/kernels/saxpy.sm_50.cubin", "saxpy");
    assert_eq!(saxpy.blocks.len(), 2, "{saxpy}");
    assert!(!saxpy.banks.iter().any(|bank| bank.name == "sp"));
}

/// Each reconvergence point knows the block that pushed it.
#[test]
fn what_is_popped_knows_who_pushed() {
    let switch = lift("tests/fixtures/maxwell/kernels/local.sm_50.cubin", "sw");
    let pushes =
        |block: &Block| block.insts.iter().any(|inst| matches!(inst.op, Op::RfScatter { .. }));
    let joins: Vec<BlockId> = switch.blocks.iter().filter_map(|block| block.join).collect();
    assert!(!joins.is_empty());
    let pushers = switch.blocks.iter().filter(|block| pushes(block)).count();
    assert_eq!(joins.len(), pushers, "{switch}");
}

/// A warp that stands in a kernel continues in the grown kernel: old blocks keep their numbers, and
/// registers keep their places.
#[test]
fn a_grown_kernel_keeps_its_blocks() {
    with_code("tests/fixtures/maxwell/kernels/local.sm_50.cubin", "sw", |kernel| {
        let targets = kernel.indirect_targets;
        let small = lift_kernel(&Kernel { indirect_targets: &[], ..*kernel }).expect("liftable");
        // The order differs from the order of addresses, and the last target is in the middle of a
        // block.
        let mut discovered: Vec<u64> = targets.iter().rev().copied().collect();
        discovered.push(0x28);
        let grown = lift_kernel(&Kernel {
            indirect_targets: &[],
            services: &[],
            discovered: &discovered,
            ..*kernel
        })
        .expect("liftable");
        assert_eq!(small.banks, grown.banks);
        for (old, new) in small.blocks.iter().zip(&grown.blocks) {
            assert_eq!((old.pc, old.cost), (new.pc, new.cost));
            let switch = |term: &Terminator| matches!(term, Terminator::Switch { .. });
            let ends = |block: &Block| std::mem::discriminant(&block.term);
            assert!(
                ends(old) == ends(new) && (switch(&old.term) || successors(old) == successors(new))
            );
        }
        for pc in discovered {
            // A control word stands for the instruction behind it.
            let pc = if pc % 32 == 0 { pc + 8 } else { pc };
            let found = grown.blocks.iter().filter(|block| block.indirect_target && block.pc == pc);
            assert_eq!(found.count(), 1, "{pc:#x}");
        }
    });
}

fn successors(block: &Block) -> Vec<BlockId> {
    match block.term {
        Terminator::Jump(target) => vec![target],
        Terminator::Branch { then, otherwise, .. } => vec![then, otherwise],
        Terminator::Barrier { resume, .. } | Terminator::Service { resume, .. } => vec![resume],
        _ => vec![],
    }
}

/// Any garbage lifts to traps.
#[test]
fn every_word_lifts() {
    let mut bits = 1u64;
    for round in 0..200 {
        let words = std::iter::repeat_with(|| {
            bits = bits.wrapping_mul(0xda94_2042_e4dd_58b5).wrapping_add(0x9e37_79b9_7f4a_7c15);
            bits ^ bits >> 29
        });
        let code: Vec<u8> = words.take(40).flat_map(u64::to_le_bytes).collect();
        let kernel = Kernel::new("garbage", &code, 8);
        let function =
            lift_kernel(&kernel).unwrap_or_else(|error| panic!("round {round}: {error}"));
        warploom_ir::verify::verify(&function)
            .unwrap_or_else(|error| panic!("round {round}: {error}"));
    }
    let empty = Kernel::new("empty", &[], 8);
    assert!(lift_kernel(&empty).is_err());
    // Execution that runs off the end meets an illegal instruction there.
    let code: Vec<u8> =
        [0u64, 0x50b0_0000_0007_0f00].into_iter().flat_map(u64::to_le_bytes).collect();
    let function = lift_kernel(&Kernel::new("short", &code, 8));
    let blocks = function.expect("liftable").blocks;
    let illegal = Terminator::Trap { kind: TrapKind::IllegalInstruction, pc: 0x10 };
    assert!(blocks.iter().any(|block| block.term == illegal));
}

/// Lifting is a small part of the time that translation may take (25 us per instruction), also
/// without optimisation.
#[test]
fn ten_thousand_instructions_lift_in_time() {
    with_code("benches/fixtures/unroll10k.sm_50.cubin", "unroll10k", |kernel| {
        let start = Instant::now();
        let function = lift_kernel(kernel).expect("liftable");
        let (time, cost) =
            (start.elapsed(), function.blocks.iter().map(|block| block.cost).sum::<u32>());
        println!("{cost} instructions in {time:?}");
        assert!(
            cost > 10_000 && time.as_micros() < u128::from(cost) * 25,
            "{cost} instructions in {time:?}"
        );
    });
}
