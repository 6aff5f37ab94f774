//! The text of an instruction, as nvdisasm prints it.

use std::fmt::{self, Write};

use super::field::{CcTest, Field, Style};
use super::instruction::{Address, Instruction, Pred, Reg, Value};
use super::row::{FieldSlot, ImmKind, Location, OperandSlot, PartKind, PartSlot, Piece, Role};
use super::special::SpecialRegister;

/// Context of an instruction for printing.
#[derive(Clone, Copy, Default)]
pub struct Context<'a> {
    /// Address of the word; branch targets are relative to it.
    pub pc: u64,
    /// Operand slots marked `.reuse`, see [`super::control::Control::reuse`].
    pub reuse: u8,
    /// Names of branch targets; an address without one is printed in hex.
    pub label: Option<&'a dyn Fn(u64) -> Option<String>>,
}

impl Instruction {
    /// Returns the text with guard, without labels, `.reuse` and the closing semicolon.
    pub fn text(&self, pc: u64) -> String {
        self.text_in(&Context { pc, ..Context::default() })
    }

    /// Returns the first word of the text behind the guard: the mnemonic with its modifiers.
    pub fn mnemonic(&self) -> String {
        let text = self.text(0);
        let word = text.split_whitespace().find(|word| !word.starts_with('@')).unwrap_or_default();
        word.to_owned()
    }

    /// Returns the text with guard, without the closing semicolon.
    pub fn text_in(&self, context: &Context) -> String {
        let mut printer = Printer { instruction: self, context, out: String::new() };
        // A `String` accepts every write.
        let _ = printer.print();
        printer.out
    }
}

struct Printer<'a> {
    instruction: &'a Instruction,
    context: &'a Context<'a>,
    out: String,
}

impl Printer<'_> {
    fn print(&mut self) -> fmt::Result {
        let guard = self.instruction.guard();
        if !guard.is_true() {
            write!(self.out, "@{guard} ")?;
        }
        let mut printed = true;
        for piece in self.instruction.row.pieces {
            let before = self.out.len();
            match piece {
                Piece::Text { start, end } => {
                    let text = self.instruction.row.format[*start as usize..*end as usize]
                        .trim_start_matches('*');
                    let skip = !printed && self.out.ends_with(' ') && text.starts_with(", ");
                    self.out.push_str(if skip { &text[2..] } else { text });
                }
                Piece::Field(slot) if slot.silent => {}
                Piece::Field(slot) => self.field(slot)?,
                Piece::Operand(slot) => self.operand(slot)?,
                Piece::Phase => {
                    self.out.push_str(
                        ["", ".T", ".P", ".INVALIDPHASE3"][usize::from(self.context.reuse & 3)],
                    );
                }
            }
            printed = self.out.len() > before;
        }
        let length = self.out.trim_end_matches([' ', ',']).len();
        self.out.truncate(length);
        Ok(())
    }

    fn field(&mut self, slot: &FieldSlot) -> fmt::Result {
        let value = self.instruction.read_field(slot);
        match slot.field.info().style {
            Style::Names { names, otherwise } => {
                match names.iter().find(|(of, _)| u64::from(*of) == value) {
                    Some((_, name)) => self.out.write_str(name),
                    None => write!(self.out, "{otherwise}{value}"),
                }
            }
            Style::HexUnless(usual) if value == usual => Ok(()),
            Style::Hex | Style::HexUnless(_) => write!(self.out, "{value:#x}"),
            Style::SignedHex | Style::BitSet if value == 0 => Ok(()),
            Style::SignedHex => {
                let unused = 64 - u32::from(slot.bits);
                write!(self.out, "{}", SignedHex((value << unused) as i64 >> unused))
            }
            Style::CcTest => match CcTest::from_bits(value) {
                CcTest::T => Ok(()),
                _ => {
                    let names = Field::cc_compare.info().style;
                    let Style::Names { names, .. } = names else { return Ok(()) };
                    write!(self.out, "CC{}", names[value as usize % names.len()].1)
                }
            },
            Style::BitSet => {
                let bits = (0..slot.bits).rev().filter(|bit| value >> bit & 1 != 0);
                let bits: Vec<_> = bits.map(|bit| bit.to_string()).collect();
                write!(self.out, "{{{}}}", bits.join(","))
            }
            Style::Swizzle => (0..slot.bits / 2).rev().try_for_each(|lane| {
                self.out.write_str(["PP", "NP", "PN", "ZP"][(value >> (lane * 2) & 3) as usize])
            }),
            Style::SpecialRegister => write!(self.out, "{}", SpecialRegister(value as u8)),
        }
    }

    fn operand(&mut self, slot: &OperandSlot) -> fmt::Result {
        match slot.location {
            Location::Predicate { .. } | Location::InvertedPredicate { .. } => {
                let pred = self.instruction.read_predicate(slot);
                if slot.attributes.optional && pred.is_true() {
                    return Ok(());
                }
                write!(self.out, "{pred}")
            }
            Location::Memory { .. } => {
                let address = self.instruction.read_address(slot);
                write!(self.out, "{address}")
            }
            Location::ConstMemory { .. } => {
                let address = self.instruction.read_address(slot);
                write!(self.out, "c[{:#x}]", self.instruction.bank().unwrap_or(0))?;
                match address.base.is_zero() {
                    true => write!(self.out, "[{}]", SignedHex(address.offset.into())),
                    false => write!(self.out, "{address}"),
                }
            }
            Location::Target | Location::AbsoluteTarget => self.target(),
            _ => self.source(slot),
        }
    }

    fn target(&mut self) -> fmt::Result {
        let Some(target) = self.instruction.raw_target(self.context.pc) else { return Ok(()) };
        match self.context.label.and_then(|label| label(target)) {
            Some(name) => write!(self.out, "`({name})"),
            None => write!(self.out, "{}", SignedHex(target as i64)),
        }
    }

    fn source(&mut self, slot: &OperandSlot) -> fmt::Result {
        let source = self.instruction.read_source(slot);
        if slot.attributes.optional && matches!(source.value, Value::Reg(Reg::ZERO) | Value::Imm(0))
        {
            return Ok(());
        }
        if let Value::Imm(imm) = source.value {
            let short = matches!(slot.location, Location::Short { .. });
            if short && source.neg && imm != 0 {
                self.out.push('-');
            }
            self.immediate(imm, slot.location)?;
            for (set, suffix) in
                [(source.neg && !short, ".NEG"), (source.abs, ".ABS"), (source.inv, ".INV")]
            {
                if set {
                    self.out.push_str(suffix);
                }
            }
            self.part(slot);
            return Ok(());
        }
        for (set, prefix) in [(source.neg, '-'), (source.inv, '~'), (source.abs, '|')] {
            if set {
                self.out.push(prefix);
            }
        }
        match source.value {
            Value::Reg(Reg::ZERO) if matches!(slot.location, Location::RegisterAfter { .. }) => {
                self.out.push_str("???255");
            }
            Value::Reg(reg) => write!(self.out, "{reg}")?,
            Value::Const { bank, offset } => {
                let space = if slot.attributes.part.is_none() { "" } else { " " };
                write!(self.out, "c[{bank:#x}]{space}[{}]", SignedHex(offset.into()))?;
            }
            Value::Imm(_) => {}
        }
        self.part(slot);
        if source.abs {
            self.out.push('|');
        }
        if matches!(source.value, Value::Reg(_)) && self.reused(slot) {
            self.out.push_str(".reuse");
        }
        Ok(())
    }

    fn part(&mut self, slot: &OperandSlot) {
        if let Some(part) = slot.attributes.part {
            self.out.push_str(part_text(self.instruction, part));
        }
    }

    fn reused(&self, slot: &OperandSlot) -> bool {
        let usual = match slot.role {
            Role::A => 0,
            Role::B => 1,
            Role::C => 2,
            _ => return false,
        };
        let bit = slot.attributes.reuse_slot.unwrap_or(usual);
        // Only arithmetic units have the cache; in other instructions the bits mean something else
        // or nothing.
        self.instruction.word >> 63 == 0 && self.context.reuse >> bit & 1 != 0
    }

    fn immediate(&mut self, imm: u64, location: Location) -> fmt::Result {
        match location {
            Location::Imm20(ImmKind::F32) | Location::Imm32(ImmKind::F32) => {
                write!(self.out, "{}", float_text(f32::from_bits(imm as u32).into(), false))
            }
            Location::Imm20(ImmKind::F64) | Location::Imm32(ImmKind::F64) => {
                write!(self.out, "{}", float_text(f64::from_bits(imm), imm >> 51 & 1 == 0))
            }
            Location::ImmF16 => write!(self.out, "{}", half_text(imm as u16)),
            Location::Imm20(ImmKind::Halves) | Location::Imm32(ImmKind::Halves) => {
                write!(self.out, "{}, {}", half_text((imm >> 16) as u16), half_text(imm as u16))
            }
            Location::Imm32(ImmKind::Bits) => write!(self.out, "{:#x}", imm as u32),
            Location::Imm20(ImmKind::Bits) => write!(self.out, "{:#x}", imm & 0xf_ffff),
            _ => write!(self.out, "{}", SignedHex(imm as i64)),
        }
    }
}

fn part_text(instruction: &Instruction, slot: PartSlot) -> &'static str {
    const SIZED: [&str; 4] = ["", ".INVALIDSIZE1", ".H1", ".INVALIDSIZE3"];
    let bits = instruction.bits(slot.lo, slot.kind.bits()) as usize;
    match slot.kind {
        PartKind::Half => ["", ".H1"][bits],
        PartKind::Sized if instruction.bits(10, 2) == 1 => SIZED[bits],
        PartKind::Byte | PartKind::Sized => ["", ".B1", ".B2", ".B3"][bits],
        PartKind::WholeOrHalf => ["", ".H0", ".H1", ".???3"][bits],
        PartKind::Halves => ["", ".F32", ".H0_H0", ".H1_H1"][bits],
        PartKind::Video => ["", ".B1", ".B2", ".B3", "", ".H1", "", ""][bits],
    }
}

impl fmt::Display for Reg {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        if self.is_zero() { f.write_str("RZ") } else { write!(f, "R{}", self.0) }
    }
}

impl fmt::Display for Pred {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let not = if self.not { "!" } else { "" };
        if self.index == 7 { write!(f, "{not}PT") } else { write!(f, "{not}P{}", self.index) }
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let offset = SignedHex(self.offset.into());
        match (self.base.is_zero(), self.offset) {
            (true, 1.. | ..0) => write!(f, "[{:#x}]", self.offset),
            (_, 0) => write!(f, "[{}]", self.base),
            (false, _) => write!(f, "[{}+{offset}]", self.base),
        }
    }
}

impl fmt::Display for SpecialRegister {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self.name() {
            Some(name) => f.write_str(name),
            None => write!(f, "SR{}", self.0),
        }
    }
}

/// `0x10` or `-0x10`.
struct SignedHex(i64);

impl fmt::Display for SignedHex {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let sign = if self.0 < 0 { "-" } else { "" };
        write!(f, "{sign}{:#x}", self.0.unsigned_abs())
    }
}

fn half_text(bits: u16) -> String {
    float_text(half::f16::from_bits(bits).into(), false)
}

/// Formats a float immediate: 20 significant digits, or 20 digits behind the point for values of
/// 10^9 and more.
fn float_text(value: f64, signalling: bool) -> String {
    let sign = if value.is_sign_negative() { '-' } else { '+' };
    if value.is_nan() {
        return format!("{sign}{}", if signalling { "SNAN " } else { "QNAN " });
    }
    if value.is_infinite() {
        return format!("{sign}INF ");
    }
    if value == 0.0 {
        return if sign == '-' { "-0.0 ".into() } else { "0".into() };
    }
    let full = format!("{value:.20e}");
    let digits = format!("{value:.19e}");
    let Some((mantissa, exponent)) = digits.split_once('e') else { return digits };
    let exponent: i32 = exponent.parse().unwrap_or(0);
    let with_exponent = |mantissa: &str| {
        let sign = if exponent < 0 { '-' } else { '+' };
        format!("{mantissa}e{sign}{:02}", exponent.abs())
    };
    if value.abs() >= LARGE {
        return with_exponent(full.split('e').next().unwrap_or(&full));
    }
    if exponent < -4 {
        return with_exponent(trim_zeros(mantissa));
    }
    let decimals = (19 - exponent).max(0) as usize;
    trim_zeros(&format!("{value:.decimals$}")).to_owned()
}

/// nvdisasm prints every float from this value on with an exponent.
const LARGE: f64 = 1e9;

fn trim_zeros(number: &str) -> &str {
    if number.contains('.') { number.trim_end_matches('0').trim_end_matches('.') } else { number }
}
