//! Encodes every instruction with random operands and compares with iced's decoder.

use iced_x86::{Decoder, DecoderOptions, Instruction, Mnemonic, OpKind, Register};

use super::opcode::{self, Form, Imm, Opcode, Prefix};
use super::{ALIGNMENT, Address, Assembler, Condition, Operands, Source};

/// A generator of random numbers (xorshift).
struct Random(u64);

impl Random {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 8) % limit
    }
}

/// Returns whether an instruction has a form with memory, and whether it has a form with registers.
fn takes(name: &str, op: Opcode) -> (bool, bool) {
    let stores = name.contains("_STORE");
    let only_memory = stores || matches!(name, "LEA" | "MOVZX_8" | "KMOVQ") && name != "KMOVQ";
    let masks = op.prefix == Prefix::Vex && name.starts_with('K');
    let only_registers = masks && name != "KMOVQ" && !stores
        || matches!(name, "VPBROADCASTD_GENERAL" | "VPBROADCASTQ_GENERAL")
        || op.form == Form::InOpcode;
    (!only_memory, !only_registers)
}

/// The number of registers that the instruction's field can name: 8 masks, 16 general registers, 32
/// vectors.
fn registers(name: &str, op: Opcode, field: char) -> u64 {
    let compares = ["VPCMP", "VCMP", "VPTEST"].iter().any(|start| name.starts_with(start));
    match (op.prefix, field) {
        (Prefix::Legacy, _) => 16,
        (Prefix::Vex, _) if !name.starts_with('K') => 16,
        (Prefix::Vex, 'r') if name.contains("_TO") => 16,
        (Prefix::Vex, 'm') if name.contains("_FROM") => 16,
        (Prefix::Vex, _) => 8,
        (Prefix::Evex, 'r') if compares => 8,
        (Prefix::Evex, 'm') if name.contains("_GENERAL") => 16,
        (Prefix::Evex, _) => 32,
    }
}

fn place(random: &mut Random) -> Address {
    let index = (random.below(2) == 0).then(|| (random.below(16) as u8, random.below(4) as u8));
    let displacement = match random.below(4) {
        0 => 0,
        1 => random.below(32) as i32 - 16,
        2 => (random.below(400) as i32 - 200) * 4,
        _ => random.below(1 << 20) as i32 * 8 - (1 << 22),
    };
    Address {
        base: random.below(16) as u8,
        index: index.filter(|(index, _)| *index != 4),
        displacement,
    }
}

fn mnemonic(name: &str) -> String {
    let name = name.split('_').next().unwrap_or_default().to_lowercase();
    let mut letters = name.chars();
    letters.next().into_iter().flat_map(char::to_uppercase).chain(letters).collect()
}

/// The registers in the decoder's order; `None` stands for memory.
fn listed(name: &str, op: Opcode, operands: &Operands) -> Vec<Option<u8>> {
    let rm = match operands.rm {
        Source::Register(register) => Some(register),
        _ => None,
    };
    let (reg, vvvv) = (Some(operands.reg), Some(operands.vvvv));
    match op.form {
        Form::Reg if name == "TEST" => vec![rm, reg],
        Form::Reg => vec![reg, rm],
        Form::RegV if matches!(name, "SHLX" | "SHRX" | "SARX") => vec![reg, rm, vvvv],
        Form::RegV => vec![reg, vvvv, rm],
        Form::Rm => vec![rm, reg],
        Form::V => vec![reg, rm],
        Form::Digit => vec![rm],
        Form::InOpcode => vec![reg],
    }
}

/// The number of a register within its kind.
fn number(register: Register) -> u8 {
    const GENERAL: [&str; 8] = ["AX", "CX", "DX", "BX", "SP", "BP", "SI", "DI"];
    let name = format!("{register:?}");
    let digits: String = name.chars().filter(char::is_ascii_digit).collect();
    let low_byte = |general: &str| format!("{}L", general.trim_end_matches('X'));
    let general =
        GENERAL.iter().position(|general| name.ends_with(general) || name == low_byte(general));
    digits
        .parse()
        .ok()
        .or(general.map(|number| number as u8))
        .unwrap_or_else(|| panic!("{name} has no number"))
}

fn check(name: &str, op: Opcode, operands: &Operands, instruction: &Instruction) {
    let context = || format!("{name} {operands:?}: {instruction}");
    assert_eq!(format!("{:?}", instruction.mnemonic()), mnemonic(name), "{}", context());
    let listed = listed(name, op, operands);
    let immediates = u32::from(op.imm != Imm::None);
    assert_eq!(instruction.op_count(), listed.len() as u32 + immediates, "{}", context());
    for (at, register) in listed.into_iter().enumerate() {
        match register {
            Some(register) => {
                assert_eq!(instruction.op_kind(at as u32), OpKind::Register, "{}", context());
                assert_eq!(number(instruction.op_register(at as u32)), register, "{}", context());
            }
            None => assert_eq!(instruction.op_kind(at as u32), OpKind::Memory, "{}", context()),
        }
    }
    if let Source::Memory(place) = operands.rm {
        assert_eq!(number(instruction.memory_base()), place.base, "{}", context());
        match place.index {
            Some((index, scale)) => {
                assert_eq!(number(instruction.memory_index()), index, "{}", context());
                assert_eq!(instruction.memory_index_scale(), 1 << scale, "{}", context());
            }
            None => assert_eq!(instruction.memory_index(), Register::None, "{}", context()),
        }
        assert_eq!(
            instruction.memory_displacement64() as i64,
            i64::from(place.displacement),
            "{}",
            context()
        );
        assert!(!instruction.is_broadcast(), "{}", context());
    }
    if operands.mask != 0 {
        assert_eq!(number(instruction.op_mask()), operands.mask, "{}", context());
    }
    assert_eq!(instruction.zeroing_masking(), operands.zero, "{}", context());
    match op.imm {
        Imm::None => {}
        Imm::Byte => {
            assert_eq!(i64::from(instruction.immediate8()), operands.imm & 0xff, "{}", context())
        }
        Imm::Word | Imm::Long => {
            let last = instruction.op_count() - 1;
            let mask = if op.w { u64::MAX } else { u64::from(u32::MAX) };
            assert_eq!(
                instruction.immediate(last) & mask,
                operands.imm as u64 & mask,
                "{}",
                context()
            );
        }
    }
}

#[test]
fn every_instruction_is_what_its_name_says() {
    let mut random = Random(0x1234_5678_9abc_def1);
    let mut forms = 0;
    for &(name, op) in opcode::ALL {
        for _ in 0..200 {
            let (register, memory) = takes(name, op);
            let rm = match random.below(2) {
                0 if memory => Source::Memory(place(&mut random)),
                _ if register => Source::Register(random.below(registers(name, op, 'm')) as u8),
                _ => Source::Memory(place(&mut random)),
            };
            let mut operands = Operands::of(random.below(registers(name, op, 'r')) as u8, 0, rm);
            if op.form == Form::RegV {
                operands.vvvv = random.below(registers(name, op, 'v')) as u8;
            }
            let general = name.contains("_GENERAL") && op.form == Form::Rm;
            if op.prefix == Prefix::Evex && !general {
                operands.mask = random.below(8) as u8;
                let to_mask = registers(name, op, 'r') == 8;
                let stores = op.form == Form::Rm && matches!(rm, Source::Memory(_));
                operands.zero = operands.mask != 0 && !to_mask && !stores && random.below(2) == 0;
            }
            operands.imm = match op.imm {
                Imm::None => 0,
                Imm::Byte => random.below(256) as i64,
                Imm::Word => i64::from(random.below(1 << 32) as u32 as i32),
                Imm::Long => random.below(1 << 55) as i64,
            };
            let mut code = Assembler::default();
            code.op(op, &operands);
            let bytes = code.finish().bytes;
            let mut decoder = Decoder::new(64, &bytes, DecoderOptions::NONE);
            let instruction = decoder.decode();
            assert_eq!(
                decoder.position(),
                bytes.len(),
                "{name} {operands:?}: {instruction} is not the whole code"
            );
            check(name, op, &operands, &instruction);
            forms += 1;
        }
    }
    assert_eq!(forms, 200 * opcode::ALL.len());
}

#[test]
fn constants_are_where_instructions_look_for_them() {
    let mut code = Assembler::default();
    let vector = [1, 2, 3, 4, 5, 6, 7, 8];
    code.op(opcode::VADDPS, &Operands::of(1, 2, Source::Constant(0x3f80_0000)));
    code.op(opcode::VPTERNLOGD, &Operands::of(1, 2, Source::Constant(7)).imm(5));
    code.op(opcode::VMOVDQU64, &Operands::of(1, 0, Source::Vector(vector)));
    code.op(opcode::VPADDQ, &Operands::of(1, 2, Source::Constant(7)));
    let bytes = code.finish().bytes;
    let mut decoder = Decoder::new(64, &bytes, DecoderOptions::NONE);
    let word =
        |at: u64| u64::from_le_bytes(bytes[at as usize..][..8].try_into().expect("eight bytes"));
    let mut next = || {
        let instruction = decoder.decode();
        assert!(instruction.is_ip_rel_memory_operand(), "{instruction}");
        (instruction.ip_rel_memory_address(), instruction.is_broadcast())
    };
    let [one, first_seven, whole, seven] = [next(), next(), next(), next()];
    assert_eq!((word(one.0), one.1), (0x3f80_0000, true));
    assert_eq!((word(seven.0), seven.1), (7, true));
    assert_eq!(first_seven.0, seven.0, "equal constants are one");
    assert!(!whole.1 && whole.0.is_multiple_of(ALIGNMENT as u64));
    (0..8).for_each(|i| assert_eq!(word(whole.0 + 8 * i), i + 1));
}

#[test]
fn jumps_and_calls_lead_to_labels() {
    let mut code = Assembler::default();
    let (start, end) = (code.label(), code.label());
    code.bind(start);
    code.jump(end);
    code.align(16);
    code.jump_if(Condition::LessOrEqual, start);
    code.call(start);
    code.bind(end);
    code.helper(0, 3);
    code.call_register(0);
    [0u8, 9].into_iter().for_each(|register| code.push(register));
    [9u8, 0].into_iter().for_each(|register| code.pop(register));
    code.vzeroupper();
    code.ret();
    let assembled = code.finish();
    let mut decoder = Decoder::new(64, &assembled.bytes, DecoderOptions::NONE);
    let mut seen = Vec::new();
    while decoder.can_decode() {
        let instruction = decoder.decode();
        let leads = instruction.op_count() > 0 && instruction.op0_kind() == OpKind::NearBranch64;
        let to = if leads { instruction.near_branch64() } else { 0 };
        if instruction.mnemonic() != Mnemonic::Nop {
            seen.push((instruction.mnemonic(), to));
        }
    }
    use Mnemonic::{Call, Jle, Jmp, Mov, Pop, Push, Ret, Vzeroupper};
    let expected = [
        (Jmp, 27),
        (Jle, 0),
        (Call, 0),
        (Mov, 0),
        (Call, 0),
        (Push, 0),
        (Push, 0),
        (Pop, 0),
        (Pop, 0),
        (Vzeroupper, 0),
        (Ret, 0),
    ];
    assert_eq!(seen, expected);
    assert_eq!(assembled.helpers, [(29, 3)]);
}

/// Prints the time of the encoder: `cargo test encoding_time -- --ignored --nocapture`.
#[test]
#[ignore = "it measures"]
fn encoding_time() {
    let per_instruction = (0..20).map(|_| {
        let start = std::time::Instant::now();
        let mut code = Assembler::default();
        let count = 100_000usize;
        for i in 0..count {
            let register = |k: usize| ((i * 7 + k * 11) % 32) as u8;
            let place = Address { base: 3, index: None, displacement: 64 * (i % 100) as i32 };
            let rm = Source::Register(register(2));
            match i % 4 {
                0 => code.op(opcode::VFMADD231PS, &Operands::of(register(0), register(1), rm)),
                1 => code.op(
                    opcode::VADDPS,
                    &Operands::of(register(0), register(1), Source::Memory(place)),
                ),
                2 => code.op(opcode::VCMPPS, &Operands::of(1, register(1), rm).imm(1)),
                _ => code.op(opcode::ADD, &Operands::of(0, 0, Source::Register(1))),
            }
        }
        std::hint::black_box(code.finish());
        start.elapsed().as_nanos() as f64 / count as f64
    });
    println!("{:.1} ns an instruction", per_instruction.fold(f64::MAX, f64::min));
}
