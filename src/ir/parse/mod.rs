//! Reads the text form that `print` defines and writes.
//!
//! The result is well-typed, since `typing` gives the types of values. `verify` decides whether it
//! is a valid function.

mod cursor;
mod op;

use std::collections::HashMap;

use cursor::Cursor;

use super::function::*;
use super::names::Named;
use super::register::{Bank, BankId, CellKind, Reg};
use super::types::Window;
use super::typing::{Env, TypeError, op_types};

/// A problem of a text, with its location.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("line {line}, column {column}: {problem}")]
pub struct ParseError {
    pub line: usize,
    pub column: usize,
    pub problem: Problem,
}

#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum Problem {
    #[error("expected {what}, found `{found}`")]
    Expected { what: &'static str, found: String },
    #[error("there is no bank `{0}`")]
    NoBank(String),
    #[error("there is no block `{0}`")]
    NoBlock(String),
    #[error("block `{0}` occurs twice")]
    BlockTwice(String),
    #[error("`{0}` is not defined above in this block")]
    NoValue(String),
    #[error("`{0}` is defined twice in this block")]
    ValueTwice(String),
    #[error("there is no operation `{0}`")]
    NoOperation(String),
    #[error("the operation has {expected} results, but {found} are named")]
    Results { expected: usize, found: usize },
    #[error(transparent)]
    Type(#[from] TypeError),
    #[error("the text ends within the function")]
    End,
}

/// Reads a text that consists of one function and comments.
pub fn parse(text: &str) -> Result<Function, ParseError> {
    let (function, rest) = parse_prefix(text)?;
    match rest
        .lines()
        .enumerate()
        .map(|(i, line)| Cursor::new(line, i + 1))
        .find(|line| !line.is_at_end())
    {
        None => Ok(function),
        Some(line) => {
            let skipped = text[..text.len() - rest.len()].lines().count();
            let mut error = line.expected("the end of the text");
            error.line += skipped;
            Err(error)
        }
    }
}

/// Reads the function at the start of a text. The second result is the text after the line of its
/// closing brace.
pub fn parse_prefix(text: &str) -> Result<(Function, &str), ParseError> {
    let mut lines = Lines { rest: text, number: 0 };
    let mut head = lines.next()?;
    let mut function = parse_head(&mut head)?;
    head.expect_end()?;
    let mut parser = Parser {
        blocks: block_names(text)?,
        active: None,
        values: HashMap::new(),
        terminated: true,
    };
    loop {
        let mut line = lines.next()?;
        let start = line;
        if parser.terminated && line.eat("}") {
            line.expect_end()?;
            function.active =
                parser.active.ok_or_else(|| start.expected("an `active` line above"))?;
            return Ok((function, lines.rest));
        }
        parser.line(&mut function, &mut line)?;
        line.expect_end()?;
    }
}

/// The lines that are not empty.
struct Lines<'a> {
    rest: &'a str,
    number: usize,
}

impl<'a> Lines<'a> {
    fn next(&mut self) -> Result<Cursor<'a>, ParseError> {
        while !self.rest.is_empty() {
            let (line, rest) = self.rest.split_once('\n').unwrap_or((self.rest, ""));
            self.rest = rest;
            self.number += 1;
            let cursor = Cursor::new(line, self.number);
            if !cursor.is_at_end() {
                return Ok(cursor);
            }
        }
        Err(ParseError { line: self.number, column: 1, problem: Problem::End })
    }
}

/// Block names in order, up to the end of the function.
fn block_names(text: &str) -> Result<HashMap<String, BlockId>, ParseError> {
    let mut names = HashMap::new();
    for (i, line) in text.lines().enumerate() {
        let mut line = Cursor::new(line, i + 1);
        if line.eat("}") {
            break;
        }
        if let Some(name) = block_head(&mut line) {
            let id = BlockId(names.len() as u32);
            if names.insert(name.to_owned(), id).is_some() {
                return Err(line.error(Problem::BlockTwice(name.to_owned())));
            }
        }
    }
    Ok(names)
}

/// The name, if the line is the head of a block: it starts with `b`, ends with `:`, and is not
/// `bank`.
fn block_head<'a>(line: &mut Cursor<'a>) -> Option<&'a str> {
    let mut ahead = *line;
    let name = ahead.mnemonic();
    let is_head = name.starts_with('b') && name != "bank" && line.ends_with_colon();
    if is_head {
        *line = ahead;
    }
    is_head.then_some(name)
}

fn parse_head(line: &mut Cursor<'_>) -> Result<Function, ParseError> {
    line.expect("function")?;
    let name = line.string()?;
    line.expect("lanes")?;
    let lanes = line.number("a number of lanes")?;
    line.expect("nan")?;
    let nan = NanPolicy {
        f16: line.number("the NaN of f16")?,
        f32: line.number("the NaN of f32")?,
        f64: line.number("the NaN of f64")?,
    };
    line.expect("{")?;
    let active = BankId(0).reg(0);
    Ok(Function { name, lanes, banks: Vec::new(), active, nan, blocks: Vec::new() })
}

struct Parser {
    blocks: HashMap<String, BlockId>,
    active: Option<Reg>,
    /// The values of the current block.
    values: HashMap<String, Value>,
    /// Whether the current block is complete (or there is none yet).
    terminated: bool,
}

impl Parser {
    fn line(&mut self, function: &mut Function, line: &mut Cursor<'_>) -> Result<(), ParseError> {
        if !self.terminated {
            return self.inst_or_terminator(function, line);
        }
        if line.eat("bank") {
            function.banks.push(parse_bank(line)?);
        } else if line.eat("active") {
            self.active = Some(self.reg(function, line)?);
        } else if block_head(line).is_some() {
            self.block(function, line)?;
        } else {
            return Err(line.expected("`bank`, `active`, a block or `}`"));
        }
        Ok(())
    }

    fn block(&mut self, function: &mut Function, line: &mut Cursor<'_>) -> Result<(), ParseError> {
        let pc = if line.eat("pc") { line.number("a pc")? } else { 0 };
        let cost = if line.eat("cost") { line.number("a cost")? } else { 0 };
        let indirect_target = line.eat("indirect");
        let join = if line.eat("join") { Some(self.block_id(line)?) } else { None };
        line.expect(":")?;
        let (insts, term, values) = (Vec::new(), Terminator::Exit, Vec::new());
        function.blocks.push(Block { pc, cost, indirect_target, join, insts, term, values });
        self.values.clear();
        self.terminated = false;
        Ok(())
    }

    fn inst_or_terminator(
        &mut self,
        function: &mut Function,
        line: &mut Cursor<'_>,
    ) -> Result<(), ParseError> {
        let start = *line;
        let results = result_names(line);
        if results.is_empty()
            && let Some(term) = self.terminator(function, line)?
        {
            if let Some(block) = function.blocks.last_mut() {
                block.term = term;
            }
            self.terminated = true;
            return Ok(());
        }

        let op = self.op(function, line)?;
        let window = if line.eat("lanes") {
            let first = line.number("the first lane")?;
            line.expect("+")?;
            Window { first, count: line.number("a number of lanes")? }
        } else {
            Window::all(function.lanes)
        };
        let explicit_pc = if line.eat("@") { Some(line.number("a pc")?) } else { None };

        let Function { lanes, banks, blocks, .. } = function;
        let Some(block) = blocks.last_mut() else { return Err(start.expected("a block")) };
        let pc = explicit_pc.unwrap_or_else(|| block.insts.last().map_or(block.pc, |inst| inst.pc));
        let env = Env { lanes: *lanes, banks, values: &block.values };
        let types = op_types(&op, env).map_err(|e| start.error(e.into()))?;
        if types.len() != results.len() {
            return Err(
                start.error(Problem::Results { expected: types.len(), found: results.len() })
            );
        }
        let mut numbers = Values::new();
        for (name, ty) in results.into_iter().zip(types) {
            let value = Value(block.values.len() as u32);
            if self.values.insert(name.to_owned(), value).is_some() {
                return Err(start.error(Problem::ValueTwice(name.to_owned())));
            }
            block.values.push(ty);
            numbers.push(value);
        }
        block.insts.push(Inst { op, results: numbers, window, pc });
        Ok(())
    }

    fn terminator(
        &self,
        function: &Function,
        line: &mut Cursor<'_>,
    ) -> Result<Option<Terminator>, ParseError> {
        let mut ahead = *line;
        let mnemonic = ahead.mnemonic();
        let rest = &mut ahead;
        let term = match mnemonic {
            "jump" => Terminator::Jump(self.block_id(rest)?),
            "branch" => {
                let cond = self.value(rest)?;
                rest.expect(",")?;
                let then = self.block_id(rest)?;
                rest.expect(",")?;
                Terminator::Branch { cond, then, otherwise: self.block_id(rest)? }
            }
            "switch" => {
                let value = self.value(rest)?;
                rest.expect(",")?;
                let mut cases = Vec::new();
                while !rest.eat("else") {
                    let case = rest.number("a case or `else`")?;
                    rest.expect(":")?;
                    cases.push((case, self.block_id(rest)?));
                    rest.expect(",")?;
                }
                Terminator::Switch { value, cases, default: self.block_id(rest)? }
            }
            "indirect" => Terminator::Indirect { pc: self.value(rest)? },
            "exit" => Terminator::Exit,
            "dispatch" => self.dispatch(function, rest)?,
            "deadlock" => self.deadlock(function, rest)?,
            _ => {
                if let Some(barrier) = mnemonic.strip_prefix("barrier.").and_then(barrier_named) {
                    self.barrier(barrier, rest)?
                } else if let Some(event) =
                    mnemonic.strip_prefix("lanes.").and_then(LaneEvent::from_name)
                {
                    rest.expect("resume")?;
                    Terminator::Lanes { event, resume: self.block_id(rest)? }
                } else if let Some(service) =
                    mnemonic.strip_prefix("service.").and_then(Service::from_name)
                {
                    let lanes = self.value(rest)?;
                    rest.expect("resume")?;
                    Terminator::Service { service, lanes, resume: self.block_id(rest)? }
                } else if let Some(kind) =
                    mnemonic.strip_prefix("trap.").and_then(TrapKind::from_name)
                {
                    Terminator::Trap { kind, pc: rest.number("a pc")? }
                } else {
                    return Ok(None);
                }
            }
        };
        *line = ahead;
        Ok(Some(term))
    }

    fn barrier(
        &self,
        (kind, counts): (BarrierKind, BarrierCounts),
        line: &mut Cursor<'_>,
    ) -> Result<Terminator, ParseError> {
        let id = self.value(line)?;
        let threads = if line.eat("threads") { Some(self.value(line)?) } else { None };
        let predicate = if line.eat("predicate") { Some(self.value(line)?) } else { None };
        line.expect("resume")?;
        let barrier = Barrier { kind, counts, id, threads, predicate };
        Ok(Terminator::Barrier { barrier, resume: self.block_id(line)? })
    }

    fn dispatch(
        &self,
        function: &Function,
        line: &mut Cursor<'_>,
    ) -> Result<Terminator, ParseError> {
        let mut from = None;
        if line.eat("from") {
            from = Some(self.value(line)?);
            line.expect(",")?;
        }
        let mut places = Vec::new();
        while !line.eat("else") {
            let reg = self.reg(function, line)?;
            line.expect(":")?;
            places.push((reg, self.block_id(line)?));
            line.expect(",")?;
        }
        Ok(Terminator::Dispatch { places, from, otherwise: self.block_id(line)? })
    }

    fn deadlock(
        &self,
        function: &Function,
        line: &mut Cursor<'_>,
    ) -> Result<Terminator, ParseError> {
        let mut waiting = Vec::new();
        while !line.is_at_end() {
            if !waiting.is_empty() {
                line.expect(",")?;
            }
            let reg = self.reg(function, line)?;
            line.expect(":")?;
            waiting.push((reg, line.number("a pc")?));
        }
        Ok(Terminator::Deadlock { waiting })
    }

    fn value(&self, line: &mut Cursor<'_>) -> Result<Value, ParseError> {
        let start = *line;
        let name = line.word("a value")?;
        self.values.get(name).copied().ok_or_else(|| start.error(Problem::NoValue(name.to_owned())))
    }

    fn block_id(&self, line: &mut Cursor<'_>) -> Result<BlockId, ParseError> {
        let start = *line;
        let name = line.word("a block")?;
        self.blocks.get(name).copied().ok_or_else(|| start.error(Problem::NoBlock(name.to_owned())))
    }

    fn bank(&self, function: &Function, line: &mut Cursor<'_>) -> Result<BankId, ParseError> {
        let start = *line;
        let name = line.word("a bank")?;
        let index = function.banks.iter().position(|bank| bank.name == name);
        let index = index.and_then(|index| u16::try_from(index).ok());
        index.map(BankId).ok_or_else(|| start.error(Problem::NoBank(name.to_owned())))
    }

    fn reg(&self, function: &Function, line: &mut Cursor<'_>) -> Result<Reg, ParseError> {
        let bank = self.bank(function, line)?;
        line.expect("[")?;
        let index = line.number("a register's index")?;
        line.expect("]")?;
        Ok(bank.reg(index))
    }
}

/// Parses the part of a barrier's mnemonic after `barrier.`.
fn barrier_named(name: &str) -> Option<(BarrierKind, BarrierCounts)> {
    match name.strip_suffix(".lanes") {
        Some(kind) => Some((BarrierKind::from_name(kind)?, BarrierCounts::Lanes)),
        None => Some((BarrierKind::from_name(name)?, BarrierCounts::Warps)),
    }
}

/// Takes the names before `=`. If there is no `=`, it takes nothing.
fn result_names<'a>(line: &mut Cursor<'a>) -> Vec<&'a str> {
    let mut ahead = *line;
    let mut names = Vec::new();
    while let Ok(name) = ahead.word("a value") {
        if !name.starts_with('v') {
            break;
        }
        names.push(name);
        if ahead.eat("=") {
            *line = ahead;
            return names;
        }
        if !ahead.eat(",") {
            break;
        }
    }
    Vec::new()
}

fn parse_bank(line: &mut Cursor<'_>) -> Result<Bank, ParseError> {
    let name = line.word("a bank's name")?.to_owned();
    line.expect(":")?;
    let kind = if line.eat("lane") {
        CellKind::Lane(line.named("a type")?)
    } else if line.eat("uniform") {
        CellKind::Uniform(line.named("a type")?)
    } else if line.eat("mask") {
        CellKind::Mask
    } else if line.eat("bytes") {
        CellKind::Bytes(line.number("a number of bytes")?)
    } else {
        return Err(line.expected("`lane`, `uniform`, `mask` or `bytes`"));
    };
    line.expect("x")?;
    Ok(Bank { name, kind, count: line.number("a number of registers")? })
}
