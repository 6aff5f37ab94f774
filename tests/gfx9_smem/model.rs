//! The behaviour of SMEM instructions in plain Rust, from section 7 of the seed on Vega scalar
//! memory. The opcode numbers are LLVM's.

/// The number of M0 among the scalar registers.
pub const M0: u8 = 124;
pub const VCC: u8 = 106;

/// The fields of an instruction.
#[derive(Clone, Copy, Debug, Default)]
pub struct Fields {
    pub op: u8,
    pub sdata: u8,
    /// The number of the first register, even.
    pub sbase: u8,
    pub glc: bool,
    pub nv: bool,
    pub imm: bool,
    pub soe: bool,
    /// A field of 21 bits.
    pub offset: u32,
    pub soffset: u8,
}

impl Fields {
    pub fn word(&self) -> u64 {
        let bit = |set: bool, at: u32| u64::from(set) << at;
        let first = 0b110000 << 26
            | u64::from(self.op) << 18
            | bit(self.imm, 17)
            | bit(self.glc, 16)
            | bit(self.nv, 15)
            | bit(self.soe, 14)
            | u64::from(self.sdata) << 6
            | u64::from(self.sbase / 2);
        first | u64::from(self.offset & 0x1f_ffff) << 32 | u64::from(self.soffset) << 57
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Base {
    Address,
    Scratch,
    Buffer,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum What {
    Load(u8),
    Store(u8),
    /// An atomic: its position in the order of atomics, and the dwords of an operand.
    Atomic(u8, u8),
    Time,
    /// Changes no register and no memory; may have an address.
    Cache {
        address: bool,
    },
}

/// Returns the meaning of an opcode number, or `None` if it has none.
pub fn meaning(op: u8) -> Option<(What, Base)> {
    let row = |number: u8| 1 << number;
    Some(match op {
        0x00..=0x04 => (What::Load(row(op)), Base::Address),
        0x05..=0x07 => (What::Load(row(op - 5)), Base::Scratch),
        0x08..=0x0c => (What::Load(row(op - 8)), Base::Buffer),
        0x10..=0x12 => (What::Store(row(op - 0x10)), Base::Address),
        0x15..=0x17 => (What::Store(row(op - 0x15)), Base::Scratch),
        0x18..=0x1a => (What::Store(row(op - 0x18)), Base::Buffer),
        0x20..=0x23 => (What::Cache { address: false }, Base::Address),
        0x24 | 0x25 => (What::Time, Base::Address),
        0x27 => (What::Cache { address: true }, Base::Buffer),
        0x26 | 0x28 | 0x29 => (What::Cache { address: true }, Base::Address),
        0x40..=0x4c => (What::Atomic(op - 0x40, 1), Base::Buffer),
        0x60..=0x6c => (What::Atomic(op - 0x60, 2), Base::Buffer),
        0x80..=0x8c => (What::Atomic(op - 0x80, 1), Base::Address),
        0xa0..=0xac => (What::Atomic(op - 0xa0, 2), Base::Address),
        _ => return None,
    })
}

/// Memory from `begin` on; memory outside is not mapped.
#[derive(Clone, Debug, PartialEq)]
pub struct Memory {
    pub begin: u64,
    pub bytes: Vec<u8>,
}

impl Memory {
    fn at(&mut self, address: u64, bytes: usize) -> Option<&mut [u8]> {
        let first = usize::try_from(address.checked_sub(self.begin)?).ok()?;
        self.bytes.get_mut(first..first.checked_add(bytes)?)
    }
}

/// Returns the value that an atomic leaves in memory.
fn atomic(position: u8, bits: u32, memory: u64, data: u64, compare: u64) -> u64 {
    let signed = |x: u64| (x << (64 - bits)) as i64;
    let result = match position {
        0 => data,
        1 => {
            if memory == compare {
                data
            } else {
                memory
            }
        }
        2 => memory.wrapping_add(data),
        3 => memory.wrapping_sub(data),
        4 => std::cmp::min_by_key(memory, data, |&x| signed(x)),
        5 => memory.min(data),
        6 => std::cmp::max_by_key(memory, data, |&x| signed(x)),
        7 => memory.max(data),
        8 => memory & data,
        9 => memory | data,
        10 => memory ^ data,
        11 => {
            if memory >= data {
                0
            } else {
                memory + 1
            }
        }
        12 => {
            if memory == 0 || memory > data {
                data
            } else {
                memory - 1
            }
        }
        _ => panic!("no such atomic"),
    };
    result & u64::MAX >> (64 - bits)
}

/// Returns the first data register, or `None` if it is out of range and nothing is executed.
fn data(number: u8, dwords: u8) -> Option<usize> {
    let first = number / dwords.min(4) * dwords.min(4);
    let sgprs = first + dwords <= 102;
    let vcc = first >= VCC && first + dwords <= VCC + 2;
    (sgprs || vcc).then_some(first.into())
}

/// Executes an instruction.
///
/// # Errors
///
/// Returns the address of a fault.
pub fn execute(f: &Fields, s: &mut [u32; 128], memory: &mut Memory) -> Result<(), u64> {
    let (what, base) = meaning(f.op).expect("an opcode");
    let dwords = match what {
        What::Load(dwords) | What::Store(dwords) => dwords,
        What::Atomic(1, dwords) => 2 * dwords,
        What::Atomic(_, dwords) => dwords,
        What::Time | What::Cache { .. } => return Ok(()),
    };
    let Some(first) = data(f.sdata, dwords) else { return Ok(()) };

    // EXEC is not one of the SGPRs.
    let sbase = usize::from(if f.sbase >= M0 { 0 } else { f.sbase });
    let register = match (f.imm, f.soe) {
        (_, true) => Some(f.soffset),
        (false, false) => Some((f.offset & 0x7f) as u8),
        (true, false) => None,
    };
    let units = if base == Base::Scratch { 64 } else { 1 };
    let register = register.map_or(0, |number| i64::from(s[usize::from(number)] & !3) * units);
    let immediate = match base {
        _ if !f.imm => 0,
        Base::Buffer => i64::from(f.offset & 0xf_ffff),
        _ => i64::from((f.offset << 11) as i32 >> 11),
    };
    let offset = register + (immediate & !3);
    let mut begin = u64::from(s[sbase]) | u64::from(s[sbase + 1]) << 32;
    let mut size = None;
    if base == Base::Buffer {
        let (stride, records) = (begin >> 48, u64::from(s[sbase + 2]));
        size = Some(if stride == 0 { records } else { stride * records });
        begin &= 0xffff_ffff_ffff;
    }
    let address = (begin & !3).wrapping_add_signed(offset);
    let inside = |at: u64, bytes: u64| size.is_none_or(|size| offset as u64 + at + bytes <= size);

    match what {
        // An access is whole or faults; for a buffer, each dword is an access.
        What::Load(_) | What::Store(_)
            if size.is_none() && memory.at(address, 4 * usize::from(dwords)).is_none() =>
        {
            Err(address)
        }
        What::Load(_) | What::Store(_) => {
            for word in 0..usize::from(dwords) {
                let at = 4 * word as u64;
                let inside = inside(at, 4);
                let target = if inside {
                    memory.at(address + at, 4).ok_or(address + at)?
                } else {
                    &mut [0; 4]
                };
                if what == What::Load(dwords) {
                    s[first + word] = u32::from_le_bytes((&*target).try_into().unwrap());
                } else {
                    target.copy_from_slice(&s[first + word].to_le_bytes());
                }
            }
            Ok(())
        }
        What::Atomic(position, dwords) => {
            let bytes = 4 * usize::from(dwords);
            let operand = |s: &[u32; 128], first: usize| match dwords {
                1 => u64::from(s[first]),
                _ => u64::from(s[first]) | u64::from(s[first + 1]) << 32,
            };
            let value = operand(s, first);
            let compare = if position == 1 { operand(s, first + usize::from(dwords)) } else { 0 };
            let mut old = 0;
            if inside(0, bytes as u64) {
                if !address.is_multiple_of(bytes as u64) {
                    return Err(address);
                }
                let target = memory.at(address, bytes).ok_or(address)?;
                old = target.iter().rev().fold(0, |number, &byte| number << 8 | u64::from(byte));
                let new = atomic(position, 8 * bytes as u32, old, value, compare);
                target.copy_from_slice(&new.to_le_bytes()[..bytes]);
            }
            if f.glc {
                for word in 0..usize::from(dwords) {
                    s[first + word] = (old >> (32 * word)) as u32;
                }
            }
            Ok(())
        }
        What::Time | What::Cache { .. } => Ok(()),
    }
}
