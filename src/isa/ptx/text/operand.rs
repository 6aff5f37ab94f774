//! Operands. Facts, `ptx.md` 1.4.

use super::constant::Value;
use super::lexer::Kind;
use super::names::{Lookup, Named};
use super::reader::{Reader, Result};
use super::{selector, special};
use crate::module::{Address, AddressOf, Base, Literal, Operand, Operands, Register, Statement};
use crate::types::Kind as TyKind;

/// The context of an operand. Brackets hold no brackets; vectors hold neither.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Within {
    Statement,
    Bracket,
    Vector,
}

/// The item that an identifier stands for.
enum Found {
    Register(Register),
    /// All elements of a vector register.
    Elements(Register, u8),
    Symbol(AddressOf),
    Other(Operand),
}

impl<'a> Reader<'a> {
    /// Reads one operand, or a pair of destinations.
    pub fn operand(&mut self) -> Result<Operand> {
        let first = self.single(Within::Statement)?;
        if self.is(b'|')
            && matches!(first, Operand::Register(_) | Operand::Sink | Operand::Vector(_))
        {
            self.advance();
            let second = self.single(Within::Statement)?;
            return Ok(Operand::Pair(Box::new([first, second])));
        }
        match first {
            Operand::Register(register) if self.is(b'+') => self.sum(register),
            _ => Ok(first),
        }
    }

    /// Reads `%r1+5` as a source, at the `+`: it adds an addition in front of the instruction.
    fn sum(&mut self, register: Register) -> Result<Operand> {
        let at = self.advance().at;
        let addend = self.integer("an integer")?;
        let ty = self.code.body.registers[register.0 as usize].ty;
        let add = match ty.bits() {
            16 | 32 | 64 if ty.kind() != TyKind::Float => format!("u{}", ty.bits()),
            _ => {
                return self.fail(
                    at,
                    format!(
                        "found `+` behind a register of type .{}, expected `,` or `;`",
                        ty.name()
                    ),
                );
            }
        };
        let form = self.form_of(&["add", &add], at)?;
        let sum = self.code.register("%sum", ty, 1);
        self.code.sums.push(sum);
        let operands =
            [Operand::Register(sum), Operand::Register(register), Operand::Integer(addend)];
        let operands = operands.into_iter().collect();
        self.code.body.statements.push(Statement { at, guard: None, form, operands });
        Ok(Operand::Register(sum))
    }

    fn single(&mut self, within: Within) -> Result<Operand> {
        match self.token.kind {
            Kind::Name if self.here() != "WARP_SZ" => self.named(),
            Kind::Sink => {
                self.advance();
                Ok(Operand::Sink)
            }
            Kind::Punct(b'{') if within != Within::Vector => self.vector(),
            Kind::Punct(b'[') if within == Within::Statement => self.bracket(),
            Kind::Punct(byte @ (b'!' | b'-')) if self.name_follows() => {
                self.advance();
                self.prefixed(byte)
            }
            _ if self.at_constant() => self.constant_operand(),
            _ => self.unexpected("an operand"),
        }
    }

    /// Whether the next token but one is the name of an item.
    fn name_follows(&self) -> bool {
        let token = self.lexer.clone().next();
        token.kind == Kind::Name && self.slice(token) != "WARP_SZ"
    }

    fn constant_operand(&mut self) -> Result<Operand> {
        Ok(match self.constant()? {
            Value::Integer { bits, .. } => Operand::Integer(bits),
            Value::Decimal(value) => Operand::Float(Literal::Decimal(value)),
            Value::Bits32(bits) => Operand::Float(Literal::F32(bits)),
            Value::Bits64(bits) => Operand::Float(Literal::F64(bits)),
        })
    }

    /// Reads `!p`, `-a` or `-a.h1`.
    fn prefixed(&mut self, byte: u8) -> Result<Operand> {
        let at = self.token.at;
        match (self.found()?, byte) {
            (Found::Register(register), b'!') => Ok(Operand::Not(register)),
            (Found::Register(register), _) => Ok(Operand::Negated(register)),
            (Found::Other(Operand::Selected { register, selector, .. }), b'-') => {
                Ok(Operand::Selected { register, negated: true, selector })
            }
            _ => self
                .fail(at, format!("found no register behind `{}`, expected one", char::from(byte))),
        }
    }

    /// Reads an operand that begins with a name.
    fn named(&mut self) -> Result<Operand> {
        let of = match self.found()? {
            Found::Register(register) => return Ok(Operand::Register(register)),
            Found::Elements(first, count) => {
                let element = |n: u8| Operand::Register(Register(first.0 + u32::from(n)));
                return Ok(Operand::Vector((0..count).map(element).collect()));
            }
            Found::Other(operand) => return Ok(operand),
            Found::Symbol(of) => of,
        };
        if self.take(b'[') {
            return self.index(of);
        }
        let offset = match self.take(b'+') {
            true => self.integer("an offset in bytes")? as i64,
            false => 0,
        };
        Ok(Operand::Symbol(of, offset))
    }

    /// Reads `var[4]`, `var[reg]` or `var[reg+4]`, from behind the `[`.
    fn index(&mut self, of: AddressOf) -> Result<Operand> {
        let index = match self.token.kind {
            Kind::Name if self.here() != "WARP_SZ" => {
                Some(self.scalar_register("a register or an offset in bytes")?)
            }
            _ => None,
        };
        let offset = match index.is_none() || self.take(b'+') {
            true => self.integer("an offset in bytes")? as i64,
            false => 0,
        };
        self.expect(b']', "`]`")?;
        Ok(Operand::Address(Address { base: Base::Symbol(of), offset, index }))
    }

    /// Reads the name that stands here, with its component or selector.
    fn found(&mut self) -> Result<Found> {
        let (name, at) = self.name("a name")?;
        let (register, elements) = match self.names.lookup(name) {
            Some(Lookup::Member(family, number)) => self.code.member(family, number),
            Some(Lookup::Name(Named::Register(register, elements))) => (register, elements),
            Some(Lookup::Name(Named::ModuleRegister(variable, elements))) => {
                (self.module_register(variable, elements, at)?, elements)
            }
            Some(Lookup::Name(named)) => {
                return Ok(match named {
                    Named::Variable(id) => Found::Symbol(AddressOf::Variable(id)),
                    Named::Function(id) => Found::Symbol(AddressOf::Function(id)),
                    Named::BranchTargets(list) => Found::Other(Operand::BranchTargets(list)),
                    Named::CallTargets(list) => Found::Other(Operand::CallTargets(list)),
                    Named::Prototype(n) => Found::Other(Operand::Prototype(n)),
                    Named::Register(register, _) => Found::Register(register),
                    Named::ModuleRegister(..) => {
                        return self.fail(at, "found a register of the module");
                    }
                });
            }
            None => return Ok(Found::Other(self.special(name, at)?)),
        };
        if self.token.kind != Kind::Word {
            return Ok(match elements {
                1 => Found::Register(register),
                _ => Found::Elements(register, elements),
            });
        }
        let word = self.word();
        if elements > 1 {
            return match component(word).filter(|&n| n < elements) {
                Some(n) => {
                    self.advance();
                    Ok(Found::Register(Register(register.0 + u32::from(n))))
                }
                None => self.unexpected("an element of a vector register"),
            };
        }
        let Some(selector) = selector::by_name(word) else {
            return self.unexpected("a selector of bytes like `.b0` or `.h1`");
        };
        self.advance();
        let register = Box::new(Operand::Register(register));
        Ok(Found::Other(Operand::Selected { register, negated: false, selector }))
    }

    /// Returns the special register of a name, if there is one.
    fn special(&mut self, name: &str, at: u32) -> Result<Operand> {
        let Some(found) = special::by_name(name) else {
            let message = format!("found `{name}`, which is not declared, expected an operand");
            return self.undeclared(name, at, message);
        };
        self.needs(at, &format!("`{name}`"), found.sm, found.version)?;
        if !found.vector {
            return Ok(Operand::Special(found.register));
        }
        if self.token.kind != Kind::Word {
            let all = (0..4).map(|n| Operand::Special(special::component(found.register, n)));
            return Ok(Operand::Vector(all.collect()));
        }
        match component(self.word()) {
            Some(n) => {
                self.advance();
                Ok(Operand::Special(special::component(found.register, n)))
            }
            None => self.unexpected("`.x`, `.y`, `.z` or `.w`"),
        }
    }

    /// Reads one register, or an element of a vector register.
    pub fn scalar_register(&mut self, expected: &str) -> Result<Register> {
        let at = self.token.at;
        if self.token.kind != Kind::Name {
            return self.unexpected(expected);
        }
        match self.found()? {
            Found::Register(register) => Ok(register),
            _ => self.fail(at, format!("found no register, expected {expected}")),
        }
    }

    fn vector(&mut self) -> Result<Operand> {
        self.advance();
        let mut all = vec![];
        loop {
            all.push(self.single(Within::Vector)?);
            if !self.take(b',') {
                break;
            }
        }
        self.expect(b'}', "`,` or `}`")?;
        Ok(Operand::Vector(all))
    }

    /// Reads `[x]`, `[x+c]`, `[c]` or `[x, ..]`.
    fn bracket(&mut self) -> Result<Operand> {
        self.advance();
        let at = self.token.at;
        let base = match self.token.kind {
            Kind::Name if self.here() != "WARP_SZ" => match self.found()? {
                Found::Register(register) => Base::Register(register),
                Found::Symbol(of) => Base::Symbol(of),
                _ => return self.fail(at, "found no register or variable, expected an address"),
            },
            _ => Base::None,
        };
        let offset = match base {
            Base::None => self.integer("an address")?,
            _ if self.take(b'+') => self.integer("an offset in bytes")?,
            _ => 0,
        } as i64;
        let operand = match (self.is(b','), base, offset) {
            (true, Base::Register(register), 0) => {
                self.bracket_list(Operand::Register(register))?
            }
            (true, Base::Symbol(of), offset) => self.bracket_list(Operand::Symbol(of, offset))?,
            _ => Operand::Address(Address { base, offset, index: None }),
        };
        self.expect(b']', "`+` and an offset, or `]`")?;
        self.unified(base)?;
        Ok(operand)
    }

    /// Reads `.unified` after an address: a hint of `ld` that all devices have the same address.
    fn unified(&mut self, base: Base) -> Result<()> {
        let at = self.token.at;
        if !self.take_word("unified") {
            return Ok(());
        }
        match (base, self.code.words.first()) {
            (Base::Register(_), Some(&"ld")) => Ok(()),
            (Base::Symbol(_), Some(&"ld")) => {
                self.fail(at, "found `.unified` behind a variable that is not")
            }
            _ => self.fail(at, "found `.unified`, which is for addresses of `ld` in registers"),
        }
    }

    /// Reads `[a, {x, y}]`, at the `,`.
    fn bracket_list(&mut self, first: Operand) -> Result<Operand> {
        let mut all = vec![first];
        while self.take(b',') {
            all.push(self.single(Within::Bracket)?);
        }
        Ok(Operand::Bracket(all))
    }

    /// Reads `(a, b)` of a call.
    fn list(&mut self) -> Result<Operand> {
        self.code.places.push(self.token.at);
        self.expect(b'(', "`(`")?;
        let mut all = vec![];
        while !self.is(b')') {
            let is_name = self.token.kind == Kind::Name;
            match self.single(Within::Bracket)? {
                // A vector register is passed by its elements.
                Operand::Vector(elements) if is_name => all.extend(elements),
                operand => all.push(operand),
            }
            if !self.is(b')') {
                self.expect(b',', "`,` or `)`")?;
                if self.is(b')') {
                    return self.unexpected("an operand");
                }
            }
        }
        self.advance();
        Ok(Operand::List(all))
    }

    /// Reads `(r), f, (a), prototype`. A list that is absent becomes empty.
    pub fn call(&mut self, operands: &mut Operands) -> Result<()> {
        match self.is(b'(') {
            true => {
                operands.push(self.list()?);
                self.expect(b',', "`,`")?;
            }
            false => {
                self.code.places.push(self.token.at);
                operands.push(Operand::List(vec![]));
            }
        }
        let at = self.token.at;
        self.code.places.push(at);
        let callee = self.single(Within::Vector)?;
        if matches!(callee, Operand::Register(_)) {
            self.needs(at, "a call through a register", 20, (2, 1))?;
        }
        match callee {
            callee @ (Operand::Register(_) | Operand::Symbol(AddressOf::Function(_), 0)) => {
                operands.push(callee)
            }
            _ => return self.fail(at, "found something else, expected a function or a register"),
        }
        let mut more = self.take(b',');
        match more && self.is(b'(') {
            true => {
                operands.push(self.list()?);
                more = self.take(b',');
            }
            false => {
                self.code.places.push(self.token.at);
                operands.push(Operand::List(vec![]));
            }
        }
        if more {
            let at = self.token.at;
            self.code.places.push(at);
            match self.single(Within::Vector)? {
                targets @ (Operand::Prototype(_) | Operand::CallTargets(_)) => {
                    operands.push(targets)
                }
                _ => {
                    return self.fail(
                        at,
                        "found something else, expected a prototype or a list of call targets",
                    );
                }
            }
        }
        Ok(())
    }
}

/// Returns the index of `.x .y .z .w`, or `.r .g .b .a`.
fn component(word: &str) -> Option<u8> {
    Some(match word {
        "x" | "r" => 0,
        "y" | "g" => 1,
        "z" | "b" => 2,
        "w" | "a" => 3,
        _ => return None,
    })
}
