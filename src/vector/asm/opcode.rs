//! Instructions as data: the encoding of each instruction.

/// The kind of an instruction's prefix.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Prefix {
    /// No prefix, or REX.
    Legacy,
    Vex,
    Evex,
}

/// Assigns operands to fields. Fields are `reg` and `rm` of the ModRM byte, and `vvvv` of the
/// prefix.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// `reg` is the result, `rm` the last source. Without a result, `reg` is the first source.
    Reg,
    /// `reg` is the result, `vvvv` the first source, `rm` the last source.
    RegV,
    /// `rm` is the result or the memory that is written; `reg` is the source.
    Rm,
    /// `vvvv` is the result, `rm` the source, `reg` part of the opcode.
    V,
    /// `rm` is source and result, `reg` part of the opcode.
    Digit,
    /// The result is part of the opcode.
    InOpcode,
}

/// The size of an immediate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Imm {
    None,
    Byte,
    Word,
    /// 64 bits.
    Long,
}

/// The encoding of one instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Opcode {
    pub prefix: Prefix,
    pub form: Form,
    /// Mandatory prefix: 0 none, 1 `66`, 2 `F3`, 3 `F2`.
    pub pp: u8,
    /// Opcode map: 0 one byte, 1 `0F`, 2 `0F38`, 3 `0F3A`.
    pub map: u8,
    pub byte: u8,
    /// REX.W, VEX.W or EVEX.W.
    pub w: bool,
    /// Vector length: 0, 1 and 2 stand for 128, 256 and 512 bits.
    pub length: u8,
    /// The bits of `reg` if it is part of the opcode.
    pub digit: u8,
    pub imm: Imm,
    /// The bytes of a whole operand in memory: the unit of a one-byte EVEX displacement.
    pub bytes: u8,
    /// The result's old value is a source.
    pub tied: bool,
}

impl Opcode {
    /// The bytes of an element: the unit of displacements of a broadcast element.
    pub const fn element(self) -> u8 {
        if self.w { 8 } else { 4 }
    }

    const fn new(prefix: Prefix, pp: u8, map: u8, byte: u8) -> Opcode {
        let form = if matches!(prefix, Prefix::Evex) { Form::RegV } else { Form::Reg };
        let (length, bytes) = if matches!(prefix, Prefix::Evex) { (2, 64) } else { (0, 1) };
        Opcode {
            prefix,
            form,
            pp,
            map,
            byte,
            w: false,
            length,
            digit: 0,
            imm: Imm::None,
            bytes,
            tied: false,
        }
    }

    const fn w(self) -> Opcode {
        Opcode { w: true, ..self }
    }

    const fn form(self, form: Form) -> Opcode {
        Opcode { form, ..self }
    }

    const fn digit(self, form: Form, digit: u8) -> Opcode {
        Opcode { form, digit, ..self }
    }

    const fn tied(self) -> Opcode {
        Opcode { tied: true, ..self }
    }

    const fn imm(self, imm: Imm) -> Opcode {
        Opcode { imm, ..self }
    }

    const fn bytes(self, bytes: u8) -> Opcode {
        Opcode { bytes, ..self }
    }

    const fn length(self, length: u8) -> Opcode {
        Opcode { length, ..self }
    }
}

const fn legacy(map: u8, byte: u8) -> Opcode {
    Opcode::new(Prefix::Legacy, 0, map, byte)
}

/// A two-operand instruction of 64-bit registers whose first source is the result.
const fn alu(byte: u8) -> Opcode {
    legacy(0, byte).w().tied()
}

/// An instruction with an immediate on a 64-bit register, which is also its result.
const fn alu_imm(digit: u8) -> Opcode {
    legacy(0, 0x81).w().digit(Form::Digit, digit).imm(Imm::Word).tied()
}

/// A shift of a 64-bit register by an immediate.
const fn shift_imm(digit: u8) -> Opcode {
    legacy(0, 0xc1).w().digit(Form::Digit, digit).imm(Imm::Byte).tied()
}

/// A shift of a 64-bit register by another register.
const fn shift(pp: u8) -> Opcode {
    Opcode::new(Prefix::Vex, pp, 2, 0xf7).w().form(Form::RegV)
}

const fn cmov(cc: u8) -> Opcode {
    legacy(1, 0x40 + cc).w().tied()
}

const fn vex(pp: u8, map: u8, byte: u8) -> Opcode {
    Opcode::new(Prefix::Vex, pp, map, byte)
}

/// An operation on two mask registers.
const fn mask(byte: u8) -> Opcode {
    vex(0, 1, byte).form(Form::RegV).length(1)
}

const fn evex(pp: u8, map: u8, byte: u8) -> Opcode {
    Opcode::new(Prefix::Evex, pp, map, byte)
}

macro_rules! opcodes {
    ($($name:ident = $opcode:expr;)*) => {
        $(pub const $name: Opcode = $opcode;)*

        /// All instructions, by name. A name begins with the mnemonic; the suffix after `_` tells
        /// encodings of one mnemonic apart.
        #[cfg(test)]
        pub const ALL: &[(&str, Opcode)] = &[$((stringify!($name), $name)),*];
    };
}

opcodes! {
    // General registers. Names without a width mean 64 bits.
    MOV = legacy(0, 0x8b).w();
    MOV_32 = legacy(0, 0x8b);
    MOV_STORE = legacy(0, 0x89).w().form(Form::Rm);
    MOV_STORE32 = legacy(0, 0x89).form(Form::Rm);
    MOV_STORE_IMM = legacy(0, 0xc7).w().digit(Form::Digit, 0).imm(Imm::Word);
    MOV_STORE_IMM32 = legacy(0, 0xc7).digit(Form::Digit, 0).imm(Imm::Word);
    MOV_IMM = legacy(0, 0xb8).w().form(Form::InOpcode).imm(Imm::Long);
    MOV_IMM32 = legacy(0, 0xb8).form(Form::InOpcode).imm(Imm::Word);
    MOVZX_8 = legacy(1, 0xb6);
    MOVZX_16 = legacy(1, 0xb7);
    MOVSX_8 = legacy(1, 0xbe).w();
    MOVSX_16 = legacy(1, 0xbf).w();
    MOVSXD = legacy(0, 0x63).w();
    LEA = legacy(0, 0x8d).w();
    ADD = alu(0x03);
    OR = alu(0x0b);
    AND = alu(0x23);
    SUB = alu(0x2b);
    XOR = alu(0x33);
    CMP = legacy(0, 0x3b).w();
    TEST = legacy(0, 0x85).w();
    IMUL = legacy(1, 0xaf).w().tied();
    AND_IMM = alu_imm(4);
    SUB_IMM = alu_imm(5);
    CMP_IMM = legacy(0, 0x81).w().digit(Form::Digit, 7).imm(Imm::Word);
    TEST_IMM = legacy(0, 0xf7).w().digit(Form::Digit, 0).imm(Imm::Word);
    IMUL_IMM = legacy(0, 0x69).w().imm(Imm::Word);
    NOT = legacy(0, 0xf7).w().digit(Form::Digit, 2).tied();
    NEG = legacy(0, 0xf7).w().digit(Form::Digit, 3).tied();
    SHL_IMM = shift_imm(4);
    SHR_IMM = shift_imm(5);
    SAR_IMM = shift_imm(7);
    SHLX = shift(1);
    SHRX = shift(3);
    SARX = shift(2);
    POPCNT = Opcode { pp: 2, ..legacy(1, 0xb8).w() };
    TZCNT = Opcode { pp: 2, ..legacy(1, 0xbc).w() };
    LZCNT = Opcode { pp: 2, ..legacy(1, 0xbd).w() };
    CMOVB = cmov(2);
    CMOVAE = cmov(3);
    CMOVE = cmov(4);
    CMOVNE = cmov(5);
    CMOVBE = cmov(6);
    CMOVA = cmov(7);
    CMOVL = cmov(12);
    CMOVGE = cmov(13);
    CMOVLE = cmov(14);
    CMOVG = cmov(15);

    // Mask registers. Names without a width mean 16 bits.
    KMOVQ = vex(0, 1, 0x90).w();
    KMOVQ_STORE = vex(0, 1, 0x91).w().form(Form::Rm);
    KMOVW_FROM = vex(0, 1, 0x92);
    KMOVD_FROM = vex(3, 1, 0x92);
    KMOVQ_FROM = vex(3, 1, 0x92).w();
    KMOVW_TO = vex(0, 1, 0x93);
    KMOVD_TO = vex(3, 1, 0x93);
    KMOVQ_TO = vex(3, 1, 0x93).w();
    KANDW = mask(0x41);
    KANDNW = mask(0x42);
    KORW = mask(0x45);
    KXORW = mask(0x47);
    KNOTW = vex(0, 1, 0x44);
    KUNPCKBW = Opcode { pp: 1, ..mask(0x4b) };
    KUNPCKWD = mask(0x4b);
    KUNPCKDQ = mask(0x4b).w();
    KSHIFTRW = vex(1, 3, 0x30).w().imm(Imm::Byte);
    KSHIFTRD = vex(1, 3, 0x31).imm(Imm::Byte);
    KSHIFTRQ = vex(1, 3, 0x31).w().imm(Imm::Byte);
    KORTESTW = vex(0, 1, 0x98);

    // Vectors of 512 bits: moves.
    VMOVDQU64 = evex(2, 1, 0x6f).w().form(Form::Reg);
    VMOVDQU64_STORE = evex(2, 1, 0x7f).w().form(Form::Rm);
    VMOVDQU32 = evex(2, 1, 0x6f).form(Form::Reg);
    VMOVDQU32_STORE = evex(2, 1, 0x7f).form(Form::Rm);
    VMOVDQA64 = evex(1, 1, 0x6f).w().form(Form::Reg);
    VPBROADCASTD_GENERAL = evex(1, 2, 0x7c).form(Form::Reg);
    VPBROADCASTQ_GENERAL = evex(1, 2, 0x7c).w().form(Form::Reg);
    VMOVD_GENERAL = evex(1, 1, 0x7e).form(Form::Rm).length(0).bytes(4);
    VMOVQ_GENERAL = evex(1, 1, 0x7e).w().form(Form::Rm).length(0).bytes(8);
    VPMOVZXBD = evex(1, 2, 0x31).form(Form::Reg).bytes(16);
    VPMOVZXWD = evex(1, 2, 0x33).form(Form::Reg).bytes(32);
    VPMOVZXDQ = evex(1, 2, 0x35).form(Form::Reg).bytes(32);
    VPMOVSXBD = evex(1, 2, 0x21).form(Form::Reg).bytes(16);
    VPMOVSXWD = evex(1, 2, 0x23).form(Form::Reg).bytes(32);
    VPMOVSXDQ = evex(1, 2, 0x25).form(Form::Reg).bytes(32);
    VPMOVDB = evex(2, 2, 0x31).form(Form::Rm).bytes(16);
    VPMOVDW = evex(2, 2, 0x33).form(Form::Rm).bytes(32);
    VPERMT2D = evex(1, 2, 0x7e).tied();
    VPERMT2Q = evex(1, 2, 0x7e).w().tied();
    VEXTRACTI64X4 = evex(1, 3, 0x3b).w().form(Form::Rm).imm(Imm::Byte).bytes(32);

    // Integers.
    VPADDD = evex(1, 1, 0xfe);
    VPADDQ = evex(1, 1, 0xd4).w();
    VPSUBD = evex(1, 1, 0xfa);
    VPSUBQ = evex(1, 1, 0xfb).w();
    VPMULLD = evex(1, 2, 0x40);
    VPMULLQ = evex(1, 2, 0x40).w();
    VPMULUDQ = evex(1, 1, 0xf4).w();
    VPMULDQ = evex(1, 2, 0x28).w();
    VPANDD = evex(1, 1, 0xdb);
    VPORD = evex(1, 1, 0xeb);
    VPXORD = evex(1, 1, 0xef);
    VPTERNLOGD = evex(1, 3, 0x25).imm(Imm::Byte).tied();
    VPSLLD_IMM = evex(1, 1, 0x72).digit(Form::V, 6).imm(Imm::Byte);
    VPSRLD_IMM = evex(1, 1, 0x72).digit(Form::V, 2).imm(Imm::Byte);
    VPSRAD_IMM = evex(1, 1, 0x72).digit(Form::V, 4).imm(Imm::Byte);
    VPSLLQ_IMM = evex(1, 1, 0x73).w().digit(Form::V, 6).imm(Imm::Byte);
    VPSRLQ_IMM = evex(1, 1, 0x73).w().digit(Form::V, 2).imm(Imm::Byte);
    VPSRAQ_IMM = evex(1, 1, 0x72).w().digit(Form::V, 4).imm(Imm::Byte);
    VPROLVD = evex(1, 2, 0x15);
    VPROLVQ = evex(1, 2, 0x15).w();
    VPSLLVD = evex(1, 2, 0x47);
    VPSRLVD = evex(1, 2, 0x45);
    VPSRAVD = evex(1, 2, 0x46);
    VPSLLVQ = evex(1, 2, 0x47).w();
    VPSRLVQ = evex(1, 2, 0x45).w();
    VPSRAVQ = evex(1, 2, 0x46).w();
    VPMINSD = evex(1, 2, 0x39);
    VPMINSQ = evex(1, 2, 0x39).w();
    VPMINUD = evex(1, 2, 0x3b);
    VPMINUQ = evex(1, 2, 0x3b).w();
    VPMAXSD = evex(1, 2, 0x3d);
    VPMAXSQ = evex(1, 2, 0x3d).w();
    VPMAXUD = evex(1, 2, 0x3f);
    VPMAXUQ = evex(1, 2, 0x3f).w();
    VPABSD = evex(1, 2, 0x1e).form(Form::Reg);
    VPABSQ = evex(1, 2, 0x1f).w().form(Form::Reg);
    VPOPCNTD = evex(1, 2, 0x55).form(Form::Reg);
    VPOPCNTQ = evex(1, 2, 0x55).w().form(Form::Reg);
    VPLZCNTD = evex(1, 2, 0x44).form(Form::Reg);
    VPLZCNTQ = evex(1, 2, 0x44).w().form(Form::Reg);

    // Compares and choices.
    VPCMPD = evex(1, 3, 0x1f).imm(Imm::Byte);
    VPCMPQ = evex(1, 3, 0x1f).w().imm(Imm::Byte);
    VPCMPUD = evex(1, 3, 0x1e).imm(Imm::Byte);
    VPCMPUQ = evex(1, 3, 0x1e).w().imm(Imm::Byte);
    VPTESTNMD = evex(2, 2, 0x27);
    VPTESTNMQ = evex(2, 2, 0x27).w();
    VPBLENDMD = evex(1, 2, 0x64);
    VPBLENDMQ = evex(1, 2, 0x64).w();
    VCMPPS = evex(0, 1, 0xc2).imm(Imm::Byte);
    VCMPPD = evex(1, 1, 0xc2).w().imm(Imm::Byte);

    // Floats.
    VADDPS = evex(0, 1, 0x58);
    VADDPD = evex(1, 1, 0x58).w();
    VSUBPS = evex(0, 1, 0x5c);
    VSUBPD = evex(1, 1, 0x5c).w();
    VMULPS = evex(0, 1, 0x59);
    VMULPD = evex(1, 1, 0x59).w();
    VDIVPS = evex(0, 1, 0x5e);
    VDIVPD = evex(1, 1, 0x5e).w();
    VMINPS = evex(0, 1, 0x5d);
    VMINPD = evex(1, 1, 0x5d).w();
    VMAXPS = evex(0, 1, 0x5f);
    VMAXPD = evex(1, 1, 0x5f).w();
    VSQRTPS = evex(0, 1, 0x51).form(Form::Reg);
    VSQRTPD = evex(1, 1, 0x51).w().form(Form::Reg);
    VFMADD231PS = evex(1, 2, 0xb8).tied();
    VFMADD231PD = evex(1, 2, 0xb8).w().tied();
    VFMADD213PS = evex(1, 2, 0xa8).tied();
    VFMADD213PD = evex(1, 2, 0xa8).w().tied();
    VRNDSCALEPS = evex(1, 3, 0x08).form(Form::Reg).imm(Imm::Byte);
    VRNDSCALEPD = evex(1, 3, 0x09).w().form(Form::Reg).imm(Imm::Byte);
    VCVTDQ2PS = evex(0, 1, 0x5b).form(Form::Reg);
    VCVTUDQ2PS = evex(3, 1, 0x7a).form(Form::Reg);
    VCVTTPS2DQ = evex(2, 1, 0x5b).form(Form::Reg);
    VCVTTPS2UDQ = evex(0, 1, 0x78).form(Form::Reg);
    VCVTPS2PD = evex(0, 1, 0x5a).form(Form::Reg).bytes(32);
    VCVTPD2PS = evex(1, 1, 0x5a).w().form(Form::Reg);
}
