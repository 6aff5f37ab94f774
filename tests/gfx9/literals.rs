//! Literals of 64-bit operands: the sign extends a signed integer, a float's literal is its upper
//! half, and zeros extend other types.

use warploom_gfx9::layout::{Location, location};
use warploom_gfx9::table::rows;
use warploom_gfx9::{Encoder, Encoding, Operand};

use super::support::{LANES, Probe, State};

const LITERALS: [u32; 5] = [0x8000_0000, 0x7fff_ffff, 0xffff_ffff, 0x89ab_cdef, 0x3ff8_0001];

/// The scalar registers that hold the number, and the first register of the other operands.
const NUMBER: u8 = 8;
const OTHER: u8 = 12;

/// Returns the value of a literal, by the type that the name gives the operand.
fn extended(name: &str, literal: u32) -> u64 {
    let signed = name.ends_with("_i64");
    let float = name.contains("_f64");
    match (signed, float) {
        (true, _) => i64::from(literal as i32) as u64,
        (_, true) => u64::from(literal) << 32,
        _ => literal.into(),
    }
}

fn words(bytes: &[u8]) -> Vec<u32> {
    bytes.as_chunks::<4>().0.iter().map(|word| u32::from_le_bytes(*word)).collect()
}

/// An instruction does with a literal as it does with a register that holds the number.
#[test]
fn of_all_instructions() {
    let mut tried = Vec::new();
    // `s_swappc_b64` ends a probe: a call needs a target.
    let ends = |name: &str| name == "s_swappc_b64";
    for row in rows().filter(|row| row.lift.is_some() && !ends(row.mnemonic)) {
        let short = row
            .forms()
            .filter(|(encoding, ..)| encoding.bytes() == 4 && *encoding != Encoding::Sopk);
        for (encoding, format, op) in short {
            for slot in row.operands.iter().filter(|slot| slot.ty.dwords() == 2) {
                let place = location(encoding, row, slot.role);
                if !matches!(place, Location::ScalarSource { .. } | Location::Source { .. }) {
                    continue;
                }
                let with = |operand: Operand| {
                    let mut encoder = Encoder::new(row, encoding, format, op)?;
                    for other in row.operands.iter().filter(|other| other.role != slot.role) {
                        let vector = encoder.operand(other.role, Operand::Vector(OTHER));
                        let _ =
                            vector.or_else(|| encoder.operand(other.role, Operand::Scalar(OTHER)));
                    }
                    encoder.operand(slot.role, operand)?;
                    Some(words(&encoder.finish()?.1))
                };
                // An operand that is only a scalar register fits no literal.
                let Some(register) = with(Operand::Scalar(NUMBER)) else {
                    panic!("{}", row.mnemonic)
                };
                let Some(first) = with(Operand::Literal(LITERALS[0])) else { continue };
                assert_eq!(first.len(), 2, "{}", row.mnemonic);
                tried.push(row.mnemonic);
                let reference = Probe::of_words(&register, 0x3f0);
                for literal in LITERALS {
                    let number = extended(row.mnemonic, literal);
                    let mut before = State::new();
                    before.set_pair(NUMBER.into(), number);
                    // The other operand is next to the number, or far away.
                    for lane in 0..LANES {
                        let near = number.wrapping_add(lane as u64 % 3).wrapping_sub(1);
                        let far = [0, u64::from(literal), !number, 1 << 63][lane / 3 % 4];
                        before.set_long(OTHER.into(), lane, if lane % 2 == 0 { near } else { far });
                    }
                    before.set_pair(OTHER.into(), if literal & 1 == 0 { number } else { 0x1_0004 });
                    let expected = reference.run(&before);
                    let found = Probe::of_words(
                        &with(Operand::Literal(literal)).expect("an instruction"),
                        0x3f0,
                    );
                    for ((engine, found), (_, expected)) in found.run(&before).iter().zip(&expected)
                    {
                        assert!(found == expected, "{engine}, {} with {literal:#x}", row.mnemonic);
                    }
                }
            }
        }
    }
    let count = |part: &str| tried.iter().filter(|name| name.contains(part)).count();
    // Compares, and compares that set EXEC: `i64` and `u64` have six relations and two constant
    // ones, `f64` has sixteen, and classes have one.
    assert_eq!((count("v_cmp_"), count("v_cmpx_")), (33, 33), "{tried:?}");
    assert!(
        count("s_") >= 50 && count("v_cvt") == 3 && tried.len() > 130,
        "{} {tried:?}",
        tried.len()
    );
}
