//! Operands that no list of the table has.

use arbitrary::Result;
use warploom_ptx::table::Form;
use warploom_ptx::table::signature::{Kind, Rule};
use warploom_ptx::types::{self, StateSpace, Ty};
use warploom_ptx::word::Word;

use super::address::Access;
use super::registers::{self, of_type};
use super::statement::Writer;

pub type Operands = Result<Option<Vec<String>>>;

/// Returns the text of a vector.
pub fn braces(all: &[String]) -> String {
    format!("{{{}}}", all.join(", "))
}

impl Writer<'_, '_> {
    pub fn by_rule(&mut self, rule: Rule, form: &Form, lines: &mut Vec<String>) -> Operands {
        match rule {
            Rule::Mov => self.mov(form),
            Rule::Mma => self.products(&form.fragments(false), vec![]),
            Rule::SparseMma => {
                let selector = self.u.int_in_range(0..=form.selectors() - 1)?;
                let more = vec![registers::one(self.u, "r")?, selector.to_string()];
                self.products(&form.fragments(true), more)
            }
            Rule::Wmma => self.products(&form.wmma_fragments(), vec![]),
            Rule::Wgmma => self.wgmma(form, lines),
            Rule::Video => self.video(form),
            Rule::VideoMad => self.video_mad(),
            Rule::VideoSimd => self.video_simd(form),
            Rule::Copy => self.copy(form, lines),
            Rule::Texture => self.sample(form),
            // Control flow, and instructions that are not executed.
            Rule::Call | Rule::ScaledMma | Rule::Tcgen05 => Ok(None),
        }
    }

    pub fn all(&mut self, ty: Ty, count: usize) -> Operands {
        (0..count).map(|_| of_type(self.u, ty, false)).collect()
    }

    fn mov(&mut self, form: &Form) -> Operands {
        let ty = form.ty(0);
        if ty == Ty::Pred {
            return Ok(Some(vec![
                registers::one(self.u, "p")?,
                self.predicate(Kind::PredicateSource)?,
            ]));
        }
        let count = form.vector();
        if count > 1 {
            let (to, from) = (self.all(ty, count)?, self.all(ty, count)?);
            return Ok(to.zip(from).map(|(to, from)| vec![braces(&to), braces(&from)]));
        }
        let Some(whole) = of_type(self.u, ty, false)? else { return Ok(None) };
        let parts: &[(Ty, usize)] = match ty {
            Ty::B16 => &[(Ty::B8, 2)],
            Ty::B32 => &[(Ty::B16, 2), (Ty::B8, 4)],
            Ty::B64 => &[(Ty::B32, 2), (Ty::B16, 4)],
            Ty::B128 => &[(Ty::B64, 2), (Ty::B32, 4)],
            _ => &[],
        };
        let from = match self.u.int_in_range(0..=7)? {
            0..=2 if !parts.is_empty() => {
                let (part, count) = *self.u.choose(parts)?;
                let Some(mut all) = self.all(part, count)? else { return Ok(None) };
                if self.u.arbitrary()? {
                    return Ok(Some(vec![whole, braces(&all)]));
                }
                if self.u.ratio(1, 4)? {
                    all[0] = "_".into();
                }
                return Ok(Some(vec![braces(&all), whole]));
            }
            3 if ty.kind() != types::Kind::Float => self.special(ty)?,
            4 if ty.kind() != types::Kind::Float && matches!(ty.bits(), 32 | 64) => {
                Some((*self.u.choose(&["sh", "lo", "co"])?).to_owned())
            }
            _ => self.source(ty, false)?,
        };
        Ok(from.map(|from| vec![whole, from]))
    }

    /// Returns D, A, B and C, and the operands behind.
    fn products(&mut self, [a, b, c, d]: &[(usize, Ty); 4], more: Vec<String>) -> Operands {
        let mut operands = Vec::new();
        for &(count, ty) in [d, a, b, c] {
            let Some(all) = self.all(ty, count)? else { return Ok(None) };
            operands.push(braces(&all));
        }
        operands.extend(more);
        Ok(Some(operands))
    }

    fn wgmma(&mut self, form: &Form, lines: &mut Vec<String>) -> Operands {
        // Descriptors have a start, distances, and a way to mix lines. All are within the shared
        // memory.
        for n in 0..2 {
            let start = self.u.int_in_range(0..=15_u64)?;
            let (leading, stride) =
                (self.u.int_in_range(0..=8_u64)?, self.u.int_in_range(0..=8_u64)?);
            let mixed = if self.u.ratio(3, 4)? { 0 } else { self.u.int_in_range(0..=3_u64)? };
            let descriptor = start | leading << 16 | stride << 32 | mixed << 62;
            lines.push(format!("mov.b64 %x{n}, {descriptor:#x};"));
        }
        let factor = form.ty(1);
        let in_registers = self.u.arbitrary()?;
        let (signs, transposed) = match factor.bits() {
            16 => (2, if in_registers { 1 } else { 2 }),
            _ if factor.is_float() => (2, 0),
            _ => (0, 0),
        };
        let (count, ty) = form.wgmma_sum();
        let Some(sums) = self.all(ty, count)? else { return Ok(None) };
        let a = if in_registers {
            self.all(Ty::B32, 4)?.map(|all| braces(&all))
        } else {
            Some("%x0".into())
        };
        let Some(a) = a else { return Ok(None) };
        let mut operands =
            vec![braces(&sums), a, "%x1".into(), self.predicate(Kind::PredicateSource)?];
        for _ in 0..signs {
            operands.push((*self.u.choose(&["1", "-1"])?).into());
        }
        for _ in 0..transposed {
            operands.push((*self.u.choose(&["0", "1"])?).into());
        }
        Ok(Some(operands))
    }

    /// Returns a register of 32 bits, sometimes a part of it.
    fn part(&mut self) -> Result<String> {
        const PARTS: [&str; 6] = [".b0", ".b1", ".b2", ".b3", ".h0", ".h1"];
        let part = if self.u.arbitrary()? { *self.u.choose(&PARTS)? } else { "" };
        Ok(format!("{}{part}", registers::one(self.u, "r")?))
    }

    fn video(&mut self, form: &Form) -> Operands {
        let second = form.one_of(&[Word::Add, Word::Min, Word::Max]).is_some();
        let to = if second { registers::one(self.u, "r")? } else { self.part()? };
        let merged = to.contains('.');
        let mut operands = vec![to, self.part()?, self.part()?];
        if merged || second {
            operands.push(registers::one(self.u, "r")?);
        }
        Ok(Some(operands))
    }

    fn video_mad(&mut self) -> Operands {
        let mut operands = vec![registers::one(self.u, "r")?];
        let negated = if self.u.arbitrary()? { Some(self.u.int_in_range(1..=3)?) } else { None };
        for n in 1..4 {
            operands.push(match negated {
                Some(negated) if negated == n => format!("-{}", registers::one(self.u, "r")?),
                _ if n < 3 => self.part()?,
                _ => registers::one(self.u, "r")?,
            });
        }
        Ok(Some(operands))
    }

    fn video_simd(&mut self, form: &Form) -> Operands {
        let (letter, lanes) = if form.row.opcode.ends_with('2') { ('h', 2) } else { ('b', 4) };
        let mut to = registers::one(self.u, "r")?;
        if self.u.arbitrary()? {
            let mask = self.u.int_in_range(1..=(1_u32 << lanes) - 1)?;
            to.push('.');
            to.push(letter);
            to.extend(
                (0..lanes).rev().filter(|lane| mask >> lane & 1 == 1).map(|lane| lane.to_string()),
            );
        }
        let mut operands = vec![to];
        for _ in 0..2 {
            let mut from = registers::one(self.u, "r")?;
            if self.u.arbitrary()? {
                from.push('.');
                from.push(letter);
                for _ in 0..lanes {
                    from += &self.u.int_in_range(0..=2 * lanes - 1)?.to_string();
                }
            }
            operands.push(from);
        }
        operands.push(registers::one(self.u, "r")?);
        Ok(Some(operands))
    }

    /// Returns the operands of `cp.async`.
    fn copy(&mut self, form: &Form, lines: &mut Vec<String>) -> Operands {
        let size = if form.has(Word::Cg) { 16 } else { *self.u.choose(&[4, 8, 16])? };
        let access =
            Access { alignment: size, writes: false, large: false, plain: false, shared: false };
        let to =
            self.address(Some(StateSpace::Shared), Access { writes: true, ..access }, 0, lines)?;
        let from = self.address(Some(StateSpace::Global), access, 1, lines)?;
        let Some((to, from)) = to.zip(from) else { return Ok(None) };
        let mut operands = vec![to, from, size.to_string()];
        match self.u.int_in_range(0..=2)? {
            0 => operands.push(self.u.int_in_range(0..=size)?.to_string()),
            1 if self.version >= (7, 5) => operands.push(registers::one(self.u, "p")?),
            _ => {}
        }
        if form.has(Word::L2CacheHint) {
            operands.push(registers::one(self.u, "d")?);
        }
        Ok(Some(operands))
    }
}
