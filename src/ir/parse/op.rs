//! Parser of operations.

use super::super::function::{Function, Value};
use super::super::image::sample::Operation;
use super::super::matrix::Product;
use super::super::names::{Named, space_from_name};
use super::super::op::*;
use super::super::register::{BankId, Part, Region};
use super::super::types::Type;
use super::cursor::Cursor;
use super::{ParseError, Parser, Problem};

impl Parser {
    /// Parses an operation with its operands; window and pc may follow.
    pub fn op(&self, function: &Function, line: &mut Cursor<'_>) -> Result<Op, ParseError> {
        let start = *line;
        let mnemonic = line.mnemonic();
        let unknown = || start.error(Problem::NoOperation(mnemonic.to_owned()));
        if let Some(op) = self.plain(mnemonic, line)? {
            return Ok(op);
        }
        let (family, suffixes) = mnemonic.split_once('.').unwrap_or((mnemonic, ""));
        match family {
            "const" => {
                let ty = Type::from_name(suffixes).ok_or_else(unknown)?;
                // `-N` stands for the two's complement.
                let negative = line.eat("-");
                let bits: u64 = line.number("the constant's bits")?;
                let all = ty.bits_of_lanes(function.lanes);
                Ok(Op::Const { ty, bits: if negative { bits.wrapping_neg() & all } else { bits } })
            }
            "rf" => self.register_op(function, suffixes, line)?.ok_or_else(unknown),
            "region" => self.region_op(function, suffixes, line)?.ok_or_else(unknown),
            "load" | "store" | "atomic" => {
                self.memory_op(family, suffixes, line)?.ok_or_else(unknown)
            }
            _ => Err(unknown()),
        }
    }

    fn values<const N: usize>(&self, line: &mut Cursor<'_>) -> Result<[Value; N], ParseError> {
        let mut values = [Value(0); N];
        for (i, value) in values.iter_mut().enumerate() {
            if i != 0 {
                line.expect(",")?;
            }
            *value = self.value(line)?;
        }
        Ok(values)
    }

    /// Parses operations that consist of a mnemonic and values.
    fn plain(&self, mnemonic: &str, line: &mut Cursor<'_>) -> Result<Option<Op>, ParseError> {
        if let Some(special) = Special::from_name(mnemonic) {
            return Ok(Some(Op::Special(special)));
        }
        if let Some(op) = UnaryOp::from_name(mnemonic) {
            return Ok(Some(Op::Unary { op, a: self.value(line)? }));
        }
        if let Some(op) = BinaryOp::from_name(mnemonic) {
            let [a, b] = self.values(line)?;
            return Ok(Some(Op::Binary { op, a, b }));
        }
        if let Some((op, to)) =
            ConvertOp::from_name(mnemonic).and_then(|op| Some((op, op.only_type()?)))
        {
            return Ok(Some(Op::Convert { op, to, a: self.value(line)? }));
        }
        if let Some(function) = SharedFn::from_name(mnemonic) {
            return Ok(Some(Op::Shared { function, a: self.value(line)? }));
        }
        let (rest, sparse) =
            mnemonic.strip_suffix(".sparse").map_or((mnemonic, false), |rest| (rest, true));
        let (rest, compare) =
            rest.strip_suffix(".compare").map_or((rest, false), |rest| (rest, true));
        if let Some(operation) = Operation::from_name(rest) {
            let [image, sampler, args @ ..]: [Value; 17] = self.values(line)?;
            let (guard, nomask) = self.masking(line)?;
            return Ok(Some(Op::Sample {
                operation,
                compare,
                image,
                sampler,
                args,
                guard,
                nomask,
                sparse,
            }));
        }
        if let Some(op) = mnemonic.strip_prefix("wide.").and_then(wide_from_name) {
            let mut args = vec![self.value(line)?];
            while line.eat(",") {
                args.push(self.value(line)?);
            }
            let (guard, nomask) = self.masking(line)?;
            return Ok(Some(Op::Wide { op, args, guard, nomask }));
        }
        if let Some(site) = mnemonic.strip_prefix("observe.").and_then(|site| site.parse().ok()) {
            let mut args = vec![self.value(line)?];
            while line.eat(",") {
                args.push(self.value(line)?);
            }
            let (guard, nomask) = self.masking(line)?;
            return Ok(Some(Op::Observe { site, args, guard, nomask }));
        }
        if let Some(fault) = mnemonic.strip_prefix("raise.").and_then(LaneFault::from_name) {
            let (guard, nomask) = self.masking(line)?;
            return Ok(Some(Op::Raise { fault, guard, nomask }));
        }
        let op = match mnemonic {
            "splat" => Op::Splat { a: self.value(line)? },
            "lane.id" => Op::LaneId,
            "add.carry" => {
                let [a, b] = self.values(line)?;
                let carry = if line.eat(",") { Some(self.value(line)?) } else { None };
                Op::AddCarry { a, b, carry }
            }
            "select" => {
                let [mask, a, b] = self.values(line)?;
                Op::Select { mask, a, b }
            }
            "uniform.select" => {
                let [cond, a, b] = self.values(line)?;
                Op::UniformSelect { cond, a, b }
            }
            "concat" => {
                let [lo, hi] = self.values(line)?;
                Op::Concat { lo, hi }
            }
            "lane.gather" => {
                let [a, index] = self.values(line)?;
                Op::LaneGather { a, index }
            }
            "lane.read" => {
                let [a, lane] = self.values(line)?;
                Op::LaneRead { a, lane }
            }
            "lane.scatter" => {
                let [a, index, lanes] = self.values(line)?;
                Op::LaneScatter { a, index, lanes }
            }
            "unpack" | "pack" => {
                let [format, x, y, z, w] = self.values(line)?;
                let a = [x, y, z, w];
                if mnemonic == "unpack" { Op::Unpack { format, a } } else { Op::Pack { format, a } }
            }
            "fence" => Op::Fence,
            _ if mnemonic.starts_with("product.") => return self.product(mnemonic, line),
            _ => return self.with_attributes(mnemonic, line),
        };
        Ok(Some(op))
    }

    fn product(&self, mnemonic: &str, line: &mut Cursor<'_>) -> Result<Option<Op>, ParseError> {
        let Some(product) = mnemonic.strip_prefix("product.").and_then(Product::from_text) else {
            return Ok(None);
        };
        let mut args = vec![self.value(line)?];
        while args.len() < product.operands().count() {
            line.expect(",")?;
            args.push(self.value(line)?);
        }
        Ok(Some(Op::Product { product, args }))
    }

    /// Parses compares, conversions and float arithmetic.
    fn with_attributes(
        &self,
        mnemonic: &str,
        line: &mut Cursor<'_>,
    ) -> Result<Option<Op>, ParseError> {
        if let Some(cc) = mnemonic.strip_prefix("icmp.").and_then(IntCc::from_name) {
            let [a, b] = self.values(line)?;
            return Ok(Some(Op::ICmp { cc, a, b }));
        }
        if let Some(suffixes) = mnemonic.strip_prefix("int.to.float.") {
            let Some((to, signed, attrs)) = conversion(suffixes) else { return Ok(None) };
            return Ok(Some(Op::IntToFloat {
                to,
                signed,
                round: attrs.round,
                a: self.value(line)?,
            }));
        }
        if let Some(suffixes) = mnemonic.strip_prefix("float.to.int.") {
            let Some((to, signed, attrs)) = conversion(suffixes) else { return Ok(None) };
            let a = self.value(line)?;
            line.expect("nan")?;
            let nan = line.number("the bits of NaN")?;
            return Ok(Some(Op::FloatToInt {
                to,
                signed,
                round: attrs.round,
                flush: attrs.flush,
                nan,
                a,
            }));
        }
        let (name, suffixes) = mnemonic.split_once('.').unwrap_or((mnemonic, ""));
        if name == "fcmp" {
            let (cc, flush) =
                suffixes.strip_suffix(".ftz").map_or((suffixes, false), |cc| (cc, true));
            let Some(cc) = FloatCc::from_name(cc) else { return Ok(None) };
            let [a, b] = self.values(line)?;
            return Ok(Some(Op::FCmp { cc, a, b, flush }));
        }
        if let Some(op) = ConvertOp::from_name(name) {
            let Some(to) = Type::from_name(suffixes) else { return Ok(None) };
            return Ok(Some(Op::Convert { op, to, a: self.value(line)? }));
        }
        if name == "fconvert" {
            let (to, rest) = suffixes.split_once('.').unwrap_or((suffixes, ""));
            let (Some(to), Some(attrs)) = (Type::from_name(to), attributes(rest)) else {
                return Ok(None);
            };
            return Ok(Some(Op::FConvert { to, attrs, a: self.value(line)? }));
        }
        let Some(attrs) = attributes(suffixes) else { return Ok(None) };
        if let Some(op) = FloatUnaryOp::from_name(name) {
            return Ok(Some(Op::FUnary { op, attrs, a: self.value(line)? }));
        }
        if let Some(op) = FloatBinaryOp::from_name(name) {
            let [a, b] = self.values(line)?;
            return Ok(Some(Op::FBinary { op, attrs, a, b }));
        }
        if name == "fma" {
            let [a, b, c] = self.values(line)?;
            return Ok(Some(Op::Fma { attrs, a, b, c }));
        }
        Ok(None)
    }

    fn register_op(
        &self,
        function: &Function,
        suffixes: &str,
        line: &mut Cursor<'_>,
    ) -> Result<Option<Op>, ParseError> {
        let (name, part) = suffixes.split_once('.').unwrap_or((suffixes, ""));
        let part = match part {
            "" => Part::Whole,
            "lo" => Part::Lo,
            "hi" => Part::Hi,
            _ => return Ok(None),
        };
        Ok(Some(match name {
            "read" => Op::RfRead { reg: self.reg(function, line)?, part },
            "write" => {
                let reg = self.reg(function, line)?;
                line.expect(",")?;
                let value = self.value(line)?;
                let (guard, nomask) = self.masking(line)?;
                Op::RfWrite { reg, part, value, guard, nomask }
            }
            "gather" => {
                let (bank, first, count) = self.range(function, line)?;
                Op::RfGather { bank, first, count, index: self.value(line)? }
            }
            "scatter" => {
                let (bank, first, count) = self.range(function, line)?;
                let [index, value] = self.values(line)?;
                let (guard, nomask) = self.masking(line)?;
                Op::RfScatter { bank, first, count, index, value, guard, nomask }
            }
            _ => return Ok(None),
        }))
    }

    /// `NAME[FIRST; COUNT],`
    fn range(
        &self,
        function: &Function,
        line: &mut Cursor<'_>,
    ) -> Result<(BankId, u32, u32), ParseError> {
        let bank = self.bank(function, line)?;
        line.expect("[")?;
        let first = line.number("the first register")?;
        line.expect(";")?;
        let count = line.number("a number of registers")?;
        line.expect("]")?;
        line.expect(",")?;
        Ok((bank, first, count))
    }

    fn region_op(
        &self,
        function: &Function,
        suffixes: &str,
        line: &mut Cursor<'_>,
    ) -> Result<Option<Op>, ParseError> {
        if suffixes == "write" {
            let reg = self.reg(function, line)?;
            let (index, region) = self.region(line)?;
            line.expect(",")?;
            let value = self.value(line)?;
            let (guard, nomask) = self.masking(line)?;
            return Ok(Some(Op::RegionWrite { reg, index, region, value, guard, nomask }));
        }
        let Some(ty) = suffixes.strip_prefix("read.") else { return Ok(None) };
        let (ty, uniform) = ty.strip_suffix(".uniform").map_or((ty, false), |ty| (ty, true));
        let Some(ty) = Type::from_name(ty) else { return Ok(None) };
        let reg = self.reg(function, line)?;
        let (index, region) = self.region(line)?;
        Ok(Some(Op::RegionRead { reg, index, region, ty, uniform }))
    }

    /// `[INDEX]+OFFSET<V;W,H>`; only indirect regions have the first part.
    fn region(&self, line: &mut Cursor<'_>) -> Result<(Option<Value>, Region), ParseError> {
        let index = if line.eat("[") {
            let index = self.value(line)?;
            line.expect("]")?;
            Some(index)
        } else {
            None
        };
        Ok((index, region(line)?))
    }

    fn masking(&self, line: &mut Cursor<'_>) -> Result<(Option<Value>, bool), ParseError> {
        let guard = if line.eat("guard") { Some(self.value(line)?) } else { None };
        Ok((guard, line.eat("nomask")))
    }

    fn memory_op(
        &self,
        family: &str,
        suffixes: &str,
        line: &mut Cursor<'_>,
    ) -> Result<Option<Op>, ParseError> {
        let (suffixes, sparse) =
            suffixes.strip_suffix(".sparse").map_or((suffixes, false), |rest| (rest, true));
        let mut parts = suffixes.splitn(3, '.');
        let (Some(space), Some(ty)) =
            (parts.next().and_then(space_from_name), parts.next().and_then(Type::from_name))
        else {
            return Ok(None);
        };
        let mut rest = parts.next().unwrap_or("");
        let mut count = 1;
        let (part, after) = rest.split_once('.').unwrap_or((rest, ""));
        if let Some(number) = part.strip_prefix('x').and_then(|number| number.parse().ok()) {
            (count, rest) = (number, after);
        }

        line.expect("[")?;
        let address = self.value(line)?;
        let offset = offset(line)?;
        line.expect("]")?;
        let mut values = Vec::new();
        while line.eat(",") {
            values.push(self.value(line)?);
        }
        line.expect("align")?;
        let align = line.number("an alignment")?;
        let (guard, nomask) = self.masking(line)?;
        let access = Access { space, ty, count, align, address, offset, guard, nomask };

        Ok(match (family, rest) {
            ("load", _) if values.is_empty() => {
                let extend = match rest {
                    "" => Extend::None,
                    "signed" => Extend::Signed,
                    "unsigned" => Extend::Unsigned,
                    _ => return Ok(None),
                };
                Some(Op::Load { access, extend, sparse })
            }
            ("store", "") => Some(Op::Store { access, values, sparse }),
            ("atomic", _) => match (AtomicOp::from_name(rest), values[..].split_first()) {
                (Some(op), Some((&value, compare))) if compare.len() <= 1 => Some(Op::Atomic {
                    access,
                    op,
                    value,
                    compare: compare.first().copied(),
                    sparse,
                }),
                _ => None,
            },
            _ => None,
        })
    }
}

fn wide_from_name(name: &str) -> Option<WideOp> {
    Some(match name {
        "copy" => WideOp::Copy,
        "zero" => WideOp::Zero,
        "exchange" => WideOp::Exchange,
        "cas" => WideOp::CompareExchange,
        _ => {
            let (ty, op) = name.strip_prefix("reduce.")?.split_once('.')?;
            WideOp::Reduce { op: AtomicOp::from_name(op)?, ty: Type::from_name(ty)? }
        }
    })
}

/// `+N`, `-N` or nothing.
fn offset(line: &mut Cursor<'_>) -> Result<i32, ParseError> {
    let start = *line;
    let negative = line.eat("-");
    if !negative && !line.eat("+") {
        return Ok(0);
    }
    let magnitude: i64 = i64::from(line.number::<u32>("an offset")?);
    let offset = if negative { -magnitude } else { magnitude };
    i32::try_from(offset).map_err(|_| start.expected("an offset of 32 bits"))
}

/// `+OFFSET<V;W,H>`
fn region(line: &mut Cursor<'_>) -> Result<Region, ParseError> {
    line.expect("+")?;
    let offset = line.number("a byte offset")?;
    line.expect("<")?;
    let vstride = line.number("a vertical stride")?;
    line.expect(";")?;
    let width = line.number("a width")?;
    line.expect(",")?;
    let hstride = line.number("a horizontal stride")?;
    line.expect(">")?;
    Ok(Region { offset, vstride, width, hstride })
}

/// `T.s` or `T.u`, then attributes.
fn conversion(suffixes: &str) -> Option<(Type, bool, FloatAttrs)> {
    let mut parts = suffixes.splitn(3, '.');
    let to = Type::from_name(parts.next()?)?;
    let signed = match parts.next()? {
        "s" => true,
        "u" => false,
        _ => return None,
    };
    Some((to, signed, attributes(parts.next().unwrap_or(""))?))
}

/// Rounding, `ftz` and `sat`, each optional, in this order and separated by points.
fn attributes(suffixes: &str) -> Option<FloatAttrs> {
    let mut attrs = FloatAttrs::IEEE;
    let mut parts = suffixes.split('.').filter(|part| !part.is_empty()).peekable();
    if let Some(round) = parts.peek().and_then(|part| Round::from_name(part)) {
        attrs.round = round;
        parts.next();
    }
    attrs.flush = parts.next_if_eq(&"ftz").is_some();
    attrs.saturate = parts.next_if_eq(&"sat").is_some();
    parts.next().is_none().then_some(attrs)
}
