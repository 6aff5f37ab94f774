//! Generates random vISA instructions.

use warploom_visa::module::*;
use warploom_visa::table::{self, Field, Row};
use warploom_visa::types::{Align, Exec, Region, Ty, Version};
use warploom_visa::words::*;

pub struct Random(pub u64);

impl Random {
    pub fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    pub fn below(&mut self, limit: u64) -> u64 {
        (self.next() >> 11) % limit
    }

    fn flip(&mut self) -> bool {
        self.below(2) == 0
    }

    fn of<T: Copy>(&mut self, all: &[T]) -> T {
        all[self.below(all.len() as u64) as usize]
    }

    /// Returns a number below the limit, mostly 0 or small.
    fn number(&mut self, limit: u64) -> u64 {
        match self.below(4) {
            0 | 1 => 0,
            2 => self.below(limit.min(8)),
            _ => self.below(limit),
        }
    }
}

fn named(name: &str, elements: u32) -> Named {
    Named { name: name.into(), elements, attributes: vec![] }
}

/// Returns a kernel with some declarations of each kind, whose code is three labels.
pub fn routine(version: Version) -> Routine {
    let mut routine = Routine::new("k".into(), true, version);
    let types = [Ty::D, Ty::Ub, Ty::W, Ty::Q, Ty::F, Ty::Hf, Ty::Df, Ty::Ud];
    for (number, ty) in types.into_iter().enumerate() {
        let alias = (number == 7).then_some((VariableId(32), 4));
        let name = format!("V{}", number + 32);
        routine.variables.push(Variable {
            name,
            ty,
            elements: 64,
            align: Align::Hword,
            alias,
            attributes: vec![],
        });
    }
    routine.addresses = vec![named("A0", 16), named("A1", 8)];
    routine.predicates = vec![named("P1", 32), named("P2", 16)];
    routine.samplers = vec![named("S0", 1), named("S1", 1)];
    routine.surfaces = vec![named("T6", 1), named("T7", 1)];
    let label = |name: &str, kind| Label { name: name.into(), kind, attributes: vec![] };
    routine.labels = vec![label("main_0", 1), label("L1", 0), label("L2", 0)];
    for (number, code) in [0x30, 0x31, 0x31].into_iter().enumerate() {
        let operands = [Operand::Label(LabelId(number as u16))].into_iter().collect();
        let row = table::find(code, None).unwrap();
        routine.code.push(Instruction {
            row,
            at: 0,
            exec: None,
            predicate: None,
            saturate: false,
            operands,
        });
    }
    // Random instructions name this string.
    let strings = vec!["k".into(), "callee".into()];
    routine.binary = Some(BinaryParts { strings, ..BinaryParts::default() });
    routine
}

fn exec(random: &mut Random, sizes: &[u8]) -> Exec {
    Exec { size: random.of(sizes), offset: random.below(8) as u8 * 4, no_mask: random.flip() }
}

fn variable(random: &mut Random) -> VariableId {
    VariableId(random.of(&[0, 7, 14, 32, 33, 34, 35, 36, 37, 38, 39]))
}

fn raw(random: &mut Random) -> Raw {
    match random.below(4) {
        0 => Raw::NULL,
        _ => Raw { variable: variable(random), offset: random.number(512) as u32 },
    }
}

fn stride(random: &mut Random) -> Option<u8> {
    Some(random.of(&[0, 1, 2, 4, 8, 16, 32]))
}

fn region(random: &mut Random, written: bool, indirect: bool) -> Region {
    match written {
        true => Region { vertical: None, width: None, horizontal: stride(random) },
        false => {
            let vertical = if indirect && random.flip() { None } else { stride(random) };
            Region { vertical, width: stride(random), horizontal: stride(random) }
        }
    }
}

fn vector(random: &mut Random, written: bool) -> Operand {
    let modifier = if written { Modifier::None } else { random.of(&Modifier::ALL) };
    match random.below(if written { 6 } else { 8 }) {
        0 => Operand::Indirect(Indirect {
            address: AddressId(random.below(2) as u16),
            element: random.below(16) as u8,
            offset: random.below(1024) as i16 - 512,
            ty: random.of(&Ty::ALL[..8]),
            region: region(random, written, true),
            modifier,
        }),
        1 => Operand::Predicate { predicate: PredicateId(1 + random.below(2) as u16), modifier },
        2 => Operand::Address {
            address: AddressId(1),
            element: random.below(8) as u8,
            width: 4,
            modifier,
        },
        3 => Operand::State {
            state: random.of(&[
                State::Surface(SurfaceId(6)),
                State::Sampler(SamplerId(31)),
                State::Surface(SurfaceId(4)),
            ]),
            element: random.below(2) as u8,
        },
        6 | 7 => {
            let ty = random.of(&Ty::ALL[..16]);
            let wide = matches!(ty, Ty::Df | Ty::Q | Ty::Uq);
            let bits = random.next();
            Operand::Immediate { ty, bits: if wide { bits } else { bits & 0xffff_ffff } }
        }
        _ => Operand::General(General {
            variable: variable(random),
            row: random.number(256) as u8,
            column: random.number(256) as u8,
            region: region(random, written, false),
            modifier,
        }),
    }
}

/// Returns a random scalar operand that an LSC message may have.
fn lsc_scalar(random: &mut Random) -> Operand {
    let (row, column) = (random.number(4) as u8, random.number(4) as u8);
    match random.flip() {
        true => Operand::Immediate { ty: Ty::Ud, bits: random.number(1 << 20) },
        false => Operand::General(General {
            variable: variable(random),
            row,
            column,
            region: Region::SCALAR,
            modifier: Modifier::None,
        }),
    }
}

fn lsc(random: &mut Random, row: &Row, field: Field) -> Lsc {
    let typed = matches!(field, Field::LscTyped | Field::LscTypedBlock);
    let mut lsc =
        Lsc::new(if typed { Sfid::Tgm } else { random.of(&[Sfid::Ugm, Sfid::Ugml, Sfid::Slm]) });
    lsc.caches = [random.of(Cache::ALL), random.of(Cache::ALL)];
    if field == Field::LscBlock {
        lsc.data = random.of(DataSize::ALL);
        lsc.transposed = random.flip();
        let (width, height) = (1 + random.below(64) as u16, 1 + random.below(32) as u16);
        lsc.block =
            Some(Block { count: 1 + random.below(4) as u8, width, height, vnni: random.flip() });
        return lsc;
    }
    lsc.model = random.of(AddressModel::ALL);
    if field == Field::LscTypedBlock {
        lsc.block = Some(Block {
            count: 1,
            width: 1 + random.below(64) as u16,
            height: 1 + random.below(9) as u16,
            vnni: false,
        });
        return lsc;
    }
    if field == Field::Lsc {
        lsc.scale = 1 + random.number(8) as u16;
        lsc.offset = random.number(4096) as i32 - random.number(4096) as i32;
    }
    if field != Field::LscCounter {
        lsc.address_size = random.of(AddressSize::ALL);
    }
    lsc.data = random.of(DataSize::ALL);
    if row.name.contains("quad") {
        lsc.elements = 0;
        lsc.channels = random.below(16) as u8;
    } else {
        lsc.elements = random.of(&VECTOR_SIZES);
        lsc.transposed = random.flip();
    }
    lsc
}

/// Returns an instruction with a random operand for each field. Fields that the text omits mostly
/// get their implied value.
pub fn random_instruction(row: &'static Row, random: &mut Random) -> Instruction {
    let mut made = Instruction {
        row,
        at: 0,
        exec: None,
        predicate: None,
        saturate: false,
        operands: Operands::new(),
    };
    let is_lsc = row.fields.iter().any(|field| {
        matches!(
            field,
            Field::Lsc
                | Field::LscTyped
                | Field::LscBlock
                | Field::LscTypedBlock
                | Field::LscCounter
        )
    });
    for &field in &row.fields {
        let operand = match field {
            Field::Exec => {
                made.exec = Some(exec(random, &[1, 2, 4, 8, 16, 32]));
                if is_lsc
                    && (field_of(row) == Field::LscTypedBlock || row.name == "lsc_read_state_info")
                    || row.name == "lsc_fence"
                {
                    made.exec = Some(Exec { size: 1, offset: 0, no_mask: true });
                }
                if matches!(row.name, "gather4_typed" | "scatter4_typed") {
                    made.exec = Some(exec(random, &[8]));
                }
                continue;
            }
            Field::OldExec => {
                made.exec = Some(exec(random, &[1, 8, 16]));
                continue;
            }
            Field::Predicate => {
                let combine = random.of(&[Combine::None, Combine::Any, Combine::All]);
                let used =
                    PredicateUse { predicate: PredicateId(1), invert: random.flip(), combine };
                made.predicate = random.flip().then_some(used);
                continue;
            }
            Field::Sub | Field::LabelCount => continue,
            Field::Destination => {
                made.saturate |= made.operands.is_empty() && random.flip();
                vector(random, true)
            }
            // The text of a wait omits this source.
            Field::Source if row.name == "nbarrier.wait" && !made.operands.is_empty() => {
                Operand::Immediate { ty: Ty::Ub, bits: 0 }
            }
            Field::Source if is_lsc => lsc_scalar(random),
            Field::Source => vector(random, false),
            Field::TexelOffsets | Field::WaitMask => {
                Operand::Immediate { ty: Ty::Uw, bits: random.number(0x1000) }
            }
            Field::AddressOf => {
                let of = VariableId(32);
                Operand::AddressOf {
                    of,
                    offset: random.number(64) as u32 * 4,
                    region: Region::SCALAR,
                    modifier: Modifier::None,
                }
            }
            Field::Raw => Operand::Raw(raw(random)),
            Field::Raws => Operand::Raws((0..random.below(5)).map(|_| raw(random)).collect()),
            Field::RenderTarget => {
                render_target(random, &mut made);
                continue;
            }
            Field::Paired => Operand::Raw(Raw::NULL),
            Field::TextOnly => Operand::Number(0),
            Field::SampleOp => Operand::Number(random.number(8) as u32),
            Field::Byte | Field::Ffid => Operand::Number(random.number(256) as u32),
            Field::Word if row.name == "rt_write" => {
                Operand::Number(random.number(1 << 11) as u32 * 4)
            }
            Field::Word => Operand::Number(random.number(1 << 16) as u32),
            Field::Dword if random.flip() => Operand::Number(0x0808_0807),
            Field::Dword => Operand::Number(random.next() as u32),
            Field::Surface => Operand::Surface(SurfaceId(random.of(&[0, 4, 5, 6, 7]))),
            Field::Sampler => Operand::Sampler(SamplerId(random.of(&[0, 1, 31]))),
            Field::Label => Operand::Label(LabelId(random.below(3) as u16)),
            Field::Labels => Operand::Labels(
                (0..1 + random.below(4)).map(|_| LabelId(random.below(3) as u16)).collect(),
            ),
            Field::Name => Operand::Name("callee".into()),
            Field::Lsc
            | Field::LscTyped
            | Field::LscBlock
            | Field::LscTypedBlock
            | Field::LscCounter => Operand::Lsc(Box::new(lsc(random, row, field))),
            Field::Lifetime => {
                let of = [
                    Living::Variable(VariableId(33)),
                    Living::Address(AddressId(1)),
                    Living::Predicate(PredicateId(2)),
                ];
                Operand::Lifetime { end: random.flip(), of: random.of(&of) }
            }
        };
        made.operands.push(operand);
    }
    if is_lsc && random.flip() {
        // Most messages lack these operands.
        let kept = row.operands().count() - 2;
        made.operands
            .iter_mut()
            .skip(kept)
            .filter(|one| matches!(one, Operand::Raw(_)))
            .for_each(|one| *one = Operand::Raw(Raw::NULL));
    }
    if is_lsc && !row.name.contains("atomic") {
        plain_message(row, &mut made);
    }
    made
}

fn field_of(row: &Row) -> Field {
    row.operands().next().unwrap()
}

/// Clears the data operands that the text omits: loads and stores have one data operand.
fn plain_message(row: &Row, made: &mut Instruction) {
    let destination = if field_of(row) == Field::LscBlock { 1 } else { 2 };
    if row.name == "lsc_read_state_info" {
        // Its text omits the data and all coordinates but one.
        if let Some(Operand::Lsc(lsc)) = made.operands.first_mut() {
            **lsc = Lsc { caches: lsc.caches, model: lsc.model, ..Lsc::new(Sfid::Tgm) };
        }
        made.operands
            .iter_mut()
            .skip(destination + 2)
            .for_each(|one| *one = Operand::Raw(Raw::NULL));
    }
    let last = made.operands.len() - 1;
    if row.name.starts_with("lsc_store") || row.name.starts_with("lsc_ccs") {
        made.operands[destination] = Operand::Raw(Raw::NULL);
        let has_second = field_of(row) == Field::LscTyped
            || field_of(row) == Field::Lsc && !row.name.contains("strided");
        if has_second {
            made.operands[last] = Operand::Raw(Raw::NULL);
        }
    } else {
        for slot in last - 1..=last {
            if slot > destination && matches!(made.operands[slot], Operand::Raw(_)) {
                made.operands[slot] = Operand::Raw(Raw::NULL);
            }
        }
    }
}

fn render_target(random: &mut Random, made: &mut Instruction) {
    let Operand::Number(mode) = made.operands[0] else { unreachable!("the mode") };
    made.operands.push(Operand::Raw(raw(random)));
    for _ in 0..(mode & 0x904).count_ones() {
        made.operands.push(Operand::Immediate { ty: Ty::Uw, bits: random.number(16) });
    }
    for _ in 0..4 + (mode & 0x78).count_ones() {
        made.operands.push(Operand::Raw(raw(random)));
    }
}
