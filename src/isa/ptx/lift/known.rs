//! Registers whose value is the same wherever they are read, and is made again there: kernel
//! parameters, thread indices and the like, constants, and addresses that cheap statements compute
//! of these. Uniform and affine values stay so in every block, whichever lanes have waited where.

use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;
use warploom_ir::Type;

use super::graph::Call;
use super::{VariableAddresses, uses};
use crate::module::{
    Address, AddressOf, Base, Body, Formal, Function, FunctionId, Module, Operand, Register,
    SpecialRegister, Statement,
};
use crate::types::{Kind, Ty};
use crate::word::Word;

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Known {
    /// Bytes from the start of the kernel's parameters.
    Parameter(u64, Type),
    Special(SpecialRegister),
    Constant(u64),
    /// The value of another register; never a result of [`KnownRegisters::get`].
    Copy(Register),
    /// The result of this statement of the body, whose sources are such registers.
    Computed(u32),
}

impl Known {
    /// Returns the name of an image's handle that this value may be.
    pub fn handle(self) -> Option<u32> {
        match self {
            Known::Parameter(at, Type::I64) => u32::try_from(at).ok(),
            _ => None,
        }
    }
}

/// The known values of a function's registers.
#[derive(Default)]
pub struct KnownRegisters {
    /// The known value of each register.
    of: Vec<Option<Known>>,
    /// Values that a statement of [`Known::Computed`] finds in registers that are also written
    /// elsewhere.
    sources: FxHashMap<u32, Sources>,
}

/// Registers, and their values where a statement reads them.
pub type Sources = SmallVec<[(Register, Known); 2]>;

pub type KnownOf = FxHashMap<FunctionId, KnownRegisters>;

impl KnownRegisters {
    pub fn get(&self, register: Register) -> Option<Known> {
        self.of.get(register.0 as usize).copied().flatten()
    }

    pub fn sources(&self, statement: u32) -> &[(Register, Known)] {
        self.sources.get(&statement).map_or(&[], |sources| sources)
    }

    /// Finds the known registers of a function. `places` has the offsets of the kernel's
    /// parameters.
    pub fn of(module: &Module, function: FunctionId, places: &VariableAddresses) -> KnownRegisters {
        let function = module.function(function);
        let Some(body) = &function.body else { return KnownRegisters::default() };
        let writes = writes(module, function, body);
        let is_written_once = |register: Register| writes[register.0 as usize] == 1;
        let labels: FxHashSet<u32> = body.labels.iter().map(|label| label.statement).collect();
        let mut found = vec![None; body.registers.len()];
        let mut computed = Computed::new(module, body);
        // The values, since the last label, of registers that are written several times.
        let mut now: FxHashMap<Register, Known> = FxHashMap::default();
        for (number, statement) in (0..).zip(&body.statements) {
            if labels.contains(&number) {
                now.clear();
            }
            let mut sources = Sources::new();
            each_use(module, statement, &mut |register, written| {
                if let (false, Some(&known)) = (written, now.get(&register)) {
                    sources.push((register, known));
                }
            });
            each_use(module, statement, &mut |register, written| {
                if written {
                    now.remove(&register);
                }
            });
            let (None, Some(&Operand::Register(register))) =
                (statement.guard, statement.operands.first())
            else {
                continue;
            };
            let value = of(module, function, body, statement, register, places);
            if is_written_once(register) {
                found[register.0 as usize] = value;
                computed.statements[register.0 as usize] = Some(number);
                if !sources.is_empty() {
                    computed.sources.insert(number, sources);
                }
            } else if let Some(value) = value.filter(|value| !matches!(value, Known::Copy(_))) {
                now.insert(register, value);
            }
        }
        let known = |mut one: Option<Known>| {
            // Copies of copies are rare.
            for _ in 0..4 {
                match one {
                    Some(Known::Copy(from)) => one = found[from.0 as usize],
                    _ => return one,
                }
            }
            None
        };
        let of = found.iter().map(|&one| known(one)).collect();
        computed.find(of)
    }
}

/// Returns how often each register of a function is written.
fn writes(module: &Module, function: &Function, body: &Body) -> Vec<u32> {
    let mut writes = vec![0_u32; body.registers.len()];
    for formal in function.inputs.iter().chain(&function.outputs) {
        if let Formal::Reg(register, _) = *formal {
            writes[register.0 as usize] += 1;
        }
    }
    for statement in &body.statements {
        each_use(module, statement, &mut |register, written| {
            writes[register.0 as usize] += u32::from(written)
        });
    }
    writes
}

/// Visits the registers that a statement reads or writes (true), including returns of calls.
fn each_use(module: &Module, statement: &Statement, found: &mut dyn FnMut(Register, bool)) {
    for operand in Call::of(statement).into_iter().flat_map(|call| call.returns) {
        if let Operand::Register(register) = *operand {
            found(register, true);
        }
    }
    uses::each(module, statement, found);
}

/// How a value varies, and the number of statements that make it.
#[derive(Clone, Copy)]
struct Shape {
    is_uniform: bool,
    statements: u32,
}

/// The limit of the statements that compute a value again, and of their chains.
const MAX_STATEMENTS: u32 = 12;

/// Registers that cheap statements compute of known registers: uniform or evenly spaced. A value
/// that varies otherwise is worth its cell.
struct Computed<'a> {
    module: &'a Module,
    body: &'a Body,
    /// The only statement that writes each register.
    statements: Vec<Option<u32>>,
    sources: FxHashMap<u32, Sources>,
    /// Shapes of registers that were visited.
    shapes: FxHashMap<Register, Option<Shape>>,
}

impl<'a> Computed<'a> {
    fn new(module: &'a Module, body: &'a Body) -> Computed<'a> {
        let statements = vec![None; body.registers.len()];
        Computed {
            module,
            body,
            statements,
            sources: FxHashMap::default(),
            shapes: FxHashMap::default(),
        }
    }

    fn find(mut self, mut known: Vec<Option<Known>>) -> KnownRegisters {
        for number in 0..known.len() {
            let Some(statement) = self.statements[number].filter(|_| known[number].is_none())
            else {
                continue;
            };
            if self.shape(Register(number as u32), &known, MAX_STATEMENTS).is_some() {
                known[number] = Some(Known::Computed(statement));
            }
        }
        KnownRegisters { of: known, sources: self.sources }
    }

    fn shape(&mut self, register: Register, known: &[Option<Known>], depth: u32) -> Option<Shape> {
        if let Some(&shape) = self.shapes.get(&register) {
            return shape;
        }
        if let Some(shape) = known[register.0 as usize].and_then(Shape::of) {
            return Some(shape);
        }
        let bits = self.body.registers[register.0 as usize].ty.bits();
        let at = self.statements[register.0 as usize]
            .filter(|_| depth > 0 && matches!(bits, 32 | 64))?;
        // A register that depends on itself is not known.
        self.shapes.insert(register, None);
        let shape =
            self.of_statement(at, known, depth).filter(|shape| shape.statements <= MAX_STATEMENTS);
        self.shapes.insert(register, shape);
        shape
    }

    fn of_statement(&mut self, number: u32, known: &[Option<Known>], depth: u32) -> Option<Shape> {
        let statement = &self.body.statements[number as usize];
        let form = self.module.form(statement.form);
        let integers = form.types.iter().all(|ty| {
            matches!(ty.kind(), Kind::Bits | Kind::Unsigned | Kind::Signed)
                && matches!(ty.bits(), 32 | 64)
        });
        if !integers || form.has(Word::Cc) || form.has(Word::Sat) {
            return None;
        }
        let sources = self.sources.get(&number).cloned().unwrap_or_default();
        let source = |of: Register| {
            sources.iter().find(|(register, _)| *register == of).map(|&(_, known)| known)
        };
        let mut shapes = Vec::with_capacity(3);
        for operand in &statement.operands[1..] {
            shapes.push(match *operand {
                Operand::Register(register) => match source(register) {
                    Some(known) => Shape::of(known)?,
                    None => self.shape(register, known, depth - 1)?,
                },
                Operand::Integer(_) | Operand::Symbol(..) => {
                    Shape { is_uniform: true, statements: 0 }
                }
                _ => return None,
            });
        }
        let is_constant = |n: usize| match statement.operands[n] {
            Operand::Integer(_) => true,
            Operand::Register(register) => {
                matches!(source(register).or(known[register.0 as usize]), Some(Known::Constant(_)))
            }
            _ => false,
        };
        let uniform = |n: usize| shapes[n - 1].is_uniform;
        let spaced = match form.row.opcode {
            "add" | "sub" | "mov" | "cvt" => true,
            "cvta.to" | "cvta" => form.has(Word::Global),
            "mul.lo" | "mul.wide" | "mad.lo" | "mad.wide" => {
                uniform(1) && uniform(2) || is_constant(1) || is_constant(2)
            }
            "shl" => uniform(1) && uniform(2) || is_constant(2),
            _ => false,
        };
        let statements = 1 + shapes.iter().map(|shape| shape.statements).sum::<u32>();
        spaced
            .then(|| Shape { is_uniform: shapes.iter().all(|shape| shape.is_uniform), statements })
    }
}

impl Shape {
    /// Returns the shape of a value that is not a statement's result.
    fn of(known: Known) -> Option<Shape> {
        let is_uniform = match known {
            Known::Special(SpecialRegister::Tid(_) | SpecialRegister::LaneId) => false,
            Known::Parameter(..) | Known::Constant(_) | Known::Special(_) => true,
            Known::Copy(_) | Known::Computed(_) => return None,
        };
        Some(Shape { is_uniform, statements: 0 })
    }
}

fn of(
    module: &Module,
    function: &Function,
    body: &Body,
    statement: &Statement,
    register: Register,
    places: &VariableAddresses,
) -> Option<Known> {
    let form = module.form(statement.form);
    let declared = body.registers[register.0 as usize].ty;
    let bits = declared.bits();
    if declared.kind() == Kind::Pred || !matches!(bits, 32 | 64) {
        return None;
    }
    let ty = if bits == 32 { Type::I32 } else { Type::I64 };
    let source = statement.operands.get(1)?;
    match (form.row.opcode, source) {
        (
            "ld",
            &Operand::Address(Address {
                base: Base::Symbol(AddressOf::Variable(id)),
                offset,
                index: None,
            }),
        ) if function.kernel
            && form.has(Word::Param)
            && form.ty(0).bits() == bits
            && form.vector() == 1 =>
        {
            let is_formal = function.inputs.contains(&Formal::Param(id));
            let inside =
                offset >= 0 && offset as u64 + u64::from(bits / 8) <= module.variable(id).size;
            (is_formal && inside).then(|| Known::Parameter(places.variable(id) + offset as u64, ty))
        }
        ("mov", &Operand::Special(special)) if bits == 32 => {
            use SpecialRegister as S;
            let fixed =
                matches!(special, S::Tid(_) | S::Ntid(_) | S::Ctaid(_) | S::Nctaid(_) | S::LaneId);
            fixed.then_some(Known::Special(special))
        }
        ("mov", &Operand::Integer(value))
            if matches!(form.ty(0), Ty::B32 | Ty::U32 | Ty::S32 | Ty::B64 | Ty::U64 | Ty::S64) =>
        {
            Some(Known::Constant(value))
        }
        // Global addresses are generic addresses.
        ("cvta.to" | "cvta", &Operand::Register(from))
            if form.has(Word::Global) && form.ty(0).bits() == bits =>
        {
            (body.registers[from.0 as usize].ty.bits() == bits).then_some(Known::Copy(from))
        }
        _ => None,
    }
}
