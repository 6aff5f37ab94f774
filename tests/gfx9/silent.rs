//! Each bit that an instruction's text shows, and each operand, must change the lifted code or be a
//! fault: nothing is ignored in silence.

use std::collections::BTreeMap;
use std::fmt::Write;

use warploom_container::Parameter;
use warploom_gfx9::layout::{Location, location};
use warploom_gfx9::lift::graphics::{Shader, WordSource};
use warploom_gfx9::lift::{Initial, Kernel, Mode, lift_kernel};
use warploom_gfx9::row::{Format, OperandType, Slot};
use warploom_gfx9::table::rows;
use warploom_gfx9::{Encoder, Encoding, Instruction, Operand, Role, Row};
use warploom_ir::Terminator;

/// The mode: denormals are zeros and IEEE is off, so that output modifiers act.
const MODE: u32 = 0x100;

/// Returns the surroundings of a fragment program: all attributes and targets.
fn shader() -> Shader {
    let rows = (0..9).flat_map(|target| (0..4).map(move |component| (target, component)));
    Shader {
        fragment: true,
        slot_bytes: 0,
        covered: None,
        written: Some(4096),
        attributes: 64,
        parameters: Parameter::all()
            .map(|one| (one, WordSource::Word(4 * one.index() as u32)))
            .collect(),
        exports: rows.zip((8192..).step_by(8)).collect(),
        emitted: None,
    }
}

/// Returns the code that the lift makes of an instruction; `None` if it is a fault.
fn lifted(words: &[u8]) -> Option<String> {
    const END: u32 = 0xbf81_0000;
    let code: Vec<u8> =
        words.iter().copied().chain(END.to_le_bytes()).chain(END.to_le_bytes()).collect();
    let initial = Initial { shader: Some(shader()), ..Initial::default() };
    let kernel =
        Kernel { plain: true, mode: Mode::from_bits(MODE), initial, ..Kernel::new("probe", &code) };
    let function = lift_kernel(&kernel).ok()?;
    let traps = function.blocks.iter().any(|block| matches!(block.term, Terminator::Trap { .. }));
    let mut text = String::new();
    for block in &function.blocks {
        for inst in &block.insts {
            write!(text, "{:?}", inst.op).expect("text");
        }
        write!(text, "{:?}", block.term).expect("text");
    }
    (!traps).then_some(text)
}

type Form = (Encoding, Format, u16);

/// Returns an instruction of a form with distinct registers as operands and modifiers as executed.
fn example(row: &'static Row, (encoding, format, op): Form) -> Vec<u8> {
    let mut encoder = Encoder::new(row, encoding, format, op).expect("a form");
    for (slot, number) in row.operands.iter().zip((16..).step_by(16)) {
        let scalar = slot.ty == OperandType::Mask || matches!(slot.role, Role::Ssrc0 | Role::Ssrc1);
        let _ = if slot.role == Role::K {
            encoder.operand(slot.role, Operand::Literal(0))
        } else if scalar {
            encoder.operand(slot.role, Operand::Scalar(number))
        } else {
            let vector = encoder.operand(slot.role, Operand::Vector(number));
            vector.or_else(|| encoder.operand(slot.role, Operand::Scalar(number)))
        };
    }
    let mut set = |lo, bits, value| encoder.set(lo, bits, value).expect("a field");
    match encoding {
        // `row_shl:1`, to all rows and banks.
        Encoding::Dpp => {
            set(40, 9, 0x101);
            set(56, 8, 0xff);
        }
        Encoding::Vop3p => {
            set(59, 2, 3);
            set(14, 1, 1);
        }
        // An export of four words.
        Encoding::Exp => set(0, 4, 0xf),
        // One component, or two for compares.
        Encoding::Mimg => set(8, 4, if row.mnemonic.ends_with("cmpswap") { 3 } else { 1 }),
        // `MSG_INTERRUPT` and `HW_REG_MODE`: other registers cannot be written.
        Encoding::Sopp if row.slot(Role::Message).is_some() => set(0, 16, 1),
        Encoding::Sopk if row.slot(Role::Hwreg).is_some() => {
            set(0, 16, if row.mnemonic == "s_setreg_b32" { 2 } else { 1 | 4 << 6 | 3 << 11 });
        }
        _ => {}
    }
    encoder.finish().unwrap_or_else(|| panic!("{} in {encoding:?}", row.mnemonic)).1
}

/// Returns every form of each implemented row, with an example.
fn examples() -> impl Iterator<Item = (&'static Row, Form, Vec<u8>)> {
    // `s_trap` ends the wave.
    let rows = rows().filter(|row| row.lift.is_some() && row.mnemonic != "s_trap");
    rows.flat_map(|row| row.forms().map(move |form| (row, form, example(row, form))))
}

fn text(bytes: &[u8]) -> String {
    Instruction::decode(bytes).expect("an instruction").text(0)
}

/// Returns the text of an instruction with other bits, if the bits are one instruction.
fn variant(bytes: &[u8]) -> Option<String> {
    Instruction::decode(bytes)
        .filter(|one| one.bytes() as usize == bytes.len())
        .map(|one| one.text(0))
}

/// Tells whether a compare has a constant result, so that it does not read its operands.
fn is_settled(name: &str) -> bool {
    let settled = ["_f_f16", "_f_f32", "_f_f64", "_tru_f16", "_tru_f32", "_tru_f64"]
        .iter()
        .any(|end| name.ends_with(end));
    let settled = settled
        || ["i16", "u16", "i32", "u32", "i64", "u64"]
            .iter()
            .any(|ty| name.ends_with(&format!("_f_{ty}")) || name.ends_with(&format!("_t_{ty}")));
    settled && name.starts_with("v_cmp")
}

/// Tells which bits a text shows without effect; comments give the reasons.
fn has_no_effect(row: &Row, encoding: Encoding, bit: u32) -> bool {
    let name = row.mnemonic;
    let starts = |prefixes: &[&str]| prefixes.iter().any(|prefix| name.starts_with(prefix));
    match (encoding, bit) {
        // GLC and SLC: memory is coherent. For atomics, GLC concerns the result.
        (Encoding::Smem | Encoding::Flat, 16)
        | (Encoding::Mubuf | Encoding::Mtbuf, 14)
        | (Encoding::Mimg, 13) => !name.contains("atomic"),
        (Encoding::Flat | Encoding::Mubuf, 17) | (Encoding::Mtbuf, 54) | (Encoding::Mimg, 25) => {
            true
        }
        // Prefetches and hints have no effect.
        (Encoding::Smem, _) => starts(&["s_atc_probe", "s_dcache_discard"]),
        // Both of the next instructions end the wave.
        (Encoding::Sopk | Encoding::Sopp, 0) if matches!(name, "s_call_b64" | "s_branch") => true,
        // There is no debugger and nothing to wait for, and the number of an `s_endpgm` means
        // nothing.
        (Encoding::Sopp, _) => starts(&[
            "s_nop",
            "s_endpgm",
            "s_waitcnt",
            "s_sethalt",
            "s_sleep",
            "s_setprio",
            "s_incperf",
            "s_decperf",
            "s_cbranch_cdbg",
            "s_sendmsg",
        ]),
        // The written value may be the old one: see `hardware_registers` in `faults`.
        (Encoding::Sopk, _) => starts(&["s_setreg"]),
        // VOPC's bit signals NaNs, for which there is no handler. Conversions to integers saturate
        // anyway.
        (Encoding::Vop3, 15) | (Encoding::Sdwa, 45) => starts(&["v_cmp", "v_cvt", "v_frexp_exp"]),
        // An F32 has no halves.
        (Encoding::Vop3p, 11..=13) => starts(&["v_mad_mix"]),
        // The 32-bit number that a dot product is added to has no halves.
        (Encoding::Vop3p, 14) => starts(&["v_dot"]),
        (Encoding::Dpp, _) => name == "v_nop",
        // Texel coordinates are integers. The descriptor says whether there are layers.
        (Encoding::Mimg, 12) => !starts(&["image_sample"]),
        (Encoding::Mimg, 14) => true,
        _ => false,
    }
}

#[test]
fn every_bit_counts() {
    let mut ignored: BTreeMap<String, Vec<&str>> = BTreeMap::new();
    let mut seen = 0;
    for (row, (encoding, ..), bytes) in examples() {
        let plain = lifted(&bytes).unwrap_or_else(|| panic!("{} is a fault", text(&bytes)));
        for bit in 0..8 * bytes.len() as u32 {
            let mut other = bytes.clone();
            other[bit as usize / 8] ^= 1 << (bit % 8);
            let same =
                |one: &Instruction| (one.row().opcode, one.encoding()) == (row.opcode, encoding);
            if !Instruction::decode(&other).is_some_and(|one| same(&one)) {
                continue;
            }
            let shown = variant(&other).is_some_and(|other| other != text(&bytes));
            if !shown || is_settled(row.mnemonic) || has_no_effect(row, encoding, bit) {
                continue;
            }
            seen += 1;
            if lifted(&other).is_some_and(|other| other == plain) {
                ignored.entry(format!("{encoding:?} bit {bit}")).or_default().push(row.mnemonic);
            }
        }
    }
    assert!(ignored.is_empty(), "these bits do nothing: {ignored:#?}");
    assert!(seen > 40_000, "{seen}");
}

/// Sets an operand's bits to a number; returns `None` if the operand has no bits for it.
fn with_number(
    bytes: &[u8],
    row: &Row,
    encoding: Encoding,
    slot: &Slot,
    number: u64,
) -> Option<Vec<u8>> {
    let mut word = u64::from_le_bytes(std::array::from_fn(|i| bytes.get(i).copied().unwrap_or(0)));
    let mut put = |lo: u8, bits: u8, value: u64| {
        let ones = ((1 << bits) - 1) << lo;
        (value < 1 << bits).then(|| word = word & !ones | value << lo)
    };
    match location(encoding, row, slot.role) {
        Location::Scalar { lo, bits, .. } => put(lo, bits, number)?,
        Location::ScalarSource { lo } | Location::Vector { lo } => put(lo, 8, number)?,
        Location::Source { lo } => put(lo, 9, number)?,
        Location::SdwaSource { lo, scalar } => {
            put(lo, 8, number & 255)?;
            put(scalar, 1, 1 ^ number >> 8)?;
        }
        Location::SdwaMask => {
            put(47, 1, 1)?;
            put(40, 7, number)?;
        }
        _ => return None,
    }
    let mut bytes = word.to_le_bytes()[..bytes.len()].to_vec();
    // A literal makes the instruction longer.
    let literal = || Instruction::decode(&[&bytes[..], &0x4567_89ab_u32.to_le_bytes()].concat());
    if bytes.len() == 4 && literal().is_some_and(|one| one.bytes() == 8) {
        bytes.extend(0x4567_89ab_u32.to_le_bytes());
    }
    Some(bytes)
}

/// Tells whether two numbers of this operand may lead to equal code.
fn may_be_another(row: &Row, encoding: Encoding, slot: &Slot) -> bool {
    // Scalar memory ignores data out of range, and reads s0 for a base out of range. STATUS cannot
    // be written.
    encoding == Encoding::Smem
        || row.mnemonic == "s_setreg_b32"
        || is_settled(row.mnemonic)
        // The instruction writes the mask as a whole, so it reads its own destination.
        || slot.role == Role::Vcc
}

/// Returns numbers at which another kind of operand begins, and for some instructions all numbers.
fn numbers(n: usize) -> impl Iterator<Item = u64> {
    const EDGES: [u64; 6] = [0, 99, 256, 257, 510, 511];
    (0..512).filter(move |number| {
        n.is_multiple_of(16)
            || EDGES.contains(number)
            || (100..130).contains(number)
            || (190..256).contains(number)
    })
}

#[test]
fn every_operand_counts() {
    let mut same = Vec::new();
    let (mut seen, mut faults) = (0, 0);
    for (n, (row, (encoding, ..), bytes)) in examples().enumerate() {
        for slot in row.operands.iter().filter(|slot| !may_be_another(row, encoding, slot)) {
            let mut known: BTreeMap<String, String> = BTreeMap::new();
            for number in numbers(n) {
                let Some(other) = with_number(&bytes, row, encoding, slot, number) else { break };
                let Some(text) = variant(&other).filter(|_| {
                    Instruction::decode(&other).is_some_and(|one| one.encoding() == encoding)
                }) else {
                    continue;
                };
                seen += 1;
                let Some(done) = lifted(&other) else {
                    faults += 1;
                    continue;
                };
                match known.get(&done) {
                    Some(first) if *first != text => same.push(format!("`{text}` as `{first}`")),
                    _ => drop(known.insert(done, text)),
                }
            }
        }
    }
    assert!(same.is_empty(), "{} do the same: {:#?}", same.len(), &same[..same.len().min(60)]);
    assert!(seen > 100_000 && faults > 10_000, "{seen} {faults}");
}
