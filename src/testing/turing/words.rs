//! Random code of Turing, Ampere and Ada from the instruction table: every implemented line, with
//! any modifiers.
//!
//! Registers are few, so that instructions use each other's results. Nothing writes the registers
//! that memory operands add offsets to, so that most accesses are inside.

use std::sync::LazyLock;

use arbitrary::{Result, Unstructured};
use warploom_guest::LiftError;
use warploom_ir::{BankId, Block, CellKind, Function, Terminator, TrapKind};
use warploom_sass::row::{Location, Memory};
use warploom_turing::lift::{Kernel, lift_kernel};
use warploom_turing::table::{Row, TABLE};
use warploom_turing::{Opcode, WORD_BYTES};

use crate::compare::{BUFFER, Initial};

/// The GPU that runs the code.
const MODEL: u8 = 80;
/// Registers that are written.
const REGISTERS: [u64; 8] = [0, 1, 2, 4, 6, 8, 12, RZ];
pub(super) const RZ: u64 = 255;
const UNIFORM_REGISTERS: [u64; 5] = [0, 1, 4, 6, URZ];
pub(super) const URZ: u64 = 63;
/// Pairs that hold addresses: evenly spaced over the lanes, and not.
const SPACED: u64 = 40;
const SCATTERED: u64 = 42;
const EXIT: u128 = 0x000f_ea00_0380_0000_0000_0000_0000_794d;
const MAX_WORDS: usize = 48;
/// The bits that schedule.
pub(super) const SCHEDULING: u128 = !(u128::MAX >> 23);

static ROWS: LazyLock<Vec<&'static Row>> = LazyLock::new(|| implemented(MODEL).collect());

/// Returns the rows of a model whose instructions are executed.
pub(super) fn implemented(model: u8) -> impl Iterator<Item = &'static Row> {
    TABLE.rows().filter(move |row| row.lift.is_some() && row.models.contain(model))
}

/// Returns instructions. The last one is EXIT.
pub fn turing_code(u: &mut Unstructured<'_>) -> Result<Vec<Vec<u8>>> {
    let mut words = Vec::new();
    while words.len() < MAX_WORDS && !u.is_empty() {
        let word = word(u)?;
        if !traps(word, MODEL, |kind| kind == TrapKind::Unimplemented) {
            words.push(word);
        }
    }
    words.push(EXIT);
    Ok(words.iter().map(|word| word.to_le_bytes().into()).collect())
}

/// Lifts code as a kernel.
pub fn lifted(code: &[u8]) -> std::result::Result<Function, LiftError> {
    lifted_for(MODEL, code)
}

fn lifted_for(model: u8, code: &[u8]) -> std::result::Result<Function, LiftError> {
    lift_kernel(&Kernel {
        name: "random",
        model,
        code,
        entry: 0,
        targets: &[],
        services: &[],
        images: &[],
        constants: &[],
        observed: false,
    })
}

/// Whether the word, with its modifiers, may end in a trap of a kind.
pub(super) fn traps(word: u128, model: u8, kind: impl Fn(TrapKind) -> bool) -> bool {
    let code = [word, EXIT].map(u128::to_le_bytes).concat();
    let traps =
        |block: &Block| matches!(block.term, Terminator::Trap { kind: found, .. } if kind(found));
    lifted_for(model, &code).is_ok_and(|function| function.blocks.iter().any(traps))
}

/// Returns the initial content of the registers of a lifted kernel of [`turing_code`].
pub fn turing_registers(function: &Function, u: &mut Unstructured<'_>) -> Result<Vec<Initial>> {
    let mut initial = Vec::new();
    for (bank, id) in function.banks.iter().zip(0..) {
        let cells = match (bank.name.as_str(), bank.kind) {
            ("r" | "ur", CellKind::Lane(_)) => u32::from(function.lanes),
            ("p" | "up", _) => 1,
            _ => continue,
        };
        let addresses = bank.name == "r";
        for index in 0..bank.count {
            let seed: u64 = u.arbitrary()?;
            let content = |cell: u32| match (cells, u64::from(index)) {
                (1, _) => seed,
                (_, SPACED) if addresses => u64::from(cell) * 4,
                (_, SCATTERED) if addresses => {
                    u64::from(cell.wrapping_mul(seed as u32 | 1) % 32 * 4)
                }
                (_, index) if addresses && [SPACED + 1, SCATTERED + 1].contains(&index) => {
                    BUFFER >> 32
                }
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

/// Returns a word of one of the table's lines.
fn word(u: &mut Unstructured<'_>) -> Result<u128> {
    let mut row = *u.choose(&ROWS)?;
    if row.opcode == Opcode::Bar && u.ratio(7, 8)? {
        // Most barriers are never passed.
        row = u.choose(&ROWS)?;
    }
    let mut word: u128 = u.arbitrary()?;
    word &= !SCHEDULING;
    // The guard, if there is one.
    if u.arbitrary()? {
        set(&mut word, 12, 4, 7);
    }
    for slot in row.operands() {
        match slot.location {
            Location::Register { lo } => set(&mut word, lo, 8, *u.choose(&REGISTERS)?),
            Location::Uniform { lo } => set(&mut word, lo, 6, *u.choose(&UNIFORM_REGISTERS)?),
            Location::Memory(Memory { base, offset, width, uniform, .. }) => {
                if let Some(base) = base {
                    set(&mut word, base, 8, *u.choose(&[SPACED, SCATTERED, SPACED, RZ])?);
                }
                if let Some(uniform) = uniform {
                    set(&mut word, uniform, 6, URZ);
                }
                set(&mut word, offset, width, *u.choose(&[0, 4, 8, 16, 64, 128])?);
            }
            Location::Target { lo, width, scale } => {
                let distance = u.int_in_range(-6..=6i64)? * WORD_BYTES as i64;
                set(&mut word, lo, width, (distance / i64::from(scale)) as u64);
            }
            Location::AbsoluteTarget { lo, width, scale, .. } => {
                let address = u.int_in_range(0..=40u64)? * WORD_BYTES;
                set(&mut word, lo, width, address / u64::from(scale));
            }
            _ => {}
        }
    }
    Ok(row.word(word))
}

pub(super) fn set(word: &mut u128, lo: u8, bits: u8, value: u64) {
    if bits > 0 {
        let mask = (u128::MAX >> (128 - u32::from(bits))) << lo;
        *word = *word & !mask | u128::from(value) << lo & mask;
    }
}
