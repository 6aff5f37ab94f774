//! Random Maxwell code from the instruction table: every implemented line, with any modifiers.
//!
//! Registers are few, so that instructions use each other's results. Nothing writes the registers
//! that memory operands add offsets to, so that most accesses are inside.

use std::sync::LazyLock;

use arbitrary::{Result, Unstructured};
use warploom_ir::{BankId, Block, CellKind, Function, Terminator, TrapKind};
use warploom_maxwell::lift::{Kernel, lift_kernel};
use warploom_maxwell::row::{Location, Memory};
use warploom_maxwell::{Opcode, Row, table};

use crate::compare::{BUFFER, Initial};

/// Registers that are written.
const REGISTERS: [u64; 8] = [0, 1, 2, 4, 6, 8, 12, RZ];
pub(super) const RZ: u64 = 255;
/// Pairs that hold addresses: evenly spaced over the lanes, and not.
const SPACED: u64 = 40;
const SCATTERED: u64 = 42;
const EXIT: u64 = 0xe300_0000_0007_000f;
const MAX_WORDS: usize = 48;

pub(super) static ROWS: LazyLock<Vec<&'static Row>> =
    LazyLock::new(|| table::rows().filter(|row| row.lift.is_some()).collect());

/// Returns instructions. The last one is EXIT.
pub fn maxwell_code(u: &mut Unstructured<'_>) -> Result<Vec<Vec<u8>>> {
    let mut words = Vec::new();
    while words.len() < MAX_WORDS && !u.is_empty() {
        let word = word(u)?;
        if !traps(word, |kind| kind == TrapKind::Unimplemented) {
            words.push(word);
        }
    }
    words.push(EXIT);
    Ok(words.iter().map(|word| word.to_le_bytes().into()).collect())
}

/// Returns the code of a kernel that starts at address 8: instructions in bundles with empty
/// control words.
pub fn bundles(instructions: &[u8]) -> Vec<u8> {
    instructions.chunks(24).flat_map(|bundle| [0; 8].iter().chain(bundle)).copied().collect()
}

/// Whether the word, with its modifiers, may end in a trap of a kind.
pub(super) fn traps(word: u64, kind: impl Fn(TrapKind) -> bool) -> bool {
    let traps =
        |block: &Block| matches!(block.term, Terminator::Trap { kind: found, .. } if kind(found));
    lifted_word(word).is_some_and(|function| function.blocks.iter().any(traps))
}

/// Returns the function of a kernel with this word alone, or none if it cannot be lifted.
pub fn lifted_word(word: u64) -> Option<Function> {
    let code = bundles(&[word, EXIT].map(u64::to_le_bytes).concat());
    lift_kernel(&Kernel::new("word", &code, 8)).ok()
}

/// Returns the initial content of the registers of a lifted kernel of [`maxwell_code`].
pub fn maxwell_registers(function: &Function, u: &mut Unstructured<'_>) -> Result<Vec<Initial>> {
    let mut initial = Vec::new();
    for (bank, id) in function.banks.iter().zip(0..) {
        let cells = match (bank.name.as_str(), bank.kind) {
            ("r", CellKind::Lane(_)) => u32::from(function.lanes),
            ("p" | "cc", _) => 1,
            _ => continue,
        };
        for index in 0..bank.count {
            let seed: u64 = u.arbitrary()?;
            let content = |cell: u32| match (cells, u64::from(index)) {
                (1, _) => seed,
                (_, SPACED) => u64::from(cell) * 4,
                (_, SCATTERED) => u64::from(cell.wrapping_mul(seed as u32 | 1) % 32 * 4),
                (_, index) if index == SPACED + 1 || index == SCATTERED + 1 => BUFFER >> 32,
                // Values are small, large, float, varying or uniform.
                _ => {
                    seed.rotate_left(cell * (seed as u32 & 3)) >> (seed as u32 >> 2 & 31)
                        & 0xffff_ffff
                }
            };
            initial.push((BankId(id).reg(index), (0..cells).map(content).collect()));
        }
    }
    Ok(initial)
}

/// Returns a word of one of the table's lines, unless it is one of the few words that the line
/// excludes.
fn word(u: &mut Unstructured<'_>) -> Result<u64> {
    let mut row = *u.choose(&ROWS)?;
    if matches!(row.opcode, Opcode::BarSync | Opcode::BarArv | Opcode::BarRed) && u.ratio(7, 8)? {
        // Most barriers are never passed.
        row = u.choose(&ROWS)?;
    }
    let mut word: u64 = u.arbitrary()?;
    // The guard, if there is one.
    if u.arbitrary()? {
        set(&mut word, 16, 4, 7);
    }
    for slot in row.operands() {
        match slot.location {
            Location::Register { lo } => set(&mut word, lo, 8, *u.choose(&REGISTERS)?),
            Location::Memory(Memory { base: Some(base), offset, width, .. }) => {
                set(&mut word, base, 8, *u.choose(&[SPACED, SCATTERED, SPACED, RZ])?);
                set(&mut word, offset, width, *u.choose(&[0, 4, 8, 16, 64, 128])?);
            }
            Location::Target { lo, width, .. } => {
                set(&mut word, lo, width, (u.int_in_range(-6..=6i64)? * 8) as u64);
            }
            Location::AbsoluteTarget { lo, width, .. } => {
                set(&mut word, lo, width, u.int_in_range(0..=40u64)? * 8);
            }
            _ => {}
        }
    }
    Ok(table::word(row, word))
}

pub(super) fn set(word: &mut u64, lo: u8, bits: u8, value: u64) {
    let Some(mask) = u64::MAX.checked_shr(64 - u32::from(bits)) else { return };
    let mask = mask << lo;
    *word = (*word & !mask) | (value << lo & mask);
}
