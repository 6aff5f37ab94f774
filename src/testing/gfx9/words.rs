//! Random GFX9 code from the instruction table: every implemented line, in every encoding, with any
//! modifiers.
//!
//! Registers are few, so that instructions use each other's results. Nothing writes the registers
//! that memory operands add offsets to, so that most accesses are inside.

use std::sync::LazyLock;

use arbitrary::{Result, Unstructured};
use warploom_gfx9::layout::{Location, location};
use warploom_gfx9::lift::{Kernel, lift_kernel};
use warploom_gfx9::operand::{EXEC, M0, VCC};
use warploom_gfx9::row::{Modifiers, Slot};
use warploom_gfx9::{Encoder, Encoding, Format, Instruction, Operand, Role, Row, table};
use warploom_ir::{BankId, Block, Function, Terminator, TrapKind};

use super::images;
use crate::compare::{BUFFER, BUFFER_BYTES, Initial};

/// Registers for values: v0 to v15, s20 to s27.
pub(super) const VECTORS: u8 = 16;
pub(super) const SCALARS: std::ops::Range<u8> = 20..28;
/// An offset in bytes.
pub(super) const OFFSET: u8 = 17;
/// Pairs with addresses.
pub(super) const ADDRESS: u8 = 18;
pub(super) const OTHER_ADDRESS: u8 = 20;
/// Pairs with addresses of buffers.
pub(super) const POINTERS: [u8; 2] = [4, 6];
/// The descriptor of a buffer.
pub(super) const RESOURCE: u8 = 12;
/// The descriptor of an image, in eight registers, and the descriptor of a sampler.
pub(super) const IMAGE: u8 = 56;
pub(super) const SAMPLER: u8 = 64;
/// The first register of the pair with the address of scratch memory, and an offset in scratch
/// memory.
const FLAT_SCRATCH: u8 = 102;
pub(super) const SCRATCH_OFFSET: u8 = 33;
/// Coordinates in an image.
pub(super) const COORDINATES: std::ops::Range<u8> = 28..31;

/// The number that means no scalar address in a flat access.
const NO_SADDR: u8 = 0x7f;
const SPACED: u8 = ADDRESS;
const SCATTERED: u8 = OTHER_ADDRESS;
pub(super) const S_ENDPGM: u32 = 0xbf81_0000;
const MAX_INSTRUCTIONS: usize = 40;
/// Dword 3 of a V#. Its elements are numbers of one dword.
const WORD3: u32 = 0x0002_7fac;

static ROWS: LazyLock<Vec<&'static Row>> =
    LazyLock::new(|| table::rows().filter(|row| row.lift.is_some()).collect());

/// Returns the rows that are implemented and wanted.
pub(super) fn rows(wanted: impl Fn(&Row) -> bool) -> Vec<&'static Row> {
    ROWS.iter().copied().filter(|row| wanted(row)).collect()
}

/// Returns consecutive instructions. The last one is s_endpgm.
pub fn gfx9_code(u: &mut Unstructured<'_>) -> Result<Vec<Vec<u8>>> {
    let mut code = Vec::new();
    while code.len() < MAX_INSTRUCTIONS && !u.is_empty() {
        if let Some(instruction) = instruction(u, &ROWS, true)? {
            code.push(bytes(&instruction));
        }
    }
    code.push(S_ENDPGM.to_le_bytes().into());
    Ok(code)
}

pub(super) fn bytes(instruction: &Instruction) -> Vec<u8> {
    instruction.word().to_le_bytes()[..instruction.bytes() as usize].into()
}

/// Returns an implemented instruction of one of these rows. If `free`, it may go anywhere, and
/// write EXEC and M0.
pub(super) fn instruction(
    u: &mut Unstructured<'_>,
    rows: &[&'static Row],
    free: bool,
) -> Result<Option<Instruction>> {
    const TRIES: u32 = 24;
    let row = *u.choose(rows)?;
    let seed: [u64; 2] = [u.arbitrary()?, u.arbitrary()?];
    for again in 0..TRIES {
        // A retry keeps most bits of a wrong word.
        let fields = seed[1]
            & !(0x9e37_79b9_7f4a_7c15_u64.rotate_left(7 * again) & u64::from(again).wrapping_neg());
        let Some(random) = row.random([seed[0].wrapping_add(again.into()), fields]) else {
            continue;
        };
        let Some(instruction) = with_operands(u, &random, free)? else { continue };
        if !traps(&bytes(&instruction)) {
            return Ok(Some(instruction));
        }
    }
    Ok(None)
}

/// Whether the instruction is not implemented with these modifiers.
fn traps(bytes: &[u8]) -> bool {
    let unimplemented = |block: &Block| {
        matches!(block.term, Terminator::Trap { kind: TrapKind::Unimplemented, .. })
    };
    lifted_instruction(bytes).is_some_and(|function| function.blocks.iter().any(unimplemented))
}

/// Returns the function of a kernel with this instruction alone, or none if it cannot be lifted.
pub fn lifted_instruction(bytes: &[u8]) -> Option<Function> {
    let code = [bytes, &S_ENDPGM.to_le_bytes()].concat();
    lift_kernel(&Kernel::new("instruction", &code)).ok()
}

/// Returns the instruction with registers of the small set and small offsets, or none if they do
/// not fit.
fn with_operands(
    u: &mut Unstructured<'_>,
    random: &Instruction,
    free: bool,
) -> Result<Option<Instruction>> {
    let row = random.row();
    let Some(fields) = fields(u, random)? else { return Ok(None) };
    let mut encoder = Encoder::of(&fields);
    for slot in row.operands {
        let place = location(fields.encoding(), row, slot.role);
        let dwords = fields.dwords(slot);
        let fixed =
            fields.encoding() == Encoding::Flat && matches!(slot.role, Role::Vaddr | Role::Saddr);
        if fixed || dwords == 0 || matches!(place, Location::None | Location::Vcc) {
            continue;
        }
        let operand = operand(u, &fields, slot, place, dwords, free)?;
        if encoder.operand(slot.role, operand).is_none() {
            return Ok(None);
        }
    }
    Ok(encoder.finish().map(|(instruction, _)| instruction))
}

/// Returns the instruction with the fields of its branch target or its address, or none if they do
/// not fit.
fn fields(u: &mut Unstructured<'_>, random: &Instruction) -> Result<Option<Instruction>> {
    let row = random.row();
    let mut encoder = Encoder::of(random);
    let small = u.int_in_range(0..=3)?;
    let fits = match random.encoding() {
        Encoding::Ds if row.has(Modifiers::OFFSETS) => {
            encoder.set(0, 8, small).and_then(|()| encoder.set(8, 9, small / 2))
        }
        Encoding::Ds if row.has(Modifiers::OFFSET) => encoder.set(0, 17, small * 16),
        Encoding::Ds => encoder.set(16, 1, 0),
        Encoding::Flat => {
            // Scalar registers have no address, or a vector register has an offset. Both are
            // offsets in scratch memory.
            let scratch = random.format() == Format::Scratch;
            let none = random.format() == Format::Flat || u.arbitrary()?;
            let saddr = match none {
                true => NO_SADDR,
                false if scratch => SCRATCH_OFFSET,
                false => POINTERS[0],
            };
            let address = if none && !scratch { *u.choose(&[SPACED, SCATTERED])? } else { OFFSET };
            let fixed = [(0, 14, small * 16), (48, 7, saddr.into()), (32, 8, address.into())];
            fixed.into_iter().try_for_each(|(lo, bits, value)| encoder.set(lo, bits, value))
        }
        Encoding::Mubuf => encoder.set(16, 1, 0),
        // Branches go a few instructions forward or back.
        Encoding::Sopp if row.slot(Role::Label).is_some() => {
            encoder.set_signed(0, 16, u.int_in_range(-8..=8)?)
        }
        _ => return Ok(Some(*random)),
    };
    Ok(fits.and_then(|()| encoder.finish()).map(|(instruction, _)| instruction))
}

/// Returns a register or a constant for an operand.
fn operand(
    u: &mut Unstructured<'_>,
    instruction: &Instruction,
    slot: &Slot,
    place: Location,
    dwords: u8,
    free: bool,
) -> Result<Operand> {
    match slot.role {
        Role::Vaddr if instruction.encoding() == Encoding::Mimg => {
            return Ok(Operand::Vector(COORDINATES.start));
        }
        Role::Srsrc if instruction.encoding() == Encoding::Mimg => {
            return Ok(Operand::Scalar(IMAGE));
        }
        Role::Ssamp => return Ok(Operand::Scalar(SAMPLER)),
        Role::Vaddr | Role::Addr => return Ok(Operand::Vector(OFFSET)),
        Role::Srsrc => return Ok(Operand::Scalar(RESOURCE)),
        Role::Saddr => return Ok(Operand::Scalar(POINTERS[0])),
        Role::Soffset => return Ok(Operand::Int(if u.ratio(7, 8)? { 0 } else { 16 })),
        Role::Sbase if dwords > 2 => return Ok(Operand::Scalar(RESOURCE)),
        Role::Sbase => return Ok(Operand::Scalar(*u.choose(&POINTERS)?)),
        _ => {}
    }
    let constants =
        matches!(slot.role, Role::Src0 | Role::Src1 | Role::Src2 | Role::Ssrc0 | Role::Ssrc1);
    Ok(match place {
        Location::Vector { .. } => vector(u, dwords)?,
        Location::Scalar { .. } | Location::SdwaMask => {
            scalar(u, dwords, free && slot.role == Role::Sdst)?
        }
        Location::Literal => Operand::Literal(u.arbitrary()?),
        Location::None | Location::Vcc => Operand::None,
        Location::ScalarSource { .. } | Location::Source { .. } | Location::SdwaSource { .. } => {
            let vectors = !matches!(place, Location::ScalarSource { .. });
            match u.int_in_range(0..=9)? {
                0 if constants => Operand::Int(u.int_in_range(-16..=64)?),
                1 if constants => Operand::Float(u.int_in_range(240..=248)?),
                2 if constants && instruction.encoding().bytes() == 4 => {
                    Operand::Literal(u.arbitrary()?)
                }
                3 if constants && dwords < 3 => Operand::Scalar(EXEC),
                4 if constants => scalar(u, dwords, false)?,
                _ if vectors && !matches!(slot.role, Role::Ssrc0 | Role::Ssrc1 | Role::Sreg0) => {
                    vector(u, dwords)?
                }
                _ => scalar(u, dwords, false)?,
            }
        }
    })
}

fn vector(u: &mut Unstructured<'_>, dwords: u8) -> Result<Operand> {
    Ok(Operand::Vector(u.int_in_range(0..=VECTORS.saturating_sub(dwords))?))
}

fn scalar(u: &mut Unstructured<'_>, dwords: u8, free: bool) -> Result<Operand> {
    if dwords <= 2 && u.ratio(1, 6)? {
        return Ok(Operand::Scalar(VCC));
    }
    if free && dwords <= 2 && u.ratio(1, 8)? {
        return Ok(Operand::Scalar(if dwords == 1 { M0 } else { EXEC }));
    }
    let first = u.int_in_range(SCALARS.start..=SCALARS.end - 1)?;
    let align = dwords.next_power_of_two().min(4);
    Ok(Operand::Scalar(
        (first & !(align - 1)).min(SCALARS.end.saturating_sub(dwords).max(SCALARS.start)),
    ))
}

/// Returns the initial content of the registers of a lifted kernel of [`gfx9_code`].
pub fn gfx9_registers(function: &Function, u: &mut Unstructured<'_>) -> Result<Vec<Initial>> {
    let mut initial = Vec::new();
    let resource = [BUFFER as u32, (BUFFER >> 32) as u32, BUFFER_BYTES, WORD3];
    let (mut image, sampler) = (images::image(u)?, images::sampler(u)?);
    image[0] = (BUFFER >> 8) as u32;
    image[1] |= (BUFFER >> 40) as u32;
    let descriptors: [(u8, &[u32]); 3] =
        [(RESOURCE, &resource), (IMAGE, &image), (SAMPLER, &sampler)];
    let described = |number: u8| {
        let word = |&(first, words): &(u8, &[u32])| {
            words.get(usize::from(number.checked_sub(first)?)).copied()
        };
        descriptors.iter().find_map(word)
    };
    let is_pointer = |number: u8| POINTERS.contains(&number) || number == FLAT_SCRATCH;
    let float_coordinates = u.arbitrary()?;
    for (bank, id) in function.banks.iter().zip(0..) {
        for index in 0..bank.count {
            let seed: u64 = u.arbitrary()?;
            let cells: Vec<u64> = match bank.name.as_str() {
                // EXEC starts with the lanes of the warp.
                "s" if index == u32::from(EXEC) / 2 => continue,
                "s" => {
                    let [low, high] = [2 * index, 2 * index + 1].map(|number| match number as u8 {
                        number if is_pointer(number) => u64::from(BUFFER as u32),
                        number if is_pointer(number.wrapping_sub(1)) => BUFFER >> 32,
                        SCRATCH_OFFSET => 16,
                        number => described(number).map_or_else(
                            || {
                                seed.rotate_right(32 * (u32::from(number) & 1)) >> (seed & 31)
                                    & 0xffff_ffff
                            },
                            u64::from,
                        ),
                    });
                    vec![low | high << 32]
                }
                "scc" => vec![if seed & 1 == 0 { 0 } else { u64::MAX }],
                "v" => (0..u32::from(function.lanes))
                    .map(|lane| match index as u8 {
                        OFFSET | SPACED => u64::from(lane) * 16,
                        SCATTERED => u64::from(lane.wrapping_mul(seed as u32 | 1) % 64 * 16),
                        index if index == SPACED + 1 || index == SCATTERED + 1 => BUFFER >> 32,
                        index if COORDINATES.contains(&index) => {
                            let place = lane.wrapping_mul(u32::from(index)) % 11;
                            if float_coordinates {
                                (place as f32 / 5.0 - 0.5).to_bits().into()
                            } else {
                                place.into()
                            }
                        }
                        // Values are small, large, float, varying or uniform.
                        _ => {
                            seed.rotate_left(lane * (seed as u32 & 3)) >> (seed as u32 >> 2 & 31)
                                & 0xffff_ffff
                        }
                    })
                    .collect(),
                _ => continue,
            };
            initial.push((BankId(id).reg(index), cells));
        }
    }
    Ok(initial)
}
