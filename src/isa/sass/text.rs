//! The text of an instruction, as nvdisasm prints it.

use std::fmt::{self, Write};

use super::Guest;
use super::field::Style;
use super::instruction::{Address, Instruction, Pred, Reg, Uniform, Value};
use super::row::{FieldSlot, ImmKind, Location, OperandSlot, PartKind, PartSlot, Piece, Role};

/// Context of an instruction for printing.
#[derive(Clone, Copy, Default)]
pub struct Context<'a> {
    /// Address of the word; branch targets are relative to it.
    pub pc: u64,
    /// Operand slots marked `.reuse`.
    pub reuse: u8,
    /// Names of branch targets; an address without one is printed in hex.
    pub label: Option<&'a dyn Fn(u64) -> Option<String>>,
}

impl<G: Guest> Instruction<G> {
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

struct Printer<'a, G: Guest> {
    instruction: &'a Instruction<G>,
    context: &'a Context<'a>,
    out: String,
}

impl<G: Guest> Printer<'_, G> {
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
                    let text = &self.instruction.row.format[*start as usize..*end as usize];
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

    fn field(&mut self, slot: &FieldSlot<G::Field>) -> fmt::Result {
        let value = self.instruction.read_field(slot);
        match G::info(slot.field).style {
            Style::Names { names, otherwise } => {
                match names.iter().find(|(of, _)| u64::from(*of) == value) {
                    Some((_, name)) => self.out.write_str(name),
                    None => write!(self.out, "{otherwise}{value}"),
                }
            }
            Style::HexUnless(usual) | Style::Test { usual, .. } if value == usual => Ok(()),
            Style::Test { prefix, names, .. } => {
                write!(self.out, "{prefix}{}", names[value as usize % names.len()].1)
            }
            Style::Hex | Style::HexUnless(_) => write!(self.out, "{value:#x}"),
            Style::SignedHex { .. } | Style::BitSet if value == 0 => Ok(()),
            Style::SignedHex { scale } => {
                let unused = 64 - u32::from(slot.bits + slot.hi_bits);
                let value = (value << unused) as i64 >> unused;
                write!(self.out, "{}", SignedHex(value.wrapping_mul(scale)))
            }
            Style::BitSet => {
                let bits = (0..slot.bits).rev().filter(|bit| value >> bit & 1 != 0);
                let bits: Vec<_> = bits.map(|bit| bit.to_string()).collect();
                write!(self.out, "{{{}}}", bits.join(","))
            }
            Style::Swizzle(names) => (0..slot.bits / 2)
                .rev()
                .try_for_each(|lane| self.out.write_str(names[(value >> (lane * 2) & 3) as usize])),
            Style::SpecialRegister => {
                match G::special_register(value as u8, self.instruction.model) {
                    Some(name) => self.out.write_str(name),
                    None => write!(self.out, "SR{value}"),
                }
            }
        }
    }

    fn operand(&mut self, slot: &OperandSlot) -> fmt::Result {
        match slot.location {
            Location::Predicate { .. } => {
                let pred = self.instruction.read_predicate(slot);
                if slot.attributes.optional && pred.is_true() {
                    return Ok(());
                }
                write!(self.out, "{pred}")
            }
            Location::Barrier { lo } => write!(self.out, "B{}", self.instruction.bits(lo, 4)),
            Location::Memory(memory) => {
                let address = self.instruction.read_address(slot);
                match (memory.attribute, memory.base, memory.uniform) {
                    (true, _, None) if address.base.is_zero() => {
                        write!(self.out, "a[{:#x}]", address.offset)
                    }
                    (true, ..) => write!(self.out, "a{address}"),
                    (false, None, None) => write!(self.out, "[{:#x}]", address.offset),
                    (false, ..) => write!(self.out, "{address}"),
                }
            }
            Location::ConstMemory { .. } => {
                let address = self.instruction.read_address(slot);
                match self.instruction.descriptor() {
                    Some(descriptor) => write!(self.out, "cx[{descriptor}]")?,
                    None => write!(self.out, "c[{:#x}]", self.instruction.bank().unwrap_or(0))?,
                }
                let absolute = address.base.is_zero()
                    && address.uniform.is_none()
                    && (address.offset != 0 || !G::SHOWS_ZERO_BASE);
                match absolute {
                    true => write!(self.out, "[{}]", SignedHex(address.offset.into())),
                    false => write!(self.out, "{address}"),
                }
            }
            Location::Target { .. } | Location::AbsoluteTarget { .. } => self.target(),
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
        let omitted = matches!(
            source.value,
            Value::Reg(Reg::ZERO) | Value::Uniform(Uniform::ZERO) | Value::Imm(0)
        );
        if slot.attributes.optional && omitted {
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
            Value::Uniform(register) => write!(self.out, "{register}")?,
            Value::Const { bank, offset } => {
                let space = if slot.attributes.part.is_none() { "" } else { " " };
                write!(self.out, "c[{bank:#x}]{space}[{}]", SignedHex(offset.into()))?;
            }
            Value::Described { descriptor, offset } => {
                let space = if slot.attributes.part.is_none() { "" } else { " " };
                write!(self.out, "cx[{descriptor}]{space}[{}]", SignedHex(offset.into()))?;
            }
            Value::Imm(_) => {}
        }
        let behind = G::PART_BEHIND_BARS && slot.part_behind_bars();
        if !behind {
            self.part(slot);
        }
        if source.abs {
            self.out.push('|');
        }
        if matches!(source.value, Value::Reg(_)) && self.reused(slot) {
            self.out.push_str(".reuse");
        }
        if behind {
            self.part(slot);
        }
        Ok(())
    }

    fn part(&mut self, slot: &OperandSlot) {
        if let Some(part) = slot.attributes.part {
            self.out.push_str(part_text(self.instruction, part));
        }
    }

    fn reused(&self, slot: &OperandSlot) -> bool {
        let of_role = match slot.role {
            _ if !G::has_reuse_slots(self.instruction.word) => None,
            Role::A => Some(0),
            Role::B => Some(1),
            Role::C => Some(2),
            _ => None,
        };
        let bit = slot.attributes.reuse_slot.or(of_role);
        bit.is_some_and(|bit| self.context.reuse >> bit & 1 != 0)
    }

    fn immediate(&mut self, imm: u64, location: Location) -> fmt::Result {
        match location {
            Location::Imm20(kind) | Location::Imm32 { kind, .. } => match kind {
                ImmKind::F32 => {
                    let signalling = G::SHOWS_SIGNALLING && imm >> 22 & 1 == 0;
                    write!(
                        self.out,
                        "{}",
                        float_text(f32::from_bits(imm as u32).into(), signalling)
                    )
                }
                ImmKind::F64 => {
                    write!(self.out, "{}", float_text(f64::from_bits(imm), imm >> 51 & 1 == 0))
                }
                ImmKind::Halves => {
                    write!(
                        self.out,
                        "{}, {}",
                        half_text::<G>((imm >> 16) as u16),
                        half_text::<G>(imm as u16)
                    )
                }
                ImmKind::Brains => {
                    let text =
                        |bits: u64| float_text(f32::from_bits((bits as u32) << 16).into(), false);
                    write!(self.out, "{}, {}", text(imm >> 16), text(imm & 0xffff))
                }
                ImmKind::Bits if matches!(location, Location::Imm20(_)) => {
                    write!(self.out, "{:#x}", imm & 0xf_ffff)
                }
                ImmKind::Bits => write!(self.out, "{:#x}", imm as u32),
                ImmKind::Int => write!(self.out, "{}", SignedHex(imm as i64)),
            },
            Location::ImmF16 { .. } => write!(self.out, "{}", half_text::<G>(imm as u16)),
            _ => write!(self.out, "{}", SignedHex(imm as i64)),
        }
    }
}

fn part_text<G: Guest>(instruction: &Instruction<G>, slot: PartSlot) -> &'static str {
    let bits = match slot.kind.bits() {
        0 => 0,
        bits => instruction.bits(slot.lo, bits) as usize,
    };
    match slot.kind {
        PartKind::Sized if instruction.bits(10, 2) == 1 => PartKind::SIZED_HALVES[bits],
        kind => kind.names()[bits],
    }
}

impl fmt::Display for Reg {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        if self.is_zero() { f.write_str("RZ") } else { write!(f, "R{}", self.0) }
    }
}

impl fmt::Display for Uniform {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        if self.is_zero() { f.write_str("URZ") } else { write!(f, "UR{}", self.0) }
    }
}

impl fmt::Display for Pred {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let not = if self.not { "!" } else { "" };
        let file = if self.uniform { "UP" } else { "P" };
        match self.index {
            7 => write!(f, "{not}{file}T"),
            index => write!(f, "{not}{file}{index}"),
        }
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let factor = ["", "", ".X4", ".X8", ".X16"][usize::from(self.shift)];
        let width = match self.wide {
            Some(true) => ".64",
            Some(false) => ".U32",
            None => "",
        };
        let mut terms = Vec::new();
        if let Some(descriptor) = self.descriptor {
            write!(f, "desc[{descriptor}]")?;
        }
        match self.uniform {
            Some(uniform) => {
                if !self.base.is_zero() || self.shift != 0 {
                    terms.push(format!("{}{factor}{width}", self.base));
                }
                terms.push(uniform.to_string());
            }
            None if self.base.is_zero() && self.offset != 0 && self.wide.is_none() => {
                return write!(f, "[{:#x}]", self.offset);
            }
            None if self.base.is_zero() => terms.push(format!("{}{width}", self.base)),
            None => terms.push(format!("{}{factor}{width}", self.base)),
        }
        if self.offset != 0 {
            terms.push(SignedHex(self.offset.into()).to_string());
        }
        write!(f, "[{}]", terms.join("+"))
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

fn half_text<G: Guest>(bits: u16) -> String {
    float_text(half::f16::from_bits(bits).into(), G::SHOWS_SIGNALLING && bits >> 9 & 1 == 0)
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
