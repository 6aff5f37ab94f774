//! No bit of an instruction is silently dropped: an instruction that is not executed faults, and
//! the report names it.

use std::collections::{BTreeMap, BTreeSet};

use warploom::{EngineKind, FidelityClass, LaunchOptions, Program};
use warploom_ir::{Function, Terminator, TrapKind};
use warploom_maxwell::row::{Location, Piece};
use warploom_maxwell::{Fidelity, Instruction, Row, lift, table};
use warploom_runtime::fault::FaultKind;
use warploom_runtime::memory::MemoryConfig;

const NOP: u64 = 0x50b0_0000_0007_0f00;
const EXIT: u64 = 0xe300_0000_0007_000f;
/// P2R R252, PR, RZ, 0x7f; P2R R253, CC, RZ, 0xf: code that reads all flags.
const READ_FLAGS: [u64; 2] = [0x38e8_0000_07f7_fffc, 0x38e8_0100_00f7_fffd];
const PC: u64 = 8;

/// Returns the IR of a kernel that begins with the word.
fn lifted(word: u64) -> Function {
    let words = [0, word, READ_FLAGS[0], READ_FLAGS[1], 0, NOP, NOP, EXIT];
    let code: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    lift::lift_kernel(&lift::Kernel::new("k", &code, 0))
        .unwrap_or_else(|error| panic!("{word:016x}: {error}"))
}

fn has_trap(function: &Function, kind: TrapKind) -> bool {
    function
        .blocks
        .iter()
        .any(|block| matches!(block.term, Terminator::Trap { kind: k, pc: PC } if k == kind))
}

/// Returns unguarded words of a line of the table, in which a modifier's bits are clear as often as
/// in programs.
fn words(row: &'static Row, count: usize) -> impl Iterator<Item = Instruction> {
    let mut state = 0x1234_5678_9abc_def1_u64;
    let mut next = move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state
    };
    let word = move |n: usize| {
        let random = if n.is_multiple_of(2) { next() & next() } else { next() };
        let word = table::word(row, random);
        Instruction::decode(if row.guarded() { word & !(0xf << 16) | 7 << 16 } else { word })
    };
    (0..count).map(word).collect::<Vec<_>>().into_iter().flatten()
}

/// Bits without an effect, by the field or the operand that has them, and the reason.
const NO_EFFECT: &[(&str, &str)] = &[
    ("bra.limit brx.limit jmp.limit jmx.limit bra.uniform jmp.uniform", "promises about branches"),
    (
        "cal.call_count jcal.call_count pret.call_count exit.keep_refcount",
        "bookkeeping of the hardware",
    ),
    ("*.nodep *.load_cache *.local_cache *.store_cache", "hints"),
    ("*.ndv", "where quads are whole is for SAM to see to (fidelity.md)"),
    ("*.texture_dim", "the header says whether it is a cube or a volume (fidelity.md)"),
    ("nop.* depbar.* cctl.* cctll.* cctlt.* bpt.tag", "no effect, whatever they say (fidelity.md)"),
    (
        "membar.fence_invalidate membar.fence_level",
        "memory is coherent; of the levels only that of the block is less than a fence",
    ),
    ("f2f.copy_rounding", "four names of a copy"),
    (
        "st.store_size stg.store_size stl.store_size sts.store_size sust.store_size",
        "a store has no sign",
    ),
    ("ld.mem_size ldg.mem_size ldgsparse.mem_size", "two names of 128 bits"),
    ("lds.operand", "bit 44, `.U`, is another name"),
    ("ld.operand st.operand", "the predicate of the address (fidelity.md)"),
    ("shfl.funnel_type", "the sign is shifted out"),
    (
        "shfl.funnel_word",
        "a shift to the left gives the high word with `.HI` and without it (fidelity.md)",
    ),
    ("suatomcas.surface_atomic_type", "two names of 32 bits"),
    ("s2r.special_register cs2r.special_register", "one clock, windows of one size (fidelity.md)"),
    ("p2r.operand r2p.operand", "bits of the mask past the flags"),
    ("bfe.operand bfi.operand", "bits of position and length past the second byte"),
    ("prmt.operand", "bits of the selector past those that a mode reads"),
];

fn has_no_effect(opcode: &str, what: &str) -> bool {
    let matches = |pattern: &str| {
        let (of, field) = pattern.split_once('.').expect("opcode and field");
        (of == "*" || of == opcode) && (field == "*" || field == what)
    };
    NO_EFFECT.iter().any(|(patterns, _)| patterns.split(' ').any(matches))
}

/// Returns the field that a bit belongs to, or `operand`.
fn name_of(row: &Row, bit: u8) -> String {
    let holds = |lo: u8, bits: u8| (lo..lo + bits).contains(&bit);
    let field = row.pieces.iter().find_map(|piece| match piece {
        Piece::Field(slot) if holds(slot.lo, slot.bits) || holds(slot.hi, slot.hi_bits) => {
            Some(format!("{:?}", slot.field))
        }
        _ => None,
    });
    field.unwrap_or_else(|| "operand".into())
}

/// A bit that changes the text changes the code that runs.
#[test]
fn every_bit_of_the_text_counts() {
    // One difference counts: some modifiers matter only together with other modifiers.
    let (mut same, mut different) = (BTreeMap::new(), BTreeSet::new());
    for row in table::rows().filter(|row| row.lift.is_some()) {
        for instruction in words(row, 14) {
            let executed = lifted(instruction.word());
            let no_code =
                executed.blocks.iter().all(|block| block.pc != PC || block.insts.is_empty());
            if !lift::executes(&instruction, PC, None)
                || has_trap(&executed, TrapKind::IllegalInstruction)
            {
                continue;
            }
            let text = instruction.text(PC);
            if no_code && text.contains("CC.F") {
                continue;
            }
            for bit in (0..64).filter(|bit| !row.guarded() || !(16..20).contains(bit)) {
                let Some(other) = Instruction::decode(instruction.word() ^ 1 << bit) else {
                    continue;
                };
                if other.row.opcode != row.opcode
                    || other.text(PC) == text
                    || !lift::executes(&other, PC, None)
                {
                    continue;
                }
                let changed = lifted(other.word());
                if has_trap(&changed, TrapKind::IllegalInstruction) {
                    continue;
                }
                let key = (format!("{:?}", row.opcode).to_lowercase(), name_of(row, bit), bit);
                if changed.to_string() == executed.to_string() {
                    same.entry(key).or_insert_with(|| format!("`{text}` and `{}`", other.text(PC)));
                } else {
                    different.insert(key);
                }
            }
        }
    }
    assert!(different.len() > 3000, "{}", different.len());
    let dropped: Vec<_> = same
        .iter()
        .filter(|(key, _)| !different.contains(*key) && !has_no_effect(&key.0, &key.1))
        .map(|((opcode, field, bit), texts)| format!("{opcode}.{field}, bit {bit}: {texts}"))
        .collect();
    assert!(dropped.is_empty(), "executed alike:\n{}", dropped.join("\n"));
}

/// The class of a form is unimplemented exactly if a warp would stop at it.
#[test]
fn the_class_is_that_of_the_form() {
    let (mut traps, mut executed) = (0, 0);
    for row in table::rows() {
        for instruction in words(row, 40) {
            let trap = has_trap(&lifted(instruction.word()), TrapKind::Unimplemented);
            let class = lift::fidelity(&instruction, PC, None);
            assert_eq!(
                class == Fidelity::Unimplemented,
                trap,
                "{}: {class:?}",
                instruction.text(PC)
            );
            *(if trap { &mut traps } else { &mut executed }) += 1;
        }
    }
    assert!(traps > 3000 && executed > 6000, "{traps} and {executed}");
}

/// Runs a kernel that begins with the word on both engines, with one and two threads. Returns the
/// class that the reports give the word, and the fault.
fn run(word: u64) -> (FidelityClass, Option<String>) {
    let instruction = Instruction::decode(word).expect("an instruction");
    let mut module = warploom_container::modules(b".target sm_50\n.kernel k\nNOP\nEXIT\n")
        .expect("assembly")
        .remove(0);
    module.sections[0].data[8..16].copy_from_slice(&word.to_le_bytes());
    let program = Program::new(module, MemoryConfig::default()).expect("a program");
    let kernel = program.kernel("k").expect("the kernel");
    let runs = [
        (EngineKind::Interp, 1),
        (EngineKind::Interp, 2),
        (EngineKind::Jit, 1),
        (EngineKind::Jit, 2),
    ];
    let results = runs.map(|(engine, threads)| {
        let options =
            LaunchOptions { engine, threads, ..LaunchOptions::new([2, 1, 1], [32, 1, 1]) };
        let outcome = kernel.launch(&[], &options).expect("a launch");
        let fault = outcome.fault.map(|fault| {
            assert_eq!(fault.kind(), FaultKind::Unimplemented, "{fault}");
            fault.to_string()
        });
        let executed = kernel.profile(&[], &options).expect("a profile");
        let of_word =
            executed.into_iter().find(|executed| executed.mnemonic == instruction.mnemonic());
        (of_word.expect("the instruction is in the report").class, fault)
    });
    assert!(results.iter().all(|result| *result == results[0]), "{results:?}");
    results.into_iter().next().expect("four of them")
}

fn is_fault(word: u64) {
    let text = Instruction::decode(word).expect("an instruction").text(PC);
    let (class, fault) = run(word);
    assert_eq!(class, FidelityClass::Unimplemented, "{text}");
    assert!(fault.as_ref().is_some_and(|fault| fault.contains(&text)), "`{text}`: {fault:?}");
}

/// Each special register has a value that is exact or that this project decided on; a read of any
/// other register is a fault that names it.
#[test]
fn special_registers() {
    let exact = [0, 32, 33, 34, 35, 37, 38, 39, 40, 50, 56, 57, 58, 59, 60];
    let decided = [1, 2, 3, 48, 49, 52, 53, 54, 55, 80, 81, 82, 83];
    for number in 0..=255 {
        let word = 0xf0c8_0000_0007_0002 | number << 20;
        if exact.contains(&number) {
            assert_eq!(run(word), (FidelityClass::Exact, None), "{number}");
        } else if decided.contains(&number) {
            assert!(matches!(run(word), (FidelityClass::Approximate(_), None)), "{number}");
        } else {
            is_fault(word);
        }
    }
}

/// Registers behind R254 and constant banks that no instruction can name are faults.
#[test]
fn operands_that_do_not_exist() {
    for text in [
        "LDG.E.64 R254, [R2]",
        "LDG.E.128 R252, [R2]",
        "LDG.E R0, [R254]",
        "STS.64 [R2], R254",
        "STS.128 [R2], R253",
        "DADD R254, R2, R4",
        "DADD R2, R254, R4",
        "F2F.F64.F32 R254, R2",
        "ATOM.E.ADD.U64 R2, [R4], R254",
        "ATOMS.CAS R2, [R4], R254, ???255",
        "TEX R252, R4, R8, 0x10, 2D, 0xf",
        "TEX R4, R254, R8, 0x10, 2D, 0xf",
        "SUST.D.BA.1D.128.TRAP [R0], R253, 0x10",
        "MOV R2, c[0x12][0x0]",
        "FADD R2, R3, c[0x1f][0x10]",
        "LDC R2, c[0x12][0x0]",
    ] {
        let word = warploom_maxwell::assemble(text, PC).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(Instruction::decode(word).map(|i| i.text(PC)).as_deref(), Some(text));
        is_fault(word);
    }
}

/// Words of constant bank 0: the driver's value is known, or this project decided on 0.
#[test]
fn words_of_the_driver() {
    let known = |offset: u64| matches!(offset, 0..0x24 | 0x34..0x3c | 0xb0..0xc8 | 0xd0..0xd8 | 0xfc | 0x140..);
    for offset in (0..0x180).step_by(4) {
        let (class, fault) = run(0x4c98_0780_0007_0002 | (offset / 4) << 20);
        assert_eq!(fault, None, "{offset:#x}");
        assert_eq!(
            matches!(class, FidelityClass::Approximate(_)),
            !known(offset),
            "{offset:#x}: {class:?}"
        );
    }
}

/// Each instruction of the table that is not executed stops a warp and reports its text.
#[test]
fn what_is_not_executed_stops() {
    let mut seen = BTreeSet::new();
    for row in table::rows() {
        // Any form of the row, except in rows with branch targets.
        let has_target = row.operands().any(|slot| {
            matches!(slot.location, Location::Target { .. } | Location::AbsoluteTarget { .. })
        });
        let form = words(row, 40).find(|instruction| !lift::executes(instruction, PC, None));
        let Some(instruction) = form.filter(|_| !has_target) else { continue };
        is_fault(instruction.word());
        seen.insert(format!("{:?}", row.opcode));
    }
    assert!(seen.len() > 60, "{seen:?}");
}
