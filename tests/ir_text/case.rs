//! Parses the cases of a test file.

use warploom_ir::{CellKind, Function, Reg, Type, parse, verify};

#[derive(Debug, Default)]
pub struct Case {
    pub name: String,
    pub grid: Option<[u32; 3]>,
    pub block: Option<[u32; 3]>,
    pub shared: u32,
    pub local: u32,
    pub back_edges: Option<u64>,
    pub limit: Option<u64>,
    pub constants: Vec<(usize, Vec<u8>)>,
    pub ranges: Vec<Range>,
    pub sets: Vec<(Reg, Vec<u64>)>,
    pub registers: Vec<RegisterExpectation>,
    pub buffers: Vec<BufferExpectation>,
    pub fault: Option<FaultExpectation>,
    pub instructions: Option<u64>,
    pub lane_instructions: Option<u64>,
}

/// A range of guest memory.
#[derive(Debug)]
pub struct Range {
    pub name: String,
    pub kind: RangeKind,
}

#[derive(Debug)]
pub enum RangeKind {
    Buffer {
        content: Vec<u8>,
        writable: bool,
    },
    Sparse {
        pages: u64,
        resident: Vec<u64>,
    },
    /// A second mapping of the memory of an earlier range.
    Mirror {
        of: usize,
    },
}

#[derive(Debug)]
pub struct RegisterExpectation {
    pub warp: u32,
    pub reg: Reg,
    pub values: Vec<u64>,
}

#[derive(Debug)]
pub struct BufferExpectation {
    /// Index of the range.
    pub range: usize,
    pub offset: u64,
    pub ty: Type,
    pub values: Vec<u64>,
}

#[derive(Debug, Default)]
pub struct FaultExpectation {
    /// The kind, as `FaultKind` prints it.
    pub kind: String,
    pub lane: Option<u32>,
    pub pc: Option<u64>,
    pub address: Option<u64>,
    /// The message of the fault.
    pub message: Option<String>,
}

type Error = String;

/// Parses functions, each with its cases.
pub fn parse_file(text: &str) -> Result<Vec<(Function, Vec<Case>)>, Error> {
    let mut tests: Vec<(Function, Vec<Case>)> = Vec::new();
    let mut rest = text;
    loop {
        let line_number = text[..text.len() - rest.len()].lines().count() + 1;
        let at = |error: String| format!("line {line_number}: {error}");
        let (line, after) = rest.split_once('\n').unwrap_or((rest, ""));
        let line = line.split('#').next().unwrap_or_default().trim();
        if line.is_empty() {
            if after.is_empty() {
                return Ok(tests);
            }
            rest = after;
        } else if line.starts_with("function") {
            let (function, after) =
                parse::parse_prefix(rest).map_err(|e| at(format!("from here on: {e}")))?;
            verify::verify(&function).map_err(|e| at(e.to_string()))?;
            tests.push((function, Vec::new()));
            rest = after;
        } else {
            let (function, cases) =
                tests.last_mut().ok_or_else(|| at("a function comes first".into()))?;
            match line.strip_prefix("case") {
                Some(name) => cases
                    .push(Case { name: name.trim().trim_matches('"').into(), ..Case::default() }),
                None => {
                    let case = cases.last_mut().ok_or_else(|| at("`case` comes first".into()))?;
                    case.line(function, line).map_err(at)?;
                }
            }
            rest = after;
        }
    }
}

impl Case {
    fn line(&mut self, function: &Function, line: &str) -> Result<(), Error> {
        let mut words = Words(line.split_whitespace().collect(), 0);
        match words.next()? {
            "grid" => self.grid = Some(words.axes()?),
            "block" => self.block = Some(words.axes()?),
            "shared" => self.shared = words.number()? as u32,
            "local" => self.local = words.number()? as u32,
            "back_edges" => self.back_edges = Some(words.number()?),
            "limit" => self.limit = Some(words.number()?),
            "const" => {
                let bank = words.number()? as usize;
                let ty = words.ty()?;
                self.constants.push((bank, bytes(ty, &words.values(ty)?)));
            }
            "buffer" => {
                let name = words.next()?.to_owned();
                let writable = !words.eat("readonly");
                let ty = words.ty()?;
                let content = bytes(ty, &words.values(ty)?);
                self.ranges.push(Range { name, kind: RangeKind::Buffer { content, writable } });
            }
            "sparse" => {
                let name = words.next()?.to_owned();
                let pages = words.number()?;
                let resident =
                    if words.eat("resident") { words.values(Type::I64)? } else { Vec::new() };
                self.ranges.push(Range { name, kind: RangeKind::Sparse { pages, resident } });
            }
            "mirror" => {
                let (name, original) = (words.next()?.to_owned(), words.next()?);
                let of = self.ranges.iter().position(|range| range.name == original);
                let of = of.ok_or_else(|| format!("there is no `{original}` yet"))?;
                self.ranges.push(Range { name, kind: RangeKind::Mirror { of } });
            }
            "set" => {
                let reg = register(function, words.next()?)?;
                let values = words.values(register_type(function, reg))?;
                self.sets.push((reg, values));
            }
            "expect" => self.expectation(function, &mut words)?,
            other => return Err(format!("`{other}` is nothing that a case has")),
        }
        words.end()
    }

    fn expectation(&mut self, function: &Function, words: &mut Words<'_>) -> Result<(), Error> {
        if words.eat("fault") {
            let mut fault = FaultExpectation::default();
            while let Ok(word) = words.next() {
                match word {
                    "lane" => fault.lane = Some(words.number()? as u32),
                    "pc" => fault.pc = Some(words.number()?),
                    // The word "address" also begins the name of a fault kind.
                    "address" if !fault.kind.is_empty() && words.peek_is_number() => {
                        fault.address = Some(words.number()?);
                    }
                    word if fault.kind.is_empty() => fault.kind = word.into(),
                    word => fault.kind = format!("{} {word}", fault.kind),
                }
            }
            self.fault = Some(fault);
            return Ok(());
        }
        if words.eat("message") {
            let message = words.rest().join(" ");
            self.fault.as_mut().ok_or("`expect fault` comes first")?.message = Some(message);
            return Ok(());
        }
        if words.eat("instructions") {
            self.instructions = Some(words.number()?);
            self.lane_instructions = if words.eat("lanes") { Some(words.number()?) } else { None };
            return Ok(());
        }
        let warp = if words.eat("warp") { words.number()? as u32 } else { 0 };
        let name = words.next()?;
        if let Some(range) = self.ranges.iter().position(|range| range.name == name) {
            let offset = if words.eat("at") { words.number()? } else { 0 };
            let ty = words.ty()?;
            self.buffers.push(BufferExpectation { range, offset, ty, values: words.values(ty)? });
        } else {
            let reg = register(function, name)?;
            let values = words.values(register_type(function, reg))?;
            self.registers.push(RegisterExpectation { warp, reg, values });
        }
        Ok(())
    }
}

/// Returns the type of a register's values in a case.
pub fn register_type(function: &Function, reg: Reg) -> Type {
    match function.bank(reg.bank).kind {
        CellKind::Lane(ty) | CellKind::Uniform(ty) => ty,
        CellKind::Mask => Type::I64,
        CellKind::Bytes(_) => Type::I8,
    }
}

fn register(function: &Function, text: &str) -> Result<Reg, Error> {
    let found =
        text.strip_suffix(']').and_then(|text| text.split_once('[')).and_then(|(name, index)| {
            let bank = function.banks.iter().zip(0..).find(|(bank, _)| bank.name == name)?;
            let index = index.parse().ok().filter(|&index| index < bank.0.count)?;
            Some(warploom_ir::BankId(bank.1).reg(index))
        });
    found.ok_or_else(|| format!("`{text}` is no register and no buffer"))
}

fn bytes(ty: Type, values: &[u64]) -> Vec<u8> {
    values
        .iter()
        .flat_map(|value| value.to_le_bytes().into_iter().take(ty.bytes() as usize))
        .collect()
}

struct Words<'a>(Vec<&'a str>, usize);

impl<'a> Words<'a> {
    fn next(&mut self) -> Result<&'a str, Error> {
        let word = self.0.get(self.1).copied().ok_or("the line ends too early")?;
        self.1 += 1;
        Ok(word)
    }

    fn eat(&mut self, word: &str) -> bool {
        let found = self.0.get(self.1) == Some(&word);
        self.1 += usize::from(found);
        found
    }

    fn rest(&mut self) -> Vec<&'a str> {
        let rest = self.0[self.1..].to_vec();
        self.1 = self.0.len();
        rest
    }

    fn end(&self) -> Result<(), Error> {
        self.0.get(self.1).map_or(Ok(()), |word| Err(format!("`{word}` is too much")))
    }

    fn peek_is_number(&self) -> bool {
        self.0.get(self.1).is_some_and(|word| number(word).is_ok())
    }

    fn number(&mut self) -> Result<u64, Error> {
        number(self.next()?)
    }

    fn ty(&mut self) -> Result<Type, Error> {
        let word = self.next()?;
        Type::ALL
            .into_iter()
            .find(|ty| ty.name() == word)
            .ok_or_else(|| format!("`{word}` is no type"))
    }

    fn axes(&mut self) -> Result<[u32; 3], Error> {
        let mut axes = [1; 3];
        for axis in &mut axes {
            if self.peek_is_number() {
                *axis = self.number()? as u32;
            }
        }
        Ok(axes)
    }

    /// Parses all remaining words as values.
    fn values(&mut self, ty: Type) -> Result<Vec<u64>, Error> {
        let mut values = Vec::new();
        while let Ok(word) = self.next() {
            if let Some((first, end)) = word.split_once("..") {
                let step = if self.eat("step") { self.number()? } else { 1 };
                values.extend(
                    (number(first)?..number(end)?)
                        .step_by(step as usize)
                        .map(|v| v & ty.bit_mask()),
                );
            } else if let Some((word, count)) = word.split_once('*') {
                values.extend(std::iter::repeat_n(value(word, ty)?, number(count)? as usize));
            } else {
                values.push(value(word, ty)?);
            }
        }
        Ok(values)
    }
}

fn value(word: &str, ty: Type) -> Result<u64, Error> {
    if ty.is_float() && (word.contains('.') || word.contains("inf")) {
        let float: f64 = word.parse().map_err(|_| format!("`{word}` is no number"))?;
        return Ok(match ty {
            Type::F16 => half::f16::from_f64(float).to_bits().into(),
            Type::F32 => (float as f32).to_bits().into(),
            _ => float.to_bits(),
        });
    }
    Ok(number(word)? & ty.bit_mask())
}

fn number(word: &str) -> Result<u64, Error> {
    let (negative, digits) = word.strip_prefix('-').map_or((false, word), |digits| (true, digits));
    let digits = digits.replace('_', "");
    let magnitude = match digits.strip_prefix("0x") {
        Some(hex) => u64::from_str_radix(hex, 16),
        None => digits.parse(),
    };
    let magnitude = magnitude.map_err(|_| format!("`{word}` is no number"))?;
    Ok(if negative { magnitude.wrapping_neg() } else { magnitude })
}
