//! Writes one instruction: prefix, opcode, ModRM, SIB, displacement, immediate.

use super::opcode::{Form, Imm, Opcode, Prefix};
use super::{Address, Assembler, Operands, Source};

/// Register number that stands for no index.
const NO_INDEX: u8 = 4;

/// The fields of the ModRM byte and of the prefix.
struct Fields {
    reg: u8,
    vvvv: u8,
    rm: Source,
}

fn fields(op: Opcode, operands: &Operands) -> Fields {
    let Operands { reg, vvvv, rm, .. } = *operands;
    match op.form {
        Form::V => Fields { reg: op.digit, vvvv: reg, rm },
        Form::Digit => Fields { reg: op.digit, vvvv: 0, rm },
        Form::Reg | Form::RegV | Form::Rm | Form::InOpcode => Fields { reg, vvvv, rm },
    }
}

pub(super) fn encode(code: &mut Assembler, op: Opcode, operands: &Operands) {
    let fields = fields(op, operands);
    if op.form == Form::InOpcode {
        rex(code, op, 0, fields.reg >> 3);
        code.bytes.push(op.byte + (fields.reg & 7));
        immediate(code, op, operands.imm);
        return;
    }
    match op.prefix {
        Prefix::Legacy => legacy(code, op, &fields),
        Prefix::Vex => vex(code, op, &fields),
        Prefix::Evex => evex(code, op, &fields, operands),
    }
    code.bytes.push(op.byte);
    let broadcasts = matches!(operands.rm, Source::Constant(_));
    let unit = match op.prefix {
        Prefix::Evex if broadcasts => op.element(),
        Prefix::Evex => op.bytes,
        _ => 1,
    };
    rm(code, op, &fields, unit);
    immediate(code, op, operands.imm);
}

/// Returns bits 3 and 4 of the registers in `rm`, which go to X and B of the prefix.
fn high_bits(source: &Source) -> (u8, u8) {
    match source {
        Source::Register(register) => (register >> 4 & 1, register >> 3 & 1),
        Source::Memory(place) => {
            (place.index.map_or(0, |(index, _)| index >> 3 & 1), place.base >> 3 & 1)
        }
        Source::Constant(_) | Source::Vector(_) => (0, 0),
    }
}

fn rex(code: &mut Assembler, op: Opcode, reg: u8, rm: u8) {
    let bits = u8::from(op.w) << 3 | (reg & 1) << 2 | rm & 3;
    if bits != 0 {
        code.bytes.push(0x40 | bits);
    }
}

fn legacy(code: &mut Assembler, op: Opcode, fields: &Fields) {
    if op.pp != 0 {
        code.bytes.push([0, 0x66, 0xf3, 0xf2][op.pp as usize]);
    }
    let (x, b) = high_bits(&fields.rm);
    rex(code, op, fields.reg >> 3, x << 1 | b);
    match op.map {
        0 => {}
        1 => code.bytes.push(0x0f),
        2 => code.bytes.extend([0x0f, 0x38]),
        _ => code.bytes.extend([0x0f, 0x3a]),
    }
}

fn vex(code: &mut Assembler, op: Opcode, fields: &Fields) {
    let (x, b) = high_bits(&fields.rm);
    let r = fields.reg >> 3 & 1;
    let last = (!fields.vvvv & 0xf) << 3 | (op.length & 1) << 2 | op.pp;
    if (x, b, op.w, op.map) == (0, 0, false, 1) {
        code.bytes.extend([0xc5, (r ^ 1) << 7 | last]);
    } else {
        let first = (r ^ 1) << 7 | (x ^ 1) << 6 | (b ^ 1) << 5 | op.map;
        code.bytes.extend([0xc4, first, u8::from(op.w) << 7 | last]);
    }
}

fn evex(code: &mut Assembler, op: Opcode, fields: &Fields, operands: &Operands) {
    let (x, b) = high_bits(&fields.rm);
    let (r, high) = (fields.reg >> 3 & 1, fields.reg >> 4 & 1);
    let broadcast = matches!(fields.rm, Source::Constant(_));
    let first = (r ^ 1) << 7 | (x ^ 1) << 6 | (b ^ 1) << 5 | (high ^ 1) << 4 | op.map;
    let second = u8::from(op.w) << 7 | (!fields.vvvv & 0xf) << 3 | 1 << 2 | op.pp;
    let third = u8::from(operands.zero) << 7
        | op.length << 5
        | u8::from(broadcast) << 4
        | (fields.vvvv >> 4 & 1 ^ 1) << 3
        | operands.mask;
    code.bytes.extend([0x62, first, second, third]);
}

/// Writes ModRM, SIB and displacement. `unit` is the unit of a one-byte displacement.
fn rm(code: &mut Assembler, op: Opcode, fields: &Fields, unit: u8) {
    let reg = (fields.reg & 7) << 3;
    match &fields.rm {
        Source::Register(register) => code.bytes.push(0xc0 | reg | register & 7),
        Source::Memory(place) => memory(code, reg, place, unit),
        Source::Constant(bits) => constant(code, op, reg, vec![*bits]),
        Source::Vector(words) => constant(code, op, reg, words.to_vec()),
    }
}

fn memory(code: &mut Assembler, reg: u8, place: &Address, unit: u8) {
    let Address { base, index, displacement } = *place;
    let short = (displacement % i32::from(unit) == 0)
        .then(|| i8::try_from(displacement / i32::from(unit)).ok())
        .flatten();
    let (mode, bytes): (u8, &[u8]) = match short {
        // Base registers 5 and 13 without a displacement have another meaning.
        Some(0) if base & 7 != 5 => (0, &[]),
        Some(short) => (1, &short.to_le_bytes()),
        None => (2, &displacement.to_le_bytes()),
    };
    match index {
        None if base & 7 != 4 => code.bytes.push(mode << 6 | reg | base & 7),
        None => code.bytes.extend([mode << 6 | reg | 4, NO_INDEX << 3 | base & 7]),
        Some((index, scale)) => {
            debug_assert!(index != NO_INDEX, "register 4 is no index");
            code.bytes.extend([mode << 6 | reg | 4, scale << 6 | (index & 7) << 3 | base & 7]);
        }
    }
    code.bytes.extend(bytes);
}

/// Refers to a constant behind the code by its distance.
fn constant(code: &mut Assembler, op: Opcode, reg: u8, words: Vec<u64>) {
    code.bytes.push(reg | 5);
    code.bytes.extend([0; 4]);
    let behind = match op.imm {
        Imm::None => 0,
        Imm::Byte => 1,
        Imm::Word => 4,
        Imm::Long => 8,
    };
    code.constants.push((code.bytes.len(), behind, words));
}

fn immediate(code: &mut Assembler, op: Opcode, imm: i64) {
    match op.imm {
        Imm::None => {}
        Imm::Byte => code.bytes.push(imm as u8),
        Imm::Word => code.bytes.extend((imm as i32).to_le_bytes()),
        Imm::Long => code.bytes.extend(imm.to_le_bytes()),
    }
}
