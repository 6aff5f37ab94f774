//! Random Maxwell code of the shapes that analysis fuses: products made of 16-bit products, 64-bit
//! shifts and bitwise operations made of 32-bit operations. Some code has a mistake, so that it
//! only looks like a fused shape.

use std::fmt::Write;

use arbitrary::{Result, Unstructured};
use warploom_maxwell::assemble;

/// The number of registers for operands and results. Intermediate values have registers of their
/// own.
const REGISTERS: u32 = 14;
const TEMPORARY: u32 = 20;
const EXIT: &str = "EXIT";

struct Code<'a, 'b> {
    u: &'a mut Unstructured<'b>,
    lines: Vec<String>,
}

/// Returns instructions. The last one is EXIT.
pub fn products(u: &mut Unstructured<'_>) -> Result<Vec<Vec<u8>>> {
    let mut code = Code { u, lines: Vec::new() };
    for _ in 0..code.u.int_in_range(1..=6)? {
        code.statement()?;
    }
    code.lines.push(EXIT.into());
    let word =
        |line: &String| assemble(line, 8).unwrap_or_else(|e| panic!("{e}")).to_le_bytes().into();
    Ok(code.lines.iter().map(word).collect())
}

impl Code<'_, '_> {
    /// Returns an even register, the first of a pair.
    fn pair(&mut self) -> Result<u32> {
        Ok(self.u.int_in_range(0..=REGISTERS / 2 - 1)? * 2)
    }

    fn register(&mut self) -> Result<u32> {
        self.u.int_in_range(0..=REGISTERS - 1)
    }

    fn is_mistaken(&mut self) -> Result<bool> {
        self.u.ratio(1, 40)
    }

    fn push(&mut self, line: impl Into<String>) {
        self.lines.push(line.into());
    }

    /// Emits `XMADmodes d, a, b, c;` where a and b may be halves. Some instructions have a mistake.
    fn xmad(
        &mut self,
        modes: &str,
        d: u32,
        a: (u32, bool),
        b: (u32, bool),
        c: Option<u32>,
    ) -> Result<()> {
        let (mut a, mut b, mut c, mut modes) = (a, b, c, modes);
        if self.is_mistaken()? {
            match self.u.int_in_range(0..=6)? {
                0 => a.1 = !a.1,
                1 => b.1 = !b.1,
                2 => std::mem::swap(&mut a, &mut b),
                3 => a.0 = self.register()?,
                4 => b.0 = self.register()?,
                5 => c = Some(self.register()?),
                _ => modes = "",
            }
        }
        let half =
            |(register, high): (u32, bool)| format!("R{register}{}", if high { ".H1" } else { "" });
        let c = c.map_or("RZ".into(), |c| format!("R{c}"));
        self.push(format!("XMAD{modes} R{d}, {}, {}, {c}", half(a), half(b)));
        Ok(())
    }

    /// Emits the low word of a * b + c.
    fn low_word(&mut self, d: u32, a: u32, b: u32, c: Option<u32>) -> Result<()> {
        let (t, u) = (TEMPORARY, TEMPORARY + 1);
        let orders = self.u.int_in_range(0..=1)?;
        for order in 0..2 {
            match order == orders {
                true => self.xmad("", t, (a, false), (b, false), c)?,
                false => self.xmad(".MRG", u, (a, false), (b, true), None)?,
            }
        }
        self.xmad(".PSL.CBCC", d, (a, true), (u, true), Some(t))
    }

    /// Emits a * n + c for an n of 16 bits.
    fn small(&mut self, d: u32, a: u32, c: u32) -> Result<()> {
        let n: u16 = *self.u.choose(&[0, 1, 3, 100, 0x8000, 0xffff])?;
        let again = if self.is_mistaken()? { n ^ 1 } else { n };
        self.push(format!("XMAD R{TEMPORARY}, R{a}, {n:#x}, R{c}"));
        self.push(format!("XMAD.PSL R{d}, R{a}.H1, {again:#x}, R{TEMPORARY}"));
        Ok(())
    }

    /// Emits the high word of a * b.
    fn high_word(&mut self, d: u32, a: u32, b: u32) -> Result<()> {
        let [t, u, v] = [0, 1, 2].map(|i| TEMPORARY + i);
        self.xmad("", t, (a, false), (b, false), None)?;
        self.xmad(".CHI", t, (a, true), (b, false), Some(t))?;
        self.xmad("", u, (a, false), (b, true), None)?;
        self.xmad("", v, (a, true), (b, true), None)?;
        let mode = if self.is_mistaken()? { "" } else { ".RS" };
        self.push(format!("IADD3{mode} R{d}, R{t}, R{u}, R{v}"));
        Ok(())
    }

    /// Emits the high word of a * b + c * 2^32, of signed numbers.
    fn signed_high_word(&mut self, d: u32, a: u32, b: u32, c: Option<u32>) -> Result<()> {
        let [t, u, v] = [0, 1, 2].map(|i| TEMPORARY + i);
        self.xmad("", t, (a, false), (b, false), None)?;
        self.xmad(".S16.U16.CHI", t, (a, true), (b, false), Some(t))?;
        self.xmad(".U16.S16", u, (a, false), (b, true), None)?;
        self.xmad(".S16.S16.CSFU", v, (a, true), (b, true), c)?;
        self.push(format!("IADD3.RS R{d}, R{t}, R{u}, R{v}"));
        Ok(())
    }

    /// Emits the product of two pairs, in one of the orders that a scheduler may choose.
    fn product(&mut self, d: u32, a: u32, b: u32) -> Result<()> {
        let [low, high, cross, other] = [5, 6, 7, 8].map(|i| TEMPORARY + i);
        let first = self.u.arbitrary()?;
        if first {
            self.low_word(low, a, b, None)?;
        }
        self.low_word(cross, a, b + 1, None)?;
        if self.u.arbitrary()? {
            self.low_word(other, a + 1, b, None)?;
        } else {
            self.low_word(other, b, a + 1, None)?;
        }
        if self.u.arbitrary()? {
            self.high_word(high, a, b)?;
        } else {
            self.high_word(high, b, a)?;
        }
        let mut terms = [cross, high, other];
        terms.rotate_left(self.u.int_in_range(0..=2)?);
        if self.is_mistaken()? {
            terms[0] = terms[1];
        }
        if !first {
            self.low_word(low, a, b, None)?;
        }
        self.push(format!("IADD3 R{}, R{}, R{}, R{}", d + 1, terms[0], terms[1], terms[2]));
        self.push(format!("MOV R{d}, R{low}"));
        Ok(())
    }

    /// Emits a shift or a rotation of a pair.
    fn shift(&mut self, d: u32, a: u32) -> Result<()> {
        let k = self.u.int_in_range(1..=31)?;
        let other = if self.is_mistaken()? { 32 - k } else { k };
        let (low, high, t) = (a, a + 1, TEMPORARY);
        match self.u.int_in_range(0..=3)? {
            0 => {
                self.push(format!("SHF.R.U64 R{t}, R{low}, {k:#x}, R{high}"));
                self.push(format!("SHR.U32 R{}, R{high}, {other:#x}", d + 1));
            }
            1 => {
                self.push(format!("SHF.R.U64 R{t}, R{low}, {k:#x}, R{high}"));
                self.push(format!("SHR R{}, R{high}, {other:#x}", d + 1));
            }
            2 => {
                self.push(format!("SHL R{t}, R{low}, {k:#x}"));
                self.push(format!("SHF.L.U64 R{}, R{low}, {other:#x}, R{high}", d + 1));
            }
            _ => {
                self.push(format!("SHF.L.W.U64 R{t}, R{low}, {k:#x}, R{high}"));
                self.push(format!("SHF.L.W.U64 R{}, R{high}, {other:#x}, R{low}", d + 1));
                // In rotations the upper word comes first.
                self.push(format!("MOV R{}, R{t}", TEMPORARY + 1));
                self.push(format!("MOV R{t}, R{}", d + 1));
                self.push(format!("MOV R{}, R{}", d + 1, TEMPORARY + 1));
            }
        }
        self.push(format!("MOV R{d}, R{t}"));
        Ok(())
    }

    fn statement(&mut self) -> Result<()> {
        let (d, a, b) = (self.pair()?, self.pair()?, self.pair()?);
        let start = self.lines.len();
        match self.u.int_in_range(0..=9)? {
            0 => {
                let c = self.register()?;
                self.low_word(d, a, b, Some(c))?;
            }
            1 => self.high_word(d, a, b)?,
            9 => {
                let c = if self.u.arbitrary()? { Some(self.register()?) } else { None };
                self.low_word(d + 1, a, b, None)?;
                self.signed_high_word(d, a, b, c)?;
            }
            2 | 3 => self.product(d, a, b)?,
            4 => {
                let c = self.register()?;
                self.small(d, a, c)?;
            }
            5 | 6 => self.shift(d, a)?,
            7 => {
                let op = *self.u.choose(&["AND", "OR", "XOR"])?;
                let (first, second) =
                    if self.u.arbitrary()? { (a + 1, b + 1) } else { (b + 1, a + 1) };
                self.push(format!("LOP.{op} R{TEMPORARY}, R{a}, R{b}"));
                self.push(format!("LOP.{op} R{}, R{first}, R{second}", d + 1));
                self.push(format!("MOV R{d}, R{TEMPORARY}"));
            }
            _ => {
                let constants = [0, 1, 0xffff, 0x1_0000, 0x1_86a0, 0x7f4a_7c15, u32::MAX];
                for register in [d, d + 1] {
                    let constant = *self.u.choose(&constants)?;
                    self.push(format!("MOV32I R{register}, {constant:#x}"));
                }
            }
        }
        if self.u.ratio(1, 10)? {
            let mut guard = String::new();
            write!(guard, "@{}P0 ", if self.u.arbitrary()? { "!" } else { "" })
                .expect("a string takes all");
            for line in &mut self.lines[start..] {
                line.insert_str(0, &guard);
            }
        }
        Ok(())
    }
}
